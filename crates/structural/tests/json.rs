//! Tests of the JSON graph form: round trips and errors.

use proptest::prelude::*;
use sapwood_structural::{
    AnyRef, BigInt, Bytes, FieldBuilder, FieldRole, JsonReadError, JsonWriteError, Map, Node,
    NodeKind, Ref, Seq, Set, StructuralOptions, Tensor, TypeBuilder, TypeInfo, TypeRegistry, Value,
    View, equal, read_json, write_json,
};
use sapwood_testing::on_small_stack;
use sapwood_testing::universe::{Choices, graph, universe};
use sapwood_types::{DataType, Span};

#[derive(Node)]
enum Expr {
    Number(i64),
    Add(Ref<Expr>, Ref<Expr>),
}

#[derive(Node)]
#[node(kind = "var")]
pub(crate) struct Var {
    #[node(ignore)]
    pub(crate) name: String,
}

#[derive(Node)]
#[node(scope)]
struct Lambda {
    #[node(def)]
    params: Vec<Ref<Var>>,
    body: Vec<Vec<Ref<Var>>>,
    #[node(ignore)]
    span: Span,
    shape: (u32, Option<bool>),
}

#[derive(Node)]
#[node(kind = "singleton")]
struct Op {
    name: String,
}

#[derive(Node)]
struct Defaulted {
    a: i64,
    #[node(default)]
    b: i64,
}

fn expressions() -> TypeRegistry {
    TypeRegistry::new().with::<Expr>().unwrap()
}

fn round_trip(value: &Value, registry: &TypeRegistry) -> Value {
    let text = write_json(value).unwrap();
    let back: Value = read_json(&text, registry).unwrap();
    assert_eq!(text, write_json(&back).unwrap(), "the same graph gives the same bytes");
    back
}

fn error(text: &str) -> String {
    match read_json::<Value>(text, &expressions()) {
        Ok(value) => panic!("{text} was read as {value:?}"),
        Err(error) => error.to_string(),
    }
}

/// A document whose rows are `Expr.Number` (0), `Expr.Add` (1), `map` (2) and `set` (3).
fn with_rows(rows: &str, root: &str) -> String {
    format!(
        r#"{{"sapwood-graph":1,"types":[{{"key":"Expr.Number","fields":["0"]}},
        {{"key":"Expr.Add","fields":["0","1"]}},{{"key":"map"}},{{"key":"set"}}],
        "nodes":[{rows}],"root":{root}}}"#
    )
}

#[test]
fn the_form_is_a_flat_table() {
    let one = Ref::new(Expr::Number(1));
    let sum = Ref::new(Expr::Add(one.clone(), one));
    let text = write_json(&Ref::new(Expr::Add(sum.clone(), sum))).unwrap();
    let expected = r#"{"sapwood-graph":1,
"types":[
{"key":"Expr.Number","fields":["0"]},
{"key":"Expr.Add","fields":["0","1"]}],
"nodes":[
[0,1],
[1,{"node":0},{"node":0}],
[1,{"node":1},{"node":1}]],
"root":{"node":2}}
"#;
    assert_eq!(text, expected);
}

