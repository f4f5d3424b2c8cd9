//! The ranks that a value cannot have, because a node after it would fail.
//!
//! The branches of an `If` may yield values of different ranks. Exporters write such nodes for code that asks for the rank of a value,
//! and often all but one rank lead to an error, for example in an `LSTM` whose input must have three axes. A run that fails has no results
//! that could be changed, so that the value may be taken to have the remaining rank.

use std::cell::Cell;
use std::rc::Rc;

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;

use super::subgraphs;
use crate::{AttributeValue, Graph, Node, Text};

/// The most nodes in a row that are followed.
const MAX_STEPS: usize = 16;
/// The most nodes that are looked at for all values of a graph.
const MAX_VISITS: usize = 1 << 20;

/// Nodes whose result has the rank of their first input.
const SAME_RANK: &[&str] = &[
    "Abs",
    "Cast",
    "Ceil",
    "Clip",
    "Elu",
    "Erf",
    "Exp",
    "Floor",
    "Gelu",
    "HardSigmoid",
    "HardSwish",
    "Identity",
    "LeakyRelu",
    "Log",
    "Neg",
    "Reciprocal",
    "Relu",
    "Selu",
    "Sigmoid",
    "Softmax",
    "Softplus",
    "Sqrt",
    "Tanh",
];

/// The nodes of a graph by the values that they use, also in their subgraphs.
pub(super) struct RankUses<'a> {
    graph: &'a Graph,
    users: HashMap<&'a [u8], Vec<&'a Node>, FxBuildHasher>,
    /// The number of nodes that may still be looked at, shared with the graphs inside.
    budget: Rc<Cell<usize>>,
}

/// The values that were read before.
pub(super) trait KnownValues {
    /// Returns the shape of a value, if it is a constant.
    fn constant_shape(&self, name: &Text) -> Option<Vec<i64>>;
}

impl<'a> RankUses<'a> {
    /// Lists the nodes that the outputs need when the values of `starts` are given.
    pub(super) fn new(graph: &'a Graph, starts: &HashSet<Text, FxBuildHasher>) -> Self {
        Self::with_budget(graph, starts, Rc::new(Cell::new(MAX_VISITS)))
    }

    fn with_budget(
        graph: &'a Graph,
        starts: &HashSet<Text, FxBuildHasher>,
        budget: Rc<Cell<usize>>,
    ) -> Self {
        let mut users: HashMap<&[u8], Vec<&Node>, FxBuildHasher> = HashMap::default();
        let outputs = graph.output.iter().filter_map(|output| output.name.as_ref());
        let mut used: HashSet<&[u8], FxBuildHasher> =
            outputs.map(|name| &name.bytes()[..]).collect();
        // A runtime may leave out nodes whose results are not used, which then do not fail.
        for node in graph.node.iter().rev() {
            let is_needed =
                |name: &Text| used.contains(&name.bytes()[..]) && !starts.contains(name);
            if !node.output.iter().any(is_needed) {
                continue;
            }
            for name in names_used(node) {
                used.insert(name.bytes());
                let list = users.entry(name.bytes()).or_default();
                if !list.last().is_some_and(|&last| std::ptr::eq(last, node)) {
                    list.push(node);
                }
            }
        }
        Self { graph, users, budget }
    }

    /// Returns whether a node of the graph fails if a value has this rank, whatever the other values are.
    pub(super) fn fails(&self, name: &Text, rank: usize, known: &impl KnownValues) -> bool {
        self.fails_within(name, rank, known, MAX_STEPS)
    }

    // Counts nodes that are looked at, and returns false if there are too many.
    fn spend(&self, nodes: usize) -> bool {
        let left = self.budget.get().checked_sub(nodes);
        self.budget.set(left.unwrap_or(0));
        left.is_some()
    }

    fn fails_within(
        &self,
        name: &Text,
        rank: usize,
        known: &impl KnownValues,
        steps: usize,
    ) -> bool {
        let Some(steps) = steps.checked_sub(1).filter(|_| !name.is_empty()) else { return false };
        let users = self.users.get(&name.bytes()[..]).map_or(&[][..], Vec::as_slice);
        users.iter().any(|node| {
            // The definition of axes may be anywhere in the graph.
            if !is_of_onnx(node) || !self.spend(1 + self.graph.node.len()) {
                return false;
            }
            if op_of(node) == "If" {
                return self.branches_fail(node, name, rank, known, steps);
            }
            let Some(position) = node.input.iter().position(|input| input == name) else {
                return false;
            };
            match (op_of(node), position) {
                ("LSTM" | "GRU" | "RNN", 0 | 1 | 2 | 5 | 6) => rank != 3,
                ("Conv" | "ConvTranspose", 0) => {
                    let weights = node.input.get(1).and_then(|w| known.constant_shape(w));
                    weights.is_some_and(|shape| shape.len() != rank)
                }
                (_, 0) => match rank_after(node, rank, known, &[self.graph]) {
                    RankAfter::Fails => true,
                    RankAfter::Known(rank) => {
                        let output = node.output.first();
                        output.is_some_and(|o| self.fails_within(o, rank, known, steps))
                    }
                    RankAfter::Unknown => false,
                },
                _ => false,
            }
        })
    }

