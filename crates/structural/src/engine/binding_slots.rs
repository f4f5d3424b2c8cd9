//! The binding number of each variable: stored in the variable itself or, by walks without the right to write
//! there, in a table.
//!
//! A number read from a node is only valid if the binding of that number names that node, so slots need not be
//! cleared before or after a walk. A number must not be overwritten by another walk: one walk at a time is the
//! *writer* of slots, and all others that run meanwhile, on other threads or nested in it, use tables.

use std::sync::atomic::{AtomicBool, Ordering};

use super::compare_state::Side;
use super::node_map::NodeMap;
use crate::reference::NodeRef;

static WRITER_TAKEN: AtomicBool = AtomicBool::new(false);

/// The exclusive right to write into the slots of nodes.
#[derive(Debug)]
struct SlotWriter;

impl SlotWriter {
    fn take() -> Option<Self> {
        WRITER_TAKEN
            .compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
            .then_some(Self)
    }
}

impl Drop for SlotWriter {
    fn drop(&mut self) {
        WRITER_TAKEN.store(false, Ordering::Release);
    }
}

/// The binding numbers of variables, per side.
#[derive(Debug, Default)]
pub(super) struct BindingSlots {
    writer: Option<SlotWriter>,
    /// True if the right to write was requested; it is requested once.
    writer_requested: bool,
    /// The numbers of all variables or, for the writer, of the variables that are looked up by id.
    tables: [NodeMap<u32>; 2],
}

impl BindingSlots {
    /// Creates binding numbers that are never written into nodes.
    pub(super) fn without_slots() -> Self {
        Self { writer_requested: true, ..Self::default() }
    }

    /// Returns the number of a variable. `variable_of` maps a number to its variable.
    #[inline]
    pub(super) fn get(
        &self,
        side: Side,
        variable: NodeRef<'_>,
        variable_of: impl FnOnce(u32) -> Option<usize>,
    ) -> Option<u32> {
        if self.writer.is_some() {
            let number = variable.slot(side);
            return (variable_of(number) == Some(variable.id())).then_some(number);
        }
        self.get_by_id(side, variable.id())
    }

    /// Returns the number of a variable given its id. Finds variables that are
    /// [tracked](BindingSlots::track_by_id), and all variables after [`BindingSlots::move_to_tables`].
    #[inline]
    pub(super) fn get_by_id(&self, side: Side, variable: usize) -> Option<u32> {
        let table = &self.tables[side as usize];
        if table.is_empty() { None } else { table.get(&variable).copied() }
    }

    /// Sets the number of a variable. Returns its previous number.
    #[inline]
    pub(super) fn set(
        &mut self,
        side: Side,
        variable: NodeRef<'_>,
        number: u32,
        variable_of: impl FnOnce(u32) -> Option<usize>,
    ) -> Option<u32> {
        if !self.writer_requested {
            self.writer_requested = true;
            self.writer = SlotWriter::take();
        }
        let id = variable.id();
        if self.writer.is_none() {
            return self.set_by_id(side, id, Some(number));
        }
        let old = variable.slot(side);
        let old = (variable_of(old) == Some(id)).then_some(old);
        variable.set_slot(side, number);
        let tracked = &mut self.tables[side as usize];
        if !tracked.is_empty()
            && let Some(known) = tracked.get_mut(&id)
        {
            *known = number;
        }
        old
    }

    /// Sets the number of a variable given its id, after [`BindingSlots::move_to_tables`]. Returns its previous
    /// number.
    pub(super) fn set_by_id(
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

    /// Makes the number of a variable, which was just set, available by id.
    pub(super) fn track_by_id(&mut self, side: Side, variable: usize, number: u32) {
        self.tables[side as usize].insert(variable, number);
    }

    /// Reserves memory for more numbers.
    pub(super) fn reserve(&mut self, more: usize) {
        if self.writer_requested && self.writer.is_none() {
            self.tables.iter_mut().for_each(|side| side.reserve(more));
        }
    }

    /// Moves all numbers to tables and gives up the right to write. `all` yields the variables of every number
    /// so far.
    pub(super) fn move_to_tables(&mut self, all: impl Iterator<Item = [Option<usize>; 2]>) {
        self.writer_requested = true;
        if self.writer.is_none() {
            return;
        }
        for (number, variables) in all.enumerate() {
            for (table, variable) in self.tables.iter_mut().zip(variables) {
                if let Some(variable) = variable {
                    table.insert(variable, number as u32);
                }
            }
        }
        self.writer = None;
    }
}
