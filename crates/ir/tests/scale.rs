//! Tests that sharing, nesting and repeated calls take linear time: a quadratic step would take minutes.

use sapwood_ir::passes::PASSES;
use sapwood_ir::{
    Callee, Expr, ExprRef, Function, IterArg, Program, ProgramRef, Stmt, StmtRef, Type, TypeRef,
    Var, VerifyLevel, parse_program, print_program, substitute, verify,
};
use sapwood_structural::equal;
use sapwood_types::{DataType, Source, Span};

const I64: DataType = DataType::I64;
const BOOL: DataType = DataType::Bool;
const NOWHERE: Span = Span::unknown();

fn var(name: &str) -> Var {
    Var::new(name, I64, NOWHERE)
}

fn program(params: Vec<Var>, stmts: Vec<StmtRef>, results: &[DataType]) -> ProgramRef {
    let types = results.iter().map(|&dtype| Type::scalar(dtype));
    let body = Stmt::seq(stmts, NOWHERE);
    Program::new([Function::new("f", params, types, &body, NOWHERE)], "", NOWHERE).unwrap()
}

#[track_caller]
fn is_well_formed(program: &Program, level: VerifyLevel) {
    let problems = verify(program, level);
    assert!(problems.is_empty(), "{problems:?}");
}

#[track_caller]
fn after(pass: &str, program: &Program) -> ProgramRef {
    let (_, run) = PASSES.iter().find(|(name, _)| *name == pass).expect(pass);
    run(program).unwrap()
}

/// Assigns `v_i = e_i` where `e_i` is `e_{i-1} + x`: nodes are linear, and every statement contains all previous ones.
#[test]
fn a_chain_that_statements_share() {
    let count = 50_000;
    let (p, x) = (var("p"), var("x"));
    let mut stmts = vec![Stmt::assign(&x, &p, NOWHERE)];
    let again = Expr::add(&x, &Expr::dim(1), I64, NOWHERE);
    stmts.push(Stmt::assign(&x, &again, NOWHERE));
    let mut sum = x.expr().clone();
    let mut last = x.clone();
    for _ in 0..count {
        sum = Expr::add(&sum, &x, I64, NOWHERE);
        last = var("v");
        stmts.push(Stmt::assign(&last, &sum, NOWHERE));
    }
    stmts.push(Stmt::return_([last.expr().clone()], NOWHERE));
    let program = program(vec![p], stmts, &[I64]);
    is_well_formed(&program, VerifyLevel::WellFormed);
    for (name, _) in PASSES {
        is_well_formed(&after(name, &program), VerifyLevel::WellFormed);
    }
    let ssa = after("to_ssa", &program);
    is_well_formed(&ssa, VerifyLevel::Ssa);
    // The sharing is kept.
    let text = print_program(&ssa).unwrap();
    assert!(text.len() < 200 * count, "{} bytes", text.len());
}

/// Nests branches, each with its own variable that is read in it.
#[test]
fn nested_branches_that_each_assign_a_variable() {
    let (p, depth) = (var("p"), 30_000);
    let condition = Expr::lt(&p, &Expr::dim(0), BOOL, NOWHERE);
    let mut body = Stmt::eval(&Expr::dim(0), NOWHERE);
    for _ in 0..depth {
        let v = var("v");
        let stmts = [Stmt::assign(&v, &p, NOWHERE), Stmt::eval(&v, NOWHERE), body];
        body = Stmt::if_(&condition, &Stmt::seq(stmts, NOWHERE), None, [], NOWHERE);
    }
    let program = program(vec![p.clone()], vec![body, Stmt::return_([p.into()], NOWHERE)], &[I64]);
    let ssa = after("to_ssa", &program);
    is_well_formed(&ssa, VerifyLevel::Ssa);
}

