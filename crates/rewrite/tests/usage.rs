//! Tests of the examples.

#[path = "../examples/usage.rs"]
mod example;

use sapwood_ptir::parse;
use sapwood_rewrite::{GreedyConfig, PatternId, PatternSet, apply_patterns_and_fold_greedily};

#[test]
fn the_pipeline_of_the_example_simplifies_its_program() {
    let mut program = example::run().unwrap();
    let out = program.to_string();
    let report = example::pipeline().run(&mut program).unwrap();
    assert!(!report.changed());
    assert_eq!(program.to_string(), out);
}

fn run(lines: &str, set: PatternSet) -> usize {
    let text = format!("ptir 1 func @f(%x: f32[2, 3]) -> f32[2, 3] {{ {lines} return %r }}");
    let mut program = parse(&text).unwrap_or_else(|p| panic!("{p}\n{text}"));
    let f = program.function_mut("f").unwrap();
    let stats =
        apply_patterns_and_fold_greedily(f, &set.freeze(), &GreedyConfig::default()).unwrap();
    assert!(stats.converged && stats.problems.is_empty(), "{stats:?}");
    stats.rewrites
}

#[test]
fn each_pattern_of_the_example_fires_where_it_should() {
    let with = |add: &dyn Fn(&mut PatternSet) -> PatternId| {
        let mut set = PatternSet::new();
        add(&mut set);
        set
    };
    let cast = || with(&|s| s.add(example::RemoveNoOpCast));
    assert_eq!(run("%r = cast %x : f32[2, 3]", cast()), 1);
    assert_eq!(run("%a = cast %x : f64[2, 3] %r = cast %a : f32[2, 3]", cast()), 0);
    let broadcast = || with(&|s| s.add(example::unary_through_broadcast));
    let hoist = "%s = slice %x {starts = [0, 0], limits = [1, 3]} : f32[1, 3] %b = broadcast_to %s : f32[2, 3]";
    assert_eq!(run(&format!("{hoist} %r = exp %b : f32[2, 3]"), broadcast()), 1);
    assert_eq!(
        run(&format!("{hoist} %e = exp %b : f32[2, 3] %r = add %e, %b : f32[2, 3]"), broadcast()),
        0
    );
    let transpose = || with(&|s| s.add(example::transpose_there_and_back));
    let there = "%a = transpose %x {perm = [1, 0]} : f32[3, 2]";
    assert_eq!(
        run(&format!("{there} %r = transpose %a {{perm = [1, 0]}} : f32[2, 3]"), transpose()),
        1
    );
    let mul = || with(&|s| s.add(example::mul_by_one));
    assert_eq!(run("%r = mul %x, 1.0:f32[2, 3] : f32[2, 3]", mul()), 1);
    assert_eq!(run("%r = mul 1.0:f32[2, 3], %x : f32[2, 3]", mul()), 1);
    assert_eq!(run("%r = mul %x, 2.0:f32[2, 3] : f32[2, 3]", mul()), 0);
    let add = || with(&|s| s.add(example::add_zero));
    assert_eq!(run("%r = add %x, 0.0:f32[2, 3] : f32[2, 3]", add()), 0, "-0 + 0 is 0");
}
