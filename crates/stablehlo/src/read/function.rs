//! Functions: signature, body, ops.

use std::borrow::Cow;
use std::sync::Arc;

use sapwood_ptir::ops::{Refine, Return, Yield};
use sapwood_ptir::{
    BodyId, FunctionWriter, InstId, Op, OpParts, ResultType, TypeId, ValueId, ValueType,
};
use sapwood_types::{counted, did_you_mean};
use smallvec::SmallVec;

use super::again::{Kind, Line};
use super::regions::{Form, Frame};
use super::scope::{Binding, Scope};
use super::stated::check_operands;
use super::{Parse, Reader, kept};
use crate::attr::{Attribute, Entry, tidy, twice};
use crate::module::{FunctionExtras, OpExtras, PRIVATE};
use crate::ops::{self, Convert};
use crate::raw::{RawOp, ResultNames};

/// Who may see a function.
const VISIBILITIES: [&str; 3] = ["public", PRIVATE, "nested"];

/// For how many instructions room is made before they are read.
const MOST_RESERVED: usize = 1 << 16;

/// For how many parameters room is made before they are read.
const FEW: usize = 16;

/// A function that is being read.
pub(super) struct Body<'a> {
    pub(super) writer: FunctionWriter,
    pub(super) scope: Scope<'a>,
    /// Ops whose regions are being read, outermost first.
    pub(super) frames: Vec<Frame<'a>>,
    /// Where instructions go.
    pub(super) body: BodyId,
    /// Whether the end of that body was read.
    pub(super) ended: bool,
    /// Whether something was reported.
    pub(super) failed: bool,
    pub(super) calls: Vec<InstId>,
    /// Operands and types of results of the op that is read straight from the text.
    pub(super) operands: Vec<ValueId>,
    pub(super) results: Vec<TypeId>,
}

/// What comes after the start of an op.
pub(super) enum Next<'a> {
    /// The op is read.
    Done,
    /// A region: its parameters are to be bound.
    Region { form: Form<'a>, params: Vec<Param<'a>> },
}

/// A parameter: its name and the number of its type.
pub(super) type Param<'a> = (&'a str, TypeId);

// A signature as it is written.
struct Signature<'a> {
    name: Cow<'a, str>,
    params: Vec<Param<'a>>,
    results: Vec<TypeId>,
    extras: FunctionExtras,
}

impl<'a> Reader<'a> {
    /// `func.func`; the word is read.
    pub(super) fn function(&mut self, start: usize) -> Parse<()> {
        let visibility = VISIBILITIES.into_iter().find(|w| self.c.eat_word(w));
        let Some(name) = self.c.symbol() else {
            self.c.skip();
            return self.stop(self.c.at, "expected the name of a function: `@name`");
        };
        let mut extras =
            FunctionExtras { visibility: visibility.map(Into::into), ..Default::default() };
        self.expect(b'(', "after the name of a function")?;
        let mut writer = self.writer(start, &name);
        let mut params = Vec::with_capacity(FEW);
        extras.params.reserve(FEW);
        let mut declared = false;
        while !self.c.eat(b')') {
            if (!params.is_empty() || declared) && !self.c.eat(b',') {
                self.c.skip();
                return self.stop(self.c.at, "expected `,` or `)` after a parameter");
            }
            if self.c.peek() == b'%' {
                params.push(self.param(&mut writer)?);
            } else {
                self.ty()?;
                declared = true;
            }
            let attrs = match self.c.peek() {
                b'{' => self.kept_dictionary()?,
                _ => None,
            };
            extras.params.push(attrs);
            self.skip_location()?;
        }
        let mut results = Vec::new();
        if self.c.eat_str("->") {
            self.function_results(&mut writer, &mut results, &mut extras)?;
        }
        if self.c.eat_word("attributes") {
            extras.attributes = self.kept_dictionary()?;
        }
        if declared || self.c.peek() != b'{' {
            return self.stop(start, format!("function @{name} has no body"));
        }
        self.c.at += 1;
        self.body(start, writer, Signature { name, params, results, extras })?;
        self.skip_location()
    }

