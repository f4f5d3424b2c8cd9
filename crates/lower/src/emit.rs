//! Making instructions, and complaints.

use sapwood_ir::ExprRef;
use sapwood_ptir::ops::{Cast, Compare, CompareOrder, Constant, Direction};
use sapwood_ptir::{Op, OpParts, ResultType, TensorType, ValueId, ValueType};
use sapwood_types::{DataType, Diagnostic, Span};

use crate::function::Lowering;
use crate::scope::Val;

impl<'a> Lowering<'a> {
    pub(crate) fn problem(&mut self, span: Span, message: impl Into<String>) {
        self.problems.error(span, message);
    }

    pub(crate) fn problem_with_help(
        &mut self,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.problems.push(Diagnostic::error(span, message).with_help(help));
    }

    /// Where an expression was written, or its statement.
    pub(crate) fn span_of(&self, expr: &ExprRef) -> Span {
        let own = expr.span();
        // The place of a variable is where it was made, not where it is read.
        if own.is_unknown() || expr.is_var() { self.span } else { own }
    }

    pub(crate) fn bind(&mut self, var: &'a ExprRef, value: Val) {
        self.scope.set(var, value, self.survey.changes(var));
    }

    /// Calls a value after a variable, unless it has a name or is a literal.
    pub(crate) fn name(&mut self, value: Val, name: &str) {
        let Some(value) = value else { return };
        let f = self.out.function();
        let literal = f.inst_of(value).is_some_and(|inst| f.is::<Constant>(inst));
        if f.hint(value).is_none() && !literal {
            self.out.set_hint(value, name);
        }
    }

    /// Appends an instruction and gives its results; complains if it does not fit together.
    pub(crate) fn append(&mut self, parts: &OpParts, span: Span) -> Option<Vec<ValueId>> {
        match self.out.append(self.body, parts, span) {
            Ok(inst) => Some(self.out.function().inst_results(inst).collect()),
            Err(error) => {
                let message = format!("{}: {}", parts.key.name(), error.message);
                let diagnostic = Diagnostic::error(span, message);
                self.problems.push(match error.help {
                    Some(help) => diagnostic.with_help(help),
                    None => diagnostic,
                });
                None
            }
        }
    }

    /// An op with one result.
    pub(crate) fn emit<T: Op>(&mut self, op: T, span: Span) -> Val {
        self.append(&op.into_parts(), span)?.first().copied()
    }

    pub(crate) fn value_type(&self, value: ValueId) -> &ValueType {
        self.out.function().value_type(value)
    }

    /// The type of a value that must be a tensor.
    pub(crate) fn tensor(&mut self, value: ValueId, what: &str, span: Span) -> Option<TensorType> {
        match self.value_type(value) {
            ValueType::Tensor(ty) => Some(ty.clone()),
            other => {
                let message = format!("{what} is {other}, expected a tensor");
                self.problem(span, message);
                None
            }
        }
    }

    /// The value with elements of another type.
    pub(crate) fn cast(&mut self, value: ValueId, dtype: DataType, span: Span) -> Val {
        let ty = self.tensor(value, "what is cast", span)?;
        if ty.dtype == dtype {
            return Some(value);
        }
        self.emit(Cast { input: value, ty: ResultType(ty.with_dtype(dtype).into()) }, span)
    }

    pub(crate) fn compare(
        &mut self,
        direction: Direction,
        lhs: ValueId,
        rhs: ValueId,
        span: Span,
    ) -> Val {
        self.emit(Compare { lhs, rhs, direction, order: CompareOrder::Partial }, span)
    }
}
