//! Reading takes memory in proportion to the file, whatever is in it.

mod common;

use common::{graph, long, model, node};
use sapwood_onnx::{
    ElementType, ExternalData, Graph, Model, Tensor, WriteOptions, read, read_file, verify,
    write_file,
};
use sapwood_testing::is_full;
use sapwood_testing::memory::{Counting, peak_during};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// One test: the counts are of the whole process.
#[test]
fn peak_memory_is_bounded_by_the_size_of_the_file() {
    // Only empty nodes, tensors, attributes.
    for field in [vec![0x0a, 0x00], vec![0x2a, 0x00], vec![0x6a, 0x00]] {
        let bytes = long(7, field.repeat(1 << 20));
        let length = bytes.len();
        let (result, peak) = peak_during(|| read(bytes));
        let error = result.unwrap_err().to_string();
        assert!(error.contains("almost all of its messages are empty"), "{error}");
        // Lists double when they grow.
        assert!(peak < 3 * 64 * length, "{peak} for {length}");
    }
    // A wrong length allocates nothing.
    let (result, peak) = peak_during(|| read(vec![0x3a, 0xff, 0xff, 0xff, 0xff, 0x07]));
    assert!(result.is_err() && peak < 10_000, "{peak}");

    // A model of many small nodes.
    let nodes: Vec<_> = (0..200_000)
        .map(|i| node("", "Abs", &[&format!("v{i}")], &[&format!("v{}", i + 1)], &[]))
        .collect();
    let bytes = model(graph(&nodes, &["v0"], &["v200000"]));
    let length = bytes.len();
    let (many, peak) = peak_during(|| read(bytes).unwrap());
    assert!(peak < 45 * length, "{peak} for {length}");
    let (problems, peak) = peak_during(|| verify(&many));
    assert!(problems.is_empty(), "{problems}");
    assert!(peak < 10 * length, "{peak} for {length}");

    // Weights are shared, not copied.
    let bytes = model(long(5, long(9, vec![0; 1 << 24])));
    let (_, peak) = peak_during(|| read(bytes).unwrap());
    assert!(peak < 1 << 16, "{peak}");

    external_weights_take_no_memory();
}

/// A sparse file in place of six gigabytes of weights.
fn external_weights_take_no_memory() {
    const GIB: u64 = 1 << 30;
    let folder = tempfile::tempdir().unwrap();
    let weights = std::fs::File::create(folder.path().join("w.bin")).unwrap();
    weights.set_len(6 * GIB).unwrap();
    let tensor = |number: u64| {
        let name = format!("w{number}");
        let mut tensor =
            Tensor::from_raw(name, ElementType::Float, vec![1 << 28], Vec::new().into());
        tensor.set_external("w.bin", number * GIB, GIB);
        tensor
    };
    let graph = Graph { initializer: (0..6).map(tensor).collect(), ..Graph::default() };
    let model = Model { ir_version: Some(10), graph: Some(graph.into()), ..Model::default() };
    let path = folder.path().join("m.onnx");
    let data = ExternalData::in_folder(folder.path());
    write_file(&path, &model, &data, &WriteOptions::default()).unwrap();

    let ((), peak) = peak_during(|| {
        let (model, data) = read_file(&path).unwrap();
        for tensor in &model.graph.as_ref().unwrap().initializer {
            let bytes = data.bytes_of(tensor).unwrap();
            assert_eq!((bytes.len() as u64, bytes[bytes.len() - 1]), (GIB, 0));
        }
        write_file(&path, &model, &data, &WriteOptions::default()).unwrap();
        if is_full() {
            let other = tempfile::tempdir().unwrap();
            write_file(&other.path().join("m.onnx"), &model, &data, &WriteOptions::default())
                .unwrap();
        }
    });
    assert!(peak < 1 << 20, "{peak}");
}
