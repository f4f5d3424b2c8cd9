//! Properties of the matcher and of extraction: the matches are those of an exhaustive reference, and extraction keeps the
//! results and is undone by inlining.

use crate::reference;
use std::collections::BTreeMap;
use std::sync::Arc;

use sapwood_ptir::eval::{self, RunOptions, Tensor, Value};
use sapwood_ptir::structural::{Mode, first_mismatch};
use sapwood_ptir::testing::{RandomProgramConfig, Rng, random_inputs, random_program};
use sapwood_ptir::{
    Function, InsertPoint, InstId, Name, Op, OpParts, ParseOptions, Program, Registry, ValueId,
    parse, parse_with, verify,
};
use sapwood_rewrite::inline_calls;
use sapwood_rules::{
    ExtractOptions, FindOptions, OverlapPreference, PatternGraph, extract, find_matches, legality,
    pattern_of, patterns_from,
};
use sapwood_types::{Source, Span};

// Random straight-line programs over a few ops, small enough to contain random patterns of the same kind often.
fn text(rng: &mut Rng, name: &str, ops: usize, effects: bool, outputs: usize) -> String {
    let mut values: Vec<String> = (0..1 + rng.below(3)).map(|n| format!("%p{n}")).collect();
    let params: Vec<String> = values.iter().map(|v| format!("{v}: f64[4]")).collect();
    let (mut body, mut results) = (String::new(), Vec::new());
    for n in 0..ops {
        let pick =
            |rng: &mut Rng| values[values.len() - 1 - rng.below(values.len().min(5))].clone();
        let (a, b) = (pick(rng), pick(rng));
        let new = format!("%v{n}");
        let line = match rng.below(if effects { 9 } else { 8 }) {
            0..3 => format!("{new} = add {a}, {b} : f64[4]"),
            3 | 4 => format!("{new} = sub {a}, {b} : f64[4]"),
            5 => format!("{new} = reverse {a} {{axes = [{}]}} : f64[4]", ["0", ""][rng.below(2)]),
            6 | 7 => format!("{new} = exp {a} : f64[4]"),
            _ => format!("toy.effect {a}"),
        };
        if line.starts_with('%') {
            values.push(new.clone());
            results.push(new);
        }
        body += &format!("  {line}\n");
    }
    let count = outputs.min(results.len());
    let outputs: Vec<String> = match count {
        0 => Vec::new(),
        _ => (0..count)
            .map(|_| results[results.len() - 1 - rng.below(results.len().min(3))].clone())
            .collect(),
    };
    let types = vec!["f64[4]"; count].join(", ");
    format!(
        "func @{name}({}) -> ({types}) {{\n{body}  return {}\n}}\n",
        params.join(", "),
        outputs.join(", ")
    )
}

fn random_pattern(rng: &mut Rng, effects: bool) -> Option<(PatternGraph, Arc<Function>)> {
    let (ops, outputs) = (1 + rng.below(4), 1 + rng.below(2));
    let text = format!("ptir 1\n{}", text(rng, "p", ops, effects, outputs));
    read_pattern(&text)
}

// A few lines of a program as a pattern, with the values they use as parameters.
fn lines_of(rng: &mut Rng, program: &str) -> String {
    let body: Vec<&str> =
        program.lines().filter(|l| l.starts_with("  ") && !l.contains("return")).collect();
    let (count, start) = (2 + rng.below(3), rng.below(body.len()));
    let lines: Vec<&str> =
        body[start..].iter().step_by(1 + rng.below(2)).take(count).copied().collect();
    let (mut params, mut defined, mut used) = (Vec::new(), Vec::new(), Vec::new());
    for line in &lines {
        let names: Vec<&str> = line.split([' ', ',']).filter(|w| w.starts_with('%')).collect();
        let (own, operands) =
            names.split_at(usize::from(line.contains(" = ") && line.trim().starts_with('%')));
        for name in operands {
            if !defined.contains(name) && !params.contains(name) {
                params.push(*name);
            }
        }
        used.extend_from_slice(operands);
        defined.extend_from_slice(own);
    }
    let mut outputs: Vec<&str> = defined.iter().filter(|d| !used.contains(d)).copied().collect();
    outputs.extend(defined.iter().filter(|d| used.contains(d) && rng.below(3) == 0));
    let types = vec!["f64[4]"; outputs.len()].join(", ");
    let params: Vec<String> = params.iter().map(|p| format!("{p}: f64[4]")).collect();
    format!(
        "ptir 1\nfunc @p({}) -> ({types}) {{\n{}\n  return {}\n}}\n",
        params.join(", "),
        lines.join("\n"),
        outputs.join(", ")
    )
}

