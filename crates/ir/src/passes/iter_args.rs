//! Replacement of iteration arguments whose initial value differs from that of their loop.

use super::map_stmt::{ResultSource, StmtMapper, map_stmt};
use super::rename::VarRenaming;
use super::{IdMap, with_grown_stack};
use crate::nodes::{ExprRef, IterArg, StmtRef, Var};

/// Replaces iteration arguments whose initial value differs from that of their loop, outer loops first.
///
/// A node that does not change keeps its identity.
pub(crate) fn refresh_iter_args(stmt: &StmtRef) -> StmtRef {
    let mut refresher = IterArgRefresher { vars: VarRenaming::default(), memo: IdMap::default() };
    refresher.map_body(stmt)
}

/// A mapper that replaces iteration arguments.
struct IterArgRefresher {
    vars: VarRenaming,
    /// The mapped shared statements. An argument belongs to one loop, so all occurrences have the same result.
    memo: IdMap<StmtRef>,
}

impl IterArgRefresher {
    /// Returns the replacement of a bound variable, which is new if its type mentions a replaced argument.
    fn refresh_bound_var(&mut self, var: &Var) -> Var {
        if let Some(replacement) = self.vars.get(var.id()) {
            return Var::try_from(replacement).unwrap_or_else(|_| var.clone());
        }
        let ty = self.vars.rename_type(var.ty());
        if ty.same(var.ty()) {
            return var.clone();
        }
        let fresh = Var::new(var.name(), ty, var.span());
        self.vars.set(var.id(), fresh.expr().clone());
        fresh
    }
}

impl StmtMapper for IterArgRefresher {
    fn map_expr(&mut self, expr: &ExprRef) -> ExprRef {
        self.vars.rename_expr(expr)
    }

    fn map_body(&mut self, body: &StmtRef) -> StmtRef {
        if let Some(replacement) = self.memo.get(&body.node().id()) {
            return replacement.clone();
        }
        let new = with_grown_stack(|| map_stmt(body, self));
        if body.node().owners() > 1 {
            self.memo.insert(body.node().id(), new.clone());
        }
        new
    }

    fn map_target(&mut self, var: &Var, _: &ExprRef) -> Var {
        self.refresh_bound_var(var)
    }

    fn map_loop_var(&mut self, var: &Var, _: &ExprRef) -> Var {
        self.refresh_bound_var(var)
    }

    fn map_iter_args(&mut self, args: &[IterArg], inits: &[ExprRef], _: &StmtRef) -> Vec<IterArg> {
        let types: Vec<_> = args.iter().map(|arg| self.vars.rename_type(arg.ty())).collect();
        self.vars.renew_iter_args(args, inits, &types)
    }

    fn map_results(&mut self, vars: &[Var], _: ResultSource<'_>) -> Vec<Var> {
        vars.iter().map(|var| self.refresh_bound_var(var)).collect()
    }
}
