//! The names of values in the output: the names that were read where possible, numbers otherwise.

use std::hash::BuildHasher as _;
use std::ops::Range;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::ValueId;
use sapwood_types::write_decimal;

use crate::cursor::is_name_byte;

/// A name without the index of a result.
#[derive(Clone, Copy)]
enum BaseName {
    Number(u32),
    /// The index of the name in `names`.
    Text(u32),
}

const NO_INDEX: u32 = u32::MAX;

/// A name made from a hint.
struct NameText {
    /// Its place in the text of all names.
    range: Range<usize>,
    /// The number of later requests for this name.
    requests: u32,
}

/// The names of one function, each assigned once.
#[derive(Default)]
pub(super) struct ValueNames {
    /// The name of each value, and its index among several results.
    values: Vec<Option<(BaseName, u32)>>,
    /// The texts of all names, one after the other.
    text: String,
    names: Vec<NameText>,
    /// The indices of the names by their text.
    by_text: HashTable<u32>,
    numbers: u32,
}

impl ValueNames {
    fn base_name(&mut self, hint: Option<&str>) -> BaseName {
        let Some(hint) = hint else {
            let number = self.numbers;
            self.numbers += 1;
            return BaseName::Number(number);
        };
        let start = self.text.len();
        push_sanitized(&mut self.text, hint);
        let sanitized_end = self.text.len();
        while let Some(taken) = self.find(start) {
            self.text.truncate(sanitized_end);
            let suffix = self.names[taken].requests;
            self.names[taken].requests += 1;
            self.text.push('_');
            write_decimal(&mut self.text, u64::from(suffix));
            if self.find(start).is_none() {
                break;
            }
            self.text.truncate(sanitized_end);
        }
        let index = self.names.len() as u32;
        let hash = hash_text(&self.text[start..]);
        self.names.push(NameText { range: start..self.text.len(), requests: 0 });
        let (text, names) = (&self.text, &self.names);
        let hash_of = |i: &u32| hash_text(&text[names[*i as usize].range.clone()]);
        self.by_text.insert_unique(hash, index, hash_of);
        BaseName::Text(index)
    }

    // Returns the index of the name that is equal to the text from here to the end.
    fn find(&self, start: usize) -> Option<usize> {
        let name = &self.text[start..];
        let is_equal = |i: &u32| self.text[self.names[*i as usize].range.clone()] == *name;
        self.by_text.find(hash_text(name), is_equal).map(|i| *i as usize)
    }

    fn set_name(&mut self, value: ValueId, name: (BaseName, u32)) {
        let index = value.index();
        if self.values.len() <= index {
            self.values.resize(index + 1, None);
        }
        self.values[index] = Some(name);
    }

    /// Names one value.
    pub(super) fn assign(&mut self, value: ValueId, hint: Option<&str>) {
        let base = self.base_name(hint);
        self.set_name(value, (base, NO_INDEX));
    }

    /// Names several results of one op.
    pub(super) fn assign_group(
        &mut self,
        values: impl Iterator<Item = ValueId>,
        hint: Option<&str>,
    ) {
        let base = self.base_name(hint);
        for (i, value) in values.enumerate() {
            self.set_name(value, (base, i as u32));
        }
    }

    /// Gives a value the name of another one.
    pub(super) fn assign_same(&mut self, value: ValueId, as_value: ValueId) {
        if let Some(Some(name)) = self.values.get(as_value.index()) {
            self.set_name(value, *name);
        }
    }

    /// Returns an unused name for a value that the program does not have.
    pub(super) fn fresh_name(&mut self) -> String {
        let number = self.numbers;
        self.numbers += 1;
        format!("%{number}")
    }

    /// Writes the name.
    pub(super) fn write(&self, out: &mut String, value: ValueId) {
        let Some((base, index)) = self.values.get(value.index()).copied().flatten() else {
            out.push_str("%undefined");
            return;
        };
        self.write_base(out, base);
        if index != NO_INDEX {
            out.push('#');
            write_decimal(out, u64::from(index));
        }
    }

    /// Writes the name without the index of the result.
    pub(super) fn write_group(&self, out: &mut String, value: ValueId) {
        if let Some((base, _)) = self.values.get(value.index()).copied().flatten() {
            self.write_base(out, base);
        }
    }

    fn write_base(&self, out: &mut String, base: BaseName) {
        out.push('%');
        match base {
            BaseName::Number(n) => write_decimal(out, u64::from(n)),
            BaseName::Text(i) => {
                out.push_str(&self.text[self.names[i as usize].range.clone()]);
            }
        }
    }
}

fn hash_text(text: &str) -> u64 {
    FxBuildHasher.hash_one(text)
}

// Appends a name with `_` in place of the characters that MLIR does not allow in one.
fn push_sanitized(out: &mut String, hint: &str) {
    if hint.as_bytes().first().is_none_or(u8::is_ascii_digit) {
        out.push('_');
    }
    match hint.bytes().all(is_name_byte) {
        true => out.push_str(hint),
        false => out.extend(hint.chars().map(|c| match u8::try_from(c) {
            Ok(byte) if is_name_byte(byte) => c,
            _ => '_',
        })),
    }
}
