//! An expression that an earlier assignment has computed is not computed again: its variable is
//! read. Equal expressions are found by the structural engine.
//!
//! Only variables that are bound once take part, so that what was computed is still so; a value is
//! known within the body that computed it and those inside.

use std::collections::HashMap;

use sapwood_structural::{Options, StructuralKey};

use super::{Map, PassError, bindings, calls, check_sharing, deeper};
use crate::nodes::{
    ExprRef, Function, FunctionRef, Program, ProgramRef, Stmt, StmtRef, Var, types_match,
};

/// Reads a variable instead of computing its value once more.
///
/// # Errors
/// If shared statements stand for too many.
pub fn cse(program: &Program) -> Result<ProgramRef, PassError> {
    program.map_functions(|function| {
        check_sharing(&function.name, &function.body)?;
        Ok(in_function(function))
    })
}

fn in_function(function: &FunctionRef) -> FunctionRef {
    let mut cse = Cse { bound: bindings(function), known: HashMap::new(), order: Vec::new() };
    let body = cse.stmt(&function.body);
    if body.same(&function.body) {
        return function.clone();
    }
    let (params, types) = (function.params.iter().cloned(), function.return_types.iter().cloned());
    Function::new(&function.name, params, types, &body, function.span)
}

struct Cse {
    bound: Map<u32>,
    /// Values that are known, and the variable that holds each.
    known: HashMap<StructuralKey<ExprRef>, Var>,
    /// In what order they became known.
    order: Vec<StructuralKey<ExprRef>>,
}

impl Cse {
    fn once(&self, var: usize) -> bool {
        self.bound.get(&var) == Some(&1)
    }

    /// Whether the value is the same wherever it is read.
    fn is_fixed(&self, value: &ExprRef) -> bool {
        !value.is_var()
            && !value.is_const()
            && !calls(value)
            && super::variables(value).into_iter().all(|var| self.once(var))
    }

    fn stmt(&mut self, stmt: &StmtRef) -> StmtRef {
        deeper(|| self.stmt_here(stmt))
    }

    fn inner(&mut self, body: &StmtRef) -> StmtRef {
        let mark = self.order.len();
        let body = self.stmt(body);
        for key in self.order.drain(mark..) {
            self.known.remove(&key);
        }
        body
    }

    fn stmt_here(&mut self, stmt: &StmtRef) -> StmtRef {
        match &**stmt {
            Stmt::Assign { var, value, span } if self.is_fixed(value) => {
                let Ok(key) = StructuralKey::new(value.clone(), Options::default()) else {
                    return stmt.clone();
                };
                if let Some(first) = self.known.get(&key) {
                    return Stmt::assign(var, first, *span);
                }
                if self.once(var.id()) && types_match(var.ty(), value.ty()) {
                    self.order.push(key.clone());
                    self.known.insert(key, var.clone());
                }
                stmt.clone()
            }
            Stmt::Seq { stmts, span } | Stmt::Ops { stmts, span } => {
                let new: Vec<StmtRef> = stmts.iter().map(|stmt| self.stmt(stmt)).collect();
                if new.iter().zip(stmts).all(|(new, old)| new.same(old)) {
                    return stmt.clone();
                }
                match &**stmt {
                    Stmt::Ops { .. } => Stmt::ops(new, *span),
                    _ => Stmt::seq(new, *span),
                }
            }
            Stmt::If { condition, then_body, else_body, return_vars, span } => {
                let then_body = self.inner(then_body);
                let else_body = else_body.as_ref().map(|body| self.inner(body));
                let results = return_vars.iter().cloned();
                Stmt::if_(condition, &then_body, else_body.as_ref(), results, *span)
            }
            Stmt::For {
                loop_var, start, stop, step, iter_args, body, return_vars, span, ..
            } => {
                let body = self.inner(body);
                let (args, results) = (iter_args.iter().cloned(), return_vars.iter().cloned());
                Stmt::for_(loop_var, [start, stop, step], args, &body, results, *span)
            }
            Stmt::While { iter_args, condition, body, return_vars, span, .. } => {
                let body = self.inner(body);
                let (args, results) = (iter_args.iter().cloned(), return_vars.iter().cloned());
                Stmt::while_(args, condition, &body, results, *span)
            }
            _ => stmt.clone(),
        }
    }
}
