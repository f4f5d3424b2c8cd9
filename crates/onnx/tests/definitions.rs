//! Results of single nodes, and what is refused, in places where implementations differ or were wrong.

use sapwood_onnx::{
    Attribute, AttributeValue, DimensionValue, ElementType, ExternalData, Graph, Model, Node,
    OnnxModule, OperatorSet, Tensor, Type, ValueInfo, registry, to_model, to_program, verify,
};
use sapwood_ptir::eval::{self, Native, RunOptions, Value};

const LEARNING: &str = "ai.onnx.ml";

fn int(name: &str, n: i64) -> Attribute {
    Attribute::new(name, AttributeValue::Int(n))
}

fn ints(name: &str, list: &[i64]) -> Attribute {
    Attribute::new(name, AttributeValue::Ints(list.to_vec()))
}

fn floats(name: &str, list: &[f32]) -> Attribute {
    Attribute::new(name, AttributeValue::Floats(list.to_vec()))
}

fn text(name: &str, text: &str) -> Attribute {
    Attribute::new(name, AttributeValue::String(text.as_bytes().to_vec().into()))
}

fn texts(name: &str, list: &[&str]) -> Attribute {
    let list = list.iter().map(|text| text.as_bytes().to_vec().into());
    Attribute::new(name, AttributeValue::Strings(list.collect()))
}

fn tensor<T: Native>(element: ElementType, dims: &[i64], elements: &[T]) -> Tensor {
    let size = size_of::<T>();
    let bytes = |x: &T| x.pack().to_le_bytes()[..size].to_vec();
    let bytes: Vec<u8> = elements.iter().flat_map(bytes).collect();
    Tensor::from_raw("", element, dims.to_vec(), bytes.into())
}

fn longs(dims: &[i64], elements: &[i64]) -> Tensor {
    tensor(ElementType::Int64, dims, elements)
}

fn singles(dims: &[i64], elements: &[f32]) -> Tensor {
    tensor(ElementType::Float, dims, elements)
}

fn doubles(dims: &[i64], elements: &[f64]) -> Tensor {
    tensor(ElementType::Double, dims, elements)
}

fn tensor_attribute(name: &str, tensor: Tensor) -> Attribute {
    Attribute::new(name, AttributeValue::Tensor(tensor.into()))
}

/// A model with one node.
struct One {
    domain: &'static str,
    op: &'static str,
    opset: i64,
    outputs: usize,
    attributes: Vec<Attribute>,
    inputs: Vec<Tensor>,
    /// The last inputs, which are constants.
    constants: Vec<Tensor>,
    /// True if the extents of inputs are not known.
    is_open: bool,
}

impl One {
    fn new(op: &'static str, opset: i64, inputs: Vec<Tensor>) -> Self {
        let (domain, outputs, is_open) = ("", 1, false);
        Self {
            domain,
            op,
            opset,
            outputs,
            attributes: Vec::new(),
            inputs,
            constants: Vec::new(),
            is_open,
        }
    }

    fn learning(op: &'static str, inputs: Vec<Tensor>, attributes: Vec<Attribute>) -> Self {
        Self { domain: LEARNING, attributes, ..Self::new(op, 21, inputs) }
    }

    fn model(&self) -> Model {
        let mut graph = Graph { name: Some("g".into()), ..Graph::default() };
        let mut node = Node {
            op_type: Some(self.op.into()),
            domain: (!self.domain.is_empty()).then(|| self.domain.into()),
            attribute: self.attributes.clone(),
            ..Node::default()
        };
        for (i, x) in self.inputs.iter().enumerate() {
            let dims = x.dims.iter().zip(0..).map(|(&n, axis)| {
                Some(match self.is_open {
                    true => DimensionValue::Param(format!("n{i}_{axis}").into()),
                    false => DimensionValue::Value(n),
                })
            });
            let name = format!("x{i}");
            graph.input.push(ValueInfo::new(name.as_str(), Type::tensor(x.data_type, dims)));
            node.input.push(name.as_str().into());
        }
        for (i, x) in self.constants.iter().enumerate() {
            let name = format!("c{i}");
            let name = Some(name.as_str().into());
            node.input.extend(name.clone());
            graph.initializer.push(Tensor { name, ..x.clone() });
        }
        for i in 0..self.outputs {
            let name = Some(format!("y{i}").as_str().into());
            node.output.extend(name.clone());
            graph.output.push(ValueInfo { name, ..ValueInfo::default() });
        }
        graph.node.push(node);
        let mut model = Model::new(graph, 10, self.opset);
        model.opset_import.push(OperatorSet {
            domain: Some(LEARNING.into()),
            version: Some(4),
            ..OperatorSet::default()
        });
        model
    }

