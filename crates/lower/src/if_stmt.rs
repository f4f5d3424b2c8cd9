//! `if` statements, which become `cond`.

use sapwood_ir::{ExprRef, StmtRef, Var};
use sapwood_ptir::ops::{Cond, Yield};
use sapwood_ptir::{BodyId, Op, ValueId};
use sapwood_types::Span;

use crate::function::FunctionLowering;
use crate::scope::LoweredValue;
use crate::stmt::{BlockEnd, PendingStmts};
use crate::{IdMap, IdSet};

/// The `then` body and the optional `else` body of an `if`.
type IfBodies<'a> = (&'a StmtRef, Option<&'a StmtRef>);

/// A branch that is lowered except for its final yield.
pub(crate) struct LoweredBranch<'a> {
    body: BodyId,
    pub(crate) end: BlockEnd,
    /// The variables that the branch binds, with their values at its end.
    bound: Vec<(&'a ExprRef, LoweredValue)>,
}

impl LoweredBranch<'_> {
    /// Creates an empty branch for the case that the function has already returned.
    pub(crate) fn already_returned(body: BodyId) -> Self {
        Self { body, end: BlockEnd::ReturnedEarly, bound: Vec::new() }
    }

    fn has_returned(&self) -> bool {
        matches!(self.end, BlockEnd::ReturnedEarly)
    }
}

/// The position of a `cond` in its body.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum JoinPosition {
    /// More statements of the body come after it.
    MidBody,
    /// It ends the body.
    EndOfBody,
}

impl<'a> FunctionLowering<'a> {
    /// Lowers an `if` whose branches continue after it; returns whether both have returned early.
    pub(crate) fn lower_if(
        &mut self,
        condition: &'a ExprRef,
        bodies: IfBodies<'a>,
        return_vars: &'a [Var],
    ) -> bool {
        let span = self.span;
        let pred = self.lower_condition(condition);
        let then = self.lower_branch(Some(bodies.0));
        let otherwise = self.lower_branch(bodies.1);
        let returned = then.has_returned() && otherwise.has_returned();
        let yields = |branch: &LoweredBranch<'a>| matches!(branch.end, BlockEnd::Yields(_));
        let own: &'a [Var] = if yields(&then) || yields(&otherwise) { return_vars } else { &[] };
        self.span = span;
        let values = self.join_branches(pred, [&then, &otherwise], JoinPosition::MidBody, span);
        let values = if values.len() == own.len() { values } else { vec![None; own.len()] };
        self.bind_results(own, values);
        returned
    }

