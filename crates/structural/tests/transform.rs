//! Tests of `map`: changed nodes are rebuilt, others stay the same pointer, sharing is kept.

use std::collections::HashSet;
use std::convert::Infallible;

use proptest::prelude::*;
use sapwood_structural::{
    AnyRef, FieldBuilder, Map, MapError, Node, NodeEdit, NodeKind, NodeRef, Ref, Seq, Set,
    TypeBuilder, TypeRegistry, Value, View, equal, map, read_json, try_edit, try_map, write_json,
};
use sapwood_testing::on_small_stack;
use sapwood_testing::universe::{Choices, graph, universe};

#[derive(Node)]
enum Expr {
    Number(i64),
    Add(Ref<Expr>, Ref<Expr>),
    Call { name: String, args: Vec<Ref<Expr>>, pair: (Option<Ref<Expr>>, i64) },
}

#[derive(Node)]
#[node(kind = "singleton")]
struct Op {
    of: Value,
}

fn number(n: i64) -> Ref<Expr> {
    Ref::new(Expr::Number(n))
}

fn add(a: &Ref<Expr>, b: &Ref<Expr>) -> Ref<Expr> {
    Ref::new(Expr::Add(a.clone(), b.clone()))
}

/// Adds one to the number `n`.
fn bump(n: i64) -> impl Fn(&AnyRef) -> Option<Value> {
    move |node| match node.downcast_ref()? {
        Expr::Number(found) if *found == n => Some(number(n + 1).into()),
        _ => None,
    }
}

#[test]
fn nothing_changes_nothing() {
    let sum = add(&number(1), &number(2));
    assert!(map(&sum, |_| None).unwrap().same(&sum));
    assert!(map(&sum, |node| Some(node.clone().into())).unwrap().same(&sum));
}

#[test]
fn unchanged_subtrees_keep_their_identity() {
    let (left, right) = (add(&number(1), &number(2)), add(&number(3), &number(4)));
    let mapped = map(&add(&left, &right), bump(4)).unwrap();
    let Expr::Add(a, b) = &*mapped else { panic!("{mapped:?}") };
    assert!(a.same(&left));
    assert!(equal(b, &add(&number(3), &number(5))).unwrap());
}

fn delete_zeros(node: &AnyRef) -> Result<NodeEdit, Infallible> {
    Ok(match node.downcast_ref() {
        Some(Expr::Number(0)) => NodeEdit::Delete,
        _ => NodeEdit::Keep,
    })
}

fn edit_all(value: &Value) -> Result<Value, MapError<Infallible>> {
    try_edit(value, |_| Ok(None), delete_zeros)
}

#[test]
fn deleted_nodes_leave_lists_maps_and_sets() {
    let (zero, one, two) = (number(0), number(1), number(2));
    let node = |n: &Ref<Expr>| Value::from(n.clone());
    let seq = Value::from(Seq::new([node(&zero), node(&one), node(&zero), node(&two)]));
    let shorter = Value::from(Seq::new([node(&one), node(&two)]));
    assert!(equal(&edit_all(&seq).unwrap(), &shorter).unwrap());
    let set = Value::from(Set::new([node(&two), node(&zero), node(&one)]).unwrap());
    let smaller = Value::from(Set::new([node(&one), node(&two)]).unwrap());
    assert!(equal(&edit_all(&set).unwrap(), &smaller).unwrap());
    // A key and a value both delete their entry.
    let entries = [(node(&zero), node(&one)), (node(&one), node(&zero)), (node(&two), node(&two))];
    let table = Value::from(Map::new(entries).unwrap());
    let left = Value::from(Map::new([(node(&two), node(&two))]).unwrap());
    assert!(equal(&edit_all(&table).unwrap(), &left).unwrap());
    assert!(matches!(edit_all(&node(&zero)).unwrap(), Value::None));
}

#[test]
fn a_field_that_needs_a_node_cannot_lose_it() {
    let call = |args: Vec<Ref<Expr>>| {
        Value::from(Ref::new(Expr::Call { name: "f".into(), args, pair: (None, 1) }))
    };
    let before = call(vec![number(0), number(1)]);
    assert!(equal(&edit_all(&before).unwrap(), &call(vec![number(1)])).unwrap());
    let error = edit_all(&Value::from(add(&number(1), &number(0)))).unwrap_err();
    assert!(matches!(error, MapError::Build { .. }), "{error}");
}

#[test]
fn skipped_nodes_stay() {
    let kept = add(&number(0), &number(1));
    let list = Value::from(Seq::new([kept.clone().into(), number(0).into(), kept.clone().into()]));
    let mut entered = 0;
    let enter = |node: NodeRef<'_>| -> Result<Option<NodeEdit>, Infallible> {
        entered += 1;
        Ok(match node.downcast::<Expr>() {
            Some(Expr::Add(..)) => Some(NodeEdit::Keep),
            _ => None,
        })
    };
    let edited: Value = try_edit(&list, enter, delete_zeros).unwrap();
    assert!(equal(&edited, &Value::from(Seq::new([kept.clone().into(), kept.into()]))).unwrap());
    // The list, the sum once, and the number.
    assert_eq!(entered, 3);
}

