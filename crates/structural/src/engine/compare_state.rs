//! The state of one comparison: the bijection of variables, pairs of dag nodes, classes of equal nodes, and an
//! undo log to roll back the effects of a failed callback.

use rustc_hash::FxBuildHasher;

use super::StructuralOptions;
use super::binding_slots::BindingSlots;
use super::equality_classes::{self, ClassLookup, EqualityClasses};
use super::key_memo::KeyMemo;
use super::node_map::NodeMap;
use super::scopes::{Dependencies, ScopeId, ScopeStack, StoredDependencies};
use crate::path::NodePath;
use crate::reference::NodeRef;
use crate::values::Value;

/// One of the two sides of a comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// The first value.
    Left,
    /// The second value.
    Right,
}

impl Side {
    /// Returns the other side.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Left => Self::Right,
            Self::Right => Self::Left,
        }
    }
}

/// Two variables that are bound to each other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VariableBinding {
    nodes: [usize; 2],
    owner: ScopeId,
    /// The number of variables that its scope had bound before; `None` for a free variable, bound to itself.
    index: Option<u32>,
}

impl VariableBinding {
    pub(crate) fn on(&self, side: Side) -> usize {
        self.nodes[side as usize]
    }

    pub(crate) fn depth(&self) -> u32 {
        self.owner.depth
    }

    /// Returns its index among the variables of its scope; `None` for a free variable.
    pub(crate) fn index(&self) -> Option<u32> {
        self.index
    }
}

/// The partner of a dag node, and the context in which they were found equal.
#[derive(Clone, Debug)]
struct DagPartner {
    with: usize,
    owner: ScopeId,
    dependencies: StoredDependencies,
    epoch: u32,
}

/// An undo entry for one change of the state.
#[derive(Debug)]
enum UndoEntry {
    Variable(Side, usize, Option<u32>),
    Index(ScopeId),
    Dag(Side, usize, Option<DagPartner>),
    EqualityClasses(equality_classes::ClassUndo),
}

/// The state of one comparison.
pub(crate) struct CompareState {
    pub(crate) options: StructuralOptions,
    pub(crate) scopes: ScopeStack,
    /// The memos of nodes inside keys: one where singletons count by their fields, one where they count by
    /// identity.
    pub(crate) key_memos: [KeyMemo; 2],
    bindings: Vec<VariableBinding>,
    slots: BindingSlots,
    dag_partners: [NodeMap<DagPartner>; 2],
    classes: EqualityClasses,
    /// Pairs without variables and dag nodes that were found to differ below hooks, and how often.
    unequal_pairs: hashbrown::HashMap<(usize, usize), u32, FxBuildHasher>,
    /// Keys that were compared in isolation, and the results.
    pub(crate) equal_in_isolation: hashbrown::HashMap<(usize, usize), bool, FxBuildHasher>,
    /// Such pairs that a hook found equal before any variable or dag node was visited.
    equal_pairs: hashbrown::HashSet<(usize, usize), FxBuildHasher>,
    /// The undo log. Only filled while a hook may still turn a failure into a success.
    undo_log: Vec<UndoEntry>,
    open_hooks: u32,
    /// True if the fast path found something that only the ordered comparison can handle.
    pub(crate) retry_ordered: bool,
    /// Values given to callbacks, kept alive so that no address is reused.
    kept_alive: Vec<Value>,
    /// The numbers of the bindings whose sites are wanted, ascending.
    wanted_sites: Vec<usize>,
    pub(crate) binding_sites: Vec<(usize, BindingSite)>,
    /// The paths of the comparisons around the innermost one, if sites are wanted.
    pub(crate) outer_paths: Vec<NodePath>,
}

/// The site at which two variables were bound to each other.
#[derive(Clone, Debug)]
pub struct BindingSite {
    /// The variable on the left, printed.
    pub left: String,
    /// The variable on the right, printed.
    pub right: String,
    /// The path of the binding, on the left.
    pub at: NodePath,
}

/// The pairing of two dag nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DagPairing {
    /// Neither node is paired.
    None,
    /// The nodes are paired with each other.
    EachOther,
    /// The nodes are paired with each other, but their equality must be checked again.
    EachOtherStale,
    /// One of the nodes is paired with a third one.
    Others,
}

/// The known equality of two nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum KnownEquality {
    Unknown,
    Equal,
    /// Something is known that does not hold in the current context.
    OtherContext,
}

