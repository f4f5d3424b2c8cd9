//! Memory maps of files.
#![allow(unsafe_code)] // the system calls that map a file cannot be called without

use std::fs::File;
use std::io;

use memmap2::Mmap;

/// Maps a whole file for reading.
///
/// The file must not be changed while it is mapped. This cannot be enforced: if another process shortens the file,
/// the system ends this process with a signal, and if it overwrites the file, the bytes of the model change. Sapwood itself never
/// writes into a file that exists; it puts a new file in its place, which leaves maps of the old one alone.
pub(super) fn map_readonly(file: &File) -> io::Result<Mmap> {
    // SAFETY: the map is private to this crate and only read. Every value read from it is checked when it is used,
    // never trusted because of an earlier check, so bytes that change give other values, not invalid memory.
    unsafe { Mmap::map(file) }
}
