//! The Python package: its wheel is built, installed into an environment of its own, and tested there.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::bench;
use crate::gate::{Context, Outcome};

/// Builds the wheel, installs it and runs pytest. A skipped test is a failure.
pub(crate) fn test(context: &Context<'_>) -> Result<Outcome> {
    let python = match install(context)? {
        Ok(python) => python,
        Err(failed) => return Ok(failed),
    };
    let mut tests = Command::new(&python);
    // From the root: the package in `python/` has no native half, and must not be found first.
    tests.args(["-P", "-m", "pytest", "-c", "python/pyproject.toml", "python/tests"]);
    tests.current_dir(&context.workspace.root);
    if context.options.full {
        tests.env("SAPWOOD_FULL", "1");
    }
    let finished = context.step("python-tests", &mut tests)?;
    let summary = finished.stdout.lines().last().unwrap_or_default().trim_matches('=').trim();
    if !finished.success {
        return Ok(Outcome::Failed(finished.problem, finished.output));
    }
    if ["skipped", "xfailed", "deselected"].iter().any(|word| summary.contains(word)) {
        let words = format!("{summary}; the gate skips nothing");
        return Ok(Outcome::Failed(words, finished.output));
    }
    Ok(Outcome::Passed(summary.to_owned()))
}

/// The interpreter of an environment that has the wheel.
fn install(context: &Context<'_>) -> Result<Result<PathBuf, Outcome>> {
    let root = &context.workspace.root;
    let folder = context.workspace.target.join("python");
    let wanted = root.join("python/requirements-test.txt");
    let python = bench::environment(&folder.join("environment"), &wanted)?;
    let wheels = folder.join("wheels");
    if wheels.exists() {
        std::fs::remove_dir_all(&wheels).context("cannot remove the wheels of the last run")?;
    }
    // The profile of the tests, so that nothing is built twice. Releases use `--release`.
    let mut build = Command::new(&python);
    build.args(["-m", "maturin", "build", "--profile", "dev", "--locked", "--out"]).arg(&wheels);
    build.args(["--interpreter"]).arg(&python).current_dir(root.join("python"));
    build.env("CARGO_TARGET_DIR", &context.workspace.target);
    let built = context.step("python-wheel", &mut build)?;
    if !built.success {
        return Ok(Err(Outcome::Failed("the wheel was not built".into(), built.output)));
    }
    let mut install = Command::new(&python);
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    install.args(["--force-reinstall", "--no-deps"]).arg(only_file(&wheels)?);
    let installed = context.step("python-install", &mut install)?;
    if !installed.success {
        let words = "the wheel was not installed".into();
        return Ok(Err(Outcome::Failed(words, installed.output)));
    }
    Ok(Ok(python))
}

fn only_file(folder: &Path) -> Result<PathBuf> {
    let mut files = std::fs::read_dir(folder)?;
    let file = files.next().context("maturin left no wheel")??;
    Ok(file.path())
}
