//! Reads programs in the text form. Collects problems; uses no recursion for regions.

use std::sync::Arc;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_types::{Diagnostic, Diagnostics, FileId, Span, did_you_mean};
use smallvec::SmallVec;

use super::lexer::{Kind, Lexer, Token};
use super::literal::LiteralRange;
use crate::attr::{Attr, AttrKind, AttrList};
use crate::func::{Function, InstSpec, Place, anonymous_number};
use crate::ids::{BodyId, InstId, TypeId, ValueId};
use crate::op::{OpDef, OpKey, OperandKind, Registry, ResultCount};
use crate::program::Program;
use crate::verify;

/// How to read a text.
#[derive(Clone, Debug)]
pub struct ParseOptions {
    file: FileId,
    registry: Arc<Registry>,
    verify: bool,
    comments: bool,
    limit: usize,
}

impl ParseOptions {
    /// Built-in ops, verifier on, no file name, comments dropped, at most 100 problems.
    #[must_use]
    pub fn new() -> Self {
        Self {
            file: FileId::UNKNOWN,
            registry: Registry::builtin(),
            verify: true,
            comments: false,
            limit: 100,
        }
    }

    /// The name of the file, for spans.
    #[must_use]
    pub fn file(mut self, name: &str) -> Self {
        self.file = FileId::intern(name);
        self
    }

    /// The ops that are known.
    #[must_use]
    pub fn registry(mut self, registry: &Arc<Registry>) -> Self {
        self.registry = registry.clone();
        self
    }

    /// Whether types and calls are checked too.
    #[must_use]
    pub fn verify(mut self, verify: bool) -> Self {
        self.verify = verify;
        self
    }

    /// Whether comments before functions and instructions are kept.
    #[must_use]
    pub fn comments(mut self, comments: bool) -> Self {
        self.comments = comments;
        self
    }

    /// How many problems are reported.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }
}

impl Default for ParseOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// Reads and verifies a program of built-in ops.
///
/// # Errors
/// With all problems found.
pub fn parse(text: &str) -> Result<Program, Diagnostics> {
    parse_options(text, &ParseOptions::new())
}

/// Reads and verifies a program of these ops.
///
/// # Errors
/// With all problems found.
pub fn parse_with(text: &str, registry: &Arc<Registry>) -> Result<Program, Diagnostics> {
    parse_options(text, &ParseOptions::new().registry(registry))
}

/// Reads a program.
///
/// # Errors
/// With all problems found.
pub fn parse_options(text: &str, options: &ParseOptions) -> Result<Program, Diagnostics> {
    if u32::try_from(text.len()).is_err() {
        let span = Span::new(options.file, 1, 1, 1, 1);
        let message =
            format!("the text has {} bytes, at most {} can be read", text.len(), u32::MAX);
        return Err(Diagnostic::error(span, message).into());
    }
    Parser::new(text, options).program()
}

/// Reading cannot go on here; the problem is recorded.
#[derive(Debug)]
pub(super) struct Stop;

pub(super) struct Parser<'a> {
    pub(super) lexer: Lexer<'a>,
    pub(super) token: Token,
    last_end: (u32, u32),
    options: &'a ParseOptions,
    pub(super) problems: Diagnostics,
    pub(super) function: Function,
    // Of the current function: values by hint and by number.
    by_hint: Vec<Slot>,
    by_number: Vec<Slot>,
    open: Vec<bool>,
    // Names that were used before they were defined.
    missing: Vec<(Token, ScopedName)>,
    // Types of the current function by their text.
    pub(super) type_cache: HashMap<&'a str, TypeId, FxBuildHasher>,
    no_attrs: AttrList,
    last_literal: Option<InstId>,
}

#[derive(Clone, Copy, PartialEq)]
enum ScopedName {
    Hint(u32),
    Number(u32),
}

#[derive(Clone, Copy)]
struct Slot {
    // NONE: not defined. With a line but no value: its definition was wrong.
    value: ValueId,
    line: u32,
}

const UNDEFINED: Slot = Slot { value: ValueId::NONE, line: 0 };

/// An instruction whose regions are being read.
struct Pending {
    start: Token,
    results: SmallVec<[(ScopedName, Token); 1]>,
    key: OpKey,
    attrs: Attrs,
    operands: SmallVec<[ValueId; 4]>,
    regions: SmallVec<[BodyId; 2]>,
    body: BodyId,
    poisoned: bool,
    comment: Option<String>,
}

