//! The element types of scalars and tensors.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::did_you_mean;

/// Defines [`DataType`], with one line per type: variant, code, bits, short name, document name, other accepted
/// names.
macro_rules! data_types {
    ($($(#[$doc:meta])* $variant:ident = $code:literal, $bits:literal, $short:literal, $document:literal, [$($alias:literal),*];)*) => {
        /// The element type of a scalar or a tensor.
        ///
        /// A type has a *short name*, used by the PTIR text form and by `Display` (`f32`), and a
        /// *document name*, used by the front-end IR and by Python (`FP32`). [`FromStr`] accepts both
        /// and the usual other spellings (`FLOAT32`, `float32`).
        ///
        /// The numeric [`code`](Self::code) of a type is stable: it goes into hashes and binary forms
        /// and never changes its meaning. New types get new codes.
        ///
        /// ```
        /// use sapwood_types::DataType;
        ///
        /// assert_eq!("FLOAT32".parse(), Ok(DataType::F32));
        /// assert_eq!(DataType::F32.to_string(), "f32");
        /// assert_eq!(DataType::F32.document_name(), "FP32");
        /// assert_eq!(DataType::I4.integer_range(), Some((-8, 7)));
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum DataType {
            $($(#[$doc])* $variant = $code,)*
        }

        impl DataType {
            /// Every data type, in order of [`code`](Self::code).
            pub const ALL: [Self; [$($code),*].len()] = [$(Self::$variant),*];

            /// Returns the name in the PTIR text form: `i32`, `bf16`, `f8e4m3fn`, `c64`, `index`.
            #[must_use]
            pub const fn short_name(self) -> &'static str {
                match self { $(Self::$variant => $short,)* }
            }

            /// Returns the name in the front-end IR and in Python: `INT32`, `BF16`, `FP8E4M3FN`, `COMPLEX64`,
            /// `INDEX`.
            #[must_use]
            pub const fn document_name(self) -> &'static str {
                match self { $(Self::$variant => $document,)* }
            }

            /// Returns the names that [`FromStr`] accepts besides the short and the document name.
            #[must_use]
            pub const fn aliases(self) -> &'static [&'static str] {
                match self { $(Self::$variant => &[$($alias),*],)* }
            }

            /// Returns the number of bits of a value. `index` counts as 64, `bool` as 1; a complex number
            /// counts both parts.
            #[must_use]
            pub const fn bit_width(self) -> u32 {
                match self { $(Self::$variant => $bits,)* }
            }
        }
    };
}

data_types! {
    /// Truth values; stored as one byte, 0 or 1.
    Bool = 0, 1, "bool", "BOOL", ["i1", "BOOLEAN", "pred"];
    /// Signed 4-bit integers, stored one per byte.
    I4 = 1, 4, "i4", "INT4", ["int4"];
    /// Signed 8-bit integers.
    I8 = 2, 8, "i8", "INT8", ["int8"];
    /// Signed 16-bit integers.
    I16 = 3, 16, "i16", "INT16", ["int16"];
    /// Signed 32-bit integers.
    I32 = 4, 32, "i32", "INT32", ["int32"];
    /// Signed 64-bit integers.
    I64 = 5, 64, "i64", "INT64", ["int64"];
    /// Unsigned 4-bit integers, stored one per byte.
    U4 = 6, 4, "u4", "UINT4", ["uint4", "ui4"];
    /// Unsigned 8-bit integers.
    U8 = 7, 8, "u8", "UINT8", ["uint8", "ui8"];
    /// Unsigned 16-bit integers.
    U16 = 8, 16, "u16", "UINT16", ["uint16", "ui16"];
    /// Unsigned 32-bit integers.
    U32 = 9, 32, "u32", "UINT32", ["uint32", "ui32"];
    /// Unsigned 64-bit integers.
    U64 = 10, 64, "u64", "UINT64", ["uint64", "ui64"];
    /// The upper half of an `f32`: 8 exponent bits, 7 fraction bits.
    Bf16 = 11, 16, "bf16", "BF16", ["BFLOAT16", "bfloat16"];
    /// IEEE 754 binary16.
    F16 = 12, 16, "f16", "FP16", ["FLOAT16", "float16", "fp16"];
    /// IEEE 754 binary32.
    F32 = 13, 32, "f32", "FP32", ["FLOAT32", "float32", "fp32"];
    /// IEEE 754 binary64.
    F64 = 14, 64, "f64", "FP64", ["FLOAT64", "float64", "fp64"];
    /// 8-bit float with 4 exponent and 3 fraction bits, finite: no infinities, one NaN per sign.
    F8E4M3Fn = 15, 8, "f8e4m3fn", "FP8E4M3FN", ["f8E4M3FN", "FLOAT8E4M3FN", "float8_e4m3fn", "FP8E4M3"];
    /// 8-bit float with 5 exponent and 2 fraction bits, with infinities and NaNs.
    F8E5M2 = 16, 8, "f8e5m2", "FP8E5M2", ["f8E5M2", "FLOAT8E5M2", "float8_e5m2"];
    /// Complex numbers with two `f32` parts.
    C64 = 17, 64, "c64", "COMPLEX64", ["complex64"];
    /// Complex numbers with two `f64` parts.
    C128 = 18, 128, "c128", "COMPLEX128", ["complex128"];
    /// Sizes and positions; a signed 64-bit integer of its own type.
    Index = 19, 64, "index", "INDEX", [];
    /// 8-bit float with 4 exponent and 3 fraction bits and bias 8: no infinities, no negative zero, one NaN. Only stored and cast.
    F8E4M3Fnuz = 20, 8, "f8e4m3fnuz", "FP8E4M3FNUZ", ["f8E4M3FNUZ", "FLOAT8E4M3FNUZ", "float8_e4m3fnuz"];
    /// 8-bit float with 5 exponent and 2 fraction bits and bias 16: no infinities, no negative zero, one NaN. Only stored and cast.
    F8E5M2Fnuz = 21, 8, "f8e5m2fnuz", "FP8E5M2FNUZ", ["f8E5M2FNUZ", "FLOAT8E5M2FNUZ", "float8_e5m2fnuz"];
    /// Powers of two from 2^-127 to 2^127, and NaN: 8 exponent bits, no sign, no zero. Only stored and cast.
    F8E8M0Fnu = 22, 8, "f8e8m0fnu", "FP8E8M0FNU", ["f8E8M0FNU", "FLOAT8E8M0", "float8_e8m0fnu"];
    /// 4-bit float with 2 exponent bits and 1 fraction bit, up to 6: no infinities, no NaN. Only stored, one per byte, and cast.
    F4E2M1Fn = 23, 4, "f4e2m1fn", "FP4E2M1FN", ["f4E2M1FN", "FLOAT4E2M1", "float4_e2m1fn"];
    /// Signed 2-bit integers. Only stored, one per byte, and cast.
    I2 = 24, 2, "i2", "INT2", ["int2"];
    /// Unsigned 2-bit integers. Only stored, one per byte, and cast.
    U2 = 25, 2, "u2", "UINT2", ["uint2", "ui2"];
}

impl DataType {
    /// Returns the stable number of this type, for hashes, JSON and binary forms.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// Returns the type with this [`code`](Self::code), if there is one.
    #[must_use]
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }

    /// Returns the number of bytes of one element in memory. Types narrower than a byte are stored one per
    /// byte.
    #[must_use]
    pub const fn byte_size(self) -> usize {
        (self.bit_width() as usize).div_ceil(8)
    }

    /// Returns whether this is `bool`, which is neither an integer nor a float.
    #[must_use]
    pub const fn is_bool(self) -> bool {
        matches!(self, Self::Bool)
    }

    /// Returns whether this is an integer type; `index` is one, `bool` is not.
    #[must_use]
    pub const fn is_integer(self) -> bool {
        matches!(
            self,
            Self::I4
                | Self::I8
                | Self::I16
                | Self::I32
                | Self::I64
                | Self::U4
                | Self::U8
                | Self::U16
                | Self::U32
                | Self::U64
                | Self::Index
        )
    }

    /// Returns whether this is a (real) floating-point type.
    #[must_use]
    pub const fn is_float(self) -> bool {
        matches!(
            self,
            Self::Bf16 | Self::F16 | Self::F32 | Self::F64 | Self::F8E4M3Fn | Self::F8E5M2
        )
    }

    /// Returns whether this is a complex type.
    #[must_use]
    pub const fn is_complex(self) -> bool {
        matches!(self, Self::C64 | Self::C128)
    }

    /// Returns whether values of this type are only stored and cast: there is no arithmetic on them, and no comparison. Such a type is
    /// neither an integer nor a float.
    #[must_use]
    pub const fn is_storage_only(self) -> bool {
        matches!(
            self,
            Self::F8E4M3Fnuz
                | Self::F8E5M2Fnuz
                | Self::F8E8M0Fnu
                | Self::F4E2M1Fn
                | Self::I2
                | Self::U2
        )
    }

    /// Returns whether values can be negative: signed integers, `index`, floats and complex numbers.
    #[must_use]
    pub const fn is_signed(self) -> bool {
        !self.is_bool()
            && !self.is_unsigned_integer()
            && !matches!(self, Self::U2 | Self::F8E8M0Fnu)
    }

    /// Returns whether this is an integer type without negative values.
    #[must_use]
    pub const fn is_unsigned_integer(self) -> bool {
        matches!(self, Self::U4 | Self::U8 | Self::U16 | Self::U32 | Self::U64)
    }

    /// Returns whether this is an integer type with negative values; `index` is one.
    #[must_use]
    pub const fn is_signed_integer(self) -> bool {
        self.is_integer() && !self.is_unsigned_integer()
    }

    /// Returns whether all values are integers: an integer type, or one that is only stored (`i2`, `u2`).
    #[must_use]
    pub const fn holds_integers(self) -> bool {
        self.is_integer() || matches!(self, Self::I2 | Self::U2)
    }

    /// Returns the smallest and the largest value of a type that [holds integers](Self::holds_integers); `None` for all others.
    #[must_use]
    pub const fn integer_range(self) -> Option<(i128, i128)> {
        if self.is_unsigned_integer() || matches!(self, Self::U2) {
            Some((0, (1 << self.bit_width()) - 1))
        } else if self.holds_integers() {
            let half = 1 << (self.bit_width() - 1);
            Some((-half, half - 1))
        } else {
            None
        }
    }

    /// Returns the smallest value of a type that [holds integers](Self::holds_integers); `None` for all others.
    #[must_use]
    pub const fn integer_min(self) -> Option<i128> {
        match self.integer_range() {
            Some((min, _)) => Some(min),
            None => None,
        }
    }

    /// Returns the largest value of a type that [holds integers](Self::holds_integers); `None` for all others.
    #[must_use]
    pub const fn integer_max(self) -> Option<i128> {
        match self.integer_range() {
            Some((_, max)) => Some(max),
            None => None,
        }
    }

    /// Returns the type of one part of a complex number; `None` for all other types.
    #[must_use]
    pub const fn complex_part(self) -> Option<Self> {
        match self {
            Self::C64 => Some(Self::F32),
            Self::C128 => Some(Self::F64),
            _ => None,
        }
    }
}

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.short_name())
    }
}

