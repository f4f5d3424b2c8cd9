//! Evaluation of registered ops on the values of the interpreter, by the fixed-order evaluator of PTIR.

use std::rc::Rc;

use sapwood_ptir::eval::{self, RunOptions, Tensor, Value};
use sapwood_ptir::ops::Return;
use sapwood_ptir::{
    AttrKind, FunctionWriter, Op as _, OpKey, OpParts, Program, Registry, ValueType, with_float,
    with_int,
};
use sapwood_structural::Map;
use sapwood_types::{DataType, Span};

use super::attrs::op_attrs;
use super::regions::op_regions;
use crate::interpret::RunValue;
use crate::interpret::scalar::Scalar;
use crate::nodes::{Type, TypeRef};

/// The name of the function that contains the op.
const FUNCTION: &str = "op";

/// Evaluates a registered op. Returns none if no op has this name, and the reason if the op cannot be evaluated.
///
/// Each operand has its declared type, for the element type of tensors without elements. `declared` is the type that the call states, with the
/// extents of this run.
pub(crate) fn evaluate_op(
    registry: &std::sync::Arc<Registry>,
    name: &str,
    attrs: Option<&Map>,
    operands: &[(RunValue, TypeRef)],
    declared: Option<ValueType>,
) -> Option<Result<RunValue, String>> {
    let def = registry.by_name(name)?;
    Some((|| {
        let mut parts = OpParts::new(OpKey::of(def.name));
        parts.attrs = op_attrs(def, attrs, declared.as_ref()).map_err(|error| error.message)?;
        if def.attrs.iter().any(|attr| attr.kind == AttrKind::ResultType) {
            parts.result_types.push(declared.ok_or("the call must state its type")?);
        }
        let inputs = operands.iter().map(|(value, ty)| to_ptir(value, Some(ty)));
        let inputs = inputs.collect::<Option<Vec<Value>>>().ok_or("an operand has no such type")?;
        let mut writer = FunctionWriter::new(FUNCTION, registry);
        let body = writer.function().body();
        let types: Vec<ValueType> = inputs.iter().map(Value::ty).collect();
        parts.operands.extend(types.iter().map(|ty| writer.param(body, ty)));
        let types: Vec<&ValueType> = types.iter().collect();
        let regions = op_regions(registry, def, attrs, &types).map_err(|error| error.message)?;
        for region in &regions {
            let body = region.write(&mut writer, Span::unknown());
            parts.regions.push(body.map_err(|error| error.message)?);
        }
        let inst = writer.append(body, &parts, Span::unknown()).map_err(|error| error.message)?;
        let values: Vec<_> = writer.function().inst_results(inst).collect();
        let types: Vec<ValueType> =
            values.iter().map(|&value| writer.function().value_type(value).clone()).collect();
        let end = Return { values: values.into_iter().collect() };
        writer.append(body, &end.into_parts(), Span::unknown()).map_err(|error| error.message)?;
        let function = writer.finish(&types).map_err(|problems| problems.to_string())?;
        let mut program = Program::new(registry.clone());
        program.add(function).map_err(|error| error.to_string())?;
        let results = eval::run(&program, FUNCTION, &inputs, &RunOptions::default());
        let results = results.map_err(|error| error.fault.to_string())?;
        let results: Option<Vec<RunValue>> = results.iter().map(from_ptir).collect();
        let results =
            results.ok_or("a result is complex, which the interpreter does not support")?;
        Ok(match <[RunValue; 1]>::try_from(results) {
            Ok([one]) => one,
            Err(several) => RunValue::Tuple(several.into()),
        })
    })())
}

