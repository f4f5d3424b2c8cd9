//! `cargo xtask release`: what is published, built and checked, and nothing uploaded.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::workspace::Workspace;
use crate::{process, python};

/// A wheel is at most this large.
const MOST_BYTES: u64 = 15_000_000;

/// Builds the wheel in release mode, looks at it, and lets cargo pack and check every crate that is published.
pub(crate) fn run() -> Result<bool> {
    let workspace = Workspace::find()?;
    println!("==> wheel");
    let wheel = python::release_wheel(&workspace)?;
    check_wheel(&wheel)?;
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

fn check_wheel(wheel: &Path) -> Result<()> {
    let name = wheel.file_name().context("a wheel has a name")?.to_string_lossy();
    if !name.contains("-abi3-") {
        bail!("{name} is for one version of Python; it should be abi3");
    }
    let bytes = wheel.metadata()?.len();
    if bytes > MOST_BYTES {
        bail!("{name} has {bytes} bytes; the most is {MOST_BYTES}");
    }
    Ok(())
}
