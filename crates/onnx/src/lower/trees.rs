//! Decision trees of `ai.onnx.ml`.

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;
use sapwood_ptir::eval::{DataType, EvalCx, EvalResult, Fault, Tensor, one};
use sapwood_ptir::{Attr, Dim, TensorType, ValueType};

use super::NodeView;
use super::context::{floats_of, ints_of};

/// The condition under which a branch goes to its first child.
enum Test {
    LessEqual(f64),
    Less(f64),
    GreaterEqual(f64),
    Greater(f64),
    Equal(f64),
    NotEqual(f64),
    Member(Vec<f64>),
}

impl Test {
    fn holds(&self, x: f64) -> bool {
        match self {
            Self::LessEqual(y) => x <= *y,
            Self::Less(y) => x < *y,
            Self::GreaterEqual(y) => x >= *y,
            Self::Greater(y) => x > *y,
            Self::Equal(y) => x == *y,
            Self::NotEqual(y) => x != *y,
            Self::Member(all) => all.contains(&x),
        }
    }
}

/// A node of a tree. Targets and children are positions in the lists of a [`Forest`].
enum TreeNode {
    Branch { feature: usize, test: Test, nan_goes_first: bool, children: [usize; 2] },
    Leaf { weights: Vec<(usize, f64)> },
}

/// Trees that are evaluated for each row of the input.
struct Forest {
    nodes: Vec<TreeNode>,
    roots: Vec<usize>,
    targets: usize,
}

/// The way in which the weights of all trees are combined.
#[derive(Clone, Copy, PartialEq)]
enum Aggregate {
    Average,
    Sum,
    Min,
    Max,
}

fn wrong(what: &str) -> Fault {
    Fault::op(format!("the trees are not valid: {what}"))
}

fn ints<'a>(cx: &EvalCx<'a>, name: &str) -> Result<&'a [i64], Fault> {
    Ok(cx.attr(name)?.as_ints().unwrap_or_default())
}

// Returns an attribute that is a tensor, a list of floats, or missing.
fn numbers(cx: &EvalCx<'_>, name: &str) -> Result<Vec<f64>, Fault> {
    let found = match cx.attr(name)? {
        Attr::Literal(literal) => floats_of(literal),
        Attr::List(items) => items.iter().map(Attr::as_float).collect(),
        _ => Some(Vec::new()),
    };
    found.ok_or_else(|| Fault::op(format!("`{name}` is not a list of numbers")))
}

fn position(list: &[i64], i: usize, what: &str) -> Result<usize, Fault> {
    let found = list.get(i).and_then(|&n| usize::try_from(n).ok());
    found.ok_or_else(|| wrong(&format!("`{what}` has no entry {i}")))
}

impl Forest {
    // Returns the leaf that each tree gives for a row, by calling a function with its weights.
    fn visit(
        &self,
        cx: &EvalCx<'_>,
        row: &[f64],
        mut visit: impl FnMut(&[(usize, f64)]) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        for &root in &self.roots {
            let mut at = root;
            let mut steps = 0;
            loop {
                cx.work(1)?;
                match self.nodes.get(at).ok_or_else(|| wrong("a child does not exist"))? {
                    TreeNode::Leaf { weights } => {
                        visit(weights)?;
                        break;
                    }
                    TreeNode::Branch { feature, test, nan_goes_first, children } => {
                        let x = *row.get(*feature).ok_or_else(|| wrong("a feature is missing"))?;
                        let goes_first = test.holds(x) || *nan_goes_first && x.is_nan();
                        at = children[usize::from(!goes_first)];
                    }
                }
                steps += 1;
                if steps > self.nodes.len() {
                    return Err(wrong("they contain a cycle"));
                }
            }
        }
        Ok(())
    }

