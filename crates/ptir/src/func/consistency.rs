//! Consistency checks of a function's arenas and indices, for tests and expensive checks. No edit may break them.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::{Function, OrderMark, ValueDef};
use crate::ids::{BodyId, InstId, ValueId};

impl Function {
    /// Returns whether any type of this function has, or had before an edit, a named dim.
    #[must_use]
    #[inline]
    pub fn has_named_dims(&self) -> bool {
        self.types.named()
    }

    /// Compares every index (links, labels, uses, counts) with one rebuilt from the bodies.
    ///
    /// # Errors
    /// With the first difference. A difference is a defect of this crate, not of the program.
    pub fn check_indices(&self) -> Result<(), String> {
        let mut seen = 0usize;
        let mut roots = vec![self.body()];
        for (i, body) in self.bodies.iter().enumerate().skip(1) {
            if body.live && body.owner.is_none() {
                roots.push(BodyId::new(i));
            }
        }
        if roots.len() - 1 != self.detached as usize {
            return Err(format!(
                "{} detached bodies are counted, {} exist",
                self.detached,
                roots.len() - 1
            ));
        }
        let mut uses: HashMap<ValueId, usize, FxBuildHasher> = HashMap::default();
        for root in roots {
            let mut mark = OrderMark::Enter(root);
            let mut label = self.label(mark);
            while let Some(next) = self.next_mark(mark) {
                let next_label = self.label(next);
                if next_label <= label {
                    return Err(format!(
                        "label of {next:?} is {next_label}, not above {label} of {mark:?}"
                    ));
                }
                (mark, label) = (next, next_label);
            }
            if mark != OrderMark::Exit(root) {
                return Err(format!("the sequence of {root} ends at {mark:?}"));
            }
            for inst in self.walk_body(root) {
                seen += 1;
                self.check_inst_indices(inst)?;
                for &value in self.operands(inst) {
                    *uses.entry(value).or_default() += 1;
                }
            }
        }
        if seen != self.live {
            return Err(format!("{} instructions are counted, {seen} are reached", self.live));
        }
        for index in 0..self.values.len() {
            let value = ValueId::new(index);
            let listed = self.uses(value).count();
            let expected = uses.get(&value).copied().unwrap_or(0);
            if listed != expected {
                return Err(format!("{value} lists {listed} uses, but {expected} operands use it"));
            }
            if expected > 0 && !self.is_live_value(value) {
                return Err(format!("{value} is used but does not exist"));
            }
        }
        Ok(())
    }

    fn check_inst_indices(&self, inst: InstId) -> Result<(), String> {
        let data = &self.insts[inst.index()];
        if !data.live {
            return Err(format!("{inst} is linked but erased"));
        }
        if let Some(next) = data.next.some()
            && self.insts[next.index()].prev != inst
        {
            return Err(format!("{next} does not point back to {inst}"));
        }
        for (slot, &body) in self.regions(inst).iter().enumerate() {
            let region = &self.bodies[body.index()];
            if region.owner != inst || region.slot as usize != slot || !region.live {
                return Err(format!("the region {body} does not refer to its owner {inst}"));
            }
        }
        for (n, value) in self.inst_results(inst).enumerate() {
            if self.value_def(value) != ValueDef::Result(inst, n) {
                return Err(format!("the result {value} does not refer to its instruction {inst}"));
            }
        }
        for n in 0..self.operands(inst).len() {
            let slot = data.operands as usize + n;
            if self.use_links[slot].user != inst {
                return Err(format!(
                    "operand {n} of {inst} is linked as a use by {}",
                    self.use_links[slot].user
                ));
            }
        }
        Ok(())
    }
}
