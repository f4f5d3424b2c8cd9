//! The data of a page: one JSON object. `explorer/src/data.ts` declares it in TypeScript.

use std::collections::BTreeMap;

use sapwood_ptir::cost::CostAnalysis;
use sapwood_ptir::structural::Mode;
use sapwood_ptir::{Attr, Function, InstId, PrintOptions, Program, print_with};
use sapwood_types::Source;
use serde::Serialize;

use crate::check_section::CheckSection;
use crate::comparison::{MergeLog, compare_programs};
use crate::cost_rows::{AmountRow, ProgramCostRow};
use crate::limits::{
    MAX_COMPARED_OPS, MAX_GRAPH_OPS, MAX_LINE_BYTES, MAX_LITERAL_ELEMENTS, truncate,
};
use crate::page::render_page;
use crate::program_rows::{FunctionRow, PageTables};
use crate::recording::{Recording, RunRow};

/// The title of a page, the source of its program, and the result of a check.
#[derive(Clone, Copy, Debug)]
pub struct PageOptions<'a> {
    title: &'a str,
    source: Option<&'a Source>,
    check: Option<&'a CheckSection>,
    matches: &'a [PageMatch],
}

/// A match of a pattern that a page highlights.
#[derive(Clone, Debug, Serialize)]
pub struct PageMatch {
    /// The name of the pattern.
    pub pattern: String,
    /// The name of the function.
    pub function: String,
    /// The indices of the matched instructions.
    pub insts: Vec<usize>,
    /// The reason why it cannot be replaced by a call; none if it can.
    pub reason: Option<String>,
}

impl<'a> PageOptions<'a> {
    /// Creates options with a title.
    #[must_use]
    pub fn new(title: &'a str) -> Self {
        Self { title, source: None, check: None, matches: &[] }
    }

    /// Sets the source that the spans of the program refer to. The page shows its lines.
    #[must_use]
    pub fn source(mut self, source: &'a Source) -> Self {
        self.source = Some(source);
        self
    }

    /// Sets the matches that the page of a program highlights.
    #[must_use]
    pub fn matches(mut self, matches: &'a [PageMatch]) -> Self {
        self.matches = matches;
        self
    }

    /// Sets the result of comparing the programs before and after the run, or removes it.
    #[must_use]
    pub fn check(mut self, check: Option<&'a CheckSection>) -> Self {
        self.check = check;
        self
    }
}

/// The data of a page.
#[derive(Serialize)]
struct Document {
    version: u32,
    kind: &'static str,
    tool: &'static str,
    title: String,
    families: Vec<String>,
    ops: Vec<(String, usize)>,
    types: Vec<String>,
    scopes: Vec<String>,
    /// The costs of instructions: operations and bytes.
    costs: Vec<(AmountRow, AmountRow)>,
    functions: Vec<FunctionRow>,
    states: Vec<ProgramRow>,
    source: Option<SourceRow>,
    run: Option<RunRow>,
    /// The matches of patterns.
    matches: Vec<PageMatch>,
}

/// A program before the run or after a pass.
#[derive(Serialize)]
pub(crate) struct ProgramRow {
    name: String,
    num_ops: usize,
    /// Pairs of an op and its number of instructions.
    counts: Vec<(usize, usize)>,
    /// The indices of its functions; none if it is not drawn.
    functions: Option<Vec<usize>>,
    /// The printed program, for the first and the last one and for those that are too large to be drawn.
    text: Option<String>,
    /// True if long literals or lines of the text are abridged.
    abridged: bool,
    /// None if only the instructions are counted.
    cost: Option<ProgramCostRow>,
}

/// The name of the source, and the numbered lines that instructions refer to.
#[derive(Serialize)]
struct SourceRow {
    name: String,
    lines: Vec<(u32, String)>,
}

/// The amount of data about a program in a page.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProgramDetail {
    /// The drawing and the text.
    DrawnWithText,
    /// The drawing.
    Drawn,
    /// The text.
    TextOnly,
    /// Only the number of instructions by op.
    CountsOnly,
}

impl ProgramDetail {
    pub(crate) fn is_drawn(self) -> bool {
        matches!(self, Self::DrawnWithText | Self::Drawn)
    }
}

