//! Graphs without variables, hooks and uncomparable nodes: nothing is bound, and the order of visits
//! is free. The last child is visited first, which walks memory in
//! the order in which bottom-up construction allocated it.

use super::Options;
use super::address::ByNode;
use super::equal::refuse_variables;
use super::scalars;
use super::scopes::Basis;
use super::state::{DagPair, State};
use crate::error::Error;
use crate::graph::{Graph, Heap, ViewOf};
use crate::hasher::{Hash128, Mixer};
use crate::kind::{Kind, Role};
use crate::path::{Path, Step};
use crate::type_info::{Layout, TAG_LIST};
use crate::view::View;

/// Whether two nodes are equal.
///
/// Pairs of shared nodes are joined, and dag nodes paired, when they are first met, before they are
/// known to be equal: if they are not, the whole comparison fails (below a hook, it is taken back).
/// `below_shared` says whether something above has more than one owner; only then, or if it has
/// several itself, can a dag node be met again. `scratch` is room that calls share.
///
/// # Errors
/// If a type that promises to hold no dag nodes holds one. The place is not known.
pub(super) fn equal<'a, G: Graph<'a>>(
    g: G,
    state: &mut State,
    pair: (G::Node, G::Node),
    below_shared: bool,
    scratch: &mut Vec<Todo<G::Node>>,
) -> Result<bool, Error> {
    let skip = state.options.skip_tensor_content;
    let mut meet = Meet { g, skip, todo: std::mem::take(scratch), below_shared };
    meet.nodes(pair.0, pair.1);
    let result = equal_all(&mut meet, state);
    meet.todo.clear();
    *scratch = meet.todo;
    result
}

