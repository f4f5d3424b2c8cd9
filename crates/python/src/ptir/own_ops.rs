//! Ops that a user defines in Python, and the registry that has them.
//!
//! Inference and evaluation are Python functions. Rust code calls them on any thread, and holds no lock while it does. An exception of
//! such a function becomes the message of an error of the op; the exception that reaches the user has it as its cause
//! (`callback_cause`).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use sapwood::onnx;
use sapwood::ptir::eval::{EvalCx, EvalResult, Fault, Tensor, Value};
use sapwood::ptir::{
    Attr, AttrDef, AttrKind, Function, InferCx, InferResult, InferredTypes, OmittedMeaning, OpDef,
    OpError, OpKey, OperandKind, Program, Registry, ResultCount, TensorLiteral, TensorType,
    ValueType,
};

use super::attrs;
use super::types::PyType;
use crate::callback_cause;
use crate::errors;
use crate::items::items;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(ptir_define_op, module)?)?;
    module.add_function(wrap_pyfunction!(ptir_has_op, module)?)
}

/// The ops of the user. They are never removed: programs have them.
struct OwnOps {
    registry: Arc<Registry>,
    defs: Vec<OpDef>,
    functions: BTreeMap<String, Arc<Mutex<OpFunctions>>>,
}

static OWN_OPS: Mutex<Option<OwnOps>> = Mutex::new(None);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The lock of the table of ops.
pub(crate) struct OwnOpsLock(
    #[allow(dead_code, reason = "it is held")] MutexGuard<'static, Option<OwnOps>>,
);

/// Locks the table of ops. The locks of PTIR's tables may be taken after it, and not before.
pub(crate) fn lock_table() -> OwnOpsLock {
    OwnOpsLock(lock(&OWN_OPS))
}

/// The functions of an op. A second definition with the same signature replaces them.
struct OpFunctions {
    infer: Option<Arc<Py<PyAny>>>,
    evaluate: Arc<Py<PyAny>>,
    /// The module that defines the op, which a process without the op imports.
    module: String,
}

/// Returns the registry of all ops: built-in ops, those of ONNX and those of the user.
pub(crate) fn registry() -> Arc<Registry> {
    lock(&OWN_OPS).as_ref().map_or_else(onnx::registry, |own| own.registry.clone())
}

/// Returns the definitions of the ops of the user.
pub(crate) fn own_defs() -> Vec<OpDef> {
    lock(&OWN_OPS).as_ref().map_or_else(Vec::new, |own| own.defs.clone())
}

/// Returns the program with the present registry, if the program is older than the last definition of an op.
pub(crate) fn with_present_ops(program: &Arc<Program>) -> Arc<Program> {
    let registry = registry();
    let is_present = |f: &Arc<Function>| Arc::ptr_eq(f.registry(), &registry);
    if lock(&OWN_OPS).is_none() || program.functions().iter().all(is_present) {
        return program.clone();
    }
    // If an instruction of the program does not fit the op that was defined later, it stays an unregistered op.
    program.with_registry(&registry).map_or_else(|_| program.clone(), Arc::new)
}

/// Returns the ops of the user in a program, as pairs of the name and the module that defines it.
pub(crate) fn own_ops_in(program: &Program) -> Vec<(String, String)> {
    let guard = lock(&OWN_OPS);
    let Some(own) = guard.as_ref() else { return Vec::new() };
    let mut found = BTreeMap::new();
    for f in program.functions() {
        for inst in f.walk() {
            let name = f.op_name(inst);
            if let Some(functions) = own.functions.get(name) {
                found.entry(name).or_insert_with(|| lock(functions).module.clone());
            }
        }
    }
    found.into_iter().map(|(name, module)| (name.to_owned(), module)).collect()
}

/// Imports the modules of ops that this process does not have. An op that cannot be imported is a warning: an exception while a worker
/// receives its task would end the worker without an answer.
pub(crate) fn import_ops(py: Python<'_>, ops: &[(String, String)]) -> PyResult<()> {
    if ops.iter().all(|(name, _)| ptir_has_op(name)) {
        return Ok(());
    }
    let import = py.import("sapwood._op")?.getattr("import_op_or_warn")?;
    for (name, module) in ops {
        import.call1((name, module))?;
    }
    Ok(())
}

/// Returns whether the user defined an op of this name.
#[pyfunction]
fn ptir_has_op(name: &str) -> bool {
    lock(&OWN_OPS).as_ref().is_some_and(|own| own.functions.contains_key(name))
}

/// An attribute of an op: its name, its kind or the words that it may be, and its default; `required` if it has none.
type AttrRow<'py> = (String, Bound<'py, PyAny>, Bound<'py, PyAny>, bool);

