//! The kernels of reductions. Each result combines its elements in row-major order.

use sapwood_types::DataType;
use smallvec::SmallVec;

use super::cast::{Convert, Wide, cast};
use super::elementwise::{no_kernel, view};
use super::index::{Column, Steps, for_each_row_pair, innermost, strides, try_each_offset};
use super::unary::unsigned;
use crate::eval::context::{EvalCx, EvalResult, Results, one};
use crate::eval::error::Fault;
use crate::eval::native::{Int, Native, Num};
use crate::eval::tensor::{Shape, Tensor, Value, View, count};
use crate::op::Op;
use crate::{with_computed, with_int, with_number};

/// The layout of a reduction.
struct ReductionLayout {
    /// The extents of the input.
    shape: Shape,
    /// The extents of the result.
    kept: Shape,
    /// The change of the result offset per step along each axis of the input.
    steps: Steps,
    /// True for each axis that is reduced.
    reduced: SmallVec<[bool; 8]>,
    /// The number of elements per result.
    each: usize,
}

impl ReductionLayout {
    fn new(shape: &[usize], axes: &[usize], keepdims: bool) -> Self {
        let mut kept = Shape::new();
        let mut stay = Shape::new();
        for (axis, &n) in shape.iter().enumerate() {
            if !axes.contains(&axis) {
                kept.push(n);
                stay.push(n);
            } else if keepdims {
                kept.push(1);
            }
        }
        let mut distances = strides(&stay).into_iter();
        let steps = (0..shape.len())
            .map(|a| if axes.contains(&a) { 0 } else { distances.next().unwrap_or(0) })
            .collect();
        let each = axes.iter().fold(1usize, |n, &a| n.saturating_mul(shape[a]));
        let reduced = (0..shape.len()).map(|a| axes.contains(&a)).collect();
        Self { shape: Shape::from_slice(shape), kept, steps, reduced, each }
    }

    fn results(&self) -> usize {
        count(&self.kept).unwrap_or(0)
    }
}

/// Reduces with `f`, starting from `start`, in the element type.
fn fold<T: Native>(
    cx: &EvalCx<'_>,
    input: &Tensor,
    layout: &ReductionLayout,
    start: T,
    f: impl Fn(T, T) -> T,
) -> Result<Tensor, Fault> {
    let dtype = input.dtype();
    if count(input.shape()) == Some(0) {
        return Ok(Tensor::splat(dtype, &layout.kept, start));
    }
    let all = match view::<T>(input)? {
        View::Splat(x) => {
            // All results are equal.
            let mut sum = start;
            for left in (0..layout.each).step_by(1 << 16) {
                let now = (layout.each - left).min(1 << 16);
                cx.work(now as u64)?;
                sum = (0..now).fold(sum, |sum, _| f(sum, x));
            }
            return Ok(Tensor::splat(dtype, &layout.kept, sum));
        }
        View::Dense(all) => all,
    };
    cx.work(all.len() as u64)?;
    let mut out: Vec<T> = cx.alloc_result(layout.results())?;
    out.resize(layout.results(), start);
    let (length, step) = innermost(&layout.shape, &layout.steps);
    let from = strides(&layout.shape);
    for_each_row_pair(&layout.shape, [0, 0], [&from, &layout.steps], |[at, to]| {
        let row = &all[at..at + length];
        if step == 0 {
            out[to] = row.iter().fold(out[to], |sum, &x| f(sum, x));
        } else {
            // The innermost axis is kept, so its results are adjacent.
            for (sum, &x) in out[to..to + length].iter_mut().zip(row) {
                *sum = f(*sum, x);
            }
        }
    });
    Ok(Tensor::new(dtype, &layout.kept, out))
}

/// Reduces like [`fold`], compiled once per element type.
fn fold_by<T: Native>(
    cx: &EvalCx<'_>,
    input: &Tensor,
    layout: &ReductionLayout,
    start: T,
    f: &dyn Fn(T, T) -> T,
) -> Result<Tensor, Fault> {
    fold(cx, input, layout, start, f)
}

fn layout(cx: &EvalCx<'_>, input: &Tensor) -> Result<ReductionLayout, Fault> {
    // Without elements, the number of results may overflow.
    cx.result_shape(0)?;
    let axes = cx.axes("axes", input.shape().len())?;
    Ok(ReductionLayout::new(input.shape(), &axes, cx.bool("keepdims")?))
}

/// Returns the type in which sums are accumulated.
fn accumulate(cx: &EvalCx<'_>, dtype: DataType) -> Result<DataType, Fault> {
    let narrow = dtype.is_float() && dtype.bit_width() < 32;
    Ok(cx.dtype("accumulate")?.unwrap_or(if narrow { DataType::F32 } else { dtype }))
}

