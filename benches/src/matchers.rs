//! Patterns written with matchers and by hand, which find the same values.

use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};

use sapwood_ptir::ops::{Add, Div, Exp, Logistic, Mul, Neg, Sqrt, Sub};
use sapwood_ptir::{Program, Value};
use sapwood_rewrite::matchers as m;
use sapwood_rewrite::{
    GreedyConfig, OpRef, PatternFn as _, PatternSet, Rewrite, apply_patterns_and_fold_greedily,
};

/// The number of times that each value is matched, so that matching dominates.
const REPEATS: usize = 50;

type Count = fn(Value, &mut Rewrite<'_>) -> usize;

/// Returns how many values of a program match, by matchers or by hand.
#[must_use]
pub fn count_matches(program: &mut Program, by_hand: bool) -> usize {
    static FOUND: AtomicUsize = AtomicUsize::new(0);
    FOUND.store(0, Ordering::Relaxed);
    let count: Count = if by_hand { count_by_hand } else { count_by_matchers };
    let mut set = PatternSet::new();
    let pattern = move |_: OpRef, rw: &mut Rewrite<'_>| -> Option<Value> {
        let value = rw.result(0)?;
        let found: usize = (0..REPEATS).map(|_| count(black_box(value), rw)).sum();
        FOUND.fetch_add(found / REPEATS, Ordering::Relaxed);
        None
    };
    set.add(pattern.hops(2).named("count"));
    let set = set.freeze();
    let config = GreedyConfig { enable_constant_fold: false, ..GreedyConfig::default() };
    for f in program.functions_mut() {
        let _ = apply_patterns_and_fold_greedily(f, &set, &config);
    }
    FOUND.load(Ordering::Relaxed)
}

fn count_by_matchers(value: Value, rw: &mut Rewrite<'_>) -> usize {
    let [x, y, z] = [m::slot(), m::slot(), m::slot()];
    let mut count = rw.matches(value, m::neg(m::neg(m::any(&x)))).iter().count();
    count += rw.matches(value, m::exp(m::sub(m::any(&x), m::any(&y)))).iter().count();
    count += rw.matches(value, m::mul(m::any(&x), m::splat(1.0)).commutative()).iter().count();
    let silu = m::mul(m::any(&x), m::logistic(m::same(&x))).commutative();
    count += rw.matches(value, silu).iter().count();
    count += rw.matches(value, m::div(m::any(&x), m::sqrt(m::any(&y)))).iter().count();
    let first = m::mul(m::any(&x), m::any(&y)).commutative();
    let second = m::mul(m::same(&x), m::any(&z)).commutative();
    count + rw.matches(value, m::add(first, second)).iter().count()
}

fn count_by_hand(value: Value, rw: &mut Rewrite<'_>) -> usize {
    let found = [
        neg_of_neg(value, rw),
        exp_of_sub(value, rw),
        mul_by_one(value, rw),
        silu(value, rw),
        div_by_sqrt(value, rw),
        common_factor(value, rw),
    ];
    found.iter().flatten().count()
}

fn neg_of_neg(value: Value, rw: &mut Rewrite<'_>) -> Option<Value> {
    let outer = rw.def::<Neg>(value)?;
    Some(rw.def::<Neg>(outer.input)?.input)
}

fn exp_of_sub(value: Value, rw: &mut Rewrite<'_>) -> Option<Value> {
    let outer = rw.def::<Exp>(value)?;
    Some(rw.def::<Sub>(outer.input)?.lhs)
}

fn mul_by_one(value: Value, rw: &mut Rewrite<'_>) -> Option<Value> {
    let Mul { lhs, rhs } = rw.def::<Mul>(value)?;
    if rw.is_number(rhs, 1.0) {
        return Some(lhs);
    }
    rw.is_number(lhs, 1.0).then_some(rhs)
}

fn silu(value: Value, rw: &mut Rewrite<'_>) -> Option<Value> {
    let Mul { lhs, rhs } = rw.def::<Mul>(value)?;
    if rw.def::<Logistic>(rhs).is_some_and(|l| l.input == lhs) {
        return Some(lhs);
    }
    rw.def::<Logistic>(lhs).is_some_and(|l| l.input == rhs).then_some(rhs)
}

fn div_by_sqrt(value: Value, rw: &mut Rewrite<'_>) -> Option<Value> {
    let Div { lhs, rhs } = rw.def::<Div>(value)?;
    rw.def::<Sqrt>(rhs).map(|_| lhs)
}

fn common_factor(value: Value, rw: &mut Rewrite<'_>) -> Option<Value> {
    let Add { lhs, rhs } = rw.def::<Add>(value)?;
    let (first, second) = (rw.def::<Mul>(lhs)?, rw.def::<Mul>(rhs)?);
    let is_factor = |x: &Value| *x == second.lhs || *x == second.rhs;
    [first.lhs, first.rhs].into_iter().find(is_factor)
}
