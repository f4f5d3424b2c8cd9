//! Gathers, scatters, and slices at computed places as `Gather`, `GatherND`, `Slice` and `ScatterND`.

use sapwood_ptir::eval::DataType;
use sapwood_ptir::ops::{Direction, DynamicSlice, DynamicUpdateSlice, Gather, Scatter};
use sapwood_ptir::{Attr, Dim, InstId, TensorLiteral, TensorType, ValueId};

use super::one;
use crate::lower::{Builder, V};

fn usizes(list: &[i64]) -> Vec<usize> {
    list.iter().map(|&n| n as usize).collect()
}

// Returns indices as i64. Of those that do not fit, it matters only that they are too large.
fn widened<'b>(indices: V<'b>) -> V<'b> {
    let bounded = match indices.dtype() {
        DataType::U64 => indices.min(indices.number(2f64.powi(62))),
        _ => indices,
    };
    bounded.cast(DataType::I64)
}

fn shaped(dtype: DataType, shape: &[u64]) -> TensorType {
    TensorType::new(dtype, shape.iter().copied())
}

// Returns a literal that counts along one axis of a shape.
fn counting(shape: &[u64], axis: usize) -> Option<TensorLiteral> {
    let inner: u64 = shape[axis + 1..].iter().product();
    let all: u64 = shape.iter().product();
    let extent = shape[axis].max(1);
    let numbers: Vec<i64> = (0..all).map(|i| (i / inner.max(1) % extent) as i64).collect();
    TensorLiteral::from_slice(shape, &numbers).ok()
}

/// A list of places in a tensor: one component per axis that is indexed.
struct Places<'b> {
    /// The indexed axes, in increasing order.
    axes: Vec<usize>,
    /// One tensor of i64 per indexed axis, each of this shape.
    components: Vec<V<'b>>,
    shape: Vec<u64>,
}

/// The dimension numbers that gathers and scatters share.
struct IndexForm {
    index_vector_dim: usize,
    start_map: Vec<usize>,
    input_batch: Vec<usize>,
    index_batch: Vec<usize>,
    /// The axes of a slice that results or updates omit.
    dropped: Vec<usize>,
    slice_sizes: Vec<u64>,
}

impl IndexForm {
    /// Returns the extents of the indices without the axis of the vectors.
    fn batch(&self, index_shape: &[u64]) -> Vec<u64> {
        let axes = (0..index_shape.len()).filter(|&axis| axis != self.index_vector_dim);
        axes.map(|axis| index_shape[axis]).collect()
    }

    /// Returns the place of an axis of the indices among those without the vectors.
    fn batch_place(&self, axis: usize, has_vectors: bool) -> usize {
        axis - usize::from(has_vectors && axis > self.index_vector_dim)
    }
}

impl<'b> Places<'b> {
    // The shape is that of the index vectors, then the extents of the slices along indexed axes that are not omitted.
    fn new(b: &'b Builder, input: V<'b>, indices: V<'b>, form: &IndexForm) -> Self {
        let extents = input.shape();
        let index_shape = indices.shape();
        let indices = widened(indices);
        let has_vectors = form.index_vector_dim < index_shape.len();
        let batch = form.batch(&index_shape);
        let axes: Vec<usize> = (0..extents.len())
            .filter(|&axis| {
                form.input_batch.contains(&axis) || form.slice_sizes[axis] != extents[axis]
            })
            .collect();
        let windows: Vec<usize> = axes
            .iter()
            .copied()
            .filter(|axis| !form.dropped.contains(axis) && !form.input_batch.contains(axis))
            .collect();
        let shape: Vec<u64> =
            batch.iter().copied().chain(windows.iter().map(|&a| form.slice_sizes[a])).collect();
        let components = axes.iter().map(|&axis| {
            if let Some(k) = form.input_batch.iter().position(|&a| a == axis) {
                return match counting(&shape, form.batch_place(form.index_batch[k], has_vectors)) {
                    Some(literal) => b.literal(&literal),
                    None => b.fail("the indices are too large"),
                };
            }
            let start = match form.start_map.iter().position(|&a| a == axis) {
                Some(k) if has_vectors => indices.at(form.index_vector_dim, k as i64),
                Some(_) => indices,
                None => b.i64s(&batch, &vec![0; batch.iter().product::<u64>() as usize]),
            };
            let last = extents[axis] as i64 - form.slice_sizes[axis] as i64;
            let start = start.max(start.number(0.0)).min(start.number(last as f64));
            let mut unit = batch.clone();
            unit.resize(shape.len(), 1);
            let start = start.reshape_to(&unit);
            let dims: Vec<Dim> = shape.iter().map(|&n| Dim::Known(n)).collect();
            match windows.iter().position(|&a| a == axis) {
                Some(k) if form.slice_sizes[axis] > 1 => {
                    let mut own = vec![1; shape.len()];
                    own[batch.len() + k] = form.slice_sizes[axis];
                    match counting(&own, batch.len() + k) {
                        Some(literal) => (start + b.literal(&literal)).expand(&dims),
                        None => b.fail("the slices are too large"),
                    }
                }
                _ => start.expand(&dims),
            }
        });
        Self { components: components.collect(), axes, shape }
    }

