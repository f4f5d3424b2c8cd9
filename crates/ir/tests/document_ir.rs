//! All examples of the document on the IR, written with this crate.

use sapwood_ir::interpret::{Interpreter, RunValue};
use sapwood_ir::{
    Callee, Expr, ExprRef, Function, FunctionRef, IrError, IterArg, Program, Stmt, StmtRef, Type,
    Var, VerifyLevel, parse_program, print_expr, print_program, print_stmt, print_type, verify,
};
use sapwood_structural::{FieldRole, Node as _, equal};
use sapwood_types::{DataType, Source, Span};

const I64: DataType = DataType::I64;
const NOWHERE: Span = Span::unknown();

fn var(name: &str) -> Var {
    Var::new(name, I64, NOWHERE)
}

fn int(value: i64) -> ExprRef {
    Expr::const_int(value, I64, NOWHERE).unwrap()
}

/// Prints a program, parses it again, and compares both.
fn round_trip(program: &Program) -> String {
    let text = print_program(program).unwrap();
    let source = Source::new("document.ir", text.as_str());
    let back = parse_program(&source).unwrap_or_else(|e| panic!("{text}\n{}", e.render(&source)));
    let functions: Vec<_> = program.functions().cloned().collect();
    let again = Program::new(functions, program.name(), program.span()).unwrap();
    assert!(equal(&back, &again).unwrap(), "{text}");
    text
}

fn alone(name: &str, params: Vec<Var>, body: &StmtRef) -> FunctionRef {
    Function::new(name, params, [], body, NOWHERE)
}

/// Returns the names of the fields of a node type with this role, in order.
fn fields(key: &str, role: FieldRole) -> Vec<&'static str> {
    let all = [Expr::types(), Callee::types(), Type::types(), Stmt::types()].concat();
    let all = all.into_iter().chain(Function::types()).chain(Program::types());
    let info = all.into_iter().find(|info| info.key() == format!("ir.{key}")).expect(key);
    info.fields().iter().filter(|field| field.role == role).map(|field| field.name).collect()
}

#[test]
fn field_descriptors() {
    assert_eq!(fields("AssignStmt", FieldRole::Ignore), ["span"]);
    assert_eq!(fields("AssignStmt", FieldRole::Def), ["var"]);
    assert_eq!(fields("AssignStmt", FieldRole::Usual), ["value"]);
    // The fields of the document's classes: a span, a type, a name, functions by name.
    assert_eq!(fields("Add", FieldRole::Ignore), ["span"]);
    assert_eq!(fields("Add", FieldRole::Usual), ["type", "left", "right"]);
    assert_eq!(fields("Program", FieldRole::Ignore), ["span", "name"]);
    assert_eq!(fields("Program", FieldRole::Usual), ["functions"]);
    assert_eq!(int(1).type_name(), "ConstInt");
    // The remaining fields that define variables or are not compared.
    assert_eq!(fields("Function", FieldRole::Def), ["params"]);
    assert_eq!(fields("Function", FieldRole::Ignore), ["span", "name"]);
    assert_eq!(fields("IfStmt", FieldRole::Def), ["return_vars"]);
    assert_eq!(fields("ForStmt", FieldRole::Def), ["loop_var", "iter_args", "return_vars"]);
    assert_eq!(fields("WhileStmt", FieldRole::Def), ["iter_args", "return_vars"]);
    assert_eq!(fields("Var", FieldRole::Ignore), ["span", "name"]);
    assert_eq!(fields("IterArg", FieldRole::Ignore), ["span", "name", "init_value"]);
}