/// A snapshot of the state for rollback.
pub(crate) struct StateSnapshot {
    undo_log: usize,
    depth: u32,
    tracked: (usize, StoredDependencies),
}

impl CompareState {
    pub(crate) fn new(options: StructuralOptions) -> Self {
        Self::with_scopes(options, ScopeStack::new())
    }

    fn with_scopes(options: StructuralOptions, scopes: ScopeStack) -> Self {
        Self {
            options,
            scopes,
            key_memos: Default::default(),
            bindings: Vec::new(),
            slots: BindingSlots::default(),
            dag_partners: Default::default(),
            classes: EqualityClasses::default(),
            unequal_pairs: hashbrown::HashMap::default(),
            equal_pairs: hashbrown::HashSet::default(),
            equal_in_isolation: hashbrown::HashMap::default(),
            undo_log: Vec::new(),
            open_hooks: 0,
            retry_ordered: false,
            kept_alive: Vec::new(),
            wanted_sites: Vec::new(),
            binding_sites: Vec::new(),
            outer_paths: Vec::new(),
        }
    }

    /// Creates an empty placeholder for a state that is moved out temporarily.
    pub(crate) fn placeholder() -> Self {
        Self::with_scopes(StructuralOptions::default(), ScopeStack::default())
    }

    /// Creates a state that records the sites of the bindings with these numbers.
    pub(crate) fn locating_bindings(
        options: StructuralOptions,
        mut wanted_sites: Vec<usize>,
    ) -> Self {
        wanted_sites.sort_unstable();
        wanted_sites.dedup();
        Self { wanted_sites, ..Self::new(options) }
    }

    /// Returns whether the site of the next binding is wanted.
    pub(crate) fn is_next_binding_site_wanted(&self) -> bool {
        self.wanted_sites.binary_search(&self.bindings.len()).is_ok()
    }

    /// Records the site of the next binding.
    pub(crate) fn set_next_binding_site(&mut self, bound: BindingSite) {
        self.binding_sites.push((self.bindings.len(), bound));
    }

    /// Returns the number and the binding of a variable that is bound now.
    #[inline]
    pub(crate) fn binding(
        &self,
        side: Side,
        variable: NodeRef<'_>,
    ) -> Option<(usize, VariableBinding)> {
        let number = self.slots.get(side, variable, variable_of_number(&self.bindings, side))?;
        self.open_binding(number)
    }

    /// Returns the depth of the current binding of a variable, and its counterpart.
    #[inline]
    pub(crate) fn bound_to(&self, side: Side, variable: NodeRef<'_>) -> Option<(u32, usize)> {
        let number = self.slots.get(side, variable, variable_of_number(&self.bindings, side))?;
        let binding = &self.bindings[number as usize];
        self.scopes.is_open(binding.owner).then(|| (binding.owner.depth, binding.on(side.other())))
    }

    /// Returns the number and the binding of a variable given its id. Finds hidden variables, and any variable
    /// inside hooks and keys.
    pub(crate) fn binding_of(
        &self,
        side: Side,
        variable: usize,
    ) -> Option<(usize, VariableBinding)> {
        self.open_binding(self.slots.get_by_id(side, variable)?)
    }

    #[inline]
    fn open_binding(&self, number: u32) -> Option<(usize, VariableBinding)> {
        let binding = self.bindings[number as usize];
        self.scopes.is_open(binding.owner).then_some((number as usize, binding))
    }

    /// Reserves memory for more bindings.
    pub(crate) fn reserve(&mut self, bindings: usize) {
        self.bindings.reserve(bindings);
        self.slots.reserve(bindings);
    }

    /// Binds two variables to each other in the scope at `depth`. `hidden` tells that the scope binds them only
    /// because no outer scope does.
    #[inline]
    pub(crate) fn bind(
        &mut self,
        (left, right): (NodeRef<'_>, NodeRef<'_>),
        depth: u32,
        hidden: bool,
    ) {
        let nodes = [left.id(), right.id()];
        let index = self.scopes.bind(depth, hidden.then_some(nodes));
        let owner = self.scopes.scope_id(depth);
        self.log_undo(|| UndoEntry::Index(owner));
        let number = self.bindings.len() as u32;
        let mut was_scoped = false;
        for (side, variable) in [(Side::Left, left), (Side::Right, right)] {
            let old =
                self.slots.set(side, variable, number, variable_of_number(&self.bindings, side));
            was_scoped |= old.is_some();
            self.log_undo(|| UndoEntry::Variable(side, nodes[side as usize], old));
            if hidden {
                self.slots.track_by_id(side, nodes[side as usize], number);
            }
        }
        self.add_binding(VariableBinding { nodes, owner, index: Some(index) }, was_scoped);
    }

