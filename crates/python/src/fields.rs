//! Node classes that users define: their fields, the types of these fields, and the construction of instances.

use hashbrown::HashMap;
use pyo3::exceptions::PyAttributeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple, PyType};
use rustc_hash::FxBuildHasher;
use sapwood_structural::{
    AnyRef, BuildError, ChildLayout, ConstructError, Error, FieldBuilder, FieldRole, Map, NodeKind,
    NodePath, NodeRef, Seq, Set, Tensor, TypeBuilder, TypeInfo, TypeRegistry, Value, View,
};
use sapwood_types::counted;

use crate::arrays;
use crate::classes::{self, Constructor, NodeClass};
use crate::compare;
use crate::convert::{DataTypeValue, SpanValue, to_python, to_value};
use crate::errors;
use crate::hooks;
use crate::instance::as_node;
use crate::node::{Node, wrap};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<FieldGetter>()?;
    module.add_function(wrap_pyfunction!(check_kind, module)?)?;
    module.add_function(wrap_pyfunction!(register_class, module)?)?;
    module.add_function(wrap_pyfunction!(class_fields, module)?)
}

/// The value of a field for which a constructor call has no argument.
enum FieldDefault {
    Missing,
    Value(Value),
    Factory(Py<PyAny>),
}

struct FieldSpec {
    name: &'static str,
    default: FieldDefault,
    keyword_only: bool,
}

/// The fields of a class, base class first.
pub(crate) struct ClassFields {
    fields: Vec<FieldSpec>,
    /// The indices of the fields that take positional arguments, in order.
    positional: Vec<usize>,
    /// The types of the fields. They are resolved when the first instance is built, so that annotations may name later classes.
    types: PyOnceLock<Vec<FieldType>>,
    resolve: Py<PyAny>,
    /// True if the class has a `__post_init__`.
    post_init: bool,
}

