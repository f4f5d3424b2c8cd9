//! Walks over the nodes of a graph, before or after what is below them.

use std::ops::ControlFlow;

use rustc_hash::FxBuildHasher;

use crate::children::Children;
use crate::kind::{Kind, Role};
use crate::node::Field;
use crate::path::Path;
use crate::reference::NodeRef;
use crate::view::View;

/// A walk over the nodes of a value: fields in declaration order, entries of maps and sets in the
/// order of insertion, lists element by element. Sequences, maps and sets with identity are nodes
/// like any other; scalars are not visited, their owner shows them.
///
/// Each distinct node is visited once, where it is met first, so that a shared graph costs its
/// nodes and not its paths; [`Walk::every_occurrence`] asks for the paths. Nothing recurses.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use sapwood_structural::{Next, Node, Ref, Walk};
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
/// let found = Walk::of(&lambda).pre_order(|at| {
///     if at.in_def_region() {
///         return ControlFlow::Continue(Next::Skip);
///     }
///     match at.node().downcast::<Var>() {
///         Some(var) if var.name == "free" => ControlFlow::Break(at.path().to_string()),
///         _ => ControlFlow::Continue(Next::Into),
///     }
/// });
/// assert_eq!(found, ControlFlow::Break("<root>.body[1]".to_owned()));
/// ```
pub struct Walk<'a> {
    root: View<'a>,
    every_occurrence: bool,
    compared_only: bool,
}

/// What to do below a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// Visit what is below.
    Into,
    /// Go on beside the node. It is still left: [`Visitor::leave`] is called.
    Skip,
}

/// What a walk calls. Nodes may be kept as long as the value that is walked.
pub trait Visitor<'a> {
    /// What an early exit carries out.
    type Break;

    /// Called before what is below the node is visited.
    fn enter(&mut self, _at: &At<'_, 'a>) -> ControlFlow<Self::Break, Next> {
        ControlFlow::Continue(Next::Into)
    }

    /// Called after what is below the node was visited.
    fn leave(&mut self, _at: &At<'_, 'a>) -> ControlFlow<Self::Break> {
        ControlFlow::Continue(())
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Region {
    Use,
    /// In a key: a def field there binds nothing, outside a scope of the key's own.
    Key,
    Def,
}

/// A node on a walk, and where it stands.
pub struct At<'w, 'a> {
    node: NodeRef<'a>,
    region: Region,
    above: &'w [Frame<'a>],
}

impl<'a> At<'_, 'a> {
    /// The node.
    #[must_use]
    pub fn node(&self) -> NodeRef<'a> {
        self.node
    }

    /// Whether a def field is above, so that variables first met here are bound here. A scope ends
    /// a def region, and in the keys of maps and the members of sets there is none.
    #[must_use]
    pub fn in_def_region(&self) -> bool {
        self.region == Region::Def
    }

    /// The innermost node around it; nothing at the root.
    #[must_use]
    pub fn parent(&self) -> Option<NodeRef<'a>> {
        self.above.iter().rev().find_map(|frame| frame.node)
    }

    /// How it was reached, put together when asked for.
    #[must_use]
    pub fn path(&self) -> Path {
        let step = |frame: &Frame<'a>| Some(frame.children.step(frame.children.current()?));
        self.above.iter().filter_map(step).collect()
    }
}

struct Frame<'a> {
    /// Nothing for a list.
    node: Option<NodeRef<'a>>,
    children: Children<'a>,
    region: Region,
}

impl<'a> Walk<'a> {
    /// A walk over the nodes of `value`.
    pub fn of(value: &'a impl Field) -> Self {
        Self::of_view(value.view())
    }

    /// A walk over the nodes of what `view` shows.
    #[must_use]
    pub fn of_view(view: View<'a>) -> Self {
        Self { root: view, every_occurrence: false, compared_only: false }
    }

    /// The same walk, visiting a node as often as it is reached. Where nodes are shared, that can
    /// be exponentially often.
    #[must_use]
    pub fn every_occurrence(mut self) -> Self {
        self.every_occurrence = true;
        self
    }

    /// The same walk, leaving out fields that comparison ignores.
    #[must_use]
    pub fn compared_only(mut self) -> Self {
        self.compared_only = true;
        self
    }

    /// Calls `visit` with each node before those below it.
    pub fn pre_order<B>(
        self,
        visit: impl FnMut(&At<'_, 'a>) -> ControlFlow<B, Next>,
    ) -> ControlFlow<B> {
        self.run(&mut Pre(visit))
    }

    /// Calls `visit` with each node after those below it.
    pub fn post_order<B>(self, visit: impl FnMut(&At<'_, 'a>) -> ControlFlow<B>) -> ControlFlow<B> {
        self.run(&mut Post(visit))
    }

    /// Calls `visitor` on the way in and on the way out of each node.
    pub fn run<V: Visitor<'a>>(self, visitor: &mut V) -> ControlFlow<V::Break> {
        let mut seen = hashbrown::HashSet::<usize, FxBuildHasher>::default();
        let mut frames: Vec<Frame<'a>> = Vec::new();
        let mut met = Some((self.root, Region::Use));
        loop {
            if let Some((view, region)) = met.take() {
                match view {
                    View::List(list) => {
                        let children = Children::of_list(list);
                        frames.push(Frame { node: None, children, region });
                    }
                    // A node with one owner can only be reached once.
                    View::Node(node)
                        if self.every_occurrence
                            || node.owners() == 1
                            || seen.insert(node.id()) =>
                    {
                        let at = At { node, region, above: &frames };
                        match visitor.enter(&at)? {
                            Next::Skip => visitor.leave(&at)?,
                            Next::Into => {
                                let children = Children::of_node(node);
                                frames.push(Frame { node: Some(node), children, region });
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
                    let Some(Frame { node, region, .. }) = frames.pop() else { continue };
                    if let Some(node) = node {
                        visitor.leave(&At { node, region, above: &frames })?;
                    }
                }
            }
        }
    }

    /// The child at `index` and its region, if it is to be visited.
    fn child(&self, frame: &Frame<'a>, index: usize) -> Option<(View<'a>, Region)> {
        let around = match frame.node {
            Some(node) if ends_def_region(node) => Region::Use,
            _ => frame.region,
        };
        let region = match frame.children.role(index) {
            Role::Ignore if self.compared_only => return None,
            Role::Ignore => Region::Use,
            Role::Def if around != Region::Key => Region::Def,
            _ if frame.children.is_key(index) => Region::Key,
            _ => around,
        };
        Some((frame.children.child(index), region))
    }
}

/// A def region ends at a scope. The fields of a variable belong to where it is bound.
fn ends_def_region(node: NodeRef<'_>) -> bool {
    node.info().is_scope() && node.info().kind() != Kind::Var
}

struct Pre<F>(F);

impl<'a, B, F: FnMut(&At<'_, 'a>) -> ControlFlow<B, Next>> Visitor<'a> for Pre<F> {
    type Break = B;

    fn enter(&mut self, at: &At<'_, 'a>) -> ControlFlow<B, Next> {
        (self.0)(at)
    }
}

struct Post<F>(F);

impl<'a, B, F: FnMut(&At<'_, 'a>) -> ControlFlow<B>> Visitor<'a> for Post<F> {
    type Break = B;

    fn leave(&mut self, at: &At<'_, 'a>) -> ControlFlow<B> {
        (self.0)(at)
    }
}
