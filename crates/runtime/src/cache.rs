//! Compiled programs, found again by structure.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use sapwood_ptir::structural::{Mode, equal, hash};
use sapwood_ptir::{Name, Program};
use sapwood_structural::Hash128;

/// How many programs are kept unless said otherwise.
pub const DEFAULT_CAPACITY: usize = 256;

/// Compiled programs by their structure: up to renaming and the order of independent instructions, with the same ops. Found
/// by a hash of 128 bits and confirmed by comparison, so that two programs are never taken for one. Of more programs than
/// it has room for it forgets the one that was not asked for the longest. It counts programs, not bytes: the literals of
/// those it keeps are kept too, until it is [cleared](Self::clear).
pub struct ProgramCache<C> {
    capacity: usize,
    entries: Arc<Mutex<Entries<C>>>,
}

struct Entries<C> {
    // The one asked for last stands last.
    list: Vec<Entry<C>>,
    stats: CacheStats,
}

struct Entry<C> {
    hash: Hash128,
    function: Name,
    program: Program,
    slot: Slot<C>,
}

// Locked while it is compiled, so that nobody else does the same at the same time.
type Slot<C> = Arc<Mutex<Option<Arc<C>>>>;

/// What a cache has done so far.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct CacheStats {
    /// How often an equal program was compiled already.
    pub hits: u64,
    /// How often one was compiled.
    pub misses: u64,
    /// How many programs were forgotten.
    pub evictions: u64,
}

impl<C> Default for ProgramCache<C> {
    fn default() -> Self {
        Self::with_capacity(DEFAULT_CAPACITY)
    }
}

