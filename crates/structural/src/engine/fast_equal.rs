//! The fast path of equality: answers yes or no, for graphs without hooks and uncomparable nodes.
//!
//! Below a node that holds variables, children are visited from the first to the last, as in the ordered
//! comparison (`ordered_equal.rs`), and both share one [`CompareState`]. The walk calls itself up to
//! [`MAX_COMPARE_RECURSION`] levels deep. Deeper pairs are deferred, together with everything that follows them, in
//! order. Below a node without variables the order of visits is free: children are pushed on the same stack and
//! the last is visited first, which walks memory in the order in which bottom-up construction allocated it.
//!
//! This walk keeps no path. Whenever more than yes or no is needed, such as the place of an error, the ordered
//! comparison runs instead.

use super::BindingRegion;
use super::compare_frames::as_sequence;
use super::compare_state::{CompareState, DagPairing, KnownEquality, Side};
use super::hook_context::with_enough_stack;
use super::ordered_equal::{CompareMode, OrderedComparison, check_no_variables};
use super::pending::{CompareTask, CompareTaskKind, ListPair, PendingComparisons};
use super::scalars;
use super::scopes::Dependencies;
use crate::child_cursor::ChildOwner;
use crate::error::Error;
use crate::kind::{Facts, FieldRole, NodeKind};
use crate::path::NodePath;
use crate::reference::NodeRef;
use crate::type_info::{ChildLayout, TypeInfo};
use crate::view::View;

/// The number of levels that the walk recurses before it defers pairs.
const MAX_COMPARE_RECURSION: u32 = 32;

/// The number of list elements that are deferred one by one. A longer rest is deferred as a list.
const MAX_ELEMENTS_DEFERRED_SINGLY: usize = 8;

/// The number of elements by which prefetching is ahead of a walk along a list.
pub(crate) const PREFETCH_DISTANCE: usize = 6;

/// Compares two nodes for equality.
///
/// Below a node without variables, pairs of shared nodes are joined, and dag nodes paired, at their first
/// visit, before they are known to be equal. If they differ, the whole comparison fails (below a hook, it is
/// rolled back). `below_shared` tells whether a node above has more than one owner; only then, or if it has
/// several itself, can a dag node be visited again. `pending` is memory that calls share.
///
/// # Errors
/// If a type that promises to hold no variables or dag nodes holds one, or a scope shadows a variable. The path
/// of the error is not known; the ordered comparison finds it.
pub(super) fn equal<'a>(
    state: &mut CompareState,
    pair: (NodeRef<'a>, NodeRef<'a>),
    region: BindingRegion,
    below_shared: bool,
    pending: &mut PendingComparisons<'a>,
) -> Result<bool, Error> {
    let mut comparer = FieldComparer {
        state: std::mem::replace(state, CompareState::placeholder()),
        pending: std::mem::take(pending),
        floor: 0,
        recursion_depth: 0,
        region,
        below_shared,
        ordered: true,
        pure_trees: false,
        parents: pair,
        failed: None,
    };
    let equal = comparer.compare_nodes(pair.0, pair.1) && comparer.run();
    *state = comparer.state;
    *pending = comparer.pending;
    pending.clear();
    match comparer.failed {
        Some(error) => Err(error),
        None => Ok(equal),
    }
}

/// Compares the fields of two nodes pairwise and in order: scalars at once, nodes at once or deferred. See
/// [`crate::Field::compare`].
pub struct FieldComparer<'a> {
    state: CompareState,
    pending: PendingComparisons<'a>,
    /// Tasks beyond this index are in the order in which they must run, not yet reversed into stack order.
    floor: usize,
    recursion_depth: u32,
    /// The region of the children that are being compared.
    region: BindingRegion,
    below_shared: bool,
    /// True if children must be visited from the first to the last.
    ordered: bool,
    /// True if the nodes are pure trees: no variables, dag nodes, hooks or uncomparable nodes. Then the order
    /// of visits is free.
    pure_trees: bool,
    /// The nodes whose children are being compared.
    parents: (NodeRef<'a>, NodeRef<'a>),
    failed: Option<Error>,
}

