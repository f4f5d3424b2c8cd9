//! Pipelines of passes, and the application of patterns.

use std::sync::{Arc, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use sapwood::Toolkit;
use sapwood::explorer::RunRecorder;
use sapwood::ptir::Program;
use sapwood::rewrite::{
    FloatMode, GreedyConfig, GreedyPass, PassError, PassManager, PatternSet, PipelineFailure,
    RunReport, canonicalize,
};

use super::condition;
use super::listener;
use super::pattern::{FirstException, PyPattern};
use super::report::{PyReport, RepeatableRun};
use super::rules::PyRule;
use super::verify::RewriteVerifier;
use crate::callback_cause::NativeCall;
use crate::errors::{self, ErrorKind};
use crate::items::Items;
use crate::ptir::own_ops;
use crate::ptir::program::PyProgram;
use crate::signals;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("INLINE_PASSES", sapwood::INLINE_PASSES)?;
    module.add_function(wrap_pyfunction!(run_pipeline, module)?)?;
    module.add_function(wrap_pyfunction!(apply_patterns, module)?)?;
    module.add_function(wrap_pyfunction!(rewrite_passes, module)?)?;
    module.add_function(wrap_pyfunction!(rewrite_patterns, module)?)
}

/// Parses a pipeline, whose files of rules may call conditions in Python.
fn manager(
    py: Python<'_>,
    pipeline: &str,
    conditions: Option<&Bound<'_, PyDict>>,
    seconds: f64,
) -> PyResult<PassManager> {
    let mut toolkit = Toolkit::new().ops(own_ops::own_defs());
    if conditions.is_some() {
        toolkit = toolkit.vocabulary(condition::vocabulary(conditions, seconds)?);
    }
    toolkit
        .pass_manager(pipeline)
        .map_err(|problems| errors::source_errors(py, ErrorKind::Parse, &problems))
}

/// Converts the failure of a pipeline to an exception.
pub(super) fn pass_error(py: Python<'_>, failure: &PipelineFailure) -> PyErr {
    let place = failure.pass.as_ref().map(|pass| format!("{pass}: ")).unwrap_or_default();
    match &failure.error {
        PassError::Invalid(problems) => {
            errors::diagnostics_error(py, ErrorKind::Verify, problems, None)
        }
        PassError::InvalidRewrite { pattern, problems } => {
            let error = errors::diagnostics_error(py, ErrorKind::Rewrite, problems, None);
            let place = format!("pattern `{pattern}` left a program that does not verify");
            errors::with_prefix(py, error, &place)
        }
        error => errors::new_error(py, ErrorKind::Rewrite, format!("{place}{error}")),
    }
}

/// Runs a pipeline on a program and returns the new program and a report.
#[pyfunction]
#[pyo3(signature = (program, pipeline, *, threads = 1, verify_each = true, diffs = false, listener = None, conditions = None, seconds = f64::INFINITY))]
#[allow(clippy::too_many_arguments, reason = "keywords of a Python function")]
fn run_pipeline(
    program: &Bound<'_, PyProgram>,
    pipeline: &str,
    threads: usize,
    verify_each: bool,
    diffs: bool,
    listener: Option<Py<PyAny>>,
    conditions: Option<&Bound<'_, PyDict>>,
    seconds: f64,
) -> PyResult<(PyProgram, PyReport)> {
    let py = program.py();
    // Folding evaluates ops of the user, and drops their exceptions.
    let _call = NativeCall::enter();
    let manager = manager(py, pipeline, conditions, seconds)?;
    let raised = FirstException::default();
    let run = RepeatableRun {
        passes: manager.passes().to_vec(),
        pipeline: manager.pipeline(),
        raised: conditions.is_some().then(|| raised.clone()),
    };
    // Conditions are Python code, so that this thread runs everything.
    let threads = if conditions.is_some() { 1 } else { threads.max(1) };
    let manager = manager.threads(threads).verify_each(verify_each).print_changes(diffs);
    let mut changed = (*program.get().present()).clone();
    let outcome = match listener {
        None if conditions.is_some() => manager.run(&mut changed),
        None => {
            let (changed, outcome) = run_detached(py, manager, changed)?;
            return finish_run(program, changed, outcome, &raised, run, None);
        }
        Some(listener) => listener::attach_listener(manager, listener, &raised).run(&mut changed),
    };
    finish_run(program, changed, outcome, &raised, run, None)
}

/// Runs passes that call no Python code, without the interpreter lock.
pub(super) fn run_detached(
    py: Python<'_>,
    manager: PassManager,
    mut program: Program,
) -> PyResult<(Program, Result<RunReport, PipelineFailure>)> {
    let size = program.num_insts();
    let run = move || {
        let outcome = manager.run(&mut program);
        (program, outcome)
    };
    signals::interruptible_if_large(py, size, run)
}

