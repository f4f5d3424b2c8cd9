//! Compatibility of types.

use crate::nodes::{Type, TypeRef};

/// The maximum number of type pairs to compare.
const MAX_TYPE_PAIRS: usize = 1_000_000;

/// Returns whether a value of type `found` may be used for type `wanted`.
///
/// An unknown type is compatible with every type; a dim that is not a constant is compatible with every dim.
pub(crate) fn types_compatible(wanted: &TypeRef, found: &TypeRef) -> bool {
    let mut pairs = vec![(wanted, found)];
    let mut seen: hashbrown::HashSet<(usize, usize), rustc_hash::FxBuildHasher> =
        hashbrown::HashSet::default();
    while let Some((wanted, found)) = pairs.pop() {
        if wanted.same(found) {
            continue;
        }
        let shared = wanted.node().owners() > 1 && found.node().owners() > 1;
        if shared && wanted.dtype().is_none() {
            if !seen.insert((wanted.node().id(), found.node().id())) {
                continue;
            }
            // Two types with different sharing have more pairs than nodes; types this large are assumed to be
            // compatible.
            if seen.len() > MAX_TYPE_PAIRS {
                return true;
            }
        }
        match (&**wanted, &**found) {
            (Type::Unknown { .. }, _) | (_, Type::Unknown { .. }) => {}
            (Type::Scalar { dtype, .. }, Type::Scalar { dtype: other, .. }) => {
                if dtype != other {
                    return false;
                }
            }
            (Type::Tensor { dtype, shape, .. }, Type::Tensor { dtype: other, shape: dims, .. }) => {
                let same_dims = shape.len() == dims.len()
                    && shape.iter().zip(dims).all(|(a, b)| match (a.as_int(), b.as_int()) {
                        (Some(a), Some(b)) => a == b,
                        _ => true,
                    });
                if dtype != other || !same_dims {
                    return false;
                }
            }
            (Type::Tuple { types, .. }, Type::Tuple { types: others, .. }) => {
                if types.len() != others.len() {
                    return false;
                }
                pairs.extend(types.iter().zip(others).rev());
            }
            (
                Type::Function { params, results, .. },
                Type::Function { params: other_params, results: other_results, .. },
            ) => {
                if params.len() != other_params.len() || results.len() != other_results.len() {
                    return false;
                }
                pairs.extend(params.iter().zip(other_params));
                pairs.extend(results.iter().zip(other_results));
            }
            _ => return false,
        }
    }
    true
}

/// Prints a type for a message.
pub(crate) fn display_type(ty: &TypeRef) -> String {
    crate::print::type_prefix(ty, 80)
}
