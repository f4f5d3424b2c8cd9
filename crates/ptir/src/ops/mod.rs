//! The built-in ops, one file per family.

mod binary;
mod call;
mod cast;
mod compare;
mod constant;
mod control;
mod convolution;
mod dims;
mod dot;
mod dynamic;
mod gather;
mod linalg;
mod reduce;
mod rng;
mod shape;
mod sort;
mod support;
mod unary;
mod window;

pub use binary::*;
pub use call::*;
pub use cast::*;
pub use compare::*;
pub use constant::*;
pub use control::*;
pub use convolution::*;
pub use dims::*;
pub use dot::*;
pub use dynamic::*;
pub use gather::*;
pub use linalg::*;
pub use reduce::*;
pub use rng::*;
pub use shape::*;
pub use sort::*;
pub use unary::*;
pub use window::*;

use crate::op::OpDef;

/// Returns the definitions of all built-in ops, in the order of the families.
#[must_use]
pub fn builtin_op_defs() -> Vec<OpDef> {
    [
        constant_ops(),
        unary_ops(),
        binary_ops(),
        compare_ops(),
        cast_ops(),
        shape_ops(),
        dot_ops(),
        convolution_ops(),
        linalg_ops(),
        reduce_ops(),
        window_ops(),
        sort_ops(),
        gather_ops(),
        dynamic_ops(),
        dims_ops(),
        control_ops(),
        rng_ops(),
        call_ops(),
    ]
    .concat()
}
