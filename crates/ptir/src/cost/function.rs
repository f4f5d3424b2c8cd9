//! The cost of instructions, functions and programs.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use rustc_hash::FxBuildHasher;
use sapwood_types::catch_panic;
use smallvec::SmallVec;

use super::Traffic;
use super::amount::{Amount, AmountSum};
use super::peak_memory::peak_memory;
use super::trip_count::trip_count;
use crate::attr::Attr;
use crate::dims::SymbolBindings;
use crate::func::Function;
use crate::ids::{BodyId, InstId, ValueId};
use crate::name::Name;
use crate::op::{Control, InferCx, OpDef, OpParts, Registry};
use crate::ops::Call;
use crate::program::Program;
use crate::types::{Dim, ValueType};

/// The operations and the bytes moved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cost {
    /// Operations on elements.
    pub flops: Amount,
    /// Bytes read and written.
    pub bytes: Amount,
}

impl Cost {
    /// No cost.
    pub const ZERO: Self = Self { flops: Amount::ZERO, bytes: Amount::ZERO };

    fn times(self, repetitions: Amount) -> Self {
        Self { flops: self.flops.times(repetitions), bytes: self.bytes.times(repetitions) }
    }
}

/// The cost of all instructions of a family of ops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FamilyCost {
    /// The family, as in the reference page of ops.
    pub family: &'static str,
    /// The number of instructions, those of called functions included. Each counts once, however often it runs.
    pub ops: usize,
    /// Their cost.
    pub cost: Cost,
}

/// The cost of one instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InstCost {
    /// The instruction.
    pub inst: InstId,
    /// The number of times it runs in one run of its function.
    pub runs: Amount,
    /// The cost of all these runs. It contains the costs of its regions and of the function that it calls.
    pub cost: Cost,
}

/// The cost of one run of a function, with those of the functions that it calls.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionCost {
    /// The name of the function.
    pub name: Name,
    /// Operations on elements.
    pub flops: Amount,
    /// Bytes read and written.
    pub bytes: Amount,
    /// The largest number of bytes that are alive at the same time.
    pub peak_memory: Amount,
    /// The costs by family of ops, in the order of their names.
    pub families: Vec<FamilyCost>,
    /// The number of instructions whose cost is not known. They are not part of the sums.
    pub not_counted: usize,
    /// The names of their ops, in alphabetical order.
    pub ops_not_counted: Vec<&'static str>,
    /// The number of loops whose number of iterations is not known. They count as one iteration.
    pub open_loops: usize,
}

/// The cost of one run of each public function of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProgramCost {
    /// Operations on elements, of all functions together.
    pub flops: Amount,
    /// Bytes read and written, by all functions together.
    pub bytes: Amount,
    /// The largest peak memory of a function.
    pub peak_memory: Amount,
    /// The names of the ops whose cost is not known, in alphabetical order. They are not part of the sums.
    pub ops_not_counted: Vec<&'static str>,
}

/// Returns the cost of the public functions of a program, or of all functions if none is public.
#[must_use]
pub fn of_public_functions(program: &Program) -> ProgramCost {
    let has_public = program.functions().iter().any(|function| !function.is_private());
    let costs = of_program(program);
    let shown = program.functions().iter().zip(&costs);
    let shown = shown.filter(|(function, _)| !has_public || !function.is_private());
    let (mut flops, mut bytes, mut peak_memory) = (Amount::ZERO, Amount::ZERO, Amount::ZERO);
    let mut not_counted = BTreeSet::new();
    for (_, cost) in shown {
        flops = flops.plus(cost.flops);
        bytes = bytes.plus(cost.bytes);
        peak_memory = peak_memory.max(cost.peak_memory);
        not_counted.extend(&cost.ops_not_counted);
    }
    ProgramCost { flops, bytes, peak_memory, ops_not_counted: not_counted.into_iter().collect() }
}

/// The costs of a program, computed once.
pub struct CostAnalysis<'a> {
    program: &'a Program,
    costs: CalleeCosts,
}

impl<'a> CostAnalysis<'a> {
    /// Computes the costs of all functions.
    #[must_use]
    pub fn new(program: &'a Program) -> Self {
        let mut costs = CalleeCosts::default();
        for function in program.functions() {
            costs.compute(program, function);
        }
        Self { program, costs }
    }

