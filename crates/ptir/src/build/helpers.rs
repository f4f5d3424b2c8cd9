//! Helpers that are no ops themselves.

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

/// Which axes `dot_general` pairs: batch axes, and contracted ones.
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
    /// The same batch axes on both sides, and the contracted axes of each.
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

    /// Other batch axes on the right side.
    #[must_use]
    pub fn with_rhs_batch(mut self, batch: impl Into<Axes>) -> Self {
        self.rhs_batch = batch.into();
        self
    }
}

/// How `dot_general` computes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DotAttrs {
    /// Type of products and sums.
    pub accumulate: Option<DataType>,
    /// Element type of the result; that of the operands if left out.
    pub out: Option<DataType>,
}

/// A list of axes: `axes![0, 2]`.
#[macro_export]
macro_rules! axes {
    ($($axis:expr),* $(,)?) => {
        $crate::Axes::from_iter([$(i64::try_from($axis).unwrap_or(i64::MAX)),*] as [i64; $crate::axes!(@count $($axis),*)])
    };
    (@count) => { 0 };
    (@count $first:expr $(, $rest:expr)*) => { 1 + $crate::axes!(@count $($rest),*) };
}

fn bad(op: &'static str, message: String) -> GraphError {
    GraphError::Op { op, error: OpError::new(message) }
}

fn known(op: &'static str, t: &TensorType, axis: usize) -> Result<u64, GraphError> {
    match t.dims.get(axis) {
        Some(Dim::Known(n)) => Ok(*n),
        Some(dim) => Err(bad(op, format!("axis {axis} is {dim}, expected a known extent"))),
        None => Err(bad(op, format!("axis {axis} is out of range for rank {}", t.rank()))),
    }
}

impl PtirValue {
    /// Repeats this value to the dims of another; element types are not changed.
    ///
    /// # Errors
    /// If the dims do not allow it.
    pub fn broadcast_like(
        &self,
        graph: &mut PtirGraph<'_>,
        like: &Self,
    ) -> Result<Self, GraphError> {
        graph.own(like)?;
        let ty = TensorType { dtype: self.tensor()?.dtype, dims: like.tensor()?.dims.clone() };
        graph.record(BroadcastTo { input: graph.own(self)?, ty: ty.into() })
    }

    /// Contracts two values.
    ///
    /// # Errors
    /// If axes are out of range, batch or contracted extents differ, or element types do.
    pub fn dot_general(
        &self,
        graph: &mut PtirGraph<'_>,
        rhs: &Self,
        dims: &DotDims,
        attrs: &DotAttrs,
    ) -> Result<Self, GraphError> {
        graph.record(DotGeneral {
            lhs: graph.own(self)?,
            rhs: graph.own(rhs)?,
            lhs_batch: dims.lhs_batch.clone(),
            rhs_batch: dims.rhs_batch.clone(),
            lhs_contract: dims.lhs_contract.clone(),
            rhs_contract: dims.rhs_contract.clone(),
            accumulate: attrs.accumulate,
            out: attrs.out,
        })
    }

    /// A number in this value's element type, repeated to its dims: a constant, and a broadcast unless it is a scalar.
    ///
    /// # Errors
    /// If the number does not fit the element type.
    pub fn fill_like(&self, graph: &mut PtirGraph<'_>, number: f64) -> Result<Self, GraphError> {
        let ty = self.tensor()?.clone();
        graph.own(self)?;
        let scalar = graph.literal(&TensorLiteral::filled(ty.dtype, &[], number)?);
        if ty.rank() == 0 {
            return Ok(scalar);
        }
        graph.record(BroadcastTo { input: scalar.id(), ty: ty.into() })
    }

    /// The same elements under other extents.
    ///
    /// # Errors
    /// If the number of elements differs.
    pub fn reshape_to(&self, graph: &mut PtirGraph<'_>, dims: &[u64]) -> Result<Self, GraphError> {
        let ty = TensorType::new(self.tensor()?.dtype, dims.iter().copied());
        graph.record(Reshape { input: graph.own(self)?, ty: ty.into() })
    }

