//! `cast`, `bitcast`.

use half::{bf16, f16};
use num_complex::Complex;
use sapwood_types::DataType;

use super::elementwise::map_tensor;
use crate::eval::context::{EvalCx, EvalResult, one};
use crate::eval::error::Fault;
use crate::eval::native::{F8E4M3Fn, F8E5M2, Float, I4, Native, U4};
use crate::eval::tensor::Tensor;
use crate::with_native;

/// `cast`.
pub(crate) fn eval(cx: &mut EvalCx<'_>) -> EvalResult {
    let (input, dtype) = (cx.take_tensor(0)?, cx.result_dtype(0)?);
    one(cast(cx, input, dtype)?)
}

/// A tensor in another element type, as `cast` converts.
///
/// # Errors
/// If there is not enough memory.
pub fn cast(cx: &EvalCx<'_>, input: Tensor, dtype: DataType) -> Result<Tensor, Fault> {
    if input.dtype() == dtype {
        return Ok(input);
    }
    with_native!(input.dtype(), T => with_native!(dtype, U => {
        map_tensor(cx, &input, dtype, |x: T| U::from_wide(x.wide()))
    }))
}

/// An element in a type that holds all of its class.
#[derive(Clone, Copy)]
pub(crate) enum Wide {
    Signed(i64),
    Unsigned(u64),
    Float(f64),
    Complex(Complex<f64>),
}

/// Conversion as `cast` does it.
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
                    // Towards zero, saturating, NaN gives zero.
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
            Wide::Complex(z) => z.re != 0.0 || z.im != 0.0,
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
                    Wide::Float(x) => Self::from_f64(x),
                    Wide::Complex(z) => Self::from_f64(z.re),
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
            fn wide(self) -> Wide { Wide::Float(self.to_f64()) }
            #[inline(always)]
            fn from_wide(wide: Wide) -> Self {
                match wide {
                    Wide::Signed(n) => Self::from_f64(odd(n.unsigned_abs()).copysign(n as f64)),
                    Wide::Unsigned(n) => Self::from_f64(odd(n)),
                    Wide::Float(x) => Self::from_f64(x),
                    Wide::Complex(z) => Self::from_f64(z.re),
                }
            }
        }
    )*};
}
convert_narrow!(f16, bf16, F8E4M3Fn, F8E5M2);

// The integer as f64 with what falls away kept as a last bit that is set, so that rounding again to a narrow float
// rounds as if it were once.
fn odd(n: u64) -> f64 {
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
                        Self::new(<$part>::from_f64(z.re), <$part>::from_f64(z.im))
                    }
                    real => Self::new(<$part>::from_wide(real), 0.0),
                }
            }
        }
    )*};
}
convert_complex!(f32, f64);
