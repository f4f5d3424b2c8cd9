//! The parser and the writer of golden files.

use std::path::Path;

use sapwood_types::did_you_mean;

use super::{Case, Kind, diagnostics, functions};

/// A parsed golden file. The texts of its parts, one after the other, are the file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct File {
    /// The header lines, and the prelude, as they are written.
    header_text: String,
    /// The header, in order, without `test`.
    headers: Vec<(String, String)>,
    /// The line that every program starts with; empty if the kind has none.
    prelude: String,
    /// The programs, each with its expected lines.
    sections: Vec<Section>,
    /// The line ending of this file.
    newline: &'static str,
}

/// A program and its expected output.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Section {
    /// The blank lines and keys above the program, as they are written.
    above: String,
    /// The keys of this program alone.
    keys: Vec<(String, String)>,
    /// The program, without the prelude and without diagnostics.
    program: String,
    pub(super) first_line: u32,
    /// The expected output: one line each, without lead and line end.
    pub(super) expected: Vec<String>,
    /// The program and the expected lines as they are written.
    text: String,
    /// The line that separates this program from the next one, as it is written.
    separator: String,
}

impl Section {
    fn is_blank(&self) -> bool {
        self.expected.is_empty() && self.program.trim().is_empty()
    }

    /// Splits off the functions after a function with its own keys, which apply to it alone.
    fn split_behind_keys(mut self, kind: &Kind) -> Vec<Self> {
        let first = functions::parts(kind.lead, &self.program)[0].len();
        if self.keys.is_empty() || first == self.program.len() {
            return vec![self];
        }
        let lines = self.program[..first].lines().count();
        let rest = Self {
            program: self.program.split_off(first),
            text: self.text.split_off(first),
            expected: std::mem::take(&mut self.expected),
            first_line: self.first_line + u32::try_from(lines).unwrap_or(0),
            ..Self::default()
        };
        vec![self, rest]
    }
}

impl File {
    /// Parses a text.
    pub(super) fn parse(kind: &Kind, text: &str) -> Result<Self, String> {
        let (bang, arrow) = (format!("{}!", kind.lead), format!("{}>", kind.lead));
        let split = separator(kind);
        let mut file = Self {
            header_text: String::new(),
            headers: Vec::new(),
            prelude: String::new(),
            sections: Vec::new(),
            newline: if text.contains("\r\n") { "\r\n" } else { "\n" },
        };
        let mut test = None;
        let mut in_header = true;
        // Set after an expected line, so that another line starts a new program.
        let mut ended = false;
        let mut current: Option<Section> = None;
        for (number, line) in (1..).zip(text.split_inclusive('\n')) {
            let content = line.strip_suffix('\n').unwrap_or(line);
            let content = content.strip_suffix('\r').unwrap_or(content);
            let key = content.strip_prefix(&bang);
            let at = |message: String| format!("line {number}: {message}");
            let start = || Section { first_line: number, ..Section::default() };
            if in_header && let Some(entry) = key {
                file.header_text.push_str(line);
                let (key, value) = entry_of(kind, entry).map_err(at)?;
                match key.as_str() {
                    "test" => test = Some(value),
                    _ => file.headers.push((key, value)),
                }
                continue;
            }
            if in_header && let Some(prelude) = kind.prelude {
                if test.is_some() && content != prelude {
                    return Err(at(format!("the line below the header has to be `{prelude}`")));
                }
                file.header_text.push_str(line);
                file.prelude = format!("{prelude}{}", file.newline);
                in_header = false;
                continue;
            }
            in_header = false;
            let arrow = content.strip_prefix(&arrow);
            if ended && arrow.is_none() {
                file.sections.extend(current.take());
            }
            ended = arrow.is_some();
            if let Some(entry) = key.filter(|_| kind.prelude.is_some()) {
                if current.as_ref().is_some_and(|section| !section.is_blank()) {
                    file.sections.extend(current.take());
                }
                let section = current.get_or_insert_with(start);
                section.above += &std::mem::take(&mut section.text);
                section.above += line;
                section.program.clear();
                section.first_line = number + 1;
                section.keys.push(entry_of(kind, entry).map_err(at)?);
            } else if let Some(rest) = arrow {
                let Some(section) = &mut current else {
                    return Err(at(format!("`{}>` without a program above", kind.lead)));
                };
                section.expected.push(rest.strip_prefix(' ').unwrap_or(rest).to_owned());
                section.text.push_str(line);
            } else if kind.diagnostics && content == split {
                let blank = match current.take() {
                    Some(section) if section.is_blank() => section.text,
                    section => {
                        file.sections.extend(section);
                        String::new()
                    }
                };
                let Some(above) = file.sections.last_mut() else {
                    return Err(at(format!("`{split}` without a program above")));
                };
                above.separator += &blank;
                above.separator += line;
            } else {
                let (program, diagnostic) = match kind.diagnostics {
                    true => diagnostics::split(kind.lead, content),
                    false => (Some(content), None),
                };
                let section = current.get_or_insert_with(start);
                section.text.push_str(line);
                if let Some(program) = program {
                    section.program.push_str(program);
                    section.program.push_str(&line[content.len()..]);
                }
                if let Some(diagnostic) = diagnostic {
                    let read = diagnostics::read(&section.program, diagnostic).map_err(at)?;
                    section.expected.push(read);
                }
            }
        }
        file.sections.extend(current);
        file.sections = file.sections.into_iter().flat_map(|s| s.split_behind_keys(kind)).collect();
        match test {
            None => Err(format!("the first line has to be `{bang} test: {}`", kind.name)),
            Some(test) if test != kind.name => {
                Err(format!("the header says `test: {test}`, the folder says `{}`", kind.name))
            }
            Some(_) if file.programs().next().is_none() => Err("the file has no program".into()),
            Some(_) => Ok(file),
        }
    }

