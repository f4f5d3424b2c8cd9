//! The number of operations of a node: that of its definition in core ops.

use sapwood_ptir::cost::{self, Amount};
use sapwood_ptir::{Attr, InferCx, OpDef, OpError};

use super::builder::Builder;
use super::context::Cx;
use super::table::{self, Meaning};
use super::{Known, NodeView, scratch_function};
use crate::dialect::{ABSENT, PREFIX};

/// The ops whose result is their operand in another shape, or that only look at a shape.
const VIEWS: &[&str] = &[
    "Constant",
    "Flatten",
    "Identity",
    "OptionalGetElement",
    "Reshape",
    "Shape",
    "Size",
    "Squeeze",
    "Unsqueeze",
];

/// The ops that move elements to places that depend on the contents of operands, and compute nothing.
const MOVES: &[&str] = &[
    "CenterCropPad",
    "Compress",
    "ConstantOfShape",
    "Expand",
    "Gather",
    "GatherElements",
    "GatherND",
    "NonZero",
    "OneHot",
    "Pad",
    "Range",
    "Scatter",
    "ScatterElements",
    "ScatterND",
    "Slice",
    "Split",
    "TensorScatter",
    "Tile",
    "Trilu",
    "Upsample",
];

/// Adds the cost of an op to its definition.
pub(super) fn with_operations(def: OpDef) -> OpDef {
    let name = def.name.trim_start_matches(PREFIX);
    if VIEWS.contains(&name) { def.view().flops(|_, _| Ok(Amount::ZERO)) } else { def.flops(count) }
}

// Returns the number of operations of the definition of an op, without the contents of its operands.
fn count(cx: &InferCx<'_>, _: &[Amount]) -> Result<Amount, OpError> {
    let name = cx.def.name.trim_start_matches(PREFIX);
    if MOVES.contains(&name) {
        return Ok(Amount::ZERO);
    }
    let row = table::row_of(name).filter(|row| !matches!(row.meaning, Meaning::Kernel(_)));
    let row = row.ok_or_else(|| OpError::new(format!("`{name}` has no definition")))?;
    let absent = match cx.attr(ABSENT)? {
        Attr::Ints(list) => list.to_vec(),
        _ => Vec::new(),
    };
    let view = NodeView::new(cx.def, cx.attrs, &absent, cx.declared_types.len());
    let (f, params) = scratch_function(cx.operands.iter().copied().cloned());
    let builder = Builder::new(f, true);
    let inputs: Vec<_> = params.iter().map(|&id| builder.value(id)).collect();
    table::build(&row.meaning, &Cx::new(&builder, &view, &inputs, &|_| Known::default()));
    if let Some(why) = builder.take_failure() {
        // The axes of a reduction are the contents of an operand.
        return match name.starts_with("Reduce") {
            true => Ok(Amount::elements(cx.tensor(0)?)),
            false => Err(OpError::new(why)),
        };
    }
    let f = builder.f.into_inner();
    let insts = f.body_insts(f.body());
    Ok(insts.fold(Amount::ZERO, |sum, inst| sum.plus(cost::of_inst(&f, inst).flops)))
}
