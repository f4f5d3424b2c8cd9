//! A listener that counts edits.

use sapwood_ptir::{Function, InstId, ValueId};
use sapwood_rewrite::Listener;

/// The number of edits of a function.
#[derive(Default)]
pub(crate) struct EditCount(pub(crate) usize);

impl Listener for EditCount {
    fn inserted(&mut self, _: &Function, _: InstId) {
        self.0 += 1;
    }
    fn replaced(&mut self, _: &Function, _: ValueId, _: ValueId) {
        self.0 += 1;
    }
    fn operands_changed(&mut self, _: &Function, _: InstId) {
        self.0 += 1;
    }
    fn erased(&mut self, _: &Function, _: InstId) {
        self.0 += 1;
    }
}
