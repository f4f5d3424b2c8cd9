//! What a plain function pattern works with: it reads the function and stages what is to be inserted.

use std::sync::Arc;

use sapwood_ptir::{
    BodyId, Function, InstId, Op, OpParts, TensorLiteral, TensorType, ValueId, ValueType, Values,
};
use sapwood_types::DataType;
use smallvec::{SmallVec, smallvec};

use super::build::Built;
use super::patch::Patch;
use super::region::MovedRegion;
use super::view::RootView;
use crate::FloatMode;
use crate::rewriter::{EffectIndex, Joined, Memo, ProgramRewriter, constant_of, one_user};

/// One attempt of a pattern at a root.
///
/// What it emits is kept aside, under provisional values that can be operands of more. If the pattern gives `None`, or
/// panics, nothing has happened; if it gives values, one per result of the root, what was emitted is inserted before the
/// root, the values take the place of its results, and the root goes. A result that nobody uses may stand for itself. The
/// root stays if the pattern gives what [`forward`](Self::forward) does.
///
/// Each value has the type of its result. One that differs from it only in how closely dims are known is no match; any other
/// difference is a problem of the pattern, which is named in the statistics and not tried again.
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
    effects: &'a EffectIndex,
    memo: &'a Memo,
    reach: Option<&'a mut Reach>,
}

/// How far a pattern looked, in expensive checks.
#[derive(Default)]
pub(crate) struct Reach {
    // Values with their distance from the root, counted in definitions.
    known: Vec<(ValueId, u8)>,
    pub(crate) furthest: u8,
}

impl Reach {
    pub(crate) fn reset(&mut self, f: &Function, root: InstId) {
        self.known.clear();
        self.furthest = 0;
        self.known.extend(f.operands(root).iter().map(|&v| (v, 0)));
    }

    // The definition of a value was looked at.
    fn look(&mut self, f: &Function, value: ValueId) {
        let Some(inst) = f.inst_of(value) else { return };
        let known = self.known.iter().find(|(v, _)| *v == value);
        // What was not reached along definitions, a yielded value say, is looked at from its owner.
        let distance = known.map_or(0, |(_, d)| *d).saturating_add(1);
        self.furthest = self.furthest.max(distance);
        for &operand in f.operands(inst) {
            match self.known.iter_mut().find(|(v, _)| *v == operand) {
                Some((_, nearest)) => *nearest = distance.min(*nearest),
                None => self.known.push((operand, distance)),
            }
        }
    }
}

