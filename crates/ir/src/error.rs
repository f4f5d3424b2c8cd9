//! What a constructor refuses.

use sapwood_types::{DataType, counted};

/// Why a node could not be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IrError {
    /// A constant of a data type that does not hold such values.
    #[error("a {constant} cannot have the data type {}; it needs {needs}", .dtype.document_name())]
    ConstantType {
        /// `ConstInt` or `ConstFloat`.
        constant: &'static str,
        /// What was given.
        dtype: DataType,
        /// What would be right.
        needs: &'static str,
    },
    /// An element that a tuple does not have.
    #[error("tuple index {index} is out of range: the tuple has {}", counted(*.len, "element"))]
    TupleIndex {
        /// What was asked for.
        index: usize,
        /// How many there are.
        len: usize,
    },
    /// An element of what is not a tuple.
    #[error("element {index} of a value of type {found}, which is not a tuple")]
    NotATuple {
        /// What was asked for.
        index: usize,
        /// The type of the value.
        found: String,
    },
    /// Two functions of one name in a program.
    #[error("the program has two functions called `{0}`; give each its own name")]
    DuplicateFunction(String),
    /// A variable where an iteration argument has to stand, or the other way round.
    #[error("expected {expected}, found {found}")]
    WrongNode {
        /// What has to stand there.
        expected: &'static str,
        /// What was given.
        found: String,
    },
}
