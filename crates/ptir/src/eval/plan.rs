//! Execution plans of functions: a flat list of steps per body, whose operands are slots of the frame. The last use of a value moves it
//! out of its slot or drops it, and slots are reused.

use std::ops::Range;
use std::sync::Arc;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use super::context::{Evaluate, SimpleRegion};
use super::error::Fault;
use super::inlined::{PlannedFunction, restructure};
use super::memory::{PredictMemory, fixed_order_memory};
use super::options::Kernels;
use super::schedule::{FusedGroup, FusedKernel, ScheduledStep};
use super::tensor::Value;
use crate::attr::Attr;
use crate::func::{Function, ValueDef};
use crate::ids::{BodyId, InstId, ValueId};
use crate::name::Name;
use crate::op::{Control, OpKey, catching_evaluation};
use crate::program::Program;
use crate::types::ValueType;

pub(crate) const NO_SLOT: u32 = u32::MAX;

/// An operand of a step: a slot, and whether this is the last use.
#[derive(Clone, Copy)]
pub(crate) struct OperandSlot {
    pub(crate) slot: u32,
    pub(crate) take: bool,
}

/// The execution plan of one function.
pub(crate) struct FunctionPlan {
    pub(crate) slots: usize,
    // The first is the body of the function.
    pub(crate) bodies: Vec<BodyPlan>,
    pub(crate) operands: Vec<OperandSlot>,
    pub(crate) results: Vec<u32>,
    pub(crate) frees: Vec<u32>,
}

pub(crate) struct BodyPlan {
    pub(crate) body: BodyId,
    pub(crate) params: SmallVec<[u32; 2]>,
    pub(crate) steps: Vec<PlanStep>,
    pub(crate) yields: Range<u32>,
    pub(crate) simple: Option<SimpleBody>,
}

pub(crate) struct SimpleBody {
    op: OpKey,
    inst: InstId,
    operands: SmallVec<[usize; 3]>,
}

pub(crate) struct PlanStep {
    pub(crate) inst: InstId,
    pub(crate) action: Action,
    pub(crate) operands: Range<u32>,
    pub(crate) results: Range<u32>,
    pub(crate) frees: Range<u32>,
    pub(crate) regions: SmallVec<[u32; 2]>,
    // True if the types of all operands and results are fully known.
    pub(crate) known: bool,
    pub(crate) types: SmallVec<[ValueType; 1]>,
    // Predicts the memory of a kernel.
    pub(crate) memory: Option<PredictMemory>,
}

pub(crate) enum Action {
    Kernel(Arc<Evaluate>),
    Group { kernel: Arc<dyn FusedKernel>, insts: Box<[InstId]> },
    Constant(Value),
    Control(Control),
    Call(usize),
    Fault(Box<Fault>),
}

impl FunctionPlan {
    pub(crate) fn simple<'a>(&'a self, f: &'a Function, body: u32) -> Option<SimpleRegion<'a>> {
        let simple = self.bodies[body as usize].simple.as_ref()?;
        Some(SimpleRegion {
            op: simple.op,
            attrs: f.attrs(simple.inst),
            operands: &simple.operands,
        })
    }
}

/// Returns a function and its callees as they are planned, with their plans, the function itself first.
pub(crate) fn plan_program(
    program: &Program,
    function: &Arc<Function>,
    kernels: Option<&dyn Kernels>,
) -> (Vec<PlannedFunction>, Vec<FunctionPlan>) {
    let mut callees = CalleeNumbers { program, numbers: HashMap::default(), order: Vec::new() };
    callees.number(function.name());
    let (mut functions, mut plans) = (Vec::new(), Vec::new());
    while let Some(next) = callees.order.get(plans.len()).cloned() {
        let planned = match kernels {
            Some(kernels) if kernels.may_restructure() => restructure(program, &next),
            _ => PlannedFunction::unchanged(next),
        };
        let planner = Planner::new(&planned.function, kernels, true);
        plans.push(planner.plan_function(&mut |name| callees.number(name)));
        functions.push(planned);
    }
    (functions, plans)
}

struct CalleeNumbers<'a> {
    program: &'a Program,
    numbers: HashMap<Name, usize, FxBuildHasher>,
    order: Vec<Arc<Function>>,
}

impl CalleeNumbers<'_> {
    fn number(&mut self, name: Name) -> Option<usize> {
        if let Some(&number) = self.numbers.get(&name) {
            return Some(number);
        }
        let function = self.program.function(name)?.clone();
        self.numbers.insert(name, self.order.len());
        self.order.push(function);
        Some(self.order.len() - 1)
    }
}

