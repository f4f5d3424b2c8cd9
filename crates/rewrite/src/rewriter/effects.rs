//! Which instructions with regions contain something ordered, kept up to date so that asking is O(1).

use sapwood_ptir::{Effects, Function, InstId};

use super::dims::DimNames;

/// For every instruction with regions, whether it is ordered: itself or something inside. What tells a named dim inside of
/// a region counts as ordered.
#[derive(Default)]
pub(crate) struct EffectIndex {
    ordered: Option<Vec<bool>>,
    names: DimNames,
    // Something ordered went away: owners may have become pure.
    stale: bool,
}

impl EffectIndex {
    /// An index of a function as it stands.
    pub(crate) fn of(f: &Function) -> Self {
        // Without regions every instruction speaks for itself.
        let mut ordered = vec![false; if f.body_capacity() > 1 { f.inst_capacity() } else { 0 }];
        let names = DimNames::default();
        if f.body_capacity() > 1 {
            for inst in f.walk_post_order() {
                let own = is_ordered_itself(f, inst);
                if (own || ordered[inst.index()] || names.tells(f, inst))
                    && let Some(owner) = f.body_of(inst).and_then(|b| f.body_owner(b))
                {
                    ordered[owner.index()] = true;
                }
                ordered[inst.index()] |= own;
            }
        }
        Self { ordered: Some(ordered), names, stale: false }
    }

    /// Whether an instruction may not be merged, dropped, duplicated or crossed.
    pub(crate) fn is_ordered(&self, f: &Function, inst: InstId) -> bool {
        if f.regions(inst).is_empty() {
            return f.own_effects(inst) == Effects::Ordered;
        }
        match self.ordered.as_ref().and_then(|o| o.get(inst.index())) {
            Some(&ordered) => ordered,
            None => {
                let mut inside = f.regions(inst).iter().flat_map(|&b| f.walk_body(b));
                f.is_ordered(inst) || inside.any(|i| self.names.tells(f, i))
            }
        }
    }

    /// Whether an instruction itself tells what a named dim is.
    pub(crate) fn tells_dims(&self, f: &Function, inst: InstId) -> bool {
        self.names.tells(f, inst)
    }

    /// An instruction was inserted.
    pub(crate) fn inserted(&mut self, f: &Function, inst: InstId) {
        if f.body_capacity() == 1 || self.ordered.is_none() {
            return;
        }
        let inside =
            |b: &sapwood_ptir::BodyId| f.body_insts(*b).any(|i| self.is_ordered_inside(f, i));
        let is = is_ordered_itself(f, inst) || f.regions(inst).iter().any(inside);
        let tells = self.names.tells(f, inst);
        let Some(ordered) = &mut self.ordered else { return };
        if ordered.len() < f.inst_capacity() {
            ordered.resize(f.inst_capacity(), false);
        }
        let mut at = Some(inst).filter(|_| is);
        if tells && !is {
            at = f.body_of(inst).and_then(|b| f.body_owner(b));
        }
        while let Some(inst) = at {
            if std::mem::replace(&mut ordered[inst.index()], true) {
                break;
            }
            at = f.body_of(inst).and_then(|b| f.body_owner(b));
        }
    }

    fn is_ordered_inside(&self, f: &Function, inst: InstId) -> bool {
        is_ordered_itself(f, inst)
            || self.names.tells(f, inst)
            || self.ordered.as_ref().is_some_and(|o| o.get(inst.index()).is_some_and(|o| *o))
    }

    /// An instruction is about to go.
    pub(crate) fn erased(&mut self, f: &Function, inst: InstId) {
        if f.body_capacity() > 1 && self.ordered.is_some() {
            self.stale |= self.is_ordered_inside(f, inst);
        }
    }

    /// Brings the index up to date. Gives the owners that became pure.
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

// Terminators are ordered by their tables, but what they end is not.
fn is_ordered_itself(f: &Function, inst: InstId) -> bool {
    f.own_effects(inst) == Effects::Ordered && !f.op_def(inst).is_some_and(|d| d.terminator)
}
