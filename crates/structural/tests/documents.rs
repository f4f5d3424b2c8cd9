//! The examples of the two documents that define structural comparison.

use std::collections::HashMap;

use crate::lang::{Lang, ints, languages, list, make, same, same_mapped};
use sapwood_structural::{
    EqualCx, Error, FieldBuilder, FieldRole, Hash128, HashCx, Node, Ref, StructuralHooks,
    TypeBuilder, TypeRegistry, Value, equal, hash,
};
use sapwood_testing::universe::with_pair_hooks;

/// Runs a test on the language in Rust types and on the one described at run time.
fn each(test: impl Fn(&Lang)) {
    languages().into_iter().for_each(test);
}

// Reference and structural equality.

#[test]
fn two_variables_of_one_name_are_two() {
    each(|l| {
        let [x1, x2] = l.vars(["x", "x"]);
        assert!(!same(&x1, &x2));
        assert!(same_mapped(&x1, &x2));
    });
}

#[test]
fn constants_of_one_value_are_equal() {
    each(|l| {
        let (a, b) = (l.int(42), l.int(42));
        assert!(!a.as_node().unwrap().same(b.as_node().unwrap()));
        assert!(same(&a, &b));
        assert_eq!(hash(&a).unwrap(), hash(&b).unwrap());
    });
}

#[test]
fn a_variable_is_no_constant() {
    each(|l| assert!(!same_mapped(&l.var("x"), &l.int(1))));
}

#[test]
fn none_is_not_a_node() {
    each(|l| {
        assert!(!same(&Value::None, &l.int(1)));
        assert!(same(&Value::None, &Value::None));
    });
}

// Auto-mapping.

#[test]
fn auto_mapping_1_without_it_variables_are_compared_by_pointer() {
    each(|l| {
        let [x, y] = l.vars(["x", "y"]);
        assert!(!same(&l.next(&x), &l.next(&y)));
        assert!(same(&l.next(&x), &l.next(&x)));
    });
}

#[test]
fn auto_mapping_2_with_it_variables_are_compared_by_position() {
    each(|l| {
        let [x, y] = l.vars(["x", "y"]);
        assert!(same_mapped(&l.next(&x), &l.next(&y)));
    });
}

#[test]
fn auto_mapping_3_one_variable_maps_to_one() {
    each(|l| {
        let [x, y] = l.vars(["x", "y"]);
        assert!(same_mapped(&l.add(&x, &x), &l.add(&y, &y)));
    });
}

#[test]
fn auto_mapping_4_one_variable_does_not_map_to_two() {
    each(|l| {
        let [x, y, z] = l.vars(["x", "y", "z"]);
        assert!(!same_mapped(&l.add(&x, &x), &l.add(&y, &z)));
        assert!(!same_mapped(&l.add(&y, &z), &l.add(&x, &x)), "nor two to one");
    });
}

#[test]
fn types_of_variables_are_compared_before_they_map() {
    each(|l| {
        let (x, y) = (l.typed("x", "int64"), l.typed("y", "float32"));
        assert!(!same_mapped(&x, &y));
    });
}

// Field roles.

#[test]
fn a_span_is_ignored() {
    each(|l| {
        let (one, two) = (l.int(1), l.int(2));
        let here = l.add_at(&one, &two, "a.py:1");
        let there = l.add_at(&one, &two, "b.py:5");
        assert!(same(&here, &there));
        assert!(!same(&here, &l.add_at(&one, &one, "a.py:1")));
    });
}

#[test]
fn a_name_is_ignored() {
    let mut registry = TypeRegistry::new();
    let function = TypeBuilder::new("ir.Function")
        .field(FieldBuilder::new("name").role(FieldRole::Ignore))
        .field(FieldBuilder::new("body"))
        .register(&mut registry)
        .unwrap();
    let named = |name: &str, body: i64| make(function, [name.into(), body.into()]);
    assert!(same(&named("main", 1), &named("entry", 1)));
    assert!(!same(&named("main", 1), &named("main", 2)));
}

#[test]
fn the_target_of_an_assignment_is_mapped_always_its_value_with_the_flag() {
    each(|l| {
        let [x, y, a, b] = l.vars(["x", "y", "a", "b"]);
        let (left, right) = (l.assign(&x, &y), l.assign(&a, &b));
        assert!(same_mapped(&left, &right));
        assert!(!same(&left, &right), "y and b are free");
        assert!(same(&left, &l.assign(&a, &y)), "x maps to a");
    });
}

