//! The passes that run the greedy driver on each function: they differ in their patterns and in the configuration.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use sapwood_ptir::cost::{Amount, peak_memory_without_calls};
use sapwood_ptir::{Function, Program};
use sapwood_types::{FloatMode, SourceErrors};

use super::each_function::{FunctionOutcome, FunctionResult};
use super::{Pass, PassContext, PassError, each_function};
use crate::assumptions::expand_assumptions;
use crate::canonicalize::populate_canonicalization;
use crate::cost_goals::{CostGoal, CostGoals};
use crate::greedy::{GreedyConfig, apply_without_names};
use crate::optimize::{NOT_FOR_MEMORY, populate_optimization};
use crate::pass_options;
use crate::pass_trace::{PassListener, as_listener};
use crate::pattern::{FrozenPatternSet, PatternSet};
use crate::pipeline::{OptionInfo, PassInfo, PassOptions, PatternSources};

/// A pass that applies patterns and folds until nothing is left to do: `canonicalize`, `simplify`, `fold`, or `rules` of the
/// crate of rules. The default is `simplify` with the shipped patterns.
#[derive(Clone)]
pub struct GreedyPass {
    /// The configuration of the greedy driver.
    pub config: GreedyConfig,
    /// The files of rules whose rules are applied too.
    pub rules: Vec<PathBuf>,
    /// The names of the patterns to use; all if it is empty.
    pub only: Vec<String>,
    /// The names of patterns that are not used.
    pub disable: Vec<String>,
    patterns: Arc<FrozenPatternSet>,
    base: BasePatterns,
    info: &'static PassInfo,
}

/// The patterns of a pass besides the rules of files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BasePatterns {
    /// None.
    None,
    /// The shipped patterns.
    Shipped,
    /// The laws of `optimize`.
    Optimization,
}

impl BasePatterns {
    fn populate(self, set: &mut PatternSet) {
        match self {
            Self::None => {}
            Self::Shipped => populate_canonicalization(set),
            Self::Optimization => populate_optimization(set),
        }
    }
}

/// The options of a [`GreedyPass`]; the first is `rules`.
pub const GREEDY_OPTIONS: [OptionInfo; 10] = *pass_options!(GreedyPass {
    "rules": rules, "Files of rules to apply together with the shipped patterns, separated by `|`.";
    "max-iterations": config.max_iterations, "The maximum number of rounds.";
    "max-rewrites": config.max_rewrites, "The maximum number of folds and rewrites.";
    "fold": config.enable_constant_fold, "Folds constants: `true` or `false`.";
    "fold-limit": config.fold_limits.max_elements, "The maximum number of elements of a folded constant.";
    "top-down": config.top_down, "Starts at the first instruction: `true` or `false`.";
    "float": config.floats, "The float mode: `exact`, `nsz` or `fast`.";
    "check": config.expensive_checks, "Checks every attempt of a pattern: `true` or `false`; the default is `true` in debug builds only.";
    "only": only, "The patterns and rules to use, separated by `|`; the default is all.";
    "disable": disable, "The patterns and rules that are not used, or assumptions whose patterns are not, separated by `|`.";
});

impl GreedyPass {
    /// Returns the pass of this description with its default options and these patterns.
    #[must_use]
    pub fn new(info: &'static PassInfo, base: BasePatterns) -> Self {
        let goals = match base {
            BasePatterns::Optimization => CostGoal::Flops.into(),
            BasePatterns::None | BasePatterns::Shipped => CostGoals::NONE,
        };
        let config = GreedyConfig { verify_input: false, goals, ..GreedyConfig::default() };
        let patterns = frozen_patterns(base);
        let (rules, only, disable) = (Vec::new(), Vec::new(), Vec::new());
        Self { config, rules, only, disable, patterns, base, info }
    }

    pub(super) fn with_patterns(
        info: &'static PassInfo,
        config: GreedyConfig,
        patterns: FrozenPatternSet,
    ) -> Self {
        Self { config, patterns: Arc::new(patterns), ..Self::new(info, BasePatterns::None) }
    }

