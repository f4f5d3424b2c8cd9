//! Differences of two values, as users see them.

use std::fmt;

pub use crate::engine::BindingSite;
use crate::engine::Side;
use crate::error::Error;
use crate::path::NodePath;
use crate::view::View;

/// The reason why two values differ.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum MismatchReason {
    /// The values have different types.
    Type,
    /// The values have one type and differ.
    Value,
    /// The values are sequences of different lengths, equal up to the length of the shorter one.
    Length,
    /// A key exists on one side only.
    Missing,
    /// The values are variables, and one is bound to a third one: the pair that was bound, and the site. `None`
    /// if both are free.
    Binding(Option<BindingSite>),
    /// The values are dag nodes of the same content, and one of them is shared where the other is not.
    Sharing,
    /// A hook compares the values as different.
    Hook,
}

impl fmt::Display for MismatchReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Type => f.write_str("their types differ"),
            Self::Value => f.write_str("their values differ"),
            Self::Length => f.write_str("one sequence is longer"),
            Self::Missing => f.write_str("the key exists on one side only"),
            Self::Binding(None) => f.write_str("they are different variables, and both are free"),
            Self::Binding(Some(bound)) => {
                write!(f, "{} is bound to {} at {}", bound.left, bound.right, bound.at)
            }
            Self::Sharing => f.write_str("they are shared differently"),
            Self::Hook => f.write_str("a hook compares them as different"),
        }
    }
}

/// A difference of two values: the paths, the reason and the differing parts.
#[derive(Clone, Debug)]
pub struct Mismatch {
    /// The path on the left.
    pub left: NodePath,
    /// The path on the right.
    pub right: NodePath,
    /// The reason.
    pub reason: MismatchReason,
    /// The part on the left; `None` if it is missing.
    pub left_value: Option<crate::Value>,
    /// The part on the right; `None` if it is missing.
    pub right_value: Option<crate::Value>,
}

impl Mismatch {
    /// Returns the path on one side.
    #[must_use]
    pub fn path(&self, side: Side) -> &NodePath {
        match side {
            Side::Left => &self.left,
            Side::Right => &self.right,
        }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |value: &Option<crate::Value>| match value {
            Some(value) => format!("{value:?}"),
            None => "nothing".to_owned(),
        };
        match (&self.reason, &self.left_value, &self.right_value) {
            // Abridged forms leave out the part of a type key before the last dot.
            (MismatchReason::Type, Some(left), Some(right)) => {
                writeln!(f, "{}: {} and {}", self.reason, type_name(left), type_name(right))?;
            }
            (reason, ..) => writeln!(f, "{reason}")?,
        }
        writeln!(f, "  left  {}: {}", self.left, shown(&self.left_value))?;
        write!(f, "  right {}: {}", self.right, shown(&self.right_value))
    }
}

fn type_name(value: &crate::Value) -> &'static str {
    match value.view() {
        View::Node(node) => node.info().key(),
        other => other.sort_name(),
    }
}

/// The failure of [`crate::StructuralOptions::assert_equal`].
#[derive(Debug, thiserror::Error)]
pub enum NotEqual {
    /// The values differ.
    #[error("not structurally equal: {0}")]
    Differ(Box<Mismatch>),
    /// The values could not be compared.
    #[error(transparent)]
    Failed(#[from] Error),
}
