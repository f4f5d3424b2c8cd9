//! Loop-carried values and loop regions, shared by `for` and `while`.

use sapwood_ir::{ExprRef, IterArg, StmtRef, TypeRef, Var};
use sapwood_ptir::{BodyId, ValueId, ValueType};

use crate::function::FunctionLowering;
use crate::scope::{LoweredValue, ScopeSnapshot};
use crate::stmt::{BlockEnd, PendingStmts};
use crate::types::widen_to_declared;

/// The values that a loop carries: its iteration arguments, then the variables that it assigns.
pub(crate) struct LoopCarries<'a> {
    iter_arg_count: usize,
    vars: Vec<&'a ExprRef>,
    inits: Vec<LoweredValue>,
    /// None if an error was reported for the initial value.
    types: Vec<Option<ValueType>>,
}

/// An open region of a loop.
pub(crate) struct LoopRegion {
    pub(crate) body: BodyId,
    pub(crate) counters: Vec<ValueId>,
    outer: BodyId,
    snapshot: ScopeSnapshot,
}

impl<'a> FunctionLowering<'a> {
    /// Returns the values carried by a loop with this body. A variable without a value before the loop is not carried.
    pub(crate) fn loop_carries(
        &mut self,
        iter_args: &'a [IterArg],
        inits: Vec<LoweredValue>,
        body: &'a StmtRef,
        loop_var: Option<&'a Var>,
    ) -> LoopCarries<'a> {
        let mut carries = LoopCarries {
            iter_arg_count: iter_args.len(),
            vars: iter_args.iter().map(IterArg::expr).collect(),
            inits,
            types: Vec::new(),
        };
        let assigned = self.summary.assigned_vars(body, &mut self.assigned_in_loops);
        let counter = loop_var
            .map(Var::expr)
            .filter(|var| !assigned.iter().any(|other| other.node().id() == var.node().id()));
        for var in assigned.iter().copied().chain(counter) {
            if let Some(value) = self.scope.get(var)
                && self.summary.is_read(var)
            {
                carries.vars.push(var);
                carries.inits.push(value);
            }
        }
        for (var, init) in carries.vars.iter().zip(&carries.inits) {
            let ty = init.map(|init| self.carried_type(var.ty(), init));
            carries.types.push(ty);
        }
        carries
    }

    fn carried_type(&self, declared: &TypeRef, init: ValueId) -> ValueType {
        let declared = self.signature.dims.convert(declared).ok();
        widen_to_declared(self.value_type(init), declared.as_ref())
    }

    /// Returns the initial values of the counters and of the carried values.
    pub(crate) fn initial_values(
        &self,
        counters: &[LoweredValue],
        carries: &LoopCarries<'a>,
    ) -> Option<Vec<ValueId>> {
        counters.iter().chain(&carries.inits).copied().collect()
    }

    /// Opens a region whose parameters are the counters, the last of them called `name`, and the carried values.
    pub(crate) fn open_loop_region(
        &mut self,
        counters: &[ValueType],
        name: Option<&str>,
        carries: &LoopCarries<'a>,
    ) -> LoopRegion {
        let body = self.writer.new_body();
        let outer = std::mem::replace(&mut self.body, body);
        let snapshot = self.scope.snapshot();
        let counters: Vec<ValueId> =
            counters.iter().map(|ty| self.writer.param(body, ty)).collect();
        if let (Some(&last), Some(name)) = (counters.last(), name) {
            self.writer.set_hint(last, name);
        }
        for (&var, ty) in carries.vars.iter().zip(&carries.types) {
            let param = ty.as_ref().map(|ty| self.writer.param(body, ty));
            self.hint_name(param, var.name().unwrap_or(""));
            self.bind(var, param);
        }
        LoopRegion { body, counters, outer, snapshot }
    }

    /// Lowers the body of a loop into the open region and returns the carried values for the next trip.
    pub(crate) fn lower_loop_body(
        &mut self,
        body: &'a StmtRef,
        carries: &LoopCarries<'a>,
    ) -> Vec<LoweredValue> {
        let own =
            carries.vars[..carries.iter_arg_count].iter().map(|var| self.scope.get(var).flatten());
        let own: Vec<LoweredValue> = own.collect();
        let instead = std::mem::replace(&mut self.yields_after_return, own.clone());
        let outlives = std::mem::replace(&mut self.vars_outlive_body, false);
        self.loop_depth += 1;
        let end = self.lower_block(vec![PendingStmts::One(body)], false);
        self.loop_depth -= 1;
        self.yields_after_return = instead;
        self.vars_outlive_body = outlives;
        let mut values = match end {
            BlockEnd::Yields(values) if values.len() == carries.iter_arg_count => values,
            // These values are never used.
            BlockEnd::ReturnedEarly => own,
            _ => vec![None; carries.iter_arg_count],
        };
        values.extend(
            carries.vars[carries.iter_arg_count..].iter().map(|var| self.scope.get(var).flatten()),
        );
        values
    }

    /// Closes a region with a yield; returns none if a value is missing because of an error.
    pub(crate) fn close_loop_region(
        &mut self,
        region: &LoopRegion,
        values: Vec<LoweredValue>,
    ) -> Option<BodyId> {
        self.scope.rollback_to(region.snapshot);
        self.body = region.outer;
        self.end_region(region.body, values).map(|()| region.body)
    }

    /// Binds the assigned variables and the result variables to the final values of the loop.
    pub(crate) fn bind_loop_results(
        &mut self,
        results: Option<&[ValueId]>,
        counters: usize,
        carries: &LoopCarries<'a>,
        return_vars: &'a [Var],
    ) {
        let result = |index: usize| -> LoweredValue { results?.get(counters + index).copied() };
        for (index, &var) in carries.vars.iter().enumerate().skip(carries.iter_arg_count) {
            let value = result(index);
            self.hint_name(value, var.name().unwrap_or(""));
            self.bind(var, value);
        }
        if carries.iter_arg_count > 0 {
            self.bind_results(return_vars, (0..carries.iter_arg_count).map(result).collect());
        }
    }
}
