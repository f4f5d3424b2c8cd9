//! Functions: their arenas and the queries on them.
//!
//! The data has two halves: the computation (instructions, operands, types, attributes) and its order (links between
//! instructions and bodies, labels). Edits are in `edit`, labels in `order`, consistency checks in `consistency`.

mod bodies;
mod consistency;
mod constants;
mod edit;
mod insert_point;
mod journal;
mod order;
mod regions;
mod uses;
mod value_names;
mod walk;

use std::sync::Arc;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_types::{Source, Span};
use smallvec::SmallVec;

use crate::attr::{Attr, AttrInterner, AttrList};
use crate::ids::{AttrId, BodyId, InstId, TypeId, ValueId};
use crate::literal::TensorLiteral;
use crate::name::{Name, StrInterner};
use crate::op::{EffectRule, Effects, Op, OpDef, OpKey, Registry};
use crate::types::{TypeInterner, ValueType};

pub(crate) use edit::RawInst;
pub use edit::{EditError, InsertPoint, InstSpec};
pub(crate) use order::OrderMark;
pub use uses::{Use, Uses};
pub(crate) use value_names::{anonymous_number, is_anonymous};
pub use walk::{BodyInsts, PostOrderWalk, PreOrderWalk};

/// A function: parameters, one body, result types. Cloning copies the arenas; a [`Program`](crate::Program) shares
/// its functions and clones one only when it is changed.
#[derive(Clone)]
pub struct Function {
    name: Name,
    extracted_from: Option<Name>,
    private: bool,
    span: Span,
    registry: Arc<Registry>,
    pub(crate) insts: Vec<InstData>,
    // Separate from the instructions, because few readers of an instruction need its span.
    pub(crate) spans: Vec<Span>,
    pub(crate) values: Vec<ValueData>,
    pub(crate) bodies: Vec<BodyData>,
    pub(crate) operand_pool: Vec<ValueId>,
    pub(crate) use_links: Vec<uses::UseLink>,
    pub(crate) free_operands: [Vec<u32>; uses::NUM_FREE_LISTS],
    pub(crate) region_pool: Vec<BodyId>,
    pub(crate) types: TypeInterner,
    pub(crate) attrs: AttrInterner,
    pub(crate) hints: StrInterner,
    // True if the names include numbers, kept as they were written.
    pub(crate) numbered: bool,
    // The source text that messages quote, if there is one.
    pub(crate) quoted: Option<Arc<QuotedSource>>,
    result_types: Vec<TypeId>,
    pub(crate) live: usize,
    pub(crate) detached: u32,
    constants: constants::ConstantTable,
    comments: HashMap<InstId, Box<str>, FxBuildHasher>,
    leading: Option<Box<str>>,
    pub(crate) journal: Option<Vec<journal::UndoEntry>>,
}

#[derive(Clone)]
pub(crate) struct InstData {
    pub(crate) label: u64,
    pub(crate) key: OpKey,
    pub(crate) attrs: AttrId,
    pub(crate) operands: u32,
    pub(crate) operand_len: u32,
    pub(crate) results: u32,
    pub(crate) result_len: u32,
    pub(crate) regions: u32,
    pub(crate) region_len: u32,
    pub(crate) parent: BodyId,
    pub(crate) prev: InstId,
    pub(crate) next: InstId,
    pub(crate) live: bool,
}

#[derive(Clone)]
pub(crate) struct ValueData {
    pub(crate) ty: TypeId,
    // The defining instruction, or the body if the high bit of `index` is set.
    pub(crate) def: u32,
    pub(crate) index: u32,
    pub(crate) first_use: u32,
    pub(crate) hint: u32,
}

/// The number of types and of attribute lists for which memory is reserved in advance. Functions have few distinct
/// ones.
const PREALLOCATED_TYPES: usize = 28;

/// The number of parameters for which memory is reserved in advance.
const PREALLOCATED_PARAMS: usize = 12;