pub(crate) fn reduce_sum(cx: &mut EvalCx<'_>) -> EvalResult {
    let input = cx.take_tensor(0)?;
    let (layout, dtype) = (layout(cx, &input)?, input.dtype());
    let input = cast(cx, input, accumulate(cx, dtype)?)?;
    let sums = with_computed!(input.dtype(), T => {
        // A sum of equal integers is a product.
        let shortcut = input.as_splat::<T>().and_then(|x| times(x, layout.each));
        match shortcut {
            Some(sum) => Tensor::splat(input.dtype(), &layout.kept, sum),
            None => combine(cx, &input, &layout, T::ZERO, CombiningOp::Add)?,
        }
    }, _ => no_kernel(dtype)?);
    one(cast(cx, sums, dtype)?)
}

// Returns n times x, if that equals the repeated sum.
fn times<T: Num + Convert>(x: T, n: usize) -> Option<T> {
    match x.wide() {
        Wide::Signed(_) | Wide::Unsigned(_) if T::DTYPE.is_integer() => {
            Some(x.mul(T::from_wide(Wide::Unsigned(n as u64))))
        }
        _ => None,
    }
}

pub(crate) fn reduce_prod(cx: &mut EvalCx<'_>) -> EvalResult {
    let input = cx.take_tensor(0)?;
    let (layout, dtype) = (layout(cx, &input)?, input.dtype());
    let input = cast(cx, input, accumulate(cx, dtype)?)?;
    let products = with_computed!(input.dtype(), T => {
        combine(cx, &input, &layout, T::ONE, CombiningOp::Mul)?
    }, _ => no_kernel(dtype)?);
    one(cast(cx, products, dtype)?)
}

// Reduces with an idempotent function: one element of a splat is enough, unless it is empty.
fn idempotent<T: Num>(cx: &mut EvalCx<'_>, start: T, f: &dyn Fn(T, T) -> T) -> EvalResult {
    let input = cx.take_tensor(0)?;
    let mut layout = layout(cx, &input)?;
    if input.is_splat() {
        layout.each = layout.each.min(1);
    }
    one(fold_by(cx, &input, &layout, start, f)?)
}

pub(crate) fn reduce_max(cx: &mut EvalCx<'_>) -> EvalResult {
    extreme(cx, CombiningOp::Max)
}

pub(crate) fn reduce_min(cx: &mut EvalCx<'_>) -> EvalResult {
    extreme(cx, CombiningOp::Min)
}

fn extreme(cx: &mut EvalCx<'_>, known: CombiningOp) -> EvalResult {
    let input = cx.take_tensor(0)?;
    let mut layout = layout(cx, &input)?;
    if input.is_splat() {
        layout.each = layout.each.min(1);
    }
    with_computed!(input.dtype(), T => {
        let start = if matches!(known, CombiningOp::Max) { T::LOWEST } else { T::HIGHEST };
        one(combine(cx, &input, &layout, start, known)?)
    }, _ => no_kernel(input.dtype()))
}

pub(crate) fn reduce_and(cx: &mut EvalCx<'_>) -> EvalResult {
    let dtype = cx.tensor(0)?.dtype();
    if dtype.is_bool() {
        return idempotent(cx, true, &|x, y| x & y);
    }
    with_int!(dtype, T => {
        idempotent(cx, T::wrap(-1), &|x: T, y: T| T::wrap((unsigned(x) & unsigned(y)).into()))
    }, _ => no_kernel(dtype))
}

pub(crate) fn reduce_or(cx: &mut EvalCx<'_>) -> EvalResult {
    let dtype = cx.tensor(0)?.dtype();
    if dtype.is_bool() {
        return idempotent(cx, false, &|x, y| x | y);
    }
    with_int!(dtype, T => {
        idempotent(cx, T::ZERO, &|x: T, y: T| T::wrap((unsigned(x) | unsigned(y)).into()))
    }, _ => no_kernel(dtype))
}

pub(crate) fn reduce_xor(cx: &mut EvalCx<'_>) -> EvalResult {
    let input = cx.take_tensor(0)?;
    let mut layout = layout(cx, &input)?;
    if input.is_splat() {
        layout.each %= 2;
    }
    let dtype = input.dtype();
    if dtype.is_bool() {
        return one(fold_by(cx, &input, &layout, false, &|x, y| x ^ y)?);
    }
    with_int!(dtype, T => {
        let xor = |x: T, y: T| T::wrap((unsigned(x) ^ unsigned(y)).into());
        one(fold_by(cx, &input, &layout, T::ZERO, &xor)?)
    }, _ => no_kernel(dtype))
}