/// Builds a tensor of scalars that all have the data type; returns none for complex types.
pub(crate) fn tensor_from_scalars(
    dtype: DataType,
    shape: &[i64],
    elements: &[Scalar],
) -> Option<Tensor> {
    let shape: Vec<usize> =
        shape.iter().map(|&extent| usize::try_from(extent).ok()).collect::<Option<_>>()?;
    if eval::count(&shape) != Some(elements.len()) {
        return None;
    }
    if dtype.is_bool() {
        let bools = elements.iter().map(|scalar| scalar.is_true()).collect::<Vec<bool>>();
        return Some(Tensor::new(dtype, &shape, bools));
    }
    if dtype.is_float() {
        return with_float!(dtype, T => {
            let number = |scalar: &Scalar| match scalar {
                Scalar::Float(_, number) => Some(<T as eval::Float>::nearest(*number)),
                _ => None,
            };
            let elements = elements.iter().map(number).collect::<Option<Vec<T>>>()?;
            Some(Tensor::new(dtype, &shape, elements))
        }, _ => None);
    }
    if dtype.is_integer() {
        return with_int!(dtype, T => {
            let number = |scalar: &Scalar| match scalar {
                Scalar::Int(_, number) => Some(<T as eval::Int>::wrap(*number)),
                _ => None,
            };
            let elements = elements.iter().map(number).collect::<Option<Vec<T>>>()?;
            Some(Tensor::new(dtype, &shape, elements))
        }, _ => None);
    }
    None
}

/// Converts a value of the interpreter. Tuples nest only as deep as their types, which are bounded.
fn to_ptir(value: &RunValue, ty: Option<&TypeRef>) -> Option<Value> {
    Some(match value {
        RunValue::Scalar(scalar) => {
            tensor_from_scalars(scalar.dtype(), &[], std::slice::from_ref(scalar))?.into()
        }
        RunValue::Tensor(shape, elements) => {
            let dtype = elements.first().map(|first| first.dtype());
            let dtype = dtype.or_else(|| ty?.dtype())?;
            tensor_from_scalars(dtype, shape, elements)?.into()
        }
        RunValue::Tuple(elements) => {
            let types = ty.and_then(|ty| ty.as_tuple()).unwrap_or(&[]);
            if types.len() != elements.len() {
                return None;
            }
            let elements = elements.iter().zip(types).map(|(item, ty)| to_ptir(item, Some(ty)));
            Value::Tuple(elements.collect::<Option<Vec<_>>>()?.into())
        }
    })
}

/// Converts a value of PTIR; returns none for complex numbers and tokens.
pub(crate) fn from_ptir(value: &Value) -> Option<RunValue> {
    match value {
        Value::Tensor(tensor) => {
            let elements = scalars(tensor)?;
            if tensor.shape().is_empty() {
                return elements.first().copied().map(RunValue::Scalar);
            }
            let shape: Rc<[i64]> = tensor.shape().iter().map(|&extent| extent as i64).collect();
            Some(RunValue::Tensor(shape, elements.into()))
        }
        Value::Tuple(items) => {
            let items = items.iter().map(from_ptir);
            Some(RunValue::Tuple(items.collect::<Option<Vec<_>>>()?.into()))
        }
        Value::Token => None,
    }
}

fn scalars(tensor: &Tensor) -> Option<Vec<Scalar>> {
    let dtype = tensor.dtype();
    if dtype.is_bool() {
        return Some(tensor.elements::<bool>()?.iter().map(|&truth| Scalar::Bool(truth)).collect());
    }
    if dtype.is_float() {
        return with_float!(dtype, T => {
            let number = |element: &T| Scalar::float(dtype, eval::Float::number(*element));
            Some(tensor.elements::<T>()?.iter().map(number).collect())
        }, _ => None);
    }
    if dtype.is_integer() {
        return with_int!(dtype, T => {
            let number = |element: &T| Scalar::int(dtype, eval::Int::to_i128(*element));
            Some(tensor.elements::<T>()?.iter().map(number).collect())
        }, _ => None);
    }
    None
}

/// Returns a value as a tensor without dims if its type is one, since the text form has both.
pub(crate) fn as_declared(value: RunValue, ty: &TypeRef) -> RunValue {
    match (value, &**ty) {
        (RunValue::Scalar(scalar), Type::Tensor { shape, .. }) if shape.is_empty() => {
            RunValue::Tensor(Rc::new([]), Rc::new([scalar]))
        }
        (value, _) => value,
    }
}
