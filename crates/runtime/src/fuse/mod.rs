//! Fusion: groups of elementwise ops, broadcasts, casts and reductions of trailing axes that run block by block, in one pass over memory.
//!
//! [`schedule`] walks over a body once. An instruction joins the group of its operands if the shapes allow it; a group ends when an
//! instruction outside needs one of its values. Broadcasts, reshapes and slices of values from outside are views that a group reads at
//! strides; constants are operands of its instructions. Neither is computed unless an instruction outside of groups needs it.
//!
//! | module | contents |
//! | --- | --- |
//! | `attention` | Products with a group between them, run for some batches at a time. |
//! | `classify` | The ops that can be fused. |
//! | `group` | Groups under construction. |
//! | `lanes` | Loops over blocks, per type and operation. |
//! | `convert` | Conversions between the types of blocks. |
//! | `program` | Programs over blocks: instructions, registers, and how they run. |
//! | `kernel` | The kernel of a group: threads and memory. |
//! | `order` | The order of steps, which lowers the peak of memory. |
//! | `region` | Reductions with a region, run as a program over blocks. |
//! | `small_steps` | Steps on few elements, which run one after another in one kernel. |
//! | `small_ops` | The operations of such steps that are not groups. |
//! | `sequence` | Straight-line parts of few elements, run by one kernel. |
//! | `small_loop` | Loops over few elements, run by one kernel. |
//! | `strided` | Views at strides. |

mod attention;
mod classify;
mod convert;
mod group;
mod kernel;
mod lanes;
mod order;
mod program;
mod region;
mod sequence;
mod small_loop;
mod small_ops;
mod small_steps;
mod strided;

use std::sync::{Arc, Mutex};

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::eval::{
    DataType, FusedGroup, FusedKernel, Native, ScheduledStep, Shape, Tensor, count,
};
use sapwood_ptir::{BodyId, Function, InstId, OpKey, ValueId, ops, with_native};

use classify::{FusibleOp, classify};
pub(crate) use convert::Narrow;
use group::{GroupBuilder, Member, lane_bits};
use kernel::GroupKernel;
use lanes::{LaneType, ReduceOp};
use program::{BlockProgram, Operand, Operation, Output};
use strided::Strided;

/// The most instructions of a group's program.
const MAX_GROUP_INSTRUCTIONS: usize = 512;
/// The most values of a group; without renames and spreads, a group has as many instructions.
const MAX_GROUP_MEMBERS: usize = 512;
/// The most elements of a fused value; all are computed, also of splats.
const MAX_ELEMENTS: usize = 1 << 31;
/// The most columns of a group with rows and columns, because a block has at least one row.
const MAX_COLUMNS: usize = 1 << 14;
/// A group of few instructions on few elements is not formed: starting it takes as long as three kernels of single instructions.
const MAX_TINY_ELEMENTS: usize = 64;
const MAX_TINY_INSTRUCTIONS: usize = 3;
/// The least rows of a large group with rows and columns, so that several threads have work.
const MIN_ROWS: usize = 8;

/// Returns the schedule of a body; `None` if nothing is fused. `has_kernel` tells whether an op has a kernel of its own that is as fast as a group.
pub(crate) fn schedule(
    f: &Function,
    body: BodyId,
    has_kernel: &dyn Fn(OpKey, DataType) -> bool,
) -> Option<Vec<ScheduledStep>> {
    // Kernels recognize regions of one op, which need not run at all.
    if body != f.body() && f.body_insts(body).take(3).count() < 3 {
        return None;
    }
    let mut fuser = Fuser::new(f, body, has_kernel);
    fuser.visit_all();
    fuser.join_products();
    fuser.order_steps();
    fuser.fused.then_some(fuser.steps)
}

