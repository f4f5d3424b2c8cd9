//! Positions in row-major storage.

use smallvec::SmallVec;

use crate::eval::tensor::Shape;

/// The distance of neighbours along each axis of a row-major tensor.
pub(crate) fn strides(shape: &[usize]) -> Shape {
    let mut strides: Shape = SmallVec::from_elem(1, shape.len());
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis].wrapping_mul(shape[axis]);
    }
    strides
}

/// Calls `f` with the offset of each index of `shape` in row-major order, where a step along axis `i` moves the offset
/// by `steps[i]`. Offsets may be negative in between; they wrap.
pub(crate) fn for_each_offset(
    shape: &[usize],
    start: usize,
    steps: &[isize],
    mut f: impl FnMut(usize),
) {
    if shape.contains(&0) {
        return;
    }
    let Some((&inner, outer)) = shape.split_last() else {
        f(start);
        return;
    };
    let inner_step = steps[outer.len()];
    let mut index: Shape = SmallVec::from_elem(0, outer.len());
    let mut base = start;
    loop {
        let mut at = base;
        for _ in 0..inner {
            f(at);
            at = at.wrapping_add_signed(inner_step);
        }
        let mut axis = outer.len();
        loop {
            if axis == 0 {
                return;
            }
            axis -= 1;
            index[axis] += 1;
            base = base.wrapping_add_signed(steps[axis]);
            if index[axis] < outer[axis] {
                break;
            }
            base = base.wrapping_sub((steps[axis] as usize).wrapping_mul(outer[axis]));
            index[axis] = 0;
        }
    }
}