    /// Returns the costs of the functions, in their order.
    #[must_use]
    pub fn functions(&self) -> Vec<FunctionCost> {
        let report = |function: &Arc<Function>| {
            let cost = &self.costs.known[&function.name()];
            cost.tally.report(function.name(), cost.peak_memory)
        };
        self.program.functions().iter().map(report).collect()
    }

    /// Returns the costs of the instructions of a function, without terminators and constants, in the order of the text.
    #[must_use]
    pub fn insts(&self, function: &Function) -> Vec<InstCost> {
        let tallies = tally_bodies(function, &self.costs);
        let mut runs = vec![Amount::ZERO; function.body_capacity()];
        runs[function.body().index()] = Amount::ONE;
        let mut found = Vec::new();
        for inst in function.walk() {
            let Some(body) = function.body_of(inst) else { continue };
            let count = runs[body.index()];
            let repetitions = region_repetitions(function, inst);
            for (&region, times) in function.regions(inst).iter().zip(repetitions) {
                runs[region.index()] = count.times(times);
            }
            if is_free(function, inst) {
                continue;
            }
            let mut tally = Tally::default();
            tally.add_inst(function, inst, &tallies, &self.costs);
            found.push(InstCost { inst, runs: count, cost: tally.cost().times(count) });
        }
        found
    }
}

/// Returns the costs of the functions of a program, in their order.
#[must_use]
pub fn of_program(program: &Program) -> Vec<FunctionCost> {
    CostAnalysis::new(program).functions()
}

/// Returns the cost of one run of an instruction with its regions. Calls, loops with an open number of iterations, and ops of unknown cost count as in
/// [`FunctionCost`], but the callee of a call counts nothing.
#[must_use]
pub fn of_inst(function: &Function, inst: InstId) -> Cost {
    if function.regions(inst).is_empty()
        && function.op_def(inst).is_some_and(|def| def.control.is_none())
    {
        return own_cost(function, inst, &[]);
    }
    let callees = CalleeCosts::default();
    let nested: Vec<InstId> =
        function.regions(inst).iter().flat_map(|&body| function.walk_body(body)).collect();
    let mut tallies: HashMap<BodyId, Tally, FxBuildHasher> = HashMap::default();
    // In the reversed order of the text, the instructions of a region come before its owner.
    for &inner in nested.iter().rev() {
        let Some(body) = function.body_of(inner) else { continue };
        let mut tally = tallies.remove(&body).unwrap_or_default();
        tally.add_inst(function, inner, &tallies, &callees);
        tallies.insert(body, tally);
    }
    let mut whole = Tally::default();
    whole.add_inst(function, inst, &tallies, &callees);
    whole.cost()
}

/// Returns the cost of an op without regions that is not part of a function yet. `type_of` returns the types of its operands. The cost is not known if the registry
/// lacks the op, or if it is a call or a loop.
pub fn of_parts<'a>(
    registry: &Registry,
    parts: &'a OpParts,
    type_of: impl Fn(ValueId) -> Option<&'a ValueType>,
) -> Cost {
    let unknown = Cost { flops: Amount::Unknown, bytes: Amount::Unknown };
    let operands: Option<SmallVec<_>> =
        parts.operands.iter().map(|&value| type_of(value)).collect();
    match (registry.get(parts.key), operands) {
        (Some(def), Some(operands)) if def.control.is_none() => {
            cost_of_types(def, &parts.attrs, operands, parts.result_types.iter().collect(), &[])
        }
        _ => unknown,
    }
}

fn is_free(function: &Function, inst: InstId) -> bool {
    function
        .op_def(inst)
        .is_some_and(|def| def.terminator || def.control == Some(Control::Constant))
}

/// The sums over the instructions of a body.
#[derive(Clone, Default, Debug)]
struct Tally {
    flops: AmountSum,
    bytes: AmountSum,
    families: BTreeMap<&'static str, (usize, AmountSum, AmountSum)>,
    // The number of instructions whose cost is not known, by op.
    not_counted: BTreeMap<&'static str, usize>,
    open_loops: usize,
}

impl Tally {
    fn cost(&self) -> Cost {
        Cost { flops: self.flops.total(), bytes: self.bytes.total() }
    }

