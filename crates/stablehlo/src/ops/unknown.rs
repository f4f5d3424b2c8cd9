//! Ops that nothing here knows: kept as they are written, and written back.

use sapwood_ptir::{Attr, InstId, Name, OpKey, OpParts};
use sapwood_types::did_you_mean;

use super::{Convert, Made, Row};
use crate::attr::tidy;
use crate::write::Writer;

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

/// An op of another dialect, or one that has no counterpart.
pub(super) fn read(cx: &mut Convert<'_, '_>) -> Result<Made, String> {
    if !cx.op.generic {
        let known = super::names();
        let hint = did_you_mean(&cx.op.name, known);
        return Err(match hint {
            Some(name) => format!("the op is not known; did you mean `{name}`?"),
            None => {
                "the op is not known; in the generic form, `\"name\"(…)`, it would be kept".into()
            }
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
    cx.op.used = u64::MAX;
    keep_with(cx, text, more, false)
}

// The op as it is, with its attributes as text.
fn keep(cx: &mut Convert<'_, '_>, properties: String, pure: bool) -> Result<Made, String> {
    keep_with(cx, properties, None, pure)
}

fn keep_with(
    cx: &mut Convert<'_, '_>,
    properties: String,
    attributes: Option<Box<str>>,
    pure: bool,
) -> Result<Made, String> {
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
    parts.given = cx.op.result_types.to_vec();
    cx.emit(&parts)
}

// The attribute as it is written, or in the form it has in the generic form.
fn enum_attribute(cx: &mut Convert<'_, '_>, short: &str, name: &str) -> Result<String, String> {
    if let Some(entry) = cx.op.attrs.iter().find(|e| e.name == name) {
        let text = format!("{{{}}}", tidy(entry.text));
        cx.op.used = u64::MAX;
        return Ok(text);
    }
    let word = cx.word(&[short], 0).ok_or_else(|| format!("`{short}` is missing"))?;
    Ok(format!("{{{name} = #stablehlo<{name} {word}>}}"))
}

fn read_bit_generator(cx: &mut Convert<'_, '_>) -> Result<Made, String> {
    let text = enum_attribute(cx, "algorithm", "rng_algorithm")?;
    keep(cx, text, true)
}

fn read_rng(cx: &mut Convert<'_, '_>) -> Result<Made, String> {
    let text = enum_attribute(cx, "distribution", "rng_distribution")?;
    keep(cx, text, false)
}

fn read_bare(cx: &mut Convert<'_, '_>) -> Result<Made, String> {
    keep(cx, String::new(), true)
}

fn read_set_size(cx: &mut Convert<'_, '_>) -> Result<Made, String> {
    let axis = cx.int(&["dimension", "dim"])?;
    keep(cx, format!("{{dimension = {axis} : i64}}"), true)
}

fn read_einsum(cx: &mut Convert<'_, '_>) -> Result<Made, String> {
    let entry = cx.op.attrs.iter().position(|e| matches!(&*e.name, "einsum_config" | "config"));
    let text = match entry.and_then(|i| cx.op.attrs[i].text.split_once('=')) {
        Some((_, value)) => format!("{{einsum_config = {}}}", tidy(value.trim())),
        None => return Err("`config` is missing".into()),
    };
    cx.op.used = u64::MAX;
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
