//! Reading and writing files: whole or not at all.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use sapwood_types::{Diagnostic, Source, counted};

use super::answer::Trouble;
use super::load::FileFormat;
use super::signals;

/// How many bytes are written at once: between them an interrupted command ends.
const PART: usize = 1 << 20;

/// Something to read: a file, or standard input.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Input {
    Stdin,
    File(PathBuf),
}

impl Input {
    /// What an argument means: `-` is standard input.
    pub(super) fn new(argument: &Path) -> Self {
        if argument.as_os_str() == "-" { Self::Stdin } else { Self::File(argument.to_owned()) }
    }

    /// Its bytes.
    pub(super) fn bytes(&self) -> Result<Vec<u8>, Trouble> {
        let bytes = match self {
            Self::Stdin => {
                let mut bytes = Vec::new();
                io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
            }
            Self::File(path) => fs::read(path),
        };
        bytes.map_err(|error| self.unreadable(&error))
    }

    /// Its text.
    pub(super) fn read(&self) -> Result<String, Trouble> {
        String::from_utf8(self.bytes()?).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            self.not_text(error.as_bytes(), at)
        })
    }

    /// Points at the byte that is no text; what stands before it is.
    fn not_text(&self, bytes: &[u8], at: usize) -> Trouble {
        // A little of what follows is enough to show the line.
        let rest = &bytes[at..bytes.len().min(at + 100)];
        let line = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        let text = String::from_utf8_lossy(&bytes[..at + line]).into_owned();
        let source = Source::new(&self.to_string(), text);
        let message = format!("the byte {:#04x} is not UTF-8", bytes[at]);
        // It shows as one character.
        let span = source.span(at..at + char::REPLACEMENT_CHARACTER.len_utf8());
        let problem = Diagnostic::error(span, message).with_help("save the text as UTF-8");
        Trouble::in_program(problem.into(), &source)
    }

    fn unreadable(&self, error: &io::Error) -> Trouble {
        Trouble::new(match (self, error.kind()) {
            (Self::File(path), io::ErrorKind::NotFound) if path.as_os_str().is_empty() => {
                "an empty name is no file; `-` is standard input".into()
            }
            (_, io::ErrorKind::NotFound) => format!("{self}: no such file"),
            (_, io::ErrorKind::IsADirectory) => format!("{self}: a directory, not a file"),
            _ => format!("{self}: cannot be read: {error}"),
        })
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

/// The files that arguments name.
#[derive(Default)]
pub(super) struct Expanded {
    /// The files, each once: a directory stands for the programs in it, sorted by name.
    pub(super) inputs: Vec<Input>,
    /// Files of directories that hold no program.
    pub(super) left_out: LeftOut,
    /// Directories without programs, and what is wrong with them.
    pub(super) troubles: Vec<(PathBuf, Trouble)>,
}

/// Finds the files that arguments name.
pub(super) fn expand(arguments: &[PathBuf]) -> Expanded {
    let (mut expanded, mut seen) = (Expanded::default(), BTreeSet::new());
    // A file may have several names.
    let mut add = |input: Input, inputs: &mut Vec<Input>| {
        let real = match &input {
            Input::Stdin => Input::Stdin,
            Input::File(path) => {
                Input::File(fs::canonicalize(path).unwrap_or_else(|_| path.clone()))
            }
        };
        if seen.insert(real) {
            inputs.push(input);
        }
    };
    for argument in arguments {
        let input = Input::new(argument);
        if input == Input::Stdin || !argument.is_dir() {
            add(input, &mut expanded.inputs);
            continue;
        }
        let trouble = match programs_in(argument) {
            Ok((found, left_out)) if found.is_empty() => {
                let known = FileFormat::EXTENSIONS.join(", ");
                let others = match left_out.to_string() {
                    none if none.is_empty() => none,
                    files => format!(", but {files}"),
                };
                let folder = argument.display();
                Trouble::new(format!("{folder}: no programs in this directory ({known}){others}"))
            }
            Ok((found, left_out)) => {
                expanded.left_out.add(left_out);
                found.into_iter().for_each(|input| add(input, &mut expanded.inputs));
                continue;
            }
            Err(trouble) => trouble,
        };
        expanded.troubles.push((argument.clone(), trouble));
    }
    expanded
}

/// Counts files of directories that have the extension of programs and hold none.
#[derive(Clone, Copy, Default)]
pub(super) struct LeftOut {
    python: usize,
    json: usize,
}

impl LeftOut {
    fn add(&mut self, other: Self) {
        self.python += other.python;
        self.json += other.json;
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds = [(self.python, "plain Python file"), (self.json, "other JSON file")];
        let some = kinds.iter().filter(|(count, _)| *count > 0);
        let some: Vec<String> =
            some.map(|(count, kind)| counted(*count, kind).to_string()).collect();
        f.write_str(&some.join(" and "))
    }
}

/// How much of a file is looked at to see whether it holds a program.
const HEAD: u64 = 1 << 16;

fn head_of(path: &Path) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    fs::File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head)).ok()?;
    Some(head)
}

