//! The writer: from programs to models. Everything that did not change is taken from the model that was read.

mod graph;
mod node;
mod raise;
mod raise_products;
mod scope;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::Program;

use crate::read::{OnnxSource, all_nodes};
use crate::{Model, OperatorSet, Text, ops, own_ops};

/// The IR version and the operator set of models that were not read from ONNX.
const NEW_IR_VERSION: i64 = 10;
const NEW_OPSET: i64 = 21;

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
}

pub(crate) type WriteResult<T> = Result<T, WriteError>;

/// Converts a program to a model. `source` is the model that the program was read from, if there is one.
///
/// # Errors
/// If an op has no counterpart in ONNX.
pub fn to_model(program: &Program, source: Option<&OnnxSource>) -> WriteResult<Model> {
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
    let text = |text: &Option<Text>| text.as_ref().and_then(Text::as_str).unwrap_or("").to_owned();
    let opsets: HashMap<String, i64, FxBuildHasher> = opset_import
        .iter()
        .map(|set| {
            (ops::normal_domain(&text(&set.domain)).to_owned(), set.version.unwrap_or(NEW_OPSET))
        })
        .collect();
    let main = original.and_then(|model| model.graph.as_deref());
    let ir_version = original.map_or(Some(NEW_IR_VERSION), |model| model.ir_version);
    let writer = graph::GraphWriter::new(
        function,
        source,
        main.map(all_nodes).unwrap_or_default(),
        opsets,
        ir_version.unwrap_or(NEW_IR_VERSION),
    );
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
    model.graph = Some(graph.into());
    Ok(model)
}
