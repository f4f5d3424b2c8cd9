//! Expressions with other variables in them.

use sapwood_structural::{Facts, Value};

use super::Map;
use crate::nodes::{ExprRef, TypeRef, types_match};
use crate::rebuild::{with_operands, with_type};

/// What stands in the place of each variable.
#[derive(Default, Clone)]
pub(super) struct Renaming {
    vars: Map<ExprRef>,
}

impl Renaming {
    pub(super) fn get(&self, var: usize) -> Option<&ExprRef> {
        self.vars.get(&var)
    }

    pub(super) fn set(&mut self, var: usize, by: ExprRef) -> Option<ExprRef> {
        self.vars.insert(var, by)
    }

    pub(super) fn unset(&mut self, var: usize) {
        self.vars.remove(&var);
    }

    /// The type, its dims over the new variables.
    pub(super) fn ty(&self, ty: &TypeRef) -> TypeRef {
        if !ty.node().facts().any(Facts::VAR) {
            return ty.clone();
        }
        sapwood_structural::map(ty, |node| {
            self.vars.get(&node.node().id()).map(|by| Value::from(by.clone()))
        })
        .unwrap_or_else(|_| ty.clone())
    }

    /// The expression over the new variables. What does not change keeps its identity.
    pub(super) fn expr(&self, root: &ExprRef) -> ExprRef {
        self.expr_with(root, |expr| expr)
    }

    /// The same, and `change` applied to every new or old operation from the leaves up.
    pub(super) fn expr_with(
        &self,
        root: &ExprRef,
        mut change: impl FnMut(ExprRef) -> ExprRef,
    ) -> ExprRef {
        let mut known: Map<ExprRef> = Map::default();
        let mut done: Vec<ExprRef> = Vec::new();
        let mut todo: Vec<(&ExprRef, bool)> = vec![(root, false)];
        while let Some((expr, ready)) = todo.pop() {
            if expr.is_var() {
                done.push(self.get(expr.node().id()).unwrap_or(expr).clone());
            } else if expr.is_const() {
                done.push(expr.clone());
            } else if ready {
                let operands = done.split_off(done.len() - expr.operands().len());
                let ty = self.ty(expr.ty());
                let same = expr.operands().zip(&operands).all(|(old, new)| old.same(new));
                let new = if !same {
                    with_operands(expr, &operands, ty)
                } else if ty.same(expr.ty()) || types_match(&ty, expr.ty()) {
                    expr.clone()
                } else {
                    with_type(expr, ty, expr.span())
                };
                let new = change(new);
                if expr.node().owners() > 1 {
                    known.insert(expr.node().id(), new.clone());
                }
                done.push(new);
            } else if let Some(new) = known.get(&expr.node().id()) {
                done.push(new.clone());
            } else {
                todo.push((expr, true));
                todo.extend(expr.operands().rev().map(|operand| (operand, false)));
            }
        }
        done.pop().unwrap_or_else(|| root.clone())
    }

    pub(super) fn exprs(&self, exprs: &[ExprRef]) -> Vec<ExprRef> {
        exprs.iter().map(|expr| self.expr(expr)).collect()
    }
}
