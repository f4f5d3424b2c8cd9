//! What a kind of golden file is.

use std::fmt::Display;
use std::path::PathBuf;

/// One program of a golden file, with what the file's header says.
#[derive(Clone, Debug)]
pub struct Case {
    /// The name of the test: `patterns::add_zero`.
    pub name: String,
    /// The file.
    pub path: PathBuf,
    /// The program, as it stands in the file.
    pub program: String,
    /// The line of the file, counted from 1, on which the program starts.
    pub first_line: u32,
    /// The header, in order, without `test`.
    pub headers: Vec<(String, String)>,
}

impl Case {
    /// The value of a header that stands at most once; the first if there are several.
    #[must_use]
    pub fn header(&self, key: &str) -> Option<&str> {
        self.headers.iter().find(|(k, _)| k == key).map(|(_, value)| value.as_str())
    }

    /// All values of a header.
    pub fn headers<'a, 'k>(&'a self, key: &'k str) -> impl Iterator<Item = &'a str> + use<'a, 'k> {
        self.headers.iter().filter(move |(k, _)| k == key).map(|(_, value)| value.as_str())
    }
}

/// Why a case failed. Any error becomes one with `?`.
#[derive(Debug)]
pub struct Failure(String);

impl Failure {
    /// A failure with this message.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// The message.
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

/// A kind of golden file: the folder `tests/golden/<name>` and what is done with a program in it.
pub struct Kind {
    pub(super) name: &'static str,
    pub(super) extension: &'static str,
    pub(super) lead: &'static str,
    pub(super) keys: Vec<&'static str>,
    pub(super) blessable: bool,
    pub(super) handler: Box<Handler>,
    pub(super) checks: Vec<(&'static str, Box<Check>)>,
    pub(super) compare: Option<Box<Compare>>,
}

impl Kind {
    /// A kind whose files have this extension and whose output the handler makes from each program.
    /// Output that is an error the file is about is returned like any other.
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
            blessable: true,
            handler: Box::new(handler),
            checks: Vec::new(),
            compare: None,
        }
    }

    /// What starts a comment, `//` unless said otherwise: with `#`, headers are `#!` lines and
    /// expected lines are `#>` lines.
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

    /// Compares the expected lines (given first) with what came out, where equal text is not what is asked for. Such a kind
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
