//! Attributes in the text form.

use std::fmt::Write;

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;
use sapwood_types::{DataType, write_signed_decimal};

use super::external::LongLiteralMode;
use super::lexer::{TokenKind, is_word, read_string, write_string};
use super::literal::write_literal;
use super::parser::{ErrorReported, Parser, memory_cost};
use crate::attr::{Attr, Ints, MAX_ATTR_DEPTH};
use crate::name::Name;

/// Writes a name, in quotes if it is not a word.
pub(super) fn write_name(out: &mut String, name: &str) {
    if is_word(name) {
        out.push_str(name);
    } else {
        write_string(out, name);
    }
}

/// Writes an attribute.
pub(crate) fn write_attr(out: &mut String, attr: &Attr, long: &mut LongLiteralMode<'_>) {
    match attr {
        Attr::Unit => out.push_str("none"),
        Attr::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        Attr::Int(n) => write_signed_decimal(out, *n),
        Attr::Float(bits) => {
            let x = bits.get();
            let _ = if x.is_nan() && bits.0 != f64::NAN.to_bits() {
                write!(out, "0x{:016x}", bits.0)
            } else if x.is_nan() {
                out.write_str("nan")
            } else if x.is_infinite() {
                out.write_str(if x > 0.0 { "inf" } else { "-inf" })
            } else {
                write!(out, "{x:?}")
            };
        }
        Attr::Str(text) => write_string(out, text),
        Attr::Word(name) => {
            if is_plain_word(name.as_str()) {
                out.push_str(name.as_str());
            } else {
                out.push_str("word ");
                write_string(out, name.as_str());
            }
        }
        Attr::Func(name) => {
            out.push('@');
            write_name(out, name.as_str());
        }
        Attr::Type(dtype) => out.push_str(dtype.short_name()),
        Attr::Ints(list) => {
            out.push('[');
            for (i, n) in list.iter().enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                write_signed_decimal(out, *n);
            }
            out.push(']');
        }
        Attr::Dim(expr) => {
            let _ = write!(out, "{expr}");
        }
        Attr::List(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                write_attr(out, item, long);
            }
            out.push(']');
        }
        Attr::Dict(entries) => {
            out.push('{');
            for (i, (name, item)) in entries.iter().enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                write_name(out, name.as_str());
                out.push_str(" = ");
                write_attr(out, item, long);
            }
            out.push('}');
        }
        Attr::Literal(literal) => {
            out.push_str("literal(");
            write_literal(out, literal, long);
            let _ = write!(out, " : {})", literal.ty());
        }
    }
}

// Returns whether a word reads back as a word and not as another attribute.
fn is_plain_word(text: &str) -> bool {
    is_word(text)
        && !matches!(text, "true" | "false" | "nan" | "inf" | "none" | "word" | "literal")
        && text.parse::<DataType>().is_err()
}

/// Returns whether a token is the start of an expression such as `-max(?S, 8)`. The lexer reads a sign and a word as one token, as in `-inf`.
pub(super) fn is_negated_call(text: &str) -> bool {
    matches!(text, "-floordiv" | "-mod" | "-min" | "-max")
}

