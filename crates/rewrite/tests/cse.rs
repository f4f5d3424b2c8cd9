//! Merging of equal instructions: scopes, regions, instructions that stay apart.

use sapwood_ptir::{Program, parse, verify};
use sapwood_rewrite::{
    GreedyConfig, PatternSet, apply_patterns_and_fold_greedily, eliminate_common_subexpressions,
    eliminate_dead_code,
};

fn program(text: &str) -> Program {
    parse(text).unwrap_or_else(|p| panic!("{p}\n{text}"))
}

// Merges with the pass and with the value table, and checks that both agree.
fn merge(text: &str) -> (usize, String) {
    let mut by_pass = program(text);
    let f = by_pass.function_mut("f").unwrap();
    let merged = eliminate_common_subexpressions(f);
    f.check_indices().unwrap();
    verify(&by_pass).unwrap();
    let mut by_table = program(text);
    let f = by_table.function_mut("f").unwrap();
    let config = GreedyConfig {
        merge_equal: true,
        enable_dce: false,
        expensive_checks: true,
        ..GreedyConfig::default()
    };
    apply_patterns_and_fold_greedily(f, &PatternSet::new().freeze(), &config).unwrap();
    verify(&by_table).unwrap();
    assert_eq!(by_pass.to_string(), by_table.to_string());
    (merged, by_pass.to_string())
}

fn count(text: &str, op: &str) -> usize {
    text.lines()
        .filter(|l| l.contains(&format!(" = {op} ")) || l.contains(&format!(" = {op}{{")))
        .count()
}

#[test]
fn duplicates_of_duplicates_merge_in_one_run() {
    let (merged, text) = merge(
        "ptir 1 func @f(%x: f32[4], %y: f32[4]) -> (f32[4], f32[4]) {
          %a = exp %x : f32[4]
          %b = exp %x : f32[4]
          %c = add %a, %y : f32[4]
          %d = add %y, %b : f32[4]
          %e = mul %c, %d : f32[4]
          %g = mul %d, %c : f32[4]
          return %e, %g
        }",
    );
    assert_eq!(merged, 3);
    assert!(text.contains("return %e, %e"), "{text}");
}

#[test]
fn the_order_of_operands_counts_where_it_must() {
    let (merged, _) = merge(
        "ptir 1 func @f(%x: f32[4], %y: f32[4]) -> (f32[4], f32[4]) {
          %a = sub %x, %y : f32[4]
          %b = sub %y, %x : f32[4]
          return %a, %b
        }",
    );
    assert_eq!(merged, 0);
}

#[test]
fn attributes_and_types_count() {
    let (merged, _) = merge(
        "ptir 1 func @f(%x: f32[4, 4]) -> (f32[4], f32[4], f32[4, ?], f32[4, 4]) {
          %a = reduce_sum %x {axes = [0]} : f32[4]
          %b = reduce_sum %x {axes = [1]} : f32[4]
          %c = refine %x : f32[4, ?]
          %d = refine %x : f32[4, 4]
          return %a, %b, %c, %d
        }",
    );
    assert_eq!(merged, 0);
}

const SIBLINGS: &str = "ptir 1

func @f(%p: bool[], %x: f32[4]) -> (f32[4], f32[4]) {
  %c = cond %p () {
    %a = exp %x : f32[4]
    yield %a
  } () {
    %b = exp %x : f32[4]
    %n = neg %b : f32[4]
    yield %n
  } : f32[4]
  %d = exp %x : f32[4]
  return %c, %d
}
";

#[test]
fn nothing_is_merged_across_sibling_regions() {
    let (merged, text) = merge(SIBLINGS);
    assert_eq!(merged, 0);
    assert_eq!(text, SIBLINGS);
}

#[test]
fn outer_values_serve_inner_uses() {
    let moved = SIBLINGS
        .replace("  %d = exp %x : f32[4]\n", "")
        .replace("  %c = cond", "  %d = exp %x : f32[4]\n  %c = cond");
    let (merged, text) = merge(&moved);
    assert_eq!(merged, 2);
    assert_eq!(count(&text, "exp"), 1);
    assert!(text.contains("yield %d"), "{text}");
}

