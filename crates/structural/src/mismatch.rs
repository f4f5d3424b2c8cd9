//! The public functions for comparing and hashing.

use std::fmt;

pub use crate::engine::BindingSite;
use crate::engine::{
    BindingRegion, CompareMode, CompareState, DifferenceCause, EngineDifference, OrderedComparison,
    Side, StructuralOptions, hash_graph,
};
use crate::error::Error;
use crate::graph::{Graph, HeapGraph, ViewOf};
use crate::hasher::Hash128;
use crate::kind::Facts;
use crate::node::Field;
use crate::path::NodePath;
use crate::view::View;

/// Returns whether two values are structurally equal, with the default [`StructuralOptions`].
///
/// # Errors
/// If a node that is not comparable is reached, a type breaks its promise to hold no variables, a
/// scope shadows a variable, or a hook fails.
pub fn equal(left: &impl Field, right: &impl Field) -> Result<bool, Error> {
    equal_views(left.view(), right.view())
}

/// Returns whether two values are structurally equal, with options.
///
/// # Errors
/// As [`equal`].
pub fn equal_with(
    left: &impl Field,
    right: &impl Field,
    options: StructuralOptions,
) -> Result<bool, Error> {
    equal_in(HeapGraph, left.view(), right.view(), options)
}

/// Returns whether two views are structurally equal, with the default options.
///
/// # Errors
/// As [`equal`].
pub fn equal_views(left: View<'_>, right: View<'_>) -> Result<bool, Error> {
    equal_in(HeapGraph, left, right, StructuralOptions::default())
}

/// Returns whether two values of any storage are structurally equal.
///
/// # Errors
/// As [`equal`].
pub fn equal_in<'a, G: Graph<'a>>(
    g: G,
    left: ViewOf<'a, G>,
    right: ViewOf<'a, G>,
    options: StructuralOptions,
) -> Result<bool, Error> {
    let run = |mode| {
        let mut state = CompareState::new(options);
        let result = OrderedComparison::new(g, &mut state, mode).run(
            left,
            right,
            BindingRegion::start(options),
        );
        (result, state.retry_ordered)
    };
    let (mut result, retry_ordered) = run(CompareMode::default());
    let mode = CompareMode { thorough: true, ..CompareMode::default() };
    if retry_ordered {
        result = run(mode).0;
    }
    result.map_err(|error| match error {
        // The fast path does not know the path; the ordered comparison does.
        Error::NotConstant { .. } => diff_in(g, left, right, options, 1).err().unwrap_or(error),
        error => locate_shadowing(g, left, right, mode, options, error),
    })
}

/// Returns the 64-bit structural hash: the low half of [`hash_128`]. Equal values have the same hash.
///
/// The hash of a closed term is the same in every process, on every platform and for every version
/// of Sapwood with the same [`crate::HASH_VERSION`]. A free variable contributes the order of its
/// creation in this process.
///
/// # Errors
/// As [`equal`].
pub fn hash(value: &impl Field) -> Result<u64, Error> {
    Ok(hash_128(value.view())?.lo)
}

/// Returns the 64-bit structural hash, with options. Compare with the same options.
///
/// # Errors
/// As [`equal`].
pub fn hash_with(value: &impl Field, options: StructuralOptions) -> Result<u64, Error> {
    Ok(hash_in(HeapGraph, value.view(), options)?.lo)
}

/// Returns the 128-bit structural hash.
///
/// # Errors
/// As [`equal`].
pub fn hash_128(view: View<'_>) -> Result<Hash128, Error> {
    hash_in(HeapGraph, view, StructuralOptions::default())
}

/// Returns the 128-bit structural hash of a value of any storage, with options.
///
/// # Errors
/// As [`equal`].
pub fn hash_in<'a, G: Graph<'a>>(
    g: G,
    view: ViewOf<'a, G>,
    options: StructuralOptions,
) -> Result<Hash128, Error> {
    let fast_path = match view {
        View::Node(node) => !g.facts(node).any(Facts::HOOK.union(Facts::UNCOMPARABLE)),
        _ => false,
    };
    if fast_path && let Ok(hash) = hash_graph(g, view, options, false, None) {
        return Ok(hash);
    }
    hash_graph(g, view, options, true, None).map_err(|failed| match failed.0 {
        Error::Shadowing { variable, inner, binding, .. } => {
            // Hash once more, up to the binding in question, to find its path.
            let stopped = hash_graph(g, view, options, true, Some(binding)).err();
            let outer = stopped.and_then(|failed| failed.1).map(|bound| bound.at);
            Error::Shadowing { variable, outer: outer.unwrap_or_default(), inner, binding }
        }
        error => error,
    })
}

