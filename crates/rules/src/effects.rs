//! Effects of instructions in the context of the whole program: calls of functions without effects have none.

use std::cell::RefCell;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::ops::Call;
use sapwood_ptir::{Attr, Effects, Function, InstId, Name, Program};

/// A cache of the functions of a program that have effects. Extraction does not change the answers.
#[derive(Default)]
pub(crate) struct CallEffects {
    // Functions by whether they have effects; those being visited count as if they had.
    known: RefCell<HashMap<Name, bool, FxBuildHasher>>,
}

impl CallEffects {
    /// Returns whether an instruction, or one in its regions, must keep its order among other such instructions.
    pub(crate) fn ordered(&self, program: &Program, f: &Function, inst: InstId) -> bool {
        f.is_ordered(inst) && (self.own(program, f, inst) || self.inside(program, f, inst))
    }

    fn inside(&self, program: &Program, f: &Function, inst: InstId) -> bool {
        let mut nested = f.regions(inst).iter().flat_map(|&b| f.walk_body(b));
        nested.any(|i| !f.op_def(i).is_some_and(|d| d.terminator) && self.own(program, f, i))
    }

    // Returns whether the instruction itself has effects, its regions aside.
    fn own(&self, program: &Program, f: &Function, inst: InstId) -> bool {
        f.own_effects(inst) == Effects::Ordered
            && callee(f, inst).is_none_or(|name| self.function(program, name))
    }

    // Returns whether a function has effects. Visits callees before callers, with an explicit stack.
    fn function(&self, program: &Program, name: Name) -> bool {
        if let Some(&known) = self.known.borrow().get(&name) {
            return known;
        }
        let mut open: Vec<(Name, bool)> = vec![(name, false)];
        while let Some((name, entered)) = open.pop() {
            let Some(f) = program.function(name) else {
                self.known.borrow_mut().insert(name, true);
                continue;
            };
            let ordered: Vec<InstId> = f
                .walk()
                .filter(|&i| f.own_effects(i) == Effects::Ordered)
                .filter(|&i| !f.op_def(i).is_some_and(|d| d.terminator))
                .collect();
            if entered {
                let known = self.known.borrow();
                let has = |&i: &InstId| callee(f, i).is_none_or(|c| known.get(&c) != Some(&false));
                let any = ordered.iter().any(has);
                drop(known);
                self.known.borrow_mut().insert(name, any);
                continue;
            }
            if self.known.borrow().contains_key(&name) {
                continue;
            }
            self.known.borrow_mut().insert(name, true);
            open.push((name, true));
            open.extend(ordered.iter().filter_map(|&i| callee(f, i)).map(|c| (c, false)));
        }
        self.known.borrow().get(&name) != Some(&false)
    }
}

fn callee(f: &Function, inst: InstId) -> Option<Name> {
    match f.attr(inst, "callee") {
        Some(Attr::Func(name)) if f.is::<Call>(inst) => Some(*name),
        _ => None,
    }
}
