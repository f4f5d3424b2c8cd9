//! Verifies the edits of patterns, so that an error names the pattern.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use sapwood::ptir::{Program, verify_call};
use sapwood::rewrite::{PassError, PassManager, PipelineFailure, ProblemKind, RunReport};
use sapwood::trace::{ExecutionTraceSink, PassEvent, PassEventKind};

use super::pattern::Raised;
use crate::errors::{self, Family};

/// Follows a run, and checks each call that a pattern inserts or changes: the driver, which sees one function at a time, cannot.
/// The first call that fits no function is in `raised`, and no pattern of Python's is called after it.
pub(super) struct Verifier {
    /// The program before the run: patterns do not change signatures.
    program: Arc<Program>,
    raised: Raised,
    /// The patterns that were applied, in the order of their first rewrite.
    applied: Mutex<Vec<String>>,
    /// The pattern whose edits come.
    current: Mutex<Option<String>>,
}

impl Verifier {
    /// Adds a verifier to a run of passes.
    pub(super) fn follow(
        manager: PassManager,
        program: &Arc<Program>,
        raised: &Raised,
    ) -> (PassManager, Arc<Self>) {
        let verifier = Arc::new(Self {
            program: program.clone(),
            raised: raised.clone(),
            applied: Mutex::default(),
            current: Mutex::default(),
        });
        (manager.verify_each(true).trace(verifier.clone()), verifier)
    }

    /// The exception for patterns that left something invalid, if any did.
    pub(super) fn problem(
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
                (!all.is_empty()).then(|| errors::error(py, Family::Rewrite, all.join("\n")))
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
                let error = errors::diagnosed(py, Family::Rewrite, problems, None);
                Some(errors::prefixed(py, error, &place))
            }
            Err(_) => None,
        }
    }
}

/// Whether a pattern wanted to make the program invalid. Other problems are warnings of the report.
fn is_invalid(kind: &ProblemKind) -> bool {
    !matches!(
        kind,
        ProblemKind::NothingChanged
            | ProblemKind::ChangedWithoutReporting
            | ProblemKind::Panicked(_)
            | ProblemKind::ExceedsHops { .. }
            | ProblemKind::FiresOutsideGate
    )
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ExecutionTraceSink for Verifier {
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
                    *raised =
                        Some(Python::attach(|py| errors::error(py, Family::Rewrite, message)));
                }
            }
            _ => {}
        }
    }
}
