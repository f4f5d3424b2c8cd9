//! The element types and the elementwise operations of fused groups, as loops over blocks that the compiler vectorizes.
#![allow(
    clippy::needless_range_loop,
    reason = "the steps of joined iterators are not always inlined"
)]

use sapwood_ptir::eval::{DataType, Native, Num};

use crate::kernels::math;
use crate::kernels::reduce::reduce_row;
use crate::kernels::vectors::vectorized;

/// The type in which the elements of a value are computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LaneType {
    Bool,
    I32,
    U32,
    I64,
    F32,
    F64,
}

/// A float type that is computed as `f32` and rounded after each operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NarrowFloat {
    F16,
    Bf16,
}

impl LaneType {
    /// Returns the lane type of an element type, and the narrow type to round to; `None` if it cannot be fused.
    pub(super) fn of(dtype: DataType) -> Option<(Self, Option<NarrowFloat>)> {
        Some(match dtype {
            DataType::Bool => (Self::Bool, None),
            DataType::I32 => (Self::I32, None),
            DataType::U32 => (Self::U32, None),
            DataType::I64 | DataType::Index => (Self::I64, None),
            DataType::F32 => (Self::F32, None),
            DataType::F64 => (Self::F64, None),
            DataType::F16 => (Self::F32, Some(NarrowFloat::F16)),
            DataType::Bf16 => (Self::F32, Some(NarrowFloat::Bf16)),
            _ => return None,
        })
    }

    pub(super) fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64)
    }
}

/// An operation of one operand.
#[derive(Clone, Copy, Debug)]
pub(super) enum UnaryOp {
    Copy,
    Neg,
    Abs,
    Not,
    Floor,
    Ceil,
    Exp,
    Log,
    Sqrt,
    Rsqrt,
    Tanh,
    Logistic,
    Erf,
    Erfc,
    /// A function without a vector form, computed as `f64`.
    Scalar(fn(f64) -> f64),
}

/// An operation of two operands.
#[derive(Clone, Copy, Debug)]
pub(super) enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Max,
    Min,
    And,
    Or,
    Xor,
    Shl,
    ShrLogical,
    ShrArithmetic,
    /// A function without a vector form, computed as `f64`.
    Scalar(fn(f64, f64) -> f64),
}

/// The relation of a comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Relation {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// The operation of a reduction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ReduceOp {
    Sum,
    Prod,
    Max,
    Min,
}

impl ReduceOp {
    /// Returns the operation that combines two results.
    pub(super) fn binary(self) -> BinaryOp {
        match self {
            Self::Sum => BinaryOp::Add,
            Self::Prod => BinaryOp::Mul,
            Self::Max => BinaryOp::Max,
            Self::Min => BinaryOp::Min,
        }
    }

    /// Returns whether these bits of an element change nothing when they are combined with others.
    pub(super) fn is_identity(self, lane: LaneType, bits: u64) -> bool {
        fn identity<T: Lane>(op: ReduceOp) -> u64 {
            let element = match op {
                ReduceOp::Sum => T::ZERO,
                ReduceOp::Prod => T::ONE,
                ReduceOp::Max => T::LOWEST,
                ReduceOp::Min => T::HIGHEST,
            };
            element.pack() as u64
        }
        bits == match lane {
            LaneType::Bool => identity::<bool>(self),
            LaneType::I32 => identity::<i32>(self),
            LaneType::U32 => identity::<u32>(self),
            LaneType::I64 => identity::<i64>(self),
            LaneType::F32 => identity::<f32>(self),
            LaneType::F64 => identity::<f64>(self),
        }
    }
}

/// The elements of an operand within a block.
#[derive(Clone, Copy)]
pub(super) enum Source<'a, T> {
    Splat(T),
    Dense(&'a [T]),
}