fn read_pattern(text: &str) -> Option<(PatternGraph, Arc<Function>)> {
    let source = Source::new("p.ptir", text);
    let pattern = patterns_from(&source, &Registry::builtin()).ok()?.pop()?;
    let options = ParseOptions::new().verify(false).open_attributes(true);
    Some((pattern, parse_with(text, &options).ok()?.functions()[0].clone()))
}

#[test]
fn the_matcher_finds_the_matches_of_the_reference() {
    let (mut cases, mut matches, mut illegal) = (0, 0, 0);
    for seed in 0..u64::from(sapwood_testing::cases(4000, 100_000)) {
        let mut rng = Rng::new(seed);
        let ops = 4 + rng.below(9);
        let program = format!("ptir 1\n{}", text(&mut rng, "main", ops, true, 2));
        let pattern = match rng.below(3) {
            0 => random_pattern(&mut rng, true),
            _ => read_pattern(&lines_of(&mut rng, &program)),
        };
        let Some((pattern, function)) = pattern else { continue };
        let program = parse(&program).unwrap();
        let commute = rng.below(4) > 0;
        let options = FindOptions { operand_order: !commute, ..FindOptions::default() };
        let patterns = [pattern];
        let found = find_matches(&program, &patterns, &options);
        assert!(found.exhausted.is_empty());
        let expected = reference::reference(&program.functions()[0], &function, commute);
        let mut got: BTreeMap<Vec<InstId>, reference::Legal> = BTreeMap::new();
        for m in &found.matches {
            let mut set = m.ops.clone();
            set.sort();
            let legal = legality(&program, &patterns, m).is_ok();
            let legal_ops = legal.then(|| m.ops.clone());
            assert!(got.insert(set, legal_ops).is_none(), "one match per set of ops; seed {seed}");
            (matches, illegal) = (matches + 1, illegal + usize::from(!legal));
        }
        assert_eq!(got, expected, "seed {seed}\n{function:?}\n{program}");
        cases += 1;
    }
    assert!(cases > 1000 && matches > 2000 && illegal > 300, "{cases} {matches} {illegal}");
}

// Inlines the extracted functions and compares the data flow with the original program.
fn comes_back(before: &Program, after: &Program, seed: u64) {
    verify(after).unwrap_or_else(|p| panic!("seed {seed}: {p}\n{after}"));
    let mut flat = after.clone();
    inline_calls(&mut flat, |_, callee| callee.extracted_from().is_some()).unwrap();
    let extracted: Vec<Name> = flat
        .functions()
        .iter()
        .filter(|f| f.extracted_from().is_some())
        .map(|f| f.name())
        .collect();
    for name in extracted {
        flat.remove(name);
    }
    if let Some(found) = first_mismatch(before, &flat, Mode::DataFlow) {
        panic!("seed {seed}: {}: {}\n{before}\n{after}", found.left, found.reason);
    }
}

#[test]
fn extraction_can_be_undone_and_keeps_the_results() {
    let mut calls = 0;
    for seed in 0..u64::from(sapwood_testing::cases(1000, 40_000)) {
        let mut rng = Rng::new(seed ^ 0xe7);
        let effects = rng.below(2) == 0;
        let patterns: Vec<PatternGraph> = (0..2)
            .filter_map(|n| {
                Some(random_pattern(&mut rng, effects)?.0.named(format!("p{n}").as_str()))
            })
            .collect();
        let ops = 6 + rng.below(20);
        let before =
            parse(&format!("ptir 1\n{}", text(&mut rng, "main", ops, effects, 2))).unwrap();
        let prefer = [OverlapPreference::Earliest, OverlapPreference::Largest][rng.below(2)];
        let options = ExtractOptions {
            prefer,
            share: rng.below(2) == 0,
            keep_nested: rng.below(2) == 0,
            keep_unused: true,
            ..ExtractOptions::default()
        };
        let mut after = before.clone();
        let report = extract(&mut after, &patterns, &options).unwrap();
        calls += report.calls.len();
        comes_back(&before, &after, seed);
        let mut again = before.clone();
        extract(&mut again, &patterns, &options).unwrap();
        assert_eq!(again.to_string(), after.to_string(), "seed {seed}");
        let read = parse(&before.to_string()).unwrap();
        let mut again = read.clone();
        extract(&mut again, &patterns, &options).unwrap();
        assert_eq!(again.to_string(), after.to_string(), "seed {seed}, read back");
        if !effects {
            let input = |n: f64| {
                Value::Tensor(Tensor::new(
                    sapwood_types::DataType::F64,
                    [4],
                    vec![n, 0.5 - n, -0.25, n * n],
                ))
            };
            let inputs: Vec<Value> = before.functions()[0]
                .params()
                .iter()
                .enumerate()
                .map(|(n, _)| input(n as f64 / 8.0))
                .collect();
            let run = |p: &Program| eval::run(p, "main", &inputs, &RunOptions::default()).unwrap();
            let shown = |v: Vec<Value>| v.iter().map(ToString::to_string).collect::<Vec<_>>();
            assert_eq!(shown(run(&before)), shown(run(&after)), "seed {seed}");
        }
    }
    assert!(calls > 300, "{calls}");
}

