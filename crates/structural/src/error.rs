//! What can go wrong, and where.

use crate::path::Path;
use crate::view::View;

/// Why two graphs could not be compared, or one not hashed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A node of a type that is not comparable was reached.
    #[error("{path}: nodes of type {key} are not comparable (their kind is none)")]
    Uncomparable {
        /// The type.
        key: &'static str,
        /// Where it was reached.
        path: Path,
    },
    /// A type that promises to hold no variables and no dag nodes holds one.
    #[error("{path}: {key} is declared {kind}, but holds {held} below; declare it tree")]
    NotConstant {
        /// The type.
        key: &'static str,
        /// Its kind.
        kind: &'static str,
        /// What it holds.
        held: &'static str,
        /// Where it was reached.
        path: Path,
    },
    /// A scope binds a variable that a scope around it binds already.
    #[error(
        "{inner}: {variable} is bound here, inside a scope, and already at {outer}, in a scope around it; give the inner one a variable of its own"
    )]
    Shadowing {
        /// The variable, printed.
        variable: String,
        /// Where the enclosing scope binds it.
        outer: Path,
        /// Where the inner scope binds it.
        inner: Path,
        /// The number of the outer binding in the walk.
        #[doc(hidden)]
        binding: usize,
    },
    /// Keys of a map have the same hash (singletons of one content, dag nodes that are shared
    /// differently, or a hook that hashes little), and the order in which their values are visited
    /// would matter.
    #[error(
        "{path}: keys of this map differ and have the same hash, and {reason}; give the keys contents that differ, or bind the variable outside the map"
    )]
    KeyCollision {
        /// Why the order would matter.
        reason: &'static str,
        /// The map.
        path: Path,
    },
    /// A map or set was given the same key twice.
    #[error("the key {key} stands twice in this {container}")]
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
        /// Where.
        path: Path,
        /// What the hook said.
        error: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl Error {
    /// The same error, its place seen from further out.
    pub(crate) fn within(mut self, outer: Path) -> Self {
        match &mut self {
            Self::Uncomparable { path, .. }
            | Self::NotConstant { path, .. }
            | Self::KeyCollision { path, .. }
            | Self::Hook { path, .. }
            | Self::Shadowing { inner: path, .. } => path.prefix(outer),
            Self::DuplicateKey { .. } => {}
        }
        self
    }
}

/// Why a type could not be registered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TypeError {
    /// The key is taken.
    #[error("a type called {0} is registered already")]
    Duplicate(String),
    /// One hook without the other.
    #[error("{key} has a hook for {given} and none for {missing}; they come as a pair")]
    HalfAHook {
        /// The type.
        key: String,
        /// The hook that is there.
        given: &'static str,
        /// The hook that is not.
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
    /// A name that no type has.
    #[error("no type called {key} is registered{}", did_you_mean(.hint))]
    Unknown {
        /// The name.
        key: String,
        /// The nearest name that a type has.
        hint: Option<String>,
    },
    /// `get` of a type that is not a singleton.
    #[error("{0} is not a singleton: make its nodes with new")]
    NotSingleton(String),
}

fn did_you_mean(hint: &Option<String>) -> String {
    hint.as_ref().map(|hint| format!("; did you mean {hint}?")).unwrap_or_default()
}

/// Why a node could not be made from values.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct BuildError {
    message: String,
}

impl BuildError {
    /// An error with this message.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }

    /// An error that says what was expected and what was there.
    #[must_use]
    pub fn expected(what: &str, found: View<'_>) -> Self {
        Self::new(format!(
            "expected {what}, found {} {}",
            found.sort(),
            crate::display::abridged(found)
        ))
    }

    /// The same error, of the field `name` of `key`.
    #[must_use]
    pub fn in_field(self, key: &str, name: &str) -> Self {
        Self::new(format!("field {name} of {key}: {}", self.message))
    }

    /// The same error, of the element at `index`.
    #[must_use]
    pub fn at_index(self, index: usize) -> Self {
        Self::new(format!("element {index}: {}", self.message))
    }
}
