//! Statements and blocks.

use sapwood_types::Span;

use super::lexer::TokenKind;
use super::loops::{LoopHeader, LoopNames};
use super::name_scope::NamedEntity;
use super::value::{ParsedValue, ParsedValueKind};
use super::{ParseFailed, ParseResult, Parser, Token, empty_body};
use crate::nodes::{Expr, ExprRef, IterArg, Stmt, StmtRef, Type, TypeRef, Var};
use crate::print::MAX_NESTED_BLOCKS;

/// An `if` or a loop after which `pi.result` lines may follow.
enum OpenCompound {
    If { condition: ExprRef, then_body: StmtRef, else_body: Option<StmtRef> },
    For { loop_var: Var, range: [ExprRef; 3], iter_args: Vec<IterArg>, body: StmtRef },
    While { iter_args: Vec<IterArg>, condition: ExprRef, body: StmtRef },
}

/// The state of a block while it is parsed.
#[derive(Default)]
pub(super) struct BlockState {
    pub(super) stmts: Vec<StmtRef>,
    pending_compound: Option<(OpenCompound, Vec<Var>, Span)>,
    pub(super) failed: bool,
}

impl BlockState {
    pub(super) fn finish_compound(&mut self) {
        let Some((compound, results, span)) = self.pending_compound.take() else { return };
        self.stmts.push(match compound {
            OpenCompound::If { condition, then_body, else_body } => {
                Stmt::if_(&condition, &then_body, else_body.as_ref(), results, span)
            }
            OpenCompound::For { loop_var, range: [start, stop, step], iter_args, body } => {
                Stmt::for_(&loop_var, [&start, &stop, &step], iter_args, &body, results, span)
            }
            OpenCompound::While { iter_args, condition, body } => {
                Stmt::while_(iter_args, &condition, &body, results, span)
            }
        });
    }
}

impl<'s> Parser<'s> {
    /// Reads the body under a header; one statement is returned as it is, any other number as a sequence.
    pub(super) fn read_block(&mut self, depth: usize) -> ParseResult<StmtRef> {
        let start = self.here();
        let stmts = self.read_indented_stmts(depth)?;
        if stmts.is_empty() {
            return Ok(empty_body(start));
        }
        let span = stmts[0].span().to(self.last_span);
        Ok(Stmt::block(stmts, span))
    }

    /// Reads the statements of an indented block.
    fn read_indented_stmts(&mut self, depth: usize) -> ParseResult<Vec<StmtRef>> {
        if std::mem::take(&mut self.has_inline_body) {
            return self.read_inline_stmts();
        }
        if self.token.kind != TokenKind::Indent {
            let failed = self.report_expected("an indented block");
            if depth == 1 && !self.at("def") && !self.at("@") {
                self.skip_line();
            }
            return Err(failed);
        }
        self.advance();
        if depth > MAX_NESTED_BLOCKS {
            let message = format!("blocks nest deeper than {MAX_NESTED_BLOCKS}");
            let help = "move the inner blocks into a function of their own";
            self.report_with_help(self.here(), message, help);
            self.skip_block();
            return Err(ParseFailed);
        }
        let mut block = BlockState::default();
        let mut passed = false;
        loop {
            match self.token.kind {
                TokenKind::Dedent => {
                    self.advance();
                    break;
                }
                TokenKind::End => break,
                _ => {}
            }
            if self.has_too_many_errors() {
                self.skip_block();
                return Err(ParseFailed);
            }
            if self.token.kind == TokenKind::Indent {
                self.report(self.here(), "unexpected indentation");
                self.skip_line_and_block();
                block.failed = true;
                continue;
            }
            if self.at("pass") {
                let span = self.here();
                self.advance();
                if passed || !block.stmts.is_empty() || block.pending_compound.is_some() {
                    self.report(span, "`pass` is allowed only in an empty block");
                }
                passed = true;
                if self.expect_newline().is_err() {
                    self.skip_line();
                }
                continue;
            }
            if passed {
                self.report(self.here(), "a statement after `pass`, which means an empty block");
                passed = false;
            }
            let binds = !self.at("with") && !self.at("else");
            if self.read_stmt(&mut block, depth).is_err() {
                block.failed = true;
                self.recover_stmt(depth, binds);
            }
        }
        block.finish_compound();
        if block.failed { Err(ParseFailed) } else { Ok(block.stmts) }
    }

