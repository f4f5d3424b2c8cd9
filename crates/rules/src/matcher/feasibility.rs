//! Feasibility of matching an instruction with an op, whatever is bound: computed in long searches, and cached.
//!
//! If both orders of operands fit, a search that binds one op after the other tries all combinations before it finds that a
//! definition deep below is missing. This check visits each pair of op and instruction once.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::{InstId, ValueId};

use super::search::Search;
use crate::graph::{AttrCondition, AttrSlot, OpIx, PatternOperand, ValueIx, ValueSource};

/// The largest number of cached answers.
const MAX_CACHED_ANSWERS: usize = 1 << 22;

/// A cache of feasibility answers.
#[derive(Default)]
pub(super) struct Feasibility {
    known: HashMap<(u32, InstId), bool, FxBuildHasher>,
}

impl Search<'_> {
    /// Returns whether an instruction may match an op of the pattern, judged by it and its definitions. Each answer that is not cached
    /// counts as a step.
    pub(super) fn is_feasible(&mut self, op: OpIx, inst: InstId) -> bool {
        if self.feasibility.known.len() >= MAX_CACHED_ANSWERS {
            self.feasibility.known.clear();
        }
        // Dependencies of an answer are computed before it.
        let mut open = vec![(op, inst)];
        while let Some(&(op, inst)) = open.last() {
            if self.known(op, inst).is_some() {
                open.pop();
                continue;
            }
            let alone = self.fits_alone(op, inst);
            let before = open.len();
            if alone {
                self.missing(op, inst, &mut open);
            }
            if open.len() > before {
                continue;
            }
            self.steps += 1;
            let answer = alone && self.fits_below(op, inst);
            self.feasibility.known.insert((op as u32, inst), answer);
            open.pop();
        }
        self.known(op, inst).unwrap_or(true)
    }

    fn known(&self, op: OpIx, inst: InstId) -> Option<bool> {
        self.feasibility.known.get(&(op as u32, inst)).copied()
    }

    // Pushes the definitions whose answers are missing.
    fn missing(&self, op: OpIx, inst: InstId, open: &mut Vec<(OpIx, InstId)>) {
        let swaps = if self.swaps(op, inst) { 2 } else { 1 };
        for swapped in (0..swaps).map(|n| n == 1) {
            for (value, found) in self.operands(op, inst, swapped) {
                self.definitions(value, found, &mut |def, below| {
                    if self.known(def, below).is_none() {
                        open.push((def, below));
                    }
                    false
                });
            }
        }
    }

    // Returns the operands of an op, each with the corresponding operand of the instruction.
    fn operands(
        &self,
        op: OpIx,
        inst: InstId,
        swapped: bool,
    ) -> impl Iterator<Item = (ValueIx, ValueId)> {
        let (f, pattern) = (self.cx.f, self.pattern);
        let operands = pattern.ops[op].operands.iter().enumerate();
        operands.filter_map(move |(n, operand)| {
            let PatternOperand::One(value) = *operand else { return None };
            let at = if swapped && n < 2 { 1 - n } else { n };
            Some((value, *f.operands(inst).get(at)?))
        })
    }

    // Visits the ops that may define a value, each with an instruction that may be it, until one is accepted. Returns whether one is,
    // or whether the value may be another one than a result of an op.
    fn definitions(
        &self,
        value: ValueIx,
        found: ValueId,
        accept: &mut impl FnMut(OpIx, InstId) -> bool,
    ) -> bool {
        let (f, pattern) = (self.cx.f, self.pattern);
        let mut any = false;
        for value in pattern.without_choices([value]) {
            any |= match &pattern.values[value].from {
                ValueSource::Param => true,
                ValueSource::Literal(literal) => {
                    literal.fits(f, found, self.cx.options.typed)
                        || self.is_constant_behind(literal, found)
                }
                ValueSource::Result(def) if pattern.through.is_empty() => {
                    f.inst_of(found).is_some_and(|inst| accept(*def, inst))
                }
                ValueSource::Result(def) => {
                    let mut accepted = false;
                    for inst in pattern.through.chain(f, found).filter_map(|v| f.inst_of(v)) {
                        accepted |= accept(*def, inst);
                    }
                    accepted
                }
                ValueSource::Choice(_) => false,
            };
        }
        any
    }

    fn swaps(&self, op: OpIx, inst: InstId) -> bool {
        let commutes = self.pattern.ops[op].commutative && !self.cx.options.operand_order;
        commutes && self.cx.f.operands(inst).len() > 1
    }

    fn fits_alone(&self, op: OpIx, inst: InstId) -> bool {
        let (f, data) = (self.cx.f, &self.pattern.ops[op]);
        let rest = matches!(data.operands.last(), Some(PatternOperand::Rest(_)));
        let (wanted, found) = (data.operands.len() - usize::from(rest), f.operands(inst).len());
        data.accepts(f.op_key(inst))
            && if rest { found >= wanted } else { found == wanted }
            && data.attrs.iter().all(|t| match (&t.slot, &t.test) {
                (AttrSlot::Row(row), AttrCondition::Is(attr)) => {
                    f.attrs(inst).get(*row) == Some(attr)
                }
                _ => true,
            })
    }

    // Returns whether in one order of the operands all definitions are feasible, and the constants match.
    fn fits_below(&self, op: OpIx, inst: InstId) -> bool {
        let fits = |swapped| {
            self.operands(op, inst, swapped).all(|(value, found)| {
                self.definitions(value, found, &mut |def, below| {
                    self.known(def, below).unwrap_or(true)
                })
            })
        };
        fits(false) || (self.swaps(op, inst) && fits(true))
    }
}
