//! Ops in the form that most are printed in: operands, a few attributes, types. They are made straight from the text.
//!
//! Nothing is reported here. What is of another form, or not right, is read again in the way that takes every form and
//! says what is wrong.

use sapwood_ptir::ops::{Return, While, Yield};
use sapwood_ptir::{Attr, AttrId, BodyId, Op as _, OpKey, TensorType, TypeId, ValueId};
use smallvec::SmallVec;

use super::Reader;
use super::function::Body;
use super::regions::Frame;
use super::texts::Text;
use crate::attr::Ints;
use crate::cursor::Cursor;
use crate::ops;
use crate::raw::ResultNames;

/// Attributes in the order of the table of an op.
pub(crate) type Attrs = SmallVec<[Attr; 4]>;

/// Longer attributes are read one by one.
const MOST_ATTRIBUTES: usize = 1 << 9;

/// An op that is read, and the function it goes to.
pub(crate) struct Direct<'r, 'a> {
    reader: &'r mut Reader<'a>,
    b: &'r mut Body<'a>,
    names: &'r ResultNames<'a>,
    start: usize,
    /// Where the last type that was read ends.
    end: usize,
    /// The op of PTIR.
    pub(crate) key: OpKey,
}

impl<'a> Reader<'a> {
    /// Makes the op that starts here if it is of such a form, and right. If not, nothing has happened.
    #[inline]
    pub(super) fn direct(&mut self, b: &mut Body<'a>, names: &ResultNames<'a>) -> bool {
        let start = self.c.at;
        let made = self.direct_op(b, names, start).is_some();
        if !made {
            self.c.at = start;
        }
        made
    }

    #[inline]
    fn direct_op(&mut self, b: &mut Body<'a>, names: &ResultNames<'a>, start: usize) -> Option<()> {
        let (name, hash) = self.c.op_name()?;
        let (read, key) = ops::direct(name, hash)?;
        self.c.at += name.len();
        b.operands.clear();
        b.results.clear();
        read(&mut Direct { reader: self, b, names, start, end: start, key })
    }
}

// Ops in the generic form that have regions and no attributes.
const PLAIN: [&str; 2] = ["stablehlo.if", "stablehlo.case"];

impl<'a> Reader<'a> {
    /// Makes the loop whose regions were read if it is right. Its results have the types of its operands. If it is not,
    /// nothing has happened.
    pub(super) fn close_while(&mut self, b: &mut Body<'a>, frame: &Frame<'a>) -> bool {
        let (start, end) = (frame.op.at, self.c.at);
        b.operands.clear();
        b.results.clear();
        b.operands.extend_from_slice(&frame.op.operands);
        let f = b.writer.function();
        b.results.extend(frame.op.operands.iter().map(|&v| f.type_id(v)));
        let key = While::key();
        let names = &frame.names;
        let made = self.problems.is_empty()
            && frame.op.attrs.is_empty()
            && Direct { reader: self, b, names, start, end, key }.append_closed(frame).is_some();
        if !made {
            self.c.at = end;
        }
        made
    }

    /// Makes the op in the generic form whose regions were read up to `)`, if it has no attributes and is right. If not,
    /// nothing has happened.
    pub(super) fn close_generic(&mut self, b: &mut Body<'a>, frame: &Frame<'a>) -> bool {
        if !PLAIN.contains(&&*frame.op.name) || !frame.op.attrs.is_empty() {
            return false;
        }
        let Some((_, key)) = ops::by_name(&frame.op.name) else { return false };
        let (start, end) = (frame.op.at, self.c.at);
        b.operands.clear();
        b.results.clear();
        b.operands.extend_from_slice(&frame.op.operands);
        let names = &frame.names;
        let fine = self.problems.is_empty();
        let mut cx = Direct { reader: self, b, names, start, end, key };
        let made = fine && cx.function_type().and_then(|()| cx.append_closed(frame)).is_some();
        if !made {
            self.c.at = end;
        }
        made
    }
}

/// `return %a, %b : T, U`.
pub(crate) fn end(cx: &mut Direct<'_, '_>) -> Option<()> {
    cx.values()?;
    cx.c().eat(b':').then_some(())?;
    for i in 0..cx.b.operands.len() {
        (i == 0 || cx.c().eat(b',')).then_some(())?;
        cx.type_of(i)?;
    }
    (cx.c().peek() != b',').then_some(())?;
    cx.key = if cx.b.frames.is_empty() { Return::key() } else { Yield::key() };
    cx.append([])?;
    cx.b.ended = true;
    Some(())
}

