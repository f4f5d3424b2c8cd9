//! A module: a program, and what StableHLO says beside it.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::{Name, Program};
use sapwood_types::{Diagnostic, Span};

/// A StableHLO module as a program.
#[derive(Clone, Debug)]
pub struct Module {
    /// Its functions.
    pub program: Program,
    /// What a program has no place for, to be written back.
    pub extras: Extras,
    /// What was left out, as notes.
    pub notes: Vec<Diagnostic>,
}

/// What StableHLO text says beside what is computed: names, visibility and attributes as they were written.
///
/// Attributes of ops are found again by the place their op was written at, so they follow it through passes, and are
/// gone when the op is another one.
#[derive(Clone, Debug, Default)]
pub struct Extras {
    pub(crate) name: Option<Box<str>>,
    /// `{mhlo.num_partitions = 1 : i32}`.
    pub(crate) attributes: Option<Box<str>>,
    pub(crate) functions: HashMap<Name, FunctionExtras, FxBuildHasher>,
    pub(crate) ops: HashMap<Span, OpExtras, FxBuildHasher>,
}

/// The visibility that programs know themselves: [`Function::is_private`](sapwood_ptir::Function::is_private).
pub(crate) const PRIVATE: &str = "private";

#[derive(Clone, Debug, Default)]
pub(crate) struct FunctionExtras {
    /// `public` or `nested`, if it was written.
    pub(crate) visibility: Option<Box<str>>,
    /// `{…}` of each parameter.
    pub(crate) params: Vec<Option<Box<str>>>,
    pub(crate) results: Vec<Option<Box<str>>>,
    pub(crate) attributes: Option<Box<str>>,
}

#[derive(Clone, Debug)]
pub(crate) struct OpExtras {
    /// The op the attributes were written at, by its name in StableHLO.
    pub(crate) op: Box<str>,
    /// `a = 1, b = 2`.
    pub(crate) attributes: Box<str>,
}

impl Extras {
    /// Nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}
