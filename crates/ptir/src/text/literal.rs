//! Literals in the text form: a splat, nested lists, or hexadecimal digits for exact bits.

use sapwood_types::{DataType, counted, read_hex, write_hex};
use smallvec::SmallVec;

use super::external::{ExternalResolver, LongLiteralMode, fetch_external};
use super::lexer::{Lexer, Token, TokenKind, read_string};
use super::parser::{ErrorReported, Parser};
use crate::literal::{TensorLiteral, bits_element, float_element, int_element, write_element};
use crate::types::TensorType;

/// The largest number of elements that a literal lists; a larger one is written as one string of hexadecimal digits.
const MAX_LISTED_ELEMENTS: u64 = 256;

/// Writes a literal without its type.
pub(crate) fn write_literal(
    out: &mut String,
    literal: &TensorLiteral,
    long: &mut LongLiteralMode<'_>,
) {
    let dtype = literal.dtype();
    if let Some(element) = literal.as_splat() {
        write_element(out, dtype, element);
        return;
    }
    let count = literal.num_elements();
    match long {
        LongLiteralMode::Elided(above) if count > *above => {
            out.push_str("...");
            return;
        }
        LongLiteralMode::External(table) if count > table.above => {
            table.write(out, literal);
            return;
        }
        _ => {}
    }
    if count > MAX_LISTED_ELEMENTS {
        out.push_str("hex \"");
        write_hex(out, literal.stored_bytes());
        out.push('"');
        return;
    }
    if count == 0 {
        out.push_str("[]");
        return;
    }
    let shape = literal.shape();
    let rank = shape.len();
    // The number of elements that each level of brackets spans.
    let mut spans: SmallVec<[u64; 4]> = SmallVec::from_elem(1, rank);
    for axis in (0..rank).rev() {
        spans[axis] = shape[axis] * spans.get(axis + 1).copied().unwrap_or(1);
    }
    for index in 0..count {
        if index > 0 {
            out.push_str(", ");
        }
        spans.iter().filter(|&&span| index % span == 0).for_each(|_| out.push('['));
        write_element(out, dtype, literal.element(index).unwrap_or(&[]));
        spans.iter().filter(|&&span| (index + 1) % span == 0).for_each(|_| out.push(']'));
    }
}

/// The tokens of a literal, which are read when its type is known.
#[derive(Clone)]
pub(super) struct LiteralRange {
    first: Token,
    end: usize,
}

impl Parser<'_> {
    /// Skips a literal.
    pub(super) fn skip_literal(&mut self) -> Result<LiteralRange, ErrorReported> {
        let first = self.token;
        let mut depth = 0usize;
        loop {
            let end = self.token.end as usize;
            match self.token.kind {
                TokenKind::Punct(b'[' | b'(') => depth += 1,
                TokenKind::Punct(b']' | b')') if depth > 0 => depth -= 1,
                TokenKind::Punct(b',') if depth > 0 => {}
                TokenKind::Dots => {
                    return Err(self.report("this literal was elided when it was printed (`...`)"));
                }
                TokenKind::Word if self.lexer.text(self.token) == "hex" => {
                    self.advance();
                    let end = self.token.end as usize;
                    if self.token.kind != TokenKind::Str {
                        return Err(self.report_expected("digits in quotes"));
                    }
                    self.advance();
                    return Ok(LiteralRange { first, end });
                }
                TokenKind::Word if self.lexer.text(self.token) == "external" => {
                    return self.skip_external(first);
                }
                TokenKind::Int | TokenKind::Float | TokenKind::Hex | TokenKind::Word => {}
                _ => return Err(self.report_expected("a literal")),
            }
            self.advance();
            if depth == 0 {
                return Ok(LiteralRange { first, end });
            }
        }
    }

    // Skips `external("file", offset, length)`.
    fn skip_external(&mut self, first: Token) -> Result<LiteralRange, ErrorReported> {
        const PARTS: [(TokenKind, &str); 7] = [
            (TokenKind::Punct(b'('), "`(`"),
            (TokenKind::Str, "the name of a file in quotes"),
            (TokenKind::Punct(b','), "`,`"),
            (TokenKind::Int, "the first byte"),
            (TokenKind::Punct(b','), "`,`"),
            (TokenKind::Int, "the number of bytes"),
            (TokenKind::Punct(b')'), "`)`"),
        ];
        self.advance();
        let mut end = self.token.end as usize;
        for (kind, what) in PARTS {
            if self.token.kind != kind {
                return Err(self.report_expected(what));
            }
            end = self.token.end as usize;
            self.advance();
        }
        Ok(LiteralRange { first, end })
    }

    /// Reads a literal that was skipped.
    pub(super) fn literal(
        &mut self,
        range: &LiteralRange,
        ty: &TensorType,
    ) -> Result<TensorLiteral, ErrorReported> {
        // Memory is reserved for at most the elements of the type, and for at most the elements that the text could
        // contain, with two characters each.
        let written = (range.end - range.first.start as usize) as u64 / 2 + 1;
        let elements = ty.num_elements().unwrap_or(0).min(written);
        self.charge_memory(3 * elements.saturating_mul(ty.dtype.byte_size() as u64));
        if self.out_of_memory {
            return Err(ErrorReported);
        }
        let lexer = self.lexer.sub_lexer(range.first, range.end);
        let external = self.options.external.as_ref();
        match (LiteralReader { lexer, token: range.first, ty, external }).read() {
            Ok(literal) => Ok(literal),
            Err((token, message)) => Err(self.report_at(token, message)),
        }
    }
}

