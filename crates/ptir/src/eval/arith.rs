//! Arithmetic on the native element types.

use half::{bf16, f16};
use num_complex::Complex;

use super::narrow::{self, NarrowFormat};
use super::native::{Cplx, F8E4M3Fn, F8E5M2, Float, I4, Int, Num, U4};

macro_rules! int_num {
    ($($ty:ty),*) => {$(
        impl Num for $ty {
            const ZERO: Self = 0;
            const ONE: Self = 1;
            const LOWEST: Self = Self::MIN;
            const HIGHEST: Self = Self::MAX;
            #[inline]
            fn add(self, other: Self) -> Self { self.wrapping_add(other) }
            #[inline]
            fn sub(self, other: Self) -> Self { self.wrapping_sub(other) }
            #[inline]
            fn mul(self, other: Self) -> Self { self.wrapping_mul(other) }
            #[inline]
            fn div(self, other: Self) -> Self {
                // Division by zero gives all bits one, which is -1 for signed types.
                if other == 0 { !0 } else { self.wrapping_div(other) }
            }
            #[inline]
            fn smaller(self, other: Self) -> Self { Ord::min(self, other) }
            #[inline]
            fn larger(self, other: Self) -> Self { Ord::max(self, other) }
            #[inline]
            fn neg(self) -> Self { self.wrapping_neg() }
        }
        impl Int for $ty {
            const BITS: u32 = Self::BITS;
            #[inline]
            fn to_i128(self) -> i128 { self as i128 }
            #[inline]
            fn wrap(n: i128) -> Self { n as Self }
        }
    )*};
}
int_num!(i8, i16, i32, i64, u8, u16, u32, u64);

macro_rules! nibble_num {
    ($($ty:ident, $min:literal, $max:literal, $all:literal);*) => {$(
        impl Num for $ty {
            const ZERO: Self = Self(0);
            const ONE: Self = Self(1);
            const LOWEST: Self = Self($min);
            const HIGHEST: Self = Self($max);
            #[inline]
            fn add(self, other: Self) -> Self { Self::new(self.0.wrapping_add(other.0)) }
            #[inline]
            fn sub(self, other: Self) -> Self { Self::new(self.0.wrapping_sub(other.0)) }
            #[inline]
            fn mul(self, other: Self) -> Self { Self::new(self.0.wrapping_mul(other.0)) }
            #[inline]
            fn div(self, other: Self) -> Self {
                if other.0 == 0 { Self($all) } else { Self::new(self.0.wrapping_div(other.0)) }
            }
            #[inline]
            fn smaller(self, other: Self) -> Self { Ord::min(self, other) }
            #[inline]
            fn larger(self, other: Self) -> Self { Ord::max(self, other) }
            #[inline]
            fn neg(self) -> Self { Self::new(self.0.wrapping_neg()) }
        }
        impl Int for $ty {
            const BITS: u32 = 4;
            #[inline]
            fn to_i128(self) -> i128 { self.0 as i128 }
            #[inline]
            fn wrap(n: i128) -> Self { Self::new(n as _) }
        }
    )*};
}
nibble_num!(I4, -8, 7, -1; U4, 0, 15, 15);

impl Num for bool {
    const ZERO: Self = false;
    const ONE: Self = true;
    const LOWEST: Self = false;
    const HIGHEST: Self = true;
    #[inline]
    fn add(self, other: Self) -> Self {
        self | other
    }
    #[inline]
    fn sub(self, other: Self) -> Self {
        self ^ other
    }
    #[inline]
    fn mul(self, other: Self) -> Self {
        self & other
    }
    #[inline]
    fn div(self, _: Self) -> Self {
        self
    }
    #[inline]
    fn smaller(self, other: Self) -> Self {
        self & other
    }
    #[inline]
    fn larger(self, other: Self) -> Self {
        self | other
    }
    #[inline]
    fn neg(self) -> Self {
        self
    }
}