impl ClassFields {
    /// Builds a node from the arguments of a constructor call.
    pub(crate) fn construct_from_call(
        &self,
        class: &NodeClass,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<AnyRef> {
        let values = self.bind_values(class, args, kwargs)?;
        class.info.make(values).map_err(|error| errors::value_error(args.py(), error.to_string()))
    }

    /// Returns the values of all fields from the arguments of a constructor call.
    pub(crate) fn bind_values(
        &self,
        class: &NodeClass,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Vec<Value>> {
        let py = args.py();
        let types = self.types(py, class)?;
        if args.len() > self.positional.len() {
            let names: Vec<&str> = self.positional.iter().map(|&i| self.fields[i].name).collect();
            let message = format!(
                "{} takes {} ({}), {} given",
                class.info.key(),
                counted(names.len(), "value"),
                names.join(", "),
                args.len()
            );
            return Err(errors::argument_error(py, message));
        }
        let mut values: Vec<Option<Value>> = Vec::with_capacity(self.fields.len());
        values.resize_with(self.fields.len(), || None);
        for (&index, given) in self.positional.iter().zip(args.iter_borrowed()) {
            values[index] = Some(self.value(class, types, index, &given)?);
        }
        for (name, given) in kwargs.into_iter().flatten() {
            let index = self.index(class, &name)?;
            if values[index].is_some() {
                let name = self.fields[index].name;
                let message = format!("{} was given {name} twice", class.info.key());
                return Err(errors::argument_error(py, message));
            }
            values[index] = Some(self.value(class, types, index, &given)?);
        }
        let complete = values.into_iter().enumerate().map(|(index, value)| match value {
            Some(value) => Ok(value),
            None => self.default(py, class, types, index),
        });
        complete.collect()
    }

    fn types(&self, py: Python<'_>, class: &NodeClass) -> PyResult<&[FieldType]> {
        let types = self.types.get_or_try_init(py, || {
            let found = self.resolve.bind(py).call1((class.class.bind(py),))?;
            let found: Vec<Bound<'_, PyAny>> = found.extract()?;
            found.iter().map(FieldType::from_spec).collect::<PyResult<Vec<_>>>()
        })?;
        Ok(types)
    }

    fn index(&self, class: &NodeClass, name: &Bound<'_, PyAny>) -> PyResult<usize> {
        let given = name.cast::<PyString>()?.to_str()?;
        self.fields.iter().position(|field| field.name == given).ok_or_else(|| {
            let names = self.fields.iter().map(|field| field.name);
            let hint = sapwood_types::did_you_mean(given, names.clone());
            let more = match hint {
                Some(hint) => format!("did you mean {hint}?"),
                None => format!("it has {}", names.collect::<Vec<_>>().join(", ")),
            };
            let message = format!("{} has no field {given}; {more}", class.info.key());
            errors::argument_error(name.py(), message)
        })
    }

    fn value(
        &self,
        class: &NodeClass,
        types: &[FieldType],
        index: usize,
        given: &Bound<'_, PyAny>,
    ) -> PyResult<Value> {
        let place = || format!("{}.{}", class.info.key(), self.fields[index].name);
        let value =
            to_value(given).map_err(|error| errors::with_prefix(given.py(), error, &place()))?;
        types[index]
            .check_and_convert(given.py(), value)
            .map_err(|error| errors::argument_error(given.py(), format!("{}: {error}", place())))
    }

    fn default(
        &self,
        py: Python<'_>,
        class: &NodeClass,
        types: &[FieldType],
        index: usize,
    ) -> PyResult<Value> {
        match &self.fields[index].default {
            FieldDefault::Value(value) => {
                types[index].check_and_convert(py, value.clone()).map_err(|error| {
                    let (key, name) = (class.info.key(), self.fields[index].name);
                    errors::argument_error(
                        py,
                        format!("{key}.{name}: the default is not valid: {error}"),
                    )
                })
            }
            FieldDefault::Factory(make) => self.value(class, types, index, &make.bind(py).call0()?),
            FieldDefault::Missing => {
                let name = self.fields[index].name;
                let message = format!("{} needs {name}, which was not given", class.info.key());
                Err(errors::argument_error(py, message))
            }
        }
    }

    /// Builds a node from values instead of Python objects; `None` selects the default of a field.
    fn construct_from_values(
        &self,
        py: Python<'_>,
        class: &NodeClass,
        given: Vec<Option<Value>>,
        interned: bool,
    ) -> PyResult<AnyRef> {
        let types = self.types(py, class)?;
        let values = given.into_iter().enumerate().map(|(index, value)| match value {
            Some(value) => types[index].check_and_convert(py, value).map_err(|error| {
                let place = format!("{}.{}", class.info.key(), self.fields[index].name);
                errors::argument_error(py, format!("{place}: {error}"))
            }),
            None => self.default(py, class, types, index),
        });
        let values = values.collect::<PyResult<Vec<Value>>>()?;
        let any = if interned {
            class.info.get(values).map_err(|error| compare::singleton_error(py, error))?
        } else {
            let made = class.info.make(values);
            made.map_err(|error| errors::value_error(py, error.to_string()))?
        };
        self.post_init(py, &any)?;
        Ok(any)
    }

    /// Calls the `__post_init__` of a new node, if its class has one.
    pub(crate) fn post_init(&self, py: Python<'_>, any: &AnyRef) -> PyResult<()> {
        if self.post_init {
            wrap(py, any.clone())?.call_method0(intern!(py, "__post_init__"))?;
        }
        Ok(())
    }
}

/// Builds nodes of Python classes while a graph is rebuilt or read, with the type checks, defaults and `__post_init__` of the class.
fn construct_node(
    info: &'static TypeInfo,
    given: Vec<Option<Value>>,
    interned: bool,
) -> Result<AnyRef, ConstructError> {
    let Some(class) = classes::find_by_type(info) else {
        return Err(BuildError::new(format!("{} has no Python class", info.key())).into());
    };
    let Constructor::Fields(fields) = &class.constructor else {
        return Err(BuildError::new(format!("{} has no fields", info.key())).into());
    };
    Python::attach(|py| fields.construct_from_values(py, class, given, interned)).map_err(|error| {
        let error = Box::new(error);
        Error::Hook { key: info.key(), path: NodePath::root(), error }.into()
    })
}

/// A memo of the checks and conversions of containers in one value, because a container may occur in it many times.
struct CheckMemo<'py> {
    py: Python<'py>,
    accepted: HashMap<(usize, usize), bool, FxBuildHasher>,
    converted: HashMap<(usize, usize), Option<Value>, FxBuildHasher>,
}

/// The type of a field, from its annotation.
pub(crate) enum FieldType {
    Any,
    None,
    Bool,
    Int,
    Float,
    Str,
    Bytes,
    Tensor,
    DataType,
    Span,
    NodeClass(Py<PyType>),
    Seq(Box<FieldType>),
    Set(Box<FieldType>),
    Map(Box<FieldType>, Box<FieldType>),
    Union(Vec<FieldType>),
}

impl FieldType {
    /// Reads the specification that `structural.py` derives from an annotation: a word, a class, or a tuple of a word and its parts.
    fn from_spec(spec: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(class) = spec.cast::<PyType>() {
            return Ok(Self::NodeClass(class.clone().unbind()));
        }
        if let Ok(word) = spec.cast::<PyString>() {
            return Ok(match word.to_str()? {
                "none" => Self::None,
                "bool" => Self::Bool,
                "int" => Self::Int,
                "float" => Self::Float,
                "str" => Self::Str,
                "bytes" => Self::Bytes,
                "tensor" => Self::Tensor,
                "dtype" => Self::DataType,
                "span" => Self::Span,
                _ => Self::Any,
            });
        }
        let spec = spec.cast::<PyTuple>()?;
        let word: String = spec.get_item(0)?.extract()?;
        let part = |index| Self::from_spec(&spec.get_item(index)?).map(Box::new);
        Ok(match word.as_str() {
            "seq" => Self::Seq(part(1)?),
            "set" => Self::Set(part(1)?),
            "map" => Self::Map(part(1)?, part(2)?),
            _ => {
                let parts = spec.iter_borrowed().skip(1).map(|one| Self::from_spec(&one));
                Self::Union(parts.collect::<PyResult<_>>()?)
            }
        })
    }

