//! Maps and sets whose keys differ and have the same hash.

use crate::lang::{Lang, derived, make};
use sapwood_structural::{
    Error, FieldBuilder, FieldRole, Map, NodeKind, Seq, Set, StructuralOptions, TypeBuilder,
    TypeInfo, TypeRegistry, Value, equal, first_mismatch, hash,
};

const FREE: StructuralOptions = StructuralOptions::mapping_free_vars();

fn map(entries: &[(&Value, &Value)]) -> Value {
    let entries = entries.iter().map(|&(key, value)| (key.clone(), value.clone()));
    Map::new(entries).unwrap().into()
}

fn seq(items: &[&Value]) -> Value {
    Seq::new(items.iter().copied().cloned()).into()
}

/// Two singletons of one content.
fn ops(l: &Lang) -> [Value; 2] {
    [make(l.op, ["add".into()]), make(l.op, ["add".into()])]
}

/// A sequence of two dag nodes, and one of the same dag node twice.
fn shared_differently(l: &Lang) -> [Value; 2] {
    let (a, b) = (l.once(&l.int(1)), l.once(&l.int(1)));
    [seq(&[&a, &b]), seq(&[&a, &a])]
}

fn ignoring() -> &'static TypeInfo {
    TypeBuilder::new("ties.Ignoring")
        .kind(NodeKind::Singleton)
        .field(FieldBuilder::new("name").role(FieldRole::Ignore))
        .register(&mut TypeRegistry::new())
        .unwrap()
}

/// All functions agree that two values are equal, or that they are not.
#[track_caller]
fn check(left: &Value, right: &Value, options: StructuralOptions, expected: bool) {
    for (left, right) in [(left, right), (right, left)] {
        assert_eq!(options.equal(left, right).unwrap(), expected, "{left:?} and {right:?}");
        let mismatch = options.first_mismatch(left, right).unwrap();
        assert_eq!(mismatch.is_none(), expected, "{mismatch:?}");
    }
    if expected {
        assert_eq!(options.hash(left).unwrap(), options.hash(right).unwrap());
    }
}

/// Entries with these keys are matched as a set.
#[track_caller]
fn check_keys([p, q]: &[Value; 2]) {
    assert_eq!(hash(p).unwrap(), hash(q).unwrap(), "this is about keys that tie");
    assert!(!equal(p, q).unwrap());
    let (one, two): (Value, Value) = (1.into(), 2.into());
    let (forth, back) = (map(&[(p, &one), (q, &two)]), map(&[(q, &two), (p, &one)]));
    for options in [StructuralOptions::default(), FREE] {
        check(&forth, &back, options, true);
        check(&seq(&[&forth, &forth]), &seq(&[&back, &forth]), options, true);
        check(&forth, &map(&[(p, &two), (q, &one)]), options, false);
        check(&forth, &map(&[(p, &one)]), options, false);
    }
    let set = |members: [&Value; 2]| Value::from(Set::new(members.map(Clone::clone)).unwrap());
    check(&set([p, q]), &set([q, p]), FREE, true);
    let keyed = |key: Value, other: &Value| map(&[(&key, &one), (other, &two)]);
    check(&keyed(set([p, q]), p), &keyed(set([q, p]), p), FREE, true);
}

#[test]
fn singletons_of_one_content() {
    let l = derived();
    check_keys(&ops(l));
    let [p, q] = ops(l);
    check_keys(&[seq(&[&p, &l.int(1)]), seq(&[&q, &l.int(1)])]);
    let other = make(l.op, ["add".into()]);
    let one = Value::from(1);
    check(&map(&[(&p, &one), (&q, &one)]), &map(&[(&q, &one), (&other, &one)]), FREE, false);
}

#[test]
fn singletons_all_of_whose_fields_are_ignored() {
    let info = ignoring();
    check_keys(&[make(info, ["a".into()]), make(info, ["b".into()])]);
}

#[test]
fn keys_that_differ_in_sharing() {
    check_keys(&shared_differently(derived()));
}

#[test]
fn sharing_between_keys_counts() {
    let l = derived();
    let key = |a: &Value, b: &Value, number: i64| seq(&[a, b, &number.into()]);
    let once = || l.once(&l.int(1));
    let set = |members: [Value; 4]| Value::from(Set::new(members).unwrap());
    let (a, b, c, d) = (once(), once(), once(), once());
    let left = set([key(&a, &b, 1), key(&a, &a, 1), key(&a, &b, 2), key(&a, &a, 2)]);
    let same = set([key(&c, &c, 2), key(&c, &d, 2), key(&c, &c, 1), key(&c, &d, 1)]);
    check(&left, &same, FREE, true);
    let swapped = set([key(&c, &d, 1), key(&c, &c, 1), key(&d, &c, 2), key(&d, &d, 2)]);
    check(&left, &swapped, FREE, false);
}

