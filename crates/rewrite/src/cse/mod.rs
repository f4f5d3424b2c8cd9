//! Common subexpression elimination: merges equal instructions. An outer one replaces inner ones, never the reverse.

mod ordered_sets;
mod value_table;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use sapwood_ptir::structural::{RegionHashes, computation_hash, same_computation};
use sapwood_ptir::{Effects, Function, InstId};
use smallvec::SmallVec;

use crate::rewriter::{EffectIndex, Listener, ProgramRewriter, StepKind};
use value_table::CACHE_ENTRIES;
pub(crate) use value_table::{Lookup, ValueTable};

/// The number of instructions that are looked up together, so that their memory reads overlap.
pub(crate) const LOOKUP_BATCH: usize = 32;

/// Merges equal instructions of a function, including those with regions. Returns the number of erased instructions.
///
/// Of equal instructions the first in program order stays, if it dominates the others. Ordered instructions are not merged.
pub fn eliminate_common_subexpressions(function: &mut Function) -> usize {
    eliminate_common_subexpressions_with(function, None)
}

/// Merges equal instructions as [`eliminate_common_subexpressions`] does, and notifies a listener of every edit.
pub(crate) fn eliminate_common_subexpressions_with<'a>(
    function: &'a mut Function,
    listener: Option<&'a mut dyn Listener>,
) -> usize {
    let mut rw = ProgramRewriter::new(function);
    if let Some(listener) = listener {
        rw.listen(listener);
    }
    rw.effects = EffectIndex::of(rw.function());
    rw.deduplicate_constants(false).0 + merge_equal(&mut rw)
}

/// Merges equal instructions in one walk: regions before the instructions that own them.
pub(crate) fn merge_equal(rw: &mut ProgramRewriter<'_>) -> usize {
    let f = rw.function();
    let order: Vec<InstId> = f.walk_post_order().collect();
    let mut regions = RegionHashes::new(f);
    let mut known: SeenInsts = HashTable::with_capacity(order.len());
    let mut merged = 0;
    for (n, &inst) in order.iter().enumerate() {
        if n % LOOKUP_BATCH == 0 {
            prefetch(rw.function(), &known, &order[n..order.len().min(n + LOOKUP_BATCH)]);
        }
        if !rw.function().is_live(inst) {
            continue;
        }
        if let Some(first) = find_equal_or_add(rw, &mut known, &regions, inst) {
            let f = rw.function();
            let mut values: SmallVec<[_; 4]> = SmallVec::new();
            f.inst_results(first).for_each(|value| values.push(value));
            regions.remove_regions(f, inst);
            rw.notify_step(StepKind::Cse, inst);
            if rw.replace_inst(inst, &values).is_ok() {
                merged += 1;
                continue;
            }
            regions.restore_regions(rw.function(), inst);
        }
        regions.add(rw.function(), inst);
    }
    merged
}

// The instructions seen so far, keyed by the upper half of their hashes.
type SeenInsts = HashTable<(u32, InstId)>;

// Prefetches, as `ValueTable::prefetch` does.
fn prefetch(f: &Function, known: &SeenInsts, insts: &[InstId]) {
    if known.capacity() >= CACHE_ENTRIES {
        let occupied = |&&inst: &&InstId| {
            f.is_live(inst)
                && f.regions(inst).is_empty()
                && known
                    .find(table_hash(upper_half(computation_hash(f, inst))), |_| false)
                    .is_some()
        };
        std::hint::black_box(insts.iter().filter(occupied).count());
    }
}

fn upper_half(hash: u64) -> u32 {
    (hash >> 32) as u32
}

// Returns the hash for the table, which reads the highest and the lowest bits.
fn table_hash(half: u32) -> u64 {
    u64::from(half).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

// Returns an equal instruction that dominates the given one. If there is none, the given one is added to the table.
fn find_equal_or_add(
    rw: &ProgramRewriter<'_>,
    known: &mut SeenInsts,
    regions: &RegionHashes,
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
    let hash = upper_half(if simple { computation_hash(f, inst) } else { regions.hash(f, inst) });
    let same = |entry: &(u32, InstId)| {
        let other = entry.1;
        // An erased instruction had no uses left; one that does not dominate is in a region that the walk has left.
        entry.0 == hash && f.is_live(other) && same_computation(f, other, inst)
    };
    match known.entry(table_hash(hash), same, |entry| table_hash(entry.0)) {
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
