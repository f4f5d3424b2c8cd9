//! Ops that move elements.

use std::fmt::Write as _;

use sapwood_ptir::ops::{
    BroadcastInDim, BroadcastTo, Concat, Constant, GetDimensionSize, Iota, Pad, Reshape, Reverse,
    Slice, Transpose,
};
use sapwood_ptir::{
    Attr, Axes, Dim, Function, InstId, Int, Ints, Op as _, ResultType, TensorType, ValueId, Values,
};

use super::elementwise::fast_read_typed;
use super::{OpConverter, OpMapping, ResultValues};
use crate::read::FastOpReader;
use crate::write::{TextWriter, WriteError, unwritable};

pub(super) const MAPPINGS: &[OpMapping] = &[
    OpMapping::new("stablehlo.reshape", "reshape", read_typed, write_reshape).fast(fast_read_typed),
    OpMapping::new("stablehlo.bitcast_convert", "bitcast", read_typed, write_typed)
        .fast(fast_read_typed),
    OpMapping::new("stablehlo.iota", "iota", read_iota, write_iota).fast(fast_read_iota),
    OpMapping::new("stablehlo.transpose", "transpose", read_transpose, write_transpose)
        .fast(fast_read_transpose),
    OpMapping::new(
        "stablehlo.broadcast_in_dim",
        "broadcast_in_dim",
        read_broadcast_in_dim,
        write_broadcast_in_dim,
    )
    .fast(fast_read_broadcast_in_dim),
    OpMapping::new(
        "stablehlo.broadcast_in_dim",
        "broadcast_to",
        read_broadcast_in_dim,
        write_broadcast_to,
    ),
    OpMapping::new("stablehlo.slice", "slice", read_slice, write_slice).fast(fast_read_slice),
    OpMapping::new("stablehlo.concatenate", "concat", read_concat, write_concat)
        .fast(fast_read_concat),
    OpMapping::new("stablehlo.pad", "pad", read_pad, write_pad).fast(fast_read_pad),
    OpMapping::new("stablehlo.reverse", "reverse", read_reverse, write_reverse)
        .fast(fast_read_transpose),
    OpMapping::new(
        "stablehlo.get_dimension_size",
        "get_dimension_size",
        read_get_dimension_size,
        write_get_dimension_size,
    ),
    OpMapping::read_only("stablehlo.constant", read_constant).fast(fast_read_constant),
    OpMapping::read_only("arith.constant", read_constant),
    OpMapping::read_only("chlo.constant", read_constant),
    OpMapping::read_only("stablehlo.broadcast", read_broadcast),
];

// Reads an op whose only attribute is its result type.
fn read_typed(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
    let ty = cx.declared_result_type()?.clone();
    cx.emit_mapped(&[Attr::Unit], vec![ty])
}

fn read_constant(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
    let Some(crate::attr::RawAttr::Dense(literal)) = cx.attr(&["value"]) else {
        return Err("attribute `value` must be a literal".into());
    };
    let value = literal.clone();
    cx.emit_op(Constant { value })
}

// Reads `dense<1.0> : T`.
fn fast_read_constant(cx: &mut FastOpReader<'_, '_>) -> Option<()> {
    cx.key = Constant::key();
    let literal = cx.read_literal()?;
    cx.append_with_attr_id(literal)
}

// Reads `dim = 1 : T`.
fn fast_read_iota(cx: &mut FastOpReader<'_, '_>) -> Option<()> {
    let axis = cx.read_int("dim")?;
    cx.read_types()?;
    cx.append([Attr::Int(axis), Attr::Unit])
}

// Reads `%x, dims = [1, 0] : (T) -> U`.
fn fast_read_transpose(cx: &mut FastOpReader<'_, '_>) -> Option<()> {
    cx.read_operands()?;
    let perm = cx.read_int_list("dims")?;
    cx.read_types()?;
    cx.append([Attr::Ints(perm)])
}

