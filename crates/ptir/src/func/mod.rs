//! Functions, in two halves: what is computed (`dfg`) and in which order and where (`layout`).
//!
//! The halves know nothing of each other; both are indexed by the ids of instructions and bodies. A [`Function`] holds
//! both, offers the queries on them, and keeps them consistent: its edits (`edit`, `bodies`, `regions`, `constants`)
//! change both halves together. `uses` and `value_names` belong to the data flow, `order` and `walk` to the layout.

mod bodies;
mod consistency;
mod constants;
mod copy;
mod dfg;
mod edit;
mod insert_point;
mod journal;
mod layout;
mod order;
mod regions;
mod symbols;
mod uses;
mod value_names;
mod walk;

use std::cmp::Ordering;
use std::sync::Arc;

use sapwood_types::{Source, Span};
use smallvec::SmallVec;

use crate::attr::{Attr, AttrList};
use crate::dims::Facts;
use crate::ids::{AttrId, BodyId, InstId, TypeId, ValueId};
use crate::literal::TensorLiteral;
use crate::name::Name;
use crate::op::{Effects, Op, OpDef, OpKey, Registry};
use crate::ops::{BroadcastInDim, BroadcastTo};
use crate::types::ValueType;

pub use copy::CopiedIds;
pub(crate) use dfg::{Dfg, NO_HINT, PARAM_BIT};
pub use edit::{EditError, InsertPoint};
use journal::DfgUndo;
pub(crate) use layout::Layout;
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
    // None if nothing is assumed.
    facts: Option<Arc<Facts>>,
    span: Span,
    pub(crate) dfg: Dfg,
    pub(crate) layout: Layout,
    // The source text that messages quote, if there is one.
    pub(crate) quoted: Option<Arc<QuotedSource>>,
    result_types: Vec<TypeId>,
    leading: Option<Box<str>>,
    journal: Option<Vec<journal::UndoEntry>>,
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

    /// Creates an empty function with capacity for `insts` instructions.
    pub(crate) fn with_capacity(name: Name, registry: Arc<Registry>, insts: usize) -> Self {
        let mut function = Self {
            name,
            extracted_from: None,
            private: false,
            facts: None,
            span: Span::unknown(),
            dfg: Dfg::with_capacity(registry, insts),
            layout: Layout::with_capacity(insts),
            quoted: None,
            result_types: Vec::new(),
            leading: None,
            journal: None,
        };
        let body = function.create_body();
        function.layout.init_root_labels(body);
        function
    }

    /// Returns the facts that the function assumes about the symbols of its parameters: its `where` clause.
    #[must_use]
    pub fn facts(&self) -> Option<&Facts> {
        self.facts.as_deref()
    }

    /// Sets the facts that the function assumes. They are checked when the parameters bind the symbols.
    pub fn set_facts(&mut self, facts: Facts) {
        self.facts = (!facts.is_empty()).then(|| Arc::new(facts));
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

    // Returns whether a registry defines an unregistered op of the function.
    pub(crate) fn is_redefined_by(&self, registry: &Registry) -> bool {
        let mut keys = self.insts_unordered().map(|inst| self.op_key(inst));
        keys.any(|key| self.registry().get(key).is_none() && registry.get(key).is_some())
    }

    // The new registry must define all registered ops of the function alike.
    pub(crate) fn set_registry(&mut self, registry: &Arc<Registry>) {
        self.dfg.registry = registry.clone();
    }

    /// Returns the registry of the ops that this function may contain.
    #[must_use]
    #[inline]
    pub fn registry(&self) -> &Arc<Registry> {
        &self.dfg.registry
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
        self.result_types.iter().map(|&t| self.dfg.types.get(t)).collect()
    }

    /// Sets the declared types of the results.
    pub fn set_result_types<'a>(&mut self, types: impl IntoIterator<Item = &'a ValueType>) {
        self.result_types = types.into_iter().map(|t| self.dfg.types.intern(t)).collect();
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
        self.dfg.live
    }

    /// Returns one more than the largest index of an [`InstId`] of this function. For side tables.
    #[must_use]
    #[inline]
    pub fn inst_capacity(&self) -> usize {
        self.dfg.insts.len()
    }

    /// Returns one more than the largest index of a [`ValueId`] of this function. For side tables.
    #[must_use]
    #[inline]
    pub fn value_capacity(&self) -> usize {
        self.dfg.values.len()
    }

    /// Returns one more than the largest index of a [`BodyId`] of this function. For side tables.
    #[must_use]
    #[inline]
    pub fn body_capacity(&self) -> usize {
        self.dfg.bodies.len()
    }

    /// Returns whether an instruction exists: it was created here and not erased.
    #[must_use]
    #[inline]
    pub fn is_live(&self, inst: InstId) -> bool {
        self.dfg.is_live(inst)
    }

    /// Returns whether a value exists: its instruction or body does.
    #[must_use]
    #[inline]
    pub fn is_live_value(&self, value: ValueId) -> bool {
        self.dfg.is_live_value(value)
    }

    /// Returns whether a body exists.
    #[must_use]
    pub fn is_live_body(&self, body: BodyId) -> bool {
        self.dfg.is_live_body(body)
    }

    /// Returns the key of an instruction's op.
    #[must_use]
    #[inline]
    pub fn op_key(&self, inst: InstId) -> OpKey {
        self.dfg.op_key(inst)
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
        self.dfg.op_def(inst)
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
        self.dfg.attrs(inst)
    }

    /// Returns the interned id of an instruction's attribute list. Equal lists of one function have equal ids.
    #[must_use]
    #[inline]
    pub fn attr_id(&self, inst: InstId) -> AttrId {
        self.dfg.insts[inst.index()].attrs
    }

    /// Returns the attribute list with this id.
    #[must_use]
    pub fn attrs_by_id(&self, id: AttrId) -> &AttrList {
        self.dfg.attrs.get(id)
    }

    /// Returns one attribute of an instruction by name.
    #[must_use]
    pub fn attr(&self, inst: InstId, name: &str) -> Option<&Attr> {
        self.dfg.attr(inst, name)
    }

    /// Returns the operands of an instruction.
    #[must_use]
    #[inline]
    pub fn operands(&self, inst: InstId) -> &[ValueId] {
        self.dfg.operands(inst)
    }

    /// Returns whether an instruction has regions.
    #[must_use]
    #[inline]
    pub fn has_regions(&self, inst: InstId) -> bool {
        self.layout.has_regions(inst)
    }

    /// Returns the regions of an instruction.
    #[must_use]
    #[inline]
    pub fn regions(&self, inst: InstId) -> &[BodyId] {
        self.layout.regions(inst)
    }

    /// Returns the results of an instruction.
    #[inline]
    pub fn inst_results(
        &self,
        inst: InstId,
    ) -> impl DoubleEndedIterator<Item = ValueId> + ExactSizeIterator + Clone + use<> {
        self.dfg.inst_results(inst)
    }

    /// Returns the n-th result of an instruction.
    #[must_use]
    #[inline]
    pub fn result(&self, inst: InstId, n: usize) -> Option<ValueId> {
        self.dfg.result(inst, n)
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
        self.dfg.spans[inst.index()]
    }

    /// Sets the source span of an instruction.
    pub fn set_inst_span(&mut self, inst: InstId, span: Span) {
        let old = std::mem::replace(&mut self.dfg.spans[inst.index()], span);
        self.record_dfg_undo(|_| DfgUndo::Span { inst, old });
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
        self.layout.body_of(inst)
    }

    /// Returns the next instruction in the same body.
    #[must_use]
    #[inline]
    pub fn next_inst(&self, inst: InstId) -> Option<InstId> {
        self.layout.next_inst(inst)
    }

    /// Returns the previous instruction in the same body.
    #[must_use]
    #[inline]
    pub fn prev_inst(&self, inst: InstId) -> Option<InstId> {
        self.layout.prev_inst(inst)
    }

    /// Returns the type of a value.
    #[must_use]
    #[inline]
    pub fn value_type(&self, value: ValueId) -> &ValueType {
        self.dfg.value_type(value)
    }

    /// Returns the interned id of a value's type. Equal types of one function have equal ids.
    #[must_use]
    #[inline]
    pub fn type_id(&self, value: ValueId) -> TypeId {
        self.dfg.values[value.index()].ty
    }

    /// Returns the type with this id.
    #[must_use]
    #[inline]
    pub fn type_by_id(&self, id: TypeId) -> &ValueType {
        self.dfg.types.get(id)
    }

    /// Returns the definition of a value.
    #[must_use]
    #[inline]
    pub fn value_def(&self, value: ValueId) -> ValueDef {
        self.dfg.value_def(value)
    }

    /// Returns the instruction that defines a value, or `None` for a parameter.
    #[must_use]
    #[inline]
    pub fn inst_of(&self, value: ValueId) -> Option<InstId> {
        self.dfg.inst_of(value)
    }

    /// Returns the literal of a value that a `constant` defines.
    #[must_use]
    #[inline]
    pub fn constant_of(&self, value: ValueId) -> Option<&TensorLiteral> {
        self.dfg.constant_of(value)
    }

    /// Returns the literal, all of whose elements are equal, that a broadcast repeats; `None` if a value is not such a broadcast.
    #[must_use]
    pub fn repeated_splat(&self, value: ValueId) -> Option<&TensorLiteral> {
        let inst = self.inst_of(value)?;
        if !self.is::<BroadcastTo>(inst) && !self.is::<BroadcastInDim>(inst) {
            return None;
        }
        let literal = self.constant_of(*self.operands(inst).first()?)?;
        literal.as_splat().map(|_| literal)
    }

    /// Returns the parameters of a body.
    #[must_use]
    #[inline]
    pub fn body_params(&self, body: BodyId) -> &[ValueId] {
        &self.dfg.bodies[body.index()].params
    }

    /// Returns the instruction that owns a body, or `None` for the function's own body and for detached bodies.
    #[must_use]
    #[inline]
    pub fn body_owner(&self, body: BodyId) -> Option<InstId> {
        self.layout.body_owner(body)
    }

    /// Returns the first instruction of a body.
    #[must_use]
    pub fn first_inst(&self, body: BodyId) -> Option<InstId> {
        self.layout.first_inst(body)
    }

    /// Returns the last instruction of a body.
    #[must_use]
    pub fn last_inst(&self, body: BodyId) -> Option<InstId> {
        self.layout.last_inst(body)
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
        self.layout.body_insts(body)
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
        let whole = self.layout.detached == 0;
        let arena = if whole { 0..self.inst_capacity() } else { 0..0 };
        let exists = |&inst: &InstId| self.is_live(inst) && self.body_of(inst).is_some();
        let walked = (!whole).then(|| self.walk());
        arena.map(InstId::new).filter(exists).chain(walked.into_iter().flatten())
    }

    /// Iterates over all instructions in post-order: an instruction comes after those in its regions. This is the
    /// order of [`cmp_order`](Self::cmp_order).
    #[must_use]
    pub fn walk_post_order(&self) -> PostOrderWalk<'_> {
        PostOrderWalk::new(&self.layout)
    }

    /// Iterates over all instructions in and below a body in the order of the text.
    #[must_use]
    pub fn walk_body(&self, body: BodyId) -> PreOrderWalk<'_> {
        self.layout.walk_body(body)
    }

    /// Compares two instructions of one function by their positions in post-order.
    #[must_use]
    pub fn cmp_order(&self, a: InstId, b: InstId) -> Ordering {
        self.order_key(a).cmp(&self.order_key(b))
    }

    /// Returns a number by which the instructions of a function sort in post-order. Edits change it.
    #[must_use]
    #[inline]
    pub fn order_key(&self, inst: InstId) -> u64 {
        self.layout.order_key(inst)
    }

    /// Returns whether `a` comes before `b` in post-order. The instructions of a region come before its owner.
    #[must_use]
    #[inline]
    pub fn is_before(&self, a: InstId, b: InstId) -> bool {
        self.cmp_order(a, b) == Ordering::Less
    }

    /// Returns whether `b` may use the results of `a`: `a` comes before `b` in the same body or in an enclosing one.
    #[must_use]
    #[inline]
    pub fn dominates(&self, a: InstId, b: InstId) -> bool {
        self.layout.dominates(a, b)
    }

    /// Returns whether `body` is the body of `inst` or encloses it.
    #[must_use]
    #[inline]
    pub fn encloses(&self, body: BodyId, inst: InstId) -> bool {
        self.layout.encloses(body, inst)
    }

    /// Returns the uses of a value, one entry per use, in no meaningful order.
    #[must_use]
    #[inline]
    pub fn uses(&self, value: ValueId) -> Uses<'_> {
        self.dfg.uses(value)
    }

    /// Returns the instructions that use a value, one entry per use, in program order.
    #[must_use]
    pub fn users_of(&self, value: ValueId) -> Vec<InstId> {
        let mut uses: Vec<Use> = self.uses(value).collect();
        uses.sort_by_key(|u| (self.order_key(u.user), u.index));
        uses.into_iter().map(|u| u.user).collect()
    }

    /// Returns whether a value has no uses.
    #[must_use]
    #[inline]
    pub fn unused(&self, value: ValueId) -> bool {
        self.dfg.unused(value)
    }

    /// Returns whether a value has exactly one use.
    #[must_use]
    #[inline]
    pub fn one_use(&self, value: ValueId) -> bool {
        self.dfg.one_use(value)
    }

    /// Returns whether exactly one instruction uses a value, once or several times. Stops at the second user.
    #[must_use]
    pub fn one_user(&self, value: ValueId) -> bool {
        let mut uses = self.uses(value);
        let Some(first) = uses.next() else { return false };
        uses.all(|u| u.user == first.user)
    }

    /// Returns whether no result of an instruction is used.
    #[must_use]
    #[inline]
    pub fn results_unused(&self, inst: InstId) -> bool {
        self.inst_results(inst).all(|v| self.unused(v))
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

    /// Returns whether a run may stop at an instruction, or in its regions: its op [may](crate::OpDef::may_stop), or dims are compared
    /// that are not known yet. A rewrite may drop such an instruction, but must not run it where it did not run before.
    #[must_use]
    pub fn may_stop(&self, inst: InstId) -> bool {
        let nested = self.regions(inst).iter().flat_map(|&body| self.walk_body(body));
        std::iter::once(inst).chain(nested).any(|inst| self.dfg.may_stop(inst))
    }

    /// Returns the effects of an instruction itself, without those of its regions.
    #[must_use]
    #[inline]
    pub fn own_effects(&self, inst: InstId) -> Effects {
        self.dfg.own_effects(inst)
    }

    /// Returns the number of bytes that the arenas and tables occupy, including spare capacity.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.dfg.memory_bytes() + self.layout.memory_bytes()
    }
}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&crate::text::print_function(self))
    }
}
