//! Products of matrices, convolution, linear algebra.

use std::fmt::Write as _;

use sapwood_ptir::ops::{
    Cholesky, Convolution, DotGeneral, Fft, FftKind, TransposeKind, TriangularSolve,
};
use sapwood_ptir::{Attr, Axes, InstId, Int, Ints, Op as _, Pairs, ValueId};
use sapwood_types::DataType;

use super::attributes::{accumulation, check_fields, field_ints};
use super::{Convert, Made, Row};
use crate::attr::{Attribute, Entry};
use crate::cursor::Cursor;
use crate::read::{Attrs, Direct, ints_of};
use crate::write::{WriteError, Writer, refuse};

pub(super) const ROWS: &[Row] = &[
    Row::new("stablehlo.dot_general", "dot_general", read_dot_general, write_dot_general)
        .direct(direct_dot),
    Row::read_only("stablehlo.dot", read_dot),
    Row::new("stablehlo.convolution", "convolution", read_convolution, write_convolution)
        .direct(direct_convolution),
    Row::new("stablehlo.triangular_solve", "triangular_solve", read_solve, write_solve),
    Row::new("stablehlo.cholesky", "cholesky", read_cholesky, write_cholesky),
    Row::new("stablehlo.fft", "fft", read_fft, write_fft),
];

// The two lists of `[1] x [0]`.
fn sides(cx: &mut Convert<'_, '_>, name: &'static str) -> Result<[Axes; 2], String> {
    match cx.attr(&[name]) {
        None => Ok([Axes::default(), Axes::default()]),
        Some(Attribute::List(sides)) if sides.len() == 2 => {
            let side = |i: usize| {
                ints_of(&sides[i]).map(Axes).ok_or_else(|| format!("`{name}` must be `[…] x […]`"))
            };
            Ok([side(0)?, side(1)?])
        }
        Some(_) => Err(format!("`{name}` must be `[…] x […]`")),
    }
}

const DOT_FIELDS: [&str; 4] = [
    "lhs_batching_dimensions",
    "rhs_batching_dimensions",
    "lhs_contracting_dimensions",
    "rhs_contracting_dimensions",
];

fn read_dot_general(cx: &mut Convert<'_, '_>) -> Result<Made, String> {
    let [lhs, rhs] = cx.operands()?;
    let ([lhs_batch, rhs_batch], [lhs_contract, rhs_contract]) =
        if cx.attr(&["dot_dimension_numbers"]).is_some() {
            let fields = cx.fields(&["dot_dimension_numbers"])?;
            check_fields(&fields, &DOT_FIELDS)?;
            let list = |name| field_ints(&fields, name);
            for name in ["batching_dims", "contracting_dims"] {
                cx.same_as("dot_dimension_numbers", name);
            }
            (
                [list("lhs_batching_dimensions")?, list("rhs_batching_dimensions")?],
                [list("lhs_contracting_dimensions")?, list("rhs_contracting_dimensions")?],
            )
        } else {
            (sides(cx, "batching_dims")?, sides(cx, "contracting_dims")?)
        };
    cx.precision()?;
    let accumulate = cx.algorithm()?;
    let out = None;
    let op =
        DotGeneral { lhs, rhs, lhs_batch, rhs_batch, lhs_contract, rhs_contract, accumulate, out };
    dot(cx, op)
}

// `%a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (T, U) -> V`.
fn direct_dot(cx: &mut Direct<'_, '_>) -> Option<()> {
    cx.values()?;
    let [lhs_batch, rhs_batch] = match cx.c().looking_at_word("batching_dims") {
        true => cx.sides("batching_dims")?,
        false => Default::default(),
    };
    let [lhs, rhs] = cx.sides("contracting_dims")?;
    let _ = cx.c().eat_str("precision = [DEFAULT, DEFAULT]");
    cx.types()?;
    cx.one_dtype().then_some(())?;
    let [lhs_batch, rhs_batch, lhs, rhs] = [lhs_batch, rhs_batch, lhs, rhs].map(Attr::Ints);
    cx.append([lhs_batch, rhs_batch, lhs, rhs, Attr::Unit, Attr::Unit])
}

