//! Regions that go from one instruction to the next without being looked at.

use smallvec::SmallVec;

use super::journal::Undo;
use super::{EditError, Function, InstSpec, Mark, Place};
use crate::ids::{BodyId, InstId};

impl Function {
    /// Makes an instruction right before another one and gives it regions of that one, which must be erased next.
    ///
    /// What is inside keeps its place in the program, so this costs O(regions) if they keep their order, O(what is in the
    /// smaller one) if two change places, and otherwise O(what is in all).
    ///
    /// # Errors
    /// If an operand is not available there, or a region is not one of `from`.
    pub fn insert_with_regions_of(
        &mut self,
        from: InstId,
        spec: &InstSpec,
    ) -> Result<InstId, EditError> {
        self.check_inst(from)?;
        let place = Place::Before(from);
        let terminator = self.registry().get(spec.key).is_some_and(|d| d.terminator);
        self.check_place(place, terminator, spec.key)?;
        for &value in &spec.operands {
            self.check_available(value, place, spec.key.name())?;
        }
        for (n, &body) in spec.regions.iter().enumerate() {
            if !self.is_live_body(body) {
                return Err(EditError::NoBody(body));
            }
            if self.body_owner(body) != Some(from) || spec.regions[..n].contains(&body) {
                return Err(EditError::Attached(body));
            }
        }
        let had: SmallVec<[BodyId; 2]> = SmallVec::from_slice(self.regions(from));
        let left: SmallVec<[BodyId; 2]> =
            had.iter().copied().filter(|b| !spec.regions.contains(b)).collect();
        let inst = self.create(spec);
        self.insts[from.index()].region_len = 0;
        self.link(inst, place);
        self.label_with_regions(inst, from, &had);
        if !left.is_empty() {
            self.set_regions(from, &left);
            self.label_inserted(from);
        }
        self.note(|_| Undo::TookOver { from, to: inst, had });
        Ok(inst)
    }

    // Gives an instruction regions, not more than it had when it was made.
    pub(super) fn set_regions(&mut self, inst: InstId, regions: &[BodyId]) {
        let start = self.insts[inst.index()].regions as usize;
        self.insts[inst.index()].region_len = regions.len() as u32;
        self.region_pool[start..start + regions.len()].copy_from_slice(regions);
        for (slot, body) in regions.iter().enumerate() {
            let data = &mut self.bodies[body.index()];
            (data.owner, data.slot) = (inst, slot as u32);
        }
    }

    // Labels an instruction whose regions stood, as `had` says, right before the next instruction.
    fn label_with_regions(&mut self, inst: InstId, next: InstId, had: &[BodyId]) {
        let regions: SmallVec<[BodyId; 2]> = SmallVec::from_slice(self.regions(inst));
        let mut rest = had.iter();
        let in_order = regions.iter().all(|b| rest.any(|h| h == b));
        let done = match (&regions[..], had) {
            (&[.., last], _) if in_order => self.label_between(Mark::Exit(last), inst, next),
            (&[a, b], [_, _]) => self.label_exchanged(a, b, inst, next),
            _ => false,
        };
        if !done {
            self.label_inserted(inst);
        }
    }

    // Whether there was room for the label.
    fn label_between(&mut self, before: Mark, inst: InstId, next: InstId) -> bool {
        let room = self.room(before, Mark::Inst(next), 1);
        if let Some((low, step)) = room {
            self.insts[inst.index()].label = low + step;
        }
        room.is_some()
    }

    // The regions `a` and `b` of an instruction stood the other way round: the smaller one gets new labels.
    fn label_exchanged(&mut self, a: BodyId, b: BodyId, inst: InstId, next: InstId) -> bool {
        let smaller = self.smaller_body(a, b);
        let marks = self.body_marks(smaller);
        let (before, after, first) = if smaller == b {
            (Mark::Exit(a), Mark::Inst(next), Mark::Enter(b))
        } else {
            (self.mark_before(inst), Mark::Enter(b), Mark::Enter(a))
        };
        let Some((low, step)) = self.room(before, after, marks + 1) else { return false };
        self.assign(first, Mark::Exit(smaller), low, step);
        self.label_between(Mark::Exit(b), inst, next)
    }

    fn body_marks(&self, body: BodyId) -> u64 {
        let mut count = 1;
        let mut at = Some(Mark::Enter(body));
        while at != Some(Mark::Exit(body)) {
            count += 1;
            at = at.and_then(|mark| self.next_mark(mark));
        }
        count
    }

    /// The one of two bodies that contains less, the second if they contain the same number of instructions. O(what is in
    /// that one).
    #[must_use]
    pub fn smaller_body(&self, a: BodyId, b: BodyId) -> BodyId {
        let (mut first, mut second) = (self.walk_body(a), self.walk_body(b));
        loop {
            match (first.next(), second.next()) {
                (_, None) => return b,
                (None, _) => return a,
                (Some(_), Some(_)) => {}
            }
        }
    }
}