// Reads `%x, dims = [1, 0] : (T) -> U` of an op whose result type is an attribute.
fn fast_read_broadcast_in_dim(cx: &mut FastOpReader<'_, '_>) -> Option<()> {
    cx.read_operands()?;
    let dims = cx.read_int_list("dims")?;
    cx.read_types()?;
    cx.append([Attr::Ints(dims), Attr::Unit])
}

// Reads `%x [0:4, 1:8:2] : (T) -> U`.
fn fast_read_slice(cx: &mut FastOpReader<'_, '_>) -> Option<()> {
    cx.read_operands()?;
    let (mut starts, mut limits, mut strides) = (Ints::new(), Ints::new(), Ints::new());
    let c = cx.cursor();
    c.eat(b'[').then_some(())?;
    while !c.eat(b']') {
        (starts.is_empty() || c.eat(b',')).then_some(())?;
        starts.push(c.integer()?);
        c.eat(b':').then_some(())?;
        limits.push(c.integer()?);
        strides.push(if c.eat(b':') { c.integer()? } else { 1 });
    }
    cx.read_types()?;
    let strides = attr_unless_all(strides, 1, starts.len())?;
    cx.append([Attr::Ints(starts), Attr::Ints(limits), strides])
}

// Reads `%a, %b, dim = 0 : (T, T) -> U`.
fn fast_read_concat(cx: &mut FastOpReader<'_, '_>) -> Option<()> {
    cx.read_operands()?;
    let axis = cx.read_int("dim")?;
    cx.read_types()?;
    cx.append([Attr::Int(axis)])
}

// Reads `%x, %v, low = [0], high = [1], interior = [0] : (T, U) -> V`.
fn fast_read_pad(cx: &mut FastOpReader<'_, '_>) -> Option<()> {
    cx.read_operands()?;
    let (low, high, interior) =
        (cx.read_int_list("low")?, cx.read_int_list("high")?, cx.read_int_list("interior")?);
    cx.read_types()?;
    let interior = attr_unless_all(interior, 0, low.len())?;
    cx.append([Attr::Ints(low), Attr::Ints(high), interior])
}

// Returns a list of `count` integers as an attribute; unit if all entries are the default.
fn attr_unless_all(list: Ints, default: i64, count: usize) -> Option<Attr> {
    (list.len() == count).then_some(())?;
    Some(if list.iter().any(|&n| n != default) { Attr::Ints(list) } else { Attr::Unit })
}

fn read_iota(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
    let axis = Int(cx.int(&["iota_dimension", "dim"])?);
    let ty = ResultType(cx.declared_result_type()?.clone());
    cx.emit_op(Iota { axis, ty })
}

fn read_transpose(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
    let [input] = cx.operands()?;
    let perm = Axes(cx.ints(&["permutation", "dims"])?);
    cx.emit_op(Transpose { input, perm })
}

fn read_broadcast_in_dim(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
    let [input] = cx.operands()?;
    let dims = Axes(cx.ints(&["broadcast_dimensions", "dims"])?);
    let ty = ResultType(cx.declared_result_type()?.clone());
    cx.emit_op(BroadcastInDim { input, dims, ty })
}

fn read_broadcast(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
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
    let ty = ResultType(result.clone().into());
    cx.emit_op(BroadcastInDim { input, dims, ty })
}

fn read_slice(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
    let [input] = cx.operands()?;
    if let Some(ranges) = cx.op.ranges.take() {
        for name in ["start_indices", "limit_indices", "strides"] {
            cx.forbid_attr(&[name], cx.op.ranges_text);
        }
        let part = |i: usize| ranges.iter().map(|r| r[i]).collect::<Axes>();
        let strides = ranges.iter().any(|r| r[2] != 1).then(|| part(2));
        return cx.emit_op(Slice { input, starts: part(0), limits: part(1), strides });
    }
    let starts = Axes(cx.ints(&["start_indices"])?);
    let limits = Axes(cx.ints(&["limit_indices"])?);
    let strides = cx.required_ints_unless(&["strides"], 1, starts.len())?;
    cx.emit_op(Slice { input, starts, limits, strides })
}