impl<'a> FieldComparer<'a> {
    /// Compares two nodes, now or later. Returns false if they are known to differ.
    #[inline]
    pub fn compare_nodes(&mut self, left: NodeRef<'a>, right: NodeRef<'a>) -> bool {
        if left.id() == right.id() && left.facts().is_none() {
            return true;
        }
        if !self.pure_trees {
            return self.compare_nodes_slow(left, right);
        }
        if self.pending.pure_tree_pairs.len() == self.pending.pure_tree_pairs.capacity() {
            return self.push_pair_and_grow(left, right);
        }
        self.pending.pure_tree_pairs.push((left, right));
        true
    }

    /// Pushes a pair when the worklist must grow. Out of line, so that the common path saves no registers.
    #[cold]
    #[inline(never)]
    fn push_pair_and_grow(&mut self, left: NodeRef<'a>, right: NodeRef<'a>) -> bool {
        self.pending.pure_tree_pairs.push((left, right));
        true
    }

    /// Compares two nodes that may hold variables or dag nodes.
    #[inline(never)]
    fn compare_nodes_slow(&mut self, left: NodeRef<'a>, right: NodeRef<'a>) -> bool {
        if self.ordered && self.recursion_depth < MAX_COMPARE_RECURSION && !self.is_deferring() {
            return self.visit(left, right);
        }
        self.defer_visit(left, right)
    }

    #[inline(never)]
    fn defer_visit(&mut self, left: NodeRef<'a>, right: NodeRef<'a>) -> bool {
        self.defer(left, right, CompareTaskKind::Visit);
        true
    }

    /// Runs `compare` for two def fields, in a def region.
    #[inline]
    pub fn with_def_region(&mut self, compare: impl FnOnce(&mut Self) -> bool) -> bool {
        let outer = self.region;
        self.region = outer.of_field(FieldRole::Def);
        let equal = compare(self);
        self.region = outer;
        equal
    }

    /// Compares two values. Returns true if they are equal or their nodes are deferred.
    #[inline]
    pub fn compare_values(&mut self, left: &View<'a>, right: &View<'a>) -> bool {
        if let (View::Node(left), View::Node(right)) = (left, right) {
            return self.compare_nodes(*left, *right);
        }
        self.compare_non_nodes(left, right)
    }

    /// Compares two values of a field with the given role.
    #[inline]
    pub fn compare_field(&mut self, role: FieldRole, left: &View<'a>, right: &View<'a>) -> bool {
        match role {
            FieldRole::Ignore => true,
            FieldRole::Usual => self.compare_values(left, right),
            FieldRole::Def => self.with_def_region(|comparer| comparer.compare_values(left, right)),
        }
    }

    /// Returns whether the remaining `rest` elements of a list must be deferred, by
    /// [`FieldComparer::compare_rest`].
    #[inline]
    pub(crate) fn defers_rest(&self, rest: usize) -> bool {
        rest > MAX_ELEMENTS_DEFERRED_SINGLY && self.ordered && self.is_deferring()
    }

    /// Returns whether prefetching the elements of a list pays.
    #[inline]
    pub(crate) fn prefetches(&self) -> bool {
        self.ordered
    }

    /// Prefetches an element of a list that will soon be visited.
    #[inline]
    pub(crate) fn prefetch(&self, value: &View<'a>) {
        if let View::Node(node) = value {
            node.prefetch();
        }
    }

    /// Compares two sequences from index `next` on.
    #[inline(never)]
    pub(crate) fn compare_rest(&mut self, left: &View<'a>, right: &View<'a>, next: usize) -> bool {
        // A sequence with identity equals one without. Lists nest as deep as Rust types do.
        match (as_sequence(left), as_sequence(right)) {
            (Some(left), Some(right)) => {
                let len = left.len();
                len == right.len() && self.compare_lists(ListPair { left, right, next, len })
            }
            _ => false,
        }
    }

