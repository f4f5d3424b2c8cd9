//! Patches: instructions recorded with the builder DSL, and changes in place.

#![allow(clippy::needless_pass_by_value, reason = "a pattern takes its root by value")]

use crate::meaning;
use sapwood_ptir::ops::{Add, Constant, CustomCall, Exp, Neg, Reshape, Return, Sub};
use sapwood_ptir::prelude::{BinaryValueOps, GraphError, UnaryValueOps};
use sapwood_ptir::{
    Attr, InstId, Op, OpParts, Program, PtirGraph, PtirResults, PtirValue, ResultType,
    TensorLiteral, TensorType, Value, ValueId, Values, parse, verify,
};
use sapwood_rewrite::{
    FloatMode, FoldResult, Folded, GreedyConfig, GreedyStats, Limit, PatternFn, PatternId,
    PatternSet, ProgramRewriter, Rewrite, apply_patterns_and_fold_greedily,
    apply_patterns_to_program,
};
use sapwood_types::DataType;

fn run(text: &str, set: PatternSet) -> (Program, Program, GreedyStats) {
    let (before, after, stats) = run_with_problems(text, set);
    assert_eq!(stats.problems, []);
    (before, after, stats)
}

fn run_with_problems(text: &str, set: PatternSet) -> (Program, Program, GreedyStats) {
    let before = parse(text).unwrap();
    let mut after = before.clone();
    let config = GreedyConfig { expensive_checks: true, ..GreedyConfig::default() };
    let f = after.function_mut("f").unwrap();
    let stats = apply_patterns_and_fold_greedily(f, &set.freeze(), &config).unwrap();
    f.check_indices().unwrap();
    verify(&after).unwrap();
    (before, after, stats)
}

/// `x - y = -(y + -x)`, written with the builder.
fn sub_by_builder(op: Sub, rw: &mut Rewrite<'_>) -> Option<Value> {
    let values = rw.build(&[op.lhs, op.rhs], |g, v| {
        let minus = v[0].neg(g)?;
        let sum = v[1].add(g, &minus)?;
        Ok(vec![sum.neg(g)?])
    })?;
    values.first().copied()
}

const SUB: &str = "ptir 1\n\nfunc @f(%x: f32[4], %y: f32[4]) -> f32[4] {\n  %d = sub %x, %y : f32[4]\n  return %d\n}\n";

#[test]
fn the_builder_works_on_a_patch() {
    let mut set = PatternSet::new();
    set.add(sub_by_builder);
    let (before, after, stats) = run(SUB, set);
    assert_eq!(stats.rewrites, 1);
    let lines = "  %0 = neg %x : f32[4]\n  %1 = add %y, %0 : f32[4]\n  %d = neg %1 : f32[4]\n";
    assert!(after.to_string().contains(lines), "{after}");
    let runs = meaning::agree(&before, &after, "f".into(), FloatMode::Nsz, 0..50).unwrap();
    assert_eq!(runs, 50);
}

