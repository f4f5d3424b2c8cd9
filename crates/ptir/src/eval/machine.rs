//! The interpreter of plans. It keeps frames for functions and activations for bodies on explicit stacks, so nesting depth is not limited.

use std::borrow::Cow;
use std::cell::Cell;
use std::sync::PoisonError;
use std::time::Instant;

use sapwood_types::{Progress, ProgressCounter, counted};
use smallvec::SmallVec;

use super::bound_dims::{
    BoundDims, bind_attrs, bind_dim, bind_parameters, check_facts, check_type_and_bind_dims,
    name_places,
};
use super::budget::Budget;
use super::context::{EvalCx, EvalResult, Regions, Results, SimpleRegion};
use super::control::{self, Continuation, ControlAction};
use super::error::{EvalError, Fault};
use super::inlined::PlannedFunction;
use super::plan::{Action, FunctionPlan, NO_SLOT, PlanStep};
use super::tensor::{Tensor, Value};
use crate::attr::Attr;
use crate::func::Function;
use crate::ids::InstId;
use crate::op::{InferCx, infer_checked};
use crate::types::{TensorType, ValueType};

pub(crate) struct Machine<'p> {
    plans: &'p [FunctionPlan],
    functions: SmallVec<[&'p Function; 1]>,
    // The functions with the origins of inlined instructions; empty if nothing was inlined.
    planned: &'p [PlannedFunction],
    budget: &'p Budget,
    threads: usize,
    frames: Vec<CallFrame>,
    activations: Vec<Activation>,
    // The innermost instruction that failed.
    failed_at: Option<(usize, InstId)>,
    // Counts the steps of the body of the first function.
    progress: ProgressCounter,
}

struct CallFrame {
    plan: usize,
    slots: Vec<Option<Value>>,
    dims: BoundDims,
}

struct Activation {
    frame: usize,
    body: usize,
    next: usize,
    then: Continuation,
    // The number of symbols of the frame that were bound when the body was entered. The body's own end with it.
    outer_dims: usize,
}

/// The stack memory of a region that a kernel runs, counted against the memory limit.
const NESTED_BYTES: u64 = 2048;

