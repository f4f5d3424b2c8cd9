//! Pipelines: text, bad input, reports, failures, threads.

#![allow(clippy::needless_pass_by_value, reason = "a pattern takes its root by value")]

use std::path::PathBuf;
use std::sync::Arc;

use sapwood_ptir::testing::{RandomProgramConfig, random_program};
use sapwood_ptir::{Program, parse};
use sapwood_rewrite::{
    CsePass, DEFAULT_PIPELINE, FixpointPass, FloatMode, GreedyConfig, GreedyPass, InlinePass,
    MakePass, OpRef, PASSES, Pass, PassContext, PassError, PassInfo, PassManager, PipelineParser,
    Reproducer, ReproducerError, Rewrite, SymbolDcePass, parse_pipeline, print_pipeline,
};
use sapwood_testing::cases;
use sapwood_types::Rng;

const PROGRAM: &str = "ptir 1

func @f(%x: f32[4]) -> (f32[4], f32[4]) {
  %a = exp %x : f32[4]
  %b = exp %x : f32[4]
  %dead = neg %a : f32[4]
  return %a, %b
}
";

fn problem(text: &str) -> String {
    let Err(problems) = parse_pipeline(text) else { panic!("`{text}` is accepted") };
    problems.render()
}

#[test]
fn pipelines_print_as_they_are_read() {
    for text in [
        DEFAULT_PIPELINE,
        "simplify",
        "canonicalize{max-iterations=4},cse",
        "fixpoint(canonicalize,cse)",
        "fixpoint{max-rounds=3}(fixpoint(dce,cse),fold{limit=10})",
        "canonicalize{max-rewrites=7,fold=false,fold-limit=9,top-down=true,float=nsz,only=transpose_of_nothing|cast_to_same}",
        "inline{max-insts=10,max-total=100},symbol-dce{keep=a|b},strip-spans,verify",
        "simplify{disable=cast_to_same|transpose_of_nothing}",
    ] {
        let passes = parse_pipeline(text).unwrap_or_else(|p| panic!("{text}: {p}"));
        assert_eq!(print_pipeline(&passes), text);
        let spaced = text.replace(',', " , ").replace('(', " ( ").replace('{', " { ");
        let passes = parse_pipeline(&spaced).unwrap_or_else(|p| panic!("{spaced}: {p}"));
        assert_eq!(print_pipeline(&passes), text);
    }
    let quoted = r#"symbol-dce{keep="a|b"|c|"d,e}"|"\"\\\n\r "|é|""}"#;
    assert_eq!(print_pipeline(&parse_pipeline(quoted).unwrap()), quoted);
}

#[test]
fn unknown_passes_get_a_caret_and_a_suggestion() {
    let text = problem("cse,canonicalise,dce");
    assert!(text.contains("unknown pass `canonicalise`"), "{text}");
    assert!(text.contains("did you mean `canonicalize`?"), "{text}");
    assert!(text.contains("<pipeline>:1:5") && text.contains("^^^^"), "{text}");
    assert!(problem("fxipoint(cse)").contains("did you mean `fixpoint`?"));
    assert!(problem("what").contains("one of canonicalize, cse"));
}

#[test]
fn unknown_options_get_a_caret_and_a_suggestion() {
    let text = problem("canonicalize{max-iteration=4}");
    assert!(text.contains("`canonicalize` has no option `max-iteration`"), "{text}");
    assert!(text.contains("did you mean `max-iterations`?"), "{text}");
    assert!(text.contains("<pipeline>:1:14"), "{text}");
    assert!(problem("cse{a=1}").contains("it has no options"));
    let text = problem("canonicalize{max-iterations=many}");
    assert!(text.contains("option `max-iterations` cannot be `many`"), "{text}");
    assert!(text.contains("<pipeline>:1:29"), "{text}");
    assert!(problem("canonicalize{float=quick}").contains("unknown float mode"));
    assert!(problem("canonicalize{fold=true,fold=false}").contains("given twice"));
    for (keep, why) in [
        ("", "expected names separated by `|`"),
        ("a||b", "expected names separated by `|`"),
        ("\"a", "the quote is not closed"),
        ("\"a\"b", "expected `|` before `b`"),
        ("\"\\q\"", "unknown escape `\\q`"),
    ] {
        let text = problem(&format!("cse,symbol-dce{{keep={keep}}},dce"));
        assert!(text.contains(&format!("option `keep` cannot be `{keep}`: {why}")), "{text}");
        assert!(text.contains("<pipeline>:1:21"), "{text}");
        assert_eq!(text.matches("error:").count(), 1, "{text}");
    }
    let text = problem("simplify{rules=my.rules}");
    assert!(text.contains("files of rules cannot be read here"), "{text}");
    assert!(text.contains("<pipeline>:1:16"), "{text}");
    let text = problem("canonicalize{only=transpose_of_nothin}");
    assert!(text.contains("did you mean `transpose_of_nothing`?"), "{text}");
}

