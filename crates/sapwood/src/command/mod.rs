//! The `sapwood` command.
//!
//! `verbs` has one file per verb, `io` reads and writes files for them. Results go to standard output, messages to
//! standard error. Exit codes: 0 success, 1 a negative result (different, not well-formed), 2 an error.

mod amounts;
mod cli_error;
mod color;
mod console;
mod diagnostics;
mod io;
mod progress_line;
mod run_report;
mod select_function;
mod signals;
mod status;
mod verbs;

use std::ffi::OsString;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::OnceLock;

use clap::{Parser, ValueEnum};

use cli_error::CliError;
use console::Console;
use verbs::Verb;

use crate::toolkit::Toolkit;

/// A compiler-IR toolkit for tensor programs.
///
/// Reads PTIR (.ptir, .json), StableHLO (.mlir), ONNX (.onnx) and the front-end IR (.py). `-` means standard input. Exit codes: 0
/// success, 1 a negative result (different, not well-formed), 2 an error (wrong usage, unreadable input).
#[derive(Parser)]
#[command(name = "sapwood", version, max_term_width = 100, disable_help_subcommand = true)]
struct Cli {
    #[command(flatten)]
    global: GlobalArgs,
    #[command(subcommand)]
    verb: Verb,
}

/// The arguments of every verb.
#[derive(clap::Args, Clone)]
struct GlobalArgs {
    /// Format of the results
    #[arg(long, global = true, value_enum, default_value_t, value_name = "FORMAT")]
    format: OutputFormat,
    /// When to use colours; `auto` respects NO_COLOR and pipes
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    color: ColorChoice,
    /// Number of files, or functions of one file, to process in parallel; 0 means one per core
    #[arg(short = 'j', long, global = true, default_value_t = 0, value_name = "N",
        value_parser = clap::value_parser!(u16).range(0..=1024))]
    jobs: u16,
    /// Make symbols of the program known numbers: `B=1,S=128`
    #[arg(long, global = true, value_delimiter = ',', value_name = "SYMBOL=N", value_parser = parse_binding)]
    bind: Vec<(String, u64)>,
    /// Do not show the progress of long work, which only a terminal shows
    #[arg(short, long, global = true)]
    quiet: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum OutputFormat {
    /// Text for people
    #[default]
    Text,
    /// JSON for programs; docs/reference/command.md has the schemas
    Json,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum ColorChoice {
    #[default]
    Auto,
    Always,
    Never,
}

// Reads `B=1` or `?B=1`.
fn parse_binding(text: &str) -> Result<(String, u64), String> {
    let expected = || format!("`{text}` is not a binding; expected SYMBOL=N, such as B=1");
    let (name, extent) = text.split_once('=').ok_or_else(expected)?;
    let name = name.trim().trim_start_matches('?');
    let extent = extent.trim().parse().map_err(|_| expected())?;
    if name.is_empty() { Err(expected()) } else { Ok((name.to_owned(), extent)) }
}

/// The name of the command in messages, if it is another than `sapwood`.
static COMMAND_NAME: OnceLock<String> = OnceLock::new();

/// Returns the name of the command, for messages.
fn command_name() -> &'static str {
    COMMAND_NAME.get().map_or("sapwood", String::as_str)
}

/// Runs the command of a toolkit as the only one of the process, with the name of the program in its messages.
pub(crate) fn main_of_toolkit(toolkit: Toolkit) -> ExitCode {
    let program = std::env::args_os().next().unwrap_or_default();
    if let Some(name) = Path::new(&program).file_stem() {
        COMMAND_NAME.get_or_init(|| name.to_string_lossy().into_owned());
    }
    main_with(toolkit, std::env::args_os())
}

/// Runs the command and returns its exit code. The first argument is the name of the command itself.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    main_with(Toolkit::new(), arguments)
}

/// Runs the command with the parts of a toolkit.
fn main_with(toolkit: Toolkit, arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    signals::install_handlers();
    ExitCode::from(exit_code_with(toolkit, arguments))
}

/// Runs the command like [`main`], but installs no signal handlers; for callers that embed the command in their process.
pub fn exit_code(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    exit_code_with(Toolkit::new(), arguments)
}

/// Runs the command with the parts of a toolkit, and returns its exit code.
pub(crate) fn exit_code_with(
    toolkit: Toolkit,
    arguments: impl IntoIterator<Item = OsString>,
) -> u8 {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => return print_usage(&error),
    };
    let bindings = cli.global.bind.iter();
    let toolkit = bindings.fold(toolkit, |toolkit, (name, n)| toolkit.bind(name.as_str(), *n));
    let parts = toolkit.check_parts();
    let console = Console::new(&cli.global, toolkit);
    let run = parts.map_err(CliError::from).and_then(|()| cli.verb.run(&console));
    let status = run.and_then(|status| {
        console.flush()?;
        Ok(status)
    });
    match status {
        Ok(status) => status.exit_code(),
        Err(error) => {
            console.report_error(&error);
            error.exit_code()
        }
    }
}

// Prints the help, the version or a usage error, and returns the exit code.
fn print_usage(usage: &clap::Error) -> u8 {
    let written = usage.print().and_then(|()| std::io::stdout().flush());
    match written {
        Ok(()) if !usage.use_stderr() => 0,
        Err(error) if !usage.use_stderr() => {
            let error = console::stdout_error(&error);
            // If standard error cannot be written either, the exit code is all that is left.
            let _ = std::io::stderr().write_all(error.text(false).as_bytes());
            error.exit_code()
        }
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        Cli::command().debug_assert();
    }
}
