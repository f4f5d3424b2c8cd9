//! Reading models from files and writing them to files.

use std::fs::{self, File};
use std::io::{self, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_types::OutputFile;
use tempfile::NamedTempFile;
use thiserror::Error;

use crate::model::{for_each_tensor, for_each_tensor_mut};
use crate::wire::{self, MAX_MESSAGE_LEN};
use crate::{Bytes, EncodeError, ExternalData, Model, ReadError, Tensor, TensorError};

/// The reason why a file cannot be read or written.
#[derive(Debug, Error)]
pub enum FileError {
    /// The file is not an ONNX model.
    #[error("{}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: ReadError,
    },
    /// The model cannot be written.
    #[error("{}: {error}", path.display())]
    Encode {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: EncodeError,
    },
    /// The weights cannot be written, because they cannot be read.
    #[error("{}: {error}", path.display())]
    Tensor {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: Box<TensorError>,
    },
    /// The system reports an error.
    #[error("{}: cannot be {action}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// `read` or `written`.
        action: &'static str,
        /// The system's error.
        error: io::Error,
    },
}

/// Reads a model from a file, which is mapped into memory, and gives access to its weights in other files.
///
/// The file must not be changed while the model is in use. Replacing it by another file, as [`write_file`] does, is harmless.
///
/// # Errors
/// If the file cannot be read or is not an ONNX model.
pub fn read_file(path: &Path) -> Result<(Model, ExternalData), FileError> {
    let bytes = File::open(path).and_then(|file| map_or_read(&file));
    let bytes =
        bytes.map_err(|error| FileError::Io { path: path.to_owned(), action: "read", error })?;
    let model =
        crate::read(bytes).map_err(|error| FileError::Read { path: path.to_owned(), error })?;
    Ok((model, ExternalData::in_folder_of(path)))
}

/// Maps a regular file and reads all others: pipes and devices cannot be mapped.
fn map_or_read(mut file: &File) -> io::Result<Bytes> {
    if file.metadata()?.is_file() {
        return Bytes::map_file(file);
    }
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut file, &mut bytes)?;
    Ok(bytes.into())
}

/// The place of weights in the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WeightStorage {
    /// Weights stay in the model or in other files, as they are. They go to the file of external data if the model would have over
    /// 2 GiB, or if it is written to another folder than the one that has the weights.
    #[default]
    Keep,
    /// All weights are in the model.
    Inline,
    /// Weights are in a file of external data, except small tensors.
    External {
        /// The size in bytes of the smallest tensor that goes to that file.
        min_bytes: u64,
    },
}

/// The options of [`write_file`].
#[derive(Clone, Copy, Default)]
pub struct WriteOptions<'a> {
    /// The place of weights in the output.
    pub weights: WeightStorage,
    /// A callback that is called from time to time. If it returns an error, writing stops and removes the new files.
    pub check_cancelled: Option<&'a dyn Fn() -> io::Result<()>>,
}

/// The size of the smallest tensor that leaves a model that is too large, as in `onnx.save`.
const MIN_EXTERNAL_BYTES: u64 = 1024;
/// The alignment of tensors in a file of external data, so that they can be mapped one by one.
const ALIGNMENT: u64 = 4096;

/// Writes a model to a file, and weights to a file of external data beside it, `NAME.data`, where that is needed.
///
/// Both files are written under temporary names and then renamed. If anything fails, the previous files stay.
///
/// # Errors
/// If the model has too many bytes or is nested too deep, if weights cannot be read, or if the system reports an error.
pub fn write_file(
    path: &Path,
    model: &Model,
    data: &ExternalData,
    options: &WriteOptions<'_>,
) -> Result<(), FileError> {
    let failed = |error| FileError::Io { path: path.to_owned(), action: "written", error };
    let encode_failed = |error| FileError::Encode { path: path.to_owned(), error };
    let target = OutputFiles::new(path).map_err(failed)?;
    let (changed, payloads) = place_weights(&target, model, data, options.weights, path)?;
    let model = changed.as_ref().unwrap_or(model);

    let data_file = match payloads.is_empty() {
        true => None,
        false => Some(target.file.create_temporary(&target.data_path()).map_err(failed)?),
    };
    if let Some(file) = &data_file {
        write_payloads(file.as_file(), &payloads, options).map_err(failed)?;
    }
    let model_file = target.file.create_temporary(&target.file.path).map_err(failed)?;
    let mut out = CancellableFile { file: model_file.as_file(), options };
    wire::encode(model, &mut out).map_err(encode_failed)?;
    target.put_in_place(model_file, data_file).map_err(failed)
}

