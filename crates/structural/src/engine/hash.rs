//! The hash: [`Feed`] takes in what it can by calling itself, and what is deeper, shared, a scope,
//! hooked or a container whose keys depend on what is bound gets a frame here.

use std::rc::Rc;

use super::feed::{Binders, Feed, LEVELS, ORDERED};
use super::frames::Cursor;
use super::hash_state::{AtDepth, HashState};
use super::hook_context::{grow, keep_alive};
use super::key_memo::{self, Variables};
use super::keys::{fixed_hashes, key_hashes};
use super::scopes::Kept;
use super::state::Bound;
use super::ties::Entries;
use super::{Options, Region};
use crate::error::Error;
use crate::graph::{Graph, Heap, ViewOf};
use crate::hasher::{Hash128, Mixer, Position, Sum};
use crate::kind::{Facts, Kind, Role};
use crate::node::Field;
use crate::path::{Path, Step};
use crate::reference::NodeRef;
use crate::type_info::{Layout, TypeInfo};
use crate::values::Value;
use crate::view::View;

const TAG_ROOT: u64 = 0x31;
const TAG_HOOK: u64 = 0x32;
pub(super) const TAG_BINDERS: u64 = 0x33;

/// The hash of a whole graph. If it fails, the place of the error is right only if the walk is
/// `thorough`.
pub(crate) fn hash_root<'a, G: Graph<'a>>(
    g: G,
    view: ViewOf<'a, G>,
    options: Options,
    thorough: bool,
    stop_at: Option<usize>,
) -> Result<Hash128, Box<(Error, Option<Bound>)>> {
    let mut state = HashState::new(options, None, false);
    state.stop_at = stop_at;
    let most = if thorough { 0 } else { LEVELS };
    let result = Feed::new(g, &mut state, most).run(view, Region::start(options));
    let hash = match result {
        Ok(hash) => hash,
        Err(error) => return Err(Box::new((*error, state.stopped))),
    };
    let binders = state.binders[0];
    let mixed = match view {
        View::Node(node) => g.info(node).kind() != Kind::Var,
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

/// What to do when all children of a frame contributed.
#[derive(Clone, Copy)]
pub(super) enum After {
    Nothing,
    /// Keep the hash of a node that holds nothing that could be bound.
    Keep,
    /// Remember the hash of a shared node.
    Remember,
    /// Bind a variable, `hidden` if it was met below another one.
    Bind {
        hidden: bool,
    },
}

/// What is being hashed, and how far.
pub(super) struct Frame<N, L> {
    of: Cursor<N, L>,
    /// How many children were begun.
    begun: usize,
    len: usize,
    backwards: bool,
    region: Region,
    sum: Sum,
    scope: bool,
    tracked: bool,
    after: After,
    epoch: u32,
    hooked: Option<u64>,
    /// The children of a map (or set) whose order is not that in which it keeps them.
    entries: Option<Box<Entries>>,
}

impl<N: Copy, L: Copy> Frame<N, L> {
    pub(super) fn new(
        of: Cursor<N, L>,
        len: usize,
        region: Region,
        sum: Sum,
        after: After,
    ) -> Self {
        Self {
            of,
            begun: 0,
            len,
            backwards: false,
            region,
            sum,
            scope: false,
            tracked: false,
            after,
            epoch: 0,
            hooked: None,
            entries: None,
        }
    }

    /// The same in a direction.
    pub(super) fn going(self, backwards: bool) -> Self {
        Self { backwards, ..self }
    }

    /// The same, with the child `index` begun.
    pub(super) fn at(self, index: usize) -> Self {
        let begun = if self.backwards { self.len - index } else { index + 1 };
        Self { begun, ..self }
    }

    /// The child that was begun last.
    fn index(&self) -> Option<usize> {
        let before = self.begun.checked_sub(1)?;
        Some(if self.backwards { self.len - self.begun } else { before })
    }

    /// The child begun last contributes this.
    fn add(&mut self, part: Hash128) {
        let index = self.index();
        match (&mut self.entries, index) {
            (Some(entries), Some(index)) => entries.put(index, part),
            (None, Some(index)) => self.sum = self.sum.add(Position::of(index), part),
            (_, None) => {}
        }
    }

    /// Begins the next child that counts; nothing if there is none.
    fn begin<'a, G: Graph<'a, Node = N, List = L>>(
        &mut self,
        g: G,
    ) -> Option<(ViewOf<'a, G>, Region)> {
        while self.begun < self.len {
            self.begun += 1;
            let index = self.index()?;
            let node = match self.of {
                Cursor::List(list) => return Some((g.list_item(list, index), self.region)),
                Cursor::Node(node) => node,
            };
            if let Some(entries) = &self.entries {
                if entries.is_known(index) {
                    continue;
                }
                return Some((g.child(node, entries.places(index)?.0), self.region));
            }
            let role = g.info(node).fields().get(index).map_or(Role::Usual, |field| field.role);
            if role != Role::Ignore {
                return Some((g.child(node, index), self.region.of_field(role)));
            }
        }
        None
    }

    /// The step to the child begun last.
    fn step<'a, G: Graph<'a, Node = N, List = L>>(&self, g: G) -> Option<Step> {
        let index = self.index()?;
        let Cursor::Node(node) = self.of else { return Some(Step::Index(index)) };
        Some(match (g.info(node).layout(), &self.entries) {
            (Layout::Record, _) => Step::Field(g.info(node).fields().get(index)?.name.into()),
            (Layout::List, _) => Step::Index(index),
            (_, Some(entries)) => Step::Key(g.shown(g.child(node, entries.places(index)?.1))),
            (Layout::Map, None) => Step::Key(g.shown(g.child(node, index / 2 * 2))),
            (Layout::Set, None) => Step::Key(g.shown(g.child(node, index))),
        })
    }
}

impl<'a, G: Graph<'a>> Feed<'_, '_, 'a, G> {
    /// What `view` contributes to the hash of what holds it.
    pub(super) fn run(
        &mut self,
        view: ViewOf<'a, G>,
        region: Region,
    ) -> Result<Hash128, Box<Error>> {
        self.region = region;
        let mut part = self.value(&view);
        loop {
            if self.halted {
                if let Some(error) = self.failed.take() {
                    return Err(error);
                }
                self.halted = false;
                self.frames.extend(self.opened.drain(..).rev());
            } else if let Some(top) = self.frames.last_mut() {
                top.add(part);
            } else {
                return Ok(part);
            }
            part = self.go_on();
        }
    }

    /// What the next child of the innermost frame contributes. If there is none, the frame is closed:
    /// what it contributes itself.
    fn go_on(&mut self) -> Hash128 {
        let g = self.g;
        let Some(top) = self.frames.last_mut() else { return Hash128::default() };
        match top.begin(g) {
            Some((child, region)) => {
                self.region = region;
                self.backwards = top.backwards;
                self.levels = 0;
                self.value(&child)
            }
            None => self.close(),
        }
    }

    /// Opens a frame for a node.
    pub(super) fn open(&mut self, node: G::Node, region: Region, after: After) {
        self.halted = true;
        if let Err(error) = self.try_open(node, region, after) {
            self.failed = Some(error);
        }
    }

    fn try_open(&mut self, node: G::Node, region: Region, after: After) -> Result<(), Box<Error>> {
        let g = self.g;
        let info = g.info(node);
        let (remember, scope) = (matches!(after, After::Remember), info.is_scope());
        let region = region.inside(info);
        let mut entries = None;
        let mut len = g.len(node);
        let seed = info.seed_of(len);
        let tracked = remember || scope;
        if tracked {
            self.state.scopes.track();
            self.state.used.push(Variables::default());
        }
        if scope {
            self.state.scopes.enter();
            self.state.binders.push(Binders::NONE);
        }
        if info.layout().is_keyed() && len > 0 {
            let per_entry = info.layout().per_entry();
            let found = if g.key_hash(node, 0).is_none() {
                Some(Entries::with_keys(self.hash_keys(node)?, per_entry))
            } else if g.has_tied_keys(node) {
                fixed_hashes(g, node).map(|order| Entries::new(order, per_entry))
            } else {
                None
            };
            if let Some(mut found) = found {
                if per_entry == 2 {
                    found.hold_back(g, node);
                }
                len = found.len();
                entries = Some(Box::new(found));
            }
        }
        let epoch = self.state.epoch;
        let frame = Frame::new(Cursor::Node(node), len, region, seed, after);
        let mut frame = Frame { scope, tracked, entries, epoch, ..frame };
        if let Some(hooks) = info.hooks()
            && let Some(node) = g.heap(node)
        {
            let path = |this: &Self| this.path();
            let init = info.seed().finish().lo;
            let mut cx = HashCx { state: &mut *self.state, region };
            let result = hooks.hash(node, init, &mut cx);
            let hash = match &self.state.failed {
                Some(words) if result.is_ok() => Err(part_failed(words)),
                _ => result,
            };
            let hash = hash.map_err(|error| {
                let path = path(self);
                if let Some(bound) = &mut self.state.stopped {
                    bound.at.prefix(path.clone());
                }
                error.within(path)
            })?;
            frame = Frame { len: 0, hooked: Some(hash), ..frame };
        }
        self.opened.push(frame);
        Ok(())
    }

    /// Hashes the keys of a container whose keys depend on what is bound.
    fn hash_keys(&mut self, node: G::Node) -> Result<Vec<(Hash128, u32)>, Box<Error>> {
        let g = self.g;
        self.state.by_identity();
        let hash_keys = |this: &Self| {
            key_hashes(g, &*this.state, node).map_err(|error| error.within(this.path()))
        };
        let mut keys = hash_keys(self)?;
        if keys.found.bound_elsewhere() {
            for free in std::mem::take(&mut keys.found.free) {
                self.bind_free_in_key(free)?;
            }
            keys = hash_keys(self)?;
        }
        self.rest_on(keys.found)?;
        Ok(keys.order)
    }

    /// Ends the innermost frame: all its children contributed. What it contributes itself.
    fn close(&mut self) -> Hash128 {
        let g = self.g;
        let Some(mut frame) = self.frames.pop() else { return Hash128::default() };
        let Cursor::Node(node) = frame.of else { return frame.sum.finish() };
        let mut sum = match (frame.entries.take(), frame.hooked) {
            (_, Some(hash)) => hooked(g.info(node), hash),
            (Some(mut entries), None) => {
                if entries.has_held_back()
                    && let Err(error) = self.hash_tied_values(node, frame.region, &mut entries)
                {
                    return self.fail(*error);
                }
                entries.add_to(frame.sum)
            }
            (None, None) => frame.sum,
        };
        if frame.scope {
            let ended = self.state.scopes.depth();
            if let Some(used) = self.state.used.last_mut() {
                used.uses.retain(|used| used.bound.is_none_or(|(at, _)| at != ended));
            }
            match self.state.binders.pop() {
                Some(binders) if !binders.is_empty() => sum = sum.beside(binders.finish()),
                _ => {}
            }
            self.state.scopes.leave();
        }
        let hash = sum.finish();
        if frame.tracked {
            self.untrack(node, frame.region, hash, frame.epoch);
        }
        match frame.after {
            After::Bind { hidden } => self.bind(node, frame.region, hidden, hash),
            After::Keep => {
                self.state.plain.put(g, node, hash);
                hash
            }
            After::Nothing | After::Remember => hash,
        }
    }

    /// Ends tracking a node, and remembers its hash if it is met again.
    fn untrack(&mut self, node: G::Node, region: Region, hash: Hash128, epoch: u32) {
        let g = self.g;
        let remember = g.shared(node) && epoch == self.state.epoch;
        let basis = self.state.scopes.untrack(remember);
        let mut used = self.state.used.pop().unwrap_or_default();
        used.tidy();
        if let Some(outer) = self.state.used.last_mut() {
            outer.add(&used);
        }
        if !remember {
            return;
        }
        let kept = Kept::new(&basis);
        let depth = self.state.scopes.depth();
        if self.state.in_key() {
            let entry = key_memo::Entry { hash, kept, variables: Rc::new(used) };
            self.state.key_memo.put((g.id(node), depth, region), entry);
        } else if basis.touched.is_empty() {
            self.state.alone.insert(g.id(node), (hash, kept));
        } else {
            let owner = self.state.scopes.owner_of(&basis);
            self.state.at_depth.insert((g.id(node), depth), AtDepth { hash, owner, kept });
        }
    }

    /// If the binding about to be made is the one asked for, says where that is and ends the walk.
    #[inline]
    pub(super) fn stops_at(&mut self, node: G::Node) -> bool {
        if self.state.stop_at != Some(self.state.bindings_made) {
            return false;
        }
        self.stop(node);
        true
    }

    #[cold]
    fn stop(&mut self, node: G::Node) {
        let shown = format!("{:?}", self.g.shown(View::Node(node)));
        if let Err(error) = self.stop_here(&shown) {
            self.fail(*error);
        }
    }

    pub(super) fn stop_here(&mut self, shown: &str) -> Result<(), Box<Error>> {
        if self.state.stop_at != Some(self.state.bindings_made) {
            return Ok(());
        }
        let (left, right, at) = (shown.to_owned(), shown.to_owned(), self.path());
        self.state.stopped = Some(Bound { left, right, at });
        Err(Error::Hook { key: "", path: Path::root(), error: "stopped".into() }.into())
    }

    /// Where the walk is.
    pub(super) fn path(&self) -> Path {
        self.frames.iter().filter_map(|frame| frame.step(self.g)).collect()
    }
}

/// What a hash hook hashes its parts with. Like [`crate::EqualCx`], it cannot outlive the hook.
pub struct HashCx<'s> {
    state: &'s mut dyn HashParts,
    region: Region,
}

