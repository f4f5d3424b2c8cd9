//! Builder helpers that record several instructions or take fewer arguments than the op.

use sapwood_types::DataType;

use super::graph::{GraphError, PtirGraph};
use super::value::PtirValue;
use crate::attr::{Axes, Int, ResultType};
use crate::literal::TensorLiteral;
use crate::op::OpError;
use crate::ops::{
    BinaryValueOps, BroadcastInDim, BroadcastTo, Concat, DotGeneral, Gather, ReduceSum,
    ReduceWindow, Reshape,
};
use crate::types::{Dim, MAX_EXTENT, TensorType, ValueType};

/// The pairs of axes of a `dot_general`: batch axes and contracted axes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DotDims {
    /// Batch axes of the left operand.
    pub lhs_batch: Axes,
    /// Batch axes of the right operand.
    pub rhs_batch: Axes,
    /// Contracted axes of the left operand.
    pub lhs_contract: Axes,
    /// Contracted axes of the right operand.
    pub rhs_contract: Axes,
}

impl DotDims {
    /// Creates dims with the same batch axes on both sides and the contracted axes of each side.
    pub fn new(
        batch: impl Into<Axes>,
        lhs_contract: impl Into<Axes>,
        rhs_contract: impl Into<Axes>,
    ) -> Self {
        let batch = batch.into();
        Self {
            lhs_batch: batch.clone(),
            rhs_batch: batch,
            lhs_contract: lhs_contract.into(),
            rhs_contract: rhs_contract.into(),
        }
    }

    /// Replaces the batch axes of the right operand.
    #[must_use]
    pub fn with_rhs_batch(mut self, batch: impl Into<Axes>) -> Self {
        self.rhs_batch = batch.into();
        self
    }
}

/// The element types of a `dot_general`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DotAttrs {
    /// Type in which products and sums are computed.
    pub accumulate: Option<DataType>,
    /// Element type of the result; by default that of the operands.
    pub out: Option<DataType>,
}

/// Builds a list of axes: `axes![0, 2]`.
#[macro_export]
macro_rules! axes {
    ($($axis:expr),* $(,)?) => {
        $crate::Axes::from_iter([$(i64::try_from($axis).unwrap_or(i64::MAX)),*] as [i64; $crate::axes!(@count $($axis),*)])
    };
    (@count) => { 0 };
    (@count $first:expr $(, $rest:expr)*) => { 1 + $crate::axes!(@count $($rest),*) };
}

fn op_error(op: &'static str, message: String) -> GraphError {
    GraphError::Op { op, error: OpError::new(message) }
}

fn known_extent(op: &'static str, t: &TensorType, axis: usize) -> Result<u64, GraphError> {
    match t.dims.get(axis) {
        Some(Dim::Known(n)) => Ok(*n),
        Some(dim) => Err(op_error(op, format!("axis {axis} is {dim}, expected a known extent"))),
        None => Err(op_error(op, format!("axis {axis} is out of range for rank {}", t.rank()))),
    }
}

impl PtirValue {
    /// Broadcasts this value to the dims of another value; the element type is kept.
    ///
    /// # Errors
    /// If the dims are not compatible.
    pub fn broadcast_like(
        &self,
        graph: &mut PtirGraph<'_>,
        like: &Self,
    ) -> Result<Self, GraphError> {
        graph.value_id(like)?;
        let ty = TensorType { dtype: self.tensor()?.dtype, dims: like.tensor()?.dims.clone() };
        graph.record(BroadcastTo { input: graph.value_id(self)?, ty: ty.into() })
    }

    /// Contracts two values over pairs of axes.
    ///
    /// # Errors
    /// If an axis is out of range, batch or contracted extents differ, or the element types differ.
    pub fn dot_general(
        &self,
        graph: &mut PtirGraph<'_>,
        rhs: &Self,
        dims: &DotDims,
        attrs: &DotAttrs,
    ) -> Result<Self, GraphError> {
        graph.record(DotGeneral {
            lhs: graph.value_id(self)?,
            rhs: graph.value_id(rhs)?,
            lhs_batch: dims.lhs_batch.clone(),
            rhs_batch: dims.rhs_batch.clone(),
            lhs_contract: dims.lhs_contract.clone(),
            rhs_contract: dims.rhs_contract.clone(),
            accumulate: attrs.accumulate,
            out: attrs.out,
        })
    }

