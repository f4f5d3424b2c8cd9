//! Numbers with their nouns, for messages.

use std::fmt;

/// Returns a number with its noun, singular or plural. The noun is given in the singular.
///
/// ```
/// use sapwood_types::counted;
///
/// assert_eq!(counted(1_u8, "operand").to_string(), "1 operand");
/// assert_eq!(counted(0_u8, "iteration argument").to_string(), "0 iteration arguments");
/// assert_eq!(counted(2_u8, "axis").to_string(), "2 axes");
/// assert_eq!(counted(2_u8, "entry").to_string(), "2 entries");
/// ```
#[must_use]
pub fn counted(n: impl TryInto<u64>, noun: &str) -> Counted<'_> {
    Counted { n: n.try_into().unwrap_or(u64::MAX), noun }
}

/// A number with its noun; the result of [`counted`].
#[derive(Clone, Copy, Debug)]
pub struct Counted<'a> {
    n: u64,
    noun: &'a str,
}

impl fmt::Display for Counted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { n, noun } = *self;
        if n == 1 {
            return write!(f, "1 {noun}");
        }
        let (stem, end) = match noun {
            _ if noun.ends_with("is") => (&noun[..noun.len() - 2], "es"),
            _ if noun.ends_with('y') => (&noun[..noun.len() - 1], "ies"),
            _ if ["s", "x", "ch", "sh"].iter().any(|end| noun.ends_with(end)) => (noun, "es"),
            _ => (noun, "s"),
        };
        write!(f, "{n} {stem}{end}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_are_one_or_many() {
        let shown = |n: usize, noun| counted(n, noun).to_string();
        assert_eq!(shown(1, "match"), "1 match");
        assert_eq!(shown(3, "match"), "3 matches");
        assert_eq!(shown(0, "byte"), "0 bytes");
        assert_eq!(shown(2, "axis"), "2 axes");
        assert_eq!(shown(7, "entry"), "7 entries");
        assert_eq!(shown(2, "pass"), "2 passes");
    }
}