// Returns the element type and the known extents of a tensor that is not too large and not empty.
fn extents(f: &Function, value: ValueId) -> Option<(DataType, Shape)> {
    let ty = f.value_type(value).as_tensor()?;
    let extent = |d: &sapwood_ptir::Dim| d.known().and_then(|n| usize::try_from(n).ok());
    let shape: Shape = ty.dims.iter().map(extent).collect::<Option<_>>()?;
    let len = count(&shape)?;
    (len > 0 && len <= MAX_ELEMENTS).then_some((ty.dtype, shape))
}

/// The state of a value; values without one are computed.
#[derive(Clone)]
enum ValueState {
    /// A constant whose elements are equal: its bits. Computed only if an instruction outside of groups needs it.
    Splat(InstId, u128),
    /// A view of a computed value, computed likewise.
    View(InstId, ValueId, Strided),
    /// A count along an axis, computed likewise.
    Count { inst: InstId, stride: usize, extent: usize },
    /// A value of an open group.
    Member(usize),
}

struct Fuser<'f> {
    f: &'f Function,
    body: BodyId,
    has_kernel: &'f dyn Fn(OpKey, DataType) -> bool,
    states: HashMap<ValueId, ValueState, FxBuildHasher>,
    groups: Vec<Option<GroupBuilder>>,
    // The values with a state that regions of later instructions use.
    captured: Vec<ValueId>,
    steps: Vec<ScheduledStep>,
    fused: bool,
    kernels: Vec<(usize, Arc<GroupKernel>)>,
    // True if the steps are those of one kernel, in which groups may have any size. `kernels` are those of the steps that are groups.
    within_kernel: bool,
}

/// A step of a kernel that runs several.
enum FusedStep {
    Group(FusedGroup, Arc<GroupKernel>),
    Single(InstId),
}

impl FusedStep {
    /// Returns the operands and the results.
    fn values(&self, f: &Function) -> (Vec<ValueId>, Vec<ValueId>) {
        match self {
            Self::Group(group, _) => (group.inputs.clone(), group.outputs.clone()),
            Self::Single(inst) => (f.operands(*inst).to_vec(), f.inst_results(*inst).collect()),
        }
    }
}

impl<'f> Fuser<'f> {
    fn new(f: &'f Function, body: BodyId, has_kernel: &'f dyn Fn(OpKey, DataType) -> bool) -> Self {
        Self {
            f,
            body,
            has_kernel,
            states: HashMap::default(),
            groups: Vec::new(),
            captured: Vec::new(),
            steps: Vec::new(),
            fused: false,
            within_kernel: false,
            kernels: Vec::new(),
        }
    }

    /// Returns the steps of instructions of a body, in order. `needed` are the values that are used afterwards, and `states` those of values
    /// from outside.
    fn steps_of(
        f: &'f Function,
        body: BodyId,
        insts: &[InstId],
        needed: &[ValueId],
        states: impl Iterator<Item = (ValueId, ValueState)>,
    ) -> Option<Vec<FusedStep>> {
        let mut fuser = Self { within_kernel: true, ..Self::new(f, body, &|_, _| false) };
        fuser.states.extend(states);
        for &inst in insts {
            fuser.visit(inst);
        }
        fuser.require_all(needed);
        let mut kernels = fuser.kernels.into_iter();
        let step = |step| match step {
            ScheduledStep::Group(group) => Some(FusedStep::Group(group, kernels.next()?.1)),
            ScheduledStep::Single(inst) => Some(FusedStep::Single(inst)),
        };
        fuser.steps.into_iter().map(step).collect()
    }

    fn visit_all(&mut self) {
        let insts: Vec<InstId> = self.f.body_insts(self.body).collect();
        let mut rest = &insts[..];
        while let Some(&inst) = rest.first() {
            let run = self.few_elements(rest);
            let (run, later) = rest.split_at(run.max(1));
            rest = later;
            if self.f.op_def(inst).is_some_and(|def| def.terminator) {
                self.require_all(self.f.operands(inst));
            } else if self.emit_sequence(run).is_none() {
                run.iter().for_each(|&inst| self.visit(inst));
            }
        }
    }