#[test]
fn an_assignment_binds_for_the_statements_after_it() {
    each(|l| {
        let [x, a] = l.vars(["x", "a"]);
        let block =
            |v: &Value, w: &Value| list(&[&l.assign(v, &l.int(1)), &l.assign(w, &l.next(v))]);
        let [y, b] = l.vars(["y", "b"]);
        assert!(same(&block(&x, &y), &block(&a, &b)));
        assert!(!same(&block(&x, &y), &block(&a, &a)), "a is taken");
    });
}

#[test]
fn the_fields_of_a_base_type_come_first() {
    let mut registry = TypeRegistry::new();
    let statement = TypeBuilder::new("ir.Statement")
        .field(FieldBuilder::new("span").role(FieldRole::Ignore))
        .register(&mut registry)
        .unwrap();
    let returns = TypeBuilder::new("ir.Return")
        .base(statement)
        .field(FieldBuilder::new("value"))
        .register(&mut registry)
        .unwrap();
    assert!(returns.is_a(statement));
    assert!(same(&make(returns, ["a".into(), 1.into()]), &make(returns, ["b".into(), 1.into()])));
}

// Hash.

#[test]
fn equal_under_a_flag_means_same_hash_under_it() {
    each(|l| {
        let build = || l.add(&l.var("x"), &l.int(5));
        let (a, b) = (build(), build());
        // `same_mapped` compares the hashes too.
        assert!(same_mapped(&a, &b));
        let options = sapwood_structural::StructuralOptions::mapping_free_vars();
        assert_eq!(options.hash(&a).unwrap(), options.hash(&b).unwrap());
        assert_ne!(
            hash(&a).unwrap(),
            hash(&b).unwrap(),
            "different free variables hash differently"
        );
    });
}

/// Common subexpressions: one representative per class of equal expressions.
#[derive(Default)]
struct Representatives {
    candidates: HashMap<Hash128, Vec<Value>>,
}

impl Representatives {
    fn of(&mut self, expression: &Value) -> Result<Value, Error> {
        let candidates = self.candidates.entry(hash(expression)?).or_default();
        for candidate in candidates.iter() {
            if equal(candidate, expression)? {
                return Ok(candidate.clone());
            }
        }
        candidates.push(expression.clone());
        Ok(expression.clone())
    }
}

#[test]
fn common_subexpressions_share_a_representative() {
    each(|l| {
        let [x, y] = l.vars(["x", "y"]);
        let mut representatives = Representatives::default();
        let mut pick =
            |value: &Value| representatives.of(value).unwrap().as_node().unwrap().clone();
        let first = pick(&l.next(&x));
        assert!(first.same(&pick(&l.next(&x))), "a copy is replaced");
        assert!(!first.same(&pick(&l.next(&y))), "another variable is another expression");
        assert!(!first.same(&pick(&l.add(&x, &l.int(2)))));
        assert!(first.same(&pick(&l.next(&x))));
    });
}

// tree.

#[test]
fn tree_equal_if_all_fields_are() {
    each(|l| {
        let sum = |a, b| l.add(&l.int(a), &l.int(b));
        assert!(same(&sum(1, 2), &sum(1, 2)));
        assert!(!same(&sum(1, 2), &sum(1, 3)));
    });
}

#[test]
fn tree_sharing_is_invisible() {
    each(|l| {
        let x = l.var("x");
        let s = l.next(&x);
        assert!(same(&list(&[&s, &s]), &list(&[&l.next(&x), &l.next(&x)])));
    });
}

// const-tree.

#[test]
fn const_tree_is_compared_by_content_and_by_pointer() {
    each(|l| {
        let mesh = |shape: &[i64]| l.mesh(&ints(shape), &ints(&[0, 1, 2, 3]));
        let square = mesh(&[2, 2]);
        assert!(same(&square, &square));
        assert!(same(&square, &mesh(&[2, 2])));
        assert!(!same(&square, &mesh(&[4, 1])));
    });
}

#[test]
fn a_shared_sum_does_not_hide_its_variable() {
    each(|l| {
        let [x, y] = l.vars(["x", "y"]);
        let shared = l.next(&x);
        assert!(!same_mapped(&list(&[&shared, &x]), &list(&[&shared, &y])));
        assert!(same_mapped(&list(&[&shared, &x]), &list(&[&shared, &x])));
    });
}

#[test]
fn a_shared_sum_does_not_hide_its_variable_inside_a_function() {
    each(|l| {
        let [x, y] = l.vars(["x", "y"]);
        let shared = l.next(&x);
        let left = l.fun(&[&x, &y], &list(&[&shared, &x]));
        let right = l.fun(&[&y, &x], &list(&[&shared, &y]));
        assert!(!same(&left, &right), "x is bound to y, so the shared sum differs from itself");
    });
}

