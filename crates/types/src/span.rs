//! Source spans: the place where something was written.

use std::collections::HashMap;
use std::fmt;
use std::sync::{LazyLock, PoisonError, RwLock, RwLockWriteGuard};

use crate::loc::{self, Loc, LocInterner};

/// The id of an interned file name; four bytes instead of a string in every node.
///
/// Numbers are given out in order of first use and mean nothing outside this process. Names are
/// kept until the process ends, and so are those in the [locations](Loc) of programs: the memory of a process grows with the number
/// of different names that it reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FileId(u32);

/// The interner of file names.
#[derive(Debug, Default)]
struct FileNameInterner {
    ids: HashMap<&'static str, u32>,
    /// The name of id `n` is at `n - 1`; id 0 is the unknown file.
    names: Vec<&'static str>,
}

static FILE_NAME_INTERNER: LazyLock<RwLock<FileNameInterner>> = LazyLock::new(RwLock::default);

impl FileId {
    /// The file of things that were not written in a file.
    pub const UNKNOWN: Self = Self(0);

    /// Returns the id of a file name: the same name gives the same id, from any thread. The empty name is the
    /// [unknown](Self::UNKNOWN) file.
    #[must_use]
    pub fn intern(name: &str) -> Self {
        if name.is_empty() {
            return Self::UNKNOWN;
        }
        // A thread that panicked while it held the lock cannot have left the tables half-changed:
        // the name is pushed last.
        let found = FILE_NAME_INTERNER
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .ids
            .get(name)
            .copied();
        if let Some(id) = found {
            return Self(id);
        }
        let mut table = FILE_NAME_INTERNER.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(&id) = table.ids.get(name) {
            return Self(id);
        }
        // Out of ids after two thousand million names: the file becomes unknown, nothing worse.
        let id = table.names.len() as u32 + 1;
        if id >= Origin::WITH_LOC {
            return Self::UNKNOWN;
        }
        let name: &'static str = Box::leak(name.into());
        table.names.push(name);
        table.ids.insert(name, id);
        Self(id)
    }

    /// Returns the name, or the empty string for the unknown file.
    #[must_use]
    pub fn name(self) -> &'static str {
        let Some(position) = self.0.checked_sub(1) else { return "" };
        let table = FILE_NAME_INTERNER.read().unwrap_or_else(PoisonError::into_inner);
        table.names.get(position as usize).copied().unwrap_or("")
    }
}

/// A guard that locks the interners of file names, locations and large spans.
#[derive(Debug)]
pub struct InternerLockGuard {
    _locs: RwLockWriteGuard<'static, LocInterner>,
    _names: RwLockWriteGuard<'static, FileNameInterner>,
    _places: RwLockWriteGuard<'static, LargeSpans>,
}

/// Locks the interners of this crate while the guard lives. For a process that is about to fork: a lock held by
/// another thread would stay locked for ever in the child. Nothing else of this crate can be used meanwhile.
#[must_use]
pub fn lock_interners() -> InternerLockGuard {
    InternerLockGuard {
        _locs: loc::lock_interner(),
        _names: FILE_NAME_INTERNER.write().unwrap_or_else(PoisonError::into_inner),
        _places: LARGE_SPANS.write().unwrap_or_else(PoisonError::into_inner),
    }
}

impl From<&str> for FileId {
    fn from(name: &str) -> Self {
        Self::intern(name)
    }
}

/// A stretch of source text: a file, the place it begins, and the place just after its end. It may also have a
/// [location](Loc), for an op that another tool compiled.
///
/// Lines and columns count from 1; columns count characters (Unicode scalar values), not bytes.
/// A line or column of 0 means it is not known. Twelve bytes, `Copy`.
///
/// ```
/// use sapwood_types::Span;
///
/// let span = Span::new("example.py", 10, 5, 10, 20);
/// assert_eq!(span.filename(), "example.py");
/// assert_eq!(span.begin_line(), 10);
/// assert_eq!(span.to_string(), "example.py:10:5");
/// assert!(Span::unknown().is_unknown());
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Span {
    origin: Origin,
    /// The packed place, in two halves, so that the alignment is that of a file.
    packed: [u32; 2],
}

