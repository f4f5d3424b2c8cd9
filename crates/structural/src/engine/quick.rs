//! The quick comparison: yes or no, for graphs without hooks and uncomparable nodes.
//!
//! Where variables are, children are visited from the first to the last, as in the ordered walk
//! (`equal.rs`), and everything that is remembered goes through the same [`State`]. The walk calls
//! itself, but only so many times: what lies deeper is put off, and with it all that comes after, in
//! order. Below a node without variables the order of visits is free: children are put on the same
//! stack and the last is visited first, which walks memory in the order in which bottom-up
//! construction allocated it.
//!
//! This walk does not know where it is. Where something is to be told beyond yes or no, an error
//! included, the ordered walk is asked.

use super::Region;
use super::equal::{Comparison, Mode, refuse_variables};
use super::frames::{Cursor, sequence};
use super::hook_context::grow;
use super::room::{Lists, Room, Todo, What};
use super::scalars;
use super::scopes::Basis;
use super::state::{DagPair, Side, State, Verdict};
use crate::error::Error;
use crate::graph::{Graph, Heap, ViewOf};
use crate::kind::{Facts, Kind, Role};
use crate::path::Path;
use crate::type_info::{Layout, TypeInfo};
use crate::view::View;

/// How often the walk calls itself.
const LEVELS: u32 = 32;

/// How many elements of a list are put off one by one; more are put off as a list.
const FEW: usize = 8;

/// How far ahead of a walk along a list its elements are fetched.
pub(crate) const AHEAD: usize = 6;

/// Whether two nodes are equal.
///
/// Below a node without variables, pairs of shared nodes are joined, and dag nodes paired, when they
/// are first met, before they are known to be equal: if they are not, the whole comparison fails
/// (below a hook, it is taken back). `below_shared` says whether something above has more than one
/// owner; only then, or if it has several itself, can a dag node be met again. `room` is memory that
/// calls share.
///
/// # Errors
/// If a type that promises to hold no variables or dag nodes holds one, or a scope shadows a
/// variable. The place is not known; the ordered walk finds it.
pub(super) fn equal<'a, G: Graph<'a>>(
    g: G,
    state: &mut State,
    pair: (G::Node, G::Node),
    region: Region,
    below_shared: bool,
    room: &mut Room<G::Node, G::List>,
) -> Result<bool, Error> {
    let mut meet = Meet {
        g,
        state: std::mem::replace(state, State::hollow()),
        room: std::mem::take(room),
        floor: 0,
        levels: 0,
        region,
        below_shared,
        ordered: true,
        bare: false,
        parents: pair,
        failed: None,
    };
    let equal = meet.nodes(pair.0, pair.1) && meet.run();
    *state = meet.state;
    *room = meet.room;
    room.clear();
    match meet.failed {
        Some(error) => Err(error),
        None => Ok(equal),
    }
}

/// Takes in the children of two nodes side by side, in order: compares what has no identity, and
/// nodes at once or later. See [`crate::Field::meet`].
pub struct Meet<'a, G: Graph<'a> = Heap> {
    g: G,
    state: State,
    room: Room<G::Node, G::List>,
    /// What was put off beyond this stands in the order in which it is to be done.
    floor: usize,
    levels: u32,
    /// Of the children being taken in.
    region: Region,
    below_shared: bool,
    /// Whether children must be visited in order.
    ordered: bool,
    /// Whether nothing below needs care; then the order is free.
    bare: bool,
    /// Whose children are taken in.
    parents: (G::Node, G::Node),
    failed: Option<Error>,
}

