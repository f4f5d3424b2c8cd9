//! The parser of the Python-like text form. `docs/reference/ir-text.md` has the grammar.
//!
//! Expressions and types are parsed with an explicit stack (any depth), blocks by recursion (at most
//! [`crate::MAX_NESTED_BLOCKS`] deep). After an error the parser continues with the next line, so all errors are reported.

mod assign;
mod calls;
mod expr;
mod function;
mod lexer;
mod loops;
mod name_scope;
mod operand;
mod part_size;
mod reduce;
mod stmt;
mod subscript;
mod value;

use sapwood_types::{Diagnostic, Diagnostics, Source, Span, counted};

use crate::nodes::{ExprRef, FunctionRef, Program, ProgramRef, Stmt, TypeRef, Var};
pub(crate) use value::bare_number_type;

use lexer::{Lexer, Token, TokenKind, symbol};
use name_scope::{NameScope, NamedEntity};

/// A marker that parsing failed and that the error is already reported.
struct ParseFailed;

type ParseResult<T> = Result<T, ParseFailed>;

/// The spans of the functions of a text by name.
type FunctionSpans = hashbrown::HashMap<String, Span, rustc_hash::FxBuildHasher>;

/// The parsed header of a function after its name.
struct ParsedSignature {
    params: Vec<Var>,
    return_types: Vec<TypeRef>,
    /// True if the header was parsed without errors.
    complete: bool,
}

/// The number of errors after which the rest of the text is skipped.
const MAX_DIAGNOSTICS: usize = 1000;

/// Parses a program.
///
/// # Errors
/// Returns all errors of the text with their spans.
pub fn parse_program(source: &Source) -> Result<ProgramRef, Diagnostics> {
    let mut parser = Parser::new(source)?;
    let program = parser.read_program();
    parser.finish(program)
}

/// Parses functions whose lines are indented by `indent` columns, such as methods, and which may call other functions.
///
/// # Errors
/// Returns all errors of the text with their spans.
pub fn parse_indented(
    source: &Source,
    indent: usize,
    others: &[FunctionRef],
) -> Result<ProgramRef, Diagnostics> {
    let mut parser = Parser::with_base_indent(source, indent)?;
    for function in others {
        parser.signatures.insert(&function.name, &function.params, &function.return_types);
    }
    let program = parser.read_program();
    parser.finish(program)
}

/// Parses a program from UTF-8 bytes.
///
/// # Errors
/// Returns all errors of the text with their spans.
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

/// Parses a text with one function.
///
/// # Errors
/// Returns all errors of the text with their spans.
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

/// Parses an expression whose free variables are those given, by name.
///
/// # Errors
/// Returns all errors of the text with their spans.
pub fn parse_expr(source: &Source, vars: &[Var]) -> Result<ExprRef, Diagnostics> {
    parse_part(source, vars, Parser::read_expr)
}

/// Parses a type whose free variables are those given, by name.
///
/// # Errors
/// Returns all errors of the text with their spans.
pub fn parse_type(source: &Source, vars: &[Var]) -> Result<TypeRef, Diagnostics> {
    parse_part(source, vars, Parser::read_type)
}

fn parse_part<'s, T>(
    source: &'s Source,
    vars: &[Var],
    read: impl FnOnce(&mut Parser<'s>) -> ParseResult<T>,
) -> Result<T, Diagnostics> {
    let mut parser = Parser::new(source)?;
    for var in vars {
        // The scope borrows names from the text, so only variables that occur in the text are added.
        if let Some(at) = source.text().find(var.name()) {
            let name = &source.text()[at..at + var.name().len()];
            parser.scope.set(name, NamedEntity::Var(var.expr().clone()));
        }
    }
    let part = read(&mut parser).and_then(|part| parser.expect_end().map(|()| part));
    parser.finish(part.ok())
}

/// The state of the parser.
struct Parser<'s> {
    lexer: Lexer<'s>,
    token: Token,
    scope: NameScope<'s>,
    value_stack: Vec<value::ParsedValue>,
    open_constructs: Vec<expr::OpenConstruct<'s>>,
    last_span: Span,
    /// The span of the colon of the last header.
    header_colon: Span,
    /// Above zero in a block whose header has errors: unknown names are not reported there.
    suppress_name_errors: usize,
    /// The number of errors so far that searched for a similar name.
    name_suggestions: usize,
    /// The signatures of the functions read so far, and of all functions once one was called before its definition.
    signatures: calls::Signatures,
    /// The result types of the function that is read.
    return_types: Vec<TypeRef>,
    /// True if the body of the last header is on its line.
    has_inline_body: bool,
    /// True if the last statement ended with `;`, and its line goes on.
    line_continues: bool,
    source: &'s Source,
}

impl<'s> Parser<'s> {
    fn new(source: &'s Source) -> Result<Self, Diagnostics> {
        Self::with_base_indent(source, 0)
    }

