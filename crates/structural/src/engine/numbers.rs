//! Which binding each variable has: a number, kept in the variable itself where the storage has room
//! there, and in a table otherwise.
//!
//! A number read from a node is believed only if the binding of that number is one of that node, so
//! nothing has to be cleared, before or after. What must not happen is that a number that was
//! written is overwritten by another walk: one walk at a time has the *turn* to write into nodes, and
//! all others that run meanwhile, on other threads or inside this one, use tables.

use std::sync::atomic::{AtomicBool, Ordering};

use super::address::ByNode;
use super::state::Side;
use crate::graph::Graph;

static TAKEN: AtomicBool = AtomicBool::new(false);

/// The right to write into nodes.
#[derive(Debug)]
struct Turn;

impl Turn {
    fn take() -> Option<Self> {
        TAKEN
            .compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
            .then_some(Self)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        TAKEN.store(false, Ordering::Release);
    }
}

/// The numbers of variables, per side. `on` tells which variable a number belongs to.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    turn: Option<Turn>,
    /// Whether a turn was asked for; it is asked for once.
    asked: bool,
    /// Numbers of all variables, or, with the turn, of those that are asked for by identity.
    tables: [ByNode<u32>; 2],
}

impl Numbers {
    /// Numbers that are never written into nodes.
    pub(super) fn in_tables() -> Self {
        Self { asked: true, ..Self::default() }
    }

    /// The number of a variable.
    #[inline]
    pub(super) fn get<'a, G: Graph<'a>>(
        &self,
        g: G,
        side: Side,
        variable: G::Node,
        on: impl FnOnce(u32) -> Option<usize>,
    ) -> Option<u32> {
        if G::SLOTS && self.turn.is_some() {
            let number = g.slot(variable, side);
            return (on(number) == Some(g.id(variable))).then_some(number);
        }
        self.get_id(side, g.id(variable))
    }

    /// The same by identity: of variables that were [watched](Numbers::watch), and of all after
    /// [`Numbers::move_to_tables`].
    #[inline]
    pub(super) fn get_id(&self, side: Side, variable: usize) -> Option<u32> {
        let table = &self.tables[side as usize];
        if table.is_empty() { None } else { table.get(&variable).copied() }
    }

    /// Gives a variable a number; the one it had before.
    #[inline]
    pub(super) fn put<'a, G: Graph<'a>>(
        &mut self,
        g: G,
        side: Side,
        variable: G::Node,
        number: u32,
        on: impl FnOnce(u32) -> Option<usize>,
    ) -> Option<u32> {
        if G::SLOTS && !self.asked {
            self.asked = true;
            self.turn = Turn::take();
        }
        let id = g.id(variable);
        if !G::SLOTS || self.turn.is_none() {
            return self.put_id(side, id, Some(number));
        }
        let old = g.slot(variable, side);
        let old = (on(old) == Some(id)).then_some(old);
        g.set_slot(variable, side, number);
        let watched = &mut self.tables[side as usize];
        if !watched.is_empty()
            && let Some(known) = watched.get_mut(&id)
        {
            *known = number;
        }
        old
    }

    /// The same by identity, after [`Numbers::move_to_tables`]; the number before, if any.
    pub(super) fn put_id(
        &mut self,
        side: Side,
        variable: usize,
        number: Option<u32>,
    ) -> Option<u32> {
        let table = &mut self.tables[side as usize];
        match number {
            Some(number) => table.insert(variable, number),
            None => table.remove(&variable),
        }
    }

    /// The number of this variable, just given to it, will be asked for by identity.
    pub(super) fn watch(&mut self, side: Side, variable: usize, number: u32) {
        self.tables[side as usize].insert(variable, number);
    }

    /// Room for as many more.
    pub(super) fn reserve<'a, G: Graph<'a>>(&mut self, more: usize) {
        if !G::SLOTS || self.asked && self.turn.is_none() {
            self.tables.iter_mut().for_each(|side| side.reserve(more));
        }
    }

    /// From now on all numbers are in tables. `all` gives the variables of every number so far.
    pub(super) fn move_to_tables(&mut self, all: impl Iterator<Item = [Option<usize>; 2]>) {
        self.asked = true;
        if self.turn.is_none() {
            return;
        }
        for (number, variables) in all.enumerate() {
            for (table, variable) in self.tables.iter_mut().zip(variables) {
                if let Some(variable) = variable {
                    table.insert(variable, number as u32);
                }
            }
        }
        self.turn = None;
    }
}
