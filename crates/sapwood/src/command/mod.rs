//! The `sapwood` command: one file per verb.
//!
//! Results go to standard output, messages to standard error. Exit codes: 0 good, 1 the answer is no, 2 trouble.

mod answer;
mod blame;
mod check;
mod check_rules;
mod console;
mod diff;
mod dump;
mod eq;
mod extract;
mod files;
mod find;
mod fmt;
mod graph;
mod hash;
mod listing;
mod load;
mod lower;
mod many;
mod npy;
mod ops;
mod opt;
mod patterns;
mod report;
mod run;
mod signals;
mod verify;

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand, ValueEnum};

use answer::{Answer, Trouble};
use console::Console;

/// A compiler-IR toolkit for tensor programs.
///
/// Reads PTIR (.ptir, .json), StableHLO (.mlir) and the front-end IR (.py); `-` is standard input. Exit codes: 0 good,
/// 1 the answer is no (different, not well-formed), 2 trouble (usage, input that cannot be read).
#[derive(Parser)]
#[command(name = "sapwood", version, max_term_width = 100, disable_help_subcommand = true)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    verb: Verb,
}

/// What every verb takes.
#[derive(clap::Args, Clone)]
struct Global {
    /// How results are written
    #[arg(long, global = true, value_enum, default_value_t, value_name = "FORMAT")]
    format: OutputFormat,
    /// When to use colours; `auto` honours NO_COLOR and pipes
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    color: Color,
    /// How many files, or functions of one file, to work on at once; 0 is one per core
    #[arg(short = 'j', long, global = true, default_value_t = 0, value_name = "N",
        value_parser = clap::value_parser!(u16).range(0..=1024))]
    jobs: u16,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum OutputFormat {
    /// For people
    #[default]
    Text,
    /// For programs; docs/reference/command.md has the schemas
    Json,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Color {
    #[default]
    Auto,
    Always,
    Never,
}

#[derive(Subcommand)]
enum Verb {
    Opt(Box<opt::Args>),
    Run(run::Args),
    Match(find::Args),
    Extract(extract::Args),
    CheckRules(check_rules::Args),
    Lower(lower::Args),
    Fmt(fmt::Args),
    Verify(verify::Args),
    Eq(eq::Args),
    Hash(hash::Args),
    Diff(diff::Args),
    Graph(graph::Args),
    Ops(ops::Args),
    /// List the passes and their options
    Passes,
    /// List the patterns of canonicalize and simplify
    Patterns,
    /// Write a completion script for a shell to standard output
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// Runs the command with these arguments, the first being its own name, and gives its exit code.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    signals::install();
    ExitCode::from(exit_code(arguments))
}

/// As [`main`], for callers that are not the process themselves.
pub fn exit_code(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are answers; anything else is usage.
            let written = error.print().and_then(|()| std::io::stdout().flush());
            return match written {
                Ok(()) if !error.use_stderr() => 0,
                Err(why) if !error.use_stderr() => {
                    let trouble = console::stdout_trouble(&why);
                    let _ = std::io::stderr().write_all(trouble.text(false).as_bytes());
                    2
                }
                // Nobody is left to tell if this cannot be written.
                _ => 2,
            };
        }
    };
    let console = Console::new(&cli.global);
    let answer = run(&cli, &console).and_then(|answer| {
        console.flush()?;
        Ok(answer)
    });
    match answer {
        Ok(answer) => answer.code(),
        Err(trouble) => {
            console.trouble(&trouble);
            2
        }
    }
}

fn run(cli: &Cli, console: &Console) -> Result<Answer, Trouble> {
    match &cli.verb {
        Verb::Opt(args) => opt::run(args, console),
        Verb::Run(args) => run::run(args, console),
        Verb::Match(args) => find::run(args, console),
        Verb::Extract(args) => extract::run(args, console),
        Verb::CheckRules(args) => check_rules::run(args, console),
        Verb::Lower(args) => lower::run(args, console),
        Verb::Fmt(args) => fmt::run(args, console),
        Verb::Verify(args) => verify::run(args, console),
        Verb::Eq(args) => eq::run(args, console),
        Verb::Hash(args) => hash::run(args, console),
        Verb::Diff(args) => diff::run(args, console),
        Verb::Graph(args) => graph::run(args, console),
        Verb::Ops(args) => ops::run(args, console),
        Verb::Passes => listing::passes(console),
        Verb::Patterns => listing::patterns(console),
        Verb::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "sapwood", &mut script);
            console.write(&String::from_utf8_lossy(&script))?;
            Ok(Answer::Yes)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        Cli::command().debug_assert();
    }
}