impl Parser<'_> {
    /// Reads any attribute. Nesting is bounded, so recursion is harmless.
    pub(super) fn attr(&mut self, depth: usize) -> Result<Attr, ErrorReported> {
        if depth > MAX_ATTR_DEPTH {
            return Err(self.report(format!("attributes nest at most {MAX_ATTR_DEPTH} deep")));
        }
        self.charge_memory(memory_cost::ATTR);
        let token = self.token;
        let text = self.lexer.text(token);
        let attr = match token.kind {
            TokenKind::Int => match text.parse::<i64>() {
                Ok(n) => Attr::Int(n),
                Err(_) => return Err(self.report(format!("{text} does not fit a 64-bit integer"))),
            },
            TokenKind::Float => match text {
                "-inf" => Attr::float(f64::NEG_INFINITY),
                "-nan" => {
                    let help = "write `nan`, or the bits: `0xfff8000000000000`".into();
                    let message = "a NaN is written without a sign".into();
                    return Err(self.report_with_help(message, help));
                }
                _ => match text.parse::<f64>() {
                    Ok(x) if x.is_finite() => Attr::float(x),
                    _ => return Err(self.report(format!("{text} does not fit f64"))),
                },
            },
            TokenKind::Hex => match u64::from_str_radix(&text[2..], 16) {
                Ok(bits) if text.len() == 18 => Attr::float(f64::from_bits(bits)),
                _ => {
                    return Err(self.report(format!(
                        "the bits of a float need 16 digits, found {}",
                        text.len() - 2
                    )));
                }
            },
            TokenKind::Str => Attr::Str(self.string_of(text)?.into()),
            TokenKind::Func => Attr::Func(self.func_name(text)?),
            TokenKind::Punct(b'[') => {
                self.advance();
                // Most lists contain only integers.
                let mut ints = Ints::new();
                while self.token.kind == TokenKind::Int && !self.starts_expression() {
                    let Ok(n) = self.lexer.text(self.token).parse::<i64>() else { break };
                    ints.push(n);
                    self.charge_memory(memory_cost::INT);
                    self.advance();
                    if !self.eat(b',') && !self.at(b']') {
                        return Err(self.report_expected("`,` or `]`"));
                    }
                }
                if self.eat(b']') {
                    return Ok(Attr::Ints(ints));
                }
                let mut items: Vec<Attr> = ints.into_iter().map(Attr::Int).collect();
                while !self.at(b']') {
                    items.push(match self.starts_expression() {
                        true => Attr::dim(self.dim_expr()?),
                        false => self.attr(depth + 1)?,
                    });
                    if !self.eat(b',') && !self.at(b']') {
                        return Err(self.report_expected("`,` or `]`"));
                    }
                }
                self.advance();
                return Ok(Attr::list(items));
            }
            TokenKind::Punct(b'{') => {
                self.advance();
                self.braces += 1;
                let mut entries: Vec<(Name, Attr)> = Vec::new();
                let mut seen: HashSet<Name, FxBuildHasher> = HashSet::default();
                while !self.at(b'}') {
                    let token = self.token;
                    let key = self.key()?;
                    self.charge_memory(memory_cost::KEY);
                    let twice = !seen.insert(key);
                    if twice {
                        let _ = self.report_at(token, format!("`{key}` is given twice"));
                    }
                    self.expect(b'=')?;
                    let attr = self.attr(depth + 1)?;
                    if !twice {
                        entries.push((key, attr));
                    }
                    if !self.eat(b',') && !self.at(b'}') {
                        return Err(self.report_expected("`,` or `}`"));
                    }
                }
                self.advance();
                self.braces -= 1;
                return Ok(Attr::dict(entries));
            }
            TokenKind::Word => match text {
                "true" => Attr::Bool(true),
                "false" => Attr::Bool(false),
                "nan" => Attr::float(f64::NAN),
                "inf" => Attr::float(f64::INFINITY),
                "none" => Attr::Unit,
                "literal" => {
                    self.advance();
                    self.expect(b'(')?;
                    let range = self.skip_literal()?;
                    self.expect(b':')?;
                    let ty = self.tensor_type()?;
                    let literal = self.literal(&range, &ty)?;
                    self.expect(b')')?;
                    return Ok(Attr::Literal(literal));
                }
                "word" => {
                    self.advance();
                    if self.token.kind != TokenKind::Str {
                        return Ok(Attr::word("word"));
                    }
                    let text = self.string_of(self.lexer.text(self.token))?;
                    self.advance();
                    return Ok(Attr::word(&text));
                }
                _ => match text.parse::<DataType>() {
                    Ok(dtype) if dtype.short_name() == text => Attr::Type(dtype),
                    _ => Attr::word(text),
                },
            },
            _ => return Err(self.report_expected("an attribute")),
        };
        self.advance();
        Ok(attr)
    }

    // Returns whether an entry of a list is an expression over symbols, and not a number or a word alone.
    fn starts_expression(&self) -> bool {
        let first = self.token;
        match first.kind {
            TokenKind::Question | TokenKind::Punct(b'(') => true,
            TokenKind::Int => !self.lexer.continues_with(first, |b| matches!(b, b',' | b']')),
            TokenKind::Word => {
                matches!(self.lexer.text(first), "floordiv" | "mod" | "min" | "max")
                    && self.lexer.continues_with(first, |b| b == b'(')
            }
            TokenKind::Bad => self.lexer.text(first) == "-",
            TokenKind::Float => is_negated_call(self.lexer.text(first)),
            _ => false,
        }
    }

    /// Reads the key of a dictionary entry.
    pub(super) fn key(&mut self) -> Result<Name, ErrorReported> {
        let text = self.lexer.text(self.token);
        let name = match self.token.kind {
            TokenKind::Word => Name::new(text),
            TokenKind::Str => Name::new(&self.string_of(text)?),
            _ => return Err(self.report_expected("the name of an attribute")),
        };
        self.advance();
        Ok(name)
    }

    pub(super) fn string_of(&mut self, quoted: &str) -> Result<String, ErrorReported> {
        read_string(quoted).map_err(|why| self.report(why))
    }

    pub(super) fn func_name(&mut self, text: &str) -> Result<Name, ErrorReported> {
        let name = &text[1..];
        Ok(if name.starts_with('"') { Name::new(&self.string_of(name)?) } else { Name::new(name) })
    }
}
