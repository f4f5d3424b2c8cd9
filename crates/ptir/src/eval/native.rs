//! The native Rust types of elements and arithmetic on them: one trait per class of types, so that kernels are written
//! once and compiled per type.

use std::fmt::Debug;
use std::sync::Arc;

use half::{bf16, f16};
use num_complex::Complex;
use sapwood_types::DataType;

use super::tensor::{Block, Buffer};

/// A signed 4-bit integer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct I4(pub(crate) i8);

/// An unsigned 4-bit integer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct U4(pub(crate) u8);

/// A float of 8 bits, 4 of them exponent, without infinities.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct F8E4M3Fn(pub u8);

/// A float of 8 bits, 5 of them exponent.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct F8E5M2(pub u8);

/// The bits of an element that is only stored and cast. All element types without arithmetic share it, so that kernels that move
/// elements are compiled once for them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StoredByte(pub u8);

impl StoredByte {
    /// Returns the number that the bits mean in an element type without arithmetic.
    #[must_use]
    pub fn number(self, dtype: DataType) -> f64 {
        super::stored::value(dtype, self.0)
    }
}

impl I4 {
    /// Returns the low four bits of a number in two's complement.
    #[must_use]
    pub fn new(n: i8) -> Self {
        Self(n << 4 >> 4)
    }

    /// Returns the number.
    #[must_use]
    pub fn get(self) -> i8 {
        self.0
    }
}

impl U4 {
    /// Returns the low four bits of a number.
    #[must_use]
    pub fn new(n: u8) -> Self {
        Self(n & 15)
    }

    /// Returns the number.
    #[must_use]
    pub fn get(self) -> u8 {
        self.0
    }
}

/// The native type of an element type. `index` shares that of `i64`, and types without arithmetic share [`StoredByte`].
pub trait Native: Copy + PartialEq + Debug + Default + Send + Sync + 'static {
    /// The element type; `i64` is also used for `index`, and [`StoredByte`] for all types without arithmetic.
    const DTYPE: DataType;
    /// Returns the little-endian bytes of the element, in the low bits.
    fn pack(self) -> u128;
    /// Returns the element with these bytes.
    fn unpack(bits: u128) -> Self;
    /// Reads an element from its little-endian bytes.
    fn from_bytes(bytes: &[u8]) -> Self;
    /// Appends the little-endian bytes of the element.
    fn write_bytes(self, out: &mut Vec<u8>);
    /// Converts a block to the storage of a tensor.
    fn into_buffer(block: Arc<Block<Self>>) -> Buffer;
    /// Returns the storage, if it is of this type.
    fn from_buffer(buffer: &Buffer) -> Option<&Arc<Block<Self>>>;
    /// Returns the storage for mutation, if it is of this type.
    fn from_buffer_mut(buffer: &mut Buffer) -> Option<&mut Arc<Block<Self>>>;
    /// Returns the storage, if it is of this type.
    ///
    /// # Errors
    /// The buffer, if it is not.
    fn take_buffer(buffer: Buffer) -> Result<Arc<Block<Self>>, Buffer>;
}

macro_rules! native {
    ($($ty:ty, $variant:ident, $dtype:ident, $bytes:literal, |$x:ident| $to:expr, |$b:ident| $from:expr;)*) => {$(
        impl Native for $ty {
            const DTYPE: DataType = DataType::$dtype;
            #[inline]
            fn pack(self) -> u128 {
                let mut all = [0; 16];
                let $x = self;
                all[..$bytes].copy_from_slice(&$to);
                u128::from_le_bytes(all)
            }
            #[inline]
            fn unpack(bits: u128) -> Self {
                Self::from_bytes(&bits.to_le_bytes()[..$bytes])
            }
            #[inline]
            fn from_bytes(bytes: &[u8]) -> Self {
                let mut $b = [0; $bytes];
                $b.copy_from_slice(bytes);
                $from
            }
            #[inline]
            fn write_bytes(self, out: &mut Vec<u8>) {
                let $x = self;
                out.extend_from_slice(&$to);
            }
            fn into_buffer(block: Arc<Block<Self>>) -> Buffer {
                Buffer::$variant(block)
            }
            fn from_buffer(buffer: &Buffer) -> Option<&Arc<Block<Self>>> {
                if let Buffer::$variant(block) = buffer { Some(block) } else { None }
            }
            fn from_buffer_mut(buffer: &mut Buffer) -> Option<&mut Arc<Block<Self>>> {
                if let Buffer::$variant(block) = buffer { Some(block) } else { None }
            }
            fn take_buffer(buffer: Buffer) -> Result<Arc<Block<Self>>, Buffer> {
                if let Buffer::$variant(block) = buffer { Ok(block) } else { Err(buffer) }
            }
        }
    )*};
}