    fn shape(&self, value: ValueId) -> Option<(DataType, Shape)> {
        extents(self.f, value)
    }

    fn visit(&mut self, inst: InstId) {
        if self.defer(inst).is_some() || self.join(inst).is_some() {
            return;
        }
        if self.within_kernel {
            // A scalar next to a tensor may have been in a group of its own.
            self.require_all(self.f.operands(inst));
            let is_used = |value| self.f.uses(value).next().is_some();
            if self.join(inst).is_none() && self.f.inst_results(inst).any(is_used) {
                self.emit_single(inst);
            }
            return;
        }
        if let Some((kernel, inputs)) = small_loop::loop_kernel(self.f, inst) {
            self.require_all(&inputs);
            self.push_kernel(inst, inputs, Arc::new(kernel));
            return;
        }
        let values = || self.f.operands(inst).iter().copied().chain(self.f.inst_results(inst));
        let known = |value| self.shape(value).is_some();
        // Reductions by one op have kernels of their own.
        if reduction_op(self.f, inst).is_none()
            && let Some(kernel) = region::reduce_kernel(self.f, inst)
            && values().all(known)
        {
            self.require_all(self.f.operands(inst));
            self.push_kernel(inst, self.f.operands(inst).to_vec(), Arc::new(kernel));
            return;
        }
        self.emit_single(inst);
    }

    // Emits an instruction with a kernel of its own.
    fn push_kernel(&mut self, inst: InstId, inputs: Vec<ValueId>, kernel: Arc<dyn FusedKernel>) {
        self.fused = true;
        self.steps.push(ScheduledStep::Group(FusedGroup {
            insts: vec![inst],
            inputs,
            outputs: self.f.inst_results(inst).collect(),
            kernel,
        }));
    }

    // Emits an instruction on its own, after what it needs.
    fn emit_single(&mut self, inst: InstId) {
        self.require_all(self.f.operands(inst));
        if self.f.has_regions(inst) {
            let captured = std::mem::take(&mut self.captured);
            self.require_all(&captured);
        }
        self.steps.push(ScheduledStep::Single(inst));
    }

    fn set_state(&mut self, value: ValueId, state: ValueState) {
        let body = Some(self.body);
        if self.f.uses(value).any(|u| self.f.body_of(u.user) != body) {
            self.captured.push(value);
        }
        self.states.insert(value, state);
    }

    fn require_all(&mut self, values: &[ValueId]) {
        for &value in values {
            self.require(value);
        }
    }

    // Makes sure that a value is computed by the steps so far.
    fn require(&mut self, value: ValueId) {
        let mut pending = vec![value];
        while let Some(&value) = pending.last() {
            let inst = match self.states.get(&value) {
                None => {
                    pending.pop();
                    continue;
                }
                Some(&ValueState::Member(group)) => {
                    self.close(group);
                    continue;
                }
                Some(
                    ValueState::Splat(inst, _)
                    | ValueState::View(inst, ..)
                    | ValueState::Count { inst, .. },
                ) => *inst,
            };
            let missing = self.f.operands(inst).iter().find(|v| self.states.contains_key(*v));
            match missing {
                Some(&operand) => pending.push(operand),
                None => {
                    self.states.remove(&value);
                    self.steps.push(ScheduledStep::Single(inst));
                    pending.pop();
                }
            }
        }
    }

