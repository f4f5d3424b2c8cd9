//! Models that are read and written are the same bytes, or the same fields.

use crate::common;
use crate::common::{cat, float, graph, int, long, model, node, varint};
use sapwood_onnx::{
    Attribute, AttributeValue, Dimension, DimensionValue, ElementType, Graph, Model, Node,
    NumberList, StringEntry, Tensor, TensorData, read, write,
};

#[track_caller]
fn same(bytes: &[u8]) -> Model {
    let read = read(bytes).unwrap();
    assert_eq!(write(&read).unwrap(), bytes);
    read
}

#[test]
fn a_model_in_the_usual_encoding_is_byte_equal() {
    let pads = cat(&[long(1, "pads"), int(8, 1), int(8, -1), int(20, 7)]);
    let alpha = cat(&[long(1, "alpha"), float(2, 0.5), int(20, 1)]);
    let weights = cat(&[int(1, 2), int(2, 1), long(4, [0; 8]), long(8, "w")]);
    let conv = node("n", "Conv", &["x", "", "w"], &["y"], &[pads, alpha]);
    let graph = cat(&[
        long(1, conv),
        long(2, "g"),
        long(5, weights),
        long(11, common::value("x")),
        long(12, common::value("y")),
    ]);
    let read = same(&model(graph));
    let node = &read.graph.as_ref().unwrap().node[0];
    assert_eq!(node.input, ["x", "", "w"]);
    assert_eq!(node.attribute("pads").unwrap().value, Some(AttributeValue::Ints(vec![1, -1])));
    let weights = &read.graph.as_ref().unwrap().initializer[0];
    assert_eq!(weights.element_type(), Some(ElementType::Float));
    assert_eq!(weights.inline_bytes().unwrap().len(), 8);
}

#[test]
fn unknown_fields_stay_where_they_are() {
    let group = cat(&[varint(60 << 3 | 3), int(1, 5), varint(60 << 3 | 4)]);
    let bytes = cat(&[
        long(50, "unknown"),
        float(51, 1.0),
        int(1, 10),
        group.clone(),
        long(
            7,
            cat(&[
                long(2, "g"),
                long(99, "inside"),
                long(1, node("n", "Relu", &["x"], &["y"], &[])),
            ]),
        ),
        int(600, 7),
    ]);
    let read = same(&bytes);
    let unknown = read.wire.unknown_fields();
    assert_eq!(unknown.len(), 3, "neighbours are one entry");
    assert_eq!(*unknown[1], *group);
    assert_eq!(read.graph.unwrap().wire.unknown_fields().len(), 1);
}

#[test]
fn the_order_of_fields_is_kept_and_new_ones_come_last() {
    let nodes = [node("a", "Relu", &["x"], &["y"], &[]), node("b", "Abs", &["y"], &["z"], &[])];
    let mixed = cat(&[long(2, "g"), long(1, &nodes[0]), long(10, "doc"), long(1, &nodes[1])]);
    let bytes = cat(&[long(7, mixed), int(1, 10)]);
    let mut model = same(&bytes);
    let graph = model.graph.as_mut().unwrap();
    graph.node.push(Node { op_type: Some("Neg".into()), ..Node::default() });
    graph.doc_string = None;
    let back = read(write(&model).unwrap()).unwrap();
    assert_eq!(back, model);
    assert_eq!(back.graph.unwrap().node[2].op_type.as_ref().unwrap(), &"Neg");
}

#[test]
fn packed_and_plain_lists_are_kept() {
    // Attributes have plain lists by default, tensors packed ones; both may be the other way.
    let ints = cat(&[long(1, "axes"), long(8, [1, 2, 3]), int(20, 7)]);
    let none = cat(&[long(1, "none"), long(8, []), int(20, 7)]);
    let plain = cat(&[int(1, 2), int(2, 1), float(4, 1.0), float(4, f32::NAN), long(8, "w")]);
    let dims = cat(&[long(1, [2, 1]), int(2, 7), long(7, [0x80, 0x00, 5]), long(8, "v")]);
    let graph = cat(&[
        long(1, node("n", "ReduceSum", &["x"], &["y"], &[ints, none])),
        long(5, plain),
        long(5, dims),
    ]);
    let model = same(&model(graph));
    let graph = model.graph.as_ref().unwrap();
    assert_eq!(graph.node[0].attribute[0].value, Some(AttributeValue::Ints(vec![1, 2, 3])));
    assert_eq!(graph.node[0].attribute[1].value, Some(AttributeValue::Ints(vec![])));
    assert_eq!(graph.initializer[1].dims, [2, 1]);
    // A number in more bytes than it needs, kept because packed data is not decoded.
    let Some(TensorData::Int64s(numbers)) = &graph.initializer[1].data else { panic!() };
    assert_eq!((numbers.to_vec(), numbers.count()), (vec![0, 5], 2));
}

