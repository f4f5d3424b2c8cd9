//! Tests of depth, sharing and length: a million deep, 2^1000 paths, a million long, on a small stack.

use std::ops::ControlFlow;

use sapwood_ir::interpret::{Interpreter, RunValue};
use sapwood_ir::passes::PASSES;
use sapwood_ir::{
    Expr, ExprRef, Function, Mutate, PrintError, Program, ProgramRef, Stmt, StmtRef, Type, Var,
    VerifyLevel, from_json, mutate, parse_program, print_program, to_json, verify,
};
use sapwood_structural::{NodeWalk, WalkAction, equal, hash};
use sapwood_testing::on_small_stack;
use sapwood_types::{DataType, Source, Span};

const I64: DataType = DataType::I64;
const NOWHERE: Span = Span::unknown();
const MILLION: usize = 1_000_000;

fn program(write: impl Fn(&Var) -> StmtRef) -> ProgramRef {
    let x = Var::new("x", I64, NOWHERE);
    let body = write(&x);
    let function = Function::new("f", [x], [], &body, NOWHERE);
    Program::new([function], "", NOWHERE).unwrap()
}

fn returning(write: impl Fn(&Var) -> ExprRef) -> ProgramRef {
    program(|x| Stmt::assign(&Var::new("y", I64, NOWHERE), &write(x), NOWHERE))
}

fn nodes(program: &ProgramRef) -> usize {
    let mut count = 0;
    let _ = NodeWalk::of(program).pre_order(|_| {
        count += 1;
        ControlFlow::<(), _>::Continue(WalkAction::Into)
    });
    count
}

/// A mutator that replaces one constant by another.
struct Replace {
    from: i128,
    to: i64,
}

impl Mutate for Replace {
    fn mutate_expr(&mut self, expr: &ExprRef) -> Option<ExprRef> {
        (expr.as_int() == Some(self.from)).then(|| Expr::dim(self.to))
    }
}

/// Compares, hashes, prints, parses, verifies, mutates and drops a program, and converts it to JSON.
fn survives(build: impl Fn() -> ProgramRef + Send + Sync) -> String {
    on_small_stack(|| {
        let (one, two) = (build(), build());
        assert!(equal(&one, &two).unwrap());
        assert_eq!(hash(&one).unwrap(), hash(&two).unwrap());
        let problems = verify(&one, VerifyLevel::Ssa);
        assert!(problems.is_empty(), "{problems:?}");
        let text = print_program(&one).unwrap();
        assert!(
            text.len() <= 40 * nodes(&one) + 1000,
            "{} bytes for {} nodes",
            text.len(),
            nodes(&one)
        );
        let source = Source::new("deep.ir", text.as_str());
        let back = parse_program(&source).unwrap_or_else(|e| panic!("{}", e.render(&source)));
        assert!(equal(&one, &back).unwrap());
        let json = to_json(&one).unwrap();
        let again = from_json(&json).unwrap();
        assert!(equal(&one, &again).unwrap());
        let changed = mutate(&one, &mut Replace { from: 7, to: 8 }).unwrap();
        assert!(!equal(&one, &changed).unwrap());
        drop((one, two, back, again, changed));
        text
    })
}

#[test]
fn a_million_deep_to_the_left() {
    let text = survives(|| {
        returning(|x| {
            let mut expr = Expr::add(x, &Expr::dim(7), I64, NOWHERE);
            let one = Expr::dim(1);
            for _ in 0..MILLION {
                expr = Expr::add(&expr, &one, I64, NOWHERE);
            }
            expr
        })
    });
    let longest = text.lines().map(str::len).max();
    assert!(longest < Some(2_000), "deep parts have lines of their own: {longest:?}");
}

#[test]
fn a_million_deep_to_the_right_and_down() {
    survives(|| {
        returning(|x| {
            let mut expr = Expr::add(x, &Expr::dim(7), I64, NOWHERE);
            for index in 0..MILLION / 2 {
                expr = match index % 3 {
                    0 => Expr::sub(x, &expr, I64, NOWHERE),
                    1 => Expr::neg(&expr, I64, NOWHERE),
                    _ => Expr::min(x, &expr, I64, NOWHERE),
                };
            }
            expr
        })
    });
}

