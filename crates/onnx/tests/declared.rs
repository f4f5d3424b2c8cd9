//! Tests that types follow from the nodes of a model, whatever it declares about its values.

use sapwood_onnx::{
    Attribute, AttributeValue, DimensionValue, ElementType, ExternalData, Graph, LowerLevel, Model,
    ModelEdits, Node, OnnxModule, Tensor, Type, TypeValue, ValueInfo, lower_function, read,
    registry, to_model, to_program, write,
};
use sapwood_ptir::eval::{self, DataType, RunOptions, Value};

fn node(op: &str, input: &[&str], output: &[&str], attribute: Vec<Attribute>) -> Node {
    Node { attribute, ..Node::new(op, input, output) }
}

/// A value with extents that are numbers or, below zero, symbols of their own.
fn info(name: &str, element: ElementType, dims: &[i64]) -> ValueInfo {
    let dim = |(i, &n): (usize, &i64)| match n {
        n if n < 0 => DimensionValue::Param(format!("n{i}").into()),
        n => DimensionValue::Value(n),
    };
    let dims = dims.iter().enumerate().map(|d| Some(dim(d)));
    ValueInfo::new(name, Type::tensor(Some(element.code()), dims))
}

fn open(graph: Graph) -> OnnxModule {
    open_version(graph, 17)
}

fn open_version(graph: Graph, opset: i64) -> OnnxModule {
    let model = Model::new(graph, 9, opset);
    let model = read(write(&model).unwrap()).unwrap();
    to_program(model, ExternalData::default(), &registry()).unwrap_or_else(|e| panic!("{e}"))
}

fn run(module: &OnnxModule, args: &[Value]) -> Vec<Value> {
    let results = eval::run(&module.program, "main", args, &RunOptions::default());
    results.unwrap_or_else(|e| panic!("{e}\n{}", module.program))
}

fn ramp(shape: &[usize]) -> Value {
    let count = shape.iter().product::<usize>();
    let numbers: Vec<f32> = (0..count).map(|i| i as f32).collect();
    eval::Tensor::new(DataType::F32, shape, numbers).into()
}

fn number(x: i64) -> Value {
    eval::Tensor::scalar(x).into()
}

const FLOAT: ElementType = ElementType::Float;

#[test]
fn a_false_rank_does_not_change_a_result() {
    // All axes are squeezed that have an extent of one, here none; the model says that one of three disappears.
    let module = open(Graph {
        input: vec![info("x", FLOAT, &[-1, -1, -1])],
        node: vec![
            node("Squeeze", &["x"], &["s"], vec![]),
            node(
                "ReduceSum",
                &["s"],
                &["y"],
                vec![Attribute::new("keepdims", AttributeValue::Int(0))],
            ),
        ],
        value_info: vec![info("s", FLOAT, &[-1, -1])],
        output: vec![info("y", FLOAT, &[])],
        ..Graph::default()
    });
    let mut lowered = module.clone();
    for f in lowered.program.functions_mut() {
        lower_function(f, LowerLevel::All);
    }
    let raised = to_model(&lowered.program, Some(&lowered.source), None).unwrap();
    let again = read(write(&raised).unwrap()).unwrap();
    let again = to_program(again, ExternalData::default(), &registry()).unwrap();
    for module in [&module, &lowered, &again] {
        let result = run(module, &[ramp(&[2, 3, 4])]);
        let sum = result[0].as_tensor().unwrap();
        assert!(sum.shape().is_empty());
        assert_eq!(sum.as_splat::<f32>(), Some(276.0));
    }
}

#[test]
fn false_types_of_inner_values_are_messages() {
    let names: Vec<String> = (0..11).map(|i| format!("v{i}")).collect();
    let nodes = names.windows(2).map(|pair| node("Neg", &[&pair[0]], &[&pair[1]], vec![]));
    let module = open(Graph {
        input: vec![info("v0", FLOAT, &[2, 3])],
        node: nodes.collect(),
        value_info: names[1..10].iter().map(|name| info(name, FLOAT, &[4])).collect(),
        output: vec![info("v10", FLOAT, &[2, 3])],
        ..Graph::default()
    });
    assert_eq!(module.notes.len(), 9);
    assert_eq!(module.notes[0], "`v1` is declared f32[4], but is f32[2, 3]");
    assert_eq!(module.notes[8], "1 value more is declared with a false type");
}

