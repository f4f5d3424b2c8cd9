//! Reading patterns and rules from files, and the parser of pipelines that name such files.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sapwood_ptir::{Name, Program, Registry};
use sapwood_rewrite::{PatternSet, PipelineParser};
use sapwood_types::{Diagnostic, Diagnostics, Source, SourceErrors, Span, read_source};

use crate::graph::{PatternGraph, patterns_from, patterns_of_program};
use crate::language::{Rule, Vocabulary, rules_from};
use crate::passes::PASSES;

/// Returns the parser of pipelines with the passes of this crate, `rules` and `outline`, and with files of rules. Relative paths
/// are relative to the working directory.
///
/// ```
/// # let folder = std::env::temp_dir().join(format!("sapwood-rules-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let file = folder.join("my.rules");
/// std::fs::write(&file, "rule neg_of_neg: neg(neg(x)) => x")?;
/// let mut program = sapwood_ptir::parse(
///     "ptir 1 func @f(%x: f32[4]) -> f32[4] { %a = neg %x : f32[4] %b = neg %a : f32[4] return %b }",
/// )?;
/// let pipeline = format!("rules{{file={}}},dce", file.display());
/// let passes = sapwood_rules::pipeline_parser().parse(&pipeline)?;
/// sapwood_rewrite::PassManager::from(passes).run(&mut program)?;
/// assert_eq!(program.num_insts(), 1);
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn pipeline_parser() -> PipelineParser<'static> {
    PipelineParser::new(PASSES).pattern_reader(&|paths, set| {
        PatternFiles::new(&Registry::builtin(), &read_source).add_rules(paths, set)
    })
}

/// A function that reads a file of patterns or rules.
pub type SourceReader<'a> = dyn Fn(&Path) -> Result<Source, SourceErrors> + 'a;

/// A function that reads a program whose functions are patterns, and runs the passes on it that run on the programs that are searched.
/// Returns `None` for a file of another format.
pub type ProgramReader<'a> = dyn Fn(&Path) -> Option<Result<(Source, Program), SourceErrors>> + 'a;

/// A reader of files of patterns and rules.
#[derive(Clone, Copy)]
pub struct PatternFiles<'a> {
    registry: &'a Arc<Registry>,
    read: &'a SourceReader<'a>,
    words: Option<&'a Vocabulary>,
    programs: Option<&'a ProgramReader<'a>>,
}

impl<'a> PatternFiles<'a> {
    /// Returns a reader for patterns of these ops, which reads the files themselves with `read`.
    pub fn new(registry: &'a Arc<Registry>, read: &'a SourceReader<'a>) -> Self {
        Self { registry, read, words: None, programs: None }
    }

    /// Sets the predicates and functions that rules may use; by default the built-in ones.
    #[must_use]
    pub fn vocabulary(mut self, words: &'a Vocabulary) -> Self {
        self.words = Some(words);
        self
    }

    /// Sets the reader of patterns that are programs of other formats, such as StableHLO. Without it they are refused.
    #[must_use]
    pub fn programs(mut self, programs: &'a ProgramReader<'a>) -> Self {
        self.programs = Some(programs);
        self
    }

    fn rules_of(&self, source: &Source) -> Result<Vec<Rule>, Diagnostics> {
        match self.words {
            Some(words) => rules_from(source, self.registry, words),
            None => rules_from(source, self.registry, &Vocabulary::builtin()),
        }
    }

    /// Reads patterns: the functions of `.ptir` files and of programs in other formats, and the left sides of the rules of `.rules` files. A
    /// directory adds all `.ptir` and `.rules` files in it.
    ///
    /// # Errors
    /// If a file cannot be read or has errors, or if two patterns have the same name; all errors are reported.
    pub fn patterns(&self, paths: &[PathBuf]) -> Result<Vec<PatternGraph>, SourceErrors> {
        let files = expand_directories(paths)?;
        read_files(
            &files,
            "pattern",
            |p: &PatternGraph| (p.name(), p.span()),
            |path| {
                if let Some((source, program)) = self.read_program(path)? {
                    let patterns = patterns_of_program(&program, source.name());
                    return Ok((source, patterns));
                }
                let source = (self.read)(path)?;
                let patterns = match is_rules_file(Path::new(source.name())) {
                    true => self
                        .rules_of(&source)
                        .map(|rules| rules.into_iter().map(Rule::into_pattern).collect()),
                    false => patterns_from(&source, self.registry),
                };
                Ok((source, patterns))
            },
        )
        .map(|(patterns, _)| patterns)
    }

