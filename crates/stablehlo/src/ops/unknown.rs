//! Ops without a mapping: kept as they are written, and written back.

use sapwood_ptir::{Attr, Dim, InstId, Name, OpKey, OpParts};
use sapwood_types::did_you_mean;

use super::form::{Words, required_word};
use super::{OpConverter, OpMapping, ResultValues, read_only};
use crate::attr::{RawAttr, to_single_line};
use crate::types;
use crate::write::{TextWriter, write_string};

const PROPERTIES: &str = "properties";
const ATTRIBUTES: &str = "attributes";

/// Ops whose attributes have other names in the pretty form than in the generic form.
pub(super) const MAPPINGS: &[OpMapping] = &[
    read_only("stablehlo.rng_bit_generator", |cx| {
        keep_with_word(cx, "algorithm", &RNG_ALGORITHMS, true)
    }),
    read_only("stablehlo.rng", |cx| keep_with_word(cx, "distribution", &RNG_DISTRIBUTIONS, false)),
    read_only("stablehlo.replica_id", |cx| keep_unknown_op(cx, String::new(), true)),
    read_only("stablehlo.partition_id", |cx| keep_unknown_op(cx, String::new(), true)),
    read_only("stablehlo.set_dimension_size", build_set_dimension_size),
    read_only("stablehlo.einsum", build_einsum),
];

/// Ops of `stablehlo`, `mhlo` and `chlo` without a mapping. In the generic form they are kept as they are written.
const UNMAPPED_OPS: [(&[&str], &str); 3] = [
    (
        &["stablehlo", "mhlo"],
        "all_gather all_reduce all_to_all async_done async_start collective_broadcast collective_permute \
         compute_reshape_shape cross-replica-sum cstr_reshapable infeed map outfeed recv \
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

// Returns the dialect of a name if its ops are listed here, and its ops without a mapping.
fn unmapped_ops_of_dialect(name: &str) -> Option<(&str, Vec<String>)> {
    let (dialect, _) = name.split_once('.')?;
    let lists = UNMAPPED_OPS.iter().filter(|(dialects, _)| dialects.contains(&dialect));
    let ops: Vec<String> = lists
        .flat_map(|(_, ops)| ops.split_whitespace().map(|op| format!("{dialect}.{op}")))
        .collect();
    (!ops.is_empty()).then_some((dialect, ops))
}

/// Reads an op of another dialect, or one without a mapping.
pub(super) fn build(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
    let name = &*cx.op.name;
    let known = unmapped_ops_of_dialect(name);
    let kept = known.as_ref().is_none_or(|(_, ops)| ops.iter().any(|op| op == name));
    if !cx.op.generic || !kept {
        let (dialect, others) = known.unzip();
        let rows = super::stablehlo_names().map(|listed| {
            match (dialect, listed.strip_prefix("stablehlo.")) {
                (Some("mhlo"), Some(op)) => format!("mhlo.{op}"),
                _ => listed.to_owned(),
            }
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
        text.push_str(&to_single_line(entry.text));
    }
    if !text.is_empty() {
        text.push('}');
    }
    let more = cx.op.attrs.get(cx.op.properties..).unwrap_or(&[]);
    let more = crate::read::kept_attributes_text(more, |_| true);
    cx.mark_all_used();
    keep_with_attributes(cx, text, more, false)
}

// Keeps the op as it is, with its attributes as text.
pub(super) fn keep_unknown_op(
    cx: &mut OpConverter<'_, '_>,
    properties: String,
    pure: bool,
) -> Result<ResultValues, String> {
    let more =
        crate::read::kept_attributes_text(&cx.op.attrs, |entry| !entry.used && !entry.clause);
    for entry in cx.op.attrs.iter_mut().filter(|entry| !entry.clause) {
        entry.used = true;
    }
    keep_with_attributes(cx, properties, more, pure)
}

fn keep_with_attributes(
    cx: &mut OpConverter<'_, '_>,
    properties: String,
    attributes: Option<Box<str>>,
    pure: bool,
) -> Result<ResultValues, String> {
    cx.regions_used = true;
    if cx.op.result_types.is_empty() && !cx.op.has_function_type {
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
    parts.result_types = cx.op.result_types.iter().cloned().collect();
    cx.emit(&parts)
}

// Keeps an op with an enum attribute, which becomes a property of the generic form.
fn keep_with_word(
    cx: &mut OpConverter<'_, '_>,
    key: &'static str,
    words: &'static Words,
    pure: bool,
) -> Result<ResultValues, String> {
    let at = required_word(cx, &[words.kind, key], 0, words)?;
    let (name, word) = (words.kind, words.pairs[at].0);
    keep_unknown_op(cx, format!("{{{name} = #stablehlo<{name} {word}>}}"), pure)
}

static RNG_ALGORITHMS: Words =
    Words::new("algorithm", "rng_algorithm", &[("DEFAULT", ""), ("THREE_FRY", ""), ("PHILOX", "")]);

static RNG_DISTRIBUTIONS: Words =
    Words::new("distribution", "rng_distribution", &[("UNIFORM", ""), ("NORMAL", "")]);

fn build_set_dimension_size(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
    let [input, _] = cx.operands()?;
    let from = cx.tensor_type(input)?.clone();
    let axis = cx.axis(&["dimension", "dim"], from.rank())?;
    let to = cx.declared_result_tensor()?;
    let apart = |(i, (a, b)): (usize, (&Dim, &Dim))| i as i64 != axis && !a.compatible(*b);
    if from.dtype != to.dtype
        || from.rank() != to.rank()
        || from.dims.iter().zip(&to.dims).enumerate().any(apart)
    {
        let [from, to] = [from.into(), to.clone().into()].map(|ty| types::to_text(&ty));
        return Err(format!("the operand is {from}, which cannot become {to}"));
    }
    keep_unknown_op(cx, format!("{{dimension = {axis} : i64}}"), true)
}

fn build_einsum(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
    let Some(RawAttr::Str(config)) = cx.attr(&["einsum_config", "config"]) else {
        return Err("`config` must be a string".into());
    };
    let mut text = String::from("{einsum_config = ");
    write_string(&mut text, config);
    text.push('}');
    keep_unknown_op(cx, text, true)
}

/// Writes an op without a mapping in the generic form.
pub(crate) fn write(w: &mut TextWriter<'_>, inst: InstId) {
    let name = w.f.op_name(inst);
    w.start_generic_op(inst, name);
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
        w.write_function_type(inst);
        w.out.push('\n');
    } else {
        w.write_generic_regions_with(inst, &attributes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unmapped_ops_have_no_mapping() {
        for name in ["stablehlo.x", "mhlo.x", "chlo.x"] {
            let (_, ops) = unmapped_ops_of_dialect(name).unwrap();
            let rows: Vec<&String> =
                ops.iter().filter(|op| super::super::by_name(op).is_some()).collect();
            assert!(rows.is_empty(), "{rows:?}");
        }
        assert!(
            unmapped_ops_of_dialect("check.x").is_none() && unmapped_ops_of_dialect("x").is_none()
        );
    }
}