#[test]
fn parts_of_a_message_are_joined_and_the_last_scalar_counts() {
    let first = cat(&[long(2, "old"), long(1, node("a", "Relu", &["x"], &["y"], &[]))]);
    let second = cat(&[long(1, node("b", "Abs", &["y"], &["z"], &[])), long(2, "new"), int(77, 1)]);
    let model = read(cat(&[long(7, first), int(1, 3), int(1, 10), long(7, second)])).unwrap();
    let graph = model.graph.as_ref().unwrap();
    assert_eq!((model.ir_version, graph.name.as_ref().unwrap().as_str()), (Some(10), Some("new")));
    assert_eq!(graph.node.len(), 2);
    let back = read(write(&model).unwrap()).unwrap();
    assert_eq!(back, model);
    assert_eq!(back.graph.unwrap().wire.unknown_fields().len(), 1);
}

#[test]
fn a_field_with_another_wire_type_is_an_unknown_field() {
    let bytes = cat(&[long(1, "ten"), int(7, 3), long(2, "producer")]);
    let model = same(&bytes);
    assert_eq!((model.ir_version, model.graph.is_none()), (None, true));
    assert_eq!(model.producer_name.unwrap(), "producer");
}

#[test]
fn of_several_values_of_an_attribute_the_first_is_read_and_all_are_kept() {
    let both = cat(&[long(1, "a"), int(3, 7), long(4, "seven"), int(20, 2)]);
    let model = same(&model(graph(&[node("n", "Op", &[], &["y"], &[both])], &[], &["y"])));
    let attribute = &model.graph.as_ref().unwrap().node[0].attribute[0];
    assert_eq!(attribute.value, Some(AttributeValue::Int(7)));
    let problems = sapwood_onnx::verify(&model).to_string();
    assert!(problems.contains("attribute `a` has values of several types"), "{problems}");
}

#[test]
fn strings_that_are_not_utf8_are_kept() {
    let bytes = cat(&[int(1, 10), long(6, [0xc4, 0xe3, 0xff])]);
    let model = same(&bytes);
    assert_eq!(model.doc_string.as_ref().unwrap().as_str(), None);
}

#[test]
fn elements_in_every_form_are_little_endian_bytes() {
    use ElementType as E;
    let tensor = |element_type: E, dims: i64, data| Tensor {
        dims: vec![dims],
        data_type: Some(element_type.code()),
        data: Some(data),
        ..Tensor::default()
    };
    let int32 = |numbers: &[i32]| TensorData::Int32s(numbers.to_vec().into());
    let cases = [
        (tensor(E::Float, 1, TensorData::Floats(vec![1.0].into())), vec![0, 0, 0x80, 0x3f]),
        (
            tensor(E::Int64, 1, TensorData::Int64s(vec![-2].into())),
            [vec![0xfe], vec![0xff; 7]].concat(),
        ),
        (tensor(E::Uint32, 1, TensorData::Uint64s(vec![3].into())), vec![3, 0, 0, 0]),
        (tensor(E::Double, 1, TensorData::Doubles(vec![0.0].into())), vec![0; 8]),
        (tensor(E::Int8, 2, int32(&[-1, 2])), vec![0xff, 2]),
        (tensor(E::Float16, 1, int32(&[0x3c00])), vec![0, 0x3c]),
        (tensor(E::Bool, 2, int32(&[1, 0])), vec![1, 0]),
        (tensor(E::Float8E8M0, 1, int32(&[0x7f])), vec![0x7f]),
        (tensor(E::Int4, 3, int32(&[0x21, 0x03])), vec![0x21, 0x03]),
        (tensor(E::Uint2, 5, int32(&[0b11_10_01_00, 1])), vec![0b11_10_01_00, 1]),
        // 1, 2, 3, 4 in six bits each, the first in the lowest bits.
        (tensor(E::Float6E2M3, 4, int32(&[1, 2, 3, 4])), vec![0x81, 0x30, 0x10]),
        (tensor(E::Float4E2M1, 2, TensorData::Raw(vec![0x21].into())), vec![0x21]),
    ];
    for (tensor, expected) in cases {
        let bytes = sapwood_onnx::ExternalData::default().bytes_of(&tensor).unwrap();
        assert_eq!(*bytes, *expected, "{tensor:?}");
    }
    let wrong = tensor(E::Int64, 1, TensorData::Floats(vec![1.0].into()));
    assert!(wrong.inline_bytes().is_none());
}

