//! Reductions, sorting and top-k.

use std::fmt::Write as _;

use sapwood_ptir::ops::{ArgMax, ArgMin, CompareOrder, Reduce, Sort, Yield};
use sapwood_ptir::{
    Attr, AttrField as _, BodyId, FunctionWriter, Int, Op as _, OpKey, TensorLiteral, TensorType,
    Values,
};
use sapwood_types::{DataType, Span};

use super::form::Part::{
    Close, Fixed, Int as IntPart, Open, Operands, OptionalBool, Reduction, Types,
};
use super::form::TypeSyntax::{Arrow, Generic};
use super::{OpConverter, OpMapping, PrintedOp, ResultValues, Silent, WriteResult, by_name, row};
use crate::read::FastOpReader;
use crate::types;
use crate::write::{TextWriter, unwritable};

pub(super) const MAPPINGS: &[OpMapping] = &[
    row("stablehlo.reduce", "reduce", &[Reduction])
        .silent(Silent::By(read_reduce_silently))
        .print(print_reduce),
    named_reduction("reduce_sum"),
    named_reduction("reduce_prod"),
    named_reduction("reduce_max"),
    named_reduction("reduce_min"),
    named_reduction("reduce_and"),
    named_reduction("reduce_or"),
    named_reduction("reduce_xor"),
    row("stablehlo.reduce", "arg_max", &[Reduction]).print(print_arg_reduction),
    row("stablehlo.reduce", "arg_min", &[Reduction]).print(print_arg_reduction),
    row(
        "stablehlo.sort",
        "sort",
        &[
            Operands,
            IntPart("dimension", "dimension"),
            OptionalBool("is_stable", "is_stable"),
            Types(Generic),
        ],
    )
    .build(build_sort),
    row(
        "chlo.top_k",
        "top_k",
        &[
            Open,
            Operands,
            IntPart("k", "k"),
            Close,
            Fixed(|| CompareOrder::Total.to_attr()),
            Types(Arrow),
        ],
    ),
];

const fn named_reduction(ptir: &'static str) -> OpMapping {
    row("stablehlo.reduce", ptir, &[Reduction]).print(print_named_reduction)
}

/// The ops that `applies` may name, with their PTIR ops and named reductions.
const COMBINERS: [(&str, &str, &str); 7] = [
    ("stablehlo.add", "add", "reduce_sum"),
    ("stablehlo.multiply", "mul", "reduce_prod"),
    ("stablehlo.maximum", "max", "reduce_max"),
    ("stablehlo.minimum", "min", "reduce_min"),
    ("stablehlo.and", "and", "reduce_and"),
    ("stablehlo.or", "or", "reduce_or"),
    ("stablehlo.xor", "xor", "reduce_xor"),
];

/// Creates a region with one op on two scalars: `applies stablehlo.add`.
pub(crate) fn combiner_region(
    writer: &mut FunctionWriter,
    name: &str,
    dtype: DataType,
    span: Span,
) -> Result<BodyId, String> {
    let Some((_, key)) = by_name(name) else {
        return Err(format!("`{name}` is not known"));
    };
    let region = writer.new_body();
    let scalar = TensorType::scalar(dtype).into();
    let operands = [writer.param(region, &scalar), writer.param(region, &scalar)];
    let ty = writer.intern_type(&scalar);
    let none = writer.intern_attrs(&[]);
    let end = (Yield::key(), none);
    if let Some(inst) = writer.append_typed(region, (key, none), &operands, &[], &[ty], span)
        && let Some(value) = writer.function().value_of(inst)
        && writer.append_typed(region, end, &[value], &[], &[], span).is_some()
    {
        return Ok(region);
    }
    let mut parts = sapwood_ptir::OpParts::new(key);
    parts.operands = operands.into_iter().collect();
    let inst = writer.append(region, &parts, span).map_err(|e| format!("{name}: {e}"))?;
    let values: Values = writer.function().inst_results(inst).collect();
    let end = Yield { values }.into_parts();
    writer.append(region, &end, span).map_err(|e| e.to_string())?;
    Ok(region)
}

