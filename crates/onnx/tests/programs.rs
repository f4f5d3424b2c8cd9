//! Models as programs: read, written back, evaluated, lowered and raised.

use sapwood_onnx::{
    Attribute, AttributeValue, Bytes, DimensionValue, ElementType, ExternalData, Graph, LowerLevel,
    Model, Node, OnnxModule, OperatorSet, Tensor, TensorData, Type, ValueInfo, lower_function,
    registry, to_model, to_program, write,
};
use sapwood_ptir::eval::{self, DataType, RunOptions, Value};

fn node(op: &str, input: &[&str], output: &[&str], attribute: Vec<Attribute>) -> Node {
    let name = Some(format!("{op}/{}", output[0]).into());
    Node { name, attribute, ..Node::new(op, input, output) }
}

fn int(name: &str, n: i64) -> Attribute {
    Attribute::new(name, AttributeValue::Int(n))
}

fn floats(name: &str, dims: &[i64], values: &[f32]) -> Tensor {
    let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    Tensor::from_raw(name, ElementType::Float, dims.to_vec(), bytes.into())
}

fn longs(name: &str, values: &[i64]) -> Tensor {
    let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    Tensor::from_raw(name, ElementType::Int64, vec![values.len() as i64], bytes.into())
}

fn info(name: &str, element: ElementType, dims: &[i64]) -> ValueInfo {
    let dim = |&n: &i64| match n {
        n if n < 0 => DimensionValue::Param("batch".into()),
        n => DimensionValue::Value(n),
    };
    let dims = dims.iter().map(|n| Some(dim(n)));
    ValueInfo::new(name, Type::tensor(Some(element.code()), dims))
}

fn model(graph: Graph) -> Model {
    let mut model = Model::new(graph, 9, 17);
    model.producer_name = Some("a test".into());
    model.opset_import.push(OperatorSet {
        domain: Some("com.example".into()),
        version: Some(1),
        ..OperatorSet::default()
    });
    model
}

fn read(model: &Model) -> OnnxModule {
    let bytes = write(model).unwrap();
    let model = sapwood_onnx::read(bytes).unwrap();
    to_program(model, ExternalData::default(), &registry()).unwrap_or_else(|e| panic!("{e}"))
}

/// Two branches, optional inputs that are left out, equal constants, an unknown op, strings, documentation.
fn varied() -> Model {
    let branch = |name: &str, op: &str| {
        let mut inner = node(op, &["x/1"], &["chosen"], vec![]);
        inner.doc_string = Some("inside".into());
        let graph = Graph {
            name: Some(name.into()),
            node: vec![inner],
            output: vec![info("chosen", ElementType::Float, &[2, 3])],
            ..Graph::default()
        };
        Attribute::new(name, AttributeValue::Graph(graph.into()))
    };
    let mut custom = node(
        "Fancy",
        &["y", "", "one"],
        &["z", ""],
        vec![
            Attribute::new(
                "words",
                AttributeValue::Strings(vec![Bytes::from(&b"a"[..]), Bytes::from(&b"b"[..])]),
            ),
            Attribute::new("not utf-8", AttributeValue::String(Bytes::from(&[0xff, 0xfe][..]))),
        ],
    );
    custom.domain = Some("com.example".into());
    let strings = Tensor {
        name: Some("words".into()),
        data_type: Some(ElementType::String.code()),
        dims: vec![1],
        data: Some(TensorData::Strings(vec![Bytes::from(&b"word"[..])])),
        ..Tensor::default()
    };
    model(Graph {
        name: Some("main graph".into()),
        doc_string: Some("documentation".into()),
        initializer: vec![floats("one", &[], &[1.0]), floats("other one", &[], &[1.0]), strings],
        input: vec![info("x/1", ElementType::Float, &[2, 3]), info("c", ElementType::Bool, &[])],
        node: vec![
            node(
                "If",
                &["c"],
                &["y"],
                vec![branch("then_branch", "Neg"), branch("else_branch", "Abs")],
            ),
            custom,
            node("Clip", &["y", "", "other one"], &["w"], vec![]),
            node("Identity", &["words"], &["kept"], vec![]),
        ],
        output: vec![
            info("w", ElementType::Float, &[2, 3]),
            info("z", ElementType::Float, &[2, 3]),
            info("kept", ElementType::String, &[1]),
        ],
        value_info: vec![info("y", ElementType::Float, &[2, 3])],
        ..Graph::default()
    })
}

/// A convolution with a bias, a matrix product with a sum, reshapes and reductions.
fn network() -> Model {
    let weights: Vec<f32> = (0..2 * 3 * 3 * 3).map(|i| (i % 7) as f32 * 0.25 - 0.5).collect();
    let dense: Vec<f32> = (0..2 * 4).map(|i| i as f32 * 0.5 - 1.0).collect();
    let pads = Attribute::new("pads", AttributeValue::Ints(vec![1; 4]));
    model(Graph {
        name: Some("network".into()),
        initializer: vec![
            floats("w", &[2, 3, 3, 3], &weights),
            floats("b", &[2], &[0.5, -0.5]),
            floats("d", &[2, 4], &dense),
            floats("e", &[4], &[1.0, 2.0, 3.0, 4.0]),
            longs("shape", &[0, -1]),
        ],
        input: vec![info("x", ElementType::Float, &[-1, 3, 4, 4])],
        node: vec![
            node("Conv", &["x", "w", "b"], &["conv"], vec![pads]),
            node("Relu", &["conv"], &["relu"], vec![]),
            node("GlobalAveragePool", &["relu"], &["pool"], vec![]),
            node("Reshape", &["pool", "shape"], &["flat"], vec![]),
            node("Gemm", &["flat", "d", "e"], &["logits"], vec![]),
            node("Softmax", &["logits"], &["y"], vec![int("axis", -1)]),
        ],
        output: vec![info("y", ElementType::Float, &[-1, 4])],
        ..Graph::default()
    })
}

