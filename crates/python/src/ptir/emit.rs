//! An instruction to be made, from the arguments of a Python call: `b.transpose(x, perm=[1, 0])`.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use sapwood::ptir::{
    BodyId, OpDef, OpKey, OpParts, Registry, TensorLiteral, TensorType, ValueId, ValueType,
};
use smallvec::SmallVec;

use super::{attrs, types::PyType};
use crate::arrays;
use crate::errors;
use crate::items::items;

/// What a call is made in: a function under construction, or a pattern that is tried.
pub(crate) trait Target {
    /// The ops.
    fn registry(&self) -> &Registry;
    /// The value that an object is a handle of; `None` if it is none.
    fn value(&mut self, object: &Bound<'_, PyAny>) -> PyResult<Option<ValueId>>;
    /// The region that an object is a handle of; `None` if it is none.
    fn region(&mut self, object: &Bound<'_, PyAny>) -> PyResult<Option<BodyId>>;
    /// The type of a value.
    fn tensor(&self, value: ValueId) -> Option<TensorType>;
    /// The value of a literal.
    fn constant(&mut self, py: Python<'_>, literal: TensorLiteral) -> PyResult<ValueId>;
}

/// The op of this name. Names of ops without a table have a dot in them.
pub(crate) fn op<'r>(
    py: Python<'_>,
    registry: &'r Registry,
    name: &str,
) -> PyResult<(OpKey, Option<&'r OpDef>)> {
    match registry.by_name(name) {
        Some(def) => Ok((def.key, Some(def))),
        None if name.contains('.') => Ok((OpKey::of(name), None)),
        None => {
            let close = sapwood_types::did_you_mean(name, registry.defs().map(|def| def.name));
            let help = match close {
                Some(close) => format!("; did you mean {close}?"),
                None => "; an op of your own has a dot in its name".to_owned(),
            };
            Err(errors::value(py, format!("there is no op {name}{help}")))
        }
    }
}

/// The literal of a number, of the type of another operand.
fn number(object: &Bound<'_, PyAny>, like: Option<TensorType>) -> PyResult<TensorLiteral> {
    let py = object.py();
    let Some(like) = like else {
        return Err(errors::argument(
            py,
            format!("{object} stands alone: a number takes its type from a value beside it"),
        ));
    };
    let Some(shape) = like.known_shape() else {
        return Err(errors::value(
            py,
            format!("{object} cannot take the type {like}: not all its dims are known"),
        ));
    };
    let number: f64 = object.extract()?;
    let exact = !object.is_instance_of::<PyInt>() || number.abs() <= 9_007_199_254_740_992.0;
    let made = exact.then(|| TensorLiteral::filled(like.dtype, &shape, number));
    match made {
        Some(Ok(literal)) => Ok(literal),
        Some(Err(error)) => Err(errors::value(py, error.to_string())),
        None => Err(errors::value(py, format!("{object} is too large: write it as an array"))),
    }
}

struct Reader<'t, 'py, T> {
    target: &'t mut T,
    operands: SmallVec<[Operand<'py>; 4]>,
    regions: SmallVec<[BodyId; 2]>,
}

enum Operand<'py> {
    Value(ValueId),
    Number(Bound<'py, PyAny>),
}

impl<'py, T: Target> Reader<'_, 'py, T> {
    fn read(&mut self, op: &str, argument: &Bound<'py, PyAny>, nested: bool) -> PyResult<()> {
        let py = argument.py();
        if let Some(value) = self.target.value(argument)? {
            self.operands.push(Operand::Value(value));
        } else if let Some(region) = self.target.region(argument)? {
            self.regions.push(region);
        } else if is_number(argument) {
            self.operands.push(Operand::Number(argument.clone()));
        } else if argument.is_instance_of::<PyList>() || argument.is_instance_of::<PyTuple>() {
            if nested {
                return Err(errors::argument(py, format!("{op}: operands are values or one list")));
            }
            for item in items(argument)? {
                self.read(op, &item, true)?;
            }
        } else if argument.is_none() {
            // An optional operand that is not there.
        } else if arrays::parts(argument)?.is_some() {
            let literal = attrs::literal(argument)?;
            let value = self.target.constant(py, literal)?;
            self.operands.push(Operand::Value(value));
        } else {
            let found = errors::type_name(argument);
            let message = format!("{op}: an operand is a value, a number or an array, not {found}");
            return Err(errors::argument(py, message));
        }
        Ok(())
    }
}

fn is_number(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyInt>()
        || object.is_instance_of::<PyFloat>()
        || object.is_instance_of::<PyBool>()
}

fn given_types(keywords: &Bound<'_, PyDict>) -> PyResult<Vec<ValueType>> {
    if let Some(one) = keywords.get_item("result_type")? {
        keywords.del_item("result_type")?;
        return Ok(vec![PyType::read(&one)?]);
    }
    let Some(several) = keywords.get_item("result_types")? else { return Ok(Vec::new()) };
    keywords.del_item("result_types")?;
    if several.is_instance_of::<PyString>() {
        let py = several.py();
        return Err(errors::argument(py, "result_types is a list of types; result_type is one"));
    }
    items(&several)?.iter().map(PyType::read).collect()
}

/// The instruction of a call. Operands and regions are positional, attributes are keywords, and so are `result_type` and
/// `result_types` where they cannot be inferred. Numbers take the type of the first value beside them.
pub(crate) fn parts<'py, T: Target>(
    py: Python<'py>,
    name: &str,
    target: &mut T,
    arguments: &Bound<'py, PyTuple>,
    keywords: Option<&Bound<'py, PyDict>>,
) -> PyResult<OpParts> {
    let (key, _) = op(py, target.registry(), name)?;
    let mut reader = Reader { target, operands: SmallVec::new(), regions: SmallVec::new() };
    for argument in arguments {
        reader.read(name, &argument, false)?;
    }
    let Reader { target, operands, regions } = reader;
    let mut parts = OpParts::new(key);
    parts.regions = regions;
    let like = operands.iter().find_map(|operand| match operand {
        Operand::Value(value) => Some(*value),
        Operand::Number(_) => None,
    });
    for operand in operands {
        parts.operands.push(match operand {
            Operand::Value(value) => value,
            Operand::Number(object) => {
                let literal = number(&object, like.and_then(|value| target.tensor(value)))?;
                target.constant(py, literal)?
            }
        });
    }
    let keywords = keywords.map(PyDictMethods::copy).transpose()?;
    if let Some(keywords) = &keywords {
        parts.declared_types = given_types(keywords)?;
    }
    let keywords = keywords.filter(|keywords| !keywords.is_empty());
    let def = target.registry().get(key);
    parts.attrs = attrs::read(py, name, def, keywords.as_ref())?;
    Ok(parts)
}
