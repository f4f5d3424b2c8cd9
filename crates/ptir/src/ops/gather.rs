//! Reads and writes of slices at computed positions.

use super::support::{
    DtypeClass, axes_of_each, check_at_least, check_one_per_axis, check_reducer, check_same_dtype,
    one_result, unify_dim_lists,
};
use crate::attr::{Axes, Int};
use crate::cost::op_flops as cost;
use crate::eval::kernels;
use crate::op::{Body, InferCx, InferResult, OpError, Value, Values, unify_dims};
use crate::types::{Dim, Dims, TensorType, ValueType};
use sapwood_types::{DataType, counted};
use smallvec::SmallVec;

crate::ops! {
    family "gather", table gather_ops, values GatherValueOps, graph GatherGraphOps;

    /// Reads one slice of the input per index vector. The index vectors are along axis `index_vector_dim` of
    /// `indices`; if that is the rank of `indices`, each index is a vector of its own. Starts are clamped so that
    /// every slice is inside the input. The result has the batch axes of `indices` and, at `offset_dims`, the axes of
    /// the slices that are neither collapsed nor batch axes.
    op gather Gather "gather" (input: Value, indices: Value) {
        /// Axes of the result that run over a slice, in increasing order.
        offset_dims: Axes,
        /// Axes of extent one that the result omits from the slices, in increasing order.
        collapsed_dims: Axes = Axes::default(),
        /// Batch axes of the input, in increasing order.
        input_batch_dims: Axes = Axes::default(),
        /// Batch axes of the indices, paired with those of the input.
        index_batch_dims: Axes = Axes::default(),
        /// For each entry of an index vector, the axis of the input whose start it gives.
        start_index_map: Axes,
        /// The axis of `indices` that holds the index vectors.
        index_vector_dim: Int,
        /// Extents of a slice, one per axis of the input.
        slice_sizes: Axes,
    } -> one [symbolic(&["slice_sizes"]), reads_part] = infer_gather, eval = kernels::gather::gather;

    /// Combines updates into copies of the inputs, one slice per index vector; the inverse of `gather`. Elements of
    /// an update that would be outside the input are ignored; the rest of the slice is used. The region takes the
    /// current elements, then the updates, all scalars, and yields the new elements. Updates are applied in row-major
    /// order.
    op scatter Scatter "scatter" (inputs: Values, indices: Value, updates: Values, body: Body) {
        /// Axes of the updates that run over a slice, in increasing order.
        update_window_dims: Axes,
        /// Axes of the input, of extent one in a slice, that the updates omit, in increasing order.
        inserted_window_dims: Axes = Axes::default(),
        /// Batch axes of the input, in increasing order.
        input_batch_dims: Axes = Axes::default(),
        /// Batch axes of the indices, paired with those of the input.
        index_batch_dims: Axes = Axes::default(),
        /// For each entry of an index vector, the axis of the input whose start it gives.
        scatter_dims: Axes,
        /// The axis of `indices` that holds the index vectors.
        index_vector_dim: Int,
    } -> many [flops(cost::scatter)] = infer_scatter, eval = kernels::gather::scatter;
}

fn check_increasing(name: &str, axes: &[usize]) -> Result<(), OpError> {
    if axes.windows(2).all(|w| w[0] < w[1]) {
        return Ok(());
    }
    Err(OpError::new(format!("`{name}` {axes:?} is not increasing")))
}

struct IndexLayout {
    // Dims of `indices` without the vector axis.
    batch: Dims,
    input_batch: SmallVec<[usize; 4]>,
}

