//! Attributes of op calls: constants by name, converted to those of a PTIR op.

use sapwood_ptir::{Attr, AttrDef, AttrKind, MAX_ATTR_DEPTH, Name, OpDef, OpError, ValueType};
use sapwood_structural::{Map, Seq, Value};
use sapwood_types::{DataType, did_you_mean};
use smallvec::SmallVec;

use super::evaluate::tensor_from_scalars;
use super::regions::check_callable;
use crate::interpret::scalar::Scalar;

/// Converts the attributes of a call to those of the op, with defaults filled in.
///
/// `declared` is the type that the call states: it has the element type of a literal, and the `sizes` of `dynamic_slice` if they are omitted.
///
/// # Errors
/// Fails if an attribute is unknown, missing or of another kind, or if a call cannot provide what the op needs.
pub fn op_attrs(
    def: &OpDef,
    attrs: Option<&Map>,
    declared: Option<&ValueType>,
) -> Result<SmallVec<[Attr; 4]>, OpError> {
    let declared = declared.and_then(ValueType::as_tensor);
    let dtype = declared.map(|ty| ty.dtype);
    check_callable(def)?;
    let given: Vec<(&str, &Value)> = attrs.map(named_values).unwrap_or_default();
    let can_be_given = |attr: &&AttrDef| attr.kind != AttrKind::ResultType;
    // A region is given as a word.
    let names = || {
        let attrs = def.attrs.iter().filter(can_be_given).map(|row| row.name);
        attrs.chain(def.regions.iter().map(|region| region.name))
    };
    if let Some((name, _)) = given.iter().find(|(name, _)| !names().any(|known| known == *name)) {
        let error = OpError::new(format!("it has no attribute `{name}`"));
        if matches!(*name, "axes" | "axis" | "keepdims")
            && matches!(def.name, "max" | "min" | "and" | "or" | "xor")
        {
            let help = format!("`pi.op.reduce_{}` reduces axes of a tensor", def.name);
            return Err(error.with_help(help));
        }
        return Err(match (did_you_mean(name, names()), names().next()) {
            (Some(close), _) => error.with_help(format!("did you mean `{close}`?")),
            (None, Some(_)) => {
                error.with_help(format!("it has {}", names().collect::<Vec<_>>().join(", ")))
            }
            (None, None) => error.with_help("it has no attributes"),
        });
    }
    let row_attr = |row: &AttrDef| match given.iter().find(|(name, _)| *name == row.name) {
        Some((_, value)) => attr_of_kind(row.kind, value, dtype).ok_or_else(|| {
            let kind = row.kind.describe();
            let error = OpError::new(format!("attribute `{}` must be {kind}", row.name));
            match (row.kind, value) {
                (AttrKind::Ints | AttrKind::Dims, Value::Int(number)) => {
                    error.with_help(format!("write `{}=[{number}]`", row.name))
                }
                _ => error,
            }
        }),
        None if row.name == "sizes" && declared.is_some() => {
            let exprs = declared.into_iter().flat_map(|ty| &ty.dims).map(|dim| dim.to_expr());
            let sizes = exprs.map(|expr| expr.map(Attr::dim)).collect::<Option<Vec<_>>>();
            let unknown = || OpError::new("the stated type has an unknown dim");
            sizes.map(Attr::list).ok_or_else(unknown)
        }
        None => row.default.clone().ok_or_else(|| {
            let kind = row.kind.describe();
            OpError::new(format!("it needs the attribute `{}`, {kind}", row.name))
                .with_help(format!("write `{}=…` after the arguments", row.name))
        }),
    };
    def.attrs.iter().map(row_attr).collect()
}

/// Converts the attributes of a call of an unregistered op to a dictionary.
///
/// # Errors
/// Fails if a value has no form in PTIR.
pub fn attr_dict(attrs: Option<&Map>) -> Result<Attr, OpError> {
    let given = attrs.map(named_values).unwrap_or_default();
    let entries = given.into_iter().map(|(name, value)| {
        let attr = any_attr(value, 0);
        let wrong =
            || OpError::new(format!("attribute `{name}` is not a number, a text or a list"));
        Ok((Name::new(name), attr.ok_or_else(wrong)?))
    });
    Ok(Attr::dict(entries.collect::<Result<_, OpError>>()?))
}

/// Returns the entries of a map whose keys are texts.
pub(crate) fn named_values(map: &Map) -> Vec<(&str, &Value)> {
    let entries = map.iter().filter_map(|(key, value)| match key {
        Value::Str(name) => Some((name.as_str(), value)),
        _ => None,
    });
    entries.collect()
}

