//! Bytes and strings that share the memory they were read from.

use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::hash::{Hash, Hasher};
use std::io;
use std::ops::{Deref, Range};
use std::sync::{Arc, LazyLock};

use memmap2::Mmap;

use super::map::map_readonly;

/// The memory behind [`Bytes`].
enum ByteSource {
    Owned(Vec<u8>),
    Mapped(Mmap),
    Foreign(Box<dyn AsRef<[u8]> + Send + Sync>),
}

impl ByteSource {
    fn as_slice(&self) -> &[u8] {
        match self {
            Self::Owned(bytes) => bytes,
            Self::Mapped(map) => map,
            Self::Foreign(owner) => (**owner).as_ref(),
        }
    }
}

static EMPTY_BYTES: LazyLock<Arc<ByteSource>> =
    LazyLock::new(|| Arc::new(ByteSource::Owned(Vec::new())));

/// A range of bytes in shared memory: a vector, a mapped file, or memory of another owner.
///
/// Cloning and slicing copy no bytes. Comparison is by content.
///
/// ```
/// use sapwood_onnx::Bytes;
///
/// let all = Bytes::from(vec![1, 2, 3, 4]);
/// let part = all.slice(1..3).unwrap();
/// assert_eq!(&part[..], [2, 3]);
/// assert!(part.shares_memory_with(&all));
/// assert_eq!(part.offset(), 1);
/// assert!(all.slice(3..5).is_none());
/// ```
#[derive(Clone)]
pub struct Bytes {
    source: Arc<ByteSource>,
    start: usize,
    end: usize,
}

impl Bytes {
    /// Maps a file into memory. The result is empty for an empty file.
    ///
    /// The file must not change while the bytes, or slices of them, are in use.
    ///
    /// # Errors
    /// If the system cannot map the file.
    pub fn map_file(file: &File) -> io::Result<Self> {
        // Some systems refuse to map nothing.
        if file.metadata()?.len() == 0 {
            return Ok(Self::default());
        }
        let map = map_readonly(file)?;
        let end = map.len();
        Ok(Self { source: Arc::new(ByteSource::Mapped(map)), start: 0, end })
    }

    /// Shares the memory of another owner, such as a buffer of another language.
    ///
    /// The owner must return the same slice every time. If it returns a shorter one, the bytes end there.
    #[must_use]
    pub fn from_owner(owner: impl AsRef<[u8]> + Send + Sync + 'static) -> Self {
        let end = owner.as_ref().len();
        Self { source: Arc::new(ByteSource::Foreign(Box::new(owner))), start: 0, end }
    }

    /// Returns a part of these bytes, by positions in them; `None` if it is not within them.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Option<Self> {
        let fits = range.start <= range.end && range.end <= self.end - self.start;
        fits.then(|| Self {
            source: Arc::clone(&self.source),
            start: self.start + range.start,
            end: self.start + range.end,
        })
    }

    /// Returns the position of the first byte in the memory it is in; for a file, the byte offset.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.start
    }

    /// Returns whether both are in one vector, file map or foreign buffer.
    #[must_use]
    pub fn shares_memory_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.source, &other.source)
    }

    /// Returns whether the bytes are in a mapped file rather than in memory of this process.
    #[must_use]
    pub fn is_mapped(&self) -> bool {
        matches!(*self.source, ByteSource::Mapped(_))
    }

    /// Adds the bytes of `next` if they follow these in the same memory.
    pub(crate) fn extend_by(&mut self, next: &Self) -> bool {
        let follows = self.end == next.start && self.shares_memory_with(next);
        if follows {
            self.end = next.end;
        }
        follows
    }
}

impl Default for Bytes {
    fn default() -> Self {
        Self { source: Arc::clone(&EMPTY_BYTES), start: 0, end: 0 }
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.source.as_slice().get(self.start..self.end).unwrap_or_default()
    }
}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        let end = bytes.len();
        Self { source: Arc::new(ByteSource::Owned(bytes)), start: 0, end }
    }
}

impl From<&[u8]> for Bytes {
    fn from(bytes: &[u8]) -> Self {
        bytes.to_vec().into()
    }
}

impl PartialEq for Bytes {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Bytes {}

impl Hash for Bytes {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

/// Prints the first bytes only: a tensor may have gigabytes.
impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 16;
        match self.get(..SHOWN) {
            Some(head) if self.len() > SHOWN => write!(f, "{head:?}… ({} bytes)", self.len()),
            _ => write!(f, "{:?}", &**self),
        }
    }
}

/// A string of an ONNX file, sharing the file's memory.
///
/// Protobuf requires UTF-8 but its readers do not check it, so a file may have other bytes; they are kept as they are.
/// Comparison is by bytes. `Display` replaces what is not UTF-8 and cuts what is too long for a message.
///
/// ```
/// use sapwood_onnx::Text;
///
/// let name = Text::from("conv1");
/// assert_eq!(name, "conv1");
/// assert_eq!(name.as_str(), Some("conv1"));
/// assert_eq!(Text::from_bytes(vec![0xff].into()).as_str(), None);
/// ```
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Text(Bytes);

impl Text {
    /// Returns bytes, which should be UTF-8, as a string.
    #[must_use]
    pub fn from_bytes(bytes: Bytes) -> Self {
        Self(bytes)
    }

    /// Returns the bytes.
    #[must_use]
    pub fn bytes(&self) -> &Bytes {
        &self.0
    }

    /// Returns the string; `None` if it is not UTF-8.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }

    /// Returns the string, with replacement characters for bytes that are not UTF-8.
    #[must_use]
    pub fn to_str_lossy(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }

    /// Returns whether there are no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().into())
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(text.into_bytes().into())
    }
}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        *self.0 == *other.as_bytes()
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        *self == **other
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_str_lossy())
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN_BYTES: usize = 120;
        match self.0.get(..SHOWN_BYTES) {
            Some(head) if self.0.len() > SHOWN_BYTES => {
                write!(f, "{}…", String::from_utf8_lossy(head))
            }
            _ => f.write_str(&self.to_str_lossy()),
        }
    }
}
