//! Ops on each element alone.

use sapwood_ptir::ops::{Cast, Compare, CompareOrder, Direction, ReducePrecision, Refine};
use sapwood_ptir::{Attr, AttrField as _, InstId, Int, ResultType};
use sapwood_types::DataType;

use super::{Convert, Made, Row};
use crate::read::Direct;
use crate::types;
use crate::write::{WriteError, Writer, refuse};

const fn same(name: &'static str, ptir: &'static str) -> Row {
    Row::new(name, ptir, read_same, write_same).direct(direct_same)
}

const fn chlo(name: &'static str, ptir: &'static str) -> Row {
    Row::new(name, ptir, read_same, write_arrow).direct(direct_same)
}

pub(super) const ROWS: &[Row] = &[
    same("stablehlo.negate", "neg"),
    same("stablehlo.abs", "abs"),
    same("stablehlo.sign", "sign"),
    same("stablehlo.floor", "floor"),
    same("stablehlo.ceil", "ceil"),
    same("stablehlo.round_nearest_afz", "round_away"),
    same("stablehlo.round_nearest_even", "round_even"),
    same("stablehlo.exponential", "exp"),
    same("stablehlo.exponential_minus_one", "expm1"),
    same("stablehlo.log", "log"),
    same("stablehlo.log_plus_one", "log1p"),
    same("stablehlo.sqrt", "sqrt"),
    same("stablehlo.rsqrt", "rsqrt"),
    same("stablehlo.cbrt", "cbrt"),
    same("stablehlo.sine", "sin"),
    same("stablehlo.cosine", "cos"),
    same("stablehlo.tan", "tan"),
    same("stablehlo.tanh", "tanh"),
    same("stablehlo.logistic", "logistic"),
    same("stablehlo.not", "not"),
    same("stablehlo.popcnt", "popcnt"),
    same("stablehlo.count_leading_zeros", "clz"),
    same("stablehlo.is_finite", "is_finite"),
    same("stablehlo.real", "real"),
    same("stablehlo.imag", "imag"),
    chlo("chlo.tan", "tan"),
    chlo("chlo.asin", "asin"),
    chlo("chlo.acos", "acos"),
    chlo("chlo.atan", "atan"),
    chlo("chlo.sinh", "sinh"),
    chlo("chlo.cosh", "cosh"),
    chlo("chlo.asinh", "asinh"),
    chlo("chlo.acosh", "acosh"),
    chlo("chlo.atanh", "atanh"),
    chlo("chlo.erf", "erf"),
    chlo("chlo.erfc", "erfc"),
    chlo("chlo.erf_inv", "erf_inv"),
    chlo("chlo.lgamma", "lgamma"),
    chlo("chlo.digamma", "digamma"),
    chlo("chlo.bessel_i1e", "bessel_i1e"),
    same("stablehlo.add", "add"),
    same("stablehlo.subtract", "sub"),
    same("stablehlo.multiply", "mul"),
    same("stablehlo.divide", "div"),
    same("stablehlo.remainder", "rem"),
    same("stablehlo.power", "pow"),
    same("stablehlo.minimum", "min"),
    same("stablehlo.maximum", "max"),
    same("stablehlo.and", "and"),
    same("stablehlo.or", "or"),
    same("stablehlo.xor", "xor"),
    same("stablehlo.shift_left", "shl"),
    same("stablehlo.shift_right_arithmetic", "shr_arithmetic"),
    same("stablehlo.shift_right_logical", "shr_logical"),
    same("stablehlo.atan2", "atan2"),
    same("stablehlo.clamp", "clamp"),
    chlo("chlo.next_after", "next_after"),
    Row::new("stablehlo.complex", "complex", read_same, write_complex),
    Row::new("stablehlo.select", "select", read_same, write_select).direct(direct_select),
    Row::new("stablehlo.compare", "compare", read_compare, write_compare).direct(direct_compare),
    Row::new("stablehlo.convert", "cast", read_cast, write_same).direct(direct_cast),
    Row::new("stablehlo.convert", "refine", read_cast, write_same),
    Row::new("stablehlo.reduce_precision", "reduce_precision", read_precision, write_precision),
];