/// Defines an op. Operands are pairs of a name and a kind: `one`, `optional` or `variadic`.
#[pyfunction]
#[pyo3(signature = (name, doc, operands, attributes, *, many, elementwise, commutative, infer, evaluate, module))]
#[allow(clippy::too_many_arguments, reason = "keywords of a Python function")]
fn ptir_define_op<'py>(
    py: Python<'py>,
    name: &str,
    doc: &str,
    operands: Vec<(String, String)>,
    attributes: Vec<AttrRow<'py>>,
    many: bool,
    elementwise: bool,
    commutative: bool,
    infer: Option<Py<PyAny>>,
    evaluate: Py<PyAny>,
    module: String,
) -> PyResult<()> {
    if !name.contains('.') {
        let message = format!("the name of an op of your own contains a dot, as in my.{name}");
        return Err(errors::value_error(py, message));
    }
    let key = OpKey::of(name);
    let functions =
        OpFunctions { infer: infer.map(Arc::new), evaluate: Arc::new(evaluate), module };
    let attributes = attributes.into_iter().map(|row| read_attr_def(py, name, row));
    let attributes = attributes.collect::<PyResult<Vec<AttrDef>>>()?;
    let slot = Arc::new(Mutex::new(functions));
    let (inferred, evaluated) = (slot.clone(), slot.clone());
    let doc: Vec<&str> = doc.lines().collect();
    let mut def =
        OpDef::new(key.name(), "own", &doc, move |cx| infer_types(&inferred, cx, elementwise));
    for (operand, kind) in operands {
        let kind = match kind.as_str() {
            "optional" => OperandKind::Optional,
            "variadic" => OperandKind::Variadic,
            _ => OperandKind::One,
        };
        def = def.operand(OpKey::of(&operand).name(), kind);
    }
    def = attributes.into_iter().fold(def, OpDef::attr);
    def = def.returns(if many { ResultCount::Many } else { ResultCount::One });
    def = def.eval(move |cx| evaluate_op(&evaluated, cx));
    def.elementwise = elementwise;
    def.commutative = commutative;
    let mut guard = lock(&OWN_OPS);
    let own = guard.get_or_insert_with(|| OwnOps {
        registry: onnx::registry(),
        defs: Vec::new(),
        functions: BTreeMap::new(),
    });
    if let Some(known) = own.functions.get(name) {
        let same = own.defs.iter().any(|other| other.key == key && has_same_signature(other, &def));
        if !same {
            let message = format!(
                "op {name} is already defined with another signature; choose another name, or start a new process"
            );
            drop(guard);
            return Err(errors::value_error(py, message));
        }
        let known = known.clone();
        drop(guard);
        // The former functions are dropped after the lock is released, because that may run Python code.
        std::mem::swap(&mut *lock(&known), &mut *lock(&slot));
        return Ok(());
    }
    match own.registry.with([def.clone()]) {
        Ok(registry) => {
            own.registry = registry;
            own.defs.push(def);
            own.functions.insert(name.to_owned(), slot);
            Ok(())
        }
        Err(error) => {
            drop(guard);
            Err(errors::value_error(py, error.to_string()))
        }
    }
}

fn has_same_signature(a: &OpDef, b: &OpDef) -> bool {
    a.operands == b.operands
        && a.attrs == b.attrs
        && a.results == b.results
        && a.elementwise == b.elementwise
        && a.commutative == b.commutative
}

fn read_attr_def(
    py: Python<'_>,
    op: &str,
    (name, kind, default, required): AttrRow<'_>,
) -> PyResult<AttrDef> {
    let kind = match kind.cast::<PyTuple>() {
        Ok(words) => {
            let words: Vec<String> = words.extract()?;
            // Interned, so that a second definition needs no more memory; only the list itself is new.
            let words: Vec<&'static str> =
                words.iter().map(|word| OpKey::of(word).name()).collect();
            AttrKind::Word(Vec::leak(words))
        }
        Err(_) => match kind.extract::<String>()?.as_str() {
            "bool" => AttrKind::Bool,
            "int" => AttrKind::Int,
            "float" => AttrKind::Float,
            "dtype" => AttrKind::Type,
            "ints" => AttrKind::Ints,
            _ => AttrKind::Str,
        },
    };
    let default = match (required, default.is_none()) {
        (true, _) => None,
        (false, true) => Some(Attr::Unit),
        (false, false) => {
            let read = attrs::read_attr_of_kind(kind, &default)?;
            let read = read.filter(|attr| kind.matches(attr));
            Some(read.ok_or_else(|| {
                let (expected, found) = (kind.describe(), errors::type_name(&default));
                let message =
                    format!("{op}: the default of {name} must be {expected}, found {found}");
                errors::argument_error(py, message)
            })?)
        }
    };
    let name = OpKey::of(&name).name();
    let omitted = OmittedMeaning::default();
    Ok(AttrDef { name, kind, default, omitted, doc: String::new(), field_type: "" })
}

/// Describes an exception of a function of the user, and keeps it as the cause of the error that follows.
fn describe_exception(py: Python<'_>, error: PyErr) -> String {
    let kind = error.get_type(py);
    let kind = kind.name().map_or_else(|_| "an exception".to_owned(), |name| name.to_string());
    // Another exception while the text is computed leaves the kind alone.
    let text = error.value(py).str().and_then(|text| text.extract::<String>()).unwrap_or_default();
    let message = if text.is_empty() { kind } else { format!("{kind}: {text}") };
    callback_cause::keep(&message, error);
    message
}

