//! Bodies of a function as graphs.

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;
use sapwood_ptir::{Attr, BodyId, Dim, Function, InstId, TensorLiteral, ValueId};

use super::scope::NameScope;
use super::{WriteError, WriteResult};
use crate::dialect::INITIALIZER;
use crate::model::with_stack;
use crate::read::OnnxSource;
use crate::values::{literal_of, tensor_of, type_of, value_type};
use crate::{
    DimensionValue, Graph, Nested, Node, SparseTensor, Tensor, Text, TypeValue, ValueInfo,
};

/// A writer of one function.
pub(super) struct GraphWriter<'a> {
    pub(super) f: &'a Function,
    pub(super) source: Option<&'a OnnxSource>,
    /// The nodes of the source, in the order of `all_nodes`.
    pub(super) nodes: Vec<&'a Node>,
    pub(super) opsets: HashMap<String, i64, FxBuildHasher>,
    /// True if another version of ai.onnx was asked for than the source has.
    pub(super) changes_version: bool,
    pub(super) names: NameScope<'a>,
    /// The initializers that nodes of the open graph need besides the constants of the program.
    pub(super) extra: Vec<Tensor>,
    /// Names of other values that stand for values of the program.
    pub(super) aliases: HashMap<ValueId, Text, FxBuildHasher>,
    /// Names of operands of broadcasts with axes of extent one added, by the result of the broadcast.
    pub(super) unsqueezed: HashMap<ValueId, Text, FxBuildHasher>,
    /// The names of nodes that were raised from core ops.
    pub(super) node_names: HashSet<Text, FxBuildHasher>,
    /// The initializers that were added, by content and by the depth of their graph.
    pub(super) made: HashMap<(TensorLiteral, usize), Text, FxBuildHasher>,
    /// Places of extents that are expressions: a value that is already computed, and an axis.
    pub(super) extents: HashMap<Dim, (Text, usize), FxBuildHasher>,
    open_graphs: usize,
    ir_version: i64,
}

/// The contents of a graph before they are put in order.
#[derive(Default)]
struct GraphParts {
    nodes: Vec<Node>,
    initializers: Vec<Tensor>,
    sparse: Vec<SparseTensor>,
}

impl<'a> GraphWriter<'a> {
    pub(super) fn new(
        f: &'a Function,
        source: Option<&'a OnnxSource>,
        nodes: Vec<&'a Node>,
        opsets: HashMap<String, i64, FxBuildHasher>,
        ir_version: i64,
    ) -> Self {
        let names = NameScope::new(f, source);
        Self {
            f,
            source,
            nodes,
            opsets,
            changes_version: false,
            names,
            extra: Vec::new(),
            aliases: HashMap::default(),
            made: HashMap::default(),
            unsqueezed: HashMap::default(),
            node_names: HashSet::default(),
            extents: HashMap::default(),
            open_graphs: 0,
            ir_version,
        }
    }

    /// Returns how many graphs are open.
    pub(super) fn depth(&self) -> usize {
        self.open_graphs
    }

    pub(super) fn write_main(mut self, original: Option<&'a Graph>) -> WriteResult<Graph> {
        self.write_graph(self.f.body(), original, true)
    }

    /// Writes a region as a graph.
    pub(super) fn write_region(
        &mut self,
        body: BodyId,
        original: Option<&'a Graph>,
    ) -> WriteResult<Graph> {
        with_stack(|| self.write_graph(body, original, false))
    }

