//! The parser of rules. Collects diagnostics; after an error it continues at the next rule.

use std::ops::Range;

use sapwood_ptir::{Attr, Name};
use sapwood_rewrite::FloatMode;
use sapwood_types::{Diagnostic, Diagnostics, Source, Span, did_you_mean};

use super::ast::{
    AttrExpr, ConditionText, DimText, Expr, OpText, RegionText, RuleSide, RuleText, Spanned,
    TypeText, Word,
};
use super::lexer::{Lexer, Token};
use crate::graph::Number;

/// The largest number of tokens in which the end of a list of values is searched.
const MAX_LOOKAHEAD: usize = 10_000;

/// The deepest nesting of expressions.
const MAX_DEPTH: usize = 100;

/// Keywords, which cannot be names.
const RESERVED: [&str; 4] = ["rule", "pattern", "let", "where"];

/// An error that was reported and ends the current rule.
struct ParseStopped;

pub(super) fn parse(source: &Source, problems: &mut Diagnostics) -> Vec<RuleText> {
    let mut lexer = Lexer::new(source.text());
    let (token, range) = lexer.next();
    let mut parser = Parser { source, lexer, token, range, last_end: 0, problems, depth: 0 };
    let mut rules = Vec::new();
    while parser.token != Token::End {
        match parser.rule() {
            Ok(rule) => rules.push(rule),
            Err(ParseStopped) => parser.skip_to_rule(),
        }
    }
    rules
}

struct Parser<'a, 'p> {
    source: &'a Source,
    lexer: Lexer<'a>,
    token: Token,
    range: Range<usize>,
    // The end of the token before this one.
    last_end: usize,
    problems: &'p mut Diagnostics,
    depth: usize,
}

