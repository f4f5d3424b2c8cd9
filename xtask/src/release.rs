//! `cargo xtask release`: what is published, built and checked, and nothing uploaded.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::workspace::Workspace;
use crate::{process, python};

/// A wheel is at most this large.
const MOST_BYTES: u64 = 15_000_000;

/// Prints which of the paths after the first argument stand somewhere in the wheel that the first one names.
const FIND_PATHS: &str = "
import os, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as wheel:
    for name in wheel.namelist():
        content = name.encode() + wheel.read(name)
        for path in sys.argv[2:]:
            if (path + os.sep).encode() in content:
                print(f'{name}: {path}')
";

/// Builds the wheel in release mode, looks at it, and lets cargo pack and check every crate that is published.
pub(crate) fn run() -> Result<bool> {
    let workspace = Workspace::find()?;
    let places = places(&workspace);
    println!("==> wheel");
    let (wheel, python) = python::release_wheel(&workspace, renamed(&places))?;
    check_wheel(&wheel, &python, &places)?;
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

/// The folders of who builds, inner ones first, and what stands for them in what is published: messages of panics name files.
fn places(workspace: &Workspace) -> Vec<(PathBuf, &'static str)> {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let mut places = vec![(workspace.target.clone(), "target"), (workspace.root.clone(), ".")];
    let known = [(folder("CARGO_HOME"), "cargo"), (folder("RUSTUP_HOME"), "rustup")];
    places.extend(known.into_iter().filter_map(|(folder, name)| Some((folder?, name))));
    places.extend(std::env::home_dir().map(|home| (home, "home")));
    // The root of all folders is nobody's own.
    places.retain(|(folder, _)| folder.components().count() > 1);
    places
}

/// Flags with which the compiler calls the places otherwise.
fn renamed(places: &[(PathBuf, &str)]) -> String {
    // Of several that fit the last counts.
    let flag = |(folder, name): &(PathBuf, &str)| {
        format!("--remap-path-prefix={}={name}", folder.display())
    };
    places.iter().rev().map(flag).collect::<Vec<_>>().join("\u{1f}")
}

fn check_wheel(wheel: &Path, python: &Path, places: &[(PathBuf, &str)]) -> Result<()> {
    let name = wheel.file_name().context("a wheel has a name")?.to_string_lossy();
    if !name.contains("-abi3-") {
        bail!("{name} is for one version of Python; it should be abi3");
    }
    let bytes = wheel.metadata()?.len();
    if bytes > MOST_BYTES {
        bail!("{name} has {bytes} bytes; the most is {MOST_BYTES}");
    }
    let mut find = Command::new(python);
    find.args(["-I", "-c", FIND_PATHS]).arg(wheel).args(places.iter().map(|(folder, _)| folder));
    let found = process::run(&mut find, false, None)?;
    if !found.success {
        bail!("the wheel cannot be looked at, {}:\n{}", found.problem, found.output);
    }
    if !found.stdout.is_empty() {
        bail!("{name} names folders of the machine it was built on:\n{}", found.stdout);
    }
    Ok(())
}