/// Contains every production of the grammar in the crate's syntax.
#[test]
fn the_grammar() {
    let binary = [
        "x + y",
        "x - y",
        "x * y",
        "x / y",
        "x // y",
        "x % y",
        "x == y",
        "x != y",
        "x < y",
        "x <= y",
        "x > y",
        "x >= y",
        "x and y",
        "x or y",
        "pi.xor(x, y)",
        "x & y",
        "x | y",
        "x ^ y",
        "x << y",
        "x >> y",
        "min(x, y)",
        "max(x, y)",
        "x ** y",
    ];
    let unary = ["-x", "abs(x)", "not x", "~x"];
    let mut body = String::new();
    for (index, expr) in binary.iter().chain(&unary).enumerate() {
        body += &format!("    v{index} = {expr}\n");
    }
    body += "    w = g(x, y)
    if x > 0:
        w = 1
    else:
        w = -1
    w = pi.result(0)
    for i in range(0, 10, 1):
        w = w + i
    for i_1, (sum,) in pi.range(0, 10, 1, init_values=[w]):
        pi.yield_(sum + i_1)
    r: pi.INT64 = pi.result(0)
    t: pi.TensorType(pi.FP32, [10, x]) = pi.op.make(r)
    u: pi.UnknownType() = t
";
    let text = format!(
        "pi.program(\"grammar\")\n\ndef f(x: pi.INT64, y: pi.INT64):\n{body}\n\
         def g(x: pi.INT64, y: pi.INT64) -> pi.INT64:\n    z = x\n"
    );
    let source = Source::new("grammar.ir", text.as_str());
    let program = parse_program(&source).unwrap_or_else(|e| panic!("{}", e.render(&source)));
    let problems = verify(&program, VerifyLevel::WellFormed);
    assert!(problems.is_empty(), "{}", problems.render(&source));
    assert_eq!(print_program(&program).unwrap(), text);
    assert_eq!((binary.len(), unary.len()), (23, 4));
}

#[test]
fn spans() {
    let span = Span::new("example.py", 10, 5, 10, 20);
    assert_eq!((span.filename(), span.begin_line()), ("example.py", 10));
    assert!(Span::unknown().is_unknown());
    assert_eq!(Var::new("x", I64, span).span(), span);
}

#[test]
fn variables_and_constants() {
    let x = var("x");
    assert_eq!((x.name(), x.ty().as_scalar()), ("x", Some(I64)));
    let c = int(42);
    assert_eq!((c.as_int(), c.type_name()), (Some(42), "ConstInt"));
    assert_eq!(
        Expr::const_int(1, DataType::F32, NOWHERE).unwrap_err().to_string(),
        "a ConstInt cannot have the data type FP32; it needs an integer type such as INT64"
    );
}

#[test]
fn an_iteration_argument() {
    let init = int(0);
    let sum = IterArg::new("sum", I64, &init, NOWHERE);
    assert_eq!(sum.name(), "sum");
    assert!(sum.init_value().same(&init));
    assert!(!equal(sum.expr(), var("sum").expr()).unwrap(), "an IterArg is not a Var");
}

#[test]
fn binary_and_unary() {
    let x = var("x");
    let sum = Expr::add(&x, &int(5), I64, NOWHERE);
    let product = Expr::mul(&sum, &int(2), I64, NOWHERE);
    assert_eq!(print_expr(&product), "(x + 5) * 2");
    assert_eq!(print_expr(&Expr::neg(&x, I64, NOWHERE)), "-x");
}

#[test]
fn calls() {
    let args = || [var("x").into(), var("y").into()];
    let op = Expr::call(&Callee::op("my_function"), args(), Type::unknown(), NOWHERE);
    let global = Expr::call(&Callee::global_var("my_function"), args(), Type::unknown(), NOWHERE);
    assert_eq!(print_expr(&op), "pi.op.my_function(x, y)");
    assert_eq!(print_expr(&global), "my_function(x, y)");
    assert!(!equal(&Callee::op("f"), &Callee::global_var("f")).unwrap());
    assert!(equal(&Callee::op("f"), &Callee::op("f")).unwrap());
}

fn add_function(name: &str, op: fn(&ExprRef, &ExprRef, DataType, Span) -> ExprRef) -> FunctionRef {
    let (x, y, result) = (var("x"), var("y"), var("result"));
    let body = Stmt::assign(&result, &op(&x, &y, I64, NOWHERE), NOWHERE);
    Function::new(name, [x, y], [Type::scalar(I64)], &body, NOWHERE)
}

#[test]
fn a_function() {
    let add = add_function("add", Expr::add);
    let same = add_function("plus", Expr::add);
    assert!(equal(&add, &same).unwrap(), "alpha-equivalent; names do not count");
    let text = round_trip(&Program::new([add], "", NOWHERE).unwrap());
    assert_eq!(text, "def add(x: pi.INT64, y: pi.INT64) -> pi.INT64:\n    result = x + y\n");
}

