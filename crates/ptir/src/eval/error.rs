//! The errors of a run.

use std::fmt;
use std::time::Duration;

use sapwood_types::{Diagnostics, Span, counted};

use crate::name::Name;
use crate::op::OpError;
use crate::types::{Dim, ValueType};

/// An error of a run, with its location and cause.
#[derive(Clone, PartialEq, Debug)]
pub struct EvalError {
    /// The function that was running.
    pub function: Name,
    /// The text of the instruction, if one was running.
    pub instruction: Option<Box<str>>,
    /// The source location of the instruction or the function.
    pub span: Span,
    /// The cause.
    pub fault: Fault,
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{}: ", self.function)?;
        if let Some(instruction) = &self.instruction {
            write!(f, "`{instruction}`: ")?;
        }
        fmt::Display::fmt(&self.fault, f)
    }
}

impl std::error::Error for EvalError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.fault)
    }
}

/// The cause of an error, without its location.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The program has no such function.
    #[error("there is no function @{0}")]
    UnknownFunction(Name),
    /// The program does not verify.
    #[error("the program does not verify: {0}")]
    InvalidProgram(Box<Diagnostics>),
    /// Too few or too many inputs.
    #[error("expected {}, found {found}", counted(*.expected, "input"))]
    InputCount {
        /// The number of parameters of the function.
        expected: usize,
        /// The number of inputs.
        found: usize,
    },
    /// An input does not have the type of its parameter.
    #[error("input {index} is {found}, expected {expected}")]
    Input {
        /// The index.
        index: usize,
        /// The parameter's type.
        expected: Box<ValueType>,
        /// The input's type.
        found: Box<ValueType>,
    },
    /// A result does not have its declared type.
    #[error("result {index} is {found}, expected {expected}")]
    Result {
        /// The index.
        index: usize,
        /// The declared type.
        expected: Box<ValueType>,
        /// The actual type.
        found: Box<ValueType>,
    },
    /// A named dim has two different extents.
    #[error("dim ?{name} is {found} in {place}, but was {known} {}", describe_place(.known_place))]
    DimConflict {
        /// The dim.
        name: Name,
        /// The first extent.
        known: u64,
        /// The axis that has the first extent, such as `axis 0 of input 1`. It is empty if an instruction has it.
        known_place: String,
        /// The conflicting extent.
        found: u64,
        /// The axis that has the conflicting extent.
        place: String,
    },
    /// An expression over symbols does not have the extent of a value.
    #[error("dim {dim} {}, found {found}", describe_expected(.values, *.expected))]
    DimExpression {
        /// The expression.
        dim: Dim,
        /// The values of its symbols, as text: `?S = 3, ?B = 2`.
        values: String,
        /// Its value, or `None` if a symbol has no value for which the expression is the extent.
        expected: Option<i64>,
        /// The extent of the value.
        found: u64,
    },
    /// The extents do not fulfil the `where` clause of a function.
    #[error("the function assumes {fact}, which is false for {values}")]
    Assumption {
        /// The fact.
        fact: String,
        /// The values of its symbols.
        values: String,
    },
    /// A required dim does not follow from the operands.
    #[error("axis {axis} of {ty} does not follow from the operands")]
    UnknownDim {
        /// The axis.
        axis: usize,
        /// The declared type.
        ty: Box<ValueType>,
    },
    /// The memory limit is reached.
    #[error("{needed} more bytes are needed, but {used} of at most {limit} are in use")]
    Memory {
        /// The limit.
        limit: u64,
        /// The number of bytes in use.
        used: u64,
        /// The number of bytes requested.
        needed: u64,
    },
    /// The system has not enough memory, although the limit allows it.
    #[error("not enough memory: the system cannot allocate {needed} bytes")]
    OutOfMemory {
        /// The number of bytes requested.
        needed: u64,
    },
    /// The number of elements of a tensor overflows.
    #[error("a tensor of extents {shape:?} has more elements than can be counted")]
    TooLarge {
        /// The extents of the tensor.
        shape: Vec<usize>,
    },
    /// The `stop` callback returned true.
    #[error("the run was stopped")]
    Stopped,
    /// The step limit is reached.
    #[error("the limit of {} is reached", counted(*.limit, "step"))]
    Steps {
        /// The limit.
        limit: u64,
    },
    /// The time limit is reached.
    #[error("the time limit of {limit:?} is reached")]
    Time {
        /// The limit.
        limit: Duration,
    },
    /// The op has no evaluation.
    #[error("op `{op}` has no evaluation")]
    NoEvaluation {
        /// The op.
        op: &'static str,
    },
    /// The evaluation of an op of a user panicked.
    #[error("the evaluation of `{op}` panicked: {message}")]
    Panicked {
        /// The op.
        op: &'static str,
        /// The message of the panic.
        message: String,
    },
    /// No kernel implements the target of a custom call.
    #[error("nothing implements the custom call \"{target}\"")]
    UnknownCustomCall {
        /// The target.
        target: Box<str>,
    },
    /// The operands do not match; possible only for dims that were unknown before the run.
    #[error(transparent)]
    Op(#[from] OpError),
}

fn describe_place(place: &str) -> String {
    if place.is_empty() { "before".into() } else { format!("in {place}") }
}

fn describe_expected(values: &str, expected: Option<i64>) -> String {
    match expected {
        Some(number) => format!("is {number} for {values}"),
        None if values.is_empty() => "has no solution".into(),
        None => format!("has no solution for {values}"),
    }
}

impl Fault {
    /// Returns the error of a kernel whose operands or attributes are invalid.
    pub fn op(message: impl Into<String>) -> Self {
        Self::Op(OpError::new(message))
    }
}
