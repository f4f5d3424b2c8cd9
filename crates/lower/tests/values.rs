//! What is lowered computes what the front-end interpreter computes: bit for bit, except which NaN.

mod common;

use common::{from_ptir, inputs};
use sapwood_ir::interpret::{Interpreter, RunValue};
use sapwood_ir::testing::{Random, arguments, plain_program};
use sapwood_ir::{
    Expr, ExprRef, Function, FunctionRef, ProgramRef, Stmt, StmtRef, Type, TypeRef, Var,
};
use sapwood_lower::lower;
use sapwood_ptir::eval::{RunOptions, Value, run};
use sapwood_testing::cases;
use sapwood_types::{DataType, Span};

/// What the interpreter computes, and what PTIR does; nothing if the interpreter runs out of steps.
fn both(
    program: &ProgramRef,
    lowered: &sapwood_ptir::Program,
    function: &Function,
    args: &[RunValue],
) -> Option<(Vec<RunValue>, Vec<RunValue>)> {
    let expected = Interpreter::new(program, 200_000).run(&function.name, args).ok()?;
    let inputs: Vec<Value> = inputs(lowered.function(&*function.name).unwrap(), args);
    let options = RunOptions { max_steps: Some(10_000_000), ..RunOptions::default() };
    let found = run(lowered, &function.name, &inputs, &options)
        .unwrap_or_else(|error| panic!("{}: {error}\n{program}\n{lowered}", function.name));
    Some((expected, found.iter().map(from_ptir).collect()))
}

/// Some value of a type.
fn any(ty: &TypeRef) -> ExprRef {
    let span = Span::unknown();
    match &**ty {
        Type::Tuple { types } => Expr::make_tuple(types.iter().map(any), span),
        _ => Expr::cast(&Expr::dim(3), ty, span),
    }
}

/// The function with a `return` in a branch somewhere on its top level: before the rest, or around it.
fn with_early_return(random: &mut Random, function: &FunctionRef) -> FunctionRef {
    let span = Span::unknown();
    let Stmt::Seq { stmts, .. } = &*function.body else { return function.clone() };
    let (first, rest) = stmts.split_at(random.below(stmts.len()));
    let numbers: Vec<&Var> = function
        .params
        .iter()
        .filter(|param| param.ty().as_scalar().is_some_and(DataType::is_integer))
        .collect();
    let condition = match numbers.first() {
        Some(number) => Expr::lt(number, &any(number.ty()), DataType::Bool, span),
        None => Expr::const_bool(random.below(2) == 0, span),
    };
    let early = Stmt::return_(function.return_types.iter().map(any), span);
    let rest_body = Stmt::seq(rest.iter().cloned(), span);
    let tail: Vec<StmtRef> = match random.below(3) {
        0 => {
            let stmt = Stmt::if_(&condition, &early, None, [], span);
            std::iter::once(stmt).chain(rest.iter().cloned()).collect()
        }
        1 => vec![Stmt::if_(&condition, &early, Some(&rest_body), [], span)],
        _ => vec![Stmt::if_(&condition, &rest_body, Some(&early), [], span), early],
    };
    let body = Stmt::seq(first.iter().cloned().chain(tail), span);
    let (params, types) = (function.params.iter().cloned(), function.return_types.iter().cloned());
    Function::new(&function.name, params, types, &body, span)
}

#[test]
fn early_returns_compute_the_same() {
    for seed in 0..u64::from(cases(500, 20_000)) {
        let mut random = Random::new(seed ^ 0x1234);
        let program = plain_program(seed, 15);
        let functions: Vec<FunctionRef> = program
            .functions()
            .map(|function| {
                let once = with_early_return(&mut random, function);
                with_early_return(&mut random, &once)
            })
            .collect();
        let program = program.with_functions(functions).unwrap();
        let lowered =
            lower(&program).unwrap_or_else(|problems| panic!("seed {seed}: {problems}\n{program}"));
        for function in program.functions() {
            let args = arguments(&mut random, function);
            if let Some((expected, found)) = both(&program, &lowered, function, &args) {
                assert_eq!(expected, found, "seed {seed}\n{program}\n{lowered}");
            }
        }
    }
}

#[test]
fn random_programs_compute_the_same() {
    let mut compared = 0u32;
    let count = cases(1_000, 50_000);
    for seed in 0..u64::from(count) {
        let program = plain_program(seed, 15);
        let lowered = lower(&program).unwrap();
        let mut random = Random::new(seed ^ 0xabcd);
        for function in program.functions() {
            let args = arguments(&mut random, function);
            if let Some((expected, found)) = both(&program, &lowered, function, &args) {
                compared += u32::from(!expected.is_empty());
                assert_eq!(
                    expected, found,
                    "seed {seed}, {} of {args:?}\n{program}\n{lowered}",
                    function.name
                );
            }
        }
    }
    assert!(compared > count / 2, "only {compared} results were compared");
}
