//! What one comparison knows: the bijection of variables, pairs of dag nodes, classes of equal
//! nodes, and how to take back what a failed callback did.

use rustc_hash::FxBuildHasher;

use super::Options;
use super::address::ByNode;
use super::key_memo::KeyMemo;
use super::numbers::Numbers;
use super::scopes::{Basis, Kept, Owner, Scopes};
use super::union_find::{self, Classes, Known};
use crate::graph::Graph;
use crate::path::Path;
use crate::values::Value;

/// One of the two graphs of a comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// The first.
    Left,
    /// The second.
    Right,
}

impl Side {
    /// The other one.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Left => Self::Right,
            Self::Right => Self::Left,
        }
    }
}

/// Two variables that stand for each other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Binding {
    nodes: [usize; 2],
    owner: Owner,
    /// How many variables its scope had bound before; nothing for a free variable, bound to itself.
    index: Option<u32>,
}

impl Binding {
    pub(crate) fn on(&self, side: Side) -> usize {
        self.nodes[side as usize]
    }

    pub(crate) fn depth(&self) -> u32 {
        self.owner.depth
    }

    /// Which of its scope's variables it is; nothing for a free variable.
    pub(crate) fn index(&self) -> Option<u32> {
        self.index
    }
}

#[derive(Clone, Debug)]
struct Paired {
    with: usize,
    owner: Owner,
    kept: Kept,
    epoch: u32,
}

#[derive(Debug)]
enum Undo {
    Variable(Side, usize, Option<u32>),
    Bound(Owner),
    Dag(Side, usize, Option<Paired>),
    Classes(union_find::Undo),
}

pub(crate) struct State {
    pub(crate) options: Options,
    pub(crate) scopes: Scopes,
    /// What is remembered of nodes inside keys: where singletons count by their fields, and where they
    /// count by identity.
    pub(crate) key_memos: [KeyMemo; 2],
    bindings: Vec<Binding>,
    variables: Numbers,
    dag: [ByNode<Paired>; 2],
    classes: Classes,
    /// Pairs without variables and dag nodes that differ, found below hooks, and how often.
    unequal: hashbrown::HashMap<(usize, usize), u32, FxBuildHasher>,
    /// Keys that were compared by themselves, and whether they are equal.
    pub(crate) equal_alone: hashbrown::HashMap<(usize, usize), bool, FxBuildHasher>,
    /// Such pairs that a hook called equal before any variable or dag node was met.
    equal: hashbrown::HashSet<(usize, usize), FxBuildHasher>,
    /// Kept only while a hook may still turn a failure into a success.
    journal: Vec<Undo>,
    hooks_open: u32,
    /// Whether the quick walk met what the ordered one must look at.
    pub(crate) ask_again: bool,
    /// What callbacks were given, kept alive so that no address is used twice.
    kept: Vec<Value>,
    /// Numbers of the bindings whose places are asked for, ascending, and the places found.
    wanted: Vec<usize>,
    pub(crate) places: Vec<(usize, Bound)>,
    /// Where the comparisons around the innermost one are, if places are asked for.
    pub(crate) outer: Vec<Path>,
}

/// Two variables that were bound to each other, and where.
#[derive(Clone, Debug)]
pub struct Bound {
    /// The variable on the left, printed.
    pub left: String,
    /// The variable on the right, printed.
    pub right: String,
    /// The place, on the left.
    pub at: Path,
}

/// How two dag nodes are paired.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DagPair {
    /// Neither is.
    None,
    /// With each other.
    EachOther,
    /// With each other, but whether they are still equal must be looked at again.
    LookAgain,
    /// One of them with another node.
    Others,
}

/// What is remembered of two nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    Unknown,
    Equal,
    /// Something that does not hold where the walk is.
    NotHere,
}

/// A point to go back to.
pub(crate) struct Mark {
    journal: usize,
    depth: u32,
    tracked: (usize, Kept),
}

impl State {
    pub(crate) fn new(options: Options) -> Self {
        Self::with_scopes(options, Scopes::new())
    }

