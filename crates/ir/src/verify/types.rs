//! Types that fit each other.

use crate::nodes::{Type, TypeRef};

/// How many pairs of types are compared at most.
const MOST_LOOKS: usize = 1_000_000;

/// Whether a value of type `found` may stand where `wanted` is asked for. What is unknown fits
/// everything; a dim that is not a constant fits every dim.
pub(crate) fn fits(wanted: &TypeRef, found: &TypeRef) -> bool {
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
            // Two types that are shared differently have more pairs than nodes; what is this large
            // is taken to fit.
            if seen.len() > MOST_LOOKS {
                return true;
            }
        }
        match (&**wanted, &**found) {
            (Type::Unknown {}, _) | (_, Type::Unknown {}) => {}
            (Type::Scalar { dtype }, Type::Scalar { dtype: other }) => {
                if dtype != other {
                    return false;
                }
            }
            (Type::Tensor { dtype, shape }, Type::Tensor { dtype: other, shape: dims }) => {
                let same_dims = shape.len() == dims.len()
                    && shape.iter().zip(dims).all(|(a, b)| match (a.as_int(), b.as_int()) {
                        (Some(a), Some(b)) => a == b,
                        _ => true,
                    });
                if dtype != other || !same_dims {
                    return false;
                }
            }
            (Type::Tuple { types }, Type::Tuple { types: others }) => {
                if types.len() != others.len() {
                    return false;
                }
                pairs.extend(types.iter().zip(others).rev());
            }
            (
                Type::Function { params, results },
                Type::Function { params: other_params, results: other_results },
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

/// A type for a message.
pub(crate) fn shown(ty: &TypeRef) -> String {
    crate::print::start_of_type(ty, 80)
}
