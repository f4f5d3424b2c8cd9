//! The value table: what is computed already, kept up to date while a function is rewritten.
//!
//! For each computation it holds the instructions that do it, none of which can see another. Asked about one more, the
//! only candidate that it may be able to see is the one right before it in program order, and those that can see it
//! follow it without a gap.
//!
//! An instruction that is struck off alone is only marked: in a table that no cache holds, finding its entry costs more
//! than most patterns do. Entries that mean nothing any more go when the table is full.

use hashbrown::HashTable;
use sapwood_ptir::{Function, InstId};
use smallvec::SmallVec;

use super::key::{self, is_mergeable};
use super::ordered::OrderedSets;

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
            f.is_live(inst) && self.first.find(key::hash(f, inst), |_| false).is_some()
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
        let left = self.sets.remove(root, inst).map(|rest| {
            let other = self.sets.any(rest);
            if self.sets.only(rest).is_some() {
                self.sets.remove(rest, other);
            }
            other
        });
        self.relist(hash, listed, left);
    }

    /// Looks an instruction up and lists it, if nothing it can see computes the same. Everything that changed or went
    /// since it was listed must have been struck off.
    pub(crate) fn find(&mut self, f: &Function, inst: InstId) -> Found {
        if !is_mergeable(f, inst) {
            return Found::New;
        }
        self.find_by(f, key::hash(f, inst), inst)
    }

    /// Whether everything listed is there, computes what it is listed for, and is found.
    pub(crate) fn is_true(&self, f: &Function) -> bool {
        let listed = |(n, &hash): (usize, &u64)| {
            let inst = InstId::from_index(n);
            let computes =
                || f.is_live(inst) && is_mergeable(f, inst) && key::hash(f, inst) == hash;
            hash == 0 || computes() && self.listed(f, hash, inst).is_some()
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
            self.relist(hash, other, Some(now));
            return;
        }
        if self.first.len() == self.first.capacity() {
            self.sweep();
        }
        let hashes = &self.hashes;
        // If it was listed here before, its entry means something again.
        let own = self.first.entry(hash, |&other| other == inst, |other| hashes[other.index()]);
        own.or_insert(inst);
    }

    // Leaves the entries that mean something, with room for as many again.
    #[cold]
    fn sweep(&mut self) {
        let Self { hashes, first, sets } = self;
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

    // Puts another in the place of one in `first`, or nothing.
    fn relist(&mut self, hash: u64, listed: InstId, now: Option<InstId>) {
        if now == Some(listed) {
            return;
        }
        if let Ok(mut entry) = self.first.find_entry(hash, |&other| other == listed) {
            match now {
                Some(now) => *entry.get_mut() = now,
                None => drop(entry.remove()),
            }
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
        let order: Vec<InstId> = f.walk_completed().filter(|&i| is_mergeable(f, i)).collect();
        let [a, b, d, e, g, h, i] = order[..] else { panic!("{order:?}") };
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

    // What is struck off leaves an entry behind: it is found by nobody, serves again where the instruction comes back, and
    // is gone when the table is full.
    #[test]
    fn what_is_struck_off_is_not_found() {
        let program = parse(
            "ptir 1 func @f(%p: bool[], %x: f32[4]) -> f32[4] {
              %a = cond %p () {
                %b = sin %x : f32[4]
                yield %b
              } () {
                %c = sin %x : f32[4]
                yield %c
              } : f32[4]
              return %a
            }",
        )
        .unwrap();
        let f = &program.functions()[0];
        let order: Vec<InstId> = f.walk_completed().filter(|&i| is_mergeable(f, i)).collect();
        let [b, c] = order[..] else { panic!("{order:?}") };
        let mut table = ValueTable::default();
        for hash in [1, u64::MAX, 1, u64::MAX, 1] {
            assert!(matches!(table.find_by(f, hash, b), Found::New));
            assert_eq!(table.listed(f, hash, c), Some(b));
            assert_eq!(table.listed(f, hash.wrapping_neg(), c), None);
        }
        assert_eq!(table.first.len(), 2);
        // One that was here alone comes back beside another.
        table.remove(b);
        assert!(matches!(table.find_by(f, 1, c), Found::New));
        assert!(matches!(table.find_by(f, 1, b), Found::New));
        assert_eq!(table.first.len(), 3);
        table.sweep();
        assert_eq!(table.first.len(), 1);
        table.remove(c);
        assert_eq!(table.listed(f, 1, c), Some(b));
        table.remove(b);
        assert_eq!(table.listed(f, 1, c), None);
    }
}
