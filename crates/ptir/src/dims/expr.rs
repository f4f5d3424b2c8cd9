//! The normal form of dim expressions, and its interner.

use std::cmp::Ordering;
use std::hash::{BuildHasher, BuildHasherDefault, Hash, Hasher};
use std::sync::{PoisonError, RwLock, RwLockWriteGuard};

use hashbrown::HashTable;
use rustc_hash::FxHasher;
use smallvec::SmallVec;

use crate::name::Name;

/// The largest number of monomials of an expression, its constant not counted.
pub const MAX_MONOMIALS: usize = 64;

/// The deepest nesting of `floordiv`, `mod`, `min` and `max`.
pub const MAX_DEPTH: u8 = 8;

/// The largest number of variables of an expression, those inside of its `floordiv`, `mod`, `min` and `max` included. It
/// bounds the time that every operation takes.
pub const MAX_WEIGHT: u32 = 256;

/// The largest number of different expressions in a process. They are never freed, and each takes about 100 bytes.
pub const MAX_EXPRESSIONS: usize = 1 << 20;

// The largest number of factors of a monomial: `?S*?S` has two.
const MAX_FACTORS: usize = 16;

/// An interned integer expression over symbols, in normal form.
///
/// Comparing two expressions with `==` compares two pointers. The order is by content: it is the same in every process.
#[derive(Clone, Copy)]
pub struct DimExpr(&'static Interned);

/// An interned sum with its size.
pub(crate) struct Interned {
    sum: Sum,
    hash: u64,
    depth: u8,
    weight: u32,
}

/// A sum of monomials and a constant.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub(super) struct Sum {
    pub(super) constant: i64,
    // Sorted by factors; no coefficient is zero.
    pub(super) terms: SmallVec<[Term; 4]>,
}

/// A monomial with its coefficient.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct Term {
    pub(super) coefficient: i64,
    pub(super) factors: Factors,
}

// Atoms are copied at once; the list would clone them one by one.
impl Clone for Term {
    #[inline]
    fn clone(&self) -> Self {
        self.with_coefficient(self.coefficient)
    }
}

impl Term {
    /// Returns the monomial with another coefficient.
    #[inline]
    pub(super) fn with_coefficient(&self, coefficient: i64) -> Self {
        Self { coefficient, factors: Factors::from_slice(&self.factors) }
    }
}

/// The factors of a monomial, sorted. A power is a repeated factor.
pub(super) type Factors = SmallVec<[Atom; 2]>;

/// A variable of the polynomial.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Atom {
    Symbol(Symbol),
    /// The quotient by a divisor of at least two, rounded down.
    FloorDiv(DimExpr, i64),
    /// The expression if it is positive, or zero.
    Positive(DimExpr),
}

/// A symbol with its text, so that ordering needs no look-up.
#[derive(Clone, Copy)]
pub(super) struct Symbol {
    pub(super) name: Name,
    pub(super) text: &'static str,
}

impl Symbol {
    pub(super) fn new(name: Name) -> Self {
        Self { name, text: name.as_str() }
    }
}

impl PartialEq for Symbol {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Symbol {}

impl Hash for Symbol {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl Atom {
    // Returns how deeply the atom is nested, and its number of variables.
    fn size(self) -> (u8, u32) {
        match self {
            Self::Symbol(_) => (0, 1),
            Self::FloorDiv(inner, _) | Self::Positive(inner) => {
                (inner.0.depth + 1, inner.0.weight + 1)
            }
        }
    }
}

impl Ord for Atom {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Symbol(a), Self::Symbol(b)) if a == b => Ordering::Equal,
            (Self::Symbol(a), Self::Symbol(b)) => a.text.cmp(b.text),
            (Self::Symbol(_), _) => Ordering::Less,
            (_, Self::Symbol(_)) => Ordering::Greater,
            (Self::FloorDiv(a, d), Self::FloorDiv(b, e)) => a.cmp(b).then(d.cmp(e)),
            (Self::FloorDiv(..), Self::Positive(_)) => Ordering::Less,
            (Self::Positive(_), Self::FloorDiv(..)) => Ordering::Greater,
            (Self::Positive(a), Self::Positive(b)) => a.cmp(b),
        }
    }
}