#[test]
fn the_rank_of_an_unknown_op_is_taken_with_a_message() {
    let mut unknown = node("Fancy", &["x"], &["y"], vec![]);
    unknown.domain = Some("com.example".into());
    let mut original = Model::new(
        Graph {
            input: vec![info("x", FLOAT, &[2])],
            node: vec![unknown],
            output: vec![info("y", FLOAT, &[2, 3])],
            ..Graph::default()
        },
        9,
        17,
    );
    let mut set = original.opset_import[0].clone();
    (set.domain, set.version) = (Some("com.example".into()), Some(1));
    original.opset_import.push(set);
    let model = read(write(&original).unwrap()).unwrap();
    let module = to_program(model, ExternalData::default(), &registry()).unwrap();
    let text = "the op `Fancy` is not known: the ranks of its results are taken from the model";
    assert_eq!(module.notes, [text]);
    let types = module.program.functions()[0].result_types();
    assert_eq!(types[0].as_tensor().unwrap().rank(), 2);
}

/// A loop over a number of steps, with one carried value and a body of one node.
fn loop_over(step: Node, input: ValueInfo, constant: Option<Tensor>) -> Graph {
    let body = Graph {
        input: vec![
            info("i", ElementType::Int64, &[]),
            info("go", ElementType::Bool, &[]),
            info("v", FLOAT, &[7, 7, 7]),
        ],
        node: vec![node("Identity", &["go"], &["again"], vec![]), step],
        output: vec![info("again", ElementType::Bool, &[]), info("next", FLOAT, &[7, 7, 7])],
        ..Graph::default()
    };
    let body = Attribute::new("body", AttributeValue::Graph(body.into()));
    Graph {
        input: vec![info("n", ElementType::Int64, &[]), input],
        initializer: constant.into_iter().collect(),
        node: vec![node("Loop", &["n", "", "x"], &["y"], vec![body])],
        output: vec![info("y", FLOAT, &[7, 7, 7])],
        ..Graph::default()
    }
}

#[test]
fn carried_values_have_the_types_that_the_body_keeps() {
    let axes =
        Tensor::from_raw("axes", ElementType::Int64, vec![1], 0i64.to_le_bytes().to_vec().into());
    let concat = |operands: &[&str]| {
        node("Concat", operands, &["next"], vec![Attribute::new("axis", AttributeValue::Int(0))])
    };
    // The body keeps the type; it makes an axis longer; it adds an axis.
    let cases = [
        (node("Neg", &["v"], &["next"], vec![]), None, "f32[2]", vec![2]),
        (concat(&["v", "v"]), None, "f32[?unk__", vec![16]),
        (
            node("Unsqueeze", &["v", "axes"], &["next"], vec![]),
            Some(axes),
            "opaque",
            vec![1, 1, 1, 2],
        ),
    ];
    for (step, constant, ty, shape) in cases {
        let mut module = open(loop_over(step, info("x", FLOAT, &[2]), constant));
        let f = &module.program.functions()[0];
        let inst = f.walk().find(|&inst| f.op_name(inst) == "onnx.Loop").unwrap();
        let found = f.value_type(f.value_of(inst).unwrap()).to_string();
        assert!(found.starts_with(ty), "{found} is not {ty}\n{}", module.program);
        let before = run(&module, &[number(3), ramp(&[2])]);
        assert_eq!(before[0].as_tensor().unwrap().shape(), shape);
        for f in module.program.functions_mut() {
            lower_function(f, LowerLevel::All);
        }
        sapwood_ptir::verify(&module.program).unwrap_or_else(|e| panic!("{e}"));
        let text = module.program.to_string();
        assert_eq!(text.contains("onnx.Loop"), ty == "opaque", "{text}");
        let after = run(&module, &[number(3), ramp(&[2])]);
        assert_eq!(
            after[0].as_tensor().unwrap().elements::<f32>(),
            before[0].as_tensor().unwrap().elements::<f32>()
        );
    }
}

