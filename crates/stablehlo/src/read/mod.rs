//! The reader: from text to programs.

mod attr_cache;
#[cfg(test)]
mod changed_texts;
mod declared_types;
mod fast_path;
pub(crate) mod function;
mod generic;
mod line_index;
mod loc;
mod open_dims;
pub(crate) mod pretty;
mod regions;
#[cfg(test)]
mod tests;
mod value_scope;

use std::borrow::Cow;
use std::cell::Cell;
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;
use sapwood_ptir::{
    Attr, InstId, Name, Program, Registry, TypeId, ValueId, ValueType, VerifiedFunction,
};
use sapwood_types::{
    Diagnostic, Diagnostics, LocAliases, Progress, ProgressCounter, Severity, Source, Span,
};

use crate::attr::{self, AttrResolver, NamedAttr, RawAttr};
use crate::cursor::Cursor;
use crate::module::{Extras, Module};
use crate::types::TypeCache;
use attr_cache::AttrCache;
use line_index::{LineCursor, LineIndex};
use value_scope::ValueScope;

pub(crate) use fast_path::{AttrVec, FastOpReader};
pub(crate) use function::refine_parts;
pub(crate) use open_dims::SHAPE_ASSERTION;
pub(crate) use pretty::ints_of;

/// Reads the only module of a text.
///
/// ```
/// use sapwood_types::Source;
///
/// let text = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
///   %y = stablehlo.exponential %x : tensor<4xf32>
///   return %y : tensor<4xf32>
/// }";
/// let module = sapwood_stablehlo::read(&Source::new("a.mlir", text))?;
/// assert_eq!(module.program.num_insts(), 2);
/// # Ok::<(), sapwood_types::Diagnostics>(())
/// ```
///
/// # Errors
/// With all errors found: in the syntax, in types, in names, or if the text holds several modules.
pub fn read(source: &Source) -> Result<Module, Diagnostics> {
    read_with(source, &Registry::builtin())
}

/// Reads the only module of a text, whose program may have ops of your own: a `custom_call` whose target is the name of an op of the
/// registry becomes that op. Its `backend_config` has the attributes, as a JSON object.
///
/// # Errors
/// As [`read`].
pub fn read_with(source: &Source, registry: &Arc<Registry>) -> Result<Module, Diagnostics> {
    let mut modules = read_modules(source, registry, true)?;
    match (modules.len(), modules.pop()) {
        (1, Some(module)) => Ok(module),
        (count, _) => {
            let message = format!("the text holds {count} modules, separated by `// -----`");
            let problem = Diagnostic::error(source.span(0..0), message);
            Err(problem.with_help("read them one by one, each from its own file").into())
        }
    }
}

/// Reads all modules of a text, which are separated by lines `// -----`.
///
/// # Errors
/// With all errors found.
pub fn read_split(source: &Source) -> Result<Vec<Module>, Diagnostics> {
    read_modules(source, &Registry::builtin(), true)
}

// Reads all modules. The silent builder is not used if `silent` is false; the result must be the same.
fn read_modules(
    source: &Source,
    registry: &Arc<Registry>,
    silent: bool,
) -> Result<Vec<Module>, Diagnostics> {
    let text = source.text();
    let mut problems = Diagnostics::new();
    let mut modules = Vec::new();
    let index = LineIndex::new(source);
    for (start, end) in line_index::split_modules(text, &index) {
        let mut reader = ModuleReader::new(source, registry, &index, start, end);
        reader.silent = silent;
        match reader.read_module() {
            Some(module) if reader.problems.error_count() == 0 => modules.push(module),
            _ => {}
        }
        problems.append(reader.problems);
    }
    problems.sort();
    problems.into_result(modules)
}

/// An error was reported, and reading the current item stops.
#[derive(Debug)]
pub(crate) struct AlreadyReported;

pub(crate) type ReadResult<T> = Result<T, AlreadyReported>;