/// Returns the plan of one instruction with its regions, as the only step of a body without parameters. Outside values
/// are in the first slots, in the order of `outside`.
pub(crate) fn plan_inst(function: &Function, inst: InstId, outside: &[ValueId]) -> FunctionPlan {
    Planner::new(function, None, false).plan_fragment(inst, outside)
}

/// A table with an entry per value or body: a vector for whole functions, a map where only few entries are used.
struct SideTable<T> {
    dense: Vec<T>,
    sparse: HashMap<usize, T, FxBuildHasher>,
    default: T,
}

impl<T: Copy> SideTable<T> {
    fn new(dense: usize, default: T) -> Self {
        Self { dense: vec![default; dense], sparse: HashMap::default(), default }
    }

    fn get(&self, index: usize) -> T {
        match self.dense.get(index) {
            Some(&entry) => entry,
            None => self.sparse.get(&index).copied().unwrap_or(self.default),
        }
    }

    fn set(&mut self, index: usize, entry: T) {
        match self.dense.get_mut(index) {
            Some(place) => *place = entry,
            None => {
                self.sparse.insert(index, entry);
            }
        }
    }
}

type CalleeNumberFn<'a> = dyn FnMut(Name) -> Option<usize> + 'a;

struct Planner<'a> {
    f: &'a Function,
    kernels: Option<&'a dyn Kernels>,
    plan: FunctionPlan,
    whole: bool,
    slot: SideTable<u32>,
    // The instruction of the defining body after which a value is not needed.
    last_use: SideTable<InstId>,
    // The last instruction whose regions use a value from outside.
    last_nested_use: SideTable<InstId>,
    // The values to drop after an instruction because its regions use them; its operands are moved out instead.
    captured: HashMap<InstId, Vec<ValueId>, FxBuildHasher>,
    free: Vec<u32>,
    // The steps of bodies that do not run instruction by instruction.
    schedules: HashMap<BodyId, Vec<ScheduledStep>, FxBuildHasher>,
    // The inputs of the groups, by their last instruction.
    group_inputs: HashMap<InstId, Vec<ValueId>, FxBuildHasher>,
}

struct PlanCursor {
    plan_body: usize,
    steps: BodySteps,
    // The instruction whose regions are being planned, its step, and the number of regions that are done.
    open: Option<(InstId, usize, usize)>,
}

/// The steps of a body that are not planned yet.
enum BodySteps {
    InOrder(Option<InstId>),
    Scheduled(std::vec::IntoIter<ScheduledStep>, Option<InstId>),
}

impl BodySteps {
    fn next(&mut self, f: &Function) -> Option<ScheduledStep> {
        match self {
            Self::InOrder(next) => {
                let inst = (*next)?;
                *next = f.next_inst(inst);
                Some(ScheduledStep::Single(inst))
            }
            Self::Scheduled(steps, terminator) => {
                steps.next().or_else(|| terminator.take().map(ScheduledStep::Single))
            }
        }
    }
}

impl<'a> Planner<'a> {
    fn new(function: &'a Function, kernels: Option<&'a dyn Kernels>, whole: bool) -> Self {
        let values = if whole { function.value_capacity() } else { 0 };
        Self {
            f: function,
            kernels,
            plan: FunctionPlan {
                slots: 0,
                bodies: Vec::new(),
                operands: Vec::new(),
                results: Vec::new(),
                frees: Vec::new(),
            },
            whole,
            slot: SideTable::new(values, NO_SLOT),
            last_use: SideTable::new(values, InstId::NONE),
            last_nested_use: SideTable::new(values, InstId::NONE),
            captured: HashMap::default(),
            free: Vec::new(),
            schedules: HashMap::default(),
            group_inputs: HashMap::default(),
        }
    }

    fn plan_function(mut self, callee: &mut CalleeNumberFn<'_>) -> FunctionPlan {
        let order = self.schedule_bodies();
        self.find_last_uses(order.into_iter());
        let root = self.add_body(self.f.body());
        let steps = self.body_steps(self.f.body());
        self.plan_bodies(PlanCursor { plan_body: root, steps, open: None }, callee);
        self.plan
    }

