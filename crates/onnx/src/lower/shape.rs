//! Ops that move elements, and shapes as values.

use sapwood_ptir::dims::DimExpr;
use sapwood_ptir::eval::DataType;
use sapwood_ptir::ops::Direction;
use sapwood_ptir::{Attr, Dim, TensorLiteral, TensorType, ValueType};

use super::builder::{V, joined_dims};
use super::context::Cx;
use crate::reshape_form::{expand_numbers, reshape_form};

pub(super) fn constant<'b>(cx: &Cx<'b>) -> V<'b> {
    let literal = match (cx.literal("value"), cx.attr("value_int"), cx.attr("value_float")) {
        (Some(literal), _, _) => Ok(literal.clone()),
        (_, Some(Attr::Int(n)), _) => Ok(TensorLiteral::scalar(*n)),
        (_, _, Some(Attr::Float(x))) => Ok(TensorLiteral::scalar(x.get() as f32)),
        _ => match (cx.ints("value_ints"), cx.floats("value_floats")) {
            (Some(ints), _) => TensorLiteral::from_slice(&[ints.len() as u64], &ints),
            (_, Some(floats)) => {
                let floats: Vec<f32> = floats.into_iter().map(|x| x as f32).collect();
                TensorLiteral::from_slice(&[floats.len() as u64], &floats)
            }
            _ => return cx.fail("its value is not a tensor of numbers"),
        },
    };
    match literal {
        Ok(literal) => cx.b.literal(&literal),
        Err(error) => cx.fail(error.to_string()),
    }
}

pub(super) fn constant_of_shape<'b>(cx: &Cx<'b>) -> V<'b> {
    let one = match cx.literal("value") {
        Some(literal) => cx.b.literal(literal).reshape(&[]),
        None => cx.b.scalar(DataType::F32, 0.0),
    };
    match cx.dims(0) {
        Some(dims) => one.broadcast_in(&dims, &[]),
        None => cx.fail("the length of the shape is not known"),
    }
}

pub(super) fn shape<'b>(cx: &Cx<'b>) -> V<'b> {
    let dims = cx.x(0).dims();
    let (start, end) = shape_range(cx, dims.len());
    let numbers: Option<Vec<i64>> =
        dims[start..end].iter().map(|d| d.known().and_then(|n| i64::try_from(n).ok())).collect();
    match numbers {
        Some(numbers) => cx.b.i64s(&[numbers.len() as u64], &numbers),
        None if cx.b.is_inference => {
            let ty = TensorType::new(DataType::I64, [(end - start) as u64]);
            cx.b.scalar(DataType::I64, 0.0).pretend(ty)
        }
        None => cx.fail("an extent is not known"),
    }
}

/// Returns the axes that `Shape` gives.
pub(super) fn shape_range(cx: &Cx<'_>, rank: usize) -> (usize, usize) {
    let clamp =
        |axis: i64| (if axis < 0 { axis + rank as i64 } else { axis }).clamp(0, rank as i64);
    let start = clamp(cx.int("start", 0)) as usize;
    (start, (clamp(cx.int("end", rank as i64)) as usize).max(start))
}

pub(super) fn size<'b>(cx: &Cx<'b>) -> V<'b> {
    match cx.x(0).ty().num_elements() {
        Some(n) => cx.b.i64s(&[], &[n as i64]),
        None if cx.b.is_inference => {
            cx.b.scalar(DataType::I64, 0.0).pretend(TensorType::scalar(DataType::I64))
        }
        None => cx.fail("an extent is not known"),
    }
}

