//! A run of a pipeline: the programs between passes, what the passes counted, and every step.

use std::time::Duration;

use sapwood_ptir::Program;
use sapwood_rewrite::PassReport;
use sapwood_types::Source;
use serde::Serialize;

use crate::check::Check;
use crate::document::{Detail, StateRow};
use crate::limits::{MAX_EDITS, MAX_GRAPH_OPS, MAX_STATE_OPS};
use crate::marks::{Marks, Merged, marks};
use crate::record::{Edit, Made, Recorder, Value};
use crate::snapshot::Tables;

/// What happened in a run, as far as it got.
pub struct Recording {
    before: Program,
    pipeline: String,
    passes: Vec<PassRecord>,
    total: Duration,
    verify: Duration,
    failure: Option<Failed>,
    check: Option<Check>,
}

struct Failed {
    pass: Option<String>,
    message: String,
    // What the pass did before it failed.
    steps: Vec<(String, Recorder)>,
}

struct PassRecord {
    report: PassReport,
    after: Program,
    steps: Vec<(String, Recorder)>,
}

#[derive(Serialize)]
struct FailureRow {
    pass: Option<String>,
    message: String,
    /// The steps of the pass that failed; nothing if the program is too large to be replayed.
    functions: Option<Vec<StepsRow>>,
}

impl Recording {
    /// The start of a run.
    #[must_use]
    pub fn new(before: &Program, pipeline: impl Into<String>) -> Self {
        Self {
            before: before.clone(),
            pipeline: pipeline.into(),
            passes: Vec::new(),
            total: Duration::ZERO,
            verify: Duration::ZERO,
            failure: None,
            check: None,
        }
    }

    /// A pass ended well: what it reported, the program after it, and the edits of functions by name.
    pub fn pass(
        &mut self,
        report: PassReport,
        after: &Program,
        steps: impl IntoIterator<Item = (String, Recorder)>,
    ) {
        let steps = steps.into_iter().collect();
        self.passes.push(PassRecord { report, after: after.clone(), steps });
    }

    /// How long everything took, and how long the program was verified before the first pass.
    pub fn took(&mut self, total: Duration, verify: Duration) {
        (self.total, self.verify) = (total, verify);
    }

    /// The run failed in this pass, or before the first, after these edits of functions by name.
    pub fn failed(
        &mut self,
        pass: Option<&str>,
        message: impl Into<String>,
        steps: impl IntoIterator<Item = (String, Recorder)>,
    ) {
        self.failure = Some(Failed {
            pass: pass.map(str::to_owned),
            message: message.into(),
            steps: steps.into_iter().collect(),
        });
    }

    /// The programs before and after were run on the same inputs, or should have been.
    pub fn checked(&mut self, check: Check) {
        self.check = Some(check);
    }

    /// The rows of a page: the program before the run and after each pass, and the run.
    pub(crate) fn rows(
        &self,
        tables: &mut Tables,
        source: Option<&Source>,
    ) -> (Vec<StateRow>, RunRow) {
        let details = self.details();
        let drawn = |n: usize| details[n].is_drawn();
        let mut states = vec![StateRow::new("before", &self.before, details[0], tables, source)];
        let mut passes = Vec::new();
        let mut last = &self.before;
        let mut notes = Vec::new();
        let mut room = MAX_EDITS;
        let mut merged = Merged::default();
        let mut in_all = Merged::default();
        for (n, pass) in self.passes.iter().enumerate() {
            let state =
                StateRow::new(&pass.report.name, &pass.after, details[n + 1], tables, source);
            states.push(state);
            let both = drawn(n) && drawn(n + 1);
            merged.clear();
            merged.follow(pass.report.changed, &pass.steps);
            in_all.follow(pass.report.changed, &pass.steps);
            passes.push(PassRow {
                marks: both.then(|| marks(last, &pass.after, &merged)),
                functions: both.then(|| steps(&pass.steps, tables, &mut room)),
                ..PassRow::of(&pass.report)
            });
            last = &pass.after;
        }
        if details.contains(&Detail::Text) {
            notes.push(format!(
                "programs with more than {MAX_GRAPH_OPS} instructions are shown as text"
            ));
        }
        if details.contains(&Detail::Counted) {
            notes.push(
                "programs between passes are left out: there are too many instructions".into(),
            );
        }
        let ends = drawn(0) && details.last().is_some_and(|d| d.is_drawn());
        let failure = self.failure.as_ref().map(|failed| FailureRow {
            pass: failed.pass.clone(),
            message: failed.message.clone(),
            functions: drawn(details.len() - 1).then(|| steps(&failed.steps, tables, &mut room)),
        });
        let run = RunRow {
            pipeline: self.pipeline.clone(),
            total: micros(self.total),
            verify: micros(self.verify),
            marks: ends.then(|| marks(&self.before, last, &in_all)),
            passes,
            failure,
            check: self.check.as_ref().map(Check::row),
            notes,
        };
        (states, run)
    }

