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
use super::ordered::{OrderedSets, Root};

/// What is computed already.
#[derive(Default)]
pub(crate) struct ValueTable {
    // By instruction: the hash it is listed under; zero if it is not.
    hashes: Vec<u64>,
    // One instruction per hash.
    first: HashTable<InstId>,
    // All instructions of a hash that has several.
    several: HashMap<u64, Root, FxBuildHasher>,
    sets: OrderedSets,
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
        Self { hashes: vec![0; insts], first: HashTable::with_capacity(insts), ..Self::default() }
    }

    /// Strikes an instruction off. It need not exist any more.
    pub(crate) fn remove(&mut self, inst: InstId) {
        let Some(&hash) = self.hashes.get(inst.index()) else { return };
        if hash == 0 {
            return;
        }
        let mut left = None;
        if let Some(root) = self.several.get_mut(&hash)
            && let Some(rest) = self.sets.remove(*root, inst)
        {
            *root = rest;
            left = Some(self.sets.any(rest));
            if let Some(only) = self.sets.only(rest) {
                self.sets.remove(rest, only);
                self.several.remove(&hash);
            }
        }
        if let Ok(mut entry) = self.first.find_entry(hash, |&other| other == inst) {
            match left {
                Some(other) => *entry.get_mut() = other,
                None => drop(entry.remove()),
            }
        }
        self.hashes[inst.index()] = 0;
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
        let Some(&other) = self.first.find(hash, |o| hashes[o.index()] == hash) else {
            self.hashes[inst.index()] = hash;
            let hashes = &self.hashes;
            self.first.insert_unique(hash, inst, |other| hashes[other.index()]);
            return Found::New;
        };
        if !key::same(f, inst, other) {
            // Another computation of the same hash; not worth a list.
            return Found::New;
        }
        self.beside(f, hash, inst, other)
    }

    // There are others, `other` among them.
    fn beside(&mut self, f: &Function, hash: u64, inst: InstId, other: InstId) -> Found {
        let neighbours = |table: &Self| match table.several.get(&hash) {
            Some(&root) => table.sets.neighbours(f, root, inst),
            None if table.hashes[other.index()] != hash => (None, None),
            None if f.is_before(other, inst) => (Some(other), None),
            None => (None, Some(other)),
        };
        let (before, mut after) = neighbours(self);
        if let Some(before) = before.filter(|&b| f.dominates(b, inst)) {
            return Found::Known(before);
        }
        let mut served: SmallVec<[InstId; 4]> = SmallVec::new();
        while let Some(next) = after.filter(|&a| f.dominates(inst, a)) {
            served.push(next);
            self.remove(next);
            let rest = self.first_of(hash);
            after = match rest {
                Some(_) if self.several.contains_key(&hash) => neighbours(self).1,
                Some(rest) if f.is_before(inst, rest) => Some(rest),
                _ => None,
            };
        }
        self.list(f, hash, inst);
        if served.is_empty() { Found::New } else { Found::Serves(served) }
    }

    fn first_of(&self, hash: u64) -> Option<InstId> {
        self.first.find(hash, |o| self.hashes[o.index()] == hash).copied()
    }

    fn list(&mut self, f: &Function, hash: u64, inst: InstId) {
        let known = self.first_of(hash);
        self.hashes[inst.index()] = hash;
        let Some(other) = known else {
            let hashes = &self.hashes;
            self.first.insert_unique(hash, inst, |other| hashes[other.index()]);
            return;
        };
        let sets = &mut self.sets;
        let root = self.several.entry(hash).or_insert_with(|| sets.single(other));
        sets.insert(f, root, inst);
    }
}
