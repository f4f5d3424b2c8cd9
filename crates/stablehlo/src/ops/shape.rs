//! Ops that move elements.

use std::fmt::Write as _;

use sapwood_ptir::ops::{
    BroadcastInDim, BroadcastTo, Concat, Constant, GetDimensionSize, Iota, Pad, Reshape, Reverse,
    Slice, Transpose,
};
use sapwood_ptir::{
    Attr, Axes, Dim, Function, InstId, Int, Ints, Op as _, ResultType, TensorType, ValueId, Values,
};

use super::elementwise::direct_typed;
use super::{Convert, Made, Row};
use crate::read::Direct;
use crate::write::{WriteError, Writer, refuse};

pub(super) const ROWS: &[Row] = &[
    Row::new("stablehlo.reshape", "reshape", read_typed, write_reshape).direct(direct_typed),
    Row::new("stablehlo.bitcast_convert", "bitcast", read_typed, write_typed).direct(direct_typed),
    Row::new("stablehlo.iota", "iota", read_iota, write_iota).direct(direct_iota),
    Row::new("stablehlo.transpose", "transpose", read_transpose, write_transpose)
        .direct(direct_transpose),
    Row::new("stablehlo.broadcast_in_dim", "broadcast_in_dim", read_in_dim, write_in_dim)
        .direct(direct_in_dim),
    Row::new("stablehlo.broadcast_in_dim", "broadcast_to", read_in_dim, write_broadcast_to),
    Row::new("stablehlo.slice", "slice", read_slice, write_slice).direct(direct_slice),
    Row::new("stablehlo.concatenate", "concat", read_concat, write_concat).direct(direct_concat),
    Row::new("stablehlo.pad", "pad", read_pad, write_pad).direct(direct_pad),
    Row::new("stablehlo.reverse", "reverse", read_reverse, write_reverse).direct(direct_transpose),
    Row::new("stablehlo.get_dimension_size", "get_dimension_size", read_size, write_size),
    Row::read_only("stablehlo.constant", read_constant).direct(direct_constant),
    Row::read_only("arith.constant", read_constant),
    Row::read_only("chlo.constant", read_constant),
    Row::read_only("stablehlo.broadcast", read_broadcast),
];

// The op of the row, whose result type says all.
fn read_typed(cx: &mut Convert<'_, '_>) -> Result<Made, String> {
    let ty = cx.result()?.clone();
    cx.same(&[Attr::Unit], vec![ty])
}

fn read_constant(cx: &mut Convert<'_, '_>) -> Result<Made, String> {
    let Some(crate::attr::Attribute::Dense(literal)) = cx.attr(&["value"]) else {
        return Err("attribute `value` must be a literal".into());
    };
    let value = literal.clone();
    cx.one(Constant { value })
}

// `dense<1.0> : T`.
fn direct_constant(cx: &mut Direct<'_, '_>) -> Option<()> {
    cx.key = Constant::key();
    let literal = cx.literal()?;
    cx.append_interned(literal)
}

// `dim = 1 : T`.
fn direct_iota(cx: &mut Direct<'_, '_>) -> Option<()> {
    let axis = cx.int("dim")?;
    cx.types()?;
    cx.append([Attr::Int(axis), Attr::Unit])
}

// `%x, dims = [1, 0] : (T) -> U`.
fn direct_transpose(cx: &mut Direct<'_, '_>) -> Option<()> {
    cx.values()?;
    let perm = cx.list("dims")?;
    cx.types()?;
    cx.append([Attr::Ints(perm)])
}

// The same with a result type that is needed.
fn direct_in_dim(cx: &mut Direct<'_, '_>) -> Option<()> {
    cx.values()?;
    let dims = cx.list("dims")?;
    cx.types()?;
    cx.append([Attr::Ints(dims), Attr::Unit])
}

