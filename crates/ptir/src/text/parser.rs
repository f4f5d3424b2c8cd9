//! The parser of the text form. It collects problems and does not recurse into regions.

use std::cell::Cell;
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;
use sapwood_types::{
    Diagnostic, Diagnostics, FileId, Loc, LocAliases, Progress, ProgressCounter, Span,
};

use super::external::ExternalResolver;
use super::instruction::{PendingInst, UNKNOWN_OP};
use super::lexer::{Lexer, Token, TokenKind};
use super::names::{NameSlot, ScopedName};
use crate::attr::Attr;
use crate::func::Function;
use crate::ids::{BodyId, InstId, TypeId, ValueId};
use crate::name::Name;
use crate::op::{OpKey, Registry};
use crate::program::Program;
use crate::types::ValueType;
use crate::verify::{self, UnreadParts};

/// Options of the parser.
#[derive(Clone, Debug)]
pub struct ParseOptions {
    pub(super) file: FileId,
    pub(super) registry: Arc<Registry>,
    pub(super) verify: bool,
    pub(super) comments: bool,
    pub(super) open_attributes: bool,
    pub(super) numbers: bool,
    pub(super) limit: usize,
    pub(super) external: Option<ExternalResolver>,
    pub(super) memory: u64,
}

impl ParseOptions {
    /// Creates the default options: built-in ops, verifier on, no file name, comments dropped, at most 100 problems,
    /// 8 GiB of memory.
    #[must_use]
    pub fn new() -> Self {
        Self {
            file: FileId::UNKNOWN,
            registry: Registry::builtin(),
            verify: true,
            comments: false,
            open_attributes: false,
            numbers: false,
            limit: 100,
            external: None,
            memory: 8 << 30,
        }
    }

    /// Sets the name of the file, for spans.
    #[must_use]
    pub fn file(mut self, name: &str) -> Self {
        self.file = FileId::intern(name);
        self
    }

    /// Sets the registry of known ops.
    #[must_use]
    pub fn registry(mut self, registry: &Arc<Registry>) -> Self {
        self.registry = registry.clone();
        self
    }

    /// Sets whether types and calls are verified.
    #[must_use]
    pub fn verify(mut self, verify: bool) -> Self {
        self.verify = verify;
        self
    }

    /// Sets whether comments before functions and instructions are kept.
    #[must_use]
    pub fn comments(mut self, comments: bool) -> Self {
        self.comments = comments;
        self
    }

    /// Sets whether attributes may be omitted. Omitted attributes are then [`Attr::Unit`](crate::Attr::Unit), even if
    /// they have defaults. The result is a partial description of programs, for patterns; it does not verify.
    #[must_use]
    pub fn open_attributes(mut self, open: bool) -> Self {
        self.open_attributes = open;
        self
    }

    /// Sets whether the numbers of values are kept for messages about single instructions: `%7` is then shown as
    /// `%7`, although the whole function may be printed with `%0`.
    #[must_use]
    pub fn numbers(mut self, numbers: bool) -> Self {
        self.numbers = numbers;
        self
    }

    /// Sets the largest number of problems to report.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Sets the approximate limit of memory for parsing, in bytes, without the text itself. A text that needs more is
    /// refused; a few bytes of text can require hundreds.
    #[must_use]
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = bytes;
        self
    }

    /// Sets the function that finds external literals. It receives the file that the text names, the first byte and
    /// the number of bytes, and returns these bytes or the reason why it cannot.
    /// [`external_bytes`](crate::external_bytes) extracts them from a whole file. The text may request any range:
    /// check it before allocating memory.
    #[must_use]
    pub fn external(
        mut self,
        find: impl Fn(&str, u64, u64) -> Result<Vec<u8>, String> + Send + Sync + 'static,
    ) -> Self {
        self.external = Some(ExternalResolver(Arc::new(find)));
        self
    }
}

impl From<&ParseOptions> for ParseOptions {
    fn from(options: &ParseOptions) -> Self {
        options.clone()
    }
}

impl From<&Arc<Registry>> for ParseOptions {
    fn from(registry: &Arc<Registry>) -> Self {
        Self::new().registry(registry)
    }
}

impl Default for ParseOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// Reads and verifies a program of built-in ops.
///
/// # Errors
/// If the text or the program is invalid, with all problems found.
pub fn parse(text: &str) -> Result<Program, Diagnostics> {
    parse_program(text, &ParseOptions::new())
}

