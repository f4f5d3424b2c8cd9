//! Handles that are used again while hooks run.
//!
//! Every read of a field that holds a node makes a handle, and a hook does little but read fields and pass on what it found. So,
//! while a hook runs, its thread keeps the handles that it makes. One that nobody else holds stands for the next node that a handle
//! is wanted for; making and freeing objects of Python costs more than all that is done with most of them. When the outermost hook
//! ends, they are let go.

use std::cell::{Cell, RefCell};

use pyo3::prelude::*;
use sapwood_structural::AnyRef;

use crate::classes::Class;
use crate::instance;

/// Of how many classes a thread keeps handles, and how many of each.
const CLASSES: usize = 8;
const KEPT: usize = 64;

thread_local! {
    static HANDLES: Handles = const { Handles { open: Cell::new(0), stacks: RefCell::new(Vec::new()) } };
}

struct Handles {
    /// How many hooks run.
    open: Cell<usize>,
    stacks: RefCell<Vec<Stack>>,
}

/// The handles of one class, those that are in use first: what is made last is mostly let go first.
struct Stack {
    class: &'static Class,
    handles: Vec<Py<PyAny>>,
    used: usize,
}

impl Stack {
    /// Whether nobody but this thread holds the handle at `place`.
    fn is_free(&self, py: Python<'_>, place: usize) -> bool {
        self.handles.get(place).is_some_and(|handle| instance::owners(handle.bind(py)) == 1)
    }
}

/// A hook runs as long as this lives.
pub(crate) struct Running(());

impl Running {
    /// A hook begins.
    pub(crate) fn begin() -> Self {
        HANDLES.with(|handles| handles.open.set(handles.open.get() + 1));
        Self(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let kept = HANDLES.with(|handles| {
            let open = handles.open.get() - 1;
            handles.open.set(open);
            if open == 0 { handles.stacks.take() } else { Vec::new() }
        });
        // What is called when a handle dies may come back here.
        drop(kept);
    }
}

/// A handle of a node, whose class is `class`.
pub(crate) fn of<'py>(
    py: Python<'py>,
    class: &'static Class,
    any: AnyRef,
) -> PyResult<Bound<'py, PyAny>> {
    HANDLES.with(|handles| {
        if handles.open.get() == 0 || !class.reused {
            return instance::new(class.class.bind(py), any);
        }
        let any = match handles.again(py, class, any) {
            Ok((handle, before)) => {
                drop(before);
                return Ok(handle);
            }
            Err(any) => any,
        };
        // This may collect garbage, and so run anything.
        let made = instance::new(class.class.bind(py), any)?;
        drop(handles.keep(class, &made));
        Ok(made)
    })
}

impl Handles {
    /// A handle that nobody holds, for this node, and the node it was for; the node itself if there is none.
    fn again<'py>(
        &self,
        py: Python<'py>,
        class: &'static Class,
        any: AnyRef,
    ) -> Result<(Bound<'py, PyAny>, AnyRef), AnyRef> {
        let mut stacks = self.stacks.borrow_mut();
        let Some(stack) = stacks.iter_mut().find(|stack| std::ptr::eq(stack.class, class)) else {
            return Err(any);
        };
        while stack.used > 0 && stack.is_free(py, stack.used - 1) {
            stack.used -= 1;
        }
        let Some(handle) = stack.handles.get(stack.used) else { return Err(any) };
        let handle = handle.bind(py);
        let before = instance::point_to(handle, any)?;
        let handle = handle.clone();
        stack.used += 1;
        Ok((handle, before))
    }

    /// Keeps a handle that is in use; gives back one that it takes the place of.
    fn keep(&self, class: &'static Class, made: &Bound<'_, PyAny>) -> Option<Py<PyAny>> {
        let made = || made.clone().unbind();
        let mut stacks = self.stacks.borrow_mut();
        let Some(stack) = stacks.iter_mut().find(|stack| std::ptr::eq(stack.class, class)) else {
            if stacks.len() < CLASSES {
                stacks.push(Stack { class, handles: vec![made()], used: 1 });
            }
            return None;
        };
        let place = stack.used;
        if place >= KEPT {
            return None;
        }
        stack.used += 1;
        match stack.handles.get_mut(place) {
            Some(before) => Some(std::mem::replace(before, made())),
            None => {
                stack.handles.push(made());
                None
            }
        }
    }
}
