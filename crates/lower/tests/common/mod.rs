//! Conversions between values of the front-end interpreter and of PTIR.

use sapwood_ir::interpret::RunValue;
use sapwood_ir::interpret::scalar::Scalar;
use sapwood_ptir::eval::{Tensor, Value};
use sapwood_ptir::{Function, TensorLiteral, ValueType};
use sapwood_types::DataType;

/// Converts a value of the interpreter to PTIR, for a parameter of this type.
pub(crate) fn to_ptir(value: &RunValue, ty: &ValueType) -> Value {
    match value {
        RunValue::Scalar(scalar) => tensor(&[], scalar.dtype(), std::slice::from_ref(scalar)),
        RunValue::Tuple(values) => {
            let types = ty.as_tuple().unwrap_or_default();
            Value::Tuple(values.iter().zip(types).map(|(value, ty)| to_ptir(value, ty)).collect())
        }
        RunValue::Tensor(shape, elements) => {
            let shape: Vec<u64> = shape.iter().map(|&dim| dim as u64).collect();
            // The interpreter does not know the element type of an empty tensor.
            let dtype = ty.as_tensor().map(|ty| ty.dtype);
            tensor(&shape, dtype.unwrap_or_else(|| elements[0].dtype()), elements)
        }
    }
}

/// Converts values of the interpreter to inputs of a lowered function.
pub(crate) fn inputs(f: &Function, args: &[RunValue]) -> Vec<Value> {
    let types = f.params().iter().map(|&param| f.value_type(param));
    args.iter().zip(types).map(|(arg, ty)| to_ptir(arg, ty)).collect()
}

fn tensor(shape: &[u64], dtype: DataType, elements: &[Scalar]) -> Value {
    let mut bytes = Vec::new();
    for element in elements {
        match *element {
            Scalar::Bool(value) => bytes.push(u8::from(value)),
            Scalar::Int(_, value) => bytes.extend(&value.to_le_bytes()[..dtype.byte_size()]),
            Scalar::Float(_, value) => {
                let literal = TensorLiteral::filled(dtype, &[], value).unwrap();
                bytes.extend(literal.stored_bytes());
            }
        }
    }
    let literal = TensorLiteral::new(dtype, shape, &bytes).unwrap();
    Tensor::from_literal(&literal).unwrap().into()
}

/// Converts a value of PTIR to one of the interpreter.
pub(crate) fn from_ptir(value: &Value) -> RunValue {
    match value {
        Value::Tuple(values) => RunValue::Tuple(values.iter().map(from_ptir).collect()),
        Value::Token => panic!("the front end has no tokens"),
        Value::Tensor(tensor) => {
            let literal = tensor.to_literal().unwrap();
            let element = |index| scalar(literal.dtype(), literal.element(index).unwrap());
            if literal.shape().is_empty() {
                return RunValue::Scalar(element(0));
            }
            let shape = literal.shape().iter().map(|&dim| dim as i64).collect();
            RunValue::Tensor(shape, (0..literal.num_elements()).map(element).collect())
        }
    }
}

fn scalar(dtype: DataType, bytes: &[u8]) -> Scalar {
    let mut wide = [0; 16];
    wide[..bytes.len()].copy_from_slice(bytes);
    let bits = i128::from_le_bytes(wide);
    match dtype {
        DataType::Bool => Scalar::Bool(bits != 0),
        DataType::F64 => Scalar::Float(dtype, f64::from_bits(bits as u64)),
        DataType::F32 => Scalar::Float(dtype, f32::from_bits(bits as u32).into()),
        DataType::Bf16 => Scalar::Float(dtype, f32::from_bits((bits as u32) << 16).into()),
        _ if dtype.is_integer() => Scalar::int(dtype, bits),
        other => panic!("no test has values of {other}"),
    }
}
