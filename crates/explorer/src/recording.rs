//! The recording of a run: the programs between passes, the reports of the passes, and every step.

use std::time::Duration;

use sapwood_ptir::Program;
use sapwood_ptir::structural::Mode;
use sapwood_rewrite::PassReport;
use sapwood_types::Source;
use serde::Serialize;

use crate::check_section::CheckSection;
use crate::comparison::{ComparisonMarks, MergeLog, compare_programs};
use crate::document::{ProgramDetail, ProgramRow};
use crate::edit_recorder::{EditRecorder, InstSnapshot, RecordedEdit, ValueSnapshot};
use crate::limits::{MAX_COMPARED_OPS, MAX_EDITS, MAX_TOTAL_OPS};
use crate::program_rows::PageTables;

/// The recording of a run of a pipeline, until its end or its failure.
pub struct Recording {
    before: Program,
    pipeline: String,
    passes: Vec<PassRecord>,
    total: Duration,
    verify: Duration,
    failure: Option<FailureRecord>,
}

/// The failure of a run.
struct FailureRecord {
    pass: Option<String>,
    message: String,
    /// The edits of the pass before it failed, by function.
    steps: Vec<(String, EditRecorder)>,
}

/// A pass that succeeded.
struct PassRecord {
    report: PassReport,
    after: Program,
    steps: Vec<(String, EditRecorder)>,
}

#[derive(Serialize)]
struct FailureRow {
    pass: Option<String>,
    message: String,
    /// The steps of the pass that failed; none if the program is too large to be replayed.
    functions: Option<Vec<StepsRow>>,
}

impl Recording {
    /// Creates the recording of a run that starts with this program.
    #[must_use]
    pub fn new(before: &Program, pipeline: impl Into<String>) -> Self {
        Self {
            before: before.clone(),
            pipeline: pipeline.into(),
            passes: Vec::new(),
            total: Duration::ZERO,
            verify: Duration::ZERO,
            failure: None,
        }
    }

    /// Adds a pass that succeeded: its report, the program after it, and the edits of functions by name.
    pub(crate) fn add_pass(
        &mut self,
        report: PassReport,
        after: &Program,
        steps: impl IntoIterator<Item = (String, EditRecorder)>,
    ) {
        let steps = steps.into_iter().collect();
        self.passes.push(PassRecord { report, after: after.clone(), steps });
    }

    /// Sets the total time, and the time of the verification before the first pass.
    pub(crate) fn set_times(&mut self, total: Duration, verify: Duration) {
        (self.total, self.verify) = (total, verify);
    }

    /// Sets the failure of the run: the pass, or none if it failed before the first one, and its edits of functions by name.
    pub(crate) fn set_failure(
        &mut self,
        pass: Option<&str>,
        message: impl Into<String>,
        steps: impl IntoIterator<Item = (String, EditRecorder)>,
    ) {
        self.failure = Some(FailureRecord {
            pass: pass.map(str::to_owned),
            message: message.into(),
            steps: steps.into_iter().collect(),
        });
    }

