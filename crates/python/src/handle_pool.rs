//! Pools of handles, which are reused while hooks run.
//!
//! Every read of a field that holds a node creates a handle, and a hook does little else than read fields and pass the results on. So
//! a thread keeps the handles that it creates while a hook runs. A handle with no other owner is reused for the next node.
//! Allocating and freeing Python objects costs more than most of the work done with them. The pools are emptied when the
//! outermost hook ends.

use std::cell::{Cell, RefCell};

use pyo3::prelude::*;
use sapwood_structural::AnyRef;

use crate::classes::NodeClass;
use crate::instance;

/// The number of classes for which a thread pools handles, and the number of handles for each.
const MAX_POOLED_CLASSES: usize = 8;
const MAX_HANDLES_PER_CLASS: usize = 64;

thread_local! {
    static HANDLE_POOLS: HandlePools = const { HandlePools { running_hooks: Cell::new(0), pools: RefCell::new(Vec::new()) } };
}

struct HandlePools {
    /// The number of hooks that are running.
    running_hooks: Cell<usize>,
    pools: RefCell<Vec<HandlePool>>,
}

/// The handles of one class, those in use first: handles are mostly released in the reverse order of their creation.
struct HandlePool {
    class: &'static NodeClass,
    handles: Vec<Py<PyAny>>,
    used: usize,
}

impl HandlePool {
    /// Returns whether the pool is the only owner of the handle at `place`.
    fn is_free(&self, py: Python<'_>, place: usize) -> bool {
        self.handles
            .get(place)
            .is_some_and(|handle| instance::reference_count(handle.bind(py)) == 1)
    }
}

/// A guard that exists while a hook runs.
pub(crate) struct HookScope(());

impl HookScope {
    /// Enters a hook.
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
        // Dropping a handle may run Python code that comes back here.
        drop(kept);
    }
}

/// Returns a handle for a node of class `class`.
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
        // This may collect garbage and so run any Python code.
        let made = instance::new_instance(class.class.bind(py), any)?;
        drop(handles.keep(class, &made));
        Ok(made)
    })
}

impl HandlePools {
    /// Points an unused handle to this node and returns it with its previous node; returns the node itself if no handle is free.
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

    /// Adds a handle in use to its pool; returns the handle that it replaces.
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
