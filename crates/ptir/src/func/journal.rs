//! The undo journal: while it is open, every edit records its inverse.
//!
//! An entry belongs to the data flow, to the layout, or to both. There is one list, because the order of the edits of
//! both halves matters. Erased instructions keep their operands and regions until the journal is closed, so that they
//! can be restored. Ids are never reused, whether the edits are committed or rolled back.

use sapwood_types::Span;
use smallvec::SmallVec;

use super::{Dfg, Function, InsertPoint, Layout};
use crate::ids::{AttrId, BodyId, InstId, TypeId, ValueId};

/// The inverse of one edit.
#[derive(Clone)]
pub(crate) enum UndoEntry {
    Dfg(DfgUndo),
    Layout(LayoutUndo),
    Inserted(InstId),
    Erased { inst: InstId, parent: BodyId, prev: InstId, comment: Option<Box<str>> },
    NewBody(BodyId),
    DroppedBody(BodyId),
    // `to` was inserted and took over regions of `from`; `had` are the regions that `from` had before.
    TookOver { from: InstId, to: InstId, had: SmallVec<[BodyId; 2]> },
}

/// The inverse of an edit that changes only the data flow.
#[derive(Clone)]
pub(crate) enum DfgUndo {
    Operand { inst: InstId, index: u32, old: ValueId },
    Operands { inst: InstId, old: SmallVec<[ValueId; 4]> },
    Attrs { inst: InstId, old: AttrId },
    Type { value: ValueId, old: TypeId },
    PushedParam(BodyId),
    Params { body: BodyId, old: SmallVec<[ValueId; 2]> },
    Hint { value: ValueId, old: u32 },
    Span { inst: InstId, old: Span },
    Comment { inst: InstId, old: Option<Box<str>> },
}

/// The inverse of an edit that changes only the layout.
#[derive(Clone, Copy)]
pub(crate) enum LayoutUndo {
    Moved { inst: InstId, parent: BodyId, prev: InstId },
    TookRegions { inst: InstId, count: u32 },
}

impl Dfg {
    fn undo(&mut self, entry: DfgUndo) {
        match entry {
            DfgUndo::Operand { inst, index, old } => {
                let slot = self.insts[inst.index()].operands + index;
                self.set_operand(slot, inst, old);
            }
            DfgUndo::Operands { inst, old } => self.set_operands(inst, &old),
            DfgUndo::Attrs { inst, old } => self.insts[inst.index()].attrs = old,
            DfgUndo::Type { value, old } => self.values[value.index()].ty = old,
            DfgUndo::PushedParam(body) => drop(self.bodies[body.index()].params.pop()),
            DfgUndo::Params { body, old } => self.set_params(body, old),
            DfgUndo::Hint { value, old } => self.values[value.index()].hint = old,
            DfgUndo::Span { inst, old } => self.spans[inst.index()] = old,
            DfgUndo::Comment { inst, old } => self.set_comment(inst, old.as_deref()),
        }
    }
}

impl Layout {
    fn undo(&mut self, entry: LayoutUndo) {
        match entry {
            LayoutUndo::Moved { inst, parent, prev } => {
                self.unlink(inst);
                self.relink_after(inst, parent, prev);
            }
            LayoutUndo::TookRegions { inst, count } => self.reattach_regions(inst, count),
        }
    }

    // Links an instruction where it was: after `prev`, or at the start of its body.
    fn relink_after(&mut self, inst: InstId, parent: BodyId, prev: InstId) {
        self.link(inst, prev.some().map_or(InsertPoint::Start(parent), InsertPoint::After));
        self.label_inserted(inst);
    }
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
    pub(super) fn record_undo(&mut self, entry: UndoEntry) {
        if let Some(journal) = &mut self.journal {
            journal.push(entry);
        }
    }

    #[inline]
    pub(super) fn record_dfg_undo(&mut self, entry: impl FnOnce(&Dfg) -> DfgUndo) {
        if let Some(journal) = &mut self.journal {
            journal.push(UndoEntry::Dfg(entry(&self.dfg)));
        }
    }

    #[inline]
    pub(super) fn record_layout_undo(&mut self, entry: impl FnOnce(&Layout) -> LayoutUndo) {
        if let Some(journal) = &mut self.journal {
            journal.push(UndoEntry::Layout(entry(&self.layout)));
        }
    }

    fn undo(&mut self, entry: UndoEntry) {
        match entry {
            UndoEntry::Dfg(entry) => self.dfg.undo(entry),
            UndoEntry::Layout(entry) => self.layout.undo(entry),
            UndoEntry::Inserted(inst) => {
                if !self.regions(inst).is_empty() {
                    self.layout.detach_regions(inst);
                }
                self.erase_permanently(inst);
            }
            UndoEntry::Erased { inst, parent, prev, comment } => {
                self.restore_erased(inst, parent, prev);
                self.dfg.set_comment(inst, comment.as_deref());
            }
            UndoEntry::NewBody(body) => {
                self.dfg.bodies[body.index()].live = false;
                self.layout.detached -= 1;
            }
            UndoEntry::DroppedBody(body) => {
                self.dfg.bodies[body.index()].live = true;
                self.layout.detached += 1;
            }
            UndoEntry::TookOver { from, to, had } => {
                self.layout.clear_regions(to);
                self.layout.set_regions(from, &had);
                self.erase_permanently(to);
                self.layout.label_inserted(from);
            }
        }
    }

    // Erases an instruction so that the edit can be undone: operands, regions and the links inside are kept.
    pub(super) fn erase_undoably(&mut self, inst: InstId) {
        let comment = self.comment(inst).map(Into::into);
        let (parent, prev) = self.layout.position(inst);
        self.record_undo(UndoEntry::Erased { inst, parent, prev, comment });
        let (nested, bodies) = self.layout.nested(inst);
        for &each in nested.iter().chain([&inst]) {
            self.dfg.suspend_inst(each);
        }
        for body in bodies {
            self.dfg.bodies[body.index()].live = false;
        }
        self.layout.unlink(inst);
    }

    fn restore_erased(&mut self, inst: InstId, parent: BodyId, prev: InstId) {
        let (nested, bodies) = self.layout.nested(inst);
        for body in bodies {
            self.dfg.bodies[body.index()].live = true;
        }
        for &each in nested.iter().chain([&inst]) {
            self.dfg.restore_inst(each);
        }
        if parent.some().is_some() {
            self.layout.relink_after(inst, parent, prev);
        }
    }

    // Frees the operands and bodies that an erased instruction still holds.
    fn release_erased(&mut self, inst: InstId) {
        let (nested, bodies) = self.layout.nested(inst);
        for &each in nested.iter().chain([&inst]) {
            self.dfg.release_operands(each);
            self.dfg.set_comment(each, None);
            self.layout.clear_regions(each);
        }
        for body in bodies {
            self.layout.clear_body(body);
        }
    }
}
