//! Broken and malicious files are refused with the offset of the error.

use crate::common::{cat, graph, int, long, model, node, varint};
use sapwood_onnx::{
    Attribute, AttributeValue, EncodeError, Graph, Model, Node, read, verify, write,
};
use sapwood_testing::on_small_stack;

#[track_caller]
fn refused(bytes: &[u8]) -> String {
    read(bytes).unwrap_err().to_string()
}

#[test]
fn wrong_lengths_are_refused() {
    let name = cat(&[long(3, "conv1"), varint(4 << 3 | 2), varint(1 << 40), vec![0x41]]);
    let bytes = model(graph(&[name], &[], &[]));
    let error = read(bytes.as_slice()).unwrap_err();
    assert_eq!(bytes[error.offset() as usize..][..6], varint(1 << 40));
    assert_eq!(
        error.to_string(),
        "byte 14: field `op_type` of NodeProto `conv1`, in field `node` of GraphProto, in field `graph` of ModelProto: \
         the length is 1099511627776 bytes, but 1 byte is left"
    );
    // Inside of a message that is whole.
    let inner = cat(&[varint(1 << 3 | 2), varint(50)]);
    assert!(
        refused(&cat(&[long(7, inner), vec![0; 100]]))
            .contains("the length is 50 bytes, but 0 bytes are left")
    );
}

#[test]
fn broken_numbers_and_tags() {
    for (bytes, problem) in [
        (vec![0x08], "ends inside a number"),
        (vec![0x08, 0xff], "ends inside a number"),
        ([vec![0x08], vec![0xff; 10], vec![1]].concat(), "more than ten bytes"),
        (vec![0x00, 0x01], "0 is not a field number"),
        (varint(1 << 32 << 3), "is not a field number"),
        (vec![0x0e], "6 is not a wire type"),
        (vec![0x0d, 1, 2], "a value of 4 bytes is needed, but 2 bytes are left"),
        (varint(9 << 3 | 4), "group 9 ends here, but does not begin before"),
        (varint(9 << 3 | 3), "the message ends inside a group"),
        (cat(&[varint(9 << 3 | 3), varint(8 << 3 | 4)]), "group 8 ends here"),
        (long(7, long(5, long(4, [0; 7]))), "7 bytes, which is not a multiple of the 4 bytes"),
        (long(7, long(5, long(7, [0x80]))), "the packed list ends inside a number"),
        (b"hello, this is a text file".to_vec(), "byte "),
    ] {
        let error = refused(&bytes);
        assert!(error.contains(problem), "{error} for {bytes:?}");
    }
    assert_eq!(read(Vec::new()).unwrap(), Model::default());
}

#[test]
fn subgraphs_ten_thousand_deep_are_refused() {
    // Built from the inside out: the bytes around a graph precede it, so that one buffer can be reversed.
    let mut reversed: Vec<u8> = graph(&[], &[], &[]).into_iter().rev().collect();
    for level in 1..10_000 {
        let length = reversed.len() as u64;
        let body = cat(&[long(1, "body"), int(20, 5), varint(6 << 3 | 2), varint(length)]);
        let length = length + body.len() as u64;
        let name = long(3, format!("n{level}"));
        let node = cat(&[name, varint(5 << 3 | 2), varint(length), body]);
        let length = length + (node.len() as u64 - (length - reversed.len() as u64));
        let field = cat(&[varint(1 << 3 | 2), varint(length), node]);
        reversed.extend(field.into_iter().rev());
    }
    let inner: Vec<u8> = reversed.into_iter().rev().collect();
    let error = on_small_stack(|| refused(&model(inner)));
    assert!(error.contains("messages are nested more than 100 deep"), "{error}");
    assert!(error.contains("NodeProto `n9999`"), "{error}");
    let groups = [varint(9 << 3 | 3).repeat(10_000), varint(9 << 3 | 4).repeat(10_000)].concat();
    assert!(refused(&groups).contains("groups are nested more than 100 deep"));
}

/// A graph in a graph, this many times.
fn nested(levels: usize) -> Model {
    let mut graph = Graph::default();
    for level in 0..levels {
        let body = Attribute::new("body", AttributeValue::Graph(graph.into()));
        let node = Node {
            name: Some(format!("n{level}").into()),
            op_type: Some("Loop".into()),
            attribute: vec![body],
            ..Node::default()
        };
        graph = Graph { node: vec![node], ..Graph::default() };
    }
    Model { graph: Some(graph.into()), ..Model::default() }
}

#[test]
fn a_program_may_nest_graphs_to_any_depth() {
    on_small_stack(|| {
        let model = nested(100_000);
        assert!(matches!(write(&model), Err(EncodeError::TooDeep { .. })));
        assert_eq!(model.clone(), model);
        assert!(verify(&model).has_errors());
    });
}

#[test]
fn the_deepest_nesting_is_the_same_in_both_directions() {
    // A level is a graph, a node and an attribute; the outermost graph is one more.
    let deepest = write(&nested(33)).unwrap();
    assert_eq!(write(&read(deepest.clone()).unwrap()).unwrap(), deepest);
    let error = write(&nested(34)).unwrap_err().to_string();
    assert!(
        error.starts_with("messages are nested more than 100 deep, in NodeProto `n0`"),
        "{error}"
    );
}

#[test]
fn every_truncation_is_an_error_or_a_model() {
    let loop_ = cat(&[long(1, "body"), long(6, graph(&[], &["i"], &["i"])), int(20, 5)]);
    let nodes = [node("n", "Loop", &["x"], &["y"], &[loop_])];
    let bytes = model(graph(&nodes, &["x"], &["y"]));
    for end in 0..bytes.len() {
        if let Ok(model) = read(&bytes[..end]) {
            assert_eq!(write(&model).unwrap(), bytes[..end], "{end}");
            let _ = verify(&model);
        }
    }
}
