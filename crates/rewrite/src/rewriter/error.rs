//! Why an edit was refused.

use sapwood_ptir::{EditError, OpError, ValueType};

/// Why a [`ProgramRewriter`](crate::ProgramRewriter) refused an edit. The function is as it was.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RewriteError {
    /// Place, values or uses do not fit.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// Operands, attributes or regions do not fit the op.
    #[error("{op}: {error}")]
    Op {
        /// The op.
        op: &'static str,
        /// What does not fit.
        error: OpError,
    },
    /// The edit would change the type of a result that others rely on.
    #[error("{op}: the result would be {found}, but it is {expected}")]
    ResultType {
        /// The op.
        op: &'static str,
        /// The type it has.
        expected: Box<ValueType>,
        /// The type it would have.
        found: Box<ValueType>,
    },
    /// The op has another number of results than needed here.
    #[error("{op}: expected {expected} value(s), found {found}")]
    Count {
        /// The op.
        op: &'static str,
        /// How many are needed.
        expected: usize,
        /// How many there are.
        found: usize,
    },
}