pub(crate) const PARAM_BIT: u32 = 1 << 31;
pub(crate) const NO_HINT: u32 = u32::MAX;

#[derive(Clone)]
pub(crate) struct BodyData {
    pub(crate) enter: u64,
    pub(crate) exit: u64,
    pub(crate) owner: InstId,
    // The position of this body among the regions of its owner.
    pub(crate) slot: u32,
    pub(crate) first: InstId,
    pub(crate) last: InstId,
    pub(crate) params: SmallVec<[ValueId; 2]>,
    pub(crate) live: bool,
}

/// The source text in another language that a function was read from, and the function as it was read.
pub(crate) struct QuotedSource {
    pub(crate) source: Source,
    pub(crate) original: Arc<Function>,
}

/// The definition of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueDef {
    /// The n-th result of an instruction.
    Result(InstId, usize),
    /// The n-th parameter of a body.
    Param(BodyId, usize),
}

impl Function {
    /// Creates an empty function: no parameters, no instructions, no results.
    #[must_use]
    pub fn new(name: impl Into<Name>, registry: Arc<Registry>) -> Self {
        Self::with_capacity(name.into(), registry, 0)
    }

    /// Creates an empty function with capacity for `insts` instructions, each with one result and two operands and
    /// half of them named, and for some parameters.
    pub(crate) fn with_capacity(name: Name, registry: Arc<Registry>, insts: usize) -> Self {
        let kinds = insts.div_ceil(2).min(PREALLOCATED_TYPES);
        let mut function = Self {
            name,
            extracted_from: None,
            private: false,
            span: Span::unknown(),
            registry,
            insts: Vec::with_capacity(insts),
            spans: Vec::with_capacity(insts),
            values: Vec::with_capacity(insts + insts / 4 + PREALLOCATED_PARAMS),
            bodies: Vec::new(),
            operand_pool: Vec::with_capacity(2 * insts),
            use_links: Vec::with_capacity(2 * insts),
            free_operands: Default::default(),
            region_pool: Vec::new(),
            types: TypeInterner::with_capacity(kinds),
            attrs: AttrInterner::with_capacity(kinds),
            hints: StrInterner::with_capacity(insts.div_ceil(2)),
            numbered: false,
            quoted: None,
            result_types: Vec::new(),
            live: 0,
            detached: 0,
            constants: constants::ConstantTable::default(),
            comments: HashMap::default(),
            leading: None,
            journal: None,
        };
        function.bodies.push(BodyData::new());
        function.init_root_labels(BodyId::new(0));
        function
    }

    /// Returns the name, without the `@`.
    #[must_use]
    pub fn name(&self) -> Name {
        self.name
    }

