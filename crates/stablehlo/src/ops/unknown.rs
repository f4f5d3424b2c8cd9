//! Ops that nothing here knows: kept as they are written, and written back.

use sapwood_ptir::{Attr, Dim, InstId, Name, OpKey, OpParts};
use sapwood_types::did_you_mean;

use super::{Convert, Made, Row};
use crate::attr::{Attribute, tidy};
use crate::types;
use crate::write::{Writer, write_string};

const PROPERTIES: &str = "properties";
const ATTRIBUTES: &str = "attributes";

/// Forms for people whose attributes have other names in the generic form.
pub(super) const ROWS: &[Row] = &[
    Row::read_only("stablehlo.rng_bit_generator", read_bit_generator),
    Row::read_only("stablehlo.rng", read_rng),
    Row::read_only("stablehlo.replica_id", read_bare),
    Row::read_only("stablehlo.partition_id", read_bare),
    Row::read_only("stablehlo.set_dimension_size", read_set_size),
    Row::read_only("stablehlo.einsum", read_einsum),
];

/// Ops of `stablehlo`, `mhlo` and `chlo` that have no row. In the generic form they are kept as they are written.
const WITHOUT_ROW: [(&[&str], &str); 3] = [
    (
        &["stablehlo", "mhlo"],
        "all_gather all_reduce all_to_all async_done async_start collective_broadcast collective_permute \
         compute_reshape_shape cross-replica-sum cstr_reshapable dynamic_conv infeed map outfeed recv \
         reduce_scatter send torch_index_select trace unary_einsum uniform_dequantize uniform_quantize",
    ),
    (
        &["mhlo"],
        "acos acosh add_dependency asin asinh async_update atanh bitcast copy cosh domain erf fusion \
         minimum_broadcast_shapes ragged_dot sinh sparse_dot stochastic_convert topk \
         xla.rng_get_and_update_state",
    ),
    (
        &["chlo"],
        "_asin_acos_kernel broadcast_atan2 broadcast_compare broadcast_complex broadcast_next_after \
         broadcast_polygamma broadcast_select broadcast_shift_left broadcast_shift_right_arithmetic \
         broadcast_shift_right_logical broadcast_zeta constant_like dynamic_reshape minimum_broadcast_shapes \
         polygamma ragged_dot rank_specialization_cluster rank_specialization_cluster_yield reshape_dynamic scan zeta",
    ),
];

// The dialect of a name if its ops are known here, and the other ops of it that have no row.
fn known_dialect(name: &str) -> Option<(&str, Vec<String>)> {
    let (dialect, _) = name.split_once('.')?;
    let lists = WITHOUT_ROW.iter().filter(|(dialects, _)| dialects.contains(&dialect));
    let ops: Vec<String> = lists
        .flat_map(|(_, ops)| ops.split_whitespace().map(|op| format!("{dialect}.{op}")))
        .collect();
    (!ops.is_empty()).then_some((dialect, ops))
}

/// An op of another dialect, or one that has no counterpart.
pub(super) fn read(cx: &mut Convert<'_, '_>) -> Result<Made, String> {
    let name = &*cx.op.name;
    let known = known_dialect(name);
    let kept = known.as_ref().is_none_or(|(_, ops)| ops.iter().any(|op| op == name));
    if !cx.op.generic || !kept {
        let (dialect, others) = known.unzip();
        let rows = super::names().map(|row| match (dialect, row.strip_prefix("stablehlo.")) {
            (Some("mhlo"), Some(op)) => format!("mhlo.{op}"),
            _ => row.to_owned(),
        });
        let all: Vec<String> = rows.chain(others.into_iter().flatten()).collect();
        let near = did_you_mean(name, all.iter().map(String::as_str).filter(|op| *op != name));
        return Err(match (near, dialect) {
            (Some(near), _) if !kept || dialect.is_none() => {
                format!("the op is not known; did you mean `{near}`?")
            }
            (_, Some(dialect)) if !kept => format!("`{dialect}` has no op of this name"),
            _ => "the op is not known; in the generic form, `\"name\"(…)`, it would be kept".into(),
        });
    }
    let mut text = String::new();
    for entry in cx.op.attrs.iter().take(cx.op.properties) {
        text.push_str(if text.is_empty() { "{" } else { ", " });
        text.push_str(&tidy(entry.text));
    }
    if !text.is_empty() {
        text.push('}');
    }
    let more = cx.op.attrs.get(cx.op.properties..).unwrap_or(&[]);
    let more = crate::read::kept(more, |_| true);
    cx.use_all();
    keep_with(cx, text, more, false)
}

// The op as it is, with its attributes as text.
pub(super) fn keep(
    cx: &mut Convert<'_, '_>,
    properties: String,
    pure: bool,
) -> Result<Made, String> {
    let more = crate::read::kept(&cx.op.attrs, |entry| !entry.used && !entry.clause);
    for entry in cx.op.attrs.iter_mut().filter(|entry| !entry.clause) {
        entry.used = true;
    }
    keep_with(cx, properties, more, pure)
}

