//! The context of a plain function pattern: it reads the function and stages instructions.

use std::sync::Arc;

use sapwood_ptir::ops::{BroadcastInDim, BroadcastTo, Iota, Reshape};
use sapwood_ptir::{
    BodyId, Dim, Function, GraphError, InstId, Op, OpParts, TensorLiteral, TensorType, ValueId,
    ValueType, Values,
};
use sapwood_types::DataType;
use smallvec::{SmallVec, smallvec};

use super::moved_region::MovedRegion;
use super::patch::Patch;
use super::patch_builder::BuiltGraph;
use super::root_view::RootView;
use crate::FloatMode;
use crate::cost_goals::CostGoals;
use crate::rewriter::{
    ConcatOffsets, EffectIndex, ProgramRewriter, WideInstMemo, constant_of, one_user,
};

/// The context of one attempt of a pattern at a root.
///
/// Emitted instructions are staged; their results are provisional values that can be operands of more. If the pattern returns
/// `None` or panics, nothing happens. If it returns values, one per result of the root, the staged instructions are
/// inserted before the root, the values replace its results, and the root is erased. An unused result may be returned as
/// its own replacement. The root stays if the pattern returns the result of [`forward`](Self::forward).
///
/// Each value must have the type of its result. If it differs only in the dims that are known, the pattern does not match;
/// any other difference is a contract violation, which is reported in the statistics and disables the pattern.
///
/// If an instruction cannot be staged and the pattern returns `None` after that, the reason is reported once, as a warning of the run.
/// A pattern that relies on this can be added without it: [`expects_refusals`](crate::PatternFn::expects_refusals).
///
/// ```
/// use sapwood_ptir::{Axes, Value, ops::Transpose};
/// use sapwood_rewrite::Rewrite;
///
/// /// `transpose(transpose(x, p), q) = transpose(x, p then q)`.
/// fn transpose_of_transpose(outer: Transpose, rw: &mut Rewrite<'_>) -> Option<Value> {
///     let inner = rw.def::<Transpose>(outer.input)?;
///     let perm = outer.perm.iter().map(|&i| inner.perm[i as usize]).collect();
///     rw.emit(Transpose { input: inner.input, perm })
/// }
/// # let mut set = sapwood_rewrite::PatternSet::new();
/// # set.add(transpose_of_transpose);
/// ```
pub struct Rewrite<'a> {
    function: &'a Function,
    root: InstId,
    patch: &'a mut Patch,
    floats: FloatMode,
    goals: CostGoals,
    effects: &'a EffectIndex,
    memo: &'a WideInstMemo,
    reach: Option<&'a mut ReachCheck>,
}

/// The number of definitions a pattern went back from its root, recorded in expensive checks.
#[derive(Default)]
pub(crate) struct ReachCheck {
    // Values with their distance from the root, counted in definitions.
    distances: Vec<(ValueId, u8)>,
    pub(crate) furthest: u8,
}

impl ReachCheck {
    pub(crate) fn reset(&mut self, f: &Function, root: InstId) {
        self.distances.clear();
        self.furthest = 0;
        self.distances.extend(f.operands(root).iter().map(|&v| (v, 0)));
    }

    // Records that the pattern read the definition of a value.
    fn record_read(&mut self, f: &Function, value: ValueId) {
        let Some(inst) = f.inst_of(value) else { return };
        let known = self.distances.iter().find(|(v, _)| *v == value);
        // A value that was not reached through definitions, such as a yielded value, counts from its owner.
        let distance = known.map_or(0, |(_, d)| *d).saturating_add(1);
        self.furthest = self.furthest.max(distance);
        for &operand in f.operands(inst) {
            match self.distances.iter_mut().find(|(v, _)| *v == operand) {
                Some((_, nearest)) => *nearest = distance.min(*nearest),
                None => self.distances.push((operand, distance)),
            }
        }
    }
}

/// The values that a pattern may return for the results of its root.
pub trait Replacement {
    /// Returns one value per result.
    fn into_values(self) -> Values;
}

impl Replacement for ValueId {
    fn into_values(self) -> Values {
        smallvec![self]
    }
}

impl Replacement for Values {
    fn into_values(self) -> Values {
        self
    }
}