    // Handles instructions that need not be computed: constants, views and counts; and views of values of open groups.
    fn defer(&mut self, inst: InstId) -> Option<()> {
        let f = self.f;
        let result = f.value_of(inst)?;
        let (dtype, shape) = self.shape(result)?;
        LaneType::of(dtype)?;
        if let Some(literal) = f.constant_of(result) {
            literal.as_splat()?;
            let tensor = Tensor::from_literal(literal).ok()?;
            let bits = with_native!(dtype, T => tensor.as_splat::<T>()?.pack());
            self.set_state(result, ValueState::Splat(inst, bits));
            return Some(());
        }
        if f.is::<ops::Iota>(inst) {
            let axis = usize::try_from(f.attr(inst, "axis")?.as_int()?).ok()?;
            let stride = shape.get(axis + 1..)?.iter().product();
            let state = ValueState::Count { inst, stride, extent: *shape.get(axis)? };
            self.set_state(result, state);
            return Some(());
        }
        let change = view_change(f, inst, &shape)?;
        let operand = *f.operands(inst).first()?;
        let (_, from) = self.shape(operand)?;
        match self.states.get(&operand).cloned() {
            Some(ValueState::Splat(_, bits)) => {
                self.set_state(result, ValueState::Splat(inst, bits));
                return Some(());
            }
            Some(ValueState::View(_, base, view)) => match change.apply(&view, &shape) {
                Some(view) => {
                    self.set_state(result, ValueState::View(inst, base, view));
                    return Some(());
                }
                None => self.require(operand),
            },
            Some(ValueState::Member(group)) => {
                if self.view_of_member(inst, group, operand, &change, &from, &shape).is_some() {
                    return Some(());
                }
                self.require(operand);
            }
            Some(ValueState::Count { .. }) => self.require(operand),
            None => {}
        }
        let view = change.apply(&Strided::dense(&from), &shape)?;
        self.set_state(result, ValueState::View(inst, operand, view));
        Some(())
    }

    // Adds a view of a value of an open group to the group, if it repeats or renames its elements row by row.
    fn view_of_member(
        &mut self,
        inst: InstId,
        group: usize,
        operand: ValueId,
        change: &ViewChange,
        from: &[usize],
        to: &[usize],
    ) -> Option<()> {
        let result = self.f.value_of(inst)?;
        let (dtype, _) = self.shape(result)?;
        let (ty, _) = LaneType::of(dtype)?;
        let builder = self.groups[group].as_mut()?;
        if builder.is_full() {
            return None;
        }
        let Member { result: source, inner } = *builder.members.get(&operand)?;
        let view = change.apply(&Strided::dense(from), to)?;
        let len = count(to)?;
        if view.offset != 0 {
            return None;
        }
        let source = Operand::Result(source);
        let mut axes = view.collapsed();
        if let ([(_, 0)], true) = (&axes[..], self.within_kernel && builder.count(inner) == 1) {
            axes.insert(0, (1, 1));
        }
        match axes[..] {
            [(n, 1)] if n == builder.count(inner) && n == len => {
                builder.add_member(result, source, inner);
            }
            [(rows, 1), (columns, 0)] if rows == builder.count(inner) => {
                match builder.columns {
                    Some(known) if known == columns && !inner => {}
                    None if allows_columns(rows, columns) => builder.divide(columns, true),
                    _ => return None,
                }
                let spread = builder.push(Operation::Spread(source), ty, true);
                builder.computing += 1;
                builder.add_member(result, spread, true);
            }
            _ => return None,
        }
        builder.add_inst(inst);
        self.set_state(result, ValueState::Member(group));
        Some(())
    }

