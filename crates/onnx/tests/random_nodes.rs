//! Nodes with random attributes and operands: no definition of an op panics or exceeds the limits of a run.

use proptest::prelude::*;
use sapwood_onnx::{
    Attribute, AttributeType, AttributeValue, Bytes, DimensionValue, ElementType, ExternalData,
    Graph, LowerLevel, Model, Nested, Node, OperatorSet, Tensor, Type, ValueInfo, lower_function,
    ops, registry, to_program,
};
use sapwood_ptir::Program;
use sapwood_ptir::eval::{self, RunOptions, Value};

use crate::common::Choices;

const WORDS: &[&str] = &[
    "",
    "NOTSET",
    "SAME_UPPER",
    "SAME_LOWER",
    "VALID",
    "constant",
    "reflect",
    "edge",
    "wrap",
    "nearest",
    "linear",
    "bilinear",
    "cubic",
    "bicubic",
    "asymmetric",
    "align_corners",
    "half_pixel",
    "half_pixel_symmetric",
    "tf_crop_and_resize",
    "floor",
    "ceil",
    "round_prefer_ceil",
    "not_larger",
    "not_smaller",
    "zeros",
    "border",
    "reflection",
    "add",
    "mul",
    "max",
    "min",
    "none",
    "sum",
    "mean",
    "DCR",
    "CRD",
    "LEFT",
    "RIGHT",
    "L1",
    "L2",
    "MAX",
    "NONE",
    "SOFTMAX",
    "tanh",
    "forward",
    "reverse",
    "bidirectional",
    "Tanh",
    "Relu",
    "Sigmoid",
    "circular",
    "silu",
    "delta",
    "gated",
    "gated_delta",
    "avg",
    "output_half_pixel",
    "ij,jk->ik",
    "...ii->...i",
    "i,j",
    "->",
    "a,b,c->cab",
];

const ELEMENTS: &[ElementType] = &[
    ElementType::Float,
    ElementType::Float,
    ElementType::Int64,
    ElementType::Int64,
    ElementType::Bool,
    ElementType::Int8,
    ElementType::Uint8,
    ElementType::Int32,
    ElementType::Double,
    ElementType::Float16,
    ElementType::Bfloat16,
];

const EXTREMES: &[i64] = &[i64::MAX, i64::MIN, 1 << 33, -(1 << 40), 1 << 62, i32::MAX as i64];

fn number(choices: &mut Choices<'_>) -> i64 {
    match choices.below(12) {
        0 => -1,
        1 => -2,
        2 => -(choices.below(9) as i64),
        3 => choices.below(20) as i64,
        4 => EXTREMES[choices.below(EXTREMES.len())],
        5 => 0,
        6..=8 => 1,
        n => n as i64 - 7,
    }
}

fn float(choices: &mut Choices<'_>) -> f32 {
    [0.0, 1.0, 0.5, -1.0, 2.0, 1e-5, 1e30, f32::NAN, f32::INFINITY, -0.25][choices.below(10)]
}

fn word(choices: &mut Choices<'_>) -> Bytes {
    Bytes::from(WORDS[choices.below(WORDS.len())].as_bytes())
}

fn tensor(name: &str, choices: &mut Choices<'_>) -> Tensor {
    let element = ELEMENTS[choices.below(ELEMENTS.len())];
    let dims = extents(choices);
    let count: i64 = dims.iter().product();
    let bytes: Vec<u8> = (0..count)
        .flat_map(|_| match element {
            ElementType::Float => float(choices).to_le_bytes().to_vec(),
            ElementType::Double => f64::from(float(choices)).to_le_bytes().to_vec(),
            ElementType::Int64 => number(choices).to_le_bytes().to_vec(),
            ElementType::Int32 => (number(choices) as i32).to_le_bytes().to_vec(),
            ElementType::Bool => vec![(choices.below(2)) as u8],
            ElementType::Float16 | ElementType::Bfloat16 => {
                (choices.number() as i16).to_le_bytes().to_vec()
            }
            _ => vec![number(choices) as u8],
        })
        .collect();
    Tensor::from_raw(name, element, dims, bytes.into())
}

