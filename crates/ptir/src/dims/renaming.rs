//! Expressions up to renaming of symbols: renamed copies, and a hash that does not depend on names.

use sapwood_structural::{Hash128, Mixer};

use super::dim::Dim;
use super::expr::{DimExpr, Sum};
use super::monomial::Atom;
use crate::name::Name;

const TAG_EXPRESSION: u64 = 0x0064_696d;

impl DimExpr {
    /// Returns a hash that depends on symbols only by their numbers. Symbols without a number are not distinguished.
    ///
    /// The order of monomials, and the sign of the argument of a `max`, depend on the names of symbols. Therefore the expression is renamed
    /// first: its symbols get names that are ordered as their numbers are.
    pub(crate) fn hash_by_number(self, number: &dyn Fn(Name) -> Option<u64>) -> Hash128 {
        let numbered = |name: Name| match number(name) {
            Some(number) => Name::new(&format!("{number:08}")),
            None => Name::new("~"),
        };
        let renamed = self.renamed(&mut |name| Some(numbered(name)));
        let start = Mixer::new(TAG_EXPRESSION);
        renamed.map_or(start, |expr| mix_sum(start, expr.sum())).finish()
    }

    /// Returns the expression with other symbols. Returns `None` if a symbol has no other, or if the result is too large.
    pub(crate) fn renamed(self, rename: &mut dyn FnMut(Name) -> Option<Name>) -> Option<Self> {
        let other = |name: Name| rename(name).map_or(Dim::Unknown, Dim::symbol);
        Dim::Expr(self).substitute(&mut { other }).to_expr()
    }
}

fn mix_sum(mixer: Mixer, sum: &Sum) -> Mixer {
    let start = mixer.absorb(sum.constant as u64, sum.terms.len() as u64);
    sum.terms.iter().fold(start, |mixer, term| {
        let start = mixer.absorb(term.coefficient as u64, term.factors.len() as u64);
        term.factors.iter().fold(start, |mixer, factor| match factor {
            Atom::Symbol(symbol) => mixer.absorb(0, 0).absorb_bytes(symbol.text.as_bytes()),
            Atom::FloorDiv(inner, divisor) => {
                mix_sum(mixer.absorb(1, *divisor as u64), inner.sum())
            }
            Atom::Positive(inner) => mix_sum(mixer.absorb(2, 0), inner.sum()),
        })
    })
}
