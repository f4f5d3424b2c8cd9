//! The fast path for ops in the form that most tools print: operands, a few attributes, types. It appends instructions straight
//! from the text.
//!
//! It reports no errors. Text in another form, or with an error, is read by the slow path, which accepts every form and reports
//! errors.

use sapwood_ptir::ops::{Return, While, Yield};
use sapwood_ptir::{Attr, AttrId, BodyId, Op as _, OpKey, TensorType, TypeId, ValueId};
use smallvec::SmallVec;

use super::ModuleReader;
use super::attr_cache::HashedText;
use super::function::OpenFunction;
use super::regions::OpenOp;
use crate::attr::Ints;
use crate::cursor::Cursor;
use crate::ops;
use crate::raw_op::ResultNames;

/// Attributes in the order of the op's definition.
pub(crate) type AttrVec = SmallVec<[Attr; 4]>;

/// The size of the longest attribute text that is cached.
const MAX_CACHED_ATTR_BYTES: usize = 1 << 9;

/// An op that is being read on the fast path, with the function it is appended to.
pub(crate) struct FastOpReader<'r, 'a> {
    reader: &'r mut ModuleReader<'a>,
    func: &'r mut OpenFunction<'a>,
    names: &'r ResultNames<'a>,
    start: usize,
    /// The end of the last type that was read.
    end: usize,
    /// The PTIR op.
    pub(crate) key: OpKey,
}

impl<'a> ModuleReader<'a> {
    /// Appends the op that starts here if the fast path accepts it. Returns `false`, without any effect, otherwise.
    #[inline]
    pub(super) fn try_fast_path(
        &mut self,
        func: &mut OpenFunction<'a>,
        names: &ResultNames<'a>,
    ) -> bool {
        let start = self.c.at;
        let made = self.fast_path_op(func, names, start).is_some();
        if !made {
            self.c.at = start;
        }
        made
    }

    #[inline]
    fn fast_path_op(
        &mut self,
        func: &mut OpenFunction<'a>,
        names: &ResultNames<'a>,
        start: usize,
    ) -> Option<()> {
        let (name, hash) = self.c.op_name()?;
        let (read, key) = ops::fast_read(name, hash)?;
        self.c.at += name.len();
        func.operands.clear();
        func.results.clear();
        read(&mut FastOpReader { reader: self, func, names, start, end: start, key })
    }
}

// Ops in the generic form that have regions and no attributes.
const FAST_GENERIC_OPS: [&str; 2] = ["stablehlo.if", "stablehlo.case"];

impl<'a> ModuleReader<'a> {
    /// Appends the loop whose regions were read if it is correct. Its results have the types of its operands. Returns `false`,
    /// without any effect, otherwise.
    pub(super) fn try_close_while(
        &mut self,
        func: &mut OpenFunction<'a>,
        frame: &OpenOp<'a>,
    ) -> bool {
        let (start, end) = (frame.op.at, self.c.at);
        func.operands.clear();
        func.results.clear();
        func.operands.extend_from_slice(&frame.op.operands);
        let f = func.writer.function();
        func.results.extend(frame.op.operands.iter().map(|&v| f.type_id(v)));
        let key = While::key();
        let names = &frame.names;
        let made = self.problems.is_empty()
            && frame.op.attrs.is_empty()
            && FastOpReader { reader: self, func, names, start, end, key }
                .append_open_op(frame)
                .is_some();
        if !made {
            self.c.at = end;
        }
        made
    }

    /// Appends the op in the generic form whose regions were read up to `)`, if it has no attributes and is correct. Returns
    /// `false`, without any effect, otherwise.
    pub(super) fn try_close_generic(
        &mut self,
        func: &mut OpenFunction<'a>,
        frame: &OpenOp<'a>,
    ) -> bool {
        if !FAST_GENERIC_OPS.contains(&&*frame.op.name) || !frame.op.attrs.is_empty() {
            return false;
        }
        let Some((_, key)) = ops::by_name(&frame.op.name) else { return false };
        let (start, end) = (frame.op.at, self.c.at);
        func.operands.clear();
        func.results.clear();
        func.operands.extend_from_slice(&frame.op.operands);
        let names = &frame.names;
        let fine = self.problems.is_empty();
        let mut cx = FastOpReader { reader: self, func, names, start, end, key };
        let made =
            fine && cx.read_function_type().and_then(|()| cx.append_open_op(frame)).is_some();
        if !made {
            self.c.at = end;
        }
        made
    }
}

