//! What the names in a text stand for.

use sapwood_structural::Facts;
use sapwood_types::Span;

use crate::nodes::{ExprRef, TypeRef};

type Map<'s, V> = hashbrown::HashMap<&'s str, V, rustc_hash::FxBuildHasher>;

/// What a name stands for.
#[derive(Clone)]
pub(super) enum Meaning {
    Var(ExprRef),
    /// A part that was named with `:=`.
    Expr(ExprRef),
    Type(TypeRef),
    /// Something that could not be read; no more complaints about it.
    Nothing,
}

/// The names of a function, and those of parts without variables, which hold for the whole text.
#[derive(Default)]
pub(super) struct Scope<'s> {
    local: Map<'s, Meaning>,
    closed: Map<'s, Meaning>,
    /// How many parts were named, and where the last of them began.
    pub(super) definitions: usize,
    pub(super) last_definition: Option<Span>,
}

impl<'s> Scope<'s> {
    pub(super) fn get(&self, name: &str) -> Option<&Meaning> {
        self.local.get(name).or_else(|| self.closed.get(name))
    }

    pub(super) fn set(&mut self, name: &'s str, meaning: Meaning) {
        let closed = match &meaning {
            Meaning::Expr(expr) => !expr.node().facts().any(Facts::VAR),
            Meaning::Type(ty) => !ty.node().facts().any(Facts::VAR),
            Meaning::Var(_) | Meaning::Nothing => false,
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
    }

    /// All names, sorted.
    pub(super) fn names(&self) -> Vec<&'s str> {
        let mut names: Vec<&str> =
            self.local.keys().chain(self.closed.keys()).copied().take(10_000).collect();
        names.sort_unstable();
        names
    }
}
