//! Ops whose results have extents that depend on contents.

use sapwood_ptir::eval::{DataType, EvalCx, EvalResult, Fault, Native, Tensor, Value, View, one};
use sapwood_ptir::{Attr, Dim, TensorType, ValueType, with_native};

use super::NodeView;

fn vector(dtype: DataType) -> ValueType {
    TensorType { dtype, dims: [Dim::Unknown].into_iter().collect() }.into()
}

fn tensor<'t>(types: &[&'t ValueType], i: usize) -> Option<&'t TensorType> {
    types.get(i)?.as_tensor()
}

fn attr<'a>(view: &'a NodeView<'_>, name: &str) -> Option<&'a Attr> {
    let index = view.def.attrs.iter().position(|row| row.name == name)?;
    view.attrs.get(index).filter(|attr| **attr != Attr::Unit)
}

pub(super) fn infer_non_zero(_: &NodeView<'_>, types: &[&ValueType]) -> Option<Vec<ValueType>> {
    let rank = tensor(types, 0)?.rank().max(1);
    let dims = [Dim::Known(rank as u64), Dim::Unknown].into_iter().collect();
    Some(vec![TensorType { dtype: DataType::I64, dims }.into()])
}

pub(super) fn non_zero(cx: &mut EvalCx<'_>) -> EvalResult {
    let x = cx.tensor(0)?.clone();
    let shape = x.shape().to_vec();
    cx.work(x.len() as u64)?;
    let found: Vec<usize> = with_native!(x.dtype(), T => {
        let zero = T::unpack(0).pack();
        let view = view::<T>(&x)?;
        // Both zeros of floats are zero.
        let is_zero = |bits: u128| bits == zero || is_negative_zero(x.dtype(), bits);
        let is_counted = |&i: &usize| !is_zero(view.get(i).pack());
        let mut found = cx.alloc((0..x.len()).filter(is_counted).count())?;
        found.extend((0..x.len()).filter(is_counted));
        found
    });
    let rank = shape.len().max(1);
    let mut all = cx.alloc::<i64>(rank * found.len())?;
    for axis in 0..rank {
        let below: usize = shape.iter().skip(axis + 1).product();
        let extent = shape.get(axis).copied().unwrap_or(1).max(1);
        all.extend(found.iter().map(|&i| (i / below.max(1) % extent) as i64));
    }
    one(Tensor::new(DataType::I64, [rank, found.len()], all))
}

fn is_negative_zero(dtype: DataType, bits: u128) -> bool {
    dtype.is_float() && bits == 1u128 << (dtype.bit_width() - 1)
}

fn view<T: Native>(x: &Tensor) -> Result<View<'_, T>, Fault> {
    x.view::<T>().ok_or_else(|| Fault::op("an operand has an unexpected element type"))
}

fn axis_attr(cx: &EvalCx<'_>, rank: usize) -> Result<Option<usize>, Fault> {
    match cx.attr("axis")? {
        Attr::Int(axis) => {
            let wrapped = if *axis < 0 { axis + rank as i64 } else { *axis };
            let axis = usize::try_from(wrapped).ok().filter(|&a| a < rank);
            axis.map(Some).ok_or_else(|| Fault::op("`axis` is out of range"))
        }
        _ => Ok(None),
    }
}

// Returns slices along an axis as rows of equal length, and the number of rows in front of the axis.
fn gather_rows(cx: &EvalCx<'_>, x: &Tensor, axis: usize, rows: &[usize]) -> Result<Tensor, Fault> {
    let shape = x.shape();
    let outer: usize = shape[..axis].iter().product();
    let inner: usize = shape[axis + 1..].iter().product();
    let mut new_shape = shape.to_vec();
    new_shape[axis] = rows.len();
    with_native!(x.dtype(), T => {
        let view = view::<T>(x)?;
        let mut all: Vec<T> = cx.alloc(outer * rows.len() * inner)?;
        for o in 0..outer {
            for &row in rows {
                let start = (o * shape[axis] + row) * inner;
                all.extend((start..start + inner).map(|i| view.get(i)));
            }
        }
        Ok(Tensor::new(x.dtype(), new_shape, all))
    })
}

