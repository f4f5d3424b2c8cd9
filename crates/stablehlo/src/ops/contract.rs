//! Matrix products, convolution, linear algebra.

use std::fmt::Write as _;

use sapwood_ptir::ops::{Convolution, DotGeneral};
use sapwood_ptir::{Attr, Axes, InstId, Int, Ints as IntList, Op as _, Pairs, ValueId};
use sapwood_types::DataType;

use super::attributes::{accumulation_dtype, check_fields, field_ints};
use super::form::Part::{
    self, Bool, Cached, Close, Default, Fixed, Ints, ListPair, Open, Operands, OptionalBool, Types,
    Word,
};
use super::form::TypeSyntax::{Function, Generic, Same};
use super::form::Words;
use super::{OpConverter, OpMapping, PrintedOp, ResultValues, Silent, WriteResult, read_only, row};
use crate::attr::{NamedAttr, RawAttr};
use crate::cursor::Cursor;
use crate::read::AttrVec;
use crate::write::TextWriter;

pub(super) const MAPPINGS: &[OpMapping] = &[
    row("stablehlo.dot_general", "dot_general", DOT_GENERAL)
        .build(build_dot_general)
        .silent(Silent::If(|cx, _| cx.has_one_dtype()))
        .print(print_dot_general),
    read_only("stablehlo.dot", build_dot),
    row("stablehlo.convolution", "convolution", CONVOLUTION)
        .build(build_convolution)
        .silent(Silent::If(|cx, _| cx.has_one_dtype()))
        .print(print_convolution),
    row("stablehlo.triangular_solve", "triangular_solve", TRIANGULAR_SOLVE),
    row("stablehlo.cholesky", "cholesky", &[Operands, OptionalBool("lower", "lower"), Types(Same)]),
    row("stablehlo.fft", "fft", FFT),
];

// Products in another type need casts, which the build function emits.
const DOT_GENERAL: &[Part] = &[
    Operands,
    ListPair("batching_dims"),
    ListPair("contracting_dims"),
    Default("precision = [DEFAULT, DEFAULT]"),
    Fixed(|| Attr::Unit),
    Fixed(|| Attr::Unit),
    Types(Function),
];

const CONVOLUTION: &[Part] =
    &[Open, Operands, Close, Cached("} : (", read_usual_convolution_attrs), Types(Function)];

const TRIANGULAR_SOLVE: &[Part] = &[
    Operands,
    Bool("left_side", "left_side"),
    Bool("lower", "lower"),
    Bool("unit_diagonal", "unit_diagonal"),
    Word("transpose_a", "transpose_a", &TRANSPOSITIONS),
    Types(Generic),
];

static TRANSPOSITIONS: Words = Words::new(
    "transposition",
    "transpose",
    &[("NO_TRANSPOSE", "none"), ("TRANSPOSE", "transpose"), ("ADJOINT", "adjoint")],
);

const FFT: &[Part] = &[
    Operands,
    Word("type", "fft_type", &TRANSFORMS),
    Ints("length", "fft_length"),
    Types(Function),
];

static TRANSFORMS: Words = Words::new(
    "type of transform",
    "fft_type",
    &[("FFT", "fft"), ("IFFT", "ifft"), ("RFFT", "rfft"), ("IRFFT", "irfft")],
);

const DOT_FIELDS: [&str; 4] = [
    "lhs_batching_dimensions",
    "rhs_batching_dimensions",
    "lhs_contracting_dimensions",
    "rhs_contracting_dimensions",
];

