//! The rewriter: the way in which patterns and the driver change a function. Edits are checked, reported to listeners, and can be rolled back.

mod change_tracker;
mod constants;
mod dim_bindings;
mod edit;
mod effect_index;
mod error;
mod law_edits;
mod listener;
mod narrow;
mod wide_inst_memo;

use sapwood_ptir::{Function, InstId, Op, OpKey, TensorLiteral, ValueDef, ValueId, ValueType};
use sapwood_types::Diagnostics;

pub(crate) use change_tracker::{ChangeTracker, MAX_CACHED_HOPS, one_user};
pub use constants::constant_of;
pub(crate) use effect_index::EffectIndex;
pub use error::RewriteError;
pub use law_edits::LawEdits;
pub use listener::{Listener, StepKind};
pub use narrow::refines;
pub(crate) use wide_inst_memo::{ConcatOffsets, WIDE_THRESHOLD, WideInstMemo};

/// True in builds that notify neither listeners nor trace sinks, which measure the cost of notification: docs/benchmarks.md.
#[allow(unexpected_cfgs, reason = "set by hand; a Cargo feature could be enabled by any dependent")]
pub(crate) const NO_LISTENERS: bool = cfg!(sapwood_no_listeners);

/// A rewriter: inspects and edits one function.
///
/// Every edit that would break SSA form, types or nesting is refused with an error and changes nothing. An edit costs
/// O(1) amortised; replacing a value costs O(uses), and splicing a body costs O(moved instructions).
///
/// ```
/// use sapwood_ptir::ops::Exp;
/// use sapwood_rewrite::ProgramRewriter;
///
/// let text = "ptir 1\nfunc @f(%x: f32[4]) -> f32[4] { %y = neg %x : f32[4] return %y }";
/// let mut program = sapwood_ptir::parse(text)?;
/// let f = program.function_mut("f").unwrap();
/// let x = f.params()[0];
/// let mut rw = ProgramRewriter::new(f);
/// let neg = rw.inst_of(rw.function().results()[0]).unwrap();
/// let (_, y) = rw.insert_before(neg, Exp { input: x })?;
/// rw.replace_inst(neg, &[y])?;
/// assert!(program.to_string().contains("%y = exp %x : f32[4]"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ProgramRewriter<'a> {
    function: &'a mut Function,
    pub(crate) changes: ChangeTracker,
    pub(crate) effects: EffectIndex,
    pub(crate) memo: WideInstMemo,
    listeners: Vec<&'a mut dyn Listener>,
    // The events since `begin`; delivered by `commit`, dropped by `rollback`.
    pending_events: Vec<EditEvent>,
    // The last of the constants at the start of the function; new constants are inserted after it.
    last_leading_constant: Option<InstId>,
    // The value of `last_leading_constant` at `begin`.
    last_leading_constant_at_begin: Option<InstId>,
    // True after the first event of an edit, also if the edit was rolled back.
    has_notified: bool,
}

#[derive(Clone, Copy)]
enum EditEvent {
    Inserted(InstId),
    Replaced(ValueId, ValueId),
    Changed(InstId),
    // The first two operands of an instruction were swapped, and its results stay the same.
    Swapped(InstId),
    // An instruction that reads a replaced value, or owns or is in a region that changed: only the change tracker is notified.
    Affected(InstId),
    // An instruction moved to another place, or was erased with its owner: only the log of the change tracker is notified.
    Moved(InstId),
    Erased(InstId),
    UsesRemoved(ValueId),
}

impl<'a> ProgramRewriter<'a> {
    /// Returns a rewriter of a function, without listeners.
    pub fn new(function: &'a mut Function) -> Self {
        let last_leading_constant = constants::find_last_leading_constant(function);
        Self {
            function,
            changes: ChangeTracker::default(),
            effects: EffectIndex::default(),
            memo: WideInstMemo::default(),
            listeners: Vec::new(),
            pending_events: Vec::new(),
            last_leading_constant,
            last_leading_constant_at_begin: None,
            has_notified: false,
        }
    }

    /// Adds a listener that is notified of every edit.
    pub fn listen(&mut self, listener: &'a mut dyn Listener) {
        self.listeners.push(listener);
    }

    /// Returns the function in its current state.
    #[must_use]
    pub fn function(&self) -> &Function {
        self.function
    }

    /// Returns the key of an instruction's op.
    #[must_use]
    pub fn op_key(&self, inst: InstId) -> OpKey {
        self.function.op_key(inst)
    }

    /// Returns the instruction as a `T`, if its op is `T`.
    #[must_use]
    pub fn op<T: Op>(&self, inst: InstId) -> Option<T> {
        self.function.view(inst)
    }