macro_rules! float_num {
    ($($ty:ident, $bits:literal, $fraction:literal);*) => {$(
        impl Num for $ty {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const LOWEST: Self = Self::NEG_INFINITY;
            const HIGHEST: Self = Self::INFINITY;
            #[inline]
            fn add(self, other: Self) -> Self { canonical(self + other) }
            #[inline]
            fn sub(self, other: Self) -> Self { canonical(self - other) }
            #[inline]
            fn mul(self, other: Self) -> Self { canonical(self * other) }
            #[inline]
            fn div(self, other: Self) -> Self { canonical(self / other) }
            #[inline]
            fn smaller(self, other: Self) -> Self {
                // NaN if either is NaN; of equal numbers the one with a sign, so that -0 is below 0.
                if self < other || self == other && self.is_sign_negative() { self }
                else if self.is_nan() || other.is_nan() { Self::NAN }
                else { other }
            }
            #[inline]
            fn larger(self, other: Self) -> Self {
                if self > other || self == other && self.is_sign_positive() { self }
                else if self.is_nan() || other.is_nan() { Self::NAN }
                else { other }
            }
            #[inline]
            fn neg(self) -> Self { canonical(-self) }
        }
        impl Float for $ty {
            const FRACTION: u32 = $fraction;
            const WIDTH: u32 = $bits;
            #[inline]
            fn number(self) -> f64 { self.into() }
            #[inline]
            fn nearest(x: f64) -> Self { canonical(x as Self) }
            #[inline]
            fn raw(self) -> u64 { $ty::to_bits(self).into() }
            #[inline]
            fn from_raw(bits: u64) -> Self { $ty::from_bits(bits as _) }
        }
    )*};
}

trait Canonical: Sized {
    fn canonical(self) -> Self;
}
impl Canonical for f32 {
    #[inline]
    fn canonical(self) -> Self {
        if self.is_nan() { Self::NAN } else { self }
    }
}
impl Canonical for f64 {
    #[inline]
    fn canonical(self) -> Self {
        if self.is_nan() { Self::NAN } else { self }
    }
}
#[inline]
#[allow(private_bounds, reason = "helper of the macro")]
fn canonical<T: Canonical>(x: T) -> T {
    x.canonical()
}

float_num!(f32, 32, 23; f64, 64, 52);

/// Floats of 16 and 8 bits, computed as f32 and rounded once. The f32 result of one operation has enough bits that rounding it
/// again equals rounding once.
trait Narrow: Sized {
    const FORMAT: NarrowFormat;
    fn bits(self) -> u16;
    fn of_bits(bits: u16) -> Self;

    #[inline]
    fn widen(self) -> f32 {
        Self::FORMAT.widen(self.bits())
    }

    #[inline]
    fn round(x: f32) -> Self {
        Self::of_bits(Self::FORMAT.narrow(f64::from(x)))
    }
}

macro_rules! narrow_num {
    ($($ty:ident, $format:ident, $width:literal, |$x:ident| $bits:expr, |$b:ident| $of:expr, $make:expr, [$one:literal, $lowest:literal, $highest:literal];)*) => {$(
        impl Narrow for $ty {
            const FORMAT: NarrowFormat = narrow::$format;
            #[inline]
            fn bits(self) -> u16 { let $x = self; $bits }
            #[inline]
            fn of_bits($b: u16) -> Self { $of }
        }
        impl Num for $ty {
            const ZERO: Self = $make(0);
            const ONE: Self = $make($one);
            const LOWEST: Self = $make($lowest);
            const HIGHEST: Self = $make($highest);
            #[inline]
            fn add(self, other: Self) -> Self { Self::round(self.widen() + other.widen()) }
            #[inline]
            fn sub(self, other: Self) -> Self { Self::round(self.widen() - other.widen()) }
            #[inline]
            fn mul(self, other: Self) -> Self { Self::round(self.widen() * other.widen()) }
            #[inline]
            fn div(self, other: Self) -> Self { Self::round(self.widen() / other.widen()) }
            #[inline]
            fn smaller(self, other: Self) -> Self { Self::round(Num::smaller(self.widen(), other.widen())) }
            #[inline]
            fn larger(self, other: Self) -> Self { Self::round(Num::larger(self.widen(), other.widen())) }
            #[inline]
            fn neg(self) -> Self { Self::round(-self.widen()) }
        }
        impl Float for $ty {
            const FRACTION: u32 = narrow::$format.fraction;
            const WIDTH: u32 = $width;
            #[inline]
            fn number(self) -> f64 { self.widen().into() }
            #[inline]
            fn nearest(x: f64) -> Self { Self::of_bits(Self::FORMAT.narrow(x)) }
            #[inline]
            fn raw(self) -> u64 { self.bits().into() }
            #[inline]
            fn from_raw(bits: u64) -> Self { Self::of_bits(bits as u16) }
        }
    )*};
}