fn build_dot_general(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
    let [lhs, rhs] = cx.operands()?;
    let ([lhs_batch, rhs_batch], [lhs_contract, rhs_contract]) =
        if cx.attr(&["dot_dimension_numbers"]).is_some() {
            let fields = cx.fields(&["dot_dimension_numbers"])?;
            check_fields(&fields, &DOT_FIELDS)?;
            let list = |name| field_ints(&fields, name);
            for name in ["batching_dims", "contracting_dims"] {
                cx.forbid_both("dot_dimension_numbers", name);
            }
            (
                [list("lhs_batching_dimensions")?, list("rhs_batching_dimensions")?],
                [list("lhs_contracting_dimensions")?, list("rhs_contracting_dimensions")?],
            )
        } else {
            (cx.list_pair("batching_dims")?, cx.list_pair("contracting_dims")?)
        };
    cx.check_precision()?;
    let accumulate = cx.check_algorithm()?;
    let out = None;
    let op =
        DotGeneral { lhs, rhs, lhs_batch, rhs_batch, lhs_contract, rhs_contract, accumulate, out };
    convert_dot(cx, op)
}

// Contracts the last axis with the first.
fn build_dot(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
    let [lhs, rhs] = cx.operands()?;
    let rank = cx.tensor_type(lhs)?.rank();
    cx.check_precision()?;
    let made = convert_dot(
        cx,
        DotGeneral {
            lhs,
            rhs,
            lhs_batch: Axes::default(),
            rhs_batch: Axes::default(),
            lhs_contract: [rank.saturating_sub(1)].into(),
            rhs_contract: [0i64].into(),
            accumulate: None,
            out: None,
        },
    )?;
    // Its extras are written at the `dot_general` it became.
    cx.op.name = "stablehlo.dot_general".into();
    Ok(made)
}

// Emits a product. Operands of different types are converted to the wider one, and to `accumulate` if that is wider than the
// default accumulation type.
fn convert_dot(cx: &mut OpConverter<'_, '_>, mut op: DotGeneral) -> Result<ResultValues, String> {
    let result = cx.declared_result_tensor()?.dtype;
    let (l, r) = (cx.tensor_type(op.lhs)?.dtype, cx.tensor_type(op.rhs)?.dtype);
    let mut operand = if l.bit_width() >= r.bit_width() { l } else { r };
    let usual = default_accumulation_dtype(operand, result);
    let wider = |a: &DataType| operand.is_float() && a.bit_width() > usual.bit_width();
    operand = op.accumulate.take().filter(wider).unwrap_or(operand);
    op.lhs = cast_to(cx, op.lhs, operand)?;
    op.rhs = cast_to(cx, op.rhs, operand)?;
    if operand != result {
        op.out = Some(result);
        op.accumulate = accumulation_dtype(operand, result);
    }
    cx.emit_op(op)
}

/// Casts a value to another element type.
pub(super) fn cast_to(
    cx: &mut OpConverter<'_, '_>,
    input: ValueId,
    to: DataType,
) -> Result<ValueId, String> {
    let ty = cx.tensor_type(input)?;
    if ty.dtype == to {
        return Ok(input);
    }
    let ty = ty.with_dtype(to);
    cx.emit_one(sapwood_ptir::ops::Cast { input, ty: ty.into() })
}

// Parses `[b, 0, 1, f]`: the axes named `names`, then the numbered ones in order.
fn parse_dim_layout(text: &str, names: [char; 2]) -> Result<Axes, String> {
    let wrong = || format!("`{text}` are not dimension numbers");
    let inner =
        text.trim().strip_prefix('[').and_then(|t| t.strip_suffix(']')).ok_or_else(wrong)?;
    let parts: Vec<&str> = inner.split(',').map(str::trim).collect();
    if parts.len() > sapwood_ptir::MAX_RANK {
        return Err(format!(
            "dimension numbers have {} entries, at most {} are supported",
            parts.len(),
            sapwood_ptir::MAX_RANK
        ));
    }
    let find =
        |name: &str| parts.iter().position(|p| *p == name).map(|i| i as i64).ok_or_else(wrong);
    let mut axes = vec![find(&names[0].to_string())?, find(&names[1].to_string())?];
    for i in 0..parts.len().saturating_sub(2) {
        axes.push(find(&i.to_string())?);
    }
    Ok(axes.into())
}

