//! The Python-like text form: reading it. `docs/reference/ir-text.md` has the grammar.
//!
//! Expressions and types are read with a stack of their own (any depth), blocks by recursion (at
//! most [`crate::MOST_NESTED_BLOCKS`] deep). A problem ends its line, not the reading: all that is
//! found is reported.

mod expr;
mod lexer;
mod loops;
mod operand;
mod reduce;
mod scope;
mod stmt;
mod value;

use sapwood_types::{Diagnostic, Diagnostics, Source, Span, counted};

use crate::nodes::{ExprRef, Function, FunctionRef, Program, ProgramRef, Stmt, TypeRef, Var};
use lexer::{Lexer, Tok, Token, sign};
use scope::{Meaning, Scope};

/// Something could not be read; the complaint has been made.
struct Failed;

type Parsed<T> = Result<T, Failed>;

/// Where the functions of a text stand, by their names.
type Places = hashbrown::HashMap<String, Span, rustc_hash::FxBuildHasher>;

/// The header of a function, behind its name.
struct Signature {
    params: Vec<Var>,
    return_types: Vec<TypeRef>,
    /// Whether all of it could be read.
    whole: bool,
}

/// After this many problems the rest of the text is not read.
const MOST_PROBLEMS: usize = 1000;

/// Reads a program.
///
/// # Errors
/// All problems that were found, each with its place.
pub fn parse_program(source: &Source) -> Result<ProgramRef, Diagnostics> {
    let mut parser = Parser::new(source)?;
    let program = parser.program();
    parser.finish(program)
}

/// Reads a program from bytes, which should be UTF-8.
///
/// # Errors
/// All problems that were found, each with its place.
pub fn parse_bytes(name: &str, bytes: &[u8]) -> Result<ProgramRef, Diagnostics> {
    match std::str::from_utf8(bytes) {
        Ok(text) => parse_program(&Source::new(name, text)),
        Err(error) => {
            let valid = &bytes[..error.valid_up_to()];
            let line = valid.iter().filter(|byte| **byte == b'\n').count() + 1;
            let start = valid.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            let column = String::from_utf8_lossy(&valid[start..]).chars().count() + 1;
            let clamp = |number| u32::try_from(number).unwrap_or(u32::MAX);
            let (line, column) = (clamp(line), clamp(column));
            let span = Span::new(name, line, column, line, column.saturating_add(1));
            let message = format!("the byte {:#04x} is not UTF-8", bytes[error.valid_up_to()]);
            Err(Diagnostic::error(span, message).with_help("save the text as UTF-8").into())
        }
    }
}

/// Reads one function.
///
/// # Errors
/// All problems that were found, each with its place.
pub fn parse_function(source: &Source) -> Result<FunctionRef, Diagnostics> {
    let program = parse_program(source)?;
    let mut functions = program.functions();
    match (functions.next(), functions.next()) {
        (Some(function), None) => Ok(function.clone()),
        _ => {
            let message = format!("expected one function, found {}", program.len());
            Err(Diagnostic::error(program.span(), message).into())
        }
    }
}

/// Reads an expression whose free variables are those given, by their names.
///
/// # Errors
/// All problems that were found, each with its place.
pub fn parse_expr(source: &Source, vars: &[Var]) -> Result<ExprRef, Diagnostics> {
    parse_part(source, vars, Parser::expr)
}

/// Reads a type whose free variables are those given, by their names.
///
/// # Errors
/// All problems that were found, each with its place.
pub fn parse_type(source: &Source, vars: &[Var]) -> Result<TypeRef, Diagnostics> {
    parse_part(source, vars, Parser::ty)
}

