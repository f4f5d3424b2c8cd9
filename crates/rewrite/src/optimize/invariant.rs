//! Loop-invariant code: instructions whose operands are the same in every step move out of the loop.

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::cost::{self, Amount, trip_count};
use sapwood_ptir::ops::{BroadcastInDim, BroadcastTo, Scan, While};
use sapwood_ptir::{BodyId, Effects, Function, InsertPoint, InstId, ValueDef, ValueId};

use crate::pattern::{Pattern, PatternEntry, PatternList, Roots};
use crate::rewriter::ProgramRewriter;

/// The patterns of this file.
pub static LIST: PatternList = PatternList {
    family: "invariant",
    entries: &[PatternEntry {
        name: INVARIANT_OUT_OF_LOOP,
        add: |set| {
            set.add(InvariantOutOfLoop);
        },
    }],
};

/// The name of the pattern.
pub(super) const INVARIANT_OUT_OF_LOOP: &str = "invariant_out_of_loop";

/// The largest number of bytes and operations of an instruction that leaves a loop which may run no step at all.
const MAX_SPECULATED_COST: u128 = 4096;

/// Instructions of a loop whose operands come from outside are computed once, before the loop.
///
/// They have no effect and cannot stop a run. A broadcast only leaves with an instruction that needs it. If the number of steps is not known, only cheap ones leave the body; the condition of a `while` runs at least once.
///
/// Floats: exact.
struct InvariantOutOfLoop;

impl Pattern for InvariantOutOfLoop {
    fn name(&self) -> &str {
        INVARIANT_OUT_OF_LOOP
    }

    fn roots(&self) -> Roots {
        Roots::all([Roots::of::<While>(), Roots::of::<Scan>()])
    }

    fn hops(&self) -> u8 {
        1
    }

    fn match_and_rewrite(&self, root: InstId, rw: &mut ProgramRewriter<'_>) -> bool {
        let f = rw.function();
        let steps = trip_count(f, root);
        let mut moved = Vec::new();
        for (n, &region) in f.regions(root).iter().enumerate() {
            let is_condition = f.is::<While>(root) && n == 0;
            let runs = match (is_condition, steps) {
                (true, Amount::Known(0)) | (false, Amount::Known(0 | 1)) => continue,
                (_, Amount::Known(_)) => Runs::Repeatedly,
                (true, _) => Runs::Repeatedly,
                (false, _) => Runs::Unknown,
            };
            moved.extend(invariants(f, region, runs));
        }
        let mut is_changed = false;
        for inst in moved {
            is_changed |= rw.move_inst(inst, InsertPoint::Before(root)).is_ok();
        }
        is_changed
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Runs {
    // At least once, and possibly more often.
    Repeatedly,
    Unknown,
}

// Returns the instructions of a body that do not depend on its parameters, in order, if they save something, and the instructions that those need.
fn invariants(f: &Function, body: BodyId, runs: Runs) -> Vec<InstId> {
    let mut found: Vec<InstId> = Vec::new();
    let mut known: HashSet<InstId, FxBuildHasher> = HashSet::default();
    for inst in f.body_insts(body) {
        let is_outside = |&value: &ValueId| match f.value_def(value) {
            ValueDef::Param(owner, _) => owner != body,
            ValueDef::Result(other, _) => f.body_of(other) != Some(body) || known.contains(&other),
        };
        let is_movable = f.regions(inst).is_empty()
            && f.own_effects(inst) == Effects::Pure
            && !f.op_def(inst).is_none_or(|def| def.terminator)
            && f.operands(inst).iter().all(is_outside)
            && !f.may_stop(inst)
            && !binds_symbols(f, inst)
            && !reads_local_symbols(f, inst)
            && (runs == Runs::Repeatedly || is_cheap(f, inst));
        if is_movable {
            known.insert(inst);
            found.push(inst);
        }
    }
    // From the last to the first: an instruction leaves if it costs something, or if one that leaves needs it.
    let mut needed: HashSet<InstId, FxBuildHasher> = HashSet::default();
    for &inst in found.iter().rev() {
        if needed.contains(&inst) || costs(f, inst) {
            needed.insert(inst);
            needed.extend(f.operands(inst).iter().filter_map(|&value| f.inst_of(value)));
        }
    }
    found.retain(|inst| needed.contains(inst));
    found
}

/// Returns true if the types of the results have dims that are not known: a loop may introduce symbols of its own.
pub(super) fn binds_symbols(f: &Function, inst: InstId) -> bool {
    let is_open = |value: ValueId| {
        f.value_type(value).as_tensor().is_none_or(|ty| ty.known_shape().is_none())
    };
    f.inst_results(inst).any(is_open)
}

/// Returns true if an attribute has a symbol that no parameter of the function binds: the symbol may have a value only inside of a region.
pub(super) fn reads_local_symbols(f: &Function, inst: InstId) -> bool {
    let mut is_local = false;
    for attr in f.attrs(inst).iter().filter(|attr| attr.has_symbols()) {
        attr.for_each_symbol(&mut |name| {
            let mut is_bound = false;
            for &param in f.params() {
                f.value_type(param).for_each_symbol(&mut |other| is_bound |= other == name);
            }
            is_local |= !is_bound;
        });
    }
    is_local
}

// Returns true if an instruction leaves a loop even if no other one needs it. A broadcast does not: compilers make it part of the work of its users, and a larger value that
// the loop reads takes longer (`keras_bilstm` under XLA: 5 to 10 percent).
fn costs(f: &Function, inst: InstId) -> bool {
    if f.is::<BroadcastTo>(inst) || f.is::<BroadcastInDim>(inst) {
        return false;
    }
    let cost = cost::of_inst(f, inst);
    let is_constant = f.value_of(inst).is_some_and(|value| f.constant_of(value).is_some());
    !is_constant && (cost.flops != Amount::ZERO || cost.bytes != Amount::ZERO)
}

fn is_cheap(f: &Function, inst: InstId) -> bool {
    let cost = cost::of_inst(f, inst);
    let is_small = |amount: Amount| amount.known().is_some_and(|n| n <= MAX_SPECULATED_COST);
    is_small(cost.flops) && is_small(cost.bytes)
}
