//! Writing files completely or not at all.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// The number of bytes that are written at once. Between two chunks, writing can be cancelled.
const WRITE_CHUNK: usize = 1 << 20;

/// The reason why a file cannot be written. Its text follows the name of the file: `out.mlir: is read-only`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The path is a directory.
    #[error("is a directory, expected a file")]
    IsDirectory,
    /// The file is read-only.
    #[error("is read-only")]
    ReadOnly,
    /// The directory of the file does not exist.
    #[error("no such directory: {}", .0.display())]
    NoDirectory(PathBuf),
    /// The system reports an error.
    #[error("cannot be written: {0}")]
    Io(io::Error),
}

impl From<WriteError> for io::Error {
    fn from(error: WriteError) -> Self {
        let kind = match &error {
            WriteError::Io(_) => None,
            WriteError::IsDirectory => Some(io::ErrorKind::IsADirectory),
            WriteError::ReadOnly => Some(io::ErrorKind::PermissionDenied),
            WriteError::NoDirectory(_) => Some(io::ErrorKind::NotFound),
        };
        match (error, kind) {
            (WriteError::Io(error), _) => error,
            (error, kind) => Self::new(kind.unwrap_or(io::ErrorKind::Other), error),
        }
    }
}

/// Writes a file atomically: to a temporary file in its directory, which is then renamed. If anything fails, an existing file
/// keeps its content. The target of a link is replaced, not the link. A device or a pipe is written to.
///
/// ```
/// # let folder = std::env::temp_dir().join(format!("sapwood-write-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// let path = folder.join("a.txt");
/// sapwood_types::write_atomically(&path, b"text", &|| Ok(()))?;
/// assert_eq!(std::fs::read(&path)?, b"text");
/// let error = sapwood_types::write_atomically(&folder, b"text", &|| Ok(())).unwrap_err();
/// assert_eq!(error.to_string(), "is a directory, expected a file");
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// If the file cannot be written, or if `check_cancelled`, which is called from time to time, returns an error.
pub fn write_atomically(
    path: &Path,
    bytes: &[u8],
    check_cancelled: &dyn Fn() -> io::Result<()>,
) -> Result<(), WriteError> {
    if fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir()) {
        return fs::write(path, bytes).map_err(WriteError::Io);
    }
    let output = OutputFile::new(path)?;
    let replace = || {
        let mut file = output.create_temporary(&output.path)?;
        for part in bytes.chunks(WRITE_CHUNK) {
            check_cancelled()?;
            // Written through the inner file, whose errors do not contain the temporary name.
            file.as_file_mut().write_all(part)?;
        }
        check_cancelled()?;
        file.persist(&output.path).map(|_: File| ()).map_err(|e| e.error)
    };
    replace().map_err(WriteError::Io)
}

/// A file that will be written under a temporary name in its directory, and then renamed.
#[derive(Clone, Debug)]
pub struct OutputFile {
    /// The path of the file; links are resolved.
    pub path: PathBuf,
    /// The directory of the file.
    pub folder: PathBuf,
}

impl OutputFile {
    /// Finds the file of a path, and checks that it can be replaced.
    ///
    /// # Errors
    /// If it cannot.
    pub fn new(path: &Path) -> Result<Self, WriteError> {
        match fs::metadata(path) {
            Ok(existing) if existing.is_dir() => return Err(WriteError::IsDirectory),
            Ok(existing) if !existing.is_file() => {
                return Err(WriteError::Io(io::Error::other("it is not a regular file")));
            }
            Ok(existing) if existing.permissions().readonly() => return Err(WriteError::ReadOnly),
            _ => {}
        }
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !folder.is_dir() {
            return Err(WriteError::NoDirectory(folder.to_owned()));
        }
        Ok(Self { folder: folder.to_owned(), path })
    }

    /// Creates a temporary file in the directory, which is removed unless it is renamed. It has the permissions of the file at
    /// `path`, or those of a new file.
    ///
    /// # Errors
    /// If the system reports one.
    pub fn create_temporary(&self, path: &Path) -> io::Result<NamedTempFile> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(".sapwood-");
        // The permissions that `fs::write` gives a new file; the umask of the process applies.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        // The message leaves out the name of the temporary file, which means nothing to users.
        let file = builder.tempfile_in(&self.folder).map_err(|e| io::Error::from(e.kind()))?;
        if let Some(existing) = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file) {
            file.as_file().set_permissions(existing.permissions())?;
        }
        Ok(file)
    }
}