    // Returns one row of scores per row of the input.
    fn scores(&self, cx: &EvalCx<'_>, aggregate: Aggregate) -> Result<Scores, Fault> {
        let x = cx.tensor(0)?;
        let literal = x.to_literal().map_err(|e| Fault::op(e.to_string()))?;
        let all = floats_of(&literal).ok_or_else(|| Fault::op("the input is not numeric"))?;
        let &[rows, features] = x.shape() else {
            return Err(Fault::op(format!("the input is {}, expected a matrix", x.ty())));
        };
        let mut sums: Vec<f64> = cx.alloc(rows.saturating_mul(self.targets))?;
        sums.resize(rows * self.targets, 0.0);
        // A target that no leaf of a row has keeps the score 0.
        let mut has_score: Vec<bool> = cx.alloc(self.targets)?;
        for row in 0..rows {
            has_score.clear();
            has_score.resize(self.targets, false);
            let place = &mut sums[row * self.targets..(row + 1) * self.targets];
            self.visit(cx, &all[row * features..(row + 1) * features], |weights| {
                for &(target, weight) in weights {
                    let sum = place.get_mut(target).ok_or_else(|| wrong("a target is missing"))?;
                    let is_first = !std::mem::replace(&mut has_score[target], true);
                    *sum = match aggregate {
                        Aggregate::Min | Aggregate::Max if is_first => weight,
                        Aggregate::Average => *sum + weight / self.roots.len() as f64,
                        Aggregate::Sum => *sum + weight,
                        Aggregate::Min => sum.min(weight),
                        Aggregate::Max => sum.max(weight),
                    };
                }
                Ok(())
            })?;
        }
        Ok(Scores { rows, targets: self.targets, sums })
    }
}

struct Scores {
    rows: usize,
    targets: usize,
    sums: Vec<f64>,
}

impl Scores {
    // Adds a number per target; none are zeros.
    fn add(&mut self, base: &[f64]) -> Result<(), Fault> {
        if !base.is_empty() && base.len() != self.targets {
            let (found, expected) = (base.len(), self.targets);
            return Err(wrong(&format!("`base_values` has {found} entries, expected {expected}")));
        }
        self.sums.chunks_mut(self.targets.max(1)).for_each(|row| {
            row.iter_mut().zip(base).for_each(|(sum, x)| *sum += x);
        });
        Ok(())
    }

    fn transform(&mut self, name: &str) -> Result<(), Fault> {
        for row in self.sums.chunks_mut(self.targets.max(1)) {
            match name {
                "NONE" => {}
                "LOGISTIC" => row.iter_mut().for_each(|x| *x = 1.0 / (1.0 + (-*x).exp())),
                "SOFTMAX" => {
                    let largest = row.iter().copied().fold(f64::MIN, f64::max);
                    row.iter_mut().for_each(|x| *x = (*x - largest).exp());
                    let sum: f64 = row.iter().sum();
                    row.iter_mut().for_each(|x| *x /= sum);
                }
                other => {
                    return Err(Fault::op(format!("`post_transform` {other} is not supported")));
                }
            }
        }
        Ok(())
    }

    fn into_tensor(self, dtype: DataType) -> EvalResult {
        let shape = [self.rows, self.targets];
        match dtype {
            DataType::F64 => one(Tensor::new(dtype, shape, self.sums)),
            DataType::F32 => {
                let all: Vec<f32> = self.sums.iter().map(|&x| x as f32).collect();
                one(Tensor::new(dtype, shape, all))
            }
            other => Err(Fault::op(format!("scores of element type {other} are not supported"))),
        }
    }
}

/// Infers one score per row and target.
pub(super) fn infer_scores(view: &NodeView<'_>, types: &[&ValueType]) -> Option<Vec<ValueType>> {
    let x = types.first()?.as_tensor().filter(|x| x.rank() == 2)?;
    let index = view.def.attrs.iter().position(|row| row.name == "n_targets")?;
    let targets = view.attrs.get(index)?.as_int().and_then(|n| u64::try_from(n).ok())?;
    let dims = [x.dims[0], Dim::Known(targets)].into_iter().collect();
    let dtype = if x.dtype == DataType::F64 { x.dtype } else { DataType::F32 };
    Some(vec![TensorType { dtype, dims }.into()])
}

fn score_type(cx: &EvalCx<'_>) -> Result<DataType, Fault> {
    let dtype = cx.tensor(0)?.dtype();
    Ok(if dtype == DataType::F64 { dtype } else { DataType::F32 })
}