// Reads `(%x init: %i) applies stablehlo.add across dimensions = [0] : (T, U) -> V`.
fn read_reduce_silently(cx: &mut FastOpReader<'_, '_>) -> Option<()> {
    cx.cursor().eat(b'(').then_some(())?;
    cx.read_operand()?;
    (cx.cursor().eat_word("init") && cx.cursor().eat(b':')).then_some(())?;
    cx.read_operand()?;
    (cx.cursor().eat(b')') && cx.cursor().eat_word("applies")).then_some(())?;
    cx.cursor().skip_space();
    let at = cx.cursor().at;
    let name = cx.cursor().word()?;
    cx.cursor().eat_word("across").then_some(())?;
    let axes = cx.read_last_int_list("dimensions")?;
    cx.read_function_type()?;
    cx.append_with_combiner(name, at, &[Attr::Ints(axes)])
}

fn build_sort(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
    let inputs: Values = cx.op.operands.iter().copied().collect();
    let [comparator] = cx.regions()?;
    let mut axis = cx.int_or(&["dimension"], -1)?;
    if axis < 0 {
        let first = cx.operand(0)?;
        axis += cx.tensor_type(first)?.rank() as i64;
    }
    let stable = cx.bool_or(&["is_stable"], false)?;
    cx.emit(&Sort { inputs, comparator, axis: Int(axis), stable }.into_parts())
}

