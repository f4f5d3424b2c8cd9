//! The hash of graphs without variables, hooks and uncomparable nodes: nothing is bound, and the
//! order of visits is free. The last child is visited first, which walks memory in the order in which
//! bottom-up construction allocated it.

use super::Options;
use super::address::ByNode;
use super::equal::refuse_variables;
use super::scalars;
use crate::error::Error;
use crate::graph::Graph;
use crate::hasher::{Hash128, Mixer};
use crate::kind::{Kind, Role};
use crate::path::{Path, Step};
use crate::type_info::{Layout, TAG_LIST};
use crate::view::View;

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
    if let Some(hash) = hash_flat(g, node, memo) {
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

/// The hash of a node whose fields are numbers, text and nodes that were hashed before: a leaf, say.
/// Nothing for others.
#[inline]
fn hash_flat<'a, G: Graph<'a>>(g: G, node: G::Node, memo: &mut Memo) -> Option<Hash128> {
    let info = g.info(node);
    if info.layout() != Layout::Record {
        return None;
    }
    let mut state = info.seed_of(info.fields().len());
    for (index, field) in info.fields().iter().enumerate().rev() {
        if field.role == Role::Ignore {
            continue;
        }
        let part = match g.child(node, index) {
            View::Node(child) => memo.get(g, child)?,
            value => scalars::contribution(&value, memo.skip_tensor_content)?,
        };
        state = state.absorb_hash(part);
    }
    let hash = state.finish();
    memo.put(g, node, hash);
    Some(hash)
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