    // Adds an elementwise instruction or a reduction to a group; `None` if it cannot be fused.
    fn join(&mut self, inst: InstId) -> Option<()> {
        let f = self.f;
        let result = f.value_of(inst)?;
        let operands: Vec<ValueId> = f.operands(inst).to_vec();
        let (result_dtype, result_shape) = self.shape(result)?;
        let (ty, narrow) = LaneType::of(result_dtype)?;
        // `select` and `clamp` work on the type of their second operand.
        let main = *operands.get(usize::from(operands.len() == 3))?;
        let (dtype, main_shape) = self.shape(main)?;
        let region = self.region_reduction(inst, dtype);
        let op = match region {
            Some((op, _)) => FusibleOp::Reduce(op),
            None => classify(f, inst, dtype)?,
        };
        // The start of a reduction is a constant of its region.
        let operands = if region.is_some() { &operands[..1] } else { &operands[..] };
        let len = count(&main_shape)?;
        for &operand in operands {
            LaneType::of(self.shape(operand)?.0)?;
        }
        let columns = match op {
            FusibleOp::Reduce(_) => Some(self.trailing_columns(inst, &main_shape)?),
            _ => None,
        };
        let group = self.group_for(operands, len, columns)?;
        let mut sources = Vec::with_capacity(operands.len());
        for &operand in operands {
            sources.push(self.operand(group, operand, len)?);
        }
        let builder = self.groups[group].as_mut()?;
        let (inner, count) = match (builder.columns, columns) {
            (_, Some(_)) => (true, builder.rows),
            (Some(_), None) => (len == builder.count(true), len),
            (None, None) => (false, len),
        };
        debug_assert_eq!(count, sapwood_ptir::eval::count(&result_shape).unwrap_or(0));
        let (from, _) = LaneType::of(dtype)?;
        let inner = inner && columns.is_none();
        let mut computed = builder.push_op(op, &sources, from, (ty, narrow), inner);
        if let Some((op, Some(start))) = region {
            let start = Operand::Constant(start);
            computed = builder.push(Operation::Binary(op.binary(), start, computed), ty, inner);
        }
        builder.add_member(result, computed, inner);
        builder.add_inst(inst);
        builder.computing += 1;
        self.set_state(result, ValueState::Member(group));
        Some(())
    }

    // Returns the operation of a reduction whose region is one op, and its start, unless the start changes nothing.
    fn region_reduction(&self, inst: InstId, dtype: DataType) -> Option<(ReduceOp, Option<u64>)> {
        let op = reduction_op(self.f, inst)?;
        let (lane, _) = LaneType::of(dtype)?;
        let start = self.f.operands(inst).get(1)?;
        let Some(&ValueState::Splat(_, bits)) = self.states.get(start) else { return None };
        let start = lane_bits(dtype, bits);
        Some((op, (!op.is_identity(lane, start)).then_some(start)))
    }

    // Returns the number of elements that a reduction combines, if it reduces trailing axes.
    fn trailing_columns(&self, inst: InstId, shape: &[usize]) -> Option<usize> {
        let axes = self.f.attr(inst, "axes")?.as_ints()?;
        let first = shape.len().checked_sub(axes.len())?;
        let trailing = (first..shape.len()).all(|axis| axes.contains(&(axis as i64)));
        let columns: usize = shape[first..].iter().product();
        let rows: usize = shape[..first].iter().product();
        (trailing && allows_columns(rows, columns)).then_some(columns)
    }

    // Returns the group that an instruction on operands of `len` elements joins: the groups of its operands, merged as far as their shapes allow,
    // or a new one.
    fn group_for(
        &mut self,
        operands: &[ValueId],
        len: usize,
        columns: Option<usize>,
    ) -> Option<usize> {
        let mut chosen: Option<usize> = None;
        for operand in operands {
            let Some(&ValueState::Member(group)) = self.states.get(operand) else { continue };
            let builder = self.groups[group].as_ref()?;
            let member = builder.members.get(operand)?;
            if chosen == Some(group) {
                // A scalar next to a tensor cannot be of its group.
                if builder.count(member.inner) != len {
                    return None;
                }
                continue;
            }
            let fits = builder.count(member.inner) == len
                && !builder.is_full()
                && columns.is_none_or(|columns| match builder.columns {
                    Some(known) => known == columns && member.inner,
                    None => true,
                });
            let merges = fits
                && match chosen {
                    None => true,
                    Some(other) => self.groups[other].as_ref()?.can_absorb(builder),
                };
            if !merges {
                self.close(group);
                continue;
            }
            match chosen {
                None => chosen = Some(group),
                Some(other) => {
                    let absorbed = self.groups[group].take()?;
                    for &value in absorbed.members.keys() {
                        self.states.insert(value, ValueState::Member(other));
                    }
                    self.groups[other].as_mut()?.absorb(absorbed);
                }
            }
        }
        let group = chosen.unwrap_or_else(|| {
            self.groups.push(Some(GroupBuilder::new(len)));
            self.groups.len() - 1
        });
        let builder = self.groups[group].as_mut()?;
        if let (Some(columns), None) = (columns, builder.columns) {
            builder.divide(columns, false);
        }
        Some(group)
    }

