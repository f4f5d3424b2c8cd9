//! Tests that the shapes of arguments are checked against the parameter types.

use sapwood_ir::interpret::scalar::Scalar;
use sapwood_ir::interpret::{Interpreter, RunError, RunValue};
use sapwood_ir::testing::{ChoiceSource, arguments, program};
use sapwood_ir::{Expr, Function, Program, ProgramRef, Stmt, Type, TypeRef, Var, parse_program};
use sapwood_testing::cases;
use sapwood_types::{DataType, Source, Span};

fn read(text: &str) -> ProgramRef {
    let source = Source::new("extents.ir", text);
    parse_program(&source).unwrap_or_else(|error| panic!("{}", error.render(&source)))
}

fn tensor(shape: &[i64]) -> RunValue {
    let count = shape.iter().product::<i64>();
    let elements: Vec<Scalar> = (0..count).map(|_| Scalar::float(DataType::F32, 1.0)).collect();
    RunValue::Tensor(shape.into(), elements.into())
}

fn tuple(values: &[RunValue]) -> RunValue {
    RunValue::Tuple(values.to_vec().into())
}

fn int(value: i64) -> RunValue {
    RunValue::int(value)
}

/// Returns the error for the arguments of `f`, or an empty string if it runs.
#[track_caller]
fn refused(program: &Program, args: &[RunValue]) -> String {
    match Interpreter::new(program, 1_000).run("f", args) {
        Ok(_) => String::new(),
        Err(RunError::Argument { message, .. }) => message,
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn a_dim_that_is_a_parameter_has_its_value() {
    let program = read(
        "def f(n: pi.UnknownType(), x: pi.TensorType(pi.FP32, [n, 3])) -> pi.INT64:\n    return 1\n",
    );
    assert_eq!(refused(&program, &[int(2), tensor(&[2, 3])]), "");
    assert_eq!(
        refused(&program, &[int(5), tensor(&[2, 3])]),
        "x is pi.TensorType(pi.FP32, [n, 3]), found an array of shape [2, 3]; dim 0 is n, which is 5, found 2"
    );
    assert_eq!(
        refused(&program, &[int(2), tensor(&[2, 4])]),
        "x is pi.TensorType(pi.FP32, [n, 3]), found an array of shape [2, 4]"
    );
    assert_eq!(
        refused(&program, &[int(2), tensor(&[2])]),
        "x is pi.TensorType(pi.FP32, [n, 3]), found an array of shape [2]"
    );
    let half = RunValue::Scalar(Scalar::float(DataType::F64, 2.0));
    assert_eq!(
        refused(&program, &[half, tensor(&[2, 3])]),
        "x is pi.TensorType(pi.FP32, [n, 3]), found an array of shape [2, 3]; dim 0 is n, which is FP64, not an integer"
    );
}

#[test]
fn every_place_of_a_dim_is_checked() {
    let program = read(
        "def f(n: pi.INT64, x: pi.TensorType(pi.FP32, [n, n]), y: pi.TupleType([pi.INT64, pi.TupleType([pi.TensorType(pi.FP32, [n])])])) -> pi.INT64:\n    return 1\n",
    );
    let nested = |extent| tuple(&[int(0), tuple(&[tensor(&[extent])])]);
    assert_eq!(refused(&program, &[int(2), tensor(&[2, 2]), nested(2)]), "");
    assert_eq!(
        refused(&program, &[int(2), tensor(&[2, 3]), nested(2)]),
        "x is pi.TensorType(pi.FP32, [n, n]), found an array of shape [2, 3]; dim 1 is n, which is 2, found 3"
    );
    assert_eq!(
        refused(&program, &[int(2), tensor(&[2, 2]), nested(4)]),
        "an element of y is pi.TensorType(pi.FP32, [n]), found an array of shape [4]; dim 0 is n, which is 2, found 4"
    );
}

#[test]
fn a_dim_that_is_computed_has_the_value_it_comes_to() {
    let program = read(
        "def f(n: pi.INT64, m: pi.INT64, x: pi.TensorType(pi.FP32, [n * 2 + m])) -> pi.INT64:\n    return 1\n",
    );
    assert_eq!(refused(&program, &[int(3), int(1), tensor(&[7])]), "");
    assert_eq!(
        refused(&program, &[int(3), int(1), tensor(&[6])]),
        "x is pi.TensorType(pi.FP32, [n * 2 + m]), found an array of shape [6]; dim 0 is n * 2 + m, which is 7, found 6"
    );
}

#[test]
fn calls_within_a_program_are_checked() {
    let program = read(
        "def g(n: pi.INT64, x: pi.TensorType(pi.FP32, [n])) -> pi.INT64:\n    return n\n\n\
         def f(n: pi.INT64, x: pi.TensorType(pi.FP32, [n])) -> pi.INT64:\n    return g(n + 1, x)\n",
    );
    let result = Interpreter::new(&program, 1_000).run("f", &[int(2), tensor(&[2])]);
    let Err(RunError::Argument { parameter, message, span }) = result else { panic!("{result:?}") };
    assert_eq!(parameter, "x");
    assert!(message.ends_with("dim 0 is n, which is 3, found 2"), "{message}");
    assert_eq!(span.to_string(), "extents.ir:5:12");
}

fn function(params: Vec<Var>) -> ProgramRef {
    let span = Span::unknown();
    let body = Stmt::return_([Expr::dim(1)], span);
    let results = [Type::scalar(DataType::I64)];
    Program::new([Function::new("f", params, results, &body, span)], "", span).unwrap()
}

#[test]
fn a_variable_that_is_not_a_parameter_has_one_extent() {
    let span = Span::unknown();
    let m = Var::new("m", DataType::I64, span);
    let of = |name: &str, shape: &[&sapwood_ir::ExprRef]| {
        Var::new(name, Type::tensor(DataType::F32, shape.iter().map(|&dim| dim.clone())), span)
    };
    let twice = Expr::add(m.expr(), m.expr(), DataType::I64, span);
    let program = function(vec![of("z", &[&twice]), of("x", &[m.expr()]), of("y", &[m.expr()])]);
    let given = |z, x, y| refused(&program, &[tensor(&[z]), tensor(&[x]), tensor(&[y])]);
    assert_eq!(given(6, 3, 3), "");
    assert_eq!(
        given(6, 3, 4),
        "y is pi.TensorType(pi.FP32, [m]), found an array of shape [4]; dim 0 is m, which is 3 in x, found 4"
    );
    assert!(given(5, 3, 3).ends_with("dim 0 is m + m, which is 6, found 5"), "{}", given(5, 3, 3));
    // The factors cannot be computed from their product alone.
    let program = function(vec![of("z", &[&twice])]);
    assert_eq!(refused(&program, &[tensor(&[5])]), "");
}

#[test]
fn tuples_that_are_shared_are_checked_once() {
    let span = Span::unknown();
    let n = Var::new("n", DataType::I64, span);
    let mut ty: TypeRef = Type::tensor(DataType::F32, [n.expr().clone()]);
    let mut value = tensor(&[3]);
    for _ in 0..60 {
        ty = Type::tuple([ty.clone(), ty]);
        value = tuple(&[value.clone(), value]);
    }
    let program = function(vec![n, Var::new("x", ty, span)]);
    assert_eq!(refused(&program, &[int(3), value.clone()]), "");
    assert!(refused(&program, &[int(4), value]).ends_with("dim 0 is n, which is 4, found 3"));
}

/// Returns an argument with one more element in the first dim of a tensor, or none if it has no tensor.
fn longer(value: &RunValue) -> Option<RunValue> {
    let RunValue::Tensor(shape, elements) = value else { return None };
    let mut shape = shape.to_vec();
    *shape.first_mut()? += 1;
    let count = usize::try_from(shape.iter().product::<i64>()).ok()?;
    let one = elements.first().copied().unwrap_or(Scalar::float(DataType::F32, 1.0));
    Some(RunValue::Tensor(shape.into(), vec![one; count].into()))
}

#[test]
fn random_functions_refuse_an_array_that_is_too_long() {
    let mut seen = 0;
    for seed in 0..u64::from(cases(400, 4_000)) {
        let program = program(seed, 10);
        let mut random = ChoiceSource::new(seed);
        for function in program.functions() {
            let args = arguments(&mut random, function);
            let mut interpreter = Interpreter::new(&program, 1_000);
            interpreter.check_arguments(&function.name, &args).unwrap();
            for index in 0..args.len() {
                let Some(long) = longer(&args[index]) else { continue };
                let mut wrong = args.clone();
                wrong[index] = long;
                let found = interpreter.check_arguments(&function.name, &wrong);
                let Err(RunError::Argument { .. }) = found else { panic!("{found:?}\n{program}") };
                seen += 1;
            }
        }
    }
    assert!(seen > 100, "{seen}");
}

#[test]
fn tensors_with_equal_dims_in_different_forms_are_combined() {
    for (left, right) in
        [("2 * n", "n + n"), ("n * 2", "2 * n"), ("n + 1 + n", "2 * n + 1"), ("n ** 2", "n ** 2")]
    {
        let ty = |dim: &str| format!("pi.TensorType(pi.FP32, [{dim}, 3])");
        let (left, right) = (ty(left), ty(right));
        let text =
            format!("def f(n: pi.INT64, x: {left}, y: {right}) -> {left}:\n    return x + y\n");
        let program = read(&text);
        assert!(sapwood_ir::verify(&program, sapwood_ir::VerifyLevel::WellFormed).is_empty());
        let back = read(&program.to_string());
        assert!(sapwood_structural::equal(&back, &program).unwrap(), "{program}");
    }
    let text = "def f(n: pi.INT64, x: pi.TensorType(pi.FP32, [n]), y: pi.TensorType(pi.FP32, [n + 1])) -> pi.INT64:\n    z = x + y\n    return 1\n";
    assert!(parse_program(&Source::new("f.py", text)).is_err());
}
