//! The value table: the computations a function already contains, kept up to date while the function is rewritten.
//!
//! For each computation the table holds the instructions that do it, none of which dominates another. When a further
//! instruction is looked up, the only one that may dominate it is the one right before it in program order, and those that
//! it dominates follow it without a gap.
//!
//! Removing an instruction that is alone in its class only clears its hash: in a table larger than the CPU caches, finding its
//! entry costs more than most patterns do. A stale entry is reused by the next insertion at its slot, or removed when the
//! table is full.

use std::cell::Cell;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use sapwood_ptir::structural::{computation_hash, same_computation};
use sapwood_ptir::{Effects, Function, InstId};
use smallvec::SmallVec;

use super::ordered_sets::OrderedSets;
use crate::rewriter::WIDE_THRESHOLD;

/// Tables with more entries than this do not fit into the CPU caches.
const CACHE_ENTRIES: usize = 1 << 16;

/// An index of the instructions of a function, keyed by the values they compute.
#[derive(Default)]
pub(crate) struct ValueTable {
    // By instruction: the hash under which it is in the table; zero if it is not.
    hashes: Vec<u64>,
    // For each computation, an instruction that does it: the root of the set, if there is a set. Several computations may have
    // the same hash. The table may also contain other members of a set, and stale entries: instructions that are not
    // in the table under this hash any more.
    representatives: HashTable<InstId>,
    // The number of instructions removed since stale entries were last removed: at most that many entries are stale.
    removed: usize,
    // The sets of instructions of the computations that several instructions do.
    sets: OrderedSets,
    // The number of results of wide instructions that were hashed so far.
    hashed_wide_results: Cell<usize>,
}

/// The result of looking up an instruction.
pub(crate) enum Lookup {
    /// The instruction was inserted; no other is equal to it and related to it by dominance.
    New,
    /// This instruction is equal and dominates the one looked up, which was not inserted.
    DominatedBy(InstId),
    /// The instruction was inserted; these are equal and it dominates them.
    Dominates(SmallVec<[InstId; 4]>),
}

impl ValueTable {
    pub(crate) fn with_capacity(insts: usize) -> Self {
        Self {
            hashes: vec![0; insts],
            representatives: HashTable::with_capacity(insts),
            ..Self::default()
        }
    }

    /// Reads the slots of these instructions, so that the memory reads overlap before the lookups follow one by one. Does
    /// nothing for tables that fit into the CPU caches.
    pub(crate) fn prefetch(&self, f: &Function, insts: &[InstId]) {
        if self.representatives.capacity() < CACHE_ENTRIES {
            return;
        }
        let occupied = |&&inst: &&InstId| {
            let hash = || self.hash_counted(f, inst, f.inst_results(inst).len());
            f.is_live(inst)
                && !f.has_regions(inst)
                && self.representatives.find(hash(), |_| false).is_some()
        };
        std::hint::black_box(insts.iter().filter(occupied).count());
    }

    /// Removes an instruction, which may be erased already.
    #[inline]
    pub(crate) fn remove(&mut self, inst: InstId) {
        if self.hashes.get(inst.index()).is_some_and(|&hash| hash != 0) {
            self.remove_listed(inst);
        }
    }

    // Removes an instruction that is in the table.
    fn remove_listed(&mut self, inst: InstId) {
        let hash = std::mem::take(&mut self.hashes[inst.index()]);
        self.removed += 1;
        let Some(root) = self.sets.root_of(inst) else { return };
        let listed = self.sets.root_element(root);
        if let Some(rest) = self.sets.remove(root, inst) {
            let other = self.sets.root_element(rest);
            if self.sets.only_element(rest).is_some() {
                self.sets.remove(rest, other);
            }
            self.replace_representative(hash, listed, other);
        }
    }

    /// Looks an instruction up, and inserts it if no equal one dominates it. Everything that changed or was erased since it was
    /// inserted must have been removed before.
    #[inline(always)]
    pub(crate) fn find_or_insert(&mut self, f: &Function, inst: InstId) -> Lookup {
        let results = f.inst_results(inst).len();
        if results == 0 || !may_be_merged(f, inst) {
            return Lookup::New;
        }
        let hash = self.hash_counted(f, inst, results);
        self.find_or_insert_inline(f, hash, inst)
    }

