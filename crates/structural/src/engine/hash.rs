//! The ordered hash: what holds variables, hooks or uncomparable nodes is visited from the first
//! child to the last, so that bindings are numbered as the comparison makes them.
//!
//! A variable contributes how many scopes lie between it and its binder and which of that scope's
//! variables it is; one bound at the root, which is the same from everywhere, only the latter; a
//! free one its creation number. The fields of bound variables go into the hash of the scope that
//! binds them, so that the first and every later meeting contribute alike.

use std::rc::Rc;

use super::equal::refuse_variables;
use super::frames::Cursor;
use super::hash_state::{AtDepth, HashState};
use super::hook_context::{grow, keep_alive};
use super::key_memo::{self, Use, Variables};
use super::keys::{Bindings, key_hashes};
use super::plain;
use super::quick::AHEAD;
use super::scopes::{Basis, Kept};
use super::state::Bound;
use super::{Options, Region, scalars};
use crate::error::Error;
use crate::graph::{Graph, Heap, ViewOf};
use crate::hasher::{Hash128, Mixer};
use crate::kind::{Facts, Kind, Role};
use crate::node::Field;
use crate::path::{Path, Step};
use crate::type_info::{Layout, TypeInfo};
use crate::values::Value;
use crate::view::View;

const TAG_ROOT: u64 = 0x31;
const TAG_HOOK: u64 = 0x32;
const TAG_BINDERS: u64 = 0x33;

const FREE: u64 = 0x41;
const BOUND_AT_ROOT: u64 = 0x42;
/// The number of scopes between is added to this.
const BOUND: u64 = 0x1_0000;

/// What the order of visits must be taken from.
pub(super) const ORDERED: Facts = Facts::VAR.and(Facts::HOOK).and(Facts::UNCOMPARABLE);

/// How often the walk calls itself before it makes frames.
const LEVELS: u32 = 32;

/// The hash of a whole graph. If it fails, the place of the error is right only if the walk is
/// `thorough`.
pub(crate) fn hash_root<'a, G: Graph<'a>>(
    g: G,
    view: ViewOf<'a, G>,
    options: Options,
    thorough: bool,
    stop_at: Option<usize>,
) -> Result<Hash128, Box<(Error, Option<Bound>)>> {
    let mut state = HashState::new(options, None);
    state.stop_at = stop_at;
    let levels = if thorough { 0 } else { LEVELS };
    let result = HashWalk::new(g, &mut state, levels).run(view, Region::start(options));
    let hash = match result {
        Ok(hash) => hash,
        Err(error) => return Err(Box::new((*error, state.stopped))),
    };
    let binders = &state.binders[0];
    let mixed = match view {
        View::Node(node) => g.info(node).kind() != Kind::Var,
        View::List(_) => true,
        _ => false,
    };
    if binders.is_empty() && mixed {
        return Ok(hash);
    }
    // Scalars and variables contribute words that are not mixed yet.
    Ok(absorb_binders(Mixer::new(TAG_ROOT).absorb_hash(hash), binders).finish())
}

/// What is found of one key.
pub(super) struct HashedKey {
    pub(super) hash: Hash128,
    pub(super) basis: Basis,
    /// Variables found to be free: creation number and identity.
    pub(super) free: Vec<(u64, usize)>,
    /// Variables that a scope inside the key binds.
    pub(super) scoped: Vec<usize>,
    /// Variables that the key uses.
    pub(super) uses: Vec<Use>,
}

/// Hashes a key as things stand in `bindings`.
pub(super) fn hash_key<'a, G: Graph<'a>>(
    g: G,
    key: ViewOf<'a, G>,
    options: Options,
    bindings: &dyn Bindings,
) -> Result<HashedKey, Error> {
    let mut state = HashState::new(options, Some(bindings));
    // Keys may hold maps with such keys.
    let hash =
        grow(|| HashWalk::new(g, &mut state, 0).run(key, Region::KEY)).map_err(|error| *error)?;
    let basis = state.scopes.untrack(true);
    let uses = state.used.pop().unwrap_or_default().uses;
    Ok(HashedKey { hash, basis, free: state.free, scoped: state.scoped, uses })
}

#[derive(Clone, Copy)]
enum After {
    Nothing,
    Remember,
    /// Bind a variable, `hidden` if it was met below another one.
    Bind {
        hidden: bool,
    },
}

