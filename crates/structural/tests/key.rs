//! Tests of structural keys and of the hook check.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use proptest::prelude::*;
use sapwood_structural::{
    AnyRef, EqualCx, Error, FieldBuilder, HashCx, Map, Node, Ref, Seq, Set, StructuralHooks,
    StructuralKey, StructuralOptions, TypeBuilder, TypeInfo, TypeRegistry, Value, check_hooks,
};
use sapwood_testing::on_small_stack;
use sapwood_testing::universe::{Choices, graph};

use crate::json::Var;

#[derive(Node)]
#[node(scope)]
struct Lambda {
    #[node(def)]
    param: Ref<Var>,
    body: Ref<Var>,
}

fn var(name: &str) -> Ref<Var> {
    Ref::new(Var { name: name.into() })
}

#[test]
fn alpha_copies_are_one_key() {
    let identity = |name| {
        let param = var(name);
        Ref::new(Lambda { param: param.clone(), body: param })
    };
    let mut table = HashMap::new();
    for name in ["x", "y"] {
        let key = StructuralKey::new(identity(name), StructuralOptions::default()).unwrap();
        *table.entry(key).or_insert(0) += 1;
    }
    assert_eq!(table.len(), 1);
    assert!(table.values().eq([&2]));
}

/// A variable whose own fields are a scope.
#[derive(Node)]
#[node(kind = "var", scope)]
struct Generic {
    bound: i64,
}

#[derive(Node)]
#[node(scope)]
struct Forall {
    #[node(def)]
    param: Ref<Generic>,
}

#[test]
fn a_variable_of_a_scope_type_is_bound_where_it_is_defined() {
    let forall = || Ref::new(Forall { param: Ref::new(Generic { bound: 5 }) });
    let shared = forall();
    let (once, twice) = ((shared.clone(), shared), (forall(), forall()));
    let key = |pair| StructuralKey::new(pair, StructuralOptions::default()).unwrap();
    assert_eq!(key(once), key(twice));
}

#[test]
fn options_are_part_of_the_key() {
    let [x, y] = [var("x"), var("y")];
    let key = |v: &Ref<Var>, options| StructuralKey::new(v.clone(), options).unwrap();
    assert_ne!(key(&x, StructuralOptions::default()), key(&y, StructuralOptions::default()));
    assert_eq!(
        key(&x, StructuralOptions::mapping_free_vars()),
        key(&y, StructuralOptions::mapping_free_vars())
    );
    assert_ne!(
        key(&x, StructuralOptions::default()),
        key(&x, StructuralOptions::mapping_free_vars())
    );
}

#[derive(Node)]
#[node(kind = "none")]
struct Opaque;

#[test]
fn uncomparable_nodes_cannot_be_keys() {
    assert!(matches!(
        StructuralKey::new(Ref::new(Opaque), StructuralOptions::default()),
        Err(Error::Uncomparable { key: "Opaque", .. })
    ));
}

/// A name, compared without regard to case. Hashed likewise, unless it is built to hash wrongly.
#[derive(Node)]
#[node(hooks)]
struct Name {
    text: String,
    wrong: bool,
}

impl StructuralHooks for Name {
    fn s_equal(&self, other: &Self, _: &mut EqualCx<'_>) -> Result<bool, Error> {
        Ok(self.text.eq_ignore_ascii_case(&other.text))
    }

    fn s_hash(&self, init: u64, cx: &mut HashCx<'_>) -> Result<u64, Error> {
        let text = if self.wrong { self.text.clone() } else { self.text.to_lowercase() };
        cx.hash(&text, init, false)
    }
}

fn name(text: &str, wrong: bool) -> Value {
    Ref::new(Name { text: text.into(), wrong }).into()
}

/// A type with hooks that compare and hash its one field.
fn wrapper() -> &'static TypeInfo {
    TypeBuilder::new("Wrapper")
        .field(FieldBuilder::new("inner"))
        .equal_hook(Box::new(|left, right, cx| {
            cx.equal(left.child(0), right.child(0), false, "inner")
        }))
        .hash_hook(Box::new(|node, init, cx| cx.hash(node.child(0), init, false)))
        .register(&mut TypeRegistry::new())
        .unwrap()
}

#[test]
fn hooks_that_agree_are_left_in_peace() {
    let wrapper = wrapper();
    let value = |text| wrapper.make([Seq::new([name(text, false), Value::Int(1)]).into()]).unwrap();
    assert!(check_hooks(&value("a"), &value("A")).unwrap().is_none());
    assert!(check_hooks(&value("a"), &value("b")).unwrap().is_none());
}

