//! What a run of a pipeline did: times, statistics, changes.

use std::fmt;
use std::time::Duration;

use crate::greedy::GreedyStats;

/// What one pass did.
#[derive(Clone, Debug, Default)]
pub struct PassReport {
    /// Its name and options, as the pipeline states them.
    pub name: String,
    /// How long it took.
    pub time: Duration,
    /// How long the program was verified after it.
    pub verify_time: Duration,
    /// Whether it changed something.
    pub changed: bool,
    /// What it counted.
    pub counters: Vec<(&'static str, usize)>,
    /// What the greedy driver did.
    pub greedy: Option<GreedyStats>,
    /// What it changed, as a diff of the printed program, if that was asked for.
    pub diff: Option<String>,
    /// What is worth saying.
    pub warnings: Vec<String>,
}

/// What a run did.
#[derive(Clone, Debug, Default)]
pub struct RunReport {
    /// Per pass, in order.
    pub passes: Vec<PassReport>,
    /// How long the program was verified before the first.
    pub verify_time: Duration,
    /// How long everything took.
    pub time: Duration,
}

impl RunReport {
    /// Whether anything was changed.
    #[must_use]
    pub fn changed(&self) -> bool {
        self.passes.iter().any(|p| p.changed)
    }

    /// What is worth saying, with the pass that said it.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        self.passes.iter().flat_map(|p| p.warnings.iter().map(|w| format!("{}: {w}", p.name)))
    }

    /// The times as a tree.
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

    /// What was counted, per pass and per pattern that was tried.
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
                out += &format!("{:>12}  switched off after a problem: {names}\n", "");
            }
        }
        out
    }

    /// The diffs of the passes that changed something, if they were asked for.
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
        f.write_str(&self.statistics())
    }
}

fn seconds(time: Duration) -> String {
    format!("{:>10.6} s", time.as_secs_f64())
}
