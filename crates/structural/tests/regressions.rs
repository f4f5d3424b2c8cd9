//! Inputs that once gave wrong results, or took too long.

use crate::lang;
use crate::lang::{Hooked, derived, ints, list, make};
use sapwood_structural::{
    Bytes, EqualCx, Error, FieldBuilder, HashCx, Map, Node, Ref, Seq, Set, StructuralHooks,
    StructuralOptions, TypeBuilder, TypeRegistry, Value, equal, first_mismatch, hash,
};
use sapwood_testing::on_small_stack;
use sapwood_testing::universe::with_pair_hooks;

#[test]
fn containers_of_the_same_items_hash_differently() {
    let set = Value::from(Set::new([1.into()]).unwrap());
    assert_ne!(hash(&ints(&[1])).unwrap().lo, hash(&set).unwrap().lo, "[1] and {{1}}");
    let map = Value::from(Map::new([(1.into(), 2.into())]).unwrap());
    assert_ne!(hash(&ints(&[1, 2])).unwrap().lo, hash(&map).unwrap().lo, "[1, 2] and {{1: 2}}");
}

#[test]
fn text_and_bytes_hash_differently() {
    assert_ne!(
        hash(&Value::from("a")).unwrap().lo,
        hash(&Value::from(Bytes::new(b"a"))).unwrap().lo
    );
}

#[test]
fn a_hook_that_hashes_two_parts_hashes_both() {
    let mut registry = TypeRegistry::new();
    let builder = TypeBuilder::new("regressions.Pair")
        .field(FieldBuilder::new("first"))
        .field(FieldBuilder::new("second"));
    let pair = with_pair_hooks(builder, [("first", false), ("second", false)])
        .register(&mut registry)
        .unwrap();
    let (a, b) = (make(pair, [1.into(), 3.into()]), make(pair, [2.into(), 3.into()]));
    assert_ne!(hash(&a).unwrap().lo, hash(&b).unwrap().lo);
}

#[test]
fn a_sequence_of_its_own_hashes_like_one_inside_its_owner() {
    let shared = Value::from(Seq::new([1.into(), 2.into()]));
    assert!(equal(&shared, &vec![1, 2]).unwrap());
    assert_eq!(hash(&shared).unwrap(), hash(&vec![1, 2]).unwrap());
}

#[test]
fn differences_of_a_ladder_of_dag_nodes_cost_its_nodes() {
    let l = derived();
    let build =
        |bottom: i64| (0..24).fold(l.int(bottom), |below, _| l.once(&l.add(&below, &below)));
    let (left, right) = (build(1), build(2));
    let all = StructuralOptions::default().diff(&left, &right, 10).unwrap();
    assert_eq!(all.len(), 1, "met once");
}

#[test]
fn all_keys_that_are_on_one_side_alone_are_differences() {
    let map = |keys: &[&str]| {
        Value::from(Map::new(keys.iter().map(|&key| (key.into(), 1.into()))).unwrap())
    };
    let all = StructuralOptions::default().diff(&map(&["a", "b"]), &map(&["c"]), 100).unwrap();
    assert_eq!(all.len(), 3, "{all:?}");
}

fn hooked(length: usize, bottom: Value) -> Value {
    (0..length).fold(bottom, |below, _| Ref::new(Hooked { below }).into())
}

#[test]
fn the_mismatch_below_many_hooks_is_found_soon() {
    let (left, right) = (hooked(20_000, 1.into()), hooked(20_000, 2.into()));
    let mismatch = first_mismatch(&left, &right).unwrap().unwrap();
    assert_eq!(mismatch.left.steps().len(), 20_000);
}

#[test]
fn the_error_below_many_hooks_is_placed_soon() {
    let left = hooked(20_000, derived().handle(1));
    equal(&left, &left).unwrap_err();
}

/// A hook that tries two ways, and then compares a part itself.
#[derive(Node)]
#[node(key = "regressions.Tagged", hooks)]
struct Tagged {
    left: Value,
    right: Value,
    tag: i64,
}

