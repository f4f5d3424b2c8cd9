//! Comparison of two functions on random inputs.

use std::ops::Range;
use std::time::Duration;

use sapwood_check::{CheckOptions, ElementKind, RunLimits, compare_function};
use sapwood_ptir::{Name, Program};
use sapwood_rewrite::FloatMode;

/// Random loops seldom terminate; those that do, terminate soon.
const LIMITS: RunLimits =
    RunLimits { max_steps: 5_000, time: Duration::from_secs(60), max_bytes: 1 << 28 };

/// The number of runs that gave results to compare.
pub(crate) type Runs = usize;

/// Runs a function of two programs on the same inputs, one for each seed.
///
/// # Errors
/// If results differ by more than the mode permits, with the inputs.
pub(crate) fn agree(
    before: &Program,
    after: &Program,
    function: Name,
    floats: FloatMode,
    seeds: Range<u64>,
) -> Result<Runs, String> {
    for program in [before, after] {
        sapwood_ptir::verify(program).map_err(|why| format!("@{function}: {why}"))?;
    }
    let options = CheckOptions {
        floats,
        seed: seeds.start,
        cases: Some(seeds.count()),
        elements: (!floats.fast()).then_some(ElementKind::Raw),
        limits: LIMITS,
        ..CheckOptions::default()
    };
    let report = compare_function(before, after, function, &options);
    report.difference.map_or(Ok(report.runs), |difference| Err(difference.to_string()))
}
