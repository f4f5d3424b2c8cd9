//! Gather, scatter, and slices at computed positions.

use std::fmt::Write as _;

use sapwood_ptir::ops::{DynamicSlice, DynamicUpdateSlice, Gather, Scatter};
use sapwood_ptir::{Attr, Axes, InstId, Int, Op as _};
use sapwood_types::counted;

use super::attributes::{check_fields, field_int, field_ints};
use super::elementwise::fast_read_plain;
use super::window::write_array;
use super::{OpConverter, OpMapping, ResultValues};
use crate::read::FastOpReader;
use crate::write::{TextWriter, WriteError, unwritable};

pub(super) const MAPPINGS: &[OpMapping] = &[
    OpMapping::new("stablehlo.gather", "gather", read_gather, write_gather),
    OpMapping::new("stablehlo.scatter", "scatter", read_scatter, write_scatter),
    OpMapping::new(
        "stablehlo.dynamic_slice",
        "dynamic_slice",
        read_dynamic_slice,
        write_dynamic_slice,
    )
    .fast(fast_read_dynamic_slice),
    OpMapping::new(
        "stablehlo.dynamic_update_slice",
        "dynamic_update_slice",
        read_dynamic_update_slice,
        write_dynamic_update_slice,
    )
    .fast(fast_read_plain),
];

const GATHER_FIELDS: [&str; 6] = [
    "offset_dims",
    "collapsed_slice_dims",
    "operand_batching_dims",
    "start_indices_batching_dims",
    "start_index_map",
    "index_vector_dim",
];

const SCATTER_FIELDS: [&str; 6] = [
    "update_window_dims",
    "inserted_window_dims",
    "input_batching_dims",
    "scatter_indices_batching_dims",
    "scatter_dims_to_operand_dims",
    "index_vector_dim",
];

/// Emits a gather with these slice sizes.
pub(super) fn convert_gather(
    cx: &mut OpConverter<'_, '_>,
    slice_sizes: Axes,
) -> Result<ResultValues, String> {
    let (input, indices) = (cx.operand(0)?, cx.operand(1)?);
    let fields = cx.fields(&["dimension_numbers"])?;
    check_fields(&fields, &GATHER_FIELDS)?;
    let list = |name| field_ints(&fields, name);
    let op = Gather {
        input,
        indices,
        offset_dims: list("offset_dims")?,
        collapsed_dims: list("collapsed_slice_dims")?,
        input_batch_dims: list("operand_batching_dims")?,
        index_batch_dims: list("start_indices_batching_dims")?,
        start_index_map: list("start_index_map")?,
        index_vector_dim: Int(field_int(&fields, "index_vector_dim")?),
        slice_sizes,
    };
    cx.emit_op(op)
}

fn read_gather(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
    let slice_sizes = Axes(cx.ints(&["slice_sizes"])?);
    convert_gather(cx, slice_sizes)
}

fn read_scatter(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
    let operands = cx.op.operands.clone();
    if operands.len() < 3 || operands.len().is_multiple_of(2) {
        return Err(format!(
            "expected inputs, indices and as many updates, found {}",
            counted(operands.len(), "operand")
        ));
    }
    let n = operands.len() / 2;
    let [body] = cx.regions()?;
    let fields = cx.fields(&["scatter_dimension_numbers"])?;
    check_fields(&fields, &SCATTER_FIELDS)?;
    let list = |name| field_ints(&fields, name);
    let op = Scatter {
        inputs: operands[..n].iter().copied().collect(),
        indices: operands[n],
        updates: operands[n + 1..].iter().copied().collect(),
        body,
        update_window_dims: list("update_window_dims")?,
        inserted_window_dims: list("inserted_window_dims")?,
        input_batch_dims: list("input_batching_dims")?,
        index_batch_dims: list("scatter_indices_batching_dims")?,
        scatter_dims: list("scatter_dims_to_operand_dims")?,
        index_vector_dim: Int(field_int(&fields, "index_vector_dim")?),
    };
    cx.emit(&op.into_parts())
}

fn read_dynamic_slice(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
    let input = cx.operand(0)?;
    let starts = cx.op.operands[1..].iter().copied().collect();
    let sizes = Axes(cx.ints(&["slice_sizes", "sizes"])?);
    cx.emit_op(DynamicSlice { input, starts, sizes })
}

