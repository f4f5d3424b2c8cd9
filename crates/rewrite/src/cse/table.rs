//! The value table: what is computed already, kept up to date while a function is rewritten.
//!
//! For each computation it holds the instructions that do it, none of which can see another. Asked about one more, the
//! only candidate that it may be able to see is the one right before it in program order, and those that can see it
//! follow it without a gap.

use hashbrown::{HashMap, HashTable};
use rustc_hash::FxBuildHasher;
use sapwood_ptir::{Function, InstId};
use smallvec::SmallVec;

use super::key::{self, is_mergeable};

/// What is computed already.
#[derive(Default)]
pub(crate) struct ValueTable {
    // By instruction: the hash it is listed under; zero if it is not.
    hashes: Vec<u64>,
    // One instruction per hash.
    first: HashTable<InstId>,
    // All instructions of a hash that has several, in program order.
    several: HashMap<u64, Vec<InstId>, FxBuildHasher>,
}

/// What the table says about an instruction.
pub(crate) enum Found {
    /// It is listed now.
    New,
    /// This one computes the same, and it can see it.
    Known(InstId),
    /// It is listed now; these compute the same and can see it.
    Serves(SmallVec<[InstId; 4]>),
}

impl ValueTable {
    pub(crate) fn with_capacity(insts: usize) -> Self {
        Self {
            hashes: vec![0; insts],
            first: HashTable::with_capacity(insts),
            several: HashMap::default(),
        }
    }

    /// Strikes an instruction off. It need not exist any more.
    pub(crate) fn remove(&mut self, inst: InstId) {
        let Some(slot) = self.hashes.get_mut(inst.index()) else { return };
        let hash = std::mem::take(slot);
        if hash == 0 {
            return;
        }
        let rest = self.several.get_mut(&hash).map(|list| {
            list.retain(|&other| other != inst);
            (list.len(), list.first().copied())
        });
        if matches!(rest, Some((0 | 1, _))) {
            self.several.remove(&hash);
        }
        if let Ok(mut entry) = self.first.find_entry(hash, |&other| other == inst) {
            match rest.and_then(|(_, first)| first) {
                Some(other) => *entry.get_mut() = other,
                None => drop(entry.remove()),
            }
        }
    }

    /// Looks an instruction up and lists it, if nothing it can see computes the same. Everything that changed or went
    /// since it was listed must have been struck off.
    pub(crate) fn find(&mut self, f: &Function, inst: InstId) -> Found {
        if !is_mergeable(f, inst) {
            return Found::New;
        }
        let hash = key::hash(f, inst);
        if self.hashes.len() < f.inst_capacity() {
            self.hashes.resize(f.inst_capacity(), 0);
        }
        if self.hashes[inst.index()] == hash {
            return Found::New;
        }
        self.remove(inst);
        let hashes = &self.hashes;
        match self.first.find(hash, |o| hashes[o.index()] == hash).copied() {
            None => {
                self.hashes[inst.index()] = hash;
                let hashes = &self.hashes;
                self.first.insert_unique(hash, inst, |other| hashes[other.index()]);
                Found::New
            }
            // Another computation of the same hash; not worth a list.
            Some(other) if !key::same(f, inst, other) => Found::New,
            Some(_) if self.several.contains_key(&hash) => self.beside_several(f, hash, inst),
            Some(other) => self.beside_one(f, hash, inst, other),
        }
    }

    fn beside_one(&mut self, f: &Function, hash: u64, inst: InstId, other: InstId) -> Found {
        if f.dominates(other, inst) {
            return Found::Known(other);
        }
        if f.dominates(inst, other) {
            self.take_place(hash, other, inst);
            self.hashes[other.index()] = 0;
            self.hashes[inst.index()] = hash;
            return Found::Serves(SmallVec::from_iter([other]));
        }
        self.hashes[inst.index()] = hash;
        let pair = if f.is_before(inst, other) { vec![inst, other] } else { vec![other, inst] };
        self.several.insert(hash, pair);
        Found::New
    }

    fn take_place(&mut self, hash: u64, old: InstId, new: InstId) {
        if let Some(entry) = self.first.find_mut(hash, |&o| o == old) {
            *entry = new;
        }
    }

    fn beside_several(&mut self, f: &Function, hash: u64, inst: InstId) -> Found {
        let Some(list) = self.several.get_mut(&hash) else { return Found::New };
        let at = list.partition_point(|&o| f.is_before(o, inst));
        if let Some(&before) = at.checked_sub(1).and_then(|n| list.get(n))
            && f.dominates(before, inst)
        {
            return Found::Known(before);
        }
        let served: SmallVec<[InstId; 4]> =
            list[at..].iter().copied().take_while(|&o| f.dominates(inst, o)).collect();
        list.splice(at..at + served.len(), [inst]);
        let alone = list.len() == 1;
        // The one that stands for all may be among those that go.
        if let Some(&gone) = served.iter().find(|&&o| self.first.find(hash, |&e| e == o).is_some())
        {
            self.take_place(hash, gone, inst);
        }
        for &other in &served {
            self.hashes[other.index()] = 0;
        }
        self.hashes[inst.index()] = hash;
        if alone {
            self.several.remove(&hash);
        }
        if served.is_empty() { Found::New } else { Found::Serves(served) }
    }
}
