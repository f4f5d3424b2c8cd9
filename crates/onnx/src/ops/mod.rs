//! The schemas of ONNX's ops: inputs, outputs and attributes, by version.
//!
//! The tables are text, one row per form of an op; `tests/oracle/onnx_ops.py` writes them from ONNX's own schemas and explains the format.

mod newest;
mod table_a_l;
mod table_m_z;
mod table_ml;
mod table_parser;
mod table_preview;
mod table_training;
mod table_types;

use std::sync::LazyLock;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::eval::DataType;

use crate::{AttributeType, AttributeValue};

/// One form of an op: its inputs, outputs and attributes in some versions of its operator set.
#[derive(Clone, Debug, PartialEq)]
pub struct OpSchema {
    /// The name.
    pub name: &'static str,
    /// The operator set; empty for ONNX's own.
    pub domain: &'static str,
    /// The versions of the set that changed the op, ascending. They differ in types only, if at all.
    pub versions: Vec<i64>,
    /// True if these versions no longer have the op. The lists below are empty then.
    pub is_deprecated: bool,
    /// The inputs.
    pub inputs: Vec<Parameter>,
    /// The outputs.
    pub outputs: Vec<Parameter>,
    /// The attributes, by name.
    pub attributes: Vec<AttributeSchema>,
}

/// An input or output of an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The name.
    pub name: &'static str,
    /// The number of times it occurs.
    pub presence: Presence,
}

/// The number of times a parameter occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Once.
    Required,
    /// Once or not.
    Optional,
    /// Any number of times, with a minimum; the last parameter only.
    Variadic {
        /// 0 or 1.
        min: usize,
    },
}

/// An attribute of an op.
#[derive(Clone, Debug, PartialEq)]
pub struct AttributeSchema {
    /// The name.
    pub name: &'static str,
    /// The type of its value.
    pub r#type: AttributeType,
    /// True if a node must have it.
    pub is_required: bool,
    /// The value for nodes that do not have the attribute.
    pub default: Option<AttributeValue>,
}

impl OpSchema {
    /// Returns the attribute of this name.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<&AttributeSchema> {
        let position = self.attributes.binary_search_by(|a| a.name.cmp(name));
        position.ok().map(|position| &self.attributes[position])
    }

    /// Returns how many inputs a node may have, at least and at most; no upper limit is `usize::MAX`.
    #[must_use]
    pub fn input_count(&self) -> (usize, usize) {
        count_range(&self.inputs)
    }

    /// Returns how many outputs a node may have, at least and at most.
    #[must_use]
    pub fn output_count(&self) -> (usize, usize) {
        count_range(&self.outputs)
    }
}

/// Returns the least and the largest number of parameters. All up to the last required one must be present, because they are positional.
fn count_range(parameters: &[Parameter]) -> (usize, usize) {
    let (mut min, mut max) = (0, parameters.len());
    for (position, parameter) in parameters.iter().enumerate() {
        match parameter.presence {
            Presence::Required => min = position + 1,
            Presence::Optional => {}
            Presence::Variadic { min: least } => {
                min = if least > 0 { position + least } else { min };
                max = usize::MAX;
            }
        }
    }
    (min, max)
}

/// The forms of the ops of one domain, by name.
type SchemaTable = HashMap<&'static str, Vec<OpSchema>, FxBuildHasher>;

/// The operator sets of ONNX with their tables; the empty name is that of the default set.
const TABLES: [(&str, &[&str]); 4] = [
    ("", &[table_a_l::ROWS, table_m_z::ROWS]),
    ("ai.onnx.ml", &[table_ml::ROWS]),
    ("ai.onnx.preview", &[table_preview::ROWS]),
    ("ai.onnx.preview.training", &[table_training::ROWS]),
];

static SCHEMAS: [LazyLock<SchemaTable>; TABLES.len()] = [
    LazyLock::new(|| index_schemas(TABLES[0])),
    LazyLock::new(|| index_schemas(TABLES[1])),
    LazyLock::new(|| index_schemas(TABLES[2])),
    LazyLock::new(|| index_schemas(TABLES[3])),
];

