//! What the matcher must find, by trying everything: shares nothing with it but the IR. Straight-line functions only.

use std::collections::{BTreeMap, BTreeSet};

use sapwood_ptir::{Attr, Effects, Function, InstId, ValueId};

/// Pattern op by pattern op: the instruction, and whether its first two operands are swapped.
type Binding = Vec<(InstId, bool)>;

/// The sets of instructions that are the pattern, each with whether it can be replaced.
pub(crate) fn reference(f: &Function, p: &Function, commute: bool) -> BTreeMap<Vec<InstId>, bool> {
    let ops: Vec<InstId> = p.body_insts(p.body()).filter(|&i| p.op_name(i) != "return").collect();
    let mut best: BTreeMap<Vec<InstId>, (Vec<bool>, Vec<usize>, Binding)> = BTreeMap::new();
    let order: Vec<InstId> = f.body_insts(f.body()).collect();
    let mut open: Vec<Binding> = vec![Vec::new()];
    while let Some(binding) = open.pop() {
        if binding.len() == ops.len() {
            let mut set: Vec<InstId> = binding.iter().map(|b| b.0).collect();
            let places = set.iter().map(|i| order.iter().position(|o| o == i).unwrap()).collect();
            set.sort();
            let rank = (binding.iter().map(|b| b.1).collect::<Vec<_>>(), places, binding.clone());
            let known = best.entry(set).or_insert_with(|| rank.clone());
            if (&rank.0, &rank.1) < (&known.0, &known.1) {
                *known = rank;
            }
            continue;
        }
        for &inst in &order {
            for swapped in [false, true] {
                let next: Binding = binding.iter().copied().chain([(inst, swapped)]).collect();
                let fresh = !binding.iter().any(|b| b.0 == inst);
                let may_swap = commute && f.op_def(inst).is_some_and(|d| d.commutative);
                if fresh && (!swapped || may_swap) && values(f, p, &ops, &next).is_some() {
                    open.push(next);
                }
            }
        }
    }
    best.into_iter().map(|(set, (_, _, binding))| (set, legal(f, p, &ops, &binding))).collect()
}

// What each value of the pattern is bound to; none if an op differs or a value would be two.
fn values(
    f: &Function,
    p: &Function,
    ops: &[InstId],
    binding: &Binding,
) -> Option<BTreeMap<ValueId, ValueId>> {
    let mut bound = BTreeMap::new();
    for (&op, &(inst, swapped)) in ops.iter().zip(binding) {
        let attrs = p.attrs(op).iter().zip(f.attrs(inst).iter());
        let (mut wanted, found) = (p.operands(op).to_vec(), f.operands(inst));
        if swapped && wanted.len() > 1 {
            wanted.swap(0, 1);
        }
        let results = (p.inst_results(op), f.inst_results(inst));
        if p.op_key(op) != f.op_key(inst)
            || !attrs.into_iter().all(|(a, b)| *a == Attr::Unit || a == b)
            || wanted.len() != found.len()
            || results.0.len() != results.1.len()
        {
            return None;
        }
        let pairs = wanted.into_iter().zip(found.iter().copied()).chain(results.0.zip(results.1));
        for (pattern, value) in pairs {
            if *bound.entry(pattern).or_insert(value) != value {
                return None;
            }
        }
    }
    Some(bound)
}

fn legal(f: &Function, p: &Function, ops: &[InstId], binding: &Binding) -> bool {
    let bound = values(f, p, ops, binding).unwrap();
    let matched: BTreeSet<InstId> = binding.iter().map(|b| b.0).collect();
    let outputs: BTreeSet<ValueId> = p.results().iter().map(|v| bound[v]).collect();
    let order: Vec<InstId> = f.body_insts(f.body()).collect();
    let defined = |v: &ValueId| f.inst_of(*v);
    for &inst in &matched {
        for value in f.inst_results(inst) {
            let outside = f.users_of(value).iter().any(|u| !matched.contains(u));
            if outside && !outputs.contains(&value) {
                return false;
            }
        }
    }
    if p.params().iter().any(|v| defined(&bound[v]).is_some_and(|d| matched.contains(&d))) {
        return false;
    }
    // What needs the match, directly or not.
    let mut after: BTreeSet<InstId> = BTreeSet::new();
    for &inst in &order {
        let needs =
            |v: &ValueId| defined(v).is_some_and(|d| matched.contains(&d) || after.contains(&d));
        let via = |v: &ValueId| defined(v).is_some_and(|d| after.contains(&d));
        if matched.contains(&inst) {
            if f.operands(inst).iter().any(via) {
                return false;
            }
        } else if f.operands(inst).iter().any(needs) {
            after.insert(inst);
        }
    }
    // The order after replacing, and the effects in it.
    let last = order.iter().rposition(|i| matched.contains(i)).unwrap();
    let mut new: Vec<InstId> = Vec::new();
    new.extend(order[..last].iter().filter(|i| !matched.contains(i) && !after.contains(i)));
    new.extend(order.iter().filter(|i| matched.contains(i)));
    new.extend(order[..last].iter().filter(|i| after.contains(i)));
    new.extend(&order[last + 1..]);
    let effects = |list: &[InstId]| -> Vec<InstId> {
        list.iter().copied().filter(|&i| f.own_effects(i) == Effects::Ordered).collect()
    };
    effects(&order) == effects(&new)
}