fn read_concat(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
    let inputs: Values = cx.op.operands.iter().copied().collect();
    let axis = Int(cx.int(&["dimension", "dim"])?);
    cx.emit_op(Concat { inputs, axis })
}

fn read_pad(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
    let [input, value] = cx.operands()?;
    let low = Axes(cx.ints(&["edge_padding_low", "low"])?);
    let high = Axes(cx.ints(&["edge_padding_high", "high"])?);
    let interior = cx.required_ints_unless(&["interior_padding", "interior"], 0, low.len())?;
    cx.emit_op(Pad { input, value, low, high, interior })
}

fn read_reverse(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
    let [input] = cx.operands()?;
    let axes = Axes(cx.ints(&["dimensions", "dims"])?);
    cx.emit_op(Reverse { input, axes })
}

fn read_get_dimension_size(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
    let [input] = cx.operands()?;
    let axis = Int(cx.int(&["dimension", "dim"])?);
    cx.emit_op(GetDimensionSize { input, axis })
}

// Writes `op %x : (T) -> U`.
fn write_typed(
    w: &mut TextWriter<'_>,
    inst: InstId,
    mapping: &'static OpMapping,
) -> Result<(), WriteError> {
    w.start_op(inst, mapping.name);
    w.out.push(' ');
    w.write_values(w.f.operands(inst));
    finish_line(w, inst, mapping);
    Ok(())
}

fn finish_line(w: &mut TextWriter<'_>, inst: InstId, mapping: &'static OpMapping) {
    w.write_extras(inst, mapping.name);
    w.write_function_type(inst);
    w.out.push('\n');
}

// Writes `op %x, key = [1, 0] : (T) -> U`.
fn write_with_list(
    w: &mut TextWriter<'_>,
    inst: InstId,
    mapping: &'static OpMapping,
    key: &str,
    list: &[i64],
) {
    w.start_op(inst, mapping.name);
    w.out.push(' ');
    w.write_values(w.f.operands(inst));
    let _ = write!(w.out, ", {key} = ");
    w.write_int_list(list);
    finish_line(w, inst, mapping);
}

fn write_iota(
    w: &mut TextWriter<'_>,
    inst: InstId,
    mapping: &'static OpMapping,
) -> Result<(), WriteError> {
    let Some(op) = w.f.view::<Iota>(inst) else { return Err(unwritable(w, inst, "malformed")) };
    w.start_op(inst, mapping.name);
    let _ = write!(w.out, " dim = {}", op.axis.0);
    w.write_extras(inst, mapping.name);
    w.out.push_str(" : ");
    crate::types::write(&mut w.out, &op.ty.0);
    w.out.push('\n');
    Ok(())
}

fn write_transpose(
    w: &mut TextWriter<'_>,
    inst: InstId,
    mapping: &'static OpMapping,
) -> Result<(), WriteError> {
    let Some(op) = w.f.view::<Transpose>(inst) else {
        return Err(unwritable(w, inst, "malformed"));
    };
    write_with_list(w, inst, mapping, "dims", &op.perm);
    Ok(())
}

fn write_broadcast_in_dim(
    w: &mut TextWriter<'_>,
    inst: InstId,
    mapping: &'static OpMapping,
) -> Result<(), WriteError> {
    let Some(op) = w.f.view::<BroadcastInDim>(inst) else {
        return Err(unwritable(w, inst, "malformed"));
    };
    write_with_list(w, inst, mapping, "dims", &op.dims);
    Ok(())
}

// Writes a reshape. One that only adds axes of extent one for a broadcast is written as part of that broadcast.
fn write_reshape(
    w: &mut TextWriter<'_>,
    inst: InstId,
    mapping: &'static OpMapping,
) -> Result<(), WriteError> {
    if let Some(result) = w.f.value_of(inst)
        && w.f.one_use(result)
        && let Some(user) = w.f.users_of(result).first()
        && w.f.is::<BroadcastTo>(*user)
        && as_unit_axes_reshape(w.f, result).is_some()
    {
        return Ok(());
    }
    write_typed(w, inst, mapping)
}

