//! The iterative part of hashing. [`FieldHasher`] recurses where it can; nodes that are deeper, shared, scopes,
//! hooked, or containers whose keys depend on bindings get a frame here.

use std::rc::Rc;

use super::compare_state::BindingSite;
use super::container_keys::{fixed_key_hashes, key_hashes};
use super::field_hasher::{BinderSum, FieldHasher, MAX_HASH_RECURSION, ORDERED_FACTS};
use super::hash_state::{HashAtDepth, HashState};
use super::hook_context::{for_each_top_node, with_enough_stack};
use super::key_memo::{self, KeyVariables};
use super::scopes::StoredDependencies;
use super::tied_keys::HashEntries;
use super::{BindingRegion, StructuralOptions};
use crate::child_cursor::ChildOwner;
use crate::error::Error;
use crate::hasher::{ChildPosition, Hash128, HashSum, Mixer};
use crate::kind::{Facts, FieldRole, NodeKind};
use crate::path::{NodePath, PathStep};
use crate::reference::NodeRef;
use crate::type_info::TypeInfo;
use crate::values::Value;
use crate::view::View;

const TAG_ROOT: u64 = 0x31;
const TAG_HOOK: u64 = 0x32;
pub(super) const TAG_BINDERS: u64 = 0x33;

/// Hashes a whole graph. If that fails, the path of the error is only right if the walk is `thorough`.
pub(crate) fn hash_graph(
    view: View<'_>,
    options: StructuralOptions,
    thorough: bool,
    stop_at: Option<usize>,
) -> Result<Hash128, Box<(Error, Option<BindingSite>)>> {
    let mut state = HashState::new(options, None, false);
    state.stop_at = stop_at;
    let max_recursion = if thorough { 0 } else { MAX_HASH_RECURSION };
    let result =
        FieldHasher::new(&mut state, max_recursion).run(view, BindingRegion::start(options));
    let hash = match result {
        Ok(hash) => hash,
        Err(error) => return Err(Box::new((*error, state.stopped))),
    };
    let binders = state.binders[0];
    let mixed = match view {
        View::Node(node) => node.info().kind() != NodeKind::Var,
        View::List(_) => true,
        _ => false,
    };
    if binders.is_empty() && mixed {
        return Ok(hash);
    }
    // Scalars and variables contribute words that are not mixed yet.
    let root = Mixer::new(TAG_ROOT).absorb_hash(hash);
    Ok(if binders.is_empty() { root } else { root.absorb_hash(binders.finish()) }.finish())
}

/// The action that closes a frame once all children contributed.
#[derive(Clone, Copy)]
pub(super) enum HashOnClose {
    Nothing,
    /// Cache the hash of a node that holds nothing that could be bound.
    Cache,
    /// Memoize the hash of a shared node.
    Memoize,
    /// Bind a variable; `hidden` if it first occurs below another one.
    Bind {
        hidden: bool,
    },
}

/// A node or list that is being hashed, and the progress in it.
pub(super) struct HashFrame<'a> {
    parent: ChildOwner<'a>,
    /// The number of children that were begun.
    begun: usize,
    len: usize,
    backwards: bool,
    region: BindingRegion,
    sum: HashSum,
    scope: bool,
    tracked: bool,
    on_close: HashOnClose,
    epoch: u32,
    hooked: Option<u64>,
    /// The children of a map (or set) that are visited in another order than they are stored.
    entries: Option<Box<HashEntries>>,
}

impl<'a> HashFrame<'a> {
    pub(super) fn new(
        parent: ChildOwner<'a>,
        len: usize,
        region: BindingRegion,
        sum: HashSum,
        on_close: HashOnClose,
    ) -> Self {
        Self {
            parent,
            begun: 0,
            len,
            backwards: false,
            region,
            sum,
            scope: false,
            tracked: false,
            on_close,
            epoch: 0,
            hooked: None,
            entries: None,
        }
    }

    /// Returns the frame with this direction of visits.
    pub(super) fn with_direction(self, backwards: bool) -> Self {
        Self { backwards, ..self }
    }

    /// Returns the frame with the child `index` begun.
    pub(super) fn begun_at(self, index: usize) -> Self {
        let begun = if self.backwards { self.len - index } else { index + 1 };
        Self { begun, ..self }
    }

    /// Returns the index of the child that was begun last.
    fn index(&self) -> Option<usize> {
        let before = self.begun.checked_sub(1)?;
        Some(if self.backwards { self.len - self.begun } else { before })
    }

