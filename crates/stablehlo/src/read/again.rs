//! Ops that are written like one before, but for the names of values. They are made as that one was: the text is not
//! read again, nor are types inferred again. Layers of models are such ops, line by line.

use hashbrown::HashTable;
use sapwood_ptir::{InstId, ValueId};
use smallvec::SmallVec;

use super::Reader;
use super::function::Body;
use crate::cursor::{first_that_is, is_suffix_byte, mix};
use crate::raw::ResultNames;

/// Longer lines are read one by one.
const LONGEST: usize = 1 << 10;

/// Where the names of operands stand in a line.
type Places = SmallVec<[Place; 4]>;

/// Where a name stands, `%` included: `%x`, `%x#1`.
#[derive(Clone, Copy)]
struct Place {
    start: u32,
    end: u32,
    /// Where `#` stands, or the end.
    mark: u32,
}

/// A line, from the name of its op to its end.
pub(super) struct Line<'a> {
    text: &'a str,
    places: Places,
    /// Of all but the names.
    hash: u64,
}

/// A line that was read, and what was made of it.
struct Known<'a> {
    line: Line<'a>,
    /// Which function of the module it stands in.
    function: u32,
    inst: InstId,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Plain,
    Call,
    /// Ends a function, not a region of it.
    Return,
    /// Ends a region.
    Yield,
}

/// The lines that were read.
#[derive(Default)]
pub(super) struct Again<'a> {
    table: HashTable<u32>,
    known: Vec<Known<'a>>,
}

impl<'a> Line<'a> {
    /// The rest of a line from one place to another. `None` if it is too long.
    #[inline]
    pub(super) fn new(text: &'a str, start: usize, end: usize) -> Option<Self> {
        let text = text.get(start..end).filter(|line| line.len() <= LONGEST)?;
        let bytes = text.as_bytes();
        let (mut at, mut hash) = (0, 0u64);
        let mut places = Places::new();
        // Up to the next name, sixteen bytes at a time, then eight.
        while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk::<16>) {
            let both = u128::from_le_bytes(*chunk);
            let (word, next) = (both as u64, (both >> 64) as u64);
            let found = first_that_is(word, b'%');
            if found == 0 {
                if first_that_is(next, b'%') == 0 {
                    hash = mix(hash ^ word, next);
                    at += 16;
                } else {
                    hash = mix(hash, word);
                    at += 8;
                }
                continue;
            }
            let before = found.trailing_zeros() / 8;
            hash = mix(hash, word & ((1 << (8 * before)) - 1));
            at = name(bytes, at + before as usize, &mut places)?;
        }
        while let Some(&byte) = bytes.get(at) {
            if byte == b'%' {
                at = name(bytes, at, &mut places)?;
            } else {
                hash = mix(hash, u64::from(byte));
                at += 1;
            }
        }
        Some(Self { text, places, hash })
    }

    /// Whether nothing but white space follows this place of the whole text, of which the line starts at `start`.
    pub(super) fn ends_at(&self, start: usize, end: usize) -> bool {
        start + self.text.trim_ascii_end().len() == end
    }

    /// How many names it has, those in strings and places of the source included.
    pub(super) fn num_names(&self) -> usize {
        self.places.len()
    }

    // The same text but for the names.
    fn is_like(&self, other: &Self) -> bool {
        if self.places.len() != other.places.len() {
            return false;
        }
        let (a, b) = (self.text.as_bytes(), other.text.as_bytes());
        let (mut i, mut j) = (0, 0);
        for (p, q) in self.places.iter().zip(&other.places) {
            if a[i..p.start as usize] != b[j..q.start as usize] {
                return false;
            }
            (i, j) = (p.end as usize, q.end as usize);
        }
        a[i..] == b[j..]
    }
}

// Goes past a name, and keeps where it is.
#[inline]
fn name(bytes: &[u8], start: usize, places: &mut Places) -> Option<usize> {
    let mut at = start + 1;
    while at < bytes.len() && is_suffix_byte(bytes[at]) {
        at += 1;
    }
    if at == start + 1 {
        return None;
    }
    let mark = at as u32;
    if bytes.get(at) == Some(&b'#') && bytes.get(at + 1).is_some_and(u8::is_ascii_digit) {
        at += 1;
        while at < bytes.len() && bytes[at].is_ascii_digit() {
            at += 1;
        }
    }
    places.push(Place { start: start as u32, end: at as u32, mark });
    Some(at)
}

impl<'a> Again<'a> {
    fn find(&self, line: &Line<'a>) -> Option<usize> {
        let same = |&i: &u32| {
            let known = &self.known[i as usize].line;
            known.hash == line.hash && known.is_like(line)
        };
        self.table.find(line.hash, same).map(|&i| i as usize)
    }
}