    /// Adds the patterns of other sources, reads the files in `rules`, and selects the patterns by `only` and `disable`.
    ///
    /// # Errors
    /// If a file cannot be read or has errors, if there is no reader for files, or if `only` or `disable` names an unknown
    /// pattern. The error has the name of the option.
    pub fn load_patterns(
        &mut self,
        sources: PatternSources<'_>,
    ) -> Result<(), (&'static str, SourceErrors)> {
        let more = sources.more.filter(|_| self.base == BasePatterns::Shipped);
        let for_memory = self.config.goals.contains(CostGoal::Memory);
        let is_listed = !(self.only.is_empty() && self.disable.is_empty());
        let is_plain = self.rules.is_empty() && !is_listed && !for_memory;
        if is_plain && more.is_none() {
            return Ok(());
        }
        let mut set = PatternSet::new();
        self.base.populate(&mut set);
        if let Some(more) = more {
            more(&mut set);
        }
        if !self.rules.is_empty() {
            // A rule for a freer mode would come too late if shipped patterns had changed what it matches.
            self.config.float_stages = false;
            // Both spellings of the option are the first of the table.
            let option = self.info.options[0].name;
            let no_reader = "files of rules cannot be read here; sapwood-rules has the reader";
            let read = match sources.reader {
                Some(reader) => reader(&self.rules, &mut set),
                None => Err(SourceErrors::plain(no_reader)),
            };
            read.map_err(|errors| (option, errors))?;
        }
        let unknown = |option| move |why: String| (option, SourceErrors::plain(why));
        if !self.only.is_empty() {
            self.config.order_operands = false;
            set.only(&self.only).map_err(unknown("only"))?;
        }
        let exists = |name: &str| set.names().any(|known| known == name);
        let disabled = expand_assumptions(&self.disable, exists);
        set.disable(&disabled).map_err(unknown("disable"))?;
        if for_memory {
            // A value that leaves a loop or a branch is alive during all of it. If the set does not have the pattern, there is nothing to disable.
            for name in NOT_FOR_MEMORY {
                let _ = set.disable(&[name.to_owned()]);
            }
        }
        self.patterns = Arc::new(set.freeze());
        Ok(())
    }

    /// Sets the options that are given in a pipeline, and loads the patterns.
    ///
    /// # Errors
    /// If an option cannot be used; the diagnostics have been added to the list of the options.
    #[allow(clippy::result_unit_err, reason = "the diagnostic is in the list")]
    pub fn from_options(mut self, options: &mut PassOptions<'_>) -> Result<Arc<dyn Pass>, ()> {
        options.set(&mut self)?;
        for file in options.rules() {
            if !self.rules.contains(file) {
                self.rules.push(file.clone());
            }
        }
        match self.load_patterns(options.pattern_sources()) {
            Ok(()) => Ok(Arc::new(self)),
            Err((option, errors)) => options.refuse_all(option, errors),
        }
    }

    fn run(&self, f: &mut Function, mut listener: PassListener<'_>) -> FunctionResult {
        let patterns = &self.patterns;
        let config = match self.config.goals.contains(CostGoal::Memory) {
            true => self.config_below_peak(f)?,
            false => self.config,
        };
        let stats = apply_without_names(f, patterns, &config, as_listener(&mut listener))
            .map_err(PassError::Invalid)?;
        let counters = vec![
            ("rewrites", stats.rewrites),
            ("folds", stats.folds),
            ("erased", stats.erased),
            ("merged", stats.merged),
        ];
        Ok(FunctionOutcome {
            changed: stats.changed(),
            edited: false,
            counters,
            greedy: Some((stats, patterns.clone())),
        })
    }
}

impl GreedyPass {
    // Returns a configuration whose run does not raise the peak memory of a function. Rewrites are chosen by the memory of the values that they replace; the peak of the
    // whole function may still rise, if operands are alive for longer. Then only the first half of the rewrites is made, and so on.
    fn config_below_peak(&self, f: &Function) -> Result<GreedyConfig, PassError> {
        // Constants are alive during the whole run.
        let mut config = GreedyConfig { enable_constant_fold: false, ..self.config };
        let nothing = GreedyConfig { max_rewrites: Some(0), enable_dce: false, ..config };
        let before = peak_memory_without_calls(f);
        if before == Amount::Unknown {
            return Ok(nothing);
        }
        loop {
            let mut trial = f.clone();
            let stats = apply_without_names(&mut trial, &self.patterns, &config, None)
                .map_err(PassError::Invalid)?;
            if peak_memory_without_calls(&trial).at_most(before) == Some(true) {
                return Ok(config);
            }
            match stats.rewrites {
                0 => return Ok(nothing),
                rewrites => config.max_rewrites = Some(rewrites / 2),
            }
        }
    }
}

impl Pass for GreedyPass {
    fn name(&self) -> &'static str {
        self.info.name
    }

    fn reports_changes(&self) -> bool {
        true
    }

    fn options(&self) -> Vec<(&'static str, String)> {
        self.info.options_of(self, &Self::new(self.info, self.base))
    }

    fn float_mode(&self) -> FloatMode {
        self.config.floats
    }

    fn files(&self) -> Vec<PathBuf> {
        self.rules.clone()
    }

    fn with_max_rewrites(&self, limit: usize) -> Option<Arc<dyn Pass>> {
        let mut pass = self.clone();
        pass.config.max_rewrites = Some(self.config.max_rewrites.map_or(limit, |n| n.min(limit)));
        Some(Arc::new(pass))
    }

    fn run_on_program(
        &self,
        program: &mut Program,
        cx: &mut PassContext,
    ) -> Result<bool, PassError> {
        each_function(program, cx, &|f, listener| self.run(f, listener))
    }
}

/// Returns all patterns of a kind, frozen once.
fn frozen_patterns(base: BasePatterns) -> Arc<FrozenPatternSet> {
    static SETS: [OnceLock<Arc<FrozenPatternSet>>; 3] = [const { OnceLock::new() }; 3];
    let make = || {
        let mut set = PatternSet::new();
        base.populate(&mut set);
        Arc::new(set.freeze())
    };
    SETS[base as usize].get_or_init(make).clone()
}