    fn function_results(
        &mut self,
        writer: &mut FunctionWriter,
        results: &mut Vec<TypeId>,
        extras: &mut FunctionExtras,
    ) -> Parse<()> {
        if !self.c.eat(b'(') {
            results.push(self.type_number(writer)?);
            extras.results.push(None);
            return Ok(());
        }
        while !self.c.eat(b')') {
            if !results.is_empty() && !self.c.eat(b',') {
                self.c.skip();
                return self.stop(self.c.at, "expected `,` or `)` after a result type");
            }
            results.push(self.type_number(writer)?);
            let attrs = match self.c.peek() {
                b'{' => self.kept_dictionary()?,
                _ => None,
            };
            extras.results.push(attrs);
        }
        Ok(())
    }

    // A type, as its number in the function.
    fn type_number(&mut self, writer: &mut FunctionWriter) -> Parse<TypeId> {
        let ty = self.types.number(&mut self.c, self.serial, writer);
        self.check(ty)
    }

    /// `%x: tensor<f32>`.
    pub(super) fn param(&mut self, writer: &mut FunctionWriter) -> Parse<Param<'a>> {
        let Some(name) = self.c.value() else {
            self.c.skip();
            return self.stop(self.c.at, "expected the name of a parameter: `%name`");
        };
        self.expect(b':', "after the name of a parameter")?;
        Ok((name, self.type_number(writer)?))
    }

    /// `"func.func"`; the string is read.
    pub(super) fn generic_function(&mut self, start: usize) -> Parse<()> {
        self.expect(b'(', "after `\"func.func\"`")?;
        self.expect(b')', "after `(`: a function has no operands")?;
        let mut entries = Vec::new();
        if self.c.eat(b'<') {
            entries = self.dictionary()?;
            self.expect(b'>', "after properties")?;
        }
        let mut signature = Signature {
            name: Cow::Borrowed(""),
            params: Vec::new(),
            results: Vec::new(),
            extras: FunctionExtras::default(),
        };
        let mut results = Vec::new();
        for entry in entries {
            match (&*entry.name, entry.value) {
                ("sym_name", Attribute::Str(name)) => signature.name = name,
                ("sym_visibility", Attribute::Str(word)) if VISIBILITIES.contains(&&*word) => {
                    signature.extras.visibility = Some(word.into());
                }
                ("sym_visibility", _) => {
                    let message = "`sym_visibility` is \"public\", \"private\" or \"nested\"";
                    return self.stop(start, message);
                }
                ("function_type", Attribute::Function(types)) => results = types,
                ("arg_attrs", Attribute::List(list)) => signature.extras.params = kept_list(&list),
                ("res_attrs", Attribute::List(list)) => signature.extras.results = kept_list(&list),
                _ => {}
            }
        }
        if signature.name.is_empty() {
            return self.stop(start, "a function needs `sym_name`");
        }
        self.expect(b'(', "before the region of a function")?;
        self.expect(b'{', "before the region of a function")?;
        let mut writer = self.writer(start, &signature.name);
        signature.params = self.block_params(&mut writer)?;
        signature.results = results.iter().map(|ty| writer.intern_type(ty)).collect();
        self.body(start, writer, signature)?;
        self.expect(b')', "after the region of a function")?;
        if self.c.peek() == b'{' {
            self.dictionary()?;
        }
        self.expect(b':', "and the type of a function")?;
        self.attribute()?;
        self.skip_location()
    }

    /// `^bb0(%x: tensor<f32>):`, if it is there.
    pub(super) fn block_params(&mut self, writer: &mut FunctionWriter) -> Parse<Vec<Param<'a>>> {
        let mut params = Vec::new();
        if !self.c.eat(b'^') {
            return Ok(params);
        }
        let _ = self.c.word();
        if self.c.eat(b'(') {
            while !self.c.eat(b')') {
                if !params.is_empty() {
                    self.expect(b',', "or `)` after a parameter")?;
                }
                params.push(self.param(writer)?);
                self.skip_location()?;
            }
        }
        self.expect(b':', "after a block label")?;
        Ok(params)
    }

    // Starts a function. From now on types have the numbers they have in it.
    fn writer(&mut self, start: usize, name: &str) -> FunctionWriter {
        self.serial += 1;
        let lines = self.lines.until_closed(start).min(MOST_RESERVED);
        self.scope.clear();
        self.scope.reserve(lines + 8);
        // Some lines stand for more than one.
        FunctionWriter::with_capacity(name, &self.registry, lines + lines / 4)
    }

    fn body(
        &mut self,
        start: usize,
        mut writer: FunctionWriter,
        signature: Signature<'a>,
    ) -> Parse<()> {
        let body = writer.function().body();
        let mut b = Body {
            scope: std::mem::take(&mut self.scope),
            frames: Vec::new(),
            body,
            ended: false,
            failed: false,
            calls: Vec::new(),
            operands: std::mem::take(&mut self.operands),
            results: std::mem::take(&mut self.results),
            writer: {
                writer.set_span(self.span(start, self.c.at));
                writer
            },
        };
        self.bind_params(&mut b, body, &signature.params);
        loop {
            match self.c.peek() {
                b'}' => {
                    self.c.at += 1;
                    if b.frames.is_empty() {
                        break;
                    }
                    self.close_region(&mut b)?;
                }
                b'^' => {
                    return self
                        .stop(self.c.at, "a region has one block; branches are not supported");
                }
                0 if self.c.at_end() => {
                    let message = format!("the text ends inside @{}", signature.name);
                    return self.stop(self.c.at, message);
                }
                _ => self.statement(&mut b)?,
            }
        }
        self.close(b, signature);
        Ok(())
    }

    // A function is read: it goes to the others.
    fn close(&mut self, mut b: Body<'a>, signature: Signature<'a>) {
        if !b.ended && !b.failed {
            let message = format!("function @{} does not end with `return`", signature.name);
            self.problems.error(self.source.span(self.c.at - 1..self.c.at), message);
            b.failed = true;
        }
        let fine = !b.failed && self.returns_as_stated(&b, &signature.name, &signature.results);
        (self.scope, self.operands, self.results) = (b.scope, b.operands, b.results);
        if !fine {
            return;
        }
        match b.writer.finish_typed(signature.results) {
            Ok(mut function) => {
                let name = function.name();
                let mut extras = signature.extras;
                if extras.visibility.as_deref() == Some(PRIVATE) {
                    function.set_private(true);
                    extras.visibility = None;
                }
                self.extras.functions.insert(name, extras);
                self.calls.extend(b.calls.into_iter().map(|inst| (name, inst)));
                self.functions.push(Arc::new(function));
            }
            Err(problems) => self.problems.append(problems),
        }
    }

    pub(super) fn bind_params(&mut self, b: &mut Body<'a>, body: BodyId, params: &[Param<'a>]) {
        for (name, ty) in params {
            let value = b.writer.param_typed(body, *ty);
            hint(&mut b.writer, value, name);
            self.bind(b, name, &[value]);
        }
    }

    fn bind(&mut self, b: &mut Body<'a>, name: &'a str, values: &[ValueId]) {
        if !b.scope.bind(name, values) {
            let at = self.c.at.min(self.c.text.len());
            let message = format!("%{name} is defined twice");
            self.problems.error(self.source.span(at..at), message);
            b.failed = true;
        }
    }

    /// One op.
    fn statement(&mut self, b: &mut Body<'a>) -> Parse<()> {
        let names = self.result_names()?;
        self.c.skip();
        let at = self.c.at;
        // Where something is wrong all is read as it stands.
        let fine = self.problems.is_empty();
        if fine && self.direct(b, &names) {
            return Ok(());
        }
        let line = match fine {
            true => self.lines.end_of(at).and_then(|end| Line::new(self.c.text, at, end)),
            false => None,
        };
        if let Some(line) = &line
            && self.again(b, line, &names)
        {
            return Ok(());
        }
        let mut op = RawOp { at, ..Default::default() };
        let next = if self.c.peek() == b'"' {
            op.name = self.c.string().unwrap_or_default();
            op.generic = true;
            self.generic_op(b, &mut op)?
        } else {
            let Some(name) = self.c.word() else {
                return self.stop(at, "expected an op");
            };
            op.name = Cow::Borrowed(name);
            self.pretty_op(b, &mut op, &names)?
        };
        match next {
            Next::Done => self.finish_op(b, op, &names, line),
            Next::Region { form, params } => {
                self.open_region(b, op, names, form, &params);
                Ok(())
            }
        }
    }

    fn result_names(&mut self) -> Parse<ResultNames<'a>> {
        let mut names = ResultNames::new();
        let start = self.c.at;
        if let Some(name) = self.c.value()
            && self.c.text.as_bytes()[self.c.at..].starts_with(b" = ")
        {
            self.c.at += 3;
            names.push((name, 1));
            return Ok(names);
        }
        self.c.at = start;
        while let Some(name) = self.c.value() {
            let mut count = 1;
            if self.c.eat(b':') {
                match self.c.integer().and_then(|n| u32::try_from(n).ok()) {
                    Some(n) if n > 0 => count = n,
                    _ => return self.stop(self.c.at, "expected the number of results after `:`"),
                }
            }
            names.push((name, count));
            if !self.c.eat(b',') {
                break;
            }
        }
        if !names.is_empty() {
            self.expect(b'=', "after the names of results")?;
        }
        Ok(names)
    }

    /// An op is read: its place in the program is made. If it is all of a line, that line need not be read again.
    pub(super) fn finish_op(
        &mut self,
        b: &mut Body<'a>,
        mut op: RawOp<'a>,
        names: &ResultNames<'a>,
        line: Option<Line<'a>>,
    ) -> Parse<()> {
        self.skip_location()?;
        let end = op.at + self.c.text[op.at..self.c.at].trim_ascii_end().len();
        let span = self.span(op.at, end);
        let terminator = ops::is_terminator(&op.name);
        if let Some([first, second]) = twice(&op.attrs) {
            self.given_twice([first.text, second.text]);
            op.poison = true;
        }
        if op.poison {
            b.failed = true;
            if terminator {
                b.ended = true;
                if let Some(frame) = b.frames.last_mut() {
                    frame.op.poison = true;
                }
            }
            self.poison(b, names);
            return Ok(());
        }
        let before = (b.writer.function().inst_capacity(), b.calls.len());
        // A name in a string is no operand.
        let mut by_text = line.as_ref().is_some_and(|line| line.num_names() == op.operands.len());
        let mut place = None;
        let made = if terminator {
            end_body(b, &mut op, span).map(|()| SmallVec::new())
        } else {
            check_operands(b, &op).and_then(|()| {
                let mut convert = Convert::new(&mut b.writer, b.body, &mut op, span, &mut b.calls);
                let made = convert.run();
                by_text &= !convert.looked;
                let made = made.and_then(|made| convert.check_results(made));
                place = convert.place;
                match convert.twice {
                    // Other problems may come from that.
                    Some(places) => {
                        self.given_twice(places);
                        Err(String::new())
                    }
                    None => made,
                }
            })
        };
        let values = match made {
            Ok(values) => values,
            Err(message) => {
                b.failed = true;
                let name_end = op.at + op.name.len() + 2 * usize::from(op.generic);
                let (at, end) = place.map_or((op.at, name_end.min(end)), |text| self.place(text));
                let span = self.source.span(at..end);
                if !message.is_empty() {
                    self.problems.error(span, format!("{}: {message}", op.name));
                }
                self.poison(b, names);
                return Ok(());
            }
        };
        by_text &= !self.keep_attributes(&op, span);
        let count: usize = names.iter().map(|(_, n)| *n as usize).sum();
        if count != 0 && count != values.len() {
            let (named, found) = (counted(count, "name"), counted(values.len(), "result"));
            let message = format!("{}: {named}, but it has {found}", op.name);
            self.problems.error(span, message);
            b.failed = true;
            self.poison(b, names);
            return Ok(());
        }
        if let Some(line) = line
            && by_text
            && line.ends_at(op.at, end)
        {
            let kind = match (terminator, b.frames.is_empty()) {
                (true, true) => Kind::Return,
                (true, false) => Kind::Yield,
                (false, _) if b.calls.len() > before.1 => Kind::Call,
                (false, _) => Kind::Plain,
            };
            self.remember(b, line, before.0, &values, kind);
        }
        self.name_results(b, names, &values);
        Ok(())
    }

    /// Gives the only result of an op its name.
    #[inline]
    pub(super) fn name_result(&mut self, b: &mut Body<'a>, name: &'a str, value: ValueId) {
        // Numbers are no names that are kept.
        if b.scope.bind_number(name, value) {
            return;
        }
        if b.writer.function().hint(value).is_none() {
            hint(&mut b.writer, value, name);
        }
        self.bind(b, name, &[value]);
    }

    /// Gives the results of an op their names.
    pub(super) fn name_results(
        &mut self,
        b: &mut Body<'a>,
        names: &ResultNames<'a>,
        values: &[ValueId],
    ) {
        if let ([(name, 1)], [value]) = (&names[..], values) {
            return self.name_result(b, name, *value);
        }
        let mut rest = values;
        for &(name, n) in names {
            let (taken, left) = rest.split_at(n as usize);
            rest = left;
            if let [first, ..] = taken
                && b.writer.function().hint(*first).is_none()
            {
                hint(&mut b.writer, *first, name);
            }
            self.bind(b, name, taken);
        }
    }

    fn poison(&mut self, b: &mut Body<'a>, names: &ResultNames<'a>) {
        for &(name, _) in names {
            b.scope.poison(name);
        }
    }

    // What nobody asked for is kept beside the program. Whether there was something.
    fn keep_attributes(&mut self, op: &RawOp<'a>, span: sapwood_types::Span) -> bool {
        let mut text = String::new();
        // Clauses come first, as they do in the forms of ops.
        let mut unused: SmallVec<[&Entry<'_>; 4]> = op.attrs.iter().filter(|e| !e.used).collect();
        unused.sort_by_key(|entry| !entry.clause);
        for entry in unused {
            if entry.name.starts_with("sdy.") {
                continue;
            }
            if !text.is_empty() {
                text.push_str(", ");
            }
            text.push_str(&tidy(entry.text));
        }
        if !text.is_empty() {
            let extras = OpExtras { op: (&*op.name).into(), attributes: text.into() };
            self.extras.ops.insert(span, extras);
            return true;
        }
        false
    }

    /// A value that is used: `%x` or `%x#1`. Nothing for one that could not be read.
    pub(super) fn operand(&mut self, b: &Body<'a>, op: &mut RawOp<'a>) -> Parse<()> {
        self.c.skip();
        let at = self.c.at;
        let Some(name) = self.c.value() else {
            return self.stop(at, "expected a value: `%name`");
        };
        let mut index = 0;
        if self.c.result_mark() {
            match self.c.digits().and_then(|d| d.parse::<u32>().ok()) {
                Some(n) => index = n,
                None => return self.stop(self.c.at, "expected the number of a result after `#`"),
            }
        }
        let message = match b.scope.get(name) {
            Some(Binding::One(value)) if index == 0 => {
                op.operands.push(value);
                return Ok(());
            }
            Some(Binding::One(_)) => {
                format!("%{name}#{index} does not exist: %{name} stands for 1 result")
            }
            Some(Binding::Values { start, len }) if index < len => {
                op.operands.extend(b.scope.value(start, index));
                return Ok(());
            }
            Some(Binding::Values { len, .. }) => {
                let len = counted(len, "result");
                format!("%{name}#{index} does not exist: %{name} stands for {len}")
            }
            Some(Binding::Poison) => {
                op.poison = true;
                return Ok(());
            }
            // Names are only compared while there are few problems and few names: it must not take long.
            None => match (self.problems.error_count() < 20)
                .then(|| did_you_mean(name, b.scope.names().take(2000)))
                .flatten()
            {
                Some(other) => format!("%{name} is not defined; did you mean %{other}?"),
                None => format!("%{name} is not defined"),
            },
        };
        self.problems.error(self.source.span(at..self.c.at), message);
        op.poison = true;
        Ok(())
    }
}

