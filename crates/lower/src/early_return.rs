//! Early returns: a `return` in a loop, or in a branch from which other paths continue.
//!
//! An early return assigns a flag and the results. These are extra variables that branches yield and loops carry like any
//! other variable. Loops stop when the flag is set, and the statements after one that may have returned run only if the
//! flag is not set.

use sapwood_ir::{ExprRef, Type, Var};
use sapwood_ptir::ops::{BroadcastTo, Cond, Refine, Select};
use sapwood_ptir::{Dim, Op, ResultType, TensorLiteral, ValueId, ValueType};
use sapwood_types::Span;

use crate::function::FunctionLowering;
use crate::if_stmt::{JoinPosition, LoweredBranch};
use crate::scope::LoweredValue;
use crate::stmt::{BlockEnd, PendingStmts};

/// The variables that an early return assigns.
pub(crate) struct EarlyReturnVars {
    /// True once the function has returned.
    pub(crate) flag: Var,
    /// The values that the function returns.
    pub(crate) results: Vec<Var>,
}

impl EarlyReturnVars {
    /// Creates the variables for a function with this number of results.
    pub(crate) fn new(results: usize) -> Self {
        let var = |name: &str| Var::new(name, Type::unknown(), Span::unknown());
        Self { flag: var("returned"), results: (0..results).map(|_| var("result")).collect() }
    }

    pub(crate) fn vars(&self) -> impl Iterator<Item = &ExprRef> {
        std::iter::once(&self.flag).chain(&self.results).map(Var::expr)
    }
}

impl<'a> FunctionLowering<'a> {
    /// Binds the flag to false and the results to placeholders before a statement that may return, unless they are bound.
    ///
    /// Returns whether they are bound now; they are not if a result's type has no placeholder.
    pub(crate) fn init_return_vars(&mut self) -> bool {
        let vars = &self.summary.return_vars;
        if self.scope.get(vars.flag.expr()).is_some() {
            return true;
        }
        let span = self.span;
        let types = &self.types.results;
        let first: Option<Vec<ValueId>> =
            types.iter().map(|ty| self.placeholder(ty, span)).collect();
        let Some(first) = first else { return false };
        let unset = self.bool_constant(false, span);
        self.bind(vars.flag.expr(), Some(unset));
        for (var, value) in vars.results.iter().zip(first) {
            self.bind(var.expr(), Some(value));
        }
        true
    }

    /// Lowers an early `return` of these values.
    pub(crate) fn lower_early_return(&mut self, values: Vec<LoweredValue>) {
        let (vars, span) = (&self.summary.return_vars, self.span);
        if self.scope.get(vars.flag.expr()).is_none() {
            self.report_unsupported_return();
            return;
        }
        let types = &self.types.results;
        for ((var, value), ty) in vars.results.iter().zip(values).zip(types) {
            let value = value.and_then(|value| self.refine_to(value, ty, span));
            self.bind(var.expr(), value);
        }
        let set = self.bool_constant(true, span);
        self.bind(vars.flag.expr(), Some(set));
    }

    fn report_unsupported_return(&mut self) {
        let open = self.types.results.iter().find(|ty| has_unknown_dims(ty));
        let open = open.map_or_else(String::new, ToString::to_string);
        let place = if self.loop_depth > 0 {
            "inside a loop"
        } else {
            "in a branch from which other paths continue"
        };
        let message = format!(
            "a return {place} cannot be lowered where a result is {open}: its dims must be known"
        );
        let help = "assign the value and return it at the end of the function";
        self.report_with_help(self.span, message, help);
    }

    // Returns the value, refined to the declared result type if the types are compatible but differ in their dims.
    fn refine_to(&mut self, value: ValueId, ty: &ValueType, span: Span) -> LoweredValue {
        if self.value_type(value) == ty || !self.value_type(value).compatible(ty) {
            return Some(value);
        }
        self.emit(Refine { input: value, ty: ResultType(ty.clone()) }, span)
    }