native! {
    bool, Bool, Bool, 1, |x| [u8::from(x)], |b| b[0] != 0;
    I4, I4, I4, 1, |x| x.0.to_le_bytes(), |b| I4::new(i8::from_le_bytes(b));
    i8, I8, I8, 1, |x| x.to_le_bytes(), |b| i8::from_le_bytes(b);
    i16, I16, I16, 2, |x| x.to_le_bytes(), |b| i16::from_le_bytes(b);
    i32, I32, I32, 4, |x| x.to_le_bytes(), |b| i32::from_le_bytes(b);
    i64, I64, I64, 8, |x| x.to_le_bytes(), |b| i64::from_le_bytes(b);
    U4, U4, U4, 1, |x| [x.0], |b| U4::new(b[0]);
    u8, U8, U8, 1, |x| [x], |b| b[0];
    u16, U16, U16, 2, |x| x.to_le_bytes(), |b| u16::from_le_bytes(b);
    u32, U32, U32, 4, |x| x.to_le_bytes(), |b| u32::from_le_bytes(b);
    u64, U64, U64, 8, |x| x.to_le_bytes(), |b| u64::from_le_bytes(b);
    f16, F16, F16, 2, |x| x.to_bits().to_le_bytes(), |b| f16::from_bits(u16::from_le_bytes(b));
    bf16, Bf16, Bf16, 2, |x| x.to_bits().to_le_bytes(), |b| bf16::from_bits(u16::from_le_bytes(b));
    F8E4M3Fn, F8E4M3Fn, F8E4M3Fn, 1, |x| [x.0], |b| F8E4M3Fn(b[0]);
    F8E5M2, F8E5M2, F8E5M2, 1, |x| [x.0], |b| F8E5M2(b[0]);
    StoredByte, Stored, F8E4M3Fnuz, 1, |x| [x.0], |b| StoredByte(b[0]);
    f32, F32, F32, 4, |x| f32::to_bits(x).to_le_bytes(), |b| f32::from_bits(u32::from_le_bytes(b));
    f64, F64, F64, 8, |x| f64::to_bits(x).to_le_bytes(), |b| f64::from_bits(u64::from_le_bytes(b));
    Complex<f32>, C64, C64, 8,
        |x| { let mut all = [0; 8]; all[..4].copy_from_slice(&x.re.to_le_bytes()); all[4..].copy_from_slice(&x.im.to_le_bytes()); all },
        |b| Complex::new(f32::from_bytes(&b[..4]), f32::from_bytes(&b[4..]));
    Complex<f64>, C128, C128, 16,
        |x| { let mut all = [0; 16]; all[..8].copy_from_slice(&x.re.to_le_bytes()); all[8..].copy_from_slice(&x.im.to_le_bytes()); all },
        |b| Complex::new(f64::from_bytes(&b[..8]), f64::from_bytes(&b[8..]));
}

/// Runs an expression with `T` as the native type of an element type.
#[macro_export]
macro_rules! with_native {
    ($dtype:expr, $T:ident => $body:expr) => {
        match $dtype {
            dtype if dtype.is_storage_only() => { type $T = $crate::eval::StoredByte; $body }
            dtype => $crate::with_computed!(dtype, $T => $body, _ => unreachable!("every element type has a Rust type")),
        }
    };
}

/// Runs an expression like [`with_native!`](crate::with_native!), for all types with arithmetic, bool included.
#[macro_export]
macro_rules! with_computed {
    ($dtype:expr, $T:ident => $body:expr, _ => $other:expr) => {
        match $dtype {
            $crate::eval::DataType::Bool => { type $T = bool; $body }
            dtype => $crate::with_number!(dtype, $T => $body, _ => $other),
        }
    };
}

