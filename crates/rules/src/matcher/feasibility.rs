//! Feasibility of matching an instruction with an op, whatever is bound: computed in long searches, and cached.
//!
//! If both orders of operands fit, a search that binds one op after the other tries all combinations before it finds that a
//! definition deep below is missing. This check visits each pair of op and instruction once.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::{InstId, ValueId};

use super::search::Search;
use crate::graph::{AttrCondition, AttrSlot, OpIx, PatternOperand, ValueSource};

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
        let f = self.cx.f;
        let swaps = if self.swaps(op, inst) { 2 } else { 1 };
        for swapped in (0..swaps).map(|n| n == 1) {
            for (def, found) in self.definitions(op, inst, swapped) {
                if let Some(below) = f.inst_of(found)
                    && self.known(def, below).is_none()
                {
                    open.push((def, below));
                }
            }
        }
    }

    // Returns the ops that define operands of an op, each with the corresponding operand of the instruction.
    fn definitions(
        &self,
        op: OpIx,
        inst: InstId,
        swapped: bool,
    ) -> impl Iterator<Item = (OpIx, ValueId)> {
        let (f, pattern) = (self.cx.f, self.pattern);
        let operands = pattern.ops[op].operands.iter().enumerate();
        operands.filter_map(move |(n, operand)| {
            let PatternOperand::One(value) = *operand else { return None };
            let ValueSource::Result(def) = pattern.values[value].from else { return None };
            let at = if swapped && n < 2 { 1 - n } else { n };
            Some((def, *f.operands(inst).get(at)?))
        })
    }

    fn swaps(&self, op: OpIx, inst: InstId) -> bool {
        let commutes = self.pattern.ops[op].commutative && !self.cx.options.operand_order;
        commutes && self.cx.f.operands(inst).len() > 1
    }

    fn fits_alone(&self, op: OpIx, inst: InstId) -> bool {
        let (f, data) = (self.cx.f, &self.pattern.ops[op]);
        let rest = matches!(data.operands.last(), Some(PatternOperand::Rest(_)));
        let (wanted, found) = (data.operands.len() - usize::from(rest), f.operands(inst).len());
        f.op_key(inst) == data.key
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
        let (f, pattern) = (self.cx.f, self.pattern);
        let typed = self.cx.options.typed;
        let below = |(def, found): (OpIx, ValueId)| {
            f.inst_of(found).is_some_and(|inst| self.known(def, inst).unwrap_or(true))
        };
        let constants = |swapped: bool| {
            pattern.ops[op].operands.iter().enumerate().all(|(n, operand)| {
                let PatternOperand::One(value) = *operand else { return true };
                let ValueSource::Literal(literal) = &pattern.values[value].from else {
                    return true;
                };
                let at = if swapped && n < 2 { 1 - n } else { n };
                f.operands(inst).get(at).is_some_and(|&v| literal.fits(f, v, typed))
            })
        };
        let fits = |swapped| self.definitions(op, inst, swapped).all(below) && constants(swapped);
        fits(false) || (self.swaps(op, inst) && fits(true))
    }
}
