//! What one hash knows.

use rustc_hash::FxBuildHasher;

use super::address::ByNode;
use super::feed::Binders;
use super::key_memo::{KNOWN_FREE, KeyMemo, OuterBinding, Use, Variables};
use super::keys::Bindings;
use super::memo::Memo;
use super::numbers::Numbers;
use super::scopes::{Kept, Owner, Scopes};
use super::state::{Bound, Side};
use super::{Options, Region};
use crate::graph::Graph;
use crate::hasher::Hash128;
use crate::values::Value;

type HashMap<K, V> = hashbrown::HashMap<K, V, FxBuildHasher>;

impl Bindings for HashState<'_> {
    fn depth(&self) -> u32 {
        self.scopes.depth()
    }

    fn options(&self) -> Options {
        self.options
    }

    fn identifies(&self) -> bool {
        self.identify
    }

    fn key_memo(&self, identify: bool) -> KeyMemo {
        if self.identify == identify { self.key_memo.clone() } else { KeyMemo::default() }
    }

    fn next_index(&self, depth: u32) -> u32 {
        match self.outer {
            Some(outer) if depth <= outer.depth() => outer.next_index(depth),
            _ => self.scopes.next_index(depth),
        }
    }

    fn binding(&self, variable: usize) -> Option<(u32, Option<u32>, usize)> {
        self.bound(self.numbers.get_id(Side::Left, variable), variable)
    }
}

/// What one hash knows: bindings, scopes, and what is remembered of nodes.
pub(super) struct HashState<'o> {
    pub(super) options: Options,
    /// Whether singletons count by identity, not by their fields.
    pub(super) identify: bool,
    pub(super) scopes: Scopes,
    numbers: Numbers,
    binds: Vec<Bind>,
    /// Per open scope, the variables it binds.
    pub(super) binders: Vec<Binders>,
    pub(super) plain: Memo,
    /// How often what was remembered had to be forgotten; what was begun before is not remembered.
    pub(super) epoch: u32,
    /// Hashes of shared nodes that hold wherever they stand.
    pub(super) alone: ByNode<(Hash128, Kept)>,
    /// Hashes of shared nodes at a depth, as long as their owner is open.
    pub(super) at_depth: HashMap<(usize, u32), AtDepth>,
    /// What is remembered of nodes inside keys, and, in a key, what each tracked frame uses.
    pub(super) key_memo: KeyMemo,
    pub(super) used: Vec<Variables>,
    /// What is bound around a key.
    pub(super) outer: Option<&'o dyn Bindings>,
    /// Variables found to be free: creation number and identity. Of use where a key is hashed.
    pub(super) free: Vec<(u64, usize)>,
    /// Variables bound in a scope. Of use where a key is hashed.
    pub(super) scoped: Vec<usize>,
    pub(super) kept: Vec<Value>,
    pub(super) bindings_made: usize,
    pub(super) stop_at: Option<usize>,
    pub(super) stopped: Option<Bound>,
    /// What a part failed with that a hook hashed. The hook may go on, but the walk was left in the
    /// middle: the whole hash fails.
    pub(super) failed: Option<String>,
}

#[derive(Clone, Copy)]
struct Bind {
    variable: usize,
    owner: Owner,
    /// [`NO_INDEX`] for a free variable.
    index: u32,
    number: u32,
}

const NO_INDEX: u32 = u32::MAX;

impl Bind {
    #[inline]
    fn index(self) -> Option<u32> {
        (self.index != NO_INDEX).then_some(self.index)
    }
}

pub(super) struct AtDepth {
    pub(super) hash: Hash128,
    pub(super) owner: Owner,
    pub(super) kept: Kept,
}

impl<'o> HashState<'o> {
    /// A walk in which nothing is bound yet but what `outer` binds.
    pub(super) fn new(options: Options, outer: Option<&'o dyn Bindings>, identify: bool) -> Self {
        let depth = outer.map_or(0, Bindings::depth);
        Self {
            options,
            identify,
            scopes: Scopes::at_depth(depth),
            numbers: if outer.is_some() { Numbers::in_tables() } else { Numbers::default() },
            binds: Vec::new(),
            binders: vec![Binders::NONE; depth as usize + 1],
            plain: Memo::new(options, identify),
            epoch: 0,
            alone: ByNode::default(),
            at_depth: HashMap::default(),
            key_memo: outer.map(|outer| outer.key_memo(identify)).unwrap_or_default(),
            used: vec![Variables::default()],
            outer,
            free: Vec::new(),
            scoped: Vec::new(),
            kept: Vec::new(),
            bindings_made: 0,
            stop_at: None,
            stopped: None,
            failed: None,
        }
    }