    // Reads a program of another format than PTIR text.
    fn read_program(&self, path: &Path) -> Result<Option<(Source, Program)>, SourceErrors> {
        if let Some(programs) = self.programs {
            return programs(path).transpose();
        }
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        if ["mlir", "onnx", "json", "py"].contains(&extension) {
            let path = path.display();
            let message = format!("{path}: cannot be read here; expected a .ptir or .rules file");
            return Err(SourceErrors::plain(message));
        }
        Ok(None)
    }

    /// Reads the rules of `.rules` files. A directory adds all files in it.
    ///
    /// # Errors
    /// If a file cannot be read or has errors, or if two rules have the same name; all errors are reported.
    pub fn rules(&self, paths: &[PathBuf]) -> Result<Vec<Rule>, SourceErrors> {
        self.rules_and_sources(paths).map(|(rules, _)| rules)
    }

    /// Adds the rules of `.rules` files to a set of patterns. A directory adds all files in it.
    ///
    /// # Errors
    /// If the rules cannot be read, or if one has the name of a pattern of the set.
    pub fn add_rules(&self, paths: &[PathBuf], set: &mut PatternSet) -> Result<(), SourceErrors> {
        let (rules, sources) = self.rules_and_sources(paths)?;
        Rule::add_all(&rules, set).map_err(|diagnostics| SourceErrors { diagnostics, sources })
    }

    fn rules_and_sources(
        &self,
        paths: &[PathBuf],
    ) -> Result<(Vec<Rule>, Vec<Source>), SourceErrors> {
        let mut files = expand_directories(paths)?;
        for path in paths {
            if !path.is_dir() && !is_rules_file(path) && path.as_os_str() != "-" {
                let path = path.display();
                let message = format!("{path}: not a file of rules; expected the extension .rules");
                return Err(SourceErrors::plain(message));
            }
        }
        // Directories may have other patterns besides.
        files.retain(|path| is_rules_file(path) || path.as_os_str() == "-");
        read_files(
            &files,
            "rule",
            |rule: &Rule| (Name::new(rule.name()), rule.pattern().span()),
            |path| {
                let source = (self.read)(path)?;
                let rules = self.rules_of(&source);
                Ok((source, rules))
            },
        )
    }
}

// Reads the items of files, and reports all errors at once.
fn read_files<T>(
    files: &[PathBuf],
    kind: &str,
    name_and_span: impl Fn(&T) -> (Name, Span),
    read: impl Fn(&Path) -> Result<(Source, Result<Vec<T>, Diagnostics>), SourceErrors>,
) -> Result<(Vec<T>, Vec<Source>), SourceErrors> {
    let mut items: Vec<T> = Vec::new();
    let mut first_spans: HashMap<Name, Span> = HashMap::new();
    let mut errors = SourceErrors::default();
    for path in files {
        let (source, read) = read(path)?;
        match read {
            Ok(new) => {
                for item in new {
                    let (name, span) = name_and_span(&item);
                    match first_spans.entry(name) {
                        Entry::Vacant(entry) => drop(entry.insert(span)),
                        Entry::Occupied(first) => {
                            let twice = defined_twice(kind, name.as_str(), span, *first.get());
                            errors.diagnostics.push(twice);
                        }
                    }
                    items.push(item);
                }
            }
            Err(found) => errors.diagnostics.append(found),
        }
        errors.sources.push(source);
    }
    let sources = errors.sources.clone();
    errors.into_result((items, sources))
}

/// Returns the error that a name is defined at a span and was defined at another.
pub(crate) fn defined_twice(kind: &str, name: &str, span: Span, first: Span) -> Diagnostic {
    let twice = Diagnostic::error(span, format!("{kind} `{name}` is defined twice"));
    twice.with_note_at(first, "here first")
}

fn is_rules_file(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "rules")
}

// Returns the files that paths name. A directory is replaced by the files of patterns and rules in it, sorted by name.
fn expand_directories(paths: &[PathBuf]) -> Result<Vec<PathBuf>, SourceErrors> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let list_error = |error: std::io::Error| {
            SourceErrors::plain(format!("{}: cannot be listed: {error}", path.display()))
        };
        let mut found = Vec::new();
        for entry in fs::read_dir(path).map_err(list_error)? {
            let file = entry.map_err(list_error)?.path();
            let has_patterns =
                is_rules_file(&file) || file.extension().is_some_and(|e| e == "ptir");
            if has_patterns && file.is_file() {
                found.push(file);
            }
        }
        if found.is_empty() {
            let path = path.display();
            let message = format!("{path}: no patterns in this directory (.ptir, .rules)");
            return Err(SourceErrors::plain(message));
        }
        found.sort();
        files.extend(found);
    }
    Ok(files)
}