    fn with_scopes(options: Options, scopes: Scopes) -> Self {
        Self {
            options,
            scopes,
            key_memos: Default::default(),
            bindings: Vec::new(),
            variables: Numbers::default(),
            dag: Default::default(),
            classes: Classes::default(),
            unequal: hashbrown::HashMap::default(),
            equal: hashbrown::HashSet::default(),
            equal_alone: hashbrown::HashMap::default(),
            journal: Vec::new(),
            hooks_open: 0,
            ask_again: false,
            kept: Vec::new(),
            wanted: Vec::new(),
            places: Vec::new(),
            outer: Vec::new(),
        }
    }

    /// What stands for a state that is used elsewhere meanwhile.
    pub(crate) fn hollow() -> Self {
        Self::with_scopes(Options::default(), Scopes::default())
    }

    /// A comparison that is to say where the bindings of these numbers are made.
    pub(crate) fn locating(options: Options, mut wanted: Vec<usize>) -> Self {
        wanted.sort_unstable();
        wanted.dedup();
        Self { wanted, ..Self::new(options) }
    }

    /// Whether the place of the next binding is asked for.
    pub(crate) fn is_wanted(&self) -> bool {
        self.wanted.binary_search(&self.bindings.len()).is_ok()
    }

    /// The place of the next binding.
    pub(crate) fn found_place(&mut self, bound: Bound) {
        self.places.push((self.bindings.len(), bound));
    }

    /// The number and the binding of a variable that is bound now.
    #[inline]
    pub(crate) fn binding<'a, G: Graph<'a>>(
        &self,
        g: G,
        side: Side,
        variable: G::Node,
    ) -> Option<(usize, Binding)> {
        let number = self.variables.get(g, side, variable, on(&self.bindings, side))?;
        self.current(number)
    }

    /// The depth of the binding of a variable that is bound now, and what it is bound to.
    #[inline]
    pub(crate) fn bound_to<'a, G: Graph<'a>>(
        &self,
        g: G,
        side: Side,
        variable: G::Node,
    ) -> Option<(u32, usize)> {
        let number = self.variables.get(g, side, variable, on(&self.bindings, side))?;
        let binding = &self.bindings[number as usize];
        self.scopes.current(binding.owner).then(|| (binding.owner.depth, binding.on(side.other())))
    }

    /// The same by identity, of a variable that is hidden somewhere, and of any variable inside
    /// hooks and keys.
    pub(crate) fn binding_of(&self, side: Side, variable: usize) -> Option<(usize, Binding)> {
        self.current(self.variables.get_id(side, variable)?)
    }

    #[inline]
    fn current(&self, number: u32) -> Option<(usize, Binding)> {
        let binding = self.bindings[number as usize];
        self.scopes.current(binding.owner).then_some((number as usize, binding))
    }

    /// Room for as many more bindings.
    pub(crate) fn reserve<'a, G: Graph<'a>>(&mut self, bindings: usize) {
        self.bindings.reserve(bindings);
        self.variables.reserve::<G>(bindings);
    }

    /// Binds two variables to each other in the scope at `depth`, `hidden` if that scope binds them
    /// only because none around it does.
    #[inline]
    pub(crate) fn bind<'a, G: Graph<'a>>(
        &mut self,
        g: G,
        (left, right): (G::Node, G::Node),
        depth: u32,
        hidden: bool,
    ) {
        let nodes = [g.id(left), g.id(right)];
        let index = self.scopes.bind(depth, hidden.then_some(nodes));
        let owner = self.scopes.owner(depth);
        self.note(|| Undo::Bound(owner));
        let number = self.bindings.len() as u32;
        let mut was_scoped = false;
        for (side, variable) in [(Side::Left, left), (Side::Right, right)] {
            let old = self.variables.put(g, side, variable, number, on(&self.bindings, side));
            was_scoped |= old.is_some();
            self.note(|| Undo::Variable(side, nodes[side as usize], old));
            if hidden {
                self.variables.watch(side, nodes[side as usize], number);
            }
        }
        self.add(Binding { nodes, owner, index: Some(index) }, was_scoped);
    }