/// A scan over three steps that carries `v[0]`, with a body of one value.
fn scan(
    g: &mut PtirGraph<'_>,
    v: &[PtirValue],
    step: impl FnOnce(&mut PtirGraph<'_>, &PtirValue) -> Result<PtirValue, GraphError>,
) -> Result<Vec<PtirValue>, GraphError> {
    let ty = std::slice::from_ref(v[0].ty());
    let body = g.region(ty, |g, args| Ok::<_, GraphError>(vec![step(g, &args[0])?]))?;
    let results: PtirResults = g.record(sapwood_ptir::ops::Scan {
        args: [g.value_id(&v[0])?].into_iter().collect(),
        carried: 1.into(),
        length: Some(3.into()),
        reverse: false,
        body: g.region_id(&body)?,
    })?;
    Ok(vec![results.into_value()?])
}

/// `exp(x) = scan over three steps of …`: an instruction with a region and a constant, after other staged instructions.
fn exp_by_scan(op: Exp, rw: &mut Rewrite<'_>) -> Option<Value> {
    let negated = rw.emit(Neg { input: op.input })?;
    let half = rw.filled_like_result(0.5)?;
    let values =
        rw.build(&[negated, half], |g, v| scan(g, v, |g, x| x.mul(g, &v[1])?.add(g, &v[0])))?;
    values.first().copied()
}

#[test]
fn recorded_instructions_may_have_regions() {
    let text = SUB.replace("sub %x, %y", "exp %x");
    let mut set = PatternSet::new();
    set.add(exp_by_scan);
    let (_, after, stats) = run(&text, set);
    assert_eq!(stats.rewrites, 1);
    let text = after.to_string();
    assert!(text.contains("%d = scan"), "{text}");
    assert_eq!(text.matches("constant 0.5").count(), 1, "{text}");
    // The printed text parses to the same program.
    assert_eq!(parse(&text).unwrap().to_string(), text);
}

/// Builds [`exp_by_scan`] with a constant inside the region.
fn exp_by_scan_with_constant(op: Exp, rw: &mut Rewrite<'_>) -> Option<Value> {
    let values = rw.build(&[op.input], |g, v| {
        scan(g, v, |g, x| {
            let value = TensorLiteral::filled(DataType::F32, &[4], 0.5).unwrap();
            let half: PtirResults = g.record(Constant { value })?;
            x.mul(g, &half.into_value()?)
        })
    })?;
    values.first().copied()
}

#[test]
fn constants_that_the_builder_records_in_regions_are_one_per_function() {
    let text = SUB.replace("sub %x, %y", "exp %x").replace(
        "  return",
        "  %h = constant 0.5 : f32[4]\n  %e = exp %d : f32[4]\n  %d2 = mul %e, %h : f32[4]\n  return",
    );
    let text = text.replace("return %d", "return %d2");
    let set = || {
        let mut set = PatternSet::new();
        set.add(exp_by_scan_with_constant);
        set
    };
    let (_, after, stats) = run(&text, set());
    assert_eq!(stats.rewrites, 2);
    let text = after.to_string();
    assert_eq!(text.matches("constant").count(), 1, "{text}");
    let (_, again, stats) = run(&text, set());
    assert!(!stats.changed(), "{stats:?}");
    assert_eq!(again.to_string(), text);
}

/// Stages an instruction and returns it as the replacement of a terminator.
fn replaces_return(op: Return, rw: &mut Rewrite<'_>) -> Option<Values> {
    rw.emit(Neg { input: *op.values.first()? })?;
    Some(Values::new())
}

#[test]
fn a_patch_for_a_terminator_is_refused_and_leaves_nothing() {
    for expensive_checks in [false, true] {
        let mut set = PatternSet::new();
        set.add(replaces_return);
        let mut program = parse(SUB).unwrap();
        let config = GreedyConfig { expensive_checks, ..GreedyConfig::default() };
        let f = program.function_mut("f").unwrap();
        let stats = apply_patterns_and_fold_greedily(f, &set.freeze(), &config).unwrap();
        assert_eq!(stats.rewrites, 0);
        let said = format!("{:?}", stats.problems);
        assert!(
            said.contains("replaces_return")
                && said.contains("is a terminator and cannot be erased"),
            "{said}"
        );
        assert_eq!(program.to_string(), parse(SUB).unwrap().to_string());
    }
}

/// Records an instruction, then one that does not fit.
fn does_not_build(op: Sub, rw: &mut Rewrite<'_>) -> Option<Value> {
    let values = rw.build(&[op.lhs], |g, v| {
        let other = g.parameter("z", TensorType::new(DataType::F32, [5u64]));
        let exp = v[0].exp(g)?;
        Ok(vec![exp.add(g, &other)?])
    })?;
    values.first().copied()
}

#[test]
fn a_build_that_fails_leaves_nothing() {
    let mut set = PatternSet::new();
    set.add(does_not_build);
    let (before, after, stats) = run_with_problems(SUB, set);
    assert_eq!((stats.rewrites, stats.changed()), (0, false));
    assert_eq!(before.to_string(), after.to_string());
    let warning =
        "pattern `does_not_build` at `sub` (line 4) built instructions that do not fit: add: ";
    assert!(stats.warnings()[0].starts_with(warning), "{:?}", stats.warnings());
}

/// Adds the difference to a value of another type.
fn emits_misfit(op: Sub, rw: &mut Rewrite<'_>) -> Option<Value> {
    let one = rw.constant(TensorLiteral::filled(DataType::F32, &[2], 1.0).ok()?);
    rw.emit(Add { lhs: op.lhs, rhs: one })
}

/// Tries [`emits_misfit`] and has another replacement.
fn emits_misfit_first(op: Sub, rw: &mut Rewrite<'_>) -> Option<Value> {
    emits_misfit(op.clone(), rw).or_else(|| {
        let minus = rw.emit(Neg { input: op.rhs })?;
        rw.emit(Add { lhs: op.lhs, rhs: minus })
    })
}

#[test]
fn an_instruction_that_does_not_fit_is_reported_once() {
    let text = SUB.replace("  return %d", "  %e = sub %d, %y : f32[4]\n  return %e");
    let mut set = PatternSet::new();
    set.add(emits_misfit);
    let (before, after, stats) = run_with_problems(&text, set);
    assert_eq!(before.to_string(), after.to_string());
    let [warning] = &stats.warnings()[..] else { panic!("{:?}", stats.warnings()) };
    let start = "pattern `emits_misfit` at `sub` (line 5) emitted `add`, which does not fit: ";
    assert!(warning.starts_with(start), "{warning}");
    assert!(stats.disabled.is_empty());
    // Patterns that expect it are not reported, nor those that have another replacement.
    for rewrites in [0, 2] {
        let mut set = PatternSet::new();
        match rewrites {
            0 => set.add(emits_misfit.expects_refusals()),
            _ => set.add(emits_misfit_first),
        };
        let (_, _, stats) = run(&text, set);
        assert_eq!(stats.rewrites, rewrites);
    }
}

// `x + y` with the later value first becomes `y + x`.
fn add_in_order(inst: InstId, rw: &ProgramRewriter<'_>) -> FoldResult {
    let operands = rw.operands(inst);
    if operands[0] <= operands[1] {
        return FoldResult::Nothing;
    }
    FoldResult::InPlace {
        operands: operands.iter().rev().copied().collect(),
        attrs: rw.function().attrs(inst).clone(),
    }
}

const ADD: &str = "ptir 1\n\nfunc @f(%x: i32[], %y: i32[]) -> i32[] {\n  %a = add %y, %x : i32[]\n  %b = add %a, %y : i32[]\n  return %b\n}\n";

#[test]
fn a_fold_may_change_its_instruction_in_place() {
    let mut set = PatternSet::new();
    set.add_fold(Add::key(), add_in_order);
    let (_, after, stats) = run(ADD, set);
    assert_eq!((stats.folds, stats.converged), (2, true));
    assert!(after.to_string().contains("%a = add %x, %y : i32[]\n  %b = add %y, %a"), "{after}");
    // It is the same instruction: no other was inserted.
    let f = after.function("f").unwrap();
    assert_eq!(f.inst_capacity(), parse(ADD).unwrap().functions()[0].inst_capacity());
}

// Returns another number of operands, or attributes of another op: neither fits.
fn does_not_fit(inst: InstId, rw: &ProgramRewriter<'_>) -> FoldResult {
    FoldResult::InPlace {
        operands: rw.operands(inst)[..1].iter().copied().collect(),
        attrs: rw.function().attrs(inst).clone(),
    }
}

#[test]
fn a_change_in_place_that_does_not_fit_is_reported_once() {
    let mut set = PatternSet::new();
    set.add_fold(Add::key(), does_not_fit);
    let (before, after, stats) = run_with_problems(ADD, set);
    assert_eq!((stats.folds, stats.converged), (0, true));
    assert_eq!(before.to_string(), after.to_string());
    let [warning] = &stats.warnings()[..] else { panic!("{:?}", stats.warnings()) };
    let start = "pattern `fold of add` at `add` (line 5) emitted `add`, which does not fit: ";
    assert!(warning.starts_with(start), "{warning}");
}

#[test]
fn results_of_a_fold_that_do_not_fit_are_reported_and_disable_it() {
    let constant =
        |dtype, dims: &[u64]| Folded::Constant(TensorLiteral::filled(dtype, dims, 1.0).unwrap());
    let cases: [(Vec<Folded>, &str); 4] = [
        (
            vec![constant(DataType::F32, &[])],
            "returns a value of type f32[] for a result of type i32[]",
        ),
        (
            vec![constant(DataType::I32, &[2])],
            "returns a value of type i32[2] for a result of type i32[]",
        ),
        (vec![], "makes the program invalid: it returns 0 values for 1 result"),
        (
            vec![Folded::Value(ValueId::from_index(99))],
            "makes the program invalid: it uses %99, which is not available at the instruction",
        ),
    ];
    for (results, expected) in cases {
        let mut set = PatternSet::new();
        let fold = move |_: InstId, _: &ProgramRewriter<'_>| {
            FoldResult::Results(results.iter().cloned().collect())
        };
        set.add_fold(Add::key(), fold);
        let (before, after, stats) = run_with_problems(ADD, set);
        assert_eq!(before.to_string(), after.to_string());
        assert_eq!((stats.folds, stats.converged), (0, false));
        let problem = format!("pattern `fold of add` at `add` {expected}");
        assert_eq!(stats.warnings(), [problem, "disabled after a problem: `fold of add`".into()]);
    }
    // A type that differs only in the dims that are known depends on the program.
    let mut set = PatternSet::new();
    let fold = |_: InstId, _: &ProgramRewriter<'_>| {
        let literal = TensorLiteral::filled(DataType::I32, &[2], 1.0).unwrap();
        FoldResult::Results([Folded::Constant(literal)].into_iter().collect())
    };
    set.add_fold(Add::key(), fold);
    let (_, _, stats) = run(&ADD.replace("[]", "[?]"), set);
    assert_eq!((stats.folds, stats.converged), (0, true));
}

