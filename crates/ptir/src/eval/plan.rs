//! Functions made ready to run: per body a flat list of steps whose operands are slots of the frame. Values are moved
//! out of their slot by their last use, or dropped after it, and slots are used again.

use std::ops::Range;
use std::sync::Arc;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use super::context::{Evaluate, SimpleRegion};
use super::error::Fault;
use super::options::Kernels;
use super::tensor::Value;
use crate::attr::Attr;
use crate::func::{Function, ValueDef};
use crate::ids::{BodyId, InstId, ValueId};
use crate::name::Name;
use crate::op::{Control, OpKey};
use crate::program::Program;
use crate::types::ValueType;

pub(crate) const NO_SLOT: u32 = u32::MAX;

/// An operand: a slot, and whether this is the last use.
#[derive(Clone, Copy)]
pub(crate) struct Operand {
    pub(crate) slot: u32,
    pub(crate) take: bool,
}

/// One function, ready to run.
pub(crate) struct Plan {
    pub(crate) slots: usize,
    // The first is the function's own.
    pub(crate) bodies: Vec<BodyPlan>,
    pub(crate) operands: Vec<Operand>,
    pub(crate) results: Vec<u32>,
    pub(crate) frees: Vec<u32>,
}

pub(crate) struct BodyPlan {
    pub(crate) body: BodyId,
    pub(crate) params: SmallVec<[u32; 2]>,
    pub(crate) steps: Vec<Step>,
    pub(crate) yields: Range<u32>,
    pub(crate) simple: Option<Simple>,
}

pub(crate) struct Simple {
    op: OpKey,
    inst: InstId,
    operands: SmallVec<[usize; 3]>,
}

pub(crate) struct Step {
    pub(crate) inst: InstId,
    pub(crate) action: Action,
    pub(crate) operands: Range<u32>,
    pub(crate) results: Range<u32>,
    pub(crate) frees: Range<u32>,
    pub(crate) regions: SmallVec<[u32; 2]>,
    // Whether all types of operands and results are known in full.
    pub(crate) known: bool,
    pub(crate) types: SmallVec<[ValueType; 1]>,
}

pub(crate) enum Action {
    Kernel(Arc<Evaluate>),
    Constant(Value),
    Control(Control),
    Call(usize),
    Fault(Box<Fault>),
}

impl Plan {
    pub(crate) fn simple<'a>(&'a self, f: &'a Function, body: u32) -> Option<SimpleRegion<'a>> {
        let simple = self.bodies[body as usize].simple.as_ref()?;
        Some(SimpleRegion {
            op: simple.op,
            attrs: f.attrs(simple.inst),
            operands: &simple.operands,
        })
    }
}

/// A function and all it calls, with their plans; its own is the first.
pub(crate) fn plan_program(
    program: &Program,
    function: &Arc<Function>,
    kernels: Option<&dyn Kernels>,
) -> (Vec<Arc<Function>>, Vec<Plan>) {
    let mut callees = Callees { program, numbers: HashMap::default(), order: Vec::new() };
    callees.number(function.name());
    let mut plans = Vec::new();
    while let Some(next) = callees.order.get(plans.len()).cloned() {
        plans.push(Planner::new(&next, kernels, true).function(&mut |name| callees.number(name)));
    }
    (callees.order, plans)
}

struct Callees<'a> {
    program: &'a Program,
    numbers: HashMap<Name, usize, FxBuildHasher>,
    order: Vec<Arc<Function>>,
}

impl Callees<'_> {
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

/// The plan of one instruction with its regions, as the only step of a body without parameters. Values from outside
/// are in the first slots, in the order of `outside`.
pub(crate) fn plan_inst(function: &Function, inst: InstId, outside: &[ValueId]) -> Plan {
    Planner::new(function, None, false).fragment(inst, outside)
}

/// Something per value or body: a list for whole functions, a table where only few of them matter.
struct Side<T> {
    dense: Vec<T>,
    sparse: HashMap<usize, T, FxBuildHasher>,
    default: T,
}

impl<T: Copy> Side<T> {
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

type Callee<'a> = dyn FnMut(Name) -> Option<usize> + 'a;

struct Planner<'a> {
    f: &'a Function,
    kernels: Option<&'a dyn Kernels>,
    plan: Plan,
    whole: bool,
    slot: Side<u32>,
    // The instruction, of the body that defines a value, after which the value is not needed.
    last: Side<InstId>,
    // The instruction whose regions use a value from outside, last.
    nested: Side<InstId>,
    // What is dropped after an instruction: its own operands are moved out, these are used by its regions.
    captured: HashMap<InstId, Vec<ValueId>, FxBuildHasher>,
    free: Vec<u32>,
}

