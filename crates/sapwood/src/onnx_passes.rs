//! The passes on ops of ONNX.

use sapwood_onnx::{LowerLevel, lower_function};
use sapwood_ptir::Program;
use sapwood_rewrite::{MakePass, Pass, PassContext, PassError, PassInfo};

/// A pass that replaces ops of ONNX by core ops.
#[derive(Clone, Copy)]
struct OnnxToCore {
    info: &'static PassInfo,
    level: LowerLevel,
}

impl Pass for OnnxToCore {
    fn name(&self) -> &'static str {
        self.info.name
    }

    fn reports_changes(&self) -> bool {
        true
    }

    fn run_on_program(
        &self,
        program: &mut Program,
        cx: &mut PassContext,
    ) -> Result<bool, PassError> {
        let lowered = program.functions_mut().map(|f| lower_function(f, self.level)).sum();
        cx.count("lowered", lowered);
        Ok(lowered > 0)
    }
}

/// Returns the pass that comes first in the default pipeline of ONNX models.
#[cfg(feature = "command")]
pub(crate) fn onnx_to_core() -> std::sync::Arc<dyn Pass> {
    std::sync::Arc::new(OnnxToCore { info: &ONNX_TO_CORE, level: LowerLevel::Core })
}

/// Replaces the ops that ONNX and PTIR mean alike.
pub(crate) static ONNX_TO_CORE: PassInfo = PassInfo {
    name: "onnx-to-core",
    doc: "Replaces ops of ONNX by core ops with the same meaning; ops that runtimes have kernels for stay whole.",
    options: &[],
    make: MakePass::Plain(|options| {
        options.fill(OnnxToCore { info: &ONNX_TO_CORE, level: LowerLevel::Core })
    }),
};

/// Replaces all ops that have a definition in core ops.
pub(crate) static DECOMPOSE: PassInfo = PassInfo {
    name: "decompose",
    doc: "Replaces ops of ONNX by core ops, also those that `onnx-to-core` leaves whole, such as LayerNormalization.",
    options: &[],
    make: MakePass::Plain(|options| {
        options.fill(OnnxToCore { info: &DECOMPOSE, level: LowerLevel::All })
    }),
};
