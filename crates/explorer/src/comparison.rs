//! The comparison of two programs: a mark on every instruction that differs, from the structural diff.

use std::collections::{BTreeMap, BTreeSet};

use sapwood_ptir::structural::{Change, Difference, Mode, diff, inst_hashes};
use sapwood_ptir::{Function, InstId, Program};
use serde::Serialize;

use crate::edit_recorder::{EditRecorder, RecordedEdit};

/// The marks on the instructions of two programs.
#[derive(Serialize, Default)]
pub(crate) struct ComparisonMarks {
    /// Marks on the left program.
    pub(crate) left: Vec<Mark>,
    /// Marks on the right program.
    pub(crate) right: Vec<Mark>,
    /// Notes about whole functions.
    pub(crate) notes: Vec<String>,
}

/// A mark: function, instruction, kind of change, the instruction on the other side or -1, description of the difference.
#[derive(Serialize, PartialEq, Eq, Debug)]
pub(crate) struct Mark(
    pub(crate) String,
    pub(crate) usize,
    pub(crate) &'static str,
    pub(crate) i64,
    pub(crate) String,
);

/// Compares two programs, and returns a mark for every difference. An erased instruction that was replaced by an equal one is
/// `merged`.
pub(crate) fn compare_programs(
    a: &Program,
    b: &Program,
    mode: Mode,
    merges: &MergeLog,
) -> ComparisonMarks {
    let mut all = ComparisonMarks::default();
    let mut targets: BTreeMap<String, MergeResolver> = BTreeMap::new();
    let differences = diff(a, b, mode);
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
                        mark_function(a, &name, "erased", &mut all.left);
                        format!("function @{name} was removed, {} instructions", size(a))
                    }
                    Change::Inserted => {
                        mark_function(b, &name, "new", &mut all.right);
                        format!("function @{name} is new, {} instructions", size(b))
                    }
                    _ => difference.to_string(),
                };
                all.notes.push(note);
            }
            (Some(inst), None) => {
                let targets = targets
                    .entry(name.clone())
                    .or_insert_with(|| MergeResolver::new(a, b, &name, merges));
                // A new instruction with the same id is not a target: it replaced nothing on the left.
                let target =
                    targets.find(inst).filter(|&i| i != inst || !new.contains(&(name.clone(), i)));
                let kind = if target.is_some() { "merged" } else { "erased" };
                let other = target.map_or(-1, |target| target as i64);
                all.left.push(Mark(name, inst, kind, other, String::new()));
            }
            (None, Some(inst)) => all.right.push(Mark(name, inst, "new", -1, String::new())),
            (Some(l), Some(r)) => {
                let kind = if difference.change == Change::Moved { "moved" } else { "changed" };
                let detail = describe_difference(a, b, &difference);
                add_mark(&mut all.left, Mark(name.clone(), l, kind, r as i64, detail.clone()));
                add_mark(&mut all.right, Mark(name, r, kind, l as i64, detail));
            }
        }
    }
    all
}

// Describes a difference of two instructions.
fn describe_difference(a: &Program, b: &Program, difference: &Difference) -> String {
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

// Adds a mark. Several differences of one instruction are adjacent, and become one mark.
fn add_mark(list: &mut Vec<Mark>, mark: Mark) {
    match list.last_mut() {
        Some(last) if last.0 == mark.0 && last.1 == mark.1 => last.4 += &format!(", {}", mark.4),
        _ => list.push(mark),
    }
}

// Marks every instruction of a function.
fn mark_function(program: &Program, name: &str, kind: &'static str, list: &mut Vec<Mark>) {
    let Some(f) = program.function(name) else { return };
    list.extend(f.walk().map(|i| Mark(name.to_owned(), i.index(), kind, -1, String::new())));
}

/// The merges of a run by function: the values that replaced instructions and other values.
#[derive(Default)]
pub(crate) struct MergeLog {
    functions: BTreeMap<String, FunctionMerges>,
    /// True if a pass changed a program without reporting its edits. Then the log is not used.
    incomplete: bool,
}

/// The merges in one function.
#[derive(Default)]
struct FunctionMerges {
    /// Maps a merged instruction to the value that replaced its first result.
    merged: BTreeMap<usize, usize>,
    /// Maps a replaced value to its replacement.
    values: BTreeMap<usize, usize>,
}

impl MergeLog {
    /// Removes all entries.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Adds the recorded edits of a pass.
    pub(crate) fn add_pass(&mut self, changed: bool, steps: &[(String, EditRecorder)]) {
        let has_edits = steps.iter().any(|(_, recorder)| recorder.num_edits() > 0);
        self.incomplete |=
            changed && !has_edits || steps.iter().any(|(_, recorder)| recorder.is_incomplete());
        for (name, recorder) in steps.iter().filter(|(_, recorder)| !recorder.steps.is_empty()) {
            self.add_function(name, recorder);
        }
    }

    fn add_function(&mut self, function: &str, recorder: &EditRecorder) {
        let merges = self.functions.entry(function.to_owned()).or_default();
        for step in &recorder.steps {
            let mut root = step.root.filter(|_| step.is_merge);
            for edit in &step.edits {
                let RecordedEdit::Replaced(from, to) = edit else { continue };
                merges.values.insert(*from, *to);
                if let Some(root) = root.take() {
                    merges.merged.insert(root, *to);
                }
            }
        }
    }
}

impl FunctionMerges {
    // Returns the final replacement of every merged instruction. Chains of replacements are compressed on the way.
    fn final_values(&self) -> BTreeMap<usize, usize> {
        let mut values = self.values.clone();
        let mut final_value = |start: usize| {
            let mut chain = Vec::new();
            let mut value = start;
            // Entries are removed while the chain is followed, so that even a cycle would end.
            while let Some(next) = values.remove(&value) {
                chain.push(value);
                value = next;
            }
            values.extend(chain.into_iter().map(|replaced| (replaced, value)));
            value
        };
        self.merged.iter().map(|(&inst, &to)| (inst, final_value(to))).collect()
    }
}

/// The instructions on the right that compute the values of erased instructions on the left, in one function.
struct MergeResolver {
    /// The hashes of the instructions on the left.
    left: Vec<u128>,
    /// Maps a hash to an instruction on the right.
    right: BTreeMap<u128, usize>,
    /// Maps a merged instruction to the value that replaced it.
    replacements: BTreeMap<usize, usize>,
    /// Maps a value on the right to its instruction.
    definitions: BTreeMap<usize, usize>,
    /// The instructions on the right.
    live: BTreeSet<usize>,
}

impl MergeResolver {
    fn new(a: &Program, b: &Program, name: &str, merges: &MergeLog) -> Self {
        let merges = merges.functions.get(name).filter(|_| !merges.incomplete);
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
        if let Some(f) = b.function(name).filter(|_| merges.is_some()) {
            for inst in f.walk() {
                live.insert(inst.index());
                definitions.extend(f.inst_results(inst).map(|v| (v.index(), inst.index())));
            }
        }
        let replacements = merges.map(FunctionMerges::final_values).unwrap_or_default();
        Self { left: hashes(a.function(name)), right, replacements, definitions, live }
    }

    // Returns the instruction on the right: the replacement of the erased one, itself if it is on the right too, or one with
    // the same hash.
    fn find(&self, inst: usize) -> Option<usize> {
        let replacement = self.replacements.get(&inst);
        replacement
            .and_then(|value| self.definitions.get(value).copied())
            .or_else(|| self.live.get(&inst).copied())
            .or_else(|| self.right.get(self.left.get(inst)?).copied())
    }
}