// Swaps its operands for ever: the limit on rewrites ends it.
fn turns_round(inst: InstId, rw: &ProgramRewriter<'_>) -> FoldResult {
    FoldResult::InPlace {
        operands: rw.operands(inst).iter().rev().copied().collect(),
        attrs: rw.function().attrs(inst).clone(),
    }
}

#[test]
fn changes_in_place_without_end_end_by_budget() {
    let mut set = PatternSet::new();
    set.add_fold(Add::key(), turns_round);
    let mut program = parse(ADD).unwrap();
    let config = GreedyConfig { max_rewrites: Some(100), ..GreedyConfig::default() };
    let f = program.function_mut("f").unwrap();
    let stats = apply_patterns_and_fold_greedily(f, &set.freeze(), &config).unwrap();
    assert!(!stats.converged, "{stats:?}");
    assert_eq!(stats.folds, 100);
    assert_eq!(stats.stopped_by, Some(Limit::Rewrites(100)));
    assert_eq!(stats.last_fired, ["fold of add"]);
}

// Gives a value for an attribute that is stored as the type of the result: nothing changes.
fn gives_the_result_type(inst: InstId, rw: &ProgramRewriter<'_>) -> FoldResult {
    FoldResult::InPlace {
        operands: rw.operands(inst).iter().copied().collect(),
        attrs: std::iter::once(Attr::Type(DataType::I32)).collect(),
    }
}

