//! The normal form of dim expressions, and its interner.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::sync::{PoisonError, RwLock, RwLockWriteGuard};

use hashbrown::HashTable;
use rustc_hash::FxHasher;
use smallvec::SmallVec;

use super::monomial::{Atom, Monomial, Symbol};
use super::recent::RecentEntries;
use crate::name::Name;

/// The largest number of monomials of an expression, its constant not counted.
pub const MAX_MONOMIALS: usize = 64;

/// The deepest nesting of `floordiv`, `mod`, `min` and `max`.
pub const MAX_DEPTH: u8 = 8;

/// The largest number of variables of an expression, those inside of its `floordiv`, `mod`, `min` and `max` included. It
/// bounds the time that every operation takes.
pub const MAX_WEIGHT: u32 = 256;

/// The largest number of different expressions in a process. They are never freed, and each takes about 200 bytes; the same number limits their monomials.
pub const MAX_EXPRESSIONS: usize = 1 << 20;

/// An interned integer expression over symbols, in normal form.
///
/// Comparing two expressions with `==` compares two pointers. The order is by content: it is the same in every process.
#[derive(Clone, Copy)]
pub struct DimExpr(&'static Interned);

/// An interned sum with its size.
pub(crate) struct Interned {
    sum: Sum,
    // Sorted by their text, each once.
    symbols: Box<[Name]>,
    hash: u64,
    depth: u8,
    weight: u32,
}

/// A sum of monomials and a constant.
#[derive(PartialEq, Eq, Default)]
pub(super) struct Sum {
    pub(super) constant: i64,
    // Sorted by factors; no coefficient is zero, and every term has a factor.
    pub(super) terms: Terms,
}

pub(super) type Terms = SmallVec<[Term; 4]>;

/// A monomial with its coefficient.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Term {
    pub(super) coefficient: i64,
    pub(super) factors: Monomial,
}

// Terms are copied at once; the list would clone them one by one.
impl Clone for Sum {
    fn clone(&self) -> Self {
        Self { constant: self.constant, terms: Terms::from_slice(&self.terms) }
    }
}

impl Sum {
    pub(super) fn constant(constant: i64) -> Self {
        Self { constant, terms: SmallVec::new() }
    }

    /// Returns a monomial with a coefficient, which is the constant if the monomial has no factors.
    pub(super) fn term(coefficient: i64, factors: Monomial) -> Self {
        let mut sum = Self::default();
        match factors.is_empty() {
            true => sum.constant = coefficient,
            false if coefficient == 0 => {}
            false => sum.terms.push(Term { coefficient, factors }),
        }
        sum
    }

    /// Returns an atom, or `None` if there are too many monomials.
    pub(super) fn atom(atom: Atom) -> Option<Self> {
        Some(Self::term(1, Monomial::of(&[atom])?))
    }

    /// Returns the number of summands that text would have.
    pub(super) fn len(&self) -> usize {
        self.terms.len() + usize::from(self.constant != 0)
    }

    /// Returns whether no factor is a `floordiv` or a positive part.
    pub(super) fn has_only_symbols(&self) -> bool {
        self.terms.iter().all(|term| term.factors.has_only_symbols())
    }

    /// Returns the only factor, if the sum is one term with coefficient one and one factor, plus a constant.
    pub(super) fn single_atom(&self) -> Option<Atom> {
        match &self.terms[..] {
            [Term { coefficient: 1, factors }] if factors.len() == 1 => Some(factors[0]),
            _ => None,
        }
    }

    // Returns a number that is the same for equal sums of this process.
    fn hash(&self) -> u64 {
        let mut hasher = FxHasher::default();
        hasher.write_i64(self.constant);
        for term in &self.terms {
            hasher.write_i64(term.coefficient);
            term.factors.hash(&mut hasher);
        }
        hasher.finish()
    }

    /// Interns the sum. Returns `None` if it is larger than the limits allow, or if there are too many expressions.
    pub(super) fn intern(self) -> Option<DimExpr> {
        let hash = self.hash();
        RECENT
            .with(|recent| recent.find(hash, |known| known.sum == self, || self.lookup(hash)))
            .map(DimExpr)
    }

