//! The cases that decide between rules: each of these breaks a simpler engine.

use crate::lang;
use crate::lang::{Lang, languages, list, make, same, same_mapped};
use sapwood_structural::{
    FieldBuilder, FieldRole, NodeKind, TypeBuilder, TypeRegistry, Value, equal, first_mismatch,
    hash,
};

fn each(test: impl Fn(&Lang)) {
    languages().into_iter().for_each(test);
}

/// Runs a step that would never end if it cost paths instead of nodes.
fn at_once<T>(work: impl FnOnce() -> T) -> T {
    work()
}

// Scopes.

#[test]
fn a_function_used_twice_equals_two_copies() {
    each(|l| {
        let identity = || {
            let x = l.var("x");
            l.lambda(&[&x], &x)
        };
        let one = identity();
        assert!(same(&list(&[&one, &one]), &list(&[&identity(), &identity()])));
        let x = l.var("x");
        let both = list(&[&l.lambda(&[&x], &x), &l.lambda(&[&x], &x)]);
        assert!(same(&both, &list(&[&identity(), &identity()])), "one variable, two binders");
    });
}

#[test]
fn without_scopes_a_binding_sticks() {
    each(|l| {
        let [x, y, z] = l.vars(["x", "y", "z"]);
        let twice = list(&[&l.fun(&[&x], &x), &l.fun(&[&x], &x)]);
        assert!(!same(&twice, &list(&[&l.fun(&[&y], &y), &l.fun(&[&z], &z)])));
        assert!(same(&twice, &list(&[&l.fun(&[&y], &y), &l.fun(&[&y], &y)])));
        assert!(same(&list(&[&l.fun(&[&x], &x), &x]), &list(&[&l.fun(&[&y], &y), &y])));
    });
}

#[test]
fn a_bound_variable_is_free_after_its_scope() {
    each(|l| {
        let [x, y] = l.vars(["x", "y"]);
        assert!(!same(&list(&[&l.lambda(&[&x], &x), &x]), &list(&[&l.lambda(&[&y], &y), &y])));
        assert!(same(&list(&[&l.lambda(&[&x], &x), &x]), &list(&[&l.lambda(&[&y], &y), &x])));
    });
}

#[test]
fn a_variable_once_free_is_free_for_the_whole_comparison() {
    each(|l| {
        let [x, y] = l.vars(["x", "y"]);
        // x equals itself first; then a function would have to bind it to y.
        let left = list(&[&x, &l.lambda(&[&x], &x)]);
        let right = list(&[&x, &l.lambda(&[&y], &y)]);
        assert!(!same(&left, &right));
    });
}

#[test]
fn a_variable_mapped_by_the_flag_stays_mapped_after_the_scope() {
    each(|l| {
        let [x, y, z, p] = l.vars(["x", "y", "z", "p"]);
        let inside = |free: &Value, after: &Value| list(&[&l.lambda(&[&p], free), after]);
        assert!(same_mapped(&inside(&x, &x), &inside(&y, &y)));
        assert!(!same_mapped(&inside(&x, &x), &inside(&y, &z)));
    });
}

#[test]
fn a_variable_does_not_equal_itself_once_bound_to_another() {
    each(|l| {
        let [x, y] = l.vars(["x", "y"]);
        assert!(!same(&l.fun(&[&x], &x), &l.fun(&[&y], &x)));
        assert!(!same(&l.fun(&[&x, &y], &x), &l.fun(&[&y, &x], &x)));
        assert!(same(&l.fun(&[&x, &y], &x), &l.fun(&[&y, &x], &y)));
    });
}

#[test]
fn a_variable_met_again_in_a_def_field_keeps_its_binding() {
    each(|l| {
        let [x, a, b] = l.vars(["x", "a", "b"]);
        let twice = |first: &Value, second: &Value| {
            list(&[&l.assign(first, &l.int(1)), &l.assign(second, &l.int(2))])
        };
        assert!(same(&twice(&x, &x), &twice(&a, &a)));
        assert!(!same(&twice(&x, &x), &twice(&a, &b)));
    });
}

// Facts belong to the deepest scope they rest on.

/// `T_k = (λa.T_{k-1}, λb.T_{k-1})`, with variables from `param`.
fn tower(l: &Lang, levels: usize, bottom: &Value, mut param: impl FnMut() -> Value) -> Value {
    (0..levels).fold(bottom.clone(), |below, _| {
        let (a, b) = (param(), param());
        list(&[&l.lambda(&[&a], &below), &l.lambda(&[&b], &below)])
    })
}

const LEVELS: usize = 1000;

#[test]
fn a_tower_of_functions_costs_its_nodes() {
    each(|l| {
        let build = |bottom: i64| tower(l, LEVELS, &l.int(bottom), || l.var("a"));
        let (left, right, other) = (build(1), build(1), build(2));
        at_once(|| {
            assert!(same(&left, &right));
            assert!(!same(&left, &other));
        });
    });
}

