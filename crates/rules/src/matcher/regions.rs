//! Comparison of regions of a pattern with regions of the program: values from outside are values of the pattern.

use sapwood_ptir::structural::{Equivalence, InstPart, Unequal, compare_regions};
use sapwood_ptir::{Attr, Function, InstId, ValueId};

use super::match_failure::MatchFailure;
use super::search::{Search, attr_at};
use crate::graph::{AttrCondition, OpIx, written_attrs};

impl Search<'_> {
    /// Binds the outer values that regions use, if the regions are equal up to names and omitted attributes. Instructions must be
    /// in the same order; operands of a commutative one may be in either order, and the written order is tried first.
    pub(super) fn bind_regions(&mut self, op: OpIx, found: InstId) -> Result<(), MatchFailure> {
        let Some(source) = self.pattern.source.clone() else { return Err(MatchFailure::Regions) };
        let Some(wanted) = self.pattern.ops[op].regions else { return Err(MatchFailure::Regions) };
        let f = self.cx.f;
        let mut binding = RegionBinding { search: self, source: &source };
        match compare_regions((&source, wanted), (f, found), &mut binding) {
            Ok(()) => Ok(()),
            Err(Unequal::Bodies(..) | Unequal::Insts(_, _, InstPart::Regions | InstPart::Body)) => {
                Err(MatchFailure::Regions)
            }
            Err(Unequal::Insts(p, q, _)) => Err(MatchFailure::Region(p, q)),
        }
    }
}

/// The equivalence of a pattern and a program. Attributes that the pattern does not write match anything, and so do types unless
/// matching is typed.
struct RegionBinding<'s, 'a> {
    search: &'s mut Search<'a>,
    source: &'s Function,
}

impl Equivalence for RegionBinding<'_, '_> {
    fn same_attrs(&mut self, p: InstId, q: InstId) -> bool {
        let f = self.search.cx.f;
        let callee = match (self.source.attr(p, "callee"), f.attr(q, "callee")) {
            (Some(Attr::Func(wanted)), Some(Attr::Func(found))) => {
                self.search.calls(*wanted, *found)
            }
            (a, b) => a == b,
        };
        callee && written_attrs_match((self.source, p), (f, q))
    }

    fn same_type(&mut self, u: ValueId, v: ValueId) -> bool {
        let f = self.search.cx.f;
        !self.search.cx.options.typed
            || self.search.type_fits(self.source.value_type(u), f.value_type(v))
    }

    fn same_outside(&mut self, u: ValueId, v: ValueId) -> bool {
        match self.search.pattern.by_value.get(&u) {
            Some(&value) => self.search.bind(value, v),
            None => false,
        }
    }

    fn may_swap(&self, p: InstId) -> bool {
        !self.search.cx.options.operand_order
            && self.source.operands(p).len() == 2
            && self.source.op_def(p).is_some_and(|def| def.commutative)
    }

    fn mark(&self) -> usize {
        self.search.trail_len()
    }

    fn undo(&mut self, mark: usize) {
        self.search.undo(mark);
    }
}

/// Returns whether an instruction of a program has all attributes that are written on an instruction of a pattern.
pub(super) fn written_attrs_match(
    (source, p): (&Function, InstId),
    (f, q): (&Function, InstId),
) -> bool {
    written_attrs(source, p).iter().all(|t| match &t.test {
        AttrCondition::Is(attr) => attr_at(f, q, &t.slot).as_ref() == Some(attr),
        AttrCondition::Axes(..) | AttrCondition::Capture(_) => true,
    })
}
