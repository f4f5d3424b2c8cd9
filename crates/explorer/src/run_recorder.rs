//! A trace sink that records a run for a page.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use sapwood_ptir::Program;
use sapwood_rewrite::{PassReport, RunReport};
use sapwood_trace::{ExecutionTraceSink, PassEvent, PassEventKind};

use crate::edit_recorder::EditRecorder;
use crate::recording::Recording;

/// A trace sink that records one run of a pipeline. Pass it to [`PassManager::trace`](sapwood_rewrite::PassManager::trace), and
/// call [`finish`](Self::finish) after the run.
///
/// ```
/// use std::sync::Arc;
/// use sapwood_explorer::{PageOptions, RunRecorder, report_page};
/// use sapwood_rewrite::PassManager;
///
/// let mut program = sapwood_ptir::parse(
///     "ptir 1 func @f(%x: f32[4]) -> f32[4] { %a = neg %x : f32[4] %b = neg %a : f32[4] return %b }",
/// )?;
/// let recorder = Arc::new(RunRecorder::new(&program));
/// let report = PassManager::parse("simplify")?.trace(recorder.clone()).run(&mut program)?;
/// let page = report_page(&recorder.finish("simplify", Ok(&report)), &PageOptions::new("f.ptir"));
/// assert!(page.contains("neg_of_neg"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct RunRecorder {
    state: Mutex<RecorderState>,
}

/// The state of a recorder.
struct RecorderState {
    before: Program,
    passes: Vec<EndedPass>,
    /// The functions of the running pass, by name.
    functions: BTreeMap<String, EditRecorder>,
    /// For each running nested pass, the number of edits when it started.
    nested: Vec<usize>,
}

/// A pass that succeeded.
struct EndedPass {
    report: PassReport,
    after: Program,
    steps: Vec<(String, EditRecorder)>,
}

impl RunRecorder {
    /// Creates a recorder of a run that starts with this program.
    #[must_use]
    pub fn new(before: &Program) -> Self {
        let state = RecorderState {
            before: before.clone(),
            passes: Vec::new(),
            functions: BTreeMap::new(),
            nested: Vec::new(),
        };
        Self { state: Mutex::new(state) }
    }

    /// Returns the recording. `run` is the report of the run, or the pass that failed and its message.
    #[must_use]
    pub fn finish(
        &self,
        pipeline: &str,
        run: Result<&RunReport, (Option<&str>, &str)>,
    ) -> Recording {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut recording = Recording::new(&state.before, pipeline);
        for (n, ended) in std::mem::take(&mut state.passes).into_iter().enumerate() {
            let report = run.ok().and_then(|run| run.passes.get(n)).cloned();
            recording.add_pass(report.unwrap_or(ended.report), &ended.after, ended.steps);
        }
        match run {
            Ok(run) => recording.set_times(run.time, run.verify_time),
            Err((pass, message)) => recording.set_failure(pass, message, state.take_steps()),
        }
        recording
    }
}

impl ExecutionTraceSink for RunRecorder {
    fn pass(&self, event: &PassEvent<'_>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match event.kind {
            PassEventKind::Start { program } if event.depth == 0 => state.start_pass(program),
            PassEventKind::End { program, changed, duration, error: None } if event.depth == 0 => {
                let report = PassReport {
                    name: event.pass.to_owned(),
                    time: duration,
                    changed,
                    ..PassReport::default()
                };
                state.end_pass(report, program);
            }
            PassEventKind::Start { .. } => {
                let edits = state.num_edits();
                state.nested.push(edits);
            }
            PassEventKind::End { changed, .. } => {
                let before = state.nested.pop();
                if changed && before == Some(state.num_edits()) {
                    state.functions.values_mut().for_each(EditRecorder::stop);
                }
            }
            kind => {
                let recorder =
                    kind.function().and_then(|f| state.functions.get_mut(f.name().as_str()));
                if let Some(recorder) = recorder {
                    recorder.record(kind);
                }
            }
        }
    }
}

impl RecorderState {
    fn start_pass(&mut self, program: &Program) {
        self.functions = program
            .functions()
            .iter()
            .map(|f| (f.name().as_str().to_owned(), EditRecorder::new(f)))
            .collect();
    }

    fn num_edits(&self) -> usize {
        self.functions.values().map(EditRecorder::num_edits).sum()
    }

    fn end_pass(&mut self, report: PassReport, after: &Program) {
        let steps = self.take_steps();
        self.passes.push(EndedPass { report, after: after.clone(), steps });
    }

    // Returns the edits of the running pass so far.
    fn take_steps(&mut self) -> Vec<(String, EditRecorder)> {
        std::mem::take(&mut self.functions).into_iter().collect()
    }
}