#[test]
fn keys_whose_hook_hashes_nothing() {
    let info = TypeBuilder::new("ties.Hooked")
        .field(FieldBuilder::new("value"))
        .equal_hook(Box::new(|left, right, cx| {
            cx.equal(left.child(0), right.child(0), false, "value")
        }))
        .hash_hook(Box::new(|_, init, _| Ok(init)))
        .register(&mut TypeRegistry::new())
        .unwrap();
    check_keys(&[make(info, [1.into()]), make(info, [2.into()])]);
}

#[test]
fn variables_as_values() {
    let l = derived();
    for [p, q] in [ops(l), shared_differently(l)] {
        let (x, y, z) = (l.var("x"), l.var("y"), l.var("z"));
        let (forth, back) = (map(&[(&p, &x), (&q, &y)]), map(&[(&q, &z), (&p, &x)]));
        check(&forth, &map(&[(&q, &y), (&p, &x)]), StructuralOptions::default(), true);
        check(&forth, &back, StructuralOptions::default(), false);
        check(&forth, &back, FREE, true);
        // The binding of the variables stays in force after the map.
        check(&seq(&[&forth, &x, &y]), &seq(&[&back, &x, &z]), FREE, true);
        check(&seq(&[&forth, &x, &y]), &seq(&[&back, &z, &x]), FREE, false);
        check(&seq(&[&x, &y, &forth]), &seq(&[&x, &z, &back]), FREE, true);
        check(&seq(&[&y, &x, &forth]), &seq(&[&x, &z, &back]), FREE, false);
        check(&seq(&[&forth, &forth]), &seq(&[&map(&[(&q, &y), (&p, &x)]), &back]), FREE, false);
        // One variable in both, and in one of them twice.
        let both = |a: &Value, b: &Value| map(&[(&p, &seq(&[a, b])), (&q, &seq(&[b, b]))]);
        let turned = map(&[(&q, &seq(&[&z, &z])), (&p, &seq(&[&y, &z]))]);
        check(&both(&x, &y), &turned, FREE, true);
        check(&both(&x, &x), &turned, FREE, false);
        // Bound by a function around the map, or inside the values.
        let function = |a: &Value, b: &Value, first: bool| {
            let entries = [(&p, a), (&q, b)];
            let body = if first { map(&entries) } else { map(&[entries[1], entries[0]]) };
            make(l.lambda, [seq(&[a, b]), body])
        };
        check(
            &function(&x, &y, true),
            &function(&y, &z, false),
            StructuralOptions::default(),
            true,
        );
        let inside = |a: &Value| make(l.lambda, [seq(&[a]), a.clone()]);
        let left = map(&[(&p, &inside(&x)), (&q, &inside(&y))]);
        check(
            &left,
            &map(&[(&q, &inside(&z)), (&p, &inside(&z))]),
            StructuralOptions::default(),
            true,
        );
        // Bound where the map is.
        let params = |a: &Value, b: &Value, first: bool| {
            let entries = [(&p, a), (&q, b)];
            let params = if first { map(&entries) } else { map(&[entries[1], entries[0]]) };
            make(l.lambda, [params, seq(&[a, b, a])])
        };
        check(&params(&x, &y, true), &params(&z, &x, false), StructuralOptions::default(), true);
    }
}

/// The fields of variables count where tied values bind them.
#[test]
fn types_of_variables_as_values() {
    let l = derived();
    let [p, q] = ops(l);
    let var = |ty: &str| make(l.var, ["v".into(), ty.into()]);
    let of = |a: &str, b: &str| map(&[(&p, &var(a)), (&q, &var(b))]);
    check(&of("int", "float"), &of("int", "float"), FREE, true);
    check(&of("int", "float"), &of("float", "int"), FREE, false);
    check(&of("int", "float"), &of("int", "int"), FREE, false);
    assert_ne!(
        FREE.hash(&of("int", "float")).unwrap().lo,
        FREE.hash(&of("int", "int")).unwrap().lo
    );
}

