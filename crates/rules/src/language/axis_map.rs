//! The axes of a value that a chain of reshapes and broadcasts computes from another.

use sapwood_ptir::ops::{BroadcastInDim, BroadcastTo, Cast, Reshape};
use sapwood_ptir::{Dim, Function, InstId, ValueId};

/// The longest chain that is followed.
const MAX_CHAIN: usize = 16;

/// For each axis of a value, the axis of the final value that it must become; none if nothing varies along it.
type AxisMap = Vec<Option<usize>>;

/// Returns whether a value is a reduction over these axes, with the axes restored: each element is that of the reduction at the
/// same place along the other axes. Reshapes may insert and remove axes of one element.
pub(super) fn restores(f: &Function, value: ValueId, reduced: ValueId, axes: &[i64]) -> bool {
    let dims = |v: ValueId| f.value_type(v).as_tensor().map(|t| &t.dims[..]);
    let (Some(to), Some(from)) = (dims(value), dims(reduced)) else { return false };
    let is_reduced = |n: usize| axes.contains(&(n as i64));
    let kept: AxisMap = (0..to.len()).filter(|&n| !is_reduced(n)).map(Some).collect();
    let mut map: AxisMap = if from.len() == to.len() {
        (0..to.len()).map(|n| Some(n).filter(|&n| !is_reduced(n))).collect()
    } else if from.len() == kept.len() {
        kept
    } else {
        return false;
    };
    let mut chain = Vec::new();
    let mut at = value;
    while at != reduced {
        let Some(inst) = f.inst_of(at).filter(|_| chain.len() < MAX_CHAIN) else { return false };
        let [source] = f.operands(inst) else { return false };
        chain.push((inst, *source, at));
        at = *source;
    }
    for (inst, source, result) in chain.into_iter().rev() {
        let (Some(old), Some(new)) = (dims(source), dims(result)) else { return false };
        match next_map(f, inst, &map, old, new) {
            Some(next) => map = next,
            None => return false,
        }
    }
    map.len() == to.len()
        && map.iter().enumerate().all(|(n, axis)| match axis {
            Some(axis) => *axis == n,
            None => is_reduced(n) || to[n] == Dim::Known(1),
        })
}

// Returns the axes after an instruction; none for other ops than casts, reshapes and broadcasts.
fn next_map(
    f: &Function,
    inst: InstId,
    map: &[Option<usize>],
    old: &[Dim],
    new: &[Dim],
) -> Option<AxisMap> {
    // An axis of one element that becomes wider does not vary.
    let unless_wider = |axis: Option<usize>, a: &Dim, b: &Dim| axis.filter(|_| a == b);
    if f.is::<Cast>(inst) {
        return Some(map.to_vec());
    }
    if f.is::<Reshape>(inst) {
        return reshaped(map, old, new);
    }
    let mut next = vec![None; new.len()];
    let targets: Vec<usize> = if f.is::<BroadcastTo>(inst) {
        let before = new.len().checked_sub(old.len())?;
        (before..new.len()).collect()
    } else if f.is::<BroadcastInDim>(inst) {
        let dims = f.attr(inst, "dims")?.as_ints()?;
        dims.iter().map(|&n| usize::try_from(n).ok()).collect::<Option<_>>()?
    } else {
        return None;
    };
    for ((&axis, a), target) in map.iter().zip(old).zip(targets) {
        *next.get_mut(target)? = unless_wider(axis, a, new.get(target)?);
    }
    Some(next)
}

// Returns the axes after a reshape that only inserts and removes axes of one element.
fn reshaped(map: &[Option<usize>], old: &[Dim], new: &[Dim]) -> Option<AxisMap> {
    let one = Dim::Known(1);
    let mut wide = map.iter().zip(old).filter(|(_, dim)| **dim != one);
    let mut next = Vec::new();
    for &dim in new {
        if dim == one {
            next.push(None);
            continue;
        }
        let (axis, own) = wide.next()?;
        if !own.certainly_equal(dim) {
            return None;
        }
        next.push(*axis);
    }
    wide.next().is_none().then_some(next)
}
