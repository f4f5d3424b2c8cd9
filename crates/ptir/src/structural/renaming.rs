//! The equivalence of the comparisons that programs ask for: equal up to renaming of values and named dims.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::equivalence::{Equivalence, has_same_attrs};
use super::scope::{Scope, ScopeMembership};
use crate::attr::Attr;
use crate::dims::{DimExpr, Relation, binding_order};
use crate::func::Function;
use crate::ids::{InstId, ValueId};
use crate::name::Name;
use crate::types::{Dim, ValueType};

/// Equality up to renaming. Across two functions, values from outside and named dims are paired one to one; within
/// one function they are only equal to themselves.
pub(super) struct Renaming<'a> {
    a: &'a Function,
    b: &'a Function,
    // True if both sides are parts of one function.
    same_function: bool,
    inside: (ScopeMembership, ScopeMembership),
    dims: Bijection<Name>,
    outside: Bijection<ValueId>,
    // The positions of symbols in the order in which the parameters of both functions bind them. Computed when they are first needed.
    binding_orders: Option<(BindingPositions, BindingPositions)>,
}

type BindingPositions = HashMap<Name, usize, FxBuildHasher>;

/// A bijection that is extended pair by pair.
struct Bijection<T> {
    to: HashMap<T, T, FxBuildHasher>,
    from: HashMap<T, T, FxBuildHasher>,
}

impl<T: Copy + Eq + std::hash::Hash> Bijection<T> {
    fn new() -> Self {
        Self { to: HashMap::default(), from: HashMap::default() }
    }

    // Pairs two elements unless either is already paired. Returns whether they are now each other's counterparts.
    fn pair(&mut self, x: T, y: T) -> bool {
        *self.to.entry(x).or_insert(y) == y && *self.from.entry(y).or_insert(x) == x
    }
}

impl<'a> Renaming<'a> {
    pub(super) fn new((a, left): (&'a Function, Scope), (b, right): (&'a Function, Scope)) -> Self {
        let whole = left.is_whole_function(a) && right.is_whole_function(b);
        Self {
            a,
            b,
            same_function: std::ptr::eq(a, b) && !whole,
            inside: (ScopeMembership::new(a, left), ScopeMembership::new(b, right)),
            dims: Bijection::new(),
            outside: Bijection::new(),
            binding_orders: None,
        }
    }

    /// Returns whether two types are equal up to renaming of dims.
    pub(super) fn types_match(&mut self, x: &ValueType, y: &ValueType) -> bool {
        match (x, y) {
            (ValueType::Tensor(x), ValueType::Tensor(y)) => {
                x.dtype == y.dtype
                    && x.rank() == y.rank()
                    && x.dims.iter().zip(&y.dims).all(|(&d, &e)| match (d, e) {
                        (Dim::Expr(d), Dim::Expr(e)) if !self.same_function => {
                            self.exprs_match(d, e)
                        }
                        _ => d == e,
                    })
            }
            (ValueType::Tuple(x), ValueType::Tuple(y)) => {
                x.len() == y.len() && x.iter().zip(y.iter()).all(|(x, y)| self.types_match(x, y))
            }
            (ValueType::Token, ValueType::Token) | (ValueType::Opaque, ValueType::Opaque) => true,
            _ => false,
        }
    }

    /// Returns whether two relations are equal up to renaming of symbols.
    pub(super) fn relations_match(&mut self, x: Relation, y: Relation) -> bool {
        x.equation == y.equation && self.exprs_match(x.expr, y.expr)
    }

    // Returns whether two attributes are equal up to renaming of symbols.
    fn attrs_match(&mut self, x: &Attr, y: &Attr) -> bool {
        match (x, y) {
            (Attr::Dim(x), Attr::Dim(y)) => self.exprs_match(*x, *y),
            (Attr::List(x), Attr::List(y)) => {
                x.len() == y.len() && x.iter().zip(y.iter()).all(|(x, y)| self.attrs_match(x, y))
            }
            (Attr::Dict(x), Attr::Dict(y)) => {
                let mut pairs = x.iter().zip(y.iter());
                x.len() == y.len() && pairs.all(|(x, y)| x.0 == y.0 && self.attrs_match(&x.1, &y.1))
            }
            _ => x == y,
        }
    }

    // Returns whether two expressions are equal up to renaming of symbols. Symbols that are not paired yet are paired in the order in which the
    // parameters bind them.
    fn exprs_match(&mut self, x: DimExpr, y: DimExpr) -> bool {
        if let (Some(d), Some(e)) = (x.as_symbol(), y.as_symbol()) {
            return self.dims.pair(d, e);
        }
        let (left, right) = (x.symbols().iter().copied(), y.symbols().iter().copied());
        let mut left: Vec<Name> = left.filter(|n| !self.dims.to.contains_key(n)).collect();
        let mut right: Vec<Name> = right.filter(|n| !self.dims.from.contains_key(n)).collect();
        if left.len() != right.len() {
            return false;
        }
        if left.len() > 1 {
            let (a, b) = self.binding_orders.get_or_insert_with(|| {
                [self.a, self.b]
                    .map(|f| {
                        let params = f.params().iter().map(|&param| f.value_type(param));
                        binding_order(params, |_| false).into_iter().zip(0..).collect()
                    })
                    .into()
            });
            left.sort_by_key(|name| a.get(name));
            right.sort_by_key(|name| b.get(name));
        }
        let paired = left.into_iter().zip(right).all(|(d, e)| self.dims.pair(d, e));
        paired && x.renamed(&mut |name| self.dims.to.get(&name).copied()) == Some(y)
    }
}

impl Equivalence for Renaming<'_> {
    fn same_attrs(&mut self, x: InstId, y: InstId) -> bool {
        let (left, right) = (self.a.attrs(x), self.b.attrs(y));
        if self.same_function || !left.iter().any(Attr::has_symbols) {
            return has_same_attrs(self.a, x, self.b, y);
        }
        // Attributes with symbols have no default, so that the others can be compared as they are.
        let (left, right) = (left.clone(), right.clone());
        left.len() == right.len()
            && left.iter().zip(right.iter()).all(|(x, y)| self.attrs_match(x, y))
    }

    fn same_type(&mut self, u: ValueId, v: ValueId) -> bool {
        self.types_match(self.a.value_type(u), self.b.value_type(v))
    }

    fn same_outside(&mut self, u: ValueId, v: ValueId) -> bool {
        if self.inside.0.contains(self.a, u) || self.inside.1.contains(self.b, v) {
            return false;
        }
        if self.same_function { u == v } else { self.same_type(u, v) && self.outside.pair(u, v) }
    }

    fn may_swap(&self, _: InstId) -> bool {
        false
    }
}
