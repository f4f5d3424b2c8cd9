//! Ops of a user as nodes, and back.

use std::sync::Arc;

use sapwood_onnx::{
    Attribute, AttributeValue, ExternalData, Model, Node, op_defs, read, to_model, to_program,
    verify, write,
};
use sapwood_ptir::prelude::*;
use sapwood_ptir::{OpError, Registry, parse_with};

sapwood_ptir::ops! {
    family "my", table my_ops, values MyValueOps, graph MyGraphOps;

    /// `factor * x + offset`.
    op scale Scale "my.scale" (input: Value) {
        /// The factor.
        factor: f64,
        /// The number to add.
        offset: Int = Int(0),
    } -> one [] = |cx| match cx.tensor(0)?.dtype {
        DataType::F32 => cx.same_as(0),
        other => Err(OpError::new(format!("the elements must be f32, found {other}"))),
    };
}

const PROGRAM: &str = "ptir 1
func @main(%x: f32[4]) -> f32[4] {
  %a = my.scale %x {factor = 0.1, offset = 3} : f32[4]
  %b = exp %a : f32[4]
  %c = my.scale %b {factor = 2.0} : f32[4]
  return %c
}
";

fn registry_of_user() -> Arc<Registry> {
    Registry::builtin().with(op_defs()).and_then(|all| all.with(my_ops())).unwrap()
}

fn written() -> Model {
    let program = parse_with(PROGRAM, &registry_of_user()).unwrap();
    to_model(&program, None, None).unwrap()
}

// Reads a model with the ops of the user after a change to its first node.
fn changed(change: impl FnOnce(&mut Node)) -> Result<String, String> {
    let mut model = written();
    let mut graph = model.graph.take().unwrap().into_inner();
    change(&mut graph.node[0]);
    model.graph = Some(graph.into());
    let model = read(write(&model).unwrap()).unwrap();
    to_program(model, ExternalData::default(), &registry_of_user())
        .map(|module| module.program.to_string())
        .map_err(|problems| problems.to_string())
}

#[test]
fn an_op_of_a_user_survives() {
    let model = written();
    assert!(verify(&model).iter().next().is_none(), "{:?}", verify(&model));
    let bytes = write(&model).unwrap();
    let model = read(bytes.clone()).unwrap();
    let registry = registry_of_user();
    let module = to_program(model.clone(), ExternalData::default(), &registry).unwrap();
    let text = module.program.to_string();
    assert!(text.contains("my.scale %x {factor = 0.1, offset = 3} : f32[4]"), "{text}");
    assert!(text.contains("{factor = 2.0} : f32[4]"), "{text}");
    let again = to_model(&module.program, Some(&module.source), None).unwrap();
    assert_eq!(write(&again).unwrap(), bytes);

    // Without the ops, the nodes are kept as they are.
    let module = to_program(model, ExternalData::default(), &sapwood_onnx::registry()).unwrap();
    let text = module.program.to_string();
    assert_eq!(text.matches("onnx.node \"my.scale\"").count(), 2, "{text}");
    let again = to_model(&module.program, Some(&module.source), None).unwrap();
    assert_eq!(write(&again).unwrap(), bytes);
}

#[test]
fn nodes_that_are_not_the_op_are_refused() {
    let json = |text: &str| AttributeValue::String(text.as_bytes().into());
    let with_json = |text: &str| changed(|node| node.attribute[0].value = Some(json(text)));
    assert!(with_json("{ \"factor\": {\"float\": 0.5} }").unwrap().contains("{factor = 0.5}"));
    for (result, problem) in [
        (with_json("{"), "`attributes`: EOF"),
        (with_json("{\"other\": 1}"), "other"),
        (
            changed(|n| n.attribute[0] = Attribute::new("attributes", AttributeValue::Int(1))),
            "string of JSON",
        ),
        (
            changed(|node| node.attribute[0].name = Some("factor".into())),
            "its only attribute must be `attributes`",
        ),
        (changed(|node| node.output.push("more".into())), "it has 2 outputs, expected 1 output"),
        (changed(|node| node.input.clear()), "my.scale"),
    ] {
        let found = result.unwrap_err();
        assert!(found.contains(problem), "{found}\ninstead of {problem}");
    }
}
