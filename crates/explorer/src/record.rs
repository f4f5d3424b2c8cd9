//! Every edit of a function while it is rewritten, so that a page can show it again.

use std::collections::{BTreeMap, BTreeSet};

use sapwood_ptir::{
    Attr, AttrKind, AttrList, Function, InsertPoint, InstId, OpDef, Registry, TensorLiteral,
    ValueId, print_inst,
};
use sapwood_rewrite::Listener;
use sapwood_types::Span;

use crate::limits::{MAX_EDITS, MAX_LINE, MAX_TEXT, shortened};

/// The edits of one function in one pass, step by step.
///
/// ```
/// use sapwood_explorer::Recorder;
/// use sapwood_rewrite::ProgramRewriter;
///
/// let text = "ptir 1\nfunc @f(%x: f32[4]) -> f32[4] { %y = neg %x : f32[4] return %y }";
/// let mut program = sapwood_ptir::parse(text)?;
/// let f = program.function_mut("f").unwrap();
/// let mut recorder = Recorder::new(f);
/// let x = f.params()[0];
/// let mut rw = ProgramRewriter::new(f);
/// rw.listen(&mut recorder);
/// let neg = rw.inst_of(rw.function().results()[0]).unwrap();
/// rw.replace_inst(neg, &[x])?;
/// assert_eq!(recorder.num_edits(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Recorder {
    pub(crate) steps: Vec<Step>,
    edits: usize,
    // Which instructions stand in a region: when its owner goes, those that stay were moved out of it.
    members: BTreeMap<usize, Vec<InstId>>,
    gone: BTreeSet<usize>,
    // Something happened that was not told: from here on edits mean nothing.
    blind: bool,
}

/// One rewrite.
pub(crate) struct Step {
    pub(crate) name: String,
    pub(crate) root: Option<usize>,
    pub(crate) edits: Vec<Edit>,
}

pub(crate) enum Edit {
    Inserted(Box<Made>),
    Changed(Box<Made>),
    Replaced(usize, usize),
    Erased(Vec<usize>),
}

/// An instruction as it is after an edit.
pub(crate) struct Made {
    pub(crate) inst: usize,
    pub(crate) op: &'static str,
    pub(crate) family: &'static str,
    pub(crate) attrs: String,
    pub(crate) body: usize,
    // The instruction it stands before.
    pub(crate) before: Option<usize>,
    pub(crate) operands: Vec<usize>,
    pub(crate) results: Vec<Value>,
    pub(crate) regions: Vec<(usize, Vec<Value>)>,
}

/// Id, type, name.
pub(crate) type Value = (usize, String, String);

impl Recorder {
    /// A recorder of a function as it stands. O(n).
    #[must_use]
    pub fn new(function: &Function) -> Self {
        let mut members: BTreeMap<usize, Vec<InstId>> = BTreeMap::new();
        for inst in function.walk() {
            if let Some(body) = function.body_of(inst).filter(|b| *b != function.body()) {
                members.entry(body.index()).or_default().push(inst);
            }
        }
        Self { steps: Vec::new(), edits: 0, members, gone: BTreeSet::new(), blind: false }
    }

    /// How many edits there were.
    #[must_use]
    pub fn num_edits(&self) -> usize {
        self.edits
    }

    /// Whether there were more edits than a page shows, or edits that were not told.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.edits > MAX_EDITS || self.blind
    }

    /// Something changes the function without telling: what follows is left out.
    pub(crate) fn stop(&mut self) {
        self.blind = true;
    }

    fn push(&mut self, edit: impl FnOnce() -> Edit) {
        if self.blind {
            return;
        }
        self.edits += 1;
        if self.edits > MAX_EDITS {
            return;
        }
        if self.steps.is_empty() {
            // What the driver does before its first step: equal constants become one.
            self.steps.push(Step { name: "constants".into(), root: None, edits: Vec::new() });
        }
        if let Some(step) = self.steps.last_mut() {
            step.edits.push(edit());
        }
    }

    // The region of an instruction that goes: what is in it goes too, what was in it and stays was moved.
    fn left_behind(&mut self, f: &Function, body: usize) {
        let members = self.members.remove(&body).unwrap_or_default();
        for inst in members {
            if !f.is_live(inst) {
                // The terminator of a region that was moved elsewhere goes without a word.
                if self.gone.insert(inst.index()) {
                    self.push(|| Edit::Erased(vec![inst.index()]));
                }
                continue;
            }
            if f.body_of(inst).is_none_or(|b| b.index() == body) {
                continue;
            }
            let nested = f.regions(inst).iter().flat_map(|&b| f.walk_body(b));
            for moved in std::iter::once(inst).chain(nested) {
                self.push(|| Edit::Changed(Box::new(made(f, moved))));
            }
            self.joins(f, inst);
        }
    }

    fn joins(&mut self, f: &Function, inst: InstId) {
        if let Some(body) = f.body_of(inst).filter(|b| *b != f.body()) {
            self.members.entry(body.index()).or_default().push(inst);
        }
    }
}