    /// Creates a parser of a text whose outermost lines are indented.
    fn with_base_indent(source: &'s Source, width: usize) -> Result<Self, Diagnostics> {
        if u32::try_from(source.text().len()).is_err() {
            let message = format!(
                "the text has {}, expected at most 2^32 - 1",
                counted(source.text().len(), "byte")
            );
            return Err(Diagnostic::error(source.span(0..0), message).into());
        }
        let mut lexer = Lexer::new(source);
        lexer.set_base_indent(width);
        let token = lexer.next_token();
        Ok(Self {
            lexer,
            token,
            scope: NameScope::default(),
            value_stack: Vec::new(),
            open_constructs: Vec::new(),
            last_span: Span::unknown(),
            header_colon: Span::unknown(),
            name_suggestions: 0,
            suppress_name_errors: 0,
            signatures: calls::Signatures::default(),
            return_types: Vec::new(),
            has_inline_body: false,
            line_continues: false,
            source,
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
        self.last_span = self.lexer.span(token);
        self.token = self.lexer.next_token();
        token
    }

    fn text(&self, token: Token) -> &'s str {
        self.lexer.text(token)
    }

    fn here(&self) -> Span {
        self.lexer.span(self.token)
    }

    fn at(&self, text: &str) -> bool {
        match self.token.kind {
            TokenKind::Symbol(_) => self.token.kind == symbol(text),
            TokenKind::Keyword => self.lexer.text(self.token) == text,
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

    fn expect(&mut self, text: &str, place: &str) -> ParseResult<()> {
        if self.eat(text) {
            Ok(())
        } else {
            Err(self.report_expected(&format!("`{text}` {place}")))
        }
    }

    fn expect_name(&mut self, expected: &str) -> ParseResult<(&'s str, Span)> {
        if self.token.kind == TokenKind::Name {
            let token = self.advance();
            return Ok((self.text(token), self.lexer.span(token)));
        }
        Err(self.report_expected(expected))
    }

    fn expect_newline(&mut self) -> ParseResult<()> {
        match self.token.kind {
            TokenKind::Semicolon => {
                self.advance();
                self.line_continues = true;
                if self.token.kind == TokenKind::Newline {
                    self.line_continues = false;
                    self.advance();
                }
                Ok(())
            }
            TokenKind::Newline => {
                self.line_continues = false;
                self.advance();
                Ok(())
            }
            TokenKind::End => {
                self.line_continues = false;
                Ok(())
            }
            _ => Err(self.report_expected("the end of the line")),
        }
    }

    fn expect_end(&mut self) -> ParseResult<()> {
        while self.token.kind == TokenKind::Newline {
            self.advance();
        }
        if self.token.kind == TokenKind::End {
            Ok(())
        } else {
            Err(self.report_expected("the end of the text"))
        }
    }

    // Errors.

    fn report(&mut self, span: Span, message: impl Into<String>) -> ParseFailed {
        self.lexer.problems.error(span, message);
        ParseFailed
    }

    fn report_with_help(
        &mut self,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> ParseFailed {
        self.lexer.problems.push(Diagnostic::error(span, message).with_help(help));
        ParseFailed
    }

    fn report_expected(&mut self, expected: &str) -> ParseFailed {
        let found = self.describe_token();
        let message = format!("expected {expected}, found {found}");
        match self.python_syntax_hint() {
            Some(help) => self.report_with_help(self.here(), message, help),
            None => self.report(self.here(), message),
        }
    }

    /// Returns a hint for Python syntax that the text form does not have, for the current token.
    fn python_syntax_hint(&self) -> Option<&'static str> {
        match self.token.kind {
            TokenKind::Keyword | TokenKind::Name | TokenKind::Symbol(_) => {}
            _ => return None,
        }
        Some(match self.text(self.token) {
            "=" if matches!(self.open_constructs.last(), Some(expr::OpenConstruct::Binary(_))) => {
                "write the variable again: `x = x + 1`"
            }
            "break" | "continue" => {
                "a loop ends by its range or its condition; use the condition of a `while`"
            }
            "if" => "write an `if` statement whose branches both assign the variable",
            "import" | "from" => "write imports outside functions; `pi` is always available",
            "is" => "`==` compares values",
            "lambda" => "write a separate function with `def`",
            "None" => "`None` is not a value; a function may return nothing",
            "assert" | "async" | "await" | "class" | "del" | "global" | "nonlocal" | "raise"
            | "try" => {
                "the statements are assignments, calls, `if`, `for`, `while`, `with`, `return` and `pass`"
            }
            _ => return None,
        })
    }

    /// Describes the current token for a message.
    fn describe_token(&self) -> String {
        match self.token.kind {
            TokenKind::Semicolon => "`;`".to_owned(),
            TokenKind::Newline => "the end of the line".to_owned(),
            TokenKind::Indent => "a deeper indentation".to_owned(),
            TokenKind::Dedent => "the end of the block".to_owned(),
            TokenKind::End => "the end of the text".to_owned(),
            _ => {
                let text: String = self.lexer.text(self.token).chars().take(40).collect();
                format!("`{text}`")
            }
        }
    }

    /// Skips the rest of a line.
    fn skip_line(&mut self) {
        self.open_constructs.clear();
        self.value_stack.clear();
        self.has_inline_body = false;
        self.line_continues = false;
        match self.token.kind {
            // The line is complete.
            TokenKind::Newline => {
                self.advance();
            }
            TokenKind::End | TokenKind::Indent | TokenKind::Dedent => {}
            _ => {
                self.lexer.skip_line();
                self.token = self.lexer.next_token();
            }
        }
    }

    fn has_too_many_errors(&self) -> bool {
        self.lexer.problems.error_count() > MAX_DIAGNOSTICS
    }

    // Programs and functions.

    fn read_program(&mut self) -> Option<ProgramRef> {
        let start = self.here();
        let mut name = String::new();
        let mut functions: Vec<FunctionRef> = Vec::new();
        let mut places = FunctionSpans::default();
        let mut first = true;
        while self.token.kind != TokenKind::End && !self.has_too_many_errors() {
            let before = self.lexer.problems.error_count();
            if self.at("def") || self.at("@") {
                if let Ok(function) = self.read_function(&mut places) {
                    functions.push(function);
                }
            } else if self.token.kind == TokenKind::Newline {
                self.advance();
            } else if self.at("import") || self.at("from") {
                self.skip_import();
            } else if self.token.kind == TokenKind::Str {
                // A string on its own is a comment.
                self.advance();
                if self.expect_newline().is_err() {
                    self.skip_line();
                }
            } else if self.at("(") {
                // `(c0 := …)` defines a named part.
                if self.read_paren_line().is_err() {
                    self.skip_line();
                }
            } else if self.token.kind == TokenKind::Name && self.text(self.token) == "pi" {
                match self.read_program_name() {
                    Ok((_, span)) if !first => {
                        let message = "`pi.program` must be on the first line";
                        self.report(span, message);
                    }
                    Ok((text, _)) => name = text,
                    Err(ParseFailed) => self.skip_line(),
                }
            } else {
                if self.lexer.problems.error_count() == before {
                    self.report_expected("`def`");
                }
                self.skip_line_and_block();
            }
            first = false;
        }
        let span = start.to(self.last_span);
        Program::new(functions, &name, span).ok()
    }

    /// Skips an import, whose names may be in parentheses on several lines.
    fn skip_import(&mut self) {
        while !matches!(self.token.kind, TokenKind::Newline | TokenKind::Semicolon | TokenKind::End)
        {
            self.advance();
        }
        if self.token.kind != TokenKind::End {
            self.advance();
        }
    }

    /// Skips a line and the block under it.
    fn skip_line_and_block(&mut self) {
        match self.token.kind {
            TokenKind::Indent => {
                self.advance();
                self.skip_block();
            }
            TokenKind::Dedent => {
                self.advance();
            }
            _ => {
                self.skip_line();
                if self.token.kind == TokenKind::Indent {
                    self.advance();
                    self.skip_block();
                }
            }
        }
    }

    /// Skips the rest of a block whose indent is already read.
    fn skip_block(&mut self) {
        let mut depth = 1;
        while depth > 0 {
            match self.token.kind {
                TokenKind::Indent => depth += 1,
                TokenKind::Dedent => depth -= 1,
                TokenKind::End => return,
                _ => {
                    self.skip_line();
                    continue;
                }
            }
            self.advance();
        }
    }

    fn read_program_name(&mut self) -> ParseResult<(String, Span)> {
        let span = self.here();
        self.advance();
        self.expect(".", "after `pi`")?;
        let (what, place) = self.expect_name("`program`")?;
        if what != "program" {
            return Err(self.report_with_help(
                place,
                format!("`pi.{what}` is not allowed here"),
                "outside functions, write `pi.program(\"name\")` or `def`",
            ));
        }
        self.expect("(", "after `pi.program`")?;
        let name = self.read_string("the name of the program")?;
        self.expect(")", "after the name")?;
        self.expect_newline()?;
        Ok((name, span))
    }

    /// Reads a string token and returns its content.
    fn read_string(&mut self, expected: &str) -> ParseResult<String> {
        if self.token.kind != TokenKind::Str {
            return Err(self.report_expected(&format!("{expected}, a string")));
        }
        let token = self.advance();
        self.string_content(token)
    }

    /// Returns the content of a string token.
    fn string_content(&mut self, token: Token) -> ParseResult<String> {
        let text = self.text(token);
        let quotes = if text.starts_with("\"\"\"") || text.starts_with("'''") { 3 } else { 1 };
        let inner = text.get(quotes..text.len().saturating_sub(quotes)).unwrap_or("");
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
                let help = "expected \\n, \\r, \\t, \\\", \\', \\\\, \\xNN or \\uNNNN";
                return Err(self.report_with_help(span, "unknown escape sequence", help));
            };
            out.push(c);
        }
        Ok(out)
    }
}

/// Returns the body of a function without statements.
fn empty_body(span: Span) -> crate::nodes::StmtRef {
    Stmt::seq([], span)
}
