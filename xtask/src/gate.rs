//! `cargo xtask test`: the gate, and with `--full` the second tier.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

use crate::workspace::Workspace;
use crate::{bench, corpus, explorer, features, full, install, process, python, release, site};

/// The options of `cargo xtask test`.
pub(crate) struct TestOptions {
    /// Also runs the second tier.
    pub(crate) full: bool,
    /// The steps to run, of both tiers; all of the chosen tiers if empty.
    pub(crate) steps: Vec<String>,
    /// Shows the output of the steps.
    pub(crate) verbose: bool,
    /// The seconds of each fuzz target in the second tier.
    pub(crate) fuzz_seconds: u64,
}

/// The outcome of a step.
pub(crate) enum StepOutcome {
    /// The step passed, with a short summary.
    Passed(String),
    /// The step failed, with a short summary and the full output.
    Failed(String, String),
    /// The machine lacks a tool, which does not count as a failure.
    Unavailable(String),
}

/// The workspace and the options, which every step gets.
pub(crate) struct Context<'a> {
    /// The workspace.
    pub(crate) workspace: &'a Workspace,
    /// The options.
    pub(crate) options: &'a TestOptions,
}

/// The variable with the seed of the property tests. It is fixed in the gate, so that the same sources always get the
/// same verdict; the second tier draws new cases each time.
const PROPERTY_SEED: &str = "PROPTEST_RNG_SEED";

type GateStep = fn(&Context<'_>) -> Result<StepOutcome>;

/// The steps of the gate in order: fast ones first.
const GATE: &[(&str, GateStep)] = &[
    ("format", format),
    ("clippy", clippy),
    ("features", features::each_alone),
    ("docs", docs),
    ("tests", tests),
    ("doctests", doctests),
    ("explorer", explorer::explorer),
    ("python", python::test),
];

/// The steps of the second tier, which run after the gate.
const FULL: &[(&str, GateStep)] = &[
    ("site", site::step),
    ("all features", features::all_combinations),
    ("install", install::step),
    ("release", release::step),
    ("oracle", full::oracle),
    ("costs", full::costs),
    ("corpus", corpus::step),
    ("onnx", corpus::onnx_step),
    ("pytorch", full::pytorch),
    ("fuzz", full::fuzz),
    ("miri", full::miri),
    ("bench --peers", bench_with_peers),
];

/// Returns the names of the steps of both tiers.
pub(crate) fn step_names() -> Vec<&'static str> {
    GATE.iter().chain(FULL).map(|(name, _)| *name).collect()
}

/// Runs all steps, even after a failure, and prints a summary. Returns true if none failed.
pub(crate) fn run(options: &TestOptions) -> Result<bool> {
    let workspace = Workspace::find()?;
    let context = Context { workspace: &workspace, options };
    let second = options.full || !options.steps.is_empty();
    let selected = |name: &str| options.steps.is_empty() || options.steps.iter().any(|s| s == name);
    let steps = GATE.iter().chain(if second { FULL } else { &[] });
    let steps = steps.filter(|(name, _)| selected(name));
    let logs = workspace.target.join("gate");
    std::fs::create_dir_all(&logs).context("cannot create the folder for the logs")?;
    let start = Instant::now();
    let mut lines = Vec::new();
    let mut failed = 0;
    for (name, step) in steps {
        println!("==> {name}");
        let step_start = Instant::now();
        let outcome = step(&context).unwrap_or_else(|error| {
            StepOutcome::Failed("could not run".into(), format!("{error:#}\n"))
        });
        let (mark, summary) = match outcome {
            StepOutcome::Passed(summary) => ("ok", summary),
            StepOutcome::Unavailable(summary) => ("unavailable", summary),
            StepOutcome::Failed(summary, output) => {
                failed += 1;
                if !options.verbose {
                    print!("{output}");
                }
                ("FAILED", summary)
            }
        };
        let line = format!("{name:<14} {mark:<11} {:>7}  {summary}", seconds(step_start.elapsed()));
        println!("    {}", line.trim_end());
        lines.push(line);
    }
    println!("\nsummary, {} in total", seconds(start.elapsed()));
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
    /// Returns a cargo command that runs in the root of the workspace.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Command {
        // Rustup's `cargo` instead of `$CARGO`, so that `+nightly` works.
        let mut command = Command::new("cargo");
        command.args(arguments).current_dir(&self.workspace.root);
        // `cargo run` has set these variables for this process only.
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
        } else if std::env::var_os(PROPERTY_SEED).is_none() {
            command.env(PROPERTY_SEED, "1");
        }
        command
    }

    /// Runs a command and writes its output to a log.
    pub(crate) fn run_logged(
        &self,
        name: &str,
        command: &mut Command,
    ) -> Result<process::ProcessResult> {
        let finished = process::run(command, self.options.verbose, None)?;
        std::fs::write(self.workspace.target.join(format!("gate/{name}.log")), &finished.output)?;
        Ok(finished)
    }
}

