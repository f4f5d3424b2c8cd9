//! Why an instruction is not the op of a pattern.

use sapwood_ptir::InstId;

/// What did not fit. Small: it is made at every failure, and shown only when asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Why {
    /// Another op.
    Op,
    /// It is another op of the match already.
    Taken,
    /// It has this many results.
    Results(usize),
    /// This result is not the value that is bound.
    Result(usize),
    /// It has this many operands.
    Operands(usize),
    /// This operand of the pattern is not what stands there.
    Operand(usize, usize),
    /// This attribute test.
    Attr(usize),
    /// It calls something else.
    Callee,
    /// Its regions have other parameters, or more or fewer instructions.
    Regions,
    /// In its regions the second stands where the pattern has the first.
    Region(InstId, InstId),
    /// There is no instruction to try.
    NoCandidate,
    /// Everything was found, but this condition does not hold.
    Condition(usize),
}
