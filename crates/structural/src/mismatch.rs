//! Comparing and hashing: the functions users call.

use std::fmt;

pub use crate::engine::Bound;
use crate::engine::{Cause, Comparison, Difference, Mode, Options, Region, Side, State, hash_root};
use crate::error::Error;
use crate::graph::{Graph, Heap, ViewOf};
use crate::hasher::Hash128;
use crate::kind::Facts;
use crate::node::Field;
use crate::path::Path;
use crate::view::View;

/// Whether two values are structurally equal, with the default [`Options`].
///
/// # Errors
/// If a node that is not comparable is reached, a type breaks its promise to hold no variables, a
/// scope shadows a variable, or a hook fails.
pub fn equal(left: &impl Field, right: &impl Field) -> Result<bool, Error> {
    equal_views(left.view(), right.view())
}

/// As [`equal`], with options.
///
/// # Errors
/// As [`equal`].
pub fn equal_with(left: &impl Field, right: &impl Field, options: Options) -> Result<bool, Error> {
    equal_in(Heap, left.view(), right.view(), options)
}

/// As [`equal`], for views.
///
/// # Errors
/// As [`equal`].
pub fn equal_views(left: View<'_>, right: View<'_>) -> Result<bool, Error> {
    equal_in(Heap, left, right, Options::default())
}

/// As [`equal`], in any storage.
///
/// # Errors
/// As [`equal`].
pub fn equal_in<'a, G: Graph<'a>>(
    g: G,
    left: ViewOf<'a, G>,
    right: ViewOf<'a, G>,
    options: Options,
) -> Result<bool, Error> {
    let run = |mode| {
        let mut state = State::new(options);
        let result = Comparison::new(g, &mut state, mode).run(left, right, Region::start(options));
        (result, state.ask_again)
    };
    let (mut result, ask_again) = run(Mode::default());
    let mode = Mode { thorough: true, ..Mode::default() };
    if ask_again {
        result = run(mode).0;
    }
    result.map_err(|error| match error {
        // The quick walk does not know where it is; the ordered one does.
        Error::NotConstant { .. } => diff_in(g, left, right, options, 1).err().unwrap_or(error),
        error => place_shadowing(g, left, right, mode, options, error),
    })
}

/// The 64-bit structural hash: the low half of [`hash_128`]. Equal values have the same hash.
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

/// As [`hash`], with options; compare with the same ones.
///
/// # Errors
/// As [`equal`].
pub fn hash_with(value: &impl Field, options: Options) -> Result<u64, Error> {
    Ok(hash_in(Heap, value.view(), options)?.lo)
}

/// The whole hash.
///
/// # Errors
/// As [`equal`].
pub fn hash_128(view: View<'_>) -> Result<Hash128, Error> {
    hash_in(Heap, view, Options::default())
}

/// As [`hash_128`], in any storage and with options.
///
/// # Errors
/// As [`equal`].
pub fn hash_in<'a, G: Graph<'a>>(
    g: G,
    view: ViewOf<'a, G>,
    options: Options,
) -> Result<Hash128, Error> {
    let quick = match view {
        View::Node(node) => !g.facts(node).any(Facts::HOOK.and(Facts::UNCOMPARABLE)),
        _ => false,
    };
    if quick && let Ok(hash) = hash_root(g, view, options, false, None) {
        return Ok(hash);
    }
    hash_root(g, view, options, true, None).map_err(|failed| match failed.0 {
        Error::Shadowing { variable, inner, binding, .. } => {
            // Hash once more, up to the binding in question, to learn where it stands.
            let stopped = hash_root(g, view, options, true, Some(binding)).err();
            let outer = stopped.and_then(|failed| failed.1).map(|bound| bound.at);
            Error::Shadowing { variable, outer: outer.unwrap_or_default(), inner, binding }
        }
        error => error,
    })
}

/// Why two values differ.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Reason {
    /// They are of different types.
    Type,
    /// They are of one type and not the same value.
    Value,
    /// They are sequences of different lengths, equal as far as the shorter one goes.
    Length,
    /// A key is on one side alone.
    Missing,
    /// They are variables, and one is bound to a third one: with the pair that was bound, and
    /// where. Nothing if both are free.
    Binding(Option<Bound>),
    /// They are dag nodes of the same content, and one of them is shared where the other is not.
    Sharing,
    /// A hook says they differ.
    Hook,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Type => f.write_str("their types differ"),
            Self::Value => f.write_str("their values differ"),
            Self::Length => f.write_str("one sequence is longer"),
            Self::Missing => f.write_str("the key is on one side alone"),
            Self::Binding(None) => {
                f.write_str("they are different variables, and nothing binds them to each other")
            }
            Self::Binding(Some(bound)) => {
                write!(f, "{} is bound to {} at {}", bound.left, bound.right, bound.at)
            }
            Self::Sharing => f.write_str("they are shared differently"),
            Self::Hook => f.write_str("a hook says they differ"),
        }
    }
}

/// A place where two values differ, and why.
#[derive(Clone, Debug)]
pub struct Mismatch {
    /// Where, on the left.
    pub left: Path,
    /// Where, on the right.
    pub right: Path,
    /// Why.
    pub reason: Reason,
    /// What is there on the left; nothing if it is missing.
    pub left_value: Option<crate::Value>,
    /// What is there on the right; nothing if it is missing.
    pub right_value: Option<crate::Value>,
}

