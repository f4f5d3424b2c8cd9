//! The second tier of tests: crates alone, comparison with other libraries, fuzzing and Miri.

use std::process::Command;

use anyhow::{Result, bail};

use crate::bench;
use crate::gate::{Context, StepOutcome, TestCounts};
use crate::process;

/// The version of cargo-fuzz that is installed if it is missing.
const CARGO_FUZZ_VERSION: &str = "^0.13";

/// The number of random cases that the oracle generates.
const ORACLE_CASES: &str = "5500";
/// The random seed of the oracle.
const ORACLE_SEED: &str = "1";

/// Compares the values that ops compute with those of NumPy, SciPy, JAX and mpmath. `tests/oracle` checks the golden values and
/// generates random cases, which an example of `sapwood-ptir` runs.
pub(crate) fn oracle(context: &Context<'_>) -> Result<StepOutcome> {
    let folder = context.workspace.target.join("oracle");
    let scripts = context.workspace.root.join("tests/oracle");
    let python = bench::python_environment(&folder, &scripts.join("requirements.txt"))?;
    let mut check = Command::new(&python);
    check.arg(scripts.join("oracle.py")).args(["golden", "--check"]);
    let checked = context.run_logged("oracle-golden", &mut check)?;
    if !checked.success {
        return Ok(StepOutcome::Failed("golden values are stale".into(), checked.output));
    }
    let cases = folder.join("cases.jsonl");
    let mut generate = Command::new(python);
    generate.arg(scripts.join("oracle.py")).args(["cases", "--count", ORACLE_CASES]);
    generate.args(["--seed", ORACLE_SEED, "--out"]).arg(&cases);
    let generated = context.run_logged("oracle-cases", &mut generate)?;
    if !generated.success {
        return Ok(StepOutcome::Failed("the oracle failed".into(), generated.output));
    }
    let mut run = context.cargo(&["run", "--release", "--quiet", "--package", "sapwood-ptir"]);
    run.args(["--features", "testing", "--example", "oracle_cases"]).arg(&cases);
    let finished = context.run_logged("oracle", &mut run)?;
    let summary = finished.stdout.lines().last().unwrap_or_default().to_owned();
    Ok(if finished.success {
        StepOutcome::Passed(summary)
    } else {
        StepOutcome::Failed(format!("{}: {summary}", finished.problem), finished.output)
    })
}

/// Compares the costs that the command counts with those of XLA and opt_einsum, and the results of `optimize` and `simplify` under XLA; counts the instructions of
/// both passes if Valgrind is installed.
///
/// The times are not judged, because other work may run: `tests/oracle/optimize.py` without `--values` does that.
pub(crate) fn costs(context: &Context<'_>) -> Result<StepOutcome> {
    let build = ["build", "--release", "--quiet", "--package", "sapwood", "--bin", "sapwood"];
    let built = context.run_logged("costs-build", &mut context.cargo(&build))?;
    if !built.success {
        return Ok(StepOutcome::Failed("cannot build the command".into(), built.output));
    }
    let sapwood = context.workspace.target.join("release/sapwood");
    let scripts = context.workspace.root.join("tests/oracle");
    let environment = context.workspace.target.join("oracle");
    let python = bench::python_environment(&environment, &scripts.join("requirements.txt"))?;
    let folder = bench::rows::stablehlo::folder();
    let mut values = vec!["--values".to_owned(), "--corpus".to_owned()];
    values.push(folder.display().to_string());
    let mut checks = vec![
        ("chains.py", Vec::new()),
        ("cost.py", vec![folder.display().to_string()]),
        ("optimize.py", values),
    ];
    if process::succeeds("valgrind", &["--version"]) {
        let chains = ["layers", "products", "products, from the left", "--sizes", "2000", "20000"];
        checks.push(("instructions.py", chains.map(str::to_owned).to_vec()));
    }
    let mut summary = Vec::new();
    for (script, arguments) in checks {
        let mut command = Command::new(&python);
        command.arg(scripts.join(script)).arg(&sapwood).args(arguments);
        let finished = context.run_logged(&format!("costs-{script}"), &mut command)?;
        if !finished.success {
            return Ok(StepOutcome::Failed(
                format!("{script}: {}", finished.problem),
                finished.output,
            ));
        }
        summary.push(finished.stdout.lines().last().unwrap_or_default().to_owned());
    }
    Ok(StepOutcome::Passed(summary.join("; ")))
}