    /// Checks a value against the type and returns it, converted where needed: an `int` becomes a `float`, and a NumPy scalar becomes a
    /// Python number.
    fn check_and_convert(&self, py: Python<'_>, value: Value) -> Result<Value, BuildError> {
        if let (Self::Float, Value::Int(number)) = (self, &value) {
            return Ok(Value::Float(*number as f64));
        }
        let mut memo =
            CheckMemo { py, accepted: HashMap::default(), converted: HashMap::default() };
        match self.rejection(&mut memo, value.view()) {
            None => Ok(self.convert(&mut memo, value.view()).unwrap_or(value)),
            Some(error) => Err(error),
        }
    }

    /// Returns whether the type contains a number type, to which other numbers may be converted.
    fn may_convert_numbers(&self) -> bool {
        match self {
            Self::Bool | Self::Int | Self::Float => true,
            Self::Seq(item) | Self::Set(item) => item.may_convert_numbers(),
            Self::Map(key, item) => key.may_convert_numbers() || item.may_convert_numbers(),
            Self::Union(types) => types.iter().any(Self::may_convert_numbers),
            _ => false,
        }
    }

    /// Converts a tensor without dims, such as a NumPy scalar, to a number of this type.
    fn scalar_to_number(&self, py: Python<'_>, tensor: &Tensor) -> Option<Value> {
        let dtype = tensor.dtype();
        let class = match self {
            Self::Bool if dtype.is_bool() => py.get_type::<PyBool>(),
            Self::Int if dtype.is_integer() => py.get_type::<PyInt>(),
            Self::Float if dtype.is_float() || dtype.is_integer() => py.get_type::<PyFloat>(),
            _ => return None,
        };
        if !tensor.shape().is_empty() {
            return None;
        }
        let array = arrays::to_array(py, tensor).ok()?;
        to_value(&class.call1((array,)).ok()?).ok()
    }

    /// Converts the numbers in an accepted value to the types of the field; `None` if nothing changes.
    fn convert(&self, memo: &mut CheckMemo<'_>, view: View<'_>) -> Option<Value> {
        match (self, view) {
            (Self::Float, View::Int(number)) => Some(Value::Float(number as f64)),
            (Self::Bool | Self::Int | Self::Float, View::Tensor(tensor)) => {
                self.scalar_to_number(memo.py, tensor)
            }
            (Self::Union(types), _) if self.may_convert_numbers() => {
                let mut changed = None;
                for ty in types {
                    if ty.accepts(memo, view) {
                        // A type that accepts the value unchanged comes first: `float | int` keeps an int.
                        let made = ty.convert(memo, view)?;
                        // A NumPy int becomes an int before it becomes a float.
                        if matches!(changed, None | Some(Value::Float(_))) {
                            changed = Some(made);
                        }
                    }
                }
                changed
            }
            (Self::Seq(_) | Self::Set(_) | Self::Map(..), View::Node(node))
                if self.may_convert_numbers() =>
            {
                let key = self.memo_key(node);
                if let Some(known) = memo.converted.get(&key) {
                    return known.clone();
                }
                let made = self.convert_items(memo, node);
                if self.is_memoized(node) {
                    memo.converted.insert(key, made.clone());
                }
                made
            }
            _ => None,
        }
    }

