//! What values are called, and what is said about instructions: nothing that is computed depends on it.

use super::journal::Undo;
use super::{Function, NO_HINT};
use crate::ids::{InstId, ValueId};

impl Function {
    /// The name it was written with, if it had one. A number is no name.
    #[must_use]
    pub fn hint(&self, value: ValueId) -> Option<&str> {
        let hint = self.values[value.index()].hint;
        let name = (hint != NO_HINT).then(|| self.hints.get(hint))?;
        (!self.numbered || !is_anonymous(name)).then_some(name)
    }

    /// Names a value. Printing makes names unique; a name that is not an identifier is changed into one.
    pub fn set_hint(&mut self, value: ValueId, name: &str) {
        // Most names start with a letter, and no number does.
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
        self.note(|f| Undo::Hint { value, old: f.values[value.index()].hint });
        self.values[value.index()].hint = hint.unwrap_or(NO_HINT);
    }

    /// Names a value as another one is named.
    pub fn copy_hint(&mut self, from: ValueId, to: ValueId) {
        self.note(|f| Undo::Hint { value: to, old: f.values[to.index()].hint });
        self.values[to.index()].hint = self.values[from.index()].hint;
    }

    /// The comment lines that stood before an instruction.
    #[must_use]
    pub fn comment(&self, inst: InstId) -> Option<&str> {
        self.comments.get(&inst).map(|c| &**c)
    }

    /// Puts comment lines before an instruction.
    pub fn set_comment(&mut self, inst: InstId, comment: Option<&str>) {
        if comment.is_none() && self.comments.is_empty() {
            return;
        }
        self.note(|f| Undo::Comment { inst, old: f.comment(inst).map(Into::into) });
        match comment {
            Some(text) => self.comments.insert(inst, text.into()),
            None => self.comments.remove(&inst),
        };
    }

    /// The comment lines that stood before the function.
    #[must_use]
    pub fn leading_comment(&self) -> Option<&str> {
        self.leading.as_deref()
    }

    /// Puts comment lines before the function.
    pub fn set_leading_comment(&mut self, comment: Option<&str>) {
        self.leading = comment.map(Into::into);
    }
}

/// Whether a name is one the printer gives to unnamed values: a number without leading zeros.
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
