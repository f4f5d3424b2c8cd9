//! The dims of a reshape: both sides have the same number of elements.

use std::collections::BTreeMap;

use super::dim_classes::{DimClasses, DimConflict};

/// The largest number whose prime factors are looked for.
const MAX_FACTORED: u64 = 1 << 40;

/// Checks that two shapes can have the same number of elements, and gives a dim its number if that follows.
pub(super) fn reshape_dims(
    dims: &mut DimClasses,
    from: &[usize],
    to: &[usize],
) -> Result<(), DimConflict> {
    let (Some((m, left)), Some((n, right))) = (product(dims, from), product(dims, to)) else {
        return Ok(());
    };
    let (total, part, unknown) = match (left.is_empty(), right.is_empty()) {
        (true, true) if m == n => return Ok(()),
        (true, true) => {
            return Err(DimConflict(format!("`reshape` cannot turn {} into {n}", elements(m))));
        }
        (true, false) => (m, n, right),
        (false, true) => (n, m, left),
        // There are solutions: a dim of each side may be zero, or one may be a multiple of the other side.
        (false, false) => return Ok(()),
    };
    // A dim that is zero makes any other possible.
    if total == 0 {
        return match part {
            0 => Ok(()),
            _ => match &unknown.keys().copied().collect::<Vec<_>>()[..] {
                [only] => dims.set(*only, 0),
                _ => Ok(()),
            },
        };
    }
    let none = |dims: &DimClasses| {
        let side = if right_is_total(dims, to) { from } else { to };
        let shown: Vec<String> = side.iter().map(|&dim| dims.shown(dim)).collect();
        DimConflict(format!(
            "`reshape` cannot have {} in [{}], whatever the dims are",
            elements(total),
            shown.join(", ")
        ))
    };
    if part == 0 || total % part != 0 {
        return Err(none(dims));
    }
    let rest = total / part;
    let powers: Vec<u32> = unknown.values().copied().collect();
    if powers.contains(&1) {
        return match unknown.keys().copied().collect::<Vec<_>>()[..] {
            [only] => dims.set(only, rest),
            _ => Ok(()),
        };
    }
    let Some(factors) = prime_factors(rest) else { return Ok(()) };
    if !factors.iter().all(|&(_, count)| is_sum_of(count, &powers)) {
        return Err(none(dims));
    }
    match unknown.iter().collect::<Vec<_>>()[..] {
        [(&only, &power)] => {
            let root = factors.iter().map(|&(prime, count)| prime.pow(count / power)).product();
            dims.set(only, root)
        }
        _ => Ok(()),
    }
}

fn right_is_total(dims: &DimClasses, to: &[usize]) -> bool {
    to.iter().all(|&dim| dims.number(dim).is_some())
}

fn elements(count: u64) -> String {
    sapwood_types::counted(count as usize, "element").to_string()
}

// Returns the product of the known dims, and how often each other dim occurs; none if the product is too large.
fn product(dims: &DimClasses, shape: &[usize]) -> Option<(u64, BTreeMap<usize, u32>)> {
    let (mut known, mut unknown) = (1u64, BTreeMap::new());
    for &dim in shape {
        match dims.number(dim) {
            Some(n) => known = known.checked_mul(n)?,
            None => *unknown.entry(dims.find(dim)).or_insert(0) += 1,
        }
    }
    Some((known, unknown))
}

// Returns the prime factors of a number with their counts; none if it is too large.
fn prime_factors(mut number: u64) -> Option<Vec<(u64, u32)>> {
    if number > MAX_FACTORED {
        return None;
    }
    let mut factors = Vec::new();
    let mut prime = 2;
    while prime * prime <= number {
        let mut count = 0;
        while number.is_multiple_of(prime) {
            number /= prime;
            count += 1;
        }
        if count > 0 {
            factors.push((prime, count));
        }
        prime += 1;
    }
    if number > 1 {
        factors.push((number, 1));
    }
    Some(factors)
}

// Returns whether a number is a sum of these, each any number of times.
fn is_sum_of(number: u32, parts: &[u32]) -> bool {
    let mut sums = vec![true];
    for sum in 1..=number {
        let reached = parts.iter().any(|&part| part <= sum && sums[(sum - part) as usize]);
        sums.push(reached);
    }
    sums[number as usize]
}