// Checks the attributes that gather and scatter share: the axis of the index vectors and the axes that they start.
fn check_index_layout(
    cx: &InferCx<'_>,
    input: &TensorType,
    at: usize,
    map: &str,
    window: &[usize],
    left_out: &str,
) -> Result<(IndexLayout, SmallVec<[usize; 4]>), OpError> {
    let indices = cx.tensor(at)?;
    DtypeClass::INT.check("`indices`", indices.dtype)?;
    let vector = cx.int("index_vector_dim")?;
    let Some(vector) = usize::try_from(vector).ok().filter(|&v| v <= indices.rank()) else {
        return Err(OpError::new(format!(
            "`index_vector_dim` is {vector}, expected at most the rank {}",
            indices.rank()
        )));
    };
    let map_axes = cx.axes(map, input.rank())?;
    let size = indices.dims.get(vector).copied().unwrap_or(Dim::Known(1));
    if !size.compatible(Dim::Known(map_axes.len() as u64)) {
        return Err(OpError::new(format!(
            "index vectors have {size} entries, `{map}` has {}",
            map_axes.len()
        )));
    }
    let input_batch = cx.axes("input_batch_dims", input.rank())?;
    let index_batch = cx.axes("index_batch_dims", indices.rank())?;
    check_increasing("input_batch_dims", &input_batch)?;
    if input_batch.len() != index_batch.len() {
        return Err(OpError::new(format!(
            "`input_batch_dims` has {}, `index_batch_dims` has {}",
            counted(input_batch.len(), "axis"),
            index_batch.len()
        )));
    }
    for (&i, &j) in input_batch.iter().zip(&index_batch) {
        if j == vector {
            return Err(OpError::new(format!("batch axis {j} of the indices is the vector axis")));
        }
        unify_dims(
            format_args!("batch axis {i} of the input and {j} of the indices"),
            input.dims[i],
            indices.dims[j],
        )?;
    }
    let dropped = cx.axes(left_out, input.rank())?;
    check_increasing(left_out, &dropped)?;
    for &axis in &dropped {
        if input_batch.contains(&axis) {
            return Err(OpError::new(format!("axis {axis} is a batch axis and in `{left_out}`")));
        }
    }
    if let Some(axis) = map_axes.iter().find(|a| input_batch.contains(a)) {
        return Err(OpError::new(format!("axis {axis} is a batch axis and in `{map}`")));
    }
    if window.len() + dropped.len() + input_batch.len() != input.rank() {
        return Err(OpError::new(format!(
            "{} window axes, {} left out and {} batch axes do not add up to the rank {}",
            window.len(),
            dropped.len(),
            input_batch.len(),
            input.rank()
        )));
    }
    let batch =
        indices.dims.iter().enumerate().filter(|(a, _)| *a != vector).map(|(_, &d)| d).collect();
    Ok((IndexLayout { batch, input_batch }, dropped))
}

/// The axes of a gather and of its result.
pub(super) struct GatherLayout {
    pub(super) rank: usize,
    input_rank: usize,
    offsets: SmallVec<[usize; 4]>,
    collapsed: SmallVec<[usize; 4]>,
    input_batch: SmallVec<[usize; 4]>,
    batch: Dims,
}

impl GatherLayout {
    fn is_left_out(&self, axis: usize) -> bool {
        self.collapsed.contains(&axis) || self.input_batch.contains(&axis)
    }

    /// Returns the dims of the result, given the extents of a slice.
    pub(super) fn result_dims(&self, size: impl Fn(usize) -> Dim) -> Dims {
        let mut slice = (0..self.input_rank).filter(|&a| !self.is_left_out(a)).map(size);
        let mut batch = self.batch.iter().copied();
        (0..self.rank)
            .filter_map(|a| if self.offsets.contains(&a) { slice.next() } else { batch.next() })
            .collect()
    }
}

/// Checks the attributes of a gather, except the extents of a slice.
pub(super) fn gather_layout(cx: &InferCx<'_>) -> Result<GatherLayout, OpError> {
    let input = cx.tensor(0)?;
    let count = cx.ints("offset_dims")?.len();
    let index_rank = cx.tensor(1)?.rank();
    let at_vector = (cx.int("index_vector_dim")? as u64) < index_rank as u64;
    let rank = count + index_rank - usize::from(at_vector);
    let offsets = cx.axes("offset_dims", rank)?;
    check_increasing("offset_dims", &offsets)?;
    let (found, collapsed) =
        check_index_layout(cx, input, 1, "start_index_map", &offsets, "collapsed_dims")?;
    let IndexLayout { batch, input_batch } = found;
    Ok(GatherLayout { rank, input_rank: input.rank(), offsets, collapsed, input_batch, batch })
}

