//! The silent builder: it reads ops whose text is exactly their form, and appends instructions straight from the text.
//!
//! It reports no errors. Text in another form, or with an error, is read again by the reporting builder, which accepts every
//! spelling and reports errors.

use sapwood_ptir::ops::{Call, Return, Yield};
use sapwood_ptir::{Attr, AttrId, BodyId, Name, Op as _, OpKey, TensorType, TypeId, ValueId};
use smallvec::SmallVec;

use super::ModuleReader;
use super::attr_cache::HashedText;
use super::function::OpenFunction;
use super::regions::OpenOp;
use crate::attr::Ints;
use crate::cursor::Cursor;
use crate::ops::{self, Part, Silent, TypeSyntax};
use crate::raw_op::ResultNames;

/// Attributes in the order of the op's definition.
pub(crate) type AttrVec = SmallVec<[Attr; 4]>;

// Attributes that are being read. No op that is read part by part has more.
type SilentAttrs = SmallVec<[Attr; 6]>;

/// The size of the longest attribute text that is cached.
const MAX_CACHED_ATTR_BYTES: usize = 1 << 9;

/// An op that is being read silently, with the function it is appended to.
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
    /// Appends the op that starts here if the silent builder accepts it. Returns `false`, without any effect, otherwise.
    #[inline]
    pub(super) fn try_read_silently(
        &mut self,
        func: &mut OpenFunction<'a>,
        names: &ResultNames<'a>,
    ) -> bool {
        let start = self.c.at;
        let made = self.read_op_silently(func, names, start).is_some();
        if !made {
            self.c.at = start;
        }
        made
    }

    #[inline]
    fn read_op_silently(
        &mut self,
        func: &mut OpenFunction<'a>,
        names: &ResultNames<'a>,
        start: usize,
    ) -> Option<()> {
        let (name, hash) = self.c.op_name()?;
        let (mapping, key) = ops::silent_by_name(name, hash)?;
        self.c.at += name.len();
        func.operands.clear();
        func.results.clear();
        let mut cx = FastOpReader { reader: self, func, names, start, end: start, key };
        let Some(mapping) = mapping else { return cx.read_terminator() };
        match mapping.silent {
            Silent::Always => cx.read_form(mapping.form, None),
            Silent::If(fits) => cx.read_form(mapping.form, Some(fits)),
            Silent::By(read) => read(&mut cx),
            Silent::Never => None,
        }
    }
}

impl<'a> ModuleReader<'a> {
    /// Appends the op whose regions were read, if it has no attributes and is correct. In the generic form, its types follow.
    /// Returns `false`, without any effect, otherwise.
    pub(super) fn try_close_silently(
        &mut self,
        func: &mut OpenFunction<'a>,
        frame: &OpenOp<'a>,
    ) -> bool {
        let op = &frame.op;
        let plain = op.row.filter(|(row, _)| row.has_only_regions() && op.attrs.is_empty());
        let Some((_, key)) = plain else { return false };
        if !self.silent || !self.problems.is_empty() || op.poison {
            return false;
        }
        let (start, end) = (op.at, self.c.at);
        func.operands.clear();
        func.results.clear();
        func.operands.extend_from_slice(&op.operands);
        if op.results_match_operands {
            let f = func.writer.function();
            func.results.extend(op.operands.iter().map(|&v| f.type_id(v)));
        }
        let names = &frame.names;
        let mut cx = FastOpReader { reader: self, func, names, start, end, key };
        let typed = op.results_match_operands || (op.generic && cx.read_function_type().is_some());
        let none = cx.func.writer.intern_attrs(&[]);
        let made = typed && cx.append(none, &op.regions).is_some();
        if !made {
            self.c.at = end;
        }
        made
    }
}

