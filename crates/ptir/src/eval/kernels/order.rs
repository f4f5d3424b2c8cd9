//! Regions that compare two elements: the usual ones as functions.

use std::cmp::Ordering;

use half::{bf16, f16};
use num_complex::Complex;

use crate::eval::context::{EvalCx, SimpleRegion};
use crate::eval::native::{F8E4M3Fn, F8E5M2, Float, I4, Native, U4};
use crate::op::Op;

/// How elements compare.
pub(crate) trait Compare: Native {
    /// As `compare` with order `partial`.
    fn partial(self, other: Self) -> Option<Ordering>;
    /// As `compare` with order `total`.
    fn total(self, other: Self) -> Option<Ordering> {
        self.partial(other)
    }
}

macro_rules! compare_ints {
    ($($ty:ty),*) => {$(
        impl Compare for $ty {
            #[inline]
            fn partial(self, other: Self) -> Option<Ordering> { Some(self.cmp(&other)) }
        }
    )*};
}
compare_ints!(bool, I4, U4, i8, i16, i32, i64, u8, u16, u32, u64);

macro_rules! compare_floats {
    ($($ty:ty),*) => {$(
        impl Compare for $ty {
            #[inline]
            fn partial(self, other: Self) -> Option<Ordering> {
                self.to_f64().partial_cmp(&other.to_f64())
            }
            #[inline]
            fn total(self, other: Self) -> Option<Ordering> {
                Some(self.order_key().cmp(&other.order_key()))
            }
        }
    )*};
}
compare_floats!(F8E4M3Fn, F8E5M2, f16, bf16, f32, f64);

macro_rules! compare_complex {
    ($($ty:ty),*) => {$(
        // They have no order: unequal ones give nothing, and so does `compare` but for `eq` and `ne`.
        impl Compare for $ty {
            fn partial(self, other: Self) -> Option<Ordering> {
                (self == other).then_some(Ordering::Equal)
            }
        }
    )*};
}
compare_complex!(Complex<f32>, Complex<f64>);

/// A region that compares two parameters: which ones, and for which outcomes it yields true.
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
    /// The comparison that a region is, if it is one.
    pub(crate) fn of(cx: &EvalCx<'_>, region: usize) -> Option<Self> {
        let SimpleRegion { op, attrs, operands } = cx.simple_region(region)?;
        let &[left, right] = operands else { return None };
        if op != crate::ops::Compare::key() {
            return None;
        }
        // In the order of the table.
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

    /// What the region yields for the two elements that it compares.
    #[inline]
    pub(crate) fn holds<T: Compare>(&self, left: T, right: T) -> bool {
        match if self.total { left.total(right) } else { left.partial(right) } {
            Some(Ordering::Less) => self.less,
            Some(Ordering::Equal) => self.equal,
            Some(Ordering::Greater) => self.greater,
            None => self.unordered,
        }
    }
}
