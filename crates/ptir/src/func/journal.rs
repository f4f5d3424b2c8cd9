//! Edits that can be taken back: while a journal is open, every edit notes its inverse.
//!
//! Instructions that are erased meanwhile keep their operands and regions until the journal is closed, so that they can
//! stand up again. Ids are never reused either way.

use sapwood_types::Span;
use smallvec::SmallVec;

use super::{Function, Place};
use crate::ids::{AttrId, BodyId, InstId, TypeId, ValueId};

/// The inverse of one edit.
#[derive(Clone)]
pub(crate) enum Undo {
    Inserted(InstId),
    Erased { inst: InstId, parent: BodyId, prev: InstId, comment: Option<Box<str>> },
    Operand { inst: InstId, index: u32, old: ValueId },
    Operands { inst: InstId, old: SmallVec<[ValueId; 4]> },
    Attrs { inst: InstId, old: AttrId },
    Type { value: ValueId, old: TypeId },
    Moved { inst: InstId, parent: BodyId, prev: InstId },
    NewBody(BodyId),
    DroppedBody(BodyId),
    PushedParam(BodyId),
    Params { body: BodyId, old: SmallVec<[ValueId; 2]> },
    TookRegions { inst: InstId, count: u32 },
    // `to` was inserted and took over regions; those that `from` had.
    TookOver { from: InstId, to: InstId, had: SmallVec<[BodyId; 2]> },
    Hint { value: ValueId, old: u32 },
    Span { inst: InstId, old: Span },
    Comment { inst: InstId, old: Option<Box<str>> },
}

impl Function {
    /// Starts to note how to take back what follows. One journal at a time: an open one goes on.
    pub fn open_journal(&mut self) {
        self.journal.get_or_insert_with(Vec::new);
    }

    /// Whether a journal is open.
    #[must_use]
    #[inline]
    pub fn has_journal(&self) -> bool {
        self.journal.is_some()
    }

    /// How many edits the open journal has.
    #[must_use]
    pub fn journal_len(&self) -> usize {
        self.journal.as_ref().map_or(0, Vec::len)
    }

    /// Keeps what was done since the journal was opened, and closes it.
    pub fn keep_edits(&mut self) {
        let Some(journal) = self.journal.take() else { return };
        for entry in journal {
            if let Undo::Erased { inst, .. } = entry {
                self.release_erased(inst);
            }
        }
    }

    /// Takes back what was done since the journal was opened, and closes it.
    pub fn take_back_edits(&mut self) {
        let Some(journal) = self.journal.take() else { return };
        for entry in journal.into_iter().rev() {
            self.undo(entry);
        }
    }

    #[inline]
    pub(crate) fn note(&mut self, entry: impl FnOnce(&Self) -> Undo) {
        if self.journal.is_some() {
            let entry = entry(self);
            self.journal.get_or_insert_with(Vec::new).push(entry);
        }
    }

    fn undo(&mut self, entry: Undo) {
        match entry {
            Undo::Inserted(inst) => {
                if self.insts[inst.index()].region_len > 0 {
                    self.detach_regions(inst);
                }
                self.erase_for_good(inst);
            }
            Undo::Erased { inst, parent, prev, comment } => {
                self.stand_up(inst, parent, prev, comment.as_deref());
            }
            Undo::Operand { inst, index, old } => {
                let slot = self.insts[inst.index()].operands + index;
                self.unlink_use(slot);
                self.operand_pool[slot as usize] = old;
                self.link_use(slot, inst);
            }
            Undo::Operands { inst, old } => self.set_operands_unchecked(inst, &old),
            Undo::Attrs { inst, old } => self.insts[inst.index()].attrs = old,
            Undo::Type { value, old } => self.values[value.index()].ty = old,
            Undo::Moved { inst, parent, prev } => {
                self.unlink(inst);
                self.link(inst, place_after(parent, prev));
                self.label_inserted(inst);
            }
            Undo::NewBody(body) => {
                self.bodies[body.index()].live = false;
                self.detached -= 1;
            }
            Undo::DroppedBody(body) => {
                self.bodies[body.index()].live = true;
                self.detached += 1;
            }
            Undo::PushedParam(body) => drop(self.bodies[body.index()].params.pop()),
            Undo::Params { body, old } => {
                self.bodies[body.index()].params = old;
                self.renumber_params(body);
            }
            Undo::TookRegions { inst, count } => self.attach_regions_again(inst, count),
            Undo::TookOver { from, to, had } => {
                self.insts[to.index()].region_len = 0;
                self.set_regions(from, &had);
                self.erase_for_good(to);
                self.label_inserted(from);
            }
            Undo::Hint { value, old } => self.values[value.index()].hint = old,
            Undo::Span { inst, old } => self.spans[inst.index()] = old,
            Undo::Comment { inst, old } => self.set_comment(inst, old.as_deref()),
        }
    }

