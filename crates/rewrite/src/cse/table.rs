//! The value table: what is computed already, kept up to date while a function is rewritten.
//!
//! For each computation it holds the instructions that do it, none of which can see another. Asked about one more, the
//! only candidate that it may be able to see is the one right before it in program order, and those that can see it
//! follow it without a gap.
//!
//! An instruction that is struck off alone is only marked: in a table that no cache holds, finding its entry costs more
//! than most patterns do. An entry that means nothing any more is used again by the next one that is listed there, and
//! goes when the table is full.

use std::cell::Cell;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use sapwood_ptir::{Function, InstId};
use smallvec::SmallVec;

use super::key::{self, is_mergeable};
use super::ordered::OrderedSets;
use crate::rewriter::WIDE;

/// Tables with more entries than this do not fit into a cache.
pub(super) const LARGE: usize = 1 << 16;

/// What is computed already.
#[derive(Default)]
pub(crate) struct ValueTable {
    // By instruction: the hash it is listed under; zero if it is not.
    hashes: Vec<u64>,
    // For each computation, an instruction that does it: the root, if there is a set. Several computations may have the
    // same hash. Others that do it may be there as well, and some that are not listed under this hash any more, which mean
    // nothing.
    first: HashTable<InstId>,
    // All instructions of a computation that several do.
    sets: OrderedSets,
    // How many results of wide instructions were hashed.
    hashed: Cell<usize>,
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

    /// Looks where these instructions are going to be looked up, so that the reads wait for memory together and not one
    /// after the other. Tables that caches hold need no help.
    pub(crate) fn warm(&self, f: &Function, insts: &[InstId]) {
        if self.first.capacity() < LARGE {
            return;
        }
        let there = |&&inst: &&InstId| {
            f.is_live(inst)
                && f.regions(inst).is_empty()
                && self.first.find(self.hash(f, inst), |_| false).is_some()
        };
        std::hint::black_box(insts.iter().filter(there).count());
    }

    /// Strikes an instruction off. It need not exist any more.
    pub(crate) fn remove(&mut self, inst: InstId) {
        let Some(hash) = self.hashes.get_mut(inst.index()).map(std::mem::take) else { return };
        if hash == 0 {
            return;
        }
        let Some(root) = self.sets.root_of(inst) else { return };
        let listed = self.sets.any(root);
        if let Some(rest) = self.sets.remove(root, inst) {
            let other = self.sets.any(rest);
            if self.sets.only(rest).is_some() {
                self.sets.remove(rest, other);
            }
            self.relist(hash, listed, other);
        }
    }

    /// Looks an instruction up and lists it, if nothing it can see computes the same. Everything that changed or went
    /// since it was listed must have been struck off.
    pub(crate) fn find(&mut self, f: &Function, inst: InstId) -> Found {
        if !is_mergeable(f, inst) {
            return Found::New;
        }
        self.find_by(f, self.hash(f, inst), inst)
    }

    #[inline]
    fn hash(&self, f: &Function, inst: InstId) -> u64 {
        let results = f.inst_results(inst).len();
        if results > WIDE {
            self.hashed.set(self.hashed.get() + results);
        }
        key::hash(f, inst)
    }

    /// How many results of wide instructions were hashed so far.
    pub(crate) fn hashed(&self) -> usize {
        self.hashed.get()
    }

    /// Whether everything listed is there, computes what it is listed for, and is found, as one of its set.
    pub(crate) fn is_true(&self, f: &Function) -> bool {
        let root = |inst| self.sets.root_of(inst).map_or(inst, |root| self.sets.any(root));
        let is_found = |hash, inst| {
            self.listed(f, hash, inst).is_some_and(|other| root(other) == root(inst))
                && self.first.find(hash, |&other| other == root(inst)).is_some()
        };
        let listed = |(n, &hash): (usize, &u64)| {
            let inst = InstId::from_index(n);
            let computes =
                || f.is_live(inst) && is_mergeable(f, inst) && key::hash(f, inst) == hash;
            hash == 0 || computes() && is_found(hash, inst)
        };
        self.hashes.iter().enumerate().all(listed)
    }

    fn find_by(&mut self, f: &Function, hash: u64, inst: InstId) -> Found {
        if self.hashes.len() < f.inst_capacity() {
            self.hashes.resize(f.inst_capacity(), 0);
        }
        if self.hashes[inst.index()] == hash {
            return Found::New;
        }
        self.remove(inst);
        match self.listed(f, hash, inst) {
            Some(other) => self.beside(f, hash, inst, other),
            None => {
                self.list(f, hash, inst, None);
                Found::New
            }
        }
    }

