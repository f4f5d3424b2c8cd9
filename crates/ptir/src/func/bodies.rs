//! Edits of bodies: parameters, detaching, inlining, and the constants at the start.

use hashbrown::hash_map::Entry;
use sapwood_types::Span;
use smallvec::SmallVec;

use super::journal::Undo;
use super::{BodyData, EditError, Function, InstSpec, Place, RawInst};
use crate::attr::{Attr, AttrList};
use crate::ids::{AttrId, BodyId, InstId, TypeId, ValueId};
use crate::literal::TensorLiteral;
use crate::op::{Op, OpKey};
use crate::types::ValueType;

impl Function {
    /// A body that belongs to no instruction yet, for [`InstSpec::regions`].
    pub fn new_body<'a>(&mut self, params: impl IntoIterator<Item = &'a ValueType>) -> BodyId {
        let body = self.create_body();
        self.detached += 1;
        self.init_root_labels(body);
        self.note(|_| Undo::NewBody(body));
        for ty in params {
            self.push_param(body, ty);
        }
        body
    }

    /// How many bodies belong to no instruction; the function's own does not count.
    #[must_use]
    pub fn detached_bodies(&self) -> usize {
        self.detached as usize
    }

    pub(crate) fn create_body(&mut self) -> BodyId {
        let body = BodyId::new(self.bodies.len());
        self.bodies.push(BodyData::new());
        body
    }

    /// Adds a parameter at the end of a body's list. For the function's own body this changes its signature.
    pub fn push_param(&mut self, body: BodyId, ty: &ValueType) -> ValueId {
        let ty = self.types.intern(ty);
        self.push_param_id(body, ty)
    }

    pub(crate) fn push_param_id(&mut self, body: BodyId, ty: TypeId) -> ValueId {
        let index = self.bodies[body.index()].params.len() as u32;
        let value = self.new_param_value(ty, body.index() as u32, index);
        self.bodies[body.index()].params.push(value);
        self.note(|_| Undo::PushedParam(body));
        value
    }

    /// Removes an unused parameter of a body.
    ///
    /// # Errors
    /// If it is used or not there.
    pub fn remove_param(&mut self, body: BodyId, index: usize) -> Result<(), EditError> {
        if !self.is_live_body(body) {
            return Err(EditError::NoBody(body));
        }
        let params = self.body_params(body);
        let Some(&value) = params.get(index) else {
            return Err(EditError::Count { expected: params.len(), found: index + 1 });
        };
        if !self.unused(value) {
            return Err(EditError::StillUsed {
                op: "parameter",
                value,
                uses: self.uses(value).count(),
            });
        }
        self.note(|_| Undo::RemovedParam { body, index, value });
        self.bodies[body.index()].params.remove(index);
        self.renumber_params(body);
        Ok(())
    }

    pub(super) fn renumber_params(&mut self, body: BodyId) {
        for (i, value) in self.bodies[body.index()].params.clone().into_iter().enumerate() {
            self.values[value.index()].index = i as u32 | super::PARAM_BIT;
        }
    }

    /// Takes the regions from an instruction, which must then be erased; they become detached bodies.
    ///
    /// # Errors
    /// If the instruction is gone.
    pub fn take_regions(&mut self, inst: InstId) -> Result<Vec<BodyId>, EditError> {
        self.check_inst(inst)?;
        self.note(|f| Undo::TookRegions { inst, count: f.insts[inst.index()].region_len });
        Ok(self.detach_regions(inst))
    }

    pub(super) fn detach_regions(&mut self, inst: InstId) -> Vec<BodyId> {
        let bodies = self.regions(inst).to_vec();
        self.insts[inst.index()].region_len = 0;
        self.detached += bodies.len() as u32;
        for &body in &bodies {
            self.bodies[body.index()].owner = InstId::NONE;
            self.renumber(body);
        }
        bodies
    }

    /// Drops a detached body and all it contains.
    ///
    /// # Errors
    /// If the body is a region of an instruction or the function's own, or another body uses a value of it.
    pub fn drop_body(&mut self, body: BodyId) -> Result<(), EditError> {
        if !self.is_live_body(body) {
            return Err(EditError::NoBody(body));
        }
        if body == self.body() || self.body_owner(body).is_some() {
            return Err(EditError::Attached(body));
        }
        if self.detached > 1 {
            self.check_contained(&[body])?;
        }
        self.discard_body(body);
        self.note(|_| Undo::DroppedBody(body));
        self.detached -= 1;
        Ok(())
    }

    /// Erases what a body contains, and the body, unchecked.
    pub(crate) fn discard_body(&mut self, body: BodyId) {
        let insts: Vec<InstId> = self.body_insts(body).collect();
        for inst in insts.into_iter().rev() {
            self.erase_unchecked(inst);
        }
        self.bodies[body.index()].live = false;
    }

    /// Moves the instructions of a region to `place`, its parameters replaced by `args`, and gives the values it
    /// yielded. The terminator is dropped. Right before the instruction that owns the body this costs O(instructions
    /// moved, and what is in other regions of the owner); elsewhere O(what is moved, nested instructions included).
    ///
    /// # Errors
    /// If the arguments do not fit or are not available there, or the body is the function's own.
    pub fn inline_body(
        &mut self,
        body: BodyId,
        args: &[ValueId],
        place: Place,
    ) -> Result<Vec<ValueId>, EditError> {
        if !self.is_live_body(body) {
            return Err(EditError::NoBody(body));
        }
        if body == self.body() {
            return Err(EditError::Attached(body));
        }
        self.check_place(place, false, self.insts.first().map_or(OpKey::of("return"), |i| i.key))?;
        let params = self.body_params(body).to_vec();
        if params.len() != args.len() {
            return Err(EditError::Count { expected: params.len(), found: args.len() });
        }
        for (&param, &arg) in params.iter().zip(args) {
            self.check_available(arg, place, "inlined body")?;
            if !self.value_type(param).compatible(self.value_type(arg)) {
                return Err(EditError::Type {
                    expected: Box::new(self.value_type(param).clone()),
                    found: Box::new(self.value_type(arg).clone()),
                });
            }
        }
        let target = self.place_body(place);
        let owner = self.body_owner(body);
        let into_itself = match owner {
            Some(owner) => target == body || self.is_body_inside(target, owner),
            None => self.tree_root(target) == body,
        };
        if into_itself {
            return Err(EditError::IntoItself);
        }
        // What a region uses from outside is available before its owner, and its labels lie right before the owner's.
        let before_owner = owner.filter(|&owner| place == Place::Before(owner));
        if before_owner.is_none() {
            self.check_captures(body, place)?;
        }
        for (&param, &arg) in params.iter().zip(args) {
            self.replace_all_uses_unchecked(param, arg);
        }
        let terminator = self.terminator(body);
        let yielded = terminator.map_or(Vec::new(), |t| self.operands(t).to_vec());
        if let Some(t) = terminator {
            self.erase_unchecked(t);
        }
        let insts: Vec<InstId> = self.body_insts(body).collect();
        let mut at = place;
        for inst in insts {
            match before_owner {
                Some(_) => self.relink(inst, at),
                None => self.relocate(inst, at),
            }
            at = Place::After(inst);
        }
        if let Some(owner) = before_owner {
            self.label_inserted(owner);
        }
        Ok(yielded)
    }

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
        if let Some(&known) = self.constants_mut().get(&(attr_id, type_id))
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
        match self.constants_mut().entry((attr_id, type_id)) {
            Entry::Occupied(mut entry) => *entry.get_mut() = inst,
            Entry::Vacant(entry) => {
                entry.insert(inst);
            }
        }
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
        self.attrs.intern_one(Attr::Literal(literal.clone()))
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
        let ty = self.types.get(key.1).as_tensor();
        let fits = match &self.attrs.get(key.0)[..] {
            [Attr::Literal(literal)] => ty.is_some_and(|ty| literal.has_type(ty)),
            _ => false,
        };
        if !fits {
            return Err(EditError::NoLiteral);
        }
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
        self.constants_mut().insert(key, inst);
        Ok(inst)
    }

    /// The `constant` instruction that stands for a literal, if one was remembered and is still there.
    #[must_use]
    pub fn known_constant(&self, key: (AttrId, TypeId)) -> Option<InstId> {
        let inst = *self.constants().get(&key)?;
        let value = self.is_live(inst).then(|| self.value_of(inst)).flatten()?;
        let same = self.is::<crate::ops::Constant>(inst)
            && (self.attr_id(inst), self.type_id(value)) == key;
        same.then_some(inst)
    }

    /// Makes a `constant` instruction the one that stands for its literal.
    pub fn remember_constant(&mut self, inst: InstId) {
        if let Some(value) = self.value_of(inst).filter(|_| self.is::<crate::ops::Constant>(inst)) {
            let key = (self.attr_id(inst), self.type_id(value));
            self.constants_mut().insert(key, inst);
        }
    }

    /// Forgets which instructions stand for literals. The instructions stay.
    pub fn forget_constants(&mut self) {
        self.constants_mut().clear();
    }
}
