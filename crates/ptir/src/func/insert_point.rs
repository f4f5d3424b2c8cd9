//! Insertion points, and the availability of values at them.

use super::{EditError, Function, InsertPoint, OrderMark, ValueDef};
use crate::ids::{BodyId, InstId, ValueId};
use crate::op::OpKey;

impl Function {
    #[inline]
    pub(super) fn check_inst(&self, inst: InstId) -> Result<(), EditError> {
        if self.is_live(inst) { Ok(()) } else { Err(EditError::NoSuchInst(inst)) }
    }

    #[inline]
    pub(super) fn check_value(&self, value: ValueId) -> Result<(), EditError> {
        if self.is_live_value(value) { Ok(()) } else { Err(EditError::NoSuchValue(value)) }
    }

    pub(super) fn check_insert_point(
        &self,
        place: InsertPoint,
        terminator: bool,
        key: OpKey,
    ) -> Result<(), EditError> {
        match place {
            InsertPoint::Before(at) | InsertPoint::After(at) => {
                self.check_inst(at)?;
                if self.body_of(at).is_none() {
                    return Err(EditError::NoSuchInst(at));
                }
            }
            InsertPoint::Start(body) | InsertPoint::End(body) => {
                if !self.is_live_body(body) {
                    return Err(EditError::NoSuchBody(body));
                }
            }
        }
        let previous = match place {
            InsertPoint::After(at) => Some(at),
            InsertPoint::End(body) => self.last_inst(body),
            InsertPoint::Before(_) | InsertPoint::Start(_) => None,
        };
        if let Some(last) = previous.filter(|&p| self.op_def(p).is_some_and(|d| d.terminator)) {
            return Err(EditError::Terminator(self.op_name(last)));
        }
        let last = match place {
            InsertPoint::End(_) => true,
            InsertPoint::After(at) => self.next_inst(at).is_none(),
            InsertPoint::Start(body) => self.first_inst(body).is_none(),
            InsertPoint::Before(_) => false,
        };
        if terminator && !last {
            return Err(EditError::Terminator(key.name()));
        }
        Ok(())
    }

    // Returns the mark right before an insertion point.
    pub(super) fn mark_before_point(&self, place: InsertPoint) -> OrderMark {
        match place {
            InsertPoint::Before(at) => {
                let data = &self.insts[at.index()];
                data.prev.some().map_or(OrderMark::Enter(data.parent), OrderMark::Inst)
            }
            InsertPoint::After(at) => OrderMark::Inst(at),
            InsertPoint::Start(body) => OrderMark::Enter(body),
            InsertPoint::End(body) => self.bodies[body.index()]
                .last
                .some()
                .map_or(OrderMark::Enter(body), OrderMark::Inst),
        }
    }

    /// Returns the body that contains an insertion point.
    #[must_use]
    pub fn insert_point_body(&self, place: InsertPoint) -> BodyId {
        match place {
            InsertPoint::Before(at) | InsertPoint::After(at) => self.insts[at.index()].parent,
            InsertPoint::Start(body) | InsertPoint::End(body) => body,
        }
    }

    // Checks that a value may be used at an insertion point. In a detached body, captured values are checked when it
    // is attached.
    pub(super) fn check_available(
        &self,
        value: ValueId,
        place: InsertPoint,
        user: &'static str,
    ) -> Result<(), EditError> {
        self.check_value(value)?;
        let at = self.label(self.mark_before_point(place));
        let (from, home) = match self.value_def(value) {
            ValueDef::Result(def, _) => {
                let data = &self.insts[def.index()];
                (data.label, data.parent)
            }
            ValueDef::Param(body, _) => (self.bodies[body.index()].enter, body),
        };
        if self.detached > 0 {
            let tree = self.root_body(self.insert_point_body(place));
            if tree != self.root_body(home) && tree != self.body() {
                return Ok(());
            }
            if tree != self.root_body(home) {
                return Err(EditError::NotAvailable { value, user });
            }
        }
        if from <= at && at < self.bodies[home.index()].exit {
            Ok(())
        } else {
            Err(EditError::NotAvailable { value, user })
        }
    }

    /// Returns whether `user` may use `value`.
    #[must_use]
    #[inline]
    pub fn is_available_to(&self, value: ValueId, user: InstId) -> bool {
        match self.value_def(value) {
            ValueDef::Result(def, _) => {
                self.dominates(def, user)
                    || (self.detached > 0 && {
                        let tree = self.root_body(self.insts[user.index()].parent);
                        tree != self.body()
                            && tree != self.root_body(self.insts[def.index()].parent)
                    })
            }
            ValueDef::Param(body, _) => {
                self.encloses(body, user)
                    || (self.detached > 0 && {
                        let tree = self.root_body(self.insts[user.index()].parent);
                        tree != self.body() && tree != self.root_body(body)
                    })
            }
        }
    }

    #[inline]
    pub(crate) fn root_body(&self, mut body: BodyId) -> BodyId {
        if self.detached == 0 {
            return self.body();
        }
        while let Some(owner) = self.bodies[body.index()].owner.some() {
            match self.insts[owner.index()].parent.some() {
                Some(parent) => body = parent,
                None => break,
            }
        }
        body
    }
}
