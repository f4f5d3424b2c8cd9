//! Enumerations of ONNX's schema, whose files store codes.

/// Declares an enumeration: for each variant its code and its name in ONNX's schema.
macro_rules! coded_enum {
    (
        $(#[$meta:meta])*
        $enum:ident {
            $($(#[$doc:meta])* $variant:ident = $code:literal, $name:literal;)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(i32)]
        pub enum $enum {
            $($(#[$doc])* $variant = $code,)*
        }

        impl $enum {
            /// Every variant, in order of [`code`](Self::code).
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Returns the variant of this code; `None` for 0, which means undefined, and for codes that ONNX 1.23 does not have.
            #[must_use]
            pub const fn from_code(code: i32) -> Option<Self> {
                match code {
                    $($code => Some(Self::$variant),)*
                    _ => None,
                }
            }

            /// Returns the name in ONNX's schema.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }

        impl std::fmt::Display for $enum {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }
    };
}

pub(super) use coded_enum;