#[test]
fn broken_pipelines_are_refused_in_time() {
    for (text, expected) in [
        ("", "expected the name of a pass"),
        (",", "expected the name of a pass"),
        ("cse,", "expected the name of a pass"),
        ("cse,,dce", "expected the name of a pass"),
        ("cse dce", "expected `,` or the end"),
        ("cse)", "expected `,` or the end"),
        ("fixpoint", "fixpoint needs passes"),
        ("fixpoint()", "expected the name of a pass"),
        ("fixpoint(cse", "expected `,` or `)`"),
        ("cse(dce)", "takes no passes"),
        ("canonicalize{", "is not closed"),
        ("canonicalize{max-iterations", "is not closed"),
        ("canonicalize{max-iterations}", "expected `=`"),
        ("canonicalize{=4}", "expected the name of an option"),
        ("canonicalize{max-iterations=}", "cannot be ``"),
        ("é{ü=ö}", "unknown pass"),
        ("\u{0}", "expected the name of a pass"),
    ] {
        let found = problem(text);
        assert!(found.contains(expected), "`{text}`: {found}");
    }
    let deep = "fixpoint(".repeat(100_000);
    assert!(problem(&deep).contains("at most 32 deep"));
    let long = "nothing,".repeat(100_000);
    assert!(parse_pipeline(&long).is_err());
    // Every prefix of a good pipeline parses or is refused.
    let good = "fixpoint{max-rounds=3}(canonicalize{float=nsz},cse),dce";
    for n in 0..good.len() {
        let _ = parse_pipeline(&good[..n]);
        let _ = parse_pipeline(&good[n..]);
    }
}

#[test]
fn every_pass_runs_by_its_name_and_is_documented() {
    for info in PASSES {
        assert!(info.doc.len() > 10 && info.options.iter().all(|o| o.doc.len() > 10));
        let text = match info.name {
            "symbol-dce" => "symbol-dce{keep=f}",
            "fixpoint" => "fixpoint(cse)",
            name => name,
        };
        let mut program = parse(PROGRAM).unwrap();
        PassManager::parse(text).unwrap().verify_each(true).run(&mut program).unwrap();
    }
}

#[test]
fn reports_have_times_statistics_and_diffs() {
    let mut program = parse(PROGRAM).unwrap();
    let manager = PassManager::parse("canonicalize,cse,dce,fixpoint(cse,dce)").unwrap();
    let report = manager.verify_each(true).print_changes(true).run(&mut program).unwrap();
    assert!(report.changed());
    let changed: Vec<bool> = report.passes.iter().map(|p| p.changed).collect();
    assert_eq!(changed, [true, true, false, false]);
    let timing = report.timing();
    for line in ["total", "  canonicalize", "  cse", "    verify", "  fixpoint(cse,dce)"] {
        assert!(timing.contains(line), "{timing}");
    }
    let statistics = report.statistics();
    assert!(statistics.contains("1  erased") && statistics.contains("1  merged"), "{statistics}");
    let changes = report.changes();
    assert!(changes.contains("// canonicalize\n--- before\n+++ after"), "{changes}");
    assert!(changes.contains("-  %dead = neg %a : f32[4]"), "{changes}");
    assert!(changes.contains("// dce: no change"), "{changes}");
}

#[test]
fn programs_that_do_not_verify_are_refused_before_anything_runs() {
    let mut program = parse(PROGRAM).unwrap();
    let f = program.function_mut("f").unwrap();
    let exp = f.walk().next().unwrap();
    let value = f.value_of(exp).unwrap();
    f.set_type(value, &sapwood_ptir::ValueType::Token).unwrap();
    let before = program.to_string();
    let failure = PassManager::parse("dce").unwrap().run(&mut program).unwrap_err();
    assert!(failure.pass.is_none());
    assert!(matches!(failure.error, PassError::Invalid(_)));
    assert_eq!(program.to_string(), before);
}

