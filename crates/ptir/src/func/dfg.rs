//! The data-flow half of a function: what is computed.
//!
//! It holds instructions with their ops, attributes, operands and results; values with their types, uses and names;
//! the parameters of bodies; constants, spans and comments. It knows which instructions and bodies exist, but not where
//! they are: that is the [`Layout`](super::layout::Layout).

use std::sync::Arc;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_types::Span;
use smallvec::SmallVec;

use super::ValueDef;
use super::constants::ConstantTable;
use super::uses::{NUM_FREE_LISTS, UseLink};
use crate::attr::{Attr, AttrList};
use crate::attr_interner::AttrInterner;
use crate::ids::{AttrId, BodyId, InstId, TypeId, ValueId};
use crate::literal::TensorLiteral;
use crate::name::StrInterner;
use crate::op::{EffectRule, Effects, OpDef, OpKey, Registry};
use crate::types::{TensorType, TypeInterner, ValueType};

/// The data flow of a function.
#[derive(Clone)]
pub(crate) struct Dfg {
    pub(super) registry: Arc<Registry>,
    pub(crate) insts: Vec<InstData>,
    // Separate from the instructions, because few readers of an instruction need its span.
    pub(crate) spans: Vec<Span>,
    pub(crate) values: Vec<ValueData>,
    pub(crate) bodies: Vec<BodyData>,
    pub(crate) operand_pool: Vec<ValueId>,
    pub(crate) use_links: Vec<UseLink>,
    pub(crate) free_operands: [Vec<u32>; NUM_FREE_LISTS],
    pub(crate) types: TypeInterner,
    pub(crate) attrs: AttrInterner,
    pub(crate) hints: StrInterner,
    // True if the names include numbers, kept as they were written.
    pub(crate) numbered: bool,
    // The number of instructions that exist.
    pub(crate) live: usize,
    pub(super) constants: ConstantTable,
    pub(super) comments: HashMap<InstId, Box<str>, FxBuildHasher>,
}

/// An instruction, wherever it is.
#[derive(Clone)]
pub(crate) struct InstData {
    pub(crate) key: OpKey,
    pub(crate) attrs: AttrId,
    pub(crate) operands: u32,
    pub(crate) operand_len: u32,
    pub(crate) results: u32,
    pub(crate) result_len: u32,
    pub(crate) live: bool,
}

/// A result of an instruction or a parameter of a body.
#[derive(Clone)]
pub(crate) struct ValueData {
    pub(crate) ty: TypeId,
    // The defining instruction, or the body if the high bit of `index` is set.
    pub(crate) def: u32,
    pub(crate) index: u32,
    pub(crate) first_use: u32,
    pub(crate) hint: u32,
}

/// The parameters of a body.
#[derive(Clone)]
pub(crate) struct BodyData {
    pub(crate) params: SmallVec<[ValueId; 2]>,
    pub(crate) live: bool,
}

/// The number of types and of attribute lists for which memory is reserved in advance. Functions have few distinct
/// ones.
const PREALLOCATED_TYPES: usize = 28;

/// The number of parameters for which memory is reserved in advance.
const PREALLOCATED_PARAMS: usize = 12;

pub(crate) const PARAM_BIT: u32 = 1 << 31;
pub(crate) const NO_HINT: u32 = u32::MAX;

impl Dfg {
    /// Creates an empty data flow with capacity for `insts` instructions, each with one result and two operands and half
    /// of them named, and for some parameters.
    pub(super) fn with_capacity(registry: Arc<Registry>, insts: usize) -> Self {
        let kinds = insts.div_ceil(2).min(PREALLOCATED_TYPES);
        Self {
            registry,
            insts: Vec::with_capacity(insts),
            spans: Vec::with_capacity(insts),
            values: Vec::with_capacity(insts + insts / 4 + PREALLOCATED_PARAMS),
            bodies: Vec::new(),
            operand_pool: Vec::with_capacity(2 * insts),
            use_links: Vec::with_capacity(2 * insts),
            free_operands: Default::default(),
            types: TypeInterner::with_capacity(kinds),
            attrs: AttrInterner::with_capacity(kinds),
            hints: StrInterner::with_capacity(insts.div_ceil(2)),
            numbered: false,
            live: 0,
            constants: ConstantTable::default(),
            comments: HashMap::default(),
        }
    }

