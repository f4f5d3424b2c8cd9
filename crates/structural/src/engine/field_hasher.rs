//! The recursive part of hashing: visits children and returns the contribution of each.
//!
//! Nodes that hold variables, hooks or uncomparable nodes are visited from the first child to the last, so that
//! bindings get the same numbers as in a comparison. Below other nodes the order of visits is free, and the
//! last child is visited first, which walks memory in the order in which bottom-up construction allocated it.
//!
//! The walk calls itself up to [`MAX_HASH_RECURSION`] levels deep. Then it *halts*: every open call pushes a frame
//! and returns, and `hash.rs` continues with the frames.

use super::BindingRegion;
use super::fast_equal::PREFETCH_DISTANCE;
use super::hash::{HashFrame, HashOnClose, TAG_BINDERS};
use super::hash_state::HashState;
use super::key_memo::{KNOWN_FREE, VariableUse};
use super::ordered_equal::check_no_variables;
use super::scalars;
use crate::child_cursor::ChildOwner;
use crate::error::Error;
use crate::hasher::{ChildPosition, Hash128, HashSum, Mixer};
use crate::kind::{Facts, FieldRole, NodeKind};
use crate::path::NodePath;
use crate::reference::NodeRef;
use crate::type_info::{ChildLayout, LIST_SEED, TypeInfo};
use crate::values::Value;
use crate::view::{List, View};

const TAG_FREE: u64 = 0x41;
const TAG_BOUND_AT_ROOT: u64 = 0x42;
const TAG_IDENTITY: u64 = 0x43;
/// The tag of a bound variable; the number of scopes between it and its binder is added.
const TAG_BOUND_AT_DEPTH: u64 = 0x1_0000;

/// The facts that require visits in field order.
pub(super) const ORDERED_FACTS: Facts = Facts::VAR.union(Facts::HOOK).union(Facts::UNCOMPARABLE);

/// The number of levels that the walk recurses before it pushes frames.
pub(super) const MAX_HASH_RECURSION: u32 = 32;

/// The contribution of the variables that a scope binds to the hash of the scope. It covers their fields, so
/// that the first and every later occurrence of a variable contribute alike.
#[derive(Clone, Copy)]
pub(super) struct BinderSum {
    sum: HashSum,
    count: usize,
}

impl BinderSum {
    pub(super) const EMPTY: Self = Self { sum: HashSum::domain(Mixer::new(TAG_BINDERS)), count: 0 };

    #[inline]
    pub(super) fn add(&mut self, hash: Hash128) {
        self.add_at(self.count, hash);
    }

    /// Adds a variable at a position that it may share with others.
    #[inline]
    pub(super) fn add_at(&mut self, position: usize, hash: Hash128) {
        self.sum = self.sum.add(ChildPosition::of(position), hash);
        self.count += 1;
    }

    /// Returns the position of the next variable.
    pub(super) fn next_position(&self) -> usize {
        self.count
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(super) fn finish(self) -> Hash128 {
        HashSum::new(self.sum, self.count).finish()
    }
}

/// Hashes the fields of nodes: returns the contribution of each field to the hash of its node. See
/// [`crate::Field::hash_contribution`].
pub struct FieldHasher<'w, 'o, 'a> {
    pub(super) state: &'w mut HashState<'o>,
    pub(super) frames: Vec<HashFrame<'a>>,
    /// Frames pushed while the recursion unwinds, innermost first.
    pub(super) new_frames: Vec<HashFrame<'a>>,
    /// The region of the children that are being hashed.
    pub(super) region: BindingRegion,
    /// True if children are visited from the last to the first.
    pub(super) backwards: bool,
    /// True if the recursion unwinds, to continue with frames or because of an error.
    pub(super) halted: bool,
    /// The index of the child of the innermost node that halted, and the sum of the children before it.
    suspended_at: (usize, HashSum),
    /// The current depth of recursion, and its limit.
    pub(super) recursion_depth: u32,
    max_recursion: u32,
    /// True if no node was hashed below the unordered node that was opened last.
    is_leaf: bool,
    pub(super) failed: Option<Box<Error>>,
}

