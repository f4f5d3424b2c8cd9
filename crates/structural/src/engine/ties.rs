//! Ties: entries of a map (or members of a set) whose keys differ and have the same hash.
//!
//! Keys tie where equality sees more than the hash: singletons of one content are told apart by
//! identity, dag nodes by how they are shared, and a hook may hash as little as it likes. Nothing
//! orders tied entries that would be the same in two containers, so they are treated as a set:
//!
//! - Keys of one container are pairwise unequal, so each has at most one counterpart in another
//!   container. `keys.rs` finds it; the *identity* of a key, a hash in which singletons count by
//!   identity, leaves few candidates.
//! - To the hash of the container, tied entries contribute the sorted list of their contributions.
//! - Values of tied entries that hold variables are visited after all other values of the
//!   container, and hashed each as things stand before all of them. The variables that they bind
//!   share one index: later uses do not tell them apart.
//!   The order of visits cannot matter if every variable is met in the same way by all values that
//!   meet it: bound in the same scope, or free, or bound by a scope inside the value. If not, the
//!   container is refused, by both functions.

use super::Region;
use super::feed::Feed;
use super::keys::{Apart, Bindings, hash_apart};
use crate::error::Error;
use crate::graph::{Graph, ViewOf};
use crate::hasher::{Hash128, Position, Sum};
use crate::kind::Facts;
use crate::path::{Path, Step};
use crate::view::View;

/// The most values of tied entries that one walk hashes. Values that are shared are remembered, so this
/// is a backstop against containers with ties in each other that what is remembered does not fit.
pub(super) const MAX_TIED_VALUES: u32 = 1 << 20;

/// The children of a map (or set) with ties, or with keys that depend on what is bound, while its hash
/// is computed.
pub(super) struct Entries {
    /// What each entry is sorted by, and its place in the container.
    order: Vec<(Hash128, u32)>,
    per_entry: usize,
    /// What the children contribute, in that order, as far as it is known.
    parts: Vec<Option<Hash128>>,
    /// Entries whose values are hashed after all others, side by side.
    held_back: Vec<usize>,
}

impl Entries {
    /// No contribution is known.
    pub(super) fn new(order: Vec<(Hash128, u32)>, per_entry: usize) -> Self {
        let parts = vec![None; order.len() * per_entry];
        Self { order, per_entry, parts, held_back: Vec::new() }
    }

    /// The keys contribute what they are sorted by.
    pub(super) fn with_keys(order: Vec<(Hash128, u32)>, per_entry: usize) -> Self {
        let mut entries = Self::new(order, per_entry);
        for (index, (key, _)) in entries.order.iter().enumerate() {
            entries.parts[index * per_entry] = Some(*key);
        }
        entries
    }

    /// Holds back the values of tied entries of a map that hold variables.
    pub(super) fn hold_back<'a, G: Graph<'a>>(&mut self, g: G, map: G::Node) {
        let tied = tied_with_variables(g, map, &self.order);
        if !tied.is_empty() {
            let is_tied = |at: &usize| tied.binary_search(&self.order[*at].1).is_ok();
            self.held_back = (0..self.order.len()).filter(is_tied).collect();
            for &at in &self.held_back {
                self.parts[at * 2 + 1] = Some(Hash128::default());
            }
        }
    }

    /// Whether values were held back.
    pub(super) fn has_held_back(&self) -> bool {
        !self.held_back.is_empty()
    }

    /// Number of children.
    pub(super) fn len(&self) -> usize {
        self.parts.len()
    }

    /// Whether the contribution of a child is known.
    pub(super) fn is_known(&self, index: usize) -> bool {
        self.parts.get(index).is_some_and(Option::is_some)
    }

    pub(super) fn put(&mut self, index: usize, part: Hash128) {
        if let Some(place) = self.parts.get_mut(index) {
            *place = Some(part);
        }
    }

    /// Where the container keeps a child, and the key of that child.
    pub(super) fn places(&self, index: usize) -> Option<(usize, usize)> {
        let key = self.order.get(index / self.per_entry)?.1 as usize * self.per_entry;
        Some((key + index % self.per_entry, key))
    }

    /// Adds all contributions, at the positions that they have in a container without ties.
    pub(super) fn add_to(self, sum: Sum) -> Sum {
        let parts: Vec<Hash128> = self.parts.into_iter().map(Option::unwrap_or_default).collect();
        let mut rows: Vec<(Hash128, &[Hash128])> =
            self.order.iter().map(|entry| entry.0).zip(parts.chunks(self.per_entry)).collect();
        rows.sort_unstable();
        rows.iter()
            .flat_map(|row| row.1)
            .enumerate()
            .fold(sum, |sum, (index, &part)| sum.add(Position::of(index), part))
    }
}

