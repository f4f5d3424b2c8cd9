//! Capture-avoiding substitution of free variables.

use std::rc::Rc;

use rustc_hash::FxBuildHasher;

use crate::child_cursor::{ChildCursor, ChildOwner, contains_variable};
use crate::kind::{Facts, FieldRole, NodeKind};
use crate::node::Field;
use crate::path::NodePath;
use crate::reference::{AnyRef, NodeRef};
use crate::singletons::ConstructError;
use crate::substitution_scopes::{FREE, SubstitutionScopes, VariableLookup};
use crate::transform::{NodeRebuild, rebuild_node};
use crate::values::Value;
use crate::view::View;

type HashMap<K, V> = hashbrown::HashMap<K, V, FxBuildHasher>;
type HashSet<K> = hashbrown::HashSet<K, FxBuildHasher>;

/// An error of substituting variables.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SubstituteError {
    /// The node to replace is not a variable.
    #[error("only variables can be replaced, and {key} is of kind {kind}")]
    NotVariable {
        /// Its type.
        key: &'static str,
        /// Its kind.
        kind: NodeKind,
    },
    /// A node cannot hold the replacement of a variable.
    #[error("{path}: {error}")]
    Build {
        /// The path of the node.
        path: NodePath,
        /// The reason.
        error: ConstructError,
    },
}

/// Replaces free variables by values, all at once and without capture.
///
/// **Bound and free.** The value is walked in the order of comparison: fields as declared, lists and sequences
/// element by element, maps by the hash of their keys; ignored fields are skipped and stay as they are. A
/// variable in a def region is bound, from there to the end of the innermost node of a `scope` type around it,
/// or of the whole value if there is none; so are the variables in its fields (its type, say), unless they
/// occurred free before. A def region ends at a scope inside it, and keys bind nothing. Every other occurrence
/// is free, including one before the definition and one after the scope.
///
/// **Replaced** is every free occurrence of a given variable, including those in the fields of other variables.
/// A variable whose fields change becomes a new variable: a single one for all occurrences if it is free, and
/// one per scope if it is bound. Replacements are inserted as they are: nothing is replaced in them.
///
/// **Not captured.** A scope that binds a variable which is free in a replacement binds a fresh copy of it
/// instead, and all uses in the scope refer to the copy. This is done for every such scope, because a variable
/// that first occurs free means the same everywhere. Only replacements of variables that occur count.
///
/// Unchanged nodes keep their identity, and shared nodes stay shared as long as their variables mean the same
/// at each occurrence. Nothing recurses; without renaming, the cost is linear.
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
/// If a node to replace is not a variable, or a node cannot hold a replacement.
pub fn substitute<T: Field>(
    value: &T,
    replacements: impl IntoIterator<Item = (AnyRef, Value)>,
) -> Result<T, SubstituteError> {
    let build = |error| SubstituteError::Build { path: NodePath::root(), error };
    let free: HashSet<usize> =
        free_variables(value).iter().map(|variable| variable.node().id()).collect();
    let mut substitution = Substitution::new(false);
    for (variable, by) in replacements {
        let info = variable.info();
        if info.kind() != NodeKind::Var {
            return Err(SubstituteError::NotVariable { key: info.key(), kind: info.kind() });
        }
        if free.contains(&variable.node().id()) {
            substitution
                .avoid
                .extend(free_variables(&by).iter().map(|variable| variable.node().id()));
            substitution.replace.insert(variable.node().id(), by);
        }
    }
    let result =
        if substitution.replace.is_empty() { None } else { substitution.run(value.view())? };
    let result = result.unwrap_or_else(|| Value::of(value.view()));
    T::from_value(result).map_err(|error| build(error.into()))
}

/// Returns the variables that occur free in `value`, in the order of their first occurrence; see [`substitute`]
/// for the definition of free. The variables in the fields of a free variable count.
#[must_use]
pub fn free_variables(value: &impl Field) -> Vec<AnyRef> {
    let mut substitution = Substitution::new(true);
    // Nothing is rebuilt, so nothing can fail.
    let _ = substitution.run(value.view());
    substitution.free
}

/// The region of a substitution walk: whether an unbound variable is free or bound here.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum SubstituteRegion {
    Use,
    /// In a key: a def field binds nothing here, unless a scope inside the key contains it.
    Key,
    Def,
    /// In the fields of a variable in a def region.
    BelowVar,
}

/// The kind of a frame, which decides how it is closed.
enum SubstituteFrameKind {
    /// A list, or a node that is not a variable.
    Plain,
    /// A variable that is bound after its fields are visited.
    Binder,
    /// A free variable, whose fields are visited outside all scopes; holds the hidden depth to restore.
    Free(usize),
}

/// A node or list in which variables are being replaced.
struct SubstituteFrame<'a> {
    rebuild: NodeRebuild<'a>,
    region: SubstituteRegion,
    opened: SubstituteFrameKind,
    scope: bool,
    tracked: bool,
    /// The number of variables that the scope around had bound before, if the result is memoized.
    memoize: Option<usize>,
}