narrow_num! {
    f16, F16, 16, |x| x.to_bits(), |b| Self::from_bits(b), f16::from_bits, [0x3c00, 0xfc00, 0x7c00];
    bf16, BF16, 16, |x| x.to_bits(), |b| Self::from_bits(b), bf16::from_bits, [0x3f80, 0xff80, 0x7f80];
    F8E4M3Fn, F8E4M3FN, 8, |x| x.0.into(), |b| Self(b as u8), F8E4M3Fn, [0x38, 0xfe, 0x7e];
    F8E5M2, F8E5M2, 8, |x| x.0.into(), |b| Self(b as u8), F8E5M2, [0x3c, 0xfc, 0x7c];
}

macro_rules! complex_num {
    ($($part:ident),*) => {$(
        impl Num for Complex<$part> {
            const ZERO: Self = Complex::new(0.0, 0.0);
            const ONE: Self = Complex::new(1.0, 0.0);
            const LOWEST: Self = Complex::new($part::NEG_INFINITY, $part::NEG_INFINITY);
            const HIGHEST: Self = Complex::new($part::INFINITY, $part::INFINITY);
            #[inline]
            fn add(self, other: Self) -> Self {
                Self::new(Num::add(self.re, other.re), Num::add(self.im, other.im))
            }
            #[inline]
            fn sub(self, other: Self) -> Self {
                Self::new(Num::sub(self.re, other.re), Num::sub(self.im, other.im))
            }
            #[inline]
            fn mul(self, other: Self) -> Self {
                Self::new(
                    Num::sub(self.re * other.re, self.im * other.im),
                    Num::add(self.re * other.im, self.im * other.re),
                )
            }
            #[inline]
            fn div(self, other: Self) -> Self {
                Self::narrow(super::math::complex::div(self.wide(), other.wide()))
            }
            #[inline]
            fn smaller(self, other: Self) -> Self {
                if has_nan_part(self, other) { Self::new($part::NAN, $part::NAN) }
                else if complex_precedes(self, other) { self } else { other }
            }
            #[inline]
            fn larger(self, other: Self) -> Self {
                if has_nan_part(self, other) { Self::new($part::NAN, $part::NAN) }
                else if complex_precedes(self, other) { other } else { self }
            }
            #[inline]
            fn neg(self) -> Self { Self::new(Num::neg(self.re), Num::neg(self.im)) }
        }
        impl Cplx for Complex<$part> {
            type Part = $part;
            #[inline]
            fn re(self) -> $part { self.re }
            #[inline]
            fn im(self) -> $part { self.im }
            #[inline]
            fn of(re: $part, im: $part) -> Self { Self::new(re, im) }
        }
    )*};
}
complex_num!(f32, f64);

fn has_nan_part<T: Cplx>(a: T, b: T) -> bool {
    [a.re(), a.im(), b.re(), b.im()].iter().any(|x| x.number().is_nan())
}

/// Returns whether `a` precedes `b`: by real part, then by imaginary part. -0 equals 0 unless all else is equal: then it is below 0.
fn complex_precedes<T: Cplx>(a: T, b: T) -> bool {
    let parts = |z: T| (z.re().number(), z.im().number());
    let bits = |z: T| (z.re().order_key(), z.im().order_key());
    parts(a) < parts(b) || parts(a) == parts(b) && bits(a) <= bits(b)
}