    /// Records a number in this value's element type and dims: a constant, followed by a broadcast unless the value
    /// is a scalar.
    ///
    /// # Errors
    /// If the number does not fit the element type.
    pub fn fill_like(&self, graph: &mut PtirGraph<'_>, number: f64) -> Result<Self, GraphError> {
        let ty = self.tensor()?.clone();
        graph.value_id(self)?;
        let scalar = graph.literal(&TensorLiteral::filled(ty.dtype, &[], number)?);
        if ty.rank() == 0 {
            return Ok(scalar);
        }
        graph.record(BroadcastTo { input: scalar.id(), ty: ty.into() })
    }

    /// Reshapes the value to other extents.
    ///
    /// # Errors
    /// If the number of elements differs.
    pub fn reshape_to(&self, graph: &mut PtirGraph<'_>, dims: &[u64]) -> Result<Self, GraphError> {
        let ty = TensorType::new(self.tensor()?.dtype, dims.iter().copied());
        graph.record(Reshape { input: graph.value_id(self)?, ty: ty.into() })
    }

    /// Computes the mean over axes of known extent: a sum and a division. The mean of no elements is NaN for floats.
    ///
    /// # Errors
    /// If an axis is out of range or repeated, an extent is not known, the elements are bool, or the element type
    /// cannot represent the number of elements.
    pub fn mean(
        &self,
        graph: &mut PtirGraph<'_>,
        axes: impl Into<Axes>,
        keepdims: bool,
    ) -> Result<Self, GraphError> {
        let (ty, axes) = (self.tensor()?, axes.into());
        let mut count = 1.0;
        for &axis in axes.iter() {
            count *= known_extent("mean", ty, usize::try_from(axis).unwrap_or(usize::MAX))? as f64;
        }
        let input = graph.value_id(self)?;
        // Checked before anything is recorded: neither `fill_like` nor `div` can fail afterwards.
        if ty.dtype.is_bool() {
            return Err(op_error(
                "mean",
                "the operand has element type bool, expected numbers".into(),
            ));
        }
        TensorLiteral::filled(ty.dtype, &[], count).map_err(|e| op_error("mean", e.to_string()))?;
        let as_mean = |error| match error {
            GraphError::Op { error, .. } => GraphError::Op { op: "mean", error },
            other => other,
        };
        let sum: Self =
            graph.record(ReduceSum { input, axes, keepdims, accumulate: None }).map_err(as_mean)?;
        let count = sum.fill_like(graph, count)?;
        sum.div(graph, &count)
    }

    /// Repeats the whole value along each axis: `repeats[i]` copies along axis `i`.
    ///
    /// # Errors
    /// If the number of repeats is not the rank, or an extent is not known.
    pub fn tile(&self, graph: &mut PtirGraph<'_>, repeats: &[u64]) -> Result<Self, GraphError> {
        let ty = self.tensor()?.clone();
        if repeats.len() != ty.rank() {
            return Err(op_error(
                "tile",
                format!("found {} repeats, expected {}, one per axis", repeats.len(), ty.rank()),
            ));
        }
        let (mut wide, mut flat) = (Vec::new(), Vec::new());
        for (axis, &n) in repeats.iter().enumerate() {
            let size = known_extent("tile", &ty, axis)?;
            wide.extend([n, size]);
            let total = size.checked_mul(n).filter(|&t| t <= MAX_EXTENT);
            flat.push(total.ok_or_else(|| {
                op_error(
                    "tile",
                    format!("axis {axis} of extent {size} repeated {n} times is too large"),
                )
            })?);
        }
        let dims: Axes = (0..ty.rank()).map(|a| 2 * a + 1).collect();
        let wide = TensorType::new(ty.dtype, wide);
        let undo = graph.snapshot();
        let spread: Self = graph.record(BroadcastInDim {
            input: graph.value_id(self)?,
            dims,
            ty: ResultType::from(wide),
        })?;
        spread.reshape_to(graph, &flat).inspect_err(|_| graph.rollback(undo))
    }

