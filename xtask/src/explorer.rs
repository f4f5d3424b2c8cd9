//! The tests of the explorer page: types, the committed page, unit tests, and tests in a browser.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::gate::{self, Context, StepOutcome};
use crate::process;

/// The path of the browser on Debian.
const BROWSER: &str = "/usr/bin/chromium";

/// Runs all tests of `explorer/`. Without Node or a browser, the summary mentions that; in CI it is a failure.
pub(crate) fn explorer(context: &Context<'_>) -> Result<StepOutcome> {
    let strict = std::env::var_os("CI").is_some();
    if !process::succeeds("npm", &["--version"]) {
        let summary = "npm is missing; the committed page was not checked".to_owned();
        return Ok(if strict {
            StepOutcome::Failed(summary, String::new())
        } else {
            StepOutcome::Unavailable(summary)
        });
    }
    if let Some(failed) = prepare(context)? {
        return Ok(failed);
    }
    let folder = context.workspace.root.join("explorer");
    // Builds with the arguments of the Rust tests, so that nothing is built twice.
    let mut build = context.cargo(gate::tests_command());
    let built = context.run_logged("explorer-build", build.arg("--no-run"))?;
    if !built.success {
        return Ok(StepOutcome::Failed("the command does not build".into(), built.output));
    }
    let mut test = npm(&folder, &["test"]);
    test.env("SAPWOOD", context.workspace.target.join("debug/sapwood"));
    let finished = context.run_logged("explorer", &mut test)?;
    if !finished.success {
        return Ok(StepOutcome::Failed(finished.problem, finished.output));
    }
    let passed = sum_of(&finished.output, "pass");
    let skipped = sum_of(&finished.output, "skipped") + sum_of(&finished.output, "todo");
    Ok(if skipped > 0 {
        StepOutcome::Failed(
            format!("{skipped} skipped; the gate must not skip tests"),
            finished.output,
        )
    } else if let Some(line) = finished.output.lines().find(|l| l.starts_with("no browser")) {
        StepOutcome::Passed(format!("{passed} tests; {line}"))
    } else {
        StepOutcome::Passed(format!("{passed} tests"))
    })
}

/// Installs the packages of the tests and, in CI, the browser. Returns the failure, if there is one.
pub(crate) fn prepare(context: &Context<'_>) -> Result<Option<StepOutcome>> {
    if std::env::var_os("CI").is_some() && !Path::new(BROWSER).exists() {
        install_browser(context)?;
    }
    install_packages(context, &context.workspace.root.join("explorer"))
}

// Installs the packages of the lock file, if it has changed.
fn install_packages(context: &Context<'_>, folder: &Path) -> Result<Option<StepOutcome>> {
    let lock = std::fs::read(folder.join("package-lock.json")).context("no package-lock.json")?;
    let stamp: PathBuf = folder.join("node_modules/.sapwood-lock");
    if std::fs::read(&stamp).is_ok_and(|installed| installed == lock) {
        return Ok(None);
    }
    let arguments = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
    let finished = context.run_logged("explorer-packages", &mut npm(folder, &arguments))?;
    if !finished.success {
        return Ok(Some(StepOutcome::Failed("npm ci failed".into(), finished.output)));
    }
    std::fs::write(stamp, lock)?;
    Ok(None)
}

// Installs Debian's browser. If that fails, the browser tests report that it is missing.
fn install_browser(context: &Context<'_>) -> Result<()> {
    let install = || {
        let mut command = Command::new("apt-get");
        command.args(["install", "-y", "--no-install-recommends", "chromium", "fonts-dejavu-core"]);
        command.env("DEBIAN_FRONTEND", "noninteractive");
        command
    };
    if !process::succeeds("apt-get", &["--version"]) {
        return Ok(());
    }
    if !context.run_logged("explorer-browser", &mut install())?.success {
        let mut update = Command::new("apt-get");
        context.run_logged("explorer-browser-update", update.arg("update"))?;
        context.run_logged("explorer-browser", &mut install())?;
    }
    Ok(())
}

fn npm(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("npm");
    command.args(arguments).current_dir(folder);
    command
}

// Adds up the numbers after a word in the summaries of Node's test runner, lines like "ℹ pass 14".
fn sum_of(output: &str, word: &str) -> usize {
    let numbers = output.lines().filter_map(|line| {
        let rest = line.trim_start_matches(['ℹ', '#', ' ']).strip_prefix(word)?;
        rest.trim().parse::<usize>().ok()
    });
    numbers.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_of_nodes_runner_are_added_up() {
        let output =
            "✔ pass it on (1ms)\nℹ tests 3\nℹ pass 3\nℹ skipped 0\nℹ pass 25\n# skipped 1\n";
        assert_eq!((sum_of(output, "pass"), sum_of(output, "skipped")), (28, 1));
    }
}
