//! Operands: names, numbers, brackets and `pi.…`.

use std::str::FromStr as _;

use sapwood_types::{DataType, Span, did_you_mean};

use super::expr::{CallTarget, OpenConstruct};
use super::lexer::TokenKind;
use super::name_scope::NamedEntity;
use super::value::{Magnitude, ParsedNumber, ParsedValue, ParsedValueKind};
use super::{ParseFailed, ParseResult, Parser, Token};
use crate::nodes::{BinaryOp, Callee, Expr, ExprRef, Type, UnaryOp, Var};

/// The names that may follow `pi.` in an expression, in addition to data types.
const NAMES_AFTER_PI: [&str; 12] = [
    "FunctionType",
    "TensorType",
    "TupleType",
    "UnknownType",
    "cast",
    "global_",
    "neg",
    "op",
    "result",
    "typed",
    "xor",
    "yield_",
];

/// The maximum number of errors that search for a similar name.
const MAX_NAME_SUGGESTIONS: usize = 20;

/// The content of a parenthesis.
enum ParenContent {
    Empty,
    /// An operand, whose first name may already be read.
    Operand(Option<Token>),
}

impl<'s> Parser<'s> {
    /// Reads prefix operators and brackets up to an operand, and the operand; in a call or list, up to its first operand.
    pub(super) fn read_operand(&mut self, first: Option<Token>) -> ParseResult<()> {
        let mut first = first;
        loop {
            let token = match first.take() {
                Some(token) => token,
                None if self.at_keyword_argument() => {
                    first = self.read_keyword();
                    continue;
                }
                None => {
                    let starts = match self.token.kind {
                        TokenKind::Name | TokenKind::Int | TokenKind::Float | TokenKind::Str => {
                            true
                        }
                        TokenKind::Symbol(bytes) => {
                            matches!(&bytes, b"(\0\0" | b"[\0\0" | b"-\0\0" | b"~\0\0")
                        }
                        TokenKind::Keyword => {
                            matches!(self.text(self.token), "not" | "True" | "False")
                        }
                        _ => false,
                    };
                    if !starts {
                        return Err(self.report_expected("an expression"));
                    }
                    self.advance()
                }
            };
            let span = self.lexer.span(token);
            let opened = match token.kind {
                TokenKind::Name => self.read_name(token, span)?,
                TokenKind::Int => {
                    self.push_int(token, span)?;
                    false
                }
                TokenKind::Float => {
                    let text = without_underscores(self.text(token));
                    let (Ok(wide), Ok(single)) = (text.parse::<f64>(), text.parse::<f32>()) else {
                        return Err(self.report(span, "not a number"));
                    };
                    let magnitude = Magnitude::Float(wide, single);
                    let number = ParsedNumber { magnitude, is_negative: false };
                    self.value_stack.push(ParsedValue::new(ParsedValueKind::Number(number), span));
                    false
                }
                TokenKind::Str => {
                    let text = self.string_content(token)?;
                    self.value_stack.push(ParsedValue::new(ParsedValueKind::Str(text), span));
                    false
                }
                TokenKind::Keyword => match self.text(token) {
                    "not" => {
                        // Python binds `not` looser than these operators.
                        if self.open_constructs.last().is_some_and(|frame| match frame {
                            OpenConstruct::Binary(op) => {
                                !matches!(op, BinaryOp::And | BinaryOp::Or)
                            }
                            OpenConstruct::Unary(op, _) => *op != UnaryOp::Not,
                            _ => false,
                        }) {
                            let help = "put it in parentheses: `(not x)`";
                            let message = "`not` right after an operator that binds tighter";
                            return Err(self.report_with_help(span, message, help));
                        }
                        self.open_constructs.push(OpenConstruct::Unary(UnaryOp::Not, span));
                        continue;
                    }
                    text => {
                        let value = Expr::const_bool(text == "True", span);
                        self.value_stack.push(ParsedValue::new(ParsedValueKind::Expr(value), span));
                        false
                    }
                },
                TokenKind::Symbol(bytes) => match bytes[0] {
                    b'-' => {
                        self.open_constructs.push(OpenConstruct::Unary(UnaryOp::Neg, span));
                        continue;
                    }
                    b'~' => {
                        self.open_constructs.push(OpenConstruct::Unary(UnaryOp::BitNot, span));
                        continue;
                    }
                    b'(' => match self.open_paren(span) {
                        ParenContent::Empty => return Ok(()),
                        ParenContent::Operand(token) => {
                            first = token;
                            continue;
                        }
                    },
                    _ => {
                        let base = self.value_stack.len();
                        self.open_constructs.push(OpenConstruct::List { start: span, base });
                        true
                    }
                },
                _ => false,
            };
            if !opened {
                return Ok(());
            }
            // An empty list or call is closed at once.
            let close = if matches!(self.open_constructs.last(), Some(OpenConstruct::List { .. })) {
                "]"
            } else {
                ")"
            };
            if self.eat(close) {
                return self.close_bracket();
            }
        }
    }

