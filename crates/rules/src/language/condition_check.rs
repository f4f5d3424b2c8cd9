//! Conditions that never hold, or hold whatever is matched.

use sapwood_ptir::Attr;
use sapwood_types::{DataType, Diagnostic, Span};

use super::condition::{Condition, Term};
use super::resolve::RuleResolver;
use crate::graph::ValueIx;

/// The reason, the place of another condition, and the correction.
type Reason = (String, Option<Span>, &'static str);

/// The predicates on the element type of a value.
pub(super) const ON_ELEMENTS: [&str; 6] =
    ["bool", "complex", "dtype", "float", "integer", "signed"];

/// The predicates that depend on nothing but their arguments.
const OF_ARGUMENTS: [&str; 13] = [
    "!=",
    "<",
    "<=",
    "==",
    ">",
    ">=",
    "approx",
    "contains",
    "disjoint",
    "equal",
    "identity",
    "increasing",
    "less",
];

impl RuleResolver<'_> {
    /// Reports conditions without names, and those that contradict each other.
    pub(super) fn check_conditions(&mut self) {
        let mut found: Vec<Diagnostic> = Vec::new();
        for (n, condition) in self.graph.conditions.iter().enumerate() {
            let span = condition.span();
            let before = &self.graph.conditions[..n];
            let why = condition.alone().or_else(|| {
                let other = before.iter().find(|other| condition.excludes(other))?;
                let why = format!("`{}` contradicts `{}`", condition.text, other.text);
                Some((why, Some(other.span()), "leave one of them out"))
            });
            let why = why.or_else(|| self.wrong_elements(n));
            let Some((why, other, help)) = why else { continue };
            let mut problem = Diagnostic::error(span, why);
            if let Some(other) = other {
                problem = problem.with_note_at(other, "the other condition");
            }
            found.push(problem.with_help(help));
        }
        for problem in found {
            self.problems.push(problem);
        }
    }

    // Returns why no element type satisfies a condition together with those before it and the type of its value.
    fn wrong_elements(&self, number: usize) -> Option<Reason> {
        let condition = &self.graph.conditions[number];
        let value = condition.on_elements()?;
        let data = &self.graph.values[value];
        let of_type = data.shape.as_ref().and_then(|shape| shape.dtype);
        let others: Vec<&Condition> = self.graph.conditions[..number]
            .iter()
            .filter(|other| other.on_elements() == Some(value))
            .collect();
        let possible = |dtype: &DataType| {
            of_type.is_none_or(|own| own == *dtype)
                && others.iter().all(|other| other.may_have(*dtype))
        };
        let before: Vec<DataType> = DataType::ALL.into_iter().filter(possible).collect();
        if before.is_empty() || before.iter().any(|&dtype| condition.may_have(dtype)) {
            return None;
        }
        let (text, help) = (condition.text(), "no element type satisfies both");
        Some(match (of_type, others.last()) {
            (Some(dtype), _) => {
                (format!("`{text}` does not hold, since `{}` is {dtype}", data.name), None, help)
            }
            (None, Some(other)) => {
                (format!("`{text}` contradicts `{}`", other.text()), Some(other.span()), help)
            }
            (None, None) => return None,
        })
    }
}

impl Condition {
    // Returns the value whose element type the condition is about.
    fn on_elements(&self) -> Option<ValueIx> {
        match self.arguments.first()? {
            Term::Value(value) if ON_ELEMENTS.contains(&&*self.predicate.name) => Some(*value),
            _ => None,
        }
    }

