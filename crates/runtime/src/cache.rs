//! A cache of compiled programs, keyed by structure.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use sapwood_ptir::structural::{Mode, equal, hash};
use sapwood_ptir::{Name, Program};
use sapwood_structural::Hash128;

/// The default number of programs in a cache.
const DEFAULT_PROGRAM_CAPACITY: usize = 256;

/// A cache of compiled programs, keyed by structure: up to renaming and the order of independent instructions, with the same op
/// registry. Lookups use a 128-bit hash and are confirmed by comparison, so two different programs are never confused. When the
/// cache is full, the least recently used program is evicted. The capacity counts programs, not bytes: cached programs keep
/// their literals, and compiled ones the memory of their tensors, up to the peak of a run, until the cache is [cleared](Self::clear).
pub struct ProgramCache<C> {
    capacity: usize,
    entries: Arc<Mutex<CacheEntries<C>>>,
}

struct CacheEntries<C> {
    // In the order of use, the most recently used last.
    list: Vec<CacheEntry<C>>,
    stats: CacheStats,
}

struct CacheEntry<C> {
    hash: Hash128,
    function: Name,
    program: Program,
    slot: CompiledSlot<C>,
}

// Locked during compilation, so that a program is not compiled twice at the same time.
type CompiledSlot<C> = Arc<Mutex<Option<Arc<C>>>>;

/// The counters of a cache.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct CacheStats {
    /// The number of lookups that found a compiled program.
    pub hits: u64,
    /// The number of programs that were compiled.
    pub misses: u64,
    /// The number of programs that were evicted.
    pub evictions: u64,
}

impl<C> Default for ProgramCache<C> {
    fn default() -> Self {
        Self::with_capacity(DEFAULT_PROGRAM_CAPACITY)
    }
}

