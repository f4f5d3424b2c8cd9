//! A StableHLO module: a program and the parts of the text that a program cannot hold.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::{Name, Program};
use sapwood_types::{Diagnostic, Loc, Span};

/// A StableHLO module as a program.
#[derive(Clone, Debug)]
pub struct Module {
    /// The functions.
    pub program: Program,
    /// The parts of the text that a program cannot hold, kept for writing.
    pub extras: Extras,
    /// Notes about parts of the text that were dropped, and warnings about declared types that cannot be true.
    pub notes: Vec<Diagnostic>,
}

/// The parts of StableHLO text that do not affect the computed values: names, visibility and attributes as they were written.
///
/// The attributes of an op are keyed by the span of the op without its location, so they follow its instruction through passes, and are dropped when
/// the instruction at that span becomes another op.
#[derive(Clone, Debug, Default)]
pub struct Extras {
    pub(crate) name: Option<Box<str>>,
    /// The module attributes: `{mhlo.num_partitions = 1 : i32}`.
    pub(crate) attributes: Option<Box<str>>,
    /// The location of the module.
    pub(crate) loc: Loc,
    pub(crate) functions: HashMap<Name, FunctionExtras, FxBuildHasher>,
    pub(crate) ops: HashMap<Span, OpExtras, FxBuildHasher>,
}

/// The visibility that programs hold themselves, as [`Function::is_private`](sapwood_ptir::Function::is_private).
pub(crate) const PRIVATE: &str = "private";

/// The extras of a function.
#[derive(Clone, Debug, Default)]
pub(crate) struct FunctionExtras {
    /// `public` or `nested`, if the text has it.
    pub(crate) visibility: Option<Box<str>>,
    /// The attributes `{…}` of each parameter.
    pub(crate) params: Vec<Option<Box<str>>>,
    pub(crate) results: Vec<Option<Box<str>>>,
    /// The locations of the first parameters; those of the others are unknown.
    pub(crate) param_locs: Vec<Loc>,
    pub(crate) attributes: Option<Box<str>>,
}

/// The attributes of an op that PTIR cannot represent.
#[derive(Clone, Debug)]
pub(crate) struct OpExtras {
    /// The StableHLO name of the op that has the attributes.
    pub(crate) op: Box<str>,
    /// The attributes, written `a = 1, b = 2`.
    pub(crate) attributes: Box<str>,
}

impl Extras {
    /// Returns extras without any entries.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}
