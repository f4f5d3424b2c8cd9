//! Errors of the node constructors.

use sapwood_types::{DataType, counted};

/// The reason why a node could not be constructed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IrError {
    /// A constant with a data type that cannot represent it.
    #[error("a {constant} cannot have the data type {}; it needs {needs}", .dtype.document_name())]
    ConstantType {
        /// `ConstInt` or `ConstFloat`.
        constant: &'static str,
        /// The given data type.
        dtype: DataType,
        /// A description of the data types that are allowed.
        needs: &'static str,
    },
    /// A tuple index that is out of range.
    #[error("tuple index {index} is out of range: the tuple has {}", counted(*.len, "element"))]
    TupleIndex {
        /// The given index.
        index: usize,
        /// The number of elements of the tuple.
        len: usize,
    },
    /// An element access on a value that is not a tuple.
    #[error("element {index} of a value of type {found}, which is not a tuple")]
    NotATuple {
        /// The given index.
        index: usize,
        /// The type of the value.
        found: String,
    },
    /// Two functions of a program with the same name.
    #[error("the program has two functions called `{0}`; give each its own name")]
    DuplicateFunction(String),
    /// An expression that is not the required kind of variable.
    #[error("expected {expected}, found {found}")]
    WrongNode {
        /// The required node.
        expected: &'static str,
        /// The given node.
        found: String,
    },
}
