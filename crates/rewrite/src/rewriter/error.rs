//! The error of a refused edit.

use sapwood_ptir::{EditError, OpError, ValueType};

/// The reason why a [`ProgramRewriter`](crate::ProgramRewriter) refused an edit. The function is unchanged.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RewriteError {
    /// The place, the values or the uses do not fit.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// Operands, attributes or regions do not fit the op.
    #[error("{op}: {error}")]
    Op {
        /// The op.
        op: &'static str,
        /// The reason.
        error: OpError,
    },
    /// The edit would change the type of a result that other instructions use.
    #[error("{op}: the result would be {found}, expected {expected}")]
    ResultType {
        /// The op.
        op: &'static str,
        /// The type the result has.
        expected: Box<ValueType>,
        /// The type the result would have.
        found: Box<ValueType>,
    },
    /// The op has another number of results than the edit needs.
    #[error("{op}: expected {expected} value(s), found {found}")]
    Count {
        /// The op.
        op: &'static str,
        /// The number that is needed.
        expected: usize,
        /// The number that was found.
        found: usize,
    },
}