    /// Reads the simple statements after a header on its line, separated by `;`.
    fn read_inline_stmts(&mut self) -> ParseResult<Vec<StmtRef>> {
        let mut block = BlockState::default();
        loop {
            if self.at("pass") {
                self.advance();
                if self.expect_newline().is_err() {
                    self.skip_line();
                    return Err(ParseFailed);
                }
            } else {
                if ["if", "for", "while", "with", "def"].iter().any(|word| self.at(word)) {
                    let message = format!("`{}` in the line of a header", self.text(self.token));
                    let help = "write the body on lines of its own";
                    self.report_with_help(self.here(), message, help);
                    self.skip_line_and_block();
                    return Err(ParseFailed);
                }
                if self.read_stmt(&mut block, MAX_NESTED_BLOCKS).is_err() {
                    self.skip_line();
                    return Err(ParseFailed);
                }
            }
            if !self.line_continues {
                break;
            }
        }
        block.finish_compound();
        if block.failed { Err(ParseFailed) } else { Ok(block.stmts) }
    }

    /// Recovers from an error in a statement: skips its line, and parses the block under it to find more errors.
    ///
    /// If the line may have bound names, unknown names in the block are not reported.
    fn recover_stmt(&mut self, depth: usize, binds: bool) {
        self.skip_line();
        if self.token.kind == TokenKind::Indent {
            self.suppress_name_errors += usize::from(binds);
            let _ = self.read_indented_stmts(depth + 1);
            self.suppress_name_errors -= usize::from(binds);
        }
    }

    fn read_stmt(&mut self, block: &mut BlockState, depth: usize) -> ParseResult<()> {
        let start = self.here();
        match self.token.kind {
            TokenKind::Keyword => match self.text(self.token) {
                "if" => return self.read_if(block, depth),
                "else" => {
                    self.advance();
                    return Err(self.report(start, "`else` without an `if` right above"));
                }
                "for" => return self.read_for(block, depth),
                "while" => {
                    let header = self.read_condition();
                    let span = start.to(self.header_colon);
                    let body = self.read_block(depth + 1);
                    block.finish_compound();
                    let (Ok(condition), Ok(body)) = (header, body) else {
                        // All of it is read and its errors are reported.
                        block.failed = true;
                        return Ok(());
                    };
                    let compound = OpenCompound::While { iter_args: Vec::new(), condition, body };
                    block.pending_compound = Some((compound, Vec::new(), span));
                    return Ok(());
                }
                "with" => return self.read_with(block, depth),
                "return" => {
                    self.advance();
                    let values = self.read_return_values()?;
                    self.expect_newline()?;
                    block.finish_compound();
                    block.stmts.push(Stmt::return_(values, start.to(self.last_span)));
                    return Ok(());
                }
                "not" | "True" | "False" => {}
                _ => return Err(self.report_expected("a statement")),
            },
            // A string on its own is a comment, such as the documentation of a function.
            TokenKind::Str => {
                self.advance();
                return self.expect_newline();
            }
            TokenKind::Name => {
                let token = self.advance();
                return self.read_stmt_after_name(block, token, start);
            }
            TokenKind::Symbol(_) if self.at_enclosed_targets() => {
                let close = if self.at("(") { ")" } else { "]" };
                self.advance();
                let (name, place) = self.expect_name("the name of a variable")?;
                return self.read_unpacking(block, (name, place), start, Some(close));
            }
            TokenKind::Symbol(bytes) if &bytes == b"(\0\0" => {
                // `(s0 := …)` names a part; anything else is an expression statement.
                if let Some((expr, span)) = self.read_paren_line()? {
                    block.finish_compound();
                    block.stmts.push(Stmt::eval(&expr, span));
                }
                return Ok(());
            }
            _ => {}
        }
        let expr = self.read_expr()?;
        let span = start.to(self.last_span);
        self.expect_newline()?;
        block.finish_compound();
        block.stmts.push(Stmt::eval(&expr, span));
        Ok(())
    }

