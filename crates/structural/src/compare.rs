//! The public functions for comparing and hashing.

use crate::engine::{
    BindingRegion, CompareMode, CompareState, DifferenceCause, EngineDifference, OrderedComparison,
    StructuralOptions, hash_graph,
};
use crate::error::Error;
use crate::hasher::Hash128;
use crate::kind::Facts;
use crate::mismatch::{BindingSite, Mismatch, MismatchReason, NotEqual};
use crate::view::View;

/// Returns whether two values are structurally equal, with the default [`StructuralOptions`].
///
/// # Errors
/// If a node that is not comparable is reached, a type breaks its promise to hold no variables, a
/// scope shadows a variable, or a hook fails.
pub fn equal<'a>(left: impl Into<View<'a>>, right: impl Into<View<'a>>) -> Result<bool, Error> {
    StructuralOptions::default().equal(left, right)
}

/// Returns the structural hash, with the default [`StructuralOptions`]. Equal values have the same hash. The
/// 64-bit hash, which hooks and Python see, is its low half.
///
/// The hash of a closed term is the same in every process, on every platform and for every version
/// of Sapwood with the same [`crate::HASH_VERSION`]. A free variable contributes the order of its
/// creation in this process.
///
/// # Errors
/// As [`equal`].
pub fn hash<'a>(value: impl Into<View<'a>>) -> Result<Hash128, Error> {
    StructuralOptions::default().hash(value)
}

/// Returns the first difference, in field order, with the default [`StructuralOptions`]; `None` if the values
/// are equal.
///
/// # Errors
/// As [`equal`].
pub fn first_mismatch<'a>(
    left: impl Into<View<'a>>,
    right: impl Into<View<'a>>,
) -> Result<Option<Mismatch>, Error> {
    StructuralOptions::default().first_mismatch(left, right)
}

/// Comparison and hashing with options. Values are given as references to fields, such as `&Ref<T>` and
/// `&Value`, or as views.
impl StructuralOptions {
    /// Returns whether two values are structurally equal.
    ///
    /// # Errors
    /// As [`equal`].
    pub fn equal<'a>(
        self,
        left: impl Into<View<'a>>,
        right: impl Into<View<'a>>,
    ) -> Result<bool, Error> {
        equal_views(left.into(), right.into(), self)
    }

    /// Returns the structural hash. Values with the same hash must be compared with the same options.
    ///
    /// # Errors
    /// As [`equal`].
    pub fn hash<'a>(self, value: impl Into<View<'a>>) -> Result<Hash128, Error> {
        hash_view(value.into(), self)
    }

    /// Returns the first difference, in field order; `None` if the values are equal.
    ///
    /// # Errors
    /// As [`equal`].
    pub fn first_mismatch<'a>(
        self,
        left: impl Into<View<'a>>,
        right: impl Into<View<'a>>,
    ) -> Result<Option<Mismatch>, Error> {
        Ok(diff_views(left.into(), right.into(), self, 1)?.pop())
    }

    /// Returns all differences that are not below another one, in field order, at most `limit`. Nodes that
    /// differ and can be reached in several ways are reported at their first occurrence.
    ///
    /// # Errors
    /// As [`equal`].
    pub fn diff<'a>(
        self,
        left: impl Into<View<'a>>,
        right: impl Into<View<'a>>,
        limit: usize,
    ) -> Result<Vec<Mismatch>, Error> {
        diff_views(left.into(), right.into(), self, limit)
    }

    /// Returns an error that describes the first difference, unless two values are equal.
    ///
    /// # Errors
    /// A [`NotEqual`] with both paths and both values.
    pub fn assert_equal<'a>(
        self,
        left: impl Into<View<'a>>,
        right: impl Into<View<'a>>,
    ) -> Result<(), NotEqual> {
        match self.first_mismatch(left, right)? {
            None => Ok(()),
            Some(mismatch) => Err(NotEqual::Differ(Box::new(mismatch))),
        }
    }
}

fn equal_views(left: View<'_>, right: View<'_>, options: StructuralOptions) -> Result<bool, Error> {
    let run = |mode| {
        let mut state = CompareState::new(options);
        let result = OrderedComparison::new(&mut state, mode).run(
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
        Error::NotConstant { .. } => diff_views(left, right, options, 1).err().unwrap_or(error),
        error => locate_shadowing(left, right, mode, options, error),
    })
}

fn hash_view(view: View<'_>, options: StructuralOptions) -> Result<Hash128, Error> {
    let fast_path = match view {
        View::Node(node) => !node.facts().any(Facts::HOOK.union(Facts::UNCOMPARABLE)),
        _ => false,
    };
    if fast_path && let Ok(hash) = hash_graph(view, options, false, None) {
        return Ok(hash);
    }
    hash_graph(view, options, true, None).map_err(|failed| match failed.0 {
        Error::Shadowing { variable, inner, binding, .. } => {
            // Hash once more, up to the binding in question, to find its path.
            let stopped = hash_graph(view, options, true, Some(binding)).err();
            let outer = stopped.and_then(|failed| failed.1).map(|bound| bound.at);
            Error::Shadowing { variable, outer: outer.unwrap_or_default(), inner, binding }
        }
        error => error,
    })
}

fn diff_views(
    left: View<'_>,
    right: View<'_>,
    options: StructuralOptions,
    limit: usize,
) -> Result<Vec<Mismatch>, Error> {
    if limit == 0 {
        return Ok(Vec::new());
    }
    let mode = CompareMode { differences: limit, ..CompareMode::default() };
    let mut state = CompareState::new(options);
    let mut comparison = OrderedComparison::new(&mut state, mode);
    comparison
        .run(left, right, BindingRegion::start(options))
        .map_err(|error| locate_shadowing(left, right, mode, options, error))?;
    let found = comparison.found;
    let bindings = found.iter().filter_map(|difference| match difference.cause {
        DifferenceCause::Binding(number) => number,
        _ => None,
    });
    let sites = find_binding_sites(left, right, mode, options, bindings.collect());
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
fn find_binding_sites(
    left: View<'_>,
    right: View<'_>,
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
        OrderedComparison::new(&mut state, mode).run(left, right, BindingRegion::start(options));
    state.binding_sites
}

fn locate_shadowing(
    left: View<'_>,
    right: View<'_>,
    mode: CompareMode,
    options: StructuralOptions,
    error: Error,
) -> Error {
    match error {
        Error::Shadowing { variable, inner, binding, .. } => {
            let bound = find_binding_sites(left, right, mode, options, vec![binding]).pop();
            let outer = bound.map(|(_, bound)| bound.at).unwrap_or_default();
            Error::Shadowing { variable, outer, inner, binding }
        }
        error => error,
    }
}