/// Exports PyTorch models with random weights, simplifies them, and compares the results with PyTorch's. The environment takes gigabytes, so
/// that it is removed afterwards.
pub(crate) fn pytorch(context: &Context<'_>) -> Result<StepOutcome> {
    let folder = context.workspace.target.join("pytorch");
    let scripts = context.workspace.root.join("tests/oracle");
    let environment = folder.join("environment");
    let build = context.cargo(&["build", "--release", "--quiet", "--package", "sapwood"]).status();
    if !build?.success() {
        bail!("the command was not built");
    }
    let python = bench::python_environment(&environment, &scripts.join("onnx_torch.txt"))?;
    let command = format!("release/sapwood{}", std::env::consts::EXE_SUFFIX);
    let mut compare = Command::new(python);
    compare.arg(scripts.join("onnx_torch.py")).arg(context.workspace.target.join(command));
    let finished = context.run_logged("pytorch", compare.arg(folder.join("models")))?;
    std::fs::remove_dir_all(&folder)?;
    let rights = finished.stdout.lines().filter(|line| line.starts_with("  sapwood: "));
    let summary = rights.map(str::trim).collect::<Vec<_>>().join("; ");
    Ok(match finished.success {
        true => StepOutcome::Passed(summary),
        false => StepOutcome::Failed(summary, finished.output),
    })
}

/// Runs every fuzz target for its time.
pub(crate) fn fuzz(context: &Context<'_>) -> Result<StepOutcome> {
    if !context.workspace.root.join("fuzz/Cargo.toml").exists() {
        return Ok(StepOutcome::Passed("no fuzz targets".into()));
    }
    if !process::succeeds("cargo", &["fuzz", "--version"]) {
        let mut install = context.cargo(&[
            "+nightly",
            "install",
            "cargo-fuzz",
            "--locked",
            "--version",
            CARGO_FUZZ_VERSION,
        ]);
        let finished = context.run_logged("install-cargo-fuzz", &mut install)?;
        if !finished.success {
            return Ok(StepOutcome::Failed("cannot install cargo-fuzz".into(), finished.output));
        }
    }
    let listed =
        context.run_logged("fuzz-list", &mut context.cargo(&["+nightly", "fuzz", "list"]))?;
    if !listed.success {
        return Ok(StepOutcome::Failed("cannot list the fuzz targets".into(), listed.output));
    }
    let targets: Vec<&str> =
        listed.stdout.lines().map(str::trim).filter(|t| !t.is_empty()).collect();
    if targets.is_empty() {
        bail!("fuzz/Cargo.toml lists no target");
    }
    let time = format!("-max_total_time={}", context.options.fuzz_seconds);
    for target in &targets {
        println!("    fuzzing {target} for {} s", context.options.fuzz_seconds);
        let arguments = ["+nightly", "fuzz", "run", target, "--", &time, "-rss_limit_mb=4096"];
        let finished =
            context.run_logged(&format!("fuzz-{target}"), &mut context.cargo(&arguments))?;
        if !finished.success {
            return Ok(StepOutcome::Failed(
                format!("{target}: {}", finished.problem),
                finished.output,
            ));
        }
    }
    Ok(StepOutcome::Passed(format!("{} targets", targets.len())))
}

/// Runs Miri on the tests that crates name in `[package.metadata.sapwood] miri = "<arguments of cargo test>"`.
pub(crate) fn miri(context: &Context<'_>) -> Result<StepOutcome> {
    let packages = context.workspace.miri_packages();
    if packages.is_empty() {
        return Ok(StepOutcome::Passed("no crate names tests for Miri".into()));
    }
    let has_miri = || process::succeeds("cargo", &["+nightly", "miri", "--version"]);
    let add = ["component", "add", "--toolchain", "nightly", "miri", "rust-src"];
    let available = has_miri() || (process::succeeds("rustup", &add) && has_miri());
    if !available {
        return Ok(StepOutcome::Unavailable("the nightly toolchain has no Miri".into()));
    }
    for (package, filter) in &packages {
        let mut arguments = vec!["+nightly", "miri", "test", "--package", package];
        arguments.extend(filter.split_whitespace());
        let mut command = context.cargo(&arguments);
        // Large case counts are too slow under Miri. Descriptors of types are never freed, and dead nodes are
        // linked through an integer.
        let flags = "-Zmiri-disable-isolation -Zmiri-ignore-leaks -Zmiri-permissive-provenance";
        command.env_remove("SAPWOOD_FULL").env("MIRIFLAGS", flags);
        let finished = context.run_logged(&format!("miri-{package}"), &mut command)?;
        if !finished.success {
            return Ok(StepOutcome::Failed(
                format!("{package}: {}", finished.problem),
                finished.output,
            ));
        }
        if TestCounts::parse(&finished.output).passed == 0 {
            let summary = format!("{package}: no test matches `{filter}`");
            return Ok(StepOutcome::Failed(summary, finished.output));
        }
    }
    Ok(StepOutcome::Passed(format!("{} crates", packages.len())))
}