fn parse_dim_numbers(raw: &str) -> Result<[Axes; 3], String> {
    let wrong =
        || format!("`{raw}` are not dimension numbers, expected `[b, 0, f]x[0, i, o]->[b, 0, f]`");
    let (inputs, output) = raw.split_once("->").ok_or_else(wrong)?;
    let (input, kernel) = inputs.split_once(']').ok_or_else(wrong)?;
    let kernel = kernel.trim().strip_prefix('x').ok_or_else(wrong)?;
    Ok([
        parse_dim_layout(&format!("{input}]"), ['b', 'f'])?,
        parse_dim_layout(kernel, ['i', 'o'])?,
        parse_dim_layout(output, ['b', 'f'])?,
    ])
}

const CONV_FIELDS: [&str; 9] = [
    "input_batch_dimension",
    "input_feature_dimension",
    "input_spatial_dimensions",
    "kernel_input_feature_dimension",
    "kernel_output_feature_dimension",
    "kernel_spatial_dimensions",
    "output_batch_dimension",
    "output_feature_dimension",
    "output_spatial_dimensions",
];

// Returns the dimension numbers from the fields of the older `#stablehlo.conv`, which names every list.
fn dim_numbers_from_fields(fields: &[NamedAttr<'_>]) -> Result<[Axes; 3], String> {
    let one = |batch: &str, feature: &str, spatial: &str| -> Result<Axes, String> {
        let number = |name| super::attributes::field_int(fields, name);
        let mut axes = vec![number(batch)?, number(feature)?];
        axes.extend_from_slice(&field_ints(fields, spatial)?);
        Ok(axes.into())
    };
    check_fields(fields, &CONV_FIELDS)?;
    Ok([
        one("input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions")?,
        one(
            "kernel_input_feature_dimension",
            "kernel_output_feature_dimension",
            "kernel_spatial_dimensions",
        )?,
        one("output_batch_dimension", "output_feature_dimension", "output_spatial_dimensions")?,
    ])
}

fn build_convolution(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
    let [_, _] = cx.operands()?;
    let op = read_convolution(cx)?;
    cx.emit_op(op)
}

/// Reads a convolution of the first two operands.
pub(super) fn read_convolution(cx: &mut OpConverter<'_, '_>) -> Result<Convolution, String> {
    let (input, kernel) = (cx.operand(0)?, cx.operand(1)?);
    let [input_dims, kernel_dims, output_dims] =
        match cx.attr(&["dimension_numbers", "dim_numbers"]) {
            Some(RawAttr::Raw(raw)) => parse_dim_numbers(raw)?,
            Some(RawAttr::Struct(fields)) => dim_numbers_from_fields(&fields.clone())?,
            _ => return Err("attribute `dimension_numbers` is missing".into()),
        };
    // The fields of the window are treated as attributes of the op.
    if cx.attr(&["window"]).is_some() {
        let fields = cx.fields(&["window"])?;
        cx.op.attrs.extend(fields.into_iter().map(|entry| NamedAttr { clause: true, ..entry }));
    }
    cx.check_precision()?;
    let (operand, result) = (cx.tensor_type(input)?.dtype, cx.declared_result_tensor()?.dtype);
    // Products are computed in the type of the result if that differs.
    let (input, kernel) = if operand == result {
        (input, kernel)
    } else {
        (cast_to(cx, input, result)?, cast_to(cx, kernel, result)?)
    };
    let spatial = input_dims.len().saturating_sub(2);
    let op = Convolution {
        input,
        kernel,
        input_dims,
        kernel_dims,
        output_dims,
        strides: cx.optional_ints_unless(&["window_strides", "stride"], 1, spatial)?,
        pads: cx.int_pairs(&["padding", "pad"], spatial)?,
        input_dilation: cx.optional_ints_unless(&["lhs_dilation", "lhs_dilate"], 1, spatial)?,
        kernel_dilation: cx.optional_ints_unless(&["rhs_dilation", "rhs_dilate"], 1, spatial)?,
        reversal: cx.optional_ints_unless(&["window_reversal", "reverse"], 0, spatial)?,
        feature_groups: Int(cx.int(&["feature_group_count"])?),
        batch_groups: Int(cx.int(&["batch_group_count"])?),
        accumulate: None,
    };
    Ok(op)
}

// Reads the attributes of a convolution in the form that most tools print.
fn read_usual_convolution_attrs(c: &mut Cursor<'_>) -> Option<AttrVec> {
    let count = |c: &mut Cursor<'_>| c.digits()?.parse().ok();
    c.eat_exactly("dim_numbers = ").then_some(())?;
    let input_dims = read_dim_layout(c, *b"bf")?;
    c.eat_exactly("x").then_some(())?;
    let kernel_dims = read_dim_layout(c, *b"io")?;
    c.eat_exactly("->").then_some(())?;
    let output_dims = read_dim_layout(c, *b"bf")?;
    // Lists have an entry for each numbered axis.
    let rank = input_dims.len() - 2;
    let unless_all = |list: IntList, usual| list.iter().any(|&n| n != usual).then(|| Axes(list));
    let list = |c: &mut Cursor<'_>, key: &str| {
        c.eat_exactly(key).then_some(())?;
        c.int_list().filter(|list| list.len() == rank)
    };
    let strides = unless_all(list(c, ", window = {stride = ")?, 1);
    c.eat_exactly(", pad = [").then_some(())?;
    let mut pads = Vec::new();
    while !c.eat_exactly("]") {
        (pads.is_empty() || c.eat_exactly(", ")).then_some(())?;
        pads.push(<[i64; 2]>::try_from(&c.int_list()?[..]).ok()?);
    }
    let input_dilation = unless_all(list(c, ", lhs_dilate = ")?, 1);
    let kernel_dilation = unless_all(list(c, ", rhs_dilate = ")?, 1);
    c.eat_exactly(", reverse = [").then_some(())?;
    let mut reversal = IntList::new();
    while !c.eat_exactly("]") {
        (reversal.is_empty() || c.eat_exactly(", ")).then_some(())?;
        match c.word()? {
            "false" => reversal.push(0),
            "true" => reversal.push(1),
            _ => return None,
        }
    }
    (pads.len() == rank && reversal.len() == rank).then_some(())?;
    c.eat_exactly("} {batch_group_count = ").then_some(())?;
    let batch_groups = count(c)?;
    c.eat_exactly(" : i64, feature_group_count = ").then_some(())?;
    let feature_groups = count(c)?;
    let precision = "#stablehlo<precision DEFAULT>";
    (c.eat_exactly(" : i64, precision_config = [")
        && c.eat_exactly(precision)
        && c.eat_exactly(", ")
        && c.eat_exactly(precision)
        && c.eat_exactly("]}"))
    .then_some(())?;
    let nothing = ValueId::from_index(0);
    let op = Convolution {
        input: nothing,
        kernel: nothing,
        input_dims,
        kernel_dims,
        output_dims,
        strides,
        pads: pads.iter().any(|p| *p != [0, 0]).then_some(Pairs(pads)),
        input_dilation,
        kernel_dilation,
        reversal: unless_all(reversal, 0),
        feature_groups: Int(feature_groups),
        batch_groups: Int(batch_groups),
        accumulate: None,
    };
    Some(op.into_parts().attrs)
}

