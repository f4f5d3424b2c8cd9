//! A `return` that other paths pass by: in a loop, or in a branch that goes on elsewhere.
//!
//! It sets a flag and the results, as assignments to variables of our own would, so that they leave branches and go round
//! loops like any other. Loops stop when the flag is set, and what comes after a statement that may have returned runs
//! only if it is not.

use sapwood_ir::{ExprRef, Type, Var};
use sapwood_ptir::ops::{BroadcastTo, Cond, Refine, Select};
use sapwood_ptir::{Dim, Op, ResultType, TensorLiteral, ValueId, ValueType};
use sapwood_types::Span;

use crate::function::Lowering;
use crate::if_stmt::{After, Branch};
use crate::scope::Val;
use crate::stmt::{End, Frame};

/// The variables that a `return` sets.
pub(crate) struct Early {
    /// Whether the function has returned.
    pub(crate) flag: Var,
    /// What it returns.
    pub(crate) results: Vec<Var>,
}

impl Early {
    /// For a function with this many results.
    pub(crate) fn new(results: usize) -> Self {
        let var = |name: &str| Var::new(name, Type::unknown(), Span::unknown());
        Self { flag: var("returned"), results: (0..results).map(|_| var("result")).collect() }
    }

    pub(crate) fn vars(&self) -> impl Iterator<Item = &ExprRef> {
        std::iter::once(&self.flag).chain(&self.results).map(Var::expr)
    }
}

impl<'a> Lowering<'a> {
    /// Before a statement that may return: the flag is not set, unless it has a value already. Whether there is a flag
    /// now; there is none if the results have no value to start with.
    pub(crate) fn may_return(&mut self) -> bool {
        let early = &self.survey.early;
        if self.scope.get(early.flag.expr()).is_some() {
            return true;
        }
        let span = self.span;
        let types = &self.types.results;
        let first: Option<Vec<ValueId>> =
            types.iter().map(|ty| self.placeholder(ty, span)).collect();
        let Some(first) = first else { return false };
        let unset = self.bool(false, span);
        self.bind(early.flag.expr(), Some(unset));
        for (var, value) in early.results.iter().zip(first) {
            self.bind(var.expr(), Some(value));
        }
        true
    }

    /// A `return` of these values that other paths pass by.
    pub(crate) fn return_early(&mut self, values: Vec<Val>) {
        let (early, span) = (&self.survey.early, self.span);
        if self.scope.get(early.flag.expr()).is_none() {
            self.refuse_return();
            return;
        }
        let types = &self.types.results;
        for ((var, value), ty) in early.results.iter().zip(values).zip(types) {
            let value = value.and_then(|value| self.seen_as(value, ty, span));
            self.bind(var.expr(), value);
        }
        let set = self.bool(true, span);
        self.bind(early.flag.expr(), Some(set));
    }

    fn refuse_return(&mut self) {
        let open = self.types.results.iter().find(|ty| has_unknown_dims(ty));
        let open = open.map_or_else(String::new, ToString::to_string);
        let place = if self.loops > 0 {
            "inside of a loop"
        } else {
            "in a branch that goes on on other paths"
        };
        let message = format!(
            "a return {place} cannot be lowered where a result is {open}: its dims must be known"
        );
        let help = "assign the value and return it at the end of the function";
        self.problem_with_help(self.span, message, help);
    }

    // The value with the type that the function states, if dims of it are open.
    fn seen_as(&mut self, value: ValueId, ty: &ValueType, span: Span) -> Val {
        if self.value_type(value) == ty || !self.value_type(value).compatible(ty) {
            return Some(value);
        }
        self.emit(Refine { input: value, ty: ResultType(ty.clone()) }, span)
    }