    // Returns an operand of an instruction of a group on `len` elements.
    fn operand(&mut self, group: usize, value: ValueId, len: usize) -> Option<Operand> {
        let (dtype, shape) = self.shape(value)?;
        let (ty, narrow) = LaneType::of(dtype)?;
        let state = self.states.get(&value).cloned();
        if let Some(ValueState::Member(other)) = state
            && other != group
        {
            self.close(other);
        }
        let builder = self.groups[group].as_mut()?;
        let inner = builder.columns.is_some() && len == builder.count(true);
        match state {
            Some(ValueState::Splat(_, bits)) => Some(Operand::Constant(lane_bits(dtype, bits))),
            Some(ValueState::Member(other)) if other == group => {
                Some(Operand::Result(builder.members.get(&value)?.result))
            }
            Some(ValueState::Count { stride, extent, .. }) => {
                let count = builder.push(Operation::Count { stride, extent }, ty, inner);
                Some(match narrow {
                    Some(narrow) => builder.push(Operation::Round(narrow, count), ty, inner),
                    None => count,
                })
            }
            Some(ValueState::View(_, base, view)) => {
                let base_len = count(&self.shape(base)?.1)?;
                self.groups[group].as_mut()?.add_input(base, dtype, &view, len, base_len, inner)
            }
            _ => {
                let base_len = count(&shape)?;
                builder.add_input(value, dtype, &Strided::dense(&shape), len, base_len, inner)
            }
        }
    }

    // Ends a group: emits it as one step, or its only instruction on its own.
    fn close(&mut self, group: usize) {
        let Some(builder) = self.groups[group].take() else { return };
        let mut outputs = Vec::new();
        for &inst in &builder.insts {
            for value in self.f.inst_results(inst) {
                self.states.remove(&value);
                let leaves = self.f.uses(value).any(|u| !builder.inst_set.contains(&u.user));
                if let (true, Some(member)) = (leaves, builder.members.get(&value)) {
                    outputs.push((value, *member));
                }
            }
        }
        if outputs.is_empty() {
            return;
        }
        let own_kernel = |inst: &InstId| {
            let operand = self.f.operands(*inst).first().map(|&v| self.f.value_type(v));
            let dtype = operand.and_then(|ty| ty.as_tensor()).map(|ty| ty.dtype);
            dtype.is_some_and(|dtype| (self.has_kernel)(self.f.op_key(*inst), dtype))
        };
        let single = builder.computing == 1
            && builder.instructions.len() == 1
            && builder.insts.first().is_some_and(own_kernel);
        let tiny = builder.columns.is_none()
            && builder.rows <= MAX_TINY_ELEMENTS
            && builder.instructions.len() <= MAX_TINY_INSTRUCTIONS;
        if (single || tiny) && !self.within_kernel {
            for inst in builder.insts {
                self.emit_single(inst);
            }
            return;
        }
        let program_outputs = outputs
            .iter()
            .filter_map(|(value, member)| {
                let dtype = self.f.value_type(*value).as_tensor()?.dtype;
                Some(Output { result: member.result, dtype })
            })
            .collect();
        let direct: Vec<Option<LaneType>> = builder
            .input_types
            .iter()
            .map(|&dtype| {
                LaneType::of(dtype).and_then(|(ty, narrow)| narrow.is_none().then_some(ty))
            })
            .collect();
        let counts =
            builder.instructions.iter().any(|i| matches!(i.operation, Operation::Count { .. }));
        let kernel = GroupKernel {
            program: BlockProgram::new(builder.instructions, program_outputs, &direct),
            rows: builder.rows,
            columns: builder.columns.unwrap_or(1),
            counts,
            registers: Mutex::default(),
        };
        self.fused = true;
        let kernel = Arc::new(kernel);
        self.kernels.push((self.steps.len(), kernel.clone()));
        self.steps.push(ScheduledStep::Group(FusedGroup {
            insts: builder.insts,
            inputs: builder.inputs,
            outputs: outputs.into_iter().map(|(value, _)| value).collect(),
            kernel,
        }));
    }
}

