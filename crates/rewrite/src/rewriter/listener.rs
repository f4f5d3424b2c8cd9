//! Listeners: objects that are notified of edits.

use sapwood_ptir::{Function, InstId, ValueId};

/// An object that is notified of the edits of a [`ProgramRewriter`](crate::ProgramRewriter). An edit that is rolled back is
/// never reported. All methods do nothing by default.
pub trait Listener {
    /// Reports that an instruction was inserted.
    fn inserted(&mut self, function: &Function, inst: InstId) {
        let _ = (function, inst);
    }

    /// Reports that all uses of one value are now uses of another.
    fn replaced(&mut self, function: &Function, from: ValueId, to: ValueId) {
        let _ = (function, from, to);
    }

    /// Reports that operands or attributes of an instruction changed.
    fn operands_changed(&mut self, function: &Function, inst: InstId) {
        let _ = (function, inst);
    }

    /// Reports that an instruction is about to be erased with its regions: its op, operands and results can still be read.
    fn erased(&mut self, function: &Function, inst: InstId) {
        let _ = (function, inst);
    }

    /// Reports the start of a step: the edits that follow are made by a pattern, or by `fold`, `dce` or `cse`, at an instruction.
    /// The function is unchanged so far, except that an instruction that a fold or a trait pattern changes in place has
    /// changed already.
    fn step(&mut self, function: &Function, name: &str, root: InstId) {
        let _ = (function, name, root);
    }
}

/// A log of steps and edits, one line each, for tests and for reading.
#[derive(Debug, Default)]
pub struct StepLog {
    lines: Vec<String>,
}

impl StepLog {
    /// Returns an empty log.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the lines so far.
    #[must_use]
    pub fn lines(&self) -> &[String] {
        &self.lines
    }
}

impl Listener for StepLog {
    fn inserted(&mut self, function: &Function, inst: InstId) {
        self.lines.push(format!("  inserted {} {inst}", function.op_name(inst)));
    }

    fn replaced(&mut self, _: &Function, from: ValueId, to: ValueId) {
        self.lines.push(format!("  replaced {from} by {to}"));
    }

    fn operands_changed(&mut self, function: &Function, inst: InstId) {
        self.lines.push(format!("  changed {} {inst}", function.op_name(inst)));
    }

    fn erased(&mut self, function: &Function, inst: InstId) {
        self.lines.push(format!("  erased {} {inst}", function.op_name(inst)));
    }

    fn step(&mut self, function: &Function, name: &str, root: InstId) {
        self.lines.push(format!("{name} at {} {root}", function.op_name(root)));
    }
}