/// The reason why a model cannot be written as bytes.
#[derive(Debug, Error)]
pub enum InlineError {
    /// Protobuf could not read it: over 2 GiB, or nested too deep.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// Weights in other files cannot be read.
    #[error(transparent)]
    Tensor(#[from] TensorError),
}

/// Writes a model as bytes, with all weights inside.
///
/// # Errors
/// If the model has too many bytes or is nested too deep, or if weights cannot be read.
pub fn write_inline(model: &Model, data: &ExternalData) -> Result<Vec<u8>, InlineError> {
    let mut has_external = false;
    for_each_tensor(model, |tensor, _| has_external |= tensor.is_external());
    if !has_external {
        return Ok(crate::write(model)?);
    }
    let mut changed = model.clone();
    let mut failed = None;
    for_each_tensor_mut(&mut changed, |tensor, _| {
        if failed.is_none() && tensor.is_external() {
            match data.bytes_of(tensor) {
                Ok(bytes) => tensor.set_raw(bytes),
                Err(error) => failed = Some(error),
            }
        }
    });
    match failed {
        Some(error) => Err(error.into()),
        None => Ok(crate::write(&changed)?),
    }
}

/// The model file to write, its folder, and the name of its data file; links are resolved.
struct OutputFiles {
    file: OutputFile,
    data_name: String,
}

impl OutputFiles {
    fn new(path: &Path) -> io::Result<Self> {
        let file = OutputFile::new(path)?;
        let name = file.path.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| io::Error::other("its name is not UTF-8"))?;
        let data_name = format!("{name}.data");
        let folder = fs::canonicalize(&file.folder)?;
        Ok(Self { file: OutputFile { folder, ..file }, data_name })
    }

    fn data_path(&self) -> PathBuf {
        self.file.folder.join(&self.data_name)
    }

    /// Renames both files to their final names, and rolls back the first if the second fails.
    fn put_in_place(&self, model: NamedTempFile, data: Option<NamedTempFile>) -> io::Result<()> {
        let Some(data) = data else {
            return model.persist(&self.file.path).map(drop).map_err(|e| e.error);
        };
        let data_path = self.data_path();
        // The old data gets a temporary name, and is removed in the end.
        let backup = match fs::symlink_metadata(&data_path) {
            Ok(_) => {
                let backup = self.file.create_temporary(&data_path)?.into_temp_path();
                fs::rename(&data_path, &backup)?;
                Some(backup)
            }
            Err(_) => None,
        };
        let persisted = data.persist(&data_path).map(drop).map_err(|e| e.error);
        let persisted =
            persisted.and_then(|()| model.persist(&self.file.path).map(drop).map_err(|e| e.error));
        if persisted.is_err() {
            match backup {
                Some(backup) => backup.persist(&data_path).map_err(|e| e.error)?,
                None => drop(fs::remove_file(&data_path)),
            }
        }
        persisted
    }
}

/// The elements of one tensor in the file of external data.
struct ExternalPayload {
    offset: u64,
    bytes: Bytes,
}

