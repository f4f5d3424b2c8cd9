//! The reasons why an instruction does not match an op of a pattern.

use sapwood_ptir::InstId;

use crate::graph::ValueIx;

/// The first mismatch. It is small, because every failure creates one; its text is only built for explanations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MatchFailure {
    /// The instruction has another op.
    Op,
    /// The instruction is bound to another op of the pattern already.
    Taken,
    /// The instruction has this number of results.
    Results(usize),
    /// This result differs from the value that is bound.
    Result(usize),
    /// The instruction has this number of operands.
    Operands(usize),
    /// This operand of the pattern does not match the instruction's operand of the second index.
    Operand(usize, usize),
    /// This attribute test fails.
    Attr(usize),
    /// The instruction calls another function.
    Callee,
    /// The regions have other parameters, or another number of instructions.
    Regions,
    /// A region does not yield this value of the pattern.
    Yields(ValueIx),
    /// The second instruction of a region differs from the first, which is the pattern's.
    Region(InstId, InstId),
    /// This parameter of the pattern is bound to a value in a region of the match.
    InnerInput(ValueIx),
    /// All ops were found, but this value of the pattern has another type.
    Type(ValueIx),
    /// The value is not this value of the pattern, which is one of several alternatives.
    Branch(ValueIx),
    /// The part of the pattern that computes this value was found, but no op of the pattern uses it.
    NoUser(ValueIx),
    /// There are no candidates.
    NoCandidate,
    /// All ops were found, but this condition does not hold.
    Condition(usize),
}