#[test]
fn a_tower_over_a_free_variable_costs_its_nodes() {
    each(|l| {
        let [x, y] = l.vars(["x", "y"]);
        let build = |bottom: &Value| tower(l, LEVELS, bottom, || l.var("a"));
        at_once(|| {
            assert!(same(&build(&x), &build(&x)));
            assert!(!same(&build(&x), &build(&y)));
            assert!(same_mapped(&build(&x), &build(&y)));
        });
    });
}

#[test]
fn a_tower_under_a_function_costs_its_nodes() {
    each(|l| {
        let build = || {
            let x = l.var("x");
            l.lambda(&[&x], &tower(l, LEVELS, &l.next(&x), || l.var("a")))
        };
        at_once(|| assert!(same(&build(), &build())));
    });
}

#[test]
fn a_tower_of_one_variable_per_level_costs_its_nodes() {
    each(|l| {
        let build = || {
            (0..LEVELS).fold(l.int(1), |below, _| {
                let a = l.var("a");
                list(&[&l.lambda(&[&a], &below), &l.lambda(&[&a], &below)])
            })
        };
        at_once(|| assert!(same(&build(), &build())));
    });
}

#[test]
fn a_tower_whose_levels_use_their_variable_costs_its_nodes() {
    each(|l| {
        let build = || {
            (0..LEVELS).fold(l.int(1), |below, _| {
                let [a, b] = l.vars(["a", "b"]);
                list(&[
                    &l.lambda(&[&a], &list(&[&a, &below])),
                    &l.lambda(&[&b], &list(&[&below, &b])),
                ])
            })
        };
        at_once(|| assert!(same(&build(), &build())));
    });
}

#[test]
fn a_tower_of_parameters_with_shared_dimensions_costs_its_nodes() {
    each(|l| {
        // The types of all parameters mention one dimension, which the outermost function that
        // meets it binds.
        let build = || {
            let n = l.var("n");
            tower(l, LEVELS, &l.int(1), || l.typed("a", list(&[&n])))
        };
        at_once(|| assert!(same(&build(), &build())));
        let bound = || {
            let n = l.var("n");
            l.lambda(&[&n], &tower(l, LEVELS, &n, || l.typed("a", list(&[&n]))))
        };
        at_once(|| assert!(same(&bound(), &bound())));
    });
}

#[test]
fn memoized_equality_ends_when_its_bindings_change() {
    each(|l| {
        // F = λa.x. The second field binds x to y, so F no longer equals itself.
        let [a, x, y] = l.vars(["a", "x", "y"]);
        let f = l.lambda(&[&a], &x);
        let define = |v: &Value| l.assign(v, &l.int(0));
        let left = list(&[&f, &define(&x), &f]);
        assert!(!same(&left, &list(&[&f, &define(&y), &f])));
        assert!(!same_mapped(&left, &list(&[&f, &define(&y), &f])));
        assert!(same(&left, &list(&[&f, &define(&x), &f])));
    });
}

#[test]
fn sides_are_distinguished() {
    each(|l| {
        // λ(x, y).[g(x), g(y), g(x)] and λ(y, x).[g(y), g(x), g(x)], with the terms shared.
        let [x, y] = l.vars(["x", "y"]);
        let (gx, gy) = (l.next(&x), l.next(&y));
        for function in [Lang::fun, Lang::lambda] {
            let left = function(l, &[&x, &y], &list(&[&gx, &gy, &gx]));
            assert!(!same(&left, &function(l, &[&y, &x], &list(&[&gy, &gx, &gx]))));
            assert!(same(&left, &function(l, &[&y, &x], &list(&[&gy, &gx, &gy]))));
        }
    });
}

#[test]
fn a_function_that_is_free_in_one_place_and_bound_in_another_keeps_the_law() {
    each(|l| {
        // [f, λb.f] and [f, λb.f'], where f' is a copy of f: `same` compares the hashes.
        let [x, b] = l.vars(["x", "b"]);
        let copies = || {
            let p = l.var("p");
            l.lambda(&[&p], &l.add(&p, &x))
        };
        let (f, copy) = (copies(), copies());
        assert!(same(&list(&[&f, &l.lambda(&[&b], &f)]), &list(&[&f, &l.lambda(&[&b], &copy)])));
        let bound = |inner: &Value| l.lambda(&[&x], &list(&[&f, &l.lambda(&[&b], inner)]));
        assert!(same(&bound(&f), &bound(&copy)));
        let plain = || l.next(&x);
        let (f, copy) = (plain(), plain());
        assert!(same(&list(&[&f, &l.lambda(&[&b], &f)]), &list(&[&f, &l.lambda(&[&b], &copy)])));
        let bound = |inner: &Value| l.lambda(&[&x], &list(&[&f, &l.lambda(&[&b], inner)]));
        assert!(same(&bound(&f), &bound(&copy)));
    });
}

// Shared structure.