pub(super) fn reshape<'b>(cx: &Cx<'b>) -> V<'b> {
    let x = cx.x(0);
    let own = x.dims();
    let wanted = match cx.ints("shape") {
        Some(list) => Some(list.into_iter().map(DimExpr::constant).collect()),
        None => cx.numbers(1),
    };
    let Some(wanted): Option<Vec<_>> = wanted else {
        return match cx.opt(1).and_then(|shape| shape.dim(0).known()) {
            Some(rank) if cx.b.is_inference && rank <= 64 => {
                x.reshape(&vec![Dim::Unknown; rank as usize])
            }
            _ => cx.fail("the shape is not known"),
        };
    };
    let keep_zero = cx.flag("allowzero", false);
    let mut open = None;
    let mut dims: Vec<Dim> = Vec::with_capacity(wanted.len());
    for (axis, number) in wanted.into_iter().enumerate() {
        dims.push(match number.map(|n| (n, n.as_constant())) {
            Some((_, Some(-1))) => {
                open = Some(axis);
                Dim::Unknown
            }
            Some((_, Some(0))) if !keep_zero => own.get(axis).copied().unwrap_or(Dim::Unknown),
            Some((expr, _)) => Dim::from_expr(expr),
            None => Dim::Unknown,
        });
    }
    if let Some(axis) = open {
        dims[axis] = remaining_dim(&own, &dims, axis);
    }
    // Extents that do not follow are those of the known type of the result.
    if let Some(ty) = cx.view.results.first().and_then(ValueType::as_tensor)
        && ty.rank() == dims.len()
    {
        for (dim, known) in dims.iter_mut().zip(&ty.dims).filter(|(dim, _)| **dim == Dim::Unknown) {
            *dim = *known;
        }
    }
    reshape_or_keep(cx, x, &dims)
}

// Returns the extent that -1 stands for: extents that both shapes have cancel out.
fn remaining_dim(from: &[Dim], to: &[Dim], open: usize) -> Dim {
    let mut rest: Vec<Dim> = from.to_vec();
    let mut divisor = 1u64;
    for (axis, &dim) in to.iter().enumerate().filter(|(axis, _)| *axis != open) {
        if dim == Dim::Known(1) || axis == open {
            continue;
        }
        match rest.iter().position(|d| d.certainly_equal(dim)) {
            Some(same) => drop(rest.remove(same)),
            None => match dim.known().and_then(|n| divisor.checked_mul(n)) {
                Some(n) if n > 0 => divisor = n,
                _ => return Dim::Unknown,
            },
        }
    }
    let product = rest.into_iter().fold(Dim::Known(1), Dim::times);
    match (product, i64::try_from(divisor)) {
        (product, Ok(1)) => product,
        (Dim::Known(n), _) if n % divisor != 0 => Dim::Unknown,
        (product, Ok(divisor)) => product.map_expr(|e| e.floordiv(divisor)),
        (_, Err(_)) => Dim::Unknown,
    }
}

pub(super) fn flatten<'b>(cx: &Cx<'b>) -> V<'b> {
    let x = cx.x(0);
    let dims = x.dims();
    let axis = cx.int("axis", 1);
    let axis = if axis < 0 { axis + dims.len() as i64 } else { axis } as usize;
    let axis = axis.min(dims.len());
    let product = |dims: &[Dim]| dims.iter().fold(Dim::Known(1), |n, &d| n.times(d));
    reshape_or_keep(cx, x, &[product(&dims[..axis]), product(&dims[axis..])])
}

// Reshapes to dims. If the node is to be written back, and that would need nodes that compute the shape, it fails.
fn reshape_or_keep<'b>(cx: &Cx<'b>, x: V<'b>, dims: &[Dim]) -> V<'b> {
    if cx.view.is_written_back && reshape_form(&x.dims(), dims).is_none() {
        return cx.fail("its shape would have to be computed");
    }
    x.reshape(dims)
}

