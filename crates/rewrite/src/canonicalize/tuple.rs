//! Canonicalizations of `tuple` and `get_tuple_element`.

use sapwood_ptir::Value;
use sapwood_ptir::ops::{GetTupleElement, Tuple};

use crate::pattern::Rewrite;

crate::patterns! { "tuple":
    element_of_tuple when 0 in [Tuple],
    tuple_of_elements when 0 in [GetTupleElement],
}

/// `get_tuple_element(tuple(x, y, …), i)` is the `i`-th of the operands.
///
/// Floats: exact.
fn element_of_tuple(op: GetTupleElement, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<Tuple>(op.input)?;
    inner.elements.get(usize::try_from(op.index.0).ok()?).copied()
}

/// `tuple(get_tuple_element(t, 0), get_tuple_element(t, 1), …) = t` if these are all elements.
///
/// Floats: exact.
fn tuple_of_elements(op: Tuple, rw: &mut Rewrite<'_>) -> Option<Value> {
    let first = rw.def::<GetTupleElement>(*op.elements.first()?)?.input;
    if rw.ty(first) != rw.result_type() {
        return None;
    }
    for (n, &element) in op.elements.iter().enumerate() {
        let part = rw.def::<GetTupleElement>(element)?;
        if part.input != first || part.index.0 != n as i64 {
            return None;
        }
    }
    Some(first)
}
