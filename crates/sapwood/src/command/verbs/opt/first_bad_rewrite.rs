//! Finding the first rewrite that changed the results of a program, by bisection.

use std::fmt;

use sapwood_ptir::{Name, Program};
use sapwood_rewrite::RunReport;
use sapwood_rules::Rule;

use super::Args;
use super::equivalence_check::DifferenceFinder;
use super::pipeline::{pass_manager, pipeline_text};

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
    rules: &[Rule],
    before: &Program,
    finder: &DifferenceFinder,
) -> Option<FirstBadRewrite> {
    let passes: Vec<String> = match rules {
        [] => split_pipeline(&pipeline_text(args, rules).ok()?),
        // With rules there is only one pass, and its text is not used.
        _ => vec![String::new()],
    };
    let mut bisection = Bisection { args, rules, finder, start: before.clone() };
    for pass in &passes {
        let (after, _) = bisection.run_pass(&bisection.start, pass, None)?;
        if finder.differ(&bisection.start, &after) {
            let pattern = bisection.find_pattern(pass, after);
            return pattern
                .map(FirstBadRewrite::Pattern)
                .or_else(|| (passes.len() > 1).then(|| FirstBadRewrite::Pass(pass.clone())));
        }
        bisection.start = after;
    }
    None
}

/// A search for the first bad rewrite of one pass.
struct Bisection<'a> {
    args: &'a Args,
    rules: &'a [Rule],
    finder: &'a DifferenceFinder,
    /// The program before the pass.
    start: Program,
}

impl Bisection<'_> {
    // Runs a pass, with a limit of rewrites if one is given.
    fn run_pass(
        &self,
        start: &Program,
        pass: &str,
        rewrites: Option<usize>,
    ) -> Option<(Program, RunReport)> {
        let limited = self.args.for_silent_run(rewrites);
        let text = match rewrites {
            Some(limit) if self.args.pipeline.is_some() => with_max_rewrites(pass, limit)?,
            Some(_) => pipeline_text(&limited, self.rules).ok()?,
            None => pass.to_owned(),
        };
        let mut after = start.clone();
        let report = pass_manager(&limited, &text, self.rules, 1).ok()?.run(&mut after).ok()?;
        Some((after, report))
    }

    // Returns true if replacing one function by that of another program changes results.
    fn differs(&self, name: Name, other: &Program) -> Option<bool> {
        let mut mixed = self.start.clone();
        mixed.replace(other.function(name)?.clone());
        Some(self.finder.differ(&self.start, &mixed))
    }

    // Finds the pattern whose rewrite changes results. `all` is the program after the pass.
    fn find_pattern(&self, pass: &str, all: Program) -> Option<String> {
        let mut names = self.start.functions().iter().map(|f| f.name());
        let name = names.find(|&name| self.differs(name, &all) == Some(true))?;
        // The other functions are already rewritten, so that every rewrite is in this one.
        let mut start = all;
        start.replace(self.start.function(name)?.clone());
        let limited = |rewrites| self.run_pass(&start, pass, Some(rewrites));
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

// Splits a pipeline at its commas, except those in braces, brackets and parentheses.
fn split_pipeline(pipeline: &str) -> Vec<String> {
    let mut passes = vec![String::new()];
    let mut depth = 0usize;
    for c in pipeline.chars() {
        match c {
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        match passes.last_mut() {
            _ if c == ',' && depth == 0 => passes.push(String::new()),
            Some(pass) => pass.push(c),
            None => {}
        }
    }
    passes.into_iter().map(|pass| pass.trim().to_owned()).filter(|pass| !pass.is_empty()).collect()
}

// Adds the option `max-rewrites` to a pass; none if the pass has it already, or contains other passes.
fn with_max_rewrites(pass: &str, limit: usize) -> Option<String> {
    if pass.contains("max-rewrites") || pass.contains('(') {
        return None;
    }
    Some(match pass.strip_suffix('}') {
        Some(options) => format!("{options},max-rewrites={limit}}}"),
        None => format!("{pass}{{max-rewrites={limit}}}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pipelines_are_split_and_limited() {
        let passes = split_pipeline("canonicalize{only=a|b,float=fast}, fixpoint(cse,dce) ,cse");
        assert_eq!(passes, ["canonicalize{only=a|b,float=fast}", "fixpoint(cse,dce)", "cse"]);
        assert_eq!(with_max_rewrites("simplify", 3).unwrap(), "simplify{max-rewrites=3}");
        let limited = with_max_rewrites(&passes[0], 3).unwrap();
        assert_eq!(limited, "canonicalize{only=a|b,float=fast,max-rewrites=3}");
        assert_eq!(with_max_rewrites(&passes[1], 3), None);
    }
}
