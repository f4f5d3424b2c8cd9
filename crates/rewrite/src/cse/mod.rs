//! Common subexpression elimination: merges equal instructions. An outer one replaces inner ones, never the reverse.

mod ordered_sets;
mod value_table;

use sapwood_ptir::ops::Constant;
use sapwood_ptir::structural::RegionHashes;
use sapwood_ptir::{Function, InstId, Op};
use smallvec::SmallVec;

use crate::rewriter::{EffectIndex, Listener, ProgramRewriter, StepKind};

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
    let order: Vec<InstId> = rw.function().walk_post_order().collect();
    let constants = rw.deduplicate_constants(&order, false).0;
    let mut table = ValueTable::with_capacity(rw.function().num_insts());
    let nested = rw.function().body_capacity() > 1;
    let regions = nested.then(|| RegionHashes::new(rw.function()));
    constants + merge_in_order(&mut rw, &order, &mut table, regions)
}

/// Looks up instructions, all of a function in program order, and merges each with an equal one that dominates it. Returns the number
/// of merged instructions. Equal constants must have been merged before, and may have moved since. Instructions with regions are only
/// merged if hashes of regions are given.
///
/// Afterwards the table contains all instructions without regions that may be merged. It contains one with regions only during
/// this walk, since it does not follow changes inside of regions.
pub(crate) fn merge_in_order(
    rw: &mut ProgramRewriter<'_>,
    order: &[InstId],
    table: &mut ValueTable,
    mut regions: Option<RegionHashes>,
) -> usize {
    let constant = Constant::key();
    let mut owners: Vec<InstId> = Vec::new();
    let mut merged = 0;
    for batch in order.chunks(LOOKUP_BATCH) {
        table.prefetch(rw.function(), batch);
        for &inst in batch {
            let f = rw.function();
            if !f.is_live(inst) {
                continue;
            }
            let lookup = match &regions {
                _ if f.op_key(inst) == constant => Lookup::New,
                _ if !f.has_regions(inst) => table.find_or_insert(f, inst),
                Some(regions)
                    if f.inst_results(inst).len() > 0 && !rw.effects.is_ordered(f, inst) =>
                {
                    owners.push(inst);
                    table.find_or_insert_hashed(f, regions.hash(f, inst), inst)
                }
                _ => Lookup::New,
            };
            // Instructions that this one dominates are looked up later.
            if let Lookup::DominatedBy(first) = lookup
                && merge_in_table(rw, table, regions.as_mut(), (first, inst))
            {
                merged += 1;
            } else if let Some(regions) = &mut regions {
                regions.add(rw.function(), inst);
            }
        }
    }
    owners.into_iter().for_each(|inst| table.remove(inst));
    merged
}

// Replaces an instruction by an equal one, and removes from the table everything that is erased or changed. Returns whether that
// was possible.
fn merge_in_table(
    rw: &mut ProgramRewriter<'_>,
    table: &mut ValueTable,
    mut regions: Option<&mut RegionHashes>,
    (first, duplicate): (InstId, InstId),
) -> bool {
    let f = rw.function();
    let mut values: SmallVec<[_; 4]> = SmallVec::new();
    f.inst_results(first).for_each(|value| values.push(value));
    for value in f.inst_results(duplicate) {
        f.uses(value).for_each(|u| table.remove(u.user));
    }
    let nested: Vec<InstId> =
        f.regions(duplicate).iter().flat_map(|&body| f.walk_body(body)).collect();
    if let Some(regions) = &mut regions {
        regions.remove_regions(f, duplicate);
    }
    let replaced = rw.replace_inst_as_step(StepKind::Cse, duplicate, &values).is_ok();
    if replaced {
        nested.into_iter().for_each(|inst| table.remove(inst));
    } else if let Some(regions) = &mut regions {
        regions.restore_regions(rw.function(), duplicate);
    }
    replaced
}