struct Cursor {
    plan_body: usize,
    next: Option<InstId>,
    // The instruction whose regions are being planned, its step, and how many of them are done.
    open: Option<(InstId, usize, usize)>,
}

impl<'a> Planner<'a> {
    fn new(function: &'a Function, kernels: Option<&'a dyn Kernels>, whole: bool) -> Self {
        let values = if whole { function.value_capacity() } else { 0 };
        Self {
            f: function,
            kernels,
            plan: Plan {
                slots: 0,
                bodies: Vec::new(),
                operands: Vec::new(),
                results: Vec::new(),
                frees: Vec::new(),
            },
            whole,
            slot: Side::new(values, NO_SLOT),
            last: Side::new(values, InstId::NONE),
            nested: Side::new(values, InstId::NONE),
            captured: HashMap::default(),
            free: Vec::new(),
        }
    }

    fn function(mut self, callee: &mut Callee<'_>) -> Plan {
        self.find_last_uses(self.f.walk());
        let root = self.open_body(self.f.body());
        self.bodies(
            Cursor { plan_body: root, next: self.f.first_inst(self.f.body()), open: None },
            callee,
        );
        self.plan
    }

    fn fragment(mut self, inst: InstId, outside: &[ValueId]) -> Plan {
        for &value in outside {
            let slot = self.new_slot();
            self.slot.set(value.index(), slot);
        }
        let regions = self.f.regions(inst).to_vec();
        for &region in &regions {
            self.find_last_uses(self.f.walk_body(region));
        }
        // What comes from outside is never moved out: the slots belong to the caller.
        for value in outside {
            self.last.set(value.index(), InstId::NONE);
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
            let number = self.open_body(region);
            self.plan.bodies[0].steps[0].regions.push(number as u32);
            let cursor = Cursor { plan_body: number, next: self.f.first_inst(region), open: None };
            self.bodies(cursor, &mut |_| None);
        }
        self.plan
    }

    fn find_last_uses(&mut self, walk: impl Iterator<Item = InstId>) {
        // For each body that is open, the instruction whose regions we are in.
        let bodies = if self.whole { self.f.body_capacity() } else { 0 };
        let mut open = Side::new(bodies, InstId::NONE);
        for inst in walk {
            let Some(here) = self.f.body_of(inst) else { continue };
            for &value in self.f.operands(inst) {
                let home = match self.f.value_def(value) {
                    ValueDef::Param(body, _) => body,
                    ValueDef::Result(def, _) => self.f.body_of(def).unwrap_or(here),
                };
                if home == here {
                    self.last.set(value.index(), inst);
                    continue;
                }
                let around = open.get(home.index());
                if self.nested.get(value.index()) != around {
                    self.nested.set(value.index(), around);
                    if !around.is_none() {
                        self.captured.entry(around).or_default().push(value);
                    }
                }
                self.last.set(value.index(), around);
            }
            open.set(here.index(), inst);
        }
    }

    fn bodies(&mut self, root: Cursor, callee: &mut Callee<'_>) {
        let mut stack = vec![root];
        while let Some(cursor) = stack.last_mut() {
            if let Some((inst, step, done)) = cursor.open {
                if let Some(&region) = self.f.regions(inst).get(done) {
                    cursor.open = Some((inst, step, done + 1));
                    let number = self.open_body(region);
                    let owner = cursor.plan_body;
                    self.plan.bodies[owner].steps[step].regions.push(number as u32);
                    let next = self.f.first_inst(region);
                    stack.push(Cursor { plan_body: number, next, open: None });
                    continue;
                }
                cursor.open = None;
                let body = cursor.plan_body;
                self.close_step(body, step);
                continue;
            }
            let Some(inst) = cursor.next else {
                let body = cursor.plan_body;
                self.find_simple(body);
                stack.pop();
                continue;
            };
            let body = cursor.plan_body;
            cursor.next = self.f.next_inst(inst);
            if self.f.op_def(inst).is_some_and(|def| def.terminator) {
                let yields = self.operands(inst, true);
                self.plan.bodies[body].yields = yields;
                let operands: Vec<ValueId> = self.f.operands(inst).to_vec();
                self.release(inst, &operands);
                continue;
            }
            let step = self.step(body, inst, callee);
            cursor.open = Some((inst, step, 0));
        }
    }