/// A [`HashState`], whatever it borrows from.
trait HashParts {
    fn hash_part(&mut self, view: View<'_>, region: Region) -> Result<Hash128, Error>;
}

impl HashParts for HashState<'_> {
    fn hash_part(&mut self, view: View<'_>, region: Region) -> Result<Hash128, Error> {
        if let Some(failed) = &self.failed {
            return Err(part_failed(failed));
        }
        if let View::Node(node) = view {
            if !node.facts().any(ORDERED)
                && let Some(hash) = self.plain.get(Heap, node)
            {
                return Ok(hash);
            }
            if let Some(hash) = self.hooked_at_once(node, region)? {
                return Ok(hash);
            }
        }
        keep_alive(view, &mut |node| self.kept.push(Value::Node(node.to_owned())));
        let hash = grow(|| Feed::new(Heap, self, 0).run(view, region)).map_err(|error| *error);
        if let Err(error) = &hash {
            self.failed = Some(error.to_string());
        }
        hash
    }
}

impl HashState<'_> {
    /// What a node with a hook of its own contributes, where no variable was met that it could rest on.
    fn hooked_at_once(
        &mut self,
        node: NodeRef<'_>,
        region: Region,
    ) -> Result<Option<Hash128>, Error> {
        const OTHERS: Facts = Facts::VAR.and(Facts::DAG).and(Facts::UNCOMPARABLE);
        let info = node.info();
        let Some(hooks) = info.hooks() else { return Ok(None) };
        if node.facts().any(OTHERS)
            || info.kind() != Kind::Tree
            || info.is_scope()
            || !self.is_blank()
        {
            return Ok(None);
        }
        if let Some((hash, _)) = self.alone.get(&node.id()) {
            return Ok(Some(*hash));
        }
        self.kept.push(Value::Node(node.to_owned()));
        let mut cx = HashCx { state: self, region };
        let mut result = grow(|| hooks.hash(node, info.seed().finish().lo, &mut cx));
        if let (Some(words), Ok(_)) = (&self.failed, &result) {
            result = Err(part_failed(words));
        }
        match result {
            Ok(hash) => {
                let hash = hooked(info, hash).finish();
                if self.is_blank() {
                    self.alone.insert(node.id(), (hash, Kept::default()));
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

/// The sum of a node whose hook gave `hash`.
fn hooked(info: &TypeInfo, hash: u64) -> Sum {
    info.seed().add(Position::of(0), Hash128 { lo: hash, hi: TAG_HOOK })
}

fn part_failed(words: &str) -> Error {
    let error = format!("it went on after a part could not be hashed: {words}").into();
    Error::Hook { key: "", path: Path::root(), error }
}

impl HashCx<'_> {
    /// `init` with a part taken in. With `def_region`, variables first met in it are bound, as in a
    /// def field; without, it is hashed as an ordinary field would be.
    ///
    /// # Errors
    /// As [`crate::hash`].
    pub fn hash(&mut self, part: &impl Field, init: u64, def_region: bool) -> Result<u64, Error> {
        self.hash_view(part.view(), init, def_region)
    }

    /// As [`HashCx::hash`], for a view.
    ///
    /// # Errors
    /// As [`crate::hash`].
    pub fn hash_view(&mut self, part: View<'_>, init: u64, def_region: bool) -> Result<u64, Error> {
        let region = if def_region { self.region.of_field(Role::Def) } else { self.region };
        let hash = self.state.hash_part(part, region)?;
        Ok(Mixer::new(init).absorb_hash(hash).finish().lo)
    }
}