    fn convert_items(&self, memo: &mut CheckMemo<'_>, node: NodeRef<'_>) -> Option<Value> {
        let mut change =
            |index| self.item_type(index).and_then(|item| item.convert(memo, node.child(index)));
        let first = (0..node.len()).find(|&index| change(index).is_some())?;
        let items = (0..node.len()).map(|index| {
            let changed = if index < first { None } else { change(index) };
            changed.unwrap_or_else(|| Value::of(node.child(index)))
        });
        self.build_container(items)
    }

    /// Returns the type of the item at an index of a container.
    fn item_type(&self, index: usize) -> Option<&Self> {
        match self {
            Self::Seq(item) | Self::Set(item) => Some(item),
            Self::Map(key, item) => Some(if index.is_multiple_of(2) { key } else { item }),
            _ => None,
        }
    }

    /// Builds a container of this type; `None` if the items are invalid, as when `1` and `1.0` were two keys.
    fn build_container(&self, mut items: impl Iterator<Item = Value>) -> Option<Value> {
        match self {
            Self::Seq(_) => Some(Seq::new(items).into()),
            Self::Set(_) => Some(Set::new(items.collect::<Vec<_>>()).ok()?.into()),
            _ => {
                let mut entries = Vec::new();
                while let (Some(key), Some(value)) = (items.next(), items.next()) {
                    entries.push((key, value));
                }
                Some(Map::new(entries).ok()?.into())
            }
        }
    }

    /// Returns whether a value has this type.
    fn accepts(&self, memo: &mut CheckMemo<'_>, view: View<'_>) -> bool {
        match (self, view) {
            (Self::Any, _)
            | (Self::None, View::None)
            | (Self::Bool, View::Bool(_))
            | (Self::Int, View::Int(_) | View::Wide(_) | View::Big(_))
            | (Self::Float, View::Float(_) | View::Int(_))
            | (Self::Str, View::Str(_))
            | (Self::Bytes, View::Bytes(_))
            | (Self::Tensor, View::Tensor(_)) => true,
            (Self::Bool | Self::Int | Self::Float, View::Tensor(tensor)) => {
                self.scalar_to_number(memo.py, tensor).is_some()
            }
            (Self::DataType, View::Node(node)) => node.downcast::<DataTypeValue>().is_some(),
            (Self::Span, View::Node(node)) => node.downcast::<SpanValue>().is_some(),
            (Self::NodeClass(class), View::Node(node)) => {
                is_instance(memo.py, node.info(), class.bind(memo.py))
            }
            (Self::Seq(_) | Self::Set(_) | Self::Map(..), View::Node(node))
                if self.is_container_for(node) =>
            {
                let key = self.memo_key(node);
                if let Some(known) = memo.accepted.get(&key) {
                    return *known;
                }
                let accepts = self.first_rejected_item(memo, node).is_none();
                if self.is_memoized(node) {
                    memo.accepted.insert(key, accepts);
                }
                accepts
            }
            (Self::Union(types), view) => types.iter().any(|ty| ty.accepts(memo, view)),
            _ => false,
        }
    }

    /// Returns whether a node is the sort of container that this type describes.
    fn is_container_for(&self, node: NodeRef<'_>) -> bool {
        let layout = node.info().layout();
        match self {
            Self::Seq(_) => layout == ChildLayout::List,
            Self::Set(_) => layout == ChildLayout::Set,
            Self::Map(..) => layout == ChildLayout::Map,
            _ => false,
        }
    }

    /// Returns the index of the first item that is not of its type, and that type.
    fn first_rejected_item(
        &self,
        memo: &mut CheckMemo<'_>,
        node: NodeRef<'_>,
    ) -> Option<(usize, &Self)> {
        let wrong = |index| {
            let item = self.item_type(index)?;
            (!item.accepts(memo, node.child(index))).then_some((index, item))
        };
        (0..node.len()).find_map(wrong)
    }

    /// Returns the key of a container in the memo.
    fn memo_key(&self, node: NodeRef<'_>) -> (usize, usize) {
        (std::ptr::from_ref(self).addr(), node.id())
    }

    /// Returns whether a second visit of a container would cost more than a memo entry.
    fn is_memoized(&self, node: NodeRef<'_>) -> bool {
        const MAX_UNMEMOIZED_ITEMS: usize = 16;
        let nested = |item: &Self| {
            matches!(item, Self::Seq(_) | Self::Set(_) | Self::Map(..) | Self::Union(_))
        };
        node.len() > MAX_UNMEMOIZED_ITEMS
            || (0..2).any(|index| self.item_type(index).is_some_and(nested))
    }