    // Asks the kernels for the schedules of all bodies, and returns the instructions in the order in which they run, each followed by
    // those of its regions. A group is represented by its last instruction.
    fn schedule_bodies(&mut self) -> Vec<InstId> {
        let mut order = Vec::with_capacity(self.f.num_insts());
        let Some(kernels) = self.kernels else {
            order.extend(self.f.walk());
            return order;
        };
        let mut stack = vec![self.schedule_body(kernels, self.f.body())];
        while let Some(insts) = stack.last_mut() {
            let Some(inst) = insts.next() else {
                stack.pop();
                continue;
            };
            order.push(inst);
            for &region in self.f.regions(inst).iter().rev() {
                let insts = self.schedule_body(kernels, region);
                stack.push(insts);
            }
        }
        order
    }

    // Asks the kernels for the schedule of a body and returns its instructions in order.
    fn schedule_body(&mut self, kernels: &dyn Kernels, body: BodyId) -> std::vec::IntoIter<InstId> {
        let Some(steps) = kernels.schedule(self.f, body) else {
            return self.f.body_insts(body).collect::<Vec<_>>().into_iter();
        };
        let mut insts = Vec::new();
        for step in &steps {
            match step {
                ScheduledStep::Single(inst) => insts.push(*inst),
                ScheduledStep::Group(group) => {
                    if let Some(&anchor) = group.insts.last() {
                        insts.push(anchor);
                        self.group_inputs.insert(anchor, group.inputs.clone());
                    }
                }
            }
        }
        insts.extend(self.f.terminator(body));
        self.schedules.insert(body, steps);
        insts.into_iter()
    }

    fn body_steps(&mut self, body: BodyId) -> BodySteps {
        match self.schedules.remove(&body) {
            Some(steps) => BodySteps::Scheduled(steps.into_iter(), self.f.terminator(body)),
            None => BodySteps::InOrder(self.f.first_inst(body)),
        }
    }

    fn plan_fragment(mut self, inst: InstId, outside: &[ValueId]) -> FunctionPlan {
        for &value in outside {
            let slot = self.new_slot();
            self.slot.set(value.index(), slot);
        }
        let regions = self.f.regions(inst).to_vec();
        for &region in &regions {
            self.find_last_uses(self.f.walk_body(region));
        }
        // Outside values are never moved out, because the slots belong to the caller.
        for value in outside {
            self.last_use.set(value.index(), InstId::NONE);
        }
        self.captured.clear();
        self.plan.bodies.push(BodyPlan {
            body: self.f.body(),
            params: SmallVec::new(),
            steps: Vec::new(),
            yields: 0..0,
            simple: None,
        });
        self.step(0, inst, &mut |_| None);
        for region in regions {
            let number = self.add_body(region);
            self.plan.bodies[0].steps[0].regions.push(number as u32);
            let steps = self.body_steps(region);
            let cursor = PlanCursor { plan_body: number, steps, open: None };
            self.plan_bodies(cursor, &mut |_| None);
        }
        self.plan
    }

    fn find_last_uses(&mut self, walk: impl Iterator<Item = InstId>) {
        // For each open body, the instruction whose regions are being visited.
        let bodies = if self.whole { self.f.body_capacity() } else { 0 };
        let mut open = SideTable::new(bodies, InstId::NONE);
        for inst in walk {
            let Some(here) = self.f.body_of(inst) else { continue };
            let group = self.group_inputs.get(&inst);
            for &value in group.map_or(self.f.operands(inst), |inputs| &inputs[..]) {
                let home = match self.f.value_def(value) {
                    ValueDef::Param(body, _) => body,
                    ValueDef::Result(def, _) => self.f.body_of(def).unwrap_or(here),
                };
                if home == here {
                    self.last_use.set(value.index(), inst);
                    continue;
                }
                let around = open.get(home.index());
                if self.last_nested_use.get(value.index()) != around {
                    self.last_nested_use.set(value.index(), around);
                    if !around.is_none() {
                        self.captured.entry(around).or_default().push(value);
                    }
                }
                self.last_use.set(value.index(), around);
            }
            open.set(here.index(), inst);
        }
    }

