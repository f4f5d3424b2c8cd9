//! Expressions with other variables in them.

use std::cell::RefCell;

use sapwood_structural::{Facts, Value};

use super::Map;
use crate::nodes::{ExprRef, TypeRef, types_match};
use crate::rebuild::{with_operands, with_type};

/// What stands in the place of each variable, and what became of shared parts: they are looked at
/// once, not once per statement that holds them, as long as no variable in them changes.
#[derive(Default)]
pub(super) struct Renaming {
    vars: Map<ExprRef>,
    known: RefCell<Known>,
}

/// What became of shared parts. Those that change together are found by whom they are used.
#[derive(Default)]
struct Known {
    exprs: Map<ExprRef>,
    types: Map<TypeRef>,
    /// By variable, shared part or type: the shared parts around it whose new form rests on it.
    users: Map<Vec<usize>>,
}

impl Known {
    fn used_by(&mut self, part: usize, user: Option<usize>) {
        if let Some(user) = user {
            let users = self.users.entry(part).or_default();
            if users.last() != Some(&user) {
                users.push(user);
            }
        }
    }

    /// A variable stands for something else now.
    fn forget(&mut self, var: usize) {
        let mut todo = self.users.remove(&var).unwrap_or_default();
        while let Some(part) = todo.pop() {
            let was_expr = self.exprs.remove(&part).is_some();
            if self.types.remove(&part).is_some() || was_expr {
                todo.extend(self.users.remove(&part).unwrap_or_default());
            }
        }
    }
}

enum Task<'a> {
    Visit(&'a ExprRef),
    /// All operands are done.
    Make(&'a ExprRef),
    /// The same of a shared part.
    Close(&'a ExprRef),
}

impl Renaming {
    pub(super) fn get(&self, var: usize) -> Option<&ExprRef> {
        self.vars.get(&var)
    }

    pub(super) fn set(&mut self, var: usize, by: ExprRef) -> Option<ExprRef> {
        self.known.get_mut().forget(var);
        self.vars.insert(var, by)
    }

    pub(super) fn unset(&mut self, var: usize) {
        self.known.get_mut().forget(var);
        self.vars.remove(&var);
    }

    /// The type, its dims over the new variables.
    pub(super) fn ty(&self, ty: &TypeRef) -> TypeRef {
        self.ty_in(ty, None)
    }

    fn ty_in(&self, ty: &TypeRef, user: Option<usize>) -> TypeRef {
        if !ty.node().facts().any(Facts::VAR) {
            return ty.clone();
        }
        let id = ty.node().id();
        let mut known = self.known.borrow_mut();
        known.used_by(id, user);
        if let Some(new) = known.types.get(&id) {
            return new.clone();
        }
        let new = sapwood_structural::map(ty, |node| {
            self.vars.get(&node.node().id()).map(|by| Value::from(by.clone()))
        })
        .unwrap_or_else(|_| ty.clone());
        for var in sapwood_structural::free_variables(ty) {
            known.used_by(var.node().id(), Some(id));
        }
        known.types.insert(id, new.clone());
        new
    }

    /// The expression over the new variables. What does not change keeps its identity.
    pub(super) fn expr(&self, root: &ExprRef) -> ExprRef {
        self.expr_with(root, |expr| expr)
    }

    /// The same, and `change` applied to every new or old operation from the leaves up. It must be
    /// the same function of the expression every time.
    pub(super) fn expr_with(
        &self,
        root: &ExprRef,
        mut change: impl FnMut(ExprRef) -> ExprRef,
    ) -> ExprRef {
        let mut done: Vec<ExprRef> = Vec::new();
        // Shared parts that are being made, the innermost last.
        let mut open: Vec<usize> = Vec::new();
        let mut todo: Vec<Task<'_>> = vec![Task::Visit(root)];
        while let Some(task) = todo.pop() {
            let (expr, closes) = match task {
                Task::Visit(expr) => {
                    self.visit(expr, &mut todo, &mut open, &mut done);
                    continue;
                }
                Task::Make(expr) => (expr, false),
                Task::Close(expr) => (expr, true),
            };
            let operands = done.split_off(done.len() - expr.operands().len());
            let ty = self.ty_in(expr.ty(), open.last().copied());
            let same = expr.operands().zip(&operands).all(|(old, new)| old.same(new));
            let new = if !same {
                with_operands(expr, &operands, ty)
            } else if ty.same(expr.ty()) || types_match(&ty, expr.ty()) {
                expr.clone()
            } else {
                with_type(expr, ty, expr.span())
            };
            let new = change(new);
            if closes && let Some(id) = open.pop() {
                let mut known = self.known.borrow_mut();
                known.used_by(id, open.last().copied());
                known.exprs.insert(id, new.clone());
            }
            done.push(new);
        }
        done.pop().unwrap_or_else(|| root.clone())
    }

    fn visit<'a>(
        &self,
        expr: &'a ExprRef,
        todo: &mut Vec<Task<'a>>,
        open: &mut Vec<usize>,
        done: &mut Vec<ExprRef>,
    ) {
        let id = expr.node().id();
        if expr.is_var() {
            self.known.borrow_mut().used_by(id, open.last().copied());
            done.push(self.get(id).unwrap_or(expr).clone());
        } else if expr.is_const() {
            done.push(expr.clone());
        } else if expr.node().owners() > 1 {
            let mut known = self.known.borrow_mut();
            if let Some(new) = known.exprs.get(&id).cloned() {
                known.used_by(id, open.last().copied());
                done.push(new);
                return;
            }
            open.push(id);
            todo.push(Task::Close(expr));
            todo.extend(expr.operands().rev().map(Task::Visit));
        } else {
            todo.push(Task::Make(expr));
            todo.extend(expr.operands().rev().map(Task::Visit));
        }
    }

    pub(super) fn exprs(&self, exprs: &[ExprRef]) -> Vec<ExprRef> {
        exprs.iter().map(|expr| self.expr(expr)).collect()
    }
}
