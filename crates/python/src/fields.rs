//! Classes that users define: their fields, what these may hold, and how instances are made.

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
use crate::classes::{self, Class, Make};
use crate::compare;
use crate::convert::{DataTypeValue, SpanValue, to_python, to_value};
use crate::errors;
use crate::hooks;
use crate::instance::as_node;
use crate::node::{Node, wrap};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<FieldAccess>()?;
    module.add_function(wrap_pyfunction!(check_kind, module)?)?;
    module.add_function(wrap_pyfunction!(register_class, module)?)?;
    module.add_function(wrap_pyfunction!(class_fields, module)?)
}

/// What a field holds where it is not given.
enum Default {
    Missing,
    Value(Value),
    Factory(Py<PyAny>),
}

struct Field {
    name: &'static str,
    default: Default,
    keyword_only: bool,
}

/// The fields of a class, base class first.
pub(crate) struct Fields {
    fields: Vec<Field>,
    /// Which fields positional arguments go to.
    positional: Vec<usize>,
    /// What the fields may hold; found when the first instance is made, so that classes can name later ones.
    checks: PyOnceLock<Vec<Check>>,
    resolve: Py<PyAny>,
    /// Whether the class has a `__post_init__`.
    post_init: bool,
}

impl Fields {
    /// A node from the arguments of a constructor.
    pub(crate) fn make(
        &self,
        class: &Class,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<AnyRef> {
        let values = self.values(class, args, kwargs)?;
        class.info.make(values).map_err(|error| errors::value(args.py(), error.to_string()))
    }

    /// The values of all fields.
    pub(crate) fn values(
        &self,
        class: &Class,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Vec<Value>> {
        let py = args.py();
        let checks = self.checks(py, class)?;
        if args.len() > self.positional.len() {
            let names: Vec<&str> = self.positional.iter().map(|&i| self.fields[i].name).collect();
            let message = format!(
                "{} takes {} ({}), {} given",
                class.info.key(),
                counted(names.len(), "value"),
                names.join(", "),
                args.len()
            );
            return Err(errors::argument(py, message));
        }
        let mut values: Vec<Option<Value>> = Vec::with_capacity(self.fields.len());
        values.resize_with(self.fields.len(), || None);
        for (&index, given) in self.positional.iter().zip(args.iter_borrowed()) {
            values[index] = Some(self.value(class, checks, index, &given)?);
        }
        for (name, given) in kwargs.into_iter().flatten() {
            let index = self.index(class, &name)?;
            if values[index].is_some() {
                let name = self.fields[index].name;
                let message = format!("{} was given {name} twice", class.info.key());
                return Err(errors::argument(py, message));
            }
            values[index] = Some(self.value(class, checks, index, &given)?);
        }
        let complete = values.into_iter().enumerate().map(|(index, value)| match value {
            Some(value) => Ok(value),
            None => self.default(py, class, checks, index),
        });
        complete.collect()
    }

    fn checks(&self, py: Python<'_>, class: &Class) -> PyResult<&[Check]> {
        let checks = self.checks.get_or_try_init(py, || {
            let found = self.resolve.bind(py).call1((class.class.bind(py),))?;
            let found: Vec<Bound<'_, PyAny>> = found.extract()?;
            found.iter().map(Check::read).collect::<PyResult<Vec<_>>>()
        })?;
        Ok(checks)
    }

    fn index(&self, class: &Class, name: &Bound<'_, PyAny>) -> PyResult<usize> {
        let given = name.cast::<PyString>()?.to_str()?;
        self.fields.iter().position(|field| field.name == given).ok_or_else(|| {
            let names = self.fields.iter().map(|field| field.name);
            let hint = sapwood_types::did_you_mean(given, names.clone());
            let more = match hint {
                Some(hint) => format!("did you mean {hint}?"),
                None => format!("it has {}", names.collect::<Vec<_>>().join(", ")),
            };
            let message = format!("{} has no field {given}; {more}", class.info.key());
            errors::argument(name.py(), message)
        })
    }

    fn value(
        &self,
        class: &Class,
        checks: &[Check],
        index: usize,
        given: &Bound<'_, PyAny>,
    ) -> PyResult<Value> {
        let place = || format!("{}.{}", class.info.key(), self.fields[index].name);
        let value =
            to_value(given).map_err(|error| errors::prefixed(given.py(), error, &place()))?;
        checks[index]
            .apply(given.py(), value)
            .map_err(|error| errors::argument(given.py(), format!("{}: {error}", place())))
    }

    fn default(
        &self,
        py: Python<'_>,
        class: &Class,
        checks: &[Check],
        index: usize,
    ) -> PyResult<Value> {
        match &self.fields[index].default {
            Default::Value(value) => checks[index].apply(py, value.clone()).map_err(|error| {
                let (key, name) = (class.info.key(), self.fields[index].name);
                errors::argument(py, format!("{key}.{name}: its default does not fit: {error}"))
            }),
            Default::Factory(make) => self.value(class, checks, index, &make.bind(py).call0()?),
            Default::Missing => {
                let name = self.fields[index].name;
                let message = format!("{} needs {name}, which was not given", class.info.key());
                Err(errors::argument(py, message))
            }
        }
    }

    /// Makes a node from values instead of objects, as the class itself does; `None` where a field was not given.
    fn construct(
        &self,
        py: Python<'_>,
        class: &Class,
        given: Vec<Option<Value>>,
        interned: bool,
    ) -> PyResult<AnyRef> {
        let checks = self.checks(py, class)?;
        let values = given.into_iter().enumerate().map(|(index, value)| match value {
            Some(value) => checks[index].apply(py, value).map_err(|error| {
                let place = format!("{}.{}", class.info.key(), self.fields[index].name);
                errors::argument(py, format!("{place}: {error}"))
            }),
            None => self.default(py, class, checks, index),
        });
        let values = values.collect::<PyResult<Vec<Value>>>()?;
        let any = if interned {
            class.info.get(values).map_err(|error| compare::get_error(py, error))?
        } else {
            let made = class.info.make(values);
            made.map_err(|error| errors::value(py, error.to_string()))?
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

/// Makes nodes of Python classes where graphs are rebuilt or read: with the checks, defaults and `__post_init__` of the class.
fn construct(
    info: &'static TypeInfo,
    given: Vec<Option<Value>>,
    interned: bool,
) -> Result<AnyRef, ConstructError> {
    let Some(class) = classes::of_type(info) else {
        return Err(BuildError::new(format!("{} has no Python class", info.key())).into());
    };
    let Make::Fields(fields) = &class.make else {
        return Err(BuildError::new(format!("{} has no fields", info.key())).into());
    };
    Python::attach(|py| fields.construct(py, class, given, interned)).map_err(|error| {
        let error = Box::new(error);
        Error::Hook { key: info.key(), path: NodePath::root(), error }.into()
    })
}

/// What was found about containers in a value: one may stand there many times.
struct Seen<'py> {
    py: Python<'py>,
    fits: HashMap<(usize, usize), bool, FxBuildHasher>,
    converted: HashMap<(usize, usize), Option<Value>, FxBuildHasher>,
}

/// What a field may hold, from its annotation.
pub(crate) enum Check {
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
    Class(Py<PyType>),
    Seq(Box<Check>),
    Set(Box<Check>),
    Map(Box<Check>, Box<Check>),
    Union(Vec<Check>),
}

impl Check {
    /// From what `structural.py` makes of an annotation: a word, a class, or a tuple of a word and its parts.
    fn read(spec: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(class) = spec.cast::<PyType>() {
            return Ok(Self::Class(class.clone().unbind()));
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
        let part = |index| Self::read(&spec.get_item(index)?).map(Box::new);
        Ok(match word.as_str() {
            "seq" => Self::Seq(part(1)?),
            "set" => Self::Set(part(1)?),
            "map" => Self::Map(part(1)?, part(2)?),
            _ => {
                let parts = spec.iter_borrowed().skip(1).map(|one| Self::read(&one));
                Self::Union(parts.collect::<PyResult<_>>()?)
            }
        })
    }

    /// The value, if the field may hold it; an `int` where a `float` is wanted becomes one, and a NumPy scalar the number
    /// that is wanted.
    fn apply(&self, py: Python<'_>, value: Value) -> Result<Value, BuildError> {
        if let (Self::Float, Value::Int(number)) = (self, &value) {
            return Ok(Value::Float(*number as f64));
        }
        let mut seen = Seen { py, fits: HashMap::default(), converted: HashMap::default() };
        match self.refuses(&mut seen, value.view()) {
            None => Ok(self.converted(&mut seen, value.view()).unwrap_or(value)),
            Some(error) => Err(error),
        }
    }

    /// Whether a number may be wanted somewhere: other numbers become it.
    fn has_numbers(&self) -> bool {
        match self {
            Self::Bool | Self::Int | Self::Float => true,
            Self::Seq(item) | Self::Set(item) => item.has_numbers(),
            Self::Map(key, item) => key.has_numbers() || item.has_numbers(),
            Self::Union(checks) => checks.iter().any(Self::has_numbers),
            _ => false,
        }
    }

    /// The number in a tensor without dims, which is a NumPy scalar, where that number is wanted.
    fn number(&self, py: Python<'_>, tensor: &Tensor) -> Option<Value> {
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

    /// A value that can be held, with the numbers that are wanted in the place of others; nothing if it stays as it is.
    fn converted(&self, seen: &mut Seen<'_>, view: View<'_>) -> Option<Value> {
        match (self, view) {
            (Self::Float, View::Int(number)) => Some(Value::Float(number as f64)),
            (Self::Bool | Self::Int | Self::Float, View::Tensor(tensor)) => {
                self.number(seen.py, tensor)
            }
            (Self::Union(checks), _) if self.has_numbers() => {
                let mut changed = None;
                for check in checks {
                    if check.fits(seen, view) {
                        // What takes it as it is comes first: `float | int` takes an int.
                        let made = check.converted(seen, view)?;
                        // A NumPy int becomes an int before it becomes a float.
                        if matches!(changed, None | Some(Value::Float(_))) {
                            changed = Some(made);
                        }
                    }
                }
                changed
            }
            (Self::Seq(_) | Self::Set(_) | Self::Map(..), View::Node(node))
                if self.has_numbers() =>
            {
                let place = self.place(node);
                if let Some(known) = seen.converted.get(&place) {
                    return known.clone();
                }
                let made = self.items_converted(seen, node);
                if self.is_noted(node) {
                    seen.converted.insert(place, made.clone());
                }
                made
            }
            _ => None,
        }
    }

    fn items_converted(&self, seen: &mut Seen<'_>, node: NodeRef<'_>) -> Option<Value> {
        let mut change =
            |index| self.below(index).and_then(|item| item.converted(seen, node.child(index)));
        let first = (0..node.len()).find(|&index| change(index).is_some())?;
        let items = (0..node.len()).map(|index| {
            let changed = if index < first { None } else { change(index) };
            changed.unwrap_or_else(|| Value::of(node.child(index)))
        });
        self.container(items)
    }

    /// What the item at a place of a container may hold.
    fn below(&self, index: usize) -> Option<&Self> {
        match self {
            Self::Seq(item) | Self::Set(item) => Some(item),
            Self::Map(key, item) => Some(if index.is_multiple_of(2) { key } else { item }),
            _ => None,
        }
    }

    /// A container of this sort; nothing if there is none, as where `1` and `1.0` were two keys.
    fn container(&self, mut items: impl Iterator<Item = Value>) -> Option<Value> {
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

    /// Whether a value can be held.
    fn fits(&self, seen: &mut Seen<'_>, view: View<'_>) -> bool {
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
                self.number(seen.py, tensor).is_some()
            }
            (Self::DataType, View::Node(node)) => node.downcast::<DataTypeValue>().is_some(),
            (Self::Span, View::Node(node)) => node.downcast::<SpanValue>().is_some(),
            (Self::Class(class), View::Node(node)) => {
                is_instance(seen.py, node.info(), class.bind(seen.py))
            }
            (Self::Seq(_) | Self::Set(_) | Self::Map(..), View::Node(node))
                if self.is_sort_of(node) =>
            {
                let place = self.place(node);
                if let Some(known) = seen.fits.get(&place) {
                    return *known;
                }
                let fits = self.misfit(seen, node).is_none();
                if self.is_noted(node) {
                    seen.fits.insert(place, fits);
                }
                fits
            }
            (Self::Union(checks), view) => checks.iter().any(|check| check.fits(seen, view)),
            _ => false,
        }
    }

    /// Whether a node is a container of the sort that is wanted.
    fn is_sort_of(&self, node: NodeRef<'_>) -> bool {
        let layout = node.info().layout();
        match self {
            Self::Seq(_) => layout == ChildLayout::List,
            Self::Set(_) => layout == ChildLayout::Set,
            Self::Map(..) => layout == ChildLayout::Map,
            _ => false,
        }
    }

    /// Which item of a container cannot be held, and what may be there.
    fn misfit(&self, seen: &mut Seen<'_>, node: NodeRef<'_>) -> Option<(usize, &Self)> {
        let wrong = |index| {
            let item = self.below(index)?;
            (!item.fits(seen, node.child(index))).then_some((index, item))
        };
        (0..node.len()).find_map(wrong)
    }

    /// What is found about a container is noted by this.
    fn place(&self, node: NodeRef<'_>) -> (usize, usize) {
        (std::ptr::from_ref(self).addr(), node.id())
    }

    /// Whether looking at a container again costs more than noting what was found.
    fn is_noted(&self, node: NodeRef<'_>) -> bool {
        const FEW: usize = 16;
        let nested = |item: &Self| {
            matches!(item, Self::Seq(_) | Self::Set(_) | Self::Map(..) | Self::Union(_))
        };
        node.len() > FEW || (0..2).any(|index| self.below(index).is_some_and(nested))
    }

    /// Why a value cannot be held; nothing if it can.
    fn refuses(&self, seen: &mut Seen<'_>, view: View<'_>) -> Option<BuildError> {
        if self.fits(seen, view) {
            return None;
        }
        if let View::Node(node) = view
            && self.is_sort_of(node)
            && let Some((index, item)) = self.misfit(seen, node)
        {
            let error = item.refuses(seen, node.child(index))?;
            return Some(if matches!(self, Self::Seq(_)) { error.at_index(index) } else { error });
        }
        Some(BuildError::expected(&self.shown(seen.py), view))
    }

    fn shown(&self, py: Python<'_>) -> String {
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
            Self::Class(class) => {
                class.bind(py).name().map_or_else(|_| "a node".to_owned(), |name| name.to_string())
            }
            Self::Seq(item) => format!("a list of {}", item.shown(py)),
            Self::Set(item) => format!("a set of {}", item.shown(py)),
            Self::Map(key, item) => format!("a dict from {} to {}", key.shown(py), item.shown(py)),
            Self::Union(checks) => {
                checks.iter().map(|check| check.shown(py)).collect::<Vec<_>>().join(" or ")
            }
        }
    }
}

fn is_instance(py: Python<'_>, info: &'static TypeInfo, class: &Bound<'_, PyType>) -> bool {
    match classes::of_type(info) {
        Some(found) => {
            found.class.is(class) || found.class.bind(py).is_subclass(class).unwrap_or(false)
        }
        None => class.is(py.get_type::<Node>()),
    }
}

/// The kind of this name.
fn read_kind(py: Python<'_>, name: &str) -> PyResult<NodeKind> {
    NodeKind::ALL.into_iter().find(|one| one.name() == name).ok_or_else(|| {
        let names: Vec<&str> = NodeKind::ALL.iter().map(|one| one.name()).collect();
        let hint = sapwood_types::did_you_mean(name, names.clone());
        let hint = hint.map_or_else(String::new, |hint| format!("; did you mean {hint:?}?"));
        let message = format!("structural_eq is one of {}, not {name:?}{hint}", names.join(", "));
        errors::value(py, message)
    })
}

/// Refuses a name that no kind has.
#[pyfunction]
fn check_kind(py: Python<'_>, kind: &str) -> PyResult<()> {
    read_kind(py, kind).map(drop)
}

/// Registers a class: `fields` are its own, each a tuple `(name, role, default, default_factory, keyword_only)`; `hooked`
/// says whether it has an `__s_equal__`, an `__s_hash__` and a `__post_init__`.
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
    let base = base.and_then(classes::of_class);
    let kind = read_kind(py, kind)?;
    let mut builder = TypeBuilder::new(key).kind(kind).constructor(construct);
    if scope {
        builder = builder.scope();
    }
    let mut all: Vec<Field> = Vec::new();
    if let Some(base) = base {
        builder = builder.base(base.info);
        if let Make::Fields(inherited) = &base.make {
            all.extend(inherited.fields.iter().map(|field| inherit(py, field)));
        }
    }
    if hooked.0 {
        builder = builder.equal_hook(hooks::equal(cls)?);
    }
    if hooked.1 {
        builder = builder.hash_hook(hooks::hash(cls)?);
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
            Default::Value(to_value(&default)?)
        } else if !factory.is(missing) {
            Default::Factory(factory.unbind())
        } else {
            Default::Missing
        };
        builder = builder.field(FieldBuilder::new(&name).role(role));
        own.push((name, default, keyword_only));
    }
    // Only names of its own: a cell of a notebook that runs again defines the class again.
    let registered = builder.register(&mut TypeRegistry::new());
    let info = registered.map_err(|error| errors::value(py, error.to_string()))?;
    for (name, default, keyword_only) in own {
        let Some(index) = info.field_index(&name) else { continue };
        let name = info.fields()[index].name;
        cls.setattr(name, Bound::new(py, FieldAccess { index, name })?)?;
        all.push(Field { name, default, keyword_only });
    }
    let positional = (0..all.len()).filter(|&index| !all[index].keyword_only).collect();
    let resolve = resolve.clone().unbind();
    let (checks, post_init) = (PyOnceLock::new(), hooked.2);
    let fields = Fields { fields: all, positional, checks, resolve, post_init };
    classes::add(cls, info, Make::Fields(fields))?;
    Ok(())
}

fn inherit(py: Python<'_>, field: &Field) -> Field {
    let default = match &field.default {
        Default::Missing => Default::Missing,
        Default::Value(value) => Default::Value(value.clone()),
        Default::Factory(factory) => Default::Factory(factory.clone_ref(py)),
    };
    Field { name: field.name, default, keyword_only: field.keyword_only }
}

/// Name and role of every field of a class, base class first; nothing if the class has no nodes.
#[pyfunction]
fn class_fields(cls: &Bound<'_, PyType>) -> Option<Vec<(&'static str, &'static str)>> {
    let fields = classes::of_class(cls)?.info.fields();
    Some(fields.iter().map(|field| (field.name, field.role.name())).collect())
}

/// What a field of an instance holds. What reads a field can be asked about instances of other classes.
pub(crate) fn child<'a>(
    instance: &'a Bound<'_, PyAny>,
    index: usize,
    name: &str,
) -> PyResult<View<'a>> {
    let Some(node) = as_node(instance) else {
        let found = errors::type_name(instance);
        let message = format!("{name} is a field of nodes, and {found} is none");
        return Err(errors::argument(instance.py(), message));
    };
    let node = node.any.node();
    match node.info().fields().get(index) {
        Some(field) if field.name == name => Ok(node.child(index)),
        _ => {
            let class = errors::type_name(instance);
            Err(errors::argument(instance.py(), format!("{class} has no such field {name}")))
        }
    }
}

/// What reads a field of an instance.
#[pyclass(frozen, module = "sapwood._native")]
pub(crate) struct FieldAccess {
    pub(crate) index: usize,
    #[pyo3(get, name = "__name__")]
    pub(crate) name: &'static str,
}

#[pymethods]
impl FieldAccess {
    fn __get__<'py>(
        slf: &Bound<'py, Self>,
        instance: &Bound<'py, PyAny>,
        _owner: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if instance.is_none() {
            return Ok(slf.clone().into_any());
        }
        let this = slf.get();
        to_python(slf.py(), child(instance, this.index, this.name)?)
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
