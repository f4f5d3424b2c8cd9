//! Two programs that a verb compares.

use std::path::PathBuf;

use sapwood_ptir::structural::Mode;

use super::files::Input;
use super::load::{FileFormat, LoadedFile, ReadOptions, load};
use crate::command::cli_error::CliError;
use crate::toolkit::Toolkit;

/// The arguments of the verbs that compare two programs.
#[derive(clap::Args)]
pub(crate) struct ProgramPair {
    /// The first program; `-` means standard input
    #[arg(value_name = "LEFT")]
    left: PathBuf,
    /// The second program; `-` means standard input
    #[arg(value_name = "RIGHT")]
    right: PathBuf,
    /// Compare instructions in the order of the text
    #[arg(long)]
    pub(crate) ordered: bool,
    /// Format of the inputs; the default is that of their extensions, or PTIR text for standard input
    #[arg(long, value_enum, value_name = "FORMAT")]
    from: Option<FileFormat>,
}

impl ProgramPair {
    /// Returns the inputs.
    pub(crate) fn inputs(&self) -> [Input; 2] {
        [Input::new(&self.left), Input::new(&self.right)]
    }

    /// Reads both programs. `source_names` keeps the names of values as the files write them.
    pub(crate) fn load(
        &self,
        source_names: bool,
        toolkit: &Toolkit,
    ) -> Result<(LoadedFile, LoadedFile), CliError> {
        let [left, right] = self.inputs();
        if left == Input::Stdin && right == Input::Stdin {
            return Err(CliError::new("only one of the two programs can be standard input"));
        }
        let options = ReadOptions { source_names, ..ReadOptions::default() };
        let load = |input| load(input, self.from, options, toolkit);
        Ok((load(&left)?, load(&right)?))
    }
}

/// Returns the mode of structural comparison for `--ordered`.
pub(crate) fn comparison_mode(ordered: bool) -> Mode {
    if ordered { Mode::Ordered } else { Mode::DataFlow }
}
