//! The steps that build packages with some of their features: in the workspace, other crates enable features that a package
//! may need.

use std::collections::BTreeSet;

use anyhow::Result;

use crate::gate::{Context, StepOutcome};
use crate::workspace::FeatureTable;

/// The package whose features users choose.
const MAIN_PACKAGE: &str = "sapwood";

/// Checks the main package without features, and with each feature alone.
pub(crate) fn each_alone(context: &Context<'_>) -> Result<StepOutcome> {
    let packages = context.workspace.published_features();
    let main = packages.iter().filter(|(name, _)| *name == MAIN_PACKAGE);
    let sets = main.flat_map(|(name, table)| {
        let alone = table.keys().map(|feature| BTreeSet::from([*feature]));
        let sets = distinct_sets([BTreeSet::new()].into_iter().chain(alone), table);
        sets.into_iter().map(move |set| (*name, set))
    });
    check(context, sets)
}

/// Checks every published package with all combinations of its features.
pub(crate) fn all_combinations(context: &Context<'_>) -> Result<StepOutcome> {
    let packages = context.workspace.published_features();
    let sets = packages.iter().flat_map(|(name, table)| {
        let subsets = (0..1_u32 << table.len()).map(|bits| {
            let chosen = (0..).zip(table.keys()).filter(move |(n, _)| bits >> n & 1 != 0);
            chosen.map(|(_, feature)| *feature).collect()
        });
        distinct_sets(subsets, table).into_iter().map(move |set| (*name, set))
    });
    check(context, sets)
}

// Adds the features that the others enable to each set, and drops repeated sets.
fn distinct_sets<'a>(
    sets: impl Iterator<Item = BTreeSet<&'a str>>,
    table: &'a FeatureTable<'a>,
) -> BTreeSet<BTreeSet<&'a str>> {
    let complete = |mut set: BTreeSet<&'a str>| {
        let mut pending: Vec<&str> = set.iter().copied().collect();
        while let Some(feature) = pending.pop() {
            for name in table.get(feature).into_iter().flatten() {
                if table.contains_key(name.as_str()) && set.insert(name) {
                    pending.push(name);
                }
            }
        }
        set
    };
    sets.map(complete).collect()
}

// Clippy, so that code that only some features use is reported; the step before has checked the dependencies.
fn check<'a>(
    context: &Context<'_>,
    sets: impl Iterator<Item = (&'a str, BTreeSet<&'a str>)>,
) -> Result<StepOutcome> {
    let mut checked = 0;
    for (package, features) in sets {
        let features = features.into_iter().collect::<Vec<_>>().join(",");
        let arguments = ["clippy", "--package", package, "--no-default-features", "--features"];
        let mut command = context.cargo(&arguments);
        command.arg(&features).args(["--", "-D", "warnings"]);
        let name = format!("features-{package}-{}", features.replace(',', "-"));
        let finished = context.run_logged(name.trim_end_matches('-'), &mut command)?;
        if !finished.success {
            let summary = format!("{package} does not build with the features `{features}`");
            return Ok(StepOutcome::Failed(summary, finished.output));
        }
        checked += 1;
    }
    Ok(StepOutcome::Passed(format!("{checked} combinations")))
}