// Reads `[b, 0, 1, f]`: the axes with these two names, then the numbered ones in order.
fn read_dim_layout(c: &mut Cursor<'_>, names: [u8; 2]) -> Option<Axes> {
    c.eat_exactly("[").then_some(())?;
    let mut places = [None; 8];
    let mut count = 0;
    loop {
        let byte = c.text.as_bytes().get(c.at).copied()?;
        let at = match byte {
            b'0'..=b'5' => usize::from(byte - b'0') + 2,
            _ => names.iter().position(|&name| name == byte)?,
        };
        if places[at].replace(count).is_some() {
            return None;
        }
        (count, c.at) = (count + 1, c.at + 1);
        if c.eat_exactly("]") {
            break;
        }
        c.eat_exactly(", ").then_some(())?;
    }
    (count >= 2).then_some(())?;
    places[..count as usize].iter().copied().collect::<Option<IntList>>().map(Axes)
}

// Writes a value in another element type on a line of its own. Returns its name and its type.
fn write_converted_operand(
    w: &mut TextWriter<'_>,
    value: ValueId,
    to: DataType,
) -> (String, String) {
    let mut ty = String::new();
    let name = w.name_of(value);
    let Some(tensor) = w.f.value_type(value).as_tensor() else { return (name, ty) };
    crate::types::write_tensor(&mut ty, &tensor.with_dtype(to));
    if tensor.dtype == to {
        return (name, ty);
    }
    let mut from = String::new();
    crate::types::write_tensor(&mut from, tensor);
    let fresh = w.fresh_name();
    w.write_indent();
    let _ = writeln!(w.out, "{fresh} = stablehlo.convert {name} : ({from}) -> {ty}");
    (fresh, ty)
}