#[test]
fn a_program_sorts_its_functions() {
    let functions = || [add_function("multiply", Expr::mul), add_function("add", Expr::add)];
    let program = Program::new(functions(), "my_program", NOWHERE).unwrap();
    let names: Vec<&str> = program.functions().map(|function| &*function.name).collect();
    assert_eq!(names, ["add", "multiply"]);
    assert_eq!(&*program.get_function("add").unwrap().name, "add");
    assert_eq!(program.get_global_var("add").unwrap().name(), "add");
    assert!(program.get_function("none").is_none() && program.get_global_var("none").is_none());
    // Names of programs are not compared, names of functions are.
    let unnamed = Program::new(functions(), "", NOWHERE).unwrap();
    assert!(equal(&program, &unnamed).unwrap());
    let renamed = [add_function("mul", Expr::mul), functions()[1].clone()];
    assert!(!equal(&program, &Program::new(renamed, "", NOWHERE).unwrap()).unwrap());
    let [one, two] = [functions()[0].clone(), functions()[0].clone()];
    assert_eq!(
        Program::new([one, two], "", NOWHERE).unwrap_err(),
        IrError::DuplicateFunction("multiply".into())
    );
}

#[test]
fn calls_within_a_program() {
    let (x, y) = (var("x"), var("y"));
    let of = |name: &str, value: &ExprRef| {
        let body = Stmt::assign(&y, value, NOWHERE);
        Function::new(name, [x.clone()], [Type::scalar(I64)], &body, NOWHERE)
    };
    let helper = of("helper", &x);
    let program = Program::new([helper.clone()], "my_program", NOWHERE).unwrap();
    let callee = program.get_global_var("helper").unwrap();
    let call = Expr::call(callee, [x.expr().clone()], Type::unknown(), NOWHERE);
    let program = Program::new([helper, of("main", &call)], "my_program", NOWHERE).unwrap();
    assert!(verify(&program, VerifyLevel::WellFormed).is_empty());
    let text = round_trip(&program);
    assert!(text.contains("    y: pi.INT64 = pi.typed(helper(x), pi.UnknownType())\n"), "{text}");
}

#[test]
fn statements() {
    let (x, y) = (var("x"), var("y"));
    assert_eq!(print_stmt(&Stmt::assign(&x, &y, NOWHERE)).unwrap(), "x = y\n");
    let yields = Stmt::yield_([x.expr().clone(), y.expr().clone()], NOWHERE);
    assert_eq!(print_stmt(&yields).unwrap(), "pi.yield_(x, y)\n");

    let condition = Expr::gt(&x, &int(0), I64, NOWHERE);
    let set = |value| Stmt::assign(&y, &int(value), NOWHERE);
    let both = Stmt::if_(&condition, &set(1), Some(&set(-1)), [y.clone()], NOWHERE);
    assert_eq!(
        print_stmt(&both).unwrap(),
        "if pi.typed(x > 0, pi.INT64):\n    y = 1\nelse:\n    y = -1\ny = pi.result(0)\n"
    );
    let seq = Stmt::seq([set(1), set(2), set(3)], NOWHERE);
    let ops = Stmt::ops([set(1), set(2), set(3)], NOWHERE);
    assert!(!equal(&seq, &ops).unwrap());
    let without = Stmt::if_(&condition, &set(1), None, [], NOWHERE);
    let empty = Stmt::if_(&condition, &set(1), Some(&Stmt::seq([], NOWHERE)), [], NOWHERE);
    assert!(!equal(&without, &empty).unwrap(), "no else is not an empty else");
}

#[test]
fn a_loop() {
    let (i, x) = (var("i"), var("x"));
    let body = Stmt::assign(&x, &Expr::add(&x, &i, I64, NOWHERE), NOWHERE);
    let (start, stop, step) = (int(0), int(10), int(1));
    let looped = Stmt::for_(&i, [&start, &stop, &step], [], &body, [], NOWHERE);
    assert_eq!(print_stmt(&looped).unwrap(), "for i in range(0, 10, 1):\n    x = x + i\n");
    let program = Program::new([alone("f", vec![x], &looped)], "", NOWHERE).unwrap();
    assert!(verify(&program, VerifyLevel::WellFormed).is_empty());
    round_trip(&program);
}

