//! Constants: at the start of a function, one per literal.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_types::Span;
use smallvec::SmallVec;

use super::journal::Undo;
use super::{EditError, Function, InstSpec, Place, RawInst};
use crate::attr::{Attr, AttrList};
use crate::ids::{AttrId, InstId, TypeId, ValueId};
use crate::literal::TensorLiteral;
use crate::op::Op;
use crate::types::ValueType;

/// The instruction that stands for each literal. A literal has one type, but for names that dims have; so there is a place
/// for one type per literal, and what is found there is near to what was made at the same time.
#[derive(Clone, Default)]
pub(super) struct ConstantTable {
    first: Vec<(TypeId, InstId)>,
    more: HashMap<(AttrId, TypeId), InstId, FxBuildHasher>,
}

impl ConstantTable {
    fn get(&self, key: (AttrId, TypeId)) -> Option<InstId> {
        match self.first.get(key.0.index()) {
            Some(&(ty, inst)) if ty == key.1 => inst.some(),
            _ if self.more.is_empty() => None,
            _ => self.more.get(&key).copied(),
        }
    }

    fn insert(&mut self, key: (AttrId, TypeId), inst: InstId) {
        if self.first.len() <= key.0.index() {
            self.first.resize(key.0.index() + 1, (key.1, InstId::NONE));
        }
        let slot = &mut self.first[key.0.index()];
        if slot.0 == key.1 || slot.1.is_none() {
            *slot = (key.1, inst);
        } else {
            self.more.insert(key, inst);
        }
    }

    fn clear(&mut self) {
        self.first.clear();
        self.more.clear();
    }
}

impl Function {
    /// The value of a literal, for use at a place: a `constant` at the start of the function, the same one for the
    /// same literal. The start of the function's own body lies before its constants: what uses the value goes after it.
    pub fn constant(&mut self, literal: &TensorLiteral, at: Place, span: Span) -> ValueId {
        let count = self.insts.len();
        let start = Place::Start(self.body());
        let value = self.constant_unlabelled(literal, span, start, |f, known| {
            at == start || f.check_available(known, at, "constant").is_ok()
        });
        if self.insts.len() > count {
            self.label_inserted(InstId::new(count));
            self.note(|_| Undo::Inserted(InstId::new(count)));
        }
        value
    }

    pub(crate) fn constant_unlabelled(
        &mut self,
        literal: &TensorLiteral,
        span: Span,
        place: Place,
        usable: impl FnOnce(&Self, ValueId) -> bool,
    ) -> ValueId {
        let attrs: AttrList = [Attr::Literal(literal.clone())].into();
        let attr_id = self.attrs.intern(&attrs);
        let ty: ValueType = literal.ty().into();
        let type_id = self.types.intern(&ty);
        if let Some(known) = self.constants.get((attr_id, type_id))
            && self.is_live(known)
            && self.attr_id(known) == attr_id
            && self.is::<crate::ops::Constant>(known)
            && let Some(value) = self.value_of(known)
            && self.type_id(value) == type_id
            && usable(self, value)
        {
            return value;
        }
        let spec = InstSpec {
            key: crate::ops::Constant::key(),
            attrs,
            operands: SmallVec::new(),
            regions: SmallVec::new(),
            result_types: SmallVec::from_iter([ty]),
            span,
        };
        let inst = self.create(&spec);
        self.link(inst, place);
        self.constants.insert((attr_id, type_id), inst);
        ValueId::new(self.insts[inst.index()].results as usize)
    }

    /// What tells the constants of this function apart: the numbers of literal and type.
    pub fn constant_key(&mut self, literal: &TensorLiteral) -> (AttrId, TypeId) {
        (self.literal_id(literal), self.types.intern(&literal.ty().into()))
    }

    /// The same where the literal has most likely the type of a value, which is faster.
    pub fn constant_key_like(
        &mut self,
        literal: &TensorLiteral,
        value: ValueId,
    ) -> (AttrId, TypeId) {
        let ty = self.type_id(value);
        match self.types.get(ty).as_tensor().is_some_and(|t| literal.has_type(t)) {
            true => (self.literal_id(literal), ty),
            false => self.constant_key(literal),
        }
    }

