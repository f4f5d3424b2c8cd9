//! Who is told about edits.

use sapwood_ptir::{Function, InstId, ValueId};

/// Something that follows the edits of a [`ProgramRewriter`](crate::ProgramRewriter). An edit that is taken back is
/// never told. All methods do nothing unless written.
pub trait Listener {
    /// An instruction was inserted.
    fn inserted(&mut self, function: &Function, inst: InstId) {
        let _ = (function, inst);
    }

    /// All uses of one value are now uses of another.
    fn replaced(&mut self, function: &Function, from: ValueId, to: ValueId) {
        let _ = (function, from, to);
    }

    /// Operands or attributes of an instruction are others now.
    fn operands_changed(&mut self, function: &Function, inst: InstId) {
        let _ = (function, inst);
    }

    /// An instruction, with its regions, is going: op, operands and results can be read a last time.
    fn erased(&mut self, function: &Function, inst: InstId) {
        let _ = (function, inst);
    }

    /// What follows is done by a pattern, by `fold`, `dce` or `cse`, starting at an instruction. The function is as it was
    /// before; only an instruction that a fold or a trait pattern changes in place is changed already.
    fn step(&mut self, function: &Function, name: &str, root: InstId) {
        let _ = (function, name, root);
    }
}

/// A list of what happened, one line each: for tests, traces and people.
#[derive(Debug, Default)]
pub struct StepLog {
    lines: Vec<String>,
}

impl StepLog {
    /// An empty log.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The lines so far.
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
