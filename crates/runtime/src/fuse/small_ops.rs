//! The operations of steps on few elements that are not groups.

use std::borrow::Cow;

use sapwood_ptir::eval::{Fault, Shape};
use sapwood_ptir::{Function, InstId, ValueId, ops};
use smallvec::{SmallVec, smallvec};

use super::extents;
use super::kernel::Storage;
use super::lanes::{Lane, LaneType, ReduceOp, Source};
use super::program::InputBlock;
use super::small_steps::SmallOp;
use super::strided::{self, CopyAxis, Strided};
use crate::kernels::gemm::{GemmElement, MatrixStrides, multiply_matrices};

/// The most multiplications of a product.
const MAX_PRODUCTS: usize = 1 << 14;

/// A position along an axis, which an element of an operand gives when the copy runs.
struct DynamicStart {
    input: usize,
    element: usize,
    /// The largest position.
    most: usize,
    from: usize,
    to: usize,
}

type CopyAxes = SmallVec<[CopyAxis; 4]>;

/// The axes of a copy, and for each position that operands give, the number of its axis.
struct CutAxes {
    all: CopyAxes,
    numbers: SmallVec<[usize; 1]>,
}

/// The place of a copy in the operand and in the result, and its axes.
type CutCopy = (usize, usize, CopyAxes);

/// Elements of one operand that are copied at strides.
struct CopiedPart {
    input: usize,
    offset: usize,
    start: usize,
    axes: CopyAxes,
    starts: SmallVec<[DynamicStart; 1]>,
    /// Of a copy that leaves out elements outside of the result. Other copies are moved inside.
    cut: Option<CutAxes>,
}

/// Fills the result with a scalar operand, and then copies elements of operands to it.
pub(super) struct SmallCopy {
    filler: Option<usize>,
    len: usize,
    parts: SmallVec<[CopiedPart; 2]>,
    /// True if the first part copies the whole first operand, whose storage the result may take over.
    updates: bool,
}

/// A batch of matrix products.
pub(super) struct SmallProduct {
    // The extents of the batch axes, and the strides of both operands.
    batch: SmallVec<[(usize, usize, usize); 2]>,
    sizes: [usize; 3],
    strides: [MatrixStrides; 2],
    lens: [usize; 2],
}

/// A reduction of any axes in the fixed order, with a start.
pub(super) struct SmallReduce {
    op: ReduceOp,
    kept: SmallVec<[(usize, usize); 4]>,
    reduced: SmallVec<[(usize, usize); 4]>,
}

