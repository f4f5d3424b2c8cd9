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

use campaign::cases::{self, Case};
use campaign::page::{self, Totals};
use campaign::{Answer, Campaign, Effort};
use sapwood_check::{CheckOptions, Verdict, compare_function};
use sapwood_ptir::Program;
use sapwood_testing::{is_full, repository};

// The mutated files import these names from their own crate.
use sapwood_rewrite::{FloatMode, patterns};
mod pattern {
    pub(crate) use sapwood_rewrite::{
        __private::{is_elementwise, user_elementwise_keys},
        Binary, MovedRegion, OpRef, PatternList, PatternSet, Rewrite, RootView, Roots, Unary,
    };
}
mod rewriter {
    pub(crate) use sapwood_rewrite::__private::refines;
}
mod prelude {
    pub(crate) use super::mutant::ConcatOffsetsExt as _;
}

#[allow(warnings, clippy::all, clippy::pedantic)]
mod canonicalize {
    sapwood_mutants::mutated!("src/canonicalize");
}

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

#[test]
fn inactive_mutants_change_nothing() {
    let mut set = sapwood_rewrite::PatternSet::new();
    sapwood_rewrite::canonicalize::populate_canonicalization(&mut set);
    let shipped = std::sync::Arc::new(set.freeze());
    for case in golden().iter().filter(|case| case.config.merge_equal) {
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

#[test]
fn the_check_catches_mutants_on_golden_programs() {
    mutant::silence_panics();
    let effort = Effort { draws: 200, programs: 100, all: true };
    let campaign = Campaign::new(golden(), canonicalize::MUTANTS, effort);
    let outcomes = campaign.run();
    let mut totals = Totals::default();
    outcomes.iter().for_each(|outcome| totals.add(outcome));
    check_fresh("check-mutants.md", &page::page(page::GOLDEN, &campaign, &outcomes));
    assert!(totals.counted >= 300, "{totals:?}");
    assert!(totals.suffices(), "{totals:?}");
    let survivors: Vec<_> = page::survivors(&campaign, &outcomes).map(|(m, _)| m).collect();
    for mutant in &survivors {
        assert!(page::argument(mutant).is_some(), "no argument for {mutant:?}");
    }
    for (function, before, _) in arguments::ARGUMENTS {
        let needed = survivors.iter().any(|m| m.function == *function && m.before == *before);
        assert!(needed, "no mutant of `{before}` in `{function}` survives any more");
    }
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
    let campaign = Campaign::new(cases::stablehlo(&folder), canonicalize::MUTANTS, effort);
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