/// Reads a program with [`ParseOptions`], or a program of the ops of a registry.
///
/// # Errors
/// If the text or the program is invalid, with all problems found.
pub fn parse_with(text: &str, options: impl Into<ParseOptions>) -> Result<Program, Diagnostics> {
    parse_program(text, &options.into())
}

fn parse_program(text: &str, options: &ParseOptions) -> Result<Program, Diagnostics> {
    if u32::try_from(text.len()).is_err() {
        let span = Span::new(options.file, 1, 1, 1, 1);
        let message =
            format!("the text has {} bytes, at most {} can be read", text.len(), u32::MAX);
        return Err(Diagnostic::error(span, message).into());
    }
    let mut parser = Parser::new(text, options);
    parser.progress = Progress::counter(text.len() as u64);
    parser.program()
}

/// Approximate sizes in bytes of the parts of a program during and after parsing, including the growth of tables.
pub(super) mod memory_cost {
    pub(in crate::text) const FUNCTION: u64 = 2000;
    pub(in crate::text) const INST: u64 = 120;
    pub(in crate::text) const REGION: u64 = 800;
    pub(in crate::text) const OPERAND: u64 = 24;
    pub(in crate::text) const VALUE: u64 = 48;
    pub(in crate::text) const NAME: u64 = 64;
    pub(in crate::text) const TYPE: u64 = 200;
    pub(in crate::text) const ATTR: u64 = 100;
    pub(in crate::text) const INT: u64 = 16;
    pub(in crate::text) const KEY: u64 = 160;
}

/// The error that parsing cannot continue here. The problem has been reported.
#[derive(Debug)]
pub(super) struct ErrorReported;

pub(super) struct Parser<'a> {
    pub(super) lexer: Lexer<'a>,
    pub(super) token: Token,
    pub(super) last_end: (u32, u32),
    pub(super) options: &'a ParseOptions,
    pub(super) problems: Diagnostics,
    pub(super) function: Function,
    // Values of the current function, by hint and by number.
    pub(super) by_hint: Vec<NameSlot>,
    pub(super) by_number: Vec<NameSlot>,
    // The number of the current function, counted from 1, so that the tables above need not be cleared.
    pub(super) function_number: u32,
    pub(super) open: Vec<bool>,
    // Names that were used before they were defined.
    pub(super) missing: Vec<(Token, ScopedName)>,
    // Types of the current function, by their text.
    pub(super) type_cache: HashMap<&'a str, TypeId, FxBuildHasher>,
    pub(super) last_literal: Option<InstId>,
    // The parts of the current function that could not be read.
    pub(super) unread: UnreadParts,
    // The approximate number of bytes allocated so far, and whether they exceed the limit; parsing then stops.
    pub(super) memory_used: u64,
    pub(super) out_of_memory: bool,
    // The number of open attribute braces in the current instruction.
    pub(super) braces: usize,
    // No list of values that starts before this position is followed by `=`.
    pub(super) no_results_before: Cell<u32>,
    // The aliases of locations, collected when the first location is read.
    pub(super) loc_aliases: Option<LocAliases<'a>>,
    // The positions of reported errors in locations.
    pub(super) loc_errors: HashSet<usize, FxBuildHasher>,
    // The key of `UNKNOWN_OP`.
    pub(super) unknown: OpKey,
    // Counts the bytes that were read.
    progress: ProgressCounter,
}

