//! The active mutant, and the mutants that were reached.

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::sync::{Arc, Once};

use sapwood_ptir::{InstId, Value};
use sapwood_rewrite::Rewrite;

use crate::wide_inst_memo::{ConcatOffsets, WideInstMemo};

/// One way in which the patterns are broken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mutant {
    /// The name of the file, without folder and extension.
    pub(crate) file: &'static str,
    pub(crate) function: &'static str,
    pub(crate) kind: &'static str,
    /// The correct expression and the wrong one.
    pub(crate) before: &'static str,
    pub(crate) after: &'static str,
}

thread_local! {
    static ACTIVE: Cell<u32> = const { Cell::new(u32::MAX) };
    static FUEL: Cell<u32> = const { Cell::new(0) };
    static REACHED: RefCell<Option<(u32, Vec<bool>)>> = const { RefCell::new(None) };
}

/// The message of the panic that stops a pattern that does not terminate.
pub(crate) const NOT_TERMINATING: &str = "a pattern does not end";

/// Returns true if a mutant is active in this thread.
#[inline(never)]
pub(crate) fn active(number: u32) -> bool {
    REACHED.with_borrow_mut(|reached| {
        if let Some((first, all)) = reached {
            let slot = number.checked_sub(*first).and_then(|at| all.get_mut(at as usize));
            if let Some(slot) = slot {
                *slot = true;
            }
        }
    });
    let fuel = FUEL.get();
    assert!(fuel > 0, "{NOT_TERMINATING}");
    FUEL.set(fuel - 1);
    ACTIVE.get() == number
}

/// Calls `work` with one active mutant or none. It may query mutants at most `fuel` times.
pub(crate) fn with_active<R>(number: Option<u32>, fuel: u32, work: impl FnOnce() -> R) -> R {
    ACTIVE.set(number.unwrap_or(u32::MAX));
    FUEL.set(fuel);
    let result = work();
    ACTIVE.set(u32::MAX);
    FUEL.set(u32::MAX);
    result
}

/// Suppresses the messages of panics that mutants cause.
pub(crate) fn silence_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if ACTIVE.get() == u32::MAX {
                usual(info);
            }
        }));
    });
}

/// Calls `work`, and returns which of the mutants with these numbers it reached.
pub(crate) fn recording<R>(numbers: Range<usize>, work: impl FnOnce() -> R) -> (R, Vec<bool>) {
    REACHED.set(Some((numbers.start as u32, vec![false; numbers.len()])));
    let result = work();
    let (_, reached) = REACHED.take().unwrap_or_default();
    (result, reached)
}

/// A replacement for a method of `Rewrite` that is not public.
pub(crate) trait ConcatOffsetsExt {
    fn concat_offsets(&mut self, value: Value) -> Option<(InstId, Arc<ConcatOffsets>)>;
}

impl ConcatOffsetsExt for Rewrite<'_> {
    fn concat_offsets(&mut self, value: Value) -> Option<(InstId, Arc<ConcatOffsets>)> {
        let inst = self.def_inst(value)?;
        Some((inst, WideInstMemo::default().concat_offsets(self.function(), inst)?))
    }
}