pub(super) fn squeeze<'b>(cx: &Cx<'b>) -> V<'b> {
    let x = cx.x(0);
    let dims = x.dims();
    let axes: Vec<usize> = match cx.ints_of("axes", 1) {
        Some(axes) => axes.into_iter().map(|a| cx.wrap_axis(a, dims.len())).collect(),
        None if dims.iter().all(|d| d.known().is_some()) => {
            (0..dims.len()).filter(|&a| dims[a] == Dim::Known(1)).collect()
        }
        None => return cx.fail("an extent is not known"),
    };
    if cx.b.has_failed() {
        return x;
    }
    let kept: Vec<Dim> = (0..dims.len()).filter(|a| !axes.contains(a)).map(|a| dims[a]).collect();
    if axes.iter().any(|&a| dims[a].known().is_some_and(|n| n != 1)) {
        return cx.fail("it removes an axis whose extent is not 1");
    }
    if cx.view.is_written_back && axes.iter().any(|&a| dims[a] != Dim::Known(1)) {
        return cx.fail("it removes an axis whose extent is not known to be 1");
    }
    x.reshape(&kept)
}

pub(super) fn unsqueeze<'b>(cx: &Cx<'b>) -> V<'b> {
    let x = cx.x(0);
    let Some(axes) = cx.ints_of("axes", 1) else { return cx.fail("the axes are missing") };
    let rank = x.rank() + axes.len();
    let axes: Vec<usize> = axes.into_iter().map(|a| cx.wrap_axis(a, rank)).collect();
    x.unsqueeze(&axes)
}

pub(super) fn transpose<'b>(cx: &Cx<'b>) -> V<'b> {
    let x = cx.x(0);
    let rank = x.rank();
    match cx.ints("perm") {
        Some(perm) if perm.len() == rank => {
            let perm: Vec<usize> = perm.into_iter().map(|a| cx.wrap_axis(a, rank)).collect();
            x.transpose(&perm)
        }
        Some(perm) => cx.fail(format!("`perm` has {} axes, expected {rank}", perm.len())),
        None => x.transpose(&(0..rank).rev().collect::<Vec<_>>()),
    }
}

pub(super) fn expand<'b>(cx: &Cx<'b>) -> V<'b> {
    let x = cx.x(0);
    match cx.dims(1) {
        Some(dims) => {
            let joined = joined_dims(cx.b, &[x.dims(), dims.into_iter().collect()]);
            if cx.view.is_written_back && expand_numbers(&x.dims(), &joined).is_none() {
                return cx.fail("its shape would have to be computed");
            }
            x.expand(&joined)
        }
        None => cx.fail("the length of the shape is not known"),
    }
}

pub(super) fn concat<'b>(cx: &Cx<'b>) -> V<'b> {
    let all = cx.all();
    let rank = all.first().map_or(0, |v| v.rank());
    let axis = cx.axis("axis", if cx.since() < 4 { 1 } else { 0 }, rank);
    cx.b.concat(&all, axis)
}

pub(super) fn split<'b>(cx: &Cx<'b>) -> Vec<V<'b>> {
    let x = cx.x(0);
    let axis = cx.axis("axis", 0, x.rank());
    let sizes: Vec<i64> = match cx.ints_of("split", 1) {
        Some(sizes) => sizes,
        None => {
            let outputs = cx.outputs();
            let count = cx.int("num_outputs", outputs as i64).max(1);
            if count != outputs as i64 {
                let why = format!("`num_outputs` is {count}, but there are {outputs} outputs");
                return vec![cx.fail(why)];
            }
            if cx.b.is_inference && x.dim(axis).known().is_none() {
                // Only from opset 18 on the parts may differ.
                let is_even = cx.attr("num_outputs").is_none();
                let part = |i: usize| {
                    let mut ty = x.ty();
                    ty.dims[axis] =
                        ty.dims[axis].map_expr(|e| split_extent(e, count, i as i64, is_even));
                    x.number(0.0).pretend(ty)
                };
                return (0..cx.outputs()).map(part).collect();
            }
            let extent = x.extent(axis);
            if cx.attr("num_outputs").is_none() && extent % count != 0 {
                let why = format!("{extent} elements cannot be split into {count} equal parts");
                return vec![cx.fail(why)];
            }
            let size = (extent + count - 1) / count;
            (0..count).map(|i| size.min(extent - i * size).max(0)).collect()
        }
    };
    let mut start = 0;
    let part = |size: &i64| {
        let from = start;
        start += size;
        slice_one_axis(x, axis, from, start)
    };
    sizes.iter().map(part).collect()
}