fn builtin_options() -> &'static ParseOptions {
    static OPTIONS: std::sync::OnceLock<ParseOptions> = std::sync::OnceLock::new();
    OPTIONS.get_or_init(ParseOptions::new)
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, options: &'a ParseOptions) -> Self {
        let mut lexer = Lexer::new(text);
        if options.comments {
            lexer.comments = Some(String::new());
        }
        let token = lexer.next();
        Self {
            lexer,
            token,
            last_end: (1, 1),
            options,
            problems: Diagnostics::with_limit(options.limit),
            function: Function::new("", options.registry.clone()),
            by_hint: Vec::new(),
            by_number: Vec::new(),
            function_number: 0,
            open: Vec::new(),
            missing: Vec::new(),
            type_cache: HashMap::default(),
            last_literal: None,
            unread: UnreadParts::default(),
            memory_used: 0,
            out_of_memory: false,
            braces: 0,
            no_results_before: Cell::new(0),
            loc_aliases: None,
            loc_errors: HashSet::default(),
            unknown: OpKey::of(UNKNOWN_OP),
            progress: ProgressCounter::default(),
        }
    }

    pub(super) fn for_fragment(text: &'a str) -> Self {
        Self::new(text, builtin_options())
    }

    pub(super) fn first_message(self) -> String {
        self.problems.into_vec().into_iter().next().map_or_else(String::new, |d| d.message)
    }

    fn program(mut self) -> Result<Program, Diagnostics> {
        let mut program = Program::new(self.options.registry.clone());
        if self.header().is_err() {
            return Err(self.problems);
        }
        // By function: the parts that could not be read. Only for functions with problems.
        let mut unread: HashMap<Name, UnreadParts, FxBuildHasher> = HashMap::default();
        while self.token.kind != TokenKind::End {
            let leading = self.take_comments();
            let start = self.token;
            if self.loc_definition() {
                continue;
            }
            if self.word() != Some("func") {
                let _ = self.report_expected("`func`");
                self.advance();
                self.skip_to_function();
                continue;
            }
            self.advance();
            self.reset();
            self.charge_memory(memory_cost::FUNCTION);
            let named = self.function_after_keyword(start);
            if self.out_of_memory {
                return Err(self.problems);
            }
            self.finish_names();
            let registry = self.options.registry.clone();
            let mut function = std::mem::replace(&mut self.function, Function::new("", registry));
            function.set_leading_comment(leading.as_deref());
            function.layout.relabel_body(function.body());
            let lost = std::mem::take(&mut self.unread);
            let verified = self.options.verify
                && verify::check_function(&function, &mut self.problems, &lost)
                && lost.is_empty();
            if !named {
                continue;
            }
            let name = function.name();
            if let Err(error) = program.add(function) {
                self.problems.error(start.span(self.options.file), error.to_string());
            } else if verified {
                program.verified.mark_function(program.functions().len() - 1);
            } else if !lost.is_empty() {
                unread.insert(name, lost);
            }
        }
        if self.options.verify {
            verify::check_calls(&program, &mut self.problems, &unread);
            if self.problems.is_empty() {
                program.verified.mark_calls();
            }
        }
        self.problems.sort();
        self.problems.into_result(program)
    }

    fn header(&mut self) -> Result<(), ErrorReported> {
        if self.word() != Some("ptir") {
            return Err(self.report_expected_with_help(
                "`ptir 1`",
                "a program starts with the version of its text form".into(),
            ));
        }
        self.advance();
        let text = self.lexer.text(self.token);
        let Some(version) = text.parse::<u64>().ok().filter(|_| self.token.kind == TokenKind::Int)
        else {
            return Err(self.report_expected("a version number"));
        };
        if version > super::TEXT_VERSION || version == 0 {
            let message = format!(
                "unsupported version {version} of the text form; expected 1 to {}",
                super::TEXT_VERSION
            );
            return Err(self.report(message));
        }
        self.advance();
        Ok(())
    }

    fn reset(&mut self) {
        self.function_number += 1;
        self.open.clear();
        self.open.push(true);
        self.missing.clear();
        self.type_cache.clear();
        self.last_literal = None;
        self.unread = UnreadParts::default();
        self.braces = 0;
    }

    // Reads a function after `func`. Returns whether it has a name by which it can be called. Its body is read even
    // if its head is invalid.
    fn function_after_keyword(&mut self, start: Token) -> bool {
        let mut named = false;
        if self.token.kind != TokenKind::Func {
            let _ = self.report_expected("the name of the function, such as `@f`");
        } else if let Ok(name) = self.func_name(self.lexer.text(self.token)) {
            self.function.set_name(name);
            named = true;
        }
        self.function.set_span(self.span_from(start, self.token));
        if self.token.kind == TokenKind::Func {
            self.advance();
        }
        let body = self.function.body();
        self.params(body);
        if self.result_types().is_err() {
            self.unread.signature = true;
            while !matches!(self.token.kind, TokenKind::End | TokenKind::Punct(b'{' | b'}'))
                && !self.starts_function()
            {
                self.advance();
            }
        }
        if self.at_word("where") && self.where_clause().is_err() {
            self.unread.signature = true;
            while !matches!(self.token.kind, TokenKind::End | TokenKind::Punct(b'{' | b'}'))
                && !self.starts_function()
            {
                self.advance();
            }
        }
        if self.opens_function_attributes() && self.function_attributes().is_err() {
            self.unread.signature = true;
            self.resume();
        }
        if self.expect(b'{').is_ok() {
            self.body();
            match self.loc() {
                Loc::UNKNOWN => {}
                loc => self.function.set_span(self.function.span().with_loc(loc)),
            }
        } else {
            self.unread.signature = true;
            self.unread.bodies.insert(body);
            self.skip_to_function();
        }
        named
    }

    // Returns whether a brace opens attributes, as it does before `key =`; the first instruction of a body never has this form.
    fn opens_function_attributes(&self) -> bool {
        let mut ahead = self.lexer.lookahead();
        self.at(b'{')
            && matches!(ahead.next().kind, TokenKind::Word | TokenKind::Str)
            && ahead.next().kind == TokenKind::Punct(b'=')
    }

    // Reads `{extracted_from = "softmax"}` or `{private = true}`.
    fn function_attributes(&mut self) -> Result<(), ErrorReported> {
        let open = self.token;
        let dict = self.attr(0)?;
        self.braces = 0;
        let Attr::Dict(entries) = dict else { return Ok(()) };
        for (name, attr) in entries.iter() {
            match (name.as_str(), attr) {
                ("extracted_from", Attr::Str(text)) => {
                    self.function.set_extracted_from(Some(Name::new(text)));
                }
                ("extracted_from", other) => {
                    let found = other.describe();
                    let message = format!("`extracted_from` must be a string, found {found}");
                    let _ = self.report_at(open, message);
                }
                ("private", Attr::Bool(private)) => self.function.set_private(*private),
                ("private", other) => {
                    let found = other.describe();
                    let message = format!("`private` must be true or false, found {found}");
                    let _ = self.report_at(open, message);
                }
                _ => {
                    let help = "expected `extracted_from` or `private`".into();
                    let message = format!("a function has no attribute `{name}`");
                    let _ = self.report_at_with_help(open, message, help);
                }
            }
        }
        Ok(())
    }

    fn result_types(&mut self) -> Result<(), ErrorReported> {
        let mut results: Vec<TypeId> = Vec::new();
        if self.token.kind == TokenKind::Arrow {
            self.advance();
            if self.eat(b'(') {
                while !self.at(b')') {
                    results.push(self.interned_type()?);
                    if !self.eat(b',') && !self.at(b')') {
                        return Err(self.report_expected("`,` or `)`"));
                    }
                }
                self.advance();
            } else {
                results.push(self.interned_type()?);
            }
        }
        self.function.set_result_ids(results);
        Ok(())
    }

    /// Reads the parameters of a body. Unreadable ones are skipped.
    pub(super) fn params(&mut self, body: BodyId) {
        if self.expect(b'(').is_err() {
            self.unread.params.insert(body);
            return;
        }
        while !self.at(b')') {
            if self.param(body).is_ok() {
                continue;
            }
            self.unread.params.insert(body);
            if !self.skip_to_param() {
                return;
            }
        }
        self.advance();
    }

    fn param(&mut self, body: BodyId) -> Result<(), ErrorReported> {
        let token = self.token;
        if token.kind != TokenKind::Value {
            return Err(self.report_expected("a parameter, such as `%x: f32[]`"));
        }
        let name = self.scoped_name(token);
        self.advance();
        let ty = match self.expect(b':') {
            Ok(()) => self.interned_type(),
            Err(stop) => Err(stop),
        };
        let Ok(ty) = ty else {
            let none = self.function.dfg.types.intern(&ValueType::Token);
            self.function.push_param_id(body, none);
            let poison = self.poison_value();
            self.define(name, token, poison);
            return Err(ErrorReported);
        };
        self.charge_memory(memory_cost::VALUE);
        let value = self.function.push_param_id(body, ty);
        self.define(name, token, value);
        if !self.eat(b',') && !self.at(b')') {
            return Err(self.report_expected("`,` or `)`"));
        }
        Ok(())
    }

    // Reads the instructions of the function up to its closing brace, with an explicit stack of regions.
    fn body(&mut self) {
        let mut stack: Vec<PendingInst> = Vec::new();
        let mut body = self.function.body();
        loop {
            if self.token.kind == TokenKind::End || self.starts_function() {
                let _ = self.report_expected("`}`");
                self.close_unfinished_bodies(body, stack);
                return;
            }
            let mut pending = if self.eat(b'}') {
                self.open[body.index()] = false;
                let Some(mut pending) = stack.pop() else { return };
                self.after_region(&mut pending);
                pending
            } else {
                self.progress.reach(self.token.start.into());
                self.instruction(body)
            };
            body = match self.open_region(&mut pending) {
                Some(region) => {
                    stack.push(pending);
                    region
                }
                None => {
                    self.finish_inst(&mut pending);
                    pending.body
                }
            };
        }
    }

    // Keeps the instructions of bodies inside of which the text ended, for the checks.
    fn close_unfinished_bodies(&mut self, body: BodyId, stack: Vec<PendingInst>) {
        if self.out_of_memory {
            return;
        }
        self.unread.bodies.insert(body);
        for mut pending in stack.into_iter().rev() {
            pending.broken = true;
            self.create_inst(&mut pending, &[]);
            self.unread.bodies.insert(pending.body);
        }
    }

    /// Returns the value that replaces values that could not be read.
    pub(super) fn poison_value(&mut self) -> ValueId {
        if self.unread.poison.is_none() {
            let none = self.function.dfg.types.intern(&ValueType::Token);
            let attrs = self.function.dfg.attrs.intern_vec(Vec::new());
            let key = self.unknown;
            let inst = self.function.create_inst(key, attrs, &[], &[], &[none], Span::unknown());
            self.unread.poison = self.function.value_of(inst).unwrap_or(ValueId::NONE);
        }
        self.unread.poison
    }

    pub(super) fn take_comments(&mut self) -> Option<String> {
        let comments = self.lexer.comments.as_mut()?;
        if comments.is_empty() { None } else { Some(std::mem::take(comments)) }
    }

    pub(super) fn word(&self) -> Option<&'a str> {
        (self.token.kind == TokenKind::Word).then(|| self.lexer.text(self.token))
    }

    pub(super) fn at(&self, punct: u8) -> bool {
        self.token.kind == TokenKind::Punct(punct)
    }

    pub(super) fn advance(&mut self) {
        let width = self.token.end - self.token.start;
        self.last_end = (self.token.line, self.token.column.saturating_add(width));
        self.token = self.lexer.next();
    }

    // Advances past the current token, which was skipped up to this column.
    pub(super) fn advance_to_column(&mut self, column: u32) {
        self.last_end = (self.token.line, column);
        self.token = self.lexer.next();
    }

    pub(super) fn eat(&mut self, punct: u8) -> bool {
        let found = self.at(punct);
        if found {
            self.advance();
        }
        found
    }

    pub(super) fn expect(&mut self, punct: u8) -> Result<(), ErrorReported> {
        if self.eat(punct) {
            Ok(())
        } else {
            Err(self.report_expected(&format!("`{}`", char::from(punct))))
        }
    }

    fn found(&self) -> String {
        match self.token.kind {
            TokenKind::End => "the end of the text".into(),
            TokenKind::Placeholder => format!(
                "the placeholder {}, which only snippets may have",
                self.lexer.text(self.token)
            ),
            _ => {
                let text: String = self.lexer.text(self.token).chars().take(40).collect();
                format!("`{text}`")
            }
        }
    }

    pub(super) fn report_expected(&mut self, what: &str) -> ErrorReported {
        let message = format!("expected {what}, found {}", self.found());
        self.report(message)
    }

    pub(super) fn report_expected_with_help(&mut self, what: &str, help: String) -> ErrorReported {
        let message = format!("expected {what}, found {}", self.found());
        self.report_with_help(message, help)
    }

    pub(super) fn report(&mut self, message: impl Into<String>) -> ErrorReported {
        self.report_at(self.token, message.into())
    }

    pub(super) fn report_with_help(&mut self, message: String, help: String) -> ErrorReported {
        self.report_at_with_help(self.token, message, help)
    }

    pub(super) fn report_at(&mut self, token: Token, message: String) -> ErrorReported {
        if !self.out_of_memory {
            self.problems.error(token.span(self.options.file), message);
        }
        ErrorReported
    }

    pub(super) fn report_at_with_help(
        &mut self,
        token: Token,
        message: String,
        help: String,
    ) -> ErrorReported {
        if !self.out_of_memory {
            self.problems
                .push(Diagnostic::error(token.span(self.options.file), message).with_help(help));
        }
        ErrorReported
    }

    /// Adds to the memory used. If the limit is exceeded, the rest of the text is skipped.
    pub(super) fn charge_memory(&mut self, bytes: u64) {
        self.memory_used = self.memory_used.saturating_add(bytes);
        if self.memory_used > self.options.memory && !self.out_of_memory {
            let message =
                format!("reading this takes more than {} bytes of memory", self.options.memory);
            let error = Diagnostic::error(self.token.span(self.options.file), message)
                .with_help("a larger limit can be set when reading");
            // This problem is reported even if the limit of problems is reached.
            let mut problems = Diagnostics::with_limit(self.options.limit.saturating_add(1));
            problems.append(std::mem::take(&mut self.problems));
            problems.push(error);
            self.problems = problems;
            self.out_of_memory = true;
            self.lexer.skip_to_end();
            self.token = self.lexer.next();
        }
    }

    fn span_from(&self, start: Token, end: Token) -> Span {
        start.span(self.options.file).to(end.span(self.options.file))
    }
}
