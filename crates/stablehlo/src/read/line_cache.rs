//! A cache of lines, keyed by their text without the names of values. A line that differs from an earlier one only in names gets
//! a copy of the earlier instruction: the text is not parsed, and no types are inferred. The layers of a model repeat each other
//! line by line.

use hashbrown::HashTable;
use sapwood_ptir::{InstId, ValueId};
use smallvec::SmallVec;

use super::ModuleReader;
use super::function::OpenFunction;
use crate::cursor::{first_byte_mask, is_name_byte, mix_hash};
use crate::raw_op::ResultNames;

/// The size of the longest line that is cached.
const MAX_CACHED_LINE_BYTES: usize = 1 << 10;

/// The ranges of the operand names in a line.
type NameRanges = SmallVec<[NameRange; 4]>;

/// The range of a name, `%` included: `%x`, `%x#1`.
#[derive(Clone, Copy)]
struct NameRange {
    start: u32,
    end: u32,
    /// The offset of `#`, or `end`.
    index_start: u32,
}

/// A line from the name of its op to its end, with its names located.
pub(super) struct LineTemplate<'a> {
    text: &'a str,
    name_ranges: NameRanges,
    /// The hash of everything but the names.
    hash: u64,
}

/// A line that was read, and the instruction it became.
struct CachedLine<'a> {
    line: LineTemplate<'a>,
    /// The index of the function that has the instruction.
    function: u32,
    inst: InstId,
    kind: LineKind,
}

/// The kinds of lines that are cached, by their effect on the function.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LineKind {
    Plain,
    Call,
    /// Ends a function, not a region in it.
    Return,
    /// Ends a region.
    Yield,
}

/// A cache of the lines that became one instruction each.
#[derive(Default)]
pub(super) struct LineCache<'a> {
    table: HashTable<u32>,
    entries: Vec<CachedLine<'a>>,
}

impl<'a> LineTemplate<'a> {
    /// Returns the template of the text between two positions; `None` if it is too long.
    #[inline]
    pub(super) fn new(text: &'a str, start: usize, end: usize) -> Option<Self> {
        let text = text.get(start..end).filter(|line| line.len() <= MAX_CACHED_LINE_BYTES)?;
        let bytes = text.as_bytes();
        let (mut at, mut hash) = (0, 0u64);
        let mut name_ranges = NameRanges::new();
        // Finds the next name, sixteen bytes at a time, then eight.
        while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk::<16>) {
            let both = u128::from_le_bytes(*chunk);
            let (word, next) = (both as u64, (both >> 64) as u64);
            let found = first_byte_mask(word, b'%');
            if found == 0 {
                if first_byte_mask(next, b'%') == 0 {
                    hash = mix_hash(hash ^ word, next);
                    at += 16;
                } else {
                    hash = mix_hash(hash, word);
                    at += 8;
                }
                continue;
            }
            let before = found.trailing_zeros() / 8;
            hash = mix_hash(hash, word & ((1 << (8 * before)) - 1));
            at = scan_name(bytes, at + before as usize, &mut name_ranges)?;
        }
        while let Some(&byte) = bytes.get(at) {
            if byte == b'%' {
                at = scan_name(bytes, at, &mut name_ranges)?;
            } else {
                hash = mix_hash(hash, u64::from(byte));
                at += 1;
            }
        }
        Some(Self { text, name_ranges, hash })
    }

    /// Returns whether only white space follows position `end` of the whole text, in which the line begins at `start`.
    pub(super) fn ends_at(&self, start: usize, end: usize) -> bool {
        start + self.text.trim_ascii_end().len() == end
    }

    /// Returns the number of names, those in strings and locations included.
    pub(super) fn num_names(&self) -> usize {
        self.name_ranges.len()
    }

    // Returns whether the texts are equal apart from the names.
    fn equals_except_names(&self, other: &Self) -> bool {
        if self.name_ranges.len() != other.name_ranges.len() {
            return false;
        }
        let (a, b) = (self.text.as_bytes(), other.text.as_bytes());
        let (mut i, mut j) = (0, 0);
        for (p, q) in self.name_ranges.iter().zip(&other.name_ranges) {
            if a[i..p.start as usize] != b[j..q.start as usize] {
                return false;
            }
            (i, j) = (p.end as usize, q.end as usize);
        }
        a[i..] == b[j..]
    }
}

// Skips a name and records its range.
#[inline]
fn scan_name(bytes: &[u8], start: usize, name_ranges: &mut NameRanges) -> Option<usize> {
    let mut at = start + 1;
    while at < bytes.len() && is_name_byte(bytes[at]) {
        at += 1;
    }
    if at == start + 1 {
        return None;
    }
    let index_start = at as u32;
    if bytes.get(at) == Some(&b'#') && bytes.get(at + 1).is_some_and(u8::is_ascii_digit) {
        at += 1;
        while at < bytes.len() && bytes[at].is_ascii_digit() {
            at += 1;
        }
    }
    name_ranges.push(NameRange { start: start as u32, end: at as u32, index_start });
    Some(at)
}

