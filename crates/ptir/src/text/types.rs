//! Types in the text form.

use sapwood_types::DataType;

use super::lexer::Kind;
use super::parser::{Parser, Stop, cost};
use crate::ids::TypeId;
use crate::name::Name;
use crate::types::{Dim, Dims, MAX_EXTENT, MAX_RANK, MAX_TYPE_DEPTH, TensorType, ValueType};

impl Parser<'_> {
    pub(super) fn value_type(&mut self, depth: usize) -> Result<ValueType, Stop> {
        if depth > MAX_TYPE_DEPTH {
            return Err(self.stop(format!("tuple types nest at most {MAX_TYPE_DEPTH} deep")));
        }
        if self.token.kind != Kind::Word {
            return Err(self.expected("a type"));
        }
        self.spend(cost::TYPE);
        match self.lexer.text(self.token) {
            "token" => {
                self.bump();
                Ok(ValueType::Token)
            }
            "tuple" => {
                self.bump();
                self.expect(b'<')?;
                let mut elements = Vec::new();
                while !self.at(b'>') {
                    elements.push(self.value_type(depth + 1)?);
                    if !self.eat(b',') && !self.at(b'>') {
                        return Err(self.expected("`,` or `>`"));
                    }
                }
                self.bump();
                Ok(ValueType::Tuple(elements.into()))
            }
            _ => Ok(ValueType::Tensor(self.tensor_type()?)),
        }
    }

    pub(super) fn tensor_type(&mut self) -> Result<TensorType, Stop> {
        let text = self.lexer.text(self.token);
        if self.token.kind != Kind::Word {
            return Err(self.expected("a tensor type"));
        }
        let dtype = match text.parse::<DataType>() {
            Ok(dtype) if dtype.short_name() == text => dtype,
            Ok(dtype) => {
                let stop =
                    self.stop_help(format!("unknown type `{text}`"), format!("write `{dtype}`"));
                self.skip_extents();
                return Err(stop);
            }
            Err(error) => {
                let stop = self.stop(error.to_string());
                self.skip_extents();
                return Err(stop);
            }
        };
        self.bump();
        if !self.at(b'[') {
            return Err(self.expected_help("`[`", format!("a scalar is written `{dtype}[]`")));
        }
        self.bump();
        let mut dims = Dims::new();
        while !self.at(b']') {
            let token = self.token;
            let text = self.lexer.text(token);
            let dim = match token.kind {
                Kind::Int => match text.parse::<u64>() {
                    Ok(n) if n <= MAX_EXTENT => Dim::Known(n),
                    _ => return Err(self.stop(format!("{text} is no extent"))),
                },
                Kind::Question => {
                    self.bump();
                    let text = self.lexer.text(self.token);
                    let name = match self.token.kind {
                        Kind::Word => Some(Name::new(text)),
                        Kind::Str => Some(Name::new(&self.string_of(text)?)),
                        _ => None,
                    };
                    let Some(name) = name else {
                        dims.push(Dim::Unknown);
                        self.spend(cost::INT);
                        if !self.eat(b',') && !self.at(b']') {
                            return Err(self.expected("`,` or `]`"));
                        }
                        continue;
                    };
                    Dim::Named(name)
                }
                _ => return Err(self.expected("an extent: a number, `?N` or `?`")),
            };
            self.bump();
            dims.push(dim);
            self.spend(cost::INT);
            if !self.eat(b',') && !self.at(b']') {
                return Err(self.expected("`,` or `]`"));
            }
        }
        if dims.len() > MAX_RANK {
            return Err(
                self.stop(format!("a tensor has at most {MAX_RANK} dims, this one {}", dims.len()))
            );
        }
        self.bump();
        Ok(TensorType { dtype, dims })
    }

    // The element type is wrong; the rest of the type is passed over so that reading goes on behind it.
    fn skip_extents(&mut self) {
        self.bump();
        if !self.eat(b'[') {
            return;
        }
        while matches!(
            self.token.kind,
            Kind::Int | Kind::Question | Kind::Word | Kind::Str | Kind::Punct(b',')
        ) {
            self.bump();
        }
        self.eat(b']');
    }

    /// A type, interned. The same text gives the same type, so most are found by their text alone.
    pub(super) fn interned_type(&mut self) -> Result<TypeId, Stop> {
        let start = self.token.start as usize;
        let text = self.lexer.tensor_text(self.token);
        if let Some(text) = text
            && let Some(&id) = self.type_cache.get(text)
        {
            self.lexer.jump(start + text.len());
            let end = self.token.column.saturating_add(text.len() as u32);
            self.bump_to(end);
            return Ok(id);
        }
        let ty = self.value_type(0)?;
        let id = self.function.types.intern(&ty);
        if let Some(text) = text {
            self.type_cache.insert(text, id);
        }
        Ok(id)
    }
}

/// Reads a type from a text of its own.
pub(crate) fn parse_type_text(text: &str) -> Result<ValueType, String> {
    let mut parser = Parser::for_fragment(text);
    match parser.value_type(0) {
        Ok(ty) if parser.token.kind == Kind::End => Ok(ty),
        Ok(_) => Err(format!("`{text}` goes on after the type")),
        Err(Stop) => Err(parser.first_message()),
    }
}

impl std::str::FromStr for ValueType {
    type Err = String;

    /// Reads a type as programs write it: `f32[4, ?n]`, `tuple<i32[], token>`.
    fn from_str(text: &str) -> Result<Self, String> {
        parse_type_text(text)
    }
}
