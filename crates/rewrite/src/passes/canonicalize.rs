//! `canonicalize`: applies the patterns of the ops, and folding, to a fixpoint.

use std::sync::{Arc, OnceLock};

use sapwood_ptir::Function;

use super::PassError;
use super::each_function::{FunctionOutcome, FunctionResult, function_pass};
use crate::canonicalize::populate_canonicalization;
use crate::greedy::{GreedyConfig, apply_without_names};
use crate::pass_trace::{PassListener, as_listener};
use crate::pattern::{FrozenPatternSet, PatternSet};
use crate::pipeline::{OptionInfo, PassInfo, PassOptions};

/// A pass that applies patterns and folds until nothing is left to do.
pub struct CanonicalizePass {
    /// The configuration of the greedy driver.
    pub config: GreedyConfig,
    /// The patterns.
    pub patterns: Arc<FrozenPatternSet>,
    // The names of the patterns, if only some are used.
    only: Vec<String>,
}

impl CanonicalizePass {
    /// Returns the pass with other patterns than the shipped ones.
    #[must_use]
    pub fn new(config: GreedyConfig, patterns: FrozenPatternSet) -> Self {
        Self { config, patterns: Arc::new(patterns), only: Vec::new() }
    }
}

impl Default for CanonicalizePass {
    fn default() -> Self {
        Self { config: GreedyConfig::default(), patterns: shipped_patterns(), only: Vec::new() }
    }
}

/// Returns all shipped canonicalization patterns, frozen once.
pub(super) fn shipped_patterns() -> Arc<FrozenPatternSet> {
    static SET: OnceLock<Arc<FrozenPatternSet>> = OnceLock::new();
    let make = || {
        let mut set = PatternSet::new();
        populate_canonicalization(&mut set);
        Arc::new(set.freeze())
    };
    SET.get_or_init(make).clone()
}

function_pass!(CanonicalizePass, canonicalize, options = options);

fn options(pass: &CanonicalizePass) -> Vec<(&'static str, String)> {
    non_default_options(&pass.config, &pass.only)
}

fn canonicalize(
    pass: &CanonicalizePass,
    f: &mut Function,
    listener: PassListener<'_>,
) -> FunctionResult {
    run_greedy(f, &pass.patterns, &pass.config, listener)
}

pub(super) fn run_greedy(
    f: &mut Function,
    patterns: &Arc<FrozenPatternSet>,
    config: &GreedyConfig,
    mut listener: PassListener<'_>,
) -> FunctionResult {
    let stats = apply_without_names(f, patterns, config, as_listener(&mut listener))
        .map_err(PassError::Invalid)?;
    let counters = vec![
        ("rewrites", stats.rewrites),
        ("folds", stats.folds),
        ("erased", stats.erased),
        ("merged", stats.merged),
    ];
    Ok(FunctionOutcome {
        changed: stats.changed(),
        counters,
        greedy: Some((stats, patterns.clone())),
    })
}

/// The options of the driver, for this pass and `simplify`.
pub(super) const OPTIONS: &[OptionInfo] = &[
    OptionInfo { name: "max-iterations", doc: "The maximum number of rounds." },
    OptionInfo { name: "max-rewrites", doc: "The maximum number of folds and rewrites." },
    OptionInfo { name: "fold", doc: "Folds constants: `true` or `false`." },
    OptionInfo { name: "fold-limit", doc: "The maximum number of elements of a folded constant." },
    OptionInfo { name: "top-down", doc: "Starts at the first instruction: `true` or `false`." },
    OptionInfo { name: "float", doc: "The float mode: `exact`, `nsz` or `fast`." },
    OptionInfo { name: "check", doc: "Checks every attempt of a pattern: `true` or `false`." },
    OptionInfo { name: "only", doc: "The patterns to use, separated by `|`; the default is all." },
];

pub(super) fn read_options(
    options: &mut PassOptions<'_>,
) -> Result<(GreedyConfig, Arc<FrozenPatternSet>, Vec<String>), ()> {
    let mut config = GreedyConfig { verify_input: false, ..GreedyConfig::default() };
    options.take("max-iterations", &mut config.max_iterations)?;
    let mut most = usize::MAX;
    if options.take("max-rewrites", &mut most)? {
        config.max_rewrites = Some(most);
    }
    options.take("fold", &mut config.enable_constant_fold)?;
    options.take("fold-limit", &mut config.fold_limits.max_elements)?;
    options.take("top-down", &mut config.top_down)?;
    options.take("float", &mut config.floats)?;
    options.take("check", &mut config.expensive_checks)?;
    let mut only = String::new();
    if !options.take("only", &mut only)? {
        return Ok((config, shipped_patterns(), Vec::new()));
    }
    let names: Vec<&str> = only.split('|').collect();
    let mut set = PatternSet::new();
    populate_canonicalization(&mut set);
    if let Err(why) = set.only(&names) {
        return options.refuse("only", why);
    }
    let names = names.into_iter().map(str::to_owned).collect();
    Ok((config, Arc::new(set.freeze()), names))
}

pub(super) fn non_default_options(
    config: &GreedyConfig,
    only: &[String],
) -> Vec<(&'static str, String)> {
    let default = GreedyConfig::default();
    let mut list = Vec::new();
    let mut add = |name, same: bool, value: String| {
        if !same {
            list.push((name, value));
        }
    };
    let rounds = config.max_iterations;
    add("max-iterations", rounds == default.max_iterations, rounds.to_string());
    if let Some(most) = config.max_rewrites {
        add("max-rewrites", false, most.to_string());
    }
    let fold = config.enable_constant_fold;
    add("fold", fold == default.enable_constant_fold, fold.to_string());
    let limit = config.fold_limits.max_elements;
    add("fold-limit", limit == default.fold_limits.max_elements, limit.to_string());
    add("top-down", config.top_down == default.top_down, config.top_down.to_string());
    add("float", config.floats == default.floats, config.floats.to_string());
    let checks = config.expensive_checks;
    add("check", checks == default.expensive_checks, checks.to_string());
    add("only", only.is_empty(), only.join("|"));
    list
}

pub(super) const INFO: PassInfo = PassInfo {
    name: "canonicalize",
    doc: "Applies the canonicalizations of the ops and folds constants, until nothing is left to do.",
    options: OPTIONS,
    make: |options| {
        let (config, patterns, only) = read_options(options)?;
        Ok(Box::new(CanonicalizePass { config, patterns, only }))
    },
};