    fn read(&self) -> Result<OnnxModule, String> {
        let model = self.model();
        to_program(model, ExternalData::default(), &registry()).map_err(|e| e.to_string())
    }

    fn values(&self) -> Result<Vec<Value>, String> {
        let module = self.read()?;
        let value = |x: &Tensor| {
            let code = x.data_type.unwrap();
            let dtype = data_type(code);
            let shape: Vec<u64> = x.dims.iter().map(|&n| n as u64).collect();
            let bytes = x.inline_bytes().unwrap();
            let literal = sapwood_ptir::TensorLiteral::new(dtype, &shape, &bytes).unwrap();
            Value::try_from(&literal).unwrap()
        };
        let inputs: Vec<Value> = self.inputs.iter().map(value).collect();
        eval::run(&module.program, "main", &inputs, &RunOptions::default())
            .map_err(|e| e.to_string())
    }

    /// Returns the elements of the only result.
    fn run<T: Native>(&self) -> Result<Vec<T>, String> {
        let all = self.values()?;
        let elements = all[0].as_tensor().and_then(|t| Some(t.elements::<T>()?.into_owned()));
        elements.ok_or_else(|| format!("the result is {}", all[0].ty()))
    }

    #[track_caller]
    fn fails(&self, with: &str) {
        match self.values() {
            Ok(values) => panic!("not refused: {values:?}"),
            Err(message) => assert!(message.contains(with), "{message}"),
        }
    }

    /// Writes the model for another version of the operator set.
    fn write(&self, opset: i64) -> Result<Node, String> {
        let module = self.read()?;
        let model = to_model(&module.program, Some(&module.source), Some(opset));
        let model = model.map_err(|e| e.to_string())?;
        assert!(verify(&model).is_empty(), "{}", verify(&model));
        Ok(model.graph.unwrap().node.remove(0))
    }
}

fn data_type(code: i32) -> eval::DataType {
    match ElementType::from_code(code).unwrap() {
        ElementType::Float => eval::DataType::F32,
        ElementType::Double => eval::DataType::F64,
        ElementType::Int64 => eval::DataType::I64,
        ElementType::Int32 => eval::DataType::I32,
        other => panic!("{other:?}"),
    }
}

fn encoder(x: Tensor, attributes: Vec<Attribute>) -> One {
    One::learning("LabelEncoder", vec![x], attributes)
}

#[test]
fn label_encoders_keep_the_precision_of_keys_values_and_defaults() {
    let next = 1.000_000_000_1;
    let x = doubles(&[4], &[1.0, next, 1.000_000_000_2, -0.0]);
    let keys = tensor_attribute("keys_tensor", doubles(&[3], &[1.0, next, 0.0]));
    let values = ints("values_int64s", &[2, 3, 4]);
    assert_eq!(encoder(x, vec![keys, values]).run::<i64>().unwrap(), [2, 3, -1, 4]);

    let large = 9_007_199_254_740_993;
    let default = tensor_attribute("default_tensor", longs(&[1], &[large]));
    let pair = || vec![ints("keys_int64s", &[1]), ints("values_int64s", &[2])];
    let one = encoder(longs(&[2], &[1, 5]), [pair(), vec![default]].concat());
    assert_eq!(one.run::<i64>().unwrap(), [2, large]);

    let attributes = || {
        vec![
            ints("keys_int64s", &[1]),
            tensor_attribute("values_tensor", doubles(&[1], &[2.5])),
            tensor_attribute("default_tensor", doubles(&[1], &[0.1])),
        ]
    };
    let one = encoder(longs(&[2], &[1, 5]), attributes());
    assert_eq!(one.run::<f64>().unwrap(), [2.5, 0.1]);
    let singles_default = tensor_attribute("default_tensor", singles(&[1], &[0.5]));
    encoder(longs(&[1], &[1]), [pair(), vec![singles_default]].concat()).fails("another type");
    let few = vec![ints("keys_int64s", &[1, 5]), ints("values_int64s", &[2])];
    encoder(longs(&[1], &[1]), few).fails("2 keys and 1 values");
}