// Reads `%x, %i, %j, sizes = [1, 4] : (T, U, U) -> V`.
fn fast_read_dynamic_slice(cx: &mut FastOpReader<'_, '_>) -> Option<()> {
    cx.read_operands()?;
    let sizes = cx.read_int_list("sizes")?;
    cx.read_types()?;
    cx.append([Attr::Ints(sizes)])
}

fn read_dynamic_update_slice(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
    let (input, update) = (cx.operand(0)?, cx.operand(1)?);
    let starts = cx.op.operands[2..].iter().copied().collect();
    cx.emit_op(DynamicUpdateSlice { input, update, starts })
}

// Writes `name = [0, 1]` for each list that is not empty.
fn write_struct_fields(out: &mut String, lists: &[(&str, &Axes)], index_vector_dim: i64) {
    let mut first = true;
    for (name, list) in lists.iter().filter(|(_, list)| !list.is_empty()) {
        if !first {
            out.push_str(", ");
        }
        first = false;
        let _ = write!(out, "{name} = ");
        crate::write::write_list(out, list);
    }
    if index_vector_dim != 0 {
        if !first {
            out.push_str(", ");
        }
        let _ = write!(out, "index_vector_dim = {index_vector_dim}");
    }
}

fn write_gather(
    w: &mut TextWriter<'_>,
    inst: InstId,
    mapping: &'static OpMapping,
) -> Result<(), WriteError> {
    let Some(op) = w.f.view::<Gather>(inst) else { return Err(unwritable(w, inst, "malformed")) };
    w.start_generic_op(inst, mapping.name);
    w.out.push_str(" <{dimension_numbers = #stablehlo.gather<");
    let lists = [
        ("offset_dims", &op.offset_dims),
        ("collapsed_slice_dims", &op.collapsed_dims),
        ("operand_batching_dims", &op.input_batch_dims),
        ("start_indices_batching_dims", &op.index_batch_dims),
        ("start_index_map", &op.start_index_map),
    ];
    write_struct_fields(&mut w.out, &lists, op.index_vector_dim.0);
    w.out.push_str(">, slice_sizes = ");
    write_array(&mut w.out, &op.slice_sizes);
    w.out.push_str("}>");
    w.write_extras(inst, mapping.name);
    w.write_function_type(inst);
    w.out.push('\n');
    Ok(())
}

fn write_scatter(
    w: &mut TextWriter<'_>,
    inst: InstId,
    mapping: &'static OpMapping,
) -> Result<(), WriteError> {
    let Some(op) = w.f.view::<Scatter>(inst) else { return Err(unwritable(w, inst, "malformed")) };
    w.start_generic_op(inst, mapping.name);
    w.out.push_str(" <{scatter_dimension_numbers = #stablehlo.scatter<");
    let lists = [
        ("update_window_dims", &op.update_window_dims),
        ("inserted_window_dims", &op.inserted_window_dims),
        ("input_batching_dims", &op.input_batch_dims),
        ("scatter_indices_batching_dims", &op.index_batch_dims),
        ("scatter_dims_to_operand_dims", &op.scatter_dims),
    ];
    write_struct_fields(&mut w.out, &lists, op.index_vector_dim.0);
    w.out.push_str(">}>");
    w.write_generic_regions(inst, mapping.name);
    Ok(())
}

fn write_dynamic_slice(
    w: &mut TextWriter<'_>,
    inst: InstId,
    mapping: &'static OpMapping,
) -> Result<(), WriteError> {
    let Some(op) = w.f.view::<DynamicSlice>(inst) else {
        return Err(unwritable(w, inst, "malformed"));
    };
    w.start_op(inst, mapping.name);
    w.out.push(' ');
    w.write_values(w.f.operands(inst));
    w.out.push_str(", sizes = ");
    w.write_int_list(&op.sizes);
    w.write_extras(inst, mapping.name);
    w.write_function_type(inst);
    w.out.push('\n');
    Ok(())
}

fn write_dynamic_update_slice(
    w: &mut TextWriter<'_>,
    inst: InstId,
    mapping: &'static OpMapping,
) -> Result<(), WriteError> {
    w.start_op(inst, mapping.name);
    w.out.push(' ');
    w.write_values(w.f.operands(inst));
    w.write_extras(inst, mapping.name);
    w.write_function_type(inst);
    w.out.push('\n');
    Ok(())
}
