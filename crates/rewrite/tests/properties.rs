//! Properties of random programs under every pipeline.

use crate::meaning;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::soup::Library;
use sapwood_ptir::eval::{Float, Native};
use sapwood_ptir::ops::{Scan, While};
use sapwood_ptir::structural::{self, Mode};
use sapwood_ptir::testing::{RandomProgramConfig, Rng, random_program};
use sapwood_ptir::{
    Attr, Function, InstId, Program, Registry, TensorLiteral, ValueDef, ValueId, parse,
    print_function, verify, with_float,
};
use sapwood_rewrite::{
    CsePass, DcePass, FloatMode, GreedyConfig, GreedyPass, GreedyStats, InlinePass, PassManager,
    Pattern, ProgramRewriter, Roots, apply_patterns_and_fold_greedily, canonicalize,
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

// A pipeline on one thread and on two, with a flag that it reaches a fixpoint.
struct Pipeline {
    name: &'static str,
    one: PassManager,
    two: PassManager,
    fixpoint: bool,
}

// Built once for many programs: a frozen set of patterns costs more than a small program.
fn pipelines() -> Vec<Pipeline> {
    let mut list = Vec::new();
    let mut add = |name, fixpoint, build: &dyn Fn(&mut PassManager)| {
        let made = || {
            let mut manager = PassManager::new();
            build(&mut manager);
            manager.verify_each(true)
        };
        list.push(Pipeline { name, one: made(), two: made().threads(2), fixpoint });
    };
    add("canonicalize", true, &|m| m.add(GreedyPass::canonicalize(config(), patterns())));
    add("canonicalize top-down", true, &|m| {
        m.add(GreedyPass::canonicalize(GreedyConfig { top_down: true, ..config() }, patterns()));
    });
    add("cse", true, &|m| m.add(CsePass));
    add("dce", true, &|m| m.add(DcePass));
    add("fold", true, &|m| {
        let mut fold = GreedyPass::fold();
        fold.config = config();
        m.add(fold);
    });
    add("simplify", true, &|m| m.add(GreedyPass::simplify(config(), patterns())));
    add("default", false, &|m| {
        m.add(GreedyPass::canonicalize(config(), patterns()));
        m.add(CsePass);
        m.add(DcePass);
    });
    add("inline, simplify", true, &|m| {
        m.add(InlinePass::default());
        m.add(GreedyPass::simplify(config(), patterns()));
    });
    list
}

fn run(what: &str, manager: &PassManager, program: &mut Program) -> bool {
    let report = manager.run(program).unwrap_or_else(|e| panic!("{what}: {e}\n{program}"));
    let warnings: Vec<String> = report.warnings().collect();
    assert!(warnings.is_empty(), "{what}: {warnings:?}\n{program}");
    report.changed()
}

fn check(pipelines: &[Pipeline], seed: u64, program: &Program, runs: &mut usize) -> usize {
    let text = program.to_string();
    let mut changes = 0;
    for Pipeline { name, one, two, fixpoint } in pipelines {
        let what = format!("seed {seed}, {name}");
        let mut done = program.clone();
        let changed = run(&what, one, &mut done);
        assert_eq!(program.to_string(), text, "{what}: the old program was changed");
        let out = done.to_string();
        assert_eq!(changed, out != text, "{what}: {changed}\n{text}\n{out}");
        changes += usize::from(changed);
        verify(&done).unwrap_or_else(|p| panic!("{what}: {p}\n{text}\n{out}"));
        for f in done.functions() {
            f.check_indices().unwrap_or_else(|e| panic!("{what}: {e}\n{text}"));
        }
        for f in program.functions() {
            let agree = if shows_which_nan(f) { meaning::agree_up_to_nan } else { meaning::agree };
            let same = agree(program, &done, f.name(), FloatMode::Exact, seed..seed + 2);
            *runs += same.unwrap_or_else(|e| panic!("{what}: {e}\n{text}\n{out}"));
        }
        // The result is a function of the printed program, independent of the number of threads.
        let mut again = parse(&text).unwrap();
        run(&what, two, &mut again);
        // The only possible difference are names of values that were made unique when printed.
        if let Some(found) = structural::first_mismatch(&done, &again, Mode::Ordered) {
            panic!("{what}: from its text on two threads: {found}\n{text}\n{out}\n{again}");
        }
        if *fixpoint {
            let mut twice = done.clone();
            let changed = run(&what, one, &mut twice);
            assert_eq!(twice.to_string(), out, "{what}: a second run changes it\n{text}");
            assert!(!changed, "{what}: a second run says it changed something\n{out}");
            let mut twice = parse(&out).unwrap();
            run(&what, one, &mut twice);
            assert_eq!(twice.to_string(), out, "{what}: its own text is not a fixpoint\n{text}");
        }
    }
    changes
}

// Returns true if a `bitcast` reads a float that another instruction computed: a rewrite may change which NaN that is.
fn shows_which_nan(f: &Function) -> bool {
    let is_computed_float = |&v: &ValueId| {
        let dtype = f.value_type(v).as_tensor().map(|ty| ty.dtype);
        f.inst_of(v).is_some() && dtype.is_some_and(|d| d.is_float() || d.is_complex())
    };
    f.walk()
        .any(|inst| f.op_name(inst) == "bitcast" && f.operands(inst).iter().any(is_computed_float))
}

// A quarter of the seeds, so that the quarters run in parallel.
fn quarter(n: u64) {
    let pipelines = pipelines();
    let (mut changes, mut runs) = (0, 0);
    let seeds = u64::from(cases(2_000, 200_000));
    for seed in (0..seeds).filter(|seed| seed % 4 == n) {
        let insts = if seed % 3 == 0 { 60 } else { 24 };
        let program =
            random_program(seed, &RandomProgramConfig { insts, ..RandomProgramConfig::default() });
        changes += check(&pipelines, seed, &program, &mut runs);
    }
    assert!(changes > 500 && runs > 500, "{changes} changes, {runs} runs");
}

#[test]
fn pipelines_keep_programs_valid_and_reach_fixpoints_0() {
    quarter(0);
}

#[test]
fn pipelines_keep_programs_valid_and_reach_fixpoints_1() {
    quarter(1);
}

#[test]
fn pipelines_keep_programs_valid_and_reach_fixpoints_2() {
    quarter(2);
}

#[test]
fn pipelines_keep_programs_valid_and_reach_fixpoints_3() {
    quarter(3);
}

#[test]
fn pipelines_keep_programs_valid_on_instances_of_the_patterns() {
    let library = Library::read();
    let pipelines = pipelines();
    let (mut changes, mut runs) = (0, 0);
    for seed in 0..u64::from(cases(300, 50_000)) {
        let rng = &mut Rng::new(seed);
        let program = match seed % 8 {
            0 => library.symbolic_soup(rng, seed as usize / 8),
            _ => library.soup(rng, seed as usize),
        };
        changes += check(&pipelines, seed, &program, &mut runs);
    }
    assert!(changes > 1000 && runs > 1000, "{changes} changes, {runs} runs");
}

// Counts how often each pattern fires over programs: each program in one float mode, every other one without folding. `fast`
// is taken twice, since laws that hold only there would otherwise be tried on only a third of the programs.
fn firings(programs: impl Iterator<Item = Program>, count: &mut BTreeMap<&'static str, usize>) {
    let set = patterns();
    let modes = [FloatMode::Exact, FloatMode::Nsz, FloatMode::Fast, FloatMode::Fast];
    for (n, program) in programs.enumerate() {
        let config = GreedyConfig {
            floats: modes[n / 2 % 4],
            enable_constant_fold: n % 2 == 0,
            expensive_checks: false,
            ..GreedyConfig::default()
        };
        for f in program.functions() {
            let mut f = Function::clone(f);
            let stats = apply_patterns_and_fold_greedily(&mut f, &set, &config).unwrap();
            assert!(stats.converged, "{program}");
            for pattern in stats.patterns {
                *count.entry(pattern.name).or_default() += pattern.applied;
            }
        }
    }
}

#[test]
fn every_shipped_pattern_fires_twenty_times() {
    let library = Library::read();
    let mut count = BTreeMap::new();
    firings((0..500).map(|seed| random_program(seed, &RandomProgramConfig::default())), &mut count);
    firings((0..30_000).map(|n| library.soup(&mut Rng::new(n), n as usize)), &mut count);
    firings((0..400).map(|n| library.symbolic_soup(&mut Rng::new(n), n as usize)), &mut count);
    let shipped: usize = canonicalize::LISTS.iter().map(|list| list.entries.len()).sum();
    assert_eq!(count.len(), shipped);
    let rare: Vec<_> = count.iter().filter(|(_, n)| **n < 20).collect();
    assert!(rare.is_empty(), "{} of {shipped} fire seldom: {rare:?}", rare.len());
}

// Returns the class of a float, if it is one on which laws often fail.
fn kind_of_float(x: f64, least_normal: f64) -> Option<&'static str> {
    match x {
        _ if x.is_nan() => Some("nan"),
        _ if x == f64::INFINITY => Some("inf"),
        _ if x == f64::NEG_INFINITY => Some("-inf"),
        _ if x == 0.0 && x.is_sign_negative() => Some("-0.0"),
        _ if x != 0.0 && x.abs() < least_normal => Some("denormal"),
        _ => None,
    }
}

