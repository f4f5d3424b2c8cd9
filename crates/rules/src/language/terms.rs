//! Resolution of conditions, and of the values and attributes in them.

use std::cmp::Ordering;
use std::sync::Arc;

use sapwood_ptir::{Attr, AttrKind};
use sapwood_types::{DataType, Diagnostic, counted, did_you_mean};

use super::ast::{AttrExpr, ConditionText, RuleText, Word};
use super::condition::{Condition, Term};
use super::resolve::{NameMeaning, Reported, RuleResolver};
use super::vocabulary::{ArgumentKind, Predicate, WordPlace};

impl RuleResolver<'_> {
    /// Resolves the conditions of a rule.
    pub(super) fn conditions(&mut self, text: &RuleText) {
        for condition in &text.conditions {
            if let Ok(condition) = self.condition(condition) {
                self.graph.conditions.push(condition);
            }
        }
        self.check_conditions();
        self.check_types_of_left_side();
    }

    fn condition(&mut self, text: &ConditionText) -> Result<Condition, Reported> {
        let comparison = comparison(&text.name.of);
        let known = self.words.predicates.get(&text.name.of).cloned();
        let Some(predicate) = comparison.or(known) else {
            let names = self.words.predicates.keys().map(String::as_str);
            let help = match did_you_mean(&text.name.of, names.clone()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there are: {}", names.collect::<Vec<_>>().join(", ")),
            };
            let why = format!("unknown predicate `{}`", text.name.of);
            self.problems.push(Diagnostic::error(text.name.span, why).with_help(help));
            return Err(Reported);
        };
        let arguments = self.arguments(&text.name, &predicate.params, &text.arguments)?;
        self.check_bound_together(text)?;
        let place = WordPlace { rule: self.graph.name, span: text.name.span };
        Ok(Condition { predicate, arguments, not: text.not, text: text.text.clone(), place })
    }

    /// Resolves the arguments of a word and checks their number and kinds.
    pub(super) fn arguments(
        &mut self,
        word: &Word,
        params: &[ArgumentKind],
        given: &[AttrExpr],
    ) -> Result<Vec<Term>, Reported> {
        if params.len() != given.len() {
            let (wanted, found) = (params.len(), given.len());
            let wanted = counted(wanted, "argument");
            let why = format!("`{}` takes {wanted}, found {found}", word.of);
            return Err(self.report(word.span, why));
        }
        params.iter().zip(given).map(|(&kind, arg)| self.term(kind, arg)).collect()
    }

    /// Resolves a value, list or attribute where one of this kind is expected.
    pub(super) fn term(&mut self, wanted: ArgumentKind, arg: &AttrExpr) -> Result<Term, Reported> {
        let (term, kind) = match arg {
            AttrExpr::Literal(literal) => {
                (Term::Attr(literal.of.clone()), ArgumentKind::of_attr(&literal.of))
            }
            AttrExpr::Call(word, given) => {
                let Some(function) = self.words.functions.get(&word.of).cloned() else {
                    let names = self.words.functions.keys().map(String::as_str);
                    let help = match did_you_mean(&word.of, names.clone()) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => format!("there are: {}", names.collect::<Vec<_>>().join(", ")),
                    };
                    let why = format!("unknown function `{}`", word.of);
                    self.problems.push(Diagnostic::error(word.span, why).with_help(help));
                    return Err(Reported);
                };
                let arguments = self.arguments(word, &function.params, given)?;
                let gives = function.gives;
                let place = WordPlace { rule: self.graph.name, span: word.span };
                (Term::Function(function, arguments, place), gives)
            }
            AttrExpr::List(items, _) => {
                let items = items.iter().map(|item| self.term(ArgumentKind::Int, item));
                (Term::List(items.collect::<Result<_, _>>()?), ArgumentKind::Ints)
            }
            AttrExpr::Name(word) => match self.meaning_of(word) {
                Some(NameMeaning::Value(value)) if wanted == ArgumentKind::Number => {
                    if !self.graph.is_literal(value) {
                        let why = format!("`{}` is not a constant; write `const {0}`", word.of);
                        return Err(self.report(word.span, why));
                    }
                    (Term::Value(value), ArgumentKind::Number)
                }
                Some(NameMeaning::Value(value)) => (Term::Value(value), ArgumentKind::Value),
                Some(NameMeaning::List(list)) => (Term::Values(list), ArgumentKind::Values),
                Some(NameMeaning::Capture(capture)) => {
                    (Term::Capture(capture), self.kinds[capture])
                }
                Some(NameMeaning::Dim(name)) => (Term::Dim(name), ArgumentKind::Int),
                // An op stands for its result.
                Some(NameMeaning::Op(op)) => {
                    (Term::Value(self.result(op, 0, word.span)?), ArgumentKind::Value)
                }
                None => match word.of.parse::<DataType>() {
                    Ok(dtype)
                        if matches!(
                            wanted,
                            ArgumentKind::Dtype | ArgumentKind::Attr | ArgumentKind::Any
                        ) =>
                    {
                        (Term::Attr(Attr::Type(dtype)), ArgumentKind::Dtype)
                    }
                    _ if wanted == ArgumentKind::Dtype => {
                        return Err(self.report_unknown_word(word, AttrKind::Type));
                    }
                    _ => return Err(self.report_unbound(word)),
                },
            },
        };
        let attr = |k: ArgumentKind| !matches!(k, ArgumentKind::Value | ArgumentKind::Values);
        let is_number = matches!(kind, ArgumentKind::Int | ArgumentKind::Number)
            || matches!(&term, Term::Attr(Attr::Float(_)))
            || (kind == ArgumentKind::Attr && !matches!(term, Term::Attr(_)));
        let fits = kind == wanted
            || wanted == ArgumentKind::Any
            || (wanted == ArgumentKind::Number && is_number)
            || (wanted == ArgumentKind::Attr && attr(kind))
            || (kind == ArgumentKind::Attr
                && attr(wanted)
                && wanted != ArgumentKind::Number
                // The kind of a literal is known.
                && !matches!(&term, Term::Attr(literal) if literal.as_ints().is_none_or(|l| !l.is_empty())));
        if !fits {
            let why = format!("expected {}, found {}", wanted.describe(), kind.describe());
            return Err(self.report(arg.span(), why));
        }
        Ok(term)
    }

    pub(super) fn report_unbound(&mut self, word: &Word) -> Reported {
        let mut names: Vec<&str> = self.names.keys().map(String::as_str).collect();
        names.sort_unstable();
        let help = match did_you_mean(&word.of, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the left side binds {}", names.join(", ")),
        };
        let problem = Diagnostic::error(word.span, format!("`{}` is not bound", word.of));
        self.problems.push(problem.with_help(help));
        Reported
    }

    /// Reports a word that is neither bound nor an attribute of this kind.
    pub(super) fn report_unknown_word(&mut self, word: &Word, kind: AttrKind) -> Reported {
        let why = format!("`{}` is not {}, and not bound", word.of, kind.describe());
        let problem = Diagnostic::error(word.span, why);
        self.problems.push(match closest_word(&word.of, kind) {
            Some(near) => problem.with_help(format!("did you mean `{near}`?")),
            None => problem,
        });
        Reported
    }
}

// Returns the predicate of a comparison; `None` if the name is not an operator.
fn comparison(operator: &str) -> Option<Arc<Predicate>> {
    let holds: fn(Ordering) -> bool = match operator {
        "<" => Ordering::is_lt,
        "<=" => Ordering::is_le,
        ">" => Ordering::is_gt,
        ">=" => Ordering::is_ge,
        "==" => Ordering::is_eq,
        "!=" => Ordering::is_ne,
        _ => return None,
    };
    Some(Arc::new(Predicate {
        name: operator.into(),
        params: vec![ArgumentKind::Number; 2],
        doc: "compares numbers, element by element".into(),
        check: Box::new(move |a| {
            // A comparison with NaN is not known.
            a.numbers(0)?.all(a.numbers(1)?, |x, y| Some(holds(x.compare(y)?)))
        }),
    }))
}

/// Returns the word that was probably meant where this kind is expected.
pub(super) fn closest_word(word: &str, kind: AttrKind) -> Option<&'static str> {
    match kind {
        AttrKind::Word(words) => did_you_mean(word, words.iter().copied()),
        AttrKind::Type => did_you_mean(word, DataType::ALL.iter().map(|t| t.short_name())),
        _ => None,
    }
}