    fn write_graph(
        &mut self,
        body: BodyId,
        original: Option<&'a Graph>,
        is_main: bool,
    ) -> WriteResult<Graph> {
        let outer_extra = std::mem::take(&mut self.extra);
        self.open_graphs += 1;
        let results = self.f.body_results(body);
        let mut outputs: Vec<Text> = (0..results.len())
            .map(|i| {
                let given = original.and_then(|graph| graph.output.get(i)?.name.clone());
                given.unwrap_or_else(|| match results.len() {
                    1 => "output".into(),
                    _ => format!("output_{i}").into(),
                })
            })
            .collect();
        let level = self.names.open(body, &outputs);
        let outer_extents = self.extents.clone();
        for &param in self.f.body_params(body) {
            self.add_extents(param);
        }
        let tensors: HashMap<&Text, &'a Tensor, FxBuildHasher> = original
            .map(|graph| {
                graph.initializer.iter().filter_map(|t| Some((t.name.as_ref()?, t))).collect()
            })
            .unwrap_or_default();
        let mut parts = GraphParts::default();
        for inst in self.f.body_insts(body) {
            if self.f.op_def(inst).is_some_and(|def| def.terminator) {
                continue;
            }
            self.write_inst(inst, original, &tensors, &mut parts)?;
        }
        for (&value, output) in results.iter().zip(&mut outputs) {
            let name = self.name_of(value);
            // A subgraph may not return a value of the graph around it, unless the model did so.
            let is_outer = !is_main && !self.is_defined_in(value, body);
            if name == *output && is_outer && original.is_none_or(|graph| defines(graph, output)) {
                *output = self.names.fresh_like("output");
            }
            if name != *output {
                parts.nodes.push(Node {
                    op_type: Some("Identity".into()),
                    input: vec![name],
                    output: vec![output.clone()],
                    ..Node::default()
                });
            }
        }
        // Constants that nodes no longer use, because they use a smaller one, are not written.
        let used: HashSet<Text, FxBuildHasher> =
            parts.nodes.iter().flat_map(|node| node.input.iter().cloned()).collect();
        let is_kept = |name: &Text| {
            used.contains(name) || tensors.contains_key(name) || outputs.contains(name)
        };
        let has_regions =
            parts.nodes.iter().any(|n| n.attribute.iter().any(|a| a.graphs().next().is_some()));
        if !has_regions {
            parts.initializers.retain(|tensor| tensor.name.as_ref().is_some_and(is_kept));
        }
        let graph = self.assemble(body, original, is_main, &outputs, parts);
        self.names.close(level);
        self.extents = outer_extents;
        self.extra = outer_extra;
        let depth = self.open_graphs;
        self.made.retain(|(_, made_at), _| *made_at < depth);
        self.open_graphs -= 1;
        Ok(graph)
    }

    fn write_inst(
        &mut self,
        inst: InstId,
        original: Option<&'a Graph>,
        tensors: &HashMap<&Text, &'a Tensor, FxBuildHasher>,
        parts: &mut GraphParts,
    ) -> WriteResult<()> {
        let f = self.f;
        if let Some(value) = f.value_of(inst)
            && let Some(literal) = f.constant_of(value)
        {
            let name = self.names.name(value);
            if name.is_empty() {
                return Ok(());
            }
            let same = tensors.get(&name).filter(|tensor| {
                self.source.and_then(|s| literal_of(tensor, s.data())).as_ref() == Some(literal)
            });
            let tensor = match same {
                Some(&tensor) => tensor.clone(),
                None => tensor_of(literal, name).ok_or_else(|| WriteError::Op {
                    op: "constant".into(),
                    why: format!("ONNX has no tensors of {}", literal.dtype()),
                })?,
            };
            parts.initializers.push(tensor);
            return Ok(());
        }
        if f.op_name(inst) == INITIALIZER {
            let Some(Attr::Str(name)) = f.attr(inst, "name") else { return Ok(()) };
            let is_named =
                |text: Option<&Text>| text.is_some_and(|text| text.to_str_lossy() == **name);
            let graph = original.into_iter();
            let dense =
                graph.clone().flat_map(|g| &g.initializer).find(|t| is_named(t.name.as_ref()));
            let sparse = graph
                .flat_map(|g| &g.sparse_initializer)
                .find(|t| is_named(t.values.as_ref().and_then(|v| v.name.as_ref())));
            match (dense, sparse) {
                (Some(tensor), _) => parts.initializers.push(tensor.clone()),
                (None, Some(tensor)) => parts.sparse.push(tensor.clone()),
                (None, None) => {
                    let why = format!("the model has no initializer `{name}` in this graph");
                    return Err(WriteError::Op { op: INITIALIZER.into(), why });
                }
            }
            return Ok(());
        }
        let nodes = self.write_node(inst)?;
        for value in f.inst_results(inst) {
            let name = self.names.name(value);
            if nodes.iter().any(|node| node.output.contains(&name)) {
                self.add_extents(value);
            }
        }
        parts.nodes.extend(nodes);
        parts.initializers.append(&mut self.extra);
        Ok(())
    }