#[test]
fn deep_nesting_in_one_line_of_text() {
    on_small_stack(|| {
        let (open, close) = ("(".repeat(MILLION), ")".repeat(MILLION));
        for text in [
            format!("def f(x: pi.INT64):\n    y = {open}x{close}\n"),
            format!("def f(x: pi.INT64):\n    y = {}x\n", "-".repeat(MILLION)),
            format!("def f(x: pi.INT64):\n    y = {}x{}\n", "abs(".repeat(MILLION), close),
            format!("def f(x: pi.INT64):\n    y = x{}\n", " ** x".repeat(MILLION)),
        ] {
            let program = parse_program(&Source::new("line.ir", text)).unwrap();
            assert!(verify(&program, VerifyLevel::WellFormed).is_empty());
            let printed = print_program(&program).unwrap();
            let back = parse_program(&Source::new("line.ir", printed)).unwrap();
            assert!(equal(&program, &back).unwrap());
        }
        // Unclosed brackets are an error, not an overflow.
        for text in ["(", "abs(", "(abs(", "pi.TupleType([", "not ", "[", "pi.typed("] {
            let text = format!("def f(x: pi.INT64):\n    y = {}\n", text.repeat(MILLION / 4));
            assert!(parse_program(&Source::new("open.ir", text)).is_err());
        }
    });
}

#[test]
fn two_to_the_thousand_paths() {
    let text = survives(|| {
        returning(|x| {
            let mut expr = Expr::add(x, &Expr::dim(7), I64, NOWHERE);
            for _ in 0..1000 {
                expr = Expr::add(&expr, &expr, I64, NOWHERE);
            }
            expr
        })
    });
    assert!(text.len() < 40_000, "{}", text.len());
}

#[test]
fn shared_types_are_named() {
    on_small_stack(|| {
        let mut ty = Type::tuple([Type::scalar(I64), Type::scalar(DataType::F32)]);
        for _ in 0..1000 {
            ty = Type::tuple([ty.clone(), ty]);
        }
        let functions: Vec<_> = (0..100)
            .map(|index| {
                let x = Var::new("x", &ty, NOWHERE);
                let y = Var::new("y", &ty, NOWHERE);
                let body = Stmt::assign(&y, &x, NOWHERE);
                Function::new(&format!("f{index}"), [x], [ty.clone()], &body, NOWHERE)
            })
            .collect();
        let program = Program::new(functions, "", NOWHERE).unwrap();
        assert!(verify(&program, VerifyLevel::Ssa).is_empty());
        let text = print_program(&program).unwrap();
        assert!(text.len() < 60_000, "{}", text.len());
        let back = parse_program(&Source::new("types.ir", text)).unwrap();
        assert!(equal(&program, &back).unwrap());
    });
}

#[test]
fn deep_types() {
    on_small_stack(|| {
        let mut ty = Type::scalar(I64);
        for _ in 0..MILLION {
            ty = Type::tuple([ty]);
        }
        let x = Var::new("x", &ty, NOWHERE);
        let body = Stmt::assign(&Var::new("y", &ty, NOWHERE), &x, NOWHERE);
        let program =
            Program::new([Function::new("f", [x], [], &body, NOWHERE)], "", NOWHERE).unwrap();
        assert!(verify(&program, VerifyLevel::Ssa).is_empty());
        let text = print_program(&program).unwrap();
        let back = parse_program(&Source::new("types.ir", text)).unwrap();
        assert!(equal(&program, &back).unwrap());
        assert!(equal(&program, &from_json(&to_json(&program).unwrap()).unwrap()).unwrap());
    });
}

#[test]
fn a_million_statements() {
    survives(|| {
        program(|x| {
            let mut last = x.clone();
            let mut stmts = Vec::new();
            for index in 0..MILLION {
                let next = Var::new("v", I64, NOWHERE);
                let value = Expr::add(&last, &Expr::dim((index % 10) as i64), I64, NOWHERE);
                stmts.push(Stmt::assign(&next, &value, NOWHERE));
                last = next;
            }
            Stmt::seq(stmts, NOWHERE)
        })
    });
}

