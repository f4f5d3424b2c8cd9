//! The reader of functions: signature, body, ops.

use std::borrow::Cow;

use sapwood_ptir::ops::{Refine, Return, Yield};
use sapwood_ptir::{
    BodyId, FunctionWriter, InstId, Op, OpParts, ResultType, TypeId, ValueId, ValueType,
};
use sapwood_types::{Loc, counted, did_you_mean};
use smallvec::SmallVec;

use super::declared_types::check_operand_types;
use super::regions::{OpenOp, RegionSyntax};
use super::value_scope::{NameBinding, ValueScope};
use super::{ModuleReader, ReadResult, kept_attributes_text};
use crate::attr::{NamedAttr, RawAttr, first_duplicate, to_single_line};
use crate::module::{FunctionExtras, OpExtras, PRIVATE};
use crate::ops::{self, OpConverter};
use crate::raw_op::{RawOp, ResultNames};

/// The words for a function's visibility.
const VISIBILITIES: [&str; 3] = ["public", PRIVATE, "nested"];

/// The largest number of instructions that space is reserved for.
const MAX_RESERVED_INSTS: usize = 1 << 16;

/// The number of parameters that space is reserved for.
const RESERVED_PARAMS: usize = 16;

/// A function that is being read.
pub(super) struct OpenFunction<'a> {
    pub(super) writer: FunctionWriter,
    pub(super) scope: ValueScope<'a>,
    /// Ops whose regions are being read, outermost first.
    pub(super) open_ops: Vec<OpenOp<'a>>,
    /// The body that instructions are appended to.
    pub(super) body: BodyId,
    /// True if the terminator of that body was read.
    pub(super) ended: bool,
    /// True if an error was reported.
    pub(super) failed: bool,
    pub(super) calls: Vec<InstId>,
    /// The operands and result types of the op that is read silently.
    pub(super) operands: Vec<ValueId>,
    pub(super) results: Vec<TypeId>,
}

/// The state after the start of an op was read.
pub(super) enum OpStart<'a> {
    /// The whole op was read.
    Complete,
    /// A region follows; its parameters are not bound yet.
    Region { form: RegionSyntax<'a>, params: Vec<Param<'a>> },
}

/// A parameter: its name and the id of its type.
pub(super) type Param<'a> = (&'a str, TypeId);

// A signature as it is written.
struct Signature<'a> {
    name: Cow<'a, str>,
    params: Vec<Param<'a>>,
    results: Vec<TypeId>,
    extras: FunctionExtras,
}

impl<'a> ModuleReader<'a> {
    /// Reads a function after the word `func.func`.
    pub(super) fn read_function(&mut self, start: usize) -> ReadResult<()> {
        let visibility = VISIBILITIES.into_iter().find(|w| self.c.eat_word(w));
        let Some(name) = self.c.symbol() else {
            self.c.skip_space();
            return self.error_at(self.c.at, "expected the name of a function: `@name`");
        };
        let mut extras =
            FunctionExtras { visibility: visibility.map(Into::into), ..Default::default() };
        self.expect(b'(', "after the name of a function")?;
        let mut writer = self.start_function(start, &name);
        let mut params = Vec::with_capacity(RESERVED_PARAMS);
        extras.params.reserve(RESERVED_PARAMS);
        let mut declared = false;
        while !self.c.eat(b')') {
            if (!params.is_empty() || declared) && !self.c.eat(b',') {
                self.c.skip_space();
                return self.error_at(self.c.at, "expected `,` or `)` after a parameter");
            }
            if self.c.peek() == b'%' {
                params.push(self.read_param(&mut writer)?);
            } else {
                self.read_type()?;
                declared = true;
            }
            let attrs = match self.c.peek() {
                b'{' => self.read_kept_dictionary()?,
                _ => None,
            };
            extras.params.push(attrs);
            let loc = self.read_loc()?;
            if !loc.is_unknown() {
                extras.param_locs.resize(extras.params.len(), Loc::UNKNOWN);
                extras.param_locs[extras.params.len() - 1] = loc;
            }
        }
        let mut results = Vec::new();
        if self.c.eat_str("->") {
            self.read_function_results(&mut writer, &mut results, &mut extras)?;
        }
        if self.c.eat_word("attributes") {
            extras.attributes = self.read_kept_dictionary()?;
        }
        if declared || self.c.peek() != b'{' {
            return self.error_at(start, format!("function @{name} has no body"));
        }
        self.c.at += 1;
        let index = self.functions.len();
        self.read_body(start, writer, Signature { name, params, results, extras })?;
        self.read_function_loc(index)
    }

