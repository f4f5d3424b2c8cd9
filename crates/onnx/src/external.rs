//! External data: weights in other files.

use std::fs::{self, File};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use thiserror::Error;

use crate::{Bytes, Tensor, TensorData, Text};

/// Access to the elements of tensors. External files are mapped on first use.
///
/// Files are looked for in one folder, the model's. A location that leaves it is an error, and so is a link: a model from
/// elsewhere must not read files it did not come with.
#[derive(Debug, Default)]
pub struct ExternalData {
    folder: Option<PathBuf>,
    mapped: Mutex<HashMap<PathBuf, Bytes, FxBuildHasher>>,
}

/// The reason why a tensor's elements cannot be read, with the tensor.
#[derive(Debug, Error)]
#[error("tensor `{name}`{}: {problem}", offset.map(|at| format!(" at byte {at}")).unwrap_or_default())]
pub struct TensorError {
    /// The name of the tensor.
    pub name: Text,
    /// The byte offset of the tensor in the model's file.
    pub offset: Option<u64>,
    /// The reason itself.
    pub problem: TensorProblem,
}

/// The reason why a tensor's elements cannot be read.
#[derive(Debug, Error)]
pub enum TensorProblem {
    /// No element type, or one that ONNX 1.23 does not have.
    #[error("element type {0} is not known")]
    ElementType(i32),
    /// A negative extent, or too many elements.
    #[error("the shape {0:?} is not one a tensor can have")]
    Shape(Vec<i64>),
    /// The element type cannot be in the list the elements are in.
    #[error("elements of type {0} cannot be in this field")]
    Field(crate::ElementType),
    /// Strings have no fixed size.
    #[error("the elements are strings, not numbers")]
    Strings,
    /// There are no elements.
    #[error("there are no elements")]
    Missing,
    /// Shape and bytes disagree.
    #[error("there are {found} bytes of elements; type and shape need {needed}")]
    Length {
        /// The number of bytes found.
        found: u64,
        /// The number of bytes that type and shape need.
        needed: u64,
    },
    /// An entry of `external_data` is missing or not a number.
    #[error("`{key}` of the external data is `{value}`; {expected} is needed")]
    Entry {
        /// The key.
        key: &'static str,
        /// The value.
        value: String,
        /// The expected form.
        expected: &'static str,
    },
    /// The location is outside of the model's folder.
    #[error(
        "the external file `{0}` is not in the model's folder; a relative path without `..` is needed"
    )]
    Outside(Text),
    /// The location is a link, or leads through one.
    #[error("`{0}` is a link; external files are read only from the model's own folder")]
    Link(PathBuf),
    /// The model did not come from a file.
    #[error("the elements are in the file `{0}`, but the folder of the model is not known")]
    NoFolder(Text),
    /// The file is too short.
    #[error("the elements are at bytes {begin} to {end} of `{file}`, which has {length} bytes")]
    Range {
        /// The external file.
        file: PathBuf,
        /// The first byte.
        begin: u64,
        /// The byte after the last.
        end: u128,
        /// The length of the file.
        length: u64,
    },
    /// The file cannot be read.
    #[error("the external file `{file}` cannot be read: {error}")]
    Io {
        /// The external file.
        file: PathBuf,
        /// The system's error.
        error: io::Error,
    },
}

type Result<T> = std::result::Result<T, TensorProblem>;

impl ExternalData {
    /// Returns access to the files in this folder.
    #[must_use]
    pub fn in_folder(folder: impl Into<PathBuf>) -> Self {
        Self { folder: Some(folder.into()), ..Self::default() }
    }

    /// Returns access to the files in the folder of a model's file.
    #[must_use]
    pub fn in_folder_of(model: &Path) -> Self {
        let folder = model.parent().filter(|folder| !folder.as_os_str().is_empty());
        Self::in_folder(folder.unwrap_or(Path::new(".")))
    }

    /// Returns the folder; `None` for a model that is not in a file.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Returns the elements of a tensor as little-endian bytes, from the model or from another file, and checks that their number
    /// fits type and shape.
    ///
    /// It copies only elements in a list of another width: `int32_data`, `int64_data` and `uint64_data`.
    ///
    /// # Errors
    /// If they cannot be read, or if there are too few or too many of them.
    pub fn bytes_of(&self, tensor: &Tensor) -> std::result::Result<Bytes, TensorError> {
        self.checked_bytes(tensor).map_err(|problem| TensorError {
            name: tensor.name.clone().unwrap_or_default(),
            offset: tensor.wire.offset(),
            problem,
        })
    }

    fn checked_bytes(&self, tensor: &Tensor) -> Result<Bytes> {
        let needed = needed_bytes(tensor)?;
        let bytes = if tensor.is_external() {
            self.external_bytes(tensor, needed)?
        } else {
            let element_type = tensor.element_type();
            let missing = match (&tensor.data, element_type) {
                (Some(_), Some(element_type)) => TensorProblem::Field(element_type),
                _ => TensorProblem::Missing,
            };
            tensor.inline_bytes().ok_or(missing)?
        };
        match bytes.len() as u64 {
            found if found == needed => Ok(bytes),
            found => Err(TensorProblem::Length { found, needed }),
        }
    }

