//! Files of JSON lines.

use std::fs::{File, TryLockError};
use std::io::{self, BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::PathBuf;

use serde_json::Value;

use super::TraceError;

/// A file of JSON values, one per line.
pub(super) struct JsonLines {
    path: PathBuf,
    file: BufWriter<File>,
}

impl JsonLines {
    /// Opens a file for appending, with a lock against other writers. An incomplete last line, left by an aborted run, is removed.
    pub(super) fn open(path: PathBuf) -> Result<Self, TraceError> {
        let open = || -> io::Result<File> {
            let mut file =
                File::options().create(true).truncate(false).read(true).write(true).open(&path)?;
            // On systems without file locks other writers are not kept out.
            if let Err(TryLockError::WouldBlock) = file.try_lock() {
                let why = "another trace is being written here; choose another folder";
                return Err(io::Error::new(io::ErrorKind::ResourceBusy, why));
            }
            let end = end_of_last_line(&mut file)?;
            file.set_len(end)?;
            file.seek(SeekFrom::Start(end))?;
            Ok(file)
        };
        match open() {
            Ok(file) => Ok(Self { path, file: BufWriter::new(file) }),
            Err(error) => Err(TraceError::new(&path, error)),
        }
    }

    /// Appends a line.
    pub(super) fn push(&mut self, value: &Value) -> Result<(), TraceError> {
        let line = format!("{value}\n");
        self.file.write_all(line.as_bytes()).map_err(|error| TraceError::new(&self.path, error))
    }

    /// Writes all buffered lines to the file.
    pub(super) fn flush(&mut self) -> Result<(), TraceError> {
        self.file.flush().map_err(|error| TraceError::new(&self.path, error))
    }
}

// Returns the end of the last complete line.
fn end_of_last_line(file: &mut File) -> io::Result<u64> {
    const CHUNK_SIZE: u64 = 4096;
    let mut end = file.seek(SeekFrom::End(0))?;
    while end > 0 {
        let start = end.saturating_sub(CHUNK_SIZE);
        file.seek(SeekFrom::Start(start))?;
        let mut chunk = vec![0; (end - start) as usize];
        file.read_exact(&mut chunk)?;
        if let Some(at) = chunk.iter().rposition(|&byte| byte == b'\n') {
            return Ok(start + at as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_incomplete_last_line_is_removed_on_open() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("list.jsonl");
        let long = "x".repeat(10_000);
        for (before, after) in [
            (String::new(), String::new()),
            ("{\"a\":1}\n".into(), "{\"a\":1}\n".into()),
            ("{\"a\":1}\n{\"b\"".into(), "{\"a\":1}\n".into()),
            (format!("{{}}\n{long}"), "{}\n".into()),
            (long.clone(), String::new()),
        ] {
            std::fs::write(&path, before).unwrap();
            let mut lines = JsonLines::open(path.clone()).unwrap();
            lines.push(&serde_json::json!({ "new": true })).unwrap();
            lines.flush().unwrap();
            let text = std::fs::read_to_string(&path).unwrap();
            assert_eq!(text, after + "{\"new\":true}\n");
        }
    }
}