    /// Binds a free variable to itself for the whole comparison.
    pub(crate) fn bind_free(&mut self, variable: NodeRef<'_>) {
        let number = self.bindings.len() as u32;
        let mut was_scoped = false;
        for side in [Side::Left, Side::Right] {
            let old =
                self.slots.set(side, variable, number, variable_of_number(&self.bindings, side));
            was_scoped |= old.is_some();
            self.log_undo(|| UndoEntry::Variable(side, variable.id(), old));
        }
        self.add_free_binding(variable.id(), was_scoped);
    }

    /// Binds a free variable that a key uses to itself, given its id.
    pub(crate) fn bind_free_in_key(&mut self, variable: usize) {
        let number = self.bindings.len() as u32;
        let mut was_scoped = false;
        for side in [Side::Left, Side::Right] {
            let old = self.slots.set_by_id(side, variable, Some(number));
            was_scoped |= old.is_some();
            self.log_undo(|| UndoEntry::Variable(side, variable, old));
        }
        self.add_free_binding(variable, was_scoped);
    }

    fn add_free_binding(&mut self, variable: usize, was_scoped: bool) {
        let owner = self.scopes.scope_id(0);
        self.add_binding(
            VariableBinding { nodes: [variable, variable], owner, index: None },
            was_scoped,
        );
    }

    fn add_binding(&mut self, binding: VariableBinding, was_scoped: bool) {
        let depth = binding.depth();
        self.bindings.push(binding);
        if was_scoped && depth == 0 {
            // An ended scope bound this variable, and from now on it means the same everywhere, so facts found
            // about that scope no longer hold. Happens at most once per variable.
            self.classes.clear();
        }
        self.scopes.touch(depth);
    }

    /// Moves bindings to tables, so that variables can be looked up by id.
    pub(crate) fn enable_lookup_by_id(&mut self) {
        let all = self.bindings.iter().map(|binding| binding.nodes.map(Some));
        self.slots.move_to_tables(all);
    }

    /// Returns how two dag nodes are paired. Adds the dependencies of an existing pair.
    pub(crate) fn dag_pairing(&mut self, left: usize, right: usize) -> DagPairing {
        let current = |side: Side, node: usize| {
            let paired = self.dag_partners[side as usize].get(&node)?;
            self.scopes.is_open(paired.owner).then_some(paired)
        };
        let paired = match (current(Side::Left, left), current(Side::Right, right)) {
            (None, None) => return DagPairing::None,
            (Some(paired), _) if paired.with == right => paired,
            _ => return DagPairing::Others,
        };
        let bound = |side: Side| {
            let hidden = paired.dependencies.hidden(side as usize);
            hidden.iter().any(|&variable| self.binding_of(side, variable).is_some())
        };
        if paired.epoch != self.classes.epoch() || bound(Side::Left) || bound(Side::Right) {
            return DagPairing::EachOtherStale;
        }
        let stored = paired.dependencies.clone();
        if let Some(dependencies) = stored.get() {
            self.scopes.add_dependencies(dependencies);
        }
        DagPairing::EachOther
    }

    pub(crate) fn pair_dag(&mut self, left: usize, right: usize, dependencies: &Dependencies) {
        let owner = self.scopes.scope_of(dependencies);
        let stored = StoredDependencies::new(dependencies);
        let epoch = self.classes.epoch();
        for (side, node, with) in [(Side::Left, left, right), (Side::Right, right, left)] {
            let paired = DagPartner { with, owner, dependencies: stored.clone(), epoch };
            let old = self.dag_partners[side as usize].insert(node, paired);
            self.log_undo(|| UndoEntry::Dag(side, node, old));
        }
    }

    /// Returns the known equality of two nodes. If they are equal, adds the dependencies of that fact.
    pub(crate) fn known_equality(&mut self, left: usize, right: usize) -> KnownEquality {
        let bound = |side, variable| self.binding_of(side, variable).is_some();
        match self.classes.look_up(&self.scopes, left, right, bound) {
            ClassLookup::Unknown => KnownEquality::Unknown,
            ClassLookup::OtherContext => KnownEquality::OtherContext,
            ClassLookup::Equal(left, right) => {
                let (left, right) = (left.clone(), right.clone());
                self.scopes.add_dependencies_of_pair(&left, &right);
                KnownEquality::Equal
            }
        }
    }

