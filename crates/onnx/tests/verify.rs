//! The verifier names the node, the place and the problem.

use crate::common;
use crate::common::{cat, float, graph, int, long, model, node};
use sapwood_onnx::{read, verify};

/// The problems of a model, byte offsets left out.
#[track_caller]
fn problems(bytes: Vec<u8>) -> Vec<String> {
    let model = read(bytes).unwrap();
    let problems = verify(&model);
    problems
        .iter()
        .map(|problem| {
            let text = problem.to_string();
            let mut words: Vec<&str> = Vec::new();
            for word in text.split(' ') {
                let is_offset = words.last() == Some(&"byte")
                    && word.trim_end_matches(':').parse::<u64>().is_ok();
                words.push(if is_offset && word.ends_with(':') {
                    "_:"
                } else if is_offset {
                    "_"
                } else {
                    word
                });
            }
            words.join(" ")
        })
        .collect()
}

fn relu(name: &str, input: &str, output: &str) -> Vec<u8> {
    node(name, "Relu", &[input], &[output], &[])
}

fn if_node(name: &str, body: &[u8]) -> Vec<u8> {
    let branch = |name: &str| cat(&[long(1, name), long(6, body), int(20, 5)]);
    node(name, "If", &["x"], &["y"], &[branch("then_branch"), branch("else_branch")])
}

#[test]
fn a_right_model_has_no_problems() {
    let inner = graph(&[relu("r", "x", "inner")], &[], &["inner"]);
    assert!(problems(model(graph(&[if_node("i", &inner)], &["x"], &["y"]))).is_empty());
}

#[test]
fn the_place_is_that_of_the_node() {
    let bytes = model(graph(&[relu("n", "nothing", "y")], &[], &["y"]));
    let read = read(bytes).unwrap();
    let offset = read.graph.as_ref().unwrap().node[0].wire.offset().unwrap();
    let text = verify(&read).to_string();
    assert!(
        text.starts_with(&format!("error: node `n` (Relu) at byte {offset}: input `nothing`")),
        "{text}"
    );
}

#[test]
fn names_are_defined_once_and_before_use() {
    let undefined = "error: node `a` (Relu) at byte _: input `v` is not defined: no graph or function input, initializer or node output has this name";
    assert_eq!(problems(model(graph(&[relu("a", "v", "y")], &["x"], &["y"]))), [undefined]);
    let later = [relu("a", "v", "y"), relu("b", "x", "v")];
    assert_eq!(
        problems(model(graph(&later, &["x"], &["y"]))),
        [
            "error: node `a` (Relu) at byte _: input `v` is used before node `b` (Relu) at byte _ defines it"
        ]
    );
    let cycle = [relu("a", "v", "y"), relu("b", "y", "v")];
    let found = problems(model(graph(&cycle, &["x"], &["y"])));
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found[1].ends_with("nodes form a cycle: node `b` (Relu), node `a` (Relu)"),
        "{found:?}"
    );
    let itself = problems(model(graph(&[relu("a", "y", "y")], &["x"], &["y"])));
    assert!(itself[1].ends_with("nodes form a cycle: node `a` (Relu)"), "{itself:?}");
    let twice = [relu("a", "x", "y"), relu("b", "x", "y")];
    assert_eq!(
        problems(model(graph(&twice, &["x", "x"], &["y"]))),
        [
            "error: graph input `x` at byte _: another graph input has this name",
            "error: node `b` (Relu) at byte _: output `y` is defined a second time",
        ]
    );
    assert_eq!(
        problems(model(graph(&[], &["x"], &["z"]))),
        [
            "error: graph output `z` at byte _: it is not defined: no graph or function input, initializer or node output has this name"
        ]
    );
}

#[test]
fn inner_graphs_see_names_from_before_their_node_only() {
    let inner = |input| graph(&[relu("r", input, "inner")], &[], &["inner"]);
    let nodes = [if_node("i", &inner("late")), relu("l", "x", "late")];
    let found = problems(model(graph(&nodes, &["x"], &["y"])));
    assert_eq!(found.len(), 2);
    assert!(found[0].starts_with("error: node `r` (Relu) at byte _: input `late` is not defined"));
    // A name inside is not visible outside.
    let nodes = [if_node("i", &inner("x")), relu("l", "inner", "z")];
    let found = problems(model(graph(&nodes, &["x"], &["z"])));
    assert!(
        found[0].starts_with("error: node `l` (Relu) at byte _: input `inner` is not defined"),
        "{found:?}"
    );
    let hides = graph(&[relu("r", "x", "v")], &[], &["v"]);
    let nodes = [relu("l", "x", "v"), if_node("i", &hides)];
    let found = problems(model(graph(&nodes, &["x"], &["y"])));
    assert_eq!(
        found[0],
        "warning: node `r` (Relu) at byte _: output `v` shadows a value of an outer graph"
    );
}

