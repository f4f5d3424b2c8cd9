//! Removal of attributes that equal their defaults.

use sapwood_ptir::ops::{Convolution, DotGeneral, Pad, ReduceWindow, SelectAndScatter, Slice};
use sapwood_ptir::{Attr, AttrDef, Values};

use crate::pattern::{OpRef, Rewrite};

crate::patterns! { "attributes":
    neutral_attributes on [Slice, Pad, ReduceWindow, SelectAndScatter, Convolution, DotGeneral] benefit 4,
}

/// `slice(x, strides=[1]) = slice(x)`: an attribute that equals its default is removed.
///
/// Strides and dilations of 1, `interior`, `pads` and `reversal` of 0, and an `out` that is the type of the operands, for
/// `slice`, `pad`, `reduce_window`, `select_and_scatter`, `convolution`, `dot_general`.
///
/// Floats: exact.
fn neutral_attributes(op: OpRef, rw: &mut Rewrite<'_>) -> Option<Values> {
    let f = rw.function();
    let operand = rw.dtype(*f.operands(op.root).first()?)?;
    let def = f.op_def(op.root)?;
    let neutral = |attr: &AttrDef, value: &Attr| match attr.name {
        "out" => *value == Attr::Type(operand),
        _ => *value != Attr::Unit && *attr.without_default(value) == Attr::Unit,
    };
    let stated = &def.attrs;
    if !stated.iter().zip(f.attrs(op.root).iter()).any(|(stated, attr)| neutral(stated, attr)) {
        return None;
    }
    let mut parts = f.parts_of(op.root);
    for (stated, attr) in stated.iter().zip(&mut parts.attrs) {
        if neutral(stated, attr) {
            *attr = Attr::Unit;
        }
    }
    rw.emit_parts_many(&parts)
}