// Runs a step that passes if its command succeeds.
fn run_step(context: &Context<'_>, name: &str, command: &mut Command) -> Result<StepOutcome> {
    let finished = context.run_logged(name, command)?;
    Ok(if finished.success {
        StepOutcome::Passed(String::new())
    } else {
        StepOutcome::Failed(finished.problem, finished.output)
    })
}

fn format(context: &Context<'_>) -> Result<StepOutcome> {
    let mut outcome =
        run_step(context, "format", &mut context.cargo(&["fmt", "--all", "--check"]))?;
    // The crates that are not members of the workspace.
    for manifest in ["fuzz/Cargo.toml", "examples/mycompiler/Cargo.toml"] {
        if !matches!(outcome, StepOutcome::Passed(_)) {
            break;
        }
        let arguments = ["fmt", "--manifest-path", manifest, "--check"];
        outcome = run_step(context, "format-others", &mut context.cargo(&arguments))?;
    }
    Ok(outcome)
}

fn clippy(context: &Context<'_>) -> Result<StepOutcome> {
    let arguments = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
    run_step(context, "clippy", &mut context.cargo(&arguments))
}

fn docs(context: &Context<'_>) -> Result<StepOutcome> {
    let mut command = context.cargo(&["doc", "--workspace", "--no-deps"]);
    run_step(context, "docs", command.env("RUSTDOCFLAGS", "-D warnings"))
}

fn tests(context: &Context<'_>) -> Result<StepOutcome> {
    run_tests(context, "tests", context.cargo(tests_command()).arg("--no-fail-fast"))
}

/// Returns the cargo arguments that run the Rust tests. They also build the `sapwood` command.
pub(crate) fn tests_command() -> &'static [&'static str] {
    if process::succeeds("cargo", &["nextest", "--version"]) {
        &["nextest", "run", "--workspace"]
    } else {
        &["test", "--workspace", "--lib", "--bins", "--tests", "--examples"]
    }
}

fn doctests(context: &Context<'_>) -> Result<StepOutcome> {
    let arguments = ["test", "--workspace", "--no-fail-fast", "--doc"];
    run_tests(context, "doctests", &mut context.cargo(&arguments))
}

/// Runs tests. At least one must run, all must pass, and none may be skipped.
fn run_tests(context: &Context<'_>, name: &str, command: &mut Command) -> Result<StepOutcome> {
    let finished = context.run_logged(name, command)?;
    let counts = TestCounts::parse(&finished.output);
    if !finished.success {
        return Ok(StepOutcome::Failed(finished.problem, finished.output));
    }
    if counts.skipped > 0 {
        let summary = format!("{} skipped; the gate must not skip tests", counts.skipped);
        return Ok(StepOutcome::Failed(summary, TestCounts::skipped_test_lines(&finished.output)));
    }
    if counts.passed == 0 {
        return Ok(StepOutcome::Failed("no test ran".into(), finished.output));
    }
    Ok(StepOutcome::Passed(format!("{} tests", counts.passed)))
}

fn bench_with_peers(_: &Context<'_>) -> Result<StepOutcome> {
    let passed = bench::run(&bench::BenchOptions { area: None, peers: true })?;
    Ok(if passed {
        StepOutcome::Passed(String::new())
    } else {
        StepOutcome::Failed("see the table above".into(), String::new())
    })
}

/// The numbers of passed and skipped tests, from the output of the test runner.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct TestCounts {
    /// The number of tests that passed.
    pub(crate) passed: usize,
    /// The number of tests that were ignored, skipped or filtered out.
    pub(crate) skipped: usize,
}

impl TestCounts {
    /// Adds up all summaries in an output.
    pub(crate) fn parse(output: &str) -> Self {
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

    /// Returns the lines of an output that name skipped tests.
    fn skipped_test_lines(output: &str) -> String {
        let named = |line: &&str| {
            let line = line.trim();
            line.ends_with("... ignored")
                || line.contains("... ignored,")
                || line.starts_with("SKIP")
        };
        output.lines().filter(named).map(|line| format!("{line}\n")).collect()
    }
}

/// Returns the number in front of a word: 5 for "passed" in "ok. 5 passed; 0 failed".
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
        assert_eq!(TestCounts::parse(output), TestCounts { passed: 31, skipped: 3 });
    }

    #[test]
    fn counts_of_nextest() {
        let output = "     Summary [   0.105s] 31 tests run: 31 passed (1 slow), 4 skipped\n";
        assert_eq!(TestCounts::parse(output), TestCounts { passed: 31, skipped: 4 });
        let output = "     Summary [   0.105s] 1 test run: 1 passed, 0 skipped\n";
        assert_eq!(TestCounts::parse(output), TestCounts { passed: 1, skipped: 0 });
    }

    #[test]
    fn a_test_that_prints_such_words_does_not_count() {
        assert_eq!(
            TestCounts::parse("test three_ignored ... ok\n7 ignored\n"),
            TestCounts::default()
        );
    }

    #[test]
    fn ignored_tests_are_named() {
        let output = "test a ... ok\ntest b ... ignored\ntest c ... ignored, slow\n";
        let named = TestCounts::skipped_test_lines(output);
        assert_eq!(named, "test b ... ignored\ntest c ... ignored, slow\n");
    }
}