fn note_literal(literal: &TensorLiteral, seen: &mut BTreeMap<&'static str, usize>) {
    let dtype = literal.dtype();
    if !dtype.is_float() {
        return;
    }
    with_float!(dtype, T => {
        let least = T::from_raw(1 << T::FRACTION).number();
        for bytes in literal.stored_bytes().chunks_exact(dtype.byte_size()) {
            if let Some(kind) = kind_of_float(T::from_bytes(bytes).number(), least) {
                *seen.entry(kind).or_default() += 1;
            }
        }
    }, _ => {});
}

fn is_loop(f: &Function, inst: InstId) -> bool {
    f.is::<While>(inst) || f.is::<Scan>(inst)
}

fn note(f: &Function, inst: InstId, seen: &mut BTreeMap<&'static str, usize>) {
    *seen.entry(f.op_name(inst)).or_default() += 1;
    f.attrs(inst).iter().filter_map(Attr::as_literal).for_each(|l| note_literal(l, seen));
    let Some(home) = f.body_of(inst).filter(|&b| b != f.body()) else { return };
    // A value of an enclosing body.
    let from = |v: &ValueId| match f.value_def(*v) {
        ValueDef::Result(def, _) => f.body_of(def),
        ValueDef::Param(body, _) => Some(body),
    };
    if f.operands(inst).iter().any(|v| from(v) != Some(home)) {
        *seen.entry("capture").or_default() += 1;
    }
    if is_loop(f, inst) && f.body_owner(home).is_some_and(|owner| is_loop(f, owner)) {
        *seen.entry("nested loops").or_default() += 1;
    }
}

