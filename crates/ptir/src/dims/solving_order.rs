//! The order in which expressions are solved for their symbols.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::expr::DimExpr;
use crate::name::Name;

/// The symbols of an expression that have no value yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unbound {
    /// All have one.
    None,
    /// One has none.
    One(Name),
    /// Several have none.
    Several,
}

/// Returns the symbols of an expression that have no value yet.
pub(crate) fn only_unbound(expr: DimExpr, is_bound: impl Fn(Name) -> bool) -> Unbound {
    let mut found = Unbound::None;
    for &name in expr.symbols() {
        match found {
            _ if is_bound(name) => {}
            Unbound::None => found = Unbound::One(name),
            Unbound::One(_) | Unbound::Several => return Unbound::Several,
        }
    }
    found
}

/// A queue of expressions. An expression is next if at most one of its symbols is not bound.
///
/// The order is that of repeated walks over all expressions, which visit each one that is ready; only the walks are not made.
pub(crate) struct SolvingOrder {
    // For each expression, the number of its symbols that are not bound, and whether it is in the queue.
    expressions: Vec<(u32, bool)>,
    // The expressions that contain a symbol that is not bound.
    waiting: HashMap<Name, Vec<u32>, FxBuildHasher>,
    // The number of the walk, and the position of the expression.
    ready: BinaryHeap<Reverse<(u32, u32)>>,
    current: (u32, u32),
}

impl SolvingOrder {
    /// Creates the queue of some expressions.
    pub(crate) fn new(
        expressions: impl Iterator<Item = DimExpr>,
        is_bound: impl Fn(Name) -> bool,
    ) -> Self {
        let mut order = Self {
            expressions: Vec::new(),
            waiting: HashMap::default(),
            ready: BinaryHeap::new(),
            current: (0, 0),
        };
        for (position, expr) in (0u32..).zip(expressions) {
            let mut unbound = 0;
            for &name in expr.symbols().iter().filter(|&&name| !is_bound(name)) {
                unbound += 1;
                order.waiting.entry(name).or_default().push(position);
            }
            order.expressions.push((unbound, unbound <= 1));
            if unbound <= 1 {
                order.ready.push(Reverse((0, position)));
            }
        }
        order
    }

    /// Removes the next expression from the queue, and returns its position.
    pub(crate) fn pop(&mut self) -> Option<usize> {
        let Reverse(next) = self.ready.pop()?;
        self.current = next;
        let position = next.1 as usize;
        self.expressions[position].1 = false;
        Some(position)
    }

    /// Adds the expressions for which a symbol was missing that has a value now.
    pub(crate) fn bind(&mut self, name: Name) {
        let (walk, current) = self.current;
        for position in self.waiting.remove(&name).unwrap_or_default() {
            let (unbound, queued) = &mut self.expressions[position as usize];
            *unbound -= 1;
            // The expression that bound the symbol needs no further visit.
            if *unbound <= 1 && !*queued && position != current {
                *queued = true;
                self.ready.push(Reverse((walk + u32::from(position < current), position)));
            }
        }
    }
}
