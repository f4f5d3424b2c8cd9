//! `if` becomes `cond`.

use sapwood_ir::{ExprRef, StmtRef, Var};
use sapwood_ptir::ops::{Cond, Yield};
use sapwood_ptir::{BodyId, Op, ValueId};
use sapwood_types::Span;

use crate::function::Lowering;
use crate::scope::Val;
use crate::stmt::{End, Frame};
use crate::{Map, Set};

type Bodies<'a> = (&'a StmtRef, Option<&'a StmtRef>);

/// A branch that is written, all but its end.
pub(crate) struct Branch<'a> {
    body: BodyId,
    pub(crate) end: End,
    /// The variables that it binds, with their values at its end.
    bound: Vec<(&'a ExprRef, Val)>,
}

impl Branch<'_> {
    /// One in which nothing happens any more.
    pub(crate) fn returned(body: BodyId) -> Self {
        Self { body, end: End::Returned, bound: Vec::new() }
    }

    fn has_returned(&self) -> bool {
        matches!(self.end, End::Returned)
    }
}

/// What comes after two branches that are put together.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum After {
    /// More of their body.
    More,
    /// The end of their body.
    End,
}

impl<'a> Lowering<'a> {
    /// An `if` that branches leave at their end. Whether both have returned.
    pub(crate) fn if_stmt(
        &mut self,
        condition: &'a ExprRef,
        bodies: Bodies<'a>,
        return_vars: &'a [Var],
    ) -> bool {
        let span = self.span;
        let pred = self.condition(condition);
        let then = self.branch(Some(bodies.0));
        let otherwise = self.branch(bodies.1);
        let returned = then.has_returned() && otherwise.has_returned();
        let yields = |branch: &Branch<'a>| matches!(branch.end, End::Yields(_));
        let own: &'a [Var] = if yields(&then) || yields(&otherwise) { return_vars } else { &[] };
        self.span = span;
        let values = self.join(pred, [&then, &otherwise], After::More, span);
        let values = if values.len() == own.len() { values } else { vec![None; own.len()] };
        self.bind_results(own, values);
        returned
    }

