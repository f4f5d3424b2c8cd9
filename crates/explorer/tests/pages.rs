//! Tests of the data in pages, for programs and runs of every kind.

use std::fmt::Write as _;
use std::sync::Arc;

use sapwood_explorer::{
    CheckSection, CheckSectionVerdict, MAX_GRAPH_OPS, PageMatch, PageOptions, RunRecorder,
    diff_page, graph_page, report_page,
};
use sapwood_ptir::structural::Mode;
use sapwood_ptir::{ParseOptions, Program, parse, parse_with};
use sapwood_rewrite::{DcePass, GreedyPass, Pass, PassContext, PassError, PassManager};
use sapwood_testing::on_small_stack;
use serde_json::Value;

/// Returns the data in a page.
fn data(page: &str) -> Value {
    let (_, rest) = page.split_once(" id=\"data\">").expect("a page has data");
    let (json, _) = rest.split_once("</script>").expect("the data ends");
    serde_json::from_str(json).expect("the data is JSON")
}

/// Returns a program with one chain of this many ops.
fn chain(ops: usize) -> Program {
    let mut text = String::from("ptir 1\nfunc @f(%v0: f32[8]) -> f32[8] {\n");
    for n in 1..ops {
        let op = if n % 2 == 0 { "exp" } else { "neg" };
        writeln!(text, "  %v{n} = {op} %v{} : f32[8]", n - 1).unwrap();
    }
    writeln!(text, "  return %v{}\n}}", ops - 1).unwrap();
    parse(&text).unwrap()
}

/// Runs a pipeline and returns the data in its page.
fn report(program: &mut Program, manager: PassManager) -> Value {
    let recorder = Arc::new(RunRecorder::new(program));
    let pipeline = manager.pipeline();
    let ran = manager.trace(recorder.clone()).run(program);
    let outcome = ran.as_ref().map_err(|failure| (failure.pass.clone(), failure.error.to_string()));
    let outcome = match &outcome {
        Ok(report) => Ok(*report),
        Err((pass, message)) => Err((pass.as_deref(), message.as_str())),
    };
    data(&report_page(&recorder.finish(&pipeline, outcome), &PageOptions::new("f.ptir")))
}

const NEGS: &str = "ptir 1\nfunc @f(%x: f32[4]) -> (f32[4], f32[4]) {\n  %a = neg %x : f32[4]\n  %b = neg %a : f32[4]\n  \
                    %c = exp %b : f32[4]\n  %d = exp %x : f32[4]\n  return %c, %d\n}\n";

#[test]
fn a_page_has_every_instruction_and_the_same_bytes_every_time() {
    let program = chain(1000);
    let page = graph_page(&program, &PageOptions::new("chain.ptir"));
    assert_eq!(page, graph_page(&program, &PageOptions::new("chain.ptir")));
    assert!(page.len() < 600_000, "{} bytes", page.len());
    let data = data(&page);
    assert_eq!(data["functions"][0]["insts"].as_array().unwrap().len(), 1000);
    assert_eq!(data["states"][0]["num_ops"], 1000);
    for reference in ["http:", "https:", "src=", "@import", "url(//"] {
        let allowed = ["http://www.w3.org/2000/svg"];
        let found = page
            .match_indices(reference)
            .filter(|(at, _)| !allowed.iter().any(|url| page[*at..].starts_with(url)));
        assert_eq!(found.count(), 0, "`{reference}` is in the page");
    }
}