impl StructuralHooks for Tagged {
    fn s_equal(&self, other: &Self, cx: &mut EqualCx<'_>) -> Result<bool, Error> {
        let either = cx.equal(&self.left, &other.left, false, "left")?
            || cx.equal(&self.left, &other.right, false, "right")?;
        Ok(either && self.tag == other.tag)
    }

    fn s_hash(&self, init: u64, _: &mut HashCx<'_>) -> Result<u64, Error> {
        Ok(init)
    }
}

#[test]
fn a_try_that_failed_before_one_that_did_not_leaves_no_trace_in_a_path() {
    let node = |left: i64, right: i64, tag| -> Value {
        Ref::new(Tagged { left: left.into(), right: right.into(), tag }).into()
    };
    let mismatch = first_mismatch(&node(1, 2, 0), &node(2, 1, 1)).unwrap().unwrap();
    // The parts were equal; it is the hook that says no.
    assert_eq!(mismatch.left.to_string(), "<root>", "{mismatch}");
}

#[test]
fn many_scopes_all_used_in_the_innermost_soon() {
    let l = derived();
    let build = || {
        let params: Vec<Value> = (0..100_000).map(|_| l.var("x")).collect();
        params.iter().fold(Seq::new(params.clone()).into(), |below, x| l.lambda(&[x], &below))
    };
    let (left, right) = (build(), build());
    assert!(equal(&left, &right).unwrap());
    hash(&left).unwrap();
}

fn maps_in_keys(depth: usize, bottom: &Value) -> Value {
    (0..depth).fold(bottom.clone(), |below, _| Map::new([(below, 1.into())]).unwrap().into())
}

#[test]
fn maps_inside_keys_without_variables() {
    on_small_stack(|| {
        let [left, right] = [1, 1].map(|bottom| maps_in_keys(10_000, &bottom.into()));
        assert!(equal(&left, &right).unwrap());
        assert_eq!(hash(&left).unwrap(), hash(&right).unwrap());
    });
}

#[test]
fn the_mismatch_of_maps_inside_keys() {
    on_small_stack(|| {
        let [left, right] = [1, 1].map(|bottom| maps_in_keys(100_000, &bottom.into()));
        assert!(first_mismatch(&left, &right).unwrap().is_none());
    });
}

#[test]
fn maps_inside_keys_with_variables() {
    on_small_stack(|| {
        let x = derived().var("x");
        let [left, right] = [1, 1].map(|_| maps_in_keys(500, &x));
        assert!(equal(&left, &right).unwrap());
        assert_eq!(hash(&left).unwrap(), hash(&right).unwrap());
    });
}

#[test]
fn dag_nodes_inside_keys() {
    on_small_stack(|| {
        let x = derived().once(&1.into());
        let [left, right] = [1, 1].map(|_| maps_in_keys(10_000, &list(&[&x])));
        assert!(equal(&left, &right).unwrap());
    });
}

#[test]
fn shapes_of_containers_do_not_collide() {
    let one = || Value::from(1);
    let seq = |items: &[Value]| list(&items.iter().collect::<Vec<_>>());
    let values = vec![
        ints(&[]),
        seq(&[ints(&[])]),
        seq(&[ints(&[]), ints(&[])]),
        seq(&[seq(&[ints(&[])])]),
        ints(&[1]),
        seq(&[ints(&[1])]),
        seq(&[ints(&[1]), ints(&[])]),
        seq(&[ints(&[]), ints(&[1])]),
        Map::new([]).unwrap().into(),
        Set::new([]).unwrap().into(),
        Set::new([one()]).unwrap().into(),
        Map::new([(one(), one())]).unwrap().into(),
        Map::new([(one(), Value::None)]).unwrap().into(),
        one(),
        Value::None,
        "".into(),
        Bytes::new(b"").into(),
        "\0".into(),
        "\0\0".into(),
    ];
    let hashes: Vec<u64> = values.iter().map(|value| hash(value).unwrap().lo).collect();
    let mut different = hashes.clone();
    different.sort_unstable();
    different.dedup();
    assert_eq!(different.len(), hashes.len());
}