fn index_schemas((domain, tables): (&'static str, &[&'static str])) -> SchemaTable {
    let mut schemas = SchemaTable::default();
    for schema in tables.iter().flat_map(|table| table_parser::parse_table(domain, table)) {
        schemas.entry(schema.name).or_default().push(schema);
    }
    schemas
}

/// Returns the forms of an op, oldest first; none if it is not an op of ONNX.
///
/// ```
/// use sapwood_onnx::ops;
///
/// let forms = ops::schemas("", "Softmax");
/// assert_eq!(forms[0].versions, [1, 11]);
/// assert_eq!(forms[1].versions, [13]);
/// ```
#[must_use]
pub fn schemas(domain: &str, name: &str) -> &'static [OpSchema] {
    let domain = normal_domain(domain);
    let Some(set) = TABLES.iter().position(|(own, _)| *own == domain) else { return &[] };
    SCHEMAS[set].get(name).map_or(&[], Vec::as_slice)
}

/// Returns an op as a version of its operator set has it.
///
/// ```
/// use sapwood_onnx::ops;
///
/// let old = ops::schema("", "Clip", 6).unwrap();
/// assert_eq!(old.inputs.len(), 1);
/// let new = ops::schema("ai.onnx", "Clip", 13).unwrap();
/// assert_eq!(new.inputs.len(), 3);
/// assert!(ops::schema("", "Clip", 0).is_none());
/// ```
#[must_use]
pub fn schema(domain: &str, name: &str, opset: i64) -> Option<&'static OpSchema> {
    schemas(domain, name).iter().rev().find(|schema| schema.versions[0] <= opset)
}

/// The element types that an input has in some versions of the operator set.
struct InputTypes {
    opsets: std::ops::RangeInclusive<i64>,
    input: usize,
    types: Vec<DataType>,
}

type TypeTable = HashMap<&'static str, Vec<InputTypes>, FxBuildHasher>;

static INPUT_TYPES: LazyLock<TypeTable> = LazyLock::new(|| {
    let mut table = TypeTable::default();
    for line in table_types::ROWS.lines() {
        let Some((place, types)) = line.split_once(" | ") else { continue };
        let words: Vec<&str> = place.split(' ').collect();
        let [name, first, last, input] = words[..] else { continue };
        let (Ok(first), Ok(last), Ok(input)) = (first.parse(), last.parse(), input.parse()) else {
            continue;
        };
        let types = types.split(' ').filter_map(|name| name.parse().ok()).collect();
        let row = InputTypes { opsets: first..=last, input, types };
        table.entry(name).or_default().push(row);
    }
    table
});

/// Returns the element types of an input of an op of ai.onnx in a version of the operator set; `None` if later versions have no others.
pub(crate) fn input_types(name: &str, opset: i64, input: usize) -> Option<&'static [DataType]> {
    let rows = INPUT_TYPES.get(name)?;
    let row = rows.iter().find(|row| row.input == input && row.opsets.contains(&opset))?;
    Some(&row.types)
}

/// Returns every form of every op, by domain and name, oldest first.
#[must_use]
pub fn all_schemas() -> Vec<&'static OpSchema> {
    let mut all: Vec<_> = SCHEMAS.iter().flat_map(|set| set.values()).flatten().collect();
    all.sort_by_key(|schema| (schema.domain, schema.name, schema.versions[0]));
    all
}

/// Returns the newest version of one of ONNX's operator sets that this table has; `None` for other sets.
#[must_use]
pub fn newest_opset(domain: &str) -> Option<i64> {
    let domain = normal_domain(domain);
    newest::NEWEST.iter().find(|(name, _)| *name == domain).map(|(_, version)| *version)
}

/// Returns the domain, with the empty one for ONNX's own set, which has two names.
#[must_use]
pub fn normal_domain(domain: &str) -> &str {
    if domain == "ai.onnx" { "" } else { domain }
}
