//! Conversions between the element types of blocks, and rounding to narrow floats.

use sapwood_ptir::eval::{Native, bf16, f16};

use super::lanes::{NarrowFloat, Source, map};

/// An element type that blocks are converted from and to.
pub(super) trait Convert<T>: Copy {
    fn convert(x: T) -> Self;
}

macro_rules! convert {
    ($($from:ident => $($to:ident)*;)*) => {$($(
        impl Convert<$from> for $to {
            // Floats are rounded towards zero and saturate; NaN gives zero. Integers wrap.
            #[inline(always)]
            fn convert(x: $from) -> Self { x as $to }
        }
    )*)*};
}
convert! {
    bool => i32 u32 i64;
    i32 => i32 u32 i64 f32 f64;
    u32 => i32 u32 i64 f32 f64;
    i64 => i32 u32 i64 f32 f64;
    f32 => i32 u32 i64 f32 f64;
    f64 => i32 u32 i64 f32 f64;
}

macro_rules! convert_bool {
    ($($from:ident $zero:literal;)*) => {$(
        impl Convert<$from> for bool {
            #[inline(always)]
            fn convert(x: $from) -> Self { x != $zero }
        }
    )*};
}
convert_bool! { i32 0; u32 0; i64 0; f32 0.0; f64 0.0; }

/// Gives elements the bits of others of the same size.
pub(super) fn bitcast<T: Native, U: Native>(to: &mut [U], from: Source<'_, T>) {
    match from {
        Source::Splat(x) => to.fill(U::unpack(x.pack())),
        Source::Dense(all) => {
            to.iter_mut().zip(all).for_each(|(y, &x)| *y = U::unpack(x.pack()));
        }
    }
}

impl Convert<bool> for bool {
    #[inline(always)]
    fn convert(x: bool) -> Self {
        x
    }
}

impl Convert<bool> for f32 {
    #[inline(always)]
    fn convert(x: bool) -> Self {
        f32::from(u8::from(x))
    }
}

impl Convert<bool> for f64 {
    #[inline(always)]
    fn convert(x: bool) -> Self {
        f64::from(u8::from(x))
    }
}

/// Converts elements.
#[inline(always)]
pub(super) fn convert<T: Copy, U: Convert<T>>(to: &mut [U], from: Source<'_, T>) {
    map(to, from, U::convert);
}

/// A storage type of narrow floats.
pub(crate) trait Narrow: Native {
    fn widen(self) -> f32;
    fn narrow(x: f32) -> Self;
}

impl Narrow for bf16 {
    #[inline(always)]
    fn widen(self) -> f32 {
        f32::from_bits(u32::from(self.to_bits()) << 16)
    }
    #[inline(always)]
    fn narrow(x: f32) -> Self {
        Self::from_bits((round_bf16(x).to_bits() >> 16) as u16)
    }
}

impl Narrow for f16 {
    #[inline(always)]
    fn widen(self) -> f32 {
        // The exponent and fraction move to their places in an f32, and the bias is corrected by a product, which also normalizes denormals.
        let bits = u32::from(self.to_bits());
        let magnitude = f32::from_bits((bits & 0x7fff) << 13) * f32::from_bits(0x7780_0000);
        let special = f32::from_bits((bits & 0x7fff) << 13 | 0x7f80_0000);
        let wide = if bits & 0x7c00 == 0x7c00 { special } else { magnitude };
        f32::from_bits(wide.to_bits() | (bits & 0x8000) << 16)
    }
    #[inline(always)]
    fn narrow(x: f32) -> Self {
        let rounded = round_f16(x);
        let bits = rounded.to_bits();
        let magnitude = f32::from_bits(bits & 0x7fff_ffff) * f32::from_bits(0x0780_0000);
        let finite = magnitude.to_bits() >> 13;
        let special = if rounded.is_nan() { 0x7e00 } else { 0x7c00 };
        let half = if rounded.is_finite() { finite } else { special };
        Self::from_bits((half | bits >> 16 & 0x8000) as u16)
    }
}

/// Rounds to the nearest bf16, ties to even.
#[inline(always)]
pub(super) fn round_bf16(x: f32) -> f32 {
    let bits = x.to_bits();
    let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) & 0xffff_0000;
    if x.is_nan() { f32::NAN } else { f32::from_bits(rounded) }
}

/// Rounds to the nearest f16, ties to even.
#[inline(always)]
pub(super) fn round_f16(x: f32) -> f32 {
    let a = x.abs().min(131_072.0);
    // Adding and subtracting 2^13 times the power of two of the number rounds it to 11 bits; below 2^-14 the spacing is fixed.
    let power = f32::from_bits(a.to_bits() & 0x7f80_0000);
    let shift = if power < 6.103_515_6e-5 { 6.103_515_6e-5 } else { power } * 12288.0;
    let rounded = (a + shift) - shift;
    let limited = if rounded > 65504.0 { f32::INFINITY } else { rounded };
    if x.is_nan() { f32::NAN } else { limited.copysign(x) }
}

/// Rounds a block to a narrow type.
#[inline(always)]
pub(super) fn round(narrow: NarrowFloat, to: &mut [f32], from: Source<'_, f32>) {
    match narrow {
        NarrowFloat::F16 => map(to, from, round_f16),
        NarrowFloat::Bf16 => map(to, from, round_bf16),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_floats_convert_both_ways() {
        for bits in 0..=u16::MAX {
            let (x, y) = (f16::from_bits(bits), bf16::from_bits(bits));
            let (wide, other) = (Narrow::widen(x), Narrow::widen(y));
            assert!(wide == x.to_f32() || wide.is_nan() && x.is_nan(), "{bits:x}");
            assert!(other == y.to_f32() || other.is_nan() && y.is_nan(), "{bits:x}");
            let back = <f16 as Narrow>::narrow(wide);
            assert!(back.to_bits() == bits || x.is_nan() && back.is_nan(), "{bits:x}");
            let back = <bf16 as Narrow>::narrow(other);
            assert!(back.to_bits() == bits || y.is_nan() && back.is_nan(), "{bits:x}");
        }
    }

    #[test]
    fn narrow_floats_are_rounded_to_even() {
        for i in 0..u32::MAX / 977 {
            let x = f32::from_bits(i * 977);
            let (a, b) = (<f16 as Narrow>::narrow(x), f16::from_f32(x));
            assert!(a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(), "{x:e}: {a} {b}");
            let (a, b) = (<bf16 as Narrow>::narrow(x), bf16::from_f32(x));
            assert!(a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(), "{x:e}: {a} {b}");
        }
    }
}
