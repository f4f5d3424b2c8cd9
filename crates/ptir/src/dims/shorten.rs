//! The shortest reading of a sum: `mod`, `min` and `max` found again in the terms of the normal form.

use super::expr::Sum;
use super::monomial::{Atom, Monomial};

/// A call that text has and the normal form does not.
pub(super) enum Call {
    Mod(Sum, i64),
    Max(Sum, Sum),
    Min(Sum, Sum),
}

/// Returns calls with their coefficients and further factors, and the rest of the sum. Together they are the sum.
///
/// A call is found only if it makes the sum shorter, so that each call removes a term at least.
pub(super) fn shorten(sum: &Sum) -> (Vec<(i64, Call, Monomial)>, Sum) {
    let (mut calls, mut rest) = (Vec::new(), sum.clone());
    let mut index = 0;
    while let Some(term) = rest.terms.get(index) {
        let found = (0..term.factors.len()).find_map(|position| {
            if let Atom::Symbol(_) = term.factors[position] {
                return None;
            }
            let (atom, others) = (term.factors[position], term.factors.without(position)?);
            let (coefficient, call, shorter) = shorten_term(&rest, term.coefficient, atom, others)?;
            Some(((coefficient, call, others), shorter))
        });
        match found {
            Some((call, shorter)) => {
                calls.push(call);
                rest = shorter;
                index = 0;
            }
            None => index += 1,
        }
    }
    (calls, rest)
}

// Tries to read the term `coefficient * atom * others` of a sum as part of a call. Returns the rest of the sum.
fn shorten_term(
    sum: &Sum,
    coefficient: i64,
    atom: Atom,
    others: Monomial,
) -> Option<(i64, Call, Sum)> {
    let term = Sum::atom(atom)?.times_term(coefficient, others)?;
    let without = sum.plus(&term, -1)?;
    // Returns the rest of the sum if a part is moved into a call, and this makes the sum shorter.
    let rest = |part: &Sum, scale: i64| {
        let rest = without.plus(&part.times_term(scale, others)?, -1)?;
        (rest.len() + 1 < sum.len()).then_some(rest)
    };
    match atom {
        Atom::Symbol(_) => None,
        // `text_has_mod`: -m*d*floordiv(e, d) = m*mod(e, d) - m*e
        Atom::FloorDiv(inner, divisor) => {
            let times = (coefficient % divisor == 0).then(|| (coefficient / divisor).checked_neg());
            let times = times??;
            let rest = rest(inner.sum(), times)?;
            Some((times, Call::Mod(inner.sum().clone(), divisor), rest))
        }
        // `text_has_max`: with e = p - n, max(e, 0) = max(p, n) - n
        // `text_has_min`: with e = p - n, max(e, 0) = p - min(p, n)
        Atom::Positive(inner) => {
            let (p, n) = split_by_sign(inner.sum())?;
            let as_max = rest(&n, coefficient);
            let as_min = coefficient.checked_neg().and_then(|c| Some((c, rest(&p, c)?)));
            match (as_max, as_min) {
                (Some(max), Some((_, min))) if max.len() <= min.len() => {
                    Some((coefficient, Call::Max(p, n), max))
                }
                (_, Some((negated, min))) => Some((negated, Call::Min(p, n), min)),
                (Some(max), None) => Some((coefficient, Call::Max(p, n), max)),
                (None, None) => None,
            }
        }
    }
}

// Splits a sum into the terms with positive and the negated terms with negative coefficients.
fn split_by_sign(sum: &Sum) -> Option<(Sum, Sum)> {
    let mut positive = sum.clone();
    positive.terms.retain(|term| term.coefficient > 0);
    positive.constant = positive.constant.max(0);
    let negative = positive.plus(sum, -1)?;
    Some((positive, negative))
}