    fn report(&self, name: Name, peak_memory: Amount) -> FunctionCost {
        let families = self.families.iter().map(|(&family, (ops, flops, bytes))| FamilyCost {
            family,
            ops: *ops,
            cost: Cost { flops: flops.total(), bytes: bytes.total() },
        });
        FunctionCost {
            name,
            flops: self.flops.total(),
            bytes: self.bytes.total(),
            peak_memory,
            families: families.collect(),
            not_counted: self.not_counted.values().sum(),
            ops_not_counted: self.not_counted.keys().copied().collect(),
            open_loops: self.open_loops,
        }
    }

    // Adds the sums of a region or a callee that runs some number of times.
    fn add_repeated(&mut self, other: &Self, repetitions: Amount) {
        self.flops.add_repeated(&other.flops, repetitions);
        self.bytes.add_repeated(&other.bytes, repetitions);
        for (family, (ops, flops, bytes)) in &other.families {
            let row = self.families.entry(family).or_default();
            row.0 += ops;
            row.1.add_repeated(flops, repetitions);
            row.2.add_repeated(bytes, repetitions);
        }
        for (op, count) in &other.not_counted {
            *self.not_counted.entry(op).or_default() += count;
        }
        self.open_loops += other.open_loops;
    }

    fn add_inst(
        &mut self,
        function: &Function,
        inst: InstId,
        bodies: &dyn BodyTallies,
        callees: &CalleeCosts,
    ) {
        let regions = function.regions(inst);
        let (family, control) =
            function.op_def(inst).map_or(("unregistered", None), |def| (def.family, def.control));
        let mut own = Cost::ZERO;
        match control {
            Some(Control::Constant) => {}
            Some(Control::Cond | Control::Case) => {
                if let Some(branch) = most_expensive(regions, bodies) {
                    self.add_repeated(&bodies.tally(branch), Amount::ONE);
                }
            }
            Some(Control::While | Control::Scan) => {
                let mut count = trip_count(function, inst);
                if count == Amount::Unknown {
                    self.open_loops += 1;
                    count = Amount::ONE;
                }
                if control == Some(Control::Scan) {
                    own.bytes = slice_traffic(function, inst);
                }
                // The condition of a `while` runs once more than its body.
                for (position, region) in regions.iter().enumerate() {
                    let is_condition = control == Some(Control::While) && position == 0;
                    let extra = if is_condition { Amount::ONE } else { Amount::ZERO };
                    self.add_repeated(&bodies.tally(*region), count.plus(extra));
                }
            }
            Some(Control::Call) => {
                match callee_of(function, inst).and_then(|name| callees.known.get(&name)) {
                    Some(callee) => self.add_call(function, inst, callee),
                    None => self.count_unknown(function, inst),
                }
            }
            Some(Control::CustomCall) => self.count_unknown(function, inst),
            None => {
                let flops: SmallVec<[Amount; 2]> =
                    regions.iter().map(|&body| bodies.tally(body).flops.total()).collect();
                own = own_cost(function, inst, &flops);
                if own.flops == Amount::Unknown || own.bytes == Amount::Unknown {
                    self.count_unknown(function, inst);
                    own = Cost::ZERO;
                }
            }
        }
        if is_free(function, inst) {
            return;
        }
        self.flops.add(own.flops);
        self.bytes.add(own.bytes);
        let row = self.families.entry(family).or_default();
        row.0 += 1;
        row.1.add(own.flops);
        row.2.add(own.bytes);
    }

    fn count_unknown(&mut self, function: &Function, inst: InstId) {
        *self.not_counted.entry(function.op_name(inst)).or_default() += 1;
    }

    // Adds the cost of a callee, with the dims of the caller in place of its symbols.
    fn add_call(&mut self, function: &Function, inst: InstId, callee: &CalleeCost) {
        if callee.params.is_empty() {
            return self.add_repeated(&callee.tally, Amount::ONE);
        }
        let args = function.operands(inst).iter().map(|&value| function.value_type(value));
        let (bindings, _) = SymbolBindings::of_call(callee.params.iter().zip(args));
        let in_caller = |sum: &AmountSum| {
            let mut result = AmountSum::default();
            result.add(
                sum.total().substitute(&mut |name| bindings.get(name).unwrap_or(Dim::Unknown)),
            );
            result
        };
        let tally = &callee.tally;
        let families = tally.families.iter();
        self.add_repeated(
            &Self {
                flops: in_caller(&tally.flops),
                bytes: in_caller(&tally.bytes),
                families: families
                    .map(|(family, (ops, f, b))| (*family, (*ops, in_caller(f), in_caller(b))))
                    .collect(),
                not_counted: tally.not_counted.clone(),
                open_loops: tally.open_loops,
            },
            Amount::ONE,
        );
    }
}

