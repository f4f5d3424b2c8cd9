//! Weights in other files: found only in the model's folder, written aligned, both files whole or absent.

use std::cell::Cell;
use std::fs;
use std::io;
use std::path::Path;

use sapwood_onnx::{
    ElementType, ExternalData, Graph, Model, StringEntry, Tensor, WeightStorage, WriteOptions,
    read_file, write_file,
};
use tempfile::{TempDir, tempdir};

fn external(location: &str, entries: &[(&str, &str)]) -> Tensor {
    let mut tensor = Tensor::from_raw("w", ElementType::Uint8, vec![4], Vec::new().into());
    tensor.set_external(location, 0, 4);
    tensor.external_data.truncate(1);
    tensor.external_data.extend(entries.iter().map(|(key, value)| StringEntry::new(*key, *value)));
    tensor
}

fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = tempdir().unwrap();
    for (name, bytes) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    folder
}

#[track_caller]
fn problem(data: &ExternalData, tensor: &Tensor) -> String {
    data.bytes_of(tensor).unwrap_err().to_string()
}

#[test]
fn elements_are_found_by_location_offset_and_length() {
    let folder = folder(&[("w.bin", b"0123456789"), ("deep/v.bin", b"abcd")]);
    let data = ExternalData::in_folder(folder.path());
    let bytes = data.bytes_of(&external("./w.bin", &[("offset", "2"), ("length", "4")])).unwrap();
    assert_eq!((&*bytes, bytes.offset(), bytes.is_mapped()), (&b"2345"[..], 2, true));
    // Without a length, as many bytes as type and shape need.
    assert_eq!(&*data.bytes_of(&external("w.bin", &[("offset", "6")])).unwrap(), b"6789");
    assert_eq!(&*data.bytes_of(&external("deep/v.bin", &[])).unwrap(), b"abcd");
    // A file is mapped once.
    assert!(data.bytes_of(&external("w.bin", &[])).unwrap().shares_memory_with(&bytes));
}

#[test]
fn wrong_places_are_refused() {
    let folder = folder(&[("w.bin", b"0123456789")]);
    let data = ExternalData::in_folder(folder.path());
    for (location, entries, expected) in [
        (
            "w.bin",
            &[("offset", "7")][..],
            "tensor `w`: the elements are at bytes 7 to 11 of `w.bin`, which has 10 bytes",
        ),
        ("w.bin", &[("offset", "18446744073709551615")], "which has 10 bytes"),
        (
            "w.bin",
            &[("offset", "-1")],
            "`offset` of the external data is `-1`; a number of bytes is needed",
        ),
        ("w.bin", &[("length", "3")], "there are 3 bytes of elements; type and shape need 4"),
        ("w.bin", &[("length", "99999999999999")], "which has 10 bytes"),
        ("none.bin", &[], "`none.bin` cannot be read"),
        (".", &[], "not in the model's folder"),
        ("", &[], "not in the model's folder"),
        (
            "../w.bin",
            &[],
            "`../w.bin` is not in the model's folder; a relative path without `..` is needed",
        ),
        ("a/../../w.bin", &[], "not in the model's folder"),
        ("/etc/hostname", &[], "not in the model's folder"),
    ] {
        let problem = problem(&data, &external(location, entries));
        assert!(problem.contains(expected), "{problem}");
    }
    let no_folder = problem(&ExternalData::default(), &external("w.bin", &[]));
    assert!(no_folder.contains("the folder of the model is not known"), "{no_folder}");
    let mut no_location = external("w.bin", &[]);
    no_location.external_data.clear();
    assert!(problem(&data, &no_location).contains("the name of a file is needed"));
}

#[cfg(unix)]
#[test]
fn links_are_refused() {
    use std::os::unix::fs::symlink;
    let outside = folder(&[("secret.bin", b"0123")]);
    let folder = folder(&[("w.bin", b"0123")]);
    symlink(outside.path().join("secret.bin"), folder.path().join("file")).unwrap();
    symlink(outside.path(), folder.path().join("folder")).unwrap();
    symlink("w.bin", folder.path().join("inside")).unwrap();
    let data = ExternalData::in_folder(folder.path());
    for location in ["file", "folder/secret.bin", "inside"] {
        let problem = problem(&data, &external(location, &[]));
        assert!(problem.contains("is a link"), "{problem}");
    }
}

fn model(tensors: Vec<Tensor>) -> Model {
    let graph = Graph { initializer: tensors, ..Graph::default() };
    Model { ir_version: Some(10), graph: Some(graph.into()), ..Model::default() }
}

fn raw(name: &str, bytes: Vec<u8>) -> Tensor {
    Tensor::from_raw(name, ElementType::Uint8, vec![bytes.len() as i64], bytes.into())
}