/// The file of a span, or the number of a pair of file and location. Spans without locations need no table.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
struct Origin(u32);

impl Origin {
    /// The bit of numbers of pairs.
    const WITH_LOC: u32 = 1 << 31;

    const fn of_file(file: FileId) -> Self {
        Self(file.0)
    }

    fn new(file: FileId, loc: Loc) -> Self {
        match loc.is_unknown() {
            true => Self::of_file(file),
            // Out of numbers after two thousand million pairs: the location is dropped.
            false => match loc::intern_origin(file, loc) {
                Some(number) if number < Self::WITH_LOC => Self(number | Self::WITH_LOC),
                _ => Self::of_file(file),
            },
        }
    }

    #[inline]
    fn file(self) -> FileId {
        if self.0 < Self::WITH_LOC { FileId(self.0) } else { self.pair().0 }
    }

    #[inline]
    fn loc(self) -> Loc {
        if self.0 < Self::WITH_LOC { Loc::UNKNOWN } else { self.pair().1 }
    }

    #[cold]
    fn pair(self) -> (FileId, Loc) {
        loc::origin(self.0 & !Self::WITH_LOC)
    }
}

/// The first line and column, and the last line and column.
type LineColumns = [u32; 4];

/// An encoding of a place in a word: the number of bits for the first line, the first column, the number of
/// lines and the last column, below a tag.
struct SpanEncoding {
    widths: LineColumns,
    tag: u64,
    /// True if the last column is relative to the first.
    from_first_column: bool,
}

/// The encodings, tried in order. The first one that fits is used, so that equal places have equal words; other
/// places are interned in a table.
const SPAN_ENCODINGS: [SpanEncoding; 4] = [
    SpanEncoding { widths: [24, 12, 13, 13], tag: 0b00, from_first_column: false },
    // Few lines, each very long.
    SpanEncoding { widths: [14, 24, 0, 24], tag: 0b01, from_first_column: true },
    // Functions of many lines.
    SpanEncoding { widths: [24, 7, 24, 7], tag: 0b10, from_first_column: false },
    // A text of a hundred megabytes in one line; its tag has a bit more.
    SpanEncoding { widths: [5, 28, 0, 28], tag: 0b110, from_first_column: true },
];
/// The tag of a place that is interned in a table.
const IN_TABLE_TAG: u64 = 0b111 << 61;

/// The interner of places that no encoding fits. They are kept until the process ends, like file names.
#[derive(Debug, Default)]
struct LargeSpans {
    indices: HashMap<LineColumns, u32>,
    places: Vec<LineColumns>,
}

static LARGE_SPANS: LazyLock<RwLock<LargeSpans>> = LazyLock::new(RwLock::default);

#[inline]
fn pack(place: LineColumns) -> u64 {
    let [line, column, last_line, last_column] = place;
    // Almost every place fits the first encoding.
    let lines = last_line.wrapping_sub(line);
    let [a, b, c, d] = SPAN_ENCODINGS[0].widths;
    if (line >> a) | (column >> b) | (lines >> c) | (last_column >> d) == 0 {
        let word = u64::from(line) << b | u64::from(column);
        return (word << c | u64::from(lines)) << d | u64::from(last_column);
    }
    if let Some(lines) = last_line.checked_sub(line) {
        for SpanEncoding { widths, tag, from_first_column } in &SPAN_ENCODINGS {
            let last = match from_first_column {
                true => last_column.checked_sub(column),
                false => Some(last_column),
            };
            let Some(last) = last else { continue };
            let parts = [line, column, lines, last];
            if parts.iter().zip(widths).all(|(part, width)| part >> width == 0) {
                return parts
                    .iter()
                    .zip(widths)
                    .fold(*tag, |word, (&part, width)| word << width | u64::from(part));
            }
        }
    }
    IN_TABLE_TAG | u64::from(intern_large_span(place))
}

