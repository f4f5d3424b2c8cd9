//! Functions: decorators and headers.

use sapwood_types::{Diagnostic, Span};

use super::lexer::TokenKind;
use super::name_scope::NamedEntity;
use super::{FunctionSpans, ParseFailed, ParseResult, ParsedSignature, Parser, expr};
use crate::nodes::{Function, FunctionRef, Var};

impl<'s> Parser<'s> {
    pub(super) fn read_function(&mut self, places: &mut FunctionSpans) -> ParseResult<FunctionRef> {
        let (mut exact, mut first) = (None, true);
        if self.at("@") {
            while self.eat("@") {
                match self.read_decorator() {
                    Ok(name) => exact = name.or(exact),
                    Err(ParseFailed) => {
                        first = false;
                        self.skip_line();
                    }
                }
            }
            if !self.at("def") {
                self.report_expected("`def` after the decorator");
                self.skip_line_and_block();
                return Err(ParseFailed);
            }
        }
        let start = self.here();
        self.advance();
        let named = self.expect_name("the name of the function");
        // If the decorator has errors, the actual name is unknown.
        if first && let Ok((name, place)) = &named {
            first = self.record_function_name(exact.as_deref().unwrap_or(name), *place, places);
        }
        let signature = if named.is_ok() { self.read_signature() } else { Err(ParseFailed) };
        let Ok(ParsedSignature { params, return_types, complete }) = signature else {
            self.skip_line();
            // The body of a function in one line is skipped with it.
            if self.token.kind == TokenKind::Indent {
                self.suppress_name_errors += 1;
                let _ = self.read_block(1);
                self.suppress_name_errors -= 1;
            }
            self.scope.end_function();
            return Err(ParseFailed);
        };
        let span = start.to(self.header_colon);
        if complete && let Ok((name, _)) = &named {
            self.signatures.insert(exact.as_deref().unwrap_or(name), &params, &return_types);
        }
        self.return_types.clone_from(&return_types);
        let body = self.read_block(1);
        self.return_types.clear();
        self.scope.end_function();
        let (body, (name, _)) = (body?, named?);
        if !(first && complete) {
            return Err(ParseFailed);
        }
        let name = exact.as_deref().unwrap_or(name);
        Ok(Function::new(name, params, return_types, &body, span))
    }

    /// Records the name of a function; reports an error and returns false if it is already used.
    fn record_function_name(
        &mut self,
        name: &str,
        place: Span,
        places: &mut FunctionSpans,
    ) -> bool {
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

    /// Reads a decorator after its `@`: `pi.function`, or `pi.name` with the name of the function.
    pub(super) fn read_decorator(&mut self) -> ParseResult<Option<String>> {
        let (pi, span) = self.expect_name("`pi.name(\"…\")` after `@`")?;
        let help = "expected `@pi.name(\"…\")` or `@pi.function`";
        if pi != "pi" {
            let message = format!("unknown decorator `@{pi}`");
            return Err(self.report_with_help(span, message, help));
        }
        self.expect(".", "after `pi`")?;
        let (what, _) = self.expect_name("`name`")?;
        if what == "function" {
            if self.eat("(") {
                self.expect(")", "after `pi.function(`")?;
            }
            self.expect_newline()?;
            return Ok(None);
        }
        if what != "name" {
            let message = format!("unknown decorator `@pi.{what}`");
            return Err(self.report_with_help(span, message, help));
        }
        self.expect("(", "after `pi.name`")?;
        let name = self.read_string("the name of the function")?;
        self.expect(")", "after the name")?;
        self.expect_newline()?;
        Ok(Some(name))
    }

    /// Reads the header of a function after its name.
    ///
    /// Fails if the names of the parameters are not all known; after any other error the header is incomplete.
    pub(super) fn read_signature(&mut self) -> ParseResult<ParsedSignature> {
        self.expect("(", "after the name of the function")?;
        let mut params: Vec<Var> = Vec::new();
        // Parameters whose types have errors.
        let mut broken: Vec<&'s str> = Vec::new();
        while !self.at(")") {
            let (param, span) = self.expect_name("the name of a parameter")?;
            let ty =
                if self.eat(":") { self.read_type() } else { Ok(crate::nodes::Type::unknown()) };
            if params.iter().rev().take(64).any(|other| other.name() == param)
                || broken.iter().rev().take(64).any(|other| *other == param)
                || matches!(self.scope.get(param), Some(NamedEntity::Var(_)))
            {
                self.report(span, format!("a second parameter called `{param}`"));
            }
            match ty {
                Ok(ty) => {
                    let var = Var::new(param, ty, span);
                    self.scope.set(param, NamedEntity::Var(var.expr().clone()));
                    params.push(var);
                }
                Err(ParseFailed) => {
                    self.mark_invalid(param);
                    broken.push(param);
                    if !self.skip_rest_of_type(true) || self.has_too_many_errors() {
                        return Err(ParseFailed);
                    }
                }
            }
            if !self.eat(",") {
                break;
            }
        }
        self.expect(")", "after the parameters")?;
        let types = if self.eat("->") { self.read_return_types() } else { Ok(Vec::new()) };
        if types.is_err() && !self.skip_rest_of_type(false) && self.token.kind != TokenKind::Newline
        {
            return Err(ParseFailed);
        }
        let mut end = self.expect(":", "after the header of the function");
        if end.is_ok() {
            self.header_colon = self.last_span;
            end = self.end_header();
        }
        if end.is_err() {
            self.skip_line();
        }
        let complete = broken.is_empty() && types.is_ok() && end.is_ok();
        Ok(ParsedSignature { params, return_types: types.unwrap_or_default(), complete })
    }

    /// Skips the rest of a type with errors, up to its end: `,` or `)` inside the parentheses of a header, `:` after them.
    ///
    /// Returns whether the end was found on the same line.
    fn skip_rest_of_type(&mut self, inside: bool) -> bool {
        self.value_stack.clear();
        for frame in std::mem::take(&mut self.open_constructs) {
            if let expr::OpenConstruct::Paren { name: Some(name), .. } = frame {
                self.mark_invalid(name);
            }
        }
        let line = self.last_span.begin_line();
        loop {
            let open = self.lexer.open_brackets();
            let found = match inside {
                true => (self.at(",") && open == 1) || (self.at(")") && open == 0),
                false => self.at(":") && open == 0,
            };
            if found {
                return true;
            }
            let ended = matches!(
                self.token.kind,
                TokenKind::Newline | TokenKind::Indent | TokenKind::Dedent | TokenKind::End
            );
            if ended || (inside && open == 0) || self.here().begin_line() != line {
                return false;
            }
            let token = self.advance();
            if token.kind == TokenKind::Name && self.at(":=") {
                let name = self.text(token);
                self.mark_invalid(name);
            }
        }
    }
}
