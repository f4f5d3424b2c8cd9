//! Ops of a user's registry, which are neither built in nor of ONNX, as nodes of an operator set of their own. The attribute
//! `attributes` of a node has those of the op as JSON, as the custom calls of StableHLO have.

use sapwood_ptir::{
    Attr, Function, InstId, OpDef, OpParts, Registry, attrs_from_json, attrs_to_json,
};

use crate::dialect::PREFIX;
use crate::{Attribute, AttributeValue, Node, Text};

/// The operator set of these nodes.
pub(crate) const DOMAIN: &str = "sapwood";
/// The version of the operator set.
pub(crate) const VERSION: i64 = 1;
const ATTRIBUTES: &str = "attributes";

/// Returns the op of the registry with this name, if it is neither built in nor of ONNX.
pub(crate) fn own_op<'a>(registry: &'a Registry, name: &str) -> Option<&'a OpDef> {
    let def = registry.by_name(name).filter(|_| !name.starts_with(PREFIX))?;
    Registry::builtin().get(def.key).is_none().then_some(def)
}

/// Returns the op and the attributes of a node; `None` if the registry does not have the op.
///
/// # Errors
/// If the attributes are not those of the op.
pub(crate) fn op_and_attrs(node: &Node, registry: &Registry) -> Option<Result<OpParts, String>> {
    let text = |text: &Option<Text>| text.as_ref().and_then(Text::as_str).map(str::to_owned);
    if text(&node.domain)? != DOMAIN {
        return None;
    }
    let def = own_op(registry, &text(&node.op_type)?)?;
    Some(read_attrs(def, &node.attribute).map(|attrs| {
        let mut parts = OpParts::new(def.key);
        parts.attrs = attrs.into();
        parts
    }))
}

fn read_attrs(def: &OpDef, attributes: &[Attribute]) -> Result<Vec<Attr>, String> {
    let json = match attributes {
        [] => Some(""),
        [one] if one.name.as_ref().and_then(Text::as_str) == Some(ATTRIBUTES) => match &one.value {
            Some(AttributeValue::String(text)) => std::str::from_utf8(text).ok(),
            _ => None,
        },
        _ => return Err(format!("its only attribute must be `{ATTRIBUTES}`")),
    };
    let json = json.ok_or_else(|| format!("`{ATTRIBUTES}` must be a string of JSON"))?;
    attrs_from_json(def, json).map_err(|why| format!("`{ATTRIBUTES}`: {why}"))
}

/// Returns the attributes of the node of an instruction. Those of the node that it was read from are kept if they mean the same.
pub(crate) fn attributes_of(f: &Function, inst: InstId, origin: Option<&Node>) -> Vec<Attribute> {
    let is_same = |node: &&Node| {
        let attrs = f.op_def(inst).and_then(|def| read_attrs(def, &node.attribute).ok());
        attrs.is_some_and(|attrs| attrs[..] == f.attrs(inst)[..])
    };
    if let Some(node) = origin.filter(is_same) {
        return node.attribute.clone();
    }
    match attrs_to_json(f, inst) {
        json if json == "{}" => Vec::new(),
        json => {
            let value = AttributeValue::String(json.as_bytes().into());
            vec![Attribute::new(ATTRIBUTES, value)]
        }
    }
}