    /// Returns the instruction that defines a value as a `T`, if its op is `T`.
    #[must_use]
    pub fn def<T: Op>(&self, value: ValueId) -> Option<T> {
        self.function.def(value)
    }

    /// Returns the operands of an instruction.
    #[must_use]
    pub fn operands(&self, inst: InstId) -> &[ValueId] {
        self.function.operands(inst)
    }

    /// Returns the first result of an instruction; `None` if it has none.
    #[must_use]
    pub fn value_of(&self, inst: InstId) -> Option<ValueId> {
        self.function.value_of(inst)
    }

    /// Returns the type of a value; `None` if the value does not exist.
    #[must_use]
    pub fn type_of(&self, value: ValueId) -> Option<&ValueType> {
        self.function.is_live_value(value).then(|| self.function.value_type(value))
    }

    /// Returns the instruction that defines a value; `None` for a parameter.
    #[must_use]
    pub fn inst_of(&self, value: ValueId) -> Option<InstId> {
        match self.function.value_def(value) {
            ValueDef::Result(inst, _) => Some(inst),
            ValueDef::Param(..) => None,
        }
    }

    /// Returns the literal of a value that a constant defines, or a broadcast of a constant whose elements are all equal.
    #[must_use]
    pub fn constant_of(&self, value: ValueId) -> Option<TensorLiteral> {
        constant_of(self.function, value)
    }

    /// Returns the instructions that use a value: one entry per use, in program order.
    #[must_use]
    pub fn users_of(&self, value: ValueId) -> Vec<InstId> {
        self.function.users_of(value)
    }

    /// Returns true if nothing uses a value.
    #[must_use]
    pub fn unused(&self, value: ValueId) -> bool {
        self.function.unused(value)
    }

    /// Returns true if exactly one operand is this value.
    #[must_use]
    pub fn one_use(&self, value: ValueId) -> bool {
        self.function.one_use(value)
    }

    /// Returns true if exactly one instruction uses this value, in at most eight operands.
    #[must_use]
    pub fn one_user(&self, value: ValueId) -> bool {
        one_user(self.function, value)
    }

    /// Returns true if an instruction can be erased: nothing uses its results and it has no effect.
    ///
    /// An instruction that binds a named dim, itself or inside its regions, counts as having an effect, unless its operands or
    /// the parameters of the function bind the same name.
    #[must_use]
    pub fn is_dead(&self, inst: InstId) -> bool {
        let f = &*self.function;
        f.is_live(inst)
            && self.memo.results_unused(f, inst)
            && !f.op_def(inst).is_some_and(|def| def.terminator)
            && !self.effects.is_ordered(f, inst)
            && !self.effects.binds_dims(f, inst)
    }

    /// Verifies the function with the verifier of PTIR.
    ///
    /// # Errors
    /// If the function does not verify, with all diagnostics.
    pub fn verify(&self) -> Result<(), Diagnostics> {
        sapwood_ptir::verify_function(self.function)
    }

    /// Returns the version of an instruction: a number that is larger after anything has changed that a pattern rooted there may
    /// read. That is the instruction, the definitions at most two away, and the tests for single uses of their results.
    ///
    /// It may be larger without such a change: where it would cost too much to find out, as for instructions with regions or
    /// long lists of operands, every edit counts. Outside of patterns, every edit counts, too.
    #[must_use]
    pub fn version(&self, inst: InstId) -> u32 {
        match self.changes.is_enabled() && self.pending_events.is_empty() {
            true => self.changes.last_change_near(self.function, inst),
            false => self.changes.clock(),
        }
    }

    /// Marks an instruction as changed: its version and those of its readers become larger, and the driver tries its patterns again. Edits do
    /// this; a pattern calls it if it changes something that other patterns read and that is not part of the function.
    pub fn bump_version(&mut self, inst: InstId) {
        if self.function.is_live(inst) {
            self.notify(EditEvent::Affected(inst));
        }
    }

    /// Returns the distance of the nearest change after a time: see [`ChangeTracker::distance_of_change`].
    pub(crate) fn distance_of_change(&self, inst: InstId, since: u32, hops: u8) -> u8 {
        self.changes.distance_of_change(self.function, inst, since, hops)
    }

    /// Returns true if an instruction may not be merged, erased, duplicated or reordered.
    pub(crate) fn is_ordered(&self, inst: InstId) -> bool {
        self.effects.is_ordered(self.function, inst)
    }

