//! The page of the explorer: types, whether the committed page is what the sources build to, unit tests, and tests in a
//! real browser.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::gate::{self, Context, Outcome};
use crate::process;

/// Where Debian puts its browser.
const BROWSER: &str = "/usr/bin/chromium";

/// All tests of `explorer/`. Without Node, or without a browser, it says so and goes on; in CI that is a failure.
pub(crate) fn explorer(context: &Context<'_>) -> Result<Outcome> {
    let strict = std::env::var_os("CI").is_some();
    if !process::works("npm", &["--version"]) {
        let words = "there is no npm; the committed page was not checked".to_owned();
        return Ok(if strict {
            Outcome::Failed(words, String::new())
        } else {
            Outcome::Unavailable(words)
        });
    }
    if strict && !Path::new(BROWSER).exists() {
        install_browser(context)?;
    }
    let folder = context.workspace.root.join("explorer");
    if let Some(failed) = packages(context, &folder)? {
        return Ok(failed);
    }
    // With what the Rust tests were built with: after them nothing is built anew.
    let mut build = context.cargo(gate::tests_command());
    let built = context.step("explorer-build", build.arg("--no-run"))?;
    if !built.success {
        return Ok(Outcome::Failed("the command does not build".into(), built.output));
    }
    let mut test = npm(&folder, &["test"]);
    test.env("SAPWOOD", context.workspace.target.join("debug/sapwood"));
    let finished = context.step("explorer", &mut test)?;
    if !finished.success {
        return Ok(Outcome::Failed(finished.problem, finished.output));
    }
    let passed = sum(&finished.output, "pass");
    let skipped = sum(&finished.output, "skipped") + sum(&finished.output, "todo");
    Ok(if skipped > 0 {
        Outcome::Failed(format!("{skipped} skipped; the gate skips nothing"), finished.output)
    } else if let Some(line) = finished.output.lines().find(|l| l.starts_with("no browser")) {
        Outcome::Passed(format!("{passed} tests; {line}"))
    } else {
        Outcome::Passed(format!("{passed} tests"))
    })
}

// What the lock file says, fetched again only when it changed.
fn packages(context: &Context<'_>, folder: &Path) -> Result<Option<Outcome>> {
    let lock = std::fs::read(folder.join("package-lock.json")).context("no package-lock.json")?;
    let stamp: PathBuf = folder.join("node_modules/.sapwood-lock");
    if std::fs::read(&stamp).is_ok_and(|known| known == lock) {
        return Ok(None);
    }
    let arguments = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
    let finished = context.step("explorer-packages", &mut npm(folder, &arguments))?;
    if !finished.success {
        return Ok(Some(Outcome::Failed("npm ci failed".into(), finished.output)));
    }
    std::fs::write(stamp, lock)?;
    Ok(None)
}

// From Debian's packages; if that fails, the browser tests say that there is none.
fn install_browser(context: &Context<'_>) -> Result<()> {
    let install = || {
        let mut command = Command::new("apt-get");
        command.args(["install", "-y", "--no-install-recommends", "chromium", "fonts-dejavu-core"]);
        command.env("DEBIAN_FRONTEND", "noninteractive");
        command
    };
    if !process::works("apt-get", &["--version"]) {
        return Ok(());
    }
    if !context.step("explorer-browser", &mut install())?.success {
        let mut update = Command::new("apt-get");
        context.step("explorer-browser-update", update.arg("update"))?;
        context.step("explorer-browser", &mut install())?;
    }
    Ok(())
}

fn npm(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("npm");
    command.args(arguments).current_dir(folder);
    command
}

// Node's runner ends with lines like "ℹ pass 14", one summary per run.
fn sum(output: &str, word: &str) -> usize {
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
        assert_eq!((sum(output, "pass"), sum(output, "skipped")), (28, 1));
    }
}
