//! The functions in the text of a program, and the output of each.

/// The start of the first line of a function.
const START: &str = "func @";

/// Pairs each function with its output, without blank lines around it. The program stays in one part where functions
/// refer to each other, or if functions were added or removed.
pub(super) fn pair<'a>(
    lead: &str,
    program: &'a str,
    output: &[String],
) -> Vec<(&'a str, Vec<String>)> {
    let whole = output.join("\n");
    let (before, after) = (parts(lead, program), parts(lead, &whole));
    let refers =
        |part: &&str| names(program).any(|name| !defines(part, name) && mentions(part, name));
    if before.len() < 2 || !names(program).eq(names(&whole)) || before.iter().any(refers) {
        return vec![(program, output.to_vec())];
    }
    let lines = |text: &str| text.trim_matches('\n').split('\n').map(str::to_owned).collect();
    before.into_iter().zip(after.into_iter().map(lines)).collect()
}

/// Splits a text into functions, each with the blank lines and comments above it.
pub(super) fn parts<'a>(lead: &str, text: &'a str) -> Vec<&'a str> {
    let mut parts = Vec::new();
    let (mut begin, mut above, mut at) = (0, 0, 0);
    let mut found = false;
    for line in text.split_inclusive('\n') {
        if line.starts_with(START) {
            if found {
                parts.push(&text[begin..above]);
                begin = above;
            }
            found = true;
        }
        at += line.len();
        if !line.trim().is_empty() && !line.starts_with(lead) {
            above = at;
        }
    }
    parts.push(&text[begin..]);
    parts
}

/// Returns the names of the functions, in order.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| line.strip_prefix(START)?.split('(').next())
}

fn defines(part: &str, name: &str) -> bool {
    names(part).any(|own| own == name)
}

fn mentions(part: &str, name: &str) -> bool {
    let reference = format!("@{name}");
    part.match_indices(&reference).any(|(at, _)| {
        let behind = part[at + reference.len()..].chars().next();
        behind.is_none_or(|c| !c.is_alphanumeric() && !"_.-$".contains(c))
    })
}