/// The reason why two values differ.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum MismatchReason {
    /// The values have different types.
    Type,
    /// The values have one type and differ.
    Value,
    /// The values are sequences of different lengths, equal up to the length of the shorter one.
    Length,
    /// A key exists on one side only.
    Missing,
    /// The values are variables, and one is bound to a third one: the pair that was bound, and the site. `None`
    /// if both are free.
    Binding(Option<BindingSite>),
    /// The values are dag nodes of the same content, and one of them is shared where the other is not.
    Sharing,
    /// A hook compares the values as different.
    Hook,
}

impl fmt::Display for MismatchReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Type => f.write_str("their types differ"),
            Self::Value => f.write_str("their values differ"),
            Self::Length => f.write_str("one sequence is longer"),
            Self::Missing => f.write_str("the key exists on one side only"),
            Self::Binding(None) => f.write_str("they are different variables, and both are free"),
            Self::Binding(Some(bound)) => {
                write!(f, "{} is bound to {} at {}", bound.left, bound.right, bound.at)
            }
            Self::Sharing => f.write_str("they are shared differently"),
            Self::Hook => f.write_str("a hook compares them as different"),
        }
    }
}

/// A difference of two values: the paths, the reason and the differing parts.
#[derive(Clone, Debug)]
pub struct Mismatch {
    /// The path on the left.
    pub left: NodePath,
    /// The path on the right.
    pub right: NodePath,
    /// The reason.
    pub reason: MismatchReason,
    /// The part on the left; `None` if it is missing.
    pub left_value: Option<crate::Value>,
    /// The part on the right; `None` if it is missing.
    pub right_value: Option<crate::Value>,
}

impl Mismatch {
    /// Returns the path on one side.
    #[must_use]
    pub fn path(&self, side: Side) -> &NodePath {
        match side {
            Side::Left => &self.left,
            Side::Right => &self.right,
        }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |value: &Option<crate::Value>| match value {
            Some(value) => format!("{value:?}"),
            None => "nothing".to_owned(),
        };
        match (&self.reason, &self.left_value, &self.right_value) {
            // Abridged forms leave out the part of a type key before the last dot.
            (MismatchReason::Type, Some(left), Some(right)) => {
                writeln!(f, "{}: {} and {}", self.reason, type_name(left), type_name(right))?;
            }
            (reason, ..) => writeln!(f, "{reason}")?,
        }
        writeln!(f, "  left  {}: {}", self.left, shown(&self.left_value))?;
        write!(f, "  right {}: {}", self.right, shown(&self.right_value))
    }
}

fn type_name(value: &crate::Value) -> &'static str {
    match value.view() {
        View::Node(node) => node.info().key(),
        other => other.sort_name(),
    }
}

/// Returns the first difference, in field order; `None` if the values are equal.
///
/// # Errors
/// As [`equal`].
pub fn first_mismatch(left: &impl Field, right: &impl Field) -> Result<Option<Mismatch>, Error> {
    first_mismatch_with(left, right, StructuralOptions::default())
}

/// Returns the first difference, in field order, with options.
///
/// # Errors
/// As [`equal`].
pub fn first_mismatch_with(
    left: &impl Field,
    right: &impl Field,
    options: StructuralOptions,
) -> Result<Option<Mismatch>, Error> {
    first_mismatch_in(HeapGraph, left.view(), right.view(), options)
}

/// Returns the first difference of two values of any storage, with options.
///
/// # Errors
/// As [`equal`].
pub fn first_mismatch_in<'a, G: Graph<'a>>(
    g: G,
    left: ViewOf<'a, G>,
    right: ViewOf<'a, G>,
    options: StructuralOptions,
) -> Result<Option<Mismatch>, Error> {
    Ok(diff_in(g, left, right, options, 1)?.pop())
}