#[test]
fn a_node_that_is_replaced_before_its_children_is_not_entered_again() {
    let sum = add(&number(0), &number(1));
    let list = Value::from(Seq::new([sum.clone().into(), number(2).into(), sum.into()]));
    let mut entered = 0;
    let mut enter = |node: NodeRef<'_>| -> Result<Option<NodeEdit>, Infallible> {
        entered += 1;
        Ok(match node.downcast::<Expr>() {
            // `leave` would remove the zero.
            Some(Expr::Add(..)) => Some(NodeEdit::Replace(number(0).into())),
            Some(Expr::Number(2)) => Some(NodeEdit::Delete),
            _ => None,
        })
    };
    let edited: Value = try_edit(&list, &mut enter, delete_zeros).unwrap();
    let zeros = Seq::new([number(0).into(), number(0).into()]);
    assert!(equal(&edited, &Value::from(zeros)).unwrap());
    // The list, the sum once, and the number.
    assert_eq!(entered, 3);
}

#[test]
fn each_shared_node_is_mapped_once() {
    let shared = add(&number(1), &number(2));
    let mut calls = 0;
    let mapped = map(&add(&shared, &shared), |node| {
        calls += 1;
        bump(1)(node)
    })
    .unwrap();
    let Expr::Add(a, b) = &*mapped else { panic!("{mapped:?}") };
    assert!(a.same(b));
    assert_eq!(calls, 4);
}

#[test]
fn the_callback_sees_mapped_children() {
    let sum = add(&add(&number(1), &number(2)), &number(3));
    let folded = map(&sum, |node| {
        let Expr::Add(a, b) = node.downcast_ref()? else { return None };
        let (Expr::Number(a), Expr::Number(b)) = (&**a, &**b) else { return None };
        Some(number(a + b).into())
    });
    assert!(equal(&folded.unwrap(), &number(6)).unwrap());
}

#[test]
fn lists_options_and_tuples_are_mapped() {
    let args = vec![number(0), number(1)];
    let call = Ref::new(Expr::Call { name: "f".into(), args, pair: (Some(number(1)), 7) });
    let mapped = map(&call, bump(1)).unwrap();
    let (Expr::Call { args: old, .. }, Expr::Call { name, args, pair }) = (&*call, &*mapped) else {
        panic!("{mapped:?}")
    };
    assert_eq!((name.as_str(), pair.1), ("f", 7));
    assert!(args[0].same(&old[0]));
    assert!(equal(&args[1], &number(2)).unwrap());
    assert!(equal(&pair.0, &Some(number(2))).unwrap());
    let list = map(&vec![number(1), number(2)], bump(1)).unwrap();
    assert!(equal(&list, &vec![number(2), number(2)]).unwrap());
}

#[test]
fn containers_are_mapped_and_keep_their_order() {
    let keys = ["z", "a", "m"];
    let entries = |n| keys.map(|k| (Value::from(k), Value::from(number(n))));
    let original = Map::new(entries(1)).unwrap();
    let mapped = map(&original, bump(1)).unwrap();
    assert!(equal(&mapped, &Map::new(entries(2)).unwrap()).unwrap());
    assert!(mapped.iter().map(|(key, _)| key.as_str().unwrap()).eq(keys));
    let set = Set::new([5, 1, 3].map(|n| number(n).into())).unwrap();
    let mapped = map(&set, bump(1)).unwrap();
    let shown: Vec<String> = mapped.iter().map(|member| format!("{member:?}")).collect();
    assert_eq!(shown, ["Number(0=5)", "Number(0=2)", "Number(0=3)"]);
    let seq = map(&Seq::new([number(1).into(), Value::Int(1)]), bump(1)).unwrap();
    assert!(equal(&seq, &Seq::new([number(2).into(), Value::Int(1)])).unwrap());
}

#[test]
fn run_time_types_are_mapped() {
    let mut registry = TypeRegistry::new();
    let pair = TypeBuilder::new("Pair")
        .field(FieldBuilder::new("a"))
        .field(FieldBuilder::new("b"))
        .register(&mut registry)
        .unwrap();
    let text = Value::from("kept");
    let before = pair.make([text.clone(), number(1).into()]).unwrap();
    let after = map(&before, bump(1)).unwrap();
    assert!(equal(&after, &pair.make([text, number(2).into()]).unwrap()).unwrap());
}

#[test]
fn singletons_are_rebuilt_through_get() {
    let op = |n| Ref::get(Op { of: number(n).into() }).unwrap();
    assert!(map(&op(1), bump(1)).unwrap().same(&op(2)));
    // One that `get` did not make is rebuilt as another of that sort.
    let loose = map(&Ref::new(Op { of: number(1).into() }), bump(1)).unwrap();
    assert!(!loose.same(&op(2)));
}

