//! Backends whose types are hidden, so that a toolkit can have several.

use sapwood_ptir::eval::Tensor;
use sapwood_ptir::{Program, TensorLiteral};
use sapwood_runtime::{Backend, RunRequest};
use sapwood_types::catch_panic;

/// A backend whose types are hidden: tensors go in and come out as literals.
pub(crate) trait NamedBackend: Send + Sync {
    fn name(&self) -> &str;
    fn run(
        &self,
        program: &Program,
        function: &str,
        inputs: &[TensorLiteral],
    ) -> Result<Vec<Tensor>, String>;
}

impl<B: Backend> NamedBackend for B {
    fn name(&self) -> &str {
        Backend::name(self)
    }

    fn run(
        &self,
        program: &Program,
        function: &str,
        inputs: &[TensorLiteral],
    ) -> Result<Vec<Tensor>, String> {
        let ran = catch_panic(|| run(self, program, function, inputs));
        ran.unwrap_or_else(|message| {
            Err(format!("the backend `{}` panicked at @{function}: {message}", self.name()))
        })
    }
}

fn run<B: Backend>(
    backend: &B,
    program: &Program,
    function: &str,
    inputs: &[TensorLiteral],
) -> Result<Vec<Tensor>, String> {
    let inputs = inputs.iter().map(|literal| backend.materialize(literal));
    let inputs = inputs.collect::<Result<Vec<_>, _>>().map_err(|e| e.to_string())?;
    let results = backend.run_program(program, &RunRequest::new(function), &inputs);
    let results = results.map_err(|e| e.to_string())?;
    let literals = results.iter().map(|buffer| backend.to_literal(buffer));
    let literals = literals.collect::<Result<Vec<_>, _>>().map_err(|e| e.to_string())?;
    let tensors = literals.iter().map(Tensor::from_literal).collect::<Result<_, _>>();
    tensors.map_err(|e| e.to_string())
}
