//! Paths to nodes inside a graph, such as `<root>.body[1]["k"]`.

use std::fmt;

use crate::values::Value;

/// One step of a [`NodePath`].
#[derive(Clone)]
pub enum PathStep {
    /// Into a field.
    Field(Box<str>),
    /// Into the element at an index.
    Index(usize),
    /// Into the value at a key of a map, or a member of a set.
    Key(Value),
}

impl fmt::Debug for PathStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for PathStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name) => write!(f, ".{name}"),
            Self::Index(index) => write!(f, "[{index}]"),
            Self::Key(key) => write!(f, "[{}]", crate::display::abridged(key.view())),
        }
    }
}

/// A path from a root to a node or value below it. Displays as `<root>.body[1]["k"]`; the display of more than
/// 64 steps is abridged, [`NodePath::steps`] never.
///
/// Paths are built from the inside out and stored innermost step first, so that prepending a step to a path of
/// a million steps is cheap.
#[derive(Clone, Default)]
pub struct NodePath(Vec<PathStep>);

impl NodePath {
    /// Returns the path of the root itself.
    #[must_use]
    pub fn root() -> Self {
        Self::default()
    }

    /// Returns the steps, outermost first.
    pub fn steps(&self) -> impl ExactSizeIterator<Item = &PathStep> + DoubleEndedIterator {
        self.0.iter().rev()
    }

    /// Prepends a path: `outer` leads to the start of this one.
    pub(crate) fn prepend(&mut self, outer: Self) {
        self.0.extend(outer.0);
    }

    /// Returns the path that continues with `inner` after this one.
    #[must_use]
    pub fn join(&self, inner: &Self) -> Self {
        Self(inner.0.iter().chain(&self.0).cloned().collect())
    }
}

impl From<PathStep> for NodePath {
    fn from(step: PathStep) -> Self {
        Self(vec![step])
    }
}

impl FromIterator<PathStep> for NodePath {
    fn from_iter<I: IntoIterator<Item = PathStep>>(steps: I) -> Self {
        let mut steps: Vec<PathStep> = steps.into_iter().collect();
        steps.reverse();
        Self(steps)
    }
}

impl fmt::Display for NodePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MAX_END_STEPS: usize = 32;
        f.write_str("<root>")?;
        let mut steps = self.steps();
        let hidden = steps.len().saturating_sub(2 * MAX_END_STEPS);
        if hidden > 0 {
            steps.by_ref().take(MAX_END_STEPS).try_for_each(|step| write!(f, "{step}"))?;
            write!(f, " … {hidden} steps … ")?;
        }
        steps.skip(hidden).try_for_each(|step| write!(f, "{step}"))
    }
}

impl fmt::Debug for NodePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl PartialEq for NodePath {
    /// Compares paths step by step, keys by structure. Keys that cannot be compared are unequal.
    fn eq(&self, other: &Self) -> bool {
        self.0.len() == other.0.len()
            && self.steps().zip(other.steps()).all(|(a, b)| match (a, b) {
                (PathStep::Field(a), PathStep::Field(b)) => a == b,
                (PathStep::Index(a), PathStep::Index(b)) => a == b,
                (PathStep::Key(a), PathStep::Key(b)) => crate::equal(a, b).unwrap_or(false),
                _ => false,
            })
    }
}