// Returns the operand of a reshape that only adds axes of extent one, and the axes of the result that come from the operand.
fn as_unit_axes_reshape(f: &Function, value: ValueId) -> Option<(ValueId, Axes)> {
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
fn write_broadcast_to(
    w: &mut TextWriter<'_>,
    inst: InstId,
    mapping: &'static OpMapping,
) -> Result<(), WriteError> {
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

fn write_slice(
    w: &mut TextWriter<'_>,
    inst: InstId,
    mapping: &'static OpMapping,
) -> Result<(), WriteError> {
    let Some(op) = w.f.view::<Slice>(inst) else { return Err(unwritable(w, inst, "malformed")) };
    w.start_op(inst, mapping.name);
    w.out.push(' ');
    w.write_value(op.input);
    w.out.push_str(" [");
    for (i, (start, limit)) in op.starts.iter().zip(op.limits.iter()).enumerate() {
        if i > 0 {
            w.out.push_str(", ");
        }
        let _ = write!(w.out, "{start}:{limit}");
        if let Some(stride) = op.strides.as_ref().and_then(|s| s.get(i)).filter(|&&s| s != 1) {
            let _ = write!(w.out, ":{stride}");
        }
    }
    w.out.push(']');
    finish_line(w, inst, mapping);
    Ok(())
}

fn write_concat(
    w: &mut TextWriter<'_>,
    inst: InstId,
    mapping: &'static OpMapping,
) -> Result<(), WriteError> {
    let Some(op) = w.f.view::<Concat>(inst) else { return Err(unwritable(w, inst, "malformed")) };
    w.start_op(inst, mapping.name);
    w.out.push(' ');
    w.write_values(&op.inputs);
    let _ = write!(w.out, ", dim = {}", op.axis.0);
    finish_line(w, inst, mapping);
    Ok(())
}

fn write_pad(
    w: &mut TextWriter<'_>,
    inst: InstId,
    mapping: &'static OpMapping,
) -> Result<(), WriteError> {
    let Some(op) = w.f.view::<Pad>(inst) else { return Err(unwritable(w, inst, "malformed")) };
    w.start_op(inst, mapping.name);
    w.out.push(' ');
    w.write_values(&[op.input, op.value]);
    let interior = op.interior.clone().unwrap_or_else(|| op.low.iter().map(|_| 0i64).collect());
    for (key, list) in [("low", &op.low), ("high", &op.high), ("interior", &interior)] {
        let _ = write!(w.out, ", {key} = ");
        w.write_int_list(list);
    }
    finish_line(w, inst, mapping);
    Ok(())
}

fn write_reverse(
    w: &mut TextWriter<'_>,
    inst: InstId,
    mapping: &'static OpMapping,
) -> Result<(), WriteError> {
    let Some(op) = w.f.view::<Reverse>(inst) else { return Err(unwritable(w, inst, "malformed")) };
    w.start_op(inst, mapping.name);
    w.out.push(' ');
    w.write_value(op.input);
    w.out.push_str(", dims = ");
    w.write_int_list(&op.axes);
    w.write_extras(inst, mapping.name);
    w.out.push_str(" : ");
    w.write_type_of(op.input);
    w.out.push('\n');
    Ok(())
}

fn write_get_dimension_size(
    w: &mut TextWriter<'_>,
    inst: InstId,
    mapping: &'static OpMapping,
) -> Result<(), WriteError> {
    let Some(op) = w.f.view::<GetDimensionSize>(inst) else {
        return Err(unwritable(w, inst, "malformed"));
    };
    w.start_op(inst, mapping.name);
    w.out.push(' ');
    w.write_value(op.input);
    let _ = write!(w.out, ", dim = {}", op.axis.0);
    finish_line(w, inst, mapping);
    Ok(())
}