#[cold]
fn intern_large_span(place: LineColumns) -> u32 {
    // A thread that panicked while it held the lock cannot have left the tables half-changed: the
    // place is pushed last.
    let mut table = LARGE_SPANS.write().unwrap_or_else(PoisonError::into_inner);
    let table = &mut *table;
    if let Some(&index) = table.indices.get(&place) {
        return index;
    }
    // Out of indices after four thousand million places: the first of them is returned, nothing worse.
    let Ok(index) = u32::try_from(table.places.len()) else { return 0 };
    table.indices.insert(place, index);
    table.places.push(place);
    index
}

#[inline]
fn unpack(word: u64) -> LineColumns {
    // Almost every place has the first encoding.
    if word >> 62 == SPAN_ENCODINGS[0].tag {
        let [_, b, c, d] = SPAN_ENCODINGS[0].widths;
        let part = |shift: u32, width: u32| (word >> shift) as u32 & ((1 << width) - 1);
        let line = (word >> (b + c + d)) as u32;
        return [line, part(c + d, b), line + part(d, c), part(0, d)];
    }
    unpack_other(word)
}

fn unpack_other(word: u64) -> LineColumns {
    let encoding = match word >> 61 {
        0b110 => 3,
        0b111 => SPAN_ENCODINGS.len(),
        tag => (tag >> 1) as usize,
    };
    let Some(SpanEncoding { widths, from_first_column, .. }) = SPAN_ENCODINGS.get(encoding) else {
        let table = LARGE_SPANS.read().unwrap_or_else(PoisonError::into_inner);
        return table.places.get(word as u32 as usize).copied().unwrap_or_default();
    };
    let mut rest = word;
    let mut place = [0; 4];
    for (part, &width) in place.iter_mut().zip(widths).rev() {
        *part = (rest & ((1 << width) - 1)) as u32;
        rest >>= width;
    }
    place[2] += place[0];
    if *from_first_column {
        place[3] += place[1];
    }
    place
}

impl Span {
    /// Creates a span in a file, given as a name or as an interned [`FileId`].
    #[must_use]
    pub fn new(
        file: impl Into<FileId>,
        begin_line: u32,
        begin_column: u32,
        end_line: u32,
        end_column: u32,
    ) -> Self {
        Self::from_line_columns(file.into(), [begin_line, begin_column, end_line, end_column])
    }

    #[inline]
    fn from_line_columns(file: FileId, place: LineColumns) -> Self {
        let word = pack(place);
        Self { origin: Origin::of_file(file), packed: [(word >> 32) as u32, word as u32] }
    }

    #[inline]
    fn line_columns(self) -> LineColumns {
        unpack(u64::from(self.packed[0]) << 32 | u64::from(self.packed[1]))
    }

    /// Returns the span of something that was not written anywhere.
    #[must_use]
    pub const fn unknown() -> Self {
        Self { origin: Origin::of_file(FileId::UNKNOWN), packed: [0; 2] }
    }

    /// Returns whether neither file nor line is known.
    #[must_use]
    pub fn is_unknown(self) -> bool {
        self.file() == FileId::UNKNOWN && (self.packed == [0; 2] || self.begin_line() == 0)
    }

    /// Returns the span with this file, if its own is not known.
    #[must_use]
    pub fn in_file(self, file: FileId) -> Self {
        if self.file() != FileId::UNKNOWN {
            return self;
        }
        Self { origin: Origin::new(file, self.loc()), ..self }
    }

    /// Returns the location: where the op came from before the text of this span was written.
    #[must_use]
    #[inline]
    pub fn loc(self) -> Loc {
        self.origin.loc()
    }

    /// Returns the span with this location.
    #[must_use]
    pub fn with_loc(self, loc: Loc) -> Self {
        Self { origin: Origin::new(self.file(), loc), ..self }
    }

    /// Returns the span without its location.
    #[must_use]
    pub fn without_loc(self) -> Self {
        Self { origin: Origin::of_file(self.file()), ..self }
    }

    /// Returns the span of an op with this span after the call at `caller` of its function was inlined: the place stays, and
    /// the location becomes that of [`Loc::called_from`].
    #[must_use]
    pub fn called_from(self, caller: Self) -> Self {
        match caller.loc() {
            Loc::UNKNOWN => self,
            loc => self.with_loc(self.loc().called_from(loc)),
        }
    }

