//! The float mode: how freely rewrites may treat floats.

use std::fmt;
use std::str::FromStr;

use crate::data_type::DataType;
use crate::did_you_mean;

/// The changes to floats that a rewrite may make. Integers always stay bit for bit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum FloatMode {
    /// None, except the payload of a NaN.
    #[default]
    Exact,
    /// The sign of zero too, and its consequences: `x + 0 = x`.
    Nsz,
    /// Rounding and special values too: reassociation, `x * 0 = 0`.
    Fast,
}

impl FloatMode {
    /// All modes, strictest first.
    pub const ALL: &'static [Self] = &[Self::Exact, Self::Nsz, Self::Fast];

    /// Returns the name of the mode.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Nsz => "nsz",
            Self::Fast => "fast",
        }
    }

    /// Returns whether the sign of zero may change.
    #[must_use]
    pub fn nsz(self) -> bool {
        self >= Self::Nsz
    }

    /// Returns whether rounding and special values may change.
    #[must_use]
    pub fn fast(self) -> bool {
        self >= Self::Fast
    }

    /// Returns whether an identity that holds for floats only in the mode `needed` may be used on elements of
    /// this type: always for integers and bools.
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
            Some(close) => format!("unknown float mode `{text}`; did you mean `{close}`?"),
            None => format!("unknown float mode `{text}`; expected exact, nsz or fast"),
        })
    }
}
