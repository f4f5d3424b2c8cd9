//! What the inference functions of several families share.

use sapwood_types::{DataType, counted};
use smallvec::{SmallVec, smallvec};

use crate::op::{InferCx, InferResult, OpError};
use crate::types::{Dim, Dims, MAX_EXTENT, TensorType, ValueType};

/// Sets of element types, for checks.
#[derive(Clone, Copy)]
pub(super) struct Class(u8, &'static str);

impl Class {
    pub(super) const FLOAT: Self = Self(1, "floats");
    pub(super) const BOOL: Self = Self(8, "bool");
    pub(super) const INT: Self = Self(4, "integers");
    pub(super) const FLOAT_COMPLEX: Self = Self(3, "floats and complex numbers");
    pub(super) const FLOAT_INT: Self = Self(5, "floats and integers");
    pub(super) const NUMBER: Self = Self(7, "numbers");
    pub(super) const INT_BOOL: Self = Self(12, "integers and bool");
    pub(super) const REAL_BOOL: Self = Self(13, "floats, integers and bool");
    pub(super) const ANY: Self = Self(15, "any element type");

    fn has(self, dtype: DataType) -> bool {
        let bit = if dtype.is_float() {
            1
        } else if dtype.is_complex() {
            2
        } else if dtype.is_integer() {
            4
        } else {
            8
        };
        self.0 & bit != 0
    }

    pub(super) fn check(self, what: &str, dtype: DataType) -> Result<(), OpError> {
        if self.has(dtype) {
            return Ok(());
        }
        Err(OpError::new(format!("{what} has element type {dtype}, expected {}", self.1)))
    }
}

pub(super) fn one(ty: TensorType) -> InferResult {
    Ok(smallvec![ValueType::Tensor(ty)])
}

/// The result has the type of the only operand, whose elements are of `class`.
pub(super) fn unary(cx: &InferCx<'_>, class: Class) -> InferResult {
    let input = cx.tensor(0)?;
    class.check("the operand", input.dtype)?;
    cx.same_as(0)
}

/// All operands have the same type up to dims that are not known; so has the result.
pub(super) fn same_types(cx: &InferCx<'_>, class: Class) -> InferResult {
    let first = cx.tensor(0)?;
    class.check("operand 0", first.dtype)?;
    let mut dims: Option<Dims> = None;
    for i in 1..cx.operands.len() {
        let other = cx.tensor(i)?;
        if other.dims == first.dims && other.dtype == first.dtype {
            continue;
        }
        same_dtype(0, first, i, other)?;
        let known = dims.as_ref().unwrap_or(&first.dims);
        dims = Some(meet_dims(0, known, i, &other.dims)?);
    }
    match dims {
        None => cx.same_as(0),
        Some(dims) => one(TensorType { dtype: first.dtype, dims }),
    }
}

pub(super) fn same_dtype(
    i: usize,
    a: &TensorType,
    j: usize,
    b: &TensorType,
) -> Result<(), OpError> {
    if a.dtype == b.dtype {
        return Ok(());
    }
    Err(OpError::new(format!(
        "operand {i} has element type {}, operand {j} has {}",
        a.dtype, b.dtype
    ))
    .with_help("promotion is never implicit; insert a `cast`"))
}

pub(super) fn meet_dims(i: usize, a: &[Dim], j: usize, b: &[Dim]) -> Result<Dims, OpError> {
    if a.len() != b.len() {
        return Err(OpError::new(format!(
            "operand {i} has rank {}, operand {j} has rank {}",
            a.len(),
            b.len()
        ))
        .with_help("broadcasting is never implicit; insert a `broadcast_to`"));
    }
    let mut dims = Dims::new();
    for (axis, (&x, &y)) in a.iter().zip(b).enumerate() {
        let dim = x.meet(y).ok_or_else(|| {
            OpError::new(format!("axis {axis} is {x} in operand {i} and {y} in operand {j}"))
                .with_help("broadcasting is never implicit; insert a `broadcast_to`")
        })?;
        dims.push(dim);
    }
    Ok(dims)
}

/// Checks that an operand is a scalar of a class.
pub(super) fn scalar(
    cx: &InferCx<'_>,
    index: usize,
    what: &str,
    class: Class,
) -> Result<DataType, OpError> {
    let ty = cx.tensor(index)?;
    if ty.rank() != 0 {
        return Err(OpError::new(format!("{what} has rank {}, expected a scalar", ty.rank())));
    }
    class.check(what, ty.dtype)?;
    Ok(ty.dtype)
}

/// Checks that a list has one entry per axis.
pub(super) fn check_len(name: &str, found: usize, rank: usize) -> Result<(), OpError> {
    if found == rank {
        return Ok(());
    }
    let found = counted(found, "entry");
    Err(OpError::new(format!("`{name}` has {found}, but the operand has rank {rank}")))
}

/// Checks that every entry is at least `least`.
pub(super) fn check_least(name: &str, list: &[i64], least: i64) -> Result<(), OpError> {
    match list.iter().find(|&&n| n < least) {
        Some(n) => {
            Err(OpError::new(format!("`{name}` has the entry {n}, expected at least {least}")))
        }
        None => Ok(()),
    }
}

/// A number as a dim.
pub(super) fn dim(what: &str, n: i128) -> Result<Dim, OpError> {
    u64::try_from(n)
        .ok()
        .filter(|&n| n <= MAX_EXTENT)
        .map(Dim::Known)
        .ok_or_else(|| OpError::new(format!("{what} would be {n}")))
}

/// The accumulation type of a reduction or contraction, checked.
pub(super) fn check_accumulate(cx: &InferCx<'_>, dtype: DataType) -> Result<(), OpError> {
    let Some(acc) = cx.dtype("accumulate")? else { return Ok(()) };
    let fits = (dtype.is_float() && acc.is_float()
        || dtype.is_integer() && acc.is_integer()
        || dtype.is_complex() && acc.is_complex())
        && acc.bit_width() >= dtype.bit_width();
    if fits || acc == dtype {
        return Ok(());
    }
    Err(OpError::new(format!("`accumulate` is {acc}, which cannot hold sums of {dtype}")))
}

/// Windows over a tensor: the dims after sliding. All lists have one entry per axis.
pub(super) struct Window<'a> {
    pub(super) size: &'a [i64],
    pub(super) strides: &'a [i64],
    pub(super) pads: &'a [[i64; 2]],
    pub(super) base_dilation: &'a [i64],
    pub(super) window_dilation: &'a [i64],
}

