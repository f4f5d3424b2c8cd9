//! What patterns found out about wide instructions, so that not everyone who uses one finds it out again.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::ops::Concat;
use sapwood_ptir::{Function, InstId, ValueId};

/// Where the operands of a concat begin along its axis, and where the last one ends.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Joined {
    pub(crate) axis: usize,
    bounds: Box<[i64]>,
}

impl Joined {
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

    /// Where an operand begins.
    pub(crate) fn start(&self, operand: usize) -> i64 {
        self.bounds[operand]
    }

    /// Whether an operand has no elements.
    pub(crate) fn is_empty(&self, operand: usize) -> bool {
        self.bounds[operand] == self.bounds[operand + 1]
    }

    /// The operand that has the element at a place; `None` beyond the last.
    pub(crate) fn holder(&self, at: i64) -> Option<usize> {
        let before = self.bounds.partition_point(|&start| start <= at);
        before.checked_sub(1).filter(|_| before < self.bounds.len())
    }
}

/// An instruction with more operands or results than this is wide: visiting it may not cost their number, since it may be
/// visited whenever one of them changes.
pub(crate) const WIDE: usize = 32;

/// By instruction, until operands or attributes of it are set. Replacing values keeps their types, so that it keeps where
/// the operands of a concat begin.
#[derive(Default)]
pub(crate) struct Memo {
    joined: RefCell<HashMap<InstId, Option<Arc<Joined>>, FxBuildHasher>>,
    // By wide loop: the carried values whose initial or yielded value changed since the last call of `changed_carries`.
    loops: RefCell<HashMap<InstId, Vec<usize>, FxBuildHasher>>,
    // By wide instruction: a result that had a use when it was last asked for.
    used: RefCell<HashMap<InstId, usize, FxBuildHasher>>,
    // How many carried values and results were looked at in wide instructions.
    looked_at: Cell<usize>,
}

impl Memo {
    /// Where the operands of a concat begin; `None` if that is not known.
    pub(crate) fn joined(&self, f: &Function, inst: InstId) -> Option<Arc<Joined>> {
        let mut known = self.joined.borrow_mut();
        known.entry(inst).or_insert_with(|| Joined::of(f, inst).map(Arc::new)).clone()
    }

    /// The instruction is other than before.
    #[inline]
    pub(crate) fn forget(&mut self, f: &Function, inst: InstId) {
        let known = self.joined.get_mut();
        if !known.is_empty() {
            known.remove(&inst);
        }
        let loops = self.loops.get_mut();
        if !loops.is_empty() {
            loops.remove(&inst);
            owner(f, inst).map(|owner| loops.remove(&owner));
        }
    }

    /// The carried values of a loop to look at: those that changed since the last call. `None` means all of them: at
    /// the first call, and for loops that are not wide.
    pub(crate) fn changed_carries(&self, inst: InstId, carried: usize) -> Option<Vec<usize>> {
        if carried <= WIDE {
            return None;
        }
        let changed = match self.loops.borrow_mut().entry(inst) {
            Entry::Occupied(mut known) => Some(std::mem::take(known.get_mut())),
            Entry::Vacant(new) => {
                new.insert(Vec::new());
                None
            }
        };
        self.count(changed.as_ref().map_or(carried, Vec::len));
        changed
    }

    /// All uses of a value are about to become uses of another.
    #[inline]
    pub(crate) fn uses_change(&mut self, f: &Function, value: ValueId) {
        if !self.loops.get_mut().is_empty() && f.is_live_value(value) {
            f.uses(value).for_each(|u| self.operand_changes(f, u.user, u.index));
        }
    }

    // An operand of a loop, or of what ends its body, becomes another value.
    fn operand_changes(&mut self, f: &Function, user: InstId, index: usize) {
        let loops = self.loops.get_mut();
        if let Some(changed) = loops.get_mut(&user)
            && let Some(&body) = f.regions(user).last()
        {
            changed.push(index);
            // Others may be yielded what this one carries and start as it does now.
            let end = f.terminator(body);
            let carried = f.body_params(body).get(index);
            let uses = carried.into_iter().flat_map(|&param| f.uses(param));
            changed.extend(uses.filter(|u| Some(u.user) == end).map(|u| u.index));
        }
        if let Some(owner) = owner(f, user)
            && let Some(changed) = loops.get_mut(&owner)
            && f.regions(owner).last().is_some_and(|&body| f.terminator(body) == Some(user))
        {
            changed.push(index);
        }
    }

    /// Whether nothing uses the results of an instruction. Of a wide one, a result that is used is remembered, so that
    /// results that become unused one after the other are not all looked at each time.
    #[inline]
    pub(crate) fn results_unused(&self, f: &Function, inst: InstId) -> bool {
        let mut results = f.inst_results(inst);
        if results.len() > WIDE {
            return self.wide_results_unused(f, inst, results.len());
        }
        results.all(|value| f.unused(value))
    }

    #[cold]
    fn wide_results_unused(&self, f: &Function, inst: InstId, count: usize) -> bool {
        let mut known = self.used.borrow_mut();
        let start = known.get(&inst).copied().unwrap_or(0);
        let unused = |n: usize| f.result(inst, n).is_none_or(|value| f.unused(value));
        let found = (start..count).chain(0..start).enumerate().find(|&(_, n)| !unused(n));
        self.count(found.map_or(count, |(steps, _)| steps + 1));
        found.map(|(_, n)| known.insert(inst, n));
        found.is_none()
    }

    fn count(&self, looked_at: usize) {
        self.looked_at.set(self.looked_at.get() + looked_at);
    }

    /// How many carried values and results of wide instructions were looked at so far.
    pub(crate) fn looked_at(&self) -> usize {
        self.looked_at.get()
    }
}

fn owner(f: &Function, inst: InstId) -> Option<InstId> {
    f.body_of(inst).and_then(|body| f.body_owner(body))
}
