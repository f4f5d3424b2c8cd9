//! The meaning of ONNX's ops in terms of core ops: one row per op, from which its types, its evaluation and its decomposition follow.

mod attention;
mod builder;
mod context;
mod control;
mod elementwise;
mod fold_budget;
mod foreign;
mod indexing;
mod kernels;
mod learning;
mod loops;
mod loss;
mod matrix;
mod max_roi_pool;
mod normalization;
mod open_shapes;
mod operations;
mod pass;
mod pooling;
mod quantize;
mod recurrent;
mod reduce;
mod resize;
mod shape;
mod shape_values;
mod signal;
mod slices;
mod steps;
mod table;
mod text_features;
mod trees;

use std::sync::Arc;

use sapwood_ptir::dims::DimExpr;
use sapwood_ptir::eval::{
    DataType, EvalCx, EvalResult, Fault, FoldLimits, Prepared, Value, fold_inst,
};
use sapwood_ptir::ops::Return;
use sapwood_ptir::{
    Attr, Function, InsertPoint, Op as _, OpDef, OpParts, Program, Registry, TensorLiteral,
    ValueType,
};
use sapwood_types::Span;

use crate::dialect::{ABSENT, PREFIX, UNKNOWN_NODE};
pub(crate) use builder::{Builder, V};
use context::Cx;
use table::Meaning;

pub(crate) use context::{floats_of, ints_of};
pub(crate) use control::infer_control_flow;
pub use pass::{LowerOptions, lower_function, lower_function_with};
pub use steps::{Law, Observer, Step};
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

    /// Returns the contents of a value of this type, if all of them are known numbers.
    pub(crate) fn to_literal(&self, ty: &ValueType) -> Option<TensorLiteral> {
        if self.literal.is_some() {
            return self.literal.clone();
        }
        let numbers: Vec<i64> =
            self.numbers.as_ref()?.iter().map(|n| (*n)?.as_constant()).collect::<Option<_>>()?;
        let ty = ty.as_tensor()?;
        let shape = ty.known_shape().filter(|_| ty.num_elements() == Some(numbers.len() as u64))?;
        match ty.dtype {
            DataType::I64 => TensorLiteral::from_slice(&shape, &numbers).ok(),
            DataType::I32 => {
                let narrow = numbers.iter().map(|&n| i32::try_from(n).ok());
                TensorLiteral::from_slice(&shape, &narrow.collect::<Option<Vec<_>>>()?).ok()
            }
            DataType::Bool => {
                let flags: Vec<bool> = numbers.iter().map(|&n| n != 0).collect();
                TensorLiteral::from_slice(&shape, &flags).ok()
            }
            _ => None,
        }
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
    let Some(row) = table::row(view.def.name) else {
        let types = match view.def.name == UNKNOWN_NODE {
            true => foreign::infer(view, types).unwrap_or_default(),
            false => Vec::new(),
        };
        return Inferred { types, known: Vec::new() };
    };
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
        } else if let Some(types) = open_shapes::infer(view, types, known) {
            inferred.types = types.into_iter().map(|ty| Some(ty.into())).collect();
        }
    }
    if let Some(numbers) = shape_values::numbers_of(view, types, known) {
        inferred.known = vec![Some(Known { literal: None, numbers: Some(numbers.into()) })];
    }
    inferred
}

/// The most elements of a constant that is computed while a model is read.
const MAX_READ_ELEMENTS: u64 = 1 << 10;

/// Evaluates an op whose operands are small constants, so that reading knows the shapes that depend on it. `types` are the types of its
/// results.
pub(crate) fn evaluate_constants(
    parts: &OpParts,
    operands: &[Option<TensorLiteral>],
    types: &[Option<ValueType>],
    registry: &Arc<Registry>,
) -> Option<Vec<TensorLiteral>> {
    let is_small = |literal: &TensorLiteral| literal.num_elements() <= MAX_READ_ELEMENTS;
    if operands.is_empty() || !operands.iter().all(|o| o.as_ref().is_some_and(is_small)) {
        return None;
    }
    let mut f = Function::new("node", registry.clone());
    let end = InsertPoint::End(f.body());
    let mut parts = parts.clone();
    parts.operands.clear();
    for literal in operands.iter().flatten() {
        parts.operands.push(f.constant(literal, end, Span::unknown()));
    }
    parts.result_types = types.iter().cloned().collect::<Option<_>>()?;
    let inst = f.insert(end, &f.resolve_parts(&parts).ok()?, Span::unknown()).ok()?;
    let limits = FoldLimits { max_elements: MAX_READ_ELEMENTS, ..FoldLimits::default() };
    Some(fold_inst(&f, inst, &limits)?.into_vec())
}

fn scratch_function(
    types: impl Iterator<Item = ValueType>,
) -> (Function, Vec<sapwood_ptir::ValueId>) {
    let mut f = Function::new("node", Registry::builtin());
    let body = f.body();
    let params = types.map(|ty| f.push_param(body, &ty)).collect();
    (f, params)
}

/// Adds the evaluation and the cost of an op to its definition. An op without an evaluation is never folded.
pub(crate) fn with_evaluation(def: OpDef) -> OpDef {
    let def = operations::with_operations(def);
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
    let args: Vec<Value> = cx.args().to_vec();
    evaluate_expression(cx, &args, |node| table::build(&row.meaning, node))
}

/// Evaluates an expression over values, with the attributes of the op that is being evaluated.
fn evaluate_expression(
    cx: &EvalCx<'_>,
    args: &[Value],
    build: impl for<'b> FnOnce(&Cx<'b>) -> Vec<V<'b>>,
) -> EvalResult {
    let def = cx.def();
    let name = def.name.strip_prefix(PREFIX).unwrap_or(def.name);
    let attrs: Vec<Attr> =
        def.attrs.iter().map(|row| cx.attr(row.name).cloned()).collect::<Result<_, _>>()?;
    let absent = match cx.attr(ABSENT)? {
        Attr::Ints(list) => list.to_vec(),
        _ => Vec::new(),
    };
    let view = NodeView::new(def, &attrs, &absent, cx.num_results());
    let (f, params) = scratch_function(args.iter().map(Value::ty));
    let b = Builder::new(f, false);
    let inputs: Vec<_> = params.iter().map(|&id| b.value(id)).collect();
    let known = |i: usize| match args.get(i).and_then(Value::to_literal) {
        Some(literal) => Known::literal(literal),
        None => Known::default(),
    };
    let node = Cx::new(&b, &view, &inputs, &known);
    let results = build(&node);
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
    let results = prepared.run_within(args, cx).map_err(|error| match error.fault {
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