    /// The depth, the index and the number of what binds a variable now.
    #[inline]
    pub(super) fn binding_of<'a, G: Graph<'a>>(
        &self,
        g: G,
        variable: G::Node,
    ) -> Option<(u32, Option<u32>, usize)> {
        let number = self.numbers.get(g, Side::Left, variable, on(&self.binds));
        self.bound(number, g.id(variable))
    }

    #[inline]
    fn bound(&self, number: Option<u32>, variable: usize) -> Option<(u32, Option<u32>, usize)> {
        let own = number.map(|number| &self.binds[number as usize]);
        match own.filter(|bind| self.scopes.current(bind.owner)) {
            Some(bind) => Some((bind.owner.depth, bind.index(), bind.number as usize)),
            None => self.outer?.binding(variable),
        }
    }

    /// Whether the scope at `depth` is around what is hashed apart.
    #[inline]
    fn is_outer(&self, depth: u32) -> bool {
        self.outer.is_some_and(|outer| depth <= outer.depth())
    }

    /// Binds a variable whose fields hash to `hash` in the scope at `depth`, `hidden` if that scope
    /// binds it only because none around it does. Its index there.
    #[inline]
    pub(super) fn bind_in<'a, G: Graph<'a>>(
        &mut self,
        g: G,
        variable: G::Node,
        depth: u32,
        hidden: bool,
        hash: Hash128,
    ) -> u32 {
        let id = g.id(variable);
        let index = if self.is_outer(depth) {
            self.bind_outer(OuterBinding { variable: id, depth, hidden, hash })
        } else {
            self.binders[depth as usize].add(hash);
            self.scopes.bind(depth, hidden.then_some([id, id]))
        };
        let number = self.binds.len() as u32;
        let old = self.numbers.put(g, Side::Left, variable, number, on(&self.binds));
        if hidden {
            self.numbers.watch(Side::Left, id, number);
        }
        self.add(id, depth, Some(index), old.is_some());
        index
    }

    /// A variable is free.
    pub(super) fn bind_free<'a, G: Graph<'a>>(&mut self, g: G, variable: G::Node) {
        let number = self.binds.len() as u32;
        let old = self.numbers.put(g, Side::Left, variable, number, on(&self.binds));
        self.add(g.id(variable), 0, None, old.is_some());
    }

    /// The same by identity, of a variable that a key uses.
    pub(super) fn bind_free_in_key(&mut self, variable: usize) {
        let number = self.binds.len() as u32;
        let old = self.numbers.put_id(Side::Left, variable, Some(number));
        self.add(variable, 0, None, old.is_some());
    }

    /// Binds the variables that values of tied entries bind. All of a scope share one index, so that
    /// the order of the values does not matter.
    #[cold]
    pub(super) fn bind_tied(&mut self, all: &[OuterBinding]) {
        let next = |depth| (self.next_index(depth), self.binders[depth as usize].next());
        let shared: Vec<_> = all.iter().map(|bound| next(bound.depth)).collect();
        let mut last = None;
        for (bound, (index, position)) in all.iter().zip(shared) {
            let &OuterBinding { variable, depth, hidden, hash } = bound;
            // One variable may be met with several hashes of its fields.
            let first = last.replace(variable) != Some(variable);
            if self.is_outer(depth) {
                self.bind_outer(*bound);
            } else {
                self.binders[depth as usize].add_at(position, hash);
                if first {
                    self.scopes.bind(depth, hidden.then_some([variable, variable]));
                }
            }
            if first {
                let number = self.binds.len() as u32;
                let old = self.numbers.put_id(Side::Left, variable, Some(number));
                self.add(variable, depth, Some(index), old.is_some());
            }
        }
    }

    #[inline(always)]
    fn add(&mut self, variable: usize, depth: u32, index: Option<u32>, was_scoped: bool) {
        let owner = self.scopes.owner(depth);
        let (index, number) = (index.unwrap_or(NO_INDEX), self.bindings_made as u32);
        self.binds.push(Bind { variable, owner, index, number });
        self.bindings_made += 1;
        if self.in_key() && depth > 0 && !self.is_outer(depth) {
            self.note_bound_inside(variable);
        }
        if was_scoped && depth == 0 {
            self.forget();
        }
        self.scopes.touch(depth);
    }

    /// As in a comparison: what an ended scope bound now means the same everywhere.
    #[cold]
    fn forget(&mut self) {
        self.epoch += 1;
        self.alone.clear();
        self.at_depth.clear();
    }

    /// From now on variables may be asked for by identity.
    pub(super) fn by_identity(&mut self) {
        self.numbers.move_to_tables(self.binds.iter().map(|bind| [Some(bind.variable), None]));
    }