    /// Opens a parenthesis after its `(`.
    fn open_paren(&mut self, start: Span) -> ParenContent {
        let base = self.value_stack.len();
        if self.eat(")") {
            let span = start.to(self.last_span);
            self.value_stack.push(ParsedValue::operation(Expr::make_tuple([], span), span));
            return ParenContent::Empty;
        }
        let (mut name, mut first) = (None, None);
        if self.token.kind == TokenKind::Name {
            let token = self.advance();
            if self.eat(":=") {
                name = Some(self.text(token));
            } else {
                first = Some(token);
            }
        }
        self.open_constructs.push(OpenConstruct::Paren { start, name, base, comma: false });
        ParenContent::Operand(first)
    }

    /// Returns whether the next token may be the name of an attribute: a name in the arguments of an op.
    fn at_keyword_argument(&self) -> bool {
        self.token.kind == TokenKind::Name
            && matches!(
                self.open_constructs.last(),
                Some(OpenConstruct::Call { target: CallTarget::Op { .. }, .. })
            )
    }

    /// Reads `name=` in the arguments of an op; returns the token if it is not the name of an attribute.
    fn read_keyword(&mut self) -> Option<Token> {
        let token = self.advance();
        if !self.eat("=") {
            return Some(token);
        }
        let (name, span, at) = (self.text(token), self.lexer.span(token), self.value_stack.len());
        if let Some(OpenConstruct::Call { keywords, .. }) = self.open_constructs.last_mut() {
            keywords.push((name, span, at));
        }
        // The value is not in the arguments of the op for this purpose: `f(a=b=1)` is an error.
        None
    }

    fn push_int(&mut self, token: Token, span: Span) -> ParseResult<()> {
        if has_leading_zero(self.text(token)) {
            return Err(self.report_leading_zero(span));
        }
        match parse_integer(self.text(token)) {
            Some(magnitude) if magnitude <= 1 << 127 => {
                let magnitude = Magnitude::Int(magnitude);
                let number = ParsedNumber { magnitude, is_negative: false };
                self.value_stack.push(ParsedValue::new(ParsedValueKind::Number(number), span));
                Ok(())
            }
            _ => Err(self.report_int_too_large(span)),
        }
    }

    fn report_leading_zero(&mut self, span: Span) -> ParseFailed {
        let help =
            "Python has no such numbers; write it without the zero, or with `0o` if it is octal";
        self.report_with_help(span, "an integer with a zero before it", help)
    }

    fn open_call(&mut self, target: CallTarget, start: Span) {
        let base = self.value_stack.len();
        self.open_constructs.push(OpenConstruct::Call {
            target,
            start,
            base,
            keywords: Vec::new(),
        });
    }

