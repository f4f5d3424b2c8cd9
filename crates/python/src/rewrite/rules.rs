//! Subgraphs and rules: searching, explaining, extracting and checking.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use sapwood::Source;
use sapwood::ptir::InstPrinter;
use sapwood::rewrite::PatternSet;
use sapwood::rules::{
    ExtractOptions, FindOptions, OverlapPreference, PatternGraph, Rule, RuleCheckOptions,
    RuleVerdict, Vocabulary, check_rule, explain, extract, find_matches, legality, patterns_from,
    patterns_of_program, rules_from,
};
use sapwood_types::counted;

use super::condition;
use crate::callback_cause::NativeCall;
use crate::errors::{self, ErrorKind};
use crate::items::Items;
use crate::ptir::attrs;
use crate::ptir::function::{PyInstruction, PyValue};
use crate::ptir::own_ops;
use crate::ptir::program::PyProgram;
use crate::signals;
use crate::span::PySpan;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PySubgraph>()?;
    module.add_class::<PyRule>()?;
    module.add_function(wrap_pyfunction!(read_subgraphs, module)?)?;
    module.add_function(wrap_pyfunction!(subgraphs_of_program, module)?)?;
    module.add_function(wrap_pyfunction!(read_rules, module)?)?;
    module.add_function(wrap_pyfunction!(rewrite_predicates, module)?)?;
    module.add_function(wrap_pyfunction!(rewrite_find, module)?)?;
    module.add_function(wrap_pyfunction!(rewrite_explain, module)?)?;
    module.add_function(wrap_pyfunction!(rewrite_extract, module)?)?;
    module.add_function(wrap_pyfunction!(rewrite_check_rule, module)?)
}

/// A subgraph to search for.
#[pyclass(frozen, name = "Subgraph", module = "sapwood.rewrite")]
pub(crate) struct PySubgraph {
    graph: PatternGraph,
    calls_python: bool,
}

/// A rule: a subgraph and its replacement.
#[pyclass(frozen, name = "Rule", module = "sapwood.rewrite")]
pub(crate) struct PyRule {
    rule: Rule,
    calls_python: bool,
}

#[pymethods]
impl PySubgraph {
    /// The name.
    #[getter]
    fn name(&self) -> &'static str {
        self.graph.name().as_str()
    }

    /// The names of its parameters.
    #[getter]
    fn params(&self) -> Vec<String> {
        self.graph.params().map(str::to_owned).collect()
    }

    /// The number of ops.
    #[getter]
    fn num_ops(&self) -> usize {
        self.graph.num_ops()
    }

    fn __repr__(&self) -> String {
        format!("<Subgraph {}: {}>", self.graph.name(), counted(self.graph.num_ops(), "op"))
    }
}

#[pymethods]
impl PyRule {
    /// The name.
    #[getter]
    fn name(&self) -> &'static str {
        self.rule.name()
    }

    /// The comment before it.
    #[getter]
    fn doc(&self) -> &str {
        self.rule.doc()
    }

    /// The float mode that the rule requires.
    #[getter]
    fn float_mode(&self) -> String {
        self.rule.floats().to_string()
    }

    /// True if the rule has a replacement.
    #[getter]
    fn rewrites(&self) -> bool {
        self.rule.rewrites()
    }

    /// The left-hand side.
    #[getter]
    fn subgraph(&self) -> PySubgraph {
        let graph = self.rule.pattern().clone();
        PySubgraph { graph, calls_python: self.calls_python }
    }

    fn __repr__(&self) -> String {
        format!("<Rule {}>", self.rule.name())
    }
}

impl PyRule {
    /// Adds the rule to a set, if it has a replacement.
    pub(crate) fn add(&self, set: &mut PatternSet) {
        self.rule.add_to(set);
    }

    /// Returns whether the file of the rule may have conditions in Python.
    pub(crate) fn calls_python(&self) -> bool {
        self.calls_python
    }
}

/// Parses functions as subgraphs.
#[pyfunction]
fn read_subgraphs<'py>(
    py: Python<'py>,
    text: &str,
    filename: &str,
) -> PyResult<Bound<'py, PyList>> {
    let source = Source::new(filename, text);
    let found = patterns_from(&source, &own_ops::registry()).map_err(|problems| {
        errors::diagnostics_error(py, ErrorKind::Parse, &problems, Some(&source))
    })?;
    let found =
        found.into_iter().map(|graph| Bound::new(py, PySubgraph { graph, calls_python: false }));
    PyList::new(py, found.collect::<PyResult<Vec<_>>>()?)
}

