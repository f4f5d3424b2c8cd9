//! The memo of inference: instructions that inference accepted, so that others like them are not inferred again.

use crate::func::Function;
use crate::ids::{InstId, ValueId};

/// A memo of instructions of one function that inference accepted. Inference reads the op, the attributes, the types
/// of operands and declared results, and the signatures of regions; an instruction that agrees with an accepted one in
/// these is accepted too.
///
/// A direct-mapped table whose size is a power of two; a later instruction replaces an earlier one in the same slot.
pub(crate) struct InferenceMemo(Vec<InstId>);

/// The smallest and the largest size of the memo.
const SIZES: [usize; 2] = [16, 1024];

impl InferenceMemo {
    /// Creates an empty memo for a function of about this number of instructions.
    pub(crate) fn new(insts: usize) -> Self {
        let size = insts.min(SIZES[1]).next_power_of_two().max(SIZES[0]);
        Self(vec![InstId::NONE; size])
    }

    /// Returns whether inference accepts an instruction. Calls `infer` only if the memo contains none like it, and
    /// records the instruction if `infer` returns true.
    #[inline]
    pub(crate) fn accepts(
        &mut self,
        f: &Function,
        inst: InstId,
        infer: impl FnOnce() -> bool,
    ) -> bool {
        let slot = self.slot(f, inst);
        if self.0[slot].some().is_some_and(|known| same_inputs(f, known, inst)) {
            return true;
        }
        let accepted = infer();
        if accepted {
            self.0[slot] = inst;
        }
        accepted
    }

    // Returns the slot of an instruction. Regions are not hashed, only compared.
    #[inline]
    fn slot(&self, f: &Function, inst: InstId) -> usize {
        let data = &f.dfg.insts[inst.index()];
        let mix = |hash: u64, word: usize| (hash ^ word as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let hash = mix(data.key.index() as u64, data.attrs.index());
        let operands = f.dfg.operands(inst).iter();
        let hash = operands.fold(hash, |hash, &v| mix(hash, f.type_id(v).index()));
        let hash = f.dfg.result_data(inst).iter().fold(hash, |hash, v| mix(hash, v.ty.index()));
        (hash >> 32) as usize & (self.0.len() - 1)
    }
}

// Returns whether inference reads the same of two instructions, of which the first may have been erased.
#[inline]
fn same_inputs(f: &Function, known: InstId, inst: InstId) -> bool {
    let (old, new) = (&f.dfg.insts[known.index()], &f.dfg.insts[inst.index()]);
    // An erased instruction has lost its operands.
    if !old.live || old.key != new.key || old.attrs != new.attrs {
        return false;
    }
    let (operands, others) = (f.dfg.operands(known), f.dfg.operands(inst));
    let (results, other_results) = (f.dfg.result_data(known), f.dfg.result_data(inst));
    operands.len() == others.len()
        && results.len() == other_results.len()
        && operands.iter().zip(others).all(|(&u, &v)| f.type_id(u) == f.type_id(v))
        && results.iter().zip(other_results).all(|(u, v)| u.ty == v.ty)
        && (!f.has_regions(inst) && !f.has_regions(known) || same_signatures(f, known, inst))
}

// Returns whether the regions of two instructions have parameters and results of the same types.
#[cold]
fn same_signatures(f: &Function, known: InstId, inst: InstId) -> bool {
    let same = |us: &[ValueId], vs: &[ValueId]| {
        let mut pairs = us.iter().zip(vs);
        us.len() == vs.len() && pairs.all(|(&u, &v)| f.type_id(u) == f.type_id(v))
    };
    let (regions, others) = (f.regions(known), f.regions(inst));
    let mut pairs = regions.iter().zip(others);
    regions.len() == others.len()
        && pairs.all(|(&a, &b)| {
            same(f.body_params(a), f.body_params(b)) && same(f.body_results(a), f.body_results(b))
        })
}