struct Frame<N, L> {
    of: Cursor<N, L>,
    next: usize,
    len: usize,
    region: Region,
    /// Where the parts of this frame begin.
    base: usize,
    scope: bool,
    tracked: bool,
    after: After,
    epoch: u32,
    hooked: Option<u64>,
    /// The entries of a map (or members of a set) whose keys depend on what is bound: their keys'
    /// contributions, and the order in which values are visited.
    entries: Option<Vec<(Hash128, u32)>>,
}

struct HashWalk<'w, 'o, 'a, G: Graph<'a>> {
    g: G,
    state: &'w mut HashState<'o>,
    frames: Vec<Frame<G::Node, G::List>>,
    /// What the children visited so far contribute, innermost frame last.
    parts: Vec<Hash128>,
    /// Frames that are made while the walk returns from calling itself, innermost first.
    opened: Vec<Frame<G::Node, G::List>>,
    /// How often the walk may call itself.
    levels: u32,
}

impl<'w, 'o, 'a, G: Graph<'a>> HashWalk<'w, 'o, 'a, G> {
    fn new(g: G, state: &'w mut HashState<'o>, levels: u32) -> Self {
        let (frames, parts, opened) = (Vec::new(), Vec::new(), Vec::new());
        Self { g, state, frames, parts, opened, levels }
    }

    /// What `view` contributes to the hash of what holds it.
    fn run(&mut self, view: ViewOf<'a, G>, region: Region) -> Result<Hash128, Box<Error>> {
        let (g, levels) = (self.g, self.levels);
        self.visit(view, region, levels)?;
        self.frames.extend(self.opened.drain(..).rev());
        while let Some(mut top) = self.frames.last_mut() {
            let (of, base) = (top.of, top.region);
            let mut done = true;
            while done && top.next < top.len {
                let index = top.next;
                top.next += 1;
                let (child, region) = match (&top.entries, of) {
                    (Some(order), Cursor::Node(node)) => {
                        (g.child(node, order[index].1 as usize * 2 + 1), base)
                    }
                    (_, Cursor::Node(node)) => {
                        let region = match g.info(node).fields().get(index) {
                            Some(field) if field.role == Role::Ignore => continue,
                            Some(field) => base.of_field(field.role),
                            None => base,
                        };
                        (g.child(node, index), region)
                    }
                    (_, Cursor::List(list)) => (g.list_item(list, index), base),
                };
                done = self.visit(child, region, levels)?;
                let Some(same) = self.frames.last_mut() else { break };
                top = same;
            }
            if done {
                self.close()?;
            }
            self.frames.extend(self.opened.drain(..).rev());
        }
        Ok(self.parts.pop().unwrap_or_default())
    }

    /// Takes in a child: adds what it contributes, or opens a frame that will. Whether it was added.
    #[inline]
    fn visit(
        &mut self,
        view: ViewOf<'a, G>,
        region: Region,
        levels: u32,
    ) -> Result<bool, Box<Error>> {
        match view {
            View::Node(node) => self.visit_node(node, region, levels),
            View::List(list) => self.visit_list(list, region, levels),
            scalar => {
                let skip = self.state.options.skip_tensor_content;
                if let Some(words) = scalars::contribution(&scalar, skip) {
                    self.parts.push(words);
                }
                Ok(true)
            }
        }
    }

    fn visit_node(
        &mut self,
        node: G::Node,
        region: Region,
        levels: u32,
    ) -> Result<bool, Box<Error>> {
        let g = self.g;
        let (info, facts) = (g.info(node), g.facts(node));
        if info.kind() == Kind::Var {
            return self.visit_variable(node, region, levels);
        }
        if info.kind() == Kind::Uncomparable {
            return Err(Error::Uncomparable { key: info.key(), path: self.path() }.into());
        }
        if matches!(info.kind(), Kind::ConstTree | Kind::Singleton) {
            refuse_variables(info, facts).map_err(|error| error.within(self.path()))?;
        }
        if !facts.any(ORDERED) {
            let hash = plain::hash(g, node, &mut self.state.plain)
                .map_err(|error| error.within(self.path()))?;
            self.parts.push(hash);
            return Ok(true);
        }
        let shared = g.shared(node);
        if shared && let Some(hash) = self.state.remembered(g.id(node)) {
            self.parts.push(hash);
            return Ok(true);
        }
        if levels > 0 && !shared && is_simple(info) {
            let base = self.parts.len();
            if !self.visit_fields(node, region, levels, After::Nothing)? {
                return Ok(false);
            }
            let hash = self.fold(info.seed_of(info.fields().len()), base).finish();
            self.parts.push(hash);
            return Ok(true);
        }
        let after = if shared { After::Remember } else { After::Nothing };
        self.open(node, region, after)?;
        Ok(false)
    }

    /// Takes in the fields of a node that needs no frame. Whether all are taken in; if not, it has
    /// a frame now.
    #[inline]
    fn visit_fields(
        &mut self,
        node: G::Node,
        region: Region,
        levels: u32,
        after: After,
    ) -> Result<bool, Box<Error>> {
        let g = self.g;
        let base = self.parts.len();
        for (index, field) in g.info(node).fields().iter().enumerate() {
            if field.role == Role::Ignore {
                continue;
            }
            let child = g.child(node, index);
            if !self.visit(child, region.of_field(field.role), levels - 1)? {
                let frame = self.frame(Cursor::Node(node), g.len(node), region, after);
                self.opened.push(Frame { next: index + 1, base, ..frame });
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn visit_list(
        &mut self,
        list: G::List,
        region: Region,
        levels: u32,
    ) -> Result<bool, Box<Error>> {
        let g = self.g;
        let (base, len) = (self.parts.len(), g.list_len(list));
        for index in 0..len {
            let frame = |this: &Self, next| {
                let frame = this.frame(Cursor::List(list), len, region, After::Nothing);
                Frame { next, base, ..frame }
            };
            if levels == 0 {
                self.opened.push(frame(self, 0));
                return Ok(false);
            }
            if index + AHEAD < len
                && let View::Node(node) = g.list_item(list, index + AHEAD)
            {
                g.prefetch(node);
            }
            if !self.visit(g.list_item(list, index), region, levels - 1)? {
                self.opened.push(frame(self, index + 1));
                return Ok(false);
            }
        }
        let hash = self.fold(plain::list_seed(len), base).finish();
        self.parts.push(hash);
        Ok(true)
    }

    fn visit_variable(
        &mut self,
        node: G::Node,
        region: Region,
        levels: u32,
    ) -> Result<bool, Box<Error>> {
        let depth = self.state.scopes.depth();
        if let Some((at, index, number)) = self.state.binding_of(self.g, node) {
            if region.is_def() && (1..depth).contains(&at) {
                return Err(Error::Shadowing {
                    variable: format!("{:?}", self.g.shown(View::Node(node))),
                    outer: Path::root(),
                    inner: self.path(),
                    binding: number,
                }
                .into());
            }
            self.state.scopes.touch(at);
            self.note_use(node, at, index);
            self.parts.push(self.contribution(node, at, index));
            return Ok(true);
        }
        if region.leaves_free() {
            self.stop_at(node)?;
            self.state.bind_free(self.g, node);
            self.state.free.push((self.g.serial(node), self.g.id(node)));
            self.note_use(node, 0, None);
            self.parts.push(self.contribution(node, 0, None));
            return Ok(true);
        }
        let (info, hidden, region) = (self.g.info(node), region.is_below_var(), region.below_var());
        if levels == 0 || !is_simple(info) {
            self.open(node, region, After::Bind { hidden })?;
            return Ok(false);
        }
        let base = self.parts.len();
        if !self.visit_fields(node, region, levels, After::Bind { hidden })? {
            return Ok(false);
        }
        let hash = self.fold(info.seed_of(info.fields().len()), base).finish();
        let part = self.bind(node, region, hidden, hash)?;
        self.parts.push(part);
        Ok(true)
    }

    /// Binds a variable whose fields hash to `hash`; what it contributes.
    #[inline]
    fn bind(
        &mut self,
        node: G::Node,
        region: Region,
        hidden: bool,
        hash: Hash128,
    ) -> Result<Hash128, Box<Error>> {
        self.stop_at(node)?;
        let depth = if region.binds_in_scope() { self.state.scopes.depth() } else { 0 };
        self.state.binders[depth as usize].push(hash);
        let index = self.state.bind_in(self.g, node, depth, hidden);
        self.note_use(node, depth, Some(index));
        Ok(self.contribution(node, depth, Some(index)))
    }

    /// In a key, notes that a variable is used; see [`KeyMemo`].
    fn note_use(&mut self, node: G::Node, at: u32, index: Option<u32>) {
        if self.state.in_key()
            && let Some(used) = self.state.used.last_mut()
        {
            let bound = index.map(|index| (at, index));
            used.uses.push(Use { variable: self.g.id(node), bound, serial: self.g.serial(node) });
        }
    }

    fn contribution(&self, node: G::Node, at: u32, index: Option<u32>) -> Hash128 {
        let depth = self.state.scopes.depth();
        match index {
            None => Hash128 { lo: self.g.serial(node), hi: FREE },
            Some(index) if at == 0 => Hash128 { lo: index.into(), hi: BOUND_AT_ROOT },
            Some(index) => Hash128 { lo: index.into(), hi: BOUND + u64::from(depth - at) },
        }
    }

    fn open(&mut self, node: G::Node, region: Region, after: After) -> Result<(), Box<Error>> {
        let g = self.g;
        let info = g.info(node);
        let (remember, scope) = (matches!(after, After::Remember), info.is_scope());
        let region = region.inside(info);
        let mut entries = None;
        let mut len = g.len(node);
        let tracked = remember || scope;
        if tracked {
            self.state.scopes.track();
            self.state.used.push(Variables::default());
        }
        if scope {
            self.state.scopes.enter();
            self.state.binders.push(Vec::new());
        }
        if matches!(info.layout(), Layout::Map | Layout::Set)
            && len > 0
            && g.key_hash(node, 0).is_none()
        {
            let order = self.hash_keys(node)?;
            len = 0;
            if info.layout() == Layout::Map {
                self.refuse_collisions(node, &order)?;
                len = order.len();
            }
            entries = Some(order);
        }
        let frame = self.frame(Cursor::Node(node), len, region, after);
        let mut frame = Frame { scope, tracked, entries, ..frame };
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
        let (g, options) = (self.g, self.state.options);
        self.state.by_identity();
        let hash_keys = |this: &Self| {
            key_hashes(g, &*this.state, options, node).map_err(|error| error.within(this.path()))
        };
        let mut keys = hash_keys(self)?;
        let again = keys.bound_elsewhere();
        for free in std::mem::take(&mut keys.free) {
            self.stop_here("a free variable")?;
            self.state.bind_free_in_key(free.1);
            self.state.free.push(free);
        }
        if again {
            keys = hash_keys(self)?;
        }
        for variable in keys.scoped {
            self.state.note_scoped(variable);
        }
        if let Some(used) = self.state.used.last_mut() {
            used.uses.extend(keys.uses);
        }
        self.state.scopes.rest_on(&keys.basis);
        Ok(keys.order)
    }

    fn frame(
        &self,
        of: Cursor<G::Node, G::List>,
        len: usize,
        region: Region,
        after: After,
    ) -> Frame<G::Node, G::List> {
        let (base, epoch) = (self.parts.len(), self.state.epoch);
        Frame {
            of,
            next: 0,
            len,
            region,
            base,
            scope: false,
            tracked: false,
            after,
            epoch,
            hooked: None,
            entries: None,
        }
    }

    /// Ends the innermost frame: all its children contributed.
    fn close(&mut self) -> Result<(), Box<Error>> {
        let g = self.g;
        let Some(mut frame) = self.frames.pop() else { return Ok(()) };
        let node = match frame.of {
            Cursor::Node(node) => node,
            Cursor::List(_) => {
                let seed = plain::list_seed(frame.len);
                let hash = self.fold(seed, frame.base).finish();
                self.parts.push(hash);
                return Ok(());
            }
        };
        let info = g.info(node);
        let seed = plain::node_seed(g, node, g.len(node));
        let state = match (frame.entries.take(), frame.hooked) {
            (_, Some(hash)) => info.seed().absorb(hash, TAG_HOOK),
            (Some(members), _) if info.layout() == Layout::Set => {
                members.iter().rev().fold(seed, |state, (hash, _)| state.absorb_hash(*hash))
            }
            (Some(order), _) => {
                let keys = order.iter().map(|(key, _)| *key);
                let mut entries: Vec<(Hash128, Hash128)> =
                    keys.zip(self.parts.drain(frame.base..)).collect();
                // Keys that a hook hashes alike: their values hold no variables, so any order of
                // visits will do, and this one is the same for equal maps.
                entries.sort_unstable();
                entries
                    .iter()
                    .rev()
                    .fold(seed, |state, (key, value)| state.absorb_hash(*value).absorb_hash(*key))
            }
            _ => self.fold(seed, frame.base),
        };
        self.parts.truncate(frame.base);
        let mut hash = state.finish();
        if frame.scope {
            let ended = self.state.scopes.depth();
            if let Some(used) = self.state.used.last_mut() {
                used.uses.retain(|used| used.bound.is_none_or(|(at, _)| at != ended));
            }
            let binders = self.state.binders.pop().unwrap_or_default();
            if !binders.is_empty() {
                hash = absorb_binders(state, &binders).finish();
            }
            self.state.scopes.leave();
        }
        if frame.tracked {
            let remember = g.shared(node) && frame.epoch == self.state.epoch;
            let basis = self.state.scopes.untrack(remember);
            let mut used = self.state.used.pop().unwrap_or_default();
            used.tidy();
            if let Some(outer) = self.state.used.last_mut() {
                outer.add(&used);
            }
            if remember {
                let kept = Kept::new(&basis);
                let depth = self.state.scopes.depth();
                if self.state.in_key() {
                    let entry = key_memo::Entry { hash, kept, variables: Rc::new(used) };
                    self.state.key_memo.put(g.id(node), depth, entry);
                } else if basis.touched.is_empty() {
                    self.state.alone.insert(g.id(node), (hash, kept));
                } else {
                    let owner = self.state.scopes.owner_of(&basis);
                    let entry = AtDepth { hash, owner, kept };
                    self.state.at_depth.insert((g.id(node), self.state.scopes.depth()), entry);
                }
            }
        }
        if let After::Bind { hidden } = frame.after {
            hash = self.bind(node, frame.region, hidden, hash)?;
        }
        self.parts.push(hash);
        Ok(())
    }

    /// The parts from `base` on, taken in from the last to the first.
    #[inline]
    fn fold(&mut self, seed: Mixer, base: usize) -> Mixer {
        let state =
            self.parts[base..].iter().rev().fold(seed, |state, &part| state.absorb_hash(part));
        self.parts.truncate(base);
        state
    }

    fn refuse_collisions(&self, map: G::Node, order: &[(Hash128, u32)]) -> Result<(), Box<Error>> {
        let holds_variables = |entry: u32| {
            matches!(self.g.child(map, entry as usize * 2 + 1),
                View::Node(node) if self.g.facts(node).any(Facts::VAR))
        };
        let collide = order
            .chunk_by(|a, b| a.0 == b.0)
            .any(|group| group.len() > 1 && group.iter().any(|&(_, entry)| holds_variables(entry)));
        if collide { Err(Error::KeyCollision { path: self.path() }.into()) } else { Ok(()) }
    }

    /// If the binding about to be made is the one asked for, says where that is.
    fn stop_at(&mut self, node: G::Node) -> Result<(), Box<Error>> {
        if self.state.stop_at != Some(self.state.bindings_made) {
            return Ok(());
        }
        self.stop_here(&format!("{:?}", self.g.shown(View::Node(node))))
    }

    fn stop_here(&mut self, shown: &str) -> Result<(), Box<Error>> {
        if self.state.stop_at != Some(self.state.bindings_made) {
            return Ok(());
        }
        let (left, right, at) = (shown.to_owned(), shown.to_owned(), self.path());
        self.state.stopped = Some(Bound { left, right, at });
        Err(Error::Hook { key: "", path: Path::root(), error: "stopped".into() }.into())
    }

    /// Where the walk is.
    fn path(&self) -> Path {
        let g = self.g;
        let step = |frame: &Frame<G::Node, G::List>| {
            let index = frame.next.checked_sub(1)?;
            Some(match frame.of {
                Cursor::List(_) => Step::Index(index),
                Cursor::Node(node) => match (g.info(node).layout(), &frame.entries) {
                    (Layout::Record, _) => {
                        Step::Field(g.info(node).fields().get(index)?.name.into())
                    }
                    (Layout::List, _) => Step::Index(index),
                    (Layout::Map, Some(order)) => {
                        Step::Key(g.shown(g.child(node, order.get(index)?.1 as usize * 2)))
                    }
                    (Layout::Map, None) => Step::Key(g.shown(g.child(node, index / 2 * 2))),
                    (Layout::Set, _) => Step::Key(g.shown(g.child(node, index))),
                },
            })
        };
        self.frames.iter().filter_map(step).collect()
    }
}

/// Whether a node of the type, if it is not shared, is hashed by its fields alone.
#[inline]
fn is_simple(info: &TypeInfo) -> bool {
    info.layout() == Layout::Record && !info.is_scope() && info.hooks().is_none()
}

fn absorb_binders(state: Mixer, binders: &[Hash128]) -> Mixer {
    binders.iter().fold(state.absorb(binders.len() as u64, TAG_BINDERS), |state, &hash| {
        state.absorb_hash(hash)
    })
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
        keep_alive(view, &mut |node| self.kept.push(Value::Node(node.to_owned())));
        let hash = grow(|| HashWalk::new(Heap, self, 0).run(view, region)).map_err(|error| *error);
        if let Err(error) = &hash {
            self.failed = Some(error.to_string());
        }
        hash
    }
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
