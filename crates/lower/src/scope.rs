//! The values of variables and of shared expressions at the current point of the function.

use sapwood_ir::ExprRef;
use sapwood_ptir::ValueId;

use crate::{IdMap, IdSet};

/// The PTIR value that something was lowered to; none if an error was reported for it.
pub(crate) type LoweredValue = Option<ValueId>;

/// The extent to which the lowered value of an expression may be used again.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueReuse {
    /// The expression reads only variables that are bound once.
    Always,
    /// The value is valid until a variable that is bound more than once is bound again.
    UntilRebound,
    /// The expression calls a function or an op with effects.
    Never,
}

impl ValueReuse {
    /// Returns the stricter of two limits.
    pub(crate) fn stricter(self, other: Self) -> Self {
        match (self, other) {
            (Self::Never, _) | (_, Self::Never) => Self::Never,
            (Self::Always, Self::Always) => Self::Always,
            _ => Self::UntilRebound,
        }
    }
}

/// The cached value of a shared expression.
#[derive(Clone, Copy)]
struct CachedExpr {
    value: LoweredValue,
    reuse: ValueReuse,
    generation: u64,
}

/// The values of variables and of shared expressions, with an undo log for leaving regions.
#[derive(Default)]
pub(crate) struct ValueScope<'a> {
    vars: IdMap<LoweredValue>,
    /// The previous values of variables, restored when a region is left.
    undo_vars: Vec<(&'a ExprRef, Option<LoweredValue>)>,
    cached_exprs: IdMap<CachedExpr>,
    undo_exprs: Vec<(usize, Option<CachedExpr>)>,
    /// The number of bindings so far of variables that are bound more than once.
    generation: u64,
}

/// A state of a [`ValueScope`] to roll back to: the lengths of its undo logs.
#[derive(Clone, Copy)]
pub(crate) struct ScopeSnapshot {
    vars: usize,
    exprs: usize,
}

impl<'a> ValueScope<'a> {
    /// Returns the value of a variable, or none if it is not bound here.
    pub(crate) fn get(&self, var: &ExprRef) -> Option<LoweredValue> {
        self.vars.get(&var.node().id()).copied()
    }

    /// Binds a variable; `changes` means that it is bound more than once in the function.
    pub(crate) fn set(&mut self, var: &'a ExprRef, value: LoweredValue, changes: bool) {
        let before = self.vars.insert(var.node().id(), value);
        self.undo_vars.push((var, before));
        self.generation += u64::from(changes);
    }

    /// Returns the cached value of a shared expression if it is still valid.
    pub(crate) fn cached(&self, expr: &ExprRef) -> Option<(LoweredValue, ValueReuse)> {
        let cached = self.cached_exprs.get(&expr.node().id())?;
        let fresh = cached.reuse == ValueReuse::Always || cached.generation == self.generation;
        fresh.then_some((cached.value, cached.reuse))
    }

    pub(crate) fn cache_expr(&mut self, expr: &ExprRef, value: LoweredValue, reuse: ValueReuse) {
        let id = expr.node().id();
        let before =
            self.cached_exprs.insert(id, CachedExpr { value, reuse, generation: self.generation });
        self.undo_exprs.push((id, before));
    }

    /// Returns the values of at most 128 variables: those bound first, then those bound last.
    pub(crate) fn some_bound_values(&self) -> impl Iterator<Item = ValueId> {
        const MAX_PER_END: usize = 64;
        let (first, last) = (
            self.undo_vars.iter().take(MAX_PER_END),
            self.undo_vars.iter().rev().take(MAX_PER_END),
        );
        first.chain(last).filter_map(|(var, _)| self.get(var).flatten())
    }

    pub(crate) fn snapshot(&self) -> ScopeSnapshot {
        ScopeSnapshot { vars: self.undo_vars.len(), exprs: self.undo_exprs.len() }
    }

    /// Returns the variables bound since the snapshot, each once, with their current values.
    pub(crate) fn bound_since(&self, snapshot: ScopeSnapshot) -> Vec<(&'a ExprRef, LoweredValue)> {
        let mut seen = IdSet::default();
        let bound =
            self.undo_vars[snapshot.vars..].iter().filter(|(var, _)| seen.insert(var.node().id()));
        bound.filter_map(|&(var, _)| Some((var, self.get(var)?))).collect()
    }

    /// Rolls back all bindings and cached values since the snapshot.
    pub(crate) fn rollback_to(&mut self, snapshot: ScopeSnapshot) {
        while self.undo_vars.len() > snapshot.vars {
            let Some((var, before)) = self.undo_vars.pop() else { break };
            match before {
                Some(value) => self.vars.insert(var.node().id(), value),
                None => self.vars.remove(&var.node().id()),
            };
        }
        while self.undo_exprs.len() > snapshot.exprs {
            let Some((id, before)) = self.undo_exprs.pop() else { break };
            match before {
                Some(cached) => self.cached_exprs.insert(id, cached),
                None => self.cached_exprs.remove(&id),
            };
        }
        self.generation += 1;
    }
}
