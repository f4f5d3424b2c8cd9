//! One function: its arenas and what can be read from them.
//!
//! Two halves: *what* is computed (instructions, operands, types, attributes) and *in what order* (links between
//! instructions and bodies, labels). Edits are in `edit`, labels in `order`, consistency checks in `check`.

mod bodies;
mod check;
mod constants;
mod edit;
mod journal;
mod names;
mod order;
mod place;
mod regions;
mod uses;
mod walk;

use std::sync::Arc;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_types::{Source, Span};
use smallvec::SmallVec;

use crate::attr::{Attr, AttrList, AttrTable};
use crate::ids::{AttrId, BodyId, InstId, TypeId, ValueId};
use crate::literal::TensorLiteral;
use crate::name::{Name, StrTable};
use crate::op::{EffectRule, Effects, Op, OpDef, OpKey, Registry};
use crate::types::{TypeTable, ValueType};

pub(crate) use edit::RawInst;
pub use edit::{EditError, InstSpec, Place};
pub(crate) use names::{anonymous_number, is_anonymous};
pub(crate) use order::Mark;
pub use uses::{Use, Uses};
pub use walk::{BodyInsts, Walk, WalkCompleted};

/// A function: parameters, one body, result types. Cloning copies the arenas; a [`Program`](crate::Program) shares
/// functions and clones one only when it is changed.
#[derive(Clone)]
pub struct Function {
    name: Name,
    extracted_from: Option<Name>,
    private: bool,
    span: Span,
    registry: Arc<Registry>,
    pub(crate) insts: Vec<InstData>,
    // Beside the instructions: few who look at those want to know where they were written.
    pub(crate) spans: Vec<Span>,
    pub(crate) values: Vec<ValueData>,
    pub(crate) bodies: Vec<BodyData>,
    pub(crate) operand_pool: Vec<ValueId>,
    pub(crate) use_links: Vec<uses::UseLink>,
    pub(crate) free_operands: [Vec<u32>; uses::FREE_LISTS],
    pub(crate) region_pool: Vec<BodyId>,
    pub(crate) types: TypeTable,
    pub(crate) attrs: AttrTable,
    pub(crate) hints: StrTable,
    // Whether numbers are among them, as they were written.
    pub(crate) numbered: bool,
    // The text it was read from, if messages are to quote it.
    pub(crate) quoted: Option<Arc<Quoted>>,
    result_types: Vec<TypeId>,
    pub(crate) live: usize,
    pub(crate) detached: u32,
    constants: constants::ConstantTable,
    comments: HashMap<InstId, Box<str>, FxBuildHasher>,
    leading: Option<Box<str>>,
    pub(crate) journal: Option<Vec<journal::Undo>>,
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
    // Instruction, or body with the high bit of `index` set.
    pub(crate) def: u32,
    pub(crate) index: u32,
    pub(crate) first_use: u32,
    pub(crate) hint: u32,
}

/// For how many types and lists of attributes room is made in advance: most are written many times.
const MOST_KINDS: usize = 28;

/// For how many parameters room is made in advance.
const PARAMS: usize = 12;

pub(crate) const PARAM_BIT: u32 = 1 << 31;
pub(crate) const NO_HINT: u32 = u32::MAX;

#[derive(Clone)]
pub(crate) struct BodyData {
    pub(crate) enter: u64,
    pub(crate) exit: u64,
    pub(crate) owner: InstId,
    // Which region of its owner this is.
    pub(crate) slot: u32,
    pub(crate) first: InstId,
    pub(crate) last: InstId,
    pub(crate) params: SmallVec<[ValueId; 2]>,
    pub(crate) live: bool,
}

/// A text of another language that a function was read from, and the function as it was read.
pub(crate) struct Quoted {
    pub(crate) source: Source,
    pub(crate) original: Arc<Function>,
}

/// Where a value comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueDef {
    /// The n-th result of an instruction.
    Result(InstId, usize),
    /// The n-th parameter of a body.
    Param(BodyId, usize),
}

impl Function {
    /// An empty function: no parameters, no instructions, no results.
    #[must_use]
    pub fn new(name: impl Into<Name>, registry: Arc<Registry>) -> Self {
        Self::with_room(name.into(), registry, 0)
    }