/// Values of tied keys see the bindings of the values of other keys.
#[test]
fn values_of_tied_keys_are_visited_last() {
    let l = derived();
    let [p, q] = ops(l);
    let of = |x: &Value, turned: bool| {
        let binder = make(l.assign, [x.clone(), 1.into(), Value::None]);
        // One of these has a hash below that of the tied keys, one above.
        let keys: Vec<Value> = (0..8).map(|key| format!("key {key}").into()).collect();
        let mut entries = vec![(&p, x), (&q, x)];
        entries.extend(keys.iter().map(|key| (key, &binder)));
        if turned {
            entries.reverse();
        }
        map(&entries)
    };
    let (x, y) = (l.var("x"), l.var("y"));
    for options in [StructuralOptions::default(), FREE] {
        check(&of(&x, false), &of(&y, true), options, true);
    }
}

/// The value of one tied key binds a variable that the value of the other uses: no order is right.
#[test]
fn an_order_that_would_matter_is_refused() {
    let l = derived();
    let [p, q] = ops(l);
    let x = l.var("x");
    let value = map(&[(&p, &make(l.assign, [x.clone(), 1.into(), Value::None])), (&q, &x)]);
    let holder = seq(&[&1.into(), &value]);
    for error in [
        hash(&holder).unwrap_err(),
        equal(&holder, &holder).unwrap_err(),
        first_mismatch(&holder, &holder).unwrap_err(),
    ] {
        assert!(matches!(error, Error::KeyCollision { .. }), "{error}");
        assert_eq!(
            error.to_string(),
            "<root>[1]: keys of this map differ and have the same hash, and their values bind or use the same variable in different ways; give the keys contents that differ, or bind the variable outside the map"
        );
    }
}

/// Each level holds the one below twice, below keys that tie.
#[test]
fn ties_inside_ties_cost_their_nodes() {
    let l = derived();
    for [p, q] in [ops(l), shared_differently(l)] {
        let build = |levels: usize, bottom: &Value, turned: bool| {
            (0..levels).fold(bottom.clone(), |below, _| {
                let keys = [seq(&[&below, &p]), seq(&[&below, &q])];
                let order = if turned { [1, 0] } else { [0, 1] };
                let set = Set::new(order.map(|at: usize| keys[at].clone())).unwrap();
                map(&[(&p, &set.clone().into()), (&q, &below), (&set.into(), &below)])
            })
        };
        let one = Value::from(1);
        check(&build(30, &one, false), &build(30, &one, true), FREE, true);
        check(&build(30, &one, false), &build(30, &2.into(), true), FREE, false);
    }
}

/// With variables, the result or an error comes in reasonable time.
#[test]
fn ties_inside_ties_with_variables_end() {
    let l = derived();
    let [p, q] = ops(l);
    let build = |x: &Value, levels: usize| {
        (0..levels).fold(x.clone(), |below, _| map(&[(&p, &below), (&q, &below)]))
    };
    let (x, y) = (l.var("x"), l.var("y"));
    check(&build(&x, 6), &build(&y, 6), FREE, true);
    check(&build(&x, 40), &build(&x, 40), StructuralOptions::default(), true);
    match FREE.hash(&build(&x, 40)) {
        Ok(found) => assert_eq!(found, FREE.hash(&build(&y, 40)).unwrap()),
        Err(error) => assert!(matches!(error, Error::KeyCollision { .. }), "{error}"),
    }
}

#[test]
fn many_ties_are_matched_in_time() {
    let l = derived();
    let keys: Vec<Value> = (0..20_000).map(|_| seq(&[&make(l.op, ["add".into()])])).collect();
    let of = |keys: &mut dyn Iterator<Item = &Value>| {
        Value::from(Map::new(keys.map(|key| (key.clone(), key.clone()))).unwrap())
    };
    check(&of(&mut keys.iter()), &of(&mut keys.iter().rev()), FREE, true);
}

#[test]
fn a_mismatch_names_the_tied_key() {
    let l = derived();
    let [p, q] = ops(l);
    let (one, two, three): (Value, Value, Value) = (1.into(), 2.into(), 3.into());
    let found =
        first_mismatch(&map(&[(&p, &one), (&q, &two)]), &map(&[(&q, &three), (&p, &one)])).unwrap();
    let found = found.unwrap();
    assert_eq!(found.left.to_string(), found.right.to_string());
    assert!(found.to_string().contains('3'), "{found}");
}

