//! The largest number of bytes that are alive at the same time.

use std::collections::BTreeMap;

use super::Traffic;
use super::amount::Amount;
use super::function::CalleeCosts;
use crate::dims::{DimExpr, Facts};
use crate::func::Function;
use crate::ids::{BodyId, InstId, ValueId};
use crate::op::Control;

/// The largest number of points of a body of which none needs at least as much memory as another for all extents. Beyond it, the peak is unknown.
const MAX_CANDIDATES: usize = 32;

/// Returns the largest number of bytes of values that are alive at the same time. Parameters and constants are alive during the whole run, every other value from
/// the instruction that computes it to its last user. A view, such as the result of a reshape, is the memory of its operand.
pub(super) fn peak_memory(function: &Function, callees: &CalleeCosts) -> Amount {
    let mut liveness = Liveness::new(function);
    let insts: Vec<InstId> = function.walk_post_order().collect();
    liveness.find_last_users(&insts);
    liveness.add_permanent(&insts);
    for (position, &inst) in insts.iter().enumerate() {
        liveness.run(position, inst, callees);
    }
    liveness.bodies[function.body().index()].peak().map_or(Amount::Unknown, |peak| peak.total())
}

/// Returns the largest number of bytes of values that are alive at the same time in a function, if it has no calls: their memory is not known here.
#[must_use]
pub fn peak_memory_without_calls(function: &Function) -> Amount {
    let is_call = |inst| function.op_def(inst).is_none_or(|def| def.control == Some(Control::Call));
    match function.insts_unordered().any(is_call) {
        true => Amount::Unknown,
        false => peak_memory(function, &CalleeCosts::default()),
    }
}

/// A number of bytes: a number, and a coefficient for each monomial over the symbols. With a coefficient per monomial, the sizes `4*?B` and `8*?B` are comparable.
#[derive(Clone, Default, Debug)]
struct Memory {
    known: i128,
    monomials: BTreeMap<DimExpr, i128>,
}

impl Memory {
    // Adds an amount some number of times. Returns `None` if the amount is not known.
    fn add(&mut self, amount: Amount, times: i128) -> Option<()> {
        match amount {
            Amount::Known(bytes) => {
                let bytes = i128::try_from(bytes).ok()?.checked_mul(times)?;
                self.known = self.known.checked_add(bytes)?;
            }
            Amount::Expr(size) => {
                let (constant, terms) = parts_of(size);
                self.known = self.known.checked_add(i128::from(constant).checked_mul(times)?)?;
                for (coefficient, monomial) in terms {
                    let more = i128::from(coefficient).checked_mul(times)?;
                    let sum = self.monomials.entry(monomial).or_default();
                    *sum = sum.checked_add(more)?;
                    if *sum == 0 {
                        self.monomials.remove(&monomial);
                    }
                }
            }
            Amount::Unknown => return None,
        }
        Some(())
    }

    // Adds the memory of a region that runs.
    fn add_all(&mut self, other: &Self) {
        self.known = self.known.saturating_add(other.known);
        for (&monomial, &coefficient) in &other.monomials {
            let sum = self.monomials.entry(monomial).or_default();
            *sum = sum.saturating_add(coefficient);
        }
    }

    // Monomials are at least zero, so that a larger coefficient of each is more memory.
    fn is_at_most(&self, other: &Self) -> bool {
        let all = self.monomials.keys().chain(other.monomials.keys());
        let mut all = all.map(|&at| self.coefficient(at) <= other.coefficient(at));
        self.known <= other.known && all.all(|is_smaller| is_smaller)
    }

    // Returns, for each monomial and for the number, the smallest coefficient in some memories. What is left of each is at least zero.
    fn common_part(all: &[Self]) -> Self {
        let Some((first, others)) = all.split_first() else { return Self::default() };
        if all.iter().flat_map(|memory| memory.monomials.values()).any(|&n| n < 0) {
            return Self::default();
        }
        let mut common = first.clone();
        for other in others {
            common.known = common.known.min(other.known);
            common.monomials.retain(|at, coefficient| {
                *coefficient = other.coefficient(*at).min(*coefficient);
                *coefficient > 0
            });
        }
        common
    }

    fn coefficient(&self, monomial: DimExpr) -> i128 {
        self.monomials.get(&monomial).copied().unwrap_or(0)
    }

    // Returns the memory without a part of it.
    fn without(&self, part: &Self) -> Self {
        let mut rest = self.clone();
        rest.known = rest.known.saturating_sub(part.known);
        rest.monomials.retain(|at, coefficient| {
            *coefficient = coefficient.saturating_sub(part.coefficient(*at));
            *coefficient != 0
        });
        rest
    }

