//! Locations: the origin of an op in the program that another tool compiled, as MLIR's `loc(…)` has it.

mod read;
mod write;

use std::collections::HashMap;
use std::fmt;
use std::sync::{LazyLock, PoisonError, RwLock, RwLockWriteGuard};

pub use read::{LocAliases, LocError, read_locs};
pub use write::LocTable;

use crate::FileId;

/// The id of an interned location; four bytes and `Copy`. Equal locations have equal ids.
///
/// A [`Span`](crate::Span) may have a location. The span is the place in the text that was read; the location is where
/// the op came from before that text was written: a scope such as `jit(f)/layer_3/dot_general`, lines of Python. Locations
/// are kept until the process ends, like the names of files.
///
/// ```
/// use sapwood_types::{Loc, LocKind};
///
/// let call = Loc::new(LocKind::Name { name: "jit(f)/layer_3", child: Loc::UNKNOWN });
/// let max = Loc::new(LocKind::Name { name: "max", child: Loc::UNKNOWN });
/// let inlined = max.called_from(call);
/// assert_eq!(inlined.to_string(), r#"callsite("max" at "jit(f)/layer_3")"#);
/// assert_eq!(inlined.scope().as_deref(), Some("jit(f)/layer_3/max"));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Loc(u32);

/// The parts of a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LocKind<'a> {
    /// `unknown`
    Unknown,
    /// `"file.py":3:4 to 5:6`: the first line and column, and the last ones, which are equal to them for a single place.
    File {
        /// The file.
        file: FileId,
        /// The first line and column, and the last line and column.
        range: [u32; 4],
    },
    /// `"name"(child)`
    Name {
        /// The name, such as `jit(f)/layer_3/dot_general`.
        name: &'a str,
        /// A further location, or [`Loc::UNKNOWN`].
        child: Loc,
    },
    /// `callsite(callee at caller)`
    CallSite {
        /// The location in the function that was called.
        callee: Loc,
        /// The location of the call.
        caller: Loc,
    },
    /// `fused<metadata>[a, b]`
    Fused {
        /// An attribute as it is written, or an empty text.
        metadata: &'a str,
        /// The locations.
        locs: &'a [Loc],
    },
    /// `#dialect.attribute<…>`: a location of a dialect, as it is written.
    Dialect(&'a str),
}

/// The interner of locations, and of the pairs of file and location that spans have.
#[derive(Debug, Default)]
pub(crate) struct LocInterner {
    ids: HashMap<LocKind<'static>, u32>,
    /// The location with id `n` is at `n - 1`; id 0 is the unknown location.
    kinds: Vec<LocKind<'static>>,
    origin_ids: HashMap<(FileId, Loc), u32>,
    origins: Vec<(FileId, Loc)>,
}

static LOC_INTERNER: LazyLock<RwLock<LocInterner>> = LazyLock::new(RwLock::default);

/// Keeps the interner as it is while the guard lives.
pub(crate) fn lock_interner() -> RwLockWriteGuard<'static, LocInterner> {
    LOC_INTERNER.write().unwrap_or_else(PoisonError::into_inner)
}

/// The largest number of locations that [`Loc::scope`] visits, and that `Display` writes.
const MAX_SCOPE_STEPS: usize = 256;
const MAX_DISPLAYED_LOCS: usize = 4096;

impl Loc {
    /// The location of ops whose origin is not known.
    pub const UNKNOWN: Self = Self(0);

