//! Parsing of instructions: results, op, operands, attributes, regions, types.

use sapwood_types::{DataType, Loc, Span, counted, did_you_mean};
use smallvec::SmallVec;

use super::external::LongLiteralMode;
use super::lexer::{Token, TokenKind};
use super::literal::LiteralRange;
use super::names::ScopedName;
use super::parser::{ErrorReported, Parser, memory_cost};
use crate::attr::{Attr, AttrKind};
use crate::func::InsertPoint;
use crate::ids::{BodyId, TypeId, ValueId};
use crate::literal::TensorLiteral;
use crate::op::{OpDef, OpKey, OperandKind, ResultCount};
use crate::types::ValueType;

/// The op of instructions whose own op is unknown.
pub(super) const UNKNOWN_OP: &str = "unknown";

/// An instruction that is being read.
pub(super) struct PendingInst {
    start: Token,
    results: SmallVec<[(ScopedName, Token); 1]>,
    key: OpKey,
    attrs: PendingAttrs,
    operands: SmallVec<[ValueId; 4]>,
    regions: SmallVec<[BodyId; 2]>,
    pub(super) body: BodyId,
    comment: Option<String>,
    // True if part of the instruction is wrong; then only its surroundings are checked further.
    pub(super) broken: bool,
    // True if the operands could not be read completely.
    operands_lost: bool,
    // True if no `=` followed the results, so that they may have been something else.
    results_unconfirmed: bool,
    // The type of the last operand, if that is a literal and nothing follows.
    literal_type: Option<TypeId>,
    loc: Loc,
}

/// Attributes as written, before the result type is known.
struct PendingAttrs {
    list: Vec<Attr>,
    literal: Option<(usize, LiteralRange)>,
}

