//! What `for` and `while` have in common: values that go round.

use sapwood_ir::{ExprRef, IterArg, StmtRef, TypeRef, Var};
use sapwood_ptir::{BodyId, ValueId, ValueType};

use crate::function::Lowering;
use crate::scope::{Mark, Val};
use crate::stmt::{End, Frame};
use crate::types::carried;

/// What goes round a loop: its iteration arguments, then the variables that it changes.
pub(crate) struct Round<'a> {
    own: usize,
    vars: Vec<&'a ExprRef>,
    inits: Vec<Val>,
    /// None where the first value was complained about.
    types: Vec<Option<ValueType>>,
}

/// A region of a loop that is being written.
pub(crate) struct Region {
    pub(crate) body: BodyId,
    pub(crate) counters: Vec<ValueId>,
    outer: BodyId,
    mark: Mark,
}

impl<'a> Lowering<'a> {
    /// What goes round a loop with this body. Variables that have no value before it stay inside.
    pub(crate) fn round(
        &mut self,
        iter_args: &'a [IterArg],
        inits: Vec<Val>,
        body: &'a StmtRef,
        loop_var: Option<&'a Var>,
    ) -> Round<'a> {
        let mut round = Round {
            own: iter_args.len(),
            vars: iter_args.iter().map(IterArg::expr).collect(),
            inits,
            types: Vec::new(),
        };
        let assigned = self.survey.assigned(body, &mut self.assigned);
        let counter = loop_var
            .map(Var::expr)
            .filter(|var| !assigned.iter().any(|other| other.node().id() == var.node().id()));
        for var in assigned.iter().copied().chain(counter) {
            if let Some(value) = self.scope.get(var)
                && self.survey.is_read(var)
            {
                round.vars.push(var);
                round.inits.push(value);
            }
        }
        for (var, init) in round.vars.iter().zip(&round.inits) {
            let ty = init.map(|init| self.carried_type(var.ty(), init));
            round.types.push(ty);
        }
        round
    }

    fn carried_type(&self, declared: &TypeRef, init: ValueId) -> ValueType {
        let declared = self.signature.dims.convert(declared).ok();
        carried(self.value_type(init), declared.as_ref())
    }

    /// The first values, those of the counters before them.
    pub(crate) fn first_values(&self, counters: &[Val], round: &Round<'a>) -> Option<Vec<ValueId>> {
        counters.iter().chain(&round.inits).copied().collect()
    }

    /// Opens a region that takes the counters, which are called `name`, and what goes round.
    pub(crate) fn enter(
        &mut self,
        counters: &[ValueType],
        name: Option<&str>,
        round: &Round<'a>,
    ) -> Region {
        let body = self.out.new_body();
        let outer = std::mem::replace(&mut self.body, body);
        let mark = self.scope.mark();
        let counters: Vec<ValueId> = counters.iter().map(|ty| self.out.param(body, ty)).collect();
        if let (Some(&last), Some(name)) = (counters.last(), name) {
            self.out.set_hint(last, name);
        }
        for (&var, ty) in round.vars.iter().zip(&round.types) {
            let param = ty.as_ref().map(|ty| self.out.param(body, ty));
            self.name(param, var.name().unwrap_or(""));
            self.bind(var, param);
        }
        Region { body, counters, outer, mark }
    }

    /// Lowers the body of a loop into the open region and gives what goes into the next round.
    pub(crate) fn loop_body(&mut self, body: &'a StmtRef, round: &Round<'a>) -> Vec<Val> {
        let own = round.vars[..round.own].iter().map(|var| self.scope.get(var).flatten());
        let own: Vec<Val> = own.collect();
        let instead = std::mem::replace(&mut self.yields_instead, own.clone());
        let outlives = std::mem::replace(&mut self.outlives, false);
        self.loops += 1;
        let end = self.block(vec![Frame::One(body)], false);
        self.loops -= 1;
        self.yields_instead = instead;
        self.outlives = outlives;
        let mut values = match end {
            End::Yields(values) if values.len() == round.own => values,
            // Nobody looks at them.
            End::Returned => own,
            _ => vec![None; round.own],
        };
        values.extend(round.vars[round.own..].iter().map(|var| self.scope.get(var).flatten()));
        values
    }

    /// Closes a region with a yield; nothing if it was complained about.
    pub(crate) fn leave(&mut self, region: &Region, values: Vec<Val>) -> Option<BodyId> {
        self.scope.back_to(region.mark);
        self.body = region.outer;
        self.end_region(region.body, values).map(|()| region.body)
    }

    /// After the loop: variables are what they were in the end, results what the iteration arguments were.
    pub(crate) fn after_loop(
        &mut self,
        results: Option<&[ValueId]>,
        counters: usize,
        round: &Round<'a>,
        return_vars: &'a [Var],
    ) {
        let result = |index: usize| -> Val { results?.get(counters + index).copied() };
        for (index, &var) in round.vars.iter().enumerate().skip(round.own) {
            let value = result(index);
            self.name(value, var.name().unwrap_or(""));
            self.bind(var, value);
        }
        if round.own > 0 {
            self.bind_results(return_vars, (0..round.own).map(result).collect());
        }
    }
}
