//! What hooks are given: the way back into the engine.

use super::Region;
use super::equal::{Comparison, Difference, Mode};
use super::state::State;
use crate::error::Error;
use crate::graph::Heap;
use crate::kind::Role;
use crate::node::Field;
use crate::path::{Path, Step};
use crate::reference::NodeRef;
use crate::values::Value;
use crate::view::View;

/// What an equality hook compares its parts with.
///
/// It cannot outlive the hook:
///
/// ```compile_fail
/// use sapwood_structural::EqualCx;
/// static KEPT: std::sync::Mutex<Option<&'static mut EqualCx<'static>>> = std::sync::Mutex::new(None);
/// fn keep(cx: &mut EqualCx<'_>) {
///     *KEPT.lock().unwrap() = Some(cx);
/// }
/// ```
pub struct EqualCx<'s> {
    pub(super) state: &'s mut State,
    pub(super) mode: Mode,
    pub(super) region: Region,
    /// The last part that differed.
    pub(super) failed: Option<Box<Difference>>,
}

impl EqualCx<'_> {
    /// Whether two parts are equal. With `def_region`, variables first met in them are bound, as in
    /// a def field; without, they are compared as an ordinary field would be. If the answer is no,
    /// or an error, all bindings made on the way are taken back. `field_name` is the step to the
    /// part in the path of a mismatch.
    ///
    /// # Errors
    /// As [`crate::equal`].
    pub fn equal(
        &mut self,
        left: &impl Field,
        right: &impl Field,
        def_region: bool,
        field_name: &str,
    ) -> Result<bool, Error> {
        self.equal_views(left.view(), right.view(), def_region, field_name)
    }

    /// As [`EqualCx::equal`], for views.
    ///
    /// # Errors
    /// As [`crate::equal`].
    pub fn equal_views(
        &mut self,
        left: View<'_>,
        right: View<'_>,
        def_region: bool,
        field_name: &str,
    ) -> Result<bool, Error> {
        let state = &mut *self.state;
        keep_alive(left, &mut |node| state.keep(Value::Node(node.to_owned())));
        keep_alive(right, &mut |node| state.keep(Value::Node(node.to_owned())));
        let region = if def_region { self.region.of_field(Role::Def) } else { self.region };
        let step = || Path::from(Step::Field(field_name.into()));
        let mark = self.state.mark();
        let mode = Mode { differences: self.mode.differences.min(1), ..self.mode };
        if mode.locate {
            self.state.outer.push(step());
        }
        let mut comparison = Comparison::new(Heap, self.state, mode);
        let result = grow(|| comparison.run(left, right, region));
        let found = comparison.found.pop();
        if mode.locate {
            self.state.outer.pop();
        }
        match result {
            Ok(true) => {
                self.failed = None;
                Ok(true)
            }
            Ok(false) => {
                self.state.roll_back(mark);
                self.failed = found.map(|mut difference| {
                    difference.paths.iter_mut().for_each(|path| path.prefix(step()));
                    Box::new(difference)
                });
                Ok(false)
            }
            Err(error) => {
                self.state.roll_back(mark);
                Err(error.within(step()))
            }
        }
    }
}

/// Calls `keep` with the nodes at the top of `view`.
pub(super) fn keep_alive(view: View<'_>, keep: &mut impl FnMut(NodeRef<'_>)) {
    match view {
        View::Node(node) => keep(node),
        View::List(list) => (0..list.len()).for_each(|i| keep_alive(list.item(i), keep)),
        _ => {}
    }
}

/// Runs `f` with enough machine stack: hooks call back into the engine to any depth.
pub(super) fn grow<R>(f: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(128 * 1024, 4 * 1024 * 1024, f)
}
