//! Order labels over a whole function, which make order and dominance queries integer comparisons.
//!
//! Every instruction and every edge of a body (enter, exit) has a 64-bit label. Labels increase along the sequence
//! `enter(body) … exit(body) inst`: the label of an instruction comes *after* those of its regions, so a value is
//! available exactly where its instruction's label is smaller and the exit label of its body is larger. The sequence
//! itself is not stored; it follows from the links between instructions and bodies.
//!
//! An insertion takes labels between those of its neighbours. If no label is free, the smallest surrounding range of
//! labels that is sparse enough is relabelled evenly (Bender et al., "Two simplified algorithms for maintaining order
//! in a list"). The cost is O(log n) amortised at worst and O(1) for appends.

use super::{InsertPoint, Layout};
use crate::ids::{BodyId, InstId};

/// An element of the order sequence, which has a label.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OrderMark {
    Inst(InstId),
    Enter(BodyId),
    Exit(BodyId),
}

/// The largest label. Labels run from 0 (the enter of a root body) to this (its exit).
const MAX_LABEL: u64 = 1 << 62;

/// The gap left between a label and one appended after it, if enough labels are free.
const APPEND_GAP: u64 = 1 << 24;

/// The gap left between a label and one inserted after it, if enough labels are free.
const INSERT_GAP: u64 = 1 << 10;

impl Layout {
    #[inline]
    pub(crate) fn order_key(&self, inst: InstId) -> u64 {
        self.insts[inst.index()].label
    }

    #[inline]
    pub(crate) fn dominates(&self, a: InstId, b: InstId) -> bool {
        let at = self.insts[b.index()].label;
        let def = &self.insts[a.index()];
        def.label < at && at < self.bodies[def.parent.index()].exit && self.same_tree(a, b)
    }

    #[inline]
    pub(crate) fn encloses(&self, body: BodyId, inst: InstId) -> bool {
        let at = self.insts[inst.index()].label;
        let data = &self.bodies[body.index()];
        data.enter < at
            && at < data.exit
            && (self.detached == 0
                || self.root_body(body) == self.root_body(self.insts[inst.index()].parent))
    }

    // Returns whether the labels of two instructions are comparable. Detached bodies have labels of their own, so two
    // labels can belong to different trees only if detached bodies exist.
    #[inline]
    fn same_tree(&self, a: InstId, b: InstId) -> bool {
        self.detached == 0
            || self.root_body(self.insts[a.index()].parent)
                == self.root_body(self.insts[b.index()].parent)
    }

    #[inline]
    pub(crate) fn label(&self, mark: OrderMark) -> u64 {
        match mark {
            OrderMark::Inst(i) => self.insts[i.index()].label,
            OrderMark::Enter(b) => self.bodies[b.index()].enter,
            OrderMark::Exit(b) => self.bodies[b.index()].exit,
        }
    }

    fn set_label(&mut self, mark: OrderMark, label: u64) {
        match mark {
            OrderMark::Inst(i) => self.insts[i.index()].label = label,
            OrderMark::Enter(b) => self.bodies[b.index()].enter = label,
            OrderMark::Exit(b) => self.bodies[b.index()].exit = label,
        }
    }

    // Returns the first mark of an instruction: the enter of its first region, or the instruction itself.
    fn first_mark(&self, inst: InstId) -> OrderMark {
        self.regions(inst).first().map_or(OrderMark::Inst(inst), |&b| OrderMark::Enter(b))
    }

    // Returns the mark after another one, or `None` after the exit of a root body.
    pub(crate) fn next_mark(&self, mark: OrderMark) -> Option<OrderMark> {
        match mark {
            OrderMark::Enter(b) => Some(
                self.bodies[b.index()]
                    .first
                    .some()
                    .map_or(OrderMark::Exit(b), |i| self.first_mark(i)),
            ),
            OrderMark::Inst(i) => {
                let data = &self.insts[i.index()];
                Some(
                    data.next
                        .some()
                        .map_or(OrderMark::Exit(data.parent), |next| self.first_mark(next)),
                )
            }
            OrderMark::Exit(b) => {
                let owner = self.bodies[b.index()].owner.some()?;
                let regions = self.regions(owner);
                let slot = self.bodies[b.index()].slot as usize;
                Some(
                    regions
                        .get(slot + 1)
                        .map_or(OrderMark::Inst(owner), |&next| OrderMark::Enter(next)),
                )
            }
        }
    }

    // Returns the mark before another one, or `None` before the enter of a root body.
    fn prev_mark(&self, mark: OrderMark) -> Option<OrderMark> {
        match mark {
            OrderMark::Exit(b) => Some(
                self.bodies[b.index()].last.some().map_or(OrderMark::Enter(b), OrderMark::Inst),
            ),
            OrderMark::Inst(i) => Some(match self.regions(i).last() {
                Some(&b) => OrderMark::Exit(b),
                None => self.mark_before(i),
            }),
            OrderMark::Enter(b) => {
                let owner = self.bodies[b.index()].owner.some()?;
                match self.bodies[b.index()].slot as usize {
                    0 => Some(self.mark_before(owner)),
                    slot => Some(OrderMark::Exit(self.regions(owner)[slot - 1])),
                }
            }
        }
    }

    // Returns the mark right before an insertion point.
    pub(super) fn mark_before_point(&self, place: InsertPoint) -> OrderMark {
        match place {
            InsertPoint::Before(at) => self.mark_before(at),
            InsertPoint::After(at) => OrderMark::Inst(at),
            InsertPoint::Start(body) => OrderMark::Enter(body),
            InsertPoint::End(body) => {
                self.last_inst(body).map_or(OrderMark::Enter(body), OrderMark::Inst)
            }
        }
    }

