//! Broken and malicious models at the command: the message names the node and its place, and the output file stays as it was.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use sapwood::onnx::{
    Attribute, AttributeValue, DimensionValue, ElementType, Graph, Model, Node, Tensor, Type,
    ValueInfo, write,
};

/// The contents of the output file before the command runs.
const OLD: &str = "the old output";

fn info(name: &str, dims: &[i64]) -> ValueInfo {
    let dims = dims.iter().map(|&n| Some(DimensionValue::Value(n)));
    ValueInfo::new(name, Type::tensor(Some(ElementType::Float.code()), dims))
}

fn named(name: &str, op: &str, input: &[&str], output: &[&str]) -> Node {
    Node { name: Some(name.into()), ..Node::new(op, input, output) }
}

fn graph(node: Vec<Node>) -> Graph {
    let (input, output) = (vec![info("x", &[2])], vec![info("y", &[2])]);
    Graph { name: Some("g".into()), node, input, output, ..Graph::default() }
}

fn model(node: Vec<Node>) -> Model {
    Model::new(graph(node), 10, 21)
}

fn relu(name: &str, input: &str, output: &str) -> Node {
    named(name, "Relu", &[input], &[output])
}

fn good() -> Vec<u8> {
    write(&model(vec![relu("n", "x", "y")])).unwrap()
}

/// A model with an initializer in another file, which is added to the input.
fn external(location: &str, offset: u64) -> Vec<u8> {
    let mut weight = Tensor::from_raw("w", ElementType::Float, vec![2], Vec::new().into());
    weight.set_external(location, offset, 8);
    let mut model = model(vec![named("n", "Add", &["x", "w"], &["y"])]);
    model.graph.as_mut().unwrap().initializer.push(weight);
    write(&model).unwrap()
}

fn with_opset(version: i64) -> Vec<u8> {
    let mut model = model(vec![relu("n", "x", "y")]);
    model.opset_import[0].version = Some(version);
    write(&model).unwrap()
}

fn with_axis(value: AttributeValue) -> Vec<u8> {
    let attribute = vec![Attribute::new("axis", value)];
    write(&model(vec![Node { attribute, ..named("n", "Softmax", &["x"], &["y"]) }])).unwrap()
}

fn varint(mut value: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let low = (value & 0x7f) as u8;
        value >>= 7;
        bytes.push(if value == 0 { low } else { low | 0x80 });
        if value == 0 {
            return bytes;
        }
    }
}

/// A field of a message: its number, and the bytes inside.
fn field(number: usize, inside: Vec<u8>) -> Vec<u8> {
    [varint(number << 3 | 2), varint(inside.len()), inside].concat()
}

/// Graphs in graphs, ten thousand levels deep.
fn deep() -> Vec<u8> {
    let mut inner = Vec::new();
    for level in 0..10_000 {
        let attribute = [field(1, b"body".to_vec()), field(6, inner), vec![0xa0, 0x01, 5]].concat();
        let node = [field(3, format!("n{level}").into()), field(5, attribute)].concat();
        inner = field(1, node);
    }
    field(7, inner)
}

fn opt(folder: &Path, bytes: &[u8]) -> Output {
    fs::write(folder.join("m.onnx"), bytes).unwrap();
    fs::write(folder.join("out.onnx"), OLD).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_sapwood"));
    command.args(["opt", "m.onnx", "-o", "out.onnx"]).current_dir(folder);
    command.output().unwrap()
}

#[test]
fn bad_models_are_refused_and_the_output_stays() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("w.bin"), [0; 8]).unwrap();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("w.bin"), [0; 8]).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(outside.path().join("w.bin"), folder.path().join("link")).unwrap();
    let good = good();
    let mut lie = good.clone();
    // The length of the name of the node is the byte after its tag.
    let name = lie.windows(3).position(|w| w == [0x1a, 1, b'n']).unwrap();
    lie[name + 1] = 100;
    let cases: Vec<(&str, Vec<u8>, &[&str])> = vec![
        ("truncated", good[..good.len() - 3].to_vec(), &["byte ", "field `opset_import`"]),
        ("a false length", lie, &["byte ", "the length is 100 bytes"]),
        ("not a model", b"this is not a model".to_vec(), &["byte "]),
        (
            "a cycle",
            write(&model(vec![relu("a", "v", "y"), relu("b", "y", "v")])).unwrap(),
            &["node `a` (Relu) at byte ", "form a cycle"],
        ),
        (
            "a name that is defined twice",
            write(&model(vec![relu("a", "x", "y"), relu("b", "x", "y")])).unwrap(),
            &["node `b` (Relu) at byte ", "`y` is defined a second time"],
        ),
        (
            "a missing initializer",
            write(&model(vec![named("n", "Add", &["x", "w"], &["y"])])).unwrap(),
            &["node `n` (Add) at byte ", "`w` is not defined"],
        ),
        (
            "an attribute of another type",
            with_axis(AttributeValue::Float(1.0)),
            &["node `n` (Softmax) at byte ", "`axis` has type FLOAT; Softmax needs INT"],
        ),
        ("opset 0", with_opset(0), &["at byte ", "opset 0 of ai.onnx does not exist"]),
        ("opset 999", with_opset(999), &["at byte ", "opset 999 of ai.onnx is not known"]),
        ("deep subgraphs", deep(), &["byte ", "NodeProto `n9999`", "nested more than 100 deep"]),
        (
            "a path that leaves the folder",
            external("../w.bin", 0),
            &["initializer `w` at byte ", "`../w.bin` is not in the model's folder"],
        ),
        ("an absolute path", external("/etc/hostname", 0), &["not in the model's folder"]),
        #[cfg(unix)]
        ("a link", external("link", 0), &["initializer `w` at byte ", "is a link"]),
        (
            "an offset beyond the file",
            external("w.bin", 1 << 40),
            &["initializer `w` at byte ", "which has 8 bytes"],
        ),
        ("a missing file", external("none.bin", 0), &["initializer `w` at byte ", "`none.bin`"]),
    ];
    for (what, bytes, expected) in cases {
        let done = opt(folder.path(), &bytes);
        let message = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(2), "{what}: {message}");
        for part in expected {
            assert!(message.contains(part), "{what}: no `{part}` in: {message}");
        }
        assert_eq!(fs::read_to_string(folder.path().join("out.onnx")).unwrap(), OLD, "{what}");
        let files = fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(files, if cfg!(unix) { 4 } else { 3 }, "{what} left a file");
    }
}

#[test]
fn false_types_of_values_are_warnings() {
    let folder = tempfile::tempdir().unwrap();
    let mut model = model(vec![relu("a", "x", "v"), named("b", "Neg", &["v"], &["y"])]);
    let graph = model.graph.as_mut().unwrap();
    graph.value_info.push(info("v", &[7]));
    graph.output = vec![info("y", &[9])];
    let done = opt(folder.path(), &write(&model).unwrap());
    let message = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(0), "{message}");
    assert!(message.contains("`v` is declared f32[7], but is f32[2]"), "{message}");
    assert!(message.contains("output `y` is declared f32[9], but is f32[2]"), "{message}");
    assert!(fs::read(folder.path().join("out.onnx")).unwrap() != OLD.as_bytes());
}
