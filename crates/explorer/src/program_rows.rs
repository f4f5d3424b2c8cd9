//! Programs as rows of data for a page.

use std::collections::BTreeMap;
use std::sync::Arc;

use sapwood_ptir::cost::CostAnalysis;
use sapwood_ptir::{Function, InstId, InstPrinter, Program};
use sapwood_types::{Source, Span};
use serde::Serialize;

use crate::cost_rows::CostTable;
use crate::limits::{MAX_INST_BYTES, MAX_NAME_BYTES, truncate};

/// A table of distinct strings, in the order of their first use.
#[derive(Default)]
pub(crate) struct StringTable {
    indices: BTreeMap<String, usize>,
    pub(crate) list: Vec<String>,
}

impl StringTable {
    /// Returns the index of a string, which is added if it is missing.
    pub(crate) fn index_of(&mut self, text: &str) -> usize {
        if let Some(&n) = self.indices.get(text) {
            return n;
        }
        self.indices.insert(text.to_owned(), self.list.len());
        self.list.push(text.to_owned());
        self.list.len() - 1
    }
}

/// A function, and the costs of its instructions.
type FunctionKey = (*const Function, Vec<usize>);

/// The tables that all rows of a page refer to.
#[derive(Default)]
pub(crate) struct PageTables {
    pub(crate) families: StringTable,
    op_indices: BTreeMap<String, usize>,
    pub(crate) ops: Vec<(String, usize)>,
    pub(crate) types: StringTable,
    /// The scopes of instructions, from the locations of their spans.
    pub(crate) scopes: StringTable,
    pub(crate) costs: CostTable,
    pub(crate) functions: Vec<FunctionRow>,
    /// The indices of functions that have a row, by the costs of their instructions: a function that a pass does not change is added once, unless
    /// its calls have other costs.
    function_indices: BTreeMap<FunctionKey, (Arc<Function>, usize)>,
    pub(crate) lines: BTreeMap<u32, String>,
}

/// The data about a function.
#[derive(Serialize)]
pub(crate) struct FunctionRow {
    pub(crate) name: String,
    pub(crate) signature: String,
    /// Bodies: id, the owning instruction or -1, parameters.
    pub(crate) bodies: Vec<(usize, i64, Vec<usize>)>,
    pub(crate) insts: Vec<InstRow>,
    /// Values: id, type, name.
    pub(crate) values: Vec<(usize, usize, String)>,
}

/// An instruction: id, op, body, text, operands, results, regions, line and column (0 if unknown), the index of its scope
/// plus one (0 if there is none), and the index of its cost plus one (0 if it is zero).
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
    pub(crate) usize,
    pub(crate) usize,
);

impl PageTables {
    /// Adds the functions of a program, and returns their indices.
    pub(crate) fn add_program(
        &mut self,
        program: &Program,
        analysis: &CostAnalysis<'_>,
        source: Option<&Source>,
    ) -> Vec<usize> {
        let mut indices = Vec::new();
        for function in program.functions() {
            let costs = self.inst_costs(function, analysis);
            indices.push(self.function_index(function, costs, source));
        }
        indices
    }

    // Returns the numbers of the costs of all instructions of a function.
    fn inst_costs(&mut self, function: &Function, analysis: &CostAnalysis<'_>) -> Vec<usize> {
        let mut known = analysis.insts(function).into_iter().peekable();
        let mut numbers = Vec::with_capacity(function.num_insts());
        for inst in function.walk() {
            let found = known.next_if(|found| found.inst == inst);
            numbers.push(found.map_or(0, |found| self.costs.number_of(found.cost)));
        }
        numbers
    }

    fn function_index(
        &mut self,
        function: &Arc<Function>,
        costs: Vec<usize>,
        source: Option<&Source>,
    ) -> usize {
        let key = (Arc::as_ptr(function), costs);
        if let Some((_, n)) = self.function_indices.get(&key) {
            return *n;
        }
        let row = self.function_row(function, &key.1, source);
        self.functions.push(row);
        let number = self.functions.len() - 1;
        self.function_indices.insert(key, (function.clone(), number));
        number
    }

