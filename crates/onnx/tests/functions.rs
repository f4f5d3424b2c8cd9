//! Functions of models, inlined before the model becomes a program.

use sapwood_onnx::{
    Attribute, AttributeValue, ElementType, ExternalData, Function, Graph, Model, ModelEdits, Node,
    OperatorSet, Text, Type, ValueInfo, read, registry, to_model, to_program, verify, write,
};
use sapwood_ptir::eval::{self, DataType, RunOptions, Tensor, Value};

fn node(op: &str, input: &[&str], output: &[&str], attribute: Vec<Attribute>) -> Node {
    Node { attribute, ..Node::new(op, input, output) }
}

fn call(function: &str, input: &[&str], output: &[&str], attribute: Vec<Attribute>) -> Node {
    Node { domain: Some("local".into()), ..node(function, input, output, attribute) }
}

fn reference(name: &str, to: &str) -> Attribute {
    Attribute {
        name: Some(name.into()),
        r#type: Some(1),
        ref_attr_name: Some(to.into()),
        ..Attribute::default()
    }
}

fn float(name: &str, x: f32) -> Attribute {
    Attribute::new(name, AttributeValue::Float(x))
}

fn function(name: &str, input: &[&str], output: &[&str], opset: i64, node: Vec<Node>) -> Function {
    let texts = |names: &[&str]| names.iter().map(|&name| Text::from(name)).collect();
    let set = |domain: &str, version| OperatorSet {
        domain: Some(domain.into()),
        version: Some(version),
        ..OperatorSet::default()
    };
    Function {
        name: Some(name.into()),
        domain: Some("local".into()),
        input: texts(input),
        output: texts(output),
        node,
        opset_import: vec![set("", opset), set("local", 1)],
        ..Function::default()
    }
}

fn info(name: &str, dims: &[i64]) -> ValueInfo {
    let dims = dims.iter().map(|&n| Some(sapwood_onnx::DimensionValue::Value(n)));
    ValueInfo::new(name, Type::tensor(Some(ElementType::Float.code()), dims))
}

/// `scaled(x, c) = (LeakyRelu(x, slope) + x, x)` and `twice(x) = scaled(scaled(x))`, with a branch that uses values around it.
fn with_functions(opset_of_twice: i64) -> Model {
    let branch = |op: &str| Graph {
        node: vec![node(op, &["sum"], &["chosen"], vec![])],
        output: vec![info("chosen", &[2])],
        ..Graph::default()
    };
    let graph =
        |name: &str, op: &str| Attribute::new(name, AttributeValue::Graph(branch(op).into()));
    let scaled = function(
        "scaled",
        &["x", "condition"],
        &["y", "x"],
        17,
        vec![
            node("LeakyRelu", &["x"], &["leaky"], vec![reference("alpha", "slope")]),
            node("Add", &["leaky", "x"], &["sum"], vec![]),
            node(
                "If",
                &["condition"],
                &["y"],
                vec![graph("then_branch", "Neg"), graph("else_branch", "Abs")],
            ),
        ],
    );
    let scaled = Function { attribute_proto: vec![float("slope", 0.5)], ..scaled };
    let twice = function(
        "twice",
        &["x", "c"],
        &["z"],
        opset_of_twice,
        vec![
            call("scaled", &["x", "c"], &["once", ""], vec![float("slope", 2.0)]),
            call("scaled", &["once", "c"], &["z"], vec![]),
        ],
    );
    let bool_info = ValueInfo::new("c", Type::tensor(Some(ElementType::Bool.code()), []));
    let graph = Graph {
        name: Some("main".into()),
        node: vec![
            call("twice", &["a", "c"], &["leaky"], vec![]),
            call("scaled", &["leaky", "c"], &["b", "same"], vec![]),
        ],
        input: vec![info("a", &[2]), bool_info],
        output: vec![info("b", &[2]), info("same", &[2])],
        ..Graph::default()
    };
    let mut model = Model::new(graph, 9, 17);
    model.opset_import.push(OperatorSet {
        domain: Some("local".into()),
        version: Some(1),
        ..OperatorSet::default()
    });
    model.functions = vec![scaled, twice];
    model
}

fn inlined(model: &Model) -> Model {
    let mut model = read(write(model).unwrap()).unwrap();
    let edits = ModelEdits { inline_functions: true, ..ModelEdits::default() };
    edits.apply(&mut model, &ExternalData::default()).unwrap();
    model
}

