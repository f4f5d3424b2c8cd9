//! Functions prepared to run.

use std::sync::Arc;

use super::budget::Budget;
use super::context::EvalCx;
use super::error::{EvalError, Fault};
use super::inlined::PlannedFunction;
use super::machine::Machine;
use super::memory::predict_peak;
use super::options::{Kernels, RunOptions};
use super::plan::{FunctionPlan, plan_program};
use super::pool::BufferPool;
use super::tensor::Value;
use crate::func::Function;
use crate::name::Name;
use crate::program::Program;

/// A function of a program and its callees, verified and planned once, to be run many times, also from several
/// threads.
pub struct Prepared {
    function: Arc<Function>,
    functions: Vec<PlannedFunction>,
    plans: Vec<FunctionPlan>,
    pool: Arc<BufferPool>,
}

impl Prepared {
    /// Verifies the program and prepares a function. `kernels` are chosen here, not at run time.
    ///
    /// # Errors
    /// If the function does not exist or the program does not verify.
    pub fn new(
        program: &Program,
        function: &str,
        kernels: Option<&dyn Kernels>,
    ) -> Result<Self, EvalError> {
        let name = Name::new(function);
        let fail = |fault, span| EvalError { function: name, instruction: None, span, fault };
        let Some(root) = program.function(name) else {
            return Err(fail(Fault::UnknownFunction(name), sapwood_types::Span::unknown()));
        };
        crate::verify::verify(program)
            .map_err(|problems| fail(Fault::InvalidProgram(Box::new(problems)), root.span()))?;
        let (functions, plans) = plan_program(program, root, kernels);
        Ok(Self { function: root.clone(), functions, plans, pool: Arc::default() })
    }

    /// Runs the function with the limits of `options`, whose `kernels` are ignored.
    ///
    /// # Errors
    /// If the inputs have wrong types, a limit is reached, unknown dims turn out to conflict, or an op has no evaluation.
    pub fn run(&self, inputs: &[Value], options: &RunOptions) -> Result<Vec<Value>, EvalError> {
        let budget = Budget::new(options).with_pool(self.pool.clone());
        let mut machine =
            Machine::of_planned(&self.plans, &self.functions, &budget, options.threads.max(1));
        Ok(machine.run(inputs)?.into_vec())
    }

    /// Runs the function as a part of the evaluation of an op, within the limits of the run that the op is a part of.
    ///
    /// # Errors
    /// As for [`run`](Self::run).
    pub fn run_within(&self, inputs: &[Value], cx: &EvalCx<'_>) -> Result<Vec<Value>, EvalError> {
        let mut machine = Machine::of_planned(&self.plans, &self.functions, cx.budget, cx.threads);
        Ok(machine.run(inputs)?.into_vec())
    }

    /// Returns the most bytes that the elements of all live values and the temporary memory of kernels took at a time in the runs so far.
    /// Inputs of the run are not counted.
    #[must_use]
    pub fn peak_bytes(&self) -> u64 {
        self.pool.peak()
    }

    /// Returns the bytes that [`peak_bytes`](Self::peak_bytes) will be after a run, from the plan alone; `None` if the size of a value depends on
    /// the inputs, or a kernel does not tell how much memory it uses. Inputs are taken to have an owner outside of the run, and to have different elements.
    #[must_use]
    pub fn predicted_peak_bytes(&self) -> Option<u64> {
        let functions: Vec<&Function> = self.functions.iter().map(|f| &*f.function).collect();
        predict_peak(&functions, &self.plans)
    }

    /// Returns the function.
    #[must_use]
    pub fn function(&self) -> &Function {
        &self.function
    }
}

/// Runs a function of a program on inputs, one per parameter, and returns its results.
///
/// # Errors
/// If the function does not exist, the program does not verify, the inputs have wrong types, a limit is reached, unknown dims
/// turn out to conflict, or an op has no evaluation.
pub fn run(
    program: &Program,
    function: &str,
    inputs: &[Value],
    options: &RunOptions,
) -> Result<Vec<Value>, EvalError> {
    Prepared::new(program, function, options.kernels.as_deref())?.run(inputs, options)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::{DataType, Tensor};

    #[test]
    fn results_do_not_keep_the_memory_of_the_pool() {
        let text = "ptir 1 func @f(%x: f32[20000]) -> f32[20000] {
          %y = exp %x : f32[20000] %z = neg %y : f32[20000] %w = add %y, %z : f32[20000] return %w }";
        let program = crate::parse(text).unwrap();
        let prepared = Prepared::new(&program, "f", None).unwrap();
        let pool = Arc::downgrade(&prepared.pool);
        let x: Vec<f32> = (0u16..20_000).map(f32::from).collect();
        let x = Tensor::new(DataType::F32, [20_000], x);
        let results = prepared.run(&[x.into()], &RunOptions::default()).unwrap();
        assert!(pool.upgrade().is_some_and(|pool| pool.spare_bytes() > 0));
        drop(prepared);
        assert!(pool.upgrade().is_none());
        drop(results);
    }
}