    // There are others, `other` stands for them in `first`.
    fn beside(&mut self, f: &Function, hash: u64, inst: InstId, other: InstId) -> Found {
        let (before, mut after) = self.neighbours(f, inst, other);
        if let Some(before) = before.filter(|&b| f.dominates(b, inst)) {
            return Found::Known(before);
        }
        let mut served: SmallVec<[InstId; 4]> = SmallVec::new();
        let mut others = Some(other);
        while let Some(next) = after.filter(|&a| f.dominates(inst, a)) {
            served.push(next);
            self.remove(next);
            others = self.listed(f, hash, inst);
            after = others.and_then(|other| self.neighbours(f, inst, other).1);
        }
        self.list(f, hash, inst, others);
        if served.is_empty() { Found::New } else { Found::Serves(served) }
    }

    // The last one before an instruction and the first one after it, of those that `other` stands for.
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

    // The one in `first` that computes the same.
    fn listed(&self, f: &Function, hash: u64, inst: InstId) -> Option<InstId> {
        let same = |&o: &InstId| self.hashes[o.index()] == hash && key::same(f, inst, o);
        self.first.find(hash, same).copied()
    }

    fn list(&mut self, f: &Function, hash: u64, inst: InstId, others: Option<InstId>) {
        self.hashes[inst.index()] = hash;
        if let Some(other) = others {
            let mut root = self.sets.root_of(other).unwrap_or_else(|| self.sets.single(other));
            self.sets.insert(f, &mut root, inst);
            let now = self.sets.any(root);
            self.relist(hash, other, now);
            return;
        }
        if self.first.len() == self.first.capacity() {
            self.sweep();
        }
        let hashes = &self.hashes;
        // Its own entry, if it was listed here before, or that of one that is not listed any more: without this, those that
        // come to compute the same one after the other would all be met by the next.
        let free = |&other: &InstId| other == inst || hashes[other.index()] == 0;
        match self.first.entry(hash, free, |other| hashes[other.index()]) {
            Entry::Occupied(mut entry) => *entry.get_mut() = inst,
            Entry::Vacant(entry) => drop(entry.insert(inst)),
        }
    }

    // Leaves the entries that mean something, with room for as many again.
    #[cold]
    fn sweep(&mut self) {
        let Self { hashes, first, sets, .. } = self;
        let stands = |&inst: &InstId| {
            let is_root = |root| sets.any(root) == inst;
            hashes[inst.index()] != 0 && sets.root_of(inst).is_none_or(is_root)
        };
        let mut listed: Vec<InstId> = first.drain().filter(stands).collect();
        // One that was listed under several hashes has several entries.
        listed.sort_unstable();
        listed.dedup();
        first.reserve(2 * listed.len() + 1, |inst| hashes[inst.index()]);
        for inst in listed {
            first.insert_unique(hashes[inst.index()], inst, |inst| hashes[inst.index()]);
        }
    }

