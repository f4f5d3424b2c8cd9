//! Canonicalization keeps what random programs compute, by the float mode that is the default.

mod meaning;

use meaning::agree;
use sapwood_ptir::testing::{Config, random_program};
use sapwood_rewrite::{
    FloatMode, GreedyConfig, PatternSet, apply_patterns_and_fold_greedily, canonicalize,
};
use sapwood_testing::cases;

#[test]
fn canonicalized_programs_compute_the_same() {
    let mut set = PatternSet::new();
    canonicalize::populate_canonicalization(&mut set);
    let set = set.freeze();
    let config = GreedyConfig { expensive_checks: true, ..GreedyConfig::default() };
    let (mut runs, mut rewrites) = (0, 0);
    for seed in 0..u64::from(cases(600, 60_000)) {
        let insts = if seed % 4 == 0 { 60 } else { 24 };
        let before = random_program(seed, &Config { insts, ..Config::default() });
        let mut after = before.clone();
        let names: Vec<_> = before.functions().iter().map(|f| f.name()).collect();
        for &name in &names {
            let f = after.function_mut(name).unwrap();
            let stats = apply_patterns_and_fold_greedily(f, &set, &config).unwrap();
            assert!(stats.problems.is_empty(), "seed {seed}: {:?}\n{before}", stats.problems);
            assert!(stats.converged, "seed {seed}: {stats:?}\n{before}");
            rewrites += stats.rewrites;
        }
        for &name in &names {
            let found = agree(&before, &after, name, FloatMode::Exact, 0..8);
            runs += found.unwrap_or_else(|e| panic!("seed {seed}: {e}\n{before}\n{after}"));
        }
    }
    assert!(runs > 500 && rewrites > 500, "{runs} runs, {rewrites} rewrites");
}
