//! Reads programs in the text form. Collects problems; uses no recursion for regions.

use std::cell::Cell;
use std::sync::Arc;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_types::{Diagnostic, Diagnostics, FileId, Span};

use super::external::Resolver;
use super::instruction::{Pending, UNKNOWN_OP};
use super::lexer::{Kind, Lexer, Token};
use super::names::{ScopedName, Slot};
use crate::attr::Attr;
use crate::func::{Function, RawInst};
use crate::ids::{BodyId, InstId, TypeId, ValueId};
use crate::name::Name;
use crate::op::{OpKey, Registry};
use crate::program::Program;
use crate::types::ValueType;
use crate::verify::{self, Unread};

/// How to read a text.
#[derive(Clone, Debug)]
pub struct ParseOptions {
    pub(super) file: FileId,
    pub(super) registry: Arc<Registry>,
    pub(super) verify: bool,
    pub(super) comments: bool,
    pub(super) open_attributes: bool,
    pub(super) numbers: bool,
    pub(super) limit: usize,
    pub(super) external: Option<Resolver>,
    pub(super) memory: u64,
}

impl ParseOptions {
    /// Built-in ops, verifier on, no file name, comments dropped, at most 100 problems, 8 GiB of memory.
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

    /// The name of the file, for spans.
    #[must_use]
    pub fn file(mut self, name: &str) -> Self {
        self.file = FileId::intern(name);
        self
    }

    /// The ops that are known.
    #[must_use]
    pub fn registry(mut self, registry: &Arc<Registry>) -> Self {
        self.registry = registry.clone();
        self
    }

    /// Whether types and calls are checked too.
    #[must_use]
    pub fn verify(mut self, verify: bool) -> Self {
        self.verify = verify;
        self
    }

    /// Whether comments before functions and instructions are kept.
    #[must_use]
    pub fn comments(mut self, comments: bool) -> Self {
        self.comments = comments;
        self
    }

    /// Whether attributes may be left out: those that are not written are [`Attr::Unit`](crate::Attr::Unit) then, defaults
    /// included. Such a program is no program yet but says something about some; it does not verify.
    #[must_use]
    pub fn open_attributes(mut self, open: bool) -> Self {
        self.open_attributes = open;
        self
    }

    /// Whether the numbers of values are kept for messages about single instructions: `%7` is `%7` there then, though it
    /// may be `%0` when the whole function is printed.
    #[must_use]
    pub fn numbers(mut self, numbers: bool) -> Self {
        self.numbers = numbers;
        self
    }