    // Returns the places as vectors along the last axis.
    fn stacked(&self, b: &'b Builder) -> V<'b> {
        let mut shape = self.shape.clone();
        shape.push(1);
        let parts: Vec<V<'b>> = self.components.iter().map(|v| v.reshape_to(&shape)).collect();
        b.concat(&parts, self.shape.len())
    }
}

// Returns, for each axis of the result or of the updates, its place among: index vectors, indexed slice axes, other axes.
fn layout(
    form: &IndexForm,
    places_axes: &[usize],
    rank: usize,
    window_dims: &[usize],
    batch: usize,
) -> Vec<usize> {
    let is_kept = |axis: &usize| !form.dropped.contains(axis) && !form.input_batch.contains(axis);
    let indexed: Vec<usize> = places_axes.iter().copied().filter(is_kept).collect();
    let others: Vec<usize> =
        (0..rank).filter(|a| !places_axes.contains(a)).filter(is_kept).collect();
    let window: Vec<usize> = (0..rank).filter(is_kept).collect();
    let (mut next_batch, mut next_window) = (0, 0);
    (0..batch + window.len())
        .map(|axis| {
            if window_dims.contains(&axis) {
                let own = window[next_window];
                next_window += 1;
                match indexed.iter().position(|&a| a == own) {
                    Some(k) => batch + k,
                    None => {
                        let k = others.iter().position(|&a| a == own).unwrap_or(0);
                        batch + indexed.len() + k
                    }
                }
            } else {
                next_batch += 1;
                next_batch - 1
            }
        })
        .collect()
}

fn inverse(perm: &[usize]) -> Vec<usize> {
    let mut inverse = vec![0; perm.len()];
    for (i, &p) in perm.iter().enumerate() {
        inverse[p] = i;
    }
    inverse
}

// Returns the order of axes with some of them first.
fn first_axes(axes: &[usize], rank: usize) -> Vec<usize> {
    axes.iter().copied().chain((0..rank).filter(|a| !axes.contains(a))).collect()
}

fn gather_form(op: &Gather) -> IndexForm {
    IndexForm {
        index_vector_dim: op.index_vector_dim.0 as usize,
        start_map: usizes(&op.start_index_map),
        input_batch: usizes(&op.input_batch_dims),
        index_batch: usizes(&op.index_batch_dims),
        dropped: usizes(&op.collapsed_dims),
        slice_sizes: op.slice_sizes.iter().map(|&n| n as u64).collect(),
    }
}

pub(super) fn gather(b: &Builder, inst: InstId) -> Vec<V<'_>> {
    let Some(op) = b.f.borrow().view::<Gather>(inst) else {
        return vec![b.fail("it is no gather")];
    };
    let form = gather_form(&op);
    let (input, indices) = (b.value(op.input), b.value(op.indices));
    if form.slice_sizes.len() != input.rank() {
        return vec![b.fail("the extents of the slices are not known")];
    }
    let (rank, shape, dtype) = (input.rank(), input.shape(), input.dtype());
    indices.shape();
    if b.has_failed() {
        return Vec::new();
    }
    let places = Places::new(b, input, indices, &form);
    let batch = indices.rank() - usize::from(form.index_vector_dim < indices.rank());
    let perm = layout(&form, &places.axes, rank, &usizes(&op.offset_dims), batch);
    let rest: Vec<usize> = (0..rank).filter(|a| !places.axes.contains(a)).collect();
    // Axes of full extent that results omit are dropped at the end.
    let squeezed = |read: &[u64]| -> Vec<u64> {
        let kept = rest.iter().filter(|a| !form.dropped.contains(a)).map(|&a| shape[a]);
        read.iter().copied().chain(kept).collect()
    };
    if let (&[axis], [index]) = (&places.axes[..], &places.components[..])
        && places.shape.len() == batch
    {
        // One node reads along an axis: its index axes take the place of the axis.
        let read: Vec<u64> =
            shape[..axis].iter().chain(&places.shape).chain(&shape[axis + 1..]).copied().collect();
        let attrs = [("axis", Attr::Int(axis as i64))];
        let read = one(b, "onnx.Gather", &[input, *index], &attrs, shaped(dtype, &read));
        let order: Vec<usize> =
            (axis..axis + batch).chain(0..axis).chain(axis + batch..rank - 1 + batch).collect();
        // One transpose does both, which often moves nothing.
        let moved = match perm.iter().map(|&p| order.get(p).copied()).collect::<Option<Vec<_>>>() {
            Some(direct) if direct.len() == order.len() => read.transpose(&direct),
            _ => read.transpose(&order).reshape_to(&squeezed(&places.shape)).transpose(&perm),
        };
        return vec![moved];
    }
    if places.axes.is_empty() {
        // Every slice is the whole input.
        let dims: Vec<Dim> = squeezed(&places.shape).into_iter().map(Dim::Known).collect();
        return vec![input.reshape_to(&squeezed(&[])).expand(&dims).transpose(&perm)];
    }
    let moved = input.transpose(&first_axes(&places.axes, rank));
    let read: Vec<u64> =
        places.shape.iter().copied().chain(rest.iter().map(|&a| shape[a])).collect();
    let read = one(b, "onnx.GatherND", &[moved, places.stacked(b)], &[], shaped(dtype, &read));
    vec![read.reshape_to(&squeezed(&places.shape)).transpose(&perm)]
}