    // What is drawn: all if that is not too much; the first and the last otherwise, or their text.
    fn details(&self) -> Vec<Detail> {
        let mut ops = vec![self.before.num_insts()];
        ops.extend(
            self.passes.iter().map(|p| if p.report.changed { p.after.num_insts() } else { 0 }),
        );
        let last = ops.len() - 1;
        let everything = ops.iter().sum::<usize>() <= MAX_STATE_OPS;
        let size = |n: usize| {
            if n == 0 { self.before.num_insts() } else { self.passes[n - 1].after.num_insts() }
        };
        let detail = |n: usize| match n {
            n if n != 0 && n != last && !(everything && size(n) <= MAX_GRAPH_OPS) => {
                Detail::Counted
            }
            n if size(n) > MAX_GRAPH_OPS => Detail::Text,
            n if n == 0 || n == last => Detail::Whole,
            _ => Detail::Drawn,
        };
        (0..=last).map(detail).collect()
    }
}

#[derive(Serialize)]
pub(crate) struct RunRow {
    pipeline: String,
    /// In microseconds.
    total: u64,
    verify: u64,
    /// Nothing if the programs are too large to be compared.
    marks: Option<Marks>,
    passes: Vec<PassRow>,
    failure: Option<FailureRow>,
    /// Nothing if nobody asked for one.
    check: Option<Check>,
    notes: Vec<String>,
}

#[derive(Serialize, Default)]
struct PassRow {
    name: String,
    time: u64,
    verify: u64,
    changed: bool,
    counters: Vec<(&'static str, usize)>,
    /// Name, tried, matched, applied.
    patterns: Vec<(String, usize, usize, usize)>,
    warnings: Vec<String>,
    /// Nothing if the programs are too large to be compared.
    marks: Option<Marks>,
    /// Nothing if the programs are too large to be replayed.
    functions: Option<Vec<StepsRow>>,
}

impl PassRow {
    fn of(report: &PassReport) -> Self {
        let patterns = report.greedy.iter().flat_map(|g| &g.patterns).filter(|p| p.tried > 0);
        Self {
            name: report.name.clone(),
            time: micros(report.time),
            verify: micros(report.verify_time),
            changed: report.changed,
            counters: report.counters.clone(),
            patterns: patterns.map(|p| (p.name.clone(), p.tried, p.matched, p.applied)).collect(),
            warnings: report.warnings.clone(),
            ..Self::default()
        }
    }
}

/// The steps of a function.
#[derive(Serialize)]
struct StepsRow {
    name: String,
    cut: bool,
    steps: Vec<(String, i64, Vec<EditRow>)>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum EditRow {
    Made(&'static str, MadeRow),
    Replaced(&'static str, usize, usize),
    Erased(&'static str, Vec<usize>),
}

/// Values: id, type, name.
type ValueRows = Vec<(usize, usize, String)>;

/// Id, op, body, the instruction behind it or -1, attributes, operands, results, regions with their parameters. Values are id,
/// type, name.
#[derive(Serialize)]
struct MadeRow(usize, usize, usize, i64, String, Vec<usize>, ValueRows, Vec<(usize, ValueRows)>);

// The logs of a pass, until there is no room for more edits.
fn steps(all: &[(String, Recorder)], tables: &mut Tables, room: &mut usize) -> Vec<StepsRow> {
    // A pass that names its steps without telling its edits has nothing to show.
    let told = all.iter().filter(|(_, recorder)| recorder.num_edits() > 0);
    told.map(|(name, recorder)| {
        let mut row = StepsRow { name: name.clone(), cut: recorder.is_cut(), steps: Vec::new() };
        for step in &recorder.steps {
            if step.edits.len() > *room {
                row.cut = true;
                break;
            }
            *room -= step.edits.len();
            let root = step.root.map_or(-1, |root| root as i64);
            let edits = step.edits.iter().map(|edit| edit_row(edit, tables)).collect();
            row.steps.push((step.name.clone(), root, edits));
        }
        row
    })
    .collect()
}

fn edit_row(edit: &Edit, tables: &mut Tables) -> EditRow {
    match edit {
        Edit::Inserted(made) => EditRow::Made("+", made_row(made, tables)),
        Edit::Changed(made) => EditRow::Made("~", made_row(made, tables)),
        Edit::Replaced(from, to) => EditRow::Replaced("=", *from, *to),
        Edit::Erased(insts) => EditRow::Erased("-", insts.clone()),
    }
}

fn made_row(made: &Made, tables: &mut Tables) -> MadeRow {
    let values = |list: &[Value], tables: &mut Tables| {
        let row = |(id, ty, name): &Value| (*id, tables.types.number(ty), name.clone());
        list.iter().map(row).collect::<Vec<_>>()
    };
    let results = values(&made.results, tables);
    let mut regions = Vec::new();
    for (body, params) in &made.regions {
        regions.push((*body, values(params, tables)));
    }
    MadeRow(
        made.inst,
        tables.op_named(made.op, made.family),
        made.body,
        made.before.map_or(-1, |before| before as i64),
        made.attrs.clone(),
        made.operands.clone(),
        results,
        regions,
    )
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
