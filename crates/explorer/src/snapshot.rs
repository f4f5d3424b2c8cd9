//! A program as rows: what the page draws.

use std::collections::BTreeMap;
use std::sync::Arc;

use sapwood_ptir::{Function, InstId, InstPrinter, Program};
use sapwood_types::{Source, Span};
use serde::Serialize;

use crate::limits::{MAX_LINE, MAX_TEXT, shortened};

/// Strings by number, each once, in order of first sight.
#[derive(Default)]
pub(crate) struct Strings {
    known: BTreeMap<String, usize>,
    pub(crate) list: Vec<String>,
}

impl Strings {
    pub(crate) fn number(&mut self, text: &str) -> usize {
        if let Some(&n) = self.known.get(text) {
            return n;
        }
        self.known.insert(text.to_owned(), self.list.len());
        self.list.push(text.to_owned());
        self.list.len() - 1
    }
}

/// What all rows share.
#[derive(Default)]
pub(crate) struct Tables {
    pub(crate) families: Strings,
    op_numbers: BTreeMap<String, usize>,
    pub(crate) ops: Vec<(String, usize)>,
    pub(crate) types: Strings,
    pub(crate) functions: Vec<FunctionRow>,
    // Functions that were written already: a pass that leaves one alone costs nothing.
    written: BTreeMap<*const Function, (Arc<Function>, usize)>,
    pub(crate) lines: BTreeMap<u32, String>,
}

/// A function.
#[derive(Serialize)]
pub(crate) struct FunctionRow {
    pub(crate) name: String,
    pub(crate) signature: String,
    /// Id, the instruction it belongs to or -1, parameters.
    pub(crate) bodies: Vec<(usize, i64, Vec<usize>)>,
    pub(crate) insts: Vec<InstRow>,
    /// Id, type, name.
    pub(crate) values: Vec<(usize, usize, String)>,
}

/// Id, op, body, text, operands, results, regions, line and column (0 if not known).
#[derive(Serialize)]
pub(crate) struct InstRow(
    pub(crate) usize,
    pub(crate) usize,
    pub(crate) usize,
    pub(crate) String,
    pub(crate) Vec<usize>,
    pub(crate) Vec<usize>,
    pub(crate) Vec<usize>,
    pub(crate) u32,
    pub(crate) u32,
);

impl Tables {
    /// The numbers of a program's functions.
    pub(crate) fn program(&mut self, program: &Program, source: Option<&Source>) -> Vec<usize> {
        program.functions().iter().map(|f| self.shared(f, source)).collect()
    }

    fn shared(&mut self, function: &Arc<Function>, source: Option<&Source>) -> usize {
        if let Some((_, n)) = self.written.get(&Arc::as_ptr(function)) {
            return *n;
        }
        let row = self.function(function, source);
        self.functions.push(row);
        let number = self.functions.len() - 1;
        self.written.insert(Arc::as_ptr(function), (function.clone(), number));
        number
    }

    fn function(&mut self, f: &Function, source: Option<&Source>) -> FunctionRow {
        let mut printer = InstPrinter::new(f);
        let mut row = FunctionRow {
            name: f.name().as_str().to_owned(),
            signature: signature(f),
            bodies: vec![(f.body().index(), -1, indices(f.params()))],
            insts: Vec::with_capacity(f.num_insts()),
            values: Vec::new(),
        };
        let mut values = f.params().to_vec();
        for inst in f.walk() {
            row.insts.push(self.inst(f, inst, &mut printer, source));
            values.extend(f.inst_results(inst));
            for &body in f.regions(inst) {
                let params = f.body_params(body);
                row.bodies.push((body.index(), inst.index() as i64, indices(params)));
                values.extend_from_slice(params);
            }
        }
        for value in values {
            let ty = self.types.number(&shortened(&f.value_type(value).to_string(), MAX_LINE));
            row.values.push((value.index(), ty, shortened(&printer.value(value), MAX_LINE)));
        }
        row
    }

    fn inst(
        &mut self,
        f: &Function,
        inst: InstId,
        printer: &mut InstPrinter<'_>,
        source: Option<&Source>,
    ) -> InstRow {
        let (line, column) = self.place(f.inst_span(inst), source);
        InstRow(
            inst.index(),
            self.op(f, inst),
            f.body_of(inst).map_or(0, sapwood_ptir::BodyId::index),
            shortened(&printer.print(inst), MAX_TEXT),
            indices(f.operands(inst)),
            f.inst_results(inst).map(sapwood_ptir::ValueId::index).collect(),
            f.regions(inst).iter().map(|b| b.index()).collect(),
            line,
            column,
        )
    }

    /// The number of an instruction's op.
    pub(crate) fn op(&mut self, f: &Function, inst: InstId) -> usize {
        self.op_named(f.op_name(inst), f.op_def(inst).map_or("other", |def| def.family))
    }

    pub(crate) fn op_named(&mut self, name: &str, family: &str) -> usize {
        if let Some(&n) = self.op_numbers.get(name) {
            return n;
        }
        let family = self.families.number(family);
        self.op_numbers.insert(name.to_owned(), self.ops.len());
        self.ops.push((shortened(name, MAX_LINE), family));
        self.ops.len() - 1
    }

    // Line and column; the line is kept if it is one of the source at hand.
    fn place(&mut self, span: Span, source: Option<&Source>) -> (u32, u32) {
        let Some(source) = source.filter(|s| s.file() == span.file() && !span.is_unknown()) else {
            return (0, 0);
        };
        let line = span.begin_line();
        self.lines.entry(line).or_insert_with(|| shortened(source.line(line), MAX_LINE));
        (line, span.begin_column())
    }
}

fn indices(values: &[sapwood_ptir::ValueId]) -> Vec<usize> {
    values.iter().map(|v| v.index()).collect()
}

fn signature(f: &Function) -> String {
    let list = |types: &mut dyn Iterator<Item = String>| types.collect::<Vec<_>>().join(", ");
    let params = list(&mut f.params().iter().map(|&v| f.value_type(v).to_string()));
    let results = list(&mut f.result_types().iter().map(ToString::to_string));
    shortened(&format!("({params}) -> ({results})"), MAX_TEXT)
}
