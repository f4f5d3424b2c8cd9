//! Reading statements and blocks.

use sapwood_types::Span;

use super::lexer::Tok;
use super::loops::{Header, LoopNames};
use super::scope::Meaning;
use super::value::{Kind, Val};
use super::{Failed, Parsed, Parser, Token, empty_body};
use crate::nodes::{Expr, ExprRef, IterArg, Stmt, StmtRef, TypeRef, Var};
use crate::print::MOST_NESTED_BLOCKS;

/// An `if` or a loop whose `pi.result` lines may still follow.
enum Compound {
    If { condition: ExprRef, then_body: StmtRef, else_body: Option<StmtRef> },
    For { loop_var: Var, range: [ExprRef; 3], iter_args: Vec<IterArg>, body: StmtRef },
    While { iter_args: Vec<IterArg>, condition: ExprRef, body: StmtRef },
}

/// A block as far as it is read.
#[derive(Default)]
struct Block {
    stmts: Vec<StmtRef>,
    open: Option<(Compound, Vec<Var>, Span)>,
    failed: bool,
}

impl Block {
    fn close(&mut self) {
        let Some((compound, results, span)) = self.open.take() else { return };
        self.stmts.push(match compound {
            Compound::If { condition, then_body, else_body } => {
                Stmt::if_(&condition, &then_body, else_body.as_ref(), results, span)
            }
            Compound::For { loop_var, range: [start, stop, step], iter_args, body } => {
                Stmt::for_(&loop_var, [&start, &stop, &step], iter_args, &body, results, span)
            }
            Compound::While { iter_args, condition, body } => {
                Stmt::while_(iter_args, &condition, &body, results, span)
            }
        });
    }
}

impl<'s> Parser<'s> {
    /// The body under a header: one statement is itself, any other number a sequence.
    pub(super) fn block(&mut self, depth: usize) -> Parsed<StmtRef> {
        let start = self.here();
        let stmts = self.lines(depth)?;
        if stmts.is_empty() {
            return Ok(empty_body(start));
        }
        let span = stmts[0].span().to(self.last);
        Ok(Stmt::block(stmts, span))
    }

    /// The statements of an indented block.
    fn lines(&mut self, depth: usize) -> Parsed<Vec<StmtRef>> {
        if self.token.tok != Tok::Indent {
            let failed = self.expected("an indented block");
            if depth == 1 && !self.at("def") && !self.at("@") {
                self.skip_line();
            }
            return Err(failed);
        }
        self.advance();
        if depth > MOST_NESTED_BLOCKS {
            let message = format!("blocks nest deeper than {MOST_NESTED_BLOCKS}");
            let help = "move the inner blocks into a function of their own";
            self.problem_with_help(self.here(), message, help);
            self.skip_block();
            return Err(Failed);
        }
        let mut block = Block::default();
        let mut passed = false;
        loop {
            match self.token.tok {
                Tok::Dedent => {
                    self.advance();
                    break;
                }
                Tok::End => break,
                _ => {}
            }
            if self.too_many_problems() {
                self.skip_block();
                return Err(Failed);
            }
            if self.token.tok == Tok::Indent {
                self.problem(self.here(), "an indentation that no block asks for");
                self.recover();
                block.failed = true;
                continue;
            }
            if self.at("pass") {
                let span = self.here();
                self.advance();
                if passed || !block.stmts.is_empty() || block.open.is_some() {
                    self.problem(span, "`pass` stands alone, in an empty block");
                }
                passed = true;
                if self.expect_newline().is_err() {
                    self.skip_line();
                }
                continue;
            }
            if passed {
                self.problem(
                    self.here(),
                    "a statement after `pass`, which stands for an empty block",
                );
                passed = false;
            }
            let binds = !self.at("with") && !self.at("else");
            if self.stmt(&mut block, depth).is_err() {
                block.failed = true;
                self.recover_stmt(depth, binds);
            }
        }
        block.close();
        if block.failed { Err(Failed) } else { Ok(block.stmts) }
    }