    /// Updates the effect index and returns the instructions that became pure.
    pub(crate) fn refresh_effects(&mut self) -> Vec<InstId> {
        self.effects.refresh(self.function)
    }

    /// Begins a transaction: the edits from here on can be rolled back.
    pub(crate) fn begin(&mut self) {
        self.function.open_journal();
        self.last_leading_constant_at_begin = self.last_leading_constant;
    }

    /// Returns the number of edits since `begin`.
    pub(crate) fn edits_since_begin(&self) -> usize {
        self.function.journal_len()
    }

    /// Rolls back the edits since `begin`.
    pub(crate) fn rollback(&mut self) {
        if !self.function.has_journal() {
            return;
        }
        self.function.rollback_journal();
        self.pending_events.clear();
        self.last_leading_constant = self.last_leading_constant_at_begin;
    }

    /// Returns the instructions that were inserted or changed since `begin`.
    pub(crate) fn touched_since_begin(&self) -> impl Iterator<Item = InstId> + '_ {
        self.pending_events.iter().filter_map(|event| match *event {
            EditEvent::Inserted(inst)
            | EditEvent::Changed(inst)
            | EditEvent::Swapped(inst)
            | EditEvent::Affected(inst) => Some(inst),
            EditEvent::Replaced(..)
            | EditEvent::Erased(_)
            | EditEvent::UsesRemoved(_)
            | EditEvent::Moved(_) => None,
        })
    }

    /// Keeps the edits since `begin`, and notifies the listeners of them.
    pub(crate) fn commit(&mut self) {
        let pending_events = std::mem::take(&mut self.pending_events);
        for &event in &pending_events {
            self.deliver(event);
        }
        self.function.commit_journal();
        self.pending_events = pending_events;
        self.pending_events.clear();
    }

    /// Notifies the listeners that the edits that follow belong to this step at `root`.
    pub(crate) fn notify_step(&mut self, kind: StepKind<'_>, root: InstId) {
        if NO_LISTENERS {
            return;
        }
        for listener in &mut self.listeners {
            listener.step(self.function, kind, root);
        }
    }

    /// Returns true if anything was edited by this rewriter, which records no changes; edits that were rolled back count.
    pub(crate) fn has_edited(&self) -> bool {
        self.has_notified || self.changes.clock() != 0
    }

    #[inline]
    fn notify(&mut self, event: EditEvent) {
        self.has_notified = true;
        if NO_LISTENERS && matches!(event, EditEvent::Replaced(..)) {
            return;
        }
        if self.function.has_journal() {
            self.pending_events.push(event);
            self.changes.tick();
        } else if self.has_observers() {
            self.deliver(event);
        } else {
            self.changes.tick();
        }
    }

    // Returns true if anything follows the edits. Effects are followed only in functions with regions.
    #[inline]
    fn has_observers(&self) -> bool {
        let has_listeners = !NO_LISTENERS && !self.listeners.is_empty();
        self.changes.is_enabled() || has_listeners || self.function.body_capacity() > 1
    }

    fn deliver(&mut self, event: EditEvent) {
        let f = &*self.function;
        match event {
            EditEvent::Inserted(inst) => {
                self.effects.on_inserted(f, inst);
                self.changes.mark_changed(inst);
            }
            EditEvent::Changed(inst) => {
                self.memo.invalidate(f, inst);
                self.changes.mark_changed(inst);
            }
            // A computation of a commutative op is equal with swapped operands.
            EditEvent::Swapped(inst) => match f.op_def(inst).is_some_and(|def| def.commutative) {
                true => self.changes.mark_affected(inst),
                false => self.changes.mark_changed(inst),
            },
            EditEvent::Affected(inst) => self.changes.mark_changed(inst),
            EditEvent::UsesRemoved(value) => self.changes.mark_uses_removed(f, value),
            EditEvent::Moved(inst) => self.changes.log_only(inst),
            EditEvent::Erased(inst) => {
                self.effects.on_erased(f, inst);
                self.changes.log_only(inst);
            }
            EditEvent::Replaced(..) => {}
        }
        if NO_LISTENERS {
            return;
        }
        for listener in &mut self.listeners {
            match event {
                EditEvent::Inserted(inst) => listener.inserted(f, inst),
                EditEvent::Replaced(from, to) => listener.replaced(f, from, to),
                EditEvent::Changed(inst) | EditEvent::Swapped(inst) => {
                    listener.operands_changed(f, inst);
                }
                EditEvent::Erased(inst) => listener.erased(f, inst),
                EditEvent::Affected(_) | EditEvent::Moved(_) | EditEvent::UsesRemoved(_) => {}
            }
        }
    }
}
