//! The text of a golden file: taken apart and put together again.

use sapwood_types::did_you_mean;

use super::Kind;

/// A golden file in its parts. The parts' texts, one after the other, are the file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct File {
    /// The header lines as they stand.
    pub(super) header_text: String,
    /// The header, in order, without `test`.
    pub(super) headers: Vec<(String, String)>,
    /// The programs, each with its expected lines.
    pub(super) sections: Vec<Section>,
    /// What ends a line in this file.
    newline: &'static str,
}

/// A program and what it must give.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) program: String,
    pub(super) first_line: u32,
    /// The expected output: one line each, without lead and line end.
    pub(super) expected: Vec<String>,
    /// The expected lines as they stand.
    expected_text: String,
}

impl File {
    /// Takes a text apart.
    pub(super) fn parse(kind: &Kind, text: &str) -> Result<Self, String> {
        let bang = format!("{}!", kind.lead);
        let arrow = format!("{}>", kind.lead);
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let mut file =
            Self { header_text: String::new(), headers: Vec::new(), sections: Vec::new(), newline };
        let mut test = None;
        let mut in_header = true;
        let mut current: Option<Section> = None;
        for (number, line) in text.split_inclusive('\n').enumerate() {
            let content = line.strip_suffix('\n').unwrap_or(line);
            let content = content.strip_suffix('\r').unwrap_or(content);
            in_header &= content.starts_with(&bang);
            if in_header {
                file.header_text.push_str(line);
                let entry = content[bang.len()..].split_once(':');
                let Some((key, value)) = entry else {
                    return Err(format!("line {}: a header reads `{bang} key: value`", number + 1));
                };
                let (key, value) = (key.trim(), value.trim());
                if key == "test" {
                    test = Some(value.to_owned());
                } else if kind.keys.contains(&key) {
                    file.headers.push((key.to_owned(), value.to_owned()));
                } else {
                    return Err(format!("line {}: {}", number + 1, unknown_key(kind, key)));
                }
            } else if let Some(rest) = content.strip_prefix(&arrow) {
                let Some(section) = &mut current else {
                    return Err(format!("line {}: `{arrow}` without a program above", number + 1));
                };
                section.expected.push(rest.strip_prefix(' ').unwrap_or(rest).to_owned());
                section.expected_text.push_str(line);
            } else {
                if current.as_ref().is_some_and(|section| !section.expected.is_empty()) {
                    file.sections.extend(current.take());
                }
                let section = current.get_or_insert_with(|| Section {
                    program: String::new(),
                    first_line: u32::try_from(number + 1).unwrap_or(u32::MAX),
                    expected: Vec::new(),
                    expected_text: String::new(),
                });
                section.program.push_str(line);
            }
        }
        file.sections.extend(current);
        match test {
            None => Err(format!("the first line has to be `{bang} test: {}`", kind.name)),
            Some(test) if test != kind.name => {
                Err(format!("the header says `test: {test}`, the folder says `{}`", kind.name))
            }
            Some(_) if file.programs().next().is_none() => Err("there is no program".into()),
            Some(_) => Ok(file),
        }
    }

    /// The sections that are not mere blank lines at the end.
    pub(super) fn programs(&self) -> impl Iterator<Item = &Section> {
        let last = self.sections.len().saturating_sub(1);
        self.sections.iter().enumerate().filter_map(move |(position, section)| {
            let trailing = position == last
                && section.expected.is_empty()
                && section.program.trim().is_empty();
            (!trailing).then_some(section)
        })
    }

    /// The programs, without the last, that these outputs leave without expected lines: where none
    /// stand between two programs, they are one. One list for each of [`Self::programs`].
    pub(super) fn merged<'a>(
        &'a self,
        outputs: &'a [Vec<String>],
    ) -> impl Iterator<Item = &'a Section> {
        let before_last = outputs.len().saturating_sub(1);
        let with_outputs = self.programs().zip(outputs).take(before_last);
        with_outputs.filter(|(_, output)| output.is_empty()).map(|(section, _)| section)
    }

    /// The file with other expected lines, one list for each of [`Self::programs`].
    pub(super) fn with_outputs(&self, kind: &Kind, outputs: &[Vec<String>]) -> String {
        let mut text = self.header_text.clone();
        let mut outputs = outputs.iter();
        let programs = self.programs().count();
        for (position, section) in self.sections.iter().enumerate() {
            text.push_str(&section.program);
            let output = if position < programs { outputs.next() } else { None };
            match output {
                // Lines that already say the right thing stay as they are.
                Some(lines) if *lines == section.expected => text.push_str(&section.expected_text),
                Some(lines) => {
                    if !lines.is_empty() && !text.ends_with('\n') {
                        text.push_str(self.newline);
                    }
                    for line in lines {
                        let space = if line.is_empty() { "" } else { " " };
                        text.push_str(&format!("{}>{space}{line}{}", kind.lead, self.newline));
                    }
                }
                None => text.push_str(&section.expected_text),
            }
        }
        text
    }
}

fn unknown_key(kind: &Kind, key: &str) -> String {
    let known = || std::iter::once("test").chain(kind.keys.iter().copied());
    match did_you_mean(key, known()) {
        Some(close) => format!("unknown header `{key}`; did you mean `{close}`?"),
        None => {
            format!("unknown header `{key}`; one of {}", known().collect::<Vec<_>>().join(", "))
        }
    }
}
