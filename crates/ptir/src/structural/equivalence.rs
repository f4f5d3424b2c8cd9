//! The parts of an instruction that count in a comparison, and the choices in which comparisons differ.

use super::compare::FunctionComparer;
use super::mismatch::{InstPart, Unequal};
use super::scope::Scope;
use super::{Mode, is_commutative};
use crate::func::Function;
use crate::ids::{InstId, ValueId};

/// The choices in which comparisons differ: how attributes, types and values from outside are compared, and whether
/// operands may be swapped. The first argument is always of the left function, the second one of the right function.
pub trait Equivalence {
    /// Returns whether two instructions of the same op have equal attributes.
    fn same_attrs(&mut self, x: InstId, y: InstId) -> bool;

    /// Returns whether two values have equal types.
    fn same_type(&mut self, u: ValueId, v: ValueId) -> bool;

    /// Returns whether two values that are defined outside of the compared parts correspond.
    fn same_outside(&mut self, u: ValueId, v: ValueId) -> bool;

    /// Returns whether the first two operands of an instruction may be in either order. The written order is tried
    /// first. Comparison by data flow does not ask.
    fn may_swap(&self, x: InstId) -> bool;

    /// Returns a number that identifies the current state, for [`undo`](Self::undo).
    fn mark(&self) -> usize {
        0
    }

    /// Forgets all correspondences of values from outside since a mark.
    fn undo(&mut self, _mark: usize) {}
}

/// The comparison of computations within one function: values from outside are equal to themselves, and operands of
/// commutative ops may be swapped. Attributes and types are interned, so that ids are compared.
struct SameComputation<'a>(&'a Function);

impl Equivalence for SameComputation<'_> {
    #[inline]
    fn same_attrs(&mut self, x: InstId, y: InstId) -> bool {
        self.0.attr_id(x) == self.0.attr_id(y)
    }

    #[inline]
    fn same_type(&mut self, u: ValueId, v: ValueId) -> bool {
        self.0.type_id(u) == self.0.type_id(v)
    }

    #[inline]
    fn same_outside(&mut self, u: ValueId, v: ValueId) -> bool {
        u == v
    }

    #[inline]
    fn may_swap(&self, x: InstId) -> bool {
        is_commutative(self.0, x)
    }
}

/// Returns whether two instructions of a function compute the same values from the same operands. Their regions are
/// compared in order and up to renaming; operands of commutative ops may be in either order.
#[must_use]
#[inline]
pub fn same_computation(f: &Function, x: InstId, y: InstId) -> bool {
    let equivalence = &mut SameComputation(f);
    compare_heads(equivalence, (f, x), (f, y)).is_ok()
        && compare_operands(equivalence, (f, x), (f, y), Equivalence::same_outside).is_ok()
        && (!f.has_regions(x) || same_regions(f, x, y))
}

#[cold]
fn same_regions(f: &Function, x: InstId, y: InstId) -> bool {
    compare_regions((f, x), (f, y), &mut SameComputation(f)).is_ok()
}

/// Compares the regions of two instructions by a given equivalence, instruction by instruction in their order.
///
/// # Errors
/// With the first two instructions or bodies that differ.
pub fn compare_regions<E: Equivalence>(
    (a, x): (&Function, InstId),
    (b, y): (&Function, InstId),
    equivalence: &mut E,
) -> Result<(), Unequal> {
    let scopes = (Scope::Inst(x), Scope::Inst(y));
    FunctionComparer::new((a, scopes.0), (b, scopes.1), Mode::Ordered, equivalence)
        .compare_regions(x, y)
}

/// Returns whether two instructions of one op have the same attributes. An attribute that equals its default is the same as an
/// omitted one.
pub(super) fn has_same_attrs(a: &Function, x: InstId, b: &Function, y: InstId) -> bool {
    let (left, right) = (a.attrs(x), b.attrs(y));
    left == right
        || a.op_def(x).is_some_and(|def| {
            let pairs = left.iter().zip(right.iter());
            left.len() == right.len()
                && def.attrs.iter().zip(pairs).all(|(attr, (l, r))| {
                    l == r || attr.without_default(l) == attr.without_default(r)
                })
        })
}

/// Compares op, attributes, the numbers of operands, regions and results, and the types of results.
#[inline]
pub(super) fn compare_heads<E: Equivalence>(
    equivalence: &mut E,
    (a, x): (&Function, InstId),
    (b, y): (&Function, InstId),
) -> Result<(), InstPart> {
    if a.op_key(x) != b.op_key(y) {
        return Err(InstPart::Op);
    }
    if !equivalence.same_attrs(x, y) {
        return Err(InstPart::Attributes);
    }
    if a.operands(x).len() != b.operands(y).len() {
        return Err(InstPart::Operands);
    }
    if a.regions(x).len() != b.regions(y).len() {
        return Err(InstPart::Regions);
    }
    let (left, right) = (a.inst_results(x), b.inst_results(y));
    if left.len() != right.len() {
        return Err(InstPart::Results);
    }
    match left.zip(right).position(|(u, v)| !equivalence.same_type(u, v)) {
        Some(n) => Err(InstPart::ResultType(n)),
        None => Ok(()),
    }
}

/// Compares the operands of two instructions with the same number of operands. Operands that may be swapped are
/// compared in the written order first.
#[inline]
pub(super) fn compare_operands<E: Equivalence>(
    equivalence: &mut E,
    (a, x): (&Function, InstId),
    (b, y): (&Function, InstId),
    mut same: impl FnMut(&mut E, ValueId, ValueId) -> bool,
) -> Result<(), InstPart> {
    let (left, right) = (a.operands(x), b.operands(y));
    let mark = equivalence.mark();
    let Some(n) = left.iter().zip(right).position(|(&u, &v)| !same(equivalence, u, v)) else {
        return Ok(());
    };
    if let (&[u0, u1, ref us @ ..], &[v0, v1, ref vs @ ..]) = (left, right)
        && equivalence.may_swap(x)
    {
        equivalence.undo(mark);
        if same(equivalence, u0, v1)
            && same(equivalence, u1, v0)
            && us.iter().zip(vs).all(|(&u, &v)| same(equivalence, u, v))
        {
            return Ok(());
        }
    }
    Err(InstPart::Operand(n))
}
