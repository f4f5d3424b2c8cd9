//! Matchers: the values that they match and capture.

use sapwood_ptir::ops::{Add, Cast, Mul, Transpose};
use sapwood_ptir::{Attr, Axes, Op as _, Program, Value, parse};
use sapwood_rewrite::matchers::{self as m, Matcher};
use sapwood_rewrite::{GreedyConfig, PatternSet, Rewrite, apply_patterns_and_fold_greedily};
use sapwood_types::DataType;

// Returns a function of three parameters with these instructions, of which the last defines `%r`.
fn program(body: &str) -> Program {
    let text = format!(
        "ptir 1\nfunc @f(%a: f32[4, 4], %b: f32[4, 4], %c: f32[4, 4]) -> f32[4, 4] {{\n{}\n  return %r\n}}",
        body.replace(';', " : f32[4, 4]\n")
    );
    parse(&text).unwrap_or_else(|problems| panic!("{problems}\n{text}"))
}

// Returns whether `%r` matches.
fn matches(body: &str, matcher: impl Matcher) -> bool {
    let program = program(body);
    let f = &program.functions()[0];
    m::matches(f, f.results()[0], matcher).is_some()
}

// Returns the index of the parameter that was captured.
fn parameter(program: &Program, value: Option<Value>) -> Option<usize> {
    program.functions()[0].params().iter().position(|&p| Some(p) == value)
}

#[test]
fn ops_match_with_their_operands() {
    let body = "%x = exp %a;%r = sub %x, %b;";
    assert!(matches(body, m::sub(m::exp(m::anything()), m::anything())));
    assert!(!matches(body, m::sub(m::anything(), m::exp(m::anything()))));
    assert!(!matches(body, m::add(m::anything(), m::anything())));
    assert!(!matches(body, m::exp(m::anything())));
    let select = m::op(Add::key(), (m::anything(), m::anything(), m::anything()));
    assert!(!matches("%r = add %a, %b;", select), "another number of operands");
}

#[test]
fn a_capture_has_the_value_that_matched() {
    let (mut x, mut y, mut e) = (None, None, None);
    let program = program("%x = exp %b;%r = add %x, %a;");
    let f = &program.functions()[0];
    let sum = m::add(m::any(&mut x), m::exp(m::any(&mut y)).bind(&mut e)).commutative();
    assert_eq!(m::matches(f, f.results()[0], sum), Some(()));
    assert_eq!((parameter(&program, x), parameter(&program, y)), (Some(0), Some(1)));
    assert_eq!(e.and_then(|e| f.inst_of(e)).map(|i| f.op_name(i)), Some("exp"));
}

#[test]
fn commutative_parts_are_tried_in_every_combination() {
    // Only the swapped order of the inner product fits the outer operand.
    for body in ["%p = mul %a, %b;%r = add %p, %a;", "%p = mul %b, %a;%r = add %a, %p;"] {
        let (x, y) = (m::slot(), m::slot());
        let product = m::mul(m::any(&x), m::any(&y)).commutative();
        assert!(matches(body, m::add(product, m::same(&y)).commutative()), "{body}");
        let product = m::mul(m::any(&x), m::any(&y)).commutative();
        assert!(matches(body, m::add(product, m::same(&x)).commutative()), "{body}");
    }
    let x = m::slot();
    let square = m::mul(m::any(&x), m::same(&x));
    assert!(!matches("%r = mul %a, %b;", square));
    let x = m::slot();
    assert!(matches("%r = mul %a, %a;", m::mul(m::any(&x), m::same(&x)).commutative()));
}

#[test]
fn the_captures_of_the_other_alternative_are_empty() {
    let (mut x, mut y) = (None, None);
    let program = program("%x = exp %a;%r = add %x, %b;");
    let f = &program.functions()[0];
    // The first alternative captures `%x` before it fails.
    let first = m::add(m::any(&mut x), m::log(m::anything()));
    let second = m::add(m::anything(), m::any(&mut y));
    assert_eq!(m::matches(f, f.results()[0], m::either(first, second)), Some(()));
    assert_eq!((x, parameter(&program, y)), (None, Some(1)));

    let (mut x, mut y) = (Some(f.params()[2]), Some(f.params()[2]));
    let first = m::add(m::any(&mut x), m::anything());
    let second = m::add(m::anything(), m::any(&mut y));
    assert_eq!(m::matches(f, f.results()[0], m::either(first, second)), Some(()));
    assert_eq!((x.is_some(), y), (true, None));
}