pub(super) fn infer_compress(view: &NodeView<'_>, types: &[&ValueType]) -> Option<Vec<ValueType>> {
    let x = tensor(types, 0)?;
    let Some(Attr::Int(axis)) = attr(view, "axis") else { return Some(vec![vector(x.dtype)]) };
    let axis = if *axis < 0 { axis + x.rank() as i64 } else { *axis };
    let mut ty = x.clone();
    *ty.dims.get_mut(usize::try_from(axis).ok()?)? = Dim::Unknown;
    Some(vec![ty.into()])
}

pub(super) fn compress(cx: &mut EvalCx<'_>) -> EvalResult {
    let x = cx.tensor(0)?.clone();
    let flags = cx.elements::<bool>(1)?.into_owned();
    let (x, axis) = match axis_attr(cx, x.shape().len())? {
        Some(axis) => (x, axis),
        None => {
            let len = x.len();
            (x.reshaped([len]).ok_or_else(|| Fault::op("the input cannot be flattened"))?, 0)
        }
    };
    let extent = x.shape().get(axis).copied().unwrap_or(0);
    let rows: Vec<usize> = (0..extent.min(flags.len())).filter(|&i| flags[i]).collect();
    one(gather_rows(cx, &x, axis, &rows)?)
}

pub(super) fn infer_unique(view: &NodeView<'_>, types: &[&ValueType]) -> Option<Vec<ValueType>> {
    let mut all = infer_compress(view, types)?;
    all.extend((0..3).map(|_| vector(DataType::I64)));
    all.truncate(view.outputs);
    Some(all)
}

pub(super) fn unique(cx: &mut EvalCx<'_>) -> EvalResult {
    let x = cx.tensor(0)?.clone();
    let (x, axis) = match axis_attr(cx, x.shape().len())? {
        Some(axis) => (x, axis),
        None => {
            let len = x.len();
            (x.reshaped([len]).ok_or_else(|| Fault::op("the input cannot be flattened"))?, 0)
        }
    };
    let sorted = !matches!(cx.attr("sorted")?, Attr::Int(0));
    let shape = x.shape().to_vec();
    let (outer, extent): (usize, usize) = (shape[..axis].iter().product(), shape[axis]);
    let inner: usize = shape[axis + 1..].iter().product();
    // Rows are compared by numbers that have the order of their elements.
    let mut keys: Vec<i128> = cx.alloc(x.len())?;
    let dtype = x.dtype();
    with_native!(dtype, T => {
        let view = view::<T>(&x)?;
        for row in 0..extent {
            for o in 0..outer {
                let start = (o * extent + row) * inner;
                keys.extend((start..start + inner).map(|i| order_key(dtype, view.get(i).pack())));
            }
        }
    });
    let width = outer * inner;
    let key = |row: usize| &keys[row * width..(row + 1) * width];
    let mut order: Vec<usize> = cx.alloc(extent)?;
    order.extend(0..extent);
    // A sort compares each row with about log2(rows) others.
    cx.work((x.len() as u64).saturating_mul(u64::from(extent.max(2).ilog2())))?;
    order.sort_by(|&a, &b| key(a).cmp(key(b)).then(a.cmp(&b)));
    // First occurrences in sorted order, with the rows that equal each.
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for row in order {
        match groups.last_mut() {
            Some(group) if key(group[0]) == key(row) => group.push(row),
            _ => groups.push(vec![row]),
        }
    }
    if !sorted {
        groups.sort_by_key(|group| group[0]);
    }
    let firsts: Vec<usize> = groups.iter().map(|group| group[0]).collect();
    let mut inverse = vec![0i64; extent];
    for (n, group) in groups.iter().enumerate() {
        group.iter().for_each(|&row| inverse[row] = n as i64);
    }
    let ints = |list: Vec<i64>| Value::from(Tensor::new(DataType::I64, [list.len()], list));
    let results = [
        Value::from(gather_rows(cx, &x, axis, &firsts)?),
        ints(firsts.iter().map(|&row| row as i64).collect()),
        ints(inverse),
        ints(groups.iter().map(|group| group.len() as i64).collect()),
    ];
    Ok(results.into_iter().take(cx.num_results()).collect())
}