fn trees(more: Vec<Attribute>) -> One {
    let all = vec![
        ints("nodes_treeids", &[0, 0, 0]),
        ints("nodes_nodeids", &[0, 1, 2]),
        ints("nodes_featureids", &[0, 0, 0]),
        floats("nodes_values", &[1.0, 0.0, 0.0]),
        texts("nodes_modes", &["BRANCH_LEQ", "LEAF", "LEAF"]),
        ints("nodes_truenodeids", &[1, 0, 0]),
        ints("nodes_falsenodeids", &[2, 0, 0]),
        ints("target_treeids", &[0, 0]),
        ints("target_nodeids", &[1, 2]),
        ints("target_ids", &[0, 0]),
        floats("target_weights", &[-10.0, 20.0]),
        int("n_targets", 2),
    ];
    let x = singles(&[2, 2], &[1.0, 2.0, 5.0, 5.0]);
    One::learning("TreeEnsembleRegressor", vec![x], [all, more].concat())
}

#[test]
fn targets_that_no_leaf_has_score_zero() {
    for how in ["MIN", "MAX", "SUM", "AVERAGE"] {
        let one = trees(vec![text("aggregate_function", how)]);
        assert_eq!(one.run::<f32>().unwrap(), [-10.0, 0.0, 20.0, 0.0], "{how}");
        let bases = floats("base_values", &[1.0, 2.0]);
        let one = trees(vec![text("aggregate_function", how), bases]);
        assert_eq!(one.run::<f32>().unwrap(), [-9.0, 2.0, 21.0, 2.0], "{how}");
    }
    trees(vec![floats("base_values", &[5.0])]).fails("1 entries, expected 2");
}

#[test]
fn integers_saturate_as_8_bit_floats() {
    let x = tensor(ElementType::Int32, &[4], &[448, 1000, -1000, 3]);
    // E4M3FN, with and without saturation: the largest number has the bits 0x7e, and 0x7f is NaN.
    for (saturate, expected) in [(1, [0x7e, 0x7e, 0xfe, 0x44]), (0, [0x7e, 0x7f, 0x7f, 0x44])] {
        let attributes = vec![int("to", 17), int("saturate", saturate)];
        let one = One { attributes, ..One::new("Cast", 21, vec![x.clone()]) };
        let literal = one.values().unwrap()[0].to_literal().unwrap();
        let bytes: Vec<u8> = literal.stored_bytes().to_vec();
        assert_eq!(bytes, expected, "saturate = {saturate}");
    }
}

#[test]
fn split_has_equal_parts_or_the_number_of_its_results() {
    let split = |opset, outputs, extent: i64, attributes, is_open| {
        let elements: Vec<f32> = (0..extent).map(|i| i as f32).collect();
        let x = singles(&[extent], &elements);
        One { outputs, attributes, is_open, ..One::new("Split", opset, vec![x]) }
    };
    for is_open in [false, true] {
        split(13, 2, 5, vec![], is_open).fails("5 elements cannot be split into 2 equal parts");
        assert_eq!(split(13, 2, 4, vec![], is_open).run::<f32>().unwrap(), [0.0, 1.0]);
        let parts = |n| vec![int("num_outputs", n)];
        split(18, 2, 4, parts(5), is_open).fails("`num_outputs` is 5, but there are 2 outputs");
        let one = split(18, 2, 5, parts(2), is_open);
        assert_eq!(one.run::<f32>().unwrap(), [0.0, 1.0, 2.0]);
    }
}

#[test]
fn wrong_shapes_and_words_are_refused() {
    let constants = vec![longs(&[1], &[3])];
    One { constants, ..One::new("CenterCropPad", 18, vec![singles(&[], &[1.0])]) }
        .fails("the shape has 1 extents, expected 0");
    let features = vec![
        text("mode", "XYZ"),
        int("min_gram_length", 1),
        int("max_gram_length", 1),
        int("max_skip_count", 0),
        ints("ngram_counts", &[0]),
        ints("ngram_indexes", &[0]),
        ints("pool_int64s", &[1]),
    ];
    let x = longs(&[1], &[1]);
    One { attributes: features, ..One::new("TfIdfVectorizer", 21, vec![x]) }
        .fails("`mode` is XYZ, expected TF, IDF or TFIDF");
    for x in [singles(&[], &[1.0]), singles(&[3], &[1.0, 2.0, 3.0])] {
        let coefficients = vec![floats("coefficients", &[1.0, 2.0, 3.0])];
        One::learning("LinearRegressor", vec![x], coefficients).fails("expected a matrix");
    }
}