    #[inline(always)]
    fn hash_counted(&self, f: &Function, inst: InstId, results: usize) -> u64 {
        if results > WIDE_THRESHOLD {
            self.hashed_wide_results.set(self.hashed_wide_results.get() + results);
        }
        computation_hash(f, inst)
    }

    /// Returns the number of results of wide instructions that were hashed so far.
    pub(crate) fn hashed_wide_results(&self) -> usize {
        self.hashed_wide_results.get()
    }

    /// Returns true if every instruction in the table exists, has the hash it is stored under, and is found.
    pub(crate) fn is_consistent(&self, f: &Function) -> bool {
        let root = |inst| self.sets.root_of(inst).map_or(inst, |root| self.sets.root_element(root));
        let is_found = |hash, inst| {
            self.representative_of(f, hash, inst).is_some_and(|other| root(other) == root(inst))
                && self.representatives.find(hash, |&other| other == root(inst)).is_some()
        };
        let listed = |(n, &hash): (usize, &u64)| {
            let inst = InstId::from_index(n);
            let computes =
                || f.is_live(inst) && may_be_merged(f, inst) && computation_hash(f, inst) == hash;
            hash == 0 || computes() && is_found(hash, inst)
        };
        self.hashes.iter().enumerate().all(listed)
    }

    /// Looks an instruction up like [`find_or_insert`](Self::find_or_insert), under a given hash that is not zero. It may have regions.
    pub(super) fn find_or_insert_hashed(
        &mut self,
        f: &Function,
        hash: u64,
        inst: InstId,
    ) -> Lookup {
        self.find_or_insert_inline(f, hash, inst)
    }

    // The fast path is for an instruction that is not in the table, which has no stale entries: always so in a walk over a
    // function without duplicates.
    #[inline(always)]
    fn find_or_insert_inline(&mut self, f: &Function, hash: u64, inst: InstId) -> Lookup {
        if self.removed > 0 || self.hashes.get(inst.index()) != Some(&0) {
            return self.find_or_insert_among_stale(f, hash, inst);
        }
        // Without stale entries, one search finds an equal instruction or the place of this one.
        let hashes = &mut self.hashes;
        let same = |&o: &InstId| hashes[o.index()] == hash && same_computation(f, inst, o);
        match self.representatives.entry(hash, same, |other| hashes[other.index()]) {
            Entry::Occupied(entry) => {
                let other = *entry.get();
                self.find_or_insert_in_class(f, hash, inst, other)
            }
            Entry::Vacant(entry) => {
                entry.insert(inst);
                hashes[inst.index()] = hash;
                Lookup::New
            }
        }
    }

    // Looks up an instruction that may be in the table already, in a table that may have stale entries.
    #[inline(never)]
    fn find_or_insert_among_stale(&mut self, f: &Function, hash: u64, inst: InstId) -> Lookup {
        if self.hashes.len() < f.inst_capacity() {
            self.hashes.resize(f.inst_capacity(), 0);
        }
        if self.hashes[inst.index()] == hash {
            return Lookup::New;
        }
        self.remove(inst);
        match self.representative_of(f, hash, inst) {
            Some(other) => self.find_or_insert_in_class(f, hash, inst, other),
            None => {
                self.insert(f, hash, inst, None);
                Lookup::New
            }
        }
    }

    // Looks up an instruction that has equal ones, whose representative is `other`.
    fn find_or_insert_in_class(
        &mut self,
        f: &Function,
        hash: u64,
        inst: InstId,
        other: InstId,
    ) -> Lookup {
        let (before, mut after) = self.neighbours(f, inst, other);
        if let Some(before) = before.filter(|&b| f.dominates(b, inst)) {
            return Lookup::DominatedBy(before);
        }
        let mut dominated: SmallVec<[InstId; 4]> = SmallVec::new();
        let mut others = Some(other);
        while let Some(next) = after.filter(|&a| f.dominates(inst, a)) {
            dominated.push(next);
            self.remove(next);
            others = self.representative_of(f, hash, inst);
            after = others.and_then(|other| self.neighbours(f, inst, other).1);
        }
        self.insert(f, hash, inst, others);
        if dominated.is_empty() { Lookup::New } else { Lookup::Dominates(dominated) }
    }

