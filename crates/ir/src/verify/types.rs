//! Types that fit each other.

use crate::nodes::{Type, TypeRef};

/// How many pairs of types are compared at most.
const MOST_LOOKS: usize = 100_000;

/// Whether a value of type `found` may stand where `wanted` is asked for. What is unknown fits
/// everything; a dim that is not a constant fits every dim.
pub(crate) fn fits(wanted: &TypeRef, found: &TypeRef) -> bool {
    let mut pairs = vec![(wanted, found)];
    let mut looks = 0;
    while let Some((wanted, found)) = pairs.pop() {
        // Shared types have more paths than nodes; what is this large is taken to fit.
        looks += 1;
        if looks > MOST_LOOKS {
            return true;
        }
        if wanted.same(found) {
            continue;
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
                pairs.extend(types.iter().zip(others));
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
pub(super) fn shown(ty: &TypeRef) -> String {
    let text = crate::print::print_type(ty);
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
