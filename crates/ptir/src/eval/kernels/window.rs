//! The kernels of `reduce_window` and `select_and_scatter`.

use sapwood_types::DataType;
use smallvec::SmallVec;

use super::cast::cast;
use super::convolution::{Slide, try_each_index};
use super::elementwise::copied;
use super::index::{Column, distances};
use super::order::{Compare, Comparison};
use super::reduce::recognized_op;
use crate::eval::context::{EvalCx, EvalResult, Results, one};
use crate::eval::error::Fault;
use crate::eval::native::{Num, widened, with_widened};
use crate::eval::tensor::{Shape, Tensor, Value, count};
use crate::with_native;

// The geometry of a window that moves over a tensor.
struct Window {
    size: Shape,
    out: Shape,
    input_strides: Shape,
    // The movement per axis.
    slides: SmallVec<[Slide; 4]>,
}

impl Window {
    fn new(cx: &EvalCx<'_>, input: &[usize], out: Shape, dilated: bool) -> Result<Self, Fault> {
        let rank = input.len();
        let size: Shape =
            cx.ints("window")?.iter().map(|&n| usize::try_from(n).unwrap_or(0)).collect();
        let (steps, pads) = (cx.ints_or("strides", 1, rank)?, cx.pairs_or_zero("pads", rank)?);
        let dilation = |name| {
            if dilated { cx.ints_or(name, 1, rank) } else { Ok(SmallVec::from_elem(1, rank)) }
        };
        let (base, apart) = (dilation("base_dilation")?, dilation("window_dilation")?);
        let slide = |axis: usize| Slide {
            extent: input[axis],
            base: base[axis],
            step: steps[axis],
            dilation: apart[axis],
            low: pads[axis][0],
        };
        let slides = (0..rank).map(slide).collect();
        Ok(Self { size, out, input_strides: distances(input), slides })
    }

    // Returns the axis along which each window covers all elements up to its own position, after padding, if the other axes are trivial.
    fn runs_along(&self) -> Option<usize> {
        let axis = self.size.iter().position(|&n| n != 1)?;
        let plain = |(n, s): (usize, &Slide)| {
            let stays = s.base == 1 && s.step == 1 && s.dilation == 1 && self.out[n] == s.extent;
            let low = usize::try_from(s.low).is_ok_and(|low| low + 1 == self.size[n]);
            stays && low && (n == axis || self.size[n] == 1)
        };
        let all = self.size[axis] >= self.slides[axis].extent;
        (all && self.slides.iter().enumerate().all(plain)).then_some(axis)
    }

    // Returns the input offset that the window at `place` reads for its index `at`; `None` in the padding.
    fn read(&self, place: &[usize], at: &[usize]) -> Option<usize> {
        self.read_outer(self.slides.len(), place, at)
    }

    // Returns the input offset like [`Self::read`], for the first axes only.
    fn read_outer(&self, axes: usize, place: &[usize], at: &[usize]) -> Option<usize> {
        let mut offset = 0;
        for (axis, slide) in self.slides[..axes].iter().enumerate() {
            offset += slide.read(at[axis], place[axis])? * self.input_strides[axis];
        }
        Some(offset)
    }
}

/// Evaluates `reduce_window`.
pub(crate) fn reduce_window(cx: &mut EvalCx<'_>) -> EvalResult {
    let inputs = cx.group("inputs");
    let window = Window::new(cx, cx.tensor(0)?.shape(), cx.result_shape(0)?, true)?;
    if inputs.len() == 1
        && let Some(known) = recognized_op(cx, 0)
    {
        let dtype = widen_operands(cx)?;
        let out =
            with_widened!(widened(dtype), T => reduce_typed::<T>(cx, &window, known.function())?);
        return one(cast(cx, out, dtype)?);
    }
    reduce_by_region(cx, &window, inputs.len())
}

// Widens the operands, which all have one element type; returns the type they had.
fn widen_operands(cx: &mut EvalCx<'_>) -> Result<DataType, Fault> {
    let dtype = cx.tensor(0)?.dtype();
    if widened(dtype) != dtype {
        let mut wide: SmallVec<[Value; 4]> = SmallVec::new();
        for i in 0..cx.args().len() {
            let tensor = cx.take_tensor(i)?;
            wide.push(cast(cx, tensor, widened(dtype))?.into());
        }
        cx.put_args(wide);
    }
    Ok(dtype)
}