/// Returns the functions of a program as subgraphs; the main one is named `name`.
#[pyfunction]
fn subgraphs_of_program<'py>(
    program: &Bound<'py, PyProgram>,
    name: &str,
) -> PyResult<Bound<'py, PyList>> {
    let py = program.py();
    let found = patterns_of_program(program.get().get(), name)
        .map_err(|problems| errors::diagnostics_error(py, ErrorKind::Verify, &problems, None))?;
    let found =
        found.into_iter().map(|graph| Bound::new(py, PySubgraph { graph, calls_python: false }));
    PyList::new(py, found.collect::<PyResult<Vec<_>>>()?)
}

/// Parses rules, which may call conditions: a dictionary from names to pairs of a function and its number of parameters. A call may take
/// `seconds`.
#[pyfunction]
#[pyo3(signature = (text, filename, *, conditions = None, seconds = f64::INFINITY))]
fn read_rules<'py>(
    py: Python<'py>,
    text: &str,
    filename: &str,
    conditions: Option<&Bound<'py, PyDict>>,
    seconds: f64,
) -> PyResult<Bound<'py, PyList>> {
    let source = Source::new(filename, text);
    let words = condition::vocabulary(conditions, seconds)?;
    let found = rules_from(&source, &own_ops::registry(), &words).map_err(|problems| {
        errors::diagnostics_error(py, ErrorKind::Parse, &problems, Some(&source))
    })?;
    let calls_python = conditions.is_some();
    let found = found.into_iter().map(|rule| Bound::new(py, PyRule { rule, calls_python }));
    PyList::new(py, found.collect::<PyResult<Vec<_>>>()?)
}

/// Returns the names of the built-in predicates.
#[pyfunction]
fn rewrite_predicates() -> Vec<String> {
    Vocabulary::builtin().predicates().map(|predicate| predicate.name.clone()).collect()
}

/// The patterns of a call, and whether they may have conditions in Python.
struct Graphs {
    list: Vec<PatternGraph>,
    calls_python: bool,
}

impl Graphs {
    /// Runs work on a program of `size` instructions: on this thread if it calls Python code, otherwise without the interpreter lock.
    fn run<R: Send + 'static>(
        calls_python: bool,
        py: Python<'_>,
        size: usize,
        work: impl FnOnce() -> R + Send + 'static,
    ) -> PyResult<R> {
        if !calls_python {
            return signals::interruptible_if_large(py, size, work);
        }
        let done = work();
        condition::take_exception()?;
        Ok(done)
    }
}

fn graphs(list: &[Bound<'_, PyAny>]) -> PyResult<Graphs> {
    let mut calls_python = false;
    let one = |object: &Bound<'_, PyAny>| {
        if let Ok(graph) = object.cast::<PySubgraph>() {
            calls_python |= graph.get().calls_python;
            return Ok(graph.get().graph.clone());
        }
        if let Ok(rule) = object.cast::<PyRule>() {
            calls_python |= rule.get().calls_python;
            return Ok(rule.get().rule.pattern().clone());
        }
        let found = errors::type_name(object);
        Err(errors::argument_error(
            object.py(),
            format!("expected a Subgraph or a Rule, found {found}"),
        ))
    };
    let list = list.iter().map(one).collect::<PyResult<_>>()?;
    Ok(Graphs { list, calls_python })
}

/// Finds subgraphs and returns one dictionary for each match.
#[pyfunction]
#[pyo3(signature = (program, patterns, *, typed = false, operand_order = false))]
fn rewrite_find<'py>(
    program: &Bound<'py, PyProgram>,
    patterns: Items<'py>,
    typed: bool,
    operand_order: bool,
) -> PyResult<Bound<'py, PyList>> {
    let py = program.py();
    let Graphs { list, calls_python } = graphs(&patterns.0)?;
    let graphs: Arc<[PatternGraph]> = list.into();
    let options = FindOptions { typed, operand_order, ..FindOptions::default() };
    let searched = program.get().get();
    let (all, wanted) = (searched.clone(), graphs.clone());
    let find = move || find_matches(&all, &wanted, &options);
    let found = Graphs::run(calls_python, py, searched.num_insts(), find)?;
    let list = PyList::empty(py);
    for one in &found.matches {
        let pattern = &graphs[one.pattern];
        let shared = program.get().find_function(py, Some(one.function.as_str()))?;
        let row = PyDict::new(py);
        row.set_item("pattern", pattern.name().as_str())?;
        row.set_item("function", one.function.as_str())?;
        let illegal = legality(searched, &graphs, one).err();
        row.set_item("legal", illegal.is_none())?;
        let reason = illegal.map(|why| why.describe(&mut InstPrinter::new(shared)));
        row.set_item("reason", reason)?;
        let ops = one.ops.iter().map(|&id| Bound::new(py, PyInstruction::new(shared.clone(), id)));
        row.set_item("ops", PyTuple::new(py, ops.collect::<PyResult<Vec<_>>>()?)?)?;
        let bindings = PyDict::new(py);
        for (name, id) in one.bindings(pattern) {
            bindings.set_item(name, Bound::new(py, PyValue::new(shared.clone(), id))?)?;
        }
        row.set_item("bindings", bindings)?;
        let attributes = PyDict::new(py);
        for (name, attr) in one.attributes(pattern) {
            attributes.set_item(name, attrs::attr_to_python(py, attr)?)?;
        }
        row.set_item("attributes", attributes)?;
        row.set_item("by_name", one.by_name)?;
        list.append(row)?;
    }
    Ok(list)
}

