//! Which variables are defined at a point: a stack that branches cut back.

use super::Map;

/// The definitions in force, in order, and a history that tells whether something that was fine at
/// an earlier time is still fine.
#[derive(Default)]
pub(super) struct Defined {
    places: Map<usize>,
    order: Vec<usize>,
    time: u64,
    /// When the stack was cut and to what length; lengths grow with time.
    cuts: Vec<(u64, usize)>,
}

impl Defined {
    pub(super) fn contains(&self, var: usize) -> bool {
        self.places.contains_key(&var)
    }

    /// Its place in the order of definitions, counted from 1.
    pub(super) fn place(&self, var: usize) -> Option<usize> {
        self.places.get(&var).copied()
    }

    pub(super) fn define(&mut self, var: usize) {
        if !self.places.contains_key(&var) {
            self.order.push(var);
            self.places.insert(var, self.order.len());
        }
    }

    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    /// What was defined since the stack had this length.
    pub(super) fn since(&self, len: usize) -> &[usize] {
        &self.order[len.min(self.order.len())..]
    }

    /// Forgets all but the first `len` definitions.
    pub(super) fn cut(&mut self, len: usize) {
        if len >= self.order.len() {
            return;
        }
        for var in self.order.drain(len..) {
            self.places.remove(&var);
        }
        self.time += 1;
        while self.cuts.last().is_some_and(|&(_, other)| other >= len) {
            self.cuts.pop();
        }
        self.cuts.push((self.time, len));
    }

    pub(super) fn now(&self) -> u64 {
        self.time
    }

    /// Whether the first `len` definitions of the time `then` are still in force.
    pub(super) fn still(&self, then: u64, len: usize) -> bool {
        let first = self.cuts.partition_point(|&(time, _)| time <= then);
        self.cuts.get(first).is_none_or(|&(_, cut)| cut >= len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_what_was_cut() {
        let mut defined = Defined::default();
        defined.define(10);
        defined.define(11);
        let then = defined.now();
        defined.define(12);
        defined.cut(2);
        assert!(defined.still(then, 2) && !defined.still(then, 3));
        defined.define(13);
        defined.cut(1);
        assert!(defined.still(then, 1) && !defined.still(then, 2));
        let later = defined.now();
        assert!(defined.still(later, 1));
        assert_eq!((defined.place(10), defined.place(11)), (Some(1), None));
    }
}
