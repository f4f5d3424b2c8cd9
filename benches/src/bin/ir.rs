//! The front-end IR: comparing, hashing, printing, parsing.

use std::hint::black_box;

use sapwood_benches::{Area, best, best_with};
use sapwood_ir::{
    Expr, ExprRef, Function, Program, ProgramRef, Stmt, StmtRef, Type, Var, parse_program,
    print_program,
};
use sapwood_structural::{equal, first_mismatch, hash};
use sapwood_types::{DataType, Source, Span};

const I64: DataType = DataType::I64;
const UNKNOWN_SPAN: Span = Span::unknown();

fn main() {
    let area = Area::new("ir");
    tree(&area);
    statements(&area);
    mismatch(&area);
    chain(&area);
    text(&area);
}

/// Returns a balanced tree of 2^20 - 1 nodes over constants, built level by level.
fn balanced() -> ExprRef {
    let mut level: Vec<ExprRef> = (0..1 << 19).map(Expr::dim).collect();
    while level.len() > 1 {
        level =
            level.chunks(2).map(|pair| Expr::add(&pair[0], &pair[1], I64, UNKNOWN_SPAN)).collect();
    }
    level.remove(0)
}

fn tree(area: &Area) {
    let nodes = (1 << 20) - 1;
    let (left, right) = (balanced(), balanced());
    area.per_node("equal/tree", best(5, || equal(&left, &right)), nodes);
    area.per_node("hash/tree", best_with(5, balanced, |tree| (hash(&tree), tree)), nodes);
}

/// Returns a function of assignments, each a sum of the previous variable and a constant: four nodes each.
fn sums(count: usize) -> ProgramRef {
    let x = Var::new("x", I64, UNKNOWN_SPAN);
    let mut last = x.clone();
    let mut stmts: Vec<StmtRef> = Vec::with_capacity(count);
    for index in 0..count {
        let next = Var::new("v", I64, UNKNOWN_SPAN);
        let value = Expr::add(&last, &Expr::dim(index as i64), I64, UNKNOWN_SPAN);
        stmts.push(Stmt::assign(&next, &value, UNKNOWN_SPAN));
        last = next;
    }
    let body = Stmt::seq(stmts, UNKNOWN_SPAN);
    let function = Function::new("f", [x], [Type::scalar(I64)], &body, UNKNOWN_SPAN);
    Program::new([function], "", UNKNOWN_SPAN).expect("one function")
}

fn statements(area: &Area) {
    let count = 250_000;
    let nodes = 4 * count as u64;
    let (left, right) = (sums(count), sums(count));
    area.per_node("equal/statements", best(5, || equal(&left, &right)), nodes);
    area.per_node("hash/statements", best_with(5, || sums(count), |p| (hash(&p), p)), nodes);
}

fn mismatch(area: &Area) {
    let (left, right) = (balanced(), balanced());
    let left = Expr::add(&Expr::dim(1), &left, I64, UNKNOWN_SPAN);
    let right = Expr::sub(&Expr::dim(1), &right, I64, UNKNOWN_SPAN);
    let time = best(5, || black_box(first_mismatch(&left, &right)));
    area.row("mismatch/first", time.as_secs_f64() * 1e6, "µs", 1 << 20);
}

fn chain(area: &Area) {
    let depth = 1_000_000;
    let build = || {
        let one = Expr::dim(1);
        (0..depth).fold(Expr::dim(0), |expr, _| Expr::add(&expr, &one, I64, UNKNOWN_SPAN))
    };
    let fine = equal(&build(), &build()).unwrap_or(false) && hash(&build()).is_ok();
    if fine {
        area.row("chain", f64::from(depth), "depth", depth as u64);
    } else {
        area.failed("chain", "a chain of a million differs from itself");
    }
}

fn text(area: &Area) {
    let x = Var::new("x", I64, UNKNOWN_SPAN);
    let mut vars = vec![x.clone()];
    let mut stmts: Vec<StmtRef> = Vec::new();
    for index in 0..100_000_usize {
        // Programs mostly use recently computed values.
        let pick =
            |back: usize| &vars[vars.len() - 1 - (index * 7 + back * 13) % vars.len().min(50)];
        let product = Expr::mul(pick(1), pick(2), I64, UNKNOWN_SPAN);
        let rest = Expr::sub(pick(3), &Expr::dim(index as i64), I64, UNKNOWN_SPAN);
        let value =
            Expr::add(&product, &Expr::mul(&rest, pick(4), I64, UNKNOWN_SPAN), I64, UNKNOWN_SPAN);
        let next = Var::new(&format!("value_{index}"), I64, UNKNOWN_SPAN);
        stmts.push(Stmt::assign(&next, &value, UNKNOWN_SPAN));
        vars.push(next);
    }
    let body = Stmt::seq(stmts, UNKNOWN_SPAN);
    let function = Function::new("f", [x], [Type::scalar(I64)], &body, UNKNOWN_SPAN);
    let program = Program::new([function], "", UNKNOWN_SPAN).expect("one function");
    let printed = print_program(&program).expect("it has a text");
    let bytes = printed.len() as u64;
    let megabytes = bytes as f64 / 1e6;
    let print = best(7, || print_program(&program));
    area.row("print", megabytes / print.as_secs_f64(), "MB/s", bytes);
    let source = Source::new("bench.ir", printed);
    let parse = best(7, || parse_program(&source));
    area.row("parse", megabytes / parse.as_secs_f64(), "MB/s", bytes);
}
