//! The command as a whole process: start-up, and `opt` on a file. The peer is mlir-opt on the same programs.
//!
//! With `sapwood` as its first argument, this binary runs the `sapwood` command.
use std::process::{Command, ExitCode, Stdio};

use sapwood_benches::programs::KINDS;
use sapwood_benches::{Area, best};

const OPS: usize = 100_000;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    if arguments.first().is_some_and(|first| first == "sapwood") {
        return sapwood::command::main(arguments);
    }
    let area = Area::new("command");
    if let Err(error) = measure(&area) {
        area.failed("start-up", &error.to_string());
    }
    ExitCode::SUCCESS
}

fn measure(area: &Area) -> std::io::Result<()> {
    let folder = tempfile::tempdir()?;
    let program = std::env::current_exe()?;
    let run = |arguments: &[&str]| -> std::io::Result<bool> {
        let mut command = Command::new(&program);
        command.arg("sapwood").args(arguments).current_dir(folder.path());
        Ok(command.stdin(Stdio::null()).stdout(Stdio::null()).status()?.success())
    };
    run(&["--version"])?;
    area.millis("start-up", best(20, || run(&["--version"])), 1);
    std::fs::write(
        folder.path().join("small.ptir"),
        "ptir 1 func @f(%x: f32[4]) -> f32[4] { %y = neg %x : f32[4] return %y }",
    )?;
    area.millis("start-up/opt", best(20, || run(&["opt", "small.ptir", "-o", "out.ptir"])), 1);
    for (kind, make) in KINDS {
        let row = format!("opt/{kind}/1e5");
        std::fs::write(folder.path().join("in.ptir"), make(OPS))?;
        let once = || run(&["opt", "in.ptir", "-o", "out.ptir"]);
        match once() {
            Ok(true) => area.millis(&row, best(5, once), OPS as u64),
            Ok(false) => area.failed(&row, "the command failed"),
            Err(error) => area.failed(&row, &error.to_string()),
        }
    }
    Ok(())
}
