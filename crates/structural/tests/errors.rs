//! Errors of comparison, and the text of mismatches.

use crate::lang;
use crate::lang::{Lang, ints, languages, list, make, same};
use sapwood_structural::{
    EqualCx, Error, FieldBuilder, FieldRole, HashCx, Map, Mismatch, MismatchReason, Node, NodeKind,
    NodePath, Ref, StructuralHooks, StructuralOptions, TypeBuilder, TypeError, TypeRegistry, Value,
    equal, first_mismatch, hash,
};

fn each(test: impl Fn(&Lang)) {
    languages().into_iter().for_each(test);
}

#[track_caller]
fn mismatch(left: &Value, right: &Value) -> Mismatch {
    first_mismatch(left, right).expect("comparable").expect("a difference")
}

#[track_caller]
fn places(mismatch: &Mismatch) -> [String; 2] {
    [mismatch.left.to_string(), mismatch.right.to_string()]
}

// Refused graphs.

#[test]
fn shadowing_names_both_places() {
    each(|l| {
        let x = l.var("x");
        let nested = l.lambda(&[&x], &list(&[&l.int(0), &l.lambda(&[&x], &x)]));
        for error in [equal(&nested, &nested).unwrap_err(), hash(&nested).unwrap_err()] {
            let Error::Shadowing { variable, outer, inner, .. } = &error else {
                panic!("{error}");
            };
            assert_eq!(variable, "Var(name=\"x\", ty=\"int64\")");
            assert_eq!(outer.to_string(), "<root>.params[0]");
            assert_eq!(inner.to_string(), "<root>.body[1].params[0]");
            assert!(error.to_string().contains("<root>.params[0]"), "{error}");
        }
    });
}

#[test]
fn shadowing_on_one_side_is_refused_too() {
    each(|l| {
        let [x, y, z] = l.vars(["x", "y", "z"]);
        let shadows = l.lambda(&[&x], &l.lambda(&[&x], &x));
        let fine = l.lambda(&[&y], &l.lambda(&[&z], &z));
        assert!(matches!(equal(&shadows, &fine), Err(Error::Shadowing { .. })));
        assert!(matches!(equal(&fine, &shadows), Err(Error::Shadowing { .. })));
    });
}

#[test]
fn one_variable_in_two_scopes_side_by_side_shadows_nothing() {
    each(|l| {
        let x = l.var("x");
        let both = list(&[&l.lambda(&[&x], &x), &l.lambda(&[&x], &x)]);
        assert!(same(&both, &both));
    });
}

#[test]
fn assigning_again_inside_one_scope_shadows_nothing() {
    each(|l| {
        let x = l.var("x");
        let f = l.lambda(&[&x], &l.assign(&x, &l.next(&x)));
        assert!(same(&f, &f));
    });
}

#[test]
fn a_const_tree_over_a_variable_is_refused() {
    each(|l| {
        let mesh = l.next(&l.mesh(&list(&[&l.var("n")]), &ints(&[0])));
        for error in [equal(&mesh, &mesh).unwrap_err(), hash(&mesh).unwrap_err()] {
            let Error::NotConstant { key, kind, held, path } = &error else { panic!("{error}") };
            assert_eq!((*key, *kind, *held), ("lang.DeviceMesh", "const-tree", "a variable"));
            assert_eq!(path.to_string(), "<root>.lhs");
        }
    });
}

#[test]
fn a_const_tree_over_a_dag_node_is_refused() {
    each(|l| {
        let mesh = l.mesh(&l.once(&l.int(1)), &ints(&[0]));
        for error in [equal(&mesh, &mesh).unwrap_err(), hash(&mesh).unwrap_err()] {
            assert!(matches!(error, Error::NotConstant { held: "a dag node", .. }), "{error}");
        }
    });
}