/// Returns how a region combines the old element with the update, as `ScatterND` names it.
fn combination(b: &Builder, inst: InstId) -> Option<&'static str> {
    let f = b.f.borrow();
    let &body = f.regions(inst).first()?;
    let (&[old, new], &[result]) = (f.body_params(body), f.body_results(body)) else { return None };
    if result == new {
        return Some("none");
    }
    let made = f.inst_of(result)?;
    let operands = f.operands(made);
    if operands != [old, new] && operands != [new, old] {
        return None;
    }
    match f.op_name(made) {
        "add" => Some("add"),
        "mul" => Some("mul"),
        "max" => Some("max"),
        "min" => Some("min"),
        _ => None,
    }
}

/// Elements of updates outside of the input are ignored: they are written to an element behind all others, which is removed.
pub(super) fn scatter(b: &Builder, inst: InstId) -> Vec<V<'_>> {
    let Some(op) = b.f.borrow().view::<Scatter>(inst) else {
        return vec![b.fail("it is no scatter")];
    };
    let (&[input], &[update]) = (&op.inputs[..], &op.updates[..]) else {
        return vec![b.fail("ONNX scatters into one tensor")];
    };
    let Some(reduction) = combination(b, inst) else {
        return vec![b.fail("ONNX has no such combination of elements")];
    };
    let (input, update, indices) = (b.value(input), b.value(update), b.value(op.indices));
    let (shape, update_shape) = (input.shape(), update.shape());
    indices.shape();
    if b.has_failed() {
        return Vec::new();
    }
    let window_dims = usizes(&op.update_window_dims);
    let (dropped, input_batch) = (usizes(&op.inserted_window_dims), usizes(&op.input_batch_dims));
    let mut windows = window_dims.iter();
    let slice_sizes: Vec<u64> = (0..shape.len())
        .map(|axis| match dropped.contains(&axis) || input_batch.contains(&axis) {
            true => 1,
            false => windows.next().map_or(1, |&dim| update_shape[dim]),
        })
        .collect();
    let form = IndexForm {
        index_vector_dim: op.index_vector_dim.0 as usize,
        start_map: usizes(&op.scatter_dims),
        input_batch,
        index_batch: usizes(&op.index_batch_dims),
        dropped,
        slice_sizes,
    };
    let rank = shape.len();
    let positions = positions(b, &shape, indices, &form);
    let batch = indices.rank() - usize::from(form.index_vector_dim < indices.rank());
    let axes: Vec<usize> = (0..rank).collect();
    let perm = layout(&form, &axes, rank, &window_dims, batch);
    let count: u64 = update_shape.iter().product();
    let total: u64 = shape.iter().product();
    if count == 0 {
        return vec![input];
    }
    // Of several updates of an element, the last in the order of the updates counts.
    let flat_updates = update.reshape_to(&[count]);
    let spare = b.filled(input.dtype(), &[1], 0.0);
    let target = b.concat(&[input.reshape_to(&[total]), spare], 0);
    let attrs: &[(&str, Attr)] = match reduction {
        "none" => &[],
        other => &[("reduction", Attr::Str(other.into()))],
    };
    let points = positions.transpose(&perm).reshape_to(&[count, 1]);
    let ty = shaped(input.dtype(), &[total + 1]);
    let written = one(b, "onnx.ScatterND", &[target, points, flat_updates], attrs, ty);
    vec![written.slice_axis(0, 0, total as i64).reshape_to(&shape)]
}