#[test]
fn a_scan_of_no_batches_keeps_the_extents_of_its_results() {
    let inside = Graph {
        name: Some("body".into()),
        node: vec![
            Node::new("Add", &["s", "i"], &["next"]),
            Node::new("Concat", &["next", "i"], &["o"]),
        ],
        input: ["s", "i"]
            .map(|name| {
                let dims = [Some(DimensionValue::Value(2))];
                ValueInfo::new(name, Type::tensor(Some(ElementType::Float.code()), dims))
            })
            .to_vec(),
        output: ["next", "o"]
            .map(|name| ValueInfo { name: Some(name.into()), ..ValueInfo::default() })
            .to_vec(),
        ..Graph::default()
    };
    let mut inside = inside;
    inside.node[1].attribute.push(int("axis", 0));
    let attributes = vec![
        Attribute::new("body", AttributeValue::Graph(inside.into())),
        int("num_scan_inputs", 1),
    ];
    let inputs = vec![singles(&[0, 2], &[]), singles(&[0, 3, 2], &[])];
    let one = One { attributes, outputs: 2, ..One::new("Scan", 8, inputs) };
    // The first input of this form, the lengths, is left out.
    let mut model = one.model();
    model.graph.as_mut().unwrap().node[0].input.insert(0, "".into());
    let module = to_program(model, ExternalData::default(), &registry()).unwrap();
    let empty = |shape: &[usize]| -> Value {
        eval::Tensor::new::<f32>(eval::DataType::F32, shape, Vec::new()).into()
    };
    let inputs = [empty(&[0, 2]), empty(&[0, 3, 2])];
    let found = eval::run(&module.program, "main", &inputs, &RunOptions::default()).unwrap();
    let types: Vec<String> = found.iter().map(|v| v.ty().to_string()).collect();
    assert_eq!(types, ["f32[0, 2]", "f32[0, 3, 4]"]);
}

#[test]
fn older_opsets_refuse_types_and_broadcasts_that_they_do_not_have() {
    let matrix = || singles(&[2, 3], &[0.0; 6]);
    let row = || singles(&[3], &[0.0; 3]);
    let whole = || tensor(ElementType::Int32, &[2, 3], &[0i32; 6]);
    let new = |op, inputs| One::new(op, 21, inputs);
    let refused = |one: One, opset, with: &str| {
        let message = one.write(opset).unwrap_err();
        assert!(message.contains(with), "{message}");
    };
    refused(new("Equal", vec![matrix(), matrix()]), 9, "opset 9 does not have it on f32");
    assert!(new("Equal", vec![matrix(), matrix()]).write(11).is_ok());
    assert!(new("Equal", vec![whole(), whole()]).write(9).is_ok());
    refused(new("Max", vec![matrix(), row()]), 7, "before opset 8, its operands have one shape");
    assert!(new("Max", vec![matrix(), row()]).write(8).is_ok());
    refused(new("Max", vec![whole(), whole()]), 7, "opset 7 does not have it on i32");
    refused(new("Less", vec![whole(), whole()]), 8, "opset 8 does not have it on i32");
    let power = || tensor(ElementType::Int32, &[3], &[2i32; 3]);
    refused(new("Pow", vec![matrix(), power()]), 9, "one element type");
    assert!(new("Pow", vec![matrix(), power()]).write(12).is_ok());
    assert!(new("Pow", vec![matrix(), row()]).write(9).is_ok());
    let clip = |x: Tensor, least: Tensor| One { constants: vec![least], ..new("Clip", vec![x]) };
    let least = tensor(ElementType::Int32, &[], &[1i32]);
    refused(clip(whole(), least), 10, "`min` is not a number of single precision");
    let inexact = clip(doubles(&[1], &[0.0]), doubles(&[], &[0.1]));
    refused(inexact, 10, "`min` is not a number of single precision");
    assert!(clip(doubles(&[1], &[0.0]), doubles(&[], &[0.5])).write(10).is_ok());
}

