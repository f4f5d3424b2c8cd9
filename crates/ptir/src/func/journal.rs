//! The undo journal: while it is open, every edit records its inverse.
//!
//! Erased instructions keep their operands and regions until the journal is closed, so that they can be restored. Ids
//! are never reused, whether the edits are committed or rolled back.

use sapwood_types::Span;
use smallvec::SmallVec;

use super::{Function, InsertPoint};
use crate::ids::{AttrId, BodyId, InstId, TypeId, ValueId};

/// The inverse of one edit.
#[derive(Clone)]
pub(crate) enum UndoEntry {
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
    // `to` was inserted and took over regions of `from`; `had` are the regions that `from` had before.
    TookOver { from: InstId, to: InstId, had: SmallVec<[BodyId; 2]> },
    Hint { value: ValueId, old: u32 },
    Span { inst: InstId, old: Span },
    Comment { inst: InstId, old: Option<Box<str>> },
}

impl Function {
    /// Starts to record the inverse of every edit. If a journal is already open, it continues.
    pub fn open_journal(&mut self) {
        self.journal.get_or_insert_with(Vec::new);
    }

    /// Returns whether a journal is open.
    #[must_use]
    #[inline]
    pub fn has_journal(&self) -> bool {
        self.journal.is_some()
    }

    /// Returns the number of edits in the open journal.
    #[must_use]
    pub fn journal_len(&self) -> usize {
        self.journal.as_ref().map_or(0, Vec::len)
    }

    /// Keeps the edits made since the journal was opened, and closes the journal.
    pub fn commit_journal(&mut self) {
        let Some(journal) = self.journal.take() else { return };
        for entry in journal {
            if let UndoEntry::Erased { inst, .. } = entry {
                self.release_erased(inst);
            }
        }
    }

    /// Undoes the edits made since the journal was opened, and closes the journal.
    pub fn rollback_journal(&mut self) {
        let Some(journal) = self.journal.take() else { return };
        for entry in journal.into_iter().rev() {
            self.undo(entry);
        }
    }

    #[inline]
    pub(crate) fn record_undo(&mut self, entry: impl FnOnce(&Self) -> UndoEntry) {
        if self.journal.is_some() {
            let entry = entry(self);
            self.journal.get_or_insert_with(Vec::new).push(entry);
        }
    }

    fn undo(&mut self, entry: UndoEntry) {
        match entry {
            UndoEntry::Inserted(inst) => {
                if self.insts[inst.index()].region_len > 0 {
                    self.detach_regions(inst);
                }
                self.erase_permanently(inst);
            }
            UndoEntry::Erased { inst, parent, prev, comment } => {
                self.restore_erased(inst, parent, prev, comment.as_deref());
            }
            UndoEntry::Operand { inst, index, old } => {
                let slot = self.insts[inst.index()].operands + index;
                self.unlink_use(slot);
                self.operand_pool[slot as usize] = old;
                self.link_use(slot, inst);
            }
            UndoEntry::Operands { inst, old } => self.set_operands_unchecked(inst, &old),
            UndoEntry::Attrs { inst, old } => self.insts[inst.index()].attrs = old,
            UndoEntry::Type { value, old } => self.values[value.index()].ty = old,
            UndoEntry::Moved { inst, parent, prev } => {
                self.unlink(inst);
                self.link(inst, point_after(parent, prev));
                self.label_inserted(inst);
            }
            UndoEntry::NewBody(body) => {
                self.bodies[body.index()].live = false;
                self.detached -= 1;
            }
            UndoEntry::DroppedBody(body) => {
                self.bodies[body.index()].live = true;
                self.detached += 1;
            }
            UndoEntry::PushedParam(body) => drop(self.bodies[body.index()].params.pop()),
            UndoEntry::Params { body, old } => {
                self.bodies[body.index()].params = old;
                self.renumber_params(body);
            }
            UndoEntry::TookRegions { inst, count } => self.reattach_regions(inst, count),
            UndoEntry::TookOver { from, to, had } => {
                self.insts[to.index()].region_len = 0;
                self.set_regions(from, &had);
                self.erase_permanently(to);
                self.label_inserted(from);
            }
            UndoEntry::Hint { value, old } => self.values[value.index()].hint = old,
            UndoEntry::Span { inst, old } => self.spans[inst.index()] = old,
            UndoEntry::Comment { inst, old } => self.set_comment(inst, old.as_deref()),
        }
    }

    fn reattach_regions(&mut self, inst: InstId, count: u32) {
        self.insts[inst.index()].region_len = count;
        self.detached -= count;
        for (slot, body) in self.regions(inst).to_vec().into_iter().enumerate() {
            let data = &mut self.bodies[body.index()];
            (data.owner, data.slot) = (inst, slot as u32);
        }
        self.label_inserted(inst);
    }

    // Returns the instructions and bodies nested in the regions of an instruction.
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

    // Erases an instruction so that the edit can be undone: operands, regions and the links inside are kept.
    pub(super) fn erase_undoably(&mut self, inst: InstId) {
        let comment = self.comment(inst).map(Into::into);
        self.record_undo(|f| {
            let data = &f.insts[inst.index()];
            UndoEntry::Erased { inst, parent: data.parent, prev: data.prev, comment }
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

    fn restore_erased(
        &mut self,
        inst: InstId,
        parent: BodyId,
        prev: InstId,
        comment: Option<&str>,
    ) {
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
            self.link(inst, point_after(parent, prev));
            self.label_inserted(inst);
        }
        self.set_comment(inst, comment);
    }

    // Frees the operands and bodies that an erased instruction still holds.
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

fn point_after(parent: BodyId, prev: InstId) -> InsertPoint {
    prev.some().map_or(InsertPoint::Start(parent), InsertPoint::After)
}
