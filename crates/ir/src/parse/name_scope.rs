//! The scope of names in a text.

use sapwood_structural::Facts;
use sapwood_types::Span;

use crate::nodes::{ExprRef, TypeRef};

type IdSet = hashbrown::HashSet<usize, rustc_hash::FxBuildHasher>;
type NameMap<'s, V> = hashbrown::HashMap<&'s str, V, rustc_hash::FxBuildHasher>;

/// The entity that a name refers to.
#[derive(Clone)]
pub(super) enum NamedEntity {
    Var(ExprRef),
    /// A part of an expression that was named with `:=`.
    Expr(ExprRef),
    Type(TypeRef),
    /// An entity whose definition has errors; uses of it are not reported.
    Invalid,
}

/// The names of the current function, and the names of parts without variables, which are valid in the whole text.
#[derive(Default)]
pub(super) struct NameScope<'s> {
    local: NameMap<'s, NamedEntity>,
    closed: NameMap<'s, NamedEntity>,
    /// The variables of the function that are assigned again.
    reassigned: IdSet,
    /// The variables in the dims of tensors with a subscript, which must not be assigned again.
    kept_dims: IdSet,
    /// The number of named parts so far, and the start of the last one.
    pub(super) named_parts: usize,
    pub(super) last_named_part: Option<Span>,
}

impl<'s> NameScope<'s> {
    pub(super) fn get(&self, name: &str) -> Option<&NamedEntity> {
        self.local.get(name).or_else(|| self.closed.get(name))
    }

    pub(super) fn set(&mut self, name: &'s str, meaning: NamedEntity) {
        let closed = match &meaning {
            NamedEntity::Expr(expr) => !expr.node().facts().any(Facts::VAR),
            NamedEntity::Type(ty) => !ty.node().facts().any(Facts::VAR),
            NamedEntity::Var(_) | NamedEntity::Invalid => false,
        };
        if closed {
            self.local.remove(name);
            self.closed.insert(name, meaning);
        } else {
            self.local.insert(name, meaning);
        }
    }

    pub(super) fn end_function(&mut self) {
        self.local.clear();
        self.reassigned.clear();
        self.kept_dims.clear();
    }

    /// Notes that a variable is assigned again; returns false if the dims of a tensor with a subscript name it.
    pub(super) fn note_reassigned(&mut self, var: &ExprRef) -> bool {
        self.reassigned.insert(var.node().id());
        !self.kept_dims.contains(&var.node().id())
    }

    /// Returns whether a variable was assigned again so far.
    pub(super) fn is_reassigned(&self, var: &ExprRef) -> bool {
        self.reassigned.contains(&var.node().id())
    }

    /// Keeps a variable in the dims of a tensor from being assigned again.
    pub(super) fn keep_dim(&mut self, var: &ExprRef) {
        self.kept_dims.insert(var.node().id());
    }

    /// Returns all names, sorted.
    pub(super) fn names(&self) -> Vec<&'s str> {
        let mut names: Vec<&str> =
            self.local.keys().chain(self.closed.keys()).copied().take(10_000).collect();
        names.sort_unstable();
        names
    }
}