impl<'a> FastOpReader<'_, 'a> {
    // Reads an op in its form and appends it, if `fits` holds for it.
    #[inline]
    fn read_form(
        &mut self,
        form: &'static [Part],
        fits: Option<fn(&FastOpReader<'_, '_>, &[Attr]) -> bool>,
    ) -> Option<()> {
        let mut attrs = SilentAttrs::new();
        let mut known = None;
        for part in form {
            match *part {
                Part::Operands => self.read_operands()?,
                Part::Types(syntax) => self.read_types(syntax)?,
                Part::ResultType => attrs.push(Attr::Unit),
                Part::Literal => known = Some(self.read_literal()?),
                Part::Cached(end, read) => known = Some(self.read_cached_attributes(end, read)?),
                _ => self.read_part(part, &mut attrs)?,
            }
        }
        if fits.is_some_and(|fits| !fits(self, &attrs)) {
            return None;
        }
        let attrs = match known {
            Some(id) => id,
            None => self.func.writer.intern_attrs(&attrs),
        };
        self.append(attrs, &[])
    }

    // Reads an attribute, or a token around attributes.
    fn read_part(&mut self, part: &'static Part, attrs: &mut SilentAttrs) -> Option<()> {
        let count = attrs.first().and_then(Attr::as_ints).map_or(0, <[i64]>::len);
        let c = &mut self.reader.c;
        match *part {
            Part::Open => return c.eat(b'(').then_some(()),
            Part::Close => return c.eat(b')').then_some(()),
            Part::Default(text) => drop(c.eat_str(text)),
            Part::Ints(key, _) => attrs.push(Attr::Ints(self.read_int_list(key)?)),
            Part::IntsUnless(key, _, default) => {
                let list = self.read_int_list(key)?;
                attrs.push(attr_unless_all(list, default, count)?);
            }
            Part::ListPair(key) => {
                let lists = match c.looking_at_word(key) {
                    true => self.read_int_list_pair(key)?,
                    false => Default::default(),
                };
                attrs.extend(lists.map(Attr::Ints));
            }
            Part::Int(key, _) => {
                (c.eat_word(key) && c.eat(b'=')).then_some(())?;
                attrs.push(Attr::Int(c.integer()?));
            }
            Part::Word(key, _, words) => {
                (c.eat_word(key) && c.eat(b'=')).then_some(())?;
                attrs.push(words.attr(words.position(c.word()?)?));
                c.eat(b',');
            }
            Part::BareWord(_, _, words) => {
                attrs.push(words.attr(words.position(c.word()?)?));
                c.eat(b',');
            }
            Part::OptionalBareWord(_, _, words) => {
                let position = c.word().map_or(Some(0), |word| words.position(word));
                attrs.push(words.attr(position?));
            }
            Part::Ranges => attrs.extend(self.read_ranges()?),
            Part::Callee => attrs.push(Attr::Func(Name::new(&c.symbol()?))),
            Part::Fixed(value) => attrs.push(value()),
            Part::Twice => {
                let &[value] = &self.func.operands[..] else { return None };
                self.func.operands.push(value);
            }
            // These are rare, or belong to the generic form: the reporting builder reads them.
            _ => return None,
        }
        Some(())
    }

    // Reads `[0:4, 1:8:2]`.
    fn read_ranges(&mut self) -> Option<[Attr; 3]> {
        let (mut starts, mut limits, mut strides) = (Ints::new(), Ints::new(), Ints::new());
        let c = self.cursor();
        c.eat(b'[').then_some(())?;
        while !c.eat(b']') {
            (starts.is_empty() || c.eat(b',')).then_some(())?;
            starts.push(c.integer()?);
            c.eat(b':').then_some(())?;
            limits.push(c.integer()?);
            strides.push(if c.eat(b':') { c.integer()? } else { 1 });
        }
        let strides = attr_unless_all(strides, 1, starts.len())?;
        Some([Attr::Ints(starts), Attr::Ints(limits), strides])
    }

    // Reads `return %a, %b : T, U`.
    fn read_terminator(&mut self) -> Option<()> {
        self.read_operands()?;
        self.cursor().eat(b':').then_some(())?;
        for i in 0..self.func.operands.len() {
            (i == 0 || self.cursor().eat(b',')).then_some(())?;
            self.read_type_of_operand(i)?;
        }
        (!self.func.operands.is_empty() && self.cursor().peek() != b',').then_some(())?;
        self.key = if self.func.open_ops.is_empty() { Return::key() } else { Yield::key() };
        let none = self.func.writer.intern_attrs(&[]);
        self.append(none, &[])?;
        self.func.ended = true;
        Some(())
    }

    /// Returns the cursor.
    pub(crate) fn cursor(&mut self) -> &mut Cursor<'a> {
        &mut self.reader.c
    }

    /// Reads `%a, %b#1`, and a comma after it if there is one.
    pub(crate) fn read_operands(&mut self) -> Option<()> {
        let c = &mut self.reader.c;
        if c.peek() != b'%' {
            return Some(());
        }
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

    // Reads `: T` for all operands and the result, `: T, U -> V` or `: (T, U) -> V`.
    #[inline]
    fn read_types(&mut self, syntax: TypeSyntax) -> Option<()> {
        if syntax == TypeSyntax::OfSelect {
            return self.read_select_types();
        }
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
            if syntax == TypeSyntax::OfResult {
                self.func.results.push(first);
                return Some(());
            }
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

    // Reads the types of a select: `: P, T`, or `: (P, T, T) -> T`.
    fn read_select_types(&mut self) -> Option<()> {
        self.cursor().eat(b':').then_some(())?;
        if self.cursor().eat(b'(') {
            return self.read_function_type_rest();
        }
        let [_, _, otherwise] = self.func.operands[..] else { return None };
        self.read_type_of_operand(0)?;
        self.cursor().eat(b',').then_some(())?;
        let ty = self.read_type_of_operand(1)?;
        (ty == self.func.writer.function().type_id(otherwise)).then_some(())?;
        // The reporting builder reads a list of all types.
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
        let id = self.func.writer.intern_attrs(&[Attr::Literal(literal)]);
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
        read: fn(&mut Cursor<'_>) -> Option<AttrVec>,
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
        let id = self.func.writer.intern_attrs(&attrs);
        attr_cache.insert(text, 0, *function_serial, id, &self.func.writer);
        Some(id)
    }

    /// Creates a region with one op on two scalars of the first operand's element type, and appends the instruction with this
    /// region.
    pub(crate) fn append_with_combiner(
        &mut self,
        name: &str,
        at: usize,
        attrs: &[Attr],
    ) -> Option<()> {
        let attrs = self.func.writer.intern_attrs(attrs);
        let f = self.func.writer.function();
        let dtype = f.value_type(*self.func.operands.first()?).as_tensor()?.dtype;
        let region = BodyId::from_index(f.body_capacity());
        let span = self.reader.span(at, at + name.len());
        let made = ops::combiner_region(&mut self.func.writer, name, dtype, span).ok();
        let appended = made.and_then(|region| self.append(attrs, &[region]));
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

    /// Returns whether the first operand has float elements.
    pub(crate) fn first_operand_is_float(&self) -> bool {
        let f = self.func.writer.function();
        let first = self.func.operands.first().and_then(|&v| f.value_type(v).as_tensor());
        first.is_some_and(|ty| ty.dtype.is_float())
    }

    /// Returns whether all operands and results have the same type.
    pub(crate) fn has_one_type(&self) -> bool {
        let f = self.func.writer.function();
        let mut types = self.func.operands.iter().map(|&v| f.type_id(v));
        types.all(|ty| self.func.results.iter().all(|result| *result == ty))
    }

    // Reads the location, appends the instruction and names its results.
    fn append(&mut self, attrs: AttrId, regions: &[BodyId]) -> Option<()> {
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
        let inst =
            func.writer.append_typed(body, kind, &func.operands, regions, &func.results, span)?;
        if *key == Call::key() {
            func.calls.push(inst);
        }
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
}

// Returns a list of `count` integers as an attribute; absent if all entries are the default.
fn attr_unless_all(list: Ints, default: i64, count: usize) -> Option<Attr> {
    (list.len() == count).then_some(())?;
    Some(if list.iter().any(|&n| n != default) { Attr::Ints(list) } else { Attr::Unit })
}
