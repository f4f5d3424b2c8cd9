//! A tour of structural comparison: define nodes, compare them, read a mismatch, hash them, compare sharing,
//! and use all of it for common-subexpression elimination.
//!
//! `cargo run --example tour -p sapwood-structural`

#![allow(clippy::print_stdout, reason = "a tour is there to be read")]

use std::collections::HashMap;

use sapwood_structural::{
    Error, Hash128, Node, Ref, StructuralOptions, equal, first_mismatch, hash,
};

/// A variable: identified by its binder, not by its name.
#[derive(Node)]
#[node(kind = "var")]
struct Var {
    #[node(ignore)]
    name: String,
}

/// An expression: defined by its parts.
#[derive(Node)]
enum Expr {
    Use(Ref<Var>),
    Int(i64),
    Add(Ref<Expr>, Ref<Expr>),
    Mul(Ref<Expr>, Ref<Expr>),
}

/// A function: a scope that binds its parameters.
#[derive(Node)]
#[node(scope)]
struct Lambda {
    #[node(def)]
    params: Vec<Ref<Var>>,
    body: Ref<Expr>,
    #[node(ignore)]
    span: String,
}

/// A value that is computed where it occurs: using it twice does not compute it twice.
#[derive(Node)]
#[node(kind = "dag")]
struct Computed {
    value: Ref<Expr>,
}

fn var(name: &str) -> Ref<Var> {
    Ref::new(Var { name: name.to_owned() })
}

fn uses(var: &Ref<Var>) -> Ref<Expr> {
    Ref::new(Expr::Use(var.clone()))
}

fn int(value: i64) -> Ref<Expr> {
    Ref::new(Expr::Int(value))
}

fn add(lhs: &Ref<Expr>, rhs: &Ref<Expr>) -> Ref<Expr> {
    Ref::new(Expr::Add(lhs.clone(), rhs.clone()))
}

fn mul(lhs: &Ref<Expr>, rhs: &Ref<Expr>) -> Ref<Expr> {
    Ref::new(Expr::Mul(lhs.clone(), rhs.clone()))
}

/// `λ(name). name + number`
fn adder(name: &str, number: i64, span: &str) -> Ref<Lambda> {
    let x = var(name);
    let body = add(&uses(&x), &int(number));
    Ref::new(Lambda { params: vec![x], body, span: span.to_owned() })
}

fn main() -> Result<(), Error> {
    println!("# Equal up to renaming");
    let (f, g) = (adder("x", 1, "a.py:1"), adder("y", 1, "b.py:5"));
    println!("f = {f:?}  (from {})", f.span);
    println!("g = {g:?}  (from {})", g.span);
    println!("the same pointer: {}", f.same(&g));
    println!("equal:            {}", equal(&f, &g)?);

    println!("\n# What differs, and where");
    if let Some(mismatch) = first_mismatch(&f, &adder("z", 2, ""))? {
        println!("{mismatch}");
    }
    let (x, y) = (var("x"), var("y"));
    let twice = |a: &Ref<Var>, b: &Ref<Var>, body: Ref<Expr>| {
        Ref::new(Lambda { params: vec![a.clone(), b.clone()], body, span: String::new() })
    };
    let straight = twice(&x, &y, add(&uses(&x), &uses(&y)));
    let (a, b) = (var("a"), var("b"));
    let crossed = twice(&a, &b, add(&uses(&b), &uses(&a)));
    if let Err(error) = StructuralOptions::default().assert_equal(&straight, &crossed) {
        println!("{error}");
    }

    println!("\n# Free variables");
    println!("x + 1 and y + 1: {}", equal(&add(&uses(&x), &int(1)), &add(&uses(&y), &int(1)))?);
    let mapped = StructuralOptions::mapping_free_vars();
    let found = mapped.equal(&add(&uses(&x), &int(1)), &add(&uses(&y), &int(1)))?;
    println!("with free variables mapped: {found}");

    println!("\n# Hash, the same in every process");
    println!("f: {}", hash(&f)?);
    println!("g: {}", hash(&g)?);

    println!("\n# Sharing");
    let computed = || Ref::new(Computed { value: add(&int(1), &int(2)) });
    let once = computed();
    let (shared, copied) = ((once.clone(), once), (computed(), computed()));
    println!("computed once and twice are equal: {}", equal(&shared, &copied)?);
    let sum = add(&int(1), &int(2));
    let (shared, copied) = (mul(&sum, &sum), mul(&add(&int(1), &int(2)), &add(&int(1), &int(2))));
    println!("expressions do not mind:           {}", equal(&shared, &copied)?);

    println!("\n# Common subexpressions");
    let row = [
        add(&uses(&x), &int(1)),
        add(&uses(&y), &int(1)),
        add(&uses(&x), &int(1)),
        mul(&uses(&x), &int(1)),
    ];
    let mut candidates: HashMap<Hash128, Vec<usize>> = HashMap::new();
    for (place, expression) in row.iter().enumerate() {
        let known = candidates.entry(hash(expression)?).or_default();
        let mut same = None;
        for &candidate in known.iter() {
            // A hash only suggests; equality decides.
            if equal(&row[candidate], expression)? {
                same = Some(candidate);
                break;
            }
        }
        match same {
            Some(earlier) => println!("{place}: {expression:?} is computed already, at {earlier}"),
            None => {
                known.push(place);
                println!("{place}: {expression:?}");
            }
        }
    }
    Ok(())
}
