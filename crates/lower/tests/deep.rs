//! Depth, sharing and length: a million deep, 2^1000 paths, a million long, on a small stack.

use sapwood_ir::{
    Callee, Expr, ExprRef, Function, IterArg, Program, ProgramRef, Stmt, StmtRef, Type, TypeRef,
    Var,
};
use sapwood_lower::{lower, lower_function};
use sapwood_ptir::Registry;
use sapwood_testing::on_small_stack;
use sapwood_types::{DataType, Span};

const I64: DataType = DataType::I64;
const NOWHERE: Span = Span::unknown();
const MILLION: usize = 1_000_000;

fn program(result: &TypeRef, write: impl Fn(&Var) -> StmtRef) -> ProgramRef {
    let x = Var::new("x", I64, NOWHERE);
    let body = write(&x);
    let function = Function::new("f", [x], [result.clone()], &body, NOWHERE);
    Program::new([function], "", NOWHERE).unwrap()
}

fn returning(write: impl Fn(&Var) -> ExprRef) -> ProgramRef {
    program(&Type::scalar(I64), |x| Stmt::return_([write(x)], NOWHERE))
}

/// Lowers and verifies a program on a small stack; returns the number of instructions.
fn lowered(build: impl Fn() -> ProgramRef + Send + Sync) -> usize {
    on_small_stack(|| {
        let program = build();
        let made = lower(&program).unwrap_or_else(|problems| panic!("{problems}"));
        assert!(sapwood_ptir::verify(&made).is_ok());
        made.num_insts()
    })
}

/// Returns the first error of lowering a program.
fn refused(build: impl Fn() -> ProgramRef + Send + Sync) -> String {
    on_small_stack(|| match lower(&build()) {
        Ok(_) => panic!("it is lowered"),
        Err(problems) => problems.into_vec()[0].message.clone(),
    })
}

fn add(left: &ExprRef, right: &ExprRef) -> ExprRef {
    Expr::add(left, right, I64, NOWHERE)
}

#[test]
fn a_million_deep_to_the_left_and_to_the_right() {
    let left = || returning(|x| (0..MILLION).fold(x.expr().clone(), |sum, _| add(&sum, x)));
    let right = || returning(|x| (0..MILLION).fold(x.expr().clone(), |sum, _| add(x, &sum)));
    assert_eq!(lowered(left), MILLION + 1);
    assert_eq!(lowered(right), MILLION + 1);
}

#[test]
fn a_shared_node_is_lowered_once() {
    let doubling = || returning(|x| (0..1000).fold(x.expr().clone(), |sum, _| add(&sum, &sum)));
    assert_eq!(lowered(doubling), 1001);
}

#[test]
fn an_expression_shared_by_statements_is_lowered_once() {
    // Each of a thousand statements reads a chain of a thousand nodes.
    let build = || {
        program(&Type::scalar(I64), |x| {
            let chain = (0..1000).fold(x.expr().clone(), |sum, _| add(&sum, x));
            let mut stmts = Vec::new();
            let mut last = x.expr().clone();
            for _ in 0..1000 {
                let y = Var::new("y", I64, NOWHERE);
                stmts.push(Stmt::assign(&y, &add(&chain, &last), NOWHERE));
                last = y.expr().clone();
            }
            stmts.push(Stmt::return_([last], NOWHERE));
            Stmt::seq(stmts, NOWHERE)
        })
    };
    assert_eq!(lowered(build), 2001);
}

#[test]
fn a_million_statements() {
    let build = || {
        program(&Type::scalar(I64), |x| {
            let assign = Stmt::assign(x, &add(x, x), NOWHERE);
            let stmts = (0..MILLION).map(|_| Stmt::assign(x, &add(x, x), NOWHERE));
            let last = Stmt::return_([x.expr().clone()], NOWHERE);
            Stmt::seq(std::iter::once(assign).chain(stmts).chain([last]), NOWHERE)
        })
    };
    assert_eq!(lowered(build), MILLION + 2);
}

#[test]
fn a_million_arguments_and_results() {
    let build = || {
        let params: Vec<Var> = (0..MILLION).map(|_| Var::new("p", I64, NOWHERE)).collect();
        let types = vec![Type::scalar(I64); MILLION];
        let body = Stmt::return_(params.iter().map(|p| p.expr().clone()), NOWHERE);
        let callee = Function::new("g", params, types, &body, NOWHERE);
        let x = Var::new("x", I64, NOWHERE);
        let args = vec![x.expr().clone(); MILLION];
        let call = Expr::call(&Callee::global_var("g"), args, Type::unknown(), NOWHERE);
        let body = Stmt::eval(&call, NOWHERE);
        let caller = Function::new("f", [x], [], &body, NOWHERE);
        Program::new([callee, caller], "", NOWHERE).unwrap()
    };
    assert_eq!(lowered(build), 3);
}

fn nested(depth: usize, wrap: impl Fn(&Var, StmtRef) -> StmtRef) -> ProgramRef {
    program(&Type::scalar(I64), |x| {
        let first = Stmt::assign(x, &add(x, x), NOWHERE);
        let body = (0..depth).fold(first, |body, _| wrap(x, body));
        Stmt::seq([body, Stmt::return_([x.expr().clone()], NOWHERE)], NOWHERE)
    })
}

#[test]
fn branches_in_branches() {
    let depth = 100_000;
    let build = || nested(depth, |x, body| Stmt::if_(x, &body, None, [], NOWHERE));
    // A cast, a cond and two yields each.
    assert_eq!(lowered(build), 4 * depth + 2);
}

