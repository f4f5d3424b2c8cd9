//! NumPy files: a header that is a Python dictionary, then the elements.

use std::fs;
use std::path::{Path, PathBuf};

use sapwood_ptir::eval::{Tensor, Value};
use sapwood_ptir::{Function, TensorLiteral, ValueType};
use sapwood_types::{DataType, counted};

use super::created_folder::CreatedFolder;
use super::files::{Input, write_file};
use crate::command::cli_error::CliError;

const MAGIC: &[u8] = b"\x93NUMPY";

/// The largest size of a file in bytes: a splat constant may have more elements than fit on any disk.
const MAX_FILE_BYTES: u64 = 4 << 30;

/// Reads one NumPy file per parameter of a function. `hint` ends the message about a wrong number of files.
pub(crate) fn read_arguments(
    files: &[PathBuf],
    f: &Function,
    hint: &str,
) -> Result<Vec<Value>, CliError> {
    if files.len() != f.params().len() {
        return Err(CliError::new(format!(
            "@{} takes {}, found {}; give them with --in{hint}",
            f.name(),
            counted(f.params().len(), "input"),
            files.len()
        )));
    }
    let read_one =
        |(path, &param): (&PathBuf, _)| read_tensor(&Input::new(path), f.value_type(param));
    files.iter().zip(f.params()).map(read_one).collect()
}

/// Reads a tensor for a parameter of this type. Types that NumPy lacks are read from unsigned integers or raw bytes of the
/// same width.
fn read_tensor(input: &Input, wanted: &ValueType) -> Result<Value, CliError> {
    let read_error = |why: String| CliError::new(format!("{input}: {why}"));
    let bytes = input.read_bytes()?;
    let Some(ty) = wanted.as_tensor() else {
        return Err(read_error(format!(
            "the parameter is {wanted}, but a NumPy file holds a tensor"
        )));
    };
    let (header, elements) =
        split_header(&bytes).ok_or_else(|| read_error("not a NumPy file".into()))?;
    let descr = header_entry(header, "descr")
        .ok_or_else(|| read_error("its header has no `descr`".into()))?;
    let descr = explicit_byte_order(descr.trim_matches(['\'', '"']));
    let descr = descr.as_str();
    if header_entry(header, "fortran_order").is_none_or(|order| order != "False") {
        return Err(read_error(
            "elements are in column-major order; save it with numpy.ascontiguousarray".into(),
        ));
    }
    let shape: Option<Vec<u64>> = header_entry(header, "shape").and_then(|text| {
        let parts = text.trim_matches(['(', ')']).split(',').map(str::trim);
        parts.filter(|part| !part.is_empty()).map(|part| part.parse().ok()).collect()
    });
    let shape = shape.ok_or_else(|| read_error("its header has no shape".into()))?;
    if !can_hold(descr, ty.dtype) {
        let expected = descr_of(ty.dtype).unwrap_or("raw bytes");
        return Err(read_error(format!(
            "elements are {descr}, but the parameter is {ty} ({expected})"
        )));
    }
    let literal = TensorLiteral::new(ty.dtype, &shape, elements)
        .map_err(|why| read_error(why.to_string()))?;
    Tensor::from_literal(&literal).map(Value::Tensor).map_err(|why| read_error(why.to_string()))
}

// Splits a file into its header and the bytes of its elements.
fn split_header(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let rest = bytes.strip_prefix(MAGIC)?;
    let (version, rest) = rest.split_at_checked(2)?;
    let (len, rest) = match version[0] {
        1 => {
            let (len, rest) = rest.split_at_checked(2)?;
            (usize::from(u16::from_le_bytes(len.try_into().ok()?)), rest)
        }
        2 | 3 => {
            let (len, rest) = rest.split_at_checked(4)?;
            (usize::try_from(u32::from_le_bytes(len.try_into().ok()?)).ok()?, rest)
        }
        _ => return None,
    };
    let (header, elements) = rest.split_at_checked(len)?;
    Some((std::str::from_utf8(header).ok()?, elements))
}

// Returns the value of a key of the header, which is a dictionary of strings, bools and one tuple.
fn header_entry<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let at = [format!("'{key}'"), format!("\"{key}\"")].iter().find_map(|key| header.find(key))?;
    let rest = header[at..].split_once(':')?.1.trim_start();
    let end = if rest.starts_with('(') { rest.find(')')? + 1 } else { rest.find([',', '}'])? };
    Some(rest[..end].trim())
}

// Replaces `=`, the byte order of the machine, by `<`, the only byte order that is read.
fn explicit_byte_order(descr: &str) -> String {
    match descr.strip_prefix('=') {
        Some(kind) if cfg!(target_endian = "little") => format!("<{kind}"),
        _ => descr.to_owned(),
    }
}

