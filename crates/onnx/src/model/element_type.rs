//! The element types of ONNX.

use super::coded_enum::coded_enum;

coded_enum! {
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
    ElementType {
        /// IEEE 754 binary32.
        Float = 1, "FLOAT";
        /// Unsigned, 8 bits.
        Uint8 = 2, "UINT8";
        /// Signed, 8 bits.
        Int8 = 3, "INT8";
        /// Unsigned, 16 bits.
        Uint16 = 4, "UINT16";
        /// Signed, 16 bits.
        Int16 = 5, "INT16";
        /// Signed, 32 bits.
        Int32 = 6, "INT32";
        /// Signed, 64 bits.
        Int64 = 7, "INT64";
        /// Bytes of any length.
        String = 8, "STRING";
        /// True or false, in a byte.
        Bool = 9, "BOOL";
        /// IEEE 754 binary16.
        Float16 = 10, "FLOAT16";
        /// IEEE 754 binary64.
        Double = 11, "DOUBLE";
        /// Unsigned, 32 bits.
        Uint32 = 12, "UINT32";
        /// Unsigned, 64 bits.
        Uint64 = 13, "UINT64";
        /// Complex numbers with two binary32 parts.
        Complex64 = 14, "COMPLEX64";
        /// Complex numbers with two binary64 parts.
        Complex128 = 15, "COMPLEX128";
        /// The upper half of binary32.
        Bfloat16 = 16, "BFLOAT16";
        /// 8-bit float, 4 exponent bits, finite.
        Float8E4M3Fn = 17, "FLOAT8E4M3FN";
        /// 8-bit float, 4 exponent bits, finite, one zero.
        Float8E4M3Fnuz = 18, "FLOAT8E4M3FNUZ";
        /// 8-bit float, 5 exponent bits.
        Float8E5M2 = 19, "FLOAT8E5M2";
        /// 8-bit float, 5 exponent bits, finite, one zero.
        Float8E5M2Fnuz = 20, "FLOAT8E5M2FNUZ";
        /// Unsigned, 4 bits.
        Uint4 = 21, "UINT4";
        /// Signed, 4 bits.
        Int4 = 22, "INT4";
        /// 4-bit float, 2 exponent bits.
        Float4E2M1 = 23, "FLOAT4E2M1";
        /// 8-bit power of two.
        Float8E8M0 = 24, "FLOAT8E8M0";
        /// Unsigned, 2 bits.
        Uint2 = 25, "UINT2";
        /// Signed, 2 bits.
        Int2 = 26, "INT2";
        /// 6-bit float, 2 exponent bits.
        Float6E2M3 = 27, "FLOAT6E2M3";
        /// 6-bit float, 3 exponent bits.
        Float6E3M2 = 28, "FLOAT6E3M2";
    }
}

impl ElementType {
    /// Returns ONNX's code of this type.
    #[must_use]
    pub const fn code(self) -> i32 {
        self as i32
    }

    /// Returns how many bits an element has; `None` for strings.
    #[must_use]
    pub const fn bits(self) -> Option<u32> {
        Some(match self {
            Self::Uint2 | Self::Int2 => 2,
            Self::Uint4 | Self::Int4 | Self::Float4E2M1 => 4,
            Self::Float6E2M3 | Self::Float6E3M2 => 6,
            Self::Uint8
            | Self::Int8
            | Self::Bool
            | Self::Float8E4M3Fn
            | Self::Float8E4M3Fnuz
            | Self::Float8E5M2
            | Self::Float8E5M2Fnuz
            | Self::Float8E8M0 => 8,
            Self::Uint16 | Self::Int16 | Self::Float16 | Self::Bfloat16 => 16,
            Self::Float | Self::Int32 | Self::Uint32 => 32,
            Self::Int64 | Self::Double | Self::Uint64 | Self::Complex64 => 64,
            Self::Complex128 => 128,
            Self::String => return None,
        })
    }

    /// Returns the number of bytes of a number of elements. Narrow ones are packed without gaps; the last byte is filled up.
    /// `None` for strings, and if the number is too large.
    #[must_use]
    pub fn byte_len(self, elements: u64) -> Option<u64> {
        Some(elements.checked_mul(u64::from(self.bits()?))?.div_ceil(8))
    }
}