// Returns the op of a region that applies one op to accumulator and element, in this order.
fn combiner_op(w: &TextWriter<'_>, body: BodyId) -> Option<&'static str> {
    let (key, inst) = w.single_op(body)?;
    let params = w.f.body_params(body);
    (params.len() == 2 && w.f.operands(inst) == params).then_some(())?;
    COMBINERS.iter().find(|(_, ptir, _)| OpKey::of(ptir) == key).map(|(name, ..)| *name)
}

fn print_reduce(w: &mut TextWriter<'_>, (inst, mapping): PrintedOp) -> WriteResult {
    let op = w.view::<Reduce>(inst)?;
    w.start_op(inst, mapping.name);
    for (i, (&input, &init)) in op.inputs.iter().zip(&op.inits).enumerate() {
        w.out.push_str(if i > 0 { ", (" } else { "(" });
        w.write_value(input);
        w.out.push_str(" init: ");
        w.write_value(init);
        w.out.push(')');
    }
    let applied = combiner_op(w, op.body).filter(|_| op.inputs.len() == 1);
    if let Some(name) = applied {
        let _ = write!(w.out, " applies {name}");
    }
    w.out.push_str(" across dimensions = ");
    w.write_int_list(&op.axes);
    w.write_extras(inst, mapping.name);
    w.write_function_type(inst);
    w.out.push('\n');
    if applied.is_some() {
        return Ok(());
    }
    w.write_indent();
    w.out.push_str(" reducer");
    let params = w.f.body_params(op.body);
    let count = op.inputs.len();
    for i in 0..count {
        w.out.push_str(if i > 0 { " (" } else { "(" });
        for (n, at) in [i, i + count].into_iter().enumerate() {
            if n > 0 {
                w.out.push_str(", ");
            }
            w.name_value(params[at]);
            w.write_value(params[at]);
            w.out.push_str(": ");
            w.write_type_of(params[at]);
        }
        w.out.push(')');
    }
    w.out.push(' ');
    w.queue_region_without_params(op.body);
    w.queue_text("\n");
    Ok(())
}

// Returns the identity element of a named reduction.
fn identity_literal(name: &str, dtype: DataType) -> Option<TensorLiteral> {
    let number = |x: f64| TensorLiteral::filled(dtype, &[], x).ok();
    let bits = |byte: u8| TensorLiteral::splat(dtype, &[], &vec![byte; dtype.byte_size()]).ok();
    let range = |lowest: bool| {
        if dtype.is_bool() {
            return number(f64::from(u8::from(!lowest)));
        }
        match dtype.integer_range() {
            Some((min, max)) => {
                let n = if lowest { min } else { max };
                let bytes = n.to_le_bytes();
                TensorLiteral::splat(dtype, &[], &bytes[..dtype.byte_size()]).ok()
            }
            None => number(if lowest { f64::NEG_INFINITY } else { f64::INFINITY }),
        }
    };
    match name {
        "reduce_sum" | "reduce_or" | "reduce_xor" => number(0.0),
        "reduce_prod" => number(1.0),
        "reduce_max" => range(true),
        "reduce_min" => range(false),
        "reduce_and" if dtype.is_bool() => number(1.0),
        "reduce_and" => bits(0xff),
        _ => None,
    }
}

// Returns the text of a tensor type.
fn tensor_type_text(ty: &TensorType) -> String {
    let mut out = String::new();
    types::write_tensor(&mut out, ty);
    out
}

// Writes a line `%n = …` with a new name, and returns the name.
fn write_named_line(w: &mut TextWriter<'_>, text: &str) -> String {
    let name = w.fresh_name();
    w.write_indent();
    let _ = writeln!(w.out, "{name} = {text}");
    name
}

fn write_constant_line(w: &mut TextWriter<'_>, literal: &TensorLiteral) -> String {
    let mut text = String::from("stablehlo.constant ");
    crate::literal::write(&mut text, literal);
    let _ = write!(text, " : {}", tensor_type_text(&literal.ty()));
    write_named_line(w, &text)
}

// Writes a named reduction in steps: cast to the accumulation type, reduce, cast back, add the kept axes.
fn print_named_reduction(w: &mut TextWriter<'_>, (inst, _): PrintedOp) -> WriteResult {
    let name = w.f.op_name(inst);
    let (Some(&input), Some(result)) = (w.f.operands(inst).first(), w.f.value_of(inst)) else {
        return Err(unwritable(w, inst, "malformed"));
    };
    let (Some(from), Some(to)) =
        (w.f.value_type(input).as_tensor(), w.f.value_type(result).as_tensor())
    else {
        return Err(unwritable(w, inst, "malformed"));
    };
    let axes = w.f.attr(inst, "axes").and_then(Attr::as_ints).unwrap_or(&[]);
    let keepdims = w.f.attr(inst, "keepdims") == Some(&Attr::Bool(true));
    let narrow = from.dtype.is_float() && from.dtype.bit_width() < 32;
    let sums = matches!(name, "reduce_sum" | "reduce_prod");
    let dtype = match w.f.attr(inst, "accumulate") {
        Some(Attr::Type(dtype)) => *dtype,
        _ if narrow && sums => DataType::F32,
        _ => from.dtype,
    };
    let Some(init) = identity_literal(name, dtype) else {
        return Err(unwritable(w, inst, format!("{dtype} has no identity element for it")));
    };
    let Some((applied, ..)) = COMBINERS.iter().find(|(_, _, n)| *n == name) else {
        return Err(unwritable(w, inst, "it is not known"));
    };
    let mut value = w.name_of(input);
    let wide = from.with_dtype(dtype);
    if dtype != from.dtype {
        let text = format!(
            "stablehlo.convert {value} : ({}) -> {}",
            tensor_type_text(from),
            tensor_type_text(&wide)
        );
        value = write_named_line(w, &text);
    }
    let init = write_constant_line(w, &init);
    let kept = (0..from.rank()).filter(|&a| !axes.contains(&(a as i64)));
    let reduced = TensorType { dtype, dims: kept.map(|a| from.dims[a]).collect() };
    let scalar = tensor_type_text(&TensorType::scalar(dtype));
    let mut text =
        format!("stablehlo.reduce({value} init: {init}) applies {applied} across dimensions = ");
    crate::write::write_list(&mut text, axes);
    let _ = write!(
        text,
        " : ({}, {scalar}) -> {}",
        tensor_type_text(&wide),
        tensor_type_text(&reduced)
    );
    let back = reduced.with_dtype(from.dtype);
    let last = |w: &mut TextWriter<'_>, text: &str, more: bool| {
        if more {
            return write_named_line(w, text);
        }
        w.start_line(inst);
        w.out.push_str(text);
        w.out.push('\n');
        String::new()
    };
    let convert = dtype != from.dtype;
    value = last(w, &text, convert || keepdims);
    if convert {
        let text = format!(
            "stablehlo.convert {value} : ({}) -> {}",
            tensor_type_text(&reduced),
            tensor_type_text(&back)
        );
        value = last(w, &text, keepdims);
    }
    if keepdims {
        let text = format!(
            "stablehlo.reshape {value} : ({}) -> {}",
            tensor_type_text(&back),
            tensor_type_text(to)
        );
        last(w, &text, false);
    }
    Ok(())
}

