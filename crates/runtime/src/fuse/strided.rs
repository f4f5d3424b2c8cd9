//! Views of tensors: elements at strides, without a copy.
#![allow(
    clippy::needless_range_loop,
    reason = "the steps of joined iterators are not always inlined"
)]

use smallvec::SmallVec;

use super::lanes::Source;

pub(super) type Extents = SmallVec<[usize; 4]>;

/// The positions of the elements of a view in the elements of its base: `offset` plus the sum of each index times its stride.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Strided {
    pub(super) shape: Extents,
    pub(super) strides: Extents,
    pub(super) offset: usize,
}

impl Strided {
    /// Returns the view of all elements of a tensor, row-major.
    pub(super) fn dense(shape: &[usize]) -> Self {
        let mut strides = Extents::from_elem(0, shape.len());
        let mut stride = 1usize;
        for (axis, &extent) in shape.iter().enumerate().rev() {
            strides[axis] = stride;
            stride = stride.saturating_mul(extent.max(1));
        }
        Self { shape: Extents::from_slice(shape), strides, offset: 0 }
    }

    /// Returns the view whose axis `dims[i]` is axis `i` of this one; the other axes, and axes of extent one, repeat.
    pub(super) fn broadcast(&self, dims: &[usize], shape: &[usize]) -> Option<Self> {
        let mut strides = Extents::from_elem(0, shape.len());
        for (axis, &to) in dims.iter().enumerate() {
            if self.shape.get(axis)? == shape.get(to)? {
                strides[to] = self.strides[axis];
            } else if self.shape[axis] != 1 {
                return None;
            }
        }
        Some(Self { shape: Extents::from_slice(shape), strides, offset: self.offset })
    }

    /// Returns the view with other extents, if strides can express it.
    pub(super) fn reshape(&self, shape: &[usize]) -> Option<Self> {
        if let [(_, stride @ (0 | 1))] = self.collapsed()[..] {
            let mut dense = Self::dense(shape);
            dense.strides.iter_mut().for_each(|s| *s *= stride);
            return Some(Self { offset: self.offset, ..dense });
        }
        // Otherwise only axes of extent one may come and go.
        let mut kept = (0..self.shape.len()).filter(|&a| self.shape[a] != 1);
        let mut strides = Extents::from_elem(0, shape.len());
        for (axis, &extent) in shape.iter().enumerate().filter(|&(_, &n)| n != 1) {
            let from = kept.next()?;
            if self.shape[from] != extent {
                return None;
            }
            strides[axis] = self.strides[from];
        }
        kept.next().is_none().then(|| Self {
            shape: Extents::from_slice(shape),
            strides,
            offset: self.offset,
        })
    }

    /// Returns the view of a part: from `starts` on, every `steps`-th element.
    pub(super) fn slice(&self, starts: &[usize], steps: &[usize], shape: &[usize]) -> Self {
        let offset = starts.iter().zip(&self.strides).map(|(&n, &s)| n * s).sum::<usize>();
        let strides = self.strides.iter().zip(steps).map(|(&s, &n)| s * n).collect();
        Self { shape: Extents::from_slice(shape), strides, offset: self.offset + offset }
    }

    /// Returns extents and strides with as few axes as possible; at least one.
    pub(super) fn collapsed(&self) -> SmallVec<[(usize, usize); 4]> {
        let mut axes: SmallVec<[(usize, usize); 4]> = SmallVec::new();
        for (&extent, &stride) in self.shape.iter().zip(&self.strides) {
            if extent == 1 {
                continue;
            }
            match axes.last_mut() {
                Some(last) if last.1 == stride * extent => *last = (last.0 * extent, stride),
                _ => axes.push((extent, stride)),
            }
        }
        if axes.is_empty() {
            axes.push((1, 1));
        }
        axes
    }
}

/// Returns the positions of the elements of a view, in order.
pub(super) fn positions(axes: &[(usize, usize)]) -> impl Iterator<Item = usize> {
    let len = axes.iter().map(|&(extent, _)| extent).product();
    let mut index: SmallVec<[usize; 4]> = SmallVec::from_elem(0, axes.len());
    let mut next = 0;
    (0..len).map(move |_| {
        let at = next;
        for (i, &(extent, stride)) in index.iter_mut().zip(axes).rev() {
            *i += 1;
            next += stride;
            if *i < extent {
                break;
            }
            next -= extent * stride;
            *i = 0;
        }
        at
    })
}

/// Copies the elements of a view from its `start`-th on to `to`.
#[inline(always)]
pub(super) fn load<T: Copy, U>(
    from: &[T],
    offset: usize,
    axes: &[(usize, usize)],
    start: usize,
    mut to: &mut [U],
    convert: impl Fn(T) -> U,
) {
    let Some((&(extent, stride), outer)) = axes.split_last() else { return };
    let mut column = start % extent;
    let mut row = start / extent;
    // The position of the row, and the index of each outer axis.
    let mut index: SmallVec<[usize; 4]> = SmallVec::from_elem(0, outer.len());
    let mut at = offset;
    for (axis, &(n, s)) in outer.iter().enumerate().rev() {
        index[axis] = row % n;
        at += row % n * s;
        row /= n;
    }
    while !to.is_empty() {
        let now = (extent - column).min(to.len());
        let (here, rest) = to.split_at_mut(now);
        to = rest;
        let first = at + column * stride;
        match stride {
            0 => {
                let x = from[first];
                for y in here {
                    *y = convert(x);
                }
            }
            1 => {
                let (here, all) = (&mut here[..now], &from[first..first + now]);
                for i in 0..now {
                    here[i] = convert(all[i]);
                }
            }
            _ => {
                let all = from[first..].iter().step_by(stride);
                for (y, &x) in here.iter_mut().zip(all) {
                    *y = convert(x);
                }
            }
        }
        column = 0;
        for (axis, &(n, s)) in outer.iter().enumerate().rev() {
            index[axis] += 1;
            at += s;
            if index[axis] < n {
                break;
            }
            at -= n * s;
            index[axis] = 0;
        }
    }
}