// Whether a file says at its beginning that it is Python: it imports, defines a class or starts with a string, none of
// which front-end IR does. Anything else is taken for a program, so that what is wrong with it is said.
fn is_plain_python(path: &Path) -> bool {
    let Some(head) = head_of(path) else { return false };
    let mut lines = head.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end);
    let starts = |line: &[u8], words: &[&str]| words.iter().any(|w| line.starts_with(w.as_bytes()));
    let first = lines.clone().find(|line| !line.is_empty() && !line.starts_with(b"#"));
    first.is_some_and(|line| starts(line, &["\"", "'", "r\"", "r'"]))
        || lines.any(|line| starts(line, &["import ", "from ", "class "]))
}

// Whether a file of JSON does not say at its beginning that it is a program: traces, packages and settings are JSON too.
fn is_other_json(path: &Path) -> bool {
    let Some(head) = head_of(path) else { return false };
    let mut dense = head;
    dense.retain(|byte| !byte.is_ascii_whitespace());
    !dense.windows(PROGRAM_FORMAT.len()).any(|part| part == PROGRAM_FORMAT)
}

/// The entry that programs as JSON have, white space aside.
const PROGRAM_FORMAT: &[u8] = b"\"format\":\"ptir\"";

/// The same file has the same path, whatever it is called.
pub(super) fn real(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    fs::canonicalize(path).unwrap_or_else(|_| {
        let folder = fs::canonicalize(folder.unwrap_or(Path::new(".")));
        folder.map_or_else(|_| path.to_owned(), |f| f.join(path.file_name().unwrap_or_default()))
    })
}

fn programs_in(folder: &Path) -> Result<(Vec<Input>, LeftOut), Trouble> {
    let mut folders = vec![folder.to_owned()];
    let (mut found, mut left_out) = (Vec::new(), LeftOut::default());
    while let Some(folder) = folders.pop() {
        let unreadable =
            |error| Trouble::new(format!("{}: cannot be listed: {error}", folder.display()));
        for entry in fs::read_dir(&folder).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let kind = entry.file_type().map_err(unreadable)?;
            let path = entry.path();
            // Links to directories are not followed: they may lead back.
            if kind.is_dir() {
                folders.push(path);
            } else if let Some(format) = FileFormat::of(&path).filter(|_| path.is_file()) {
                match format {
                    FileFormat::Py if is_plain_python(&path) => left_out.python += 1,
                    FileFormat::Json if is_other_json(&path) => left_out.json += 1,
                    _ => found.push(Input::File(path)),
                }
            }
        }
    }
    found.sort();
    Ok((found, left_out))
}

/// Makes a directory, and those it is in.
pub(super) fn create_directory(path: &Path) -> Result<(), Trouble> {
    fs::create_dir_all(path)
        .map_err(|error| Trouble::new(format!("{}: cannot be created: {error}", path.display())))
}

/// Writes a file whole: beside it first, then in its place. If anything fails, what was there stays.
pub(super) fn write_whole(path: &Path, text: &str) -> Result<(), Trouble> {
    write_bytes_whole(path, text.as_bytes())
}

/// The same for bytes.
pub(super) fn write_bytes_whole(path: &Path, bytes: &[u8]) -> Result<(), Trouble> {
    let trouble =
        |error: &io::Error| Trouble::new(format!("{}: cannot be written: {error}", path.display()));
    if path.is_dir() {
        return Err(Trouble::new(format!("{}: a directory, not a file", path.display())));
    }
    let existing = fs::metadata(path).ok();
    if existing.as_ref().is_some_and(|m| m.permissions().readonly()) {
        return Err(Trouble::new(format!("{}: is read-only", path.display())));
    }
    if existing.as_ref().is_some_and(|m| !m.is_file()) {
        // A device or a pipe cannot be replaced, only written to.
        return fs::write(path, bytes).map_err(|e| trouble(&e));
    }
    // The target of a link is replaced, not the link.
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = real.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        return Err(Trouble::new(format!(
            "{}: there is no directory {}",
            path.display(),
            folder.display()
        )));
    }
    let written = signals::while_writing(|| replace(&real, folder, bytes, existing.as_ref()));
    written.map_err(|e| trouble(&e))
}

// Writes beside a file, then puts that in its place.
fn replace(
    path: &Path,
    folder: &Path,
    bytes: &[u8],
    existing: Option<&fs::Metadata>,
) -> io::Result<()> {
    let mut file = tempfile::Builder::new()
        .prefix(".sapwood-")
        .permissions(new_file_permissions())
        .tempfile_in(folder)
        // Without the name of the temporary file, which says nothing to anybody.
        .map_err(|e| io::Error::from(e.kind()))?;
    for part in bytes.chunks(PART) {
        signals::check()?;
        // The file itself says why, without its name.
        file.as_file_mut().write_all(part)?;
    }
    if let Some(existing) = existing {
        file.as_file().set_permissions(existing.permissions())?;
    }
    signals::check()?;
    file.persist(path).map_err(|e| e.error)?;
    Ok(())
}

// What `fs::write` would give a new file; the process's mask applies.
#[cfg(unix)]
fn new_file_permissions() -> fs::Permissions {
    std::os::unix::fs::PermissionsExt::from_mode(0o666)
}

#[cfg(not(unix))]
fn new_file_permissions() -> fs::Permissions {
    fs::metadata(".").map(|m| m.permissions()).expect("the working directory is there")
}