impl<C> ProgramCache<C> {
    /// A cache for this many programs, at least one.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        let entries = Entries { list: Vec::new(), stats: CacheStats::default() };
        Self { capacity: capacity.max(1), entries: Arc::new(Mutex::new(entries)) }
    }

    /// How many programs there are.
    #[must_use]
    pub fn len(&self) -> usize {
        locked(&self.entries).list.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What it has done so far.
    #[must_use]
    pub fn stats(&self) -> CacheStats {
        locked(&self.entries).stats
    }

    /// Forgets all programs.
    pub fn clear(&self) {
        let list = std::mem::take(&mut locked(&self.entries).list);
        // Dropped without the lock: what was compiled may ask this cache.
        drop(list);
    }

    /// The place of a function of a program: that of an equal one if there is one.
    pub fn find(&self, program: &Program, function: Name) -> Lookup<C> {
        self.find_hashed(program, function, hash(program, Mode::DataFlow))
    }

    fn find_hashed(&self, program: &Program, function: Name, hash: Hash128) -> Lookup<C> {
        let lookup = |slot| {
            let entries = self.entries.clone();
            Lookup { hash, slot: Some(slot), capacity: self.capacity, entries }
        };
        // Those that were compared and are others.
        let mut others: Vec<Slot<C>> = Vec::new();
        loop {
            let mut entries = locked(&self.entries);
            let candidate = entries.list.iter().find(|entry| {
                entry.hash == hash
                    && entry.function == function
                    && !others.iter().any(|other| Arc::ptr_eq(other, &entry.slot))
            });
            let Some(candidate) = candidate else {
                let slot = Slot::<C>::default();
                let program = program.clone();
                entries.list.push(Entry { hash, function, program, slot: slot.clone() });
                return lookup(slot);
            };
            let (known, slot) = (candidate.program.clone(), candidate.slot.clone());
            drop(entries);
            // A comparison may take long: others need not wait for it.
            if !is_same(&known, program) {
                others.push(slot);
                continue;
            }
            let mut entries = locked(&self.entries);
            if let Some(at) = entries.list.iter().position(|e| Arc::ptr_eq(&e.slot, &slot)) {
                let entry = entries.list.remove(at);
                entries.list.push(entry);
            }
            drop(entries);
            return lookup(slot);
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

// What was compiled there; `None` while somebody is at it. One that panicked is not.
fn unless_locked<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

// Programs that share all functions need no comparison. Ops of one name may compute different things in two registries.
fn is_same(a: &Program, b: &Program) -> bool {
    let (left, right) = (a.functions(), b.functions());
    if left.len() != right.len() {
        return false;
    }
    let mut pairs = left.iter().zip(right);
    if pairs.clone().all(|(f, g)| Arc::ptr_eq(f, g)) {
        return true;
    }
    pairs.all(|(f, g)| Arc::ptr_eq(f.registry(), g.registry())) && equal(a, b, Mode::DataFlow)
}

/// The place of a program in a cache.
pub struct Lookup<C> {
    hash: Hash128,
    // Taken when this is dropped.
    slot: Option<Slot<C>>,
    capacity: usize,
    entries: Arc<Mutex<Entries<C>>>,
}

impl<C> Lookup<C> {
    /// The structural hash of the program.
    #[must_use]
    pub fn hash(&self) -> Hash128 {
        self.hash
    }

    /// Whether it is compiled already.
    #[must_use]
    pub fn is_compiled(&self) -> bool {
        self.slot().is_some()
    }

    /// What was compiled, now if it was not before. If that fails the next one tries again, and nothing else is
    /// forgotten for it.
    ///
    /// # Errors
    /// If it cannot be compiled.
    pub fn get_or_compile<E>(&self, compile: impl FnOnce() -> Result<C, E>) -> Result<Arc<C>, E> {
        let mut slot = self.slot();
        if let Some(compiled) = &*slot {
            locked(&self.entries).stats.hits += 1;
            return Ok(compiled.clone());
        }
        let compiled = Arc::new(compile()?);
        *slot = Some(compiled.clone());
        drop(slot);
        let mut entries = locked(&self.entries);
        entries.stats.misses += 1;
        let evicted = entries.make_room(self.capacity);
        drop(entries);
        drop(evicted);
        Ok(compiled)
    }

    fn slot(&self) -> MutexGuard<'_, Option<Arc<C>>> {
        let slot = self.slot.as_ref();
        locked(slot.expect("it is there until this is dropped"))
    }
}

impl<C> Entries<C> {
    // Takes out those that were not asked for the longest, as many as there are too many.
    fn make_room(&mut self, capacity: usize) -> Vec<Entry<C>> {
        // One that is being compiled, or never will be, is not counted.
        let compiled = |entry: &Entry<C>| unless_locked(&entry.slot).is_some_and(|c| c.is_some());
        let kept = self.list.iter().filter(|entry| compiled(entry)).count();
        let mut evicted = Vec::new();
        for _ in capacity..kept {
            let Some(at) = self.list.iter().position(compiled) else { break };
            evicted.push(self.list.remove(at));
            self.stats.evictions += 1;
        }
        evicted
    }
}

impl<C> Drop for Lookup<C> {
    // What was never compiled leaves no trace, unless somebody else is at it.
    fn drop(&mut self) {
        let Some(slot) = self.slot.take() else { return };
        // Locked, it is being compiled.
        if unless_locked(&slot).is_none_or(|compiled| compiled.is_some()) {
            return;
        }
        let mut entries = locked(&self.entries);
        let at = entries.list.iter().position(|entry| Arc::ptr_eq(&entry.slot, &slot));
        drop(slot);
        let unused = at.filter(|&at| {
            let slot = &entries.list[at].slot;
            Arc::strong_count(slot) == 1 && locked(slot).is_none()
        });
        let removed = unused.map(|at| entries.list.remove(at));
        drop(entries);
        drop(removed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(op: &str) -> Program {
        let text =
            format!("ptir 1 func @f(%x: f32[]) -> f32[] {{ %y = {op} %x : f32[] return %y }}");
        sapwood_ptir::parse(&text).unwrap()
    }

    #[test]
    fn programs_of_one_hash_are_told_apart() {
        let cache = ProgramCache::<&str>::default();
        let (exp, neg) = (program("exp"), program("neg"));
        let clash = hash(&exp, Mode::DataFlow);
        let f = Name::new("f");
        let compiled = |program: &Program, what: &'static str| {
            let found = cache.find_hashed(program, f, clash);
            *found.get_or_compile(|| Ok::<_, ()>(what)).unwrap()
        };
        assert_eq!(compiled(&exp, "exp"), "exp");
        assert_eq!(compiled(&neg, "neg"), "neg");
        assert_eq!(compiled(&program("exp"), "again"), "exp");
        assert_eq!(compiled(&program("neg"), "again"), "neg");
        assert_eq!(cache.stats(), CacheStats { hits: 2, misses: 2, evictions: 0 });
    }

    #[test]
    fn what_was_not_asked_for_the_longest_is_forgotten() {
        let cache = ProgramCache::<()>::with_capacity(2);
        let f = Name::new("f");
        let hit = |op: &str| {
            let found = cache.find(&program(op), f);
            let hit = found.is_compiled();
            found.get_or_compile(|| Ok::<_, ()>(())).unwrap();
            hit
        };
        assert!(!hit("exp") && !hit("neg") && hit("exp"));
        assert!(!hit("abs"), "the third");
        assert!(hit("exp"), "asked for after neg");
        assert!(!hit("neg"), "forgotten");
        assert_eq!(cache.len(), 2);
        assert_eq!(cache.stats(), CacheStats { hits: 2, misses: 4, evictions: 2 });
    }

    #[test]
    fn a_failure_is_not_kept() {
        let cache = ProgramCache::<u8>::default();
        let found = cache.find(&program("exp"), Name::new("f"));
        assert_eq!(found.get_or_compile(|| Err("no")), Err("no"));
        assert!(!found.is_compiled());
        assert_eq!(found.get_or_compile(|| Ok::<_, ()>(1)).as_deref(), Ok(&1));
    }

    #[test]
    fn a_failure_pushes_nothing_out() {
        let cache = ProgramCache::<u8>::with_capacity(1);
        let f = Name::new("f");
        cache.find(&program("exp"), f).get_or_compile(|| Ok::<_, ()>(1)).unwrap();
        for _ in 0..2 {
            let failed = cache.find(&program("neg"), f).get_or_compile(|| Err("no"));
            assert_eq!(failed, Err("no"));
        }
        assert!(cache.find(&program("exp"), f).is_compiled());
        assert_eq!(cache.len(), 1);
        assert_eq!(cache.stats(), CacheStats { hits: 0, misses: 1, evictions: 0 });
        cache.clear();
        assert!(cache.is_empty());
    }

    #[test]
    fn a_panic_leaves_nothing() {
        let cache = ProgramCache::<u8>::default();
        let f = Name::new("f");
        let compile = || -> Result<u8, ()> { panic!("on purpose") };
        let found = cache.find(&program("exp"), f);
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            found.get_or_compile(compile).is_ok()
        }));
        assert!(caught.is_err());
        drop(found);
        assert!(cache.is_empty());
        let again = cache.find(&program("exp"), f);
        assert_eq!(again.get_or_compile(|| Ok::<_, ()>(1)).as_deref(), Ok(&1));
    }

    #[test]
    fn what_is_looked_for_by_two_is_one() {
        let cache = ProgramCache::<u8>::default();
        let f = Name::new("f");
        let (one, other) = (cache.find(&program("exp"), f), cache.find(&program("exp"), f));
        assert_eq!(cache.len(), 1);
        drop(one);
        assert_eq!(cache.len(), 1, "the other is still at it");
        assert_eq!(other.get_or_compile(|| Ok::<_, ()>(1)).as_deref(), Ok(&1));
        drop(other);
        assert!(cache.find(&program("exp"), f).is_compiled());
    }

    #[test]
    fn what_is_forgotten_may_ask_the_cache() {
        struct Asks(Arc<ProgramCache<Asks>>);
        impl Drop for Asks {
            fn drop(&mut self) {
                assert!(self.0.len() <= 1);
            }
        }
        let cache = Arc::new(ProgramCache::with_capacity(1));
        for op in ["exp", "neg", "abs"] {
            let found = cache.find(&program(op), Name::new("f"));
            found.get_or_compile(|| Ok::<_, ()>(Asks(cache.clone()))).unwrap();
        }
        assert_eq!(cache.stats().evictions, 2);
        cache.clear();
    }
}