fn parse_part<'s, T>(
    source: &'s Source,
    vars: &[Var],
    read: impl FnOnce(&mut Parser<'s>) -> Parsed<T>,
) -> Result<T, Diagnostics> {
    let mut parser = Parser::new(source)?;
    for var in vars {
        // Names of variables outlive the parser only where they stand in the text.
        if let Some(at) = source.text().find(var.name()) {
            let name = &source.text()[at..at + var.name().len()];
            parser.scope.set(name, Meaning::Var(var.expr().clone()));
        }
    }
    let part = read(&mut parser).and_then(|part| parser.expect_end().map(|()| part));
    parser.finish(part.ok())
}

struct Parser<'s> {
    lexer: Lexer<'s>,
    token: Token,
    scope: Scope<'s>,
    values: Vec<value::Val>,
    frames: Vec<expr::Frame<'s>>,
    last: Span,
    /// The colon of the last header.
    header: Span,
    /// Inside blocks under a header that could not be read, names are not complained about.
    forgiving: usize,
    /// How many complaints so far came with a search for a similar name.
    searches: usize,
}

impl<'s> Parser<'s> {
    fn new(source: &'s Source) -> Result<Self, Diagnostics> {
        if u32::try_from(source.text().len()).is_err() {
            let message = format!(
                "the text has {}; the most is 2^32 - 1",
                counted(source.text().len(), "byte")
            );
            return Err(Diagnostic::error(source.span(0..0), message).into());
        }
        let mut lexer = Lexer::new(source);
        let token = lexer.next();
        Ok(Self {
            lexer,
            token,
            scope: Scope::default(),
            values: Vec::new(),
            frames: Vec::new(),
            last: Span::unknown(),
            header: Span::unknown(),
            searches: 0,
            forgiving: 0,
        })
    }

    fn finish<T>(mut self, result: Option<T>) -> Result<T, Diagnostics> {
        self.lexer.problems.sort();
        match result {
            Some(value) if !self.lexer.problems.has_errors() => Ok(value),
            _ if self.lexer.problems.has_errors() => Err(self.lexer.problems),
            _ => Err(Diagnostic::error(self.here(), "the text could not be read").into()),
        }
    }

    // Tokens.

    fn advance(&mut self) -> Token {
        let token = self.token;
        self.last = self.lexer.span(token);
        self.token = self.lexer.next();
        token
    }