    #[inline(never)]
    fn compare_non_nodes(&mut self, left: &View<'a>, right: &View<'a>) -> bool {
        let skip = self.state.options.skip_tensor_content;
        scalars::equal(left, right, skip).unwrap_or_else(|| self.compare_rest(left, right, 0))
    }

    fn compare_lists(&mut self, mut lists: ListPair<'a>) -> bool {
        while lists.next < lists.len {
            if self.defers_rest(lists.len - lists.next) {
                self.pending.lists.push(lists);
                self.defer(self.parents.0, self.parents.1, CompareTaskKind::List);
                return true;
            }
            let index = lists.next;
            lists.next += 1;
            if self.ordered && index + PREFETCH_DISTANCE < lists.len {
                self.prefetch(&lists.left.child(index + PREFETCH_DISTANCE));
                self.prefetch(&lists.right.child(index + PREFETCH_DISTANCE));
            }
            if !self.compare_values(&lists.left.child(index), &lists.right.child(index)) {
                return false;
            }
        }
        true
    }

    #[inline(never)]
    fn compare_containers(&mut self, left: NodeRef<'a>, right: NodeRef<'a>) -> bool {
        let len = left.len();
        if len != right.len() {
            return false;
        }
        let entries = match left.info().layout() {
            ChildLayout::Map => len / 2,
            ChildLayout::Set => len,
            ChildLayout::Record | ChildLayout::List => 0,
        };
        let (left_all, right_all) = (ChildOwner::Node(left), ChildOwner::Node(right));
        if !(0..entries).all(|entry| left.key_hash(entry) == right.key_hash(entry)) {
            return false;
        }
        if entries > 1 && left.has_tied_keys() {
            return self.compare_tied_containers(left, right);
        }
        self.compare_lists(ListPair { left: left_all, right: right_all, next: 0, len })
    }

    /// Compares two containers without variables, some of whose keys have the same hash. The ordered comparison
    /// finds which keys correspond.
    #[cold]
    fn compare_tied_containers(&mut self, left: NodeRef<'a>, right: NodeRef<'a>) -> bool {
        let (region, below_shared) = (self.region, self.below_shared);
        let mut inner = OrderedComparison::new(&mut self.state, CompareMode::default());
        match with_enough_stack(|| inner.run_on_children((left, right), region, below_shared)) {
            Ok(equal) => equal,
            Err(error) => {
                self.failed = Some(error);
                false
            }
        }
    }

    /// Returns whether a pair was deferred, so that everything after it must be deferred too.
    #[inline]
    fn is_deferring(&self) -> bool {
        self.pending.tasks.len() > self.floor
    }

    #[inline]
    fn defer(&mut self, left: NodeRef<'a>, right: NodeRef<'a>, kind: CompareTaskKind) {
        let (region, below_shared) = (self.region, self.below_shared);
        self.pending.tasks.push(CompareTask { left, right, region, kind, below_shared });
    }

    /// Runs all deferred tasks.
    fn run(&mut self) -> bool {
        self.reverse_new_tasks(0, 0);
        while let Some(task) = self.pending.tasks.pop() {
            let floor = self.pending.tasks.len();
            self.floor = floor;
            self.recursion_depth = 0;
            self.ordered = true;
            self.region = task.region;
            self.below_shared = task.below_shared;
            self.parents = (task.left, task.right);
            let lists = self.pending.lists.len();
            let (equal, lists) = match task.kind {
                CompareTaskKind::Visit => (self.visit(task.left, task.right), lists),
                CompareTaskKind::List => match self.pending.lists.pop() {
                    Some(first) => (self.compare_lists(first), lists - 1),
                    None => (true, lists),
                },
                _ => {
                    self.finish(&task);
                    (true, lists)
                }
            };
            if !equal {
                return false;
            }
            self.reverse_new_tasks(floor, lists);
        }
        true
    }

    /// Reverses the tasks above `floor`, so that the first one is on top of the stack.
    #[inline]
    fn reverse_new_tasks(&mut self, floor: usize, lists: usize) {
        if self.pending.tasks.len() > floor + 1 {
            self.pending.tasks[floor..].reverse();
            self.pending.lists[lists..].reverse();
        }
    }

