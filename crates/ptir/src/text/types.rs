//! Types in the text form.

use sapwood_types::DataType;

use super::attrs::is_negated_call;
use super::lexer::{TokenKind, is_word_byte};
use super::parser::{ErrorReported, Parser, memory_cost};
use crate::dims::{DimExpr, Facts, Relation};
use crate::ids::TypeId;
use crate::types::{Dim, Dims, MAX_EXTENT, MAX_RANK, MAX_TYPE_DEPTH, TensorType, ValueType};

impl Parser<'_> {
    pub(super) fn value_type(&mut self, depth: usize) -> Result<ValueType, ErrorReported> {
        if depth > MAX_TYPE_DEPTH {
            return Err(self.report(format!("tuple types nest at most {MAX_TYPE_DEPTH} deep")));
        }
        if self.token.kind != TokenKind::Word {
            return Err(self.report_expected("a type"));
        }
        self.charge_memory(memory_cost::TYPE);
        match self.lexer.text(self.token) {
            "token" => {
                self.advance();
                Ok(ValueType::Token)
            }
            "opaque" => {
                self.advance();
                Ok(ValueType::Opaque)
            }
            "tuple" => {
                self.advance();
                self.expect(b'<')?;
                let mut elements = Vec::new();
                while !self.at(b'>') {
                    elements.push(self.value_type(depth + 1)?);
                    if !self.eat(b',') && !self.at(b'>') {
                        return Err(self.report_expected("`,` or `>`"));
                    }
                }
                self.advance();
                Ok(ValueType::Tuple(elements.into()))
            }
            _ => Ok(ValueType::Tensor(self.tensor_type()?)),
        }
    }

    pub(super) fn tensor_type(&mut self) -> Result<TensorType, ErrorReported> {
        let text = self.lexer.text(self.token);
        if self.token.kind != TokenKind::Word {
            return Err(self.report_expected("a tensor type"));
        }
        let dtype = match text.parse::<DataType>() {
            Ok(dtype) if dtype.short_name() == text => dtype,
            Ok(dtype) => {
                let stop = self
                    .report_with_help(format!("unknown type `{text}`"), format!("write `{dtype}`"));
                self.skip_extents();
                return Err(stop);
            }
            Err(error) => {
                let stop = self.report(error.to_string());
                self.skip_extents();
                return Err(stop);
            }
        };
        self.advance();
        if !self.at(b'[') {
            return Err(
                self.report_expected_with_help("`[`", format!("a scalar is written `{dtype}[]`"))
            );
        }
        self.advance();
        let mut dims = Dims::new();
        while !self.at(b']') {
            dims.push(self.dim()?);
            self.charge_memory(memory_cost::INT);
            if !self.eat(b',') && !self.at(b']') {
                return Err(self.report_expected("`,` or `]`"));
            }
        }
        if dims.len() > MAX_RANK {
            return Err(
                self.report(format!("a tensor has at most {MAX_RANK} dims, found {}", dims.len()))
            );
        }
        self.advance();
        Ok(TensorType { dtype, dims })
    }

    // Reads one extent. A number alone is read without the parser of expressions.
    fn dim(&mut self) -> Result<Dim, ErrorReported> {
        let (first, text) = (self.token, self.lexer.text(self.token));
        let starts_expression = match first.kind {
            TokenKind::Int if self.lexer.continues_with(first, |b| matches!(b, b',' | b']')) => {
                return match text.parse::<u64>() {
                    Ok(n) if n <= MAX_EXTENT => {
                        self.advance();
                        Ok(Dim::Known(n))
                    }
                    _ => Err(self.report(format!("{text} is not an extent"))),
                };
            }
            TokenKind::Question => {
                if !self.lexer.continues_with(first, |b| b == b'"' || is_word_byte(b)) {
                    self.advance();
                    return Ok(Dim::Unknown);
                }
                true
            }
            TokenKind::Int | TokenKind::Punct(b'(') => true,
            TokenKind::Word => matches!(text, "floordiv" | "mod" | "min" | "max"),
            TokenKind::Bad => text == "-",
            TokenKind::Float => is_negated_call(text),
            _ => false,
        };
        if !starts_expression {
            return Err(self.report_expected("an extent: a number, `?N`, `2*?N + 1` or `?`"));
        }
        let parsed = DimExpr::parse_prefix(self.lexer.text_from(first.start as usize));
        if let Ok((expr, _)) = parsed
            && let Some(n) = expr.as_constant().filter(|&n| n < 0)
        {
            return Err(self.report(format!("{n} is not an extent")));
        }
        let expr = self.dim_expr();
        if expr.is_err() {
            self.skip_to_end_of_extents();
        }
        expr.map(Dim::from_expr)
    }

    /// Reads an expression over symbols.
    pub(super) fn dim_expr(&mut self) -> Result<DimExpr, ErrorReported> {
        let start = self.token.start as usize;
        let parsed = DimExpr::parse_prefix(self.lexer.text_from(start));
        let end = start + parsed.as_ref().map_or_else(|error| error.offset, |&(_, length)| length);
        self.advance_to(end);
        parsed.map(|(expr, _)| expr).map_err(|error| self.report(error.message))
    }

    pub(super) fn at_word(&self, word: &str) -> bool {
        self.token.kind == TokenKind::Word && self.lexer.text(self.token) == word
    }

    /// Reads `where ?B >= 1, mod(?S, 8) == 0`.
    pub(super) fn where_clause(&mut self) -> Result<(), ErrorReported> {
        let mut facts = Facts::new();
        loop {
            self.advance();
            let (first, start) = (self.token, self.token.start as usize);
            let parsed = Relation::parse_prefix(self.lexer.text_from(start));
            let length = parsed.as_ref().map_or_else(|error| error.offset, |&(_, length)| length);
            self.advance_to(start + length);
            match parsed {
                Err(error) => return Err(self.report(error.message)),
                Ok((relation, _)) => {
                    if let Err(contradiction) = facts.assume(relation) {
                        let _ = self.report_at(first, contradiction.to_string());
                    }
                }
            }
            if !self.at(b',') {
                break;
            }
        }
        self.function.set_facts(facts);
        Ok(())
    }

    // Skips the tokens before a position.
    fn advance_to(&mut self, end: usize) {
        while (self.token.start as usize) < end && self.token.kind != TokenKind::End {
            self.advance();
        }
    }

    // Skips the extents after an invalid element type, so that parsing continues after the type.
    fn skip_extents(&mut self) {
        self.advance();
        if self.eat(b'[') {
            self.skip_to_end_of_extents();
        }
    }

    // Skips the rest of a list of extents.
    fn skip_to_end_of_extents(&mut self) {
        while matches!(
            self.token.kind,
            TokenKind::Int
                | TokenKind::Float
                | TokenKind::Question
                | TokenKind::Word
                | TokenKind::Str
                | TokenKind::Bad
                | TokenKind::Punct(b',' | b'(' | b')')
        ) {
            self.advance();
        }
        self.eat(b']');
    }

    /// Reads a type and interns it. Most types are found in a cache by their text alone.
    pub(super) fn interned_type(&mut self) -> Result<TypeId, ErrorReported> {
        let start = self.token.start as usize;
        let text = self.lexer.tensor_text(self.token);
        if let Some(text) = text
            && let Some(&id) = self.type_cache.get(text)
        {
            self.lexer.continue_at(start + text.len());
            let end = self.token.column.saturating_add(text.len() as u32);
            self.advance_to_column(end);
            return Ok(id);
        }
        let ty = self.value_type(0)?;
        let id = self.function.dfg.types.intern(&ty);
        if let Some(text) = text {
            self.type_cache.insert(text, id);
        }
        Ok(id)
    }
}

/// Reads a type from a text that contains nothing else.
pub(crate) fn parse_type_text(text: &str) -> Result<ValueType, String> {
    let mut parser = Parser::for_fragment(text);
    match parser.value_type(0) {
        Ok(ty) if parser.token.kind == TokenKind::End => Ok(ty),
        Ok(_) => Err(format!("unexpected text after the type in `{text}`")),
        Err(ErrorReported) => Err(parser.first_message()),
    }
}

impl std::str::FromStr for ValueType {
    type Err = String;

    /// Reads a type in the text form: `f32[4, ?n]`, `tuple<i32[], token>`.
    fn from_str(text: &str) -> Result<Self, String> {
        parse_type_text(text)
    }
}