    /// Returns the error for a value that is not of this type; `None` if it is.
    fn rejection(&self, memo: &mut CheckMemo<'_>, view: View<'_>) -> Option<BuildError> {
        if self.accepts(memo, view) {
            return None;
        }
        if let View::Node(node) = view
            && self.is_container_for(node)
            && let Some((index, item)) = self.first_rejected_item(memo, node)
        {
            let error = item.rejection(memo, node.child(index))?;
            return Some(if matches!(self, Self::Seq(_)) { error.at_index(index) } else { error });
        }
        Some(BuildError::expected(&self.describe(memo.py), view))
    }

    fn describe(&self, py: Python<'_>) -> String {
        match self {
            Self::Any => "anything".to_owned(),
            Self::None => "None".to_owned(),
            Self::Bool => "a bool".to_owned(),
            Self::Int => "an int".to_owned(),
            Self::Float => "a float".to_owned(),
            Self::Str => "a str".to_owned(),
            Self::Bytes => "bytes".to_owned(),
            Self::Tensor => "an array".to_owned(),
            Self::DataType => "a DataType".to_owned(),
            Self::Span => "a Span".to_owned(),
            Self::NodeClass(class) => {
                class.bind(py).name().map_or_else(|_| "a node".to_owned(), |name| name.to_string())
            }
            Self::Seq(item) => format!("a list of {}", item.describe(py)),
            Self::Set(item) => format!("a set of {}", item.describe(py)),
            Self::Map(key, item) => {
                format!("a dict from {} to {}", key.describe(py), item.describe(py))
            }
            Self::Union(types) => {
                types.iter().map(|ty| ty.describe(py)).collect::<Vec<_>>().join(" or ")
            }
        }
    }
}

fn is_instance(py: Python<'_>, info: &'static TypeInfo, class: &Bound<'_, PyType>) -> bool {
    match classes::find_by_type(info) {
        Some(found) => {
            found.class.is(class) || found.class.bind(py).is_subclass(class).unwrap_or(false)
        }
        None => class.is(py.get_type::<Node>()),
    }
}

/// Returns the node kind with this name.
fn parse_kind(py: Python<'_>, name: &str) -> PyResult<NodeKind> {
    NodeKind::ALL.into_iter().find(|one| one.name() == name).ok_or_else(|| {
        let names: Vec<&str> = NodeKind::ALL.iter().map(|one| one.name()).collect();
        let hint = sapwood_types::did_you_mean(name, names.clone());
        let hint = hint.map_or_else(String::new, |hint| format!("; did you mean {hint:?}?"));
        let message = format!("structural_eq is one of {}, not {name:?}{hint}", names.join(", "));
        errors::value_error(py, message)
    })
}

/// Fails if there is no node kind with this name.
#[pyfunction]
fn check_kind(py: Python<'_>, kind: &str) -> PyResult<()> {
    parse_kind(py, kind).map(drop)
}

/// Registers a class. `fields` are its own fields, each a tuple `(name, role, default, default_factory, keyword_only)`; `hooked`
/// tells whether it has an `__s_equal__`, an `__s_hash__` and a `__post_init__`.
#[pyfunction]
#[pyo3(signature = (cls, key, kind, scope, base, fields, resolve, missing, hooked))]
#[allow(clippy::too_many_arguments, reason = "called from one place, by py_class")]
fn register_class<'py>(
    cls: &Bound<'py, PyType>,
    key: &str,
    kind: &str,
    scope: bool,
    base: Option<&Bound<'py, PyType>>,
    fields: &Bound<'py, PyList>,
    resolve: &Bound<'py, PyAny>,
    missing: &Bound<'py, PyAny>,
    hooked: (bool, bool, bool),
) -> PyResult<()> {
    let py = cls.py();
    let base = base.and_then(classes::find_by_class);
    let kind = parse_kind(py, kind)?;
    let mut builder = TypeBuilder::new(key).kind(kind).constructor(construct_node);
    if scope {
        builder = builder.scope();
    }
    let mut all: Vec<FieldSpec> = Vec::new();
    if let Some(base) = base {
        builder = builder.base(base.info);
        if let Constructor::Fields(inherited) = &base.constructor {
            all.extend(inherited.fields.iter().map(|field| inherit(py, field)));
        }
    }
    if hooked.0 {
        builder = builder.equal_hook(hooks::equal_hook(cls)?);
    }
    if hooked.1 {
        builder = builder.hash_hook(hooks::hash_hook(cls)?);
    }
    let mut own = Vec::new();
    for field in fields {
        let (name, role, default, factory, keyword_only) =
            field.extract::<(String, String, Bound<'_, PyAny>, Bound<'_, PyAny>, bool)>()?;
        let role = match role.as_str() {
            "usual" => FieldRole::Usual,
            "def" => FieldRole::Def,
            _ => FieldRole::Ignore,
        };
        let default = if !default.is(missing) {
            FieldDefault::Value(to_value(&default)?)
        } else if !factory.is(missing) {
            FieldDefault::Factory(factory.unbind())
        } else {
            FieldDefault::Missing
        };
        builder = builder.field(FieldBuilder::new(&name).role(role));
        own.push((name, default, keyword_only));
    }
    // A fresh registry: a notebook cell that runs twice defines the same class twice.
    let registered = builder.register(&mut TypeRegistry::new());
    let info = registered.map_err(|error| errors::value_error(py, error.to_string()))?;
    for (name, default, keyword_only) in own {
        let Some(index) = info.field_index(&name) else { continue };
        let name = info.fields()[index].name;
        cls.setattr(name, Bound::new(py, FieldGetter { index, name })?)?;
        all.push(FieldSpec { name, default, keyword_only });
    }
    let positional = (0..all.len()).filter(|&index| !all[index].keyword_only).collect();
    let resolve = resolve.clone().unbind();
    let (types, post_init) = (PyOnceLock::new(), hooked.2);
    let fields = ClassFields { fields: all, positional, types, resolve, post_init };
    classes::insert(cls, info, Constructor::Fields(fields))?;
    Ok(())
}