#[test]
fn a_change_in_place_that_changes_nothing_is_none() {
    let text = "ptir 1\n\nfunc @f(%x: f32[4]) -> f32[2, 2] {
  %r = reshape %x : f32[2, 2]
  return %r
}
";
    let attrs = parse(text).unwrap().functions()[0].attrs(InstId::from_index(0)).clone();
    assert_eq!(attrs.iter().collect::<Vec<_>>(), [&Attr::Unit]);
    let mut set = PatternSet::new();
    set.add_fold(Reshape::key(), gives_the_result_type);
    let (before, after, stats) = run(text, set);
    assert_eq!((stats.folds, stats.converged, stats.changed()), (0, true, false));
    assert_eq!(before.to_string(), after.to_string());
}

sapwood_ptir::ops! {
    family "unknown", table unknown_ops, values UnknownValueOps, graph UnknownGraphOps;

    /// An op that the built-in registry does not have.
    op mystery Mystery "unknown.mystery" (input: Value) {} -> one [] = |cx| cx.same_as(0);
}

fn custom_call(input: Value, types: &[TensorType]) -> CustomCall {
    CustomCall {
        args: [input].into_iter().collect(),
        target: "two".into(),
        config: None,
        has_side_effect: true,
        types: types.iter().cloned().collect(),
    }
}

