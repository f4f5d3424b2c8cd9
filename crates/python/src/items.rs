//! Arguments that hold several items.

use hashbrown::HashMap;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};
use rustc_hash::FxBuildHasher;

use crate::errors;

/// The most items that are taken from an iterator, which may be endless. A list may have more.
const MAX_ITERATOR_ITEMS: usize = 1 << 24;

/// The number of items between two checks for signals, because an iterator may run no Python code.
const ITEMS_PER_SIGNAL_CHECK: usize = 1 << 12;

/// Returns the items of a list, a tuple or any other iterable as they are now. Work on one of the items may change
/// the list.
pub(crate) fn items<'py>(object: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    if let Ok(list) = object.cast::<PyList>() {
        return Ok(list.iter().collect());
    }
    if let Ok(tuple) = object.cast::<PyTuple>() {
        return Ok(tuple.iter().collect());
    }
    collect_iterator(&object.try_iter()?.into_any())
}

/// Collects the items of an iterator; fails if there are too many.
pub(crate) fn collect_iterator<'py>(
    iterator: &Bound<'py, PyAny>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let py = iterator.py();
    let mut taken = Vec::new();
    for item in iterator.try_iter()? {
        taken.push(item?);
        if taken.len() > MAX_ITERATOR_ITEMS {
            let message = format!(
                "the iterator yields more than {MAX_ITERATOR_ITEMS} items; pass a list if it really has more"
            );
            return Err(errors::value_error(py, message));
        }
        if taken.len().is_multiple_of(ITEMS_PER_SIGNAL_CHECK) {
            py.check_signals()?;
        }
    }
    Ok(taken)
}

/// A memo of copied containers for formats without sharing. A container that occurs many times is copied once, but its items are charged
/// at each occurrence, because printing or comparing the copy visits all of them.
pub(crate) struct CopyMemo<'py, T> {
    /// The copies by address of the container: the copy, its number of items, and the container itself, kept alive so that its address stays its own.
    known: HashMap<usize, (T, usize, Bound<'py, PyAny>), FxBuildHasher>,
    charged: usize,
}

impl<T> Default for CopyMemo<'_, T> {
    fn default() -> Self {
        Self { known: HashMap::default(), charged: 0 }
    }
}

impl<'py, T: Clone> CopyMemo<'py, T> {
    /// The most items that all copies hold together.
    pub(crate) const MAX_ITEMS: usize = MAX_ITERATOR_ITEMS;

    /// The most items in a container that is copied again instead of memoized.
    const MAX_UNMEMOIZED_ITEMS: usize = 16;

    /// Charges this number of items; `None` if the total exceeds the limit.
    pub(crate) fn charge(&mut self, items: usize) -> Option<()> {
        self.charged = self.charged.saturating_add(items);
        (self.charged <= MAX_ITERATOR_ITEMS).then_some(())
    }

    /// Returns the number of items charged so far, for [`CopyMemo::add`].
    pub(crate) fn charged(&self) -> usize {
        self.charged
    }

    /// Returns the copy of a container and its number of items; `None` if it was not copied yet.
    pub(crate) fn get(&self, container: &Bound<'py, PyAny>) -> Option<(T, usize)> {
        let (copy, items, _) = self.known.get(&container.as_ptr().addr())?;
        Some((copy.clone(), *items))
    }

    /// Adds the copy of a container, which was begun when `begun` items were charged.
    pub(crate) fn add(&mut self, container: &Bound<'py, PyAny>, copy: &T, begun: usize) {
        let items = self.charged - begun;
        if items > Self::MAX_UNMEMOIZED_ITEMS {
            let entry = (copy.clone(), items, container.clone());
            self.known.insert(container.as_ptr().addr(), entry);
        }
    }
}

/// An argument that is a list, a tuple, or another iterable. Its `__len__` is never called.
pub(crate) struct Items<'py>(pub(crate) Vec<Bound<'py, PyAny>>);

impl<'py> FromPyObject<'_, 'py> for Items<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let one = object.is_instance_of::<PyString>()
            || object.is_instance_of::<PyBytes>()
            || object.is_instance_of::<PyDict>();
        if one || !(object.hasattr("__iter__")? || object.hasattr("__getitem__")?) {
            let found = errors::type_name(&object);
            return Err(errors::argument_error(
                object.py(),
                format!("expected a list, found {found}"),
            ));
        }
        items(&object).map(Self)
    }
}

impl<'py> Items<'py> {
    /// Returns the items as objects of one class; `wanted` is its name in messages.
    pub(crate) fn cast_each<T: pyo3::PyTypeCheck>(
        self,
        wanted: &str,
    ) -> PyResult<Vec<Bound<'py, T>>> {
        let one = |(index, item): (usize, Bound<'py, PyAny>)| {
            item.cast_into::<T>().map_err(|error| {
                let item = error.into_inner();
                let found = errors::type_name(&item);
                errors::argument_error(
                    item.py(),
                    format!("[{index}]: expected {wanted}, found {found}"),
                )
            })
        };
        self.0.into_iter().enumerate().map(one).collect()
    }

    /// Returns the items as strings.
    pub(crate) fn strings(self) -> PyResult<Vec<String>> {
        self.cast_each::<PyString>("a str")?.iter().map(|text| text.extract()).collect()
    }
}