/// Nests loops, each with its own variable.
#[test]
fn nested_loops_that_each_assign_a_variable() {
    let (p, depth) = (var("p"), 20_000);
    let one = Expr::dim(1);
    let mut body = Stmt::eval(&Expr::dim(0), NOWHERE);
    for _ in 0..depth {
        let v = var("v");
        let stmts = [Stmt::assign(&v, &p, NOWHERE), Stmt::eval(&v, NOWHERE), body];
        let inner = Stmt::seq(stmts, NOWHERE);
        body = Stmt::for_(&var("i"), [&one, &p, &one], [], &inner, [], NOWHERE);
    }
    let program = program(vec![p.clone()], vec![body, Stmt::return_([p.into()], NOWHERE)], &[I64]);
    let ssa = after("to_ssa", &program);
    is_well_formed(&ssa, VerifyLevel::Ssa);
}

/// Calls a function many times that is too large to be inlined.
#[test]
fn many_calls_of_a_large_function() {
    let count = 50_000;
    let x = var("x");
    let stmts: Vec<StmtRef> = (0..count).map(|_| Stmt::eval(&x, NOWHERE)).collect();
    let large = Stmt::seq(stmts, NOWHERE);
    let large = Function::new("large", [x], [], &large, NOWHERE);
    let call = |name: &str| {
        Stmt::eval(
            &Expr::call(&Callee::global_var(name), [Expr::dim(1)], Type::unknown(), NOWHERE),
            NOWHERE,
        )
    };
    let calls: Vec<StmtRef> = (0..count).map(|_| call("large")).collect();
    let mut functions = vec![large];
    // A function that calls many others.
    let names: Vec<String> = (0..5_000).map(|index| format!("g{index}")).collect();
    for name in &names {
        let y = var("y");
        functions.push(Function::new(name, [y.clone()], [], &Stmt::eval(&y, NOWHERE), NOWHERE));
    }
    let all = calls.into_iter().chain(names.iter().map(|name| call(name)));
    functions.push(Function::new("main", [], [], &Stmt::seq(all, NOWHERE), NOWHERE));
    let program = Program::new(functions, "", NOWHERE).unwrap();
    let inlined = after("inline", &program);
    is_well_formed(&inlined, VerifyLevel::WellFormed);
    let text = print_program(&inlined).unwrap();
    assert!(text.contains("large(1)") && !text.contains("g4999(1)"));
}

/// Checks that functions that can reach themselves are not inlined, for cycles of any length.
#[test]
fn recursive_functions_are_not_inlined() {
    let text = "def f(x: pi.INT64) -> pi.INT64:
    y: pi.INT64 = pi.typed(g(x), pi.INT64)
    return y

def g(x: pi.INT64) -> pi.INT64:
    y: pi.INT64 = pi.typed(h(x), pi.INT64)
    return y

def h(x: pi.INT64) -> pi.INT64:
    y: pi.INT64 = pi.typed(f(x), pi.INT64)
    return y

def leaf(x: pi.INT64) -> pi.INT64:
    pi.yield_(x + 1)

def main(x: pi.INT64) -> pi.INT64:
    y: pi.INT64 = pi.typed(f(x), pi.INT64)
    z: pi.INT64 = pi.typed(leaf(y), pi.INT64)
    return z
";
    let program = parse_program(&Source::new("cycle.ir", text)).unwrap();
    let once = after("inline", &program);
    assert!(equal(&after("inline", &once), &once).unwrap(), "{once}");
    for name in ["f", "g", "h"] {
        let (old, new) = (program.get_function(name).unwrap(), once.get_function(name).unwrap());
        assert!(equal(old, new).unwrap(), "{name} changed:\n{once}");
    }
    // A function that ends in a `yield` is inlined like one that returns.
    let main = sapwood_ir::print_function(once.get_function("main").unwrap()).unwrap();
    assert!(!main.contains("leaf(") && main.contains("f("), "{main}");
}

