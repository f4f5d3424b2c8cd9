//! What a page is told: one JSON object. `explorer/src/data.ts` says the same in TypeScript.

use std::collections::BTreeMap;

use sapwood_ptir::{Attr, Function, InstId, PrintOptions, Program, print_with_options};
use sapwood_types::Source;
use serde::Serialize;

use crate::limits::{MAX_GRAPH_OPS, MAX_TEXT_ELEMENTS, MAX_TEXT_LINE, shortened};
use crate::page::page;
use crate::run::{Recording, RunRow};
use crate::snapshot::{FunctionRow, Tables};

/// What a page is called and where its program came from.
#[derive(Clone, Copy, Debug)]
pub struct PageOptions<'a> {
    title: &'a str,
    source: Option<&'a Source>,
}

impl<'a> PageOptions<'a> {
    /// A page of this name.
    #[must_use]
    pub fn new(title: &'a str) -> Self {
        Self { title, source: None }
    }

    /// The text that the spans of the program point into: the page shows its lines.
    #[must_use]
    pub fn source(mut self, source: &'a Source) -> Self {
        self.source = Some(source);
        self
    }
}

#[derive(Serialize)]
struct Document {
    version: u32,
    kind: &'static str,
    tool: &'static str,
    title: String,
    families: Vec<String>,
    ops: Vec<(String, usize)>,
    types: Vec<String>,
    functions: Vec<FunctionRow>,
    states: Vec<StateRow>,
    source: Option<SourceRow>,
    run: Option<RunRow>,
}

/// A program at some time.
#[derive(Serialize)]
pub(crate) struct StateRow {
    name: String,
    num_ops: usize,
    /// Op and how often it is there.
    counts: Vec<(usize, usize)>,
    /// The numbers of its functions; nothing if it is not drawn.
    functions: Option<Vec<usize>>,
    /// Its text as it is printed, for what is first and last and for what is too large to be drawn.
    text: Option<String>,
    /// Whether long literals or lines of the text are abridged.
    abridged: bool,
}

#[derive(Serialize)]
struct SourceRow {
    name: String,
    lines: Vec<(u32, String)>,
}

/// How much of a program a page holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Drawn, with its text.
    Whole,
    /// Drawn.
    Drawn,
    /// Its text.
    Text,
    /// Only its numbers.
    Counted,
}

impl Detail {
    pub(crate) fn is_drawn(self) -> bool {
        matches!(self, Self::Whole | Self::Drawn)
    }
}

impl StateRow {
    pub(crate) fn new(
        name: &str,
        program: &Program,
        detail: Detail,
        tables: &mut Tables,
        source: Option<&Source>,
    ) -> Self {
        let written = matches!(detail, Detail::Whole | Detail::Text).then(|| text(program));
        let (text, abridged) = written.map_or((None, false), |(text, cut)| (Some(text), cut));
        Self {
            name: name.to_owned(),
            num_ops: program.num_insts(),
            counts: counts(program, tables),
            functions: detail.is_drawn().then(|| tables.program(program, source)),
            text,
            abridged,
        }
    }
}

fn counts(program: &Program, tables: &mut Tables) -> Vec<(usize, usize)> {
    let mut counts: BTreeMap<&'static str, (&'static str, usize)> = BTreeMap::new();
    for f in program.functions() {
        for inst in f.walk() {
            let family = || f.op_def(inst).map_or("other", |def| def.family);
            counts.entry(f.op_name(inst)).or_insert_with(|| (family(), 0)).1 += 1;
        }
    }
    counts.iter().map(|(name, (family, n))| (tables.op_named(name, family), *n)).collect()
}

// The text of a program, and whether long literals and long lines are abridged in it.
fn text(program: &Program) -> (String, bool) {
    let text = print_with_options(program, &PrintOptions::new().elide_above(MAX_TEXT_ELEMENTS));
    let elided = program.functions().iter().any(|f| f.walk().any(|inst| has_long_literal(f, inst)));
    if text.lines().all(|line| line.len() <= MAX_TEXT_LINE) {
        return (text, elided);
    }
    (text.lines().map(|line| shortened(line, MAX_TEXT_LINE) + "\n").collect(), true)
}

fn has_long_literal(f: &Function, inst: InstId) -> bool {
    f.attrs(inst).iter().any(|attr| match attr {
        Attr::Literal(literal) => {
            literal.as_splat().is_none() && literal.num_elements() > MAX_TEXT_ELEMENTS
        }
        _ => false,
    })
}

/// A program as a page. Linear in the program; one with more than [`MAX_GRAPH_OPS`] instructions is shown as text.
#[must_use]
pub fn graph_page(program: &Program, options: &PageOptions<'_>) -> String {
    let mut tables = Tables::default();
    let large = program.num_insts() > MAX_GRAPH_OPS;
    let detail = if large { Detail::Text } else { Detail::Whole };
    let state = StateRow::new("program", program, detail, &mut tables, options.source);
    finish("graph", options, tables, vec![state], None)
}

/// What passes did to a program as a page.
#[must_use]
pub fn report_page(recording: &Recording, options: &PageOptions<'_>) -> String {
    let mut tables = Tables::default();
    let (states, run) = recording.rows(&mut tables, options.source);
    finish("report", options, tables, states, Some(run))
}

fn finish(
    kind: &'static str,
    options: &PageOptions<'_>,
    tables: Tables,
    states: Vec<StateRow>,
    run: Option<RunRow>,
) -> String {
    let source = options.source.map(|source| SourceRow {
        name: source.name().to_owned(),
        lines: tables.lines.into_iter().collect(),
    });
    let document = Document {
        version: 2,
        kind,
        tool: concat!("sapwood ", env!("CARGO_PKG_VERSION")),
        title: options.title.to_owned(),
        families: tables.families.list,
        ops: tables.ops,
        types: tables.types.list,
        functions: tables.functions,
        states,
        source,
        run,
    };
    page(options.title, &document)
}