struct LiteralReader<'a, 't> {
    lexer: Lexer<'a>,
    token: Token,
    ty: &'t TensorType,
    external: Option<&'t ExternalResolver>,
}

type LiteralProblem = (Token, String);

impl LiteralReader<'_, '_> {
    fn read(mut self) -> Result<TensorLiteral, LiteralProblem> {
        let (first, dtype) = (self.token, self.ty.dtype);
        let Some(shape) = self.ty.known_shape() else {
            return Err((first, format!("a literal needs known dims, found {}", self.ty)));
        };
        self.advance();
        if self.token.kind == TokenKind::Word && self.text() == "hex" {
            self.advance();
            let digits = self.text();
            let digits = &digits[1..digits.len() - 1];
            let expected =
                self.ty.num_elements().and_then(|n| n.checked_mul(2 * dtype.byte_size() as u64));
            if expected != Some(digits.len() as u64) {
                let expected = expected.map_or("too many".into(), |n| n.to_string());
                return Err((
                    self.token,
                    format!("{} needs {expected} hex digits, found {}", self.ty, digits.len()),
                ));
            }
            let Some(bytes) = read_hex(digits) else {
                return Err((self.token, "expected only hex digits in the string".into()));
            };
            return TensorLiteral::new(dtype, &shape, &bytes).map_err(|e| (first, e.to_string()));
        }
        if self.token.kind == TokenKind::Word && self.text() == "external" {
            let bytes = self.external_bytes()?;
            return TensorLiteral::new(dtype, &shape, &bytes).map_err(|e| (first, e.to_string()));
        }
        if self.token.kind != TokenKind::Punct(b'[') {
            let element = self.element()?;
            return TensorLiteral::splat(dtype, &shape, &element)
                .map_err(|e| (first, e.to_string()));
        }
        let bytes = self.list(&shape)?;
        TensorLiteral::new(dtype, &shape, &bytes).map_err(|e| (first, e.to_string()))
    }

    fn external_bytes(&mut self) -> Result<Vec<u8>, LiteralProblem> {
        let first = self.token;
        // The parts are in this order, as checked when they were skipped.
        let mut part = |skip: usize| {
            (0..skip).for_each(|_| self.advance());
            (self.token, self.lexer.text(self.token))
        };
        let ((name_at, name), (offset_at, offset), (length_at, length)) =
            (part(2), part(2), part(2));
        let file = read_string(name).map_err(|why| (name_at, why))?;
        let number = |at: Token, text: &str| {
            text.parse::<u64>().map_err(|_| (at, format!("{text} is not a number of bytes")))
        };
        let range = (number(offset_at, offset)?, number(length_at, length)?);
        let size = self.ty.dtype.byte_size() as u64;
        let expected = self.ty.num_elements().and_then(|n| n.checked_mul(size));
        fetch_external(self.external, &file, range, expected)
            .map_err(|why| (first, format!("the literal in `{file}`: {why}")))
    }