/// The node of an exporter that removes the last axis if its extent is one, and `after` on the result.
fn squeezed_if_one(after: Vec<Node>, weights: Vec<Tensor>) -> Graph {
    let branch = |node: Node| {
        let output = ValueInfo { name: Some(node.output[0].clone()), ..ValueInfo::default() };
        let graph = Graph { node: vec![node], output: vec![output], ..Graph::default() };
        AttributeValue::Graph(graph.into())
    };
    let squeeze = node("Squeeze", &["x", "last"], &["squeezed"], vec![]);
    let keep = node("Identity", &["x"], &["kept"], vec![]);
    let choice = vec![
        Attribute::new("then_branch", branch(squeeze)),
        Attribute::new("else_branch", branch(keep)),
    ];
    let vector = |name: &str, n: i64| {
        Tensor::from_raw(name, ElementType::Int64, vec![1], n.to_le_bytes().to_vec().into())
    };
    let start = |n| vec![Attribute::new("start", AttributeValue::Int(n))];
    let nodes = vec![
        node("Shape", &["x"], &["n"], start(-1)),
        node("Equal", &["n", "one"], &["is_one"], vec![]),
        node("If", &["is_one"], &["v"], choice),
    ];
    Graph {
        input: vec![info("x", FLOAT, &[-1, 3, -1])],
        initializer: [vec![vector("last", -1), vector("one", 1), vector("zero", 0)], weights]
            .concat(),
        node: [nodes, after].concat(),
        output: vec![ValueInfo { name: Some("y".into()), ..ValueInfo::default() }],
        ..Graph::default()
    }
}

/// The weights of `recurrent`.
fn weights() -> Vec<Tensor> {
    let of = |name: &str, dims: Vec<i64>| {
        let count = dims.iter().product::<i64>();
        let bytes: Vec<u8> = (0..count).flat_map(|i| (i as f32 / 8.0).to_le_bytes()).collect();
        Tensor::from_raw(name, FLOAT, dims, bytes.into())
    };
    vec![of("w", vec![1, 4, 3]), of("r", vec![1, 4, 1])]
}

/// A node whose input must have three axes.
fn recurrent(from: &str, to: &str) -> Node {
    let hidden = vec![Attribute::new("hidden_size", AttributeValue::Int(1))];
    node("LSTM", &[from, "w", "r"], &[to], hidden)
}

/// Returns the rank of the result of the `If`.
fn rank_of_choice(module: &OnnxModule) -> Option<usize> {
    let f = &module.program.functions()[0];
    let inst = f.walk().find(|&inst| f.op_name(inst) == "onnx.If").unwrap();
    let found = f.value_type(f.value_of(inst).unwrap());
    found.as_tensor().map(sapwood_ptir::TensorType::rank)
}

fn unsqueeze(from: &str, to: &str) -> Node {
    node("Unsqueeze", &[from, "zero"], &[to], vec![])
}

#[test]
fn a_value_has_the_only_rank_with_which_no_node_fails() {
    let lstm = |x: &str| recurrent(x, "y");
    // Both branches of an `If` have the recurrent node.
    let branch = |nodes: Vec<Node>| {
        let output = ValueInfo { name: Some("z".into()), ..ValueInfo::default() };
        AttributeValue::Graph(
            Graph { node: nodes, output: vec![output], ..Graph::default() }.into(),
        )
    };
    let inner = |negated: bool| {
        let mut last = lstm("u");
        last.output[0] = if negated { "l".into() } else { "z".into() };
        let neg = negated.then(|| node("Neg", &["l"], &["z"], vec![]));
        branch([unsqueeze("v", "u"), last].into_iter().chain(neg).collect())
    };
    let both = vec![
        Attribute::new("then_branch", inner(false)),
        Attribute::new("else_branch", inner(true)),
    ];
    let one = vec![
        Attribute::new("then_branch", inner(false)),
        Attribute::new("else_branch", branch(vec![node("Neg", &["v"], &["z"], vec![])])),
    ];
    let choice = |branches| vec![node("If", &["is_one"], &["y"], branches)];
    // The rank of the value, and whether a node before the recurrent one asks for it.
    let cases = [
        (choice(both), Some(2)),
        (choice(one), None),
        (vec![unsqueeze("v", "u"), lstm("u")], Some(2)),
        (vec![node("Relu", &["v"], &["a"], vec![]), lstm("a")], Some(3)),
        (vec![unsqueeze("v", "u"), unsqueeze("u", "uu"), lstm("uu")], None),
        (vec![node("Relu", &["v"], &["y"], vec![])], None),
        // A runtime may leave out nodes that nothing uses.
        (
            vec![unsqueeze("v", "u"), recurrent("u", "dead"), node("Relu", &["v"], &["y"], vec![])],
            None,
        ),
    ];
    for (number, (after, rank)) in cases.into_iter().enumerate() {
        let module = open(squeezed_if_one(after, weights()));
        assert_eq!(rank_of_choice(&module), rank, "case {number}: {}", module.program);
        if rank == Some(2) {
            let mut lowered = module.clone();
            for f in lowered.program.functions_mut() {
                lower_function(f, LowerLevel::All);
            }
            let args = [ramp(&[2, 3, 1])];
            let [before, after] = [&module, &lowered].map(|module| run(module, &args));
            let elements = |values: &[Value]| {
                values[0].as_tensor().unwrap().elements::<f32>().unwrap().to_vec()
            };
            assert_eq!(elements(&before), elements(&after));
        }
    }
}

