//! Places and what is available at them.

use super::{EditError, Function, Mark, Place, ValueDef};
use crate::ids::{BodyId, InstId, ValueId};
use crate::op::OpKey;

impl Function {
    #[inline]
    pub(super) fn check_inst(&self, inst: InstId) -> Result<(), EditError> {
        if self.is_live(inst) { Ok(()) } else { Err(EditError::NoInst(inst)) }
    }

    #[inline]
    pub(super) fn check_value(&self, value: ValueId) -> Result<(), EditError> {
        if self.is_live_value(value) { Ok(()) } else { Err(EditError::NoValue(value)) }
    }

    pub(super) fn check_place(
        &self,
        place: Place,
        terminator: bool,
        key: OpKey,
    ) -> Result<(), EditError> {
        match place {
            Place::Before(at) | Place::After(at) => {
                self.check_inst(at)?;
                if self.body_of(at).is_none() {
                    return Err(EditError::NoInst(at));
                }
            }
            Place::Start(body) | Place::End(body) => {
                if !self.is_live_body(body) {
                    return Err(EditError::NoBody(body));
                }
            }
        }
        let previous = match place {
            Place::After(at) => Some(at),
            Place::End(body) => self.last_inst(body),
            Place::Before(_) | Place::Start(_) => None,
        };
        if let Some(last) = previous.filter(|&p| self.op_def(p).is_some_and(|d| d.terminator)) {
            return Err(EditError::Terminator(self.op_name(last)));
        }
        let last = match place {
            Place::End(_) => true,
            Place::After(at) => self.next_inst(at).is_none(),
            Place::Start(body) => self.first_inst(body).is_none(),
            Place::Before(_) => false,
        };
        if terminator && !last {
            return Err(EditError::Terminator(key.name()));
        }
        Ok(())
    }

    // The mark right before a place.
    pub(super) fn place_mark(&self, place: Place) -> Mark {
        match place {
            Place::Before(at) => {
                let data = &self.insts[at.index()];
                data.prev.some().map_or(Mark::Enter(data.parent), Mark::Inst)
            }
            Place::After(at) => Mark::Inst(at),
            Place::Start(body) => Mark::Enter(body),
            Place::End(body) => {
                self.bodies[body.index()].last.some().map_or(Mark::Enter(body), Mark::Inst)
            }
        }
    }

    /// The body a place lies in.
    #[must_use]
    pub fn place_body(&self, place: Place) -> BodyId {
        match place {
            Place::Before(at) | Place::After(at) => self.insts[at.index()].parent,
            Place::Start(body) | Place::End(body) => body,
        }
    }

    // Whether a value may be used at a place. In a detached body, values of other bodies are checked when it is attached.
    pub(super) fn check_available(
        &self,
        value: ValueId,
        place: Place,
        user: &'static str,
    ) -> Result<(), EditError> {
        self.check_value(value)?;
        let at = self.label(self.place_mark(place));
        let (from, home) = match self.value_def(value) {
            ValueDef::Result(def, _) => {
                let data = &self.insts[def.index()];
                (data.label, data.parent)
            }
            ValueDef::Param(body, _) => (self.bodies[body.index()].enter, body),
        };
        if self.detached > 0 {
            let tree = self.tree_root(self.place_body(place));
            if tree != self.tree_root(home) && tree != self.body() {
                return Ok(());
            }
            if tree != self.tree_root(home) {
                return Err(EditError::NotAvailable { value, user });
            }
        }
        if from <= at && at < self.bodies[home.index()].exit {
            Ok(())
        } else {
            Err(EditError::NotAvailable { value, user })
        }
    }

    /// Whether `user` may use `value`.
    #[must_use]
    #[inline]
    pub fn available_to(&self, value: ValueId, user: InstId) -> bool {
        match self.value_def(value) {
            ValueDef::Result(def, _) => {
                self.dominates(def, user)
                    || (self.detached > 0 && {
                        let tree = self.tree_root(self.insts[user.index()].parent);
                        tree != self.body()
                            && tree != self.tree_root(self.insts[def.index()].parent)
                    })
            }
            ValueDef::Param(body, _) => {
                self.encloses(body, user)
                    || (self.detached > 0 && {
                        let tree = self.tree_root(self.insts[user.index()].parent);
                        tree != self.body() && tree != self.tree_root(body)
                    })
            }
        }
    }

    #[inline]
    pub(crate) fn tree_root(&self, mut body: BodyId) -> BodyId {
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
