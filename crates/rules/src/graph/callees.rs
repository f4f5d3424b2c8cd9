//! Matching of calls: the functions that a call in a pattern stands for.

use std::cell::{Cell, RefCell};

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::{Name, Program};

use super::PatternGraph;

/// The deepest nesting of patterns that call other patterns.
const MAX_DEPTH: usize = 64;

/// The result of matching a function with the callee of a pattern.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CalleeMatch {
    No,
    /// The function was extracted by the pattern, or its body is the pattern.
    Instance,
    /// Only the name of the function matches.
    ByName,
}

/// A cache of callee matches for one program and the loaded patterns.
pub(crate) struct Callees<'a> {
    pub(crate) program: &'a Program,
    pub(crate) patterns: &'a [PatternGraph],
    known: RefCell<HashMap<(Name, Name), CalleeMatch, FxBuildHasher>>,
    depth: Cell<usize>,
}

impl<'a> Callees<'a> {
    pub(crate) fn new(program: &'a Program, patterns: &'a [PatternGraph]) -> Self {
        Self { program, patterns, known: RefCell::default(), depth: Cell::new(0) }
    }

    /// Returns whether a call of `found` matches a call of `wanted`.
    pub(crate) fn fit(&self, wanted: Name, found: Name) -> CalleeMatch {
        if let Some(&fit) = self.known.borrow().get(&(wanted, found)) {
            return fit;
        }
        let fit = self.decide(wanted, found);
        self.known.borrow_mut().insert((wanted, found), fit);
        fit
    }

    fn decide(&self, wanted: Name, found: Name) -> CalleeMatch {
        let f = self.program.function(found);
        if let Some(from) = f.and_then(|f| f.extracted_from()) {
            return if from == wanted { CalleeMatch::Instance } else { CalleeMatch::No };
        }
        if !is_numbered(wanted.as_str(), found.as_str()) {
            return CalleeMatch::No;
        }
        let pattern = self.patterns.iter().position(|p| p.name == wanted);
        let (Some(pattern), Some(f)) = (pattern, f) else { return CalleeMatch::ByName };
        if self.depth.get() >= MAX_DEPTH {
            return CalleeMatch::No;
        }
        self.depth.set(self.depth.get() + 1);
        let instance = crate::matcher::is_instance(self, pattern, f);
        self.depth.set(self.depth.get() - 1);
        if instance { CalleeMatch::Instance } else { CalleeMatch::No }
    }
}

/// Returns whether `found` is `wanted`, or `wanted` with a number appended: `foo`, `foo_0`, but not `foo_bar`.
pub(crate) fn is_numbered(wanted: &str, found: &str) -> bool {
    match found.strip_prefix(wanted) {
        Some("") => true,
        Some(rest) => rest
            .strip_prefix('_')
            .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::is_numbered;

    #[test]
    fn names_with_numbers_are_instances() {
        for (found, fits) in [
            ("transpose_mul", true),
            ("transpose_mul_0", true),
            ("transpose_mul_12", true),
            ("transpose_mul_add", false),
            ("transpose_mul_", false),
            ("transpose_mul0", false),
            ("foo_0", false),
        ] {
            assert_eq!(is_numbered("transpose_mul", found), fits, "{found}");
        }
        assert!(is_numbered("foo_0", "foo_0") && is_numbered("foo_0", "foo_0_1"));
        assert!(!is_numbered("foo_0", "foo_1"));
    }
}