    /// Adds the contribution of the child that was begun last.
    fn add_contribution(&mut self, part: Hash128) {
        let index = self.index();
        match (&mut self.entries, index) {
            (Some(entries), Some(index)) => entries.set_contribution(index, part),
            (None, Some(index)) => self.sum = self.sum.add(ChildPosition::of(index), part),
            (_, None) => {}
        }
    }

    /// Begins the next child that is not ignored. Returns `None` if there is none.
    fn begin_child(&mut self) -> Option<(View<'a>, BindingRegion)> {
        while self.begun < self.len {
            self.begun += 1;
            let index = self.index()?;
            if let Some(entries) = &self.entries {
                if entries.has_contribution(index) {
                    continue;
                }
                return Some((self.parent.child(entries.stored_index(index)?), self.region));
            }
            let role = self.parent.role(index);
            if role != FieldRole::Ignore {
                return Some((self.parent.child(index), self.region.of_field(role)));
            }
        }
        None
    }

    /// Returns the path step to the child that was begun last.
    fn step(&self) -> Option<PathStep> {
        let index = self.index()?;
        let stored = match &self.entries {
            Some(entries) => entries.stored_index(index)?,
            None => index,
        };
        Some(self.parent.step(stored))
    }
}

impl<'a> FieldHasher<'_, '_, 'a> {
    /// Returns the contribution of `view` to the hash of its owner.
    pub(super) fn run(
        &mut self,
        view: View<'a>,
        region: BindingRegion,
    ) -> Result<Hash128, Box<Error>> {
        self.region = region;
        let mut part = self.hash_value(&view);
        loop {
            if self.halted {
                if let Some(error) = self.failed.take() {
                    return Err(error);
                }
                self.halted = false;
                self.frames.extend(self.new_frames.drain(..).rev());
            } else if let Some(top) = self.frames.last_mut() {
                top.add_contribution(part);
            } else {
                return Ok(part);
            }
            part = self.hash_next_child();
        }
    }

    /// Returns the contribution of the next child of the innermost frame. If there is none, closes the frame
    /// and returns its own contribution.
    fn hash_next_child(&mut self) -> Hash128 {
        let Some(top) = self.frames.last_mut() else { return Hash128::default() };
        match top.begin_child() {
            Some((child, region)) => {
                self.region = region;
                self.backwards = top.backwards;
                self.recursion_depth = 0;
                self.hash_value(&child)
            }
            None => self.close_frame(),
        }
    }

    /// Opens a frame for a node.
    pub(super) fn open_frame(
        &mut self,
        node: NodeRef<'a>,
        region: BindingRegion,
        on_close: HashOnClose,
    ) {
        self.halted = true;
        if let Err(error) = self.try_open_frame(node, region, on_close) {
            self.failed = Some(error);
        }
    }

    fn try_open_frame(
        &mut self,
        node: NodeRef<'a>,
        region: BindingRegion,
        on_close: HashOnClose,
    ) -> Result<(), Box<Error>> {
        let info = node.info();
        let (remember, scope) = (matches!(on_close, HashOnClose::Memoize), info.is_scope());
        let region = region.inside(info);
        let mut entries = None;
        let mut len = node.len();
        let seed = info.seed_with_len(len);
        let tracked = remember || scope;
        if tracked {
            self.state.scopes.track();
            self.state.used_variables.push(KeyVariables::default());
        }
        if scope {
            self.state.scopes.enter();
            self.state.binders.push(BinderSum::EMPTY);
        }
        if info.layout().is_keyed() && len > 0 {
            let per_entry = info.layout().per_entry();
            let found = if node.key_hash(0).is_none() {
                Some(HashEntries::with_keys(self.hash_keys(node)?, per_entry))
            } else if node.has_tied_keys() {
                fixed_key_hashes(node).map(|order| HashEntries::new(order, per_entry))
            } else {
                None
            };
            if let Some(mut found) = found {
                if per_entry == 2 {
                    found.defer_tied(node);
                }
                len = found.len();
                entries = Some(Box::new(found));
            }
        }
        let epoch = self.state.epoch;
        let frame = HashFrame::new(ChildOwner::Node(node), len, region, seed, on_close);
        let mut frame = HashFrame { scope, tracked, entries, epoch, ..frame };
        if let Some(hooks) = info.hooks() {
            let path = |this: &Self| this.path();
            let init = info.seed().finish().lo;
            let mut cx = HashCx { state: &mut *self.state, region };
            let result = hooks.hash(node, init, &mut cx);
            let hash = match &self.state.failed {
                Some(message) if result.is_ok() => Err(part_failed_error(message)),
                _ => result,
            };
            let hash = hash.map_err(|error| {
                let path = path(self);
                if let Some(bound) = &mut self.state.stopped {
                    bound.at.prepend(path.clone());
                }
                error.with_outer_path(path)
            })?;
            frame = HashFrame { len: 0, hooked: Some(hash), ..frame };
        }
        self.new_frames.push(frame);
        Ok(())
    }

