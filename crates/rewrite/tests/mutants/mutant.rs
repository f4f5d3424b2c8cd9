//! Which mutant is awake, and which were asked.

use std::cell::{Cell, RefCell};
use std::sync::{Arc, Once};

use sapwood_ptir::{InstId, Value};
use sapwood_rewrite::Rewrite;

use crate::wide_inst_memo::{ConcatOffsets, WideInstMemo};

/// One way in which the patterns are broken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mutant {
    /// The file, without folder and ending.
    pub(crate) file: &'static str,
    pub(crate) function: &'static str,
    pub(crate) kind: &'static str,
    /// The right expression and the wrong one.
    pub(crate) before: &'static str,
    pub(crate) after: &'static str,
}

thread_local! {
    static AWAKE: Cell<u32> = const { Cell::new(u32::MAX) };
    static FUEL: Cell<u32> = const { Cell::new(0) };
    static REACHED: RefCell<Option<Vec<bool>>> = const { RefCell::new(None) };
}

/// The message of the panic that ends a pattern that does not end.
pub(crate) const ENDLESS: &str = "a pattern does not end";

/// Whether a mutant is awake in this thread.
#[inline(never)]
pub(crate) fn active(number: u32) -> bool {
    REACHED.with_borrow_mut(|reached| {
        if let Some(slot) = reached.as_mut().and_then(|all| all.get_mut(number as usize)) {
            *slot = true;
        }
    });
    let fuel = FUEL.get();
    assert!(fuel > 0, "{ENDLESS}");
    FUEL.set(fuel - 1);
    AWAKE.get() == number
}

/// Does something with one mutant awake, or none. It may ask about mutants as often as `fuel` says.
pub(crate) fn with_awake<R>(number: Option<u32>, fuel: u32, work: impl FnOnce() -> R) -> R {
    AWAKE.set(number.unwrap_or(u32::MAX));
    FUEL.set(fuel);
    let result = work();
    AWAKE.set(u32::MAX);
    FUEL.set(u32::MAX);
    result
}

/// Keeps panics of patterns, which mutants bring about, from being printed.
pub(crate) fn silence_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if AWAKE.get() == u32::MAX {
                usual(info);
            }
        }));
    });
}

/// Does something, and tells which of this many mutants it asked about.
pub(crate) fn recording<R>(count: usize, work: impl FnOnce() -> R) -> (R, Vec<bool>) {
    REACHED.set(Some(vec![false; count]));
    let result = work();
    (result, REACHED.take().unwrap_or_default())
}

/// A method of `Rewrite` that is not public.
pub(crate) trait ConcatOffsetsExt {
    fn concat_offsets(&mut self, value: Value) -> Option<(InstId, Arc<ConcatOffsets>)>;
}

impl ConcatOffsetsExt for Rewrite<'_> {
    fn concat_offsets(&mut self, value: Value) -> Option<(InstId, Arc<ConcatOffsets>)> {
        let inst = self.def_inst(value)?;
        Some((inst, WideInstMemo::default().concat_offsets(self.function(), inst)?))
    }
}