/// The result for a shared node, and the variable lookups it depends on.
struct SubstituteMemoEntry {
    value: Option<Value>,
    lookups: Rc<[VariableLookup]>,
}

/// A walk that substitutes or collects free variables.
struct Substitution<'a> {
    /// True if free variables are only collected.
    collect: bool,
    replace: HashMap<usize, Value>,
    /// Variables that scopes may not bind, because they are free in a replacement.
    avoid: HashSet<usize>,
    free: Vec<AnyRef>,
    met_free: HashSet<usize>,
    ever_bound: HashSet<usize>,
    /// The results for free variables that have variables in their fields.
    free_done: HashMap<usize, Option<Value>>,
    /// The results for shared nodes: one entry per meaning that the variables of a node have had.
    memo: HashMap<(usize, SubstituteRegion), Vec<SubstituteMemoEntry>>,
    scopes: SubstitutionScopes,
    frames: Vec<SubstituteFrame<'a>>,
}

/// The result of visiting a value.
enum SubstituteVisit {
    Done(Option<Value>),
    Opened,
}

impl<'a> Substitution<'a> {
    fn new(collect: bool) -> Self {
        Self {
            collect,
            replace: HashMap::default(),
            avoid: HashSet::default(),
            free: Vec::new(),
            met_free: HashSet::default(),
            ever_bound: HashSet::default(),
            free_done: HashMap::default(),
            memo: HashMap::default(),
            scopes: SubstitutionScopes::new(),
            frames: Vec::new(),
        }
    }

    /// Substitutes in the value. Returns `None` if nothing changed.
    fn run(&mut self, root: View<'a>) -> Result<Option<Value>, SubstituteError> {
        if let SubstituteVisit::Done(value) = self.visit(root, SubstituteRegion::Use) {
            return Ok(value);
        }
        loop {
            let Some(top) = self.frames.last_mut() else { return Ok(None) };
            let value = match top.rebuild.children.advance() {
                Some(index) => {
                    let children = &top.rebuild.children;
                    let region = match children.role(index) {
                        FieldRole::Ignore => {
                            top.rebuild.push_child(index, None);
                            continue;
                        }
                        FieldRole::Def if top.region != SubstituteRegion::Key => {
                            SubstituteRegion::Def
                        }
                        _ if children.is_key(index) => SubstituteRegion::Key,
                        _ => top.region,
                    };
                    let child = children.child(index);
                    match self.visit(child, region) {
                        SubstituteVisit::Opened => continue,
                        SubstituteVisit::Done(value) => value,
                    }
                }
                None => self.close_frame()?,
            };
            match self.frames.last_mut() {
                None => return Ok(value),
                Some(outer) => {
                    let index = outer.rebuild.children.current().unwrap_or(0);
                    outer.rebuild.push_child(index, value);
                }
            }
        }
    }

    fn visit(&mut self, view: View<'a>, region: SubstituteRegion) -> SubstituteVisit {
        match view {
            View::List(_) if !contains_variable(view) => SubstituteVisit::Done(None),
            View::List(list) => {
                self.open_frame(
                    ChildCursor::of_list(list),
                    region,
                    SubstituteFrameKind::Plain,
                    None,
                );
                SubstituteVisit::Opened
            }
            View::Node(node) if !node.facts().any(Facts::VAR) => SubstituteVisit::Done(None),
            View::Node(node) if node.info().kind() == NodeKind::Var => {
                self.visit_variable(node, region)
            }
            View::Node(node) => self.visit_node(node, region),
            _ => SubstituteVisit::Done(None),
        }
    }

    fn visit_node(&mut self, node: NodeRef<'a>, region: SubstituteRegion) -> SubstituteVisit {
        // A def region ends at a scope, so that a function means the same wherever it occurs.
        let region = if node.info().is_scope() { SubstituteRegion::Use } else { region };
        let shared = node.owners() > 1;
        if shared
            && let Some(all) = self.memo.get(&(node.id(), region))
            && let Some(known) =
                all.iter().find(|known| known.lookups.iter().all(|lookup| self.still_holds(lookup)))
        {
            let (value, lookups) = (known.value.clone(), known.lookups.clone());
            lookups.iter().for_each(|lookup| self.scopes.record_lookup(lookup.variable));
            return SubstituteVisit::Done(value);
        }
        let memoize = shared.then(|| self.scopes.bound_in_scope());
        self.open_frame(
            ChildCursor::in_stored_order(node),
            region,
            SubstituteFrameKind::Plain,
            memoize,
        );
        SubstituteVisit::Opened
    }

    /// Returns whether a variable still has the meaning that a lookup recorded.
    fn still_holds(&self, lookup: &VariableLookup) -> bool {
        let meaning = self.scopes.meaning(lookup.variable);
        // A variable that was already collected needs no second visit.
        meaning == lookup.meaning
            || self.collect && (meaning != FREE || self.met_free.contains(&lookup.variable))
    }

