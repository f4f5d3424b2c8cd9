//! The pattern graph: the one form in which patterns are matched, however they were written.

mod callees;
mod function;
mod literal;
mod plan;
mod symmetry;

use std::sync::Arc;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::{Attr, Function, InstId, Name, OpKey, ValueId, ValueType};
use sapwood_types::Span;

pub(crate) use callees::{Callees, Fit, is_numbered};
pub(crate) use function::{check_graph, written_attrs};
pub use function::{pattern_of, patterns_from};
pub use literal::{Literal, Number};
pub(crate) use literal::{constant_behind, is_constant, same_constant};
pub(crate) use plan::{Plan, Reach};

use crate::language::Condition;

/// The number of an op of a pattern, in the order in which they are written.
pub type OpIx = usize;
/// The number of a value of a pattern.
pub type ValueIx = usize;

/// How many ops a pattern may have.
pub const MAX_OPS: usize = 4096;

/// A pattern: ops, how they are connected, and what is asked of them.
#[derive(Clone, Debug)]
pub struct PatternGraph {
    pub(crate) name: Name,
    pub(crate) span: Span,
    pub(crate) ops: Vec<PatternOp>,
    pub(crate) values: Vec<PatternValue>,
    pub(crate) params: Vec<ValueIx>,
    pub(crate) outputs: Vec<ValueIx>,
    /// Names of attributes that are bound when matched.
    pub(crate) captures: Vec<String>,
    /// Names of lists of operands that are bound when matched.
    pub(crate) lists: Vec<String>,
    pub(crate) conditions: Vec<Condition>,
    pub(crate) benefit: u16,
    /// The function it was written as, for regions.
    pub(crate) source: Option<Arc<Function>>,
    pub(crate) by_value: HashMap<ValueId, ValueIx, FxBuildHasher>,
}

/// An op of a pattern.
#[derive(Clone, Debug)]
pub(crate) struct PatternOp {
    pub(crate) key: OpKey,
    pub(crate) span: Span,
    pub(crate) operands: Vec<Operand>,
    pub(crate) results: Vec<ValueIx>,
    /// Whether the op found has exactly as many results, and not more.
    pub(crate) exact_results: bool,
    pub(crate) attrs: Vec<AttrTest>,
    pub(crate) callee: Option<Name>,
    pub(crate) commutative: bool,
    /// Whether its operands can be swapped without another op being found.
    pub(crate) symmetric: bool,
    /// The instruction of the source function, if it has regions.
    pub(crate) regions: Option<InstId>,
    /// Values of the pattern that its regions use.
    pub(crate) captured: Vec<ValueIx>,
}

/// An operand of a pattern op.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operand {
    One(ValueIx),
    /// All that are left: `xs..`.
    Rest(usize),
}

/// What is asked of an attribute.
#[derive(Clone, Debug)]
pub(crate) struct AttrTest {
    pub(crate) slot: AttrSlot,
    pub(crate) test: Test,
}

/// Which attribute.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum AttrSlot {
    /// One of the op's table.
    Row(usize),
    /// An entry of an unregistered op.
    Entry(Name),
    /// The dims of the first result, all known.
    Shape,
    /// The element type of the first result.
    Dtype,
}

#[derive(Clone, Debug)]
pub(crate) enum Test {
    Is(Attr),
    Capture(usize),
}

/// A value of a pattern.
#[derive(Clone, Debug)]
pub(crate) struct PatternValue {
    /// As it is written: `%x`, or `x` in rules.
    pub(crate) name: String,
    pub(crate) from: Source,
    /// The type it is written with, asked for in typed matching only.
    pub(crate) ty: Option<ValueType>,
}

/// Where a value of a pattern comes from.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// Anything.
    Param,
    /// A result of an op that must be found.
    Result(OpIx),
    /// A constant, or a broadcast of one.
    Literal(Literal),
}

impl PatternGraph {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> Name {
        self.name
    }

    /// Where it was written.
    #[must_use]
    pub fn span(&self) -> Span {
        self.span
    }

    /// How many ops it has.
    #[must_use]
    pub fn num_ops(&self) -> usize {
        self.ops.len()
    }

    /// The names of its parameters, in order.
    pub fn params(&self) -> impl Iterator<Item = &str> {
        self.params.iter().map(|&v| &*self.values[v].name)
    }

    /// Patterns of larger benefit come first where that is asked for.
    #[must_use]
    pub fn benefit(&self) -> u16 {
        self.benefit
    }

    /// The same pattern under another name.
    #[must_use]
    pub fn named(mut self, name: impl Into<Name>) -> Self {
        self.name = name.into();
        self
    }

    pub(crate) fn empty(name: Name, span: Span) -> Self {
        Self {
            name,
            span,
            ops: Vec::new(),
            values: Vec::new(),
            params: Vec::new(),
            outputs: Vec::new(),
            captures: Vec::new(),
            lists: Vec::new(),
            conditions: Vec::new(),
            benefit: 1,
            source: None,
            by_value: HashMap::default(),
        }
    }

    pub(crate) fn is_literal(&self, value: ValueIx) -> bool {
        matches!(self.values[value].from, Source::Literal(_))
    }

    /// The values an op uses, those of its regions included; literals and lists left out.
    pub(crate) fn used_by(&self, op: &PatternOp) -> impl Iterator<Item = ValueIx> {
        let operands = op.operands.iter().filter_map(|o| match *o {
            Operand::One(v) => Some(v),
            Operand::Rest(_) => None,
        });
        operands.chain(op.captured.iter().copied()).filter(|&v| !self.is_literal(v))
    }

    /// An op as messages show it: `mul`, `call @f`.
    pub(crate) fn show(&self, op: OpIx) -> String {
        let op = &self.ops[op];
        match op.callee {
            Some(callee) => format!("{} @{callee}", op.key),
            None => op.key.to_string(),
        }
    }
}
