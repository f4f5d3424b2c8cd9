//! The Python class `Program`, with its text, JSON and StableHLO forms.

use std::io;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use hashbrown::HashMap;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use rustc_hash::FxBuildHasher;
use sapwood::explorer::{PageOptions, graph_page};
use sapwood::onnx::{self, OnnxSource};
use sapwood::ptir::{
    self, Function, InstId, InstPrinter, Name, ParseOptions, PrintOptions, Program, ValueId,
};
use sapwood::{Diagnostic, Source, stablehlo};
use sapwood_types::{Span, write_atomically};

use super::check::{PyCheckReport, check_programs};
use super::cost::{PyCost, cost_of};
use super::function::PyFunction;
use super::own_ops;
use super::run::PyExecutable;
use crate::diagnostic::PyDiagnostic;
use crate::errors::{self, ErrorKind};
use crate::items::Items;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyProgram>()?;
    module.add_function(wrap_pyfunction!(ptir_parse, module)?)?;
    module.add_function(wrap_pyfunction!(stablehlo_read, module)?)?;
    module.add_function(wrap_pyfunction!(stablehlo_write, module)?)?;
    module.add_function(wrap_pyfunction!(onnx_read, module)?)?;
    module.add_function(wrap_pyfunction!(onnx_write, module)?)?;
    module.add_function(wrap_pyfunction!(ptir_from_json, module)?)
}

/// A function that handles share, with caches of the printed instructions and value names.
pub(crate) struct SharedFunction {
    function: Arc<Function>,
    texts: OnceLock<Vec<Option<Box<str>>>>,
    names: OnceLock<HashMap<ValueId, Box<str>, FxBuildHasher>>,
}

impl Deref for SharedFunction {
    type Target = Function;
    fn deref(&self) -> &Function {
        &self.function
    }
}

impl SharedFunction {
    pub(crate) fn new(function: Arc<Function>) -> Arc<Self> {
        Arc::new(Self { function, texts: OnceLock::new(), names: OnceLock::new() })
    }

    /// Returns the function.
    pub(crate) fn arc(&self) -> &Arc<Function> {
        &self.function
    }

    /// Prints an instruction with its regions abridged. The first call prints all instructions, so printing each of them costs O(n).
    pub(crate) fn text(&self, inst: InstId) -> &str {
        let texts = self.texts.get_or_init(|| {
            let mut printer = InstPrinter::new(&self.function);
            let mut texts = vec![None; self.function.inst_capacity()];
            for inst in self.function.walk() {
                texts[inst.index()] = Some(printer.print(inst).into_boxed_str());
            }
            texts
        });
        texts[inst.index()].as_deref().unwrap_or_default()
    }

    /// Returns the name of a value in the text, with its `%`.
    pub(crate) fn value_name(&self, value: ValueId) -> &str {
        let names = self.names.get_or_init(|| {
            let mut printer = InstPrinter::new(&self.function);
            let f = &self.function;
            let mut names = HashMap::default();
            let mut add = |value| names.insert(value, printer.value(value).into_boxed_str());
            for &param in f.params() {
                add(param);
            }
            for inst in f.walk() {
                f.inst_results(inst).for_each(|value| drop(add(value)));
                for &body in f.regions(inst) {
                    f.body_params(body).iter().for_each(|&value| drop(add(value)));
                }
            }
            names
        });
        names.get(&value).map_or("", |name| name)
    }
}

/// A program: an ordered list of functions with distinct names. It is immutable; passes return new programs.
#[pyclass(frozen, weakref, name = "Program", module = "sapwood.ptir")]
pub(crate) struct PyProgram {
    program: Arc<Program>,
    functions: Vec<Arc<SharedFunction>>,
    /// Parts of StableHLO text without a PTIR equivalent; they are written back, also after passes.
    extras: Arc<stablehlo::Extras>,
    /// The ONNX model that the program was read from; passes keep it, and the writer takes from it what did not change.
    onnx: Option<OnnxSource>,
    notes: Vec<Diagnostic>,
    /// The signature of the traced function, as `from_jax` describes it; passes keep it.
    origin: Option<Arc<Py<PyAny>>>,
}

