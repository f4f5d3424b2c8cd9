//! A hash of the sharing in a graph, which structural hashes leave out.

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use rustc_hash::FxBuildHasher;

use crate::child_cursor::ChildCursor;
use crate::kind::{FieldRole, NodeKind};
use crate::node::Field;
use crate::view::View;

/// Returns a number that depends only on how often each node of kind `dag` occurs. Values that are structurally equal have the same number. Together with
/// the structural hash, it tells graphs apart that differ only in sharing, which have the same structural hash.
///
/// Occurrences are counted along the paths through nodes of other kinds, whose sharing does not count. Ignored fields and nodes
/// with hooks are left out. O(nodes); nothing recurses.
///
/// ```
/// use sapwood_structural::{Node, Ref, equal, hash, sharing_hash};
///
/// #[derive(Node)]
/// #[node(kind = "dag")]
/// struct Load(i64);
///
/// let load = Ref::new(Load(1));
/// let shared = vec![load.clone(), load];
/// let apart = vec![Ref::new(Load(1)), Ref::new(Load(1))];
/// assert!(!equal(&shared, &apart)?);
/// assert_eq!(hash(&shared)?, hash(&apart)?);
/// assert_ne!(sharing_hash(&shared), sharing_hash(&apart));
/// # Ok::<(), sapwood_structural::Error>(())
/// ```
#[must_use]
pub fn sharing_hash(value: &impl Field) -> u64 {
    let (mut nodes, order) = occurrence_graph(value.view());
    for id in order.into_iter().rev() {
        let Some(node) = nodes.get_mut(&id) else { continue };
        // The nodes below a shared node of kind `dag` occur there once.
        let occurrences = if node.is_dag { 1 } else { node.occurrences };
        for child in std::mem::take(&mut node.children) {
            if let Some(child) = nodes.get_mut(&child) {
                child.occurrences = child.occurrences.wrapping_add(occurrences);
            }
        }
    }
    let dags = nodes.iter().filter(|&(&id, node)| node.is_dag && id != ROOT);
    // A sum, because the order of the entries of maps and sets does not count.
    dags.fold(0, |sum, (_, node)| sum.wrapping_add(mix(node.occurrences)))
}

// The finalizer of SplitMix64.
fn mix(n: u64) -> u64 {
    let n = n.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let n = (n ^ (n >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let n = (n ^ (n >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    n ^ (n >> 31)
}

/// The id of the owner of the value itself; no node has it.
const ROOT: usize = 0;

/// A node with the ids of its children, and the number of its occurrences modulo 2^64.
struct CountedNode {
    is_dag: bool,
    children: Vec<usize>,
    occurrences: u64,
}

type CountedNodes = HashMap<usize, CountedNode, FxBuildHasher>;

/// A node or list whose children are being visited.
struct OccurrenceFrame<'a> {
    /// The node; for a list, the node around it.
    owner: usize,
    is_list: bool,
    children: ChildCursor<'a>,
}

/// Returns all nodes below a value, and their ids in post-order.
fn occurrence_graph(value: View<'_>) -> (CountedNodes, Vec<usize>) {
    let mut nodes = CountedNodes::default();
    nodes.insert(ROOT, CountedNode { is_dag: true, children: Vec::new(), occurrences: 1 });
    let mut order = Vec::new();
    let mut frames: Vec<OccurrenceFrame<'_>> = Vec::new();
    let mut met = Some((value, ROOT));
    loop {
        match met.take() {
            Some((View::List(list), owner)) => {
                let children = ChildCursor::of_list(list);
                frames.push(OccurrenceFrame { owner, is_list: true, children });
            }
            Some((View::Node(node), owner)) => {
                if let Some(owner) = nodes.get_mut(&owner) {
                    owner.children.push(node.id());
                }
                if let Entry::Vacant(entry) = nodes.entry(node.id()) {
                    let is_dag = node.info().kind() == NodeKind::Dag;
                    entry.insert(CountedNode { is_dag, children: Vec::new(), occurrences: 0 });
                    // A hook decides which fields of its node count; those of variables and singletons do not.
                    let by_identity = [NodeKind::Var, NodeKind::Singleton];
                    if node.info().hooks().is_none() && !by_identity.contains(&node.info().kind()) {
                        let (owner, children) = (node.id(), ChildCursor::of_node(node));
                        frames.push(OccurrenceFrame { owner, is_list: false, children });
                    }
                }
            }
            _ => {}
        }
        let Some(top) = frames.last_mut() else { break };
        match top.children.advance() {
            Some(index) if top.children.role(index) == FieldRole::Ignore => {}
            Some(index) => met = Some((top.children.child(index), top.owner)),
            None => {
                let ended = frames.pop().filter(|frame| !frame.is_list);
                order.extend(ended.map(|frame| frame.owner));
            }
        }
    }
    order.push(ROOT);
    (nodes, order)
}