/// The sums of bodies: of all bodies of a function, or of those inside one instruction.
trait BodyTallies {
    fn tally(&self, body: BodyId) -> Cow<'_, Tally>;
}

impl BodyTallies for Vec<Tally> {
    fn tally(&self, body: BodyId) -> Cow<'_, Tally> {
        Cow::Borrowed(&self[body.index()])
    }
}

impl BodyTallies for HashMap<BodyId, Tally, FxBuildHasher> {
    fn tally(&self, body: BodyId) -> Cow<'_, Tally> {
        self.get(&body).map_or_else(|| Cow::Owned(Tally::default()), Cow::Borrowed)
    }
}

/// The cost of a function that others call.
struct CalleeCost {
    tally: Tally,
    peak_memory: Amount,
    // The peak memory without the parameters.
    working_memory: Amount,
    // The types of its parameters, if they have symbols.
    params: Vec<ValueType>,
}

/// The costs of functions that were computed before.
#[derive(Default)]
pub(super) struct CalleeCosts {
    known: HashMap<Name, CalleeCost, FxBuildHasher>,
}

impl CalleeCosts {
    /// Returns the memory that a callee needs besides its parameters, which the caller holds, in the dims of the caller.
    pub(super) fn working_memory(&self, function: &Function, inst: InstId) -> Amount {
        let Some(callee) = callee_of(function, inst).and_then(|name| self.known.get(&name)) else {
            return Amount::ZERO;
        };
        let args = function.operands(inst).iter().map(|&value| function.value_type(value));
        let (bindings, _) = SymbolBindings::of_call(callee.params.iter().zip(args));
        callee.working_memory.substitute(&mut |name| bindings.get(name).unwrap_or(Dim::Unknown))
    }

    // Computes the costs of a function and of all functions that it calls, callees first. A recursive call has no cost.
    fn compute(&mut self, program: &Program, function: &Arc<Function>) {
        let mut pending = vec![(Arc::clone(function), false)];
        let mut entered: HashSet<Name, FxBuildHasher> = HashSet::default();
        while let Some((function, has_callees)) = pending.pop() {
            let name = function.name();
            if has_callees {
                let cost = self.cost(&function);
                self.known.insert(name, cost);
            } else if !self.known.contains_key(&name) && entered.insert(name) {
                pending.push((Arc::clone(&function), true));
                let callees = function.insts_unordered().filter_map(|i| callee_of(&function, i));
                pending.extend(
                    callees.filter_map(|c| program.function(c)).map(|f| (Arc::clone(f), false)),
                );
            }
        }
    }

    fn cost(&self, function: &Function) -> CalleeCost {
        let mut bodies = tally_bodies(function, self);
        let types = || function.params().iter().map(|&value| function.value_type(value));
        let mut symbolic = false;
        types().for_each(|ty| ty.for_each_symbol(&mut |_| symbolic = true));
        let peak_memory = peak_memory(function, self);
        let held = types().fold(Amount::ZERO, |sum, ty| sum.plus(Amount::bytes(ty)));
        CalleeCost {
            working_memory: peak_memory.minus(held),
            tally: std::mem::take(&mut bodies[function.body().index()]),
            peak_memory,
            params: if symbolic { types().cloned().collect() } else { Vec::new() },
        }
    }
}

fn callee_of(function: &Function, inst: InstId) -> Option<Name> {
    match function.attr(inst, "callee")? {
        Attr::Func(name) if function.is::<Call>(inst) => Some(*name),
        _ => None,
    }
}

// Returns the sums of each body, in one walk from the innermost regions outwards.
fn tally_bodies(function: &Function, callees: &CalleeCosts) -> Vec<Tally> {
    let mut tallies = vec![Tally::default(); function.body_capacity()];
    for inst in function.walk_post_order() {
        let Some(body) = function.body_of(inst) else { continue };
        let mut tally = std::mem::take(&mut tallies[body.index()]);
        tally.add_inst(function, inst, &tallies, callees);
        tallies[body.index()] = tally;
    }
    tallies
}