impl PyProgram {
    pub(crate) fn from_program(program: Program) -> Self {
        Self::from_parts(program, Arc::new(stablehlo::Extras::new()), Vec::new())
    }

    /// Returns the result of a pass on this program.
    pub(crate) fn with_program(&self, program: Program) -> Self {
        let made = Self::from_parts(program, self.extras.clone(), Vec::new());
        Self { origin: self.origin.clone(), onnx: self.onnx.clone(), ..made }
    }

    fn from_parts(
        program: Program,
        extras: Arc<stablehlo::Extras>,
        notes: Vec<Diagnostic>,
    ) -> Self {
        let functions =
            program.functions().iter().map(|f| SharedFunction::new(f.clone())).collect();
        Self { program: Arc::new(program), functions, extras, onnx: None, notes, origin: None }
    }

    fn page(&self, py: Python<'_>, title: Option<&str>) -> String {
        let first = self.functions.first().map(|f| format!("@{}", f.name()));
        let title = title.or(first.as_deref()).unwrap_or("program");
        py.detach(|| graph_page(&self.program, &PageOptions::new(title)))
    }

    /// Returns the program.
    pub(crate) fn get(&self) -> &Arc<Program> {
        &self.program
    }

    /// Returns the program with all ops that are defined now.
    pub(crate) fn present(&self) -> Arc<Program> {
        own_ops::with_present_ops(&self.program)
    }

    /// Returns the function with this name; without a name, the only function or `main`.
    pub(crate) fn find_function(
        &self,
        py: Python<'_>,
        name: Option<&str>,
    ) -> PyResult<&Arc<SharedFunction>> {
        let names = || self.functions.iter().map(|f| f.name().as_str());
        let by_name = |name: &str| self.functions.iter().find(|f| f.name().as_str() == name);
        let Some(name) = name else {
            if let [only] = &self.functions[..] {
                return Ok(only);
            }
            return by_name("main").ok_or_else(|| {
                let all: Vec<&str> = names().take(10).collect();
                let message = if all.is_empty() {
                    "the program has no functions".to_owned()
                } else {
                    format!(
                        "the program has several functions and none is called main; name one of {}",
                        all.join(", ")
                    )
                };
                errors::value_error(py, message)
            });
        };
        let name = name.strip_prefix('@').unwrap_or(name);
        by_name(name).ok_or_else(|| {
            let help = match sapwood_types::did_you_mean(name, names()) {
                Some(close) => format!("; did you mean {close}?"),
                None => String::new(),
            };
            errors::value_error(py, format!("unknown function {name}{help}"))
        })
    }
}

/// Parses a program.
#[pyfunction]
#[pyo3(signature = (text, filename = "<text>", verify = true))]
fn ptir_parse(py: Python<'_>, text: &str, filename: &str, verify: bool) -> PyResult<PyProgram> {
    let registry = own_ops::registry();
    let options =
        ParseOptions::new().file(filename).registry(&registry).verify(verify).comments(true);
    let program = py.detach(|| ptir::parse_with(text, &options)).map_err(|problems| {
        errors::diagnostics_error(
            py,
            ErrorKind::Parse,
            &problems,
            Some(&Source::new(filename, text)),
        )
    })?;
    Ok(PyProgram::from_program(program))
}

/// Reads a StableHLO module.
#[pyfunction]
#[pyo3(signature = (text, filename = "<text>"))]
fn stablehlo_read(py: Python<'_>, text: &str, filename: &str) -> PyResult<PyProgram> {
    let source = Source::new(filename, text);
    let module =
        py.detach(|| stablehlo::read_with(&source, &own_ops::registry())).map_err(|problems| {
            errors::diagnostics_error(py, ErrorKind::Parse, &problems, Some(&source))
        })?;
    Ok(PyProgram::from_parts(module.program, Arc::new(module.extras), module.notes))
}

/// Writes a program as the text of a StableHLO module.
#[pyfunction]
fn stablehlo_write(program: &Bound<'_, PyProgram>) -> PyResult<String> {
    let py = program.py();
    let PyProgram { program: written, extras, .. } = program.get();
    py.detach(|| stablehlo::write_program(written, extras))
        .map_err(|why| errors::value_error(py, why.to_string()))
}

