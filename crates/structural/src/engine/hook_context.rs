//! What hooks are given: the way back into the engine.

use super::equal::{Comparison, Difference, Mode};
use super::state::State;
use super::{Region, scalars};
use crate::error::Error;
use crate::graph::Heap;
use crate::kind::{Facts, Kind, Role};
use crate::node::Field;
use crate::path::{Path, Step};
use crate::reference::NodeRef;
use crate::type_info::Layout;
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
        if let (View::Node(left), View::Node(right)) = (left, right)
            && let Some(equal) = self.at_once(left, right, def_region, field_name)?
        {
            self.failed = None;
            return Ok(equal);
        }
        let state = &mut *self.state;
        keep_alive(left, &mut |node| state.keep(Value::Node(node.to_owned())));
        keep_alive(right, &mut |node| state.keep(Value::Node(node.to_owned())));
        let region = self.region_of(def_region);
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

impl EqualCx<'_> {
    fn region_of(&self, def_region: bool) -> Region {
        if def_region { self.region.of_field(Role::Def) } else { self.region }
    }

    /// Whether two nodes are equal, where that can be told without a walk: those with a hook of their own before any variable was
    /// met, and those that hold nothing but scalars.
    fn at_once(
        &mut self,
        left: NodeRef<'_>,
        right: NodeRef<'_>,
        def_region: bool,
        field_name: &str,
    ) -> Result<Option<bool>, Error> {
        const OTHERS: Facts = Facts::VAR.and(Facts::DAG).and(Facts::UNCOMPARABLE);
        let (info, facts) = (left.info(), left.facts().and(right.facts()));
        if self.mode.ordered() || facts.any(OTHERS) || !std::ptr::eq(info, right.info()) {
            return Ok(None);
        }
        let Some(hooks) = info.hooks() else {
            let plain = facts.is_none() && matches!(info.kind(), Kind::Tree | Kind::ConstTree);
            let skip = self.state.options.skip_tensor_content;
            return Ok(if plain { flat_equal(left, right, skip) } else { None });
        };
        if info.kind() != Kind::Tree || info.is_scope() || !self.state.is_blank() {
            return Ok(None);
        }
        let ids = (left.id(), right.id());
        if self.state.times_unequal(ids.0, ids.1) > 0 {
            return Ok(Some(false));
        }
        if self.state.is_equal(ids.0, ids.1) {
            return Ok(Some(true));
        }
        self.state.keep(Value::Node(left.to_owned()));
        self.state.keep(Value::Node(right.to_owned()));
        let (mark, region) = (self.state.mark(), self.region_of(def_region));
        self.state.enter_hook();
        let mut cx = EqualCx { state: &mut *self.state, mode: self.mode, region, failed: None };
        let result = grow(|| hooks.equal(left, right, &mut cx));
        self.state.leave_hook();
        match result {
            Ok(true) => {
                if self.state.is_blank() {
                    self.state.note_equal(ids.0, ids.1);
                }
            }
            Ok(false) => {
                self.state.roll_back(mark);
                self.state.note_unequal(ids.0, ids.1);
            }
            Err(error) => {
                self.state.roll_back(mark);
                return Err(error.within(Path::from(Step::Field(field_name.into()))));
            }
        }
        result.map(Some)
    }
}

/// Whether two nodes of one type with few fields, all of them scalars, are equal; nothing if they are not such nodes.
fn flat_equal(left: NodeRef<'_>, right: NodeRef<'_>, skip_tensor_content: bool) -> Option<bool> {
    const FEW: usize = 8;
    let fields = left.info().fields();
    if left.info().layout() != Layout::Record || fields.len() > FEW {
        return None;
    }
    let mut equal = true;
    for (index, field) in fields.iter().enumerate() {
        if field.role != Role::Ignore {
            let (left, right) = (left.child(index), right.child(index));
            if matches!(left, View::Node(_) | View::List(_)) {
                return None;
            }
            equal &= scalars::equal(&left, &right, skip_tensor_content)?;
        }
    }
    Some(equal)
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