impl Parser<'_> {
    /// Reads the head of an instruction: results, op, operands, attributes. Unreadable parts are skipped, so that the
    /// next token belongs to its regions or types, or follows it.
    pub(super) fn instruction(&mut self, body: BodyId) -> PendingInst {
        self.braces = 0;
        let mut pending = PendingInst {
            start: self.token,
            results: SmallVec::new(),
            key: self.unknown,
            attrs: PendingAttrs { list: Vec::new(), literal: None },
            operands: SmallVec::new(),
            regions: SmallVec::new(),
            body,
            comment: self.take_comments(),
            broken: false,
            operands_lost: false,
            results_unconfirmed: false,
            literal_type: None,
            loc: Loc::UNKNOWN,
        };
        match self.inst_head(&mut pending) {
            Ok(()) => self.check_operands_end(&mut pending),
            Err(ErrorReported) => {
                pending.broken = true;
                pending.operands_lost = true;
                self.resume();
            }
        }
        pending
    }

    fn inst_head(&mut self, pending: &mut PendingInst) -> Result<(), ErrorReported> {
        while self.token.kind == TokenKind::Value {
            let token = self.token;
            pending.results.push((self.scoped_name(token), token));
            self.charge_memory(memory_cost::VALUE);
            self.advance();
            if !self.eat(b',') {
                break;
            }
        }
        if !pending.results.is_empty() && !self.eat(b'=') {
            pending.results_unconfirmed = true;
            pending.broken = true;
            let known = pending.results.iter().all(|&(name, _)| self.is_defined(name));
            let stop = if known && self.token.kind != TokenKind::Word {
                let text = self.lexer.text(pending.start);
                let message = format!("expected an instruction, found `{text}`");
                let help = "operands are separated by commas".into();
                self.report_at_with_help(pending.start, message, help)
            } else {
                self.report_expected("`=`")
            };
            if self.token.kind != TokenKind::Word || self.starts_function() {
                return Err(stop);
            }
        }
        if self.token.kind != TokenKind::Word {
            return Err(self.report_expected("the name of an op"));
        }
        let options = self.options;
        let name = self.lexer.text(self.token);
        let def = options.registry.by_name(name);
        let unknown = def.is_none() && !name.contains('.');
        if unknown {
            self.unknown_op(name);
            pending.broken = true;
            pending.operands_lost = true;
        } else {
            pending.key = def.map_or_else(|| OpKey::of(name), |d| d.key);
        }
        self.advance();
        if unknown && matches!(self.token.kind, TokenKind::Func | TokenKind::Str) {
            self.advance();
        }
        let inline = match def {
            Some(def) => self.leading_attr(def, pending)?,
            None => None,
        };
        self.operands(def, pending)?;
        self.attributes(def, inline, pending)
    }

    fn unknown_op(&mut self, name: &str) {
        // Beyond the limit no suggestions are shown, and they cost more than the rest.
        let near = if self.problems.dropped() > 0 {
            None
        } else {
            did_you_mean(name, self.options.registry.defs().map(|d| d.name))
        };
        let help = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => "ops that are not registered are written `dialect.name`".into(),
        };
        let name: String = name.chars().take(80).collect();
        let _ = self.report_with_help(format!("unknown op `{name}`"), help);
    }

    // Reads the attribute that is written right after the name.
    fn leading_attr(
        &mut self,
        def: &OpDef,
        pending: &mut PendingInst,
    ) -> Result<Option<Attr>, ErrorReported> {
        let Some(index) = def.leading_attr else { return Ok(None) };
        if def.attrs[index].kind == AttrKind::Literal {
            if self.token.kind == TokenKind::Dots {
                let _ = self.report("this literal was elided when it was printed (`...`)");
                self.advance();
                pending.broken = true;
                return Ok(Some(Attr::Unit));
            }
            pending.attrs.literal = Some((index, self.skip_literal()?));
            return Ok(Some(Attr::Unit));
        }
        let token = self.token;
        let attr = self.attr(0)?;
        Ok(Some(self.coerce_attr(def, index, attr, token, pending)))
    }

    fn operands(
        &mut self,
        def: Option<&OpDef>,
        pending: &mut PendingInst,
    ) -> Result<(), ErrorReported> {
        let may_be_none = def.is_none_or(|d| d.variadic_len(0).is_some());
        let mut first = true;
        loop {
            pending.literal_type = None;
            match self.token.kind {
                // After an op without operands, the results of the next instruction may follow.
                TokenKind::Value
                    if first
                        && (may_be_none || self.token.line > self.last_end.0)
                        && self.starts_results() =>
                {
                    return Ok(());
                }
                TokenKind::Value
                    if !first && self.token.line > self.last_end.0 && self.starts_results() =>
                {
                    return Err(self.report_expected("an operand"));
                }
                TokenKind::Value => {
                    let value = self.resolve_use(self.token);
                    pending.operands.push(value);
                    self.advance();
                }
                TokenKind::Int | TokenKind::Float | TokenKind::Hex | TokenKind::Punct(b'[') => {
                    self.literal_operand(pending)?;
                }
                TokenKind::Punct(b'(') if self.starts_complex() => self.literal_operand(pending)?,
                TokenKind::Word if self.literal_word() => self.literal_operand(pending)?,
                TokenKind::Placeholder => {
                    let _ = self.report_expected("an operand");
                    pending.operands.push(self.poison_value());
                    self.advance();
                }
                _ if first => return Ok(()),
                _ => return Err(self.report_expected("an operand")),
            }
            first = false;
            self.charge_memory(memory_cost::OPERAND);
            if !self.eat(b',') {
                return Ok(());
            }
        }
    }

    // Checks that regions, types or the end of the instruction follow.
    pub(super) fn check_operands_end(&mut self, pending: &mut PendingInst) {
        let fine = match self.token.kind {
            TokenKind::Punct(b':' | b'(' | b'}') | TokenKind::End => true,
            TokenKind::Punct(b'{') => !self.opens_attributes(),
            // Without results, the next instruction reports the error.
            _ if pending.results.is_empty() => true,
            TokenKind::Word => !self.is_type_word(),
            TokenKind::Value => self.starts_results(),
            _ => false,
        };
        if fine {
            return;
        }
        pending.broken = true;
        if self.token.kind == TokenKind::Value {
            let help = "operands are separated by commas".into();
            let _ = self.report_expected_with_help("`:` and the types of the results", help);
            pending.operands_lost = true;
        } else {
            let _ = self.report_expected("`:` and the types of the results");
        }
        if !self.is_type_word() {
            self.resume();
        }
    }

    fn is_type_word(&self) -> bool {
        self.word().is_some_and(|word| match word {
            "token" | "opaque" => true,
            "tuple" => self.lexer.lookahead().next().kind == TokenKind::Punct(b'<'),
            _ => word.parse::<DataType>().is_ok(),
        })
    }

    // Returns whether a parenthesis starts a complex literal, as it does before a number; otherwise it opens a region.
    fn starts_complex(&self) -> bool {
        let mut ahead = self.lexer.clone();
        let next = ahead.next();
        match next.kind {
            TokenKind::Int | TokenKind::Float | TokenKind::Hex => true,
            TokenKind::Word => matches!(ahead.text(next), "nan" | "inf"),
            _ => false,
        }
    }

    fn literal_word(&self) -> bool {
        matches!(self.word(), Some("true" | "false" | "nan" | "inf" | "hex" | "external"))
    }

    fn literal_operand(&mut self, pending: &mut PendingInst) -> Result<(), ErrorReported> {
        let token = self.token;
        let range = self.skip_literal()?;
        if !self.at(b':') {
            let _ = self.report_expected_with_help(
                "`:` and a type",
                "a literal operand carries its type: `1.0:f32[4]`".into(),
            );
            pending.operands.push(self.poison_value());
            return Ok(());
        }
        self.advance();
        let ty = self.tensor_type()?;
        let value = match self.literal(&range, &ty) {
            Ok(literal) => self.literal_constant(&literal, token),
            Err(ErrorReported) => self.poison_value(),
        };
        pending.operands.push(value);
        pending.literal_type = Some(self.function.dfg.types.intern(&ValueType::Tensor(ty)));
        Ok(())
    }

    // Constants of literals are at the start of the function, in the order in which they are read.
    fn literal_constant(&mut self, literal: &TensorLiteral, token: Token) -> ValueId {
        let span = token.span(self.options.file);
        let count = self.function.inst_capacity();
        let place = match self.last_literal {
            Some(last) => InsertPoint::After(last),
            None => InsertPoint::Start(self.function.body()),
        };
        let value = self.function.constant_unlabelled(literal, span, place, |_, _| true);
        if self.function.inst_capacity() > count {
            self.last_literal = self.function.inst_of(value);
        }
        value
    }

    /// Opens the next region of an instruction, if there is one.
    pub(super) fn open_region(&mut self, pending: &mut PendingInst) -> Option<BodyId> {
        loop {
            let bare = self.at(b'{') && !self.opens_attributes();
            if !self.at(b'(') && !bare {
                return None;
            }
            self.charge_memory(memory_cost::REGION);
            let region = self.function.create_body();
            self.open.resize(region.index() + 1, false);
            self.open[region.index()] = true;
            pending.regions.push(region);
            if bare {
                let help = "a region declares its parameters, `() { … }` if it has none".into();
                let _ = self.report_expected_with_help("`(`", help);
                self.unread.params.insert(region);
            } else {
                self.params(region);
            }
            if self.expect(b'{').is_ok() {
                return Some(region);
            }
            self.unread.bodies.insert(region);
            self.open[region.index()] = false;
            pending.broken = true;
            self.resume();
        }
    }

    fn attributes(
        &mut self,
        def: Option<&OpDef>,
        inline: Option<Attr>,
        pending: &mut PendingInst,
    ) -> Result<(), ErrorReported> {
        let written = self.at(b'{') && (!self.has_regions(def) || self.opens_attributes());
        let Some(def) = def else {
            let dict = if written { self.attr(0)? } else { Attr::dict(Vec::new()) };
            pending.attrs.list.push(dict);
            return Ok(());
        };
        if def.attrs.is_empty() && !written {
            return Ok(());
        }
        let mut list: SmallVec<[Option<Attr>; 4]> = SmallVec::from_elem(None, def.attrs.len());
        if let (Some(index), Some(attr)) = (def.leading_attr, inline) {
            list[index] = Some(attr);
        }
        let open = self.token;
        if written {
            self.advance();
            self.braces += 1;
            while !self.at(b'}') {
                self.attribute(def, &mut list, pending)?;
                if !self.eat(b',') && !self.at(b'}') {
                    return Err(self.report_expected("`,` or `}`"));
                }
            }
            self.advance();
            self.braces -= 1;
        }
        for (row, attr) in def.attrs.iter().zip(list) {
            let unit = self.options.open_attributes.then_some(Attr::Unit);
            match attr.or(unit).or_else(|| row.default.clone()) {
                Some(attr) => pending.attrs.list.push(attr),
                // An unknown attribute may be the missing one, misspelt.
                None if pending.broken => {}
                None => {
                    let help = format!("it must be {}", row.kind.describe());
                    let message = format!("{} needs the attribute `{}`", def.name, row.name);
                    let _ = self.report_at_with_help(open, message, help);
                    pending.broken = true;
                }
            }
        }
        Ok(())
    }

    fn has_regions(&self, def: Option<&OpDef>) -> bool {
        def.is_none_or(|d| !d.regions.is_empty())
    }

    // Reads one `name = value`.
    fn attribute(
        &mut self,
        def: &OpDef,
        list: &mut [Option<Attr>],
        pending: &mut PendingInst,
    ) -> Result<(), ErrorReported> {
        let text = self.lexer.text(self.token);
        if !matches!(self.token.kind, TokenKind::Word | TokenKind::Str) {
            return Err(self.report_expected("the name of an attribute"));
        }
        let index = def.attrs.iter().position(|a| a.name == text && a.kind != AttrKind::ResultType);
        let twice = index.is_some_and(|i| list[i].is_some());
        if index.is_none() {
            self.unknown_attribute(def, text);
        } else if twice {
            let _ = self.report(format!("`{text}` is given twice"));
        }
        self.advance();
        self.expect(b'=')?;
        let token = self.token;
        let attr = self.attr(0)?;
        match index.filter(|_| !twice) {
            Some(index) => list[index] = Some(self.coerce_attr(def, index, attr, token, pending)),
            None => pending.broken = true,
        }
        Ok(())
    }

    fn unknown_attribute(&mut self, def: &OpDef, text: &str) {
        let names = def.attrs.iter().filter(|a| a.kind != AttrKind::ResultType).map(|a| a.name);
        let help = match did_you_mean(text, names.clone()) {
            Some(name) => format!("did you mean `{name}`?"),
            None if names.clone().next().is_none() => "it has none".into(),
            None => format!("its attributes are: {}", names.collect::<Vec<_>>().join(", ")),
        };
        let text: String = text.chars().take(80).collect();
        let _ = self.report_with_help(format!("{} has no attribute `{text}`", def.name), help);
    }

    // Converts an attribute to the form that the op's definition requires. One that does not fit is reported and
    // marks the instruction as broken.
    fn coerce_attr(
        &mut self,
        def: &OpDef,
        index: usize,
        attr: Attr,
        token: Token,
        pending: &mut PendingInst,
    ) -> Attr {
        let row = &def.attrs[index];
        if attr == Attr::Unit && row.default == Some(Attr::Unit) {
            return attr;
        }
        let shown = attr.clone();
        row.kind.coerce(attr).unwrap_or_else(|| {
            let mut word = String::new();
            super::write_attr(&mut word, &shown, &mut LongLiteralMode::Elided(8));
            let message = format!(
                "attribute `{}` of {} must be {}, found {} `{word}`",
                row.name,
                def.name,
                row.kind.describe(),
                shown.describe()
            );
            let _ = self.report_at(token, message);
            pending.broken = true;
            Attr::Unit
        })
    }

    /// Continues after the closing brace of a region: another region, the types, or the end.
    pub(super) fn after_region(&mut self, pending: &mut PendingInst) {
        self.braces = 0;
        pending.literal_type = None;
        self.check_operands_end(pending);
    }

    /// Reads the result types and creates the instruction.
    pub(super) fn finish_inst(&mut self, pending: &mut PendingInst) {
        let mut types: SmallVec<[TypeId; 2]> = SmallVec::new();
        let mut complete = true;
        if self.at(b':') || (pending.broken && self.is_type_word()) {
            self.eat(b':');
            complete = self.types(&mut types);
        }
        pending.broken |= !complete;
        pending.loc = self.loc();
        let def = self.options.registry.get(pending.key);
        if complete {
            self.check_types(def, pending, &mut types);
        }
        if let Some(def) = def {
            self.check_counts(def, pending, types.len());
        }
        self.constant_value(pending, &types);
        self.create_inst(pending, &types);
    }

    // Reads a list of types. Returns whether all of it could be read.
    fn types(&mut self, types: &mut SmallVec<[TypeId; 2]>) -> bool {
        let mut complete = true;
        loop {
            match self.interned_type() {
                Ok(ty) => types.push(ty),
                Err(ErrorReported) => {
                    complete = false;
                    types.clear();
                    if !self.at(b',') {
                        self.resume();
                        while self.eat(b':') {
                            self.resume();
                        }
                        return false;
                    }
                }
            }
            if !self.eat(b',') {
                if !complete {
                    types.clear();
                }
                return complete;
            }
        }
    }

    // Checks that there is one type per result.
    fn check_types(
        &mut self,
        def: Option<&OpDef>,
        pending: &mut PendingInst,
        types: &mut SmallVec<[TypeId; 2]>,
    ) {
        if types.len() == pending.results.len() {
            return;
        }
        let names = pending.results.len();
        if let Some(def) = def.filter(|d| d.results == ResultCount::None) {
            let what = match (names, types.len()) {
                (0, 1) => "1 type is declared".to_owned(),
                (0, n) => format!("{n} types are declared"),
                (1, _) => "1 is named".to_owned(),
                (n, _) => format!("{n} are named"),
            };
            let message = format!("{} has no results, but {what}", def.name);
            let _ = self.report_at(pending.start, message);
        } else if let (0, Some(ty)) = (types.len(), pending.literal_type) {
            if pending.broken && pending.key == self.unknown && names == 1 {
                // For an unknown op, the owner of the type is not known either.
                types.push(ty);
                return;
            }
            let ty = self.function.type_by_id(ty);
            let help = format!("write the type of the literal and that of the result: `:{ty} : …`");
            let message = format!(
                "{} declares no type for its result; the type {ty} belongs to the literal before it",
                pending.key
            );
            let _ = self.report_at_with_help(pending.start, message, help);
        } else if !(pending.broken && types.is_empty()) {
            let message = format!(
                "{} names {} but declares {}",
                pending.key,
                counted(names, "result"),
                counted(types.len(), "type")
            );
            let _ = self.report_at(pending.start, message);
        }
        pending.broken = true;
    }

    fn check_counts(&mut self, def: &OpDef, pending: &mut PendingInst, results: usize) {
        let found = pending.operands.len();
        let regions = pending.regions.len();
        let mut wrong = None;
        if !pending.operands_lost && def.variadic_len(found).is_none() {
            wrong = Some(format!("takes {}, found {found}", def.describe_arity()));
        } else if !(def.accepts_regions(regions) || pending.broken && regions == 0) {
            let least = def.regions.iter().filter(|r| r.kind == OperandKind::Region).count();
            wrong = Some(format!("takes {}, found {regions}", counted(least, "region")));
        } else if def.results == ResultCount::One && results != 1 && !pending.broken {
            wrong = Some(format!("has 1 result, found {results}"));
        } else if def.results == ResultCount::None && results != 0 && !pending.broken {
            wrong = Some(format!("has no results, but {results} are named"));
        }
        if let Some(wrong) = wrong {
            let _ = self.report_at(pending.start, format!("{} {wrong}", def.name));
            pending.broken = true;
        }
    }

    // Reads the literal of a constant, which needs the type.
    fn constant_value(&mut self, pending: &mut PendingInst, types: &[TypeId]) {
        let Some((index, range)) = pending.attrs.literal.clone() else { return };
        let Some(&ty) = types.first() else { return };
        let Some(ty) = self.function.type_by_id(ty).as_tensor().cloned() else {
            let _ = self.report_at(pending.start, "a constant is a tensor".into());
            pending.broken = true;
            return;
        };
        match (self.literal(&range, &ty), pending.attrs.list.get_mut(index)) {
            (Ok(literal), Some(entry)) => *entry = Attr::Literal(literal),
            _ => pending.broken = true,
        }
    }

    /// Adds the instruction to the function. A broken instruction still defines its results, as far as their types
    /// are known; the verifier skips it.
    pub(super) fn create_inst(&mut self, pending: &mut PendingInst, types: &[TypeId]) {
        let unknown = pending.broken && pending.key == self.unknown;
        if unknown
            && pending.regions.is_empty()
            && (pending.results_unconfirmed || pending.results.is_empty())
        {
            self.unread.bodies.insert(pending.body);
            for &(name, token) in &pending.results {
                self.define_unless_known(name, token);
            }
            return;
        }
        if !self.unread.bodies.is_empty() && !unknown {
            self.unread.bodies.remove(&pending.body);
        }
        let named = if pending.broken {
            let none = self.options.registry.get(pending.key);
            let none = none.is_some_and(|d| d.results == ResultCount::None);
            if none { 0 } else { pending.results.len() }
        } else {
            types.len()
        };
        self.charge_memory(memory_cost::INST);
        let types = &types[..types.len().min(named)];
        let list = std::mem::take(&mut pending.attrs.list);
        let list = if pending.broken { Vec::new() } else { list };
        let attrs = self.function.dfg.attrs.intern_vec(list);
        let span = self.inst_span(pending);
        let (operands, regions) = (&pending.operands, &pending.regions);
        let inst = self.function.create_inst(pending.key, attrs, operands, regions, types, span);
        self.function.layout.link_last(inst, pending.body);
        if let Some(comment) = &pending.comment {
            self.function.set_comment(inst, Some(comment));
        }
        if pending.broken {
            self.unread.insts.insert(inst);
            if unknown {
                self.unread.bodies.insert(pending.body);
            }
        }
        for (n, &(name, token)) in pending.results.iter().enumerate() {
            match self.function.result(inst, n) {
                Some(value) if !pending.results_unconfirmed => self.define(name, token, value),
                _ if pending.results_unconfirmed => self.define_unless_known(name, token),
                _ => {
                    let poison = self.poison_value();
                    self.define(name, token, poison);
                }
            }
        }
    }

    // Returns the span of the whole instruction, or of its first character if it has regions.
    fn inst_span(&self, pending: &PendingInst) -> Span {
        let start = pending.start;
        let (line, column) = if pending.regions.is_empty() {
            self.last_end
        } else {
            (start.line, start.column.saturating_add(1))
        };
        let span = Span::new(self.options.file, start.line, start.column, line, column);
        match pending.loc {
            Loc::UNKNOWN => span,
            loc => span.with_loc(loc),
        }
    }
}