// `%x [0:4, 1:8:2] : (T) -> U`.
fn direct_slice(cx: &mut Direct<'_, '_>) -> Option<()> {
    cx.values()?;
    let (mut starts, mut limits, mut strides) = (Ints::new(), Ints::new(), Ints::new());
    let c = cx.c();
    c.eat(b'[').then_some(())?;
    while !c.eat(b']') {
        (starts.is_empty() || c.eat(b',')).then_some(())?;
        starts.push(c.integer()?);
        c.eat(b':').then_some(())?;
        limits.push(c.integer()?);
        strides.push(if c.eat(b':') { c.integer()? } else { 1 });
    }
    cx.types()?;
    let strides = unless_all(strides, 1, starts.len())?;
    cx.append([Attr::Ints(starts), Attr::Ints(limits), strides])
}

// `%a, %b, dim = 0 : (T, T) -> U`.
fn direct_concat(cx: &mut Direct<'_, '_>) -> Option<()> {
    cx.values()?;
    let axis = cx.int("dim")?;
    cx.types()?;
    cx.append([Attr::Int(axis)])
}

// `%x, %v, low = [0], high = [1], interior = [0] : (T, U) -> V`.
fn direct_pad(cx: &mut Direct<'_, '_>) -> Option<()> {
    cx.values()?;
    let (low, high, interior) = (cx.list("low")?, cx.list("high")?, cx.list("interior")?);
    cx.types()?;
    let interior = unless_all(interior, 0, low.len())?;
    cx.append([Attr::Ints(low), Attr::Ints(high), interior])
}

// A list of so many that is left out if all its entries are the usual one.
fn unless_all(list: Ints, usual: i64, count: usize) -> Option<Attr> {
    (list.len() == count).then_some(())?;
    Some(if list.iter().any(|&n| n != usual) { Attr::Ints(list) } else { Attr::Unit })
}

fn read_iota(cx: &mut Convert<'_, '_>) -> Result<Made, String> {
    let axis = Int(cx.int(&["iota_dimension", "dim"])?);
    let ty = ResultType(cx.result()?.clone());
    cx.one(Iota { axis, ty })
}

fn read_transpose(cx: &mut Convert<'_, '_>) -> Result<Made, String> {
    let [input] = cx.operands()?;
    let perm = Axes(cx.ints(&["permutation", "dims"])?);
    cx.one(Transpose { input, perm })
}

fn read_in_dim(cx: &mut Convert<'_, '_>) -> Result<Made, String> {
    let [input] = cx.operands()?;
    let dims = Axes(cx.ints(&["broadcast_dimensions", "dims"])?);
    let ty = ResultType(cx.result()?.clone());
    cx.one(BroadcastInDim { input, dims, ty })
}

fn read_broadcast(cx: &mut Convert<'_, '_>) -> Result<Made, String> {
    let [input] = cx.operands()?;
    let sizes = cx.ints(&["broadcast_sizes", "sizes"])?;
    let rank = cx.tensor(input)?.rank();
    let dims: Axes = (sizes.len()..sizes.len() + rank).collect();
    let result = cx.result_tensor()?;
    let extents = result.dims.iter().zip(&sizes);
    let mut wrong =
        extents.filter(|(dim, n)| dim.known().is_some_and(|d| Ok(d) != u64::try_from(**n)));
    if let Some((dim, n)) = wrong.next() {
        return Err(format!("`sizes` has {n} where the result has {dim}"));
    }
    let ty = ResultType(result.clone().into());
    cx.one(BroadcastInDim { input, dims, ty })
}

fn read_slice(cx: &mut Convert<'_, '_>) -> Result<Made, String> {
    let [input] = cx.operands()?;
    if let Some(ranges) = cx.op.ranges.take() {
        for name in ["start_indices", "limit_indices", "strides"] {
            cx.instead_of(&[name], cx.op.ranges_text);
        }
        let part = |i: usize| ranges.iter().map(|r| r[i]).collect::<Axes>();
        let strides = ranges.iter().any(|r| r[2] != 1).then(|| part(2));
        return cx.one(Slice { input, starts: part(0), limits: part(1), strides });
    }
    let starts = Axes(cx.ints(&["start_indices"])?);
    let limits = Axes(cx.ints(&["limit_indices"])?);
    let strides = cx.given_ints(&["strides"], 1, starts.len())?;
    cx.one(Slice { input, starts, limits, strides })
}

