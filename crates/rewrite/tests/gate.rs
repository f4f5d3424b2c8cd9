//! Gates of patterns: a pattern is not called at roots that its gate excludes, and one whose gate excludes too much is reported.

#![allow(clippy::needless_pass_by_value, reason = "a pattern takes its root by value")]

use crate::pattern_files;
use sapwood_ptir::ops::{Exp, Mul, Neg};
use sapwood_ptir::{Value, parse};
use sapwood_rewrite::{
    ConfiguredPattern, ElementClass, FloatMode, GateCondition, GreedyConfig, GreedyStats,
    PatternFn, PatternSet, ProblemKind, Rewrite, RootView, apply_patterns_and_fold_greedily,
    canonicalize,
};

/// `-(-x) = x`.
fn neg_of_neg(op: Neg, rw: &mut Rewrite<'_>) -> Option<Value> {
    Some(rw.def::<Neg>(op.input)?.input)
}

/// `x * x = -x`, which is wrong but easy to observe.
fn square(op: Mul, rw: &mut Rewrite<'_>) -> Option<Value> {
    (op.lhs == op.rhs).then(|| rw.emit(Neg { input: op.lhs }))?
}

fn run(pattern: ConfiguredPattern, floats: FloatMode, checks: bool, text: &str) -> GreedyStats {
    let mut program = parse(text).unwrap();
    let mut set = PatternSet::new();
    set.add(pattern);
    let config = GreedyConfig { expensive_checks: checks, floats, ..GreedyConfig::default() };
    let f = program.function_mut("f").unwrap();
    apply_patterns_and_fold_greedily(f, &set.freeze(), &config).unwrap()
}

const NEGS: &str = "ptir 1 func @f(%x: f32[4]) -> f32[4] {
    %a = exp %x : f32[4] %b = neg %a : f32[4] %c = neg %b : f32[4] return %c }";

const SQUARES: &str = "ptir 1 func @f(%x: f32[4], %y: f32[4]) -> (f32[4], f32[4]) {
    %a = mul %x, %x : f32[4] %b = mul %x, %y : f32[4] return %a, %b }";

#[test]
fn a_pattern_is_not_called_where_its_gate_fails() {
    let pattern = neg_of_neg.when([GateCondition::Operand(Some(0), Neg::roots())]);
    let stats = run(pattern, FloatMode::Exact, false, NEGS);
    assert_eq!((stats.attempts, stats.rewrites), (1, 1));
    let stats = run(square.when([GateCondition::EqualOperands]), FloatMode::Exact, false, SQUARES);
    assert_eq!((stats.attempts, stats.rewrites), (1, 1));
}

#[test]
fn modes_and_elements_are_asked_of_the_first_operand() {
    for (mode, rewrites) in [(FloatMode::Exact, 0), (FloatMode::Nsz, 0), (FloatMode::Fast, 1)] {
        let stats = run(square.floats(FloatMode::Fast), mode, false, SQUARES);
        assert_eq!(stats.rewrites, rewrites, "{mode}");
    }
    let ints = SQUARES.replace("f32", "i32");
    let stats = run(square.floats(FloatMode::Fast), FloatMode::Exact, false, &ints);
    assert_eq!(stats.rewrites, 1);
    for (text, rewrites) in [(SQUARES, 0), (ints.as_str(), 1)] {
        let ints_only = square.elements([ElementClass::Int, ElementClass::Bool]);
        assert_eq!(run(ints_only, FloatMode::Exact, false, text).rewrites, rewrites, "{text}");
    }
}

#[test]
fn one_that_would_have_fired_elsewhere_is_named() {
    let pattern = neg_of_neg.when([GateCondition::Operand(Some(0), Exp::roots())]);
    let stats = run(pattern, FloatMode::Exact, true, NEGS);
    assert_eq!(stats.rewrites, 0);
    let problem = &stats.problems[0];
    assert_eq!((&*problem.pattern, &problem.kind), ("neg_of_neg", &ProblemKind::FiresOutsideGate));
    let fine = neg_of_neg.when([GateCondition::Operand(None, Neg::roots())]);
    assert_eq!(run(fine, FloatMode::Exact, true, NEGS).problems, []);
}

#[test]
fn more_patterns_than_a_gate_has_bits_are_all_tried() {
    let mut program = parse(NEGS).unwrap();
    let mut set = PatternSet::new();
    for n in 0..100 {
        let never = |_: Neg, _: &mut Rewrite<'_>| -> Option<Value> { None };
        set.add(never.named(&format!("never{n}")).when([GateCondition::EmptyDim]));
    }
    set.add(neg_of_neg.when([GateCondition::Operand(Some(0), Neg::roots())]));
    let config = GreedyConfig { expensive_checks: false, ..GreedyConfig::default() };
    let f = program.function_mut("f").unwrap();
    let stats = apply_patterns_and_fold_greedily(f, &set.freeze(), &config).unwrap();
    assert_eq!(stats.rewrites, 1);
}

#[test]
fn conditions_given_in_two_calls_must_all_hold() {
    let negs = || GateCondition::Operand(Some(0), Neg::roots());
    let both = neg_of_neg.when([negs()]).when([GateCondition::EmptyDim, GateCondition::SameType]);
    assert_eq!(run(both, FloatMode::Exact, false, NEGS).rewrites, 1);
    let never = neg_of_neg.when([negs()]).when([GateCondition::EmptyDim]);
    assert_eq!(run(never, FloatMode::Exact, false, NEGS).attempts, 0);
    let own = neg_of_neg.when([GateCondition::OwnOp(Some(0))]);
    let stats = run(own, FloatMode::Exact, false, NEGS);
    assert_eq!((stats.attempts, stats.rewrites), (1, 1));
}

#[test]
fn shipped_patterns_do_nothing_where_they_are_not_tried_in_any_mode() {
    let mut set = PatternSet::new();
    canonicalize::populate_canonicalization(&mut set);
    let set = set.freeze();
    let mut rewrites = 0;
    for (case, program) in pattern_files::programs() {
        for &floats in FloatMode::ALL {
            let mut program = program.clone();
            let names: Vec<_> = program.functions().iter().map(|f| f.name()).collect();
            for name in names {
                let config =
                    GreedyConfig { expensive_checks: true, floats, ..GreedyConfig::default() };
                let f = program.function_mut(name).unwrap();
                let stats = apply_patterns_and_fold_greedily(f, &set, &config).unwrap();
                assert_eq!(stats.problems, [], "{}, @{name}, {floats}", case.name);
                rewrites += stats.rewrites;
            }
        }
    }
    assert!(rewrites > 2000, "{rewrites}");
}
