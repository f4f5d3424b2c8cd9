//! The errors of writing and reading graphs in JSON.

use sapwood_types::counted;

use crate::error::TypeError;
use crate::path::NodePath;
use crate::singletons::ConstructError;

/// An error of writing a graph.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JsonWriteError {
    /// A singleton that could not be restored as the same object.
    #[error("{path}: this {key} did not come from its `get`, so reading could not restore it")]
    Singleton {
        /// Its type.
        key: &'static str,
        /// The path of its first occurrence.
        path: NodePath,
    },
    /// Text, bytes, a tensor or an integer behind a node pointer, where a node is needed.
    #[error("{path}: {key} is a value and cannot be used as a node")]
    ValueAsNode {
        /// The sort of value.
        key: &'static str,
        /// The path of its first occurrence.
        path: NodePath,
    },
    /// Lists without identity nest deeper than any Rust type nests them.
    #[error("{path}: lists nest more than {limit} deep; use a `Seq`, which may nest to any depth")]
    Nesting {
        /// The path of the outermost list.
        path: NodePath,
        /// The deepest nesting that is written.
        limit: usize,
    },
}

/// An error of reading a graph.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JsonReadError {
    /// The text is not JSON.
    #[error("line {line}, column {column}: expected {expected}, found {found}")]
    Syntax {
        /// The line, from 1.
        line: usize,
        /// The column, from 1, in bytes.
        column: usize,
        /// The expected thing.
        expected: &'static str,
        /// The found thing.
        found: String,
    },
    /// The version of the form is newer than this reader.
    #[error("the graph is of version {found}, and this reads versions up to {known}")]
    Version {
        /// The version given.
        found: u64,
        /// The newest version known.
        known: u64,
    },
    /// The document lacks one of its four parts.
    #[error("the graph has no {0:?}")]
    Missing(&'static str),
    /// A key occurs twice in an object.
    #[error("line {line}, column {column}: duplicate key {key:?}")]
    DuplicateKey {
        /// The line, from 1.
        line: usize,
        /// The column, from 1, in bytes.
        column: usize,
        /// The key.
        key: String,
    },
    /// A type is not registered, or occurs twice in the table.
    #[error("type {index}: {error}")]
    Type {
        /// Its index in the table of types.
        index: usize,
        /// The reason.
        error: TypeError,
    },
    /// A field that the registered type does not have.
    #[error(
        "type {index}: {key} has no field called {field}{}",
        hint.as_ref().map(|hint| format!("; did you mean {hint}?")).unwrap_or_default()
    )]
    Field {
        /// The index of the type in the table of types.
        index: usize,
        /// The type.
        key: &'static str,
        /// The field.
        field: String,
        /// The nearest name that a field has.
        hint: Option<String>,
    },
    /// A child is not of the expected sort.
    #[error("{location}: expected {expected}, found {found}")]
    Expected {
        /// Row and field.
        location: GraphRowLocation,
        /// The expected thing.
        expected: String,
        /// The found thing.
        found: String,
    },
    /// A reference to a row that is not an earlier one.
    #[error(
        "{location}: refers to row {target}, and only the {} before it can be referred to",
        counted(*earlier, "row")
    )]
    Reference {
        /// Row and field.
        location: GraphRowLocation,
        /// The row referred to.
        target: u64,
        /// The number of earlier rows.
        earlier: usize,
    },
    /// The number of children of a row is not the number of fields of its type.
    #[error("{location}: {key} is written with {}, found {found}", counted(*expected, "field"))]
    Count {
        /// The row.
        location: GraphRowLocation,
        /// Its type.
        key: &'static str,
        /// The number of fields that the table of types lists.
        expected: usize,
        /// The number of children of the row.
        found: usize,
    },
    /// A node could not be built from its children.
    #[error("{location}: {error}")]
    Build {
        /// The row.
        location: GraphRowLocation,
        /// The reason.
        error: ConstructError,
    },
}

/// A location in the table of nodes: a row and a field.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GraphRowLocation {
    /// The row; `None` for the root.
    pub row: Option<usize>,
    /// The name of the field, or the index of the child; `None` for the row as a whole.
    pub field: Option<String>,
}

impl std::fmt::Display for GraphRowLocation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.row {
            Some(row) => write!(f, "row {row}")?,
            None => f.write_str("root")?,
        }
        self.field.as_ref().map_or(Ok(()), |field| write!(f, ", field {field}"))
    }
}