fn keep_with(
    cx: &mut Convert<'_, '_>,
    properties: String,
    attributes: Option<Box<str>>,
    pure: bool,
) -> Result<Made, String> {
    cx.regions_asked = true;
    if cx.op.result_types.is_empty() && !cx.op.typed {
        return Err("the types of its results are needed".into());
    }
    let mut entries = Vec::new();
    if !properties.is_empty() {
        entries.push((Name::new(PROPERTIES), Attr::Str(properties.into())));
    }
    if let Some(text) = attributes {
        entries.push((Name::new(ATTRIBUTES), Attr::Str(text.into())));
    }
    if pure {
        entries.push((Name::new("pure"), Attr::Bool(true)));
    }
    let mut parts = OpParts::new(OpKey::of(&cx.op.name));
    parts.attrs.push(Attr::dict(entries));
    parts.operands = cx.op.operands.clone();
    parts.regions = cx.op.regions.clone();
    parts.declared_types = cx.op.result_types.to_vec();
    cx.emit(&parts)
}

// The attribute as it is written, or in the form it has in the generic form.
fn enum_attribute(
    cx: &mut Convert<'_, '_>,
    short: &'static str,
    name: &'static str,
    words: &[&'static str],
) -> Result<String, String> {
    let all: Vec<(&str, &str)> = words.iter().map(|word| (*word, *word)).collect();
    let word = cx.choice(&[name, short], 0, short, &all)?;
    let word = word.ok_or_else(|| format!("`{short}` is missing"))?;
    Ok(format!("{{{name} = #stablehlo<{name} {word}>}}"))
}

fn read_bit_generator(cx: &mut Convert<'_, '_>) -> Result<Made, String> {
    let text =
        enum_attribute(cx, "algorithm", "rng_algorithm", &["DEFAULT", "THREE_FRY", "PHILOX"])?;
    keep(cx, text, true)
}

fn read_rng(cx: &mut Convert<'_, '_>) -> Result<Made, String> {
    let text = enum_attribute(cx, "distribution", "rng_distribution", &["UNIFORM", "NORMAL"])?;
    keep(cx, text, false)
}

fn read_bare(cx: &mut Convert<'_, '_>) -> Result<Made, String> {
    keep(cx, String::new(), true)
}

fn read_set_size(cx: &mut Convert<'_, '_>) -> Result<Made, String> {
    let [input, _] = cx.operands()?;
    let from = cx.tensor(input)?.clone();
    let axis = cx.axis(&["dimension", "dim"], from.rank())?;
    let to = cx.result_tensor()?;
    let apart = |(i, (a, b)): (usize, (&Dim, &Dim))| i as i64 != axis && !a.compatible(*b);
    if from.dtype != to.dtype
        || from.rank() != to.rank()
        || from.dims.iter().zip(&to.dims).enumerate().any(apart)
    {
        let [from, to] = [from.into(), to.clone().into()].map(|ty| types::text(&ty));
        return Err(format!("the operand is {from}, which cannot become {to}"));
    }
    keep(cx, format!("{{dimension = {axis} : i64}}"), true)
}

fn read_einsum(cx: &mut Convert<'_, '_>) -> Result<Made, String> {
    let Some(Attribute::Str(config)) = cx.attr(&["einsum_config", "config"]) else {
        return Err("`config` must be a string".into());
    };
    let mut text = String::from("{einsum_config = ");
    write_string(&mut text, config);
    text.push('}');
    keep(cx, text, true)
}

/// Writes an op that nothing here knows, in the generic form.
pub(crate) fn write(w: &mut Writer<'_>, inst: InstId) {
    let name = w.f.op_name(inst);
    w.start_generic(inst, name);
    if let Some(Attr::Str(text)) = w.f.attr(inst, PROPERTIES) {
        w.out.push_str(" <");
        w.out.push_str(text);
        w.out.push('>');
    }
    let attributes = match w.f.attr(inst, ATTRIBUTES) {
        Some(Attr::Str(text)) => format!(" {text}"),
        _ => String::new(),
    };
    if w.f.regions(inst).is_empty() {
        w.out.push_str(&attributes);
        w.function_type(inst);
        w.out.push('\n');
    } else {
        w.generic_regions_with(inst, &attributes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ops_without_a_row_have_none() {
        for name in ["stablehlo.x", "mhlo.x", "chlo.x"] {
            let (_, ops) = known_dialect(name).unwrap();
            let rows: Vec<&String> =
                ops.iter().filter(|op| super::super::by_name(op).is_some()).collect();
            assert!(rows.is_empty(), "{rows:?}");
        }
        assert!(known_dialect("check.x").is_none() && known_dialect("x").is_none());
    }
}
