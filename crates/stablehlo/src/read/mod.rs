//! The reader: from text to programs.

mod again;
mod direct;
pub(crate) mod function;
mod generic;
mod lines;
pub(crate) mod pretty;
mod regions;
mod scope;
mod stated;
mod texts;

use std::borrow::Cow;
use std::cell::Cell;
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;
use sapwood_ptir::{Attr, Function, InstId, Name, Program, Registry, TypeId, ValueId, ValueType};
use sapwood_types::{Diagnostic, Diagnostics, Severity, Source, Span};

use crate::attr::{self, Attribute, Entry, Names};
use crate::cursor::Cursor;
use crate::module::{Extras, Module};
use crate::types::Types;
use again::Again;
use lines::{Index, Lines};
use scope::Scope;
use texts::Texts;

pub(crate) use direct::{Attrs, Direct, end};
pub(crate) use function::refine;
pub(crate) use pretty::ints_of;

/// Reads the one module of a text.
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
/// With all problems found: of form, of types, of names, or if the text holds several modules.
pub fn read(source: &Source) -> Result<Module, Diagnostics> {
    let mut modules = read_split(source)?;
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
/// With all problems found.
pub fn read_split(source: &Source) -> Result<Vec<Module>, Diagnostics> {
    let text = source.text();
    let mut problems = Diagnostics::new();
    let mut modules = Vec::new();
    let index = Index::new(source);
    for (start, end) in lines::pieces(text, &index) {
        let mut reader = Reader::new(source, &index, start, end);
        match reader.module() {
            Some(module) if reader.problems.error_count() == 0 => modules.push(module),
            _ => {}
        }
        problems.append(reader.problems);
    }
    problems.sort();
    problems.into_result(modules)
}

/// A problem was reported; what was being read is given up.
#[derive(Debug)]
pub(crate) struct Stop;

pub(crate) type Parse<T> = Result<T, Stop>;

/// How many bytes aliases may stand for in all: one that names others twice, and they others, would not end.
const ALIAS_BYTES: usize = 1 << 26;

// What attributes may refer to.
struct Tables<'a> {
    aliases: HashMap<&'a str, &'a str, FxBuildHasher>,
    /// How many bytes of them may still be read.
    left: Cell<usize>,
    resources: HashMap<Cow<'a, str>, &'a str, FxBuildHasher>,
    /// An attribute that was given twice: where it was first, and where again.
    twice: Cell<Option<[&'a str; 2]>>,
}

// What is known while attributes are read.
struct Known<'r, 'a> {
    tables: &'r Tables<'a>,
    types: &'r Types<'a>,
}

impl<'a> Names<'a> for Known<'_, 'a> {
    fn alias(&self, name: &str) -> Option<&'a str> {
        let text = self.tables.aliases.get(name).copied()?;
        let left = &self.tables.left;
        left.set(left.get().checked_sub(text.len() + 1)?);
        Some(text)
    }
    fn resource(&self, name: &str) -> Option<&'a str> {
        self.tables.resources.get(name).copied()
    }
    fn type_alias(&self, name: &str) -> Option<ValueType> {
        self.types.alias(name)
    }
    fn twice(&self, places: [&'a str; 2]) {
        self.tables.twice.set(Some(self.tables.twice.get().unwrap_or(places)));
    }
}

struct Reader<'a> {
    source: &'a Source,
    c: Cursor<'a>,
    lines: Lines<'a>,
    types: Types<'a>,
    texts: Texts<'a>,
    again: Again<'a>,
    tables: Tables<'a>,
    problems: Diagnostics,
    notes: Vec<Diagnostic>,
    registry: Arc<Registry>,
    extras: Extras,
    functions: Vec<Arc<Function>>,
    /// What functions are read with, kept for the next one.
    scope: Scope<'a>,
    operands: Vec<ValueId>,
    results: Vec<TypeId>,
    /// Which function of the text is being read.
    serial: u32,
    /// Calls of functions. They count as pure until all functions are read.
    calls: Vec<(Name, InstId)>,
}