#[test]
fn loops_in_loops() {
    let depth = 50_000;
    let build = || {
        nested(depth, |x, body| {
            let i = Var::new("i", I64, NOWHERE);
            let (zero, one) = (Expr::dim(0), Expr::dim(1));
            Stmt::for_(&i, [&zero, x.expr(), &one], [], &body, [], NOWHERE)
        })
    };
    // A while, a comparison, an addition and two yields each; two constants.
    assert_eq!(lowered(build), 5 * depth + 4);
}

#[test]
fn early_returns_nest() {
    let count = 100_000;
    let build = || {
        program(&Type::scalar(I64), |x| {
            let early = |_| {
                let body = Stmt::return_([x.expr().clone()], NOWHERE);
                Stmt::if_(x, &body, None, [], NOWHERE)
            };
            let last = Stmt::return_([x.expr().clone()], NOWHERE);
            Stmt::seq((0..count).map(early).chain([last]), NOWHERE)
        })
    };
    assert_eq!(lowered(build), 4 * count + 1);
}

#[test]
fn returns_one_after_the_other_in_a_loop() {
    let build = |count: usize| {
        move || {
            program(&Type::scalar(I64), |x| {
                let one = Stmt::return_([x.expr().clone()], NOWHERE);
                let step = Stmt::assign(x, &add(x, x), NOWHERE);
                let stmt = |n: usize| match n % 2 {
                    0 => Stmt::if_(x.expr(), &one, None, [], NOWHERE),
                    _ => step.clone(),
                };
                let body = Stmt::seq((0..count).map(stmt), NOWHERE);
                let round = Stmt::while_([], x.expr(), &body, [], NOWHERE);
                Stmt::seq([round, one.clone()], NOWHERE)
            })
        }
    };
    // Each return nests the rest one level deeper, at the same cost.
    let (some, more) = (lowered(build(4_000)), lowered(build(8_000)));
    assert!(more > some && more < 2 * some + 100, "{some} {more}");
}

#[test]
fn statements_that_share_too_much_are_refused() {
    let build = || {
        program(&Type::scalar(I64), |x| {
            let first = Stmt::assign(x, &add(x, x), NOWHERE);
            let body = (0..100).fold(first, |body, _| Stmt::seq([body.clone(), body], NOWHERE));
            Stmt::seq([body, Stmt::return_([x.expr().clone()], NOWHERE)], NOWHERE)
        })
    };
    let expected = format!(
        "`f` shares statements: written out they are {} statements, too many to lower",
        u64::MAX
    );
    assert_eq!(refused(build), expected);
    let error = lower_function(&build(), "f", &Registry::builtin()).unwrap_err();
    assert_eq!(error.into_vec()[0].message, expected);
}

#[test]
fn shared_calls_with_effects_are_repeated_up_to_a_limit() {
    let chain = |length| {
        returning(move |x| {
            (0..length).fold(x.expr().clone(), |sum, _| {
                let both = add(&sum, &sum);
                Expr::call(&Callee::op("next"), [both], I64, NOWHERE)
            })
        })
    };
    assert_eq!(lowered(move || chain(10)), 2 * 1023 + 1);
    assert_eq!(
        refused(move || chain(1000)),
        "`f` lowers to too many operations, because shared parts with effects are repeated"
    );
}

fn tuple_chain(depth: usize) -> ProgramRef {
    returning(|x| {
        let tuple = (0..depth)
            .fold(x.expr().clone(), |inner, _| Expr::make_tuple([inner.clone(), inner], NOWHERE));
        (0..depth).fold(tuple, |tuple, _| Expr::tuple_get_item(&tuple, 0, NOWHERE).unwrap())
    })
}

#[test]
fn tuple_types_have_limits() {
    assert_eq!(lowered(|| tuple_chain(10)), 21);
    assert_eq!(refused(|| tuple_chain(60)), "tuple: a tuple type has at most 65536 parts");
    let nested = |doubled: bool| {
        move || {
            let first = Type::scalar(I64);
            let ty = (0..100).fold(first, |ty, _| {
                Type::tuple(if doubled { vec![ty.clone(), ty] } else { vec![ty] })
            });
            let p = Var::new("p", &ty, NOWHERE);
            let body = Stmt::return_([p.expr().clone()], NOWHERE);
            let f = Function::new("f", [p], [ty], &body, NOWHERE);
            Program::new([f], "", NOWHERE).unwrap()
        }
    };
    let expected = "parameter `p`: a tuple type nests 100 deep, expected at most 64";
    assert_eq!(refused(nested(false)), expected);
    assert_eq!(refused(nested(true)), expected);
}

#[test]
fn a_loop_that_carries_a_tuple_of_many() {
    let build = || {
        program(&Type::scalar(I64), |x| {
            let tuple = Expr::make_tuple(vec![x.expr().clone(); 1000], NOWHERE);
            let args: Vec<IterArg> =
                (0..1000).map(|_| IterArg::new("a", tuple.ty(), &tuple, NOWHERE)).collect();
            let body = Stmt::yield_(args.iter().map(|arg| arg.expr().clone()), NOWHERE);
            let results: Vec<Var> = (0..1000).map(|_| Var::new("r", tuple.ty(), NOWHERE)).collect();
            let i = Var::new("i", I64, NOWHERE);
            let value = Expr::tuple_get_item(&results[999], 7, NOWHERE).unwrap();
            let range = [&Expr::dim(0), &Expr::dim(9), &Expr::dim(1)];
            let stmt = Stmt::for_(&i, range, args, &body, results, NOWHERE);
            Stmt::seq([stmt, Stmt::return_([value], NOWHERE)], NOWHERE)
        })
    };
    assert!(lowered(build) < 2000);
}
