//! What became of each instruction, from the structural diff.

use std::collections::BTreeMap;

use sapwood_ptir::structural::{Change, Mode, diff, inst_hashes};
use sapwood_ptir::{Function, Program};
use serde::Serialize;

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

/// The marks of two programs: every difference of lists as they stand, and of what is gone that which is computed
/// elsewhere as `merged`.
pub(crate) fn marks(a: &Program, b: &Program) -> Marks {
    let mut all = Marks::default();
    let mut merging: BTreeMap<String, Merging> = BTreeMap::new();
    for difference in diff(a, b, Mode::Ordered) {
        let name = difference.function.as_str().to_owned();
        let (left, right) = (difference.left, difference.right);
        let detail = match &difference.change {
            Change::Attribute(attr) => format!("attribute {attr}"),
            Change::Operand(n) => format!("operand {n}"),
            Change::Type => "type".into(),
            Change::Region(n) => format!("region {n}"),
            Change::Replaced => "op".into(),
            _ => String::new(),
        };
        let Some(any) = left.or(right) else {
            match difference.change {
                Change::Erased => whole(a, &name, "erased", &mut all.left),
                Change::Inserted => whole(b, &name, "new", &mut all.right),
                _ => {}
            }
            all.notes.push(difference.to_string());
            continue;
        };
        match &difference.change {
            Change::Erased => {
                let known =
                    merging.entry(name.clone()).or_insert_with(|| Merging::new(a, b, &name));
                let mark = match known.kept(any.index()) {
                    Some(kept) => Mark(name, any.index(), "merged", kept as i64, detail),
                    None => Mark(name, any.index(), "erased", -1, detail),
                };
                all.left.push(mark);
            }
            Change::Inserted => all.right.push(Mark(name, any.index(), "new", -1, detail)),
            change => {
                let kind = if *change == Change::Moved { "moved" } else { "changed" };
                let (Some(l), Some(r)) = (left, right) else { continue };
                add(
                    &mut all.left,
                    Mark(name.clone(), l.index(), kind, r.index() as i64, detail.clone()),
                );
                add(&mut all.right, Mark(name, r.index(), kind, l.index() as i64, detail));
            }
        }
    }
    all
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

// Which instruction on the right computes the same as one on the left.
struct Merging {
    left: Vec<u128>,
    right: BTreeMap<u128, usize>,
}

impl Merging {
    fn new(a: &Program, b: &Program, name: &str) -> Self {
        let hashes = |f: Option<&std::sync::Arc<Function>>| -> Vec<u128> {
            let list = f.map(|f| inst_hashes(f)).unwrap_or_default();
            list.iter().map(|hash| hash.as_u128()).collect()
        };
        let mut right = BTreeMap::new();
        for (index, hash) in hashes(b.function(name)).into_iter().enumerate() {
            right.entry(hash).or_insert(index);
        }
        right.remove(&0);
        Self { left: hashes(a.function(name)), right }
    }

    fn kept(&self, inst: usize) -> Option<usize> {
        self.right.get(self.left.get(inst)?).copied()
    }
}
