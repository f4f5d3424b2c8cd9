//! The ordered comparison: visits every child from the first to the last, records bindings, runs hooks and
//! collects differences.

use super::compare_frames::{CompareFrame, CompareOnClose, as_sequence};
use super::compare_state::{CompareState, DagPairing, KnownEquality, Side};
use super::hook_context::EqualCx;
use super::pending::PendingComparisons;
use super::scopes::Dependencies;
use super::{BindingRegion, fast_equal, scalars};
use crate::child_cursor::ChildOwner;
use crate::error::Error;
use crate::kind::{Facts, FieldRole, NodeKind};
use crate::path::{NodePath, PathStep};
use crate::reference::NodeRef;
use crate::type_info::{ChildLayout, TypeInfo};
use crate::values::Value;
use crate::view::View;

/// The reason why two values differ, in terms of the engine.
#[derive(Clone, Debug)]
pub(crate) enum DifferenceCause {
    Type,
    Value,
    Length,
    Missing,
    /// A variable is bound to another one: the number of the binding, or `None` for two free variables.
    Binding(Option<usize>),
    Sharing,
    /// A hook returned false: because this part differs, or for a reason of its own.
    Hook(Option<Box<EngineDifference>>),
}

/// A difference of two graphs as the engine finds it. [`crate::Mismatch`] is its public form.
#[derive(Clone, Debug)]
pub(crate) struct EngineDifference {
    pub(crate) paths: [NodePath; 2],
    pub(crate) cause: DifferenceCause,
    /// The values that differ; `None` on the side where one is missing.
    pub(crate) shown: [Option<Value>; 2],
}

/// The results that a comparison collects beyond yes or no.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CompareMode {
    /// The number of differences to collect; the walk continues until it has found them.
    pub(crate) differences: usize,
    /// Record the sites of the bindings whose numbers the state lists.
    pub(crate) locate: bool,
    /// Never use the fast path for nodes that hold variables.
    pub(crate) thorough: bool,
}

impl CompareMode {
    /// Returns whether children must be visited in field order, to collect differences or binding sites.
    pub(super) fn needs_field_order(self) -> bool {
        self.differences > 0 || self.locate
    }
}

/// The ordered comparison of two values.
pub(crate) struct OrderedComparison<'s, 'a> {
    pub(super) state: &'s mut CompareState,
    pub(super) mode: CompareMode,
    pub(super) frames: Vec<CompareFrame<'a>>,
    pending: PendingComparisons<'a>,
    pub(crate) found: Vec<EngineDifference>,
    /// Pairs that differ and were reported already.
    reported: hashbrown::HashSet<(usize, usize), rustc_hash::FxBuildHasher>,
}

/// The outcome of comparing one pair, before its children.
pub(super) enum PairOutcome {
    Equal,
    Differ(DifferenceCause),
    /// A frame was pushed; the children decide.
    Opened,
    /// Known to differ, and already reported.
    Reported,
}

impl<'s, 'a> OrderedComparison<'s, 'a> {
    pub(crate) fn new(state: &'s mut CompareState, mode: CompareMode) -> Self {
        let reported = hashbrown::HashSet::default();
        Self {
            state,
            mode,
            frames: Vec::new(),
            pending: PendingComparisons::default(),
            found: Vec::new(),
            reported,
        }
    }

    /// Returns whether two values are equal. Collects differences, up to the wanted number, in `found`.
    pub(crate) fn run(
        &mut self,
        left: View<'a>,
        right: View<'a>,
        region: BindingRegion,
    ) -> Result<bool, Error> {
        let outcome = self.compare_views(left, right, region)?;
        self.finish(outcome, [Some(left), Some(right)])
    }

    /// Returns whether all children of two nodes of one type are equal. `below_shared` tells whether a node
    /// above them has more than one owner.
    pub(super) fn run_on_children(
        &mut self,
        (left, right): (NodeRef<'a>, NodeRef<'a>),
        region: BindingRegion,
        below_shared: bool,
    ) -> Result<bool, Error> {
        let outcome =
            self.open_frame(left, right, region, CompareOnClose::Nothing, below_shared)?;
        self.finish(outcome, [Some(View::Node(left)), Some(View::Node(right))])
    }