// Returns the accumulation type of a product that is written without one.
fn default_accumulation_dtype(operand: DataType, result: DataType) -> DataType {
    let narrow = operand.is_float() && operand.bit_width() < 32;
    accumulation_dtype(operand, result).unwrap_or(if narrow { DataType::F32 } else { operand })
}

fn print_dot_general(w: &mut TextWriter<'_>, (inst, mapping): PrintedOp) -> WriteResult {
    let op = w.view::<DotGeneral>(inst)?;
    let dtype = |v| w.f.value_type(v).as_tensor().map_or(DataType::F32, |t| t.dtype);
    let (operand, result) = (dtype(op.lhs), w.f.value_of(inst).map_or(DataType::F32, dtype));
    let accumulate = op.accumulate.filter(|&a| a != default_accumulation_dtype(operand, result));
    let ((lhs, lhs_ty), (rhs, rhs_ty)) = match accumulate {
        Some(a) => (write_converted_operand(w, op.lhs, a), write_converted_operand(w, op.rhs, a)),
        None => (
            write_converted_operand(w, op.lhs, operand),
            write_converted_operand(w, op.rhs, operand),
        ),
    };
    w.start_op(inst, mapping.name);
    w.out.extend([" ", &*lhs, ", ", &*rhs]);
    let clauses = [
        ("batching_dims", &op.lhs_batch, &op.rhs_batch, op.lhs_batch.is_empty()),
        ("contracting_dims", &op.lhs_contract, &op.rhs_contract, false),
    ];
    for (key, l, r, left_out) in clauses {
        if !left_out {
            w.out.extend([", ", key, " = "]);
            w.write_int_list(l);
            w.out.push_str(" x ");
            w.write_int_list(r);
        }
    }
    write_precision_and_types(w, inst, mapping, Some((&lhs_ty, &rhs_ty)));
    Ok(())
}

// Returns the end of the clauses at the start of saved attributes.
fn leading_clauses_end(text: &str) -> usize {
    let (mut c, mut end) = (Cursor::new(text), 0);
    while (c.eat_word("precision") || c.eat_word("algorithm"))
        && c.eat(b'=')
        && c.balanced().is_some()
    {
        end = c.at;
        if !c.eat(b',') {
            break;
        }
    }
    end
}

