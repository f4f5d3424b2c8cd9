//! Several things in one argument.

use hashbrown::HashMap;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};
use rustc_hash::FxBuildHasher;

use crate::errors;

/// An iterator may be endless: this many items are taken of it. A list may have more.
const MAX_ITERATOR_ITEMS: usize = 1 << 24;

/// How often signals are looked at while an iterator is asked: it may run no Python.
const ITEMS_PER_SIGNAL_CHECK: usize = 1 << 12;

/// The items of a list, of a tuple, or of anything that can be iterated over, as they are now: what is done with one of them may
/// change the list.
pub(crate) fn items<'py>(object: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    if let Ok(list) = object.cast::<PyList>() {
        return Ok(list.iter().collect());
    }
    if let Ok(tuple) = object.cast::<PyTuple>() {
        return Ok(tuple.iter().collect());
    }
    collect_iterator(&object.try_iter()?.into_any())
}

/// What an iterator gives.
pub(crate) fn collect_iterator<'py>(
    iterator: &Bound<'py, PyAny>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let py = iterator.py();
    let mut taken = Vec::new();
    for item in iterator.try_iter()? {
        taken.push(item?);
        if taken.len() > MAX_ITERATOR_ITEMS {
            let message = format!(
                "{MAX_ITERATOR_ITEMS} items and no end; a list may have more, an iterator not"
            );
            return Err(errors::value_error(py, message));
        }
        if taken.len().is_multiple_of(ITEMS_PER_SIGNAL_CHECK) {
            py.check_signals()?;
        }
    }
    Ok(taken)
}

/// What containers became whose copies hold all of them again at every place they stand at. A list may hold the same list many
/// times: it is copied once, and counted as often as it stands there.
pub(crate) struct CopyMemo<'py, T> {
    /// By where the container is: its copy, the items in it, and the container, kept alive so that no other takes its place.
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

    /// What has less in it is copied again.
    const MAX_UNMEMOIZED_ITEMS: usize = 16;

    /// So many items more; `None` if they are too many.
    pub(crate) fn charge(&mut self, items: usize) -> Option<()> {
        self.charged = self.charged.saturating_add(items);
        (self.charged <= MAX_ITERATOR_ITEMS).then_some(())
    }

    /// How many items were taken, for [`CopyMemo::add`].
    pub(crate) fn charged(&self) -> usize {
        self.charged
    }

    /// The copy of a container, and how many items are in it; nothing if it was not copied yet.
    pub(crate) fn get(&self, container: &Bound<'py, PyAny>) -> Option<(T, usize)> {
        let (copy, items, _) = self.known.get(&container.as_ptr().addr())?;
        Some((copy.clone(), *items))
    }

    /// The copy of a container, which was begun when so many items were taken.
    pub(crate) fn add(&mut self, container: &Bound<'py, PyAny>, copy: &T, begun: usize) {
        let items = self.charged - begun;
        if items > Self::MAX_UNMEMOIZED_ITEMS {
            let entry = (copy.clone(), items, container.clone());
            self.known.insert(container.as_ptr().addr(), entry);
        }
    }
}

/// An argument that is a list, a tuple, or something else to iterate over. What it says of its length is not asked for.
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
    /// The items as objects of one class; `wanted` is its name in messages.
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

    /// The items as text.
    pub(crate) fn strings(self) -> PyResult<Vec<String>> {
        self.cast_each::<PyString>("a str")?.iter().map(|text| text.extract()).collect()
    }
}