/// Returns the index of the element that beats all before it, along an axis.
fn arg(cx: &mut EvalCx<'_>, largest: bool) -> EvalResult {
    let input = cx.take_tensor(0)?;
    cx.result_shape(0)?;
    let axis = cx.axis("axis", input.shape().len())?;
    let layout = ReductionLayout::new(input.shape(), &[axis], cx.bool("keepdims")?);
    let (dtype, index) = (input.dtype(), cx.result_dtype(0)?);
    let positions = if input.is_splat() || count(input.shape()) == Some(0) {
        None
    } else if dtype.is_bool() {
        Some(find::<bool>(cx, &input, axis, |x, y| x != y && x == largest)?)
    } else {
        Some(with_number!(dtype, T => {
            find::<T>(cx, &input, axis, |x, y| beats(x.wide(), y.wide(), largest))?
        }, _ => return no_kernel(dtype)))
    };
    with_int!(index, I => match positions {
        None => one(Tensor::splat(index, &layout.kept, I::ZERO)),
        Some(found) => {
            let mut out: Vec<I> = cx.alloc(found.len())?;
            out.extend(found.into_iter().map(|n| I::wrap(n as i128)));
            one(Tensor::new(index, &layout.kept, out))
        }
    }, _ => no_kernel(index))
}

fn beats(x: Wide, y: Wide, largest: bool) -> bool {
    match (x, y) {
        (Wide::Signed(x), Wide::Signed(y)) => {
            if largest {
                x > y
            } else {
                x < y
            }
        }
        (Wide::Unsigned(x), Wide::Unsigned(y)) => {
            if largest {
                x > y
            } else {
                x < y
            }
        }
        // NaN beats everything but NaN.
        (Wide::Float(x), Wide::Float(y)) => {
            if largest {
                x > y || x.is_nan() && !y.is_nan()
            } else {
                x < y || x.is_nan() && !y.is_nan()
            }
        }
        _ => false,
    }
}

fn find<T: Native>(
    cx: &EvalCx<'_>,
    input: &Tensor,
    axis: usize,
    beats: impl Fn(T, T) -> bool,
) -> Result<Vec<usize>, Fault> {
    let shape = input.shape();
    let inner: usize = shape[axis + 1..].iter().product();
    let outer: usize = shape[..axis].iter().product();
    let all = view::<T>(input)?;
    let mut found = cx.alloc(outer * inner)?;
    cx.work(input.len() as u64)?;
    for o in 0..outer {
        for i in 0..inner {
            let at = |n: usize| all.get((o * shape[axis] + n) * inner + i);
            let mut best = 0;
            for n in 1..shape[axis] {
                if beats(at(n), at(best)) {
                    best = n;
                }
            }
            found.push(best);
        }
    }
    Ok(found)
}

pub(crate) fn arg_max(cx: &mut EvalCx<'_>) -> EvalResult {
    arg(cx, true)
}

pub(crate) fn arg_min(cx: &mut EvalCx<'_>) -> EvalResult {
    arg(cx, false)
}

/// The op of a region that consists of one recognized op.
#[derive(Clone, Copy)]
pub(crate) enum CombiningOp {
    Add,
    Mul,
    Max,
    Min,
}

impl CombiningOp {
    /// Returns the op as a function of two elements.
    pub(crate) fn function<T: Num>(self) -> fn(T, T) -> T {
        match self {
            Self::Add => T::add,
            Self::Mul => T::mul,
            Self::Max => T::larger,
            Self::Min => T::smaller,
        }
    }
}

/// Returns the op of a region that combines an accumulator with one element, if kernels recognize it. All of these ops are
/// commutative.
pub(crate) fn recognized_op(cx: &EvalCx<'_>, region: usize) -> Option<CombiningOp> {
    let simple = cx.simple_region(region)?;
    if !matches!(simple.operands, [0, 1] | [1, 0]) {
        return None;
    }
    let table = [
        (crate::ops::Add::key(), CombiningOp::Add),
        (crate::ops::Mul::key(), CombiningOp::Mul),
        (crate::ops::Max::key(), CombiningOp::Max),
        (crate::ops::Min::key(), CombiningOp::Min),
    ];
    let known = table.into_iter().find(|(key, _)| *key == simple.op).map(|(_, known)| known);
    // On bools, `or` is the maximum and `and` the minimum.
    let is_bool = || cx.tensor(0).is_ok_and(|tensor| tensor.dtype() == DataType::Bool);
    known.or_else(|| match simple.op {
        op if op == crate::ops::Or::key() && is_bool() => Some(CombiningOp::Max),
        op if op == crate::ops::And::key() && is_bool() => Some(CombiningOp::Min),
        _ => None,
    })
}