impl<'a> Direct<'_, 'a> {
    /// The text.
    pub(crate) fn c(&mut self) -> &mut Cursor<'a> {
        &mut self.reader.c
    }

    /// `%a, %b#1`, and a comma after it.
    pub(crate) fn values(&mut self) -> Option<()> {
        let c = &mut self.reader.c;
        c.skip();
        loop {
            let (value, end) = self.b.scope.value_at(c.text, c.at)?;
            self.b.operands.push(value);
            c.at = end;
            if c.text.as_bytes()[end..].starts_with(b", %") {
                c.at += 2;
            } else if !c.eat(b',') || c.peek() != b'%' {
                return Some(());
            }
        }
    }

    /// `%a`, one value.
    pub(crate) fn value(&mut self) -> Option<()> {
        let c = &mut self.reader.c;
        c.skip();
        let (value, end) = self.b.scope.value_at(c.text, c.at)?;
        self.b.operands.push(value);
        c.at = end;
        Some(())
    }

    /// The only operand once more.
    pub(crate) fn twice(&mut self) -> Option<()> {
        let &[value] = &self.b.operands[..] else { return None };
        self.b.operands.push(value);
        Some(())
    }

    /// `key = [1, 0]`, and a comma after it.
    pub(crate) fn list(&mut self, key: &str) -> Option<Ints> {
        let c = self.c();
        (c.eat_word(key) && c.eat(b'=')).then_some(())?;
        c.skip();
        let list = c.int_list()?;
        c.eat(b',');
        Some(list)
    }

    /// `key = [1, 0]`, and no comma after it.
    pub(crate) fn only_list(&mut self, key: &str) -> Option<Ints> {
        let c = self.c();
        (c.eat_word(key) && c.eat(b'=')).then_some(())?;
        c.skip();
        c.int_list()
    }

    /// `key = [1] x [0]`, and a comma after it.
    pub(crate) fn sides(&mut self, key: &str) -> Option<[Ints; 2]> {
        let c = self.c();
        (c.eat_word(key) && c.eat(b'=')).then_some(())?;
        c.skip();
        let left = c.int_list()?;
        c.eat_word("x").then_some(())?;
        c.skip();
        let right = c.int_list()?;
        c.eat(b',');
        Some([left, right])
    }

    /// `key = 1`.
    pub(crate) fn int(&mut self, key: &str) -> Option<i64> {
        let c = self.c();
        (c.eat_word(key) && c.eat(b'=')).then_some(())?;
        c.integer()
    }

    #[inline]
    fn ty(&mut self) -> Option<TypeId> {
        let Reader { c, types, serial, .. } = &mut *self.reader;
        let id = types.id(c, *serial, &mut self.b.writer)?;
        self.end = c.at;
        Some(id)
    }

    // The type that this operand has.
    fn type_of(&mut self, operand: usize) -> Option<TypeId> {
        let found = self.b.writer.function().type_id(self.b.operands[operand]);
        (self.ty()? == found).then_some(found)
    }

    /// `: T` of all operands and the result, `: T, U -> V` or `: (T, U) -> V`.
    pub(crate) fn types(&mut self) -> Option<()> {
        // Most often one type follows.
        if self.c().text.as_bytes()[self.c().at..].starts_with(b" : tensor<") {
            self.c().at += 3;
        } else {
            self.c().eat(b':').then_some(())?;
            if self.c().eat(b'(') {
                return self.arrow();
            }
        }
        let first = self.ty()?;
        // Most often that is all.
        if !matches!(self.c().peek(), b',' | b'-') {
            let f = self.b.writer.function();
            self.b.operands.iter().all(|&v| f.type_id(v) == first).then_some(())?;
            self.b.results.push(first);
            return Some(());
        }
        let mut list: SmallVec<[TypeId; 4]> = SmallVec::new();
        list.push(first);
        while self.c().eat(b',') {
            list.push(self.ty()?);
        }
        if self.c().eat_str("->") {
            let f = self.b.writer.function();
            let own = self.b.operands.iter().map(|&v| f.type_id(v));
            list.iter().copied().eq(own).then_some(())?;
            return self.result_types();
        }
        None
    }

    /// `: P, T` of a choice between two, or `: (P, T, T) -> T`.
    pub(crate) fn select_types(&mut self) -> Option<()> {
        self.c().eat(b':').then_some(())?;
        if self.c().eat(b'(') {
            return self.arrow();
        }
        let [_, _, otherwise] = self.b.operands[..] else { return None };
        self.type_of(0)?;
        self.c().eat(b',').then_some(())?;
        let ty = self.type_of(1)?;
        (ty == self.b.writer.function().type_id(otherwise)).then_some(())?;
        // All types may be listed, too.
        if matches!(self.c().peek(), b',' | b'-') {
            return None;
        }
        self.b.results.push(ty);
        Some(())
    }

    /// `: (T, U) -> V`.
    pub(crate) fn function_type(&mut self) -> Option<()> {
        (self.c().eat(b':') && self.c().eat(b'(')).then_some(())?;
        self.arrow()
    }

    // `T, U) -> V`.
    fn arrow(&mut self) -> Option<()> {
        for i in 0..self.b.operands.len() {
            (i == 0 || self.c().eat(b',')).then_some(())?;
            self.type_of(i)?;
        }
        (self.c().eat(b')') && self.c().eat_str("->")).then_some(())?;
        self.result_types()
    }

    fn result_types(&mut self) -> Option<()> {
        if !self.c().eat(b'(') {
            let ty = self.ty()?;
            self.b.results.push(ty);
            return Some(());
        }
        while !self.c().eat(b')') {
            (self.b.results.is_empty() || self.c().eat(b',')).then_some(())?;
            let ty = self.ty()?;
            self.b.results.push(ty);
        }
        self.end = self.c().at;
        Some(())
    }

    /// The type of the only result, which is a tensor. It may be that nothing follows it.
    pub(crate) fn result_tensor(&mut self) -> Option<&TensorType> {
        let Reader { c, types, serial, .. } = &mut *self.reader;
        let (id, ty) = types.known(c, *serial, &mut self.b.writer)?;
        self.end = c.at;
        self.b.results.push(id);
        ty.as_tensor()
    }

    /// `dense<1.0> : T`: the number of the attributes of a constant. The type is that of the result.
    pub(crate) fn literal(&mut self) -> Option<AttrId> {
        let Reader { c, texts, serial, .. } = &mut *self.reader;
        c.skip();
        let start = c.at;
        let line = Text::line(c.text, start);
        if let Some(line) = line
            && let Some((id, ty)) = texts.find(line, *serial, &mut self.b.writer)
        {
            c.at = start + ty;
            let ty = self.ty()?;
            self.b.results.push(ty);
            return Some(id);
        }
        c.eat_word("dense").then_some(())?;
        let body = match c.number_in_angles() {
            Some(number) => number,
            None => crate::attr::dense_body(c).ok()?,
        };
        c.skip();
        let ty = c.at - start;
        let literal = crate::literal::read(body, self.result_tensor()?).ok()?;
        let id = self.b.writer.intern_attrs([Attr::Literal(literal)]);
        if let Some(line) = line.filter(|line| start + line.len() == self.end) {
            let Reader { texts, serial, .. } = &mut *self.reader;
            texts.add(line, ty, *serial, id, &self.b.writer);
        }
        Some(id)
    }

    /// Attributes that are written from here up to the first `end`, of which they have the first byte: their number. They
    /// are read once however often they are written.
    pub(crate) fn attributes(
        &mut self,
        end: &str,
        read: fn(&mut Cursor<'a>) -> Option<Attrs>,
    ) -> Option<AttrId> {
        let Reader { c, texts, serial, .. } = &mut *self.reader;
        c.skip();
        let rest = &c.text.as_bytes()[c.at..];
        let (first, rest_of_end) = end.as_bytes().split_first()?;
        let mut ends = memchr::memchr_iter(*first, &rest[..rest.len().min(MOST_ATTRIBUTES)]);
        let len = 1 + ends.find(|&at| rest[at + 1..].starts_with(rest_of_end))?;
        let text = Text::between(c.text, c.at, c.at + len)?;
        if let Some((id, _)) = texts.find(text, *serial, &mut self.b.writer) {
            c.at += len;
            return Some(id);
        }
        let start = c.at;
        let attrs = read(c)?;
        (c.at == start + len).then_some(())?;
        let id = self.b.writer.intern_attr_slice(&attrs);
        texts.add(text, 0, *serial, id, &self.b.writer);
        Some(id)
    }

    // Appends the op of a frame whose regions were read.
    fn append_closed(&mut self, frame: &Frame<'a>) -> Option<()> {
        (!frame.op.poison).then_some(())?;
        let none = self.b.writer.intern_attrs([]);
        self.append_with(none, &frame.op.regions)
    }

    /// Opens a region of one op that takes two scalars of the element type of the first operand, and appends the
    /// instruction with it.
    pub(crate) fn append_applied(&mut self, name: &str, at: usize, attrs: [Attr; 1]) -> Option<()> {
        let attrs = self.b.writer.intern_attrs(attrs);
        let f = self.b.writer.function();
        let dtype = f.value_type(*self.b.operands.first()?).as_tensor()?.dtype;
        let region = BodyId::from_index(f.body_capacity());
        let span = self.reader.span(at, at + name.len());
        let made = ops::applied_region(&mut self.b.writer, name, dtype, span).ok();
        let appended = made.and_then(|region| self.append_with(attrs, &[region]));
        if appended.is_none() {
            self.b.writer.discard_body(region);
        }
        appended
    }

    /// Whether operands and results have elements of one type.
    pub(crate) fn one_dtype(&self) -> bool {
        let f = self.b.writer.function();
        let mut operands = self.b.operands.iter().map(|&v| f.value_type(v));
        let mut results = self.b.results.iter().map(|&ty| f.type_by_id(ty));
        let first = operands.next().and_then(|ty| ty.as_tensor()).map(|ty| ty.dtype);
        let same = |ty: &sapwood_ptir::ValueType| ty.as_tensor().map(|ty| ty.dtype) == first;
        first.is_some() && operands.all(same) && results.all(same)
    }

    /// Whether operands and results are of one type.
    pub(crate) fn one_type(&self) -> bool {
        let f = self.b.writer.function();
        let mut types = self.b.operands.iter().map(|&v| f.type_id(v));
        types.all(|ty| self.b.results.iter().all(|result| *result == ty))
    }

    /// Appends the instruction and names its results.
    pub(crate) fn append<const N: usize>(&mut self, attrs: [Attr; N]) -> Option<()> {
        let attrs = self.b.writer.intern_attrs(attrs);
        self.append_interned(attrs)
    }

    /// The same with the number of the attributes.
    pub(crate) fn append_interned(&mut self, attrs: AttrId) -> Option<()> {
        self.append_with(attrs, &[])
    }

    fn append_with(&mut self, attrs: AttrId, regions: &[BodyId]) -> Option<()> {
        let Self { reader, b, names, start, end, key } = self;
        // Places are said after what is between two ops.
        if reader.c.peek() == b'l' && reader.c.looking_at_word("loc") {
            return None;
        }
        let named = match names[..] {
            [] => 0,
            [(_, count)] => count as usize,
            _ => names.iter().map(|(_, n)| *n as usize).sum(),
        };
        if named != 0 && named != b.results.len() {
            return None;
        }
        let span = reader.span(*start, *end);
        let (kind, body) = ((*key, attrs), b.body);
        let inst = b.writer.append_interned(body, kind, &b.operands, regions, &b.results, span)?;
        let first = b.writer.function().value_of(inst);
        match (&names[..], first) {
            ([], _) | (_, None) => {}
            ([(name, 1)], Some(value)) => reader.name_result(b, name, value),
            _ => {
                let values: SmallVec<[ValueId; 4]> =
                    b.writer.function().inst_results(inst).collect();
                reader.name_results(b, names, &values);
            }
        }
        Some(())
    }

    /// The same for a call.
    pub(crate) fn append_call<const N: usize>(&mut self, attrs: [Attr; N]) -> Option<()> {
        let inst = sapwood_ptir::InstId::from_index(self.b.writer.function().inst_capacity());
        self.append(attrs)?;
        self.b.calls.push(inst);
        Some(())
    }
}
