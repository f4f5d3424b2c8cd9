//! Functions: parameters, body and results.

use sapwood_ir::{Function, FunctionRef};
use sapwood_ptir::ops::Return;
use sapwood_ptir::{BodyId, FunctionWriter, Op, ValueId, ValueType};
use sapwood_types::{Diagnostic, Diagnostics, Span, counted};

use crate::IdMap;
use crate::scope::{LoweredValue, ValueScope};
use crate::signature::{FunctionSignature, FunctionTypes, ProgramSignatures};
use crate::stmt::{BlockEnd, PendingStmts};
use crate::summary::{AssignedVars, LoweringSummary, last_bound_vars};

/// The state of lowering one function.
pub(crate) struct FunctionLowering<'a> {
    pub(crate) function: &'a Function,
    pub(crate) signatures: &'a ProgramSignatures<'a>,
    pub(crate) signature: &'a FunctionSignature<'a>,
    pub(crate) summary: &'a LoweringSummary<'a>,
    pub(crate) types: &'a FunctionTypes,
    pub(crate) writer: FunctionWriter,
    /// The body that instructions are appended to.
    pub(crate) body: BodyId,
    /// The span of the current statement, used for expressions without a span.
    pub(crate) span: Span,
    pub(crate) scope: ValueScope<'a>,
    /// The number of enclosing loops.
    pub(crate) loop_depth: usize,
    /// The values that a loop body yields after an early return: the current iteration arguments.
    pub(crate) yields_after_return: Vec<LoweredValue>,
    /// True if variables bound in the current body are visible after it: true in a branch, false in a loop body.
    pub(crate) vars_outlive_body: bool,
    /// Variables without a value after a `return` on another path, because their type has no placeholder.
    pub(crate) vars_without_placeholder: IdMap<ValueType>,
    /// A cache of the variables that each loop body assigns.
    pub(crate) assigned_in_loops: IdMap<AssignedVars<'a>>,
    /// The number of operations that may still be emitted.
    pub(crate) operations_left: u64,
    /// True once the error about too many operations was reported.
    pub(crate) reported_operation_limit: bool,
    pub(crate) problems: Diagnostics,
}

/// Lowers a function.
pub(crate) fn lower<'a>(
    function: &'a FunctionRef,
    signatures: &'a ProgramSignatures<'a>,
) -> Result<sapwood_ptir::Function, Diagnostics> {
    let missing = || {
        Diagnostic::error(
            function.span,
            format!("the program has no function called `{}`", function.name),
        )
    };
    let signature = signatures.get(&function.name).ok_or_else(missing)?;
    let (Some(summary), Some(types)) = (&signature.summary, &signature.types) else {
        return Err(signature.problems.clone());
    };
    let mut writer = FunctionWriter::new(&*function.name, &signatures.registry);
    writer.set_span(function.span);
    let body = writer.function().body();
    let lowering = FunctionLowering {
        function,
        signatures,
        signature,
        summary,
        types,
        writer,
        body,
        span: function.span,
        scope: ValueScope::default(),
        loop_depth: 0,
        yields_after_return: Vec::new(),
        vars_outlive_body: true,
        vars_without_placeholder: IdMap::default(),
        assigned_in_loops: IdMap::default(),
        operations_left: summary.operation_limit(),
        reported_operation_limit: false,
        problems: signature.problems.clone(),
    };
    lowering.run()
}

impl<'a> FunctionLowering<'a> {
    fn run(mut self) -> Result<sapwood_ptir::Function, Diagnostics> {
        for (param, ty) in self.function.params.iter().zip(&self.types.params) {
            let value = self.writer.param(self.body, ty);
            self.writer.set_hint(value, param.name());
            self.bind(param.expr(), Some(value));
        }
        self.check_dims_of_params();
        let end = self.lower_block(vec![PendingStmts::One(&self.function.body)], true);
        let values = self.check_results(end);
        if let Some(values) = values {
            let parts = Return { values: values.into_iter().collect() }.into_parts();
            self.append(&parts, self.function.span);
        }
        if self.problems.has_errors() {
            return Err(self.problems);
        }
        self.writer.finish(&self.types.results)
    }

    /// Returns the values that the function returns, checked against its declared result types.
    pub(crate) fn check_results(&mut self, end: BlockEnd) -> Option<Vec<ValueId>> {
        let values = match end {
            BlockEnd::Returns(values) => values,
            BlockEnd::Yields(values) => values,
            BlockEnd::FallsThrough => self.implicit_results()?,
            BlockEnd::ReturnedEarly => return None,
        };
        let values: Vec<ValueId> = values.into_iter().collect::<Option<_>>()?;
        for (index, (&value, declared)) in values.iter().zip(&self.types.results).enumerate() {
            let found = self.writer.function().value_type(value);
            if !found.compatible(declared) {
                let message = format!(
                    "result {index} of `{}` is {found}, expected {declared}",
                    self.function.name
                );
                self.report(self.span, message);
                return None;
            }
        }
        Some(values)
    }

    /// Returns the results of a function that ends without a `return`: the variables that its last statement binds.
    fn implicit_results(&mut self) -> Option<Vec<LoweredValue>> {
        let wanted = self.types.results.len();
        if wanted == 0 {
            return Some(Vec::new());
        }
        let (last, bound) = last_bound_vars(self.function);
        let values: Option<Vec<LoweredValue>> =
            bound.iter().map(|var| self.scope.get(var)).collect();
        let values = values.filter(|values| {
            let f = self.writer.function();
            values.len() == wanted
                && values
                    .iter()
                    .zip(&self.types.results)
                    .all(|(value, ty)| value.is_none_or(|value| f.value_type(value).compatible(ty)))
        });
        if values.is_none() {
            let span = last.span();
            let span = if span.is_unknown() { self.function.span } else { span };
            let message = format!(
                "`{}` returns {}, but ends without a return, and its last statement binds no variables of these types",
                self.function.name,
                counted(wanted, "value")
            );
            let help = match self.summary.contains_return(last) {
                true => "end it with a return: this loop or branch may end without one",
                false => "end it with a return",
            };
            self.report_with_help(span, message, help);
        }
        values
    }
}
