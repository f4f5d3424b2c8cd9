//! An exhaustive reference matcher for straight-line functions, which shares only the IR with the matcher.

use std::collections::{BTreeMap, BTreeSet};

use sapwood_ptir::{Attr, Effects, Function, InstId, ValueId};

/// A binding: for each op of the pattern whether its first two operands are swapped, the instruction's position, and the instruction.
type Binding = Vec<(bool, usize, InstId)>;

/// The instructions in the order of the pattern's ops, if the match can be replaced.
pub(crate) type Legal = Option<Vec<InstId>>;

/// Returns the sets of instructions that match, each with the first binding in written order that can be replaced.
pub(crate) fn reference(f: &Function, p: &Function, commute: bool) -> BTreeMap<Vec<InstId>, Legal> {
    let ops: Vec<InstId> = p.body_insts(p.body()).filter(|&i| p.op_name(i) != "return").collect();
    let mut all: BTreeMap<Vec<InstId>, Vec<Binding>> = BTreeMap::new();
    let mut open: Vec<Binding> = vec![Vec::new()];
    while let Some(binding) = open.pop() {
        if binding.len() == ops.len() {
            let mut set: Vec<InstId> = binding.iter().map(|b| b.2).collect();
            set.sort();
            all.entry(set).or_default().push(binding);
            continue;
        }
        for (place, inst) in f.body_insts(f.body()).enumerate() {
            let may_swap = commute && f.op_def(inst).is_some_and(|d| d.commutative);
            for swapped in if may_swap { vec![false, true] } else { vec![false] } {
                let mut next = binding.clone();
                next.push((swapped, place, inst));
                let fresh = !binding.iter().any(|b| b.2 == inst);
                if fresh && values(f, p, &ops, &next).is_some() {
                    open.push(next);
                }
            }
        }
    }
    let best = |mut ways: Vec<Binding>| {
        ways.sort_by_key(|b| (split(b, |b| usize::from(b.0)), split(b, |b| b.1)));
        let legal = ways.iter().find(|b| legal(f, p, &ops, b));
        legal.map(|b| b.iter().map(|b| b.2).collect())
    };
    all.into_iter().map(|(set, ways)| (set, best(ways))).collect()
}

fn split(binding: &Binding, part: impl Fn(&(bool, usize, InstId)) -> usize) -> Vec<usize> {
    binding.iter().map(part).collect()
}

// Returns the value that each value of the pattern is bound to; none if an op differs or the bindings conflict.
fn values(
    f: &Function,
    p: &Function,
    ops: &[InstId],
    binding: &Binding,
) -> Option<BTreeMap<ValueId, ValueId>> {
    let mut bound = BTreeMap::new();
    for (&op, &(swapped, _, inst)) in ops.iter().zip(binding) {
        let (mut wanted, found) = (p.operands(op).to_vec(), f.operands(inst));
        let (own, other) = (p.inst_results(op), f.inst_results(inst));
        let attrs = p.attrs(op).iter().zip(f.attrs(inst).iter());
        if p.op_key(op) != f.op_key(inst)
            || !attrs.into_iter().all(|(a, b)| *a == Attr::Unit || a == b)
            || (wanted.len(), own.len()) != (found.len(), other.len())
        {
            return None;
        }
        if swapped {
            wanted.swap(0, 1);
        }
        for (pattern, value) in wanted.into_iter().zip(found.iter().copied()).chain(own.zip(other))
        {
            if *bound.entry(pattern).or_insert(value) != value {
                return None;
            }
        }
    }
    Some(bound)
}

fn legal(f: &Function, p: &Function, ops: &[InstId], binding: &Binding) -> bool {
    let bound = values(f, p, ops, binding).unwrap();
    let matched: BTreeSet<InstId> = binding.iter().map(|b| b.2).collect();
    let outputs: BTreeSet<ValueId> = p.results().iter().map(|v| bound[v]).collect();
    let inner = matched.iter().flat_map(|&i| f.inst_results(i)).filter(|v| !outputs.contains(v));
    let outside = |v: ValueId| f.users_of(v).iter().any(|u| !matched.contains(u));
    let computed = |v: &ValueId| f.inst_of(bound[v]).is_some_and(|d| matched.contains(&d));
    let (mut after, mut path) = (BTreeSet::new(), false);
    for inst in f.body_insts(f.body()) {
        let defs: Vec<InstId> = f.operands(inst).iter().filter_map(|&v| f.inst_of(v)).collect();
        if matched.contains(&inst) {
            path |= defs.iter().any(|d| after.contains(d));
        } else if defs.iter().any(|d| matched.contains(d) || after.contains(d)) {
            after.insert(inst);
        }
    }
    // The effects before, and after: those that stay, the match, those that move after it, the rest.
    let last = binding.iter().map(|b| b.1).max().unwrap();
    let effect = |i: &InstId| f.own_effects(*i) == Effects::Ordered;
    let before: Vec<InstId> = f.body_insts(f.body()).take(last + 1).filter(effect).collect();
    let mut moved = before.clone();
    moved.sort_by_key(|i| if matched.contains(i) { 1 } else { 2 * usize::from(after.contains(i)) });
    !inner.into_iter().any(outside) && !p.params().iter().any(computed) && !path && before == moved
}