// Writes a reduction of elements and indices together: NaN wins, then the larger element, then the smaller index.
fn print_arg_reduction(w: &mut TextWriter<'_>, (inst, _): PrintedOp) -> WriteResult {
    let (input, axis, index, keepdims, largest) =
        match (w.f.view::<ArgMax>(inst), w.f.view::<ArgMin>(inst)) {
            (Some(op), _) if w.f.op_name(inst) == "arg_max" => {
                (op.input, op.axis, op.index, op.keepdims, true)
            }
            (_, Some(op)) => (op.input, op.axis, op.index, op.keepdims, false),
            _ => return Err(unwritable(w, inst, "malformed")),
        };
    let Some(from) = w.f.value_type(input).as_tensor().cloned() else {
        return Err(unwritable(w, inst, "malformed"));
    };
    let name = if largest { "reduce_max" } else { "reduce_min" };
    let (Some(worst), Ok(zero)) =
        (identity_literal(name, from.dtype), TensorLiteral::filled(index, &[], 0.0))
    else {
        return Err(unwritable(w, inst, "its element type has no identity element"));
    };
    let indices = from.with_dtype(index);
    let iota = write_named_line(
        w,
        &format!("stablehlo.iota dim = {} : {}", axis.0, tensor_type_text(&indices)),
    );
    let (worst, zero) = (write_constant_line(w, &worst), write_constant_line(w, &zero));
    let pair = w.fresh_name();
    let (e, i) = (
        tensor_type_text(&TensorType::scalar(from.dtype)),
        tensor_type_text(&TensorType::scalar(index)),
    );
    let (e, i, b) = (e.as_str(), i.as_str(), "tensor<i1>");
    let mut kept = from.clone();
    kept.dims.remove(axis.0 as usize);
    let (kept, kept_index) = (tensor_type_text(&kept), tensor_type_text(&kept.with_dtype(index)));
    w.write_indent();
    let _ = writeln!(
        w.out,
        "{pair}:2 = stablehlo.reduce({} init: {worst}), ({iota} init: {zero}) across dimensions = [{}] : ({}, {}, {e}, {i}) -> ({kept}, {kept_index})",
        w.name_of(input),
        axis.0,
        tensor_type_text(&from),
        tensor_type_text(&indices)
    );
    let pad = " ".repeat(w.indentation());
    let names: Vec<String> = (0..12).map(|_| w.fresh_name()).collect();
    let n = |k: usize| names[k].as_str();
    let kind = if from.dtype.is_float() {
        "FLOAT"
    } else if from.dtype.integer_range().is_some_and(|(min, _)| min < 0) {
        "SIGNED"
    } else {
        "UNSIGNED"
    };
    let signed =
        if index.integer_range().is_some_and(|(min, _)| min < 0) { "SIGNED" } else { "UNSIGNED" };
    let direction = if largest { "GT" } else { "LT" };
    let body = [
        format!(
            "{} = stablehlo.compare {direction}, {}, {}, {kind} : ({e}, {e}) -> {b}",
            n(4),
            n(0),
            n(2)
        ),
        format!("{} = stablehlo.compare NE, {}, {}, {kind} : ({e}, {e}) -> {b}", n(5), n(0), n(0)),
        format!("{} = stablehlo.or {}, {} : {b}", n(6), n(4), n(5)),
        format!("{} = stablehlo.compare EQ, {}, {}, {kind} : ({e}, {e}) -> {b}", n(7), n(0), n(2)),
        format!(
            "{} = stablehlo.compare LT, {}, {}, {signed} : ({i}, {i}) -> {b}",
            n(8),
            n(1),
            n(3)
        ),
        format!("{} = stablehlo.and {}, {} : {b}", n(9), n(7), n(8)),
        format!("{} = stablehlo.or {}, {} : {b}", n(10), n(6), n(9)),
        format!("{} = stablehlo.select {}, {}, {} : {b}, {e}", n(11), n(6), n(0), n(2)),
    ];
    let _ = writeln!(
        w.out,
        "{pad} reducer({}: {e}, {}: {e}) ({}: {i}, {}: {i}) {{",
        n(0),
        n(2),
        n(1),
        n(3)
    );
    for text in body {
        let _ = writeln!(w.out, "{pad}  {text}");
    }
    let chosen = w.fresh_name();
    let _ = writeln!(
        w.out,
        "{pad}  {chosen} = stablehlo.select {}, {}, {} : {b}, {i}",
        n(10),
        n(1),
        n(3)
    );
    let _ = writeln!(w.out, "{pad}  stablehlo.return {}, {chosen} : {e}, {i}", n(11));
    let _ = writeln!(w.out, "{pad}}}");
    w.start_line(inst);
    let result = w.f.value_of(inst).map(|v| types::to_text(w.f.value_type(v))).unwrap_or_default();
    let _ = writeln!(w.out, "stablehlo.reshape {pair}#1 : ({kept_index}) -> {result}");
    let _ = keepdims;
    Ok(())
}