    /// Ends two branches and emits their `cond`; returns its results for the yielded values.
    ///
    /// The results are the yielded values, then the variables that one branch assigns and that have a value after both. A
    /// branch that has returned early yields placeholders for values that it does not have.
    pub(crate) fn join_branches(
        &mut self,
        pred: LoweredValue,
        [then, otherwise]: [&LoweredBranch<'a>; 2],
        after: JoinPosition,
        span: Span,
    ) -> Vec<LoweredValue> {
        // At the end of a loop body only carried values are used afterwards; its own variables are not.
        let ends_loop_body = after == JoinPosition::EndOfBody && !self.vars_outlive_body;
        let (same, merged): (Vec<_>, Vec<_>) = self
            .vars_after_branches([then, otherwise], ends_loop_body)
            .into_iter()
            .partition(|(_, a, b)| a == b);
        let merged: Vec<_> =
            merged.into_iter().filter(|(var, ..)| self.summary.is_read(var)).collect();
        let mut yielded = self.branch_yields([then, otherwise], ends_loop_body, span);
        let own = yielded[0].len();
        let complete = yielded[1].len() == own;
        for &(_, a, b) in &merged {
            yielded[0].push(a);
            yielded[1].push(b);
        }
        let [in_then, in_else] = yielded;
        let pred = pred.filter(|_| complete);
        let ended = [
            self.end_region(then.body, in_then).is_some(),
            self.end_region(otherwise.body, in_else).is_some(),
        ];
        let results = pred.filter(|_| ended == [true, true]).and_then(|pred| {
            let cond = Cond { pred, then: then.body, otherwise: otherwise.body };
            self.append(&cond.into_parts(), span)
        });
        let result = |index: usize| -> LoweredValue { results.as_ref()?.get(index).copied() };
        for (index, (var, ..)) in merged.iter().enumerate() {
            let value = result(own + index);
            self.hint_name(value, var.name().unwrap_or(""));
            self.bind(var, value);
        }
        for (var, value, _) in same {
            self.bind(var, value);
        }
        (0..own).map(result).collect()
    }

    // Returns the values that both branches yield; one that has returned early yields placeholders of the other's types.
    fn branch_yields(
        &mut self,
        [then, otherwise]: [&LoweredBranch<'a>; 2],
        ends_loop_body: bool,
        span: Span,
    ) -> [Vec<LoweredValue>; 2] {
        let [mut a, mut b] = [then, otherwise].map(|branch| match &branch.end {
            BlockEnd::Yields(values) | BlockEnd::Returns(values) => values.clone(),
            BlockEnd::FallsThrough | BlockEnd::ReturnedEarly => Vec::new(),
        });
        match (then.has_returned(), otherwise.has_returned()) {
            (true, false) => a = self.placeholder_yields(&b, then.body, ends_loop_body, span),
            (false, true) => b = self.placeholder_yields(&a, otherwise.body, ends_loop_body, span),
            _ => {}
        }
        [a, b]
    }

    fn placeholder_yields(
        &mut self,
        values: &[LoweredValue],
        region: BodyId,
        ends_loop_body: bool,
        span: Span,
    ) -> Vec<LoweredValue> {
        if ends_loop_body && self.yields_after_return.len() == values.len() {
            return self.yields_after_return.clone();
        }
        let placeholders = values.iter().map(|&value| {
            let placeholder = self.placeholder_in(value?, region, span);
            if placeholder.is_none() {
                let ty = self.value_type(value?).clone();
                let message = format!(
                    "a return next to a branch that yields {ty} cannot be lowered: its dims must be known"
                );
                self.report(span, message);
            }
            placeholder
        });
        placeholders.collect()
    }

    fn placeholder_in(&mut self, value: ValueId, region: BodyId, span: Span) -> LoweredValue {
        let ty = self.value_type(value).clone();
        let outer = std::mem::replace(&mut self.body, region);
        let placeholder = self.placeholder(&ty, span);
        self.body = outer;
        placeholder
    }

    /// Lowers an `if` with a branch that always returns, at the top level of the function.
    ///
    /// The statements after the `if` move into the other branch, and both branches yield the function's results.
    pub(crate) fn lower_returning_if(
        &mut self,
        condition: &'a ExprRef,
        bodies: IfBodies<'a>,
        return_vars: &'a [Var],
        mut rest: Vec<PendingStmts<'a>>,
    ) -> BlockEnd {
        let span = self.span;
        let pred = self.lower_condition(condition);
        let regions = [Some(bodies.0), bodies.1].map(|body| {
            let pending = match body {
                Some(body) if self.summary.always_returns(body) => vec![PendingStmts::One(body)],
                _ => {
                    let mut pending = std::mem::take(&mut rest);
                    pending.push(PendingStmts::BindYield(return_vars));
                    pending.extend(body.map(PendingStmts::One));
                    pending
                }
            };
            self.span = span;
            self.lower_returning_region(pending)
        });
        self.span = span;
        self.emit_returning_cond(pred, regions, span)
    }

    /// Emits a `cond` that yields these results if the function has returned, and the results of its rest otherwise.
    pub(crate) fn cond_of_results_or_rest(
        &mut self,
        flag: LoweredValue,
        results: Vec<LoweredValue>,
        rest: Vec<PendingStmts<'a>>,
    ) -> BlockEnd {
        let span = self.span;
        let then = self.writer.new_body();
        let then = self.end_region(then, results).map(|()| then);
        let otherwise = self.lower_returning_region(rest);
        self.span = span;
        self.emit_returning_cond(flag, [then, otherwise], span)
    }

    // Lowers statements into a new region that yields the function's results.
    fn lower_returning_region(&mut self, pending: Vec<PendingStmts<'a>>) -> Option<BodyId> {
        let region = self.writer.new_body();
        let (outer, snapshot) = (std::mem::replace(&mut self.body, region), self.scope.snapshot());
        let end = self.lower_block(pending, true);
        let values = self.check_results(end);
        self.scope.rollback_to(snapshot);
        self.body = outer;
        let values = values.map(|values| values.into_iter().map(Some).collect());
        values.and_then(|values| self.end_region(region, values)).map(|()| region)
    }

    // Emits the `cond` of two regions that yield the function's results.
    fn emit_returning_cond(
        &mut self,
        pred: LoweredValue,
        regions: [Option<BodyId>; 2],
        span: Span,
    ) -> BlockEnd {
        let results = match (pred, regions) {
            (Some(pred), [Some(then), Some(otherwise)]) => {
                self.append(&Cond { pred, then, otherwise }.into_parts(), span)
            }
            _ => None,
        };
        BlockEnd::Returns(match results {
            Some(results) => results.into_iter().map(Some).collect(),
            None => vec![None; self.types.results.len().max(1)],
        })
    }

    fn lower_branch(&mut self, body: Option<&'a StmtRef>) -> LoweredBranch<'a> {
        let instead = std::mem::take(&mut self.yields_after_return);
        let outlives = std::mem::replace(&mut self.vars_outlive_body, true);
        let branch = self.lower_stmts_as_branch(body.map(PendingStmts::One).into_iter().collect());
        self.yields_after_return = instead;
        self.vars_outlive_body = outlives;
        branch
    }

    /// Lowers statements into a new branch.
    pub(crate) fn lower_stmts_as_branch(
        &mut self,
        pending: Vec<PendingStmts<'a>>,
    ) -> LoweredBranch<'a> {
        let region = self.writer.new_body();
        let (outer, snapshot) = (std::mem::replace(&mut self.body, region), self.scope.snapshot());
        let end = self.lower_block(pending, false);
        let bound = self.scope.bound_since(snapshot);
        self.scope.rollback_to(snapshot);
        self.body = outer;
        LoweredBranch { body: region, end, bound }
    }

    /// Returns the variables that a branch binds and that have a value after both, in source order, with both values.
    ///
    /// A branch that has returned early gets a placeholder for a variable that it does not bind.
    fn vars_after_branches(
        &mut self,
        [a, b]: [&LoweredBranch<'a>; 2],
        ends_loop_body: bool,
    ) -> Vec<(&'a ExprRef, LoweredValue, LoweredValue)> {
        let in_b: IdMap<LoweredValue> =
            b.bound.iter().map(|(var, value)| (var.node().id(), *value)).collect();
        let mut merged = Vec::new();
        let mut seen = IdSet::default();
        for &(var, value) in &a.bound {
            seen.insert(var.node().id());
            let other = in_b.get(&var.node().id()).copied().or_else(|| self.scope.get(var));
            let other =
                other.or_else(|| self.placeholder_after_return(var, value, b, ends_loop_body));
            merged.extend(other.map(|other| (var, value, other)));
        }
        for &(var, value) in b.bound.iter().filter(|(var, _)| !seen.contains(&var.node().id())) {
            let other = self.scope.get(var);
            let other =
                other.or_else(|| self.placeholder_after_return(var, value, a, ends_loop_body));
            merged.extend(other.map(|other| (var, other, value)));
        }
        merged
    }

    // Returns a placeholder for a variable that is not bound in a branch that has returned early.
    fn placeholder_after_return(
        &mut self,
        var: &'a ExprRef,
        value: LoweredValue,
        branch: &LoweredBranch<'a>,
        ends_loop_body: bool,
    ) -> Option<LoweredValue> {
        if !branch.has_returned() || ends_loop_body || !self.summary.is_read(var) {
            return None;
        }
        let placeholder = self.placeholder_in(value?, branch.body, self.span);
        if placeholder.is_none() {
            let ty = self.value_type(value?).clone();
            self.vars_without_placeholder.insert(var.node().id(), ty);
        }
        placeholder.map(Some)
    }

    /// Ends a region with a yield of these values.
    pub(crate) fn end_region(&mut self, region: BodyId, values: Vec<LoweredValue>) -> Option<()> {
        let values: Vec<ValueId> = values.into_iter().collect::<Option<_>>()?;
        let outer = std::mem::replace(&mut self.body, region);
        let parts = Yield { values: values.into_iter().collect() }.into_parts();
        let done = self.append(&parts, self.span).map(drop);
        self.body = outer;
        done
    }
}