// Reduces windows: all results advance one window index together, and each still combines its elements in order.
fn reduce_typed<T: Num>(
    cx: &EvalCx<'_>,
    window: &Window,
    f: impl Fn(T, T) -> T,
) -> Result<Tensor, Fault> {
    let (input, init) = (cx.elements::<T>(0)?, cx.scalar::<T>(1)?);
    let total = count(&window.out).ok_or_else(|| Fault::TooLarge { shape: window.out.to_vec() })?;
    let mut out = cx.alloc_result(total)?;
    out.resize(total, init);
    let dtype = cx.tensor(0)?.dtype();
    let rank = window.out.len();
    // Leading padding leaves the start unchanged, so each result continues from the one before.
    let stays = f(init, init).pack() == init.pack();
    if let Some(axis) = window.runs_along().filter(|_| total > 0 && stays) {
        cx.work(total as u64)?;
        let inner: usize = window.out[axis + 1..].iter().product();
        let before = inner * window.out[axis];
        for (at, &x) in input.iter().enumerate() {
            let first = at % before < inner;
            out[at] = f(if first { init } else { out[at - inner] }, x);
        }
        return Ok(Tensor::new(dtype, window.out.clone(), out));
    }
    if rank == 0 || total == 0 {
        if let Some(out) = out.first_mut() {
            *out = f(init, input[0]);
        }
        return Ok(Tensor::new(dtype, window.out.clone(), out));
    }
    let (inner, step) = (window.out[rank - 1], window.input_strides[rank - 1]);
    // The offset that each position along the last axis reads.
    let mut last: Vec<Option<usize>> = cx.alloc(inner)?;
    try_each_index(&window.size, &mut |at| {
        cx.work(total as u64)?;
        last.clear();
        last.extend((0..inner).map(|i| window.slides[rank - 1].read(at[rank - 1], i)));
        let mut rows = out.chunks_exact_mut(inner);
        try_each_index(&window.out[..rank - 1], &mut |place| {
            let base = window.read_outer(rank - 1, place, at);
            let Some(row) = rows.next() else { return Ok::<(), Fault>(()) };
            for (sum, read) in row.iter_mut().zip(&last) {
                let x = match (base, read) {
                    (Some(base), Some(read)) => input[base + read * step],
                    _ => init,
                };
                *sum = f(*sum, x);
            }
            Ok(())
        })
    })?;
    Ok(Tensor::new(dtype, window.out.clone(), out))
}

fn reduce_by_region(cx: &mut EvalCx<'_>, window: &Window, inputs: usize) -> EvalResult {
    let args = cx.take_args();
    let tensors: Vec<&Tensor> = args.iter().filter_map(Value::as_tensor).collect();
    let (inputs, inits) = tensors.split_at(inputs.min(tensors.len()));
    let total = count(&window.out).ok_or_else(|| Fault::TooLarge { shape: window.out.to_vec() })?;
    let mut columns: Vec<Column> =
        inputs.iter().map(|t| Column::new(cx, t.dtype(), total)).collect::<Result<_, _>>()?;
    let start: Results = inits.iter().map(|&t| Value::Tensor(t.clone())).collect();
    try_each_index(&window.out, &mut |place| {
        let mut sums = start.clone();
        try_each_index(&window.size, &mut |at| {
            let read = window.read(place, at);
            let elements = inputs.iter().zip(inits).map(|(&input, &init)| match read {
                Some(at) => scalar_of(input, at),
                None => Value::Tensor(init.clone()),
            });
            sums = cx.call_region(0, sums.iter().cloned().chain(elements).collect::<Vec<_>>())?;
            Ok::<(), Fault>(())
        })?;
        columns.iter_mut().zip(&sums).try_for_each(|(c, sum)| c.push(sum))
    })?;
    columns.into_iter().map(|c| c.finish(&window.out).map(Value::Tensor)).collect()
}

/// Returns the element at a row-major index as a scalar.
pub(crate) fn scalar_of(tensor: &Tensor, at: usize) -> Value {
    Value::Tensor(tensor.part(at, []))
}

