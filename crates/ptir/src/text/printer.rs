//! The printer of the text form.

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;
use sapwood_types::{LocTable, Span, write_decimal};

use super::attrs::{write_attr, write_name};
use super::external::{ExternalTable, LongLiteralMode};
use super::lexer::write_string;
use super::literal::write_literal;
use super::quote::SourceQuotes;
use crate::attr::{Attr, AttrKind};
use crate::func::{Function, is_anonymous};
use crate::ids::{BodyId, InstId, TypeId, ValueId};
use crate::program::Program;

/// The nesting level after which indentation no longer grows, so that the text stays linear in the program.
const MAX_INDENT: usize = 32;

/// Options of the printer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PrintOptions {
    /// The number of elements above which literals are elided to `...`, which cannot be read back; `None` for no
    /// limit.
    pub elide_above: Option<u64>,
    /// True if the locations of a program are printed.
    pub locs: bool,
    /// Names values as an [`InstPrinter`] does: as in the source text, if the program keeps its names.
    pub source_names: bool,
}

impl PrintOptions {
    /// Creates options that print everything, with numbers for values without names.
    #[must_use]
    pub fn new() -> Self {
        Self { elide_above: None, locs: true, source_names: false }
    }

    /// Names values as an [`InstPrinter`] does.
    #[must_use]
    pub fn source_names(mut self) -> Self {
        self.source_names = true;
        self
    }

    /// Elides literals with more elements than this.
    #[must_use]
    pub fn elide_above(mut self, elements: u64) -> Self {
        self.elide_above = Some(elements);
        self
    }

    /// Sets whether locations are printed, if the program has any.
    #[must_use]
    pub fn locs(mut self, locs: bool) -> Self {
        self.locs = locs;
        self
    }

    fn long_literal_mode(&self) -> LongLiteralMode<'static> {
        self.elide_above.map_or(LongLiteralMode::Written, LongLiteralMode::Elided)
    }
}

impl Default for PrintOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// Prints a program.
#[must_use]
pub fn print(program: &Program) -> String {
    print_with(program, &PrintOptions::new())
}

/// Prints a program with options.
#[must_use]
pub fn print_with(program: &Program, options: &PrintOptions) -> String {
    let mut out = String::with_capacity(64 * program.num_insts() + 64);
    out.push_str("ptir ");
    write_decimal(&mut out, super::TEXT_VERSION);
    out.push('\n');
    let has_locs = options.locs && program.functions().iter().any(|f| f.has_locs());
    let mut locs = has_locs.then(LocTable::new);
    for function in program.functions() {
        out.push('\n');
        let mut printer = Printer::new(function, options.long_literal_mode(), &mut out);
        printer.locs = locs.as_mut();
        if options.source_names {
            printer.use_source_names(function.dfg.numbered, SourceQuotes::new(function).as_ref());
        }
        printer.function();
    }
    write_loc_definitions(&mut out, locs.as_ref());
    out
}

/// Prints a program without its long literals, and returns the text and the bytes of these literals. A literal with
/// more than `above` elements is written as `external("file", offset, length)`, which
/// [`ParseOptions::external`](crate::ParseOptions::external) reads back.
///
/// ```
/// use sapwood_ptir::{ParseOptions, external_bytes, parse, parse_with, print_with_external};
///
/// let program = parse("ptir 1 func @f() -> i32[3] { %a = constant [1, 2, 3] : i32[3] return %a }")?;
/// let (text, bytes) = print_with_external(&program, "f.bin", 2);
/// assert!(text.contains("constant external(\"f.bin\", 0, 12) : i32[3]"));
/// let find = move |file: &str, offset, length| match file {
///     "f.bin" => external_bytes(&bytes, offset, length).map(<[u8]>::to_vec),
///     _ => Err("no such file".into()),
/// };
/// let again = parse_with(&text, ParseOptions::new().external(find))?;
/// assert_eq!(again.to_string(), program.to_string());
/// # Ok::<(), sapwood_types::Diagnostics>(())
/// ```
#[must_use]
pub fn print_with_external(program: &Program, file: &str, above: u64) -> (String, Vec<u8>) {
    let mut out = String::with_capacity(64 * program.num_insts() + 64);
    let mut table = ExternalTable::new(file, above);
    out.push_str("ptir ");
    write_decimal(&mut out, super::TEXT_VERSION);
    out.push('\n');
    let mut locs = program.functions().iter().any(|f| f.has_locs()).then(LocTable::new);
    for function in program.functions() {
        out.push('\n');
        let mode = LongLiteralMode::External(&mut table);
        let mut printer = Printer::new(function, mode, &mut out);
        printer.locs = locs.as_mut();
        printer.function();
    }
    write_loc_definitions(&mut out, locs.as_ref());
    (out, table.bytes)
}