#[test]
fn older_opsets_get_axes_that_count_from_the_start() {
    let axis = |node: &Node, name: &str| -> Option<AttributeValue> {
        let is_it = |a: &&Attribute| a.name.as_ref().and_then(|n| n.as_str()) == Some(name);
        node.attribute.iter().find(is_it)?.value.clone()
    };
    let x = || singles(&[2, 1], &[0.0; 2]);
    let attributes = vec![int("axis", -1)];
    let concat = One { attributes, ..One::new("Concat", 21, vec![x(), x()]) };
    assert_eq!(axis(&concat.write(9).unwrap(), "axis"), Some(AttributeValue::Int(1)));
    assert_eq!(axis(&concat.write(11).unwrap(), "axis"), Some(AttributeValue::Int(-1)));
    let constants = vec![longs(&[1], &[-1])];
    let squeeze = One { constants, ..One::new("Squeeze", 21, vec![x()]) };
    assert_eq!(axis(&squeeze.write(9).unwrap(), "axes"), Some(AttributeValue::Ints(vec![1])));
    let constants = vec![longs(&[1], &[-1])];
    let unsqueeze = One { constants, ..One::new("Unsqueeze", 21, vec![x()]) };
    assert_eq!(axis(&unsqueeze.write(9).unwrap(), "axes"), Some(AttributeValue::Ints(vec![2])));
    let constants = vec![longs(&[1], &[-1])];
    let gather = One { constants, ..One::new("Gather", 21, vec![x()]) };
    let message = gather.write(9).unwrap_err();
    assert!(message.contains("before opset 11"), "{message}");
    assert!(gather.write(11).is_ok());
}

#[test]
fn other_opsets_get_the_meaning_of_defaults_and_only_words_that_they_have() {
    let mode = "coordinate_transformation_mode";
    let word = |node: &Node| -> Option<String> {
        let is_it = |a: &&Attribute| a.name.as_ref().and_then(|n| n.as_str()) == Some(mode);
        match node.attribute.iter().find(is_it)?.value.as_ref()? {
            AttributeValue::String(text) => String::from_utf8(text.to_vec()).ok(),
            other => panic!("{other:?}"),
        }
    };
    let align = |opset, attributes| {
        let inputs = vec![singles(&[1, 1, 4, 4], &[1.0; 16])];
        let constants = vec![singles(&[1, 4], &[0.0, 0.0, 2.0, 2.0]), longs(&[1], &[0])];
        One { attributes, constants, ..One::new("RoiAlign", opset, inputs) }
    };
    // The default since opset 16 is not what older ones do.
    assert_eq!(word(&align(10, vec![]).write(16).unwrap()).as_deref(), Some("output_half_pixel"));
    assert_eq!(word(&align(16, vec![text(mode, "output_half_pixel")]).write(10).unwrap()), None);
    for attributes in [vec![], vec![text(mode, "half_pixel")]] {
        let message = align(16, attributes).write(10).unwrap_err();
        assert!(message.contains("always `output_half_pixel`"), "{message}");
    }

    let refused = |one: One, opset, with: &str| {
        let message = one.write(opset).unwrap_err();
        assert!(message.contains(with), "{message}");
    };
    let pad = || One {
        attributes: vec![text("mode", "wrap")],
        constants: vec![longs(&[2], &[1, 1])],
        ..One::new("Pad", 21, vec![singles(&[3], &[1.0; 3])])
    };
    assert!(pad().write(19).is_ok());
    refused(pad(), 18, "opset 18 does not have its `mode` `wrap`");
    let scatter = || One {
        attributes: vec![text("reduction", "max")],
        constants: vec![longs(&[1, 1], &[1]), singles(&[1], &[5.0])],
        ..One::new("ScatterND", 21, vec![singles(&[3], &[1.0; 3])])
    };
    assert!(scatter().write(18).is_ok());
    refused(scatter(), 16, "opset 16 does not have its `reduction` `max`");
    let words = || Tensor {
        data_type: Some(ElementType::String.code()),
        dims: vec![1],
        ..Tensor::default()
    };
    assert!(One::new("Equal", 21, vec![words(), words()]).write(19).is_ok());
    refused(
        One::new("Equal", 21, vec![words(), words()]),
        18,
        "it works on tensors of numbers only",
    );
    // Version 11 of `Resize` has empty tensors for inputs that later ones leave out.
    let resize = One {
        constants: vec![tensor(ElementType::Float, &[0], &[0.0f32; 0]), singles(&[1], &[2.0])],
        ..One::new("Resize", 19, vec![singles(&[2], &[1.0, 2.0])])
    };
    let mut model = resize.model();
    model.graph.as_mut().unwrap().node[0].input[1] = "".into();
    let module = to_program(model, ExternalData::default(), &registry()).unwrap();
    let model = to_model(&module.program, Some(&module.source), Some(11)).unwrap();
    assert!(model.graph.unwrap().node[0].input.iter().all(|name| !name.is_empty()));
    let leaky = |slope: &[f32]| {
        let slope = singles(&[slope.len() as i64], slope);
        One {
            constants: vec![slope],
            ..One::new("PRelu", 6, vec![singles(&[1, 2, 2], &[-1.0; 4])])
        }
    };
    refused(leaky(&[2.0, 3.0]), 9, "version 7 of it changed its meaning");
    // One slope per channel.
    assert_eq!(leaky(&[2.0, 3.0]).run::<f32>().unwrap(), [-2.0, -2.0, -3.0, -3.0]);
}

