//! The kernel of `fft`, computed in f64 for all element types and rounded at the end, in n log n for all lengths: powers of two by halving,
//! short lengths by the defining sum, all others as a convolution of a power-of-two length (Bluestein).

use num_complex::Complex;
use sapwood_types::DataType;

use super::elementwise::no_kernel;
use crate::eval::context::{EvalCx, EvalResult, one};
use crate::eval::error::Fault;
use crate::eval::native::{Cplx, Float};
use crate::eval::tensor::{Shape, Tensor, View};
use crate::with_complex;

type C = Complex<f64>;

/// The longest length that uses the defining sum.
const MAX_DIRECT_LENGTH: usize = 16;

/// Evaluates `fft`.
pub(crate) fn fft(cx: &mut EvalCx<'_>) -> EvalResult {
    let input = cx.take_tensor(0)?;
    let lengths: Vec<usize> =
        cx.ints("lengths")?.iter().map(|&n| usize::try_from(n).unwrap_or(0)).collect();
    let (shape, dtype) = (cx.result_shape(0)?, cx.result_dtype(0)?);
    let kind = cx.word("kind")?;
    let mut data = Spectrum { shape: input.shape().into(), data: read(cx, &input)? };
    if shape.contains(&0) {
        data = Spectrum { shape: shape.clone(), data: Vec::new() };
    } else {
        let first = shape.len() - lengths.len();
        let inverse = matches!(kind, "ifft" | "irfft");
        let last = shape.len() - 1;
        // The real side is the input of the forward and the output of the inverse transform, along the last axis.
        if kind == "irfft" {
            for axis in first..last {
                data = data.along(cx, axis, inverse)?;
            }
            data = data.unfold(cx, lengths[lengths.len() - 1])?.along(cx, last, inverse)?;
        } else {
            for axis in (first..=last).rev() {
                data = data.along(cx, axis, inverse)?;
                if kind == "rfft" && axis == last {
                    data = data.cut(cx, shape[last])?;
                }
            }
        }
    }
    one(write(cx, dtype, shape, &data.data)?)
}

fn read(cx: &EvalCx<'_>, input: &Tensor) -> Result<Vec<C>, Fault> {
    let mut data = cx.alloc(input.len())?;
    macro_rules! extend {
        ($($ty:ty, |$x:ident| $wide:expr);*) => {
            $(match input.view::<$ty>() {
                Some(View::Dense(all)) => {
                    data.extend(all.iter().map(|$x| $wide));
                    return Ok(data);
                }
                Some(View::Splat(one)) => {
                    let $x = &one;
                    data.resize(input.len(), $wide);
                    return Ok(data);
                }
                None => {}
            })*
        };
    }
    extend!(
        f32, |x| C::new(f64::from(*x), 0.0);
        f64, |x| C::new(*x, 0.0);
        Complex<f32>, |x| x.wide();
        Complex<f64>, |x| *x
    );
    no_kernel(input.dtype())
}

fn write(cx: &EvalCx<'_>, dtype: DataType, shape: Shape, data: &[C]) -> Result<Tensor, Fault> {
    if dtype == DataType::F32 {
        let mut out = cx.alloc(data.len())?;
        out.extend(data.iter().map(|z| f32::nearest(z.re)));
        return Ok(Tensor::new::<f32>(dtype, shape, out));
    }
    if dtype == DataType::F64 {
        let mut out = cx.alloc(data.len())?;
        out.extend(data.iter().map(|z| f64::nearest(z.re)));
        return Ok(Tensor::new::<f64>(dtype, shape, out));
    }
    with_complex!(dtype, T => {
        let mut out = cx.alloc(data.len())?;
        out.extend(data.iter().map(|&z| T::narrow(z)));
        Ok(Tensor::new::<T>(dtype, shape, out))
    }, _ => no_kernel(dtype))
}

struct Spectrum {
    shape: Shape,
    data: Vec<C>,
}

impl Spectrum {
    // Transforms along an axis.
    fn along(mut self, cx: &EvalCx<'_>, axis: usize, inverse: bool) -> Result<Self, Fault> {
        let n = self.shape[axis];
        let inner: usize = self.shape[axis + 1..].iter().product();
        if n < 2 || inner == 0 {
            return Ok(self);
        }
        let transform = Transform::new(cx, n)?;
        let mut line: Vec<C> = cx.alloc(n)?;
        let scale = n as f64;
        for block in self.data.chunks_exact_mut(n * inner) {
            for at in 0..inner {
                line.clear();
                line.extend((0..n).map(|k| {
                    let z = block[at + k * inner];
                    if inverse { z.conj() } else { z }
                }));
                cx.scratch(|| transform.run(cx, &mut line))?;
                for (k, &z) in line.iter().enumerate() {
                    block[at + k * inner] =
                        if inverse { C::new(z.re / scale, -z.im / scale) } else { z };
                }
            }
        }
        Ok(self)
    }

    // Keeps the first `keep` elements of the last axis.
    fn cut(self, cx: &EvalCx<'_>, keep: usize) -> Result<Self, Fault> {
        let last = self.shape.len() - 1;
        let n = self.shape[last];
        let mut data = cx.alloc(self.data.len() / n * keep)?;
        for row in self.data.chunks_exact(n) {
            data.extend_from_slice(&row[..keep]);
        }
        let mut shape = self.shape;
        shape[last] = keep;
        Ok(Self { shape, data })
    }