fn reduces(first: &str, second: &str) -> String {
    format!(
        "ptir 1 func @f(%x: f32[4], %i: f32[], %k: f32[]) -> (f32[], f32[]) {{
          %a = reduce %x, %i {{axes = [0]}} (%p: f32[], %q: f32[]) {{ {first} yield %s }} : f32[]
          %b = reduce %x, %i {{axes = [0]}} (%u: f32[], %v: f32[]) {{ {second} yield %t }} : f32[]
          return %a, %b
        }}"
    )
}

#[test]
fn instructions_with_equal_regions_merge() {
    let one = "%s = add %p, %q : f32[]";
    assert_eq!(merge(&reduces(one, "%t = add %u, %v : f32[]")).0, 1);
    // Also commutative ops inside.
    assert_eq!(merge(&reduces(one, "%t = add %v, %u : f32[]")).0, 1);
    assert_eq!(merge(&reduces(one, "%t = mul %u, %v : f32[]")).0, 0);
    assert_eq!(merge(&reduces(one, "%t = add %u, %u : f32[]")).0, 0);
    let captures = "%s = add %p, %k : f32[]";
    assert_eq!(merge(&reduces(captures, "%t = add %u, %k : f32[]")).0, 1);
    assert_eq!(merge(&reduces(captures, "%t = add %u, %i : f32[]")).0, 0);
    let ordered = "%s = custom_call \"print\" %p : f32[]";
    assert_eq!(merge(&reduces(ordered, "%t = custom_call \"print\" %u : f32[]")).0, 0);
}

#[test]
fn regions_that_become_equal_inside_merge() {
    let first = "%w = exp %p : f32[] %y = exp %p : f32[] %s = add %w, %y : f32[]";
    let second = "%z = exp %u : f32[] %t = add %z, %z : f32[]";
    let (merged, text) = merge(&reduces(first, second));
    assert_eq!(merged, 2);
    assert_eq!(count(&text, "reduce"), 1);
}

#[test]
fn constants_are_one_per_function() {
    let (_, text) = merge(
        "ptir 1 func @f(%p: bool[]) -> (f32[], f32[]) {
          %c = cond %p () { %a = constant 1.0 : f32[] yield %a } () { %b = constant 1.0 : f32[] yield %b } : f32[]
          %d = constant 1.0 : f32[]
          return %c, %d
        }",
    );
    assert_eq!(count(&text, "constant"), 1);
    assert!(text.contains("return %c, %a"), "{text}");
}

// Regions that compute the same, none dominating another; then one that dominates all.
#[test]
fn many_siblings_do_not_cost_more() {
    let n = 20_000;
    let mut text = String::from("ptir 1 func @f(%p: bool[], %x: f32[]) -> f32[] {\n");
    let mut last = "%x".to_owned();
    for i in 0..n {
        text += &format!(
            "%c{i} = cond %p () {{ %a{i} = exp %x : f32[] %k{i} = add %a{i}, {last} : f32[] yield %k{i} }} () {{ yield {last} }} : f32[]\n"
        );
        last = format!("%c{i}");
    }
    text += &format!("return {last} }}");
    let (merged, _) = merge(&text);
    assert_eq!(merged, 0);
    let outer = text.replacen("%c0 =", "%e = exp %x : f32[]\n%c0 =", 1);
    let (merged, text) = merge(&outer);
    assert_eq!(merged, n);
    assert_eq!(count(&text, "exp"), 1);
}

