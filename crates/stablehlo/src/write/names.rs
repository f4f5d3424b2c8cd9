//! Names of values: as they were read where that is possible, numbers otherwise.

use std::fmt::Write as _;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::ValueId;

use crate::cursor::is_suffix_byte;

#[derive(Clone, Copy)]
enum Base {
    Number(u32),
    /// Its place among the texts.
    Text(u32),
}

const ALONE: u32 = u32::MAX;

/// The names of one function, each used once.
#[derive(Default)]
pub(super) struct Names {
    /// By value: the name, and which result of several it is.
    values: Vec<Option<(Base, u32)>>,
    texts: Vec<Box<str>>,
    /// How often a name was asked for.
    taken: HashMap<Box<str>, u32, FxBuildHasher>,
    numbers: u32,
}

impl Names {
    fn base(&mut self, hint: Option<&str>) -> Base {
        let Some(hint) = hint else {
            let number = self.numbers;
            self.numbers += 1;
            return Base::Number(number);
        };
        let clean = clean(hint);
        let mut name = clean.clone();
        while let Some(count) = self.taken.get_mut(&*name) {
            let suffix = *count;
            *count += 1;
            name = format!("{clean}_{suffix}");
            if !self.taken.contains_key(&*name) {
                break;
            }
            name.clone_from(&clean);
        }
        self.taken.insert(name.clone().into(), 0);
        self.texts.push(name.into());
        Base::Text(self.texts.len() as u32 - 1)
    }

    fn set(&mut self, value: ValueId, name: (Base, u32)) {
        let index = value.index();
        if self.values.len() <= index {
            self.values.resize(index + 1, None);
        }
        self.values[index] = Some(name);
    }

    /// Names one value.
    pub(super) fn one(&mut self, value: ValueId, hint: Option<&str>) {
        let base = self.base(hint);
        self.set(value, (base, ALONE));
    }

    /// Names several results of one op.
    pub(super) fn group(&mut self, values: &[ValueId], hint: Option<&str>) {
        let base = self.base(hint);
        for (i, &value) in values.iter().enumerate() {
            self.set(value, (base, i as u32));
        }
    }

    /// Gives a value the name of another.
    pub(super) fn same(&mut self, value: ValueId, as_value: ValueId) {
        if let Some(Some(name)) = self.values.get(as_value.index()) {
            self.set(value, *name);
        }
    }

    /// A name for something that is no value of the program.
    pub(super) fn fresh(&mut self) -> String {
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
        if index != ALONE {
            let _ = write!(out, "#{index}");
        }
    }

    /// Writes the name without the number of the result.
    pub(super) fn write_group(&self, out: &mut String, value: ValueId) {
        if let Some((base, _)) = self.values.get(value.index()).copied().flatten() {
            self.write_base(out, base);
        }
    }

    fn write_base(&self, out: &mut String, base: Base) {
        match base {
            Base::Number(n) => drop(write!(out, "%{n}")),
            Base::Text(i) => {
                out.push('%');
                out.push_str(&self.texts[i as usize]);
            }
        }
    }
}

// Only what MLIR allows in a name.
fn clean(hint: &str) -> String {
    let mut out: String = hint
        .chars()
        .map(|c| if c.is_ascii() && is_suffix_byte(c as u8) { c } else { '_' })
        .collect();
    if out.as_bytes().first().is_none_or(u8::is_ascii_digit) {
        out.insert(0, '_');
    }
    out
}