/// Reports a type of 10^5 elements in the errors of a thousand statements.
#[test]
fn errors_about_large_types_are_short() {
    let wide =
        |dtype: DataType| -> TypeRef { Type::tuple((0..100_000).map(|_| Type::scalar(dtype))) };
    let p = Var::new("p", wide(DataType::F32), NOWHERE);
    let targets: Vec<Var> = (0..50).map(|_| Var::new("v", wide(I64), NOWHERE)).collect();
    let stmts: Vec<StmtRef> =
        (0..3_000).map(|index| Stmt::assign(&targets[index % 50], &p, NOWHERE)).collect();
    let found = verify(&program(vec![p], stmts, &[]), VerifyLevel::WellFormed);
    assert!((1000..1100).contains(&found.len()), "{}", found.len());
    for problem in &found {
        assert!(problem.message.len() < 500, "{} bytes", problem.message.len());
    }
    // The difference is in the first of many elements.
    let one = Type::tuple(
        [Type::scalar(BOOL)].into_iter().chain((0..200_000).map(|_| Type::scalar(I64))),
    );
    let other = Type::tuple((0..=200_000).map(|_| Type::scalar(I64)));
    let q = Var::new("q", one, NOWHERE);
    let assign = Stmt::assign(&Var::new("v", other, NOWHERE), &q, NOWHERE);
    assert_eq!(verify(&program(vec![q], vec![assign], &[]), VerifyLevel::WellFormed).len(), 1);
}

/// Each loop starts from the argument of the enclosing loop and a variable that is replaced.
#[test]
fn replacing_in_nested_loops() {
    let (x, y, depth) = (var("x"), var("y"), 3_000);
    let one = Expr::dim(1);
    let args: Vec<IterArg> = {
        let mut args: Vec<IterArg> = Vec::new();
        for index in 0..depth {
            let outer: ExprRef = args.last().map_or(one.clone(), |arg| arg.expr().clone());
            let init = Expr::add(&outer, &x, I64, NOWHERE);
            args.push(IterArg::new(&format!("a{index}"), I64, &init, NOWHERE));
        }
        args
    };
    let mut body = Stmt::yield_([args[depth - 1].expr().clone()], NOWHERE);
    for (index, arg) in args.iter().enumerate().rev() {
        let range = [&one, x.expr(), &one];
        let result = var("r");
        body = Stmt::for_(&var("i"), range, [arg.clone()], &body, [result.clone()], NOWHERE);
        if index > 0 {
            let yields = Stmt::yield_([result.into()], NOWHERE);
            body = Stmt::seq([body, yields], NOWHERE);
        }
    }
    let replaced = substitute(&body, &[(x.clone(), y.expr().clone())]).unwrap();
    let mut loops = 0;
    let mut stmt = &replaced;
    loop {
        stmt = match &**stmt {
            Stmt::Seq { stmts, .. } => &stmts[0],
            Stmt::For { iter_args, init_values, body, .. } => {
                loops += 1;
                assert!(iter_args[0].init_value().same(&init_values[0]), "loop {loops}");
                let free = sapwood_structural::free_variables(&init_values[0]);
                assert!(!free.iter().any(|var| var.node().id() == x.id()), "loop {loops}");
                body
            }
            _ => break,
        };
    }
    assert_eq!(loops, depth);
    let function = Function::new("f", [y], [], &replaced, NOWHERE);
    is_well_formed(&Program::new([function], "", NOWHERE).unwrap(), VerifyLevel::WellFormed);
}

