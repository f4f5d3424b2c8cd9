//! Diagnostics on the line they are about: `  %y = … //~ error: …`.
//!
//! The output has them as `line:columns: text`, each with its notes below, indented by two spaces. The columns are one number
//! or a range such as `5-12`. In a file, they are left out where they are that of the first character of the line that is
//! not blank.

/// The text between a line of the program and its diagnostic.
const DIAGNOSTIC_SEPARATOR: &str = "  ";

/// Splits a line into its part of the program and a diagnostic. A line with only a diagnostic does not belong to the program.
pub(super) fn split<'a>(lead: &str, line: &'a str) -> (Option<&'a str>, Option<&'a str>) {
    let mark = format!("{lead}~ ");
    if let Some(diagnostic) = line.strip_prefix(&mark) {
        return (None, Some(diagnostic));
    }
    match line.rsplit_once(&format!("{DIAGNOSTIC_SEPARATOR}{mark}")) {
        Some((program, diagnostic)) => (Some(program), Some(diagnostic)),
        None => (Some(line), None),
    }
}

/// Converts a diagnostic about the last line of a program to the form of the output.
pub(super) fn read(program: &str, diagnostic: &str) -> Result<String, String> {
    if diagnostic.starts_with(DIAGNOSTIC_SEPARATOR) {
        return Ok(diagnostic.to_owned());
    }
    let Some(line) = program.lines().next_back() else {
        return Err("a diagnostic without a line above".into());
    };
    let number = program.lines().count();
    Ok(match diagnostic.split_once(": ") {
        Some((columns, _)) if are_columns(columns) => format!("{number}:{diagnostic}"),
        _ => format!("{number}:{}: {diagnostic}", first_column(line)),
    })
}

/// Writes an output into the program it is about. A single diagnostic of a line is written after it, several below it. Also
/// returns the lines of the output that are about no line of the program.
pub(super) fn write<'a>(
    lead: &str,
    newline: &str,
    program: &str,
    output: &'a [String],
) -> (String, &'a [String]) {
    let mut text = String::new();
    let mut rest = output;
    for (number, line) in (1..).zip(program.split_inclusive('\n')) {
        let content = line.trim_end_matches(['\r', '\n']);
        let mut found = Vec::new();
        while let Some(placed) = rest.first().and_then(|first| about(first, number)) {
            let short = placed.strip_prefix(&format!("{}: ", first_column(content)));
            found.push(format!("{lead}~ {}", short.unwrap_or(placed)));
            let notes =
                rest[1..].iter().take_while(|note| note.starts_with(DIAGNOSTIC_SEPARATOR)).count();
            found.extend(rest[1..=notes].iter().map(|note| format!("{lead}~ {note}")));
            rest = &rest[1 + notes..];
        }
        match &found[..] {
            [] => text += line,
            [one] if !content.trim().is_empty() => {
                text += &format!("{content}{DIAGNOSTIC_SEPARATOR}{one}{newline}");
            }
            _ => {
                text += &format!("{content}{newline}");
                text.extend(found.iter().flat_map(|one| [one.as_str(), newline]));
            }
        }
    }
    (text, rest)
}

/// Returns the columns and the text of a diagnostic if it is about this line.
fn about(diagnostic: &str, number: usize) -> Option<&str> {
    let (line, placed) = diagnostic.split_once(':')?;
    let (columns, _) = placed.split_once(": ")?;
    (line.parse() == Ok(number) && are_columns(columns)).then_some(placed)
}

fn are_columns(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_digit() || c == '-')
}

fn first_column(line: &str) -> usize {
    1 + line.chars().take_while(|c| c.is_whitespace()).count()
}
