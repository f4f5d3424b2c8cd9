//! Helpers that the inference functions of several families share.

use sapwood_types::{DataType, counted};
use smallvec::{SmallVec, smallvec};

use crate::dims::DimExpr;
use crate::op::{InferCx, InferResult, OpError};
use crate::types::{Dim, Dims, MAX_EXTENT, TensorType, ValueType};

/// A set of element types, for checks.
#[derive(Clone, Copy)]
pub(super) struct DtypeClass(u8, &'static str);

impl DtypeClass {
    pub(super) const FLOAT: Self = Self(1, "floats");
    pub(super) const BOOL: Self = Self(8, "bool");
    pub(super) const INT: Self = Self(4, "integers");
    pub(super) const FLOAT_COMPLEX: Self = Self(3, "floats and complex numbers");
    pub(super) const FLOAT_INT: Self = Self(5, "floats and integers");
    pub(super) const NUMBER: Self = Self(7, "numbers");
    pub(super) const INT_BOOL: Self = Self(12, "integers and bool");
    pub(super) const REAL_BOOL: Self = Self(13, "floats, integers and bool");
    pub(super) const COMPUTED: Self = Self(15, "numbers and bool");

    fn contains(self, dtype: DataType) -> bool {
        let bit = if dtype.is_float() {
            1
        } else if dtype.is_complex() {
            2
        } else if dtype.is_integer() {
            4
        } else if dtype.is_bool() {
            8
        } else {
            // Types that are only stored and cast are in no class.
            0
        };
        self.0 & bit != 0
    }

    pub(super) fn check(self, what: &str, dtype: DataType) -> Result<(), OpError> {
        if self.contains(dtype) {
            return Ok(());
        }
        Err(OpError::new(format!("{what} has element type {dtype}, expected {}", self.1)))
    }
}

pub(super) fn one_result(ty: TensorType) -> InferResult {
    Ok(smallvec![ValueType::Tensor(ty)])
}

/// Infers one result with the type of the only operand, whose element type must be in `class`.
pub(super) fn infer_unary(cx: &InferCx<'_>, class: DtypeClass) -> InferResult {
    let input = cx.tensor(0)?;
    class.check("the operand", input.dtype)?;
    cx.same_as(0)
}

/// Infers one result with the type that all operands share, up to unknown dims.
pub(super) fn infer_same_types(cx: &InferCx<'_>, class: DtypeClass) -> InferResult {
    let first = cx.tensor(0)?;
    class.check("operand 0", first.dtype)?;
    let mut dims: Option<Dims> = None;
    for i in 1..cx.operands.len() {
        let other = cx.tensor(i)?;
        if other.dims == first.dims && other.dtype == first.dtype {
            continue;
        }
        check_same_dtype(0, first, i, other)?;
        let known = dims.as_ref().unwrap_or(&first.dims);
        dims = Some(unify_dim_lists(0, known, i, &other.dims)?);
    }
    match dims {
        None => cx.same_as(0),
        Some(dims) => one_result(TensorType { dtype: first.dtype, dims }),
    }
}

pub(super) fn check_same_dtype(
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

pub(super) fn unify_dim_lists(i: usize, a: &[Dim], j: usize, b: &[Dim]) -> Result<Dims, OpError> {
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
        let dim = x.unify(y).ok_or_else(|| {
            OpError::new(format!("axis {axis} is {x} in operand {i} and {y} in operand {j}"))
                .with_help("broadcasting is never implicit; insert a `broadcast_to`")
        })?;
        dims.push(dim);
    }
    Ok(dims)
}

/// Checks that an operand is a scalar of an element type in `class`, and returns that type.
pub(super) fn check_scalar(
    cx: &InferCx<'_>,
    index: usize,
    what: &str,
    class: DtypeClass,
) -> Result<DataType, OpError> {
    let ty = cx.tensor(index)?;
    if ty.rank() != 0 {
        return Err(OpError::new(format!("{what} has rank {}, expected a scalar", ty.rank())));
    }
    class.check(what, ty.dtype)?;
    Ok(ty.dtype)
}

/// Returns several attributes that are lists of axes, with the rank that each refers to. An axis that is out of range or repeated is
/// reported before an attribute that is no list.
pub(super) fn axes_of_each<const N: usize>(
    cx: &InferCx<'_>,
    lists: [(&str, usize); N],
) -> Result<[SmallVec<[usize; 4]>; N], OpError> {
    let mut found: [SmallVec<[usize; 4]>; N] = std::array::from_fn(|_| SmallVec::new());
    let mut wrong_kind = None;
    for (axes, (name, rank)) in found.iter_mut().zip(lists) {
        match cx.axes(name, rank) {
            Ok(own) => *axes = own,
            Err(error) if error.is_about_kind_of(name) => wrong_kind = wrong_kind.or(Some(error)),
            Err(error) => return Err(error),
        }
    }
    wrong_kind.map_or(Ok(found), Err)
}

/// Returns two attributes that are lists with one integer per axis. The length of each is checked before the kind of the other.
pub(super) fn ints_per_axis<'a>(
    cx: &InferCx<'a>,
    names: [&str; 2],
    rank: usize,
) -> Result<[&'a [i64]; 2], OpError> {
    let lists = names.map(|name| cx.ints(name));
    for (name, list) in names.iter().zip(&lists) {
        if let Ok(list) = list {
            check_one_per_axis(name, list.len(), rank)?;
        }
    }
    let [first, second] = lists;
    Ok([first?, second?])
}