    /// Reads a line that starts with `(`; returns none if it names a part, otherwise the expression and its span.
    pub(super) fn read_paren_line(&mut self) -> ParseResult<Option<(ExprRef, Span)>> {
        let before = self.here();
        let names = self.scope.named_parts;
        let value = self.read_value()?;
        let defines =
            self.scope.named_parts > names && value.span != before && !value.is_new_operation;
        let is_name_alone = defines && self.scope.last_named_part == Some(before);
        let whole = before.to(self.last_span);
        self.expect_newline()?;
        if is_name_alone
            && matches!(
                value.kind,
                ParsedValueKind::Expr(_) | ParsedValueKind::Type(_) | ParsedValueKind::Invalid
            )
        {
            return Ok(None);
        }
        if matches!(value.kind, ParsedValueKind::Invalid) {
            return Err(ParseFailed);
        }
        self.as_expr(value).map(|expr| Some((expr, whole)))
    }

    /// Defines the name of a part.
    pub(super) fn define_part(
        &mut self,
        name: &'s str,
        meaning: NamedEntity,
        place: Span,
    ) -> ParseResult<()> {
        if self.scope.get(name).is_some_and(|known| !matches!(known, NamedEntity::Invalid)) {
            let message = format!("`{name}` is already defined; a named part needs a new name");
            return Err(self.report(place, message));
        }
        self.scope.set(name, meaning);
        self.scope.named_parts += 1;
        self.scope.last_named_part = Some(place);
        Ok(())
    }

    /// Reads the colon at the end of a header. The span of a compound statement is that of its header.
    fn read_header_end(&mut self) -> ParseResult<()> {
        self.expect(":", "at the end of the header")?;
        self.header_colon = self.last_span;
        self.end_header()
    }

    /// Reads the end of the line after a header, unless its body begins on the line.
    pub(super) fn end_header(&mut self) -> ParseResult<()> {
        self.has_inline_body = !matches!(self.token.kind, TokenKind::Newline | TokenKind::End);
        if self.has_inline_body { Ok(()) } else { self.expect_newline() }
    }

    fn read_return_values(&mut self) -> ParseResult<Vec<ExprRef>> {
        if matches!(self.token.kind, TokenKind::Newline | TokenKind::End) {
            return Ok(Vec::new());
        }
        let first = self.read_value()?;
        if !self.at(",") {
            // A tuple in a `return` is the list of values.
            return match &first.kind {
                ParsedValueKind::Expr(expr) if first.is_new_operation => match &**expr {
                    Expr::MakeTuple { elements, .. } => Ok(elements.to_vec()),
                    _ => Ok(vec![self.as_expr(first)?]),
                },
                _ => Ok(vec![self.as_result(first, 0)?]),
            };
        }
        let mut values = vec![self.as_result(first, 0)?];
        while self.eat(",") {
            if matches!(self.token.kind, TokenKind::Newline | TokenKind::End) {
                break;
            }
            let value = self.read_value()?;
            values.push(self.as_result(value, values.len())?);
        }
        Ok(values)
    }

    /// Converts a value of a `return`; a number takes the type of its result.
    fn as_result(&mut self, value: ParsedValue, index: usize) -> ParseResult<ExprRef> {
        let dtype = self.return_types.get(index).and_then(|ty| ty.as_scalar());
        self.as_expr_like(value, dtype)
    }