fn inherit(py: Python<'_>, field: &FieldSpec) -> FieldSpec {
    let default = match &field.default {
        FieldDefault::Missing => FieldDefault::Missing,
        FieldDefault::Value(value) => FieldDefault::Value(value.clone()),
        FieldDefault::Factory(factory) => FieldDefault::Factory(factory.clone_ref(py)),
    };
    FieldSpec { name: field.name, default, keyword_only: field.keyword_only }
}

/// Returns name and role of every field of a class, base class first; `None` if its instances are not nodes.
#[pyfunction]
fn class_fields(cls: &Bound<'_, PyType>) -> Option<Vec<(&'static str, &'static str)>> {
    let fields = classes::find_by_class(cls)?.info.fields();
    Some(fields.iter().map(|field| (field.name, field.role.name())).collect())
}

/// Returns a view of a field of an instance. Fails for instances of classes without that field, on which Python may call a field getter.
pub(crate) fn read_field<'a>(
    instance: &'a Bound<'_, PyAny>,
    index: usize,
    name: &str,
) -> PyResult<View<'a>> {
    let Some(node) = as_node(instance) else {
        let found = errors::type_name(instance);
        let message = format!("{found} is not a node, so it has no field {name}");
        return Err(errors::argument_error(instance.py(), message));
    };
    let node = node.any.node();
    match node.info().fields().get(index) {
        Some(field) if field.name == name => Ok(node.child(index)),
        _ => {
            let class = errors::type_name(instance);
            Err(errors::argument_error(instance.py(), format!("{class} has no field {name}")))
        }
    }
}

/// A Python descriptor that reads one field of an instance.
#[pyclass(frozen, module = "sapwood._native")]
pub(crate) struct FieldGetter {
    pub(crate) index: usize,
    #[pyo3(get, name = "__name__")]
    pub(crate) name: &'static str,
}

#[pymethods]
impl FieldGetter {
    fn __get__<'py>(
        slf: &Bound<'py, Self>,
        instance: &Bound<'py, PyAny>,
        _owner: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if instance.is_none() {
            return Ok(slf.clone().into_any());
        }
        let this = slf.get();
        to_python(slf.py(), read_field(instance, this.index, this.name)?)
    }

    fn __set__(&self, instance: &Bound<'_, PyAny>, _value: &Bound<'_, PyAny>) -> PyResult<()> {
        let class = errors::type_name(instance);
        let message = format!("{class} objects are immutable: {} cannot be changed", self.name);
        Err(PyAttributeError::new_err(message))
    }

    fn __repr__(&self) -> String {
        format!("<field {}>", self.name)
    }
}