/// An axis of a copy: its extent, and the strides of the elements and of their new places.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct CopyAxis {
    pub(super) extent: usize,
    pub(super) from: usize,
    pub(super) to: usize,
}

/// Copies elements from `offset` on to places from `start` on, along at least one axis. No axis is empty.
pub(super) fn copy<T: Copy>(
    source: Source<'_, T>,
    axes: &[CopyAxis],
    mut offset: usize,
    mut start: usize,
    to: &mut [T],
) {
    let Some((inner, outer)) = axes.split_last() else { return };
    let mut index: SmallVec<[usize; 4]> = SmallVec::from_elem(0, outer.len());
    loop {
        match (source, inner.from, inner.to) {
            (Source::Dense(from), 1, 1) => {
                let from = &from[offset..offset + inner.extent];
                to[start..start + inner.extent].copy_from_slice(from);
            }
            (Source::Dense(from), ..) => {
                for i in 0..inner.extent {
                    to[start + i * inner.to] = from[offset + i * inner.from];
                }
            }
            (Source::Splat(x), ..) => {
                for i in 0..inner.extent {
                    to[start + i * inner.to] = x;
                }
            }
        }
        let mut axis = outer.len();
        loop {
            if axis == 0 {
                return;
            }
            axis -= 1;
            let CopyAxis { extent, from, to } = outer[axis];
            index[axis] += 1;
            offset += from;
            start += to;
            if index[axis] < extent {
                break;
            }
            offset -= extent * from;
            start -= extent * to;
            index[axis] = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elements(view: &Strided, from: &[i32]) -> Vec<i32> {
        let len = view.shape.iter().product();
        let mut all = vec![0; len];
        // In blocks of three, to start in the middle of rows.
        for (number, block) in all.chunks_mut(3).enumerate() {
            load(from, view.offset, &view.collapsed(), number * 3, block, |x| x);
        }
        all
    }

    #[test]
    fn views_have_the_elements_of_their_definition() {
        let from: Vec<i32> = (0..24).collect();
        let dense = Strided::dense(&[2, 3, 4]);
        assert_eq!(elements(&dense, &from), from);
        assert_eq!(dense.collapsed()[..], [(24, 1)]);
        let part = dense.slice(&[1, 0, 1], &[1, 2, 1], &[1, 2, 3]);
        assert_eq!(elements(&part, &from), [13, 14, 15, 21, 22, 23]);
        let repeated = part.broadcast(&[1, 0, 2], &[2, 2, 3]).unwrap();
        assert_eq!(elements(&repeated, &from), [13, 14, 15, 13, 14, 15, 21, 22, 23, 21, 22, 23]);
        let flat = part.reshape(&[2, 1, 3]).unwrap();
        assert_eq!(elements(&flat, &from), [13, 14, 15, 21, 22, 23]);
        assert_eq!(part.reshape(&[3, 2]), None);
        let rows = Strided::dense(&[2]).broadcast(&[0], &[2, 3]).unwrap();
        assert_eq!(elements(&rows, &[7, 8]), [7, 7, 7, 8, 8, 8]);
        assert_eq!(rows.collapsed()[..], [(2, 1), (3, 0)]);
        let all: Vec<usize> = positions(&repeated.collapsed()).collect();
        assert_eq!(all, [0, 1, 2, 0, 1, 2, 8, 9, 10, 8, 9, 10]);
        assert_eq!(positions(&[(0, 1)]).count(), 0);
        // They are counted one by one: a list of these would not fit the memory.
        assert_eq!(positions(&[(1 << 20, 1 << 20), (1 << 20, 1)]).take(2).last(), Some(1));
    }

    #[test]
    fn copies_put_elements_at_their_places() {
        let from: Vec<i32> = (1..13).collect();
        let axis = |extent, from, to| CopyAxis { extent, from, to };
        // The transposed matrix, every second row of a larger one.
        let mut to = [0; 14];
        copy(Source::Dense(&from), &[axis(4, 1, 4), axis(2, 4, 1)], 4, 0, &mut to);
        assert_eq!(to, [5, 9, 0, 0, 6, 10, 0, 0, 7, 11, 0, 0, 8, 12]);
        let mut to = [0; 6];
        copy(Source::Dense(&from), &[axis(2, 6, 3), axis(2, 1, 1)], 1, 1, &mut to);
        assert_eq!(to, [0, 2, 3, 0, 8, 9]);
        copy(Source::Splat(4), &[axis(3, 0, 2)], 0, 0, &mut to);
        assert_eq!(to, [4, 2, 4, 0, 4, 9]);
    }
}
