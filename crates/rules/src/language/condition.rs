//! Conditions of `where`, after name resolution.

use std::panic::resume_unwind;
use std::sync::Arc;

use sapwood_ptir::{Attr, Dim, Function, Name};
use sapwood_types::{DataType, Span, catch_panic};

use super::vocabulary::{
    Argument, ArgumentKind, AttrFunction, Predicate, WordArguments, WordPlace,
};
use crate::graph::{Number, PatternGraph, ValueIx};
use crate::matcher::Bindings;

/// A predicate with its arguments.
#[derive(Clone)]
pub(crate) struct Condition {
    pub(super) predicate: Arc<Predicate>,
    pub(super) arguments: Vec<Term>,
    /// Set if the predicate must not hold.
    pub(super) not: bool,
    pub(super) text: String,
    pub(super) place: WordPlace,
}

/// An argument of a condition, or an attribute of the right side.
#[derive(Clone)]
pub(crate) enum Term {
    Value(ValueIx),
    Values(usize),
    Capture(usize),
    Attr(Attr),
    /// A dim that a type binds.
    Dim(Name),
    Function(Arc<AttrFunction>, Vec<Term>, WordPlace),
    /// A list of integers.
    List(Vec<Term>),
}

impl Condition {
    /// Returns the condition as it is written.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the name of the predicate.
    pub(super) fn name(&self) -> &str {
        &self.predicate.name
    }

    /// Returns the span of the predicate.
    pub(super) fn span(&self) -> Span {
        self.place.span
    }

    /// Returns the named terms of the arguments, in written order.
    pub(crate) fn named(&self) -> Vec<&Term> {
        let mut named = Vec::new();
        let mut open: Vec<&Term> = self.arguments.iter().rev().collect();
        while let Some(term) = open.pop() {
            match term {
                Term::Value(_) | Term::Values(_) | Term::Capture(_) | Term::Dim(_) => {
                    named.push(term);
                }
                Term::Function(_, inner, _) | Term::List(inner) => open.extend(inner.iter().rev()),
                Term::Attr(_) => {}
            }
        }
        named
    }

    /// Returns the values of the pattern in the arguments.
    pub(crate) fn values(&self) -> impl Iterator<Item = ValueIx> {
        self.named().into_iter().filter_map(|term| match term {
            Term::Value(value) => Some(*value),
            _ => None,
        })
    }

    /// Returns whether the predicate is one of a user that may read the definitions of any argument.
    pub(crate) fn reads_definitions(&self) -> bool {
        self.predicate.params.contains(&ArgumentKind::Any)
    }

    /// Returns the value that must be a constant, if the condition requires that.
    pub(crate) fn wants_constant(&self) -> Option<ValueIx> {
        match self.arguments[..] {
            [Term::Value(value)] if self.predicate.name == "constant" && !self.not => Some(value),
            _ => None,
        }
    }

    /// Returns the number that a constant must be, or is compared with.
    pub(crate) fn wants_number(&self, value: ValueIx) -> Option<Number> {
        match &self.arguments[..] {
            [Term::Value(own), Term::Attr(attr), ..] if *own == value => match attr {
                Attr::Int(n) => Some(Number::Int((*n).into())),
                Attr::Float(x) => Some(Number::Float(x.get())),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the value that must have a certain rank and that rank, if the condition requires one.
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

    /// Returns the list that must contain zero, if the condition requires that.
    pub(crate) fn wants_zero_in(&self) -> Option<&Term> {
        match &self.arguments[..] {
            [list, Term::Attr(Attr::Int(0))] if self.predicate.name == "contains" && !self.not => {
                Some(list)
            }
            _ => None,
        }
    }

    /// Returns whether values of this element type can satisfy the condition, as far as it restricts the type.
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

    /// Returns whether the condition holds for the bindings.
    pub(crate) fn holds(&self, f: &Function, pattern: &PatternGraph, bound: &Bindings) -> bool {
        // A condition on names of an alternative that was not taken does not apply, nor, in explanations, one on ops that were not found.
        let is_partial = !pattern.choices.is_empty() || bound.ops.contains(&None);
        if is_partial && !self.named().into_iter().all(|t| t.is_bound(bound)) {
            return true;
        }
        let arguments: Option<Vec<Argument>> =
            self.arguments.iter().map(|term| term.resolve(f, bound)).collect();
        let Some(arguments) = arguments else { return false };
        let asked = WordArguments { function: f, arguments: &arguments, place: self.place };
        // An unknown answer satisfies neither the condition nor its negation.
        let check = || (self.predicate.check)(&asked);
        let answer = naming_panics(check, |message| {
            format!("predicate `{}` of `{}`: {message}", self.predicate.name, pattern.name())
        });
        answer.is_some_and(|holds| holds != self.not)
    }
}

// Calls a word of a user. If it panics, the panic goes on with a message that names the word.
fn naming_panics<R>(word: impl FnOnce() -> R, name: impl FnOnce(String) -> String) -> R {
    catch_panic(word).unwrap_or_else(|message| resume_unwind(Box::new(name(message))))
}

impl Term {
    // Returns whether a name is bound.
    fn is_bound(&self, bound: &Bindings) -> bool {
        match self {
            Self::Value(value) => bound.values[*value].is_some(),
            Self::Values(list) => bound.lists[*list].is_some(),
            Self::Capture(capture) => bound.captures[*capture].is_some(),
            Self::Dim(name) => bound.dim(*name).is_some(),
            Self::Attr(_) | Self::Function(..) | Self::List(_) => true,
        }
    }

    /// Returns the argument for the bindings. The parser bounds nesting, so recursion is safe.
    pub(crate) fn resolve(&self, f: &Function, bound: &Bindings) -> Option<Argument> {
        Some(match self {
            Self::Value(value) => Argument::Value(bound.values[*value]?),
            Self::Values(list) => Argument::Values(bound.lists[*list].as_ref()?.to_vec()),
            Self::Capture(capture) => Argument::Attr(bound.captures[*capture].clone()?),
            Self::Attr(attr) => Argument::Attr(attr.clone()),
            Self::Dim(name) => Argument::Attr(match bound.dim(*name)? {
                Dim::Known(n) => Attr::Int(i64::try_from(n).ok()?),
                Dim::Expr(expr) => Attr::Dim(expr),
                Dim::Unknown => return None,
            }),
            Self::List(terms) => {
                let number = |term: &Self| match term.resolve(f, bound)? {
                    Argument::Attr(Attr::Int(n)) => Some(n),
                    _ => None,
                };
                Argument::Attr(Attr::Ints(terms.iter().map(number).collect::<Option<_>>()?))
            }
            Self::Function(function, terms, place) => {
                let arguments: Vec<Argument> =
                    terms.iter().map(|t| t.resolve(f, bound)).collect::<Option<_>>()?;
                let asked = WordArguments { function: f, arguments: &arguments, place: *place };
                let compute = || (function.compute)(&asked);
                Argument::Attr(naming_panics(compute, |message| {
                    format!("function `{}` of a rule: {message}", function.name)
                })?)
            }
        })
    }
}

impl std::fmt::Debug for Condition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}
