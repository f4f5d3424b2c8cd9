//! The programs on which mutants are tried, and their simplification.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sapwood_ptir::{Name, Program, parse, verify};
use sapwood_rewrite::{
    CostGoal, FloatMode, FrozenPatternSet, GreedyConfig, PatternSet, ProblemKind,
    apply_patterns_and_fold_greedily,
};
use sapwood_testing::golden::{self, Kind};
use sapwood_types::Source;

use crate::canonicalize::populate_canonicalization;
use crate::mutant::{NOT_TERMINATING, with_active};
use crate::optimize::populate_optimization;
use crate::pattern_files;

/// The maximum number of queries about mutants in one simplification; the golden programs need less than 20,000.
const MAX_QUERIES: u32 = 2_000_000;

/// The maximum number of queries about mutants of laws, which may recurse: fewer, so that the stack suffices.
const MAX_LAW_QUERIES: u32 = 200_000;

/// The size of the largest StableHLO programs that are tried, in bytes.
const MAX_FILE_SIZE: u64 = 32 << 10;

/// One function with the patterns and the configuration that simplify it.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) function: Name,
    pub(crate) before: Program,
    pub(crate) config: GreedyConfig,
    pub(crate) patterns: Arc<FrozenPatternSet>,
    /// True if these are all patterns or laws, not only those that a golden file is about.
    pub(crate) uses_all_patterns: bool,
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
        let max_queries = if self.config.goals.is_empty() { MAX_QUERIES } else { MAX_LAW_QUERIES };
        let done = catch_unwind(AssertUnwindSafe(|| with_active(mutant, max_queries, work)));
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

/// One function of a golden file.
struct GoldenFunction {
    file: String,
    function: Name,
    program: Program,
    floats: FloatMode,
    /// The patterns that the header names.
    fires: Vec<String>,
}

impl GoldenFunction {
    // Returns the function with these patterns. `how` ends its name.
    fn case(&self, how: &str, config: GreedyConfig, patterns: &Arc<FrozenPatternSet>) -> Case {
        let config = GreedyConfig { expensive_checks: false, floats: self.floats, ..config };
        Case {
            name: format!("{} @{}, {}{how}", self.file, self.function, self.floats),
            function: self.function,
            before: self.program.clone(),
            config,
            patterns: patterns.clone(),
            uses_all_patterns: !how.is_empty(),
        }
    }
}

// Returns the functions of the golden files of one kind, in order.
fn golden_functions(folder: &Path, kind: &str, reader: &Kind) -> Vec<GoldenFunction> {
    let files = std::fs::read_dir(folder.join(kind)).expect("the golden files are there");
    let mut paths: Vec<PathBuf> =
        files.map(|file| file.expect("it can be listed").path()).collect();
    paths.sort();
    let mut found = Vec::new();
    for path in &paths {
        let file = format!("{kind}/{}", path.file_stem().unwrap_or_default().to_string_lossy());
        for part in reader.cases(path).expect("a golden file can be read") {
            let Ok(program) = parse(&part.program) else { continue };
            if verify(&program).is_err() {
                continue;
            }
            let mode = part.header("floats").and_then(|mode| mode.parse().ok());
            for f in program.functions() {
                found.push(GoldenFunction {
                    file: file.clone(),
                    function: f.name(),
                    program: with_callees(&program, f.name()),
                    floats: mode.unwrap_or(FloatMode::Exact),
                    fires: part.headers("fires").map(str::to_owned).collect(),
                });
            }
        }
    }
    found
}

fn program_of(case: &golden::Case) -> Result<String, golden::Failure> {
    Ok(case.program.clone())
}

/// Returns the functions of the golden files: those of patterns with only the patterns of the file and without folding, as the
/// golden test runs them, and all of them with everything that `simplify` does.
pub(crate) fn golden(folder: &Path) -> Vec<Case> {
    let everything = all_patterns();
    let passes = Kind::new("passes", "ptir", program_of).by_function("ptir 1").key("pipeline");
    let mut functions = golden_functions(folder, "patterns", &pattern_files::kind(program_of));
    functions.extend(golden_functions(folder, "passes", &passes));
    let (mut alone, mut whole) = (Vec::new(), Vec::new());
    for f in functions {
        if !f.fires.is_empty() {
            let config = GreedyConfig { enable_constant_fold: false, ..GreedyConfig::default() };
            alone.push(f.case("", config, &some_of(populate_canonicalization, &f.fires)));
        }
        let config = GreedyConfig { merge_equal: true, ..GreedyConfig::default() };
        whole.push(f.case(", simplified", config, &everything));
    }
    alone.append(&mut whole);
    alone
}

/// Returns the functions of the golden files of the laws of `optimize`: with the law of the file alone, and with all of them.
pub(crate) fn golden_laws(folder: &Path) -> Vec<Case> {
    let everything = set_of(populate_optimization);
    let kind = Kind::new("laws", "ptir", program_of).by_function("ptir 1");
    let kind = kind.key("fires").key("floats").key("values");
    let config = GreedyConfig { goals: CostGoal::Flops.into(), ..GreedyConfig::default() };
    let functions = golden_functions(folder, "laws", &kind);
    let alone = functions.iter().map(|f| {
        let law = some_of(populate_optimization, &f.fires);
        f.case("", config, &law)
    });
    let whole = functions.iter().map(|f| f.case(", optimized", config, &everything));
    alone.chain(whole).collect()
}

fn set_of(populate: fn(&mut PatternSet)) -> Arc<FrozenPatternSet> {
    let mut set = PatternSet::new();
    with_active(None, u32::MAX, || populate(&mut set));
    Arc::new(set.freeze())
}

fn some_of(populate: fn(&mut PatternSet), names: &[String]) -> Arc<FrozenPatternSet> {
    let mut set = PatternSet::new();
    with_active(None, u32::MAX, || populate(&mut set));
    set.only(names).expect("the header names patterns");
    Arc::new(set.freeze())
}

fn all_patterns() -> Arc<FrozenPatternSet> {
    set_of(populate_canonicalization)
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
                    uses_all_patterns: true,
                });
            }
        }
    }
    cases
}

// Returns the function alone, or the whole program if it calls others.
fn with_callees(program: &Program, name: Name) -> Program {
    let mut part = Program::new(program.registry().clone());
    let f = program.function(name).expect("it is of the program").clone();
    part.add(f).expect("it is the only one");
    if verify(&part).is_ok() { part } else { program.clone() }
}