    /// Reads a statement that starts with a name, which is already read.
    fn read_stmt_after_name(
        &mut self,
        block: &mut BlockState,
        first: Token,
        start: Span,
    ) -> ParseResult<()> {
        let name = self.text(first);
        if name == "pi" && self.at(".") {
            return self.read_pi_stmt(block, start);
        }
        let annotation = if self.eat(":") {
            match self.read_type() {
                Ok(ty) => Some(ty),
                Err(ParseFailed) => {
                    self.mark_invalid(name);
                    return Err(ParseFailed);
                }
            }
        } else if self.at("=") {
            None
        } else if self.at(",") {
            return self.read_unpacking(block, (name, start), start, None);
        } else if let Some(op) = self.augmented_operator() {
            return self.read_augmented(block, first, op, start);
        } else {
            let value = self.read_value_after_name(first)?;
            let expr = self.as_expr(value)?;
            let span = start.to(self.last_span);
            self.expect_newline()?;
            block.finish_compound();
            block.stmts.push(Stmt::eval(&expr, span));
            return Ok(());
        };
        let value = self.expect("=", "after the variable").and_then(|()| self.read_value());
        let value = value.and_then(|value| self.expect_newline().map(|()| value));
        match value {
            Ok(ParsedValue { kind: ParsedValueKind::Result(number), span, .. }) => {
                let var = self.result_var(name, annotation.as_ref(), start)?;
                self.add_result(block, var, number, span)
            }
            Ok(value) => match self.as_assigned(value, name, annotation.as_ref()) {
                Ok(value) => {
                    let var = self.target_var(name, annotation.as_ref(), value.ty(), start)?;
                    block.finish_compound();
                    block.stmts.push(Stmt::assign(&var, &value, start.to(self.last_span)));
                    Ok(())
                }
                Err(ParseFailed) => {
                    // The line is read; only its value has errors.
                    self.mark_invalid(name);
                    block.failed = true;
                    Ok(())
                }
            },
            Err(ParseFailed) => {
                self.mark_invalid(name);
                Err(ParseFailed)
            }
        }
    }

    /// Makes later uses of an undefined name not be reported.
    pub(super) fn mark_invalid(&mut self, name: &'s str) {
        if self.scope.get(name).is_none() {
            self.scope.set(name, NamedEntity::Invalid);
        }
    }

    /// Returns the variable that a name is bound to: the existing one, or a new one with the annotated or the inferred type.
    pub(super) fn target_var(
        &mut self,
        name: &'s str,
        annotation: Option<&TypeRef>,
        natural: &TypeRef,
        span: Span,
    ) -> ParseResult<Var> {
        let ty = annotation.unwrap_or(natural);
        self.note_assignment(name, natural, span);
        let var = self.bind_var(name, span, || Var::new(name, ty, span))?;
        if let Some(ty) = annotation
            && !sapwood_structural::equal(ty, var.ty()).unwrap_or(false)
        {
            let message = format!("`{name}` already has another type");
            let help = "state the type at the first assignment, or use another name";
            return Err(self.report_with_help(span, message, help));
        }
        Ok(var)
    }

    fn result_var(&mut self, name: &'s str, ty: Option<&TypeRef>, span: Span) -> ParseResult<Var> {
        if ty.is_none() && !matches!(self.scope.get(name), Some(NamedEntity::Var(_))) {
            self.scope.set(name, NamedEntity::Invalid);
            let message = format!("`{name}` is new here, so its type is required");
            let help = format!("write `{name}: pi.INT64 = pi.result(…)`");
            return Err(self.report_with_help(span, message, help));
        }
        let unknown = Type::unknown();
        self.target_var(name, ty, &unknown, span)
    }

    fn add_result(
        &mut self,
        block: &mut BlockState,
        var: Var,
        number: u32,
        span: Span,
    ) -> ParseResult<()> {
        // The line is already read, so these errors must not skip another line.
        match &mut block.pending_compound {
            Some((_, results, _)) if results.len() == number as usize => results.push(var),
            Some((_, results, _)) => {
                let next = results.len();
                let message = format!("result {number} is out of order, expected result {next}");
                self.report(span, message);
                block.failed = true;
            }
            None => {
                let help = "`pi.result` comes directly after an `if` or a loop";
                if !block.failed {
                    self.report_with_help(
                        span,
                        "`pi.result` without a statement that has results",
                        help,
                    );
                }
                block.failed = true;
            }
        }
        Ok(())
    }

    /// Reads a line that starts with `pi.`.
    fn read_pi_stmt(&mut self, block: &mut BlockState, start: Span) -> ParseResult<()> {
        self.advance();
        let (name, place) = self.expect_name("a name after `pi.`")?;
        match name {
            "yield_" => {
                self.expect("(", "after `pi.yield_`")?;
                let mut values = Vec::new();
                while !self.at(")") {
                    values.push(self.read_expr()?);
                    if !self.eat(",") {
                        break;
                    }
                }
                self.expect(")", "after the values")?;
                self.expect_newline()?;
                block.finish_compound();
                block.stmts.push(Stmt::yield_(values, start.to(self.last_span)));
                Ok(())
            }
            "cond" => {
                let help = "it is the first line in `for (…) in pi.while_(…):`";
                Err(self.report_with_help(start, "`pi.cond` outside a `pi.while_` loop", help))
            }
            _ => {
                let value = self.read_value_after_pi(name, start, place)?;
                let expr = self.as_expr(value)?;
                let span = start.to(self.last_span);
                self.expect_newline()?;
                block.finish_compound();
                block.stmts.push(Stmt::eval(&expr, span));
                Ok(())
            }
        }
    }

