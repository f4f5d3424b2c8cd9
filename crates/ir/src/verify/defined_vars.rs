//! The set of defined variables at a point, as a stack that is truncated after branches.

use super::IdMap;

/// The defined variables in order, with a history that tells whether earlier definitions are still valid.
#[derive(Default)]
pub(super) struct DefinedVars {
    positions: IdMap<usize>,
    order: Vec<usize>,
    time: u64,
    /// The times at which the stack was truncated, with the new lengths, which increase with time.
    truncations: Vec<(u64, usize)>,
}

impl DefinedVars {
    pub(super) fn contains(&self, var: usize) -> bool {
        self.positions.contains_key(&var)
    }

    /// Returns the position of a variable in the order of definitions, counted from 1.
    pub(super) fn position(&self, var: usize) -> Option<usize> {
        self.positions.get(&var).copied()
    }

    pub(super) fn define(&mut self, var: usize) {
        if !self.positions.contains_key(&var) {
            self.order.push(var);
            self.positions.insert(var, self.order.len());
        }
    }

    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    /// Returns the variables defined since the stack had this length.
    pub(super) fn defined_since(&self, len: usize) -> &[usize] {
        &self.order[len.min(self.order.len())..]
    }

    /// Removes all but the first `len` definitions.
    pub(super) fn truncate(&mut self, len: usize) {
        if len >= self.order.len() {
            return;
        }
        for var in self.order.drain(len..) {
            self.positions.remove(&var);
        }
        self.time += 1;
        while self.truncations.last().is_some_and(|&(_, other)| other >= len) {
            self.truncations.pop();
        }
        self.truncations.push((self.time, len));
    }

    pub(super) fn now(&self) -> u64 {
        self.time
    }

    /// Returns whether the first `len` definitions at time `then` are still valid.
    pub(super) fn still_defined(&self, then: u64, len: usize) -> bool {
        let first = self.truncations.partition_point(|&(time, _)| time <= then);
        self.truncations.get(first).is_none_or(|&(_, length)| length >= len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncated_definitions_are_not_valid() {
        let mut defined = DefinedVars::default();
        defined.define(10);
        defined.define(11);
        let then = defined.now();
        defined.define(12);
        defined.truncate(2);
        assert!(defined.still_defined(then, 2) && !defined.still_defined(then, 3));
        defined.define(13);
        defined.truncate(1);
        assert!(defined.still_defined(then, 1) && !defined.still_defined(then, 2));
        let later = defined.now();
        assert!(defined.still_defined(later, 1));
        assert_eq!((defined.position(10), defined.position(11)), (Some(1), None));
    }
}