    /// Interns a location.
    #[must_use]
    pub fn new(kind: LocKind<'_>) -> Self {
        let kind = match kind {
            LocKind::Unknown | LocKind::Fused { metadata: "", locs: [] } => return Self::UNKNOWN,
            LocKind::Fused { metadata: "", locs: [one] } => return *one,
            kind => kind,
        };
        let find = |table: &LocInterner| {
            let ids: &HashMap<LocKind<'_>, u32> = &table.ids;
            ids.get(&kind).copied()
        };
        let found = find(&LOC_INTERNER.read().unwrap_or_else(PoisonError::into_inner));
        if let Some(id) = found {
            return Self(id);
        }
        let mut table = lock_interner();
        if let Some(id) = find(&table) {
            return Self(id);
        }
        // Out of ids after four thousand million locations: the location becomes unknown.
        let Ok(id) = u32::try_from(table.kinds.len() + 1) else { return Self::UNKNOWN };
        let text = |text: &str| -> &'static str { Box::leak(text.into()) };
        let kind = match kind {
            LocKind::Name { name, child } => LocKind::Name { name: text(name), child },
            LocKind::Fused { metadata, locs } => {
                LocKind::Fused { metadata: text(metadata), locs: Box::leak(locs.into()) }
            }
            LocKind::Dialect(attribute) => LocKind::Dialect(text(attribute)),
            LocKind::File { file, range } => LocKind::File { file, range },
            LocKind::CallSite { callee, caller } => LocKind::CallSite { callee, caller },
            LocKind::Unknown => LocKind::Unknown,
        };
        table.kinds.push(kind);
        table.ids.insert(kind, id);
        Self(id)
    }

    /// Returns the parts of the location.
    #[must_use]
    pub fn kind(self) -> LocKind<'static> {
        let Some(position) = self.0.checked_sub(1) else { return LocKind::Unknown };
        let table = LOC_INTERNER.read().unwrap_or_else(PoisonError::into_inner);
        table.kinds.get(position as usize).copied().unwrap_or(LocKind::Unknown)
    }

    /// Returns whether nothing is known.
    #[must_use]
    pub const fn is_unknown(self) -> bool {
        self.0 == 0
    }

    /// Returns the location of an op with this location after the call of its function at `caller` was inlined:
    /// `callsite(self at caller)`. An unknown side gives the other.
    #[must_use]
    pub fn called_from(self, caller: Self) -> Self {
        match (self.is_unknown(), caller.is_unknown()) {
            (true, _) => caller,
            (_, true) => self,
            _ => Self::new(LocKind::CallSite { callee: self, caller }),
        }
    }

    /// Returns the scope of the op: its name, after the names of the calls that it was inlined from. `None` if the
    /// location has no name. Parts that two neighbouring names share are written once:
    /// `jit(relu)/max` called from `jit(f)/jit(relu)` is `jit(f)/jit(relu)/max`.
    #[must_use]
    pub fn scope(self) -> Option<String> {
        enum Step {
            Visit(Loc),
            /// Visits locations until there are more names than before.
            UntilNamed(&'static [Loc], usize),
        }
        let mut names: Vec<&'static str> = Vec::new();
        let mut stack = vec![Step::Visit(self)];
        for _ in 0..MAX_SCOPE_STEPS {
            let Some(step) = stack.pop() else { break };
            match step {
                Step::Visit(loc) => match loc.kind() {
                    LocKind::Name { name, .. } => names.push(name),
                    LocKind::CallSite { callee, caller } => {
                        stack.extend([Step::Visit(callee), Step::Visit(caller)]);
                    }
                    LocKind::Fused { locs, .. } => stack.push(Step::UntilNamed(locs, names.len())),
                    LocKind::Unknown | LocKind::File { .. } | LocKind::Dialect(_) => {}
                },
                Step::UntilNamed(locs, before) => {
                    if let ([first, rest @ ..], true) = (locs, names.len() == before) {
                        stack.extend([Step::UntilNamed(rest, before), Step::Visit(*first)]);
                    }
                }
            }
        }
        let (first, rest) = names.split_first()?;
        let mut scope = (*first).to_owned();
        for name in rest {
            append_name(&mut scope, name);
        }
        Some(scope)
    }
}

// Appends a name to a scope, without the parts that they share.
fn append_name(scope: &mut String, name: &str) {
    if name.strip_prefix(&**scope).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')) {
        name.clone_into(scope);
        return;
    }
    let last = scope.rsplit('/').next().unwrap_or("");
    let rest = name.strip_prefix(last).and_then(|rest| rest.strip_prefix('/')).unwrap_or(name);
    scope.push('/');
    scope.push_str(rest);
}