    /// Reads a name: a variable, a named part, or the target of a call. Returns whether it opened a call.
    fn read_name(&mut self, token: Token, span: Span) -> ParseResult<bool> {
        let name = self.text(token);
        if name == "pi" && self.at(".") {
            self.advance();
            return self.read_after_pi(span);
        }
        if self.eat("(") {
            let target = match name {
                "min" => CallTarget::Binary(BinaryOp::Min),
                "max" => CallTarget::Binary(BinaryOp::Max),
                "abs" => CallTarget::Unary(UnaryOp::Abs),
                "range" => {
                    return Err(self.report(span, "`range` outside the header of a loop"));
                }
                _ => CallTarget::Callee(Callee::global_var_at(name, span)),
            };
            self.open_call(target, span);
            return Ok(true);
        }
        let kind = match self.scope.get(name) {
            Some(NamedEntity::Var(expr) | NamedEntity::Expr(expr)) => {
                ParsedValueKind::Expr(expr.clone())
            }
            Some(NamedEntity::Type(ty)) => ParsedValueKind::Type(ty.clone()),
            Some(NamedEntity::Invalid) => ParsedValueKind::Invalid,
            None => self.report_unknown_name(name, span),
        };
        self.value_stack.push(ParsedValue::new(kind, span));
        Ok(false)
    }

    pub(super) fn report_unknown_name(&mut self, name: &'s str, span: Span) -> ParsedValueKind {
        if self.suppress_name_errors > 0 {
            return ParsedValueKind::Invalid;
        }
        self.name_suggestions += 1;
        let close = (self.name_suggestions <= MAX_NAME_SUGGESTIONS)
            .then(|| did_you_mean(name, self.scope.names()))
            .flatten();
        let shown: String = name.chars().take(60).collect();
        if self.token.kind == TokenKind::Str {
            let message = format!("a string with the prefix `{shown}`");
            self.report_with_help(span, message, "only plain strings are read, as attributes");
            return ParsedValueKind::Invalid;
        }
        let message = format!("unknown name `{shown}`");
        let statement = match name {
            "match" => Some("a `match` statement cannot be written here; use `if` and `elif`"),
            "type" => Some("a type cannot be given a name here; write the type itself"),
            "tuple" | "list" => Some(
                "several results are in parentheses, `-> (pi.INT64, pi.FP32)`; the type of a tuple is `pi.TupleType([pi.INT64, pi.FP32])`",
            ),
            "int" => Some(
                "types are those of the IR, such as `pi.INT64`; `pi.cast(x, pi.INT64)` converts a value",
            ),
            "float" => Some(
                "types are those of the IR, such as `pi.FP32`; `pi.cast(x, pi.FP32)` converts a value",
            ),
            "np" | "numpy" | "jnp" | "torch" | "math" => Some(
                "functions of Python and its libraries cannot be called; ops are called `pi.op.name(x)`",
            ),
            "bool" => Some(
                "types are those of the IR, such as `pi.BOOL`; `pi.cast(x, pi.BOOL)` converts a value",
            ),
            _ => None,
        };
        if let Some(help) = statement {
            self.report_with_help(span, message, help);
            return ParsedValueKind::Invalid;
        }
        match close {
            Some(close) => {
                self.report_with_help(span, message, format!("did you mean `{close}`?"));
            }
            None => {
                self.report(span, message);
            }
        }
        self.scope.set(name, NamedEntity::Invalid);
        ParsedValueKind::Invalid
    }

    /// Reads the name after `pi.`. Returns whether it opened a call.
    fn read_after_pi(&mut self, start: Span) -> ParseResult<bool> {
        let (name, place) = self.expect_name("a name after `pi.`")?;
        self.read_pi_name(name, start, place)
    }

