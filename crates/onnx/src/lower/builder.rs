//! A builder of core ops in which values are expressions: `(x - mean) / (var + eps).unary("sqrt")`.
//!
//! An op that does not fit is recorded as the failure of the whole expression, which [`Builder::failure`] returns. So a decomposition reads
//! like the definition of its op.

use std::cell::{Cell, RefCell};
use std::ops::{Add, Div, Mul, Neg, Sub};

use sapwood_ptir::dims::{DimExpr, Facts};
use sapwood_ptir::eval::DataType;
use sapwood_ptir::ops::{
    ArgMax, ArgMin, BroadcastInDim, Cast, Compare, CompareOrder, Concat, Convolution, Direction,
    DotGeneral, Gather, Iota, Pad, Refine, Reshape, Reverse, Scatter, Select, Slice, Sort,
    Transpose, Yield,
};
use sapwood_ptir::{
    Axes, BodyId, Dim, Dims, Function, InsertPoint, InstId, Int, Op, OpKey, OpParts, ResultType,
    TensorLiteral, TensorType, ValueId, ValueType,
};
use sapwood_types::Span;

use super::steps::in_reported_order;

/// A function under construction, and the first failure.
pub(crate) struct Builder {
    pub(crate) f: RefCell<Function>,
    place: Cell<InsertPoint>,
    span: Cell<Span>,
    failure: RefCell<Option<String>>,
    /// The new instructions, in the order in which they were made.
    made: RefCell<Vec<InstId>>,
    /// True to guess that extents of which nothing is known are equal where they must be, for inference of types.
    pub(crate) is_inference: bool,
}

/// A value of a function under construction; none after a failure.
#[derive(Clone, Copy)]
pub(crate) struct V<'b> {
    pub(crate) b: &'b Builder,
    pub(crate) id: Option<ValueId>,
}

impl Builder {
    pub(crate) fn new(f: Function, is_inference: bool) -> Self {
        let place = InsertPoint::End(f.body());
        Self {
            f: RefCell::new(f),
            place: Cell::new(place),
            span: Cell::new(Span::unknown()),
            failure: RefCell::new(None),
            made: RefCell::new(Vec::new()),
            is_inference,
        }
    }

    /// Sets the place of the next instructions.
    pub(crate) fn insert_at(&self, place: InsertPoint, span: Span) {
        self.place.set(place);
        self.span.set(span);
    }

    /// Sets the place of the next instructions, and returns the one before.
    pub(crate) fn set_place(&self, place: InsertPoint) -> InsertPoint {
        self.place.replace(place)
    }

    /// Returns and clears the failure.
    pub(crate) fn take_failure(&self) -> Option<String> {
        self.failure.borrow_mut().take()
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.failure.borrow().is_some()
    }