    /// After a problem in a statement: passes over its line and reads the block under it, if there
    /// is one, for more problems; not for names if the line may have bound some.
    fn recover_stmt(&mut self, depth: usize, binds: bool) {
        self.skip_line();
        if self.token.tok == Tok::Indent {
            self.forgiving += usize::from(binds);
            let _ = self.lines(depth + 1);
            self.forgiving -= usize::from(binds);
        }
    }

    fn stmt(&mut self, block: &mut Block, depth: usize) -> Parsed<()> {
        let start = self.here();
        match self.token.tok {
            Tok::Keyword => match self.text(self.token) {
                "if" => return self.if_(block, depth),
                "else" => {
                    self.advance();
                    return Err(self.problem(start, "`else` without an `if` right above"));
                }
                "for" => return self.for_(block, depth),
                "while" => {
                    self.advance();
                    let condition = self.expr();
                    let header = condition.and_then(|c| self.header_end().map(|()| c));
                    if header.is_err() {
                        self.skip_line();
                    }
                    let span = start.to(self.header);
                    let body = self.block(depth + 1);
                    block.close();
                    let (Ok(condition), Ok(body)) = (header, body) else {
                        // Everything is read; the complaints are made.
                        block.failed = true;
                        return Ok(());
                    };
                    let compound = Compound::While { iter_args: Vec::new(), condition, body };
                    block.open = Some((compound, Vec::new(), span));
                    return Ok(());
                }
                "with" => return self.with(block, depth),
                "return" => {
                    self.advance();
                    let values = self.return_values()?;
                    self.expect_newline()?;
                    block.close();
                    block.stmts.push(Stmt::return_(values, start.to(self.last)));
                    return Ok(());
                }
                "not" | "True" | "False" => {}
                _ => return Err(self.expected("a statement")),
            },
            Tok::Name => {
                let token = self.advance();
                return self.named(block, token, start);
            }
            Tok::Sign(bytes) if &bytes == b"(\0" => {
                // `(s0 := …)` names a part; anything else is an expression on its own.
                if let Some((expr, span)) = self.definition()? {
                    block.close();
                    block.stmts.push(Stmt::eval(&expr, span));
                }
                return Ok(());
            }
            _ => {}
        }
        let expr = self.expr()?;
        let span = start.to(self.last);
        self.expect_newline()?;
        block.close();
        block.stmts.push(Stmt::eval(&expr, span));
        Ok(())
    }

    /// A line that starts with `(`: nothing if it names a part, else the expression and its place.
    pub(super) fn definition(&mut self) -> Parsed<Option<(ExprRef, Span)>> {
        let before = self.here();
        let names = self.scope.definitions;
        let value = self.value()?;
        let defines = self.scope.definitions > names && value.span != before && !value.fresh;
        let is_name_alone = defines && self.scope.last_definition == Some(before);
        let whole = before.to(self.last);
        self.expect_newline()?;
        if is_name_alone && matches!(value.kind, Kind::Expr(_) | Kind::Type(_) | Kind::Nothing) {
            return Ok(None);
        }
        if matches!(value.kind, Kind::Nothing) {
            return Err(Failed);
        }
        self.as_expr(value).map(|expr| Some((expr, whole)))
    }

    /// Gives a part its name.
    pub(super) fn define(&mut self, name: &'s str, meaning: Meaning, place: Span) -> Parsed<()> {
        if self.scope.get(name).is_some_and(|known| !matches!(known, Meaning::Nothing)) {
            let message = format!("`{name}` is taken; a part needs a name of its own");
            return Err(self.problem(place, message));
        }
        self.scope.set(name, meaning);
        self.scope.definitions += 1;
        self.scope.last_definition = Some(place);
        Ok(())
    }

    /// The colon after a header. A statement with a body has the span of its header.
    fn header_end(&mut self) -> Parsed<()> {
        self.expect(":", "at the end of the header")?;
        self.header = self.last;
        self.expect_newline()
    }