/// `λ(y: T[n]). y`: the dimension is bound by the function unless an outer scope binds it.
fn over(l: &lang::Lang, n: &Value) -> Value {
    let y = l.typed("y", n.clone());
    l.lambda(&[&y], &y)
}

#[test]
fn hidden_variables_belong_to_the_node_of_their_own_side() {
    let l = derived();
    let [n, k1, k2, m] = ["n", "k1", "k2", "m"].map(|name| l.var(name));
    let (f, g1, g2) = (over(l, &n), over(l, &k1), over(l, &k2));
    let (pl, pr) = (l.add(&1.into(), &f), l.add(&1.into(), &g2));
    let left = list(&[&f, &f, &pl, &l.lambda(&[&m], &pl)]);
    let right = list(&[&g1, &g2, &pr, &l.lambda(&[&k2], &pr)]);
    assert!(!equal(&left, &right).unwrap());
    assert!(!equal(&right, &left).unwrap());
    assert!(first_mismatch(&left, &right).unwrap().is_some());
}

#[test]
fn paired_dag_nodes_are_compared_again_if_bindings_changed() {
    let l = derived();
    let [x, y] = ["x", "y"].map(|name| l.var(name));
    let (f, g) = (l.once(&l.lambda(&[&x], &x)), l.once(&l.lambda(&[&y], &y)));
    let (left, right) = (list(&[&f, &x, &f]), list(&[&g, &x, &g]));
    assert!(!equal(&left, &right).unwrap(), "x is free, and stays so");

    let [n, k, m] = ["n", "k", "m"].map(|name| l.var(name));
    let (d, e) = (l.once(&over(l, &n)), l.once(&over(l, &k)));
    let left = list(&[&d, &l.lambda(&[&n], &d)]);
    let right = list(&[&e, &l.lambda(&[&m], &e)]);
    assert!(!equal(&left, &right).unwrap(), "the second n is the parameter, the second k is not");
}

/// A hook that continues after an error.
#[derive(Node)]
#[node(key = "regressions.Careless", hooks)]
struct Careless {
    part: Value,
}

impl StructuralHooks for Careless {
    fn s_equal(&self, other: &Self, cx: &mut EqualCx<'_>) -> Result<bool, Error> {
        Ok(cx.equal(&self.part, &other.part, false, "part").unwrap_or(true))
    }

    fn s_hash(&self, init: u64, cx: &mut HashCx<'_>) -> Result<u64, Error> {
        Ok(cx.hash(&self.part, init, false).unwrap_or(init))
    }
}

#[test]
fn a_hash_fails_if_a_part_failed_even_if_the_hook_returns_a_value() {
    let l = derived();
    let x = l.var("x");
    let careless: Value = Ref::new(Careless { part: l.lambda(&[&x], &l.handle(1)) }).into();
    let error = hash(&list(&[&careless, &x])).unwrap_err().to_string();
    assert!(error.contains("could not be hashed"), "{error}");
    // Equality rolls back the effects of a failed part.
    assert!(equal(&list(&[&careless, &x]), &list(&[&careless, &x])).unwrap());
}

#[test]
fn an_uncomparable_node_is_an_error_against_anything() {
    let handle = derived().handle(1);
    for other in [Value::None, 1.into(), Seq::new([]).into(), ints(&[1])] {
        assert!(equal(&handle, &other).is_err());
        assert!(equal(&other, &handle).is_err());
    }
    assert!(equal(&handle, &Vec::<Value>::new()).is_err());
}

#[test]
fn a_constant_type_is_held_to_its_promise_on_both_sides() {
    let mut registry = TypeRegistry::new();
    let mesh = TypeBuilder::new("regressions.Mesh")
        .kind(sapwood_structural::NodeKind::ConstTree)
        .field(FieldBuilder::new("of"))
        .register(&mut registry)
        .unwrap();
    let plain = list(&[&make(mesh, [1.into()])]);
    let held = list(&[&make(mesh, [derived().once(&1.into())])]);
    for (left, right) in [(&plain, &held), (&held, &plain), (&held, &held)] {
        let error = equal(left, right).unwrap_err().to_string();
        assert!(error.starts_with("<root>[0]: "), "{error}");
    }
}