/// Tries every kind of staging that must fail, then stages one `exp`.
fn fails_then_exp(op: Sub, rw: &mut Rewrite<'_>) -> Option<Value> {
    let (ty, x) = (rw.tensor(op.lhs)?.clone(), op.lhs);
    let other = TensorType::new(DataType::F32, [7u64]);
    let failed = [
        rw.emit(custom_call(x, &[ty.clone(), ty.clone()])).is_none(),
        rw.emit(custom_call(x, &[])).is_none(),
        rw.emit(Mystery { input: x }).is_none(),
        rw.emit_many(Mystery { input: x }).is_none(),
        rw.emit_with_regions(Mystery { input: x }, &[]).is_none(),
        rw.emit_parts(&OpParts::new(Mystery::key())).is_none(),
        rw.emit_parts(&OpParts::new(Add::key())).is_none(),
        rw.emit_parts_many(&OpParts::new(Add::key())).is_none(),
        rw.emit(Return { values: [x].into_iter().collect() }).is_none(),
        rw.emit(Reshape { input: x, ty: ResultType(other.into()) }).is_none(),
        rw.emit(Neg { input: Value::from_index(1 << 20) }).is_none(),
        does_not_build(op.clone(), rw).is_none(),
    ];
    assert_eq!(failed, [true; 12]);
    rw.emit(Exp { input: x })
}

#[test]
fn an_emit_that_fails_stages_nothing() {
    let mut set = PatternSet::new();
    set.add(fails_then_exp);
    let (_, after, stats) = run(SUB, set);
    assert_eq!(stats.rewrites, 1);
    assert_eq!(after.to_string(), parse(&SUB.replace("sub %x, %y", "exp %x")).unwrap().to_string());
}