/// Returns the change of the shape that an instruction with a result of this shape makes; `None` if it is not a view.
fn view_change(f: &Function, inst: InstId, to: &[usize]) -> Option<ViewChange> {
    let axes = |name: &str| -> Option<Vec<usize>> {
        let all = f.attr(inst, name)?.as_ints()?;
        all.iter().map(|&n| usize::try_from(n).ok()).collect()
    };
    if f.is::<ops::Reshape>(inst) {
        return Some(ViewChange::Reshape);
    }
    if f.is::<ops::BroadcastInDim>(inst) {
        return Some(ViewChange::Broadcast(axes("dims")?));
    }
    if f.is::<ops::BroadcastTo>(inst) {
        let (_, from) = extents(f, *f.operands(inst).first()?)?;
        let extra = to.len().checked_sub(from.len())?;
        return Some(ViewChange::Broadcast((extra..to.len()).collect()));
    }
    if f.is::<ops::Slice>(inst) {
        let steps = axes("strides").unwrap_or_else(|| vec![1; to.len()]);
        return Some(ViewChange::Slice { starts: axes("starts")?, steps });
    }
    None
}

/// Returns the operation of a reduction of one tensor whose region is one op.
fn reduction_op(f: &Function, inst: InstId) -> Option<ReduceOp> {
    if !f.is::<ops::Reduce>(inst) {
        return None;
    }
    let (&[input, _], &[body]) = (f.operands(inst), f.regions(inst)) else { return None };
    let (lane, narrow) = LaneType::of(f.value_type(input).as_tensor()?.dtype)?;
    if narrow.is_some() {
        return None;
    }
    let (&[x, y], first) = (f.body_params(body), f.first_inst(body)?) else { return None };
    let combined = f.operands(first);
    let direct = combined == [x, y] || combined == [y, x];
    if !direct || f.body_results(body) != [f.value_of(first)?] {
        return None;
    }
    let is_bool = lane == LaneType::Bool;
    Some(match f.op_name(first) {
        "add" | "or" if is_bool => ReduceOp::Max,
        "mul" | "and" if is_bool => ReduceOp::Min,
        "add" => ReduceOp::Sum,
        "mul" => ReduceOp::Prod,
        "max" => ReduceOp::Max,
        "min" => ReduceOp::Min,
        _ => return None,
    })
}

// Returns whether a group may have this number of rows and columns.
fn allows_columns(rows: usize, columns: usize) -> bool {
    columns > 1
        && columns <= MAX_COLUMNS
        && rows > 0
        && (rows >= MIN_ROWS || rows.saturating_mul(columns) <= 2 * kernel::BLOCK_ELEMENTS)
}

/// A change of the shape that moves no elements.
enum ViewChange {
    Reshape,
    Broadcast(Vec<usize>),
    Slice { starts: Vec<usize>, steps: Vec<usize> },
}

impl ViewChange {
    fn apply(&self, view: &Strided, to: &[usize]) -> Option<Strided> {
        match self {
            Self::Reshape => view.reshape(to),
            Self::Broadcast(dims) => view.broadcast(dims, to),
            Self::Slice { starts, steps } => Some(view.slice(starts, steps, to)),
        }
    }
}
