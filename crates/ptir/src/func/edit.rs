//! Edits of a function. Every edit checks its arguments first and changes nothing if it is refused.

use sapwood_types::{Span, counted};
use smallvec::SmallVec;

use super::journal::{DfgUndo, LayoutUndo, UndoEntry};
use super::{Function, ValueDef};
use crate::attr::Attr;
use crate::ids::{AttrId, BodyId, InstId, TypeId, ValueId};
use crate::op::{OpKey, OpParts, ResultCount};
use crate::types::ValueType;

/// A position at which an instruction can be inserted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InsertPoint {
    /// Right before an instruction.
    Before(InstId),
    /// Right after an instruction.
    After(InstId),
    /// At the start of a body.
    Start(BodyId),
    /// At the end of a body.
    End(BodyId),
}

/// The reason why an edit was refused. The function is unchanged.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// The instruction was erased or belongs to another function.
    #[error("{0} is not an instruction of this function")]
    NoSuchInst(InstId),
    /// The value no longer exists or belongs to another function.
    #[error("{0} is not a value of this function")]
    NoSuchValue(ValueId),
    /// The body no longer exists or belongs to another function.
    #[error("{0} is not a body of this function")]
    NoSuchBody(BodyId),
    /// The body is already a region of an instruction.
    #[error("{0} is already a region of an instruction")]
    Attached(BodyId),
    /// The value is not available at the place of its use.
    #[error("{value} is not available where `{user}` would use it")]
    NotAvailable {
        /// The value.
        value: ValueId,
        /// The op that would use it.
        user: &'static str,
    },
    /// A result is still used.
    #[error("`{op}` cannot be erased: {value} still has {}", counted(*.uses, "use"))]
    StillUsed {
        /// The op.
        op: &'static str,
        /// The result or parameter that is used.
        value: ValueId,
        /// The number of its uses.
        uses: usize,
    },
    /// The types of a value and of its replacement differ.
    #[error("a value of type {found} cannot replace one of type {expected}")]
    Type {
        /// The type of the value to be replaced.
        expected: Box<ValueType>,
        /// The type of the replacement.
        found: Box<ValueType>,
    },
    /// A terminator must stay the last instruction of its body.
    #[error(
        "`{0}` is a terminator: no instruction may follow it, and it cannot be moved or erased"
    )]
    Terminator(&'static str),
    /// The key passed for a constant is not that of a literal and its type.
    #[error("the key is not that of a literal and its type")]
    NoLiteral,
    /// The insertion point is inside the instruction or body to be inserted.
    #[error("an instruction or body cannot be inserted into its own region")]
    IntoItself,
    /// The parts list too many or too few result types, for example because they were not inferred.
    #[error("`{op}` has {}, but the parts list {found}", counted(*.expected, "result type"))]
    ResultCount {
        /// The op.
        op: &'static str,
        /// The number of results of the op.
        expected: usize,
        /// The number of result types listed.
        found: usize,
    },
    /// The number of values differs from the expected number.
    #[error("expected {}, found {found}", counted(*.expected, "value"))]
    Count {
        /// The expected number.
        expected: usize,
        /// The number of values passed.
        found: usize,
    },
}

impl Function {
    /// Inserts an instruction. Its operands must be available there. Result types are taken from `parts`, not
    /// inferred; [`resolve_parts`](Self::resolve_parts) infers them.
    ///
    /// # Errors
    /// If the place, an operand or a region does not exist or does not fit, or the number of result types is wrong.
    pub fn insert(
        &mut self,
        place: InsertPoint,
        parts: &OpParts,
        span: Span,
    ) -> Result<InstId, EditError> {
        self.check_new_inst(place, parts.key, &parts.operands, parts.result_types.len())?;
        self.check_new_regions(place, &parts.regions)?;
        let inst = self.create(parts, span);
        self.link_created(inst, place);
        Ok(inst)
    }

    // Links an instruction that was created, with regions that were detached.
    pub(super) fn link_created(&mut self, inst: InstId, place: InsertPoint) {
        self.layout.detached -= self.regions(inst).len() as u32;
        self.layout.link(inst, place);
        self.layout.label_inserted(inst);
        self.record_undo(UndoEntry::Inserted(inst));
    }

