//! Tests of types with a constructor function, which is called wherever a graph is rebuilt or read.

use sapwood_structural::{
    AnyRef, BuildError, ConstructError, FieldBuilder, FieldRole, NodeKind, TypeBuilder, TypeInfo,
    TypeRegistry, Value, View, map, read_json, substitute, write_json,
};

/// `low` is an integer and not negative; `high` is ten more if it is not given.
fn range(
    info: &'static TypeInfo,
    fields: Vec<Option<Value>>,
    interned: bool,
) -> Result<AnyRef, ConstructError> {
    let [low, high] = <[Option<Value>; 2]>::try_from(fields).expect("one place per field");
    let low = low.ok_or_else(|| BuildError::new("low is needed"))?;
    let high = match &low {
        Value::Int(low) if *low >= 0 => high.unwrap_or(Value::Int(low + 10)),
        // A variable stands for any integer.
        Value::Node(_) => high.unwrap_or(Value::None),
        other => return Err(BuildError::expected("a natural number", other.view()).into()),
    };
    if interned { info.get([low, high]) } else { Ok(info.make([low, high])?) }
}

struct Types {
    registry: TypeRegistry,
    range: &'static TypeInfo,
    var: &'static TypeInfo,
}

fn types(kind: NodeKind) -> Types {
    let mut registry = TypeRegistry::new();
    let var = TypeBuilder::new("Var").kind(NodeKind::Var).register(&mut registry).unwrap();
    let range = TypeBuilder::new("Range")
        .kind(kind)
        .field(FieldBuilder::new("low"))
        .field(FieldBuilder::new("high").role(FieldRole::Ignore))
        .constructor(range)
        .register(&mut registry)
        .unwrap();
    Types { registry, range, var }
}

fn field(node: &AnyRef, index: usize) -> Value {
    Value::of(node.node().child(index))
}

fn shown(value: &Value) -> String {
    format!("{value:?}")
}

#[test]
fn map_and_substitute_call_it() {
    let Types { range, var, .. } = types(NodeKind::Tree);
    let x = var.make([]).unwrap();
    let whole: Value = range.make([x.clone().into(), Value::None]).unwrap().into();
    let with = |by: Value| {
        let mapped = map(&whole, |node| (node.node().id() == x.node().id()).then(|| by.clone()));
        let mapped = mapped.map_err(|error| error.to_string());
        let substituted = substitute(&whole, [(x.clone(), by.clone())]);
        let substituted = substituted.map_err(|error| error.to_string());
        assert_eq!(mapped.as_ref().map(shown), substituted.as_ref().map(shown));
        mapped
    };
    assert!(matches!(with(Value::Int(3)), Ok(Value::Node(node)) if shown(&field(&node, 0)) == "3"));
    assert_eq!(
        with(Value::Int(-3)).unwrap_err(),
        "<root>: expected a natural number, found int -3"
    );
    // Nodes that do not change are not rebuilt.
    assert!(
        matches!(map(&whole, |_| None), Ok(Value::Node(node)) if node.same(whole.as_node().unwrap()))
    );
}

#[test]
fn reading_calls_the_constructor_with_the_fields_in_the_text() {
    for kind in [NodeKind::Tree, NodeKind::Singleton] {
        let Types { registry, range, .. } = types(kind);
        let interned = kind == NodeKind::Singleton;
        let made = range_of(range, interned);
        let text = write_json(&Value::from(made)).unwrap();
        let read = |text: &str| read_json::<Value>(text, &registry);
        assert!(text.contains(r#""fields":["low","high"]"#), "{text}");
        let both = read(&text).unwrap();
        assert_eq!(shown(&field(both.as_node().unwrap(), 1)), "8");
        // An older text, and one in another order.
        let older = text.replace(r#","high"]"#, "]").replace("1,8]", "1]");
        let older = read(&older).unwrap();
        let high = shown(&field(older.as_node().unwrap(), 1));
        // The singleton with these fields is there already: the one that was made first.
        assert_eq!(high, if interned { "8" } else { "11" });
        let turned = text.replace(r#"["low","high"]"#, r#"["high","low"]"#).replace("1,8]", "8,1]");
        let turned = read(&turned).unwrap();
        assert!(matches!(turned.view(), View::Node(node) if matches!(node.child(0), View::Int(1))));
        let wrong = read(&text.replace("1,8]", "-1,8]")).unwrap_err().to_string();
        assert!(wrong.ends_with("expected a natural number, found int -1"), "{wrong}");
        let empty = text.replace(r#""low","high""#, "").replace(",1,8]", "]");
        let missing = read(&empty).unwrap_err().to_string();
        assert!(missing.ends_with("low is needed"), "{missing}");
    }
}

fn range_of(range: &'static TypeInfo, interned: bool) -> AnyRef {
    let fields = [Value::Int(1), Value::Int(8)];
    if interned { range.get(fields).unwrap() } else { range.make(fields).unwrap() }
}