// Breaks the program in the given way, after it has changed something.
struct Bad(&'static str);

impl Pass for Bad {
    fn name(&self) -> &'static str {
        "verify"
    }
    fn run_on_program(&self, p: &mut Program, _: &mut PassContext) -> Result<bool, PassError> {
        let f = p.function_mut("f").unwrap();
        let last = f.walk().find(|&i| f.results_unused(i)).unwrap();
        f.erase(last).unwrap();
        match self.0 {
            "panics" => panic!("on purpose"),
            "fails" => Err(PassError::Refused("no".into())),
            _ => {
                let exp = f.walk().next().unwrap();
                let value = f.value_of(exp).unwrap();
                f.set_type(value, &sapwood_ptir::ValueType::Token).unwrap();
                Ok(true)
            }
        }
    }
}

// Erases a dead instruction, and reports no change.
struct Silent;

impl Pass for Silent {
    fn name(&self) -> &'static str {
        "silent"
    }
    fn run_on_program(&self, p: &mut Program, _: &mut PassContext) -> Result<bool, PassError> {
        for f in p.functions_mut() {
            let dead = f.walk().find(|&i| f.value_of(i).is_some() && f.results_unused(i));
            if let Some(dead) = dead {
                f.erase(dead).unwrap();
            }
        }
        Ok(false)
    }
}

// Does the same with the rewriter of each function.
struct SilentInEach;

impl Pass for SilentInEach {
    fn name(&self) -> &'static str {
        "silent"
    }
    fn run_on_program(&self, p: &mut Program, cx: &mut PassContext) -> Result<bool, PassError> {
        cx.each_function(p, |rw, _| {
            let f = rw.function();
            let dead = f.walk().find(|&i| f.value_of(i).is_some() && f.results_unused(i));
            if let Some(dead) = dead {
                rw.erase_inst(dead)?;
            }
            Ok(false)
        })
    }
}

#[test]
fn a_pass_that_does_not_report_its_change_fails_with_the_change() {
    let silent: Arc<dyn Pass> = Arc::new(Silent);
    let each: Arc<dyn Pass> = Arc::new(SilentInEach);
    for in_place in [false, true] {
        let fixpoint: Arc<dyn Pass> = Arc::new(FixpointPass::new(vec![silent.clone()]));
        for pass in [&silent, &each, &fixpoint] {
            let mut program = parse(PROGRAM).unwrap();
            let manager = PassManager::from(vec![pass.clone()]).in_place(in_place);
            let failure = manager.run(&mut program).unwrap_err();
            let message = failure.to_string();
            assert!(message.contains("changed the program but reported no change"), "{message}");
            assert!(message.contains("neg"), "{message}");
            // There is nothing dead in this program.
            let mut program = parse(PROGRAM).unwrap();
            PassManager::parse("dce").unwrap().run(&mut program).unwrap();
            assert!(!manager.run(&mut program).unwrap().changed());
        }
    }
}

