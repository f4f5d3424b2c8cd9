//! Suggestions for misspelled names.

use std::cmp::Reverse;

/// Names abbreviated than this are never suggested nor corrected; it bounds the work per candidate.
const MAX_NAME_CHARS: usize = 64;
/// The least number of characters that an abbreviation shares with the full name.
const MIN_ABBREVIATION_CHARS: usize = 3;

/// Returns the candidate closest to `name`, if it is close enough to be a likely typing error.
///
/// Close means: the same except for upper and lower case, or at most one edit (insert, delete, replace, swap
/// neighbours) per three characters of the longer of the two. Characters up to the last dot that both names
/// share, such as `stablehlo.`, do not count. If no candidate is that close, the one that `name` abbreviates is
/// suggested: it starts with all characters of `name`, or all but the last, and at least three. Among equally
/// close candidates the first wins, so the result depends only on the order given.
///
/// ```
/// use sapwood_types::did_you_mean;
///
/// assert_eq!(did_you_mean("reshpae", ["transpose", "reshape"]), Some("reshape"));
/// assert_eq!(did_you_mean("hlo.maxx", ["hlo.abs", "hlo.maximum"]), Some("hlo.maximum"));
/// assert_eq!(did_you_mean("xyz", ["transpose", "reshape"]), None);
/// ```
pub fn did_you_mean<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    closest(name, &mut candidates.into_iter())
}

// Apart from `did_you_mean`, so that it is compiled once and not for each caller.
fn closest<'a>(name: &str, candidates: &mut dyn Iterator<Item = &'a str>) -> Option<&'a str> {
    let name_chars = chars_if_short(name)?;
    let mut best: Option<(usize, &'a str)> = None;
    // The longest common start, and the shortest candidate among those that have it.
    let mut abbreviated: Option<((usize, Reverse<usize>), &'a str)> = None;
    for candidate in candidates {
        let Some(letters) = chars_if_short(candidate) else { continue };
        let common = name_chars.iter().zip(&letters).take_while(|(a, b)| a == b).count();
        let dialect = name_chars[..common].iter().rposition(|c| *c == '.').map_or(0, |dot| dot + 1);
        let (name, letters) = (&name_chars[dialect..], &letters[dialect..]);
        let common = common - dialect;
        if common >= MIN_ABBREVIATION_CHARS && common + 1 >= name.len() {
            let rank = (common, Reverse(letters.len()));
            if abbreviated.is_none_or(|(known, _)| rank > known) {
                abbreviated = Some((rank, candidate));
            }
        }
        let limit = (name.len().max(letters.len()) / 3).max(1);
        let limit = best.map_or(limit, |(distance, _)| limit.min(distance.saturating_sub(1)));
        let same_but_case = || {
            let lower = |s: &[char]| s.iter().flat_map(|c| c.to_lowercase()).collect::<String>();
            lower(name) == lower(letters)
        };
        let distance = if same_but_case() { 0 } else { edit_distance(name, letters) };
        // A candidate that shares nothing with the name ("f" for "i") is not a suggestion.
        if distance <= limit && distance < name.len().max(letters.len()) {
            best = Some((distance, candidate));
            if distance == 0 {
                break;
            }
        }
    }
    best.map(|(_, candidate)| candidate).or(abbreviated.map(|(_, candidate)| candidate))
}

/// Returns the characters of a name, if it is neither empty nor too long.
fn chars_if_short(name: &str) -> Option<Vec<char>> {
    let letters: Vec<char> = name.chars().take(MAX_NAME_CHARS + 1).collect();
    (1..=MAX_NAME_CHARS).contains(&letters.len()).then_some(letters)
}

/// Returns the optimal string alignment distance: Levenshtein plus swapping two neighbours.
fn edit_distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, &ca) in a.iter().enumerate() {
        let mut row = vec![i + 1; b.len() + 1];
        for (j, &cb) in b.iter().enumerate() {
            let replace = last[j] + usize::from(ca != cb);
            row[j + 1] = replace.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && ca == b[j - 1] && a[i - 1] == cb {
                row[j + 1] = row[j + 1].min(before[j - 1] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn str_distance(a: &str, b: &str) -> usize {
        edit_distance(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>())
    }

    #[test]
    fn edit_distances() {
        assert_eq!(str_distance("", "abc"), 3);
        assert_eq!(str_distance("abc", ""), 3);
        assert_eq!(str_distance("abc", "abc"), 0);
        assert_eq!(str_distance("abc", "acb"), 1);
        assert_eq!(str_distance("kitten", "sitting"), 3);
        assert_eq!(str_distance("größe", "grösse"), 2);
    }

    #[test]
    fn the_closest_wins_and_the_first_among_equals() {
        assert_eq!(did_you_mean("addd", ["sub", "add", "adds"]), Some("add"));
        assert_eq!(did_you_mean("adx", ["ada", "adb"]), Some("ada"));
        assert_eq!(did_you_mean("ADD", ["add", "adds"]), Some("add"));
    }

    #[test]
    fn nothing_close_means_nothing() {
        assert_eq!(did_you_mean("", ["add"]), None);
        assert_eq!(did_you_mean("add", [""]), None);
        assert_eq!(did_you_mean("i", ["f"]), None);
        assert_eq!(did_you_mean("completely", ["different"]), None);
        assert_eq!(did_you_mean("add", []), None);
    }

    #[test]
    fn a_common_dialect_does_not_make_names_close() {
        let ops = ["stablehlo.abs", "stablehlo.add", "stablehlo.and", "stablehlo.maximum"];
        assert_eq!(did_you_mean("stablehlo.maxx", ops), Some("stablehlo.maximum"));
        assert_eq!(did_you_mean("stablehlo.ad", ops), Some("stablehlo.add"));
        assert_eq!(did_you_mean("stablehlo.xyzzy", ops), None);
        assert_eq!(did_you_mean("stablhlo.add", ops), Some("stablehlo.add"));
        assert_eq!(did_you_mean("stablehlo.", ops), None);
    }

    #[test]
    fn an_abbreviation_means_the_shortest_name_that_starts_with_it() {
        let ops = ["exponential_minus_one", "exponential", "expm1", "multiply"];
        assert_eq!(did_you_mean("expo", ops), Some("exponential"));
        assert_eq!(did_you_mean("mul", ops), Some("multiply"));
        assert_eq!(did_you_mean("mu", ops), None);
    }

    #[test]
    fn huge_names_cost_nothing() {
        let huge = "a".repeat(10_000_000);
        assert_eq!(did_you_mean(&huge, ["add"]), None);
        assert_eq!(did_you_mean("add", [huge.as_str(), "ad"]), Some("ad"));
    }
}
