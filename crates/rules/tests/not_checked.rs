//! Rules whose sides cannot be run or compared on all inputs.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sapwood_ptir::eval::{EvalCx, EvalResult, Fault, one};
use sapwood_ptir::prelude::*;
use sapwood_rules::{
    ArgumentKind, Rule, RuleCheckOptions, RuleVerdict, Vocabulary, check_rule, rules_from,
};
use sapwood_types::Source;

static MISSING_RUNS: AtomicUsize = AtomicUsize::new(0);
static SLOW_RUNS: AtomicUsize = AtomicUsize::new(0);

sapwood_ptir::ops! {
    family "demo", table demo_ops, values DemoValueOps, graph DemoGraphOps;

    /// `x`, if one of its elements has many digits.
    op only_fine OnlyFine "only_fine" (input: Value) {} -> one [elementwise] = |cx| cx.same_as(0), eval = only_fine;

    /// Fails.
    op never Never "never" (input: Value) {} -> one [elementwise] = |cx| cx.same_as(0), eval = |_| {
        Err(Fault::op("it never runs"))
    };

    /// Cannot be run, whatever its operand is.
    op missing Missing "missing" (input: Value) {} -> one [elementwise] = |cx| cx.same_as(0), eval = |_| {
        MISSING_RUNS.fetch_add(1, Ordering::Relaxed);
        Err(Fault::NoEvaluation { op: "missing" })
    };

    /// Reaches a limit.
    op slow Slow "slow" (input: Value) {} -> one [elementwise] = |cx| cx.same_as(0), eval = |_| {
        SLOW_RUNS.fetch_add(1, Ordering::Relaxed);
        Err(Fault::Time { limit: Duration::from_secs(1) })
    };
}

fn only_fine(cx: &mut EvalCx<'_>) -> EvalResult {
    let is_coarse = |x: &f32| (x * 4096.0).fract() == 0.0;
    if cx.elements::<f32>(0)?.iter().all(is_coarse) {
        return Err(Fault::op("all elements have few digits"));
    }
    one(cx.take_tensor(0)?)
}

fn verdict(text: &str) -> RuleVerdict {
    let registry: Arc<Registry> = Registry::builtin().with(demo_ops()).unwrap();
    let source = Source::new("r.rules", text);
    let mut words = Vocabulary::builtin();
    let doc = "it is empty or has many elements";
    words.predicate("empty_or_large", &[ArgumentKind::Value], doc, |a| {
        let ty = a.function.value_type(a.value(0)?).as_tensor()?.clone();
        let elements: u64 = ty.known_shape()?.iter().product();
        Some(elements == 0 || elements > 1 << 20)
    });
    let rules: Vec<Rule> =
        rules_from(&source, &registry, &words).unwrap_or_else(|problems| panic!("{problems}"));
    check_rule(&rules[0], &registry, &RuleCheckOptions::default())
}

#[test]
fn inputs_after_one_that_cannot_be_run_are_tried() {
    // The first inputs of an instance have few digits.
    assert!(matches!(verdict("rule r: only_fine(x) => neg(x)"), RuleVerdict::Wrong(_)));
    // Instances of other element types cannot be run at all.
    assert!(matches!(verdict("rule r: only_fine(x) => x"), RuleVerdict::Holds(1..)));
}

#[test]
fn rules_that_cannot_be_run_or_compared_are_not_checked() {
    let RuleVerdict::NotChecked(reason) = verdict("rule r: never(x) => x") else { panic!() };
    assert!(reason.contains("it never runs"), "{reason}");
    let nan = "rule r float fast: log(sub(neg(abs(x)), 1.0)) => sqrt(sub(neg(abs(x)), 1.0))";
    let RuleVerdict::NotChecked(reason) = verdict(nan) else { panic!("{:?}", verdict(nan)) };
    assert_eq!(reason, "every element of result 0 was infinite or NaN");
}

#[test]
fn inputs_are_not_tried_in_vain() {
    let instances = RuleCheckOptions::default().instances;
    assert!(matches!(verdict("rule r: missing(x) => x"), RuleVerdict::NotChecked(_)));
    assert_eq!(MISSING_RUNS.load(Ordering::Relaxed), instances);
    assert!(matches!(verdict("rule r: slow(x) => x"), RuleVerdict::NotChecked(_)));
    assert_eq!(SLOW_RUNS.load(Ordering::Relaxed), 2 * instances);
}

#[test]
fn rules_compared_only_on_empty_tensors_are_not_checked() {
    let rule = "rule r: neg(x) where float(x), empty_or_large(x) => abs(x)";
    let RuleVerdict::NotChecked(reason) = verdict(rule) else { panic!("{:?}", verdict(rule)) };
    assert_eq!(reason, "all results that were compared are empty tensors");
    // The results of these rules are always empty.
    for rule in [
        "rule r: neg(x) where float(x), contains(shape_of(x), 0) => abs(x)",
        "rule r: neg(x, shape = s) where float(x), contains(s, 0) => reshape(x, shape = s)",
        "rule r: neg(x, shape = [0]) where float(x) => abs(x)",
    ] {
        assert!(matches!(verdict(rule), RuleVerdict::Holds(1..)), "{rule}: {:?}", verdict(rule));
    }
}

#[test]
fn a_rule_holds_where_its_right_side_fits_and_is_not_checked_if_that_is_nowhere() {
    let of_matrices =
        "rule r: not(x) => transpose(not(transpose(x, perm = [1, 0])), perm = [1, 0])";
    assert_eq!(verdict(of_matrices), RuleVerdict::Holds(100));
    let verdict = verdict("rule r: exp(x) => reduce_sum(x, axes = [9])");
    let RuleVerdict::NotChecked(reason) = &verdict else { panic!("{verdict:?}") };
    let start = "pattern `r` at `exp` emitted `reduce_sum`, which does not fit: `axes` is 9, out of range for rank";
    assert!(reason.starts_with(start), "{reason}");
}
