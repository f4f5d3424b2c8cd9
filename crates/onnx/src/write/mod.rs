//! The writer: from programs to models. Everything that did not change is taken from the model that was read.

mod convert;
mod graph;
mod node;
mod raise;
mod raise_pads;
mod raise_products;
mod raise_ranges;
mod scope;
mod versions;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::Program;

use crate::raise::with_nodes;
use crate::read::{OnnxSource, all_nodes};
use crate::{Model, OperatorSet, Text, ops, own_ops};

/// The IR version and the operator set of models that were not read from ONNX.
const NEW_IR_VERSION: i64 = 10;
const NEW_OPSET: i64 = 21;
/// The oldest version of ONNX's operator set that is written; reading accepts older ones.
const OLDEST_OPSET: i64 = 7;

/// The first IR version of models with an operator set, by the first such set.
const IR_VERSIONS: &[(i64, i64)] = &[
    (1, 3),
    (9, 4),
    (10, 5),
    (11, 6),
    (12, 7),
    (15, 8),
    (19, 9),
    (21, 10),
    (23, 11),
    (24, 12),
    (25, 13),
    (28, 14),
];

/// The reason why a program cannot be written as ONNX.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// ONNX has no counterpart of an op.
    #[error("op `{op}` cannot be written as ONNX: {why}")]
    Op {
        /// The op.
        op: String,
        /// The reason.
        why: String,
    },
    /// The program has no function that can be the graph.
    #[error("{0}")]
    Function(String),
    /// The version of the operator set is not known.
    #[error("{0}")]
    Opset(String),
}

pub(crate) type WriteResult<T> = Result<T, WriteError>;

/// Converts a program to a model. `source` is the model that the program was read from, if there is one; `opset` the version of ONNX's
/// operator set that the model shall have, if it is not that of the source.
///
/// # Errors
/// If an op has no counterpart in ONNX, or not in this version of the operator set.
pub fn to_model(
    program: &Program,
    source: Option<&OnnxSource>,
    opset: Option<i64>,
) -> WriteResult<Model> {
    let newest = ops::newest_opset("").unwrap_or(NEW_OPSET);
    if let Some(opset) = opset.filter(|n| !(OLDEST_OPSET..=newest).contains(n)) {
        let why = format!("opset {opset} is not known; expected {OLDEST_OPSET} to {newest}");
        return Err(WriteError::Opset(why));
    }
    let function = match program.functions() {
        [one] => one,
        many => match program.function("main") {
            Some(main) if source.is_none() && many.len() > 1 => {
                let calls = "functions are not written; the pass `inline` removes calls of them";
                return Err(WriteError::Function(format!("@{}: {calls}", main.name())));
            }
            Some(main) => main,
            None => {
                let message = format!("an ONNX model needs one function, found {}", many.len());
                return Err(WriteError::Function(message));
            }
        },
    };
    let original = source.map(OnnxSource::model);
    let mut opset_import = match original {
        Some(model) => model.opset_import.clone(),
        None => vec![OperatorSet { version: Some(NEW_OPSET), ..OperatorSet::default() }],
    };
    let old_opset = original.and_then(|model| {
        let is_default = |set: &&OperatorSet| {
            let domain = set.domain.as_ref().and_then(Text::as_str).unwrap_or_default();
            ops::normal_domain(domain).is_empty()
        };
        model.opset_import.iter().find(is_default)?.version
    });
    if let Some(opset) = opset {
        let is_default = |set: &&mut OperatorSet| {
            let domain = set.domain.as_ref().and_then(Text::as_str).unwrap_or_default();
            ops::normal_domain(domain).is_empty()
        };
        match opset_import.iter_mut().find(is_default) {
            Some(set) => set.version = Some(opset),
            None => {
                opset_import.push(OperatorSet { version: Some(opset), ..OperatorSet::default() });
            }
        }
    }
    let text = |text: &Option<Text>| text.as_ref().and_then(Text::as_str).unwrap_or("").to_owned();
    let opsets: HashMap<String, i64, FxBuildHasher> = opset_import
        .iter()
        .map(|set| {
            (ops::normal_domain(&text(&set.domain)).to_owned(), set.version.unwrap_or(NEW_OPSET))
        })
        .collect();
    let main = original.and_then(|model| model.graph.as_deref());
    let mut ir_version = original.map_or(Some(NEW_IR_VERSION), |model| model.ir_version);
    if let Some(opset) = opset {
        let needed = IR_VERSIONS.iter().rev().find(|(first, _)| *first <= opset);
        ir_version = ir_version.max(needed.map(|(_, version)| *version));
    }
    let raised = with_nodes(function);
    let mut writer = graph::GraphWriter::new(
        raised.as_ref().unwrap_or(function),
        source,
        main.map(all_nodes).unwrap_or_default(),
        opsets,
        ir_version.unwrap_or(NEW_IR_VERSION),
    );
    writer.changes_version = opset.is_some() && opset != old_opset;
    let graph = writer.write_main(main)?;
    let is_own = |domain: &Option<Text>| text(domain) == own_ops::DOMAIN;
    if all_nodes(&graph).iter().any(|node| is_own(&node.domain))
        && !opset_import.iter().any(|set| is_own(&set.domain))
    {
        let (domain, version) = (Some(own_ops::DOMAIN.into()), Some(own_ops::VERSION));
        opset_import.push(OperatorSet { domain, version, ..OperatorSet::default() });
    }
    let mut model = match original {
        Some(model) => Model { graph: None, ..model.clone() },
        None => Model { ir_version, producer_name: Some("sapwood".into()), ..Model::default() },
    };
    model.opset_import = opset_import;
    model.ir_version = ir_version;
    model.graph = Some(graph.into());
    Ok(model)
}
