//! Elementwise ops.

use std::fmt::Write as _;

use sapwood_ptir::ops::{Cast, Compare, CompareOrder, ReducePrecision, Refine};
use sapwood_ptir::{Attr, AttrField as _, Int, ResultType as ResultTypeAttr};
use sapwood_types::DataType;

use super::form::Part::{self, BareWord, Operands, OptionalBareWord, ResultType, Twice, Types};
use super::form::TypeSyntax::{Arrow, Function, OfResult, OfSelect, Same};
use super::form::{Words, required_word};
use super::{OpConverter, OpMapping, PrintedOp, ResultValues, Silent, WriteResult, row};
use crate::read::FastOpReader;
use crate::write::{TextWriter, unwritable};

const fn elementwise_op(name: &'static str, ptir: &'static str) -> OpMapping {
    row(name, ptir, &[Operands, Types(Same)])
}

const fn chlo_op(name: &'static str, ptir: &'static str) -> OpMapping {
    row(name, ptir, &[Operands, Types(Arrow)])
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
    row("stablehlo.complex", "complex", &[Operands, Types(OfResult)]),
    row("stablehlo.select", "select", &[Operands, Types(OfSelect)]),
    row("stablehlo.compare", "compare", COMPARE)
        .build(build_compare)
        .silent(Silent::If(has_usual_order))
        .print(print_compare),
    row("stablehlo.convert", "cast", &[Operands, ResultType, Types(Same)])
        .build(build_cast)
        .silent(Silent::If(|cx, _| !cx.has_one_dtype() || cx.has_one_type())),
    row("stablehlo.convert", "refine", &[Operands, ResultType, Types(Same)]),
    row("stablehlo.reduce_precision", "reduce_precision", &[Operands, Types(Same)])
        .build(build_reduce_precision)
        .print(print_reduce_precision),
    row("chlo.square", "mul", &[Operands, Types(Arrow), Twice]),
];

// Reads a conversion. With the same element type on both sides, only the known extents may differ.
fn build_cast(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
    let [input] = cx.operands()?;
    let (from, to) = (cx.tensor_type(input)?, cx.declared_result_tensor()?);
    let refines = from.dtype == to.dtype && from != to;
    let ty = ResultTypeAttr(to.clone().into());
    if refines { cx.emit_op(Refine { input, ty }) } else { cx.emit_op(Cast { input, ty }) }
}

// The form of comparisons. The word of the order is written for all types.
const COMPARE: &[Part] = &[
    BareWord(0, "comparison_direction", &DIRECTIONS),
    Operands,
    OptionalBareWord(1, "compare_type", &ORDERS),
    Types(Function),
];

static DIRECTIONS: Words = Words::new(
    "direction",
    "comparison_direction",
    &[("EQ", "eq"), ("NE", "ne"), ("LT", "lt"), ("LE", "le"), ("GT", "gt"), ("GE", "ge")],
);

static ORDERS: Words = Words::new(
    "type of comparison",
    "comparison_type",
    &[
        ("FLOAT", "partial"),
        ("TOTALORDER", "total"),
        ("SIGNED", "partial"),
        ("UNSIGNED", "partial"),
        ("NOTYPE", "partial"),
    ],
);

// Returns whether the elements have the order of a comparison: only floats have a total order besides the partial one.
fn has_usual_order(cx: &FastOpReader<'_, '_>, attrs: &[Attr]) -> bool {
    attrs.get(1) == Some(&CompareOrder::Partial.to_attr()) || cx.first_operand_is_float()
}

fn build_compare(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
    let [lhs, _] = cx.operands()?;
    let direction = required_word(cx, &["comparison_direction"], 0, &DIRECTIONS)?;
    let order = cx.choice(&["compare_type"], 1, &ORDERS)?;
    let order = order.filter(|_| cx.tensor_type(lhs).is_ok_and(|ty| ty.dtype.is_float()));
    let attrs = [DIRECTIONS.attr(direction), ORDERS.attr(order.unwrap_or(0))];
    cx.emit_mapped(attrs.into_iter().collect(), Vec::new())
}

fn print_compare(w: &mut TextWriter<'_>, (inst, mapping): PrintedOp) -> WriteResult {
    let op = w.view::<Compare>(inst)?;
    let Some(direction) = DIRECTIONS.word(&op.direction.to_attr()) else {
        return Err(unwritable(w, inst, "malformed"));
    };
    w.start_op(inst, mapping.name);
    let _ = write!(w.out, " {direction}, ");
    w.write_values(&[op.lhs, op.rhs]);
    let dtype = w.f.value_type(op.lhs).as_tensor().map_or(DataType::F32, |t| t.dtype);
    let signed = dtype.integer_range().is_some_and(|(min, _)| min < 0);
    w.out.push_str(match op.order {
        CompareOrder::Total if dtype.is_float() => ", TOTALORDER",
        _ if dtype.is_float() || dtype.is_complex() => ", FLOAT",
        _ if signed => ", SIGNED",
        _ => ", UNSIGNED",
    });
    w.end_op(inst, mapping, Function);
    Ok(())
}

fn build_reduce_precision(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
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

fn print_reduce_precision(w: &mut TextWriter<'_>, (inst, mapping): PrintedOp) -> WriteResult {
    let op = w.view::<ReducePrecision>(inst)?;
    w.start_op(inst, mapping.name);
    w.out.push(' ');
    w.write_value(op.input);
    let _ = write!(w.out, ", format = e{}m{}", op.exponent_bits.0, op.mantissa_bits.0);
    w.end_op(inst, mapping, Same);
    Ok(())
}
