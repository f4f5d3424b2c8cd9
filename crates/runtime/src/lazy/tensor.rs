//! The values of a lazy graph.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sapwood_ptir::{Function, ValueType};

/// A value of a lazy graph, computed or pending. Clones refer to the same value.
pub struct LazyTensor<V> {
    node: Arc<LazyNode<V>>,
}

pub(super) struct LazyNode<V> {
    id: u64,
    graph: u64,
    ty: ValueType,
    origin: Mutex<Origin<V>>,
}

/// The origin of a value.
pub(super) enum Origin<V> {
    /// The value is computed.
    Computed(V),
    /// The value is a result of a captured fragment.
    Pending(Arc<Fragment<V>>, usize),
}

/// A captured computation: a function, and the values of its parameters.
pub(super) struct Fragment<V> {
    pub(super) function: Function,
    pub(super) inputs: Vec<LazyTensor<V>>,
}

/// A fragment and the index of one of its results.
pub(super) type FragmentResult<V> = (Arc<Fragment<V>>, usize);

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
        Self { node: Arc::new(LazyNode { id, graph, ty, origin: Mutex::new(origin) }) }
    }

    /// Returns the number of the value, which is unique in the process.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.node.id
    }

    /// Returns the number of the value's graph.
    #[must_use]
    pub fn graph(&self) -> u64 {
        self.node.graph
    }

    /// Returns the type of the value as it was captured.
    #[must_use]
    pub fn ty(&self) -> &ValueType {
        &self.node.ty
    }

    /// Returns whether the value is computed.
    #[must_use]
    pub fn is_computed(&self) -> bool {
        matches!(*self.origin(), Origin::Computed(_))
    }

    /// Returns whether both handles refer to the same value.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.node, &other.node)
    }

    /// Returns the fragment result that defines the value, unless it is computed.
    pub(super) fn pending_result(&self) -> Option<FragmentResult<V>> {
        match &*self.origin() {
            Origin::Computed(_) => None,
            Origin::Pending(fragment, result) => Some((fragment.clone(), *result)),
        }
    }

    pub(super) fn origin(&self) -> MutexGuard<'_, Origin<V>> {
        self.node.origin.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Marks the value as computed and drops its fragment. If another thread has computed it meanwhile, the first result stays, so that
    /// all users see one buffer.
    pub(super) fn set_computed(&self, value: V) {
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
    /// Returns the buffer of the value, if it is computed.
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

impl<V> Drop for LazyNode<V> {
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

// Drops values iteratively together with the values that only they own, because a chain of values may be long.
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
    fn the_first_result_stays() {
        let ty: ValueType = TensorType::scalar(DataType::F32).into();
        let value = LazyTensor::computed(1, ty, "first");
        value.set_computed("second");
        assert_eq!(value.buffer(), Some("first"));
    }
}
