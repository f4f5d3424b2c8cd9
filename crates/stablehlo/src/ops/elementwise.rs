//! Elementwise ops.

use sapwood_ptir::ops::{Cast, Compare, CompareOrder, Direction, ReducePrecision, Refine};
use sapwood_ptir::{Attr, AttrField as _, InstId, Int, ResultType};
use sapwood_types::DataType;

use super::{OpConverter, OpMapping, ResultValues};
use crate::read::FastOpReader;
use crate::types;
use crate::write::{TextWriter, WriteError, unwritable};

const fn elementwise_op(name: &'static str, ptir: &'static str) -> OpMapping {
    OpMapping::new(name, ptir, read_plain, write_elementwise).fast(fast_read_plain)
}

const fn chlo_op(name: &'static str, ptir: &'static str) -> OpMapping {
    OpMapping::new(name, ptir, read_plain, write_with_arrow_types).fast(fast_read_plain)
}

pub(super) const MAPPINGS: &[OpMapping] = &[
    elementwise_op("stablehlo.negate", "neg"),
    elementwise_op("stablehlo.abs", "abs"),
    elementwise_op("stablehlo.sign", "sign"),
    elementwise_op("stablehlo.floor", "floor"),
    elementwise_op("stablehlo.ceil", "ceil"),
    elementwise_op("stablehlo.round_nearest_afz", "round_away"),
    elementwise_op("stablehlo.round_nearest_even", "round_even"),
    elementwise_op("stablehlo.exponential", "exp"),
    elementwise_op("stablehlo.exponential_minus_one", "expm1"),
    elementwise_op("stablehlo.log", "log"),
    elementwise_op("stablehlo.log_plus_one", "log1p"),
    elementwise_op("stablehlo.sqrt", "sqrt"),
    elementwise_op("stablehlo.rsqrt", "rsqrt"),
    elementwise_op("stablehlo.cbrt", "cbrt"),
    elementwise_op("stablehlo.sine", "sin"),
    elementwise_op("stablehlo.cosine", "cos"),
    elementwise_op("stablehlo.tan", "tan"),
    elementwise_op("stablehlo.tanh", "tanh"),
    elementwise_op("stablehlo.logistic", "logistic"),
    elementwise_op("stablehlo.not", "not"),
    elementwise_op("stablehlo.popcnt", "popcnt"),
    elementwise_op("stablehlo.count_leading_zeros", "clz"),
    elementwise_op("stablehlo.is_finite", "is_finite"),
    elementwise_op("stablehlo.real", "real"),
    elementwise_op("stablehlo.imag", "imag"),
    chlo_op("chlo.tan", "tan"),
    chlo_op("chlo.asin", "asin"),
    chlo_op("chlo.acos", "acos"),
    chlo_op("chlo.atan", "atan"),
    chlo_op("chlo.sinh", "sinh"),
    chlo_op("chlo.cosh", "cosh"),
    chlo_op("chlo.asinh", "asinh"),
    chlo_op("chlo.acosh", "acosh"),
    chlo_op("chlo.atanh", "atanh"),
    chlo_op("chlo.erf", "erf"),
    chlo_op("chlo.erfc", "erfc"),
    chlo_op("chlo.erf_inv", "erf_inv"),
    chlo_op("chlo.lgamma", "lgamma"),
    chlo_op("chlo.digamma", "digamma"),
    chlo_op("chlo.bessel_i1e", "bessel_i1e"),
    elementwise_op("stablehlo.add", "add"),
    elementwise_op("stablehlo.subtract", "sub"),
    elementwise_op("stablehlo.multiply", "mul"),
    elementwise_op("stablehlo.divide", "div"),
    elementwise_op("stablehlo.remainder", "rem"),
    elementwise_op("stablehlo.power", "pow"),
    elementwise_op("stablehlo.minimum", "min"),
    elementwise_op("stablehlo.maximum", "max"),
    elementwise_op("stablehlo.and", "and"),
    elementwise_op("stablehlo.or", "or"),
    elementwise_op("stablehlo.xor", "xor"),
    elementwise_op("stablehlo.shift_left", "shl"),
    elementwise_op("stablehlo.shift_right_arithmetic", "shr_arithmetic"),
    elementwise_op("stablehlo.shift_right_logical", "shr_logical"),
    elementwise_op("stablehlo.atan2", "atan2"),
    elementwise_op("stablehlo.clamp", "clamp"),
    chlo_op("chlo.next_after", "next_after"),
    OpMapping::new("stablehlo.complex", "complex", read_plain, write_complex),
    OpMapping::new("stablehlo.select", "select", read_plain, write_select).fast(fast_read_select),
    OpMapping::new("stablehlo.compare", "compare", read_compare, write_compare)
        .fast(fast_read_compare),
    OpMapping::new("stablehlo.convert", "cast", read_cast, write_elementwise).fast(fast_read_cast),
    OpMapping::new("stablehlo.convert", "refine", read_cast, write_elementwise),
    OpMapping::new(
        "stablehlo.reduce_precision",
        "reduce_precision",
        read_reduce_precision,
        write_reduce_precision,
    ),
];

