//! Reading input files, and writing output files atomically.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use sapwood_onnx as onnx;
use sapwood_types::{
    Source, SourceErrors, counted, read_error, source_from_bytes, write_atomically,
};

use super::load::FileFormat;
use crate::command::cli_error::CliError;
use crate::command::signals;

/// An input of the command: a file, or standard input.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Input {
    Stdin,
    File(PathBuf),
}

impl Input {
    /// Creates the input that an argument names: `-` means standard input.
    pub(crate) fn new(argument: &Path) -> Self {
        if argument.as_os_str() == "-" { Self::Stdin } else { Self::File(argument.to_owned()) }
    }

    /// Reads all bytes.
    pub(crate) fn read_bytes(&self) -> Result<Vec<u8>, CliError> {
        Ok(self.read()?)
    }

    fn read(&self) -> Result<Vec<u8>, SourceErrors> {
        let bytes = match self {
            Self::Stdin => {
                let mut bytes = Vec::new();
                io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
            }
            Self::File(path) if path.as_os_str().is_empty() => {
                let message = "the file name is empty; `-` means standard input";
                return Err(SourceErrors::plain(message));
            }
            Self::File(path) => fs::read(path),
        };
        bytes.map_err(|error| read_error(&self.to_string(), &error))
    }

    /// Reads the text, which must be UTF-8.
    pub(crate) fn read_source(&self) -> Result<Source, SourceErrors> {
        source_from_bytes(&self.to_string(), self.read()?)
    }
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdin => f.write_str("<stdin>"),
            Self::File(path) => path.display().fmt(f),
        }
    }
}

/// The inputs that the arguments of a command name.
#[derive(Default)]
pub(crate) struct ExpandedArguments {
    /// The files, each once. A directory is replaced by the programs in it, sorted by name.
    pub(crate) inputs: Vec<Input>,
    /// The number of files in directories that were skipped because they hold no program.
    pub(crate) skipped: SkippedFiles,
    /// The directories without programs, each with its error.
    pub(crate) errors: Vec<(PathBuf, CliError)>,
}

/// Finds the files that arguments name. Directories are searched for programs.
pub(crate) fn expand_arguments(arguments: &[PathBuf]) -> ExpandedArguments {
    let (mut expanded, mut seen) = (ExpandedArguments::default(), BTreeSet::new());
    // Two arguments may name the same file in different ways.
    let mut add = |input: Input, inputs: &mut Vec<Input>| {
        let canonical = match &input {
            Input::Stdin => Input::Stdin,
            Input::File(path) => {
                Input::File(fs::canonicalize(path).unwrap_or_else(|_| path.clone()))
            }
        };
        if seen.insert(canonical) {
            inputs.push(input);
        }
    };
    for argument in arguments {
        let input = Input::new(argument);
        if input == Input::Stdin || !argument.is_dir() {
            add(input, &mut expanded.inputs);
            continue;
        }
        let error = match programs_in(argument) {
            Ok((found, skipped)) if found.is_empty() => {
                let known = FileFormat::EXTENSIONS.join(", ");
                let others = match skipped.to_string() {
                    none if none.is_empty() => none,
                    files => format!(", but {files}"),
                };
                let folder = argument.display();
                CliError::new(format!("{folder}: no programs in this directory ({known}){others}"))
            }
            Ok((found, skipped)) => {
                expanded.skipped.add(skipped);
                found.into_iter().for_each(|input| add(input, &mut expanded.inputs));
                continue;
            }
            Err(error) => error,
        };
        expanded.errors.push((argument.clone(), error));
    }
    expanded
}

/// The number of skipped files in directories: they have the extension of a program but hold none.
#[derive(Clone, Copy, Default)]
pub(crate) struct SkippedFiles {
    python: usize,
    json: usize,
}

impl SkippedFiles {
    fn add(&mut self, other: Self) {
        self.python += other.python;
        self.json += other.json;
    }
}

impl fmt::Display for SkippedFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds = [(self.python, "plain Python file"), (self.json, "other JSON file")];
        let some = kinds.iter().filter(|(count, _)| *count > 0);
        let some: Vec<String> =
            some.map(|(count, kind)| counted(*count, kind).to_string()).collect();
        f.write_str(&some.join(" and "))
    }
}

