//! Rules whose sides cannot be run or compared on all inputs.

use std::sync::Arc;

use sapwood_ptir::eval::{EvalCx, EvalResult, Fault, one};
use sapwood_ptir::prelude::*;
use sapwood_rules::{Rule, RuleCheckOptions, RuleVerdict, Vocabulary, check_rule, rules_from};
use sapwood_types::Source;

sapwood_ptir::ops! {
    family "demo", table demo_ops, values DemoValueOps, graph DemoGraphOps;

    /// `x`, if one of its elements has many digits.
    op only_fine OnlyFine "only_fine" (input: Value) {} -> one [elementwise] = |cx| cx.same_as(0), eval = only_fine;

    /// Fails.
    op never Never "never" (input: Value) {} -> one [elementwise] = |cx| cx.same_as(0), eval = |_| {
        Err(Fault::op("it never runs"))
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
    let rules: Vec<Rule> = rules_from(&source, &registry, &Vocabulary::builtin())
        .unwrap_or_else(|problems| panic!("{problems}"));
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
