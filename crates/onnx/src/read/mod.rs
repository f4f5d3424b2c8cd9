//! The reader: from models to programs with one instruction per node.

mod fresh_symbols;
mod graph;
mod loops;
mod names;
mod rank_uses;

use std::sync::Arc;

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::{Attr, InstId, Program, Registry};
use sapwood_types::{Diagnostic, Diagnostics, Severity, Span};

pub(crate) use fresh_symbols::FRESH_PREFIX;
pub(crate) use graph::{attr_int, attr_ints};
pub(crate) use loops::joined as joined_types;
pub(crate) use names::NameTable;

use crate::edit::ValueTypes;
use crate::{ExternalData, Graph, Model, Node, Text, dialect, verify};

/// A program with the model that it was read from.
#[derive(Clone)]
pub struct OnnxModule {
    /// The program. Its function `main` is the graph of the model.
    pub program: Program,
    /// The model, for everything that a program does not hold.
    pub source: OnnxSource,
    /// Messages about declarations of the model that are wrong and were ignored.
    pub notes: Vec<String>,
}

/// The model that a program was read from. The writer takes from it names, documentation, unknown fields, the order of
/// attributes, and all nodes and weights that did not change.
#[derive(Clone)]
pub struct OnnxSource {
    pub(crate) model: Arc<Model>,
    pub(crate) data: Arc<ExternalData>,
    /// Names and nodes of the model by names of the program.
    pub(crate) names: Arc<NameTable>,
}

impl OnnxSource {
    /// Returns the model as it was read.
    #[must_use]
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Returns the access to weights in other files, to be kept.
    #[must_use]
    pub fn shared_data(&self) -> Arc<ExternalData> {
        self.data.clone()
    }

    /// Returns the access to weights in other files.
    #[must_use]
    pub fn data(&self) -> &ExternalData {
        &self.data
    }
}

/// Converts a model to a program. Each node becomes one instruction of the op `onnx.NAME`, each subgraph a region.
///
/// # Errors
/// If the model is not valid: with the name and the byte offset of each node that is wrong.
pub fn to_program(
    model: Model,
    data: ExternalData,
    registry: &Arc<Registry>,
) -> Result<OnnxModule, Diagnostics> {
    let (errors, others): (Vec<Diagnostic>, Vec<Diagnostic>) =
        verify(&model).into_iter().partition(|d| d.severity == Severity::Error);
    if !errors.is_empty() {
        let mut all = Diagnostics::new();
        errors.into_iter().for_each(|error| all.push(error));
        return Err(all);
    }
    let mut notes: Vec<String> = others.into_iter().map(|d| d.to_string()).collect();
    let Some(graph) = &model.graph else {
        return Err(Diagnostic::error(Span::unknown(), "the model has no graph").into());
    };
    let read = graph::read_main(graph, &model, &data, registry, &HashSet::default())?;
    notes.extend(read.notes);
    let mut program = Program::new(registry.clone());
    program.replace(read.function);
    let source =
        OnnxSource { model: Arc::new(model), data: Arc::new(data), names: Arc::new(read.names) };
    Ok(OnnxModule { program, source, notes })
}

impl OnnxModule {
    /// Marks the nodes of some ops, which passes then leave as they are, and returns the names of ops that the model does not have.
    pub fn keep_ops<'n>(&mut self, ops: &'n [String]) -> Vec<&'n str> {
        let mut missing: Vec<&str> = ops.iter().map(String::as_str).collect();
        if ops.is_empty() {
            return missing;
        }
        for f in self.program.functions_mut() {
            let insts: Vec<InstId> = f.walk().collect();
            for inst in insts {
                let Some((_, op)) = dialect::domain_and_type(f.op_name(inst)) else { continue };
                let row = f
                    .op_def(inst)
                    .and_then(|def| def.attrs.iter().position(|row| row.name == dialect::KEEP));
                if !ops.iter().any(|name| name == op) {
                    continue;
                }
                missing.retain(|name| *name != op);
                let mut attrs = f.attrs(inst).to_vec();
                if let Some(attr) = row.and_then(|row| attrs.get_mut(row)) {
                    *attr = Attr::Bool(true);
                    // The instruction exists.
                    let _ = f.set_attrs(inst, &attrs);
                }
            }
        }
        missing
    }
}

/// Returns the inferred types of the values of the main graph, by name. Nodes decide ranks of other values only if the outputs need them
/// when the values of `starts` are given.
pub(crate) fn main_value_types(
    model: &Model,
    data: &ExternalData,
    starts: &HashSet<Text, FxBuildHasher>,
) -> Result<ValueTypes, Diagnostics> {
    let Some(graph) = &model.graph else { return Ok(ValueTypes::default()) };
    let read = graph::read_main(graph, model, data, &crate::registry(), starts)?;
    let f = &read.function;
    let results = f.body_insts(f.body()).flat_map(|inst| f.inst_results(inst));
    let named = f.params().iter().copied().chain(results).filter_map(|value| {
        let hint = f.hint(value)?;
        let name = read.names.original(hint).cloned().unwrap_or_else(|| hint.into());
        Some((name, f.value_type(value).clone()))
    });
    Ok(named.collect())
}

/// Returns the subgraphs of a node with the names of their attributes, by name.
pub(crate) fn subgraphs(node: &Node) -> Vec<(&Text, &Graph)> {
    let mut graphs: Vec<(&Text, &Graph)> = Vec::new();
    for attribute in &node.attribute {
        if let Some(name) = &attribute.name {
            graphs.extend(attribute.graphs().map(|graph| (name, graph)));
        }
    }
    graphs.sort_by(|(a, _), (b, _)| a.bytes()[..].cmp(&b.bytes()[..]));
    graphs
}

/// Returns all nodes of a graph and of the graphs inside, each node before those in its subgraphs.
pub(crate) fn all_nodes(graph: &Graph) -> Vec<&Node> {
    let mut all = Vec::with_capacity(graph.node.len());
    let mut stack: Vec<std::slice::Iter<'_, Node>> = vec![graph.node.iter()];
    while let Some(nodes) = stack.last_mut() {
        match nodes.next() {
            None => drop(stack.pop()),
            Some(node) => {
                all.push(node);
                if !node.attribute.is_empty() {
                    let graphs = subgraphs(node);
                    stack.extend(graphs.into_iter().rev().map(|(_, graph)| graph.node.iter()));
                }
            }
        }
    }
    all
}