/// Returns the operation of an instruction that is not part of a group; `None` if there is none.
pub(super) fn compile_inst(f: &Function, inst: InstId) -> Option<SmallOp> {
    let result = f.value_of(inst)?;
    let (dtype, shape) = extents(f, result)?;
    let operands = f.operands(inst);
    let shapes: SmallVec<[Shape; 4]> =
        operands.iter().map(|&v| Some(extents(f, v)?.1)).collect::<Option<_>>()?;
    let len = shape.iter().product();
    let first = shapes.first()?;
    let copy = |filler, parts| {
        Some(SmallOp::Copy(Box::new(SmallCopy { filler, len, parts, updates: false })))
    };
    let update = |part| {
        let parts = smallvec![CopiedPart::dense(0, &Strided::dense(&shape)), part];
        Some(SmallOp::Copy(Box::new(SmallCopy { filler: None, len, parts, updates: true })))
    };
    if let Some(change) = super::view_change(f, inst, &shape) {
        let view = change.apply(&Strided::dense(first), &shape)?;
        return copy(None, smallvec![CopiedPart::dense(0, &view)]);
    }
    let ints = |name: &str| f.attr(inst, name).and_then(|attr| attr.as_ints());
    match f.op_name(inst) {
        "transpose" => {
            let view = Strided::dense(first);
            let perm = ints("perm")?.iter().map(|&n| usize::try_from(n).ok());
            let perm = perm.collect::<Option<SmallVec<[usize; 4]>>>()?;
            let strides = perm.iter().map(|&axis| view.strides.get(axis).copied());
            let strides = strides.collect::<Option<_>>()?;
            let view = Strided { shape: SmallVec::from_slice(&shape), strides, offset: 0 };
            copy(None, smallvec![CopiedPart::dense(0, &view)])
        }
        "pad" => {
            let zeros = vec![0; shape.len()];
            let (low, interior) = (ints("low")?, ints("interior").unwrap_or(&zeros));
            let parts = padded(first, &shape, low, interior)?;
            copy(Some(1), parts.into_iter().collect())
        }
        "concat" => {
            let axis = usize::try_from(f.attr(inst, "axis")?.as_int()?).ok()?;
            let to = Strided::dense(&shape);
            let mut parts = SmallVec::new();
            let mut start = 0;
            for (input, shape) in shapes.iter().enumerate() {
                let view = Strided::dense(shape);
                parts.push(CopiedPart {
                    start: start * to.strides.get(axis)?,
                    ..CopiedPart::new(input, shape, 0, &view.strides, &to.strides)
                });
                start += shape.get(axis)?;
            }
            copy(None, parts)
        }
        "dynamic_slice" => {
            let (from, to) = (Strided::dense(first), Strided::dense(&shape));
            let mut part = CopiedPart::new(0, &shape, 0, &from.strides, &to.strides);
            for axis in 0..shape.len() {
                let most = first[axis].checked_sub(shape[axis])?;
                let from = from.strides[axis];
                part.starts.push(DynamicStart { input: axis + 1, element: 0, most, from, to: 0 });
            }
            part.starts.retain(|start| start.most > 0);
            (operands.len() == shape.len() + 1 && integers(f, &operands[1..]))
                .then(|| copy(None, smallvec![part]))?
        }
        "dynamic_update_slice" => {
            let (sizes, to) = (shapes.get(1)?, Strided::dense(&shape));
            let from = Strided::dense(sizes);
            let mut part = CopiedPart::new(1, sizes, 0, &from.strides, &to.strides);
            for axis in 0..shape.len() {
                let most = shape[axis].checked_sub(sizes[axis])?;
                let to = to.strides[axis];
                part.starts.push(DynamicStart { input: axis + 2, element: 0, most, from: 0, to });
            }
            part.starts.retain(|start| start.most > 0);
            (operands.len() == shape.len() + 2 && integers(f, &operands[2..]))
                .then(|| update(part))?
        }
        "gather" => {
            let sizes: Shape = lengths(ints("slice_sizes")?)?;
            let axes = single_slice(f, inst, "start_index_map", first, &sizes, shapes.get(1)?)?;
            let (from, to) = (Strided::dense(first), Strided::dense(&sizes));
            let mut part = CopiedPart::new(0, &sizes, 0, &from.strides, &to.strides);
            for (element, &axis) in axes.iter().enumerate() {
                let (most, from) = (first[axis] - sizes[axis], from.strides[axis]);
                part.starts.push(DynamicStart { input: 1, element, most, from, to: 0 });
            }
            integers(f, &operands[1..]).then(|| copy(None, smallvec![part]))?
        }
        "scatter" => {
            let &[body] = f.regions(inst) else { return None };
            let replaces = f.body_results(body) == [*f.body_params(body).get(1)?];
            if operands.len() != 3 || !replaces {
                return None;
            }
            let (inserted, updates) = (lengths(ints("inserted_window_dims")?)?, shapes.get(2)?);
            let windows: Shape = lengths(ints("update_window_dims")?)?;
            let mut windows = windows.iter().map(|&axis| updates.get(axis).copied());
            let sizes = (0..shape.len()).map(|axis| match inserted.contains(&axis) {
                true => Some(1),
                false => windows.next()?,
            });
            let sizes: Shape = sizes.collect::<Option<_>>()?;
            let axes = single_slice(f, inst, "scatter_dims", first, &sizes, shapes.get(1)?)?;
            let (from, to) = (Strided::dense(&sizes), Strided::dense(&shape));
            let mut part = CopiedPart::new(2, &sizes, 0, &from.strides, &to.strides);
            for (element, &axis) in axes.iter().enumerate() {
                let (most, to) = (shape[axis] - sizes[axis], to.strides[axis]);
                part.starts.push(DynamicStart { input: 1, element, most, from: 0, to });
            }
            let all = (0..shape.len()).map(|axis| CopyAxis {
                extent: sizes[axis],
                from: from.strides[axis],
                to: to.strides[axis],
            });
            part.cut = Some(CutAxes { all: all.collect(), numbers: axes });
            integers(f, &operands[1..2]).then(|| update(part))?
        }
        "dot_general" => {
            let (lane, narrow) = LaneType::of(dtype)?;
            let same = operands.iter().all(|&v| extents(f, v).is_some_and(|(ty, _)| ty == dtype));
            let plain = matches!(lane, LaneType::F32 | LaneType::F64) && narrow.is_none() && same;
            let accumulates = f
                .attr(inst, "accumulate")
                .is_some_and(|a| matches!(a, sapwood_ptir::Attr::Type(ty) if *ty != dtype));
            (plain && !accumulates)
                .then(|| product(f, inst, first, shapes.get(1)?).map(SmallOp::Product))?
        }
        _ if f.is::<ops::Reduce>(inst) => {
            let op = super::reduction_op(f, inst)?;
            let axes = ints("axes")?;
            let strides = Strided::dense(first).strides;
            let view = |reduced: bool| {
                let axes = (0..first.len()).filter(|&a| axes.contains(&(a as i64)) == reduced);
                let axes: SmallVec<[usize; 4]> = axes.collect();
                let shape = axes.iter().map(|&a| first[a]).collect();
                Strided { shape, strides: axes.iter().map(|&a| strides[a]).collect(), offset: 0 }
                    .collapsed()
            };
            Some(SmallOp::Reduce(SmallReduce { op, kept: view(false), reduced: view(true) }))
        }
        _ => None,
    }
}

