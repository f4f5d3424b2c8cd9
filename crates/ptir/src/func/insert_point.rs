//! Insertion points, and the availability of values at them.

use super::{EditError, Function, InsertPoint, ValueDef};
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

    /// Returns the body that contains an insertion point.
    #[must_use]
    pub fn insert_point_body(&self, place: InsertPoint) -> BodyId {
        self.layout.insert_point_body(place)
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
        let layout = &self.layout;
        let at = layout.label(layout.mark_before_point(place));
        let (from, home) = match self.value_def(value) {
            ValueDef::Result(def, _) => {
                let node = &layout.insts[def.index()];
                (node.label, node.parent)
            }
            ValueDef::Param(body, _) => (layout.bodies[body.index()].enter, body),
        };
        if layout.detached > 0 {
            let tree = layout.root_body(layout.insert_point_body(place));
            if tree != layout.root_body(home) && tree != self.body() {
                return Ok(());
            }
            if tree != layout.root_body(home) {
                return Err(EditError::NotAvailable { value, user });
            }
        }
        if from <= at && at < layout.bodies[home.index()].exit {
            Ok(())
        } else {
            Err(EditError::NotAvailable { value, user })
        }
    }

    /// Returns whether `user` may use `value`.
    #[must_use]
    #[inline]
    pub fn is_available_to(&self, value: ValueId, user: InstId) -> bool {
        let layout = &self.layout;
        // In a detached body, captured values are checked when it is attached.
        let elsewhere = |home: BodyId| {
            let tree = layout.root_body(layout.insts[user.index()].parent);
            tree != self.body() && tree != layout.root_body(home)
        };
        match self.value_def(value) {
            ValueDef::Result(def, _) => {
                layout.dominates(def, user)
                    || (layout.detached > 0 && elsewhere(layout.insts[def.index()].parent))
            }
            ValueDef::Param(body, _) => {
                layout.encloses(body, user) || (layout.detached > 0 && elsewhere(body))
            }
        }
    }
}
