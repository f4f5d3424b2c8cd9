//! Replacing free variables, without capture.

use std::rc::Rc;

use rustc_hash::FxBuildHasher;

use crate::bound::{FREE, Scopes, Touch};
use crate::children::{Children, Parent, holds_variable};
use crate::intern::GetError;
use crate::kind::{Facts, Kind, Role};
use crate::node::Field;
use crate::path::Path;
use crate::reference::{AnyRef, NodeRef};
use crate::transform::{Rebuild, rebuilt};
use crate::values::Value;
use crate::view::View;

type HashMap<K, V> = hashbrown::HashMap<K, V, FxBuildHasher>;
type HashSet<K> = hashbrown::HashSet<K, FxBuildHasher>;

/// Why variables could not be replaced.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SubstituteError {
    /// What was to be replaced is no variable.
    #[error("only variables can be replaced, and {key} is of kind {kind}")]
    NotVariable {
        /// Its type.
        key: &'static str,
        /// Its kind.
        kind: Kind,
    },
    /// A node cannot hold what a variable was replaced by.
    #[error("{path}: {error}")]
    Build {
        /// The node.
        path: Path,
        /// What it cannot hold.
        error: GetError,
    },
}

/// Replaces free variables by values, all at once, so that nothing is captured.
///
/// **Bound and free.** The value is walked in the order of comparison: fields as declared, lists and
/// sequences element by element, maps by the hash of their keys; ignored fields are no part of it
/// and stay as they are. A variable met in a def region is bound, from there to the end of the
/// innermost node of a `scope` type around it, or of the whole value where there is none; so are the
/// variables in its fields (its type, say), unless they were met free before. A def region ends at a
/// scope inside it, and keys bind nothing. Every other occurrence is free: also one before the
/// definition, and one after the scope.
///
/// **Replaced** is every free occurrence of a given variable, also in the fields of other
/// variables. A variable whose fields change becomes another variable: one, wherever it stands, if it
/// is free, and one per scope if it is bound. Replacements are taken as they are: nothing is replaced
/// in them.
///
/// **Not captured.** A scope that binds a variable which is free in a replacement binds a fresh
/// copy of it instead, and so do all its uses; this is done wherever such a scope stands, since a
/// variable that is met free first means the same everywhere. Only replacements of variables that
/// occur count.
///
/// What does not change keeps its identity, and what is shared is shared in the result, as far as
/// its variables mean the same wherever it stands. Nothing recurses; where nothing is renamed, the
/// cost is linear.
///
/// ```
/// use sapwood_structural::{Node, Ref, Value, equal, substitute};
///
/// #[derive(Node)]
/// #[node(kind = "var")]
/// struct Var {
///     #[node(ignore)]
///     name: String,
/// }
///
/// #[derive(Node)]
/// #[node(scope)]
/// struct Lambda {
///     #[node(def)]
///     param: Ref<Var>,
///     body: Vec<Value>,
/// }
///
/// let var = |name: &str| Ref::new(Var { name: name.into() });
/// let lambda = |param: &Ref<Var>, body: [&Ref<Var>; 2]| {
///     let body = body.map(|var| var.clone().into()).to_vec();
///     Ref::new(Lambda { param: param.clone(), body })
/// };
/// let [x, y, z] = ["x", "y", "z"].map(var);
///
/// // (λy. x y)[x := y] is λz. y z.
/// let replaced = substitute(&lambda(&y, [&x, &y]), [(x.into_any(), y.clone().into())])?;
/// assert!(equal(&replaced, &lambda(&z, [&y, &z]))?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If what is to be replaced is no variable, or a node cannot hold what takes its place.
pub fn substitute<T: Field>(
    value: &T,
    replacements: impl IntoIterator<Item = (AnyRef, Value)>,
) -> Result<T, SubstituteError> {
    let build = |error| SubstituteError::Build { path: Path::root(), error };
    let free: HashSet<usize> =
        free_variables(value).iter().map(|variable| variable.node().id()).collect();
    let mut pass = Pass::new(false);
    for (variable, by) in replacements {
        let info = variable.info();
        if info.kind() != Kind::Var {
            return Err(SubstituteError::NotVariable { key: info.key(), kind: info.kind() });
        }
        if free.contains(&variable.node().id()) {
            pass.avoid.extend(free_variables(&by).iter().map(|variable| variable.node().id()));
            pass.replace.insert(variable.node().id(), by);
        }
    }
    let result = if pass.replace.is_empty() { None } else { pass.run(value.view())? };
    let result = result.unwrap_or_else(|| Value::of(value.view()));
    T::from_value(result).map_err(|error| build(error.into()))
}

