//! The one way to change a function: edits that are checked, told to listeners, and can be taken back.

mod agenda;
mod constants;
mod dims;
mod edit;
mod effects;
mod error;
mod listener;
mod memo;

use sapwood_ptir::{Function, InstId, Op, OpKey, TensorLiteral, ValueDef, ValueId, ValueType};
use sapwood_types::Diagnostics;

pub(crate) use agenda::{Agenda, one_user};
pub(crate) use constants::constant_of;
pub(crate) use dims::each_name;
pub(crate) use effects::EffectIndex;
pub use error::RewriteError;
pub use listener::{Listener, StepLog};
pub(crate) use memo::{Joined, Memo, WIDE};

/// Whether what tells listeners and traces is left out, to measure what it costs: docs/benchmarks.md.
#[allow(unexpected_cfgs, reason = "given by hand: no feature, which any dependent could ask for")]
pub(crate) const DEAF: bool = cfg!(sapwood_deaf);

/// Inspection and edits of one function.
///
/// Every edit that would break SSA form, types or nesting is refused with an error and changes nothing. What an edit
/// costs is O(1) amortised, O(uses) for replacing, O(moved) for splicing a body.
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
    pub(crate) agenda: Agenda,
    pub(crate) effects: EffectIndex,
    pub(crate) memo: Memo,
    listeners: Vec<&'a mut dyn Listener>,
    // What happened since the journal was opened; told when it is kept.
    held: Vec<Event>,
    // The last of the constants that lead the function.
    cursor: Option<InstId>,
    // What it was when the journal was opened.
    cursor_before: Option<InstId>,
}

#[derive(Clone, Copy)]
enum Event {
    Inserted(InstId),
    Replaced(ValueId, ValueId),
    Changed(InstId),
    // A user whose operand was replaced: only the agenda is told.
    Touched(InstId),
    // It stands elsewhere than before, or went with its owner: only the log is told.
    Moved(InstId),
    Erased(InstId),
    Fewer(ValueId),
}

impl<'a> ProgramRewriter<'a> {
    /// A rewriter of a function.
    pub fn new(function: &'a mut Function) -> Self {
        let cursor = constants::leading(function);
        Self {
            function,
            agenda: Agenda::default(),
            effects: EffectIndex::default(),
            memo: Memo::default(),
            listeners: Vec::new(),
            held: Vec::new(),
            cursor,
            cursor_before: None,
        }
    }

    /// Adds somebody who is told about every edit.
    pub fn listen(&mut self, listener: &'a mut dyn Listener) {
        self.listeners.push(listener);
    }

    /// The function as it stands.
    #[must_use]
    pub fn function(&self) -> &Function {
        self.function
    }

    /// The key of an instruction's op.
    #[must_use]
    pub fn op_key(&self, inst: InstId) -> OpKey {
        self.function.op_key(inst)
    }

    /// The instruction as a `T`, if it is one.
    #[must_use]
    pub fn op<T: Op>(&self, inst: InstId) -> Option<T> {
        self.function.view(inst)
    }

    /// The instruction that defines a value, as a `T`, if it is one.
    #[must_use]
    pub fn def<T: Op>(&self, value: ValueId) -> Option<T> {
        self.function.def(value)
    }

    /// The operands of an instruction.
    #[must_use]
    pub fn operands(&self, inst: InstId) -> &[ValueId] {
        self.function.operands(inst)
    }

    /// The first result of an instruction; `None` if it has none.
    #[must_use]
    pub fn value_of(&self, inst: InstId) -> Option<ValueId> {
        self.function.value_of(inst)
    }

    /// The type of a value; `None` if there is no such value.
    #[must_use]
    pub fn type_of(&self, value: ValueId) -> Option<&ValueType> {
        self.function.is_live_value(value).then(|| self.function.value_type(value))
    }

    /// The instruction that defines a value; `None` for a parameter.
    #[must_use]
    pub fn inst_of(&self, value: ValueId) -> Option<InstId> {
        match self.function.value_def(value) {
            ValueDef::Result(inst, _) => Some(inst),
            ValueDef::Param(..) => None,
        }
    }

    /// The literal a value is: of a constant, or of a broadcast of a constant that is the same everywhere.
    #[must_use]
    pub fn constant_of(&self, value: ValueId) -> Option<TensorLiteral> {
        constant_of(self.function, value)
    }

    /// The instructions that use a value: one entry per use, in program order.
    #[must_use]
    pub fn users_of(&self, value: ValueId) -> Vec<InstId> {
        self.function.users_of(value)
    }

