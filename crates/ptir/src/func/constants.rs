//! Constants: one `constant` instruction per literal, at the start of the function.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_types::Span;

use super::journal::UndoEntry;
use super::{EditError, Function, InsertPoint};
use crate::attr::Attr;
use crate::ids::{AttrId, InstId, TypeId, ValueId};
use crate::literal::TensorLiteral;
use crate::op::Op;

/// The `constant` instruction of each literal. A literal nearly always has one type (only named dims can give it a
/// second one), so the table has one direct slot per literal. Literals created at the same time are near each other
/// in memory.
#[derive(Clone, Default)]
pub(super) struct ConstantTable {
    by_literal: Vec<(TypeId, InstId)>,
    other_types: HashMap<(AttrId, TypeId), InstId, FxBuildHasher>,
}

impl ConstantTable {
    fn get(&self, key: (AttrId, TypeId)) -> Option<InstId> {
        match self.by_literal.get(key.0.index()) {
            Some(&(ty, inst)) if ty == key.1 => inst.some(),
            _ if self.other_types.is_empty() => None,
            _ => self.other_types.get(&key).copied(),
        }
    }

    fn insert(&mut self, key: (AttrId, TypeId), inst: InstId) {
        if self.by_literal.len() <= key.0.index() {
            self.by_literal.resize(key.0.index() + 1, (key.1, InstId::NONE));
        }
        let slot = &mut self.by_literal[key.0.index()];
        if slot.0 == key.1 || slot.1.is_none() {
            *slot = (key.1, inst);
        } else {
            self.other_types.insert(key, inst);
        }
    }

    fn clear(&mut self) {
        self.by_literal.clear();
        self.other_types.clear();
    }
}

impl Function {
    /// Returns the value of a literal for use at a place: a `constant` at the start of the function, shared by all
    /// uses of the literal. The start of the function's own body is before its constants, so an instruction that uses
    /// the value must be inserted after it.
    pub fn constant(&mut self, literal: &TensorLiteral, at: InsertPoint, span: Span) -> ValueId {
        let count = self.dfg.insts.len();
        let start = InsertPoint::Start(self.body());
        let value = self.constant_unlabelled(literal, span, start, |f, known| {
            at == start || f.check_available(known, at, "constant").is_ok()
        });
        if self.dfg.insts.len() > count {
            self.layout.label_inserted(InstId::new(count));
            self.record_undo(UndoEntry::Inserted(InstId::new(count)));
        }
        value
    }

    pub(crate) fn constant_unlabelled(
        &mut self,
        literal: &TensorLiteral,
        span: Span,
        place: InsertPoint,
        usable: impl FnOnce(&Self, ValueId) -> bool,
    ) -> ValueId {
        let (attr_id, type_id) = self.constant_key(literal);
        if let Some(known) = self.dfg.constants.get((attr_id, type_id))
            && self.is_live(known)
            && self.attr_id(known) == attr_id
            && self.is::<crate::ops::Constant>(known)
            && let Some(value) = self.value_of(known)
            && self.type_id(value) == type_id
            && usable(self, value)
        {
            return value;
        }
        let key = crate::ops::Constant::key();
        let inst = self.create_inst(key, attr_id, &[], &[], &[type_id], span);
        self.layout.link(inst, place);
        self.dfg.constants.insert((attr_id, type_id), inst);
        ValueId::new(self.dfg.insts[inst.index()].results as usize)
    }

    /// Returns the key that identifies a constant in this function: the interned literal and its type.
    pub fn constant_key(&mut self, literal: &TensorLiteral) -> (AttrId, TypeId) {
        (self.literal_id(literal), self.dfg.types.intern(&literal.ty().into()))
    }

    /// Returns the [`constant_key`](Self::constant_key) of a literal that probably has the type of `value`, which is
    /// faster.
    pub fn constant_key_like(
        &mut self,
        literal: &TensorLiteral,
        value: ValueId,
    ) -> (AttrId, TypeId) {
        let ty = self.type_id(value);
        match self.dfg.types.get(ty).as_tensor().is_some_and(|t| literal.has_type(t)) {
            true => (self.literal_id(literal), ty),
            false => self.constant_key(literal),
        }
    }

