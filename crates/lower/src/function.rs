//! Functions: parameters, the body, what is returned.

use sapwood_ir::{Function, FunctionRef};
use sapwood_ptir::ops::Return;
use sapwood_ptir::{BodyId, FunctionWriter, Op, ValueId, ValueType};
use sapwood_types::{Diagnostic, Diagnostics, Span, counted};

use crate::Map;
use crate::scope::{Scope, Val};
use crate::signature::{FunctionTypes, Signature, Signatures};
use crate::stmt::{End, Frame};
use crate::survey::{Assigned, Survey, bound_last};

/// One function on its way.
pub(crate) struct Lowering<'a> {
    pub(crate) function: &'a Function,
    pub(crate) signatures: &'a Signatures<'a>,
    pub(crate) signature: &'a Signature<'a>,
    pub(crate) survey: &'a Survey<'a>,
    pub(crate) types: &'a FunctionTypes,
    pub(crate) out: FunctionWriter,
    /// Where instructions go.
    pub(crate) body: BodyId,
    /// The statement, for expressions that do not know their place.
    pub(crate) span: Span,
    pub(crate) scope: Scope<'a>,
    /// How many loops are around.
    pub(crate) loops: usize,
    /// What a body yields where it has returned, if that is known: what goes round its loop.
    pub(crate) yields_instead: Vec<Val>,
    /// Whether variables of the body are seen after it, as those of a branch are.
    pub(crate) outlives: bool,
    /// Variables that have no value after a `return` on another path, because nothing of their type could stand for it.
    pub(crate) lost: Map<ValueType>,
    /// What the bodies of loops assign.
    pub(crate) assigned: Map<Assigned<'a>>,
    /// How many operations may still be made.
    pub(crate) left: u64,
    /// Whether it was said that there are too many.
    pub(crate) out_of_operations: bool,
    pub(crate) problems: Diagnostics,
}

/// Lowers a function.
pub(crate) fn lower<'a>(
    function: &'a FunctionRef,
    signatures: &'a Signatures<'a>,
) -> Result<sapwood_ptir::Function, Diagnostics> {
    let missing =
        || Diagnostic::error(function.span, format!("`{}` is no function", function.name));
    let signature = signatures.get(&function.name).ok_or_else(missing)?;
    let (Some(survey), Some(types)) = (&signature.survey, &signature.types) else {
        return Err(signature.problems.clone());
    };
    let mut out = FunctionWriter::new(&*function.name, &signatures.registry);
    out.set_span(function.span);
    let body = out.function().body();
    let lowering = Lowering {
        function,
        signatures,
        signature,
        survey,
        types,
        out,
        body,
        span: function.span,
        scope: Scope::default(),
        loops: 0,
        yields_instead: Vec::new(),
        outlives: true,
        lost: Map::default(),
        assigned: Map::default(),
        left: survey.most_operations(),
        out_of_operations: false,
        problems: signature.problems.clone(),
    };
    lowering.run()
}

impl<'a> Lowering<'a> {
    fn run(mut self) -> Result<sapwood_ptir::Function, Diagnostics> {
        for (param, ty) in self.function.params.iter().zip(&self.types.params) {
            let value = self.out.param(self.body, ty);
            self.out.set_hint(value, param.name());
            self.bind(param.expr(), Some(value));
        }
        let end = self.block(vec![Frame::One(&self.function.body)], true);
        let values = self.returned(end);
        if let Some(values) = values {
            let parts = Return { values: values.into_iter().collect() }.into_parts();
            self.append(&parts, self.function.span);
        }
        if self.problems.has_errors() {
            return Err(self.problems);
        }
        self.out.finish(&self.types.results)
    }

    /// The values that the end of the function's body returns.
    pub(crate) fn returned(&mut self, end: End) -> Option<Vec<ValueId>> {
        let values = match end {
            End::Returns(values) => values,
            End::Yields(values) => values,
            End::Next => self.bound_last()?,
            End::Returned => return None,
        };
        let values: Vec<ValueId> = values.into_iter().collect::<Option<_>>()?;
        for (index, (&value, stated)) in values.iter().zip(&self.types.results).enumerate() {
            let found = self.out.function().value_type(value);
            if !found.compatible(stated) {
                let message = format!(
                    "result {index} of `{}` is {found}, but it returns {stated}",
                    self.function.name
                );
                self.problem(self.span, message);
                return None;
            }
        }
        Some(values)
    }

    /// Without a `return`: the variables that the last statement binds, where they fit.
    fn bound_last(&mut self) -> Option<Vec<Val>> {
        let wanted = self.types.results.len();
        if wanted == 0 {
            return Some(Vec::new());
        }
        let (last, bound) = bound_last(self.function);
        let values: Option<Vec<Val>> = bound.iter().map(|var| self.scope.get(var)).collect();
        let values = values.filter(|values| {
            let f = self.out.function();
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
                "`{}` returns {}, but ends without a return, and its last statement binds none that fit",
                self.function.name,
                counted(wanted, "value")
            );
            let help = match self.survey.returns(last) {
                true => "end it with a return: this loop or branch may end without one",
                false => "end it with a return",
            };
            self.problem_with_help(span, message, help);
        }
        values
    }
}
