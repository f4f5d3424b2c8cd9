//! `sapwood completions`.

use clap::CommandFactory as _;

use crate::command::Cli;
use crate::command::cli_error::CliError;
use crate::command::command_name;
use crate::command::console::Console;
use crate::command::status::Status;

/// Write a completion script for a shell to standard output
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The shell
    shell: clap_complete::Shell,
}

pub(crate) fn run(args: &Args, console: &Console) -> Result<Status, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), command_name(), &mut script);
    console.write(&String::from_utf8_lossy(&script))?;
    Ok(Status::Success)
}
