//! Elementwise loops. Operands without another owner are overwritten, and for splats only one element is computed.

use sapwood_types::DataType;

use crate::eval::context::{EvalCx, EvalResult, one};
use crate::eval::error::Fault;
use crate::eval::native::Native;
use crate::eval::tensor::{Tensor, View};

/// Applies `f` to each element, in the element type of the operand.
pub(crate) fn map<T: Native>(cx: &mut EvalCx<'_>, f: impl Fn(T) -> T) -> EvalResult {
    let mut input = cx.take_tensor(0)?;
    if let Some(elements) = input.unique_mut::<T>() {
        cx.work(elements.len() as u64)?;
        for x in elements {
            *x = f(*x);
        }
        return one(input);
    }
    let dtype = input.dtype();
    one(map_tensor(cx, &input, dtype, f)?)
}

/// Applies `f` to each element like [`map`], with one compiled loop per element type instead of one per function: for functions
/// that cost more than a call.
pub(crate) fn map_by<T: Native>(cx: &mut EvalCx<'_>, f: &dyn Fn(T) -> T) -> EvalResult {
    map(cx, f)
}

/// Applies `f` to each element, with another element type as the result.
pub(crate) fn map_to<T: Native, U: Native>(
    cx: &mut EvalCx<'_>,
    dtype: DataType,
    f: impl Fn(T) -> U,
) -> EvalResult {
    let input = cx.take_tensor(0)?;
    one(map_tensor(cx, &input, dtype, f)?)
}

/// Applies `f` to each element of a tensor.
pub(crate) fn map_tensor<T: Native, U: Native>(
    cx: &EvalCx<'_>,
    input: &Tensor,
    dtype: DataType,
    f: impl Fn(T) -> U,
) -> Result<Tensor, Fault> {
    Ok(match view(input)? {
        View::Splat(x) => Tensor::splat(dtype, input.shape(), f(x)),
        View::Dense(all) => {
            let mut out = cx.alloc_result(all.len())?;
            out.extend(all.iter().map(|&x| f(x)));
            Tensor::new(dtype, input.shape(), out)
        }
    })
}

/// Applies `f` to each pair of elements of operands 0 and 1, in their element type.
pub(crate) fn zip<T: Native>(cx: &mut EvalCx<'_>, f: impl Fn(T, T) -> T) -> EvalResult {
    let (mut a, b) = take_pair(cx)?;
    let (left, right) = (view::<T>(&a)?, view::<T>(&b)?);
    if let (View::Splat(x), View::Splat(y)) = (left, right) {
        return one(Tensor::splat(a.dtype(), a.shape(), f(x, y)));
    }
    if a.unique_mut::<T>().is_none() {
        a = copied::<T>(cx, &a)?;
    }
    let Some(left) = a.unique_mut::<T>() else { return Err(Fault::op("a copy is shared")) };
    cx.work(left.len() as u64)?;
    match right {
        View::Splat(y) => left.iter_mut().for_each(|x| *x = f(*x, y)),
        View::Dense(all) => left.iter_mut().zip(all).for_each(|(x, &y)| *x = f(*x, y)),
    }
    one(a)
}

/// Applies `f` to pairs like [`zip`], with one compiled loop per element type instead of one per function.
pub(crate) fn zip_by<T: Native>(cx: &mut EvalCx<'_>, f: &dyn Fn(T, T) -> T) -> EvalResult {
    zip(cx, f)
}

/// Takes operands 0 and 1, which must have the same extents.
pub(crate) fn take_pair(cx: &mut EvalCx<'_>) -> Result<(Tensor, Tensor), Fault> {
    let (a, b) = (cx.take_tensor(0)?, cx.take_tensor(1)?);
    same_shape(&a, &b)?;
    Ok((a, b))
}

/// Returns a copy of a tensor with its own storage.
pub(crate) fn copied<T: Native>(cx: &EvalCx<'_>, tensor: &Tensor) -> Result<Tensor, Fault> {
    let len = tensor.len();
    let mut copy: Vec<T> = cx.alloc_result(len)?;
    match view::<T>(tensor)? {
        View::Splat(x) => copy.resize(len, x),
        View::Dense(all) => copy.extend_from_slice(all),
    }
    Ok(Tensor::new(tensor.dtype(), tensor.shape(), copy))
}

/// Applies `f` to each pair of elements of operands 0 and 1, with another element type as the result.
pub(crate) fn zip_to<T: Native, U: Native>(
    cx: &mut EvalCx<'_>,
    dtype: DataType,
    f: impl Fn(T, T) -> U,
) -> EvalResult {
    let (a, b) = take_pair(cx)?;
    let (left, right) = (view::<T>(&a)?, view::<T>(&b)?);
    if let (View::Splat(x), View::Splat(y)) = (left, right) {
        return one(Tensor::splat(dtype, a.shape(), f(x, y)));
    }
    let mut out = cx.alloc_result(a.len())?;
    match (left, right) {
        (View::Dense(xs), View::Dense(ys)) => {
            out.extend(xs.iter().zip(ys).map(|(&x, &y)| f(x, y)));
        }
        _ => out.extend((0..a.len()).map(|i| f(left.get(i), right.get(i)))),
    }
    one(Tensor::new(dtype, a.shape(), out))
}

/// Returns a view of the elements, which must be stored as `T`.
pub(crate) fn view<T: Native>(tensor: &Tensor) -> Result<View<'_, T>, Fault> {
    match tensor.view() {
        Some(view) => Ok(view),
        None => Err(wrong_storage_type(tensor, T::DTYPE)),
    }
}

#[cold]
fn wrong_storage_type(tensor: &Tensor, native: DataType) -> Fault {
    Fault::op(format!("an operand is {}, expected elements kept as {native}", tensor.ty()))
}

pub(crate) fn same_shape(a: &Tensor, b: &Tensor) -> Result<(), Fault> {
    if a.shape() == b.shape() {
        return Ok(());
    }
    Err(Fault::op(format!("one operand is {}, another {}", a.ty(), b.ty())))
}

/// Returns the error of a kernel without code for an element type, which inference rejects earlier.
pub(crate) fn no_kernel<T>(dtype: DataType) -> Result<T, Fault> {
    Err(Fault::op(format!("not computed for element type {dtype}")))
}