    // Reads nested lists, as deep as the rank, without recursion.
    fn list(&mut self, shape: &[u64]) -> Result<Vec<u8>, LiteralProblem> {
        let mut bytes = Vec::new();
        let mut counts: SmallVec<[u64; 4]> = SmallVec::new();
        // An empty tensor may be written as `[]`, whatever its rank.
        let empty = shape.contains(&0);
        loop {
            let level = counts.len();
            match self.token.kind {
                TokenKind::Punct(b'[') => {
                    if level == shape.len() {
                        return Err((
                            self.token,
                            format!("{} has rank {}, the lists nest deeper", self.ty, shape.len()),
                        ));
                    }
                    self.advance();
                    counts.push(0);
                    if self.token.kind != TokenKind::Punct(b']') {
                        continue;
                    }
                }
                TokenKind::Punct(b']') if level > 0 => {}
                _ => {
                    if level != shape.len() {
                        let message = format!(
                            "{} has rank {}, the lists nest {level} deep",
                            self.ty,
                            shape.len()
                        );
                        return Err((self.token, message));
                    }
                    bytes.extend_from_slice(&self.element()?);
                    if let Some(last) = counts.last_mut() {
                        *last += 1;
                    }
                }
            }
            // After an element or an opening bracket: separators and closing brackets.
            loop {
                match self.token.kind {
                    TokenKind::Punct(b',') => {
                        self.advance();
                        break;
                    }
                    TokenKind::Punct(b']') => {
                        let Some(count) = counts.pop() else {
                            return Err((self.token, "unmatched `]`".into()));
                        };
                        let level = counts.len();
                        let short = empty && bytes.is_empty() && count == 0;
                        if count != shape[level] && !short {
                            let message = format!(
                                "axis {level} of {} has {}, found {count}",
                                self.ty,
                                counted(shape[level], "entry")
                            );
                            return Err((self.token, message));
                        }
                        self.advance();
                        match counts.last_mut() {
                            Some(outer) => *outer += 1,
                            None => return Ok(bytes),
                        }
                    }
                    _ => return Err((self.token, "expected `,` or `]`".into())),
                }
            }
        }
    }

    fn element(&mut self) -> Result<SmallVec<[u8; 16]>, LiteralProblem> {
        let dtype = self.ty.dtype;
        if self.token.kind == TokenKind::Punct(b'(')
            && let Some(part) = dtype.complex_part()
        {
            self.advance();
            let mut bytes = self.number(part)?;
            if self.token.kind != TokenKind::Punct(b',') {
                return Err((self.token, "expected `,` and the imaginary part".into()));
            }
            self.advance();
            bytes.extend(self.number(part)?);
            if self.token.kind != TokenKind::Punct(b')') {
                return Err((self.token, "expected `)`".into()));
            }
            self.advance();
            return Ok(bytes);
        }
        self.number(dtype)
    }

    fn number(&mut self, dtype: DataType) -> Result<SmallVec<[u8; 16]>, LiteralProblem> {
        let token = self.token;
        let text = self.text();
        let bytes = match token.kind {
            TokenKind::Word => match text {
                "true" if dtype.is_bool() => int_element(dtype, 1),
                "false" if dtype.is_bool() => int_element(dtype, 0),
                "nan" => float_element(dtype, f64::NAN),
                "inf" => float_element(dtype, f64::INFINITY),
                _ => None,
            },
            TokenKind::Int if dtype.is_bool() => None,
            TokenKind::Int if dtype.holds_integers() => {
                text.parse().ok().and_then(|n| int_element(dtype, n))
            }
            TokenKind::Float if text == "-nan" && !dtype.holds_integers() && !dtype.is_bool() => {
                let digits = 2 * dtype.byte_size();
                let message = format!(
                    "a NaN is written without a sign: `nan`, or its bits, `0x` and {digits} digits"
                );
                return Err((token, message));
            }
            TokenKind::Float if text == "-inf" => float_element(dtype, f64::NEG_INFINITY),
            TokenKind::Float | TokenKind::Int if dtype == DataType::F32 => text
                .parse::<f32>()
                .ok()
                .filter(|x| x.is_finite())
                .map(|x| SmallVec::from_slice(&x.to_le_bytes())),
            TokenKind::Float | TokenKind::Int => text
                .parse()
                .ok()
                .filter(|x: &f64| x.is_finite())
                .and_then(|x| float_element(dtype, x)),
            TokenKind::Hex => {
                let digits = &text[2..];
                if digits.len() != 2 * dtype.byte_size() {
                    let expected = 2 * dtype.byte_size();
                    return Err((
                        token,
                        format!(
                            "the bits of {dtype} need {expected} hex digits, found {}",
                            digits.len()
                        ),
                    ));
                }
                bits_element(dtype, digits)
            }
            _ => return Err((token, format!("expected an element of type {dtype}"))),
        };
        let Some(bytes) = bytes else {
            return Err((token, format!("{text} does not fit {dtype}")));
        };
        self.advance();
        Ok(bytes)
    }

    fn text(&self) -> &str {
        self.lexer.text(self.token)
    }

    fn advance(&mut self) {
        self.token = self.lexer.next();
    }
}