// Returns the `descr` of a type; none if NumPy lacks the type.
fn descr_of(dtype: DataType) -> Option<&'static str> {
    Some(match dtype {
        DataType::Bool => "|b1",
        DataType::I8 | DataType::I4 | DataType::I2 => "|i1",
        DataType::U8 | DataType::U4 | DataType::U2 => "|u1",
        DataType::I16 => "<i2",
        DataType::I32 => "<i4",
        DataType::I64 | DataType::Index => "<i8",
        DataType::U16 => "<u2",
        DataType::U32 => "<u4",
        DataType::U64 => "<u8",
        DataType::F16 => "<f2",
        DataType::F32 => "<f4",
        DataType::F64 => "<f8",
        DataType::C64 => "<c8",
        DataType::C128 => "<c16",
        _ => return None,
    })
}

// Returns true if a file with this `descr` can hold elements of a type.
fn can_hold(descr: &str, dtype: DataType) -> bool {
    match descr_of(dtype) {
        Some(expected) => descr == expected,
        None => {
            let width = dtype.byte_size();
            [format!("<u{width}"), format!("|u{width}"), format!("|V{width}"), format!("<V{width}")]
                .iter()
                .any(|known| known == descr)
        }
    }
}

/// Writes results to a folder as `result0.npy` and so on, and returns their paths. The folder is created if it is missing.
/// All or none are written: after an error the new files, and the folder if it is new, are removed.
pub(crate) fn write_results(folder: &Path, results: &[Value]) -> Result<Vec<PathBuf>, CliError> {
    let mut files = Vec::new();
    for (n, value) in results.iter().enumerate() {
        let path = folder.join(format!("result{n}.npy"));
        let Some(literal) = value.to_literal() else {
            let message = format!("{} cannot be saved; a NumPy file holds a tensor", value.ty());
            return Err(write_error(&path, &message));
        };
        check_size(&path, &literal)?;
        files.push((path, literal));
    }
    let _created = CreatedFolder::create(folder)?;
    let mut new = Vec::new();
    for (path, literal) in &files {
        let existed = path.exists();
        if let Err(error) = write_tensor(path, literal) {
            for path in new {
                // The error of writing is the one to report.
                let _ = fs::remove_file(path);
            }
            return Err(error);
        }
        if !existed {
            new.push(path);
        }
    }
    Ok(files.into_iter().map(|(path, _)| path).collect())
}

fn write_error(path: &Path, message: &str) -> CliError {
    CliError::new(format!("{}: {message}", path.display()))
}

fn check_size(path: &Path, literal: &TensorLiteral) -> Result<(), CliError> {
    let width = literal.dtype().byte_size() as u64;
    let bytes = literal.num_elements().saturating_mul(width);
    match bytes > MAX_FILE_BYTES {
        true => {
            let ty = literal.ty();
            let message = format!("{ty} takes {bytes} bytes, the limit is {MAX_FILE_BYTES}");
            Err(write_error(path, &message))
        }
        false => Ok(()),
    }
}

fn write_tensor(path: &Path, literal: &TensorLiteral) -> Result<(), CliError> {
    let dtype = literal.dtype();
    let descr = descr_of(dtype).map_or_else(|| format!("<V{}", dtype.byte_size()), str::to_owned);
    let extents: String = literal.shape().iter().map(|n| format!("{n}, ")).collect();
    let mut header = format!(
        "{{'descr': '{descr}', 'fortran_order': False, 'shape': ({}), }}",
        extents.trim_end()
    );
    // The elements start at a multiple of 64 bytes, and a newline ends the header.
    let start = MAGIC.len() + 4;
    header += &" ".repeat((64 - (start + header.len() + 1) % 64) % 64);
    header.push('\n');
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&[1, 0]);
    let len = u16::try_from(header.len()).map_err(|_| write_error(path, "too many dims"))?;
    bytes.extend_from_slice(&len.to_le_bytes());
    bytes.extend_from_slice(header.as_bytes());
    for index in 0..literal.num_elements() {
        bytes.extend_from_slice(literal.element(index).unwrap_or_default());
    }
    write_file(path, &bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_with_double_quotes_and_native_byte_order() {
        let header = "{\"descr\": \"=f4\", \"fortran_order\": False, \"shape\": (2,), }\n";
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&[1, 0, header.len() as u8, 0]);
        bytes.extend_from_slice(header.as_bytes());
        bytes.extend([1f32, 2f32].into_iter().flat_map(f32::to_le_bytes));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npy");
        fs::write(&path, bytes).unwrap();
        let ty = sapwood_ptir::TensorType::new(DataType::F32, [2]).into();
        assert_eq!(
            read_tensor(&Input::File(path), &ty).unwrap().to_string(),
            "[1.0, 2.0] : f32[2]"
        );
    }
}
