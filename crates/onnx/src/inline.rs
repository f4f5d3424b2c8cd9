//! Calls of a model's functions, replaced by the nodes of the functions.

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;

use crate::model::with_stack;
use crate::{Attribute, AttributeValue, Function, Graph, Model, Node, OperatorSet, Text, ops};

/// The most nodes that a model may have after its functions are inlined, for each node before: functions that call one another twice grow
/// exponentially.
const MAX_GROWTH: usize = 64;
/// The number of nodes that any model may have.
const MIN_LIMIT: usize = 1 << 16;

/// Replaces the calls of the model's functions by their nodes, and returns whether the model changed. The model must be valid.
///
/// A function stays if it uses an op in another version of its operator set than the model, and all functions stay if the result would be
/// too large.
pub(crate) fn inline_functions(model: &mut Model) -> bool {
    if model.functions.is_empty() || !model.training_info.is_empty() {
        return false;
    }
    let Some(graph) = &model.graph else { return false };
    let mut changed = (**graph).clone();
    let mut inliner = Inliner::new(model, &model.functions);
    if inliner.expand_graph(&mut changed).is_none() || inliner.calls == 0 {
        return false;
    }
    let (imports, all_inlined) = (std::mem::take(&mut inliner.added_imports), inliner.kept == 0);
    drop(inliner);
    model.graph = Some(changed.into());
    model.opset_import.extend(imports);
    if all_inlined {
        model.functions.clear();
    }
    true
}

type FunctionKey = (String, Text, Text);
type Names = HashMap<Text, Text, FxBuildHasher>;

struct Inliner<'a> {
    functions: HashMap<FunctionKey, &'a Function, FxBuildHasher>,
    imports: HashMap<String, i64, FxBuildHasher>,
    added_imports: Vec<OperatorSet>,
    /// All names of values of the model.
    taken: HashSet<Text, FxBuildHasher>,
    /// The number to try next for each name that was taken: many calls may have one label.
    next_numbers: HashMap<String, usize, FxBuildHasher>,
    nodes: usize,
    max_nodes: usize,
    /// The calls that were replaced, and those that stay.
    calls: usize,
    kept: usize,
}

impl<'a> Inliner<'a> {
    fn new(model: &Model, functions: &'a [Function]) -> Self {
        let mut taken = HashSet::default();
        let mut graphs: Vec<&Graph> = model.graph.as_deref().into_iter().collect();
        while let Some(graph) = graphs.pop() {
            let values = graph.input.iter().filter_map(|info| info.name.clone());
            taken.extend(values.chain(graph.initializer.iter().filter_map(|t| t.name.clone())));
            for node in &graph.node {
                taken.extend(node.input.iter().chain(&node.output).cloned());
                graphs.extend(node.attribute.iter().flat_map(Attribute::graphs));
            }
        }
        let nodes = functions.iter().fold(model.count_nodes(), |n, f| n + f.node.len());
        let functions = functions.iter().map(|f| {
            let text = |text: &Option<Text>| text.clone().unwrap_or_default();
            ((domain_of(f.domain.as_ref()), text(&f.name), text(&f.overload)), f)
        });
        let imports = model.opset_import.iter();
        Self {
            functions: functions.collect(),
            imports: imports
                .map(|set| (domain_of(set.domain.as_ref()), set.version.unwrap_or(0)))
                .collect(),
            added_imports: Vec::new(),
            taken,
            next_numbers: HashMap::default(),
            nodes: 0,
            max_nodes: nodes.saturating_mul(MAX_GROWTH).max(MIN_LIMIT),
            calls: 0,
            kept: 0,
        }
    }

    // Replaces the calls in a graph; `None` if there would be too many nodes.
    fn expand_graph(&mut self, graph: &mut Graph) -> Option<()> {
        let nodes = std::mem::take(&mut graph.node);
        graph.node = with_stack(|| self.expand(nodes))?;
        Some(())
    }

    fn expand(&mut self, nodes: Vec<Node>) -> Option<Vec<Node>> {
        let mut expanded = Vec::with_capacity(nodes.len());
        for mut node in nodes {
            self.nodes += 1;
            if self.nodes > self.max_nodes {
                return None;
            }
            for attribute in &mut node.attribute {
                for graph in graphs_mut(attribute) {
                    self.expand_graph(graph)?;
                }
            }
            let text = |text: &Option<Text>| text.clone().unwrap_or_default();
            let key = (domain_of(node.domain.as_ref()), text(&node.op_type), text(&node.overload));
            match self.functions.get(&key).copied() {
                None => expanded.push(node),
                Some(function) if !self.fits(function) => {
                    self.kept += 1;
                    expanded.push(node);
                }
                Some(function) => {
                    self.calls += 1;
                    let body = self.instantiate(&node, function);
                    expanded.append(&mut with_stack(|| self.expand(body))?);
                }
            }
        }
        Some(expanded)
    }

    // Returns whether the ops of a function mean the same in the versions of the operator sets that the model has. Sets that only the
    // function uses are added to those of the model.
    fn fits(&mut self, function: &Function) -> bool {
        let mut new = Vec::new();
        for set in &function.opset_import {
            let (domain, version) = (domain_of(set.domain.as_ref()), set.version.unwrap_or(0));
            match self.imports.get(&domain) {
                None => new.push((domain, set)),
                Some(&own) if own == version => {}
                Some(&own) => {
                    let first = |op: &str, version| {
                        ops::schema(&domain, op, version).map(|form| form.versions[0])
                    };
                    let is_same = |node: &Node| {
                        let op = node.op_type.as_ref().and_then(Text::as_str).unwrap_or_default();
                        domain_of(node.domain.as_ref()) != domain
                            || first(op, own) == first(op, version)
                    };
                    let mut lists = vec![&function.node];
                    while let Some(nodes) = lists.pop() {
                        if !nodes.iter().all(is_same) {
                            return false;
                        }
                        let attributes = nodes.iter().flat_map(|node| &node.attribute);
                        lists.extend(attributes.flat_map(Attribute::graphs).map(|g| &g.node));
                    }
                }
            }
        }
        for (domain, set) in new {
            self.imports.insert(domain, set.version.unwrap_or(0));
            self.added_imports.push(set.clone());
        }
        true
    }