    /// The variable stands for itself in the whole comparison.
    pub(crate) fn bind_free<'a, G: Graph<'a>>(&mut self, g: G, variable: G::Node) {
        let number = self.bindings.len() as u32;
        let mut was_scoped = false;
        for side in [Side::Left, Side::Right] {
            let old = self.variables.put(g, side, variable, number, on(&self.bindings, side));
            was_scoped |= old.is_some();
            self.note(|| Undo::Variable(side, g.id(variable), old));
        }
        self.add_free(g.id(variable), was_scoped);
    }

    /// The same by identity, of a variable that a key uses.
    pub(crate) fn bind_free_in_key(&mut self, variable: usize) {
        let number = self.bindings.len() as u32;
        let mut was_scoped = false;
        for side in [Side::Left, Side::Right] {
            let old = self.variables.put_id(side, variable, Some(number));
            was_scoped |= old.is_some();
            self.note(|| Undo::Variable(side, variable, old));
        }
        self.add_free(variable, was_scoped);
    }

    fn add_free(&mut self, variable: usize, was_scoped: bool) {
        let owner = self.scopes.owner(0);
        self.add(Binding { nodes: [variable, variable], owner, index: None }, was_scoped);
    }

    fn add(&mut self, binding: Binding, was_scoped: bool) {
        let depth = binding.depth();
        self.bindings.push(binding);
        if was_scoped && depth == 0 {
            // A scope that ended bound this variable, and from now on it means the same everywhere:
            // what was found about that scope would not be found again. At most once per variable.
            self.classes.clear();
        }
        self.scopes.touch(depth);
    }

    /// From now on variables may be asked for by identity.
    pub(crate) fn by_identity(&mut self) {
        let all = self.bindings.iter().map(|binding| binding.nodes.map(Some));
        self.variables.move_to_tables(all);
    }

    /// What is known of two dag nodes: whether they are paired with each other, with others, or
    /// not at all. What a pair rests on counts as touched.
    pub(crate) fn dag_pair(&mut self, left: usize, right: usize) -> DagPair {
        let current = |side: Side, node: usize| {
            let paired = self.dag[side as usize].get(&node)?;
            self.scopes.current(paired.owner).then_some(paired)
        };
        let paired = match (current(Side::Left, left), current(Side::Right, right)) {
            (None, None) => return DagPair::None,
            (Some(paired), _) if paired.with == right => paired,
            _ => return DagPair::Others,
        };
        let bound = |side: Side| {
            let hidden = paired.kept.hidden(side as usize);
            hidden.iter().any(|&variable| self.binding_of(side, variable).is_some())
        };
        if paired.epoch != self.classes.epoch() || bound(Side::Left) || bound(Side::Right) {
            return DagPair::LookAgain;
        }
        let kept = paired.kept.clone();
        if let Some(basis) = kept.basis() {
            self.scopes.rest_on(basis);
        }
        DagPair::EachOther
    }

    pub(crate) fn pair_dag(&mut self, left: usize, right: usize, basis: &Basis) {
        let owner = self.scopes.owner_of(basis);
        let kept = Kept::new(basis);
        let epoch = self.classes.epoch();
        for (side, node, with) in [(Side::Left, left, right), (Side::Right, right, left)] {
            let paired = Paired { with, owner, kept: kept.clone(), epoch };
            let old = self.dag[side as usize].insert(node, paired);
            self.note(|| Undo::Dag(side, node, old));
        }
    }

    /// What is known of the two. If they are equal, what that rests on counts as touched.
    pub(crate) fn known(&mut self, left: usize, right: usize) -> Verdict {
        let bound = |side, variable| self.binding_of(side, variable).is_some();
        match self.classes.known(&self.scopes, left, right, bound) {
            Known::Nothing => Verdict::Unknown,
            Known::NotHere => Verdict::NotHere,
            Known::Equal(left, right) => {
                let (left, right) = (left.clone(), right.clone());
                self.scopes.rest_on_both(&left, &right);
                Verdict::Equal
            }
        }
    }