/// The type of the elements of a register.
pub(super) trait Lane: Native + Num + PartialOrd {
    /// Applies an operation; one that the type does not have copies the operand, which the compiler of groups prevents.
    fn unary(op: UnaryOp, to: &mut [Self], from: Source<'_, Self>);
    /// Applies an operation.
    fn binary(op: BinaryOp, to: &mut [Self], x: Source<'_, Self>, y: Source<'_, Self>);
    /// Returns the larger operand, NaN if either is NaN. The order of zeros is not fixed.
    fn max(self, other: Self) -> Self;
    /// Returns the smaller operand, NaN if either is NaN. The order of zeros is not fixed.
    fn min(self, other: Self) -> Self;
    /// Returns the sum, without a canonical NaN.
    fn plus(self, other: Self) -> Self;
    /// Returns the product, without a canonical NaN.
    fn times(self, other: Self) -> Self;
}

// Loops count, because the compiler does not always inline the steps of joined iterators.
#[inline(always)]
pub(super) fn map<T: Copy, U: Copy>(to: &mut [U], from: Source<'_, T>, f: impl Fn(T) -> U) {
    match from {
        Source::Splat(x) => to.fill(f(x)),
        Source::Dense(all) => vectorized(
            #[inline(always)]
            || {
                let n = to.len().min(all.len());
                let (to, all) = (&mut to[..n], &all[..n]);
                for i in 0..n {
                    to[i] = f(all[i]);
                }
            },
        ),
    }
}

#[inline(always)]
fn zip<T: Copy, U: Copy>(to: &mut [U], x: Source<'_, T>, y: Source<'_, T>, f: impl Fn(T, T) -> U) {
    let n = to.len();
    vectorized(
        #[inline(always)]
        || match (x, y) {
            (Source::Dense(xs), Source::Dense(ys)) => {
                let (xs, ys, to) = (&xs[..n], &ys[..n], &mut to[..n]);
                for i in 0..n {
                    to[i] = f(xs[i], ys[i]);
                }
            }
            (Source::Dense(xs), Source::Splat(y)) => {
                let (xs, to) = (&xs[..n], &mut to[..n]);
                for i in 0..n {
                    to[i] = f(xs[i], y);
                }
            }
            (Source::Splat(x), Source::Dense(ys)) => {
                let (ys, to) = (&ys[..n], &mut to[..n]);
                for i in 0..n {
                    to[i] = f(x, ys[i]);
                }
            }
            (Source::Splat(x), Source::Splat(y)) => to.fill(f(x, y)),
        },
    );
}

#[inline(never)]
fn map_scalar<T: Copy, U: Copy>(to: &mut [U], from: Source<'_, T>, f: &dyn Fn(T) -> U) {
    match from {
        Source::Splat(x) => to.fill(f(x)),
        Source::Dense(all) => to.iter_mut().zip(all).for_each(|(y, &x)| *y = f(x)),
    }
}

#[inline(never)]
fn zip_scalar<T: Copy, U: Copy>(
    to: &mut [U],
    x: Source<'_, T>,
    y: Source<'_, T>,
    f: &dyn Fn(T, T) -> U,
) {
    zip(to, x, y, f);
}

/// Compares elements.
#[inline(always)]
pub(super) fn compare<T: PartialOrd + Copy>(
    relation: Relation,
    to: &mut [bool],
    x: Source<'_, T>,
    y: Source<'_, T>,
) {
    match relation {
        Relation::Eq => zip(to, x, y, |x, y| x == y),
        Relation::Ne => zip(to, x, y, |x, y| x != y),
        Relation::Lt => zip(to, x, y, |x, y| x < y),
        Relation::Le => zip(to, x, y, |x, y| x <= y),
        Relation::Gt => zip(to, x, y, |x, y| x > y),
        Relation::Ge => zip(to, x, y, |x, y| x >= y),
    }
}

/// Selects elements by a predicate.
#[inline(always)]
pub(super) fn select<T: Copy>(
    to: &mut [T],
    pred: Source<'_, bool>,
    yes: Source<'_, T>,
    no: Source<'_, T>,
) {
    let pred = match pred {
        Source::Dense(pred) => pred,
        Source::Splat(pred) => return map(to, if pred { yes } else { no }, |x| x),
    };
    let n = to.len();
    vectorized(
        #[inline(always)]
        || {
            let (to, pred) = (&mut to[..n], &pred[..n]);
            match (yes, no) {
                (Source::Dense(a), Source::Dense(b)) => {
                    let (a, b) = (&a[..n], &b[..n]);
                    for i in 0..n {
                        to[i] = if pred[i] { a[i] } else { b[i] };
                    }
                }
                (Source::Dense(a), Source::Splat(b)) => {
                    let a = &a[..n];
                    for i in 0..n {
                        to[i] = if pred[i] { a[i] } else { b };
                    }
                }
                (Source::Splat(a), Source::Dense(b)) => {
                    let b = &b[..n];
                    for i in 0..n {
                        to[i] = if pred[i] { a } else { b[i] };
                    }
                }
                (Source::Splat(a), Source::Splat(b)) => {
                    for i in 0..n {
                        to[i] = if pred[i] { a } else { b };
                    }
                }
            }
        },
    );
}

/// Repeats each element of a column along its row.
#[inline(always)]
pub(super) fn spread<T: Copy>(to: &mut [T], from: Source<'_, T>, columns: usize) {
    match from {
        Source::Splat(x) => to.fill(x),
        Source::Dense(all) => vectorized(
            #[inline(always)]
            || {
                for (number, row) in to.chunks_exact_mut(columns).enumerate() {
                    row.fill(all[number]);
                }
            },
        ),
    }
}

/// Reduces each row of a block to one element.
#[inline(always)]
pub(super) fn reduce<T: Lane>(op: ReduceOp, to: &mut [T], from: Source<'_, T>, columns: usize) {
    match from {
        Source::Dense(all) => reduce_dense(op, to, all, columns),
        Source::Splat(x) => {
            let row = vec![x; columns];
            let mut one = [T::ZERO];
            reduce_dense(op, &mut one, &row, columns);
            to.fill(one[0]);
        }
    }
}

fn reduce_dense<T: Lane>(op: ReduceOp, to: &mut [T], all: &[T], columns: usize) {
    match op {
        ReduceOp::Sum => reduce_rows(to, all, columns, T::ZERO, T::plus),
        // In order: partial products may overflow where the product of all does not.
        ReduceOp::Prod => {
            for (y, row) in to.iter_mut().zip(all.chunks_exact(columns)) {
                *y = row.iter().fold(T::ONE, |y, &x| y.times(x));
            }
        }
        ReduceOp::Max => reduce_rows(to, all, columns, T::LOWEST, T::max),
        ReduceOp::Min => reduce_rows(to, all, columns, T::HIGHEST, T::min),
    }
}

#[inline(always)]
fn reduce_rows<T: Copy>(to: &mut [T], all: &[T], columns: usize, start: T, f: impl Fn(T, T) -> T) {
    vectorized(
        #[inline(always)]
        || {
            for (number, row) in all.chunks_exact(columns).enumerate() {
                to[number] = reduce_row(row, start, &f);
            }
        },
    );
}

macro_rules! float_lane {
    ($ty:ident, $vector:expr) => {
        impl Lane for $ty {
            #[inline(always)]
            fn unary(op: UnaryOp, to: &mut [Self], from: Source<'_, Self>) {
                match op {
                    UnaryOp::Copy | UnaryOp::Not => map(to, from, |x| x),
                    UnaryOp::Neg => map(to, from, |x| -x),
                    UnaryOp::Abs => map(to, from, |x: $ty| x.abs()),
                    UnaryOp::Sqrt => map(to, from, |x: $ty| x.sqrt()),
                    UnaryOp::Rsqrt => map(to, from, |x: $ty| 1.0 / x.sqrt()),
                    UnaryOp::Floor => map(to, from, |x: $ty| x.floor()),
                    UnaryOp::Ceil => map(to, from, |x: $ty| x.ceil()),
                    UnaryOp::Scalar(f) => {
                        map_scalar(to, from, &|x: $ty| f(f64::from(x)) as $ty);
                    }
                    other => $vector(other, to, from),
                }
            }
            #[inline(always)]
            fn binary(op: BinaryOp, to: &mut [Self], x: Source<'_, Self>, y: Source<'_, Self>) {
                match op {
                    BinaryOp::Add => zip(to, x, y, |x, y| x + y),
                    BinaryOp::Sub => zip(to, x, y, |x, y| x - y),
                    BinaryOp::Mul => zip(to, x, y, |x, y| x * y),
                    BinaryOp::Div => zip(to, x, y, |x, y| x / y),
                    BinaryOp::Max => zip(to, x, y, Lane::max),
                    BinaryOp::Min => zip(to, x, y, Lane::min),
                    BinaryOp::Scalar(f) => {
                        zip_scalar(to, x, y, &|x: $ty, y: $ty| f(f64::from(x), f64::from(y)) as $ty)
                    }
                    _ => map(to, x, |x| x),
                }
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                if other > self || other.is_nan() { other } else { self }
            }
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                if other < self || other.is_nan() { other } else { self }
            }
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self + other
            }
            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self * other
            }
        }
    };
}

