//! Lowered programs compute the same values as the front-end interpreter: bit for bit, except which NaN.

use crate::common::{from_ptir, inputs};
use sapwood_ir::interpret::{Interpreter, RunValue};
use sapwood_ir::testing::{ChoiceSource, arguments, plain_program};
use sapwood_ir::{
    Expr, ExprRef, Function, FunctionRef, Mutate, ProgramRef, Stmt, StmtRef, Type, TypeRef, Var,
    mutate,
};
use sapwood_lower::lower;
use sapwood_ptir::eval::{RunOptions, Value, run};
use sapwood_rewrite::PassManager;
use sapwood_testing::cases;
use sapwood_types::{DataType, Span};

/// Returns the results of the interpreter and of PTIR; none if the interpreter runs out of steps.
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

/// Runs all functions of a program on random arguments in the interpreter, lowered, and simplified; returns the number
/// of results compared.
fn compare(program: &ProgramRef, random: &mut ChoiceSource, seed: u64) -> u32 {
    let lowered =
        lower(program).unwrap_or_else(|problems| panic!("seed {seed}: {problems}\n{program}"));
    let mut simple = lowered.clone();
    PassManager::parse("simplify").unwrap().run(&mut simple).unwrap();
    let mut compared = 0;
    for function in program.functions() {
        let args = arguments(random, function);
        for (how, made) in [("lowered", &lowered), ("simplified", &simple)] {
            if let Some((expected, found)) = both(program, made, function, &args) {
                compared += u32::from(!expected.is_empty());
                let name = &function.name;
                assert_eq!(
                    expected, found,
                    "seed {seed}, {how} {name} of {args:?}\n{program}\n{made}"
                );
            }
        }
    }
    compared
}

/// A mutator that inserts `if x < 3: return …` after assignments, also in loops and branches.
struct ReturnSomewhere<'a> {
    random: &'a mut ChoiceSource,
    types: Vec<TypeRef>,
}

impl Mutate for ReturnSomewhere<'_> {
    fn mutate_stmt(&mut self, stmt: &StmtRef) -> Option<StmtRef> {
        let Stmt::Seq { stmts, .. } = &**stmt else { return None };
        let span = Span::unknown();
        let at = self.random.below(stmts.len().max(1));
        let Stmt::Assign { var, .. } = &**stmts.get(at)? else { return None };
        let dtype = var.ty().as_scalar().filter(|dtype| dtype.is_integer())?;
        let condition =
            Expr::lt(var.expr(), &Expr::cast(&Expr::dim(3), dtype, span), DataType::Bool, span);
        let early = Stmt::return_(self.types.iter().map(any), span);
        let early = match self.random.below(3) {
            // A branch from which some paths continue.
            0 => {
                let again = Stmt::if_(&condition, &early, None, [], span);
                let body = Stmt::seq([again, Stmt::assign(var, var.expr(), span)], span);
                Stmt::if_(&condition, &body, None, [], span)
            }
            _ => Stmt::if_(&condition, &early, None, [], span),
        };
        let (first, rest) = stmts.split_at(at + 1);
        let all = first.iter().cloned().chain([early]).chain(rest.iter().cloned());
        Some(Stmt::seq(all, span))
    }
}

#[test]
fn returns_in_loops_and_on_some_paths_compute_the_same() {
    let (mut compared, mut in_loops) = (0, 0);
    for seed in 0..u64::from(cases(600, 20_000)) {
        let mut random = ChoiceSource::new(seed ^ 0x4321);
        let program = plain_program(seed, 15);
        let changed = program.functions().map(|function| {
            let types = function.return_types.to_vec();
            let mut returns = ReturnSomewhere { random: &mut random, types };
            with_body(function, &mutate(&function.body, &mut returns).unwrap())
        });
        let program = program.with_functions(changed.collect::<Vec<_>>()).unwrap();
        in_loops += u32::from(lower(&program).is_ok_and(|p| p.to_string().contains("%returned")));
        compared += compare(&program, &mut random, seed);
    }
    assert!(compared > 500 && in_loops > 100, "{compared} {in_loops}");
}

/// Returns some value of a type.
fn any(ty: &TypeRef) -> ExprRef {
    let span = Span::unknown();
    match &**ty {
        Type::Tuple { types, .. } => Expr::make_tuple(types.iter().map(any), span),
        _ => Expr::cast(&Expr::dim(3), ty, span),
    }
}

/// Returns the function with a `return` in a branch at its top level: before the rest, or around it.
fn with_early_return(random: &mut ChoiceSource, function: &FunctionRef) -> FunctionRef {
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
    with_body(function, &body)
}

/// Returns the function with another body.
fn with_body(function: &FunctionRef, body: &StmtRef) -> FunctionRef {
    let (params, types) = (function.params.iter().cloned(), function.return_types.iter().cloned());
    Function::new(&function.name, params, types, body, Span::unknown())
}

#[test]
fn early_returns_compute_the_same() {
    for seed in 0..u64::from(cases(500, 20_000)) {
        let mut random = ChoiceSource::new(seed ^ 0x1234);
        let program = plain_program(seed, 15);
        let changed = program.functions().map(|function| {
            let once = with_early_return(&mut random, function);
            with_early_return(&mut random, &once)
        });
        let program = program.with_functions(changed.collect::<Vec<_>>()).unwrap();
        compare(&program, &mut random, seed);
    }
}

#[test]
fn random_programs_compute_the_same() {
    let mut compared = 0u32;
    let count = cases(1_000, 50_000);
    for seed in 0..u64::from(count) {
        let program = plain_program(seed, 15);
        compared += compare(&program, &mut ChoiceSource::new(seed ^ 0xabcd), seed);
    }
    assert!(compared > count / 2, "only {compared} results were compared");
}