    /// Closes two branches and puts them together: the results are what they yield, then the variables that one of them
    /// changes and that have a value after both. Where one has returned, anything stands for what it does not have. Gives
    /// what stands for the yielded values.
    pub(crate) fn join(
        &mut self,
        pred: Val,
        [then, otherwise]: [&Branch<'a>; 2],
        after: After,
        span: Span,
    ) -> Vec<Val> {
        // What a loop's body ends with goes round; its own variables end there.
        let goes_round = after == After::End && !self.outlives;
        let (same, leaving): (Vec<_>, Vec<_>) =
            self.leaving([then, otherwise], goes_round).into_iter().partition(|(_, a, b)| a == b);
        let leaving: Vec<_> =
            leaving.into_iter().filter(|(var, ..)| self.survey.is_read(var)).collect();
        let mut yielded = self.yielded([then, otherwise], goes_round, span);
        let own = yielded[0].len();
        let complete = yielded[1].len() == own;
        for &(_, a, b) in &leaving {
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
        let result = |index: usize| -> Val { results.as_ref()?.get(index).copied() };
        for (index, (var, ..)) in leaving.iter().enumerate() {
            let value = result(own + index);
            self.name(value, var.name().unwrap_or(""));
            self.bind(var, value);
        }
        for (var, value, _) in same {
            self.bind(var, value);
        }
        (0..own).map(result).collect()
    }

    // What both branches yield; one that has returned yields what fits the other.
    fn yielded(
        &mut self,
        [then, otherwise]: [&Branch<'a>; 2],
        goes_round: bool,
        span: Span,
    ) -> [Vec<Val>; 2] {
        let [mut a, mut b] = [then, otherwise].map(|branch| match &branch.end {
            End::Yields(values) | End::Returns(values) => values.clone(),
            End::Next | End::Returned => Vec::new(),
        });
        match (then.has_returned(), otherwise.has_returned()) {
            (true, false) => a = self.instead_of(&b, then.body, goes_round, span),
            (false, true) => b = self.instead_of(&a, otherwise.body, goes_round, span),
            _ => {}
        }
        [a, b]
    }

    fn instead_of(
        &mut self,
        values: &[Val],
        region: BodyId,
        goes_round: bool,
        span: Span,
    ) -> Vec<Val> {
        if goes_round && self.yields_instead.len() == values.len() {
            return self.yields_instead.clone();
        }
        let placeholders = values.iter().map(|&value| {
            let placeholder = self.placeholder_in(value?, region, span);
            if placeholder.is_none() {
                let ty = self.value_type(value?).clone();
                let message = format!(
                    "a return beside a branch that yields {ty} cannot be lowered: its dims must be known"
                );
                self.problem(span, message);
            }
            placeholder
        });
        placeholders.collect()
    }

    fn placeholder_in(&mut self, value: ValueId, region: BodyId, span: Span) -> Val {
        let ty = self.value_type(value).clone();
        let outer = std::mem::replace(&mut self.body, region);
        let placeholder = self.placeholder(&ty, span);
        self.body = outer;
        placeholder
    }

    /// An `if` at the end of the function with a branch that always returns: what comes after it belongs to the other
    /// branch, and both give what the function returns.
    pub(crate) fn if_returns(
        &mut self,
        condition: &'a ExprRef,
        bodies: Bodies<'a>,
        return_vars: &'a [Var],
        mut rest: Vec<Frame<'a>>,
    ) -> End {
        let span = self.span;
        let pred = self.condition(condition);
        let regions = [Some(bodies.0), bodies.1].map(|body| {
            let frames = match body {
                Some(body) if self.survey.ends(body) => vec![Frame::One(body)],
                _ => {
                    let mut frames = std::mem::take(&mut rest);
                    frames.push(Frame::Bind(return_vars));
                    frames.extend(body.map(Frame::One));
                    frames
                }
            };
            self.span = span;
            self.returning(frames)
        });
        self.span = span;
        self.either(pred, regions, span)
    }

    /// The rest of the function, or these results if it has returned.
    pub(crate) fn rest_or(&mut self, flag: Val, results: Vec<Val>, rest: Vec<Frame<'a>>) -> End {
        let span = self.span;
        let then = self.out.new_body();
        let then = self.end_region(then, results).map(|()| then);
        let otherwise = self.returning(rest);
        self.span = span;
        self.either(flag, [then, otherwise], span)
    }

    // A region that gives what the function returns.
    fn returning(&mut self, frames: Vec<Frame<'a>>) -> Option<BodyId> {
        let region = self.out.new_body();
        let (outer, mark) = (std::mem::replace(&mut self.body, region), self.scope.mark());
        let end = self.block(frames, true);
        let values = self.returned(end);
        self.scope.back_to(mark);
        self.body = outer;
        let values = values.map(|values| values.into_iter().map(Some).collect());
        values.and_then(|values| self.end_region(region, values)).map(|()| region)
    }

    // Two regions that give what the function returns.
    fn either(&mut self, pred: Val, regions: [Option<BodyId>; 2], span: Span) -> End {
        let results = match (pred, regions) {
            (Some(pred), [Some(then), Some(otherwise)]) => {
                self.append(&Cond { pred, then, otherwise }.into_parts(), span)
            }
            _ => None,
        };
        End::Returns(match results {
            Some(results) => results.into_iter().map(Some).collect(),
            None => vec![None; self.types.results.len().max(1)],
        })
    }

    fn branch(&mut self, body: Option<&'a StmtRef>) -> Branch<'a> {
        let instead = std::mem::take(&mut self.yields_instead);
        let outlives = std::mem::replace(&mut self.outlives, true);
        let branch = self.branch_of(body.map(Frame::One).into_iter().collect());
        self.yields_instead = instead;
        self.outlives = outlives;
        branch
    }

    /// Statements as a branch.
    pub(crate) fn branch_of(&mut self, frames: Vec<Frame<'a>>) -> Branch<'a> {
        let region = self.out.new_body();
        let (outer, mark) = (std::mem::replace(&mut self.body, region), self.scope.mark());
        let end = self.block(frames, false);
        let bound = self.scope.bound_since(mark);
        self.scope.back_to(mark);
        self.body = outer;
        Branch { body: region, end, bound }
    }

    /// Variables that a branch binds and that have a value after both, in the order of the text. After a branch that has
    /// returned every variable has one.
    fn leaving(
        &mut self,
        [a, b]: [&Branch<'a>; 2],
        goes_round: bool,
    ) -> Vec<(&'a ExprRef, Val, Val)> {
        let in_b: Map<Val> = b.bound.iter().map(|(var, value)| (var.node().id(), *value)).collect();
        let mut leaving = Vec::new();
        let mut seen = Set::default();
        for &(var, value) in &a.bound {
            seen.insert(var.node().id());
            let other = in_b.get(&var.node().id()).copied().or_else(|| self.scope.get(var));
            let other = other.or_else(|| self.never_seen(var, value, b, goes_round));
            leaving.extend(other.map(|other| (var, value, other)));
        }
        for &(var, value) in b.bound.iter().filter(|(var, _)| !seen.contains(&var.node().id())) {
            let other = self.scope.get(var);
            let other = other.or_else(|| self.never_seen(var, value, a, goes_round));
            leaving.extend(other.map(|other| (var, other, value)));
        }
        leaving
    }

    // A value for a variable after a branch that has returned.
    fn never_seen(
        &mut self,
        var: &'a ExprRef,
        value: Val,
        branch: &Branch<'a>,
        goes_round: bool,
    ) -> Option<Val> {
        if !branch.has_returned() || goes_round || !self.survey.is_read(var) {
            return None;
        }
        let placeholder = self.placeholder_in(value?, branch.body, self.span);
        if placeholder.is_none() {
            let ty = self.value_type(value?).clone();
            self.lost.insert(var.node().id(), ty);
        }
        placeholder.map(Some)
    }

    /// Ends a region with a yield.
    pub(crate) fn end_region(&mut self, region: BodyId, values: Vec<Val>) -> Option<()> {
        let values: Vec<ValueId> = values.into_iter().collect::<Option<_>>()?;
        let outer = std::mem::replace(&mut self.body, region);
        let parts = Yield { values: values.into_iter().collect() }.into_parts();
        let done = self.append(&parts, self.span).map(drop);
        self.body = outer;
        done
    }
}