    /// A scope inside a key bound the variable, and has ended.
    pub(super) fn note_scoped(&mut self, variable: usize) {
        if self.numbers.get_id(Side::Left, variable).is_none() {
            let number = self.binds.len() as u32;
            let (owner, index) = (Owner::ENDED, NO_INDEX);
            self.binds.push(Bind { variable, owner, index, number: u32::MAX });
            self.numbers.put_id(Side::Left, variable, Some(number));
        }
        self.note_bound_inside(variable);
    }

    /// Whether nothing was bound or found free, no scope is open, and no key is being hashed: then what is found rests on nothing.
    pub(super) fn is_blank(&self) -> bool {
        self.binds.is_empty() && self.scopes.depth() == 0 && !self.in_key()
    }

    /// Whether a key is being hashed.
    pub(super) fn in_key(&self) -> bool {
        self.outer.is_some()
    }

    #[cold]
    pub(super) fn note_use(&mut self, used: Use) {
        if let Some(all) = self.used.last_mut() {
            all.uses.push(used);
        }
    }

    /// Notes that a variable is bound in a scope around what is hashed apart. Its index there.
    #[cold]
    fn bind_outer(&mut self, bound: OuterBinding) -> u32 {
        if let Some(used) = self.used.last_mut() {
            used.bound.push(bound);
        }
        self.next_index(bound.depth)
    }

    pub(super) fn note_bound_inside(&mut self, variable: usize) {
        if self.in_key() {
            self.scoped.push(variable);
            if let Some(used) = self.used.last_mut() {
                used.scoped.push(variable);
            }
        }
    }

    /// What is remembered of a node inside a key, if it was found under the bindings of here. What
    /// it found to be free is free here, too.
    pub(super) fn remembered_in_key(&mut self, node: usize, region: Region) -> Option<Hash128> {
        let entry = self.key_memo.get((node, self.scopes.depth(), region))?;
        let binds = |variable: usize, index: u32| {
            let is_same = |bound: &OuterBinding| {
                self.is_outer(bound.depth) && self.next_index(bound.depth) == index
            };
            // They are sorted by variable.
            let all = &entry.variables.bound;
            let from = all.partition_point(|bound| bound.variable < variable);
            all[from..].iter().take_while(|bound| bound.variable == variable).any(is_same)
        };
        let same = |used: &Use| match self.binding(used.variable) {
            None => used.bound.is_none_or(|(_, index)| binds(used.variable, index)),
            Some((at, index, _)) => match used.bound {
                None => index.is_none(),
                Some(bound) => bound == (at, index.unwrap_or(KNOWN_FREE)),
            },
        };
        // What scopes inside it bind must not be bound here: it would mean something else.
        let unbound = |variable: &usize| self.binding(*variable).is_none();
        if !entry.variables.uses.iter().all(same) || !entry.variables.scoped.iter().all(unbound) {
            return None;
        }
        // As it would be found here: what is known to be free or bound is not found to be so.
        let mut found = Variables::clone(&entry.variables);
        found.bound.retain(|bound| self.binding(bound.variable).is_none());
        for used in found.uses.iter_mut().filter(|used| used.bound.is_none()) {
            if self.binding(used.variable).is_some() {
                used.bound = Some((0, KNOWN_FREE));
            } else {
                self.bind_free_in_key(used.variable);
                self.free.push((used.serial, used.variable));
            }
        }
        if !found.bound.is_empty() {
            self.bind_tied(&found.bound);
        }
        self.scoped.extend(&found.scoped);
        if let Some(used) = self.used.last_mut() {
            used.add(&found);
        }
        if let Some(basis) = entry.kept.basis() {
            self.scopes.rest_on(basis);
        }
        Some(entry.hash)
    }

    pub(super) fn remembered(&mut self, node: usize, region: Region) -> Option<Hash128> {
        if self.in_key() {
            return self.remembered_in_key(node, region);
        }
        let at_depth = |this: &Self| {
            let entry = this.at_depth.get(&(node, this.scopes.depth()))?;
            this.scopes.current(entry.owner).then(|| (entry.hash, entry.kept.clone()))
        };
        let (hash, kept) = at_depth(self).or_else(|| self.alone.get(&node).cloned())?;
        // A variable hidden in the node is bound here: the node means something else.
        if kept.hidden(0).iter().any(|&variable| self.binding(variable).is_some()) {
            return None;
        }
        if let Some(basis) = kept.basis() {
            self.scopes.rest_on(basis);
        }
        Some(hash)
    }
}

/// The variable that a number belongs to.
#[inline]
fn on(binds: &[Bind]) -> impl FnOnce(u32) -> Option<usize> {
    move |number| binds.get(number as usize).map(|bind| bind.variable)
}
