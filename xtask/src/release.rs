//! `cargo xtask release`: builds and checks the published packages without uploading them.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::workspace::Workspace;
use crate::{process, python};

/// The largest size of a wheel in bytes.
const MAX_WHEEL_BYTES: u64 = 15_000_000;

/// A Python script that prints which of the paths after the first argument occur in the wheel of the first argument.
const FIND_PATHS: &str = "
import os, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as wheel:
    for name in wheel.namelist():
        content = name.encode() + wheel.read(name)
        for path in sys.argv[2:]:
            if (path + os.sep).encode() in content:
                print(f'{name}: {path}')
";

/// Builds and checks the wheel, and packs and checks every published crate with cargo.
pub(crate) fn run() -> Result<bool> {
    let workspace = Workspace::find()?;
    let folders = local_folders(&workspace);
    println!("==> wheel");
    let (wheel, python) = python::release_wheel(&workspace, remap_flags(&folders))?;
    check_wheel(&wheel, &python, &folders)?;
    println!("    {}", wheel.strip_prefix(&workspace.root).unwrap_or(&wheel).display());
    println!("==> crates");
    let mut publish = Command::new("cargo");
    publish.args(["publish", "--workspace", "--dry-run", "--locked"]);
    let finished = process::run(publish.current_dir(&workspace.root), true, None)?;
    if !finished.success {
        bail!("cargo would not publish: {}", finished.problem);
    }
    Ok(true)
}

/// Returns the local folders, inner ones first, and the names that replace them in the published files: panic messages contain
/// paths.
fn local_folders(workspace: &Workspace) -> Vec<(PathBuf, &'static str)> {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let mut folders = vec![(workspace.target.clone(), "target"), (workspace.root.clone(), ".")];
    let known = [(folder("CARGO_HOME"), "cargo"), (folder("RUSTUP_HOME"), "rustup")];
    folders.extend(known.into_iter().filter_map(|(folder, name)| Some((folder?, name))));
    folders.extend(std::env::home_dir().map(|home| (home, "home")));
    // The root folder is not specific to this machine.
    folders.retain(|(folder, _)| folder.components().count() > 1);
    folders
}

/// Returns the compiler flags that rename local folders.
fn remap_flags(folders: &[(PathBuf, &str)]) -> String {
    // If several prefixes match, the last one counts.
    let flag = |(folder, name): &(PathBuf, &str)| {
        format!("--remap-path-prefix={}={name}", folder.display())
    };
    folders.iter().rev().map(flag).collect::<Vec<_>>().join("\u{1f}")
}

fn check_wheel(wheel: &Path, python: &Path, folders: &[(PathBuf, &str)]) -> Result<()> {
    let name = wheel.file_name().context("a wheel has a name")?.to_string_lossy();
    if !name.contains("-abi3-") {
        bail!("{name} is for one version of Python; it should be abi3");
    }
    let bytes = wheel.metadata()?.len();
    if bytes > MAX_WHEEL_BYTES {
        bail!("{name} has {bytes} bytes; the limit is {MAX_WHEEL_BYTES}");
    }
    let mut find = Command::new(python);
    find.args(["-I", "-c", FIND_PATHS]).arg(wheel).args(folders.iter().map(|(folder, _)| folder));
    let found = process::run(&mut find, false, None)?;
    if !found.success {
        bail!("the wheel cannot be checked, {}:\n{}", found.problem, found.output);
    }
    if !found.stdout.is_empty() {
        bail!("{name} contains paths of the build machine:\n{}", found.stdout);
    }
    Ok(())
}