    fn return_values(&mut self) -> Parsed<Vec<ExprRef>> {
        if matches!(self.token.tok, Tok::Newline | Tok::End) {
            return Ok(Vec::new());
        }
        let first = self.value()?;
        if !self.at(",") {
            // A tuple in a return is the list of values.
            return match &first.kind {
                Kind::Expr(expr) if first.fresh => match &**expr {
                    Expr::MakeTuple { elements, .. } => Ok(elements.to_vec()),
                    _ => Ok(vec![self.as_expr(first)?]),
                },
                _ => Ok(vec![self.as_expr(first)?]),
            };
        }
        let mut values = vec![self.as_expr(first)?];
        while self.eat(",") {
            if matches!(self.token.tok, Tok::Newline | Tok::End) {
                break;
            }
            values.push(self.expr()?);
        }
        Ok(values)
    }

    /// A statement that starts with a name.
    fn named(&mut self, block: &mut Block, first: Token, start: Span) -> Parsed<()> {
        let name = self.text(first);
        if name == "pi" && self.at(".") {
            return self.pi_line(block, start);
        }
        let annotation = if self.eat(":") {
            match self.ty() {
                Ok(ty) => Some(ty),
                Err(Failed) => {
                    self.poison(name);
                    return Err(Failed);
                }
            }
        } else if self.at("=") {
            None
        } else if self.at(",") {
            return Err(self.several(name));
        } else {
            let value = self.value_after(first)?;
            let expr = self.as_expr(value)?;
            let span = start.to(self.last);
            self.expect_newline()?;
            block.close();
            block.stmts.push(Stmt::eval(&expr, span));
            return Ok(());
        };
        let value = self.expect("=", "after the variable").and_then(|()| self.value());
        let value = value.and_then(|value| self.expect_newline().map(|()| value));
        match value {
            Ok(Val { kind: Kind::Result(number), span, .. }) => {
                let var = self.result_var(name, annotation.as_ref(), start)?;
                self.result(block, var, number, span)
            }
            Ok(value) => match self.as_expr(value) {
                Ok(value) => {
                    let var = self.target(name, annotation.as_ref(), value.ty(), start)?;
                    block.close();
                    block.stmts.push(Stmt::assign(&var, &value, start.to(self.last)));
                    Ok(())
                }
                Err(Failed) => {
                    // The line is read; only its value is wrong.
                    self.poison(name);
                    block.failed = true;
                    Ok(())
                }
            },
            Err(Failed) => {
                self.poison(name);
                Err(Failed)
            }
        }
    }

    /// `y, z = …`, at the first comma.
    fn several(&mut self, first: &'s str) -> Failed {
        self.poison(first);
        let problem = self.problem_with_help(
            self.here(),
            "several variables in one statement",
            "write one assignment for each; `t[0]` is an element of a tuple",
        );
        while self.eat(",") && self.token.tok == Tok::Name {
            let token = self.advance();
            self.poison(self.text(token));
        }
        problem
    }

    /// From here on, a name that stands for nothing is not complained about.
    pub(super) fn poison(&mut self, name: &'s str) {
        if self.scope.get(name).is_none() {
            self.scope.set(name, Meaning::Nothing);
        }
    }

    /// The variable a name is bound to: known, or new with the type given or else the natural one.
    pub(super) fn target(
        &mut self,
        name: &'s str,
        annotation: Option<&TypeRef>,
        natural: &TypeRef,
        span: Span,
    ) -> Parsed<Var> {
        let ty = annotation.unwrap_or(natural);
        let var = self.bind(name, span, || Var::new(name, ty, span))?;
        if let Some(ty) = annotation
            && !sapwood_structural::equal(ty, var.ty()).unwrap_or(false)
        {
            let message = format!("`{name}` has another type already");
            let help = "say the type where the variable is bound first, or take another name";
            return Err(self.problem_with_help(span, message, help));
        }
        Ok(var)
    }

    fn result_var(&mut self, name: &'s str, ty: Option<&TypeRef>, span: Span) -> Parsed<Var> {
        if ty.is_none() && !matches!(self.scope.get(name), Some(Meaning::Var(_))) {
            self.scope.set(name, Meaning::Nothing);
            let message = format!("`{name}` is new here, so its type has to be said");
            let help = format!("write `{name}: pi.INT64 = pi.result(…)`");
            return Err(self.problem_with_help(span, message, help));
        }
        let unknown = crate::nodes::Type::unknown();
        self.target(name, ty, &unknown, span)
    }