    // Puts another in the place of one in `first`.
    fn relist(&mut self, hash: u64, listed: InstId, now: InstId) {
        if now != listed
            && let Some(entry) = self.first.find_mut(hash, |&other| other == listed)
        {
            *entry = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use sapwood_ptir::parse;

    use super::*;

    // All hashes are equal: what is found then depends on what is computed alone.
    #[test]
    fn a_collision_hides_nothing() {
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
        let find = |table: &mut ValueTable, inst| match table.find_by(f, 1, inst) {
            Found::New => None,
            Found::Known(other) => Some(other),
            Found::Serves(_) => panic!("{inst} serves"),
        };
        assert_eq!(find(&mut table, a), None);
        assert_eq!(find(&mut table, b), None);
        assert_eq!(find(&mut table, d), Some(b));
        // Three that do not see each other.
        assert_eq!([e, g, i].map(|inst| find(&mut table, inst)), [None; 3]);
        assert_eq!(find(&mut table, h), Some(a));
        // One that goes takes no other computation with it.
        table.remove(a);
        assert_eq!(find(&mut table, d), Some(b));
        assert_eq!(find(&mut table, h), None);
        let Found::Serves(served) = table.find_by(f, 1, a) else { panic!("it serves nothing") };
        assert_eq!(served[..], [h]);
        for inst in [e, g, i] {
            table.remove(inst);
        }
        assert_eq!(find(&mut table, i), None);
        table.remove(i);
        table.remove(a);
        table.remove(b);
        assert!(table.hashes.iter().all(|&hash| hash == 0));
        table.sweep();
        assert!(table.first.is_empty());
    }

    // What is struck off leaves an entry behind: it is found by nobody, serves again where an instruction is listed, and is
    // gone when the table is full. The hashes are of one place in the table, and of two.
    #[test]
    fn what_is_struck_off_is_not_found() {
        let program = parse(&branches("sin", "sin")).unwrap();
        let f = &program.functions()[0];
        let [b, c] = mergeable(f)[..] else { panic!("not two") };
        for (other, entries) in [(2, 1), (u64::MAX, 2)] {
            let mut table = ValueTable::default();
            for (hash, gone) in [(1, other), (other, 1), (1, other), (other, 1), (1, other)] {
                assert!(matches!(table.find_by(f, hash, b), Found::New));
                assert_eq!(table.listed(f, hash, c), Some(b));
                assert_eq!(table.listed(f, gone, c), None);
            }
            assert_eq!(table.first.len(), entries);
            // One that was here alone comes back beside another.
            table.remove(b);
            assert!(matches!(table.find_by(f, 1, c), Found::New));
            assert!(matches!(table.find_by(f, 1, b), Found::New));
            assert_eq!(table.first.len(), entries);
            table.sweep();
            assert_eq!(table.first.len(), 1);
            table.remove(c);
            assert_eq!(table.listed(f, 1, c), Some(b));
            table.remove(b);
            assert_eq!(table.listed(f, 1, c), None);
        }
    }

    // Each comes to stand before the one that is listed, as where chains become equal from the last to the first.
    #[test]
    fn those_that_take_over_leave_no_trail() {
        let many = "%y = sin %x : f32[4]\n".repeat(1000);
        let lines =
            many.lines().enumerate().map(|(n, line)| line.replacen("%y", &format!("%y{n}"), 1));
        let body: Vec<String> = lines.collect();
        let text =
            format!("ptir 1 func @f(%x: f32[4]) -> f32[4] {{\n{}\nreturn %y0\n}}", body.join("\n"));
        let program = parse(&text).unwrap();
        let f = &program.functions()[0];
        let mut table = ValueTable::default();
        let mut served = 0;
        for &inst in mergeable(f).iter().rev() {
            if let Found::Serves(others) = table.find(f, inst) {
                served += others.len();
            }
        }
        assert_eq!((served, table.first.len()), (999, 1));
    }

    // Random steps, beside a search through everything.
    #[test]
    fn the_table_says_what_a_search_finds() {
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
                let equal = |&o: &InstId| o != inst && listed(o) == hash && key::same(f, inst, o);
                let others: Vec<InstId> = insts.iter().copied().filter(equal).collect();
                let serves: Vec<InstId> =
                    others.iter().copied().filter(|&o| f.dominates(inst, o)).collect();
                let seen = |&o: &InstId| f.dominates(o, inst);
                match table.find_by(f, hash, inst) {
                    Found::New => assert!(known || serves.is_empty() && !others.iter().any(seen)),
                    Found::Known(other) => assert!(others.contains(&other) && seen(&other)),
                    Found::Serves(mut found) => {
                        found.sort_unstable();
                        assert_eq!(found[..], serves);
                    }
                }
                for &i in &insts {
                    let hash = table.hashes.get(i.index()).copied().unwrap_or(0);
                    let root = table.sets.root_of(i);
                    let first = root.map_or(i, |root| table.sets.any(root));
                    assert!(hash != 0 || root.is_none());
                    assert!(hash == 0 || table.first.find(hash, |&o| o == first).is_some());
                }
            }
        }
    }

    fn mergeable(f: &Function) -> Vec<InstId> {
        f.walk_post_order().filter(|&i| is_mergeable(f, i)).collect()
    }

    // Two branches with an op each.
    fn branches(first: &str, second: &str) -> String {
        format!(
            "ptir 1 func @f(%p: bool[], %x: f32[4]) -> f32[4] {{
              %a = cond %p () {{ %b = {first} %x : f32[4] yield %b }}
                           () {{ %c = {second} %x : f32[4] yield %c }} : f32[4]
              return %a
            }}"
        )
    }

    // Branches in branches, with ops before and after them.
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