    // Remembers where the extents of a value can be read, if they are expressions.
    fn add_extents(&mut self, value: ValueId) {
        let name = self.names.name(value);
        if name.is_empty() {
            return;
        }
        for (axis, dim) in self.dims(value).into_iter().enumerate() {
            if matches!(dim, Dim::Expr(_)) {
                self.extents.entry(dim).or_insert_with(|| (name.clone(), axis));
            }
        }
    }

    fn assemble(
        &mut self,
        body: BodyId,
        original: Option<&Graph>,
        is_main: bool,
        outputs: &[Text],
        parts: GraphParts,
    ) -> Graph {
        let f = self.f;
        let params: Vec<(Text, ValueId)> =
            f.body_params(body).iter().map(|&v| (self.names.name(v), v)).collect();
        let param_names: HashSet<&Text, FxBuildHasher> = params.iter().map(|(n, _)| n).collect();
        let mut made: HashMap<Text, Tensor, FxBuildHasher> = HashMap::default();
        let mut order: Vec<Text> = Vec::new();
        for tensor in parts.initializers {
            let name = tensor.name.clone().unwrap_or_default();
            order.push(name.clone());
            made.insert(name, tensor);
        }
        // The order of the file, then new ones.
        let mut initializer: Vec<Tensor> = Vec::with_capacity(made.len());
        for tensor in original.into_iter().flat_map(|graph| &graph.initializer) {
            let Some(name) = &tensor.name else { continue };
            match made.remove(name) {
                Some(tensor) => initializer.push(tensor),
                None if param_names.contains(name) => initializer.push(tensor.clone()),
                None => {}
            }
        }
        initializer.extend(order.iter().filter_map(|name| made.remove(name)));
        let initialized: HashSet<Text, FxBuildHasher> =
            initializer.iter().filter_map(|t| t.name.clone()).collect();
        let originals = original.map(|graph| &graph.input[..]).unwrap_or_default();
        let mut listed: HashSet<&Text, FxBuildHasher> = HashSet::default();
        let mut input: Vec<ValueInfo> = Vec::with_capacity(params.len());
        for info in originals {
            let Some(name) = &info.name else { continue };
            if param_names.contains(name) || initialized.contains(name) {
                listed.insert(name);
                let param = params.iter().find(|(own, _)| own == name);
                input.push(match param {
                    Some((_, value)) => self.refreshed(info, *value),
                    None => info.clone(),
                });
            }
        }
        // A graph that did not change is written as it was, also where it could tell more about its values.
        let is_changed =
            original.is_none_or(|graph| graph.node != parts.nodes || graph.input != input);
        let missing = params.iter().filter(|(name, _)| !listed.contains(name));
        input.extend(missing.map(|(name, value)| self.value_info(name, *value)));
        if is_main && self.ir_version < 4 {
            // Old versions of the format list initializers as inputs.
            for tensor in
                initializer.iter().filter(|t| t.name.as_ref().is_some_and(|n| !listed.contains(n)))
            {
                if let Some(name) = &tensor.name {
                    let dims = tensor.dims.iter().map(|&n| Some(DimensionValue::Value(n)));
                    let ty = crate::Type::tensor(tensor.data_type, dims);
                    input.push(ValueInfo::new(name.clone(), ty));
                }
            }
        }
        let results = f.body_results(body);
        let old_outputs = original.map(|graph| &graph.output[..]).unwrap_or_default();
        let output = outputs
            .iter()
            .zip(results)
            .enumerate()
            .map(|(i, (name, &value))| match old_outputs.get(i) {
                Some(info) if info.name.as_ref() != Some(name) => self.value_info(name, value),
                Some(info) if is_changed => self.refreshed(info, value),
                Some(info) => info.clone(),
                None => self.value_info(name, value),
            })
            .collect();
        // Types of values that the graph no longer has are dropped.
        let old_values: HashSet<&Text, FxBuildHasher> = original
            .into_iter()
            .flat_map(|graph| &graph.node)
            .flat_map(|node| &node.output)
            .collect();
        let is_gone = |name: &Text| old_values.contains(name) && !self.names.is_taken(name);
        let value_info = original.into_iter().flat_map(|graph| &graph.value_info);
        let value_info = value_info.filter(|info| !info.name.as_ref().is_some_and(is_gone));
        let values: HashMap<Text, ValueId, FxBuildHasher> = match is_changed {
            true => {
                let results = f.body_insts(body).flat_map(|inst| f.inst_results(inst));
                results.map(|value| (self.names.name(value), value)).collect()
            }
            false => HashMap::default(),
        };
        let refreshed = |info: &ValueInfo| match info.name.as_ref().and_then(|n| values.get(n)) {
            Some(&value) => self.refreshed(info, value),
            None => info.clone(),
        };
        let base = original.map_or_else(
            || Graph { name: Some(f.name().as_str().into()), ..Graph::default() },
            |graph| Graph {
                wire: graph.wire.clone(),
                name: graph.name.clone(),
                doc_string: graph.doc_string.clone(),
                quantization_annotation: graph.quantization_annotation.clone(),
                metadata_props: graph.metadata_props.clone(),
                ..Graph::default()
            },
        );
        Graph {
            value_info: value_info.map(refreshed).collect(),
            node: parts.nodes,
            initializer,
            sparse_initializer: parts.sparse,
            input,
            output,
            ..base
        }
    }