    fn result(&mut self, block: &mut Block, var: Var, number: u32, span: Span) -> Parsed<()> {
        // The line is read already, so complaints do not pass over another.
        match &mut block.open {
            Some((_, results, _)) if results.len() == number as usize => results.push(var),
            Some((_, results, _)) => {
                let next = results.len();
                let message = format!("result {number} where result {next} comes next");
                self.problem(span, message);
                block.failed = true;
            }
            None => {
                let help = "`pi.result` stands right after an `if` or a loop";
                if !block.failed {
                    self.problem_with_help(span, "a result of nothing", help);
                }
                block.failed = true;
            }
        }
        Ok(())
    }

    /// A line that starts with `pi.`.
    fn pi_line(&mut self, block: &mut Block, start: Span) -> Parsed<()> {
        self.advance();
        let (name, place) = self.expect_name("a name after `pi.`")?;
        match name {
            "yield_" => {
                self.expect("(", "after `pi.yield_`")?;
                let mut values = Vec::new();
                while !self.at(")") {
                    values.push(self.expr()?);
                    if !self.eat(",") {
                        break;
                    }
                }
                self.expect(")", "after the values")?;
                self.expect_newline()?;
                block.close();
                block.stmts.push(Stmt::yield_(values, start.to(self.last)));
                Ok(())
            }
            "cond" => {
                let help = "it is the first line in `for (…) in pi.while_(…):`";
                Err(self.problem_with_help(start, "`pi.cond` outside a `pi.while_` loop", help))
            }
            _ => {
                let value = self.value_after_pi(name, start, place)?;
                let expr = self.as_expr(value)?;
                let span = start.to(self.last);
                self.expect_newline()?;
                block.close();
                block.stmts.push(Stmt::eval(&expr, span));
                Ok(())
            }
        }
    }

    fn if_(&mut self, block: &mut Block, depth: usize) -> Parsed<()> {
        let start = self.here();
        self.advance();
        let condition = self.expr();
        let header = condition.and_then(|c| self.header_end().map(|()| c));
        if header.is_err() {
            self.skip_line();
        }
        let span = start.to(self.header);
        let then_body = self.block(depth + 1);
        let mut else_body = None;
        if self.at("else") {
            self.advance();
            if self.header_end().is_err() {
                self.skip_line();
            }
            else_body = Some(self.block(depth + 1));
        }
        block.close();
        let else_body = else_body.transpose();
        match (header, then_body, else_body) {
            (Ok(condition), Ok(then_body), Ok(else_body)) => {
                let compound = Compound::If { condition, then_body, else_body };
                block.open = Some((compound, Vec::new(), span));
            }
            // Everything is read; the complaints are made.
            _ => block.failed = true,
        }
        Ok(())
    }

    fn with(&mut self, block: &mut Block, depth: usize) -> Parsed<()> {
        let start = self.here();
        self.advance();
        let (pi, span) = self.expect_name("`pi.seq()` or `pi.ops()` after `with`")?;
        self.expect(".", "after `pi`")?;
        let (what, _) = self.expect_name("`seq` or `ops`")?;
        if pi != "pi" || !matches!(what, "seq" | "ops") {
            let help = "there are `with pi.seq():` and `with pi.ops():`";
            let message = format!("`with {pi}.{what}` is not known");
            return Err(self.problem_with_help(span, message, help));
        }
        self.expect("(", "after the name")?;
        self.expect(")", "after `(`")?;
        self.header_end()?;
        let span = start.to(self.header);
        let stmts = self.lines(depth + 1);
        block.close();
        match stmts {
            Ok(stmts) => {
                let whole =
                    if what == "seq" { Stmt::seq(stmts, span) } else { Stmt::ops(stmts, span) };
                block.stmts.push(whole);
            }
            Err(Failed) => block.failed = true,
        }
        Ok(())
    }

