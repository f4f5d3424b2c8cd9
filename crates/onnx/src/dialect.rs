//! The ops of ONNX as ops of PTIR: `onnx.Conv`, with the attributes of all its versions, defined from the table of schemas.

use std::sync::{Arc, LazyLock};

use sapwood_ptir::{
    Attr, AttrDef, AttrKind, Axes, Int, OmittedMeaning, OpDef, OperandKind, Registry, ResultCount,
    ResultTypes,
};

use crate::lower;
use crate::ops::{self, OpSchema};
use crate::{AttributeType, ElementType};
use sapwood_ptir::eval::DataType;

/// The op of nodes that no schema describes: other operator sets, calls of functions, unknown attributes.
pub(crate) const UNKNOWN_NODE: &str = "onnx.node";
/// The op of initializers that no literal can express: strings, sparse tensors, element types of other widths.
pub(crate) const INITIALIZER: &str = "onnx.Initializer";
/// The prefix of ops of ONNX's own operator set.
pub(crate) const PREFIX: &str = "onnx.";
/// The prefixes of ops of the other operator sets.
const SETS: [(&str, &str); 3] = [
    ("ai.onnx.ml", "onnx.ml."),
    ("ai.onnx.preview", "onnx.preview."),
    ("ai.onnx.preview.training", "onnx.training."),
];

/// The positions of inputs that are left out before the last one that is given.
pub(crate) const ABSENT: &str = "absent";
/// True for nodes that passes leave as they are.
pub(crate) const KEEP: &str = "keep";
/// The names of the attributes that the regions were read from, for ops that may leave some of them out.
pub(crate) const GRAPHS: &str = "graphs";
/// The first version of the op's form, if it is not the newest form.
pub(crate) const SINCE: &str = "since";

/// Ops whose results are not a function of their operands, or that are taken for such.
const ORDERED: &[&str] = &[
    "Bernoulli",
    "Multinomial",
    "RandomNormal",
    "RandomNormalLike",
    "RandomUniform",
    "RandomUniformLike",
];

/// Returns the ops of ONNX, for a registry.
///
/// ```
/// let registry = sapwood_ptir::Registry::builtin().with(sapwood_onnx::op_defs())?;
/// assert!(registry.by_name("onnx.Conv").is_some());
/// # Ok::<(), sapwood_ptir::RegistryError>(())
/// ```
#[must_use]
pub fn op_defs() -> Vec<OpDef> {
    let mut defs = vec![unknown_node_def(), initializer_def()];
    let schemas = ops::all_schemas();
    for forms in schemas.chunk_by(|a, b| (a.domain, a.name) == (b.domain, b.name)) {
        defs.push(op_def(forms));
    }
    defs
}

/// Returns the built-in ops and those of ONNX.
#[must_use]
pub fn registry() -> Arc<Registry> {
    static REGISTRY: LazyLock<Arc<Registry>> =
        LazyLock::new(|| Registry::builtin().with_lazy(PREFIX, op_defs));
    REGISTRY.clone()
}

