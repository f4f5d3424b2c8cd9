//! A pass with an option and a counter.

use sapwood::ptir::Program;
use sapwood::ptir::ops::OptimizationBarrier;
use sapwood::rewrite::{PassContext, PassError, pass};

pass! {
    /// Removes optimization barriers.
    pub struct RemoveBarriers "remove-barriers" {
        /// The maximum number of barriers to remove in a function.
        most: usize = usize::MAX,
    }
    run = remove_barriers
}

fn remove_barriers(
    pass: &RemoveBarriers,
    p: &mut Program,
    cx: &mut PassContext,
) -> Result<bool, PassError> {
    cx.each_function(p, |rw, cx| {
        let is_barrier = |&inst: &_| rw.op::<OptimizationBarrier>(inst).is_some();
        let barriers: Vec<_> = rw.function().walk().filter(is_barrier).take(pass.most).collect();
        for inst in barriers {
            let values = rw.operands(inst).to_vec();
            rw.replace_inst(inst, &values)?;
            cx.count("removed", 1);
        }
        Ok(cx.has_counted())
    })
}
