//! Masks that compare indices: the diagonal of a matrix, and one-hot rows.

use sapwood_ptir::ops::{Cast, Compare, Direction, Iota, Mul, Reshape, Select};
use sapwood_ptir::{Value, ValueType};

use crate::canonicalize::tensor_views::{BroadcastView, find_axes_among_units};
use crate::pattern::Rewrite;

/// The number of definitions that a mask consists of at most: a conversion, a comparison, and a repeated and reshaped `iota`.
const MAX_ORIGIN_STEPS: usize = 3;

/// Returns the axis whose index the elements of a tensor are, if it is an `iota`, or a repeated or reshaped one.
pub(super) fn index_axis(rw: &mut Rewrite<'_>, value: Value) -> Option<usize> {
    let (source, axes) = origin(rw, value)?;
    let iota = rw.def::<Iota>(source)?;
    let dtype = rw.dtype(source)?;
    let extent = *rw.shape(source)?.get(iota.axis.0 as usize)?;
    // Narrow integers wrap, and floats round.
    let (_, largest) = dtype.integer_range()?;
    (i128::from(extent) <= largest).then(|| axes[iota.axis.0 as usize])?
}

// Follows broadcasts and reshapes that add or drop axes of extent one. Returns the source, and for each of its axes the axis of the value that it became;
// `None` for an axis of extent one.
fn origin(rw: &mut Rewrite<'_>, value: Value) -> Option<(Value, Vec<Option<usize>>)> {
    let mut axes: Vec<Option<usize>> = (0..rw.rank(value)?).map(Some).collect();
    let mut at = value;
    for _ in 0..MAX_ORIGIN_STEPS {
        if let Some(view) = rw.def::<BroadcastView>(at).filter(BroadcastView::is_certain) {
            let from = |(&axis, dim): (&usize, &sapwood_ptir::Dim)| {
                if dim.known() == Some(1) { None } else { axes[axis] }
            };
            axes = view.dims.iter().zip(&view.from.dims).map(from).collect();
            at = view.input;
        } else if let Some(reshape) = rw.def::<Reshape>(at) {
            let (from, to) = (rw.shape(reshape.input)?, rw.shape(at)?);
            let without_ones = |shape: &[u64]| -> Vec<usize> {
                (0..shape.len()).filter(|&axis| shape[axis] != 1).collect()
            };
            let (kept, found) = (without_ones(&from), without_ones(&to));
            let extents = |axes: &[usize], shape: &[u64]| -> Vec<u64> {
                axes.iter().map(|&axis| shape[axis]).collect()
            };
            if extents(&kept, &from) != extents(&found, &to) {
                return None;
            }
            let position = |axis: usize| kept.iter().position(|&other| other == axis);
            axes = (0..from.len()).map(|axis| axes[found[position(axis)?]]).collect();
            at = reshape.input;
        } else {
            break;
        }
    }
    Some((at, axes))
}

/// Returns the two axes, in increasing order, on whose diagonal a bool tensor is true: `iota == iota` along different axes of equal extent.
pub(super) fn diagonal_mask(rw: &mut Rewrite<'_>, mask: Value) -> Option<(usize, usize)> {
    let compare = rw.def::<Compare>(mask).filter(|compare| compare.direction == Direction::Eq)?;
    let (a, b) = (index_axis(rw, compare.lhs)?, index_axis(rw, compare.rhs)?);
    let shape = rw.shape(mask)?;
    (a != b && shape[a] == shape[b]).then(|| (a.min(b), a.max(b)))
}

/// Returns the diagonal mask of a tensor that is zero outside of a diagonal, and a tensor with the same elements on the diagonal; `None` stands for ones.
pub(super) fn masked_diagonal(
    rw: &mut Rewrite<'_>,
    value: Value,
) -> Option<((usize, usize), Option<Value>)> {
    if let Some(select) = rw.def::<Select>(value) {
        let axes = diagonal_mask(rw, select.pred).filter(|_| rw.is_zero(select.on_false))?;
        return Some((axes, Some(select.on_true)));
    }
    if let Some(cast) = rw.def::<Cast>(value) {
        return Some((diagonal_mask(rw, cast.input)?, None));
    }
    let product = rw.def::<Mul>(value)?;
    [(product.lhs, product.rhs), (product.rhs, product.lhs)].into_iter().find_map(
        |(mask, other)| {
            let cast = rw.def::<Cast>(mask)?;
            Some((diagonal_mask(rw, cast.input)?, Some(other)))
        },
    )
}

/// A tensor whose rows have a one at an index, and zeros elsewhere.
pub(super) struct OneHot {
    /// The indices. An index outside of the row gives a row of zeros.
    pub(super) indices: Value,
    /// The axis of the rows. The other axes are those of the indices, in order.
    pub(super) class_axis: usize,
}

/// Returns a tensor as one-hot rows: `cast(indices == iota)`.
pub(super) fn one_hot(rw: &mut Rewrite<'_>, value: Value) -> Option<OneHot> {
    let cast = rw.def::<Cast>(value)?;
    rw.dtype(cast.input).filter(|dtype| dtype.is_bool())?;
    let compare = rw.def::<Compare>(cast.input).filter(|c| c.direction == Direction::Eq)?;
    let rank = rw.rank(value)?;
    let operands = [(compare.lhs, compare.rhs), (compare.rhs, compare.lhs)];
    operands.into_iter().find_map(|(indices, classes)| {
        let class_axis = index_axis(rw, classes)?;
        let (indices, found) = origin(rw, indices)?;
        let axes: Vec<usize> = found.iter().copied().collect::<Option<_>>()?;
        let is_plain = rw.dtype(indices)?.is_integer()
            && !axes.contains(&class_axis)
            && axes.is_sorted()
            && axes.len() + 1 == rank;
        is_plain.then_some(OneHot { indices, class_axis })
    })
}

/// Returns a vector whose elements are those of a tensor along an axis, if they do not depend on the other axes: `None` if that is not evident.
pub(super) fn vector_along(rw: &mut Rewrite<'_>, value: Value, axis: usize) -> Option<Value> {
    let (source, axes) = origin(rw, value)?;
    let shape = rw.shape(source)?;
    let kept: Vec<usize> = (0..shape.len()).filter(|&at| shape[at] != 1).collect();
    if kept.iter().any(|&at| axes[at] != Some(axis)) || kept.len() > 1 {
        return None;
    }
    let mut ty = rw.tensor(source)?.clone();
    let found =
        find_axes_among_units(&kept.iter().map(|&at| shape[at]).collect::<Vec<_>>(), &shape)?;
    ty.dims = found.iter().map(|&at| ty.dims[at]).collect();
    match rw.rank(source)? == ty.rank() {
        true => Some(source),
        false => rw.emit(Reshape { input: source, ty: ValueType::from(ty).into() }),
    }
}
