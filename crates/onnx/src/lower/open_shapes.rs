//! Types of results whose definition needs extents or contents that are not known. Without them everything after such a node would have no
//! rank.

use sapwood_ptir::eval::DataType;
use sapwood_ptir::{Dim, Dims, MAX_RANK, TensorType, ValueType};

use super::builder::{Builder, V};
use super::context::Cx;
use super::{Known, NodeView, scratch_function};

/// Infers the types of the results of a node from the ranks of its operands and the extents that are known. `None` if a rank is not known.
pub(super) fn infer(
    view: &NodeView<'_>,
    types: &[&ValueType],
    known: &[Known],
) -> Option<Vec<TensorType>> {
    let op = view.def.name.strip_prefix(crate::dialect::PREFIX)?;
    if !types.iter().all(|ty| ty.as_tensor().is_some()) {
        return None;
    }
    let (f, params) = scratch_function(types.iter().copied().cloned());
    let b = Builder::new(f, true);
    let inputs: Vec<_> = params.iter().map(|&id| b.value(id)).collect();
    let of = |i: usize| known.get(i).cloned().unwrap_or_default();
    let cx = Cx::new(&b, view, &inputs, &of);
    let mut results = results(op, &cx)?;
    results.truncate(view.outputs);
    (results.len() == view.outputs && b.take_failure().is_none()).then_some(results)
}

fn results(op: &str, cx: &Cx<'_>) -> Option<Vec<TensorType>> {
    let x = cx.opt(0)?;
    let (dtype, dims, rank) = (x.dtype(), x.dims(), x.rank());
    let tensor = |dims: Dims| TensorType { dtype, dims };
    Some(match op {
        "InstanceNormalization"
        | "GroupNormalization"
        | "RMSNormalization"
        | "LRN"
        | "MeanVarianceNormalization"
        | "ReverseSequence"
        | "RotaryEmbedding"
        | "TensorScatter"
        | "ScatterElements"
        | "ScatterND" => vec![x.ty()],
        "Dropout" => vec![x.ty(), TensorType { dtype: DataType::Bool, dims }],
        "BatchNormalization" => vec![x.ty(), cx.opt(3)?.ty(), cx.opt(4)?.ty()],
        "GatherND" => vec![tensor(gathered(cx, &dims)?)],
        "OneHot" => {
            let mut dims = dims;
            let axis = cx.axis("axis", -1, rank + 1);
            dims.insert(axis, scalar(cx, 1));
            vec![TensorType { dtype: cx.opt(2)?.dtype(), dims }]
        }
        "DepthToSpace" | "SpaceToDepth" if rank == 4 => {
            let size = cx.int("blocksize", 1).max(1);
            let area = cx.product(&[size, size]);
            let divided = |dim: Dim, by: i64| dim.map_expr(|n| n.floordiv(by));
            let times = |dim: Dim, by: i64| dim.times(Dim::Known(by.unsigned_abs()));
            let (n, c, h, w) = (dims[0], dims[1], dims[2], dims[3]);
            let extents = match op {
                "DepthToSpace" => [n, divided(c, area), times(h, size), times(w, size)],
                _ => [n, times(c, area), divided(h, size), divided(w, size)],
            };
            vec![tensor(extents.into_iter().collect())]
        }
        "GridSample" => {
            let grid = cx.opt(1)?.dims();
            let places = grid.get(1..grid.len().checked_sub(1)?)?;
            vec![tensor(dims.get(..2)?.iter().chain(places).copied().collect())]
        }
        "Conv" | "ConvInteger" | "ConvTranspose" | "DeformConv" if rank >= 2 => {
            let weights = cx.opt(1)?;
            let groups = Dim::Known(cx.int("group", 1).max(1).unsigned_abs());
            let channels = match op {
                "ConvTranspose" => weights.dim(1).times(groups),
                _ => weights.dim(0),
            };
            let dtype = if op == "ConvInteger" { DataType::I32 } else { dtype };
            let extents = [dims[0], channels];
            vec![TensorType { dtype, dims: with_unknown(&extents, rank) }]
        }
        "QLinearConv" if rank >= 2 => {
            let extents = [dims[0], cx.opt(3)?.dim(0)];
            vec![TensorType { dtype: cx.opt(7)?.dtype(), dims: with_unknown(&extents, rank) }]
        }
        "MaxPool" | "AveragePool" | "LpPool" if rank >= 2 => {
            let pooled = with_unknown(&dims[..2], rank);
            vec![tensor(pooled.clone()), TensorType { dtype: DataType::I64, dims: pooled }]
        }
        "RoiAlign" if rank == 4 => {
            let size = |name| Dim::Known(cx.int(name, 1).max(0).unsigned_abs());
            let extents = [cx.opt(1)?.dim(0), dims[1], size("output_height"), size("output_width")];
            vec![tensor(extents.into_iter().collect())]
        }
        "Det" => vec![tensor(dims[..rank.checked_sub(2)?].iter().copied().collect())],
        "ReduceSum" | "ReduceProd" | "ReduceMax" | "ReduceMin" | "ReduceMean" | "ReduceL1"
        | "ReduceL2" | "ReduceSumSquare" | "ReduceLogSum" | "ReduceLogSumExp" => {
            vec![tensor(reduced(cx, rank)?)]
        }
        "ArgMax" | "ArgMin" if rank > 0 => {
            let mut dims = dims;
            let axis = cx.axis("axis", 0, rank);
            match cx.flag("keepdims", true) {
                true => *dims.get_mut(axis)? = Dim::Known(1),
                false => drop(dims.remove(axis)),
            }
            vec![TensorType { dtype: DataType::I64, dims }]
        }
        "Squeeze" | "Unsqueeze" => {
            // Only the number of the axes is known.
            let count = usize::try_from(cx.opt(1)?.dim(0).known()?).ok()?;
            let rank = match op {
                "Squeeze" => rank.checked_sub(count)?,
                _ => rank.checked_add(count).filter(|&rank| rank <= MAX_RANK)?,
            };
            vec![tensor(with_unknown(&[], rank))]
        }
        "Split" => {
            let mut dims = dims;
            let axis = cx.axis("axis", 0, rank);
            let sizes = cx.numbers(1);
            let part = |i: usize| {
                let size = sizes.as_ref().and_then(|sizes| sizes.get(i).copied().flatten());
                *dims.get_mut(axis)? = size.map_or(Dim::Unknown, Dim::from_expr);
                Some(tensor(dims.clone()))
            };
            (0..cx.outputs()).map(part).collect::<Option<_>>()?
        }
        "Attention" => attention(cx)?,
        _ => return None,
    })
}