impl Listener for Recorder {
    fn inserted(&mut self, f: &Function, inst: InstId) {
        self.push(|| Edit::Inserted(Box::new(made(f, inst))));
        self.joins(f, inst);
    }

    fn replaced(&mut self, _: &Function, from: ValueId, to: ValueId) {
        self.push(|| Edit::Replaced(from.index(), to.index()));
    }

    fn operands_changed(&mut self, f: &Function, inst: InstId) {
        self.push(|| Edit::Changed(Box::new(made(f, inst))));
    }

    fn erased(&mut self, f: &Function, inst: InstId) {
        for &body in f.regions(inst) {
            self.left_behind(f, body.index());
        }
        let nested = f.regions(inst).iter().flat_map(|&b| f.walk_body(b));
        let gone: Vec<usize> = std::iter::once(inst).chain(nested).map(InstId::index).collect();
        self.gone.extend(&gone);
        self.push(|| Edit::Erased(gone));
    }

    fn step(&mut self, _: &Function, name: &str, root: InstId) {
        if self.edits < MAX_EDITS && !self.blind {
            let step = Step { name: name.to_owned(), root: Some(root.index()), edits: Vec::new() };
            self.steps.push(step);
        }
    }
}

fn made(f: &Function, inst: InstId) -> Made {
    let value = |v: ValueId| {
        let name = f.hint(v).map_or_else(|| v.to_string(), |hint| format!("%{hint}"));
        let ty = shortened(&f.value_type(v).to_string(), MAX_LINE);
        (v.index(), ty, shortened(&name, MAX_LINE))
    };
    let regions = f
        .regions(inst)
        .iter()
        .map(|&body| (body.index(), f.body_params(body).iter().map(|&v| value(v)).collect()));
    Made {
        inst: inst.index(),
        op: f.op_name(inst),
        family: f.op_def(inst).map_or("other", |def| def.family),
        attrs: shortened(&attributes(f.op_def(inst), f.attrs(inst)), MAX_TEXT),
        body: f.body_of(inst).map_or(0, sapwood_ptir::BodyId::index),
        before: f.next_inst(inst).map(InstId::index),
        operands: f.operands(inst).iter().map(|v| v.index()).collect(),
        results: f.inst_results(inst).map(value).collect(),
        regions: regions.collect(),
    }
}

// Attributes in short, those with their default left out.
fn attributes(def: Option<&OpDef>, attrs: &AttrList) -> String {
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
        }
        short(&mut out, attr);
        if out.len() > MAX_TEXT {
            break;
        }
    }
    out
}

fn short(out: &mut String, attr: &Attr) {
    match attr {
        Attr::Unit => out.push_str("none"),
        Attr::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        Attr::Int(n) => out.push_str(&n.to_string()),
        Attr::Float(bits) => out.push_str(&format!("{:?}", bits.get())),
        Attr::Str(text) => out.push_str(&format!("{:?}", shortened(text, MAX_LINE))),
        Attr::Word(name) => out.push_str(name.as_str()),
        Attr::Func(name) => out.push_str(&format!("@{}", name.as_str())),
        Attr::Type(dtype) => out.push_str(dtype.short_name()),
        Attr::Ints(list) => out.push_str(&format!("{:?}", &list[..list.len().min(64)])),
        Attr::List(_) => out.push_str("[…]"),
        Attr::Dict(_) => out.push_str("{…}"),
        Attr::Literal(literal) => out.push_str(&literal_text(literal)),
    }
}

// A literal as the text form has it, long ones abridged: what a function that only has this constant prints.
fn literal_text(literal: &TensorLiteral) -> String {
    let mut f = Function::new("literal", Registry::builtin());
    let value = f.constant(literal, InsertPoint::Start(f.body()), Span::unknown());
    let text = f.inst_of(value).map_or_else(String::new, |inst| print_inst(&f, inst));
    let inner = text.split_once("constant ").and_then(|(_, rest)| rest.rsplit_once(" : "));
    inner.map_or_else(|| format!("({})", literal.ty()), |(literal, _)| literal.to_owned())
}