impl ProgramRow {
    pub(crate) fn new(
        name: &str,
        program: &Program,
        detail: ProgramDetail,
        tables: &mut PageTables,
        source: Option<&Source>,
    ) -> Self {
        let has_text = matches!(detail, ProgramDetail::DrawnWithText | ProgramDetail::TextOnly);
        let (text, abridged) = match has_text.then(|| program_text(program)) {
            Some((text, abridged)) => (Some(text), abridged),
            None => (None, false),
        };
        let analysis = (detail != ProgramDetail::CountsOnly).then(|| CostAnalysis::new(program));
        let drawn = analysis.as_ref().filter(|_| detail.is_drawn());
        Self {
            name: name.to_owned(),
            num_ops: program.num_insts(),
            counts: count_ops(program, tables),
            functions: drawn.map(|analysis| tables.add_program(program, analysis, source)),
            text,
            abridged,
            cost: analysis.as_ref().map(|analysis| ProgramCostRow::new(program, analysis)),
        }
    }
}

fn count_ops(program: &Program, tables: &mut PageTables) -> Vec<(usize, usize)> {
    let mut counts: BTreeMap<&'static str, (&'static str, usize)> = BTreeMap::new();
    for f in program.functions() {
        for inst in f.walk() {
            let family = || f.op_def(inst).map_or("other", |def| def.family);
            counts.entry(f.op_name(inst)).or_insert_with(|| (family(), 0)).1 += 1;
        }
    }
    counts.iter().map(|(name, (family, n))| (tables.op_index(name, family), *n)).collect()
}

// Returns the text of a program, and true if long literals or lines are abridged in it.
fn program_text(program: &Program) -> (String, bool) {
    // The page shows locations with the instructions.
    let options = PrintOptions::new().source_names().elide_above(MAX_LITERAL_ELEMENTS).locs(false);
    let text = print_with(program, &options);
    let elided = program.functions().iter().any(|f| f.walk().any(|inst| has_long_literal(f, inst)));
    if text.lines().all(|line| line.len() <= MAX_LINE_BYTES) {
        return (text, elided);
    }
    (text.lines().map(|line| truncate(line, MAX_LINE_BYTES) + "\n").collect(), true)
}

fn has_long_literal(f: &Function, inst: InstId) -> bool {
    f.attrs(inst).iter().any(|attr| match attr {
        Attr::Literal(literal) => {
            literal.as_splat().is_none() && literal.num_elements() > MAX_LITERAL_ELEMENTS
        }
        _ => false,
    })
}

/// Returns the page of a program. A program with more than [`MAX_GRAPH_OPS`] instructions is shown as text. Takes linear time.
#[must_use]
pub fn graph_page(program: &Program, options: &PageOptions<'_>) -> String {
    let mut tables = PageTables::default();
    let large = program.num_insts() > MAX_GRAPH_OPS;
    let detail = if large { ProgramDetail::TextOnly } else { ProgramDetail::DrawnWithText };
    let row = ProgramRow::new("program", program, detail, &mut tables, options.source);
    build_page("graph", options, tables, vec![row], None)
}

/// Returns the page that compares two programs, with their names. Programs with more than 50,000 instructions are shown as text.
#[must_use]
pub fn diff_page(
    (left_name, left): (&str, &Program),
    (right_name, right): (&str, &Program),
    mode: Mode,
    options: &PageOptions<'_>,
) -> String {
    let mut tables = PageTables::default();
    let large = left.num_insts().max(right.num_insts()) > MAX_COMPARED_OPS;
    let detail = if large { ProgramDetail::TextOnly } else { ProgramDetail::DrawnWithText };
    let states = [(left_name, left), (right_name, right)]
        .map(|(name, program)| ProgramRow::new(name, program, detail, &mut tables, options.source));
    let marks = (!large).then(|| compare_programs(left, right, mode, &MergeLog::default()));
    build_page("diff", options, tables, states.into(), Some(RunRow::from_marks(marks)))
}

/// Returns the page about a recorded run.
#[must_use]
pub fn report_page(recording: &Recording, options: &PageOptions<'_>) -> String {
    let mut tables = PageTables::default();
    let (states, run) = recording.rows(&mut tables, options.source, options.check);
    build_page("report", options, tables, states, Some(run))
}

fn build_page(
    kind: &'static str,
    options: &PageOptions<'_>,
    tables: PageTables,
    states: Vec<ProgramRow>,
    run: Option<RunRow>,
) -> String {
    let source = options.source.map(|source| SourceRow {
        name: source.name().to_owned(),
        lines: tables.lines.into_iter().collect(),
    });
    let document = Document {
        version: 3,
        kind,
        tool: concat!("sapwood ", env!("CARGO_PKG_VERSION")),
        title: options.title.to_owned(),
        families: tables.families.list,
        ops: tables.ops,
        types: tables.types.list,
        scopes: tables.scopes.list,
        costs: tables.costs.list,
        functions: tables.functions,
        states,
        source,
        run,
        matches: options.matches.to_vec(),
    };
    render_page(options.title, &document)
}
