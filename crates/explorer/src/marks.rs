//! What became of each instruction, from the structural diff.

use std::collections::{BTreeMap, BTreeSet};

use sapwood_ptir::structural::{Change, Difference, Mode, diff, inst_hashes};
use sapwood_ptir::{Function, InstId, Program};
use serde::Serialize;

use crate::record::{Edit, Recorder};

/// The marks of two programs.
#[derive(Serialize, Default)]
pub(crate) struct Marks {
    /// Of the left program.
    pub(crate) left: Vec<Mark>,
    /// Of the right program.
    pub(crate) right: Vec<Mark>,
    /// What concerns whole functions.
    pub(crate) notes: Vec<String>,
}

/// Function, instruction, what became of it, the instruction on the other side or -1, what differs.
#[derive(Serialize, PartialEq, Eq, Debug)]
pub(crate) struct Mark(
    pub(crate) String,
    pub(crate) usize,
    pub(crate) &'static str,
    pub(crate) i64,
    pub(crate) String,
);

/// The marks of two programs: every difference of lists as they stand, and of what is gone that which gave way to an equal
/// one as `merged`.
pub(crate) fn marks(a: &Program, b: &Program, merged: &Merged) -> Marks {
    let mut all = Marks::default();
    let mut merging: BTreeMap<String, Merging> = BTreeMap::new();
    let differences = diff(a, b, Mode::Ordered);
    let inserted = differences.iter().filter(|d| d.left.is_none());
    let new: BTreeSet<_> =
        inserted.filter_map(|d| Some((d.function.as_str().to_owned(), d.right?.index()))).collect();
    for difference in differences {
        let name = difference.function.as_str().to_owned();
        match (difference.left.map(InstId::index), difference.right.map(InstId::index)) {
            (None, None) => {
                let size =
                    |program: &Program| program.function(&*name).map_or(0, |f| f.num_insts());
                let note = match difference.change {
                    Change::Erased => {
                        whole(a, &name, "erased", &mut all.left);
                        format!("function @{name} is gone, {} instructions", size(a))
                    }
                    Change::Inserted => {
                        whole(b, &name, "new", &mut all.right);
                        format!("function @{name} is new, {} instructions", size(b))
                    }
                    _ => difference.to_string(),
                };
                all.notes.push(note);
            }
            (Some(inst), None) => {
                let known = merging
                    .entry(name.clone())
                    .or_insert_with(|| Merging::new(a, b, &name, merged));
                // One that is there but counts as new stands for nothing of the left.
                let kept =
                    known.kept(inst).filter(|&i| i != inst || !new.contains(&(name.clone(), i)));
                let kind = if kept.is_some() { "merged" } else { "erased" };
                let other = kept.map_or(-1, |kept| kept as i64);
                all.left.push(Mark(name, inst, kind, other, String::new()));
            }
            (None, Some(inst)) => all.right.push(Mark(name, inst, "new", -1, String::new())),
            (Some(l), Some(r)) => {
                let kind = if difference.change == Change::Moved { "moved" } else { "changed" };
                let detail = detail(a, b, &difference);
                add(&mut all.left, Mark(name.clone(), l, kind, r as i64, detail.clone()));
                add(&mut all.right, Mark(name, r, kind, l as i64, detail));
            }
        }
    }
    all
}

// What differs, in words.
fn detail(a: &Program, b: &Program, difference: &Difference) -> String {
    match &difference.change {
        Change::Attribute(attr) => format!("attribute {attr}"),
        Change::Operand(n) => format!("operand {n}"),
        Change::Type => "type".into(),
        Change::Region(n) => format!("region {n}"),
        Change::Replaced => {
            let op = |program: &Program, inst: Option<_>| {
                let f = program.function(difference.function)?;
                Some(f.op_name(inst?).to_owned())
            };
            let ops = op(a, difference.left).zip(op(b, difference.right));
            ops.map_or_else(|| "op".into(), |(from, to)| format!("{from} became {to}"))
        }
        _ => String::new(),
    }
}

// Several differences of one instruction follow each other and are one mark.
fn add(list: &mut Vec<Mark>, mark: Mark) {
    match list.last_mut() {
        Some(last) if last.0 == mark.0 && last.1 == mark.1 => last.4 += &format!(", {}", mark.4),
        _ => list.push(mark),
    }
}