fn read_plain(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
    cx.emit_mapped(&[], Vec::new())
}

// Reads `%a, %b : T`.
pub(super) fn fast_read_plain(cx: &mut FastOpReader<'_, '_>) -> Option<()> {
    cx.read_operands()?;
    cx.read_types()?;
    cx.append([])
}

// Reads `%p, %a, %b : T, U`.
fn fast_read_select(cx: &mut FastOpReader<'_, '_>) -> Option<()> {
    cx.read_operands()?;
    cx.read_select_types()?;
    cx.append([])
}

// Reads `%a : (T) -> U` of an op whose result type is an attribute.
pub(super) fn fast_read_typed(cx: &mut FastOpReader<'_, '_>) -> Option<()> {
    cx.read_operands()?;
    cx.read_types()?;
    cx.append([Attr::Unit])
}

// Reads `%a : (T) -> U` of a cast between element types, or of one that changes nothing.
fn fast_read_cast(cx: &mut FastOpReader<'_, '_>) -> Option<()> {
    cx.read_operands()?;
    cx.read_types()?;
    (!cx.has_one_dtype() || cx.has_one_type()).then_some(())?;
    cx.append([Attr::Unit])
}

// Reads a conversion. With the same element type on both sides, only the known extents may differ.
fn read_cast(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
    let [input] = cx.operands()?;
    let (from, to) = (cx.tensor_type(input)?, cx.declared_result_tensor()?);
    let refines = from.dtype == to.dtype && from != to;
    let ty = ResultType(to.clone().into());
    if refines { cx.emit_op(Refine { input, ty }) } else { cx.emit_op(Cast { input, ty }) }
}

fn read_compare(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
    let [lhs, rhs] = cx.operands()?;
    let direction = cx.choice(&["comparison_direction"], 0, "direction", &DIRECTIONS)?;
    let Some(direction) = direction else {
        return Err("the direction is missing: EQ, NE, LT, LE, GT or GE".into());
    };
    let order = cx.choice(&["compare_type"], 1, "type of comparison", &ORDERS)?;
    // Integers have one order.
    let order = match order {
        Some(order) if cx.tensor_type(lhs)?.dtype.is_float() => order,
        _ => CompareOrder::Partial,
    };
    cx.emit_op(Compare { lhs, rhs, direction, order })
}

const DIRECTIONS: [(&str, Direction); 6] = [
    ("EQ", Direction::Eq),
    ("NE", Direction::Ne),
    ("LT", Direction::Lt),
    ("LE", Direction::Le),
    ("GT", Direction::Gt),
    ("GE", Direction::Ge),
];

const ORDERS: [(&str, CompareOrder); 5] = [
    ("FLOAT", CompareOrder::Partial),
    ("TOTALORDER", CompareOrder::Total),
    ("SIGNED", CompareOrder::Partial),
    ("UNSIGNED", CompareOrder::Partial),
    ("NOTYPE", CompareOrder::Partial),
];

fn parse_direction(word: &str) -> Option<Direction> {
    DIRECTIONS.iter().find(|(name, _)| *name == word).map(|(_, direction)| *direction)
}

// Reads `LT, %a, %b, SIGNED : (T, T) -> U`.
fn fast_read_compare(cx: &mut FastOpReader<'_, '_>) -> Option<()> {
    let direction = parse_direction(cx.cursor().word()?)?;
    cx.cursor().eat(b',').then_some(())?;
    cx.read_operands()?;
    let order = match cx.cursor().word() {
        Some("TOTALORDER") => CompareOrder::Total,
        Some("SIGNED" | "UNSIGNED" | "FLOAT") | None => CompareOrder::Partial,
        Some(_) => return None,
    };
    cx.read_types()?;
    cx.append([direction.to_attr(), order.to_attr()])
}

fn read_reduce_precision(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
    let [input] = cx.operands()?;
    let (exponent_bits, mantissa_bits) = match cx.word(&["format"], 0)? {
        Some(word) => {
            cx.forbid_attr(&["exponent_bits"], word);
            cx.forbid_attr(&["mantissa_bits"], word);
            let parts = word.strip_prefix('e').and_then(|w| w.split_once('m'));
            let number = |s: &str| s.parse::<i64>().ok();
            parts
                .and_then(|(e, m)| Some((number(e)?, number(m)?)))
                .ok_or_else(|| format!("`{word}` is not a format, expected one such as e5m10"))?
        }
        None => (cx.int(&["exponent_bits"])?, cx.int(&["mantissa_bits"])?),
    };
    cx.error_text = None;
    cx.emit_op(ReducePrecision {
        input,
        exponent_bits: Int(exponent_bits),
        mantissa_bits: Int(mantissa_bits),
    })
}

