//! A model with gigabytes of external weights is simplified without copying them.
#![cfg(target_os = "linux")]

use std::fs::File;
use std::process::{Command, Stdio};
use std::time::Duration;

use sapwood::onnx::{
    DimensionValue, ElementType, ExternalData, Graph, Model, Node, Tensor, Type, ValueInfo,
    WriteOptions, write_file,
};

const GIB: u64 = 1 << 30;
/// The most memory that the command may allocate.
const MAX_ALLOCATED_KIB: u64 = 500 << 10;

fn matrix(name: &str, rows: DimensionValue, columns: i64) -> ValueInfo {
    let dims = [rows, DimensionValue::Value(columns)];
    ValueInfo::new(name, Type::tensor(Some(ElementType::Float.code()), dims.map(Some)))
}

// Six products with weights of about a gigabyte each, in a file without contents. The sizes differ, so that none are compared.
fn model() -> Model {
    let extent = |i: u64| 16_384 - i as i64;
    let (mut nodes, mut weights, mut last) = (Vec::new(), Vec::new(), "x".to_owned());
    for i in 0..6 {
        let name = format!("w{i}");
        let dims = vec![extent(i), extent(i + 1)];
        let length = (dims[0] * dims[1] * 4) as u64;
        let mut weight = Tensor::from_raw(&*name, ElementType::Float, dims, Vec::new().into());
        weight.set_external("w.bin", i * GIB, length);
        weights.push(weight);
        let (product, copy) = (format!("p{i}"), format!("c{i}"));
        nodes.push(Node::new("MatMul", &[&last, &name], &[&product]));
        nodes.push(Node::new("Identity", &[&product], &[&copy]));
        last = format!("r{i}");
        nodes.push(Node::new("Relu", &[&copy], &[&last]));
    }
    let batch = || DimensionValue::Param("batch".into());
    let graph = Graph {
        name: Some("main".into()),
        node: nodes,
        initializer: weights,
        input: vec![matrix("x", batch(), extent(0))],
        output: vec![matrix(&last, batch(), extent(6))],
        ..Graph::default()
    };
    Model::new(graph, 10, 21)
}

#[test]
fn gigabytes_of_weights_are_not_copied() {
    let folder = tempfile::tempdir().unwrap();
    File::create(folder.path().join("w.bin")).unwrap().set_len(6 * GIB).unwrap();
    let data = ExternalData::in_folder(folder.path());
    write_file(&folder.path().join("m.onnx"), &model(), &data, &WriteOptions::default()).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_sapwood"))
        .args(["opt", "m.onnx", "--float", "fast", "-o", "s.onnx", "-q"])
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut peak = 0;
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        // Pages of mapped files are not allocated memory.
        let state = std::fs::read_to_string(format!("/proc/{}/status", child.id()));
        let line = state.iter().flat_map(|text| text.lines()).find(|l| l.starts_with("RssAnon:"));
        let kib = line.and_then(|l| l.split_whitespace().nth(1)?.parse::<u64>().ok());
        peak = peak.max(kib.unwrap_or(0));
        std::thread::sleep(Duration::from_millis(1));
    };
    assert!(status.success());
    assert!(peak < MAX_ALLOCATED_KIB, "{peak} KiB");
    let written = sapwood::onnx::read_file(&folder.path().join("s.onnx")).unwrap().0;
    let graph = written.graph.unwrap();
    assert_eq!(graph.node.len(), 12);
    assert!(graph.initializer.iter().all(Tensor::is_external));
    // The weights are still those of the first file.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
}