/// Checks that a list has one entry per axis.
pub(super) fn check_one_per_axis(name: &str, found: usize, rank: usize) -> Result<(), OpError> {
    if found == rank {
        return Ok(());
    }
    let found = counted(found, "entry");
    Err(OpError::new(format!("`{name}` has {found}, but the operand has rank {rank}")))
}

/// Checks that every entry of a list is at least `least`.
pub(super) fn check_at_least(name: &str, list: &[i64], least: i64) -> Result<(), OpError> {
    match list.iter().find(|&&n| n < least) {
        Some(n) => {
            Err(OpError::new(format!("`{name}` has the entry {n}, expected at least {least}")))
        }
        None => Ok(()),
    }
}

/// Converts a number to a dim.
pub(super) fn checked_dim(what: &str, n: i128) -> Result<Dim, OpError> {
    u64::try_from(n)
        .ok()
        .filter(|&n| n <= MAX_EXTENT)
        .map(Dim::Known)
        .ok_or_else(|| OpError::new(format!("{what} would be {n}")))
}

/// Checks the accumulation type of a reduction or contraction.
pub(super) fn check_accumulate_dtype(cx: &InferCx<'_>, dtype: DataType) -> Result<(), OpError> {
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

/// The windows that slide over a tensor. All lists have one entry per axis.
pub(super) struct WindowShape<'a> {
    pub(super) size: &'a [i64],
    pub(super) strides: &'a [i64],
    pub(super) pads: &'a [[i64; 2]],
    pub(super) base_dilation: &'a [i64],
    pub(super) window_dilation: &'a [i64],
}

impl WindowShape<'_> {
    pub(super) fn output_dims(&self, input: &[Dim]) -> Result<Dims, OpError> {
        check_at_least("strides", self.strides, 1)?;
        check_at_least("base_dilation", self.base_dilation, 1)?;
        check_at_least("window_dilation", self.window_dilation, 1)?;
        let mut dims = Dims::new();
        for (axis, &d) in input.iter().enumerate() {
            let Dim::Known(n) = d else {
                dims.push(d.map_expr(|extent| self.output_extent(axis, extent)));
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
            dims.push(checked_dim("a dim of the result", steps)?);
        }
        Ok(dims)
    }

    // Returns max(floordiv(padded - window, stride) + 1, 0), the number of windows along an axis.
    fn output_extent(&self, axis: usize, extent: DimExpr) -> Option<DimExpr> {
        let constant = DimExpr::constant;
        let window = dilate(constant(self.size[axis])?, self.window_dilation[axis])?;
        let [low, high] = self.pads[axis];
        let padded = dilate(extent, self.base_dilation[axis])?
            .checked_add(constant(low)?)?
            .checked_add(constant(high)?)?;
        let last = padded.checked_sub(window)?.floordiv(self.strides[axis])?;
        last.checked_add(constant(1)?)?.max(constant(0)?)
    }
}

// wide(n) = max((n - 1)*dilation + 1, 0), the extent with gaps between the elements.
fn dilate(extent: DimExpr, dilation: i64) -> Option<DimExpr> {
    if dilation == 1 {
        return Some(extent);
    }
    let constant = DimExpr::constant;
    let last = extent.checked_sub(constant(1)?)?.checked_mul(constant(dilation)?)?;
    last.checked_add(constant(1)?)?.max(constant(0)?)
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

/// Checks the inputs and initial values of a variadic reduction: equal dims, and scalar initial values of the same
/// element types.
pub(super) fn check_reduction_inputs<'a>(
    cx: &InferCx<'a>,
    inputs: &str,
    inits: &str,
) -> Result<(SmallVec<[&'a TensorType; 4]>, Dims), OpError> {
    let (ins, starts) = (cx.operand_range(inputs), cx.operand_range(inits));
    if ins.is_empty() {
        return Err(OpError::new("at least one input is needed"));
    }
    let first = cx.tensor(ins.start)?;
    let mut dims = first.dims.clone();
    let mut types = SmallVec::new();
    for (i, s) in ins.zip(starts) {
        let (input, init) = (cx.tensor(i)?, cx.tensor(s)?);
        dims = unify_dim_lists(0, &dims, i, &input.dims)?;
        if init.rank() != 0 {
            return Err(OpError::new(format!(
                "init operand {s} has rank {}, expected a scalar",
                init.rank()
            )));
        }
        check_same_dtype(i, input, s, init)?;
        types.push(input);
    }
    Ok((types, dims))
}
