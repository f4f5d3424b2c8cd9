//! Gather, scatter, and slices at computed positions.

use sapwood_ptir::ops::Gather;
use sapwood_ptir::{Attr, Op as _, OpParts};

use super::form::Part::{Ints, Operands, Struct, Types};
use super::form::TypeSyntax::{Function, Generic};
use super::form::struct_attrs;
use super::{OpConverter, OpMapping, ResultValues, row};
use crate::attr::Ints as IntList;

pub(super) const MAPPINGS: &[OpMapping] = &[
    row(
        "stablehlo.gather",
        "gather",
        &[
            Operands,
            Struct("dimension_numbers", "gather", GATHER_FIELDS),
            Ints("slice_sizes", "slice_sizes"),
            Types(Generic),
        ],
    ),
    row(
        "stablehlo.scatter",
        "scatter",
        &[Operands, Struct("scatter_dimension_numbers", "scatter", SCATTER_FIELDS), Types(Generic)],
    ),
    row(
        "stablehlo.dynamic_slice",
        "dynamic_slice",
        &[Operands, Ints("sizes", "slice_sizes"), Types(Function)],
    ),
    row("stablehlo.dynamic_update_slice", "dynamic_update_slice", &[Operands, Types(Function)]),
];

pub(super) const GATHER_FIELDS: &[&str] = &[
    "offset_dims",
    "collapsed_slice_dims",
    "operand_batching_dims",
    "start_indices_batching_dims",
    "start_index_map",
    "index_vector_dim",
];

const SCATTER_FIELDS: &[&str] = &[
    "update_window_dims",
    "inserted_window_dims",
    "input_batching_dims",
    "scatter_indices_batching_dims",
    "scatter_dims_to_operand_dims",
    "index_vector_dim",
];

/// Emits a gather of the first two operands with these slice sizes.
pub(super) fn emit_gather(
    cx: &mut OpConverter<'_, '_>,
    slice_sizes: IntList,
) -> Result<ResultValues, String> {
    let mut attrs = struct_attrs(cx, "dimension_numbers", GATHER_FIELDS)?;
    attrs.push(Attr::Ints(slice_sizes));
    let mut parts = OpParts::new(Gather::key());
    parts.operands = cx.op.operands[..2].iter().copied().collect();
    parts.attrs = attrs;
    cx.emit(&parts)
}
