//! The check of rules with regions, left sides that no program can have, and axes from the end on the right side.

use sapwood_ptir::Registry;
use sapwood_rules::{Rule, RuleCheckOptions, RuleVerdict, Vocabulary, check_rule, rules_from};
use sapwood_types::{Diagnostics, Source};

fn read(text: &str) -> Result<Vec<Rule>, Diagnostics> {
    rules_from(&Source::new("r.rules", text), &Registry::builtin(), &Vocabulary::builtin())
}

fn verdict(text: &str) -> RuleVerdict {
    let rule = read(text).unwrap_or_else(|p| panic!("{p}")).remove(0);
    check_rule(&rule, &Registry::builtin(), &RuleCheckOptions::default())
}

#[test]
fn rules_with_regions_are_checked() {
    for text in [
        "rule sum: reduce(x, 0, axes = a) { (p, q) => add(p, q) } where integer(x) => reduce_sum(x, axes = a)",
        "rule same: cond(p) { neg(x) } { neg(x) } => neg(x)",
    ] {
        assert_eq!(verdict(text), RuleVerdict::Holds(100), "{text}");
    }
    for text in [
        "rule max: reduce(x, 0, axes = a) { (p, q) => add(p, q) } where integer(x) => reduce_max(x, axes = a)",
        "rule first: cond(p) { neg(x) } { x } => neg(x)",
    ] {
        assert!(matches!(verdict(text), RuleVerdict::Wrong(_)), "{text}");
    }
}

#[test]
fn axes_from_the_end_mean_the_same_on_both_sides() {
    for text in [
        "rule sum: reduce_sum(neg(x), axes = [-1], keepdims = false) where integer(x) => neg(reduce_sum(x, axes = [-1]))",
        "rule join: concat(concat(x, y, axis = -1), z, axis = -1) => concat(x, y, z, axis = -1)",
    ] {
        assert_eq!(verdict(text), RuleVerdict::Holds(100), "{text}");
    }
}

#[test]
fn left_sides_that_no_program_has_are_refused() {
    for (text, wanted) in [
        ("pattern p: add(x: [3], y: [3, 4])", "`add` needs values of the same dims"),
        ("pattern p: exp(mul(x: f32[.., 3], y: [n, 4]))", "`mul` needs values of the same dims"),
        ("pattern p: exp(x: [3]) where rank(x, 2)", "which does not have the rank 2"),
        (
            "rule r: reduce(x, i) { (a, b) => add(a, b) } => neg(a)",
            "`a` exists only inside of the region",
        ),
        (
            "pattern p:\n  let s = neg(x)\n  (exp | abs)(x), s",
            "the first output is not computed from `s`",
        ),
        (
            "pattern p:\n  let s = neg(x)\n  add(s, y) | mul(x, y), s",
            "`s` is only bound in some of the alternatives",
        ),
    ] {
        let found = read(text).err().map(|p| p.to_string()).unwrap_or_default();
        assert!(found.contains(wanted), "{text}\n{found}");
    }
}
