//! Which scopes are open, and which of them the walk has touched.
//!
//! Both functions remember facts about subgraphs, and a fact lasts as long as the bindings it was
//! found under: it belongs to the deepest scope one of whose bindings was touched on the way to
//! it, and to the whole walk (depth 0) if none was. Scopes have instance numbers, so that ending
//! one is O(1): what belongs to an ended instance is simply no longer current.
//!
//! One thing more is remembered with a fact. A variable in the type of a parameter is bound by the
//! function, unless a scope around the function binds it: the same function means two things inside
//! and outside that scope. Such variables are *hidden* in the function, and what is remembered of it
//! holds only where none of them is bound.

use std::rc::Rc;

use smallvec::SmallVec;

/// An open scope.
#[derive(Debug)]
struct Scope {
    /// Distinguishes this scope from all others of the walk.
    instance: u32,
    /// How many variables it binds.
    bound: u32,
    /// Those of them that it binds only because no scope around it does, per side.
    hidden: [Vec<usize>; 2],
}

impl Scope {
    fn new(instance: u32) -> Self {
        Self { instance, bound: 0, hidden: Default::default() }
    }
}

/// A set of depths of scopes, without the root. Adding is cheap in any order: what was added last is
/// sorted in when it is as much as what is sorted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Depths {
    sorted: SmallVec<[u32; 4]>,
    added: SmallVec<[u32; 2]>,
}

impl Depths {
    #[inline]
    fn add(&mut self, depth: u32) {
        if self.sorted.last() != Some(&depth) {
            self.add_new(depth);
        }
    }

    #[inline(never)]
    fn add_new(&mut self, depth: u32) {
        if self.added.last() == Some(&depth) {
            return;
        }
        match self.sorted.last() {
            Some(&last) if last > depth => {
                if self.sorted.len() <= 8 {
                    if let Err(place) = self.sorted.binary_search(&depth) {
                        self.sorted.insert(place, depth);
                    }
                    return;
                }
                self.added.push(depth);
                if self.added.len() > self.sorted.len() {
                    self.sort();
                }
            }
            _ => self.sorted.push(depth),
        }
    }

    fn sort(&mut self) {
        if !self.added.is_empty() {
            self.sorted.extend(self.added.drain(..));
            self.sorted.sort_unstable();
            self.sorted.dedup();
        }
    }

    fn merge(&mut self, mut other: Self) {
        if other.sorted.len() > self.sorted.len() {
            std::mem::swap(self, &mut other);
        }
        other.sorted.iter().chain(&other.added).for_each(|&depth| self.add(depth));
    }

    /// The deepest; 0, the root, if there is none.
    fn deepest(&self) -> u32 {
        // Whatever is not sorted in yet is less deep.
        self.sorted.last().copied().unwrap_or(0)
    }

    /// Removes the deepest, if it is `depth`.
    fn remove_deepest(&mut self, depth: u32) {
        if self.deepest() == depth {
            self.sort();
            self.sorted.pop();
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }
}

/// What a fact rests on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Basis {
    /// Scopes whose bindings were used or made.
    pub(crate) touched: Depths,
    /// Variables that scopes inside bind only because none around them does, per side (in a hash,
    /// all on the left), ascending.
    pub(crate) hidden: [Vec<usize>; 2],
}

impl Basis {
    pub(crate) fn merge(&mut self, other: Self) {
        self.touched.merge(other.touched);
        for (mine, other) in self.hidden.iter_mut().zip(other.hidden) {
            add_sorted(mine, other);
        }
    }
}

/// A [`Basis`] as it is kept with a fact: nothing at all in the usual case.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept(Option<Rc<Basis>>);

impl Kept {
    pub(crate) fn new(basis: &Basis) -> Self {
        let empty = basis.touched.is_empty() && basis.hidden.iter().all(Vec::is_empty);
        Self((!empty).then(|| Rc::new(basis.clone())))
    }

    pub(crate) fn basis(&self) -> Option<&Basis> {
        self.0.as_deref()
    }

    /// The hidden variables on one side.
    pub(crate) fn hidden(&self, side: usize) -> &[usize] {
        self.0.as_ref().map_or(&[], |basis| &basis.hidden[side])
    }
}

/// Open scopes, and a stack of what was touched since each tracked frame was opened.
#[derive(Debug, Default)]
pub(crate) struct Scopes {
    open: Vec<Scope>,
    next: u32,
    tracked: Vec<Basis>,
}

