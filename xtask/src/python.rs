//! The tests of the Python package: the wheel is built, installed into a virtual environment, and tested there.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::gate::{Context, StepOutcome};
use crate::workspace::Workspace;
use crate::{bench, process};

/// The arguments of Python that run the tests of the package. They run in the root: the package in `python/` has no native
/// module, and must not be imported.
pub(crate) const TESTS: &[&str] =
    &["-I", "-m", "pytest", "-c", "python/pyproject.toml", "python/tests"];

/// Builds the wheel, installs it and runs pytest. A skipped test is a failure.
pub(crate) fn test(context: &Context<'_>) -> Result<StepOutcome> {
    let python = match install(context)? {
        Ok(python) => python,
        Err(failed) => return Ok(failed),
    };
    let mut tests = Command::new(&python);
    tests.args(TESTS).current_dir(&context.workspace.root);
    if context.options.full {
        tests.env("SAPWOOD_FULL", "1");
    }
    let finished = context.run_logged("python-tests", &mut tests)?;
    if !finished.success {
        return Ok(StepOutcome::Failed(finished.problem, finished.output));
    }
    if let Some(problem) = skipped_tests(&finished.stdout) {
        return Ok(StepOutcome::Failed(problem, finished.output));
    }
    Ok(StepOutcome::Passed(summary(&finished.stdout).to_owned()))
}

/// Returns an error message if the output of pytest reports skipped tests.
pub(crate) fn skipped_tests(output: &str) -> Option<String> {
    let summary = summary(output);
    let skipped = ["skipped", "xfailed", "deselected"].iter().any(|word| summary.contains(word));
    skipped.then(|| format!("{summary}; the gate must not skip tests"))
}

// Returns the last line of the output of pytest, which counts the tests.
fn summary(output: &str) -> &str {
    output.lines().last().unwrap_or_default().trim_matches('=').trim()
}

/// Returns the interpreter of a virtual environment.
pub(crate) fn interpreter(environment: &Path) -> PathBuf {
    environment.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" })
}

/// Installs the wheel into the gate's environment, and returns its interpreter.
fn install(context: &Context<'_>) -> Result<Result<PathBuf, StepOutcome>> {
    let full = context.options.full;
    let name = if full { "requirements-full.txt" } else { "requirements-test.txt" };
    let requirements = context.workspace.root.join("python").join(name);
    let wheel = Wheel {
        workspace: context.workspace,
        folder: if full { "python-full" } else { "python" },
        requirements: &requirements,
        // The profile of the tests, so that nothing is built twice. Releases use `dist`.
        profile: "dev",
    };
    let run = |name: &str, command: &mut Command| context.run_logged(name, command);
    wheel.install(&run)
}

/// Runs our benchmarks of the area `python`, and returns their output.
pub(crate) fn bench(workspace: &Workspace) -> Result<String> {
    let requirements = workspace.root.join("python/requirements-test.txt");
    let (folder, profile) = ("python-bench", "dist");
    let wheel = Wheel { workspace, folder, requirements: &requirements, profile };
    let python = installed(&wheel)?;
    let mut measure = Command::new(python);
    // Isolated, but the script imports others from its folder.
    measure.args(["-E", "-s"]).arg(workspace.root.join("benches/peers/python.py")).arg("--ours");
    let finished = process::run(measure.current_dir(&workspace.target), false, None)?;
    if !finished.success {
        bail!("our side failed, {}:\n{}", finished.problem, finished.output);
    }
    Ok(finished.stdout)
}

/// Installs the package for the documentation site, and returns the interpreter.
pub(crate) fn site_environment(workspace: &Workspace) -> Result<PathBuf> {
    let requirements = workspace.root.join("docs/site/requirements.txt");
    let wheel = Wheel { workspace, folder: "site", requirements: &requirements, profile: "dev" };
    installed(&wheel)
}

/// A wheel to build, and the environment to install it into.
struct Wheel<'a> {
    workspace: &'a Workspace,
    folder: &'a str,
    requirements: &'a Path,
    profile: &'a str,
}

// Installs a wheel outside of the gate: a failure is an error.
fn installed(wheel: &Wheel<'_>) -> Result<PathBuf> {
    let run = |_: &str, command: &mut Command| process::run(command, false, None);
    match wheel.install(&run)? {
        Ok(python) => Ok(python),
        Err(StepOutcome::Failed(words, output)) => bail!("{words}:\n{output}"),
        Err(_) => bail!("the wheel was not installed"),
    }
}

/// A function that runs a command under a name.
type Run<'a> = dyn Fn(&str, &mut Command) -> Result<process::ProcessResult> + 'a;

impl Wheel<'_> {
    /// Builds and installs the wheel, and returns the interpreter of the environment.
    fn install(&self, run: &Run<'_>) -> Result<Result<PathBuf, StepOutcome>> {
        let folder = self.workspace.target.join(self.folder);
        let python = bench::python_environment(&folder.join("environment"), self.requirements)?;
        let wheels = folder.join("wheels");
        if wheels.exists() {
            std::fs::remove_dir_all(&wheels).context("cannot remove the wheels of the last run")?;
        }
        let mut build = Command::new(&python);
        build.args(["-m", "maturin", "build", "--locked", "--profile", self.profile, "--out"]);
        build.arg(&wheels).arg("--interpreter").arg(&python);
        build.current_dir(self.workspace.root.join("python"));
        build.env("CARGO_TARGET_DIR", &self.workspace.target);
        let built = run("python-wheel", &mut build)?;
        if !built.success {
            return Ok(Err(StepOutcome::Failed("the wheel was not built".into(), built.output)));
        }
        let mut install = Command::new(&python);
        install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
        install.args(["--force-reinstall", "--no-deps"]).arg(only_file(&wheels)?);
        let installed = run("python-install", &mut install)?;
        if !installed.success {
            let summary = "the wheel was not installed".into();
            return Ok(Err(StepOutcome::Failed(summary, installed.output)));
        }
        Ok(Ok(python))
    }
}

/// Returns the file in a folder that maturin filled.
pub(crate) fn only_file(folder: &Path) -> Result<PathBuf> {
    let mut files = std::fs::read_dir(folder)?;
    let file = files.next().context("maturin left no package")??;
    Ok(file.path())
}
