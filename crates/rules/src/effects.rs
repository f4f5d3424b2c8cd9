//! Which instructions have effects, seen from the whole program: calls of functions that only compute have none.

use std::cell::RefCell;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::ops::Call;
use sapwood_ptir::{Attr, Effects, Function, InstId, Name, Program};

/// What is known of the functions of a program. Extraction does not change it.
#[derive(Default)]
pub(crate) struct CallEffects {
    // Functions and whether they have effects; those that are being looked at count as if they had.
    known: RefCell<HashMap<Name, bool, FxBuildHasher>>,
}

impl CallEffects {
    /// Whether an instruction, or one in its regions, keeps its place among the others that do.
    pub(crate) fn ordered(&self, program: &Program, f: &Function, inst: InstId) -> bool {
        f.is_ordered(inst) && (self.own(program, f, inst) || self.inside(program, f, inst))
    }

    fn inside(&self, program: &Program, f: &Function, inst: InstId) -> bool {
        let mut nested = f.regions(inst).iter().flat_map(|&b| f.walk_body(b));
        nested.any(|i| !f.op_def(i).is_some_and(|d| d.terminator) && self.own(program, f, i))
    }

    // The instruction itself.
    fn own(&self, program: &Program, f: &Function, inst: InstId) -> bool {
        f.own_effects(inst) == Effects::Ordered
            && callee(f, inst).is_none_or(|name| self.function(program, name))
    }

    // Whether a function has effects. Callees before callers, without recursion of our own.
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