impl<'p> Machine<'p> {
    pub(crate) fn new(
        plans: &'p [FunctionPlan],
        functions: SmallVec<[&'p Function; 1]>,
        budget: &'p Budget,
        threads: usize,
    ) -> Self {
        Self {
            plans,
            functions,
            planned: &[],
            budget,
            threads,
            frames: Vec::new(),
            activations: Vec::new(),
            failed_at: None,
            progress: ProgressCounter::default(),
        }
    }

    /// Returns the interpreter of the plans of these functions.
    pub(crate) fn of_planned(
        plans: &'p [FunctionPlan],
        planned: &'p [PlannedFunction],
        budget: &'p Budget,
        threads: usize,
    ) -> Self {
        let functions = planned.iter().map(|p| &*p.function).collect();
        Self { planned, ..Self::new(plans, functions, budget, threads) }
    }

    // Returns the function and the instruction of the program that an instruction stands for.
    fn origin(&self, plan: usize, inst: InstId) -> (&'p Function, InstId) {
        self.planned.get(plan).map_or((self.functions[plan], inst), |p| p.origin(inst))
    }

    /// Runs the first function.
    pub(crate) fn run(&mut self, inputs: &[Value]) -> Result<Results, EvalError> {
        self.progress = Progress::counter(self.plans[0].bodies[0].steps.len() as u64);
        let result = self
            .push_frame(0, inputs.iter().cloned().collect(), Continuation::Leave)
            .and_then(|()| self.run_to_depth(0))
            .and_then(|values| self.check_returned(&values).map(|()| values));
        result.map_err(|fault| self.locate_fault(fault))
    }

    /// Runs the only step of a fragment, with these values in the first slots.
    pub(crate) fn run_fragment(&mut self, outside: Vec<Value>) -> EvalResult {
        let plan = &self.plans[0];
        let step = &plan.bodies[0].steps[0];
        let mut slots: Vec<Option<Value>> = outside.into_iter().map(Some).collect();
        slots.resize(plan.slots, None);
        self.frames.push(CallFrame { plan: 0, slots, dims: BoundDims::default() });
        let then = Continuation::Leave;
        self.activations.push(Activation { frame: 0, body: 0, next: 1, then, outer_dims: 0 });
        self.budget.step()?;
        match &step.action {
            Action::Kernel(_) | Action::Group { .. } => self.evaluate(plan, step, 0),
            Action::Control(_) => {
                let args = self.read_operands(plan, step.operands.clone(), 0);
                let dims = &self.frames[0].dims;
                let next =
                    control::start_control(self.functions[0], step, args, dims, self.budget)?;
                match self.apply_action(next, 0, step)? {
                    Some(results) => Ok(results),
                    None => self.run_fragment_to_end(),
                }
            }
            Action::Fault(fault) => Err((**fault).clone()),
            Action::Constant(_) | Action::Call(_) => Err(Fault::op("not a region op")),
        }
    }

    // Runs a fragment until its step is finished, without storing the results.
    fn run_fragment_to_end(&mut self) -> EvalResult {
        loop {
            let (frame, then, values) = self.run_to_body_end(1)?;
            let plan = &self.plans[0];
            let step = &plan.bodies[0].steps[0];
            if self.activations.len() > 1 {
                self.resume(frame, then, values)?;
                continue;
            }
            let next = control::resume_control(then, values, self.budget)?;
            if let Some(results) = self.apply_action(next, frame, step)? {
                return Ok(results);
            }
        }
    }

    fn locate_fault(&self, fault: Fault) -> EvalError {
        let place = self.failed_at.map(|(plan, inst)| self.origin(plan, inst));
        let (f, inst) = place.map_or((self.functions[0], None), |(f, inst)| (f, Some(inst)));
        let text = inst.map(|inst| first_line_abridged(&crate::text::print_inst(f, inst)));
        let span = inst.map_or(f.span(), |inst| f.inst_span(inst));
        EvalError { function: f.name(), instruction: text, span, fault }
    }

    fn push_frame(&mut self, plan: usize, args: Results, then: Continuation) -> Result<(), Fault> {
        let slots = self.plans[plan].slots;
        let mut slots_of_frame = Vec::new();
        slots_of_frame.resize_with(slots, || None);
        self.frames.push(CallFrame { plan, slots: slots_of_frame, dims: BoundDims::default() });
        self.enter_body(self.frames.len() - 1, 0, args, then)
    }

    fn enter_body(
        &mut self,
        frame: usize,
        body: usize,
        args: Results,
        then: Continuation,
    ) -> Result<(), Fault> {
        self.budget.step()?;
        let number = self.frames[frame].plan;
        let plan = &self.plans[number].bodies[body];
        let f = self.functions[number];
        let params = f.body_params(plan.body);
        if params.len() != args.len() {
            return Err(Fault::InputCount { expected: params.len(), found: args.len() });
        }
        let here = &mut self.frames[frame];
        let outer_dims = here.dims.len();
        if f.has_named_dims() {
            let types = params.iter().map(|&param| f.value_type(param));
            bind_parameters(&mut here.dims, types.zip(&args));
        }
        for (index, ((arg, &slot), &param)) in
            args.into_iter().zip(&plan.params).zip(params).enumerate()
        {
            let ty = f.value_type(param);
            let fits = check_type_and_bind_dims(&mut here.dims, ty, &arg).map_err(|fault| {
                let kind = if body == 0 { "input" } else { "parameter" };
                name_places(fault, f, &format!("{kind} {index}"))
            });
            if !fits? {
                let (expected, found) = (Box::new(ty.clone()), Box::new(arg.ty()));
                return Err(Fault::Input { index, expected, found });
            }
            if slot != NO_SLOT {
                here.slots[slot as usize] = Some(arg);
            }
        }
        if body == 0
            && let Some(facts) = f.facts()
        {
            check_facts(facts, &here.dims)?;
        }
        self.activations.push(Activation { frame, body, next: 0, then, outer_dims });
        Ok(())
    }

    // Runs until only `floor` activations remain, and returns the values that the last one yielded.
    fn run_to_depth(&mut self, floor: usize) -> EvalResult {
        loop {
            let (frame, then, values) = self.run_to_body_end(floor + 1)?;
            if self.activations.len() == floor {
                return Ok(values);
            }
            self.resume(frame, then, values)?;
        }
    }

    // Runs until a body ends. `least` is the number of activations that must exist: the outermost activation of a fragment has no steps left.
    fn run_to_body_end(&mut self, least: usize) -> Result<(usize, Continuation, Results), Fault> {
        debug_assert!(self.activations.len() >= least);
        loop {
            let Some(top) = self.activations.last_mut() else {
                return Err(Fault::op("nothing runs"));
            };
            let frame = top.frame;
            let number = self.frames[frame].plan;
            let plan = &self.plans[number];
            let body = &plan.bodies[top.body];
            match body.steps.get(top.next) {
                Some(step) => {
                    top.next += 1;
                    let next = top.next as u64;
                    if self.activations.len() == 1 {
                        self.progress.reach(next - 1);
                    }
                    if let Err(fault) = self.step(plan, step, frame) {
                        self.failed_at.get_or_insert((number, step.inst));
                        return Err(fault);
                    }
                }
                None => {
                    let values =
                        self.read_operands(plan, body.yields.clone(), frame).into_iter().collect();
                    let Some(ended) = self.activations.pop() else {
                        return Err(Fault::op("nothing runs"));
                    };
                    // The results of a function are checked against its symbols after its body.
                    if ended.body != 0 {
                        self.frames[frame].dims.truncate(ended.outer_dims);
                    }
                    return Ok((frame, ended.then, values));
                }
            }
        }
    }

    fn read_operands(
        &mut self,
        plan: &FunctionPlan,
        range: std::ops::Range<u32>,
        frame: usize,
    ) -> SmallVec<[Value; 4]> {
        let slots = &mut self.frames[frame].slots;
        let operands = &plan.operands[range.start as usize..range.end as usize];
        let read = |o: &super::plan::OperandSlot| {
            let slot = &mut slots[o.slot as usize];
            let value = if o.take { slot.take() } else { slot.clone() };
            debug_assert!(value.is_some(), "slot {} is empty", o.slot);
            value.unwrap_or(Value::Token)
        };
        operands.iter().map(read).collect()
    }

    fn step(
        &mut self,
        plan: &'p FunctionPlan,
        step: &'p PlanStep,
        frame: usize,
    ) -> Result<(), Fault> {
        match &step.action {
            Action::Group { insts, .. } => self.budget.count_steps(insts.len() as u64)?,
            _ => self.budget.step()?,
        }
        match &step.action {
            Action::Constant(value) => {
                let slot = plan.results[step.results.start as usize];
                if slot != NO_SLOT {
                    self.frames[frame].slots[slot as usize] = Some(value.clone());
                }
                Ok(())
            }
            Action::Kernel(_) | Action::Group { .. } => {
                let results = self.evaluate(plan, step, frame)?;
                self.store_results(plan, step, frame, results)
            }
            Action::Control(_) => {
                let args = self.read_operands(plan, step.operands.clone(), frame);
                let here = &self.frames[frame];
                let f = self.functions[here.plan];
                let next = control::start_control(f, step, args, &here.dims, self.budget)?;
                match self.apply_action(next, frame, step)? {
                    Some(results) => self.store_results(plan, step, frame, results),
                    None => Ok(()),
                }
            }
            Action::Call(callee) => {
                let args = self.read_operands(plan, step.operands.clone(), frame);
                self.push_frame(*callee, args.into_iter().collect(), Continuation::Return)
            }
            Action::Fault(fault) => Err((**fault).clone()),
        }
    }

    // Applies the next action of control flow: enters a region, or returns the results of the step.
    fn apply_action(
        &mut self,
        next: ControlAction,
        frame: usize,
        step: &'p PlanStep,
    ) -> Result<Option<Results>, Fault> {
        match next {
            ControlAction::Done(results) => Ok(Some(results)),
            ControlAction::Run { region, args, then } => {
                let body = step.regions.get(region).copied();
                let body = body.ok_or_else(|| Fault::op(format!("region {region} is missing")))?;
                self.enter_body(frame, body as usize, args, then)?;
                Ok(None)
            }
        }
    }

    // Continues the enclosing body after a body has ended.
    fn resume(
        &mut self,
        mut frame: usize,
        then: Continuation,
        values: Results,
    ) -> Result<(), Fault> {
        let Some(around) = self.activations.last() else { return Ok(()) };
        let (body, next) = (around.body, around.next);
        let returns = matches!(then, Continuation::Return);
        if returns {
            frame = around.frame;
        }
        let number = self.frames[frame].plan;
        let plan = &self.plans[number];
        let step = &plan.bodies[body].steps[next - 1];
        let returned = if returns { self.check_returned(&values) } else { Ok(()) };
        if returns && returned.is_ok() {
            self.frames.pop();
        }
        let done = returned
            .and_then(|()| control::resume_control(then, values, self.budget))
            .and_then(|next| self.apply_action(next, frame, step))
            .and_then(|done| match done {
                Some(results) => self.store_results(plan, step, frame, results),
                None => Ok(()),
            });
        if done.is_err() {
            self.failed_at.get_or_insert((number, step.inst));
        }
        done
    }

    fn check_returned(&mut self, values: &Results) -> Result<(), Fault> {
        let Some(frame) = self.frames.last_mut() else { return Ok(()) };
        let f = self.functions[frame.plan];
        for (index, (value, ty)) in values.iter().zip(f.result_types()).enumerate() {
            let fits = check_type_and_bind_dims(&mut frame.dims, ty, value)
                .map_err(|fault| name_places(fault, f, &format!("result {index}")));
            if !fits? {
                let (expected, found) = (Box::new(ty.clone()), Box::new(value.ty()));
                return Err(Fault::Result { index, expected, found });
            }
        }
        Ok(())
    }

    fn store_results(
        &mut self,
        plan: &FunctionPlan,
        step: &PlanStep,
        frame: usize,
        results: Results,
    ) -> Result<(), Fault> {
        if results.len() != step.types.len() {
            return Err(Fault::op(format!(
                "the evaluation gives {}, expected {}",
                counted(results.len(), "result"),
                step.types.len()
            )));
        }
        let here = &mut self.frames[frame];
        let slots = &plan.results[step.results.start as usize..step.results.end as usize];
        for (index, mut value) in results.into_iter().enumerate() {
            let ty = &step.types[index];
            let fits = check_type_and_bind_dims(&mut here.dims, ty, &value).map_err(|fault| {
                name_places(fault, self.functions[here.plan], &format!("result {index}"))
            });
            if !fits? {
                let (expected, found) = (Box::new(ty.clone()), Box::new(value.ty()));
                return Err(Fault::Result { index, expected, found });
            }
            if slots[index] != NO_SLOT {
                value.charge(self.budget.meter(), self.budget.pool());
                here.slots[slots[index] as usize] = Some(value);
            }
        }
        for &slot in &plan.frees[step.frees.start as usize..step.frees.end as usize] {
            here.slots[slot as usize] = None;
        }
        Ok(())
    }

    fn evaluate(&mut self, plan: &'p FunctionPlan, step: &'p PlanStep, frame: usize) -> EvalResult {
        let f = self.functions[self.frames[frame].plan];
        let Some(def) = f.op_def(step.inst) else {
            return Err(Fault::NoEvaluation { op: f.op_name(step.inst) });
        };
        let args = self.read_operands(plan, step.operands.clone(), frame);
        let bound_attrs: Vec<Attr>;
        let mut attrs = &f.attrs(step.inst)[..];
        if def.symbolic && attrs.iter().any(Attr::has_symbols) {
            bound_attrs = bind_attrs(&self.frames[frame].dims, attrs)?;
            attrs = &bound_attrs;
        }
        let types = if step.known {
            Cow::Borrowed(&step.types[..])
        } else {
            Cow::Owned(concrete_types(f, step, attrs, &args, &self.frames[frame].dims)?)
        };
        let (budget, threads) = (self.budget, self.threads);
        let started = budget.profile().map(|_| (Instant::now(), stored_bytes(&args)));
        let mut regions = StepRegions { machine: self, plan, step, frame };
        let mut cx = EvalCx {
            def,
            attrs,
            args,
            types,
            budget,
            regions: &mut regions,
            threads,
            granted: Cell::new(0),
        };
        let (results, insts) = match &step.action {
            Action::Kernel(kernel) => (kernel(&mut cx), std::slice::from_ref(&step.inst)),
            Action::Group { kernel, insts } => (kernel.evaluate(&mut cx), &insts[..]),
            _ => return Err(Fault::op("no kernel")),
        };
        if let (Some(profile), Some((started, read)), Ok(results)) =
            (budget.profile(), started, &results)
        {
            let bytes = read.saturating_add(stored_bytes(results));
            let mut profile = profile.lock().unwrap_or_else(PoisonError::into_inner);
            let ops = insts.iter().map(|&inst| f.op_name(inst));
            let origin = self.origin(self.frames[frame].plan, step.inst);
            profile.record(origin, ops, started.elapsed(), bytes);
        }
        results
    }
}

fn stored_bytes(values: &[Value]) -> u64 {
    values.iter().filter_map(Value::as_tensor).map(Tensor::stored_bytes).sum()
}

struct StepRegions<'m, 'p> {
    machine: &'m mut Machine<'p>,
    plan: &'p FunctionPlan,
    step: &'p PlanStep,
    frame: usize,
}

impl Regions for StepRegions<'_, '_> {
    fn call(&mut self, region: usize, args: &mut dyn Iterator<Item = Value>) -> EvalResult {
        let body = self.step.regions.get(region).copied();
        let body = body.ok_or_else(|| Fault::op(format!("region {region} is missing")))?;
        let machine = &mut *self.machine;
        machine.budget.reserve(NESTED_BYTES)?;
        let floor = machine.activations.len();
        let result = machine
            .enter_body(self.frame, body as usize, args.collect(), Continuation::Leave)
            .and_then(|()| stacker::maybe_grow(64 << 10, 1 << 20, || machine.run_to_depth(floor)));
        machine.budget.release(NESTED_BYTES);
        result
    }

