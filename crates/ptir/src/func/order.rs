//! Order keys over a whole function, so that "before" and "dominates" are compares.
//!
//! Every instruction and every edge of a body (enter, exit) has a 64-bit label. Labels grow along the sequence
//! `enter(body) … exit(body) inst`: the label of an instruction stands *after* its regions, so a value is available
//! exactly where its instruction's label is smaller and the exit of its body is larger. The sequence itself is not
//! stored; neighbours follow from the links between instructions and bodies.
//!
//! An insertion takes labels between its neighbours. When there is no room, the smallest surrounding range of labels
//! that is sparse enough is spread evenly (Bender et al., "Two simplified algorithms for maintaining order in a list"),
//! O(log n) amortised at worst and O(1) for appends.

use std::cmp::Ordering;

use super::Function;
use crate::ids::{BodyId, InstId};

/// A place in the sequence that carries a label.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mark {
    Inst(InstId),
    Enter(BodyId),
    Exit(BodyId),
}

/// Labels run from 0 (enter of a root body) to this (its exit).
const LAST: u64 = 1 << 62;

/// Distance left between a label and one appended behind it, if there is room.
const STRIDE: u64 = 1 << 24;

/// Distance left between a label and one inserted behind it, if there is room.
const CLOSE: u64 = 1 << 10;

impl Function {
    /// Compares two places of one function: instructions by where they complete.
    #[must_use]
    pub fn cmp_order(&self, a: InstId, b: InstId) -> Ordering {
        self.insts[a.index()].label.cmp(&self.insts[b.index()].label)
    }

    /// A number by which the instructions of a function sort in program order. It changes with edits.
    #[must_use]
    #[inline]
    pub fn order_key(&self, inst: InstId) -> u64 {
        self.insts[inst.index()].label
    }

    /// Whether `a` completes before `b` in program order. Instructions of a region complete before its owner.
    #[must_use]
    #[inline]
    pub fn is_before(&self, a: InstId, b: InstId) -> bool {
        self.cmp_order(a, b) == Ordering::Less
    }

    /// Whether the results of `a` may be used by `b`: `a` stands before `b` in the same body or in one around it.
    #[must_use]
    #[inline]
    pub fn dominates(&self, a: InstId, b: InstId) -> bool {
        let at = self.insts[b.index()].label;
        let def = &self.insts[a.index()];
        def.label < at && at < self.bodies[def.parent.index()].exit && self.same_tree(a, b)
    }

    /// Whether `body` is the body of `inst` or one around it.
    #[must_use]
    #[inline]
    pub fn encloses(&self, body: BodyId, inst: InstId) -> bool {
        let at = self.insts[inst.index()].label;
        let data = &self.bodies[body.index()];
        data.enter < at
            && at < data.exit
            && (self.detached == 0
                || self.tree_root(body) == self.tree_root(self.insts[inst.index()].parent))
    }

    // Labels of detached bodies are their own; only when such bodies exist can two labels belong to different trees.
    #[inline]
    fn same_tree(&self, a: InstId, b: InstId) -> bool {
        self.detached == 0
            || self.tree_root(self.insts[a.index()].parent)
                == self.tree_root(self.insts[b.index()].parent)
    }

    #[inline]
    pub(crate) fn label(&self, mark: Mark) -> u64 {
        match mark {
            Mark::Inst(i) => self.insts[i.index()].label,
            Mark::Enter(b) => self.bodies[b.index()].enter,
            Mark::Exit(b) => self.bodies[b.index()].exit,
        }
    }

    fn set_label(&mut self, mark: Mark, label: u64) {
        match mark {
            Mark::Inst(i) => self.insts[i.index()].label = label,
            Mark::Enter(b) => self.bodies[b.index()].enter = label,
            Mark::Exit(b) => self.bodies[b.index()].exit = label,
        }
    }

    // The first mark of an instruction: the enter of its first region, or itself.
    fn first_mark(&self, inst: InstId) -> Mark {
        self.regions(inst).first().map_or(Mark::Inst(inst), |&b| Mark::Enter(b))
    }

    // `None` past the exit of a root body.
    pub(crate) fn next_mark(&self, mark: Mark) -> Option<Mark> {
        match mark {
            Mark::Enter(b) => Some(
                self.bodies[b.index()].first.some().map_or(Mark::Exit(b), |i| self.first_mark(i)),
            ),
            Mark::Inst(i) => {
                let data = &self.insts[i.index()];
                Some(data.next.some().map_or(Mark::Exit(data.parent), |next| self.first_mark(next)))
            }
            Mark::Exit(b) => {
                let owner = self.bodies[b.index()].owner.some()?;
                let regions = self.regions(owner);
                let slot = self.bodies[b.index()].slot as usize;
                Some(regions.get(slot + 1).map_or(Mark::Inst(owner), |&next| Mark::Enter(next)))
            }
        }
    }

    // `None` before the enter of a root body.
    fn prev_mark(&self, mark: Mark) -> Option<Mark> {
        match mark {
            Mark::Exit(b) => {
                Some(self.bodies[b.index()].last.some().map_or(Mark::Enter(b), Mark::Inst))
            }
            Mark::Inst(i) => Some(match self.regions(i).last() {
                Some(&b) => Mark::Exit(b),
                None => self.mark_before(i),
            }),
            Mark::Enter(b) => {
                let owner = self.bodies[b.index()].owner.some()?;
                match self.bodies[b.index()].slot as usize {
                    0 => Some(self.mark_before(owner)),
                    slot => Some(Mark::Exit(self.regions(owner)[slot - 1])),
                }
            }
        }
    }