    fn literal_id(&mut self, literal: &TensorLiteral) -> AttrId {
        self.dfg.attrs.intern_array([Attr::Literal(literal.clone())])
    }

    /// Inserts a `constant` instruction and registers it as the constant of its literal. `key` is the
    /// [`constant_key`](Self::constant_key) of the literal.
    ///
    /// # Errors
    /// If `place` does not exist, or `key` is not the key of a literal.
    pub fn insert_constant(
        &mut self,
        place: InsertPoint,
        key: (AttrId, TypeId),
    ) -> Result<InstId, EditError> {
        let op = crate::ops::Constant::key();
        self.check_insert_point(place, false, op)?;
        self.check_literal(key)?;
        let inst = self.create_inst(op, key.0, &[], &[], &[key.1], Span::unknown());
        self.layout.link(inst, place);
        self.layout.label_inserted(inst);
        self.record_undo(UndoEntry::Inserted(inst));
        self.dfg.constants.insert(key, inst);
        Ok(inst)
    }

    fn check_literal(&self, (literal, ty): (AttrId, TypeId)) -> Result<(), EditError> {
        let ty = self.dfg.types.get(ty).as_tensor();
        match &self.dfg.attrs.get(literal)[..] {
            [Attr::Literal(literal)] if ty.is_some_and(|ty| literal.has_type(ty)) => Ok(()),
            _ => Err(EditError::NoLiteral),
        }
    }

    /// Converts an instruction with one result and no regions into the registered `constant` of a literal, and moves
    /// it to another place. Its result is kept; its operands are released. This edit cannot be rolled back, so no
    /// journal may be open.
    ///
    /// # Errors
    /// If the instruction has regions or not exactly one result, `key` is not the key of a literal of its result
    /// type, `place` does not exist, a use would precede the instruction, or a journal is open.
    pub fn convert_to_constant(
        &mut self,
        inst: InstId,
        place: InsertPoint,
        key: (AttrId, TypeId),
    ) -> Result<(), EditError> {
        self.check_inst(inst)?;
        let op = crate::ops::Constant::key();
        self.check_insert_point(place, false, op)?;
        self.check_literal(key)?;
        let data = &self.dfg.insts[inst.index()];
        let one = self.regions(inst).is_empty() && data.result_len == 1;
        let near = matches!(place, InsertPoint::Before(at) | InsertPoint::After(at) if at == inst);
        if !one
            || near
            || self.has_journal()
            || self.type_id(ValueId::new(data.results as usize)) != key.1
        {
            return Err(EditError::NoLiteral);
        }
        // Earlier in the same body, or in an enclosing body, it is visible from its old position.
        let (layout, node) = (&self.layout, &self.layout.insts[inst.index()]);
        let target = layout.insert_point_body(place);
        if layout.label(layout.mark_before_point(place)) >= node.label
            || layout.root_body(target) != layout.root_body(node.parent)
            || !layout.encloses(target, inst)
        {
            return Err(EditError::NotAvailable {
                value: ValueId::new(data.results as usize),
                user: "constant",
            });
        }
        self.dfg.free_operands(inst);
        let data = &mut self.dfg.insts[inst.index()];
        (data.key, data.attrs) = (op, key.0);
        self.relink(inst, place);
        self.layout.label_inserted(inst);
        self.dfg.constants.insert(key, inst);
        Ok(())
    }

    /// Returns the registered `constant` instruction of a literal, if it still exists.
    #[must_use]
    pub fn find_constant(&self, key: (AttrId, TypeId)) -> Option<InstId> {
        let inst = self.dfg.constants.get(key)?;
        let value = self.is_live(inst).then(|| self.value_of(inst)).flatten()?;
        let same = self.is::<crate::ops::Constant>(inst)
            && (self.attr_id(inst), self.type_id(value)) == key;
        same.then_some(inst)
    }

    /// Registers a `constant` instruction as the constant of its literal.
    pub fn register_constant(&mut self, inst: InstId) {
        if let Some(value) = self.value_of(inst).filter(|_| self.is::<crate::ops::Constant>(inst)) {
            let key = (self.attr_id(inst), self.type_id(value));
            self.dfg.constants.insert(key, inst);
        }
    }

    /// Clears the table of constants. The instructions are kept.
    pub fn clear_constants(&mut self) {
        self.dfg.constants.clear();
    }
}