    fn literal_id(&mut self, literal: &TensorLiteral) -> AttrId {
        self.attrs.intern_array([Attr::Literal(literal.clone())])
    }

    /// Makes the `constant` instruction that stands for a literal from now on. `key` is what
    /// [`constant_key`](Self::constant_key) gave for it.
    ///
    /// # Errors
    /// If there is no such place, or `key` is that of no literal.
    pub fn insert_constant(
        &mut self,
        place: Place,
        key: (AttrId, TypeId),
    ) -> Result<InstId, EditError> {
        let op = crate::ops::Constant::key();
        self.check_place(place, false, op)?;
        self.check_literal(key)?;
        let inst = self.create_raw(&RawInst {
            key: op,
            attrs: key.0,
            operands: &[],
            regions: &[],
            types: &[key.1],
            span: Span::unknown(),
        });
        self.link(inst, place);
        self.label_inserted(inst);
        self.note(|_| Undo::Inserted(inst));
        self.constants.insert(key, inst);
        Ok(inst)
    }

    fn check_literal(&self, (literal, ty): (AttrId, TypeId)) -> Result<(), EditError> {
        let ty = self.types.get(ty).as_tensor();
        match &self.attrs.get(literal)[..] {
            [Attr::Literal(literal)] if ty.is_some_and(|ty| literal.has_type(ty)) => Ok(()),
            _ => Err(EditError::NoLiteral),
        }
    }

    /// Makes an instruction with one result, and without regions, the `constant` that stands for a literal from now on, at
    /// another place. It keeps its result; its operands are used no more. This cannot be taken back: no journal may be
    /// open.
    ///
    /// # Errors
    /// If it is no such instruction, `key` is not that of a literal of the type of its result, there is no such place, a
    /// use would come before it, or a journal is open.
    pub fn turn_into_constant(
        &mut self,
        inst: InstId,
        place: Place,
        key: (AttrId, TypeId),
    ) -> Result<(), EditError> {
        self.check_inst(inst)?;
        let op = crate::ops::Constant::key();
        self.check_place(place, false, op)?;
        self.check_literal(key)?;
        let data = &self.insts[inst.index()];
        let one = data.region_len == 0 && data.result_len == 1;
        let near = matches!(place, Place::Before(at) | Place::After(at) if at == inst);
        if !one
            || near
            || self.has_journal()
            || self.type_id(ValueId::new(data.results as usize)) != key.1
        {
            return Err(EditError::NoLiteral);
        }
        // Further up in the same body or in one around it, it can be seen from where it stood.
        let (target, home) = (self.place_body(place), data.parent);
        let at = self.label(self.place_mark(place));
        if at >= data.label
            || self.tree_root(target) != self.tree_root(home)
            || !self.encloses(target, inst)
        {
            return Err(EditError::NotAvailable {
                value: ValueId::new(data.results as usize),
                user: "constant",
            });
        }
        self.free_operands(inst);
        let data = &mut self.insts[inst.index()];
        (data.key, data.attrs) = (op, key.0);
        self.relink(inst, place);
        self.label_inserted(inst);
        self.constants.insert(key, inst);
        Ok(())
    }

    /// The `constant` instruction that stands for a literal, if one was remembered and is still there.
    #[must_use]
    pub fn known_constant(&self, key: (AttrId, TypeId)) -> Option<InstId> {
        let inst = self.constants.get(key)?;
        let value = self.is_live(inst).then(|| self.value_of(inst)).flatten()?;
        let same = self.is::<crate::ops::Constant>(inst)
            && (self.attr_id(inst), self.type_id(value)) == key;
        same.then_some(inst)
    }

    /// Makes a `constant` instruction the one that stands for its literal.
    pub fn remember_constant(&mut self, inst: InstId) {
        if let Some(value) = self.value_of(inst).filter(|_| self.is::<crate::ops::Constant>(inst)) {
            let key = (self.attr_id(inst), self.type_id(value));
            self.constants.insert(key, inst);
        }
    }

    /// Forgets which instructions stand for literals. The instructions stay.
    pub fn forget_constants(&mut self) {
        self.constants.clear();
    }
}