#[test]
fn failures_say_where() {
    let sum = add(&number(1), &add(&number(2), &number(3)));
    let error = try_map(&sum, |node| match node.downcast_ref() {
        Some(Expr::Number(3)) => Err("no threes"),
        _ => Ok(None),
    })
    .unwrap_err();
    assert!(matches!(error, MapError::Callback { error: "no threes", .. }));
    assert_eq!(error.to_string(), "<root>.1.1: no threes");

    let error = map(&sum, |node| match node.downcast_ref()? {
        Expr::Number(3) => Some(Value::Int(3)),
        _ => None,
    });
    assert_eq!(
        error.unwrap_err().to_string(),
        "<root>.1: field 1 of Expr.Add: expected one of Expr.Number, Expr.Add, Expr.Call, found int 3"
    );

    let set = Set::new([number(1).into(), number(2).into()]).unwrap();
    let error = map(&set, bump(1)).unwrap_err();
    assert_eq!(error.to_string(), "<root>: duplicate key Number(0=2) in this set");
    let error = map(&sum, |node| (node.info().key() == "Expr.Add").then_some(Value::None));
    assert!(error.is_err());
}

/// Returns the number of nodes below `new` that are not below `old`.
fn made(old: &Ref<Expr>, new: &Ref<Expr>) -> usize {
    fn ids(root: &Ref<Expr>) -> HashSet<usize> {
        let mut seen = HashSet::new();
        let mut todo = vec![View::Node(root.node())];
        while let Some(view) = todo.pop() {
            if let View::Node(node) = view
                && seen.insert(node.id())
            {
                todo.extend((0..node.len()).map(|index| node.child(index)));
            }
        }
        seen
    }
    ids(new).difference(&ids(old)).count()
}

#[test]
fn one_leaf_of_a_million_costs_its_depth() {
    on_small_stack(|| {
        let mut level: Vec<Ref<Expr>> = (0..1 << 19).map(number).collect();
        while level.len() > 1 {
            level = level.chunks(2).map(|pair| add(&pair[0], &pair[1])).collect();
        }
        let tree = level.pop().unwrap();
        let mapped = map(&tree, |node| match node.downcast_ref()? {
            Expr::Number(77_777) => Some(number(-1).into()),
            _ => None,
        })
        .unwrap();
        assert_eq!(made(&tree, &mapped), 20);
    });
}

#[test]
fn deep_and_shared_graphs() {
    on_small_stack(|| {
        let chain = |n| {
            (0..1_000_000).fold(number(n), |inner, _| {
                Ref::new(Expr::Call { name: String::new(), args: vec![inner], pair: (None, 0) })
            })
        };
        assert!(equal(&map(&chain(1), bump(1)).unwrap(), &chain(2)).unwrap());
        let ladder = (0..1000).fold(number(1), |inner, _| add(&inner, &inner));
        let expected = (0..1000).fold(number(2), |inner, _| add(&inner, &inner));
        assert!(equal(&map(&ladder, bump(1)).unwrap(), &expected).unwrap());
        let entries = |n: i64| {
            let one = number(n);
            Map::new((0..1_000_000).map(|i| (Value::Int(i), one.clone().into()))).unwrap()
        };
        assert!(equal(&map(&entries(1), bump(1)).unwrap(), &entries(2)).unwrap());
    });
}

/// Replaces every node by a copy.
fn copy(node: &AnyRef) -> Option<Value> {
    if node.info().kind() == NodeKind::Singleton {
        return None;
    }
    // A copy of a container would have to know its order, so only records are copied.
    let fields = node.node().values()?.to_vec();
    node.info().make(fields).ok().map(Value::Node)
}

proptest! {
    #![proptest_config(sapwood_testing::properties())]

    #[test]
    fn mapping_nothing_keeps_the_pointer(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
        for value in graph(&mut Choices::new(&bytes), 20) {
            let same = map(&value, |_| None).unwrap();
            match (value.as_node(), same.as_node()) {
                (Some(a), Some(b)) => prop_assert!(a.same(b)),
                (a, b) => prop_assert!(a.is_none() && b.is_none()),
            }
        }
    }

    #[test]
    fn a_copy_has_the_same_shape(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
        let value: Value = Seq::new(graph(&mut Choices::new(&bytes), 20)).into();
        let text = write_json(&value).unwrap();
        // Nodes below singletons are no longer shared after a copy.
        if text.contains("singleton") {
            return Ok(());
        }
        let copied = map(&value, copy).unwrap();
        prop_assert_eq!(&text, &write_json(&copied).unwrap());
        let read: Value = read_json(&text, &universe().registry).unwrap();
        prop_assert_eq!(&text, &write_json(&read).unwrap());
    }
}
