//! The pattern graph: the form in which all patterns are matched, however they were written.

mod callees;
mod function;
mod literal;
mod look_through;
mod match_plan;
mod shape;
mod symmetry;

use smallvec::SmallVec;
use std::sync::Arc;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::{Attr, Function, InstId, Name, OpKey, ValueId, ValueType};
use sapwood_types::Span;

pub(crate) use callees::{CalleeMatch, Callees, is_numbered};
pub(crate) use function::{check_graph, written_attrs};
pub use function::{pattern_of, patterns_from, patterns_of_program};
pub(crate) use literal::{
    Literal, Number, Numbers, constant_behind, is_constant, same_constant, same_literal,
};
pub(crate) use look_through::{LookThrough, constant_insts};
pub(crate) use match_plan::{Connection, MatchPlan, MatchStep};
pub(crate) use shape::{AxesOf, DimTest, ShapeTest, from_the_end, has_negative};

use crate::language::{Condition, Term};

/// The index of an op of a pattern, in written order.
pub(crate) type OpIx = usize;
/// The index of a value of a pattern.
pub(crate) type ValueIx = usize;
/// The index of a choice between alternatives.
pub(crate) type ChoiceIx = usize;

/// The largest number of ops of a pattern.
pub const MAX_OPS: usize = 4096;

/// A pattern: ops, their connections, and conditions on them.
#[derive(Clone, Debug)]
pub struct PatternGraph {
    pub(crate) name: Name,
    pub(crate) span: Span,
    pub(crate) ops: Vec<PatternOp>,
    pub(crate) values: Vec<PatternValue>,
    pub(crate) params: Vec<ValueIx>,
    pub(crate) outputs: Vec<ValueIx>,
    /// The names of attributes that a match binds.
    pub(crate) captures: Vec<String>,
    /// The names of operand lists that a match binds.
    pub(crate) lists: Vec<String>,
    pub(crate) conditions: Vec<Condition>,
    /// The choices between alternatives, inner ones first.
    pub(crate) choices: Vec<Choice>,
    /// The ops that may be on any edge.
    pub(crate) through: LookThrough,
    /// The ops that compute the output, each with the alternatives that lead to it. Only set if the pattern is not plain; the
    /// search for a plain one may start at any op.
    pub(crate) roots: Vec<PatternRoot>,
    /// The wildcards with names, which a match binds to ops.
    pub(crate) wildcards: Vec<(String, OpIx)>,
    pub(crate) benefit: u16,
    /// The function it was written as, for comparing regions.
    pub(crate) source: Option<Arc<Function>>,
    pub(crate) by_value: HashMap<ValueId, ValueIx, FxBuildHasher>,
}

/// An op at which the search for a pattern starts.
#[derive(Clone, Debug)]
pub(crate) struct PatternRoot {
    pub(crate) op: OpIx,
    pub(crate) chosen: Vec<(ChoiceIx, usize)>,
}

/// A choice: its value is one of several values, each a sub-pattern.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    pub(crate) value: ValueIx,
    pub(crate) branches: Vec<ValueIx>,
    /// The number of ops that were created before it; the ops of its branches are among them.
    pub(crate) after: OpIx,
    /// Set if a match with a later branch is part of one with an earlier branch: an optional op whose operand is any value.
    pub(crate) first_wins: bool,
}

/// The ops besides the first that an op of a pattern stands for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) enum OtherOps {
    #[default]
    None,
    /// `(tanh | erf)(x)`: these too.
    These(Vec<OpKey>),
    /// `_(x)`: all ops.
    All,
}

/// An op of a pattern.
#[derive(Clone, Debug)]
pub(crate) struct PatternOp {
    pub(crate) key: OpKey,
    pub(crate) others: OtherOps,
    pub(crate) span: Span,
    pub(crate) operands: Vec<PatternOperand>,
    pub(crate) results: Vec<ValueIx>,
    /// Requires exactly this number of results, and not more.
    pub(crate) exact_results: bool,
    pub(crate) attrs: Vec<AttrTest>,
    pub(crate) callee: Option<Name>,
    pub(crate) commutative: bool,
    /// Set if swapping its operands never leads to a different match.
    pub(crate) symmetric: bool,
    /// The instruction of the source function, if it has regions.
    pub(crate) regions: Option<InstId>,
    /// The values of the pattern that its regions use.
    pub(crate) captured: Vec<ValueIx>,
    /// The regions of an op of a rule, as patterns.
    pub(crate) region_patterns: Vec<RegionPattern>,
    /// Set if the op is in a region of another op of the pattern.
    pub(crate) in_region: bool,
}

