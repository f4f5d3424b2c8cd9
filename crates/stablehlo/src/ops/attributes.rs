//! Asking for attributes. What is asked for counts as understood; the rest is kept beside the program.

use sapwood_ptir::{Axes, Pairs};
use sapwood_types::DataType;

use super::Convert;
use crate::attr::{Attribute, Entry, Ints};
use crate::read::ints_of;

impl<'a> Convert<'_, 'a> {
    /// The attribute with one of these names.
    pub(crate) fn attr(&mut self, names: &[&str]) -> Option<&Attribute<'a>> {
        let at = self.op.attrs.iter().position(|e| names.contains(&&*e.name))?;
        if at < 64 {
            self.op.used |= 1 << at;
        }
        Some(&self.op.attrs[at].value)
    }

    fn need<T>(&mut self, names: &[&str], what: &str, found: Option<T>) -> Result<T, String> {
        match found {
            Some(value) => Ok(value),
            None if self.attr(names).is_some() => {
                Err(format!("attribute `{}` must be {what}", names[0]))
            }
            None => Err(format!("attribute `{}` is missing", names[0])),
        }
    }

    /// A list of integers.
    pub(crate) fn ints(&mut self, names: &[&str]) -> Result<Ints, String> {
        let found = self.attr(names).and_then(ints_of);
        self.need(names, "a list of integers", found)
    }

    /// A list of integers; empty if it is not there.
    pub(crate) fn ints_or_none(&mut self, names: &[&str]) -> Result<Ints, String> {
        if self.attr(names).is_none() { Ok(Ints::new()) } else { self.ints(names) }
    }

    /// A list of integers, if it is there and has another entry than this one.
    pub(crate) fn optional_ints(
        &mut self,
        names: &[&str],
        usual: i64,
    ) -> Result<Option<Axes>, String> {
        let list = self.ints_or_none(names)?;
        Ok(list.iter().any(|&n| n != usual).then(|| Axes(list)))
    }

    /// Pairs of integers, if they are there and not all zero.
    pub(crate) fn pairs(&mut self, names: &[&str]) -> Result<Option<Pairs>, String> {
        let Some(attr) = self.attr(names) else { return Ok(None) };
        let pairs = match attr {
            Attribute::Dense(_) => ints_of(attr)
                .map(|flat| flat.chunks_exact(2).map(|p| [p[0], p[1]]).collect::<Vec<[i64; 2]>>()),
            Attribute::Ints(list) if list.is_empty() => Some(Vec::new()),
            Attribute::List(rows) => rows
                .iter()
                .map(|row| ints_of(row).and_then(|r| <[i64; 2]>::try_from(&r[..]).ok()))
                .collect(),
            _ => None,
        };
        let pairs = self.need(names, "a list of pairs", pairs)?;
        Ok(pairs.iter().any(|p| *p != [0, 0]).then_some(Pairs(pairs)))
    }

    /// An integer.
    pub(crate) fn int(&mut self, names: &[&str]) -> Result<i64, String> {
        let found = match self.attr(names) {
            Some(Attribute::Int(n)) => Some(*n),
            _ => None,
        };
        self.need(names, "an integer", found)
    }

    /// An integer, or this one if it is not there.
    pub(crate) fn int_or(&mut self, names: &[&str], default: i64) -> Result<i64, String> {
        if self.attr(names).is_none() { Ok(default) } else { self.int(names) }
    }

    /// A bool, or this one if it is not there.
    pub(crate) fn bool_or(&mut self, names: &[&str], default: bool) -> Result<bool, String> {
        let found = match self.attr(names) {
            None => return Ok(default),
            Some(Attribute::Bool(b)) => Some(*b),
            Some(Attribute::Unit) => Some(true),
            Some(_) => None,
        };
        self.need(names, "true or false", found)
    }

    /// A float.
    pub(crate) fn float(&mut self, names: &[&str]) -> Result<f64, String> {
        let found = match self.attr(names) {
            Some(Attribute::Float(x)) => Some(*x),
            _ => None,
        };
        self.need(names, "a float", found)
    }

    /// A word: of an attribute, or a bare one at this place of the form.
    pub(crate) fn word(&mut self, names: &[&str], place: usize) -> Option<&'a str> {
        match self.attr(names) {
            Some(Attribute::Word(word) | Attribute::Raw(word)) => Some(word),
            _ => self.op.words.get(place).copied(),
        }
    }

    /// The entries of a struct or a dictionary.
    pub(crate) fn fields(&mut self, names: &[&str]) -> Result<Vec<Entry<'a>>, String> {
        let found = match self.attr(names) {
            Some(Attribute::Struct(entries) | Attribute::Dict(entries)) => Some(entries.clone()),
            _ => None,
        };
        self.need(names, "a struct", found)
    }

    /// Precision of products: what is usual says nothing, other wishes are kept beside the program.
    pub(crate) fn precision(&mut self) {
        let usual = |item: &Attribute<'_>| matches!(item, Attribute::Word("DEFAULT"));
        for (i, entry) in self.op.attrs.iter().enumerate() {
            if matches!(&*entry.name, "precision" | "precision_config") {
                let nothing = match &entry.value {
                    Attribute::List(items) => items.iter().all(usual),
                    Attribute::Ints(items) => items.is_empty(),
                    _ => false,
                };
                if nothing && i < 64 {
                    self.op.used |= 1 << i;
                }
            }
        }
    }
}

/// The list of a field; empty if it is not there.
pub(crate) fn field_ints(fields: &[Entry<'_>], name: &str) -> Result<Axes, String> {
    match fields.iter().find(|e| e.name == name) {
        None => Ok(Axes::default()),
        Some(entry) => ints_of(&entry.value)
            .map(Axes)
            .ok_or_else(|| format!("field `{name}` must be a list of integers")),
    }
}

/// The number of a field; zero if it is not there.
pub(crate) fn field_int(fields: &[Entry<'_>], name: &str) -> Result<i64, String> {
    match fields.iter().find(|e| e.name == name).map(|e| &e.value) {
        None => Ok(0),
        Some(Attribute::Int(n)) => Ok(*n),
        Some(_) => Err(format!("field `{name}` must be an integer")),
    }
}

/// The type in which sums of products are taken: as the hardware does, f32 for narrower floats.
pub(crate) fn accumulation(operand: DataType, result: DataType) -> Option<DataType> {
    let wide = |d: DataType| if d.is_float() && d.bit_width() < 32 { DataType::F32 } else { d };
    let (a, b) = (wide(operand), wide(result));
    let wider = if b.bit_width() > a.bit_width() { b } else { a };
    (operand != result && wider != operand).then_some(wider)
}