#[test]
fn something_uncomparable_is_refused_where_it_is_reached() {
    each(|l| {
        let node = l.next(&list(&[&l.int(0), &l.handle(1)]));
        for error in [
            equal(&node, &node).unwrap_err(),
            equal(&node, &l.next(&list(&[&l.int(0), &l.int(1)]))).unwrap_err(),
            equal(&l.next(&list(&[&l.int(0), &l.int(1)])), &node).unwrap_err(),
            hash(&node).unwrap_err(),
        ] {
            assert_eq!(
                error.to_string(),
                "<root>.lhs[1]: nodes of type lang.Handle are not comparable (their kind is none)"
            );
        }
    });
}

#[test]
fn something_uncomparable_does_no_harm_where_it_is_not_reached() {
    each(|l| {
        let ignored = |handle: i64| make(l.add, [l.int(1), l.int(2), l.handle(handle)]);
        assert!(same(&ignored(1), &ignored(2)), "in an ignored field");
        let after = |first: i64| list(&[&l.int(first), &l.handle(1)]);
        assert!(!equal(&after(1), &after(2)).unwrap(), "after the first difference");
    });
}

// Refused types.

#[test]
fn a_hook_without_its_twin_is_refused() {
    let mut registry = TypeRegistry::new();
    let error = TypeBuilder::new("half.Equal")
        .equal_hook(Box::new(|_, _, _| Ok(true)))
        .register(&mut registry)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "half.Equal has a hook for equality and none for the hash; they come as a pair"
    );
    let error = TypeBuilder::new("half.Hash")
        .hash_hook(Box::new(|_, init, _| Ok(init)))
        .register(&mut registry)
        .unwrap_err();
    assert!(matches!(error, TypeError::MissingHook { .. }), "{error}");
    assert!(registry.get("half.Equal").is_err(), "what was refused is not registered");
}

#[test]
fn a_type_registered_twice_is_refused() {
    let mut registry = TypeRegistry::new();
    TypeBuilder::new("twice.Type").register(&mut registry).unwrap();
    let error = TypeBuilder::new("twice.Type").register(&mut registry).unwrap_err();
    assert_eq!(error.to_string(), "a type called twice.Type is registered already");
    let error = TypeRegistry::new()
        .with::<lang::Var>()
        .and_then(TypeRegistry::with::<lang::Var>)
        .and_then(|mut registry| registry.add(lang::described().var))
        .unwrap_err();
    assert_eq!(error, TypeError::Duplicate("lang.Var".to_owned()));
}

#[test]
fn two_fields_of_one_name_are_refused() {
    let mut registry = TypeRegistry::new();
    let error = TypeBuilder::new("fields.Twice")
        .field(FieldBuilder::new("a"))
        .field(FieldBuilder::new("a"))
        .register(&mut registry)
        .unwrap_err();
    assert_eq!(error.to_string(), "fields.Twice has two fields called a");
    let base = TypeBuilder::new("fields.Base")
        .field(FieldBuilder::new("span").role(FieldRole::Ignore))
        .register(&mut registry)
        .unwrap();
    let error = TypeBuilder::new("fields.Derived")
        .base(base)
        .field(FieldBuilder::new("span"))
        .register(&mut registry)
        .unwrap_err();
    assert!(matches!(error, TypeError::DuplicateField { .. }), "{error}");
}

#[test]
fn an_unknown_type_is_named_with_the_nearest() {
    let mut registry = TypeRegistry::new();
    TypeBuilder::new("lang.Lambda").register(&mut registry).unwrap();
    let error = registry.get("lang.Lamda").unwrap_err();
    assert_eq!(
        error.to_string(),
        "no type called lang.Lamda is registered; did you mean lang.Lambda?"
    );
}

