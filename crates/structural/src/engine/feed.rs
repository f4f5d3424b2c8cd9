//! The walk of a hash: it takes in children and says what each contributes.
//!
//! What holds variables, hooks or uncomparable nodes is visited from the first child to the last, so
//! that bindings are numbered as the comparison makes them. Below a node without any the order of
//! visits is free, and the last child is visited first, which walks memory in the order in which
//! bottom-up construction allocated it.
//!
//! The walk calls itself, but only so many times: then it *halts*, every call that is open leaves
//! behind a frame, and `hash.rs` goes on with the frames.

use super::Region;
use super::equal::refuse_variables;
use super::frames::Cursor;
use super::hash::{After, Frame, TAG_BINDERS};
use super::hash_state::HashState;
use super::key_memo::{KNOWN_FREE, Use};
use super::quick::AHEAD;
use super::scalars;
use crate::error::Error;
use crate::graph::{Graph, Heap, ViewOf};
use crate::hasher::{Hash128, Mixer, Position, Sum};
use crate::kind::{Facts, Kind, Role};
use crate::path::Path;
use crate::type_info::{LIST_SEED, Layout, TypeInfo};
use crate::view::View;

const FREE: u64 = 0x41;
const BOUND_AT_ROOT: u64 = 0x42;
const IDENTITY: u64 = 0x43;
/// The number of scopes between is added to this.
const BOUND: u64 = 0x1_0000;

/// What the order of visits must be taken from.
pub(super) const ORDERED: Facts = Facts::VAR.and(Facts::HOOK).and(Facts::UNCOMPARABLE);

/// How often the walk calls itself before it makes frames.
pub(super) const LEVELS: u32 = 32;

/// What the variables that a scope binds contribute to its hash: their fields, so that the first and
/// every later meeting contribute alike.
#[derive(Clone, Copy)]
pub(super) struct Binders {
    sum: Sum,
    count: usize,
}

impl Binders {
    pub(super) const NONE: Self = Self { sum: Sum::domain(Mixer::new(TAG_BINDERS)), count: 0 };

    #[inline]
    pub(super) fn add(&mut self, hash: Hash128) {
        self.add_at(self.count, hash);
    }

    /// Adds a variable at a position that it may share with others.
    #[inline]
    pub(super) fn add_at(&mut self, position: usize, hash: Hash128) {
        self.sum = self.sum.add(Position::of(position), hash);
        self.count += 1;
    }

    /// The position of the next variable.
    pub(super) fn next(&self) -> usize {
        self.count
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(super) fn finish(self) -> Hash128 {
        Sum::new(self.sum, self.count).finish()
    }
}

/// Takes in fields and says what each contributes to the hash of its node. See
/// [`crate::Field::part`].
pub struct Feed<'w, 'o, 'a, G: Graph<'a> = Heap> {
    pub(super) g: G,
    pub(super) state: &'w mut HashState<'o>,
    pub(super) frames: Vec<Frame<G::Node, G::List>>,
    /// Frames that are made while the walk returns from calling itself, innermost first.
    pub(super) opened: Vec<Frame<G::Node, G::List>>,
    /// Of the children being taken in.
    pub(super) region: Region,
    /// Whether children are taken in from the last to the first.
    pub(super) backwards: bool,
    /// Whether the walk returns, to go on with frames or because it failed.
    pub(super) halted: bool,
    /// Which child of the innermost node halted, and what those before it contributed.
    left: (usize, Sum),
    /// How often the walk called itself, and how often it may.
    pub(super) levels: u32,
    most: u32,
    /// Whether nothing was hashed below the plain node that was begun last.
    flat: bool,
    pub(super) failed: Option<Box<Error>>,
}

impl<'w, 'o, 'a, G: Graph<'a>> Feed<'w, 'o, 'a, G> {
    /// A walk that calls itself at most `most` times where something may fail.
    pub(super) fn new(g: G, state: &'w mut HashState<'o>, most: u32) -> Self {
        Self {
            g,
            state,
            frames: Vec::new(),
            opened: Vec::new(),
            region: Region::KEY,
            backwards: false,
            halted: false,
            left: (0, LIST_SEED),
            levels: 0,
            most,
            flat: false,
            failed: None,
        }
    }

    /// Whether children are to be taken in from the last to the first.
    #[must_use]
    #[inline]
    pub fn backwards(&self) -> bool {
        self.backwards
    }

    /// Whether to [leave](Feed::leave): what was returned last means nothing.
    #[must_use]
    #[inline]
    pub fn halted(&self) -> bool {
        self.halted
    }

    /// Leaves a node at the child `index`, which halted; `sum` holds those before it.
    #[must_use]
    #[inline]
    pub fn leave(&mut self, index: usize, sum: Sum) -> Sum {
        self.left = (index, sum);
        sum
    }

