//! Ops in the form that most are printed in: operands, a few attributes, types. They are made straight from the text.
//!
//! Nothing is reported here. What is of another form, or not right, is read again in the way that takes every form and
//! says what is wrong.

use sapwood_ptir::ops::{Return, Yield};
use sapwood_ptir::{Attr, Op as _, OpKey, TensorType, TypeId, ValueId};
use smallvec::SmallVec;

use super::Reader;
use super::function::Body;
use crate::attr::Ints;
use crate::cursor::Cursor;
use crate::ops;
use crate::raw::ResultNames;

/// An op that is read, and the function it goes to.
pub(crate) struct Direct<'r, 'a> {
    reader: &'r mut Reader<'a>,
    b: &'r mut Body<'a>,
    names: &'r ResultNames<'a>,
    start: usize,
    /// The op of PTIR.
    pub(crate) key: OpKey,
    operands: SmallVec<[ValueId; 4]>,
    results: SmallVec<[TypeId; 2]>,
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

    fn direct_op(&mut self, b: &mut Body<'a>, names: &ResultNames<'a>, start: usize) -> Option<()> {
        let (name, hash) = self.c.op_name()?;
        let (read, key) = ops::direct(name, hash)?;
        self.c.at += name.len();
        let (operands, results) = (SmallVec::new(), SmallVec::new());
        read(&mut Direct { reader: self, b, names, start, key, operands, results })
    }
}

/// `return %a, %b : T, U`.
pub(crate) fn end(cx: &mut Direct<'_, '_>) -> Option<()> {
    cx.values()?;
    cx.c().eat(b':').then_some(())?;
    for i in 0..cx.operands.len() {
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
        loop {
            let (c, scope) = (&mut self.reader.c, &self.b.scope);
            let bytes = c.text.as_bytes();
            if c.peek() == b'%'
                && let Some((value, end)) = scope.find_number(bytes, c.at + 1)
            {
                self.operands.push(value);
                c.at = end;
            } else {
                let name = c.value()?;
                let mut index = 0;
                if bytes.get(c.at) == Some(&b'#') {
                    c.at += 1;
                    index = c.digits()?.parse().ok()?;
                }
                self.operands.push(scope.find(name, index)?);
            }
            if !c.eat(b',') || c.peek() != b'%' {
                return Some(());
            }
        }
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

    fn ty(&mut self) -> Option<TypeId> {
        let Reader { c, types, serial, .. } = &mut *self.reader;
        types.id(c, *serial, &mut self.b.writer)
    }

    // The type that this operand has.
    fn type_of(&mut self, operand: usize) -> Option<TypeId> {
        let found = self.b.writer.function().type_id(self.operands[operand]);
        (self.ty()? == found).then_some(found)
    }

    /// `: T` of all operands and the result, `: T, U -> V` or `: (T, U) -> V`.
    pub(crate) fn types(&mut self) -> Option<()> {
        self.c().eat(b':').then_some(())?;
        if self.c().eat(b'(') {
            return self.arrow();
        }
        let mut list: SmallVec<[TypeId; 4]> = SmallVec::new();
        loop {
            list.push(self.ty()?);
            if !self.c().eat(b',') {
                break;
            }
        }
        if self.c().eat_str("->") {
            let f = self.b.writer.function();
            let own = self.operands.iter().map(|&v| f.type_id(v));
            list.iter().copied().eq(own).then_some(())?;
            return self.result_types();
        }
        let [ty] = list[..] else { return None };
        let f = self.b.writer.function();
        self.operands.iter().all(|&v| f.type_id(v) == ty).then_some(())?;
        self.results.push(ty);
        Some(())
    }

    /// `: P, T` of a choice between two, or `: (P, T, T) -> T`.
    pub(crate) fn select_types(&mut self) -> Option<()> {
        self.c().eat(b':').then_some(())?;
        if self.c().eat(b'(') {
            return self.arrow();
        }
        let [_, _, otherwise] = self.operands[..] else { return None };
        self.type_of(0)?;
        self.c().eat(b',').then_some(())?;
        let ty = self.type_of(1)?;
        (ty == self.b.writer.function().type_id(otherwise)).then_some(())?;
        self.results.push(ty);
        Some(())
    }

    /// `: (T, U) -> V`.
    pub(crate) fn function_type(&mut self) -> Option<()> {
        (self.c().eat(b':') && self.c().eat(b'(')).then_some(())?;
        self.arrow()
    }

    // `T, U) -> V`.
    fn arrow(&mut self) -> Option<()> {
        for i in 0..self.operands.len() {
            (i == 0 || self.c().eat(b',')).then_some(())?;
            self.type_of(i)?;
        }
        (self.c().eat(b')') && self.c().eat_str("->")).then_some(())?;
        self.result_types()
    }

    fn result_types(&mut self) -> Option<()> {
        if !self.c().eat(b'(') {
            let ty = self.ty()?;
            self.results.push(ty);
            return Some(());
        }
        while !self.c().eat(b')') {
            (self.results.is_empty() || self.c().eat(b',')).then_some(())?;
            let ty = self.ty()?;
            self.results.push(ty);
        }
        Some(())
    }

    /// The type of the only result, which is a tensor. It may be that nothing follows it.
    pub(crate) fn result_tensor(&mut self) -> Option<&TensorType> {
        let Reader { c, types, serial, .. } = &mut *self.reader;
        let (id, ty) = types.known(c, *serial, &mut self.b.writer)?;
        self.results.push(id);
        ty.as_tensor()
    }

    /// Whether operands and results have elements of one type.
    pub(crate) fn one_dtype(&self) -> bool {
        let f = self.b.writer.function();
        let mut operands = self.operands.iter().map(|&v| f.value_type(v));
        let mut results = self.results.iter().map(|&ty| f.type_by_id(ty));
        let first = operands.next().and_then(|ty| ty.as_tensor()).map(|ty| ty.dtype);
        let same = |ty: &sapwood_ptir::ValueType| ty.as_tensor().map(|ty| ty.dtype) == first;
        first.is_some() && operands.all(same) && results.all(same)
    }

    /// Whether operands and results are of one type.
    pub(crate) fn one_type(&self) -> bool {
        let f = self.b.writer.function();
        let mut types = self.operands.iter().map(|&v| f.type_id(v));
        types.all(|ty| self.results.iter().all(|result| *result == ty))
    }

    /// Appends the instruction and names its results.
    pub(crate) fn append<const N: usize>(&mut self, attrs: [Attr; N]) -> Option<()> {
        let Self { reader, b, names, start, key, operands, results } = self;
        let end = reader.c.at;
        // Places are said after what is between two ops.
        if reader.c.looking_at_word("loc") {
            return None;
        }
        let named: usize = names.iter().map(|(_, n)| *n as usize).sum();
        if named != 0 && named != results.len() {
            return None;
        }
        let end = *start + reader.c.text[*start..end].trim_ascii_end().len();
        let span = reader.span(*start, end);
        let inst = b.writer.append_typed(b.body, *key, attrs, operands, results, span)?;
        if named == 0 {
            return Some(());
        }
        match b.writer.function().value_of(inst) {
            Some(value) if results.len() == 1 => reader.name_results(b, names, &[value]),
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
