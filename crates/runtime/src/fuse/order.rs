//! The order of steps: a step that ends large values and makes smaller ones runs as soon as it can, which lowers the peak of memory.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::eval::ScheduledStep;
use sapwood_ptir::{Function, ValueId, ops};

use super::{Fuser, extents};

/// The most steps that a step is moved across.
const MAX_MOVE: usize = 512;
/// The least bytes that are gained.
const MIN_GAIN: u64 = 256;

/// The steps of a body and the memory of their values.
struct StepMemories {
    /// The operands and the results of each step.
    values: Vec<(Vec<ValueId>, Vec<ValueId>)>,
    bytes: HashMap<ValueId, u64, FxBuildHasher>,
    /// The numbers of the steps, in the order in which they run, and the place of each.
    order: Vec<usize>,
    place: Vec<usize>,
    /// The step that makes a value.
    maker: HashMap<ValueId, usize, FxBuildHasher>,
    /// The steps that read a value; that of the end of the body is the number of steps.
    users: HashMap<ValueId, Vec<usize>, FxBuildHasher>,
    /// The bytes that are in use before each place.
    before: Vec<u64>,
}

impl Fuser<'_> {
    /// Moves steps forward where that lowers the peak.
    pub(super) fn order_steps(&mut self) {
        // The plan owns constants, so they take no memory of the run wherever they are.
        let f = self.f;
        self.steps.sort_by_key(|step| !is_constant(f, step));
        let movable: Vec<bool> = self.steps.iter().map(|step| self.is_movable(step)).collect();
        let mut memories = self.step_memories();
        for (step, _) in movable.iter().enumerate().filter(|(_, movable)| **movable) {
            memories.advance(step);
        }
        let mut steps: Vec<Option<ScheduledStep>> =
            std::mem::take(&mut self.steps).into_iter().map(Some).collect();
        self.steps = memories.order.iter().filter_map(|&step| steps[step].take()).collect();
    }

    // Returns whether a step may run earlier: only limits can stop it.
    fn is_movable(&self, step: &ScheduledStep) -> bool {
        match step {
            ScheduledStep::Group(_) => true,
            ScheduledStep::Single(inst) => {
                let operand = self.f.operands(*inst).first();
                let dtype = operand.and_then(|&v| Some(extents(self.f, v)?.0));
                dtype.is_some_and(|dtype| (self.has_kernel)(self.f.op_key(*inst), dtype))
            }
        }
    }

    fn step_memories(&self) -> StepMemories {
        let f = self.f;
        let values = |step: &ScheduledStep| match step {
            ScheduledStep::Group(group) => (group.inputs.clone(), group.outputs.clone()),
            ScheduledStep::Single(inst) => {
                let mut read = f.operands(*inst).to_vec();
                for &region in f.regions(*inst) {
                    read.extend(f.walk_body(region).flat_map(|inner| f.operands(inner)));
                }
                (read, f.inst_results(*inst).collect())
            }
        };
        let values: Vec<_> = self.steps.iter().map(values).collect();
        let number = values.len();
        let mut memories = StepMemories {
            values: Vec::new(),
            bytes: HashMap::default(),
            order: (0..number).collect(),
            place: (0..number).collect(),
            maker: HashMap::default(),
            users: HashMap::default(),
            before: Vec::new(),
        };
        for (step, (read, made)) in values.iter().enumerate() {
            for &value in made {
                let elements = extents(f, value).map(|(dtype, shape)| {
                    shape.iter().product::<usize>() as u64 * dtype.byte_size() as u64
                });
                memories.maker.insert(value, step);
                let elements = elements.filter(|_| f.constant_of(value).is_none());
                memories.bytes.insert(value, elements.unwrap_or(0));
            }
            for &value in read {
                let users = memories.users.entry(value).or_default();
                if users.last() != Some(&step) {
                    users.push(step);
                }
            }
        }
        let end = f.terminator(self.body).map_or(&[][..], |end| f.operands(end));
        for &value in end {
            memories.users.entry(value).or_default().push(number);
        }
        memories.values = values;
        let mut live = 0u64;
        for step in 0..number {
            memories.before.push(live);
            live = (live + memories.made(step)).saturating_sub(memories.freed(step));
        }
        memories
    }
}

fn is_constant(f: &Function, step: &ScheduledStep) -> bool {
    matches!(step, ScheduledStep::Single(inst) if f.is::<ops::Constant>(*inst))
}

impl StepMemories {
    fn made(&self, step: usize) -> u64 {
        self.values[step].1.iter().map(|value| self.bytes[value]).sum()
    }

    // Returns the bytes of the values that a step reads as the last one.
    fn freed(&self, step: usize) -> u64 {
        let (read, made) = &self.values[step];
        let is_last = |value: &&ValueId| self.last_user(**value, step).is_none();
        let unused = made.iter().filter(|value| !self.users.contains_key(*value));
        let mut seen: Vec<ValueId> = Vec::new();
        for &value in read.iter().filter(is_last).chain(unused) {
            if !seen.contains(&value) {
                seen.push(value);
            }
        }
        seen.iter().map(|value| self.bytes.get(value).copied().unwrap_or(0)).sum()
    }

    fn place_of(&self, user: usize) -> usize {
        self.place.get(user).copied().unwrap_or(usize::MAX)
    }

    // Returns the last place after that of `step` that reads a value.
    fn last_user(&self, value: ValueId, step: usize) -> Option<usize> {
        let places = self.users.get(&value)?.iter().map(|&user| self.place_of(user));
        places.max().filter(|&place| place > self.place[step])
    }

    // Runs a step earlier, if that lowers the memory in use until its place.
    fn advance(&mut self, step: usize) {
        let here = self.place[step];
        let (made, freed) = (self.made(step), self.freed(step));
        if freed < made + MIN_GAIN {
            return;
        }
        // After its operands are made, and after the others that read what it ends.
        let mut first = 0;
        for &value in &self.values[step].0 {
            if let Some(&maker) = self.maker.get(&value) {
                first = first.max(self.place[maker] + 1);
            }
            if self.bytes.contains_key(&value) && self.last_user(value, step).is_none() {
                let others = self.users[&value].iter().filter(|&&user| user != step);
                first = others.fold(first, |first, &user| first.max(self.place_of(user) + 1));
            }
        }
        if first >= here || here - first > MAX_MOVE {
            return;
        }
        let gain = freed - made;
        let peak = |place: usize| self.before[place] + self.made(self.order[place]);
        let most = (first..=here).map(peak).max().unwrap_or(0);
        if self.before[first] + made > most {
            return;
        }
        for place in (first..here).rev() {
            let moved = self.order[place];
            self.order[place + 1] = moved;
            self.place[moved] = place + 1;
            self.before[place + 1] = self.before[place].saturating_sub(gain);
        }
        self.order[first] = step;
        self.place[step] = first;
    }
}
