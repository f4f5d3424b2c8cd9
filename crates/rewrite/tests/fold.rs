//! Folding: the instructions that are evaluated, and those that are left because the program would grow.

use std::fmt::Write;

use sapwood_ptir::parse;
use sapwood_rewrite::{GreedyConfig, GreedyStats, PatternSet, apply_patterns_and_fold_greedily};

fn fold(text: &str) -> (String, GreedyStats) {
    let mut program = parse(text).unwrap_or_else(|p| panic!("{p}\n{text}"));
    let f = program.function_mut("f").unwrap();
    let config = GreedyConfig { expensive_checks: true, ..GreedyConfig::default() };
    let stats = apply_patterns_and_fold_greedily(f, &PatternSet::new().freeze(), &config).unwrap();
    f.check_indices().unwrap();
    sapwood_ptir::verify(&program).unwrap();
    (program.to_string(), stats)
}

#[test]
fn a_tree_of_constants_becomes_one() {
    let (text, stats) = fold(
        "ptir 1 func @f() -> i32[4] {
          %a = constant [1, 2, 3, 4] : i32[4]
          %b = constant 10 : i32[4]
          %c = add %a, %b : i32[4]
          %d = mul %c, %c : i32[4]
          %e = sub %d, %a : i32[4]
          return %e
        }",
    );
    assert_eq!(stats.folds, 3);
    assert!(text.contains("%e = constant [120, 142, 166, 192] : i32[4]\n  return %e"), "{text}");
}

#[test]
fn a_chain_folds_in_visits_that_grow_with_it() {
    let n = 20_000;
    let mut text = String::from("ptir 1 func @f() -> i32[] {\n%0 = constant 1 : i32[]\n");
    for i in 1..n {
        let _ = writeln!(text, "%{i} = add %{}, 3:i32[] : i32[]", i - 1);
    }
    let _ = writeln!(text, "return %{} }}", n - 1);
    let (text, stats) = fold(&text);
    assert_eq!(stats.folds, n - 1);
    assert!(stats.visits < 8 * n, "{} visits", stats.visits);
    assert!(text.contains(&format!("constant {} : i32[]", 1 + 3 * (n - 1))), "{text}");
}

#[test]
fn splats_fold_whatever_their_size() {
    let (text, stats) = fold(
        "ptir 1 func @f() -> f32[1000, 1000, 1000] {
          %a = constant 2.0 : f32[]
          %b = broadcast_to %a : f32[1000, 1000, 1000]
          %c = mul %b, %b : f32[1000, 1000, 1000]
          return %c
        }",
    );
    assert_eq!(stats.folds, 2);
    assert!(text.contains("%c = constant 4.0 : f32[1000, 1000, 1000]"), "{text}");
}

fn dense(n: usize) -> String {
    let list: Vec<String> = (0..n).map(|i| i.to_string()).collect();
    format!("constant [{}] : i32[{n}]", list.join(", "))
}

#[test]
fn a_program_does_not_grow_by_more_than_goes() {
    let grows = format!(
        "ptir 1 func @f() -> i32[64, 40] {{ %a = {} %b = broadcast_to %a : i32[64, 40] return %b }}",
        dense(40)
    );
    assert_eq!(fold(&grows).1.folds, 0);
    let stays = format!(
        "ptir 1 func @f() -> i32[40] {{ %a = {} %b = neg %a : i32[40] return %b }}",
        dense(40)
    );
    assert_eq!(fold(&stays).1.folds, 1);
    // The constant has another use, so it would not be erased.
    let kept = format!(
        "ptir 1 func @f() -> (i32[40], i32[40]) {{ %a = {} %b = neg %a : i32[40] return %a, %b }}",
        dense(40)
    );
    assert_eq!(fold(&kept).1.folds, 0);
    let iota = "ptir 1 func @f() -> i32[8] { %a = iota {axis = 0} : i32[8] return %a }";
    assert_eq!(fold(iota).1.folds, 0);
}

#[test]
fn unused_results_leave_no_constants() {
    let (text, stats) = fold(
        "ptir 1 func @f() -> u32[] {
          %k = constant [1, 2] : u64[2]
          %n, %b = rng_bits %k {dtype = u32, shape = []} : u64[2], u32[]
          return %b
        }",
    );
    assert_eq!(stats.folds, 1);
    assert_eq!(text.matches("constant").count(), 1, "{text}");
}

#[test]
fn loops_over_constants_fold_and_barriers_do_not() {
    let (text, _) = fold(
        "ptir 1 func @f() -> (i32[], i32[]) {
          %z = constant 0 : i32[]
          %w = while %z (%i: i32[]) {
            %c = compare %i, 5:i32[] {direction = lt} : bool[]
            yield %c
          } (%j: i32[]) {
            %k = add %j, 2:i32[] : i32[]
            yield %k
          } : i32[]
          %b = optimization_barrier %z : i32[]
          return %w, %b
        }",
    );
    assert!(text.contains("%w = constant 6 : i32[]"), "{text}");
    assert!(text.contains("optimization_barrier"), "{text}");
}

// Adding this number of floats one by one takes hours.
#[test]
fn large_reductions_are_not_folded_and_do_not_use_up_the_limit() {
    let mut text = String::from("ptir 1 func @f() -> f32[] {\n");
    for i in 0..10 {
        let n = 1_000_000_000_000_u64 + i;
        let _ = writeln!(text, "%c{i} = constant 1.0 : f32[{n}]");
        let _ = writeln!(text, "%s{i} = reduce_sum %c{i} {{axes = [0]}} : f32[]");
    }
    text += "%a0 = constant 0.0 : f32[]\n";
    for i in 0..10 {
        let _ = writeln!(text, "%a{} = add %a{i}, %s{i} : f32[]", i + 1);
    }
    text += "%k = constant 2.0 : f32[1000]\n%l = reduce_sum %k {axes = [0]} : f32[]\n";
    text += "%r = mul %a10, %l : f32[]\nreturn %r }";
    let (text, stats) = fold(&text);
    assert!(stats.converged);
    assert_eq!(stats.folds, 1, "{text}");
    assert_eq!(text.matches("reduce_sum").count(), 10);
    assert!(text.contains("constant 2000.0 : f32[]"), "{text}");
}
