//! Finding the first rewrite that changed the results of a program, by bisection.

use std::sync::Arc;
use std::{fmt, slice};

use sapwood_ptir::{Name, Program};
use sapwood_rewrite::{Pass, RunReport, print_pipeline};

use super::Args;
use super::equivalence_check::DifferenceFinder;
use super::pipeline::pass_manager;

/// The pattern or pass that first changed results.
pub(super) enum FirstBadRewrite {
    Pattern(String),
    Pass(String),
}

impl FirstBadRewrite {
    /// Returns `pattern` or `pass`.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Pattern(_) => "pattern",
            Self::Pass(_) => "pass",
        }
    }

    /// Returns the name of the pattern or pass.
    pub(super) fn name(&self) -> &str {
        let (Self::Pattern(name) | Self::Pass(name)) = self;
        name
    }
}

impl fmt::Display for FirstBadRewrite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pattern(pattern) => write!(f, "the first wrong rewrite is by `{pattern}`"),
            Self::Pass(pass) => write!(f, "the first wrong pass is `{pass}`"),
        }
    }
}

/// Finds the first pass after which results differ. Then finds, in the first function that differs on its own, the pattern
/// whose rewrite makes the difference.
pub(super) fn find_first_bad_rewrite(
    args: &Args,
    passes: &[Arc<dyn Pass>],
    before: &Program,
    finder: &DifferenceFinder,
) -> Option<FirstBadRewrite> {
    let mut bisection = Bisection { args, finder, start: before.clone() };
    for pass in passes {
        let (after, _) = bisection.run_pass(&bisection.start, pass.clone())?;
        if finder.differ(&bisection.start, &after) {
            let pattern = bisection.find_pattern(&**pass, after);
            let only_pass = passes.len() == 1;
            let name = || print_pipeline(slice::from_ref(pass));
            return pattern
                .map(FirstBadRewrite::Pattern)
                .or_else(|| (!only_pass).then(|| FirstBadRewrite::Pass(name())));
        }
        bisection.start = after;
    }
    None
}

/// A search for the first bad rewrite of one pass.
struct Bisection<'a> {
    args: &'a Args,
    finder: &'a DifferenceFinder,
    /// The program before the pass.
    start: Program,
}

impl Bisection<'_> {
    fn run_pass(&self, start: &Program, pass: Arc<dyn Pass>) -> Option<(Program, RunReport)> {
        let mut after = start.clone();
        let report = pass_manager(self.args, &[pass]).run(&mut after).ok()?;
        Some((after, report))
    }

    // Returns true if replacing one function by that of another program changes results.
    fn differs(&self, name: Name, other: &Program) -> Option<bool> {
        let mut mixed = self.start.clone();
        mixed.replace(other.function(name)?.clone());
        Some(self.finder.differ(&self.start, &mixed))
    }

    // Finds the pattern whose rewrite changes results. `all` is the program after the pass.
    fn find_pattern(&self, pass: &dyn Pass, all: Program) -> Option<String> {
        let mut names = self.start.functions().iter().map(|f| f.name());
        let name = names.find(|&name| self.differs(name, &all) == Some(true))?;
        // The other functions are already rewritten, so that every rewrite is in this one.
        let mut start = all;
        start.replace(self.start.function(name)?.clone());
        let limited = |rewrites| self.run_pass(&start, pass.with_max_rewrites(rewrites)?);
        let (mut good, mut bad) = (0, 1);
        while !self.differs(name, &limited(bad)?.0)? {
            good = bad;
            bad = bad.checked_mul(2).filter(|&n| n < 1 << 30)?;
        }
        while good + 1 < bad {
            let middle = good.midpoint(bad);
            if self.differs(name, &limited(middle)?.0)? { bad = middle } else { good = middle }
        }
        let (_, report) = limited(bad)?;
        let greedy = report.passes.iter().rev().find_map(|pass| pass.greedy.as_ref())?;
        greedy.last_fired.first().cloned()
    }
}
