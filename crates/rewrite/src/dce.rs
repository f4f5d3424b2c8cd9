//! Dead code: unused pure instructions go, in one walk.

use sapwood_ptir::{Function, InstId};

use crate::rewriter::{EffectIndex, ProgramRewriter};

/// Erases unused pure instructions of a function, and those that only they used. Gives how many went, each with its
/// regions counted once.
pub fn eliminate_dead_code(function: &mut Function) -> usize {
    let order: Vec<InstId> = function.walk_completed().collect();
    let mut rw = ProgramRewriter::new(function);
    rw.effects = EffectIndex::of(rw.function());
    let mut gone = 0;
    for inst in order.into_iter().rev() {
        if rw.is_dead(inst) && rw.erase_inst(inst).is_ok() {
            gone += 1;
        }
    }
    gone
}