    // The mark right before everything that belongs to `inst`.
    pub(super) fn mark_before(&self, inst: InstId) -> Mark {
        let data = &self.insts[inst.index()];
        data.prev.some().map_or(Mark::Enter(data.parent), Mark::Inst)
    }

    /// Labels `inst` and all it contains. Called once the instruction is linked into a labelled body.
    pub(crate) fn label_inserted(&mut self, inst: InstId) {
        let before = self.mark_before(inst);
        let after = self.next_mark(Mark::Inst(inst)).unwrap_or(before);
        let simple = self.insts[inst.index()].region_len == 0;
        let count = if simple { 1 } else { self.count_marks(inst) };
        let Some((start, step)) = self.room(before, after, count) else {
            self.spread(inst, before, after, count);
            return;
        };
        if simple {
            self.insts[inst.index()].label = start + step;
            return;
        }
        self.assign(self.first_mark(inst), Mark::Inst(inst), start, step);
    }

    fn count_marks(&self, inst: InstId) -> u64 {
        let mut at = self.first_mark(inst);
        let mut count = 1;
        while at != Mark::Inst(inst) {
            count += 1;
            at = self.next_mark(at).unwrap_or(Mark::Inst(inst));
        }
        count
    }

    // Gives labels `start + step`, `start + 2 * step`, …; returns the last.
    pub(super) fn assign(&mut self, first: Mark, last: Mark, start: u64, step: u64) -> u64 {
        let mut label = start;
        let mut at = first;
        loop {
            label += step;
            self.set_label(at, label);
            if at == last {
                return label;
            }
            // Most instructions follow one another and have no regions.
            if let Mark::Inst(i) = at
                && let Some(next) = self.insts[i.index()].next.some()
                && self.insts[next.index()].region_len == 0
            {
                at = Mark::Inst(next);
                continue;
            }
            let Some(next) = self.next_mark(at) else { return label };
            at = next;
        }
    }

    // Labels for `count` marks between two, or `None` if they do not fit.
    pub(super) fn room(&self, before: Mark, after: Mark, count: u64) -> Option<(u64, u64)> {
        let (low, high) = (self.label(before), self.label(after));
        let even = (high - low) / (count + 1);
        let step = match after {
            // At the end of a body the rest of the range is kept for what will be appended.
            Mark::Exit(_) => even.min(STRIDE),
            // What comes next most likely stands behind it: that side gets the larger part.
            _ if count == 1 => ((high - low) / 8).clamp(1, CLOSE).min(even),
            _ => even,
        };
        (step > 0).then_some((low, step))
    }

    // Spreads the smallest aligned range of labels around a new instruction that is sparse enough for its marks too.
    fn spread(&mut self, inst: InstId, before: Mark, after: Mark, count: u64) {
        let base = self.label(before);
        let (mut first, mut last) = (before, Mark::Inst(inst));
        let mut right = Some(after);
        let mut marks = count + 1;
        for bits in 1..=62u32 {
            let size = 1u64 << bits;
            let low = base & !(size - 1);
            while let Some(prev) = self.prev_mark(first).filter(|m| self.label(*m) >= low) {
                first = prev;
                marks += 1;
            }
            while let Some(next) = right.filter(|m| self.label(*m) < low + size) {
                last = next;
                right = self.next_mark(next);
                marks += 1;
            }
            // The fill allowed falls from 1/2 for small ranges to 1/64 for the whole.
            if marks < size >> (1 + bits / 12) {
                if matches!(first, Mark::Enter(b) if self.bodies[b.index()].owner.is_none()) {
                    first = self.next_mark(first).unwrap_or(first);
                }
                // Where one was inserted more will be: if there is plenty of room, half of it is left behind the new one.
                let step = size / (marks + 1);
                if marks < size >> (3 + bits / 12) && last != Mark::Inst(inst) {
                    let before = self.assign(first, Mark::Inst(inst), low, step / 2);
                    let next = self.next_mark(Mark::Inst(inst)).unwrap_or(last);
                    self.assign(next, last, before + marks * (step / 2), step / 2);
                } else {
                    self.assign(first, last, low, step);
                }
                return;
            }
        }
        self.renumber_from(first);
    }

    fn renumber_from(&mut self, mark: Mark) {
        let mut root = match mark {
            Mark::Inst(i) => self.insts[i.index()].parent,
            Mark::Enter(b) | Mark::Exit(b) => b,
        };
        while let Some(owner) = self.bodies[root.index()].owner.some() {
            root = self.insts[owner.index()].parent;
        }
        self.renumber(root);
    }

    /// Gives fresh, evenly spread labels to everything in a root body. O(n); used after bulk construction.
    pub(crate) fn renumber(&mut self, root: BodyId) {
        // An upper bound: every instruction and both edges of every body there is.
        let count = self.insts.len() as u64 + 2 * self.bodies.len() as u64;
        let step = (LAST / (count + 1)).clamp(1, STRIDE);
        self.bodies[root.index()].enter = 0;
        self.bodies[root.index()].exit = LAST;
        let first = self.next_mark(Mark::Enter(root));
        if let Some(first) = first.filter(|m| *m != Mark::Exit(root)) {
            let last = self.prev_mark(Mark::Exit(root)).unwrap_or(first);
            self.assign(first, last, 0, step);
        }
    }

    pub(crate) fn init_root_labels(&mut self, root: BodyId) {
        self.bodies[root.index()].enter = 0;
        self.bodies[root.index()].exit = LAST;
    }
}
