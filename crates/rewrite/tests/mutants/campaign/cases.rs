//! The programs on which mutants are tried, and their simplification.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sapwood_ptir::{Name, Program, parse, verify};
use sapwood_rewrite::{
    FloatMode, FrozenPatternSet, GreedyConfig, PatternSet, ProblemKind,
    apply_patterns_and_fold_greedily,
};
use sapwood_testing::golden::{self, Kind};
use sapwood_types::Source;

use crate::canonicalize::populate_canonicalization;
use crate::mutant::{NOT_TERMINATING, with_active};
use crate::pattern_files;

/// The maximum number of queries about mutants in one simplification; the golden programs need less than 20,000.
const MAX_QUERIES: u32 = 2_000_000;

/// The size of the largest StableHLO programs that are tried, in bytes.
const MAX_FILE_SIZE: u64 = 32 << 10;

/// One function with the patterns and the configuration that simplify it.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) function: Name,
    pub(crate) before: Program,
    pub(crate) config: GreedyConfig,
    pub(crate) patterns: Arc<FrozenPatternSet>,
}

/// A simplified program, and the statistics of the run.
pub(crate) struct Simplified {
    pub(crate) program: Program,
    pub(crate) flaw: Option<Flaw>,
}

/// A flaw that shows without running the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Flaw {
    /// A pattern panicked. The driver rolls its rewrite back and reports it.
    Panics,
    /// A pattern did not terminate.
    Endless,
    /// The driver refused a rewrite, or the result is not well-formed.
    Invalid,
    /// The driver reached its limit.
    DoesNotConverge,
}

impl Case {
    /// Simplifies the function with one active mutant or none.
    pub(crate) fn simplified(&self, mutant: Option<u32>) -> Simplified {
        let mut program = self.before.clone();
        let work = || {
            let f = program.function_mut(self.function).expect("the case has its function");
            apply_patterns_and_fold_greedily(f, &self.patterns, &self.config)
        };
        let done = catch_unwind(AssertUnwindSafe(|| with_active(mutant, MAX_QUERIES, work)));
        let Ok(done) = done else {
            return Simplified { program: self.before.clone(), flaw: Some(Flaw::Panics) };
        };
        let stats = done.unwrap_or_else(|problem| panic!("{}: {problem}", self.name));
        let panicked = stats.problems.iter().find_map(|problem| match &problem.kind {
            ProblemKind::Panicked(message) => Some(message.contains(NOT_TERMINATING)),
            _ => None,
        });
        let flaw = match panicked {
            Some(true) => Some(Flaw::Endless),
            Some(false) => Some(Flaw::Panics),
            None if !stats.problems.is_empty() || verify(&program).is_err() => Some(Flaw::Invalid),
            None => (!stats.converged).then_some(Flaw::DoesNotConverge),
        };
        Simplified { program, flaw }
    }

    pub(crate) fn floats(&self) -> FloatMode {
        self.config.floats
    }
}

/// Returns the functions of the golden files: those of patterns with only the patterns of the file and without folding, as the
/// golden test runs them, and all of them with everything that `simplify` does.
pub(crate) fn golden(folder: &Path) -> Vec<Case> {
    let everything = all_patterns();
    let (mut alone, mut whole) = (Vec::new(), Vec::new());
    let itself = |case: &golden::Case| Ok(case.program.clone());
    let passes = Kind::new("passes", "ptir", itself).by_function("ptir 1").key("pipeline");
    for (kind, reader) in [("patterns", pattern_files::kind(itself)), ("passes", passes)] {
        let files = std::fs::read_dir(folder.join(kind)).expect("the golden files are there");
        let mut paths: Vec<_> = files.map(|file| file.expect("it can be listed").path()).collect();
        paths.sort();
        let read = |path: &PathBuf| reader.cases(path).expect("a golden file can be read");
        for (path, part) in
            paths.iter().flat_map(|path| read(path).into_iter().map(move |c| (path, c)))
        {
            let name = format!("{kind}/{}", path.file_stem().unwrap_or_default().to_string_lossy());
            let Ok(program) = parse(&part.program) else { continue };
            if verify(&program).is_err() {
                continue;
            }
            let fires: Vec<&str> = part.headers("fires").collect();
            let only = (!fires.is_empty()).then(|| some_patterns(&fires));
            let mode = part.header("floats").and_then(|mode| mode.parse().ok());
            let floats = mode.unwrap_or(FloatMode::Exact);
            for f in program.functions() {
                let before = with_callees(&program, f.name());
                let config =
                    GreedyConfig { expensive_checks: false, floats, ..GreedyConfig::default() };
                let case = |how: &str, config, patterns: &Arc<FrozenPatternSet>| Case {
                    name: format!("{name} @{}, {floats}{how}", f.name()),
                    function: f.name(),
                    before: before.clone(),
                    config,
                    patterns: patterns.clone(),
                };
                if let Some(only) = &only {
                    let config = GreedyConfig { enable_constant_fold: false, ..config };
                    alone.push(case("", config, only));
                }
                let config = GreedyConfig { merge_equal: true, ..config };
                whole.push(case(", simplified", config, &everything));
            }
        }
    }
    alone.append(&mut whole);
    alone
}

pub(crate) fn all_patterns() -> Arc<FrozenPatternSet> {
    let mut set = PatternSet::new();
    with_active(None, u32::MAX, || populate_canonicalization(&mut set));
    Arc::new(set.freeze())
}

/// Returns the functions of all StableHLO programs in and below a folder that are small enough, the smallest first, in the
/// strictest and the freest float mode.
pub(crate) fn stablehlo(folder: &Path) -> Vec<Case> {
    let patterns = all_patterns();
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("the folder can be listed") {
            let path = entry.expect("the folder can be listed").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "mlir") {
                let size = path.metadata().map_or(u64::MAX, |m| m.len());
                files.extend((size <= MAX_FILE_SIZE).then_some((size, path)));
            }
        }
    }
    files.sort();
    let mut cases = Vec::new();
    for (_, path) in files {
        let text = std::fs::read_to_string(&path).expect("a program can be read");
        let name = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
        let Ok(module) = sapwood_stablehlo::read(&Source::new(name.as_str(), text)) else {
            continue;
        };
        if verify(&module.program).is_err() {
            continue;
        }
        for f in module.program.functions() {
            for floats in [FloatMode::Exact, FloatMode::Fast] {
                let config = GreedyConfig {
                    expensive_checks: false,
                    merge_equal: true,
                    floats,
                    ..GreedyConfig::default()
                };
                cases.push(Case {
                    name: format!("{name} @{}, {floats}", f.name()),
                    function: f.name(),
                    before: with_callees(&module.program, f.name()),
                    config,
                    patterns: patterns.clone(),
                });
            }
        }
    }
    cases
}

fn some_patterns(names: &[&str]) -> Arc<FrozenPatternSet> {
    let mut set = PatternSet::new();
    with_active(None, u32::MAX, || populate_canonicalization(&mut set));
    set.only(names).expect("the header names patterns");
    Arc::new(set.freeze())
}

// Returns the function alone, or the whole program if it calls others.
fn with_callees(program: &Program, name: Name) -> Program {
    let mut part = Program::new(program.registry().clone());
    let f = program.function(name).expect("it is of the program").clone();
    part.add(f).expect("it is the only one");
    if verify(&part).is_ok() { part } else { program.clone() }
}
