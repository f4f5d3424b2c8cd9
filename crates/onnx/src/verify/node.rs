//! Checks of one node: its op, its number of inputs and outputs, its attributes.

use sapwood_types::{counted, did_you_mean};

use super::scope::VerifyContext;
use super::{VerifyReport, bytes_or_empty, describe_node, has_field, str_or_empty};
use crate::ops::{self, OpSchema, normal_domain};
use crate::{Attribute, AttributeType, Node};

/// The numbers of the fields that hold an attribute's value.
const VALUE_FIELDS: &[u32] = &[2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 14, 15, 22, 23];

pub(super) fn check_node(node: &Node, context: &VerifyContext<'_>, report: &mut VerifyReport) {
    let op = str_or_empty(node.op_type.as_ref());
    if op.is_empty() {
        return report.node_error(node, "it has no op_type");
    }
    let key = (
        bytes_or_empty(node.domain.as_ref()),
        bytes_or_empty(node.op_type.as_ref()),
        bytes_or_empty(node.overload.as_ref()),
    );
    let is_call = context.functions.contains_key(&key);
    let domain = normal_domain(str_or_empty(node.domain.as_ref()));
    let mut schema = None;
    match context.imports.get(domain) {
        Some(&opset) if !is_call => schema = find_schema(node, domain, op, opset, report),
        Some(_) => {}
        None => {
            let shown = if domain.is_empty() { "ai.onnx" } else { domain };
            let problem = format!("its operator set {shown} is not imported");
            // Nodes of other operator sets are kept as they are, so that nothing depends on the version.
            match matches!(domain, "" | "ai.onnx.ml") {
                true => report.node_error(node, problem),
                false => report.warning(&describe_node(node), &node.wire, problem),
            }
        }
    }
    if let Some(schema) = schema {
        check_counts(node, schema, report);
    }
    let mut names: Vec<_> =
        node.attribute.iter().map(|a| bytes_or_empty(a.name.as_ref())).collect();
    names.sort_unstable();
    for pair in names.windows(2).filter(|pair| pair[0] == pair[1]) {
        let name = String::from_utf8_lossy(pair[0]);
        report.node_error(node, format!("attribute `{name}` is present twice"));
    }
    for attribute in &node.attribute {
        check_attribute(node, attribute, schema, context, report);
    }
}

fn find_schema(
    node: &Node,
    domain: &str,
    op: &str,
    opset: i64,
    report: &mut VerifyReport,
) -> Option<&'static OpSchema> {
    // Other domains have ops of their own.
    let newest = ops::newest_opset(domain)?;
    if !(1..=newest).contains(&opset) {
        return None;
    }
    match ops::schema(domain, op, opset) {
        Some(schema) if schema.is_deprecated => {
            report.node_error(node, format!("opset {opset} no longer has the op {op}"));
            None
        }
        Some(schema) => Some(schema),
        None => {
            match ops::schemas(domain, op).first() {
                Some(first) => report.node_error(
                    node,
                    format!(
                        "opset {opset} does not have the op {op}; it exists since opset {}",
                        first.versions[0]
                    ),
                ),
                // Exporters add their own ops to this domain, and runtimes accept them.
                None => report.warning(
                    &describe_node(node),
                    &node.wire,
                    format!("opset {opset} does not have the op {op}"),
                ),
            }
            None
        }
    }
}

fn check_counts(node: &Node, schema: &OpSchema, report: &mut VerifyReport) {
    for (kind, found, (min, max)) in [
        ("input", node.input.len(), schema.input_count()),
        ("output", node.output.len(), schema.output_count()),
    ] {
        if found < min || found > max {
            let expected = match (min, max) {
                (min, max) if min == max => counted(min, kind).to_string(),
                (min, usize::MAX) => format!("at least {}", counted(min, kind)),
                (min, max) => format!("{min} to {}", counted(max, kind)),
            };
            report.node_error(
                node,
                format!("it has {}; {} needs {expected}", counted(found, kind), schema.name),
            );
        }
    }
    for attribute in schema.attributes.iter().filter(|a| a.is_required) {
        if node.attribute(attribute.name).is_none() {
            report.node_error(node, format!("attribute `{}` is missing", attribute.name));
        }
    }
}

fn check_attribute(
    node: &Node,
    attribute: &Attribute,
    schema: Option<&OpSchema>,
    context: &VerifyContext<'_>,
    report: &mut VerifyReport,
) {
    let name = str_or_empty(attribute.name.as_ref());
    if name.is_empty() {
        return report.node_error(node, "an attribute has no name");
    }
    if has_field(&attribute.wire, VALUE_FIELDS) {
        report.node_error(
            node,
            format!("attribute `{name}` has values of several types; one is needed"),
        );
    }
    let declared = attribute.declared_type();
    if let Some(code) =
        attribute.r#type.filter(|&code| code != 0 && AttributeType::from_code(code).is_none())
    {
        report.node_error(node, format!("attribute `{name}` has the unknown type {code}"));
    }
    if let (Some(declared), Some(value)) = (declared, &attribute.value)
        && declared != value.r#type()
    {
        report.node_error(
            node,
            format!(
                "attribute `{name}` is declared as {declared}, but has a value of type {}",
                value.r#type()
            ),
        );
    }
    let reference = attribute.ref_attr_name.as_ref().filter(|name| !name.is_empty());
    match (reference, context.function) {
        (Some(reference), None) => report.node_error(
            node,
            format!("attribute `{name}` refers to `{reference}` of a function, but is not in one"),
        ),
        (Some(reference), Some(function)) => {
            let with_default = function.attribute_proto.iter().filter_map(|a| a.name.as_ref());
            if !function.attribute.iter().chain(with_default).any(|name| name == reference) {
                report.node_error(
                    node,
                    format!("attribute `{name}` refers to `{reference}`, which the function does not have"),
                );
            }
        }
        (None, _)
            if attribute.value.is_none() && declared.and_then(AttributeType::zero).is_none() =>
        {
            report.node_error(node, format!("attribute `{name}` has no value"));
        }
        (None, _) => {}
    }
    let Some(schema) = schema else { return };
    match (schema.attribute(name), declared) {
        (Some(expected), Some(declared)) if expected.r#type != declared => report.node_error(
            node,
            format!(
                "attribute `{name}` has type {declared}; {} needs {}",
                schema.name, expected.r#type
            ),
        ),
        (Some(_), _) => {}
        (None, _) => {
            let meant = did_you_mean(name, schema.attributes.iter().map(|a| a.name));
            let help = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
            report.node_error(node, format!("{} has no attribute `{name}`{help}", schema.name));
        }
    }
}
