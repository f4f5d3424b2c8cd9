//! Parsing and printing of pipelines.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use sapwood_ptir::Registry;
use sapwood_types::{Diagnostic, Source, SourceErrors, did_you_mean};

use super::option_value::value_len;
use super::pass_info::{AddPatterns, GivenOption, OptionContext, PassInfo, PassOptions};
use crate::passes::{FixpointPass, PASSES, Pass};
use crate::pattern::PatternSet;

/// The maximum nesting of `fixpoint(…)`.
const MAX_FIXPOINT_DEPTH: usize = 32;

/// A function that reads files of rules and adds their rules to a set of patterns. Errors about a file that cannot be read have
/// an unknown span.
pub type PatternReader<'a> = dyn Fn(&[PathBuf], &mut PatternSet) -> Result<(), SourceErrors> + 'a;

/// Parses a pipeline of the passes of this crate: passes separated by commas, options in braces, `fixpoint(…)` around passes.
///
/// ```
/// use sapwood_rewrite::{parse_pipeline, print_pipeline};
///
/// let passes = parse_pipeline("canonicalize{max-iterations=4}, fixpoint(cse,dce)")?;
/// assert_eq!(print_pipeline(&passes), "canonicalize{max-iterations=4},fixpoint(cse,dce)");
///
/// let errors = parse_pipeline("canonicalise,cse").err().unwrap();
/// assert!(errors.to_string().contains("unknown pass `canonicalise`"));
/// # Ok::<(), sapwood_types::SourceErrors>(())
/// ```
///
/// # Errors
/// If the text is not a pipeline, with all diagnostics. The source of the pipeline is named `<pipeline>`.
pub fn parse_pipeline(text: &str) -> Result<Vec<Arc<dyn Pass>>, SourceErrors> {
    PipelineParser::default().parse(text)
}

/// A parser of pipelines, which may name more passes than those of this crate, and files of rules.
#[derive(Clone, Copy, Default)]
pub struct PipelineParser<'a> {
    more: &'a [&'a PassInfo],
    context: OptionContext<'a>,
}

impl<'a> PipelineParser<'a> {
    /// Returns a parser of pipelines with these passes besides those of this crate.
    #[must_use]
    pub fn new(more: &'a [&'a PassInfo]) -> Self {
        Self { more, ..Self::default() }
    }

    /// Sets the reader of files of rules. Without one, pipelines cannot name such files.
    #[must_use]
    pub fn pattern_reader(mut self, reader: &'a PatternReader<'a>) -> Self {
        self.context.sources.reader = Some(reader);
        self
    }

    /// Sets a function that adds patterns to the shipped ones, in every pass that has these.
    #[must_use]
    pub fn more_patterns(mut self, add: &'a AddPatterns) -> Self {
        self.context.sources.more = Some(add);
        self
    }

    /// Returns the ops that programs may have.
    pub(super) fn ops(&self) -> Arc<Registry> {
        self.context.registry.map_or_else(Registry::builtin, Arc::clone)
    }

    /// Sets the ops that patterns and rules may have; the default is the built-in ops.
    #[must_use]
    pub fn registry(mut self, registry: &'a Arc<Registry>) -> Self {
        self.context.registry = Some(registry);
        self
    }

    /// Adds the rules of these files to every pass with patterns, as if each had its option `rules`.
    #[must_use]
    pub fn rules(mut self, files: &'a [PathBuf]) -> Self {
        self.context.rules = files;
        self
    }

    /// Returns the passes that pipelines may name.
    pub fn passes(self) -> impl Iterator<Item = &'a PassInfo> {
        PASSES.iter().copied().chain(self.more.iter().copied())
    }

    /// Parses a pipeline.
    ///
    /// # Errors
    /// If the text is not a pipeline, with all diagnostics. The source of the pipeline is named `<pipeline>`.
    pub fn parse(&self, text: &str) -> Result<Vec<Arc<dyn Pass>>, SourceErrors> {
        let source = Source::new("<pipeline>", text);
        let mut cursor = Cursor {
            text,
            at: 0,
            known_passes: self.passes().collect(),
            context: self.context,
            problems: SourceErrors { sources: vec![source.clone()], ..SourceErrors::default() },
            source,
        };
        let passes = cursor.pass_list(0);
        cursor.skip_space();
        if cursor.at < text.len() && !cursor.problems.diagnostics.has_errors() {
            let rest = cursor.rest_of_char();
            cursor.error(rest, "expected `,` or the end of the pipeline");
        }
        cursor.problems.into_result(passes)
    }
}