    /// How many problems are reported.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// About how many bytes of memory reading may take, the text itself left aside. A text that needs more is refused;
    /// a few bytes of text can ask for hundreds.
    #[must_use]
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = bytes;
        self
    }

    /// How literals kept beside the text are found: given the file that the text names, the first byte and the number
    /// of bytes, the answer is these bytes or why there are none. [`external_bytes`](crate::external_bytes) cuts them out
    /// of a whole file. What the text asks for need not be there: check it before memory is taken for it.
    #[must_use]
    pub fn external(
        mut self,
        find: impl Fn(&str, u64, u64) -> Result<Vec<u8>, String> + Send + Sync + 'static,
    ) -> Self {
        self.external = Some(Resolver(Arc::new(find)));
        self
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
/// With all problems found.
pub fn parse(text: &str) -> Result<Program, Diagnostics> {
    parse_options(text, &ParseOptions::new())
}

/// Reads and verifies a program of these ops.
///
/// # Errors
/// With all problems found.
pub fn parse_with(text: &str, registry: &Arc<Registry>) -> Result<Program, Diagnostics> {
    parse_options(text, &ParseOptions::new().registry(registry))
}

/// Reads a program.
///
/// # Errors
/// With all problems found.
pub fn parse_options(text: &str, options: &ParseOptions) -> Result<Program, Diagnostics> {
    if u32::try_from(text.len()).is_err() {
        let span = Span::new(options.file, 1, 1, 1, 1);
        let message =
            format!("the text has {} bytes, at most {} can be read", text.len(), u32::MAX);
        return Err(Diagnostic::error(span, message).into());
    }
    Parser::new(text, options).program()
}

/// About how many bytes things take while they are read and after, growth of tables included.
pub(super) mod cost {
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

/// Reading cannot go on here; the problem is recorded.
#[derive(Debug)]
pub(super) struct Stop;

pub(super) struct Parser<'a> {
    pub(super) lexer: Lexer<'a>,
    pub(super) token: Token,
    pub(super) last_end: (u32, u32),
    pub(super) options: &'a ParseOptions,
    pub(super) problems: Diagnostics,
    pub(super) function: Function,
    // Of the current function: values by hint and by number.
    pub(super) by_hint: Vec<Slot>,
    pub(super) by_number: Vec<Slot>,
    // Counted from 1, so that the tables above need not be cleared.
    pub(super) function_number: u32,
    pub(super) open: Vec<bool>,
    // Names that were used before they were defined.
    pub(super) missing: Vec<(Token, ScopedName)>,
    // Types of the current function by their text.
    pub(super) type_cache: HashMap<&'a str, TypeId, FxBuildHasher>,
    pub(super) last_literal: Option<InstId>,
    // What could not be read of the current function.
    pub(super) unread: Unread,
    // About how many bytes were taken so far, and whether they were too many: then nothing is read any more.
    pub(super) spent: u64,
    pub(super) exhausted: bool,
    // Attribute braces that are open in the current instruction.
    pub(super) braces: usize,
    // No list of values that starts before this place is followed by `=`.
    pub(super) no_start_before: Cell<u32>,
    // The key of `UNKNOWN_OP`.
    pub(super) unknown: OpKey,
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
            unread: Unread::default(),
            spent: 0,
            exhausted: false,
            braces: 0,
            no_start_before: Cell::new(0),
            unknown: OpKey::of(UNKNOWN_OP),
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
        // By function: what could not be read of it. Only for functions with problems.
        let mut unread: HashMap<Name, Unread, FxBuildHasher> = HashMap::default();
        while self.token.kind != Kind::End {
            let leading = self.take_comments();
            let start = self.token;
            if self.word() != Some("func") {
                let _ = self.expected("`func`");
                self.bump();
                self.skip_to_function();
                continue;
            }
            self.bump();
            self.reset();
            self.spend(cost::FUNCTION);
            let named = self.function_rest(start);
            if self.exhausted {
                return Err(self.problems);
            }
            self.finish_names();
            let registry = self.options.registry.clone();
            let mut function = std::mem::replace(&mut self.function, Function::new("", registry));
            function.set_leading_comment(leading.as_deref());
            function.renumber(function.body());
            let lost = std::mem::take(&mut self.unread);
            if self.options.verify {
                verify::check_function(&function, &mut self.problems, &lost);
            }
            if !named {
                continue;
            }
            let name = function.name();
            if let Err(error) = program.add(function) {
                self.problems.error(start.span(self.options.file), error.to_string());
            } else if !lost.is_empty() {
                unread.insert(name, lost);
            }
        }
        if self.options.verify {
            verify::check_calls(&program, &mut self.problems, &unread);
        }
        self.problems.sort();
        self.problems.into_result(program)
    }

    fn header(&mut self) -> Result<(), Stop> {
        if self.word() != Some("ptir") {
            return Err(self.expected_help(
                "`ptir 1`",
                "a program starts with the version of its text form".into(),
            ));
        }
        self.bump();
        let text = self.lexer.text(self.token);
        let Some(version) = text.parse::<u64>().ok().filter(|_| self.token.kind == Kind::Int)
        else {
            return Err(self.expected("a version number"));
        };
        if version > super::TEXT_VERSION || version == 0 {
            let message = format!(
                "this text has version {version}, this reader knows versions 1 to {}",
                super::TEXT_VERSION
            );
            return Err(self.stop(message));
        }
        self.bump();
        Ok(())
    }

    fn reset(&mut self) {
        self.function_number += 1;
        self.open.clear();
        self.open.push(true);
        self.missing.clear();
        self.type_cache.clear();
        self.last_literal = None;
        self.unread = Unread::default();
        self.braces = 0;
    }

    // Gives whether the function has a name by which it can be called. Its body is read whatever is wrong with its head.
    fn function_rest(&mut self, start: Token) -> bool {
        let mut named = false;
        if self.token.kind != Kind::Func {
            let _ = self.expected("the name of the function, such as `@f`");
        } else if let Ok(name) = self.func_name(self.lexer.text(self.token)) {
            self.function.set_name(name);
            named = true;
        }
        self.function.set_span(self.span_from(start, self.token));
        if self.token.kind == Kind::Func {
            self.bump();
        }
        let body = self.function.body();
        self.params(body);
        if self.result_types().is_err() {
            self.unread.signature = true;
            while !matches!(self.token.kind, Kind::End | Kind::Punct(b'{' | b'}'))
                && !self.starts_function()
            {
                self.bump();
            }
        }
        if self.opens_function_attributes() && self.function_attributes().is_err() {
            self.unread.signature = true;
            self.resume();
        }
        if self.expect(b'{').is_ok() {
            self.body();
        } else {
            self.unread.signature = true;
            self.unread.bodies.insert(body);
            self.skip_to_function();
        }
        named
    }

    // A brace before `key =` holds attributes; the first instruction of a body never has this form.
    fn opens_function_attributes(&self) -> bool {
        let mut ahead = self.lexer.ahead();
        self.at(b'{')
            && matches!(ahead.next().kind, Kind::Word | Kind::Str)
            && ahead.next().kind == Kind::Punct(b'=')
    }

    // `{extracted_from = "softmax"}` or `{private = true}`.
    fn function_attributes(&mut self) -> Result<(), Stop> {
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
                    let _ = self.stop_at(open, message);
                }
                ("private", Attr::Bool(private)) => self.function.set_private(*private),
                ("private", other) => {
                    let found = other.describe();
                    let message = format!("`private` must be true or false, found {found}");
                    let _ = self.stop_at(open, message);
                }
                _ => {
                    let help = "expected `extracted_from` or `private`".into();
                    let message = format!("a function has no attribute `{name}`");
                    let _ = self.stop_at_help(open, message, help);
                }
            }
        }
        Ok(())
    }

    fn result_types(&mut self) -> Result<(), Stop> {
        let mut results: Vec<TypeId> = Vec::new();
        if self.token.kind == Kind::Arrow {
            self.bump();
            if self.eat(b'(') {
                while !self.at(b')') {
                    results.push(self.interned_type()?);
                    if !self.eat(b',') && !self.at(b')') {
                        return Err(self.expected("`,` or `)`"));
                    }
                }
                self.bump();
            } else {
                results.push(self.interned_type()?);
            }
        }
        self.function.set_result_ids(results);
        Ok(())
    }

    /// The parameters of a body. What cannot be read of them is passed over.
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
        self.bump();
    }

    fn param(&mut self, body: BodyId) -> Result<(), Stop> {
        let token = self.token;
        if token.kind != Kind::Value {
            return Err(self.expected("a parameter, such as `%x: f32[]`"));
        }
        let name = self.scoped_name(token);
        self.bump();
        let ty = match self.expect(b':') {
            Ok(()) => self.interned_type(),
            Err(stop) => Err(stop),
        };
        let Ok(ty) = ty else {
            let none = self.function.types.intern(&ValueType::Token);
            self.function.push_param_id(body, none);
            let poison = self.poison();
            self.define(name, token, poison);
            return Err(Stop);
        };
        self.spend(cost::VALUE);
        let value = self.function.push_param_id(body, ty);
        self.define(name, token, value);
        if !self.eat(b',') && !self.at(b')') {
            return Err(self.expected("`,` or `)`"));
        }
        Ok(())
    }

    // The instructions of the function, up to its closing brace. Regions are kept on a stack of our own.
    fn body(&mut self) {
        let mut stack: Vec<Pending> = Vec::new();
        let mut body = self.function.body();
        loop {
            if self.token.kind == Kind::End || self.starts_function() {
                let _ = self.expected("`}`");
                self.abandon(body, stack);
                return;
            }
            let mut pending = if self.eat(b'}') {
                self.open[body.index()] = false;
                let Some(mut pending) = stack.pop() else { return };
                self.after_region(&mut pending);
                pending
            } else {
                self.instruction(body)
            };
            body = match self.open_region(&mut pending) {
                Some(region) => {
                    stack.push(pending);
                    region
                }
                None => {
                    self.complete(&mut pending);
                    pending.body
                }
            };
        }
    }

    // The text ended inside of these bodies: what is there of their instructions is kept for the checks.
    fn abandon(&mut self, body: BodyId, stack: Vec<Pending>) {
        if self.exhausted {
            return;
        }
        self.unread.bodies.insert(body);
        for mut pending in stack.into_iter().rev() {
            pending.broken = true;
            self.make(&mut pending, &[]);
            self.unread.bodies.insert(pending.body);
        }
    }

    /// The value that stands for what could not be read.
    pub(super) fn poison(&mut self) -> ValueId {
        if self.unread.poison.is_none() {
            let none = self.function.types.intern(&ValueType::Token);
            let attrs = self.function.attrs.intern_vec(Vec::new());
            let inst = self.function.create_raw(&RawInst {
                key: self.unknown,
                attrs,
                operands: &[],
                regions: &[],
                types: &[none],
                span: Span::unknown(),
            });
            self.unread.poison = self.function.value_of(inst).unwrap_or(ValueId::NONE);
        }
        self.unread.poison
    }

    pub(super) fn take_comments(&mut self) -> Option<String> {
        let comments = self.lexer.comments.as_mut()?;
        if comments.is_empty() { None } else { Some(std::mem::take(comments)) }
    }

    pub(super) fn word(&self) -> Option<&'a str> {
        (self.token.kind == Kind::Word).then(|| self.lexer.text(self.token))
    }

    pub(super) fn at(&self, punct: u8) -> bool {
        self.token.kind == Kind::Punct(punct)
    }

    pub(super) fn bump(&mut self) {
        let width = self.token.end - self.token.start;
        self.last_end = (self.token.line, self.token.column.saturating_add(width));
        self.token = self.lexer.next();
    }

    // The current token was passed over up to this column.
    pub(super) fn bump_to(&mut self, column: u32) {
        self.last_end = (self.token.line, column);
        self.token = self.lexer.next();
    }

    pub(super) fn eat(&mut self, punct: u8) -> bool {
        let found = self.at(punct);
        if found {
            self.bump();
        }
        found
    }

    pub(super) fn expect(&mut self, punct: u8) -> Result<(), Stop> {
        if self.eat(punct) {
            Ok(())
        } else {
            Err(self.expected(&format!("`{}`", char::from(punct))))
        }
    }

    fn found(&self) -> String {
        match self.token.kind {
            Kind::End => "the end of the text".into(),
            Kind::Hole => format!(
                "the placeholder {}, which only snippets may have",
                self.lexer.text(self.token)
            ),
            _ => {
                let text: String = self.lexer.text(self.token).chars().take(40).collect();
                format!("`{text}`")
            }
        }
    }

    pub(super) fn expected(&mut self, what: &str) -> Stop {
        let message = format!("expected {what}, found {}", self.found());
        self.stop(message)
    }

    pub(super) fn expected_help(&mut self, what: &str, help: String) -> Stop {
        let message = format!("expected {what}, found {}", self.found());
        self.stop_help(message, help)
    }

    pub(super) fn stop(&mut self, message: impl Into<String>) -> Stop {
        self.stop_at(self.token, message.into())
    }

    pub(super) fn stop_help(&mut self, message: String, help: String) -> Stop {
        self.stop_at_help(self.token, message, help)
    }

    pub(super) fn stop_at(&mut self, token: Token, message: String) -> Stop {
        if !self.exhausted {
            self.problems.error(token.span(self.options.file), message);
        }
        Stop
    }

    pub(super) fn stop_at_help(&mut self, token: Token, message: String, help: String) -> Stop {
        if !self.exhausted {
            self.problems
                .push(Diagnostic::error(token.span(self.options.file), message).with_help(help));
        }
        Stop
    }

    /// Notes that memory is taken. Too much of it, and the text ends here.
    pub(super) fn spend(&mut self, bytes: u64) {
        self.spent = self.spent.saturating_add(bytes);
        if self.spent > self.options.memory && !self.exhausted {
            let message =
                format!("reading this takes more than {} bytes of memory", self.options.memory);
            let error = Diagnostic::error(self.token.span(self.options.file), message)
                .with_help("a larger limit can be set when reading");
            // Whatever was found before, this is said.
            let mut problems = Diagnostics::with_limit(self.options.limit.saturating_add(1));
            problems.append(std::mem::take(&mut self.problems));
            problems.push(error);
            self.problems = problems;
            self.exhausted = true;
            self.lexer.finish();
            self.token = self.lexer.next();
        }
    }

    fn span_from(&self, start: Token, end: Token) -> Span {
        start.span(self.options.file).to(end.span(self.options.file))
    }
}
