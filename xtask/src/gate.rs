//! `cargo xtask test`: the gate, and with `--full` the second tier.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

use crate::workspace::Workspace;
use crate::{bench, corpus, explorer, full, process, python};

/// What was asked for.
pub(crate) struct Options {
    /// Run the second tier, too.
    pub(crate) full: bool,
    /// Show what the steps print.
    pub(crate) verbose: bool,
    /// How long each fuzz target runs in the second tier.
    pub(crate) fuzz_seconds: u64,
}

/// How a step ended.
pub(crate) enum Outcome {
    /// Well, with a few words about it.
    Passed(String),
    /// Not well: a few words, and all there is to read.
    Failed(String, String),
    /// This machine cannot do it, and the step says that this is no failure.
    Unavailable(String),
}

/// What the steps need.
pub(crate) struct Context<'a> {
    /// The workspace.
    pub(crate) workspace: &'a Workspace,
    /// What was asked for.
    pub(crate) options: &'a Options,
}

type Step = fn(&Context<'_>) -> Result<Outcome>;

/// The gate, in order: quick and telling first.
const GATE: &[(&str, Step)] = &[
    ("format", format),
    ("clippy", clippy),
    ("docs", docs),
    ("tests", tests),
    ("doctests", doctests),
    ("explorer", explorer::explorer),
    ("python", python::test),
];

/// The second tier, after the gate.
const FULL: &[(&str, Step)] = &[
    ("oracle", full::oracle),
    ("corpus", corpus::step),
    ("fuzz", full::fuzz),
    ("miri", full::miri),
    ("bench --peers", bench_with_peers),
];

/// Runs all steps, also after one failed, and says how they ended. True if none failed.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let workspace = Workspace::find()?;
    let context = Context { workspace: &workspace, options };
    let steps = GATE.iter().chain(if options.full { FULL } else { &[] });
    let logs = workspace.target.join("gate");
    std::fs::create_dir_all(&logs).context("cannot make the folder for the logs")?;
    let began = Instant::now();
    let mut lines = Vec::new();
    let mut failed = 0;
    for (name, step) in steps {
        println!("==> {name}");
        let step_began = Instant::now();
        let outcome = step(&context).unwrap_or_else(|error| {
            Outcome::Failed("could not run".into(), format!("{error:#}\n"))
        });
        let (mark, words) = match outcome {
            Outcome::Passed(words) => ("ok", words),
            Outcome::Unavailable(words) => ("unavailable", words),
            Outcome::Failed(words, output) => {
                failed += 1;
                if !options.verbose {
                    print!("{output}");
                }
                ("FAILED", words)
            }
        };
        let line = format!("{name:<14} {mark:<11} {:>7}  {words}", seconds(step_began.elapsed()));
        println!("    {}", line.trim_end());
        lines.push(line);
    }
    println!("\nsummary, {} in all", seconds(began.elapsed()));
    for line in lines {
        println!("    {}", line.trim_end());
    }
    println!("{}", if failed == 0 { "\nall passed" } else { "\nFAILED" });
    Ok(failed == 0)
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

impl Context<'_> {
    /// Cargo in the root of the workspace.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Command {
        // Through rustup's `cargo`, not `$CARGO`, so that `+nightly` works.
        let mut command = Command::new("cargo");
        command.args(arguments).current_dir(&self.workspace.root);
        // Set by `cargo run` for this process; they mean nothing to another one.
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
                command.env_remove(&name);
            }
        }
        if arguments.first().is_some_and(|first| first.starts_with('+')) {
            command.env_remove("RUSTUP_TOOLCHAIN").env_remove("CARGO");
        }
        if self.options.full {
            command.env("SAPWOOD_FULL", "1");
        }
        command
    }

    /// Runs a command as a step that passes if the command does; keeps its log.
    pub(crate) fn step(&self, name: &str, command: &mut Command) -> Result<process::Finished> {
        let finished = process::run(command, self.options.verbose, None)?;
        std::fs::write(self.workspace.target.join(format!("gate/{name}.log")), &finished.output)?;
        Ok(finished)
    }
}

fn simple(context: &Context<'_>, name: &str, command: &mut Command) -> Result<Outcome> {
    let finished = context.step(name, command)?;
    Ok(if finished.success {
        Outcome::Passed(String::new())
    } else {
        Outcome::Failed(finished.problem, finished.output)
    })
}

fn format(context: &Context<'_>) -> Result<Outcome> {
    let ours = simple(context, "format", &mut context.cargo(&["fmt", "--all", "--check"]))?;
    let fuzz = "fuzz/Cargo.toml";
    if matches!(ours, Outcome::Passed(_)) && context.workspace.root.join(fuzz).exists() {
        let arguments = ["fmt", "--manifest-path", fuzz, "--check"];
        return simple(context, "format-fuzz", &mut context.cargo(&arguments));
    }
    Ok(ours)
}

