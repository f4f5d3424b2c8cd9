//! Tests that the macros for ops and patterns need no other crate than `sapwood`.

#![allow(clippy::needless_pass_by_value, reason = "a pattern takes its root by value")]

// Users of `sapwood` do not depend on these crates. The macros must not refer to them, so their names are shadowed here.
mod sapwood_ptir {}
mod sapwood_rewrite {}
mod sapwood_structural {}
mod sapwood_types {}

use sapwood::ptir::ops::{Abs, Neg, Sub};
use sapwood::ptir::{Registry, Value, parse_with};
use sapwood::rewrite::{GreedyConfig, PatternSet, Rewrite, apply_patterns_and_fold_greedily};

sapwood::ptir::ops! {
    family "user", table user_ops, values UserValueOps, graph UserGraphOps;

    /// The absolute value, under another name.
    op magnitude Magnitude "user.magnitude" (input: Value) {} -> one [elementwise] = |cx| cx.same_as(0);
}

sapwood::rewrite::patterns! { "user":
    magnitude_is_abs on [Magnitude] benefit 2,
    neg_of_difference hops 1 when 0 in [Sub],
}

/// `magnitude(x) = |x|`.
fn magnitude_is_abs(op: Magnitude, rw: &mut Rewrite<'_>) -> Option<Value> {
    rw.emit(Abs { input: op.input })
}

/// `-(x - y) = y - x`.
fn neg_of_difference(op: Neg, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<Sub>(op.input)?;
    rw.emit(Sub { lhs: inner.rhs, rhs: inner.lhs })
}

#[test]
fn ops_and_patterns_are_written_with_this_crate_alone() -> Result<(), Box<dyn std::error::Error>> {
    let registry = Registry::builtin().with(user_ops())?;
    let text = "ptir 1 func @f(%x: i32[4], %y: i32[4]) -> i32[4] {
      %a = sub %x, %y : i32[4]
      %b = neg %a : i32[4]
      %c = user.magnitude %b : i32[4]
      return %c
    }";
    let mut program = parse_with(text, &registry)?;
    let mut set = PatternSet::new();
    LIST.populate(&mut set);
    let f = program.function_mut("f").ok_or("no @f")?;
    let stats = apply_patterns_and_fold_greedily(f, &set.freeze(), &GreedyConfig::default())?;
    assert_eq!(stats.rewrites, 2);
    let text = program.to_string();
    assert!(text.contains("= sub %y, %x") && text.contains("= abs %"), "{text}");
    Ok(())
}
