//! Properties over random well-formed programs.

use sapwood_ir::testing::{plain_program, program};
use sapwood_ir::{Expr, ExprRef, Mutate, Type, UnaryOp, Var, mutate};
use sapwood_lower::{lower, lower_function};
use sapwood_ptir::Registry;
use sapwood_ptir::structural::{Mode, first_mismatch, first_mismatch_functions};
use sapwood_testing::cases;
use sapwood_types::Span;

fn seeds() -> std::ops::Range<u64> {
    0..u64::from(cases(1_500, 100_000))
}

#[test]
fn every_well_formed_program_of_typed_values_lowers_and_verifies() {
    for seed in seeds() {
        let program = plain_program(seed, 20);
        let lowered =
            lower(&program).unwrap_or_else(|problems| panic!("seed {seed}: {problems}\n{program}"));
        if let Err(problems) = sapwood_ptir::verify(&lowered) {
            panic!("seed {seed}: {problems}\n{program}\n{lowered}");
        }
        assert_eq!(lowered.functions().len(), program.len(), "seed {seed}");
        let text = lowered.to_string();
        let back =
            sapwood_ptir::parse(&text).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
        assert_eq!(back.to_string(), text, "seed {seed}");
    }
}

/// The messages for constructs that the front-end IR has and lowering rejects.
const REFUSED: [&str; 6] = [
    "a function is not a value",
    "a return inside a loop cannot be lowered",
    "a return in a branch from which other paths continue cannot be lowered",
    "a return next to a branch that yields",
    "ends without a return, and its last statement binds no variables of these types",
    "unknown",
];

#[test]
fn every_other_program_lowers_or_is_refused_by_name() {
    let mut lowered = 0;
    for seed in seeds() {
        let program = program(seed, 20);
        match lower(&program) {
            Ok(made) => {
                lowered += 1;
                assert!(sapwood_ptir::verify(&made).is_ok(), "seed {seed}\n{program}\n{made}");
            }
            Err(problems) => {
                for problem in &problems {
                    let named = REFUSED.iter().any(|known| problem.message.contains(known));
                    assert!(named, "seed {seed}: {problem}\n{program}");
                }
            }
        }
    }
    assert!(lowered > 100, "{lowered}");
}

#[test]
fn a_function_lowers_alone_as_it_does_with_the_others() {
    for seed in 0..seeds().end / 10 {
        let program = plain_program(seed, 20);
        let whole = lower(&program).unwrap();
        for function in whole.functions() {
            let name = function.name().as_str();
            let alone = lower_function(&program, name, &Registry::builtin()).unwrap();
            let mismatch = first_mismatch_functions(function, &alone, Mode::Ordered);
            assert!(mismatch.is_none(), "seed {seed}, {name}\n{program}");
        }
    }
}

/// A mutator that removes the types of local variables and expressions that can be inferred.
struct Forget {
    params: Vec<usize>,
}

impl Mutate for Forget {
    fn mutate_expr(&mut self, expr: &ExprRef) -> Option<ExprRef> {
        let (span, unknown) = (Span::unknown(), Type::unknown());
        if let Some((op, left, right)) = expr.as_binary() {
            return (!op.is_predicate()).then(|| Expr::binary(op, left, right, unknown, span));
        }
        if let Some((op, operand)) = expr.as_unary() {
            let follows = !matches!(op, UnaryOp::Not | UnaryOp::Cast);
            return follows.then(|| Expr::unary(op, operand, unknown, span));
        }
        match &**expr {
            Expr::Call { callee, args, .. } => {
                Some(Expr::call(callee, args.iter().cloned(), unknown, span))
            }
            Expr::Var { name, .. } if !self.params.contains(&expr.node().id()) => {
                Some(Var::new(name, unknown, span).into())
            }
            _ => None,
        }
    }
}

#[test]
fn types_that_can_be_inferred_may_be_omitted() {
    for seed in 0..seeds().end / 3 {
        let program = plain_program(seed, 20);
        let params =
            program.functions().flat_map(|f| f.params.iter().map(Var::id)).collect::<Vec<_>>();
        let bare = mutate(&program, &mut Forget { params }).unwrap();
        let (said, found) = (lower(&program).unwrap(), lower(&bare));
        let found = found.unwrap_or_else(|problems| panic!("seed {seed}: {problems}\n{bare}"));
        let mismatch = first_mismatch(&said, &found, Mode::Ordered);
        assert!(mismatch.is_none(), "seed {seed}: {mismatch:?}\n{program}\n{bare}");
    }
}