impl fmt::Display for Loc {
    /// Writes the text between the parentheses of `loc(…)`, on one line. Very large locations are cut by `...`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&write::inline_text(*self, MAX_DISPLAYED_LOCS))
    }
}

/// Returns the number of a pair of file and location.
pub(crate) fn intern_origin(file: FileId, loc: Loc) -> Option<u32> {
    let pair = (file, loc);
    let known =
        LOC_INTERNER.read().unwrap_or_else(PoisonError::into_inner).origin_ids.get(&pair).copied();
    if known.is_some() {
        return known;
    }
    let mut table = lock_interner();
    if let Some(&id) = table.origin_ids.get(&pair) {
        return Some(id);
    }
    let id = u32::try_from(table.origins.len()).ok()?;
    table.origins.push(pair);
    table.origin_ids.insert(pair, id);
    Some(id)
}

/// Returns the file and the location of a pair by its number.
pub(crate) fn origin(id: u32) -> (FileId, Loc) {
    let table = LOC_INTERNER.read().unwrap_or_else(PoisonError::into_inner);
    table.origins.get(id as usize).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> Loc {
        Loc::new(LocKind::Name { name, child: Loc::UNKNOWN })
    }

    #[test]
    fn equal_locations_are_one() {
        assert_eq!(named("a"), named("a"));
        assert_ne!(named("a"), named("b"));
        let fused = |locs: &[Loc]| Loc::new(LocKind::Fused { metadata: "", locs });
        assert_eq!(fused(&[named("a"), named("b")]), fused(&[named("a"), named("b")]));
        assert_eq!(fused(&[named("a")]), named("a"));
        assert_eq!(fused(&[]), Loc::UNKNOWN);
        assert_eq!(Loc::new(LocKind::Unknown), Loc::default());
    }

    #[test]
    fn scopes_join_the_names_of_calls() {
        let scope = |names: &[&str]| {
            let loc =
                names.iter().rev().fold(Loc::UNKNOWN, |loc, name| loc.called_from(named(name)));
            loc.scope()
        };
        assert_eq!(scope(&[]), None);
        assert_eq!(scope(&["f/g"]).as_deref(), Some("f/g"));
        assert_eq!(scope(&["f/g", "max"]).as_deref(), Some("f/g/max"));
        assert_eq!(scope(&["f/g", "g/max"]).as_deref(), Some("f/g/max"));
        assert_eq!(scope(&["f/g", "f/g/max"]).as_deref(), Some("f/g/max"));
        assert_eq!(scope(&["f/g", "f/gh/max"]).as_deref(), Some("f/g/f/gh/max"));
        assert_eq!(scope(&["a", "b", "c"]).as_deref(), Some("a/b/c"));
        let file = Loc::new(LocKind::File { file: "a.py".into(), range: [1, 2, 1, 2] });
        assert_eq!(file.scope(), None);
        assert_eq!(file.called_from(named("f")).scope().as_deref(), Some("f"));
        let fused =
            Loc::new(LocKind::Fused { metadata: "", locs: &[file, named("x"), named("y")] });
        assert_eq!(fused.scope().as_deref(), Some("x"));
    }

    #[test]
    fn deep_and_shared_locations_are_shown_in_bounded_time() {
        let mut deep = named("leaf");
        let mut shared = named("leaf");
        for _ in 0..100_000 {
            deep = deep.called_from(named("f"));
            shared = Loc::new(LocKind::Fused { metadata: "", locs: &[shared, shared] });
        }
        assert!(deep.scope().is_some());
        assert!(deep.to_string().ends_with('"') || deep.to_string().contains("..."));
        assert!(shared.to_string().len() < 1 << 20);
        assert_eq!(shared.scope(), None);
    }
}