    fn simple(&self, region: usize) -> Option<SimpleRegion<'_>> {
        let f = self.machine.functions[self.machine.frames[self.frame].plan];
        self.plan.simple(f, *self.step.regions.get(region)?)
    }

    fn yielded_parameter(&self, region: usize) -> Option<usize> {
        let f = self.machine.functions[self.machine.frames[self.frame].plan];
        let plan = &self.plan.bodies[*self.step.regions.get(region)? as usize];
        let &[yielded] = f.body_results(plan.body) else { return None };
        f.body_params(plan.body).iter().position(|&p| p == yielded && plan.steps.is_empty())
    }

    fn count(&self) -> usize {
        self.step.regions.len()
    }
}

/// The regions of an instruction that has none.
pub(crate) struct NoRegions;

impl Regions for NoRegions {
    fn call(&mut self, region: usize, _: &mut dyn Iterator<Item = Value>) -> EvalResult {
        Err(Fault::op(format!("region {region} is missing")))
    }

    fn simple(&self, _: usize) -> Option<SimpleRegion<'_>> {
        None
    }

    fn yielded_parameter(&self, _: usize) -> Option<usize> {
        None
    }

    fn count(&self) -> usize {
        0
    }
}

// Returns the result types with all dims known now, by inference on the actual operand types.
fn concrete_types(
    f: &Function,
    step: &PlanStep,
    attrs: &[Attr],
    args: &[Value],
    dims: &BoundDims,
) -> Result<Vec<ValueType>, Fault> {
    let mut stated: Vec<ValueType> =
        step.types.iter().map(|ty| ty.map_dims(&mut |d| bind_dim(dims, d))).collect();
    if let ([ValueType::Tensor(ty)], Some(Value::Tensor(input))) = (&mut stated[..], args.first()) {
        super::kernels::shape::fill_unknown_dims(f, step.inst, input, ty);
    }
    let Some(def) = f.op_def(step.inst) else { return Ok(stated) };
    let types: Vec<ValueType> = args.iter().map(Value::ty).collect();
    let inferred = infer_checked(&InferCx {
        def,
        attrs,
        operands: types.iter().collect(),
        regions: f.regions(step.inst).iter().map(|&b| f.region_signature(b)).collect(),
        declared_types: stated.iter().collect(),
    })?;
    let join = |(index, (found, expected)): (usize, (ValueType, ValueType))| {
        meet_types(&found, &expected).ok_or_else(|| Fault::Result {
            index,
            expected: Box::new(expected),
            found: Box::new(found),
        })
    };
    inferred.into_iter().zip(stated).enumerate().map(join).collect()
}

