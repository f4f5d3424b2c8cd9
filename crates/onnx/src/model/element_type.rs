//! The element types of ONNX.

use std::fmt;

/// Declares the element types: code, bits, name in ONNX's schema.
macro_rules! element_types {
    ($($(#[$doc:meta])* $variant:ident = $code:literal, $bits:expr, $name:literal;)*) => {
        /// The element type of a tensor, as ONNX numbers them.
        ///
        /// ```
        /// use sapwood_onnx::ElementType;
        ///
        /// assert_eq!(ElementType::from_code(10), Some(ElementType::Float16));
        /// assert_eq!(ElementType::Float16.to_string(), "FLOAT16");
        /// assert_eq!(ElementType::Int4.byte_len(3), Some(2));
        /// assert_eq!(ElementType::String.byte_len(3), None);
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(i32)]
        pub enum ElementType {
            $($(#[$doc])* $variant = $code,)*
        }

        impl ElementType {
            /// Every type, in order of [`code`](Self::code).
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Returns the type of this code; `None` for 0, which means undefined, and for codes that ONNX 1.23 does not have.
            #[must_use]
            pub const fn from_code(code: i32) -> Option<Self> {
                match code {
                    $($code => Some(Self::$variant),)*
                    _ => None,
                }
            }

            /// Returns how many bits an element has; `None` for strings.
            #[must_use]
            pub const fn bits(self) -> Option<u32> {
                match self { $(Self::$variant => $bits,)* }
            }

            /// Returns the name in ONNX's schema.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

element_types! {
    /// IEEE 754 binary32.
    Float = 1, Some(32), "FLOAT";
    /// Unsigned, 8 bits.
    Uint8 = 2, Some(8), "UINT8";
    /// Signed, 8 bits.
    Int8 = 3, Some(8), "INT8";
    /// Unsigned, 16 bits.
    Uint16 = 4, Some(16), "UINT16";
    /// Signed, 16 bits.
    Int16 = 5, Some(16), "INT16";
    /// Signed, 32 bits.
    Int32 = 6, Some(32), "INT32";
    /// Signed, 64 bits.
    Int64 = 7, Some(64), "INT64";
    /// Bytes of any length.
    String = 8, None, "STRING";
    /// True or false, in a byte.
    Bool = 9, Some(8), "BOOL";
    /// IEEE 754 binary16.
    Float16 = 10, Some(16), "FLOAT16";
    /// IEEE 754 binary64.
    Double = 11, Some(64), "DOUBLE";
    /// Unsigned, 32 bits.
    Uint32 = 12, Some(32), "UINT32";
    /// Unsigned, 64 bits.
    Uint64 = 13, Some(64), "UINT64";
    /// Complex numbers with two binary32 parts.
    Complex64 = 14, Some(64), "COMPLEX64";
    /// Complex numbers with two binary64 parts.
    Complex128 = 15, Some(128), "COMPLEX128";
    /// The upper half of binary32.
    Bfloat16 = 16, Some(16), "BFLOAT16";
    /// 8-bit float, 4 exponent bits, finite.
    Float8E4M3Fn = 17, Some(8), "FLOAT8E4M3FN";
    /// 8-bit float, 4 exponent bits, finite, one zero.
    Float8E4M3Fnuz = 18, Some(8), "FLOAT8E4M3FNUZ";
    /// 8-bit float, 5 exponent bits.
    Float8E5M2 = 19, Some(8), "FLOAT8E5M2";
    /// 8-bit float, 5 exponent bits, finite, one zero.
    Float8E5M2Fnuz = 20, Some(8), "FLOAT8E5M2FNUZ";
    /// Unsigned, 4 bits.
    Uint4 = 21, Some(4), "UINT4";
    /// Signed, 4 bits.
    Int4 = 22, Some(4), "INT4";
    /// 4-bit float, 2 exponent bits.
    Float4E2M1 = 23, Some(4), "FLOAT4E2M1";
    /// 8-bit power of two.
    Float8E8M0 = 24, Some(8), "FLOAT8E8M0";
    /// Unsigned, 2 bits.
    Uint2 = 25, Some(2), "UINT2";
    /// Signed, 2 bits.
    Int2 = 26, Some(2), "INT2";
    /// 6-bit float, 2 exponent bits.
    Float6E2M3 = 27, Some(6), "FLOAT6E2M3";
    /// 6-bit float, 3 exponent bits.
    Float6E3M2 = 28, Some(6), "FLOAT6E3M2";
}

impl ElementType {
    /// Returns ONNX's code of this type.
    #[must_use]
    pub const fn code(self) -> i32 {
        self as i32
    }

    /// Returns the number of bytes of a number of elements. Narrow ones are packed without gaps; the last byte is filled up.
    /// `None` for strings, and if the number is too large.
    #[must_use]
    pub fn byte_len(self, elements: u64) -> Option<u64> {
        Some(elements.checked_mul(u64::from(self.bits()?))?.div_ceil(8))
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