    // Reads the rest of the line of an `if` or a `while`, at its keyword.
    fn read_condition(&mut self) -> ParseResult<ExprRef> {
        self.advance();
        let condition = self.read_expr();
        let header = condition.and_then(|c| self.read_header_end().map(|()| c));
        if header.is_err() {
            self.skip_line();
        }
        header
    }

    fn read_if(&mut self, block: &mut BlockState, depth: usize) -> ParseResult<()> {
        let start = self.here();
        let header = self.read_condition();
        let span = start.to(self.header_colon);
        let then_body = self.read_block(depth + 1);
        let mut else_body = None;
        if self.at("elif") {
            else_body = Some(self.read_elif(depth));
        } else if self.at("else") {
            self.advance();
            if self.read_header_end().is_err() {
                self.skip_line();
            }
            else_body = Some(self.read_block(depth + 1));
        }
        block.finish_compound();
        let else_body = else_body.transpose();
        match (header, then_body, else_body) {
            (Ok(condition), Ok(then_body), Ok(else_body)) => {
                let compound = OpenCompound::If { condition, then_body, else_body };
                block.pending_compound = Some((compound, Vec::new(), span));
            }
            // All of it is read and its errors are reported.
            _ => block.failed = true,
        }
        Ok(())
    }

    /// Reads an `elif`: an `else` whose body is an `if`.
    fn read_elif(&mut self, depth: usize) -> ParseResult<StmtRef> {
        if depth >= MAX_NESTED_BLOCKS {
            let message = format!("blocks nest deeper than {MAX_NESTED_BLOCKS}");
            let help = "each `elif` is an `if` in an `else`; move some into a function";
            self.report_with_help(self.here(), message, help);
            self.skip_line_and_block();
            return Err(ParseFailed);
        }
        let mut inner = BlockState::default();
        self.read_if(&mut inner, depth + 1)?;
        inner.finish_compound();
        if inner.failed { Err(ParseFailed) } else { inner.stmts.pop().ok_or(ParseFailed) }
    }

    fn read_with(&mut self, block: &mut BlockState, depth: usize) -> ParseResult<()> {
        let start = self.here();
        self.advance();
        let (pi, span) = self.expect_name("`pi.seq()` or `pi.ops()` after `with`")?;
        if pi != "pi" {
            let help = "expected `with pi.seq():` or `with pi.ops():`";
            return Err(self.report_with_help(span, "a `with` statement of Python", help));
        }
        self.expect(".", "after `pi`")?;
        let (what, _) = self.expect_name("`seq` or `ops`")?;
        if !matches!(what, "seq" | "ops") {
            let help = "expected `with pi.seq():` or `with pi.ops():`";
            let message = format!("unknown block `with {pi}.{what}`");
            return Err(self.report_with_help(span, message, help));
        }
        self.expect("(", "after the name")?;
        self.expect(")", "after `(`")?;
        self.read_header_end()?;
        let span = start.to(self.header_colon);
        let stmts = self.read_indented_stmts(depth + 1);
        block.finish_compound();
        match stmts {
            Ok(stmts) => {
                let whole =
                    if what == "seq" { Stmt::seq(stmts, span) } else { Stmt::ops(stmts, span) };
                block.stmts.push(whole);
            }
            Err(ParseFailed) => block.failed = true,
        }
        Ok(())
    }

