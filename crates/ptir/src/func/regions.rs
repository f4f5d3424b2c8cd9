//! Transfer of regions from one instruction to another without visiting their contents.

use sapwood_types::Span;
use smallvec::SmallVec;

use super::journal::UndoEntry;
use super::{EditError, Function, InsertPoint, Layout, OrderMark};
use crate::ids::{BodyId, InstId};
use crate::op::OpParts;

impl Function {
    /// Inserts an instruction right before `from` and transfers regions of `from` to it. `from` must be erased next.
    ///
    /// The contents of the regions keep their positions. The cost is O(regions) if they keep their order, O(the
    /// smaller region) if two are swapped, and otherwise O(the contents of all).
    ///
    /// # Errors
    /// If an operand is not available there, or a region does not belong to `from`.
    pub fn insert_with_regions_of(
        &mut self,
        from: InstId,
        parts: &OpParts,
        span: Span,
    ) -> Result<InstId, EditError> {
        self.check_inst(from)?;
        let place = InsertPoint::Before(from);
        self.check_new_inst(place, parts.key, &parts.operands, parts.result_types.len())?;
        for (n, &body) in parts.regions.iter().enumerate() {
            if !self.is_live_body(body) {
                return Err(EditError::NoSuchBody(body));
            }
            if self.body_owner(body) != Some(from) || parts.regions[..n].contains(&body) {
                return Err(EditError::Attached(body));
            }
        }
        let had: SmallVec<[BodyId; 2]> = SmallVec::from_slice(self.regions(from));
        let left: SmallVec<[BodyId; 2]> =
            had.iter().copied().filter(|b| !parts.regions.contains(b)).collect();
        let inst = self.create(parts, span);
        let layout = &mut self.layout;
        layout.clear_regions(from);
        layout.link(inst, place);
        layout.label_with_regions(inst, from, &had);
        if !left.is_empty() {
            layout.set_regions(from, &left);
            layout.label_inserted(from);
        }
        self.record_undo(UndoEntry::TookOver { from, to: inst, had });
        Ok(inst)
    }

    /// Returns the body with fewer instructions, or the second if the numbers are equal. O(instructions of that
    /// body).
    #[must_use]
    pub fn smaller_body(&self, a: BodyId, b: BodyId) -> BodyId {
        self.layout.smaller_body(a, b)
    }
}

impl Layout {
    // Labels an instruction whose regions were, in the order `had`, right before the next instruction.
    fn label_with_regions(&mut self, inst: InstId, next: InstId, had: &[BodyId]) {
        let regions: SmallVec<[BodyId; 2]> = SmallVec::from_slice(self.regions(inst));
        let mut rest = had.iter();
        let in_order = regions.iter().all(|b| rest.any(|h| h == b));
        let done = match (&regions[..], had) {
            (&[.., last], _) if in_order => self.label_between(OrderMark::Exit(last), inst, next),
            (&[a, b], [_, _]) => self.label_swapped_regions(a, b, inst, next),
            _ => false,
        };
        if !done {
            self.label_inserted(inst);
        }
    }

    // Labels an instruction between two marks. Returns whether a label was free.
    fn label_between(&mut self, before: OrderMark, inst: InstId, next: InstId) -> bool {
        let room = self.labels_between(before, OrderMark::Inst(next), 1);
        if let Some((low, step)) = room {
            self.insts[inst.index()].label = low + step;
        }
        room.is_some()
    }

    // Labels an instruction whose regions `a` and `b` were swapped: the smaller region gets new labels.
    fn label_swapped_regions(&mut self, a: BodyId, b: BodyId, inst: InstId, next: InstId) -> bool {
        let smaller = self.smaller_body(a, b);
        let marks = self.count_body_marks(smaller);
        let (before, after, first) = if smaller == b {
            (OrderMark::Exit(a), OrderMark::Inst(next), OrderMark::Enter(b))
        } else {
            (self.mark_before(inst), OrderMark::Enter(b), OrderMark::Enter(a))
        };
        let Some((low, step)) = self.labels_between(before, after, marks + 1) else { return false };
        self.assign_labels(first, OrderMark::Exit(smaller), low, step);
        self.label_between(OrderMark::Exit(b), inst, next)
    }

    fn count_body_marks(&self, body: BodyId) -> u64 {
        let mut count = 1;
        let mut at = Some(OrderMark::Enter(body));
        while at != Some(OrderMark::Exit(body)) {
            count += 1;
            at = at.and_then(|mark| self.next_mark(mark));
        }
        count
    }
}