// Writes `op %a, %b : T`, or all types where they differ.
fn write_elementwise(
    w: &mut TextWriter<'_>,
    inst: InstId,
    mapping: &'static OpMapping,
) -> Result<(), WriteError> {
    w.start_op(inst, mapping.name);
    w.out.push(' ');
    let operands = w.f.operands(inst);
    w.write_values(operands);
    w.write_extras(inst, mapping.name);
    let Some(result) = w.f.value_of(inst) else { return Ok(()) };
    let ty = w.f.value_type(result);
    if operands.iter().all(|&v| w.f.value_type(v) == ty) {
        w.out.push_str(" : ");
        types::write(&mut w.out, ty);
    } else {
        w.write_function_type(inst);
    }
    w.out.push('\n');
    Ok(())
}

// Writes `op %a, %b : T, T -> T`.
fn write_with_arrow_types(
    w: &mut TextWriter<'_>,
    inst: InstId,
    mapping: &'static OpMapping,
) -> Result<(), WriteError> {
    w.start_op(inst, mapping.name);
    w.out.push(' ');
    let operands = w.f.operands(inst);
    w.write_values(operands);
    w.write_extras(inst, mapping.name);
    w.out.push_str(" : ");
    w.write_types(operands);
    w.out.push_str(" -> ");
    if let Some(result) = w.f.value_of(inst) {
        w.write_type_of(result);
    }
    w.out.push('\n');
    Ok(())
}

fn write_complex(
    w: &mut TextWriter<'_>,
    inst: InstId,
    mapping: &'static OpMapping,
) -> Result<(), WriteError> {
    w.start_op(inst, mapping.name);
    w.out.push(' ');
    w.write_values(w.f.operands(inst));
    w.write_extras(inst, mapping.name);
    w.out.push_str(" : ");
    if let Some(result) = w.f.value_of(inst) {
        w.write_type_of(result);
    }
    w.out.push('\n');
    Ok(())
}

fn write_select(
    w: &mut TextWriter<'_>,
    inst: InstId,
    mapping: &'static OpMapping,
) -> Result<(), WriteError> {
    w.start_op(inst, mapping.name);
    w.out.push(' ');
    let operands = w.f.operands(inst);
    w.write_values(operands);
    w.write_extras(inst, mapping.name);
    match *operands {
        [pred, on_true, on_false] if w.f.type_id(on_true) == w.f.type_id(on_false) => {
            w.out.push_str(" : ");
            w.write_types(&[pred, on_true]);
        }
        _ => w.write_function_type(inst),
    }
    w.out.push('\n');
    Ok(())
}

fn write_compare(
    w: &mut TextWriter<'_>,
    inst: InstId,
    mapping: &'static OpMapping,
) -> Result<(), WriteError> {
    let Some(op) = w.f.view::<Compare>(inst) else { return Err(unwritable(w, inst, "malformed")) };
    w.start_op(inst, mapping.name);
    w.out.push_str(match op.direction {
        Direction::Eq => " EQ, ",
        Direction::Ne => " NE, ",
        Direction::Lt => " LT, ",
        Direction::Le => " LE, ",
        Direction::Gt => " GT, ",
        Direction::Ge => " GE, ",
    });
    w.write_values(&[op.lhs, op.rhs]);
    let dtype = w.f.value_type(op.lhs).as_tensor().map_or(DataType::F32, |t| t.dtype);
    let signed = dtype.integer_range().is_some_and(|(min, _)| min < 0);
    w.out.push_str(match op.order {
        CompareOrder::Total if dtype.is_float() => ", TOTALORDER",
        _ if dtype.is_float() || dtype.is_complex() => ", FLOAT",
        _ if signed => ", SIGNED",
        _ => ", UNSIGNED",
    });
    w.write_extras(inst, mapping.name);
    w.write_function_type(inst);
    w.out.push('\n');
    Ok(())
}

fn write_reduce_precision(
    w: &mut TextWriter<'_>,
    inst: InstId,
    mapping: &'static OpMapping,
) -> Result<(), WriteError> {
    let Some(op) = w.f.view::<ReducePrecision>(inst) else {
        return Err(unwritable(w, inst, "malformed"));
    };
    w.start_op(inst, mapping.name);
    w.out.push(' ');
    w.write_value(op.input);
    let format = format!(", format = e{}m{}", op.exponent_bits.0, op.mantissa_bits.0);
    w.out.push_str(&format);
    w.write_extras(inst, mapping.name);
    w.out.push_str(" : ");
    w.write_type_of(op.input);
    w.out.push('\n');
    Ok(())
}