// Returns whether all values are integers that a step can read.
fn integers(f: &Function, values: &[ValueId]) -> bool {
    values.iter().all(|&v| {
        let lane = extents(f, v).and_then(|(dtype, _)| LaneType::of(dtype));
        matches!(lane, Some((LaneType::I32 | LaneType::U32 | LaneType::I64, _)))
    })
}

fn lengths(all: &[i64]) -> Option<Shape> {
    all.iter().map(|&n| usize::try_from(n).ok()).collect()
}

// Returns the axes that the entries of the only index vector of a gather or scatter count along; `None` if there are several index vectors.
fn single_slice(
    f: &Function,
    inst: InstId,
    map: &str,
    shape: &[usize],
    sizes: &[usize],
    indices: &[usize],
) -> Option<SmallVec<[usize; 1]>> {
    let batch = f.attr(inst, "input_batch_dims").and_then(|attr| attr.as_ints());
    let axes: SmallVec<[usize; 1]> = lengths(f.attr(inst, map)?.as_ints()?)?.into_iter().collect();
    let fits = sizes.len() == shape.len()
        && sizes.iter().zip(shape).all(|(size, extent)| size <= extent)
        && axes.iter().all(|&axis| axis < shape.len())
        && indices.iter().product::<usize>() == axes.len();
    (fits && batch.is_none_or(<[i64]>::is_empty)).then_some(axes)
}