// Returns the extent of one of `count` parts: `ceil(extent / count)`, or what is left for the last ones.
fn split_extent(extent: DimExpr, count: i64, index: i64, is_even: bool) -> Option<DimExpr> {
    let size = extent.checked_add(DimExpr::constant(count - 1)?)?.floordiv(count)?;
    if is_even || index == 0 {
        return Some(size);
    }
    let left = extent.checked_sub(size.checked_mul(DimExpr::constant(index)?)?)?;
    size.min(left)?.max(DimExpr::constant(0)?)
}

// Returns a part of an axis; the other extents need not be known.
fn slice_one_axis<'b>(x: V<'b>, axis: usize, start: i64, limit: i64) -> V<'b> {
    if x.dims().iter().all(|d| d.known().is_some()) {
        return x.slice_axis(axis, start, limit);
    }
    if !x.b.is_inference {
        return x.b.fail("an extent is not known");
    }
    let mut ty = x.ty();
    ty.dims[axis] = Dim::Known((limit - start).max(0) as u64);
    x.number(0.0).pretend(ty)
}

pub(super) fn pad<'b>(cx: &Cx<'b>) -> V<'b> {
    let x = cx.x(0);
    let rank = x.rank();
    let pads = match cx.ints("paddings") {
        Some(pads) => Some(pads),
        None => cx.ints_of("pads", 1),
    };
    let Some(pads) = pads else { return cx.fail("the pads are missing") };
    let axes: Vec<usize> = match cx.opt(3) {
        Some(_) => cx.const_ints(3).into_iter().map(|a| cx.wrap_axis(a, rank)).collect(),
        None => (0..rank).collect(),
    };
    if cx.b.has_failed() || pads.len() != 2 * axes.len() {
        return cx.fail(format!("there are {} pads, expected {}", pads.len(), 2 * axes.len()));
    }
    let (mut low, mut high) = (vec![0; rank], vec![0; rank]);
    for (i, &axis) in axes.iter().enumerate() {
        (low[axis], high[axis]) = (pads[i], pads[axes.len() + i]);
    }
    let mode = cx.text("mode", "constant");
    if mode == "constant" {
        let value = match cx.opt(2) {
            Some(value) => value.reshape(&[]),
            None => x.number(cx.float("value", 0.0)),
        };
        return x.pad(value, &low, &high);
    }
    if cx.b.is_inference && x.dims().iter().any(|d| d.known().is_none()) {
        let mut ty = x.ty();
        for (axis, dim) in ty.dims.iter_mut().enumerate() {
            let more = low[axis].saturating_add(high[axis]);
            *dim = dim
                .map_expr(|n| n.checked_add(DimExpr::constant(more)?)?.max(DimExpr::constant(0)?));
        }
        return x.number(0.0).pretend(ty);
    }
    // The other modes repeat elements: their indices are computed here.
    let mut result = x;
    for axis in 0..rank {
        if (low[axis], high[axis]) == (0, 0) {
            continue;
        }
        let n = x.extent(axis);
        if low[axis].saturating_add(high[axis]).saturating_add(n) > MAX_INDICES {
            return cx.fail("an axis is too long");
        }
        if n == 0 {
            return cx.fail("an empty axis has no elements to repeat");
        }
        let index = |i: i64| match mode {
            "edge" => i.clamp(0, n - 1),
            "wrap" => i.rem_euclid(n),
            _ if n == 1 => 0,
            // Reflections repeat after 2n - 2 elements.
            _ => {
                let k = i.rem_euclid(2 * n - 2);
                if k < n { k } else { 2 * n - 2 - k }
            }
        };
        let indices: Vec<i64> = (-low[axis]..n + high[axis]).map(index).collect();
        result = take(result, axis, &indices);
    }
    result
}

/// The longest axis whose indices are written out.
pub(super) const MAX_INDICES: i64 = 1 << 24;