    // Checks the place, the operands and the number of results of an instruction to be inserted.
    pub(super) fn check_new_inst(
        &self,
        place: InsertPoint,
        key: OpKey,
        operands: &[ValueId],
        results: usize,
    ) -> Result<(), EditError> {
        let def = self.registry().get(key);
        self.check_insert_point(place, def.is_some_and(|d| d.terminator), key)?;
        for &value in operands {
            self.check_available(value, place, key.name())?;
        }
        let expected = match def.map(|d| d.results) {
            Some(ResultCount::None) => 0,
            Some(ResultCount::One) => 1,
            Some(ResultCount::Many) | None => results,
        };
        if results != expected {
            return Err(EditError::ResultCount { op: key.name(), expected, found: results });
        }
        Ok(())
    }

    // Checks that detached bodies can become the regions of an instruction to be inserted.
    pub(super) fn check_new_regions(
        &self,
        place: InsertPoint,
        regions: &[BodyId],
    ) -> Result<(), EditError> {
        for (i, &body) in regions.iter().enumerate() {
            if !self.is_live_body(body) {
                return Err(EditError::NoSuchBody(body));
            }
            if body == self.body()
                || self.body_owner(body).is_some()
                || regions[..i].contains(&body)
            {
                return Err(EditError::Attached(body));
            }
            if self.layout.root_body(self.insert_point_body(place)) == body {
                return Err(EditError::IntoItself);
            }
            self.check_captures(body, place)?;
        }
        Ok(())
    }

    // Checks that every value that a body captures is available at `place`, and that values defined inside are
    // defined before their uses. The latter can fail for two detached bodies that used each other's values before
    // they were joined.
    pub(super) fn check_captures(&self, body: BodyId, place: InsertPoint) -> Result<(), EditError> {
        for inst in self.walk_body(body) {
            for &value in self.operands(inst) {
                let home = match self.value_def(value) {
                    ValueDef::Result(def, _) => self.layout.insts[def.index()].parent,
                    ValueDef::Param(body, _) => body,
                };
                if !self.layout.contains_body(body, home) {
                    self.check_available(value, place, self.op_name(inst))?;
                } else if !self.is_available_to(value, inst) {
                    return Err(EditError::NotAvailable { value, user: self.op_name(inst) });
                }
            }
        }
        Ok(())
    }

    // Checks that the values defined inside these bodies are used only inside. Only detached bodies can violate this.
    pub(super) fn check_contained(&self, bodies: &[BodyId]) -> Result<(), EditError> {
        for &body in bodies {
            let results = self.walk_body(body).flat_map(|inst| self.inst_results(inst));
            let nested = self.walk_body(body).flat_map(|inst| self.regions(inst).iter().copied());
            let params = std::iter::once(body).chain(nested).flat_map(|b| self.body_params(b));
            for value in results.chain(params.copied()) {
                if self.uses(value).any(|u| !self.encloses(body, u.user)) {
                    return Err(EditError::StillUsed {
                        op: "region",
                        value,
                        uses: self.uses(value).count(),
                    });
                }
            }
        }
        Ok(())
    }

    // Creates an instruction that is in no body yet, without checks.
    pub(crate) fn create(&mut self, parts: &OpParts, span: Span) -> InstId {
        let types: SmallVec<[TypeId; 2]> =
            parts.result_types.iter().map(|ty| self.dfg.types.intern(ty)).collect();
        let attrs = self.dfg.attrs.intern_slice(&parts.attrs);
        self.create_inst(parts.key, attrs, &parts.operands, &parts.regions, &types, span)
    }

    /// Creates an instruction that is in no body yet, without checks, from interned attributes and types.
    #[inline]
    pub(crate) fn create_inst(
        &mut self,
        key: OpKey,
        attrs: AttrId,
        operands: &[ValueId],
        regions: &[BodyId],
        types: &[TypeId],
        span: Span,
    ) -> InstId {
        let inst = self.dfg.create_inst(key, attrs, operands, types, span);
        self.layout.create_inst(regions);
        inst
    }

    /// Removes the instruction that was created last, as if it had not been created. It must be in no body, its
    /// results unused.
    pub(crate) fn uncreate_inst(&mut self, inst: InstId) {
        self.dfg.uncreate_inst(inst);
        self.layout.uncreate_inst();
    }

    /// Erases an instruction and its regions. Its results must be unused.
    ///
    /// # Errors
    /// If a result is used, or the instruction is a terminator or does not exist.
    pub fn erase(&mut self, inst: InstId) -> Result<(), EditError> {
        self.check_erasable(inst)?;
        if let Some(value) = self.inst_results(inst).find(|&v| !self.unused(v)) {
            return Err(EditError::StillUsed {
                op: self.op_name(inst),
                value,
                uses: self.uses(value).count(),
            });
        }
        self.erase_unchecked(inst);
        Ok(())
    }