#[test]
fn a_page_has_costs_and_a_call_has_that_of_the_current_callee() {
    let mut program = parse(
        "ptir 1\nfunc @f(%x: f32[?n, 4]) -> f32[?n, 4] {\n  %y = call @g %x : f32[?n, 4]\n  return %y\n}\n\
         func @g(%x: f32[?n, 4]) -> f32[?n, 4] {private = true} {\n  %a = exp %x : f32[?n, 4]\n  %b = neg %a : f32[?n, 4]\n  \
         %c = neg %b : f32[?n, 4]\n  return %c\n}\n",
    )
    .unwrap();
    let data = report(&mut program, PassManager::parse("canonicalize").unwrap());
    assert_eq!(data["states"][0]["cost"]["flops"], serde_json::json!([768, "12*?n"]));
    assert_eq!(data["states"][1]["cost"]["flops"], serde_json::json!([256, "4*?n"]));
    assert_eq!(data["states"][0]["cost"]["not_counted"], 0);
    // The caller did not change, but its call costs less.
    let call_cost = |state: usize| {
        let function = data["states"][state]["functions"][0].as_u64().unwrap() as usize;
        let number = data["functions"][function]["insts"][0][10].as_u64().unwrap() as usize;
        data["costs"][number - 1].clone()
    };
    assert_eq!(call_cost(0), serde_json::json!([[768, "12*?n"], [6144, "96*?n"]]));
    assert_eq!(call_cost(1), serde_json::json!([[256, "4*?n"], [2048, "32*?n"]]));
    // A `return` costs nothing.
    assert_eq!(data["functions"][0]["insts"][1][10], 0);
}

#[test]
fn a_large_program_is_text() {
    let page = graph_page(&chain(MAX_GRAPH_OPS + 1), &PageOptions::new("large.ptir"));
    let data = data(&page);
    assert_eq!(data["states"][0]["functions"], Value::Null);
    assert_eq!(data["functions"].as_array().unwrap().len(), 0);
    let text = data["states"][0]["text"].as_str().unwrap();
    assert_eq!(text.lines().filter(|line| line.contains(" = ")).count(), MAX_GRAPH_OPS);
}

#[test]
fn a_diff_page_has_the_marks_of_the_diff_and_both_names() {
    let (left, right) = (parse(NEGS).unwrap(), parse(&NEGS.replace("exp %b", "tanh %b")).unwrap());
    let page = |mode| {
        let options = PageOptions::new("a and b");
        data(&diff_page(("a.ptir", &left), ("b.ptir", &right), mode, &options))
    };
    for mode in [Mode::Ordered, Mode::DataFlow] {
        let page = page(mode);
        assert_eq!(page["kind"], "diff");
        assert_eq!(
            (&page["states"][0]["name"], &page["states"][1]["name"]),
            (&"a.ptir".into(), &"b.ptir".into())
        );
        assert_eq!(page["run"]["passes"].as_array().unwrap().len(), 0);
        let marks = page["run"]["marks"]["left"].as_array().unwrap();
        assert_eq!(marks.len(), 1, "{marks:?}");
        assert_eq!((&marks[0][2], &marks[0][4]), (&"changed".into(), &"exp became tanh".into()));
    }
}

#[test]
fn a_page_has_the_matches_of_its_options() {
    let program = parse(NEGS).unwrap();
    let found = [PageMatch {
        pattern: "twice".into(),
        function: "f".into(),
        insts: vec![0, 1],
        reason: Some("it is used".into()),
    }];
    let page = data(&graph_page(&program, &PageOptions::new("f.ptir").matches(&found)));
    assert_eq!(page["matches"][0]["insts"], serde_json::json!([0, 1]));
    assert_eq!(page["matches"][0]["reason"], "it is used");
    let page = data(&graph_page(&program, &PageOptions::new("f.ptir")));
    assert_eq!(page["matches"].as_array().unwrap().len(), 0);
}

#[test]
fn the_text_is_the_printed_program() {
    let program = parse(NEGS).unwrap();
    let page = data(&graph_page(&program, &PageOptions::new("f.ptir")));
    assert_eq!(page["states"][0]["text"].as_str(), Some(program.to_string().as_str()));
    assert_eq!(page["states"][0]["abridged"], false);
    let values: Vec<String> = (0..300).map(|n| format!("{n}.5")).collect();
    let text = format!(
        "ptir 1 func @f() -> f32[300] {{ %c = constant [{}] : f32[300] return %c }}",
        values.join(", ")
    );
    let page = data(&graph_page(&parse(&text).unwrap(), &PageOptions::new("f.ptir")));
    assert_eq!(page["states"][0]["abridged"], true);
}