    // Returns whether the memory is at most the average of two others, and so at most the larger one.
    fn is_at_most_average(&self, first: &Self, second: &Self) -> bool {
        let (mut twice, mut sum) = (self.clone(), first.clone());
        twice.add_all(self);
        sum.add_all(second);
        twice.is_at_most(&sum)
    }

    fn total(&self) -> Amount {
        let sum = || {
            let start = DimExpr::constant(i64::try_from(self.known).ok()?)?;
            self.monomials.iter().try_fold(start, |sum, (&monomial, &coefficient)| {
                let coefficient = DimExpr::constant(i64::try_from(coefficient).ok()?)?;
                sum.checked_add(monomial.checked_mul(coefficient)?)
            })
        };
        match u128::try_from(self.known) {
            Ok(known) if self.monomials.is_empty() => Amount::Known(known),
            _ => sum().map_or(Amount::Unknown, Amount::from_expr),
        }
    }
}

// Returns the constant and the monomials of a size, if these are at least zero for all values of the symbols; otherwise the size itself as one monomial, because a
// size is never negative.
fn parts_of(size: DimExpr) -> (i64, Vec<(i64, DimExpr)>) {
    let whole = || (0, vec![(1, size)]);
    let Some((constant, terms)) = size.monomials() else { return whole() };
    let facts = Facts::new();
    match terms.iter().all(|&(_, monomial)| facts.bounds(monomial).is_at_least(0)) {
        true => (constant, terms),
        false => whole(),
    }
}

/// The memory of one body while its instructions run in order.
#[derive(Default)]
struct BodyMemory {
    live: Memory,
    // The points with the most memory, none of which is at most another.
    candidates: Vec<Memory>,
    // Values of this body whose last user is in a region of the instruction that runs.
    ending: Vec<Amount>,
    is_unknown: bool,
}

impl BodyMemory {
    fn change(&mut self, amount: Amount, times: i128) {
        self.is_unknown |= self.live.add(amount, times).is_none();
    }

    // Records the memory in use now, together with the memory of a region that runs.
    fn record(&mut self, region: Option<&Memory>) {
        let mut now = self.live.clone();
        if let Some(region) = region {
            now.add_all(region);
        }
        if self.candidates.iter().any(|other| now.is_at_most(other)) {
            return;
        }
        self.candidates.retain(|other| !other.is_at_most(&now));
        if self.candidates.len() == MAX_CANDIDATES {
            remove_averages(&mut self.candidates);
        }
        if self.candidates.len() == MAX_CANDIDATES {
            self.is_unknown = true;
        } else {
            self.candidates.push(now);
        }
    }

    // Returns the peak, or `None` if it is not known.
    fn peak(&self) -> Option<Memory> {
        if self.is_unknown {
            return None;
        }
        match &self.candidates[..] {
            [] => Some(Memory::default()),
            [only] => Some(only.clone()),
            several => {
                let mut peak = Memory::common_part(several);
                let mut rests: Vec<Memory> =
                    several.iter().map(|memory| memory.without(&peak)).collect();
                remove_averages(&mut rests);
                // In pairs, because the nesting of an expression is limited.
                let mut amounts: Vec<Amount> = rests.iter().map(Memory::total).collect();
                while amounts.len() > 1 {
                    let larger = |pair: &[Amount]| pair.iter().copied().reduce(Amount::max);
                    amounts = amounts.chunks(2).filter_map(larger).collect();
                }
                peak.add(*amounts.first()?, 1)?;
                Some(peak)
            }
        }
    }
}

// Removes the memories that are at most the average of two others: `?A + ?B` is at most the larger one of `2*?A` and `2*?B`.
fn remove_averages(all: &mut Vec<Memory>) {
    let mut at = 0;
    while let Some(memory) = all.get(at) {
        let others = || all.iter().enumerate().filter(|&(n, _)| n != at);
        let is_average = others().any(|(n, first)| {
            let mut later = others().filter(|&(m, _)| m > n);
            later.any(|(_, second)| memory.is_at_most_average(first, second))
        });
        if is_average {
            all.remove(at);
        } else {
            at += 1;
        }
    }
}

struct Liveness<'a> {
    function: &'a Function,
    bodies: Vec<BodyMemory>,
    // For each value, the value whose memory it is: itself, or the operand of a view.
    storage: Vec<ValueId>,
    // For each value that is storage, the position of its last user; `u32::MAX` if it is never released.
    last_user: Vec<u32>,
    // The values to release after each position, as ranges of a sorted list.
    released: Vec<(u32, ValueId)>,
    next_released: usize,
}

