//! The names of values in the output: the names that were read where possible, numbers otherwise.

use std::fmt::Write as _;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::ValueId;

use crate::cursor::is_name_byte;

/// A name without the index of a result.
#[derive(Clone, Copy)]
enum BaseName {
    Number(u32),
    /// The index of the name in `texts`.
    Text(u32),
}

const NO_INDEX: u32 = u32::MAX;

/// The names of one function, each assigned once.
#[derive(Default)]
pub(super) struct ValueNames {
    /// The name of each value, and its index among several results.
    values: Vec<Option<(BaseName, u32)>>,
    texts: Vec<Box<str>>,
    /// The number of times a name was requested.
    taken: HashMap<Box<str>, u32, FxBuildHasher>,
    numbers: u32,
}

impl ValueNames {
    fn base_name(&mut self, hint: Option<&str>) -> BaseName {
        let Some(hint) = hint else {
            let number = self.numbers;
            self.numbers += 1;
            return BaseName::Number(number);
        };
        let sanitized = sanitize(hint);
        let mut name = sanitized.clone();
        while let Some(count) = self.taken.get_mut(&*name) {
            let suffix = *count;
            *count += 1;
            name = format!("{sanitized}_{suffix}");
            if !self.taken.contains_key(&*name) {
                break;
            }
            name.clone_from(&sanitized);
        }
        self.taken.insert(name.clone().into(), 0);
        self.texts.push(name.into());
        BaseName::Text(self.texts.len() as u32 - 1)
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
    pub(super) fn assign_group(&mut self, values: &[ValueId], hint: Option<&str>) {
        let base = self.base_name(hint);
        for (i, &value) in values.iter().enumerate() {
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
            let _ = write!(out, "#{index}");
        }
    }

    /// Writes the name without the index of the result.
    pub(super) fn write_group(&self, out: &mut String, value: ValueId) {
        if let Some((base, _)) = self.values.get(value.index()).copied().flatten() {
            self.write_base(out, base);
        }
    }

    fn write_base(&self, out: &mut String, base: BaseName) {
        match base {
            BaseName::Number(n) => drop(write!(out, "%{n}")),
            BaseName::Text(i) => {
                out.push('%');
                out.push_str(&self.texts[i as usize]);
            }
        }
    }
}

// Replaces the characters that MLIR does not allow in a name.
fn sanitize(hint: &str) -> String {
    let mut out: String =
        hint.chars().map(|c| if c.is_ascii() && is_name_byte(c as u8) { c } else { '_' }).collect();
    if out.as_bytes().first().is_none_or(u8::is_ascii_digit) {
        out.insert(0, '_');
    }
    out
}
