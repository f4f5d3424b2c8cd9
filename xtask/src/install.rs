//! The step that runs the commands of the README's section *Install* as a new user would, in a new environment.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::gate::{Context, StepOutcome};
use crate::{process, python};

/// Runs every command of the section, and the commands that they installed.
pub(crate) fn step(context: &Context<'_>) -> Result<StepOutcome> {
    let folder = context.workspace.target.join("install");
    if folder.exists() {
        std::fs::remove_dir_all(&folder).context("cannot remove the last installation")?;
    }
    let environment = folder.join("environment");
    let Some(system) =
        ["python3", "python"].into_iter().find(|p| process::succeeds(p, &["--version"]))
    else {
        return Ok(StepOutcome::Unavailable("python3 is missing".into()));
    };
    let mut create = Command::new(system);
    create.args(["-I", "-m", "venv"]).arg(&environment);
    let bin = python::interpreter(&environment).parent().map(Path::to_path_buf);
    let bin = bin.context("an interpreter is in a folder")?;
    let readme = std::fs::read_to_string(context.workspace.root.join("README.md"))?;
    let commands = install_commands(&readme);
    if commands.len() < 3 {
        bail!("README.md has {} commands under `## Install`, expected at least 3", commands.len());
    }
    let mut all = vec![create];
    all.extend(commands.iter().map(|words| {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]);
        command
    }));
    for installed in [&bin, &folder.join("cargo/bin")] {
        let name = format!("sapwood{}", std::env::consts::EXE_SUFFIX);
        let mut version = Command::new(installed.join(name));
        version.arg("--version");
        all.push(version);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(bin.clone()).chain(std::env::split_paths(&path));
    let path = std::env::join_paths(folders)?;
    let count = all.len();
    for (n, mut command) in all.into_iter().enumerate() {
        let name = format!("{command:?}");
        command.current_dir(&context.workspace.root).env("PATH", &path);
        command.env("CARGO_INSTALL_ROOT", folder.join("cargo"));
        command.env("CARGO_TARGET_DIR", &context.workspace.target);
        let finished = context.run_logged(&format!("install-{n}"), &mut command)?;
        if !finished.success {
            return Ok(StepOutcome::Failed(
                format!("{name}: {}", finished.problem),
                finished.output,
            ));
        }
    }
    Ok(StepOutcome::Passed(format!("{count} commands")))
}

// Returns the commands of the section, split into words, without their comments.
fn install_commands(readme: &str) -> Vec<Vec<&str>> {
    let (_, section) = readme.split_once("\n## Install\n").unwrap_or_default();
    let (section, _) = section.split_once("\n## ").unwrap_or((section, ""));
    let (_, block) = section.split_once("```sh\n").unwrap_or_default();
    let (block, _) = block.split_once("```").unwrap_or_default();
    let commands = block.lines().map(|line| line.split(" #").next().unwrap_or_default());
    commands
        .map(|line| line.split_whitespace().collect())
        .filter(|c: &Vec<_>| !c.is_empty())
        .collect()
}