    /// A def field: what `part` takes in is met in a def region.
    #[inline]
    pub fn define(&mut self, part: impl FnOnce(&mut Self) -> Hash128) -> Hash128 {
        let around = self.region;
        self.region = around.of_field(Role::Def);
        let hash = part(self);
        self.region = around;
        hash
    }

    /// What a value in a field of a role contributes.
    #[inline]
    pub fn field(&mut self, role: Role, view: &ViewOf<'a, G>) -> Hash128 {
        match role {
            Role::Def => self.define(|feed| feed.value(view)),
            Role::Usual | Role::Ignore => self.value(view),
        }
    }

    /// What a value contributes.
    #[inline]
    pub fn value(&mut self, view: &ViewOf<'a, G>) -> Hash128 {
        match view {
            View::Node(node) => self.node(*node),
            View::List(list) => self.list(*list),
            scalar => {
                let skip = self.state.options.skip_tensor_content;
                scalars::contribution(scalar, skip).unwrap_or_default()
            }
        }
    }

    /// What a node contributes.
    #[inline]
    pub fn node(&mut self, node: G::Node) -> Hash128 {
        let facts = self.g.facts(node);
        if facts.any(ORDERED) {
            return self.in_order(node);
        }
        match self.state.plain.get(self.g, node) {
            Some(hash) => hash,
            None if self.backwards && facts.is_none() => self.bare(node),
            None => self.plain(node),
        }
    }

    /// What an integer contributes.
    #[must_use]
    #[inline]
    pub fn int(&self, value: i64) -> Hash128 {
        scalars::int(value)
    }

    /// An element of a list will soon be looked at.
    #[inline]
    pub(crate) fn fetch(&self, value: &ViewOf<'a, G>) {
        if let View::Node(node) = value {
            self.g.prefetch(*node);
        }
    }

    /// Where the hash of a list of `len` elements starts; nothing if the list needs a frame.
    #[inline]
    pub(crate) fn begin_list(&mut self, list: G::List, len: usize) -> Option<Sum> {
        let sum = Sum::new(LIST_SEED, len);
        if self.most == 0 && self.levels == 0 && len > 0 {
            self.opened.push(self.list_frame(list, len, sum));
            self.halted = true;
            return None;
        }
        Some(sum)
    }

    /// Leaves a list at the element `index`, which halted.
    #[cold]
    pub(crate) fn leave_list(&mut self, list: G::List, index: usize, sum: Sum) -> Hash128 {
        let frame = self.list_frame(list, self.g.list_len(list), sum);
        self.opened.push(frame.at(index));
        Hash128::default()
    }

    fn list_frame(&self, list: G::List, len: usize, sum: Sum) -> Frame<G::Node, G::List> {
        Frame::new(Cursor::List(list), len, self.region, sum, After::Nothing).going(self.backwards)
    }

    #[inline(never)]
    fn list(&mut self, list: G::List) -> Hash128 {
        let (g, len) = (self.g, self.g.list_len(list));
        let Some(mut sum) = self.begin_list(list, len) else { return Hash128::default() };
        for step in 0..len {
            let index = if self.backwards { len - 1 - step } else { step };
            if !self.backwards && index + AHEAD < len {
                self.fetch(&g.list_item(list, index + AHEAD));
            }
            let part = self.value(&g.list_item(list, index));
            if self.halted {
                return self.leave_list(list, index, sum);
            }
            sum = sum.add(Position::of(index), part);
        }
        sum.finish()
    }

    /// All children of a node that count, one by one.
    pub(crate) fn children(&mut self, node: G::Node, mut sum: Sum) -> Sum {
        let (g, len) = (self.g, self.g.len(node));
        let fields = g.info(node).fields();
        for step in 0..len {
            let index = if self.backwards { len - 1 - step } else { step };
            let role = fields.get(index).map_or(Role::Usual, |field| field.role);
            if role == Role::Ignore {
                continue;
            }
            let part = self.field(role, &g.child(node, index));
            if self.halted {
                return self.leave(index, sum);
            }
            sum = sum.add(Position::of(index), part);
        }
        sum
    }

    /// A node below which nothing needs care, as the one above it, whose hash is not known.
    fn bare(&mut self, node: G::Node) -> Hash128 {
        let g = self.g;
        let info = g.info(node);
        if self.levels >= LEVELS || !info.is_plain() {
            return self.plain(node);
        }
        self.levels += 1;
        self.flat = true;
        let sum = g.feed_children(node, info.record_seed(), self);
        self.levels -= 1;
        if self.halted {
            return self.suspend_plain(node, self.region);
        }
        self.keep(node, sum.finish())
    }

