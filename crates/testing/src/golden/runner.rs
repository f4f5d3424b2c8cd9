//! The runner of golden files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use imara_diff::{Algorithm, BasicLineDiffPrinter, Diff, InternedInput, UnifiedDiffConfig};
use libtest_mimic::{Arguments, Failed, Trial};
use sapwood_types::{did_you_mean, write_atomically};

use super::Kind;
use super::file::{File, Section};

/// The largest number of lines of a diff that are printed.
const MOST_DIFF_LINES: usize = 200;

/// The message for an empty output, which is not blessed.
const MERGED: &str = "the output is empty, so nothing would separate this program from the next one, \
    and they would become one; make it the last of its file, or give it a file of its own";

/// Runs all golden files below a folder, one named test each.
pub struct Runner {
    root: PathBuf,
    kinds: Vec<Arc<Kind>>,
    own_kinds_only: bool,
    bless: bool,
}

impl Runner {
    /// Creates a runner for the kinds below `root`, usually `tests/golden` of the repository. It rewrites
    /// expected lines if the environment has `BLESS=1`.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>) -> Self {
        let bless = std::env::var("BLESS").is_ok_and(|value| !matches!(value.as_str(), "" | "0"));
        Self { root: root.into(), kinds: Vec::new(), own_kinds_only: false, bless }
    }

    /// Registers a kind.
    #[must_use]
    pub fn kind(mut self, kind: Kind) -> Self {
        self.kinds.push(Arc::new(kind));
        self
    }

    /// Ignores folders of kinds that are not registered here, which are failing tests otherwise. For a target
    /// that runs some of the kinds; another target must run them all.
    #[must_use]
    pub fn own_kinds_only(mut self) -> Self {
        self.own_kinds_only = true;
        self
    }

    /// Sets whether expected lines are rewritten, whatever the environment has.
    #[must_use]
    pub fn bless(mut self, bless: bool) -> Self {
        self.bless = bless;
        self
    }

    /// Runs the tests that the arguments of the process select. Returns the exit code for a `main` with
    /// `harness = false`.
    #[must_use]
    pub fn main(&self) -> ExitCode {
        libtest_mimic::run(&Arguments::from_args(), self.trials()).exit_code()
    }

    /// Returns the names of all tests, sorted.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.trials().iter().map(|trial| trial.name().to_owned()).collect()
    }

    /// Runs all tests in this thread. Returns each name with the result, or the message of the failure.
    #[must_use]
    pub fn run_all(&self) -> Vec<(String, Result<(), String>)> {
        let tests = self.tests().into_iter();
        tests.map(|(name, work)| (name, work())).collect()
    }

    fn trials(&self) -> Vec<Trial> {
        let trial =
            |(name, work): (String, Work)| Trial::test(name, || work().map_err(Failed::from));
        self.tests().into_iter().map(trial).collect()
    }

    fn tests(&self) -> Vec<(String, Work)> {
        let mut tests = Vec::new();
        let mut entries = match entries(&self.root) {
            Ok(entries) => entries,
            Err(message) => return vec![broken("golden", message)],
        };
        for kind in &self.kinds {
            let folder = self.root.join(kind.name);
            if !folder.is_dir() {
                tests.push(broken(kind.name, format!("missing folder {}", folder.display())));
            }
        }
        entries.retain(|entry| !is_readme(entry));
        for entry in entries {
            let name = file_name(&entry);
            match self.kinds.iter().find(|kind| kind.name == name) {
                Some(kind) => self.add_folder(kind, &entry, &name, &mut tests),
                None if self.own_kinds_only => {}
                None => tests.push(broken(&name, self.unknown_kind(&entry, &name))),
            }
        }
        tests.sort_by(|a, b| a.0.cmp(&b.0));
        tests
    }

    fn unknown_kind(&self, entry: &Path, name: &str) -> String {
        let known: Vec<&str> = self.kinds.iter().map(|kind| kind.name).collect();
        let hint = match did_you_mean(name, known.iter().copied()) {
            Some(close) => format!("did you mean `{close}`?"),
            None => format!("one of {}", known.join(", ")),
        };
        format!("{}: no kind of golden file is called `{name}`; {hint}", entry.display())
    }

    fn add_folder(
        &self,
        kind: &Arc<Kind>,
        folder: &Path,
        prefix: &str,
        tests: &mut Vec<(String, Work)>,
    ) {
        let entries = match entries(folder) {
            Ok(entries) => entries,
            Err(message) => return tests.push(broken(prefix, message)),
        };
        for path in entries.into_iter().filter(|path| !is_readme(path)) {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let name = format!("{prefix}::{stem}");
            if path.is_dir() {
                self.add_folder(kind, &path, &format!("{prefix}::{}", file_name(&path)), tests);
            } else if !stem.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c)) {
                let message = "a name is made of letters, digits, `_`, `-` and `.`";
                tests.push(broken(&name.replace(char::is_whitespace, "_"), message.into()));
            } else if path.extension().is_none_or(|extension| extension != kind.extension) {
                let message = format!(
                    "{}: files of `{}` end in .{}",
                    path.display(),
                    kind.name,
                    kind.extension
                );
                tests.push(broken(&format!("{prefix}::{}", file_name(&path)), message));
            } else {
                let (kind, bless, test) = (Arc::clone(kind), self.bless, name.clone());
                tests.push((name, Box::new(move || run_file(&kind, &test, &path, bless))));
            }
        }
    }
}