/// The error of an unknown data type name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("unknown data type `{name}`; {hint}")]
pub struct UnknownDataType {
    name: String,
    hint: String,
}

impl UnknownDataType {
    fn new(name: &str) -> Self {
        let short = DataType::ALL.iter().map(|t| t.short_name());
        let document = DataType::ALL.iter().map(|t| t.document_name());
        let hint = match did_you_mean(name, short.clone().chain(document)) {
            Some(close) => format!("did you mean `{close}`?"),
            None => format!("one of {}", short.collect::<Vec<_>>().join(", ")),
        };
        Self { name: shortened(name), hint }
    }

    /// Returns the name that was given, cut if it is very long.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the suggestion: the closest name, or all names.
    #[must_use]
    pub fn hint(&self) -> &str {
        &self.hint
    }
}

/// Cuts a name from outside to at most 40 characters.
fn shortened(name: &str) -> String {
    match name.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}

impl FromStr for DataType {
    type Err = UnknownDataType;

    /// Parses the short name, the document name or an alias, spelled exactly.
    fn from_str(name: &str) -> Result<Self, UnknownDataType> {
        Self::ALL
            .into_iter()
            .find(|t| {
                t.short_name() == name || t.document_name() == name || t.aliases().contains(&name)
            })
            .ok_or_else(|| UnknownDataType::new(name))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn codes_are_dense_and_stable() {
        for (position, data_type) in DataType::ALL.into_iter().enumerate() {
            assert_eq!(usize::from(data_type.code()), position);
            assert_eq!(DataType::from_code(data_type.code()), Some(data_type));
        }
        assert_eq!(DataType::from_code(26), None);
        // These numbers are in files on users' disks.
        assert_eq!(DataType::Bool.code(), 0);
        assert_eq!(DataType::I64.code(), 5);
        assert_eq!(DataType::U64.code(), 10);
        assert_eq!(DataType::Bf16.code(), 11);
        assert_eq!(DataType::F64.code(), 14);
        assert_eq!(DataType::F8E5M2.code(), 16);
        assert_eq!(DataType::C128.code(), 18);
        assert_eq!(DataType::Index.code(), 19);
        assert_eq!(DataType::U2.code(), 25);
    }

    #[test]
    fn every_name_parses_to_its_type_and_no_name_is_shared() {
        let mut seen = BTreeSet::new();
        for data_type in DataType::ALL {
            assert_eq!(data_type.to_string(), data_type.short_name());
            let own = [data_type.short_name(), data_type.document_name()];
            for name in own.iter().chain(data_type.aliases()) {
                assert_eq!(name.parse(), Ok(data_type), "{name}");
                assert!(seen.insert(*name), "{name} names two types");
            }
        }
    }

    #[test]
    fn names_of_the_documents() {
        for (name, data_type) in [
            ("INT64", DataType::I64),
            ("UINT8", DataType::U8),
            ("FP32", DataType::F32),
            ("FLOAT32", DataType::F32),
            ("FP64", DataType::F64),
            ("FLOAT64", DataType::F64),
            ("BF16", DataType::Bf16),
            ("BOOL", DataType::Bool),
            ("COMPLEX64", DataType::C64),
            ("INDEX", DataType::Index),
            ("FP8E4M3FN", DataType::F8E4M3Fn),
        ] {
            assert_eq!(name.parse(), Ok(data_type));
        }
    }

    #[test]
    fn an_unknown_name_gets_a_suggestion_or_the_list() {
        let close = "f23".parse::<DataType>().unwrap_err();
        assert_eq!(close.to_string(), "unknown data type `f23`; did you mean `f32`?");
        let upper = "INT23".parse::<DataType>().unwrap_err();
        assert_eq!(upper.hint(), "did you mean `INT32`?");
        let far = "quaternion".parse::<DataType>().unwrap_err();
        assert!(far.to_string().contains("one of bool, i4, i8"), "{far}");
        let long = "x".repeat(1_000_000).parse::<DataType>().unwrap_err();
        assert!(long.to_string().len() < 400);
    }

    #[test]
    fn widths_sizes_and_classes() {
        for data_type in DataType::ALL {
            let classes = [
                data_type.is_bool(),
                data_type.is_integer(),
                data_type.is_float(),
                data_type.is_complex(),
                data_type.is_storage_only(),
            ];
            assert_eq!(classes.iter().filter(|yes| **yes).count(), 1, "{data_type}");
            assert_eq!(data_type.integer_range().is_some(), data_type.holds_integers());
            assert!(data_type.holds_integers() || !data_type.is_integer());
            assert_eq!(data_type.complex_part().is_some(), data_type.is_complex());
        }
        assert_eq!(DataType::Bool.byte_size(), 1);
        assert_eq!(DataType::I4.byte_size(), 1);
        assert_eq!(DataType::U4.bit_width(), 4);
        assert_eq!(DataType::Bf16.byte_size(), 2);
        assert_eq!(DataType::F8E4M3Fn.byte_size(), 1);
        assert_eq!(DataType::C64.byte_size(), 8);
        assert_eq!(DataType::C128.byte_size(), 16);
        assert_eq!(DataType::Index.byte_size(), 8);
        assert!(
            DataType::F32.is_signed() && DataType::Index.is_signed() && DataType::C64.is_signed()
        );
        assert!(!DataType::U8.is_signed() && !DataType::Bool.is_signed());
    }

    #[test]
    fn integer_ranges() {
        assert_eq!(DataType::I4.integer_range(), Some((-8, 7)));
        assert_eq!(DataType::U4.integer_range(), Some((0, 15)));
        assert_eq!(DataType::I2.integer_range(), Some((-2, 1)));
        assert_eq!(DataType::U2.integer_range(), Some((0, 3)));
        assert_eq!(DataType::I8.integer_range(), Some((-128, 127)));
        assert_eq!(DataType::I64.integer_min(), Some(i128::from(i64::MIN)));
        assert_eq!(DataType::I64.integer_max(), Some(i128::from(i64::MAX)));
        assert_eq!(DataType::U64.integer_max(), Some(i128::from(u64::MAX)));
        assert_eq!(DataType::Index.integer_range(), DataType::I64.integer_range());
        assert_eq!(DataType::F32.integer_range(), None);
    }
}