fn files_in(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn weights_are_written_aligned_and_equal_ones_once() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("m.onnx");
    let model = model(vec![
        raw("a", vec![1; 5000]),
        raw("small", vec![9; 10]),
        raw("b", vec![2; 5000]),
        raw("same as a", vec![1; 5000]),
    ]);
    let options = WriteOptions {
        weights: WeightStorage::External { min_bytes: 100 },
        ..WriteOptions::default()
    };
    write_file(&path, &model, &ExternalData::default(), &options).unwrap();
    assert_eq!(files_in(folder.path()), ["m.onnx", "m.onnx.data"]);
    assert_eq!(fs::metadata(folder.path().join("m.onnx.data")).unwrap().len(), 8192 + 5000);

    let (back, data) = read_file(&path).unwrap();
    let tensors = &back.graph.as_ref().unwrap().initializer;
    let offset = |tensor: &Tensor| tensor.external_entry("offset").map(ToString::to_string);
    let offsets: Vec<_> = tensors.iter().map(offset).collect();
    assert_eq!(offsets, [Some("0".into()), None, Some("8192".into()), Some("0".into())]);
    for (tensor, original) in tensors.iter().zip(&model.graph.as_ref().unwrap().initializer) {
        assert_eq!(data.bytes_of(tensor).unwrap(), original.inline_bytes().unwrap());
    }
    assert!(!sapwood_onnx::verify(&back).iter().any(|d| d.message.contains("initializer")));

    // Back into the model.
    let inline = WriteOptions { weights: WeightStorage::Inline, ..WriteOptions::default() };
    let other = tempdir().unwrap();
    let path = other.path().join("m.onnx");
    write_file(&path, &back, &data, &inline).unwrap();
    assert_eq!(files_in(other.path()), ["m.onnx"]);
    assert_eq!(read_file(&path).unwrap().0, model);
}

#[test]
fn external_weights_stay_in_their_folder_and_follow_to_another() {
    let folder = folder(&[("w.bin", b"01234567")]);
    let path = folder.path().join("m.onnx");
    let model = model(vec![external("w.bin", &[("offset", "2")]), raw("v", vec![5; 3])]);
    let data = ExternalData::in_folder(folder.path());
    write_file(&path, &model, &data, &WriteOptions::default()).unwrap();
    assert_eq!(files_in(folder.path()), ["m.onnx", "w.bin"]);
    assert_eq!(read_file(&path).unwrap().0, model);

    let other = tempdir().unwrap();
    let path = other.path().join("n.onnx");
    write_file(&path, &model, &data, &WriteOptions::default()).unwrap();
    assert_eq!(files_in(other.path()), ["n.onnx", "n.onnx.data"]);
    let (back, data) = read_file(&path).unwrap();
    let tensors = &back.graph.as_ref().unwrap().initializer;
    assert_eq!(&*data.bytes_of(&tensors[0]).unwrap(), b"2345");
    assert!(!tensors[1].is_external());
    // Written in place while its own data is mapped.
    let options = WriteOptions {
        weights: WeightStorage::External { min_bytes: 0 },
        ..WriteOptions::default()
    };
    write_file(&path, &back, &data, &options).unwrap();
    let (again, new_data) = read_file(&path).unwrap();
    for (tensor, expected) in again.graph.unwrap().initializer.iter().zip([&b"2345"[..], &[5; 3]]) {
        assert_eq!(&*new_data.bytes_of(tensor).unwrap(), expected);
    }
    assert_eq!(&*data.bytes_of(&tensors[0]).unwrap(), b"2345", "the old map is as it was");
}

#[test]
fn a_failed_write_leaves_the_old_files() {
    let folder = folder(&[("m.onnx", b"old model"), ("m.onnx.data", b"old data")]);
    let path = folder.path().join("m.onnx");
    let large = model(vec![raw("a", vec![1; 1 << 20]), raw("b", vec![2; 1 << 20])]);
    let unchanged = || {
        assert_eq!(files_in(folder.path()), ["m.onnx", "m.onnx.data"]);
        assert_eq!(fs::read(&path).unwrap(), b"old model");
        assert_eq!(fs::read(folder.path().join("m.onnx.data")).unwrap(), b"old data");
    };
    for calls in 0..4 {
        let left = Cell::new(calls);
        let stop = || match left.get() {
            0 => Err(io::Error::other("interrupted")),
            n => {
                left.set(n - 1);
                Ok(())
            }
        };
        let options = WriteOptions {
            weights: WeightStorage::External { min_bytes: 1 },
            check_cancelled: Some(&stop),
        };
        let result = write_file(&path, &large, &ExternalData::default(), &options);
        if calls < 3 {
            assert!(result.unwrap_err().to_string().contains("interrupted"));
            unchanged();
        } else {
            result.unwrap();
            assert_eq!(fs::metadata(folder.path().join("m.onnx.data")).unwrap().len(), 2 << 20);
        }
    }
    let missing = model(vec![external("none.bin", &[])]);
    let nowhere = folder.path().join("none/m.onnx");
    for path in [&nowhere, &folder.path().join("new.onnx")] {
        let options = WriteOptions { weights: WeightStorage::Inline, ..WriteOptions::default() };
        assert!(write_file(path, &missing, &ExternalData::in_folder_of(path), &options).is_err());
    }
    assert_eq!(files_in(folder.path()), ["m.onnx", "m.onnx.data"]);
}

#[test]
fn an_empty_file_is_an_empty_model_and_other_files_are_refused() {
    let folder = folder(&[("empty.onnx", b""), ("text.onnx", b"hello\n")]);
    assert_eq!(read_file(&folder.path().join("empty.onnx")).unwrap().0, Model::default());
    let error = read_file(&folder.path().join("text.onnx")).unwrap_err().to_string();
    assert!(error.contains("text.onnx: byte "), "{error}");
    let error = read_file(&folder.path().join("none.onnx")).unwrap_err().to_string();
    assert!(error.contains("none.onnx: cannot be read: "), "{error}");
}
