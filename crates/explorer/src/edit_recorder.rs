//! Recording of the edits of a function while it is rewritten, so that a page can replay them.

use std::collections::{BTreeMap, BTreeSet};

use sapwood_ptir::{
    Attr, AttrKind, AttrList, Function, InsertPoint, InstId, InstPrinter, Name, OpDef, Registry,
    TensorLiteral, ValueId,
};
use sapwood_rewrite::StepKind;
use sapwood_trace::PassEventKind;
use sapwood_types::Span;

use crate::limits::{MAX_ATTR_DEPTH, MAX_EDITS, MAX_INST_BYTES, MAX_NAME_BYTES, truncate};

/// The recorded edits of one function in one pass, step by step.
pub(crate) struct EditRecorder {
    pub(crate) steps: Vec<RecordedStep>,
    edits: usize,
    /// The instructions of each region. Those that are live after the owner was erased were moved out of the region.
    members: BTreeMap<usize, Vec<InstId>>,
    erased: BTreeSet<usize>,
    /// The root instruction of the current step, until it is erased.
    root: Option<InstId>,
    /// True after a change that was not reported: later edits cannot be replayed.
    incomplete: bool,
}

/// The edits of one rewrite.
pub(crate) struct RecordedStep {
    pub(crate) name: String,
    /// True if the step replaces an instruction by an equal one.
    pub(crate) is_merge: bool,
    pub(crate) root: Option<usize>,
    pub(crate) edits: Vec<RecordedEdit>,
}

/// One edit. Instructions and values are ids.
pub(crate) enum RecordedEdit {
    Inserted(Box<InstSnapshot>),
    Changed(Box<InstSnapshot>),
    Replaced(usize, usize),
    Erased(Vec<usize>),
}

/// The state of an instruction after an edit.
pub(crate) struct InstSnapshot {
    pub(crate) inst: usize,
    pub(crate) op: &'static str,
    pub(crate) family: &'static str,
    pub(crate) attrs: String,
    pub(crate) body: usize,
    /// The next instruction.
    pub(crate) before: Option<usize>,
    pub(crate) operands: Vec<usize>,
    pub(crate) results: Vec<ValueSnapshot>,
    pub(crate) regions: Vec<(usize, Vec<ValueSnapshot>)>,
}

/// A value: id, type, name.
pub(crate) type ValueSnapshot = (usize, String, String);

impl EditRecorder {
    /// Creates a recorder of later edits of a function. Takes linear time.
    pub(crate) fn new(function: &Function) -> Self {
        let mut members: BTreeMap<usize, Vec<InstId>> = BTreeMap::new();
        for inst in function.walk() {
            if let Some(body) = function.body_of(inst).filter(|b| *b != function.body()) {
                members.entry(body.index()).or_default().push(inst);
            }
        }
        Self {
            steps: Vec::new(),
            edits: 0,
            members,
            erased: BTreeSet::new(),
            root: None,
            incomplete: false,
        }
    }

    /// Returns the number of edits so far.
    pub(crate) fn num_edits(&self) -> usize {
        self.edits
    }

    /// Returns true if there were more edits than a page shows, or changes that were not reported.
    pub(crate) fn is_incomplete(&self) -> bool {
        self.edits > MAX_EDITS || self.incomplete
    }

    /// Stops recording, because the function was changed by an edit that was not reported.
    pub(crate) fn stop(&mut self) {
        self.incomplete = true;
    }

    fn push(&mut self, edit: impl FnOnce() -> RecordedEdit) {
        if self.incomplete {
            return;
        }
        self.edits += 1;
        if self.edits > MAX_EDITS {
            return;
        }
        if self.steps.is_empty() {
            // Before its first step the driver merges equal constants.
            self.steps.push(RecordedStep {
                name: "constants".into(),
                is_merge: false,
                root: None,
                edits: Vec::new(),
            });
        }
        if let Some(step) = self.steps.last_mut() {
            step.edits.push(edit());
        }
    }