#[test]
fn the_innermost_hook_that_disagrees_is_named() {
    let wrapper = wrapper();
    let value = |text| wrapper.make([Seq::new([Value::Int(1), name(text, true)]).into()]).unwrap();
    let found = check_hooks(&value("a"), &value("A")).unwrap().expect("a breach");
    assert_eq!(found.key, "Name");
    assert_eq!(found.left.to_string(), "<root>.inner[1]");
    assert_ne!(found.left_hash, found.right_hash);
    let said = found.to_string();
    assert!(
        said.starts_with(
            "the hooks of Name compare these nodes as equal and hash them differently\n"
        )
    );
}

#[test]
fn hooks_that_disagree_below_keys_are_named() {
    let map = |key: Value, value: Value| Map::new([(Value::Int(7), Value::None), (key, value)]);
    let value = |text| map("k".into(), name(text, true)).unwrap();
    let found = check_hooks(&value("a"), &value("A")).unwrap().expect("a breach");
    assert_eq!((found.key, found.left.to_string()), ("Name", "<root>[\"k\"]".to_owned()));

    // The key itself is hashed wrongly, so no hash finds its partner.
    let value = |text| map(name(text, true), Value::None).unwrap();
    assert_eq!(check_hooks(&value("a"), &value("A")).unwrap().expect("a breach").key, "Name");
    let value = |text| Set::new([name(text, true), Value::Int(1)]).unwrap();
    assert_eq!(check_hooks(&value("a"), &value("A")).unwrap().expect("a breach").key, "Name");
}

#[test]
fn a_failing_hook_is_an_error_with_its_place() {
    static FAIL: AtomicBool = AtomicBool::new(true);
    let broken = TypeBuilder::new("Broken")
        .equal_hook(Box::new(|_, _, _| Ok(true)))
        .hash_hook(Box::new(|_, init, _| match FAIL.load(Ordering::Relaxed) {
            true => Err(Error::Hook {
                key: "Broken",
                path: Default::default(),
                error: "no hash today".into(),
            }),
            false => Ok(init),
        }))
        .register(&mut TypeRegistry::new())
        .unwrap();
    let value = || Seq::new([broken.make([]).unwrap().into()]);
    let error = check_hooks(&value(), &value()).unwrap_err();
    assert_eq!(error.to_string(), "<root>[0]: a hook of Broken failed: no hash today");
    FAIL.store(false, Ordering::Relaxed);
    assert!(check_hooks(&value(), &value()).unwrap().is_none());
}

#[test]
fn deep_and_shared_pairs_are_checked_in_time() {
    on_small_stack(|| {
        let build = |text: &str| {
            let mut ladder: Value = name(text, true);
            for _ in 0..1000 {
                ladder = Seq::new([ladder.clone(), ladder]).into();
            }
            for _ in 0..1_000_000 {
                ladder = Seq::new([ladder]).into();
            }
            ladder
        };
        let found = check_hooks(&build("a"), &build("A")).unwrap().expect("a breach");
        assert_eq!(found.left.steps().len(), 1_001_000);
    });
}

#[test]
fn a_deep_pair_without_a_breach_is_checked_in_time() {
    on_small_stack(|| {
        let build = |bottom: Value| (0..100_000).fold(bottom, |below, _| Seq::new([below]).into());
        let pair = |bottom: fn() -> Value| (build(bottom()), build(bottom()));
        let (left, right) = pair(|| Value::Int(1));
        assert!(check_hooks(&left, &right).unwrap().is_none());
        let (left, right) = pair(|| name("a", true));
        assert!(check_hooks(&left, &right).unwrap().is_none());
    });
}

proptest! {
    #![proptest_config(sapwood_testing::properties())]

    #[test]
    fn keys_distinguish_values_as_equal_does(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        // The second half is built from the same choices, so that there is something to find.
        let mut values = graph(&mut Choices::new(&bytes), 8);
        values.extend(graph(&mut Choices::new(&bytes), 8));
        for options in [StructuralOptions::default(), StructuralOptions::mapping_free_vars()] {
            let keys: Vec<_> = values
                .iter()
                .filter_map(|value| StructuralKey::new(value.clone(), options).ok())
                .collect();
            for left in &keys {
                for right in &keys {
                    let Ok(same) = options.equal(left.value(), right.value()) else {
                        continue;
                    };
                    prop_assert_eq!(same, left == right, "{:?} {:?}", left, right);
                    if same {
                        let hashes = [left, right].map(|key| options.hash(key.value()).unwrap());
                        prop_assert_eq!(hashes[0], hashes[1], "{:?} {:?}", left, right);
                    }
                }
            }
        }
    }
}

#[test]
fn keys_of_any_field_type() {
    let key = |n: i64| StructuralKey::new(vec![n, 2], StructuralOptions::default()).unwrap();
    assert_eq!(key(1), key(1));
    assert_ne!(key(1), key(2));
    let node: AnyRef = var("x").into_any();
    assert_eq!(
        StructuralKey::new(node, StructuralOptions::default()).unwrap().options(),
        StructuralOptions::default()
    );
}
