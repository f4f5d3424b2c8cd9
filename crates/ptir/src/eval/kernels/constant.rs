//! The kernel of `iota`.

use super::cast::{Convert, Wide};
use super::elementwise::no_kernel;
use crate::eval::context::{EvalCx, EvalResult, one};
use crate::eval::tensor::{Tensor, count};
use crate::with_computed;

pub(crate) fn iota(cx: &mut EvalCx<'_>) -> EvalResult {
    let (dtype, shape) = (cx.result_dtype(0)?, cx.result_shape(0)?);
    let axis = cx.axis("axis", shape.len())?;
    let len = count(&shape).unwrap_or(0);
    with_computed!(dtype, T => {
        let at = |i: usize| T::from_wide(Wide::Unsigned(i as u64));
        if shape[axis] <= 1 || len == 0 {
            return one(Tensor::splat(dtype, shape, at(0)));
        }
        let mut out: Vec<T> = cx.alloc(len)?;
        let inner: usize = shape[axis + 1..].iter().product();
        while out.len() < len {
            for i in 0..shape[axis] {
                out.resize(out.len() + inner, at(i));
            }
        }
        one(Tensor::new(dtype, shape, out))
    }, _ => no_kernel(dtype))
}
