//! Comparison of regions of a pattern with regions of the program, instruction by instruction.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::{Attr, BodyId, Function, InstId, ValueId};

use super::match_failure::MatchFailure;
use super::search::{Search, attr_at};
use crate::graph::{AttrCondition, AttrSlot, OpIx, written_attrs};

impl Search<'_> {
    /// Binds the outer values that regions use, if the regions are equal up to names and omitted attributes. Instructions must be
    /// in the same order; operands of a commutative one may be in either order, and the written order is tried first.
    pub(super) fn bind_regions(&mut self, op: OpIx, found: InstId) -> Result<(), MatchFailure> {
        let Some(source) = self.pattern.source.clone() else { return Err(MatchFailure::Regions) };
        let Some(wanted) = self.pattern.ops[op].regions else { return Err(MatchFailure::Regions) };
        let f = self.cx.f;
        let mut inside: HashMap<ValueId, ValueId, FxBuildHasher> = HashMap::default();
        let mut open: Vec<(InstId, InstId)> = vec![(wanted, found)];
        while let Some((a, b)) = open.pop() {
            let (left, right) = (source.regions(a), f.regions(b));
            if left.len() != right.len() {
                return Err(MatchFailure::Regions);
            }
            let pairs: Vec<(BodyId, BodyId)> =
                left.iter().copied().zip(right.iter().copied()).collect();
            for (x, y) in pairs {
                let (params, others) = (source.body_params(x), f.body_params(y));
                if params.len() != others.len()
                    || !params.iter().zip(others).all(|(&a, &b)| self.same_type(&source, a, b))
                {
                    return Err(MatchFailure::Regions);
                }
                inside.extend(params.iter().copied().zip(others.iter().copied()));
                let (mut at, mut other) = (source.first_inst(x), f.first_inst(y));
                while let (Some(p), Some(q)) = (at, other) {
                    if !self.same_inst(&source, p, q, &mut inside) {
                        return Err(MatchFailure::Region(p, q));
                    }
                    if !source.regions(p).is_empty() || !f.regions(q).is_empty() {
                        open.push((p, q));
                    }
                    (at, other) = (source.next_inst(p), f.next_inst(q));
                }
                if at.is_some() || other.is_some() {
                    return Err(MatchFailure::Regions);
                }
            }
        }
        Ok(())
    }

    fn same_inst(
        &mut self,
        source: &Function,
        p: InstId,
        q: InstId,
        inside: &mut HashMap<ValueId, ValueId, FxBuildHasher>,
    ) -> bool {
        let f = self.cx.f;
        let same_attr = |slot: &AttrSlot, attr: &Attr| attr_at(f, q, slot).as_ref() == Some(attr);
        let attrs = written_attrs(source, p).iter().all(|t| match &t.test {
            AttrCondition::Is(attr) => same_attr(&t.slot, attr),
            AttrCondition::Capture(_) => true,
        });
        let callee = match (source.attr(p, "callee"), f.attr(q, "callee")) {
            (Some(Attr::Func(wanted)), Some(Attr::Func(found))) => self.calls(*wanted, *found),
            (a, b) => a == b,
        };
        let (left, right) = (source.operands(p), f.operands(q));
        if source.op_key(p) != f.op_key(q)
            || !attrs
            || !callee
            || left.len() != right.len()
            || source.inst_results(p).len() != f.inst_results(q).len()
        {
            return false;
        }
        let commutes = !self.cx.options.operand_order
            && left.len() == 2
            && source.op_def(p).is_some_and(|d| d.commutative);
        let mark = self.trail_len();
        if !self.same_operands(left, right.iter(), inside) {
            self.undo(mark);
            if !commutes || !self.same_operands(left, right.iter().rev(), inside) {
                return false;
            }
        }
        for (a, b) in source.inst_results(p).zip(f.inst_results(q)) {
            if !self.same_type(source, a, b) {
                return false;
            }
            inside.insert(a, b);
        }
        true
    }

    fn same_operands<'v>(
        &mut self,
        wanted: &[ValueId],
        found: impl Iterator<Item = &'v ValueId>,
        inside: &HashMap<ValueId, ValueId, FxBuildHasher>,
    ) -> bool {
        wanted.iter().zip(found).all(|(a, &b)| {
            match (inside.get(a), self.pattern.by_value.get(a)) {
                (Some(&known), _) => known == b,
                (None, Some(&value)) => self.bind(value, b),
                (None, None) => false,
            }
        })
    }

    // Compares types in typed matching.
    fn same_type(&mut self, source: &Function, a: ValueId, b: ValueId) -> bool {
        let f = self.cx.f;
        !self.cx.options.typed || self.type_fits(source.value_type(a), f.value_type(b))
    }
}