    // Returns the mark right before all marks that belong to `inst`.
    pub(super) fn mark_before(&self, inst: InstId) -> OrderMark {
        let data = &self.insts[inst.index()];
        data.prev.some().map_or(OrderMark::Enter(data.parent), OrderMark::Inst)
    }

    /// Labels `inst` and its contents. Called when the instruction has been linked into a labelled body.
    pub(crate) fn label_inserted(&mut self, inst: InstId) {
        let before = self.mark_before(inst);
        let after = self.next_mark(OrderMark::Inst(inst)).unwrap_or(before);
        let simple = self.insts[inst.index()].region_len == 0;
        let count = if simple { 1 } else { self.count_marks(inst) };
        let Some((start, step)) = self.labels_between(before, after, count) else {
            self.relabel_around(inst, before, after, count);
            return;
        };
        if simple {
            self.insts[inst.index()].label = start + step;
            return;
        }
        self.assign_labels(self.first_mark(inst), OrderMark::Inst(inst), start, step);
    }

    fn count_marks(&self, inst: InstId) -> u64 {
        let mut at = self.first_mark(inst);
        let mut count = 1;
        while at != OrderMark::Inst(inst) {
            count += 1;
            at = self.next_mark(at).unwrap_or(OrderMark::Inst(inst));
        }
        count
    }

    // Assigns the labels `start + step`, `start + 2 * step`, … to a range of marks and returns the last label.
    pub(super) fn assign_labels(
        &mut self,
        first: OrderMark,
        last: OrderMark,
        start: u64,
        step: u64,
    ) -> u64 {
        let mut label = start;
        let mut at = first;
        loop {
            label += step;
            self.set_label(at, label);
            if at == last {
                return label;
            }
            // Most instructions follow one another and have no regions.
            if let OrderMark::Inst(i) = at
                && let Some(next) = self.insts[i.index()].next.some()
                && self.insts[next.index()].region_len == 0
            {
                at = OrderMark::Inst(next);
                continue;
            }
            let Some(next) = self.next_mark(at) else { return label };
            at = next;
        }
    }

    // Returns the start and step of labels for `count` marks between two marks, or `None` if they do not fit.
    pub(super) fn labels_between(
        &self,
        before: OrderMark,
        after: OrderMark,
        count: u64,
    ) -> Option<(u64, u64)> {
        let (low, high) = (self.label(before), self.label(after));
        let even = (high - low) / (count + 1);
        let step = match after {
            // At the end of a body, the rest of the range is kept for appended instructions.
            OrderMark::Exit(_) => even.min(APPEND_GAP),
            // The next insertion is most likely after this one, so that side gets the larger part.
            _ if count == 1 => ((high - low) / 8).clamp(1, INSERT_GAP).min(even),
            _ => even,
        };
        (step > 0).then_some((low, step))
    }

    // Relabels the smallest aligned range of labels around a new instruction that is sparse enough to include its
    // marks.
    fn relabel_around(&mut self, inst: InstId, before: OrderMark, after: OrderMark, count: u64) {
        let base = self.label(before);
        let (mut first, mut last) = (before, OrderMark::Inst(inst));
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
            // The allowed density falls from 1/2 for small ranges to 1/64 for the whole range.
            if marks < size >> (1 + bits / 12) {
                if matches!(first, OrderMark::Enter(b) if self.bodies[b.index()].owner.is_none()) {
                    first = self.next_mark(first).unwrap_or(first);
                }
                // More insertions are likely at the same place: if many labels are free, half of them are left after
                // the new instruction.
                let step = size / (marks + 1);
                if marks < size >> (3 + bits / 12) && last != OrderMark::Inst(inst) {
                    let before = self.assign_labels(first, OrderMark::Inst(inst), low, step / 2);
                    let next = self.next_mark(OrderMark::Inst(inst)).unwrap_or(last);
                    self.assign_labels(next, last, before + marks * (step / 2), step / 2);
                } else {
                    self.assign_labels(first, last, low, step);
                }
                return;
            }
        }
        self.relabel_tree(first);
    }

    fn relabel_tree(&mut self, mark: OrderMark) {
        let mut root = match mark {
            OrderMark::Inst(i) => self.insts[i.index()].parent,
            OrderMark::Enter(b) | OrderMark::Exit(b) => b,
        };
        while let Some(owner) = self.bodies[root.index()].owner.some() {
            root = self.insts[owner.index()].parent;
        }
        self.relabel_body(root);
    }

    /// Assigns evenly spread labels to all marks of a root body. O(n); used after bulk construction.
    pub(crate) fn relabel_body(&mut self, root: BodyId) {
        // An upper bound: every instruction and both edges of every existing body.
        let count = self.insts.len() as u64 + 2 * self.bodies.len() as u64;
        let step = (MAX_LABEL / (count + 1)).clamp(1, APPEND_GAP);
        self.bodies[root.index()].enter = 0;
        self.bodies[root.index()].exit = MAX_LABEL;
        let first = self.next_mark(OrderMark::Enter(root));
        if let Some(first) = first.filter(|m| *m != OrderMark::Exit(root)) {
            let last = self.prev_mark(OrderMark::Exit(root)).unwrap_or(first);
            self.assign_labels(first, last, 0, step);
        }
    }

    pub(crate) fn init_root_labels(&mut self, root: BodyId) {
        self.bodies[root.index()].enter = 0;
        self.bodies[root.index()].exit = MAX_LABEL;
    }
}