#[test]
fn an_op_that_the_registry_lacks_is_reported() {
    let mut set = PatternSet::new();
    set.add(|op: Sub, rw: &mut Rewrite<'_>| rw.emit(Mystery { input: op.lhs }));
    let (_, _, stats) = run_with_problems(SUB, set);
    let end = "emitted `unknown.mystery`, which does not fit: the registry of the function does not have the op";
    assert!(stats.warnings()[0].ends_with(end), "{:?}", stats.warnings());
}

/// Stages a terminator.
fn emits_return(op: Sub, rw: &mut Rewrite<'_>) -> Option<Value> {
    rw.emit_many(Return { values: [op.lhs].into_iter().collect() })?;
    Some(op.lhs)
}

fn gives_another_type(op: Sub, rw: &mut Rewrite<'_>) -> Option<Value> {
    let ty = TensorType::new(DataType::F32, [2u64, 2]);
    rw.emit(Reshape { input: op.lhs, ty: ResultType(ty.into()) })
}

fn gives_two_values(op: Sub, _: &mut Rewrite<'_>) -> Option<Values> {
    Some([op.lhs, op.rhs].into_iter().collect())
}

fn sub_as_exp(op: Sub, rw: &mut Rewrite<'_>) -> Option<Value> {
    rw.emit(Exp { input: op.lhs })
}

// A pattern that returns something invalid is reported and disabled, others are tried at the same root, and the report does
// not claim convergence.
#[test]
fn a_pattern_that_hands_over_something_invalid_is_switched_off_and_named() {
    type Add = fn(&mut PatternSet) -> PatternId;
    let patterns: [(Add, &str, &str); 3] = [
        (|set| set.add(emits_return), "emits_return", "it emits `return`"),
        (
            |set| set.add(gives_another_type),
            "gives_another_type",
            "type f32[2, 2] for a result of type f32[4]",
        ),
        (|set| set.add(gives_two_values), "gives_two_values", "2 value(s) for 1 result(s)"),
    ];
    for ((add, name, why), expensive_checks) in
        patterns.into_iter().flat_map(|p| [(p, false), (p, true)])
    {
        let mut set = PatternSet::new();
        add(&mut set);
        set.add(sub_as_exp);
        let mut program = parse(SUB).unwrap();
        let config = GreedyConfig { expensive_checks, ..GreedyConfig::default() };
        let f = program.function_mut("f").unwrap();
        let stats = apply_patterns_and_fold_greedily(f, &set.freeze(), &config).unwrap();
        let [problem] = &stats.problems[..] else { panic!("{:?}", stats.problems) };
        assert_eq!((&*problem.pattern, problem.op), (name, "sub"));
        assert!(problem.to_string().contains(why), "{problem}");
        assert_eq!((&stats.disabled[..], stats.converged), (&[name.to_owned()][..], false));
        let counts = |n: usize| (stats.patterns[n].matched, stats.patterns[n].applied);
        assert_eq!((counts(0), counts(1)), ((1, 0), (1, 1)));
        assert!(program.to_string().contains("%d = exp %x"), "{program}");
    }
}

#[test]
fn a_pipeline_reports_patterns_that_were_switched_off() {
    let mut set = PatternSet::new();
    set.add(gives_another_type);
    let mut manager = sapwood_rewrite::PassManager::new();
    let config = GreedyConfig::default();
    manager.add(sapwood_rewrite::GreedyPass::canonicalize(config, set.freeze()));
    let mut program =
        parse(&format!("{SUB}\n{}", SUB.replace("ptir 1", "").replace("@f", "@g"))).unwrap();
    let report = manager.run(&mut program).unwrap();
    let greedy = report.passes[0].greedy.as_ref().unwrap();
    assert_eq!(
        (&greedy.disabled[..], greedy.converged),
        (&["gives_another_type".to_owned()][..], false)
    );
    let warnings: Vec<String> = report.warnings().collect();
    assert_eq!(warnings.len(), 4, "{warnings:?}");
    for (n, name) in ["@f", "@g"].into_iter().enumerate() {
        let [problem, state] = &warnings[2 * n..2 * n + 2] else { panic!("{warnings:?}") };
        assert!(
            problem.contains(name) && problem.contains("pattern `gives_another_type` at `sub`"),
            "{problem}"
        );
        assert!(
            state.contains(name)
                && state.contains("disabled after a problem: `gives_another_type`"),
            "{state}"
        );
    }
    assert!(report.statistics().contains("disabled after a problem: gives_another_type"));
}

/// `-(-x) = x`.
fn neg_of_neg(outer: Neg, rw: &mut Rewrite<'_>) -> Option<Value> {
    Some(rw.def::<Neg>(outer.input)?.input)
}

#[test]
fn each_function_has_limits_of_its_own() {
    let chain = |name: &str, negations: usize| {
        let mut text = format!("func @{name}(%v0: f32[4]) -> f32[4] {{\n");
        for n in 0..negations {
            text += &format!("  %v{} = neg %v{n} : f32[4]\n", n + 1);
        }
        text + &format!("  return %v{negations}\n}}\n")
    };
    // The first function needs 10 rewrites, each of the others 2.
    let text = format!("ptir 1\n{}{}{}", chain("a", 20), chain("b", 4), chain("c", 4));
    let mut set = PatternSet::new();
    set.add(neg_of_neg);
    let mut program = parse(&text).unwrap();
    let config = GreedyConfig { max_rewrites: Some(3), ..GreedyConfig::default() };
    let stats = apply_patterns_to_program(&mut program, &set.freeze(), &config).unwrap();
    assert_eq!((stats.rewrites, stats.converged), (3 + 2 + 2, false));
    assert_eq!(stats.stopped_by, Some(Limit::Rewrites(3)));
    let left = |name: &str| program.function(name).unwrap().num_insts();
    assert_eq!(["b", "c"].map(left), [1, 1]);
    assert!(left("a") > 1);
}