/// A region that is a pattern: its parameters, and the values that it yields.
#[derive(Clone, Debug)]
pub(crate) struct RegionPattern {
    pub(crate) params: Vec<ValueIx>,
    pub(crate) yields: Vec<ValueIx>,
}

/// An operand of a pattern op.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PatternOperand {
    One(ValueIx),
    /// All remaining operands: `xs..`.
    Rest(usize),
}

/// A test of an attribute.
#[derive(Clone, Debug)]
pub(crate) struct AttrTest {
    pub(crate) slot: AttrSlot,
    pub(crate) test: AttrCondition,
}

/// The attribute that a test is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum AttrSlot {
    /// An attribute of the op's table, by index.
    Row(usize),
    /// An entry of an unregistered op.
    Entry(Name),
    /// The dims of the first result, all known.
    Shape,
    /// The element type of the first result.
    Dtype,
    /// All attributes except these, as a dictionary.
    Others(Vec<Name>),
}

#[derive(Clone, Debug)]
pub(crate) enum AttrCondition {
    Is(Attr),
    /// These axes; negative ones count from the rank of this value.
    Axes(AxesOf, Attr),
    Capture(usize),
}

/// A value of a pattern.
#[derive(Clone, Debug)]
pub(crate) struct PatternValue {
    /// The name as it is written: `%x`, or `x` in rules.
    pub(crate) name: String,
    pub(crate) from: ValueSource,
    /// The written type, which only typed matching compares.
    pub(crate) ty: Option<ValueType>,
    /// The type that a rule requires.
    pub(crate) shape: Option<Box<ShapeTest>>,
}

/// The source of a value of a pattern.
#[derive(Clone, Debug)]
pub(crate) enum ValueSource {
    /// A parameter, which matches anything.
    Param,
    /// A result of an op of the pattern.
    Result(OpIx),
    /// A constant, or a broadcast of one.
    Literal(Literal),
    /// One of several values.
    Choice(ChoiceIx),
}

impl PatternOp {
    /// Returns whether the op stands for this one.
    pub(crate) fn accepts(&self, key: OpKey) -> bool {
        key == self.key
            || match &self.others {
                OtherOps::None => false,
                OtherOps::These(keys) => keys.contains(&key),
                OtherOps::All => true,
            }
    }

    /// Returns whether the op stands for one op only.
    pub(crate) fn is_one(&self) -> bool {
        self.others == OtherOps::None
    }
}

