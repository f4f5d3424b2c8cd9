//! The stack of open scopes, and the scopes that memoized results depend on.
//!
//! Comparison and hashing memoize facts about subgraphs. A fact holds as long as the bindings it was found
//! under: it belongs to the deepest scope one of whose bindings was touched on the way to it, and to the whole
//! walk (depth 0) if none was. Scopes have instance numbers, so that ending one is O(1): facts of an ended
//! instance are no longer current.
//!
//! A fact also depends on hidden variables. A variable in the type of a parameter is bound by the function,
//! unless an outer scope binds it: the same function means two things inside and outside that scope. Such
//! variables are *hidden* in the function, and a fact about the function holds only where none of them is
//! bound.

use std::rc::Rc;

use smallvec::SmallVec;

/// An open scope of a walk.
#[derive(Debug)]
struct OpenScope {
    /// A number that distinguishes this scope from all others of the walk.
    instance: u32,
    /// The number of variables that the scope binds.
    bound: u32,
    /// The variables, per side, that it binds only because no outer scope does.
    hidden: [Vec<usize>; 2],
}

impl OpenScope {
    fn new(instance: u32) -> Self {
        Self { instance, bound: 0, hidden: Default::default() }
    }
}

/// A set of scope depths, without the root. Adding is cheap in any order: the latest additions are sorted in
/// once there are as many of them as sorted ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScopeDepths {
    sorted: SmallVec<[u32; 4]>,
    added: SmallVec<[u32; 2]>,
}

impl ScopeDepths {
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

    /// Returns the deepest depth; 0, the root, if the set is empty.
    fn deepest(&self) -> u32 {
        // Depths that are not sorted in yet are less deep.
        self.sorted.last().copied().unwrap_or(0)
    }

    /// Removes the deepest depth, if it is `depth`.
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

/// The scopes and hidden variables that a memoized fact depends on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dependencies {
    /// The scopes whose bindings were used or made.
    pub(crate) touched: ScopeDepths,
    /// Variables, per side, that inner scopes bind only because no outer scope does (in a hash, all on the
    /// left), ascending.
    pub(crate) hidden: [Vec<usize>; 2],
}

impl Dependencies {
    pub(crate) fn merge(&mut self, other: Self) {
        self.touched.merge(other.touched);
        for (mine, other) in self.hidden.iter_mut().zip(other.hidden) {
            add_sorted(mine, other);
        }
    }
}

/// The [`Dependencies`] stored with a fact; without an allocation in the common case that there are none.
#[derive(Clone, Debug, Default)]
pub(crate) struct StoredDependencies(Option<Rc<Dependencies>>);

impl StoredDependencies {
    pub(crate) fn new(dependencies: &Dependencies) -> Self {
        let empty =
            dependencies.touched.is_empty() && dependencies.hidden.iter().all(Vec::is_empty);
        Self((!empty).then(|| Rc::new(dependencies.clone())))
    }

    pub(crate) fn get(&self) -> Option<&Dependencies> {
        self.0.as_deref()
    }

    /// Returns the hidden variables on one side.
    pub(crate) fn hidden(&self, side: usize) -> &[usize] {
        self.0.as_ref().map_or(&[], |dependencies| &dependencies.hidden[side])
    }
}

/// The open scopes, and the dependencies of each tracked frame so far.
#[derive(Debug, Default)]
pub(crate) struct ScopeStack {
    open: Vec<OpenScope>,
    next: u32,
    tracked: Vec<Dependencies>,
}

/// The identity of an open or ended scope.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ScopeId {
    pub(crate) depth: u32,
    instance: u32,
}

impl ScopeId {
    /// An ended scope; no instance has this number.
    pub(crate) const ENDED: Self = Self { depth: 0, instance: u32::MAX };
}

impl ScopeStack {
    pub(crate) fn new() -> Self {
        Self { open: vec![OpenScope::new(0)], next: 1, tracked: vec![Dependencies::default()] }
    }

    /// Creates a stack in which `depth` scopes are open already.
    pub(crate) fn at_depth(depth: u32) -> Self {
        let mut scopes = Self::new();
        (0..depth).for_each(|_| scopes.enter());
        scopes
    }

    /// Returns the depth of the innermost scope; 0 is the root.
    pub(crate) fn depth(&self) -> u32 {
        self.open.len() as u32 - 1
    }

    pub(crate) fn enter(&mut self) {
        self.open.push(OpenScope::new(self.next));
        self.next += 1;
    }