    /// Lowers the statements after one that may have returned; they run only if it has not.
    pub(crate) fn lower_rest_unless_returned(
        &mut self,
        rest: Vec<PendingStmts<'a>>,
        tail: bool,
    ) -> BlockEnd {
        let span = self.span;
        let flag = self.scope.get(self.summary.return_vars.flag.expr()).flatten();
        if tail {
            let vars = &self.summary.return_vars;
            let results = vars.results.iter().map(|var| self.scope.get(var.expr()).flatten());
            let results: Vec<LoweredValue> = results.collect();
            return self.cond_of_results_or_rest(flag, results, rest);
        }
        let is_empty = |pending: &PendingStmts<'a>| matches!(pending, PendingStmts::List(left) if left.len() == 0);
        if rest.iter().all(is_empty) {
            return BlockEnd::FallsThrough;
        }
        let skipped = LoweredBranch::already_returned(self.writer.new_body());
        let rest = self.lower_stmts_as_branch(rest);
        let ended = match rest.end {
            BlockEnd::FallsThrough => BlockEnd::FallsThrough,
            BlockEnd::Yields(_) => BlockEnd::Yields(Vec::new()),
            BlockEnd::Returns(_) | BlockEnd::ReturnedEarly => BlockEnd::ReturnedEarly,
        };
        self.span = span;
        let values = self.join_branches(flag, [&skipped, &rest], JoinPosition::EndOfBody, span);
        if let BlockEnd::Yields(_) = ended { BlockEnd::Yields(values) } else { ended }
    }

    /// Returns the end of a block whose last statement always returns, such as `while True`.
    pub(crate) fn end_after_return(&self, tail: bool) -> BlockEnd {
        if !tail {
            return BlockEnd::ReturnedEarly;
        }
        let vars = &self.summary.return_vars;
        let results = vars.results.iter().map(|var| self.scope.get(var.expr()).flatten());
        BlockEnd::Returns(results.collect())
    }

    /// Returns some value of a type, for a place where the value is never used.
    ///
    /// The value is zeros. If a dim has neither a number nor a name, it is a variable of that type, or none if there is none.
    pub(crate) fn placeholder(&mut self, ty: &ValueType, span: Span) -> LoweredValue {
        self.zero_of_type(ty, span)
            .or_else(|| self.scope.some_bound_values().find(|&value| self.value_type(value) == ty))
    }

    fn zero_of_type(&mut self, ty: &ValueType, span: Span) -> LoweredValue {
        match ty {
            ValueType::Tensor(tensor) if tensor.dims.contains(&Dim::Unknown) => None,
            ValueType::Tensor(tensor) => {
                let shape = tensor.known_shape();
                let literal =
                    TensorLiteral::filled(tensor.dtype, shape.as_deref().unwrap_or_default(), 0.0);
                let zero = self.writer.constant(&literal.ok()?, span);
                if shape.is_some() {
                    return Some(zero);
                }
                // Named dims come from parameters, so they are known everywhere in the function.
                self.emit(BroadcastTo { input: zero, ty: ResultType(ty.clone()) }, span)
            }
            ValueType::Tuple(types) => {
                let zeros: Option<Vec<ValueId>> =
                    types.iter().map(|ty| self.zero_of_type(ty, span)).collect();
                self.make_tuple(&zeros?, span)
            }
            ValueType::Token | ValueType::Opaque => None,
        }
    }

    /// Lowers the condition of a loop that also stops when the function has returned.
    pub(crate) fn condition_unless_returned(&mut self, condition: &'a ExprRef) -> LoweredValue {
        let span = self.span;
        let flag = self.scope.get(self.summary.return_vars.flag.expr()).flatten();
        // The condition may have effects, so it is evaluated only if the function has not returned.
        let (stop, proceed) = (self.writer.new_body(), self.writer.new_body());
        let outer = std::mem::replace(&mut self.body, proceed);
        let snapshot = self.scope.snapshot();
        let holds = self.lower_condition(condition);
        self.scope.rollback_to(snapshot);
        self.body = outer;
        let no = self.bool_constant(false, span);
        self.end_region(stop, vec![Some(no)])?;
        self.end_region(proceed, vec![holds])?;
        let cond = Cond { pred: flag?, then: stop, otherwise: proceed };
        self.append(&cond.into_parts(), span)?.first().copied()
    }

    /// Combines the condition of a loop with the flag: the loop also stops when the function has returned.
    pub(crate) fn continues_unless_returned(
        &mut self,
        continues: LoweredValue,
        span: Span,
    ) -> LoweredValue {
        let flag = self.scope.get(self.summary.return_vars.flag.expr()).flatten();
        let no = self.bool_constant(false, span);
        self.emit(Select { pred: flag?, on_true: no, on_false: continues? }, span)
    }
}

// Returns whether a type has a dim with neither a number nor a name; a token counts too, since it has no placeholder.
fn has_unknown_dims(ty: &ValueType) -> bool {
    match ty {
        ValueType::Tensor(tensor) => tensor.dims.contains(&Dim::Unknown),
        ValueType::Tuple(types) => types.iter().any(has_unknown_dims),
        ValueType::Token | ValueType::Opaque => true,
    }
}
