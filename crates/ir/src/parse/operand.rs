//! Reading what an operator stands between: names, numbers, brackets and `pi.…`.

use std::str::FromStr as _;

use sapwood_types::{DataType, Span, did_you_mean};

use super::expr::{Frame, What};
use super::lexer::Tok;
use super::scope::Meaning;
use super::value::{Kind, Val};
use super::{Failed, Parsed, Parser, Token};
use crate::nodes::{BinaryOp, Callee, Expr, ExprRef, Type, UnaryOp, Var};

/// What may stand after `pi.` in an expression, besides data types.
const AFTER_PI: [&str; 12] = [
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

/// How many complaints search for a similar name among all that are known.
const MOST_SEARCHES: usize = 20;

/// What is inside a parenthesis.
enum Inside {
    Nothing,
    /// An operand, whose first name may be read already.
    Operand(Option<Token>),
}

impl<'s> Parser<'s> {
    /// Reads signs and brackets up to an operand, and the operand. A call or list that is opened
    /// and not empty goes on to its first operand.
    pub(super) fn operand(&mut self, first: Option<Token>) -> Parsed<()> {
        let mut first = first;
        loop {
            let token = match first.take() {
                Some(token) => token,
                None => {
                    let starts = match self.token.tok {
                        Tok::Name | Tok::Int | Tok::Float => true,
                        Tok::Sign(bytes) => matches!(&bytes, b"(\0" | b"[\0" | b"-\0" | b"~\0"),
                        Tok::Keyword => {
                            matches!(self.text(self.token), "not" | "True" | "False")
                        }
                        _ => false,
                    };
                    if !starts {
                        return Err(self.expected("an expression"));
                    }
                    self.advance()
                }
            };
            let span = self.lexer.span(token);
            let opened = match token.tok {
                Tok::Name => self.name(token, span)?,
                Tok::Int => {
                    self.number(token, span)?;
                    false
                }
                Tok::Float => {
                    let Ok(value) = self.text(token).parse::<f32>() else {
                        return Err(self.problem(span, "not a number"));
                    };
                    if value.is_infinite() {
                        let help = "say `pi.FP64(…)` for a larger type, or `pi.FP32(\"inf\")`";
                        return Err(self.problem_with_help(
                            span,
                            "the number is out of the range of FP32",
                            help,
                        ));
                    }
                    self.values.push(Val::new(Kind::Float(value), span));
                    false
                }
                Tok::Keyword => match self.text(token) {
                    "not" => {
                        // Python binds `not` looser than these operators do.
                        if self.frames.last().is_some_and(|frame| match frame {
                            Frame::Binary(op) => !matches!(op, BinaryOp::And | BinaryOp::Or),
                            Frame::Unary(op, _) => *op != UnaryOp::Not,
                            _ => false,
                        }) {
                            let help = "put it in parentheses: `(not x)`";
                            let message = "`not` right after an operator that binds tighter";
                            return Err(self.problem_with_help(span, message, help));
                        }
                        self.frames.push(Frame::Unary(UnaryOp::Not, span));
                        continue;
                    }
                    text => {
                        let value = Expr::const_bool(text == "True", span);
                        self.values.push(Val::new(Kind::Expr(value), span));
                        false
                    }
                },
                Tok::Sign(bytes) => match bytes[0] {
                    b'-' => {
                        self.frames.push(Frame::Unary(UnaryOp::Neg, span));
                        continue;
                    }
                    b'~' => {
                        self.frames.push(Frame::Unary(UnaryOp::BitNot, span));
                        continue;
                    }
                    b'(' => match self.paren(span) {
                        Inside::Nothing => return Ok(()),
                        Inside::Operand(token) => {
                            first = token;
                            continue;
                        }
                    },
                    _ => {
                        let base = self.values.len();
                        self.frames.push(Frame::List { start: span, base });
                        true
                    }
                },
                _ => false,
            };
            if !opened {
                return Ok(());
            }
            // An empty list closes at once.
            let close =
                if matches!(self.frames.last(), Some(Frame::List { .. })) { "]" } else { ")" };
            if self.eat(close) {
                return self.close();
            }
        }
    }

    /// After `(`.
    fn paren(&mut self, start: Span) -> Inside {
        let base = self.values.len();
        if self.eat(")") {
            let span = start.to(self.last);
            self.values.push(Val::fresh(Expr::make_tuple([], span), span));
            return Inside::Nothing;
        }
        let (mut name, mut first) = (None, None);
        if self.token.tok == Tok::Name {
            let token = self.advance();
            if self.eat(":=") {
                name = Some(self.text(token));
            } else {
                first = Some(token);
            }
        }
        self.frames.push(Frame::Paren { start, name, base, comma: false });
        Inside::Operand(first)
    }

    fn number(&mut self, token: Token, span: Span) -> Parsed<()> {
        match self.text(token).parse::<u128>() {
            Ok(magnitude) if magnitude <= 1 << 127 => {
                self.values.push(Val::new(Kind::Int(magnitude), span));
                Ok(())
            }
            _ => Err(self.too_large(span)),
        }
    }

    fn open(&mut self, what: What, start: Span) {
        let base = self.values.len();
        self.frames.push(Frame::Call { what, start, base });
    }

    /// A name: of a variable, of a part, or before a parenthesis. Whether it opened a call.
    fn name(&mut self, token: Token, span: Span) -> Parsed<bool> {
        let name = self.text(token);
        if name == "pi" && self.at(".") {
            self.advance();
            return self.after_pi(span);
        }
        if self.eat("(") {
            let what = match name {
                "min" => What::Binary(BinaryOp::Min),
                "max" => What::Binary(BinaryOp::Max),
                "abs" => What::Unary(UnaryOp::Abs),
                "range" => {
                    return Err(self.problem(span, "`range` outside the header of a loop"));
                }
                _ => What::Callee(Callee::global_var(name)),
            };
            self.open(what, span);
            return Ok(true);
        }
        let kind = match self.scope.get(name) {
            Some(Meaning::Var(expr) | Meaning::Expr(expr)) => Kind::Expr(expr.clone()),
            Some(Meaning::Type(ty)) => Kind::Type(ty.clone()),
            Some(Meaning::Nothing) => Kind::Nothing,
            None => self.unknown_name(name, span),
        };
        self.values.push(Val::new(kind, span));
        Ok(false)
    }

    fn unknown_name(&mut self, name: &'s str, span: Span) -> Kind {
        if self.forgiving > 0 {
            return Kind::Nothing;
        }
        self.searches += 1;
        let close = (self.searches <= MOST_SEARCHES)
            .then(|| did_you_mean(name, self.scope.names()))
            .flatten();
        let shown: String = name.chars().take(60).collect();
        let message = format!("nothing is called `{shown}` here");
        match close {
            Some(close) => {
                self.problem_with_help(span, message, format!("did you mean `{close}`?"));
            }
            None => {
                self.problem(span, message);
            }
        }
        self.scope.set(name, Meaning::Nothing);
        Kind::Nothing
    }

    /// After `pi.`. Whether it opened a call.
    fn after_pi(&mut self, start: Span) -> Parsed<bool> {
        let (name, place) = self.expect_name("a name after `pi.`")?;
        self.pi_name(name, start, place)
    }

    pub(super) fn pi_name(&mut self, name: &'s str, start: Span, place: Span) -> Parsed<bool> {
        let what = match name {
            "op" => return self.operation(start),
            "global_" => {
                self.expect("(", "after `pi.global_`")?;
                let name = self.string("the name of the function")?;
                self.expect(")", "after the name")?;
                What::Callee(Callee::global_var(&name))
            }
            "xor" => What::Binary(BinaryOp::Xor),
            "neg" => What::Unary(UnaryOp::Neg),
            "cast" => What::Unary(UnaryOp::Cast),
            "typed" => What::Typed,
            "TensorType" => What::TensorType,
            "TupleType" => What::TupleType,
            "FunctionType" => What::FunctionType,
            "UnknownType" => {
                self.expect("(", "after `pi.UnknownType`")?;
                self.expect(")", "after `pi.UnknownType(`")?;
                let span = start.to(self.last);
                self.values.push(Val::new(Kind::Type(Type::unknown()), span));
                return Ok(false);
            }
            "result" => {
                self.expect("(", "after `pi.result`")?;
                let token = self.advance();
                let number = match token.tok {
                    Tok::Int => self.text(token).parse::<u32>().ok(),
                    _ => None,
                };
                let Some(number) = number else {
                    let span = self.lexer.span(token);
                    return Err(self.problem(span, "expected the number of a result, from 0"));
                };
                self.expect(")", "after the number")?;
                self.values.push(Val::new(Kind::Result(number), start.to(self.last)));
                return Ok(false);
            }
            name => match DataType::from_str(name) {
                Ok(dtype) if self.at("(") => {
                    self.advance();
                    let expr = self.typed_number(dtype, start)?;
                    self.values.push(Val::new(Kind::Expr(expr), start.to(self.last)));
                    return Ok(false);
                }
                Ok(dtype) => {
                    let span = start.to(self.last);
                    self.values.push(Val::new(Kind::Type(Type::scalar(dtype)), span));
                    return Ok(false);
                }
                Err(error) => {
                    let documents = DataType::ALL.iter().map(|dtype| dtype.document_name());
                    let close = did_you_mean(name, AFTER_PI.into_iter().chain(documents));
                    let help = match close {
                        Some(close) => format!("did you mean `pi.{close}`?"),
                        None => format!(
                            "there are {}, and the data types",
                            AFTER_PI.map(|name| format!("`pi.{name}`")).join(", ")
                        ),
                    };
                    let message = format!("nothing is called `pi.{}`", error.name());
                    return Err(self.problem_with_help(place, message, help));
                }
            },
        };
        self.expect("(", &format!("after `pi.{name}`"))?;
        self.open(what, start);
        Ok(true)
    }

    /// `pi.op.name(` or `pi.op("name")(`
    fn operation(&mut self, start: Span) -> Parsed<bool> {
        let name = if self.eat("(") {
            let name = self.string("the name of the operation")?;
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
                return Err(self.expected("`.name` or `(\"name\")` after `pi.op`"));
            }
            name
        };
        self.expect("(", "after the operation")?;
        self.open(What::Callee(Callee::op(&name)), start);
        Ok(true)
    }

    /// The inside of `pi.INT32(…)`, and the parenthesis.
    fn typed_number(&mut self, dtype: DataType, start: Span) -> Parsed<ExprRef> {
        let negative = self.eat("-");
        let token = self.token;
        let span = self.lexer.span(token);
        let text = self.text(token);
        let number = match token.tok {
            Tok::Int if dtype.is_integer() => {
                self.advance();
                let magnitude = text.parse::<u128>().ok().filter(|number| *number <= 1 << 127);
                let value = magnitude.and_then(|magnitude| {
                    if negative {
                        0i128.checked_sub_unsigned(magnitude)
                    } else {
                        i128::try_from(magnitude).ok()
                    }
                });
                let Some(value) = value else { return Err(self.too_large(span)) };
                Ok(value)
            }
            Tok::Float if dtype.is_float() => {
                self.advance();
                let value = if dtype == DataType::F32 {
                    text.parse::<f32>().map(f64::from)
                } else {
                    text.parse::<f64>()
                };
                let value = value.unwrap_or(f64::NAN);
                if !crate::float::round_to(dtype, value).is_finite() {
                    let name = dtype.document_name();
                    let message = format!("the number is out of the range of {name}");
                    let help = format!("say `pi.{name}(\"nan\")` or a number that it holds");
                    return Err(self.problem_with_help(span, message, help));
                }
                Err(if negative { -value } else { value })
            }
            Tok::Str if dtype.is_float() && !negative => {
                let value = match self.string("a number")?.as_str() {
                    "nan" => f64::NAN,
                    "inf" => f64::INFINITY,
                    "-inf" => f64::NEG_INFINITY,
                    _ => {
                        let help = "there are \"nan\", \"inf\" and \"-inf\"";
                        return Err(self.problem_with_help(span, "not a number", help));
                    }
                };
                if value.is_infinite() && crate::float::round_to(dtype, value).is_nan() {
                    let name = dtype.document_name();
                    let message = format!("{name} has no infinity");
                    let help = format!("say `pi.{name}(\"nan\")` or a number that it holds");
                    return Err(self.problem_with_help(span, message, help));
                }
                Err(value)
            }
            _ => {
                let what = match dtype {
                    _ if dtype.is_integer() => "an integer such as `5`",
                    _ if dtype.is_float() => "a float such as `5.0`",
                    _ => "no number at all: this data type has no constants",
                };
                return Err(self.expected(&format!("{what} in `pi.{}(…)`", dtype.document_name())));
            }
        };
        self.expect(")", "after the number")?;
        let whole = start.to(self.last);
        match number {
            Ok(int) => self.const_int(int, dtype, whole),
            Err(float) => self.const_float(float, dtype, whole),
        }
    }

    /// The variable that a name is bound to here: the one of that name, or a new one.
    pub(super) fn bind(
        &mut self,
        name: &'s str,
        span: Span,
        new: impl FnOnce() -> Var,
    ) -> Parsed<Var> {
        match self.scope.get(name) {
            Some(Meaning::Var(expr)) => Var::try_from(expr).map_err(|_| Failed),
            Some(Meaning::Expr(_) | Meaning::Type(_)) => {
                let message = format!("`{name}` is the name of a part of an expression");
                Err(self.problem_with_help(span, message, "give the variable another name"))
            }
            Some(Meaning::Nothing) | None => {
                let var = new();
                self.scope.set(name, Meaning::Var(var.expr().clone()));
                Ok(var)
            }
        }
    }
}