impl Window<'_> {
    pub(super) fn dims(&self, input: &[Dim]) -> Result<Dims, OpError> {
        check_least("strides", self.strides, 1)?;
        check_least("base_dilation", self.base_dilation, 1)?;
        check_least("window_dilation", self.window_dilation, 1)?;
        let mut dims = Dims::new();
        for (axis, &d) in input.iter().enumerate() {
            let Dim::Known(n) = d else {
                dims.push(Dim::Unknown);
                continue;
            };
            let wide = |n: i128, by: i64| if n == 0 { 0 } else { (n - 1) * i128::from(by) + 1 };
            let [low, high] = self.pads[axis];
            let padded =
                wide(i128::from(n), self.base_dilation[axis]) + i128::from(low) + i128::from(high);
            let window = wide(i128::from(self.size[axis]), self.window_dilation[axis]);
            if padded < 0 {
                return Err(OpError::new(format!(
                    "axis {axis} of {n} with padding [{low}, {high}] is negative"
                )));
            }
            let steps = if padded < window {
                0
            } else {
                (padded - window) / i128::from(self.strides[axis]) + 1
            };
            dims.push(dim("a dim of the result", steps)?);
        }
        Ok(dims)
    }
}

/// Checks the region of a reduction over scalars: `n` accumulators, `n` elements, `n` results.
pub(super) fn check_reducer(
    cx: &InferCx<'_>,
    region: usize,
    dtypes: &[DataType],
) -> Result<(), OpError> {
    let scalars: Vec<ValueType> = dtypes.iter().map(|&d| TensorType::scalar(d).into()).collect();
    let params: Vec<ValueType> = scalars.iter().chain(&scalars).cloned().collect();
    let results = cx.check_region(region, &params)?;
    cx.check_yield(region, results, &scalars)
}

/// The inputs and inits of a variadic reduction: equal dims, scalar inits of the same element types.
pub(super) fn reduction_inputs<'a>(
    cx: &InferCx<'a>,
    inputs: &str,
    inits: &str,
) -> Result<(SmallVec<[&'a TensorType; 4]>, Dims), OpError> {
    let (ins, starts) = (cx.group(inputs), cx.group(inits));
    if ins.is_empty() {
        return Err(OpError::new("at least one input is needed"));
    }
    let first = cx.tensor(ins.start)?;
    let mut dims = first.dims.clone();
    let mut types = SmallVec::new();
    for (i, s) in ins.zip(starts) {
        let (input, init) = (cx.tensor(i)?, cx.tensor(s)?);
        dims = meet_dims(0, &dims, i, &input.dims)?;
        if init.rank() != 0 {
            return Err(OpError::new(format!(
                "init operand {s} has rank {}, expected a scalar",
                init.rank()
            )));
        }
        same_dtype(i, input, s, init)?;
        types.push(input);
    }
    Ok((types, dims))
}