/// Returns the items of a sequence.
pub(crate) fn sequence(value: &Value) -> Option<Seq> {
    match value {
        Value::Node(node) => Seq::try_from(node.clone()).ok(),
        _ => None,
    }
}

fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::Int(number) => Some(*number),
        _ => None,
    }
}

fn text(value: &Value) -> Option<&str> {
    match value {
        Value::Str(text) => Some(text.as_str()),
        _ => None,
    }
}

fn attr_of_kind(kind: AttrKind, value: &Value, dtype: Option<DataType>) -> Option<Attr> {
    match kind {
        AttrKind::Bool => match value {
            Value::Bool(truth) => Some(Attr::Bool(*truth)),
            _ => None,
        },
        AttrKind::Int => integer(value).map(Attr::Int),
        AttrKind::Float => match value {
            Value::Float(number) => Some(Attr::float(*number)),
            Value::Int(number) => Some(Attr::float(*number as f64)),
            _ => None,
        },
        AttrKind::Str => text(value).map(|text| Attr::Str(text.into())),
        AttrKind::Word(words) => text(value).filter(|text| words.contains(text)).map(Attr::word),
        AttrKind::Func => text(value).map(|text| Attr::Func(Name::new(text))),
        AttrKind::Type => text(value)?.parse().ok().map(Attr::Type),
        AttrKind::Ints | AttrKind::Dims => integers(value),
        AttrKind::IntLists(len) => {
            let rows: Option<Vec<Attr>> =
                sequence(value)?.as_slice().iter().map(integers).collect();
            Some(Attr::list(rows?)).filter(|rows| AttrKind::IntLists(len).matches(rows))
        }
        AttrKind::Literal => literal(value, dtype),
        AttrKind::Any => any_attr(value, 0),
        AttrKind::Dict | AttrKind::ResultType => None,
    }
}

fn integers(value: &Value) -> Option<Attr> {
    let items = sequence(value)?;
    items.as_slice().iter().map(integer).collect::<Option<_>>().map(Attr::Ints)
}

fn any_attr(value: &Value, depth: usize) -> Option<Attr> {
    if depth > MAX_ATTR_DEPTH {
        return None;
    }
    match value {
        Value::Bool(truth) => Some(Attr::Bool(*truth)),
        Value::Int(number) => Some(Attr::Int(*number)),
        Value::Float(number) => Some(Attr::float(*number)),
        Value::Str(text) => Some(Attr::Str(text.as_str().into())),
        Value::Node(_) => {
            let items: Option<Vec<Attr>> =
                sequence(value)?.as_slice().iter().map(|item| any_attr(item, depth + 1)).collect();
            Some(Attr::list(items?))
        }
        _ => None,
    }
}

/// Converts nested lists of numbers to a literal; floats are `FP32` and integers `INT64` unless the type is stated.
fn literal(value: &Value, dtype: Option<DataType>) -> Option<Attr> {
    let mut shape = Vec::new();
    let mut level: Vec<Value> = vec![value.clone()];
    while let Some(first) = level.first().and_then(sequence) {
        if shape.len() >= MAX_ATTR_DEPTH {
            return None;
        }
        let extent = first.as_slice().len();
        shape.push(i64::try_from(extent).ok()?);
        let mut next = Vec::new();
        for item in &level {
            let items = sequence(item)?;
            if items.as_slice().len() != extent {
                return None;
            }
            next.extend(items.as_slice().iter().cloned());
        }
        level = next;
    }
    let natural = match level.first() {
        Some(Value::Bool(_)) => DataType::Bool,
        Some(Value::Int(_)) if level.iter().all(|item| matches!(item, Value::Int(_))) => {
            DataType::I64
        }
        _ => DataType::F32,
    };
    let dtype = dtype.unwrap_or(natural);
    let scalar = |value: &Value| match value {
        Value::Bool(truth) => dtype.is_bool().then_some(Scalar::Bool(*truth)),
        Value::Int(number) => number_as_scalar(dtype, i128::from(*number)),
        Value::Float(number) if dtype.is_float() => Some(Scalar::float(dtype, *number)),
        _ => None,
    };
    let elements: Option<Vec<Scalar>> = level.iter().map(scalar).collect();
    let tensor = tensor_from_scalars(dtype, &shape, &elements?)?;
    tensor.to_literal().ok().map(Attr::Literal)
}

fn number_as_scalar(dtype: DataType, number: i128) -> Option<Scalar> {
    if dtype.is_float() {
        return Some(Scalar::float(dtype, number as f64));
    }
    let fits = dtype.integer_range().is_some_and(|(least, most)| (least..=most).contains(&number));
    (dtype.is_integer() && fits).then(|| Scalar::int(dtype, number))
}
