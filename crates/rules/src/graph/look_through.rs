//! The ops that a pattern looks through: they may be on any edge of it.

use sapwood_ptir::ops::Cast;
use sapwood_ptir::{Function, InstId, OpKey, TensorLiteral, ValueId};
use smallvec::SmallVec;

use super::literal::constant_behind;

/// The longest chain of instructions that one edge looks through.
const MAX_CHAIN: usize = 32;

/// The ops to look through; each has one operand and one result.
#[derive(Clone, Debug, Default)]
pub(crate) struct LookThrough {
    keys: Vec<OpKey>,
}

impl LookThrough {
    pub(crate) fn new(keys: Vec<OpKey>) -> Self {
        Self { keys }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    pub(crate) fn keys(&self) -> &[OpKey] {
        &self.keys
    }

    pub(crate) fn contains(&self, key: OpKey) -> bool {
        self.keys.contains(&key)
    }

    /// Returns the operand of the instruction that defines a value, if it is one to look through.
    pub(crate) fn step(&self, f: &Function, value: ValueId) -> Option<(InstId, ValueId)> {
        let inst = f.inst_of(value)?;
        if !self.contains(f.op_key(inst)) {
            return None;
        }
        match f.operands(inst) {
            [source] if keeps_kind(f, inst, *source, value) => Some((inst, *source)),
            _ => None,
        }
    }

    /// Returns the values that are reached from a value, itself first, each nearer to the inputs than the one before.
    pub(crate) fn chain<'a>(
        &'a self,
        f: &'a Function,
        value: ValueId,
    ) -> impl Iterator<Item = ValueId> + 'a {
        let next = move |&v: &ValueId| self.step(f, v).map(|(_, source)| source);
        std::iter::successors(Some(value), next).take(MAX_CHAIN + 1)
    }

    /// Returns the instructions between two values of a chain; `None` if the second is not reached from the first.
    pub(crate) fn between(
        &self,
        f: &Function,
        from: ValueId,
        to: ValueId,
    ) -> Option<SmallVec<[InstId; 4]>> {
        let mut insts = SmallVec::new();
        let mut at = from;
        while at != to {
            if insts.len() == MAX_CHAIN {
                return None;
            }
            let (inst, source) = self.step(f, at)?;
            insts.push(inst);
            at = source;
        }
        Some(insts)
    }

    /// Returns the first value that is reached from both.
    pub(crate) fn nearest_common(&self, f: &Function, a: ValueId, b: ValueId) -> Option<ValueId> {
        if self.is_empty() {
            return None;
        }
        let from_b: SmallVec<[ValueId; 8]> = self.chain(f, b).collect();
        self.chain(f, a).find(|v| from_b.contains(v))
    }
}

// Returns whether a cast is between floats, between integers, or between other types of one kind; it computes something else if it is not.
fn keeps_kind(f: &Function, inst: InstId, source: ValueId, result: ValueId) -> bool {
    let dtype = |v: ValueId| f.value_type(v).as_tensor().map(|t| t.dtype);
    let (Some(from), Some(to)) = (dtype(source), dtype(result)) else { return true };
    !f.is::<Cast>(inst)
        || (from.is_float(), from.is_integer(), from.is_complex())
            == (to.is_float(), to.is_integer(), to.is_complex())
}

/// Returns the constant behind a value, and the instructions that compute the value from it, itself last.
pub(crate) fn constant_insts<'f>(
    through: &LookThrough,
    f: &'f Function,
    value: ValueId,
) -> Option<(&'f TensorLiteral, SmallVec<[InstId; 4]>)> {
    let mut insts: SmallVec<[InstId; 4]> = SmallVec::new();
    for v in through.chain(f, value) {
        if let Some((literal, own)) = constant_behind(f, v) {
            insts.extend(own.into_iter().flatten());
            insts.reverse();
            return Some((literal, insts));
        }
        insts.push(f.inst_of(v)?);
    }
    None
}