#[test]
fn the_type_of_an_argument_is_the_same_on_every_trip() {
    let (x, i, one) = (var("x"), var("i"), Expr::dim(1));
    let t = Var::new("t", Type::tensor(I64, [x.expr().clone()]), NOWHERE);
    let arg = IterArg::new("a", Type::tensor(I64, [i.expr().clone()]), t.expr(), NOWHERE);
    let yields = Stmt::yield_([arg.expr().clone()], NOWHERE);
    let result = Var::new("r", t.ty(), NOWHERE);
    let stmt = Stmt::for_(&i, [&one, &x, &one], [arg], &yields, [result], NOWHERE);
    let found = verify(&program(vec![x, t], vec![stmt], &[]), VerifyLevel::WellFormed);
    let messages: Vec<&str> = found.iter().map(|problem| &*problem.message).collect();
    assert_eq!(messages, ["`i` is used before it is defined"]);
}

#[test]
fn a_loop_that_occurs_twice_defines_its_variables_twice() {
    let (x, i, one) = (var("x"), var("i"), Expr::dim(1));
    let stmt = Stmt::for_(&i, [&one, &x, &one], [], &Stmt::eval(&i, NOWHERE), [], NOWHERE);
    let twice = program(vec![x.clone()], vec![stmt.clone(), stmt], &[]);
    is_well_formed(&twice, VerifyLevel::WellFormed);
    assert_eq!(verify(&twice, VerifyLevel::Ssa).len(), 1);
    is_well_formed(&after("to_ssa", &twice), VerifyLevel::Ssa);
    let branch = Stmt::if_(
        &Expr::lt(&x, &one, BOOL, NOWHERE),
        &Stmt::assign(&var("y"), &x, NOWHERE),
        None,
        [],
        NOWHERE,
    );
    let twice = program(vec![x], vec![branch.clone(), branch], &[]);
    assert_eq!(verify(&twice, VerifyLevel::Ssa).len(), 1);
}

/// A sequence that ends in a `yield` is allowed at the end of a body, but not before it.
#[test]
fn a_shared_sequence_is_verified_by_its_position() {
    let (x, one) = (var("x"), Expr::dim(1));
    let ends = Stmt::seq([Stmt::eval(&x, NOWHERE), Stmt::yield_([], NOWHERE)], NOWHERE);
    let fine = Stmt::for_(&var("i"), [&one, &x, &one], [], &ends, [], NOWHERE);
    is_well_formed(&program(vec![x.clone()], vec![fine.clone()], &[]), VerifyLevel::WellFormed);
    let middle = Stmt::seq([ends, Stmt::eval(&x, NOWHERE)], NOWHERE);
    let odd = Stmt::for_(&var("i"), [&one, &x, &one], [], &middle, [], NOWHERE);
    let found = verify(&program(vec![x], vec![fine, odd], &[]), VerifyLevel::WellFormed);
    assert_eq!(found.len(), 1, "{found:?}");
}

/// Parses a text and prints the program, which must take linear time.
#[track_caller]
fn parse_and_print(text: &str) -> String {
    let program = parse_program(&Source::new("large.ir", text)).unwrap();
    print_program(&program).unwrap()
}

#[test]
fn many_numbers_in_a_call() {
    let numbers: Vec<String> = (0..32_000).map(|n| n.to_string()).collect();
    let call = format!("pi.op.my.f({})", numbers.join(", "));
    let text = format!("def f() -> pi.INT64:\n    return pi.typed({call}, pi.INT64)\n");
    assert!(parse_and_print(&text).contains(&call));
}

#[test]
fn many_variables_that_are_unpacked_at_once() {
    let names: Vec<String> = (0..8000).map(|n| format!("v{n}")).collect();
    let numbers = vec!["1"; names.len()].join(", ");
    let text = format!("def f():\n    {} = {numbers}\n", names.join(", "));
    let printed = parse_and_print(&text);
    assert!(printed.len() < 1_000_000, "{}", printed.len());
}

#[test]
fn many_calls_of_a_function_with_many_parameters() {
    let params: Vec<String> = (0..2000).map(|n| format!("p{n}: pi.INT64")).collect();
    let calls = "    g()\n".repeat(4000);
    let text = format!("def g({}):\n    return\ndef f():\n{calls}", params.join(", "));
    parse_and_print(&text);
}