fn summing(names: [&str; 3], init: i64) -> StmtRef {
    let [i, sum, end] = names;
    let (i, end) = (var(i), var(end));
    let sum = IterArg::new(sum, I64, &int(init), NOWHERE);
    let body = Stmt::yield_([Expr::add(&sum, &i, I64, NOWHERE)], NOWHERE);
    Stmt::for_(&i, [&int(0), &int(10), &int(1)], [sum], &body, [end], NOWHERE)
}

#[test]
fn a_loop_with_iteration_arguments() {
    let looped = summing(["i", "sum", "sum_final"], 0);
    assert!(equal(&looped, &summing(["a", "b", "c"], 0)).unwrap());
    assert!(
        !equal(&looped, &summing(["i", "sum", "sum_final"], 1)).unwrap(),
        "initial values count"
    );
    let program = Program::new([alone("f", vec![], &looped)], "", NOWHERE).unwrap();
    assert!(verify(&program, VerifyLevel::Ssa).is_empty());
    assert_eq!(
        round_trip(&program),
        "def f():
    for i, (sum,) in pi.range(0, 10, 1, init_values=[0]):
        pi.yield_(sum + i)
    sum_final: pi.INT64 = pi.result(0)
"
    );
}

#[test]
fn the_loop_in_ssa() {
    let (i, sum_init, sum_final) = (var("i"), var("sum_init"), var("sum_final"));
    let sum = IterArg::new("sum", I64, &sum_init, NOWHERE);
    let body = Stmt::yield_([Expr::add(&sum, &i, I64, NOWHERE)], NOWHERE);
    let results = [sum_final.clone()];
    let looped = Stmt::for_(&i, [&int(0), &int(10), &int(1)], [sum], &body, results, NOWHERE);
    let stmts = [Stmt::assign(&sum_init, &int(0), NOWHERE), looped];
    let returned = Stmt::return_([sum_final.into()], NOWHERE);
    let body = Stmt::seq(stmts.into_iter().chain([returned]), NOWHERE);
    let function = Function::new("f", [], [Type::scalar(I64)], &body, NOWHERE);
    let program = Program::new([function], "", NOWHERE).unwrap();
    assert!(verify(&program, VerifyLevel::Ssa).is_empty());
    assert_eq!(Interpreter::new(&program, 1000).run("f", &[]), Ok(vec![RunValue::int(45)]));
    assert_eq!(
        round_trip(&program),
        "def f() -> pi.INT64:
    sum_init = 0
    for i, (sum,) in pi.range(0, 10, 1, init_values=[sum_init]):
        pi.yield_(sum + i)
    sum_final: pi.INT64 = pi.result(0)
    return sum_final
"
    );
}

#[test]
fn types() {
    let shape = [int(10), int(20)];
    let tensor = Type::tensor(DataType::F32, shape);
    assert_eq!(print_type(&tensor), "pi.TensorType(pi.FP32, [10, 20])");
    assert!(equal(&tensor, &Type::static_tensor(DataType::F32, &[10, 20])).unwrap());
    assert!(Type::scalar(I64).same(&Type::scalar(I64)));
    assert_eq!(print_type(&Type::unknown()), "pi.UnknownType()");
    let (scalar, float) = (Type::scalar(I64), Type::scalar(DataType::F32));
    let nested = Type::tuple([Type::tuple([Type::scalar(I64)]), float.clone()]);
    assert_eq!(print_type(&Type::tuple([])), "pi.TupleType([])");
    assert_eq!(print_type(&Type::tuple([scalar, float])), "pi.TupleType([pi.INT64, pi.FP32])");
    assert_eq!(
        print_type(&Type::tuple([tensor, Type::scalar(DataType::I32)])),
        "pi.TupleType([pi.TensorType(pi.FP32, [10, 20]), pi.INT32])"
    );
    assert_eq!(print_type(&nested), "pi.TupleType([pi.TupleType([pi.INT64]), pi.FP32])");
}

