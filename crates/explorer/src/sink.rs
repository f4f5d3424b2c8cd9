//! A recording made by being told about passes while they run.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use sapwood_ptir::{Function, InstId, Program};
use sapwood_rewrite::{Listener as _, PassReport, RunReport};
use sapwood_trace::{ExecutionTraceSink, PassEvent, PassEventKind};

use crate::record::Recorder;
use crate::run::Recording;

/// Records a run of a pipeline: hand it to [`PassManager::trace`](sapwood_rewrite::PassManager::trace), then ask for the
/// recording. One recorder is for one run.
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
    state: Mutex<State>,
}

struct State {
    before: Program,
    passes: Vec<Ended>,
    // The pass of the pipeline that runs: what it is given, and what it does to functions.
    functions: BTreeMap<String, Following>,
    // Of the passes that run in it: how many edits there were when they started.
    nested: Vec<usize>,
}

struct Ended {
    report: PassReport,
    after: Program,
    steps: Vec<(String, Recorder)>,
}

struct Following {
    recorder: Recorder,
    // The instruction the current step started from, until it goes.
    root: Option<InstId>,
}

impl RunRecorder {
    /// A recorder of what will be done to a program.
    #[must_use]
    pub fn new(before: &Program) -> Self {
        let state = State {
            before: before.clone(),
            passes: Vec::new(),
            functions: BTreeMap::new(),
            nested: Vec::new(),
        };
        Self { state: Mutex::new(state) }
    }

    /// What happened, with what the run reported or why it failed: the pass and the message.
    #[must_use]
    pub fn finish(
        &self,
        pipeline: &str,
        run: Result<&RunReport, (Option<&str>, &str)>,
    ) -> Recording {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut recording = Recording::new(&state.before, pipeline);
        for (n, ended) in std::mem::take(&mut state.passes).into_iter().enumerate() {
            let told = run.ok().and_then(|run| run.passes.get(n)).cloned();
            recording.pass(told.unwrap_or(ended.report), &ended.after, ended.steps);
        }
        match run {
            Ok(run) => recording.took(run.time, run.verify_time),
            Err((pass, message)) => recording.failed(pass, message, state.steps()),
        }
        recording
    }
}

impl ExecutionTraceSink for RunRecorder {
    fn pass(&self, event: &PassEvent<'_>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match event.kind {
            PassEventKind::Start { program } if event.depth == 0 => state.start(program),
            PassEventKind::End { program, changed, duration, error: None } if event.depth == 0 => {
                let report = PassReport {
                    name: event.pass.to_owned(),
                    time: duration,
                    changed,
                    ..PassReport::default()
                };
                state.end(report, program);
            }
            PassEventKind::Start { .. } => {
                let edits = state.edits();
                state.nested.push(edits);
            }
            PassEventKind::End { changed, .. } => {
                let before = state.nested.pop();
                if changed && before == Some(state.edits()) {
                    state.functions.values_mut().for_each(|f| f.recorder.stop());
                }
            }
            kind => {
                let following =
                    kind.function().and_then(|f| state.functions.get_mut(f.name().as_str()));
                if let Some(following) = following {
                    following.follow(kind);
                }
            }
        }
    }
}

impl State {
    fn start(&mut self, program: &Program) {
        let follow = |f: &Function| Following { recorder: Recorder::new(f), root: None };
        self.functions =
            program.functions().iter().map(|f| (f.name().as_str().to_owned(), follow(f))).collect();
    }

    fn edits(&self) -> usize {
        self.functions.values().map(|f| f.recorder.num_edits()).sum()
    }

    fn end(&mut self, report: PassReport, after: &Program) {
        let steps = self.steps();
        self.passes.push(Ended { report, after: after.clone(), steps });
    }

    // What the pass that runs did so far.
    fn steps(&mut self) -> Vec<(String, Recorder)> {
        let functions = std::mem::take(&mut self.functions);
        functions.into_iter().map(|(name, following)| (name, following.recorder)).collect()
    }
}

impl Following {
    fn follow(&mut self, kind: PassEventKind<'_>) {
        let recorder = &mut self.recorder;
        match kind {
            PassEventKind::Rewrite { pattern, function, inst } => {
                self.step(function, pattern, inst);
            }
            PassEventKind::Fold { function, inst } => self.step(function, "fold", inst),
            PassEventKind::Merge { function, inst } => self.step(function, "cse", inst),
            PassEventKind::Insert { function, inst } => recorder.inserted(function, inst),
            PassEventKind::Replace { function, from, to } => recorder.replaced(function, from, to),
            PassEventKind::Change { function, inst } => recorder.operands_changed(function, inst),
            PassEventKind::Erase { function, inst } => {
                // Once the root is gone, what goes is dead.
                if self.root.is_none() {
                    recorder.step(function, "dce", inst);
                }
                if self.root == Some(inst) {
                    self.root = None;
                }
                self.recorder.erased(function, inst);
            }
            _ => {}
        }
    }

    fn step(&mut self, function: &Function, name: &str, root: InstId) {
        self.root = Some(root);
        self.recorder.step(function, name, root);
    }
}