    /// Ends the innermost scope, and removes it from the dependencies of the innermost tracked frame.
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

    /// Drops all scopes deeper than `depth`.
    pub(crate) fn truncate(&mut self, depth: u32) {
        self.open.truncate(depth as usize + 1);
    }

    /// Returns the identity of the scope at `depth`.
    pub(crate) fn scope_id(&self, depth: u32) -> ScopeId {
        ScopeId { depth, instance: self.open[depth as usize].instance }
    }

    /// Returns whether a scope is still open.
    #[inline]
    pub(crate) fn is_open(&self, id: ScopeId) -> bool {
        self.open.get(id.depth as usize).is_some_and(|scope| scope.instance == id.instance)
    }

    /// Takes the next index in the scope at `depth`. `hidden` holds the variable and its counterpart, if the
    /// scope binds them only because no outer scope does.
    pub(crate) fn bind(&mut self, depth: u32, hidden: Option<[usize; 2]>) -> u32 {
        let scope = &mut self.open[depth as usize];
        if let Some(hidden) = hidden.filter(|_| depth > 0) {
            scope.hidden.iter_mut().zip(hidden).for_each(|(side, variable)| side.push(variable));
        }
        scope.bound += 1;
        scope.bound - 1
    }

    /// Returns the index that the scope at `depth` gives to the next variable.
    pub(crate) fn next_index(&self, depth: u32) -> u32 {
        self.open[depth as usize].bound
    }

    /// Gives back the last index of a scope.
    pub(crate) fn unbind(&mut self, id: ScopeId) {
        if self.is_open(id) {
            self.open[id.depth as usize].bound -= 1;
        }
    }

    /// Records that a binding of the scope at `depth` was used or made.
    #[inline]
    pub(crate) fn touch(&mut self, depth: u32) {
        if depth > 0
            && let Some(top) = self.tracked.last_mut()
        {
            top.touched.add(depth);
        }
    }

    /// Adds dependencies to the innermost tracked frame.
    pub(crate) fn add_dependencies(&mut self, dependencies: &Dependencies) {
        if let Some(top) = self.tracked.last_mut() {
            top.merge(dependencies.clone());
        }
    }

    /// Adds the dependencies of a known equality of two nodes. The scopes are the same for both; hidden
    /// variables belong to the node of their own side.
    pub(crate) fn add_dependencies_of_pair(
        &mut self,
        left: &StoredDependencies,
        right: &StoredDependencies,
    ) {
        if let Some(top) = self.tracked.last_mut() {
            if let Some(dependencies) = left.get() {
                top.touched.merge(dependencies.touched.clone());
            }
            add_sorted(&mut top.hidden[0], left.hidden(0).to_vec());
            add_sorted(&mut top.hidden[1], right.hidden(1).to_vec());
        }
    }

    /// Begins to track the dependencies of a frame.
    pub(crate) fn track(&mut self) {
        self.tracked.push(Dependencies::default());
    }

    /// Ends tracking the innermost frame and adds its dependencies to the one around it. Returns a copy only if
    /// it is `wanted`: without copies, nested scopes cost what they touch once.
    pub(crate) fn untrack(&mut self, wanted: bool) -> Dependencies {
        let inner = self.tracked.pop().unwrap_or_default();
        let copy = if wanted { inner.clone() } else { Dependencies::default() };
        if let Some(outer) = self.tracked.last_mut() {
            outer.merge(inner);
        }
        copy
    }

    /// Saves the dependencies of the innermost tracked frame, to be restored after a failed callback.
    pub(crate) fn save_tracked(&self) -> (usize, StoredDependencies) {
        (self.tracked.len(), self.tracked.last().map(StoredDependencies::new).unwrap_or_default())
    }

    pub(crate) fn restore_tracked(&mut self, (len, top): (usize, StoredDependencies)) {
        self.tracked.truncate(len);
        if let Some(last) = self.tracked.last_mut() {
            *last = top.get().cloned().unwrap_or_default();
        }
    }

    /// Returns the scope to which a fact with these dependencies belongs.
    pub(crate) fn scope_of(&self, dependencies: &Dependencies) -> ScopeId {
        self.scope_id(dependencies.touched.deepest())
    }
}

/// Adds unordered elements to an ascending list, without duplicates.
fn add_sorted(sorted: &mut Vec<usize>, more: Vec<usize>) {
    if !more.is_empty() {
        sorted.extend(more);
        sorted.sort_unstable();
        sorted.dedup();
    }
}
