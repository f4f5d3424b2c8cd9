//! Compiled programs, found again by structure.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sapwood_ptir::structural::{Mode, equal, hash};
use sapwood_ptir::{Name, Program};
use sapwood_structural::Hash128;

/// How many programs are kept unless said otherwise.
pub const DEFAULT_CAPACITY: usize = 256;

/// Compiled programs by their structure: up to renaming and the order of independent instructions. Found by a hash of
/// 128 bits and confirmed by comparison, so that two programs are never taken for one. Of more programs than it has room
/// for it forgets the one that was not asked for the longest.
pub struct ProgramCache<C> {
    capacity: usize,
    entries: Mutex<Entries<C>>,
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
    /// How often an equal program was there.
    pub hits: u64,
    /// How often none was.
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
        Self { capacity: capacity.max(1), entries: Mutex::new(entries) }
    }

    /// How many programs there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries().list.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What it has done so far.
    #[must_use]
    pub fn stats(&self) -> CacheStats {
        self.entries().stats
    }

    /// The place of a function of a program: that of an equal one if there is one.
    pub fn find(&self, program: &Program, function: Name) -> Lookup<C> {
        self.find_hashed(program, function, hash(program, Mode::DataFlow))
    }

    fn find_hashed(&self, program: &Program, function: Name, hash: Hash128) -> Lookup<C> {
        let mut entries = self.entries();
        let same = |entry: &Entry<C>| {
            entry.hash == hash && entry.function == function && is_same(&entry.program, program)
        };
        if let Some(at) = entries.list.iter().position(same) {
            entries.stats.hits += 1;
            let entry = entries.list.remove(at);
            let slot = entry.slot.clone();
            entries.list.push(entry);
            return Lookup { hash, slot };
        }
        entries.stats.misses += 1;
        if entries.list.len() == self.capacity {
            entries.list.remove(0);
            entries.stats.evictions += 1;
        }
        let slot = Slot::<C>::default();
        let program = program.clone();
        entries.list.push(Entry { hash, function, program, slot: slot.clone() });
        Lookup { hash, slot }
    }

    fn entries(&self) -> MutexGuard<'_, Entries<C>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// Programs that share all functions need no comparison.
fn is_same(a: &Program, b: &Program) -> bool {
    let (left, right) = (a.functions(), b.functions());
    let shared =
        left.len() == right.len() && left.iter().zip(right).all(|(f, g)| Arc::ptr_eq(f, g));
    shared || equal(a, b, Mode::DataFlow)
}

/// The place of a program in a cache.
pub struct Lookup<C> {
    hash: Hash128,
    slot: Slot<C>,
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

    /// What was compiled, now if it was not before. If that fails the next one tries again.
    ///
    /// # Errors
    /// If it cannot be compiled.
    pub fn get_or_compile<E>(&self, compile: impl FnOnce() -> Result<C, E>) -> Result<Arc<C>, E> {
        let mut slot = self.slot();
        if let Some(compiled) = &*slot {
            return Ok(compiled.clone());
        }
        let compiled = Arc::new(compile()?);
        *slot = Some(compiled.clone());
        Ok(compiled)
    }

    fn slot(&self) -> MutexGuard<'_, Option<Arc<C>>> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
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
}
