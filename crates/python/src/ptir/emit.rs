//! Conversion of a Python call such as `b.transpose(x, perm=[1, 0])` to an instruction.

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

/// The destination of new instructions: a function under construction, or the replacement of a pattern.
pub(crate) trait EmitTarget {
    /// Returns the registry of ops.
    fn registry(&self) -> &Registry;
    /// Returns the value of a handle; `None` for other objects.
    fn value(&mut self, object: &Bound<'_, PyAny>) -> PyResult<Option<ValueId>>;
    /// Returns the region of a handle; `None` for other objects.
    fn region(&mut self, object: &Bound<'_, PyAny>) -> PyResult<Option<BodyId>>;
    /// Returns the tensor type of a value.
    fn tensor(&self, value: ValueId) -> Option<TensorType>;
    /// Returns the value of a constant.
    fn constant(&mut self, py: Python<'_>, literal: TensorLiteral) -> PyResult<ValueId>;
}

/// Returns the op with this name. Names of unregistered ops contain a dot.
pub(crate) fn find_op<'r>(
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
                None => "; the name of an unregistered op contains a dot".to_owned(),
            };
            Err(errors::value_error(py, format!("unknown op {name}{help}")))
        }
    }
}

/// Returns what a function of `sapwood._op_help` tells about an op.
pub(crate) fn op_help<'py>(
    py: Python<'py>,
    function: &str,
    op: &str,
) -> PyResult<Bound<'py, PyAny>> {
    py.import("sapwood._op_help")?.call_method1(function, (op,))
}

/// Returns the attributes of an object on which every op is a method, for `dir()`. Names that Python reserves get a `_`.
pub(crate) fn attribute_names(object: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    let py = object.py();
    let own = py.get_type::<PyAny>().call_method1("__dir__", (object,))?;
    let mut names: Vec<String> = own.extract()?;
    let reserved = py.import("keyword")?.getattr("kwlist")?;
    for def in Registry::builtin().defs() {
        let suffix = if reserved.contains(def.name)? { "_" } else { "" };
        names.push(format!("{}{suffix}", def.name));
    }
    names.sort_unstable();
    names.dedup();
    Ok(names)
}

/// Converts a number to a literal with the type of another operand.
fn number_literal(object: &Bound<'_, PyAny>, like: Option<TensorType>) -> PyResult<TensorLiteral> {
    let py = object.py();
    let Some(like) = like else {
        return Err(errors::argument_error(
            py,
            format!(
                "{object} has no type; a number takes its type from another operand that is a value"
            ),
        ));
    };
    let Some(shape) = like.known_shape() else {
        return Err(errors::value_error(
            py,
            format!("{object} cannot have the type {like}, because some of its dims are unknown"),
        ));
    };
    let number: f64 = object.extract()?;
    let exact = !object.is_instance_of::<PyInt>() || number.abs() <= 9_007_199_254_740_992.0;
    let made = exact.then(|| TensorLiteral::filled(like.dtype, &shape, number));
    match made {
        Some(Ok(literal)) => Ok(literal),
        Some(Err(error)) => Err(errors::value_error(py, error.to_string())),
        None => Err(errors::value_error(py, format!("{object} is too large; pass it as an array"))),
    }
}

struct OperandReader<'t, 'py, T> {
    target: &'t mut T,
    operands: SmallVec<[OperandArg<'py>; 4]>,
    regions: SmallVec<[BodyId; 2]>,
}

enum OperandArg<'py> {
    Value(ValueId),
    Number(Bound<'py, PyAny>),
}

impl<'py, T: EmitTarget> OperandReader<'_, 'py, T> {
    fn read(&mut self, op: &str, argument: &Bound<'py, PyAny>, nested: bool) -> PyResult<()> {
        let py = argument.py();
        if let Some(value) = self.target.value(argument)? {
            self.operands.push(OperandArg::Value(value));
        } else if let Some(region) = self.target.region(argument)? {
            self.regions.push(region);
        } else if is_number(argument) {
            self.operands.push(OperandArg::Number(argument.clone()));
        } else if argument.is_instance_of::<PyList>() || argument.is_instance_of::<PyTuple>() {
            if nested {
                return Err(errors::argument_error(
                    py,
                    format!(
                        "{op}: nested lists of operands; expected values or one list of values"
                    ),
                ));
            }
            for item in items(argument)? {
                self.read(op, &item, true)?;
            }
        } else if argument.is_none() {
            // An absent optional operand.
        } else if arrays::array_content(argument)?.is_some() {
            let literal = attrs::literal_from_array(argument)?;
            let value = self.target.constant(py, literal)?;
            self.operands.push(OperandArg::Value(value));
        } else {
            let found = errors::type_name(argument);
            let message = format!("{op}: an operand is a value, a number or an array, not {found}");
            return Err(errors::argument_error(py, message));
        }
        Ok(())
    }
}

fn is_number(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyInt>()
        || object.is_instance_of::<PyFloat>()
        || object.is_instance_of::<PyBool>()
}

fn take_result_types(keywords: &Bound<'_, PyDict>) -> PyResult<Vec<ValueType>> {
    if let Some(one) = keywords.get_item("result_type")? {
        keywords.del_item("result_type")?;
        return Ok(vec![PyType::read(&one)?]);
    }
    let Some(several) = keywords.get_item("result_types")? else { return Ok(Vec::new()) };
    keywords.del_item("result_types")?;
    if several.is_instance_of::<PyString>() {
        let py = several.py();
        return Err(errors::argument_error(
            py,
            "result_types is a str; expected a list of types (or use result_type)",
        ));
    }
    items(&several)?.iter().map(PyType::read).collect()
}

/// Reads a call as an instruction. Operands and regions are positional; attributes are keywords, and so are `result_type` and
/// `result_types` where types cannot be inferred. Numbers take the type of the first operand that is a value.
pub(crate) fn read_call<'py, T: EmitTarget>(
    py: Python<'py>,
    name: &str,
    target: &mut T,
    arguments: &Bound<'py, PyTuple>,
    keywords: Option<&Bound<'py, PyDict>>,
) -> PyResult<OpParts> {
    let (key, _) = find_op(py, target.registry(), name)?;
    let mut reader = OperandReader { target, operands: SmallVec::new(), regions: SmallVec::new() };
    for argument in arguments {
        reader.read(name, &argument, false)?;
    }
    let OperandReader { target, operands, regions } = reader;
    let mut parts = OpParts::new(key);
    parts.regions = regions;
    let like = operands.iter().find_map(|operand| match operand {
        OperandArg::Value(value) => Some(*value),
        OperandArg::Number(_) => None,
    });
    for operand in operands {
        parts.operands.push(match operand {
            OperandArg::Value(value) => value,
            OperandArg::Number(object) => {
                let literal = number_literal(&object, like.and_then(|value| target.tensor(value)))?;
                target.constant(py, literal)?
            }
        });
    }
    let keywords = keywords.map(PyDictMethods::copy).transpose()?;
    if let Some(keywords) = &keywords {
        parts.result_types = take_result_types(keywords)?.into();
    }
    let keywords = keywords.filter(|keywords| !keywords.is_empty());
    let def = target.registry().get(key);
    parts.attrs = attrs::read_attrs(py, name, def, keywords.as_ref())?;
    Ok(parts)
}