fn infer_types(slot: &Mutex<OpFunctions>, cx: &InferCx<'_>, elementwise: bool) -> InferResult {
    let tensors = cx.tensors()?;
    if elementwise && let Some((first, rest)) = tensors.split_first() {
        for (index, other) in rest.iter().enumerate() {
            let fits = first.dims.len() == other.dims.len()
                && first.dims.iter().zip(&other.dims).all(|(a, b)| a.unify(*b).is_some());
            if !fits {
                let (n, shape) = (index + 1, "all operands of an elementwise op have one shape");
                let message = format!("operand 0 is {first}, but operand {n} is {other}; {shape}");
                return Err(OpError::new(message));
            }
        }
    }
    let Some(infer) = lock(slot).infer.clone() else { return cx.same_as(0) };
    Python::attach(|py| {
        let types = || {
            let types = cx.operands.iter().map(|&ty| Bound::new(py, PyType(ty.clone())));
            let types = PyTuple::new(py, types.collect::<PyResult<Vec<_>>>()?)?;
            let attributes = attrs::attrs_to_dict(py, Some(cx.def), cx.attrs)?;
            let found = infer.bind(py).call(types, Some(&attributes))?;
            read_types(&found, cx.def.results)
        };
        types().map_err(|error| OpError::new(describe_exception(py, error)))
    })
}

fn read_types(found: &Bound<'_, PyAny>, results: ResultCount) -> PyResult<InferredTypes> {
    let all = match results {
        ResultCount::Many if is_list(found) => items(found)?,
        ResultCount::Many => {
            let (py, name) = (found.py(), errors::type_name(found));
            let message = format!("inference must return a tuple of types, it returned {name}");
            return Err(errors::argument_error(py, message));
        }
        ResultCount::One | ResultCount::None => vec![found.clone()],
    };
    all.iter().map(PyType::read).collect()
}

fn is_list(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyTuple>() || object.is_instance_of::<PyList>()
}

fn evaluate_op(slot: &Mutex<OpFunctions>, cx: &mut EvalCx<'_>) -> EvalResult {
    let evaluate = lock(slot).evaluate.clone();
    let operands = (0..cx.args().len()).map(|n| {
        let literal = cx.tensor(n)?.to_literal();
        literal.map_err(|error| Fault::op(error.to_string()))
    });
    let operands = operands.collect::<Result<Vec<TensorLiteral>, Fault>>()?;
    // The results count against the limits before the function runs, if their size is known.
    for index in 0..cx.num_results() {
        if let Ok(shape) = cx.result_shape(index) {
            let size = cx.result_dtype(index)?.byte_size();
            drop(cx.alloc::<u8>(shape.iter().product::<usize>().saturating_mul(size))?);
        }
    }
    let expected = (0..cx.num_results()).map(|n| cx.result_tensor(n).cloned());
    let expected = expected.collect::<Result<Vec<TensorType>, Fault>>()?;
    let (def, given) = (cx.def(), cx.attrs());
    let results = Python::attach(|py| {
        let results = || -> PyResult<Vec<TensorLiteral>> {
            let arrays = operands.iter().map(|operand| attrs::literal_to_array(py, operand));
            let arrays = PyTuple::new(py, arrays.collect::<PyResult<Vec<_>>>()?)?;
            let attributes = attrs::attrs_to_dict(py, Some(def), given)?;
            let found = evaluate.bind(py).call(arrays, Some(&attributes))?;
            read_results(def, &found, &expected)
        };
        results().map_err(|error| Fault::op(describe_exception(py, error)))
    })?;
    let tensor = |literal: &TensorLiteral| {
        Tensor::from_literal(literal).map(Value::Tensor).map_err(|e| Fault::op(e.to_string()))
    };
    results.iter().map(tensor).collect()
}

fn read_results(
    def: &OpDef,
    found: &Bound<'_, PyAny>,
    expected: &[TensorType],
) -> PyResult<Vec<TensorLiteral>> {
    let py = found.py();
    let wrong = |message: String| errors::value_error(py, format!("the function {message}"));
    let all = match def.results {
        ResultCount::Many if is_list(found) => items(found)?,
        ResultCount::Many => {
            let found = errors::type_name(found);
            return Err(wrong(format!("returned {found}, expected a tuple of arrays")));
        }
        ResultCount::One | ResultCount::None => vec![found.clone()],
    };
    if all.len() != expected.len() {
        let (found, expected) = (all.len(), expected.len());
        return Err(wrong(format!("returned {found} arrays, expected {expected}")));
    }
    let one = |(array, expected): (&Bound<'_, PyAny>, &TensorType)| {
        let literal = match attrs::is_array(array)? {
            true => attrs::literal_from_array(array)?,
            false => {
                let found = errors::type_name(array);
                return Err(wrong(format!("returned {found}, expected an array of {expected}")));
            }
        };
        let ty = literal.ty();
        if !ValueType::Tensor(ty.clone()).compatible(&ValueType::Tensor(expected.clone())) {
            return Err(wrong(format!("returned {ty}, expected {expected}")));
        }
        Ok(literal)
    };
    all.iter().zip(expected).map(one).collect()
}