/// Attributes as written, before the result type is known.
struct Attrs {
    list: Vec<Attr>,
    literal: Option<(usize, LiteralRange)>,
}

fn builtin_options() -> &'static ParseOptions {
    static OPTIONS: std::sync::OnceLock<ParseOptions> = std::sync::OnceLock::new();
    OPTIONS.get_or_init(ParseOptions::new)
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, options: &'a ParseOptions) -> Self {
        let mut lexer = Lexer::new(text);
        if options.comments {
            lexer.comments = Some(String::new());
        }
        let token = lexer.next();
        Self {
            lexer,
            token,
            last_end: (1, 1),
            options,
            problems: Diagnostics::with_limit(options.limit),
            function: Function::new("", options.registry.clone()),
            by_hint: Vec::new(),
            by_number: Vec::new(),
            open: Vec::new(),
            missing: Vec::new(),
            type_cache: HashMap::default(),
            no_attrs: [].into(),
            last_literal: None,
        }
    }

    pub(super) fn for_fragment(text: &'a str) -> Self {
        Self::new(text, builtin_options())
    }

    pub(super) fn first_message(self) -> String {
        self.problems.into_vec().into_iter().next().map_or_else(String::new, |d| d.message)
    }

    fn program(mut self) -> Result<Program, Diagnostics> {
        let mut program = Program::new(self.options.registry.clone());
        if self.header().is_err() {
            return Err(self.problems);
        }
        while self.token.kind != Kind::End {
            let leading = self.take_comments();
            let start = self.token;
            if self.word() != Some("func") {
                let _ = self.expected("`func`");
                // To the next line that starts a function.
                self.bump();
                while self.token.kind != Kind::End
                    && !(self.token.column == 1 && self.word() == Some("func"))
                {
                    self.bump();
                }
                continue;
            }
            self.bump();
            let before = self.problems.error_count();
            self.reset();
            if self.function_rest(start).is_err() {
                while self.token.kind != Kind::End
                    && !(self.token.column == 1 && self.word() == Some("func"))
                {
                    self.bump();
                }
            }
            self.finish_names();
            let registry = self.options.registry.clone();
            let mut function = std::mem::replace(&mut self.function, Function::new("", registry));
            function.set_leading_comment(leading.as_deref());
            function.renumber(function.body());
            let fine = self.problems.error_count() == before;
            if self.options.verify {
                verify::check_function(&function, &mut self.problems, fine);
            }
            let span = start.span(self.options.file);
            if let Err(error) = program.add(function) {
                self.problems.error(span, error.to_string());
            }
        }
        if self.options.verify {
            verify::check_calls(&program, &mut self.problems);
        }
        self.problems.sort();
        self.problems.into_result(program)
    }

    fn header(&mut self) -> Result<(), Stop> {
        if self.word() != Some("ptir") {
            return Err(self.expected_help(
                "`ptir 1`",
                "a program starts with the version of its text form".into(),
            ));
        }
        self.bump();
        let text = self.lexer.text(self.token);
        let Some(version) = text.parse::<u64>().ok().filter(|_| self.token.kind == Kind::Int)
        else {
            return Err(self.expected("a version number"));
        };
        if version > super::TEXT_VERSION || version == 0 {
            let message = format!(
                "this text has version {version}, this reader knows versions 1 to {}",
                super::TEXT_VERSION
            );
            return Err(self.stop(message));
        }
        self.bump();
        Ok(())
    }

    fn reset(&mut self) {
        self.by_hint.clear();
        self.by_number.clear();
        self.open.clear();
        self.open.push(true);
        self.missing.clear();
        self.type_cache.clear();
        self.last_literal = None;
    }

    fn function_rest(&mut self, start: Token) -> Result<(), Stop> {
        if self.token.kind != Kind::Func {
            return Err(self.expected("the name of the function, such as `@f`"));
        }
        let name = self.func_name(self.lexer.text(self.token))?;
        self.function.set_name(name);
        self.function.set_span(self.span_from(start, self.token));
        self.bump();
        let body = self.function.body();
        self.params(body)?;
        let mut results: Vec<TypeId> = Vec::new();
        if self.token.kind == Kind::Arrow {
            self.bump();
            if self.eat(b'(') {
                while !self.at(b')') {
                    results.push(self.interned_type()?);
                    if !self.eat(b',') && !self.at(b')') {
                        return Err(self.expected("`,` or `)`"));
                    }
                }
                self.bump();
            } else {
                results.push(self.interned_type()?);
            }
        }
        self.function.set_result_ids(results);
        self.expect(b'{')?;
        self.body()?;
        Ok(())
    }

    fn params(&mut self, body: BodyId) -> Result<(), Stop> {
        self.expect(b'(')?;
        while !self.at(b')') {
            let token = self.token;
            if token.kind != Kind::Value {
                return Err(self.expected("a parameter, such as `%x: f32[]`"));
            }
            let name = self.scoped_name(token);
            self.bump();
            self.expect(b':')?;
            let ty = self.interned_type()?;
            let value = self.function.push_param_id(body, ty);
            self.define(name, token, Some(value));
            if !self.eat(b',') && !self.at(b')') {
                return Err(self.expected("`,` or `)`"));
            }
        }
        self.bump();
        Ok(())
    }

    // The instructions of the function, up to its closing brace. Regions are kept on a stack of our own.
    fn body(&mut self) -> Result<(), Stop> {
        let mut stack: Vec<Box<Pending>> = Vec::new();
        let mut body = self.function.body();
        loop {
            if self.token.kind == Kind::End {
                return Err(self.expected("`}`"));
            }
            if self.at(b'}') {
                self.bump();
                self.open[body.index()] = false;
                let Some(mut pending) = stack.pop() else { return Ok(()) };
                if self.at(b'(') {
                    match self.open_region(&mut pending) {
                        Ok(next) => {
                            stack.push(pending);
                            body = next;
                        }
                        Err(Stop) => {
                            body = pending.body;
                            self.poison(&pending);
                            self.recover(pending.start);
                        }
                    }
                    continue;
                }
                body = pending.body;
                let start = pending.start;
                if self.complete(&mut pending).is_err() {
                    self.recover(start);
                }
                continue;
            }
            let start = self.token;
            match self.instruction(body) {
                Ok(None) => {}
                Ok(Some(pending)) => {
                    body = pending.regions.last().copied().unwrap_or(body);
                    stack.push(pending);
                }
                Err(Stop) => self.recover(start),
            }
        }
    }

    // Passes over the rest of the line, and over braces that were opened in it.
    fn recover(&mut self, start: Token) {
        let mut depth = 0usize;
        if self.token.start == start.start && self.token.kind != Kind::End {
            self.bump();
        }
        let line = self.last_end.0;
        loop {
            match self.token.kind {
                Kind::End => return,
                Kind::Punct(b'{') => depth += 1,
                Kind::Punct(b'}') if depth == 0 && self.token.line > line => return,
                Kind::Punct(b'}') => depth = depth.saturating_sub(1),
                Kind::Word if self.token.column == 1 && self.word() == Some("func") => return,
                _ if depth == 0 && self.token.line > line => return,
                _ => {}
            }
            self.bump();
        }
    }

    // One instruction. If it has regions, it is given back with its first region opened.
    fn instruction(&mut self, body: BodyId) -> Result<Option<Box<Pending>>, Stop> {
        let comment = self.take_comments();
        let start = self.token;
        let mut results: SmallVec<[(ScopedName, Token); 1]> = SmallVec::new();
        while self.token.kind == Kind::Value {
            let token = self.token;
            results.push((self.scoped_name(token), token));
            self.bump();
            if !self.eat(b',') {
                break;
            }
        }
        let names = results.clone();
        let parsed = self.instruction_rest(start, results, body, comment);
        if parsed.is_err() {
            for (name, token) in names {
                self.define(name, token, None);
            }
        }
        parsed
    }

    fn instruction_rest(
        &mut self,
        start: Token,
        results: SmallVec<[(ScopedName, Token); 1]>,
        body: BodyId,
        comment: Option<String>,
    ) -> Result<Option<Box<Pending>>, Stop> {
        if !results.is_empty() {
            self.expect(b'=')?;
        }
        if self.token.kind != Kind::Word {
            return Err(self.expected("the name of an op"));
        }
        let name_token = self.token;
        let name = self.lexer.text(name_token);
        let options = self.options;
        let registry = &options.registry;
        let def = registry.by_name(name);
        if def.is_none() && !name.contains('.') {
            let help = did_you_mean(name, registry.defs().map(|d| d.name)).map_or_else(
                || "ops that are not registered are written `dialect.name`".into(),
                |n| format!("did you mean `{n}`?"),
            );
            return Err(self.stop_help(format!("unknown op `{name}`"), help));
        }
        let key = def.map_or_else(|| OpKey::of(name), |d| d.key);
        self.bump();
        let mut attrs = Attrs { list: Vec::new(), literal: None };
        let mut inline = None;
        if let Some((def, index)) = def.and_then(|d| Some((d, d.inline?))) {
            if def.attrs[index].kind == AttrKind::Literal {
                attrs.literal = Some((index, self.skip_literal()?));
                inline = Some(Attr::Unit);
            } else {
                let token = self.token;
                let attr = self.attr(0)?;
                inline = Some(self.accept(def, index, attr, token)?);
            }
        }
        let mut operands: SmallVec<[ValueId; 4]> = SmallVec::new();
        let mut poisoned = false;
        let mut first = true;
        loop {
            match self.token.kind {
                // The results of the next instruction may follow one without operands.
                Kind::Value if first && self.starts_instruction(start) => break,
                Kind::Value => {
                    match self.use_value(self.token) {
                        Some(value) => operands.push(value),
                        None => poisoned = true,
                    }
                    self.bump();
                }
                Kind::Int | Kind::Float | Kind::Hex | Kind::Punct(b'[') => {
                    operands.push(self.literal_operand()?)
                }
                Kind::Word if self.literal_word() => operands.push(self.literal_operand()?),
                _ if first && self.token.kind != Kind::Hole => break,
                _ => return Err(self.expected("an operand")),
            }
            first = false;
            if !self.eat(b',') {
                break;
            }
        }
        self.attributes(def, inline, &mut attrs)?;
        let mut pending = Pending {
            start,
            results,
            key,
            attrs,
            operands,
            regions: SmallVec::new(),
            body,
            poisoned,
            comment,
        };
        if self.at(b'(') {
            self.open_region(&mut pending)?;
            return Ok(Some(Box::new(pending)));
        }
        self.complete(&mut pending)?;
        Ok(None)
    }

    // A value at the start of a line, followed by `=` or `,`, begins an instruction.
    fn starts_instruction(&self, start: Token) -> bool {
        if self.token.line == start.line {
            return false;
        }
        let mut ahead = self.lexer.clone();
        loop {
            match ahead.next().kind {
                Kind::Punct(b'=') => return true,
                Kind::Punct(b',') => {
                    if ahead.next().kind != Kind::Value {
                        return false;
                    }
                }
                _ => return false,
            }
        }
    }

    fn literal_word(&self) -> bool {
        // Only on the line of the instruction; a word on the next line is an op.
        matches!(self.word(), Some("true" | "false" | "nan" | "inf" | "hex"))
    }

    fn literal_operand(&mut self) -> Result<ValueId, Stop> {
        let token = self.token;
        let range = self.skip_literal()?;
        if !self.at(b':') {
            return Err(self.expected_help(
                "`:` and a type",
                "a literal operand carries its type: `1.0:f32[4]`".into(),
            ));
        }
        self.bump();
        let ty = self.tensor_type()?;
        let literal = self.literal(&range, &ty)?;
        let span = token.span(self.options.file);
        // Constants of literals stand at the start, in the order in which they are met.
        let count = self.function.inst_capacity();
        let place = match self.last_literal {
            Some(last) => Place::After(last),
            None => Place::Start(self.function.body()),
        };
        let value = self.function.constant_unlabelled(&literal, span, place, |_, _| true);
        if self.function.inst_capacity() > count {
            self.last_literal = self.function.inst_of(value);
        }
        Ok(value)
    }

    fn open_region(&mut self, pending: &mut Pending) -> Result<BodyId, Stop> {
        let body = self.function.create_body();
        self.open.resize(body.index() + 1, false);
        self.open[body.index()] = true;
        pending.regions.push(body);
        self.params(body)?;
        self.expect(b'{')?;
        Ok(body)
    }

    fn attributes(
        &mut self,
        def: Option<&OpDef>,
        inline: Option<Attr>,
        attrs: &mut Attrs,
    ) -> Result<(), Stop> {
        let Some(def) = def else {
            let dict = if self.at(b'{') { self.attr(0)? } else { Attr::dict(Vec::new()) };
            attrs.list.push(dict);
            return Ok(());
        };
        if def.attrs.is_empty() && !self.at(b'{') {
            return Ok(());
        }
        let mut list: SmallVec<[Option<Attr>; 4]> = SmallVec::from_elem(None, def.attrs.len());
        if let (Some(index), Some(attr)) = (def.inline, inline) {
            list[index] = Some(attr);
        }
        let open = self.token;
        if self.eat(b'{') {
            while !self.at(b'}') {
                let token = self.token;
                let text = self.lexer.text(token);
                let index =
                    def.attrs.iter().position(|a| a.name == text && a.kind != AttrKind::ResultType);
                let Some(index) = index else {
                    let names =
                        def.attrs.iter().filter(|a| a.kind != AttrKind::ResultType).map(|a| a.name);
                    let help = match did_you_mean(text, names.clone()) {
                        Some(name) => format!("did you mean `{name}`?"),
                        None if names.clone().next().is_none() => "it has none".into(),
                        None => {
                            format!("its attributes are: {}", names.collect::<Vec<_>>().join(", "))
                        }
                    };
                    return Err(
                        self.stop_help(format!("{} has no attribute `{text}`", def.name), help)
                    );
                };
                if list[index].is_some() {
                    return Err(self.stop(format!("`{text}` is given twice")));
                }
                self.bump();
                self.expect(b'=')?;
                let token = self.token;
                let attr = self.attr(0)?;
                list[index] = Some(self.accept(def, index, attr, token)?);
                if !self.eat(b',') && !self.at(b'}') {
                    return Err(self.expected("`,` or `}`"));
                }
            }
            self.bump();
        }
        for (row, attr) in def.attrs.iter().zip(list) {
            match attr.or_else(|| row.default.clone()) {
                Some(attr) => attrs.list.push(attr),
                None => {
                    let help = format!("it must be {}", row.kind.describe());
                    let message = format!("{} needs the attribute `{}`", def.name, row.name);
                    return Err(self.stop_at_help(open, message, help));
                }
            }
        }
        Ok(())
    }

    fn accept(
        &mut self,
        def: &OpDef,
        index: usize,
        attr: Attr,
        token: Token,
    ) -> Result<Attr, Stop> {
        let row = &def.attrs[index];
        if attr == Attr::Unit && row.default == Some(Attr::Unit) {
            return Ok(attr);
        }
        let found = attr.describe();
        let mut word = String::new();
        super::write_attr(&mut word, &attr, Some(8));
        row.kind.accept(attr).ok_or_else(|| {
            let message = format!(
                "attribute `{}` of {} must be {}, found {found} `{word}`",
                row.name,
                def.name,
                row.kind.describe()
            );
            self.stop_at(token, message)
        })
    }

    // The result types, and the instruction itself.
    fn complete(&mut self, pending: &mut Pending) -> Result<(), Stop> {
        let made = self.complete_checked(pending);
        if made.is_err() {
            self.poison(pending);
        }
        made
    }

    fn poison(&mut self, pending: &Pending) {
        for &(name, token) in &pending.results {
            self.define(name, token, None);
        }
    }

    fn complete_checked(&mut self, pending: &mut Pending) -> Result<(), Stop> {
        let mut types: SmallVec<[TypeId; 2]> = SmallVec::new();
        if self.at(b':') {
            self.bump();
            loop {
                types.push(self.interned_type()?);
                if !self.eat(b',') {
                    break;
                }
            }
        }
        if types.len() != pending.results.len() {
            let message = format!(
                "{} names {} result(s) but states {} type(s)",
                pending.key,
                pending.results.len(),
                types.len()
            );
            return Err(self.stop_at(pending.start, message));
        }
        let options = self.options;
        let def = options.registry.get(pending.key);
        if let Some(def) = def {
            self.check_counts(def, pending, types.len())?;
        }
        let mut list = std::mem::take(&mut pending.attrs.list);
        if let Some((index, range)) = &pending.attrs.literal {
            let Some(ty) =
                types.first().and_then(|&t| self.function.type_by_id(t).as_tensor().cloned())
            else {
                return Err(self.stop_at(pending.start, "a constant is a tensor".into()));
            };
            list[*index] = Attr::Literal(self.literal(range, &ty)?);
        }
        if pending.poisoned {
            // An operand was wrong already; one complaint is enough.
            return Err(Stop);
        }
        let attrs: AttrList =
            if list.is_empty() { self.no_attrs.clone() } else { list.into_iter().collect() };
        let end = Token { line: self.last_end.0, column: self.last_end.1, ..self.token };
        let span = Span::new(
            self.options.file,
            pending.start.line,
            pending.start.column,
            if pending.regions.is_empty() { end.line } else { pending.start.line },
            if pending.regions.is_empty() { end.column } else { pending.start.column + 1 },
        );
        let spec = InstSpec {
            key: pending.key,
            attrs,
            operands: std::mem::take(&mut pending.operands),
            regions: std::mem::take(&mut pending.regions),
            result_types: SmallVec::new(),
            span,
        };
        let inst = self.function.create_with_types(&spec, &types);
        self.function.link(inst, Place::End(pending.body));
        if let Some(comment) = &pending.comment {
            self.function.set_comment(inst, Some(comment));
        }
        for (n, &(name, token)) in pending.results.iter().enumerate() {
            let value = self.function.result(inst, n);
            self.define(name, token, value);
        }
        Ok(())
    }

    fn check_counts(&mut self, def: &OpDef, pending: &Pending, results: usize) -> Result<(), Stop> {
        let found = pending.operands.len();
        if !pending.poisoned && def.variadic_len(found).is_none() {
            return Err(self.stop_at(
                pending.start,
                format!("{} takes {} operand(s), found {found}", def.name, def.arity()),
            ));
        }
        if !def.accepts_regions(pending.regions.len()) {
            let least = def.regions.iter().filter(|r| r.kind == OperandKind::Region).count();
            let message =
                format!("{} takes {least} region(s), found {}", def.name, pending.regions.len());
            return Err(self.stop_at(pending.start, message));
        }
        let expected = match def.results {
            ResultCount::None => 0,
            ResultCount::One => 1,
            ResultCount::Many => results,
        };
        if expected != results {
            return Err(self.stop_at(
                pending.start,
                format!("{} has {expected} result(s), found {results}", def.name),
            ));
        }
        Ok(())
    }

    fn scoped_name(&mut self, token: Token) -> ScopedName {
        let name = &self.lexer.text(token)[1..];
        match anonymous_number(name) {
            // Numbers are dense in printed text; a wild one is kept as a hint rather than in a huge table.
            Some(n) if n < 1 << 22 => ScopedName::Number(n),
            _ => ScopedName::Hint(self.function.hints.intern(name).unwrap_or(0)),
        }
    }

    fn slot(&mut self, name: ScopedName) -> &mut Slot {
        let (table, index) = match name {
            ScopedName::Hint(h) => (&mut self.by_hint, h as usize),
            ScopedName::Number(n) => (&mut self.by_number, n as usize),
        };
        if table.len() <= index {
            table.resize(index + 1, UNDEFINED);
        }
        &mut table[index]
    }

    fn define(&mut self, name: ScopedName, token: Token, value: Option<ValueId>) {
        let known = *self.slot(name);
        if known.line != 0 && value.is_some() && !known.value.is_none() {
            let text = self.lexer.text(token);
            let note = format!("first defined in line {}", known.line);
            let error = Diagnostic::error(
                token.span(self.options.file),
                format!("{text} is defined twice"),
            );
            self.problems.push(error.with_note(note));
            return;
        }
        *self.slot(name) = Slot { value: value.unwrap_or(ValueId::NONE), line: token.line };
        if let (ScopedName::Hint(hint), Some(value)) = (name, value) {
            let text = self.function.hints.get(hint);
            self.function.values[value.index()].hint =
                if anonymous_number(text).is_some() { crate::func::NO_HINT } else { hint };
        }
    }

    fn use_value(&mut self, token: Token) -> Option<ValueId> {
        let name = self.scoped_name(token);
        let slot = *self.slot(name);
        if slot.line == 0 {
            self.missing.push((token, name));
            return None;
        }
        let value = slot.value.some()?;
        let home = match self.function.value_def(value) {
            crate::func::ValueDef::Param(body, _) => body,
            crate::func::ValueDef::Result(inst, _) => {
                self.function.body_of(inst).unwrap_or(BodyId::new(0))
            }
        };
        if !self.open[home.index()] {
            let text = self.lexer.text(token);
            let message =
                format!("{text} is defined in another region, which ends before this use");
            self.problems.push(
                Diagnostic::error(token.span(self.options.file), message)
                    .with_note(format!("defined in line {}", slot.line))
                    .with_help("let the region yield it"),
            );
            return None;
        }
        Some(value)
    }

    // What is still missing at the end of a function was used before its definition, or has none.
    fn finish_names(&mut self) {
        for (token, name) in std::mem::take(&mut self.missing) {
            let slot = *self.slot(name);
            let text = self.lexer.text(token);
            let span = token.span(self.options.file);
            let error = if slot.line != 0 {
                Diagnostic::error(
                    span,
                    format!("{text} is used before its definition in line {}", slot.line),
                )
            } else {
                let hints = (0..self.function.hints.len() as u32).take(10_000);
                let defined =
                    hints.filter(|&h| self.by_hint.get(h as usize).is_some_and(|s| s.line != 0));
                let near = did_you_mean(&text[1..], defined.map(|h| self.function.hints.get(h)));
                let error = Diagnostic::error(span, format!("{text} is not defined"));
                match near {
                    Some(near) => error.with_help(format!("did you mean `%{near}`?")),
                    None => error,
                }
            };
            self.problems.push(error);
        }
    }

    fn take_comments(&mut self) -> Option<String> {
        let comments = self.lexer.comments.as_mut()?;
        if comments.is_empty() { None } else { Some(std::mem::take(comments)) }
    }

    pub(super) fn word(&self) -> Option<&'a str> {
        (self.token.kind == Kind::Word).then(|| self.lexer.text(self.token))
    }

    pub(super) fn at(&self, punct: u8) -> bool {
        self.token.kind == Kind::Punct(punct)
    }

    pub(super) fn bump(&mut self) {
        let width = self.token.end - self.token.start;
        self.last_end = (self.token.line, self.token.column.saturating_add(width));
        self.token = self.lexer.next();
    }

    // The current token was passed over up to this column.
    pub(super) fn bump_to(&mut self, column: u32) {
        self.last_end = (self.token.line, column);
        self.token = self.lexer.next();
    }

    pub(super) fn eat(&mut self, punct: u8) -> bool {
        let found = self.at(punct);
        if found {
            self.bump();
        }
        found
    }

    pub(super) fn expect(&mut self, punct: u8) -> Result<(), Stop> {
        if self.eat(punct) {
            Ok(())
        } else {
            Err(self.expected(&format!("`{}`", char::from(punct))))
        }
    }

    fn found(&self) -> String {
        match self.token.kind {
            Kind::End => "the end of the text".into(),
            Kind::Hole => format!(
                "the placeholder {}, which only snippets may have",
                self.lexer.text(self.token)
            ),
            _ => {
                let text: String = self.lexer.text(self.token).chars().take(40).collect();
                format!("`{text}`")
            }
        }
    }

    pub(super) fn expected(&mut self, what: &str) -> Stop {
        let message = format!("expected {what}, found {}", self.found());
        self.stop(message)
    }

    pub(super) fn expected_help(&mut self, what: &str, help: String) -> Stop {
        let message = format!("expected {what}, found {}", self.found());
        self.stop_help(message, help)
    }

    pub(super) fn stop(&mut self, message: impl Into<String>) -> Stop {
        self.stop_at(self.token, message.into())
    }

    pub(super) fn stop_help(&mut self, message: String, help: String) -> Stop {
        self.stop_at_help(self.token, message, help)
    }

    pub(super) fn stop_at(&mut self, token: Token, message: String) -> Stop {
        self.problems.error(token.span(self.options.file), message);
        Stop
    }

    fn stop_at_help(&mut self, token: Token, message: String, help: String) -> Stop {
        self.problems
            .push(Diagnostic::error(token.span(self.options.file), message).with_help(help));
        Stop
    }

    fn span_from(&self, start: Token, end: Token) -> Span {
        start.span(self.options.file).to(end.span(self.options.file))
    }
}