    fn visit(&mut self, left: NodeRef<'a>, right: NodeRef<'a>) -> bool {
        let Some(info) = common_type(left, right) else { return false };
        if info.kind() == NodeKind::Var {
            return self.visit_variables(left, right, info);
        }
        let facts = left.facts().union(right.facts());
        if facts.any(Facts::VAR) {
            return self.visit_ordered(left, right, info, facts);
        }
        if facts.is_none() {
            self.visit_pure_trees(left, right)
        } else {
            self.visit_unordered(left, right)
        }
    }

    /// Compares two pure trees: no variables and no dag nodes below.
    #[inline(never)]
    fn visit_pure_trees(&mut self, left: NodeRef<'a>, right: NodeRef<'a>) -> bool {
        let outer = (self.ordered, self.below_shared);
        (self.ordered, self.pure_trees) = (false, true);
        let mut pair = (left, right);
        let equal = loop {
            if !self.open_pure_trees(pair.0, pair.1) {
                break false;
            }
            match self.pending.pure_tree_pairs.pop() {
                Some(next) => pair = next,
                None => break true,
            }
        };
        self.pure_trees = false;
        (self.ordered, self.below_shared) = outer;
        equal
    }

    #[inline]
    fn open_pure_trees(&mut self, left: NodeRef<'a>, right: NodeRef<'a>) -> bool {
        let Some(info) = common_type(left, right) else { return false };
        if !info.is_tree_record() || left.is_shared() || right.is_shared() {
            return self.open_unordered_out_of_line(left, right);
        }
        left.compare_fields_of_pure_trees(right, self)
    }

    /// Compares shared nodes, singletons and containers. Out of line, so that the common path saves no
    /// registers.
    #[inline(never)]
    fn open_unordered_out_of_line(&mut self, left: NodeRef<'a>, right: NodeRef<'a>) -> bool {
        self.open_unordered(left, right)
    }

    /// Compares two nodes without variables below, in any order.
    #[inline(never)]
    fn visit_unordered(&mut self, left: NodeRef<'a>, right: NodeRef<'a>) -> bool {
        let base = self.pending.tasks.len();
        let outer = (self.ordered, self.below_shared);
        self.ordered = false;
        let mut equal = self.open_unordered(left, right);
        while equal && self.pending.tasks.len() > base {
            let Some(task) = self.pending.tasks.pop() else { break };
            self.below_shared = task.below_shared;
            equal = self.open_unordered(task.left, task.right);
        }
        (self.ordered, self.below_shared) = outer;
        equal
    }

    #[inline]
    fn open_unordered(&mut self, left: NodeRef<'a>, right: NodeRef<'a>) -> bool {
        let Some(info) = common_type(left, right) else { return false };
        let (left_id, right_id) = (left.id(), right.id());
        let facts = left.facts().union(right.facts());
        let shared = left.is_shared() || right.is_shared();
        match info.kind() {
            _ if left_id == right_id && facts.is_none() => return true,
            NodeKind::Tree => {}
            NodeKind::Dag if !(shared || self.below_shared) => {}
            // Without variables, nodes that were found equal stay equal.
            NodeKind::Dag => match self.state.dag_pairing(left_id, right_id) {
                DagPairing::None => {
                    self.state.pair_dag(left_id, right_id, &Dependencies::default());
                }
                DagPairing::EachOther | DagPairing::EachOtherStale => return true,
                DagPairing::Others => return false,
            },
            NodeKind::ConstTree if self.check_no_variables(info, facts) => return false,
            NodeKind::ConstTree => {}
            NodeKind::Singleton => return left_id == right_id,
            NodeKind::Var | NodeKind::Uncomparable => return false,
        }
        if shared
            && info.kind() != NodeKind::Dag
            && !self.state.join(left_id, right_id, &Dependencies::default(), false)
        {
            return true;
        }
        self.below_shared |= shared;
        self.compare_inside(left, right, info)
    }

