//! The reader of the pretty form: `stablehlo.add %a, %b : tensor<f32>`, loops, reductions.

use std::borrow::Cow;

use sapwood_ptir::{BodyId, TensorType};
use sapwood_types::counted;

use super::declared_types::assign_listed_types;
use super::function::{OpStart, OpenFunction, Param};
use super::regions::RegionSyntax;
use super::{ModuleReader, ReadResult};
use crate::attr::{self, Ints, NamedAttr, RawAttr};
use crate::ops::{self, Part};
use crate::raw_op::{RawOp, ResultNames, TypeList};

impl<'a> ModuleReader<'a> {
    /// Reads an op after its name, up to the first region.
    pub(super) fn read_pretty_op(
        &mut self,
        func: &mut OpenFunction<'a>,
        op: &mut RawOp<'a>,
        names: &ResultNames<'a>,
    ) -> ReadResult<OpStart<'a>> {
        match op.row.and_then(|(row, _)| row.form.first()) {
            Some(Part::Literal) => self.read_constant(op)?,
            Some(Part::Loop) => return self.read_while(func, op),
            Some(Part::Reduction) => return self.read_reduce(func, op),
            Some(Part::Sharding) => self.read_sharding_constraint(func, op)?,
            _ => self.read_pretty_items(func, op, names)?,
        }
        Ok(OpStart::Complete)
    }

    // Reads `dense<…> : type`, with or without attributes before it.
    fn read_constant(&mut self, op: &mut RawOp<'a>) -> ReadResult<()> {
        if self.c.peek() == b'{' {
            op.attrs = self.read_dictionary()?;
        }
        self.c.skip_space();
        let start = self.c.at;
        if self.c.eat_word("dense") {
            let read = attr::dense_body(&mut self.c);
            let body = self.report_if_err(read)?;
            let ty = self.read_type()?;
            let Some(ty) = ty.as_tensor() else {
                return self.error_at(start, "a literal has a tensor type");
            };
            let text = &self.c.text[start..self.c.at];
            match crate::literal::read(body, ty) {
                Ok(literal) => {
                    op.result_types.push(ty.clone().into());
                    let value = RawAttr::Dense(literal);
                    op.attrs.push(NamedAttr::new(Cow::Borrowed("value"), value, text));
                }
                Err(message) => {
                    let span = self.source.span(start..start + text.trim_end().len().min(80));
                    self.problems.error(span, format!("{}: {message}", op.name));
                    op.poison = true;
                }
            }
            return Ok(());
        }
        let value = match self.read_attribute()? {
            RawAttr::Dense(literal) => RawAttr::Dense(literal),
            // `arith.constant 1 : i32`: the type turns the number into a literal.
            RawAttr::Int(_) | RawAttr::Float(_) | RawAttr::Bool(_) => {
                let number = self.c.text[start..self.c.at].split(':').next().unwrap_or("").trim();
                let ty = match self.c.text[start..self.c.at].split_once(':') {
                    Some((_, ty)) => self.types.read(&mut crate::cursor::Cursor::new(ty)),
                    None => Ok(TensorType::scalar(sapwood_types::DataType::Bool).into()),
                };
                let ty = self.report_if_err(ty)?;
                let Some(ty) = ty.as_tensor() else {
                    return self.error_at(start, "a constant is a tensor");
                };
                let literal = crate::literal::read(number, ty);
                RawAttr::Dense(self.report_if_err(literal)?)
            }
            _ => return self.error_at(start, "expected a literal: `dense<…> : tensor<…>`"),
        };
        if let RawAttr::Dense(literal) = &value {
            op.result_types.push(literal.ty().into());
        }
        let text = &self.c.text[start..self.c.at];
        op.attrs.push(NamedAttr::new(Cow::Borrowed("value"), value, text));
        Ok(())
    }

    // Reads operands, words, `key = value`, attributes, then types.
    fn read_pretty_items(
        &mut self,
        func: &mut OpenFunction<'a>,
        op: &mut RawOp<'a>,
        names: &ResultNames<'a>,
    ) -> ReadResult<()> {
        let mut parens = 0;
        let terminator = ops::is_terminator(&op.name);
        loop {
            match self.c.peek() {
                b'%' => self.read_operand(func, op)?,
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
                        return self.error_at(self.c.at, "expected a name after `@`");
                    };
                    let text = &self.c.text[start..self.c.at];
                    if op.symbol.replace(symbol).is_some() {
                        self.report_duplicate_attr([op.symbol_text, text]);
                    }
                    op.symbol_text = text;
                }
                b'{' => {
                    let more = self.read_dictionary()?;
                    op.attrs.extend(more);
                }
                b'[' => self.read_ranges(op)?,
                b'"' => {
                    let start = self.c.at;
                    let value = self.read_bare_attribute()?;
                    let text = &self.c.text[start..self.c.at];
                    let entry = NamedAttr::new(Cow::Borrowed("name"), value, text);
                    op.attrs.push(NamedAttr { clause: true, ..entry });
                }
                b':' => {
                    if parens > 0 {
                        return self.error_at(self.c.at, "expected `)` before `:`");
                    }
                    self.c.at += 1;
                    return self.read_pretty_types(func, op, terminator);
                }
                b'}' if terminator => return Ok(()),
                _ if terminator && op.operands.is_empty() && !op.poison => return Ok(()),
                first if first.is_ascii_alphabetic() => self.read_word_or_clause(op)?,
                _ => {
                    self.c.skip_space();
                    let what = if names.is_empty() { "" } else { "` : type`, " };
                    let message =
                        format!("expected {what}an operand or an attribute of `{}`", op.name);
                    return self.error_at(self.c.at, message);
                }
            }
        }
    }

    fn read_word_or_clause(&mut self, op: &mut RawOp<'a>) -> ReadResult<()> {
        let start = self.c.at;
        let Some(word) = self.c.word() else {
            return self.error_at(start, "expected a word");
        };
        if !self.c.eat(b'=') {
            op.words.push((word, false));
            return Ok(());
        }
        self.c.skip_space();
        let from = self.c.at;
        let value = if word == "dim_numbers" {
            // `[b, 0, f]x[0, i, o]->[b, 0, f]`.
            for _ in 0..3 {
                let _ = self.c.eat(b'x') || self.c.eat_str("->");
                if self.c.peek() != b'[' || self.c.balanced().is_none() {
                    return self.error_at(self.c.at, "expected dimension numbers `[…]x[…]->[…]`");
                }
            }
            RawAttr::Raw(&self.c.text[from..self.c.at])
        } else {
            let value = self.read_bare_attribute()?;
            // `[1] x [0]`.
            if matches!(value, RawAttr::Ints(_)) && self.c.looking_at_word("x") {
                self.c.eat_word("x");
                let other = self.read_bare_attribute()?;
                RawAttr::List(vec![value, other])
            } else {
                value
            }
        };
        let text = &self.c.text[start..self.c.at];
        op.attrs
            .push(NamedAttr { clause: true, ..NamedAttr::new(Cow::Borrowed(word), value, text) });
        Ok(())
    }

    // Reads `[0:4, 1:8:2]` of a slice, `[0]` of a tuple.
    fn read_ranges(&mut self, op: &mut RawOp<'a>) -> ReadResult<()> {
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
                        self.c.skip_space();
                        return self.error_at(self.c.at, "expected a number in a range");
                    }
                }
            }
            ranges.push(range);
        }
        let text = &self.c.text[start..self.c.at];
        if op.ranges.replace(ranges).is_some() {
            self.report_duplicate_attr([op.ranges_text, text]);
        }
        op.ranges_text = text;
        Ok(())
    }

    fn read_pretty_types(
        &mut self,
        func: &mut OpenFunction<'a>,
        op: &mut RawOp<'a>,
        terminator: bool,
    ) -> ReadResult<()> {
        if self.c.peek() == b'(' {
            return self.read_function_type(func, op);
        }
        if terminator && self.eat_matching_operand_types(func, op, None) {
            return Ok(());
        }
        self.c.skip_space();
        let (start, mut list) = (self.c.at, TypeList::new());
        let read = self.types.read_list(&mut self.c, &mut list);
        self.report_if_err(read)?;
        if terminator {
            op.operand_types = Some(list);
            return Ok(());
        }
        if self.c.eat_str("->") {
            (op.operand_types, op.has_function_type) = (Some(list), true);
            let read = self.types.read_results(&mut self.c, &mut op.result_types);
            return self.report_if_err(read);
        }
        if let Err(message) = assign_listed_types(op, list) {
            self.problems.error(self.source.span(start..self.c.at), message);
            op.poison = true;
        }
        Ok(())
    }

    /// Reads `(types) -> types`.
    pub(super) fn read_function_type(
        &mut self,
        func: &mut OpenFunction<'a>,
        op: &mut RawOp<'a>,
    ) -> ReadResult<()> {
        op.has_function_type = true;
        if !self.eat_matching_operand_types(func, op, Some((b'(', b')'))) {
            let mut operands = TypeList::new();
            let read = self.types.read_parenthesized(&mut self.c, &mut operands);
            self.report_if_err(read)?;
            op.operand_types = Some(operands);
        }
        if !self.c.eat_str("->") {
            self.c.skip_space();
            return self.error_at(self.c.at, "expected `->` and the types of results");
        }
        let read = self.types.read_results(&mut self.c, &mut op.result_types);
        self.report_if_err(read)
    }

    // Reads the types of operands if they equal the actual types. Otherwise consumes nothing.
    fn eat_matching_operand_types(
        &mut self,
        func: &mut OpenFunction<'a>,
        op: &RawOp<'a>,
        around: Option<(u8, u8)>,
    ) -> bool {
        if op.poison || op.operands.is_empty() {
            return false;
        }
        let (start, n) = (self.c.at, self.function_serial);
        let mut fine = around.is_none_or(|(open, _)| self.c.eat(open));
        for (i, &value) in op.operands.iter().enumerate() {
            fine = fine
                && (i == 0 || self.c.eat(b','))
                && self.types.matches_value(&mut self.c, n, &mut func.writer, value);
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

    // Reads `(%a = %0, %b = %1) : types cond {…} do {…}`.
    fn read_while(
        &mut self,
        func: &mut OpenFunction<'a>,
        op: &mut RawOp<'a>,
    ) -> ReadResult<OpStart<'a>> {
        self.expect(b'(', "after `while`")?;
        let mut names = Vec::new();
        while !self.c.eat(b')') {
            if !names.is_empty() {
                self.expect(b',', "or `)` after a carried value")?;
            }
            let Some(name) = self.c.value_name() else {
                self.c.skip_space();
                return self.error_at(self.c.at, "expected `%name = %value`");
            };
            self.expect(b'=', "after the name of a carried value")?;
            self.read_operand(func, op)?;
            names.push(name);
        }
        if self.c.eat(b':') && !names.is_empty() {
            op.results_match_operands = self.eat_matching_operand_types(func, op, None);
            if !op.results_match_operands {
                let read = self.types.read_list(&mut self.c, &mut op.result_types);
                self.report_if_err(read)?;
            }
        }
        if self.c.eat_word("attributes") {
            op.attrs = self.read_dictionary()?;
        }
        if !op.results_match_operands && names.len() != op.result_types.len() {
            let n = counted(names.len(), "carried value");
            let t = counted(op.result_types.len(), "type");
            return self.error_at(op.at, format!("the loop has {n}, but {t}"));
        }
        if !self.c.eat_word("cond") {
            self.c.skip_space();
            return self.error_at(self.c.at, "expected `cond {` after the types of a loop");
        }
        self.expect(b'{', "after `cond`")?;
        let params: Vec<Param<'a>> = if op.results_match_operands {
            let f = func.writer.function();
            names.into_iter().zip(op.operands.iter().map(|&v| f.type_id(v))).collect()
        } else {
            op.operand_types = Some(op.result_types.clone());
            let types = op.result_types.iter().map(|ty| func.writer.intern_type(ty));
            names.into_iter().zip(types).collect()
        };
        Ok(OpStart::Region { form: RegionSyntax::While { params: params.clone() }, params })
    }

    // Reads `(%x init: %i), … applies op across dimensions = […] : type`, or the form with `reducer(…) (…) {…}`.
    fn read_reduce(
        &mut self,
        func: &mut OpenFunction<'a>,
        op: &mut RawOp<'a>,
    ) -> ReadResult<OpStart<'a>> {
        let mut inits = RawOp::default();
        loop {
            self.expect(b'(', "before an operand of `reduce`")?;
            self.read_operand(func, op)?;
            if !(self.c.eat_word("init") && self.c.eat(b':')) {
                self.c.skip_space();
                return self.error_at(self.c.at, "expected `init:` and an initial value");
            }
            self.read_operand(func, &mut inits)?;
            self.expect(b')', "after an initial value")?;
            if !self.c.eat(b',') {
                break;
            }
        }
        op.operands.append(&mut inits.operands);
        op.poison |= inits.poison;
        let mut applies = None;
        if self.c.eat_word("applies") {
            self.c.skip_space();
            let at = self.c.at;
            match self.c.word() {
                Some(name) => applies = Some((name, at)),
                None => return self.error_at(at, "expected an op after `applies`"),
            }
        }
        if !self.c.eat_word("across") {
            self.c.skip_space();
            return self.error_at(self.c.at, "expected `across dimensions = […]`");
        }
        self.c.skip_space();
        self.read_word_or_clause(op)?;
        if self.c.peek() == b'{' {
            let more = self.read_dictionary()?;
            op.attrs.extend(more);
        }
        self.expect(b':', "and the types of `reduce`")?;
        self.read_pretty_types(func, op, false)?;
        if let Some((name, at)) = applies {
            self.read_applied_region(func, op, name, at)?;
            return Ok(OpStart::Complete);
        }
        if !self.c.eat_word("reducer") {
            self.c.skip_space();
            return self.error_at(self.c.at, "expected `applies` or `reducer`");
        }
        let (mut accumulators, mut elements) = (Vec::new(), Vec::new());
        while self.c.eat(b'(') {
            accumulators.push(self.read_param(&mut func.writer)?);
            self.read_loc()?;
            self.expect(b',', "after the accumulator of `reducer`")?;
            elements.push(self.read_param(&mut func.writer)?);
            self.read_loc()?;
            self.expect(b')', "after the element of `reducer`")?;
        }
        self.expect(b'{', "before the region of `reduce`")?;
        accumulators.append(&mut elements);
        Ok(OpStart::Region { form: RegionSyntax::Reduce, params: accumulators })
    }

    // Creates the region of one op for `applies`.
    fn read_applied_region(
        &mut self,
        func: &mut OpenFunction<'a>,
        op: &mut RawOp<'a>,
        name: &str,
        at: usize,
    ) -> ReadResult<()> {
        if op.poison {
            return Ok(());
        }
        let f = func.writer.function();
        let element = op.operands.first().and_then(|&v| f.value_type(v).as_tensor());
        let Some(dtype) = element.map(|t| t.dtype) else {
            return self.error_at(at, "`reduce` takes tensors");
        };
        let span = self.span(at, at + name.len());
        let made: Result<BodyId, String> =
            ops::combiner_region(&mut func.writer, name, dtype, span);
        match made {
            Ok(region) => {
                op.regions.push(region);
                Ok(())
            }
            Err(message) => self.error_at(at, message),
        }
    }

    // Reads `sdy.sharding_constraint %x <…> : type`, which becomes its operand.
    fn read_sharding_constraint(
        &mut self,
        func: &mut OpenFunction<'a>,
        op: &mut RawOp<'a>,
    ) -> ReadResult<()> {
        self.add_note(op.at, "`sdy.sharding_constraint` is left out".into());
        self.read_operand(func, op)?;
        if self.c.peek() == b'<' && self.c.balanced().is_none() {
            return self.error_at(self.c.at, "a `<` is not closed");
        }
        self.expect(b':', "and a type")?;
        self.read_pretty_types(func, op, false)
    }
}

/// Returns the integers of an attribute that is a number, a list or a literal.
pub(crate) fn ints_of(value: &RawAttr<'_>) -> Option<Ints> {
    match value {
        RawAttr::Ints(list) => Some(list.clone()),
        RawAttr::Int(n) => Some(Ints::from_slice(&[*n])),
        RawAttr::Bool(b) => Some(Ints::from_slice(&[i64::from(*b)])),
        RawAttr::List(items) => items
            .iter()
            .map(|item| match item {
                RawAttr::Bool(b) => Some(i64::from(*b)),
                RawAttr::Int(n) => Some(*n),
                _ => None,
            })
            .collect(),
        RawAttr::Dense(literal) => attr::literal_ints(literal),
        _ => None,
    }
}