impl<'w, 'o, 'a> FieldHasher<'w, 'o, 'a> {
    /// Creates a hasher that recurses at most `max_recursion` levels where hashing may fail.
    pub(super) fn new(state: &'w mut HashState<'o>, max_recursion: u32) -> Self {
        Self {
            state,
            frames: Vec::new(),
            new_frames: Vec::new(),
            region: BindingRegion::KEY,
            backwards: false,
            halted: false,
            suspended_at: (0, LIST_SEED),
            recursion_depth: 0,
            max_recursion,
            is_leaf: false,
            failed: None,
        }
    }

    /// Returns whether children must be visited from the last to the first.
    #[must_use]
    #[inline]
    pub fn backwards(&self) -> bool {
        self.backwards
    }

    /// Returns whether the walk halted: the last returned contribution is meaningless, and the caller must
    /// [suspend](FieldHasher::suspend_at).
    #[must_use]
    #[inline]
    pub fn halted(&self) -> bool {
        self.halted
    }

    /// Records that the child at `index` halted, and returns `sum` unchanged.
    #[must_use]
    #[inline]
    pub fn suspend_at(&mut self, index: usize, sum: HashSum) -> HashSum {
        self.suspended_at = (index, sum);
        sum
    }

    /// Runs `part` for a def field, in a def region.
    #[inline]
    pub fn with_def_region(&mut self, part: impl FnOnce(&mut Self) -> Hash128) -> Hash128 {
        let outer = self.region;
        self.region = outer.of_field(FieldRole::Def);
        let hash = part(self);
        self.region = outer;
        hash
    }

    /// Returns the contribution of a value of a field with the given role.
    #[inline]
    pub fn hash_field(&mut self, role: FieldRole, view: &View<'a>) -> Hash128 {
        match role {
            FieldRole::Def => self.with_def_region(|hasher| hasher.hash_value(view)),
            FieldRole::Usual | FieldRole::Ignore => self.hash_value(view),
        }
    }

    /// Returns the contribution of a value.
    #[inline]
    pub fn hash_value(&mut self, view: &View<'a>) -> Hash128 {
        match view {
            View::Node(node) => self.hash_node(*node),
            View::List(list) => self.hash_list(*list),
            scalar => {
                let skip = self.state.options.skip_tensor_content;
                scalars::contribution(scalar, skip).unwrap_or_default()
            }
        }
    }

    /// Returns the contribution of a node.
    #[inline]
    pub fn hash_node(&mut self, node: NodeRef<'a>) -> Hash128 {
        let facts = node.facts();
        if facts.any(ORDERED_FACTS) {
            return self.hash_ordered(node);
        }
        match self.state.hash_memo.get(node) {
            Some(hash) => hash,
            None if self.backwards && facts.is_none() => self.hash_pure_tree(node),
            None => self.hash_unordered(node),
        }
    }

    /// Returns the contribution of an integer.
    #[must_use]
    #[inline]
    pub fn hash_int(&self, value: i64) -> Hash128 {
        scalars::int(value)
    }

    /// Prefetches an element of a list that will soon be visited.
    #[inline]
    pub(crate) fn prefetch(&self, value: &View<'a>) {
        if let View::Node(node) = value {
            node.prefetch();
        }
    }

    /// Returns the initial sum of a list of `len` elements, or `None` if the list needs a frame.
    #[inline]
    pub(crate) fn begin_list(&mut self, list: &'a dyn List, len: usize) -> Option<HashSum> {
        let sum = HashSum::new(LIST_SEED, len);
        if self.max_recursion == 0 && self.recursion_depth == 0 && len > 0 {
            self.new_frames.push(self.list_frame(list, len, sum));
            self.halted = true;
            return None;
        }
        Some(sum)
    }

    /// Suspends a list at the element `index`, which halted.
    #[cold]
    pub(crate) fn suspend_list_at(
        &mut self,
        list: &'a dyn List,
        index: usize,
        sum: HashSum,
    ) -> Hash128 {
        let frame = self.list_frame(list, list.len(), sum);
        self.new_frames.push(frame.begun_at(index));
        Hash128::default()
    }