// Contracts the last axis with the first.
fn read_dot(cx: &mut Convert<'_, '_>) -> Result<Made, String> {
    let [lhs, rhs] = cx.operands()?;
    let rank = cx.tensor(lhs)?.rank();
    cx.precision()?;
    let made = dot(
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
    // What is kept of it is written at the product that it became.
    cx.op.name = "stablehlo.dot_general".into();
    Ok(made)
}

// Operands may have different types: both are converted to the wider one. They are converted to `accumulate` too if that
// is wider than the type that sums are taken in otherwise.
fn dot(cx: &mut Convert<'_, '_>, mut op: DotGeneral) -> Result<Made, String> {
    let result = cx.result_tensor()?.dtype;
    let (l, r) = (cx.tensor(op.lhs)?.dtype, cx.tensor(op.rhs)?.dtype);
    let mut operand = if l.bit_width() >= r.bit_width() { l } else { r };
    let usual = plain_accumulation(operand, result);
    let wider = |a: &DataType| operand.is_float() && a.bit_width() > usual.bit_width();
    operand = op.accumulate.take().filter(wider).unwrap_or(operand);
    op.lhs = cast(cx, op.lhs, operand)?;
    op.rhs = cast(cx, op.rhs, operand)?;
    if operand != result {
        op.out = Some(result);
        op.accumulate = accumulation(operand, result);
    }
    cx.one(op)
}

/// The value in another element type.
pub(super) fn cast(
    cx: &mut Convert<'_, '_>,
    input: ValueId,
    to: DataType,
) -> Result<ValueId, String> {
    let ty = cx.tensor(input)?;
    if ty.dtype == to {
        return Ok(input);
    }
    let ty = ty.with_dtype(to);
    cx.make(sapwood_ptir::ops::Cast { input, ty: ty.into() })
}

// `[b, 0, 1, f]`: the axes named `names`, then the numbered ones in order.
fn layout(text: &str, names: [char; 2]) -> Result<Axes, String> {
    let wrong = || format!("`{text}` are no dimension numbers");
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

fn layouts(raw: &str) -> Result<[Axes; 3], String> {
    let wrong =
        || format!("`{raw}` are no dimension numbers, expected `[b, 0, f]x[0, i, o]->[b, 0, f]`");
    let (inputs, output) = raw.split_once("->").ok_or_else(wrong)?;
    let (input, kernel) = inputs.split_once(']').ok_or_else(wrong)?;
    let kernel = kernel.trim().strip_prefix('x').ok_or_else(wrong)?;
    Ok([
        layout(&format!("{input}]"), ['b', 'f'])?,
        layout(kernel, ['i', 'o'])?,
        layout(output, ['b', 'f'])?,
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

// From the fields of the older `#stablehlo.conv` that names every list.
fn layouts_of_fields(fields: &[Entry<'_>]) -> Result<[Axes; 3], String> {
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

fn read_convolution(cx: &mut Convert<'_, '_>) -> Result<Made, String> {
    let [input, kernel] = cx.operands()?;
    let [input_dims, kernel_dims, output_dims] =
        match cx.attr(&["dimension_numbers", "dim_numbers"]) {
            Some(Attribute::Raw(raw)) => layouts(raw)?,
            Some(Attribute::Struct(fields)) => layouts_of_fields(&fields.clone())?,
            _ => return Err("attribute `dimension_numbers` is missing".into()),
        };
    // The window's fields count as attributes of the op.
    if cx.attr(&["window"]).is_some() {
        let fields = cx.fields(&["window"])?;
        cx.op.attrs.extend(fields.into_iter().map(|entry| Entry { clause: true, ..entry }));
    }
    cx.precision()?;
    let (operand, result) = (cx.tensor(input)?.dtype, cx.result_tensor()?.dtype);
    // Products in the type of the result, if it is another.
    let (input, kernel) = if operand == result {
        (input, kernel)
    } else {
        (cast(cx, input, result)?, cast(cx, kernel, result)?)
    };
    let spatial = input_dims.len().saturating_sub(2);
    let op = Convolution {
        input,
        kernel,
        input_dims,
        kernel_dims,
        output_dims,
        strides: cx.optional_ints(&["window_strides", "stride"], 1, spatial)?,
        pads: cx.pairs(&["padding", "pad"], spatial)?,
        input_dilation: cx.optional_ints(&["lhs_dilation", "lhs_dilate"], 1, spatial)?,
        kernel_dilation: cx.optional_ints(&["rhs_dilation", "rhs_dilate"], 1, spatial)?,
        reversal: cx.optional_ints(&["window_reversal", "reverse"], 0, spatial)?,
        feature_groups: Int(cx.int(&["feature_group_count"])?),
        batch_groups: Int(cx.int(&["batch_group_count"])?),
        accumulate: None,
    };
    cx.one(op)
}

// `(%x, %k) dim_numbers = […]x[…]->[…], window = {…} {…} : (T, U) -> V`.
fn direct_convolution(cx: &mut Direct<'_, '_>) -> Option<()> {
    cx.c().eat(b'(').then_some(())?;
    cx.values()?;
    cx.c().eat(b')').then_some(())?;
    let attrs = cx.attributes("} : (", convolution_attributes)?;
    cx.types()?;
    // Products in another type need casts.
    cx.one_dtype().then_some(())?;
    cx.append_interned(attrs)
}

// The attributes of a convolution if all are written as they most often are.
fn convolution_attributes(c: &mut Cursor<'_>) -> Option<Attrs> {
    let count = |c: &mut Cursor<'_>| c.digits()?.parse().ok();
    c.eat_exactly("dim_numbers = ").then_some(())?;
    let input_dims = usual_layout(c, *b"bf")?;
    c.eat_exactly("x").then_some(())?;
    let kernel_dims = usual_layout(c, *b"io")?;
    c.eat_exactly("->").then_some(())?;
    let output_dims = usual_layout(c, *b"bf")?;
    // Lists have an entry for each axis that is not named.
    let rank = input_dims.len() - 2;
    let unless_all = |list: Ints, usual| list.iter().any(|&n| n != usual).then(|| Axes(list));
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
    let mut reversal = Ints::new();
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

// `[b, 0, 1, f]`: the axes with these two names, then the numbered ones in order.
fn usual_layout(c: &mut Cursor<'_>, names: [u8; 2]) -> Option<Axes> {
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
    places[..count as usize].iter().copied().collect::<Option<Ints>>().map(Axes)
}

fn read_solve(cx: &mut Convert<'_, '_>) -> Result<Made, String> {
    let [a, b] = cx.operands()?;
    let kinds = [
        ("NO_TRANSPOSE", TransposeKind::None),
        ("TRANSPOSE", TransposeKind::Transpose),
        ("ADJOINT", TransposeKind::Adjoint),
    ];
    let transpose = cx.choice(&["transpose_a"], 0, "transposition", &kinds)?;
    let transpose = transpose.ok_or("attribute `transpose_a` is missing")?;
    let op = TriangularSolve {
        a,
        b,
        left_side: cx.bool(&["left_side"])?,
        lower: cx.bool(&["lower"])?,
        unit_diagonal: cx.bool(&["unit_diagonal"])?,
        transpose,
    };
    cx.one(op)
}

fn read_cholesky(cx: &mut Convert<'_, '_>) -> Result<Made, String> {
    let [a] = cx.operands()?;
    let lower = cx.bool_or(&["lower"], false)?;
    cx.one(Cholesky { a, lower })
}

fn read_fft(cx: &mut Convert<'_, '_>) -> Result<Made, String> {
    let [input] = cx.operands()?;
    let kinds = [
        ("FFT", FftKind::Fft),
        ("IFFT", FftKind::Ifft),
        ("RFFT", FftKind::Rfft),
        ("IRFFT", FftKind::Irfft),
    ];
    let Some(kind) = cx.choice(&["fft_type", "type"], 0, "type of transform", &kinds)? else {
        return Err("the type is missing: FFT, IFFT, RFFT or IRFFT".into());
    };
    let lengths = Axes(cx.ints(&["fft_length", "length"])?);
    cx.one(Fft { input, kind, lengths })
}

// The value in another element type, on a line of its own.
fn converted(w: &mut Writer<'_>, value: ValueId, to: DataType) -> (String, String) {
    let mut ty = String::new();
    let name = w.name(value);
    let Some(tensor) = w.f.value_type(value).as_tensor() else { return (name, ty) };
    crate::types::write_tensor(&mut ty, &tensor.with_dtype(to));
    if tensor.dtype == to {
        return (name, ty);
    }
    let mut from = String::new();
    crate::types::write_tensor(&mut from, tensor);
    let fresh = w.fresh();
    w.indent();
    let _ = writeln!(w.out, "{fresh} = stablehlo.convert {name} : ({from}) -> {ty}");
    (fresh, ty)
}

// In which type products and sums are taken if the op is written plainly.
fn plain_accumulation(operand: DataType, result: DataType) -> DataType {
    let narrow = operand.is_float() && operand.bit_width() < 32;
    accumulation(operand, result).unwrap_or(if narrow { DataType::F32 } else { operand })
}

fn write_dot_general(
    w: &mut Writer<'_>,
    inst: InstId,
    row: &'static Row,
) -> Result<(), WriteError> {
    let Some(op) = w.f.view::<DotGeneral>(inst) else { return Err(refuse(w, inst, "malformed")) };
    let dtype = |v| w.f.value_type(v).as_tensor().map_or(DataType::F32, |t| t.dtype);
    let (operand, result) = (dtype(op.lhs), w.f.value_of(inst).map_or(DataType::F32, dtype));
    let accumulate = op.accumulate.filter(|&a| a != plain_accumulation(operand, result));
    let ((lhs, lhs_ty), (rhs, rhs_ty)) = match accumulate {
        Some(a) => (converted(w, op.lhs, a), converted(w, op.rhs, a)),
        None => (converted(w, op.lhs, operand), converted(w, op.rhs, operand)),
    };
    w.start(inst, row.name);
    let _ = write!(w.out, " {lhs}, {rhs}");
    let clauses = [
        ("batching_dims", &op.lhs_batch, &op.rhs_batch, op.lhs_batch.is_empty()),
        ("contracting_dims", &op.lhs_contract, &op.rhs_contract, false),
    ];
    for (key, l, r, left_out) in clauses {
        if !left_out {
            let _ = write!(w.out, ", {key} = ");
            w.list(l);
            w.out.push_str(" x ");
            w.list(r);
        }
    }
    precision_and_type(w, inst, row, Some((&lhs_ty, &rhs_ty)));
    Ok(())
}

// Where clauses end of which attributes that were kept start with some.
fn end_of_clauses(text: &str) -> usize {
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

// Precision has a form of its own after operands; in the generic form it is an attribute.
fn precision_and_type(
    w: &mut Writer<'_>,
    inst: InstId,
    row: &'static Row,
    types: Option<(&str, &str)>,
) {
    if let Some(text) = w.extras_text(inst, row.name) {
        let (clauses, rest) = text.split_at(end_of_clauses(&text));
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
            let _ = write!(w.out, " : ({lhs}, {rhs}) -> ");
            if let Some(result) = w.f.value_of(inst) {
                w.ty(result);
            }
        }
        None => w.function_type(inst),
    }
    w.out.push('\n');
}

fn write_layout(w: &mut Writer<'_>, axes: &[i64], names: [char; 2]) {
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

fn write_convolution(
    w: &mut Writer<'_>,
    inst: InstId,
    row: &'static Row,
) -> Result<(), WriteError> {
    let Some(op) = w.f.view::<Convolution>(inst) else { return Err(refuse(w, inst, "malformed")) };
    w.start(inst, row.name);
    w.out.push('(');
    w.values(&[op.input, op.kernel]);
    w.out.push_str(") dim_numbers = ");
    write_layout(w, &op.input_dims, ['b', 'f']);
    w.out.push('x');
    write_layout(w, &op.kernel_dims, ['i', 'o']);
    w.out.push_str("->");
    write_layout(w, &op.output_dims, ['b', 'f']);
    w.out.push_str(", window = {");
    write_window(w, &op);
    w.out.push_str("} {");
    let _ = write!(
        w.out,
        "batch_group_count = {} : i64, feature_group_count = {} : i64",
        op.batch_groups.0, op.feature_groups.0
    );
    if let Some(text) = w.extras_text(inst, row.name) {
        let _ = write!(w.out, ", {text}");
    }
    w.out.push('}');
    w.function_type(inst);
    w.out.push('\n');
    Ok(())
}

fn write_window(w: &mut Writer<'_>, op: &Convolution) {
    let mut first = true;
    let mut key = |w: &mut Writer<'_>, name: &str| {
        if !first {
            w.out.push_str(", ");
        }
        first = false;
        w.out.push_str(name);
        w.out.push_str(" = ");
    };
    if let Some(list) = &op.strides {
        key(w, "stride");
        w.list(list);
    }
    if let Some(pads) = &op.pads {
        key(w, "pad");
        write_pairs(w, pads);
    }
    if let Some(list) = &op.input_dilation {
        key(w, "lhs_dilate");
        w.list(list);
    }
    if let Some(list) = &op.kernel_dilation {
        key(w, "rhs_dilate");
        w.list(list);
    }
    if let Some(list) = &op.reversal {
        key(w, "reverse");
        let words: Vec<&str> =
            list.iter().map(|&n| if n == 0 { "false" } else { "true" }).collect();
        let _ = write!(w.out, "[{}]", words.join(", "));
    }
}

/// Writes `[[0, 1], [2, 3]]`.
pub(super) fn write_pairs(w: &mut Writer<'_>, pairs: &Pairs) {
    w.out.push('[');
    for (i, pair) in pairs.iter().enumerate() {
        if i > 0 {
            w.out.push_str(", ");
        }
        w.list(pair);
    }
    w.out.push(']');
}

fn write_solve(w: &mut Writer<'_>, inst: InstId, row: &'static Row) -> Result<(), WriteError> {
    let Some(op) = w.f.view::<TriangularSolve>(inst) else {
        return Err(refuse(w, inst, "malformed"));
    };
    w.start_generic(inst, row.name);
    let transpose = match op.transpose {
        TransposeKind::None => "NO_TRANSPOSE",
        TransposeKind::Transpose => "TRANSPOSE",
        TransposeKind::Adjoint => "ADJOINT",
    };
    let _ = write!(
        w.out,
        " <{{left_side = {}, lower = {}, transpose_a = #stablehlo<transpose {transpose}>, unit_diagonal = {}}}>",
        op.left_side, op.lower, op.unit_diagonal
    );
    w.extras(inst, row.name);
    w.function_type(inst);
    w.out.push('\n');
    Ok(())
}

fn write_cholesky(w: &mut Writer<'_>, inst: InstId, row: &'static Row) -> Result<(), WriteError> {
    let Some(op) = w.f.view::<Cholesky>(inst) else { return Err(refuse(w, inst, "malformed")) };
    w.start(inst, row.name);
    w.out.push(' ');
    w.value(op.a);
    if op.lower {
        w.out.push_str(", lower = true");
    }
    w.extras(inst, row.name);
    w.out.push_str(" : ");
    w.ty(op.a);
    w.out.push('\n');
    Ok(())
}

fn write_fft(w: &mut Writer<'_>, inst: InstId, row: &'static Row) -> Result<(), WriteError> {
    let Some(op) = w.f.view::<Fft>(inst) else { return Err(refuse(w, inst, "malformed")) };
    w.start(inst, row.name);
    w.out.push(' ');
    w.value(op.input);
    w.out.push_str(match op.kind {
        FftKind::Fft => ", type = FFT, length = ",
        FftKind::Ifft => ", type = IFFT, length = ",
        FftKind::Rfft => ", type = RFFT, length = ",
        FftKind::Irfft => ", type = IRFFT, length = ",
    });
    w.list(&op.lengths);
    w.extras(inst, row.name);
    w.function_type(inst);
    w.out.push('\n');
    Ok(())
}