/// Which scope something belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Owner {
    pub(crate) depth: u32,
    instance: u32,
}

impl Owner {
    /// A scope that ended; no instance has this number.
    pub(crate) const ENDED: Self = Self { depth: 0, instance: u32::MAX };
}

impl Scopes {
    pub(crate) fn new() -> Self {
        Self { open: vec![Scope::new(0)], next: 1, tracked: vec![Basis::default()] }
    }

    /// As if `depth` scopes were open already.
    pub(crate) fn at_depth(depth: u32) -> Self {
        let mut scopes = Self::new();
        (0..depth).for_each(|_| scopes.enter());
        scopes
    }

    /// The depth of the innermost scope; 0 is the root.
    pub(crate) fn depth(&self) -> u32 {
        self.open.len() as u32 - 1
    }

    pub(crate) fn enter(&mut self) {
        self.open.push(Scope::new(self.next));
        self.next += 1;
    }

    /// Ends the innermost scope; the frame that tracked it forgets it.
    pub(crate) fn leave(&mut self) {
        let depth = self.depth();
        let scope = self.open.pop();
        if let (Some(top), Some(scope)) = (self.tracked.last_mut(), scope) {
            top.touched.remove_deepest(depth);
            for (mine, ended) in top.hidden.iter_mut().zip(scope.hidden) {
                add_sorted(mine, ended);
            }
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

    /// Takes the next index in the scope at `depth`. `hidden` are the variable and its counterpart,
    /// if they are of those that the scope binds only because none around it does.
    pub(crate) fn bind(&mut self, depth: u32, hidden: Option<[usize; 2]>) -> u32 {
        let scope = &mut self.open[depth as usize];
        if let Some(hidden) = hidden.filter(|_| depth > 0) {
            scope.hidden.iter_mut().zip(hidden).for_each(|(side, variable)| side.push(variable));
        }
        scope.bound += 1;
        scope.bound - 1
    }

    /// The index that the scope at `depth` gives to the next variable.
    pub(crate) fn next_index(&self, depth: u32) -> u32 {
        self.open[depth as usize].bound
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
            && let Some(top) = self.tracked.last_mut()
        {
            top.touched.add(depth);
        }
    }

    /// Something that rests on `basis` was used.
    pub(crate) fn rest_on(&mut self, basis: &Basis) {
        if let Some(top) = self.tracked.last_mut() {
            top.merge(basis.clone());
        }
    }

    /// The equality of two nodes was used, of which something was found on each side. The scopes
    /// they rest on are the same; what is hidden belongs to the node of its own side.
    pub(crate) fn rest_on_both(&mut self, left: &Kept, right: &Kept) {
        if let Some(top) = self.tracked.last_mut() {
            if let Some(basis) = left.basis() {
                top.touched.merge(basis.touched.clone());
            }
            add_sorted(&mut top.hidden[0], left.hidden(0).to_vec());
            add_sorted(&mut top.hidden[1], right.hidden(1).to_vec());
        }
    }

    /// Begins to track a frame.
    pub(crate) fn track(&mut self) {
        self.tracked.push(Basis::default());
    }

    /// Ends tracking the innermost tracked frame; the one around it rests on the same. What that is,
    /// if it is `wanted`: without a copy, scopes inside each other cost what they touch once.
    pub(crate) fn untrack(&mut self, wanted: bool) -> Basis {
        let inner = self.tracked.pop().unwrap_or_default();
        let copy = if wanted { inner.clone() } else { Basis::default() };
        if let Some(outer) = self.tracked.last_mut() {
            outer.merge(inner);
        }
        copy
    }

    /// What is needed to forget what a failed callback touched.
    pub(crate) fn tracked(&self) -> (usize, Kept) {
        (self.tracked.len(), self.tracked.last().map(Kept::new).unwrap_or_default())
    }

    pub(crate) fn restore_tracked(&mut self, (len, top): (usize, Kept)) {
        self.tracked.truncate(len);
        if let Some(last) = self.tracked.last_mut() {
            *last = top.basis().cloned().unwrap_or_default();
        }
    }

    /// The owner of something that rests on `basis`.
    pub(crate) fn owner_of(&self, basis: &Basis) -> Owner {
        self.owner(basis.touched.deepest())
    }
}

/// Adds what is in no order to what is ascending.
fn add_sorted(sorted: &mut Vec<usize>, more: Vec<usize>) {
    if !more.is_empty() {
        sorted.extend(more);
        sorted.sort_unstable();
        sorted.dedup();
    }
}