/// A graph of `levels` rows of `width` nodes; each adds two nodes of the row below, the second
/// `stride` places on.
fn woven(l: &Lang, bottom: &Value, levels: usize, width: usize, stride: usize) -> Value {
    let mut row: Vec<Value> = (0..width).map(|_| l.next(bottom)).collect();
    for _ in 0..levels {
        row = (0..width).map(|i| l.add(&row[i], &row[(i + stride) % width])).collect();
    }
    list(&row.iter().collect::<Vec<_>>())
}

#[test]
fn graphs_that_share_differently_cost_their_nodes() {
    each(|l| {
        let x = l.var("x");
        let weave = |stride| woven(l, &x, 40, 50, stride);
        let (left, right, far) = (weave(1), weave(1), weave(17));
        at_once(|| {
            assert!(same(&left, &right));
            assert!(same(&left, &far), "trees do not see sharing");
            assert!(same_mapped(&left, &woven(l, &l.var("y"), 40, 50, 31)));
        });
    });
}

#[test]
fn wide_graphs_that_share_differently_cost_their_nodes() {
    // Quadratic work would be half a thousand million pairs.
    let l = lang::derived();
    let x = l.var("x");
    assert!(equal(&woven(l, &x, 20, 5000, 1), &woven(l, &x, 20, 5000, 11)).unwrap());
}

#[test]
fn dag_pairs_below_a_shared_tree_are_remembered() {
    each(|l| {
        // The dag node has one owner, the tree above it two.
        let tree = || l.next(&l.once(&l.int(1)));
        let (one, two) = (tree(), tree());
        assert!(!same(&list(&[&one, &one]), &list(&[&one, &two])));
        assert!(same(&list(&[&one, &one]), &list(&[&two, &two])));
    });
}

// The same pointer.

#[test]
fn the_same_pointer_is_walked_if_it_holds_a_variable() {
    each(|l| {
        let [x, y] = l.vars(["x", "y"]);
        let s = l.next(&x);
        assert!(!same_mapped(&list(&[&s, &x]), &list(&[&s, &y])));
        assert!(!same(&l.fun(&[&x, &y], &s), &l.fun(&[&y, &x], &s)));
    });
}

#[test]
fn the_same_pointer_is_walked_if_it_holds_a_dag_node() {
    each(|l| {
        let once = l.once(&l.int(1));
        let (s, copy) = (l.next(&once), l.once(&l.int(1)));
        assert!(!same(&list(&[&s, &once]), &list(&[&s, &copy])));
        assert!(same(&list(&[&s, &once]), &list(&[&s, &once])));
    });
}

#[test]
fn the_same_pointer_is_walked_if_it_holds_a_hook() {
    // Equal to nothing, not even to itself.
    let mut registry = TypeRegistry::new();
    let never = TypeBuilder::new("rule.Never")
        .equal_hook(Box::new(|_, _, _| Ok(false)))
        .hash_hook(Box::new(|_, init, _| Ok(init)))
        .register(&mut registry)
        .unwrap();
    each(|l| {
        let s = l.next(&make(never, []));
        assert!(!equal(&s, &s).unwrap());
    });
}

#[test]
fn the_same_pointer_is_walked_if_it_holds_something_uncomparable() {
    each(|l| {
        let s = l.next(&l.handle(1));
        assert!(equal(&s, &s).is_err());
        assert!(hash(&s).is_err());
    });
}

#[test]
fn the_same_pointer_is_not_walked_otherwise() {
    each(|l| {
        let ladder = (0..100).fold(l.int(1), |below, _| l.add(&below, &below));
        at_once(|| assert!(same(&ladder, &ladder)));
    });
}

// Fields.

#[test]
fn bindings_are_seen_by_the_fields_after_them_only() {
    let mut registry = TypeRegistry::new();
    let late = TypeBuilder::new("rule.Late")
        .field(FieldBuilder::new("before"))
        .field(FieldBuilder::new("var").role(FieldRole::Def))
        .field(FieldBuilder::new("after"))
        .register(&mut registry)
        .unwrap();
    each(|l| {
        let [x, y] = l.vars(["x", "y"]);
        let node = |before: &Value, var: &Value, after: &Value| {
            make(late, [before.clone(), var.clone(), after.clone()])
        };
        assert!(same(&node(&l.int(0), &x, &x), &node(&l.int(0), &y, &y)));
        assert!(!same(&node(&x, &x, &x), &node(&y, &y, &y)));
    });
}

#[test]
fn the_default_kind_is_tree() {
    let mut registry = TypeRegistry::new();
    let info = TypeBuilder::new("rule.Plain").register(&mut registry).unwrap();
    assert_eq!(info.kind(), NodeKind::Tree);
    assert_eq!(lang::derived().add.kind(), NodeKind::Tree);
}

#[test]
fn types_of_one_key_are_still_two_types() {
    let [derived, described] = languages();
    let mismatch = first_mismatch(&derived.int(1), &described.int(1)).unwrap().unwrap();
    assert!(matches!(mismatch.reason, sapwood_structural::MismatchReason::Type));
}
