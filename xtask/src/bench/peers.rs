//! Getting the peers and running their side.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail};

use super::rows::Row;
use super::{Side, read_side};
use crate::process;
use crate::workspace::Workspace;

/// A peer that takes longer than this is stopped.
const LIMIT: Duration = Duration::from_secs(20 * 60);
/// So is an installation.
const INSTALL_LIMIT: Duration = Duration::from_secs(10 * 60);

/// Runs `benches/peers/<area>.py` in an environment of its own with what `<area>.txt` asks for.
pub(crate) fn measure(workspace: &Workspace, area: &str, rows: &[Row]) -> Result<Side> {
    let scripts = workspace.root.join("benches/peers");
    let script = scripts.join(format!("{area}.py"));
    if !script.exists() {
        bail!("there is no benches/peers/{area}.py");
    }
    let folder = workspace.target.join("peers").join(area);
    let python = environment(&folder, &scripts.join(format!("{area}.txt")))?;
    let mut command = Command::new(python);
    command.env("SAPWOOD_PROGRAMS", super::rows::stablehlo::folder());
    let finished = process::run(command.arg(script), false, Some(LIMIT))?;
    if !finished.success {
        bail!("the peer's script failed, {}:\n{}", finished.problem, finished.output);
    }
    read_side(area, rows, &finished.stdout)
}

/// A virtual environment with the wanted packages; made once, and again when the wish changes. Where nothing is wanted, the
/// system's Python.
pub(crate) fn environment(folder: &Path, wanted: &Path) -> Result<PathBuf> {
    let python = folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let wish = std::fs::read_to_string(wanted)?;
    let stamp = folder.join("installed.txt");
    if python.exists() && std::fs::read_to_string(&stamp).is_ok_and(|have| have == wish) {
        return Ok(python);
    }
    let Some(system) =
        ["python3", "python"].into_iter().find(|p| process::works(p, &["--version"]))
    else {
        bail!("there is no python3");
    };
    if wish.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#')) {
        return Ok(system.into());
    }
    let mut make = Command::new(system);
    make.args(["-m", "venv", "--clear"]).arg(folder);
    let mut install = Command::new(&python);
    install
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"])
        .arg(wanted);
    for (what, command) in [("make an environment", &mut make), ("install", &mut install)] {
        let finished = process::run(command, false, Some(INSTALL_LIMIT))?;
        if !finished.success {
            bail!("cannot {what}, {}:\n{}", finished.problem, finished.output);
        }
    }
    std::fs::write(stamp, wish)?;
    Ok(python)
}
