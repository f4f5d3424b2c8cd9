//! The arguments of verbs that search for patterns, and the files they name.

use std::path::{Path, PathBuf};

use sapwood_ptir::Name;
use sapwood_rules::{FindOptions, OverlapPreference, PatternGraph};
use sapwood_types::{Source, SourceErrors};

use super::files::Input;
use crate::command::cli_error::CliError;
use crate::toolkit::Toolkit;

/// The arguments of `match` and `extract` that choose patterns and control the search.
#[derive(clap::Args)]
pub(crate) struct PatternArgs {
    /// A file of patterns, or a directory of them: each function of a .ptir file, or the left side of each rule of a .rules
    /// file. May be repeated
    // `opt` has `--rules` for files of rules; people try it here, too.
    #[arg(short, long, alias = "rules", required = true, value_name = "FILE")]
    pub(crate) pattern: Vec<PathBuf>,
    /// Search only for this pattern. May be repeated. Calls in it may still refer to the other patterns
    #[arg(long, value_name = "PATTERN")]
    pub(crate) only: Vec<String>,
    /// Also require the types that patterns declare
    #[arg(long)]
    pub(crate) typed: bool,
    /// Match operands of commutative ops only in the order of the pattern
    #[arg(long)]
    pub(crate) operand_order: bool,
    /// Select this one of overlapping matches
    #[arg(long, value_enum, value_name = "WHICH", default_value_t)]
    pub(crate) prefer: PreferArg,
    /// Largest number of candidates to try at one root before giving up
    #[arg(long, value_name = "N", default_value_t = FindOptions::default().steps_per_root)]
    pub(crate) steps_per_root: u64,
}

#[derive(Clone, Copy, Default, clap::ValueEnum)]
pub(crate) enum PreferArg {
    /// The one that starts first in the program
    #[default]
    Earliest,
    /// The one with the most ops
    Largest,
    /// The one with the highest benefit
    Benefit,
}

impl From<PreferArg> for OverlapPreference {
    fn from(arg: PreferArg) -> Self {
        match arg {
            PreferArg::Earliest => Self::Earliest,
            PreferArg::Largest => Self::Largest,
            PreferArg::Benefit => Self::Benefit,
        }
    }
}

impl PatternArgs {
    /// Returns the options of the search.
    pub(crate) fn find_options(&self) -> FindOptions {
        FindOptions {
            typed: self.typed,
            operand_order: self.operand_order,
            steps_per_root: self.steps_per_root,
            only: self.only.iter().map(|name| Name::new(name)).collect(),
            ..FindOptions::default()
        }
    }

    /// Reads the patterns, and reports all errors in them at once.
    pub(crate) fn load_patterns(&self, toolkit: &Toolkit) -> Result<Vec<PatternGraph>, CliError> {
        let patterns = toolkit.pattern_files(&read_argument).patterns(&self.pattern)?;
        for name in &self.only {
            if !patterns.iter().any(|p| p.name().as_str() == name) {
                let names = patterns.iter().map(|p| p.name().as_str());
                return Err(CliError::unknown_name("pattern", name, names));
            }
        }
        Ok(patterns)
    }
}

/// Reads the text that an argument names; `-` means standard input.
pub(crate) fn read_argument(path: &Path) -> Result<Source, SourceErrors> {
    Input::new(path).read_source()
}
