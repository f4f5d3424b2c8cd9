//! Regions that compare two elements: the usual ones are recognized and run as functions.

use std::cmp::Ordering;

use half::{bf16, f16};
use num_complex::Complex;

use super::cast::{Convert, Wide};
use crate::eval::context::{EvalCx, SimpleRegion};
use crate::eval::native::{F8E4M3Fn, F8E5M2, Float, I4, U4};
use crate::op::Op;

/// An element type that is compared by a key. All keys have one type, so that sorting is compiled once.
pub(crate) trait Compare: Convert {
    /// Returns a key that compares like the element: as `compare` with order `total`, or with order `partial`.
    #[inline]
    fn key(self, _total: bool) -> Wide {
        self.wide()
    }
}

macro_rules! compare_by_value {
    ($($ty:ty),*) => {$(impl Compare for $ty {})*};
}
compare_by_value!(bool, I4, U4, i8, i16, i32, i64, u8, u16, u32, u64, Complex<f32>, Complex<f64>);

macro_rules! compare_floats {
    ($($ty:ty),*) => {$(
        impl Compare for $ty {
            #[inline]
            fn key(self, total: bool) -> Wide {
                if total { Wide::Signed(self.order_key()) } else { self.wide() }
            }
        }
    )*};
}
compare_floats!(F8E4M3Fn, F8E5M2, f16, bf16, f32, f64);

impl Wide {
    /// Compares two keys. Complex numbers have no order: unequal ones give `None`, as NaN does.
    #[inline]
    pub(crate) fn compare(self, other: Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Signed(x), Self::Signed(y)) => Some(x.cmp(&y)),
            (Self::Unsigned(x), Self::Unsigned(y)) => Some(x.cmp(&y)),
            (Self::Float(x), Self::Float(y)) => x.partial_cmp(&y),
            (Self::Complex(x), Self::Complex(y)) => (x == y).then_some(Ordering::Equal),
            _ => None,
        }
    }
}

/// A region that compares two parameters: their indices, and the outcomes for which it yields true.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Comparison {
    pub(crate) left: usize,
    pub(crate) right: usize,
    total: bool,
    less: bool,
    equal: bool,
    greater: bool,
    unordered: bool,
}

impl Comparison {
    /// Returns the comparison that a region performs, if it is one.
    pub(crate) fn of(cx: &EvalCx<'_>, region: usize) -> Option<Self> {
        let SimpleRegion { op, attrs, operands } = cx.simple_region(region)?;
        let &[left, right] = operands else { return None };
        if op != crate::ops::Compare::key() {
            return None;
        }
        // In the order of the op's attributes.
        let [direction, order] = attrs else { return None };
        let (direction, total) = (direction.as_word()?, order.as_word()? == "total");
        Some(Self {
            left,
            right,
            total,
            less: matches!(direction, "lt" | "le" | "ne"),
            equal: matches!(direction, "eq" | "le" | "ge"),
            greater: matches!(direction, "gt" | "ge" | "ne"),
            unordered: direction == "ne",
        })
    }

    /// Returns the key by which the region compares an element.
    #[inline]
    pub(crate) fn key<T: Compare>(&self, element: T) -> Wide {
        element.key(self.total)
    }

    /// Returns the result of the region for the keys of the two elements.
    #[inline]
    pub(crate) fn holds(&self, left: Wide, right: Wide) -> bool {
        match left.compare(right) {
            Some(Ordering::Less) => self.less,
            Some(Ordering::Equal) => self.equal,
            Some(Ordering::Greater) => self.greater,
            None => self.unordered,
        }
    }
}
