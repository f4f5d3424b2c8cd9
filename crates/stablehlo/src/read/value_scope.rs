//! The scope of value names: the values that names refer to at a position.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::ValueId;

use crate::cursor::{is_name_byte, leading_number};

/// The values that a name refers to.
#[derive(Clone, Copy, Debug)]
pub(super) enum NameBinding {
    /// One value.
    One(ValueId),
    /// A range of the pool.
    Values { start: u32, len: u32 },
    /// A value whose definition has an error.
    Poison,
}

/// The names that are defined, region by region.
#[derive(Default)]
pub(super) struct ValueScope<'a> {
    /// The values of `%0`, `%1`, …: most names are numbers in ascending order.
    numbers: Vec<Option<NameBinding>>,
    names: HashMap<&'a str, NameBinding, FxBuildHasher>,
    pool: Vec<ValueId>,
    /// All names in the order of definition.
    defined: Vec<&'a str>,
    /// True if a number may be in `names`.
    has_distant_numbers: bool,
}

/// The largest gap between a number and the count of names so far; larger numbers go to `names`.
const MAX_NUMBER_GAP: usize = 1 << 8;

// Returns the number that a name is in canonical decimal notation.
#[inline]
fn parse_number_name(name: &str) -> Option<usize> {
    let bytes = name.as_bytes();
    if bytes.is_empty() || bytes.len() > 8 || (bytes[0] == b'0' && bytes.len() > 1) {
        return None;
    }
    let mut number = 0;
    for &byte in bytes {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number * 10 + usize::from(digit);
    }
    Some(number)
}

impl<'a> ValueScope<'a> {
    /// Removes all names and keeps the allocations.
    pub(super) fn clear(&mut self) {
        self.numbers.clear();
        // Clearing a large table takes long even if it has few entries.
        match self.names.capacity() > 64 + 8 * self.names.len() {
            true => self.names = HashMap::default(),
            false => self.names.clear(),
        }
        self.pool.clear();
        self.defined.clear();
        self.has_distant_numbers = false;
    }

    /// Reserves space for this number of names, most of them numbers.
    pub(super) fn reserve(&mut self, count: usize) {
        self.numbers.reserve(count);
        self.defined.reserve(count);
        self.names.reserve(count / 4);
    }

    /// Enters a region and returns the mark for [`leave`](Self::leave).
    pub(super) fn enter(&self) -> usize {
        self.defined.len()
    }

    /// Removes the names that were defined since `mark`.
    pub(super) fn leave(&mut self, mark: usize) {
        for name in self.defined.drain(mark..) {
            match parse_number_name(name).and_then(|n| self.numbers.get_mut(n)) {
                Some(slot @ Some(_)) => *slot = None,
                _ => {
                    self.names.remove(name);
                }
            }
        }
    }

    /// Binds a name to values. Returns `false` if the name was already bound.
    pub(super) fn bind(&mut self, name: &'a str, values: &[ValueId]) -> bool {
        if let [value] = values {
            return self.define(name, NameBinding::One(*value));
        }
        let start = self.pool.len() as u32;
        self.pool.extend_from_slice(values);
        self.define(name, NameBinding::Values { start, len: values.len() as u32 })
    }

    /// Binds a name to one value if the name is a free number. Returns `false`, without any effect, otherwise.
    #[inline]
    pub(super) fn bind_number(&mut self, name: &'a str, value: ValueId) -> bool {
        let Some(n) = parse_number_name(name) else { return false };
        if n >= self.defined.len() + MAX_NUMBER_GAP {
            return false;
        }
        if self.numbers.len() <= n {
            self.numbers.resize((n + 1).max(2 * self.numbers.len()), None);
        }
        let slot = &mut self.numbers[n];
        // A number that was once beyond the gap may be in `names`.
        if slot.is_some() || (self.has_distant_numbers && self.names.contains_key(name)) {
            return false;
        }
        *slot = Some(NameBinding::One(value));
        self.defined.push(name);
        true
    }

    /// Binds a name to a value whose definition has an error.
    pub(super) fn poison(&mut self, name: &'a str) {
        self.define(name, NameBinding::Poison);
    }

