//! Which variables are bound while a graph is walked in the order of comparison, and on which of
//! them the result for a shared node rests.

use std::rc::Rc;

use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use crate::values::Value;

type HashMap<K, V> = hashbrown::HashMap<K, V, FxBuildHasher>;

/// What a bound variable stands for.
pub(crate) struct Bound {
    depth: usize,
    /// The variable in its place; nothing if it stays.
    pub(crate) to: Option<Value>,
}

/// A variable, what it meant when it was looked up, and the depth of the scope that binds it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Touch {
    pub(crate) variable: usize,
    pub(crate) state: usize,
    depth: usize,
}

/// The variable was free.
pub(crate) const FREE: usize = 0;
/// The variable was bound and stays as it is. Any other number is the one that stands in its place.
const KEPT: usize = 1;

/// Open scopes and what they bind. The value as a whole is the scope at depth 0.
pub(crate) struct Scopes {
    /// Per open scope, the variables it binds.
    open: Vec<Vec<usize>>,
    bound: HashMap<usize, SmallVec<[Bound; 1]>>,
    /// Scopes from depth 1 up to this one cannot be seen: what is looked at stands outside them.
    hidden: usize,
    /// Per open frame that is tracked, what was looked up in it.
    touched: Vec<Vec<Touch>>,
}

impl Scopes {
    pub(crate) fn new() -> Self {
        Self { open: vec![Vec::new()], bound: HashMap::default(), hidden: 0, touched: Vec::new() }
    }

    /// The depth at which a variable is bound now.
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
        // Outside, it does not matter what was bound inside.
        if let Some(touched) = self.touched.last_mut() {
            touched.retain(|touch| touch.depth != depth);
        }
    }

    /// Looks from outside all open scopes until [`Scopes::show`] is given what this returns.
    pub(crate) fn hide(&mut self) -> usize {
        std::mem::replace(&mut self.hidden, self.open.len() - 1)
    }

    pub(crate) fn show(&mut self, hidden: usize) {
        self.hidden = hidden;
    }

    /// How many variables the innermost scope binds so far.
    pub(crate) fn bound_here(&self) -> usize {
        self.open[self.depth()].len()
    }

    pub(crate) fn bind(&mut self, variable: usize, to: Option<Value>) {
        let depth = self.depth();
        self.open[depth].push(variable);
        self.bound.entry(variable).or_default().push(Bound { depth, to });
    }

    pub(crate) fn get(&self, variable: usize) -> Option<&Bound> {
        let visible = |entry: &&Bound| entry.depth == 0 || entry.depth > self.hidden;
        self.bound.get(&variable)?.iter().rev().find(visible)
    }

    /// What the variable means here.
    pub(crate) fn state(&self, variable: usize) -> usize {
        match self.get(variable) {
            None => FREE,
            Some(Bound { to: Some(Value::Node(node)), .. }) => node.node().id(),
            Some(_) => KEPT,
        }
    }

    /// The variable was looked up.
    pub(crate) fn touch(&mut self, variable: usize) {
        if self.touched.is_empty() {
            return;
        }
        let state = self.state(variable);
        let depth = self.get(variable).map_or(0, |bound| bound.depth);
        if let Some(top) = self.touched.last_mut() {
            top.push(Touch { variable, state, depth });
        }
    }

    pub(crate) fn is_tracking(&self) -> bool {
        !self.touched.is_empty()
    }

    /// Begins to track a frame.
    pub(crate) fn track(&mut self) {
        self.touched.push(Vec::new());
    }

    /// Ends tracking the innermost frame; the one around it touched the same.
    pub(crate) fn untrack(&mut self) -> Rc<[Touch]> {
        let mut touched = self.touched.pop().unwrap_or_default();
        touched.sort_unstable();
        touched.dedup();
        if let Some(outer) = self.touched.last_mut() {
            outer.extend_from_slice(&touched);
        }
        touched.into()
    }

    /// Ends tracking the innermost frame, which does not rest on where it stands.
    pub(crate) fn forget(&mut self) {
        self.touched.pop();
    }
}
