//! The meaning of ONNX's ops in terms of core ops: one row per op, from which its types, its evaluation and its decomposition follow.

mod attention;
mod builder;
mod context;
mod control;
mod elementwise;
mod indexing;
mod kernels;
mod learning;
mod loss;
mod matrix;
mod normalization;
mod pass;
mod pooling;
mod quantize;
mod recurrent;
mod reduce;
mod resize;
mod shape;
mod shape_values;
mod signal;
mod table;

use std::sync::Arc;

use sapwood_ptir::dims::DimExpr;
use sapwood_ptir::eval::{EvalCx, EvalResult, Fault, Prepared, Value};
use sapwood_ptir::ops::Return;
use sapwood_ptir::{
    Attr, Function, InsertPoint, Op as _, OpDef, Program, Registry, TensorLiteral, ValueType,
};
use sapwood_types::Span;

use crate::dialect::{ABSENT, PREFIX};
use builder::Builder;
use context::Cx;
use table::Meaning;

pub(crate) use control::infer_control_flow;
pub use pass::lower_function;
pub use table::LowerLevel;

/// The known contents of a value: a literal, or integers that are expressions over symbols.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    pub(crate) literal: Option<TensorLiteral>,
    pub(crate) numbers: Option<Arc<[Option<DimExpr>]>>,
}

impl Known {
    pub(crate) fn literal(literal: TensorLiteral) -> Self {
        Self { literal: Some(literal), numbers: None }
    }
}

/// An instruction of an op of ONNX.
pub(crate) struct NodeView<'a> {
    pub(crate) def: &'a OpDef,
    pub(crate) attrs: &'a [Attr],
    pub(crate) absent: &'a [i64],
    pub(crate) outputs: usize,
    /// The types of the results, if they are known; not in inference.
    pub(crate) results: &'a [ValueType],
    /// True if the meaning will be written as ONNX again, so that it should not need more nodes.
    pub(crate) is_written_back: bool,
}

impl<'a> NodeView<'a> {
    /// Returns a view without the types of the results.
    pub(crate) fn new(
        def: &'a OpDef,
        attrs: &'a [Attr],
        absent: &'a [i64],
        outputs: usize,
    ) -> Self {
        Self { def, attrs, absent, outputs, results: &[], is_written_back: false }
    }
}

/// The types and known contents of the results of an op; `None` where they are not known.
#[derive(Default)]
pub(crate) struct Inferred {
    pub(crate) types: Vec<Option<ValueType>>,
    pub(crate) known: Vec<Option<Known>>,
}

/// Infers the results of an op from its decomposition.
pub(crate) fn infer(
    view: &NodeView<'_>,
    types: &[&ValueType],
    known: &[Known],
    _: &Arc<Registry>,
) -> Inferred {
    let Some(row) = table::row(view.def.name) else { return Inferred::default() };
    let mut inferred = Inferred::default();
    if let Some(types) = row.infer.and_then(|infer| infer(view, types)) {
        inferred.types = types.into_iter().map(Some).collect();
    }
    if inferred.types.is_empty() && !matches!(row.meaning, Meaning::Kernel(_)) {
        let (f, params) = scratch_function(types.iter().copied().cloned());
        let b = Builder::new(f, true);
        let inputs: Vec<_> = params.iter().map(|&id| b.value(id)).collect();
        let of = |i: usize| known.get(i).cloned().unwrap_or_default();
        let cx = Cx::new(&b, view, &inputs, &of);
        let results = table::build(&row.meaning, &cx);
        if b.take_failure().is_none() {
            for value in results {
                let f = b.f.borrow();
                inferred.types.push(value.id.map(|id| f.value_type(id).clone()));
                let literal = value.id.and_then(|id| f.constant_of(id).cloned());
                inferred.known.push(literal.map(Known::literal));
            }
        }
    }
    if let Some(numbers) = shape_values::numbers_of(view, types, known) {
        inferred.known = vec![Some(Known { literal: None, numbers: Some(numbers.into()) })];
    }
    inferred
}

fn scratch_function(
    types: impl Iterator<Item = ValueType>,
) -> (Function, Vec<sapwood_ptir::ValueId>) {
    let mut f = Function::new("node", Registry::builtin());
    let body = f.body();
    let params = types.map(|ty| f.push_param(body, &ty)).collect();
    (f, params)
}

/// Adds the evaluation of an op to its definition. An op without one is never folded.
pub(crate) fn with_evaluation(def: OpDef) -> OpDef {
    match table::row(def.name).map(|row| &row.meaning) {
        None => def.opaque(),
        Some(Meaning::Kernel(kernel)) => def.eval(*kernel),
        Some(_) => def.eval(evaluate),
    }
}

/// Evaluates an op by its decomposition, in which all extents and operands are known.
fn evaluate(cx: &mut EvalCx<'_>) -> EvalResult {
    let def = cx.def();
    let name = def.name.strip_prefix(PREFIX).unwrap_or(def.name);
    let Some(row) = table::row_of(name) else {
        return Err(Fault::op(format!("`{name}` has no evaluation")));
    };
    let attrs: Vec<Attr> =
        def.attrs.iter().map(|row| cx.attr(row.name).cloned()).collect::<Result<_, _>>()?;
    let absent = match cx.attr(ABSENT)? {
        Attr::Ints(list) => list.to_vec(),
        _ => Vec::new(),
    };
    let view = NodeView::new(def, &attrs, &absent, cx.num_results());
    let args: Vec<Value> = cx.args().to_vec();
    let (f, params) = scratch_function(args.iter().map(Value::ty));
    let b = Builder::new(f, false);
    let inputs: Vec<_> = params.iter().map(|&id| b.value(id)).collect();
    let known = |i: usize| match args.get(i).and_then(Value::to_literal) {
        Some(literal) => Known::literal(literal),
        None => Known::default(),
    };
    let node = Cx::new(&b, &view, &inputs, &known);
    let results = table::build(&row.meaning, &node);
    let values = results.iter().map(|v| v.id).collect::<Option<_>>();
    if let Some(why) = b.take_failure() {
        return Err(Fault::op(format!("{name}: {why}")));
    }
    let Some(values) = values else {
        return Err(Fault::op(format!("{name}: a result is missing")));
    };
    let return_op: Return = Return { values };
    let types: Vec<ValueType> =
        return_op.values.iter().map(|&v| b.f.borrow().value_type(v).clone()).collect();
    let mut f = b.f.into_inner();
    let body = f.body();
    let failed = |error: String| Fault::op(format!("{name}: {error}"));
    let parts = f.resolve_parts(&return_op.into_parts()).map_err(|e| failed(e.to_string()))?;
    f.insert(InsertPoint::End(body), &parts, Span::unknown()).map_err(|e| failed(e.to_string()))?;
    f.set_result_types(&types);
    let mut program = Program::new(Registry::builtin());
    program.replace(f);
    let prepared = Prepared::new(&program, "node", None).map_err(|e| failed(e.to_string()))?;
    let results = prepared.run_within(&args, cx).map_err(|error| match error.fault {
        // The limits are those of the whole run.
        limit @ (Fault::Steps { .. }
        | Fault::Time { .. }
        | Fault::Memory { .. }
        | Fault::OutOfMemory { .. }
        | Fault::Stopped) => limit,
        _ => failed(error.to_string()),
    })?;
    Ok(results.into())
}