fn extents(choices: &mut Choices<'_>) -> Vec<i64> {
    let rank = [4, 3, 2, 1, 0, 4, 2, 5][choices.below(8)];
    (0..rank).map(|_| [2, 1, 3, 2, 4, 0, 2, 1][choices.below(8)]).collect()
}

fn attribute(name: &str, ty: AttributeType, choices: &mut Choices<'_>) -> Option<Attribute> {
    let count = choices.below(6);
    let value = match ty {
        AttributeType::Int => AttributeValue::Int(number(choices)),
        AttributeType::Float => AttributeValue::Float(float(choices)),
        AttributeType::String => AttributeValue::String(word(choices)),
        AttributeType::Ints => AttributeValue::Ints((0..count).map(|_| number(choices)).collect()),
        AttributeType::Floats => {
            AttributeValue::Floats((0..count).map(|_| float(choices)).collect())
        }
        AttributeType::Strings => {
            AttributeValue::Strings((0..count).map(|_| word(choices)).collect())
        }
        AttributeType::Tensor => AttributeValue::Tensor(Nested::new(tensor("", choices))),
        _ => return None,
    };
    Some(Attribute::new(name, value))
}

fn info(name: &str, tensor: &Tensor, is_open: bool) -> ValueInfo {
    let dim = |(axis, &n): (usize, &i64)| match is_open {
        true => DimensionValue::Param(format!("{name}{axis}").as_str().into()),
        false => DimensionValue::Value(n),
    };
    let dims = tensor.dims.iter().enumerate().map(|at| Some(dim(at)));
    ValueInfo::new(name, Type::tensor(tensor.data_type, dims))
}

