//! Tensors, types and attributes of ONNX as those of PTIR, and back.

use sapwood_ptir::eval::DataType;
use sapwood_ptir::{Attr, Dim, Name, TensorLiteral, TensorType, ValueType};
use sapwood_types::{read_hex, write_hex};

use crate::dialect::{data_type, element_type};
use crate::read::FRESH_PREFIX;
use crate::wire;
use crate::{
    Attribute, AttributeType, AttributeValue, Bytes, Dimension, DimensionValue, ExternalData,
    Nested, Tensor, Text, Type, TypeValue,
};

/// The key of a dictionary that holds an attribute as protobuf's bytes, in hexadecimal digits.
const PROTOBUF: &str = "protobuf";

/// Returns a tensor as a literal, which shares its bytes; `None` if its element type has no counterpart or its data is not valid.
pub(crate) fn literal_of(tensor: &Tensor, data: &ExternalData) -> Option<TensorLiteral> {
    let dtype = data_type(i64::from(tensor.data_type?))?;
    let shape: Vec<u64> =
        tensor.dims.iter().map(|&n| u64::try_from(n).ok()).collect::<Option<_>>()?;
    let bytes = data.bytes_of(tensor).ok()?;
    let width = element_type(dtype)?.bits()?;
    if width >= 8 {
        return TensorLiteral::from_shared(dtype, &shape, bytes).ok();
    }
    let count = usize::try_from(tensor.element_count()?).ok()?;
    TensorLiteral::new(dtype, &shape, &unpacked(&bytes, dtype, width, count)).ok()
}

// Returns one byte per element of 2 or 4 bits; ONNX packs them, the first in the lowest bits.
fn unpacked(bytes: &[u8], dtype: DataType, width: u32, count: usize) -> Vec<u8> {
    let is_signed = dtype.integer_range().is_some_and(|(low, _)| low < 0);
    let parts = (0..8).step_by(width as usize);
    let elements = bytes.iter().flat_map(|&b| parts.clone().map(move |at| b >> at));
    let shift = 8 - width;
    let extended = elements.map(|b| match is_signed {
        true => (((b << shift) as i8) >> shift) as u8,
        false => b << shift >> shift,
    });
    extended.take(count).collect()
}

fn packed(elements: &[u8], width: u32) -> Vec<u8> {
    let low = |b: u8| b & ((1 << width) - 1);
    let byte = |part: &[u8]| part.iter().rev().fold(0, |all, &b| all << width | low(b));
    elements.chunks(8 / width as usize).map(byte).collect()
}

/// Returns a literal as a tensor with raw data.
pub(crate) fn tensor_of(literal: &TensorLiteral, name: impl Into<Text>) -> Option<Tensor> {
    let element = element_type(literal.dtype())?;
    let dims = literal.shape().iter().map(|&n| i64::try_from(n).ok()).collect::<Option<_>>()?;
    let count = usize::try_from(literal.num_elements()).ok()?;
    let mut bytes = match literal.as_splat() {
        Some(one) => one.repeat(count),
        None => literal.stored_bytes().to_vec(),
    };
    if let Some(width @ (2 | 4)) = element.bits() {
        bytes = packed(&bytes, width);
    }
    Some(Tensor::from_raw(name, element, dims, bytes.into()))
}

/// Returns the type of a value; `opaque` for strings, sequences, and tensors of unknown rank or of another element type.
pub(crate) fn value_type(ty: Option<&Type>) -> ValueType {
    tensor_type(ty).map_or(ValueType::Opaque, ValueType::Tensor)
}

fn tensor_type(ty: Option<&Type>) -> Option<TensorType> {
    let Some(TypeValue::Tensor(tensor)) = ty?.value.as_ref() else { return None };
    let dtype = data_type(i64::from(tensor.elem_type?))?;
    let dims = tensor.shape.as_ref()?.dim.iter().map(dim_of);
    let ty = TensorType { dtype, dims: dims.collect() };
    ty.check_limits().is_ok().then_some(ty)
}

// A name that says nothing (`?`, or none) and a negative number are unknown extents.
fn dim_of(dim: &Dimension) -> Dim {
    match &dim.value {
        Some(DimensionValue::Value(n)) => u64::try_from(*n).map_or(Dim::Unknown, Dim::Known),
        Some(DimensionValue::Param(name)) => match name.as_str() {
            Some("" | "?") | None => Dim::Unknown,
            Some(name) => Dim::symbol(Name::new(name)),
        },
        None => Dim::Unknown,
    }
}