fn whole(program: &Program, name: &str, kind: &'static str, list: &mut Vec<Mark>) {
    let Some(f) = program.function(name) else { return };
    list.extend(f.walk().map(|i| Mark(name.to_owned(), i.index(), kind, -1, String::new())));
}

/// What a run merged: by function, the value that took the place of an instruction, and of values.
#[derive(Default)]
pub(crate) struct Merged {
    functions: BTreeMap<String, Given>,
    // Something changed without being told, so that nothing is known of where instructions went.
    blind: bool,
}

#[derive(Default)]
struct Given {
    /// The instruction that went, and the value that was taken for its first result.
    merged: BTreeMap<usize, usize>,
    values: BTreeMap<usize, usize>,
}

impl Merged {
    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Adds what a pass did to functions.
    pub(crate) fn follow(&mut self, changed: bool, steps: &[(String, Recorder)]) {
        let told = steps.iter().any(|(_, recorder)| recorder.num_edits() > 0);
        self.blind |= changed && !told || steps.iter().any(|(_, recorder)| recorder.is_cut());
        for (name, recorder) in steps.iter().filter(|(_, recorder)| !recorder.steps.is_empty()) {
            self.follow_function(name, recorder);
        }
    }

    fn follow_function(&mut self, function: &str, recorder: &Recorder) {
        let given = self.functions.entry(function.to_owned()).or_default();
        for step in &recorder.steps {
            let mut root = step.root.filter(|_| step.name == "cse");
            for edit in &step.edits {
                let Edit::Replaced(from, to) = edit else { continue };
                given.values.insert(*from, *to);
                if let Some(root) = root.take() {
                    given.merged.insert(root, *to);
                }
            }
        }
    }
}

impl Given {
    // For what was merged, the value that stands for it in the end. Ways are shortened as they are gone.
    fn ends(&self) -> BTreeMap<usize, usize> {
        let mut values = self.values.clone();
        let mut end = |start: usize| {
            let mut way = Vec::new();
            let mut value = start;
            // Taken out while on the way: values do not give way in circles, and if they did this would end.
            while let Some(next) = values.remove(&value) {
                way.push(value);
                value = next;
            }
            values.extend(way.into_iter().map(|gone| (gone, value)));
            value
        };
        self.merged.iter().map(|(&inst, &to)| (inst, end(to))).collect()
    }
}

// Which instruction on the right computes the same as one on the left: the one it gave way to, itself where another one of
// the left stands for it as well, or one of the same hash.
struct Merging {
    left: Vec<u128>,
    right: BTreeMap<u128, usize>,
    told: BTreeMap<usize, usize>,
    definitions: BTreeMap<usize, usize>,
    // Instructions on the right that were on the left.
    live: BTreeSet<usize>,
}

impl Merging {
    fn new(a: &Program, b: &Program, name: &str, merged: &Merged) -> Self {
        let given = merged.functions.get(name).filter(|_| !merged.blind);
        let hashes = |f: Option<&std::sync::Arc<Function>>| -> Vec<u128> {
            let list = f.map(|f| inst_hashes(f)).unwrap_or_default();
            list.iter().map(|hash| hash.as_u128()).collect()
        };
        let mut right = BTreeMap::new();
        for (index, hash) in hashes(b.function(name)).into_iter().enumerate() {
            right.entry(hash).or_insert(index);
        }
        right.remove(&0);
        let mut definitions = BTreeMap::new();
        let mut live = BTreeSet::new();
        if let Some(f) = b.function(name).filter(|_| given.is_some()) {
            for inst in f.walk() {
                live.insert(inst.index());
                definitions.extend(f.inst_results(inst).map(|v| (v.index(), inst.index())));
            }
        }
        let told = given.map(Given::ends).unwrap_or_default();
        Self { left: hashes(a.function(name)), right, told, definitions, live }
    }

    fn kept(&self, inst: usize) -> Option<usize> {
        let told = self.told.get(&inst);
        told.and_then(|value| self.definitions.get(value).copied())
            .or_else(|| self.live.get(&inst).copied())
            .or_else(|| self.right.get(self.left.get(inst)?).copied())
    }
}