#[test]
fn weights_are_not_copied() {
    let weights = cat(&[int(1, 1000), int(2, 1), long(4, [1; 4000]), long(8, "a")]);
    let raw = cat(&[int(1, 1000), int(2, 1), long(8, "b"), long(9, [2; 4000])]);
    let bytes = sapwood_onnx::Bytes::from(model(cat(&[long(5, weights), long(5, raw)])));
    let model = read(bytes.clone()).unwrap();
    for tensor in &model.graph.as_ref().unwrap().initializer {
        assert!(tensor.inline_bytes().unwrap().shares_memory_with(&bytes));
    }
    assert!(
        model.clone().graph.unwrap().initializer[1]
            .inline_bytes()
            .unwrap()
            .shares_memory_with(&bytes)
    );
}

#[test]
fn offsets_are_those_of_the_file() {
    let first = node("first", "Relu", &["x"], &["y"], &[]);
    let bytes =
        model(graph(&[first.clone(), node("second", "Abs", &["y"], &["z"], &[])], &["x"], &["z"]));
    let model = read(bytes.clone()).unwrap();
    let offset = |name: &str| {
        let nodes = &model.graph.as_ref().unwrap().node;
        let node = nodes.iter().find(|node| *node.name.as_ref().unwrap() == name).unwrap();
        node.wire.offset().unwrap() as usize
    };
    assert_eq!(&bytes[offset("first")..][..first.len()], first);
    assert!(offset("second") > offset("first"));
    assert_eq!(Graph::default().wire.offset(), None);
}

#[test]
fn every_kind_of_message_built_by_a_program_is_read_back() {
    let tensor = Tensor::from_raw("t", ElementType::Uint8, vec![3], vec![1, 2, 3].into());
    let sparse = sapwood_onnx::SparseTensor {
        values: Some(tensor.clone().into()),
        indices: Some(tensor.clone().into()),
        dims: vec![9],
        ..Default::default()
    };
    let dim = Dimension { value: Some(DimensionValue::Param("N".into())), ..Default::default() };
    let shape = sapwood_onnx::Shape { dim: vec![dim], ..Default::default() };
    let tensor_type =
        sapwood_onnx::TensorType { elem_type: Some(1), shape: Some(shape), ..Default::default() };
    let value = sapwood_onnx::TypeValue::Tensor(tensor_type);
    let r#type = sapwood_onnx::Type { value: Some(value), ..Default::default() };
    let sequence =
        sapwood_onnx::SequenceType { elem_type: Some(r#type.clone().into()), ..Default::default() };
    let sequence = sapwood_onnx::Type {
        value: Some(sapwood_onnx::TypeValue::Sequence(sequence)),
        ..Default::default()
    };
    let info = sapwood_onnx::ValueInfo {
        name: Some("v".into()),
        r#type: Some(sequence.clone().into()),
        ..Default::default()
    };
    let values = vec![
        AttributeValue::Float(1.5),
        AttributeValue::Int(-1),
        AttributeValue::String(b"s"[..].into()),
        AttributeValue::Tensor(tensor.clone().into()),
        AttributeValue::Graph(Graph { name: Some("inner".into()), ..Graph::default() }.into()),
        AttributeValue::Floats(vec![1.0, 2.0]),
        AttributeValue::Ints(vec![1, i64::MIN]),
        AttributeValue::Strings(vec![b""[..].into()]),
        AttributeValue::Tensors(vec![tensor.clone()]),
        AttributeValue::Graphs(vec![Graph::default().into()]),
        AttributeValue::SparseTensor(sparse.clone().into()),
        AttributeValue::SparseTensors(vec![sparse.clone()]),
        AttributeValue::Type(r#type.into()),
        AttributeValue::Types(vec![sequence]),
    ];
    let attribute = values.into_iter().map(|value| Attribute::new("a", value)).collect();
    let node =
        Node { attribute, metadata_props: vec![StringEntry::new("k", "v")], ..Node::default() };
    let function = sapwood_onnx::Function { node: vec![node.clone()], ..Default::default() };
    let typed =
        Tensor { data: Some(TensorData::Uint64s(NumberList::Plain(vec![7, 8]))), ..tensor.clone() };
    let graph = Graph {
        node: vec![node],
        initializer: vec![tensor, typed],
        sparse_initializer: vec![sparse],
        value_info: vec![info],
        ..Graph::default()
    };
    let model = Model { graph: Some(graph.into()), functions: vec![function], ..Model::default() };
    let bytes = write(&model).unwrap();
    assert_eq!(same(&bytes), model);
}
