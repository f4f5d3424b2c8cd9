//! Constants: one per literal and function, before the instructions that use them.

use sapwood_ptir::ops::Constant;
use sapwood_ptir::{AttrId, Function, InsertPoint, InstId, Op, TensorLiteral, TypeId, ValueId};
use smallvec::SmallVec;

use super::{EditEvent, ProgramRewriter, StepKind};

impl ProgramRewriter<'_> {
    /// Returns a value with a literal, for use at an instruction and after it. All uses of a literal share one constant, which
    /// is moved to the start of the function if necessary.
    pub fn materialize_constant(&mut self, at: InstId, literal: &TensorLiteral) -> ValueId {
        let key = self.constant_key(at, literal);
        self.get_or_insert_constant(at, key)
    }

    // Returns the key of a literal whose type is most likely that of the instruction's result.
    fn constant_key(&mut self, at: InstId, literal: &TensorLiteral) -> (AttrId, TypeId) {
        match self.function.value_of(at) {
            Some(result) => self.function.constant_key_like(literal, result),
            None => self.function.constant_key(literal),
        }
    }

    /// Replaces the only result of an instruction by a literal. Returns false if that failed.
    pub(crate) fn replace_with_constant(&mut self, inst: InstId, literal: &TensorLiteral) -> bool {
        let key = self.constant_key(inst, literal);
        if self.can_skip_events()
            && self.function.find_constant(key).is_none()
            && self.convert_to_constant(inst, key)
        {
            return true;
        }
        let value = self.get_or_insert_constant(inst, key);
        self.replace_inst(inst, &[value]).is_ok()
    }

    // Turns the instruction itself into the constant: equivalent to replacing it by a new one, without inserting one. Only the
    // change tracker is notified.
    fn convert_to_constant(&mut self, inst: InstId, key: (AttrId, TypeId)) -> bool {
        let place = self.next_leading_place();
        let f = &mut *self.function;
        let operands: SmallVec<[ValueId; 4]> = SmallVec::from_slice(f.operands(inst));
        let owner = f.body_of(inst).and_then(|b| f.body_owner(b));
        if f.convert_to_constant(inst, place, key).is_err() {
            return false;
        }
        self.last_leading_constant = Some(inst);
        self.changes.tick();
        if self.changes.is_enabled() {
            // The users read the same value as before, but with another definition.
            self.changes.mark_changed(inst);
            for value in f.inst_results(inst) {
                f.uses(value).for_each(|u| self.changes.mark_affected(u.user));
            }
            for value in operands {
                self.changes.mark_uses_removed(f, value);
            }
            if let Some(owner) = owner {
                self.changes.mark_changed(owner);
            }
        }
        true
    }

    fn get_or_insert_constant(&mut self, at: InstId, key: (AttrId, TypeId)) -> ValueId {
        if let Some(inst) = self.function.find_constant(key)
            && let Some(value) = self.function.value_of(inst)
        {
            if self.function.is_available_to(value, at) {
                return value;
            }
            self.move_to_leading_constants(inst);
            if self.function.is_available_to(value, at) {
                return value;
            }
        }
        let value = self.insert_leading_constant(key);
        // The user is itself before the leading constants, at the start of the function.
        if !self.function.is_available_to(value, at)
            && let Some(inst) = self.function.inst_of(value)
        {
            let start = InsertPoint::Start(self.function.body());
            let moved = self.move_without_event(inst, start);
            debug_assert!(moved.is_ok(), "a constant fits at the start of a function");
        }
        value
    }

    fn insert_leading_constant(&mut self, key: (AttrId, TypeId)) -> ValueId {
        let place = self.next_leading_place();
        // A literal always has its own type, and a constant may always be at the start of a function.
        let Ok(inst) = self.function.insert_constant(place, key) else {
            unreachable!("a constant fits at the start of a function")
        };
        self.notify(EditEvent::Inserted(inst));
        self.last_leading_constant = Some(inst);
        match self.function.value_of(inst) {
            Some(value) => value,
            None => unreachable!("a constant has a result"),
        }
    }

    /// Moves a constant to the end of the leading constants.
    fn move_to_leading_constants(&mut self, inst: InstId) {
        let place = self.next_leading_place();
        // Constants have no operands, so they may be at the start.
        if self.move_without_event(inst, place).is_ok() {
            self.last_leading_constant = Some(inst);
        }
    }

    fn next_leading_place(&self) -> InsertPoint {
        match self.last_leading_constant {
            Some(last) => InsertPoint::After(last),
            None => InsertPoint::Start(self.function.body()),
        }
    }

    /// Merges constants with the same literal and type. `order` has all instructions in program order. Returns the number of
    /// merged constants, and the number of constants erased because nothing used them.
    pub(crate) fn deduplicate_constants(
        &mut self,
        order: &[InstId],
        drop_unused: bool,
    ) -> (usize, usize) {
        self.function.clear_constants();
        let key = Constant::key();
        let (mut merged, mut erased) = (0, 0);
        for &inst in order {
            if self.function.op_key(inst) != key {
                continue;
            }
            let Some(value) = self.function.value_of(inst) else { continue };
            if drop_unused && self.function.unused(value) {
                self.notify_step(StepKind::Dce, inst);
                erased += usize::from(self.erase_inst(inst).is_ok());
                continue;
            }
            merged += usize::from(self.deduplicate_constant(inst));
        }
        (merged, erased)
    }

    /// Makes a constant the shared one of its literal, or replaces it by the shared one. Returns true if it was replaced.
    pub(crate) fn deduplicate_constant(&mut self, inst: InstId) -> bool {
        let Some(value) = self.function.value_of(inst) else { return false };
        let key = (self.function.attr_id(inst), self.function.type_id(value));
        let Some(first) = self.function.find_constant(key) else {
            self.function.register_constant(inst);
            return false;
        };
        if first == inst {
            return false;
        }
        let Some(kept) = self.function.value_of(first) else { return false };
        if !self.function.is_available_to(kept, inst) {
            self.move_to_leading_constants(first);
        }
        if self.check_replace_inst(inst, &[kept]).is_err() {
            return false;
        }
        self.notify_step(StepKind::Cse, inst);
        self.replace_all_uses(value, kept).is_ok() && self.erase_inst(inst).is_ok()
    }
}

/// Returns the last of the constants at the start of a function.
pub(super) fn find_last_leading_constant(f: &Function) -> Option<InstId> {
    let key = Constant::key();
    f.body_insts(f.body()).take_while(|&i| f.op_key(i) == key).last()
}

/// Returns the literal of a value that a constant defines, or a broadcast of a splat.
pub fn constant_of(f: &Function, value: ValueId) -> Option<TensorLiteral> {
    if let Some(literal) = f.constant_of(value) {
        return Some(literal.clone());
    }
    let source = f.repeated_splat(value)?;
    let shape = f.value_type(value).as_tensor()?.known_shape()?;
    TensorLiteral::splat(source.dtype(), &shape, source.as_splat()?).ok()
}