// Checks the attributes that refer to the input alone.
fn check_slices_of_input(cx: &InferCx<'_>, input: &TensorType) -> Result<(), OpError> {
    if let Ok(sizes) = cx.ints("slice_sizes") {
        check_one_per_axis("slice_sizes", sizes.len(), input.rank())?;
        check_at_least("slice_sizes", sizes, 0)?;
        for (axis, (&size, &d)) in sizes.iter().zip(&input.dims).enumerate() {
            if let Dim::Known(n) = d
                && size as u64 > n
            {
                return Err(OpError::new(format!(
                    "the slice of axis {axis} is {size}, but its extent is {n}"
                )));
            }
        }
    }
    let of_input = ["collapsed_dims", "input_batch_dims", "start_index_map"];
    axes_of_each(cx, of_input.map(|name| (name, input.rank()))).map(|_| ())
}

fn infer_gather(cx: &InferCx<'_>) -> InferResult {
    let input = cx.tensor(0)?;
    check_slices_of_input(cx, input)?;
    let found = gather_layout(cx)?;
    if cx.is_symbolic("slice_sizes")? {
        let sizes = cx.dim_exprs("slice_sizes")?;
        check_one_per_axis("slice_sizes", sizes.len(), input.rank())?;
        let dims = found.result_dims(|axis| Dim::from_expr(sizes[axis]));
        return one_result(TensorType { dtype: input.dtype, dims });
    }
    let sizes = cx.ints("slice_sizes")?;
    for (axis, &size) in sizes.iter().enumerate() {
        if found.is_left_out(axis) && size != 1 {
            return Err(OpError::new(format!(
                "axis {axis} is left out of the slices, but its slice is {size}, not 1"
            )));
        }
    }
    let dims = found.result_dims(|axis| Dim::Known(sizes[axis] as u64));
    one_result(TensorType { dtype: input.dtype, dims })
}

fn infer_scatter(cx: &InferCx<'_>) -> InferResult {
    let (inputs, updates) = (cx.operand_range("inputs"), cx.operand_range("updates"));
    if inputs.is_empty() {
        return Err(OpError::new("at least one input is needed"));
    }
    let at = inputs.end;
    let (first, first_update) = (cx.tensor(0)?, cx.tensor(updates.start)?);
    let mut dims = first.dims.clone();
    let mut update_dims = first_update.dims.clone();
    let mut dtypes: Vec<DataType> = Vec::new();
    for (i, u) in inputs.zip(updates) {
        let (input, update) = (cx.tensor(i)?, cx.tensor(u)?);
        check_same_dtype(i, input, u, update)?;
        dims = unify_dim_lists(0, &dims, i, &input.dims)?;
        update_dims = unify_dim_lists(at + 1, &update_dims, u, &update.dims)?;
        dtypes.push(input.dtype);
    }
    let input = TensorType { dtype: first.dtype, dims };
    let window = cx.axes("update_window_dims", update_dims.len())?;
    check_increasing("update_window_dims", &window)?;
    let (found, inserted) =
        check_index_layout(cx, &input, at, "scatter_dims", &window, "inserted_window_dims")?;
    if window.len() + found.batch.len() != update_dims.len() {
        return Err(OpError::new(format!(
            "the updates have rank {}, expected {} window axes and {} index axes",
            update_dims.len(),
            window.len(),
            found.batch.len()
        )));
    }
    let mut batch = found.batch.iter();
    let mut kept =
        (0..input.rank()).filter(|a| !inserted.contains(a) && !found.input_batch.contains(a));
    for (axis, &d) in update_dims.iter().enumerate() {
        if window.contains(&axis) {
            let Some(to) = kept.next() else { continue };
            if let (Dim::Known(n), Dim::Known(limit)) = (d, input.dims[to])
                && n > limit
            {
                return Err(OpError::new(format!(
                    "axis {axis} of the updates is {n}, but axis {to} of the input is {limit}"
                )));
            }
        } else if let Some(&expected) = batch.next()
            && d.unify(expected).is_none()
        {
            return Err(OpError::new(format!(
                "axis {axis} of the updates is {d}, but the matching axis of the indices is {expected}"
            )));
        }
    }
    check_reducer(cx, 0, &dtypes)?;
    Ok(dtypes.iter().map(|&dtype| ValueType::Tensor(input.with_dtype(dtype))).collect())
}
