//! Loading patterns and rules from files.

use std::fs;
use std::path::{Path, PathBuf};

use sapwood_ptir::{Name, Registry};
use sapwood_rewrite::canonicalize::LISTS;
use sapwood_rules::{
    FindOptions, OverlapPreference, PatternGraph, Rule, Vocabulary, patterns_from, rules_from,
};
use sapwood_types::{Diagnostic, Diagnostics, Source};

use super::files::Input;
use crate::command::cli_error::CliError;

/// The arguments of `match` and `extract` that choose patterns and control the search.
#[derive(clap::Args)]
pub(crate) struct PatternArgs {
    /// A file of patterns, or a directory of them: each function of a .ptir file, or the left side of each rule of a .rules
    /// file. May be repeated
    #[arg(short, long, required = true, value_name = "FILE")]
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
    pub(crate) fn load_patterns(&self) -> Result<Vec<PatternGraph>, CliError> {
        let mut patterns: Vec<PatternGraph> = Vec::new();
        let mut sources = Vec::new();
        let mut problems = Diagnostics::new();
        for path in expand_pattern_files(&self.pattern)? {
            let source = Source::new(&path.to_string(), path.read_text()?);
            let loaded = match is_rules_file(source.name()) {
                true => rules_from(&source, &Registry::builtin(), &Vocabulary::builtin())
                    .map(|rules| rules.into_iter().map(Rule::into_pattern).collect()),
                false => patterns_from(&source, &Registry::builtin()),
            };
            match loaded {
                Ok(new) => {
                    for pattern in new {
                        let name = pattern.name();
                        if let Some(first) = patterns.iter().find(|p| p.name() == name) {
                            let message = format!("pattern `{name}` is defined twice");
                            let twice = Diagnostic::error(pattern.span(), message);
                            problems.push(twice.with_note_at(first.span(), "here first"));
                        }
                        patterns.push(pattern);
                    }
                }
                Err(found) => problems.append(found),
            }
            sources.push(source);
        }
        if problems.has_errors() {
            return Err(CliError::Program { diagnostics: problems, sources });
        }
        if !self.only.is_empty() {
            for name in &self.only {
                if !patterns.iter().any(|p| p.name().as_str() == name) {
                    let names = patterns.iter().map(|p| p.name().as_str());
                    return Err(CliError::unknown_name("pattern", name, names));
                }
            }
        }
        Ok(patterns)
    }
}

fn is_rules_file(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|e| e == "rules")
}

/// Reads the rules of .rules files, or of directories of them, with the source of each file.
pub(crate) fn load_rules(paths: &[PathBuf]) -> Result<Vec<(Source, Vec<Rule>)>, CliError> {
    let mut all = Vec::new();
    let mut sources = Vec::new();
    let mut problems = Diagnostics::new();
    let mut names: Vec<String> = Vec::new();
    for path in expand_pattern_files(paths)? {
        let name = path.to_string();
        if path != Input::Stdin && !is_rules_file(&name) {
            if paths.iter().any(|p| p.display().to_string() == name) {
                return Err(CliError::new(format!(
                    "{name}: not a file of rules; expected the extension .rules"
                )));
            }
            continue;
        }
        let source = Source::new(&name, path.read_text()?);
        match rules_from(&source, &Registry::builtin(), &Vocabulary::builtin()) {
            Ok(rules) => {
                for rule in &rules {
                    let name = rule.name().to_owned();
                    if names.contains(&name) {
                        let message = format!("rule `{name}` is defined twice");
                        problems.error(rule.pattern().span(), message);
                    }
                    names.push(name);
                }
                all.push((source.clone(), rules));
            }
            Err(found) => problems.append(found),
        }
        sources.push(source);
    }
    if problems.has_errors() {
        return Err(CliError::Program { diagnostics: problems, sources });
    }
    Ok(all)
}

/// Reads rules that are used together with the shipped patterns. Fails if a rule has the name of such a pattern.
pub(crate) fn load_additional_rules(paths: &[PathBuf]) -> Result<Vec<Rule>, CliError> {
    let (sources, rules): (Vec<Source>, Vec<Vec<Rule>>) = load_rules(paths)?.into_iter().unzip();
    let rules: Vec<Rule> = rules.into_iter().flatten().collect();
    let is_shipped =
        |name: &str| LISTS.iter().any(|list| list.entries.iter().any(|entry| entry.name == name));
    let mut problems = Diagnostics::new();
    for rule in rules.iter().filter(|rule| is_shipped(rule.name())) {
        let message = format!("`{}` is already the name of a shipped pattern", rule.name());
        let clash = Diagnostic::error(rule.pattern().span(), message);
        problems.push(clash.with_help("rename the rule"));
    }
    if problems.has_errors() {
        return Err(CliError::Program { diagnostics: problems, sources });
    }
    Ok(rules)
}

// Returns the files that arguments name. A directory is replaced by the pattern files in it, sorted by name.
fn expand_pattern_files(arguments: &[PathBuf]) -> Result<Vec<Input>, CliError> {
    let mut inputs = Vec::new();
    for argument in arguments {
        if !argument.is_dir() {
            inputs.push(Input::new(argument));
            continue;
        }
        let list_error =
            |error| CliError::new(format!("{}: cannot be listed: {error}", argument.display()));
        let mut found = Vec::new();
        for entry in fs::read_dir(argument).map_err(list_error)? {
            let path = entry.map_err(list_error)?.path();
            let pattern = path.extension().is_some_and(|e| e == "ptir" || e == "rules");
            if pattern && path.is_file() {
                found.push(path);
            }
        }
        if found.is_empty() {
            let message =
                format!("{}: no patterns in this directory (.ptir, .rules)", argument.display());
            return Err(CliError::new(message));
        }
        found.sort();
        inputs.extend(found.into_iter().map(Input::File));
    }
    Ok(inputs)
}
