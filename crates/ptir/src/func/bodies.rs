//! Edits of bodies: parameters, detaching, inlining.

use super::journal::{DfgUndo, LayoutUndo, UndoEntry};
use super::{EditError, Function, InsertPoint};
use crate::ids::{BodyId, InstId, TypeId, ValueId};
use crate::op::OpKey;
use crate::types::ValueType;

impl Function {
    /// Creates a body that belongs to no instruction yet, for [`OpParts::regions`](crate::OpParts::regions).
    pub fn new_body<'a>(&mut self, params: impl IntoIterator<Item = &'a ValueType>) -> BodyId {
        let body = self.create_body();
        self.layout.detached += 1;
        self.layout.init_root_labels(body);
        self.record_undo(UndoEntry::NewBody(body));
        for ty in params {
            self.push_param(body, ty);
        }
        body
    }

    /// Returns the number of bodies that belong to no instruction. The function's own body does not count.
    #[must_use]
    pub fn num_detached_bodies(&self) -> usize {
        self.layout.detached as usize
    }

    pub(crate) fn create_body(&mut self) -> BodyId {
        let body = BodyId::new(self.dfg.bodies.len());
        self.dfg.create_body();
        self.layout.create_body();
        body
    }

    /// Adds a parameter to a body. For the function's own body this changes the function's signature.
    pub fn push_param(&mut self, body: BodyId, ty: &ValueType) -> ValueId {
        let ty = self.dfg.types.intern(ty);
        self.push_param_id(body, ty)
    }

    pub(crate) fn push_param_id(&mut self, body: BodyId, ty: TypeId) -> ValueId {
        let value = self.dfg.push_param(body, ty);
        self.record_dfg_undo(|_| DfgUndo::PushedParam(body));
        value
    }

    /// Removes an unused parameter of a body.
    ///
    /// # Errors
    /// If the parameter is used or does not exist.
    pub fn remove_param(&mut self, body: BodyId, index: usize) -> Result<(), EditError> {
        self.remove_params(body, &[index])
    }

    /// Removes unused parameters of a body. `indices` are their positions before the removal.
    ///
    /// # Errors
    /// If a parameter is used or does not exist.
    pub fn remove_params(&mut self, body: BodyId, indices: &[usize]) -> Result<(), EditError> {
        if !self.is_live_body(body) {
            return Err(EditError::NoSuchBody(body));
        }
        let params = self.body_params(body);
        let mut stays = vec![true; params.len()];
        for &index in indices {
            let Some(&value) = params.get(index) else {
                return Err(EditError::Count { expected: params.len(), found: index + 1 });
            };
            if !self.unused(value) {
                let uses = self.uses(value).count();
                return Err(EditError::StillUsed { op: "parameter", value, uses });
            }
            stays[index] = false;
        }
        let left = params.iter().zip(stays).filter(|(_, stays)| *stays).map(|(&v, _)| v).collect();
        self.record_dfg_undo(|dfg| DfgUndo::Params {
            body,
            old: dfg.bodies[body.index()].params.clone(),
        });
        self.dfg.set_params(body, left);
        Ok(())
    }

    /// Detaches the regions of an instruction, which must then be erased, and returns them.
    ///
    /// # Errors
    /// If the instruction does not exist.
    pub fn take_regions(&mut self, inst: InstId) -> Result<Vec<BodyId>, EditError> {
        self.check_inst(inst)?;
        self.record_layout_undo(|layout| LayoutUndo::TookRegions {
            inst,
            count: layout.regions(inst).len() as u32,
        });
        Ok(self.layout.detach_regions(inst))
    }

    /// Drops a detached body and its contents.
    ///
    /// # Errors
    /// If the body is a region of an instruction or the function's own body, or another body uses one of its values.
    pub fn drop_body(&mut self, body: BodyId) -> Result<(), EditError> {
        if !self.is_live_body(body) {
            return Err(EditError::NoSuchBody(body));
        }
        if body == self.body() || self.body_owner(body).is_some() {
            return Err(EditError::Attached(body));
        }
        if self.layout.detached > 1 {
            self.check_contained(&[body])?;
        }
        self.discard_body(body);
        self.record_undo(UndoEntry::DroppedBody(body));
        self.layout.detached -= 1;
        Ok(())
    }

    /// Erases a body and its contents without checks.
    pub(crate) fn discard_body(&mut self, body: BodyId) {
        let insts: Vec<InstId> = self.body_insts(body).collect();
        for inst in insts.into_iter().rev() {
            self.erase_unchecked(inst);
        }
        self.dfg.bodies[body.index()].live = false;
    }

    /// Moves the instructions of a region to `place`, replaces its parameters by `args`, and returns the values that
    /// it yielded. The terminator is dropped.
    ///
    /// Right before the owner of the body, the cost is proportional to the moved instructions and the contents of the
    /// owner's other regions; elsewhere, to the moved instructions including nested ones.
    ///
    /// # Errors
    /// If the arguments do not fit or are not available at `place`, or the body is the function's own.
    pub fn inline_body(
        &mut self,
        body: BodyId,
        args: &[ValueId],
        place: InsertPoint,
    ) -> Result<Vec<ValueId>, EditError> {
        if !self.is_live_body(body) {
            return Err(EditError::NoSuchBody(body));
        }
        if body == self.body() {
            return Err(EditError::Attached(body));
        }
        self.check_insert_point(
            place,
            false,
            self.dfg.insts.first().map_or(OpKey::of("return"), |i| i.key),
        )?;
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
        let target = self.insert_point_body(place);
        let owner = self.body_owner(body);
        let into_itself = match owner {
            Some(owner) => target == body || self.layout.is_body_inside(target, owner),
            None => self.layout.root_body(target) == body,
        };
        if into_itself {
            return Err(EditError::IntoItself);
        }
        // Captured values are available before the owner of a region, and the region's labels are right before the
        // owner's label.
        let before_owner = owner.filter(|&owner| place == InsertPoint::Before(owner));
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
            at = InsertPoint::After(inst);
        }
        if let Some(owner) = before_owner {
            self.layout.label_inserted(owner);
        }
        Ok(yielded)
    }
}
