//! Large programs: a million instructions, with a number of attempts linear in instructions and rewrites.

#![allow(clippy::needless_pass_by_value, reason = "a pattern takes its root by value")]

use std::fmt::Write;

use sapwood_ptir::ops::{Exp, Log, Neg};
use sapwood_ptir::{Program, Value, parse};
use sapwood_rewrite::{
    GreedyConfig, GreedyStats, PatternSet, Rewrite, Unary, apply_patterns_and_fold_greedily,
    eliminate_common_subexpressions, eliminate_dead_code,
};
use sapwood_testing::{is_full, on_small_stack};

const N: usize = 1_000_000;

fn neg_of_neg(outer: Neg, rw: &mut Rewrite<'_>) -> Option<Value> {
    Some(rw.def::<Neg>(outer.input)?.input)
}
fn exp_to_log(op: Exp, rw: &mut Rewrite<'_>) -> Option<Value> {
    rw.emit(Log { input: op.input })
}
// Reads as far as it may and never fires.
fn looks_around(op: Unary, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<Unary>(op.input)?;
    let _ = rw.def::<Unary>(inner.input)?;
    None
}

fn set() -> PatternSet {
    let mut set = PatternSet::new();
    set.add(neg_of_neg);
    set.add(exp_to_log);
    set.add(looks_around);
    set
}

fn config() -> GreedyConfig {
    // Checks of single attempts are left to the other tests.
    GreedyConfig { expensive_checks: false, verify_input: false, ..GreedyConfig::default() }
}

fn run(program: &mut Program, config: &GreedyConfig) -> GreedyStats {
    let f = program.function_mut("f").unwrap();
    let stats = apply_patterns_and_fold_greedily(f, &set().freeze(), config).unwrap();
    assert!(stats.converged);
    stats
}

fn chain(n: usize, line: impl Fn(usize) -> &'static str, result: &str) -> Program {
    let mut text = String::from("ptir 1\nfunc @f(%x: f32[]) -> f32[] {\n  %0 = cos %x : f32[]\n");
    for i in 1..n {
        let _ = writeln!(text, "  %{i} = {} %{} : f32[]", line(i), i - 1);
    }
    let result = if result.is_empty() { format!("%{}", n - 1) } else { result.to_owned() };
    let _ = writeln!(text, "  return {result}\n}}");
    parse(&text).unwrap()
}

#[test]
fn a_dead_chain_of_a_million_goes_in_one_run() {
    on_small_stack(|| {
        for top_down in [false, true] {
            let mut program = chain(N, |_| "sin", "%x");
            let config = GreedyConfig { top_down, ..config() };
            let stats = run(&mut program, &config);
            assert!(stats.erased == N && stats.rounds <= 2, "{stats:?}");
            assert_eq!(program.num_insts(), 1);
        }
        let mut program = chain(N, |_| "sin", "%x");
        assert_eq!(eliminate_dead_code(program.function_mut("f").unwrap()), N);
    });
}

#[test]
fn a_million_duplicates_of_duplicates_merge_in_one_run() {
    on_small_stack(|| {
        let n = N / 2;
        let mut text = String::from("ptir 1\nfunc @f(%x: f32[]) -> (f32[], f32[]) {\n");
        let _ = writeln!(text, "  %a0 = sin %x : f32[]\n  %b0 = sin %x : f32[]");
        for i in 1..n {
            let _ = writeln!(text, "  %a{i} = sin %a{} : f32[]", i - 1);
            let _ = writeln!(text, "  %b{i} = sin %b{} : f32[]", i - 1);
        }
        let _ = writeln!(text, "  return %a{0}, %b{0}\n}}", n - 1);
        let mut program = parse(&text).unwrap();
        let mut other = program.clone();
        assert_eq!(eliminate_common_subexpressions(program.function_mut("f").unwrap()), n);
        assert_eq!(program.num_insts(), n + 1);
        let config = GreedyConfig { merge_equal: true, ..config() };
        let stats = run(&mut other, &config);
        assert_eq!((stats.merged, stats.rounds), (n, 1));
        assert_eq!(other.num_insts(), n + 1);
    });
}

// At most this many attempts per instruction and rewrite.
fn assert_linear(what: &str, insts: usize, stats: &GreedyStats) {
    let bound = 9 * insts + 24 * (stats.rewrites + stats.erased);
    assert!(
        stats.attempts <= bound,
        "{what} of {insts}: {} attempts, {} rewrites",
        stats.attempts,
        stats.rewrites
    );
    assert!(
        stats.visits <= 3 * insts + 8 * (stats.rewrites + stats.erased),
        "{what} of {insts}: {} visits",
        stats.visits
    );
}

// The largest takes long to parse; it belongs to the second tier.
fn sizes() -> Vec<usize> {
    let mut sizes = vec![1_000, 10_000, 100_000];
    sizes.extend(is_full().then_some(N));
    sizes
}

