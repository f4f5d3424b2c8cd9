//! The `sapwood` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    sapwood::command::main(std::env::args_os())
}