    fn read_for(&mut self, block: &mut BlockState, depth: usize) -> ParseResult<()> {
        let start = self.here();
        self.advance();
        let names = self.read_loop_names();
        let header = match &names {
            Ok(names) => self.read_for_header(names),
            Err(ParseFailed) => Err(ParseFailed),
        };
        if header.is_err() {
            self.skip_line();
            if let Ok(LoopNames { loop_name, arg_names }) = &names {
                for &(name, _) in loop_name.iter().chain(arg_names) {
                    self.mark_invalid(name);
                }
            }
        }
        let span = start.to(self.header_colon);
        let condition = match &header {
            Ok(LoopHeader { loop_var: None, .. }) => Some(self.read_loop_condition()),
            _ => None,
        };
        let failed = usize::from(names.is_err());
        self.suppress_name_errors += failed;
        let body = match &condition {
            // The indent of the block is already read.
            Some(_) => self.read_opened_block(depth + 1),
            None => self.read_block(depth + 1),
        };
        self.suppress_name_errors -= failed;
        block.finish_compound();
        let compound = match (header, condition, body) {
            (Ok(LoopHeader { loop_var: Some(loop_var), range, iter_args }), None, Ok(body)) => {
                let Ok(range) = <[ExprRef; 3]>::try_from(range) else { return Ok(()) };
                OpenCompound::For { loop_var, range, iter_args, body }
            }
            (Ok(LoopHeader { loop_var: None, iter_args, .. }), Some(Ok(condition)), Ok(body)) => {
                OpenCompound::While { iter_args, condition, body }
            }
            _ => {
                block.failed = true;
                return Ok(());
            }
        };
        block.pending_compound = Some((compound, Vec::new(), span));
        Ok(())
    }

    /// Reads the line `pi.cond(…)` at the start of a block, and the definitions before it.
    fn read_loop_condition(&mut self) -> ParseResult<ExprRef> {
        if self.token.kind != TokenKind::Indent {
            self.has_inline_body = false;
            return Err(self.report_expected("an indented block"));
        }
        self.advance();
        let line = self.read_cond_line();
        if line.is_err() {
            self.skip_line();
        }
        line
    }

    fn read_cond_line(&mut self) -> ParseResult<ExprRef> {
        while self.at("(") {
            if self.read_paren_line()?.is_some() {
                return Err(self.report(self.last_span, "expected `pi.cond(…)` first"));
            }
        }
        let (pi, span) = self.expect_name("`pi.cond(…)`")?;
        self.expect(".", "after `pi`")?;
        let (cond, _) = self.expect_name("`cond`")?;
        if (pi, cond) != ("pi", "cond") {
            let message = "a `pi.while_` loop starts with `pi.cond(…)`";
            return Err(self.report(span, message));
        }
        self.expect("(", "after `pi.cond`")?;
        let condition = self.read_expr()?;
        self.expect(")", "after the condition")?;
        self.expect_newline()?;
        Ok(condition)
    }

    /// Reads the rest of a block whose indent is already read.
    fn read_opened_block(&mut self, depth: usize) -> ParseResult<StmtRef> {
        if matches!(self.token.kind, TokenKind::Dedent | TokenKind::End) {
            return Err(self.report_expected("the body of the loop after `pi.cond(…)`"));
        }
        // Inserts an indent token, since `read_block` expects one.
        self.lexer.push_back(self.token);
        self.token.kind = TokenKind::Indent;
        self.read_block(depth)
    }

    fn read_for_header(&mut self, names: &LoopNames<'s>) -> ParseResult<LoopHeader> {
        let LoopNames { loop_name, arg_names } = names;
        let keyword = self.here();
        let (mut what, _) = self.expect_name("`range`, `pi.range` or `pi.while_`")?;
        let in_pi = what == "pi" && self.eat(".");
        if in_pi {
            what = self.expect_name("`range` or `while_`")?.0;
        }
        let wanted = match (loop_name.is_some(), arg_names.is_empty()) {
            (true, true) => (in_pi, "range"),
            (true, false) => (true, "range"),
            (false, _) => (true, "while_"),
        };
        if (in_pi, what) != wanted {
            let pi = |inside: bool| if inside { "pi." } else { "" };
            let message =
                format!("expected `{}{}`, found `{}{what}`", pi(wanted.0), wanted.1, pi(in_pi));
            let help =
                "`for i in range(…)`, `for i, (a,) in pi.range(…)`, `for (a,) in pi.while_(…)`";
            return Err(self.report_with_help(keyword, message, help));
        }
        self.expect("(", "after the name")?;
        let arguments = self.read_loop_arguments()?;
        let close = self.last_span;
        self.read_header_end()?;
        self.make_loop_header(*loop_name, arg_names, arguments, keyword.to(close))
    }
}