    /// An empty function with room for so many instructions, with a result and two operands each, half of them with
    /// names, and for some parameters.
    pub(crate) fn with_room(name: Name, registry: Arc<Registry>, insts: usize) -> Self {
        let kinds = insts.div_ceil(2).min(MOST_KINDS);
        let mut function = Self {
            name,
            extracted_from: None,
            private: false,
            span: Span::unknown(),
            registry,
            insts: Vec::with_capacity(insts),
            spans: Vec::with_capacity(insts),
            values: Vec::with_capacity(insts + insts / 4 + PARAMS),
            bodies: Vec::new(),
            operand_pool: Vec::with_capacity(2 * insts),
            use_links: Vec::with_capacity(2 * insts),
            free_operands: Default::default(),
            region_pool: Vec::new(),
            types: TypeTable::with_room(kinds),
            attrs: AttrTable::with_room(kinds),
            hints: StrTable::with_room(insts.div_ceil(2)),
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

    /// Its name, without the `@`.
    #[must_use]
    pub fn name(&self) -> Name {
        self.name
    }

    /// The function under another name. Calls elsewhere keep the old one; [`Program::rename`](crate::Program::rename)
    /// renames one that is part of a program.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<Name>) -> Self {
        self.set_name(name);
        self
    }

    pub(crate) fn set_name(&mut self, name: impl Into<Name>) {
        self.name = name.into();
    }

    /// The pattern this function was extracted by, if it was: `{extracted_from = "softmax"}` in the text. Such functions
    /// exist for their callers alone. Comparison leaves it aside, as it does spans.
    #[must_use]
    pub fn extracted_from(&self) -> Option<Name> {
        self.extracted_from
    }

    /// Says by which pattern this function was extracted.
    pub fn set_extracted_from(&mut self, pattern: Option<Name>) {
        self.extracted_from = pattern;
    }

    /// Whether only this program may call the function, so that a pass may remove it when nothing calls it any more.
    /// True after [`set_private`](Self::set_private), `{private = true}` in the text, and of every function that was
    /// extracted. Comparison leaves it aside, as it does spans.
    #[must_use]
    pub fn is_private(&self) -> bool {
        self.private || self.extracted_from.is_some()
    }

    /// Makes the function private or public. A function that was extracted is private in any case.
    pub fn set_private(&mut self, private: bool) {
        self.private = private;
    }

    /// Where it was written.
    #[must_use]
    pub fn span(&self) -> Span {
        self.span
    }

    /// Says where it was written.
    pub fn set_span(&mut self, span: Span) {
        self.span = span;
    }

    /// The ops this function may contain.
    #[must_use]
    #[inline]
    pub fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    /// Its own body.
    #[must_use]
    #[inline]
    pub fn body(&self) -> BodyId {
        BodyId::new(0)
    }

    /// Its parameters.
    #[must_use]
    #[inline]
    pub fn params(&self) -> &[ValueId] {
        self.body_params(self.body())
    }

    /// The types it states for its results.
    #[must_use]
    pub fn result_types(&self) -> SmallVec<[&ValueType; 4]> {
        self.result_types.iter().map(|&t| self.types.get(t)).collect()
    }

    /// States the types of its results.
    pub fn set_result_types<'a>(&mut self, types: impl IntoIterator<Item = &'a ValueType>) {
        self.result_types = types.into_iter().map(|t| self.types.intern(t)).collect();
    }

    pub(crate) fn result_ids(&self) -> &[TypeId] {
        &self.result_types
    }

    pub(crate) fn set_result_ids(&mut self, types: Vec<TypeId>) {
        self.result_types = types;
    }

    /// The values it returns: the operands of its terminator. Empty while there is none.
    #[must_use]
    pub fn results(&self) -> &[ValueId] {
        self.terminator(self.body()).map_or(&[], |t| self.operands(t))
    }

    /// Number of instructions in it, those of regions included.
    #[must_use]
    #[inline]
    pub fn num_insts(&self) -> usize {
        self.live
    }

    /// One more than the largest index any [`InstId`] of this function has. For side tables.
    #[must_use]
    #[inline]
    pub fn inst_capacity(&self) -> usize {
        self.insts.len()
    }

    /// One more than the largest index any [`ValueId`] of this function has. For side tables.
    #[must_use]
    #[inline]
    pub fn value_capacity(&self) -> usize {
        self.values.len()
    }

    /// One more than the largest index any [`BodyId`] of this function has. For side tables.
    #[must_use]
    #[inline]
    pub fn body_capacity(&self) -> usize {
        self.bodies.len()
    }

    /// Whether the instruction exists: it was made here and not erased.
    #[must_use]
    #[inline]
    pub fn is_live(&self, inst: InstId) -> bool {
        self.insts.get(inst.index()).is_some_and(|data| data.live)
    }

    /// Whether the value exists: its instruction or body does.
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

    /// Whether the body exists.
    #[must_use]
    pub fn is_live_body(&self, body: BodyId) -> bool {
        self.bodies.get(body.index()).is_some_and(|data| data.live)
    }

    /// The key of its op.
    #[must_use]
    #[inline]
    pub fn op_key(&self, inst: InstId) -> OpKey {
        self.insts[inst.index()].key
    }