/// The number of bytes at the start of a file that decide if it holds a program.
const SNIFFED_BYTES: u64 = 1 << 16;

fn read_head(path: &Path) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    fs::File::open(path).and_then(|file| file.take(SNIFFED_BYTES).read_to_end(&mut head)).ok()?;
    Some(head)
}

// Returns true if the start of a file shows that it is Python: it imports, defines a class or starts with a string, none
// of which front-end IR does. Any other file is taken for a program, so that its errors are reported.
fn is_plain_python(path: &Path) -> bool {
    let Some(head) = read_head(path) else { return false };
    let mut lines = head.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end);
    let starts = |line: &[u8], words: &[&str]| words.iter().any(|w| line.starts_with(w.as_bytes()));
    let first = lines.clone().find(|line| !line.is_empty() && !line.starts_with(b"#"));
    first.is_some_and(|line| starts(line, &["\"", "'", "r\"", "r'"]))
        || lines.any(|line| starts(line, &["import ", "from ", "class "]))
}

// Returns true if the start of a JSON file lacks the entry of programs: traces, packages and settings are JSON too.
fn is_other_json(path: &Path) -> bool {
    let Some(head) = read_head(path) else { return false };
    let mut dense = head;
    dense.retain(|byte| !byte.is_ascii_whitespace());
    !dense.windows(JSON_PROGRAM_ENTRY.len()).any(|part| part == JSON_PROGRAM_ENTRY)
}

/// The entry of every program in JSON, without white space.
const JSON_PROGRAM_ENTRY: &[u8] = b"\"format\":\"ptir\"";

/// Returns the canonical path of a file, which need not exist: two names of one file have the same canonical path.
pub(crate) fn canonical_path(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    fs::canonicalize(path).unwrap_or_else(|_| {
        let folder = fs::canonicalize(folder.unwrap_or(Path::new(".")));
        folder.map_or_else(|_| path.to_owned(), |f| f.join(path.file_name().unwrap_or_default()))
    })
}

fn programs_in(folder: &Path) -> Result<(Vec<Input>, SkippedFiles), CliError> {
    let mut folders = vec![folder.to_owned()];
    let (mut found, mut skipped) = (Vec::new(), SkippedFiles::default());
    while let Some(folder) = folders.pop() {
        let list_error =
            |error| CliError::new(format!("{}: cannot be listed: {error}", folder.display()));
        for entry in fs::read_dir(&folder).map_err(list_error)? {
            let entry = entry.map_err(list_error)?;
            let kind = entry.file_type().map_err(list_error)?;
            let path = entry.path();
            // Links to directories are not followed: they may form a cycle.
            if kind.is_dir() {
                folders.push(path);
            } else if let Some(format) = FileFormat::of(&path).filter(|_| path.is_file()) {
                match format {
                    FileFormat::Py if is_plain_python(&path) => skipped.python += 1,
                    FileFormat::Json if is_other_json(&path) => skipped.json += 1,
                    _ => found.push(Input::File(path)),
                }
            }
        }
    }
    found.sort();
    Ok((found, skipped))
}

/// Writes a file atomically. Signals are delayed until it is written or removed.
pub(crate) fn write_file(path: &Path, bytes: impl AsRef<[u8]>) -> Result<(), CliError> {
    let write = || write_atomically(path, bytes.as_ref(), &signals::check_interrupted);
    // A pipe may block for ever, and is not removed, so that a signal ends the command at once.
    let is_pipe = fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir());
    let written = if is_pipe { write() } else { signals::while_writing(write) };
    written.map_err(|error| CliError::new(format!("{}: {error}", path.display())))
}

/// Writes an ONNX model, and its weights to another file where that is needed, atomically.
pub(crate) fn write_model(
    path: &Path,
    model: &onnx::Model,
    data: &onnx::ExternalData,
) -> Result<(), CliError> {
    let check = || signals::check_interrupted();
    let options =
        onnx::WriteOptions { check_cancelled: Some(&check), ..onnx::WriteOptions::default() };
    signals::while_writing(|| onnx::write_file(path, model, data, &options))
        .map_err(|error| CliError::new(error.to_string()))
}