#[test]
fn slices_with_extreme_bounds_are_those_of_numpy() {
    let [min, max] = [i64::MIN, i64::MAX];
    let cases: &[(i64, i64, i64, &[f32])] = &[
        (min, max, 1, &[0.0, 1.0, 2.0, 3.0, 4.0]),
        (min, min, 1, &[]),
        (max, max, 1, &[]),
        (-2, max, 1, &[3.0, 4.0]),
        (min, -2, 2, &[0.0, 2.0]),
        (max, min, -1, &[4.0, 3.0, 2.0, 1.0, 0.0]),
        (-2, min, -2, &[3.0, 1.0]),
        (min, max, -1, &[]),
        (min, min, -1, &[]),
        (min, max, max, &[0.0]),
        (max, min, min, &[4.0]),
        (max, max, min, &[]),
    ];
    for &(start, end, step, expected) in cases {
        let x = singles(&[5], &[0.0, 1.0, 2.0, 3.0, 4.0]);
        let inputs = [start, end, 0, step].map(|n| longs(&[1], &[n]));
        let one = One::new("Slice", 13, [vec![x], inputs.to_vec()].concat());
        assert_eq!(one.run::<f32>().unwrap(), expected, "{start}..{end} by {step}");
    }
}

#[test]
fn the_largest_element_of_each_part_of_a_region() {
    let x = singles(&[1, 1, 4, 4], &(0..16).map(|n| n as f32).collect::<Vec<_>>());
    // All of the input; one element; a part that is outside; at half the scale.
    let regions: &[(&[f32], f32, &[f32])] = &[
        (&[0.0, 0.0, 0.0, 3.0, 3.0], 1.0, &[5.0, 7.0, 13.0, 15.0]),
        (&[0.0, 2.0, 1.0, 2.0, 1.0], 1.0, &[6.0, 6.0, 6.0, 6.0]),
        (&[0.0, 3.0, 0.0, 6.0, 1.0], 1.0, &[3.0, 0.0, 7.0, 0.0]),
        (&[0.0, 0.0, 0.0, 7.0, 7.0], 0.5, &[10.0, 11.0, 14.0, 15.0]),
    ];
    for &(region, scale, expected) in regions {
        let attributes = vec![
            ints("pooled_shape", &[2, 2]),
            Attribute::new("spatial_scale", AttributeValue::Float(scale)),
        ];
        let inputs = vec![x.clone(), singles(&[1, 5], region)];
        let one = One { attributes, ..One::new("MaxRoiPool", 22, inputs) };
        assert_eq!(one.run::<f32>().unwrap(), expected, "{region:?}");
    }
    let attributes = vec![ints("pooled_shape", &[2, 2])];
    let outside = singles(&[1, 5], &[1.0, 0.0, 0.0, 1.0, 1.0]);
    One { attributes, ..One::new("MaxRoiPool", 22, vec![x, outside]) }.fails("in batch 1, of 1");
}