/// The variables that occur free in `value`, as they are first met; see [`substitute`] for what
/// that means. The variables in the fields of a free variable count.
#[must_use]
pub fn free_variables(value: &impl Field) -> Vec<AnyRef> {
    let mut pass = Pass::new(true);
    // Nothing is rebuilt, so nothing can fail.
    let _ = pass.run(value.view());
    pass.free
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Region {
    Use,
    /// In a key: a def field there binds nothing, outside a scope of the key's own.
    Key,
    Def,
    /// In the fields of a variable in a def region.
    BelowVar,
}

enum Opened {
    /// A list, or a node that is no variable.
    Plain,
    /// A variable that is bound once its fields are done.
    Binder,
    /// A free variable, its fields seen from outside all scopes; what to go back to.
    Free(usize),
}

struct Frame<'a> {
    rebuild: Rebuild<'a>,
    region: Region,
    opened: Opened,
    scope: bool,
    tracked: bool,
    /// How many variables the scope around had bound before, if the result is to be remembered.
    remember: Option<usize>,
}

/// What became of a shared node, and the variables that rests on.
struct Known {
    value: Option<Value>,
    touched: Rc<[Touch]>,
}

struct Pass<'a> {
    /// Whether free variables are only collected.
    collect: bool,
    replace: HashMap<usize, Value>,
    /// Variables that scopes may not bind: they are free in a replacement.
    avoid: HashSet<usize>,
    free: Vec<AnyRef>,
    met_free: HashSet<usize>,
    ever_bound: HashSet<usize>,
    /// What became of free variables that have variables in their fields.
    free_done: HashMap<usize, Option<Value>>,
    /// One entry per meaning that the variables of a node have had.
    known: HashMap<(usize, Region), Vec<Known>>,
    scopes: Scopes,
    frames: Vec<Frame<'a>>,
}

enum Visited {
    Done(Option<Value>),
    Opened,
}

impl<'a> Pass<'a> {
    fn new(collect: bool) -> Self {
        Self {
            collect,
            replace: HashMap::default(),
            avoid: HashSet::default(),
            free: Vec::new(),
            met_free: HashSet::default(),
            ever_bound: HashSet::default(),
            free_done: HashMap::default(),
            known: HashMap::default(),
            scopes: Scopes::new(),
            frames: Vec::new(),
        }
    }

    /// What the value became; nothing if it stays.
    fn run(&mut self, root: View<'a>) -> Result<Option<Value>, SubstituteError> {
        if let Visited::Done(value) = self.visit(root, Region::Use) {
            return Ok(value);
        }
        loop {
            let Some(top) = self.frames.last_mut() else { return Ok(None) };
            let value = match top.rebuild.children.advance() {
                Some(index) => {
                    let children = &top.rebuild.children;
                    let region = match children.role(index) {
                        Role::Ignore => {
                            top.rebuild.put(index, None);
                            continue;
                        }
                        Role::Def if top.region != Region::Key => Region::Def,
                        _ if children.is_key(index) => Region::Key,
                        _ => top.region,
                    };
                    let child = children.child(index);
                    match self.visit(child, region) {
                        Visited::Opened => continue,
                        Visited::Done(value) => value,
                    }
                }
                None => self.close()?,
            };
            match self.frames.last_mut() {
                None => return Ok(value),
                Some(outer) => {
                    let index = outer.rebuild.children.current().unwrap_or(0);
                    outer.rebuild.put(index, value);
                }
            }
        }
    }

    fn visit(&mut self, view: View<'a>, region: Region) -> Visited {
        match view {
            View::List(_) if !holds_variable(view) => Visited::Done(None),
            View::List(list) => {
                self.open(Children::of_list(list), region, Opened::Plain, None);
                Visited::Opened
            }
            View::Node(node) if !node.facts().any(Facts::VAR) => Visited::Done(None),
            View::Node(node) if node.info().kind() == Kind::Var => {
                self.visit_variable(node, region)
            }
            View::Node(node) => self.visit_node(node, region),
            _ => Visited::Done(None),
        }
    }

    fn visit_node(&mut self, node: NodeRef<'a>, region: Region) -> Visited {
        // A def region ends at a scope, so that a function means the same wherever it stands.
        let region = if node.info().is_scope() { Region::Use } else { region };
        let shared = node.owners() > 1;
        if shared
            && let Some(all) = self.known.get(&(node.id(), region))
            && let Some(known) =
                all.iter().find(|known| known.touched.iter().all(|touch| self.holds(touch)))
        {
            let (value, touched) = (known.value.clone(), known.touched.clone());
            touched.iter().for_each(|touch| self.scopes.touch(touch.variable));
            return Visited::Done(value);
        }
        let remember = shared.then(|| self.scopes.bound_here());
        self.open(Children::as_stored(node), region, Opened::Plain, remember);
        Visited::Opened
    }

