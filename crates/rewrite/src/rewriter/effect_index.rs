//! The effect index: the instructions with regions that contain something ordered, kept up to date so that a query is O(1).

use sapwood_ptir::{Effects, Function, InstId};

use super::dim_bindings::DimBindings;

/// An index that holds for every instruction with regions if it or something inside it is ordered. An instruction inside a
/// region that binds a named dim counts as ordered.
#[derive(Default)]
pub(crate) struct EffectIndex {
    ordered: Option<Vec<bool>>,
    dim_bindings: DimBindings,
    // Something ordered was erased: owners of regions may have become pure.
    stale: bool,
}

impl EffectIndex {
    /// Builds the index of a function in its current state.
    pub(crate) fn of(f: &Function) -> Self {
        // Without regions the effects of an instruction are those of its op.
        let mut ordered = vec![false; if f.body_capacity() > 1 { f.inst_capacity() } else { 0 }];
        let dim_bindings = DimBindings::default();
        if f.body_capacity() > 1 {
            for inst in f.walk_post_order() {
                let own = is_itself_ordered(f, inst);
                if (own || ordered[inst.index()] || dim_bindings.binds_new_dim(f, inst))
                    && let Some(owner) = f.body_of(inst).and_then(|b| f.body_owner(b))
                {
                    ordered[owner.index()] = true;
                }
                ordered[inst.index()] |= own;
            }
        }
        Self { ordered: Some(ordered), dim_bindings, stale: false }
    }

    /// Returns true if an instruction may not be merged, erased, duplicated or reordered.
    pub(crate) fn is_ordered(&self, f: &Function, inst: InstId) -> bool {
        if f.regions(inst).is_empty() {
            return f.own_effects(inst) == Effects::Ordered;
        }
        match self.ordered.as_ref().and_then(|o| o.get(inst.index())) {
            Some(&ordered) => ordered,
            None => {
                let mut inside = f.regions(inst).iter().flat_map(|&b| f.walk_body(b));
                f.is_ordered(inst) || inside.any(|i| self.dim_bindings.binds_new_dim(f, i))
            }
        }
    }

    /// Returns true if an instruction itself binds a named dim.
    pub(crate) fn binds_dims(&self, f: &Function, inst: InstId) -> bool {
        self.dim_bindings.binds_new_dim(f, inst)
    }

    /// Updates the index after an instruction was inserted.
    pub(crate) fn on_inserted(&mut self, f: &Function, inst: InstId) {
        if f.body_capacity() == 1 || self.ordered.is_none() {
            return;
        }
        let inside =
            |b: &sapwood_ptir::BodyId| f.body_insts(*b).any(|i| self.is_or_contains_ordered(f, i));
        let is = is_itself_ordered(f, inst) || f.regions(inst).iter().any(inside);
        let binds = self.dim_bindings.binds_new_dim(f, inst);
        let Some(ordered) = &mut self.ordered else { return };
        if ordered.len() < f.inst_capacity() {
            ordered.resize(f.inst_capacity(), false);
        }
        let mut at = Some(inst).filter(|_| is);
        if binds && !is {
            at = f.body_of(inst).and_then(|b| f.body_owner(b));
        }
        while let Some(inst) = at {
            if std::mem::replace(&mut ordered[inst.index()], true) {
                break;
            }
            at = f.body_of(inst).and_then(|b| f.body_owner(b));
        }
    }

    fn is_or_contains_ordered(&self, f: &Function, inst: InstId) -> bool {
        is_itself_ordered(f, inst)
            || self.dim_bindings.binds_new_dim(f, inst)
            || self.ordered.as_ref().is_some_and(|o| o.get(inst.index()).is_some_and(|o| *o))
    }

    /// Updates the index before an instruction is erased.
    pub(crate) fn on_erased(&mut self, f: &Function, inst: InstId) {
        if f.body_capacity() > 1 && self.ordered.is_some() {
            self.stale |= self.is_or_contains_ordered(f, inst);
        }
    }

    /// Brings the index up to date and returns the owners of regions that became pure.
    pub(crate) fn refresh(&mut self, f: &Function) -> Vec<InstId> {
        if !std::mem::take(&mut self.stale) {
            return Vec::new();
        }
        let old = std::mem::replace(self, Self::of(f)).ordered.unwrap_or_default();
        let new = self.ordered.as_deref().unwrap_or_default();
        let pure = |i: &usize| old[*i] && !new[*i] && f.is_live(InstId::from_index(*i));
        (0..old.len().min(new.len())).filter(pure).map(InstId::from_index).collect()
    }
}

// Terminators are ordered in the op tables, but the region they end need not be.
fn is_itself_ordered(f: &Function, inst: InstId) -> bool {
    f.own_effects(inst) == Effects::Ordered && !f.op_def(inst).is_some_and(|d| d.terminator)
}