// Returns the places of updates as positions in the row-major order of a tensor; one behind the last for those outside.
fn positions<'b>(b: &'b Builder, shape: &[u64], indices: V<'b>, form: &IndexForm) -> V<'b> {
    let index_shape = indices.shape();
    let indices = widened(indices);
    let has_vectors = form.index_vector_dim < index_shape.len();
    let batch = form.batch(&index_shape);
    let windows: Vec<usize> = (0..shape.len())
        .filter(|a| !form.dropped.contains(a) && !form.input_batch.contains(a))
        .collect();
    let full: Vec<u64> =
        batch.iter().copied().chain(windows.iter().map(|&a| form.slice_sizes[a])).collect();
    let dims: Vec<Dim> = full.iter().map(|&n| Dim::Known(n)).collect();
    let mut position: Option<V<'b>> = None;
    let mut inside: Option<V<'b>> = None;
    for (axis, &extent) in shape.iter().enumerate() {
        let stride: u64 = shape[axis + 1..].iter().product();
        let mut component: Option<V<'b>> = None;
        let start = form.start_map.iter().position(|&a| a == axis);
        if let Some(k) = start {
            let vector =
                if has_vectors { indices.at(form.index_vector_dim, k as i64) } else { indices };
            let mut unit = batch.clone();
            unit.resize(full.len(), 1);
            component = Some(vector.reshape_to(&unit));
        }
        let counted = match form.input_batch.iter().position(|&a| a == axis) {
            Some(k) => Some(form.batch_place(form.index_batch[k], has_vectors)),
            None => windows.iter().position(|&a| a == axis).map(|k| batch.len() + k),
        };
        if let Some(place) = counted.filter(|&place| full[place] > 1) {
            let mut own = vec![1; full.len()];
            own[place] = full[place];
            let Some(literal) = counting(&own, place) else {
                return b.fail("the indices are too large");
            };
            let offsets = b.literal(&literal);
            component = Some(component.map_or(offsets, |start| start + offsets));
        }
        let Some(component) = component else { continue };
        if start.is_some() {
            let low = component.compare(component.number(0.0), Direction::Ge);
            let high = component.compare(component.number(extent as f64), Direction::Lt);
            let own = low.binary("and", high);
            inside = Some(inside.map_or(own, |all| all.binary("and", own)));
        }
        let scaled = if stride == 1 { component } else { component * stride as f64 };
        position = Some(position.map_or(scaled, |all| all + scaled));
    }
    let position = position.unwrap_or_else(|| b.i64s(&[], &[0]));
    let total: u64 = shape.iter().product();
    match inside {
        Some(inside) => inside.select(position, position.number(total as f64)).expand(&dims),
        None => position.expand(&dims),
    }
}