fn read_same(cx: &mut Convert<'_, '_>) -> Result<Made, String> {
    cx.same(&[], Vec::new())
}

// `%a, %b : T`.
pub(super) fn direct_same(cx: &mut Direct<'_, '_>) -> Option<()> {
    cx.values()?;
    cx.types()?;
    cx.append([])
}

// `%p, %a, %b : T, U`.
fn direct_select(cx: &mut Direct<'_, '_>) -> Option<()> {
    cx.values()?;
    cx.select_types()?;
    cx.append([])
}

// The same for an op whose result type says what it does.
pub(super) fn direct_typed(cx: &mut Direct<'_, '_>) -> Option<()> {
    cx.values()?;
    cx.types()?;
    cx.append([Attr::Unit])
}

// The same where elements are of another type, or nothing changes.
fn direct_cast(cx: &mut Direct<'_, '_>) -> Option<()> {
    cx.values()?;
    cx.types()?;
    (!cx.one_dtype() || cx.one_type()).then_some(())?;
    cx.append([Attr::Unit])
}

// With elements of the same type only what is known of the extents may be another.
fn read_cast(cx: &mut Convert<'_, '_>) -> Result<Made, String> {
    let [input] = cx.operands()?;
    let (from, to) = (cx.tensor(input)?, cx.result_tensor()?);
    let refines = from.dtype == to.dtype && from != to;
    let ty = ResultType(to.clone().into());
    if refines { cx.one(Refine { input, ty }) } else { cx.one(Cast { input, ty }) }
}

