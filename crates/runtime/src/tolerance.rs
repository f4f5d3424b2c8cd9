//! The tolerances of fast kernels.

/// The largest difference between a fast kernel and the fixed-order kernel on the same operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tolerance {
    /// Equal numbers; only the NaN payload and the order of `+0` and `-0` may differ.
    SameNumbers,
    /// At most this number of units in the last place.
    Ulps(u32),
    /// For a sum of n numbers, n units in the last place of the sum of their absolute values. If that sum overflows, the result may be
    /// finite, infinite or NaN, depending on the order of the additions.
    Sum,
}
