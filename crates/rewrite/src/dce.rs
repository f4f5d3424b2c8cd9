//! Dead code elimination: erases unused pure instructions in one walk.

use sapwood_ptir::{Function, InstId};

use crate::rewriter::{EffectIndex, Listener, ProgramRewriter, StepKind};

/// Erases unused pure instructions of a function, and those that only they used. Returns their number; an instruction with
/// regions counts once.
pub fn eliminate_dead_code(function: &mut Function) -> usize {
    eliminate_dead_code_with(function, None)
}

/// Erases dead code as [`eliminate_dead_code`] does, and notifies a listener of every edit.
pub(crate) fn eliminate_dead_code_with<'a>(
    function: &'a mut Function,
    listener: Option<&'a mut dyn Listener>,
) -> usize {
    let order: Vec<InstId> = function.walk_post_order().collect();
    let mut rw = ProgramRewriter::new(function);
    if let Some(listener) = listener {
        rw.listen(listener);
    }
    rw.effects = EffectIndex::of(rw.function());
    let mut gone = 0;
    for inst in order.into_iter().rev() {
        if rw.is_dead(inst) {
            rw.notify_step(StepKind::Dce, inst);
            gone += usize::from(rw.erase_inst(inst).is_ok());
        }
    }
    gone
}
