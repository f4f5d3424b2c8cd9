//! How far fast kernels may be from the fixed order.

/// How far a fast kernel may be from the fixed-order one on the same operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tolerance {
    /// The same numbers; only which NaN, and which zero is the larger, may differ.
    Same,
    /// So many units in the last place.
    Ulps(u32),
    /// A sum of n numbers: n units in the last place of the sum of their sizes. If that overflows, the order of the sum
    /// may make it finite, infinite or NaN.
    Sum,
}