    /// Returns the sections, without blank lines at the end.
    pub(super) fn programs(&self) -> impl Iterator<Item = &Section> {
        let last = self.sections.len().saturating_sub(1);
        let sections = self.sections.iter().enumerate();
        sections.filter_map(move |(at, s)| (at != last || !s.is_blank()).then_some(s))
    }

    /// Returns the case of a section for the handler. Keys of a section replace those of the header.
    pub(super) fn case(&self, name: &str, path: &Path, section: &Section) -> Case {
        let replaced = |key: &String| section.keys.iter().any(|(own, _)| own == key);
        let inherited = self.headers.iter().filter(|(key, _)| !replaced(key));
        Case {
            name: name.to_owned(),
            path: path.to_owned(),
            program: format!("{}{}", self.prelude, section.program),
            first_line: section.first_line,
            headers: section.keys.iter().chain(inherited).cloned().collect(),
        }
    }

    /// Returns the programs, except the last, that would have no expected lines with these outputs, so that nothing
    /// separates them from the next one. `outputs` has one list for each of [`Self::programs`].
    pub(super) fn merged<'a>(
        &'a self,
        kind: &Kind,
        outputs: &'a [Vec<String>],
    ) -> impl Iterator<Item = &'a Section> {
        let before_last = if kind.diagnostics { 0 } else { outputs.len().saturating_sub(1) };
        let with_outputs = self.programs().zip(outputs).take(before_last);
        with_outputs.filter(|(_, output)| output.is_empty()).map(|(section, _)| section)
    }

    /// Returns the file with other expected lines, one list for each of [`Self::programs`].
    pub(super) fn with_outputs(&self, kind: &Kind, outputs: &[Vec<String>]) -> String {
        let mut text = self.header_text.clone();
        for (position, section) in self.sections.iter().enumerate() {
            text.push_str(&section.above);
            match outputs.get(position) {
                Some(output) => text += &self.with_output(kind, section, output),
                None => text.push_str(&section.text),
            }
            text.push_str(&section.separator);
            let arrow = format!("{}>", kind.lead);
            let below = text.lines().next_back().is_some_and(|last| last.starts_with(&arrow));
            let separated = below || !section.separator.is_empty();
            if kind.diagnostics && !separated && position + 1 < outputs.len() {
                text += &format!("{}{}", separator(kind), self.newline);
            }
        }
        text
    }

    /// Returns a program with its expected lines: each output below its own function if the kind requires it, each diagnostic
    /// on its line, everything else below the program.
    fn with_output(&self, kind: &Kind, section: &Section, output: &[String]) -> String {
        let parts = match kind.prelude {
            Some(_) => functions::pair(kind.lead, &section.program, output),
            None => vec![(section.program.as_str(), output.to_vec())],
        };
        // Lines that are right already stay as they are.
        if output == section.expected && parts.len() == 1 && !kind.diagnostics {
            return section.text.clone();
        }
        let mut text = String::new();
        for (program, output) in parts {
            let (program, below) = match kind.diagnostics {
                true => diagnostics::write(kind.lead, self.newline, program, &output),
                false => (program.to_owned(), output.as_slice()),
            };
            text += &program;
            if !below.is_empty() && !text.ends_with('\n') {
                text.push_str(self.newline);
            }
            for line in below {
                let space = if line.is_empty() { "" } else { " " };
                text += &format!("{}>{space}{line}{}", kind.lead, self.newline);
            }
        }
        text
    }
}

/// Returns the line that separates programs whose diagnostics are on their lines.
fn separator(kind: &Kind) -> String {
    format!("{} -----", kind.lead)
}

/// Parses the text after `//!`: a key of the kind, or `test`, and its value.
fn entry_of(kind: &Kind, entry: &str) -> Result<(String, String), String> {
    let Some((key, value)) = entry.split_once(':') else {
        return Err(format!("a header reads `{}! key: value`", kind.lead));
    };
    let (key, value) = (key.trim(), value.trim());
    if key == "test" || kind.keys.contains(&key) {
        return Ok((key.to_owned(), value.to_owned()));
    }
    let known = || std::iter::once("test").chain(kind.keys.iter().copied());
    Err(match did_you_mean(key, known()) {
        Some(close) => format!("unknown header `{key}`; did you mean `{close}`?"),
        None => {
            format!("unknown header `{key}`; one of {}", known().collect::<Vec<_>>().join(", "))
        }
    })
}