pub(super) fn tree_ensemble(cx: &mut EvalCx<'_>) -> EvalResult {
    let features = ints(cx, "nodes_featureids")?;
    let children = [ints(cx, "nodes_truenodeids")?, ints(cx, "nodes_falsenodeids")?];
    let are_leaves = [ints(cx, "nodes_trueleafs")?, ints(cx, "nodes_falseleafs")?];
    let nan_goes_first = ints(cx, "nodes_missing_value_tracks_true")?;
    let splits = numbers(cx, "nodes_splits")?;
    let modes = match cx.attr("nodes_modes")? {
        Attr::Literal(literal) => ints_of(literal),
        _ => None,
    };
    let modes = modes.ok_or_else(|| wrong("`nodes_modes` is not a tensor"))?;
    let members = numbers(cx, "membership_values")?;
    let mut sets = members.split(|x| x.is_nan());
    let (targets, weights) = (ints(cx, "leaf_targetids")?, numbers(cx, "leaf_weights")?);
    let count = features.len();
    // Branches come first, then the leaves.
    let mut nodes = Vec::new();
    for i in 0..count {
        let split = *splits.get(i).ok_or_else(|| wrong("a split is missing"))?;
        let test = match modes.get(i) {
            Some(0) => Test::LessEqual(split),
            Some(1) => Test::Less(split),
            Some(2) => Test::GreaterEqual(split),
            Some(3) => Test::Greater(split),
            Some(4) => Test::Equal(split),
            Some(5) => Test::NotEqual(split),
            Some(6) => Test::Member(sets.next().unwrap_or_default().to_vec()),
            _ => return Err(wrong("a mode is not known")),
        };
        let child = |side: usize| -> Result<usize, Fault> {
            let id = position(children[side], i, "the children")?;
            let is_leaf = are_leaves[side].get(i).is_some_and(|&n| n != 0);
            Ok(if is_leaf { count.saturating_add(id) } else { id })
        };
        nodes.push(TreeNode::Branch {
            feature: position(features, i, "nodes_featureids")?,
            test,
            nan_goes_first: nan_goes_first.get(i).is_some_and(|&n| n != 0),
            children: [child(0)?, child(1)?],
        });
    }
    for (i, &weight) in weights.iter().enumerate() {
        let target = position(targets, i, "leaf_targetids")?;
        nodes.push(TreeNode::Leaf { weights: vec![(target, weight)] });
    }
    let roots = ints(cx, "tree_roots")?;
    let roots = (0..roots.len()).map(|i| position(roots, i, "tree_roots"));
    let targets = cx.attr("n_targets")?.as_int().and_then(|n| usize::try_from(n).ok());
    let targets = targets.ok_or_else(|| wrong("`n_targets` is missing"))?;
    let forest = Forest { nodes, roots: roots.collect::<Result<_, _>>()?, targets };
    let aggregate = match cx.attr("aggregate_function")?.as_int() {
        Some(0) => Aggregate::Average,
        Some(1) | None => Aggregate::Sum,
        Some(2) => Aggregate::Min,
        Some(3) => Aggregate::Max,
        _ => return Err(wrong("`aggregate_function` is not known")),
    };
    let mut scores = forest.scores(cx, aggregate)?;
    scores.transform(match cx.attr("post_transform")?.as_int() {
        Some(0) | None => "NONE",
        Some(1) => "SOFTMAX",
        Some(2) => "LOGISTIC",
        Some(3) => "SOFTMAX_ZERO",
        _ => "PROBIT",
    })?;
    scores.into_tensor(score_type(cx)?)
}

