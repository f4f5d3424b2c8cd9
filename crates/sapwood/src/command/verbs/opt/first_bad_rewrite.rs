//! Finding the first rewrite that changed the results of a program, by bisection.

use std::sync::Arc;
use std::{fmt, slice};

use sapwood_ptir::Program;
use sapwood_rewrite::{Pass, find_first_rewrite, print_pipeline};

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

/// Finds the first pass after which results differ, and the pattern whose rewrite makes the difference.
pub(super) fn find_first_bad_rewrite(
    args: &Args,
    passes: &[Arc<dyn Pass>],
    before: &Program,
    finder: &DifferenceFinder,
) -> Option<FirstBadRewrite> {
    let mut start = before.clone();
    for pass in passes {
        let mut after = start.clone();
        pass_manager(args, slice::from_ref(pass)).run(&mut after).ok()?;
        if finder.differ(&start, &after) {
            let pattern = find_first_rewrite(&**pass, &start, &after, &|program| {
                finder.differ(&start, program)
            });
            let only_pass = passes.len() == 1;
            let name = || print_pipeline(slice::from_ref(pass));
            return pattern
                .map(FirstBadRewrite::Pattern)
                .or_else(|| (!only_pass).then(|| FirstBadRewrite::Pass(name())));
        }
        start = after;
    }
    None
}
