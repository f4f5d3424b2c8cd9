//! The text form of dim expressions: `4*?S + 1`, `floordiv(?S, 2)`, `max(?S, 8)`.

use std::fmt;
use std::str::FromStr;

use super::expr::{DimExpr, MAX_DEPTH, Sum};
use super::monomial::Atom;
use super::shorten::{Call, shorten};
use crate::name::Name;
use crate::text::{Lexer, TokenKind, read_string};

impl fmt::Display for DimExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_sum(f, self.sum())
    }
}

impl fmt::Debug for DimExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn write_sum(f: &mut fmt::Formatter<'_>, sum: &Sum) -> fmt::Result {
    let (calls, rest) = shorten(sum);
    let mut first = true;
    for term in &rest.terms {
        write_coefficient(f, &mut first, term.coefficient, true)?;
        write_factors(f, &term.factors)?;
    }
    for (coefficient, call, factors) in &calls {
        write_coefficient(f, &mut first, *coefficient, true)?;
        let (name, left, right) = match call {
            Call::Mod(inner, divisor) => ("mod", inner, &Sum::constant(*divisor)),
            Call::Max(a, b) => ("max", a, b),
            Call::Min(a, b) => ("min", a, b),
        };
        write_call(f, name, left, right)?;
        if !factors.is_empty() {
            f.write_str("*")?;
            write_factors(f, factors)?;
        }
    }
    if rest.constant != 0 || first {
        write_coefficient(f, &mut first, rest.constant, false)?;
    }
    Ok(())
}

// Writes the sign, and the number if it is needed.
fn write_coefficient(
    f: &mut fmt::Formatter<'_>,
    first: &mut bool,
    coefficient: i64,
    has_factors: bool,
) -> fmt::Result {
    f.write_str(match (*first, coefficient < 0) {
        (true, true) => "-",
        (true, false) => "",
        (false, true) => " - ",
        (false, false) => " + ",
    })?;
    *first = false;
    match (has_factors, coefficient.unsigned_abs()) {
        (true, 1) => Ok(()),
        (true, number) => write!(f, "{number}*"),
        (false, number) => write!(f, "{number}"),
    }
}

fn write_factors(f: &mut fmt::Formatter<'_>, factors: &[Atom]) -> fmt::Result {
    for (index, factor) in factors.iter().enumerate() {
        if index > 0 {
            f.write_str("*")?;
        }
        match factor {
            Atom::Symbol(symbol) => write_symbol(f, symbol.text)?,
            Atom::FloorDiv(inner, divisor) => {
                write_call(f, "floordiv", inner.sum(), &Sum::constant(*divisor))?;
            }
            Atom::Positive(inner) => write_call(f, "max", inner.sum(), &Sum::default())?,
        }
    }
    Ok(())
}

fn write_symbol(f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
    if crate::text::is_word(name) {
        return write!(f, "?{name}");
    }
    let mut quoted = String::new();
    crate::text::write_string(&mut quoted, name);
    write!(f, "?{quoted}")
}

fn write_call(f: &mut fmt::Formatter<'_>, name: &str, left: &Sum, right: &Sum) -> fmt::Result {
    write!(f, "{name}(")?;
    write_sum(f, left)?;
    f.write_str(", ")?;
    write_sum(f, right)?;
    f.write_str(")")
}

/// An error in the text of a dim expression.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{message}, at byte {offset}")]
pub struct DimTextError {
    /// The error, without its place.
    pub message: String,
    /// The byte at which it was found.
    pub offset: usize,
}

impl FromStr for DimExpr {
    type Err = DimTextError;

    fn from_str(text: &str) -> Result<Self, DimTextError> {
        let mut parser = Parser::new(text);
        let expr = parser.sum()?;
        parser.skip_spaces();
        match parser.rest().is_empty() {
            true => Ok(expr),
            false => Err(parser.error("expected `+`, `-`, `*` or the end of the expression")),
        }
    }
}

impl DimExpr {
    /// Reads the expression at the start of a text, and returns it with its number of bytes.
    pub(crate) fn parse_prefix(text: &str) -> Result<(Self, usize), DimTextError> {
        let mut parser = Parser::new(text);
        let expr = parser.sum()?;
        Ok((expr, parser.offset))
    }
}

pub(super) struct Parser<'a> {
    text: &'a str,
    offset: usize,
    depth: usize,
}