    /// Checks that an instruction could be erased if its results were unused.
    ///
    /// # Errors
    /// If it is a terminator or does not exist, or a detached body uses a value defined in its regions.
    pub fn check_erasable(&self, inst: InstId) -> Result<(), EditError> {
        self.check_inst(inst)?;
        if self.op_def(inst).is_some_and(|def| def.terminator) {
            return Err(EditError::Terminator(self.op_name(inst)));
        }
        if self.layout.detached > 0 {
            self.check_contained(self.regions(inst))?;
        }
        Ok(())
    }

    pub(crate) fn erase_unchecked(&mut self, inst: InstId) {
        if self.has_journal() {
            self.erase_undoably(inst);
        } else {
            self.erase_permanently(inst);
        }
    }

    pub(super) fn erase_permanently(&mut self, inst: InstId) {
        if !self.regions(inst).is_empty() {
            let (nested, bodies) = self.layout.nested(inst);
            for nested in nested {
                self.free_inst(nested);
            }
            for body in bodies {
                self.dfg.bodies[body.index()].live = false;
                self.layout.clear_body(body);
            }
        }
        self.layout.unlink(inst);
        self.free_inst(inst);
    }

    fn free_inst(&mut self, inst: InstId) {
        self.dfg.free_inst(inst);
        self.layout.clear_regions(inst);
    }

    /// Replaces every use of `from` by `to`, including uses by terminators.
    ///
    /// # Errors
    /// If the types differ or `to` is not available at one of the uses.
    pub fn replace_all_uses(&mut self, from: ValueId, to: ValueId) -> Result<(), EditError> {
        self.check_value(from)?;
        self.check_value(to)?;
        if from == to {
            return Ok(());
        }
        if self.type_id(from) != self.type_id(to) {
            return Err(EditError::Type {
                expected: Box::new(self.value_type(from).clone()),
                found: Box::new(self.value_type(to).clone()),
            });
        }
        // A value available to an instruction is available to all users of its results.
        let before = match self.value_def(from) {
            ValueDef::Result(def, _) => self.layout.detached == 0 && self.is_available_to(to, def),
            ValueDef::Param(..) => false,
        };
        if !before && let Some(bad) = self.uses(from).find(|u| !self.is_available_to(to, u.user)) {
            return Err(EditError::NotAvailable { value: to, user: self.op_name(bad.user) });
        }
        self.replace_all_uses_unchecked(from, to);
        Ok(())
    }

    pub(crate) fn replace_all_uses_unchecked(&mut self, from: ValueId, to: ValueId) {
        if !self.has_journal() {
            self.dfg.move_uses(from, to);
            return;
        }
        while let Some(slot) = self.dfg.first_use(from) {
            let inst = self.dfg.use_links[slot as usize].user;
            self.record_dfg_undo(|dfg| {
                let index = slot - dfg.insts[inst.index()].operands;
                DfgUndo::Operand { inst, index, old: from }
            });
            self.dfg.set_operand(slot, inst, to);
        }
    }

    /// Replaces one operand of an instruction.
    ///
    /// # Errors
    /// If the operand does not exist, or the value is not available.
    pub fn set_operand(
        &mut self,
        inst: InstId,
        index: usize,
        value: ValueId,
    ) -> Result<(), EditError> {
        self.check_inst(inst)?;
        self.check_value(value)?;
        let count = self.operands(inst).len();
        if index >= count {
            return Err(EditError::Count { expected: count, found: index + 1 });
        }
        if !self.is_available_to(value, inst) {
            return Err(EditError::NotAvailable { value, user: self.op_name(inst) });
        }
        let slot = self.dfg.insts[inst.index()].operands + index as u32;
        self.record_dfg_undo(|dfg| {
            let old = dfg.operand_pool[slot as usize];
            DfgUndo::Operand { inst, index: index as u32, old }
        });
        self.dfg.set_operand(slot, inst, value);
        Ok(())
    }

    /// Replaces all operands of an instruction; their number may change.
    ///
    /// # Errors
    /// If a value is not available.
    pub fn set_operands(&mut self, inst: InstId, operands: &[ValueId]) -> Result<(), EditError> {
        self.check_inst(inst)?;
        for &value in operands {
            self.check_value(value)?;
            if !self.is_available_to(value, inst) {
                return Err(EditError::NotAvailable { value, user: self.op_name(inst) });
            }
        }
        self.record_dfg_undo(|dfg| DfgUndo::Operands { inst, old: dfg.operands(inst).into() });
        self.dfg.set_operands(inst, operands);
        Ok(())
    }

