//! Removal of attributes that equal their defaults.

use sapwood_ptir::ops::{Convolution, DotGeneral, Pad, ReduceWindow, SelectAndScatter, Slice};
use sapwood_ptir::{Attr, Values};

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
    let neutral = |name: &str, attr: &Attr| match name {
        "strides" | "base_dilation" | "window_dilation" | "input_dilation" | "kernel_dilation" => {
            all_ints_equal(attr, 1)
        }
        "interior" | "pads" | "reversal" => all_ints_equal(attr, 0),
        "out" => *attr == Attr::Type(operand),
        _ => false,
    };
    let stated = &f.op_def(op.root)?.attrs;
    if !stated.iter().zip(f.attrs(op.root).iter()).any(|(stated, attr)| neutral(stated.name, attr))
    {
        return None;
    }
    let mut parts = f.parts_of(op.root);
    for (stated, attr) in stated.iter().zip(&mut parts.attrs) {
        if neutral(stated.name, attr) {
            *attr = Attr::Unit;
        }
    }
    rw.emit_parts_many(&parts)
}

// Returns true if all integers of a list, or of lists in a list, are this number.
fn all_ints_equal(attr: &Attr, number: i64) -> bool {
    match attr {
        Attr::Ints(list) => list.iter().all(|&n| n == number),
        Attr::List(list) => list.iter().all(|inner| all_ints_equal(inner, number)),
        _ => false,
    }
}