    /// Hashes the keys of a container whose keys depend on bindings.
    fn hash_keys(&mut self, node: NodeRef<'a>) -> Result<Vec<(Hash128, u32)>, Box<Error>> {
        self.state.enable_lookup_by_id();
        let hash_keys = |this: &Self| {
            key_hashes(&*this.state, node).map_err(|error| error.with_outer_path(this.path()))
        };
        let mut keys = hash_keys(self)?;
        if keys.found.has_free_variable_bound_in_another_key() {
            for free in std::mem::take(&mut keys.found.free) {
                self.bind_free_in_key(free)?;
            }
            keys = hash_keys(self)?;
        }
        self.adopt_isolated(keys.found)?;
        Ok(keys.entries_in_hash_order)
    }

    /// Closes the innermost frame once all its children contributed. Returns its own contribution.
    fn close_frame(&mut self) -> Hash128 {
        let Some(mut frame) = self.frames.pop() else { return Hash128::default() };
        let ChildOwner::Node(node) = frame.parent else { return frame.sum.finish() };
        let mut sum = match (frame.entries.take(), frame.hooked) {
            (_, Some(hash)) => hooked_sum(node.info(), hash),
            (Some(mut entries), None) => {
                if entries.has_deferred()
                    && let Err(error) = self.hash_tied_values(node, frame.region, &mut entries)
                {
                    return self.fail(*error);
                }
                entries.add_to_sum(frame.sum)
            }
            (None, None) => frame.sum,
        };
        if frame.scope {
            let ended = self.state.scopes.depth();
            if let Some(used) = self.state.used_variables.last_mut() {
                used.uses.retain(|used| used.bound.is_none_or(|(at, _)| at != ended));
            }
            match self.state.binders.pop() {
                Some(binders) if !binders.is_empty() => sum = sum.add_extra(binders.finish()),
                _ => {}
            }
            self.state.scopes.leave();
        }
        let hash = sum.finish();
        if frame.tracked {
            self.untrack(node, frame.region, hash, frame.epoch);
        }
        match frame.on_close {
            HashOnClose::Bind { hidden } => self.bind(node, frame.region, hidden, hash),
            HashOnClose::Cache => {
                self.state.hash_memo.put(node, hash);
                hash
            }
            HashOnClose::Nothing | HashOnClose::Memoize => hash,
        }
    }

    /// Ends tracking a node, and memoizes its hash if the node is shared.
    fn untrack(&mut self, node: NodeRef<'a>, region: BindingRegion, hash: Hash128, epoch: u32) {
        let remember = node.is_shared() && epoch == self.state.epoch;
        let dependencies = self.state.scopes.untrack(remember);
        let mut used = self.state.used_variables.pop().unwrap_or_default();
        used.sort_and_dedup();
        if let Some(outer) = self.state.used_variables.last_mut() {
            outer.extend_from(&used);
        }
        if !remember {
            return;
        }
        let stored = StoredDependencies::new(&dependencies);
        let depth = self.state.scopes.depth();
        if self.state.in_key() {
            let entry =
                key_memo::KeyMemoEntry { hash, dependencies: stored, variables: Rc::new(used) };
            self.state.key_memo.put((node.id(), depth, region), entry);
        } else if dependencies.touched.is_empty() {
            self.state.context_free_hashes.insert(node.id(), (hash, stored));
        } else {
            let owner = self.state.scopes.scope_of(&dependencies);
            self.state
                .hashes_at_depth
                .insert((node.id(), depth), HashAtDepth { hash, owner, dependencies: stored });
        }
    }

    /// Stops the walk if the next binding is the requested one, and records its site. Returns whether it
    /// stopped.
    #[inline]
    pub(super) fn stop_at_binding(&mut self, node: NodeRef<'a>) -> bool {
        if self.state.stop_at != Some(self.state.bindings_made) {
            return false;
        }
        self.stop_walk(node);
        true
    }

    #[cold]
    fn stop_walk(&mut self, node: NodeRef<'a>) {
        let shown = format!("{:?}", Value::of(View::Node(node)));
        if let Err(error) = self.stop_if_requested(&shown) {
            self.fail(*error);
        }
    }

