//! The contexts that hooks receive: their way back into the engine.

use super::compare_state::CompareState;
use super::ordered_equal::{CompareMode, EngineDifference, OrderedComparison};
use super::{BindingRegion, scalars};
use crate::error::Error;
use crate::kind::{Facts, FieldRole, NodeKind};
use crate::path::{NodePath, PathStep};
use crate::reference::NodeRef;
use crate::type_info::ChildLayout;
use crate::values::Value;
use crate::view::View;

/// The context with which an equality hook compares its parts.
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
    pub(super) state: &'s mut CompareState,
    pub(super) mode: CompareMode,
    pub(super) region: BindingRegion,
    /// The last part that differed.
    pub(super) failed: Option<Box<EngineDifference>>,
}

impl EqualCx<'_> {
    /// Compares two parts. With `def_region`, variables that first occur in them are bound, as in a def field;
    /// without, they are compared like an ordinary field. If the parts differ, or the comparison fails, all
    /// bindings made on the way are rolled back. `field_name` is the step to the part in the path of a
    /// mismatch.
    ///
    /// # Errors
    /// As [`crate::equal`].
    pub fn equal<'a>(
        &mut self,
        left: impl Into<View<'a>>,
        right: impl Into<View<'a>>,
        def_region: bool,
        field_name: &str,
    ) -> Result<bool, Error> {
        self.equal_views(left.into(), right.into(), def_region, field_name)
    }

    fn equal_views(
        &mut self,
        left: View<'_>,
        right: View<'_>,
        def_region: bool,
        field_name: &str,
    ) -> Result<bool, Error> {
        if let (View::Node(left), View::Node(right)) = (left, right)
            && let Some(equal) = self.equal_without_walk(left, right, def_region, field_name)?
        {
            self.failed = None;
            return Ok(equal);
        }
        let state = &mut *self.state;
        for_each_top_node(left, &mut |node| state.keep_alive(Value::Node(node.to_owned())));
        for_each_top_node(right, &mut |node| state.keep_alive(Value::Node(node.to_owned())));
        let region = self.part_region(def_region);
        let step = || NodePath::from(PathStep::Field(field_name.into()));
        let snapshot = self.state.snapshot();
        let mode = CompareMode { differences: self.mode.differences.min(1), ..self.mode };
        if mode.locate {
            self.state.outer_paths.push(step());
        }
        let mut comparison = OrderedComparison::new(self.state, mode);
        let result = with_enough_stack(|| comparison.run(left, right, region));
        let found = comparison.found.pop();
        if mode.locate {
            self.state.outer_paths.pop();
        }
        match result {
            Ok(true) => {
                self.failed = None;
                Ok(true)
            }
            Ok(false) => {
                self.state.roll_back(snapshot);
                self.failed = found.map(|mut difference| {
                    difference.paths.iter_mut().for_each(|path| path.prepend(step()));
                    Box::new(difference)
                });
                Ok(false)
            }
            Err(error) => {
                self.state.roll_back(snapshot);
                Err(error.with_outer_path(step()))
            }
        }
    }
}

impl EqualCx<'_> {
    fn part_region(&self, def_region: bool) -> BindingRegion {
        if def_region { self.region.of_field(FieldRole::Def) } else { self.region }
    }

    /// Compares two nodes without a walk, if possible: nodes with a hook before any variable was visited, and
    /// nodes that hold only scalars. Returns `None` if a walk is needed.
    fn equal_without_walk(
        &mut self,
        left: NodeRef<'_>,
        right: NodeRef<'_>,
        def_region: bool,
        field_name: &str,
    ) -> Result<Option<bool>, Error> {
        const CONTEXT_FACTS: Facts = Facts::VAR.union(Facts::DAG).union(Facts::UNCOMPARABLE);
        let (info, facts) = (left.info(), left.facts().union(right.facts()));
        if self.mode.needs_field_order()
            || facts.any(CONTEXT_FACTS)
            || !std::ptr::eq(info, right.info())
        {
            return Ok(None);
        }
        let Some(hooks) = info.hooks() else {
            let plain =
                facts.is_none() && matches!(info.kind(), NodeKind::Tree | NodeKind::ConstTree);
            let skip = self.state.options.skip_tensor_content;
            return Ok(if plain { equal_scalar_fields(left, right, skip) } else { None });
        };
        if info.kind() != NodeKind::Tree || info.is_scope() || !self.state.has_no_context() {
            return Ok(None);
        }
        let ids = (left.id(), right.id());
        if self.state.unequal_count(ids.0, ids.1) > 0 {
            return Ok(Some(false));
        }
        if self.state.is_recorded_equal(ids.0, ids.1) {
            return Ok(Some(true));
        }
        self.state.keep_alive(Value::Node(left.to_owned()));
        self.state.keep_alive(Value::Node(right.to_owned()));
        let (snapshot, region) = (self.state.snapshot(), self.part_region(def_region));
        self.state.enter_hook();
        let mut cx = EqualCx { state: &mut *self.state, mode: self.mode, region, failed: None };
        let result = with_enough_stack(|| hooks.equal(left, right, &mut cx));
        self.state.leave_hook();
        match result {
            Ok(true) => {
                if self.state.has_no_context() {
                    self.state.record_equal(ids.0, ids.1);
                }
            }
            Ok(false) => {
                self.state.roll_back(snapshot);
                self.state.record_unequal(ids.0, ids.1);
            }
            Err(error) => {
                self.state.roll_back(snapshot);
                return Err(
                    error.with_outer_path(NodePath::from(PathStep::Field(field_name.into())))
                );
            }
        }
        result.map(Some)
    }
}

/// Compares two nodes of one type with few fields, all of them scalars. Returns `None` for other nodes.
fn equal_scalar_fields(
    left: NodeRef<'_>,
    right: NodeRef<'_>,
    skip_tensor_content: bool,
) -> Option<bool> {
    const MAX_FIELDS: usize = 8;
    let fields = left.info().fields();
    if left.info().layout() != ChildLayout::Record || fields.len() > MAX_FIELDS {
        return None;
    }
    let mut equal = true;
    for (index, field) in fields.iter().enumerate() {
        if field.role != FieldRole::Ignore {
            let (left, right) = (left.child(index), right.child(index));
            if matches!(left, View::Node(_) | View::List(_)) {
                return None;
            }
            equal &= scalars::equal(&left, &right, skip_tensor_content)?;
        }
    }
    Some(equal)
}

/// Calls `visit` with the nodes at the top of `view`.
pub(super) fn for_each_top_node(view: View<'_>, visit: &mut impl FnMut(NodeRef<'_>)) {
    match view {
        View::Node(node) => visit(node),
        View::List(list) => (0..list.len()).for_each(|i| for_each_top_node(list.item(i), visit)),
        _ => {}
    }
}

/// Runs `f` with enough machine stack: hooks call back into the engine to any depth.
pub(super) fn with_enough_stack<R>(f: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(128 * 1024, 4 * 1024 * 1024, f)
}
