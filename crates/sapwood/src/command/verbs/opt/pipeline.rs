//! The pass pipeline of `opt`.

use std::cell::{Cell, OnceCell};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sapwood_rewrite::{GreedyPass, Pass, PassManager, PatternSet, PatternSources};
use sapwood_types::{Source, SourceErrors};

use super::Args;
use crate::INLINE_PASSES;
use crate::command::cli_error::CliError;
use crate::command::io::pattern_files::read_argument;
use crate::toolkit::Toolkit;

/// Creates the passes: those of `-p`, or `simplify` with the options of the command line, after the passes of a preset. The rules
/// of `--rules` take part in every pass that has patterns.
pub(super) fn create_passes(
    args: &Args,
    toolkit: &Toolkit,
) -> Result<Vec<Arc<dyn Pass>>, CliError> {
    // Each pass with rules reads them, but standard input can be read only once.
    let stdin: OnceCell<Source> = OnceCell::new();
    let read = |path: &Path| -> Result<Source, SourceErrors> {
        if path.as_os_str() != "-" {
            return read_argument(path);
        }
        if stdin.get().is_none() {
            let _ = stdin.set(read_argument(path)?);
        }
        Ok(stdin.get().cloned().unwrap_or_else(|| Source::new("<stdin>", "")))
    };
    let rules_used = Cell::new(false);
    let reader = |files: &[PathBuf], set: &mut PatternSet| {
        rules_used.set(true);
        toolkit.pattern_files(&read).add_rules(files, set)
    };
    let Some(pipeline) = &args.pipeline else {
        let mut pass = GreedyPass::default();
        pass.config.floats = args.float.unwrap_or_default();
        pass.config.max_rewrites = args.max_rewrites;
        if let Some(limit) = args.fold_limit {
            pass.config.fold_limits.max_elements = limit;
        }
        pass.rules.clone_from(&args.rules);
        pass.only.clone_from(&args.only);
        pass.disable.clone_from(&args.disable);
        let more = toolkit.more_patterns();
        let sources = PatternSources { reader: Some(&reader), more: more.as_deref() };
        pass.load_patterns(sources).map_err(|(_, errors)| errors)?;
        let mut passes = match args.preset {
            Some(_) => toolkit.with_parser(|parser| parser.parse(INLINE_PASSES))?,
            None => Vec::new(),
        };
        passes.push(Arc::new(pass));
        return Ok(passes);
    };
    check_no_pass_options(args)?;
    let passes = toolkit
        .with_parser(|parser| parser.pattern_reader(&reader).rules(&args.rules).parse(pipeline))?;
    if !args.rules.is_empty() && !rules_used.get() {
        return Err(CliError::new(
            "--rules has no effect: no pass of the pipeline applies rules; expected canonicalize, simplify or rules",
        ));
    }
    Ok(passes)
}

// Options of the default pass have no pass that they belong to if there is a pipeline.
fn check_no_pass_options(args: &Args) -> Result<(), CliError> {
    let value = |list: &[String]| Some(list.join("|")).filter(|_| !list.is_empty());
    let given = [
        ("float", args.float.map(|mode| mode.to_string())),
        ("max-rewrites", args.max_rewrites.map(|most| most.to_string())),
        ("only", value(&args.only)),
        ("disable", value(&args.disable)),
    ];
    for (name, value) in given {
        if let Some(value) = value {
            return Err(CliError::new(format!(
                "--{name} cannot be used with -p; expected it as an option of a pass, for example -p 'simplify{{{name}={value}}}'"
            )));
        }
    }
    Ok(())
}

/// Creates a pass manager for passes, with the settings of the command line.
pub(super) fn pass_manager(args: &Args, passes: &[Arc<dyn Pass>]) -> PassManager {
    PassManager::from(passes.to_vec()).verify_each(!args.no_verify_each).assume_verified(true)
}