const NEVER: u32 = u32::MAX;

impl<'a> Liveness<'a> {
    fn new(function: &'a Function) -> Self {
        let mut bodies = Vec::new();
        bodies.resize_with(function.body_capacity(), BodyMemory::default);
        let values = function.value_capacity();
        Self {
            function,
            bodies,
            storage: (0..values).map(ValueId::new).collect(),
            last_user: vec![0; values],
            released: Vec::new(),
            next_released: 0,
        }
    }

    fn is_constant(&self, inst: InstId) -> bool {
        self.function.op_def(inst).is_some_and(|def| def.control == Some(Control::Constant))
    }

    // Finds the storage of each value, and the last user of each storage.
    fn find_last_users(&mut self, insts: &[InstId]) {
        let f = self.function;
        for (position, &inst) in insts.iter().enumerate() {
            let position = u32::try_from(position).unwrap_or(NEVER - 1);
            for &operand in f.operands(inst) {
                let storage = self.storage[operand.index()];
                let last = &mut self.last_user[storage.index()];
                *last = (*last).max(position);
            }
            let is_view = f.op_def(inst).is_some_and(|def| def.traffic == Traffic::View);
            for result in f.inst_results(inst) {
                match f.operands(inst) {
                    [operand, ..] if is_view => {
                        self.storage[result.index()] = self.storage[operand.index()];
                        let last = &mut self.last_user[self.storage[operand.index()].index()];
                        *last = (*last).max(position);
                    }
                    _ => self.last_user[result.index()] = position,
                }
            }
            if self.is_constant(inst) {
                f.inst_results(inst).for_each(|v| self.last_user[v.index()] = NEVER);
            }
        }
        // Parameters and constants stay as long as their body runs.
        for &inst in insts {
            for result in f.inst_results(inst) {
                let last = self.last_user[result.index()];
                if self.storage[result.index()] == result && last != NEVER {
                    self.released.push((last, result));
                }
            }
        }
        self.released.sort_unstable_by_key(|&(position, value)| (position, value.index()));
    }

    fn size(&self, value: ValueId) -> Amount {
        Amount::bytes(self.function.value_type(value))
    }

    // Adds the parameters and constants of each body, which are alive during its whole run.
    fn add_permanent(&mut self, insts: &[InstId]) {
        let f = self.function;
        let add_params = |this: &mut Self, body: BodyId| {
            for &param in f.body_params(body) {
                let size = this.size(param);
                this.bodies[body.index()].change(size, 1);
            }
        };
        add_params(self, f.body());
        for &inst in insts {
            f.regions(inst).iter().for_each(|&region| add_params(self, region));
            if let (true, Some(body)) = (self.is_constant(inst), f.body_of(inst)) {
                for result in f.inst_results(inst) {
                    let size = self.size(result);
                    self.bodies[body.index()].change(size, 1);
                }
            }
        }
    }

    // Runs the instruction at a position: its regions run, its results are added, and the values that it was the last to use are released.
    fn run(&mut self, position: usize, inst: InstId, callees: &CalleeCosts) {
        let f = self.function;
        let Some(body) = f.body_of(inst) else { return };
        for &region in f.regions(inst) {
            let peak = self.bodies[region.index()].peak();
            let state = &mut self.bodies[body.index()];
            match peak {
                Some(peak) => state.record(Some(&peak)),
                None => state.is_unknown = true,
            }
        }
        if f.op_def(inst).is_some_and(|def| def.control == Some(Control::Call)) {
            let mut callee = Memory::default();
            let known = callee.add(callees.working_memory(f, inst), 1);
            let state = &mut self.bodies[body.index()];
            state.is_unknown |= known.is_none();
            state.record(Some(&callee));
        }
        // The results of a region or a callee are values of its own until it ends.
        if !self.is_constant(inst) {
            for result in f.inst_results(inst) {
                if self.storage[result.index()] == result {
                    let size = self.size(result);
                    self.bodies[body.index()].change(size, 1);
                }
            }
        }
        self.bodies[body.index()].record(None);
        while let Some(&(last, value)) = self.released.get(self.next_released)
            && last as usize == position
        {
            self.next_released += 1;
            let size = self.size(value);
            match f.inst_of(value).and_then(|definition| f.body_of(definition)) {
                Some(owner) if owner != body => self.bodies[owner.index()].ending.push(size),
                _ => self.bodies[body.index()].change(size, -1),
            }
        }
        let state = &mut self.bodies[body.index()];
        for size in std::mem::take(&mut state.ending) {
            state.change(size, -1);
        }
    }
}
