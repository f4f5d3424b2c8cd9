//! The kernels of `cast` and `bitcast`.

use half::{bf16, f16};
use num_complex::Complex;
use sapwood_types::DataType;

use super::elementwise::view;
use crate::eval::context::{EvalCx, EvalResult, one};
use crate::eval::error::Fault;
use crate::eval::native::{F8E4M3Fn, F8E5M2, Float, I4, Native, StoredByte, U4};
use crate::eval::stored;
use crate::eval::tensor::{Shape, Tensor, View, count};
use crate::{with_computed, with_native};

/// Evaluates `cast`.
pub(crate) fn eval(cx: &mut EvalCx<'_>) -> EvalResult {
    let (input, dtype) = (cx.take_tensor(0)?, cx.result_dtype(0)?);
    one(cast(cx, input, dtype)?)
}

/// Converts a tensor to another element type, as `cast` does.
///
/// # Errors
/// If there is not enough memory.
pub fn cast(cx: &EvalCx<'_>, input: Tensor, dtype: DataType) -> Result<Tensor, Fault> {
    if input.dtype() == dtype {
        return Ok(input);
    }
    convert(cx, &input, dtype)
}

// The number of elements that are converted at a time through a wide form, so that there is one loop per type instead of one
// per pair of types.
pub(super) const CHUNK: usize = 256;

fn convert(cx: &EvalCx<'_>, input: &Tensor, dtype: DataType) -> Result<Tensor, Fault> {
    let len = if input.is_splat() { 1 } else { input.len() };
    with_computed!(dtype, U => {
        converted(cx, input, dtype, len, U::from_wide)
    }, _ => {
        converted(cx, input, dtype, len, |x| StoredByte(stored::from_wide(dtype, x)))
    })
}

fn converted<U: Native>(
    cx: &EvalCx<'_>,
    input: &Tensor,
    dtype: DataType,
    len: usize,
    from_wide: impl Fn(Wide) -> U,
) -> Result<Tensor, Fault> {
    let mut wide = [Wide::Signed(0); CHUNK];
    let mut out: Vec<U> = cx.alloc_result(len)?;
    while out.len() < len {
        let now = (len - out.len()).min(CHUNK);
        widen(input, out.len(), &mut wide[..now])?;
        out.extend(wide[..now].iter().map(|&x| from_wide(x)));
    }
    Ok(match out[..] {
        [one] => Tensor::splat(dtype, input.shape(), one),
        _ => Tensor::new(dtype, input.shape(), out),
    })
}

pub(super) fn widen(input: &Tensor, start: usize, out: &mut [Wide]) -> Result<(), Fault> {
    let dtype = input.dtype();
    with_computed!(dtype, T => {
        widen_by(view::<T>(input)?, start, out, T::wide);
    }, _ => {
        widen_by(view::<StoredByte>(input)?, start, out, |x| stored::wide(dtype, x.0));
    });
    Ok(())
}

fn widen_by<T: Copy>(view: View<'_, T>, start: usize, out: &mut [Wide], wide: impl Fn(T) -> Wide) {
    match view {
        View::Splat(x) => out.fill(wide(x)),
        View::Dense(all) => {
            out.iter_mut().zip(&all[start..]).for_each(|(slot, &x)| *slot = wide(x));
        }
    }
}

/// An element in the widest type of its class.
#[derive(Clone, Copy)]
pub(crate) enum Wide {
    Signed(i64),
    Unsigned(u64),
    Float(f64),
    Complex(Complex<f64>),
}

/// An element type that `cast` converts through [`Wide`].
pub(crate) trait Convert: Native {
    fn wide(self) -> Wide;
    fn from_wide(wide: Wide) -> Self;
}

macro_rules! convert_int {
    ($($ty:ty, $wide:ident, $as:ty);*) => {$(
        impl Convert for $ty {
            #[inline(always)]
            fn wide(self) -> Wide { Wide::$wide(self as $as) }
            #[inline(always)]
            fn from_wide(wide: Wide) -> Self {
                match wide {
                    Wide::Signed(n) => n as Self,
                    Wide::Unsigned(n) => n as Self,
                    // Rounds towards zero and saturates; NaN gives zero.
                    Wide::Float(x) => x as Self,
                    Wide::Complex(z) => z.re as Self,
                }
            }
        }
    )*};
}
convert_int!(i8, Signed, i64; i16, Signed, i64; i32, Signed, i64; i64, Signed, i64;
    u8, Unsigned, u64; u16, Unsigned, u64; u32, Unsigned, u64; u64, Unsigned, u64);

macro_rules! convert_nibble {
    ($($ty:ident, $inner:ty, $wide:ident, $min:literal, $max:literal);*) => {$(
        impl Convert for $ty {
            #[inline(always)]
            fn wide(self) -> Wide { Wide::$wide(self.get().into()) }
            #[inline(always)]
            fn from_wide(wide: Wide) -> Self {
                match wide {
                    Wide::Signed(n) => Self::new(n as $inner),
                    Wide::Unsigned(n) => Self::new(n as $inner),
                    Wide::Float(x) => Self::new((x as $inner).clamp($min, $max)),
                    Wide::Complex(z) => Self::new((z.re as $inner).clamp($min, $max)),
                }
            }
        }
    )*};
}
convert_nibble!(I4, i8, Signed, -8, 7; U4, u8, Unsigned, 0, 15);