/// What a pattern may give for the results of its root.
pub trait Replacement {
    /// One value per result.
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
        floats: FloatMode,
        reach: Option<&'a mut Reach>,
    ) -> Self {
        let function = rw.function();
        patch.reset(function);
        Self { function, root, patch, floats, effects: &rw.effects, memo: &rw.memo, reach }
    }

    /// The instruction the pattern is tried at.
    #[must_use]
    pub fn root(&self) -> InstId {
        self.root
    }

    /// The function. What is read through it is not seen by the check of how far a pattern looks.
    #[must_use]
    pub fn function(&self) -> &'a Function {
        self.function
    }

    /// How freely floats may be treated.
    #[must_use]
    pub fn floats(&self) -> FloatMode {
        self.floats
    }

    /// Whether a law that holds for floats only in the mode `needed` may be used on the elements of a value: always for
    /// integers and bools, never for tuples.
    #[must_use]
    pub fn allows(&self, needed: FloatMode, value: ValueId) -> bool {
        self.dtype(value).is_some_and(|dtype| self.floats.allows(needed, dtype))
    }

    /// The type of a value.
    #[must_use]
    pub fn ty(&self, value: ValueId) -> Option<&ValueType> {
        self.patch.type_of(self.function, value)
    }

    /// The type of a value that is a tensor.
    #[must_use]
    pub fn tensor(&self, value: ValueId) -> Option<&TensorType> {
        self.ty(value)?.as_tensor()
    }

    /// The element type of a tensor.
    #[must_use]
    pub fn dtype(&self, value: ValueId) -> Option<DataType> {
        self.tensor(value).map(|t| t.dtype)
    }

    /// The number of dims of a tensor.
    #[must_use]
    pub fn rank(&self, value: ValueId) -> Option<usize> {
        self.tensor(value).map(TensorType::rank)
    }

    /// The extents of a tensor, if all are known.
    #[must_use]
    pub fn shape(&self, value: ValueId) -> Option<SmallVec<[u64; 4]>> {
        self.tensor(value)?.known_shape()
    }

    /// Whether two values have the same type, unknown dims left aside: those may differ.
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

    /// The n-th result of the root.
    #[must_use]
    pub fn result(&self, n: usize) -> Option<ValueId> {
        self.function.result(self.root, n)
    }

    /// The type of the first result of the root.
    #[must_use]
    pub fn result_type(&self) -> Option<&'a ValueType> {
        Some(self.function.value_type(self.function.value_of(self.root)?))
    }

    /// The type of the first result of the root, if that is a tensor.
    #[must_use]
    pub fn result_tensor(&self) -> Option<&'a TensorType> {
        self.result_type()?.as_tensor()
    }

    /// The definition of a value as a `V`: an op, [`Unary`](crate::Unary), [`Binary`](crate::Binary). `None` if it is
    /// something else, a parameter, or provisional.
    pub fn def<V: RootView>(&mut self, value: ValueId) -> Option<V> {
        V::read(self.function, self.def_inst(value)?)
    }

    /// The instruction that defines a value; `None` for parameters and provisional values.
    pub fn def_inst(&mut self, value: ValueId) -> Option<InstId> {
        if self.patch.is_provisional(value) {
            return None;
        }
        if let Some(reach) = &mut self.reach {
            reach.look(self.function, value);
        }
        self.function.inst_of(value)
    }

    /// The concat that defines a value, and where its operands begin, if all their extents along the axis are known.
    pub(crate) fn joined(&mut self, value: ValueId) -> Option<(InstId, Arc<Joined>)> {
        let inst = self.def_inst(value)?;
        Some((inst, self.memo.joined(self.function, inst)?))
    }

    /// The literal a value is: of a constant, or of a broadcast of a splat.
    pub fn constant_of(&mut self, value: ValueId) -> Option<TensorLiteral> {
        if self.patch.is_provisional(value) {
            return self.patch.constant_of(value).cloned();
        }
        let inst = self.function.inst_of(value)?;
        // A constant never changes, so that looking at the one behind a broadcast does not count.
        if self.function.op_def(inst)?.family != "constant" {
            self.def_inst(value)?;
        }
        constant_of(self.function, value)
    }

    // The literal that a value is by itself, not as a broadcast.
    fn own_literal(&self, value: ValueId) -> Option<&TensorLiteral> {
        match self.patch.is_provisional(value) {
            true => self.patch.constant_of(value),
            false => self.function.constant_of(value),
        }
    }

    /// Whether a value is a literal: a constant, or a broadcast of a splat.
    pub fn is_constant(&mut self, value: ValueId) -> bool {
        self.own_literal(value).is_some() || self.constant_of(value).is_some()
    }

    /// Whether all elements of a value are known to be zero; -0 is not.
    pub fn is_zero(&mut self, value: ValueId) -> bool {
        match self.own_literal(value) {
            Some(literal) => literal.is_zero(),
            None => self.splat_of(value).is_some_and(|literal| literal.is_zero()),
        }
    }

    /// Whether all elements of a value are known to be one.
    pub fn is_one(&mut self, value: ValueId) -> bool {
        match self.own_literal(value) {
            Some(literal) => literal.is_one(),
            None => self.splat_of(value).is_some_and(|literal| literal.is_one()),
        }
    }

    /// The literal a value is, if all its elements are the same.
    pub fn splat_of(&mut self, value: ValueId) -> Option<TensorLiteral> {
        self.constant_of(value).filter(|literal| literal.as_splat().is_some())
    }

    /// Whether all elements of a value are known to be this number.
    pub fn is_number(&mut self, value: ValueId, number: f64) -> bool {
        let is = |literal: &TensorLiteral| {
            let one = TensorLiteral::filled(literal.dtype(), &[], number);
            literal.as_splat().is_some()
                && one.is_ok_and(|one| one.as_splat() == literal.as_splat())
        };
        match self.own_literal(value) {
            Some(literal) => is(literal),
            None => self.splat_of(value).is_some_and(|literal| is(&literal)),
        }
    }

    /// Whether an instruction, or one inside of it, may not be merged, dropped, duplicated or crossed. O(1).
    #[must_use]
    pub fn is_ordered(&self, inst: InstId) -> bool {
        self.effects.is_ordered(self.function, inst)
    }

    /// Whether nothing uses a value.
    #[must_use]
    pub fn unused(&self, value: ValueId) -> bool {
        self.patch.is_provisional(value) || self.function.unused(value)
    }

    /// Whether exactly one operand is this value.
    #[must_use]
    pub fn one_use(&self, value: ValueId) -> bool {
        !self.patch.is_provisional(value) && self.function.one_use(value)
    }

    /// Whether exactly one instruction uses this value, in at most eight operands.
    #[must_use]
    pub fn one_user(&self, value: ValueId) -> bool {
        !self.patch.is_provisional(value) && one_user(self.function, value)
    }

    /// Stages an op with one result. `None` if it does not fit together, has another number of results, or is not in the
    /// function's registry; then nothing is staged.
    pub fn emit<T: Op>(&mut self, op: T) -> Option<ValueId> {
        self.emit_parts(&self.registered(op)?)
    }

    /// Stages an instruction of any op with one result. `None` if it does not fit together or has another number of
    /// results; then nothing is staged. An op that the registry lacks has the result types that `parts` gives.
    pub fn emit_parts(&mut self, parts: &OpParts) -> Option<ValueId> {
        self.patch.emit(self.function, parts, &[], Some(1))?.first().copied()
    }

    /// Stages an op with any number of results. `None` if it does not fit together or is not in the function's registry;
    /// then nothing is staged.
    pub fn emit_many<T: Op>(&mut self, op: T) -> Option<Values> {
        self.emit_parts_many(&self.registered(op)?)
    }

    /// Stages an instruction of any op with any number of results. `None` if it does not fit together; then nothing is
    /// staged.
    pub fn emit_parts_many(&mut self, parts: &OpParts) -> Option<Values> {
        self.patch.emit(self.function, parts, &[], None)
    }

    /// Stages an op whose regions are regions of the root, in order, changed on the way: loops with fewer carried values.
    /// The regions in `op` are not looked at. `None` if it does not fit together; then nothing is staged.
    pub fn emit_with_regions<T: Op>(&mut self, op: T, regions: &[MovedRegion]) -> Option<Values> {
        let mut parts = self.registered(op)?;
        parts.regions = regions.iter().map(MovedRegion::body).collect();
        self.patch.emit(self.function, &parts, regions, None)
    }

    // Takes an op apart if the registry has it: otherwise its attributes and types cannot be checked.
    fn registered<T: Op>(&self, op: T) -> Option<OpParts> {
        self.function.registry().get(T::key()).map(|_| op.into_parts())
    }

    /// The root stays, and of each pair the first gives its uses to the second: results of the root, and parameters of its
    /// regions, to values of the same type that the root can see. Pairs whose first nobody uses are left out; `None` if no
    /// other is left. So a loop of many carried values is not made anew for each of them: what is unused in the end goes
    /// at once.
    pub fn forward(
        &mut self,
        pairs: impl IntoIterator<Item = (ValueId, ValueId)>,
    ) -> Option<Values> {
        let f = self.function;
        let used = pairs.into_iter().filter(|&(from, _)| !f.unused(from));
        self.patch.forward(used).then(Values::new)
    }

    /// The carried values of the root, a loop, that are to be looked at: see [`Memo::changed_carries`].
    #[doc(hidden)]
    pub fn changed_carries(&self, carried: usize) -> Option<Vec<usize>> {
        self.memo.changed_carries(self.root, carried)
    }

    pub(super) fn stage_built(&mut self, function: Function, inputs: &[ValueId]) -> Values {
        self.patch.built(Built::new(function, inputs))
    }

    /// The value of a literal: one constant per literal and function.
    pub fn constant(&mut self, literal: TensorLiteral) -> ValueId {
        self.patch.constant(literal)
    }

    /// A constant of a tensor type whose elements are all this number. `None` if a dim is not known or the number does
    /// not fit.
    pub fn filled(&mut self, ty: &TensorType, number: f64) -> Option<ValueId> {
        let literal = TensorLiteral::filled(ty.dtype, &ty.known_shape()?, number).ok()?;
        Some(self.constant(literal))
    }

    /// A constant of the type of the root's result whose elements are all this number.
    pub fn filled_like_result(&mut self, number: f64) -> Option<ValueId> {
        let ty = self.result_tensor()?;
        self.filled(ty, number)
    }

    /// The parameters of a region.
    #[must_use]
    pub fn params(&self, body: BodyId) -> &'a [ValueId] {
        self.function.body_params(body)
    }

    /// The values a region yields.
    #[must_use]
    pub fn yields(&self, body: BodyId) -> &'a [ValueId] {
        self.function.body_results(body)
    }

    /// Splices the instructions of a region of the root in before it, its parameters replaced by arguments of the same
    /// types, and gives what it yields.
    pub fn inline(&mut self, body: BodyId, args: &[ValueId]) -> Option<Values> {
        self.patch.inline(self.function, self.root, body, args)
    }
}
