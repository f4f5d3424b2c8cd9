//! The statistics and problems of a run.

use std::fmt;
use std::fmt::Write as _;

use sapwood_ptir::ValueType;
use sapwood_types::{FloatMode, counted};

use crate::pattern::FrozenPatternSet;

/// The statistics of a run of the greedy driver.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GreedyStats {
    /// The number of rewrites by patterns.
    pub rewrites: usize,
    /// The number of folded instructions.
    pub folds: usize,
    /// The number of instructions erased because nothing used them.
    pub erased: usize,
    /// The number of instructions merged into an equal one, constants included.
    pub merged: usize,
    /// The number of rounds.
    pub rounds: usize,
    /// The number of visits to instructions.
    pub visits: usize,
    /// The number of operands that were examined to choose the order of visits, and of carried values and results of wide
    /// instructions that were examined.
    pub examined: usize,
    /// The number of attempts of patterns.
    pub attempts: usize,
    /// The number of attempts that the [failure cache](super::GreedyConfig::failure_cache) saved.
    pub attempts_saved: usize,
    /// True if nothing was left to do. It is false if a limit ended the run, if patterns undid each other's work in a cycle, or
    /// if a pattern was [disabled](Self::disabled).
    pub converged: bool,
    /// The first limit that ended the run or left something undone.
    pub stopped_by: Option<Limit>,
    /// The statistics of each pattern, in the order of the set.
    pub patterns: Vec<PatternStats>,
    /// The contract violations of patterns.
    pub problems: Vec<PatternProblem>,
    /// The patterns that were disabled after one of the [`problems`](Self::problems), in that order, with registered folds
    /// (`fold of add`) and the cost model: the rest of the function was rewritten without them.
    pub disabled: Vec<String>,
    /// The sets of patterns that undid each other's work in a cycle; empty if the run converged.
    pub cycles: Vec<Vec<String>>,
    /// The patterns that fired last, latest first, if the limit on rewrites ended the run.
    pub last_fired: Vec<String>,
}

impl fmt::Display for GreedyStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [rewrites, folds] = [(self.rewrites, "rewrite"), (self.folds, "fold")]
            .map(|(number, noun)| counted(number, noun));
        let (erased, merged, rounds) = (self.erased, self.merged, counted(self.rounds, "round"));
        write!(f, "{rewrites}, {folds}, {erased} erased, {merged} merged in {rounds}")?;
        self.warnings().iter().try_for_each(|warning| write!(f, "\n{warning}"))
    }
}

/// A limit of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Limit {
    /// The number of rounds: [`GreedyConfig::max_iterations`](super::GreedyConfig::max_iterations).
    Rounds(usize),
    /// The number of folds and rewrites: [`GreedyConfig::max_rewrites`](super::GreedyConfig::max_rewrites).
    Rewrites(usize),
    /// The number of elements of all folded constants together, a multiple of
    /// [`max_elements`](sapwood_ptir::eval::FoldLimits::max_elements).
    FoldedElements(u64),
    /// The number of operations of all folds together, a multiple of
    /// [`max_elements`](sapwood_ptir::eval::FoldLimits::max_elements).
    FoldWork(u64),
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let option = "`fold-limit` (`limit` of the pass `fold`)";
        match self {
            Self::Rounds(most) => {
                write!(f, "stopped at {}, the `max-iterations`", counted(*most, "round"))
            }
            Self::Rewrites(most) => {
                let rewrites = counted(*most, "rewrite");
                write!(f, "stopped at {rewrites}, folds included, the `max-rewrites`")
            }
            Self::FoldedElements(most) => {
                write!(f, "all folded constants together stopped at {most} elements")?;
                write!(f, ", a larger {option} allows more")
            }
            Self::FoldWork(most) => {
                write!(f, "all folds together stopped at {most} operations")?;
                write!(f, ", a larger {option} allows more")
            }
        }
    }
}

/// The counts of one pattern.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PatternStats {
    /// The name of the pattern.
    pub name: &'static str,
    /// The number of attempts.
    pub tried: usize,
    /// The number of attempts that matched.
    pub matched: usize,
    /// The number of attempts whose rewrite was applied.
    pub applied: usize,
}

/// A contract violation of a pattern. The attempt was rolled back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PatternProblem {
    /// The name of the pattern.
    pub pattern: String,
    /// The op of the root.
    pub op: &'static str,
    /// The kind of violation.
    pub kind: ProblemKind,
}

/// A kind of contract violation of a pattern.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ProblemKind {
    /// The pattern reported a change but changed nothing.
    NothingChanged,
    /// The pattern changed something but reported no change.
    ChangedWithoutReporting,
    /// The pattern returned a value of another type for a result.
    Type {
        /// The type of the result.
        expected: Box<ValueType>,
        /// The type of the value.
        found: Box<ValueType>,
    },
    /// Its replacement does not fit for another reason, or the program would not verify with it.
    Invalid(String),
    /// The pattern panicked.
    Panicked(String),
    /// The pattern read definitions further away than it declares.
    ExceedsHops {
        /// The number of definitions it went back.
        hops: u8,
        /// The number of definitions it declares.
        declared: u8,
    },
    /// The pattern would have fired although its gate excludes the root.
    FiresOutsideGate,
    /// The pattern failed, and would have fired later although nothing within its [`hops`](crate::Pattern::hops) had changed.
    FiresAfterFailure,
    /// The pattern ended its search for a match early, after too many steps.
    SearchEndedEarly,
    /// The pattern gave up after it tried to stage an instruction that does not fit. Only the first such instruction is reported.
    Refused {
        /// The op of the instruction; `None` if the builder DSL recorded it.
        op: Option<&'static str>,
        /// The reason why it does not fit.
        reason: String,
        /// The line of the root in its source; 0 if it is not known.
        line: u32,
    },
    /// The left side of the pattern matched, but it was not applied, because it needs a freer float mode than the run has.
    NeedsFloatMode(FloatMode),
}