// Returns a number that orders elements as their values.
fn order_key(dtype: DataType, bits: u128) -> i128 {
    let width = dtype.bit_width().max(8);
    let sign = 1u128 << (width - 1);
    if dtype.is_float() {
        let bits = if bits == sign { 0 } else { bits };
        return if bits & sign != 0 { -((bits & (sign - 1)) as i128) } else { bits as i128 };
    }
    let is_signed = dtype.integer_range().is_some_and(|(low, _)| low < 0);
    if is_signed && bits & sign != 0 { bits as i128 - (1i128 << width) } else { bits as i128 }
}

pub(super) fn infer_non_max_suppression(
    _: &NodeView<'_>,
    _: &[&ValueType],
) -> Option<Vec<ValueType>> {
    let dims = [Dim::Unknown, Dim::Known(3)].into_iter().collect();
    Some(vec![TensorType { dtype: DataType::I64, dims }.into()])
}

pub(super) fn non_max_suppression(cx: &mut EvalCx<'_>) -> EvalResult {
    let boxes = cx.tensor(0)?.clone();
    let scores = cx.tensor(1)?.clone();
    let absent = match cx.attr(crate::dialect::ABSENT)? {
        Attr::Ints(list) => list.to_vec(),
        _ => Vec::new(),
    };
    let operand = |position: usize| {
        let given = !absent.contains(&(position as i64));
        let before = absent.iter().filter(|&&a| a < position as i64).count();
        given.then(|| position - before)
    };
    let optional = |position: usize| operand(position).filter(|&i| i < cx.args().len());
    let float = |position: usize| -> Result<Option<f32>, Fault> {
        optional(position).map(|i| cx.scalar::<f32>(i)).transpose()
    };
    let max_count = match optional(2) {
        Some(i) => cx.scalar::<i64>(i)?,
        None => 0,
    };
    let overlap = float(3)?.unwrap_or(0.0);
    let threshold = float(4)?;
    let center = matches!(cx.attr("center_point_box")?, Attr::Int(1));
    let (&[batches, count, 4], &[score_batches, classes, score_count]) =
        (boxes.shape(), scores.shape())
    else {
        return Err(Fault::op("the boxes or the scores have an unexpected shape"));
    };
    if [batches, count] != [score_batches, score_count] {
        return Err(Fault::op("there is not one score per box"));
    }
    let all = cx.elements::<f32>(0)?.into_owned();
    let points = cx.elements::<f32>(1)?.into_owned();
    let corners = |batch: usize, i: usize| -> [f32; 4] {
        let at = (batch * count + i) * 4;
        let b = [all[at], all[at + 1], all[at + 2], all[at + 3]];
        match center {
            true => [b[1] - b[3] / 2.0, b[0] - b[2] / 2.0, b[1] + b[3] / 2.0, b[0] + b[2] / 2.0],
            false => [b[0].min(b[2]), b[1].min(b[3]), b[0].max(b[2]), b[1].max(b[3])],
        }
    };
    let iou = |a: [f32; 4], b: [f32; 4]| {
        let height = (a[2].min(b[2]) - a[0].max(b[0])).max(0.0);
        let width = (a[3].min(b[3]) - a[1].max(b[1])).max(0.0);
        let area = |b: [f32; 4]| (b[2] - b[0]) * (b[3] - b[1]);
        let shared = height * width;
        let union = area(a) + area(b) - shared;
        if union <= 0.0 { 0.0 } else { shared / union }
    };
    let mut found: Vec<i64> = Vec::new();
    for batch in 0..batches {
        for class in 0..classes {
            let score = |i: usize| points[(batch * classes + class) * count + i];
            cx.work(count as u64)?;
            let mut order: Vec<usize> =
                (0..count).filter(|&i| threshold.is_none_or(|t| score(i) > t)).collect();
            order.sort_by(|&a, &b| score(b).total_cmp(&score(a)).then(a.cmp(&b)));
            let mut kept: Vec<[f32; 4]> = Vec::new();
            for i in order {
                if kept.len() as i64 >= max_count {
                    break;
                }
                cx.work(kept.len() as u64)?;
                let own = corners(batch, i);
                if kept.iter().all(|&other| iou(own, other) <= overlap) {
                    kept.push(own);
                    found.extend([batch as i64, class as i64, i as i64]);
                }
            }
        }
    }
    let rows = found.len() / 3;
    one(Tensor::new(DataType::I64, [rows, 3], found))
}