#[test]
fn scalars_come_back_exactly() {
    let ints = [0, -1, 1 << 53, (1 << 53) + 1, -(1 << 53) - 1, i64::MAX, i64::MIN];
    let floats =
        [0.0, -0.0, 1.0, 0.1, 1e300, 5e-324, f64::MAX, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    let mut values: Vec<Value> = ints.into_iter().map(Value::Int).collect();
    values.extend(floats.map(Value::Float));
    values.extend([u128::from(u64::MAX), u128::MAX].map(Value::from));
    values.extend([i128::MIN, i128::from(i64::MIN) - 1].map(Value::from));
    values.push(BigInt::from_hex(&format!("-{}", "7b".repeat(100))).unwrap().into());
    values.extend([Value::None, Value::Bool(true), Value::Bool(false)]);
    values.extend(["", "\"\\/\u{8}\u{c}\n\r\t\0\u{7f}\u{1f}é🌳\u{2028}"].map(Value::from));
    values.push(Bytes::new(&[]).into());
    values.push(Bytes::new(&[0, 1, 254, 255]).into());
    values.push(Tensor::new(DataType::F32, &[2, 1], Bytes::new(&[7; 8])).unwrap().into());
    values.push(Tensor::new(DataType::Bool, &[0, u64::MAX], Bytes::new(&[])).unwrap().into());
    for value in &values {
        let back = round_trip(value, &TypeRegistry::new());
        assert!(equal(value, &back).unwrap(), "{value:?} came back as {back:?}");
    }
    let list: Value = values.into_iter().collect::<Seq>().into();
    assert!(equal(&list, &round_trip(&list, &TypeRegistry::new())).unwrap());
}

#[test]
fn numbers_of_other_writers_keep_their_sort() {
    let read = |root: &str| read_json::<Value>(&with_rows("", root), &expressions()).unwrap();
    assert!(matches!(read("1").view(), View::Int(1)));
    assert!(matches!(read("1.0").view(), View::Float(1.0)));
    assert!(matches!(read("1E0").view(), View::Float(1.0)));
    assert!(matches!(read("9223372036854775807").view(), View::Int(i64::MAX)));
    assert!(matches!(read(r#"{"int":"0x1"}"#).view(), View::Int(1)));
    assert!(matches!(read(r#""\u0041\ud83c\udf33""#).view(), View::Str("A🌳")));
    let long = "3.14159265358979323846264338327950288419716939937510582097494459230781640";
    assert!(matches!(read(long).view(), View::Float(std::f64::consts::PI)));
}

#[test]
fn lists_ignored_fields_and_spans_come_back() {
    let x = Ref::new(Var { name: "x".into() });
    let lambda = Ref::new(Lambda {
        params: vec![x.clone()],
        body: vec![vec![x.clone(), x], vec![]],
        span: Span::new("f.py", 1, 2, 3, 4),
        shape: (7, Some(true)),
    });
    let registry = TypeRegistry::new().with::<Lambda>().unwrap().with::<Var>().unwrap();
    let back: Ref<Lambda> = read_json(&write_json(&lambda).unwrap(), &registry).unwrap();
    assert!(equal(&lambda, &back).unwrap());
    assert_eq!(back.params[0].name, "x");
    assert!(back.params[0].same(&back.body[0][1]));
    assert_eq!(back.span, Span::new("f.py", 1, 2, 3, 4));
    assert_eq!(back.shape, (7, Some(true)));
}

#[test]
fn maps_and_sets_keep_the_order_of_insertion() {
    let keys = ["z", "a", "m", "b"];
    let map = Map::new(keys.iter().zip(0..).map(|(k, i)| (Value::from(*k), Value::Int(i))));
    let set = Set::new(keys.map(Value::from));
    let both: Value = Seq::new([map.unwrap().into(), set.unwrap().into()]).into();
    let back = round_trip(&both, &TypeRegistry::new());
    let seq = Seq::try_from(back.as_node().unwrap().clone()).unwrap();
    let map = Map::try_from(seq.as_slice()[0].as_node().unwrap().clone()).unwrap();
    let set = Set::try_from(seq.as_slice()[1].as_node().unwrap().clone()).unwrap();
    assert!(map.iter().map(|(key, _)| key.as_str().unwrap()).eq(keys));
    assert!(set.iter().map(|key| key.as_str().unwrap()).eq(keys));
}

#[test]
fn singletons_come_back_as_themselves() {
    let registry = TypeRegistry::new().with::<Op>().unwrap();
    let op = Ref::get(Op { name: "add".into() }).unwrap();
    let back: Ref<Op> = read_json(&write_json(&op).unwrap(), &registry).unwrap();
    assert!(back.same(&op));

    let made: Value = Seq::new([Ref::new(Op { name: "add".into() }).into()]).into();
    let refused = write_json(&made).unwrap_err();
    assert!(matches!(refused, JsonWriteError::Singleton { key: "Op", .. }));
    assert_eq!(
        refused.to_string(),
        "<root>[0]: this Op did not come from its `get`, so reading could not restore it"
    );
}

#[test]
fn a_value_in_the_place_of_a_node_is_refused() {
    let text = Ref::new(sapwood_structural::Text::new("t")).into_any();
    let refused = write_json(&text).unwrap_err();
    assert_eq!(refused.to_string(), "<root>: text is a value and cannot be used as a node");
}

fn point(registry: &mut TypeRegistry) -> &'static TypeInfo {
    TypeBuilder::new("Point")
        .field(FieldBuilder::new("x"))
        .field(FieldBuilder::new("y").default(Value::Int(7)))
        .field(FieldBuilder::new("z"))
        .register(registry)
        .unwrap()
}

#[test]
fn fields_are_known_by_name_and_take_defaults() {
    let mut registry = TypeRegistry::new();
    let info = point(&mut registry);
    let read = |fields: &str, row: &str| {
        let text = format!(
            r#"{{"root":{{"node":0}},"nodes":[{row}],"types":[{{"fields":{fields},"key":"Point"}}],"sapwood-graph":1}}"#
        );
        read_json::<AnyRef>(&text, &registry).map_err(|error| error.to_string())
    };
    let point = read(r#"["z","x"]"#, "[0,3,1]").unwrap();
    assert!(equal(&point, &info.make([1, 7, 3].map(Value::Int)).unwrap()).unwrap());
    let fail = |fields: &str, row: &str| read(fields, row).unwrap_err();
    assert_eq!(
        fail(r#"["x"]"#, "[0,1]"),
        "row 0: field z of Point was not given and has no default"
    );
    assert_eq!(
        fail(r#"["z"]"#, "[0,1]"),
        "row 0: field x of Point was not given and has no default"
    );
    assert_eq!(
        fail(r#"["x","y","zz"]"#, "[0,1,2,3]"),
        "type 0: Point has no field called zz; did you mean z?"
    );
    assert_eq!(fail(r#"["x","x"]"#, "[0,1,2]"), "type 0: Point has two fields called x");
    assert_eq!(fail(r#"["x","z"]"#, "[0,1]"), "row 0: Point is written with 2 fields, found 1");
    assert_eq!(
        fail(r#"["x","z"]"#, "[0,1,{\"node\":0}]"),
        "row 0, field z: refers to row 0, and only the 0 rows before it can be referred to"
    );
}

#[test]
fn defaults_of_rust_types_count() {
    let registry = TypeRegistry::new().with::<Defaulted>().unwrap();
    let text = r#"{"sapwood-graph":1,"types":[{"key":"Defaulted","fields":["a"]}],"nodes":[[0,4]],"root":{"node":0}}"#;
    let back: Ref<Defaulted> = read_json(text, &registry).unwrap();
    assert_eq!((back.a, back.b), (4, 0));
}

#[test]
fn bad_documents_give_precise_errors() {
    assert_eq!(error(""), "line 1, column 1: expected `{`, found the end");
    assert_eq!(error("{}"), "the graph has no \"sapwood-graph\"");
    assert_eq!(error(r#"{"sapwood-graph":1,"types":[]}"#), "the graph has no \"nodes\"");
    assert_eq!(
        error(r#"{"sapwood-graph":2,"types":{}}"#),
        "the graph is of version 2, and this reads versions up to 1"
    );
    assert_eq!(
        error("{\"sapwood-graph\":1,\n\"sapwood-graph\":1}"),
        "line 2, column 1: duplicate key \"sapwood-graph\""
    );
    assert_eq!(
        error(r#"{"sapwood-graph":1,"nodes":[],"root":1,"types":[{"key":"Expr.Numbre"}]}"#),
        "type 0: no type called Expr.Numbre is registered; did you mean Expr.Number?"
    );
    assert_eq!(
        error(r#"{"sapwood-graph":1,"nodes":[],"root":1,"types":[{"key":"seq"},{"key":"seq"}]}"#),
        "type 1: a type called seq is registered already"
    );
    assert_eq!(
        error(&(with_rows("", "1") + "x")),
        "line 3, column 29: expected a value, found 'x'"
    );
}

#[test]
fn bad_rows_say_which_row_and_field() {
    let fail = |rows: &str| error(&with_rows(rows, "null"));
    assert_eq!(fail("[4]"), "row 0: expected the number of one of 4 types, found 4");
    assert_eq!(fail("3"), "row 0: expected a row, found 3");
    assert_eq!(fail("[0,1],[0]"), "row 1: Expr.Number is written with 1 field, found 0");
    assert_eq!(
        fail("[0,1],[1,{\"node\":0},{\"node\":1}]"),
        "row 1, field 1: refers to row 1, and only the 1 row before it can be referred to"
    );
    assert_eq!(
        fail("[0,1],[1,{\"node\":0},{\"node\":18446744073709551615}]"),
        "row 1, field 1: refers to row 18446744073709551615, and only the 1 row before it can be referred to"
    );
    assert_eq!(
        fail("[0,\"s\"]"),
        "row 0: field 0 of Expr.Number: expected i64, found string \"s\""
    );
    assert_eq!(fail("[0,{\"node\":-1}]"), "row 0, field 0: expected the number of a row, found -1");
    assert_eq!(
        fail("[0,99999999999999999999]"),
        "row 0, field 0: expected an integer of at most 64 bits, or {\"int\":\"0x…\"}, found 99999999999999999999"
    );
    assert_eq!(
        fail("[0,1e999]"),
        "row 0, field 0: expected a finite float, or {\"float\":\"inf\"}, found 1e999"
    );
    assert_eq!(
        fail("[0,{\"int\":\"0x-1\"}]"),
        "row 0, field 0: expected an integer as \"0x…\", found \"0x-1\""
    );
    assert_eq!(
        fail("[0,{\"bytes\":\"abc\"}]"),
        "row 0, field 0: expected pairs of hexadecimal digits, found \"abc\""
    );
    assert_eq!(
        fail("[0,{\"tensor\":[\"f32\",[4294967296,4294967296,4294967296],\"00\"]}]"),
        "row 0, field 0: a tensor of f32[4294967296, 4294967296, 4294967296] takes more than 2^64 bytes, found 1"
    );
    assert_eq!(
        fail("[0,{\"nodes\":1}]"),
        "row 0, field 0: expected one of node, int, float, bytes, tensor, found \"nodes\""
    );
    assert_eq!(fail("[2,1]"), "row 0: the last key of this map has no value");
    assert_eq!(fail("[2,1,2,1,3]"), "row 0: duplicate key 1 in this map");
    assert_eq!(fail("[3,1,1]"), "row 0: duplicate key 1 in this set");
}

#[test]
fn deep_nesting_is_refused() {
    on_small_stack(|| {
        let deep = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
        assert_eq!(
            error(&with_rows(&format!("[0,{}]", deep(1_000_000)), "null")),
            "row 0, field 0: expected lists that nest at most 64 deep, found `[`"
        );
        assert!(read_json::<Value>(&with_rows("", &deep(64)), &expressions()).is_ok());
        assert!(read_json::<Value>(&with_rows("", &deep(65)), &expressions()).is_err());
        let objects = "{\"a\":".repeat(1_000_000);
        assert!(error(&with_rows("", &objects)).contains("expected a value, found '}'"));
    });
}

#[test]
fn every_beginning_of_a_document_is_refused() {
    let one = Ref::new(Expr::Number(1 << 60));
    let text = write_json(&Ref::new(Expr::Add(one.clone(), one))).unwrap();
    for end in 0..text.trim_end().len() {
        assert!(read_json::<Value>(&text[..end], &expressions()).is_err(), "{}", &text[..end]);
    }
}

#[test]
fn a_chain_of_a_million() {
    on_small_stack(|| {
        let mut chain = Ref::new(Expr::Number(0));
        let end = chain.clone();
        for _ in 0..1_000_000 {
            chain = Ref::new(Expr::Add(chain, end.clone()));
        }
        let back: Ref<Expr> = read_json(&write_json(&chain).unwrap(), &expressions()).unwrap();
        assert!(equal(&chain, &back).unwrap());
    });
}

#[test]
fn a_ladder_of_a_thousand_levels() {
    on_small_stack(|| {
        let mut ladder = Ref::new(Expr::Number(0));
        for _ in 0..1000 {
            ladder = Ref::new(Expr::Add(ladder.clone(), ladder));
        }
        let text = write_json(&ladder).unwrap();
        assert!(text.len() < 40_000);
        let back: Ref<Expr> = read_json(&text, &expressions()).unwrap();
        assert!(equal(&ladder, &back).unwrap());
    });
}

#[test]
fn a_map_of_a_million_entries() {
    on_small_stack(|| {
        let map: Value =
            Map::new((0..1_000_000).map(|i| (Value::Int(i), Value::Int(-i)))).unwrap().into();
        let back: Value = read_json(&write_json(&map).unwrap(), &TypeRegistry::new()).unwrap();
        assert!(equal(&map, &back).unwrap());
    });
}

#[test]
fn a_lambda_of_a_hundred_thousand_parameters() {
    on_small_stack(|| {
        let mut registry = TypeRegistry::new();
        let var = TypeBuilder::new("V").kind(NodeKind::Var).register(&mut registry).unwrap();
        let lambda = TypeBuilder::new("L")
            .scope()
            .field(FieldBuilder::new("params").role(FieldRole::Def))
            .field(FieldBuilder::new("body"))
            .register(&mut registry)
            .unwrap();
        let params: Seq = (0..100_000).map(|_| var.make([]).unwrap()).collect();
        let body: Seq = params.as_slice().iter().rev().cloned().collect();
        let whole = lambda.make([params.into(), body.into()]).unwrap();
        let back: AnyRef = read_json(&write_json(&whole).unwrap(), &registry).unwrap();
        assert!(equal(&whole, &back).unwrap());
    });
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..120)
}

proptest! {
    #![proptest_config(sapwood_testing::properties())]

    #[test]
    fn random_graphs_come_back(bytes in bytes()) {
        let values: Value = Seq::new(graph(&mut Choices::new(&bytes), 20)).into();
        let text = write_json(&values).unwrap();
        let back: Value = read_json(&text, &universe().registry).unwrap();
        // A singleton comes back as itself, with its own fields, which the rest then does not share.
        if !text.contains("singleton") {
            prop_assert_eq!(&text, &write_json(&back).unwrap());
        }
        // Free variables are copied, so they correspond by position; some graphs cannot be compared.
        if let Ok(same) = StructuralOptions::mapping_free_vars().equal(&values, &back) {
            prop_assert!(same, "{}", text);
        }
    }

    #[test]
    fn changed_bytes_never_panic(
        bytes in bytes(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0u8..4, any::<u8>()), 1..6),
    ) {
        let values: Value = Seq::new(graph(&mut Choices::new(&bytes), 12)).into();
        let mut text = write_json(&values).unwrap().into_bytes();
        const MARKS: &[u8] = b"{}[],:\"0123456789-.e\\ntu";
        for (place, change, byte) in changes {
            if text.is_empty() {
                break;
            }
            let at = place.index(text.len());
            match change {
                0 => text[at] = MARKS[usize::from(byte) % MARKS.len()],
                1 => { text.remove(at); }
                2 => text.insert(at, MARKS[usize::from(byte) % MARKS.len()]),
                _ => text.truncate(at.max(1)),
            }
        }
        let text = String::from_utf8_lossy(&text);
        match read_json::<Value>(&text, &universe().registry) {
            Ok(value) => { write_json(&value).unwrap(); }
            Err(JsonReadError::Reference { target, earlier, .. }) => {
                prop_assert!(target >= earlier as u64);
            }
            Err(error) => prop_assert!(error.to_string().len() < 2_000),
        }
    }
}

#[test]
fn a_default_registry_has_the_types_of_a_new_one() {
    let value = Value::from(Seq::new([Map::new([(1.into(), 2.into())]).unwrap().into()]));
    let text = write_json(&value).unwrap();
    let read: Value = read_json(&text, &TypeRegistry::default()).unwrap();
    assert!(equal(&value, &read).unwrap());
}