// Returns the elements of an operand of `pad` that are in the result; `None` if the numbers are too large.
fn padded(
    from: &[usize],
    to: &[usize],
    low: &[i64],
    interior: &[i64],
) -> Option<Option<CopiedPart>> {
    let (read, write) = (Strided::dense(from), Strided::dense(to));
    let mut part = CopiedPart::new(0, &[], 0, &[], &[]);
    for axis in 0..from.len() {
        let (low, gap) = (*low.get(axis)?, interior.get(axis)?.checked_add(1)?);
        if gap < 1 || low.unsigned_abs() > 1 << 40 || gap > 1 << 40 {
            return None;
        }
        let size = i64::try_from(to[axis]).ok()?;
        let first = if low >= 0 { 0 } else { (-low + gap - 1) / gap };
        let end = if size <= low { 0 } else { (size - low + gap - 1) / gap };
        let end = Ord::min(end, i64::try_from(from[axis]).ok()?);
        if end <= first {
            return Some(None);
        }
        part.offset += first as usize * read.strides[axis];
        part.start += (low + first * gap) as usize * write.strides[axis];
        part.axes.push(CopyAxis {
            extent: (end - first) as usize,
            from: read.strides[axis],
            to: write.strides[axis] * gap as usize,
        });
    }
    part.collapse();
    Some(Some(part))
}

// Returns the products of `dot_general`, if rows and columns have one stride each.
fn product(f: &Function, inst: InstId, left: &[usize], right: &[usize]) -> Option<SmallProduct> {
    let axes = |name: &str| -> Option<SmallVec<[usize; 4]>> {
        let all = f.attr(inst, name).and_then(|a| a.as_ints()).unwrap_or_default();
        all.iter().map(|&n| usize::try_from(n).ok()).collect()
    };
    let (lb, rb) = (axes("lhs_batch")?, axes("rhs_batch")?);
    let (lc, rc) = (axes("lhs_contract")?, axes("rhs_contract")?);
    let free = |shape: &[usize], batch: &[usize], contract: &[usize]| -> SmallVec<[usize; 4]> {
        (0..shape.len()).filter(|a| !batch.contains(a) && !contract.contains(a)).collect()
    };
    let (lf, rf) = (free(left, &lb, &lc), free(right, &rb, &rc));
    let (ls, rs) = (Strided::dense(left).strides, Strided::dense(right).strides);
    // Returns the number of elements along axes and the distance of neighbours, the last axis fastest.
    let along = |shape: &[usize], strides: &[usize], axes: &[usize]| -> Option<(usize, usize)> {
        let view = Strided {
            shape: axes.iter().map(|&a| shape.get(a).copied()).collect::<Option<_>>()?,
            strides: axes.iter().map(|&a| strides.get(a).copied()).collect::<Option<_>>()?,
            offset: 0,
        };
        match view.collapsed()[..] {
            [(extent, stride)] => Some((extent, stride)),
            _ => None,
        }
    };
    let ((m, left_row), (k, left_column)) = (along(left, &ls, &lf)?, along(left, &ls, &lc)?);
    let ((inner, right_row), (n, right_column)) =
        (along(right, &rs, &rc)?, along(right, &rs, &rf)?);
    let mut batch = SmallVec::new();
    let mut batches = 1;
    for (&a, &b) in lb.iter().zip(&rb) {
        let extent = *left.get(a)?;
        batches *= extent;
        batch.push((extent, *ls.get(a)?, *rs.get(b)?));
    }
    let lens = [left.iter().product(), right.iter().product()];
    let work = m.checked_mul(n)?.checked_mul(k)?.checked_mul(batches)?;
    // Several axes are contracted in the same order on both sides only if they are neighbours on both.
    (inner == k && work <= MAX_PRODUCTS).then_some(SmallProduct {
        batch,
        sizes: [m, k, n],
        strides: [
            MatrixStrides { row: left_row, column: left_column },
            MatrixStrides { row: right_row, column: right_column },
        ],
        lens,
    })
}

impl CopiedPart {
    fn new(input: usize, shape: &[usize], offset: usize, from: &[usize], to: &[usize]) -> Self {
        let axis = |((&extent, &from), &to)| CopyAxis { extent, from, to };
        let axes = shape.iter().zip(from).zip(to).map(axis).collect();
        let mut part = Self { input, offset, start: 0, axes, starts: SmallVec::new(), cut: None };
        part.collapse();
        part
    }