/// A model with one node, and its inputs.
fn one_node(bytes: &[u8], row: usize) -> (Model, Vec<Tensor>) {
    let all = ops::all_schemas();
    let schema = all[row % all.len()];
    let choices = &mut Choices(bytes);
    let (min, max) = schema.input_count();
    let count = min + choices.below(max.min(min + 4) - min + 1);
    let (mut graph, mut inputs) =
        (Graph { name: Some("g".into()), ..Graph::default() }, Vec::new());
    let mut node = Node {
        op_type: Some(schema.name.into()),
        domain: Some(schema.domain.into()),
        ..Node::default()
    };
    // Operands often have the same type as the first one.
    let mut first: Option<Tensor> = None;
    for i in 0..count {
        let name = format!("x{i}");
        let mut value = match &first {
            Some(first) if choices.below(3) == 0 => {
                Tensor { name: Some(name.as_str().into()), ..first.clone() }
            }
            _ => tensor(&name, choices),
        };
        value.name = Some(name.as_str().into());
        first.get_or_insert_with(|| value.clone());
        match choices.below(4) {
            _ if i >= min && choices.below(4) == 0 => {
                node.input.push("".into());
                continue;
            }
            0 | 1 => graph.initializer.push(value),
            kind => {
                graph.input.push(info(&name, &value, kind == 3));
                inputs.push(value);
            }
        }
        node.input.push(name.as_str().into());
    }
    for row in &schema.attributes {
        if choices.below(8) < if row.is_required { 7 } else { 4 } {
            node.attribute.extend(attribute(row.name, row.r#type, choices));
        }
    }
    let (least, most) = schema.output_count();
    let outputs =
        least.max(1) + choices.below(most.min(least.max(1) + 3).saturating_sub(least.max(1)) + 1);
    (with_outputs(schema, graph, node, outputs), inputs)
}

/// A model with the graph and its only node.
fn with_outputs(schema: &ops::OpSchema, mut graph: Graph, mut node: Node, outputs: usize) -> Model {
    for i in 0..outputs {
        let name = format!("y{i}");
        node.output.push(name.as_str().into());
        graph.output.push(ValueInfo { name: Some(name.as_str().into()), ..ValueInfo::default() });
    }
    graph.node.push(node);
    let set = OperatorSet {
        domain: Some(schema.domain.into()),
        version: Some(schema.versions[0]),
        ..OperatorSet::default()
    };
    Model {
        ir_version: Some(10),
        opset_import: vec![set],
        graph: Some(graph.into()),
        ..Model::default()
    }
}

fn value(tensor: &Tensor) -> Option<Value> {
    let dtype = match ElementType::from_code(tensor.data_type?)? {
        ElementType::Float => eval::DataType::F32,
        ElementType::Double => eval::DataType::F64,
        ElementType::Int64 => eval::DataType::I64,
        ElementType::Int32 => eval::DataType::I32,
        ElementType::Int8 => eval::DataType::I8,
        ElementType::Uint8 => eval::DataType::U8,
        ElementType::Bool => eval::DataType::Bool,
        ElementType::Float16 => eval::DataType::F16,
        _ => eval::DataType::Bf16,
    };
    let shape: Vec<u64> = tensor.dims.iter().map(|&n| n as u64).collect();
    let literal = sapwood_ptir::TensorLiteral::new(dtype, &shape, &tensor.inline_bytes()?).ok()?;
    Value::try_from(&literal).ok()
}

// Runs a program; the values, or none if it is refused.
fn run(program: &Program, inputs: &[Value]) -> Option<Vec<Value>> {
    let options =
        RunOptions { max_steps: Some(20_000), max_bytes: 1 << 22, ..RunOptions::default() };
    eval::run(program, "main", inputs, &options).ok()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: sapwood_testing::cases(3_000, 200_000),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_random_node_is_computed_or_refused(
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
        row in any::<usize>(),
    ) {
        check(&bytes, row);
    }
}

/// Every op with the same extreme number as each constant operand, and with integers of attributes that are extreme,
/// zero or absent.
#[test]
fn every_op_takes_or_refuses_extreme_numbers() {
    for schema in ops::all_schemas() {
        for &extreme in EXTREMES {
            for dims in [vec![], vec![1], vec![2]] {
                for number in [None, Some(0), Some(extreme)] {
                    check_model(extreme_node(schema, extreme, &dims, number), &[]);
                }
            }
        }
    }
}

/// A model with one node whose operands are constants filled with one number.
fn extreme_node(schema: &ops::OpSchema, extreme: i64, dims: &[i64], number: Option<i64>) -> Model {
    let mut graph = Graph { name: Some("g".into()), ..Graph::default() };
    let mut node = Node {
        op_type: Some(schema.name.into()),
        domain: Some(schema.domain.into()),
        ..Node::default()
    };
    let (min, max) = schema.input_count();
    for i in 0..max.min(min + 2) {
        let name = format!("x{i}");
        let count = dims.iter().product::<i64>() as usize;
        let bytes = extreme.to_le_bytes().repeat(count);
        graph.initializer.push(Tensor::from_raw(
            name.as_str(),
            ElementType::Int64,
            dims.to_vec(),
            bytes.into(),
        ));
        node.input.push(name.as_str().into());
    }
    for row in &schema.attributes {
        let value = match (row.r#type, number) {
            (AttributeType::Int, Some(number)) => AttributeValue::Int(number),
            (AttributeType::Ints, Some(number)) => AttributeValue::Ints(vec![number, number]),
            _ => continue,
        };
        node.attribute.push(Attribute::new(row.name, value));
    }
    with_outputs(schema, graph, node, schema.output_count().0.max(1))
}

fn check(bytes: &[u8], row: usize) {
    let (model, inputs) = one_node(bytes, row);
    check_model(model, &inputs);
}

fn check_model(model: Model, inputs: &[Tensor]) {
    let Ok(module) = to_program(model, ExternalData::default(), &registry()) else { return };
    let Some(inputs) = inputs.iter().map(value).collect::<Option<Vec<Value>>>() else { return };
    sapwood_ptir::verify(&module.program).unwrap_or_else(|e| panic!("{e}\n{}", module.program));
    run(&module.program, &inputs);
    // Any node has a cost, or is not counted.
    assert!(!sapwood_ptir::cost::of_program(&module.program).is_empty());
    let mut lowered = module.program.clone();
    for f in lowered.functions_mut() {
        lower_function(f, LowerLevel::All);
    }
    sapwood_ptir::verify(&lowered).unwrap_or_else(|e| panic!("{e}\n{lowered}"));
    run(&lowered, &inputs);
}
