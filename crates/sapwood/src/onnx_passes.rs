//! The passes on ops of ONNX.

use sapwood_onnx::{LowerLaw, LowerLevel, LowerOptions, LowerStep, lower_function_with};
use sapwood_ptir::{Function, Program};
use sapwood_rewrite::{
    Listener, MakePass, Pass, PassContext, PassError, PassInfo, StepKind, TraceListener,
    pass_options,
};

/// A pass that replaces ops of ONNX by core ops.
#[derive(Clone, Copy)]
struct OnnxToCore {
    info: &'static PassInfo,
    options: LowerOptions,
}

impl OnnxToCore {
    fn new(info: &'static PassInfo, level: LowerLevel) -> Self {
        Self { info, options: LowerOptions { level, ..LowerOptions::default() } }
    }
}

impl Pass for OnnxToCore {
    fn name(&self) -> &'static str {
        self.info.name
    }

    fn options(&self) -> Vec<(&'static str, String)> {
        self.info.options_of(self, &Self::new(self.info, self.options.level))
    }

    fn reports_changes(&self) -> bool {
        true
    }

    fn run_on_program(
        &self,
        program: &mut Program,
        cx: &mut PassContext,
    ) -> Result<bool, PassError> {
        let mut listener = cx.listener();
        let mut observer = |f: &Function, step: &LowerStep<'_>| {
            if let Some(listener) = &mut listener {
                report(listener, f, step);
            }
        };
        let lower = |f| lower_function_with(f, &self.options, &mut observer);
        let lowered = program.functions_mut().map(lower).sum();
        cx.count("lowered", lowered);
        Ok(lowered > 0)
    }
}

// Reports the replacement of a node as a step of the pass, with its edits.
fn report(listener: &mut TraceListener<'_>, f: &Function, step: &LowerStep<'_>) {
    let kind = match step.law {
        LowerLaw::Fold => StepKind::Fold,
        law => StepKind::Pattern(law.name()),
    };
    listener.step(f, kind, step.inst);
    step.inserted.iter().for_each(|&inst| listener.inserted(f, inst));
    step.replaced.iter().for_each(|&(from, to)| listener.replaced(f, from, to));
    listener.erased(f, step.inst);
}

/// Returns the pass that comes first in the default pipeline of ONNX models, with a limit on folding if one is given.
#[cfg(feature = "command")]
pub(crate) fn onnx_to_core(fold_limit: Option<u64>) -> std::sync::Arc<dyn Pass> {
    let mut pass = OnnxToCore::new(&ONNX_TO_CORE, LowerLevel::Core);
    if let Some(limit) = fold_limit {
        pass.options.fold_limit = limit;
    }
    std::sync::Arc::new(pass)
}

/// Replaces the ops that ONNX and PTIR mean alike.
pub(crate) static ONNX_TO_CORE: PassInfo = PassInfo {
    name: "onnx-to-core",
    doc: "Replaces ops of ONNX by core ops with the same meaning; ops that runtimes have kernels for stay whole.",
    options: pass_options!(OnnxToCore {
        "fold-limit": options.fold_limit, "The maximum number of elements of a computed constant, and by which all constants of a function may grow.";
    }),
    make: MakePass::Plain(|options| options.fill(OnnxToCore::new(&ONNX_TO_CORE, LowerLevel::Core))),
};

/// Replaces all ops that have a definition in core ops.
pub(crate) static DECOMPOSE: PassInfo = PassInfo {
    name: "decompose",
    doc: "Replaces ops of ONNX by core ops, also those that `onnx-to-core` leaves whole, such as LayerNormalization.",
    options: pass_options!(OnnxToCore {
        "fold-limit": options.fold_limit, "The maximum number of elements of a computed constant, and by which all constants of a function may grow.";
    }),
    make: MakePass::Plain(|options| options.fill(OnnxToCore::new(&DECOMPOSE, LowerLevel::All))),
};
