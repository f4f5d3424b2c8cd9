//! A backend: it runs programs on the fixed-order evaluator with a limit of steps.

use sapwood::ptir::eval::{EvalError, Prepared, RunOptions, Value};
use sapwood::ptir::{LiteralError, Program, TensorLiteral, ValueType};
use sapwood::runtime::{Backend, ProgramCache};

#[derive(Default)]
pub struct Careful {
    cache: ProgramCache<Prepared>,
}

#[derive(Debug)]
pub enum CarefulError {
    Run(EvalError),
    Literal(LiteralError),
    NotATensor,
}

impl std::fmt::Display for CarefulError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Run(error) => error.fmt(f),
            Self::Literal(error) => error.fmt(f),
            Self::NotATensor => f.write_str("a result is not a tensor"),
        }
    }
}

impl std::error::Error for CarefulError {}

impl Backend for Careful {
    type Buffer = Value;
    type Compiled = Prepared;
    type Error = CarefulError;

    fn name(&self) -> &str {
        "careful"
    }

    fn materialize(&self, literal: &TensorLiteral) -> Result<Value, CarefulError> {
        Value::try_from(literal).map_err(CarefulError::Literal)
    }

    fn to_literal(&self, value: &Value) -> Result<TensorLiteral, CarefulError> {
        value.to_literal().ok_or(CarefulError::NotATensor)
    }

    fn type_of(&self, value: &Value) -> ValueType {
        value.ty()
    }

    fn compile(&self, program: &Program, function: &str) -> Result<Prepared, CarefulError> {
        Prepared::new(program, function, None).map_err(CarefulError::Run)
    }

    fn execute(&self, compiled: &Prepared, inputs: &[Value]) -> Result<Vec<Value>, CarefulError> {
        let options = RunOptions { max_steps: Some(10_000_000), ..RunOptions::default() };
        compiled.run(inputs, &options).map_err(CarefulError::Run)
    }

    fn cache(&self) -> &ProgramCache<Prepared> {
        &self.cache
    }
}