#[test]
fn calls_become_the_nodes_of_the_functions() {
    let model = inlined(&with_functions(17));
    assert!(model.functions.is_empty());
    // Three calls with three nodes and two branches each, and one result that is an input.
    assert_eq!(model.count_nodes(), 3 * 5 + 1);
    let module = to_program(model, ExternalData::default(), &registry()).unwrap();
    let run = |condition: bool| -> Vec<Vec<f32>> {
        let x = Tensor::new(DataType::F32, [2], vec![1.0f32, -1.0]);
        let inputs = [Value::from(x), Value::from(Tensor::scalar(condition))];
        let results = eval::run(&module.program, "main", &inputs, &RunOptions::default()).unwrap();
        results.iter().map(|v| v.as_tensor().unwrap().elements::<f32>().unwrap().to_vec()).collect()
    };
    // x, then |leaky(x, 2) + x|, then twice |leaky(x, 0.5) + x|.
    assert_eq!(run(false), [vec![8.0, 12.0], vec![4.0, 6.0]]);
    // The sums negated: [-2, 3], [3, -6] and the result.
    assert_eq!(run(true), [vec![-6.0, 9.0], vec![3.0, -6.0]]);
    to_model(&module.program, Some(&module.source), None).unwrap();
}

#[test]
fn without_inlining_functions_are_written_as_they_were() {
    let model = with_functions(17);
    let bytes = write(&model).unwrap();
    let module =
        to_program(read(bytes.clone()).unwrap(), ExternalData::default(), &registry()).unwrap();
    let back = to_model(&module.program, Some(&module.source), None).unwrap();
    assert_eq!(write(&back).unwrap(), bytes);
}

#[test]
fn functions_of_other_opsets_are_inlined_if_their_ops_are_the_same() {
    // `twice` has calls only, and the ops of `scaled` changed in their types only since opset 13.
    assert!(inlined(&with_functions(13)).functions.is_empty());
    let mut model = with_functions(17);
    model.functions[0].opset_import[0].version = Some(13);
    assert!(inlined(&model).functions.is_empty());
    // `Add` broadcasts since opset 7.
    model.functions[0].opset_import[0].version = Some(6);
    let kept = inlined(&model);
    assert_eq!(kept.functions.len(), 2);
}

#[test]
fn functions_that_would_be_too_large_stay() {
    let mut model = with_functions(17);
    let double = |i: usize| {
        let inner = match i {
            0 => node("Relu", &["x"], &["h"], vec![]),
            _ => call(&format!("f{}", i - 1), &["x"], &["h"], vec![]),
        };
        let outer = Node { input: vec!["h".into()], output: vec!["y".into()], ..inner.clone() };
        function(&format!("f{i}"), &["x"], &["y"], 17, vec![inner, outer])
    };
    model.functions.extend((0..40).map(double));
    if let Some(graph) = model.graph.as_mut() {
        graph.node.push(call("f39", &["a"], &["unused"], vec![]));
    }
    let kept = inlined(&model);
    assert_eq!(kept.functions.len(), 42);
}

#[test]
fn many_calls_may_have_one_name() {
    // A search for a free name that starts anew for each call would not finish.
    const CALLS: usize = 60_000;
    let mut model = with_functions(17);
    let body = vec![node("Add", &["x", "x"], &["t"], vec![]), node("Neg", &["t"], &["y"], vec![])];
    model.functions = vec![function("negated", &["x"], &["y"], 17, body)];
    let name = |i: usize| if i == 0 { "a".to_owned() } else { format!("v{i}") };
    let calls = (0..CALLS).map(|i| Node {
        name: Some("same".into()),
        ..call("negated", &[&name(i)], &[&name(i + 1)], vec![])
    });
    let graph = Graph {
        name: Some("main".into()),
        node: calls.collect(),
        input: vec![info("a", &[2])],
        output: vec![info(&name(CALLS), &[2])],
        ..Graph::default()
    };
    model.graph = Some(graph.into());
    let model = inlined(&model);
    assert!(model.functions.is_empty());
    assert!(verify(&model).is_empty(), "{}", verify(&model));
    assert_eq!(model.graph.unwrap().node.len(), 2 * CALLS);
}