    // Reads the location of the function with this index, which is missing if it has errors.
    fn read_function_loc(&mut self, index: usize) -> ReadResult<()> {
        let loc = self.read_loc()?;
        if let Some(function) = self.functions.get_mut(index) {
            function.set_span(function.function().span().with_loc(loc));
        }
        Ok(())
    }

    fn read_function_results(
        &mut self,
        writer: &mut FunctionWriter,
        results: &mut Vec<TypeId>,
        extras: &mut FunctionExtras,
    ) -> ReadResult<()> {
        if !self.c.eat(b'(') {
            results.push(self.read_type_id(writer)?);
            extras.results.push(None);
            return Ok(());
        }
        while !self.c.eat(b')') {
            if !results.is_empty() && !self.c.eat(b',') {
                self.c.skip_space();
                return self.error_at(self.c.at, "expected `,` or `)` after a result type");
            }
            results.push(self.read_type_id(writer)?);
            let attrs = match self.c.peek() {
                b'{' => self.read_kept_dictionary()?,
                _ => None,
            };
            extras.results.push(attrs);
        }
        Ok(())
    }

    // Reads a type and returns its id in the function.
    fn read_type_id(&mut self, writer: &mut FunctionWriter) -> ReadResult<TypeId> {
        let ty = self.types.read_id(&mut self.c, self.function_serial, writer);
        self.report_if_err(ty)
    }