/// Reads `return %a, %b : T, U`.
pub(crate) fn fast_read_terminator(cx: &mut FastOpReader<'_, '_>) -> Option<()> {
    cx.read_operands()?;
    cx.cursor().eat(b':').then_some(())?;
    for i in 0..cx.func.operands.len() {
        (i == 0 || cx.cursor().eat(b',')).then_some(())?;
        cx.read_type_of_operand(i)?;
    }
    (cx.cursor().peek() != b',').then_some(())?;
    cx.key = if cx.func.open_ops.is_empty() { Return::key() } else { Yield::key() };
    cx.append([])?;
    cx.func.ended = true;
    Some(())
}

impl<'a> FastOpReader<'_, 'a> {
    /// Returns the cursor.
    pub(crate) fn cursor(&mut self) -> &mut Cursor<'a> {
        &mut self.reader.c
    }

    /// Reads `%a, %b#1`, and a comma after it if there is one.
    pub(crate) fn read_operands(&mut self) -> Option<()> {
        let c = &mut self.reader.c;
        c.skip_space();
        loop {
            let (value, end) = self.func.scope.value_at(c.text, c.at)?;
            self.func.operands.push(value);
            c.at = end;
            if c.text.as_bytes()[end..].starts_with(b", %") {
                c.at += 2;
            } else if !c.eat(b',') || c.peek() != b'%' {
                return Some(());
            }
        }
    }

    /// Reads one value, `%a`.
    pub(crate) fn read_operand(&mut self) -> Option<()> {
        let c = &mut self.reader.c;
        c.skip_space();
        let (value, end) = self.func.scope.value_at(c.text, c.at)?;
        self.func.operands.push(value);
        c.at = end;
        Some(())
    }

    /// Appends the only operand a second time.
    pub(crate) fn repeat_operand(&mut self) -> Option<()> {
        let &[value] = &self.func.operands[..] else { return None };
        self.func.operands.push(value);
        Some(())
    }

    /// Reads `key = [1, 0]`, and a comma after it if there is one.
    pub(crate) fn read_int_list(&mut self, key: &str) -> Option<Ints> {
        let c = self.cursor();
        (c.eat_word(key) && c.eat(b'=')).then_some(())?;
        c.skip_space();
        let list = c.int_list()?;
        c.eat(b',');
        Some(list)
    }

    /// Reads `key = [1, 0]` without a comma after it.
    pub(crate) fn read_last_int_list(&mut self, key: &str) -> Option<Ints> {
        let c = self.cursor();
        (c.eat_word(key) && c.eat(b'=')).then_some(())?;
        c.skip_space();
        c.int_list()
    }

    /// Reads `key = [1] x [0]`, and a comma after it if there is one.
    pub(crate) fn read_int_list_pair(&mut self, key: &str) -> Option<[Ints; 2]> {
        let c = self.cursor();
        (c.eat_word(key) && c.eat(b'=')).then_some(())?;
        c.skip_space();
        let left = c.int_list()?;
        c.eat_word("x").then_some(())?;
        c.skip_space();
        let right = c.int_list()?;
        c.eat(b',');
        Some([left, right])
    }

    /// Reads `key = 1`.
    pub(crate) fn read_int(&mut self, key: &str) -> Option<i64> {
        let c = self.cursor();
        (c.eat_word(key) && c.eat(b'=')).then_some(())?;
        c.integer()
    }

    #[inline]
    fn read_type_id(&mut self) -> Option<TypeId> {
        let ModuleReader { c, types, function_serial, .. } = &mut *self.reader;
        let id = types.cached_id(c, *function_serial, &mut self.func.writer)?;
        self.end = c.at;
        Some(id)
    }

    // Reads a type that must be the type of this operand.
    fn read_type_of_operand(&mut self, operand: usize) -> Option<TypeId> {
        let found = self.func.writer.function().type_id(self.func.operands[operand]);
        (self.read_type_id()? == found).then_some(found)
    }

    /// Reads `: T` for all operands and the result, `: T, U -> V` or `: (T, U) -> V`.
    pub(crate) fn read_types(&mut self) -> Option<()> {
        // Most often one type follows.
        if self.cursor().text.as_bytes()[self.cursor().at..].starts_with(b" : tensor<") {
            self.cursor().at += 3;
        } else {
            self.cursor().eat(b':').then_some(())?;
            if self.cursor().eat(b'(') {
                return self.read_function_type_rest();
            }
        }
        let first = self.read_type_id()?;
        // Most often nothing follows the first type.
        if !matches!(self.cursor().peek(), b',' | b'-') {
            let f = self.func.writer.function();
            self.func.operands.iter().all(|&v| f.type_id(v) == first).then_some(())?;
            self.func.results.push(first);
            return Some(());
        }
        let mut list: SmallVec<[TypeId; 4]> = SmallVec::new();
        list.push(first);
        while self.cursor().eat(b',') {
            list.push(self.read_type_id()?);
        }
        if self.cursor().eat_str("->") {
            let f = self.func.writer.function();
            let own = self.func.operands.iter().map(|&v| f.type_id(v));
            list.iter().copied().eq(own).then_some(())?;
            return self.read_result_types();
        }
        None
    }

    /// Reads the types of a select: `: P, T`, or `: (P, T, T) -> T`.
    pub(crate) fn read_select_types(&mut self) -> Option<()> {
        self.cursor().eat(b':').then_some(())?;
        if self.cursor().eat(b'(') {
            return self.read_function_type_rest();
        }
        let [_, _, otherwise] = self.func.operands[..] else { return None };
        self.read_type_of_operand(0)?;
        self.cursor().eat(b',').then_some(())?;
        let ty = self.read_type_of_operand(1)?;
        (ty == self.func.writer.function().type_id(otherwise)).then_some(())?;
        // The slow path reads a list of all types.
        if matches!(self.cursor().peek(), b',' | b'-') {
            return None;
        }
        self.func.results.push(ty);
        Some(())
    }

    /// Reads `: (T, U) -> V`.
    pub(crate) fn read_function_type(&mut self) -> Option<()> {
        (self.cursor().eat(b':') && self.cursor().eat(b'(')).then_some(())?;
        self.read_function_type_rest()
    }

    // Reads `T, U) -> V`.
    fn read_function_type_rest(&mut self) -> Option<()> {
        for i in 0..self.func.operands.len() {
            (i == 0 || self.cursor().eat(b',')).then_some(())?;
            self.read_type_of_operand(i)?;
        }
        (self.cursor().eat(b')') && self.cursor().eat_str("->")).then_some(())?;
        self.read_result_types()
    }

    fn read_result_types(&mut self) -> Option<()> {
        if !self.cursor().eat(b'(') {
            let ty = self.read_type_id()?;
            self.func.results.push(ty);
            return Some(());
        }
        while !self.cursor().eat(b')') {
            (self.func.results.is_empty() || self.cursor().eat(b',')).then_some(())?;
            let ty = self.read_type_id()?;
            self.func.results.push(ty);
        }
        self.end = self.cursor().at;
        Some(())
    }

    /// Reads the type of the only result, which must be a tensor type.
    pub(crate) fn read_result_tensor_type(&mut self) -> Option<&TensorType> {
        let ModuleReader { c, types, function_serial, .. } = &mut *self.reader;
        let (id, ty) = types.cached_id_and_type(c, *function_serial, &mut self.func.writer)?;
        self.end = c.at;
        self.func.results.push(id);
        ty.as_tensor()
    }

    /// Reads `dense<1.0> : T`, whose type is that of the result, and returns the id of the constant's attributes.
    pub(crate) fn read_literal(&mut self) -> Option<AttrId> {
        let ModuleReader { c, attr_cache, function_serial, .. } = &mut *self.reader;
        c.skip_space();
        let start = c.at;
        let line = HashedText::rest_of_line(c.text, start);
        if let Some(line) = line
            && let Some((id, ty)) = attr_cache.find(line, *function_serial, &mut self.func.writer)
        {
            c.at = start + ty;
            let ty = self.read_type_id()?;
            self.func.results.push(ty);
            return Some(id);
        }
        c.eat_word("dense").then_some(())?;
        let body = match c.number_in_angles() {
            Some(number) => number,
            None => crate::attr::dense_body(c).ok()?,
        };
        c.skip_space();
        let ty = c.at - start;
        let literal = crate::literal::read(body, self.read_result_tensor_type()?).ok()?;
        let id = self.func.writer.intern_attrs([Attr::Literal(literal)]);
        if let Some(line) = line.filter(|line| start + line.len() == self.end) {
            let ModuleReader { attr_cache, function_serial, .. } = &mut *self.reader;
            attr_cache.insert(line, ty, *function_serial, id, &self.func.writer);
        }
        Some(id)
    }

    /// Reads the attributes from here up to the first `end`, its first byte included, and returns their id. Each text is parsed
    /// once.
    pub(crate) fn read_cached_attributes(
        &mut self,
        end: &str,
        read: fn(&mut Cursor<'a>) -> Option<AttrVec>,
    ) -> Option<AttrId> {
        let ModuleReader { c, attr_cache, function_serial, .. } = &mut *self.reader;
        c.skip_space();
        let rest = &c.text.as_bytes()[c.at..];
        let (first, rest_of_end) = end.as_bytes().split_first()?;
        let mut ends = memchr::memchr_iter(*first, &rest[..rest.len().min(MAX_CACHED_ATTR_BYTES)]);
        let len = 1 + ends.find(|&at| rest[at + 1..].starts_with(rest_of_end))?;
        let text = HashedText::range(c.text, c.at, c.at + len)?;
        if let Some((id, _)) = attr_cache.find(text, *function_serial, &mut self.func.writer) {
            c.at += len;
            return Some(id);
        }
        let start = c.at;
        let attrs = read(c)?;
        (c.at == start + len).then_some(())?;
        let id = self.func.writer.intern_attr_slice(&attrs);
        attr_cache.insert(text, 0, *function_serial, id, &self.func.writer);
        Some(id)
    }

    // Appends the op whose regions were read.
    fn append_open_op(&mut self, frame: &OpenOp<'a>) -> Option<()> {
        (!frame.op.poison).then_some(())?;
        let none = self.func.writer.intern_attrs([]);
        self.append_inst(none, &frame.op.regions)
    }

    /// Creates a region with one op on two scalars of the first operand's element type, and appends the instruction with this
    /// region.
    pub(crate) fn append_with_combiner(
        &mut self,
        name: &str,
        at: usize,
        attrs: [Attr; 1],
    ) -> Option<()> {
        let attrs = self.func.writer.intern_attrs(attrs);
        let f = self.func.writer.function();
        let dtype = f.value_type(*self.func.operands.first()?).as_tensor()?.dtype;
        let region = BodyId::from_index(f.body_capacity());
        let span = self.reader.span(at, at + name.len());
        let made = ops::combiner_region(&mut self.func.writer, name, dtype, span).ok();
        let appended = made.and_then(|region| self.append_inst(attrs, &[region]));
        if appended.is_none() {
            self.func.writer.discard_body(region);
        }
        appended
    }

    /// Returns whether all operands and results have the same element type.
    pub(crate) fn has_one_dtype(&self) -> bool {
        let f = self.func.writer.function();
        let mut operands = self.func.operands.iter().map(|&v| f.value_type(v));
        let mut results = self.func.results.iter().map(|&ty| f.type_by_id(ty));
        let first = operands.next().and_then(|ty| ty.as_tensor()).map(|ty| ty.dtype);
        let same = |ty: &sapwood_ptir::ValueType| ty.as_tensor().map(|ty| ty.dtype) == first;
        first.is_some() && operands.all(same) && results.all(same)
    }

    /// Returns whether all operands and results have the same type.
    pub(crate) fn has_one_type(&self) -> bool {
        let f = self.func.writer.function();
        let mut types = self.func.operands.iter().map(|&v| f.type_id(v));
        types.all(|ty| self.func.results.iter().all(|result| *result == ty))
    }

    /// Appends the instruction and names its results.
    pub(crate) fn append<const N: usize>(&mut self, attrs: [Attr; N]) -> Option<()> {
        let attrs = self.func.writer.intern_attrs(attrs);
        self.append_with_attr_id(attrs)
    }

    /// Appends the instruction with attributes given by their id, and names its results.
    pub(crate) fn append_with_attr_id(&mut self, attrs: AttrId) -> Option<()> {
        self.append_inst(attrs, &[])
    }

    fn append_inst(&mut self, attrs: AttrId, regions: &[BodyId]) -> Option<()> {
        let Self { reader, func, names, start, end, key } = self;
        let loc = reader.try_read_loc()?;
        let named = match names[..] {
            [] => 0,
            [(_, count)] => count as usize,
            _ => names.iter().map(|(_, n)| *n as usize).sum(),
        };
        if named != 0 && named != func.results.len() {
            return None;
        }
        let mut span = reader.span(*start, *end);
        if !loc.is_unknown() {
            span = span.with_loc(loc);
        }
        let (kind, body) = ((*key, attrs), func.body);
        let inst = func.writer.append_interned(
            body,
            kind,
            &func.operands,
            regions,
            &func.results,
            span,
        )?;
        let first = func.writer.function().value_of(inst);
        match (&names[..], first) {
            ([], _) | (_, None) => {}
            ([(name, 1)], Some(value)) => reader.name_result(func, name, value),
            _ => {
                let values: SmallVec<[ValueId; 4]> =
                    func.writer.function().inst_results(inst).collect();
                reader.name_results(func, names, &values);
            }
        }
        Some(())
    }

    /// Appends a call and records it for the check of all calls.
    pub(crate) fn append_call<const N: usize>(&mut self, attrs: [Attr; N]) -> Option<()> {
        let inst = sapwood_ptir::InstId::from_index(self.func.writer.function().inst_capacity());
        self.append(attrs)?;
        self.func.calls.push(inst);
        Some(())
    }
}