    fn plan_bodies(&mut self, root: PlanCursor, callee: &mut CalleeNumberFn<'_>) {
        let mut stack = vec![root];
        while let Some(cursor) = stack.last_mut() {
            if let Some((inst, step, done)) = cursor.open {
                if let Some(&region) = self.f.regions(inst).get(done) {
                    cursor.open = Some((inst, step, done + 1));
                    let number = self.add_body(region);
                    let owner = cursor.plan_body;
                    self.plan.bodies[owner].steps[step].regions.push(number as u32);
                    let steps = self.body_steps(region);
                    stack.push(PlanCursor { plan_body: number, steps, open: None });
                    continue;
                }
                cursor.open = None;
                let body = cursor.plan_body;
                let operands = SmallVec::from_slice(self.f.operands(inst));
                self.finish_step(body, step, operands);
                continue;
            }
            let body = cursor.plan_body;
            let inst = match cursor.steps.next(self.f) {
                Some(ScheduledStep::Single(inst)) => inst,
                Some(ScheduledStep::Group(group)) => {
                    self.group_step(body, group);
                    continue;
                }
                None => {
                    self.detect_simple_body(body);
                    stack.pop();
                    continue;
                }
            };
            if self.f.op_def(inst).is_some_and(|def| def.terminator) {
                let yields = self.operands(inst, self.f.operands(inst));
                self.plan.bodies[body].yields = yields;
                let operands: Vec<ValueId> = self.f.operands(inst).to_vec();
                self.release_slots(inst, &operands);
                continue;
            }
            let step = self.step(body, inst, callee);
            cursor.open = Some((inst, step, 0));
        }
    }

    fn add_body(&mut self, body: BodyId) -> usize {
        let params = self.f.body_params(body).to_vec();
        let params = params.into_iter().map(|v| self.slot_for(v)).collect();
        let number = self.plan.bodies.len();
        self.plan.bodies.push(BodyPlan {
            body,
            params,
            steps: Vec::new(),
            yields: 0..0,
            simple: None,
        });
        number
    }