fn equal_all<'a, G: Graph<'a>>(meet: &mut Meet<'a, G>, state: &mut State) -> Result<bool, Error> {
    let g = meet.g;
    let basis = Basis::default();
    while let Some(Todo { left, right, below_shared }) = meet.todo.pop() {
        let info = g.info(left);
        if !std::ptr::eq(info, g.info(right)) {
            return Ok(false);
        }
        let (left_id, right_id) = (g.id(left), g.id(right));
        let facts = g.facts(left).and(g.facts(right));
        let shared = g.shared(left) || g.shared(right);
        match info.kind() {
            _ if left_id == right_id && facts.is_none() => continue,
            Kind::Tree => {}
            Kind::Dag if !(shared || below_shared) => {}
            Kind::Dag => {
                // Without variables, what was found equal stays so.
                match state.dag_pair(left_id, right_id) {
                    DagPair::None => state.pair_dag(left_id, right_id, &basis),
                    DagPair::EachOther | DagPair::LookAgain => continue,
                    DagPair::Others => return Ok(false),
                }
            }
            Kind::ConstTree => refuse_variables(info, facts)?,
            Kind::Singleton => {
                refuse_variables(info, facts)?;
                if left_id == right_id {
                    continue;
                }
                return Ok(false);
            }
            Kind::Var | Kind::Uncomparable => return Ok(false),
        }
        if shared && info.kind() != Kind::Dag && !state.join(left_id, right_id, &basis, false) {
            continue;
        }
        meet.below_shared = below_shared || shared;
        let equal = if info.layout() == Layout::Record {
            g.meet_fields(left, right, meet)
        } else {
            meet.containers(left, right)
        };
        if !equal {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A pair that is still to be compared.
pub(super) struct Todo<N> {
    left: N,
    right: N,
    below_shared: bool,
}

/// Takes in the children of two nodes side by side: compares what has no identity, and keeps nodes
/// for later. Only where the order of visits is free. See [`crate::Field::meet`].
pub struct Meet<'a, G: Graph<'a> = Heap> {
    g: G,
    skip: bool,
    todo: Vec<Todo<G::Node>>,
    below_shared: bool,
}

impl<'a, G: Graph<'a>> Meet<'a, G> {
    /// Two nodes, to be compared later.
    #[inline]
    pub fn nodes(&mut self, left: G::Node, right: G::Node) -> bool {
        self.todo.push(Todo { left, right, below_shared: self.below_shared });
        true
    }

    /// Two values: whether they are equal, as far as that can be said now.
    #[inline]
    pub fn values(&mut self, left: &ViewOf<'a, G>, right: &ViewOf<'a, G>) -> bool {
        if let (View::Node(left), View::Node(right)) = (left, right) {
            return self.nodes(*left, *right);
        }
        self.others(left, right)
    }

    /// All fields of two nodes that count.
    pub(crate) fn fields(&mut self, left: G::Node, right: G::Node) -> bool {
        let g = self.g;
        g.info(left).fields().iter().enumerate().all(|(index, field)| {
            field.role == Role::Ignore || self.values(&g.child(left, index), &g.child(right, index))
        })
    }

    #[inline(never)]
    fn others(&mut self, left: &ViewOf<'a, G>, right: &ViewOf<'a, G>) -> bool {
        let g = self.g;
        if let Some(equal) = scalars::equal(left, right, self.skip) {
            return equal;
        }
        // A sequence with identity equals one without. Lists nest as deep as Rust types do.
        let len = sequence_len(g, left);
        len.is_some()
            && len == sequence_len(g, right)
            && (0..len.unwrap_or(0))
                .all(|i| self.values(&sequence_item(g, left, i), &sequence_item(g, right, i)))
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
        (0..entries).all(|entry| g.key_hash(left, entry) == g.key_hash(right, entry))
            && (0..len).all(|i| self.values(&g.child(left, i), &g.child(right, i)))
    }
}

pub(super) fn sequence_len<'a, G: Graph<'a>>(
    g: G,
    view: &View<'a, G::Node, G::List>,
) -> Option<usize> {
    match view {
        View::List(list) => Some(g.list_len(*list)),
        View::Node(node) if g.info(*node).layout() == Layout::List => Some(g.len(*node)),
        _ => None,
    }
}

fn sequence_item<'a, G: Graph<'a>>(
    g: G,
    view: &View<'a, G::Node, G::List>,
    index: usize,
) -> View<'a, G::Node, G::List> {
    match view {
        View::List(list) => g.list_item(*list, index),
        View::Node(node) => g.child(*node, index),
        _ => View::None,
    }
}

/// What is being hashed, and how far: children are taken in from the last to the first.
struct Frame<N, L> {
    of: Of<N, L>,
    left: usize,
    state: Mixer,
}

enum Of<N, L> {
    Node(N),
    List(L),
}

/// Where hashes of nodes are kept: in the nodes, or else, for shared ones, beside them.
pub(super) struct Memo {
    skip_tensor_content: bool,
    table: ByNode<Hash128>,
}

impl Memo {
    pub(super) fn new(options: Options) -> Self {
        Self { skip_tensor_content: options.skip_tensor_content, table: ByNode::default() }
    }

    /// Nodes keep the hash of the default options alone.
    fn in_nodes<'a, G: Graph<'a>>(&self) -> bool {
        G::CACHES && !self.skip_tensor_content
    }

    #[inline]
    fn get<'a, G: Graph<'a>>(&self, g: G, node: G::Node) -> Option<Hash128> {
        if self.in_nodes::<G>() {
            g.cached_hash(node)
        } else if g.shared(node) {
            self.table.get(&g.id(node)).copied()
        } else {
            None
        }
    }

    #[inline]
    fn put<'a, G: Graph<'a>>(&mut self, g: G, node: G::Node, hash: Hash128) {
        if self.in_nodes::<G>() {
            g.cache_hash(node, hash);
        } else if g.shared(node) {
            self.table.insert(g.id(node), hash);
        }
    }
}

/// The hash of a node. Dag nodes are hashed as trees; a type that promises to hold none is held
/// to it.
pub(super) fn hash<'a, G: Graph<'a>>(
    g: G,
    node: G::Node,
    memo: &mut Memo,
) -> Result<Hash128, Error> {
    if let Some(hash) = memo.get(g, node) {
        return Ok(hash);
    }
    let mut frames = Vec::with_capacity(32);
    frames.push(open_node(g, node));
    loop {
        let Some(top) = frames.last_mut() else { return Ok(Hash128::default()) };
        let mut opened = None;
        while top.left > 0 {
            top.left -= 1;
            let index = top.left;
            let view = match &top.of {
                Of::Node(node) => {
                    let fields = g.info(*node).fields();
                    if fields.get(index).is_some_and(|field| field.role == Role::Ignore) {
                        continue;
                    }
                    g.child(*node, index)
                }
                Of::List(list) => g.list_item(*list, index),
            };
            match view {
                View::Node(child) => match memo.get(g, child) {
                    Some(hash) => top.state = top.state.absorb_hash(hash),
                    None => {
                        let info = g.info(child);
                        if matches!(info.kind(), Kind::ConstTree | Kind::Singleton)
                            && let Err(error) = refuse_variables(info, g.facts(child))
                        {
                            return Err(error.within(path(g, &frames)));
                        }
                        opened = Some(open_node(g, child));
                        break;
                    }
                },
                View::List(list) => {
                    let len = g.list_len(list);
                    let state = list_seed(len);
                    opened = Some(Frame { of: Of::List(list), left: len, state });
                    break;
                }
                scalar => {
                    if let Some(words) = scalars::contribution(&scalar, memo.skip_tensor_content) {
                        top.state = top.state.absorb_hash(words);
                    }
                }
            }
        }
        match opened {
            Some(frame) => frames.push(frame),
            None => {
                let hash = top.state.finish();
                if let Of::Node(node) = top.of {
                    memo.put(g, node, hash);
                }
                frames.pop();
                match frames.last_mut() {
                    Some(outer) => outer.state = outer.state.absorb_hash(hash),
                    None => return Ok(hash),
                }
            }
        }
    }
}

/// Where the walk is.
fn path<'a, G: Graph<'a>>(g: G, frames: &[Frame<G::Node, G::List>]) -> Path {
    let step = |frame: &Frame<G::Node, G::List>| match frame.of {
        Of::List(_) => Step::Index(frame.left),
        Of::Node(node) => match g.info(node).layout() {
            Layout::Record => g
                .info(node)
                .fields()
                .get(frame.left)
                .map_or(Step::Index(frame.left), |field| Step::Field(field.name.into())),
            Layout::List => Step::Index(frame.left),
            Layout::Map => Step::Key(g.shown(g.child(node, frame.left / 2 * 2))),
            Layout::Set => Step::Key(g.shown(g.child(node, frame.left))),
        },
    };
    frames.iter().map(step).collect()
}

#[inline]
fn open_node<'a, G: Graph<'a>>(g: G, node: G::Node) -> Frame<G::Node, G::List> {
    let len = g.len(node);
    Frame { of: Of::Node(node), left: len, state: node_seed(g, node, len) }
}

/// Where the hash of a node starts: its type, and how many children it has.
#[inline]
pub(super) fn node_seed<'a, G: Graph<'a>>(g: G, node: G::Node, len: usize) -> Mixer {
    g.info(node).seed_of(len)
}

/// Where the hash of a list starts: as that of a sequence with identity.
pub(super) fn list_seed(len: usize) -> Mixer {
    Mixer::new(TAG_LIST).absorb(len as u64, 1)
}