    pub(super) fn stop_if_requested(&mut self, shown: &str) -> Result<(), Box<Error>> {
        if self.state.stop_at != Some(self.state.bindings_made) {
            return Ok(());
        }
        let (left, right, at) = (shown.to_owned(), shown.to_owned(), self.path());
        self.state.stopped = Some(BindingSite { left, right, at });
        Err(Error::Hook { key: "", path: NodePath::root(), error: "stopped".into() }.into())
    }

    /// Returns the path of the current node.
    pub(super) fn path(&self) -> NodePath {
        self.frames.iter().filter_map(HashFrame::step).collect()
    }
}

/// The context with which a hash hook hashes its parts. Like [`crate::EqualCx`], it cannot outlive the hook.
pub struct HashCx<'s> {
    state: &'s mut dyn PartHasher,
    region: BindingRegion,
}

/// A [`HashState`] with its lifetime erased.
trait PartHasher {
    fn hash_part(&mut self, view: View<'_>, region: BindingRegion) -> Result<Hash128, Error>;
}

impl PartHasher for HashState<'_> {
    fn hash_part(&mut self, view: View<'_>, region: BindingRegion) -> Result<Hash128, Error> {
        if let Some(failed) = &self.failed {
            return Err(part_failed_error(failed));
        }
        if let View::Node(node) = view {
            if !node.facts().any(ORDERED_FACTS)
                && let Some(hash) = self.hash_memo.get(node)
            {
                return Ok(hash);
            }
            if let Some(hash) = self.hash_hooked_without_walk(node, region)? {
                return Ok(hash);
            }
        }
        for_each_top_node(view, &mut |node| self.kept_alive.push(Value::Node(node.to_owned())));
        let hash = with_enough_stack(|| FieldHasher::new(self, 0).run(view, region))
            .map_err(|error| *error);
        if let Err(error) = &hash {
            self.failed = Some(error.to_string());
        }
        hash
    }
}

impl HashState<'_> {
    /// Returns the contribution of a node with a hook, if no variable was visited on which it could depend.
    fn hash_hooked_without_walk(
        &mut self,
        node: NodeRef<'_>,
        region: BindingRegion,
    ) -> Result<Option<Hash128>, Error> {
        const CONTEXT_FACTS: Facts = Facts::VAR.union(Facts::DAG).union(Facts::UNCOMPARABLE);
        let info = node.info();
        let Some(hooks) = info.hooks() else { return Ok(None) };
        if node.facts().any(CONTEXT_FACTS)
            || info.kind() != NodeKind::Tree
            || info.is_scope()
            || !self.has_no_context()
        {
            return Ok(None);
        }
        if let Some((hash, _)) = self.context_free_hashes.get(&node.id()) {
            return Ok(Some(*hash));
        }
        self.kept_alive.push(Value::Node(node.to_owned()));
        let mut cx = HashCx { state: self, region };
        let mut result = with_enough_stack(|| hooks.hash(node, info.seed().finish().lo, &mut cx));
        if let (Some(message), Ok(_)) = (&self.failed, &result) {
            result = Err(part_failed_error(message));
        }
        match result {
            Ok(hash) => {
                let hash = hooked_sum(info, hash).finish();
                if self.has_no_context() {
                    self.context_free_hashes
                        .insert(node.id(), (hash, StoredDependencies::default()));
                }
                Ok(Some(hash))
            }
            Err(error) => {
                self.failed.get_or_insert_with(|| error.to_string());
                Err(error)
            }
        }
    }
}

/// Returns the sum of a node whose hook returned `hash`.
fn hooked_sum(info: &TypeInfo, hash: u64) -> HashSum {
    info.seed().add(ChildPosition::of(0), Hash128 { lo: hash, hi: TAG_HOOK })
}

fn part_failed_error(message: &str) -> Error {
    let error = format!("the hook continued after a part could not be hashed: {message}").into();
    Error::Hook { key: "", path: NodePath::root(), error }
}

impl HashCx<'_> {
    /// Hashes a part into `init`. With `def_region`, variables that first occur in it are bound, as in a def
    /// field; without, it is hashed like an ordinary field.
    ///
    /// # Errors
    /// As [`crate::hash`].
    pub fn hash<'a>(
        &mut self,
        part: impl Into<View<'a>>,
        init: u64,
        def_region: bool,
    ) -> Result<u64, Error> {
        let region = if def_region { self.region.of_field(FieldRole::Def) } else { self.region };
        let hash = self.state.hash_part(part.into(), region)?;
        Ok(Mixer::new(init).absorb_hash(hash).finish().lo)
    }
}