    fn list_frame(&self, list: &'a dyn List, len: usize, sum: HashSum) -> HashFrame<'a> {
        HashFrame::new(ChildOwner::List(list), len, self.region, sum, HashOnClose::Nothing)
            .with_direction(self.backwards)
    }

    #[inline(never)]
    fn hash_list(&mut self, list: &'a dyn List) -> Hash128 {
        let len = list.len();
        let Some(mut sum) = self.begin_list(list, len) else { return Hash128::default() };
        for step in 0..len {
            let index = if self.backwards { len - 1 - step } else { step };
            if !self.backwards && index + PREFETCH_DISTANCE < len {
                self.prefetch(&list.item(index + PREFETCH_DISTANCE));
            }
            let part = self.hash_value(&list.item(index));
            if self.halted {
                return self.suspend_list_at(list, index, sum);
            }
            sum = sum.add(ChildPosition::of(index), part);
        }
        sum.finish()
    }

    /// Hashes a pure tree below another one, whose hash is not cached.
    fn hash_pure_tree(&mut self, node: NodeRef<'a>) -> Hash128 {
        let info = node.info();
        if self.recursion_depth >= MAX_HASH_RECURSION || !info.is_tree_record() {
            return self.hash_unordered(node);
        }
        self.recursion_depth += 1;
        self.is_leaf = true;
        let sum = node.hash_children(info.record_seed(), self);
        self.recursion_depth -= 1;
        if self.halted {
            return self.suspend_unordered(node, self.region);
        }
        self.cache_unordered(node, sum.finish())
    }

    /// Pushes a frame for an unordered node, one of whose fields halted.
    #[cold]
    fn suspend_unordered(&mut self, node: NodeRef<'a>, region: BindingRegion) -> Hash128 {
        let (len, (index, sum)) = (node.len(), self.suspended_at);
        let frame = HashFrame::new(ChildOwner::Node(node), len, region, sum, HashOnClose::Cache);
        self.new_frames.push(frame.with_direction(true).begun_at(index));
        Hash128::default()
    }

    /// Caches the hash of an unordered node, all of whose fields were added.
    #[inline]
    fn cache_unordered(&mut self, node: NodeRef<'a>, hash: Hash128) -> Hash128 {
        // Hashing a leaf again costs less than writing its hash to memory. The root is always written, so that
        // a second call for it finds the hash.
        let is_leaf = std::mem::replace(&mut self.is_leaf, false);
        if !is_leaf || self.recursion_depth == 0 || node.is_shared() {
            self.state.hash_memo.put(node, hash);
        }
        hash
    }

    /// Hashes an unordered node (no variables, hooks or uncomparable nodes below), whose hash is not cached.
    fn hash_unordered(&mut self, node: NodeRef<'a>) -> Hash128 {
        let (info, facts) = (node.info(), node.facts());
        if !info.is_tree_record() {
            if info.kind() == NodeKind::Singleton && self.state.singletons_by_identity {
                return singleton_identity(node.id());
            }
            if info.layout().is_keyed() && node.has_tied_keys() {
                self.open_frame(node, self.region, HashOnClose::Cache);
                return Hash128::default();
            }
        }
        let mut max_recursion = MAX_HASH_RECURSION;
        if !facts.is_none() {
            // Only a broken promise to hold no dag nodes can fail here.
            max_recursion = self.max_recursion;
            if self.fails_variable_check(info, facts) {
                return Hash128::default();
            }
        }
        let (len, region) = (node.len(), self.region);
        let seed = info.seed_with_len(len);
        if self.recursion_depth >= max_recursion {
            let frame =
                HashFrame::new(ChildOwner::Node(node), len, region, seed, HashOnClose::Cache);
            self.new_frames.push(frame.with_direction(true));
            self.halted = true;
            return Hash128::default();
        }
        let outer_direction = std::mem::replace(&mut self.backwards, true);
        self.recursion_depth += 1;
        self.is_leaf = true;
        let sum = node.hash_children(seed, self);
        self.recursion_depth -= 1;
        self.backwards = outer_direction;
        if self.halted {
            return self.suspend_unordered(node, region);
        }
        self.cache_unordered(node, sum.finish())
    }

    /// Hashes a node that holds variables, hooks or uncomparable nodes.
    fn hash_ordered(&mut self, node: NodeRef<'a>) -> Hash128 {
        let info = node.info();
        match info.kind() {
            NodeKind::Var => return self.hash_variable(node, info),
            NodeKind::Tree | NodeKind::Dag => {}
            NodeKind::Uncomparable => {
                let (key, path) = (info.key(), self.path());
                return self.fail(Error::Uncomparable { key, path });
            }
            NodeKind::ConstTree => {
                if self.fails_variable_check(info, node.facts()) {
                    return Hash128::default();
                }
            }
            NodeKind::Singleton if self.state.singletons_by_identity => {
                return singleton_identity(node.id());
            }
            NodeKind::Singleton if node.facts().any(Facts::VAR.union(Facts::UNCOMPARABLE)) => {
                return self.hash_scalar_fields(node, info);
            }
            NodeKind::Singleton => {}
        }
        let shared = node.is_shared();
        if shared && let Some(hash) = self.state.memoized_hash(node.id(), self.region.inside(info))
        {
            return hash;
        }
        if shared || self.recursion_depth >= self.max_recursion || !hashes_by_fields_alone(info) {
            let on_close = if shared { HashOnClose::Memoize } else { HashOnClose::Nothing };
            self.open_frame(node, self.region, on_close);
            return Hash128::default();
        }
        self.recursion_depth += 1;
        let sum = node.hash_children(info.seed_with_len(info.fields().len()), self);
        self.recursion_depth -= 1;
        if self.halted {
            return self.suspend_ordered(node, self.region, HashOnClose::Nothing);
        }
        sum.finish()
    }

    /// Hashes a singleton that holds variables or uncomparable nodes. It is equal to itself whatever is bound
    /// around it, so only its scalar fields count.
    #[cold]
    fn hash_scalar_fields(&self, node: NodeRef<'a>, info: &TypeInfo) -> Hash128 {
        let skip = self.state.options.skip_tensor_content;
        let mut sum = info.seed_with_len(node.len());
        for (index, field) in info.fields().iter().enumerate() {
            if field.role != FieldRole::Ignore
                && let Some(part) = scalars::contribution(&node.child(index), skip)
            {
                sum = sum.add(ChildPosition::of(index), part);
            }
        }
        sum.finish()
    }

    /// Pushes a frame for an ordered node, one of whose fields halted.
    #[cold]
    fn suspend_ordered(
        &mut self,
        node: NodeRef<'a>,
        region: BindingRegion,
        on_close: HashOnClose,
    ) -> Hash128 {
        let (len, (index, sum)) = (node.len(), self.suspended_at);
        self.new_frames.push(
            HashFrame::new(ChildOwner::Node(node), len, region, sum, on_close).begun_at(index),
        );
        Hash128::default()
    }

    #[inline(never)]
    fn hash_variable(&mut self, node: NodeRef<'a>, info: &TypeInfo) -> Hash128 {
        let region = self.region;
        if let Some((at, index, number)) = self.state.binding_of(node) {
            if region.is_def() && (1..self.state.scopes.depth()).contains(&at) {
                return self.fail_shadowing(node, number);
            }
            self.state.scopes.touch(at);
            self.record_use(node, at, Some(index.unwrap_or(KNOWN_FREE)));
            return self.variable_contribution(node, at, index);
        }
        if region.leaves_free() {
            return self.hash_free_variable(node);
        }
        self.hash_binding_occurrence(node, info)
    }

    /// Hashes the fields of a variable at its first occurrence, and binds it.
    fn hash_binding_occurrence(&mut self, node: NodeRef<'a>, info: &TypeInfo) -> Hash128 {
        let region = self.region;
        let (hidden, inside) = (region.is_below_var(), region.below_var());
        if self.recursion_depth >= self.max_recursion || !hashes_by_fields_alone(info) {
            self.open_frame(node, inside, HashOnClose::Bind { hidden });
            return Hash128::default();
        }
        self.region = inside;
        self.recursion_depth += 1;
        let sum = node.hash_children(info.seed_with_len(info.fields().len()), self);
        self.recursion_depth -= 1;
        self.region = region;
        if self.halted {
            return self.suspend_ordered(node, inside, HashOnClose::Bind { hidden });
        }
        self.bind(node, inside, hidden, sum.finish())
    }

    /// Binds a variable whose fields hash to `hash`. Returns its contribution.
    #[inline]
    pub(super) fn bind(
        &mut self,
        node: NodeRef<'a>,
        region: BindingRegion,
        hidden: bool,
        hash: Hash128,
    ) -> Hash128 {
        if self.stop_at_binding(node) {
            return Hash128::default();
        }
        let depth = if region.binds_in_scope() { self.state.scopes.depth() } else { 0 };
        let index = self.state.bind_in(node, depth, hidden, hash);
        self.record_use(node, depth, Some(index));
        self.variable_contribution(node, depth, Some(index))
    }

    /// Hashes a variable that nothing binds.
    #[cold]
    fn hash_free_variable(&mut self, node: NodeRef<'a>) -> Hash128 {
        if self.stop_at_binding(node) {
            return Hash128::default();
        }
        self.state.bind_free(node);
        self.state.free.push((node.creation_number(), node.id()));
        self.record_use(node, 0, None);
        self.variable_contribution(node, 0, None)
    }

    /// Inside a key, records that a variable is used; see [`super::key_memo::KeyMemo`].
    #[inline]
    fn record_use(&mut self, node: NodeRef<'a>, at: u32, index: Option<u32>) {
        if self.state.in_key() {
            let bound = index.map(|index| (at, index));
            let (variable, serial) = (node.id(), node.creation_number());
            self.state.record_use(VariableUse { variable, bound, serial });
        }
    }

    /// Returns the contribution of a variable: the number of scopes between it and its binder, and its index
    /// among the variables of that scope. A variable bound at the root, which is the same from everywhere,
    /// contributes only its index; a free one its creation number.
    #[inline]
    fn variable_contribution(&self, node: NodeRef<'a>, at: u32, index: Option<u32>) -> Hash128 {
        let depth = self.state.scopes.depth();
        match index {
            None => Hash128 { lo: node.creation_number(), hi: TAG_FREE },
            Some(index) if at == 0 => Hash128 { lo: index.into(), hi: TAG_BOUND_AT_ROOT },
            Some(index) => {
                Hash128 { lo: index.into(), hi: TAG_BOUND_AT_DEPTH + u64::from(depth - at) }
            }
        }
    }

    /// Ends the walk with an error.
    #[cold]
    pub(super) fn fail(&mut self, error: Error) -> Hash128 {
        self.failed = Some(error.into());
        self.halted = true;
        Hash128::default()
    }

    #[cold]
    fn fail_shadowing(&mut self, node: NodeRef<'a>, binding: usize) -> Hash128 {
        let variable = format!("{:?}", Value::of(View::Node(node)));
        let (outer, inner) = (NodePath::root(), self.path());
        self.fail(Error::Shadowing { variable, outer, inner, binding })
    }

    /// Returns whether a type that promises to hold no variables and dag nodes holds one, and records the
    /// error.
    fn fails_variable_check(&mut self, info: &TypeInfo, facts: Facts) -> bool {
        if info.kind() == NodeKind::ConstTree
            && let Err(error) = check_no_variables(info, facts)
        {
            let error = error.with_outer_path(self.path());
            self.fail(error);
        }
        self.halted
    }
}

/// Returns the contribution of a singleton that counts by identity.
fn singleton_identity(id: usize) -> Hash128 {
    Hash128 { lo: id as u64, hi: TAG_IDENTITY }
}

/// Returns whether an unshared node of the type is hashed by its fields alone.
#[inline]
fn hashes_by_fields_alone(info: &TypeInfo) -> bool {
    info.layout() == ChildLayout::Record && !info.is_scope() && info.hooks().is_none()
}