#[test]
fn dead_code_goes_in_one_walk() {
    let mut p = program(
        "ptir 1 func @f(%p: bool[], %x: f32[4]) -> f32[4] {
          %a = exp %x : f32[4]
          %b = neg %a : f32[4]
          %c = cond %p () { %d = neg %b : f32[4] yield %d } () { yield %x } : f32[4]
          %e = cond %p () { %g = custom_call \"print\" %x : f32[4] %u = neg %x : f32[4] yield %g } () { yield %x } : f32[4]
          return %x
        }",
    );
    let f = p.function_mut("f").unwrap();
    assert_eq!(eliminate_dead_code(f), 4);
    assert_eq!(eliminate_dead_code(f), 0);
    let text = p.to_string();
    assert_eq!((count(&text, "cond"), count(&text, "custom_call")), (1, 1), "{text}");
}

// The uses inside the erased regions no longer count.
#[test]
fn regions_that_merge_leave_no_trace_in_those_around_them() {
    let body = |w: &str| {
        format!(
            "%{w} = while %x (%{w}a: f32[]) {{
               %{w}c = compare %{w}a, %k {{direction = lt}} : bool[]
               yield %{w}c
             }} (%{w}b: f32[]) {{
               %{w}d = cond %p () {{ %{w}e = exp %{w}b : f32[] yield %{w}e }} () {{ yield %{w}b }} : f32[]
               %{w}f = cond %p () {{ %{w}g = exp %{w}b : f32[] yield %{w}g }} () {{ yield %{w}b }} : f32[]
               %{w}h = add %{w}d, %{w}f : f32[]
               yield %{w}h
             }} : f32[]\n"
        )
    };
    let text = format!(
        "ptir 1 func @f(%p: bool[], %x: f32[], %k: f32[]) -> (f32[], f32[]) {{\n{}{}return %u, %w }}",
        body("u"),
        body("w")
    );
    let (merged, text) = merge(&text);
    assert_eq!(merged, 3);
    assert_eq!((count(&text, "while"), count(&text, "cond")), (1, 1), "{text}");
    assert_eq!(merge(&text).0, 0);
}

// The broadcast needs `?n`, which only the refinement binds.
#[test]
fn an_instruction_that_binds_a_named_dim_is_not_dead() {
    let text = "ptir 1

func @f(%x: f32[?], %y: f32[?m], %s: f32[]) -> (f32[?n], f32[?m]) {
  %r = refine %x : f32[?n]
  %e = exp %r : f32[?n]
  %q = refine %x : f32[?m]
  %b = broadcast_to %s : f32[?n]
  return %b, %y
}
";
    let mut p = program(text);
    let f = p.function_mut("f").unwrap();
    // Operands and parameters bind the dims that the other two bind.
    assert_eq!(eliminate_dead_code(f), 2);
    assert_eq!(eliminate_dead_code(f), 0);
    let text = p.to_string();
    assert!(text.contains("%r = refine %x : f32[?n]") && !text.contains("exp"), "{text}");
}

#[test]
fn an_instruction_that_binds_a_symbol_in_a_region_or_tuple_is_not_dead() {
    let inside = "ptir 1

func @f(%p: bool[], %x: f32[?], %s: f32[]) -> f32[?] {
  %c = cond %p () {
    %r = refine %x : f32[?n]
    %e = exp %x : f32[?]
    %b = broadcast_to %s : f32[?n]
    yield %b
  } () {
    yield %x
  } : f32[?]
  return %c
}
";
    let tuple = "ptir 1

func @f(%t: tuple<f32[?], f32[]>, %s: f32[]) -> f32[?n] {
  %r = refine %t : tuple<f32[?n], f32[]>
  %b = broadcast_to %s : f32[?n]
  return %b
}
";
    for (text, gone) in [(inside, 1), (tuple, 0)] {
        let mut p = program(text);
        let f = p.function_mut("f").unwrap();
        assert_eq!(eliminate_dead_code(f), gone, "{text}");
        assert_eq!(eliminate_common_subexpressions(f), 0);
        let mut set = PatternSet::new();
        sapwood_rewrite::canonicalize::populate_canonicalization(&mut set);
        let config = GreedyConfig::default();
        assert!(apply_patterns_and_fold_greedily(f, &set.freeze(), &config).unwrap().converged);
        assert!(p.to_string().contains("refine"), "{p}");
    }
}