    /// Changes when what was remembered is forgotten; what was begun before must not be joined.
    pub(crate) fn epoch(&self) -> u32 {
        self.classes.epoch()
    }

    /// The two are equal, as far as the scopes in `basis` stay open. With `anew`, what was known of
    /// them before holds elsewhere. Whether this is news.
    pub(crate) fn join(&mut self, left: usize, right: usize, basis: &Basis, anew: bool) -> bool {
        let owner = self.scopes.owner_of(basis);
        let (journal, record) = (&mut self.journal, self.hooks_open > 0);
        let kept = Kept::new(basis);
        self.classes.join(&self.scopes, (left, right), (owner, &kept), anew, |undo| {
            if record {
                journal.push(Undo::Classes(undo));
            }
        })
    }

    /// The two differ, wherever they stand.
    pub(crate) fn note_unequal(&mut self, left: usize, right: usize) {
        *self.unequal.entry((left, right)).or_default() += 1;
    }

    /// How often the two were found to differ.
    pub(crate) fn times_unequal(&self, left: usize, right: usize) -> u32 {
        self.unequal.get(&(left, right)).copied().unwrap_or(0)
    }

    /// Whether no variable and no dag node has a counterpart yet, and no scope is open: then what is found rests on nothing.
    pub(crate) fn is_blank(&self) -> bool {
        self.bindings.is_empty()
            && self.dag[0].is_empty()
            && self.dag[1].is_empty()
            && self.scopes.depth() == 0
    }

    /// The two are equal, whatever stands around them.
    pub(crate) fn note_equal(&mut self, left: usize, right: usize) {
        self.equal.insert((left, right));
    }

    /// Whether that was noted.
    pub(crate) fn is_equal(&self, left: usize, right: usize) -> bool {
        self.equal.contains(&(left, right))
    }

    /// A hook begins or ends: only below one can a failure be followed by a success.
    pub(crate) fn enter_hook(&mut self) {
        self.by_identity();
        self.hooks_open += 1;
    }

    pub(crate) fn leave_hook(&mut self) {
        self.hooks_open -= 1;
        if self.hooks_open == 0 {
            self.journal.clear();
        }
    }

    pub(crate) fn in_hook(&self) -> bool {
        self.hooks_open > 0
    }

    pub(crate) fn keep(&mut self, value: Value) {
        self.kept.push(value);
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark {
            journal: self.journal.len(),
            depth: self.scopes.depth(),
            tracked: self.scopes.tracked(),
        }
    }

    /// Takes back all that was bound, paired and joined since `mark`.
    pub(crate) fn roll_back(&mut self, mark: Mark) {
        while self.journal.len() > mark.journal {
            match self.journal.pop() {
                Some(Undo::Variable(side, variable, old)) => {
                    self.variables.put_id(side, variable, old);
                }
                Some(Undo::Bound(owner)) => self.scopes.unbind(owner),
                Some(Undo::Dag(side, node, Some(old))) => {
                    self.dag[side as usize].insert(node, old);
                }
                Some(Undo::Dag(side, node, None)) => {
                    self.dag[side as usize].remove(&node);
                }
                Some(Undo::Classes(undo)) => self.classes.undo(undo),
                None => return,
            }
        }
        self.scopes.truncate(mark.depth);
        self.scopes.restore_tracked(mark.tracked);
    }

    fn note(&mut self, undo: impl FnOnce() -> Undo) {
        if self.hooks_open > 0 {
            self.journal.push(undo());
        }
    }
}

/// The variable that a number belongs to.
#[inline]
fn on(bindings: &[Binding], side: Side) -> impl FnOnce(u32) -> Option<usize> {
    move |number| bindings.get(number as usize).map(|binding| binding.on(side))
}
