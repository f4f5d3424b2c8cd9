//! Complaints on the line they are about: `  %y = … //~ error: …`.
//!
//! The output has them as `line:column: text`, each with its notes below, indented by two spaces. In a file, the column is
//! left out where it is that of the first character of the line that is not blank.

/// How complaints are separated from the program on their left.
const GAP: &str = "  ";

/// Takes a line apart: its part of the program and a complaint. A line that has nothing but a complaint is no part of the
/// program.
pub(super) fn split<'a>(lead: &str, line: &'a str) -> (Option<&'a str>, Option<&'a str>) {
    let mark = format!("{lead}~ ");
    if let Some(complaint) = line.strip_prefix(&mark) {
        return (None, Some(complaint));
    }
    match line.rsplit_once(&format!("{GAP}{mark}")) {
        Some((program, complaint)) => (Some(program), Some(complaint)),
        None => (Some(line), None),
    }
}

/// Reads a complaint about the last line of a program, as the output has it.
pub(super) fn read(program: &str, complaint: &str) -> Result<String, String> {
    if complaint.starts_with(GAP) {
        return Ok(complaint.to_owned());
    }
    let Some(line) = program.lines().next_back() else {
        return Err("a complaint without a line above".into());
    };
    let stated = complaint.split_once(": ").and_then(|(c, text)| Some((c.parse().ok()?, text)));
    let (column, text): (usize, &str) = stated.unwrap_or((first_column(line), complaint));
    Ok(format!("{}:{column}: {text}", program.lines().count()))
}

/// Writes an output into the program it is about. A single line about a line is put behind it, several below it. Returns
/// what has no line in the program, too.
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
        while let Some((column, message)) = rest.first().and_then(|first| place(first, number)) {
            let column = match column == first_column(content) {
                true => String::new(),
                false => format!("{column}: "),
            };
            found.push(format!("{lead}~ {column}{message}"));
            let notes = rest[1..].iter().take_while(|note| note.starts_with(GAP)).count();
            found.extend(rest[1..=notes].iter().map(|note| format!("{lead}~ {note}")));
            rest = &rest[1 + notes..];
        }
        match &found[..] {
            [] => text += line,
            [one] if !content.trim().is_empty() => {
                text += &format!("{content}{GAP}{one}{newline}");
            }
            _ => {
                text += &format!("{content}{newline}");
                text.extend(found.iter().flat_map(|one| [one.as_str(), newline]));
            }
        }
    }
    (text, rest)
}

/// The column and the text of a complaint about this line.
fn place(complaint: &str, number: usize) -> Option<(usize, &str)> {
    let (line, rest) = complaint.split_once(':')?;
    let (column, text) = rest.split_once(": ")?;
    (line.parse() == Ok(number)).then_some((column.parse().ok()?, text))
}

fn first_column(line: &str) -> usize {
    1 + line.chars().take_while(|c| c.is_whitespace()).count()
}
