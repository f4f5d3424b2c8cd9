//! A cursor over the children of a node or list: fields as declared, entries as inserted.

use crate::kind::{Facts, FieldRole};
use crate::path::PathStep;
use crate::reference::NodeRef;
use crate::type_info::ChildLayout;
use crate::values::Value;
use crate::view::{List, View};

/// The owner of children: a node or a list.
#[derive(Clone, Copy)]
pub(crate) enum ChildOwner<'a> {
    Node(NodeRef<'a>),
    List(&'a dyn List),
}

impl<'a> ChildOwner<'a> {
    /// Returns the layout of the children.
    pub(crate) fn layout(self) -> ChildLayout {
        match self {
            Self::Node(node) => node.info().layout(),
            Self::List(_) => ChildLayout::List,
        }
    }

    /// Returns the number of children.
    pub(crate) fn len(self) -> usize {
        match self {
            Self::Node(node) => node.len(),
            Self::List(list) => list.len(),
        }
    }

    /// Returns the child at a stored index; [`View::None`] beyond the end.
    #[inline]
    pub(crate) fn child(self, index: usize) -> View<'a> {
        match self {
            Self::Node(node) => node.child(index),
            Self::List(list) => list.item(index),
        }
    }

    /// Returns the field role of the child at an index.
    #[inline]
    pub(crate) fn role(self, index: usize) -> FieldRole {
        match self {
            Self::Node(node) => {
                node.info().fields().get(index).map_or(FieldRole::Usual, |field| field.role)
            }
            Self::List(_) => FieldRole::Usual,
        }
    }

    /// Returns the path step to the child at a stored index.
    pub(crate) fn step(self, index: usize) -> PathStep {
        match (self, self.layout()) {
            (Self::Node(node), ChildLayout::Record) => match node.info().fields().get(index) {
                Some(field) => PathStep::Field(field.name.into()),
                None => PathStep::Index(index),
            },
            (_, ChildLayout::Map) => PathStep::Key(Value::of(self.child(index & !1))),
            (_, ChildLayout::Set) => PathStep::Key(Value::of(self.child(index))),
            _ => PathStep::Index(index),
        }
    }
}

/// A cursor over the children of a node or list.
pub(crate) struct ChildCursor<'a> {
    pub(crate) parent: ChildOwner<'a>,
    /// The stored index of the entry inserted first, second, …; `None` if entries are not sorted.
    order: Option<Vec<usize>>,
    /// True if entries are visited in stored order, which is the order of comparison.
    stored: bool,
    next: usize,
    len: usize,
}

impl<'a> ChildCursor<'a> {
    pub(crate) fn of_node(node: NodeRef<'a>) -> Self {
        let order = node.insertion_order();
        Self { parent: ChildOwner::Node(node), order, stored: false, next: 0, len: node.len() }
    }

    /// Creates a cursor in the order of comparison: entries by the hash of their keys.
    pub(crate) fn in_stored_order(node: NodeRef<'a>) -> Self {
        Self { parent: ChildOwner::Node(node), order: None, stored: true, next: 0, len: node.len() }
    }

    /// Reorders all children from the order of visits to the order in which the node is rebuilt.
    pub(crate) fn in_insertion_order(&self, values: Vec<Value>) -> Vec<Value> {
        let ChildOwner::Node(node) = self.parent else { return values };
        let inserted = Self::of_node(node);
        if !self.stored || inserted.order.is_none() {
            return values;
        }
        let mut slots: Vec<Option<Value>> = values.into_iter().map(Some).collect();
        (0..slots.len()).filter_map(|index| slots[inserted.stored_index(index)].take()).collect()
    }

    pub(crate) fn of_list(list: &'a dyn List) -> Self {
        let parent = ChildOwner::List(list);
        Self { parent, order: None, stored: false, next: 0, len: list.len() }
    }

    /// Creates a cursor over the children of a view, if it can have some.
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

    /// Advances to the next child and returns its index.
    pub(crate) fn advance(&mut self) -> Option<usize> {
        let index = self.next;
        (index < self.len).then(|| {
            self.next += 1;
            index
        })
    }

    /// Returns the index of the child visited last.
    pub(crate) fn current(&self) -> Option<usize> {
        self.next.checked_sub(1)
    }

    /// Returns the stored index of the child at `index`.
    pub(crate) fn stored_index(&self, index: usize) -> usize {
        match (&self.order, self.parent.layout()) {
            (Some(order), ChildLayout::Map) => 2 * order[index / 2] + index % 2,
            (Some(order), _) => order[index],
            (None, _) => index,
        }
    }

    pub(crate) fn child(&self, index: usize) -> View<'a> {
        self.parent.child(self.stored_index(index))
    }

    /// Returns the child as an owned value; shared nodes stay shared.
    pub(crate) fn owned_child(&self, index: usize) -> Value {
        let stored = match self.parent {
            ChildOwner::Node(node) => node
                .values()
                .or_else(|| node.downcast().map(crate::containers::SeqItems::as_slice))
                .and_then(|values| values.get(index)),
            ChildOwner::List(_) => None,
        };
        stored.cloned().unwrap_or_else(|| Value::of(self.child(index)))
    }

    /// Returns the field role of the child at `index`.
    pub(crate) fn role(&self, index: usize) -> FieldRole {
        self.parent.role(index)
    }

    /// Returns whether the child at `index` is a key: keys never bind.
    pub(crate) fn is_key(&self, index: usize) -> bool {
        match self.parent.layout() {
            ChildLayout::Map => index.is_multiple_of(2),
            ChildLayout::Set => true,
            ChildLayout::Record | ChildLayout::List => false,
        }
    }

    /// Returns the path step to the child at `index`.
    pub(crate) fn step(&self, index: usize) -> PathStep {
        self.parent.step(self.stored_index(index))
    }
}

/// Returns whether a variable is at or below `view`, ignored fields left out.
pub(crate) fn contains_variable(view: View<'_>) -> bool {
    match view {
        View::Node(node) => node.facts().any(Facts::VAR),
        View::List(list) => (0..list.len()).any(|index| contains_variable(list.item(index))),
        _ => false,
    }
}