// Returns these dims and others of which nothing is known.
fn with_unknown(first: &[Dim], rank: usize) -> Dims {
    (0..rank).map(|axis| first.get(axis).copied().unwrap_or(Dim::Unknown)).collect()
}

// Returns the extent that a scalar operand gives.
fn scalar(cx: &Cx<'_>, i: usize) -> Dim {
    let number = cx.numbers(i).and_then(|list| list.first().copied().flatten());
    number.map_or(Dim::Unknown, Dim::from_expr)
}

fn gathered(cx: &Cx<'_>, from: &[Dim]) -> Option<Dims> {
    let indices = cx.opt(1)?.dims();
    let (&count, places) = indices.split_last()?;
    let batch = usize::try_from(cx.int("batch_dims", 0)).ok()?;
    let first = batch.checked_add(usize::try_from(count.known()?).ok()?)?;
    Some(places.iter().chain(from.get(first..)?).copied().collect())
}

// Returns the dims of a reduction over axes that are not known, or only their number is.
fn reduced(cx: &Cx<'_>, rank: usize) -> Option<Dims> {
    if cx.flag("keepdims", true) {
        return Some(with_unknown(&[], rank));
    }
    let count = cx.opt(1)?.dim(0).known().filter(|&n| n > 0)?;
    Some(with_unknown(&[], rank.checked_sub(usize::try_from(count).ok()?)?))
}

fn attention(cx: &Cx<'_>) -> Option<Vec<TensorType>> {
    let [q, k, v] = [cx.opt(0)?, cx.opt(1)?, cx.opt(2)?];
    // The dims of an operand as `[batch, heads, length, size]`.
    let split = |x: V<'_>, heads: &str| -> Option<[Dim; 4]> {
        let dims = x.dims();
        if let [b, h, s, d] = dims[..] {
            return Some([b, h, s, d]);
        }
        let [b, s, all] = dims[..] else { return None };
        let heads = cx.attr(heads).map(|_| cx.int(heads, 1)).filter(|&n| n > 0)?;
        let size = match all {
            Dim::Known(n) => Dim::Known(n / heads.unsigned_abs()),
            _ => Dim::Unknown,
        };
        Some([b, Dim::Known(heads.unsigned_abs()), s, size])
    };
    let (q4, k4, v4) =
        (split(q, "q_num_heads")?, split(k, "kv_num_heads")?, split(v, "kv_num_heads")?);
    let past = cx.opt(4).map_or(Dim::Known(0), |past| past.dim(2));
    let total = past.map_expr(|past| past.checked_add(k4[2].to_expr()?));
    let tensor = |x: V<'_>, dims: &[Dim]| TensorType {
        dtype: x.dtype(),
        dims: dims.iter().copied().collect(),
    };
    let result = match q.rank() {
        4 => tensor(q, &[q4[0], q4[1], q4[2], v4[3]]),
        _ => tensor(q, &[q4[0], q4[2], q4[1].times(v4[3])]),
    };
    Some(vec![
        result,
        tensor(k, &[k4[0], k4[1], total, k4[3]]),
        tensor(v, &[v4[0], v4[1], total, v4[3]]),
        tensor(q, &[q4[0], q4[1], q4[2], total]),
    ])
}