impl<'a, G: Graph<'a>> Meet<'a, G> {
    /// Two nodes.
    #[inline]
    pub fn nodes(&mut self, left: G::Node, right: G::Node) -> bool {
        if self.g.id(left) == self.g.id(right) && self.g.facts(left).is_none() {
            return true;
        }
        if !self.bare {
            return self.nodes_with_care(left, right);
        }
        if self.room.pairs.len() == self.room.pairs.capacity() {
            return self.push_and_grow(left, right);
        }
        self.room.pairs.push((left, right));
        true
    }

    /// Apart, so that the usual way needs no registers saved.
    #[cold]
    #[inline(never)]
    fn push_and_grow(&mut self, left: G::Node, right: G::Node) -> bool {
        self.room.pairs.push((left, right));
        true
    }

    /// Two nodes that may hold variables or dag nodes.
    #[inline(never)]
    fn nodes_with_care(&mut self, left: G::Node, right: G::Node) -> bool {
        if self.ordered && self.levels < LEVELS && !self.is_putting_off() {
            return self.visit(left, right);
        }
        self.visit_later(left, right)
    }

    #[inline(never)]
    fn visit_later(&mut self, left: G::Node, right: G::Node) -> bool {
        self.put_off(left, right, What::Visit);
        true
    }

    /// Two def fields: what `meet` takes in is met in a def region.
    #[inline]
    pub fn define(&mut self, meet: impl FnOnce(&mut Self) -> bool) -> bool {
        let around = self.region;
        self.region = around.of_field(Role::Def);
        let equal = meet(self);
        self.region = around;
        equal
    }

    /// Two values: whether they are equal, as far as that can be said now.
    #[inline]
    pub fn values(&mut self, left: &ViewOf<'a, G>, right: &ViewOf<'a, G>) -> bool {
        if let (View::Node(left), View::Node(right)) = (left, right) {
            return self.nodes(*left, *right);
        }
        self.others(left, right)
    }

    /// Two values in a field of a role.
    #[inline]
    pub fn field(&mut self, role: Role, left: &ViewOf<'a, G>, right: &ViewOf<'a, G>) -> bool {
        match role {
            Role::Ignore => true,
            Role::Usual => self.values(left, right),
            Role::Def => self.define(|meet| meet.values(left, right)),
        }
    }

    /// All fields of two nodes that count.
    pub(crate) fn fields(&mut self, left: G::Node, right: G::Node) -> bool {
        let g = self.g;
        g.info(left).fields().iter().enumerate().all(|(index, field)| {
            field.role == Role::Ignore
                || self.field(field.role, &g.child(left, index), &g.child(right, index))
        })
    }

    /// Whether the `rest` of a list is to be put off; by [`Meet::rest`].
    #[inline]
    pub(crate) fn puts_off(&self, rest: usize) -> bool {
        rest > FEW && self.ordered && self.is_putting_off()
    }

    /// Whether elements of a list are worth fetching ahead.
    #[inline]
    pub(crate) fn fetches(&self) -> bool {
        self.ordered
    }

    /// The element of a list will soon be looked at.
    #[inline]
    pub(crate) fn fetch(&self, value: &ViewOf<'a, G>) {
        if let View::Node(node) = value {
            self.g.prefetch(*node);
        }
    }

    /// Two sequences, from `next` on.
    #[inline(never)]
    pub(crate) fn rest(
        &mut self,
        left: &ViewOf<'a, G>,
        right: &ViewOf<'a, G>,
        next: usize,
    ) -> bool {
        // A sequence with identity equals one without. Lists nest as deep as Rust types do.
        match (sequence(self.g, left), sequence(self.g, right)) {
            (Some((left, len)), Some((right, other))) => {
                len == other && self.sequences(Lists { left, right, next, len })
            }
            _ => false,
        }
    }

    #[inline(never)]
    fn others(&mut self, left: &ViewOf<'a, G>, right: &ViewOf<'a, G>) -> bool {
        let skip = self.state.options.skip_tensor_content;
        scalars::equal(left, right, skip).unwrap_or_else(|| self.rest(left, right, 0))
    }

    fn sequences(&mut self, mut lists: Lists<G::Node, G::List>) -> bool {
        let g = self.g;
        while lists.next < lists.len {
            if self.puts_off(lists.len - lists.next) {
                self.room.lists.push(lists);
                self.put_off(self.parents.0, self.parents.1, What::List);
                return true;
            }
            let index = lists.next;
            lists.next += 1;
            if self.ordered && index + AHEAD < lists.len {
                self.fetch(&item(g, lists.left, index + AHEAD));
                self.fetch(&item(g, lists.right, index + AHEAD));
            }
            if !self.values(&item(g, lists.left, index), &item(g, lists.right, index)) {
                return false;
            }
        }
        true
    }

    #[inline(never)]
    fn containers(&mut self, left: G::Node, right: G::Node) -> bool {
        let g = self.g;
        let len = g.len(left);
        if len != g.len(right) {
            return false;
        }
        let entries = match g.info(left).layout() {
            Layout::Map => len / 2,
            Layout::Set => len,
            Layout::Record | Layout::List => 0,
        };
        let (left_all, right_all) = (Cursor::Node(left), Cursor::Node(right));
        if !(0..entries).all(|entry| g.key_hash(left, entry) == g.key_hash(right, entry)) {
            return false;
        }
        if entries > 1 && g.has_tied_keys(left) {
            return self.tied(left, right);
        }
        self.sequences(Lists { left: left_all, right: right_all, next: 0, len })
    }

    /// Compares two containers without variables, some of whose keys have the same hash: which of
    /// them correspond is found by the ordered walk.
    #[cold]
    fn tied(&mut self, left: G::Node, right: G::Node) -> bool {
        let (g, region, below_shared) = (self.g, self.region, self.below_shared);
        let mut inner = Comparison::new(g, &mut self.state, Mode::default());
        match grow(|| inner.run_inside((left, right), region, below_shared)) {
            Ok(equal) => equal,
            Err(error) => {
                self.failed = Some(error);
                false
            }
        }
    }

    /// Whether something was put off, so that all that comes after it must be.
    #[inline]
    fn is_putting_off(&self) -> bool {
        self.room.todo.len() > self.floor
    }

    #[inline]
    fn put_off(&mut self, left: G::Node, right: G::Node, what: What) {
        let (region, below_shared) = (self.region, self.below_shared);
        self.room.todo.push(Todo { left, right, region, what, below_shared });
    }

    /// Does what was put off.
    fn run(&mut self) -> bool {
        self.put_in_order(0, 0);
        while let Some(todo) = self.room.todo.pop() {
            let floor = self.room.todo.len();
            self.floor = floor;
            self.levels = 0;
            self.ordered = true;
            self.region = todo.region;
            self.below_shared = todo.below_shared;
            self.parents = (todo.left, todo.right);
            let lists = self.room.lists.len();
            let (equal, lists) = match todo.what {
                What::Visit => (self.visit(todo.left, todo.right), lists),
                What::List => match self.room.lists.pop() {
                    Some(first) => (self.sequences(first), lists - 1),
                    None => (true, lists),
                },
                _ => {
                    self.end(&todo);
                    (true, lists)
                }
            };
            if !equal {
                return false;
            }
            self.put_in_order(floor, lists);
        }
        true
    }

    /// What is to be done first goes to the top.
    #[inline]
    fn put_in_order(&mut self, floor: usize, lists: usize) {
        if self.room.todo.len() > floor + 1 {
            self.room.todo[floor..].reverse();
            self.room.lists[lists..].reverse();
        }
    }

    fn visit(&mut self, left: G::Node, right: G::Node) -> bool {
        let g = self.g;
        let Some(info) = common_type(g, left, right) else { return false };
        if info.kind() == Kind::Var {
            return self.visit_variables(left, right, info);
        }
        let facts = g.facts(left).and(g.facts(right));
        if facts.any(Facts::VAR) {
            return self.visit_in_order(left, right, info, facts);
        }
        if facts.is_none() { self.visit_bare(left, right) } else { self.visit_plain(left, right) }
    }

    /// Compares two nodes below which nothing needs care: no variables, no dag nodes.
    #[inline(never)]
    fn visit_bare(&mut self, left: G::Node, right: G::Node) -> bool {
        let around = (self.ordered, self.below_shared);
        (self.ordered, self.bare) = (false, true);
        let mut pair = (left, right);
        let equal = loop {
            if !self.open_bare(pair.0, pair.1) {
                break false;
            }
            match self.room.pairs.pop() {
                Some(next) => pair = next,
                None => break true,
            }
        };
        self.bare = false;
        (self.ordered, self.below_shared) = around;
        equal
    }

    #[inline]
    fn open_bare(&mut self, left: G::Node, right: G::Node) -> bool {
        let g = self.g;
        let Some(info) = common_type(g, left, right) else { return false };
        if !info.is_plain() || g.shared(left) || g.shared(right) {
            return self.open_shared(left, right);
        }
        g.meet_bare(left, right, self)
    }

    /// The same for shared nodes, singletons and containers. Apart, so that the usual way needs no
    /// registers saved.
    #[inline(never)]
    fn open_shared(&mut self, left: G::Node, right: G::Node) -> bool {
        self.open_plain(left, right)
    }

    /// Compares two nodes without variables below.
    #[inline(never)]
    fn visit_plain(&mut self, left: G::Node, right: G::Node) -> bool {
        let base = self.room.todo.len();
        let around = (self.ordered, self.below_shared);
        self.ordered = false;
        let mut equal = self.open_plain(left, right);
        while equal && self.room.todo.len() > base {
            let Some(todo) = self.room.todo.pop() else { break };
            self.below_shared = todo.below_shared;
            equal = self.open_plain(todo.left, todo.right);
        }
        (self.ordered, self.below_shared) = around;
        equal
    }

    #[inline]
    fn open_plain(&mut self, left: G::Node, right: G::Node) -> bool {
        let g = self.g;
        let Some(info) = common_type(g, left, right) else { return false };
        let (left_id, right_id) = (g.id(left), g.id(right));
        let facts = g.facts(left).and(g.facts(right));
        let shared = g.shared(left) || g.shared(right);
        match info.kind() {
            _ if left_id == right_id && facts.is_none() => return true,
            Kind::Tree => {}
            Kind::Dag if !(shared || self.below_shared) => {}
            // Without variables, what was found equal stays so.
            Kind::Dag => match self.state.dag_pair(left_id, right_id) {
                DagPair::None => self.state.pair_dag(left_id, right_id, &Basis::default()),
                DagPair::EachOther | DagPair::LookAgain => return true,
                DagPair::Others => return false,
            },
            Kind::ConstTree if self.refuse_variables(info, facts) => return false,
            Kind::ConstTree => {}
            Kind::Singleton => return left_id == right_id,
            Kind::Var | Kind::Uncomparable => return false,
        }
        if shared
            && info.kind() != Kind::Dag
            && !self.state.join(left_id, right_id, &Basis::default(), false)
        {
            return true;
        }
        self.below_shared |= shared;
        self.inside(left, right, info)
    }

    /// Whether a type that promises to hold no variables holds some.
    #[inline]
    fn refuse_variables(&mut self, info: &TypeInfo, facts: Facts) -> bool {
        self.failed = refuse_variables(info, facts).err();
        self.failed.is_some()
    }

    /// Takes in what is inside two nodes of one type.
    #[inline]
    fn inside(&mut self, left: G::Node, right: G::Node, info: &TypeInfo) -> bool {
        let g = self.g;
        if info.layout() == Layout::Record {
            g.meet_fields(left, right, self)
        } else {
            self.containers(left, right)
        }
    }

    /// The same for nodes that hold variables, in a region of their own.
    #[inline]
    fn inside_in_order(
        &mut self,
        (left, right): (G::Node, G::Node),
        info: &TypeInfo,
        region: Region,
        shared: bool,
    ) -> bool {
        let around = (self.region, self.below_shared, self.parents);
        self.region = region;
        self.below_shared |= shared;
        self.parents = (left, right);
        self.levels += 1;
        let equal = self.inside(left, right, info);
        self.levels -= 1;
        (self.region, self.below_shared, self.parents) = around;
        equal
    }

    /// Compares two nodes of one type that hold variables.
    #[inline]
    fn visit_in_order(
        &mut self,
        left: G::Node,
        right: G::Node,
        info: &TypeInfo,
        facts: Facts,
    ) -> bool {
        let g = self.g;
        let shared = g.shared(left) || g.shared(right);
        let region = self.region.inside(info);
        if info.kind() == Kind::Tree
            && info.layout() == Layout::Record
            && !shared
            && !info.is_scope()
        {
            return self.inside_in_order((left, right), info, region, false);
        }
        self.visit_shared_in_order(left, right, info, facts)
    }

    /// The same for shared nodes, dag nodes, scopes and containers.
    #[inline(never)]
    fn visit_shared_in_order(
        &mut self,
        left: G::Node,
        right: G::Node,
        info: &TypeInfo,
        facts: Facts,
    ) -> bool {
        let g = self.g;
        let shared = g.shared(left) || g.shared(right);
        let region = self.region.inside(info);
        let mut after = if info.is_scope() { What::Scope } else { What::Visit };
        match info.kind() {
            Kind::Dag => match self.state.dag_pair(g.id(left), g.id(right)) {
                DagPair::EachOther => return true,
                DagPair::Others => return false,
                _ if shared || self.below_shared => after = What::Pair,
                DagPair::None | DagPair::LookAgain => {}
            },
            Kind::ConstTree if self.refuse_variables(info, facts) => return false,
            Kind::Singleton => return g.id(left) == g.id(right),
            _ if shared => {
                after = match self.state.known(g.id(left), g.id(right)) {
                    Verdict::Equal => return true,
                    Verdict::Unknown => What::Join,
                    Verdict::NotHere => What::JoinAnew,
                };
            }
            _ => {}
        }
        if info.layout().is_keyed() && !self.has_ordered_keys(left, right) {
            return self.ask_again(info);
        }
        if after == What::Visit {
            return self.inside_in_order((left, right), info, region, shared);
        }
        self.state.scopes.track();
        if info.is_scope() {
            self.state.scopes.enter();
        }
        self.room.epochs.push(self.state.epoch());
        self.inside_in_order((left, right), info, region, shared) && self.then(left, right, after)
    }

    /// What follows when all inside two nodes is equal: now, or after what was put off.
    #[inline]
    fn then(&mut self, left: G::Node, right: G::Node, what: What) -> bool {
        if self.is_putting_off() {
            self.put_off(left, right, what);
        } else {
            let (region, below_shared) = (self.region, self.below_shared);
            self.end(&Todo { left, right, region, what, below_shared });
        }
        true
    }

    /// Whether the keys of both containers have different hashes that are the same wherever they stand.
    fn has_ordered_keys(&self, left: G::Node, right: G::Node) -> bool {
        let g = self.g;
        let ordered = |node| g.key_hash(node, 0).is_some() && !g.has_tied_keys(node);
        [left, right].into_iter().all(|node| g.len(node) == 0 || ordered(node))
    }

    /// All inside was found equal.
    fn end(&mut self, todo: &Todo<G::Node>) {
        let g = self.g;
        if matches!(todo.what, What::Bind | What::BindHidden) {
            let hidden = todo.what == What::BindHidden;
            return self.bind((todo.left, todo.right), todo.region, hidden);
        }
        if g.info(todo.left).is_scope() {
            self.state.scopes.leave();
        }
        let (left, right) = (g.id(todo.left), g.id(todo.right));
        let basis = self.state.scopes.untrack(todo.what != What::Scope);
        let begun = self.room.epochs.pop();
        match todo.what {
            What::Pair => self.state.pair_dag(left, right, &basis),
            What::Join | What::JoinAnew if begun == Some(self.state.epoch()) => {
                self.state.join(left, right, &basis, todo.what == What::JoinAnew);
            }
            _ => {}
        }
    }

    #[inline(never)]
    fn visit_variables(&mut self, left: G::Node, right: G::Node, info: &TypeInfo) -> bool {
        let (g, region) = (self.g, self.region);
        let known = self.state.bound_to(g, Side::Left, left);
        if let Some((depth, other)) = known
            && other == g.id(right)
        {
            if self.shadows(depth) {
                return self.ask_again(info);
            }
            self.state.scopes.touch(depth);
            return true;
        }
        let other = self.state.bound_to(g, Side::Right, right);
        if known.is_some() || other.is_some() {
            let shadows = [known, other].into_iter().flatten().any(|(at, _)| self.shadows(at));
            return shadows && self.ask_again(info);
        }
        if region.leaves_free() {
            let same = g.id(left) == g.id(right);
            if same {
                self.state.bind_free(g, left);
            }
            return same;
        }
        if info.is_scope() && !info.compares_nothing() {
            // A variable that is a scope around its own fields: nobody's usual case.
            return self.ask_again(info);
        }
        let hidden = region.is_below_var();
        if !info.compares_nothing()
            && !self.inside_in_order((left, right), info, region.below_var(), false)
        {
            return false;
        }
        if self.is_putting_off() {
            self.put_off(left, right, if hidden { What::BindHidden } else { What::Bind });
        } else {
            self.bind((left, right), region, hidden);
        }
        true
    }

    #[inline]
    fn bind(&mut self, variables: (G::Node, G::Node), region: Region, hidden: bool) {
        let depth = if region.binds_in_scope() { self.state.scopes.depth() } else { 0 };
        self.state.bind(self.g, variables, depth, hidden);
    }

    /// Whether meeting, here, what the scope at `depth` binds is shadowing.
    #[inline]
    fn shadows(&self, depth: u32) -> bool {
        self.region.is_def() && (1..self.state.scopes.depth()).contains(&depth)
    }

    /// This is for the ordered walk to tell. The error is seen by nobody.
    #[cold]
    fn ask_again(&mut self, info: &TypeInfo) -> bool {
        self.state.ask_again = true;
        self.failed = Some(Error::Uncomparable { key: info.key(), path: Path::root() });
        false
    }
}

/// The type of two nodes, if it is one.
#[inline]
fn common_type<'a, G: Graph<'a>>(g: G, left: G::Node, right: G::Node) -> Option<&'static TypeInfo> {
    let info = g.info(left);
    std::ptr::eq(info, g.info(right)).then_some(info)
}

#[inline]
fn item<'a, G: Graph<'a>>(
    g: G,
    of: Cursor<G::Node, G::List>,
    index: usize,
) -> View<'a, G::Node, G::List> {
    match of {
        Cursor::List(list) => g.list_item(list, index),
        Cursor::Node(node) => g.child(node, index),
    }
}