impl Replacement for Vec<ValueId> {
    fn into_values(self) -> Values {
        Values::from_vec(self)
    }
}

impl<'a> Rewrite<'a> {
    pub(crate) fn new(
        rw: &'a ProgramRewriter<'_>,
        root: InstId,
        patch: &'a mut Patch,
        (floats, goals): (FloatMode, CostGoals),
        reach: Option<&'a mut ReachCheck>,
    ) -> Self {
        let function = rw.function();
        patch.reset(function);
        Self { function, root, patch, floats, goals, effects: &rw.effects, memo: &rw.memo, reach }
    }

    /// Returns the instruction the pattern is tried at.
    #[must_use]
    pub fn root(&self) -> InstId {
        self.root
    }

    /// Returns the function. Reads through it are not counted against [`hops`](crate::Pattern::hops).
    #[must_use]
    pub fn function(&self) -> &'a Function {
        self.function
    }

    /// Reports that the pattern ended its search for a match early, after too many steps. The run has a warning about it.
    pub fn end_search_early(&mut self) {
        self.patch.search_ended_early = true;
    }

    /// Reports that the pattern matches, but is not applied, because it needs this float mode. If the run ends in a stricter one, it has a warning
    /// about it.
    pub fn report_needed_float_mode(&mut self, needed: FloatMode) {
        self.patch.needed_float_mode = Some(needed);
    }

    /// Returns the float mode.
    #[must_use]
    pub fn floats(&self) -> FloatMode {
        self.patch.asked_float_mode.set(true);
        self.floats
    }

    /// Returns the costs that the rewrite must not raise; none in most passes.
    #[must_use]
    pub fn goals(&self) -> CostGoals {
        self.goals
    }

    /// Returns true if a law that holds for floats only in the mode `needed` may be used on the elements of a value: always for
    /// integers and bools, never for tuples.
    #[must_use]
    pub fn allows(&self, needed: FloatMode, value: ValueId) -> bool {
        self.dtype(value).is_some_and(|dtype| {
            let allows = self.floats.allows(needed, dtype);
            if !allows {
                self.patch.asked_float_mode.set(true);
            }
            allows
        })
    }

    /// Returns the type of a value.
    #[must_use]
    pub fn ty(&self, value: ValueId) -> Option<&ValueType> {
        self.patch.type_of(self.function, value)
    }

    /// Returns the type of a value that is a tensor.
    #[must_use]
    pub fn tensor(&self, value: ValueId) -> Option<&TensorType> {
        self.ty(value)?.as_tensor()
    }

    /// Returns the element type of a tensor.
    #[must_use]
    pub fn dtype(&self, value: ValueId) -> Option<DataType> {
        self.tensor(value).map(|t| t.dtype)
    }

    /// Returns the number of dims of a tensor.
    #[must_use]
    pub fn rank(&self, value: ValueId) -> Option<usize> {
        self.tensor(value).map(TensorType::rank)
    }

    /// Returns the extents of a tensor, if all are known.
    #[must_use]
    pub fn shape(&self, value: ValueId) -> Option<SmallVec<[u64; 4]>> {
        self.tensor(value)?.known_shape()
    }

    /// Returns true if two values certainly have the same type: unknown dims may differ, so they do not count as equal.
    #[must_use]
    pub fn same_type(&self, a: ValueId, b: ValueId) -> bool {
        match (self.ty(a), self.ty(b)) {
            (Some(ValueType::Tensor(a)), Some(ValueType::Tensor(b))) => {
                a.dtype == b.dtype
                    && a.dims.len() == b.dims.len()
                    && a.dims.iter().zip(&b.dims).all(|(a, b)| a.certainly_equal(*b))
            }
            (Some(a), Some(b)) => a == b,
            _ => false,
        }
    }

    /// Returns the n-th result of the root.
    #[must_use]
    pub fn result(&self, n: usize) -> Option<ValueId> {
        self.function.result(self.root, n)
    }

    /// Returns the type of the first result of the root.
    #[must_use]
    pub fn result_type(&self) -> Option<&'a ValueType> {
        Some(self.function.value_type(self.function.value_of(self.root)?))
    }

    /// Returns the type of the first result of the root, if it is a tensor.
    #[must_use]
    pub fn result_tensor(&self) -> Option<&'a TensorType> {
        self.result_type()?.as_tensor()
    }

    /// Returns the definition of a value as a `V`: an op, [`Unary`](crate::Unary), [`Binary`](crate::Binary). `None` if it is
    /// something else, a parameter, or provisional.
    pub fn def<V: RootView>(&mut self, value: ValueId) -> Option<V> {
        V::read(self.function, self.def_inst(value)?)
    }

    /// Returns the instruction that defines a value; `None` for parameters and provisional values.
    pub fn def_inst(&mut self, value: ValueId) -> Option<InstId> {
        if self.patch.is_provisional(value) {
            return None;
        }
        if let Some(reach) = &mut self.reach {
            reach.record_read(self.function, value);
        }
        self.function.inst_of(value)
    }

    /// Returns the concat that defines a value, and the offsets of its operands, if all their extents along the axis are known.
    pub(crate) fn concat_offsets(
        &mut self,
        value: ValueId,
    ) -> Option<(InstId, Arc<ConcatOffsets>)> {
        let inst = self.def_inst(value)?;
        Some((inst, self.memo.concat_offsets(self.function, inst)?))
    }

    /// Returns the literal of a value that a constant defines, or a broadcast of a splat.
    pub fn constant_of(&mut self, value: ValueId) -> Option<TensorLiteral> {
        if self.patch.is_provisional(value) {
            return self.patch.constant_of(value).cloned();
        }
        let inst = self.function.inst_of(value)?;
        // A constant never changes, so that reading the one behind a broadcast is not counted.
        if self.function.op_def(inst)?.family != "constant" {
            self.def_inst(value)?;
        }
        constant_of(self.function, value)
    }

    // Returns the literal of a value that a constant defines, not a broadcast.
    fn own_literal(&self, value: ValueId) -> Option<&TensorLiteral> {
        match self.patch.is_provisional(value) {
            true => self.patch.constant_of(value),
            false => self.function.constant_of(value),
        }
    }

    // Returns the literal of a value that a constant defines, or the splat that a broadcast repeats, also along dims that are not known.
    fn literal_behind(&mut self, value: ValueId) -> Option<&TensorLiteral> {
        if self.own_literal(value).is_some() {
            return self.own_literal(value);
        }
        self.def_inst(value)?;
        self.function.repeated_splat(value)
    }

    /// Returns true if a constant or a broadcast of a splat defines a value, also if not all dims are known.
    pub fn is_known(&mut self, value: ValueId) -> bool {
        self.literal_behind(value).is_some()
    }

    /// Returns true if a constant or a broadcast of a splat defines a value.
    pub fn is_constant(&mut self, value: ValueId) -> bool {
        self.own_literal(value).is_some() || self.constant_of(value).is_some()
    }

    /// Returns true if all elements of a value are known to be zero; -0 does not count.
    pub fn is_zero(&mut self, value: ValueId) -> bool {
        self.literal_behind(value).is_some_and(TensorLiteral::is_zero)
    }

    /// Returns true if all elements of a value are known to be one.
    pub fn is_one(&mut self, value: ValueId) -> bool {
        self.literal_behind(value).is_some_and(TensorLiteral::is_one)
    }

    /// Returns the literal of a value, if all its elements are equal.
    pub fn splat_of(&mut self, value: ValueId) -> Option<TensorLiteral> {
        self.constant_of(value).filter(|literal| literal.as_splat().is_some())
    }

    /// Returns true if all elements of a value are known to be this number.
    pub fn is_number(&mut self, value: ValueId, number: f64) -> bool {
        self.literal_behind(value).is_some_and(|literal| literal.is_filled_with(number))
    }

    /// Returns true if an instruction, or one inside it, may not be merged, erased, duplicated or reordered. O(1).
    #[must_use]
    pub fn is_ordered(&self, inst: InstId) -> bool {
        self.effects.is_ordered(self.function, inst)
    }

    /// Returns true if nothing uses a value.
    #[must_use]
    pub fn unused(&self, value: ValueId) -> bool {
        self.patch.is_provisional(value) || self.function.unused(value)
    }

    /// Returns true if exactly one operand is this value.
    #[must_use]
    pub fn one_use(&self, value: ValueId) -> bool {
        !self.patch.is_provisional(value) && self.function.one_use(value)
    }

    /// Returns true if exactly one operand is this value, and the value is computed in the body of the root: an op that moves to the root does
    /// not move into a loop.
    #[must_use]
    pub fn one_use_here(&self, value: ValueId) -> bool {
        let f = self.function;
        let home = |inst: InstId| f.body_of(inst);
        self.one_use(value) && f.inst_of(value).and_then(home) == home(self.root())
    }

    /// Returns true if exactly one instruction uses this value, in at most eight operands.
    #[must_use]
    pub fn one_user(&self, value: ValueId) -> bool {
        !self.patch.is_provisional(value) && one_user(self.function, value)
    }

    /// Stages an op with one result. Returns `None` and stages nothing if its parts do not fit together, it has another number of
    /// results, or it is not in the function's registry.
    pub fn emit<T: Op>(&mut self, op: T) -> Option<ValueId> {
        let parts = self.registered_parts(op)?;
        self.stage_parts(parts, Some(1))?.first().copied()
    }

    /// Stages an instruction of any op with one result. Returns `None` and stages nothing if its parts do not fit together or it
    /// has another number of results. An op that the registry lacks has the result types that `parts` gives.
    pub fn emit_parts(&mut self, parts: &OpParts) -> Option<ValueId> {
        self.stage_parts(parts.clone(), Some(1))?.first().copied()
    }

    // Stages an instruction, with this number of results if it is given.
    fn stage_parts(&mut self, parts: OpParts, count: Option<usize>) -> Option<Values> {
        if self.lacks_extents(&parts) {
            return self.refuse_extents(&parts);
        }
        self.patch.emit(self.function, parts, &[], count)
    }

    // Returns true if a run could not find the extents of a result, because nothing but the root has them: the root may declare less of its dims
    // than follows from its operands.
    fn lacks_extents(&self, parts: &OpParts) -> bool {
        let from_types = [Iota::key(), BroadcastTo::key(), BroadcastInDim::key()];
        let allowed = match parts.key {
            key if from_types.contains(&key) => 0,
            // One extent follows from the number of elements.
            key if key == Reshape::key() => 1,
            _ => return false,
        };
        let Some(ty) = parts.result_types.first().and_then(ValueType::as_tensor) else {
            return false;
        };
        if ty.dims.iter().all(|dim| dim.known().is_some()) {
            return false;
        }
        let binds = self.effects.binds_dims(self.function, self.root);
        let operand = parts.operands.first().and_then(|&v| self.tensor(v));
        let is_given = |dim: &Dim| operand.is_some_and(|operand| operand.dims.contains(dim));
        let is_free = |dim: &&Dim| match dim {
            Dim::Known(_) => false,
            Dim::Unknown => !is_given(dim),
            Dim::Expr(_) => binds && !is_given(dim),
        };
        ty.dims.iter().filter(is_free).count() > allowed
    }

    /// Stages an op with any number of results. Returns `None` and stages nothing if its parts do not fit together or it is not
    /// in the function's registry.
    pub fn emit_many<T: Op>(&mut self, op: T) -> Option<Values> {
        let parts = self.registered_parts(op)?;
        self.stage_parts(parts, None)
    }

    /// Stages an instruction of any op with any number of results. Returns `None` and stages nothing if its parts do not fit
    /// together.
    pub fn emit_parts_many(&mut self, parts: &OpParts) -> Option<Values> {
        self.stage_parts(parts.clone(), None)
    }

    /// Stages an op whose regions are regions of the root, in order and with the given changes: for loops with fewer carried
    /// values. The regions in `op` are ignored. Returns `None` and stages nothing if its parts do not fit together.
    pub fn emit_with_regions<T: Op>(&mut self, op: T, regions: &[MovedRegion]) -> Option<Values> {
        let mut parts = self.registered_parts(op)?;
        parts.regions = regions.iter().map(MovedRegion::body).collect();
        self.patch.emit(self.function, parts, regions, None)
    }

    // Returns the parts of an op if the registry has it: otherwise its attributes and types could not be checked.
    fn registered_parts<T: Op>(&mut self, op: T) -> Option<OpParts> {
        match self.function.registry().get(T::key()) {
            Some(_) => Some(op.into_parts()),
            None => self.refuse_unregistered(T::key().name()),
        }
    }

    #[cold]
    fn refuse_unregistered<T>(&mut self, op: &'static str) -> Option<T> {
        self.patch.refuse(Some(op), "the registry of the function does not have the op".into())
    }

    #[cold]
    pub(super) fn refuse_built<T>(&mut self, error: &GraphError) -> Option<T> {
        self.patch.refuse(None, error.to_string())
    }

    #[cold]
    fn refuse_extents<T>(&mut self, parts: &OpParts) -> Option<T> {
        let reason = "a run could not find the extents of its result";
        self.patch.refuse(Some(parts.key.name()), reason.into())
    }

    /// Keeps the root, and replaces the uses of the first value of each pair by the second. The first is a result of the root or
    /// a parameter of its regions; the second has the same type and is available to the root, or is another result of the root or another
    /// parameter of the same region. Pairs whose first value is unused
    /// are ignored; returns `None` if no other is left. With this, a loop with many carried values is not rebuilt for each of
    /// them: the unused ones are removed together at the end.
    pub fn forward(
        &mut self,
        pairs: impl IntoIterator<Item = (ValueId, ValueId)>,
    ) -> Option<Values> {
        let f = self.function;
        let used = pairs.into_iter().filter(|&(from, _)| !f.unused(from));
        self.patch.forward(used).then(Values::new)
    }

    /// Also replaces the results of other instructions, which have one result each and the same type as their replacement. All staged
    /// instructions are then inserted before `place`, which must not come after the root. The values that they use must be available
    /// there, and the other instructions must not have effects.
    pub fn replace_also(&mut self, place: InstId, also: Vec<(InstId, ValueId)>) {
        self.patch.replace_also(place, also);
    }

    /// Keeps the root, and gives parameters of its regions types with more known dims. The types that follow from these are inferred.
    #[doc(hidden)]
    pub fn narrow(&mut self, types: Vec<(ValueId, ValueType)>) -> Option<Values> {
        self.patch.narrow(types).then(Values::new)
    }

    /// Returns the carried values of the root, a loop, that changed since the last call: see
    /// [`WideInstMemo::changed_carries`].
    #[doc(hidden)]
    pub fn changed_carries(&self, carried: usize) -> Option<Vec<usize>> {
        self.memo.changed_carries(self.root, carried)
    }

    pub(super) fn stage_built(&mut self, function: Function, inputs: &[ValueId]) -> Values {
        self.patch.stage_graph(BuiltGraph::new(function, inputs))
    }

    /// Returns a value with a literal: one constant per literal and function.
    pub fn constant(&mut self, literal: TensorLiteral) -> ValueId {
        self.patch.stage_constant(literal)
    }

    /// Returns a constant of a tensor type whose elements are all this number. `None` if a dim is not known or the number does
    /// not fit.
    pub fn filled(&mut self, ty: &TensorType, number: f64) -> Option<ValueId> {
        let literal = TensorLiteral::filled(ty.dtype, &ty.known_shape()?, number).ok()?;
        Some(self.constant(literal))
    }

    /// Returns a constant of the type of the root's result whose elements are all this number.
    pub fn filled_like_result(&mut self, number: f64) -> Option<ValueId> {
        let ty = self.result_tensor()?;
        self.filled(ty, number)
    }

    /// Returns the parameters of a region.
    #[must_use]
    pub fn params(&self, body: BodyId) -> &'a [ValueId] {
        self.function.body_params(body)
    }

    /// Returns the values a region yields.
    #[must_use]
    pub fn yields(&self, body: BodyId) -> &'a [ValueId] {
        self.function.body_results(body)
    }

    /// Splices the instructions of a region of the root in before it, with its parameters replaced by arguments of the same
    /// types, and returns the yielded values.
    ///
    /// Returns `None` if a second region is inlined, and an instruction of either [may stop](Function::may_stop) a run.
    pub fn inline(&mut self, body: BodyId, args: &[ValueId]) -> Option<Values> {
        self.patch.inline(self.function, self.root, body, args)
    }
}