    /// Continues after the outcome of the first pair, until all frames are closed.
    fn finish(
        &mut self,
        outcome: PairOutcome,
        views: [Option<View<'a>>; 2],
    ) -> Result<bool, Error> {
        let mut equal = !self.record_outcome(outcome, views);
        while let Some(top) = self.frames.last_mut() {
            if !equal && self.found.len() >= self.mode.differences {
                self.record_open_pairs_unequal();
                return Ok(false);
            }
            if top.next == top.len {
                equal &= self.close_frame()?;
                continue;
            }
            let index = top.next;
            if let Some(matching) = &top.matching
                && matching.begins_deferred(index)
            {
                self.check_deferred()?;
                continue;
            }
            top.next += 1;
            let region = match top.left.role(index) {
                FieldRole::Ignore => continue,
                role => top.region.of_field(role),
            };
            let left = top.child(Side::Left, index);
            let right = top.child(Side::Right, index);
            let outcome = self.compare_views(left, right, region)?;
            equal &= !self.record_outcome(outcome, [Some(left), Some(right)]);
        }
        Ok(equal)
    }

    fn compare_views(
        &mut self,
        left: View<'a>,
        right: View<'a>,
        region: BindingRegion,
    ) -> Result<PairOutcome, Error> {
        if let (View::Node(left), View::Node(right)) = (&left, &right) {
            return self.compare_nodes(*left, *right, region);
        }
        // An uncomparable node is an error, whatever it is compared with.
        for view in [&left, &right] {
            if let View::Node(node) = view {
                self.check_comparable(node.info())?;
            }
        }
        if let Some(equal) = scalars::equal(&left, &right, self.state.options.skip_tensor_content) {
            let cause = if left.sort_name() == right.sort_name() {
                DifferenceCause::Value
            } else {
                DifferenceCause::Type
            };
            return Ok(if equal { PairOutcome::Equal } else { PairOutcome::Differ(cause) });
        }
        match (as_sequence(&left), as_sequence(&right)) {
            (Some(left), Some(right)) => {
                Ok(self.open_sequence(left, right, region, CompareOnClose::Nothing, false))
            }
            _ => Ok(PairOutcome::Differ(DifferenceCause::Type)),
        }
    }

    fn compare_nodes(
        &mut self,
        left: NodeRef<'a>,
        right: NodeRef<'a>,
        region: BindingRegion,
    ) -> Result<PairOutcome, Error> {
        let info = left.info();
        if !std::ptr::eq(info, right.info()) {
            self.check_comparable(info)?;
            self.check_comparable(right.info())?;
            return Ok(PairOutcome::Differ(DifferenceCause::Type));
        }
        if info.kind() == NodeKind::Var {
            return self.compare_variables(left, right, region);
        }
        if info.kind() == NodeKind::Singleton {
            let same = left.id() == right.id();
            return Ok(if same {
                PairOutcome::Equal
            } else {
                PairOutcome::Differ(DifferenceCause::Value)
            });
        }
        self.check_comparable(info)?;
        let (left_id, right_id) = (left.id(), right.id());
        let facts = left.facts().union(right.facts());
        if info.kind() == NodeKind::ConstTree {
            check_no_variables(info, facts)
                .map_err(|error| error.with_outer_path(self.path(Side::Left)))?;
        }
        if left_id == right_id
            && (facts.is_none()
                || info.kind() == NodeKind::ConstTree && !facts.any(Facts::UNCOMPARABLE))
        {
            return Ok(PairOutcome::Equal);
        }
        let shared = left.is_shared() || right.is_shared();
        // Where differences are collected, a second visit finds the difference again.
        let looks = if self.mode.needs_field_order() { 2 } else { 1 };
        if self.state.in_hook() && self.state.unequal_count(left_id, right_id) >= looks {
            return Ok(PairOutcome::Differ(DifferenceCause::Hook(None)));
        }
        if !self.mode.needs_field_order() && self.allows_fast_path(info, facts) {
            let mut pending = std::mem::take(&mut self.pending);
            let below_shared = self.below_shared();
            let equal =
                fast_equal::equal(self.state, (left, right), region, below_shared, &mut pending);
            self.pending = pending;
            let equal = equal.map_err(|error| error.with_outer_path(self.path(Side::Left)))?;
            return Ok(if equal {
                PairOutcome::Equal
            } else {
                PairOutcome::Differ(DifferenceCause::Value)
            });
        }
        match info.kind() {
            NodeKind::Dag => match self.state.dag_pairing(left_id, right_id) {
                DagPairing::EachOther => Ok(PairOutcome::Equal),
                DagPairing::Others => Ok(PairOutcome::Differ(DifferenceCause::Sharing)),
                _ if self.reported.contains(&(left_id, right_id)) => Ok(PairOutcome::Reported),
                DagPairing::None | DagPairing::EachOtherStale => {
                    let shared = shared || self.below_shared();
                    let on_close =
                        if shared { CompareOnClose::Pair } else { CompareOnClose::Nothing };
                    self.open_frame(left, right, region, on_close, shared)
                }
            },
            NodeKind::Tree
            | NodeKind::ConstTree
            | NodeKind::Var
            | NodeKind::Singleton
            | NodeKind::Uncomparable => {
                if !shared {
                    let shared = self.below_shared();
                    return self.open_frame(left, right, region, CompareOnClose::Nothing, shared);
                }
                let on_close = match self.state.known_equality(left_id, right_id) {
                    KnownEquality::Equal => return Ok(PairOutcome::Equal),
                    _ if self.reported.contains(&(left_id, right_id)) => {
                        return Ok(PairOutcome::Reported);
                    }
                    KnownEquality::Unknown => CompareOnClose::Join,
                    KnownEquality::OtherContext => CompareOnClose::JoinFresh,
                };
                self.open_frame(left, right, region, on_close, true)
            }
        }
    }

    /// Returns whether the fast path can compare two nodes. Its bindings cannot be rolled back, so it is not
    /// used for variables below a hook.
    fn allows_fast_path(&self, info: &TypeInfo, facts: Facts) -> bool {
        let in_order = info.layout().is_keyed() || self.mode.thorough || self.state.in_hook();
        let others = Facts::HOOK.union(Facts::UNCOMPARABLE);
        !facts.any(if in_order { others.union(Facts::VAR) } else { others })
    }

    /// Opens a frame for the children of two nodes of one type.
    pub(super) fn open_frame(
        &mut self,
        left: NodeRef<'a>,
        right: NodeRef<'a>,
        region: BindingRegion,
        on_close: CompareOnClose,
        shared: bool,
    ) -> Result<PairOutcome, Error> {
        let info = left.info();
        let region = region.inside(info);
        let frame = CompareFrame {
            left: ChildOwner::Node(left),
            right: ChildOwner::Node(right),
            next: 0,
            len: 0,
            region,
            shared,
            scope: info.is_scope(),
            tracked: info.is_scope()
                || matches!(
                    on_close,
                    CompareOnClose::Join | CompareOnClose::JoinFresh | CompareOnClose::Pair
                ),
            differs: false,
            hidden: false,
            on_close,
            epoch: self.state.epoch(),
            matching: None,
            end_cause: None,
        };
        if let Some(hooks) = info.hooks() {
            self.enter_frame(&frame);
            self.state.enter_hook();
            self.enter_nested();
            let mut cx = EqualCx { state: &mut *self.state, mode: self.mode, region, failed: None };
            let result = hooks.equal(left, right, &mut cx);
            let failed = cx.failed.take();
            self.leave_nested();
            self.state.leave_hook();
            return match result {
                Ok(true) => {
                    self.frames.push(frame);
                    Ok(PairOutcome::Opened)
                }
                Ok(false) => {
                    self.leave_frame(&frame);
                    if self.state.in_hook() && are_context_free(left.facts(), right.facts()) {
                        self.state.record_unequal(left.id(), right.id());
                    }
                    Ok(PairOutcome::Differ(DifferenceCause::Hook(failed)))
                }
                Err(error) => Err(error.with_outer_path(self.path(Side::Left))),
            };
        }
        match info.layout() {
            ChildLayout::Record => {
                let frame = CompareFrame { len: info.fields().len(), ..frame };
                self.enter_frame(&frame);
                self.frames.push(frame);
                Ok(PairOutcome::Opened)
            }
            ChildLayout::List => Ok(self.open_sequence(
                ChildOwner::Node(left),
                ChildOwner::Node(right),
                region,
                on_close,
                info.is_scope(),
            )),
            ChildLayout::Map | ChildLayout::Set => {
                if !self.mode.needs_field_order() && left.len() != right.len() {
                    return Ok(PairOutcome::Differ(DifferenceCause::Length));
                }
                self.enter_frame(&frame);
                let matching = self.match_entries(left, right)?;
                let end_cause = (!matching.missing.is_empty()).then_some(DifferenceCause::Missing);
                if end_cause.is_some() && !self.mode.needs_field_order() {
                    self.leave_frame(&frame);
                    return Ok(PairOutcome::Differ(DifferenceCause::Missing));
                }
                // The keys are compared by now; a set has nothing else.
                let len = if info.layout() == ChildLayout::Map { matching.pairs.len() } else { 0 };
                let frame =
                    CompareFrame { len, end_cause, matching: Some(Box::new(matching)), ..frame };
                self.frames.push(frame);
                Ok(PairOutcome::Opened)
            }
        }
    }

    fn open_sequence(
        &mut self,
        left: ChildOwner<'a>,
        right: ChildOwner<'a>,
        region: BindingRegion,
        on_close: CompareOnClose,
        scope: bool,
    ) -> PairOutcome {
        let (left_len, right_len) = (left.len(), right.len());
        let end_cause = (left_len != right_len).then_some(DifferenceCause::Length);
        if end_cause.is_some() && !self.mode.needs_field_order() {
            return PairOutcome::Differ(DifferenceCause::Length);
        }
        // A long list of parameters. Reserving is safe, since the list itself takes as much memory.
        if region.binds_in_scope() && left_len > 1000 {
            self.state.reserve(left_len.min(right_len));
        }
        let frame = CompareFrame {
            left,
            right,
            next: 0,
            len: left_len.min(right_len),
            region,
            shared: self.below_shared() || on_close != CompareOnClose::Nothing,
            scope,
            tracked: scope || on_close != CompareOnClose::Nothing,
            differs: false,
            hidden: false,
            on_close,
            epoch: self.state.epoch(),
            matching: None,
            end_cause,
        };
        self.enter_frame(&frame);
        self.frames.push(frame);
        PairOutcome::Opened
    }

    fn enter_frame(&mut self, frame: &CompareFrame<'a>) {
        if frame.tracked {
            self.state.scopes.track();
        }
        if frame.scope {
            self.state.scopes.enter();
        }
    }

    fn leave_frame(&mut self, frame: &CompareFrame<'a>) -> Dependencies {
        if frame.scope {
            self.state.scopes.leave();
        }
        let wanted = frame.on_close != CompareOnClose::Nothing;
        if frame.tracked { self.state.scopes.untrack(wanted) } else { Dependencies::default() }
    }

    /// Closes the innermost frame once all its children were visited. Returns whether it is equal.
    fn close_frame(&mut self) -> Result<bool, Error> {
        if let Some(top) = self.frames.last_mut()
            && let Some(cause) = top.end_cause.take()
        {
            for missing in top.missing() {
                let Some(top) = self.frames.last() else { break };
                let views = [Side::Left, Side::Right].map(|side| top.end_child(side, missing));
                let step = top.end_step(missing);
                self.report(cause.clone(), views, Some(&step));
            }
        }
        let Some(frame) = self.frames.pop() else { return Ok(true) };
        let dependencies = self.leave_frame(&frame);
        let ids = match (frame.left, frame.right) {
            (ChildOwner::Node(left), ChildOwner::Node(right)) => Some((left, right)),
            _ => None,
        };
        if let Some((left, right)) = ids {
            let (left_id, right_id) = (left.id(), right.id());
            match frame.on_close {
                // Also when their fields differ, so that not every use is reported again.
                CompareOnClose::Bind => self.bind(left, right, frame.region, frame.hidden),
                CompareOnClose::Join | CompareOnClose::JoinFresh | CompareOnClose::Pair
                    if frame.differs =>
                {
                    self.reported.insert((left_id, right_id));
                }
                CompareOnClose::Join | CompareOnClose::JoinFresh
                    if frame.epoch != self.state.epoch() => {}
                CompareOnClose::Join | CompareOnClose::JoinFresh => {
                    let fresh = frame.on_close == CompareOnClose::JoinFresh;
                    self.state.join(left_id, right_id, &dependencies, fresh);
                }
                CompareOnClose::Pair => self.state.pair_dag(left_id, right_id, &dependencies),
                CompareOnClose::Nothing => {}
            }
        }
        if frame.differs
            && let Some(outer) = self.frames.last_mut()
        {
            outer.differs = true;
        }
        Ok(!frame.differs)
    }

    /// Records that the open pairs differ, so that a hook does not compare them again and again. Only pairs
    /// without variables and dag nodes are recorded: they differ in every context.
    fn record_open_pairs_unequal(&mut self) {
        if !self.state.in_hook() {
            return;
        }
        for frame in &self.frames {
            if let (ChildOwner::Node(left), ChildOwner::Node(right)) = (frame.left, frame.right)
                && are_context_free(left.facts(), right.facts())
            {
                self.state.record_unequal(left.id(), right.id());
            }
        }
    }

    /// Records the outcome of the last visited child. Returns whether it is a difference.
    fn record_outcome(&mut self, outcome: PairOutcome, views: [Option<View<'a>>; 2]) -> bool {
        match outcome {
            PairOutcome::Equal | PairOutcome::Opened => return false,
            PairOutcome::Reported => {}
            PairOutcome::Differ(cause) => self.report(cause, views, None),
        }
        if let Some(top) = self.frames.last_mut() {
            top.differs = true;
        }
        true
    }

    fn report(
        &mut self,
        cause: DifferenceCause,
        views: [Option<View<'a>>; 2],
        last: Option<&PathStep>,
    ) {
        if let Some(top) = self.frames.last_mut() {
            top.differs = true;
        }
        if self.found.len() >= self.mode.differences {
            return;
        }
        let paths = [Side::Left, Side::Right].map(|side| match last {
            // `last` leads to the missing part; the frame's own last child was equal.
            Some(step) => {
                let outer = self.frames.len() - 1;
                self.steps(side, outer).chain([step.clone()]).collect()
            }
            None => self.path(side),
        });
        if let DifferenceCause::Hook(Some(inner)) = cause {
            let mut found = *inner;
            for (tail, path) in found.paths.iter_mut().zip(paths) {
                tail.prepend(path);
            }
            self.found.push(found);
            return;
        }
        let shown = views.map(|view| view.map(Value::of));
        self.found.push(EngineDifference { paths, cause, shown });
    }

    /// Returns the path of the current pair on one side.
    pub(super) fn path(&self, side: Side) -> NodePath {
        self.steps(side, self.frames.len()).collect()
    }

    pub(super) fn steps(&self, side: Side, frames: usize) -> impl Iterator<Item = PathStep> {
        self.frames[..frames].iter().filter_map(move |frame| frame.step(side))
    }

    pub(super) fn below_shared(&self) -> bool {
        self.state.in_hook() || self.frames.last().is_some_and(|top| top.shared)
    }

    /// Enters a nested comparison, whose paths are relative to the current one.
    pub(super) fn enter_nested(&mut self) {
        if self.mode.locate {
            let path = self.path(Side::Left);
            self.state.outer_paths.push(path);
        }
    }

    pub(super) fn leave_nested(&mut self) {
        if self.mode.locate {
            self.state.outer_paths.pop();
        }
    }

    fn check_comparable(&self, info: &TypeInfo) -> Result<(), Error> {
        if info.kind() == NodeKind::Uncomparable {
            let path = self.path(Side::Left);
            return Err(Error::Uncomparable { key: info.key(), path });
        }
        Ok(())
    }
}

/// Returns whether the equality of two nodes does not depend on the context around them.
fn are_context_free(left: Facts, right: Facts) -> bool {
    !left.union(right).any(Facts::VAR.union(Facts::DAG))
}

/// Returns an error if a type that promises to hold no variables and dag nodes holds one.
pub(crate) fn check_no_variables(info: &TypeInfo, facts: Facts) -> Result<(), Error> {
    let held = if facts.any(Facts::VAR) {
        "a variable"
    } else if facts.any(Facts::DAG) {
        "a dag node"
    } else {
        return Ok(());
    };
    let (key, kind) = (info.key(), info.kind().name());
    Err(Error::NotConstant { key, kind, held, path: NodePath::root() })
}
