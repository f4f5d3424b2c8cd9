//! The bound variables during a substitution, which walks a graph in the order of comparison, and the variables
//! on which the result for a shared node depends.

use std::rc::Rc;

use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use crate::values::Value;

type HashMap<K, V> = hashbrown::HashMap<K, V, FxBuildHasher>;

/// The binding of a variable during a substitution.
pub(crate) struct ScopedReplacement {
    depth: usize,
    /// The variable that replaces it; `None` if it stays.
    pub(crate) replacement: Option<Value>,
}

/// A recorded lookup of a variable: its meaning at that time, and the depth of the scope that binds it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct VariableLookup {
    pub(crate) variable: usize,
    pub(crate) meaning: usize,
    depth: usize,
}

/// The meaning of a free variable.
pub(crate) const FREE: usize = 0;
/// The meaning of a bound variable that stays as it is. Any other number is the id of its replacement.
const UNCHANGED: usize = 1;

/// The open scopes of a substitution and their bindings. The value as a whole is the scope at depth 0.
pub(crate) struct SubstitutionScopes {
    /// The variables that each open scope binds.
    open: Vec<Vec<usize>>,
    bound: HashMap<usize, SmallVec<[ScopedReplacement; 1]>>,
    /// The scopes from depth 1 up to this one are invisible: the current node is outside of them.
    hidden: usize,
    /// The lookups in each open frame that is tracked.
    lookups: Vec<Vec<VariableLookup>>,
}

impl SubstitutionScopes {
    pub(crate) fn new() -> Self {
        Self { open: vec![Vec::new()], bound: HashMap::default(), hidden: 0, lookups: Vec::new() }
    }

    /// Returns the depth at which a new variable is bound.
    pub(crate) fn depth(&self) -> usize {
        let innermost = self.open.len() - 1;
        if innermost > self.hidden { innermost } else { 0 }
    }

    pub(crate) fn enter(&mut self) {
        self.open.push(Vec::new());
    }

    pub(crate) fn leave(&mut self) {
        let depth = self.open.len() - 1;
        for variable in self.open.pop().unwrap_or_default() {
            if let Some(entries) = self.bound.get_mut(&variable) {
                entries.retain(|entry| entry.depth != depth);
            }
        }
        // Outside, bindings made inside do not matter.
        if let Some(lookups) = self.lookups.last_mut() {
            lookups.retain(|lookup| lookup.depth != depth);
        }
    }

    /// Makes all open scopes invisible. Returns the value for [`SubstitutionScopes::restore_hidden`].
    pub(crate) fn hide_open_scopes(&mut self) -> usize {
        std::mem::replace(&mut self.hidden, self.open.len() - 1)
    }

    pub(crate) fn restore_hidden(&mut self, hidden: usize) {
        self.hidden = hidden;
    }

    /// Returns the number of variables that the innermost scope binds so far.
    pub(crate) fn bound_in_scope(&self) -> usize {
        self.open[self.depth()].len()
    }

    pub(crate) fn bind(&mut self, variable: usize, replacement: Option<Value>) {
        let depth = self.depth();
        self.open[depth].push(variable);
        self.bound.entry(variable).or_default().push(ScopedReplacement { depth, replacement });
    }

    pub(crate) fn get(&self, variable: usize) -> Option<&ScopedReplacement> {
        let visible = |entry: &&ScopedReplacement| entry.depth == 0 || entry.depth > self.hidden;
        self.bound.get(&variable)?.iter().rev().find(visible)
    }

    /// Returns the current meaning of a variable.
    pub(crate) fn meaning(&self, variable: usize) -> usize {
        match self.get(variable) {
            None => FREE,
            Some(ScopedReplacement { replacement: Some(Value::Node(node)), .. }) => {
                node.node().id()
            }
            Some(_) => UNCHANGED,
        }
    }

    /// Records a lookup of a variable in the innermost tracked frame.
    pub(crate) fn record_lookup(&mut self, variable: usize) {
        if self.lookups.is_empty() {
            return;
        }
        let meaning = self.meaning(variable);
        let depth = self.get(variable).map_or(0, |bound| bound.depth);
        if let Some(top) = self.lookups.last_mut() {
            top.push(VariableLookup { variable, meaning, depth });
        }
    }

    pub(crate) fn is_tracking(&self) -> bool {
        !self.lookups.is_empty()
    }

    /// Begins to track the lookups of a frame.
    pub(crate) fn track(&mut self) {
        self.lookups.push(Vec::new());
    }

    /// Ends tracking the innermost frame, and adds its lookups to the one around it.
    pub(crate) fn untrack(&mut self) -> Rc<[VariableLookup]> {
        let mut lookups = self.lookups.pop().unwrap_or_default();
        lookups.sort_unstable();
        lookups.dedup();
        if let Some(outer) = self.lookups.last_mut() {
            outer.extend_from_slice(&lookups);
        }
        lookups.into()
    }

    /// Ends tracking the innermost frame and drops its lookups, because its result does not depend on context.
    pub(crate) fn discard_tracking(&mut self) {
        self.lookups.pop();
    }
}