fn read_concat(cx: &mut Convert<'_, '_>) -> Result<Made, String> {
    let inputs: Values = cx.op.operands.iter().copied().collect();
    let axis = Int(cx.int(&["dimension", "dim"])?);
    cx.one(Concat { inputs, axis })
}

fn read_pad(cx: &mut Convert<'_, '_>) -> Result<Made, String> {
    let [input, value] = cx.operands()?;
    let low = Axes(cx.ints(&["edge_padding_low", "low"])?);
    let high = Axes(cx.ints(&["edge_padding_high", "high"])?);
    let interior = cx.given_ints(&["interior_padding", "interior"], 0, low.len())?;
    cx.one(Pad { input, value, low, high, interior })
}

fn read_reverse(cx: &mut Convert<'_, '_>) -> Result<Made, String> {
    let [input] = cx.operands()?;
    let axes = Axes(cx.ints(&["dimensions", "dims"])?);
    cx.one(Reverse { input, axes })
}

fn read_size(cx: &mut Convert<'_, '_>) -> Result<Made, String> {
    let [input] = cx.operands()?;
    let axis = Int(cx.int(&["dimension", "dim"])?);
    cx.one(GetDimensionSize { input, axis })
}

// `op %x : (T) -> U`.
fn write_typed(w: &mut Writer<'_>, inst: InstId, row: &'static Row) -> Result<(), WriteError> {
    w.start(inst, row.name);
    w.out.push(' ');
    w.values(w.f.operands(inst));
    finish(w, inst, row);
    Ok(())
}

fn finish(w: &mut Writer<'_>, inst: InstId, row: &'static Row) {
    w.extras(inst, row.name);
    w.function_type(inst);
    w.out.push('\n');
}

// `op %x, key = [1, 0] : (T) -> U`.
fn with_list(w: &mut Writer<'_>, inst: InstId, row: &'static Row, key: &str, list: &[i64]) {
    w.start(inst, row.name);
    w.out.push(' ');
    w.values(w.f.operands(inst));
    let _ = write!(w.out, ", {key} = ");
    w.list(list);
    finish(w, inst, row);
}

fn write_iota(w: &mut Writer<'_>, inst: InstId, row: &'static Row) -> Result<(), WriteError> {
    let Some(op) = w.f.view::<Iota>(inst) else { return Err(refuse(w, inst, "malformed")) };
    w.start(inst, row.name);
    let _ = write!(w.out, " dim = {}", op.axis.0);
    w.extras(inst, row.name);
    w.out.push_str(" : ");
    crate::types::write(&mut w.out, &op.ty.0);
    w.out.push('\n');
    Ok(())
}

fn write_transpose(w: &mut Writer<'_>, inst: InstId, row: &'static Row) -> Result<(), WriteError> {
    let Some(op) = w.f.view::<Transpose>(inst) else { return Err(refuse(w, inst, "malformed")) };
    with_list(w, inst, row, "dims", &op.perm);
    Ok(())
}

fn write_in_dim(w: &mut Writer<'_>, inst: InstId, row: &'static Row) -> Result<(), WriteError> {
    let Some(op) = w.f.view::<BroadcastInDim>(inst) else {
        return Err(refuse(w, inst, "malformed"));
    };
    with_list(w, inst, row, "dims", &op.dims);
    Ok(())
}

// A reshape that only adds axes of extent one for a broadcast is part of that broadcast.
fn write_reshape(w: &mut Writer<'_>, inst: InstId, row: &'static Row) -> Result<(), WriteError> {
    if let Some(result) = w.f.value_of(inst)
        && w.f.one_use(result)
        && let Some(user) = w.f.users_of(result).first()
        && w.f.is::<BroadcastTo>(*user)
        && widened(w.f, result).is_some()
    {
        return Ok(());
    }
    write_typed(w, inst, row)
}