/// The largest number of bytes that all uses of aliases may expand to: aliases that use others twice grow exponentially.
const MAX_ALIAS_BYTES: usize = 1 << 26;

// The definitions that attributes may refer to.
struct AttrTables<'a> {
    aliases: HashMap<&'a str, &'a str, FxBuildHasher>,
    /// Aliases of locations.
    locs: LocAliases<'a>,
    /// The number of bytes that aliases may still expand to.
    remaining: Cell<usize>,
    resources: HashMap<Cow<'a, str>, &'a str, FxBuildHasher>,
    /// The texts of two attributes with the same name.
    duplicate: Cell<Option<[&'a str; 2]>>,
}

// The resolver of the names in attributes.
struct TableResolver<'r, 'a> {
    tables: &'r AttrTables<'a>,
    types: &'r TypeCache<'a>,
}

impl<'a> AttrResolver<'a> for TableResolver<'_, 'a> {
    fn alias(&self, name: &str) -> Option<&'a str> {
        let text = self.tables.aliases.get(name).copied()?;
        let remaining = &self.tables.remaining;
        remaining.set(remaining.get().checked_sub(text.len() + 1)?);
        Some(text)
    }
    fn resource(&self, name: &str) -> Option<&'a str> {
        self.tables.resources.get(name).copied()
    }
    fn type_alias(&self, name: &str) -> Option<ValueType> {
        self.types.alias(name)
    }
    fn note_duplicate(&self, places: [&'a str; 2]) {
        self.tables.duplicate.set(Some(self.tables.duplicate.get().unwrap_or(places)));
    }
}

/// The reader of one module.
struct ModuleReader<'a> {
    source: &'a Source,
    c: Cursor<'a>,
    lines: LineCursor<'a>,
    types: TypeCache<'a>,
    attr_cache: AttrCache<'a>,
    /// False if only the reporting builder is used.
    silent: bool,
    tables: AttrTables<'a>,
    problems: Diagnostics,
    notes: Vec<Diagnostic>,
    registry: Arc<Registry>,
    extras: Extras,
    functions: Vec<VerifiedFunction>,
    /// The scratch storage of functions, reused for the next one.
    scope: ValueScope<'a>,
    operands: Vec<ValueId>,
    results: Vec<TypeId>,
    /// The serial number of the function that is being read.
    function_serial: u32,
    /// Calls of functions. They are pure until all functions are read.
    calls: Vec<(Name, InstId)>,
    /// Counts the bytes that were read.
    progress: ProgressCounter,
}

impl<'a> ModuleReader<'a> {
    fn new(
        source: &'a Source,
        registry: &Arc<Registry>,
        index: &'a LineIndex<'a>,
        start: usize,
        end: usize,
    ) -> Self {
        Self {
            source,
            c: Cursor { text: &source.text()[..end], at: start },
            lines: LineCursor::new(source.text(), index, start, end),
            types: TypeCache::default(),
            attr_cache: AttrCache::default(),
            silent: true,
            tables: AttrTables {
                aliases: HashMap::default(),
                locs: LocAliases::new(),
                remaining: Cell::new(MAX_ALIAS_BYTES),
                resources: HashMap::default(),
                duplicate: Cell::new(None),
            },
            problems: Diagnostics::new(),
            notes: Vec::new(),
            registry: registry.clone(),
            extras: Extras::default(),
            functions: Vec::new(),
            scope: ValueScope::default(),
            operands: Vec::new(),
            results: Vec::new(),
            function_serial: 0,
            calls: Vec::new(),
            progress: Progress::counter((end - start) as u64),
        }
    }

    fn error_at<T>(&mut self, at: usize, message: impl Into<String>) -> ReadResult<T> {
        let end = (at + 1).min(self.c.text.len()).max(at);
        self.problems.error(self.source.span(at..end), message);
        Err(AlreadyReported)
    }