/// Explains why subgraphs did not match: a row `(pattern, function, found, of, op, reason, span)` for each attempt, nearest misses first.
#[pyfunction]
#[pyo3(signature = (program, patterns, *, limit = 3))]
#[allow(clippy::type_complexity, reason = "rows of a named tuple in Python")]
fn rewrite_explain(
    program: &Bound<'_, PyProgram>,
    patterns: Items<'_>,
    limit: usize,
) -> PyResult<Vec<(String, String, usize, usize, String, String, PySpan)>> {
    let py = program.py();
    let Graphs { list, calls_python } = graphs(&patterns.0)?;
    let graphs: Arc<[PatternGraph]> = list.into();
    let searched = program.get().get();
    let (all, wanted) = (searched.clone(), graphs.clone());
    let look = move || explain(&all, &wanted, &FindOptions::default(), limit);
    let misses = Graphs::run(calls_python, py, searched.num_insts(), look)?;
    let rows = misses.into_iter().map(|miss| {
        let pattern = graphs[miss.pattern].name().to_string();
        let function = miss.function.to_string();
        (pattern, function, miss.matched, miss.of, miss.op, miss.reason, PySpan(miss.span))
    });
    Ok(rows.collect())
}

/// Replaces matches by calls. Returns the new program, `(pattern, function, name)` for each call, and the rejected matches with their
/// reasons.
#[pyfunction]
#[pyo3(signature = (program, patterns, *, typed = false, share = false, keep_nested = false, keep_unused = false))]
#[allow(clippy::type_complexity, reason = "rows of named tuples in Python")]
fn rewrite_extract(
    program: &Bound<'_, PyProgram>,
    patterns: Items<'_>,
    typed: bool,
    share: bool,
    keep_nested: bool,
    keep_unused: bool,
) -> PyResult<(PyProgram, Vec<(String, String, String)>, Vec<(String, String, String)>)> {
    let py = program.py();
    let Graphs { list: graphs, calls_python } = graphs(&patterns.0)?;
    let options = ExtractOptions {
        find: FindOptions { typed, ..FindOptions::default() },
        prefer: OverlapPreference::Earliest,
        share,
        keep_nested,
        keep_unused,
    };
    let mut changed = (**program.get().get()).clone();
    let size = changed.num_insts();
    let take = move || {
        let done = extract(&mut changed, &graphs, &options);
        (changed, done)
    };
    let (changed, done) = Graphs::run(calls_python, py, size, take)?;
    let done = done.map_err(|why| errors::new_error(py, ErrorKind::Rewrite, why))?;
    let calls = done.calls.iter();
    let calls = calls
        .map(|c| (c.pattern.to_string(), c.function.to_string(), c.name.to_string()))
        .collect();
    let refused = done.refused.iter();
    let refused = refused
        .map(|r| (r.pattern.to_string(), r.function.to_string(), r.reason.clone()))
        .collect();
    Ok((program.get().with_program(changed), calls, refused))
}

/// Checks a rule by running both sides on random instances. Returns `None` if they agree, otherwise the reason.
#[pyfunction]
#[pyo3(signature = (rule, *, seed = 0))]
fn rewrite_check_rule(
    py: Python<'_>,
    rule: &Bound<'_, PyRule>,
    seed: u64,
) -> PyResult<Option<String>> {
    let PyRule { rule, calls_python } = rule.get();
    let rule: Arc<Rule> = Arc::new(rule.clone());
    let options = RuleCheckOptions { seed, ..RuleCheckOptions::default() };
    let check = move || check_rule(&rule, &own_ops::registry(), &options);
    let call = NativeCall::enter();
    let verdict = match calls_python {
        true => Graphs::run(true, py, 0, check)?,
        false => signals::interruptible(py, check)?,
    };
    call.check_exits(py)?;
    Ok(match verdict {
        RuleVerdict::Holds(_) => None,
        RuleVerdict::Wrong(counterexample) => Some(counterexample.to_string()),
        RuleVerdict::NeverApplied => Some(
            "no random instance of the left-hand side satisfies the conditions of the rule"
                .to_owned(),
        ),
        RuleVerdict::NotChecked(reason) => Some(format!("the rule could not be checked: {reason}")),
        RuleVerdict::ChangesNothing(left) => {
            Some(format!("the rule changes nothing, for example in\n{left}"))
        }
        RuleVerdict::MatchOnly => Some("the rule has no right-hand side".to_owned()),
    })
}