    /// What comes after a statement that may have returned: nothing if it has.
    pub(crate) fn unless_returned(&mut self, rest: Vec<Frame<'a>>, tail: bool) -> End {
        let span = self.span;
        let flag = self.scope.get(self.survey.early.flag.expr()).flatten();
        if tail {
            let early = &self.survey.early;
            let results = early.results.iter().map(|var| self.scope.get(var.expr()).flatten());
            let results: Vec<Val> = results.collect();
            return self.rest_or(flag, results, rest);
        }
        let nothing = |frame: &Frame<'a>| matches!(frame, Frame::Stmts(left) if left.len() == 0);
        if rest.iter().all(nothing) {
            return End::Next;
        }
        let skipped = Branch::returned(self.out.new_body());
        let rest = self.branch_of(rest);
        let ended = match rest.end {
            End::Next => End::Next,
            End::Yields(_) => End::Yields(Vec::new()),
            End::Returns(_) | End::Returned => End::Returned,
        };
        self.span = span;
        let values = self.join(flag, [&skipped, &rest], After::End, span);
        if let End::Yields(_) = ended { End::Yields(values) } else { ended }
    }

    /// After a loop that only a `return` ends: the function has returned.
    pub(crate) fn has_returned(&self, tail: bool) -> End {
        if !tail {
            return End::Returned;
        }
        let early = &self.survey.early;
        let results = early.results.iter().map(|var| self.scope.get(var.expr()).flatten());
        End::Returns(results.collect())
    }

    /// A value of a type, for what is never looked at: zeros, or where a dim has neither number nor name, a variable of the
    /// type. None if there is no such variable.
    pub(crate) fn placeholder(&mut self, ty: &ValueType, span: Span) -> Val {
        self.zero(ty, span)
            .or_else(|| self.scope.at_hand().find(|&value| self.value_type(value) == ty))
    }

    fn zero(&mut self, ty: &ValueType, span: Span) -> Val {
        match ty {
            ValueType::Tensor(tensor) if tensor.dims.contains(&Dim::Unknown) => None,
            ValueType::Tensor(tensor) => {
                let shape = tensor.known_shape();
                let literal =
                    TensorLiteral::filled(tensor.dtype, shape.as_deref().unwrap_or_default(), 0.0);
                let zero = self.out.constant(&literal.ok()?, span);
                if shape.is_some() {
                    return Some(zero);
                }
                // Named dims are those of parameters: they are known wherever this stands.
                self.emit(BroadcastTo { input: zero, ty: ResultType(ty.clone()) }, span)
            }
            ValueType::Tuple(types) => {
                let zeros: Option<Vec<ValueId>> =
                    types.iter().map(|ty| self.zero(ty, span)).collect();
                self.make_tuple(&zeros?, span)
            }
            ValueType::Token => None,
        }
    }

    /// The condition of a loop that stops when the function has returned.
    pub(crate) fn condition_unless_returned(&mut self, condition: &'a ExprRef) -> Val {
        let span = self.span;
        let flag = self.scope.get(self.survey.early.flag.expr()).flatten();
        // Not evaluated once more: it may have effects.
        let (stop, go) = (self.out.new_body(), self.out.new_body());
        let outer = std::mem::replace(&mut self.body, go);
        let mark = self.scope.mark();
        let holds = self.condition(condition);
        self.scope.back_to(mark);
        self.body = outer;
        let no = self.bool(false, span);
        self.end_region(stop, vec![Some(no)])?;
        self.end_region(go, vec![holds])?;
        let cond = Cond { pred: flag?, then: stop, otherwise: go };
        self.append(&cond.into_parts(), span)?.first().copied()
    }

    /// Whether a loop goes on, if it also stops when the function has returned.
    pub(crate) fn goes_on_unless_returned(&mut self, goes_on: Val, span: Span) -> Val {
        let flag = self.scope.get(self.survey.early.flag.expr()).flatten();
        let no = self.bool(false, span);
        self.emit(Select { pred: flag?, on_true: no, on_false: goes_on? }, span)
    }
}

fn has_unknown_dims(ty: &ValueType) -> bool {
    match ty {
        ValueType::Tensor(tensor) => tensor.dims.contains(&Dim::Unknown),
        ValueType::Tuple(types) => types.iter().any(has_unknown_dims),
        ValueType::Token => true,
    }
}