    fn define(&mut self, name: &'a str, binding: NameBinding) -> bool {
        let number = parse_number_name(name);
        if let Some(n) = number {
            let slot = match self.numbers.get_mut(n) {
                Some(Some(known)) => Some(known),
                _ => self.names.get_mut(name),
            };
            if let Some(known) = slot {
                *known = binding;
                return false;
            }
            if n <= self.defined.len() + MAX_NUMBER_GAP {
                self.defined.push(name);
                if self.numbers.len() <= n {
                    self.numbers.resize((n + 1).max(2 * self.numbers.len()), None);
                }
                self.numbers[n] = Some(binding);
                return true;
            }
            self.has_distant_numbers = true;
        }
        let new = self.names.insert(name, binding).is_none();
        if new {
            self.defined.push(name);
        }
        new
    }

    #[inline]
    pub(super) fn get(&self, name: &str) -> Option<NameBinding> {
        match parse_number_name(name).and_then(|n| self.numbers.get(n)) {
            Some(Some(binding)) => Some(*binding),
            _ => self.names.get(name).copied(),
        }
    }

    /// Returns the value of `%name#index`, if it is bound to one.
    #[inline]
    pub(super) fn find(&self, name: &str, index: u32) -> Option<ValueId> {
        match self.get(name)? {
            NameBinding::One(value) => (index == 0).then_some(value),
            NameBinding::Values { start, len } if index < len => self.pooled_value(start, index),
            NameBinding::Values { .. } | NameBinding::Poison => None,
        }
    }

    /// Returns the value named at this position, `%` included, and the end of its name: `%x`, `%x#1`. Returns `None` if the name is
    /// unbound, or written in another way.
    #[inline]
    pub(super) fn value_at(&self, text: &str, start: usize) -> Option<(ValueId, usize)> {
        let bytes = text.as_bytes();
        if bytes.get(start) != Some(&b'%') {
            return None;
        }
        // A byte follows the digits: they are fewer than the bytes that were examined.
        if let Some((number, digits)) = leading_number(&bytes[start + 1..])
            && let end = start + 1 + digits
            && let after = bytes[end]
            && after != b'#'
            && !is_name_byte(after)
            && let Some(Some(NameBinding::One(value))) = self.numbers.get(number)
        {
            return Some((*value, end));
        }
        self.value_at_slow(text, start)
    }

    // Finds a value like [`value_at`](Self::value_at), by any kind of name.
    fn value_at_slow(&self, text: &str, start: usize) -> Option<(ValueId, usize)> {
        let (bytes, mut at) = (text.as_bytes(), start + 1);
        while bytes.get(at).is_some_and(|&b| is_name_byte(b)) {
            at += 1;
        }
        let name = text.get(start + 1..at)?;
        if bytes.get(at) != Some(&b'#') {
            return Some((self.find(name, 0)?, at));
        }
        let (digits, mut index) = (at + 1, 0);
        at = digits;
        while let Some(digit @ b'0'..=b'9') = bytes.get(at) {
            if at - digits == 9 {
                return None;
            }
            index = index * 10 + u32::from(digit - b'0');
            at += 1;
        }
        if at == digits {
            return None;
        }
        Some((self.find(name, index)?, at))
    }

    /// Returns value `index` of the binding whose values begin at `start` in the pool.
    pub(super) fn pooled_value(&self, start: u32, index: u32) -> Option<ValueId> {
        self.pool.get((start + index) as usize).copied()
    }

    /// Returns all bound names.
    pub(super) fn names(&self) -> impl Iterator<Item = &'a str> {
        self.defined.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_are_found_until_their_region_is_left() {
        let value = ValueId::from_index;
        let mut scope = ValueScope::default();
        assert!(scope.bind("0", &[value(7)]));
        assert!(scope.bind("a", &[value(1), value(2)]));
        assert!(scope.bind("99999999", &[value(3)]));
        let mark = scope.enter();
        assert!(scope.bind("1", &[value(8)]));
        assert!(scope.bind("00", &[value(9)]));
        assert!(!scope.bind("0", &[value(7)]), "it is there");
        assert_eq!(scope.find("1", 0), Some(value(8)));
        assert_eq!(scope.find("00", 0), Some(value(9)));
        scope.leave(mark);
        assert_eq!((scope.find("1", 0), scope.find("00", 0)), (None, None));
        assert_eq!(scope.find("0", 0), Some(value(7)));
        assert_eq!(scope.find("0", 1), None);
        assert_eq!(scope.find("a", 1), Some(value(2)));
        assert_eq!(scope.find("a", 2), None);
        assert_eq!(scope.find("99999999", 0), Some(value(3)));
        assert!(scope.bind("1", &[value(4)]), "the name is free again");
    }
}