    /// Records a failure.
    pub(crate) fn fail(&self, why: impl Into<String>) -> V<'_> {
        self.failure.borrow_mut().get_or_insert_with(|| why.into());
        V { b: self, id: None }
    }

    pub(crate) fn value(&self, id: ValueId) -> V<'_> {
        V { b: self, id: Some(id) }
    }

    /// Records an op with any number of results.
    pub(crate) fn record_many(&self, parts: &OpParts) -> Vec<V<'_>> {
        if self.has_failed() {
            return Vec::new();
        }
        let mut f = self.f.borrow_mut();
        let made = f.resolve_parts(parts).map_err(|e| e.to_string()).and_then(|parts| {
            f.insert(self.place.get(), &parts, self.span.get()).map_err(|e| e.to_string())
        });
        match made {
            Ok(inst) => {
                self.made.borrow_mut().push(inst);
                f.inst_results(inst).map(|id| V { b: self, id: Some(id) }).collect()
            }
            Err(why) => {
                drop(f);
                self.fail(format!("{}: {why}", parts.key.name()));
                Vec::new()
            }
        }
    }

    fn record_parts(&self, parts: &OpParts) -> V<'_> {
        self.record_many(parts).first().copied().unwrap_or(V { b: self, id: None })
    }

    pub(crate) fn record<T: Op>(&self, op: T) -> V<'_> {
        self.record_parts(&op.into_parts())
    }

    pub(crate) fn literal(&self, literal: &TensorLiteral) -> V<'_> {
        if self.has_failed() {
            return V { b: self, id: None };
        }
        self.value(self.constant(literal, self.place.get(), self.span.get()))
    }

    /// Returns the value of a constant at a place.
    pub(crate) fn constant(&self, literal: &TensorLiteral, at: InsertPoint, span: Span) -> ValueId {
        let mut f = self.f.borrow_mut();
        let count = f.num_insts();
        let value = f.constant(literal, at, span);
        if f.num_insts() > count {
            self.made.borrow_mut().extend(f.inst_of(value));
        }
        value
    }

    /// Returns the instructions that were made since the last call and are still there. Constants that a failed attempt made come with the
    /// next step.
    pub(crate) fn take_made(&self, f: &Function) -> Vec<InstId> {
        in_reported_order(f, &self.made.take())
    }

    pub(crate) fn filled(&self, dtype: DataType, shape: &[u64], number: f64) -> V<'_> {
        match TensorLiteral::filled(dtype, shape, number) {
            Ok(literal) => self.literal(&literal),
            Err(error) => self.fail(error.to_string()),
        }
    }

    pub(crate) fn scalar(&self, dtype: DataType, number: f64) -> V<'_> {
        self.filled(dtype, &[], number)
    }

    pub(crate) fn i64s(&self, shape: &[u64], numbers: &[i64]) -> V<'_> {
        match TensorLiteral::from_slice(shape, numbers) {
            Ok(literal) => self.literal(&literal),
            Err(error) => self.fail(error.to_string()),
        }
    }

    pub(crate) fn iota(&self, dtype: DataType, dims: &[Dim], axis: usize) -> V<'_> {
        let ty = TensorType { dtype, dims: dims.iter().copied().collect() };
        self.record(Iota { axis: Int::from(axis), ty: ResultType(ty.into()) })
    }

    pub(crate) fn concat(&self, parts: &[V<'_>], axis: usize) -> V<'_> {
        match (parts, parts.iter().map(|v| v.id).collect::<Option<_>>()) {
            ([one], _) => V { b: self, id: one.id },
            (_, Some(inputs)) => self.record(Concat { inputs, axis: Int::from(axis) }),
            _ => V { b: self, id: None },
        }
    }

    /// Builds a region with scalar parameters.
    pub(crate) fn region<'b>(
        &'b self,
        params: &[ValueType],
        build: impl FnOnce(&[V<'b>]) -> Vec<V<'b>>,
    ) -> Option<BodyId> {
        if self.has_failed() {
            return None;
        }
        let body = self.f.borrow_mut().new_body(params);
        let args: Vec<V<'b>> = self
            .f
            .borrow()
            .body_params(body)
            .iter()
            .map(|&id| V { b: self, id: Some(id) })
            .collect();
        let outer = self.place.replace(InsertPoint::End(body));
        let results = build(&args);
        if let Some(values) = results.iter().map(|v| v.id).collect::<Option<_>>() {
            self.record_many(&Yield { values }.into_parts());
        }
        self.place.set(outer);
        if self.has_failed() {
            return None;
        }
        Some(body)
    }

    /// Sorts tensors along an axis by the first one.
    pub(crate) fn sort_by_first<'b>(
        &'b self,
        inputs: &[V<'b>],
        axis: usize,
        before: Direction,
    ) -> Vec<V<'b>> {
        let scalars: Vec<ValueType> = inputs
            .iter()
            .flat_map(|v| std::iter::repeat_n(TensorType::scalar(v.dtype()).into(), 2))
            .collect();
        let comparator = self.region(&scalars, |args| vec![args[0].compare(args[1], before)]);
        let inputs = inputs.iter().map(|v| v.id).collect::<Option<_>>();
        let (Some(inputs), Some(comparator)) = (inputs, comparator) else { return Vec::new() };
        let sort = Sort { inputs, comparator, axis: Int::from(axis), stable: true };
        self.record_many(&sort.into_parts())
    }
}

/// The arguments of a convolution.
pub(crate) struct ConvArgs {
    pub(crate) strides: Vec<i64>,
    pub(crate) pads: Vec<[i64; 2]>,
    pub(crate) input_dilation: Vec<i64>,
    pub(crate) kernel_dilation: Vec<i64>,
    pub(crate) groups: i64,
}

impl<'b> V<'b> {
    fn none(self) -> Self {
        V { b: self.b, id: None }
    }

    pub(crate) fn ty(self) -> TensorType {
        if self.b.has_failed() {
            // Any type will do, as long as it has axes to look at.
            return TensorType::new(DataType::F32, [1u64; 64]);
        }
        let f = self.b.f.borrow();
        match self.id.map(|id| f.value_type(id)) {
            Some(ValueType::Tensor(ty)) => ty.clone(),
            Some(other) => {
                let other = other.to_string();
                drop(f);
                self.b.fail(format!("an operand is {other}, expected a tensor"));
                self.ty()
            }
            None => {
                self.b.fail("an operand is missing");
                self.ty()
            }
        }
    }

    pub(crate) fn dtype(self) -> DataType {
        self.ty().dtype
    }

    pub(crate) fn rank(self) -> usize {
        self.ty().rank()
    }

    pub(crate) fn dims(self) -> Dims {
        self.ty().dims
    }

    pub(crate) fn dim(self, axis: usize) -> Dim {
        self.dims().get(axis).copied().unwrap_or(Dim::Unknown)
    }

    /// Returns a known extent, or fails.
    pub(crate) fn extent(self, axis: usize) -> i64 {
        // Larger ones could overflow in sums and products of two.
        const MAX_EXTENT: i64 = 1 << 31;
        match self.dim(axis).known().and_then(|n| i64::try_from(n).ok()) {
            Some(n) if n <= MAX_EXTENT => n,
            Some(n) => {
                self.b.fail(format!("the extent {n} of axis {axis} is too large"));
                0
            }
            None => {
                self.b.fail(format!("the extent of axis {axis} is not known"));
                0
            }
        }
    }

    /// Returns the known extents, or fails.
    pub(crate) fn shape(self) -> Vec<u64> {
        (0..self.rank()).map(|axis| self.extent(axis) as u64).collect()
    }

    pub(crate) fn unary(self, op: &str) -> Self {
        let Some(id) = self.id else { return self };
        let mut parts = OpParts::new(OpKey::of(op));
        parts.operands.push(id);
        self.b.record_parts(&parts)
    }

    /// Applies a binary op after the implicit broadcast of ONNX.
    pub(crate) fn binary(self, op: &str, other: V<'b>) -> Self {
        let (a, b) = self.broadcast_with(other);
        let (Some(x), Some(y)) = (a.id, b.id) else { return self.none() };
        let mut parts = OpParts::new(OpKey::of(op));
        parts.operands.extend([x, y]);
        self.b.record_parts(&parts)
    }

    pub(crate) fn compare(self, other: V<'b>, direction: Direction) -> Self {
        let (a, b) = self.broadcast_with(other);
        let (Some(lhs), Some(rhs)) = (a.id, b.id) else { return self.none() };
        self.b.record(Compare { lhs, rhs, direction, order: CompareOrder::Partial })
    }

    /// Selects elements of `yes` where this value is true, and of `no` elsewhere.
    pub(crate) fn select(self, yes: V<'b>, no: V<'b>) -> Self {
        let dims = joined_dims(self.b, &[self.dims(), yes.dims(), no.dims()]);
        let (p, x, y) = (self.expand(&dims), yes.expand(&dims), no.expand(&dims));
        let (Some(pred), Some(on_true), Some(on_false)) = (p.id, x.id, y.id) else {
            return self.none();
        };
        self.b.record(Select { pred, on_true, on_false })
    }

    fn broadcast_with(self, other: V<'b>) -> (V<'b>, V<'b>) {
        let (a, b) = (self.dims(), other.dims());
        if a == b && !a.contains(&Dim::Unknown) {
            return (self, other);
        }
        let dims = joined_dims(self.b, &[a, b]);
        (self.expand(&dims), other.expand(&dims))
    }

    /// Broadcasts to dims by the rules of NumPy: axes are aligned at the end.
    pub(crate) fn expand(self, dims: &[Dim]) -> Self {
        let own = self.dims();
        if own[..] == *dims {
            return self;
        }
        let extra = dims.len().saturating_sub(own.len());
        self.broadcast_in(dims, &(extra..extra + own.len()).collect::<Vec<_>>())
    }

    /// Broadcasts to dims, with the axes of this value at these places.
    pub(crate) fn broadcast_in(self, dims: &[Dim], places: &[usize]) -> Self {
        let ty = self.ty();
        let to = TensorType { dtype: ty.dtype, dims: dims.iter().copied().collect() };
        let decided = ty.dims.iter().zip(places).all(|(&from, &place)| {
            let to = dims.get(place).copied().unwrap_or(Dim::Unknown);
            from == Dim::Known(1) || from.certainly_equal(to)
        });
        let Some(input) = self.id else { return self };
        if decided && !dims.contains(&Dim::Unknown) {
            let dims: Axes = places.iter().map(|&p| p as i64).collect();
            return self.b.record(BroadcastInDim { input, dims, ty: ResultType(to.into()) });
        }
        if self.b.is_inference {
            // Only the type counts.
            return self.b.filled(ty.dtype, &[], 0.0).pretend(to);
        }
        self.b.fail("the extents that a broadcast needs are not known")
    }

    /// Returns a value of another type, for inference of types only.
    pub(crate) fn pretend(self, ty: TensorType) -> Self {
        let Some(input) = self.id else { return self };
        let dims: Vec<Dim> = ty.dims.iter().map(|_| Dim::Known(1)).collect();
        let ones = self.reshape(&dims);
        let open =
            TensorType { dtype: ty.dtype, dims: ty.dims.iter().map(|_| Dim::Unknown).collect() };
        let _ = input;
        let Some(input) = ones.id else { return ones };
        let opened = self.b.record(Refine { input, ty: ResultType(open.into()) });
        let Some(input) = opened.id else { return opened };
        self.b.record(Refine { input, ty: ResultType(ty.into()) })
    }

    pub(crate) fn reshape(self, dims: &[Dim]) -> Self {
        let ty = self.ty();
        if ty.dims[..] == *dims && !dims.contains(&Dim::Unknown) {
            return self;
        }
        let Some(input) = self.id else { return self };
        let to = TensorType { dtype: ty.dtype, dims: dims.iter().copied().collect() };
        if self.b.is_inference && dims.iter().filter(|&&d| d == Dim::Unknown).count() > 1 {
            return self.b.filled(ty.dtype, &[], 0.0).pretend(to);
        }
        self.b.record(Reshape { input, ty: ResultType(to.into()) })
    }

    pub(crate) fn reshape_to(self, shape: &[u64]) -> Self {
        self.reshape(&shape.iter().map(|&n| Dim::Known(n)).collect::<Vec<_>>())
    }

    /// Inserts axes of extent one at these positions of the result.
    pub(crate) fn unsqueeze(self, axes: &[usize]) -> Self {
        let own = self.dims();
        let rank = own.len() + axes.len();
        let mut rest = own.into_iter();
        let dims: Vec<Dim> = (0..rank)
            .map(|axis| {
                if axes.contains(&axis) {
                    Dim::Known(1)
                } else {
                    rest.next().unwrap_or(Dim::Unknown)
                }
            })
            .collect();
        self.reshape(&dims)
    }

    pub(crate) fn transpose(self, perm: &[usize]) -> Self {
        if perm.iter().enumerate().all(|(i, &p)| i == p) {
            return self;
        }
        let Some(input) = self.id else { return self };
        self.b.record(Transpose { input, perm: perm.iter().copied().collect() })
    }

    pub(crate) fn cast(self, dtype: DataType) -> Self {
        let ty = self.ty();
        let Some(input) = self.id else { return self };
        if ty.dtype == dtype {
            return self;
        }
        self.b.record(Cast { input, ty: ResultType(ty.with_dtype(dtype).into()) })
    }

    /// Applies a reduction, such as `reduce_sum`.
    pub(crate) fn reduce(self, op: &str, axes: &[usize], keepdims: bool) -> Self {
        let Some(id) = self.id else { return self };
        let mut parts = OpParts::new(OpKey::of(op));
        parts.operands.push(id);
        parts.push_attr(&axes.iter().copied().collect::<Axes>());
        parts.push_attr(&keepdims);
        if matches!(op, "reduce_sum" | "reduce_prod") {
            parts.attrs.push(sapwood_ptir::Attr::Unit);
        }
        self.b.record_parts(&parts)
    }

    pub(crate) fn sum(self, axes: &[usize], keepdims: bool) -> Self {
        self.reduce("reduce_sum", axes, keepdims)
    }

    /// Returns the mean over axes, whose extents must be known.
    pub(crate) fn mean(self, axes: &[usize], keepdims: bool) -> Self {
        let count: f64 = axes.iter().map(|&axis| self.extent(axis) as f64).product();
        self.sum(axes, keepdims) / count
    }

    pub(crate) fn arg_extreme(self, is_max: bool, axis: usize, keepdims: bool) -> Self {
        let Some(input) = self.id else { return self };
        let (axis, index) = (Int::from(axis), DataType::I64);
        match is_max {
            true => self.b.record(ArgMax { input, axis, keepdims, index }),
            false => self.b.record(ArgMin { input, axis, keepdims, index }),
        }
    }

    pub(crate) fn slice(self, starts: &[i64], limits: &[i64], strides: &[i64]) -> Self {
        let Some(input) = self.id else { return self };
        self.b.record(Slice {
            input,
            starts: starts.iter().copied().collect(),
            limits: limits.iter().copied().collect(),
            strides: Some(strides.iter().copied().collect()),
        })
    }

    /// Returns a part of one axis.
    pub(crate) fn slice_axis(self, axis: usize, start: i64, limit: i64) -> Self {
        let shape: Vec<i64> = (0..self.rank()).map(|axis| self.extent(axis)).collect();
        let (mut starts, mut limits) = (vec![0; shape.len()], shape);
        if let (Some(s), Some(l)) = (starts.get_mut(axis), limits.get_mut(axis)) {
            (*s, *l) = (start, limit);
        }
        self.slice(&starts, &limits, &vec![1; starts.len()])
    }

    /// Returns one index of an axis, which disappears.
    pub(crate) fn at(self, axis: usize, index: i64) -> Self {
        let part = self.slice_axis(axis, index, index + 1);
        let mut dims = part.dims();
        if axis < dims.len() {
            dims.remove(axis);
        }
        part.reshape(&dims)
    }

    pub(crate) fn pad(self, value: V<'b>, low: &[i64], high: &[i64]) -> Self {
        let (Some(input), Some(value)) = (self.id, value.id) else { return self.none() };
        let (low, high) = (low.iter().copied().collect(), high.iter().copied().collect());
        self.b.record(Pad { input, value, low, high, interior: None })
    }

    pub(crate) fn reverse(self, axes: &[usize]) -> Self {
        let Some(input) = self.id else { return self };
        self.b.record(Reverse { input, axes: axes.iter().copied().collect() })
    }

    /// Multiplies matrices: contracts `lhs` axes of this value with `rhs` axes of another.
    pub(crate) fn dot(
        self,
        other: V<'b>,
        batch: (&[usize], &[usize]),
        contract: (&[usize], &[usize]),
    ) -> Self {
        let (Some(lhs), Some(rhs)) = (self.id, other.id) else { return self.none() };
        let axes = |list: &[usize]| list.iter().copied().collect::<Axes>();
        self.b.record(DotGeneral {
            lhs,
            rhs,
            lhs_batch: axes(batch.0),
            rhs_batch: axes(batch.1),
            lhs_contract: axes(contract.0),
            rhs_contract: axes(contract.1),
            accumulate: None,
            out: None,
        })
    }

    /// Convolves batches of features with a kernel of output and input features.
    pub(crate) fn convolve(self, kernel: V<'b>, args: ConvArgs) -> Self {
        let (Some(input), Some(weights)) = (self.id, kernel.id) else { return self.none() };
        let rank = self.rank();
        let plain: Axes = (0..rank).collect();
        let kernel_dims: Axes = [1, 0].into_iter().chain(2..rank).collect();
        self.b.record(Convolution {
            input,
            kernel: weights,
            input_dims: plain.clone(),
            kernel_dims,
            output_dims: plain,
            strides: Some(args.strides.into()),
            pads: Some(args.pads.into()),
            input_dilation: Some(args.input_dilation.into()),
            kernel_dilation: Some(args.kernel_dilation.into()),
            reversal: None,
            feature_groups: Int(args.groups),
            batch_groups: Int(1),
            accumulate: None,
        })
    }

    /// Reads one element per index vector: the last axis of `indices` has one entry for each axis of this value.
    pub(crate) fn gather_points(self, indices: V<'b>) -> Self {
        self.gather_slices(indices, self.rank())
    }

    /// Reads one slice per index vector: the last axis of `indices` has one entry for each of the first `count` axes.
    pub(crate) fn gather_slices(self, indices: V<'b>, count: usize) -> Self {
        let (Some(input), Some(index)) = (self.id, indices.id) else { return self.none() };
        let (rank, batch) = (self.rank(), indices.rank().saturating_sub(1));
        let slice_sizes: Axes =
            (0..rank).map(|axis| if axis < count { 1 } else { self.extent(axis) }).collect();
        self.b.record(Gather {
            input,
            indices: index,
            offset_dims: (batch..batch + rank.saturating_sub(count)).collect(),
            collapsed_dims: (0..count).collect(),
            input_batch_dims: Axes::default(),
            index_batch_dims: Axes::default(),
            start_index_map: (0..count).collect(),
            index_vector_dim: Int::from(batch),
            slice_sizes,
        })
    }

    /// Combines one slice of `updates` per index vector into a copy of this value; the new element is `combine(old, update)`.
    pub(crate) fn scatter_slices(
        self,
        indices: V<'b>,
        updates: V<'b>,
        count: usize,
        combine: impl FnOnce(V<'b>, V<'b>) -> V<'b>,
    ) -> Self {
        let scalar = ValueType::from(TensorType::scalar(self.dtype()));
        let body = self.b.region(&[scalar.clone(), scalar], |args| vec![combine(args[0], args[1])]);
        let (Some(input), Some(index), Some(update), Some(body)) =
            (self.id, indices.id, updates.id, body)
        else {
            return self.none();
        };
        let (rank, batch) = (self.rank(), indices.rank().saturating_sub(1));
        self.b.record(Scatter {
            inputs: [input].into_iter().collect(),
            indices: index,
            updates: [update].into_iter().collect(),
            body,
            update_window_dims: (batch..batch + rank.saturating_sub(count)).collect(),
            inserted_window_dims: (0..count).collect(),
            input_batch_dims: Axes::default(),
            index_batch_dims: Axes::default(),
            scatter_dims: (0..count).collect(),
            index_vector_dim: Int::from(batch),
        })
    }

    /// Adds the extent of an axis to negative indices.
    pub(crate) fn wrap_negative(self, extent: i64) -> Self {
        let zero = self.b.scalar(self.dtype(), 0.0);
        self.compare(zero, Direction::Lt).select(self + extent as f64, self)
    }

    pub(crate) fn min(self, other: V<'b>) -> Self {
        self.binary("min", other)
    }

    pub(crate) fn max(self, other: V<'b>) -> Self {
        self.binary("max", other)
    }

    /// Returns a constant of this value's element type.
    pub(crate) fn number(self, number: f64) -> Self {
        self.b.scalar(self.dtype(), number)
    }
}

/// Returns the dims of a broadcast of several values.
pub(crate) fn joined_dims(b: &Builder, all: &[Dims]) -> Dims {
    let rank = all.iter().map(Dims::len).max().unwrap_or(0);
    let mut joined = Dims::from_elem(Dim::Known(1), rank);
    for dims in all {
        let extra = rank - dims.len();
        for (axis, &dim) in dims.iter().enumerate() {
            let slot = &mut joined[axis + extra];
            *slot = match (*slot, dim) {
                (Dim::Known(1), other) | (other, Dim::Known(1)) => other,
                (a, b) if a.certainly_equal(b) => a,
                (Dim::Known(x), Dim::Known(y)) => {
                    b.fail(format!("extents {x} and {y} cannot be broadcast"));
                    Dim::Known(x)
                }
                // The other extent is this number or one.
                (Dim::Known(n), _) | (_, Dim::Known(n)) => Dim::Known(n),
                (Dim::Expr(a), Dim::Expr(b)) => without_cap(a, b).map_or(Dim::Unknown, Dim::Expr),
                _ => Dim::Unknown,
            };
        }
    }
    joined
}

// Returns the larger of two extents if the other one is `min(larger, n)`, as slices have them. They are equal, or both are larger than one or
// the smaller one is one: then they either do not fit or give the larger one.
fn without_cap(a: DimExpr, b: DimExpr) -> Option<DimExpr> {
    let is_capped = |wide: DimExpr, narrow: DimExpr| {
        let cap = Facts::new().bounds(narrow).highest().filter(|&n| n >= 1);
        cap.and_then(|cap| wide.min(DimExpr::constant(cap)?)) == Some(narrow)
    };
    [(a, b), (b, a)]
        .into_iter()
        .find(|&(wide, narrow)| is_capped(wide, narrow))
        .map(|(wide, _)| wide)
}

macro_rules! operators {
    ($($Trait:ident $method:ident $op:literal;)*) => {$(
        impl<'b> $Trait for V<'b> {
            type Output = V<'b>;
            fn $method(self, other: V<'b>) -> V<'b> {
                self.binary($op, other)
            }
        }
        impl<'b> $Trait<f64> for V<'b> {
            type Output = V<'b>;
            fn $method(self, other: f64) -> V<'b> {
                self.binary($op, self.number(other))
            }
        }
    )*};
}

operators! {
    Add add "add";
    Sub sub "sub";
    Mul mul "mul";
    Div div "div";
}

impl<'b> Neg for V<'b> {
    type Output = V<'b>;
    fn neg(self) -> V<'b> {
        self.unary("neg")
    }
}
