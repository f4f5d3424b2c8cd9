//! Programs made ready to run.

use std::sync::Arc;

use super::budget::Budget;
use super::error::{EvalError, Fault};
use super::machine::Machine;
use super::options::{Kernels, RunOptions};
use super::plan::{Plan, plan_program};
use super::tensor::Value;
use crate::func::Function;
use crate::name::Name;
use crate::program::Program;

/// A function of a program and all it calls, checked and laid out once, to be run many times, from several threads if
/// need be.
pub struct Prepared {
    functions: Vec<Arc<Function>>,
    plans: Vec<Plan>,
}

impl Prepared {
    /// Checks the program and prepares a function. `kernels` are chosen here, not when it runs.
    ///
    /// # Errors
    /// If there is no such function or the program does not verify.
    pub fn new(
        program: &Program,
        function: &str,
        kernels: Option<&dyn Kernels>,
    ) -> Result<Self, EvalError> {
        let name = Name::new(function);
        let fail = |fault, span| EvalError { function: name, instruction: None, span, fault };
        let Some(root) = program.function(name) else {
            return Err(fail(Fault::NoFunction(name), sapwood_types::Span::unknown()));
        };
        crate::verify::verify(program)
            .map_err(|problems| fail(Fault::Invalid(Box::new(problems)), root.span()))?;
        let (functions, plans) = plan_program(program, root, kernels);
        Ok(Self { functions, plans })
    }

    /// Runs the function. Limits are those of `options`; its `kernels` are not looked at.
    ///
    /// # Errors
    /// If the inputs do not fit, a limit is reached, dims that were not known clash, or an op has no evaluation.
    pub fn run(&self, inputs: &[Value], options: &RunOptions) -> Result<Vec<Value>, EvalError> {
        let budget = Budget::new(options);
        let functions = self.functions.iter().map(|f| &**f).collect();
        let mut machine = Machine::new(&self.plans, functions, &budget, options.threads.max(1));
        Ok(machine.run(inputs)?.into_vec())
    }

    /// The function.
    #[must_use]
    pub fn function(&self) -> &Function {
        &self.functions[0]
    }
}

/// Runs a function of a program on inputs, one per parameter, and gives its results.
///
/// # Errors
/// If there is no such function, the program does not verify, the inputs do not fit, a limit is reached, dims that were
/// not known clash, or an op has no evaluation.
pub fn run(
    program: &Program,
    function: &str,
    inputs: &[Value],
    options: &RunOptions,
) -> Result<Vec<Value>, EvalError> {
    Prepared::new(program, function, options.kernels.as_deref())?.run(inputs, options)
}
