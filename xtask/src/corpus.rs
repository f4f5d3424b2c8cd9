//! `cargo xtask corpus`: StableHLO programs that others wrote, and with `--full` what jaxlib says of how we print them.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::bench;
use crate::gate::{Context, Outcome};
use crate::workspace::Workspace;

/// Runs the example that does the work. True if every program passed.
pub(crate) fn run(folder: &str, out: Option<&str>) -> Result<bool> {
    let workspace = Workspace::find()?;
    let mut command = example(&workspace);
    command.arg(absolute(folder)?);
    if let Some(out) = out {
        command.arg(absolute(out)?);
    }
    let status = command.status().context("cannot run cargo")?;
    Ok(status.success())
}

fn example(workspace: &Workspace) -> Command {
    let mut command = Command::new("cargo");
    command.current_dir(&workspace.root);
    command.args(["run", "--release", "--quiet", "--package", "sapwood-stablehlo"]);
    command.args(["--example", "corpus", "--"]);
    command
}

fn absolute(path: &str) -> Result<PathBuf> {
    std::path::absolute(path).with_context(|| format!("`{path}` is no path"))
}

/// The corpus that is shared beside the repository, or the programs of our own where there is none: all pass, and
/// jaxlib accepts what is printed and computes the same on XLA:CPU.
pub(crate) fn step(context: &Context<'_>) -> Result<Outcome> {
    let root = &context.workspace.root;
    let shared = root.join("../shared/corpus/stablehlo");
    let folder = if shared.is_dir() { shared } else { root.join("programs") };
    let printed = context.workspace.target.join("corpus");
    if printed.is_dir() {
        std::fs::remove_dir_all(&printed).context("cannot empty the folder of printed programs")?;
    }
    let mut command = example(context.workspace);
    let ran = context.step("corpus", command.arg(&folder).arg(&printed))?;
    let known = ran.stdout.lines().filter(|line| line.contains("    known: ")).count();
    if !ran.success {
        return Ok(Outcome::Failed(ran.problem, ran.output));
    }
    let checked = with_jaxlib(context, "corpus-jaxlib", &folder, &printed, &[])?;
    let summary = checked.stdout.lines().last().unwrap_or_default().to_owned();
    if !checked.success {
        return Ok(Outcome::Failed(format!("jaxlib: {summary}"), checked.output));
    }
    let iree = iree(context)?;
    let counts = with_jaxlib(context, "corpus-counts", &folder, &printed, &["--counts", &iree])?;
    let left = counts.stdout.lines().last().unwrap_or_default().to_owned();
    if !counts.success {
        return Ok(Outcome::Failed(format!("ops left: {left}"), counts.output));
    }
    Ok(Outcome::Passed(format!(
        "{known} programs fail for a known reason; jaxlib: {summary}; {left}"
    )))
}

// IREE's tools, in an environment of their own: `--iree=…/iree-opt`.
fn iree(context: &Context<'_>) -> Result<String> {
    let wanted = context.workspace.root.join("tests/oracle/iree.txt");
    let python = bench::environment(&context.workspace.target.join("iree"), &wanted)?;
    let tool = python.with_file_name(if cfg!(windows) { "iree-opt.exe" } else { "iree-opt" });
    Ok(format!("--iree={}", tool.display()))
}

fn with_jaxlib(
    context: &Context<'_>,
    step: &str,
    folder: &Path,
    printed: &Path,
    options: &[&str],
) -> Result<crate::process::Finished> {
    let scripts = context.workspace.root.join("tests/oracle");
    let environment = context.workspace.target.join("oracle");
    let python = bench::environment(&environment, &scripts.join("requirements.txt"))?;
    let mut command = Command::new(python);
    command.arg(scripts.join("stablehlo.py")).arg(folder).arg(printed).args(options);
    context.step(step, &mut command)
}
