//! The rule language: named lines of algebra.

mod ast;
mod check;
mod condition;
mod lexer;
mod parse;
mod right;
mod vocabulary;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use sapwood_ptir::{Name, Registry};
use sapwood_rewrite::FloatMode;
use sapwood_types::{Diagnostic, Diagnostics, Source, Span};

pub use condition::Condition;
pub(crate) use condition::Term;
pub(crate) use right::{NewOp, NewOperand, NewValue, Right, attr_of};
pub use vocabulary::{Argument, Asked, AttrFunction, Kind, Predicate, Vocabulary};

use crate::graph::{OpIx, PatternGraph, Plan};

/// A rule: a pattern and, unless it is only to be found, what takes its place.
#[derive(Clone)]
pub struct Rule {
    name: Name,
    doc: String,
    span: Span,
    floats: FloatMode,
    pub(crate) root: OpIx,
    pub(crate) plan: Plan,
    pub(crate) hops: u8,
    pub(crate) pattern: PatternGraph,
    pub(crate) right: Option<Right>,
    /// How often a search for it was given up; shared by its copies.
    pub(crate) given_up: Arc<AtomicUsize>,
}

impl Rule {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name.as_str()
    }

    /// The comment before it.
    #[must_use]
    pub fn doc(&self) -> &str {
        &self.doc
    }

    /// Where it was written.
    #[must_use]
    pub fn span(&self) -> Span {
        self.span
    }

    /// What may change about floats for it to be used on them.
    #[must_use]
    pub fn floats(&self) -> FloatMode {
        self.floats
    }

    /// Its left side.
    #[must_use]
    pub fn pattern(&self) -> &PatternGraph {
        &self.pattern
    }

    /// Its left side, to be found or extracted.
    #[must_use]
    pub fn into_pattern(self) -> PatternGraph {
        self.pattern
    }

    /// How often it was not tried to the end because that took too many steps.
    #[must_use]
    pub fn given_up(&self) -> usize {
        self.given_up.load(Ordering::Relaxed)
    }

    /// Whether it says what takes the place of a match.
    #[must_use]
    pub fn rewrites(&self) -> bool {
        self.right.is_some()
    }
}

impl std::fmt::Debug for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Rule({})", self.name)
    }
}

/// Reads rules.
///
/// ```
/// use sapwood_ptir::Registry;
/// use sapwood_rules::{Vocabulary, rules_from};
/// use sapwood_types::Source;
///
/// let text = "rule transpose_of_transpose:
///   transpose(transpose(x, perm = p), perm = q) => transpose(x, perm = compose(p, q))";
/// let rules = rules_from(&Source::new("r.rules", text), &Registry::builtin(), &Vocabulary::builtin())?;
/// assert_eq!(rules[0].name(), "transpose_of_transpose");
///
/// let wrong = Source::new("w.rules", "rule w: add(x, y) => add(x, z)");
/// let problems = rules_from(&wrong, &Registry::builtin(), &Vocabulary::builtin()).unwrap_err();
/// assert!(problems.to_string().contains("w.rules:1:29: error: `z` is not bound"));
/// # Ok::<(), sapwood_types::Diagnostics>(())
/// ```
///
/// # Errors
/// With everything that is wrong, and where.
pub fn rules_from(
    source: &Source,
    registry: &Registry,
    words: &Vocabulary,
) -> Result<Vec<Rule>, Diagnostics> {
    let mut problems = Diagnostics::new();
    let texts = parse::parse(source, &mut problems);
    let mut rules: Vec<Rule> = Vec::new();
    for text in &texts {
        if let Some(first) = rules.iter().find(|r| r.name() == text.name.of) {
            let message = format!("rule `{}` is defined twice", text.name.of);
            let twice = Diagnostic::error(text.name.span, message);
            problems.push(twice.with_note_at(first.pattern.span, "here first"));
            continue;
        }
        // What is wrong with one rule says nothing about the others.
        let mut own = Diagnostics::new();
        rules.extend(check::check(text, registry, words, &mut own));
        problems.append(own);
    }
    if texts.is_empty() && !problems.has_errors() {
        problems.error(source.span(0..source.text().len().min(1)), "there is no rule");
    }
    problems.sort();
    problems.into_result(rules)
}
