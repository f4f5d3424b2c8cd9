//! Why a run ends without results.

use std::fmt;
use std::time::Duration;

use sapwood_types::{Diagnostics, Span, counted};

use crate::name::Name;
use crate::op::OpError;
use crate::types::ValueType;

/// Why a program could not be run: where, and what.
#[derive(Clone, PartialEq, Debug)]
pub struct EvalError {
    /// The function that was running.
    pub function: Name,
    /// The instruction, as text, if it was at one.
    pub instruction: Option<Box<str>>,
    /// Where the instruction or the function was written.
    pub span: Span,
    /// What went wrong.
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

/// What went wrong, without the place.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The program has no such function.
    #[error("there is no function @{0}")]
    NoFunction(Name),
    /// The program does not verify.
    #[error("the program does not verify: {0}")]
    Invalid(Box<Diagnostics>),
    /// Too few or too many inputs.
    #[error("expected {}, found {found}", counted(*.expected, "input"))]
    InputCount {
        /// Parameters of the function.
        expected: usize,
        /// Inputs given.
        found: usize,
    },
    /// An input does not have the type of its parameter.
    #[error("input {index} is {found}, expected {expected}")]
    Input {
        /// Which one.
        index: usize,
        /// The parameter's type.
        expected: Box<ValueType>,
        /// The input's type.
        found: Box<ValueType>,
    },
    /// A result does not have the type that was stated.
    #[error("result {index} is {found}, expected {expected}")]
    Result {
        /// Which one.
        index: usize,
        /// The stated type.
        expected: Box<ValueType>,
        /// The type it has.
        found: Box<ValueType>,
    },
    /// A named dim stands for two numbers.
    #[error("dim ?{name} is {found}, but was {known} before")]
    Clash {
        /// The dim.
        name: Name,
        /// What it was first.
        known: u64,
        /// What it would have to be too.
        found: u64,
    },
    /// A dim that is needed cannot be told from the operands.
    #[error("axis {axis} of {ty} cannot be told from the operands")]
    OpenDim {
        /// Which axis.
        axis: usize,
        /// The stated type.
        ty: Box<ValueType>,
    },
    /// The memory limit.
    #[error("{needed} more bytes are needed, but {used} of at most {limit} are in use")]
    Memory {
        /// How much is allowed.
        limit: u64,
        /// How much is in use.
        used: u64,
        /// How much was asked for.
        needed: u64,
    },
    /// Memory that the limit allows but the system does not give.
    #[error("{needed} bytes are needed, which the system does not give")]
    Refused {
        /// How much was asked for.
        needed: u64,
    },
    /// A tensor whose elements cannot be counted.
    #[error("a tensor of extents {shape:?} has more elements than can be counted")]
    TooLarge {
        /// Its extents.
        shape: Vec<usize>,
    },
    /// The caller's `stop` said so.
    #[error("the run was stopped")]
    Stopped,
    /// The step limit.
    #[error("the limit of {} is reached", counted(*.limit, "step"))]
    Steps {
        /// How many are allowed.
        limit: u64,
    },
    /// The time limit.
    #[error("the time limit of {limit:?} is reached")]
    Time {
        /// How much is allowed.
        limit: Duration,
    },
    /// The op says nothing about what it computes.
    #[error("op `{op}` has no evaluation")]
    NoEvaluation {
        /// The op.
        op: &'static str,
    },
    /// Nobody implements the target of a custom call.
    #[error("nothing implements the custom call \"{target}\"")]
    NoTarget {
        /// The target.
        target: Box<str>,
    },
    /// Operands that do not fit together; only those whose dims were not known before.
    #[error(transparent)]
    Op(#[from] OpError),
}

impl Fault {
    /// What a kernel says when something does not fit.
    pub fn op(message: impl Into<String>) -> Self {
        Self::Op(OpError::new(message))
    }
}
