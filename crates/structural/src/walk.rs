//! Walks over the nodes of a graph, in pre-order and post-order.

use std::ops::ControlFlow;

use rustc_hash::FxBuildHasher;

use crate::child_cursor::ChildCursor;
use crate::kind::{FieldRole, NodeKind};
use crate::node::Field;
use crate::path::NodePath;
use crate::reference::NodeRef;
use crate::view::View;

/// A walk over the nodes of a value: fields in declaration order, entries of maps and sets in insertion order,
/// lists element by element. Sequences, maps and sets with identity are nodes like any other; scalars are not
/// visited, their owner shows them.
///
/// Each distinct node is visited once, at its first occurrence, so that a shared graph costs its nodes and not
/// its paths; [`NodeWalk::every_occurrence`] visits every path. Nothing recurses.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use sapwood_structural::{WalkAction, Node, Ref, NodeWalk};
///
/// #[derive(Node)]
/// #[node(kind = "var")]
/// struct Var {
///     #[node(ignore)]
///     name: String,
/// }
///
/// #[derive(Node)]
/// struct Lambda {
///     #[node(def)]
///     params: Vec<Ref<Var>>,
///     body: Vec<Ref<Var>>,
/// }
///
/// let var = |name: &str| Ref::new(Var { name: name.into() });
/// let (x, free) = (var("x"), var("free"));
/// let lambda = Ref::new(Lambda { params: vec![x.clone()], body: vec![x, free] });
///
/// // Where is the first variable that is not a parameter?
/// let found = NodeWalk::of(&lambda).pre_order(|at| {
///     if at.in_def_region() {
///         return ControlFlow::Continue(WalkAction::Skip);
///     }
///     match at.node().downcast::<Var>() {
///         Some(var) if var.name == "free" => ControlFlow::Break(at.path().to_string()),
///         _ => ControlFlow::Continue(WalkAction::Into),
///     }
/// });
/// assert_eq!(found, ControlFlow::Break("<root>.body[1]".to_owned()));
/// ```
pub struct NodeWalk<'a> {
    root: View<'a>,
    every_occurrence: bool,
    compared_only: bool,
}

/// The action of a walk after it entered a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WalkAction {
    /// Visit the children.
    Into,
    /// Skip the children. [`Visitor::leave`] is still called.
    Skip,
}

/// The callbacks of a walk. Nodes may be kept as long as the walked value lives.
pub trait Visitor<'a> {
    /// The result of an early exit.
    type Break;

    /// Called before the children of the node are visited.
    fn enter(&mut self, _at: &WalkedNode<'_, 'a>) -> ControlFlow<Self::Break, WalkAction> {
        ControlFlow::Continue(WalkAction::Into)
    }

    /// Called after the children of the node were visited.
    fn leave(&mut self, _at: &WalkedNode<'_, 'a>) -> ControlFlow<Self::Break> {
        ControlFlow::Continue(())
    }
}

/// The region of a walk: whether variables that first occur are bound here.
#[derive(Clone, Copy, PartialEq)]
enum WalkRegion {
    Use,
    /// In a key: a def field binds nothing here, unless a scope inside the key contains it.
    Key,
    Def,
}

/// A node on a walk, with its position in the graph.
pub struct WalkedNode<'w, 'a> {
    node: NodeRef<'a>,
    region: WalkRegion,
    above: &'w [WalkFrame<'a>],
}

impl<'a> WalkedNode<'_, 'a> {
    /// Returns the node.
    #[must_use]
    pub fn node(&self) -> NodeRef<'a> {
        self.node
    }

    /// Returns whether the node is in a def region, where variables that first occur are bound. A scope ends a
    /// def region, and the keys of maps and the members of sets have none.
    #[must_use]
    pub fn in_def_region(&self) -> bool {
        self.region == WalkRegion::Def
    }

    /// Returns the innermost node around it; `None` at the root.
    #[must_use]
    pub fn parent(&self) -> Option<NodeRef<'a>> {
        self.above.iter().rev().find_map(|frame| frame.node)
    }

    /// Returns the path to the node, built on request.
    #[must_use]
    pub fn path(&self) -> NodePath {
        let step = |frame: &WalkFrame<'a>| Some(frame.children.step(frame.children.current()?));
        self.above.iter().filter_map(step).collect()
    }
}

/// A node or list whose children are being visited.
struct WalkFrame<'a> {
    /// The node; `None` for a list.
    node: Option<NodeRef<'a>>,
    children: ChildCursor<'a>,
    region: WalkRegion,
}

