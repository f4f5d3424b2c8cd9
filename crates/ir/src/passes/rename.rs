//! Renaming of variables in expressions and types.

use std::cell::RefCell;

use sapwood_structural::{Facts, Value};

use super::IdMap;
use crate::nodes::{ExprRef, IterArg, TypeRef, small_types_equal};
use crate::rebuild::{with_operands, with_type};

/// A renaming of variables, with a memo of renamed shared parts that stays valid until one of their variables changes.
#[derive(Default)]
pub(super) struct VarRenaming {
    vars: IdMap<ExprRef>,
    renamed: RefCell<RenamedParts>,
}

/// The renamed shared parts, with the dependencies that invalidate them.
#[derive(Default)]
struct RenamedParts {
    exprs: IdMap<ExprRef>,
    types: IdMap<TypeRef>,
    /// For each variable, shared part or type: the enclosing shared parts that depend on it.
    dependents: IdMap<Vec<usize>>,
}

impl RenamedParts {
    fn record_use(&mut self, part: usize, user: Option<usize>) {
        if let Some(user) = user {
            let dependents = self.dependents.entry(part).or_default();
            if dependents.last() != Some(&user) {
                dependents.push(user);
            }
        }
    }

    /// Removes the renamed parts that depend on a variable.
    fn invalidate(&mut self, var: usize) {
        let mut worklist = self.dependents.remove(&var).unwrap_or_default();
        while let Some(part) = worklist.pop() {
            let was_expr = self.exprs.remove(&part).is_some();
            if self.types.remove(&part).is_some() || was_expr {
                worklist.extend(self.dependents.remove(&part).unwrap_or_default());
            }
        }
    }
}

/// A pending step of renaming an expression.
enum RenameTask<'a> {
    Visit(&'a ExprRef),
    /// Rebuilds an operation from its renamed operands.
    Rebuild(&'a ExprRef),
    /// Rebuilds a shared operation and memoizes it.
    RebuildShared(&'a ExprRef),
}

impl VarRenaming {
    pub(super) fn get(&self, var: usize) -> Option<&ExprRef> {
        self.vars.get(&var)
    }

    pub(super) fn set(&mut self, var: usize, by: ExprRef) -> Option<ExprRef> {
        self.renamed.get_mut().invalidate(var);
        self.vars.insert(var, by)
    }

    pub(super) fn unset(&mut self, var: usize) {
        self.renamed.get_mut().invalidate(var);
        self.vars.remove(&var);
    }

    /// Returns iteration arguments with new initial values and types. One that changes is replaced by a new one, also where it
    /// is used.
    pub(super) fn renew_iter_args(
        &mut self,
        args: &[IterArg],
        inits: &[ExprRef],
        types: &[TypeRef],
    ) -> Vec<IterArg> {
        let mut new = Vec::with_capacity(args.len());
        for ((arg, init), ty) in args.iter().zip(inits).zip(types) {
            if arg.init_value().same(init) && ty.same(arg.ty()) {
                new.push(arg.clone());
                continue;
            }
            let fresh = IterArg::new(arg.name(), ty, init, arg.span());
            self.set(arg.id(), fresh.expr().clone());
            new.push(fresh);
        }
        new
    }

    /// Renames the variables in a type.
    pub(super) fn rename_type(&self, ty: &TypeRef) -> TypeRef {
        self.rename_type_for(ty, None)
    }

    fn rename_type_for(&self, ty: &TypeRef, user: Option<usize>) -> TypeRef {
        if !ty.node().facts().any(Facts::VAR) {
            return ty.clone();
        }
        let id = ty.node().id();
        let mut renamed = self.renamed.borrow_mut();
        renamed.record_use(id, user);
        if let Some(new) = renamed.types.get(&id) {
            return new.clone();
        }
        let new = sapwood_structural::map(ty, |node| {
            self.vars.get(&node.node().id()).map(|by| Value::from(by.clone()))
        })
        .unwrap_or_else(|_| ty.clone());
        for var in sapwood_structural::free_variables(ty) {
            renamed.record_use(var.node().id(), Some(id));
        }
        renamed.types.insert(id, new.clone());
        new
    }

    /// Renames the variables in an expression. A part that does not change keeps its identity.
    pub(super) fn rename_expr(&self, root: &ExprRef) -> ExprRef {
        self.rename_expr_with(root, |expr| expr)
    }

    /// Renames the variables in an expression and applies `change` to every operation, bottom up.
    ///
    /// `change` must always return the same for an expression, since the results are memoized.
    pub(super) fn rename_expr_with(
        &self,
        root: &ExprRef,
        mut change: impl FnMut(ExprRef) -> ExprRef,
    ) -> ExprRef {
        let mut done: Vec<ExprRef> = Vec::new();
        // The shared parts under construction, the innermost last.
        let mut open_shared: Vec<usize> = Vec::new();
        let mut worklist: Vec<RenameTask<'_>> = vec![RenameTask::Visit(root)];
        while let Some(task) = worklist.pop() {
            let (expr, is_shared) = match task {
                RenameTask::Visit(expr) => {
                    self.visit_expr(expr, &mut worklist, &mut open_shared, &mut done);
                    continue;
                }
                RenameTask::Rebuild(expr) => (expr, false),
                RenameTask::RebuildShared(expr) => (expr, true),
            };
            let operands = done.split_off(done.len() - expr.operands().len());
            let ty = self.rename_type_for(expr.ty(), open_shared.last().copied());
            let same = expr.operands().zip(&operands).all(|(old, new)| old.same(new));
            let new = if !same {
                with_operands(expr, &operands, ty)
            } else if ty.same(expr.ty()) || small_types_equal(&ty, expr.ty()) {
                expr.clone()
            } else {
                with_type(expr, ty, expr.span())
            };
            let new = change(new);
            if is_shared && let Some(id) = open_shared.pop() {
                let mut renamed = self.renamed.borrow_mut();
                renamed.record_use(id, open_shared.last().copied());
                renamed.exprs.insert(id, new.clone());
            }
            done.push(new);
        }
        done.pop().unwrap_or_else(|| root.clone())
    }

    fn visit_expr<'a>(
        &self,
        expr: &'a ExprRef,
        worklist: &mut Vec<RenameTask<'a>>,
        open_shared: &mut Vec<usize>,
        done: &mut Vec<ExprRef>,
    ) {
        let id = expr.node().id();
        if expr.is_var() {
            self.renamed.borrow_mut().record_use(id, open_shared.last().copied());
            done.push(self.get(id).unwrap_or(expr).clone());
        } else if expr.is_const() {
            done.push(expr.clone());
        } else if expr.node().owners() > 1 {
            let mut renamed = self.renamed.borrow_mut();
            if let Some(new) = renamed.exprs.get(&id).cloned() {
                renamed.record_use(id, open_shared.last().copied());
                done.push(new);
                return;
            }
            open_shared.push(id);
            worklist.push(RenameTask::RebuildShared(expr));
            worklist.extend(expr.operands().rev().map(RenameTask::Visit));
        } else {
            worklist.push(RenameTask::Rebuild(expr));
            worklist.extend(expr.operands().rev().map(RenameTask::Visit));
        }
    }

    pub(super) fn rename_exprs(&self, exprs: &[ExprRef]) -> Vec<ExprRef> {
        exprs.iter().map(|expr| self.rename_expr(expr)).collect()
    }
}
