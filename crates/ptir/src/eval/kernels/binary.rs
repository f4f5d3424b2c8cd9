//! Elementwise ops of two operands.

use super::elementwise::zip;
use crate::eval::context::{EvalCx, EvalResult};
use crate::eval::native::Num;
use crate::with_native;

pub(crate) fn add(cx: &mut EvalCx<'_>) -> EvalResult {
    with_native!(cx.tensor(0)?.dtype(), T => zip::<T>(cx, Num::add))
}
