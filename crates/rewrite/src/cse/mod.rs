//! Common subexpressions: equal instructions become one, an outer one serving inner uses, never the reverse.

pub(crate) mod key;
mod ordered;
mod regions;
mod table;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use sapwood_ptir::{Effects, Function, InstId};
use smallvec::SmallVec;

use crate::rewriter::{EffectIndex, Listener, ProgramRewriter};
use regions::{Regions, same_regions};

use table::LARGE;
pub(crate) use table::{Found, ValueTable};

/// So many instructions are looked up together.
pub(crate) const TOGETHER: usize = 32;

/// Merges equal instructions of a function, those with regions included. Gives how many went.
///
/// Of equal instructions the first in program order stays, if the others can see it. Ordered instructions are left alone.
pub fn eliminate_common_subexpressions(function: &mut Function) -> usize {
    eliminate_common_subexpressions_with(function, None)
}

/// As [`eliminate_common_subexpressions`], with somebody who is told about every edit.
pub fn eliminate_common_subexpressions_with<'a>(
    function: &'a mut Function,
    listener: Option<&'a mut dyn Listener>,
) -> usize {
    let mut rw = ProgramRewriter::new(function);
    if let Some(listener) = listener {
        rw.listen(listener);
    }
    rw.effects = EffectIndex::of(rw.function());
    rw.unique_constants(false).0 + merge_equal(&mut rw)
}

/// Merges equal instructions in one walk in the order of completion.
pub(crate) fn merge_equal(rw: &mut ProgramRewriter<'_>) -> usize {
    let f = rw.function();
    let order: Vec<InstId> = f.walk_post_order().collect();
    let mut regions = Regions::new(f);
    let mut known: Known = HashTable::with_capacity(order.len());
    let mut merged = 0;
    for (n, &inst) in order.iter().enumerate() {
        if n % TOGETHER == 0 {
            warm(rw.function(), &known, &order[n..order.len().min(n + TOGETHER)]);
        }
        if !rw.function().is_live(inst) {
            continue;
        }
        if let Some(first) = known_equal(rw, &mut known, &regions, inst) {
            let f = rw.function();
            let mut values: SmallVec<[_; 4]> = SmallVec::new();
            f.inst_results(first).for_each(|value| values.push(value));
            regions.outside(f, inst, u64::wrapping_add);
            rw.step("cse", inst);
            if rw.replace_inst(inst, &values).is_ok() {
                merged += 1;
                continue;
            }
            regions.outside(rw.function(), inst, u64::wrapping_sub);
        }
        regions.complete(rw.function(), inst);
    }
    merged
}

// What was seen, with the upper half of its hash.
type Known = HashTable<(u32, InstId)>;

// As `ValueTable::warm`.
fn warm(f: &Function, known: &Known, insts: &[InstId]) {
    if known.capacity() >= LARGE {
        let there = |&&inst: &&InstId| {
            f.is_live(inst)
                && f.regions(inst).is_empty()
                && known.find(spread(half(key::hash(f, inst))), |_| false).is_some()
        };
        std::hint::black_box(insts.iter().filter(there).count());
    }
}

fn half(hash: u64) -> u32 {
    (hash >> 32) as u32
}

// A hash for the table, which looks at its highest and its lowest bits.
fn spread(half: u32) -> u64 {
    u64::from(half).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

// An equal instruction that the given one can see. If there is none, the given one is remembered.
fn known_equal(
    rw: &ProgramRewriter<'_>,
    known: &mut Known,
    regions: &Regions,
    inst: InstId,
) -> Option<InstId> {
    let f = rw.function();
    let simple = f.regions(inst).is_empty();
    if f.inst_results(inst).len() == 0 {
        return None;
    }
    if f.own_effects(inst) == Effects::Ordered || (!simple && rw.effects.is_ordered(f, inst)) {
        return None;
    }
    let hash = half(if simple { key::hash(f, inst) } else { regions.hash(f, inst) });
    let same = |entry: &(u32, InstId)| {
        let other = entry.1;
        // What was erased meanwhile had no uses left; what cannot be seen is in a region that was left for good.
        entry.0 == hash
            && f.is_live(other)
            && key::same(f, other, inst)
            && (simple || same_regions(f, other, inst))
    };
    match known.entry(spread(hash), same, |entry| spread(entry.0)) {
        Entry::Occupied(mut entry) => {
            let other = entry.get().1;
            if f.dominates(other, inst) {
                return Some(other);
            }
            entry.get_mut().1 = inst;
        }
        Entry::Vacant(entry) => {
            entry.insert((hash, inst));
        }
    }
    None
}
