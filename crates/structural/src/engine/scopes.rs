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
    /// Those of them that it binds only because no scope around it does.
    hidden: Vec<Pair>,
}

impl Scope {
    fn new(instance: u32) -> Self {
        Self { instance, bound: 0, hidden: Vec::new() }
    }
}

/// Depths of scopes, ascending, without the root.
pub(crate) type Touched = SmallVec<[u32; 4]>;

/// A variable on the left and its counterpart on the right; in a hash, the same twice.
pub(crate) type Pair = [usize; 2];

/// What a fact rests on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Basis {
    /// Scopes whose bindings were used or made.
    pub(crate) touched: Touched,
    /// Variables that scopes inside bind only because none around them does.
    pub(crate) hidden: Vec<Pair>,
}

impl Basis {
    fn merge(&mut self, mut other: Self) {
        if other.touched.len() > self.touched.len() {
            std::mem::swap(&mut self.touched, &mut other.touched);
        }
        merge(&mut self.touched, &other.touched);
        if other.hidden.len() > self.hidden.len() {
            std::mem::swap(&mut self.hidden, &mut other.hidden);
        }
        for pair in other.hidden {
            if let Err(place) = self.hidden.binary_search(&pair) {
                self.hidden.insert(place, pair);
            }
        }
    }
}

/// A [`Basis`] as it is kept with a fact: nothing at all in the usual case.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept(Option<Rc<Basis>>);

impl Kept {
    pub(crate) fn new(basis: &Basis) -> Self {
        let empty = basis.touched.is_empty() && basis.hidden.is_empty();
        Self((!empty).then(|| Rc::new(basis.clone())))
    }

    pub(crate) fn basis(&self) -> Option<&Basis> {
        self.0.as_deref()
    }

    /// The hidden variables on one side.
    pub(crate) fn hidden(&self, side: usize) -> impl Iterator<Item = usize> {
        self.0.iter().flat_map(move |basis| basis.hidden.iter().map(move |pair| pair[side]))
    }
}

/// Open scopes, and a stack of what was touched since each tracked frame was opened.
#[derive(Debug)]
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
            if top.touched.last() == Some(&depth) {
                top.touched.pop();
            }
            top.merge(Basis { touched: Touched::new(), hidden: sorted(scope.hidden) });
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

    /// Takes the next index in the scope at `depth`. `hidden` is the variable, if it is one that
    /// the scope binds only because none around it does.
    pub(crate) fn bind(&mut self, depth: u32, hidden: Option<Pair>) -> u32 {
        let scope = &mut self.open[depth as usize];
        scope.hidden.extend(hidden.filter(|_| depth > 0));
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
            && let Some(top) = self.tracked.last_mut()
            && let Err(place) = find(&top.touched, depth)
        {
            top.touched.insert(place, depth);
        }
    }

    /// Something that rests on `basis` was used.
    pub(crate) fn rest_on(&mut self, basis: &Basis) {
        if let Some(top) = self.tracked.last_mut() {
            top.merge(basis.clone());
        }
    }

    /// Begins to track a frame.
    pub(crate) fn track(&mut self) {
        self.tracked.push(Basis::default());
    }

    /// Ends tracking the innermost tracked frame; the one around it rests on the same.
    pub(crate) fn untrack(&mut self) -> Basis {
        let inner = self.tracked.pop().unwrap_or_default();
        if let Some(outer) = self.tracked.last_mut() {
            outer.merge(inner.clone());
        }
        inner
    }

    /// What is needed to forget what a failed callback touched.
    pub(crate) fn tracked(&self) -> (usize, Basis) {
        (self.tracked.len(), self.tracked.last().cloned().unwrap_or_default())
    }

    pub(crate) fn restore_tracked(&mut self, (len, top): (usize, Basis)) {
        self.tracked.truncate(len);
        if let Some(last) = self.tracked.last_mut() {
            *last = top;
        }
    }

    /// The owner of something that rests on `basis`.
    pub(crate) fn owner_of(&self, basis: &Basis) -> Owner {
        self.owner(basis.touched.last().copied().unwrap_or(0))
    }
}

fn sorted(mut pairs: Vec<Pair>) -> Vec<Pair> {
    pairs.sort_unstable();
    pairs.dedup();
    pairs
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