    fn new_slot(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.plan.slots += 1;
            self.plan.slots as u32 - 1
        })
    }

    // Assigns a slot, except to a value without uses.
    fn slot_for(&mut self, value: ValueId) -> u32 {
        if self.last_use.get(value.index()).is_none() {
            return NO_SLOT;
        }
        let slot = self.new_slot();
        self.slot.set(value.index(), slot);
        slot
    }

    // Adds the operands of a step with this anchor.
    fn operands(&mut self, inst: InstId, operands: &[ValueId]) -> Range<u32> {
        let start = self.plan.operands.len();
        for (i, value) in operands.iter().enumerate() {
            let v = value.index();
            let take = self.last_use.get(v) == inst
                && self.last_nested_use.get(v) != inst
                && !operands[i + 1..].iter().take(16).any(|o| o == value)
                && operands.len() - i <= 17;
            self.plan.operands.push(OperandSlot { slot: self.slot.get(v), take });
        }
        start as u32..self.plan.operands.len() as u32
    }

    fn step(&mut self, body: usize, inst: InstId, callee: &mut CalleeNumberFn<'_>) -> usize {
        let operands = self.operands(inst, self.f.operands(inst));
        let start = self.plan.results.len() as u32;
        for value in self.f.inst_results(inst) {
            let slot = self.slot_for(value);
            self.plan.results.push(slot);
        }
        let types = self.f.inst_results(inst).map(|v| self.f.value_type(v).clone()).collect();
        let all = self.f.operands(inst).iter().copied().chain(self.f.inst_results(inst));
        let known = all.map(|v| self.f.value_type(v)).all(has_known_dims);
        let step = PlanStep {
            inst,
            action: self.action(inst, callee),
            operands,
            results: start..self.plan.results.len() as u32,
            frees: 0..0,
            regions: SmallVec::new(),
            known,
            types,
            memory: self.memory(inst),
        };
        self.plan.bodies[body].steps.push(step);
        self.plan.bodies[body].steps.len() - 1
    }

    // Adds the step of a group, whose values that do not leave it have no slots.
    fn group_step(&mut self, body: usize, group: FusedGroup) {
        let Some(&anchor) = group.insts.last() else { return };
        let operands = self.operands(anchor, &group.inputs);
        let start = self.plan.results.len() as u32;
        for &value in &group.outputs {
            let slot = self.slot_for(value);
            self.plan.results.push(slot);
        }
        let step = PlanStep {
            inst: anchor,
            operands,
            results: start..self.plan.results.len() as u32,
            frees: 0..0,
            regions: SmallVec::new(),
            known: true,
            types: group.outputs.iter().map(|&v| self.f.value_type(v).clone()).collect(),
            action: Action::Group { kernel: group.kernel, insts: group.insts.into() },
            memory: None,
        };
        self.plan.bodies[body].steps.push(step);
        let step = self.plan.bodies[body].steps.len() - 1;
        self.finish_step(body, step, group.inputs.into());
    }

    // Completes a step with the slots to clear after it.
    fn finish_step(&mut self, body: usize, step: usize, mut dead: SmallVec<[ValueId; 8]>) {
        let inst = self.plan.bodies[body].steps[step].inst;
        let start = self.plan.frees.len();
        if let Some(captured) = self.captured.remove(&inst) {
            dead.extend(captured);
        }
        let range = self.plan.bodies[body].steps[step].operands.clone();
        let operands = &self.plan.operands[range.start as usize..range.end as usize];
        for &value in &dead {
            let slot = self.slot.get(value.index());
            if self.last_use.get(value.index()) != inst || slot == NO_SLOT {
                continue;
            }
            // Clearing a slot twice is harmless; for short lists it is avoided.
            if operands.len() > 8 || !operands.iter().any(|o| o.take && o.slot == slot) {
                self.plan.frees.push(slot);
            }
        }
        self.plan.bodies[body].steps[step].frees = start as u32..self.plan.frees.len() as u32;
        self.release_slots(inst, &dead);
    }

    // Releases the slots of values whose last use is here.
    fn release_slots(&mut self, inst: InstId, values: &[ValueId]) {
        for value in values {
            let slot = self.slot.get(value.index());
            if self.last_use.get(value.index()) == inst && slot != NO_SLOT {
                self.slot.set(value.index(), NO_SLOT);
                self.free.push(slot);
            }
        }
    }

    fn memory(&self, inst: InstId) -> Option<PredictMemory> {
        let Some(kernels) = self.kernels else { return Some(fixed_order_memory) };
        let key = self.f.op_key(inst);
        let fixed = || kernels.kernel(key).is_none().then_some(fixed_order_memory as PredictMemory);
        kernels.memory(key).or_else(fixed)
    }

    fn action(&self, inst: InstId, callee: &mut CalleeNumberFn<'_>) -> Action {
        let fault = |fault| Action::Fault(Box::new(fault));
        let key = self.f.op_key(inst);
        if let Some(kernel) = self.kernels.and_then(|k| k.kernel(key)) {
            return Action::Kernel(kernel);
        }
        let Some(def) = self.f.op_def(inst) else {
            return fault(Fault::NoEvaluation { op: key.name() });
        };
        match def.control {
            Some(Control::Constant) => match self.f.attrs(inst).first().map(Attr::as_literal) {
                Some(Some(literal)) => match Value::try_from(literal) {
                    Ok(value) => Action::Constant(value),
                    Err(e) => fault(Fault::op(e.to_string())),
                },
                _ => fault(Fault::op("`value` must be a literal")),
            },
            Some(Control::Call) => match self.f.attr(inst, "callee") {
                Some(Attr::Func(name)) => match callee(*name) {
                    Some(number) => Action::Call(number),
                    None => fault(Fault::UnknownFunction(*name)),
                },
                _ => fault(Fault::op("attribute `callee` must be a function")),
            },
            Some(Control::CustomCall) => match self.f.attr(inst, "target") {
                Some(Attr::Str(target)) => match self.kernels.and_then(|k| k.custom_call(target)) {
                    Some(kernel) => Action::Kernel(catching_evaluation(key.name(), kernel)),
                    None => fault(Fault::UnknownCustomCall { target: (**target).into() }),
                },
                _ => fault(Fault::op("attribute `target` must be a string")),
            },
            Some(control) => Action::Control(control),
            None => match def.evaluation() {
                Some(kernel) => Action::Kernel(kernel.clone()),
                None => fault(Fault::NoEvaluation { op: def.name }),
            },
        }
    }

    fn detect_simple_body(&mut self, number: usize) {
        let body = &self.plan.bodies[number];
        let [step] = &body.steps[..] else { return };
        if !matches!(step.action, Action::Kernel(_)) || !step.regions.is_empty() {
            return;
        }
        let results = self.f.inst_results(step.inst);
        if !results.eq(self.f.body_results(body.body).iter().copied()) {
            return;
        }
        let params = self.f.body_params(body.body);
        let operands = self.f.operands(step.inst).iter();
        let operands = operands.map(|v| params.iter().position(|p| p == v)).collect();
        let Some(operands) = operands else { return };
        let simple = SimpleBody { op: self.f.op_key(step.inst), inst: step.inst, operands };
        self.plan.bodies[number].simple = Some(simple);
    }
}

pub(super) fn has_known_dims(ty: &ValueType) -> bool {
    match ty {
        ValueType::Tensor(t) => t.dims.iter().all(|d| d.known().is_some()),
        ValueType::Tuple(elements) => elements.iter().all(has_known_dims),
        ValueType::Token | ValueType::Opaque => true,
    }
}