    // Returns the nodes of a function for a call.
    fn instantiate(&mut self, call: &Node, function: &Function) -> Vec<Node> {
        let mut names = Names::default();
        for (i, name) in function.input.iter().enumerate() {
            names.insert(name.clone(), call.input.get(i).cloned().unwrap_or_default());
        }
        let mut copies = Vec::new();
        for (name, result) in function.output.iter().zip(&call.output) {
            if result.is_empty() {
                continue;
            }
            // A result may be an input, or another result.
            match names.get(name) {
                Some(source) => copies.push(Node {
                    op_type: Some("Identity".into()),
                    input: vec![source.clone()],
                    output: vec![result.clone()],
                    ..Node::default()
                }),
                None => drop(names.insert(name.clone(), result.clone())),
            }
        }
        let label = call.label().map(ToString::to_string).unwrap_or_default();
        let scope = CallScope { call, function, label: &label };
        let mut nodes: Vec<Node> = function.node.clone();
        for node in &mut nodes {
            self.rename_node(node, &scope, &mut names);
        }
        nodes.append(&mut copies);
        nodes
    }

    fn rename_node(&mut self, node: &mut Node, scope: &CallScope<'_>, names: &mut Names) {
        for input in &mut node.input {
            if let Some(name) = names.get(input) {
                *input = name.clone();
            }
        }
        if let Some(name) = node.name.as_mut().filter(|name| !name.is_empty()) {
            *name = format!("{}/{name}", scope.label).into();
        }
        node.attribute.retain_mut(|attribute| scope.resolve(attribute));
        for attribute in &mut node.attribute {
            for graph in graphs_mut(attribute) {
                with_stack(|| self.rename_graph(graph, scope, &mut names.clone()));
            }
        }
        for output in &mut node.output {
            self.define(output, scope, names);
        }
    }

    // Gives a value of a function a name that the model does not have yet.
    fn define(&mut self, name: &mut Text, scope: &CallScope<'_>, names: &mut Names) {
        if name.is_empty() {
            return;
        }
        if !names.contains_key(name) {
            let base = format!("{}_{name}", scope.label);
            let mut fresh = Text::from(base.as_str());
            if !self.taken.insert(fresh.clone()) {
                let number = self.next_numbers.entry(base.clone()).or_insert(1);
                loop {
                    fresh = format!("{base}_{number}").into();
                    *number += 1;
                    if self.taken.insert(fresh.clone()) {
                        break;
                    }
                }
            }
            names.insert(name.clone(), fresh);
        }
        *name = names[&*name].clone();
    }

    fn rename_graph(&mut self, graph: &mut Graph, scope: &CallScope<'_>, names: &mut Names) {
        // Names of the graph hide those around it.
        let inputs = graph.input.iter_mut().filter_map(|info| info.name.as_mut());
        let dense = graph.initializer.iter_mut().filter_map(|tensor| tensor.name.as_mut());
        let sparse = graph.sparse_initializer.iter_mut();
        let sparse = sparse.filter_map(|tensor| tensor.values.as_mut()?.name.as_mut());
        let mut own: HashSet<Text, FxBuildHasher> = HashSet::default();
        for name in inputs.chain(dense).chain(sparse) {
            // An input and its default have one name.
            if own.insert(name.clone()) {
                names.remove(name);
            }
            self.define(name, scope, names);
        }
        for node in &mut graph.node {
            for output in &node.output {
                names.remove(output);
            }
            self.rename_node(node, scope, names);
        }
        let infos = graph.output.iter_mut().chain(&mut graph.value_info);
        for name in infos.filter_map(|info| info.name.as_mut()) {
            if let Some(new) = names.get(name) {
                *name = new.clone();
            }
        }
    }
}

/// A call of a function.
struct CallScope<'a> {
    call: &'a Node,
    function: &'a Function,
    label: &'a str,
}

impl CallScope<'_> {
    // Gives an attribute that refers to one of the function its value. Returns false if the call leaves that one out.
    fn resolve(&self, attribute: &mut Attribute) -> bool {
        let Some(name) = attribute.ref_attr_name.take().filter(|name| !name.is_empty()) else {
            return true;
        };
        let is_named = |a: &&Attribute| a.name.as_ref() == Some(&name);
        let given = self.call.attribute.iter().find(is_named);
        let value = given.or_else(|| self.function.attribute_proto.iter().find(is_named));
        let Some(value) = value else { return false };
        let own = attribute.name.take();
        *attribute = Attribute { name: own, ..value.clone() };
        true
    }
}

fn graphs_mut(attribute: &mut Attribute) -> impl Iterator<Item = &mut Graph> {
    let graphs = match &mut attribute.value {
        Some(AttributeValue::Graph(graph)) => std::slice::from_mut(graph),
        Some(AttributeValue::Graphs(graphs)) => graphs.as_mut_slice(),
        _ => &mut [],
    };
    graphs.iter_mut().map(|graph| &mut **graph)
}

fn domain_of(domain: Option<&Text>) -> String {
    ops::normal_domain(domain.and_then(Text::as_str).unwrap_or_default()).to_owned()
}