    // Returns why the condition never holds, or holds always.
    fn alone(&self) -> Option<Reason> {
        let text = self.text();
        let of_arguments = OF_ARGUMENTS.contains(&&*self.predicate.name);
        if of_arguments && self.named().is_empty() {
            let why = format!("`{text}` names nothing of the pattern");
            return Some((why, None, "name a value, an attribute, a constant or a dim"));
        }
        let number = |n: usize| match self.arguments.get(n)? {
            Term::Attr(Attr::Int(n)) => Some(*n as f64),
            Term::Attr(Attr::Float(x)) => Some(x.get()),
            _ => None,
        };
        let (name, second) = (&*self.predicate.name, number(1));
        if let ("rank" | "count", Some(n)) = (name, second)
            && n < 0.0
        {
            let what = if name == "rank" { "a rank" } else { "a number of values" };
            return Some((format!("{n} is not {what}"), None, "it must be zero or more"));
        }
        if let ("approx", Some(t)) = (name, number(2))
            && (t.is_nan() || t < 0.0 || t.is_infinite())
        {
            let why = format!("the tolerance of `{text}` is {t}");
            return Some((why, None, "a tolerance is a number that is zero or more, such as 1e-3"));
        }
        let list = self.arguments.iter().find_map(|term| match term {
            Term::Attr(attr) => attr.as_ints(),
            _ => None,
        });
        if let ("repeated" | "restores", Some(axis)) =
            (name, list.and_then(|axes| axes.iter().find(|&&axis| axis < 0)))
        {
            let why = format!("`{text}` has the axis {axis}");
            return Some((why, None, "axes in conditions count from the start"));
        }
        let [left, right] = &self.arguments[..] else { return None };
        // `c == c` holds for all constants without NaN.
        if left.is_name_of(right)
            && matches!((name, self.not), ("<" | ">" | "!=", false) | ("==" | "<=" | ">=", true))
        {
            let why = format!("`{text}` never holds: it compares a name with itself");
            return Some((why, None, "compare it with something else, or leave it out"));
        }
        let operator = self.comparison()?;
        // A dim is zero or more.
        let (low, high) = self.range()?;
        let is_dim = matches!((left, right), (Term::Dim(_), _) | (_, Term::Dim(_)));
        let never = low > high || is_dim && high < 0.0;
        (never || operator == "==" && low.is_nan())
            .then(|| (format!("`{text}` never holds"), None, "a dim is zero or more"))
    }

    // Returns the operator, if the condition is a comparison that must hold.
    fn comparison(&self) -> Option<&str> {
        let name = &*self.predicate.name;
        ["<", "<=", ">", ">=", "=="].contains(&name).then_some(name).filter(|_| !self.not)
    }

    // Returns the numbers between which a comparison requires the one name in it to be. Bounds that are excluded are moved a little.
    fn range(&self) -> Option<(f64, f64)> {
        let operator = self.comparison()?;
        let number = |term: &Term| match term {
            // Larger integers are rounded.
            Term::Attr(Attr::Int(n)) if n.unsigned_abs() < 1 << 53 => Some(*n as f64),
            Term::Attr(Attr::Float(x)) => Some(x.get()),
            _ => None,
        };
        let [left, right] = &self.arguments[..] else { return None };
        let (operator, bound) = match (number(left), number(right)) {
            (None, Some(n)) => (operator, n),
            (Some(n), None) => {
                let turned = match operator {
                    "<" => ">",
                    "<=" => ">=",
                    ">" => "<",
                    ">=" => "<=",
                    other => other,
                };
                (turned, n)
            }
            _ => return None,
        };
        let (least, most) = (f64::NEG_INFINITY, f64::INFINITY);
        Some(match operator {
            "<" => (least, bound.next_down()),
            "<=" => (least, bound),
            ">" => (bound.next_up(), most),
            ">=" => (bound, most),
            _ => (bound, bound),
        })
    }

    // Returns whether two conditions never hold together.
    fn excludes(&self, other: &Self) -> bool {
        let bare = |condition: &Self| match condition.text.strip_prefix("not ") {
            Some(rest) => rest.to_owned(),
            None => condition.text.clone(),
        };
        if self.not != other.not && bare(self) == bare(other) {
            return true;
        }
        let one_name = |condition: &Self| match &condition.named()[..] {
            [only] => Some((*only).clone()),
            _ => None,
        };
        let same = one_name(self).zip(one_name(other)).is_some_and(|(a, b)| a.is_name_of(&b));
        let bare_name = |condition: &Self| {
            condition
                .arguments
                .iter()
                .any(|term| matches!(term, Term::Dim(_) | Term::Value(_) | Term::Capture(_)))
        };
        if !same || !bare_name(self) || !bare_name(other) {
            return false;
        }
        match (self.range(), other.range()) {
            (Some((a, b)), Some((c, d))) => a.max(c) > b.min(d),
            _ => false,
        }
    }
}

impl Term {
    // Returns whether both are the same name.
    fn is_name_of(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Value(a), Self::Value(b)) => a == b,
            (Self::Capture(a), Self::Capture(b)) => a == b,
            (Self::Dim(a), Self::Dim(b)) => a == b,
            _ => false,
        }
    }
}
