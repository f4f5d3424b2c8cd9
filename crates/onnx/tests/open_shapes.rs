//! Tests that extents follow as expressions where they are not known, and are those of the values that are computed.

use sapwood_onnx::{
    Attribute, AttributeValue, DimensionValue, ElementType, ExternalData, Graph, LowerLevel, Model,
    Node, OnnxModule, Tensor, Type, ValueInfo, lower_function, read, registry, to_model,
    to_program, write,
};
use sapwood_ptir::eval::{self, DataType, RunOptions, Value};
use sapwood_ptir::{Dim, Name, ValueType};

/// An extent of an input: a number, or a symbol.
#[derive(Clone, Copy)]
enum Extent {
    N(u64),
    S(&'static str),
}
use Extent::{N, S};

/// A graph with one result, the type that is expected of it, and extents of the symbols `a` and `b` with which it runs.
struct Case {
    inputs: Vec<(&'static str, ElementType, Vec<Extent>)>,
    constants: Vec<(&'static str, Vec<i64>)>,
    nodes: Vec<Node>,
    expected: &'static str,
    bindings: &'static [[u64; 2]],
}

fn node(op: &str, input: &[&str], output: &str, attribute: Vec<Attribute>) -> Node {
    Node { attribute, ..Node::new(op, input, &[output]) }
}

fn int(name: &str, n: i64) -> Attribute {
    Attribute::new(name, AttributeValue::Int(n))
}

/// The node that reads one extent of a value.
fn extent_of(value: &str, axis: i64, output: &str) -> Node {
    node("Shape", &[value], output, vec![int("start", axis), int("end", axis + 1)])
}

const FLOAT: ElementType = ElementType::Float;
const LONG: ElementType = ElementType::Int64;

impl Case {
    fn open(&self) -> OnnxModule {
        let info = |(name, element, dims): &(&str, ElementType, Vec<Extent>)| {
            let dims = dims.iter().map(|dim| {
                Some(match dim {
                    N(n) => DimensionValue::Value(*n as i64),
                    S(name) => DimensionValue::Param((*name).into()),
                })
            });
            ValueInfo::new(*name, Type::tensor(Some(element.code()), dims))
        };
        let constant = |(name, numbers): &(&str, Vec<i64>)| {
            let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
            let dims = if numbers.len() == 1 && name.ends_with("_scalar") {
                vec![]
            } else {
                vec![numbers.len() as i64]
            };
            Tensor::from_raw(*name, LONG, dims, bytes.into())
        };
        let graph = Graph {
            input: self.inputs.iter().map(info).collect(),
            initializer: self.constants.iter().map(constant).collect(),
            node: self.nodes.clone(),
            output: vec![ValueInfo::new("y", Type::tensor(None, [None; 0]))],
            ..Graph::default()
        };
        let graph =
            Graph { output: vec![ValueInfo { r#type: None, ..graph.output[0].clone() }], ..graph };
        let model = read(write(&Model::new(graph, 11, 24)).unwrap()).unwrap();
        to_program(model, ExternalData::default(), &registry()).unwrap_or_else(|e| panic!("{e}"))
    }

    fn values(&self, [a, b]: [u64; 2]) -> Vec<Value> {
        let value = |(_, element, dims): &(&str, ElementType, Vec<Extent>)| {
            let extent = |dim: &Extent| match dim {
                N(n) => *n as usize,
                S("a") => a as usize,
                S(_) => b as usize,
            };
            let shape: Vec<usize> = dims.iter().map(extent).collect();
            let count = shape.iter().product::<usize>();
            match *element == LONG {
                true => eval::Tensor::new(DataType::I64, &shape[..], vec![0i64; count]).into(),
                false => {
                    let numbers: Vec<f32> = (0..count).map(|i| i as f32 / 8.0).collect();
                    eval::Tensor::new(DataType::F32, &shape[..], numbers).into()
                }
            }
        };
        self.inputs.iter().map(value).collect()
    }
}

fn run(module: &OnnxModule, args: &[Value]) -> Value {
    let results = eval::run(&module.program, "main", args, &RunOptions::default());
    results.unwrap_or_else(|e| panic!("{e}\n{}", module.program)).remove(0)
}

fn cases() -> Vec<Case> {
    const SMALL: &[[u64; 2]] = &[[0, 0], [1, 1], [2, 5], [7, 3], [12, 9]];
    let table = || ("table", FLOAT, vec![N(6), N(3)]);
    let x = || ("x", FLOAT, vec![S("a"), S("b")]);
    let shape_case = |constants, nodes: Vec<Node>, expected| {
        // The numbers `s` become the shape of the result.
        let mut all = vec![extent_of("x", 0, "a"), extent_of("x", 1, "b")];
        all.extend(nodes);
        all.push(node("ConstantOfShape", &["s"], "y", vec![]));
        Case { inputs: vec![x()], constants, nodes: all, expected, bindings: SMALL }
    };
    let mut cases = vec![
        // The first rows of a table, as position embeddings are read, fit the value that they are added to.
        Case {
            inputs: vec![table(), ("x", FLOAT, vec![S("a"), N(3)])],
            constants: vec![("zero", vec![0]), ("one", vec![1])],
            nodes: vec![
                extent_of("x", 0, "n"),
                node("Slice", &["table", "zero", "n", "zero", "one"], "part", vec![]),
                node("Add", &["part", "x"], "y", vec![]),
            ],
            expected: "f32[?a, 3]",
            bindings: &[[0, 0], [1, 0], [4, 0], [6, 0]],
        },
        Case {
            inputs: vec![table(), x()],
            constants: vec![("zero", vec![0])],
            nodes: vec![
                extent_of("x", 0, "n"),
                node("Slice", &["table", "zero", "n", "zero"], "y", vec![]),
            ],
            expected: "f32[min(?a, 6), 3]",
            bindings: SMALL,
        },
        Case {
            inputs: vec![table(), x()],
            constants: vec![("zero", vec![0]), ("end", vec![i64::MAX])],
            nodes: vec![
                extent_of("x", 0, "n"),
                node("Slice", &["table", "n", "end", "zero"], "y", vec![]),
            ],
            expected: "f32[max(6 - ?a, 0), 3]",
            bindings: SMALL,
        },
        // Every second element, and all backwards.
        Case {
            inputs: vec![x()],
            constants: vec![
                ("from", vec![0, -1]),
                ("to", vec![i64::MAX, i64::MIN]),
                ("axes", vec![0, 1]),
                ("steps", vec![2, -1]),
            ],
            nodes: vec![node("Slice", &["x", "from", "to", "axes", "steps"], "y", vec![])],
            expected: "f32[floordiv(?a + 1, 2), ?b]",
            bindings: SMALL,
        },
        Case {
            inputs: vec![x()],
            constants: vec![("start_scalar", vec![3]), ("step_scalar", vec![2])],
            nodes: vec![
                extent_of("x", 0, "n"),
                node("Squeeze", &["n"], "limit", vec![]),
                node("Range", &["start_scalar", "limit", "step_scalar"], "y", vec![]),
            ],
            expected: "i64[max(floordiv(?a - 2, 2), 0)]",
            bindings: SMALL,
        },
        Case {
            inputs: vec![x()],
            constants: vec![("zero_scalar", vec![0]), ("step_scalar", vec![-3])],
            nodes: vec![
                extent_of("x", 0, "n"),
                node("Squeeze", &["n"], "start", vec![]),
                node("Range", &["start", "zero_scalar", "step_scalar"], "y", vec![]),
            ],
            expected: "i64[floordiv(?a + 2, 3)]",
            bindings: SMALL,
        },
        Case {
            inputs: vec![
                ("x", FLOAT, vec![N(2), N(4), S("a")]),
                ("i", LONG, vec![S("b"), N(5), N(2)]),
            ],
            constants: vec![],
            nodes: vec![node("GatherND", &["x", "i"], "y", vec![])],
            expected: "f32[?b, 5, ?a]",
            bindings: &[[1, 1], [3, 2], [2, 0]],
        },
        Case {
            inputs: vec![("x", FLOAT, vec![S("a"), N(8), S("b"), N(3)])],
            constants: vec![],
            nodes: vec![node("DepthToSpace", &["x"], "y", vec![int("blocksize", 2)])],
            expected: "f32[?a, 2, 2*?b, 6]",
            bindings: &[[1, 1], [3, 2]],
        },
        Case {
            inputs: vec![("x", FLOAT, vec![S("a"), N(2), S("b"), N(4)])],
            constants: vec![],
            nodes: vec![node("SpaceToDepth", &["x"], "y", vec![int("blocksize", 2)])],
            expected: "f32[?a, 8, floordiv(?b, 2), 2]",
            bindings: &[[1, 2], [3, 4]],
        },
        Case {
            inputs: vec![
                ("x", FLOAT, vec![N(1), N(2), S("a"), N(4)]),
                ("g", FLOAT, vec![N(1), S("b"), N(5), N(2)]),
            ],
            constants: vec![],
            nodes: vec![node("GridSample", &["x", "g"], "y", vec![])],
            expected: "f32[1, 2, ?b, 5]",
            bindings: &[[3, 2], [4, 1]],
        },
        Case {
            inputs: vec![
                ("q", FLOAT, vec![S("a"), S("b"), N(8)]),
                ("k", FLOAT, vec![S("a"), N(3), N(8)]),
                ("v", FLOAT, vec![S("a"), N(3), N(4)]),
            ],
            constants: vec![],
            nodes: vec![node(
                "Attention",
                &["q", "k", "v"],
                "y",
                vec![int("q_num_heads", 2), int("kv_num_heads", 2)],
            )],
            expected: "f32[?a, ?b, 4]",
            bindings: &[[1, 1], [2, 5]],
        },
        Case {
            inputs: vec![x()],
            constants: vec![],
            nodes: vec![node("ArgMax", &["x"], "y", vec![int("axis", 1), int("keepdims", 0)])],
            expected: "i64[?a]",
            bindings: &[[1, 1], [3, 2]],
        },
    ];
    cases.extend([
        shape_case(
            vec![("pads", vec![1, 1]), ("four_scalar", vec![4])],
            vec![node("Pad", &["a", "pads", "four_scalar"], "s", vec![])],
            "f32[4, ?a, 4]",
        ),
        shape_case(
            vec![("three", vec![3])],
            vec![
                node("Mod", &["a", "three"], "m", vec![]),
                node("Max", &["b", "three"], "w", vec![]),
                node("Min", &["b", "three"], "v", vec![]),
                node("Concat", &["m", "w", "v"], "s", vec![int("axis", 0)]),
            ],
            "f32[mod(?a, 3), max(?b, 3), min(?b, 3)]",
        ),
        shape_case(
            vec![("two", vec![2])],
            vec![
                node("Add", &["a", "two"], "n", vec![]),
                node("Div", &["n", "two"], "h", vec![]),
                node("Neg", &["h"], "m", vec![]),
                node("Neg", &["m"], "k", vec![]),
                node("Abs", &["k"], "s", vec![]),
            ],
            "f32[floordiv(?a, 2) + 1]",
        ),
        shape_case(
            vec![],
            vec![
                node("Shape", &["x"], "all", vec![]),
                node("ReduceProd", &["all"], "p", vec![int("keepdims", 1)]),
                node("ReduceSum", &["all"], "q", vec![int("keepdims", 1)]),
                node("Concat", &["p", "q"], "s", vec![int("axis", 0)]),
            ],
            "f32[?a*?b, ?a + ?b]",
        ),
        // An extent that is one less than itself never equals it.
        shape_case(
            vec![("one", vec![1]), ("five", vec![5])],
            vec![
                node("Add", &["a", "one"], "n", vec![]),
                node("Equal", &["a", "n"], "same", vec![]),
                node("Where", &["same", "b", "five"], "s", vec![]),
            ],
            "f32[5]",
        ),
    ]);
    // Bounds beyond every extent, in both directions.
    let [min, max] = [i64::MIN, i64::MAX];
    for (from, to, step, expected) in [
        (min, max, 1, "f32[?a, ?b]"),
        (min, min, 1, "f32[0, ?b]"),
        (max, max, 1, "f32[0, ?b]"),
        (max, min, -1, "f32[?a, ?b]"),
        (min, max, -1, "f32[0, ?b]"),
        (min, max, max, "f32[min(?a, 1), ?b]"),
        (max, min, min, "f32[min(?a, 1), ?b]"),
    ] {
        cases.push(Case {
            inputs: vec![x()],
            constants: vec![
                ("from", vec![from]),
                ("to", vec![to]),
                ("axes", vec![0]),
                ("steps", vec![step]),
            ],
            nodes: vec![node("Slice", &["x", "from", "to", "axes", "steps"], "y", vec![])],
            expected,
            bindings: SMALL,
        });
    }
    // A product of 32 bits that does not fit wraps around: 2^16 * 2^16 = 0.
    let as_int = |element: ElementType| vec![int("to", i64::from(element.code()))];
    let product = |nodes: Vec<Node>, expected| Case {
        inputs: vec![("x", FLOAT, vec![N(1 << 16), S("a")])],
        constants: vec![("two", vec![2])],
        nodes: [
            vec![
                extent_of("x", 0, "n"),
                node("Cast", &["n"], "m", as_int(ElementType::Int32)),
                node("Mul", &["m", "m"], "p", vec![]),
            ],
            nodes,
        ]
        .concat(),
        expected,
        bindings: &[[0, 0]],
    };
    cases.extend([
        product(
            vec![
                node("Cast", &["p"], "s", as_int(LONG)),
                node("ConstantOfShape", &["s"], "y", vec![]),
            ],
            "f32[0]",
        ),
        product(
            vec![
                node("Cast", &["two"], "k", as_int(ElementType::Int32)),
                node("Sub", &["m", "k"], "l", vec![]),
                node("Add", &["p", "l"], "q", vec![]),
                node("Cast", &["q"], "s", as_int(LONG)),
                node("ConstantOfShape", &["s"], "y", vec![]),
            ],
            "f32[65534]",
        ),
    ]);
    cases
}

#[test]
fn open_extents_are_those_of_the_values() {
    for (number, case) in cases().iter().enumerate() {
        let module = case.open();
        let results = &module.program.functions()[0].result_types();
        let expected: ValueType = case.expected.parse().unwrap();
        assert_eq!(*results[0], expected, "case {number}\n{}", module.program);
        let mut lowered = module.clone();
        for f in lowered.program.functions_mut() {
            lower_function(f, LowerLevel::Core);
        }
        sapwood_ptir::verify(&lowered.program).unwrap_or_else(|e| panic!("{e}"));
        let raised = to_model(&lowered.program, Some(&lowered.source), None).unwrap();
        assert!(raised.count_nodes() <= case.nodes.len(), "case {number}");
        for &[a, b] in case.bindings {
            let args = case.values([a, b]);
            let found = run(&module, &args);
            let value = |name: Name| Some(if name.as_str() == "a" { a } else { b });
            let at_extents =
                results[0].map_dims(&mut |dim| dim.evaluate(&value).map_or(dim, Dim::Known));
            assert_eq!(at_extents, found.ty(), "case {number} at {a}, {b}");
            assert_eq!(bits(&run(&lowered, &args)), bits(&found), "case {number} at {a}, {b}");
        }
    }
}

fn bits(value: &Value) -> (ValueType, Option<Vec<u8>>) {
    let literal = value.to_literal();
    (value.ty(), literal.map(|literal| literal.stored_bytes().to_vec()))
}

/// Bytes wrap around: what they hold is not followed as numbers without a bound.
#[test]
fn narrow_arithmetic_is_not_followed() {
    let bytes = Tensor::from_raw("n", ElementType::Uint8, vec![1], vec![200].into());
    let graph = Graph {
        initializer: vec![bytes],
        input: vec![ValueInfo::new(
            "x",
            Type::tensor(Some(ElementType::Uint8.code()), [Some(DimensionValue::Value(1))]),
        )],
        node: vec![
            node("Shape", &["x"], "one", vec![]),
            node("Cast", &["one"], "small", vec![int("to", i64::from(ElementType::Uint8.code()))]),
            node("Sub", &["small", "n"], "less", vec![]),
            node("Cast", &["less"], "s", vec![int("to", i64::from(LONG.code()))]),
            node("ConstantOfShape", &["s"], "y", vec![]),
        ],
        output: vec![ValueInfo { name: Some("y".into()), ..ValueInfo::default() }],
        ..Graph::default()
    };
    let model = read(write(&Model::new(graph, 11, 21)).unwrap()).unwrap();
    let module = to_program(model, ExternalData::default(), &registry()).unwrap();
    let x = eval::Tensor::new(DataType::U8, [1], vec![0u8]).into();
    let found = run(&module, &[x]);
    assert_eq!(found.as_tensor().unwrap().shape(), [57]);
    let ty = module.program.functions()[0].result_types()[0].to_string();
    assert!(["f32[57]", "f32[?]"].contains(&&*ty), "{ty}");
}

#[test]
fn a_rank_that_no_tensor_has_is_not_inferred() {
    for (count, has_rank) in [(2, true), (252, true), (253, false), (1 << 40, false)] {
        let case = Case {
            inputs: vec![("x", FLOAT, vec![N(2), N(3), N(4)]), ("axes", LONG, vec![N(count)])],
            constants: vec![],
            nodes: vec![node("Unsqueeze", &["x", "axes"], "y", vec![])],
            expected: "",
            bindings: &[],
        };
        let module = case.open();
        let f = &module.program.functions()[0];
        let rank = f.result_types()[0].as_tensor().map(sapwood_ptir::TensorType::rank);
        assert_eq!(rank, has_rank.then_some(3 + count as usize), "{count}");
    }
}