    /// Returns whether a type that promises to hold no variables holds one, and records the error.
    #[inline]
    fn check_no_variables(&mut self, info: &TypeInfo, facts: Facts) -> bool {
        self.failed = check_no_variables(info, facts).err();
        self.failed.is_some()
    }

    /// Compares the children of two nodes of one type.
    #[inline]
    fn compare_inside(&mut self, left: NodeRef<'a>, right: NodeRef<'a>, info: &TypeInfo) -> bool {
        if info.layout() == ChildLayout::Record {
            left.compare_fields(right, self)
        } else {
            self.compare_containers(left, right)
        }
    }

    /// Compares the children of two nodes that hold variables, in the given region.
    #[inline]
    fn compare_inside_ordered(
        &mut self,
        (left, right): (NodeRef<'a>, NodeRef<'a>),
        info: &TypeInfo,
        region: BindingRegion,
        shared: bool,
    ) -> bool {
        let outer = (self.region, self.below_shared, self.parents);
        self.region = region;
        self.below_shared |= shared;
        self.parents = (left, right);
        self.recursion_depth += 1;
        let equal = self.compare_inside(left, right, info);
        self.recursion_depth -= 1;
        (self.region, self.below_shared, self.parents) = outer;
        equal
    }

    /// Compares two nodes of one type that hold variables.
    #[inline]
    fn visit_ordered(
        &mut self,
        left: NodeRef<'a>,
        right: NodeRef<'a>,
        info: &TypeInfo,
        facts: Facts,
    ) -> bool {
        let shared = left.is_shared() || right.is_shared();
        let region = self.region.inside(info);
        if info.kind() == NodeKind::Tree
            && info.layout() == ChildLayout::Record
            && !shared
            && !info.is_scope()
        {
            return self.compare_inside_ordered((left, right), info, region, false);
        }
        self.visit_ordered_slow(left, right, info, facts)
    }

    /// Compares shared nodes, dag nodes, scopes and containers that hold variables: the slow path of
    /// [`FieldComparer::visit_ordered`].
    #[inline(never)]
    fn visit_ordered_slow(
        &mut self,
        left: NodeRef<'a>,
        right: NodeRef<'a>,
        info: &TypeInfo,
        facts: Facts,
    ) -> bool {
        let shared = left.is_shared() || right.is_shared();
        let region = self.region.inside(info);
        let mut on_close =
            if info.is_scope() { CompareTaskKind::Scope } else { CompareTaskKind::Visit };
        match info.kind() {
            NodeKind::Dag => match self.state.dag_pairing(left.id(), right.id()) {
                DagPairing::EachOther => return true,
                DagPairing::Others => return false,
                _ if shared || self.below_shared => on_close = CompareTaskKind::Pair,
                DagPairing::None | DagPairing::EachOtherStale => {}
            },
            NodeKind::ConstTree if self.check_no_variables(info, facts) => return false,
            NodeKind::Singleton => return left.id() == right.id(),
            _ if shared => {
                on_close = match self.state.known_equality(left.id(), right.id()) {
                    KnownEquality::Equal => return true,
                    KnownEquality::Unknown => CompareTaskKind::Join,
                    KnownEquality::OtherContext => CompareTaskKind::JoinFresh,
                };
            }
            _ => {}
        }
        if info.layout().is_keyed() && ![left, right].into_iter().all(has_distinct_fixed_keys) {
            return self.retry_ordered(info);
        }
        if on_close == CompareTaskKind::Visit {
            return self.compare_inside_ordered((left, right), info, region, shared);
        }
        self.state.scopes.track();
        if info.is_scope() {
            self.state.scopes.enter();
        }
        self.pending.epochs.push(self.state.epoch());
        self.compare_inside_ordered((left, right), info, region, shared)
            && self.finish_or_defer(left, right, on_close)
    }

    /// Runs the closing action of a pair whose children are equal: now, or after the deferred tasks.
    #[inline]
    fn finish_or_defer(
        &mut self,
        left: NodeRef<'a>,
        right: NodeRef<'a>,
        kind: CompareTaskKind,
    ) -> bool {
        if self.is_deferring() {
            self.defer(left, right, kind);
        } else {
            let (region, below_shared) = (self.region, self.below_shared);
            self.finish(&CompareTask { left, right, region, kind, below_shared });
        }
        true
    }