/// Runs an expression like [`with_native!`](crate::with_native!), for all types with arithmetic but bool.
#[macro_export]
macro_rules! with_number {
    ($dtype:expr, $T:ident => $body:expr, _ => $other:expr) => {
        match $dtype {
            $crate::eval::DataType::C64 | $crate::eval::DataType::C128 => {
                $crate::with_complex!($dtype, $T => $body, _ => $other)
            }
            dtype if dtype.is_float() => $crate::with_float!(dtype, $T => $body, _ => $other),
            dtype => $crate::with_int!(dtype, $T => $body, _ => $other),
        }
    };
}

/// Returns an element type that holds every value of another one, so that loops are compiled for few types: narrow integers and bools
/// are computed as `i64` and narrowed again. Sums and products wrap, so their low bits are correct; a sum of bools is "or", which is
/// true if the count is not zero.
pub(crate) fn widened(dtype: DataType) -> DataType {
    use DataType::{Bool, I4, I8, I16, I32, I64, U4, U8, U16, U32};
    match dtype {
        Bool | I4 | I8 | I16 | I32 | U4 | U8 | U16 | U32 => I64,
        other => other,
    }
}

/// Runs an expression with `T` as the native type of an element type that [`widened`] returns.
macro_rules! with_widened {
    ($dtype:expr, $T:ident => $body:expr) => {
        match $dtype {
            $crate::eval::DataType::I64 | $crate::eval::DataType::Index => {
                type $T = i64;
                $body
            }
            $crate::eval::DataType::U64 => {
                type $T = u64;
                $body
            }
            dtype if dtype.is_float() => {
                $crate::with_float!(dtype, $T => $body, _ => unreachable!("{dtype} is a float"))
            }
            dtype => {
                $crate::with_complex!(dtype, $T => $body, _ => unreachable!("{dtype} is not widened"))
            }
        }
    };
}
pub(crate) use with_widened;

/// Runs an expression like [`with_native!`](crate::with_native!), for integers.
#[macro_export]
macro_rules! with_int {
    ($dtype:expr, $T:ident => $body:expr, _ => $other:expr) => {
        match $dtype {
            $crate::eval::DataType::I4 => {
                type $T = $crate::eval::I4;
                $body
            }
            $crate::eval::DataType::I8 => {
                type $T = i8;
                $body
            }
            $crate::eval::DataType::I16 => {
                type $T = i16;
                $body
            }
            $crate::eval::DataType::I32 => {
                type $T = i32;
                $body
            }
            $crate::eval::DataType::I64 | $crate::eval::DataType::Index => {
                type $T = i64;
                $body
            }
            $crate::eval::DataType::U4 => {
                type $T = $crate::eval::U4;
                $body
            }
            $crate::eval::DataType::U8 => {
                type $T = u8;
                $body
            }
            $crate::eval::DataType::U16 => {
                type $T = u16;
                $body
            }
            $crate::eval::DataType::U32 => {
                type $T = u32;
                $body
            }
            $crate::eval::DataType::U64 => {
                type $T = u64;
                $body
            }
            _ => $other,
        }
    };
}

/// Runs an expression like [`with_native!`](crate::with_native!), for floats.
#[macro_export]
macro_rules! with_float {
    ($dtype:expr, $T:ident => $body:expr, _ => $other:expr) => {
        match $dtype {
            $crate::eval::DataType::F32 => {
                type $T = f32;
                $body
            }
            $crate::eval::DataType::F64 => {
                type $T = f64;
                $body
            }
            $crate::eval::DataType::F16 => {
                type $T = $crate::eval::f16;
                $body
            }
            $crate::eval::DataType::Bf16 => {
                type $T = $crate::eval::bf16;
                $body
            }
            $crate::eval::DataType::F8E4M3Fn => {
                type $T = $crate::eval::F8E4M3Fn;
                $body
            }
            $crate::eval::DataType::F8E5M2 => {
                type $T = $crate::eval::F8E5M2;
                $body
            }
            _ => $other,
        }
    };
}

