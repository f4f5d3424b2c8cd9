//! NumPy's files: a header that is a Python dictionary, then the elements.

use std::path::{Path, PathBuf};

use sapwood_ptir::eval::{Tensor, Value};
use sapwood_ptir::{TensorLiteral, ValueType};
use sapwood_types::DataType;

use super::answer::Trouble;
use super::files::{Input, write_bytes_whole};

const MAGIC: &[u8] = b"\x93NUMPY";

/// A splat may stand for more elements than any disk holds; this many bytes are written at most.
const LARGEST: u64 = 4 << 30;

/// Reads a tensor for a parameter of this type. Types that NumPy lacks are read from unsigned integers or raw bytes of the same width.
pub(super) fn read(input: &Input, wanted: &ValueType) -> Result<Value, Trouble> {
    let trouble = |why: String| Trouble::new(format!("{input}: {why}"));
    let bytes = input.bytes()?;
    let Some(ty) = wanted.as_tensor() else {
        return Err(trouble(format!("the parameter is {wanted}, a NumPy file holds a tensor")));
    };
    let (header, elements) = split(&bytes).ok_or_else(|| trouble("not a NumPy file".into()))?;
    let descr =
        entry(header, "descr").ok_or_else(|| trouble("its header has no `descr`".into()))?;
    let descr = native(descr.trim_matches(['\'', '"']));
    let descr = descr.as_str();
    if entry(header, "fortran_order").is_none_or(|order| order != "False") {
        return Err(trouble("elements by columns; save it with numpy.ascontiguousarray".into()));
    }
    let shape: Option<Vec<u64>> = entry(header, "shape").and_then(|text| {
        let parts = text.trim_matches(['(', ')']).split(',').map(str::trim);
        parts.filter(|part| !part.is_empty()).map(|part| part.parse().ok()).collect()
    });
    let shape = shape.ok_or_else(|| trouble("its header has no shape".into()))?;
    if !fits(descr, ty.dtype) {
        let expected = descr_of(ty.dtype).unwrap_or("raw bytes");
        return Err(trouble(format!("elements are {descr}, the parameter is {ty} ({expected})")));
    }
    let literal =
        TensorLiteral::new(ty.dtype, &shape, elements).map_err(|why| trouble(why.to_string()))?;
    Tensor::from_literal(&literal).map(Value::Tensor).map_err(|why| trouble(why.to_string()))
}

fn split(bytes: &[u8]) -> Option<(&str, &[u8])> {
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

// The value of a key of the header, which is a dictionary of strings, bools and one tuple.
fn entry<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let at = [format!("'{key}'"), format!("\"{key}\"")].iter().find_map(|key| header.find(key))?;
    let rest = header[at..].split_once(':')?.1.trim_start();
    let end = if rest.starts_with('(') { rest.find(')')? + 1 } else { rest.find([',', '}'])? };
    Some(rest[..end].trim())
}

// `=` is the order of the machine; elements are read in the one order that is everywhere.
fn native(descr: &str) -> String {
    match descr.strip_prefix('=') {
        Some(kind) if cfg!(target_endian = "little") => format!("<{kind}"),
        _ => descr.to_owned(),
    }
}

fn descr_of(dtype: DataType) -> Option<&'static str> {
    Some(match dtype {
        DataType::Bool => "|b1",
        DataType::I8 | DataType::I4 => "|i1",
        DataType::U8 | DataType::U4 => "|u1",
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

fn fits(descr: &str, dtype: DataType) -> bool {
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

/// Writes tensors, each to its file. What cannot be written is found before anything is.
pub(super) fn write_all(files: &[(PathBuf, &Value)]) -> Result<(), Trouble> {
    let mut literals = Vec::new();
    for (path, value) in files {
        let literal = value.to_literal();
        let literal = literal.ok_or_else(|| trouble(path, &format!("{} is no tensor", value.ty())));
        literals.push(checked(path, literal?)?);
    }
    let mut written = files.iter().zip(&literals);
    written.try_for_each(|((path, _), literal)| write(path, literal))
}

fn trouble(path: &Path, why: &str) -> Trouble {
    Trouble::new(format!("{}: {why}", path.display()))
}

fn checked(path: &Path, literal: TensorLiteral) -> Result<TensorLiteral, Trouble> {
    let width = literal.dtype().byte_size() as u64;
    let bytes = literal.num_elements().saturating_mul(width);
    match bytes > LARGEST {
        true => {
            let ty = literal.ty();
            Err(trouble(path, &format!("{ty} takes {bytes} bytes, at most {LARGEST}")))
        }
        false => Ok(literal),
    }
}

fn write(path: &Path, literal: &TensorLiteral) -> Result<(), Trouble> {
    let dtype = literal.dtype();
    let descr = descr_of(dtype).map_or_else(|| format!("<V{}", dtype.byte_size()), str::to_owned);
    let extents: String = literal.shape().iter().map(|n| format!("{n}, ")).collect();
    let mut header = format!(
        "{{'descr': '{descr}', 'fortran_order': False, 'shape': ({}), }}",
        extents.trim_end()
    );
    // The elements start at a multiple of 64, and a line ends the header.
    let start = MAGIC.len() + 4;
    header += &" ".repeat((64 - (start + header.len() + 1) % 64) % 64);
    header.push('\n');
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&[1, 0]);
    let len = u16::try_from(header.len()).map_err(|_| trouble(path, "too many dims"))?;
    bytes.extend_from_slice(&len.to_le_bytes());
    bytes.extend_from_slice(header.as_bytes());
    for index in 0..literal.num_elements() {
        bytes.extend_from_slice(literal.element(index).unwrap_or_default());
    }
    write_bytes_whole(path, &bytes)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn headers_in_other_hands() {
        let header = "{\"descr\": \"=f4\", \"fortran_order\": False, \"shape\": (2,), }\n";
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&[1, 0, header.len() as u8, 0]);
        bytes.extend_from_slice(header.as_bytes());
        bytes.extend([1f32, 2f32].into_iter().flat_map(f32::to_le_bytes));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npy");
        fs::write(&path, bytes).unwrap();
        let ty = sapwood_ptir::TensorType::new(DataType::F32, [2]).into();
        assert_eq!(read(&Input::File(path), &ty).unwrap().to_string(), "[1.0, 2.0] : f32[2]");
    }
}
