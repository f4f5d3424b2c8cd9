//! Patterns from files, for the verbs that look for them.

use std::fs;
use std::path::{Path, PathBuf};

use sapwood_ptir::{Name, Registry};
use sapwood_rewrite::canonicalize::LISTS;
use sapwood_rules::{
    FindOptions, OverlapPreference, PatternGraph, Rule, Vocabulary, patterns_from, rules_from,
};
use sapwood_types::{Diagnostic, Diagnostics, Source};

use super::answer::Trouble;
use super::files::Input;

/// What `match` and `extract` take.
#[derive(clap::Args)]
pub(super) struct PatternArgs {
    /// A file of patterns (.ptir, each function is one; .rules, the left side of each rule), or a directory of them; may
    /// stand several times
    #[arg(short, long, required = true, value_name = "FILE")]
    pub(super) pattern: Vec<PathBuf>,
    /// Only the patterns of these names; may stand several times. The others still say what calls of them are
    #[arg(long, value_name = "PATTERN")]
    pub(super) only: Vec<String>,
    /// The types that patterns state must agree too
    #[arg(long)]
    pub(super) typed: bool,
    /// Operands of commutative ops stand in the order of the pattern
    #[arg(long)]
    pub(super) operand_order: bool,
    /// Which of overlapping matches is taken
    #[arg(long, value_enum, value_name = "WHICH", default_value_t)]
    pub(super) prefer: PreferArg,
    /// How many candidates are tried from one root before it is given up
    #[arg(long, value_name = "N", default_value_t = FindOptions::default().steps_per_root)]
    pub(super) steps_per_root: u64,
}

#[derive(Clone, Copy, Default, clap::ValueEnum)]
pub(super) enum PreferArg {
    /// The one that starts first
    #[default]
    Earliest,
    /// The one with most ops
    Largest,
    /// The one of the highest benefit
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
    pub(super) fn find(&self) -> FindOptions {
        FindOptions {
            typed: self.typed,
            operand_order: self.operand_order,
            steps_per_root: self.steps_per_root,
            only: self.only.iter().map(|name| Name::new(name)).collect(),
            ..FindOptions::default()
        }
    }

    /// Reads the patterns, all that is wrong with them at once.
    pub(super) fn load(&self) -> Result<Vec<PatternGraph>, Trouble> {
        let mut patterns: Vec<PatternGraph> = Vec::new();
        let mut sources = Vec::new();
        let mut problems = Diagnostics::new();
        for path in pattern_files(&self.pattern)? {
            let source = Source::new(&path.to_string(), path.read()?);
            let read = match is_rules(source.name()) {
                true => rules_from(&source, &Registry::builtin(), &Vocabulary::builtin())
                    .map(|rules| rules.into_iter().map(Rule::into_pattern).collect()),
                false => patterns_from(&source, &Registry::builtin()),
            };
            match read {
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
            return Err(Trouble::Program { diagnostics: problems, sources });
        }
        if !self.only.is_empty() {
            for name in &self.only {
                if !patterns.iter().any(|p| p.name().as_str() == name) {
                    let names = patterns.iter().map(|p| p.name().as_str());
                    return Err(super::ops::unknown("pattern", name, names));
                }
            }
        }
        Ok(patterns)
    }
}

fn is_rules(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|e| e == "rules")
}

/// The rules of files.
pub(super) fn load_rules(paths: &[PathBuf]) -> Result<Vec<(Source, Vec<Rule>)>, Trouble> {
    let mut all = Vec::new();
    let mut sources = Vec::new();
    let mut problems = Diagnostics::new();
    let mut names: Vec<String> = Vec::new();
    for path in pattern_files(paths)? {
        let name = path.to_string();
        if path != Input::Stdin && !is_rules(&name) {
            if paths.iter().any(|p| p.display().to_string() == name) {
                return Err(Trouble::new(format!(
                    "{name}: rules stand in files that end in .rules"
                )));
            }
            continue;
        }
        let source = Source::new(&name, path.read()?);
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
        return Err(Trouble::Program { diagnostics: problems, sources });
    }
    Ok(all)
}

/// The rules of files that stand beside the shipped patterns, so none has the name of one of those.
pub(super) fn load_rules_beside_shipped(paths: &[PathBuf]) -> Result<Vec<Rule>, Trouble> {
    let (sources, rules): (Vec<Source>, Vec<Vec<Rule>>) = load_rules(paths)?.into_iter().unzip();
    let rules: Vec<Rule> = rules.into_iter().flatten().collect();
    let shipped =
        |name: &str| LISTS.iter().any(|list| list.entries.iter().any(|entry| entry.name == name));
    let mut problems = Diagnostics::new();
    for rule in rules.iter().filter(|rule| shipped(rule.name())) {
        let message = format!("`{}` is the name of a shipped pattern", rule.name());
        let clash = Diagnostic::error(rule.pattern().span(), message);
        problems.push(clash.with_help("give the rule a name of its own"));
    }
    if problems.has_errors() {
        return Err(Trouble::Program { diagnostics: problems, sources });
    }
    Ok(rules)
}

// The files that arguments name; a directory stands for the pattern files in it, sorted by name.
fn pattern_files(arguments: &[PathBuf]) -> Result<Vec<Input>, Trouble> {
    let mut inputs = Vec::new();
    for argument in arguments {
        if !argument.is_dir() {
            inputs.push(Input::new(argument));
            continue;
        }
        let unreadable =
            |error| Trouble::new(format!("{}: cannot be listed: {error}", argument.display()));
        let mut found = Vec::new();
        for entry in fs::read_dir(argument).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            let pattern = path.extension().is_some_and(|e| e == "ptir" || e == "rules");
            if pattern && path.is_file() {
                found.push(path);
            }
        }
        if found.is_empty() {
            let message =
                format!("{}: no patterns in this directory (.ptir, .rules)", argument.display());
            return Err(Trouble::new(message));
        }
        found.sort();
        inputs.extend(found.into_iter().map(Input::File));
    }
    Ok(inputs)
}
