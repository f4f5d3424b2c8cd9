//! Which carried values of a loop matter.

use rustc_hash::FxHashSet;
use sapwood_ptir::{BodyId, Function, InstId, ValueDef, ValueId};

use crate::pattern::MovedRegion;

/// A region that loses parameters, values in their place, and yields.
pub(super) fn narrowed(body: BodyId, params: &[(usize, ValueId)], gone: &[usize]) -> MovedRegion {
    let moved = MovedRegion::new(body);
    let moved = params.iter().fold(moved, |m, &(n, value)| m.replace_param(n, value));
    gone.iter().fold(moved, |m, &n| m.drop_result(n))
}

/// For each of the first `carried` parameters of a loop's body, whether the loop's results depend on it. `wanted` says
/// which ones matter for another reason. Stacked yields that are not wanted are left out.
///
/// O(what is in the body).
pub(super) fn live_carries(
    f: &Function,
    body: BodyId,
    carried: usize,
    mut wanted: Vec<bool>,
) -> Vec<bool> {
    let yields = f.body_results(body);
    let mut seen: FxHashSet<InstId> = FxHashSet::default();
    let mut todo: Vec<ValueId> = Vec::new();
    for (n, &value) in yields.iter().enumerate() {
        if wanted.get(n).copied().unwrap_or(true) {
            todo.push(value);
        }
    }
    let terminator = f.terminator(body);
    for inst in f.body_insts(body) {
        if f.is_ordered(inst) && Some(inst) != terminator && seen.insert(inst) {
            reads(f, inst, &mut todo);
        }
    }
    while let Some(value) = todo.pop() {
        match f.value_def(value) {
            ValueDef::Param(of, n) if of == body => {
                if n < carried && !std::mem::replace(&mut wanted[n], true) {
                    todo.push(yields[n]);
                }
            }
            ValueDef::Result(inst, _) if f.body_of(inst) == Some(body) => {
                if seen.insert(inst) {
                    reads(f, inst, &mut todo);
                }
            }
            _ => {}
        }
    }
    wanted.truncate(carried);
    wanted
}

// Everything an instruction reads, that its regions read included.
fn reads(f: &Function, inst: InstId, into: &mut Vec<ValueId>) {
    into.extend_from_slice(f.operands(inst));
    for &body in f.regions(inst) {
        for nested in f.walk_body(body) {
            into.extend_from_slice(f.operands(nested));
        }
    }
}