/// Reduces with a recognized op, for named reductions and for regions. All types share one loop each for the four
/// ops; `f32` and `f64` have their own loops.
fn combine<T: Num>(
    cx: &EvalCx<'_>,
    input: &Tensor,
    layout: &ReductionLayout,
    start: T,
    known: CombiningOp,
) -> Result<Tensor, Fault> {
    let reduce_specialized = match input.dtype() {
        DataType::F32 => reduce_specialized::<f32>(cx, input, layout, start.pack(), known),
        DataType::F64 => reduce_specialized::<f64>(cx, input, layout, start.pack(), known),
        _ => None,
    };
    reduce_specialized.unwrap_or_else(|| fold_by(cx, input, layout, start, &known.function()))
}

fn reduce_specialized<T: Num>(
    cx: &EvalCx<'_>,
    input: &Tensor,
    layout: &ReductionLayout,
    start: u128,
    known: CombiningOp,
) -> Option<Result<Tensor, Fault>> {
    let start = T::unpack(start);
    Some(match known {
        CombiningOp::Add => fold(cx, input, layout, start, T::add),
        CombiningOp::Max => fold(cx, input, layout, start, T::larger),
        CombiningOp::Mul | CombiningOp::Min => return None,
    })
}

pub(crate) fn reduce(cx: &mut EvalCx<'_>) -> EvalResult {
    let (inputs, inits) = (cx.group("inputs"), cx.group("inits"));
    let shape = Shape::from_slice(cx.tensor(inputs.start)?.shape());
    for i in inputs.clone() {
        if *cx.tensor(i)?.shape() != *shape {
            return Err(Fault::op(format!("operand {i} is {}", cx.tensor(i)?.ty())));
        }
    }
    cx.result_shape(0)?;
    let axes = cx.axes("axes", shape.len())?;
    let layout = ReductionLayout::new(&shape, &axes, false);
    if inputs.len() == 1
        && let Some(known) = recognized_op(cx, 0)
    {
        let input = cx.take_tensor(0)?;
        return with_computed!(input.dtype(), T => {
            let start = cx.scalar::<T>(1)?;
            one(combine(cx, &input, &layout, start, known)?)
        }, _ => no_kernel(input.dtype()));
    }
    reduce_by_region(cx, inits.start, &layout)
}

fn reduce_by_region(
    cx: &mut EvalCx<'_>,
    count_inputs: usize,
    layout: &ReductionLayout,
) -> EvalResult {
    let args = cx.take_args();
    let tensors: SmallVec<[&Tensor; 4]> = args.iter().filter_map(Value::as_tensor).collect();
    let (inputs, inits) =
        tensors.split_at_checked(count_inputs).ok_or_else(|| Fault::op("operands are missing"))?;
    let results = layout.results();
    let mut columns: Vec<Column> = Vec::new();
    for init in inits {
        columns.push(Column::new(cx, init.dtype(), results)?);
    }
    if results > 0 {
        // The offsets of the first element of each result, and of its other elements relative to it.
        let from = strides(&layout.shape);
        let split = |reduced: bool| -> (Shape, Steps) {
            let axes = (0..from.len()).filter(|&a| layout.reduced[a] == reduced);
            axes.map(|a| (layout.shape[a], from[a])).unzip()
        };
        let ((kept, kept_steps), (reduced, gone_steps)) = (split(false), split(true));
        try_each_offset(&kept, 0, &kept_steps, |base| {
            reduce_one(cx, inputs, inits, base, (&reduced, &gone_steps), &mut columns)
        })?;
    }
    columns.into_iter().map(|c| Ok(c.finish(&layout.kept)?.into())).collect()
}

fn reduce_one(
    cx: &mut EvalCx<'_>,
    inputs: &[&Tensor],
    inits: &[&Tensor],
    base: usize,
    (shape, steps): (&[usize], &[isize]),
    columns: &mut [Column],
) -> Result<(), Fault> {
    let mut state: Results = inits.iter().map(|&t| Value::Tensor(t.clone())).collect();
    try_each_offset(shape, base, steps, |at| {
        let elements = inputs.iter().map(|t| Value::Tensor(t.part(at, [0usize; 0])));
        let args: Results = std::mem::take(&mut state).into_iter().chain(elements).collect();
        state = cx.call_region(0, args)?;
        Ok::<(), Fault>(())
    })?;
    for (column, value) in columns.iter_mut().zip(&state) {
        column.push(value)?;
    }
    Ok(())
}
