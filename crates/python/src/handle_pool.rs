//! HandlePools that are used reuse while hooks run.
//!
//! Every read of a field that holds a node makes a handle, and a hook does little but read fields and pass on what it found. So,
//! while a hook runs, its thread keeps the handles that it makes. One that nobody else holds stands for the next node that a handle
//! is wanted for; making and freeing objects of Python costs more than all that is done with most of them. When the outermost hook
//! ends, they are let go.

use std::cell::{Cell, RefCell};

use pyo3::prelude::*;
use sapwood_structural::AnyRef;

use crate::classes::NodeClass;
use crate::instance;

/// Of how many classes a thread keeps handles, and how many of each.
const MAX_POOLED_CLASSES: usize = 8;
const MAX_HANDLES_PER_CLASS: usize = 64;

thread_local! {
    static HANDLE_POOLS: HandlePools = const { HandlePools { running_hooks: Cell::new(0), pools: RefCell::new(Vec::new()) } };
}

struct HandlePools {
    /// How many hooks run.
    running_hooks: Cell<usize>,
    pools: RefCell<Vec<HandlePool>>,
}

/// The handles of one class, those that are in use first: what is made last is mostly let go first.
struct HandlePool {
    class: &'static NodeClass,
    handles: Vec<Py<PyAny>>,
    used: usize,
}

impl HandlePool {
    /// Whether nobody but this thread holds the handle at `place`.
    fn is_free(&self, py: Python<'_>, place: usize) -> bool {
        self.handles
            .get(place)
            .is_some_and(|handle| instance::reference_count(handle.bind(py)) == 1)
    }
}

/// A hook runs as long as this lives.
pub(crate) struct HookScope(());

impl HookScope {
    /// A hook begins.
    pub(crate) fn begin() -> Self {
        HANDLE_POOLS.with(|handles| handles.running_hooks.set(handles.running_hooks.get() + 1));
        Self(())
    }
}

impl Drop for HookScope {
    fn drop(&mut self) {
        let kept = HANDLE_POOLS.with(|handles| {
            let running_hooks = handles.running_hooks.get() - 1;
            handles.running_hooks.set(running_hooks);
            if running_hooks == 0 { handles.pools.take() } else { Vec::new() }
        });
        // What is called when a handle dies may come back here.
        drop(kept);
    }
}

/// A handle of a node, whose class is `class`.
pub(crate) fn new_handle<'py>(
    py: Python<'py>,
    class: &'static NodeClass,
    any: AnyRef,
) -> PyResult<Bound<'py, PyAny>> {
    HANDLE_POOLS.with(|handles| {
        if handles.running_hooks.get() == 0 || !class.poolable {
            return instance::new_instance(class.class.bind(py), any);
        }
        let any = match handles.reuse(py, class, any) {
            Ok((handle, before)) => {
                drop(before);
                return Ok(handle);
            }
            Err(any) => any,
        };
        // This may collect garbage, and so run anything.
        let made = instance::new_instance(class.class.bind(py), any)?;
        drop(handles.keep(class, &made));
        Ok(made)
    })
}

impl HandlePools {
    /// A handle that nobody holds, for this node, and the node it was for; the node itself if there is none.
    fn reuse<'py>(
        &self,
        py: Python<'py>,
        class: &'static NodeClass,
        any: AnyRef,
    ) -> Result<(Bound<'py, PyAny>, AnyRef), AnyRef> {
        let mut pools = self.pools.borrow_mut();
        let Some(pool) = pools.iter_mut().find(|pool| std::ptr::eq(pool.class, class)) else {
            return Err(any);
        };
        while pool.used > 0 && pool.is_free(py, pool.used - 1) {
            pool.used -= 1;
        }
        let Some(handle) = pool.handles.get(pool.used) else { return Err(any) };
        let handle = handle.bind(py);
        let before = instance::retarget(handle, any)?;
        let handle = handle.clone();
        pool.used += 1;
        Ok((handle, before))
    }

    /// Keeps a handle that is in use; gives back one that it takes the place of.
    fn keep(&self, class: &'static NodeClass, made: &Bound<'_, PyAny>) -> Option<Py<PyAny>> {
        let made = || made.clone().unbind();
        let mut pools = self.pools.borrow_mut();
        let Some(pool) = pools.iter_mut().find(|pool| std::ptr::eq(pool.class, class)) else {
            if pools.len() < MAX_POOLED_CLASSES {
                pools.push(HandlePool { class, handles: vec![made()], used: 1 });
            }
            return None;
        };
        let place = pool.used;
        if place >= MAX_HANDLES_PER_CLASS {
            return None;
        }
        pool.used += 1;
        match pool.handles.get_mut(place) {
            Some(before) => Some(std::mem::replace(before, made())),
            None => {
                pool.handles.push(made());
                None
            }
        }
    }
}