    fn for_(&mut self, block: &mut Block, depth: usize) -> Parsed<()> {
        let start = self.here();
        self.advance();
        let names = self.loop_names();
        let header = match &names {
            Ok(names) => self.for_header(names),
            Err(Failed) => Err(Failed),
        };
        if header.is_err() {
            self.skip_line();
            if let Ok(LoopNames { loop_name, arg_names }) = &names {
                for &(name, _) in loop_name.iter().chain(arg_names) {
                    self.poison(name);
                }
            }
        }
        let span = start.to(self.header);
        let condition = match &header {
            Ok(Header { loop_var: None, .. }) => Some(self.condition()),
            _ => None,
        };
        let failed = usize::from(names.is_err());
        self.forgiving += failed;
        let body = match &condition {
            // The block is open already.
            Some(_) => self.opened_block(depth + 1),
            None => self.block(depth + 1),
        };
        self.forgiving -= failed;
        block.close();
        let compound = match (header, condition, body) {
            (Ok(Header { loop_var: Some(loop_var), range, iter_args }), None, Ok(body)) => {
                let Ok(range) = <[ExprRef; 3]>::try_from(range) else { return Ok(()) };
                Compound::For { loop_var, range, iter_args, body }
            }
            (Ok(Header { loop_var: None, iter_args, .. }), Some(Ok(condition)), Ok(body)) => {
                Compound::While { iter_args, condition, body }
            }
            _ => {
                block.failed = true;
                return Ok(());
            }
        };
        block.open = Some((compound, Vec::new(), span));
        Ok(())
    }

    /// The line `pi.cond(…)` at the start of a block, and the definitions before it.
    fn condition(&mut self) -> Parsed<ExprRef> {
        if self.token.tok != Tok::Indent {
            return Err(self.expected("an indented block"));
        }
        self.advance();
        let line = self.condition_line();
        if line.is_err() {
            self.skip_line();
        }
        line
    }

    fn condition_line(&mut self) -> Parsed<ExprRef> {
        while self.at("(") {
            if self.definition()?.is_some() {
                return Err(self.problem(self.last, "expected `pi.cond(…)` first"));
            }
        }
        let (pi, span) = self.expect_name("`pi.cond(…)`")?;
        self.expect(".", "after `pi`")?;
        let (cond, _) = self.expect_name("`cond`")?;
        if (pi, cond) != ("pi", "cond") {
            let message = "a `pi.while_` loop starts with `pi.cond(…)`";
            return Err(self.problem(span, message));
        }
        self.expect("(", "after `pi.cond`")?;
        let condition = self.expr()?;
        self.expect(")", "after the condition")?;
        self.expect_newline()?;
        Ok(condition)
    }

    /// The rest of a block whose indent is read already.
    fn opened_block(&mut self, depth: usize) -> Parsed<StmtRef> {
        if matches!(self.token.tok, Tok::Dedent | Tok::End) {
            return Err(self.expected("the body of the loop after `pi.cond(…)`"));
        }
        // Pretend that the indent comes now.
        self.lexer.push_back(self.token);
        self.token.tok = Tok::Indent;
        self.block(depth)
    }

    fn for_header(&mut self, names: &LoopNames<'s>) -> Parsed<Header> {
        let LoopNames { loop_name, arg_names } = names;
        let keyword = self.here();
        let (mut what, _) = self.expect_name("`range`, `pi.range` or `pi.while_`")?;
        let in_pi = what == "pi" && self.eat(".");
        if in_pi {
            what = self.expect_name("`range` or `while_`")?.0;
        }
        let wanted = match (loop_name.is_some(), arg_names.is_empty()) {
            (true, true) => (false, "range"),
            (true, false) => (true, "range"),
            (false, _) => (true, "while_"),
        };
        if (in_pi, what) != wanted {
            let pi = |inside: bool| if inside { "pi." } else { "" };
            let message =
                format!("expected `{}{}`, found `{}{what}`", pi(wanted.0), wanted.1, pi(in_pi));
            let help =
                "`for i in range(…)`, `for i, (a,) in pi.range(…)`, `for (a,) in pi.while_(…)`";
            return Err(self.problem_with_help(keyword, message, help));
        }
        self.expect("(", "after the name")?;
        let arguments = self.header_arguments()?;
        let close = self.last;
        self.header_end()?;
        self.make_header(*loop_name, arg_names, arguments, keyword.to(close))
    }
}