impl<'a> Reader<'a> {
    fn new(source: &'a Source, index: &'a Index<'a>, start: usize, end: usize) -> Self {
        Self {
            source,
            c: Cursor { text: &source.text()[..end], at: start },
            lines: Lines::new(source.text(), index, start, end),
            types: Types::default(),
            texts: Texts::default(),
            again: Again::default(),
            tables: Tables {
                aliases: HashMap::default(),
                left: Cell::new(ALIAS_BYTES),
                resources: HashMap::default(),
                twice: Cell::new(None),
            },
            problems: Diagnostics::new(),
            notes: Vec::new(),
            registry: Registry::builtin(),
            extras: Extras::default(),
            functions: Vec::new(),
            scope: Scope::default(),
            operands: Vec::new(),
            results: Vec::new(),
            serial: 0,
            calls: Vec::new(),
        }
    }

    fn stop<T>(&mut self, at: usize, message: impl Into<String>) -> Parse<T> {
        let end = (at + 1).min(self.c.text.len()).max(at);
        self.problems.error(self.source.span(at..end), message);
        Err(Stop)
    }

    /// Reports what a part of the reader says, at the place where it stopped.
    fn check<T>(&mut self, result: Result<T, String>) -> Parse<T> {
        match result {
            Ok(value) => Ok(value),
            Err(message) => {
                self.c.skip();
                self.stop(self.c.at, message)
            }
        }
    }

    fn expect(&mut self, byte: u8, what: &str) -> Parse<()> {
        if self.c.eat(byte) {
            return Ok(());
        }
        self.c.skip();
        self.stop(self.c.at, format!("expected `{}` {what}", char::from(byte)))
    }

    /// The span of these bytes. Faster than asking the source as long as places grow.
    fn span(&mut self, start: usize, end: usize) -> Span {
        self.lines.span(self.source, start, end)
    }

    fn ty(&mut self) -> Parse<ValueType> {
        let read = self.types.read(&mut self.c);
        self.check(read)
    }

