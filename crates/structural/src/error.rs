//! The errors of comparing, hashing, registering types and building nodes.

use crate::path::NodePath;
use crate::view::View;

/// An error of comparing or hashing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A node of a type that is not comparable was reached.
    #[error("{path}: nodes of type {key} are not comparable (their kind is none)")]
    Uncomparable {
        /// The type.
        key: &'static str,
        /// The path at which it was reached.
        path: NodePath,
    },
    /// A type that promises to hold no variables and no dag nodes holds one.
    #[error("{path}: {key} is declared {kind}, but holds {held} below; declare it tree")]
    NotConstant {
        /// The type.
        key: &'static str,
        /// Its kind.
        kind: &'static str,
        /// The thing that it holds.
        held: &'static str,
        /// The path at which it was reached.
        path: NodePath,
    },
    /// A scope binds a variable that an outer scope binds already.
    #[error(
        "{inner}: {variable} is bound here, inside a scope, and already at {outer}, in an outer scope; bind a separate variable in the inner scope"
    )]
    Shadowing {
        /// The variable, printed.
        variable: String,
        /// The path at which the outer scope binds it.
        outer: NodePath,
        /// The path at which the inner scope binds it.
        inner: NodePath,
        /// The number of the outer binding in the walk.
        #[doc(hidden)]
        binding: usize,
    },
    /// Keys of a map have the same hash (singletons of one content, dag nodes that are shared differently, or a
    /// hook that hashes little), and the order in which their values are visited would matter.
    #[error(
        "{path}: keys of this map differ and have the same hash, and {reason}; give the keys contents that differ, or bind the variable outside the map"
    )]
    KeyCollision {
        /// The reason why the order would matter.
        reason: &'static str,
        /// The map.
        path: NodePath,
    },
    /// A map or set was given the same key twice.
    #[error("duplicate key {key} in this {container}")]
    DuplicateKey {
        /// The key, printed.
        key: String,
        /// `map` or `set`.
        container: &'static str,
    },
    /// A hook failed.
    #[error("{path}: a hook of {key} failed: {error}")]
    Hook {
        /// The type whose hook failed.
        key: &'static str,
        /// The path of the node.
        path: NodePath,
        /// The error of the hook.
        error: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl Error {
    /// Returns the error with `outer` in front of its path.
    pub(crate) fn with_outer_path(mut self, outer: NodePath) -> Self {
        match &mut self {
            Self::Uncomparable { path, .. }
            | Self::NotConstant { path, .. }
            | Self::KeyCollision { path, .. }
            | Self::Hook { path, .. }
            | Self::Shadowing { inner: path, .. } => path.prepend(outer),
            Self::DuplicateKey { .. } => {}
        }
        self
    }
}

/// An error of registering or looking up a type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TypeError {
    /// The key is taken.
    #[error("a type called {0} is registered already")]
    Duplicate(String),
    /// One of the two hooks is missing.
    #[error("{key} has a hook for {given} and none for {missing}; they come as a pair")]
    MissingHook {
        /// The type.
        key: String,
        /// The hook that was given.
        given: &'static str,
        /// The hook that is missing.
        missing: &'static str,
    },
    /// Two fields of one name, base types included.
    #[error("{key} has two fields called {field}")]
    DuplicateField {
        /// The type.
        key: String,
        /// The field.
        field: String,
    },
    /// No type has this name.
    #[error("no type called {key} is registered{}", did_you_mean(.hint))]
    Unknown {
        /// The name.
        key: String,
        /// The nearest name that a type has.
        hint: Option<String>,
    },
    /// `get` was called for a type that is not a singleton.
    #[error("{0} is not a singleton: make its nodes with new")]
    NotSingleton(String),
}

fn did_you_mean(hint: &Option<String>) -> String {
    hint.as_ref().map(|hint| format!("; did you mean {hint}?")).unwrap_or_default()
}

/// An error of building a node from values.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct BuildError {
    message: String,
}

impl BuildError {
    /// Creates an error with this message.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }

    /// Creates an error that states the expected and the found value.
    #[must_use]
    pub fn expected(expected: &str, found: View<'_>) -> Self {
        Self::new(format!(
            "expected {expected}, found {} {}",
            found.sort_name(),
            crate::display::abridged(found)
        ))
    }

    /// Returns the error with the field `name` of `key` in front.
    #[must_use]
    pub fn in_field(self, key: &str, name: &str) -> Self {
        Self::new(format!("field {name} of {key}: {}", self.message))
    }

    /// Returns the error with the index of an element in front.
    #[must_use]
    pub fn at_index(self, index: usize) -> Self {
        Self::new(format!("element {index}: {}", self.message))
    }
}