    pub(super) fn read_pi_name(
        &mut self,
        name: &'s str,
        start: Span,
        place: Span,
    ) -> ParseResult<bool> {
        let target = match name {
            "op" => return self.read_op_name(start),
            "global_" => {
                self.expect("(", "after `pi.global_`")?;
                let name = self.read_string("the name of the function")?;
                self.expect(")", "after the name")?;
                CallTarget::Callee(Callee::global_var_at(&name, start.to(self.last_span)))
            }
            "xor" => CallTarget::Binary(BinaryOp::Xor),
            "neg" => CallTarget::Unary(UnaryOp::Neg),
            "cast" => CallTarget::Unary(UnaryOp::Cast),
            "typed" => CallTarget::Typed,
            "TensorType" => CallTarget::TensorType,
            "TupleType" => CallTarget::TupleType,
            "FunctionType" => CallTarget::FunctionType,
            "UnknownType" => {
                self.expect("(", "after `pi.UnknownType`")?;
                self.expect(")", "after `pi.UnknownType(`")?;
                let span = start.to(self.last_span);
                self.value_stack.push(ParsedValue::ty(&Type::unknown(), span));
                return Ok(false);
            }
            "result" => {
                self.expect("(", "after `pi.result`")?;
                let token = self.advance();
                let number = match token.kind {
                    TokenKind::Int => {
                        parse_integer(self.text(token)).and_then(|n| u32::try_from(n).ok())
                    }
                    _ => None,
                };
                let Some(number) = number else {
                    let span = self.lexer.span(token);
                    return Err(self.report(span, "expected the number of a result, from 0"));
                };
                self.expect(")", "after the number")?;
                self.value_stack.push(ParsedValue::new(
                    ParsedValueKind::Result(number),
                    start.to(self.last_span),
                ));
                return Ok(false);
            }
            name => match DataType::from_str(name) {
                Ok(dtype) if self.at("(") => {
                    self.advance();
                    let expr = self.read_typed_number(dtype, start)?;
                    self.value_stack.push(ParsedValue::new(
                        ParsedValueKind::Expr(expr),
                        start.to(self.last_span),
                    ));
                    return Ok(false);
                }
                Ok(dtype) => {
                    let span = start.to(self.last_span);
                    self.value_stack.push(ParsedValue::ty(&Type::scalar(dtype), span));
                    return Ok(false);
                }
                Err(error) => {
                    let documents = DataType::ALL.iter().map(|dtype| dtype.document_name());
                    let close = did_you_mean(name, NAMES_AFTER_PI.into_iter().chain(documents));
                    let spelling = crate::ops::spelling(name);
                    let help = match close {
                        _ if spelling.is_some() => {
                            format!("write {}", spelling.unwrap_or_default())
                        }
                        Some(close) => format!("did you mean `pi.{close}`?"),
                        None => format!(
                            "expected {} or a data type",
                            NAMES_AFTER_PI.map(|name| format!("`pi.{name}`")).join(", ")
                        ),
                    };
                    let message = format!("unknown name `pi.{}`", error.name());
                    return Err(self.report_with_help(place, message, help));
                }
            },
        };
        self.expect("(", &format!("after `pi.{name}`"))?;
        self.open_call(target, start);
        Ok(true)
    }

    /// Reads the rest of `pi.op.name(` or `pi.op("name")(` after `pi.op`.
    fn read_op_name(&mut self, start: Span) -> ParseResult<bool> {
        let name = if self.eat("(") {
            let name = self.read_string("the name of the operation")?;
            self.expect(")", "after the name")?;
            name
        } else {
            let mut name = String::new();
            while self.eat(".") {
                if !name.is_empty() {
                    name.push('.');
                }
                let (part, _) = self.expect_name("a name after `.`")?;
                name.push_str(part);
            }
            if name.is_empty() {
                return Err(self.report_expected("`.name` or `(\"name\")` after `pi.op`"));
            }
            name
        };
        let op_name_span = start.to(self.last_span);
        self.expect("(", "after the operation")?;
        let span = op_name_span;
        self.open_call(CallTarget::Op { name, span }, start);
        Ok(true)
    }