impl Mismatch {
    /// The place on one side.
    #[must_use]
    pub fn path(&self, side: Side) -> &Path {
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
            // Short forms leave out what is before the last dot of a type's name.
            (Reason::Type, Some(left), Some(right)) => {
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
        other => other.sort(),
    }
}

/// The first place, in the order of fields, where two values differ; nothing if they are equal.
///
/// # Errors
/// As [`equal`].
pub fn first_mismatch(left: &impl Field, right: &impl Field) -> Result<Option<Mismatch>, Error> {
    first_mismatch_with(left, right, Options::default())
}

/// As [`first_mismatch`], with options.
///
/// # Errors
/// As [`equal`].
pub fn first_mismatch_with(
    left: &impl Field,
    right: &impl Field,
    options: Options,
) -> Result<Option<Mismatch>, Error> {
    first_mismatch_in(Heap, left.view(), right.view(), options)
}

/// As [`first_mismatch`], in any storage and with options.
///
/// # Errors
/// As [`equal`].
pub fn first_mismatch_in<'a, G: Graph<'a>>(
    g: G,
    left: ViewOf<'a, G>,
    right: ViewOf<'a, G>,
    options: Options,
) -> Result<Option<Mismatch>, Error> {
    Ok(diff_in(g, left, right, options, 1)?.pop())
}

/// All differences that are not below another one, in the order of fields, `limit` at most.
/// Nodes that differ and are reached in several ways are reported where they are met first.
///
/// # Errors
/// As [`equal`].
pub fn diff(
    left: &impl Field,
    right: &impl Field,
    options: Options,
    limit: usize,
) -> Result<Vec<Mismatch>, Error> {
    diff_in(Heap, left.view(), right.view(), options, limit)
}

/// As [`diff`], in any storage.
///
/// # Errors
/// As [`equal`].
pub fn diff_in<'a, G: Graph<'a>>(
    g: G,
    left: ViewOf<'a, G>,
    right: ViewOf<'a, G>,
    options: Options,
    limit: usize,
) -> Result<Vec<Mismatch>, Error> {
    if limit == 0 {
        return Ok(Vec::new());
    }
    let mode = Mode { differences: limit, ..Mode::default() };
    let mut state = State::new(options);
    let mut comparison = Comparison::new(g, &mut state, mode);
    comparison
        .run(left, right, Region::start(options))
        .map_err(|error| place_shadowing(g, left, right, mode, options, error))?;
    let found = comparison.found;
    let bindings = found.iter().filter_map(|difference| match difference.cause {
        Cause::Binding(number) => number,
        _ => None,
    });
    let places = find_bindings(g, left, right, mode, options, bindings.collect());
    let explain = |Difference { paths: [left_path, right_path], cause, shown }| {
        let reason = match cause {
            Cause::Type => Reason::Type,
            Cause::Value => Reason::Value,
            Cause::Length => Reason::Length,
            Cause::Missing => Reason::Missing,
            Cause::Sharing => Reason::Sharing,
            Cause::Hook(_) => Reason::Hook,
            Cause::Binding(number) => {
                let place = places.binary_search_by_key(&number, |(at, _)| Some(*at));
                Reason::Binding(place.ok().map(|place| places[place].1.clone()))
            }
        };
        let [left_value, right_value] = shown;
        Mismatch { left: left_path, right: right_path, reason, left_value, right_value }
    };
    Ok(found.into_iter().map(explain).collect())
}

/// Compares once more to learn where bindings were made: places are only kept when they are asked
/// for.
fn find_bindings<'a, G: Graph<'a>>(
    g: G,
    left: ViewOf<'a, G>,
    right: ViewOf<'a, G>,
    mode: Mode,
    options: Options,
    numbers: Vec<usize>,
) -> Vec<(usize, Bound)> {
    if numbers.is_empty() {
        return Vec::new();
    }
    let mut state = State::locating(options, numbers);
    let mode = Mode { locate: true, ..mode };
    // It ends as it did before, with an error if that was its end.
    let _ = Comparison::new(g, &mut state, mode).run(left, right, Region::start(options));
    state.places
}

fn place_shadowing<'a, G: Graph<'a>>(
    g: G,
    left: ViewOf<'a, G>,
    right: ViewOf<'a, G>,
    mode: Mode,
    options: Options,
    error: Error,
) -> Error {
    match error {
        Error::Shadowing { variable, inner, binding, .. } => {
            let bound = find_bindings(g, left, right, mode, options, vec![binding]).pop();
            let outer = bound.map(|(_, bound)| bound.at).unwrap_or_default();
            Error::Shadowing { variable, outer, inner, binding }
        }
        error => error,
    }
}

/// Says how two values differ, or that they could not be compared.
#[derive(Debug, thiserror::Error)]
pub enum NotEqual {
    /// They differ.
    #[error("not structurally equal: {0}")]
    Differ(Box<Mismatch>),
    /// They could not be compared.
    #[error(transparent)]
    Failed(#[from] Error),
}

/// Nothing if two values are equal; how they differ if not.
///
/// # Errors
/// A [`NotEqual`] with both paths and both values.
pub fn assert_equal(
    left: &impl Field,
    right: &impl Field,
    options: Options,
) -> Result<(), NotEqual> {
    match first_mismatch_with(left, right, options)? {
        None => Ok(()),
        Some(mismatch) => Err(NotEqual::Differ(Box::new(mismatch))),
    }
}
