//! The arguments of verbs that search for patterns, and the files they name.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sapwood_ptir::{Name, Program};
use sapwood_rewrite::{Pass, PassManager};
use sapwood_rules::{FindOptions, OverlapPreference, PatternGraph};
use sapwood_types::{Source, SourceErrors};

use super::files::Input;
use super::load::FileFormat;
use crate::INLINE_PASSES;
use crate::command::cli_error::CliError;
use crate::onnx_passes::onnx_to_core;
use crate::toolkit::Toolkit;

/// The arguments of `match` and `extract` that choose patterns and control the search.
#[derive(clap::Args)]
pub(crate) struct PatternArgs {
    /// A file of patterns, or a directory of them: each function of a .ptir file, the left side of each rule of a .rules
    /// file, or each function of a program in another format, after the passes. May be repeated
    // `opt` has `--rules` for files of rules; people try it here, too.
    #[arg(long, alias = "rules", required = true, value_name = "FILE")]
    pub(crate) pattern: Vec<PathBuf>,
    /// The passes to run before the search; '' for none. The default for StableHLO and ONNX inputs is
    /// 'inline,symbol-dce,simplify' (for ONNX after onnx-to-core), and none for others
    #[arg(short, long, value_name = "PASSES")]
    pub(crate) pipeline: Option<String>,
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

    /// Creates the passes that run before the search, and reads the patterns.
    pub(crate) fn load(&self, toolkit: &Toolkit) -> Result<PatternSearch, CliError> {
        let passes = self.passes(toolkit)?;
        Ok(PatternSearch { patterns: self.load_patterns(&passes, toolkit)?, passes })
    }

    // Creates the passes that run before the search.
    fn passes(&self, toolkit: &Toolkit) -> Result<SearchPasses, CliError> {
        let parse = |text: &str| toolkit.with_parser(|parser| parser.parse(text));
        if let Some(text) = &self.pipeline {
            if text.trim().is_empty() {
                return Ok(SearchPasses { given: Some(Vec::new()), model: Vec::new() });
            }
            let looks_like_file =
                Path::new(text).extension().is_some_and(|e| e == "rules" || e == "ptir");
            return match parse(text) {
                Ok(passes) => Ok(SearchPasses { given: Some(passes), model: Vec::new() }),
                Err(_) if looks_like_file => Err(CliError::new(format!(
                    "-p takes passes, and `{text}` is a file; write --pattern {text}"
                ))),
                Err(error) => Err(error.into()),
            };
        }
        let model = parse(&format!("{INLINE_PASSES},simplify"))?;
        Ok(SearchPasses { given: None, model })
    }

    // Reads the patterns, and reports all errors in them at once. The passes run on patterns that are programs, too.
    fn load_patterns(
        &self,
        passes: &SearchPasses,
        toolkit: &Toolkit,
    ) -> Result<Vec<PatternGraph>, CliError> {
        let read_program = |path: &Path| {
            let format = FileFormat::of(path).filter(|format| *format != FileFormat::Ptir)?;
            Some(toolkit.read(path).and_then(|file| {
                let mut program = file.program;
                passes.run(&mut program, format, path.display())?;
                Ok((file.source, program))
            }))
        };
        let files = toolkit.pattern_files(&read_argument).programs(&read_program);
        let patterns = files.patterns(&self.pattern)?;
        for name in &self.only {
            if !patterns.iter().any(|p| p.name().as_str() == name) {
                let names = patterns.iter().map(|p| p.name().as_str());
                return Err(CliError::unknown_name("pattern", name, names));
            }
        }
        Ok(patterns)
    }
}

/// Patterns, and the passes that run on programs before the search for them.
pub(crate) struct PatternSearch {
    pub(crate) patterns: Vec<PatternGraph>,
    pub(crate) passes: SearchPasses,
}

/// The passes that run on programs before the search for patterns.
pub(crate) struct SearchPasses {
    // The passes of the command line.
    given: Option<Vec<Arc<dyn Pass>>>,
    // The passes for models, by default.
    model: Vec<Arc<dyn Pass>>,
}

impl SearchPasses {
    /// Runs the passes on a program that was read from a file of this format. Instructions keep their places in the file.
    pub(crate) fn run(
        &self,
        program: &mut Program,
        format: FileFormat,
        input: impl std::fmt::Display,
    ) -> Result<(), SourceErrors> {
        let passes = match (&self.given, format) {
            (Some(passes), _) => passes.clone(),
            (None, FileFormat::Mlir) => self.model.clone(),
            (None, FileFormat::Onnx) => {
                [onnx_to_core(None)].into_iter().chain(self.model.iter().cloned()).collect()
            }
            (None, _) => return Ok(()),
        };
        if passes.is_empty() {
            return Ok(());
        }
        let manager = PassManager::from(passes).assume_verified(true).in_place(true);
        let failed = |failure| SourceErrors::plain(format!("{input}: {failure}"));
        manager.run(program).map_err(failed)?;
        Ok(())
    }
}

/// Reads the text that an argument names; `-` means standard input.
pub(crate) fn read_argument(path: &Path) -> Result<Source, SourceErrors> {
    Input::new(path).read_source()
}