    /// Reads the rest of `pi.INT32(…)` after the parenthesis.
    fn read_typed_number(&mut self, dtype: DataType, start: Span) -> ParseResult<ExprRef> {
        let negative = self.eat("-");
        let token = self.token;
        let span = self.lexer.span(token);
        let text = self.text(token);
        if token.kind == TokenKind::Int && has_leading_zero(text) {
            return Err(self.report_leading_zero(span));
        }
        let number = match token.kind {
            TokenKind::Int if dtype.is_integer() => {
                self.advance();
                let magnitude = parse_integer(text).filter(|number| *number <= 1 << 127);
                let value = magnitude.and_then(|magnitude| {
                    if negative {
                        0i128.checked_sub_unsigned(magnitude)
                    } else {
                        i128::try_from(magnitude).ok()
                    }
                });
                let Some(value) = value else { return Err(self.report_int_too_large(span)) };
                Ok(value)
            }
            TokenKind::Float | TokenKind::Int if dtype.is_float() => {
                self.advance();
                let whole = parse_integer(text).map(|number| format!("{number}"));
                let text = whole.map_or_else(|| without_underscores(text), Into::into);
                let value = if dtype == DataType::F32 {
                    text.parse::<f32>().map(f64::from)
                } else {
                    text.parse::<f64>()
                };
                let value = value.unwrap_or(f64::NAN);
                if !crate::float::round_to_dtype(dtype, value).is_finite() {
                    let name = dtype.document_name();
                    let message = format!("the number is out of the range of {name}");
                    let help = format!("write `pi.{name}(\"nan\")` or a number in its range");
                    return Err(self.report_with_help(span, message, help));
                }
                Err(if negative { -value } else { value })
            }
            TokenKind::Str if dtype.is_float() && !negative => {
                let value = match self.read_string("a number")?.as_str() {
                    "nan" => f64::NAN,
                    "inf" => f64::INFINITY,
                    "-inf" => f64::NEG_INFINITY,
                    _ => {
                        let help = "expected \"nan\", \"inf\" or \"-inf\"";
                        return Err(self.report_with_help(span, "not a number", help));
                    }
                };
                if value.is_infinite() && crate::float::round_to_dtype(dtype, value).is_nan() {
                    let name = dtype.document_name();
                    let message = format!("{name} has no infinity");
                    let help = format!("write `pi.{name}(\"nan\")` or a number in its range");
                    return Err(self.report_with_help(span, message, help));
                }
                Err(value)
            }
            _ => {
                let literal = match dtype {
                    _ if dtype.is_integer() => "an integer such as `5`",
                    _ if dtype.is_float() => "a float such as `5.0`",
                    _ => "no constant (this data type has none)",
                };
                let (name, found) = (dtype.document_name(), self.describe_token());
                let message = format!("expected {literal} in `pi.{name}(…)`, found {found}");
                let help = format!("`pi.cast(x, pi.{name})` converts a value");
                return Err(self.report_with_help(self.here(), message, help));
            }
        };
        self.expect(")", "after the number")?;
        let whole = start.to(self.last_span);
        match number {
            Ok(int) => self.const_int(int, dtype, whole),
            Err(float) => self.const_float(float, dtype, whole),
        }
    }

    /// Returns the variable that a name is bound to here: the existing one, or a new one.
    pub(super) fn bind_var(
        &mut self,
        name: &'s str,
        span: Span,
        new: impl FnOnce() -> Var,
    ) -> ParseResult<Var> {
        match self.scope.get(name) {
            Some(NamedEntity::Var(expr)) => Var::try_from(expr).map_err(|_| ParseFailed),
            Some(NamedEntity::Expr(_) | NamedEntity::Type(_)) => {
                let message = format!("`{name}` is the name of a part of an expression");
                Err(self.report_with_help(span, message, "give the variable another name"))
            }
            Some(NamedEntity::Invalid) | None => {
                let var = new();
                self.scope.set(name, NamedEntity::Var(var.expr().clone()));
                Ok(var)
            }
        }
    }
}

/// Returns the value of an integer token: decimal, or with the prefix `0x`, `0o` or `0b`; underscores separate digits.
pub(super) fn parse_integer(text: &str) -> Option<u128> {
    let digits = without_underscores(text);
    let (radix, digits) = match digits.get(..2) {
        Some("0x" | "0X") => (16, &digits[2..]),
        Some("0o" | "0O") => (8, &digits[2..]),
        Some("0b" | "0B") => (2, &digits[2..]),
        _ => (10, &*digits),
    };
    u128::from_str_radix(digits, radix).ok()
}

/// Returns whether a decimal integer other than zero starts with a zero.
fn has_leading_zero(text: &str) -> bool {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    text.starts_with('0') && digits(text) && text.bytes().any(|byte| (b'1'..=b'9').contains(&byte))
}

fn without_underscores(text: &str) -> std::borrow::Cow<'_, str> {
    if text.contains('_') { text.replace('_', "").into() } else { text.into() }
}
