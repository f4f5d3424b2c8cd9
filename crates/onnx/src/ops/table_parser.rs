//! The parser of the op tables.
//!
//! The tables are part of this crate, so a malformed row is a bug: the parser panics with the row.

use super::{AttributeSchema, OpSchema, Parameter, Presence};
use crate::{AttributeType, AttributeValue, Bytes};

/// Parses a table and returns its ops. Lines that begin with spaces continue a row.
pub(super) fn parse_table(domain: &'static str, table: &'static str) -> Vec<OpSchema> {
    let mut ends: Vec<usize> = table
        .match_indices('\n')
        .map(|(at, _)| at + 1)
        .filter(|&at| !table[at..].starts_with(' '))
        .collect();
    ends.push(table.len());
    let rows = ends.windows(2).map(|ends| table[ends[0]..ends[1]].trim());
    rows.filter(|row| !row.is_empty()).map(|row| parse_row(domain, row)).collect()
}

fn parse_row(domain: &'static str, row: &'static str) -> OpSchema {
    let wrong = || -> ! { panic!("not a row of an op table: {row}") };
    let mut parts = row.splitn(3, '|').map(str::trim);
    let mut head = parts.next().unwrap_or_else(|| wrong()).split_whitespace();
    let name = head.next().unwrap_or_else(|| wrong());
    let versions: Vec<i64> = head.map(|v| v.parse().unwrap_or_else(|_| wrong())).collect();
    let form = parts.next().unwrap_or_else(|| wrong());
    if versions.is_empty() {
        wrong();
    }
    let mut schema = OpSchema {
        name,
        domain,
        versions,
        is_deprecated: form == "deprecated",
        inputs: Vec::new(),
        outputs: Vec::new(),
        attributes: Vec::new(),
    };
    if schema.is_deprecated {
        return schema;
    }
    let Some((inputs, outputs)) = form.split_once("->") else { wrong() };
    schema.inputs = inputs.split_whitespace().map(parse_parameter).collect();
    schema.outputs = outputs.split_whitespace().map(parse_parameter).collect();
    for attribute in parts.next().into_iter().flat_map(|attributes| attributes.split(';')) {
        schema.attributes.push(parse_attribute(attribute.trim()).unwrap_or_else(|| wrong()));
    }
    schema
}

fn parse_parameter(text: &'static str) -> Parameter {
    let (name, presence) = match text.split_at(text.len() - 1) {
        (name, "?") => (name, Presence::Optional),
        (name, "*") => (name, Presence::Variadic { min: 0 }),
        (name, "+") => (name, Presence::Variadic { min: 1 }),
        _ => (text, Presence::Required),
    };
    Parameter { name, presence }
}

fn parse_attribute(text: &'static str) -> Option<AttributeSchema> {
    let (name, rest) = text.split_once(':')?;
    let (kind, default) = match rest.split_once('=') {
        Some((kind, default)) => (kind.trim(), Some(default.trim())),
        None => (rest.trim(), None),
    };
    let is_optional = kind.ends_with('?');
    let kind = kind.trim_end_matches('?');
    let r#type = (1..=14)
        .filter_map(AttributeType::from_code)
        .find(|t| t.name().eq_ignore_ascii_case(kind))?;
    let default = match default {
        Some(default) => Some(parse_default(r#type, default)?),
        None => None,
    };
    let is_required = !is_optional && default.is_none();
    Some(AttributeSchema { name, r#type, is_required, default })
}

fn parse_default(r#type: AttributeType, text: &str) -> Option<AttributeValue> {
    let string = |text: &str| -> Option<Bytes> {
        let inside = text.strip_prefix('"')?.strip_suffix('"')?;
        (!inside.contains(['"', '\\'])).then(|| inside.as_bytes().into())
    };
    let elements = || {
        let inside = text.strip_prefix('[')?.strip_suffix(']')?;
        Some(inside.split(',').map(str::trim).filter(|element| !element.is_empty()))
    };
    Some(match r#type {
        AttributeType::Float => AttributeValue::Float(text.parse().ok()?),
        AttributeType::Int => AttributeValue::Int(text.parse().ok()?),
        AttributeType::String => AttributeValue::String(string(text)?),
        AttributeType::Floats => {
            AttributeValue::Floats(elements()?.map(|e| e.parse().ok()).collect::<Option<_>>()?)
        }
        AttributeType::Ints => {
            AttributeValue::Ints(elements()?.map(|e| e.parse().ok()).collect::<Option<_>>()?)
        }
        AttributeType::Strings => {
            AttributeValue::Strings(elements()?.map(string).collect::<Option<_>>()?)
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::{all_schemas, newest_opset, schema};
    use super::*;

    #[test]
    fn every_row_is_read() {
        let all = all_schemas();
        let names: std::collections::BTreeSet<_> = all.iter().map(|s| (s.domain, s.name)).collect();
        assert_eq!((names.len(), all.len()), (227, 362));
        for schema in &all {
            assert!(schema.versions.is_sorted(), "{schema:?}");
            assert!(schema.attributes.is_sorted_by_key(|a| a.name), "{schema:?}");
            assert!(schema.versions.iter().all(|v| *v <= newest_opset(schema.domain).unwrap()));
            let last = |p: &[Parameter]| {
                p.iter().rev().skip(1).all(|p| !matches!(p.presence, Presence::Variadic { .. }))
            };
            assert!(last(&schema.inputs) && last(&schema.outputs), "{schema:?}");
        }
    }

    #[test]
    fn a_row_has_its_parts() {
        let rows = "\nLoop 1 | M? cond? v* -> out+ | body: graph; k: int = -1;\n    s: string = \"a b\"; f: floats = [0.5, -1.0]\nOld 2 | deprecated\n";
        let [looped, old] = parse_table("d", rows).try_into().unwrap();
        assert_eq!(looped.input_count(), (0, usize::MAX));
        assert_eq!(looped.output_count(), (1, usize::MAX));
        let values: Vec<_> =
            looped.attributes.iter().map(|a| (a.is_required, a.default.clone())).collect();
        assert_eq!(values[0], (true, None));
        assert_eq!(values[1], (false, Some(AttributeValue::Int(-1))));
        assert_eq!(values[2], (false, Some(AttributeValue::String(b"a b"[..].into()))));
        assert_eq!(values[3], (false, Some(AttributeValue::Floats(vec![0.5, -1.0]))));
        assert!(old.is_deprecated);
    }

    #[test]
    fn known_ops_are_as_onnx_documents_them() {
        let conv = schema("", "Conv", 21).unwrap();
        assert_eq!((conv.versions.as_slice(), conv.input_count()), (&[1, 11, 22][..], (2, 3)));
        assert_eq!(conv.attribute("group").unwrap().default, Some(AttributeValue::Int(1)));
        assert!(conv.attribute("groups").is_none());
        assert!(schema("", "Upsample", 10).unwrap().is_deprecated);
        assert!(schema("ai.onnx.ml", "TreeEnsemble", 5).is_some());
        assert!(schema("com.microsoft", "FusedConv", 1).is_none());
    }
}