#[test]
fn fields_that_do_not_fit_are_refused() {
    let l = lang::described();
    assert_eq!(
        l.int.make([]).unwrap_err().to_string(),
        "field value of lang.Int was not given and has no default"
    );
    assert_eq!(
        l.int.make([1.into(), 2.into()]).unwrap_err().to_string(),
        "lang.Int has 1 field, 2 were given"
    );
    assert!(l.int.get([1.into()]).unwrap_err().to_string().contains("not a singleton"));
}

// Reasons and places.

#[test]
fn the_text_of_a_path() {
    each(|l| {
        let build = |value: i64| {
            let inner = Map::new([("k".into(), value.into())]).unwrap();
            l.fun(&[], &list(&[&l.int(0), &inner.into()]))
        };
        let mismatch = mismatch(&build(1), &build(2));
        let text = "<root>.body[1][\"k\"]";
        assert_eq!(places(&mismatch), [text, text]);
        assert_eq!(NodePath::root().to_string(), "<root>");
    });
}

#[test]
fn reason_type() {
    each(|l| {
        let mismatch = mismatch(&l.next(&l.int(1)), &l.next(&l.next(&l.int(1))));
        assert!(matches!(mismatch.reason, MismatchReason::Type));
        assert_eq!(places(&mismatch), ["<root>.lhs"; 2]);
    });
}

#[test]
fn reason_value() {
    each(|l| {
        let mismatch = mismatch(&l.next(&l.int(1)), &l.next(&l.int(2)));
        assert!(matches!(mismatch.reason, MismatchReason::Value));
        assert_eq!(
            mismatch.to_string(),
            "their values differ\n  left  <root>.lhs.value: 1\n  right <root>.lhs.value: 2"
        );
    });
}

#[test]
fn reason_value_of_singletons() {
    each(|l| {
        let mismatch = mismatch(&l.next(&l.op("relu")), &l.next(&l.op("tanh")));
        assert!(matches!(mismatch.reason, MismatchReason::Value));
        assert_eq!(places(&mismatch), ["<root>.lhs"; 2]);
    });
}

#[test]
fn reason_length() {
    each(|l| {
        let mismatch = mismatch(&l.next(&ints(&[1, 2])), &l.next(&ints(&[1])));
        assert!(matches!(mismatch.reason, MismatchReason::Length));
        assert_eq!(places(&mismatch), ["<root>.lhs[1]"; 2]);
    });
}

#[test]
fn reason_missing() {
    each(|l| {
        let map = |key: &str| Map::new([(key.into(), 1.into())]).unwrap().into();
        let mismatch = mismatch(&l.next(&map("a")), &l.next(&map("b")));
        assert!(matches!(mismatch.reason, MismatchReason::Missing));
    });
}

#[test]
fn reason_binding_with_the_pair_and_its_place() {
    each(|l| {
        let [x, y, z] = l.vars(["x", "y", "z"]);
        let left = l.fun(&[&x, &z], &list(&[&x, &x]));
        let right = l.fun(&[&y, &z], &list(&[&y, &z]));
        let mismatch = mismatch(&left, &right);
        assert_eq!(places(&mismatch), ["<root>.body[1]"; 2]);
        let MismatchReason::Binding(Some(bound)) = &mismatch.reason else { panic!("{mismatch}") };
        assert_eq!(bound.left, "Var(name=\"x\", ty=\"int64\")");
        assert_eq!(bound.right, "Var(name=\"y\", ty=\"int64\")");
        assert_eq!(bound.at.to_string(), "<root>.params[0]");
    });
}

#[test]
fn reason_binding_of_a_variable_that_was_free() {
    each(|l| {
        let [x, y] = l.vars(["x", "y"]);
        let mismatch = mismatch(&list(&[&l.int(0), &x, &x]), &list(&[&l.int(0), &x, &y]));
        let MismatchReason::Binding(Some(bound)) = &mismatch.reason else { panic!("{mismatch}") };
        assert_eq!(bound.left, bound.right);
        assert_eq!(bound.at.to_string(), "<root>[1]");
    });
}