pub(super) fn tree_ensemble_regressor(cx: &mut EvalCx<'_>) -> EvalResult {
    let text = |name: &str, default: &'static str| -> Result<String, Fault> {
        Ok(cx.attr(name)?.as_str().unwrap_or(default).to_owned())
    };
    let either = |name: &str, tensor: &str| -> Result<Vec<f64>, Fault> {
        let list = numbers(cx, name)?;
        if !list.is_empty() || cx.attr(tensor).is_err() {
            return Ok(list);
        }
        numbers(cx, tensor)
    };
    let (trees, ids) = (ints(cx, "nodes_treeids")?, ints(cx, "nodes_nodeids")?);
    let features = ints(cx, "nodes_featureids")?;
    let children = [ints(cx, "nodes_truenodeids")?, ints(cx, "nodes_falsenodeids")?];
    let nan_goes_first = ints(cx, "nodes_missing_value_tracks_true")?;
    let values = either("nodes_values", "nodes_values_as_tensor")?;
    let modes: Vec<&str> = match cx.attr("nodes_modes")? {
        Attr::List(items) => items.iter().filter_map(Attr::as_str).collect(),
        _ => Vec::new(),
    };
    type Places = HashMap<(i64, i64), usize, FxBuildHasher>;
    let places: Places = trees.iter().copied().zip(ids.iter().copied()).zip(0..).collect();
    let mut nodes = Vec::new();
    for (i, &tree) in trees.iter().enumerate() {
        let split = values.get(i).copied().unwrap_or(0.0);
        let test = match modes.get(i).copied() {
            Some("LEAF") => {
                nodes.push(TreeNode::Leaf { weights: Vec::new() });
                continue;
            }
            Some("BRANCH_LEQ") => Test::LessEqual(split),
            Some("BRANCH_LT") => Test::Less(split),
            Some("BRANCH_GTE") => Test::GreaterEqual(split),
            Some("BRANCH_GT") => Test::Greater(split),
            Some("BRANCH_EQ") => Test::Equal(split),
            Some("BRANCH_NEQ") => Test::NotEqual(split),
            _ => return Err(wrong("a mode is not known")),
        };
        let child = |side: usize| -> Result<usize, Fault> {
            let id = children[side].get(i).ok_or_else(|| wrong("a child is missing"))?;
            places.get(&(tree, *id)).copied().ok_or_else(|| wrong("a child does not exist"))
        };
        nodes.push(TreeNode::Branch {
            feature: position(features, i, "nodes_featureids")?,
            test,
            nan_goes_first: nan_goes_first.get(i).is_some_and(|&n| n != 0),
            children: [child(0)?, child(1)?],
        });
    }
    let (leaf_trees, leaf_ids) = (ints(cx, "target_treeids")?, ints(cx, "target_nodeids")?);
    let targets = ints(cx, "target_ids")?;
    let weights = either("target_weights", "target_weights_as_tensor")?;
    for (i, place) in leaf_trees.iter().zip(leaf_ids).enumerate() {
        let at = places.get(&(*place.0, *place.1)).and_then(|&at| nodes.get_mut(at));
        let weight = *weights.get(i).ok_or_else(|| wrong("a weight is missing"))?;
        match at {
            Some(TreeNode::Leaf { weights }) => {
                weights.push((position(targets, i, "target_ids")?, weight));
            }
            _ => return Err(wrong("a weight is not that of a leaf")),
        }
    }
    // The first node of a tree is its root.
    let mut seen: HashSet<i64, FxBuildHasher> = HashSet::default();
    let roots = (0..trees.len()).filter(|&i| seen.insert(trees[i])).collect();
    let targets = cx.attr("n_targets")?.as_int().and_then(|n| usize::try_from(n).ok());
    let targets = targets.ok_or_else(|| wrong("`n_targets` is missing"))?;
    let forest = Forest { nodes, roots, targets };
    let aggregate = match text("aggregate_function", "SUM")?.as_str() {
        "AVERAGE" => Aggregate::Average,
        "SUM" => Aggregate::Sum,
        "MIN" => Aggregate::Min,
        "MAX" => Aggregate::Max,
        _ => return Err(wrong("`aggregate_function` is not known")),
    };
    let mut scores = forest.scores(cx, aggregate)?;
    scores.add(&either("base_values", "base_values_as_tensor")?)?;
    scores.transform(&text("post_transform", "NONE")?)?;
    scores.into_tensor(score_type(cx)?)
}