fn op_def(forms: &[&OpSchema]) -> OpDef {
    let (domain, name) = (forms[0].domain, forms[0].name);
    let prefix = prefix_of(domain);
    let def = declared(leaked(&format!("{prefix}{name}")));
    // Of several types, that of the newest form counts.
    let mut attrs: Vec<(&'static str, AttributeType)> = forms
        .iter()
        .rev()
        .flat_map(|form| form.attributes.iter().map(|a| (a.name, a.r#type)))
        .collect();
    attrs.sort_by_key(|(name, _)| *name);
    attrs.dedup_by_key(|(name, _)| *name);
    let has_regions = attrs.iter().any(|(_, ty)| is_graph(*ty));
    let may_lack_regions = forms
        .iter()
        .any(|form| form.attributes.iter().any(|a| is_graph(a.r#type) && !a.is_required));
    let mut def = attrs
        .into_iter()
        .filter(|(_, ty)| !is_graph(*ty))
        .fold(def, |def, (name, ty)| def.attr(optional_attr(name, attr_kind(ty))));
    if has_regions {
        def = def.operand("bodies", OperandKind::Regions);
    }
    if may_lack_regions {
        def = def.attr(optional_attr(GRAPHS, AttrKind::Any));
    }
    def = with_common_attrs(def.attr(optional_attr(KEEP, AttrKind::Bool)));
    if ORDERED.contains(&name) {
        def = def.ordered().opaque();
    }
    lower::with_evaluation(def)
}

fn unknown_node_def() -> OpDef {
    let def = declared(UNKNOWN_NODE)
        .operand("bodies", OperandKind::Regions)
        .attr(AttrDef::new::<Arc<str>>("op_type", None, &[]))
        .attr(optional_attr("domain", AttrKind::Str))
        .attr(optional_attr("overload", AttrKind::Str))
        .attr(optional_attr("attributes", AttrKind::Dict))
        .leading_attr("op_type");
    with_common_attrs(def).ordered().opaque()
}

fn initializer_def() -> OpDef {
    let def = declared(INITIALIZER).attr(AttrDef::new::<Arc<str>>("name", None, &[]));
    with_common_attrs(def.leading_attr("name")).opaque()
}

// An op whose results have the declared types.
fn declared(name: &'static str) -> OpDef {
    let doc = format!("Computes `{}` of ONNX.", name.trim_start_matches(PREFIX));
    OpDef::new(name, "onnx", &[&doc], |cx| {
        Ok(cx.declared_types.iter().map(|&t| t.clone()).collect())
    })
    .operand("inputs", OperandKind::Variadic)
    .returns(ResultCount::Many)
    .may_stop()
}

fn with_common_attrs(def: OpDef) -> OpDef {
    def.attr(AttrDef::new::<Option<Axes>>(ABSENT, None, &[]))
        .attr(AttrDef::new::<Option<Int>>(SINCE, None, &[]))
        .attr(AttrDef::new::<ResultTypes>("types", None, &[]))
}

fn optional_attr(name: &'static str, kind: AttrKind) -> AttrDef {
    let omitted = OmittedMeaning::Absence;
    AttrDef { name, kind, default: Some(Attr::Unit), omitted, doc: String::new(), field_type: "" }
}

fn attr_kind(ty: AttributeType) -> AttrKind {
    match ty {
        AttributeType::Int => AttrKind::Int,
        AttributeType::Float => AttrKind::Float,
        AttributeType::Ints => AttrKind::Ints,
        AttributeType::String => AttrKind::Str,
        _ => AttrKind::Any,
    }
}

pub(crate) fn is_graph(ty: AttributeType) -> bool {
    matches!(ty, AttributeType::Graph | AttributeType::Graphs)
}

// Names of ops are few and live as long as the process.
fn leaked(name: &str) -> &'static str {
    sapwood_ptir::OpKey::of(name).name()
}

/// Returns the name of the op of nodes with this domain and type, if there is one.
pub(crate) fn op_name(domain: &str, op_type: &str) -> Option<String> {
    if ops::schemas(domain, op_type).is_empty() {
        return None;
    }
    let prefix = prefix_of(domain);
    Some(format!("{prefix}{op_type}"))
}

fn prefix_of(domain: &str) -> &'static str {
    SETS.iter().find(|(own, _)| *own == domain).map_or(PREFIX, |(_, prefix)| prefix)
}

/// Returns the domain and the type of the nodes that an op stands for.
pub(crate) fn domain_and_type(op: &'static str) -> Option<(&'static str, &'static str)> {
    if op == UNKNOWN_NODE || op == INITIALIZER {
        return None;
    }
    let of_set = SETS.iter().find_map(|(domain, prefix)| Some((*domain, op.strip_prefix(prefix)?)));
    of_set.or_else(|| Some(("", op.strip_prefix(PREFIX)?)))
}

/// The element types that both ONNX and PTIR have.
const ELEMENT_TYPES: &[(ElementType, DataType)] = &[
    (ElementType::Float, DataType::F32),
    (ElementType::Uint8, DataType::U8),
    (ElementType::Int8, DataType::I8),
    (ElementType::Uint16, DataType::U16),
    (ElementType::Int16, DataType::I16),
    (ElementType::Int32, DataType::I32),
    (ElementType::Int64, DataType::I64),
    (ElementType::Bool, DataType::Bool),
    (ElementType::Float16, DataType::F16),
    (ElementType::Double, DataType::F64),
    (ElementType::Uint32, DataType::U32),
    (ElementType::Uint64, DataType::U64),
    (ElementType::Complex64, DataType::C64),
    (ElementType::Complex128, DataType::C128),
    (ElementType::Bfloat16, DataType::Bf16),
    (ElementType::Float8E4M3Fn, DataType::F8E4M3Fn),
    (ElementType::Float8E5M2, DataType::F8E5M2),
    (ElementType::Float8E4M3Fnuz, DataType::F8E4M3Fnuz),
    (ElementType::Float8E5M2Fnuz, DataType::F8E5M2Fnuz),
    (ElementType::Float8E8M0, DataType::F8E8M0Fnu),
    (ElementType::Float4E2M1, DataType::F4E2M1Fn),
    (ElementType::Uint2, DataType::U2),
    (ElementType::Int2, DataType::I2),
    (ElementType::Uint4, DataType::U4),
    (ElementType::Int4, DataType::I4),
];

/// Returns the element type of a code of ONNX; `None` for strings and types that PTIR does not have.
pub(crate) fn data_type(code: i64) -> Option<DataType> {
    let code = ElementType::from_code(i32::try_from(code).ok()?)?;
    ELEMENT_TYPES.iter().find(|(onnx, _)| *onnx == code).map(|(_, ptir)| *ptir)
}

/// Returns ONNX's element type; `None` for `index`.
pub(crate) fn element_type(dtype: DataType) -> Option<ElementType> {
    let dtype = if dtype == DataType::Index { DataType::I64 } else { dtype };
    ELEMENT_TYPES.iter().find(|(_, ptir)| *ptir == dtype).map(|(onnx, _)| *onnx)
}