impl Convert for bool {
    #[inline(always)]
    fn wide(self) -> Wide {
        Wide::Unsigned(self.into())
    }
    #[inline(always)]
    fn from_wide(wide: Wide) -> Self {
        match wide {
            Wide::Signed(n) => n != 0,
            Wide::Unsigned(n) => n != 0,
            Wide::Float(x) => x != 0.0,
            Wide::Complex(z) => z.re != 0.0,
        }
    }
}

macro_rules! convert_float {
    ($($ty:ty),*) => {$(
        impl Convert for $ty {
            #[inline(always)]
            fn wide(self) -> Wide { Wide::Float(self.into()) }
            #[inline(always)]
            fn from_wide(wide: Wide) -> Self {
                match wide {
                    Wide::Signed(n) => n as Self,
                    Wide::Unsigned(n) => n as Self,
                    Wide::Float(x) => Self::nearest(x),
                    Wide::Complex(z) => Self::nearest(z.re),
                }
            }
        }
    )*};
}
convert_float!(f32, f64);

macro_rules! convert_narrow {
    ($($ty:ty),*) => {$(
        impl Convert for $ty {
            #[inline(always)]
            fn wide(self) -> Wide { Wide::Float(self.number()) }
            #[inline(always)]
            fn from_wide(wide: Wide) -> Self {
                match wide {
                    Wide::Signed(n) => Self::nearest(round_to_odd(n.unsigned_abs()).copysign(n as f64)),
                    Wide::Unsigned(n) => Self::nearest(round_to_odd(n)),
                    Wide::Float(x) => Self::nearest(x),
                    Wide::Complex(z) => Self::nearest(z.re),
                }
            }
        }
    )*};
}
convert_narrow!(f16, bf16, F8E4M3Fn, F8E5M2);

// Converts an integer to f64 with round-to-odd: if bits are lost, the last bit is set, so that rounding again to a narrow float
// equals rounding once.
fn round_to_odd(n: u64) -> f64 {
    if n < 1 << 53 {
        return n as f64;
    }
    let sticky = u64::from(n & 0x7ff != 0);
    ((n >> 11) | sticky) as f64 * 2048.0
}

macro_rules! convert_complex {
    ($($part:ty),*) => {$(
        impl Convert for Complex<$part> {
            #[inline(always)]
            fn wide(self) -> Wide { Wide::Complex(Complex::new(self.re.into(), self.im.into())) }
            #[inline(always)]
            fn from_wide(wide: Wide) -> Self {
                match wide {
                    Wide::Complex(z) => {
                        Self::new(<$part>::nearest(z.re), <$part>::nearest(z.im))
                    }
                    real => Self::new(<$part>::from_wide(real), 0.0),
                }
            }
        }
    )*};
}
convert_complex!(f32, f64);

/// Evaluates `bitcast`.
pub(crate) fn bitcast(cx: &mut EvalCx<'_>) -> EvalResult {
    let input = cx.take_tensor(0)?;
    let (from, to) = (input.dtype(), cx.result_dtype(0)?);
    let (wide, narrow) = (from.bit_width(), to.bit_width());
    let mut shape = Shape::from_slice(input.shape());
    // The number of elements of one side that form one element of the other.
    let (split, join) = ((wide / narrow).max(1) as usize, (narrow / wide).max(1) as usize);
    if split > 1 {
        shape.push(split);
    }
    if join > 1 && shape.pop() != Some(join) {
        return Err(Fault::op(format!("the operand is {}, expected {join} parts", input.ty())));
    }
    let len = count(&shape).ok_or_else(|| Fault::TooLarge { shape: shape.to_vec() })?;
    let same = input.is_splat() && split == 1 && len > 0;
    let bits = packed(cx, &input, if same { join } else { input.len() })?;
    let mask = u128::MAX >> (128 - wide.min(narrow));
    with_native!(to, U => {
        let made = if same { 1 } else { len };
        let mut out: Vec<U> = cx.alloc(made)?;
        out.extend((0..made).map(|i| {
            let part = |n: usize| bits[i * join + n] & mask;
            let joined = match (split, join) {
                (1, 1) => bits[i],
                (1, _) => (0..join).map(|n| part(n) << (n as u32 * wide)).sum(),
                _ => bits[i / split] >> ((i % split) as u32 * narrow) & mask,
            };
            U::unpack(match to.is_storage_only() {
                true => stored::canonical(to, joined as u8).into(),
                false => joined,
            })
        }));
        match out[..] {
            [one_element] if same => one(Tensor::splat(to, shape, one_element)),
            _ => one(Tensor::new(to, shape, out)),
        }
    })
}

// Returns the bits of the first elements.
fn packed(cx: &EvalCx<'_>, input: &Tensor, len: usize) -> Result<Vec<u128>, Fault> {
    let mut bits = cx.alloc(len)?;
    with_native!(input.dtype(), T => match view::<T>(input)? {
        View::Splat(x) => bits.resize(len, x.pack()),
        View::Dense(all) => bits.extend(all.iter().map(|x| x.pack())),
    });
    Ok(bits)
}