    fn open_body(&mut self, body: BodyId) -> usize {
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

    // No slot for a value that nobody uses.
    fn slot_for(&mut self, value: ValueId) -> u32 {
        if self.last.get(value.index()).is_none() {
            return NO_SLOT;
        }
        let slot = self.new_slot();
        self.slot.set(value.index(), slot);
        slot
    }

    fn operands(&mut self, inst: InstId, may_take: bool) -> Range<u32> {
        let start = self.plan.operands.len();
        let operands = self.f.operands(inst);
        for (i, value) in operands.iter().enumerate() {
            let v = value.index();
            let take = may_take
                && self.last.get(v) == inst
                && self.nested.get(v) != inst
                && !operands[i + 1..].iter().take(16).any(|o| o == value)
                && operands.len() - i <= 17;
            self.plan.operands.push(Operand { slot: self.slot.get(v), take });
        }
        start as u32..self.plan.operands.len() as u32
    }

    fn step(&mut self, body: usize, inst: InstId, callee: &mut Callee<'_>) -> usize {
        let operands = self.operands(inst, true);
        let start = self.plan.results.len() as u32;
        for value in self.f.inst_results(inst) {
            let slot = self.slot_for(value);
            self.plan.results.push(slot);
        }
        let types = self.f.inst_results(inst).map(|v| self.f.value_type(v).clone()).collect();
        let all = self.f.operands(inst).iter().copied().chain(self.f.inst_results(inst));
        let known = all.map(|v| self.f.value_type(v)).all(is_known);
        let step = Step {
            inst,
            action: self.action(inst, callee),
            operands,
            results: start..self.plan.results.len() as u32,
            frees: 0..0,
            regions: SmallVec::new(),
            known,
            types,
        };
        self.plan.bodies[body].steps.push(step);
        self.plan.bodies[body].steps.len() - 1
    }

    fn close_step(&mut self, body: usize, step: usize) {
        let inst = self.plan.bodies[body].steps[step].inst;
        let start = self.plan.frees.len();
        let mut dead: SmallVec<[ValueId; 8]> = SmallVec::from_slice(self.f.operands(inst));
        if let Some(captured) = self.captured.remove(&inst) {
            dead.extend(captured);
        }
        let range = self.plan.bodies[body].steps[step].operands.clone();
        let operands = &self.plan.operands[range.start as usize..range.end as usize];
        for &value in &dead {
            let slot = self.slot.get(value.index());
            if self.last.get(value.index()) != inst || slot == NO_SLOT {
                continue;
            }
            // Emptying a slot twice does no harm; in short lists it is avoided.
            if operands.len() > 8 || !operands.iter().any(|o| o.take && o.slot == slot) {
                self.plan.frees.push(slot);
            }
        }
        self.plan.bodies[body].steps[step].frees = start as u32..self.plan.frees.len() as u32;
        self.release(inst, &dead);
    }

    // Slots of values that end here may be used again.
    fn release(&mut self, inst: InstId, values: &[ValueId]) {
        for value in values {
            let slot = self.slot.get(value.index());
            if self.last.get(value.index()) == inst && slot != NO_SLOT {
                self.slot.set(value.index(), NO_SLOT);
                self.free.push(slot);
            }
        }
    }

    fn action(&self, inst: InstId, callee: &mut Callee<'_>) -> Action {
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
                    None => fault(Fault::NoFunction(*name)),
                },
                _ => fault(Fault::op("attribute `callee` must be a function")),
            },
            Some(Control::CustomCall) => match self.f.attr(inst, "target") {
                Some(Attr::Str(target)) => match self.kernels.and_then(|k| k.custom_call(target)) {
                    Some(kernel) => Action::Kernel(kernel),
                    None => fault(Fault::NoTarget { target: (**target).into() }),
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

    fn find_simple(&mut self, number: usize) {
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
        let simple = Simple { op: self.f.op_key(step.inst), inst: step.inst, operands };
        self.plan.bodies[number].simple = Some(simple);
    }
}

fn is_known(ty: &ValueType) -> bool {
    match ty {
        ValueType::Tensor(t) => t.dims.iter().all(|d| d.known().is_some()),
        ValueType::Tuple(elements) => elements.iter().all(is_known),
        ValueType::Token => true,
    }
}
