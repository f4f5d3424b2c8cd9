//! The axes of a value that a chain of reshapes, transposes and broadcasts computes from another.

use sapwood_ptir::ops::{BroadcastInDim, BroadcastTo, Cast, Reshape, Transpose};
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
    let start: AxisMap = if from.len() == to.len() {
        (0..to.len()).map(|n| Some(n).filter(|&n| !is_reduced(n))).collect()
    } else if from.len() == kept.len() {
        kept
    } else {
        return false;
    };
    let Some(map) = map_along(f, value, |v| v == reduced, |_| start) else { return false };
    map.len() == to.len()
        && map.iter().enumerate().all(|(n, axis)| match axis {
            Some(axis) => *axis == n,
            None => is_reduced(n) || to[n] == Dim::Known(1),
        })
}

/// Returns whether a value does not vary along these axes, because a broadcast repeats its elements there or there is only one.
pub(super) fn is_repeated(f: &Function, value: ValueId, axes: &[i64]) -> bool {
    let is_start = |v: ValueId| f.inst_of(v).is_none_or(|inst| !keeps_elements(f, inst));
    let Some(map) = map_along(f, value, is_start, |v| varying_axes(f, v)) else { return false };
    axes.iter().all(|&n| usize::try_from(n).is_ok_and(|n| map.get(n) == Some(&None)))
}

/// Returns whether two values vary along one axis only, the same for both, because broadcasts repeat their elements along all others.
pub(super) fn vary_along_one_axis(f: &Function, a: ValueId, b: ValueId) -> bool {
    let rank = own_axes(f, a).len() as i64;
    (0..rank).any(|kept| {
        let others: Vec<i64> = (0..rank).filter(|&axis| axis != kept).collect();
        is_repeated(f, a, &others) && is_repeated(f, b, &others)
    })
}

/// Returns whether no op computes a value: it is a parameter or a constant, perhaps with its elements moved, repeated or converted.
pub(super) fn is_given(f: &Function, value: ValueId) -> bool {
    let mut at = value;
    for _ in 0..=MAX_CHAIN {
        let Some(inst) = f.inst_of(at).filter(|_| f.constant_of(at).is_none()) else { return true };
        match f.operands(inst) {
            [source] if keeps_elements(f, inst) => at = *source,
            _ => return false,
        }
    }
    false
}

/// Returns whether a value has the elements of another in an order of axes that may differ, with axes of one element inserted or removed.
pub(super) fn rearranges(f: &Function, value: ValueId, source: ValueId) -> bool {
    let count = |v: ValueId| {
        let wide = f.value_type(v).as_tensor()?.dims.iter().filter(|&&dim| dim != Dim::Known(1));
        Some(wide.count())
    };
    let map = map_along(f, value, |v| v == source, |v| own_axes(f, v));
    // A broadcast would add an axis that varies along no axis of the source.
    map.is_some() && count(value) == count(source)
}

// Returns whether an instruction only moves, repeats or converts elements.
fn keeps_elements(f: &Function, inst: InstId) -> bool {
    f.is::<Cast>(inst)
        || f.is::<Reshape>(inst)
        || f.is::<Transpose>(inst)
        || f.is::<BroadcastTo>(inst)
        || f.is::<BroadcastInDim>(inst)
}

// Returns the axes of a value, without those of one element and those of a constant whose elements are equal.
fn varying_axes(f: &Function, value: ValueId) -> AxisMap {
    let dims = f.value_type(value).as_tensor().map_or(&[][..], |t| &t.dims[..]);
    let splat = f.constant_of(value).is_some_and(|literal| literal.as_splat().is_some());
    let varies = |n: usize| !splat && dims[n] != Dim::Known(1);
    (0..dims.len()).map(|n| Some(n).filter(|&n| varies(n))).collect()
}

fn own_axes(f: &Function, value: ValueId) -> AxisMap {
    let rank = f.value_type(value).as_tensor().map_or(0, |t| t.dims.len());
    (0..rank).map(Some).collect()
}

// Follows a chain from a value to its start, and returns the axes of the value.
fn map_along(
    f: &Function,
    value: ValueId,
    is_start: impl Fn(ValueId) -> bool,
    start: impl FnOnce(ValueId) -> AxisMap,
) -> Option<AxisMap> {
    let dims = |v: ValueId| f.value_type(v).as_tensor().map(|t| &t.dims[..]);
    let mut chain = Vec::new();
    let mut at = value;
    while !is_start(at) {
        let inst = f.inst_of(at).filter(|_| chain.len() < MAX_CHAIN)?;
        let [source] = f.operands(inst) else { return None };
        chain.push((inst, *source, at));
        at = *source;
    }
    let mut map = start(at);
    for (inst, source, result) in chain.into_iter().rev() {
        map = next_map(f, inst, &map, dims(source)?, dims(result)?)?;
    }
    Some(map)
}

// Returns the axes after an instruction; none for other ops than casts, reshapes, transposes and broadcasts.
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
    if f.is::<Transpose>(inst) {
        let perm = f.attr(inst, "perm")?.as_ints()?;
        return perm.iter().map(|&n| map.get(usize::try_from(n).ok()?).copied()).collect();
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