fn run(module: &OnnxModule) -> Vec<Value> {
    let x: Vec<f32> = (0..2 * 3 * 16).map(|i| (i % 11) as f32 * 0.125).collect();
    let x = eval::Tensor::new(DataType::F32, [2, 3, 4, 4], x);
    eval::run(&module.program, "main", &[x.into()], &RunOptions::default()).unwrap()
}

#[test]
fn a_model_is_written_as_the_same_bytes() {
    for original in [varied(), network()] {
        let module = read(&original);
        let back = to_model(&module.program, Some(&module.source), None).unwrap();
        assert_eq!(back, *module.source.model());
        assert_eq!(write(&back).unwrap(), write(&original).unwrap());
    }
}

#[test]
fn the_text_of_a_program_reads_back() {
    for original in [varied(), network()] {
        let text = read(&original).program.to_string();
        let again = sapwood_ptir::parse_with(&text, &registry()).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(again.to_string(), text);
    }
}

#[test]
fn types_are_inferred_with_symbols() {
    let module = read(&network());
    let types = module.program.functions()[0].result_types();
    assert_eq!(types[0].to_string(), "f32[?batch, 4]");
    assert!(module.notes.is_empty());
}

#[test]
fn a_false_output_shape_is_a_note() {
    let mut original = network();
    original.graph.as_mut().unwrap().output[0] = info("y", ElementType::Float, &[-1, 5]);
    let notes = read(&original).notes;
    assert_eq!(notes, ["output `y` is declared f32[?batch, 5], but is f32[?batch, 4]"]);
}

#[test]
fn a_lowered_model_computes_the_same_and_gains_no_node() {
    let module = read(&network());
    let mut lowered = module.clone();
    let count = lowered
        .program
        .functions_mut()
        .map(|f| lower_function(f, LowerLevel::Kernels))
        .sum::<usize>();
    assert!(count >= 3, "{}", lowered.program);
    sapwood_ptir::verify(&lowered.program).unwrap_or_else(|e| panic!("{e}"));
    let (before, after) = (run(&module), run(&lowered));
    let elements = |v: &[Value]| v[0].as_tensor().unwrap().elements::<f32>().unwrap().into_owned();
    for (a, b) in elements(&before).iter().zip(elements(&after)) {
        assert!((a - b).abs() < 1e-6, "{a} and {b}");
    }
    let raised = to_model(&lowered.program, Some(&lowered.source), None).unwrap();
    let ops = |model: &Model| -> Vec<String> {
        let nodes = &model.graph.as_ref().unwrap().node;
        nodes.iter().map(|n| n.op_type.as_ref().unwrap().to_string()).collect()
    };
    assert_eq!(ops(&raised), ops(module.source.model()));
    let again = read(&raised);
    assert_eq!(elements(&run(&again)), elements(&after));
}

#[test]
fn weights_share_the_memory_of_the_file() {
    let module = read(&network());
    let f = &module.program.functions()[0];
    let graph = module.source.model().graph.as_ref().unwrap();
    let bytes = graph.initializer[0].inline_bytes().unwrap();
    let literal = f.walk().find_map(|inst| f.constant_of(f.value_of(inst)?)).unwrap();
    assert_eq!(literal.stored_bytes().as_ptr(), bytes.as_ptr());
}

#[test]
fn invalid_models_are_refused_with_the_name_of_the_node() {
    let mut original = network();
    original.graph.as_mut().unwrap().node[1].input[0] = "missing".into();
    let bytes = write(&original).unwrap();
    let error =
        to_program(sapwood_onnx::read(bytes).unwrap(), ExternalData::default(), &registry());
    let message = error.err().unwrap().to_string();
    assert!(message.contains("node `Relu/relu` (Relu) at byte "), "{message}");
    assert!(message.contains("`missing` is not defined"), "{message}");
}

#[test]
fn all_names_of_ops_can_be_registered() {
    let registry = sapwood_ptir::Registry::builtin().with(sapwood_onnx::op_defs()).unwrap();
    let lazy = sapwood_onnx::registry();
    let names =
        |registry: &sapwood_ptir::Registry| registry.defs().map(|def| def.name).collect::<Vec<_>>();
    assert_eq!(names(&registry), names(&lazy));
    assert!(lazy.by_name("onnx.Conv").is_some() && lazy.by_name("onnx.Nothing").is_none());
}

#[test]
fn a_node_costs_what_its_definition_costs() {
    let text = "ptir 1\nfunc @f(%x: f32[?n, 8], %w: f32[8, 16], %shape: i64[1]) -> f32[?n, 16] {\n  \
                %m = onnx.MatMul %x, %w : f32[?n, 16]\n  %r = onnx.Relu %m : f32[?n, 16]\n  \
                %s = onnx.ReduceSum %r, %shape : f32[?n, 1]\n  %i = onnx.Identity %r : f32[?n, 16]\n  return %i\n}\n";
    let options = sapwood_ptir::ParseOptions::new().registry(&registry());
    let program = sapwood_ptir::parse_with(text, &options).unwrap();
    let [cost] = sapwood_ptir::cost::of_program(&program).try_into().unwrap();
    // 2 · 8 · 16 for each row of the product, 16 for the maximum and 16 for the sum.
    assert_eq!(cost.flops.to_string(), "288*?n");
    assert_eq!(cost.not_counted, 0);
    // A view moves nothing: rows of 8, 16, 16, 16, 16 and 1 elements, and the weights and axes.
    assert_eq!(cost.bytes.to_string(), "292*?n + 520");
}
