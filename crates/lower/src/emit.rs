//! Helpers that emit instructions and report errors.

use sapwood_ir::ExprRef;
use sapwood_ptir::ops::{Cast, Compare, CompareOrder, Constant, Direction};
use sapwood_ptir::{Op, OpParts, ResultType, TensorType, ValueId, ValueType};
use sapwood_types::{DataType, Diagnostic, Span};

use crate::function::FunctionLowering;
use crate::scope::LoweredValue;

impl<'a> FunctionLowering<'a> {
    /// Reports an error.
    pub(crate) fn report(&mut self, span: Span, message: impl Into<String>) {
        self.problems.error(span, message);
    }

    /// Reports an error with a help text.
    pub(crate) fn report_with_help(
        &mut self,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.problems.push(Diagnostic::error(span, message).with_help(help));
    }

    /// Returns the span of an expression, or of the current statement if it has none.
    pub(crate) fn span_of(&self, expr: &ExprRef) -> Span {
        let own = expr.span();
        // The span of a variable is that of its definition, not of this use.
        if own.is_unknown() || expr.is_var() { self.span } else { own }
    }

    /// Binds a variable to a value from here on.
    pub(crate) fn bind(&mut self, var: &'a ExprRef, value: LoweredValue) {
        self.scope.set(var, value, self.summary.is_reassigned(var));
    }

    /// Sets the name hint of a value, unless it has one or is a constant.
    pub(crate) fn hint_name(&mut self, value: LoweredValue, name: &str) {
        let Some(value) = value else { return };
        let f = self.writer.function();
        let literal = f.inst_of(value).is_some_and(|inst| f.is::<Constant>(inst));
        if f.hint(value).is_none() && !literal {
            self.writer.set_hint(value, name);
        }
    }

    /// Appends an instruction and returns its results; reports an error if it is not valid.
    pub(crate) fn append(&mut self, parts: &OpParts, span: Span) -> Option<Vec<ValueId>> {
        match self.writer.append(self.body, parts, span) {
            Ok(inst) => Some(self.writer.function().inst_results(inst).collect()),
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

    /// Appends an op with one result and returns that.
    pub(crate) fn emit<T: Op>(&mut self, op: T, span: Span) -> LoweredValue {
        self.append(&op.into_parts(), span)?.first().copied()
    }

    pub(crate) fn value_type(&self, value: ValueId) -> &ValueType {
        self.writer.function().value_type(value)
    }

    /// Returns the type of a tensor value; reports an error about `subject` for any other type.
    pub(crate) fn expect_tensor(
        &mut self,
        value: ValueId,
        subject: &str,
        span: Span,
    ) -> Option<TensorType> {
        match self.value_type(value) {
            ValueType::Tensor(ty) => Some(ty.clone()),
            other => {
                let message = format!("{subject} is {other}, expected a tensor");
                self.report(span, message);
                None
            }
        }
    }

    /// Emits a cast of the value to another element type, if it has another.
    pub(crate) fn emit_cast(
        &mut self,
        value: ValueId,
        dtype: DataType,
        span: Span,
    ) -> LoweredValue {
        let ty = self.expect_tensor(value, "the operand of a cast", span)?;
        if ty.dtype == dtype {
            return Some(value);
        }
        self.emit(Cast { input: value, ty: ResultType(ty.with_dtype(dtype).into()) }, span)
    }

    /// Emits an elementwise comparison.
    pub(crate) fn emit_compare(
        &mut self,
        direction: Direction,
        lhs: ValueId,
        rhs: ValueId,
        span: Span,
    ) -> LoweredValue {
        self.emit(Compare { lhs, rhs, direction, order: CompareOrder::Partial }, span)
    }
}