impl<'a> LineCache<'a> {
    fn find(&self, line: &LineTemplate<'a>) -> Option<usize> {
        let same = |&i: &u32| {
            let known = &self.entries[i as usize].line;
            known.hash == line.hash && known.equals_except_names(line)
        };
        self.table.find(line.hash, same).map(|&i| i as usize)
    }
}

impl<'a> ModuleReader<'a> {
    /// Appends a copy of the instruction of an equal line. Returns `false`, without any effect, if there is none that fits.
    #[inline]
    pub(super) fn append_from_line_cache(
        &mut self,
        func: &mut OpenFunction<'a>,
        line: &LineTemplate<'a>,
        names: &ResultNames<'a>,
    ) -> bool {
        let Some(found) = self.line_cache.find(line) else { return false };
        let Some(next) = self.next_op_start(line) else { return false };
        let Some(operands) = resolve_operands(func, line) else { return false };
        let known = &self.line_cache.entries[found];
        let (function, inst, kind) = (known.function as usize, known.inst, known.kind);
        if func.open_ops.is_empty() && kind == LineKind::Yield
            || !func.open_ops.is_empty() && kind == LineKind::Return
        {
            return false;
        }
        // A terminator may continue on the next line.
        let ends = matches!(kind, LineKind::Return | LineKind::Yield);
        if ends && self.c.text.as_bytes()[next] != b'}' {
            return false;
        }
        let here = function == self.functions.len();
        let count = match (here, self.functions.get(function)) {
            (true, _) => func.writer.function().inst_results(inst).len(),
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
            true => func.writer.append_like(func.body, inst, &operands, span),
            false => {
                let other = &self.functions[function];
                func.writer.append_like_from(func.body, other, inst, &operands, span)
            }
        };
        let Some(made) = made else { return false };
        if !here {
            let known = &mut self.line_cache.entries[found];
            (known.function, known.inst) = (self.functions.len() as u32, made);
        }
        match kind {
            LineKind::Plain => {}
            LineKind::Call => func.calls.push(made),
            LineKind::Return | LineKind::Yield => func.ended = true,
        }
        self.c.at = next;
        match func.writer.function().value_of(made) {
            Some(value) if count == 1 && named == 1 => self.name_results(func, names, &[value]),
            Some(_) if named != 0 => {
                let values: SmallVec<[ValueId; 4]> =
                    func.writer.function().inst_results(made).collect();
                self.name_results(func, names, &values);
            }
            _ => {}
        }
        true
    }

    // Returns the start of the next op if the op of this line certainly ends with the line.
    fn next_op_start(&self, line: &LineTemplate<'a>) -> Option<usize> {
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

    /// Caches a line if it became exactly one instruction, the last one, with these operands and results.
    pub(super) fn cache_line(
        &mut self,
        func: &OpenFunction<'a>,
        line: LineTemplate<'a>,
        before: usize,
        results: &[ValueId],
        kind: LineKind,
    ) {
        let f = func.writer.function();
        let inst = InstId::from_index(before);
        if f.inst_capacity() != before + 1
            || !f.inst_results(inst).eq(results.iter().copied())
            || resolve_operands(func, &line).is_none_or(|values| values[..] != *f.operands(inst))
        {
            return;
        }
        let i = self.line_cache.entries.len() as u32;
        let function = self.functions.len() as u32;
        let hash = line.hash;
        let LineCache { table, entries } = &mut self.line_cache;
        // An entry with this text did not fit here, because its types differ: it is replaced.
        let same = |&j: &u32| {
            let other = &entries[j as usize].line;
            other.hash == hash && other.equals_except_names(&line)
        };
        if let Some(slot) = table.find_mut(hash, same) {
            *slot = i;
        } else {
            table.insert_unique(hash, i, |&j| match entries.get(j as usize) {
                Some(known) => known.line.hash,
                None => hash,
            });
        }
        entries.push(CachedLine { line, function, inst, kind });
    }
}

// Returns the values that the names in a line refer to.
#[inline]
fn resolve_operands(
    func: &OpenFunction<'_>,
    line: &LineTemplate<'_>,
) -> Option<SmallVec<[ValueId; 4]>> {
    let mut values = SmallVec::new();
    for place in &line.name_ranges {
        let name = &line.text[place.start as usize + 1..place.index_start as usize];
        let index = match place.index_start == place.end {
            true => 0,
            false => line.text[place.index_start as usize + 1..place.end as usize].parse().ok()?,
        };
        values.push(func.scope.find(name, index)?);
    }
    Some(values)
}
