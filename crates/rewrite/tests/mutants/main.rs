//! Tests of the check of rewrites against mutants: copies of the shipped patterns, each broken in one way.
//!
//! One build contains all mutants; the campaign activates one after the other and runs the check.

mod arguments;
mod campaign;
mod mutant;
#[path = "../pattern_files/mod.rs"]
mod pattern_files;
#[path = "../../src/rewriter/wide_inst_memo.rs"]
#[allow(dead_code)]
mod wide_inst_memo;

use std::path::PathBuf;
use std::sync::Arc;

use campaign::cases::{self, Case};
use campaign::page::{self, Totals};
use campaign::{Answer, Campaign, Effort};
use sapwood_check::{CheckOptions, Verdict, compare_function};
use sapwood_ptir::Program;
use sapwood_rewrite::PatternSet;
use sapwood_testing::{is_full, repository};

// The mutated files import these names from their own crate.
use sapwood_rewrite::{CostGoal, FloatMode, patterns};
mod pattern {
    pub(crate) use sapwood_rewrite::{
        __private::{is_elementwise, user_elementwise_keys},
        Binary, MovedRegion, OpRef, Pattern, PatternEntry, PatternList, PatternSet, Rewrite,
        RootView, Roots, Unary,
    };
}
mod rewriter {
    pub(crate) use sapwood_rewrite::__private::refines;
    pub(crate) use sapwood_rewrite::ProgramRewriter;
}
mod cost_goals {
    pub(crate) use sapwood_rewrite::CostGoal;
}
mod prelude {
    pub(crate) use sapwood_rewrite::__private::LawEdits as _;

    pub(crate) use super::mutant::ConcatOffsetsExt as _;
}

#[allow(warnings, clippy::all, clippy::pedantic)]
mod canonicalize {
    sapwood_mutants::mutated!("src/canonicalize");
}

#[allow(warnings, clippy::all, clippy::pedantic)]
mod optimize {
    sapwood_mutants::mutated!("src/optimize", "src/canonicalize");
}

/// The mutants of the canonicalizations and those of the laws of `optimize`, with the number of the first.
const PATTERN_MUTANTS: (usize, &[mutant::Mutant]) =
    (canonicalize::FIRST_MUTANT, canonicalize::MUTANTS);
const LAW_MUTANTS: (usize, &[mutant::Mutant]) = (optimize::FIRST_MUTANT, optimize::MUTANTS);

/// Runs the check that `opt --check` runs.
fn check(case: &Case, after: &Program) -> Answer {
    let options = CheckOptions {
        floats: case.floats(),
        // The default seed of the command.
        seed: 1,
        kernels: Some(sapwood_stablehlo::check_call_kernels(None)),
        ..CheckOptions::default()
    };
    match compare_function(&case.before, after, case.function, &options).verdict() {
        Verdict::Different => Answer::Different,
        Verdict::NotChecked => Answer::NotChecked,
        passes => Answer::Passes(passes),
    }
}

fn golden() -> Vec<Case> {
    cases::golden(&repository().join("tests/golden"))
}

fn golden_laws() -> Vec<Case> {
    cases::golden_laws(&repository().join("tests/golden"))
}

#[test]
fn inactive_mutants_change_nothing() {
    let shipped = |populate: fn(&mut PatternSet)| {
        let mut set = PatternSet::new();
        populate(&mut set);
        Arc::new(set.freeze())
    };
    let patterns = shipped(sapwood_rewrite::canonicalize::populate_canonicalization);
    let laws = shipped(sapwood_rewrite::optimize::populate_optimization);
    let golden = golden();
    let patterns = golden.iter().filter(|case| case.uses_all_patterns).map(|c| (c, &patterns));
    let golden_laws = golden_laws();
    let laws = golden_laws.iter().filter(|case| case.uses_all_patterns).map(|c| (c, &laws));
    for (case, shipped) in patterns.chain(laws) {
        let with_shipped = Case {
            name: case.name.clone(),
            before: case.before.clone(),
            patterns: shipped.clone(),
            ..*case
        };
        let (mutated, shipped) = (case.simplified(None), with_shipped.simplified(None));
        assert_eq!(mutated.program.to_string(), shipped.program.to_string(), "{}", case.name);
    }
}

fn check_fresh(name: &str, found: &str) {
    let path = repository().join("docs/reference").join(name);
    if std::env::var_os("BLESS").is_some_and(|v| v == "1") {
        std::fs::write(&path, found).expect("the page can be written");
    }
    let page = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(page == found, "docs/reference/{name} is stale; run with BLESS=1");
}

// Runs a campaign on golden programs, and compares its page.
fn check_golden(
    cases: Vec<Case>,
    mutants: (usize, &'static [mutant::Mutant]),
    (file, head): (&str, &str),
    least: usize,
) {
    mutant::silence_panics();
    let effort = Effort { draws: 200, programs: 100, all: true };
    let campaign = Campaign::new(cases, mutants, effort);
    let outcomes = campaign.run();
    let mut totals = Totals::default();
    outcomes.iter().for_each(|outcome| totals.add(outcome));
    check_fresh(file, &page::page(head, &campaign, &outcomes));
    assert!(totals.counted >= least, "{totals:?}");
    assert!(totals.suffices(), "{totals:?}");
    let survivors: Vec<_> = page::survivors(&campaign, &outcomes).map(|(m, _)| m).collect();
    for mutant in &survivors {
        assert!(page::argument(mutant).is_some(), "no argument for {mutant:?}");
    }
    let is_ours = |function: &str| mutants.1.iter().any(|mutant| mutant.function == function);
    for (function, before, _) in arguments::ARGUMENTS.iter().filter(|(f, _, _)| is_ours(f)) {
        let needed = survivors.iter().any(|m| m.function == *function && m.before == *before);
        assert!(needed, "no mutant of `{before}` in `{function}` survives any more");
    }
}

#[test]
fn the_check_catches_mutants_on_golden_programs() {
    check_golden(golden(), PATTERN_MUTANTS, ("check-mutants.md", page::GOLDEN), 300);
}

#[test]
fn the_check_catches_mutants_of_laws() {
    check_golden(golden_laws(), LAW_MUTANTS, ("check-mutants-laws.md", page::LAWS), 80);
}

// Returns the corpus next to the repository.
fn corpus() -> Option<PathBuf> {
    let given = std::env::var_os("SAPWOOD_CORPUS").map(PathBuf::from);
    let folder = given.unwrap_or_else(|| repository().join("../shared/corpus/stablehlo"));
    folder.is_dir().then_some(folder)
}

// In the second tier on the corpus; in the gate, and without a corpus, on the programs of this repository.
#[test]
fn the_check_catches_mutants_on_stablehlo_programs() {
    mutant::silence_panics();
    let corpus = corpus().filter(|_| is_full());
    let folder = corpus.clone().unwrap_or_else(|| repository().join("programs"));
    let effort = Effort { draws: 50, programs: 400, all: false };
    let campaign = Campaign::new(cases::stablehlo(&folder), PATTERN_MUTANTS, effort);
    let outcomes = campaign.run();
    let mut totals = Totals::default();
    outcomes.iter().for_each(|outcome| totals.add(outcome));
    if corpus.is_some() {
        check_fresh("check-mutants-corpus.md", &page::page(page::CORPUS, &campaign, &outcomes));
    }
    let survivors = page::survivors(&campaign, &outcomes);
    let survivors: String = survivors.map(|(m, o)| page::survivor(&campaign, m, o)).collect();
    assert!(totals.counted > 0 && totals.suffices(), "{totals:?}\n{survivors}");
}
