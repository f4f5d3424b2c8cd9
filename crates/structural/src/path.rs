//! Places inside a graph: `<root>.body[1]["k"]`.

use std::fmt;

use crate::values::Value;

/// One step of a [`Path`].
#[derive(Clone)]
pub enum Step {
    /// Into a field.
    Field(Box<str>),
    /// Into the element at an index.
    Index(usize),
    /// Into the value at a key of a map, or a member of a set.
    Key(Value),
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name) => write!(f, ".{name}"),
            Self::Index(index) => write!(f, "[{index}]"),
            Self::Key(key) => write!(f, "[{}]", crate::display::abridged(key.view())),
        }
    }
}

/// The way from a root to a place below it. Prints as `<root>.body[1]["k"]`; a path of more than
/// 64 steps is abridged in print, never in [`Path::steps`].
///
/// Paths are found from the inside out, so the innermost step comes first: seen from further out, a
/// path of a million steps grows by one.
#[derive(Clone, Default)]
pub struct Path(Vec<Step>);

impl Path {
    /// The root itself.
    #[must_use]
    pub fn root() -> Self {
        Self::default()
    }

    /// The steps, outermost first.
    pub fn steps(&self) -> impl ExactSizeIterator<Item = &Step> + DoubleEndedIterator {
        self.0.iter().rev()
    }

    /// The same place, seen from further out: `outer` leads to where this path starts.
    pub(crate) fn prefix(&mut self, outer: Self) {
        self.0.extend(outer.0);
    }

    /// `inner`, seen from the start of `self`.
    #[must_use]
    pub fn join(&self, inner: &Self) -> Self {
        Self(inner.0.iter().chain(&self.0).cloned().collect())
    }
}

impl From<Step> for Path {
    fn from(step: Step) -> Self {
        Self(vec![step])
    }
}

impl FromIterator<Step> for Path {
    fn from_iter<I: IntoIterator<Item = Step>>(steps: I) -> Self {
        let mut steps: Vec<Step> = steps.into_iter().collect();
        steps.reverse();
        Self(steps)
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 32;
        f.write_str("<root>")?;
        let mut steps = self.steps();
        let hidden = steps.len().saturating_sub(2 * SHOWN);
        if hidden > 0 {
            steps.by_ref().take(SHOWN).try_for_each(|step| write!(f, "{step}"))?;
            write!(f, " … {hidden} steps … ")?;
        }
        steps.skip(hidden).try_for_each(|step| write!(f, "{step}"))
    }
}

impl fmt::Debug for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl PartialEq for Path {
    /// By their steps; keys structurally. Keys that cannot be compared are not equal.
    fn eq(&self, other: &Self) -> bool {
        self.0.len() == other.0.len()
            && self.steps().zip(other.steps()).all(|(a, b)| match (a, b) {
                (Step::Field(a), Step::Field(b)) => a == b,
                (Step::Index(a), Step::Index(b)) => a == b,
                (Step::Key(a), Step::Key(b)) => crate::equal(a, b).unwrap_or(false),
                _ => false,
            })
    }
}