// Writes the precision, which is a clause in the pretty form, and the types.
fn write_precision_and_types(
    w: &mut TextWriter<'_>,
    inst: InstId,
    mapping: &'static OpMapping,
    types: Option<(&str, &str)>,
) {
    if let Some(text) = w.extras_of(inst, mapping.name) {
        let (clauses, rest) = text.split_at(leading_clauses_end(&text));
        if !clauses.is_empty() {
            let _ = write!(w.out, ", {clauses}");
        }
        let rest = rest.trim_start_matches([',', ' ']);
        if !rest.is_empty() {
            let _ = write!(w.out, " {{{rest}}}");
        }
    }
    match types {
        Some((lhs, rhs)) => {
            w.out.extend([" : (", lhs, ", ", rhs, ") -> "]);
            if let Some(result) = w.f.value_of(inst) {
                w.write_type_of(result);
            }
        }
        None => w.write_function_type(inst),
    }
    w.out.push('\n');
}

fn write_layout(w: &mut TextWriter<'_>, axes: &[i64], names: [char; 2]) {
    w.out.push('[');
    for axis in 0..axes.len() as i64 {
        if axis > 0 {
            w.out.push_str(", ");
        }
        match axes.iter().position(|&a| a == axis) {
            Some(0) => w.out.push(names[0]),
            Some(1) => w.out.push(names[1]),
            Some(i) => drop(write!(w.out, "{}", i - 2)),
            None => w.out.push('?'),
        }
    }
    w.out.push(']');
}

fn print_convolution(w: &mut TextWriter<'_>, (inst, mapping): PrintedOp) -> WriteResult {
    let op = w.view::<Convolution>(inst)?;
    w.start_op(inst, mapping.name);
    w.out.push('(');
    w.write_values(&[op.input, op.kernel]);
    w.out.push_str(") dim_numbers = ");
    write_conv_layouts(w, [&op.input_dims, &op.kernel_dims, &op.output_dims]);
    w.out.push_str(", window = {");
    write_convolution_window(w, &op);
    w.out.push_str("} {");
    let _ = write!(
        w.out,
        "batch_group_count = {} : i64, feature_group_count = {} : i64",
        op.batch_groups.0, op.feature_groups.0
    );
    if let Some(text) = w.extras_of(inst, mapping.name) {
        let _ = write!(w.out, ", {text}");
    }
    w.out.push('}');
    w.write_function_type(inst);
    w.out.push('\n');
    Ok(())
}

/// Writes the dimension numbers of a convolution: `[b, 0, f]x[0, i, o]->[b, 0, f]`.
pub(super) fn write_conv_layouts(w: &mut TextWriter<'_>, [input, kernel, output]: [&Axes; 3]) {
    write_layout(w, input, ['b', 'f']);
    w.out.push('x');
    write_layout(w, kernel, ['i', 'o']);
    w.out.push_str("->");
    write_layout(w, output, ['b', 'f']);
}

fn write_convolution_window(w: &mut TextWriter<'_>, op: &Convolution) {
    let mut first = true;
    let mut key = |w: &mut TextWriter<'_>, name: &str| {
        if !first {
            w.out.push_str(", ");
        }
        first = false;
        w.out.push_str(name);
        w.out.push_str(" = ");
    };
    if let Some(list) = &op.strides {
        key(w, "stride");
        w.write_int_list(list);
    }
    if let Some(pads) = &op.pads {
        key(w, "pad");
        write_pairs(w, pads);
    }
    if let Some(list) = &op.input_dilation {
        key(w, "lhs_dilate");
        w.write_int_list(list);
    }
    if let Some(list) = &op.kernel_dilation {
        key(w, "rhs_dilate");
        w.write_int_list(list);
    }
    if let Some(list) = &op.reversal {
        key(w, "reverse");
        let words: Vec<&str> =
            list.iter().map(|&n| if n == 0 { "false" } else { "true" }).collect();
        let _ = write!(w.out, "[{}]", words.join(", "));
    }
}

/// Writes `[[0, 1], [2, 3]]`.
pub(super) fn write_pairs(w: &mut TextWriter<'_>, pairs: &Pairs) {
    w.out.push('[');
    for (i, pair) in pairs.iter().enumerate() {
        if i > 0 {
            w.out.push_str(", ");
        }
        w.write_int_list(pair);
    }
    w.out.push(']');
}