    /// Creates an instruction with its results, without checks.
    #[inline]
    pub(super) fn create_inst(
        &mut self,
        key: OpKey,
        attrs: AttrId,
        operands: &[ValueId],
        types: &[TypeId],
        span: Span,
    ) -> InstId {
        let inst = InstId::new(self.insts.len());
        let results = self.values.len() as u32;
        for (i, &ty) in types.iter().enumerate() {
            self.new_value(ty, inst.index() as u32, i as u32);
        }
        let operand_slots = self.alloc_operands(inst, operands);
        self.insts.push(InstData {
            key,
            attrs,
            operands: operand_slots,
            operand_len: operands.len() as u32,
            results,
            result_len: types.len() as u32,
            live: true,
        });
        self.spans.push(span);
        self.live += 1;
        inst
    }

    /// Removes the instruction that was created last, as if it had not been created. Its results must be unused.
    pub(super) fn uncreate_inst(&mut self, inst: InstId) {
        debug_assert_eq!(inst.index() + 1, self.insts.len());
        self.free_operands(inst);
        self.values.truncate(self.insts[inst.index()].results as usize);
        self.insts.pop();
        self.spans.pop();
        self.live -= 1;
    }

    /// Erases an instruction for good: its operands are released.
    pub(super) fn free_inst(&mut self, inst: InstId) {
        self.free_operands(inst);
        self.insts[inst.index()].live = false;
        self.live -= 1;
        self.set_comment(inst, None);
    }

    /// Erases an instruction so that it can be restored: its operands are kept, but are no longer uses.
    pub(super) fn suspend_inst(&mut self, inst: InstId) {
        for slot in self.operand_slots(inst) {
            self.unlink_use(slot);
        }
        self.insts[inst.index()].live = false;
        self.live -= 1;
    }

    /// Restores an instruction erased by [`suspend_inst`](Self::suspend_inst).
    pub(super) fn restore_inst(&mut self, inst: InstId) {
        self.insts[inst.index()].live = true;
        self.live += 1;
        for slot in self.operand_slots(inst) {
            self.link_use(slot, inst);
        }
    }

    /// Creates a body without parameters.
    pub(super) fn create_body(&mut self) {
        self.bodies.push(BodyData { params: SmallVec::new(), live: true });
    }

    pub(super) fn push_param(&mut self, body: BodyId, ty: TypeId) -> ValueId {
        let index = self.bodies[body.index()].params.len() as u32;
        let value = self.new_value(ty, body.index() as u32, index | PARAM_BIT);
        self.bodies[body.index()].params.push(value);
        value
    }

    pub(super) fn set_params(&mut self, body: BodyId, params: SmallVec<[ValueId; 2]>) {
        for (i, value) in params.iter().enumerate() {
            self.values[value.index()].index = i as u32 | PARAM_BIT;
        }
        self.bodies[body.index()].params = params;
    }

    #[inline]
    pub(crate) fn is_live(&self, inst: InstId) -> bool {
        self.insts.get(inst.index()).is_some_and(|data| data.live)
    }

    #[inline]
    pub(crate) fn is_live_value(&self, value: ValueId) -> bool {
        self.live_def(value).is_some()
    }

    /// Returns the definition of a value, or `None` if the value does not exist.
    #[inline]
    pub(crate) fn live_def(&self, value: ValueId) -> Option<ValueDef> {
        let data = self.values.get(value.index())?;
        if data.index & PARAM_BIT == 0 {
            let inst = InstId::new(data.def as usize);
            return self.is_live(inst).then_some(ValueDef::Result(inst, data.index as usize));
        }
        let index = (data.index & !PARAM_BIT) as usize;
        let body = self.bodies.get(data.def as usize)?;
        (body.live && body.params.get(index) == Some(&value))
            .then(|| ValueDef::Param(BodyId::new(data.def as usize), index))
    }

    #[inline]
    pub(crate) fn is_live_body(&self, body: BodyId) -> bool {
        self.bodies.get(body.index()).is_some_and(|data| data.live)
    }

    #[inline]
    pub(crate) fn op_key(&self, inst: InstId) -> OpKey {
        self.insts[inst.index()].key
    }

    #[inline]
    pub(crate) fn op_def(&self, inst: InstId) -> Option<&OpDef> {
        self.registry.get(self.op_key(inst))
    }

    #[inline]
    pub(crate) fn attrs(&self, inst: InstId) -> &AttrList {
        self.attrs.get(self.insts[inst.index()].attrs)
    }