    /// Returns the epoch, which changes when memoized equalities are dropped. Pairs opened in an earlier epoch
    /// must not be joined.
    pub(crate) fn epoch(&self) -> u32 {
        self.classes.epoch()
    }

    /// Records that two nodes are equal while the scopes in `dependencies` stay open. With `fresh`, classes
    /// known before are left alone, because they hold in another context. Returns whether the nodes were not
    /// joined before.
    pub(crate) fn join(
        &mut self,
        left: usize,
        right: usize,
        dependencies: &Dependencies,
        fresh: bool,
    ) -> bool {
        let owner = self.scopes.scope_of(dependencies);
        let (undo_log, record) = (&mut self.undo_log, self.open_hooks > 0);
        let stored = StoredDependencies::new(dependencies);
        self.classes.join(&self.scopes, (left, right), (owner, &stored), fresh, |undo| {
            if record {
                undo_log.push(UndoEntry::EqualityClasses(undo));
            }
        })
    }

    /// Records that two nodes differ in every context.
    pub(crate) fn record_unequal(&mut self, left: usize, right: usize) {
        *self.unequal_pairs.entry((left, right)).or_default() += 1;
    }

    /// Returns how often two nodes were found to differ.
    pub(crate) fn unequal_count(&self, left: usize, right: usize) -> u32 {
        self.unequal_pairs.get(&(left, right)).copied().unwrap_or(0)
    }

    /// Returns whether the state has no context: neither variables nor dag nodes have counterparts yet, and all
    /// scopes are closed. Then results depend on nothing.
    pub(crate) fn has_no_context(&self) -> bool {
        self.bindings.is_empty()
            && self.dag_partners[0].is_empty()
            && self.dag_partners[1].is_empty()
            && self.scopes.depth() == 0
    }

    /// Records that two nodes are equal in every context.
    pub(crate) fn record_equal(&mut self, left: usize, right: usize) {
        self.equal_pairs.insert((left, right));
    }

    /// Returns whether two nodes were recorded as equal in every context.
    pub(crate) fn is_recorded_equal(&self, left: usize, right: usize) -> bool {
        self.equal_pairs.contains(&(left, right))
    }

    /// Enters a hook. Only below a hook can a failure be followed by a success, so only there an undo log is
    /// kept.
    pub(crate) fn enter_hook(&mut self) {
        self.enable_lookup_by_id();
        self.open_hooks += 1;
    }

    pub(crate) fn leave_hook(&mut self) {
        self.open_hooks -= 1;
        if self.open_hooks == 0 {
            self.undo_log.clear();
        }
    }

    pub(crate) fn in_hook(&self) -> bool {
        self.open_hooks > 0
    }

    pub(crate) fn keep_alive(&mut self, value: Value) {
        self.kept_alive.push(value);
    }

    pub(crate) fn snapshot(&self) -> StateSnapshot {
        StateSnapshot {
            undo_log: self.undo_log.len(),
            depth: self.scopes.depth(),
            tracked: self.scopes.save_tracked(),
        }
    }

    /// Rolls back all bindings, pairs and joins since `snapshot`.
    pub(crate) fn roll_back(&mut self, snapshot: StateSnapshot) {
        while self.undo_log.len() > snapshot.undo_log {
            match self.undo_log.pop() {
                Some(UndoEntry::Variable(side, variable, old)) => {
                    self.slots.set_by_id(side, variable, old);
                }
                Some(UndoEntry::Index(owner)) => self.scopes.unbind(owner),
                Some(UndoEntry::Dag(side, node, Some(old))) => {
                    self.dag_partners[side as usize].insert(node, old);
                }
                Some(UndoEntry::Dag(side, node, None)) => {
                    self.dag_partners[side as usize].remove(&node);
                }
                Some(UndoEntry::EqualityClasses(undo)) => self.classes.undo(undo),
                None => return,
            }
        }
        self.scopes.truncate(snapshot.depth);
        self.scopes.restore_tracked(snapshot.tracked);
    }

    fn log_undo(&mut self, undo: impl FnOnce() -> UndoEntry) {
        if self.open_hooks > 0 {
            self.undo_log.push(undo());
        }
    }
}

/// Returns a function that maps the number of a binding to its variable on one side.
#[inline]
fn variable_of_number(
    bindings: &[VariableBinding],
    side: Side,
) -> impl FnOnce(u32) -> Option<usize> {
    move |number| bindings.get(number as usize).map(|binding| binding.on(side))
}