impl PatternGraph {
    /// Returns whether an op or a condition of the pattern requires that a tensor is empty.
    pub(crate) fn requires_empty_tensor(&self) -> bool {
        let attrs = || self.ops.iter().flat_map(|op| &op.attrs);
        let shapes = || attrs().filter(|attr| attr.slot == AttrSlot::Shape).map(|attr| &attr.test);
        let has_zero = |attr: &Attr| attr.as_ints().is_some_and(|dims| dims.contains(&0));
        let is_shape = |list: &Term| match list {
            Term::Function(function, ..) => &*function.name == "shape_of",
            Term::Capture(n) => shapes().any(|s| matches!(s, AttrCondition::Capture(m) if m == n)),
            _ => false,
        };
        shapes().any(|shape| matches!(shape, AttrCondition::Is(attr) if has_zero(attr)))
            || self.conditions.iter().filter_map(Condition::wants_zero_in).any(is_shape)
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> Name {
        self.name
    }

    /// Returns the span of the pattern.
    #[must_use]
    pub fn span(&self) -> Span {
        self.span
    }

    /// Returns the number of ops.
    #[must_use]
    pub fn num_ops(&self) -> usize {
        self.ops.len()
    }

    /// Returns the names of its parameters, in order.
    pub fn params(&self) -> impl Iterator<Item = &str> {
        self.params.iter().map(|&v| &*self.values[v].name)
    }

    /// Returns the benefit; patterns of larger benefit are preferred by [`OverlapPreference::Benefit`](crate::OverlapPreference::Benefit).
    #[must_use]
    pub fn benefit(&self) -> u16 {
        self.benefit
    }

    /// Renames the pattern.
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
            choices: Vec::new(),
            through: LookThrough::default(),
            roots: Vec::new(),
            wildcards: Vec::new(),
            benefit: 1,
            source: None,
            by_value: HashMap::default(),
        }
    }

    /// Returns whether all ops must be found, each on its edge: there are no alternatives, wildcards, types
    /// with names, or ops to look through.
    pub(crate) fn is_plain(&self) -> bool {
        self.choices.is_empty()
            && self.through.is_empty()
            && self.ops.iter().all(|op| op.is_one() && op.region_patterns.is_empty())
            && self.values.iter().all(|value| value.shape.is_none())
    }

    /// Returns the op that a value is a result of.
    pub(crate) fn op_of(&self, value: ValueIx) -> Option<OpIx> {
        match self.values[value].from {
            ValueSource::Result(op) => Some(op),
            _ => None,
        }
    }

    /// Returns the ops that compute the output, of which one is given: several if it has alternatives.
    pub(crate) fn roots_or(&self, root: OpIx) -> impl Iterator<Item = OpIx> {
        let only = self.roots.is_empty().then_some(root);
        self.roots.iter().map(|root| root.op).chain(only)
    }

    pub(crate) fn is_literal(&self, value: ValueIx) -> bool {
        matches!(self.values[value].from, ValueSource::Literal(_))
    }

    /// Returns the values that an op uses, also in its regions; without literals and lists.
    pub(crate) fn used_by(&self, op: &PatternOp) -> impl Iterator<Item = ValueIx> {
        let operands = op.operands.iter().filter_map(|o| match *o {
            PatternOperand::One(v) => Some(v),
            PatternOperand::Rest(_) => None,
        });
        operands.chain(op.captured.iter().copied()).filter(|&v| !self.is_literal(v))
    }

    /// Returns the operands of an op, without lists.
    pub(crate) fn used_by_operands(&self, op: &PatternOp) -> impl Iterator<Item = ValueIx> {
        op.operands.iter().filter_map(|o| match *o {
            PatternOperand::One(v) => Some(v),
            PatternOperand::Rest(_) => None,
        })
    }

    /// Returns the values that may stand for some values: the branches of choices, and of choices in them, each once.
    pub(crate) fn without_choices(
        &self,
        values: impl IntoIterator<Item = ValueIx>,
    ) -> SmallVec<[ValueIx; 4]> {
        let mut open: SmallVec<[ValueIx; 4]> = values.into_iter().collect();
        // Choices may share branches, so that a walk over all ways would take exponential time.
        let (mut found, mut visited) = (SmallVec::new(), SmallVec::<[ChoiceIx; 4]>::new());
        while let Some(value) = open.pop() {
            match self.values[value].from {
                ValueSource::Choice(choice) if visited.contains(&choice) => {}
                ValueSource::Choice(choice) => {
                    visited.push(choice);
                    open.extend(self.choices[choice].branches.iter().copied());
                }
                _ if found.contains(&value) => {}
                _ => found.push(value),
            }
        }
        found
    }

    /// Returns the ops of which one defines a value of a match, those to look through included; none if the value may be anything.
    pub(crate) fn defining_keys(&self, value: ValueIx) -> Option<Vec<OpKey>> {
        let mut keys = self.through.keys().to_vec();
        for value in self.without_choices([value]) {
            match &self.values[value].from {
                ValueSource::Param | ValueSource::Literal(_) => return None,
                ValueSource::Choice(_) => {}
                ValueSource::Result(op) => match &self.ops[*op].others {
                    OtherOps::None => keys.push(self.ops[*op].key),
                    OtherOps::These(others) => {
                        keys.push(self.ops[*op].key);
                        keys.extend(others);
                    }
                    OtherOps::All => return None,
                },
            }
        }
        Some(keys)
    }

    /// Returns the text of an op for messages: `mul`, `call @f`.
    pub(crate) fn show(&self, op: OpIx) -> String {
        let op = &self.ops[op];
        match (op.callee, &op.others) {
            (Some(callee), _) => format!("{} @{callee}", op.key),
            (None, OtherOps::None) => op.key.to_string(),
            (None, OtherOps::All) => "_".into(),
            (None, OtherOps::These(keys)) => {
                let all: Vec<String> =
                    std::iter::once(&op.key).chain(keys).map(ToString::to_string).collect();
                all.join(" | ")
            }
        }
    }
}