/// Returns the elements at some indices of an axis.
pub(super) fn take<'b>(x: V<'b>, axis: usize, indices: &[i64]) -> V<'b> {
    let rank = x.rank();
    let mut front: Vec<usize> = vec![axis];
    front.extend((0..rank).filter(|&a| a != axis));
    let count = indices.len() as u64;
    let moved = x.transpose(&front).gather_slices(x.b.i64s(&[count, 1], indices), 1);
    let mut back: Vec<usize> = (1..rank).collect();
    back.insert(axis, 0);
    moved.transpose(&back)
}

pub(super) fn tile<'b>(cx: &Cx<'b>) -> V<'b> {
    let x = cx.x(0);
    let dims = x.dims();
    if cx.b.is_inference && cx.numbers(1).is_none() {
        let ty = TensorType { dtype: x.dtype(), dims: dims.iter().map(|_| Dim::Unknown).collect() };
        return x.number(0.0).pretend(ty);
    }
    let repeats = match cx.since() {
        1 => {
            let (tiles, axis) = (cx.const_ints(1), cx.const_ints(2));
            let mut repeats = vec![1; dims.len()];
            if let (Some(&n), Some(&a)) = (tiles.first(), axis.first())
                && let Some(slot) = repeats.get_mut(cx.wrap_axis(a, dims.len()))
            {
                *slot = n;
            }
            repeats
        }
        _ => cx.const_ints(1),
    };
    if repeats.len() != dims.len() || repeats.iter().any(|&n| n < 0) {
        return cx.fail("the repeats do not fit");
    }
    // x[1, a, 1, b] broadcast to [r, a, s, b].
    let ones: Vec<Dim> = dims.iter().flat_map(|&d| [Dim::Known(1), d]).collect();
    let wide: Vec<Dim> =
        dims.iter().zip(&repeats).flat_map(|(&d, &n)| [Dim::Known(n as u64), d]).collect();
    let merged: Vec<Dim> =
        dims.iter().zip(&repeats).map(|(&d, &n)| d.times(Dim::Known(n as u64))).collect();
    x.reshape(&ones).expand(&wide).reshape(&merged)
}

pub(super) fn range<'b>(cx: &Cx<'b>) -> V<'b> {
    let start = cx.x(0);
    let dtype = start.dtype();
    let is_known = (0..3).all(|i| cx.known(i).is_some_and(|k| k.literal.is_some()));
    if cx.b.is_inference && !is_known {
        let count = range_extent(cx).map_or(Dim::Unknown, Dim::from_expr);
        return start
            .number(0.0)
            .pretend(TensorType { dtype, dims: [count].into_iter().collect() });
    }
    let (a, z, step) = (cx.const_number(0), cx.const_number(1), cx.const_number(2));
    let count = ((z - a) / step).ceil().max(0.0);
    if !count.is_finite() || count > (1u64 << 32) as f64 {
        return cx.fail("the range is too long");
    }
    let dims = [Dim::Known(count as u64)];
    let index = match dtype {
        dtype if dtype.is_float() => cx.b.iota(DataType::I64, &dims, 0).cast(dtype),
        dtype => cx.b.iota(dtype, &dims, 0),
    };
    start.reshape(&[]) + index * cx.x(2).reshape(&[])
}

// Returns the number of elements of a range between expressions, with a known step.
fn range_extent(cx: &Cx<'_>) -> Option<DimExpr> {
    let number = |i: usize| cx.numbers(i)?.first().copied().flatten();
    let (start, limit, step) = (number(0)?, number(1)?, number(2)?.as_constant()?);
    let (length, step) = match step {
        1.. => (limit.checked_sub(start)?, step),
        _ => (start.checked_sub(limit)?, step.checked_neg().filter(|&n| n > 0)?),
    };
    let steps = length.checked_add(DimExpr::constant(step - 1)?)?.floordiv(step)?;
    steps.max(DimExpr::constant(0)?)
}

