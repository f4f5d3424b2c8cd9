//! Which calls a call of a pattern stands for.

use std::cell::{Cell, RefCell};

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::{Name, Program};

use super::PatternGraph;

/// How deep instances may be made of instances.
const MAX_DEPTH: usize = 64;

/// Whether a function is what a pattern calls, and who says so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fit {
    No,
    /// It was extracted by the pattern, or its body is the pattern.
    Instance,
    /// Its name says so, and nothing else does.
    ByName,
}

/// Answers for one program and the patterns that are loaded.
pub(crate) struct Callees<'a> {
    pub(crate) program: &'a Program,
    pub(crate) patterns: &'a [PatternGraph],
    known: RefCell<HashMap<(Name, Name), Fit, FxBuildHasher>>,
    depth: Cell<usize>,
}

impl<'a> Callees<'a> {
    pub(crate) fn new(program: &'a Program, patterns: &'a [PatternGraph]) -> Self {
        Self { program, patterns, known: RefCell::default(), depth: Cell::new(0) }
    }

    /// Whether a call of `found` is a call of `wanted`.
    pub(crate) fn fit(&self, wanted: Name, found: Name) -> Fit {
        if let Some(&fit) = self.known.borrow().get(&(wanted, found)) {
            return fit;
        }
        let fit = self.decide(wanted, found);
        self.known.borrow_mut().insert((wanted, found), fit);
        fit
    }

    fn decide(&self, wanted: Name, found: Name) -> Fit {
        let f = self.program.function(found);
        if let Some(from) = f.and_then(|f| f.extracted_from()) {
            return if from == wanted { Fit::Instance } else { Fit::No };
        }
        if !is_numbered(wanted.as_str(), found.as_str()) {
            return Fit::No;
        }
        let pattern = self.patterns.iter().position(|p| p.name == wanted);
        let (Some(pattern), Some(f)) = (pattern, f) else { return Fit::ByName };
        if self.depth.get() >= MAX_DEPTH {
            return Fit::No;
        }
        self.depth.set(self.depth.get() + 1);
        let instance = crate::matcher::is_instance(self, pattern, f);
        self.depth.set(self.depth.get() - 1);
        if instance { Fit::Instance } else { Fit::No }
    }
}

/// Whether a name is another or that with a number behind: `foo`, `foo_0`. `foo_bar` is no `foo`.
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