// Returns the starts of a slice along some axes, clamped so that it is inside.
fn clamped_starts<'b>(
    b: &'b Builder,
    starts: &[ValueId],
    axes: &[usize],
    shape: &[u64],
    sizes: &[u64],
) -> Vec<V<'b>> {
    let clamped = |&axis: &usize| {
        let start = widened(b.value(starts[axis]));
        let last = shape[axis].saturating_sub(sizes[axis]) as f64;
        start.max(start.number(0.0)).min(start.number(last))
    };
    axes.iter().map(clamped).collect()
}

pub(super) fn dynamic_slice(b: &Builder, inst: InstId) -> Vec<V<'_>> {
    let Some(op) = b.f.borrow().view::<DynamicSlice>(inst) else {
        return vec![b.fail("it is no slice")];
    };
    let input = b.value(op.input);
    let shape = input.shape();
    let sizes: Vec<u64> = op.sizes.iter().map(|&n| n as u64).collect();
    if b.has_failed() || sizes.len() != shape.len() {
        return vec![b.fail("the extents of the slice are not known")];
    }
    // Axes of full extent start at zero.
    let axes: Vec<usize> = (0..shape.len()).filter(|&a| sizes[a] != shape[a]).collect();
    if axes.is_empty() {
        return vec![input];
    }
    let starts = clamped_starts(b, &op.starts, &axes, &shape, &sizes);
    let starts: Vec<V<'_>> = starts.iter().map(|v| v.reshape_to(&[1])).collect();
    let starts = b.concat(&starts, 0);
    let count = [axes.len() as u64];
    let lengths: Vec<i64> = axes.iter().map(|&a| sizes[a] as i64).collect();
    let ends = starts + b.i64s(&count, &lengths);
    let listed = b.i64s(&count, &axes.iter().map(|&a| a as i64).collect::<Vec<_>>());
    let ty = shaped(input.dtype(), &sizes);
    vec![one(b, "onnx.Slice", &[input, starts, ends, listed], &[], ty)]
}

pub(super) fn dynamic_update_slice(b: &Builder, inst: InstId) -> Vec<V<'_>> {
    let Some(op) = b.f.borrow().view::<DynamicUpdateSlice>(inst) else {
        return vec![b.fail("it is no update")];
    };
    let (input, update) = (b.value(op.input), b.value(op.update));
    let (shape, sizes) = (input.shape(), update.shape());
    if b.has_failed() {
        return Vec::new();
    }
    let axes: Vec<usize> = (0..shape.len()).filter(|&a| sizes[a] != shape[a]).collect();
    if axes.is_empty() {
        return vec![update];
    }
    let starts = clamped_starts(b, &op.starts, &axes, &shape, &sizes);
    let places: Vec<u64> = axes.iter().map(|&a| sizes[a]).collect();
    let dims: Vec<Dim> = places.iter().map(|&n| Dim::Known(n)).collect();
    let components = starts.iter().enumerate().map(|(k, start)| {
        let mut own = vec![1; places.len()];
        own[k] = places[k];
        match counting(&own, k) {
            Some(literal) => (*start + b.literal(&literal)).expand(&dims),
            None => b.fail("the update is too large"),
        }
    });
    let places = Places { components: components.collect(), axes: axes.clone(), shape: places };
    let order = first_axes(&axes, shape.len());
    let moved: Vec<u64> = order.iter().map(|&a| shape[a]).collect();
    let operands = [input.transpose(&order), places.stacked(b), update.transpose(&order)];
    let written = one(b, "onnx.ScatterND", &operands, &[], shaped(input.dtype(), &moved));
    vec![written.transpose(&inverse(&order))]
}