    /// Reports the message of an error, at the current position.
    fn report_if_err<T>(&mut self, result: Result<T, String>) -> ReadResult<T> {
        match result {
            Ok(value) => Ok(value),
            Err(message) => {
                self.c.skip_space();
                self.error_at(self.c.at, message)
            }
        }
    }

    fn expect(&mut self, byte: u8, what: &str) -> ReadResult<()> {
        if self.c.eat(byte) {
            return Ok(());
        }
        self.c.skip_space();
        self.error_at(self.c.at, format!("expected `{}` {what}", char::from(byte)))
    }

    /// Returns the span of these bytes. It is fast if positions increase from call to call.
    fn span(&mut self, start: usize, end: usize) -> Span {
        self.lines.span(self.source, start, end)
    }

    fn read_type(&mut self) -> ReadResult<ValueType> {
        let read = self.types.read(&mut self.c);
        self.report_if_err(read)
    }

    fn read_attribute(&mut self) -> ReadResult<RawAttr<'a>> {
        let known = TableResolver { tables: &self.tables, types: &self.types };
        let read = attr::read(&mut self.c, &known);
        self.report_attr_errors(read)
    }

    fn read_bare_attribute(&mut self) -> ReadResult<RawAttr<'a>> {
        let known = TableResolver { tables: &self.tables, types: &self.types };
        let read = attr::read_bare(&mut self.c, &known);
        self.report_attr_errors(read)
    }

    fn read_dictionary(&mut self) -> ReadResult<Vec<NamedAttr<'a>>> {
        let known = TableResolver { tables: &self.tables, types: &self.types };
        let read = attr::read_dictionary(&mut self.c, &known);
        self.report_attr_errors(read)
    }

    // Reports an error, and attributes with the same name.
    fn report_attr_errors<T>(&mut self, result: Result<T, String>) -> ReadResult<T> {
        if let Some(places) = self.tables.duplicate.take() {
            self.report_duplicate_attr(places);
        }
        self.report_if_err(result)
    }

    /// Returns the byte range of a piece of the text.
    fn byte_range_of(&self, piece: &'a str) -> (usize, usize) {
        let (start, len) = (self.c.text.as_ptr() as usize, self.c.text.len());
        let at = (piece.as_ptr() as usize).wrapping_sub(start).min(len);
        (at, (at + piece.len()).min(len))
    }

    /// Reports two attributes with the same name, by their texts.
    fn report_duplicate_attr(&mut self, places: [&'a str; 2]) {
        let mut places = places.map(|text| (self.byte_range_of(text), text));
        places.sort_unstable_by_key(|(place, _)| *place);
        let [((from, to), first), ((at, end), second)] = places;
        let name = |text: &'a str| text.split('=').next().unwrap_or(text).trim().trim_matches('"');
        let message = match (name(first), name(second)) {
            (first, second) if first == second => format!("attribute `{first}` is given twice"),
            (first, second) => {
                format!("attribute `{second}` is given twice, first as `{first}`")
            }
        };
        let (first, span) = (self.source.span(from..to), self.source.span(at..end));
        // An alias is read each time it is used, so its errors come up several times.
        if !self.problems.iter().any(|known| known.span == span && known.message == message) {
            let note = format!("the first is in line {}", first.begin_line());
            self.problems.push(Diagnostic::error(span, message).with_note_at(first, note));
        }
    }

    /// Reads a dictionary and returns the text to keep.
    fn read_kept_dictionary(&mut self) -> ReadResult<Option<Box<str>>> {
        self.c.skip_space();
        match self.c.simple_dictionary() {
            Some(text) => Ok(Some(text.into())),
            None => Ok(kept_attributes_text(&self.read_dictionary()?, |_| true)),
        }
    }

    fn add_note(&mut self, at: usize, message: String) {
        if self.notes.len() < 100 {
            let span = self.source.span(at..at);
            self.notes.push(Diagnostic::new(Severity::Note, span, message));
        }
    }

    fn read_module(&mut self) -> Option<Module> {
        self.collect_definitions();
        let mut open: Vec<bool> = Vec::new();
        // True if error recovery skipped the end of the module.
        let mut passed = false;
        while !self.c.at_end() {
            let start = self.c.at;
            let read = self.read_item(&mut open);
            passed = read.is_err() && !self.c.at_end();
            if read.is_err() && !self.skip_to_next_function(start) {
                break;
            }
        }
        if !open.is_empty() && !passed {
            let _ = self.error_at::<()>(self.c.text.len(), "the module is not closed by `}`");
        }
        if self.problems.error_count() > 0 {
            return None;
        }
        self.build_module()
    }

    // Collects aliases and resources, which may be defined after their uses.
    fn collect_definitions(&mut self) {
        let text = self.c.text;
        let start = self.c.at;
        for at in self.lines.first_in_line(b'#') {
            let line = text[at..].split('\n').next().unwrap_or("");
            if line.contains('=') {
                self.c.at = at + 1;
                if let Some(name) = self.c.word()
                    && self.c.eat(b'=')
                {
                    self.c.skip_space();
                    let from = self.c.at;
                    // Locations and attributes share the names.
                    let is_loc = self.c.looking_at_word("loc");
                    let attr = self.tables.aliases.get(name).map(|text| self.byte_range_of(text).0);
                    let first = match attr {
                        None if is_loc => self.tables.locs.define(name, from + "loc".len()).err(),
                        None => self.tables.locs.definition(name),
                        first => first,
                    };
                    if let Some(first) = first {
                        let first = self.source.span(first..first);
                        let span = self.source.span(at..at + 1 + name.len());
                        let message = format!("alias `#{name}` is defined twice");
                        let note = format!("the first is in line {}", first.begin_line());
                        let error = Diagnostic::error(span, message).with_note_at(first, note);
                        self.problems.push(error);
                        continue;
                    }
                    if is_loc {
                        continue;
                    }
                    let known = TableResolver { tables: &self.tables, types: &self.types };
                    if attr::read(&mut self.c, &known).is_ok() {
                        self.tables.aliases.insert(name, &text[from..self.c.at]);
                    }
                }
            }
        }
        // Their errors are reported where they are defined.
        self.tables.duplicate.set(None);
        let trailer = text.trim_end().ends_with("#-}").then(|| text[start..].rfind("{-#"));
        if let Some(at) = trailer.flatten() {
            self.c.at = start + at + 3;
            self.read_resource_trailer();
        }
        self.c.at = start;
    }

    // Reads `{-# dialect_resources: { builtin: { name: "0x…" } } #-}`.
    fn read_resource_trailer(&mut self) -> Option<()> {
        let mut depth = 0;
        loop {
            match self.c.peek() {
                b'{' => {
                    depth += 1;
                    self.c.at += 1;
                }
                b'}' => {
                    depth -= 1;
                    self.c.at += 1;
                }
                b',' => self.c.at += 1,
                b'#' => return Some(()),
                _ => {
                    let name = match self.c.peek() {
                        b'"' => self.c.string()?,
                        _ => Cow::Borrowed(self.c.word()?),
                    };
                    if !self.c.eat(b':') {
                        return None;
                    }
                    if self.c.peek() == b'"' {
                        let value = self.c.raw_string()?;
                        if depth > 0 {
                            self.tables.resources.insert(name, value);
                        }
                    }
                }
            }
        }
    }

    // Reads one item of a module. `open` has an entry for each open brace: whether it belongs to the generic form.
    fn read_item(&mut self, open: &mut Vec<bool>) -> ReadResult<()> {
        let start = self.c.at;
        match self.c.peek() {
            b'!' => self.read_type_alias(),
            b'#' => {
                self.c.at += 1;
                let _ = self.c.word();
                self.expect(b'=', "in the definition of an alias")?;
                match self.c.looking_at_word("loc") {
                    true => self.read_loc().map(|_| ()),
                    false => self.read_attribute().map(|_| ()),
                }
            }
            b'}' if !open.is_empty() => {
                self.c.at += 1;
                if open.pop() == Some(true) {
                    self.expect(b')', "after the region of a module")?;
                    if self.c.peek() == b'{' {
                        self.read_module_attributes()?;
                    }
                    self.expect(b':', "and the type of a module")?;
                    self.read_attribute()?;
                }
                self.extras.loc = self.read_loc()?;
                Ok(())
            }
            b'{' if self.c.text[self.c.at..].starts_with("{-#") => {
                let rest = &self.c.text[self.c.at..];
                let Some(end) = rest.find("#-}") else {
                    return self.error_at(self.c.at, "the trailer is not closed by `#-}`");
                };
                self.c.at += end + 3;
                Ok(())
            }
            b'"' => {
                let name = self.c.string().unwrap_or_default();
                match &*name {
                    "builtin.module" => self.read_generic_module(open),
                    "func.func" => self.read_generic_function(start),
                    _ => self.skip_item(start, &name),
                }
            }
            _ => match self.c.word() {
                Some("module" | "builtin.module") => {
                    if !open.is_empty() {
                        return self.error_at(start, "a module in a module is not supported");
                    }
                    if let Some(name) = self.c.symbol() {
                        self.extras.name = Some(name.into());
                    }
                    if self.c.eat_word("attributes") {
                        self.read_module_attributes()?;
                    }
                    self.expect(b'{', "after `module`")?;
                    open.push(false);
                    Ok(())
                }
                Some("func.func" | "func") => self.read_function(start),
                Some(name) => self.skip_item(start, name),
                None => self.error_at(self.c.at, "expected `module`, `func.func` or `}`"),
            },
        }
    }

    // Reads `!name = type`. Aliases of function types are dropped.
    fn read_type_alias(&mut self) -> ReadResult<()> {
        self.c.at += 1;
        let Some(name) = self.c.word().or_else(|| self.c.digits()) else {
            return self.error_at(self.c.at, "expected a name after `!`");
        };
        self.expect(b'=', "in the definition of an alias")?;
        if self.c.peek() == b'(' {
            return self.read_attribute().map(|_| ());
        }
        let start = self.c.at;
        let ty = self.read_type()?;
        match self.types.define_alias(name, ty) {
            Ok(()) => Ok(()),
            Err(message) => self.error_at(start, message),
        }
    }

    fn read_module_attributes(&mut self) -> ReadResult<()> {
        self.extras.attributes = self.read_kept_dictionary()?;
        Ok(())
    }

    fn read_generic_module(&mut self, open: &mut Vec<bool>) -> ReadResult<()> {
        if !open.is_empty() {
            return self.error_at(self.c.at, "a module in a module is not supported");
        }
        self.expect(b'(', "after `\"builtin.module\"`")?;
        self.expect(b')', "after `(`: a module has no operands")?;
        if self.c.eat_str("<") {
            let entries = self.read_dictionary()?;
            self.expect(b'>', "after properties")?;
            for entry in &entries {
                if let ("sym_name", RawAttr::Str(name)) = (&*entry.name, &entry.value) {
                    self.extras.name = Some((&**name).into());
                }
            }
        }
        self.expect(b'(', "before the region of a module")?;
        self.expect(b'{', "before the region of a module")?;
        open.push(true);
        Ok(())
    }

    // Skips `sdy.mesh @mesh = <…>`, which describes how to distribute a program over devices.
    fn skip_item(&mut self, start: usize, name: &str) -> ReadResult<()> {
        if !name.starts_with("sdy.") {
            let message = format!("`{name}` is not supported outside a function");
            return self.error_at(start, message);
        }
        self.add_note(start, format!("`{name}` is left out"));
        let mut c = self.c.clone();
        loop {
            match c.text.as_bytes().get(c.at) {
                None | Some(b'\n') => break,
                Some(b'<' | b'(' | b'{' | b'[' | b'"') => {
                    if c.balanced().is_none() {
                        c.at += 1;
                    }
                }
                Some(_) => c.at += 1,
            }
        }
        self.c = c;
        Ok(())
    }

    // Skips to the next function after the item that starts here. Returns whether there is one.
    fn skip_to_next_function(&mut self, start: usize) -> bool {
        let text = self.c.text;
        let next = line_index::lines_with_offsets(&text[start..]).skip(1).find(|(_, line)| {
            let line = line.trim_start();
            line.starts_with("func.func") || line.starts_with("\"func.func\"")
        });
        match next {
            Some((at, _)) => {
                self.c.at = start + at;
                true
            }
            None => {
                self.c.at = text.len();
                false
            }
        }
    }

    fn build_module(&mut self) -> Option<Module> {
        let mut program = Program::new(self.registry.clone());
        for function in std::mem::take(&mut self.functions) {
            let span = function.function().span();
            if let Err(error) = program.add_verified(function) {
                self.problems.error(span, error.to_string());
            }
        }
        if self.problems.error_count() > 0 {
            return None;
        }
        let effects = match self.calls.is_empty() {
            true => HashSet::default(),
            false => program.functions_with_effects(),
        };
        for (name, calls) in effectful_calls(&program, &effects, &self.calls) {
            let Some(function) = program.function_mut(name) else { continue };
            for inst in calls {
                let mut attrs: Vec<Attr> = function.attrs(inst).to_vec();
                if let Some(flag) = attrs.get_mut(1) {
                    *flag = Attr::Bool(true);
                    let _ = function.set_attrs(inst, &attrs);
                }
            }
        }
        if !self.calls.is_empty()
            && let Err(problems) = sapwood_ptir::verify_calls(&program, effects)
        {
            self.problems.append(problems);
            return None;
        }
        self.check_call_types(&program);
        if self.problems.error_count() > 0 {
            return None;
        }
        match open_dims::name_open_dims(&mut program, &self.extras) {
            Ok(warnings) => self.notes.extend(warnings),
            Err(problems) => {
                self.problems.append(problems);
                return None;
            }
        }
        let (extras, notes) = (std::mem::take(&mut self.extras), std::mem::take(&mut self.notes));
        Some(Module { program, extras, notes })
    }
}

