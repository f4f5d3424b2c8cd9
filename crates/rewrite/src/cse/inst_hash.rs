//! Hashes and comparison of instructions by the values they compute: op, attributes, operands, result types, regions.

use sapwood_ptir::{Effects, Function, InstId, OpKey, ValueId};

const HASH_MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

// The initial state of a hash, so that the first word is mixed before the second one is added.
const HASH_SEED: u64 = 0x2545_f491_4f6c_dd1d;

pub(super) fn mix(hash: u64, word: u64) -> u64 {
    (hash ^ word).wrapping_mul(HASH_MULTIPLIER).rotate_left(29)
}

/// Finishes a hash so that its high and low bits are both well distributed.
pub(super) fn finish_hash(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 32)).wrapping_mul(HASH_MULTIPLIER);
    (hash ^ (hash >> 29)).max(1)
}

/// Returns true if the first two operands of an op may be swapped.
pub(super) fn is_commutative(f: &Function, key: OpKey) -> bool {
    f.registry().get(key).is_some_and(|def| def.commutative)
}

/// Hashes op, attributes and result types.
pub(super) fn hash_head(f: &Function, inst: InstId) -> u64 {
    let mut hash = mix(HASH_SEED, f.op_key(inst).index() as u64);
    hash = mix(hash, f.attr_id(inst).index() as u64);
    for result in f.inst_results(inst) {
        hash = mix(hash, f.type_id(result).index() as u64);
    }
    hash
}

/// Adds the operands to a hash, each as its code. The order of the first two is ignored if the op is commutative.
pub(super) fn hash_operands(
    f: &Function,
    inst: InstId,
    mut hash: u64,
    mut code: impl FnMut(ValueId) -> u64,
) -> u64 {
    let operands = f.operands(inst);
    let mut rest = operands;
    if let &[a, b, ref others @ ..] = operands
        && a != b
        && is_commutative(f, f.op_key(inst))
    {
        let (a, b) = (code(a), code(b));
        hash = mix(hash, a.min(b));
        hash = mix(hash, a.max(b));
        rest = others;
    }
    for &value in rest {
        hash = mix(hash, code(value));
    }
    hash
}

/// Returns the hash of an instruction without regions; never zero.
pub(crate) fn hash_inst(f: &Function, inst: InstId) -> u64 {
    finish_hash(hash_operands(f, inst, hash_head(f, inst), |v| v.index() as u64))
}

/// Returns true if two instructions compute the same values, apart from their regions.
pub(crate) fn same_computation(f: &Function, a: InstId, b: InstId) -> bool {
    same_head(f, a, b) && same_operands(f, a, b, |v| v)
}

pub(super) fn same_head(f: &Function, a: InstId, b: InstId) -> bool {
    let types = |i| f.inst_results(i).map(|v| f.type_id(v));
    f.op_key(a) == f.op_key(b)
        && f.attr_id(a) == f.attr_id(b)
        && f.operands(a).len() == f.operands(b).len()
        && f.regions(a).len() == f.regions(b).len()
        && types(a).eq(types(b))
}

/// Returns true if the operands of `a`, each mapped by `map`, are those of `b`.
pub(super) fn same_operands(
    f: &Function,
    a: InstId,
    b: InstId,
    map: impl Fn(ValueId) -> ValueId,
) -> bool {
    let (xs, ys) = (f.operands(a), f.operands(b));
    if xs.iter().zip(ys).all(|(x, y)| map(*x) == *y) {
        return true;
    }
    match (xs, ys) {
        ([x0, x1, xs @ ..], [y0, y1, ys @ ..]) => {
            map(*x0) == *y1
                && map(*x1) == *y0
                && is_commutative(f, f.op_key(a))
                && xs.iter().zip(ys).all(|(x, y)| map(*x) == *y)
        }
        _ => false,
    }
}

/// Returns true if an instruction without regions may be merged with an equal one.
pub(crate) fn is_mergeable(f: &Function, inst: InstId) -> bool {
    f.regions(inst).is_empty()
        && f.inst_results(inst).len() > 0
        && f.own_effects(inst) == Effects::Pure
}
