//! The values of variables, and of shared expressions, at a point of the function.

use sapwood_ir::ExprRef;
use sapwood_ptir::ValueId;

use crate::{Map, Set};

/// A value; none if what it comes from was complained about.
pub(crate) type Val = Option<ValueId>;

/// How long the value of an expression stays the same.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lasts {
    /// It reads only variables that are bound once.
    Always,
    /// Until a variable that is bound more than once is bound again.
    UntilBound,
    /// It calls something with effects.
    Never,
}

impl Lasts {
    pub(crate) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Never, _) | (_, Self::Never) => Self::Never,
            (Self::Always, Self::Always) => Self::Always,
            _ => Self::UntilBound,
        }
    }
}

#[derive(Clone, Copy)]
struct Known {
    value: Val,
    lasts: Lasts,
    generation: u64,
}

#[derive(Default)]
pub(crate) struct Scope<'a> {
    vars: Map<Val>,
    /// What variables were before, for the way out of a region.
    undo: Vec<(&'a ExprRef, Option<Val>)>,
    exprs: Map<Known>,
    undo_exprs: Vec<(usize, Option<Known>)>,
    /// Counts bindings of variables that are bound more than once.
    generation: u64,
}

/// A point to go back to.
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    vars: usize,
    exprs: usize,
}

impl<'a> Scope<'a> {
    /// The value of a variable; nothing if it has none here.
    pub(crate) fn get(&self, var: &ExprRef) -> Option<Val> {
        self.vars.get(&var.node().id()).copied()
    }

    pub(crate) fn set(&mut self, var: &'a ExprRef, value: Val, changes: bool) {
        let before = self.vars.insert(var.node().id(), value);
        self.undo.push((var, before));
        self.generation += u64::from(changes);
    }

    /// The value of a shared expression that was lowered before and is still the same.
    pub(crate) fn known(&self, expr: &ExprRef) -> Option<(Val, Lasts)> {
        let known = self.exprs.get(&expr.node().id())?;
        let fresh = known.lasts == Lasts::Always || known.generation == self.generation;
        fresh.then_some((known.value, known.lasts))
    }

    pub(crate) fn remember(&mut self, expr: &ExprRef, value: Val, lasts: Lasts) {
        let id = expr.node().id();
        let before = self.exprs.insert(id, Known { value, lasts, generation: self.generation });
        self.undo_exprs.push((id, before));
    }

    /// Values of variables, a few: those bound first, then those bound last.
    pub(crate) fn at_hand(&self) -> impl Iterator<Item = ValueId> {
        const FEW: usize = 64;
        let (first, last) = (self.undo.iter().take(FEW), self.undo.iter().rev().take(FEW));
        first.chain(last).filter_map(|(var, _)| self.get(var).flatten())
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark { vars: self.undo.len(), exprs: self.undo_exprs.len() }
    }

    /// The variables that were bound since, each once, with their values.
    pub(crate) fn bound_since(&self, mark: Mark) -> Vec<(&'a ExprRef, Val)> {
        let mut seen = Set::default();
        let bound = self.undo[mark.vars..].iter().filter(|(var, _)| seen.insert(var.node().id()));
        bound.filter_map(|&(var, _)| Some((var, self.get(var)?))).collect()
    }

    /// Forgets what was found since.
    pub(crate) fn back_to(&mut self, mark: Mark) {
        while self.undo.len() > mark.vars {
            let Some((var, before)) = self.undo.pop() else { break };
            match before {
                Some(value) => self.vars.insert(var.node().id(), value),
                None => self.vars.remove(&var.node().id()),
            };
        }
        while self.undo_exprs.len() > mark.exprs {
            let Some((id, before)) = self.undo_exprs.pop() else { break };
            match before {
                Some(known) => self.exprs.insert(id, known),
                None => self.exprs.remove(&id),
            };
        }
        self.generation += 1;
    }
}