#[test]
fn many_free_variables_as_keys() {
    let l = derived();
    let variables: Vec<Value> = (0..100_000).map(|_| l.var("x")).collect();
    let set = || Value::from(Set::new(variables.iter().cloned()).unwrap());
    let (left, right) = (set(), set());
    assert!(equal(&left, &right).unwrap());
    assert_eq!(hash(&left).unwrap(), hash(&right).unwrap());
}

#[derive(Node)]
#[node(key = "regressions.Symbol", kind = "singleton")]
struct Symbol {
    text: String,
}

fn symbol(text: &str) -> Ref<Symbol> {
    Ref::get(Symbol { text: text.into() }).unwrap()
}

/// Compared and hashed by the singleton of its text in small letters.
#[derive(Node)]
#[node(key = "regressions.Spelling", hooks)]
struct Spelling {
    text: String,
}

impl StructuralHooks for Spelling {
    fn s_equal(&self, other: &Self, cx: &mut EqualCx<'_>) -> Result<bool, Error> {
        let [left, right] = [self, other].map(|side| symbol(&side.text.to_lowercase()));
        cx.equal(&left, &right, false, "text")
    }

    fn s_hash(&self, init: u64, cx: &mut HashCx<'_>) -> Result<u64, Error> {
        cx.hash(&symbol(&self.text.to_lowercase()), init, false)
    }
}

#[derive(Node)]
#[node(key = "regressions.Word", kind = "singleton")]
struct Word {
    spelling: Ref<Spelling>,
}

fn word(text: &str) -> Ref<Word> {
    Ref::get(Word { spelling: Ref::new(Spelling { text: text.into() }) }).unwrap()
}

#[test]
fn a_hook_inside_a_singleton_may_get_another() {
    let first = word("one");
    assert!(first.same(&word("ONE")));
    assert!(!first.same(&word("two")));
}

#[test]
fn threads_that_get_one_singleton_at_once_get_the_same() {
    for round in 0..50 {
        let text = format!("round {round}");
        let all: Vec<Ref<Word>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| word(&text))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(all.iter().all(|one| one.same(&all[0])), "{text}");
    }
}

#[test]
fn shared_terms_with_variables_in_keys_cost_their_nodes() {
    // Every level is in two keys of the next: 2^40 paths to the variable.
    let l = derived();
    let x = l.var("x");
    let ladder = |bottom: &Value| {
        (0..40).fold(bottom.clone(), |below, _| {
            let keys = [1, 2].map(|n| list(&[&below, &n.into()]));
            Value::from(Map::new(keys.map(|key| (key, below.clone()))).unwrap())
        })
    };
    let (left, right) = (ladder(&x), ladder(&x));
    assert!(equal(&left, &right).unwrap());
    assert_eq!(hash(&left).unwrap(), hash(&right).unwrap());
    let bind = |x: &Value, body: &Value| l.lambda(&[x], body);
    let y = l.var("y");
    let (left, right) = (bind(&x, &left), bind(&y, &ladder(&y)));
    assert!(equal(&left, &right).unwrap());
    assert_eq!(hash(&left).unwrap(), hash(&right).unwrap());
    assert!(!equal(&left, &bind(&y, &ladder(&x))).unwrap());
}

/// A sum, compared without regard to order.
#[derive(Node)]
#[node(key = "regressions.Sum", hooks)]
struct Sum(Value, Value);

impl StructuralHooks for Sum {
    fn s_equal(&self, other: &Self, cx: &mut EqualCx<'_>) -> Result<bool, Error> {
        Ok(cx.equal(&self.0, &other.0, false, "0")? && cx.equal(&self.1, &other.1, false, "1")?
            || cx.equal(&self.0, &other.1, false, "0")?
                && cx.equal(&self.1, &other.0, false, "1")?)
    }

    fn s_hash(&self, init: u64, cx: &mut HashCx<'_>) -> Result<u64, Error> {
        let parts = [cx.hash(&self.0, init, false)?, cx.hash(&self.1, init, false)?];
        Ok(parts[0].wrapping_add(parts[1]))
    }
}

