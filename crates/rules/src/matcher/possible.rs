//! What an instruction cannot be, whatever is bound: asked where a search takes long, and remembered.
//!
//! Where both orders of operands fit, a search that binds one op after the other tries all combinations before it sees that
//! a definition deep below is not there. This looks at each op and instruction once.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::{InstId, ValueId};

use super::search::Search;
use crate::graph::{AttrSlot, OpIx, Operand, Source, Test};

/// How many answers are remembered.
const MOST: usize = 1 << 22;

/// The answers so far.
#[derive(Default)]
pub(super) struct Possible {
    known: HashMap<(u32, InstId), bool, FxBuildHasher>,
}

impl Search<'_> {
    /// Whether an instruction may be an op of the pattern, as far as it and what it is computed from say. Each answer that
    /// has to be worked out is a step.
    pub(super) fn possible(&mut self, op: OpIx, inst: InstId) -> bool {
        if self.possible.known.len() >= MOST {
            self.possible.known.clear();
        }
        // What an answer depends on comes before it.
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
            self.possible.known.insert((op as u32, inst), answer);
            open.pop();
        }
        self.known(op, inst).unwrap_or(true)
    }

    fn known(&self, op: OpIx, inst: InstId) -> Option<bool> {
        self.possible.known.get(&(op as u32, inst)).copied()
    }

    // The answers about definitions that are not there yet.
    fn missing(&self, op: OpIx, inst: InstId, open: &mut Vec<(OpIx, InstId)>) {
        let f = self.scene.f;
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

    // The ops that operands of an op are defined by, each with the value that stands there.
    fn definitions(
        &self,
        op: OpIx,
        inst: InstId,
        swapped: bool,
    ) -> impl Iterator<Item = (OpIx, ValueId)> {
        let (f, pattern) = (self.scene.f, self.pattern);
        let operands = pattern.ops[op].operands.iter().enumerate();
        operands.filter_map(move |(n, operand)| {
            let Operand::One(value) = *operand else { return None };
            let Source::Result(def) = pattern.values[value].from else { return None };
            let at = if swapped && n < 2 { 1 - n } else { n };
            Some((def, *f.operands(inst).get(at)?))
        })
    }

    fn swaps(&self, op: OpIx, inst: InstId) -> bool {
        let commutes = self.pattern.ops[op].commutative && !self.scene.options.operand_order;
        commutes && self.scene.f.operands(inst).len() > 1
    }

    fn fits_alone(&self, op: OpIx, inst: InstId) -> bool {
        let (f, data) = (self.scene.f, &self.pattern.ops[op]);
        let rest = matches!(data.operands.last(), Some(Operand::Rest(_)));
        let (wanted, found) = (data.operands.len() - usize::from(rest), f.operands(inst).len());
        f.op_key(inst) == data.key
            && if rest { found >= wanted } else { found == wanted }
            && data.attrs.iter().all(|t| match (&t.slot, &t.test) {
                (AttrSlot::Row(row), Test::Is(attr)) => f.attrs(inst).get(*row) == Some(attr),
                _ => true,
            })
    }

    // In one order of the operands all definitions are possible, and constants are those of the pattern.
    fn fits_below(&self, op: OpIx, inst: InstId) -> bool {
        let (f, pattern) = (self.scene.f, self.pattern);
        let typed = self.scene.options.typed;
        let below = |(def, found): (OpIx, ValueId)| {
            f.inst_of(found).is_some_and(|inst| self.known(def, inst).unwrap_or(true))
        };
        let constants = |swapped: bool| {
            pattern.ops[op].operands.iter().enumerate().all(|(n, operand)| {
                let Operand::One(value) = *operand else { return true };
                let Source::Literal(literal) = &pattern.values[value].from else { return true };
                let at = if swapped && n < 2 { 1 - n } else { n };
                f.operands(inst).get(at).is_some_and(|&v| literal.fits(f, v, typed))
            })
        };
        let fits = |swapped| self.definitions(op, inst, swapped).all(below) && constants(swapped);
        fits(false) || (self.swaps(op, inst) && fits(true))
    }
}