    fn external_bytes(&self, tensor: &Tensor, needed: u64) -> Result<Bytes> {
        let ExternalLocation { location, offset, length } = ExternalLocation::from_tensor(tensor)?;
        let (file, all) = self.mapped_file(location)?;
        let available = all.len() as u64;
        let end = u128::from(offset) + u128::from(length.unwrap_or(needed));
        let range = usize::try_from(offset).ok().zip(usize::try_from(end).ok());
        let bytes = range.and_then(|(begin, end)| all.slice(begin..end));
        bytes.ok_or(TensorProblem::Range { file, begin: offset, end, length: available })
    }

    /// Returns a file of the folder, mapped.
    fn mapped_file(&self, location: &Text) -> Result<(PathBuf, Bytes)> {
        let Some(folder) = &self.folder else {
            return Err(TensorProblem::NoFolder(location.clone()));
        };
        let relative = relative_path_inside(location)
            .ok_or_else(|| TensorProblem::Outside(location.clone()))?;
        let mut mapped = self.mapped.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bytes) = mapped.get(&relative) {
            return Ok((relative, bytes.clone()));
        }
        let file = open_without_links(folder, &relative)?;
        let bytes = Bytes::map_file(&file)
            .map_err(|error| TensorProblem::Io { file: relative.clone(), error })?;
        mapped.insert(relative.clone(), bytes.clone());
        Ok((relative, bytes))
    }
}

/// Returns how many bytes type and shape need.
fn needed_bytes(tensor: &Tensor) -> Result<u64> {
    let element_type = tensor.element_type();
    let element_type =
        element_type.ok_or(TensorProblem::ElementType(tensor.data_type.unwrap_or_default()))?;
    if element_type.bits().is_none() {
        return Err(TensorProblem::Strings);
    }
    tensor.byte_len().ok_or_else(|| TensorProblem::Shape(tensor.dims.clone()))
}

/// Checks the elements of a tensor without reading external files.
pub(crate) fn check_tensor(tensor: &Tensor) -> Result<()> {
    let needed = match needed_bytes(tensor) {
        Err(TensorProblem::Strings) => {
            let count =
                tensor.element_count().ok_or_else(|| TensorProblem::Shape(tensor.dims.clone()))?;
            return match &tensor.data {
                Some(TensorData::Strings(strings)) if strings.len() as u64 == count => Ok(()),
                None if count == 0 => Ok(()),
                None => Err(TensorProblem::Missing),
                Some(_) => Err(TensorProblem::Strings),
            };
        }
        needed => needed?,
    };
    if tensor.is_external() {
        let place = ExternalLocation::from_tensor(tensor)?;
        relative_path_inside(place.location)
            .ok_or_else(|| TensorProblem::Outside(place.location.clone()))?;
        return match place.length {
            Some(found) if found != needed => Err(TensorProblem::Length { found, needed }),
            _ => Ok(()),
        };
    }
    ExternalData::default().checked_bytes(tensor).map(drop)
}

/// The location of a tensor's elements in another file.
struct ExternalLocation<'a> {
    location: &'a Text,
    offset: u64,
    length: Option<u64>,
}

impl<'a> ExternalLocation<'a> {
    fn from_tensor(tensor: &'a Tensor) -> Result<Self> {
        let number = |key| match tensor.external_entry(key) {
            None => Ok(None),
            Some(value) => match value.as_str().and_then(|text| text.parse().ok()) {
                Some(number) => Ok(Some(number)),
                None => Err(TensorProblem::Entry {
                    key,
                    value: value.to_string(),
                    expected: "a number of bytes",
                }),
            },
        };
        let location = tensor.external_entry("location").ok_or(TensorProblem::Entry {
            key: "location",
            value: String::new(),
            expected: "the name of a file",
        })?;
        Ok(Self { location, offset: number("offset")?.unwrap_or(0), length: number("length")? })
    }
}

/// Returns a location as a path that cannot leave its folder; `None` if it is not such a path.
fn relative_path_inside(location: &Text) -> Option<PathBuf> {
    let mut path = PathBuf::new();
    for component in Path::new(location.as_str()?).components() {
        match component {
            Component::Normal(name) => path.push(name),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    (!path.as_os_str().is_empty()).then_some(path)
}

fn open_without_links(folder: &Path, relative: &Path) -> Result<File> {
    let failed = |error| TensorProblem::Io { file: relative.to_owned(), error };
    let mut path = folder.to_owned();
    let mut last = None;
    for component in relative.components() {
        path.push(component);
        let metadata = fs::symlink_metadata(&path).map_err(failed)?;
        if metadata.is_symlink() {
            return Err(TensorProblem::Link(relative.to_owned()));
        }
        last = Some(metadata);
    }
    // A pipe would wait for a writer.
    let Some(checked) = last.filter(fs::Metadata::is_file) else {
        return Err(failed(io::Error::other("it is not a file")));
    };
    let file = File::open(&path).map_err(failed)?;
    let opened = file.metadata().map_err(failed)?;
    if !is_same_file(&checked, &opened) {
        return Err(failed(io::Error::other("it was replaced while it was opened")));
    }
    Ok(file)
}

#[cfg(unix)]
fn is_same_file(checked: &fs::Metadata, opened: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (checked.dev(), checked.ino()) == (opened.dev(), opened.ino())
}

#[cfg(not(unix))]
fn is_same_file(_: &fs::Metadata, opened: &fs::Metadata) -> bool {
    opened.is_file()
}
