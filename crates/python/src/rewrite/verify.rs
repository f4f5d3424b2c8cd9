//! Verification of each edit of a pattern, so that an error names the pattern.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use sapwood::ptir::{Program, verify_call};
use sapwood::rewrite::{PassError, PassManager, PipelineFailure, ProblemKind, RunReport};
use sapwood::trace::{ExecutionTraceSink, PassEvent, PassEventKind};

use super::pattern::FirstException;
use crate::errors::{self, ErrorKind};

/// A trace sink that checks each call that a pattern inserts or changes, which the driver cannot do because it sees one function at a time.
/// The first call that matches no function becomes the exception in `raised`, and no Python pattern is called after it.
pub(super) struct RewriteVerifier {
    /// The program before the run: patterns do not change signatures.
    program: Arc<Program>,
    raised: FirstException,
    /// The names of the applied patterns, in the order of their first rewrite.
    applied: Mutex<Vec<String>>,
    /// The pattern whose edits the following events describe.
    current: Mutex<Option<String>>,
}

impl RewriteVerifier {
    /// Attaches a verifier to a pass manager.
    pub(super) fn attach(
        manager: PassManager,
        program: &Arc<Program>,
        raised: &FirstException,
    ) -> (PassManager, Arc<Self>) {
        let verifier = Arc::new(Self {
            program: program.clone(),
            raised: raised.clone(),
            applied: Mutex::default(),
            current: Mutex::default(),
        });
        (manager.verify_each(true).trace(verifier.clone()), verifier)
    }

    /// Returns the exception for patterns that left something invalid, if there are any.
    pub(super) fn exception(
        &self,
        py: Python<'_>,
        outcome: &Result<RunReport, PipelineFailure>,
    ) -> Option<PyErr> {
        match outcome {
            Ok(report) => {
                let greedy = report.passes.iter().filter_map(|pass| pass.greedy.as_ref());
                let problems = greedy.flat_map(|stats| &stats.problems);
                let invalid = problems.filter(|problem| is_invalid(&problem.kind));
                let all: Vec<String> = invalid.map(ToString::to_string).collect();
                (!all.is_empty()).then(|| errors::new_error(py, ErrorKind::Rewrite, all.join("\n")))
            }
            Err(PipelineFailure { pass: Some(_), error: PassError::Invalid(problems), .. }) => {
                let applied = lock(&self.applied);
                let names = applied.join("`, `");
                let place = match applied.len() {
                    0 => "the pass left a program that does not verify".to_owned(),
                    1 => format!("pattern `{names}` left a program that does not verify"),
                    _ => {
                        format!("one of the patterns `{names}` left a program that does not verify")
                    }
                };
                let error = errors::diagnostics_error(py, ErrorKind::Rewrite, problems, None);
                Some(errors::with_prefix(py, error, &place))
            }
            // The error of the pipeline names the pattern.
            Err(_) => None,
        }
    }
}

/// Returns whether a pattern tried to make the program invalid. Other problems are warnings of the report.
fn is_invalid(kind: &ProblemKind) -> bool {
    !matches!(
        kind,
        ProblemKind::NothingChanged
            | ProblemKind::ChangedWithoutReporting
            | ProblemKind::Panicked(_)
            | ProblemKind::ExceedsHops { .. }
            | ProblemKind::FiresOutsideGate
            | ProblemKind::SearchEndedEarly
    )
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ExecutionTraceSink for RewriteVerifier {
    fn pass(&self, event: &PassEvent<'_>) {
        match &event.kind {
            PassEventKind::Rewrite { pattern, .. } => {
                let mut current = lock(&self.current);
                if current.as_deref() != Some(*pattern) {
                    *current = Some((*pattern).to_owned());
                    let mut applied = lock(&self.applied);
                    if !applied.iter().any(|known| known == pattern) {
                        applied.push((*pattern).to_owned());
                    }
                }
            }
            PassEventKind::Fold { .. } | PassEventKind::Merge { .. } => {
                *lock(&self.current) = None;
            }
            PassEventKind::Insert { function, inst } | PassEventKind::Change { function, inst } => {
                let Err(error) = verify_call(&self.program, function, *inst) else { return };
                let current = lock(&self.current);
                let Some(pattern) = &*current else { return };
                let help = error.help.map(|help| format!("; {help}")).unwrap_or_default();
                let (name, why) = (function.name(), error.message);
                let message = format!(
                    "pattern `{pattern}` left a call in @{name} that does not verify: {why}{help}"
                );
                let mut raised = lock(&self.raised);
                if raised.is_none() {
                    *raised = Some(Python::attach(|py| {
                        errors::new_error(py, ErrorKind::Rewrite, message)
                    }));
                }
            }
            _ => {}
        }
    }
}
