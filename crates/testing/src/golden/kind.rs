//! Kinds of golden files, and their cases.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use super::file::File;

/// One program of a golden file, with the keys of the file's header and those above the program.
#[derive(Clone, Debug)]
pub struct Case {
    /// The name of the test: `patterns::add_zero`.
    pub name: String,
    /// The file.
    pub path: PathBuf,
    /// The program, with the prelude of its kind and without diagnostics.
    pub program: String,
    /// The line of the file, counted from 1, on which the program starts.
    pub first_line: u32,
    /// The keys of the program, then those of the header that it does not replace, without `test`.
    pub headers: Vec<(String, String)>,
}

impl Case {
    /// Returns the first value of a header.
    #[must_use]
    pub fn header(&self, key: &str) -> Option<&str> {
        self.headers.iter().find(|(k, _)| k == key).map(|(_, value)| value.as_str())
    }

    /// Returns all values of a header.
    pub fn headers<'a, 'k>(&'a self, key: &'k str) -> impl Iterator<Item = &'a str> + use<'a, 'k> {
        self.headers.iter().filter(move |(k, _)| k == key).map(|(_, value)| value.as_str())
    }
}

/// The failure of a case. `?` converts any error to one.
#[derive(Debug)]
pub struct Failure(String);

impl Failure {
    /// Creates a failure with this message.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// Returns the message.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0
    }
}

impl<E: Display> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

type Handler = dyn Fn(&Case) -> Result<String, Failure> + Send + Sync;
type Check = dyn Fn(&Case, &str) -> Result<(), Failure> + Send + Sync;
type Compare = dyn Fn(&Case, &str, &str) -> Result<(), Failure> + Send + Sync;

/// A kind of golden file: the folder `tests/golden/<name>`, and the handler of its programs.
pub struct Kind {
    pub(super) name: &'static str,
    pub(super) extension: &'static str,
    pub(super) lead: &'static str,
    pub(super) keys: Vec<&'static str>,
    pub(super) prelude: Option<&'static str>,
    pub(super) diagnostics: bool,
    pub(super) blessable: bool,
    pub(super) handler: Box<Handler>,
    pub(super) checks: Vec<(&'static str, Box<Check>)>,
    pub(super) compare: Option<Box<Compare>>,
}

impl Kind {
    /// Creates a kind whose files have this extension. The handler computes the output of each program, also if the output is
    /// an error that the file is about.
    pub fn new(
        name: &'static str,
        extension: &'static str,
        handler: impl Fn(&Case) -> Result<String, Failure> + Send + Sync + 'static,
    ) -> Self {
        Self {
            name,
            extension,
            lead: "//",
            keys: Vec::new(),
            prelude: None,
            diagnostics: false,
            blessable: true,
            handler: Box::new(handler),
            checks: Vec::new(),
            compare: None,
        }
    }

    /// Sets the start of a comment, `//` by default: with `#`, headers are `#!` lines and expected lines are `#>` lines.
    #[must_use]
    pub fn lead(mut self, lead: &'static str) -> Self {
        self.lead = lead;
        self
    }

    /// Allows a header key. All others but `test` are errors, so that a misspelt key is noticed.
    #[must_use]
    pub fn key(mut self, key: &'static str) -> Self {
        self.keys.push(key);
        self
    }

    /// Writes the output of each function right below it. The programs and their outputs start with this line, such as
    /// `ptir 1`; a file has it once, below the header. Keys may be given above a function, for it alone.
    #[must_use]
    pub fn by_function(mut self, prelude: &'static str) -> Self {
        self.prelude = Some(prelude);
        self
    }

    /// Writes each line `line:columns: text` of the output, and the lines below it that are indented by two spaces, as `//~ text` on
    /// the line of the program it is about.
    #[must_use]
    pub fn diagnostics_on_their_lines(mut self) -> Self {
        self.diagnostics = true;
        self
    }

    /// Reads the programs of a file, in the form that the handler gets.
    ///
    /// # Errors
    /// If the file cannot be read or is not a golden file of this kind.
    pub fn cases(&self, path: &Path) -> Result<Vec<Case>, Failure> {
        let file = File::parse(self, &std::fs::read_to_string(path)?)
            .map_err(|message| format!("{}: {message}", path.display()))?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let name = format!("{}::{stem}", self.name);
        Ok(file.programs().map(|section| file.case(&name, path, section)).collect())
    }

    /// Adds a check that every program and its output must pass, such as "a second run changes nothing".
    #[must_use]
    pub fn check(
        mut self,
        name: &'static str,
        check: impl Fn(&Case, &str) -> Result<(), Failure> + Send + Sync + 'static,
    ) -> Self {
        self.checks.push((name, Box::new(check)));
        self
    }

    /// Forbids `BLESS`: the expected lines come from elsewhere, as computed values do.
    #[must_use]
    pub fn never_blessed(mut self) -> Self {
        self.blessable = false;
        self
    }

    /// Sets the comparison of the expected lines (first) with the output, for kinds that do not require equal text. Such a kind
    /// is never blessed.
    #[must_use]
    pub fn compared_by(
        mut self,
        compare: impl Fn(&Case, &str, &str) -> Result<(), Failure> + Send + Sync + 'static,
    ) -> Self {
        self.compare = Some(Box::new(compare));
        self.never_blessed()
    }
}
