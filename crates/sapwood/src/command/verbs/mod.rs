//! The verbs of the command, one file each.
//!
//! A verb is a module with `Args`, whose doc comment is the help text, and `run`. To add one, write its file, list it here
//! twice (the module and the verb), and describe it in `docs/reference/command.md`.

mod check_rules;
mod completions;
mod cost;
mod diff;
mod eq;
mod extract;
mod fmt;
mod graph;
mod hash;
mod lower;
mod match_;
mod ops;
mod opt;
mod passes;
mod patterns;
mod run;
mod verify;
mod view;

use super::cli_error::CliError;
use super::console::Console;
use super::status::Status;

/// Declares [`Verb`] and its dispatch from the list of verbs.
macro_rules! verbs {
    ($($name:ident($module:ident),)*) => {
        /// A verb with its arguments.
        #[derive(clap::Subcommand)]
        pub(super) enum Verb {
            $($name(Box<$module::Args>),)*
        }

        impl Verb {
            /// Runs the verb.
            pub(super) fn run(&self, console: &Console) -> Result<Status, CliError> {
                match self {
                    $(Self::$name(args) => $module::run(args, console),)*
                }
            }
        }
    };
}

// The order is that of `sapwood --help`.
verbs! {
    Opt(opt),
    Run(run),
    Match(match_),
    Extract(extract),
    CheckRules(check_rules),
    Lower(lower),
    Fmt(fmt),
    Verify(verify),
    Eq(eq),
    Hash(hash),
    Cost(cost),
    Diff(diff),
    Graph(graph),
    View(view),
    Ops(ops),
    Passes(passes),
    Patterns(patterns),
    Completions(completions),
}
