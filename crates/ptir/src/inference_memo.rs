//! The memo of inference: instructions that inference accepted, so that others like them are not inferred again.

use crate::func::Function;
use crate::ids::{BodyId, InstId, ValueId};

/// A memo of instructions of one function that inference accepted. Inference reads the op, the attributes, the types
/// of operands and declared results, and the signatures of regions; an instruction that agrees with an accepted one in
/// these is accepted too.
///
/// A direct-mapped table whose size is a power of two; a later instruction replaces an earlier one in the same slot.
pub(crate) struct InferenceMemo(Vec<InstId>);

/// The smallest and the largest size of the memo.
const SIZES: [usize; 2] = [16, 256];

impl InferenceMemo {
    /// Creates an empty memo for a function of about this number of instructions.
    pub(crate) fn new(insts: usize) -> Self {
        Self(vec![InstId::NONE; insts.next_power_of_two().clamp(SIZES[0], SIZES[1])])
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
        let mix_type = |hash, value| mix(hash, f.type_id(value).index());
        let hash = mix(data.key.index() as u64, data.attrs.index());
        let hash = f.operands(inst).iter().copied().fold(hash, mix_type);
        let hash = f.inst_results(inst).fold(hash, mix_type);
        (hash >> 32) as usize & (self.0.len() - 1)
    }
}

// Returns whether inference reads the same of two instructions, of which the first may have been erased.
#[inline]
fn same_inputs(f: &Function, known: InstId, inst: InstId) -> bool {
    let (old, new) = (&f.dfg.insts[known.index()], &f.dfg.insts[inst.index()]);
    let same = |u: ValueId, v: ValueId| f.type_id(u) == f.type_id(v);
    let (regions, others) = (f.regions(known), f.regions(inst));
    // An erased instruction has lost its operands.
    old.live
        && old.key == new.key
        && old.attrs == new.attrs
        && old.operand_len == new.operand_len
        && old.result_len == new.result_len
        && regions.len() == others.len()
        && f.operands(known).iter().zip(f.operands(inst)).all(|(&u, &v)| same(u, v))
        && f.inst_results(known).zip(f.inst_results(inst)).all(|(u, v)| same(u, v))
        && regions.iter().zip(others).all(|(&a, &b)| same_signature(f, a, b))
}

// Returns whether two bodies have parameters and results of the same types.
fn same_signature(f: &Function, a: BodyId, b: BodyId) -> bool {
    let same = |a: &[ValueId], b: &[ValueId]| {
        let mut pairs = a.iter().zip(b);
        a.len() == b.len() && pairs.all(|(&u, &v)| f.type_id(u) == f.type_id(v))
    };
    same(f.body_params(a), f.body_params(b)) && same(f.body_results(a), f.body_results(b))
}
