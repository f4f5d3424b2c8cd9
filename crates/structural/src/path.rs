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
#[derive(Clone, Default)]
pub struct Path(Vec<Step>);

impl Path {
    /// The root itself.
    #[must_use]
    pub fn root() -> Self {
        Self::default()
    }

    /// The steps, outermost first.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    /// `inner`, seen from the start of `self`.
    #[must_use]
    pub fn join(&self, inner: &Self) -> Self {
        Self(self.0.iter().chain(&inner.0).cloned().collect())
    }
}

impl FromIterator<Step> for Path {
    fn from_iter<I: IntoIterator<Item = Step>>(steps: I) -> Self {
        Self(steps.into_iter().collect())
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 32;
        f.write_str("<root>")?;
        let steps = &self.0;
        if steps.len() <= 2 * SHOWN {
            return steps.iter().try_for_each(|step| write!(f, "{step}"));
        }
        steps[..SHOWN].iter().try_for_each(|step| write!(f, "{step}"))?;
        write!(f, " … {} steps … ", steps.len() - 2 * SHOWN)?;
        steps[steps.len() - SHOWN..].iter().try_for_each(|step| write!(f, "{step}"))
    }
}

impl fmt::Debug for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl PartialEq for Path {
    /// By their steps; keys by what they print.
    fn eq(&self, other: &Self) -> bool {
        self.0.len() == other.0.len()
            && self.0.iter().zip(&other.0).all(|(a, b)| match (a, b) {
                (Step::Field(a), Step::Field(b)) => a == b,
                (Step::Index(a), Step::Index(b)) => a == b,
                (Step::Key(a), Step::Key(b)) => crate::equal(a, b).unwrap_or(false),
                _ => false,
            })
    }
}