#[test]
fn reason_binding_of_two_free_variables() {
    each(|l| {
        let mismatch = mismatch(&l.next(&l.var("x")), &l.next(&l.var("y")));
        assert!(matches!(mismatch.reason, MismatchReason::Binding(None)));
        assert_eq!(places(&mismatch), ["<root>.lhs"; 2]);
    });
}

#[test]
fn reason_sharing() {
    each(|l| {
        let once = || l.once(&l.int(1));
        let s = once();
        let mismatch = mismatch(&list(&[&s, &s]), &list(&[&once(), &once()]));
        assert!(matches!(mismatch.reason, MismatchReason::Sharing));
        assert_eq!(places(&mismatch), ["<root>[1]"; 2]);
    });
}

#[test]
fn all_differences_and_none_below_another() {
    each(|l| {
        let row = |a, b, c| list(&[&l.next(&l.int(a)), &l.int(b), &l.next(&c)]);
        let all = StructuralOptions::default()
            .diff(&row(1, 2, l.int(3)), &row(9, 2, l.next(&l.int(3))), 100)
            .unwrap();
        let paths: Vec<String> = all.iter().map(|found| found.left.to_string()).collect();
        assert_eq!(paths, ["<root>[0].lhs.value", "<root>[2].lhs"]);
        let some = StructuralOptions::default().diff(&row(1, 2, l.int(3)), &row(2, 3, l.int(4)), 2);
        assert_eq!(some.unwrap().len(), 2, "no more than asked for");
    });
}

#[test]
fn the_error_of_assert_equal_has_the_whole_mismatch() {
    each(|l| {
        assert!(StructuralOptions::default().assert_equal(&l.int(1), &l.int(1)).is_ok());
        let error = StructuralOptions::default().assert_equal(&l.int(1), &l.int(2)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "not structurally equal: their values differ\n  left  <root>.value: 1\n  right <root>.value: 2"
        );
    });
}

#[test]
fn large_values_are_abridged() {
    each(|l| {
        let wide = |last: i64| {
            let mut items = vec![0; 10_000];
            items.push(last);
            l.next(&list(&[&ints(&items), &"x".repeat(10_000).as_str().into()]))
        };
        let deep = (0..10_000).fold(wide(1), |below, _| l.next(&below));
        let text = mismatch(&deep, &l.int(1)).to_string();
        assert!(text.len() < 2_000, "{} characters", text.len());
    });
}

// Hooks.

/// Two parts in either order, then a tag.
#[derive(Node)]
#[node(key = "errors.Either", hooks)]
struct Either {
    left: Value,
    right: Value,
    tag: Value,
}

impl StructuralHooks for Either {
    fn s_equal(&self, other: &Self, cx: &mut EqualCx<'_>) -> Result<bool, Error> {
        let straight = cx.equal(&self.left, &other.left, true, "left")?
            && cx.equal(&self.right, &other.right, true, "right")?;
        let either = straight
            || cx.equal(&self.left, &other.right, true, "crossed_left")?
                && cx.equal(&self.right, &other.left, true, "crossed_right")?;
        Ok(either && cx.equal(&self.tag, &other.tag, false, "tag")?)
    }

    fn s_hash(&self, init: u64, cx: &mut HashCx<'_>) -> Result<u64, Error> {
        cx.hash(&self.tag, init, false)
    }
}

fn either(left: &Value, right: &Value, tag: &Value) -> Value {
    Ref::new(Either { left: left.clone(), right: right.clone(), tag: tag.clone() }).into()
}

#[test]
fn a_rolled_back_callback_leaves_no_binding() {
    each(|l| {
        // Straight: x to a, then 1 and b fail. Crossed: x to b, and x is free to be so.
        let [x, a, b] = l.vars(["x", "a", "b"]);
        let one = l.int(1);
        let left = either(&list(&[&x, &one]), &one, &one);
        let right = either(&list(&[&a, &l.int(2)]), &list(&[&b, &one]), &one);
        assert!(!equal(&left, &right).unwrap());
        let left = either(&list(&[&x, &one]), &list(&[&a, &l.int(2)]), &x);
        let right = either(&list(&[&a, &l.int(2)]), &list(&[&b, &one]), &b);
        assert!(equal(&left, &right).unwrap());
    });
}