/// Decides the place of each weight. Returns the model to write if it differs from `model`, and the content of the external file.
fn place_weights(
    target: &OutputFiles,
    model: &Model,
    data: &ExternalData,
    weights: WeightStorage,
    path: &Path,
) -> Result<(Option<Model>, Vec<ExternalPayload>), FileError> {
    let source_folder = data.folder().and_then(|folder| fs::canonicalize(folder).ok());
    let stays = source_folder.is_some_and(|folder| folder == target.file.folder);
    let mut has_external = false;
    for_each_tensor(model, |tensor, _| has_external |= tensor.is_external());
    let min_bytes = match weights {
        WeightStorage::Inline if !has_external => return Ok((None, Vec::new())),
        WeightStorage::Inline => None,
        WeightStorage::External { min_bytes } => Some(min_bytes),
        WeightStorage::Keep => {
            let length = wire::encoded_len(model)
                .map_err(|error| FileError::Encode { path: path.to_owned(), error })?;
            match length > MAX_MESSAGE_LEN {
                true => Some(MIN_EXTERNAL_BYTES),
                false if has_external && !stays => Some(u64::MAX),
                false => return Ok((None, Vec::new())),
            }
        }
    };
    let mut changed = model.clone();
    let mut placer = WeightPlacer {
        data,
        data_name: &target.data_name,
        min_bytes,
        payloads: Vec::new(),
        end: 0,
        by_content: HashMap::default(),
    };
    let mut failed = None;
    for_each_tensor_mut(&mut changed, |tensor, is_initializer| {
        if failed.is_none() {
            failed = placer.place_tensor(tensor, is_initializer).err();
        }
    });
    match failed {
        Some(error) => Err(FileError::Tensor { path: path.to_owned(), error: Box::new(error) }),
        None => Ok((Some(changed), placer.payloads)),
    }
}

/// The state of moving weights between a model and its file of external data.
struct WeightPlacer<'a> {
    data: &'a ExternalData,
    data_name: &'a str,
    /// `None` if everything goes into the model.
    min_bytes: Option<u64>,
    payloads: Vec<ExternalPayload>,
    end: u64,
    /// Payloads by length and a hash of a few bytes: equal ones are written once.
    by_content: HashMap<(usize, u64), Vec<usize>, FxBuildHasher>,
}

impl WeightPlacer<'_> {
    fn place_tensor(
        &mut self,
        tensor: &mut Tensor,
        is_initializer: bool,
    ) -> Result<(), TensorError> {
        let was_external = tensor.is_external();
        let Some(min_bytes) = self.min_bytes else {
            if was_external {
                let bytes = self.data.bytes_of(tensor)?;
                tensor.set_raw(bytes);
            }
            return Ok(());
        };
        // Few runtimes accept attributes in external files, so those stay where they are.
        let is_large = is_initializer && tensor.byte_len().is_some_and(|n| n >= min_bytes);
        if !was_external && !is_large {
            return Ok(());
        }
        let bytes = self.data.bytes_of(tensor)?;
        let length = bytes.len() as u64;
        let offset = self.offset_of(bytes);
        tensor.set_external(self.data_name, offset, length);
        Ok(())
    }

    fn offset_of(&mut self, bytes: Bytes) -> u64 {
        let candidates =
            self.by_content.entry((bytes.len(), hash_payload_sample(&bytes))).or_default();
        let equal = candidates.iter().find(|&&index| self.payloads[index].bytes == bytes);
        if let Some(&index) = equal {
            return self.payloads[index].offset;
        }
        let offset = self.end.next_multiple_of(ALIGNMENT);
        self.end = offset + bytes.len() as u64;
        candidates.push(self.payloads.len());
        self.payloads.push(ExternalPayload { offset, bytes });
        offset
    }
}

/// Returns a hash of a few bytes of a payload.
fn hash_payload_sample(bytes: &[u8]) -> u64 {
    use std::hash::BuildHasher as _;
    let parts = [0, bytes.len() / 2, bytes.len().saturating_sub(64)]
        .map(|at| &bytes[at..bytes.len().min(at + 64)]);
    FxBuildHasher.hash_one(parts)
}

fn write_payloads(
    mut file: &File,
    payloads: &[ExternalPayload],
    options: &WriteOptions<'_>,
) -> io::Result<()> {
    for payload in payloads {
        file.seek(SeekFrom::Start(payload.offset))?;
        CancellableFile { file, options }.write_all(&payload.bytes)?;
    }
    Ok(())
}

/// A file that is written in parts, with a check for cancellation before each.
struct CancellableFile<'a> {
    file: &'a File,
    options: &'a WriteOptions<'a>,
}

impl Write for CancellableFile<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        const MAX_WRITE_BYTES: usize = 16 << 20;
        if let Some(check) = self.options.check_cancelled {
            check()?;
        }
        self.file.write(&bytes[..bytes.len().min(MAX_WRITE_BYTES)])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