impl PartialOrd for Atom {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Sum {
    pub(super) fn constant(constant: i64) -> Self {
        Self { constant, terms: SmallVec::new() }
    }

    pub(super) fn atom(atom: Atom) -> Self {
        let factors = Factors::from_slice(&[atom]);
        Self { constant: 0, terms: smallvec::smallvec![Term { coefficient: 1, factors }] }
    }

    /// Returns the number of summands that text would have.
    pub(super) fn len(&self) -> usize {
        self.terms.len() + usize::from(self.constant != 0)
    }

    /// Returns whether no factor is a `floordiv` or a positive part.
    pub(super) fn has_only_symbols(&self) -> bool {
        let mut atoms = self.terms.iter().flat_map(|term| &term.factors);
        atoms.all(|atom| matches!(atom, Atom::Symbol(_)))
    }

    /// Returns the only factor, if the sum is one term with coefficient one and one factor, plus a constant.
    pub(super) fn single_atom(&self) -> Option<Atom> {
        match &self.terms[..] {
            [Term { coefficient: 1, factors }] if factors.len() == 1 => Some(factors[0]),
            _ => None,
        }
    }

    /// Interns the sum. Returns `None` if it is larger than the limits allow, or if there are too many expressions.
    pub(super) fn intern(self) -> Option<DimExpr> {
        let (mut depth, mut weight) = (0, 0);
        for atom in self.terms.iter().flat_map(|term| &term.factors) {
            let (atom_depth, atom_weight) = atom.size();
            depth = depth.max(atom_depth);
            weight += atom_weight;
        }
        let too_large = self.terms.len() > MAX_MONOMIALS
            || self.terms.iter().any(|term| term.factors.len() > MAX_FACTORS)
            || depth > MAX_DEPTH
            || weight > MAX_WEIGHT;
        if too_large {
            return None;
        }
        let hash = BuildHasherDefault::<FxHasher>::default().hash_one(&self);
        let table = TABLE.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = table.find(hash, |known| known.sum == self) {
            return Some(DimExpr(found));
        }
        drop(table);
        let mut table = hold();
        if let Some(found) = table.find(hash, |known| known.sum == self) {
            return Some(DimExpr(found));
        }
        if table.len() >= MAX_EXPRESSIONS {
            return None;
        }
        let interned: &'static Interned =
            Box::leak(Box::new(Interned { sum: self, hash, depth, weight }));
        table.insert_unique(hash, interned, |known| known.hash);
        Some(DimExpr(interned))
    }
}

static TABLE: RwLock<HashTable<&'static Interned>> = RwLock::new(HashTable::new());

/// Locks the interner.
pub(crate) fn hold() -> RwLockWriteGuard<'static, HashTable<&'static Interned>> {
    TABLE.write().unwrap_or_else(PoisonError::into_inner)
}

impl DimExpr {
    /// Returns the expression that is a symbol, or `None` if there are too many expressions.
    #[must_use]
    pub fn symbol(name: Name) -> Option<Self> {
        Sum::atom(Atom::Symbol(Symbol::new(name))).intern()
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
    pub fn symbols(self) -> Vec<Name> {
        let (mut found, mut pending) = (Vec::new(), vec![self]);
        while let Some(expr) = pending.pop() {
            for &atom in expr.0.sum.terms.iter().flat_map(|term| &term.factors) {
                match atom {
                    Atom::Symbol(symbol) => found.push(symbol),
                    Atom::FloorDiv(inner, _) | Atom::Positive(inner) => pending.push(inner),
                }
            }
        }
        found.sort_unstable_by_key(|symbol| symbol.text);
        found.dedup();
        found.into_iter().map(|symbol| symbol.name).collect()
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
        let key = |sum: &'static Sum| sum.terms.iter().map(|t| (&t.factors, t.coefficient));
        key(self.sum()).cmp(key(other.sum())).then(self.sum().constant.cmp(&other.sum().constant))
    }
}

impl PartialOrd for DimExpr {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
