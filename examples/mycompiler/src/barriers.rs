//! A pass with an option and a counter.

use sapwood::ptir::Program;
use sapwood::ptir::ops::OptimizationBarrier;
use sapwood::rewrite::{MakePass, Pass, PassContext, PassError, PassInfo, pass_options};

/// Removes optimization barriers, at most a number of them in each function.
pub struct RemoveBarriers {
    most: usize,
}

impl Default for RemoveBarriers {
    fn default() -> Self {
        Self { most: usize::MAX }
    }
}

pub static INFO: PassInfo = PassInfo {
    name: "remove-barriers",
    doc: "Removes optimization barriers.",
    options: pass_options!(RemoveBarriers {
        "most": most, "The maximum number of barriers to remove in a function."
    }),
    make: MakePass::Plain(|options| options.fill(RemoveBarriers::default())),
};

impl Pass for RemoveBarriers {
    fn name(&self) -> &'static str {
        INFO.name
    }

    fn options(&self) -> Vec<(&'static str, String)> {
        INFO.options_of(self, &Self::default())
    }

    fn run_on_program(&self, p: &mut Program, cx: &mut PassContext) -> Result<bool, PassError> {
        cx.each_function(p, |rw, cx| {
            let is_barrier = |&inst: &_| rw.op::<OptimizationBarrier>(inst).is_some();
            let barriers: Vec<_> =
                rw.function().walk().filter(is_barrier).take(self.most).collect();
            for inst in barriers {
                let values = rw.operands(inst).to_vec();
                rw.replace_inst(inst, &values)?;
                cx.count("removed", 1);
            }
            Ok(cx.has_counted())
        })
    }
}