// Parentheses and signs count too, so that this is more than the depth of normal forms.
const MAX_TEXT_DEPTH: usize = 8 * MAX_DEPTH as usize;

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, offset: 0, depth: 0 }
    }

    pub(super) fn offset(&self) -> usize {
        self.offset
    }

    fn rest(&self) -> &'a str {
        &self.text[self.offset..]
    }

    pub(super) fn error(&self, message: impl Into<String>) -> DimTextError {
        DimTextError { message: message.into(), offset: self.offset }
    }

    fn skip_spaces(&mut self) {
        self.offset = self.text.len() - self.rest().trim_start().len();
    }

    pub(super) fn eat(&mut self, token: &str) -> bool {
        self.skip_spaces();
        let found = self.rest().starts_with(token);
        self.offset += if found { token.len() } else { 0 };
        found
    }

    fn expect(&mut self, token: &str) -> Result<(), DimTextError> {
        match self.eat(token) {
            true => Ok(()),
            false => Err(self.error(format!("expected `{token}`"))),
        }
    }

    // Checks the result of an operation that began at `start`.
    pub(super) fn within_limits(
        &self,
        start: usize,
        result: Option<DimExpr>,
    ) -> Result<DimExpr, DimTextError> {
        result.ok_or_else(|| DimTextError {
            message: "the expression is too large, or a number does not fit 64 bits".into(),
            offset: start,
        })
    }

    pub(super) fn sum(&mut self) -> Result<DimExpr, DimTextError> {
        self.depth += 1;
        if self.depth > MAX_TEXT_DEPTH {
            return Err(
                self.error(format!("the expression is nested deeper than {MAX_TEXT_DEPTH}"))
            );
        }
        let start = self.offset;
        let mut total = match self.eat("-") {
            true => {
                let term = self.product()?;
                let zero = self.within_limits(start, DimExpr::constant(0))?;
                self.within_limits(start, zero.checked_sub(term))?
            }
            false => self.product()?,
        };
        loop {
            let next = if self.eat("+") {
                total.checked_add(self.product()?)
            } else if self.eat("-") {
                total.checked_sub(self.product()?)
            } else {
                self.depth -= 1;
                return Ok(total);
            };
            total = self.within_limits(start, next)?;
        }
    }

    fn product(&mut self) -> Result<DimExpr, DimTextError> {
        let start = self.offset;
        let mut total = self.factor()?;
        while self.eat("*") {
            let factor = self.factor()?;
            total = self.within_limits(start, total.checked_mul(factor))?;
        }
        Ok(total)
    }

    fn factor(&mut self) -> Result<DimExpr, DimTextError> {
        self.skip_spaces();
        let start = self.offset;
        if self.eat("(") {
            let inner = self.sum()?;
            self.expect(")")?;
            return Ok(inner);
        }
        if self.eat("?") {
            let name = self.symbol_name()?;
            return self.within_limits(start, DimExpr::symbol(Name::new(&name)));
        }
        if self.rest().starts_with(|c: char| c.is_ascii_digit()) {
            let number = self.number()?;
            return self.within_limits(start, DimExpr::constant(number));
        }
        let word_length =
            self.rest().find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(self.rest().len());
        let word = &self.rest()[..word_length];
        if !["floordiv", "mod", "min", "max"].contains(&word) {
            return Err(self.error(
                "expected a number, a symbol such as `?S`, `floordiv`, `mod`, `min`, `max` or `(`",
            ));
        }
        self.offset += word_length;
        self.expect("(")?;
        let left = self.sum()?;
        self.expect(",")?;
        self.skip_spaces();
        let right_start = self.offset;
        let right = self.sum()?;
        self.expect(")")?;
        let result = match word {
            "min" => left.min(right),
            "max" => left.max(right),
            _ => {
                let divisor = right.as_constant().filter(|&d| d >= 1).ok_or(DimTextError {
                    message: format!("the divisor of `{word}` must be a number of at least 1"),
                    offset: right_start,
                })?;
                if word == "mod" { left.modulo(divisor) } else { left.floordiv(divisor) }
            }
        };
        self.within_limits(start, result)
    }

    fn number(&mut self) -> Result<i64, DimTextError> {
        let length = self.rest().find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest().len());
        let number = self.rest()[..length].parse();
        let number = number.map_err(|_| self.error("the number does not fit 64 bits"))?;
        self.offset += length;
        Ok(number)
    }

    // Reads a word, or a quoted name, as the text of dims has them.
    fn symbol_name(&mut self) -> Result<String, DimTextError> {
        let mut lexer = Lexer::of_first_tokens(self.rest());
        let token = lexer.next();
        let text = lexer.text(token);
        let name = match token.kind {
            TokenKind::Word => Some(text.to_owned()),
            TokenKind::Str => Some(read_string(text).map_err(|why| self.error(why))?),
            _ => None,
        };
        let name = name.ok_or_else(|| self.error("expected the name of a symbol after `?`"))?;
        self.offset += token.end as usize;
        Ok(name)
    }
}