/// Prints one function.
#[must_use]
pub fn print_function(function: &Function) -> String {
    let mut out = String::with_capacity(64 * function.num_insts() + 64);
    let mut locs = function.has_locs().then(LocTable::new);
    let mut printer = Printer::new(function, LongLiteralMode::Written, &mut out);
    printer.locs = locs.as_mut();
    printer.function();
    write_loc_definitions(&mut out, locs.as_ref());
    out
}

// Writes the locations that were used, after an empty line.
fn write_loc_definitions(out: &mut String, locs: Option<&LocTable>) {
    if let Some(locs) = locs {
        out.push('\n');
        locs.write_definitions(out);
    }
}

/// Prints one instruction with its regions abridged. O(n), because value names depend on the whole function; for many
/// instructions use an [`InstPrinter`].
#[must_use]
pub(crate) fn print_inst(function: &Function, inst: InstId) -> String {
    InstPrinter::new(function).print(inst)
}

/// A printer of single instructions of one function, with the value names of the whole printed function. Numbers that
/// were [kept](crate::ParseOptions::numbers) are shown as they were written. Instructions of a program with a [quoted
/// source](crate::Program::set_quoted_source) are shown as they are written there, unless they were changed since.
pub struct InstPrinter<'a> {
    function: &'a Function,
    names: PrintedNames,
    types: Vec<Option<Box<str>>>,
    quotes: Option<SourceQuotes<'a>>,
}

impl<'a> InstPrinter<'a> {
    /// Creates a printer and names all values. O(n).
    #[must_use]
    pub fn new(function: &'a Function) -> Self {
        Self::with_names(function, function.dfg.numbered, SourceQuotes::new(function))
    }

    /// Creates a printer like [`new`](Self::new), but with the names of the printed function even if the function
    /// keeps those of its source text. O(n).
    #[must_use]
    pub fn as_printed(function: &'a Function) -> Self {
        Self::with_names(function, false, None)
    }

    fn with_names(
        function: &'a Function,
        as_written: bool,
        quotes: Option<SourceQuotes<'a>>,
    ) -> Self {
        let mut out = String::new();
        let mut printer = Printer::new(function, LongLiteralMode::Elided(16), &mut out);
        printer.use_source_names(as_written, quotes.as_ref());
        printer.function();
        let (names, types) = (printer.names, printer.types);
        Self { function, names, types, quotes }
    }

    /// Prints one instruction with its regions abridged.
    #[must_use]
    pub fn print(&mut self, inst: InstId) -> String {
        if let Some(statement) = self.quotes.as_ref().and_then(|quotes| quotes.statement(inst)) {
            return statement;
        }
        let mut out = String::new();
        let mut printer = Printer {
            function: self.function,
            long: LongLiteralMode::Elided(16),
            out: &mut out,
            names: std::mem::take(&mut self.names),
            types: std::mem::take(&mut self.types),
            locs: None,
        };
        printer.inst_head(inst);
        for &body in self.function.regions(inst) {
            printer.out.push(' ');
            printer.params(body);
            printer.out.push_str(" { ... }");
        }
        printer.inst_types(inst);
        (self.names, self.types) = (printer.names, printer.types);
        out.truncate(out.trim_end().len());
        out
    }

    /// Returns the name of an instruction's op, as in the quoted source if the instruction is quoted.
    #[must_use]
    pub fn op(&self, inst: InstId) -> String {
        let written = self.quotes.as_ref().and_then(|quotes| quotes.op(inst));
        written.unwrap_or_else(|| self.function.op_name(inst)).to_owned()
    }

    /// Returns the name of a value, with its `%`.
    #[must_use]
    pub fn value(&mut self, value: ValueId) -> String {
        let mut out = String::from("%");
        self.names.write(&mut out, self.function, value);
        out
    }
}

struct Printer<'a, 'o> {
    function: &'a Function,
    long: LongLiteralMode<'o>,
    out: &'o mut String,
    names: PrintedNames,
    types: Vec<Option<Box<str>>>,
    /// The locations used so far; `None` if none are printed.
    locs: Option<&'o mut LocTable>,
}

/// The printed names of values: hints made unique, and numbers for the others in order of first use.
#[derive(Default)]
struct PrintedNames {
    names: Vec<PrintedName>,
    anonymous: u32,
    // True if hints that are numbers are used as names.
    as_written: bool,
    used_hints: Vec<bool>,
    taken: HashSet<Box<str>, FxBuildHasher>,
    suffixed: Vec<Box<str>>,
    next_suffix: HashMap<u32, u32, FxBuildHasher>,
}

#[derive(Clone, Copy)]
enum PrintedName {
    None,
    Number(u32),
    Hint(u32),
    Suffixed(u32),
}

struct RegionFrame {
    inst: InstId,
    region: usize,
    next: Option<InstId>,
}

