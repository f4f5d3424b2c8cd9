//! Names of values in programs: identifiers, each once in a function.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::Text;

/// The names of the program that are taken, and the names of the model that they stand for.
#[derive(Default)]
pub(super) struct NameTable {
    taken: HashMap<Box<str>, u32, FxBuildHasher>,
    pub(super) originals: HashMap<Box<str>, Text, FxBuildHasher>,
}

impl NameTable {
    /// Returns a new name of the program for a name of the model.
    pub(super) fn add(&mut self, name: &Text) -> Box<str> {
        let clean = clean_name(&name.to_str_lossy());
        let mut unique: Box<str> = clean.as_str().into();
        while self.taken.contains_key(&unique) {
            let count = self.taken.entry(clean.as_str().into()).or_default();
            *count += 1;
            unique = format!("{clean}_{count}").into();
        }
        self.taken.insert(unique.clone(), 0);
        if *name != *unique {
            self.originals.insert(unique.clone(), name.clone());
        }
        unique
    }
}

/// Returns a name with `_` for all characters that names of values cannot have. A number gets a letter.
fn clean_name(name: &str) -> String {
    let keep = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '_' };
    let clean: String = name.chars().map(keep).collect();
    if clean.bytes().all(|b| b.is_ascii_digit()) { format!("v{clean}") } else { clean }
}