fn meet_types(a: &ValueType, b: &ValueType) -> Option<ValueType> {
    match (a, b) {
        (ValueType::Tensor(x), ValueType::Tensor(y)) => {
            if x.dtype != y.dtype || x.rank() != y.rank() {
                return None;
            }
            let dims = x.dims.iter().zip(&y.dims).map(|(p, q)| p.unify(*q));
            let dims = dims.collect::<Option<_>>()?;
            Some(ValueType::Tensor(TensorType { dtype: x.dtype, dims }))
        }
        (ValueType::Tuple(x), ValueType::Tuple(y)) if x.len() == y.len() => {
            let elements = x.iter().zip(y.iter()).map(|(p, q)| meet_types(p, q));
            Some(ValueType::Tuple(elements.collect::<Option<_>>()?))
        }
        (ValueType::Token, ValueType::Token) => Some(ValueType::Token),
        // A value of any type may be opaque.
        (ValueType::Opaque, other) | (other, ValueType::Opaque) => Some(other.clone()),
        _ => None,
    }
}

fn first_line_abridged(text: &str) -> Box<str> {
    let line = text.lines().next().unwrap_or_default().trim();
    match line.char_indices().nth(160) {
        Some((end, _)) => format!("{}…", &line[..end]).into(),
        None => line.into(),
    }
}
