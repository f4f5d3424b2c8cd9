//! Names of values and comments on instructions. No computation depends on them.

use super::Function;
use super::dfg::{Dfg, NO_HINT};
use super::journal::DfgUndo;
use crate::ids::{InstId, ValueId};

impl Dfg {
    fn hint(&self, value: ValueId) -> Option<&str> {
        let hint = self.values[value.index()].hint;
        let name = (hint != NO_HINT).then(|| self.hints.get(hint))?;
        (!self.numbered || !is_anonymous(name)).then_some(name)
    }

    // Returns the id of a name, with other characters than those of identifiers replaced.
    fn intern_hint(&mut self, name: &str) -> u32 {
        // Most names start with a letter, which no number does.
        let numeric = name.as_bytes().first().is_some_and(u8::is_ascii_digit);
        let usable = !name.is_empty()
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'.')
            && !(numeric && is_anonymous(name));
        let hint = if usable {
            self.hints.intern(name)
        } else {
            let clean: String = name
                .chars()
                .map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '_' })
                .collect();
            if clean.is_empty() || is_anonymous(&clean) { None } else { self.hints.intern(&clean) }
        };
        hint.unwrap_or(NO_HINT)
    }

    #[inline]
    pub(super) fn comment(&self, inst: InstId) -> Option<&str> {
        if self.comments.is_empty() {
            return None;
        }
        self.comments.get(&inst).map(|c| &**c)
    }

    pub(super) fn set_comment(&mut self, inst: InstId, comment: Option<&str>) {
        match comment {
            Some(text) => drop(self.comments.insert(inst, text.into())),
            None if self.comments.is_empty() => {}
            None => drop(self.comments.remove(&inst)),
        }
    }
}

impl Function {
    /// Returns the name of a value, if it has one. A number is not a name.
    #[must_use]
    pub fn hint(&self, value: ValueId) -> Option<&str> {
        self.dfg.hint(value)
    }

    /// Sets the name of a value. The printer makes names unique and turns a name that is not an identifier into one.
    pub fn set_hint(&mut self, value: ValueId, name: &str) {
        let hint = self.dfg.intern_hint(name);
        self.set_hint_id(value, hint);
    }

    /// Copies the name of one value to another.
    pub fn copy_hint(&mut self, from: ValueId, to: ValueId) {
        self.set_hint_id(to, self.dfg.values[from.index()].hint);
    }

    fn set_hint_id(&mut self, value: ValueId, hint: u32) {
        let old = std::mem::replace(&mut self.dfg.values[value.index()].hint, hint);
        self.record_dfg_undo(|_| DfgUndo::Hint { value, old });
    }

    /// Returns the comment lines before an instruction.
    #[must_use]
    pub fn comment(&self, inst: InstId) -> Option<&str> {
        self.dfg.comment(inst)
    }

    /// Sets the comment lines before an instruction.
    pub fn set_comment(&mut self, inst: InstId, comment: Option<&str>) {
        if comment.is_none() && self.dfg.comments.is_empty() {
            return;
        }
        self.record_dfg_undo(|dfg| DfgUndo::Comment {
            inst,
            old: dfg.comment(inst).map(Into::into),
        });
        self.dfg.set_comment(inst, comment);
    }

    /// Returns the comment lines before the function.
    #[must_use]
    pub fn leading_comment(&self) -> Option<&str> {
        self.leading.as_deref()
    }

    /// Sets the comment lines before the function.
    pub fn set_leading_comment(&mut self, comment: Option<&str>) {
        self.leading = comment.map(Into::into);
    }
}

/// Returns whether a name is one that the printer gives to unnamed values: a number without leading zeros.
pub(crate) fn is_anonymous(name: &str) -> bool {
    anonymous_number(name).is_some()
}

pub(crate) fn anonymous_number(name: &str) -> Option<u32> {
    let bytes = name.as_bytes();
    if bytes.is_empty() || bytes.len() > 10 || (bytes[0] == b'0' && bytes.len() > 1) {
        return None;
    }
    let mut number = 0u64;
    for byte in bytes {
        if !byte.is_ascii_digit() {
            return None;
        }
        number = number * 10 + u64::from(byte - b'0');
    }
    u32::try_from(number).ok()
}