#[test]
fn a_failing_pass_leaves_the_program_as_it_was_and_a_reproducer() {
    let folder = std::env::temp_dir().join(format!("sapwood-rewrite-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for (how, expected) in
        [("panics", "it panicked: on purpose"), ("fails", "no"), ("breaks", "does not verify")]
    {
        let path = folder.join(format!("{how}.ptir"));
        let mut program = parse(PROGRAM).unwrap();
        let mut manager = PassManager::new().verify_each(true).reproducer(&path);
        manager.add(CsePass);
        manager.add(Bad(how));
        manager.add(sapwood_rewrite::DcePass);
        let failure = manager.run(&mut program).unwrap_err();
        assert_eq!(failure.pass.as_deref(), Some("verify"));
        assert!(failure.to_string().contains(expected), "{failure}");
        assert_eq!(program.to_string(), PROGRAM);
        assert_eq!(failure.written.unwrap().unwrap(), path);
        let text = std::fs::read_to_string(&path).unwrap();
        let read = Reproducer::read(&text).unwrap();
        assert_eq!(&read, &**failure.reproducer.as_ref().unwrap());
        assert_eq!(read.pipeline, "cse,verify");
        assert_eq!(read.version, env!("CARGO_PKG_VERSION"));
        let (again, passes) = read.parts(&PipelineParser::default()).unwrap();
        assert_eq!((again.to_string(), passes.len()), (PROGRAM.to_owned(), 2));
        // It is an ordinary program.
        assert_eq!(parse(&text).unwrap().to_string(), PROGRAM);
    }
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(Reproducer::read(PROGRAM).unwrap_err(), ReproducerError::Header("pipeline"));
}

#[test]
fn a_pipeline_that_does_not_converge_warns() {
    let mut program = parse(PROGRAM).unwrap();
    fn flips(op: sapwood_ptir::ops::Exp, rw: &mut Rewrite<'_>) -> Option<sapwood_ptir::Value> {
        let a = rw.emit(sapwood_ptir::ops::Neg { input: op.input })?;
        rw.emit(sapwood_ptir::ops::Exp { input: a })
    }
    let mut set = sapwood_rewrite::PatternSet::new();
    set.add(flips);
    let config = GreedyConfig { max_rewrites: Some(20), ..GreedyConfig::default() };
    let mut manager = PassManager::new();
    manager.add(GreedyPass::canonicalize(config, set.freeze()));
    let report = manager.run(&mut program).unwrap();
    let warnings: Vec<String> = report.warnings().collect();
    assert_eq!(warnings.len(), 1);
    assert!(
        warnings[0].contains("@f: not converged") && warnings[0].contains("`flips`"),
        "{warnings:?}"
    );
}

#[test]
fn the_limit_that_stopped_a_run_is_named_with_its_option() {
    let warning = |pipeline: &str, text: &str| {
        let mut program = parse(text).unwrap();
        let report = PassManager::parse(pipeline).unwrap().run(&mut program).unwrap();
        let warnings: Vec<String> = report.warnings().collect();
        assert_eq!(warnings.len(), 1, "{pipeline}: {warnings:?}");
        warnings[0].clone()
    };
    let negations = "ptir 1\nfunc @f(%x: f32[4]) -> f32[4] {
      %a = neg %x : f32[4] %b = neg %a : f32[4] %c = neg %b : f32[4] %d = neg %c : f32[4]
      %e = exp %d : f32[4] return %e }";
    let found = warning("canonicalize{max-rewrites=0}", negations);
    let end = "stopped at 0 rewrites, folds included, the `max-rewrites`";
    assert!(
        found.contains("@f: not converged after 1 round and 0 rewrites: ") && found.contains(end),
        "{found}"
    );
    let found = warning("simplify{max-iterations=1}", negations);
    assert!(found.ends_with(": stopped at 1 round, the `max-iterations`"), "{found}");
    // 300 different constants of two elements, each added to another: at most 2 * 256 elements are folded.
    let mut text =
        String::from("ptir 1\nfunc @f() -> i32[2] {\n  %s0 = constant [1, 2] : i32[2]\n");
    for i in 0..300 {
        text += &format!("  %s{} = mul %s{i}, [{}, 3]:i32[2] : i32[2]\n", i + 1, i % 7);
    }
    text += "  return %s300\n}";
    for (pipeline, option) in
        [("canonicalize{fold-limit=2}", "fold-limit"), ("fold{limit=2}", "limit")]
    {
        let found = warning(pipeline, &text);
        assert!(found.contains("all folded constants together stopped at 512 elements"), "{found}");
        assert!(found.contains(&format!("`{option}`")), "{found}");
    }
}

#[test]
fn functions_that_do_not_change_stay_shared() {
    let text = format!("{PROGRAM}\nfunc @g(%x: f32[4]) -> f32[4] {{\n  return %x\n}}\n");
    let mut program = parse(&text).unwrap();
    let old = program.clone();
    PassManager::parse(DEFAULT_PIPELINE).unwrap().run(&mut program).unwrap();
    let shared =
        |name: &str| Arc::ptr_eq(old.function(name).unwrap(), program.function(name).unwrap());
    assert!(shared("g") && !shared("f"));
    assert_eq!(old.to_string(), text);
}

// Returns a value of another type.
fn tuples_itself(_: OpRef, rw: &mut Rewrite<'_>) -> Option<sapwood_ptir::Value> {
    let elements = [rw.result(0)?].into_iter().collect();
    rw.emit(sapwood_ptir::ops::Tuple { elements })
}

#[test]
fn many_functions_come_out_the_same_on_any_number_of_threads() {
    let config = RandomProgramConfig { functions: 40, ..RandomProgramConfig::default() };
    let program = random_program(7, &config);
    let run = |threads| {
        let mut program = program.clone();
        let mut manager = PassManager::parse("simplify,cse,dce").unwrap().threads(threads);
        // A pass that stops early and has something to report in most functions.
        let mut set = sapwood_rewrite::PatternSet::new();
        set.add(tuples_itself);
        let config = GreedyConfig { max_rewrites: Some(1), ..GreedyConfig::default() };
        manager.add(GreedyPass::canonicalize(config, set.freeze()));
        let report = manager.run(&mut program).unwrap();
        let passes = report.passes.into_iter().map(|p| (p.counters, p.greedy, p.warnings));
        (program.to_string(), passes.collect::<Vec<_>>())
    };
    let one = run(1);
    assert!(one.1[3].2.len() > 4, "{:?}", one.1[3].2);
    for threads in [2, 3, 8, 100] {
        assert_eq!(run(threads), one);
    }
}

#[test]
fn a_panic_in_one_function_is_a_failure_of_the_pass() {
    fn panics(_: sapwood_ptir::ops::Exp, _: &mut Rewrite<'_>) -> Option<sapwood_ptir::Value> {
        panic!("in a pattern")
    }
    let mut set = sapwood_rewrite::PatternSet::new();
    set.add(panics);
    let mut manager = PassManager::new().threads(2);
    manager.add(GreedyPass::canonicalize(GreedyConfig::default(), set.freeze()));
    let mut program = parse(PROGRAM).unwrap();
    // A panic of a pattern is caught; the pass continues and warns.
    let report = manager.run(&mut program).unwrap();
    let warnings: Vec<String> = report.warnings().collect();
    assert_eq!(
        warnings,
        [
            "canonicalize: @f: pattern `panics` at `exp` panicked: in a pattern",
            "canonicalize: @f: disabled after a problem: `panics`",
        ]
    );
}

#[test]
fn calls_that_would_grow_the_program_too_much_stay() {
    let mut text =
        String::from("ptir 1\nfunc @f0(%x: f32[]) -> f32[] { %y = neg %x : f32[] return %y }\n");
    for i in 1..40 {
        text += &format!(
            "func @f{i}(%x: f32[]) -> f32[] {{ %a = call @f{0} %x : f32[] %b = call @f{0} %a : f32[] return %b }}\n",
            i - 1
        );
    }
    let mut program = parse(&text).unwrap();
    let manager = PassManager::parse("inline{max-total=10000}").unwrap().verify_each(true);
    let report = manager.run(&mut program).unwrap();
    assert!(program.num_insts() <= 10_000);
    let counters = &report.passes[0].counters;
    assert!(counters.iter().all(|(_, n)| *n > 0), "{counters:?}");
    let count = |name: &str| counters.iter().find(|(n, _)| *n == name).map(|(_, n)| *n);
    assert_eq!(count("beyond max-total"), count("left"));
    let warnings: Vec<String> = report.warnings().collect();
    let [said] = &warnings[..] else { panic!("{warnings:?}") };
    let (left, all) = (count("left").unwrap(), count("left").unwrap() + count("inlined").unwrap());
    let text = "calls are not inlined: the program would have more than 10000 instructions, the `max-total`";
    assert_eq!(*said, format!("inline{{max-total=10000}}: {left} of {all} {text}"));
}

#[test]
fn an_empty_fixpoint_is_one_problem() {
    let said = problem("fixpoint(),cse");
    assert_eq!(said.matches("error:").count(), 1, "{said}");
    assert!(said.contains("expected the name of a pass"), "{said}");
}

#[test]
fn a_missing_option_is_reported_at_the_pass() {
    const NEEDS: PassInfo = PassInfo {
        name: "needs",
        doc: "Needs an option.",
        options: &[],
        make: MakePass::Plain(|options| options.refuse("file", "`needs` needs a file")),
    };
    let Err(problems) = PipelineParser::new(&[&NEEDS]).parse("cse,needs") else {
        panic!("accepted")
    };
    let said = problems.render();
    assert!(said.contains("`needs` needs a file") && said.contains("^^^^^"), "{said}");
}

#[test]
fn a_constant_that_nothing_uses_counts_as_erased() {
    let text = "ptir 1 func @f(%x: f32[]) -> f32[] { %a = constant 1.0 : f32[] return %x }";
    let report = PassManager::parse("simplify").unwrap().run(&mut parse(text).unwrap()).unwrap();
    let stats = report.passes[0].greedy.as_ref().unwrap();
    assert_eq!((stats.erased, stats.merged), (1, 0));
    assert!(stats.patterns.iter().all(|p| !p.name.is_empty()));
}

// Returns a random list of names with all kinds of characters.
fn random_names(rng: &mut Rng) -> Vec<String> {
    let chars =
        ['a', 'é', '_', '|', ',', '}', '{', '(', ')', '"', '\\', '=', ' ', '\n', '\r', '\t', '\''];
    let name = |rng: &mut Rng| (0..rng.below(6)).map(|_| chars[rng.below(chars.len())]).collect();
    (0..1 + rng.below(3)).map(|_| name(rng)).collect()
}

// Returns a random pass with random options.
fn random_pass(rng: &mut Rng, depth: usize) -> Arc<dyn Pass> {
    fn maybe(rng: &mut Rng, n: usize) -> Option<usize> {
        (!rng.one_in(2)).then(|| rng.below(n))
    }
    match maybe(rng, 6) {
        None if depth < 4 => {
            let passes = (0..1 + rng.below(3)).map(|_| random_pass(rng, depth + 1)).collect();
            let max_rounds = 1 + rng.below(2000);
            Arc::new(FixpointPass { max_rounds, ..FixpointPass::new(passes) })
        }
        Some(0) => Arc::new(SymbolDcePass { keep: random_names(rng) }),
        Some(1) => {
            let max_insts = maybe(rng, 100).unwrap_or(usize::MAX);
            Arc::new(InlinePass { max_insts, ..InlinePass::default() })
        }
        Some(2) => Arc::new(CsePass),
        Some(3) => {
            let mut pass = GreedyPass::fold();
            pass.config.fold_limits.max_elements = rng.below(100) as u64;
            Arc::new(pass)
        }
        _ => {
            let mut pass = GreedyPass::default();
            pass.config.max_iterations = maybe(rng, 9).unwrap_or(usize::MAX);
            pass.config.max_rewrites = maybe(rng, 9);
            pass.config.top_down = maybe(rng, 2) == Some(1);
            pass.config.enable_constant_fold = maybe(rng, 2) != Some(1);
            pass.config.floats = FloatMode::ALL[maybe(rng, 3).unwrap_or(0)];
            if maybe(rng, 2) == Some(1) {
                pass.rules = random_names(rng).into_iter().map(PathBuf::from).collect();
                pass.disable = vec!["cast_to_same".into()];
            }
            Arc::new(pass)
        }
    }
}

#[test]
fn printed_pipelines_are_read_as_the_same_passes() {
    // Files of rules are not read here.
    let parser = PipelineParser::default().pattern_reader(&|_, _| Ok(()));
    let (mut quoted, mut nested) = (0, 0);
    for seed in 0..cases(500, 20_000) as u64 {
        let mut rng = Rng::new(seed);
        let passes: Vec<_> = (0..1 + rng.below(4)).map(|_| random_pass(&mut rng, 0)).collect();
        let text = print_pipeline(&passes);
        assert!(!text.contains('\n'), "{text}");
        let read = parser.parse(&text).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(print_pipeline(&read), text);
        let options = |passes: &[Arc<dyn Pass>]| {
            passes
                .iter()
                .map(|p| (p.name(), p.options(), p.float_mode(), p.files()))
                .collect::<Vec<_>>()
        };
        assert_eq!(options(&read), options(&passes), "{text}");
        quoted += usize::from(text.contains('"'));
        nested += usize::from(text.contains("fixpoint{"));
    }
    assert!(quoted > 50 && nested > 50, "{quoted} {nested}");
}

#[test]
fn passes_are_asked_for_their_float_mode_and_for_what_they_remove() {
    let manager = |text: &str| PassManager::parse(text).unwrap();
    assert_eq!(manager("cse,simplify").float_mode(), FloatMode::Exact);
    assert_eq!(
        manager("simplify{float=nsz},fixpoint(cse,fixpoint(canonicalize{float=fast}))")
            .float_mode(),
        FloatMode::Fast
    );
    assert!(!manager("symbol-dce,inline").may_remove_functions());
    // The name of a function does not matter.
    assert_eq!(manager("symbol-dce{keep=\"float=fast\"}").float_mode(), FloatMode::Exact);
    assert!(manager("cse,fixpoint(symbol-dce{keep=f})").may_remove_functions());
    let limited = |text: &str, n: usize| manager(text).passes()[0].with_max_rewrites(n);
    assert!(limited("cse", 3).is_none());
    for (text, expected) in [
        ("simplify", "simplify{max-rewrites=3}"),
        ("simplify{max-rewrites=2}", "simplify{max-rewrites=2}"),
    ] {
        assert_eq!(print_pipeline(&[limited(text, 3).unwrap()]), expected);
    }
}
