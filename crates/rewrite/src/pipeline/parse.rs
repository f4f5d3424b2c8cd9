//! Parsing and printing of pipelines.

use std::ops::Range;

use sapwood_types::{Diagnostic, Diagnostics, Source, did_you_mean};

use super::pass_info::{GivenOption, PassInfo, PassOptions};
use crate::passes::{FixpointPass, PASSES, Pass};

/// The maximum nesting of `fixpoint(…)`.
const MAX_FIXPOINT_DEPTH: usize = 32;

/// Parses a pipeline: passes separated by commas, options in braces, `fixpoint(…)` around passes.
///
/// ```
/// use sapwood_rewrite::{parse_pipeline, print_pipeline};
///
/// let passes = parse_pipeline("canonicalize{max-iterations=4}, fixpoint(cse,dce)")?;
/// assert_eq!(print_pipeline(&passes), "canonicalize{max-iterations=4},fixpoint(cse,dce)");
///
/// let problems = parse_pipeline("canonicalise,cse").err().unwrap();
/// assert!(problems.to_string().contains("unknown pass `canonicalise`"));
/// # Ok::<(), sapwood_types::Diagnostics>(())
/// ```
///
/// # Errors
/// If the text is not a pipeline, with all diagnostics; [`Diagnostics::render`] draws them with a [`Source`] named
/// `<pipeline>`.
pub fn parse_pipeline(text: &str) -> Result<Vec<Box<dyn Pass>>, Diagnostics> {
    parse_pipeline_with(text, &[])
}

/// Parses a pipeline that may name more passes than those of this crate.
///
/// # Errors
/// If the text is not a pipeline, with all diagnostics.
pub fn parse_pipeline_with<'a>(
    text: &'a str,
    more: &[&'a PassInfo],
) -> Result<Vec<Box<dyn Pass>>, Diagnostics> {
    let mut parser = PipelineParser {
        source: Source::new("<pipeline>", text),
        text,
        at: 0,
        known_passes: PASSES.iter().copied().chain(more.iter().copied()).collect(),
        problems: Diagnostics::new(),
    };
    let passes = parser.pass_list(0);
    parser.skip_space();
    if parser.at < text.len() && !parser.problems.has_errors() {
        let rest = parser.rest_of_char();
        parser.error(rest, "expected `,` or the end of the pipeline");
    }
    parser.problems.into_result(passes)
}

/// Prints a pipeline in the form that [`parse_pipeline`] reads.
#[must_use]
pub fn print_pipeline(passes: &[Box<dyn Pass>]) -> String {
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

struct PipelineParser<'a> {
    source: Source,
    text: &'a str,
    at: usize,
    known_passes: Vec<&'a PassInfo>,
    problems: Diagnostics,
}

impl<'a> PipelineParser<'a> {
    fn pass_list(&mut self, depth: usize) -> Vec<Box<dyn Pass>> {
        let mut passes = Vec::new();
        loop {
            let before = self.problems.error_count();
            passes.extend(self.pass(depth));
            self.skip_space();
            if !self.eat(',') {
                return passes;
            }
            // After an error at the end of the text nothing can follow.
            if self.problems.error_count() > before && self.at >= self.text.len() {
                return passes;
            }
        }
    }

    fn pass(&mut self, depth: usize) -> Option<Box<dyn Pass>> {
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
        if name == "fixpoint" {
            return self.fixpoint(at, options?, depth);
        }
        let Some(info) = self.known_passes.iter().copied().find(|p| p.name == name) else {
            let names = self.known_passes.iter().map(|p| p.name).chain(["fixpoint"]);
            let close = did_you_mean(name, names.clone());
            let mut problem =
                Diagnostic::error(self.source.span(at), format!("unknown pass `{name}`"));
            problem = match close {
                Some(close) => problem.with_help(format!("did you mean `{close}`?")),
                None => {
                    problem.with_help(format!("one of {}", names.collect::<Vec<_>>().join(", ")))
                }
            };
            self.problems.push(problem);
            if self.peek() == Some('(') {
                self.skip_to_comma();
            }
            return None;
        };
        if self.peek() == Some('(') {
            let rest = self.rest_of_char();
            self.error(rest, &format!("`{name}` takes no passes; only fixpoint does"));
            self.skip_to_comma();
            return None;
        }
        let options = options?;
        let names: Vec<&str> = info.options.iter().map(|o| o.name).collect();
        self.check_options(info.name, &options, &names)?;
        let at = self.source.span(at);
        (info.make)(&mut PassOptions::new(at, options, &mut self.problems)).ok()
    }

    // Checks that every option is one of these and is given once.
    fn check_options(&mut self, pass: &str, given: &[GivenOption], names: &[&str]) -> Option<()> {
        let mut fine = Some(());
        for (n, option) in given.iter().enumerate() {
            let problem = if !names.contains(&&*option.name) {
                let message = format!("`{pass}` has no option `{}`", option.name);
                let problem = Diagnostic::error(option.name_span, message);
                match did_you_mean(&option.name, names.iter().copied()) {
                    Some(close) => problem.with_help(format!("did you mean `{close}`?")),
                    None => match names {
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
            self.problems.push(problem);
            fine = None;
        }
        fine
    }

    fn fixpoint(
        &mut self,
        at: Range<usize>,
        given: Vec<GivenOption>,
        depth: usize,
    ) -> Option<Box<dyn Pass>> {
        if !self.eat('(') {
            self.error(at, "fixpoint needs passes: `fixpoint(canonicalize,cse)`");
            return None;
        }
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
        self.check_options("fixpoint", &given, &["max-rounds"])?;
        let mut pass = FixpointPass::new(passes);
        let mut options = PassOptions::new(self.source.span(at), given, &mut self.problems);
        options.take("max-rounds", &mut pass.max_rounds).ok()?;
        Some(Box::new(pass))
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
            let end = self.text[start..].find([',', '}']).map_or(self.text.len(), |n| start + n);
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
        self.problems.error(self.source.span(at), message);
    }
}
