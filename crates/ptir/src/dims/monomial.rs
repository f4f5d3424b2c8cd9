//! Interned monomials: products of symbols, quotients and positive parts.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::{PoisonError, RwLock, RwLockWriteGuard};

use hashbrown::HashTable;
use rustc_hash::FxHasher;
use smallvec::SmallVec;

use super::expr::{DimExpr, MAX_EXPRESSIONS};
use super::recent::RecentEntries;
use crate::name::Name;

// The largest number of factors of a monomial: `?S*?S` has two.
const MAX_FACTORS: usize = 16;

/// An interned product of variables, sorted. A power is a repeated factor.
///
/// Comparing two monomials with `==` compares two pointers. The order is by content, as that of expressions.
#[derive(Clone, Copy)]
pub(super) struct Monomial(&'static Product);

/// The factors of a monomial, with their size.
pub(crate) struct Product {
    factors: &'static [Atom],
    hash: u64,
    // Orders most monomials without their texts: the order of keys is that of monomials, unless the keys are equal.
    key: u64,
    weight: u32,
    depth: u8,
    has_only_symbols: bool,
}

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
                (inner.depth() + 1, inner.weight() + 1)
            }
        }
    }

    // Returns the kind of the atom in the highest byte, and below it the first bytes of the text of a symbol.
    fn key(self) -> u64 {
        match self {
            Self::Symbol(symbol) => {
                let bytes = symbol.text.as_bytes().iter().take(7);
                let text = bytes.fold((0, 48), |(key, shift): (u64, i32), &byte| {
                    (key | u64::from(byte) << shift, shift - 8)
                });
                text.0
            }
            Self::FloorDiv(..) => 1 << 56,
            Self::Positive(_) => 2 << 56,
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

impl Monomial {
    /// The product without factors.
    pub(super) const ONE: Self = Self(&ONE);

    /// Returns one of 64 bits, for sets that say of most monomials that they are not in a table, without a look-up.
    pub(super) fn bit(self, negative: bool) -> u64 {
        1 << ((self.0.hash ^ u64::from(negative)) % 64)
    }

    /// Returns the product of the factors, which are sorted. Returns `None` if there are too many of them, or too many monomials.
    pub(super) fn of(factors: &[Atom]) -> Option<Self> {
        if factors.is_empty() {
            return Some(Self::ONE);
        }
        if factors.len() > MAX_FACTORS {
            return None;
        }
        let mut hasher = FxHasher::default();
        factors.iter().for_each(|factor| factor.hash(&mut hasher));
        let hash = hasher.finish();
        let is_same = |known: &Product| *known.factors == *factors;
        RECENT.with(|recent| recent.find(hash, is_same, || lookup(factors, hash))).map(Self)
    }

    /// Returns the product of two monomials.
    pub(super) fn times(self, other: Self) -> Option<Self> {
        match (self.is_empty(), other.is_empty()) {
            (true, _) => return Some(other),
            (_, true) => return Some(self),
            _ => {}
        }
        if let ([a], [b]) = (&self[..], &other[..]) {
            return if a <= b { Self::of(&[*a, *b]) } else { Self::of(&[*b, *a]) };
        }
        let mut factors: SmallVec<[Atom; 4]> = SmallVec::from_slice(&self);
        factors.extend_from_slice(&other);
        factors.sort_unstable();
        Self::of(&factors)
    }

    /// Returns the monomial without one factor.
    pub(super) fn without(self, position: usize) -> Option<Self> {
        if self.len() == 1 {
            return Some(Self::ONE);
        }
        let mut factors: SmallVec<[Atom; 4]> = SmallVec::from_slice(&self);
        factors.remove(position);
        Self::of(&factors)
    }

    /// Returns the deepest nesting of the factors.
    pub(super) fn depth(self) -> u8 {
        self.0.depth
    }

    /// Returns the number of variables, those inside of factors included.
    pub(super) fn weight(self) -> u32 {
        self.0.weight
    }

    /// Returns whether no factor is a `floordiv` or a positive part. Then the monomial has all values from zero on, or the squares among them, and so on.
    pub(super) fn has_only_symbols(self) -> bool {
        self.0.has_only_symbols
    }
}

impl Product {
    fn new(factors: &[Atom], hash: u64) -> Self {
        let (mut depth, mut weight) = (0, 0);
        for atom in factors {
            let (atom_depth, atom_weight) = atom.size();
            depth = depth.max(atom_depth);
            weight += atom_weight;
        }
        let key = factors.first().map_or(0, |atom| atom.key());
        let has_only_symbols = factors.iter().all(|atom| matches!(atom, Atom::Symbol(_)));
        let factors = Box::leak(Box::from(factors));
        Self { factors, hash, key, weight, depth, has_only_symbols }
    }
}

static ONE: Product =
    Product { factors: &[], hash: 0, key: 0, weight: 0, depth: 0, has_only_symbols: true };

// Returns the entry of the table, and adds it if there is none.
fn lookup(factors: &[Atom], hash: u64) -> Option<&'static Product> {
    let is_same = |known: &&'static Product| *known.factors == *factors;
    let table = TABLE.read().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = table.find(hash, is_same) {
        return Some(found);
    }
    drop(table);
    let mut table = hold();
    if let Some(found) = table.find(hash, is_same) {
        return Some(found);
    }
    if table.len() >= MAX_EXPRESSIONS {
        return None;
    }
    let product: &'static Product = Box::leak(Box::new(Product::new(factors, hash)));
    table.insert_unique(hash, product, |known| known.hash);
    Some(product)
}

thread_local! {
    static RECENT: RecentEntries<Product> = const { RecentEntries::new() };
}

static TABLE: RwLock<HashTable<&'static Product>> = RwLock::new(HashTable::new());

/// Locks the table of monomials.
pub(crate) fn hold() -> RwLockWriteGuard<'static, HashTable<&'static Product>> {
    TABLE.write().unwrap_or_else(PoisonError::into_inner)
}

impl Deref for Monomial {
    type Target = [Atom];

    fn deref(&self) -> &'static [Atom] {
        self.0.factors
    }
}

impl PartialEq for Monomial {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Monomial {}

impl Hash for Monomial {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::ptr::hash(self.0, state);
    }
}

impl Ord for Monomial {
    fn cmp(&self, other: &Self) -> Ordering {
        if self == other {
            return Ordering::Equal;
        }
        self.0.key.cmp(&other.0.key).then_with(|| self.0.factors.cmp(other.0.factors))
    }
}

impl PartialOrd for Monomial {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
