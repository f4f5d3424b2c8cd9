//! `cargo xtask corpus`: checks on a corpus of StableHLO programs, in the second tier also with jaxlib, or of ONNX models.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::bench;
use crate::gate::{Context, StepOutcome};
use crate::workspace::Workspace;

/// Runs the example that checks a folder of programs, or of ONNX models. Returns true if every program passed.
pub(crate) fn run(folder: &str, out: Option<&str>) -> Result<bool> {
    let workspace = Workspace::find()?;
    let folder = absolute(folder)?;
    if has_models(&folder) {
        let out = out.map_or_else(|| Ok(workspace.target.join("corpus-onnx")), absolute)?;
        return run_models(&workspace, &folder, &out);
    }
    let mut command = corpus_example(&workspace, "stablehlo");
    command.arg(folder);
    if let Some(out) = out {
        command.arg(absolute(out)?);
    }
    let status = command.status().context("cannot run cargo")?;
    Ok(status.success())
}

// Reads ONNX models and writes them, and compares the results of those that are lowered and raised with those of the originals in ONNX
// Runtime.
fn run_models(workspace: &Workspace, folder: &Path, out: &Path) -> Result<bool> {
    let status = corpus_example(workspace, "onnx").arg(folder).arg(out).status();
    let passed = status.context("cannot run cargo")?.success();
    let status = values_command(workspace)?.arg(folder).arg(out).status();
    Ok(status.context("cannot run Python")?.success() && passed)
}

// Returns the command that compares models in ONNX Runtime.
fn values_command(workspace: &Workspace) -> Result<Command> {
    let mut command = onnx_python(workspace, "onnx")?;
    command.arg(workspace.root.join("tests/oracle/onnx_values.py"));
    Ok(command)
}

/// Checks ONNX models: each is written as it was, needs no more nodes if it is lowered and raised, and then has the same results in ONNX
/// Runtime; many have them under JAX too, and programs of JAX in ONNX Runtime. Then runs ONNX's own tests of single nodes.
///
/// The second tier needs the models; without it, the step says in its summary that they are missing.
pub(crate) fn onnx_step(context: &Context<'_>) -> Result<StepOutcome> {
    let workspace = context.workspace;
    bench::rows::onnx::fetch_models(workspace)?;
    let models = bench::rows::onnx::folder(workspace);
    let has_models = has_models(&models);
    let is_required = context.options.full || std::env::var_os("SAPWOOD_MODELS").is_some();
    if !has_models && is_required {
        let folder = models.display();
        let summary = format!("no models in {folder}; name a folder with `SAPWOOD_MODELS`");
        return Ok(StepOutcome::Failed(summary, String::new()));
    }
    let built = context.cargo(&["build", "--release", "--quiet", "--package", "sapwood"]).status();
    anyhow::ensure!(built.context("cannot run cargo")?.success(), "the command was not built");
    let sapwood = workspace.target.join(format!("release/sapwood{}", std::env::consts::EXE_SUFFIX));
    let mut steps = Vec::new();
    let mut lines = Vec::new();
    if has_models {
        let out = workspace.target.join("corpus-onnx");
        let mut round_trip = corpus_example(workspace, "onnx");
        round_trip.arg(&models).arg(&out);
        let mut values = values_command(workspace)?;
        values.arg(&models).arg(&out);
        let mut to_mlir = jax_command(workspace, &sapwood)?;
        to_mlir.arg("to-mlir").arg(&models);
        steps.extend([
            ("onnx-corpus", round_trip),
            ("onnx-values", values),
            ("onnx-mlir", to_mlir),
        ]);
    } else {
        lines.push(format!("skipped: models, because {} has none", models.display()));
    }
    let mut from_jax = jax_command(workspace, &sapwood)?;
    from_jax.arg("to-onnx").arg(bench::rows::stablehlo::folder());
    let mut nodes = onnx_python(workspace, "onnx")?;
    nodes.arg(workspace.root.join("tests/oracle/onnx_nodes.py")).arg(&sapwood).arg("--all");
    steps.extend([("onnx-jax", from_jax), ("onnx-nodes", nodes)]);
    for (name, step) in &mut steps {
        let ran = context.run_logged(name, step)?;
        if !ran.success {
            return Ok(StepOutcome::Failed(format!("{name}: {}", ran.problem), ran.output));
        }
        lines.push(ran.stdout.lines().last().unwrap_or_default().to_owned());
    }
    Ok(StepOutcome::Passed(lines.join("; ")))
}

