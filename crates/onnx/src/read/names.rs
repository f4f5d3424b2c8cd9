//! Names of values in programs: identifiers, each once in a function.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::Text;

/// The names of values of a program. One table holds all that is known of a name, because models may have millions.
#[derive(Default)]
pub(crate) struct NameTable {
    entries: HashMap<Box<str>, NameEntry, FxBuildHasher>,
}

struct NameEntry {
    /// The name of the model, if it is another one.
    original: Option<Text>,
    /// The number of other names that were made from this one.
    copies: u32,
    /// The number of the node whose first result has the name, or [`NO_NODE`].
    node: u32,
}

const NO_NODE: u32 = u32::MAX;

impl NameTable {
    /// Returns a new name of the program for a name of the model.
    pub(super) fn add(&mut self, name: &Text) -> Box<str> {
        let clean = clean_name(&name.to_str_lossy());
        let mut unique: Box<str> = clean.as_str().into();
        while self.entries.contains_key(&unique) {
            let Some(entry) = self.entries.get_mut(clean.as_str()) else { break };
            entry.copies += 1;
            unique = format!("{clean}_{}", entry.copies).into();
        }
        let original = (*name != *unique).then(|| name.clone());
        self.entries.insert(unique.clone(), NameEntry { original, copies: 0, node: NO_NODE });
        unique
    }

    /// Records the node whose first result has a name.
    pub(super) fn set_node(&mut self, name: &str, node: u32) {
        if let Some(entry) = self.entries.get_mut(name) {
            entry.node = node;
        }
    }

    /// Forgets the nodes from a number on, because they are read again.
    pub(super) fn forget_nodes(&mut self, from: u32) {
        for entry in self.entries.values_mut().filter(|entry| entry.node >= from) {
            entry.node = NO_NODE;
        }
    }

    /// Returns the name of the model that a name stands for, if they differ.
    pub(crate) fn original(&self, name: &str) -> Option<&Text> {
        self.entries.get(name)?.original.as_ref()
    }

    /// Returns the number of the node whose first result has a name, in the order of [`all_nodes`](super::all_nodes).
    pub(crate) fn node(&self, name: &str) -> Option<u32> {
        self.entries.get(name).map(|entry| entry.node).filter(|&node| node != NO_NODE)
    }
}

/// Returns a name with `_` for all characters that names of values cannot have. A number gets a letter.
fn clean_name(name: &str) -> String {
    let keep = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '_' };
    let clean: String = name.chars().map(keep).collect();
    if clean.bytes().all(|b| b.is_ascii_digit()) { format!("v{clean}") } else { clean }
}
