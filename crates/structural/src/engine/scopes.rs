//! Which scopes are open, and which of them the walk has touched.
//!
//! Both functions remember facts about subgraphs, and a fact lasts as long as the bindings it was
//! found under: it belongs to the deepest scope one of whose bindings was touched on the way to
//! it, and to the whole walk (depth 0) if none was. Scopes have instance numbers, so that ending
//! one is O(1): what belongs to an ended instance is simply no longer current.

use std::rc::Rc;

use smallvec::SmallVec;

/// An open scope.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope {
    /// Distinguishes this scope from all others of the walk.
    pub(crate) instance: u32,
    /// How many variables it binds.
    pub(crate) bound: u32,
}

/// Depths of scopes, ascending, without the root.
pub(crate) type Touched = SmallVec<[u32; 4]>;

/// Open scopes, and a stack of what was touched since each tracked frame was opened.
#[derive(Debug)]
pub(crate) struct Scopes {
    open: Vec<Scope>,
    next: u32,
    touched: Vec<Touched>,
}

/// Which scope something belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Owner {
    pub(crate) depth: u32,
    instance: u32,
}

impl Scopes {
    pub(crate) fn new() -> Self {
        Self { open: vec![Scope { instance: 0, bound: 0 }], next: 1, touched: vec![Touched::new()] }
    }

    /// The depth of the innermost scope; 0 is the root.
    pub(crate) fn depth(&self) -> u32 {
        self.open.len() as u32 - 1
    }

    pub(crate) fn enter(&mut self) {
        self.open.push(Scope { instance: self.next, bound: 0 });
        self.next += 1;
    }

    /// Ends the innermost scope; the frame that tracked it forgets it.
    pub(crate) fn leave(&mut self) {
        let depth = self.depth();
        self.open.pop();
        if let Some(top) = self.touched.last_mut()
            && top.last() == Some(&depth)
        {
            top.pop();
        }
    }

    /// Back to `depth` open scopes below the root.
    pub(crate) fn truncate(&mut self, depth: u32) {
        self.open.truncate(depth as usize + 1);
    }

    /// The scope at `depth` as an owner.
    pub(crate) fn owner(&self, depth: u32) -> Owner {
        Owner { depth, instance: self.open[depth as usize].instance }
    }

    /// Whether what belongs to `owner` still holds.
    #[inline]
    pub(crate) fn current(&self, owner: Owner) -> bool {
        self.open.get(owner.depth as usize).is_some_and(|scope| scope.instance == owner.instance)
    }

    /// Takes the next index in the scope at `depth`.
    pub(crate) fn bind(&mut self, depth: u32) -> u32 {
        let scope = &mut self.open[depth as usize];
        scope.bound += 1;
        scope.bound - 1
    }

    /// Gives the last index of `owner` back.
    pub(crate) fn unbind(&mut self, owner: Owner) {
        if self.current(owner) {
            self.open[owner.depth as usize].bound -= 1;
        }
    }

    /// A binding of the scope at `depth` was used or made.
    #[inline]
    pub(crate) fn touch(&mut self, depth: u32) {
        if depth > 0
            && let Some(top) = self.touched.last_mut()
            && let Err(place) = find(top, depth)
        {
            top.insert(place, depth);
        }
    }

    /// All of `depths` were touched.
    pub(crate) fn touch_all(&mut self, depths: &[u32]) {
        if let Some(top) = self.touched.last_mut() {
            merge(top, depths);
        }
    }

    /// Begins to track a frame.
    pub(crate) fn track(&mut self) {
        self.touched.push(Touched::new());
    }

    /// Ends tracking the innermost tracked frame; the one around it touched the same.
    pub(crate) fn untrack(&mut self) -> Touched {
        let mut inner = self.touched.pop().unwrap_or_default();
        let seen = inner.clone();
        if let Some(outer) = self.touched.last_mut() {
            if inner.len() > outer.len() {
                std::mem::swap(outer, &mut inner);
            }
            merge(outer, &inner);
        }
        seen
    }

    /// What is needed to forget what a failed callback touched.
    pub(crate) fn tracked(&self) -> (usize, Touched) {
        (self.touched.len(), self.touched.last().cloned().unwrap_or_default())
    }

    pub(crate) fn restore_tracked(&mut self, (len, top): (usize, Touched)) {
        self.touched.truncate(len);
        if let Some(last) = self.touched.last_mut() {
            *last = top;
        }
    }

    /// The owner of something that touched these depths.
    pub(crate) fn owner_of(&self, touched: &Touched) -> Owner {
        self.owner(touched.last().copied().unwrap_or(0))
    }
}

/// Touched depths as they are kept with a remembered fact: nothing at all in the usual case.
pub(crate) fn keep(touched: &Touched) -> Option<Rc<[u32]>> {
    (!touched.is_empty()).then(|| Rc::from(touched.as_slice()))
}

fn find(depths: &[u32], depth: u32) -> Result<usize, usize> {
    match depths.last() {
        Some(&last) if last == depth => Ok(depths.len() - 1),
        Some(&last) if last > depth => depths.binary_search(&depth),
        _ => Err(depths.len()),
    }
}

fn merge(into: &mut Touched, depths: &[u32]) {
    for &depth in depths {
        if let Err(place) = find(into, depth) {
            into.insert(place, depth);
        }
    }
}
