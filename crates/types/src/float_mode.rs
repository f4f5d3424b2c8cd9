//! How freely rewrites may treat floats.

use std::fmt;
use std::str::FromStr;

use crate::data_type::DataType;
use crate::names::did_you_mean;

/// What a rewrite may change about floats. Integers always stay bit for bit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum FloatMode {
    /// Nothing but which NaN it is.
    #[default]
    Exact,
    /// The sign of zero too, and what follows from it: `x + 0 = x`.
    Nsz,
    /// Rounding and special values too: reassociation, `x * 0 = 0`.
    Fast,
}

impl FloatMode {
    /// All of them, strictest first.
    pub const ALL: &'static [Self] = &[Self::Exact, Self::Nsz, Self::Fast];

    /// The word it is written as.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Nsz => "nsz",
            Self::Fast => "fast",
        }
    }

    /// Whether the sign of zero may change.
    #[must_use]
    pub fn nsz(self) -> bool {
        self >= Self::Nsz
    }

    /// Whether rounding and special values may change.
    #[must_use]
    pub fn fast(self) -> bool {
        self >= Self::Fast
    }

    /// Whether a law that holds for floats only in the mode `needed` may be used on elements of this type: always
    /// for integers and bools.
    #[must_use]
    pub fn allows(self, needed: Self, dtype: DataType) -> bool {
        self >= needed || dtype.is_integer() || dtype.is_bool()
    }
}

impl fmt::Display for FloatMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for FloatMode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(mode) = Self::ALL.iter().find(|m| m.as_str() == text) {
            return Ok(*mode);
        }
        let names = || Self::ALL.iter().map(|m| m.as_str());
        Err(match did_you_mean(text, names()) {
            Some(close) => format!("`{text}` is no float mode; did you mean `{close}`?"),
            None => format!("`{text}` is no float mode; one of exact, nsz, fast"),
        })
    }
}