#[test]
fn random_programs_have_every_op_and_every_special_number() {
    let mut seen: BTreeMap<&'static str, usize> = BTreeMap::new();
    for seed in 0..2_000 {
        let insts = if seed % 3 == 0 { 60 } else { 24 };
        let program =
            random_program(seed, &RandomProgramConfig { insts, ..RandomProgramConfig::default() });
        for f in program.functions() {
            f.walk().for_each(|inst| note(f, inst, &mut seen));
        }
    }
    let registry = Registry::builtin();
    let special = ["-0.0", "nan", "inf", "-inf", "denormal", "capture", "nested loops"];
    let names = registry.defs().map(|d| d.name).chain(special);
    let rare: Vec<_> = names
        .map(|name| (name, seen.get(name).copied().unwrap_or(0)))
        .filter(|(_, n)| *n < 20)
        .collect();
    assert_eq!(rare, [], "of {} programs", 2_000);
}

// Everything that a run reports, except for the attempts.
fn without_attempts(stats: &GreedyStats) -> GreedyStats {
    let mut stats = GreedyStats { attempts: 0, attempts_saved: 0, ..stats.clone() };
    stats.patterns.iter_mut().for_each(|pattern| pattern.tried = 0);
    stats
}

#[test]
fn the_failure_cache_changes_no_result() {
    let (library, set) = (Library::read(), patterns());
    let programs = (0..u64::from(cases(400, 40_000))).map(|seed| match seed % 2 {
        0 => random_program(seed, &RandomProgramConfig { insts: 40, ..Default::default() }),
        _ => library.soup(&mut Rng::new(seed), seed as usize),
    });
    let modes = [FloatMode::Exact, FloatMode::Nsz, FloatMode::Fast];
    let (mut attempts, mut saved) = (0, 0);
    for (n, program) in programs.enumerate() {
        let with = GreedyConfig {
            floats: modes[n % 3],
            top_down: n % 5 == 0,
            merge_equal: n % 2 == 0,
            expensive_checks: false,
            ..GreedyConfig::default()
        };
        let without = GreedyConfig { failure_cache: false, ..with };
        for f in program.functions() {
            let [mut cached, mut plain] = [Function::clone(f), Function::clone(f)];
            let stats = apply_patterns_and_fold_greedily(&mut cached, &set, &with).unwrap();
            let expected = apply_patterns_and_fold_greedily(&mut plain, &set, &without).unwrap();
            assert_eq!(print_function(&cached), print_function(&plain), "{program}");
            assert_eq!(without_attempts(&stats), without_attempts(&expected), "{program}");
            assert_eq!(expected.attempts_saved, 0);
            assert_eq!(stats.attempts + stats.attempts_saved, expected.attempts, "{program}");
            attempts += stats.attempts;
            saved += stats.attempts_saved;
        }
    }
    assert!(saved * 100 > attempts, "{saved} of {attempts} attempts saved");
}