    /// Gathers the slices of extent one at `indices` along an axis; the axes of `indices` replace that axis. Indices
    /// are clamped.
    ///
    /// # Errors
    /// If the axis is out of range, another extent is not known, or the indices are not integers.
    pub fn take(
        &self,
        graph: &mut PtirGraph<'_>,
        indices: &Self,
        axis: usize,
    ) -> Result<Self, GraphError> {
        let (ty, index_rank) = (self.tensor()?, indices.rank());
        let mut sizes = Vec::new();
        for a in 0..ty.rank() {
            sizes.push(if a == axis { 1 } else { known_extent("take", ty, a)? });
        }
        if axis >= ty.rank() {
            return Err(op_error(
                "take",
                format!("axis {axis} is out of range for rank {}", ty.rank()),
            ));
        }
        let offsets =
            (0..axis).chain(axis + index_rank..ty.rank() - 1 + index_rank).collect::<Axes>();
        graph.record(Gather {
            input: graph.value_id(self)?,
            indices: graph.value_id(indices)?,
            offset_dims: offsets,
            collapsed_dims: [axis].into(),
            input_batch_dims: Axes::default(),
            index_batch_dims: Axes::default(),
            start_index_map: [axis].into(),
            index_vector_dim: Int::from(index_rank),
            slice_sizes: sizes.into(),
        })
    }

    /// Computes running sums along an axis of known extent.
    ///
    /// # Errors
    /// If the axis is out of range, its extent is not known, or the elements are bool.
    pub fn cumulative_sum(
        &self,
        graph: &mut PtirGraph<'_>,
        axis: usize,
    ) -> Result<Self, GraphError> {
        let ty = self.tensor()?.clone();
        let input = graph.value_id(self)?;
        let size = known_extent("cumulative_sum", &ty, axis)?;
        if ty.dtype.is_bool() {
            let message = "the operand has element type bool, expected numbers".into();
            return Err(op_error("cumulative_sum", message));
        }
        if size == 0 {
            return Ok(self.clone());
        }
        let size = i64::try_from(size).map_err(|_| {
            op_error("cumulative_sum", format!("axis {axis} is {size}, which is too large"))
        })?;
        let scalar: ValueType = TensorType::scalar(ty.dtype).into();
        let undo = graph.snapshot();
        let zero = graph.literal(&TensorLiteral::filled(ty.dtype, &[], 0.0)?);
        let add = graph.region(&[scalar.clone(), scalar], |g, args| {
            Ok::<_, GraphError>(vec![args[0].add(g, &args[1])?])
        });
        let add = add.inspect_err(|_| graph.rollback(undo))?;
        let one_at = |n: i64, rest: i64| -> Vec<i64> {
            (0..ty.rank()).map(|a| if a == axis { n } else { rest }).collect()
        };
        let pads: Vec<[i64; 2]> = one_at(size - 1, 0).into_iter().map(|low| [low, 0]).collect();
        let op = ReduceWindow {
            inputs: smallvec::smallvec![input],
            inits: smallvec::smallvec![zero.id()],
            body: graph.region_id(&add)?,
            window: one_at(size, 1).into(),
            strides: None,
            pads: Some(pads.into()),
            base_dilation: None,
            window_dilation: None,
        };
        let results: super::PtirResults = graph.record(op).inspect_err(|_| graph.rollback(undo))?;
        results.into_value()
    }
}

impl PtirGraph<'_> {
    /// Concatenates values along an axis.
    ///
    /// # Errors
    /// If there are no values, or dims or element types differ.
    pub fn join(&mut self, values: &[PtirValue], axis: usize) -> Result<PtirValue, GraphError> {
        let inputs = values.iter().map(|v| self.value_id(v)).collect::<Result<_, _>>()?;
        self.record(Concat { inputs, axis: axis.into() })
    }
}