    // Returns the declaration of a value with the extents that are known now, and without those that are false.
    fn refreshed(&self, info: &ValueInfo, value: ValueId) -> ValueInfo {
        let (Some(old), Some(new)) = (
            value_type(info.r#type.as_deref()).as_tensor().cloned(),
            self.f.value_type(value).as_tensor(),
        ) else {
            return info.clone();
        };
        if old.rank() != new.rank() || old.dtype != new.dtype {
            return self.value_info(info.name.as_ref().unwrap_or(&Text::default()), value);
        }
        let is_same = |(old, new): (&Dim, &Dim)| match (old, new) {
            (Dim::Known(a), Dim::Known(b)) => a == b,
            (_, Dim::Known(_)) => false,
            _ => true,
        };
        if old.dims.iter().zip(&new.dims).all(is_same) {
            return info.clone();
        }
        let Some(mut ty) = type_of(&new.clone().into()) else { return info.clone() };
        // Names of extents of which nothing new is known stay.
        if let (Some(TypeValue::Tensor(ty)), Some(TypeValue::Tensor(declared))) =
            (&mut ty.value, info.r#type.as_ref().and_then(|ty| ty.value.as_ref()))
            && let (Some(shape), Some(declared)) = (&mut ty.shape, &declared.shape)
        {
            for (dim, before) in shape.dim.iter_mut().zip(&declared.dim) {
                if !matches!(dim.value, Some(DimensionValue::Value(_))) {
                    *dim = before.clone();
                }
            }
        }
        ValueInfo { r#type: Some(Nested::new(ty)), ..info.clone() }
    }

    fn is_defined_in(&self, value: ValueId, body: BodyId) -> bool {
        match self.f.inst_of(value) {
            Some(inst) => self.f.body_of(inst) == Some(body),
            None => self.f.body_params(body).contains(&value),
        }
    }

    fn value_info(&self, name: &Text, value: ValueId) -> ValueInfo {
        let ty = type_of(self.f.value_type(value));
        ValueInfo { name: Some(name.clone()), r#type: ty.map(Nested::new), ..ValueInfo::default() }
    }
}

// Returns whether a graph itself defines a name, as an input, a constant or the output of a node.
fn defines(graph: &Graph, name: &Text) -> bool {
    graph.node.iter().any(|node| node.output.contains(name))
        || graph.input.iter().any(|input| input.name.as_ref() == Some(name))
        || graph.initializer.iter().any(|tensor| tensor.name.as_ref() == Some(name))
}