    /// Closes a pair whose children were found equal.
    fn finish(&mut self, task: &CompareTask<'a>) {
        if matches!(task.kind, CompareTaskKind::Bind | CompareTaskKind::BindHidden) {
            let hidden = task.kind == CompareTaskKind::BindHidden;
            return self.bind((task.left, task.right), task.region, hidden);
        }
        if task.left.info().is_scope() {
            self.state.scopes.leave();
        }
        let (left, right) = (task.left.id(), task.right.id());
        let dependencies = self.state.scopes.untrack(task.kind != CompareTaskKind::Scope);
        let begun = self.pending.epochs.pop();
        match task.kind {
            CompareTaskKind::Pair => self.state.pair_dag(left, right, &dependencies),
            CompareTaskKind::Join | CompareTaskKind::JoinFresh
                if begun == Some(self.state.epoch()) =>
            {
                self.state.join(
                    left,
                    right,
                    &dependencies,
                    task.kind == CompareTaskKind::JoinFresh,
                );
            }
            _ => {}
        }
    }

    #[inline(never)]
    fn visit_variables(&mut self, left: NodeRef<'a>, right: NodeRef<'a>, info: &TypeInfo) -> bool {
        let region = self.region;
        let known = self.state.bound_to(Side::Left, left);
        if let Some((depth, other)) = known
            && other == right.id()
        {
            if self.shadows(depth) {
                return self.retry_ordered(info);
            }
            self.state.scopes.touch(depth);
            return true;
        }
        let other = self.state.bound_to(Side::Right, right);
        if known.is_some() || other.is_some() {
            let shadows = [known, other].into_iter().flatten().any(|(at, _)| self.shadows(at));
            return shadows && self.retry_ordered(info);
        }
        if region.leaves_free() {
            let same = left.id() == right.id();
            if same {
                self.state.bind_free(left);
            }
            return same;
        }
        if info.is_scope() && !info.compares_nothing() {
            // A variable that is a scope around its own fields: rare, so left to the ordered comparison.
            return self.retry_ordered(info);
        }
        let hidden = region.is_below_var();
        if !info.compares_nothing()
            && !self.compare_inside_ordered((left, right), info, region.below_var(), false)
        {
            return false;
        }
        if self.is_deferring() {
            self.defer(
                left,
                right,
                if hidden { CompareTaskKind::BindHidden } else { CompareTaskKind::Bind },
            );
        } else {
            self.bind((left, right), region, hidden);
        }
        true
    }

    #[inline]
    fn bind(&mut self, variables: (NodeRef<'a>, NodeRef<'a>), region: BindingRegion, hidden: bool) {
        let depth = if region.binds_in_scope() { self.state.scopes.depth() } else { 0 };
        self.state.bind(variables, depth, hidden);
    }

    /// Returns whether an occurrence here of a variable bound at `depth` is shadowing.
    #[inline]
    fn shadows(&self, depth: u32) -> bool {
        self.region.is_def() && (1..self.state.scopes.depth()).contains(&depth)
    }

    /// Stops with a placeholder error and requests a retry by the ordered comparison. The caller never sees the
    /// error.
    #[cold]
    fn retry_ordered(&mut self, info: &TypeInfo) -> bool {
        self.state.retry_ordered = true;
        self.failed = Some(Error::Uncomparable { key: info.key(), path: NodePath::root() });
        false
    }
}

/// Returns the type of two nodes, if both have the same.
#[inline]
fn common_type(left: NodeRef<'_>, right: NodeRef<'_>) -> Option<&'static TypeInfo> {
    let info = left.info();
    std::ptr::eq(info, right.info()).then_some(info)
}

/// Returns whether the keys of a container have pairwise different hashes that do not depend on context.
fn has_distinct_fixed_keys(container: NodeRef<'_>) -> bool {
    container.is_empty() || container.key_hash(0).is_some() && !container.has_tied_keys()
}
