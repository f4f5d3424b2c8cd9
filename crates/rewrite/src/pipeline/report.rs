//! The report of a run of a pipeline: times, statistics, changes.

use std::fmt;
use std::time::Duration;

use crate::greedy::GreedyStats;

/// The report of one pass.
#[derive(Clone, Debug, Default)]
pub struct PassReport {
    /// The name and the options of the pass, as the pipeline writes them.
    pub name: String,
    /// The duration of the pass.
    pub time: Duration,
    /// The duration of the verification after the pass.
    pub verify_time: Duration,
    /// True if the pass changed something.
    pub changed: bool,
    /// The counters of the pass.
    pub counters: Vec<(&'static str, usize)>,
    /// The statistics of the greedy driver.
    pub greedy: Option<GreedyStats>,
    /// The changes as a diff of the printed program, if [`print_changes`](crate::PassManager::print_changes) is on.
    pub diff: Option<String>,
    /// Warnings of the pass.
    pub warnings: Vec<String>,
}

/// The report of a run.
#[derive(Clone, Debug, Default)]
pub struct RunReport {
    /// The reports of the passes, in order.
    pub passes: Vec<PassReport>,
    /// The duration of the verification before the first pass.
    pub verify_time: Duration,
    /// The duration of the run.
    pub time: Duration,
}

impl RunReport {
    /// Returns true if anything was changed.
    #[must_use]
    pub fn changed(&self) -> bool {
        self.passes.iter().any(|p| p.changed)
    }

    /// Returns the warnings, each with the name of its pass.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        self.passes.iter().flat_map(|p| p.warnings.iter().map(|w| format!("{}: {w}", p.name)))
    }

    /// Returns the durations as a tree.
    #[must_use]
    pub fn timing(&self) -> String {
        let mut out = format!("{}  total\n", seconds(self.time));
        let mut line = |depth: usize, time: Duration, name: &str| {
            out += &format!("{}  {}{name}\n", seconds(time), "  ".repeat(depth));
        };
        line(1, self.verify_time, "verify");
        for pass in &self.passes {
            line(1, pass.time + pass.verify_time, &pass.name);
            if !pass.verify_time.is_zero() {
                line(2, pass.verify_time, "verify");
            }
        }
        out
    }

    /// Returns the counters, per pass and per pattern that matched.
    #[must_use]
    pub fn statistics(&self) -> String {
        let mut out = String::new();
        for pass in &self.passes {
            out += &format!("{}\n", pass.name);
            for (name, n) in &pass.counters {
                out += &format!("{n:>12}  {name}\n");
            }
            let Some(greedy) = &pass.greedy else { continue };
            out += &format!("{:>12}  rounds\n{:>12}  attempts\n", greedy.rounds, greedy.attempts);
            if greedy.attempts_saved > 0 {
                out += &format!("{:>12}  attempts saved\n", greedy.attempts_saved);
            }
            let tried = greedy.patterns.iter().filter(|p| p.matched > 0);
            let mut tried: Vec<_> = tried.collect();
            tried.sort_by_key(|p| std::cmp::Reverse(p.applied));
            if !tried.is_empty() {
                out += "       tried     matched     applied  pattern\n";
            }
            for p in tried {
                out += &format!("{:>12}{:>12}{:>12}  {}\n", p.tried, p.matched, p.applied, p.name);
            }
            if !greedy.disabled.is_empty() {
                let names = greedy.disabled.join(", ");
                out += &format!("{:>12}  disabled after a problem: {names}\n", "");
            }
        }
        let assumed = self.assumptions();
        if !assumed.is_empty() {
            out += "assumed, not proved; `disable` with the name switches it off\n";
        }
        for (assumption, uses) in assumed {
            out += &format!("{uses:>12}  {}: {}\n", assumption.name, assumption.doc);
        }
        out
    }

    /// Returns the diffs of the passes that changed something, if [`print_changes`](crate::PassManager::print_changes) is on.
    #[must_use]
    pub fn changes(&self) -> String {
        let mut out = String::new();
        for pass in &self.passes {
            match &pass.diff {
                Some(diff) if pass.changed => out += &format!("// {}\n{diff}", pass.name),
                _ => out += &format!("// {}: no change\n", pass.name),
            }
        }
        out
    }
}

impl fmt::Display for RunReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.timing())?;
        f.write_str(&self.statistics())?;
        self.warnings().try_for_each(|warning| writeln!(f, "warning: {warning}"))
    }
}

fn seconds(time: Duration) -> String {
    format!("{:>10.6} s", time.as_secs_f64())
}