#[inline(always)]
fn f32_functions(op: UnaryOp, to: &mut [f32], from: Source<'_, f32>) {
    match op {
        UnaryOp::Exp => map(to, from, math::exp),
        UnaryOp::Log => map(to, from, math::log),
        UnaryOp::Tanh => map(to, from, math::tanh),
        UnaryOp::Logistic => map(to, from, math::logistic),
        UnaryOp::Erf => map(to, from, math::erf),
        UnaryOp::Erfc => map(to, from, math::erfc),
        _ => map(to, from, |x| x),
    }
}

// The functions of `f64` have no vector form; the compiler of groups uses `Scalar` for them.
#[inline(always)]
fn f64_functions(_: UnaryOp, to: &mut [f64], from: Source<'_, f64>) {
    map(to, from, |x| x);
}

float_lane!(f32, f32_functions);
float_lane!(f64, f64_functions);

macro_rules! int_lane {
    ($($ty:ident, $unsigned:ident, $signed:ident);*) => {$(
        impl Lane for $ty {
            #[inline(always)]
            fn unary(op: UnaryOp, to: &mut [Self], from: Source<'_, Self>) {
                match op {
                    UnaryOp::Neg => map(to, from, |x: $ty| x.wrapping_neg()),
                    UnaryOp::Abs => map(to, from, |x: $ty| if Num::smaller(x, 0) == x { x.wrapping_neg() } else { x }),
                    UnaryOp::Not => map(to, from, |x: $ty| !x),
                    _ => map(to, from, |x| x),
                }
            }
            #[inline(always)]
            fn binary(op: BinaryOp, to: &mut [Self], x: Source<'_, Self>, y: Source<'_, Self>) {
                const BITS: $unsigned = <$ty>::BITS as $unsigned;
                match op {
                    BinaryOp::Add => zip(to, x, y, |x: $ty, y| x.wrapping_add(y)),
                    BinaryOp::Sub => zip(to, x, y, |x: $ty, y| x.wrapping_sub(y)),
                    BinaryOp::Mul => zip(to, x, y, |x: $ty, y| x.wrapping_mul(y)),
                    BinaryOp::Div => zip(to, x, y, |x: $ty, y| Num::div(x, y)),
                    BinaryOp::Max => zip(to, x, y, |x: $ty, y| Ord::max(x, y)),
                    BinaryOp::Min => zip(to, x, y, |x: $ty, y| Ord::min(x, y)),
                    BinaryOp::And => zip(to, x, y, |x: $ty, y| x & y),
                    BinaryOp::Or => zip(to, x, y, |x: $ty, y| x | y),
                    BinaryOp::Xor => zip(to, x, y, |x: $ty, y| x ^ y),
                    // Amounts of the width or more give zero, or copies of the highest bit.
                    BinaryOp::Shl => zip(to, x, y, |x: $ty, y| {
                        let n = y as $unsigned;
                        if n < BITS { x.wrapping_shl(n as u32) } else { 0 }
                    }),
                    BinaryOp::ShrLogical => zip(to, x, y, |x: $ty, y| {
                        let n = y as $unsigned;
                        if n < BITS { (x as $unsigned).wrapping_shr(n as u32) as $ty } else { 0 }
                    }),
                    BinaryOp::ShrArithmetic => zip(to, x, y, |x: $ty, y| {
                        let n = Ord::min(y as $unsigned, BITS - 1);
                        (x as $signed).wrapping_shr(n as u32) as $ty
                    }),
                    BinaryOp::Scalar(_) => map(to, x, |x| x),
                }
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self { Ord::max(self, other) }
            #[inline(always)]
            fn min(self, other: Self) -> Self { Ord::min(self, other) }
            #[inline(always)]
            fn plus(self, other: Self) -> Self { self.wrapping_add(other) }
            #[inline(always)]
            fn times(self, other: Self) -> Self { self.wrapping_mul(other) }
        }
    )*};
}
int_lane!(i32, u32, i32; u32, u32, i32; i64, u64, i64);

impl Lane for bool {
    #[inline(always)]
    fn unary(op: UnaryOp, to: &mut [Self], from: Source<'_, Self>) {
        match op {
            UnaryOp::Not => map(to, from, |x: bool| !x),
            _ => map(to, from, |x| x),
        }
    }
    #[inline(always)]
    fn binary(op: BinaryOp, to: &mut [Self], x: Source<'_, Self>, y: Source<'_, Self>) {
        match op {
            BinaryOp::Add | BinaryOp::Or | BinaryOp::Max => zip(to, x, y, |x: bool, y| x | y),
            BinaryOp::Mul | BinaryOp::And | BinaryOp::Min => zip(to, x, y, |x: bool, y| x & y),
            BinaryOp::Xor => zip(to, x, y, |x: bool, y| x ^ y),
            _ => map(to, x, |x| x),
        }
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self | other
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        self & other
    }
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self | other
    }
    #[inline(always)]
    fn times(self, other: Self) -> Self {
        self & other
    }
}
