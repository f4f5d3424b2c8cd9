//! What patterns found out about wide instructions, so that not everyone who uses one finds it out again.

use std::cell::RefCell;
use std::sync::Arc;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::ops::Concat;
use sapwood_ptir::{Function, InstId};

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

/// By instruction, until operands or attributes of it are set. Replacing values keeps their types, so that it keeps this too.
#[derive(Default)]
pub(crate) struct Memo {
    joined: RefCell<HashMap<InstId, Option<Arc<Joined>>, FxBuildHasher>>,
}

impl Memo {
    /// Where the operands of a concat begin; `None` if that is not known.
    pub(crate) fn joined(&self, f: &Function, inst: InstId) -> Option<Arc<Joined>> {
        let mut known = self.joined.borrow_mut();
        known.entry(inst).or_insert_with(|| Joined::of(f, inst).map(Arc::new)).clone()
    }

    /// The instruction is other than before.
    #[inline]
    pub(crate) fn forget(&mut self, inst: InstId) {
        let known = self.joined.get_mut();
        if !known.is_empty() {
            known.remove(&inst);
        }
    }
}