// Exceptions of patterns and listeners take precedence over the outcome.
fn finish_run(
    before: &Bound<'_, PyProgram>,
    changed: Program,
    outcome: Result<RunReport, PipelineFailure>,
    raised: &FirstException,
    run: RepeatableRun,
    recorder: Option<&RunRecorder>,
) -> PyResult<(PyProgram, PyReport)> {
    condition::take_exception()?;
    if let Some(error) = raised.lock().unwrap_or_else(PoisonError::into_inner).take() {
        return Err(error);
    }
    let report = outcome.map_err(|failure| pass_error(before.py(), &failure))?;
    let after = before.get().with_program(changed);
    let report = PyReport::new(report, (before.get().get(), after.get()), run, recorder);
    Ok((after, report))
}

/// Parses the name of a float mode.
pub(crate) fn float_mode(py: Python<'_>, name: &str) -> PyResult<FloatMode> {
    name.parse().map_err(|why| errors::value_error(py, why))
}

/// Applies patterns, together with the shipped ones if `shipped` is set, until none fires.
#[pyfunction]
#[pyo3(signature = (program, patterns, *, shipped = false, merge = false, float = "exact", max_rewrites = None, verify = true, listener = None, record = false))]
#[allow(clippy::too_many_arguments, reason = "keywords of a Python function")]
fn apply_patterns(
    program: &Bound<'_, PyProgram>,
    patterns: Items<'_>,
    shipped: bool,
    merge: bool,
    float: &str,
    max_rewrites: Option<usize>,
    verify: bool,
    listener: Option<Py<PyAny>>,
    record: bool,
) -> PyResult<(PyProgram, PyReport)> {
    let py = program.py();
    let _call = NativeCall::enter();
    let mut set = PatternSet::new();
    let raised = FirstException::default();
    let mut python_patterns = false;
    for pattern in &patterns.0 {
        if let Ok(pattern) = pattern.cast::<PyPattern>() {
            python_patterns = true;
            pattern.get().add(py, &mut set, &raised);
        } else if let Ok(rule) = pattern.cast::<PyRule>() {
            python_patterns |= rule.get().calls_python();
            rule.get().add(&mut set);
        } else {
            let found = errors::type_name(pattern);
            return Err(errors::argument_error(
                py,
                format!("expected a Pattern or a Rule, found {found}"),
            ));
        }
    }
    if shipped {
        canonicalize::populate_canonicalization(&mut set);
    }
    let floats = float_mode(py, float)?;
    let config =
        GreedyConfig { floats, max_rewrites, verify_rewrites: verify, ..GreedyConfig::default() };
    let mut manager = PassManager::new();
    if merge {
        manager.add(GreedyPass::simplify(config, set.freeze()));
    } else {
        manager.add(GreedyPass::canonicalize(config, set.freeze()));
    }
    let run = RepeatableRun {
        passes: manager.passes().to_vec(),
        pipeline: "patterns".to_owned(),
        raised: python_patterns.then(|| raised.clone()),
    };
    let before = &program.get().present();
    let mut changed = (**before).clone();
    let mut verifier = None;
    if verify {
        let (traced, attached) = RewriteVerifier::attach(manager, before, &raised);
        (manager, verifier) = (traced, Some(attached));
    }
    let recorder = record.then(|| Arc::new(RunRecorder::new(before)));
    if let Some(recorder) = &recorder {
        manager = manager.trace(recorder.clone());
    }
    let outcome;
    if python_patterns || listener.is_some() {
        // Patterns and listeners are Python code, so one attached thread runs everything.
        let manager = match listener {
            None => manager.threads(1),
            Some(listener) => listener::attach_listener(manager, listener, &raised),
        };
        outcome = manager.run(&mut changed);
    } else {
        (changed, outcome) = run_detached(py, manager.threads(1), changed)?;
    }
    let invalid = verifier.and_then(|verifier| verifier.exception(py, &outcome));
    if let Some(error) = invalid {
        raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
    finish_run(program, changed, outcome, &raised, run, recorder.as_deref())
}

/// Returns the passes: name, description, options.
#[pyfunction]
fn rewrite_passes(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let toolkit = Toolkit::new();
    let rows = toolkit.pass_infos().map(|pass| {
        let options = PyDict::new(py);
        for (option, default) in pass.options.iter().zip(pass.defaults()) {
            let doc = match default.as_str() {
                "" => option.doc.to_owned(),
                default => format!("{} [default: {default}]", option.doc),
            };
            options.set_item(option.name, doc)?;
        }
        let row = PyDict::new(py);
        row.set_item("name", pass.name)?;
        row.set_item("doc", pass.doc)?;
        row.set_item("options", options)?;
        Ok(row)
    });
    PyList::new(py, rows.collect::<PyResult<Vec<_>>>()?)
}

/// Returns the names of the shipped patterns.
#[pyfunction]
fn rewrite_patterns() -> Vec<String> {
    let mut set = PatternSet::new();
    canonicalize::populate_canonicalization(&mut set);
    set.names().map(str::to_owned).collect()
}