/// Runs an expression like [`with_native!`](crate::with_native!), for complex numbers.
#[macro_export]
macro_rules! with_complex {
    ($dtype:expr, $T:ident => $body:expr, _ => $other:expr) => {
        match $dtype {
            $crate::eval::DataType::C64 => {
                type $T = $crate::eval::Complex<f32>;
                $body
            }
            $crate::eval::DataType::C128 => {
                type $T = $crate::eval::Complex<f64>;
                $body
            }
            _ => $other,
        }
    };
}

/// Total arithmetic: integers wrap, floats follow IEEE 754 with one NaN; for bools the sum is "or" and the product
/// "and".
pub trait Num: Native {
    /// Zero, the start of sums.
    const ZERO: Self;
    /// One, the start of products.
    const ONE: Self;
    /// The smallest value, the start of maxima.
    const LOWEST: Self;
    /// The largest value, the start of minima.
    const HIGHEST: Self;
    /// Returns the sum.
    #[must_use]
    fn add(self, other: Self) -> Self;
    /// Returns the difference; for bools "exclusive or".
    #[must_use]
    fn sub(self, other: Self) -> Self;
    /// Returns the product.
    #[must_use]
    fn mul(self, other: Self) -> Self;
    /// Returns the quotient as the op `div` defines it; for bools the left operand.
    #[must_use]
    fn div(self, other: Self) -> Self;
    /// Returns the smaller operand as the op `min` defines it.
    #[must_use]
    fn smaller(self, other: Self) -> Self;
    /// Returns the larger operand as the op `max` defines it.
    #[must_use]
    fn larger(self, other: Self) -> Self;
    /// Returns the negation; a bool is unchanged.
    #[must_use]
    fn neg(self) -> Self;
}

/// An integer type.
pub trait Int: Num + Ord {
    /// The number of bits.
    const BITS: u32;
    /// Returns the number.
    fn to_i128(self) -> i128;
    /// Returns the low bits of a number.
    fn wrap(n: i128) -> Self;
}

/// A floating-point type.
pub trait Float: Num {
    /// Returns the number exactly.
    fn number(self) -> f64;
    /// Rounds to nearest, ties to even, with one NaN.
    fn nearest(x: f64) -> Self;
    /// The number of fraction bits.
    const FRACTION: u32;
    /// The number of bits.
    const WIDTH: u32;
    /// Returns the bits.
    fn raw(self) -> u64;
    /// Returns the float with these bits.
    fn from_raw(bits: u64) -> Self;
    /// Returns the bits of special numbers: zero, then infinity and NaN in types that have them, the smallest and the largest subnormal, the
    /// smallest normal and the largest finite number.
    #[must_use]
    fn special_bits() -> [u64; 7] {
        let exponent = ((1u64 << (Self::WIDTH - 1 - Self::FRACTION)) - 1) << Self::FRACTION;
        let normal = 1 << Self::FRACTION;
        [0, exponent, exponent | normal >> 1, 1, normal - 1, normal, exponent - 1]
    }
    /// Returns the bits as a signed number in the total order of floats: -NaN < -infinity < ... < -0 < 0 < ... < NaN.
    #[inline]
    fn order_key(self) -> i64 {
        let bits = (self.raw() << (64 - Self::WIDTH)).cast_signed() >> (64 - Self::WIDTH);
        if bits < 0 { bits ^ i64::MAX >> (64 - Self::WIDTH) } else { bits }
    }
}

/// A complex type.
pub trait Cplx: Num {
    /// The type of the parts.
    type Part: Float;
    /// Returns the real part.
    fn re(self) -> Self::Part;
    /// Returns the imaginary part.
    fn im(self) -> Self::Part;
    /// Returns the number with these parts.
    fn of(re: Self::Part, im: Self::Part) -> Self;
    /// Converts to 64-bit parts exactly.
    fn wide(self) -> Complex<f64> {
        Complex::new(self.re().number(), self.im().number())
    }
    /// Rounds the parts to nearest even.
    #[must_use]
    fn narrow(z: Complex<f64>) -> Self {
        Self::of(Self::Part::nearest(z.re), Self::Part::nearest(z.im))
    }
}
