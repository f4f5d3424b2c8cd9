//! Colours for results and messages on a terminal.

const BOLD: &str = "\x1b[1m";
const DIM: &str = "\x1b[2m";
const RED: &str = "\x1b[31m";
const GREEN: &str = "\x1b[32m";
const YELLOW: &str = "\x1b[33m";
const RESET: &str = "\x1b[0m";

/// Colours a diff: erased lines red, inserted ones green, changed ones yellow.
pub(crate) fn color_diff(text: &str) -> String {
    color_lines(text, |line| match line.trim_start().as_bytes() {
        [b'-', b' ', ..] => Some(RED),
        [b'+', b' ', ..] => Some(GREEN),
        [b'~', b' ', ..] => Some(YELLOW),
        _ => None,
    })
}

/// Colours a table whose last column is a change of a count: fewer green, more yellow.
pub(crate) fn color_counts(text: &str) -> String {
    color_lines(text, |line| {
        let change = line.split_whitespace().next_back()?;
        let digits = change.strip_prefix(['-', '+'])?;
        let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        is_number.then_some(if change.starts_with('-') { GREEN } else { YELLOW })
    })
}

/// Colours a list of matches: headings bold, the bindings dim.
pub(crate) fn color_matches(text: &str) -> String {
    color_lines(text, |line| match line {
        line if line.starts_with('@') => Some(BOLD),
        line if line.starts_with("  where ") => Some(DIM),
        line if line.starts_with("  cannot be replaced") => Some(YELLOW),
        _ => None,
    })
}

fn color_lines(text: &str, color: impl Fn(&str) -> Option<&'static str>) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (content, end) = line.strip_suffix('\n').map_or((line, ""), |content| (content, "\n"));
        match color(content) {
            Some(color) => out.extend([color, content, RESET, end]),
            None => out += line,
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_diff_are_coloured_and_others_stay() {
        let colored = color_diff(
            "~ @f: op\n    - %1 = exp %x\n    + %1 = tanh %x\n  %2 = neg %1\n-1 is no change",
        );
        let expected = "\x1b[33m~ @f: op\x1b[0m\n\x1b[31m    - %1 = exp %x\x1b[0m\n\x1b[32m    + %1 = tanh %x\x1b[0m\n  %2 = neg %1\n-1 is no change";
        assert_eq!(colored, expected);
    }

    #[test]
    fn changes_of_counts_are_coloured() {
        let table = "op   before after change\nadd  3 1 -2\nmul  0 1 +1\nexp  1 1\n";
        let expected = "op   before after change\n\x1b[32madd  3 1 -2\x1b[0m\n\x1b[33mmul  0 1 +1\x1b[0m\nexp  1 1\n";
        assert_eq!(color_counts(table), expected);
    }

    #[test]
    fn headings_of_matches_are_bold() {
        let list = "@f: softmax, line 5\n  %m = reduce_max %x\n  where x = %x\n1 match\n";
        let expected = "\x1b[1m@f: softmax, line 5\x1b[0m\n  %m = reduce_max %x\n\x1b[2m  where x = %x\x1b[0m\n1 match\n";
        assert_eq!(color_matches(list), expected);
    }
}