    // Returns whether an `If` fails, or a node after it, whichever branch it takes.
    fn branches_fail(
        &self,
        node: &'a Node,
        name: &Text,
        rank: usize,
        known: &impl KnownValues,
        steps: usize,
    ) -> bool {
        let branches = subgraphs(node);
        !branches.is_empty()
            && branches.iter().all(|(_, branch)| {
                // A branch that hides the name uses another value.
                let hides = branch.node.iter().any(|inner| inner.output.contains(name))
                    || branch.initializer.iter().any(|tensor| tensor.name.as_ref() == Some(name));
                let fails_inside = || {
                    let starts = HashSet::default();
                    let inner = Self::with_budget(branch, &starts, self.budget.clone());
                    inner.fails_within(name, rank, known, steps)
                };
                let fails_after = || {
                    branch.output.iter().zip(&node.output).any(|(inner, outer)| {
                        let inner = inner.name.as_ref();
                        let graphs = [*branch, self.graph];
                        match inner.map(|inner| yielded(inner, name, rank, known, &graphs)) {
                            Some(RankAfter::Fails) => true,
                            Some(RankAfter::Known(rank)) => {
                                self.fails_within(outer, rank, known, steps)
                            }
                            Some(RankAfter::Unknown) | None => false,
                        }
                    })
                };
                // The nodes of all graphs inside are looked at, and those of the branch in each step.
                let cost = || {
                    super::all_nodes(branch).len().max(branch.node.len().saturating_mul(MAX_STEPS))
                };
                !hides
                    && self.budget.get() > 0
                    && self.spend(cost())
                    && (fails_inside() || fails_after())
            })
    }
}

/// The rank of a result.
enum RankAfter {
    Known(usize),
    Unknown,
    /// The node does not take an input of that rank.
    Fails,
}

// Returns the rank of a value of a branch that is computed from a value of the graph around it. `graphs` are both, the branch first.
fn yielded(
    inner: &Text,
    name: &Text,
    rank: usize,
    known: &impl KnownValues,
    graphs: &[&Graph],
) -> RankAfter {
    let mut chain = Vec::new();
    let mut value = inner;
    while value != name {
        let definition = graphs[0].node.iter().find(|node| node.output.first() == Some(value));
        let Some(node) = definition.filter(|node| is_of_onnx(node) && chain.len() < MAX_STEPS)
        else {
            return RankAfter::Unknown;
        };
        chain.push(node);
        let Some(input) = node.input.first() else { return RankAfter::Unknown };
        value = input;
    }
    let mut rank = rank;
    for node in chain.into_iter().rev() {
        match rank_after(node, rank, known, graphs) {
            RankAfter::Known(next) => rank = next,
            other => return other,
        }
    }
    RankAfter::Known(rank)
}

// Returns the rank of the first result of a node whose first input has a rank.
fn rank_after(node: &Node, rank: usize, known: &impl KnownValues, graphs: &[&Graph]) -> RankAfter {
    let op = op_of(node);
    if SAME_RANK.contains(&op) {
        return RankAfter::Known(rank);
    }
    if !matches!(op, "Unsqueeze" | "Squeeze") {
        return RankAfter::Unknown;
    }
    match (axis_count(node, known, graphs), op) {
        (Some(count), "Unsqueeze") => {
            rank.checked_add(count).map_or(RankAfter::Unknown, RankAfter::Known)
        }
        (Some(count), _) => rank.checked_sub(count).map_or(RankAfter::Fails, RankAfter::Known),
        // Without axes, all of extent one are squeezed.
        (None, _) => RankAfter::Unknown,
    }
}

// Returns the number of axes of a node, which are an attribute or a constant.
fn axis_count(node: &Node, known: &impl KnownValues, graphs: &[&Graph]) -> Option<usize> {
    if let Some(AttributeValue::Ints(axes)) = node.attribute("axes").and_then(|a| a.value.as_ref())
    {
        return Some(axes.len());
    }
    let name = node.input.get(1).filter(|name| !name.is_empty())?;
    let definition = graphs
        .iter()
        .find_map(|graph| graph.node.iter().find(|node| node.output.first() == Some(name)));
    let shape = match definition {
        None => known.constant_shape(name)?,
        Some(node) if op_of(node) == "Constant" && is_of_onnx(node) => {
            let values = node.attribute.iter().find_map(|a| a.value.as_ref())?;
            match values {
                AttributeValue::Tensor(tensor) => tensor.dims.clone(),
                AttributeValue::Ints(list) => vec![list.len() as i64],
                _ => return None,
            }
        }
        Some(_) => return None,
    };
    match shape[..] {
        [count] => usize::try_from(count).ok(),
        _ => None,
    }
}

// Returns the names that a node uses, also in its subgraphs.
fn names_used(node: &Node) -> Vec<&Text> {
    let mut names: Vec<&Text> = node.input.iter().collect();
    let mut graphs: Vec<&Graph> = subgraphs(node).into_iter().map(|(_, graph)| graph).collect();
    while let Some(graph) = graphs.pop() {
        names.extend(graph.output.iter().filter_map(|output| output.name.as_ref()));
        for inner in &graph.node {
            names.extend(&inner.input);
            graphs.extend(subgraphs(inner).into_iter().map(|(_, graph)| graph));
        }
    }
    names
}

fn op_of(node: &Node) -> &str {
    node.op_type.as_ref().and_then(Text::as_str).unwrap_or_default()
}

// Returns whether a node is of ONNX's own operator set. Models with functions of their own in this set are left out before.
fn is_of_onnx(node: &Node) -> bool {
    let domain = node.domain.as_ref().and_then(Text::as_str).unwrap_or_default();
    crate::ops::normal_domain(domain).is_empty()
}