fn clippy(context: &Context<'_>) -> Result<Outcome> {
    let arguments = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
    simple(context, "clippy", &mut context.cargo(&arguments))
}

fn docs(context: &Context<'_>) -> Result<Outcome> {
    let mut command = context.cargo(&["doc", "--workspace", "--no-deps"]);
    simple(context, "docs", command.env("RUSTDOCFLAGS", "-D warnings"))
}

fn tests(context: &Context<'_>) -> Result<Outcome> {
    counted(context, "tests", context.cargo(tests_command()).arg("--no-fail-fast"))
}

/// What runs the Rust tests, and builds the command beside them.
pub(crate) fn tests_command() -> &'static [&'static str] {
    if process::works("cargo", &["nextest", "--version"]) {
        &["nextest", "run", "--workspace"]
    } else {
        &["test", "--workspace", "--lib", "--bins", "--tests", "--examples"]
    }
}

fn doctests(context: &Context<'_>) -> Result<Outcome> {
    let arguments = ["test", "--workspace", "--no-fail-fast", "--doc"];
    counted(context, "doctests", &mut context.cargo(&arguments))
}

/// A test run: it must pass, run something, and skip nothing.
fn counted(context: &Context<'_>, name: &str, command: &mut Command) -> Result<Outcome> {
    let finished = context.step(name, command)?;
    let counts = Counts::read(&finished.output);
    if !finished.success {
        return Ok(Outcome::Failed(finished.problem, finished.output));
    }
    if counts.skipped > 0 {
        let words = format!("{} skipped; the gate skips nothing", counts.skipped);
        return Ok(Outcome::Failed(words, Counts::skipping_lines(&finished.output)));
    }
    if counts.passed == 0 {
        return Ok(Outcome::Failed("no test ran".into(), finished.output));
    }
    Ok(Outcome::Passed(format!("{} tests", counts.passed)))
}

fn bench_with_peers(_: &Context<'_>) -> Result<Outcome> {
    let passed = bench::run(&bench::Options { area: None, peers: true })?;
    Ok(if passed {
        Outcome::Passed(String::new())
    } else {
        Outcome::Failed("see the table above".into(), String::new())
    })
}

/// How many tests passed and how many were left out, from what the runner printed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Tests that ran and passed.
    pub(crate) passed: usize,
    /// Tests that were ignored, skipped or filtered out.
    pub(crate) skipped: usize,
}

impl Counts {
    /// Adds up all summaries in an output.
    pub(crate) fn read(output: &str) -> Self {
        let mut counts = Self::default();
        for line in output.lines().map(str::trim_start) {
            // libtest: "test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; …"
            // nextest: "Summary [   0.1s] 31 tests run: 31 passed, 0 skipped"
            if line.starts_with("test result: ") || line.starts_with("Summary [") {
                counts.passed += number_before(line, "passed");
                counts.skipped += number_before(line, "ignored")
                    + number_before(line, "skipped")
                    + number_before(line, "filtered out");
            }
        }
        counts
    }

    /// The lines that say which tests were skipped, as far as the runner names them.
    fn skipping_lines(output: &str) -> String {
        let named = |line: &&str| {
            let line = line.trim();
            line.ends_with("... ignored")
                || line.contains("... ignored,")
                || line.starts_with("SKIP")
        };
        output.lines().filter(named).map(|line| format!("{line}\n")).collect()
    }
}

/// The number in front of a word: 5 for "passed" in "ok. 5 passed; 0 failed".
fn number_before(line: &str, word: &str) -> usize {
    let Some(at) = line.find(&format!(" {word}")) else { return 0 };
    let digits = line[..at].rsplit(|c: char| !c.is_ascii_digit()).next().unwrap_or("");
    digits.parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_libtest() {
        let output = "\
test a ... ok
test result: ok. 22 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.06s

test result: ok. 9 passed; 0 failed; 0 ignored; 0 measured; 2 filtered out; finished in 0.10s
";
        assert_eq!(Counts::read(output), Counts { passed: 31, skipped: 3 });
    }

    #[test]
    fn counts_of_nextest() {
        let output = "     Summary [   0.105s] 31 tests run: 31 passed (1 slow), 4 skipped\n";
        assert_eq!(Counts::read(output), Counts { passed: 31, skipped: 4 });
        let output = "     Summary [   0.105s] 1 test run: 1 passed, 0 skipped\n";
        assert_eq!(Counts::read(output), Counts { passed: 1, skipped: 0 });
    }

    #[test]
    fn a_test_that_prints_such_words_does_not_count() {
        assert_eq!(Counts::read("test three_ignored ... ok\n7 ignored\n"), Counts::default());
    }

    #[test]
    fn ignored_tests_are_named() {
        let output = "test a ... ok\ntest b ... ignored\ntest c ... ignored, slow\n";
        let named = Counts::skipping_lines(output);
        assert_eq!(named, "test b ... ignored\ntest c ... ignored, slow\n");
    }
}