    /// Returns the rows of a page: the program before the run and after each pass, and the run.
    pub(crate) fn rows(
        &self,
        tables: &mut PageTables,
        source: Option<&Source>,
        check: Option<&CheckSection>,
    ) -> (Vec<ProgramRow>, RunRow) {
        let details = self.details();
        let drawn = |n: usize| details[n].is_drawn();
        let mut states = vec![ProgramRow::new("before", &self.before, details[0], tables, source)];
        let mut passes = Vec::new();
        let mut last = &self.before;
        let mut notes = Vec::new();
        let mut remaining_edits = MAX_EDITS;
        let mut pass_merges = MergeLog::default();
        let mut run_merges = MergeLog::default();
        for (n, pass) in self.passes.iter().enumerate() {
            let state =
                ProgramRow::new(&pass.report.name, &pass.after, details[n + 1], tables, source);
            states.push(state);
            let both_drawn = drawn(n) && drawn(n + 1);
            pass_merges.clear();
            pass_merges.add_pass(pass.report.changed, &pass.steps);
            run_merges.add_pass(pass.report.changed, &pass.steps);
            passes.push(PassRow {
                marks: both_drawn
                    .then(|| compare_programs(last, &pass.after, Mode::Ordered, &pass_merges)),
                functions: both_drawn.then(|| step_rows(&pass.steps, tables, &mut remaining_edits)),
                ..PassRow::from_report(&pass.report)
            });
            last = &pass.after;
        }
        if details.contains(&ProgramDetail::TextOnly) {
            notes.push(format!(
                "programs with more than {MAX_COMPARED_OPS} instructions are shown as text"
            ));
        }
        if details.contains(&ProgramDetail::CountsOnly) {
            notes.push(
                "programs between passes are left out: they have too many instructions".into(),
            );
        }
        let ends = drawn(0) && details.last().is_some_and(|d| d.is_drawn());
        let failure = self.failure.as_ref().map(|failed| FailureRow {
            pass: failed.pass.clone(),
            message: failed.message.clone(),
            functions: drawn(details.len() - 1)
                .then(|| step_rows(&failed.steps, tables, &mut remaining_edits)),
        });
        let run = RunRow {
            pipeline: self.pipeline.clone(),
            total: microseconds(self.total),
            verify: microseconds(self.verify),
            marks: ends.then(|| compare_programs(&self.before, last, Mode::Ordered, &run_merges)),
            passes,
            failure,
            check: check.map(CheckSection::truncated),
            notes,
        };
        (states, run)
    }

    // Returns the detail of each program: all are drawn if they are small enough, otherwise the first and the last one.
    fn details(&self) -> Vec<ProgramDetail> {
        let mut ops = vec![self.before.num_insts()];
        ops.extend(
            self.passes.iter().map(|p| if p.report.changed { p.after.num_insts() } else { 0 }),
        );
        let last = ops.len() - 1;
        let all_fit = ops.iter().sum::<usize>() <= MAX_TOTAL_OPS;
        let size = |n: usize| {
            if n == 0 { self.before.num_insts() } else { self.passes[n - 1].after.num_insts() }
        };
        let detail = |n: usize| match n {
            n if n != 0 && n != last && !(all_fit && size(n) <= MAX_COMPARED_OPS) => {
                ProgramDetail::CountsOnly
            }
            n if size(n) > MAX_COMPARED_OPS => ProgramDetail::TextOnly,
            n if n == 0 || n == last => ProgramDetail::DrawnWithText,
            _ => ProgramDetail::Drawn,
        };
        (0..=last).map(detail).collect()
    }
}

/// The data about a run.
#[derive(Serialize)]
pub(crate) struct RunRow {
    pipeline: String,
    /// The total time in microseconds.
    total: u64,
    verify: u64,
    /// None if the programs are too large to be compared.
    marks: Option<ComparisonMarks>,
    passes: Vec<PassRow>,
    failure: Option<FailureRow>,
    /// None if no check was requested.
    check: Option<CheckSection>,
    notes: Vec<String>,
}

impl RunRow {
    /// Returns the comparison of two programs as a run without passes.
    pub(crate) fn from_marks(marks: Option<ComparisonMarks>) -> Self {
        Self {
            pipeline: String::new(),
            total: 0,
            verify: 0,
            marks,
            passes: Vec::new(),
            failure: None,
            check: None,
            notes: Vec::new(),
        }
    }
}