// Returns the interpreter with the packages of `tests/oracle/NAME.txt`.
fn onnx_python(workspace: &Workspace, name: &str) -> Result<Command> {
    let requirements = workspace.root.join(format!("tests/oracle/{name}.txt"));
    let environment = workspace.target.join(format!("{}-oracle", name.replace('_', "-")));
    Ok(Command::new(bench::python_environment(&environment, &requirements)?))
}

// Returns the command that compares models with programs under JAX.
fn jax_command(workspace: &Workspace, sapwood: &Path) -> Result<Command> {
    let mut command = onnx_python(workspace, "onnx_jax")?;
    command.arg(workspace.root.join("tests/oracle/onnx_jax.py")).arg(sapwood);
    Ok(command)
}

// Returns the command that runs the example of a format.
fn corpus_example(workspace: &Workspace, format: &str) -> Command {
    let mut command = Command::new("cargo");
    command.current_dir(&workspace.root);
    command.args(["run", "--release", "--quiet", "--package", &format!("sapwood-{format}")]);
    command.args(["--example", &format!("{format}_corpus"), "--"]);
    command
}

// Returns whether there are ONNX models below a folder.
fn has_models(folder: &Path) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    entries.map(|entry| entry.path()).any(|path| match path.is_dir() {
        true => has_models(&path),
        false => path.extension().is_some_and(|e| e == "onnx"),
    })
}

fn absolute(path: &str) -> Result<PathBuf> {
    std::path::absolute(path).with_context(|| format!("`{path}` is not a path"))
}

/// Checks the shared corpus next to the repository, or the programs of the repository if it is missing. All must pass, and
/// jaxlib must accept the printed programs and compute the same results on XLA:CPU.
pub(crate) fn step(context: &Context<'_>) -> Result<StepOutcome> {
    let root = &context.workspace.root;
    let shared = root.join("../shared/corpus/stablehlo");
    let folder = if shared.is_dir() { shared } else { root.join("programs") };
    let printed = context.workspace.target.join("corpus");
    if printed.is_dir() {
        std::fs::remove_dir_all(&printed).context("cannot empty the folder of printed programs")?;
    }
    let mut command = corpus_example(context.workspace, "stablehlo");
    let ran = context.run_logged("corpus", command.arg(&folder).arg(&printed))?;
    let known = ran.stdout.lines().filter(|line| line.contains("    known: ")).count();
    if !ran.success {
        return Ok(StepOutcome::Failed(ran.problem, ran.output));
    }
    let checked = check_with_jaxlib(context, "corpus-jaxlib", &folder, &printed, &[])?;
    let summary = checked.stdout.lines().last().unwrap_or_default().to_owned();
    if !checked.success {
        return Ok(StepOutcome::Failed(format!("jaxlib: {summary}"), checked.output));
    }
    let iree = iree_option(context)?;
    let counts =
        check_with_jaxlib(context, "corpus-counts", &folder, &printed, &["--counts", &iree])?;
    let left = counts.stdout.lines().last().unwrap_or_default().to_owned();
    if !counts.success {
        return Ok(StepOutcome::Failed(format!("ops left: {left}"), counts.output));
    }
    Ok(StepOutcome::Passed(format!(
        "{known} programs fail for a known reason; jaxlib: {summary}; {left}"
    )))
}

// Installs IREE's tools into an environment, and returns the option `--iree=…/iree-opt`.
fn iree_option(context: &Context<'_>) -> Result<String> {
    let requirements = context.workspace.root.join("tests/oracle/iree.txt");
    let python = bench::python_environment(&context.workspace.target.join("iree"), &requirements)?;
    let tool = python.with_file_name(if cfg!(windows) { "iree-opt.exe" } else { "iree-opt" });
    Ok(format!("--iree={}", tool.display()))
}

// Checks the printed programs with jaxlib.
fn check_with_jaxlib(
    context: &Context<'_>,
    step: &str,
    folder: &Path,
    printed: &Path,
    options: &[&str],
) -> Result<crate::process::ProcessResult> {
    let scripts = context.workspace.root.join("tests/oracle");
    let environment = context.workspace.target.join("oracle");
    let python = bench::python_environment(&environment, &scripts.join("requirements.txt"))?;
    let mut command = Command::new(python);
    command.arg(scripts.join("stablehlo.py")).arg(folder).arg(printed).args(options);
    context.run_logged(step, &mut command)
}