    /// Returns the interned file.
    #[must_use]
    #[inline]
    pub fn file(self) -> FileId {
        self.origin.file()
    }

    /// Returns the name of the file; empty if it is not known.
    #[must_use]
    pub fn filename(self) -> &'static str {
        self.file().name()
    }

    /// Returns the line of the first character.
    #[must_use]
    pub fn begin_line(self) -> u32 {
        self.line_columns()[0]
    }

    /// Returns the column of the first character.
    #[must_use]
    pub fn begin_column(self) -> u32 {
        self.line_columns()[1]
    }

    /// Returns the line of the place just after the last character.
    #[must_use]
    pub fn end_line(self) -> u32 {
        self.line_columns()[2]
    }

    /// Returns the column of the place just after the last character.
    #[must_use]
    pub fn end_column(self) -> u32 {
        self.line_columns()[3]
    }

    /// Returns the span from the beginning of `self` to the end of `last`.
    ///
    /// An unknown side gives the other; spans of two files give `self`.
    #[must_use]
    pub fn to(self, last: Self) -> Self {
        if self.is_unknown() {
            last
        } else if last.is_unknown() || self.file() != last.file() {
            self
        } else {
            let ([line, column, ..], [.., last_line, last_column]) =
                (self.line_columns(), last.line_columns());
            let place = [line, column, last_line, last_column];
            Self { origin: self.origin, ..Self::from_line_columns(FileId::UNKNOWN, place) }
        }
    }

    /// Returns the smallest span that covers both, in any order.
    ///
    /// An unknown side gives the other; spans of two files give `self`.
    #[must_use]
    pub fn merge(self, other: Self) -> Self {
        if self.is_unknown() {
            return other;
        }
        if other.is_unknown() || self.file() != other.file() {
            return self;
        }
        let [a, b] = [self.line_columns(), other.line_columns()];
        let (line, column) = (a[0], a[1]).min((b[0], b[1]));
        let (last_line, last_column) = (a[2], a[3]).max((b[2], b[3]));
        let place = [line, column, last_line, last_column];
        Self { origin: self.origin, ..Self::from_line_columns(FileId::UNKNOWN, place) }
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [begin_line, begin_column, end_line, end_column] = self.line_columns();
        let mut fields = f.debug_struct("Span");
        fields
            .field("file", &self.file())
            .field("begin_line", &begin_line)
            .field("begin_column", &begin_column)
            .field("end_line", &end_line)
            .field("end_column", &end_column);
        match self.loc() {
            Loc::UNKNOWN => fields.finish(),
            loc => fields.field("loc", &loc).finish(),
        }
    }
}