impl fmt::Display for PatternProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pattern `{}` at `{}` ", self.pattern, self.op)?;
        match &self.kind {
            ProblemKind::NothingChanged => f.write_str("reported a change but changed nothing"),
            ProblemKind::ChangedWithoutReporting => {
                f.write_str("changed the program but reported no change")
            }
            ProblemKind::Type { expected, found } => {
                write!(f, "returns a value of type {found} for a result of type {expected}")
            }
            ProblemKind::Invalid(why) => write!(f, "makes the program invalid: {why}"),
            ProblemKind::Panicked(message) => write!(f, "panicked: {message}"),
            ProblemKind::ExceedsHops { hops, declared } => {
                let steps = counted(*hops, "step");
                write!(f, "read a definition {steps} from its root, but declares `hops` {declared}")
            }
            ProblemKind::FiresOutsideGate => {
                f.write_str("would have fired although its gate excludes this root")
            }
            ProblemKind::FiresAfterFailure => f.write_str(
                "would have fired after it failed, although nothing within its `hops` changed",
            ),
            ProblemKind::SearchEndedEarly => {
                f.write_str("was abandoned after too many steps of its search")
            }
            ProblemKind::Refused { op, reason, line } => {
                if *line > 0 {
                    write!(f, "(line {line}) ")?;
                }
                match op {
                    Some(op) => write!(f, "emitted `{op}`, which does not fit: {reason}"),
                    None => write!(f, "built instructions that do not fit: {reason}"),
                }
            }
            ProblemKind::NeedsFloatMode(mode) => {
                write!(
                    f,
                    "was not applied, although its left side matches: on floats it needs `float={mode}`"
                )
            }
        }
    }
}

impl GreedyStats {
    /// Returns true if anything was changed.
    #[must_use]
    pub fn changed(&self) -> bool {
        self.rewrites + self.folds + self.erased + self.merged > 0
    }

    /// Sets the names of the patterns.
    pub(crate) fn name_patterns(&mut self, set: &FrozenPatternSet) {
        for (pattern, name) in self.patterns.iter_mut().zip(set.names()) {
            pattern.name = name;
        }
    }

    /// Takes everything but the counts, to be added in the order of the functions: sums need no order, lists do.
    pub(crate) fn take_all_but_counts(&mut self) -> Option<Self> {
        let notes = Self {
            stopped_by: self.stopped_by.take(),
            problems: std::mem::take(&mut self.problems),
            disabled: std::mem::take(&mut self.disabled),
            cycles: std::mem::take(&mut self.cycles),
            last_fired: std::mem::take(&mut self.last_fired),
            converged: self.converged,
            ..Self::default()
        };
        (!notes.converged || !notes.problems.is_empty()).then_some(notes)
    }

    /// Adds the statistics of another run with the same patterns.
    pub fn add(&mut self, other: &Self) {
        let first = self.rounds == 0 && self.visits == 0;
        self.converged = other.converged && (first || self.converged);
        self.stopped_by = self.stopped_by.or(other.stopped_by);
        self.rewrites += other.rewrites;
        self.folds += other.folds;
        self.erased += other.erased;
        self.merged += other.merged;
        self.rounds += other.rounds;
        self.visits += other.visits;
        self.examined += other.examined;
        self.attempts += other.attempts;
        self.attempts_saved += other.attempts_saved;
        if self.patterns.is_empty() {
            self.patterns = other.patterns.clone();
        } else {
            for (mine, other) in self.patterns.iter_mut().zip(&other.patterns) {
                mine.tried += other.tried;
                mine.matched += other.matched;
                mine.applied += other.applied;
            }
        }
        append_missing(&mut self.problems, &other.problems);
        append_missing(&mut self.disabled, &other.disabled);
        append_missing(&mut self.cycles, &other.cycles);
        if self.last_fired.is_empty() {
            self.last_fired = other.last_fired.clone();
        }
    }

    /// Returns what went wrong: the contract violations of patterns, cycles, disabled patterns, and the limit that ended the run.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let mut list: Vec<String> = self.problems.iter().map(ToString::to_string).collect();
        for cycle in &self.cycles {
            let names = cycle.join("`, `");
            list.push(format!("patterns rewrite each other's results in a cycle: `{names}`"));
        }
        if !self.disabled.is_empty() {
            list.push(format!("disabled after a problem: `{}`", self.disabled.join("`, `")));
        }
        if let Some(limit) = &self.stopped_by {
            let rounds = counted(self.rounds, "round");
            let rewrites = counted(self.rewrites + self.folds, "rewrite");
            let mut text = format!("not converged after {rounds} and {rewrites}: {limit}");
            if !self.last_fired.is_empty() {
                let names = self.last_fired.join("`, `");
                let _ = write!(text, "; the last patterns that fired: `{names}`");
            }
            list.push(text);
        }
        list
    }
}

// Appends the elements that the list does not contain yet.
fn append_missing<T: Clone + PartialEq>(list: &mut Vec<T>, others: &[T]) {
    for other in others {
        if !list.contains(other) {
            list.push(other.clone());
        }
    }
}