    // Records the edits of the instructions in a region whose owner is erased: they are erased too, or were moved out.
    fn record_region_exit(&mut self, f: &Function, body: usize) {
        let members = self.members.remove(&body).unwrap_or_default();
        for inst in members {
            if !f.is_live(inst) {
                // The erasure of the terminator of a moved region is not reported.
                if self.erased.insert(inst.index()) {
                    self.push(|| RecordedEdit::Erased(vec![inst.index()]));
                }
                continue;
            }
            if f.body_of(inst).is_none_or(|b| b.index() == body) {
                continue;
            }
            let nested = f.regions(inst).iter().flat_map(|&b| f.walk_body(b));
            for moved in std::iter::once(inst).chain(nested) {
                self.push(|| RecordedEdit::Changed(Box::new(inst_snapshot(f, moved))));
            }
            self.add_region_member(f, inst);
        }
    }

    fn add_region_member(&mut self, f: &Function, inst: InstId) {
        if let Some(body) = f.body_of(inst).filter(|b| *b != f.body()) {
            self.members.entry(body.index()).or_default().push(inst);
        }
    }
}

impl EditRecorder {
    /// Records the event of a pass. Starts and ends of passes are ignored.
    pub(crate) fn record(&mut self, kind: PassEventKind<'_>) {
        match kind {
            PassEventKind::Rewrite { pattern, inst, .. } => {
                self.start_step(StepKind::Pattern(pattern), inst);
            }
            PassEventKind::Fold { inst, .. } => self.start_step(StepKind::Fold, inst),
            PassEventKind::Merge { inst, .. } => self.start_step(StepKind::Cse, inst),
            PassEventKind::Insert { function, inst } => self.inserted(function, inst),
            PassEventKind::Replace { from, to, .. } => {
                self.push(|| RecordedEdit::Replaced(from.index(), to.index()));
            }
            PassEventKind::Change { function, inst } => {
                self.push(|| RecordedEdit::Changed(Box::new(inst_snapshot(function, inst))));
            }
            PassEventKind::Erase { function, inst } => {
                // After the root is erased, every other erased instruction was dead.
                if self.root.is_none() {
                    self.add_step(StepKind::Dce, inst);
                }
                if self.root == Some(inst) {
                    self.root = None;
                }
                self.erased(function, inst);
            }
            _ => {}
        }
    }

    fn start_step(&mut self, kind: StepKind<'_>, root: InstId) {
        self.root = Some(root);
        self.add_step(kind, root);
    }

    fn add_step(&mut self, kind: StepKind<'_>, root: InstId) {
        if self.edits < MAX_EDITS && !self.incomplete {
            let name = kind.name().to_owned();
            let is_merge = kind == StepKind::Cse;
            let root = Some(root.index());
            self.steps.push(RecordedStep { name, is_merge, root, edits: Vec::new() });
        }
    }

    fn inserted(&mut self, f: &Function, inst: InstId) {
        self.push(|| RecordedEdit::Inserted(Box::new(inst_snapshot(f, inst))));
        self.add_region_member(f, inst);
    }

    fn erased(&mut self, f: &Function, inst: InstId) {
        for &body in f.regions(inst) {
            self.record_region_exit(f, body.index());
        }
        let nested = f.regions(inst).iter().flat_map(|&b| f.walk_body(b));
        let erased: Vec<usize> = std::iter::once(inst).chain(nested).map(InstId::index).collect();
        self.erased.extend(&erased);
        self.push(|| RecordedEdit::Erased(erased));
    }
}

fn inst_snapshot(f: &Function, inst: InstId) -> InstSnapshot {
    let value = |v: ValueId| {
        let name = f.hint(v).map_or_else(|| v.to_string(), |hint| format!("%{hint}"));
        let ty = truncate(&f.value_type(v).to_string(), MAX_NAME_BYTES);
        (v.index(), ty, truncate(&name, MAX_NAME_BYTES))
    };
    let regions = f
        .regions(inst)
        .iter()
        .map(|&body| (body.index(), f.body_params(body).iter().map(|&v| value(v)).collect()));
    InstSnapshot {
        inst: inst.index(),
        op: f.op_name(inst),
        family: f.op_def(inst).map_or("other", |def| def.family),
        attrs: truncate(&attributes_text(f.op_def(inst), f.attrs(inst)), MAX_INST_BYTES),
        body: f.body_of(inst).map_or(0, sapwood_ptir::BodyId::index),
        before: f.next_inst(inst).map(InstId::index),
        operands: f.operands(inst).iter().map(|v| v.index()).collect(),
        results: f.inst_results(inst).map(value).collect(),
        regions: regions.collect(),
    }
}