    fn visit_variable(&mut self, node: NodeRef<'a>, region: SubstituteRegion) -> SubstituteVisit {
        let id = node.id();
        let fields = fields_contain_variable(node);
        if !(self.collect || fields || self.replace.contains_key(&id) || self.avoid.contains(&id)) {
            return SubstituteVisit::Done(None);
        }
        self.scopes.record_lookup(id);
        if let Some(bound) = self.scopes.get(id) {
            return SubstituteVisit::Done(bound.replacement.clone());
        }
        if region == SubstituteRegion::Def
            || region == SubstituteRegion::BelowVar && !self.met_free.contains(&id)
        {
            self.open_frame(
                ChildCursor::in_stored_order(node),
                SubstituteRegion::BelowVar,
                SubstituteFrameKind::Binder,
                None,
            );
            return SubstituteVisit::Opened;
        }
        if self.met_free.insert(id) {
            if self.collect {
                self.free.push(node.to_owned());
            }
            if self.ever_bound.contains(&id) {
                // It was bound in the fields of variables, and from now on it is free there.
                self.memo.clear();
            }
        }
        if let Some(by) = self.replace.get(&id) {
            return SubstituteVisit::Done(Some(by.clone()));
        }
        if !fields {
            return SubstituteVisit::Done(None);
        }
        if let Some(done) = self.free_done.get(&id) {
            return SubstituteVisit::Done(done.clone());
        }
        let hidden = self.scopes.hide_open_scopes();
        self.open_frame(
            ChildCursor::in_stored_order(node),
            SubstituteRegion::Use,
            SubstituteFrameKind::Free(hidden),
            None,
        );
        SubstituteVisit::Opened
    }

    fn open_frame(
        &mut self,
        children: ChildCursor<'a>,
        region: SubstituteRegion,
        opened: SubstituteFrameKind,
        memoize: Option<usize>,
    ) {
        let scope = matches!(children.parent, ChildOwner::Node(node) if node.info().is_scope());
        let apart = scope || matches!(opened, SubstituteFrameKind::Free(_));
        let tracked = memoize.is_some() || apart && self.scopes.is_tracking();
        if tracked {
            self.scopes.track();
        }
        if scope {
            self.scopes.enter();
        }
        let rebuild = NodeRebuild::new(children);
        self.frames.push(SubstituteFrame { rebuild, region, opened, scope, tracked, memoize });
    }

    /// Closes the innermost frame once all its children are visited.
    fn close_frame(&mut self) -> Result<Option<Value>, SubstituteError> {
        let Some(frame) = self.frames.pop() else { return Ok(None) };
        let SubstituteFrame { rebuild, region, opened, scope, tracked, memoize } = frame;
        let of = rebuild.children.parent;
        let mut value = rebuild.finish().map_err(|error| self.build_error(error))?;
        let ChildOwner::Node(node) = of else { return Ok(value) };
        if scope {
            self.scopes.leave();
        }
        match opened {
            SubstituteFrameKind::Plain => {}
            SubstituteFrameKind::Binder => {
                if value.is_none() && self.avoid.contains(&node.id()) {
                    value = Some(fresh_copy(node).map_err(|error| self.build_error(error))?.into());
                }
                if tracked {
                    self.scopes.untrack();
                }
                self.ever_bound.insert(node.id());
                self.scopes.bind(node.id(), value.clone());
                return Ok(value);
            }
            SubstituteFrameKind::Free(hidden) => {
                self.scopes.restore_hidden(hidden);
                self.free_done.insert(node.id(), value.clone());
                if tracked {
                    self.scopes.discard_tracking();
                }
                return Ok(value);
            }
        }
        if tracked {
            let lookups = self.scopes.untrack();
            // A node that binds variables in the scope around must be visited each time.
            if memoize == Some(self.scopes.bound_in_scope()) {
                let known = SubstituteMemoEntry { value: value.clone(), lookups };
                self.memo.entry((node.id(), region)).or_default().push(known);
            }
        }
        Ok(value)
    }

    fn build_error(&self, error: ConstructError) -> SubstituteError {
        let step = |frame: &SubstituteFrame<'a>| {
            let children = &frame.rebuild.children;
            Some(children.step(children.current()?))
        };
        SubstituteError::Build { path: self.frames.iter().filter_map(step).collect(), error }
    }
}

/// Returns whether the fields of a variable, ignored ones left out, hold variables.
fn fields_contain_variable(node: NodeRef<'_>) -> bool {
    let fields = node.info().fields().iter().enumerate();
    let mut compared = fields.filter(|(_, field)| field.role != FieldRole::Ignore);
    compared.any(|(index, _)| contains_variable(node.child(index)))
}

/// Creates a new variable with the same fields.
fn fresh_copy(node: NodeRef<'_>) -> Result<AnyRef, ConstructError> {
    let children = ChildCursor::of_node(node);
    rebuild_node(node, (0..children.len()).map(|index| children.owned_child(index)).collect())
}