#[test]
fn operator_sets_exist() {
    let graph = graph(&[relu("a", "x", "y")], &["x"], &["y"]);
    let with = |sets: &[Vec<u8>]| {
        let mut bytes = cat(&[int(1, 10), long(7, &graph)]);
        sets.iter().for_each(|set| bytes.extend(long(8, set)));
        problems(bytes)
    };
    assert_eq!(
        with(&[int(2, 0)]),
        ["error: model at byte _: opset 0 of ai.onnx does not exist; 1 is the first"]
    );
    assert_eq!(
        with(&[int(2, 999)]),
        ["error: model at byte _: opset 999 of ai.onnx is not known; 28 is the newest"]
    );
    assert_eq!(
        with(&[int(2, 21), cat(&[long(1, "ai.onnx"), int(2, 20)])]),
        ["error: model at byte _: ai.onnx is imported twice, as opset 21 and as opset 20"]
    );
    let missing = with(&[cat(&[long(1, "com.example"), int(2, 999)])]);
    assert_eq!(
        missing,
        ["error: node `a` (Relu) at byte _: its operator set ai.onnx is not imported"]
    );
    assert_eq!(with(&[]).len(), 2);
    assert!(problems(Vec::new()).iter().any(|p| p.ends_with("the graph is missing")));
}

#[test]
fn ops_have_their_inputs_and_attributes() {
    let one = |node: Vec<u8>| problems(model(graph(&[node], &["x"], &["y"])));
    let axis = |bytes: Vec<u8>, code| cat(&[long(1, "axis"), bytes, int(20, code)]);
    let softmax = |attributes: &[Vec<u8>]| one(node("s", "Softmax", &["x"], &["y"], attributes));
    let prefix = "error: node `s` (Softmax) at byte _: ";
    assert!(softmax(&[axis(int(3, 1), 2)]).is_empty());
    assert_eq!(
        softmax(&[axis(float(2, 1.0), 1)]),
        [format!("{prefix}attribute `axis` has type FLOAT; Softmax needs INT")]
    );
    assert_eq!(
        softmax(&[axis(int(8, 1), 2)]),
        [format!("{prefix}attribute `axis` is declared as INT, but has a value of type INTS")]
    );
    assert_eq!(
        softmax(&[axis(int(3, 1), 2), axis(int(3, 1), 2)]),
        [format!("{prefix}attribute `axis` is present twice")]
    );
    assert_eq!(
        softmax(&[axis(vec![], 77)])[0],
        format!("{prefix}attribute `axis` has the unknown type 77")
    );
    assert_eq!(softmax(&[axis(vec![], 4)])[0], format!("{prefix}attribute `axis` has no value"));
    let axes = cat(&[long(1, "axes"), int(3, 1), int(20, 2)]);
    assert_eq!(
        softmax(&[axes]),
        [format!("{prefix}Softmax has no attribute `axes`; did you mean `axis`?")]
    );
    let reference = cat(&[long(1, "axis"), int(20, 2), long(21, "outer")]);
    assert_eq!(
        softmax(&[reference])[0],
        format!("{prefix}attribute `axis` refers to `outer` of a function, but is not in one")
    );
    assert_eq!(
        one(node("a", "Add", &["x"], &["y"], &[])),
        ["error: node `a` (Add) at byte _: it has 1 input; Add needs 2 inputs"]
    );
    assert_eq!(
        one(node("c", "Cast", &["x"], &["y"], &[])),
        ["error: node `c` (Cast) at byte _: attribute `to` is missing"]
    );
    assert!(
        one(node("u", "Upsample", &["x"], &["y"], &[]))[0]
            .ends_with("opset 21 no longer has the op Upsample")
    );
    assert!(one(node("u", "Swish", &["x"], &["y"], &[]))[0].ends_with("it exists since opset 24"));
    assert!(one(node("u", "NoSuchOp", &["x"], &["y"], &[]))[0].starts_with("warning: "));
}