    // Returns the last instruction before the given one and the first one after it in the class of `other`.
    fn neighbours(
        &self,
        f: &Function,
        inst: InstId,
        other: InstId,
    ) -> (Option<InstId>, Option<InstId>) {
        match self.sets.root_of(other) {
            Some(root) => self.sets.neighbours(f, root, inst),
            None if f.is_before(other, inst) => (Some(other), None),
            None => (None, Some(other)),
        }
    }

    // Returns the representative of the instructions that are equal to the given one.
    fn representative_of(&self, f: &Function, hash: u64, inst: InstId) -> Option<InstId> {
        let same = |&o: &InstId| self.hashes[o.index()] == hash && same_computation(f, inst, o);
        self.representatives.find(hash, same).copied()
    }

    fn insert(&mut self, f: &Function, hash: u64, inst: InstId, others: Option<InstId>) {
        self.hashes[inst.index()] = hash;
        if let Some(other) = others {
            let mut root = self.sets.root_of(other).unwrap_or_else(|| self.sets.new_set(other));
            self.sets.insert(f, &mut root, inst);
            let now = self.sets.root_element(root);
            self.replace_representative(hash, other, now);
            return;
        }
        if self.representatives.len() == self.representatives.capacity() {
            self.remove_stale_entries();
        }
        let hashes = &self.hashes;
        // Reuses its own old entry or a stale one. Without this, instructions that become equal one after the other would all be
        // visited by the next lookup.
        let free = |&other: &InstId| other == inst || hashes[other.index()] == 0;
        match self.representatives.entry(hash, free, |other| hashes[other.index()]) {
            Entry::Occupied(mut entry) => *entry.get_mut() = inst,
            Entry::Vacant(entry) => drop(entry.insert(inst)),
        }
    }

    // Removes stale entries, and reserves space for the same number of entries again.
    #[cold]
    fn remove_stale_entries(&mut self) {
        self.removed = 0;
        let Self { hashes, representatives, sets, .. } = self;
        let is_current = |&inst: &InstId| {
            let is_root = |root| sets.root_element(root) == inst;
            hashes[inst.index()] != 0 && sets.root_of(inst).is_none_or(is_root)
        };
        let mut listed: Vec<InstId> = representatives.drain().filter(is_current).collect();
        // An instruction that was inserted under several hashes has several entries.
        listed.sort_unstable();
        listed.dedup();
        representatives.reserve(2 * listed.len() + 1, |inst| hashes[inst.index()]);
        for inst in listed {
            representatives.insert_unique(hashes[inst.index()], inst, |inst| hashes[inst.index()]);
        }
    }

    // Replaces the representative of a class.
    fn replace_representative(&mut self, hash: u64, listed: InstId, now: InstId) {
        if now != listed
            && let Some(entry) = self.representatives.find_mut(hash, |&other| other == listed)
        {
            *entry = now;
        }
    }
}

// Returns whether an instruction that has results may be merged with an equal one. Those with regions are looked up under
// other hashes.
#[inline]
fn may_be_merged(f: &Function, inst: InstId) -> bool {
    !f.has_regions(inst) && f.own_effects(inst) == Effects::Pure
}

#[cfg(test)]
mod tests {
    use sapwood_ptir::parse;

    use super::*;