    fn attach_regions_again(&mut self, inst: InstId, count: u32) {
        self.insts[inst.index()].region_len = count;
        self.detached -= count;
        for (slot, body) in self.regions(inst).to_vec().into_iter().enumerate() {
            let data = &mut self.bodies[body.index()];
            (data.owner, data.slot) = (inst, slot as u32);
        }
        self.label_inserted(inst);
    }

    // The instructions below the regions of one, and the bodies.
    fn nested(&self, inst: InstId) -> (Vec<InstId>, Vec<BodyId>) {
        let mut insts = Vec::new();
        let mut bodies = self.regions(inst).to_vec();
        let mut at = 0;
        while at < bodies.len() {
            for nested in self.body_insts(bodies[at]) {
                insts.push(nested);
                bodies.extend_from_slice(self.regions(nested));
            }
            at += 1;
        }
        (insts, bodies)
    }

    // Erases so that it can be taken back: operands, regions and links inside stay as they are.
    pub(super) fn lie_down(&mut self, inst: InstId) {
        let comment = self.comment(inst).map(Into::into);
        self.note(|f| {
            let data = &f.insts[inst.index()];
            Undo::Erased { inst, parent: data.parent, prev: data.prev, comment }
        });
        let (nested, bodies) = self.nested(inst);
        for &each in nested.iter().chain([&inst]) {
            let data = &self.insts[each.index()];
            for slot in data.operands..data.operands + data.operand_len {
                self.unlink_use(slot);
            }
            self.insts[each.index()].live = false;
            self.live -= 1;
        }
        for body in bodies {
            self.bodies[body.index()].live = false;
        }
        if self.body_of(inst).is_some() {
            self.unlink(inst);
        }
    }

    fn stand_up(&mut self, inst: InstId, parent: BodyId, prev: InstId, comment: Option<&str>) {
        let (nested, bodies) = self.nested(inst);
        for body in bodies {
            self.bodies[body.index()].live = true;
        }
        for &each in nested.iter().chain([&inst]) {
            self.insts[each.index()].live = true;
            self.live += 1;
            let data = &self.insts[each.index()];
            for slot in data.operands..data.operands + data.operand_len {
                self.link_use(slot, each);
            }
        }
        if parent.some().is_some() {
            self.link(inst, place_after(parent, prev));
            self.label_inserted(inst);
        }
        self.set_comment(inst, comment);
    }

    // What an erased instruction still held is free now.
    fn release_erased(&mut self, inst: InstId) {
        let (nested, bodies) = self.nested(inst);
        for &each in nested.iter().chain([&inst]) {
            self.release_operands(each);
            self.insts[each.index()].region_len = 0;
            self.set_comment(each, None);
        }
        for body in bodies {
            let data = &mut self.bodies[body.index()];
            (data.first, data.last) = (InstId::NONE, InstId::NONE);
        }
    }
}

fn place_after(parent: BodyId, prev: InstId) -> Place {
    prev.some().map_or(Place::Start(parent), Place::After)
}
