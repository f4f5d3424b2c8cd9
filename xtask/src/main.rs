//! The development commands of the project.
//!
//! ```text
//! cargo xtask test [--full] [--step NAME] [--verbose] [--fuzz-seconds N]
//! cargo xtask bench [AREA] [--peers]
//! cargo xtask corpus DIR [OUT]
//! cargo xtask docs
//! cargo xtask release [--build-only]
//! ```
#![allow(clippy::print_stdout, clippy::print_stderr)] // a command prints to the terminal

mod bench;
mod corpus;
mod explorer;
mod features;
mod full;
mod gate;
mod install;
mod process;
mod python;
mod release;
mod site;
mod workspace;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask <command>

  test [--full] [--step NAME] [--verbose] [--fuzz-seconds N]
      The gate: formatting, clippy, docs, all tests. A skipped test is a failure.
      --full adds the second tier: large case counts, the site, each crate and feature
      alone, the README's commands to install, the release, ONNX's own tests, PyTorch
      models, fuzzing (N seconds per target, 300 by default), Miri, and the benchmarks
      with their peers.
      --step NAME runs only this step, of either tier; it may be repeated.
      --verbose shows the output of each step.

  bench [AREA] [--peers]
      Measures one area or all. --peers also installs and measures the peers, and
      prints both sides.

  corpus DIR [OUT]
      Parses, prints, runs, simplifies and runs again every StableHLO program below
      DIR, and prints one table. The printed programs are written to OUT.
      If DIR has ONNX models: reads and writes each, replaces its ops by core ops and
      back, writes the result to OUT, and compares the results in ONNX Runtime.

  docs
      Builds the documentation site in site/html of cargo's target folder, with the Python
      API and example reports, checks its links, and tests its search in a browser.

  release [--build-only]
      Builds and checks the packages in dist/: wheel, sdist, an archive with the command,
      the crates, checksums. Does not upload anything.
      --build-only builds the wheel and the archive without running tests, to compare
      their bytes with those from another clone.
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments.split_first() {
        Some((&"test", rest)) => match test_options(rest) {
            Ok(options) => gate::run(&options),
            Err(message) => return usage_error(&message),
        },
        Some((&"bench", rest)) => match bench_options(rest) {
            Ok(options) => bench::run(&options),
            Err(message) => return usage_error(&message),
        },
        Some((&"corpus", [folder])) => corpus::run(folder, None),
        Some((&"corpus", [folder, out])) => corpus::run(folder, Some(out)),
        Some((&"corpus", _)) => {
            return usage_error("`corpus` takes a folder, and optionally an output folder");
        }
        Some((&"docs", [])) => site::run(),
        Some((&"release", [])) => release::run(false),
        Some((&"release", ["--build-only"])) => release::run(true),
        Some((command @ (&"docs" | &"release"), [argument, ..])) => {
            return usage_error(&format!("unknown argument `{argument}` of `{command}`"));
        }
        Some((&("help" | "--help" | "-h"), _)) => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Some((command, _)) => return usage_error(&format!("unknown command `{command}`")),
        None => return usage_error("no command given"),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn usage_error(message: &str) -> ExitCode {
    eprint!("error: {message}\n\n{USAGE}");
    ExitCode::from(2)
}

fn test_options(arguments: &[&str]) -> Result<gate::TestOptions, String> {
    let mut options =
        gate::TestOptions { full: false, steps: Vec::new(), verbose: false, fuzz_seconds: 300 };
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match *argument {
            "--full" => options.full = true,
            "--verbose" | "-v" => options.verbose = true,
            "--step" => {
                let name = arguments.next().ok_or("`--step` needs the name of a step")?;
                let known = gate::step_names();
                if !known.contains(name) {
                    let known = known.join(", ");
                    return Err(format!("unknown step `{name}`; expected one of {known}"));
                }
                options.steps.push((*name).to_owned());
            }
            "--fuzz-seconds" => {
                let number = arguments.next().and_then(|n| n.parse().ok()).filter(|n| *n > 0);
                options.fuzz_seconds = number.ok_or("`--fuzz-seconds` needs a number above 0")?;
            }
            other => return Err(format!("unknown argument `{other}` of `test`")),
        }
    }
    Ok(options)
}

fn bench_options(arguments: &[&str]) -> Result<bench::BenchOptions, String> {
    let mut options = bench::BenchOptions { area: None, peers: false };
    for argument in arguments {
        match *argument {
            "--peers" => options.peers = true,
            flag if flag.starts_with('-') => {
                return Err(format!("unknown argument `{flag}` of `bench`"));
            }
            area if options.area.is_none() => {
                if !bench::rows::areas().contains(&area) {
                    let known = bench::rows::areas().join(", ");
                    return Err(format!("unknown area `{area}`; expected one of {known}"));
                }
                options.area = Some(area.to_owned());
            }
            extra => return Err(format!("unexpected argument `{extra}`; `bench` takes one area")),
        }
    }
    Ok(options)
}