#[test]
fn a_const_tree_over_a_variable_is_refused_not_wrong() {
    let mut registry = TypeRegistry::new();
    let sum = TypeBuilder::new("ir.ConstSum")
        .kind(sapwood_structural::NodeKind::ConstTree)
        .field(FieldBuilder::new("lhs"))
        .register(&mut registry)
        .unwrap();
    each(|l| {
        let shared = make(sum, [l.var("x")]);
        let error = equal(&shared, &shared).unwrap_err();
        assert!(matches!(error, Error::NotConstant { .. }), "{error}");
    });
}

// dag.

#[test]
fn dag_computing_once_is_not_computing_twice() {
    each(|l| {
        let x = l.var("x");
        let once = |value: &Value| l.once(&l.next(value));
        let s = once(&x);
        let program_a = list(&[&s, &s]);
        let program_b = list(&[&once(&x), &once(&x)]);
        assert!(!same(&program_a, &program_b));
    });
}

#[test]
fn dag_computing_twice_is_not_computing_once() {
    each(|l| {
        let [a, b] = [l.once(&l.int(1)), l.once(&l.int(1))];
        assert!(!same(&list(&[&a, &b]), &list(&[&a, &a])));
    });
}

// Singletons, hooks, and the worked example.

#[test]
fn singletons_are_equal_to_themselves_alone() {
    each(|l| {
        let (conv, relu) = (l.op("nn.conv2d"), l.op("nn.relu"));
        assert!(same(&conv, &conv));
        assert!(!same(&conv, &relu));
        assert!(same(&conv, &l.op("nn.conv2d")), "get gives the one object");
        let made = make(l.op, ["nn.conv2d".into()]);
        assert!(!same(&conv, &made), "a constructed one is another");
        assert_eq!(hash(&conv).unwrap(), hash(&made).unwrap(), "the hash is of type and fields");
    });
}

/// A function whose hooks choose where its variables are bound.
#[derive(Node)]
#[node(key = "hooked.Lambda", hooks)]
struct HookedLambda {
    params: Vec<Value>,
    body: Value,
    #[allow(dead_code, reason = "there to be left out")]
    comment: String,
}

impl StructuralHooks for HookedLambda {
    fn s_equal(&self, other: &Self, cx: &mut EqualCx<'_>) -> Result<bool, Error> {
        Ok(cx.equal(&self.params, &other.params, true, "params")?
            && cx.equal(&self.body, &other.body, false, "body")?)
    }

    fn s_hash(&self, init: u64, cx: &mut HashCx<'_>) -> Result<u64, Error> {
        let params = cx.hash(&self.params, init, true)?;
        cx.hash(&self.body, params, false)
    }
}

#[test]
fn a_hook_chooses_fields_and_def_regions() {
    each(|l| {
        let [x, y] = l.vars(["x", "y"]);
        let lambda = |param: &Value, body: Value, comment: &str| -> Value {
            let (params, comment) = (vec![param.clone()], comment.to_owned());
            Ref::new(HookedLambda { params, body, comment }).into()
        };
        assert!(same(&lambda(&x, l.next(&x), "first"), &lambda(&y, l.next(&y), "second")));
        assert!(!same(&lambda(&x, l.next(&x), ""), &lambda(&y, l.next(&x), "")));
        let pair = (lambda(&x, l.next(&x), ""), lambda(&y, l.add(&y, &l.int(2)), ""));
        let mismatch = sapwood_structural::first_mismatch(&pair.0, &pair.1).unwrap().unwrap();
        assert_eq!(mismatch.left.to_string(), "<root>.body.rhs.value");
    });
}

#[test]
fn the_same_hook_at_run_time() {
    let mut registry = TypeRegistry::new();
    let builder = TypeBuilder::new("hooked.Lambda")
        .field(FieldBuilder::new("params"))
        .field(FieldBuilder::new("body"))
        .field(FieldBuilder::new("comment").default("".into()));
    let lambda = with_pair_hooks(builder, [("params", true), ("body", false)])
        .register(&mut registry)
        .unwrap();
    each(|l| {
        let [x, y] = l.vars(["x", "y"]);
        let left = make(lambda, [list(&[&x]), l.next(&x), "first".into()]);
        assert!(same(&left, &make(lambda, [list(&[&y]), l.next(&y)])));
        assert!(!same(&left, &make(lambda, [list(&[&y]), l.next(&x)])));
    });
}

#[test]
fn worked_example() {
    each(|l| {
        let [x, y] = l.vars(["x", "y"]);
        let plus = l.op("add");
        let body = |v: &Value| list(&[&plus, v, &l.int(1)]);
        let here = l.fun_at(&[&x], &body(&x), "a.py:1");
        let there = l.fun_at(&[&y], &body(&y), "b.py:5");
        assert!(same(&here, &there));
        assert_eq!(hash(&here).unwrap(), hash(&there).unwrap());
    });
}
