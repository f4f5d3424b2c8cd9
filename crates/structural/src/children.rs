//! The children of a node or list, one by one, in the order users know: fields as declared,
//! entries as inserted.

use crate::containers::{Entries, Members};
use crate::kind::{Facts, Role};
use crate::path::Step;
use crate::reference::NodeRef;
use crate::type_info::Layout;
use crate::values::Value;
use crate::view::{List, View};

/// Something with children.
#[derive(Clone, Copy)]
pub(crate) enum Parent<'a> {
    Node(NodeRef<'a>),
    List(&'a dyn List),
}

/// A position among the children of a node or list.
pub(crate) struct Children<'a> {
    pub(crate) of: Parent<'a>,
    /// Where the entry inserted first, second, … stands; nothing if entries are not sorted.
    order: Option<Vec<usize>>,
    /// Whether entries are visited as they are stored, in the order of comparison.
    stored: bool,
    next: usize,
    len: usize,
}

impl<'a> Children<'a> {
    pub(crate) fn of_node(node: NodeRef<'a>) -> Self {
        let order = match node.info().layout() {
            Layout::Record | Layout::List => None,
            Layout::Map => node.downcast::<Entries>().map(Entries::insertion_order),
            Layout::Set => node.downcast::<Members>().map(Members::insertion_order),
        };
        Self { of: Parent::Node(node), order, stored: false, next: 0, len: node.len() }
    }

    /// The children in the order of comparison: entries by the hash of their keys.
    pub(crate) fn as_stored(node: NodeRef<'a>) -> Self {
        Self { of: Parent::Node(node), order: None, stored: true, next: 0, len: node.len() }
    }

    /// All children, given in the order of visits, in the order in which the node is made again.
    pub(crate) fn as_inserted(&self, values: Vec<Value>) -> Vec<Value> {
        let Parent::Node(node) = self.of else { return values };
        let inserted = Self::of_node(node);
        if !self.stored || inserted.order.is_none() {
            return values;
        }
        let mut slots: Vec<Option<Value>> = values.into_iter().map(Some).collect();
        (0..slots.len()).filter_map(|index| slots[inserted.place(index)].take()).collect()
    }

    pub(crate) fn of_list(list: &'a dyn List) -> Self {
        Self { of: Parent::List(list), order: None, stored: false, next: 0, len: list.len() }
    }

    /// The children of what `view` shows, if it can have some.
    pub(crate) fn of_view(view: View<'a>) -> Option<Self> {
        match view {
            View::Node(node) => Some(Self::of_node(node)),
            View::List(list) => Some(Self::of_list(list)),
            _ => None,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The index of the next child, which is then taken as visited.
    pub(crate) fn advance(&mut self) -> Option<usize> {
        let index = self.next;
        (index < self.len).then(|| {
            self.next += 1;
            index
        })
    }

    /// The index of the child visited last.
    pub(crate) fn current(&self) -> Option<usize> {
        self.next.checked_sub(1)
    }

    /// Where the child at `index` is stored.
    pub(crate) fn place(&self, index: usize) -> usize {
        match (&self.order, self.layout()) {
            (Some(order), Some(Layout::Map)) => 2 * order[index / 2] + index % 2,
            (Some(order), _) => order[index],
            (None, _) => index,
        }
    }

    fn layout(&self) -> Option<Layout> {
        match self.of {
            Parent::Node(node) => Some(node.info().layout()),
            Parent::List(_) => None,
        }
    }

    pub(crate) fn child(&self, index: usize) -> View<'a> {
        match self.of {
            Parent::Node(node) => node.child(self.place(index)),
            Parent::List(list) => list.item(index),
        }
    }

    /// The child as a value of one's own; what is shared stays shared.
    pub(crate) fn owned(&self, index: usize) -> Value {
        let stored = match self.of {
            Parent::Node(node) => node
                .values()
                .or_else(|| node.downcast().map(crate::containers::Items::as_slice))
                .and_then(|values| values.get(index)),
            Parent::List(_) => None,
        };
        stored.cloned().unwrap_or_else(|| Value::of(self.child(index)))
    }

    /// The role of the child at `index`.
    pub(crate) fn role(&self, index: usize) -> Role {
        match self.of {
            Parent::Node(node) => {
                node.info().fields().get(index).map_or(Role::Usual, |field| field.role)
            }
            Parent::List(_) => Role::Usual,
        }
    }

    /// Whether the child at `index` is a key: keys never bind.
    pub(crate) fn is_key(&self, index: usize) -> bool {
        match self.layout() {
            Some(Layout::Map) => index.is_multiple_of(2),
            Some(Layout::Set) => true,
            _ => false,
        }
    }

    /// The step to the child at `index`.
    pub(crate) fn step(&self, index: usize) -> Step {
        match (self.of, self.layout()) {
            (Parent::Node(node), Some(Layout::Record)) => match node.info().fields().get(index) {
                Some(field) => Step::Field(field.name.into()),
                None => Step::Index(index),
            },
            (_, Some(Layout::Map)) => Step::Key(Value::of(self.child(index & !1))),
            (_, Some(Layout::Set)) => Step::Key(Value::of(self.child(index))),
            _ => Step::Index(index),
        }
    }
}

/// Whether a variable is at or below `view`, ignored fields left out.
pub(crate) fn holds_variable(view: View<'_>) -> bool {
    match view {
        View::Node(node) => node.facts().any(Facts::VAR),
        View::List(list) => (0..list.len()).any(|index| holds_variable(list.item(index))),
        _ => false,
    }
}
