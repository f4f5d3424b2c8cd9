//! What the names of values stand for at a place.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::ValueId;

#[derive(Clone, Copy, Debug)]
pub(super) enum Binding {
    /// These entries of the pool.
    Values { start: u32, len: u32 },
    /// Something that could not be read.
    Poison,
}

/// The names that are defined, region by region.
#[derive(Default)]
pub(super) struct Scope<'a> {
    names: HashMap<&'a str, Binding, FxBuildHasher>,
    pool: Vec<ValueId>,
    /// Names in the order of definition.
    defined: Vec<&'a str>,
}

impl<'a> Scope<'a> {
    /// Enters a region; [`leave`](Self::leave) takes what this gives.
    pub(super) fn enter(&self) -> usize {
        self.defined.len()
    }

    /// Forgets what was defined since.
    pub(super) fn leave(&mut self, mark: usize) {
        for name in self.defined.drain(mark..) {
            self.names.remove(name);
        }
    }

    /// Gives a name to values. `false` if it has one.
    pub(super) fn bind(&mut self, name: &'a str, values: &[ValueId]) -> bool {
        let start = self.pool.len() as u32;
        self.pool.extend_from_slice(values);
        self.define(name, Binding::Values { start, len: values.len() as u32 })
    }

    /// The name stands for something that could not be read.
    pub(super) fn poison(&mut self, name: &'a str) {
        self.define(name, Binding::Poison);
    }

    fn define(&mut self, name: &'a str, binding: Binding) -> bool {
        if self.names.insert(name, binding).is_some() {
            return false;
        }
        self.defined.push(name);
        true
    }

    pub(super) fn get(&self, name: &str) -> Option<Binding> {
        self.names.get(name).copied()
    }

    /// One value of a binding.
    pub(super) fn value(&self, start: u32, index: u32) -> Option<ValueId> {
        self.pool.get((start + index) as usize).copied()
    }

    /// All names there are.
    pub(super) fn names(&self) -> impl Iterator<Item = &'a str> {
        self.defined.iter().copied()
    }
}
