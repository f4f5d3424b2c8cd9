//! Ops that move elements.

use sapwood_ptir::ops::{BroadcastInDim, BroadcastTo, Reshape};
use sapwood_ptir::{Axes, Dim, Function as PtirFunction, TensorType, ValueId};

use super::form::Part::{Int, Ints, IntsUnless, Literal, Operands, Ranges, ResultType, Types};
use super::form::TypeSyntax::{Function, Same};
use super::{OpConverter, OpMapping, PrintedOp, ResultValues, WriteResult, read_only, row};
use crate::write::{TextWriter, print_form, unwritable};

pub(super) const MAPPINGS: &[OpMapping] = &[
    row("stablehlo.reshape", "reshape", &[Operands, ResultType, Types(Function)])
        .print(print_reshape),
    row("stablehlo.bitcast_convert", "bitcast", &[Operands, ResultType, Types(Function)]),
    row("stablehlo.iota", "iota", &[Int("dim", "iota_dimension"), ResultType, Types(Same)]),
    row(
        "stablehlo.transpose",
        "transpose",
        &[Operands, Ints("dims", "permutation"), Types(Function)],
    ),
    row(
        "stablehlo.broadcast_in_dim",
        "broadcast_in_dim",
        &[Operands, Ints("dims", "broadcast_dimensions"), ResultType, Types(Function)],
    ),
    row("stablehlo.broadcast_in_dim", "broadcast_to", &[]).print(print_broadcast_to),
    row("stablehlo.slice", "slice", &[Operands, Ranges, Types(Function)]),
    row("stablehlo.concatenate", "concat", &[Operands, Int("dim", "dimension"), Types(Function)]),
    row(
        "stablehlo.pad",
        "pad",
        &[
            Operands,
            Ints("low", "edge_padding_low"),
            Ints("high", "edge_padding_high"),
            IntsUnless("interior", "interior_padding", 0),
            Types(Function),
        ],
    ),
    row("stablehlo.reverse", "reverse", &[Operands, Ints("dims", "dimensions"), Types(Same)]),
    row(
        "stablehlo.get_dimension_size",
        "get_dimension_size",
        &[Operands, Int("dim", "dimension"), Types(Function)],
    ),
    row("stablehlo.constant", "constant", &[Literal]),
    row("arith.constant", "constant", &[Literal]),
    row("chlo.constant", "constant", &[Literal]),
    read_only("stablehlo.broadcast", build_broadcast),
];

fn build_broadcast(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
    let [input] = cx.operands()?;
    let sizes = cx.ints(&["broadcast_sizes", "sizes"])?;
    let rank = cx.tensor_type(input)?.rank();
    let dims: Axes = (sizes.len()..sizes.len() + rank).collect();
    let result = cx.declared_result_tensor()?;
    let extents = result.dims.iter().zip(&sizes);
    let mut wrong =
        extents.filter(|(dim, n)| dim.known().is_some_and(|d| Ok(d) != u64::try_from(**n)));
    if let Some((dim, n)) = wrong.next() {
        return Err(format!("`sizes` has {n} where the result has {dim}"));
    }
    let ty = result.clone().into();
    cx.emit_op(BroadcastInDim { input, dims, ty })
}

// Writes a reshape. One that only adds axes of extent one for a broadcast is written as part of that broadcast.
fn print_reshape(w: &mut TextWriter<'_>, (inst, mapping): PrintedOp) -> WriteResult {
    if let Some(result) = w.f.value_of(inst)
        && w.f.one_use(result)
        && let Some(user) = w.f.users_of(result).first()
        && w.f.is::<BroadcastTo>(*user)
        && as_unit_axes_reshape(w.f, result).is_some()
    {
        return Ok(());
    }
    print_form(w, (inst, mapping))
}

// Returns the operand of a reshape that only adds axes of extent one, and the axes of the result that come from the operand.
fn as_unit_axes_reshape(f: &PtirFunction, value: ValueId) -> Option<(ValueId, Axes)> {
    let reshape = f.def::<Reshape>(value)?;
    let (from, to) = (f.value_type(reshape.input).as_tensor()?, f.value_type(value).as_tensor()?);
    let mut axes = Vec::new();
    for (axis, dim) in to.dims.iter().enumerate() {
        match from.dims.get(axes.len()) {
            Some(own) if own.certainly_equal(*dim) => axes.push(axis as i64),
            _ if *dim == Dim::Known(1) => {}
            _ => return None,
        }
    }
    (axes.len() == from.rank()).then(|| (reshape.input, axes.into()))
}

// Writes a broadcast whose axes are aligned at the right.
fn print_broadcast_to(w: &mut TextWriter<'_>, (inst, mapping): PrintedOp) -> WriteResult {
    let rank = |v| w.f.value_type(v).as_tensor().map_or(0, TensorType::rank);
    let Some(&input) = w.f.operands(inst).first() else {
        return Err(unwritable(w, inst, "malformed"));
    };
    let (from, to) = (rank(input), w.f.value_of(inst).map_or(0, rank));
    let new = to.saturating_sub(from);
    let wider = w.f.one_use(input).then(|| as_unit_axes_reshape(w.f, input)).flatten();
    let (source, dims) = match wider {
        Some((source, axes)) => (source, axes.iter().map(|a| a + new as i64).collect()),
        None => (input, (new..to).collect::<Axes>()),
    };
    w.start_op(inst, mapping.name);
    w.out.push(' ');
    w.write_value(source);
    w.out.push_str(", dims = ");
    w.write_int_list(&dims);
    w.write_extras(inst, mapping.name);
    w.out.push_str(" : (");
    w.write_type_of(source);
    w.out.push_str(") -> ");
    if let Some(result) = w.f.value_of(inst) {
        w.write_type_of(result);
    }
    w.out.push('\n');
    Ok(())
}