#[test]
fn elements_of_tuples() {
    let ty = Type::tuple([Type::scalar(I64), Type::scalar(DataType::F32)]);
    let tuple = Var::new("my_tuple", ty, NOWHERE);
    let element = |index| Expr::tuple_get_item(&tuple, index, NOWHERE);
    assert_eq!(element(0).unwrap().ty().as_scalar(), Some(I64));
    assert_eq!(element(1).unwrap().ty().as_scalar(), Some(DataType::F32));
    assert_eq!(print_expr(&element(1).unwrap()), "my_tuple[1]");
    assert_eq!(element(2).unwrap_err(), IrError::TupleIndex { index: 2, len: 2 });
    assert!(matches!(Expr::tuple_get_item(&int(1), 0, NOWHERE), Err(IrError::NotATuple { .. })));
}

#[test]
fn example_1_a_complex_expression() {
    let (x, y) = (var("x"), var("y"));
    let numerator = Expr::mul(
        &Expr::add(&x, &int(1), I64, NOWHERE),
        &Expr::sub(&y, &int(2), I64, NOWHERE),
        I64,
        NOWHERE,
    );
    let result = Expr::float_div(&numerator, &Expr::add(&x, &y, I64, NOWHERE), I64, NOWHERE);
    assert_eq!(print_expr(&result), "(x + 1) * (y - 2) / (x + y)");
}

#[test]
fn example_2_control_flow() {
    let (x, result) = (var("x"), var("result"));
    let condition = Expr::ge(&x, &int(0), I64, NOWHERE);
    let then = Stmt::assign(&result, &x, NOWHERE);
    let otherwise = Stmt::assign(&result, &Expr::neg(&x, I64, NOWHERE), NOWHERE);
    let body = Stmt::if_(&condition, &then, Some(&otherwise), [result], NOWHERE);
    let program = Program::new([alone("abs", vec![x], &body)], "", NOWHERE).unwrap();
    assert!(verify(&program, VerifyLevel::WellFormed).is_empty());
    round_trip(&program);
}

fn sum_body(n: &Var) -> StmtRef {
    let (i, sum) = (var("i"), var("sum"));
    let init = Stmt::assign(&sum, &int(0), NOWHERE);
    let update = Stmt::assign(&sum, &Expr::add(&sum, &i, I64, NOWHERE), NOWHERE);
    let body = Stmt::block([update], NOWHERE);
    let looped = Stmt::for_(&i, [&int(0), n, &int(1)], [], &body, [sum], NOWHERE);
    Stmt::seq([init, looped], NOWHERE)
}

#[test]
fn examples_3_and_4_a_sum() {
    let n = var("n");
    let body = sum_body(&n);
    let function = Function::new("sum_range", [n], [Type::scalar(I64)], &body, NOWHERE);
    let program = Program::new([function], "", NOWHERE).unwrap();
    assert!(verify(&program, VerifyLevel::WellFormed).is_empty());
    assert!(!verify(&program, VerifyLevel::Ssa).is_empty(), "`sum` is assigned twice");
    assert_eq!(
        round_trip(&program),
        "def sum_range(n: pi.INT64) -> pi.INT64:
    sum = 0
    for i in range(0, n, 1):
        sum = sum + i
    sum = pi.result(0)
"
    );
}

#[test]
fn example_5_a_program() {
    let (x, y, result) = (var("x"), var("y"), var("result"));
    // Both functions use the same variables, which makes no difference.
    let make = |name: &str, value: ExprRef| {
        let body = Stmt::assign(&result, &value, NOWHERE);
        Function::new(name, [x.clone(), y.clone()], [Type::scalar(I64)], &body, NOWHERE)
    };
    let shared = [
        make("add", Expr::add(&x, &y, I64, NOWHERE)),
        make("multiply", Expr::mul(&x, &y, I64, NOWHERE)),
    ];
    let own = [add_function("add", Expr::add), add_function("multiply", Expr::mul)];
    let shared = Program::new(shared, "math_operations", NOWHERE).unwrap();
    let own = Program::new(own, "math_operations", NOWHERE).unwrap();
    assert!(equal(&shared, &own).unwrap());
    let text = round_trip(&shared);
    assert!(text.starts_with("pi.program(\"math_operations\")\n\ndef add("), "{text}");
    assert_eq!(text, shared.to_string());
}