    /// The mean over axes of known extent: a sum and a division. Of nothing NaN for floats.
    ///
    /// # Errors
    /// If an axis is out of range or stands twice, its extent is not known, the elements are bool, or their type cannot hold the number of
    /// them.
    pub fn mean(
        &self,
        graph: &mut PtirGraph<'_>,
        axes: impl Into<Axes>,
        keepdims: bool,
    ) -> Result<Self, GraphError> {
        let (ty, axes) = (self.tensor()?, axes.into());
        let mut count = 1.0;
        for &axis in axes.iter() {
            count *= known("mean", ty, usize::try_from(axis).unwrap_or(usize::MAX))? as f64;
        }
        let input = graph.own(self)?;
        // Before anything is recorded: neither `fill_like` nor `div` can fail afterwards.
        if ty.dtype.is_bool() {
            return Err(bad("mean", "the operand has element type bool, expected numbers".into()));
        }
        TensorLiteral::filled(ty.dtype, &[], count).map_err(|e| bad("mean", e.to_string()))?;
        let as_mean = |error| match error {
            GraphError::Op { error, .. } => GraphError::Op { op: "mean", error },
            other => other,
        };
        let sum: Self =
            graph.record(ReduceSum { input, axes, keepdims, accumulate: None }).map_err(as_mean)?;
        let count = sum.fill_like(graph, count)?;
        sum.div(graph, &count)
    }

    /// Repeats the whole value along each axis: `repeats[i]` copies side by side along axis `i`.
    ///
    /// # Errors
    /// If there is not one number per axis, or an extent is not known.
    pub fn tile(&self, graph: &mut PtirGraph<'_>, repeats: &[u64]) -> Result<Self, GraphError> {
        let ty = self.tensor()?.clone();
        if repeats.len() != ty.rank() {
            return Err(bad("tile", format!("{} repeats for rank {}", repeats.len(), ty.rank())));
        }
        let (mut wide, mut flat) = (Vec::new(), Vec::new());
        for (axis, &n) in repeats.iter().enumerate() {
            let size = known("tile", &ty, axis)?;
            wide.extend([n, size]);
            let total = size.checked_mul(n).filter(|&t| t <= MAX_EXTENT);
            flat.push(total.ok_or_else(|| {
                bad("tile", format!("{n} times {size} elements along axis {axis}"))
            })?);
        }
        let dims: Axes = (0..ty.rank()).map(|a| 2 * a + 1).collect();
        let wide = TensorType::new(ty.dtype, wide);
        let undo = graph.checkpoint();
        let spread: Self = graph.record(BroadcastInDim {
            input: graph.own(self)?,
            dims,
            ty: ResultType::from(wide),
        })?;
        spread.reshape_to(graph, &flat).inspect_err(|_| graph.rollback(undo))
    }

    /// The slices of extent one at `indices` along an axis, put in the place of that axis. Indices are clamped.
    ///
    /// # Errors
    /// If the axis is out of range, another extent is not known, or the indices are no integers.
    pub fn take(
        &self,
        graph: &mut PtirGraph<'_>,
        indices: &Self,
        axis: usize,
    ) -> Result<Self, GraphError> {
        let (ty, index_rank) = (self.tensor()?, indices.rank());
        let mut sizes = Vec::new();
        for a in 0..ty.rank() {
            sizes.push(if a == axis { 1 } else { known("take", ty, a)? });
        }
        if axis >= ty.rank() {
            return Err(bad("take", format!("axis {axis} is out of range for rank {}", ty.rank())));
        }
        let offsets =
            (0..axis).chain(axis + index_rank..ty.rank() - 1 + index_rank).collect::<Axes>();
        graph.record(Gather {
            input: graph.own(self)?,
            indices: graph.own(indices)?,
            offset_dims: offsets,
            collapsed_dims: [axis].into(),
            input_batch_dims: Axes::default(),
            index_batch_dims: Axes::default(),
            start_index_map: [axis].into(),
            index_vector_dim: Int::from(index_rank),
            slice_sizes: sizes.into(),
        })
    }

    /// Running sums along an axis of known extent.
    ///
    /// # Errors
    /// If the axis is out of range, its extent is not known, or the elements are bool.
    pub fn cumulative_sum(
        &self,
        graph: &mut PtirGraph<'_>,
        axis: usize,
    ) -> Result<Self, GraphError> {
        let ty = self.tensor()?.clone();
        let input = graph.own(self)?;
        let size = known("cumulative_sum", &ty, axis)?;
        if ty.dtype.is_bool() {
            let message = "the operand has element type bool, expected numbers".into();
            return Err(bad("cumulative_sum", message));
        }
        if size == 0 {
            return Ok(self.clone());
        }
        let size = i64::try_from(size)
            .map_err(|_| bad("cumulative_sum", format!("axis {axis} is {size}")))?;
        let scalar: ValueType = TensorType::scalar(ty.dtype).into();
        let undo = graph.checkpoint();
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
            body: graph.own_region(&add)?,
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
    /// Joins values along an axis.
    ///
    /// # Errors
    /// If there are none, or dims or element types differ.
    pub fn join(&mut self, values: &[PtirValue], axis: usize) -> Result<PtirValue, GraphError> {
        let inputs = values.iter().map(|v| self.own(v)).collect::<Result<_, _>>()?;
        self.record(Concat { inputs, axis: axis.into() })
    }
}