impl fmt::Display for Span {
    /// Writes `file:line:column`, or as much of it as is known.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.filename();
        f.write_str(if name.is_empty() { "<unknown>" } else { name })?;
        let [line, column, ..] = self.line_columns();
        if line > 0 {
            write!(f, ":{line}")?;
            if column > 0 {
                write!(f, ":{column}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_small() {
        assert_eq!((size_of::<Span>(), align_of::<Span>()), (12, 4));
        assert_eq!(Span::default(), Span::unknown());
    }

    #[test]
    fn every_place_is_kept_and_written_one_way() {
        let edges: Vec<u32> = [0, 5, 7, 12, 13, 14, 24, 28, 32]
            .iter()
            .flat_map(|&bits| [(1u64 << bits) - 1, 1 << bits])
            .filter_map(|edge| u32::try_from(edge).ok())
            .collect();
        let mut seen = HashMap::new();
        for &line in &edges {
            for &column in &edges {
                for &last_line in &edges {
                    for &last_column in &edges {
                        let place = [line, column, last_line, last_column];
                        let span = Span::new("a.ir", line, column, last_line, last_column);
                        assert_eq!(span.line_columns(), place);
                        assert_eq!(Span::new("a.ir", line, column, last_line, last_column), span);
                        let before = seen.insert(span, place);
                        assert!(before.is_none_or(|before| before == place), "{span:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn usual_places_need_no_table() {
        for place in [
            [1, 1, 1, 2],
            [16_000_000, 4_095, 16_008_000, 8_191],
            [9_999, 10_000_000, 9_999, 20_000_000],
            [3, 1, 2_000_000, 40],
            // A hundred megabytes in one line.
            [2, 5, 2, 104_857_601],
            [2, 104_857_600, 2, 104_857_601],
        ] {
            assert_ne!(pack(place) & IN_TABLE_TAG, IN_TABLE_TAG, "{place:?}");
        }
        assert_eq!(pack([2, 1 << 28, 2, 1 << 29]) & IN_TABLE_TAG, IN_TABLE_TAG);
    }

    #[test]
    fn names_are_interned_once_from_many_threads() {
        let ids: Vec<Vec<FileId>> = std::thread::scope(|scope| {
            let work = || (0..100).map(|n| FileId::intern(&format!("thread{n}.ir"))).collect();
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(work)).collect();
            threads.into_iter().map(|t| t.join().unwrap()).collect()
        });
        assert!(ids.iter().all(|list| *list == ids[0]));
        assert_eq!(ids[0][42].name(), "thread42.ir");
        assert_eq!(FileId::intern(""), FileId::UNKNOWN);
        assert_eq!(FileId::UNKNOWN.name(), "");
    }

    #[test]
    fn a_location_does_not_change_the_place() {
        let name = |name| Loc::new(crate::LocKind::Name { name, child: Loc::UNKNOWN });
        let plain = Span::new("a.mlir", 3, 4, 3, 9);
        let span = plain.with_loc(name("f/add"));
        assert_eq!(span.loc(), name("f/add"));
        assert_eq!((span.file(), span.to_string()), (plain.file(), plain.to_string()));
        assert_ne!(span, plain);
        assert_eq!(span.without_loc(), plain);
        assert_eq!(plain.with_loc(Loc::UNKNOWN), plain);
        assert_eq!(span.to(Span::new("a.mlir", 4, 1, 4, 2)).loc(), name("f/add"));
        assert_eq!(span.merge(plain), span);
        let call = plain.with_loc(name("g"));
        assert_eq!(span.called_from(call).loc(), name("f/add").called_from(name("g")));
        assert_eq!(span.called_from(plain), span);
        assert_eq!(plain.called_from(call), call);
        let nowhere = Span::unknown().with_loc(name("f/add"));
        assert!(nowhere.is_unknown() && !nowhere.loc().is_unknown());
        assert_eq!(nowhere.in_file(FileId::intern("b.mlir")).loc(), name("f/add"));
    }

    #[test]
    fn display_gives_the_known_parts() {
        assert_eq!(Span::unknown().to_string(), "<unknown>");
        assert_eq!(Span::new("a.ir", 0, 0, 0, 0).to_string(), "a.ir");
        assert_eq!(Span::new("a.ir", 3, 0, 0, 0).to_string(), "a.ir:3");
        assert_eq!(Span::new("a.ir", 3, 7, 3, 8).to_string(), "a.ir:3:7");
        assert_eq!(Span::new("", 3, 7, 3, 8).to_string(), "<unknown>:3:7");
    }

    #[test]
    fn joined_and_merged_spans() {
        let first = Span::new("a.ir", 1, 5, 1, 9);
        let second = Span::new("a.ir", 2, 1, 2, 4);
        let whole = Span::new("a.ir", 1, 5, 2, 4);
        assert_eq!(first.to(second), whole);
        assert_eq!(first.merge(second), whole);
        assert_eq!(second.merge(first), whole);
        assert_eq!(first.merge(Span::unknown()), first);
        assert_eq!(Span::unknown().merge(first), first);
        assert_eq!(Span::unknown().to(first), first);
        assert_eq!(first.to(Span::unknown()), first);
        let elsewhere = Span::new("b.ir", 1, 1, 1, 2);
        assert_eq!(first.merge(elsewhere), first);
        assert_eq!(first.to(elsewhere), first);
    }
}