// Returns the attributes as short text, without those that have their default value.
fn attributes_text(def: Option<&OpDef>, attrs: &AttrList) -> String {
    let mut out = String::new();
    for (i, attr) in attrs.iter().enumerate() {
        let row = def.and_then(|def| def.attrs.get(i));
        if row.is_some_and(|r| r.kind == AttrKind::ResultType || r.default.as_ref() == Some(attr)) {
            continue;
        }
        if !out.is_empty() {
            out.push_str(", ");
        }
        if let Some(row) = row.filter(|_| def.and_then(|d| d.leading_attr) != Some(i)) {
            out.push_str(row.name);
            out.push_str(" = ");
        } else if let Attr::Dict(entries) = attr {
            // The attributes of an op without a definition.
            write_entries(&mut out, entries, 0);
            continue;
        }
        write_attr(&mut out, attr, 0);
        if out.len() > MAX_INST_BYTES {
            break;
        }
    }
    out
}

// Writes an attribute as short text. Attributes that are nested deeply are left out.
fn write_attr(out: &mut String, attr: &Attr, depth: usize) {
    match attr {
        Attr::List(_) | Attr::Dict(_) if depth >= MAX_ATTR_DEPTH => out.push('…'),
        Attr::Unit => out.push_str("none"),
        Attr::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        Attr::Int(n) => out.push_str(&n.to_string()),
        Attr::Float(bits) => out.push_str(&format!("{:?}", bits.get())),
        Attr::Str(text) => out.push_str(&format!("{:?}", truncate(text, MAX_NAME_BYTES))),
        Attr::Word(name) => out.push_str(name.as_str()),
        Attr::Func(name) => out.push_str(&format!("@{}", name.as_str())),
        Attr::Type(dtype) => out.push_str(dtype.short_name()),
        Attr::Ints(list) => out.push_str(&format!("{:?}", &list[..list.len().min(64)])),
        Attr::Dim(expr) => out.push_str(&expr.to_string()),
        Attr::List(list) => {
            out.push('[');
            for (n, item) in list.iter().enumerate() {
                if out.len() > MAX_INST_BYTES {
                    break;
                }
                out.push_str(if n > 0 { ", " } else { "" });
                write_attr(out, item, depth + 1);
            }
            out.push(']');
        }
        Attr::Dict(entries) => {
            out.push('{');
            write_entries(out, entries, depth);
            out.push('}');
        }
        Attr::Literal(literal) => out.push_str(&literal_text(literal)),
    }
}

// Writes the entries of a dictionary as short text.
fn write_entries(out: &mut String, entries: &[(Name, Attr)], depth: usize) {
    for (n, (name, value)) in entries.iter().enumerate() {
        if out.len() > MAX_INST_BYTES {
            break;
        }
        out.push_str(if n > 0 { ", " } else { "" });
        out.push_str(name.as_str());
        out.push_str(" = ");
        write_attr(out, value, depth + 1);
    }
}

// Returns a literal in the text format, abridged if it is long. It is printed as the only constant of a function.
fn literal_text(literal: &TensorLiteral) -> String {
    let mut f = Function::new("literal", Registry::builtin());
    let value = f.constant(literal, InsertPoint::Start(f.body()), Span::unknown());
    let text = f.inst_of(value).map_or_else(String::new, |inst| InstPrinter::new(&f).print(inst));
    let inner = text.split_once("constant ").and_then(|(_, rest)| rest.rsplit_once(" : "));
    inner.map_or_else(|| format!("({})", literal.ty()), |(literal, _)| literal.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dictionaries_and_lists_are_written_out() {
        let text = "ptir 1 func @f(%x: f32[4]) -> f32[4] { \
                    %y = my.op %x {size = 3, table = {key = [true, \"a\"], deep = [[[[[true]]]]]}} : f32[4] return %y }";
        let program = sapwood_ptir::parse(text).unwrap();
        let f = &program.functions()[0];
        let inst = f.walk().next().unwrap();
        assert_eq!(
            attributes_text(f.op_def(inst), f.attrs(inst)),
            "size = 3, table = {deep = [[…]], key = [true, \"a\"]}"
        );
    }
}