#[test]
fn a_rolled_back_callback_leaves_no_trace_in_a_path() {
    each(|l| {
        let (one, two) = (l.int(1), l.int(2));
        // The first attempt fails and is rolled back; the tag is the difference.
        let mismatch = mismatch(&either(&one, &two, &one), &either(&two, &one, &two));
        assert_eq!(places(&mismatch), ["<root>.tag.value"; 2]);
        // The failed attempts have no effect on the nodes that follow.
        let pair = |last: &Value| list(&[&either(&one, &two, &one), last]);
        let other = |last: &Value| list(&[&either(&two, &one, &one), last]);
        let found = first_mismatch(&pair(&one), &other(&two)).unwrap().unwrap();
        assert_eq!(places(&found), ["<root>[1].value"; 2]);
    });
}

#[test]
fn a_failing_hook_is_heard_with_its_place() {
    let mut registry = TypeRegistry::new();
    let fails = || Error::Hook {
        key: "errors.Fails",
        path: NodePath::root(),
        error: "the answer is not in".into(),
    };
    let info = TypeBuilder::new("errors.Fails")
        .equal_hook(Box::new(move |_, _, _| Err(fails())))
        .hash_hook(Box::new(move |_, _, _| Err(fails())))
        .register(&mut registry)
        .unwrap();
    each(|l| {
        let node = l.fun(&[], &list(&[&l.int(0), &make(info, [])]));
        let text = "<root>.body[1]: a hook of errors.Fails failed: the answer is not in";
        assert_eq!(equal(&node, &node).unwrap_err().to_string(), text);
        assert_eq!(first_mismatch(&node, &node).unwrap_err().to_string(), text);
        assert_eq!(hash(&node).unwrap_err().to_string(), text);
        // Through another hook the place is still whole.
        let outer = l.next(&either(&l.int(1), &node, &l.int(1)));
        assert_eq!(
            equal(&outer, &outer).unwrap_err().to_string(),
            "<root>.lhs.right.body[1]: a hook of errors.Fails failed: the answer is not in"
        );
    });
}

#[test]
fn kinds_keep_their_machinery_around_a_hook() {
    let mut registry = TypeRegistry::new();
    let mut hooked = |key, kind| {
        TypeBuilder::new(key)
            .kind(kind)
            .field(FieldBuilder::new("value"))
            .equal_hook(Box::new(|left, right, cx| {
                cx.equal(left.child(0), right.child(0), false, "value")
            }))
            .hash_hook(Box::new(|node, init, cx| cx.hash(node.child(0), init, false)))
            .register(&mut registry)
            .unwrap()
    };
    let (dag, var) = (hooked("kept.Dag", NodeKind::Dag), hooked("kept.Var", NodeKind::Var));
    each(|l| {
        let node = |info| make(info, [1.into()]);
        let (s, x, y) = (node(dag), node(var), node(var));
        assert!(!same(&list(&[&s, &s]), &list(&[&node(dag), &node(dag)])));
        assert!(!same(&x, &y));
        assert!(same(&l.fun(&[&x], &x), &l.fun(&[&y], &y)));
        assert!(!same(&l.fun(&[&x, &y], &x), &l.fun(&[&x, &y], &y)));
    });
}

#[test]
fn errors_are_the_same_under_both_flags() {
    each(|l| {
        let options = StructuralOptions::mapping_free_vars();
        let node = l.next(&l.handle(1));
        assert!(options.equal(&node, &node).is_err());
        assert!(options.first_mismatch(&node, &node).is_err());
    });
}
