//! Installing and measuring the peers.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail};

use super::rows::BenchRow;
use super::{Measurements, parse_measurements};
use crate::workspace::Workspace;
use crate::{process, python};

/// The time limit of a peer. Those of `onnx` take about a quarter of an hour.
const RUN_LIMIT: Duration = Duration::from_secs(40 * 60);
/// The time limit of an installation.
const INSTALL_LIMIT: Duration = Duration::from_secs(10 * 60);

/// Runs `benches/peers/<area>.py` in a virtual environment with the packages of `<area>.txt`.
pub(crate) fn measure(
    workspace: &Workspace,
    area: &str,
    rows: &[BenchRow],
) -> Result<Measurements> {
    let scripts = workspace.root.join("benches/peers");
    let script = scripts.join(format!("{area}.py"));
    if !script.exists() {
        bail!("benches/peers/{area}.py is missing");
    }
    let folder = workspace.target.join("peers").join(area);
    let python = python_environment(&folder, &scripts.join(format!("{area}.txt")))?;
    let output = run_script(workspace, &python, &script, &[])?;
    parse_measurements(area, rows, &output)
}

/// Runs `benches/peers/<area>.py --ours COMMAND`, for an area whose script measures the `sapwood` command too, and returns its output.
pub(crate) fn measure_command(workspace: &Workspace, area: &str) -> Result<String> {
    let mut build = Command::new("cargo");
    build.args(["build", "--quiet", "--profile", "dist", "--package", "sapwood"]);
    let built = process::run(build.current_dir(&workspace.root), false, None)?;
    if !built.success {
        bail!("the command was not built, {}:\n{}", built.problem, built.output);
    }
    let scripts = workspace.root.join("benches/peers");
    let folder = workspace.target.join("peers").join(area);
    let python = python_environment(&folder, &scripts.join(format!("{area}.txt")))?;
    let command = workspace.target.join(format!("dist/sapwood{}", std::env::consts::EXE_SUFFIX));
    let arguments = [OsStr::new("--ours"), command.as_os_str()];
    run_script(workspace, &python, &scripts.join(format!("{area}.py")), &arguments)
}

// Runs a script and returns its output.
fn run_script(
    workspace: &Workspace,
    python: &Path,
    script: &Path,
    arguments: &[&OsStr],
) -> Result<String> {
    let mut command = Command::new(python);
    command.env("SAPWOOD_PROGRAMS", super::rows::stablehlo::folder());
    command.env("SAPWOOD_BATCHED", super::rows::eval::batched_folder());
    command.env("SAPWOOD_MODELS", super::rows::onnx::folder(workspace));
    command.arg(script).args(arguments);
    let finished = process::run(&mut command, false, Some(RUN_LIMIT))?;
    if !finished.success {
        bail!("the script failed, {}:\n{}", finished.problem, finished.output);
    }
    // Other lines are for people.
    for line in finished.stdout.lines().filter(|line| !line.starts_with('{')) {
        println!("    {line}");
    }
    Ok(finished.stdout)
}

/// Writes the models with eight times the batch, which both sides of `eval` run.
pub(crate) fn write_batched_models(workspace: &Workspace) -> Result<()> {
    let scripts = workspace.root.join("benches/peers");
    let folder = workspace.target.join("peers/eval");
    let mut command = Command::new(python_environment(&folder, &scripts.join("eval.txt"))?);
    command.arg(scripts.join("batched.py")).arg(super::rows::stablehlo::folder());
    let finished =
        process::run(command.arg(super::rows::eval::batched_folder()), false, Some(RUN_LIMIT))?;
    if !finished.success {
        bail!("batched.py failed, {}:\n{}", finished.problem, finished.output);
    }
    Ok(())
}

/// Creates a virtual environment with the required packages, unless it is up to date, and returns its interpreter. Returns the
/// system's Python if no packages are required.
pub(crate) fn python_environment(folder: &Path, requirements_file: &Path) -> Result<PathBuf> {
    let python = python::interpreter(folder);
    let requirements = std::fs::read_to_string(requirements_file)?;
    let stamp = folder.join("installed.txt");
    if python.exists()
        && std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == requirements)
    {
        return Ok(python);
    }
    let Some(system) =
        ["python3", "python"].into_iter().find(|p| process::succeeds(p, &["--version"]))
    else {
        bail!("python3 is missing");
    };
    if requirements.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#'))
    {
        return Ok(system.into());
    }
    let mut create = Command::new(system);
    create.args(["-m", "venv", "--clear"]).arg(folder);
    let mut install = Command::new(&python);
    install
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"])
        .arg(requirements_file);
    for (action, command) in [("create an environment", &mut create), ("install", &mut install)] {
        let finished = process::run(command, false, Some(INSTALL_LIMIT))?;
        if !finished.success {
            bail!("cannot {action}, {}:\n{}", finished.problem, finished.output);
        }
    }
    std::fs::write(stamp, requirements)?;
    Ok(python)
}
