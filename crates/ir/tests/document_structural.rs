//! All examples of the document on structural comparison, written with this crate.

use std::collections::HashMap;

use sapwood_ir::{Expr, ExprRef, Function, Stmt, Var};
use sapwood_structural::{NotEqual, StructuralOptions, equal, hash};
use sapwood_types::{DataType, Span};

const I64: DataType = DataType::I64;

fn mapped(left: &ExprRef, right: &ExprRef) -> bool {
    StructuralOptions::mapping_free_vars().equal(left, right).unwrap()
}

fn var(name: &str) -> Var {
    Var::new(name, I64, Span::unknown())
}

fn int(value: i64) -> ExprRef {
    Expr::const_int(value, I64, Span::unknown()).unwrap()
}

fn add(left: &ExprRef, right: &ExprRef) -> ExprRef {
    Expr::add(left, right, I64, Span::unknown())
}

#[test]
fn two_variables_are_two_pointers() {
    let (first, second) = (var("x"), var("x"));
    assert!(!first.expr().same(&second));
    assert!(first.expr().same(&first.clone()));
    // With mapped variables they are equal.
    StructuralOptions::mapping_free_vars().assert_equal(first.expr(), second.expr()).unwrap();
    assert!(!equal(first.expr(), second.expr()).unwrap());
}

/// Follows the listed steps: equal pointers, null against non-null, types, then fields.
#[test]
fn the_steps_of_a_comparison() {
    let (x, y) = (var("x"), var("y"));
    let sum = add(&x, &int(1));
    assert!(equal(&sum, &sum).unwrap());
    let body = Stmt::assign(&x, &y, Span::unknown());
    let no_else = Stmt::if_(&x, &body, None, [], Span::unknown());
    let with_else = Stmt::if_(&x, &body, Some(&body), [], Span::unknown());
    assert!(!equal(&no_else, &with_else).unwrap());
    assert!(!equal(&with_else, &no_else).unwrap());
    let difference = Expr::sub(&x, &int(1), I64, Span::unknown());
    assert!(!equal(&sum, &difference).unwrap());
    // All fields count: one difference is enough, in any field.
    assert!(equal(&sum, &add(&x, &int(1))).unwrap());
    assert!(!equal(&sum, &add(&x, &int(2))).unwrap());
    assert!(!equal(&sum, &add(&y, &int(1))).unwrap());
}

/// Follows the table of field types: whether a difference counts, and whether variables are mapped without the option.
#[test]
fn the_table_of_field_types() {
    let (x, y) = (var("x"), var("y"));
    // An ignored field: a name and a span.
    let body = Stmt::assign(&x, &int(1), Span::unknown());
    let named = |name: &str, line: u32| {
        Function::new(name, [], [], &body, Span::new("a.py", line, 1, line, 2))
    };
    assert!(equal(&named("f", 1), &named("g", 2)).unwrap());
    // A usual field: an operand.
    assert!(!equal(&add(&x, &int(1)), &add(&y, &int(1))).unwrap());
    // A def field: the target of an assignment, a parameter.
    let assign = |target: &Var| Stmt::assign(target, &int(1), Span::unknown());
    assert!(equal(&assign(&x), &assign(&y)).unwrap());
    let identity = |param: &Var| {
        let body = Stmt::return_([param.expr().clone()], Span::unknown());
        Function::new("f", [param.clone()], [], &body, Span::unknown())
    };
    assert!(equal(&identity(&x), &identity(&y)).unwrap());
}

#[test]
fn an_assignment_maps_its_variable_by_itself() {
    let assign =
        |target: &str, source: &str| Stmt::assign(&var(target), &var(source), Span::unknown());
    let (left, right) = (assign("x", "y"), assign("a", "b"));
    StructuralOptions::mapping_free_vars().assert_equal(&left, &right).unwrap();
    // The value is an ordinary field: in strict mode, different free variables differ.
    assert!(!equal(&left, &right).unwrap());
    let y = var("y");
    let of_y = |target: &str| Stmt::assign(&var(target), &y, Span::unknown());
    assert!(equal(&of_y("x"), &of_y("a")).unwrap());
}

#[test]
fn constants_by_value_and_types_apart() {
    let (left, right) = (int(42), int(42));
    StructuralOptions::default().assert_equal(&left, &right).unwrap();
    assert!(!equal(var("x").expr(), &int(1)).unwrap());
    assert_eq!(hash(&left).unwrap(), hash(&right).unwrap());
}

#[test]
fn spans_and_names_do_not_count() {
    let at = |line| Expr::const_int(42, I64, Span::new("a.py", line, 1, line, 3)).unwrap();
    assert!(equal(&at(1), &at(2)).unwrap());
    assert_eq!(hash(&at(1)).unwrap(), hash(&at(2)).unwrap());
}

#[test]
fn strict_and_mapped() {
    let (x, y) = (var("x"), var("y"));
    let (left, right) = (add(&x, &int(1)), add(&y, &int(1)));
    assert!(!equal(&left, &right).unwrap());
    assert!(mapped(&left, &right));
    // A mismatch has a path.
    match StructuralOptions::default().assert_equal(&left, &right) {
        Err(NotEqual::Differ(mismatch)) => assert_eq!(mismatch.left.to_string(), "<root>.left"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_mapping_is_consistent() {
    let (x, y, z) = (var("x"), var("y"), var("z"));
    let twice = add(&x, &x);
    assert!(mapped(&twice, &add(&y, &y)));
    assert!(!mapped(&twice, &add(&y, &z)));
    assert!(!mapped(&add(&y, &z), &twice));
    // Types are compared before variables are mapped.
    let float = Var::new("f", DataType::F32, Span::unknown());
    assert!(!mapped(x.expr(), &float));
}

#[test]
fn equal_means_the_same_hash() {
    let build = || add(&var("x"), &int(5));
    let (left, right) = (build(), build());
    let options = StructuralOptions::mapping_free_vars();
    assert!(options.equal(&left, &right).unwrap());
    assert_eq!(options.hash(&left).unwrap(), options.hash(&right).unwrap());
}

/// A class for common subexpressions by hash and equality, as in the document.
#[derive(Default)]
struct Cse {
    cache: HashMap<sapwood_structural::Hash128, Vec<ExprRef>>,
}

impl Cse {
    fn deduplicate(&mut self, expr: &ExprRef) -> ExprRef {
        let known = self.cache.entry(hash(expr).unwrap()).or_default();
        for other in &*known {
            if equal(expr, other).unwrap() {
                return other.clone();
            }
        }
        known.push(expr.clone());
        expr.clone()
    }
}

#[test]
fn the_class_for_common_subexpressions() {
    let (x, y) = (var("x"), var("y"));
    let mut cse = Cse::default();
    let first = cse.deduplicate(&add(&x, &int(1)));
    let again = cse.deduplicate(&add(&x, &int(1)));
    let other = cse.deduplicate(&add(&y, &int(1)));
    assert!(first.same(&again));
    assert!(!first.same(&other));
}