#[test]
fn constants_match_through_broadcasts() {
    let body = "%one = constant 1.0 : f32[]\n%o = broadcast_to %one;%r = mul %o, %a;";
    assert!(matches(body, m::mul(m::one(), m::anything())));
    assert!(matches(body, m::mul(m::anything(), m::splat(1.0)).commutative()));
    assert!(!matches(body, m::mul(m::zero(), m::anything())));
    let mut literal = None;
    assert!(matches(body, m::mul(m::constant(&mut literal), m::anything())));
    assert!(literal.is_some_and(|l| l.is_one()));
    let small = |l: &sapwood_ptir::TensorLiteral| l.is_filled_with(1.0);
    assert!(matches(body, m::mul(m::constant_where(small), m::anything())));
    assert!(!matches(body, m::mul(m::anything(), m::constant_where(small))));
    let negative = "%z = constant -0.0;%r = add %a, %z;";
    assert!(matches(negative, m::add(m::anything(), m::splat(-0.0))));
    assert!(!matches(negative, m::add(m::anything(), m::zero())));
}

#[test]
fn conditions_restrict_values() {
    let body = "%t = transpose %a {perm = [1, 0]};%r = neg %t;";
    let turned = || m::transpose(m::anything());
    assert!(matches(body, m::neg(turned().attr("perm", Axes::from([1, 0])))));
    assert!(!matches(body, m::neg(turned().attr("perm", Axes::from([0, 1])))));
    assert!(!matches(body, m::neg(turned().attr("axes", Axes::from([1, 0])))));
    let has_two = |attr: &Attr| attr.as_ints().is_some_and(|perm| perm.len() == 2);
    assert!(matches(body, m::neg(turned().attr_where("perm", has_two))));
    assert!(matches(body, m::neg(m::anything().view(|t: &Transpose| t.perm.len() == 2))));
    assert!(!matches(body, m::neg(m::anything().view(|_: &Cast| true))));
    assert!(matches(body, m::neg(m::anything().dtype(DataType::F32).rank(2))));
    assert!(!matches(body, m::neg(m::anything().dtype(DataType::F64))));
    assert!(!matches(body, m::neg(m::anything().rank(1))));
    assert!(matches(body, m::neg(m::anything().shape(|ty| ty.known_shape().is_some()))));
    assert!(matches(body, m::neg(m::anything().one_use())));
    assert!(!matches(
        "%t = exp %a;%r = add %t, %t;",
        m::add(m::anything().one_use(), m::anything())
    ));
}

/// `x*a + x*b = x*(a + b)`.
fn factor(_: Add, rw: &mut Rewrite<'_>) -> Option<Value> {
    let (x, [mut a, mut b]) = (m::slot(), [None; 2]);
    let first = m::mul(m::any(&x), m::any(&mut a)).commutative().one_use();
    let second = m::mul(m::same(&x), m::any(&mut b)).commutative().one_use();
    rw.matches_root(m::add(first, second))?;
    let sum = rw.emit(Add { lhs: a?, rhs: b? })?;
    rw.emit(Mul { lhs: x.get()?, rhs: sum })
}

#[test]
fn a_pattern_may_use_them() {
    let mut set = PatternSet::new();
    set.add(factor);
    let set = set.freeze();
    for (body, rewrites) in [
        ("%p = mul %a, %c;%q = mul %c, %b;%r = add %p, %q;", 1),
        ("%p = mul %a, %c;%q = mul %b, %b;%r = add %p, %q;", 0),
        ("%p = mul %a, %c;%q = add %p, %p;%r = add %q, %p;", 0),
    ] {
        let mut program = program(body);
        let f = program.function_mut("f").unwrap();
        let config = GreedyConfig { expensive_checks: true, ..GreedyConfig::default() };
        let stats = apply_patterns_and_fold_greedily(f, &set, &config).unwrap();
        assert_eq!((stats.rewrites, stats.problems.len()), (rewrites, 0), "{program}");
    }
}
