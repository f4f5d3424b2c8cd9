//! The second tier: values of others, fuzzing and Miri.

use std::process::Command;

use anyhow::{Result, bail};

use crate::bench;
use crate::gate::{Context, Counts, Outcome};
use crate::process;

/// The cargo-fuzz that is installed where there is none.
const CARGO_FUZZ: &str = "^0.13";

/// How many random cases the oracle makes, and from which seed.
const ORACLE_CASES: &str = "5500";
const ORACLE_SEED: &str = "1";

/// What ops compute against what NumPy, SciPy, JAX and mpmath say: `tests/oracle` makes random cases, an example of
/// `sapwood-ptir` runs them.
pub(crate) fn oracle(context: &Context<'_>) -> Result<Outcome> {
    let folder = context.workspace.target.join("oracle");
    let scripts = context.workspace.root.join("tests/oracle");
    let python = bench::environment(&folder, &scripts.join("requirements.txt"))?;
    let cases = folder.join("cases.jsonl");
    let mut make = Command::new(python);
    make.arg(scripts.join("oracle.py")).args(["cases", "--count", ORACLE_CASES]);
    make.args(["--seed", ORACLE_SEED, "--out"]).arg(&cases);
    let made = context.step("oracle-cases", &mut make)?;
    if !made.success {
        return Ok(Outcome::Failed("the oracle failed".into(), made.output));
    }
    let mut run = context.cargo(&["run", "--release", "--quiet", "--package", "sapwood-ptir"]);
    run.args(["--features", "testing", "--example", "oracle_cases"]).arg(&cases);
    let finished = context.step("oracle", &mut run)?;
    let summary = finished.stdout.lines().last().unwrap_or_default().to_owned();
    Ok(if finished.success {
        Outcome::Passed(summary)
    } else {
        Outcome::Failed(format!("{}: {summary}", finished.problem), finished.output)
    })
}

/// Every fuzz target for its time.
pub(crate) fn fuzz(context: &Context<'_>) -> Result<Outcome> {
    if !context.workspace.root.join("fuzz/Cargo.toml").exists() {
        return Ok(Outcome::Passed("there are no fuzz targets".into()));
    }
    if !process::works("cargo", &["fuzz", "--version"]) {
        let mut install = context.cargo(&[
            "+nightly",
            "install",
            "cargo-fuzz",
            "--locked",
            "--version",
            CARGO_FUZZ,
        ]);
        let finished = context.step("install-cargo-fuzz", &mut install)?;
        if !finished.success {
            return Ok(Outcome::Failed("cannot install cargo-fuzz".into(), finished.output));
        }
    }
    let listed = context.step("fuzz-list", &mut context.cargo(&["+nightly", "fuzz", "list"]))?;
    if !listed.success {
        return Ok(Outcome::Failed("cannot list the fuzz targets".into(), listed.output));
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
        let finished = context.step(&format!("fuzz-{target}"), &mut context.cargo(&arguments))?;
        if !finished.success {
            return Ok(Outcome::Failed(format!("{target}: {}", finished.problem), finished.output));
        }
    }
    Ok(Outcome::Passed(format!("{} targets", targets.len())))
}

/// Miri on the tests that a crate names in `[package.metadata.sapwood] miri = "<arguments of cargo test>"`.
pub(crate) fn miri(context: &Context<'_>) -> Result<Outcome> {
    let packages = context.workspace.miri_packages();
    if packages.is_empty() {
        return Ok(Outcome::Passed("no crate names tests for Miri".into()));
    }
    let there = || process::works("cargo", &["+nightly", "miri", "--version"]);
    let add = ["component", "add", "--toolchain", "nightly", "miri", "rust-src"];
    let added = there() || (process::works("rustup", &add) && there());
    if !added {
        return Ok(Outcome::Unavailable("the nightly toolchain has no Miri".into()));
    }
    for (package, filter) in &packages {
        let mut arguments = vec!["+nightly", "miri", "test", "--package", package];
        arguments.extend(filter.split_whitespace());
        let mut command = context.cargo(&arguments);
        // Large counts are for native speed. Descriptors of types live as long as the process, and
        // dead nodes are linked through an integer.
        let flags = "-Zmiri-disable-isolation -Zmiri-ignore-leaks -Zmiri-permissive-provenance";
        command.env_remove("SAPWOOD_FULL").env("MIRIFLAGS", flags);
        let finished = context.step(&format!("miri-{package}"), &mut command)?;
        if !finished.success {
            return Ok(Outcome::Failed(
                format!("{package}: {}", finished.problem),
                finished.output,
            ));
        }
        if Counts::read(&finished.output).passed == 0 {
            let words = format!("{package}: no test matches `{filter}`");
            return Ok(Outcome::Failed(words, finished.output));
        }
    }
    Ok(Outcome::Passed(format!("{} crates", packages.len())))
}
