//! A memo of facts about wide instructions, so that each pattern that reaches one need not compute them again.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::ops::Concat;
use sapwood_ptir::{Function, InstId, ValueId};

/// The offsets along the axis of a concat at which its operands begin, and the end of the last one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ConcatOffsets {
    pub(crate) axis: usize,
    bounds: Box<[i64]>,
}

impl ConcatOffsets {
    fn of(f: &Function, inst: InstId) -> Option<Self> {
        let op = f.view::<Concat>(inst)?;
        let axis = usize::try_from(op.axis.0).ok()?;
        let mut bounds = Vec::with_capacity(op.inputs.len() + 1);
        bounds.push(0);
        let mut end = 0i64;
        for &input in &op.inputs {
            let extent = f.value_type(input).as_tensor()?.dims.get(axis)?.known()?;
            end = end.checked_add(i64::try_from(extent).ok()?)?;
            bounds.push(end);
        }
        Some(Self { axis, bounds: bounds.into() })
    }

    /// Returns the offset at which an operand begins.
    pub(crate) fn operand_start(&self, operand: usize) -> i64 {
        self.bounds[operand]
    }

    /// Returns true if an operand has no elements.
    pub(crate) fn operand_is_empty(&self, operand: usize) -> bool {
        self.bounds[operand] == self.bounds[operand + 1]
    }

    /// Returns the operand that contains the element at an offset; `None` beyond the last.
    pub(crate) fn operand_at(&self, at: i64) -> Option<usize> {
        let before = self.bounds.partition_point(|&start| start <= at);
        before.checked_sub(1).filter(|_| before < self.bounds.len())
    }
}

/// An instruction with more operands or results than this is wide. A visit to a wide instruction must not take time
/// proportional to their number, since it may be visited whenever one of them changes.
pub(crate) const WIDE_THRESHOLD: usize = 32;

/// A memo of facts about wide instructions, keyed by instruction. An entry is valid until the operands or attributes of the
/// instruction are set. Replacing values keeps their types, and so keeps the offsets of a concat's operands.
#[derive(Default)]
pub(crate) struct WideInstMemo {
    concat_offsets: RefCell<HashMap<InstId, Option<Arc<ConcatOffsets>>, FxBuildHasher>>,
    // By wide loop: the carried values whose initial or yielded value changed since the last call of `changed_carries`.
    changed_carries: RefCell<HashMap<InstId, Vec<usize>, FxBuildHasher>>,
    // By wide instruction: the number of a result that was used at the last call of `results_unused`.
    used_results: RefCell<HashMap<InstId, usize, FxBuildHasher>>,
    // The number of carried values and results of wide instructions that were examined so far.
    examined: Cell<usize>,
}

impl WideInstMemo {
    /// Returns the offsets of the operands of a concat; `None` if an extent is not known.
    pub(crate) fn concat_offsets(&self, f: &Function, inst: InstId) -> Option<Arc<ConcatOffsets>> {
        let mut known = self.concat_offsets.borrow_mut();
        known.entry(inst).or_insert_with(|| ConcatOffsets::of(f, inst).map(Arc::new)).clone()
    }

    /// Removes the entries of an instruction that changed.
    #[inline]
    pub(crate) fn invalidate(&mut self, f: &Function, inst: InstId) {
        let known = self.concat_offsets.get_mut();
        if !known.is_empty() {
            known.remove(&inst);
        }
        let loops = self.changed_carries.get_mut();
        if !loops.is_empty() {
            loops.remove(&inst);
            region_owner(f, inst).map(|owner| loops.remove(&owner));
        }
    }

    /// Returns the carried values of a loop that changed since the last call. `None` means all of them: at the first call, and
    /// for loops that are not wide.
    pub(crate) fn changed_carries(&self, inst: InstId, carried: usize) -> Option<Vec<usize>> {
        if carried <= WIDE_THRESHOLD {
            return None;
        }
        let changed = match self.changed_carries.borrow_mut().entry(inst) {
            Entry::Occupied(mut known) => Some(std::mem::take(known.get_mut())),
            Entry::Vacant(new) => {
                new.insert(Vec::new());
                None
            }
        };
        self.add_examined(changed.as_ref().map_or(carried, Vec::len));
        changed
    }

    /// Records that all uses of a value are about to become uses of another.
    #[inline]
    pub(crate) fn before_uses_change(&mut self, f: &Function, value: ValueId) {
        if !self.changed_carries.get_mut().is_empty() && f.is_live_value(value) {
            f.uses(value).for_each(|u| self.record_operand_change(f, u.user, u.index));
        }
    }

    // Records that an operand of a loop, or of the terminator of its body, becomes another value.
    fn record_operand_change(&mut self, f: &Function, user: InstId, index: usize) {
        let loops = self.changed_carries.get_mut();
        if let Some(changed) = loops.get_mut(&user)
            && let Some(&body) = f.regions(user).last()
        {
            changed.push(index);
            // Other carried values that are yielded this one may now start with the same value too.
            let end = f.terminator(body);
            let carried = f.body_params(body).get(index);
            let uses = carried.into_iter().flat_map(|&param| f.uses(param));
            changed.extend(uses.filter(|u| Some(u.user) == end).map(|u| u.index));
        }
        if let Some(owner) = region_owner(f, user)
            && let Some(changed) = loops.get_mut(&owner)
            && f.regions(owner).last().is_some_and(|&body| f.terminator(body) == Some(user))
        {
            changed.push(index);
        }
    }

    /// Returns true if nothing uses the results of an instruction. For a wide instruction the memo remembers a used result,
    /// so that results that become unused one after the other are not all examined each time.
    #[inline]
    pub(crate) fn results_unused(&self, f: &Function, inst: InstId) -> bool {
        let mut results = f.inst_results(inst);
        if results.len() > WIDE_THRESHOLD {
            return self.wide_results_unused(f, inst, results.len());
        }
        results.all(|value| f.unused(value))
    }

    #[cold]
    fn wide_results_unused(&self, f: &Function, inst: InstId, count: usize) -> bool {
        let mut known = self.used_results.borrow_mut();
        let start = known.get(&inst).copied().unwrap_or(0);
        let unused = |n: usize| f.result(inst, n).is_none_or(|value| f.unused(value));
        let found = (start..count).chain(0..start).enumerate().find(|&(_, n)| !unused(n));
        self.add_examined(found.map_or(count, |(steps, _)| steps + 1));
        found.map(|(_, n)| known.insert(inst, n));
        found.is_none()
    }

    fn add_examined(&self, count: usize) {
        self.examined.set(self.examined.get() + count);
    }

    /// Returns the number of carried values and results of wide instructions that were examined so far.
    pub(crate) fn examined(&self) -> usize {
        self.examined.get()
    }
}

fn region_owner(f: &Function, inst: InstId) -> Option<InstId> {
    f.body_of(inst).and_then(|body| f.body_owner(body))
}