/// The source of an ONNX model: a file, with the weights beside it, or bytes.
#[derive(FromPyObject)]
enum ModelSource {
    #[pyo3(transparent)]
    Bytes(Vec<u8>),
    #[pyo3(transparent)]
    Path(PathBuf),
}

/// Reads an ONNX model from a file or from bytes, with its functions in place of their calls if `inline_functions`.
#[pyfunction]
#[pyo3(signature = (source, inline_functions = false))]
fn onnx_read(py: Python<'_>, source: ModelSource, inline_functions: bool) -> PyResult<PyProgram> {
    let edits = onnx::ModelEdits { inline_functions, ..onnx::ModelEdits::default() };
    let read = |source: ModelSource| {
        let (mut model, data) = match source {
            ModelSource::Path(path) => onnx::read_file(&path).map_err(|e| e.to_string())?,
            ModelSource::Bytes(bytes) => {
                let model = onnx::read(bytes).map_err(|error| error.to_string())?;
                (model, onnx::ExternalData::default())
            }
        };
        if edits.inline_functions {
            edits.apply(&mut model, &data).map_err(|error| error.to_string())?;
        }
        onnx::to_program(model, data, &own_ops::registry()).map_err(|problems| problems.to_string())
    };
    let module = py
        .detach(|| read(source))
        .map_err(|problem| errors::new_error(py, ErrorKind::Parse, problem))?;
    let notes = module
        .notes
        .iter()
        .map(|note| Diagnostic::warning(Span::unknown(), note.clone()))
        .collect();
    let made = PyProgram::from_parts(module.program, Arc::default(), notes);
    Ok(PyProgram { onnx: Some(module.source), ..made })
}

/// Writes a program as an ONNX model: to a file, whole or not at all, or as bytes.
#[pyfunction]
#[pyo3(signature = (program, path = None))]
fn onnx_write<'py>(
    program: &Bound<'py, PyProgram>,
    path: Option<PathBuf>,
) -> PyResult<Option<Bound<'py, PyBytes>>> {
    let py = program.py();
    let PyProgram { program: written, onnx: source, .. } = program.get();
    let write = || -> Result<Option<Vec<u8>>, String> {
        let model =
            onnx::to_model(written, source.as_ref(), None).map_err(|why| why.to_string())?;
        let data = source.as_ref().map_or_else(Arc::default, OnnxSource::shared_data);
        match &path {
            Some(path) => {
                let options = onnx::WriteOptions::default();
                onnx::write_file(path, &model, &data, &options).map_err(|why| why.to_string())?;
                Ok(None)
            }
            None => onnx::write_inline(&model, &data).map(Some).map_err(|why| why.to_string()),
        }
    };
    let bytes = py.detach(write).map_err(|why| errors::value_error(py, why))?;
    Ok(bytes.map(|bytes| PyBytes::new(py, &bytes)))
}

/// Reads a program from its JSON form; `extras` is the JSON of its StableHLO extras and `model` the ONNX model that it was read from, as
/// pickle stores them.
#[pyfunction]
#[pyo3(signature = (text, extras = None, model = None, ops = Vec::new()))]
fn ptir_from_json(
    py: Python<'_>,
    text: &str,
    extras: Option<&str>,
    model: Option<Vec<u8>>,
    ops: Vec<(String, String)>,
) -> PyResult<PyProgram> {
    own_ops::import_ops(py, &ops)?;
    let onnx = match model {
        Some(bytes) => onnx_read(py, ModelSource::Bytes(bytes), false)?.onnx,
        None => None,
    };
    let mut program = py
        .detach(|| ptir::from_json_with(text, &own_ops::registry()))
        .map_err(|problems| errors::diagnostics_error(py, ErrorKind::Parse, &problems, None))?;
    let extras = extras.map(|text| stablehlo::Extras::from_json(text, &mut program)).transpose();
    let extras = extras.map_err(|why| errors::new_error(py, ErrorKind::Parse, why))?;
    let made = PyProgram::from_parts(program, Arc::new(extras.unwrap_or_default()), Vec::new());
    Ok(PyProgram { onnx, ..made })
}