// Returns the pattern of an instruction and the definitions of its operands.
fn cut(f: &Function, root: InstId, depth: usize) -> Option<PatternGraph> {
    let mut insts = vec![root];
    let mut at = 0;
    while at < insts.len() && insts.len() < depth {
        let operands = f.operands(insts[at]).iter();
        for def in operands.filter_map(|&v| f.inst_of(v)) {
            if f.body_of(def) == f.body_of(root) && !insts.contains(&def) && insts.len() < depth {
                insts.push(def);
            }
        }
        at += 1;
    }
    insts.retain(|&i| f.regions(i).is_empty() && !f.is::<sapwood_ptir::ops::Constant>(i));
    insts.sort_by_key(|&i| f.order_key(i));
    let mut p = Function::new("cut", f.registry().clone());
    let mut map: BTreeMap<ValueId, ValueId> = BTreeMap::new();
    for &inst in &insts {
        let operands: Vec<ValueId> = f.operands(inst).to_vec();
        for v in operands.into_iter().filter(|v| !f.inst_of(*v).is_some_and(|d| insts.contains(&d)))
        {
            map.entry(v).or_insert_with(|| p.push_param(p.body(), f.value_type(v)));
        }
    }
    for &inst in &insts {
        let mut parts = f.parts_of(inst);
        parts.operands.iter_mut().for_each(|v| *v = map[v]);
        let made = p.insert(InsertPoint::End(p.body()), &parts, Span::unknown()).ok()?;
        map.extend(f.inst_results(inst).zip(p.inst_results(made).collect::<Vec<_>>()));
    }
    let outputs: Vec<ValueId> = f.inst_results(*insts.last()?).map(|v| map[&v]).collect();
    let mut ret = OpParts::new(sapwood_ptir::ops::Return::key());
    ret.operands.extend(outputs);
    p.insert(InsertPoint::End(p.body()), &ret, Span::unknown()).ok()?;
    pattern_of(&Arc::new(p), Name::new("cut")).ok()
}

#[test]
fn patterns_cut_out_of_a_program_are_found_in_it() {
    let (mut found_all, mut calls, mut ran) = (0, 0, 0);
    for seed in 0..u64::from(sapwood_testing::cases(400, 20_000)) {
        let program = random_program(seed, &RandomProgramConfig::default());
        let mut rng = Rng::new(seed);
        let f = &program.functions()[rng.below(program.functions().len())];
        let insts: Vec<InstId> = f
            .walk()
            .filter(|&i| f.regions(i).is_empty() && !f.op_def(i).is_some_and(|d| d.terminator))
            .collect();
        let Some(root) = rng.pick(&insts) else { continue };
        let depth = 1 + rng.below(4);
        let Some(pattern) = cut(f, root, depth) else { continue };
        let patterns = [pattern];
        let typed = FindOptions { typed: true, ..FindOptions::default() };
        for options in [FindOptions::default(), typed] {
            let found = find_matches(&program, &patterns, &options);
            let there =
                found.matches.iter().any(|m| m.function == f.name() && m.ops.contains(&root));
            assert!(there, "seed {seed}: {root} of @{}\n{:?}\n{program}", f.name(), patterns[0]);
        }
        found_all += 1;
        let mut after = program.clone();
        let options =
            ExtractOptions { keep_unused: true, keep_nested: true, ..ExtractOptions::default() };
        let report = extract(&mut after, &patterns, &options).unwrap();
        calls += report.calls.len();
        comes_back(&program, &after, seed);
        for g in program.functions() {
            let Some(inputs) = random_inputs(&mut rng, g) else { continue };
            let inputs: Vec<Value> =
                inputs.iter().map(|l| Value::Tensor(Tensor::from_literal(l).unwrap())).collect();
            let options = RunOptions { max_steps: Some(100_000), ..RunOptions::default() };
            let run = |p: &Program| eval::run(p, g.name().as_str(), &inputs, &options);
            if let (Ok(a), Ok(b)) = (run(&program), run(&after)) {
                let shown = |v: &[Value]| v.iter().map(ToString::to_string).collect::<Vec<_>>();
                assert_eq!(shown(&a), shown(&b), "seed {seed}");
                ran += 1;
            }
        }
    }
    assert!(found_all > 100 && calls > 50 && ran > 20, "{found_all} {calls} {ran}");
}
