//! The step that runs the commands of the README's sections *Install* and *In Rust* as a new user would, in a new environment and a
//! new package.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::gate::{Context, StepOutcome};
use crate::{process, python};

/// Runs every command of the sections, and the commands that they installed.
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
    // Outside of the repository, because cargo adds a package inside of it to the workspace.
    let package = Package { folder: std::env::temp_dir().join("sapwood-readme-package") };
    all.extend(package.commands(&readme, &context.workspace.root)?);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(bin.clone()).chain(std::env::split_paths(&path));
    let path = std::env::join_paths(folders)?;
    let count = all.len();
    for (n, mut command) in all.into_iter().enumerate() {
        let name = format!("{command:?}");
        if command.get_current_dir().is_none() {
            command.current_dir(&context.workspace.root);
        }
        command.env("PATH", &path);
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

/// A new package with the program of the section *In Rust*, removed when it is dropped.
struct Package {
    folder: PathBuf,
}

impl Package {
    // Creates the package, and returns the commands of the section.
    fn commands(&self, readme: &str, clone: &Path) -> Result<Vec<Command>> {
        if self.folder.exists() {
            std::fs::remove_dir_all(&self.folder).context("cannot remove the last package")?;
        }
        let (_, section) = readme.split_once("\n## In Rust\n").unwrap_or_default();
        let (text, block) = section.split_once("```rust\n").unwrap_or_default();
        let (program, _) = block.split_once("```").unwrap_or_default();
        let commands: Vec<&str> =
            text.split('`').filter(|part| part.starts_with("cargo ")).collect();
        if commands.len() < 2 || program.is_empty() {
            bail!("README.md has no program and two commands under `## In Rust`");
        }
        std::fs::create_dir_all(self.folder.join("src"))?;
        let manifest = "[package]\nname = \"smaller\"\nedition = \"2024\"\n";
        std::fs::write(self.folder.join("Cargo.toml"), manifest)?;
        std::fs::write(self.folder.join("src/main.rs"), program)?;
        Ok(commands
            .iter()
            .map(|line| {
                let line = line.replace("<clone>", &clone.to_string_lossy());
                let mut words = line.split_whitespace();
                let mut command = Command::new(words.next().unwrap_or_default());
                command.args(words).current_dir(&self.folder);
                command
            })
            .collect())
    }
}

impl Drop for Package {
    fn drop(&mut self) {
        // What is left is removed by the next run.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
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