    /// Whether a variable still means what it meant when it was looked up.
    fn holds(&self, touch: &Touch) -> bool {
        let state = self.scopes.state(touch.variable);
        // Where free variables are collected, one that was collected needs no second look.
        state == touch.state
            || self.collect && (state != FREE || self.met_free.contains(&touch.variable))
    }

    fn visit_variable(&mut self, node: NodeRef<'a>, region: Region) -> Visited {
        let id = node.id();
        let fields = has_variables(node);
        if !(self.collect || fields || self.replace.contains_key(&id) || self.avoid.contains(&id)) {
            return Visited::Done(None);
        }
        self.scopes.touch(id);
        if let Some(bound) = self.scopes.get(id) {
            return Visited::Done(bound.to.clone());
        }
        if region == Region::Def || region == Region::BelowVar && !self.met_free.contains(&id) {
            self.open(Children::as_stored(node), Region::BelowVar, Opened::Binder, None);
            return Visited::Opened;
        }
        if self.met_free.insert(id) {
            if self.collect {
                self.free.push(node.to_owned());
            }
            if self.ever_bound.contains(&id) {
                // In the fields of variables it was bound, and from now on it is free there.
                self.known.clear();
            }
        }
        if let Some(by) = self.replace.get(&id) {
            return Visited::Done(Some(by.clone()));
        }
        if !fields {
            return Visited::Done(None);
        }
        if let Some(done) = self.free_done.get(&id) {
            return Visited::Done(done.clone());
        }
        let hidden = self.scopes.hide();
        self.open(Children::as_stored(node), Region::Use, Opened::Free(hidden), None);
        Visited::Opened
    }

    fn open(
        &mut self,
        children: Children<'a>,
        region: Region,
        opened: Opened,
        remember: Option<usize>,
    ) {
        let scope = matches!(children.of, Parent::Node(node) if node.info().is_scope());
        let apart = scope || matches!(opened, Opened::Free(_));
        let tracked = remember.is_some() || apart && self.scopes.is_tracking();
        if tracked {
            self.scopes.track();
        }
        if scope {
            self.scopes.enter();
        }
        let rebuild = Rebuild::new(children);
        self.frames.push(Frame { rebuild, region, opened, scope, tracked, remember });
    }

    /// Ends the innermost frame: all its children are done.
    fn close(&mut self) -> Result<Option<Value>, SubstituteError> {
        let Some(frame) = self.frames.pop() else { return Ok(None) };
        let Frame { rebuild, region, opened, scope, tracked, remember } = frame;
        let of = rebuild.children.of;
        let mut value = rebuild.finish().map_err(|error| self.failed(error))?;
        let Parent::Node(node) = of else { return Ok(value) };
        if scope {
            self.scopes.leave();
        }
        match opened {
            Opened::Plain => {}
            Opened::Binder => {
                if value.is_none() && self.avoid.contains(&node.id()) {
                    value = Some(fresh(node).map_err(|error| self.failed(error))?.into());
                }
                if tracked {
                    self.scopes.untrack();
                }
                self.ever_bound.insert(node.id());
                self.scopes.bind(node.id(), value.clone());
                return Ok(value);
            }
            Opened::Free(hidden) => {
                self.scopes.show(hidden);
                self.free_done.insert(node.id(), value.clone());
                if tracked {
                    self.scopes.forget();
                }
                return Ok(value);
            }
        }
        if tracked {
            let touched = self.scopes.untrack();
            // What binds for the scope around must do so each time.
            if remember == Some(self.scopes.bound_here()) {
                let known = Known { value: value.clone(), touched };
                self.known.entry((node.id(), region)).or_default().push(known);
            }
        }
        Ok(value)
    }

    fn failed(&self, error: GetError) -> SubstituteError {
        let step = |frame: &Frame<'a>| {
            let children = &frame.rebuild.children;
            Some(children.step(children.current()?))
        };
        SubstituteError::Build { path: self.frames.iter().filter_map(step).collect(), error }
    }
}

/// Whether the fields of a variable, ignored ones left out, hold variables.
fn has_variables(node: NodeRef<'_>) -> bool {
    let fields = node.info().fields().iter().enumerate();
    let mut compared = fields.filter(|(_, field)| field.role != Role::Ignore);
    compared.any(|(index, _)| holds_variable(node.child(index)))
}

/// Another variable with the same fields.
fn fresh(node: NodeRef<'_>) -> Result<AnyRef, GetError> {
    let children = Children::of_node(node);
    rebuilt(node, (0..children.len()).map(|index| children.owned(index)).collect())
}
