//! A condition of `where`, ready to be asked.

use std::sync::Arc;

use sapwood_ptir::{Attr, Function};
use sapwood_types::DataType;

use super::vocabulary::{Argument, Asked, AttrFunction, Predicate};
use crate::graph::{PatternGraph, ValueIx};
use crate::matcher::Bound;

/// A predicate and what it is asked of.
#[derive(Clone)]
pub struct Condition {
    pub(super) predicate: Arc<Predicate>,
    pub(super) arguments: Vec<Term>,
    /// Whether it must not hold.
    pub(super) not: bool,
    pub(super) text: String,
}

/// An argument, or an attribute of the right side.
#[derive(Clone)]
pub(crate) enum Term {
    Value(ValueIx),
    Values(usize),
    Capture(usize),
    Attr(Attr),
    Function(Arc<AttrFunction>, Vec<Term>),
}

impl Condition {
    /// As it is written.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// What has a name in the pattern and is asked about, in the order it is written.
    pub(crate) fn named(&self) -> Vec<&Term> {
        let mut named = Vec::new();
        let mut open: Vec<&Term> = self.arguments.iter().rev().collect();
        while let Some(term) = open.pop() {
            match term {
                Term::Value(_) | Term::Values(_) | Term::Capture(_) => named.push(term),
                Term::Function(_, inner) => open.extend(inner.iter().rev()),
                Term::Attr(_) => {}
            }
        }
        named
    }

    /// The values of the pattern it asks about.
    pub(crate) fn values(&self) -> impl Iterator<Item = ValueIx> {
        self.named().into_iter().filter_map(|term| match term {
            Term::Value(value) => Some(*value),
            _ => None,
        })
    }

    /// The value that must be a constant, if that is what it asks for.
    pub(crate) fn wants_constant(&self) -> Option<ValueIx> {
        match self.arguments[..] {
            [Term::Value(value)] if self.predicate.name == "constant" && !self.not => Some(value),
            _ => None,
        }
    }

    /// The value that must have this many dims, if that is what it asks for.
    pub(crate) fn wants_rank(&self) -> Option<(ValueIx, usize)> {
        match &self.arguments[..] {
            [Term::Value(value), Term::Attr(Attr::Int(rank))]
                if self.predicate.name == "rank" && !self.not =>
            {
                Some((*value, usize::try_from(*rank).ok()?))
            }
            _ => None,
        }
    }

    /// Whether values of this element type have a chance, as far as it asks for that.
    pub(crate) fn may_have(&self, dtype: DataType) -> bool {
        let is = match (&*self.predicate.name, &self.arguments[..]) {
            ("integer", _) => dtype.is_integer(),
            ("float", _) => dtype.is_float(),
            ("complex", _) => dtype.is_complex(),
            ("bool", _) => dtype.is_bool(),
            ("signed", _) => dtype.is_signed_integer(),
            ("dtype", [_, Term::Attr(Attr::Type(wanted))]) => dtype == *wanted,
            _ => return true,
        };
        is != self.not
    }

    /// Whether it holds for what is bound.
    pub(crate) fn holds(&self, f: &Function, _: &PatternGraph, bound: &Bound) -> bool {
        let arguments: Option<Vec<Argument>> =
            self.arguments.iter().map(|term| term.resolve(f, bound)).collect();
        let Some(arguments) = arguments else { return false };
        let asked = Asked { function: f, arguments: &arguments };
        // What is not known neither holds nor does not.
        (self.predicate.check)(&asked).is_some_and(|holds| holds != self.not)
    }
}

impl Term {
    /// What it stands for. Nesting is bounded by the reader, so recursion is harmless.
    pub(crate) fn resolve(&self, f: &Function, bound: &Bound) -> Option<Argument> {
        Some(match self {
            Self::Value(value) => Argument::Value(bound.values[*value]?),
            Self::Values(list) => Argument::Values(bound.lists[*list].as_ref()?.to_vec()),
            Self::Capture(capture) => Argument::Attr(bound.captures[*capture].clone()?),
            Self::Attr(attr) => Argument::Attr(attr.clone()),
            Self::Function(function, terms) => {
                let arguments: Vec<Argument> =
                    terms.iter().map(|t| t.resolve(f, bound)).collect::<Option<_>>()?;
                Argument::Attr((function.compute)(&Asked { function: f, arguments: &arguments })?)
            }
        })
    }
}

impl std::fmt::Debug for Condition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}