// Returns the bytes of the slices that a `scan` takes from its scanned operands and writes to its stacked results.
fn slice_traffic(function: &Function, inst: InstId) -> Amount {
    let carried = function.attr(inst, "carried").and_then(Attr::as_int).unwrap_or(0);
    let carried = usize::try_from(carried).unwrap_or(usize::MAX);
    let scanned = function.operands(inst).iter().copied().skip(carried);
    let stacked = function.inst_results(inst).skip(carried);
    let sizes = scanned.chain(stacked).map(|value| Amount::bytes(function.value_type(value)));
    // Each slice is read and written once.
    sizes.fold(Amount::ZERO, |sum, bytes| sum.plus(bytes.times(Amount::Known(2))))
}

// Returns the region with the most operations; of several, the one that moves the most bytes. An unknown order keeps the earlier one.
fn most_expensive(regions: &[BodyId], bodies: &dyn BodyTallies) -> Option<BodyId> {
    let costs = regions.iter().map(|&region| (region, bodies.tally(region).cost()));
    let dearest = costs.reduce(|best, other| {
        let larger = |a: Amount, b: Amount| a.at_most(b) == Some(true) && a != b;
        let (a, b) = (best.1, other.1);
        if larger(a.flops, b.flops) || (a.flops == b.flops && larger(a.bytes, b.bytes)) {
            other
        } else {
            best
        }
    });
    dearest.map(|(region, _)| region)
}

// Returns how often each region of an instruction runs. Regions that an op applies to elements, and branches, count as one run.
fn region_repetitions(function: &Function, inst: InstId) -> SmallVec<[Amount; 2]> {
    let regions = function.regions(inst).len();
    let control = function.op_def(inst).and_then(|def| def.control);
    if !matches!(control, Some(Control::While | Control::Scan)) {
        return SmallVec::from_elem(Amount::ONE, regions);
    }
    let count = match trip_count(function, inst) {
        Amount::Unknown => Amount::ONE,
        count => count,
    };
    let condition = count.plus(Amount::ONE);
    match control {
        Some(Control::While) => SmallVec::from_slice(&[condition, count]),
        _ => SmallVec::from_elem(count, regions),
    }
}

// Returns the cost of an instruction without control flow, given the operations of one application of each region.
fn own_cost(function: &Function, inst: InstId, regions: &[Amount]) -> Cost {
    let Some(def) = function.op_def(inst) else {
        return Cost { flops: Amount::Unknown, bytes: Amount::Unknown };
    };
    let operands = function.operands(inst).iter().map(|&value| function.value_type(value));
    let results = function.inst_results(inst).map(|value| function.value_type(value));
    cost_of_types(def, function.attrs(inst), operands.collect(), results.collect(), regions)
}

// Returns the cost of an op from its types, its attributes and the operations of one application of each region.
fn cost_of_types<'a>(
    def: &'a OpDef,
    attrs: &'a [Attr],
    operands: SmallVec<[&'a ValueType; 4]>,
    results: SmallVec<[&'a ValueType; 2]>,
    regions: &[Amount],
) -> Cost {
    let written = results.iter().fold(Amount::ZERO, |sum, ty| sum.plus(Amount::bytes(ty)));
    let read = |skip: usize| {
        let operands = operands.iter().skip(skip);
        operands.fold(Amount::ZERO, |sum, ty| sum.plus(Amount::bytes(ty)))
    };
    let bytes = match def.traffic {
        Traffic::All => read(0).plus(written),
        Traffic::Part => read(1).plus(written).plus(written),
        Traffic::View => Amount::ZERO,
    };
    let flops = match def.flops {
        Some(flops) => {
            let signatures = SmallVec::new();
            let cx = InferCx { def, attrs, operands, regions: signatures, declared_types: results };
            let counted = match def.catches_panics {
                true => catch_panic(|| flops(&cx, regions)).unwrap_or(Ok(Amount::Unknown)),
                false => flops(&cx, regions),
            };
            counted.unwrap_or(Amount::Unknown)
        }
        None if def.elementwise => {
            results.first().and_then(|ty| ty.as_tensor()).map_or(Amount::Unknown, Amount::elements)
        }
        // An op of a user that does not declare its operations.
        None if def.name.contains('.') => Amount::Unknown,
        None => Amount::ZERO,
    };
    Cost { flops, bytes }
}
