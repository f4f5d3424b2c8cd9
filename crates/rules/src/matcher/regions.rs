//! Regions: those of the pattern and those found, instruction by instruction.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::{Attr, BodyId, Function, InstId, ValueId};

use super::search::{Search, attr_at};
use super::why::Why;
use crate::graph::{AttrSlot, OpIx, Test, written_attrs};

impl Search<'_> {
    /// Whether the regions are the same up to the names of values and attributes left out; what they use from outside is
    /// bound on the way. Instructions stand in the same order; operands of a commutative one in either, as written first.
    pub(super) fn bind_regions(&mut self, op: OpIx, found: InstId) -> Result<(), Why> {
        let Some(source) = self.pattern.source.clone() else { return Err(Why::Regions) };
        let Some(wanted) = self.pattern.ops[op].regions else { return Err(Why::Regions) };
        let f = self.scene.f;
        let mut inside: HashMap<ValueId, ValueId, FxBuildHasher> = HashMap::default();
        let mut open: Vec<(InstId, InstId)> = vec![(wanted, found)];
        while let Some((a, b)) = open.pop() {
            let (left, right) = (source.regions(a), f.regions(b));
            if left.len() != right.len() {
                return Err(Why::Regions);
            }
            let pairs: Vec<(BodyId, BodyId)> =
                left.iter().copied().zip(right.iter().copied()).collect();
            for (x, y) in pairs {
                let (params, others) = (source.body_params(x), f.body_params(y));
                if params.len() != others.len()
                    || !params.iter().zip(others).all(|(&a, &b)| self.same_type(&source, a, b))
                {
                    return Err(Why::Regions);
                }
                inside.extend(params.iter().copied().zip(others.iter().copied()));
                let (mut at, mut other) = (source.first_inst(x), f.first_inst(y));
                while let (Some(p), Some(q)) = (at, other) {
                    if !self.same_inst(&source, p, q, &mut inside) {
                        return Err(Why::Region(p, q));
                    }
                    if !source.regions(p).is_empty() || !f.regions(q).is_empty() {
                        open.push((p, q));
                    }
                    (at, other) = (source.next_inst(p), f.next_inst(q));
                }
                if at.is_some() || other.is_some() {
                    return Err(Why::Regions);
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
        let f = self.scene.f;
        let same_attr = |slot: &AttrSlot, attr: &Attr| attr_at(f, q, slot).as_ref() == Some(attr);
        let attrs = written_attrs(source, p).iter().all(|t| match &t.test {
            Test::Is(attr) => same_attr(&t.slot, attr),
            Test::Capture(_) => true,
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
        let commutes = !self.scene.options.operand_order
            && left.len() == 2
            && source.op_def(p).is_some_and(|d| d.commutative);
        let mark = self.mark();
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

    // Where types count.
    fn same_type(&mut self, source: &Function, a: ValueId, b: ValueId) -> bool {
        let f = self.scene.f;
        !self.scene.options.typed || self.type_fits(source.value_type(a), f.value_type(b))
    }
}