    fn attribute(&mut self) -> Parse<Attribute<'a>> {
        let known = Known { tables: &self.tables, types: &self.types };
        let read = attr::read(&mut self.c, &known);
        self.check_names(read)
    }

    fn bare_attribute(&mut self) -> Parse<Attribute<'a>> {
        let known = Known { tables: &self.tables, types: &self.types };
        let read = attr::read_bare(&mut self.c, &known);
        self.check_names(read)
    }

    fn dictionary(&mut self) -> Parse<Vec<Entry<'a>>> {
        let known = Known { tables: &self.tables, types: &self.types };
        let read = attr::dictionary(&mut self.c, &known);
        self.check_names(read)
    }

    // No name stands twice in what was read.
    fn check_names<T>(&mut self, result: Result<T, String>) -> Parse<T> {
        if let Some(places) = self.tables.twice.take() {
            self.given_twice(places);
        }
        self.check(result)
    }

    /// Where a piece of the text stands in it.
    fn place(&self, piece: &'a str) -> (usize, usize) {
        let (start, len) = (self.c.text.as_ptr() as usize, self.c.text.len());
        let at = (piece.as_ptr() as usize).wrapping_sub(start).min(len);
        (at, (at + piece.len()).min(len))
    }

    /// Reports that an attribute is given twice, as it is written at these places.
    fn given_twice(&mut self, places: [&'a str; 2]) {
        let mut places = places.map(|text| (self.place(text), text));
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
        // What stands in an alias is read each time it is used.
        if !self.problems.iter().any(|known| known.span == span && known.message == message) {
            let note = format!("the first is in line {}", first.begin_line());
            self.problems.push(Diagnostic::error(span, message).with_note_at(first, note));
        }
    }

    /// A dictionary as it is kept.
    fn kept_dictionary(&mut self) -> Parse<Option<Box<str>>> {
        self.c.skip();
        match self.c.plain_dictionary() {
            Some(text) => Ok(Some(text.into())),
            None => Ok(kept(&self.dictionary()?, |_| true)),
        }
    }

    /// `loc(…)` after anything says nothing that is kept.
    fn skip_location(&mut self) -> Parse<()> {
        if self.c.looking_at_word("loc") {
            self.c.eat_word("loc");
            if self.c.balanced().is_none() {
                self.c.skip();
                return self.stop(self.c.at, "expected `(…)` after `loc`");
            }
        }
        Ok(())
    }

    fn note(&mut self, at: usize, message: String) {
        if self.notes.len() < 100 {
            let span = self.source.span(at..at);
            self.notes.push(Diagnostic::new(Severity::Note, span, message));
        }
    }

    fn module(&mut self) -> Option<Module> {
        self.definitions();
        let mut open: Vec<bool> = Vec::new();
        // Whether what closes the module was passed without being read.
        let mut passed = false;
        while !self.c.at_end() {
            let start = self.c.at;
            let read = self.item(&mut open);
            passed = read.is_err() && !self.c.at_end();
            if read.is_err() && !self.recover(start) {
                break;
            }
        }
        if !open.is_empty() && !passed {
            let _ = self.stop::<()>(self.c.text.len(), "the module is not closed by `}`");
        }
        if self.problems.error_count() > 0 {
            return None;
        }
        self.finish()
    }

    // Aliases and resources may stand after their uses: they are looked for first.
    fn definitions(&mut self) {
        let text = self.c.text;
        let start = self.c.at;
        for at in self.lines.starting_with(b'#') {
            let line = text[at..].split('\n').next().unwrap_or("");
            if line.contains('=') {
                self.c.at = at + 1;
                if let Some(name) = self.c.word()
                    && self.c.eat(b'=')
                {
                    self.c.skip();
                    let from = self.c.at;
                    let known = Known { tables: &self.tables, types: &self.types };
                    if attr::read(&mut self.c, &known).is_ok() {
                        self.tables.aliases.insert(name, &text[from..self.c.at]);
                    }
                }
            }
        }
        // What is wrong with them is said where they stand.
        self.tables.twice.set(None);
        let trailer = text.trim_end().ends_with("#-}").then(|| text[start..].rfind("{-#"));
        if let Some(at) = trailer.flatten() {
            self.c.at = start + at + 3;
            self.trailer();
        }
        self.c.at = start;
    }

    // `{-# dialect_resources: { builtin: { name: "0x…" } } #-}`.
    fn trailer(&mut self) -> Option<()> {
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

    // One thing that stands in a module. `open` has an entry for each open brace: whether it is of the generic form.
    fn item(&mut self, open: &mut Vec<bool>) -> Parse<()> {
        let start = self.c.at;
        match self.c.peek() {
            b'!' => self.type_alias(),
            b'#' => {
                self.c.at += 1;
                let _ = self.c.word();
                self.expect(b'=', "in the definition of an alias")?;
                self.attribute()?;
                Ok(())
            }
            b'}' if !open.is_empty() => {
                self.c.at += 1;
                if open.pop() == Some(true) {
                    self.expect(b')', "after the region of a module")?;
                    if self.c.peek() == b'{' {
                        self.module_attributes()?;
                    }
                    self.expect(b':', "and the type of a module")?;
                    self.attribute()?;
                }
                self.skip_location()
            }
            b'{' if self.c.text[self.c.at..].starts_with("{-#") => {
                let rest = &self.c.text[self.c.at..];
                let Some(end) = rest.find("#-}") else {
                    return self.stop(self.c.at, "the trailer is not closed by `#-}`");
                };
                self.c.at += end + 3;
                Ok(())
            }
            b'"' => {
                let name = self.c.string().unwrap_or_default();
                match &*name {
                    "builtin.module" => self.generic_module(open),
                    "func.func" => self.generic_function(start),
                    _ => self.skip_item(start, &name),
                }
            }
            _ => match self.c.word() {
                Some("module" | "builtin.module") => {
                    if !open.is_empty() {
                        return self.stop(start, "a module in a module is not supported");
                    }
                    if let Some(name) = self.c.symbol() {
                        self.extras.name = Some(name.into());
                    }
                    if self.c.eat_word("attributes") {
                        self.module_attributes()?;
                    }
                    self.expect(b'{', "after `module`")?;
                    open.push(false);
                    Ok(())
                }
                Some("func.func" | "func") => self.function(start),
                Some(name) => self.skip_item(start, name),
                None => self.stop(self.c.at, "expected `module`, `func.func` or `}`"),
            },
        }
    }

    // `!name = type`. One of functions is of no use here.
    fn type_alias(&mut self) -> Parse<()> {
        self.c.at += 1;
        let Some(name) = self.c.word().or_else(|| self.c.digits()) else {
            return self.stop(self.c.at, "expected a name after `!`");
        };
        self.expect(b'=', "in the definition of an alias")?;
        if self.c.peek() == b'(' {
            return self.attribute().map(|_| ());
        }
        let start = self.c.at;
        let ty = self.ty()?;
        match self.types.define(name, ty) {
            Ok(()) => Ok(()),
            Err(message) => self.stop(start, message),
        }
    }

    fn module_attributes(&mut self) -> Parse<()> {
        self.extras.attributes = self.kept_dictionary()?;
        Ok(())
    }

    fn generic_module(&mut self, open: &mut Vec<bool>) -> Parse<()> {
        if !open.is_empty() {
            return self.stop(self.c.at, "a module in a module is not supported");
        }
        self.expect(b'(', "after `\"builtin.module\"`")?;
        self.expect(b')', "after `(`: a module has no operands")?;
        if self.c.eat_str("<") {
            let entries = self.dictionary()?;
            self.expect(b'>', "after properties")?;
            for entry in &entries {
                if let ("sym_name", Attribute::Str(name)) = (&*entry.name, &entry.value) {
                    self.extras.name = Some((&**name).into());
                }
            }
        }
        self.expect(b'(', "before the region of a module")?;
        self.expect(b'{', "before the region of a module")?;
        open.push(true);
        Ok(())
    }

    // `sdy.mesh @mesh = <…>` says how to spread a program over devices, which nothing here does.
    fn skip_item(&mut self, start: usize, name: &str) -> Parse<()> {
        if !name.starts_with("sdy.") {
            let message = format!("`{name}` is not supported outside a function");
            return self.stop(start, message);
        }
        self.note(start, format!("`{name}` is left out"));
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

    // Goes to the next function after what starts here. Whether there is one.
    fn recover(&mut self, start: usize) -> bool {
        let text = self.c.text;
        let next = lines::all(&text[start..]).skip(1).find(|(_, line)| {
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

    fn finish(&mut self) -> Option<Module> {
        let mut program = Program::new(self.registry.clone());
        for function in std::mem::take(&mut self.functions) {
            let span = function.span();
            if let Err(error) = program.add(function) {
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
        for (name, calls) in calls_with(&program, &effects, &self.calls) {
            let Some(function) = program.function_mut(name) else { continue };
            for inst in calls {
                let mut attrs: Vec<Attr> = function.attrs(inst).to_vec();
                if let Some(flag) = attrs.get_mut(1) {
                    *flag = Attr::Bool(true);
                    let _ = function.set_attrs(inst, &attrs.into());
                }
            }
        }
        if !self.calls.is_empty()
            && let Err(problems) = sapwood_ptir::verify_calls(&program, effects)
        {
            self.problems.append(problems);
            return None;
        }
        self.calls_as_stated(&program);
        if self.problems.error_count() > 0 {
            return None;
        }
        let (extras, notes) = (std::mem::take(&mut self.extras), std::mem::take(&mut self.notes));
        Some(Module { program, extras, notes })
    }
}

/// The attributes that are kept, as `{a = 1, b}`.
pub(crate) fn kept(entries: &[Entry<'_>], keep: impl Fn(&Entry<'_>) -> bool) -> Option<Box<str>> {
    let mut out = String::new();
    for entry in entries.iter().filter(|e| !e.name.starts_with("sdy.") && keep(e)) {
        out.push_str(if out.is_empty() { "{" } else { ", " });
        out.push_str(&attr::tidy(entry.text));
    }
    if out.is_empty() {
        return None;
    }
    out.push('}');
    Some(out.into())
}

// Calls whose callee reaches something ordered, by the function they stand in.
fn calls_with(
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