#[test]
fn large_programs_are_not_compared_or_replayed() {
    let mut program = chain(MAX_GRAPH_OPS + 1);
    let data = report(&mut program, PassManager::parse("cse").unwrap());
    assert_eq!(data["run"]["marks"], Value::Null);
    assert_eq!(data["run"]["passes"][0]["marks"], Value::Null);
    assert_eq!(data["run"]["passes"][0]["functions"], Value::Null);
}

#[test]
fn reports_of_one_run_differ_in_times_only() {
    fn remove_times(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.retain(|name, _| !["time", "total", "verify"].contains(&name.as_str()));
                fields.values_mut().for_each(remove_times);
            }
            Value::Array(list) => list.iter_mut().for_each(remove_times),
            _ => {}
        }
    }
    let functions: Vec<String> =
        (0..20).map(|n| NEGS.replace("ptir 1\n", "").replace("@f", &format!("@f{n}"))).collect();
    let text = format!("ptir 1\n{}", functions.join("\n"));
    let run = || {
        let mut program = parse(&text).unwrap();
        let mut data = report(&mut program, PassManager::parse("canonicalize,cse").unwrap());
        remove_times(&mut data);
        data
    };
    assert_eq!(run(), run());
}

#[test]
fn depth_is_harmless() {
    on_small_stack(|| {
        let depth = 15_000;
        let mut text = String::from("ptir 1\nfunc @f(%x: f32[], %p: bool[]) -> f32[] {\n");
        for n in 0..depth {
            writeln!(text, "%r{n} = cond %p () {{").unwrap();
        }
        for n in (0..depth).rev() {
            let inner = if n + 1 == depth { "%x".to_owned() } else { format!("%r{}", n + 1) };
            writeln!(text, "yield {inner} }} () {{ yield %x }} : f32[]").unwrap();
        }
        text += "return %r0 }";
        let mut program = parse(&text).unwrap();
        let page = data(&graph_page(&program, &PageOptions::new("deep.ptir")));
        assert_eq!(page["functions"][0]["bodies"].as_array().unwrap().len(), 2 * depth + 1);
        let run = report(&mut program, PassManager::parse("cse").unwrap());
        assert_eq!(run["run"]["failure"], Value::Null);
    });
}

#[test]
fn a_run_has_its_passes_steps_and_marks() {
    let mut program = parse(NEGS).unwrap();
    let data = report(&mut program, PassManager::parse("canonicalize,cse").unwrap());
    let passes = data["run"]["passes"].as_array().unwrap();
    assert_eq!(passes.len(), 2);
    assert_eq!(data["states"].as_array().unwrap().len(), 3);
    let steps: Vec<&str> = passes
        .iter()
        .flat_map(|pass| pass["functions"][0]["steps"].as_array().unwrap())
        .map(|step| step[0].as_str().unwrap())
        .collect();
    assert_eq!(steps, ["neg_of_neg", "dce", "cse"]);
    let kinds = |marks: &Value| {
        let left = marks["left"].as_array().unwrap().iter();
        let mut kinds: Vec<String> = left.map(|m| m[2].as_str().unwrap().to_owned()).collect();
        kinds.sort_unstable();
        kinds.join(" ")
    };
    assert_eq!(kinds(&data["run"]["marks"]), "changed erased erased merged");
    assert_eq!(kinds(&passes[0]["marks"]), "changed erased erased");
    assert_eq!(kinds(&passes[1]["marks"]), "changed merged");
}

#[test]
fn steps_without_reported_edits_are_left_out() {
    let text = "ptir 1\nfunc @g(%x: f32[]) -> f32[] { %y = exp %x : f32[] return %y }\n\
                func @f(%x: f32[]) -> f32[] { %y = call @g %x {has_side_effect = false} : f32[] %a = neg %y : f32[] %b = neg %a : f32[] return %b }\n";
    let mut program = parse(text).unwrap();
    let data = report(&mut program, PassManager::parse("inline,simplify").unwrap());
    assert_eq!(data["run"]["passes"][0]["functions"].as_array().unwrap().len(), 0);
    assert_eq!(data["run"]["passes"][1]["functions"].as_array().unwrap().len(), 1);
    let mut program = parse(text).unwrap();
    let data = report(&mut program, PassManager::parse("fixpoint(simplify,inline)").unwrap());
    let logs = data["run"]["passes"][0]["functions"].as_array().unwrap();
    assert!(logs.iter().any(|log| log["cut"] == true), "{logs:?}");
}