    /// Renames the function. Calls elsewhere keep the old name; [`Program::rename`](crate::Program::rename) renames a
    /// function of a program.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<Name>) -> Self {
        self.set_name(name);
        self
    }

    pub(crate) fn set_name(&mut self, name: impl Into<Name>) {
        self.name = name.into();
    }

    /// Returns the name of the pattern that extracted this function, if one did: `{extracted_from = "softmax"}` in
    /// the text. Such functions are only called from this program. Structural comparison ignores this name, as it
    /// ignores spans.
    #[must_use]
    pub fn extracted_from(&self) -> Option<Name> {
        self.extracted_from
    }

    /// Sets the name of the pattern that extracted this function.
    pub fn set_extracted_from(&mut self, pattern: Option<Name>) {
        self.extracted_from = pattern;
    }

    /// Returns whether only this program may call the function, so that a pass may remove it when nothing calls it
    /// any more. True after [`set_private`](Self::set_private), for `{private = true}` in the text, and for every
    /// extracted function. Structural comparison ignores it, as it ignores spans.
    #[must_use]
    pub fn is_private(&self) -> bool {
        self.private || self.extracted_from.is_some()
    }

    /// Makes the function private or public. An extracted function is always private.
    pub fn set_private(&mut self, private: bool) {
        self.private = private;
    }

    /// Returns the source span of the function.
    #[must_use]
    pub fn span(&self) -> Span {
        self.span
    }

    /// Sets the source span of the function.
    pub fn set_span(&mut self, span: Span) {
        self.span = span;
    }

    /// Returns the registry of the ops that this function may contain.
    #[must_use]
    #[inline]
    pub fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    /// Returns the function's own body.
    #[must_use]
    #[inline]
    pub fn body(&self) -> BodyId {
        BodyId::new(0)
    }

    /// Returns the parameters.
    #[must_use]
    #[inline]
    pub fn params(&self) -> &[ValueId] {
        self.body_params(self.body())
    }

    /// Returns the declared types of the results.
    #[must_use]
    pub fn result_types(&self) -> SmallVec<[&ValueType; 4]> {
        self.result_types.iter().map(|&t| self.types.get(t)).collect()
    }

    /// Sets the declared types of the results.
    pub fn set_result_types<'a>(&mut self, types: impl IntoIterator<Item = &'a ValueType>) {
        self.result_types = types.into_iter().map(|t| self.types.intern(t)).collect();
    }

    pub(crate) fn result_ids(&self) -> &[TypeId] {
        &self.result_types
    }

    pub(crate) fn set_result_ids(&mut self, types: Vec<TypeId>) {
        self.result_types = types;
    }

    /// Returns the values that the function returns: the operands of its terminator, or none while there is no
    /// terminator.
    #[must_use]
    pub fn results(&self) -> &[ValueId] {
        self.terminator(self.body()).map_or(&[], |t| self.operands(t))
    }

    /// Returns the number of instructions, including those in regions.
    #[must_use]
    #[inline]
    pub fn num_insts(&self) -> usize {
        self.live
    }

    /// Returns one more than the largest index of an [`InstId`] of this function. For side tables.
    #[must_use]
    #[inline]
    pub fn inst_capacity(&self) -> usize {
        self.insts.len()
    }

    /// Returns one more than the largest index of a [`ValueId`] of this function. For side tables.
    #[must_use]
    #[inline]
    pub fn value_capacity(&self) -> usize {
        self.values.len()
    }

    /// Returns one more than the largest index of a [`BodyId`] of this function. For side tables.
    #[must_use]
    #[inline]
    pub fn body_capacity(&self) -> usize {
        self.bodies.len()
    }

    /// Returns whether an instruction exists: it was created here and not erased.
    #[must_use]
    #[inline]
    pub fn is_live(&self, inst: InstId) -> bool {
        self.insts.get(inst.index()).is_some_and(|data| data.live)
    }

    /// Returns whether a value exists: its instruction or body does.
    #[must_use]
    #[inline]
    pub fn is_live_value(&self, value: ValueId) -> bool {
        let Some(data) = self.values.get(value.index()) else { return false };
        if data.index & PARAM_BIT == 0 {
            return self.insts.get(data.def as usize).is_some_and(|inst| inst.live);
        }
        let index = (data.index & !PARAM_BIT) as usize;
        self.bodies
            .get(data.def as usize)
            .is_some_and(|b| b.live && b.params.get(index) == Some(&value))
    }

    /// Returns whether a body exists.
    #[must_use]
    pub fn is_live_body(&self, body: BodyId) -> bool {
        self.bodies.get(body.index()).is_some_and(|data| data.live)
    }

    /// Returns the key of an instruction's op.
    #[must_use]
    #[inline]
    pub fn op_key(&self, inst: InstId) -> OpKey {
        self.insts[inst.index()].key
    }

    /// Returns the name of an instruction's op.
    #[must_use]
    pub fn op_name(&self, inst: InstId) -> &'static str {
        self.op_key(inst).name()
    }

    /// Returns the definition of an instruction's op, or `None` if the op is not registered.
    #[must_use]
    #[inline]
    pub fn op_def(&self, inst: InstId) -> Option<&OpDef> {
        self.registry.get(self.op_key(inst))
    }

    /// Returns whether an instruction's op is `T`.
    #[must_use]
    #[inline]
    pub fn is<T: Op>(&self, inst: InstId) -> bool {
        self.op_key(inst) == T::key()
    }

    /// Returns an instruction as a `T`, if its op is `T`: operands, regions and attributes as named fields.
    #[must_use]
    #[inline]
    pub fn view<T: Op>(&self, inst: InstId) -> Option<T> {
        if self.is::<T>(inst) { T::read(self, inst) } else { None }
    }

    /// Returns the instruction that defines `value` as a `T`, if its op is `T`.
    #[must_use]
    #[inline]
    pub fn def<T: Op>(&self, value: ValueId) -> Option<T> {
        self.view(self.inst_of(value)?)
    }

    /// Returns the attributes of an instruction, in the order in which the op's definition lists them. An
    /// unregistered op has one dictionary.
    #[must_use]
    #[inline]
    pub fn attrs(&self, inst: InstId) -> &AttrList {
        self.attrs.get(self.insts[inst.index()].attrs)
    }

    /// Returns the interned id of an instruction's attribute list. Equal lists of one function have equal ids.
    #[must_use]
    #[inline]
    pub fn attr_id(&self, inst: InstId) -> AttrId {
        self.insts[inst.index()].attrs
    }

    /// Returns the attribute list with this id.
    #[must_use]
    pub fn attrs_by_id(&self, id: AttrId) -> &AttrList {
        self.attrs.get(id)
    }

    /// Returns one attribute of an instruction by name.
    #[must_use]
    pub fn attr(&self, inst: InstId, name: &str) -> Option<&Attr> {
        match self.op_def(inst) {
            Some(def) => self.attrs(inst).get(def.attrs.iter().position(|a| a.name == name)?),
            None => self.attrs(inst).first()?.get(name),
        }
    }

    /// Returns the operands of an instruction.
    #[must_use]
    #[inline]
    pub fn operands(&self, inst: InstId) -> &[ValueId] {
        let data = &self.insts[inst.index()];
        &self.operand_pool[data.operands as usize..(data.operands + data.operand_len) as usize]
    }

    /// Returns the regions of an instruction.
    #[must_use]
    #[inline]
    pub fn regions(&self, inst: InstId) -> &[BodyId] {
        let data = &self.insts[inst.index()];
        &self.region_pool[data.regions as usize..(data.regions + data.region_len) as usize]
    }

    /// Returns the results of an instruction.
    #[inline]
    pub fn inst_results(
        &self,
        inst: InstId,
    ) -> impl DoubleEndedIterator<Item = ValueId> + ExactSizeIterator + Clone + use<> {
        let data = &self.insts[inst.index()];
        (data.results as usize..(data.results + data.result_len) as usize).map(ValueId::new)
    }

    /// Returns the n-th result of an instruction.
    #[must_use]
    #[inline]
    pub fn result(&self, inst: InstId, n: usize) -> Option<ValueId> {
        let data = &self.insts[inst.index()];
        (n < data.result_len as usize).then(|| ValueId::new(data.results as usize + n))
    }

    /// Returns the first result of an instruction.
    #[must_use]
    #[inline]
    pub fn value_of(&self, inst: InstId) -> Option<ValueId> {
        self.result(inst, 0)
    }

    /// Returns the source span of an instruction.
    #[must_use]
    #[inline]
    pub fn inst_span(&self, inst: InstId) -> Span {
        self.spans[inst.index()]
    }

    /// Sets the source span of an instruction.
    pub fn set_inst_span(&mut self, inst: InstId, span: Span) {
        self.record_undo(|f| journal::UndoEntry::Span { inst, old: f.spans[inst.index()] });
        self.spans[inst.index()] = span;
    }

    /// Returns whether the function or one of its instructions has a [location](sapwood_types::Loc).
    #[must_use]
    pub fn has_locs(&self) -> bool {
        let mut insts = (0..self.inst_capacity()).map(InstId::new);
        let known = |span: Span| !span.loc().is_unknown();
        known(self.span()) || insts.any(|inst| known(self.inst_span(inst)) && self.is_live(inst))
    }

    /// Returns the body that contains an instruction, or `None` while it is in no body.
    #[must_use]
    #[inline]
    pub fn body_of(&self, inst: InstId) -> Option<BodyId> {
        self.insts[inst.index()].parent.some()
    }

    /// Returns the next instruction in the same body.
    #[must_use]
    #[inline]
    pub fn next_inst(&self, inst: InstId) -> Option<InstId> {
        self.insts[inst.index()].next.some()
    }

    /// Returns the previous instruction in the same body.
    #[must_use]
    #[inline]
    pub fn prev_inst(&self, inst: InstId) -> Option<InstId> {
        self.insts[inst.index()].prev.some()
    }

    /// Returns the type of a value.
    #[must_use]
    #[inline]
    pub fn value_type(&self, value: ValueId) -> &ValueType {
        self.types.get(self.values[value.index()].ty)
    }

    /// Returns the interned id of a value's type. Equal types of one function have equal ids.
    #[must_use]
    #[inline]
    pub fn type_id(&self, value: ValueId) -> TypeId {
        self.values[value.index()].ty
    }

    /// Returns the type with this id.
    #[must_use]
    #[inline]
    pub fn type_by_id(&self, id: TypeId) -> &ValueType {
        self.types.get(id)
    }

    /// Returns the definition of a value.
    #[must_use]
    #[inline]
    pub fn value_def(&self, value: ValueId) -> ValueDef {
        let data = &self.values[value.index()];
        if data.index & PARAM_BIT == 0 {
            ValueDef::Result(InstId::new(data.def as usize), data.index as usize)
        } else {
            ValueDef::Param(BodyId::new(data.def as usize), (data.index & !PARAM_BIT) as usize)
        }
    }

    /// Returns the instruction that defines a value, or `None` for a parameter.
    #[must_use]
    #[inline]
    pub fn inst_of(&self, value: ValueId) -> Option<InstId> {
        match self.value_def(value) {
            ValueDef::Result(inst, _) => Some(inst),
            ValueDef::Param(..) => None,
        }
    }

    /// Returns the literal of a value that a `constant` defines.
    #[must_use]
    #[inline]
    pub fn constant_of(&self, value: ValueId) -> Option<&TensorLiteral> {
        let inst = self.inst_of(value)?;
        if !self.is::<crate::ops::Constant>(inst) {
            return None;
        }
        self.attrs(inst).first()?.as_literal()
    }

    /// Returns the parameters of a body.
    #[must_use]
    #[inline]
    pub fn body_params(&self, body: BodyId) -> &[ValueId] {
        &self.bodies[body.index()].params
    }

    /// Returns the instruction that owns a body, or `None` for the function's own body and for detached bodies.
    #[must_use]
    #[inline]
    pub fn body_owner(&self, body: BodyId) -> Option<InstId> {
        self.bodies[body.index()].owner.some()
    }

    /// Returns the first instruction of a body.
    #[must_use]
    pub fn first_inst(&self, body: BodyId) -> Option<InstId> {
        self.bodies[body.index()].first.some()
    }

    /// Returns the last instruction of a body.
    #[must_use]
    pub fn last_inst(&self, body: BodyId) -> Option<InstId> {
        self.bodies[body.index()].last.some()
    }

    /// Returns the terminator of a body, if its last instruction is one.
    #[must_use]
    pub fn terminator(&self, body: BodyId) -> Option<InstId> {
        self.last_inst(body).filter(|&last| self.op_def(last).is_some_and(|def| def.terminator))
    }

    /// Returns the values that a body yields or returns: the operands of its terminator.
    #[must_use]
    pub fn body_results(&self, body: BodyId) -> &[ValueId] {
        self.terminator(body).map_or(&[], |t| self.operands(t))
    }

    /// Iterates over the instructions of a body in order, without those in nested regions.
    #[must_use]
    pub fn body_insts(&self, body: BodyId) -> BodyInsts<'_> {
        BodyInsts::new(self, body)
    }

    /// Iterates over all instructions in the order of the text (pre-order): an instruction comes before those in its
    /// regions.
    #[must_use]
    pub fn walk(&self) -> PreOrderWalk<'_> {
        self.walk_body(self.body())
    }

    /// Iterates over all instructions in no particular order. Scanning the arena is faster than walking the bodies.
    pub(crate) fn insts_unordered(&self) -> impl Iterator<Item = InstId> {
        // Instructions of detached bodies do not belong to the function.
        let whole = self.detached == 0;
        let of = |(i, data): (usize, &InstData)| {
            (data.live && !data.parent.is_none()).then(|| InstId::new(i))
        };
        let arena: &[InstData] = if whole { &self.insts } else { &[] };
        let walked = (!whole).then(|| self.walk());
        arena.iter().enumerate().filter_map(of).chain(walked.into_iter().flatten())
    }

    /// Iterates over all instructions in post-order: an instruction comes after those in its regions. This is the
    /// order of [`cmp_order`](Self::cmp_order).
    #[must_use]
    pub fn walk_post_order(&self) -> PostOrderWalk<'_> {
        PostOrderWalk::new(self)
    }

    /// Iterates over all instructions in and below a body in the order of the text.
    #[must_use]
    pub fn walk_body(&self, body: BodyId) -> PreOrderWalk<'_> {
        PreOrderWalk::new(self, body)
    }

    /// Returns whether an instruction must not be merged, dropped, duplicated or reordered, because of its own op or
    /// of an op in its regions. The terminators of its regions do not count.
    #[must_use]
    pub fn is_ordered(&self, inst: InstId) -> bool {
        if self.own_effects(inst) == Effects::Ordered {
            return true;
        }
        // The terminator of a region does not affect the order of effects around the region.
        self.regions(inst).iter().any(|&body| {
            self.walk_body(body).any(|nested| {
                self.own_effects(nested) == Effects::Ordered
                    && !self.op_def(nested).is_some_and(|def| def.terminator)
            })
        })
    }

    /// Returns the effects of an instruction itself, without those of its regions.
    #[must_use]
    #[inline]
    pub fn own_effects(&self, inst: InstId) -> Effects {
        match self.op_def(inst) {
            Some(def) => match def.effects {
                EffectRule::Always(effects) => effects,
                rule @ EffectRule::UnlessFalse(_) => rule.resolve(def, self.attrs(inst)),
            },
            None => match self.attr(inst, "pure") {
                Some(Attr::Bool(true)) => Effects::Pure,
                _ => Effects::Ordered,
            },
        }
    }

    /// Returns the number of bytes that the arenas and tables occupy, including spare capacity.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.insts.capacity() * size_of::<InstData>()
            + self.spans.capacity() * size_of::<Span>()
            + self.values.capacity() * size_of::<ValueData>()
            + self.bodies.capacity() * size_of::<BodyData>()
            + self.operand_pool.capacity() * size_of::<ValueId>()
            + self.use_links.capacity() * size_of::<uses::UseLink>()
            + self.region_pool.capacity() * size_of::<BodyId>()
            + self.hints.bytes()
            + self.types.bytes()
            + self.attrs.bytes()
    }
}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&crate::text::print_function(self))
    }
}

impl BodyData {
    pub(crate) fn new() -> Self {
        Self {
            enter: 0,
            exit: 0,
            owner: InstId::NONE,
            slot: 0,
            first: InstId::NONE,
            last: InstId::NONE,
            params: SmallVec::new(),
            live: true,
        }
    }
}