impl<'a> Reader<'a> {
    /// Makes the op that starts here if one was written like it. If not, nothing has happened.
    #[inline]
    pub(super) fn again(
        &mut self,
        b: &mut Body<'a>,
        line: &Line<'a>,
        names: &ResultNames<'a>,
    ) -> bool {
        let Some(found) = self.again.find(line) else { return false };
        let Some(next) = self.end_of(line) else { return false };
        let Some(operands) = operands(b, line) else { return false };
        let known = &self.again.known[found];
        let (function, inst, kind) = (known.function as usize, known.inst, known.kind);
        if b.frames.is_empty() && kind == Kind::Yield
            || !b.frames.is_empty() && kind == Kind::Return
        {
            return false;
        }
        // What ends a body may go on in the next line.
        let ends = matches!(kind, Kind::Return | Kind::Yield);
        if ends && self.c.text.as_bytes()[next] != b'}' {
            return false;
        }
        let here = function == self.functions.len();
        let count = match (here, self.functions.get(function)) {
            (true, _) => b.writer.function().inst_results(inst).len(),
            (false, Some(other)) => other.inst_results(inst).len(),
            (false, None) => return false,
        };
        let named: usize = names.iter().map(|(_, n)| *n as usize).sum();
        if named != 0 && named != count {
            return false;
        }
        let start = self.c.at;
        let span = self.span(start, start + line.text.trim_ascii_end().len());
        let made = match here {
            true => b.writer.append_like(b.body, inst, &operands, span),
            false => {
                let other = &self.functions[function];
                b.writer.append_like_from(b.body, other, inst, &operands, span)
            }
        };
        let Some(made) = made else { return false };
        if !here {
            let known = &mut self.again.known[found];
            (known.function, known.inst) = (self.functions.len() as u32, made);
        }
        match kind {
            Kind::Plain => {}
            Kind::Call => b.calls.push(made),
            Kind::Return | Kind::Yield => b.ended = true,
        }
        self.c.at = next;
        match b.writer.function().value_of(made) {
            Some(value) if count == 1 && named == 1 => self.name_results(b, names, &[value]),
            Some(_) if named != 0 => {
                let values: SmallVec<[ValueId; 4]> =
                    b.writer.function().inst_results(made).collect();
                self.name_results(b, names, &values);
            }
            _ => {}
        }
        true
    }

    // Where the next op starts, if the one of this line certainly ends with it.
    fn end_of(&self, line: &Line<'a>) -> Option<usize> {
        let bytes = self.c.text.as_bytes();
        let mut at = self.c.at + line.text.len();
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = bytes.get(at) {
            at += 1;
        }
        match bytes.get(at)? {
            b'%' | b'}' | b'"' => Some(at),
            b if b.is_ascii_alphabetic() && !bytes[at..].starts_with(b"loc") => Some(at),
            _ => None,
        }
    }

    /// Keeps what was made of a line if that is one instruction, the last one, with these operands and results.
    pub(super) fn remember(
        &mut self,
        b: &Body<'a>,
        line: Line<'a>,
        before: usize,
        results: &[ValueId],
        kind: Kind,
    ) {
        let f = b.writer.function();
        let inst = InstId::from_index(before);
        if f.inst_capacity() != before + 1
            || !f.inst_results(inst).eq(results.iter().copied())
            || operands(b, &line).is_none_or(|values| values[..] != *f.operands(inst))
        {
            return;
        }
        let i = self.again.known.len() as u32;
        let function = self.functions.len() as u32;
        let hash = line.hash;
        let Again { table, known } = &mut self.again;
        // One that is there was of no use here: its types are others.
        let same = |&j: &u32| {
            let other = &known[j as usize].line;
            other.hash == hash && other.is_like(&line)
        };
        if let Some(slot) = table.find_mut(hash, same) {
            *slot = i;
        } else {
            table.insert_unique(hash, i, |&j| match known.get(j as usize) {
                Some(known) => known.line.hash,
                None => hash,
            });
        }
        known.push(Known { line, function, inst, kind });
    }
}

// The values that the names of a line stand for.
#[inline]
fn operands(b: &Body<'_>, line: &Line<'_>) -> Option<SmallVec<[ValueId; 4]>> {
    let mut values = SmallVec::new();
    for place in &line.places {
        let name = &line.text[place.start as usize + 1..place.mark as usize];
        let index = match place.mark == place.end {
            true => 0,
            false => line.text[place.mark as usize + 1..place.end as usize].parse().ok()?,
        };
        values.push(b.scope.find(name, index)?);
    }
    Some(values)
}