/// A pass that edits the program and then panics.
struct PanickingPass;

impl Pass for PanickingPass {
    fn name(&self) -> &'static str {
        "falls"
    }

    fn run_on_program(&self, p: &mut Program, cx: &mut PassContext) -> Result<bool, PassError> {
        GreedyPass::default().run_on_program(p, cx)?;
        panic!("the <b>sky</b> is falling")
    }
}

#[test]
fn a_run_that_failed_shows_how_far_it_got() {
    let mut program = parse(NEGS).unwrap();
    let mut manager = PassManager::new();
    manager.add(DcePass);
    manager.add(PanickingPass);
    let data = report(&mut program, manager);
    let run = &data["run"];
    let steps = run["failure"]["functions"][0]["steps"].as_array().unwrap();
    assert_eq!(steps[0][0], "neg_of_neg");
    assert_eq!(run["passes"].as_array().unwrap().len(), 1);
    assert_eq!(run["failure"]["pass"], "falls");
    assert_eq!(run["failure"]["message"], "it panicked: the <b>sky</b> is falling");
    assert_eq!(data["states"][1]["num_ops"], 5);
    assert!(!run["passes"][0]["changed"].as_bool().unwrap());
}

#[test]
fn a_page_has_the_result_of_a_check() {
    let mut program = parse(NEGS).unwrap();
    let recorder = Arc::new(RunRecorder::new(&program));
    let manager = PassManager::parse("cse").unwrap();
    let ran = manager.trace(recorder.clone()).run(&mut program).unwrap();
    let recording = recorder.finish("cse", Ok(&ran));
    let page = |check: Option<&CheckSection>| {
        data(&report_page(&recording, &PageOptions::new("f.ptir").check(check)))
    };
    assert_eq!(page(None)["run"]["check"], Value::Null);
    let different = CheckSection {
        verdict: CheckSectionVerdict::Different,
        summary: "different".into(),
        culprit: Some("the first wrong rewrite is by `bad`".into()),
        lines: (0..150).map(|n| format!("line {n}")).collect(),
    };
    let check = page(Some(&different))["run"]["check"].clone();
    assert_eq!(check["verdict"], "different");
    assert_eq!(check["culprit"], "the first wrong rewrite is by `bad`");
    assert_eq!(check["lines"].as_array().unwrap().len(), 101);
    assert_eq!(check["lines"][100], "and 50 more lines");
    let check = page(Some(&CheckSection::not_run("the run failed")))["run"]["check"].clone();
    assert_eq!(
        (&check["verdict"], &check["summary"]),
        (&"unknown".into(), &"not run: the run failed".into())
    );
}

#[test]
fn a_program_without_functions_has_a_page() {
    let mut empty = parse("ptir 1").unwrap();
    assert_eq!(data(&graph_page(&empty, &PageOptions::new(""))).get("run"), Some(&Value::Null));
    let run = report(&mut empty, PassManager::parse("simplify").unwrap());
    assert_eq!(run["states"].as_array().unwrap().len(), 2);
}

#[test]
fn the_text_of_a_program_has_the_names_of_its_file() {
    let text = "ptir 1\nfunc @f(%x: f32[4]) -> f32[4] {\n  %60 = neg %x : f32[4]\n  %7 = exp %60 : f32[4]\n  return %7\n}\n";
    let options = ParseOptions::new().numbers(true);
    let program = parse_with(text, &options).unwrap();
    let data = data(&graph_page(&program, &PageOptions::new("f.ptir")));
    let lines: Vec<&str> = data["states"][0]["text"].as_str().unwrap().lines().collect();
    assert!(lines.contains(&"  %60 = neg %x : f32[4]"), "{lines:?}");
    assert!(lines.contains(&"  %7 = exp %60 : f32[4]"), "{lines:?}");
}
