//! Consistency checks of a function's arenas and indices, for tests and expensive checks. No edit may break them.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::{Dfg, Function, Layout, OrderMark, ValueDef};
use crate::ids::{BodyId, InstId, ValueId};

impl Function {
    /// Returns whether any type of this function has, or had before an edit, a named dim.
    #[must_use]
    #[inline]
    pub fn has_named_dims(&self) -> bool {
        self.dfg.types.named()
    }

    /// Returns false if no attribute has expressions over symbols. A function whose instructions with such attributes were erased may
    /// still return true.
    #[must_use]
    pub fn has_symbolic_attrs(&self) -> bool {
        self.dfg.attrs.has_symbols()
    }

    /// Compares every index (links, labels, uses, counts) with one rebuilt from the bodies.
    ///
    /// # Errors
    /// With the first difference. A difference is a defect of this crate, not of the program.
    pub fn check_indices(&self) -> Result<(), String> {
        let sizes = |insts: usize, bodies: usize| format!("{insts} instructions, {bodies} bodies");
        let dfg = sizes(self.dfg.insts.len(), self.dfg.bodies.len());
        let layout = sizes(self.layout.insts.len(), self.layout.bodies.len());
        if dfg != layout {
            return Err(format!("the data flow has {dfg}, the layout {layout}"));
        }
        let detached = (1..self.body_capacity())
            .map(BodyId::new)
            .filter(|&b| self.is_live_body(b) && self.body_owner(b).is_none());
        let roots: Vec<BodyId> = std::iter::once(self.body()).chain(detached).collect();
        self.layout.check_indices(&roots)?;
        let mut reached: Vec<InstId> = Vec::new();
        for &root in &roots {
            reached.extend(self.layout.walk_body(root));
        }
        for &region in reached.iter().flat_map(|&inst| self.regions(inst)) {
            if !self.is_live_body(region) {
                return Err(format!("{region} is a region but does not exist"));
            }
        }
        self.dfg.check_indices(&reached)
    }
}

impl Layout {
    // Checks the labels and links below the bodies without owners.
    fn check_indices(&self, roots: &[BodyId]) -> Result<(), String> {
        if roots.len() - 1 != self.detached as usize {
            return Err(format!(
                "{} detached bodies are counted, {} exist",
                self.detached,
                roots.len() - 1
            ));
        }
        for &root in roots {
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
                if let Some(next) = self.next_inst(inst)
                    && self.prev_inst(next) != Some(inst)
                {
                    return Err(format!("{next} does not point back to {inst}"));
                }
                for (n, &body) in self.regions(inst).iter().enumerate() {
                    if self.body_owner(body) != Some(inst) || self.region_index(body) != n {
                        return Err(format!(
                            "the region {body} does not refer to its owner {inst}"
                        ));
                    }
                }
            }
        }
        Ok(())
    }
}

impl Dfg {
    // Checks the definitions and uses of values. `reached` are all instructions of the layout.
    fn check_indices(&self, reached: &[InstId]) -> Result<(), String> {
        let mut uses: HashMap<ValueId, usize, FxBuildHasher> = HashMap::default();
        for &inst in reached {
            self.check_inst_indices(inst)?;
            for &value in self.operands(inst) {
                *uses.entry(value).or_default() += 1;
            }
        }
        if reached.len() != self.live {
            let (counted, reached) = (self.live, reached.len());
            return Err(format!("{counted} instructions are counted, {reached} are reached"));
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
        if !self.is_live(inst) {
            return Err(format!("{inst} is linked but erased"));
        }
        for (n, value) in self.inst_results(inst).enumerate() {
            if self.value_def(value) != ValueDef::Result(inst, n) {
                return Err(format!("the result {value} does not refer to its instruction {inst}"));
            }
        }
        for (n, slot) in self.operand_slots(inst).enumerate() {
            let user = self.use_links[slot as usize].user;
            if user != inst {
                return Err(format!("operand {n} of {inst} is linked as a use by {user}"));
            }
        }
        Ok(())
    }
}
