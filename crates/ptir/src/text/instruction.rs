//! Reads instructions: results, op, operands, attributes, types.

use sapwood_types::{Span, did_you_mean};
use smallvec::SmallVec;

use super::lexer::{Kind, Token};
use super::literal::LiteralRange;
use super::names::ScopedName;
use super::parser::{Parser, Stop};
use crate::attr::{Attr, AttrKind};
use crate::func::{Place, RawInst};
use crate::ids::{BodyId, TypeId, ValueId};
use crate::op::{OpDef, OpKey, OperandKind, ResultCount};

/// An instruction whose regions are being read.
pub(super) struct Pending {
    pub(super) start: Token,
    results: SmallVec<[(ScopedName, Token); 1]>,
    key: OpKey,
    attrs: Attrs,
    operands: SmallVec<[ValueId; 4]>,
    pub(super) regions: SmallVec<[BodyId; 2]>,
    pub(super) body: BodyId,
    poisoned: bool,
    comment: Option<String>,
}

/// Attributes as written, before the result type is known.
struct Attrs {
    list: Vec<Attr>,
    literal: Option<(usize, LiteralRange)>,
}

impl Parser<'_> {
    // One instruction. If it has regions, it is given back with its first region opened.
    pub(super) fn instruction(&mut self, body: BodyId) -> Result<Option<Box<Pending>>, Stop> {
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
            // Beyond the limit nobody reads suggestions, and they cost more than the rest.
            let near = if self.problems.dropped() > 0 {
                None
            } else {
                did_you_mean(name, registry.defs().map(|d| d.name))
            };
            let help = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => "ops that are not registered are written `dialect.name`".into(),
            };
            let name: String = name.chars().take(80).collect();
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
                    operands.push(self.literal_operand()?);
                }
                Kind::Punct(b'(') if self.starts_complex() => {
                    operands.push(self.literal_operand()?);
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

    // A parenthesis before a number is a complex literal; before anything else it opens a region.
    fn starts_complex(&self) -> bool {
        let mut ahead = self.lexer.clone();
        let next = ahead.next();
        match next.kind {
            Kind::Int | Kind::Float | Kind::Hex => true,
            Kind::Word => matches!(ahead.text(next), "nan" | "inf"),
            _ => false,
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

    pub(super) fn open_region(&mut self, pending: &mut Pending) -> Result<BodyId, Stop> {
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
    pub(super) fn complete(&mut self, pending: &mut Pending) -> Result<(), Stop> {
        let made = self.complete_checked(pending);
        if made.is_err() {
            self.poison(pending);
        }
        made
    }

    pub(super) fn poison(&mut self, pending: &Pending) {
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
        let attrs = self.function.attrs.intern_vec(list);
        let end = Token { line: self.last_end.0, column: self.last_end.1, ..self.token };
        let span = Span::new(
            self.options.file,
            pending.start.line,
            pending.start.column,
            if pending.regions.is_empty() { end.line } else { pending.start.line },
            if pending.regions.is_empty() { end.column } else { pending.start.column + 1 },
        );
        let inst = self.function.create_raw(&RawInst {
            key: pending.key,
            attrs,
            operands: &pending.operands,
            regions: &pending.regions,
            types: &types,
            span,
        });
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
}