/// The data about a pass.
#[derive(Serialize, Default)]
struct PassRow {
    name: String,
    time: u64,
    verify: u64,
    changed: bool,
    counters: Vec<(&'static str, usize)>,
    /// Pattern name, and how often it was tried, matched and applied.
    patterns: Vec<(String, usize, usize, usize)>,
    warnings: Vec<String>,
    /// None if the programs are too large to be compared.
    marks: Option<ComparisonMarks>,
    /// None if the programs are too large to be replayed.
    functions: Option<Vec<StepsRow>>,
}

impl PassRow {
    fn from_report(report: &PassReport) -> Self {
        let patterns = report.greedy.iter().flat_map(|g| &g.patterns).filter(|p| p.tried > 0);
        Self {
            name: report.name.clone(),
            time: microseconds(report.time),
            verify: microseconds(report.verify_time),
            changed: report.changed,
            counters: report.counters.clone(),
            patterns: patterns
                .map(|p| (p.name.to_owned(), p.tried, p.matched, p.applied))
                .collect(),
            warnings: report.warnings.clone(),
            ..Self::default()
        }
    }
}

/// The steps of a function.
#[derive(Serialize)]
struct StepsRow {
    name: String,
    /// True if later steps are missing.
    cut: bool,
    steps: Vec<(String, i64, Vec<EditRow>)>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum EditRow {
    Inst(&'static str, InstEditRow),
    Replaced(&'static str, usize, usize),
    Erased(&'static str, Vec<usize>),
}

/// A list of values: id, type, name.
type ValueRows = Vec<(usize, usize, String)>;

/// An instruction after an edit: id, op, body, the next instruction or -1, attributes, operands, results, regions with their
/// parameters.
#[derive(Serialize)]
struct InstEditRow(
    usize,
    usize,
    usize,
    i64,
    String,
    Vec<usize>,
    ValueRows,
    Vec<(usize, ValueRows)>,
);

// Returns the steps of a pass by function, until the number of remaining edits is used up.
fn step_rows(
    all: &[(String, EditRecorder)],
    tables: &mut PageTables,
    remaining_edits: &mut usize,
) -> Vec<StepsRow> {
    // A function without reported edits has nothing to show.
    let with_edits = all.iter().filter(|(_, recorder)| recorder.num_edits() > 0);
    with_edits
        .map(|(name, recorder)| {
            let mut row =
                StepsRow { name: name.clone(), cut: recorder.is_incomplete(), steps: Vec::new() };
            for step in &recorder.steps {
                if step.edits.len() > *remaining_edits {
                    row.cut = true;
                    break;
                }
                *remaining_edits -= step.edits.len();
                let root = step.root.map_or(-1, |root| root as i64);
                let edits = step.edits.iter().map(|edit| edit_row(edit, tables)).collect();
                row.steps.push((step.name.clone(), root, edits));
            }
            row
        })
        .collect()
}

fn edit_row(edit: &RecordedEdit, tables: &mut PageTables) -> EditRow {
    match edit {
        RecordedEdit::Inserted(inst) => EditRow::Inst("+", inst_edit_row(inst, tables)),
        RecordedEdit::Changed(inst) => EditRow::Inst("~", inst_edit_row(inst, tables)),
        RecordedEdit::Replaced(from, to) => EditRow::Replaced("=", *from, *to),
        RecordedEdit::Erased(insts) => EditRow::Erased("-", insts.clone()),
    }
}

fn inst_edit_row(inst: &InstSnapshot, tables: &mut PageTables) -> InstEditRow {
    let values = |list: &[ValueSnapshot], tables: &mut PageTables| {
        let row = |(id, ty, name): &ValueSnapshot| (*id, tables.types.index_of(ty), name.clone());
        list.iter().map(row).collect::<Vec<_>>()
    };
    let results = values(&inst.results, tables);
    let mut regions = Vec::new();
    for (body, params) in &inst.regions {
        regions.push((*body, values(params, tables)));
    }
    InstEditRow(
        inst.inst,
        tables.op_index(inst.op, inst.family),
        inst.body,
        inst.before.map_or(-1, |before| before as i64),
        inst.attrs.clone(),
        inst.operands.clone(),
        results,
        regions,
    )
}

fn microseconds(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
