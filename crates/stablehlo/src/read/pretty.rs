//! The forms that are made for people: `stablehlo.add %a, %b : tensor<f32>`, loops, reductions.

use std::borrow::Cow;

use sapwood_ptir::{BodyId, TensorType};
use sapwood_types::counted;

use super::function::{Body, Next, Param};
use super::regions::Form;
use super::stated::listed_types;
use super::{Parse, Reader};
use crate::attr::{self, Attribute, Entry, Ints};
use crate::ops;
use crate::raw::{RawOp, ResultNames, TypeList};

impl<'a> Reader<'a> {
    /// What follows the name of an op, up to the first region.
    pub(super) fn pretty_op(
        &mut self,
        b: &mut Body<'a>,
        op: &mut RawOp<'a>,
        names: &ResultNames<'a>,
    ) -> Parse<Next<'a>> {
        match &*op.name {
            "stablehlo.constant" | "arith.constant" | "mhlo.constant" | "chlo.constant" => {
                self.constant(op)?;
            }
            "stablehlo.while" | "mhlo.while" => return self.while_loop(b, op),
            "stablehlo.reduce" | "mhlo.reduce" => return self.reduce(b, op),
            "sdy.sharding_constraint" => self.sharding(b, op)?,
            _ => self.items(b, op, names)?,
        }
        Ok(Next::Done)
    }

    // `dense<…> : type`, with attributes before it or not.
    fn constant(&mut self, op: &mut RawOp<'a>) -> Parse<()> {
        if self.c.peek() == b'{' {
            op.attrs = self.dictionary()?;
        }
        self.c.skip();
        let start = self.c.at;
        if self.c.eat_word("dense") {
            let read = attr::dense_body(&mut self.c);
            let body = self.check(read)?;
            let ty = self.ty()?;
            let Some(ty) = ty.as_tensor() else {
                return self.stop(start, "a literal has a tensor type");
            };
            let text = &self.c.text[start..self.c.at];
            match crate::literal::read(body, ty) {
                Ok(literal) => {
                    op.result_types.push(ty.clone().into());
                    let value = Attribute::Dense(literal);
                    op.attrs.push(Entry::new(Cow::Borrowed("value"), value, text));
                }
                Err(message) => {
                    let span = self.source.span(start..start + text.trim_end().len().min(80));
                    self.problems.error(span, format!("{}: {message}", op.name));
                    op.poison = true;
                }
            }
            return Ok(());
        }
        let value = match self.attribute()? {
            Attribute::Dense(literal) => Attribute::Dense(literal),
            // `arith.constant 1 : i32`: the type makes it a literal.
            Attribute::Int(_) | Attribute::Float(_) | Attribute::Bool(_) => {
                let number = self.c.text[start..self.c.at].split(':').next().unwrap_or("").trim();
                let ty = match self.c.text[start..self.c.at].split_once(':') {
                    Some((_, ty)) => self.types.read(&mut crate::cursor::Cursor::new(ty)),
                    None => Ok(TensorType::scalar(sapwood_types::DataType::Bool).into()),
                };
                let ty = self.check(ty)?;
                let Some(ty) = ty.as_tensor() else {
                    return self.stop(start, "a constant is a tensor");
                };
                let literal = crate::literal::read(number, ty);
                Attribute::Dense(self.check(literal)?)
            }
            _ => return self.stop(start, "expected a literal: `dense<…> : tensor<…>`"),
        };
        if let Attribute::Dense(literal) = &value {
            op.result_types.push(literal.ty().into());
        }
        let text = &self.c.text[start..self.c.at];
        op.attrs.push(Entry::new(Cow::Borrowed("value"), value, text));
        Ok(())
    }

    // Operands, words, `key = value`, attributes, then types.
    fn items(
        &mut self,
        b: &mut Body<'a>,
        op: &mut RawOp<'a>,
        names: &ResultNames<'a>,
    ) -> Parse<()> {
        let mut parens = 0;
        let terminator = ops::is_terminator(&op.name);
        loop {
            match self.c.peek() {
                b'%' => self.operand(b, op)?,
                b'(' => {
                    parens += 1;
                    self.c.at += 1;
                }
                b')' if parens > 0 => {
                    parens -= 1;
                    self.c.at += 1;
                }
                b',' => self.c.at += 1,
                b'@' => {
                    let start = self.c.at;
                    let Some(symbol) = self.c.symbol() else {
                        return self.stop(self.c.at, "expected a name after `@`");
                    };
                    let text = &self.c.text[start..self.c.at];
                    if op.symbol.replace(symbol).is_some() {
                        self.given_twice([op.symbol_text, text]);
                    }
                    op.symbol_text = text;
                }
                b'{' => {
                    let more = self.dictionary()?;
                    op.attrs.extend(more);
                }
                b'[' => self.ranges(op)?,
                b'"' => {
                    let start = self.c.at;
                    let value = self.bare_attribute()?;
                    let text = &self.c.text[start..self.c.at];
                    let entry = Entry::new(Cow::Borrowed("name"), value, text);
                    op.attrs.push(Entry { clause: true, ..entry });
                }
                b':' => {
                    if parens > 0 {
                        return self.stop(self.c.at, "expected `)` before `:`");
                    }
                    self.c.at += 1;
                    return self.item_types(b, op, terminator);
                }
                b'}' if terminator => return Ok(()),
                _ if terminator && op.operands.is_empty() && !op.poison => return Ok(()),
                first if first.is_ascii_alphabetic() => self.word_or_clause(op)?,
                _ => {
                    self.c.skip();
                    let what = if names.is_empty() { "" } else { "` : type`, " };
                    let message =
                        format!("expected {what}an operand or an attribute of `{}`", op.name);
                    return self.stop(self.c.at, message);
                }
            }
        }
    }

    fn word_or_clause(&mut self, op: &mut RawOp<'a>) -> Parse<()> {
        let start = self.c.at;
        let Some(word) = self.c.word() else {
            return self.stop(start, "expected a word");
        };
        if !self.c.eat(b'=') {
            op.words.push((word, false));
            return Ok(());
        }
        self.c.skip();
        let from = self.c.at;
        let value = if word == "dim_numbers" {
            // `[b, 0, f]x[0, i, o]->[b, 0, f]`.
            for _ in 0..3 {
                let _ = self.c.eat(b'x') || self.c.eat_str("->");
                if self.c.peek() != b'[' || self.c.balanced().is_none() {
                    return self.stop(self.c.at, "expected dimension numbers `[…]x[…]->[…]`");
                }
            }
            Attribute::Raw(&self.c.text[from..self.c.at])
        } else {
            let value = self.bare_attribute()?;
            // `[1] x [0]`.
            if matches!(value, Attribute::Ints(_)) && self.c.looking_at_word("x") {
                self.c.eat_word("x");
                let other = self.bare_attribute()?;
                Attribute::List(vec![value, other])
            } else {
                value
            }
        };
        let text = &self.c.text[start..self.c.at];
        op.attrs.push(Entry { clause: true, ..Entry::new(Cow::Borrowed(word), value, text) });
        Ok(())
    }

    // `[0:4, 1:8:2]` of a slice, `[0]` of a tuple.
    fn ranges(&mut self, op: &mut RawOp<'a>) -> Parse<()> {
        let start = self.c.at;
        self.c.at += 1;
        let mut ranges = Vec::new();
        while !self.c.eat(b']') {
            if !ranges.is_empty() {
                self.expect(b',', "or `]` after a range")?;
            }
            let mut range = [0, 0, 1];
            for (i, part) in range.iter_mut().enumerate() {
                if i > 0 && !self.c.eat(b':') {
                    break;
                }
                match self.c.integer() {
                    Some(n) => *part = n,
                    None => {
                        self.c.skip();
                        return self.stop(self.c.at, "expected a number in a range");
                    }
                }
            }
            ranges.push(range);
        }
        let text = &self.c.text[start..self.c.at];
        if op.ranges.replace(ranges).is_some() {
            self.given_twice([op.ranges_text, text]);
        }
        op.ranges_text = text;
        Ok(())
    }

    fn item_types(&mut self, b: &mut Body<'a>, op: &mut RawOp<'a>, terminator: bool) -> Parse<()> {
        if self.c.peek() == b'(' {
            return self.function_type(b, op);
        }
        if terminator && self.operands_as_stated(b, op, None) {
            return Ok(());
        }
        self.c.skip();
        let (start, mut list) = (self.c.at, TypeList::new());
        let read = self.types.list(&mut self.c, &mut list);
        self.check(read)?;
        if terminator {
            op.operand_types = Some(list);
            return Ok(());
        }
        if self.c.eat_str("->") {
            (op.operand_types, op.typed) = (Some(list), true);
            let read = self.types.results(&mut self.c, &mut op.result_types);
            return self.check(read);
        }
        if let Err(message) = listed_types(op, list) {
            self.problems.error(self.source.span(start..self.c.at), message);
            op.poison = true;
        }
        Ok(())
    }

    /// `(types) -> types`.
    pub(super) fn function_type(&mut self, b: &mut Body<'a>, op: &mut RawOp<'a>) -> Parse<()> {
        op.typed = true;
        if !self.operands_as_stated(b, op, Some((b'(', b')'))) {
            let mut operands = TypeList::new();
            let read = self.types.parenthesized(&mut self.c, &mut operands);
            self.check(read)?;
            op.operand_types = Some(operands);
        }
        if !self.c.eat_str("->") {
            self.c.skip();
            return self.stop(self.c.at, "expected `->` and the types of results");
        }
        let read = self.types.results(&mut self.c, &mut op.result_types);
        self.check(read)
    }

    // Reads the types of operands if they are just those that the operands have. If not, nothing is read.
    fn operands_as_stated(
        &mut self,
        b: &mut Body<'a>,
        op: &RawOp<'a>,
        around: Option<(u8, u8)>,
    ) -> bool {
        if op.poison || op.operands.is_empty() {
            return false;
        }
        let (start, n) = (self.c.at, self.serial);
        let mut fine = around.is_none_or(|(open, _)| self.c.eat(open));
        for (i, &value) in op.operands.iter().enumerate() {
            fine = fine
                && (i == 0 || self.c.eat(b','))
                && self.types.is_of(&mut self.c, n, &mut b.writer, value);
        }
        fine = fine
            && match around {
                Some((_, close)) => self.c.eat(close),
                None => self.c.peek() != b',',
            };
        if !fine {
            self.c.at = start;
        }
        fine
    }

    // `(%a = %0, %b = %1) : types cond {…} do {…}`.
    fn while_loop(&mut self, b: &mut Body<'a>, op: &mut RawOp<'a>) -> Parse<Next<'a>> {
        self.expect(b'(', "after `while`")?;
        let mut names = Vec::new();
        while !self.c.eat(b')') {
            if !names.is_empty() {
                self.expect(b',', "or `)` after a carried value")?;
            }
            let Some(name) = self.c.value() else {
                self.c.skip();
                return self.stop(self.c.at, "expected `%name = %value`");
            };
            self.expect(b'=', "after the name of a carried value")?;
            self.operand(b, op)?;
            names.push(name);
        }
        if self.c.eat(b':') && !names.is_empty() {
            op.as_stated = self.operands_as_stated(b, op, None);
            if !op.as_stated {
                let read = self.types.list(&mut self.c, &mut op.result_types);
                self.check(read)?;
            }
        }
        if self.c.eat_word("attributes") {
            op.attrs = self.dictionary()?;
        }
        if !op.as_stated && names.len() != op.result_types.len() {
            let n = counted(names.len(), "carried value");
            let t = counted(op.result_types.len(), "type");
            return self.stop(op.at, format!("the loop has {n}, but {t}"));
        }
        if !self.c.eat_word("cond") {
            self.c.skip();
            return self.stop(self.c.at, "expected `cond {` after the types of a loop");
        }
        self.expect(b'{', "after `cond`")?;
        let params: Vec<Param<'a>> = if op.as_stated {
            let f = b.writer.function();
            names.into_iter().zip(op.operands.iter().map(|&v| f.type_id(v))).collect()
        } else {
            op.operand_types = Some(op.result_types.clone());
            let types = op.result_types.iter().map(|ty| b.writer.intern_type(ty));
            names.into_iter().zip(types).collect()
        };
        Ok(Next::Region { form: Form::While { params: params.clone() }, params })
    }

    // `(%x init: %i), … applies op across dimensions = […] : type`, or with `reducer(…) (…) {…}`.
    fn reduce(&mut self, b: &mut Body<'a>, op: &mut RawOp<'a>) -> Parse<Next<'a>> {
        let mut inits = RawOp::default();
        loop {
            self.expect(b'(', "before an operand of `reduce`")?;
            self.operand(b, op)?;
            if !(self.c.eat_word("init") && self.c.eat(b':')) {
                self.c.skip();
                return self.stop(self.c.at, "expected `init:` and an initial value");
            }
            self.operand(b, &mut inits)?;
            self.expect(b')', "after an initial value")?;
            if !self.c.eat(b',') {
                break;
            }
        }
        op.operands.append(&mut inits.operands);
        op.poison |= inits.poison;
        let mut applies = None;
        if self.c.eat_word("applies") {
            self.c.skip();
            let at = self.c.at;
            match self.c.word() {
                Some(name) => applies = Some((name, at)),
                None => return self.stop(at, "expected an op after `applies`"),
            }
        }
        if !self.c.eat_word("across") {
            self.c.skip();
            return self.stop(self.c.at, "expected `across dimensions = […]`");
        }
        self.c.skip();
        self.word_or_clause(op)?;
        if self.c.peek() == b'{' {
            let more = self.dictionary()?;
            op.attrs.extend(more);
        }
        self.expect(b':', "and the types of `reduce`")?;
        self.item_types(b, op, false)?;
        if let Some((name, at)) = applies {
            self.applied(b, op, name, at)?;
            return Ok(Next::Done);
        }
        if !self.c.eat_word("reducer") {
            self.c.skip();
            return self.stop(self.c.at, "expected `applies` or `reducer`");
        }
        let (mut accumulators, mut elements) = (Vec::new(), Vec::new());
        while self.c.eat(b'(') {
            accumulators.push(self.param(&mut b.writer)?);
            self.skip_location()?;
            self.expect(b',', "after the accumulator of `reducer`")?;
            elements.push(self.param(&mut b.writer)?);
            self.skip_location()?;
            self.expect(b')', "after the element of `reducer`")?;
        }
        self.expect(b'{', "before the region of `reduce`")?;
        accumulators.append(&mut elements);
        Ok(Next::Region { form: Form::Reduce, params: accumulators })
    }

    // The region of one op that `applies` stands for.
    fn applied(
        &mut self,
        b: &mut Body<'a>,
        op: &mut RawOp<'a>,
        name: &str,
        at: usize,
    ) -> Parse<()> {
        if op.poison {
            return Ok(());
        }
        let f = b.writer.function();
        let element = op.operands.first().and_then(|&v| f.value_type(v).as_tensor());
        let Some(dtype) = element.map(|t| t.dtype) else {
            return self.stop(at, "`reduce` takes tensors");
        };
        let span = self.span(at, at + name.len());
        let made: Result<BodyId, String> = ops::applied_region(&mut b.writer, name, dtype, span);
        match made {
            Ok(region) => {
                op.regions.push(region);
                Ok(())
            }
            Err(message) => self.stop(at, message),
        }
    }

    // `sdy.sharding_constraint %x <…> : type` is its operand.
    fn sharding(&mut self, b: &mut Body<'a>, op: &mut RawOp<'a>) -> Parse<()> {
        self.note(op.at, "`sdy.sharding_constraint` is left out".into());
        self.operand(b, op)?;
        if self.c.peek() == b'<' && self.c.balanced().is_none() {
            return self.stop(self.c.at, "a `<` is not closed");
        }
        self.expect(b':', "and a type")?;
        self.item_types(b, op, false)
    }
}

/// Numbers of an attribute that may be written as a list or as a literal.
pub(crate) fn ints_of(value: &Attribute<'_>) -> Option<Ints> {
    match value {
        Attribute::Ints(list) => Some(list.clone()),
        Attribute::Int(n) => Some(Ints::from_slice(&[*n])),
        Attribute::Bool(b) => Some(Ints::from_slice(&[i64::from(*b)])),
        Attribute::List(items) => items
            .iter()
            .map(|item| match item {
                Attribute::Bool(b) => Some(i64::from(*b)),
                Attribute::Int(n) => Some(*n),
                _ => None,
            })
            .collect(),
        Attribute::Dense(literal) => attr::literal_ints(literal),
        _ => None,
    }
}
