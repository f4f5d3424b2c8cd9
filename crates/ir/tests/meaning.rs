//! Regression tests of programs whose meaning passes, verifier and interpreter once disagreed on.

use std::ops::ControlFlow;

use sapwood_ir::interpret::{Interpreter, RunError, RunValue};
use sapwood_ir::passes::{PASSES, fold, infer_types, inline, remove_dead_assignments, to_ssa};
use sapwood_ir::{
    Callee, Expr, ExprRef, Mutate, ProgramRef, Type, VerifyLevel, Visit, from_json, mutate,
    parse_program, to_json, verify, visit,
};
use sapwood_structural::{NodeWalk, WalkAction, equal};
use sapwood_types::{DataType, Source, Span};

fn read(text: &str) -> ProgramRef {
    let source = Source::new("meaning.ir", text);
    parse_program(&source).unwrap_or_else(|error| panic!("{}", error.render(&source)))
}

/// Returns the results of `f` and the number of ops it called.
fn run(program: &ProgramRef, args: &[RunValue]) -> (Result<Vec<RunValue>, RunError>, usize) {
    let mut calls = 0;
    let mut ops = |_: &str, args: &[RunValue]| {
        calls += 1;
        Some(args.first().cloned().unwrap_or(RunValue::int(calls)))
    };
    let result = Interpreter::new(program, 10_000_000).with_ops(&mut ops).run("f", args);
    (result, calls as usize)
}

/// Checks that every pass preserves the results of `f` and is idempotent, and that its output is well-formed.
#[track_caller]
fn kept(text: &str, args: &[RunValue]) -> Vec<RunValue> {
    let before = read(text);
    let problems = verify(&before, VerifyLevel::WellFormed);
    assert!(problems.is_empty(), "{problems:?}");
    let expected = run(&before, args);
    for (name, pass) in PASSES {
        let after = pass(&before).unwrap();
        let level = if name == "to_ssa" { VerifyLevel::Ssa } else { VerifyLevel::WellFormed };
        let problems = verify(&after, level);
        assert!(problems.is_empty(), "{name}: {problems:?}\n{after}");
        assert_eq!(run(&after, args), expected, "{name}\n{after}");
        assert!(equal(&after, &pass(&after).unwrap()).unwrap(), "a second {name} changes\n{after}");
    }
    expected.0.unwrap()
}

fn bool_(value: bool) -> RunValue {
    RunValue::Scalar(sapwood_ir::interpret::scalar::Scalar::Bool(value))
}

#[test]
fn an_integer_is_not_a_truth_value() {
    let text = "def f(x: pi.INT64) -> pi.INT64:\n    return pi.typed(True and x, pi.INT64)\n";
    assert_eq!(kept(text, &[RunValue::int(5)]), [RunValue::int(1)]);
    assert!(fold(&read(text)).unwrap().to_string().contains("True and x"));
}

#[test]
fn a_variable_with_several_bindings_stays_one() {
    let branch = "def f(p: pi.UnknownType(), c: pi.BOOL) -> pi.UnknownType():\n    if c:\n        p = 1\n    return p\n";
    assert_eq!(kept(branch, &[RunValue::int(7), bool_(false)]), [RunValue::int(7)]);
    let looping = "def f(p: pi.UnknownType()) -> pi.UnknownType():\n    y = p\n    \
        for i in range(0, 2, 1):\n        y = p\n        p = 1\n    return y\n";
    assert_eq!(kept(looping, &[RunValue::int(7)]), [RunValue::int(1)]);
    let mixed =
        "def f() -> pi.UnknownType():\n    x: pi.UnknownType() = 1\n    x = 2.0\n    return x\n";
    kept(mixed, &[]);
}

#[test]
fn an_argument_gets_the_type_that_it_keeps() {
    let grows = "def f() -> pi.UnknownType():\n    \
        for i, (t,) in pi.range(0, 3, 1, init_values=[1], iter_types=[pi.UnknownType()]):\n        \
        pi.yield_((t,))\n    r: pi.UnknownType() = pi.result(0)\n    return r\n";
    kept(grows, &[]);
    let stays = "def f(x: pi.INT64) -> pi.INT64:\n    \
        for i, (t,) in pi.range(0, 3, 1, init_values=[x], iter_types=[pi.UnknownType()]):\n        \
        pi.yield_(pi.typed(t + i, pi.UnknownType()))\n    r: pi.UnknownType() = pi.result(0)\n    return r\n";
    assert_eq!(kept(stays, &[RunValue::int(1)]), [RunValue::int(4)]);
    let typed = infer_types(&read(stays)).unwrap().to_string();
    assert!(!typed.contains("Unknown"), "{typed}");
}