    /// Leaves a frame behind for a node without variables below, one of whose fields halted.
    #[cold]
    fn suspend_plain(&mut self, node: G::Node, region: Region) -> Hash128 {
        let (len, (index, sum)) = (self.g.len(node), self.left);
        let frame = Frame::new(Cursor::Node(node), len, region, sum, After::Keep);
        self.opened.push(frame.going(true).at(index));
        Hash128::default()
    }

    /// The hash of a node without variables below, all of whose fields were taken in.
    #[inline]
    fn keep(&mut self, node: G::Node, hash: Hash128) -> Hash128 {
        // A leaf is hashed again sooner than its hash is written to memory. Not where it is asked
        // for: all that is hashed twice is looked up the second time.
        let flat = std::mem::replace(&mut self.flat, false);
        if !flat || self.levels == 0 || self.g.shared(node) {
            self.state.plain.put(self.g, node, hash);
        }
        hash
    }

    /// A node without variables, hooks and uncomparable nodes, whose hash is not known.
    fn plain(&mut self, node: G::Node) -> Hash128 {
        let g = self.g;
        let (info, facts) = (g.info(node), g.facts(node));
        if !info.is_plain() {
            if info.kind() == Kind::Singleton && self.state.identify {
                return identity(g.id(node));
            }
            if info.layout().is_keyed() && g.has_tied_keys(node) {
                self.open(node, self.region, After::Keep);
                return Hash128::default();
            }
        }
        let mut most = LEVELS;
        if !facts.is_none() {
            // A type that promises to hold no dag nodes is held to it; only that can fail.
            most = self.most;
            if self.refuses_variables(info, facts) {
                return Hash128::default();
            }
        }
        let (len, region) = (g.len(node), self.region);
        let seed = info.seed_of(len);
        if self.levels >= most {
            let frame = Frame::new(Cursor::Node(node), len, region, seed, After::Keep);
            self.opened.push(frame.going(true));
            self.halted = true;
            return Hash128::default();
        }
        let around = std::mem::replace(&mut self.backwards, true);
        self.levels += 1;
        self.flat = true;
        let sum = g.feed_children(node, seed, self);
        self.levels -= 1;
        self.backwards = around;
        if self.halted {
            return self.suspend_plain(node, region);
        }
        self.keep(node, sum.finish())
    }

    /// A node that holds variables, hooks or uncomparable nodes.
    fn in_order(&mut self, node: G::Node) -> Hash128 {
        let g = self.g;
        let info = g.info(node);
        match info.kind() {
            Kind::Var => return self.variable(node, info),
            Kind::Tree | Kind::Dag => {}
            Kind::Uncomparable => {
                let (key, path) = (info.key(), self.path());
                return self.fail(Error::Uncomparable { key, path });
            }
            Kind::ConstTree => {
                if self.refuses_variables(info, g.facts(node)) {
                    return Hash128::default();
                }
            }
            Kind::Singleton if self.state.identify => return identity(g.id(node)),
            Kind::Singleton if g.facts(node).any(Facts::VAR.and(Facts::UNCOMPARABLE)) => {
                return self.scalar_fields(node, info);
            }
            Kind::Singleton => {}
        }
        let shared = g.shared(node);
        if shared && let Some(hash) = self.state.remembered(g.id(node), self.region.inside(info)) {
            return hash;
        }
        if shared || self.levels >= self.most || !is_simple(info) {
            let after = if shared { After::Remember } else { After::Nothing };
            self.open(node, self.region, after);
            return Hash128::default();
        }
        self.levels += 1;
        let sum = g.feed_children(node, info.seed_of(info.fields().len()), self);
        self.levels -= 1;
        if self.halted {
            return self.suspend(node, self.region, After::Nothing);
        }
        sum.finish()
    }

    /// The hash of a singleton that holds variables or uncomparable nodes. It is equal to itself
    /// whatever is bound around it, so only fields count that hold neither: the scalars.
    #[cold]
    fn scalar_fields(&self, node: G::Node, info: &TypeInfo) -> Hash128 {
        let skip = self.state.options.skip_tensor_content;
        let mut sum = info.seed_of(self.g.len(node));
        for (index, field) in info.fields().iter().enumerate() {
            if field.role != Role::Ignore
                && let Some(part) = scalars::contribution(&self.g.child(node, index), skip)
            {
                sum = sum.add(Position::of(index), part);
            }
        }
        sum.finish()
    }

    /// Leaves a frame behind for a node one of whose fields halted.
    #[cold]
    fn suspend(&mut self, node: G::Node, region: Region, after: After) -> Hash128 {
        let (len, (index, sum)) = (self.g.len(node), self.left);
        self.opened.push(Frame::new(Cursor::Node(node), len, region, sum, after).at(index));
        Hash128::default()
    }