impl<'a> Parser<'a, '_> {
    fn rule(&mut self) -> Result<RuleText, ParseStopped> {
        let start = self.range.start;
        let doc = std::mem::take(&mut self.lexer.comment);
        let is_rule = match self.text() {
            "rule" => true,
            "pattern" => false,
            _ => return Err(self.expected("`rule` or `pattern`")),
        };
        self.bump();
        let name = self.name("the name of the rule")?;
        let (mut benefit, mut floats, mut through) = (1, FloatMode::Exact, Vec::new());
        let mut given: Vec<&str> = Vec::new();
        while self.token == Token::Word {
            match self.text() {
                "benefit" => {
                    self.only_once("benefit", &mut given)?;
                    benefit = match self.text().parse() {
                        Ok(n) if self.token == Token::Int => n,
                        _ => return Err(self.expected("a benefit from 0 to 65535")),
                    };
                }
                "float" => {
                    self.only_once("float", &mut given)?;
                    floats = match self.text().parse() {
                        Ok(mode) => mode,
                        Err(why) => return Err(self.stop(self.span(), why)),
                    };
                }
                "through" => {
                    self.only_once("through", &mut given)?;
                    self.expect(b'[')?;
                    if self.at(b']') {
                        let why = "`through` lists no op";
                        let help = "name the ops to look through, `through [cast, reshape]`, or leave it out";
                        self.problems.push(Diagnostic::error(self.span(), why).with_help(help));
                        return Err(ParseStopped);
                    }
                    while !self.at(b']') {
                        through.push(self.name("an op to look through")?);
                        if !self.eat(b',') && !self.at(b']') {
                            return Err(self.expected("`,` or `]`"));
                        }
                    }
                }
                _ => return Err(self.expected("`benefit`, `float`, `through` or `:`")),
            }
            self.bump();
        }
        let head = self.source.span(start..self.range.start.max(start));
        self.expect(b':')?;
        let left = self.side()?;
        let mut conditions = Vec::new();
        if self.eat_word("where") {
            loop {
                conditions.push(self.condition()?);
                if !self.eat(b',') {
                    break;
                }
            }
        }
        let right = if self.token == Token::Arrow {
            self.bump();
            Some(self.side()?)
        } else {
            None
        };
        let ends = self.token == Token::End || matches!(self.text(), "rule" | "pattern");
        if !ends {
            let what =
                if right.is_some() { "the next rule" } else { "`where`, `=>` or the next rule" };
            return Err(self.expected(what));
        }
        let span = Span::to(head, name.span);
        Ok(RuleText { name, doc, is_rule, benefit, floats, through, left, conditions, right, span })
    }

    // Skips a word of the head of a rule.
    fn only_once(
        &mut self,
        word: &'static str,
        given: &mut Vec<&'static str>,
    ) -> Result<(), ParseStopped> {
        if given.contains(&word) {
            let why = format!("`{word}` is given twice");
            let problem = Diagnostic::error(self.span(), why).with_help("leave one of them out");
            self.problems.push(problem);
            return Err(ParseStopped);
        }
        given.push(word);
        self.bump();
        Ok(())
    }

    fn side(&mut self) -> Result<RuleSide, ParseStopped> {
        let mut lets = Vec::new();
        loop {
            let defined = self.token == Token::Word && self.lexer.clone().next().0 == Token::Define;
            if !defined && !self.eat_word("let") {
                break;
            }
            let name = self.name("a name")?;
            if defined {
                self.bump();
            } else {
                self.expect(b'=')?;
            }
            lets.push((name, self.alternatives()?));
        }
        let parenthesized = self.at(b'(') && self.is_list_ahead();
        if parenthesized {
            self.bump();
        }
        let mut roots = vec![self.alternatives()?];
        while self.eat(b',') {
            roots.push(self.expr()?);
        }
        if parenthesized {
            self.expect(b')')?;
        }
        Ok(RuleSide { lets, roots })
    }

    // Returns whether the parenthesis here encloses several values: `(y, z)`, and not `(a | b)` or `(tanh | erf)(x)`.
    fn is_list_ahead(&self) -> bool {
        let mut lexer = self.lexer.clone();
        let mut depth = 0usize;
        for _ in 0..MAX_LOOKAHEAD {
            match lexer.next().0 {
                Token::Punct(b'(' | b'[') => depth += 1,
                Token::Punct(b')' | b']') if depth == 0 => return false,
                Token::Punct(b')' | b']') => depth -= 1,
                Token::Punct(b',') if depth == 0 => return true,
                Token::End => return false,
                _ => {}
            }
        }
        false
    }

    // `a | b`
    fn alternatives(&mut self) -> Result<Expr, ParseStopped> {
        let start = self.range.start;
        let first = self.expr()?;
        if !self.at(b'|') {
            return Ok(first);
        }
        let mut all = vec![first];
        while self.eat(b'|') {
            all.push(self.expr()?);
        }
        Ok(Expr::Alternatives(all, self.source.span(start..self.last_end)))
    }

    fn condition(&mut self) -> Result<ConditionText, ParseStopped> {
        let start = self.range.start;
        let not = self.eat_word("not");
        let left = self.attr(0)?;
        let mut end = self.last_end;
        let (name, arguments) = if self.token == Token::Compare {
            let name = Spanned { of: self.text().to_owned(), span: self.span() };
            self.bump();
            let right = self.attr(0)?;
            end = self.last_end;
            (name, vec![left, right])
        } else {
            match left {
                AttrExpr::Call(name, arguments) => (name, arguments),
                other => {
                    let message = "expected a predicate such as `float(x)`, or a comparison".into();
                    return Err(self.stop(other.span(), message));
                }
            }
        };
        let text = self.source.text()[start..end].split_whitespace().collect::<Vec<_>>().join(" ");
        Ok(ConditionText { not, name, arguments, text })
    }

    fn expr(&mut self) -> Result<Expr, ParseStopped> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.stop(
                self.span(),
                format!("expressions nest at most {MAX_DEPTH} deep; name parts with `let`"),
            ));
        }
        let expr = self.expr_inside();
        self.depth -= 1;
        expr
    }

    fn expr_inside(&mut self) -> Result<Expr, ParseStopped> {
        if matches!(self.token, Token::Int | Token::Float) {
            let Some(of) = Number::parse(self.text()) else {
                return Err(self.expected("a number"));
            };
            let number = Spanned { of, span: self.span() };
            self.bump();
            return Ok(Expr::Number(number));
        }
        let start = self.range.start;
        if self.at(b'(') {
            return self.parenthesized(start);
        }
        if matches!(self.text(), "true" | "false") {
            return Err(self.expected("a value: a name, a number or an op such as `add(x, y)`"));
        }
        let word = self.name("a value: a name, a number or an op such as `add(x, y)`")?;
        if word.of == "const" && self.token == Token::Word {
            return Ok(Expr::Const(self.name("the name of a constant")?));
        }
        if self.token == Token::Dots {
            self.bump();
            return Ok(Expr::Rest(word));
        }
        if self.at(b':') {
            self.bump();
            return Ok(Expr::Typed(word, self.type_text()?));
        }
        let optional = self.at(b'?') && self.next_is(b'(');
        if optional {
            self.bump();
        }
        if !self.at(b'(') {
            return match self.result()? {
                Some(result) => Ok(Expr::Result(word, result.of)),
                None => Ok(Expr::Name(word)),
            };
        }
        self.op(start, word, Vec::new(), optional)
    }

    // `(a | b)`, or the ops of `(tanh | erf)(x)`
    fn parenthesized(&mut self, start: usize) -> Result<Expr, ParseStopped> {
        self.bump();
        let inner = self.alternatives()?;
        self.expect(b')')?;
        let optional = self.at(b'?') && self.next_is(b'(');
        if optional {
            self.bump();
        }
        if !self.at(b'(') {
            return Ok(match inner {
                Expr::Alternatives(all, _) => {
                    Expr::Alternatives(all, self.source.span(start..self.last_end))
                }
                other => other,
            });
        }
        let all = match inner {
            Expr::Alternatives(all, _) => all,
            other => vec![other],
        };
        let mut names = Vec::new();
        for expr in all {
            match expr {
                Expr::Name(word) => names.push(word),
                other => {
                    let message = "only names of ops may be called: `(tanh | erf)(x)`".into();
                    return Err(self.stop(other.span(), message));
                }
            }
        }
        let more = names.split_off(1);
        let Some(name) = names.pop() else { return Err(self.expected("an op")) };
        self.op(start, name, more, optional)
    }

    // The operands and attributes of an op, at the opening parenthesis.
    fn op(
        &mut self,
        start: usize,
        name: Word,
        more: Vec<Word>,
        optional: bool,
    ) -> Result<Expr, ParseStopped> {
        self.bump();
        let (mut operands, mut attrs, mut carried) = (Vec::new(), Vec::new(), None);
        while !self.at(b')') {
            if self.token == Token::Dots {
                self.bump();
                let name = self.name("a name for the other attributes")?;
                if carried.is_some() {
                    let message = "the other attributes are given twice".into();
                    return Err(self.stop(name.span, message));
                }
                carried = Some(name);
            } else if self.token == Token::Word && self.next_is(b'=') {
                let name = self.name("the name of an attribute")?;
                self.expect(b'=')?;
                attrs.push((name, self.attr(0)?));
            } else {
                operands.push(self.alternatives()?);
            }
            if !self.eat(b',') && !self.at(b')') {
                return Err(self.expected("`,` or `)`"));
            }
        }
        let span = self.source.span(start..self.range.end);
        self.bump();
        let mut regions = Vec::new();
        while self.at(b'{') {
            regions.push(self.region()?);
        }
        let result = self.result()?;
        Ok(Expr::Op(Box::new(OpText {
            name,
            more,
            optional,
            carried,
            operands,
            attrs,
            regions,
            result,
            span,
        })))
    }

    // `{ (a, b) => max(a, b) }`, `{ neg(x) }`
    fn region(&mut self) -> Result<RegionText, ParseStopped> {
        let start = self.range.start;
        self.expect(b'{')?;
        let mut params = Vec::new();
        if self.at(b'(') && self.are_params_ahead() {
            self.bump();
            while !self.at(b')') {
                params.push(self.name("a parameter of the region")?);
                if !self.eat(b',') && !self.at(b')') {
                    return Err(self.expected("`,` or `)`"));
                }
            }
            self.bump();
            self.bump();
        }
        let mut yields = vec![self.alternatives()?];
        while self.eat(b',') {
            yields.push(self.alternatives()?);
        }
        let span = self.source.span(start..self.range.end);
        self.expect(b'}')?;
        Ok(RegionText { params, yields, span })
    }

    // Returns whether names in parentheses are followed by an arrow.
    fn are_params_ahead(&self) -> bool {
        let mut lexer = self.lexer.clone();
        for _ in 0..MAX_LOOKAHEAD {
            match lexer.next().0 {
                Token::Word | Token::Punct(b',') => {}
                Token::Punct(b')') => return lexer.next().0 == Token::Arrow,
                _ => return false,
            }
        }
        false
    }

    // `f32[n, d]`, `[.., d]`
    fn type_text(&mut self) -> Result<TypeText, ParseStopped> {
        let start = self.range.start;
        let dtype = match self.token {
            Token::Word => Some(self.name("an element type")?),
            _ => None,
        };
        self.expect(b'[')?;
        let (mut open, mut dims) = (false, Vec::new());
        while !self.at(b']') {
            match self.token {
                Token::Dots if dims.is_empty() && !open => {
                    open = true;
                    self.bump();
                }
                Token::Int => match self.text().parse() {
                    Ok(n) => {
                        dims.push(DimText::Known(n));
                        self.bump();
                    }
                    Err(_) => return Err(self.expected("a dim")),
                },
                Token::Word if self.text() == "_" => {
                    dims.push(DimText::Any);
                    self.bump();
                }
                Token::Word => dims.push(DimText::Name(self.name("a dim")?)),
                _ => return Err(self.expected("a dim: a number, a name, `_`, or `..` first")),
            }
            if !self.eat(b',') && !self.at(b']') {
                return Err(self.expected("`,` or `]`"));
            }
        }
        self.bump();
        let span = self.source.span(start..self.last_end);
        Ok(TypeText { dtype, open, dims, span })
    }

    // `.1`
    fn result(&mut self) -> Result<Option<Spanned<usize>>, ParseStopped> {
        if !self.eat(b'.') {
            return Ok(None);
        }
        let number = self.text().parse().ok().filter(|_| self.token == Token::Int);
        let Some(of) = number else { return Err(self.expected("the number of a result")) };
        let span = self.span();
        self.bump();
        Ok(Some(Spanned { of, span }))
    }

    fn attr(&mut self, depth: usize) -> Result<AttrExpr, ParseStopped> {
        if depth > 16 {
            return Err(self.stop(self.span(), "attributes nest at most 16 deep".into()));
        }
        let span = self.span();
        let literal = |of: Attr| AttrExpr::Literal(Spanned { of, span });
        let made = match self.token {
            Token::Int => literal(match self.text().parse() {
                Ok(n) => Attr::Int(n),
                Err(_) => {
                    let message = format!("{} does not fit a 64-bit integer", self.text());
                    return Err(self.stop(span, message));
                }
            }),
            Token::Float => literal(Attr::float(self.number()?)),
            Token::Str => literal(Attr::Str(self.text().trim_matches('"').into())),
            Token::Func => literal(Attr::Func(Name::new(&self.text()[1..]))),
            Token::Punct(b'[') => {
                self.bump();
                let mut items = Vec::new();
                while !self.at(b']') {
                    items.push(self.attr(depth + 1)?);
                    if !self.eat(b',') && !self.at(b']') {
                        return Err(self.expected("`,` or `]`"));
                    }
                }
                let value = |item: &AttrExpr| match item {
                    AttrExpr::Literal(item) => Some(item.of.clone()),
                    _ => None,
                };
                match items.iter().map(value).collect::<Option<Vec<Attr>>>() {
                    Some(values) => literal(Attr::list(values)),
                    None => AttrExpr::List(items, span),
                }
            }
            Token::Word => match self.text() {
                "true" => literal(Attr::Bool(true)),
                "false" => literal(Attr::Bool(false)),
                _ => {
                    let word = self.name("an attribute")?;
                    if self.token == Token::Dots {
                        self.bump();
                        return Ok(AttrExpr::Name(word));
                    }
                    if !self.eat(b'(') {
                        return Ok(AttrExpr::Name(word));
                    }
                    let mut arguments = Vec::new();
                    while !self.at(b')') {
                        arguments.push(self.attr(depth + 1)?);
                        if !self.eat(b',') && !self.at(b')') {
                            return Err(self.expected("`,` or `)`"));
                        }
                    }
                    self.bump();
                    return Ok(AttrExpr::Call(word, arguments));
                }
            },
            _ => return Err(self.expected("an attribute")),
        };
        self.bump();
        Ok(made)
    }

    fn number(&mut self) -> Result<f64, ParseStopped> {
        match self.text().parse::<f64>() {
            Ok(number) => Ok(number),
            Err(_) => Err(self.expected("a number")),
        }
    }

    fn name(&mut self, what: &str) -> Result<Word, ParseStopped> {
        let text = self.text();
        if self.token != Token::Word || RESERVED.contains(&text) {
            return Err(self.expected(what));
        }
        let word = Spanned { of: text.to_owned(), span: self.span() };
        self.bump();
        Ok(word)
    }

    fn text(&self) -> &'a str {
        &self.source_text()[self.range.clone()]
    }

    fn source_text(&self) -> &'a str {
        self.source.text()
    }

    fn span(&self) -> Span {
        self.source.span(self.range.clone())
    }

    fn at(&self, punct: u8) -> bool {
        self.token == Token::Punct(punct)
    }

    fn next_is(&self, punct: u8) -> bool {
        self.lexer.clone().next().0 == Token::Punct(punct)
    }

    fn bump(&mut self) {
        self.last_end = self.range.end;
        (self.token, self.range) = self.lexer.next();
    }

    fn eat(&mut self, punct: u8) -> bool {
        let found = self.at(punct);
        if found {
            self.bump();
        }
        found
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.token == Token::Word && self.text() == word;
        if found {
            self.bump();
        }
        found
    }

    fn expect(&mut self, punct: u8) -> Result<(), ParseStopped> {
        if self.eat(punct) {
            Ok(())
        } else {
            Err(self.expected(&format!("`{}`", char::from(punct))))
        }
    }

    fn expected(&mut self, what: &str) -> ParseStopped {
        let found = match self.token {
            Token::End => "the end of the text".into(),
            _ => format!("`{}`", self.text().chars().take(40).collect::<String>()),
        };
        let message = format!("expected {what}, found {found}");
        let mut problem = Diagnostic::error(self.span(), message);
        if what.starts_with("`rule`")
            && let Some(close) = did_you_mean(self.text(), ["rule", "pattern"])
        {
            problem = problem.with_help(format!("did you mean `{close}`?"));
        }
        self.problems.push(problem);
        ParseStopped
    }

    fn stop(&mut self, span: Span, message: String) -> ParseStopped {
        self.problems.error(span, message);
        ParseStopped
    }

    fn skip_to_rule(&mut self) {
        self.depth = 0;
        loop {
            let starts = self.token == Token::Word && matches!(self.text(), "rule" | "pattern");
            if self.token == Token::End || starts && self.lexer.clone().next().0 == Token::Word {
                return;
            }
            self.bump();
        }
    }
}
