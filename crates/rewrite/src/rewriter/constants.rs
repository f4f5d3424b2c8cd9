//! Constants: one per literal and function, in front of what uses them.

use sapwood_ptir::ops::{BroadcastInDim, BroadcastTo, Constant};
use sapwood_ptir::{AttrId, Function, InsertPoint, InstId, Op, TensorLiteral, TypeId, ValueId};
use smallvec::SmallVec;

use super::{Event, ProgramRewriter};

impl ProgramRewriter<'_> {
    /// The value of a literal, for use at an instruction and after it. One constant stands for all uses of a literal;
    /// it is moved to the start of the function if it has to be.
    pub fn materialize_constant(&mut self, at: InstId, literal: &TensorLiteral) -> ValueId {
        let key = self.constant_key(at, literal);
        self.constant_for(at, key)
    }

    // What tells a literal apart that most likely has the type of an instruction's result.
    fn constant_key(&mut self, at: InstId, literal: &TensorLiteral) -> (AttrId, TypeId) {
        match self.function.value_of(at) {
            Some(result) => self.function.constant_key_like(literal, result),
            None => self.function.constant_key(literal),
        }
    }

    /// Puts a literal in the place of an instruction's one result. Whether it could.
    pub(crate) fn replace_by_constant(&mut self, inst: InstId, literal: &TensorLiteral) -> bool {
        let key = self.constant_key(inst, literal);
        if self.is_quiet() && self.function.find_constant(key).is_none() && self.turn(inst, key) {
            return true;
        }
        let value = self.constant_for(inst, key);
        self.replace_inst(inst, &[value]).is_ok()
    }

    // The instruction itself becomes the constant: what replacing it by a new one comes to, without making one. Only the
    // agenda is told.
    fn turn(&mut self, inst: InstId, key: (AttrId, TypeId)) -> bool {
        let place = self.leading_place();
        let f = &mut *self.function;
        let operands: SmallVec<[ValueId; 4]> = SmallVec::from_slice(f.operands(inst));
        let owner = f.body_of(inst).and_then(|b| f.body_owner(b));
        if f.convert_to_constant(inst, place, key).is_err() {
            return false;
        }
        self.cursor = Some(inst);
        if self.agenda.is_enabled() {
            // Those who use it use the same value as before, but see another definition.
            self.agenda.mark(inst);
            for value in f.inst_results(inst) {
                f.uses(value).for_each(|u| self.agenda.touch(u.user));
            }
            for value in operands {
                self.agenda.fewer_uses(f, value);
            }
            if let Some(owner) = owner {
                self.agenda.mark(owner);
            }
        }
        true
    }

    fn constant_for(&mut self, at: InstId, key: (AttrId, TypeId)) -> ValueId {
        if let Some(inst) = self.function.find_constant(key)
            && let Some(value) = self.function.value_of(inst)
        {
            if self.function.is_available_to(value, at) {
                return value;
            }
            self.lead(inst);
            if self.function.is_available_to(value, at) {
                return value;
            }
        }
        let value = self.new_constant(key);
        // Something else was put at the start, and asks for it.
        if !self.function.is_available_to(value, at)
            && let Some(inst) = self.function.inst_of(value)
        {
            let start = InsertPoint::Start(self.function.body());
            let moved = self.move_quietly(inst, start);
            debug_assert!(moved.is_ok(), "a constant fits at the start of a function");
        }
        value
    }

    fn new_constant(&mut self, key: (AttrId, TypeId)) -> ValueId {
        let place = self.leading_place();
        // A literal is a constant of its own type, and the start of a function is always a place for it.
        let Ok(inst) = self.function.insert_constant(place, key) else {
            unreachable!("a constant fits at the start of a function")
        };
        self.tell(Event::Inserted(inst));
        self.cursor = Some(inst);
        match self.function.value_of(inst) {
            Some(value) => value,
            None => unreachable!("a constant has a result"),
        }
    }

    /// Moves a constant to the start of the function.
    fn lead(&mut self, inst: InstId) {
        let place = self.leading_place();
        // Constants have no operands, and nothing can stand before the start.
        if self.move_quietly(inst, place).is_ok() {
            self.cursor = Some(inst);
        }
    }

    fn leading_place(&self) -> InsertPoint {
        match self.cursor {
            Some(last) => InsertPoint::After(last),
            None => InsertPoint::Start(self.function.body()),
        }
    }

    /// Makes one constant stand for all with the same literal and type. Gives how many were merged, and how many erased
    /// because nothing uses them.
    pub(crate) fn unique_constants(&mut self, drop_unused: bool) -> (usize, usize) {
        self.function.clear_constants();
        let constants: Vec<InstId> = {
            let f = &*self.function;
            let key = Constant::key();
            f.walk_post_order().filter(|&i| f.op_key(i) == key).collect()
        };
        let (mut merged, mut erased) = (0, 0);
        for inst in constants {
            let Some(value) = self.function.value_of(inst) else { continue };
            if drop_unused && self.function.unused(value) {
                self.step("dce", inst);
                erased += usize::from(self.erase_inst(inst).is_ok());
                continue;
            }
            merged += usize::from(self.unify_constant(inst));
        }
        (merged, erased)
    }

    /// Makes a constant the one that stands for its literal, or gives its uses to the one that does. Whether it went.
    pub(crate) fn unify_constant(&mut self, inst: InstId) -> bool {
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
            self.lead(first);
        }
        self.step("cse", inst);
        self.replace_all_uses(value, kept).is_ok() && self.erase_inst(inst).is_ok()
    }
}

/// The last of the constants a function starts with.
pub(super) fn leading(f: &Function) -> Option<InstId> {
    let key = Constant::key();
    f.body_insts(f.body()).take_while(|&i| f.op_key(i) == key).last()
}

/// The literal a value is: of a constant, or of a broadcast of a splat.
pub(crate) fn constant_of(f: &Function, value: ValueId) -> Option<TensorLiteral> {
    if let Some(literal) = f.constant_of(value) {
        return Some(literal.clone());
    }
    let inst = f.inst_of(value)?;
    let key = f.op_key(inst);
    if key != BroadcastTo::key() && key != BroadcastInDim::key() {
        return None;
    }
    let source = f.constant_of(*f.operands(inst).first()?)?;
    let shape = f.value_type(value).as_tensor()?.known_shape()?;
    TensorLiteral::splat(source.dtype(), &shape, source.as_splat()?).ok()
}