    #[inline(never)]
    fn variable(&mut self, node: G::Node, info: &TypeInfo) -> Hash128 {
        let (g, region) = (self.g, self.region);
        if let Some((at, index, number)) = self.state.binding_of(g, node) {
            if region.is_def() && (1..self.state.scopes.depth()).contains(&at) {
                return self.refuse_shadowing(node, number);
            }
            self.state.scopes.touch(at);
            self.note_use(node, at, Some(index.unwrap_or(KNOWN_FREE)));
            return self.contribution(node, at, index);
        }
        if region.leaves_free() {
            return self.free(node);
        }
        self.meet_first(node, info)
    }

    /// A variable that is to be bound.
    fn meet_first(&mut self, node: G::Node, info: &TypeInfo) -> Hash128 {
        let (g, region) = (self.g, self.region);
        let (hidden, inside) = (region.is_below_var(), region.below_var());
        if self.levels >= self.most || !is_simple(info) {
            self.open(node, inside, After::Bind { hidden });
            return Hash128::default();
        }
        self.region = inside;
        self.levels += 1;
        let sum = g.feed_children(node, info.seed_of(info.fields().len()), self);
        self.levels -= 1;
        self.region = region;
        if self.halted {
            return self.suspend(node, inside, After::Bind { hidden });
        }
        self.bind(node, inside, hidden, sum.finish())
    }

    /// Binds a variable whose fields hash to `hash`; what it contributes.
    #[inline]
    pub(super) fn bind(
        &mut self,
        node: G::Node,
        region: Region,
        hidden: bool,
        hash: Hash128,
    ) -> Hash128 {
        if self.stops_at(node) {
            return Hash128::default();
        }
        let depth = if region.binds_in_scope() { self.state.scopes.depth() } else { 0 };
        let index = self.state.bind_in(self.g, node, depth, hidden, hash);
        self.note_use(node, depth, Some(index));
        self.contribution(node, depth, Some(index))
    }

    /// A variable that nothing binds.
    #[cold]
    fn free(&mut self, node: G::Node) -> Hash128 {
        if self.stops_at(node) {
            return Hash128::default();
        }
        self.state.bind_free(self.g, node);
        self.state.free.push((self.g.serial(node), self.g.id(node)));
        self.note_use(node, 0, None);
        self.contribution(node, 0, None)
    }

    /// In a key, notes that a variable is used; see [`super::key_memo::KeyMemo`].
    #[inline]
    fn note_use(&mut self, node: G::Node, at: u32, index: Option<u32>) {
        if self.state.in_key() {
            let bound = index.map(|index| (at, index));
            let (variable, serial) = (self.g.id(node), self.g.serial(node));
            self.state.note_use(Use { variable, bound, serial });
        }
    }

    /// A variable contributes how many scopes lie between it and its binder and which of that scope's
    /// variables it is; one bound at the root, which is the same from everywhere, only the latter; a
    /// free one its creation number.
    #[inline]
    fn contribution(&self, node: G::Node, at: u32, index: Option<u32>) -> Hash128 {
        let depth = self.state.scopes.depth();
        match index {
            None => Hash128 { lo: self.g.serial(node), hi: FREE },
            Some(index) if at == 0 => Hash128 { lo: index.into(), hi: BOUND_AT_ROOT },
            Some(index) => Hash128 { lo: index.into(), hi: BOUND + u64::from(depth - at) },
        }
    }

    /// The walk ends with an error.
    #[cold]
    pub(super) fn fail(&mut self, error: Error) -> Hash128 {
        self.failed = Some(error.into());
        self.halted = true;
        Hash128::default()
    }

    #[cold]
    fn refuse_shadowing(&mut self, node: G::Node, binding: usize) -> Hash128 {
        let variable = format!("{:?}", self.g.shown(View::Node(node)));
        let (outer, inner) = (Path::root(), self.path());
        self.fail(Error::Shadowing { variable, outer, inner, binding })
    }

    /// Whether a type that promises to hold no variables and dag nodes holds some.
    fn refuses_variables(&mut self, info: &TypeInfo, facts: Facts) -> bool {
        if info.kind() == Kind::ConstTree
            && let Err(error) = refuse_variables(info, facts)
        {
            let error = error.within(self.path());
            self.fail(error);
        }
        self.halted
    }
}

/// What a singleton contributes where it counts by identity.
fn identity(id: usize) -> Hash128 {
    Hash128 { lo: id as u64, hi: IDENTITY }
}

/// Whether a node of the type, if it is not shared, is hashed by its fields alone.
#[inline]
fn is_simple(info: &TypeInfo) -> bool {
    info.layout() == Layout::Record && !info.is_scope() && info.hooks().is_none()
}