/// Returns all differences that are not below another one, in field order, at most `limit`. Nodes that differ
/// and can be reached in several ways are reported at their first occurrence.
///
/// # Errors
/// As [`equal`].
pub fn diff(
    left: &impl Field,
    right: &impl Field,
    options: StructuralOptions,
    limit: usize,
) -> Result<Vec<Mismatch>, Error> {
    diff_in(HeapGraph, left.view(), right.view(), options, limit)
}

/// Returns all differences of two values of any storage, like [`diff`].
///
/// # Errors
/// As [`equal`].
pub fn diff_in<'a, G: Graph<'a>>(
    g: G,
    left: ViewOf<'a, G>,
    right: ViewOf<'a, G>,
    options: StructuralOptions,
    limit: usize,
) -> Result<Vec<Mismatch>, Error> {
    if limit == 0 {
        return Ok(Vec::new());
    }
    let mode = CompareMode { differences: limit, ..CompareMode::default() };
    let mut state = CompareState::new(options);
    let mut comparison = OrderedComparison::new(g, &mut state, mode);
    comparison
        .run(left, right, BindingRegion::start(options))
        .map_err(|error| locate_shadowing(g, left, right, mode, options, error))?;
    let found = comparison.found;
    let bindings = found.iter().filter_map(|difference| match difference.cause {
        DifferenceCause::Binding(number) => number,
        _ => None,
    });
    let sites = find_binding_sites(g, left, right, mode, options, bindings.collect());
    let explain = |EngineDifference { paths: [left_path, right_path], cause, shown }| {
        let reason = match cause {
            DifferenceCause::Type => MismatchReason::Type,
            DifferenceCause::Value => MismatchReason::Value,
            DifferenceCause::Length => MismatchReason::Length,
            DifferenceCause::Missing => MismatchReason::Missing,
            DifferenceCause::Sharing => MismatchReason::Sharing,
            DifferenceCause::Hook(_) => MismatchReason::Hook,
            DifferenceCause::Binding(number) => {
                let found = sites.binary_search_by_key(&number, |(at, _)| Some(*at));
                MismatchReason::Binding(found.ok().map(|found| sites[found].1.clone()))
            }
        };
        let [left_value, right_value] = shown;
        Mismatch { left: left_path, right: right_path, reason, left_value, right_value }
    };
    Ok(found.into_iter().map(explain).collect())
}

/// Compares once more to find the sites of bindings: sites are only recorded on request.
fn find_binding_sites<'a, G: Graph<'a>>(
    g: G,
    left: ViewOf<'a, G>,
    right: ViewOf<'a, G>,
    mode: CompareMode,
    options: StructuralOptions,
    numbers: Vec<usize>,
) -> Vec<(usize, BindingSite)> {
    if numbers.is_empty() {
        return Vec::new();
    }
    let mut state = CompareState::locating_bindings(options, numbers);
    let mode = CompareMode { locate: true, ..mode };
    // It ends as before, with an error if that was its end.
    let _ =
        OrderedComparison::new(g, &mut state, mode).run(left, right, BindingRegion::start(options));
    state.binding_sites
}

fn locate_shadowing<'a, G: Graph<'a>>(
    g: G,
    left: ViewOf<'a, G>,
    right: ViewOf<'a, G>,
    mode: CompareMode,
    options: StructuralOptions,
    error: Error,
) -> Error {
    match error {
        Error::Shadowing { variable, inner, binding, .. } => {
            let bound = find_binding_sites(g, left, right, mode, options, vec![binding]).pop();
            let outer = bound.map(|(_, bound)| bound.at).unwrap_or_default();
            Error::Shadowing { variable, outer, inner, binding }
        }
        error => error,
    }
}

/// The failure of [`assert_equal`].
#[derive(Debug, thiserror::Error)]
pub enum NotEqual {
    /// The values differ.
    #[error("not structurally equal: {0}")]
    Differ(Box<Mismatch>),
    /// The values could not be compared.
    #[error(transparent)]
    Failed(#[from] Error),
}

/// Returns an error that describes the first difference, unless two values are equal.
///
/// # Errors
/// A [`NotEqual`] with both paths and both values.
pub fn assert_equal(
    left: &impl Field,
    right: &impl Field,
    options: StructuralOptions,
) -> Result<(), NotEqual> {
    match first_mismatch_with(left, right, options)? {
        None => Ok(()),
        Some(mismatch) => Err(NotEqual::Differ(Box::new(mismatch))),
    }
}