fn kept_list(list: &[Attribute<'_>]) -> Vec<Option<Box<str>>> {
    let one = |a: &Attribute<'_>| match a {
        Attribute::Dict(entries) => kept(entries, |_| true),
        _ => None,
    };
    list.iter().map(one).collect()
}

// Numbers are what unnamed values are called.
fn hint(writer: &mut FunctionWriter, value: ValueId, name: &str) {
    if !name.bytes().all(|b| b.is_ascii_digit()) {
        writer.set_hint(value, name);
    }
}

fn end_body(b: &mut Body<'_>, op: &mut RawOp<'_>, span: sapwood_types::Span) -> Result<(), String> {
    check_operands(b, op)?;
    if b.frames.is_empty() {
        Convert::new(&mut b.writer, b.body, op, span, &mut b.calls).as_stated()?;
    }
    let values = op.operands.iter().copied().collect();
    let parts = match b.frames.is_empty() {
        true => Return { values }.into_parts(),
        false => Yield { values }.into_parts(),
    };
    b.writer.append(b.body, &parts, span).map_err(|e| e.to_string())?;
    b.ended = true;
    Ok(())
}

/// Sees a value with a type that is known more closely.
pub(crate) fn refine(input: ValueId, ty: &ValueType) -> OpParts {
    Refine { input, ty: ResultType(ty.clone()) }.into_parts()
}