impl<'a, 'o> Printer<'a, 'o> {
    fn new(function: &'a Function, long: LongLiteralMode<'o>, out: &'o mut String) -> Self {
        let names = PrintedNames {
            names: vec![PrintedName::None; function.value_capacity()],
            used_hints: vec![false; function.dfg.hints.len()],
            ..PrintedNames::default()
        };
        let types = vec![None; function.dfg.types.len()];
        Self { function, long, out, names, types, locs: None }
    }

    // Uses the names of the source text: hints that are numbers if `as_written`, and the names of quoted statements.
    fn use_source_names(&mut self, as_written: bool, quotes: Option<&SourceQuotes<'_>>) {
        self.names.as_written = as_written;
        let Some(quotes) = quotes else { return };
        for (value, name) in quotes.names() {
            self.names.reserve(value, name, self.function.is_live_value(value));
        }
        self.names.anonymous = quotes.first_free();
    }

    fn function(&mut self) {
        let f = self.function;
        if let Some(comment) = f.leading_comment() {
            self.comment(comment, None);
        }
        self.out.push_str("func @");
        write_name(self.out, f.name().as_str());
        self.params(f.body());
        let results = f.result_types();
        match &results[..] {
            [] => {}
            [one] => {
                self.out.push_str(" -> ");
                self.out.push_str(&one.to_string());
            }
            many => {
                self.out.push_str(" -> (");
                self.out.push_str(&crate::types::join_types(many.iter().copied()));
                self.out.push(')');
            }
        }
        if let Some(facts) = f.facts() {
            let relations: Vec<String> = facts.relations().map(|r| r.to_string()).collect();
            self.out.push_str(" where ");
            self.out.push_str(&relations.join(", "));
        }
        if let Some(pattern) = f.extracted_from() {
            self.out.push_str(" {extracted_from = ");
            write_string(self.out, pattern.as_str());
            self.out.push('}');
        } else if f.is_private() {
            self.out.push_str(" {private = true}");
        }
        self.out.push_str(" {\n");
        self.body_and_regions();
        self.out.push('}');
        self.loc(f.span());
        self.out.push('\n');
    }

    // Prints the instructions of the function's body and, with an explicit stack, of all regions.
    fn body_and_regions(&mut self) {
        let f = self.function;
        let mut stack: Vec<RegionFrame> = Vec::new();
        let mut next = f.first_inst(f.body());
        loop {
            let Some(inst) = next else {
                // At the end of a region: its next sibling, or the rest of its owner.
                let Some(frame) = stack.last_mut() else { return };
                frame.region += 1;
                let (owner, region) = (frame.inst, frame.region);
                self.indent(stack.len() - 1);
                self.out.push('}');
                if let Some(&body) = f.regions(owner).get(region) {
                    self.open_body(body);
                    next = f.first_inst(body);
                } else {
                    let after = stack.pop().and_then(|frame| frame.next);
                    self.inst_types(owner);
                    next = after;
                }
                continue;
            };
            if let Some(comment) = f.comment(inst) {
                self.comment(comment, Some(stack.len()));
            }
            self.indent(stack.len());
            self.inst_head(inst);
            if let Some(&body) = f.regions(inst).first() {
                stack.push(RegionFrame { inst, region: 0, next: f.next_inst(inst) });
                self.open_body(body);
                next = f.first_inst(body);
            } else {
                self.inst_types(inst);
                next = f.next_inst(inst);
            }
        }
    }

    fn open_body(&mut self, body: BodyId) {
        self.out.push(' ');
        self.params(body);
        self.out.push_str(" {\n");
    }