    // With all hashes equal, a lookup depends only on the computations.
    #[test]
    fn hash_collisions_hide_no_computation() {
        let program = parse(
            "ptir 1 func @f(%p: bool[], %x: f32[4]) -> f32[4] {
              %a = exp %x : f32[4]
              %b = neg %x : f32[4]
              %c = cond %p () {
                %d = neg %x : f32[4]
                %e = sin %x : f32[4]
                yield %d
              } () {
                %g = sin %x : f32[4]
                %h = exp %x : f32[4]
                yield %g
              } : f32[4]
              %i = sin %x : f32[4]
              return %c
            }",
        )
        .unwrap();
        let f = &program.functions()[0];
        let [a, b, d, e, g, h, i] = mergeable(f)[..] else { panic!("not seven") };
        let mut table = ValueTable::default();
        let find = |table: &mut ValueTable, inst| match table.find_or_insert_hashed(f, 1, inst) {
            Lookup::New => None,
            Lookup::DominatedBy(other) => Some(other),
            Lookup::Dominates(_) => panic!("{inst} dominates others"),
        };
        assert_eq!(find(&mut table, a), None);
        assert_eq!(find(&mut table, b), None);
        assert_eq!(find(&mut table, d), Some(b));
        // Three that do not dominate each other.
        assert_eq!([e, g, i].map(|inst| find(&mut table, inst)), [None; 3]);
        assert_eq!(find(&mut table, h), Some(a));
        // Removing one instruction does not affect other computations.
        table.remove(a);
        assert_eq!(find(&mut table, d), Some(b));
        assert_eq!(find(&mut table, h), None);
        let Lookup::Dominates(dominated) = table.find_or_insert_hashed(f, 1, a) else {
            panic!("it dominates nothing")
        };
        assert_eq!(dominated[..], [h]);
        for inst in [e, g, i] {
            table.remove(inst);
        }
        assert_eq!(find(&mut table, i), None);
        table.remove(i);
        table.remove(a);
        table.remove(b);
        assert!(table.hashes.iter().all(|&hash| hash == 0));
        table.remove_stale_entries();
        assert!(table.representatives.is_empty());
    }

    // A removed instruction leaves a stale entry behind: no lookup finds it, an insertion reuses it, and a rebuild removes it. The
    // hashes share one slot of the table, or use two.
    #[test]
    fn a_removed_instruction_is_not_found() {
        let program = parse(&branches("sin", "sin")).unwrap();
        let f = &program.functions()[0];
        let [b, c] = mergeable(f)[..] else { panic!("not two") };
        for (other, entries) in [(2, 1), (u64::MAX, 2)] {
            let mut table = ValueTable::default();
            for (hash, gone) in [(1, other), (other, 1), (1, other), (other, 1), (1, other)] {
                assert!(matches!(table.find_or_insert_hashed(f, hash, b), Lookup::New));
                assert_eq!(table.representative_of(f, hash, c), Some(b));
                assert_eq!(table.representative_of(f, gone, c), None);
            }
            assert_eq!(table.representatives.len(), entries);
            // An instruction that was alone in its class is inserted again, next to another.
            table.remove(b);
            assert!(matches!(table.find_or_insert_hashed(f, 1, c), Lookup::New));
            assert!(matches!(table.find_or_insert_hashed(f, 1, b), Lookup::New));
            assert_eq!(table.representatives.len(), entries);
            table.remove_stale_entries();
            assert_eq!(table.representatives.len(), 1);
            table.remove(c);
            assert_eq!(table.representative_of(f, 1, c), Some(b));
            table.remove(b);
            assert_eq!(table.representative_of(f, 1, c), None);
        }
    }

    // Each instruction dominates the representative, as when chains become equal from the last link to the first.
    #[test]
    fn replaced_representatives_leave_no_stale_entries() {
        let many = "%y = sin %x : f32[4]\n".repeat(1000);
        let lines =
            many.lines().enumerate().map(|(n, line)| line.replacen("%y", &format!("%y{n}"), 1));
        let body: Vec<String> = lines.collect();
        let text =
            format!("ptir 1 func @f(%x: f32[4]) -> f32[4] {{\n{}\nreturn %y0\n}}", body.join("\n"));
        let program = parse(&text).unwrap();
        let f = &program.functions()[0];
        let mut table = ValueTable::default();
        let mut dominated = 0;
        for &inst in mergeable(f).iter().rev() {
            if let Lookup::Dominates(others) = table.find_or_insert(f, inst) {
                dominated += others.len();
            }
        }
        assert_eq!((dominated, table.representatives.len()), (999, 1));
    }

    // Random steps, compared with a linear search.
    #[test]
    fn lookups_agree_with_a_linear_search() {
        let program = parse(&nest(4)).unwrap();
        let f = &program.functions()[0];
        let insts = mergeable(f);
        let hashes = [1, 2, 3, 17, 1 << 60, (1 << 60) + 5, u64::MAX, 40];
        let mut state = 12345_u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % below
        };
        for kinds in [1, 2, 4, 8] {
            let mut table = ValueTable::default();
            for _ in 0..3000 {
                let (inst, hash) = (insts[random(insts.len())], hashes[random(kinds)]);
                if random(4) == 0 {
                    table.remove(inst);
                    continue;
                }
                let listed = |i: InstId| table.hashes.get(i.index()).copied().unwrap_or(0);
                let known = listed(inst) == hash;
                let equal =
                    |&o: &InstId| o != inst && listed(o) == hash && same_computation(f, inst, o);
                let others: Vec<InstId> = insts.iter().copied().filter(equal).collect();
                let dominated_others: Vec<InstId> =
                    others.iter().copied().filter(|&o| f.dominates(inst, o)).collect();
                let seen = |&o: &InstId| f.dominates(o, inst);
                match table.find_or_insert_hashed(f, hash, inst) {
                    Lookup::New => {
                        assert!(known || dominated_others.is_empty() && !others.iter().any(seen));
                    }
                    Lookup::DominatedBy(other) => assert!(others.contains(&other) && seen(&other)),
                    Lookup::Dominates(mut found) => {
                        found.sort_unstable();
                        assert_eq!(found[..], dominated_others);
                    }
                }
                for &i in &insts {
                    let hash = table.hashes.get(i.index()).copied().unwrap_or(0);
                    let root = table.sets.root_of(i);
                    let first = root.map_or(i, |root| table.sets.root_element(root));
                    assert!(hash != 0 || root.is_none());
                    assert!(
                        hash == 0 || table.representatives.find(hash, |&o| o == first).is_some()
                    );
                }
            }
        }
    }

    fn mergeable(f: &Function) -> Vec<InstId> {
        f.walk_post_order()
            .filter(|&i| may_be_merged(f, i) && f.inst_results(i).len() > 0)
            .collect()
    }

    // Two branches with one op each.
    fn branches(first: &str, second: &str) -> String {
        format!(
            "ptir 1 func @f(%p: bool[], %x: f32[4]) -> f32[4] {{
              %a = cond %p () {{ %b = {first} %x : f32[4] yield %b }}
                           () {{ %c = {second} %x : f32[4] yield %c }} : f32[4]
              return %a
            }}"
        )
    }

    // Nested branches, with ops before and after them.
    fn nest(depth: usize) -> String {
        fn body(depth: usize, names: &mut std::ops::RangeFrom<usize>) -> (String, usize) {
            let mut ops = || {
                let mut text = String::new();
                let mut last = 0;
                for op in ["sin", "cos", "neg", "exp", "sin"] {
                    last = names.next().unwrap_or(0);
                    text += &format!("%v{last} = {op} %x : f32[4]\n");
                }
                (text, last)
            };
            let (before, last) = ops();
            let (after, _) = ops();
            if depth == 0 {
                return (before, last);
            }
            let ((one, of_one), (two, of_two)) = (body(depth - 1, names), body(depth - 1, names));
            let given = names.next().unwrap_or(0);
            let text = format!(
                "{before}%v{given} = cond %p () {{ {one} yield %v{of_one} }} () {{ {two} yield %v{of_two} }} : f32[4]\n{after}"
            );
            (text, given)
        }
        let (text, given) = body(depth, &mut (0..));
        format!("ptir 1 func @f(%p: bool[], %x: f32[4]) -> f32[4] {{\n{text}return %v{given}\n}}")
    }
}