    /// Whether nothing uses a value.
    #[must_use]
    pub fn unused(&self, value: ValueId) -> bool {
        self.function.unused(value)
    }

    /// Whether exactly one operand is this value.
    #[must_use]
    pub fn one_use(&self, value: ValueId) -> bool {
        self.function.one_use(value)
    }

    /// Whether exactly one instruction uses this value, in at most eight operands.
    #[must_use]
    pub fn one_user(&self, value: ValueId) -> bool {
        one_user(self.function, value)
    }

    /// Whether an instruction may go: nothing uses its results and it does nothing else. One that tells what a named dim
    /// is, itself or inside of its regions, does something, unless its operands or the parameters of the function tell
    /// that too.
    #[must_use]
    pub fn is_dead(&self, inst: InstId) -> bool {
        let f = &*self.function;
        f.is_live(inst)
            && self.memo.results_unused(f, inst)
            && !f.op_def(inst).is_some_and(|def| def.terminator)
            && !self.effects.is_ordered(f, inst)
            && !self.effects.tells_dims(f, inst)
    }

    /// Checks the function as the verifier of PTIR does.
    ///
    /// # Errors
    /// With everything that is wrong.
    pub fn verify(&self) -> Result<(), Diagnostics> {
        sapwood_ptir::verify_function(self.function)
    }

    /// Brings the index of effects up to date. Gives the instructions that became pure.
    pub(crate) fn refresh_effects(&mut self) -> Vec<InstId> {
        self.effects.refresh(self.function)
    }

    // From here on everything can be taken back.
    pub(crate) fn begin(&mut self) {
        self.function.open_journal();
        self.cursor_before = self.cursor;
    }

    /// How many edits were made since `begin`.
    pub(crate) fn edits(&self) -> usize {
        self.function.journal_len()
    }

    pub(crate) fn take_back(&mut self) {
        if !self.function.has_journal() {
            return;
        }
        self.function.rollback_journal();
        self.held.clear();
        self.cursor = self.cursor_before;
    }

    /// What was inserted or changed since `begin`.
    pub(crate) fn touched(&self) -> impl Iterator<Item = InstId> + '_ {
        self.held.iter().filter_map(|event| match *event {
            Event::Inserted(inst) | Event::Changed(inst) | Event::Touched(inst) => Some(inst),
            Event::Replaced(..) | Event::Erased(_) | Event::Fewer(_) | Event::Moved(_) => None,
        })
    }

    pub(crate) fn keep(&mut self) {
        let held = std::mem::take(&mut self.held);
        for &event in &held {
            self.deliver(event);
        }
        self.function.commit_journal();
        self.held = held;
        self.held.clear();
    }

    /// Tells listeners whose work follows.
    pub(crate) fn step(&mut self, name: &str, root: InstId) {
        if DEAF {
            return;
        }
        for listener in &mut self.listeners {
            listener.step(self.function, name, root);
        }
    }

    #[inline]
    fn tell(&mut self, event: Event) {
        if DEAF && matches!(event, Event::Replaced(..)) {
            return;
        }
        if self.function.has_journal() {
            self.held.push(event);
        } else if self.is_watched() {
            self.deliver(event);
        }
    }

    // Whether anybody wants to know about edits. Effects are followed only where there are regions.
    #[inline]
    fn is_watched(&self) -> bool {
        let heard = !DEAF && !self.listeners.is_empty();
        self.agenda.is_enabled() || heard || self.function.body_capacity() > 1
    }

    fn deliver(&mut self, event: Event) {
        let f = &*self.function;
        match event {
            Event::Inserted(inst) => {
                self.effects.inserted(f, inst);
                self.agenda.mark(inst);
            }
            Event::Changed(inst) => {
                self.memo.forget(f, inst);
                self.agenda.mark(inst);
            }
            Event::Touched(inst) => self.agenda.mark(inst),
            Event::Fewer(value) => self.agenda.fewer_uses(f, value),
            Event::Moved(inst) => self.agenda.note(inst),
            Event::Erased(inst) => {
                self.effects.erased(f, inst);
                self.agenda.note(inst);
            }
            Event::Replaced(..) => {}
        }
        if DEAF {
            return;
        }
        for listener in &mut self.listeners {
            match event {
                Event::Inserted(inst) => listener.inserted(f, inst),
                Event::Replaced(from, to) => listener.replaced(f, from, to),
                Event::Changed(inst) => listener.operands_changed(f, inst),
                Event::Erased(inst) => listener.erased(f, inst),
                Event::Touched(_) | Event::Moved(_) | Event::Fewer(_) => {}
            }
        }
    }
}