#[test]
fn axes_of_older_versions_decide_ranks_too() {
    // Before opset 13, the axes are an attribute.
    let axes = |axis| vec![Attribute::new("axes", AttributeValue::Ints(vec![axis]))];
    for (steps, rank) in [(vec!["u"], Some(2)), (vec!["u", "uu"], None), (vec![], Some(3))] {
        let mut graph = squeezed_if_one(vec![], weights());
        graph.input.push(info("is_one", ElementType::Bool, &[]));
        let mut choice = graph.node.pop().unwrap();
        for attribute in &mut choice.attribute {
            if let Some(AttributeValue::Graph(branch)) = &mut attribute.value
                && let Some(squeeze) = branch.node.iter_mut().find(|n| n.input.len() == 2)
            {
                *squeeze = node("Squeeze", &["x"], &["squeezed"], axes(-1));
            }
        }
        graph.node = vec![choice];
        let mut last = "v";
        for next in steps {
            graph.node.push(node("Unsqueeze", &[last], &[next], axes(0)));
            last = next;
        }
        graph.node.push(recurrent(last, "y"));
        let module = open_version(graph, 11);
        assert_eq!(rank_of_choice(&module), rank, "{}", module.program);
    }
}

#[test]
fn nodes_that_are_cut_off_decide_no_rank() {
    // `v` has two axes or three. The recurrent node after `u` takes it only with two.
    let after = vec![
        unsqueeze("v", "u"),
        recurrent("u", "y"),
        node("Relu", &["v"], &["positive"], vec![]),
        node("Neg", &["y"], &["negated"], vec![]),
    ];
    let mut graph = squeezed_if_one(after, weights());
    graph.output.push(ValueInfo { name: Some("positive".into()), ..ValueInfo::default() });
    let model = Model::new(graph, 9, 17);
    // Returns the rank that the value declares after cutting; `None` if it declares none.
    let rank = |inputs: &[&str], outputs: &[&str], name: &str| {
        let [inputs, outputs] = [inputs, outputs].map(|l| l.iter().map(ToString::to_string));
        let (inputs, outputs) = (inputs.collect(), outputs.collect());
        let edits = ModelEdits { inputs, outputs, ..ModelEdits::default() };
        let mut edited = model.clone();
        edits.apply(&mut edited, &ExternalData::default()).unwrap_or_else(|e| panic!("{e}"));
        let graph = edited.graph.as_deref().unwrap();
        let mut infos = graph.input.iter().chain(&graph.output);
        let info = infos.find(|info| info.name.as_ref().is_some_and(|n| n.as_str() == Some(name)));
        let ty = info.unwrap().r#type.as_deref();
        match ty.and_then(|ty| ty.value.as_ref()) {
            Some(TypeValue::Tensor(tensor)) => tensor.shape.as_ref().map(|shape| shape.dim.len()),
            _ => None,
        }
    };
    // The recurrent node stays.
    assert_eq!(rank(&[], &["u", "negated"], "u"), Some(3));
    assert_eq!(rank(&["v"], &["negated"], "v"), Some(2));
    // It is removed, as a node after the output or before the input.
    assert_eq!(rank(&[], &["u"], "u"), None);
    assert_eq!(rank(&["v", "y"], &["negated", "u"], "v"), None);
    assert_eq!(rank(&["v", "y"], &["negated", "u"], "y"), Some(4));
}