/// The entries of a map whose keys tie, of all ties some of whose values hold variables; ascending.
pub(super) fn tied_with_variables<'a, G: Graph<'a>>(
    g: G,
    map: G::Node,
    order: &[(Hash128, u32)],
) -> Vec<u32> {
    let open = |entry: &(Hash128, u32)| match g.child(map, entry.1 as usize * 2 + 1) {
        View::Node(node) => g.facts(node).any(Facts::VAR),
        View::List(_) => true,
        _ => false,
    };
    let ties = order.chunk_by(|a, b| a.0 == b.0);
    let ties = ties.filter(|group| group.len() > 1 && group.iter().any(open));
    let mut tied: Vec<u32> = ties.flatten().map(|entry| entry.1).collect();
    tied.sort_unstable();
    tied
}

/// Hashes the values of tied entries, each as things stand before all of them.
///
/// # Errors
/// [`Error::KeyCollision`] if the order of visits would matter, or this was done too often.
pub(super) fn tied_values<'a, G: Graph<'a>>(
    g: G,
    bindings: &dyn Bindings,
    map: G::Node,
    tied: &[u32],
    region: Region,
) -> Result<Apart, Error> {
    let refuse = |reason| Error::KeyCollision { reason, path: Path::root() };
    if !bindings.key_memo(bindings.identifies()).spend(tied.len() as u32, MAX_TIED_VALUES) {
        return Err(refuse("containers with such keys hold each other too often"));
    }
    let mut all = Apart::default();
    let mut meetings: Vec<(usize, Meeting, u32)> = Vec::new();
    for (value, &entry) in (0..).zip(tied) {
        let view: ViewOf<'a, G> = g.child(map, entry as usize * 2 + 1);
        let found = hash_apart(g, view, region, bindings, bindings.identifies());
        let found = found.map_err(|error| {
            error.within(Step::Key(g.shown(g.child(map, entry as usize * 2))).into())
        })?;
        meetings.extend(found.free.iter().map(|free| (free.1, Meeting::Free, value)));
        meetings.extend(found.scoped.iter().map(|&id| (id, Meeting::Scoped, value)));
        meetings.extend(found.bound.iter().map(|bound| {
            (bound.variable, Meeting::Bound { depth: bound.depth, hidden: bound.hidden }, value)
        }));
        all.add(found);
    }
    all.tidy();
    meetings.sort_unstable();
    // Of a variable that is met in two ways and by two values, two values meet it in different ways.
    let differs = |run: &[(usize, Meeting, u32)]| {
        run[0].1 != run[run.len() - 1].1 && run.iter().any(|meeting| meeting.2 != run[0].2)
    };
    if meetings.chunk_by(|a, b| a.0 == b.0).any(differs) {
        return Err(refuse(
            "the value of one binds a variable that the value of another uses or binds elsewhere",
        ));
    }
    Ok(all)
}

/// How a value meets a variable that nothing before it binds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Meeting {
    /// It stays free.
    Free,
    /// The value binds it in a scope around the map.
    Bound { depth: u32, hidden: bool },
    /// A scope inside the value binds it.
    Scoped,
}

impl<'a, G: Graph<'a>> Feed<'_, '_, 'a, G> {
    /// Hashes the values that were held back: all other entries contributed.
    pub(super) fn hash_tied_values(
        &mut self,
        map: G::Node,
        region: Region,
        entries: &mut Entries,
    ) -> Result<(), Box<Error>> {
        self.state.by_identity();
        let tied: Vec<u32> = entries.held_back.iter().map(|&at| entries.order[at].1).collect();
        let found = tied_values(self.g, &*self.state, map, &tied, region)
            .map_err(|error| error.within(self.path()))?;
        for (at, &hash) in std::mem::take(&mut entries.held_back).into_iter().zip(&found.hashes) {
            entries.put(at * 2 + 1, hash);
        }
        self.rest_on(found)
    }

    /// Takes over what was found of parts that were hashed apart.
    pub(super) fn rest_on(&mut self, found: Apart) -> Result<(), Box<Error>> {
        for free in found.free {
            self.bind_free_in_key(free)?;
        }
        for variable in found.scoped {
            self.state.note_scoped(variable);
        }
        let made = self.state.bindings_made;
        let made = made..made + found.bound.len();
        if self.state.stop_at.is_some_and(|at| made.contains(&at)) {
            self.state.stop_at = Some(made.start);
            self.stop_here("a variable")?;
        }
        self.state.bind_tied(&found.bound);
        if let Some(used) = self.state.used.last_mut() {
            used.uses.extend(found.uses);
        }
        self.state.scopes.rest_on(&found.basis);
        Ok(())
    }

    /// A variable, by creation number and identity, is free.
    pub(super) fn bind_free_in_key(&mut self, free: (u64, usize)) -> Result<(), Box<Error>> {
        self.stop_here("a free variable")?;
        self.state.bind_free_in_key(free.1);
        self.state.free.push(free);
        Ok(())
    }
}