    // Returns the whole spectrum of `n` real numbers from its first half.
    fn unfold(self, cx: &EvalCx<'_>, n: usize) -> Result<Self, Fault> {
        let last = self.shape.len() - 1;
        let half = self.shape[last];
        let mut data = cx.alloc((self.data.len() / half).saturating_mul(n))?;
        for row in self.data.chunks_exact(half) {
            for k in 0..n {
                let z = if k < half { row[k] } else { row[n - k].conj() };
                // An element that is its own mirror image is real.
                data.push(if (n - k) % n == k { C::new(z.re, 0.0) } else { z });
            }
        }
        let mut shape = self.shape;
        shape[last] = n;
        Ok(Self { shape, data })
    }
}

// A transform of one length, with its precomputed tables.
enum Transform {
    Direct(Vec<C>),
    PowerOfTwo(Vec<C>),
    Bluestein { chirp: Vec<C>, filter: Vec<C>, roots: Vec<C> },
}

impl Transform {
    fn new(cx: &EvalCx<'_>, n: usize) -> Result<Self, Fault> {
        if n.is_power_of_two() {
            return Ok(Self::PowerOfTwo(roots(cx, n)?));
        }
        if n <= MAX_DIRECT_LENGTH {
            return Ok(Self::Direct(roots(cx, n)?));
        }
        // The value e^(-i pi k^2 / n), with the angle modulo a full turn.
        let mut chirp = cx.alloc(n)?;
        for k in 0..n as u128 {
            chirp.push(root((k * k % (2 * n as u128)) as u64, 2 * n as u64));
        }
        let size = (2 * n - 1).next_power_of_two();
        let roots = roots(cx, size)?;
        let mut filter: Vec<C> = cx.alloc(size)?;
        filter.resize(size, C::new(0.0, 0.0));
        for (k, z) in chirp.iter().enumerate() {
            filter[k] = z.conj();
            filter[(size - k) % size] = z.conj();
        }
        cx.work(size as u64 * u64::from(size.ilog2()))?;
        transform_power_of_two(&mut filter, &roots);
        Ok(Self::Bluestein { chirp, filter, roots })
    }

    fn run(&self, cx: &EvalCx<'_>, line: &mut Vec<C>) -> Result<(), Fault> {
        let n = line.len();
        match self {
            Self::Direct(roots) => {
                cx.work((n * n) as u64)?;
                let sums = (0..n).map(|k| {
                    line.iter()
                        .enumerate()
                        .fold(C::new(0.0, 0.0), |sum, (j, &z)| add(sum, mul(z, roots[j * k % n])))
                });
                *line = sums.collect();
            }
            Self::PowerOfTwo(roots) => {
                cx.work(n as u64 * u64::from(n.ilog2()))?;
                transform_power_of_two(line, roots);
            }
            Self::Bluestein { chirp, filter, roots } => {
                let size = filter.len();
                cx.work(2 * size as u64 * u64::from(size.ilog2()))?;
                let mut wide: Vec<C> = cx.alloc(size)?;
                wide.extend(line.iter().zip(chirp).map(|(&z, &c)| mul(z, c)));
                wide.resize(size, C::new(0.0, 0.0));
                transform_power_of_two(&mut wide, roots);
                // The inverse transform by conjugation.
                for (z, &f) in wide.iter_mut().zip(filter) {
                    *z = mul(*z, f).conj();
                }
                transform_power_of_two(&mut wide, roots);
                let scale = size as f64;
                for ((z, &w), &c) in line.iter_mut().zip(&wide).zip(chirp) {
                    *z = mul(C::new(w.re / scale, -w.im / scale), c);
                }
            }
        }
        Ok(())
    }
}

fn add(a: C, b: C) -> C {
    C::new(a.re + b.re, a.im + b.im)
}

fn sub(a: C, b: C) -> C {
    C::new(a.re - b.re, a.im - b.im)
}

fn mul(a: C, b: C) -> C {
    C::new(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re)
}

// Returns the powers of e^(-2 pi i / n).
fn roots(cx: &EvalCx<'_>, n: usize) -> Result<Vec<C>, Fault> {
    let mut roots = cx.alloc(n)?;
    roots.extend((0..n as u64).map(|k| root(k, n as u64)));
    Ok(roots)
}

// Returns e^(-2 pi i k / n) for k below n. The angle is first reduced below an eighth of a turn, so that exact values are exact.
fn root(k: u64, n: u64) -> C {
    let (k, n) = (u128::from(k), u128::from(n));
    let quarter = 4 * k / n;
    // The angle within its quadrant, as a fraction k / n of a turn, times 4.
    let rest = 4 * k - quarter * n;
    let angle = |part: u128| std::f64::consts::FRAC_PI_2 * (part as f64 / n as f64);
    let (cos, sin) = if 2 * rest <= n {
        (libm::cos(angle(rest)), libm::sin(angle(rest)))
    } else {
        (libm::sin(angle(n - rest)), libm::cos(angle(n - rest)))
    };
    match quarter {
        0 => C::new(cos, -sin),
        1 => C::new(-sin, -cos),
        2 => C::new(-cos, sin),
        _ => C::new(sin, cos),
    }
}

// Transforms a line whose length is a power of two, in place.
fn transform_power_of_two(line: &mut [C], roots: &[C]) {
    let n = line.len();
    let bits = n.trailing_zeros();
    if bits == 0 {
        return;
    }
    for i in 0..n {
        let j = i.reverse_bits() >> (usize::BITS - bits);
        if i < j {
            line.swap(i, j);
        }
    }
    let mut size = 2;
    while size <= n {
        let (half, step) = (size / 2, n / size);
        for block in line.chunks_exact_mut(size) {
            let (low, high) = block.split_at_mut(half);
            for (k, (a, b)) in low.iter_mut().zip(high).enumerate() {
                let t = mul(*b, roots[k * step]);
                *b = sub(*a, t);
                *a = add(*a, t);
            }
        }
        size *= 2;
    }
}