    pub(crate) fn attr(&self, inst: InstId, name: &str) -> Option<&Attr> {
        match self.op_def(inst) {
            Some(def) => self.attrs(inst).get(def.attrs.iter().position(|a| a.name == name)?),
            None => self.attrs(inst).first()?.get(name),
        }
    }

    #[inline]
    pub(crate) fn operands(&self, inst: InstId) -> &[ValueId] {
        let data = &self.insts[inst.index()];
        &self.operand_pool[data.operands as usize..(data.operands + data.operand_len) as usize]
    }

    #[inline]
    pub(crate) fn inst_results(
        &self,
        inst: InstId,
    ) -> impl DoubleEndedIterator<Item = ValueId> + ExactSizeIterator + Clone + use<> {
        let data = &self.insts[inst.index()];
        (data.results as usize..(data.results + data.result_len) as usize).map(ValueId::new)
    }

    #[inline]
    pub(crate) fn result_data(&self, inst: InstId) -> &[ValueData] {
        let data = &self.insts[inst.index()];
        &self.values[data.results as usize..(data.results + data.result_len) as usize]
    }

    #[inline]
    pub(crate) fn result(&self, inst: InstId, n: usize) -> Option<ValueId> {
        let data = &self.insts[inst.index()];
        (n < data.result_len as usize).then(|| ValueId::new(data.results as usize + n))
    }

    #[inline]
    pub(crate) fn value_type(&self, value: ValueId) -> &ValueType {
        self.types.get(self.values[value.index()].ty)
    }

    #[inline]
    pub(crate) fn value_def(&self, value: ValueId) -> ValueDef {
        let data = &self.values[value.index()];
        if data.index & PARAM_BIT == 0 {
            ValueDef::Result(InstId::new(data.def as usize), data.index as usize)
        } else {
            ValueDef::Param(BodyId::new(data.def as usize), (data.index & !PARAM_BIT) as usize)
        }
    }

    #[inline]
    pub(crate) fn inst_of(&self, value: ValueId) -> Option<InstId> {
        match self.value_def(value) {
            ValueDef::Result(inst, _) => Some(inst),
            ValueDef::Param(..) => None,
        }
    }

    #[inline]
    pub(crate) fn constant_of(&self, value: ValueId) -> Option<&TensorLiteral> {
        let inst = self.inst_of(value)?;
        if self.op_key(inst) != <crate::ops::Constant as crate::op::Op>::key() {
            return None;
        }
        self.attrs(inst).first()?.as_literal()
    }

    #[inline]
    pub(crate) fn own_effects(&self, inst: InstId) -> Effects {
        match self.op_def(inst).map(|def| def.effects) {
            Some(EffectRule::Always(effects)) => effects,
            _ => self.effects_by_attr(inst),
        }
    }

    // Returns the effects of an instruction on which an attribute decides.
    #[cold]
    fn effects_by_attr(&self, inst: InstId) -> Effects {
        match self.op_def(inst) {
            Some(def) => def.effects.resolve(def, self.attrs(inst)),
            None => match self.attr(inst, "pure") {
                Some(Attr::Bool(true)) => Effects::Pure,
                _ => Effects::Ordered,
            },
        }
    }

    pub(super) fn may_stop(&self, inst: InstId) -> bool {
        let Some(def) = self.op_def(inst) else { return true };
        if def.may_stop {
            return true;
        }
        if def.terminator || def.control.is_some() {
            return false;
        }
        let values = || self.operands(inst).iter().copied().chain(self.inst_results(inst));
        let tensors = || values().filter_map(|v| self.value_type(v).as_tensor());
        if tensors().all(|ty| ty.dims.iter().all(|dim| dim.known().is_some())) {
            return false;
        }
        let Some(first) = tensors().next() else { return false };
        let same = |ty: &TensorType| {
            let mut pairs = ty.dims.iter().zip(&first.dims);
            ty.rank() == first.rank() && pairs.all(|(a, b)| a.certainly_equal(*b))
        };
        !(def.elementwise && tensors().all(same))
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.insts.capacity() * size_of::<InstData>()
            + self.spans.capacity() * size_of::<Span>()
            + self.values.capacity() * size_of::<ValueData>()
            + self.bodies.capacity() * size_of::<BodyData>()
            + self.operand_pool.capacity() * size_of::<ValueId>()
            + self.use_links.capacity() * size_of::<UseLink>()
            + self.hints.bytes()
            + self.types.bytes()
            + self.attrs.bytes()
    }
}