    fn params(&mut self, body: BodyId) {
        self.out.push('(');
        for (i, &param) in self.function.body_params(body).iter().enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            self.value(param);
            self.out.push_str(": ");
            self.ty(self.function.type_id(param));
        }
        self.out.push(')');
    }

    fn inst_head(&mut self, inst: InstId) {
        let f = self.function;
        for (i, result) in f.inst_results(inst).enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            self.value(result);
        }
        if f.inst_results(inst).len() > 0 {
            self.out.push_str(" = ");
        }
        let def = f.op_def(inst);
        self.out.push_str(def.map_or_else(|| f.op_name(inst), |d| d.name));
        let attrs = f.attrs(inst);
        if let Some(attr) = def.and_then(|d| d.leading_attr).and_then(|i| attrs.get(i)) {
            self.out.push(' ');
            match attr {
                Attr::Literal(literal) => write_literal(self.out, literal, &mut self.long),
                other => write_attr(self.out, other, &mut self.long),
            }
        }
        for (i, &operand) in f.operands(inst).iter().enumerate() {
            self.out.push_str(if i > 0 { ", " } else { " " });
            self.value(operand);
        }
        let mut first = true;
        let long = &mut self.long;
        let mut entry = |out: &mut String, name: &str, attr: &Attr| {
            out.push_str(if first { " {" } else { ", " });
            first = false;
            write_name(out, name);
            out.push_str(" = ");
            write_attr(out, attr, long);
        };
        match def {
            Some(def) => {
                for (i, (row, attr)) in def.attrs.iter().zip(attrs.iter()).enumerate() {
                    if Some(i) != def.leading_attr
                        && row.kind != AttrKind::ResultType
                        && row.default.as_ref() != Some(attr)
                    {
                        entry(self.out, row.name, attr);
                    }
                }
            }
            None => {
                if let Some(Attr::Dict(entries)) = attrs.first() {
                    for (name, attr) in entries.iter() {
                        entry(self.out, name.as_str(), attr);
                    }
                }
            }
        }
        if !first {
            self.out.push('}');
        }
    }

    fn inst_types(&mut self, inst: InstId) {
        for (i, result) in self.function.inst_results(inst).enumerate() {
            self.out.push_str(if i > 0 { ", " } else { " : " });
            self.ty(self.function.type_id(result));
        }
        self.loc(self.function.inst_span(inst));
        self.out.push('\n');
    }

    // Prints ` loc(#loc7)` if the span has a location.
    fn loc(&mut self, span: Span) {
        if let Some(locs) = &mut self.locs
            && !span.loc().is_unknown()
        {
            self.out.push(' ');
            locs.write_use(self.out, span.loc());
        }
    }

    fn indent(&mut self, depth: usize) {
        const SPACES: &str = "                                                                  ";
        self.out.push_str(&SPACES[..2 * (depth + 1).min(MAX_INDENT)]);
    }

    fn comment(&mut self, comment: &str, depth: Option<usize>) {
        for line in comment.lines() {
            if let Some(depth) = depth {
                self.indent(depth);
            }
            if !line.starts_with("//") {
                self.out.push_str("// ");
            }
            self.out.push_str(line);
            self.out.push('\n');
        }
    }

    fn ty(&mut self, id: TypeId) {
        let text = self.types[id.index()]
            .get_or_insert_with(|| self.function.type_by_id(id).to_string().into());
        self.out.push_str(text);
    }

    fn value(&mut self, value: ValueId) {
        self.out.push('%');
        self.names.write(self.out, self.function, value);
    }
}

impl PrintedNames {
    fn write(&mut self, out: &mut String, function: &Function, value: ValueId) {
        if matches!(self.names[value.index()], PrintedName::None) {
            self.names[value.index()] = self.choose(function, value);
        }
        match self.names[value.index()] {
            PrintedName::None => {}
            PrintedName::Number(n) => write_decimal(out, u64::from(n)),
            PrintedName::Hint(hint) => out.push_str(function.dfg.hints.get(hint)),
            PrintedName::Suffixed(n) => out.push_str(&self.suffixed[n as usize]),
        }
    }

    // Reserves a name for a value; several values may have it. While the value exists, no chosen name is equal to it;
    // the name of an erased value may go to its replacement.
    fn reserve(&mut self, value: ValueId, name: &str, live: bool) {
        if live {
            self.taken.insert(name.into());
        }
        self.names[value.index()] = PrintedName::Suffixed(self.suffixed.len() as u32);
        self.suffixed.push(name.into());
    }

    // Returns the next free number, skipping numbers that were written.
    fn next_number(&mut self, function: &Function) -> PrintedName {
        loop {
            let n = self.anonymous;
            self.anonymous += 1;
            if !self.as_written || function.dfg.hints.find(&n.to_string()).is_none() {
                return PrintedName::Number(n);
            }
        }
    }

    fn choose(&mut self, function: &Function, value: ValueId) -> PrintedName {
        let hint = function.dfg.values[value.index()].hint;
        if hint == crate::func::NO_HINT {
            return self.next_number(function);
        }
        let text = function.dfg.hints.get(hint);
        if function.dfg.numbered && !self.as_written && is_anonymous(text) {
            return self.next_number(function);
        }
        let taken = !self.taken.is_empty() && self.taken.contains(text);
        if !taken && !std::mem::replace(&mut self.used_hints[hint as usize], true) {
            return PrintedName::Hint(hint);
        }
        loop {
            let n = self.next_suffix.entry(hint).or_insert(0);
            *n += 1;
            let candidate = format!("{text}_{n}");
            if self.taken.contains(candidate.as_str()) {
                continue;
            }
            match function.dfg.hints.find(&candidate) {
                Some(other) if self.used_hints[other as usize] => continue,
                Some(other) => self.used_hints[other as usize] = true,
                None => {}
            }
            self.taken.insert(candidate.clone().into());
            self.suffixed.push(candidate.into());
            return PrintedName::Suffixed(self.suffixed.len() as u32 - 1);
        }
    }
}