#[test]
fn calls_in_a_returned_expression_are_made() {
    let text = "def f():\n    g()\n    return\n\ndef g() -> pi.INT64:\n    return pi.op.emit(1)\n";
    let before = read(text);
    assert_eq!(run(&before, &[]).1, 1);
    assert_eq!(run(&inline(&before).unwrap(), &[]).1, 1);
}

#[test]
fn a_function_that_ends_without_its_results_has_no_value() {
    let text = "def f(c: pi.BOOL) -> pi.INT64:\n    x = 0\n    if c:\n        x = 1\n";
    let found = run(&read(text), &[bool_(true)]).0;
    assert!(matches!(found, Err(RunError::NoResults { wanted: 1, .. })), "{found:?}");
    let fits = "def f(a: pi.INT64) -> pi.UnknownType():\n    x: pi.UnknownType() = a\n";
    assert_eq!(kept(fits, &[RunValue::int(3)]), [RunValue::int(3)]);
}

#[test]
fn no_pass_adds_implicit_results() {
    for text in [
        // In SSA, a loop that carries the variables it assigns.
        "def f(c: pi.INT64) -> pi.INT64:\n    x = 0\n    for i in range(0, c, 1):\n        x = x + 1\n",
        "def f(c: pi.INT64) -> pi.INT64:\n    x = 0\n    if c:\n        x = 1\n",
        // The inlined statements bind a variable of the right type.
        "def f(c: pi.INT64) -> pi.INT64:\n    h()\n\ndef h():\n    y = 1\n",
        // The last statement is removed.
        "def f(c: pi.INT64) -> pi.INT64:\n    x = c\n    pi.op.emit(x)\n    y = 1.0\n",
        "def f(c: pi.INT64) -> pi.INT64:\n    x: pi.INT64 = pi.typed(pi.op.emit(c), pi.INT64)\n    y = 1.0\n",
    ] {
        let before = read(text);
        assert!(verify(&before, VerifyLevel::WellFormed).is_empty(), "{text}");
        let expected = run(&before, &[RunValue::int(3)]);
        assert!(matches!(expected.0, Err(RunError::NoResults { wanted: 1, .. })), "{text}");
        for (name, pass) in PASSES {
            let after = pass(&before).unwrap();
            assert_eq!(run(&after, &[RunValue::int(3)]), expected, "{name}\n{after}");
            assert!(equal(&after, &pass(&after).unwrap()).unwrap(), "a second {name}\n{after}");
            let back = read(&after.to_string());
            assert!(equal(&after, &back).unwrap(), "{name}\n{after}");
        }
    }
}

#[test]
fn inferred_types_that_contradict_declared_ones_are_not_filled_in() {
    for text in [
        // The returned value has an unknown type and is not an INT64.
        "def f() -> pi.INT64:\n    x: pi.UnknownType() = 1.5\n",
        "def f() -> pi.INT64:\n    x: pi.UnknownType() = 1.5\n    return x\n",
        "def f() -> pi.INT64:\n    x: pi.UnknownType() = 1.5\n    y: pi.INT64 = x\n    return y\n",
    ] {
        kept(text, &[]);
    }
}

#[test]
fn a_call_is_made_once_per_occurrence() {
    let call = Expr::call(&Callee::op("next"), [], DataType::I64, Span::unknown());
    let sum = Expr::add(&call, &call, DataType::I64, Span::unknown());
    let body = sapwood_ir::Stmt::return_([sum], Span::unknown());
    let scalar = Type::scalar(DataType::I64);
    let function = sapwood_ir::Function::new("f", [], [scalar], &body, Span::unknown());
    let shared = sapwood_ir::Program::new([function], "", Span::unknown()).unwrap();
    let back = read(&shared.to_string());
    assert!(equal(&shared, &back).unwrap());
    assert_eq!(run(&shared, &[]), run(&back, &[]));
    assert_eq!(run(&shared, &[]).1, 2);
}

#[test]
fn comparing_tensors_gives_a_tensor() {
    let tensor = "pi.TensorType(pi.INT64, [2])";
    let text = |body: &str| format!("def f(t: {tensor}, u: {tensor}):\n{body}    return\n");
    assert!(verify(&read(&text("    m = t < u\n")), VerifyLevel::WellFormed).is_empty());
    for (body, message) in [
        ("    if t < u:\n        pass\n", "a condition has the type"),
        ("    m = pi.typed(t + u, pi.INT64)\n", "returns a tensor of their shape, not pi.INT64"),
        ("    m = pi.typed(1 + 2, pi.TensorType(pi.INT64, [2]))\n", "returns a scalar, not"),
    ] {
        let problems = format!("{:?}", verify(&read(&text(body)), VerifyLevel::WellFormed));
        assert!(problems.contains(message), "{body}: {problems}");
    }
}