/// Singletons are equal only to themselves, whatever they hold and whatever is bound.
#[test]
fn a_singleton_with_a_variable_below_is_compared_by_pointer() {
    let l = derived();
    let x = l.var("x");
    let of = |held: &Value| make(l.op, [held.clone()]);
    for held in [x.clone(), seq(&[&x]), l.once(&l.int(1)), make(l.handle, [1.into()])] {
        let (s, other) = (of(&held), of(&held));
        for options in [StructuralOptions::default(), FREE] {
            check(&s, &s, options, true);
            check(&s, &other, options, false);
            // In a map, as key and as value.
            check(&map(&[(&s, &s), (&other, &x)]), &map(&[(&other, &x), (&s, &s)]), options, true);
        }
        let function = |v: &Value| make(l.lambda, [seq(&[v]), seq(&[v, &s])]);
        check(&function(&x), &function(&l.var("y")), StructuralOptions::default(), true);
    }
    assert!(l.op.get([x]).unwrap_err().to_string().contains("a variable"), "no registry for these");
    assert!(l.op.get([make(l.handle, [1.into()])]).is_err());
}

/// Entries that correspond are found where the hashes of keys tie.
#[test]
fn hooks_below_tied_keys_are_checked() {
    let wrong = TypeBuilder::new("ties.Wrong")
        .field(FieldBuilder::new("value"))
        .equal_hook(Box::new(|_, _, _| Ok(true)))
        .hash_hook(Box::new(|node, init, cx| cx.hash(node.child(0), init, false)))
        .register(&mut TypeRegistry::new())
        .unwrap();
    let l = derived();
    let [p, q] = ops(l);
    let of = |number: i64| make(wrong, [number.into()]);
    let (same, left, right) = (of(0), of(1), of(2));
    let forth = map(&[(&p, &same), (&q, &left)]);
    let back = map(&[(&q, &right), (&p, &same)]);
    assert!(sapwood_structural::check_hooks(&forth, &back).unwrap().is_some());
    let fine = map(&[(&q, &left), (&p, &same)]);
    assert!(sapwood_structural::check_hooks(&forth, &fine).unwrap().is_none());
}

/// Keys that share differently, in the value of a tied key, next to a function.
#[test]
fn keys_that_share_differently_below_tied_keys() {
    let l = derived();
    let [p, q] = ops(l);
    let inner = |turn: usize| {
        let once = || l.once(&l.int(1));
        let (a, b, c) = (once(), once(), once());
        let (d, e) = (l.once(&l.int(2)), l.once(&l.int(2)));
        let (k, m, n) = (seq(&[&a, &b, &c]), seq(&[&a, &a, &a]), seq(&[&a, &a, &b]));
        let mut entries = [(&k, &d), (&m, &d), (&n, &e)];
        entries.rotate_left(turn);
        map(&entries)
    };
    let y = l.var("y");
    let x = l.typed("x", seq(&[&y]));
    let function = || make(l.lambda, [x.clone(), x.clone()]);
    for turn in 0..3 {
        check(&inner(0), &inner(turn), FREE, true);
        let forth = map(&[(&p, &inner(0)), (&q, &1.into())]);
        check(&forth, &map(&[(&q, &1.into()), (&p, &inner(turn))]), FREE, true);
        let forth = map(&[(&q, &1.into()), (&p, &function())]);
        check(&forth, &map(&[(&p, &function()), (&q, &1.into())]), FREE, true);
        check(
            &forth,
            &map(&[(&p, &function()), (&q, &1.into())]),
            StructuralOptions::default(),
            true,
        );
        let forth = map(&[(&p, &inner(0)), (&q, &function())]);
        let back = map(&[(&q, &function()), (&p, &inner(turn))]);
        check(&forth, &back, FREE, true);
        check(&forth, &back, StructuralOptions::default(), true);
    }
}

/// The time does not grow with the square of the number of values that use the variable.
#[test]
fn many_values_of_tied_keys_use_one_variable() {
    let l = derived();
    let keys: Vec<Value> = (0..20_000).map(|_| make(l.op, ["add".into()])).collect();
    let all = |variable: &Value| {
        let entries: Vec<(&Value, &Value)> = keys.iter().map(|key| (key, variable)).collect();
        map(&entries)
    };
    let (left, right) = (all(&l.var("x")), all(&l.var("y")));
    assert_eq!(FREE.hash(&left).unwrap(), FREE.hash(&right).unwrap());
    assert!(FREE.equal(&left, &right).unwrap());
    hash(&left).unwrap();
    assert!(!equal(&left, &right).unwrap());
}