    /// Returns the copy of a view to a dense result.
    fn dense(input: usize, view: &Strided) -> Self {
        let to = Strided::dense(&view.shape);
        Self::new(input, &view.shape, view.offset, &view.strides, &to.strides)
    }

    // Joins neighbouring axes where the strides allow it.
    fn collapse(&mut self) {
        let mut joined: CopyAxes = SmallVec::new();
        for &axis in self.axes.iter().filter(|axis| axis.extent != 1) {
            match joined.last_mut() {
                Some(last)
                    if last.from == axis.from * axis.extent && last.to == axis.to * axis.extent =>
                {
                    *last = CopyAxis { extent: last.extent * axis.extent, ..axis };
                }
                _ => joined.push(axis),
            }
        }
        if joined.is_empty() {
            joined.push(CopyAxis { extent: 1, from: 1, to: 1 });
        }
        self.axes = joined;
    }
}

impl SmallCopy {
    /// Returns whether the result may take over the storage of the first operand.
    pub(super) fn updates_in_place(&self) -> bool {
        self.updates
    }

    pub(super) fn run(&self, inputs: &[InputBlock<'_>], to: &mut Storage) -> Result<(), Fault> {
        if let Some(filler) = self.filler {
            let axes = [CopyAxis { extent: self.len, from: 0, to: 1 }];
            to.copy_at_strides(&inputs[filler], &axes, 0, 0)?;
        }
        for part in &self.parts {
            if !(self.updates && matches!(inputs[part.input], InputBlock::TakenOver(_))) {
                part.run(inputs, to)?;
            }
        }
        Ok(())
    }
}

impl CopiedPart {
    fn run(&self, inputs: &[InputBlock<'_>], to: &mut Storage) -> Result<(), Fault> {
        let (mut offset, mut start) = (self.offset, self.start);
        let mut axes = &self.axes[..];
        let shortened;
        for dynamic in &self.starts {
            let wanted = position(&inputs[dynamic.input], dynamic.element)?;
            let place = wanted.clamp(0, dynamic.most as i64);
            offset += place as usize * dynamic.from;
            start += place as usize * dynamic.to;
            if place != wanted && self.cut.is_some() {
                match self.cut_axes(inputs)? {
                    Some((from, at, cut)) => (offset, start, shortened) = (from, at, cut),
                    None => return Ok(()),
                }
                axes = &shortened;
                break;
            }
        }
        to.copy_at_strides(&inputs[self.input], axes, offset, start)
    }

    // Returns where a copy of the elements inside the result starts in the operand and in the result, and its axes; `None` if none is inside.
    #[cold]
    fn cut_axes(&self, inputs: &[InputBlock<'_>]) -> Result<Option<CutCopy>, Fault> {
        let Some(CutAxes { all, numbers }) = &self.cut else { return Ok(None) };
        let (mut offset, mut start, mut axes) = (self.offset, self.start, all.clone());
        for (dynamic, &number) in self.starts.iter().zip(numbers) {
            let wanted = position(&inputs[dynamic.input], dynamic.element)?;
            let axis = &mut axes[number];
            let size = axis.extent as i64;
            let extent = size + dynamic.most as i64;
            let first = wanted.saturating_neg().clamp(0, size);
            let end = extent.saturating_sub(wanted).clamp(0, size);
            if first >= end {
                return Ok(None);
            }
            offset += first as usize * axis.from;
            start += (wanted + first) as usize * axis.to;
            axis.extent = (end - first) as usize;
        }
        Ok(Some((offset, start, axes)))
    }
}

// Returns an element of an integer operand.
fn position(block: &InputBlock<'_>, element: usize) -> Result<i64, Fault> {
    fn at<T: Copy>(source: Source<'_, T>, element: usize) -> Option<T> {
        match source {
            Source::Splat(x) => Some(x),
            Source::Dense(all) => all.get(element).copied(),
        }
    }
    let number = match *block {
        InputBlock::I32(source) => at(source, element).map(i64::from),
        InputBlock::U32(source) => at(source, element).map(i64::from),
        InputBlock::I64(source) => at(source, element),
        _ => None,
    };
    number.ok_or_else(|| Fault::op("a start must be an integer"))
}

impl SmallProduct {
    pub(super) fn run(&self, inputs: &[InputBlock<'_>], to: &mut Storage) -> Result<(), Fault> {
        match (inputs, to) {
            ([InputBlock::F32(a), InputBlock::F32(b)], Storage::F32(to)) => {
                self.multiply(*a, *b, to);
            }
            ([InputBlock::F64(a), InputBlock::F64(b)], Storage::F64(to)) => {
                self.multiply(*a, *b, to);
            }
            _ => return Err(Fault::op("the operands of a product have other types")),
        }
        Ok(())
    }

    fn multiply<T: Lane + GemmElement>(&self, a: Source<'_, T>, b: Source<'_, T>, to: &mut [T]) {
        let all = |source, len| match source {
            Source::Dense(all) => Cow::Borrowed(all),
            Source::Splat(x) => Cow::Owned(vec![x; len]),
        };
        let (a, b) = (all(a, self.lens[0]), all(b, self.lens[1]));
        let [m, k, n] = self.sizes;
        let number = self.batch.iter().map(|&(extent, ..)| extent).product();
        for (batch, result) in to.chunks_exact_mut(m * n).take(number).enumerate() {
            let (mut rest, mut left, mut right) = (batch, 0, 0);
            for &(extent, from_left, from_right) in self.batch.iter().rev() {
                left += rest % extent * from_left;
                right += rest % extent * from_right;
                rest /= extent;
            }
            let [lt, rt] = self.strides;
            multiply_matrices([m, k, n], (&a[left..], lt), (&b[right..], rt), result, 1);
        }
    }
}

impl SmallReduce {
    pub(super) fn run(&self, inputs: &[InputBlock<'_>], to: &mut Storage) -> Result<(), Fault> {
        match (inputs, to) {
            ([InputBlock::Bool(x), InputBlock::Bool(s)], Storage::Bool(to)) => {
                self.reduce(*x, *s, to);
            }
            ([InputBlock::I32(x), InputBlock::I32(s)], Storage::I32(to)) => self.reduce(*x, *s, to),
            ([InputBlock::U32(x), InputBlock::U32(s)], Storage::U32(to)) => self.reduce(*x, *s, to),
            ([InputBlock::I64(x), InputBlock::I64(s)], Storage::I64(to)) => self.reduce(*x, *s, to),
            ([InputBlock::F32(x), InputBlock::F32(s)], Storage::F32(to)) => self.reduce(*x, *s, to),
            ([InputBlock::F64(x), InputBlock::F64(s)], Storage::F64(to)) => self.reduce(*x, *s, to),
            _ => return Err(Fault::op("the operands of a reduction have other types")),
        }
        Ok(())
    }

    fn reduce<T: Lane>(&self, from: Source<'_, T>, start: Source<'_, T>, to: &mut [T]) {
        let combine: fn(T, T) -> T = match self.op {
            ReduceOp::Sum => T::plus,
            ReduceOp::Prod => T::times,
            ReduceOp::Max => Lane::max,
            ReduceOp::Min => Lane::min,
        };
        let start = match start {
            Source::Splat(x) => x,
            Source::Dense(all) => all.first().copied().unwrap_or(T::ZERO),
        };
        for (result, base) in to.iter_mut().zip(strided::positions(&self.kept)) {
            *result = strided::positions(&self.reduced).fold(start, |sum, at| {
                combine(
                    sum,
                    match from {
                        Source::Splat(x) => x,
                        Source::Dense(all) => all[base + at],
                    },
                )
            });
        }
    }
}
