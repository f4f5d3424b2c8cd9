//! Ops that are not built in: the laws for elementwise ops hold for those that are elementwise.

#![allow(clippy::needless_pass_by_value, reason = "a pattern takes its root by value")]

use sapwood_ptir::{Int, Registry, Value, parse_with, verify};
use sapwood_rewrite::{
    GreedyConfig, PatternSet, Rewrite, apply_patterns_and_fold_greedily, canonicalize,
};

sapwood_ptir::ops! {
    family "user", table user_ops, values UserValueOps, graph UserGraphOps;

    /// An op with one operand.
    op squash Squash "user.squash" (input: Value) {
        /// The factor.
        by: Int = Int(1),
    } -> one [elementwise] = |cx| cx.same_as(0);

    /// An op with two operands.
    op blend Blend "user.blend" (lhs: Value, rhs: Value) {
        /// The weight of the first operand.
        by: Int = Int(1),
    } -> one [elementwise] = |cx| cx.same_as(0);

    /// An op with three operands.
    op mix Mix "user.mix" (a: Value, b: Value, c: Value) {} -> one [elementwise] = |cx| cx.same_as(0);

    /// An elementwise op with effects: neither merged nor moved.
    op tell Tell "user.tell" (input: Value) {} -> one [elementwise, ordered] = |cx| cx.same_as(0);

    /// An op that is not elementwise.
    op turn Turn "user.turn" (input: Value) {} -> one [] = |cx| cx.same_as(0);
}

/// Names `user.blend`, so that it has patterns of its own.
fn blend_of_itself(op: Blend, _: &mut Rewrite<'_>) -> Option<Value> {
    (op.lhs == op.rhs).then_some(op.lhs)
}

// Returns the function's body after simplification; the result must not depend on a pattern that names one of the ops.
fn simplified(signature: &str, body: &str) -> String {
    let registry = Registry::builtin().with(user_ops()).unwrap();
    let text = format!("ptir 1\nfunc @f{signature} {{\n{body}\n}}\n");
    let [plain, named] = [false, true].map(|names_op| {
        let mut program = parse_with(&text, &registry).unwrap_or_else(|p| panic!("{p}\n{text}"));
        let mut set = PatternSet::new();
        canonicalize::populate_canonicalization(&mut set);
        if names_op {
            set.add(blend_of_itself);
        }
        let config = GreedyConfig { expensive_checks: true, ..GreedyConfig::default() };
        let f = program.function_mut("f").unwrap();
        let stats = apply_patterns_and_fold_greedily(f, &set.freeze(), &config).unwrap();
        assert!(stats.problems.is_empty() && stats.converged, "{stats:?}");
        verify(&program).unwrap();
        let text = program.to_string();
        let lines: Vec<&str> = text.lines().skip(3).map(str::trim).collect();
        lines[..lines.len() - 1].join("\n")
    });
    assert_eq!(plain, named);
    plain
}

#[test]
fn elementwise_ops_move_before_broadcasts() {
    let found = simplified(
        "(%x: f32[4], %y: f32[4]) -> (f32[2, 4], f32[2, 4], f32[2, 4])",
        "%a = broadcast_to %x : f32[2, 4]
         %b = broadcast_to %y : f32[2, 4]
         %s = user.squash %a {by = 2} : f32[2, 4]
         %t = user.blend %a, %b {by = 3} : f32[2, 4]
         %u = user.mix %a, %b, %a : f32[2, 4]
         return %s, %t, %u",
    );
    for line in [
        "user.squash %x {by = 2} : f32[4]",
        "user.blend %x, %y {by = 3} : f32[4]",
        "user.mix %x, %y, %x : f32[4]",
    ] {
        assert!(found.contains(line), "{line}:\n{found}");
    }
}

#[test]
fn elementwise_ops_move_before_transposes() {
    let found = simplified(
        "(%x: f32[2, 3], %y: f32[2, 3]) -> f32[3, 2]",
        "%a = transpose %x {perm = [1, 0]} : f32[3, 2]
         %b = transpose %y {perm = [1, 0]} : f32[3, 2]
         %c = user.blend %a, %b {by = 5} : f32[3, 2]
         return %c",
    );
    assert!(found.contains("user.blend %x, %y {by = 5} : f32[2, 3]"), "{found}");
}

#[test]
fn a_select_moves_before_elementwise_ops() {
    let body = |first: &str, second: &str| {
        let body = format!(
            "%a = {first} : f32[4]\n%b = {second} : f32[4]\n%c = select %p, %a, %b : f32[4]\nreturn %c"
        );
        simplified("(%p: bool[4], %x: f32[4], %y: f32[4], %z: f32[4]) -> f32[4]", &body)
    };
    let found = body("user.squash %x {by = 2}", "user.squash %y {by = 2}");
    assert!(found.starts_with("%0 = select %p, %x, %y : f32[4]"), "{found}");
    let found = body("user.blend %x, %y {by = 2}", "user.blend %x, %z {by = 2}");
    assert!(found.starts_with("%0 = select %p, %y, %z : f32[4]"), "{found}");
    // Different attributes make a different op.
    for (first, second) in [
        ("user.squash %x {by = 2}", "user.squash %y {by = 3}"),
        ("user.blend %x, %y {by = 2}", "user.blend %x, %z {by = 3}"),
    ] {
        let found = body(first, second);
        assert!(found.contains("select %p, %a, %b"), "{found}");
    }
}

#[test]
fn the_size_of_an_elementwise_op_is_that_of_its_operand() {
    let found = simplified(
        "(%x: f32[?n], %y: f32[?n]) -> i32[]",
        "%a = user.blend %x, %y {by = 2} : f32[?n]
         %b = get_dimension_size %a {axis = 0} : i32[]
         return %b",
    );
    assert!(found.contains("dims {values = [?n]}"), "{found}");
    let found = simplified(
        "(%x: f32[?], %y: f32[?]) -> i32[]",
        "%a = user.blend %x, %y {by = 2} : f32[?]
         %b = get_dimension_size %a {axis = 0} : i32[]
         return %b",
    );
    assert!(found.contains("get_dimension_size %x"), "{found}");
}

#[test]
fn ops_that_are_ordered_or_not_elementwise_stay_where_they_are() {
    let found = simplified(
        "(%x: f32[4]) -> (f32[2, 4], f32[2, 4])",
        "%a = broadcast_to %x : f32[2, 4]
         %s = user.tell %a : f32[2, 4]
         %t = user.turn %a : f32[2, 4]
         return %s, %t",
    );
    assert!(found.contains("user.tell %a : f32[2, 4]\n%t = user.turn %a : f32[2, 4]"), "{found}");
}