/// Prints a pipeline in the form that [`parse_pipeline`] reads.
#[must_use]
pub fn print_pipeline(passes: &[Arc<dyn Pass>]) -> String {
    passes.iter().map(|pass| print_pass(&**pass)).collect::<Vec<_>>().join(",")
}

/// Prints one pass of a pipeline.
pub(crate) fn print_pass(pass: &dyn Pass) -> String {
    let mut out = pass.name().to_owned();
    let options: Vec<String> = pass.options().iter().map(|(n, v)| format!("{n}={v}")).collect();
    if !options.is_empty() {
        out += &format!("{{{}}}", options.join(","));
    }
    if !pass.inner().is_empty() {
        out += &format!("({})", print_pipeline(pass.inner()));
    }
    out
}

// A position in the text of a pipeline.
struct Cursor<'a> {
    source: Source,
    text: &'a str,
    at: usize,
    known_passes: Vec<&'a PassInfo>,
    context: OptionContext<'a>,
    problems: SourceErrors,
}

impl<'a> Cursor<'a> {
    fn pass_list(&mut self, depth: usize) -> Vec<Arc<dyn Pass>> {
        let mut passes = Vec::new();
        loop {
            let before = self.problems.diagnostics.error_count();
            passes.extend(self.pass(depth));
            self.skip_space();
            if !self.eat(',') {
                return passes;
            }
            // After an error at the end of the text nothing can follow.
            if self.problems.diagnostics.error_count() > before && self.at >= self.text.len() {
                return passes;
            }
        }
    }

    fn pass(&mut self, depth: usize) -> Option<Arc<dyn Pass>> {
        self.skip_space();
        let (name, at) = self.word();
        if name.is_empty() {
            let rest = self.rest_of_char();
            self.error(rest, "expected the name of a pass");
            // The closing parenthesis is read by the list.
            if depth == 0 || self.peek() != Some(')') {
                self.skip_to_comma();
            }
            return None;
        }
        let options = self.options();
        self.skip_space();
        let Some(info) = self.known_passes.iter().copied().find(|p| p.name == name) else {
            let names = self.known_passes.iter().map(|p| p.name);
            let close = did_you_mean(name, names.clone());
            let mut problem =
                Diagnostic::error(self.source.span(at), format!("unknown pass `{name}`"));
            problem = match close {
                Some(close) => problem.with_help(format!("did you mean `{close}`?")),
                None => {
                    problem.with_help(format!("one of {}", names.collect::<Vec<_>>().join(", ")))
                }
            };
            self.problems.diagnostics.push(problem);
            if self.peek() == Some('(') {
                self.skip_to_comma();
            }
            return None;
        };
        let mut inner = None;
        if self.peek() == Some('(') {
            if name != FixpointPass::NAME {
                let rest = self.rest_of_char();
                self.error(rest, &format!("`{name}` takes no passes; only fixpoint does"));
                self.skip_to_comma();
                return None;
            }
            inner = Some(self.inner(at.clone(), depth)?);
        }
        let options = options?;
        self.check_options(info, &options)?;
        let span = self.source.span(at);
        let mut options = PassOptions::new(info, span, options, self.context, &mut self.problems);
        let pass = match inner {
            Some(passes) => options.fill(FixpointPass::new(passes)),
            None => info.make.call(&mut options),
        };
        pass.ok()
    }

