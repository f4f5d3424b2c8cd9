//! Random inputs of functions.

use std::collections::BTreeMap;

use super::literals::random_literal;
use crate::func::Function;
use crate::literal::TensorLiteral;
use crate::name::Name;
use crate::types::{Dim, TensorType, ValueType};
use sapwood_types::Rng;

/// Generates random tensors for the parameters of a function. Named and unknown dims get small extents, equal names
/// equal extents. Returns `None` if a parameter is not a tensor or too large, or if an expression is not an extent.
#[must_use]
pub fn random_inputs(rng: &mut Rng, function: &Function) -> Option<Vec<TensorLiteral>> {
    let mut extents = random_extents(rng, function)?;
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

// The number of attempts to find extents that satisfy the facts of a function.
const MAX_EXTENT_DRAWS: usize = 200;

// Returns extents of the symbols of the parameters that satisfy the facts. Returns none if the function has no facts.
fn random_extents(rng: &mut Rng, function: &Function) -> Option<BTreeMap<String, u64>> {
    let Some(facts) = function.facts() else { return Some(BTreeMap::new()) };
    (0..MAX_EXTENT_DRAWS).find_map(|attempt| {
        let mut extents = BTreeMap::new();
        for &param in function.params() {
            function.value_type(param).for_each_symbol(&mut |name| {
                let extent = || rng.below(4 + attempt / 8) as u64;
                extents.entry(name.to_string()).or_insert_with(extent);
            });
        }
        let value = |name: Name| i64::try_from(*extents.get(name.as_str())?).ok();
        (facts.hold(&value) == Some(true)).then_some(extents)
    })
}
