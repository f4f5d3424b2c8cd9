//! What a run did.

use std::fmt;

use sapwood_ptir::ValueType;
use sapwood_types::counted;

use crate::pattern::FrozenPatternSet;

/// What a run of the greedy driver did.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GreedyStats {
    /// How often a pattern changed something.
    pub rewrites: usize,
    /// How many instructions were folded.
    pub folds: usize,
    /// How many instructions were erased because nothing used them.
    pub erased: usize,
    /// How many instructions gave way to an equal one, constants included.
    pub merged: usize,
    /// How many rounds it took.
    pub rounds: usize,
    /// How many instructions were looked at, each time counted.
    pub visits: usize,
    /// How many operands were asked whether an instruction must wait for them, and how many carried values and results of
    /// instructions with many of them were looked at.
    pub looked_at: usize,
    /// How often a pattern was tried.
    pub attempts: usize,
    /// Whether nothing was left to do. It is false if a limit ended the run, if patterns took turns without end, or if a
    /// pattern was [switched off](Self::disabled).
    pub converged: bool,
    /// The limit that ended the run or left something undone, the first if there were several.
    pub stopped_by: Option<Limit>,
    /// Per pattern of the set, in its order.
    pub patterns: Vec<PatternStats>,
    /// What is wrong with patterns, by name.
    pub problems: Vec<PatternProblem>,
    /// The patterns that were switched off after one of the [`problems`](Self::problems), in that order, with registered
    /// folds (`fold of add`) and the cost model: the rest of the function was rewritten without them.
    pub disabled: Vec<String>,
    /// Patterns that took turns without end; nothing if it converged.
    pub cycles: Vec<Vec<String>>,
    /// If the budget ran out: the patterns that fired last, latest first.
    pub last_fired: Vec<String>,
}

/// What a run may use up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Limit {
    /// The rounds: [`GreedyConfig::max_iterations`](super::GreedyConfig::max_iterations).
    Rounds(usize),
    /// Folds and rewrites: [`GreedyConfig::max_rewrites`](super::GreedyConfig::max_rewrites).
    Rewrites(usize),
    /// The elements of all folded constants together, a multiple of
    /// [`max_elements`](sapwood_ptir::eval::FoldLimits::max_elements).
    FoldedElements(u64),
    /// The operations that all folds took together, a multiple of
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

/// How often a pattern did what.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PatternStats {
    /// Its name.
    pub name: String,
    /// How often it was tried.
    pub tried: usize,
    /// How often it said yes.
    pub matched: usize,
    /// How often what it wanted was done.
    pub applied: usize,
}

/// A pattern that did not keep its word. The program is as it was before that attempt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PatternProblem {
    /// Its name.
    pub pattern: String,
    /// The op it was tried at.
    pub op: &'static str,
    /// What it did.
    pub kind: ProblemKind,
}

/// What a pattern did wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ProblemKind {
    /// It said yes and changed nothing.
    NothingChanged,
    /// It said no after it had changed something.
    ChangedAndSaidNo,
    /// It gave a value of another type for a result.
    Type {
        /// The type of the result.
        expected: Box<ValueType>,
        /// The type of the value.
        found: Box<ValueType>,
    },
    /// Its replacement does not fit for another reason, or the program would not verify with it.
    Invalid(String),
    /// It panicked.
    Panicked(String),
    /// It looked this far along definitions, further than it says.
    LooksTooFar {
        /// How far it looked.
        hops: u8,
        /// How far it says it looks.
        stated: u8,
    },
    /// It would have fired where it says that it is not worth a try.
    NotTried,
}

impl fmt::Display for PatternProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pattern `{}` at `{}` ", self.pattern, self.op)?;
        match &self.kind {
            ProblemKind::NothingChanged => f.write_str("said yes but changed nothing"),
            ProblemKind::ChangedAndSaidNo => f.write_str("changed something and said no"),
            ProblemKind::Type { expected, found } => {
                write!(f, "gives a value of type {found} for a result of type {expected}")
            }
            ProblemKind::Invalid(why) => write!(f, "makes the program invalid: {why}"),
            ProblemKind::Panicked(message) => write!(f, "panicked: {message}"),
            ProblemKind::LooksTooFar { hops, stated } => {
                write!(f, "looked {hops} definitions far, but says {stated}")
            }
            ProblemKind::NotTried => {
                f.write_str("would have fired where it says it is not worth a try")
            }
        }
    }
}

impl GreedyStats {
    /// Whether anything was changed.
    #[must_use]
    pub fn changed(&self) -> bool {
        self.rewrites + self.folds + self.erased + self.merged > 0
    }

    /// Says which patterns the numbers are of.
    pub(crate) fn name_patterns(&mut self, set: &FrozenPatternSet) {
        for (pattern, name) in self.patterns.iter_mut().zip(set.names()) {
            name.clone_into(&mut pattern.name);
        }
    }

    /// Takes everything but the counts, to be added in the order of the functions: sums need no order, lists do.
    pub(crate) fn take_notes(&mut self) -> Option<Self> {
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

    /// Adds what another run did, over the same patterns.
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
        self.looked_at += other.looked_at;
        self.attempts += other.attempts;
        if self.patterns.is_empty() {
            self.patterns = other.patterns.clone();
        } else {
            for (mine, other) in self.patterns.iter_mut().zip(&other.patterns) {
                mine.tried += other.tried;
                mine.matched += other.matched;
                mine.applied += other.applied;
            }
        }
        add_new(&mut self.problems, &other.problems);
        add_new(&mut self.disabled, &other.disabled);
        add_new(&mut self.cycles, &other.cycles);
        if self.last_fired.is_empty() {
            self.last_fired = other.last_fired.clone();
        }
    }
}

// Appends what is not in the list yet.
fn add_new<T: Clone + PartialEq>(list: &mut Vec<T>, others: &[T]) {
    for other in others {
        if !list.contains(other) {
            list.push(other.clone());
        }
    }
}
