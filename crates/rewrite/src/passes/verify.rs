//! `verify`: checks the program without changing it.

use sapwood_ptir::Program;

use super::{Pass, PassContext, PassError, shipped_pass_methods};
use crate::pipeline::{MakePass, PassInfo};

/// A pass that fails if the program does not verify.
#[derive(Clone, Copy, Debug, Default)]
pub struct VerifyPass;

impl Pass for VerifyPass {
    shipped_pass_methods!();

    fn run_on_program(
        &self,
        program: &mut Program,
        _: &mut PassContext,
    ) -> Result<bool, PassError> {
        sapwood_ptir::verify(program).map_err(PassError::Invalid)?;
        Ok(false)
    }
}

pub(super) static INFO: PassInfo = PassInfo {
    name: "verify",
    doc: "Fails if the program does not verify.",
    options: &[],
    make: MakePass::Plain(|options| options.fill(VerifyPass)),
};