/// Returns a type as ONNX has it; `None` if it has no counterpart.
pub(crate) fn type_of(ty: &ValueType) -> Option<Type> {
    let ty = ty.as_tensor()?;
    let dim = |dim: &Dim| match dim {
        Dim::Known(n) => Some(DimensionValue::Value(i64::try_from(*n).unwrap_or(i64::MAX))),
        // Symbols that reading introduced mean nothing outside.
        Dim::Expr(expr) if expr.symbols().iter().any(|s| s.as_str().starts_with(FRESH_PREFIX)) => {
            None
        }
        Dim::Expr(expr) => Some(DimensionValue::Param(match expr.as_symbol() {
            Some(name) => name.as_str().into(),
            None => expr.to_string().replace('?', "").into(),
        })),
        Dim::Unknown => None,
    };
    Some(Type::tensor(Some(element_type(ty.dtype)?.code()), ty.dims.iter().map(dim)))
}

/// Returns the value of an attribute as an attribute of PTIR. What PTIR cannot express is kept as bytes.
pub(crate) fn attr_of(attribute: &Attribute, data: &ExternalData) -> Attr {
    let zero;
    let value = match (&attribute.value, attribute.declared_type()) {
        (Some(value), _) => value,
        (None, Some(ty)) => match ty.zero() {
            Some(value) => {
                zero = value;
                &zero
            }
            None => return as_protobuf(attribute),
        },
        (None, None) => return as_protobuf(attribute),
    };
    let exact = match value {
        AttributeValue::Float(x) => Some(Attr::float(f64::from(*x))),
        AttributeValue::Int(n) => Some(Attr::Int(*n)),
        AttributeValue::String(text) => string_attr(text),
        AttributeValue::Ints(list) => Some(Attr::Ints(list.iter().copied().collect())),
        AttributeValue::Floats(list) => {
            Some(Attr::list(list.iter().map(|&x| Attr::float(f64::from(x))).collect()))
        }
        AttributeValue::Strings(list) => {
            list.iter().map(string_attr).collect::<Option<Vec<_>>>().map(Attr::list)
        }
        AttributeValue::Tensor(tensor) => literal_of(tensor, data).map(Attr::Literal),
        _ => None,
    };
    exact.unwrap_or_else(|| as_protobuf(attribute))
}

fn string_attr(text: &Bytes) -> Option<Attr> {
    std::str::from_utf8(text).ok().map(|text| Attr::Str(text.into()))
}

fn as_protobuf(attribute: &Attribute) -> Attr {
    let mut bytes = Vec::new();
    let _ = wire::encode(attribute, &mut bytes);
    let mut digits = String::new();
    write_hex(&mut digits, &bytes);
    Attr::dict(vec![(Name::new(PROTOBUF), Attr::Str(digits.into()))])
}

/// Returns an attribute of a node; `None` if ONNX cannot express it. `ty` is the type that the schema requires.
pub(crate) fn attribute_of(
    name: &str,
    attr: &Attr,
    ty: Option<AttributeType>,
) -> Option<Attribute> {
    let value = match attr {
        Attr::Float(bits) => AttributeValue::Float(bits.get() as f32),
        Attr::Int(n) => AttributeValue::Int(*n),
        Attr::Bool(b) => AttributeValue::Int(i64::from(*b)),
        Attr::Str(text) => AttributeValue::String(text.as_bytes().into()),
        Attr::Ints(list) if list.is_empty() => {
            ty.and_then(AttributeType::zero).unwrap_or(AttributeValue::Ints(Vec::new()))
        }
        Attr::Ints(list) => AttributeValue::Ints(list.to_vec()),
        Attr::List(items) => match items.first()? {
            Attr::Float(_) => {
                let floats = items.iter().map(|a| a.as_float().map(|x| x as f32));
                AttributeValue::Floats(floats.collect::<Option<_>>()?)
            }
            _ => AttributeValue::Strings(
                items
                    .iter()
                    .map(|a| match a {
                        Attr::Str(text) => Some(Bytes::from(text.as_bytes())),
                        _ => None,
                    })
                    .collect::<Option<_>>()?,
            ),
        },
        Attr::Literal(literal) => AttributeValue::Tensor(Nested::new(tensor_of(literal, "")?)),
        Attr::Dict(_) => {
            let Some(Attr::Str(digits)) = attr.get(PROTOBUF) else { return None };
            return wire::decode(&read_hex(digits)?.into()).ok();
        }
        _ => return None,
    };
    Some(Attribute::new(name, value))
}