// Returns `column - row` for the last two axes.
fn diagonal_index<'b>(cx: &Cx<'b>, dims: &[Dim]) -> V<'b> {
    let rank = dims.len();
    if rank < 2 {
        return cx.fail("a matrix is needed");
    }
    cx.b.iota(DataType::I64, dims, rank - 1) - cx.b.iota(DataType::I64, dims, rank - 2)
}

pub(super) fn eye_like<'b>(cx: &Cx<'b>) -> V<'b> {
    let x = cx.x(0);
    let index = diagonal_index(cx, &x.dims());
    let k = index.number(cx.int("k", 0) as f64);
    index.compare(k, Direction::Eq).cast(cx.dtype("dtype", x.dtype()))
}

pub(super) fn trilu<'b>(cx: &Cx<'b>) -> V<'b> {
    let x = cx.x(0);
    let index = diagonal_index(cx, &x.dims());
    let k = match cx.opt(1) {
        Some(k) => k.reshape(&[]),
        None => index.number(0.0),
    };
    let keep = match cx.flag("upper", true) {
        true => index.compare(k, Direction::Ge),
        false => index.compare(k, Direction::Le),
    };
    keep.select(x, x.number(0.0))
}

pub(super) fn depth_to_space<'b>(cx: &Cx<'b>) -> V<'b> {
    let (x, s) = (cx.x(0), cx.int("blocksize", 1).max(1));
    let [n, c, h, w] = four(cx, x);
    let part = c / (s * s);
    let (shape, perm) = match cx.text("mode", "DCR") {
        "CRD" => ([n, part, s, s, h, w], [0, 1, 4, 2, 5, 3]),
        _ => ([n, s, s, part, h, w], [0, 3, 4, 1, 5, 2]),
    };
    reshape_ints(reshape_ints(x, &shape).transpose(&perm), &[n, part, h * s, w * s])
}

pub(super) fn space_to_depth<'b>(cx: &Cx<'b>) -> V<'b> {
    let (x, s) = (cx.x(0), cx.int("blocksize", 1).max(1));
    let [n, c, h, w] = four(cx, x);
    let blocks = reshape_ints(x, &[n, c, h / s, s, w / s, s]);
    let (perm, _) = match cx.text("mode", "DCR") {
        "CRD" => ([0, 1, 3, 5, 2, 4], ()),
        _ => ([0, 3, 5, 1, 2, 4], ()),
    };
    reshape_ints(blocks.transpose(&perm), &[n, c * s * s, h / s, w / s])
}

fn four(cx: &Cx<'_>, x: V<'_>) -> [i64; 4] {
    if x.rank() != 4 {
        cx.fail(format!("the input has rank {}, expected 4", x.rank()));
        return [1; 4];
    }
    [x.extent(0), x.extent(1), x.extent(2), x.extent(3)]
}

pub(super) fn reshape_ints<'b>(x: V<'b>, shape: &[i64]) -> V<'b> {
    x.reshape(&shape.iter().map(|&n| Dim::Known(n.max(0) as u64)).collect::<Vec<_>>())
}

pub(super) fn center_crop_pad<'b>(cx: &Cx<'b>) -> V<'b> {
    let x = cx.x(0);
    let rank = x.rank();
    let wanted = cx.const_ints(1);
    let axes = cx.ints("axes").unwrap_or_else(|| (0..rank as i64).collect());
    if axes.len() != wanted.len() {
        let (axes, wanted) = (axes.len(), wanted.len());
        return cx.fail(format!("the shape has {wanted} extents, expected {axes}"));
    }
    let (mut low, mut high) = (vec![0; rank], vec![0; rank]);
    for (&axis, &size) in axes.iter().zip(&wanted) {
        let axis = cx.wrap_axis(axis, rank);
        if axis >= rank {
            // A scalar has no axes, which is reported.
            break;
        }
        let missing = size.saturating_sub(x.extent(axis));
        // Negative pads crop; of an odd number, the larger half is at the end.
        low[axis] = missing / 2;
        high[axis] = missing - low[axis];
    }
    x.pad(x.number(0.0), &low, &high)
}