    // Returns the entry of the table, and adds it if there is none.
    fn lookup(&self, hash: u64) -> Option<&'static Interned> {
        let is_same = |known: &&'static Interned| known.sum == *self;
        let table = TABLE.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = table.find(hash, is_same) {
            return Some(found);
        }
        drop(table);
        let (mut depth, mut weight) = (0, 0);
        for term in &self.terms {
            depth = depth.max(term.factors.depth());
            weight += term.factors.weight();
        }
        if self.terms.len() > MAX_MONOMIALS || depth > MAX_DEPTH || weight > MAX_WEIGHT {
            return None;
        }
        let symbols = symbols_of(self);
        let mut table = hold();
        if let Some(found) = table.find(hash, is_same) {
            return Some(found);
        }
        if table.len() >= MAX_EXPRESSIONS {
            return None;
        }
        let interned = Interned { sum: self.clone(), symbols, hash, depth, weight };
        let interned: &'static Interned = Box::leak(Box::new(interned));
        table.insert_unique(hash, interned, |known| known.hash);
        Some(interned)
    }
}

thread_local! {
    static RECENT: RecentEntries<Interned> = const { RecentEntries::new() };
}

static TABLE: RwLock<HashTable<&'static Interned>> = RwLock::new(HashTable::new());

/// Locks the interner.
pub(crate) fn hold() -> RwLockWriteGuard<'static, HashTable<&'static Interned>> {
    TABLE.write().unwrap_or_else(PoisonError::into_inner)
}

// Returns the symbols of a sum, sorted by their text, each once.
fn symbols_of(sum: &Sum) -> Box<[Name]> {
    let (mut found, mut names) = (Vec::new(), Vec::new());
    for &atom in sum.terms.iter().flat_map(|term| term.factors.iter()) {
        match atom {
            Atom::Symbol(symbol) => found.push(symbol),
            Atom::FloorDiv(inner, _) | Atom::Positive(inner) => names.extend(inner.symbols()),
        }
    }
    found.extend(names.into_iter().map(|&name| Symbol::new(name)));
    found.sort_unstable_by_key(|symbol| symbol.text);
    found.dedup();
    found.into_iter().map(|symbol| symbol.name).collect()
}

impl DimExpr {
    /// Returns the expression that is a symbol, or `None` if there are too many expressions.
    #[must_use]
    pub fn symbol(name: Name) -> Option<Self> {
        Sum::atom(Atom::Symbol(Symbol::new(name)))?.intern()
    }

    /// Returns the expression that is a number, or `None` if there are too many expressions.
    #[must_use]
    pub fn constant(number: i64) -> Option<Self> {
        Sum::constant(number).intern()
    }

    /// Returns the number, if the expression is one.
    #[must_use]
    pub fn as_constant(self) -> Option<i64> {
        self.0.sum.terms.is_empty().then_some(self.0.sum.constant)
    }

    /// Returns the symbol, if the expression is one.
    #[must_use]
    pub fn as_symbol(self) -> Option<Name> {
        match self.0.sum.single_atom() {
            Some(Atom::Symbol(symbol)) if self.0.sum.constant == 0 => Some(symbol.name),
            _ => None,
        }
    }

    /// Returns the symbols of the expression, sorted by their text, each once.
    #[must_use]
    pub fn symbols(self) -> &'static [Name] {
        &self.0.symbols
    }

    /// Returns the deepest nesting of `floordiv` and positive parts.
    pub(super) fn depth(self) -> u8 {
        self.0.depth
    }

    /// Returns the number of variables, those of nested expressions included.
    pub(super) fn weight(self) -> u32 {
        self.0.weight
    }

    /// Returns the constant of the expression, and its monomials with their coefficients. Returns `None` if there are too many expressions.
    #[must_use]
    pub fn monomials(self) -> Option<(i64, Vec<(i64, Self)>)> {
        let sum = self.sum();
        let monomial = |term: &Term| Some((term.coefficient, Sum::term(1, term.factors).intern()?));
        Some((sum.constant, sum.terms.iter().map(monomial).collect::<Option<_>>()?))
    }

    pub(super) fn sum(self) -> &'static Sum {
        &self.0.sum
    }
}

impl PartialEq for DimExpr {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for DimExpr {}

impl Hash for DimExpr {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::ptr::hash(self.0, state);
    }
}

impl Ord for DimExpr {
    fn cmp(&self, other: &Self) -> Ordering {
        if self == other {
            return Ordering::Equal;
        }
        let key = |sum: &'static Sum| sum.terms.iter().map(|t| (t.factors, t.coefficient));
        key(self.sum()).cmp(key(other.sum())).then(self.sum().constant.cmp(&other.sum().constant))
    }
}

impl PartialOrd for DimExpr {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