    /// Swaps the first two operands of an instruction, if it has two, without checking whether its op accepts them; the verifier does.
    ///
    /// # Errors
    /// If the instruction does not exist.
    pub fn swap_operands(&mut self, inst: InstId) -> Result<(), EditError> {
        self.check_inst(inst)?;
        let &[first, second, ..] = self.operands(inst) else { return Ok(()) };
        self.record_dfg_undo(|dfg| DfgUndo::Operands { inst, old: dfg.operands(inst).into() });
        let slot = self.dfg.operand_slots(inst).start;
        self.dfg.set_operand(slot, inst, second);
        self.dfg.set_operand(slot + 1, inst, first);
        Ok(())
    }

    /// Replaces the attributes of an instruction without checking them; the verifier and the builder do.
    ///
    /// # Errors
    /// If the instruction does not exist.
    pub fn set_attrs(&mut self, inst: InstId, attrs: &[Attr]) -> Result<(), EditError> {
        self.check_inst(inst)?;
        let new = self.dfg.attrs.intern_slice(attrs);
        let old = std::mem::replace(&mut self.dfg.insts[inst.index()].attrs, new);
        self.record_dfg_undo(|_| DfgUndo::Attrs { inst, old });
        Ok(())
    }

    /// Replaces the type of a value.
    ///
    /// # Errors
    /// If the value does not exist.
    pub fn set_type(&mut self, value: ValueId, ty: &ValueType) -> Result<(), EditError> {
        self.check_value(value)?;
        let new = self.dfg.types.intern(ty);
        let old = std::mem::replace(&mut self.dfg.values[value.index()].ty, new);
        self.record_dfg_undo(|_| DfgUndo::Type { value, old });
        Ok(())
    }

    /// Moves an instruction with its regions to another place.
    ///
    /// # Errors
    /// If an operand is not available there, or a use would precede the instruction.
    pub fn move_inst(&mut self, inst: InstId, place: InsertPoint) -> Result<(), EditError> {
        self.check_inst(inst)?;
        self.check_insert_point(place, false, self.op_key(inst))?;
        if self.op_def(inst).is_some_and(|def| def.terminator) {
            return Err(EditError::Terminator(self.op_name(inst)));
        }
        if matches!(place, InsertPoint::Before(at) | InsertPoint::After(at) if at == inst) {
            return Ok(());
        }
        let target = self.insert_point_body(place);
        if self.layout.is_body_inside(target, inst) {
            return Err(EditError::IntoItself);
        }
        for nested in std::iter::once(inst)
            .chain(self.regions(inst).iter().flat_map(|&b| self.walk_body(b)).collect::<Vec<_>>())
        {
            for &value in self.operands(nested) {
                let inside = self
                    .inst_of(value)
                    .is_some_and(|d| d != inst && self.is_inside(d, inst))
                    || matches!(self.value_def(value), ValueDef::Param(b, _) if self.layout.is_body_inside(b, inst));
                if !inside {
                    self.check_available(value, place, self.op_name(nested))?;
                }
            }
        }
        // After the move, the instruction's label is right after this one.
        let layout = &self.layout;
        let at = layout.label(layout.mark_before_point(place));
        let sees = |user: InstId| {
            let (user, body) = (&layout.insts[user.index()], &layout.bodies[target.index()]);
            user.label > at
                && user.label < body.exit
                && layout.root_body(user.parent) == layout.root_body(target)
        };
        // Every user of the instruction sees the values that the instruction sees, so the cost of moving it up does
        // not depend on the number of users.
        if !sees(inst) {
            for value in self.inst_results(inst) {
                if let Some(u) = self.uses(value).find(|u| !sees(u.user)) {
                    return Err(EditError::NotAvailable { value, user: self.op_name(u.user) });
                }
            }
        }
        self.relocate(inst, place);
        Ok(())
    }

    pub(super) fn relocate(&mut self, inst: InstId, place: InsertPoint) {
        self.relink(inst, place);
        self.layout.label_inserted(inst);
    }

    // Moves an instruction without changing labels, which is left to the caller.
    pub(super) fn relink(&mut self, inst: InstId, place: InsertPoint) {
        self.record_layout_undo(|layout| {
            let (parent, prev) = layout.position(inst);
            LayoutUndo::Moved { inst, parent, prev }
        });
        self.layout.unlink(inst);
        self.layout.link(inst, place);
    }

    fn is_inside(&self, inst: InstId, owner: InstId) -> bool {
        self.body_of(inst).is_some_and(|b| self.layout.is_body_inside(b, owner))
    }
}