impl<C> ProgramCache<C> {
    /// Returns a cache for this number of programs, at least one.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        let entries = CacheEntries { list: Vec::new(), stats: CacheStats::default() };
        Self { capacity: capacity.max(1), entries: Arc::new(Mutex::new(entries)) }
    }

    /// Returns the number of programs.
    #[must_use]
    pub fn len(&self) -> usize {
        lock(&self.entries).list.len()
    }

    /// Returns whether the cache is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the counters.
    #[must_use]
    pub fn stats(&self) -> CacheStats {
        lock(&self.entries).stats
    }

    /// Removes all programs.
    pub fn clear(&self) {
        let list = std::mem::take(&mut lock(&self.entries).list);
        // Dropped without the lock, because dropping a compiled program may call this cache.
        drop(list);
    }

    /// Returns the entry of a function of a program, which is shared with equal programs.
    pub fn find(&self, program: &Program, function: Name) -> CacheLookup<C> {
        self.find_hashed(program, function, hash(program, Mode::DataFlow))
    }

    fn find_hashed(&self, program: &Program, function: Name, hash: Hash128) -> CacheLookup<C> {
        let lookup = |slot| {
            let entries = self.entries.clone();
            CacheLookup { hash, slot: Some(slot), capacity: self.capacity, entries }
        };
        // The slots of programs that were compared and differ.
        let mut others: Vec<CompiledSlot<C>> = Vec::new();
        loop {
            let mut entries = lock(&self.entries);
            let candidate = entries.list.iter().find(|entry| {
                entry.hash == hash
                    && entry.function == function
                    && !others.iter().any(|other| Arc::ptr_eq(other, &entry.slot))
            });
            let Some(candidate) = candidate else {
                let slot = CompiledSlot::<C>::default();
                let program = program.clone();
                entries.list.push(CacheEntry { hash, function, program, slot: slot.clone() });
                return lookup(slot);
            };
            let (known, slot) = (candidate.program.clone(), candidate.slot.clone());
            drop(entries);
            // A comparison may take long, so the lock is released.
            if !are_equal_programs(&known, program) {
                others.push(slot);
                continue;
            }
            let mut entries = lock(&self.entries);
            if let Some(at) = entries.list.iter().position(|e| Arc::ptr_eq(&e.slot, &slot)) {
                let entry = entries.list.remove(at);
                entries.list.push(entry);
            }
            drop(entries);
            return lookup(slot);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

// Locks a slot; `None` while another thread compiles. A slot whose compilation panicked counts as unlocked.
fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

// Compares two programs. Programs that share all functions need no comparison. An op name may mean different things in two registries.
fn are_equal_programs(a: &Program, b: &Program) -> bool {
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

/// An entry of a program in a cache.
pub struct CacheLookup<C> {
    hash: Hash128,
    // `None` only while this is dropped.
    slot: Option<CompiledSlot<C>>,
    capacity: usize,
    entries: Arc<Mutex<CacheEntries<C>>>,
}

impl<C> CacheLookup<C> {
    /// The structural hash of the program.
    #[must_use]
    pub fn hash(&self) -> Hash128 {
        self.hash
    }

    /// Returns whether the program is compiled already.
    #[must_use]
    pub fn is_compiled(&self) -> bool {
        self.slot().is_some()
    }

    /// Returns the compiled program, and compiles it if needed. After a failure, the next caller tries again, and no other program is
    /// evicted.
    ///
    /// # Errors
    /// If the program cannot be compiled.
    pub fn get_or_compile<E>(&self, compile: impl FnOnce() -> Result<C, E>) -> Result<Arc<C>, E> {
        let mut slot = self.slot();
        if let Some(compiled) = &*slot {
            lock(&self.entries).stats.hits += 1;
            return Ok(compiled.clone());
        }
        let compiled = Arc::new(compile()?);
        *slot = Some(compiled.clone());
        drop(slot);
        let mut entries = lock(&self.entries);
        entries.stats.misses += 1;
        let evicted = entries.evict_excess(self.capacity);
        drop(entries);
        drop(evicted);
        Ok(compiled)
    }

    fn slot(&self) -> MutexGuard<'_, Option<Arc<C>>> {
        let slot = self.slot.as_ref();
        lock(slot.expect("it is there until this is dropped"))
    }
}

impl<C> CacheEntries<C> {
    // Removes the least recently used programs beyond the capacity.
    fn evict_excess(&mut self, capacity: usize) -> Vec<CacheEntry<C>> {
        // Programs that are being compiled, or failed to compile, are not counted.
        let compiled = |entry: &CacheEntry<C>| try_lock(&entry.slot).is_some_and(|c| c.is_some());
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

impl<C> Drop for CacheLookup<C> {
    // Removes an entry that was never compiled, unless another lookup holds it.
    fn drop(&mut self) {
        let Some(slot) = self.slot.take() else { return };
        // A locked slot is being compiled.
        if try_lock(&slot).is_none_or(|compiled| compiled.is_some()) {
            return;
        }
        let mut entries = lock(&self.entries);
        let at = entries.list.iter().position(|entry| Arc::ptr_eq(&entry.slot, &slot));
        drop(slot);
        let unused = at.filter(|&at| {
            let slot = &entries.list[at].slot;
            Arc::strong_count(slot) == 1 && lock(slot).is_none()
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
    fn programs_with_equal_hashes_are_distinguished() {
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
    fn the_least_recently_used_program_is_evicted() {
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
        assert!(hit("exp"), "used after neg");
        assert!(!hit("neg"), "evicted");
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
    fn two_lookups_of_one_program_share_an_entry() {
        let cache = ProgramCache::<u8>::default();
        let f = Name::new("f");
        let (one, other) = (cache.find(&program("exp"), f), cache.find(&program("exp"), f));
        assert_eq!(cache.len(), 1);
        drop(one);
        assert_eq!(cache.len(), 1, "the other lookup still holds it");
        assert_eq!(other.get_or_compile(|| Ok::<_, ()>(1)).as_deref(), Ok(&1));
        drop(other);
        assert!(cache.find(&program("exp"), f).is_compiled());
    }

    #[test]
    fn dropping_an_evicted_program_may_call_the_cache() {
        struct CallsCacheOnDrop(Arc<ProgramCache<CallsCacheOnDrop>>);
        impl Drop for CallsCacheOnDrop {
            fn drop(&mut self) {
                assert!(self.0.len() <= 1);
            }
        }
        let cache = Arc::new(ProgramCache::with_capacity(1));
        for op in ["exp", "neg", "abs"] {
            let found = cache.find(&program(op), Name::new("f"));
            found.get_or_compile(|| Ok::<_, ()>(CallsCacheOnDrop(cache.clone()))).unwrap();
        }
        assert_eq!(cache.stats().evictions, 2);
        cache.clear();
    }
}
