//! Value names during parsing: their definitions, scopes and missing definitions.

use sapwood_types::{Diagnostic, did_you_mean};

use super::lexer::Token;
use super::parser::{Parser, memory_cost};
use crate::func::anonymous_number;
use crate::ids::{BodyId, ValueId};

#[derive(Clone, Copy, PartialEq)]
pub(super) enum ScopedName {
    Hint(u32),
    Number(u32),
}

#[derive(Clone, Copy)]
pub(super) struct NameSlot {
    // `NONE` if the name is not defined, poison if its definition could not be read.
    value: ValueId,
    line: u32,
    // True if a use before the definition was noted.
    missing: bool,
    // The function to which the slot belongs; for another function it counts as undefined.
    function: u32,
}

pub(super) const UNDEFINED_NAME: NameSlot =
    NameSlot { value: ValueId::NONE, line: 0, missing: false, function: 0 };

impl Parser<'_> {
    pub(super) fn scoped_name(&mut self, token: Token) -> ScopedName {
        let name = &self.lexer.text(token)[1..];
        match anonymous_number(name) {
            // Numbers are dense in printed text. A very large number is kept as a hint rather than in a huge table,
            // which is allocated once for all functions.
            Some(n) if n < 1 << 22 && (n as usize) < self.lexer.len() => ScopedName::Number(n),
            _ => {
                let known = self.function.dfg.hints.len();
                let hint = self.function.dfg.hints.intern(name).unwrap_or(0);
                if self.function.dfg.hints.len() > known {
                    self.charge_memory(memory_cost::NAME + name.len() as u64);
                }
                ScopedName::Hint(hint)
            }
        }
    }

    fn slot(&mut self, name: ScopedName) -> &mut NameSlot {
        let (table, index) = match name {
            ScopedName::Hint(h) => (&mut self.by_hint, h as usize),
            ScopedName::Number(n) => (&mut self.by_number, n as usize),
        };
        if table.len() <= index {
            table.resize(index + 1, UNDEFINED_NAME);
        }
        let slot = &mut table[index];
        if slot.function != self.function_number {
            *slot = NameSlot { function: self.function_number, ..UNDEFINED_NAME };
        }
        slot
    }

    pub(super) fn define(&mut self, name: ScopedName, token: Token, value: ValueId) {
        let known = *self.slot(name);
        if known.line != 0 {
            let text = self.lexer.text(token);
            let note = format!("first defined in line {}", known.line);
            let error = Diagnostic::error(
                token.span(self.options.file),
                format!("{text} is defined twice"),
            );
            self.problems.push(error.with_note(note));
            // Later uses in the same body refer to the later definition.
            if self.defining_body(known.value) != self.defining_body(value) {
                return;
            }
        }
        let line = if known.line == 0 { token.line } else { known.line };
        *self.slot(name) = NameSlot { value, line, ..known };
        if value != self.unread.poison {
            self.function.dfg.values[value.index()].hint = self.hint_of(name, token);
        }
    }

    // Numbers are dropped unless the options keep them.
    fn hint_of(&mut self, name: ScopedName, token: Token) -> u32 {
        let number = match name {
            ScopedName::Hint(hint) => anonymous_number(self.function.dfg.hints.get(hint)),
            ScopedName::Number(n) => Some(n),
        };
        match name {
            ScopedName::Hint(hint) if number.is_none() => hint,
            _ if !self.options.numbers => crate::func::NO_HINT,
            _ => {
                let text = &self.lexer.text(token)[1..];
                self.charge_memory(memory_cost::NAME + text.len() as u64);
                self.function.dfg.numbered = true;
                self.function.dfg.hints.intern(text).unwrap_or(crate::func::NO_HINT)
            }
        }
    }

    pub(super) fn is_defined(&mut self, name: ScopedName) -> bool {
        self.slot(name).line != 0
    }

    /// Defines a name whose value could not be read, unless the name is already defined: then it is probably a
    /// misplaced use.
    pub(super) fn define_unless_known(&mut self, name: ScopedName, token: Token) {
        if self.slot(name).line == 0 {
            let poison = self.poison_value();
            self.define(name, token, poison);
        }
    }

    // Returns the body in which a value is defined.
    fn defining_body(&self, value: ValueId) -> BodyId {
        match self.function.value_def(value) {
            crate::func::ValueDef::Param(body, _) => body,
            crate::func::ValueDef::Result(inst, _) => {
                self.function.body_of(inst).unwrap_or(BodyId::new(0))
            }
        }
    }

    /// Returns the value of a name, or poison if it has none here. The error is reported once per name.
    pub(super) fn resolve_use(&mut self, token: Token) -> ValueId {
        let name = self.scoped_name(token);
        let slot = *self.slot(name);
        if slot.line == 0 {
            if !slot.missing {
                self.slot(name).missing = true;
                self.charge_memory(memory_cost::NAME);
                self.missing.push((token, name));
            }
            return self.poison_value();
        }
        if !self.open[self.defining_body(slot.value).index()] {
            let text = self.lexer.text(token);
            let message =
                format!("{text} is defined in another region, which ends before this use");
            self.problems.push(
                Diagnostic::error(token.span(self.options.file), message)
                    .with_note(format!("defined in line {}", slot.line))
                    .with_help("let the region yield it"),
            );
            return self.poison_value();
        }
        slot.value
    }

    // Reports the names that are still undefined at the end of a function: they are used before their definition, or
    // have none.
    pub(super) fn finish_names(&mut self) {
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
                let hints = (0..self.function.dfg.hints.len() as u32).take(10_000);
                let defined = hints.filter(|&h| {
                    let slot = self.by_hint.get(h as usize);
                    slot.is_some_and(|s| s.line != 0 && s.function == self.function_number)
                });
                let near = if self.problems.dropped() > 0 {
                    None
                } else {
                    did_you_mean(&text[1..], defined.map(|h| self.function.dfg.hints.get(h)))
                };
                let error = Diagnostic::error(span, format!("{text} is not defined"));
                match near {
                    Some(near) => error.with_help(format!("did you mean `%{near}`?")),
                    None => error,
                }
            };
            self.problems.push(error);
        }
    }
}
