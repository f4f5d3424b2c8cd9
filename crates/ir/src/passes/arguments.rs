//! Iteration arguments that start from the initial values of their loop.

use super::rename::Renaming;
use super::walk::{Inside, Parts, map_parts};
use super::{Map, deeper};
use crate::nodes::{ExprRef, IterArg, StmtRef, Var};

/// The statement with new iteration arguments in the place of those that start from another value than
/// their loop says, from the outermost loop in; what does not change keeps its identity.
pub(crate) fn with_fresh_arguments(stmt: &StmtRef) -> StmtRef {
    let mut fresh = Fresh { vars: Renaming::default(), known: Map::default() };
    fresh.body(stmt)
}

struct Fresh {
    vars: Renaming,
    /// What became of shared statements. An argument belongs to one loop, so they become one thing.
    known: Map<StmtRef>,
}

impl Fresh {
    /// A variable whose type mentions an argument is another one, too.
    fn bound(&mut self, var: &Var) -> Var {
        if let Some(known) = self.vars.get(var.id()) {
            return Var::try_from(known).unwrap_or_else(|_| var.clone());
        }
        let ty = self.vars.ty(var.ty());
        if ty.same(var.ty()) {
            return var.clone();
        }
        let fresh = Var::new(var.name(), ty, var.span());
        self.vars.set(var.id(), fresh.expr().clone());
        fresh
    }
}

impl Parts for Fresh {
    fn expr(&mut self, expr: &ExprRef) -> ExprRef {
        self.vars.expr(expr)
    }

    fn body(&mut self, body: &StmtRef) -> StmtRef {
        if let Some(known) = self.known.get(&body.node().id()) {
            return known.clone();
        }
        let new = deeper(|| map_parts(body, self));
        if body.node().owners() > 1 {
            self.known.insert(body.node().id(), new.clone());
        }
        new
    }

    fn target(&mut self, var: &Var, _: &ExprRef) -> Var {
        self.bound(var)
    }

    fn loop_var(&mut self, var: &Var, _: &ExprRef) -> Var {
        self.bound(var)
    }

    fn args(&mut self, args: &[IterArg], inits: &[ExprRef], _: &StmtRef) -> Vec<IterArg> {
        let types: Vec<_> = args.iter().map(|arg| self.vars.ty(arg.ty())).collect();
        let mut new = Vec::with_capacity(args.len());
        for ((arg, init), ty) in args.iter().zip(inits).zip(types) {
            if arg.init_value().same(init) && ty.same(arg.ty()) {
                new.push(arg.clone());
                continue;
            }
            let fresh = IterArg::new(arg.name(), ty, init, arg.span());
            self.vars.set(arg.id(), fresh.expr().clone());
            new.push(fresh);
        }
        new
    }

    fn results(&mut self, vars: &[Var], _: Inside<'_>) -> Vec<Var> {
        vars.iter().map(|var| self.bound(var)).collect()
    }
}
