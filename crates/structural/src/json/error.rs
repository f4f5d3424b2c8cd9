//! What can be wrong with a graph in JSON, and where.

use sapwood_types::counted;

use crate::error::TypeError;
use crate::intern::GetError;
use crate::path::Path;

/// Why a graph could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JsonWriteError {
    /// A singleton that could not be restored as the same object.
    #[error("{path}: this {key} did not come from its `get`, so reading could not restore it")]
    Singleton {
        /// Its type.
        key: &'static str,
        /// Where it was met first.
        path: Path,
    },
    /// Text, bytes, a tensor or an integer behind a node pointer, which no field can be given.
    #[error("{path}: {key} is a value and stands in the place of a node")]
    ValueAsNode {
        /// What it is.
        key: &'static str,
        /// Where it was met first.
        path: Path,
    },
    /// Lists without identity in each other, deeper than any Rust type has them.
    #[error("{path}: lists nest more than {limit} deep; a `Seq` may nest as deep as it likes")]
    Nesting {
        /// Where.
        path: Path,
        /// How deep they may nest.
        limit: usize,
    },
}

/// Why a graph could not be read.
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
        /// What should be there.
        expected: &'static str,
        /// What is there.
        found: String,
    },
    /// The form is one that this version does not know.
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
    /// A key stands twice in an object.
    #[error("line {line}, column {column}: the key {key:?} stands here for the second time")]
    Twice {
        /// The line, from 1.
        line: usize,
        /// The column, from 1, in bytes.
        column: usize,
        /// The key.
        key: String,
    },
    /// A type is not registered, or stands twice in the table.
    #[error("type {index}: {error}")]
    Type {
        /// Its place in the table of types.
        index: usize,
        /// What is wrong.
        error: TypeError,
    },
    /// A field that the registered type does not have.
    #[error(
        "type {index}: {key} has no field called {field}{}",
        hint.as_ref().map(|hint| format!("; did you mean {hint}?")).unwrap_or_default()
    )]
    Field {
        /// The place of the type in the table of types.
        index: usize,
        /// The type.
        key: &'static str,
        /// The field.
        field: String,
        /// The nearest name that a field has.
        hint: Option<String>,
    },
    /// Something else stands where a child of some sort is needed.
    #[error("{place}: expected {expected}, found {found}")]
    Expected {
        /// Row and field.
        place: JsonPlace,
        /// What should be there.
        expected: String,
        /// What is there.
        found: String,
    },
    /// A reference to a row that does not come earlier.
    #[error(
        "{place}: refers to row {target}, and only the {} before it can be referred to",
        counted(*earlier, "row")
    )]
    Reference {
        /// Row and field.
        place: JsonPlace,
        /// The row referred to.
        target: u64,
        /// How many rows come before.
        earlier: usize,
    },
    /// A row does not have as many children as its type has fields.
    #[error("{place}: {key} is written with {}, found {found}", counted(*expected, "field"))]
    Count {
        /// The row.
        place: JsonPlace,
        /// Its type.
        key: &'static str,
        /// How many fields the table of types names.
        expected: usize,
        /// How many children the row has.
        found: usize,
    },
    /// A node could not be made from its children.
    #[error("{place}: {error}")]
    Build {
        /// The row.
        place: JsonPlace,
        /// What is wrong.
        error: GetError,
    },
}

/// A place in the table of nodes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JsonPlace {
    /// The row; nothing for the root.
    pub row: Option<usize>,
    /// The name of the field, or the number of the child; nothing for the row as a whole.
    pub field: Option<String>,
}

impl std::fmt::Display for JsonPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.row {
            Some(row) => write!(f, "row {row}")?,
            None => f.write_str("root")?,
        }
        self.field.as_ref().map_or(Ok(()), |field| write!(f, ", field {field}"))
    }
}