/// A pattern that changes nothing: at each attempt it compares the versions of all instructions with those of the last one.
#[derive(Clone, Default)]
struct WatchVersions {
    seen: Arc<Mutex<BTreeMap<InstId, (u32, ReadSet)>>>,
    changes: Arc<AtomicUsize>,
}

/// The instructions that a pattern at a root may read: op, operands, attributes, and whether a result has a single use.
type ReadSet = Vec<(InstId, &'static str, Vec<ValueId>, String, bool)>;

fn read_set(f: &Function, root: InstId) -> ReadSet {
    let mut read: Vec<InstId> = vec![root];
    for _ in 0..2 {
        let operands = read.iter().flat_map(|&inst| f.operands(inst));
        let defs: Vec<InstId> = operands.filter_map(|&v| f.inst_of(v)).collect();
        read.extend(defs);
    }
    let facts = |inst: InstId| {
        let single = f.inst_results(inst).any(|v| f.one_use(v));
        let attrs = format!("{:?}", f.attrs(inst));
        (inst, f.op_name(inst), f.operands(inst).to_vec(), attrs, single)
    };
    read.into_iter().map(facts).collect()
}

impl Pattern for WatchVersions {
    fn roots(&self) -> Roots {
        Roots::Any
    }

    fn benefit(&self) -> u16 {
        100
    }

    fn match_and_rewrite(&self, _: InstId, rw: &mut ProgramRewriter<'_>) -> bool {
        let f = rw.function();
        let mut seen = self.seen.lock().unwrap();
        for inst in f.walk() {
            let now = (rw.version(inst), read_set(f, inst));
            let Some(before) = seen.insert(inst, now.clone()) else { continue };
            // A result that is used once more makes no pattern fire.
            let same = now.1.len() == before.1.len()
                && now.1.iter().zip(&before.1).all(|(now, before)| {
                    (now.0, now.1, &now.2, &now.3) == (before.0, before.1, &before.2, &before.3)
                        && now.4 <= before.4
                });
            assert!(same || now.0 > before.0, "{}: {before:?} {now:?}", f.op_name(inst));
            self.changes.fetch_add(usize::from(!same), Ordering::Relaxed);
        }
        false
    }
}

#[test]
fn versions_change_with_everything_that_patterns_read() {
    let library = Library::read();
    let mut changes = 0;
    for seed in 0..u64::from(cases(40, 4_000)) {
        let mut program = library.soup(&mut Rng::new(seed), seed as usize);
        let f = program.functions_mut().next().unwrap();
        let mut set = sapwood_rewrite::PatternSet::new();
        canonicalize::populate_canonicalization(&mut set);
        let watch = WatchVersions::default();
        set.add(watch.clone());
        let config = GreedyConfig { failure_cache: false, expensive_checks: false, ..config() };
        let stats = apply_patterns_and_fold_greedily(f, &set.freeze(), &config).unwrap();
        assert_eq!(stats.problems, [], "seed {seed}");
        changes += watch.changes.load(Ordering::Relaxed);
    }
    assert!(changes > 100, "{changes} changes");
}

#[test]
fn bump_version_changes_a_version() {
    let mut program = parse("ptir 1 func @f(%x: f32[]) -> f32[] { %y = neg %x : f32[] return %y }");
    let program = program.as_mut().unwrap();
    let f = program.functions_mut().next().unwrap();
    let mut rw = ProgramRewriter::new(f);
    let inst = rw.function().walk().next().unwrap();
    let before = rw.version(inst);
    assert_eq!(rw.version(inst), before);
    rw.bump_version(inst);
    assert!(rw.version(inst) > before);
}
