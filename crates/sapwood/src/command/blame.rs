//! Which rewrite made two programs different, by trying with less.

use std::fmt;

use sapwood_ptir::{Name, Program};
use sapwood_rewrite::RunReport;
use sapwood_rules::Rule;

use super::check::Checker;
use super::opt::{Args, manager, pipeline};

/// What first made results differ.
pub(super) enum Blame {
    Pattern(String),
    Pass(String),
}

impl Blame {
    /// What it is.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Pattern(_) => "pattern",
            Self::Pass(_) => "pass",
        }
    }

    /// What it is called.
    pub(super) fn name(&self) -> &str {
        let (Self::Pattern(name) | Self::Pass(name)) = self;
        name
    }
}

impl fmt::Display for Blame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pattern(pattern) => write!(f, "the first wrong rewrite is by `{pattern}`"),
            Self::Pass(pass) => write!(f, "the first wrong pass is `{pass}`"),
        }
    }
}

/// Finds the first pass after which results differ, then in the first function that differs by itself the pattern after
/// whose use they do.
pub(super) fn blame(
    args: &Args,
    rules: &[Rule],
    before: &Program,
    checker: &Checker,
) -> Option<Blame> {
    let passes: Vec<String> = match rules {
        [] => split(&pipeline(args, rules).ok()?),
        // One pass of its own, whatever its text is.
        _ => vec![String::new()],
    };
    let mut search = Search { args, rules, checker, start: before.clone() };
    for pass in &passes {
        let (after, _) = search.optimized(&search.start, pass, None)?;
        if checker.differ(&search.start, &after) {
            let pattern = search.pattern(pass, after);
            return pattern
                .map(Blame::Pattern)
                .or_else(|| (passes.len() > 1).then(|| Blame::Pass(pass.clone())));
        }
        search.start = after;
    }
    None
}

struct Search<'a> {
    args: &'a Args,
    rules: &'a [Rule],
    checker: &'a Checker,
    /// The program before the pass.
    start: Program,
}

impl Search<'_> {
    // The program after a pass that may only do so many rewrites.
    fn optimized(
        &self,
        start: &Program,
        pass: &str,
        rewrites: Option<usize>,
    ) -> Option<(Program, RunReport)> {
        let limited = self.args.plain(rewrites);
        let text = match rewrites {
            Some(most) if self.args.pipeline.is_some() => limited_to(pass, most)?,
            Some(_) => pipeline(&limited, self.rules).ok()?,
            None => pass.to_owned(),
        };
        let mut after = start.clone();
        let report = manager(&limited, &text, self.rules, 1).ok()?.run(&mut after).ok()?;
        Some((after, report))
    }

    // Whether one function of another program, all others as they were, makes a difference.
    fn differs(&self, name: Name, other: &Program) -> Option<bool> {
        let mut mixed = self.start.clone();
        mixed.replace(other.function(name)?.clone());
        Some(self.checker.differ(&self.start, &mixed))
    }

    fn pattern(&self, pass: &str, all: Program) -> Option<String> {
        let mut names = self.start.functions().iter().map(|f| f.name());
        let name = names.find(|&name| self.differs(name, &all) == Some(true))?;
        // The others are done, so that every rewrite is in this one.
        let mut start = all;
        start.replace(self.start.function(name)?.clone());
        let limited = |rewrites| self.optimized(&start, pass, Some(rewrites));
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

// The passes of a pipeline: what commas part, braces and brackets aside.
fn split(pipeline: &str) -> Vec<String> {
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

// The pass with an option more; nothing if it has it already, or other passes inside.
fn limited_to(pass: &str, most: usize) -> Option<String> {
    if pass.contains("max-rewrites") || pass.contains('(') {
        return None;
    }
    Some(match pass.strip_suffix('}') {
        Some(options) => format!("{options},max-rewrites={most}}}"),
        None => format!("{pass}{{max-rewrites={most}}}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pipelines_are_taken_apart_and_limited() {
        let passes = split("canonicalize{only=a|b,float=fast}, fixpoint(cse,dce) ,cse");
        assert_eq!(passes, ["canonicalize{only=a|b,float=fast}", "fixpoint(cse,dce)", "cse"]);
        assert_eq!(limited_to("simplify", 3).unwrap(), "simplify{max-rewrites=3}");
        let limited = limited_to(&passes[0], 3).unwrap();
        assert_eq!(limited, "canonicalize{only=a|b,float=fast,max-rewrites=3}");
        assert_eq!(limited_to(&passes[1], 3), None);
    }
}