fn read_compare(cx: &mut Convert<'_, '_>) -> Result<Made, String> {
    let [lhs, rhs] = cx.operands()?;
    let direction = cx.choice(&["comparison_direction"], 0, "direction", &DIRECTIONS)?;
    let Some(direction) = direction else {
        return Err("the direction is missing: EQ, NE, LT, LE, GT or GE".into());
    };
    let order = cx.choice(&["compare_type"], 1, "type of comparison", &ORDERS)?;
    // Integers have one order.
    let order = match order {
        Some(order) if cx.tensor(lhs)?.dtype.is_float() => order,
        _ => CompareOrder::Partial,
    };
    cx.one(Compare { lhs, rhs, direction, order })
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

fn direction(word: &str) -> Option<Direction> {
    DIRECTIONS.iter().find(|(name, _)| *name == word).map(|(_, direction)| *direction)
}

// `LT, %a, %b, SIGNED : (T, T) -> U`.
fn direct_compare(cx: &mut Direct<'_, '_>) -> Option<()> {
    let direction = direction(cx.c().word()?)?;
    cx.c().eat(b',').then_some(())?;
    cx.values()?;
    let order = match cx.c().word() {
        Some("TOTALORDER") => CompareOrder::Total,
        Some("SIGNED" | "UNSIGNED" | "FLOAT") | None => CompareOrder::Partial,
        Some(_) => return None,
    };
    cx.types()?;
    cx.append([direction.to_attr(), order.to_attr()])
}

fn read_precision(cx: &mut Convert<'_, '_>) -> Result<Made, String> {
    let [input] = cx.operands()?;
    let (exponent_bits, mantissa_bits) = match cx.word(&["format"], 0)? {
        Some(word) => {
            cx.instead_of(&["exponent_bits"], word);
            cx.instead_of(&["mantissa_bits"], word);
            let parts = word.strip_prefix('e').and_then(|w| w.split_once('m'));
            let number = |s: &str| s.parse::<i64>().ok();
            parts
                .and_then(|(e, m)| Some((number(e)?, number(m)?)))
                .ok_or_else(|| format!("`{word}` is no format, expected one such as e5m10"))?
        }
        None => (cx.int(&["exponent_bits"])?, cx.int(&["mantissa_bits"])?),
    };
    cx.place = None;
    cx.one(ReducePrecision {
        input,
        exponent_bits: Int(exponent_bits),
        mantissa_bits: Int(mantissa_bits),
    })
}

// `op %a, %b : T`, or with all types where they differ.
fn write_same(w: &mut Writer<'_>, inst: InstId, row: &'static Row) -> Result<(), WriteError> {
    w.start(inst, row.name);
    w.out.push(' ');
    let operands = w.f.operands(inst);
    w.values(operands);
    w.extras(inst, row.name);
    let Some(result) = w.f.value_of(inst) else { return Ok(()) };
    let ty = w.f.value_type(result);
    if operands.iter().all(|&v| w.f.value_type(v) == ty) {
        w.out.push_str(" : ");
        types::write(&mut w.out, ty);
    } else {
        w.function_type(inst);
    }
    w.out.push('\n');
    Ok(())
}

// `op %a, %b : T, T -> T`.
fn write_arrow(w: &mut Writer<'_>, inst: InstId, row: &'static Row) -> Result<(), WriteError> {
    w.start(inst, row.name);
    w.out.push(' ');
    let operands = w.f.operands(inst);
    w.values(operands);
    w.extras(inst, row.name);
    w.out.push_str(" : ");
    w.types(operands);
    w.out.push_str(" -> ");
    if let Some(result) = w.f.value_of(inst) {
        w.ty(result);
    }
    w.out.push('\n');
    Ok(())
}

fn write_complex(w: &mut Writer<'_>, inst: InstId, row: &'static Row) -> Result<(), WriteError> {
    w.start(inst, row.name);
    w.out.push(' ');
    w.values(w.f.operands(inst));
    w.extras(inst, row.name);
    w.out.push_str(" : ");
    if let Some(result) = w.f.value_of(inst) {
        w.ty(result);
    }
    w.out.push('\n');
    Ok(())
}

fn write_select(w: &mut Writer<'_>, inst: InstId, row: &'static Row) -> Result<(), WriteError> {
    w.start(inst, row.name);
    w.out.push(' ');
    let operands = w.f.operands(inst);
    w.values(operands);
    w.extras(inst, row.name);
    match *operands {
        [pred, on_true, on_false] if w.f.type_id(on_true) == w.f.type_id(on_false) => {
            w.out.push_str(" : ");
            w.types(&[pred, on_true]);
        }
        _ => w.function_type(inst),
    }
    w.out.push('\n');
    Ok(())
}

fn write_compare(w: &mut Writer<'_>, inst: InstId, row: &'static Row) -> Result<(), WriteError> {
    let Some(op) = w.f.view::<Compare>(inst) else { return Err(refuse(w, inst, "malformed")) };
    w.start(inst, row.name);
    w.out.push_str(match op.direction {
        Direction::Eq => " EQ, ",
        Direction::Ne => " NE, ",
        Direction::Lt => " LT, ",
        Direction::Le => " LE, ",
        Direction::Gt => " GT, ",
        Direction::Ge => " GE, ",
    });
    w.values(&[op.lhs, op.rhs]);
    let dtype = w.f.value_type(op.lhs).as_tensor().map_or(DataType::F32, |t| t.dtype);
    let signed = dtype.integer_range().is_some_and(|(min, _)| min < 0);
    w.out.push_str(match op.order {
        CompareOrder::Total if dtype.is_float() => ", TOTALORDER",
        _ if dtype.is_float() || dtype.is_complex() => ", FLOAT",
        _ if signed => ", SIGNED",
        _ => ", UNSIGNED",
    });
    w.extras(inst, row.name);
    w.function_type(inst);
    w.out.push('\n');
    Ok(())
}

fn write_precision(w: &mut Writer<'_>, inst: InstId, row: &'static Row) -> Result<(), WriteError> {
    let Some(op) = w.f.view::<ReducePrecision>(inst) else {
        return Err(refuse(w, inst, "malformed"));
    };
    w.start(inst, row.name);
    w.out.push(' ');
    w.value(op.input);
    let format = format!(", format = e{}m{}", op.exponent_bits.0, op.mantissa_bits.0);
    w.out.push_str(&format);
    w.extras(inst, row.name);
    w.out.push_str(" : ");
    w.ty(op.input);
    w.out.push('\n');
    Ok(())
}