#[test]
fn blocks_beyond_the_limit_of_text() {
    on_small_stack(|| {
        let nested = |depth: usize| {
            program(|x| {
                let mut body = Stmt::assign(&Var::new("y", I64, NOWHERE), &Expr::dim(7), NOWHERE);
                for _ in 0..depth {
                    body = Stmt::if_(x, &body, None, [], NOWHERE);
                }
                body
            })
        };
        let deepest = nested(98);
        let text = print_program(&deepest).unwrap();
        assert!(equal(&deepest, &parse_program(&Source::new("nested.ir", text)).unwrap()).unwrap());
        let error = print_program(&nested(99)).unwrap_err();
        assert_eq!(error, PrintError::TooDeep { function: "f".into() });
        assert!(error.to_string().ends_with("use the JSON form"));

        let deep = nested(50_000);
        assert!(print_program(&deep).is_err());
        assert!(verify(&deep, VerifyLevel::Ssa).is_empty());
        assert!(equal(&deep, &nested(50_000)).unwrap());
        assert!(equal(&deep, &from_json(&to_json(&deep).unwrap()).unwrap()).unwrap());
        let arg = [RunValue::int(1)];
        assert!(Interpreter::new(&deep, 1_000_000).run("f", &arg).is_ok());
        for (name, pass) in PASSES {
            let changed = pass(&deep).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(verify(&changed, VerifyLevel::WellFormed).is_empty(), "{name}");
        }
    });
}

#[test]
fn statements_with_too_many_paths_are_refused_where_each_path_would_be_visited() {
    on_small_stack(|| {
        let ladder = program(|x| {
            let mut body = Stmt::assign(x, &Expr::add(x, &Expr::dim(7), I64, NOWHERE), NOWHERE);
            for index in 0..1000 {
                body = if index % 2 == 0 {
                    Stmt::seq([body.clone(), body], NOWHERE)
                } else {
                    Stmt::if_(x, &body, Some(&body), [], NOWHERE)
                };
            }
            body
        });
        assert!(verify(&ladder, VerifyLevel::WellFormed).is_empty());
        assert!(!verify(&ladder, VerifyLevel::Ssa).is_empty());
        assert!(print_program(&ladder).is_err());
        assert!(equal(&ladder, &from_json(&to_json(&ladder).unwrap()).unwrap()).unwrap());
        assert!(Interpreter::new(&ladder, 100_000).run("f", &[RunValue::int(1)]).is_err());
        for (name, pass) in PASSES {
            if name != "fold" {
                assert!(pass(&ladder).is_err(), "{name}");
            }
        }
    });
}

#[test]
fn one_leaf_changed_makes_new_nodes_on_its_path_alone() {
    on_small_stack(|| {
        // A balanced tree of a million nodes whose leaves are numbered.
        let mut level: Vec<ExprRef> = (0..1 << 19).map(Expr::dim).collect();
        while level.len() > 1 {
            level =
                level.chunks(2).map(|pair| Expr::add(&pair[0], &pair[1], I64, NOWHERE)).collect();
        }
        let root = level.remove(0);
        let program = returning(|_| root.clone());
        let changed = mutate(&program, &mut Replace { from: 12_345, to: -1 }).unwrap();
        let ids = |program: &ProgramRef| {
            let mut ids = Vec::new();
            let _ = NodeWalk::of(program).pre_order(|at| {
                ids.push(at.node().id());
                ControlFlow::<(), _>::Continue(WalkAction::Into)
            });
            ids.sort_unstable();
            ids
        };
        let (old, new) = (ids(&program), ids(&changed));
        assert!(old.len() > MILLION);
        let fresh = new.iter().filter(|id| old.binary_search(id).is_err()).count();
        let gone = old.iter().filter(|id| new.binary_search(id).is_err()).count();
        // Twenty levels of the tree, the assignment, the function, its map and the program.
        assert_eq!((fresh, gone), (24, 24));
        let same = mutate(&program, &mut Replace { from: -99, to: 0 }).unwrap();
        assert!(same.same(&program), "nothing changed, nothing new");
    });
}