#[pymethods]
impl PyProgram {
    /// Builds a program from functions.
    #[new]
    #[pyo3(signature = (functions = Items(Vec::new())))]
    fn new(py: Python<'_>, functions: Items<'_>) -> PyResult<Self> {
        let functions = functions.cast_each::<PyFunction>("a Function")?;
        let mut program = Program::new(own_ops::registry());
        for function in functions {
            let function = function.get().shared().arc().clone();
            program.add(function).map_err(|error| errors::value_error(py, error.to_string()))?;
        }
        Ok(Self::from_program(program))
    }

    /// The functions, in order.
    #[getter]
    fn functions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let all = self.functions.iter().map(|f| Bound::new(py, PyFunction::new(f.clone())));
        PyTuple::new(py, all.collect::<PyResult<Vec<_>>>()?)
    }

    /// Returns the function with this name; without a name, the only function or `main`.
    #[pyo3(signature = (name = None))]
    fn function(&self, py: Python<'_>, name: Option<&str>) -> PyResult<PyFunction> {
        self.find_function(py, name).map(|f| PyFunction::new(f.clone()))
    }

    /// The number of instructions, including those in regions.
    #[getter]
    fn num_instructions(&self) -> usize {
        self.program.num_insts()
    }

    /// Notes about parts of the source that were left out when the program was read.
    #[getter]
    fn notes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let all = self.notes.iter().map(|note| Bound::new(py, PyDiagnostic::from(note)));
        PyTuple::new(py, all.collect::<PyResult<Vec<_>>>()?)
    }

    /// Returns the text. Literals with more elements than `elide_above` are printed as `...`, which cannot be parsed.
    #[pyo3(signature = (elide_above = None))]
    fn to_text(&self, py: Python<'_>, elide_above: Option<u64>) -> String {
        let options = match elide_above {
            Some(n) => PrintOptions::new().elide_above(n),
            None => PrintOptions::new(),
        };
        py.detach(|| ptir::print_with(&self.program, &options))
    }

    /// Returns the JSON form, without the StableHLO extras; pickle keeps those, too.
    fn to_json(&self, py: Python<'_>) -> String {
        py.detach(|| ptir::to_json(&self.program))
    }

    /// The graph as one HTML page that needs nothing else; with a path, it is also written there, whole or not at all.
    #[pyo3(signature = (path = None, *, title = None))]
    fn to_html(
        &self,
        py: Python<'_>,
        path: Option<PathBuf>,
        title: Option<&str>,
    ) -> PyResult<String> {
        let page = self.page(py, title);
        if let Some(path) = path {
            let write = || write_atomically(&path, page.as_bytes(), &|| Ok(()));
            py.detach(write).map_err(io::Error::from)?;
        }
        Ok(page)
    }

    /// Returns the simplified program. With `inline`, functions are inlined first and private ones that are no longer called are removed.
    #[pyo3(signature = (*, float = "exact", inline = false))]
    fn simplify<'py>(
        slf: &Bound<'py, Self>,
        float: &str,
        inline: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let keywords = PyDict::new(py);
        keywords.set_item("float", float)?;
        keywords.set_item("inline", inline)?;
        py.import("sapwood.rewrite")?.call_method("simplify", (slf,), Some(&keywords))
    }

    /// Returns the program with known numbers in place of symbols: `program.bind(B=1, S=128)`. The symbols are those of the functions that
    /// no other function calls.
    #[pyo3(signature = (**extents))]
    fn bind(&self, py: Python<'_>, extents: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut pairs: Vec<(Name, u64)> = Vec::new();
        for (name, extent) in extents.into_iter().flatten() {
            pairs.push((Name::new(&name.extract::<String>()?), extent.extract()?));
        }
        let mut program = Program::clone(&self.program);
        let refused = |message: String| errors::value_error(py, message);
        program.bind_symbols(&pairs).map_err(|error| refused(error.to_string()))?;
        ptir::verify(&program).map_err(|problems| refused(problems.to_string()))?;
        Ok(self.with_program(program))
    }

    /// Compares the results of this program with those of another, on the same inputs.
    ///
    /// Inputs are random unless `inputs` has one array per parameter of `main`, or of the only function. `float` decides which
    /// differences are allowed. The report is true if nothing differs and every result was checked.
    #[pyo3(signature = (other, *, float = "exact", seed = 1, inputs = None))]
    fn check(
        slf: &Bound<'_, Self>,
        other: &Bound<'_, Self>,
        float: &str,
        seed: u64,
        inputs: Option<Items<'_>>,
    ) -> PyResult<PyCheckReport> {
        check_programs(slf, other, float, seed, inputs)
    }

    /// True if the program was read from an ONNX model.
    #[getter]
    fn _is_onnx(&self) -> bool {
        self.onnx.is_some()
    }

    /// Returns the operations, the memory traffic and the peak memory of one run of a function; without a name, of the only function or `main`.
    #[pyo3(signature = (function = None))]
    fn cost(slf: &Bound<'_, Self>, function: Option<&str>) -> PyResult<PyCost> {
        cost_of(slf, function)
    }

    /// The description that `_with_origin` stored, for `to_jax`.
    #[getter]
    fn _origin(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.origin.as_ref().map(|origin| origin.clone_ref(py))
    }

    /// Returns this program with a description of the traced function. Passes keep it; pickles do not.
    fn _with_origin(&self, origin: Py<PyAny>) -> Self {
        Self {
            program: self.program.clone(),
            functions: self.functions.clone(),
            extras: self.extras.clone(),
            onnx: self.onnx.clone(),
            notes: self.notes.clone(),
            origin: Some(Arc::new(origin)),
        }
    }

    /// Raises `VerifyError`, with all problems, unless the program is well-formed.
    fn verify(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| ptir::verify(&self.program))
            .map_err(|problems| errors::diagnostics_error(py, ErrorKind::Verify, &problems, None))
    }

    /// Runs a function on arrays: one per parameter, one per result. `Executable` is for running it often.
    #[pyo3(signature = (*inputs, function = None, exact = false, threads = 1, max_steps = None, time_limit = None, max_bytes = None))]
    #[allow(clippy::too_many_arguments, reason = "they are keywords")]
    fn run<'py>(
        slf: &Bound<'py, Self>,
        inputs: &Bound<'py, PyTuple>,
        function: Option<&str>,
        exact: bool,
        threads: usize,
        max_steps: Option<u64>,
        time_limit: Option<f64>,
        max_bytes: Option<u64>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        PyExecutable::new(slf, function, exact, threads, max_steps, time_limit, max_bytes)?
            .__call__(slf.py(), inputs)
    }

    fn __contains__(&self, name: &str) -> bool {
        self.program.function(Name::new(name)).is_some()
    }

    fn __len__(&self) -> usize {
        self.functions.len()
    }

    fn __getitem__(&self, py: Python<'_>, name: &str) -> PyResult<PyFunction> {
        self.function(py, Some(name))
    }

    fn __str__(&self, py: Python<'_>) -> String {
        self.to_text(py, None)
    }

    fn __repr__(&self) -> String {
        let names: Vec<String> =
            self.functions.iter().take(4).map(|f| format!("@{}", f.name())).collect();
        let more = if self.functions.len() > 4 { ", ..." } else { "" };
        let count = self.program.num_insts();
        format!("<Program {}{more}: {count} instructions>", names.join(", "))
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let text = slf.get().to_text(py, Some(16));
        py.import("sapwood._notebook")?.call_method1("program_html", (slf, text))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let read = py.import("sapwood._native")?.getattr("ptir_from_json")?;
        let extras = (!self.extras.is_empty()).then(|| self.extras.to_json(&self.program));
        let model = self.onnx.as_ref().map(|source| {
            let bytes = onnx::write_inline(source.model(), source.data());
            bytes.map_err(|why| errors::value_error(py, why.to_string()))
        });
        let model = model.transpose()?.map(|bytes| PyBytes::new(py, &bytes));
        let ops = own_ops::own_ops_in(&self.program);
        (read, (self.to_json(py), extras, model, ops)).into_pyobject(py)
    }
}