/// Returns a dense copy of a tensor with its own storage.
pub(crate) fn own_copy(cx: &EvalCx<'_>, tensor: &Tensor) -> Result<Tensor, Fault> {
    with_native!(tensor.dtype(), T => copied::<T>(cx, tensor))
}

/// Writes a scalar that a region yielded.
pub(crate) fn put(tensor: &mut Tensor, at: usize, value: &Value) -> Result<(), Fault> {
    if value.as_tensor().is_some_and(|x| x.len() == 1 && tensor.overwrite(at, x)) {
        return Ok(());
    }
    Err(Fault::op(format!(
        "the region yields {}, expected a {} scalar",
        value.ty(),
        tensor.dtype()
    )))
}

/// Evaluates `select_and_scatter`.
pub(crate) fn select_and_scatter(cx: &mut EvalCx<'_>) -> EvalResult {
    let source_shape = Shape::from_slice(cx.tensor(1)?.shape());
    let window = Window::new(cx, cx.tensor(0)?.shape(), source_shape, false)?;
    if let (Some(select), Some(known)) = (Comparison::of(cx, 0), recognized_op(cx, 1))
        && matches!((select.left, select.right), (0, 1) | (1, 0))
    {
        let dtype = widen_operands(cx)?;
        let out = with_widened!(widened(dtype), T => {
            scatter_typed::<T>(cx, &window, &select, known.function())?
        });
        return one(cast(cx, out, dtype)?);
    }
    scatter_by_region(cx, &window)
}

fn scatter_typed<T: Num + Compare>(
    cx: &EvalCx<'_>,
    window: &Window,
    select: &Comparison,
    f: impl Fn(T, T) -> T,
) -> Result<Tensor, Fault> {
    let (input, source, init) = (cx.elements::<T>(0)?, cx.elements::<T>(1)?, cx.scalar::<T>(2)?);
    let tensor = cx.tensor(0)?;
    let mut out = cx.alloc_result(tensor.len())?;
    out.resize(tensor.len(), init);
    let mut sources = source.iter();
    try_each_index(&window.out, &mut |place| {
        let mut picked: Option<usize> = None;
        try_each_index(&window.size, &mut |at| {
            cx.work(1)?;
            let Some(read) = window.read(place, at) else { return Ok(()) };
            let stays = picked.is_some_and(|p| {
                let (a, b) = (select.key(input[p]), select.key(input[read]));
                if select.left == 0 { select.holds(a, b) } else { select.holds(b, a) }
            });
            if !stays {
                picked = Some(read);
            }
            Ok::<(), Fault>(())
        })?;
        if let (Some(picked), Some(&x)) = (picked, sources.next()) {
            out[picked] = f(out[picked], x);
        }
        Ok::<(), Fault>(())
    })?;
    Ok(Tensor::new(tensor.dtype(), tensor.shape(), out))
}

fn scatter_by_region(cx: &mut EvalCx<'_>, window: &Window) -> EvalResult {
    let (input, source, init) = (cx.take_tensor(0)?, cx.take_tensor(1)?, cx.take_tensor(2)?);
    let filled = init.splat_to(input.shape()).unwrap_or(init);
    let mut out = own_copy(cx, &filled)?;
    let mut next = 0;
    try_each_index(&window.out, &mut |place| {
        let mut picked: Option<usize> = None;
        try_each_index(&window.size, &mut |at| {
            cx.work(1)?;
            let Some(read) = window.read(place, at) else { return Ok(()) };
            let stays = match picked {
                Some(p) => {
                    truth(cx.call_region(0, [scalar_of(&input, p), scalar_of(&input, read)]))?
                }
                None => false,
            };
            if !stays {
                picked = Some(read);
            }
            Ok::<(), Fault>(())
        })?;
        if let Some(picked) = picked {
            let pair = [scalar_of(&out, picked), scalar_of(&source, next)];
            let found = cx.call_region(1, pair)?;
            found.iter().try_for_each(|x| put(&mut out, picked, x))?;
        }
        next += 1;
        Ok::<(), Fault>(())
    })?;
    one(out)
}

/// Returns the bool that a region yields.
pub(crate) fn truth(results: EvalResult) -> Result<bool, Fault> {
    let results = results?;
    let answer = results.first().and_then(Value::as_tensor).and_then(Tensor::as_splat::<bool>);
    answer.ok_or_else(|| Fault::op("a region must yield a bool"))
}
