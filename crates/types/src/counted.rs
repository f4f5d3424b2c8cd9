//! Numbers of things, as messages say them.

use std::fmt;

/// So many of something, in words: the noun, given as one, is one or many as the number is.
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
pub fn counted(n: impl TryInto<u64>, what: &str) -> Counted<'_> {
    Counted { n: n.try_into().unwrap_or(u64::MAX), what }
}

/// What [`counted`] gives; it displays as a number and a noun.
#[derive(Clone, Copy, Debug)]
pub struct Counted<'a> {
    n: u64,
    what: &'a str,
}

impl fmt::Display for Counted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { n, what } = *self;
        if n == 1 {
            return write!(f, "1 {what}");
        }
        let (stem, end) = match what {
            _ if what.ends_with("is") => (&what[..what.len() - 2], "es"),
            _ if what.ends_with('y') => (&what[..what.len() - 1], "ies"),
            _ if ["s", "x", "ch", "sh"].iter().any(|end| what.ends_with(end)) => (what, "es"),
            _ => (what, "s"),
        };
        write!(f, "{n} {stem}{end}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_are_one_or_many() {
        let shown = |n: usize, what| counted(n, what).to_string();
        assert_eq!(shown(1, "match"), "1 match");
        assert_eq!(shown(3, "match"), "3 matches");
        assert_eq!(shown(0, "byte"), "0 bytes");
        assert_eq!(shown(2, "axis"), "2 axes");
        assert_eq!(shown(7, "entry"), "7 entries");
        assert_eq!(shown(2, "pass"), "2 passes");
    }
}
