//! Values of a lazy graph.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sapwood_ptir::{Function, ValueType};

/// A value of a lazy graph, computed or not. Clones are the same value.
pub struct LazyTensor<V> {
    node: Arc<Node<V>>,
}

pub(super) struct Node<V> {
    id: u64,
    graph: u64,
    ty: ValueType,
    origin: Mutex<Origin<V>>,
}

/// Where a value comes from.
pub(super) enum Origin<V> {
    /// It is there.
    Computed(V),
    /// A result of something that was captured.
    Pending(Arc<Fragment<V>>, usize),
}

/// Something that was captured: a function, and the values its parameters are.
pub(super) struct Fragment<V> {
    pub(super) function: Function,
    pub(super) inputs: Vec<LazyTensor<V>>,
}

/// Of what a value is which result.
pub(super) type Piece<V> = (Arc<Fragment<V>>, usize);

impl<V> LazyTensor<V> {
    pub(super) fn computed(graph: u64, ty: ValueType, value: V) -> Self {
        Self::new(graph, ty, Origin::Computed(value))
    }

    pub(super) fn pending(
        graph: u64,
        ty: ValueType,
        fragment: Arc<Fragment<V>>,
        result: usize,
    ) -> Self {
        Self::new(graph, ty, Origin::Pending(fragment, result))
    }

    fn new(graph: u64, ty: ValueType, origin: Origin<V>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { node: Arc::new(Node { id, graph, ty, origin: Mutex::new(origin) }) }
    }

    /// Its number: no other value of this process has it.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.node.id
    }

    /// The number of its graph.
    #[must_use]
    pub fn graph(&self) -> u64 {
        self.node.graph
    }

    /// Its type, as it was captured.
    #[must_use]
    pub fn ty(&self) -> &ValueType {
        &self.node.ty
    }

    /// Whether it is computed.
    #[must_use]
    pub fn is_computed(&self) -> bool {
        matches!(*self.origin(), Origin::Computed(_))
    }

    /// Whether both are the same value, not only of the same numbers.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.node, &other.node)
    }

    /// What it is to be computed from, if it is not computed.
    pub(super) fn piece(&self) -> Option<Piece<V>> {
        match &*self.origin() {
            Origin::Computed(_) => None,
            Origin::Pending(fragment, result) => Some((fragment.clone(), *result)),
        }
    }

    pub(super) fn origin(&self) -> MutexGuard<'_, Origin<V>> {
        self.node.origin.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// It is computed now; what it came from is let go. If somebody else has computed it meanwhile, their value stays:
    /// nobody holds two of one.
    pub(super) fn set(&self, value: V) {
        let mut origin = self.origin();
        if let Origin::Computed(_) = *origin {
            return;
        }
        let old = std::mem::replace(&mut *origin, Origin::Computed(value));
        drop(origin);
        drop_origin(old);
    }
}

impl<V: Clone> LazyTensor<V> {
    /// The value on the backend, if it is computed.
    #[must_use]
    pub fn buffer(&self) -> Option<V> {
        match &*self.origin() {
            Origin::Computed(value) => Some(value.clone()),
            Origin::Pending(..) => None,
        }
    }
}

impl<V> Clone for LazyTensor<V> {
    fn clone(&self) -> Self {
        Self { node: self.node.clone() }
    }
}

impl<V> std::fmt::Debug for LazyTensor<V> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = if self.is_computed() { "computed" } else { "pending" };
        write!(f, "value {} of graph {}: {} ({state})", self.id(), self.graph(), self.ty())
    }
}

impl<V> Drop for Node<V> {
    fn drop(&mut self) {
        let origin = self.origin.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Origin::Pending(fragment, _) = origin
            && let Some(fragment) = Arc::get_mut(fragment)
        {
            drop_inputs(std::mem::take(&mut fragment.inputs));
        }
    }
}

fn drop_origin<V>(origin: Origin<V>) {
    if let Origin::Pending(fragment, _) = origin
        && let Some(fragment) = Arc::into_inner(fragment)
    {
        drop_inputs(fragment.inputs);
    }
}

// Values that only these hold go too, one after the other: a chain of values may be long.
fn drop_inputs<V>(mut open: Vec<LazyTensor<V>>) {
    while let Some(value) = open.pop() {
        let Some(mut node) = Arc::into_inner(value.node) else { continue };
        let origin = node.origin.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Origin::Pending(fragment, _) = origin
            && let Some(fragment) = Arc::get_mut(fragment)
        {
            open.append(&mut fragment.inputs);
        }
    }
}

#[cfg(test)]
mod tests {
    use sapwood_ptir::{TensorType, ValueType};
    use sapwood_types::DataType;

    use super::*;

    #[test]
    fn what_was_computed_first_stays() {
        let ty: ValueType = TensorType::scalar(DataType::F32).into();
        let value = LazyTensor::computed(1, ty, "first");
        value.set("second");
        assert_eq!(value.buffer(), Some("first"));
    }
}
