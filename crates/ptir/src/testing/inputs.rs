//! Random inputs of functions.

use std::collections::BTreeMap;

use super::literals::random_literal;
use crate::func::Function;
use crate::literal::TensorLiteral;
use crate::types::{Dim, TensorType, ValueType};
use sapwood_types::Rng;

/// Generates random tensors for the parameters of a function. Named and unknown dims get small extents, equal names
/// equal extents. Returns `None` if a parameter is not a tensor or too large, or if an expression is not an extent.
#[must_use]
pub fn random_inputs(rng: &mut Rng, function: &Function) -> Option<Vec<TensorLiteral>> {
    let mut extents = BTreeMap::new();
    let mut inputs = Vec::new();
    for &param in function.params() {
        let ValueType::Tensor(ty) = function.value_type(param) else { return None };
        let dims = ty.dims.iter().map(|&dim| match dim {
            Dim::Known(n) => Some(n),
            Dim::Expr(_) => {
                dim.for_each_symbol(&mut |name| {
                    extents.entry(name.to_string()).or_insert_with(|| rng.below(4) as u64);
                });
                dim.evaluate(&|name| extents.get(name.as_str()).copied())
            }
            Dim::Unknown => Some(rng.below(4) as u64),
        });
        let ty = TensorType::new(ty.dtype, dims.collect::<Option<Vec<_>>>()?);
        inputs.push(random_literal(rng, &ty)?);
    }
    Some(inputs)
}