#[test]
fn tensors_have_as_many_elements_as_their_shape() {
    let with = |tensor: &[Vec<u8>]| {
        let constant = cat(&[
            long(5, cat(tensor)),
            long(1, relu("r", "w", "y")),
            long(12, common::value("y")),
        ]);
        problems(model(constant))
    };
    let named = long(8, "w");
    assert!(with(&[int(1, 2), int(2, 1), named.clone(), long(9, [0; 8])]).is_empty());
    for (tensor, problem) in [
        (
            vec![int(1, 3), int(2, 1), named.clone(), long(9, [0; 8])],
            "there are 8 bytes of elements; type and shape need 12",
        ),
        (vec![int(1, -3), int(2, 1), named.clone()], "the shape [-3] is not one a tensor can have"),
        (
            vec![int(1, i64::MAX), int(1, 4), int(2, 1), named.clone()],
            "is not one a tensor can have",
        ),
        (vec![int(2, 99), named.clone()], "element type 99 is not known"),
        (vec![int(1, 3), int(2, 1), named.clone()], "there are no elements"),
        (
            vec![int(2, 7), named.clone(), float(4, 1.0)],
            "elements of type INT64 cannot be in this field",
        ),
        (
            vec![int(2, 1), named.clone(), float(4, 1.0), long(9, [0; 4])],
            "it has elements in several fields; one is needed",
        ),
        (vec![int(1, 2), int(2, 8), named.clone(), long(6, "a")], "the elements are strings"),
        (vec![int(2, 1), named.clone(), int(14, 1)], "the name of a file is needed"),
    ] {
        let found = with(&tensor);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].starts_with("error: initializer `w` at byte _: ")
                && found[0].contains(problem),
            "{found:?}"
        );
    }
}

#[test]
fn initializers_and_inputs_of_one_name() {
    let with = |version, input: bool| {
        let constant = long(5, cat(&[int(1, 2), int(2, 1), long(8, "w"), long(9, [0; 8])]));
        let input = if input { long(11, common::value("w")) } else { vec![] };
        let graph =
            cat(&[long(1, relu("r", "w", "y")), constant, input, long(12, common::value("y"))]);
        problems(cat(&[int(1, version), long(7, graph), long(8, int(2, 21))]))
    };
    assert!(with(3, true).is_empty() && with(4, false).is_empty());
    assert!(
        with(3, false)[0]
            .starts_with("warning: initializer `w` at byte _: it is not a graph input")
    );
    assert_eq!(
        with(4, true),
        [
            "note: graph `` at byte _: 1 initializers are also graph inputs; they are taken for constants, although a caller may replace them"
        ]
    );
}

#[test]
fn functions_do_not_call_themselves_and_see_their_own_names_only() {
    let function = |name: &str, nodes: &[Vec<u8>]| {
        let mut bytes = cat(&[long(1, name), long(4, "a"), long(5, "b")]);
        nodes.iter().for_each(|node| bytes.extend(long(7, node)));
        bytes.extend(cat(&[
            long(9, int(2, 21)),
            long(9, cat(&[long(1, "f"), int(2, 1)])),
            long(10, "f"),
        ]));
        bytes
    };
    let call = |name: &str, op: &str, input: &str, output: &str| {
        cat(&[node(name, op, &[input], &[output], &[]), long(7, "f")])
    };
    let whole = |functions: &[Vec<u8>]| {
        let main = graph(&[call("c", "F", "x", "y")], &["x"], &["y"]);
        let mut bytes = cat(&[int(1, 10), long(7, main)]);
        bytes.extend(cat(&[long(8, int(2, 21)), long(8, cat(&[long(1, "f"), int(2, 1)]))]));
        functions.iter().for_each(|function| bytes.extend(long(25, function)));
        problems(bytes)
    };
    assert!(whole(&[function("F", &[relu("r", "a", "b")])]).is_empty());
    assert_eq!(
        whole(&[function("F", &[relu("r", "x", "b")])]),
        [
            "error: node `r` (Relu) at byte _: input `x` is not defined: no graph or function input, initializer or node output has this name"
        ]
    );
    assert_eq!(
        whole(&[function("F", &[])]),
        ["error: function `F` at byte _: output `b` is not defined"]
    );
    let again = function("F", &[relu("r", "a", "b")]);
    let twice = whole(&[again.clone(), again]);
    assert_eq!(
        twice,
        [
            "error: function `F` at byte _: another function at byte _ has this domain, name and overload"
        ]
    );
    let mutual =
        [function("F", &[call("c", "G", "a", "b")]), function("G", &[call("d", "F", "a", "b")])];
    assert_eq!(
        whole(&mutual),
        ["error: function `F` at byte _: functions call one another in a cycle: `F`, `G`"]
    );
}