    fn text(&self, token: Token) -> &'s str {
        self.lexer.text(token)
    }

    fn here(&self) -> Span {
        self.lexer.span(self.token)
    }

    fn at(&self, text: &str) -> bool {
        match self.token.tok {
            Tok::Sign(_) => self.token.tok == sign(text),
            Tok::Keyword => self.lexer.text(self.token) == text,
            _ => false,
        }
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.at(text);
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, text: &str, place: &str) -> Parsed<()> {
        if self.eat(text) { Ok(()) } else { Err(self.expected(&format!("`{text}` {place}"))) }
    }

    fn expect_name(&mut self, what: &str) -> Parsed<(&'s str, Span)> {
        if self.token.tok == Tok::Name {
            let token = self.advance();
            return Ok((self.text(token), self.lexer.span(token)));
        }
        Err(self.expected(what))
    }

    fn expect_newline(&mut self) -> Parsed<()> {
        match self.token.tok {
            Tok::Newline => {
                self.advance();
                Ok(())
            }
            Tok::End => Ok(()),
            _ => Err(self.expected("the end of the line")),
        }
    }

    fn expect_end(&mut self) -> Parsed<()> {
        while self.token.tok == Tok::Newline {
            self.advance();
        }
        if self.token.tok == Tok::End { Ok(()) } else { Err(self.expected("the end of the text")) }
    }

    // Complaints.

    fn problem(&mut self, span: Span, message: impl Into<String>) -> Failed {
        self.lexer.problems.error(span, message);
        Failed
    }

    fn problem_with_help(
        &mut self,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Failed {
        self.lexer.problems.push(Diagnostic::error(span, message).with_help(help));
        Failed
    }

    fn expected(&mut self, what: &str) -> Failed {
        let found = self.found();
        let message = format!("expected {what}, found {found}");
        match self.instead() {
            Some(help) => self.problem_with_help(self.here(), message, help),
            None => self.problem(self.here(), message),
        }
    }

    /// What is written instead of the token at hand, which means something in Python and nothing here.
    fn instead(&self) -> Option<&'static str> {
        match self.token.tok {
            Tok::Keyword | Tok::Name | Tok::Sign(_) => {}
            _ => return None,
        }
        Some(match self.text(self.token) {
            "=" if matches!(self.frames.last(), Some(expr::Frame::Binary(_))) => {
                "write the variable again: `x = x + 1`"
            }
            "elif" => "write `else:`, and an `if` in its block",
            "break" | "continue" => {
                "a loop ends by its range or its condition; say it in the condition of a `while`"
            }
            "if" => "write an `if` statement whose branches both assign the variable",
            "import" | "from" => "nothing is imported: `pi` is always there",
            "is" => "`==` compares values",
            "lambda" => "write a function of its own with `def`",
            "None" => "there is no such value; a function may return nothing",
            "assert" | "async" | "await" | "class" | "del" | "global" | "nonlocal" | "raise"
            | "try" => {
                "there are assignments, calls, `if`, `for`, `while`, `with`, `return` and `pass`"
            }
            _ => return None,
        })
    }

    /// The token at hand, for a message.
    fn found(&self) -> String {
        match self.token.tok {
            Tok::Newline => "the end of the line".to_owned(),
            Tok::Indent => "a deeper indentation".to_owned(),
            Tok::Dedent => "the end of the block".to_owned(),
            Tok::End => "the end of the text".to_owned(),
            _ => {
                let text: String = self.lexer.text(self.token).chars().take(40).collect();
                format!("`{text}`")
            }
        }
    }

    /// Passes over the rest of a line.
    fn skip_line(&mut self) {
        self.frames.clear();
        self.values.clear();
        match self.token.tok {
            // Nothing of the line is left.
            Tok::Newline => {
                self.advance();
            }
            Tok::End | Tok::Indent | Tok::Dedent => {}
            _ => {
                self.lexer.skip_line();
                self.token = self.lexer.next();
            }
        }
    }

    fn too_many_problems(&self) -> bool {
        self.lexer.problems.error_count() > MOST_PROBLEMS
    }

    // Programs and functions.

    fn program(&mut self) -> Option<ProgramRef> {
        let start = self.here();
        let mut name = String::new();
        let mut functions: Vec<FunctionRef> = Vec::new();
        let mut places = Places::default();
        let mut first = true;
        while self.token.tok != Tok::End && !self.too_many_problems() {
            let before = self.lexer.problems.error_count();
            if self.at("def") || self.at("@") {
                if let Ok(function) = self.function(&mut places) {
                    functions.push(function);
                }
            } else if self.token.tok == Tok::Newline {
                self.advance();
            } else if self.at("(") {
                // `(c0 := …)`: a part with a name.
                if self.definition().is_err() {
                    self.skip_line();
                }
            } else if self.token.tok == Tok::Name && self.text(self.token) == "pi" {
                match self.program_name() {
                    Ok((_, span)) if !first => {
                        let message = "`pi.program` stands on the first line or nowhere";
                        self.problem(span, message);
                    }
                    Ok((text, _)) => name = text,
                    Err(Failed) => self.skip_line(),
                }
            } else {
                if self.lexer.problems.error_count() == before {
                    self.expected("`def`");
                }
                self.recover();
            }
            first = false;
        }
        let span = start.to(self.last);
        Program::new(functions, &name, span).ok()
    }

    /// Passes over a line, and the block under it.
    fn recover(&mut self) {
        match self.token.tok {
            Tok::Indent => {
                self.advance();
                self.skip_block();
            }
            Tok::Dedent => {
                self.advance();
            }
            _ => {
                self.skip_line();
                if self.token.tok == Tok::Indent {
                    self.advance();
                    self.skip_block();
                }
            }
        }
    }

    /// Passes over the rest of a block whose indent is read already.
    fn skip_block(&mut self) {
        let mut depth = 1;
        while depth > 0 {
            match self.token.tok {
                Tok::Indent => depth += 1,
                Tok::Dedent => depth -= 1,
                Tok::End => return,
                _ => {
                    self.skip_line();
                    continue;
                }
            }
            self.advance();
        }
    }

    fn program_name(&mut self) -> Parsed<(String, Span)> {
        let span = self.here();
        self.advance();
        self.expect(".", "after `pi`")?;
        let (what, place) = self.expect_name("`program`")?;
        if what != "program" {
            return Err(self.problem_with_help(
                place,
                format!("`pi.{what}` cannot stand here"),
                "outside functions there are `pi.program(\"name\")` and `def`",
            ));
        }
        self.expect("(", "after `pi.program`")?;
        let name = self.string("the name of the program")?;
        self.expect(")", "after the name")?;
        self.expect_newline()?;
        Ok((name, span))
    }

    fn function(&mut self, places: &mut Places) -> Parsed<FunctionRef> {
        let (mut exact, mut first) = (None, true);
        if self.eat("@") {
            let decorated = self.decorator();
            match decorated {
                Ok(name) => exact = Some(name),
                Err(Failed) => {
                    first = false;
                    self.skip_line();
                }
            }
            if !self.at("def") {
                self.expected("`def` after the decorator");
                self.recover();
                return Err(Failed);
            }
        }
        let start = self.here();
        self.advance();
        let named = self.expect_name("the name of the function");
        // Under a decorator that could not be read, the true name is not known.
        if first && let Ok((name, place)) = &named {
            first = self.first_called(exact.as_deref().unwrap_or(name), *place, places);
        }
        let signature = if named.is_ok() { self.signature() } else { Err(Failed) };
        let Ok(Signature { params, return_types, whole }) = signature else {
            self.skip_line();
            self.forgiving += 1;
            let _ = self.block(1);
            self.forgiving -= 1;
            self.scope.end_function();
            return Err(Failed);
        };
        let span = start.to(self.header);
        let body = self.block(1);
        self.scope.end_function();
        let (body, (name, _)) = (body?, named?);
        if !(first && whole) {
            return Err(Failed);
        }
        let name = exact.as_deref().unwrap_or(name);
        Ok(Function::new(name, params, return_types, &body, span))
    }

    /// Keeps where a function stands. Whether no other has its name; else that is complained about.
    fn first_called(&mut self, name: &str, place: Span, places: &mut Places) -> bool {
        if let Some(&other) = places.get(name) {
            let message = format!("a second function called `{name}`");
            let problem =
                Diagnostic::error(place, message).with_note_at(other, "the first is here");
            self.lexer.problems.push(problem);
            return false;
        }
        places.insert(name.to_owned(), place);
        true
    }

    fn decorator(&mut self) -> Parsed<String> {
        let (pi, span) = self.expect_name("`pi.name(\"…\")` after `@`")?;
        self.expect(".", "after `pi`")?;
        let (what, _) = self.expect_name("`name`")?;
        if (pi, what) != ("pi", "name") {
            let message = format!("the decorator `@{pi}.{what}` is not known");
            return Err(self.problem_with_help(span, message, "there is `@pi.name(\"…\")`"));
        }
        self.expect("(", "after `pi.name`")?;
        let name = self.string("the name of the function")?;
        self.expect(")", "after the name")?;
        self.expect_newline()?;
        Ok(name)
    }

    /// The header of a function after its name. Fails where not all parameters are known; any
    /// other problem leaves it incomplete.
    fn signature(&mut self) -> Parsed<Signature> {
        self.expect("(", "after the name of the function")?;
        let mut params: Vec<Var> = Vec::new();
        // Parameters whose types could not be read.
        let mut broken: Vec<&'s str> = Vec::new();
        while !self.at(")") {
            let (param, span) = self.expect_name("the name of a parameter")?;
            let ty = if self.eat(":") { self.ty() } else { Ok(crate::nodes::Type::unknown()) };
            if params.iter().rev().take(64).any(|other| other.name() == param)
                || broken.iter().rev().take(64).any(|other| *other == param)
                || matches!(self.scope.get(param), Some(Meaning::Var(_)))
            {
                self.problem(span, format!("a second parameter called `{param}`"));
            }
            match ty {
                Ok(ty) => {
                    let var = Var::new(param, ty, span);
                    self.scope.set(param, Meaning::Var(var.expr().clone()));
                    params.push(var);
                }
                Err(Failed) => {
                    self.poison(param);
                    broken.push(param);
                    if !self.skip_type(true) || self.too_many_problems() {
                        return Err(Failed);
                    }
                }
            }
            if !self.eat(",") {
                break;
            }
        }
        self.expect(")", "after the parameters")?;
        let types = if self.eat("->") { self.type_list() } else { Ok(Vec::new()) };
        if types.is_err() && !self.skip_type(false) && self.token.tok != Tok::Newline {
            return Err(Failed);
        }
        let mut end = self.expect(":", "after the header of the function");
        if end.is_ok() {
            self.header = self.last;
            end = self.expect_newline();
        }
        if end.is_err() {
            self.skip_line();
        }
        let whole = broken.is_empty() && types.is_ok() && end.is_ok();
        Ok(Signature { params, return_types: types.unwrap_or_default(), whole })
    }

    /// Passes over the rest of a type that could not be read, up to what ends it: `,` or `)` inside
    /// the parentheses of a header, `:` behind them. Whether that was found on the same line.
    fn skip_type(&mut self, inside: bool) -> bool {
        self.values.clear();
        for frame in std::mem::take(&mut self.frames) {
            if let expr::Frame::Paren { name: Some(name), .. } = frame {
                self.poison(name);
            }
        }
        let line = self.last.begin_line();
        loop {
            let open = self.lexer.open_brackets();
            let found = match inside {
                true => (self.at(",") && open == 1) || (self.at(")") && open == 0),
                false => self.at(":") && open == 0,
            };
            if found {
                return true;
            }
            let ended =
                matches!(self.token.tok, Tok::Newline | Tok::Indent | Tok::Dedent | Tok::End);
            if ended || (inside && open == 0) || self.here().begin_line() != line {
                return false;
            }
            let token = self.advance();
            if token.tok == Tok::Name && self.at(":=") {
                let name = self.text(token);
                self.poison(name);
            }
        }
    }

    /// The content of a string token.
    fn string(&mut self, what: &str) -> Parsed<String> {
        if self.token.tok != Tok::Str {
            return Err(self.expected(&format!("{what}, a string")));
        }
        let token = self.advance();
        let text = self.text(token);
        let inner = text.get(1..text.len().saturating_sub(1)).unwrap_or("");
        let mut out = String::with_capacity(inner.len());
        let mut letters = inner.chars();
        while let Some(c) = letters.next() {
            if c != '\\' {
                out.push(c);
                continue;
            }
            let escaped = match letters.next() {
                Some('n') => Some('\n'),
                Some('r') => Some('\r'),
                Some('t') => Some('\t'),
                Some(c @ ('"' | '\'' | '\\')) => Some(c),
                Some(kind @ ('x' | 'u')) => {
                    let digits: String =
                        letters.by_ref().take(if kind == 'x' { 2 } else { 4 }).collect();
                    u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32)
                }
                _ => None,
            };
            let Some(c) = escaped else {
                let span = self.lexer.span(token);
                let help = "there are \\n, \\r, \\t, \\\", \\', \\\\, \\xNN and \\uNNNN";
                return Err(self.problem_with_help(span, "an escape that is not known", help));
            };
            out.push(c);
        }
        Ok(out)
    }
}

/// Where a function that has no statements ends up.
fn empty_body(span: Span) -> crate::nodes::StmtRef {
    Stmt::seq([], span)
}