    fn function_row(
        &mut self,
        f: &Function,
        costs: &[usize],
        source: Option<&Source>,
    ) -> FunctionRow {
        let mut printer = InstPrinter::new(f);
        let mut row = FunctionRow {
            name: f.name().as_str().to_owned(),
            signature: signature(f),
            bodies: vec![(f.body().index(), -1, indices(f.params()))],
            insts: Vec::with_capacity(f.num_insts()),
            values: Vec::new(),
        };
        let mut values = f.params().to_vec();
        for (inst, &cost) in f.walk().zip(costs) {
            row.insts.push(self.inst_row(f, inst, cost, &mut printer, source));
            values.extend(f.inst_results(inst));
            for &body in f.regions(inst) {
                let params = f.body_params(body);
                row.bodies.push((body.index(), inst.index() as i64, indices(params)));
                values.extend_from_slice(params);
            }
        }
        for value in values {
            let ty =
                self.types.index_of(&truncate(&f.value_type(value).to_string(), MAX_NAME_BYTES));
            row.values.push((value.index(), ty, truncate(&printer.value(value), MAX_NAME_BYTES)));
        }
        row
    }

    fn inst_row(
        &mut self,
        f: &Function,
        inst: InstId,
        cost: usize,
        printer: &mut InstPrinter<'_>,
        source: Option<&Source>,
    ) -> InstRow {
        let (line, column) = self.position(f.inst_span(inst), source);
        let scope = f.inst_span(inst).loc().scope();
        let scope = scope.map(|s| 1 + self.scopes.index_of(&truncate(&s, MAX_NAME_BYTES)));
        let scope = scope.unwrap_or(0);
        InstRow(
            inst.index(),
            self.op_index(f.op_name(inst), f.op_def(inst).map_or("other", |def| def.family)),
            f.body_of(inst).map_or(0, sapwood_ptir::BodyId::index),
            truncate(&printer.print(inst), MAX_INST_BYTES),
            indices(f.operands(inst)),
            f.inst_results(inst).map(sapwood_ptir::ValueId::index).collect(),
            f.regions(inst).iter().map(|b| b.index()).collect(),
            line,
            column,
            scope,
            cost,
        )
    }

    /// Returns the index of an op, which is added if it is missing.
    pub(crate) fn op_index(&mut self, name: &str, family: &str) -> usize {
        if let Some(&n) = self.op_indices.get(name) {
            return n;
        }
        let family = self.families.index_of(family);
        self.op_indices.insert(name.to_owned(), self.ops.len());
        self.ops.push((truncate(name, MAX_NAME_BYTES), family));
        self.ops.len() - 1
    }

    // Returns line and column of a span, and keeps the line of the source for the page.
    fn position(&mut self, span: Span, source: Option<&Source>) -> (u32, u32) {
        let Some(source) = source.filter(|s| s.file() == span.file() && !span.is_unknown()) else {
            return (0, 0);
        };
        let line = span.begin_line();
        self.lines.entry(line).or_insert_with(|| truncate(source.line(line), MAX_NAME_BYTES));
        (line, span.begin_column())
    }
}

fn indices(values: &[sapwood_ptir::ValueId]) -> Vec<usize> {
    values.iter().map(|v| v.index()).collect()
}

// Returns the types of parameters and results.
fn signature(f: &Function) -> String {
    let list = |types: &mut dyn Iterator<Item = String>| types.collect::<Vec<_>>().join(", ");
    let params = list(&mut f.params().iter().map(|&v| f.value_type(v).to_string()));
    let results = list(&mut f.result_types().iter().map(ToString::to_string));
    truncate(&format!("({params}) -> ({results})"), MAX_INST_BYTES)
}