    /// Reads `%x: tensor<f32>`.
    pub(super) fn read_param(&mut self, writer: &mut FunctionWriter) -> ReadResult<Param<'a>> {
        let Some(name) = self.c.value_name() else {
            self.c.skip_space();
            return self.error_at(self.c.at, "expected the name of a parameter: `%name`");
        };
        self.expect(b':', "after the name of a parameter")?;
        Ok((name, self.read_type_id(writer)?))
    }

    /// Reads a function in the generic form after the string `"func.func"`.
    pub(super) fn read_generic_function(&mut self, start: usize) -> ReadResult<()> {
        self.expect(b'(', "after `\"func.func\"`")?;
        self.expect(b')', "after `(`: a function has no operands")?;
        let mut entries = Vec::new();
        if self.c.eat(b'<') {
            entries = self.read_dictionary()?;
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
                ("sym_name", RawAttr::Str(name)) => signature.name = name,
                ("sym_visibility", RawAttr::Str(word)) if VISIBILITIES.contains(&&*word) => {
                    signature.extras.visibility = Some(word.into());
                }
                ("sym_visibility", _) => {
                    let message = "`sym_visibility` is \"public\", \"private\" or \"nested\"";
                    return self.error_at(start, message);
                }
                ("function_type", RawAttr::Function(types)) => results = types,
                ("arg_attrs", RawAttr::List(list)) => {
                    signature.extras.params = kept_dictionaries(&list);
                }
                ("res_attrs", RawAttr::List(list)) => {
                    signature.extras.results = kept_dictionaries(&list);
                }
                _ => {}
            }
        }
        if signature.name.is_empty() {
            return self.error_at(start, "a function needs `sym_name`");
        }
        self.expect(b'(', "before the region of a function")?;
        self.expect(b'{', "before the region of a function")?;
        let mut writer = self.start_function(start, &signature.name);
        signature.params = self.read_block_params(&mut writer)?;
        signature.results = results.iter().map(|ty| writer.intern_type(ty)).collect();
        let index = self.functions.len();
        self.read_body(start, writer, signature)?;
        self.expect(b')', "after the region of a function")?;
        if self.c.peek() == b'{' {
            self.read_dictionary()?;
        }
        self.expect(b':', "and the type of a function")?;
        self.read_attribute()?;
        self.read_function_loc(index)
    }

    /// Reads `^bb0(%x: tensor<f32>):`, if it is there.
    pub(super) fn read_block_params(
        &mut self,
        writer: &mut FunctionWriter,
    ) -> ReadResult<Vec<Param<'a>>> {
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
                params.push(self.read_param(writer)?);
                self.read_loc()?;
            }
        }
        self.expect(b':', "after a block label")?;
        Ok(params)
    }

    // Starts a function. Type and attribute ids are those of this function from now on.
    fn start_function(&mut self, start: usize, name: &str) -> FunctionWriter {
        self.function_serial += 1;
        let lines = self.lines.count_lines_to_close(start).min(MAX_RESERVED_INSTS);
        self.scope.clear();
        self.scope.reserve(lines + 8);
        // Some lines become several instructions.
        FunctionWriter::with_capacity(name, &self.registry, lines + lines / 4)
    }

    fn read_body(
        &mut self,
        start: usize,
        mut writer: FunctionWriter,
        signature: Signature<'a>,
    ) -> ReadResult<()> {
        let body = writer.function().body();
        let mut func = OpenFunction {
            scope: std::mem::take(&mut self.scope),
            open_ops: Vec::new(),
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
        self.bind_params(&mut func, body, &signature.params);
        loop {
            match self.c.peek() {
                b'}' => {
                    self.c.at += 1;
                    if func.open_ops.is_empty() {
                        break;
                    }
                    self.close_region(&mut func)?;
                }
                b'^' => {
                    return self
                        .error_at(self.c.at, "a region has one block; branches are not supported");
                }
                0 if self.c.at_end() => {
                    let message = format!("the text ends inside @{}", signature.name);
                    return self.error_at(self.c.at, message);
                }
                _ => {
                    self.progress.reach(self.c.at as u64);
                    self.read_op(&mut func)?;
                }
            }
        }
        self.finish_function(func, signature);
        Ok(())
    }

    // Verifies a function that was read, and adds it to the module.
    fn finish_function(&mut self, mut func: OpenFunction<'a>, signature: Signature<'a>) {
        if !func.ended && !func.failed {
            let message = format!("function @{} does not end with `return`", signature.name);
            self.problems.error(self.source.span(self.c.at - 1..self.c.at), message);
            func.failed = true;
        }
        let fine =
            !func.failed && self.check_return_types(&func, &signature.name, &signature.results);
        (self.scope, self.operands, self.results) = (func.scope, func.operands, func.results);
        if !fine {
            return;
        }
        let mut extras = signature.extras;
        if extras.visibility.as_deref() == Some(PRIVATE) {
            func.writer.set_private(true);
            extras.visibility = None;
        }
        match func.writer.finish_typed(signature.results) {
            Ok(function) => {
                let name = function.function().name();
                self.extras.functions.insert(name, extras);
                self.calls.extend(func.calls.into_iter().map(|inst| (name, inst)));
                self.functions.push(function);
            }
            Err(problems) => self.problems.append(problems),
        }
    }

    pub(super) fn bind_params(
        &mut self,
        func: &mut OpenFunction<'a>,
        body: BodyId,
        params: &[Param<'a>],
    ) {
        for (name, ty) in params {
            let value = func.writer.param_typed(body, *ty);
            set_name_hint(&mut func.writer, value, name);
            self.bind_or_report(func, name, &[value]);
        }
    }

    fn bind_or_report(&mut self, func: &mut OpenFunction<'a>, name: &'a str, values: &[ValueId]) {
        if !func.scope.bind(name, values) {
            let at = self.c.at.min(self.c.text.len());
            let message = format!("%{name} is defined twice");
            self.problems.error(self.source.span(at..at), message);
            func.failed = true;
        }
    }

    /// Reads one op.
    fn read_op(&mut self, func: &mut OpenFunction<'a>) -> ReadResult<()> {
        let names = self.read_result_names()?;
        self.c.skip_space();
        let at = self.c.at;
        // After an error, the reporting builder reads everything.
        if self.silent && self.problems.is_empty() && self.try_read_silently(func, &names) {
            return Ok(());
        }
        let mut op = RawOp { at, ..Default::default() };
        let next = if self.c.peek() == b'"' {
            op.name = self.c.string().unwrap_or_default();
            op.row = ops::by_name(&op.name);
            op.generic = true;
            self.read_generic_op(func, &mut op)?
        } else {
            let Some(name) = self.c.word() else {
                return self.error_at(at, "expected an op");
            };
            op.name = Cow::Borrowed(name);
            op.row = ops::by_name(name);
            self.read_pretty_op(func, &mut op, &names)?
        };
        match next {
            OpStart::Complete => self.finish_op(func, op, &names),
            OpStart::Region { form, params } => {
                self.open_region(func, op, names, form, &params);
                Ok(())
            }
        }
    }

    fn read_result_names(&mut self) -> ReadResult<ResultNames<'a>> {
        let mut names = ResultNames::new();
        let start = self.c.at;
        if let Some(name) = self.c.value_name()
            && self.c.text.as_bytes()[self.c.at..].starts_with(b" = ")
        {
            self.c.at += 3;
            names.push((name, 1));
            return Ok(names);
        }
        self.c.at = start;
        while let Some(name) = self.c.value_name() {
            let mut count = 1;
            if self.c.eat(b':') {
                match self.c.integer().and_then(|n| u32::try_from(n).ok()) {
                    Some(n) if n > 0 => count = n,
                    _ => {
                        return self
                            .error_at(self.c.at, "expected the number of results after `:`");
                    }
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

    /// Converts an op that was read and appends its instructions.
    pub(super) fn finish_op(
        &mut self,
        func: &mut OpenFunction<'a>,
        mut op: RawOp<'a>,
        names: &ResultNames<'a>,
    ) -> ReadResult<()> {
        let end = self.c.end_since(op.at);
        let loc = self.read_loc()?;
        let span = self.span(op.at, end).with_loc(loc);
        let terminator = ops::is_terminator(&op.name);
        if let Some([first, second]) = first_duplicate(&op.attrs) {
            self.report_duplicate_attr([first.text, second.text]);
            op.poison = true;
        }
        if op.poison {
            func.failed = true;
            if terminator {
                func.ended = true;
                if let Some(frame) = func.open_ops.last_mut() {
                    frame.op.poison = true;
                }
            }
            self.poison_names(func, names);
            return Ok(());
        }
        let mut error_text = None;
        let made = if terminator {
            append_terminator(func, &mut op, span).map(|()| SmallVec::new())
        } else {
            check_operand_types(func, &op).and_then(|()| {
                let mut converter =
                    OpConverter::new(&mut func.writer, func.body, &mut op, span, &mut func.calls);
                let made = converter.convert();
                let made = made.and_then(|made| converter.check_result_types(made));
                error_text = converter.error_text;
                match converter.duplicate {
                    // Other errors may be consequences of the duplicate.
                    Some(places) => {
                        self.report_duplicate_attr(places);
                        Err(String::new())
                    }
                    None => made,
                }
            })
        };
        let values = match made {
            Ok(values) => values,
            Err(message) => {
                func.failed = true;
                let name_end = op.at + op.name.len() + 2 * usize::from(op.generic);
                let (at, end) =
                    error_text.map_or((op.at, name_end.min(end)), |text| self.byte_range_of(text));
                let span = self.source.span(at..end);
                if !message.is_empty() {
                    self.problems.error(span, format!("{}: {message}", op.name));
                }
                self.poison_names(func, names);
                return Ok(());
            }
        };
        self.save_unused_attributes(&op, span);
        let count: usize = names.iter().map(|(_, n)| *n as usize).sum();
        if count != 0 && count != values.len() {
            let (named, found) = (counted(count, "name"), counted(values.len(), "result"));
            let message = format!("{}: {named}, but it has {found}", op.name);
            self.problems.error(span, message);
            func.failed = true;
            self.poison_names(func, names);
            return Ok(());
        }
        self.name_results(func, names, &values);
        Ok(())
    }

    /// Binds the name of an op's only result.
    #[inline]
    pub(super) fn name_result(
        &mut self,
        func: &mut OpenFunction<'a>,
        name: &'a str,
        value: ValueId,
    ) {
        // Numbers are not kept as name hints.
        if func.scope.bind_number(name, value) {
            return;
        }
        if func.writer.function().hint(value).is_none() {
            set_name_hint(&mut func.writer, value, name);
        }
        self.bind_or_report(func, name, &[value]);
    }

    /// Binds the names of an op's results.
    pub(super) fn name_results(
        &mut self,
        func: &mut OpenFunction<'a>,
        names: &ResultNames<'a>,
        values: &[ValueId],
    ) {
        if let ([(name, 1)], [value]) = (&names[..], values) {
            return self.name_result(func, name, *value);
        }
        let mut rest = values;
        for &(name, n) in names {
            let (taken, left) = rest.split_at(n as usize);
            rest = left;
            if let [first, ..] = taken
                && func.writer.function().hint(*first).is_none()
            {
                set_name_hint(&mut func.writer, *first, name);
            }
            self.bind_or_report(func, name, taken);
        }
    }

    fn poison_names(&mut self, func: &mut OpenFunction<'a>, names: &ResultNames<'a>) {
        for &(name, _) in names {
            func.scope.poison(name);
        }
    }

    // Saves the attributes that the conversion did not use.
    fn save_unused_attributes(&mut self, op: &RawOp<'a>, span: sapwood_types::Span) {
        let mut text = String::new();
        // Clauses come first, as in the pretty form.
        let mut unused: SmallVec<[&NamedAttr<'_>; 4]> =
            op.attrs.iter().filter(|e| !e.used).collect();
        unused.sort_by_key(|entry| !entry.clause);
        for entry in unused {
            if entry.name.starts_with("sdy.") {
                continue;
            }
            if !text.is_empty() {
                text.push_str(", ");
            }
            text.push_str(&to_single_line(entry.text));
        }
        if !text.is_empty() {
            let extras = OpExtras { op: (&*op.name).into(), attributes: text.into() };
            self.extras.ops.insert(span.without_loc(), extras);
        }
    }

    /// Reads an operand: `%x` or `%x#1`. Pushes nothing if its definition has an error.
    pub(super) fn read_operand(
        &mut self,
        func: &OpenFunction<'a>,
        op: &mut RawOp<'a>,
    ) -> ReadResult<()> {
        self.c.skip_space();
        let at = self.c.at;
        let Some(name) = self.c.value_name() else {
            return self.error_at(at, "expected a value: `%name`");
        };
        let mut index = 0;
        if self.c.eat_result_mark() {
            match self.c.digits().and_then(|d| d.parse::<u32>().ok()) {
                Some(n) => index = n,
                None => {
                    return self.error_at(self.c.at, "expected the number of a result after `#`");
                }
            }
        }
        let message = match func.scope.get(name) {
            Some(NameBinding::One(value)) if index == 0 => {
                op.operands.push(value);
                return Ok(());
            }
            Some(NameBinding::One(_)) => {
                format!("%{name}#{index} does not exist: %{name} has 1 result")
            }
            Some(NameBinding::Values { start, len }) if index < len => {
                op.operands.extend(func.scope.pooled_value(start, index));
                return Ok(());
            }
            Some(NameBinding::Values { len, .. }) => {
                let len = counted(len, "result");
                format!("%{name}#{index} does not exist: %{name} has {len}")
            }
            Some(NameBinding::Poison) => {
                op.poison = true;
                return Ok(());
            }
            // Names are compared only while there are few errors and few names, to bound the time.
            None => match (self.problems.error_count() < 20)
                .then(|| did_you_mean(name, func.scope.names().take(2000)))
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

fn kept_dictionaries(list: &[RawAttr<'_>]) -> Vec<Option<Box<str>>> {
    let one = |a: &RawAttr<'_>| match a {
        RawAttr::Dict(entries) => kept_attributes_text(entries, |_| true),
        _ => None,
    };
    list.iter().map(one).collect()
}

// Sets a name hint, unless the name is a number: those belong to unnamed values.
fn set_name_hint(writer: &mut FunctionWriter, value: ValueId, name: &str) {
    if !name.bytes().all(|b| b.is_ascii_digit()) {
        writer.set_hint(value, name);
    }
}

fn append_terminator(
    func: &mut OpenFunction<'_>,
    op: &mut RawOp<'_>,
    span: sapwood_types::Span,
) -> Result<(), String> {
    check_operand_types(func, op)?;
    if func.open_ops.is_empty() {
        OpConverter::new(&mut func.writer, func.body, op, span, &mut func.calls)
            .refine_operands_to_declared()?;
    }
    let values = op.operands.iter().copied().collect();
    let parts = match func.open_ops.is_empty() {
        true => Return { values }.into_parts(),
        false => Yield { values }.into_parts(),
    };
    func.writer.append(func.body, &parts, span).map_err(|e| e.to_string())?;
    func.ended = true;
    Ok(())
}

/// Returns a `refine` op that gives a value a more precise type.
pub(crate) fn refine_parts(input: ValueId, ty: &ValueType) -> OpParts {
    Refine { input, ty: ResultType(ty.clone()) }.into_parts()
}