#[test]
fn loops_may_return_on_every_path() {
    let text = "def f(n: pi.INT64) -> pi.INT64:\n    x = 0\n    for i in range(0, n, 1):\n        \
        x = x + 1\n        return x\n    return x\n";
    assert_eq!(kept(text, &[RunValue::int(3)]), [RunValue::int(1)]);
    assert_eq!(kept(text, &[RunValue::int(0)]), [RunValue::int(0)]);
    let branch = "def f(c: pi.BOOL) -> pi.INT64:\n    if c:\n        y = 1\n    else:\n        \
        return 0\n    return y\n";
    assert_eq!(kept(branch, &[bool_(true)]), [RunValue::int(1)]);
}

#[test]
fn a_loop_that_yields_too_much_is_refused() {
    let text = "def f():\n    for i, (a,) in pi.range(0, 3, 1, init_values=[0]):\n        \
        pi.yield_(a, a)\n    b: pi.INT64 = pi.result(0)\n    return\n";
    let error = to_ssa(&read(text)).unwrap_err().to_string();
    assert_eq!(error, "function `f`: a loop yields 2 values and carries 1");
}

#[test]
fn a_dead_type_frees_its_variables() {
    let text = "def f(p: pi.TensorType(pi.FP32, [3])):\n    n = 3\n    t: pi.TensorType(pi.FP32, [n]) = p\n    return\n";
    let once = remove_dead_assignments(&read(text)).unwrap();
    assert!(!once.to_string().contains("n = 3"), "{once}");
}

#[test]
fn messages_name_kinds_not_values() {
    let mut body = String::from("    t0 = (1, 1)\n");
    for index in 1..60 {
        body += &format!("    t{index} = (t{0}, t{0})\n", index - 1);
    }
    let text =
        format!("def f():\n{body}    u: pi.UnknownType() = t59\n    v = u + u\n    return\n");
    let error = run(&read(&text), &[]).0.unwrap_err().to_string();
    assert!(error.contains("Add of a tuple of 2 and a tuple of 2"), "{error}");
}

#[test]
fn json_constants_of_the_wrong_type_have_no_value() {
    let program = read("def f() -> pi.INT64:\n    return pi.INT64(-4) // pi.INT64(-1)\n");
    let json = to_json(&program).unwrap().replace("\"i64\"", "\"f32\"");
    let Ok(odd) = from_json(&json) else { panic!("{json}") };
    assert!(equal(&fold(&odd).unwrap(), &odd).unwrap());
    assert!(matches!(run(&odd, &[]).0, Err(RunError::Operands { .. })));
}

#[test]
fn tuples_as_deep_as_a_loop_has_trips() {
    let text = "def f():\n    \
        for i, (t,) in pi.range(0, 200000, 1, init_values=[()], iter_types=[pi.UnknownType()]):\n        \
        pi.yield_((t,))\n    r: pi.UnknownType() = pi.result(0)\n    return\n";
    assert_eq!(run(&read(text), &[]).0, Ok(Vec::new()));
}

#[test]
fn every_node_type_has_its_visit_and_its_change() {
    /// Counts the nodes without a method of their own.
    #[derive(Default)]
    struct Count {
        assignments: usize,
        other_stmts: usize,
        exprs: usize,
        functions: usize,
    }
    impl Visit for Count {
        fn visit_assign_stmt(&mut self, _: &sapwood_ir::Stmt) {
            self.assignments += 1;
        }
        fn visit_stmt(&mut self, _: &sapwood_ir::Stmt) {
            self.other_stmts += 1;
        }
        fn visit_expr(&mut self, _: &Expr) {
            self.exprs += 1;
        }
        fn visit_function(&mut self, _: &sapwood_ir::Function) {
            self.functions += 1;
        }
    }
    let program = read("def f(x: pi.INT64) -> pi.INT64:\n    y = x + 1\n    return y\n");
    let mut count = Count::default();
    visit(&program, &mut count);
    assert_eq!((count.assignments, count.other_stmts), (1, 2));
    assert_eq!((count.exprs, count.functions), (4, 1));

    struct Two;
    impl Mutate for Two {
        fn mutate_const_int(&mut self, expr: &ExprRef) -> Option<ExprRef> {
            Expr::const_int(2, expr.ty().as_scalar()?, expr.span()).ok()
        }
    }
    let changed = mutate(&program, &mut Two).unwrap();
    assert!(changed.to_string().contains("y = x + 2"), "{changed}");
    let mut constants = 0;
    let _ = NodeWalk::of(&changed).pre_order(|at| {
        constants += usize::from(at.node().info().key() == "ir.ConstInt");
        ControlFlow::<(), _>::Continue(WalkAction::Into)
    });
    assert_eq!(constants, 1);
}