// The operand of a reshape that only adds axes of extent one, and which axes of its result are those of the operand.
fn widened(f: &Function, value: ValueId) -> Option<(ValueId, Axes)> {
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

// Axes are aligned at the right.
fn write_broadcast_to(
    w: &mut Writer<'_>,
    inst: InstId,
    row: &'static Row,
) -> Result<(), WriteError> {
    let rank = |v| w.f.value_type(v).as_tensor().map_or(0, TensorType::rank);
    let Some(&input) = w.f.operands(inst).first() else { return Err(refuse(w, inst, "malformed")) };
    let (from, to) = (rank(input), w.f.value_of(inst).map_or(0, rank));
    let new = to.saturating_sub(from);
    let wider = w.f.one_use(input).then(|| widened(w.f, input)).flatten();
    let (source, dims) = match wider {
        Some((source, axes)) => (source, axes.iter().map(|a| a + new as i64).collect()),
        None => (input, (new..to).collect::<Axes>()),
    };
    w.start(inst, row.name);
    w.out.push(' ');
    w.value(source);
    w.out.push_str(", dims = ");
    w.list(&dims);
    w.extras(inst, row.name);
    w.out.push_str(" : (");
    w.ty(source);
    w.out.push_str(") -> ");
    if let Some(result) = w.f.value_of(inst) {
        w.ty(result);
    }
    w.out.push('\n');
    Ok(())
}

fn write_slice(w: &mut Writer<'_>, inst: InstId, row: &'static Row) -> Result<(), WriteError> {
    let Some(op) = w.f.view::<Slice>(inst) else { return Err(refuse(w, inst, "malformed")) };
    w.start(inst, row.name);
    w.out.push(' ');
    w.value(op.input);
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
    finish(w, inst, row);
    Ok(())
}

fn write_concat(w: &mut Writer<'_>, inst: InstId, row: &'static Row) -> Result<(), WriteError> {
    let Some(op) = w.f.view::<Concat>(inst) else { return Err(refuse(w, inst, "malformed")) };
    w.start(inst, row.name);
    w.out.push(' ');
    w.values(&op.inputs);
    let _ = write!(w.out, ", dim = {}", op.axis.0);
    finish(w, inst, row);
    Ok(())
}

fn write_pad(w: &mut Writer<'_>, inst: InstId, row: &'static Row) -> Result<(), WriteError> {
    let Some(op) = w.f.view::<Pad>(inst) else { return Err(refuse(w, inst, "malformed")) };
    w.start(inst, row.name);
    w.out.push(' ');
    w.values(&[op.input, op.value]);
    let interior = op.interior.clone().unwrap_or_else(|| op.low.iter().map(|_| 0i64).collect());
    for (key, list) in [("low", &op.low), ("high", &op.high), ("interior", &interior)] {
        let _ = write!(w.out, ", {key} = ");
        w.list(list);
    }
    finish(w, inst, row);
    Ok(())
}

fn write_reverse(w: &mut Writer<'_>, inst: InstId, row: &'static Row) -> Result<(), WriteError> {
    let Some(op) = w.f.view::<Reverse>(inst) else { return Err(refuse(w, inst, "malformed")) };
    w.start(inst, row.name);
    w.out.push(' ');
    w.value(op.input);
    w.out.push_str(", dims = ");
    w.list(&op.axes);
    w.extras(inst, row.name);
    w.out.push_str(" : ");
    w.ty(op.input);
    w.out.push('\n');
    Ok(())
}

fn write_size(w: &mut Writer<'_>, inst: InstId, row: &'static Row) -> Result<(), WriteError> {
    let Some(op) = w.f.view::<GetDimensionSize>(inst) else {
        return Err(refuse(w, inst, "malformed"));
    };
    w.start(inst, row.name);
    w.out.push(' ');
    w.value(op.input);
    let _ = write!(w.out, ", dim = {}", op.axis.0);
    finish(w, inst, row);
    Ok(())
}