/// Returns the attributes to keep as `{a = 1, b}`.
pub(crate) fn kept_attributes_text(
    entries: &[NamedAttr<'_>],
    keep: impl Fn(&NamedAttr<'_>) -> bool,
) -> Option<Box<str>> {
    let mut out = String::new();
    for entry in entries.iter().filter(|e| !e.name.starts_with("sdy.") && keep(e)) {
        out.push_str(if out.is_empty() { "{" } else { ", " });
        out.push_str(&attr::to_single_line(entry.text));
    }
    if out.is_empty() {
        return None;
    }
    out.push('}');
    Some(out.into())
}

// Returns the calls whose callee reaches an instruction with side effects, grouped by their function.
fn effectful_calls(
    program: &Program,
    effects: &HashSet<Name, FxBuildHasher>,
    calls: &[(Name, InstId)],
) -> Vec<(Name, Vec<InstId>)> {
    let mut found: Vec<(Name, Vec<InstId>)> = Vec::new();
    if effects.is_empty() {
        return found;
    }
    for &(name, inst) in calls {
        let Some(function) = program.function(name) else { continue };
        let Some(Attr::Func(callee)) = function.attr(inst, "callee") else { continue };
        if !effects.contains(callee) {
            continue;
        }
        match found.last_mut() {
            Some((last, insts)) if *last == name => insts.push(inst),
            _ => found.push((name, vec![inst])),
        }
    }
    found
}