impl<'a> NodeWalk<'a> {
    /// Creates a walk over the nodes of `value`.
    pub fn of(value: &'a impl Field) -> Self {
        Self::of_view(value.view())
    }

    /// Creates a walk over the nodes of a view.
    #[must_use]
    pub fn of_view(view: View<'a>) -> Self {
        Self { root: view, every_occurrence: false, compared_only: false }
    }

    /// Visits a node as often as it is reached. In a shared graph, that can be exponentially often.
    #[must_use]
    pub fn every_occurrence(mut self) -> Self {
        self.every_occurrence = true;
        self
    }

    /// Skips fields that comparison ignores.
    #[must_use]
    pub fn compared_only(mut self) -> Self {
        self.compared_only = true;
        self
    }

    /// Calls `visit` with each node before those below it.
    pub fn pre_order<B>(
        self,
        visit: impl FnMut(&WalkedNode<'_, 'a>) -> ControlFlow<B, WalkAction>,
    ) -> ControlFlow<B> {
        self.run(&mut PreOrder(visit))
    }

    /// Calls `visit` with each node after those below it.
    pub fn post_order<B>(
        self,
        visit: impl FnMut(&WalkedNode<'_, 'a>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        self.run(&mut PostOrder(visit))
    }

    /// Calls `visitor` on the way in and on the way out of each node.
    pub fn run<V: Visitor<'a>>(self, visitor: &mut V) -> ControlFlow<V::Break> {
        let mut seen = hashbrown::HashSet::<usize, FxBuildHasher>::default();
        let mut frames: Vec<WalkFrame<'a>> = Vec::new();
        let mut met = Some((self.root, WalkRegion::Use));
        loop {
            if let Some((view, region)) = met.take() {
                match view {
                    View::List(list) => {
                        let children = ChildCursor::of_list(list);
                        frames.push(WalkFrame { node: None, children, region });
                    }
                    // A node with one owner can only be reached once.
                    View::Node(node)
                        if self.every_occurrence
                            || node.owners() == 1
                            || seen.insert(node.id()) =>
                    {
                        let at = WalkedNode { node, region, above: &frames };
                        match visitor.enter(&at)? {
                            WalkAction::Skip => visitor.leave(&at)?,
                            WalkAction::Into => {
                                let children = ChildCursor::of_node(node);
                                frames.push(WalkFrame { node: Some(node), children, region });
                            }
                        }
                    }
                    _ => {}
                }
            }
            let Some(top) = frames.last_mut() else { return ControlFlow::Continue(()) };
            match top.children.advance() {
                Some(index) => met = self.child(top, index),
                None => {
                    let Some(WalkFrame { node, region, .. }) = frames.pop() else { continue };
                    if let Some(node) = node {
                        visitor.leave(&WalkedNode { node, region, above: &frames })?;
                    }
                }
            }
        }
    }

    /// Returns the child at `index` and its region, if it must be visited.
    fn child(&self, frame: &WalkFrame<'a>, index: usize) -> Option<(View<'a>, WalkRegion)> {
        let around = match frame.node {
            Some(node) if ends_def_region(node) => WalkRegion::Use,
            _ => frame.region,
        };
        let region = match frame.children.role(index) {
            FieldRole::Ignore if self.compared_only => return None,
            FieldRole::Ignore => WalkRegion::Use,
            FieldRole::Def if around != WalkRegion::Key => WalkRegion::Def,
            _ if frame.children.is_key(index) => WalkRegion::Key,
            _ => around,
        };
        Some((frame.children.child(index), region))
    }
}

/// Returns whether a def region ends at a node: it ends at a scope, but not at a variable, whose fields belong
/// to the place that binds it.
fn ends_def_region(node: NodeRef<'_>) -> bool {
    node.info().is_scope() && node.info().kind() != NodeKind::Var
}

/// A visitor that calls a function when a node is entered.
struct PreOrder<F>(F);

impl<'a, B, F: FnMut(&WalkedNode<'_, 'a>) -> ControlFlow<B, WalkAction>> Visitor<'a>
    for PreOrder<F>
{
    type Break = B;

    fn enter(&mut self, at: &WalkedNode<'_, 'a>) -> ControlFlow<B, WalkAction> {
        (self.0)(at)
    }
}

/// A visitor that calls a function when a node is left.
struct PostOrder<F>(F);

impl<'a, B, F: FnMut(&WalkedNode<'_, 'a>) -> ControlFlow<B>> Visitor<'a> for PostOrder<F> {
    type Break = B;

    fn leave(&mut self, at: &WalkedNode<'_, 'a>) -> ControlFlow<B> {
        (self.0)(at)
    }
}