    /// The name of its op.
    #[must_use]
    pub fn op_name(&self, inst: InstId) -> &'static str {
        self.op_key(inst).name()
    }

    /// The definition of its op; `None` if it is not registered.
    #[must_use]
    #[inline]
    pub fn op_def(&self, inst: InstId) -> Option<&OpDef> {
        self.registry.get(self.op_key(inst))
    }

    /// Whether its op is `T`.
    #[must_use]
    #[inline]
    pub fn is<T: Op>(&self, inst: InstId) -> bool {
        self.op_key(inst) == T::key()
    }

    /// The instruction as a `T`, if it is one: operands, regions and attributes by name.
    #[must_use]
    #[inline]
    pub fn view<T: Op>(&self, inst: InstId) -> Option<T> {
        if self.is::<T>(inst) { T::read(self, inst) } else { None }
    }

    /// The instruction that defines `value`, as a `T`, if it is one.
    #[must_use]
    #[inline]
    pub fn def<T: Op>(&self, value: ValueId) -> Option<T> {
        self.view(self.inst_of(value)?)
    }

    /// The attributes, in the order of the op's table; one dictionary for an unregistered op.
    #[must_use]
    #[inline]
    pub fn attrs(&self, inst: InstId) -> &AttrList {
        self.attrs.get(self.insts[inst.index()].attrs)
    }

    /// The interned number of the attribute list: equal lists of one function have equal numbers.
    #[must_use]
    #[inline]
    pub fn attr_id(&self, inst: InstId) -> AttrId {
        self.insts[inst.index()].attrs
    }

    /// The attribute list with this number.
    #[must_use]
    pub fn attrs_by_id(&self, id: AttrId) -> &AttrList {
        self.attrs.get(id)
    }

    /// One attribute by name.
    #[must_use]
    pub fn attr(&self, inst: InstId, name: &str) -> Option<&Attr> {
        match self.op_def(inst) {
            Some(def) => self.attrs(inst).get(def.attrs.iter().position(|a| a.name == name)?),
            None => self.attrs(inst).first()?.get(name),
        }
    }

    /// The operands.
    #[must_use]
    #[inline]
    pub fn operands(&self, inst: InstId) -> &[ValueId] {
        let data = &self.insts[inst.index()];
        &self.operand_pool[data.operands as usize..(data.operands + data.operand_len) as usize]
    }

    /// The regions.
    #[must_use]
    #[inline]
    pub fn regions(&self, inst: InstId) -> &[BodyId] {
        let data = &self.insts[inst.index()];
        &self.region_pool[data.regions as usize..(data.regions + data.region_len) as usize]
    }

    /// The results.
    #[inline]
    pub fn inst_results(
        &self,
        inst: InstId,
    ) -> impl DoubleEndedIterator<Item = ValueId> + ExactSizeIterator + Clone + use<> {
        let data = &self.insts[inst.index()];
        (data.results as usize..(data.results + data.result_len) as usize).map(ValueId::new)
    }

    /// The n-th result.
    #[must_use]
    #[inline]
    pub fn result(&self, inst: InstId, n: usize) -> Option<ValueId> {
        let data = &self.insts[inst.index()];
        (n < data.result_len as usize).then(|| ValueId::new(data.results as usize + n))
    }

    /// The first result.
    #[must_use]
    #[inline]
    pub fn value_of(&self, inst: InstId) -> Option<ValueId> {
        self.result(inst, 0)
    }

    /// Where it was written.
    #[must_use]
    #[inline]
    pub fn inst_span(&self, inst: InstId) -> Span {
        self.spans[inst.index()]
    }

    /// Says where it was written.
    pub fn set_inst_span(&mut self, inst: InstId, span: Span) {
        self.note(|f| journal::Undo::Span { inst, old: f.spans[inst.index()] });
        self.spans[inst.index()] = span;
    }

    /// The body it stands in; `None` while it is not inserted.
    #[must_use]
    #[inline]
    pub fn body_of(&self, inst: InstId) -> Option<BodyId> {
        self.insts[inst.index()].parent.some()
    }

    /// The instruction after it in its body.
    #[must_use]
    #[inline]
    pub fn next_inst(&self, inst: InstId) -> Option<InstId> {
        self.insts[inst.index()].next.some()
    }

    /// The instruction before it in its body.
    #[must_use]
    #[inline]
    pub fn prev_inst(&self, inst: InstId) -> Option<InstId> {
        self.insts[inst.index()].prev.some()
    }

    /// The type of a value.
    #[must_use]
    #[inline]
    pub fn value_type(&self, value: ValueId) -> &ValueType {
        self.types.get(self.values[value.index()].ty)
    }

    /// The interned number of a value's type: equal types of one function have equal numbers.
    #[must_use]
    #[inline]
    pub fn type_id(&self, value: ValueId) -> TypeId {
        self.values[value.index()].ty
    }

    /// The type with this number.
    #[must_use]
    #[inline]
    pub fn type_by_id(&self, id: TypeId) -> &ValueType {
        self.types.get(id)
    }

    /// Where a value comes from.
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

    /// The instruction that defines a value; `None` for a parameter.
    #[must_use]
    #[inline]
    pub fn inst_of(&self, value: ValueId) -> Option<InstId> {
        match self.value_def(value) {
            ValueDef::Result(inst, _) => Some(inst),
            ValueDef::Param(..) => None,
        }
    }

    /// The literal a value is, if its instruction is a `constant`.
    #[must_use]
    #[inline]
    pub fn constant_of(&self, value: ValueId) -> Option<&TensorLiteral> {
        let inst = self.inst_of(value)?;
        if !self.is::<crate::ops::Constant>(inst) {
            return None;
        }
        self.attrs(inst).first()?.as_literal()
    }

    /// The parameters of a body.
    #[must_use]
    #[inline]
    pub fn body_params(&self, body: BodyId) -> &[ValueId] {
        &self.bodies[body.index()].params
    }

    /// The instruction that owns a body; `None` for the function's own and for detached ones.
    #[must_use]
    #[inline]
    pub fn body_owner(&self, body: BodyId) -> Option<InstId> {
        self.bodies[body.index()].owner.some()
    }

    /// The first instruction of a body.
    #[must_use]
    pub fn first_inst(&self, body: BodyId) -> Option<InstId> {
        self.bodies[body.index()].first.some()
    }

    /// The last instruction of a body.
    #[must_use]
    pub fn last_inst(&self, body: BodyId) -> Option<InstId> {
        self.bodies[body.index()].last.some()
    }

    /// The instruction a body ends in, if that is a terminator.
    #[must_use]
    pub fn terminator(&self, body: BodyId) -> Option<InstId> {
        self.last_inst(body).filter(|&last| self.op_def(last).is_some_and(|def| def.terminator))
    }

    /// The values a body yields or returns: the operands of its terminator.
    #[must_use]
    pub fn body_results(&self, body: BodyId) -> &[ValueId] {
        self.terminator(body).map_or(&[], |t| self.operands(t))
    }

    /// The instructions of a body, in order, without those of nested regions.
    #[must_use]
    pub fn body_insts(&self, body: BodyId) -> BodyInsts<'_> {
        BodyInsts::new(self, body)
    }

    /// All instructions of the function in the order of the text: an instruction stands before those of its regions.
    #[must_use]
    pub fn walk(&self) -> Walk<'_> {
        self.walk_body(self.body())
    }

    /// All instructions of the function in no order: the arena is looked through faster than the body is walked.
    pub(crate) fn insts_unordered(&self) -> impl Iterator<Item = InstId> {
        // What stands in a detached body is not of the function.
        let whole = self.detached == 0;
        let of = |(i, data): (usize, &InstData)| {
            (data.live && !data.parent.is_none()).then(|| InstId::new(i))
        };
        let arena: &[InstData] = if whole { &self.insts } else { &[] };
        let walked = (!whole).then(|| self.walk());
        arena.iter().enumerate().filter_map(of).chain(walked.into_iter().flatten())
    }

    /// All instructions of the function in the order they complete: those of its regions stand before an instruction.
    /// This is the order of [`cmp_order`](Self::cmp_order).
    #[must_use]
    pub fn walk_completed(&self) -> WalkCompleted<'_> {
        WalkCompleted::new(self)
    }

    /// All instructions below a body in the order of the text.
    #[must_use]
    pub fn walk_body(&self, body: BodyId) -> Walk<'_> {
        Walk::new(self, body)
    }

    /// Whether an instruction may not be merged, dropped, duplicated or crossed, because of its op or of one in its
    /// regions; the terminators of these do not count.
    #[must_use]
    pub fn is_ordered(&self, inst: InstId) -> bool {
        if self.own_effects(inst) == Effects::Ordered {
            return true;
        }
        // What ends a region belongs to it, not to the order of effects around it.
        self.regions(inst).iter().any(|&body| {
            self.walk_body(body).any(|nested| {
                self.own_effects(nested) == Effects::Ordered
                    && !self.op_def(nested).is_some_and(|def| def.terminator)
            })
        })
    }

    /// The effects of the instruction itself, its regions left aside.
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

    /// Bytes held by the arenas and tables, spare capacity included.
    #[must_use]
    pub fn memory(&self) -> usize {
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