#[test]
fn tries_that_fail_are_not_made_again() {
    // Each level tries the one below twice, and fails both times: 2^200 tries.
    let ladder = |bottom: i64| {
        (0..200).fold(Value::from(bottom), |below, _| Ref::new(Sum(below.clone(), below)).into())
    };
    let (left, right) = (ladder(1), ladder(2));
    assert!(equal(&left, &ladder(1)).unwrap());
    assert!(!equal(&left, &right).unwrap());
    assert!(first_mismatch(&left, &right).unwrap().is_some());
    assert_eq!(hash(&left).unwrap(), hash(&ladder(1)).unwrap());
}

#[test]
fn a_ladder_of_scopes_and_variables_comes_back_from_json() {
    use sapwood_structural::{read_json, write_json};
    let l = lang::described();
    let ladder = (0..1000).fold(Value::from(1), |below, _| {
        let [a, b] = ["a", "b"].map(|name| l.var(name));
        let both = [l.lambda(&[&a], &l.add(&a, &below)), l.lambda(&[&b], &l.add(&b, &below))];
        list(&[&both[0], &both[1]])
    });
    let text = write_json(&ladder).unwrap();
    let mut registry = TypeRegistry::new();
    let x = l.var("x");
    for node in [l.lambda(&[&x], &l.add(&x, &x)), l.add(&x, &x), x] {
        registry.add(node.as_node().unwrap().info()).unwrap();
    }
    let back: Value = read_json(&text, &registry).unwrap();
    assert!(equal(&ladder, &back).unwrap());
    assert_eq!(hash(&ladder).unwrap(), hash(&back).unwrap());
    assert_eq!(write_json(&back).unwrap(), text);
}

/// `var(None, None, x)` in a def field binds `x` in the scope that the variable is, and nowhere else.
#[test]
fn a_variable_that_is_a_scope_keeps_the_bindings_of_its_fields() {
    let mut registry = TypeRegistry::new();
    let x = TypeBuilder::new("regressions.X")
        .kind(sapwood_structural::NodeKind::Var)
        .register(&mut registry)
        .unwrap();
    let scope = TypeBuilder::new("regressions.ScopeVar")
        .kind(sapwood_structural::NodeKind::Var)
        .scope()
        .field(FieldBuilder::new("inner"))
        .register(&mut registry)
        .unwrap();
    let both = TypeBuilder::new("regressions.Both")
        .field(FieldBuilder::new("binder").role(sapwood_structural::FieldRole::Def))
        .field(FieldBuilder::new("used"))
        .register(&mut registry)
        .unwrap();
    let make = || {
        let x = Value::from(x.make([]).unwrap());
        let binder = Value::from(scope.make([x.clone()]).unwrap());
        Value::from(both.make([binder, x]).unwrap())
    };
    let (left, right) = (make(), make());
    assert!(!equal(&left, &right).unwrap());
    assert!(first_mismatch(&left, &right).unwrap().is_some());
}

#[derive(Node)]
#[node(kind = "var")]
struct Param {
    ty: i64,
}

#[derive(Node)]
#[node(scope)]
struct Many {
    #[node(def)]
    params: Vec<Ref<Param>>,
    used: Vec<Ref<Param>>,
}

/// A walk stores numbers in the variables, one walk at a time: others, on other threads, must neither read nor
/// overwrite them.
#[test]
fn walks_on_several_threads_do_not_disturb_each_other() {
    let many = |shift: usize| {
        let params: Vec<_> = (0..500).map(|n| Ref::new(Param { ty: n % 3 })).collect();
        let used = (0..500).map(|n| params[(n * 7 + shift) % 500].clone()).collect();
        Ref::new(Many { params, used })
    };
    let (left, right, other) = (many(0), many(0), many(1));
    let expected = hash(&left).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..200 {
                    assert!(equal(&left, &right).unwrap());
                    assert!(equal(&left, &left).unwrap());
                    assert!(!equal(&left, &other).unwrap());
                    assert!(!equal(&other, &right).unwrap());
                    assert_eq!(hash(&right).unwrap(), expected);
                }
            });
        }
    });
}
