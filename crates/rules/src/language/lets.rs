//! Resolution of the names that a left side binds by `let`, in order; patterns are not recursive.

use std::collections::BTreeMap;

use sapwood_types::Diagnostic;

use super::ast::{Expr, RuleText, Word};
use super::resolve::{NameMeaning, RuleResolver};

/// The largest number of names of one rule that are reported as used before their `let`.
const MAX_PROBLEMS: usize = 8;
/// The largest number of names of one rule whose way to themselves is looked for.
const MAX_WAYS: usize = 64;

impl RuleResolver<'_> {
    /// Resolves the `let` lines of the left side.
    pub(super) fn lets(&mut self, text: &RuleText) {
        let names = LetNames::new(text);
        // The lines of cycles that were reported.
        let mut reported = vec![false; text.left.lets.len()];
        let mut ways = 0;
        let mut problems = 0;
        for (n, (name, expr)) in text.left.lets.iter().enumerate() {
            let bound_before = self.names.contains_key(&name.of);
            let value = self.value(expr);
            let Some(first) = self.names.get(&name.of).map(|known| known.span) else {
                let Ok(value) = value else { continue };
                self.graph.values[value].name.clone_from(&name.of);
                self.bind_name(name, NameMeaning::Value(value), 0);
                if let Some(known) = self.names.get_mut(&name.of) {
                    known.shared = true;
                }
                continue;
            };
            if !bound_before {
                let why = format!("`{}` is used in its own definition", name.of);
                let problem = Diagnostic::error(first, why);
                self.problems.push(problem.with_help("patterns are not recursive"));
                continue;
            }
            let Some(user) = names.first_user(n) else {
                let twice = Diagnostic::error(name.span, format!("`{}` is defined twice", name.of));
                self.problems.push(twice.with_note_at(first, "here first"));
                continue;
            };
            if problems == MAX_PROBLEMS || ways == MAX_WAYS || reported[n] || reported[user] {
                continue;
            }
            ways += 1;
            let way = names.way(n, user);
            if way.iter().flatten().any(|&line| reported[line]) {
                continue;
            }
            let problem = match &way {
                Some(way) => {
                    let through: Vec<String> =
                        way[1..].iter().map(|&line| format!("`{}`", names.name(line))).collect();
                    let why = format!(
                        "`{}` is used in its own definition, through {}",
                        name.of,
                        through.join(", ")
                    );
                    Diagnostic::error(first, why).with_help("patterns are not recursive")
                }
                None => Diagnostic::error(first, format!("`{}` is used before its `let`", name.of))
                    .with_help("move the `let` to an earlier line"),
            };
            self.problems.push(problem.with_note_at(name.span, "defined here"));
            problems += 1;
            for line in way.into_iter().flatten() {
                reported[line] = true;
            }
        }
    }
}

/// The names that the `let` lines of a left side define and use.
struct LetNames<'t> {
    lines: Vec<(&'t Word, Vec<&'t str>)>,
    /// The first line that defines each name.
    defined: BTreeMap<&'t str, usize>,
    /// The first line that uses each name.
    used: BTreeMap<&'t str, usize>,
}

impl<'t> LetNames<'t> {
    fn new(text: &'t RuleText) -> Self {
        let lines = text.left.lets.iter().map(|(name, expr)| (name, names_in(expr)));
        let lines: Vec<(&Word, Vec<&str>)> = lines.collect();
        let (mut defined, mut used) = (BTreeMap::new(), BTreeMap::new());
        for (n, (name, names)) in lines.iter().enumerate() {
            defined.entry(&*name.of).or_insert(n);
            for name in names {
                used.entry(*name).or_insert(n);
            }
        }
        Self { lines, defined, used }
    }

    fn name(&self, line: usize) -> &'t str {
        &self.lines[line].0.of
    }

    // Returns the first line that uses the name of a line before it is defined; none if an earlier line defines it.
    fn first_user(&self, line: usize) -> Option<usize> {
        let name = self.name(line);
        let first = self.defined.get(name) == Some(&line);
        self.used.get(name).copied().filter(|&user| first && user < line)
    }

    // Returns the lines from one to another along the names that they use, both included.
    fn way(&self, from: usize, to: usize) -> Option<Vec<usize>> {
        let mut before: Vec<Option<usize>> = vec![None; self.lines.len()];
        let mut order = vec![from];
        let mut at = 0;
        while let Some(&line) = order.get(at).filter(|&&line| line != to) {
            at += 1;
            for next in self.lines[line].1.iter().filter_map(|name| self.defined.get(name)) {
                if *next != from && before[*next].is_none() {
                    before[*next] = Some(line);
                    order.push(*next);
                }
            }
        }
        order.get(at)?;
        let mut way: Vec<usize> = std::iter::successors(Some(to), |&line| before[line]).collect();
        way.reverse();
        Some(way)
    }
}

// Returns the names of values in an expression.
fn names_in(expr: &Expr) -> Vec<&str> {
    let (mut names, mut open) = (Vec::new(), vec![expr]);
    while let Some(expr) = open.pop() {
        match expr {
            Expr::Name(word) | Expr::Result(word, _) | Expr::Typed(word, _) => {
                names.push(&*word.of);
            }
            Expr::Op(op) => {
                open.extend(&op.operands);
                open.extend(op.regions.iter().flat_map(|region| &region.yields));
            }
            Expr::Alternatives(all, _) => open.extend(all),
            Expr::Number(_) | Expr::Rest(_) | Expr::Const(_) => {}
        }
    }
    names
}
