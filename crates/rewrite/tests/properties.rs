//! Properties of random programs under every pipeline.

mod meaning;

use sapwood_ptir::structural::{self, Mode};
use sapwood_ptir::testing::{Config, random_program};
use sapwood_ptir::{Program, parse, verify};
use sapwood_rewrite::{
    CanonicalizePass, CsePass, DcePass, FloatMode, FoldPass, GreedyConfig, InlinePass, PassManager,
    SimplifyPass, canonicalize,
};
use sapwood_testing::cases;

fn config() -> GreedyConfig {
    GreedyConfig { expensive_checks: true, ..GreedyConfig::default() }
}

fn patterns() -> sapwood_rewrite::FrozenPatternSet {
    let mut set = sapwood_rewrite::PatternSet::new();
    canonicalize::populate_canonicalization(&mut set);
    set.freeze()
}

// The pipelines, and whether each is a fixpoint.
fn pipelines() -> Vec<(&'static str, PassManager, bool)> {
    let mut list = Vec::new();
    let mut add = |name, fixpoint, build: &dyn Fn(&mut PassManager)| {
        let mut manager = PassManager::new();
        build(&mut manager);
        list.push((name, manager.verify_each(true), fixpoint));
    };
    add("canonicalize", true, &|m| m.add(CanonicalizePass::new(config(), patterns())));
    add("canonicalize top-down", true, &|m| {
        m.add(CanonicalizePass::new(GreedyConfig { top_down: true, ..config() }, patterns()));
    });
    add("cse", true, &|m| m.add(CsePass));
    add("dce", true, &|m| m.add(DcePass));
    add("fold", true, &|m| m.add(FoldPass { config: config() }));
    add("simplify", true, &|m| m.add(SimplifyPass::new(config(), patterns())));
    add("default", false, &|m| {
        m.add(CanonicalizePass::new(config(), patterns()));
        m.add(CsePass);
        m.add(DcePass);
    });
    add("inline, simplify", true, &|m| {
        m.add(InlinePass::default());
        m.add(SimplifyPass::new(config(), patterns()));
    });
    list
}

fn run(what: &str, manager: &PassManager, program: &mut Program) -> bool {
    let report = manager.run(program).unwrap_or_else(|e| panic!("{what}: {e}\n{program}"));
    let warnings: Vec<String> = report.warnings().collect();
    assert!(warnings.is_empty(), "{what}: {warnings:?}\n{program}");
    report.changed()
}

fn check(seed: u64, config: &Config, runs: &mut usize) -> usize {
    let program = random_program(seed, config);
    let text = program.to_string();
    let mut changes = 0;
    for (name, manager, fixpoint) in pipelines() {
        let what = format!("seed {seed}, {name}");
        let mut done = program.clone();
        let changed = run(&what, &manager, &mut done);
        assert_eq!(program.to_string(), text, "{what}: the old program was changed");
        let out = done.to_string();
        assert_eq!(changed, out != text, "{what}: {changed}\n{text}\n{out}");
        changes += usize::from(changed);
        verify(&done).unwrap_or_else(|p| panic!("{what}: {p}\n{text}\n{out}"));
        for f in done.functions() {
            f.check_indices().unwrap_or_else(|e| panic!("{what}: {e}\n{text}"));
        }
        for f in program.functions() {
            let same = meaning::agree(&program, &done, f.name(), FloatMode::Exact, seed..seed + 2);
            *runs += same.unwrap_or_else(|e| panic!("{what}: {e}\n{text}\n{out}"));
        }
        // A function of the printed program, whatever the number of threads.
        let mut again = parse(&text).unwrap();
        run(&what, &manager.threads(2), &mut again);
        // Names of values that were made unique when printed are the only difference there may be.
        if let Some(found) = structural::first_mismatch(&done, &again, Mode::Ordered) {
            panic!("{what}: from its text on two threads: {found}\n{text}\n{out}\n{again}");
        }
        if fixpoint {
            let (_, manager, _) = pipelines().into_iter().find(|p| p.0 == name).unwrap();
            let mut twice = done.clone();
            let changed = run(&what, &manager, &mut twice);
            assert_eq!(twice.to_string(), out, "{what}: a second run changes it\n{text}");
            assert!(!changed, "{what}: a second run says it changed something\n{out}");
            let mut twice = parse(&out).unwrap();
            run(&what, &manager, &mut twice);
            assert_eq!(twice.to_string(), out, "{what}: its own text is not a fixpoint\n{text}");
        }
    }
    changes
}

#[test]
fn pipelines_keep_programs_valid_and_reach_fixpoints() {
    let (mut changes, mut runs) = (0, 0);
    for seed in 0..u64::from(cases(2_000, 200_000)) {
        let insts = if seed % 4 == 0 { 60 } else { 24 };
        changes += check(seed, &Config { insts, ..Config::default() }, &mut runs);
    }
    assert!(changes > 2_000 && runs > 5_000, "{changes} changes, {runs} runs");
}