#[test]
fn attempts_are_linear_on_chains() {
    for n in sizes() {
        for top_down in [false, true] {
            let config = GreedyConfig { top_down, ..config() };
            let mut nothing = chain(n, |_| "sin", "");
            let stats = run(&mut nothing, &config);
            assert_eq!((stats.rewrites, stats.visits, stats.rounds), (0, n + 1, 1));
            let mut negations = chain(n, |_| "neg", "");
            let stats = run(&mut negations, &config);
            assert_linear("negations", n, &stats);
            assert!(negations.num_insts() <= 3);
            let mut mixed = chain(n, |i| if i % 3 == 0 { "exp" } else { "neg" }, "");
            let stats = run(&mut mixed, &config);
            assert_linear("mixed", n, &stats);
        }
    }
}

#[test]
fn attempts_are_linear_on_stars() {
    for n in sizes() {
        for (hub, leaf) in [("neg", "sin"), ("cos", "neg"), ("exp", "exp"), ("neg", "neg")] {
            // A chain of hubs as long as the star is wide.
            let mut text =
                String::from("ptir 1\nfunc @f(%x: f32[]) -> f32[] {\n  %h0 = cos %x : f32[]\n");
            let half = n / 2;
            for i in 1..half {
                let _ = writeln!(text, "  %h{i} = {hub} %h{} : f32[]", i - 1);
            }
            let mut list = String::new();
            for i in 0..half {
                let _ = writeln!(text, "  %l{i} = {leaf} %h{} : f32[]", half - 1);
                let _ = write!(list, "{}%l{i}", if i == 0 { "" } else { ", " });
            }
            let types = vec!["f32[]"; half].join(", ");
            let names: Vec<String> = (0..half).map(|i| format!("%b{i}")).collect();
            let _ =
                writeln!(text, "  {} = optimization_barrier {list} : {types}", names.join(", "));
            let _ = writeln!(text, "  return %b0\n}}");
            let mut program = parse(&text).unwrap();
            let stats = run(&mut program, &config());
            assert_linear(&format!("star {hub} {leaf}"), n, &stats);
        }
    }
}

#[test]
fn attempts_are_linear_on_grids() {
    for n in sizes() {
        let width = 100.min(n / 10);
        let mut text = String::from("ptir 1\nfunc @f(%x: f32[]) -> f32[] {\n");
        for j in 0..width {
            let _ = writeln!(text, "  %v0_{j} = cos %x : f32[]");
        }
        let mut at = 0;
        while at * width * 2 < n {
            for j in 0..width {
                let (a, b) = (j, (j + 1) % width);
                let _ = writeln!(text, "  %u{at}_{j} = add %v{at}_{a}, %v{at}_{b} : f32[]");
                let op = ["neg", "exp", "sin"][(at + j) % 3];
                let _ = writeln!(text, "  %v{}_{j} = {op} %u{at}_{j} : f32[]", at + 1);
            }
            at += 1;
        }
        let _ = writeln!(text, "  return %v{at}_0\n}}");
        let mut program = parse(&text).unwrap();
        let insts = program.num_insts();
        let stats = run(&mut program, &config());
        assert_linear("grid", insts, &stats);
    }
}

#[test]
fn attempts_are_linear_on_nests() {
    on_small_stack(|| {
        for n in sizes() {
            let depth = n / 4;
            let mut text = String::from("ptir 1\nfunc @f(%p: bool[], %x: f32[]) -> f32[] {\n");
            for i in 0..depth {
                let _ = writeln!(text, "%a{i} = neg %x : f32[]\n%c{i} = cond %p () {{");
            }
            let _ = writeln!(text, "yield %x");
            for i in (0..depth).rev() {
                let _ = writeln!(text, "}} () {{ %b{i} = neg %a{i} : f32[] yield %b{i} }} : f32[]");
                let _ = writeln!(text, "{} %c{i}", if i == 0 { "return" } else { "yield" });
            }
            text.push('}');
            let mut program = parse(&text).unwrap();
            let insts = program.num_insts();
            let stats = run(&mut program, &config());
            assert_eq!(stats.rewrites, depth);
            assert_linear("nest", insts, &stats);
            let config = GreedyConfig { merge_equal: true, ..config() };
            let mut program = parse(&text).unwrap();
            let stats = run(&mut program, &config);
            assert_linear("nest with merging", insts, &stats);
        }
    });
}

// Nothing is dead, since something ordered is at the bottom; the query must not walk down each time.
#[test]
fn unused_nests_that_stay_are_harmless() {
    on_small_stack(|| {
        let depth = 200_000;
        let mut text = String::from("ptir 1\nfunc @f(%p: bool[], %x: f32[]) {\n");
        for i in 0..depth {
            let _ = writeln!(text, "%c{i} = cond %p () {{");
        }
        let _ = writeln!(text, "%e = custom_call \"print\" %x : f32[]\nyield %x");
        for _ in 0..depth {
            let _ = writeln!(text, "}} () {{ yield %x }} : f32[]\nyield %x");
        }
        text.truncate(text.rfind("yield").unwrap());
        text += "return }";
        let mut program = parse(&text).unwrap();
        let insts = program.num_insts();
        let stats = run(&mut program, &config());
        assert_eq!(stats.erased, 0);
        assert_eq!(program.num_insts(), insts);
        let f = program.function_mut("f").unwrap();
        assert_eq!(eliminate_dead_code(f), 0);
        assert_eq!(eliminate_common_subexpressions(f), 0);
    });
}