    // Checks that every option belongs to the pass and is given once.
    fn check_options(&mut self, info: &PassInfo, given: &[GivenOption]) -> Option<()> {
        let pass = info.name;
        let names: Vec<&str> = info.options.iter().map(|o| o.name).collect();
        let mut fine = Some(());
        for (n, option) in given.iter().enumerate() {
            let problem = if !names.contains(&&*option.name) {
                let message = format!("`{pass}` has no option `{}`", option.name);
                let problem = Diagnostic::error(option.name_span, message);
                match did_you_mean(&option.name, names.iter().copied()) {
                    Some(close) => problem.with_help(format!("did you mean `{close}`?")),
                    None => match &names[..] {
                        [] => problem.with_help("it has no options"),
                        all => problem.with_help(format!("one of {}", all.join(", "))),
                    },
                }
            } else if given[..n].iter().any(|g| g.name == option.name) {
                Diagnostic::error(
                    option.name_span,
                    format!("option `{}` is given twice", option.name),
                )
            } else {
                continue;
            };
            self.problems.diagnostics.push(problem);
            fine = None;
        }
        fine
    }

    // Parses `(pass,…)`.
    fn inner(&mut self, at: Range<usize>, depth: usize) -> Option<Vec<Arc<dyn Pass>>> {
        self.eat('(');
        if depth >= MAX_FIXPOINT_DEPTH {
            self.error(at, &format!("fixpoint nests at most {MAX_FIXPOINT_DEPTH} deep"));
            self.at = self.text.len();
            return None;
        }
        let passes = self.pass_list(depth + 1);
        self.skip_space();
        if !self.eat(')') {
            let rest = self.rest_of_char();
            self.error(rest, "expected `,` or `)`");
            self.skip_to_comma();
            return None;
        }
        Some(passes)
    }

    // Parses `{name=value,…}`, if present; `None` if it is malformed.
    fn options(&mut self) -> Option<Vec<GivenOption>> {
        self.skip_space();
        let mut given = Vec::new();
        let open = self.at;
        if !self.eat('{') {
            return Some(given);
        }
        loop {
            self.skip_space();
            if self.eat('}') {
                return Some(given);
            }
            let (name, at) = self.word();
            self.skip_space();
            if name.is_empty() || !self.eat('=') {
                let rest = self.rest_of_char();
                let closed = self.text[self.at..].contains('}');
                match (name.is_empty(), closed) {
                    (_, false) => self.error(open..open + 1, "this `{` is not closed"),
                    (true, _) => self.error(rest, "expected the name of an option"),
                    (false, _) => {
                        self.error(rest, &format!("expected `=` and a value for `{name}`"));
                    }
                }
                self.at =
                    self.text[self.at..].find('}').map_or(self.text.len(), |n| self.at + n + 1);
                return None;
            }
            self.skip_space();
            let start = self.at;
            let end = start + value_len(&self.text[start..]);
            let value = self.text[start..end].trim_end();
            given.push(GivenOption {
                name: name.to_owned(),
                value: value.to_owned(),
                name_span: self.source.span(at),
                value_span: self.source.span(start..start + value.len()),
            });
            self.at = end;
            self.eat(',');
        }
    }

    fn word(&mut self) -> (&'a str, Range<usize>) {
        let start = self.at;
        let rest = &self.text[start..];
        let len =
            rest.find(|c: char| !c.is_alphanumeric() && c != '-' && c != '_').unwrap_or(rest.len());
        self.at += len;
        (&rest[..len], start..start + len)
    }

    fn skip_space(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn eat(&mut self, c: char) -> bool {
        let found = self.peek() == Some(c);
        self.at += if found { c.len_utf8() } else { 0 };
        found
    }

    fn rest_of_char(&self) -> Range<usize> {
        self.at..self.at + self.peek().map_or(0, char::len_utf8)
    }

    fn skip_to_comma(&mut self) {
        self.at = self.text[self.at..].find(',').map_or(self.text.len(), |n| self.at + n);
    }

    fn error(&mut self, at: Range<usize>, message: &str) {
        self.problems.diagnostics.error(self.source.span(at), message);
    }
}