type Work = Box<dyn FnOnce() -> Result<(), String> + Send>;

/// Returns a test that fails with this message.
fn broken(name: &str, message: String) -> (String, Work) {
    (name.to_owned(), Box::new(|| Err(message)))
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let unreadable = |error: std::io::Error| format!("cannot read {}: {error}", folder.display());
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        // Editors and interrupted runs leave hidden files behind.
        if !file_name(&path).starts_with('.') {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn is_readme(path: &Path) -> bool {
    file_name(path) == "README.md"
}

/// Runs every program of a file, and compares or rewrites the expected lines.
fn run_file(kind: &Kind, name: &str, path: &Path, bless: bool) -> Result<(), String> {
    let shown = path.display();
    let text = fs::read_to_string(path).map_err(|error| format!("cannot read {shown}: {error}"))?;
    let file = File::parse(kind, &text).map_err(|message| format!("{shown}: {message}"))?;
    let mut outputs = Vec::new();
    let mut problems = Vec::new();
    for section in file.programs() {
        match run_section(kind, name, path, &file, section) {
            Ok(output) => outputs.push(output),
            Err(message) => problems.push(format!("{shown}:{}: {message}", section.first_line)),
        }
    }
    if !problems.is_empty() {
        return Err(problems.join("\n"));
    }
    if bless && kind.blessable {
        let merged = file.merged(kind, &outputs);
        problems.extend(merged.map(|section| format!("{shown}:{}: {MERGED}", section.first_line)));
        if !problems.is_empty() {
            return Err(problems.join("\n"));
        }
        let blessed = file.with_outputs(kind, &outputs);
        if blessed != text {
            write_atomically(path, blessed.as_bytes(), &|| Ok(()))
                .map_err(|e| format!("{shown}: {e}"))?;
        }
        return Ok(());
    }
    for (section, output) in file.programs().zip(&outputs) {
        if let Some(compare) = &kind.compare {
            let case = file.case(name, path, section);
            let compared = compare(&case, &section.expected.join("\n"), &output.join("\n"));
            problems.extend(
                compared.err().map(|f| format!("{shown}:{}: {}", section.first_line, f.message())),
            );
        } else if section.expected != *output {
            let diff = diff(&section.expected, output);
            let hint = if !kind.blessable {
                "the expected lines of this kind are not blessed; see the header for their origin"
            } else if file.merged(kind, &outputs).any(|merged| std::ptr::eq(merged, section)) {
                MERGED
            } else {
                "`BLESS=1` accepts what came out"
            };
            problems.push(format!(
                "{shown}:{}: the output differs from what is expected\n{diff}\n{hint}",
                section.first_line
            ));
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) }
}

fn run_section(
    kind: &Kind,
    name: &str,
    path: &Path,
    file: &File,
    section: &Section,
) -> Result<Vec<String>, String> {
    let case = file.case(name, path, section);
    let output = (kind.handler)(&case).map_err(|failure| failure.message().to_owned())?;
    for (check, run) in &kind.checks {
        run(&case, &output).map_err(|f| format!("check `{check}`: {}", f.message()))?;
    }
    // The file has the prelude once.
    let output = match kind.prelude.and_then(|prelude| output.strip_prefix(prelude)) {
        Some(functions) => functions.trim_start_matches('\n'),
        None => &output,
    };
    let lines: Vec<String> =
        output.strip_suffix('\n').unwrap_or(output).split('\n').map(str::to_owned).collect();
    if let Some(line) = lines.iter().position(|line| line.ends_with('\r')) {
        return Err(format!("line {} of the output ends in a carriage return", line + 1));
    }
    Ok(if output.is_empty() { Vec::new() } else { lines })
}

fn diff(expected: &[String], actual: &[String]) -> String {
    let text = |lines: &[String]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    let (expected, actual) = (text(expected), text(actual));
    let input = InternedInput::new(expected.as_str(), actual.as_str());
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    let printer = BasicLineDiffPrinter(&input.interner);
    let hunks = diff.unified_diff(&printer, UnifiedDiffConfig::default(), &input);
    let whole = format!("--- expected\n+++ came out\n{hunks}");
    let mut lines: Vec<&str> = whole.lines().take(MOST_DIFF_LINES + 1).collect();
    if lines.len() > MOST_DIFF_LINES {
        lines[MOST_DIFF_LINES] = "… and more";
    }
    lines.join("\n")
}
