//! `if` becomes `cond`.

use sapwood_ir::{ExprRef, StmtRef, Var};
use sapwood_ptir::ops::{Cond, Yield};
use sapwood_ptir::{BodyId, Op, ValueId};

use crate::function::Lowering;
use crate::scope::Val;
use crate::stmt::{End, Frame};
use crate::{Map, Set};

type Bodies<'a> = (&'a StmtRef, Option<&'a StmtRef>);

struct Branch<'a> {
    body: BodyId,
    end: End,
    /// The variables that it binds, with their values at its end.
    bound: Vec<(&'a ExprRef, Val)>,
}

impl<'a> Lowering<'a> {
    /// An `if` that both branches leave at their end. Its results are what they yield, then the variables that one of
    /// them changes and that have a value after both.
    pub(crate) fn if_stmt(
        &mut self,
        condition: &'a ExprRef,
        bodies: Bodies<'a>,
        return_vars: &'a [Var],
    ) {
        let span = self.span;
        let pred = self.condition(condition);
        let then = self.branch(Some(bodies.0));
        let otherwise = self.branch(bodies.1);
        let yields = matches!(then.end, End::Yields(_)) || matches!(otherwise.end, End::Yields(_));
        let own: &'a [Var] = if yields { return_vars } else { &[] };
        let (same, leaving): (Vec<_>, Vec<_>) =
            self.leaving(&then, &otherwise).into_iter().partition(|(_, a, b)| a == b);
        let leaving: Vec<_> =
            leaving.into_iter().filter(|(var, ..)| self.survey.is_read(var)).collect();
        let mut yielded = [then.end, otherwise.end].map(|end| match end {
            End::Yields(values) | End::Returns(values) => values,
            End::Next => Vec::new(),
        });
        let complete = yielded.iter().all(|values| values.len() == own.len());
        for &(_, a, b) in &leaving {
            yielded[0].push(a);
            yielded[1].push(b);
        }
        self.span = span;
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
            let value = result(own.len() + index);
            self.name(value, var.name().unwrap_or(""));
            self.bind(var, value);
        }
        for (var, value, _) in same {
            self.bind(var, value);
        }
        let own_values = (0..own.len()).map(result).collect();
        self.bind_results(own, own_values);
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
        let mut regions = [Some(bodies.0), bodies.1].map(|body| {
            let frames = match body {
                Some(body) if self.survey.ends(body) => vec![Frame::One(body)],
                _ => {
                    let mut frames = std::mem::take(&mut rest);
                    frames.push(Frame::Bind(return_vars));
                    frames.extend(body.map(Frame::One));
                    frames
                }
            };
            let region = self.out.new_body();
            let (outer, mark) = (std::mem::replace(&mut self.body, region), self.scope.mark());
            self.span = span;
            let end = self.block(frames, true);
            let values = self.returned(end);
            self.scope.back_to(mark);
            self.body = outer;
            let values = values.map(|values| values.into_iter().map(Some).collect());
            values.and_then(|values| self.end_region(region, values)).map(|()| region)
        });
        self.span = span;
        let results = match (pred, regions[0].take(), regions[1].take()) {
            (Some(pred), Some(then), Some(otherwise)) => {
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
        let region = self.out.new_body();
        let (outer, mark) = (std::mem::replace(&mut self.body, region), self.scope.mark());
        let end = self.block(body.map(Frame::One).into_iter().collect(), false);
        let bound = self.scope.bound_since(mark);
        self.scope.back_to(mark);
        self.body = outer;
        Branch { body: region, end, bound }
    }

    /// Variables that a branch binds and that have a value after both, in the order of the text.
    fn leaving(&self, a: &Branch<'a>, b: &Branch<'a>) -> Vec<(&'a ExprRef, Val, Val)> {
        let in_b: Map<Val> = b.bound.iter().map(|(var, value)| (var.node().id(), *value)).collect();
        let mut leaving = Vec::new();
        let mut seen = Set::default();
        for &(var, value) in &a.bound {
            seen.insert(var.node().id());
            let other = in_b.get(&var.node().id()).copied().or_else(|| self.scope.get(var));
            leaving.extend(other.map(|other| (var, value, other)));
        }
        for &(var, value) in b.bound.iter().filter(|(var, _)| !seen.contains(&var.node().id())) {
            leaving.extend(self.scope.get(var).map(|other| (var, other, value)));
        }
        leaving
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
