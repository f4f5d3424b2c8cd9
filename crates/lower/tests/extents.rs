//! Parameters that are dims of other parameters: an argument that is not the extent is refused by the interpreter and by the lowered program, which
//! computes with the extent.

use crate::common::{from_ptir, inputs};
use sapwood_ir::interpret::scalar::Scalar;
use sapwood_ir::interpret::{Interpreter, RunValue};
use sapwood_ir::testing::ChoiceSource;
use sapwood_ir::{BinaryOp, Expr, Function, ProgramRef, Stmt, Type, Var, parse_program};
use sapwood_lower::lower;
use sapwood_ptir::Program;
use sapwood_ptir::eval::{RunOptions, run};
use sapwood_rewrite::PassManager;
use sapwood_testing::cases;
use sapwood_types::{DataType, Source, Span};

fn read(text: &str) -> (ProgramRef, Program, Program) {
    let source = Source::new("extents.py", text);
    let program =
        parse_program(&source).unwrap_or_else(|e| panic!("{}\n{text}", e.render(&source)));
    let lowered = lower(&program).unwrap_or_else(|e| panic!("{}\n{text}", e.render(&source)));
    let mut simple = lowered.clone();
    PassManager::parse("simplify").unwrap().run(&mut simple).unwrap();
    (program, lowered, simple)
}

fn run_lowered(program: &Program, args: &[RunValue]) -> Result<Vec<RunValue>, String> {
    let f = program.functions().iter().find(|f| f.name().as_str() == "f").unwrap();
    let found = run(program, "f", &inputs(f, args), &RunOptions::default());
    found.map(|values| values.iter().map(from_ptir).collect()).map_err(|e| e.to_string())
}

fn interpret(program: &ProgramRef, args: &[RunValue]) -> Result<Vec<RunValue>, String> {
    Interpreter::new(program, 100_000).run("f", args).map_err(|e| e.to_string())
}

fn tensor(shape: &[i64]) -> RunValue {
    let count = shape.iter().product::<i64>();
    let elements: Vec<Scalar> =
        (0..count).map(|i| Scalar::int(DataType::I64, i128::from(i % 7 - 3))).collect();
    RunValue::Tensor(shape.into(), elements.into())
}

#[test]
fn a_run_with_an_argument_that_is_not_the_extent_stops() {
    let text =
        "def f(n: pi.INT64, x: pi.TensorType(pi.INT64, [n, 2])) -> pi.INT64:\n    return n * 10\n";
    let (program, lowered, simple) = read(text);
    let args = |n| [RunValue::int(n), tensor(&[3, 2])];
    for program in [&lowered, &simple] {
        assert_eq!(run_lowered(program, &args(3)).unwrap(), [RunValue::int(30)], "{program}");
    }
    assert!(interpret(&program, &args(4)).is_err());
    let message = run_lowered(&lowered, &args(4)).unwrap_err();
    assert!(
        message.contains("dim ?n is 4 in axis 0 of result 0, but was 3 in axis 0 of input 1"),
        "{message}"
    );
    let f = &lowered.functions()[0];
    let error = run(&lowered, "f", &inputs(f, &args(4)), &RunOptions::default()).unwrap_err();
    assert!(!error.span.is_unknown());
    // Simplified, the program computes with the extent.
    assert_eq!(run_lowered(&simple, &args(4)).unwrap(), [RunValue::int(30)], "{simple}");
}

#[test]
fn a_dim_that_determines_no_parameter_is_checked_after_simplification_too() {
    let text = "def f(n: pi.INT64, m: pi.INT64, x: pi.TensorType(pi.INT64, [n * m])) -> pi.INT64:\n    return n + 10 * m\n";
    let (_, lowered, simple) = read(text);
    for program in [&lowered, &simple] {
        let args = |n, m| [RunValue::int(n), RunValue::int(m), tensor(&[6])];
        assert_eq!(run_lowered(program, &args(2, 3)).unwrap(), [RunValue::int(32)], "{program}");
        assert!(run_lowered(program, &args(2, 4)).is_err(), "{program}");
    }
}

#[test]
fn a_check_of_an_extent_takes_no_memory() {
    let text =
        "def f(n: pi.INT64, x: pi.TensorType(pi.INT64, [n, 0])) -> pi.INT64:\n    return n * 10\n";
    let (_, lowered, _) = read(text);
    for n in [1 << 39, 3] {
        let args = [RunValue::int(n), tensor(&[3, 0])];
        let f = &lowered.functions()[0];
        let options = RunOptions { max_bytes: 1000, ..RunOptions::default() };
        let found = run(&lowered, "f", &inputs(f, &args), &options).map_err(|e| e.to_string());
        match n {
            3 => assert_eq!(from_ptir(&found.unwrap()[0]), RunValue::int(30)),
            _ => assert!(found.unwrap_err().contains("dim ?n is 549755813888"), "{lowered}"),
        }
    }
}

#[test]
fn a_number_that_may_be_negative_is_no_extent_inside_of_max() {
    let text = "def f(n: pi.INT64, x: pi.TensorType(pi.INT64, [max(n, 0)])) -> pi.INT64:\n    return n * 10\n";
    let (program, lowered, simple) = read(text);
    let args = [RunValue::int(-3), tensor(&[0])];
    assert_eq!(interpret(&program, &args).unwrap(), [RunValue::int(-30)]);
    for program in [&lowered, &simple] {
        assert_eq!(run_lowered(program, &args).unwrap(), [RunValue::int(-30)], "{program}");
        assert!(run_lowered(program, &[RunValue::int(3), tensor(&[0])]).is_err(), "{program}");
    }
}

#[test]
fn arithmetic_of_few_bits_wraps_around_in_dims_too() {
    let text = "def f(n: pi.UINT8, x: pi.TensorType(pi.INT64, [n * 200])) -> pi.INT64:\n    return pi.op.reduce_sum(x, axes=[0])\n";
    let (program, lowered, simple) = read(text);
    let two = RunValue::Scalar(Scalar::int(DataType::U8, 2));
    let args = |n| [two.clone(), tensor(&[n])];
    let expected = interpret(&program, &args(144)).unwrap();
    assert!(interpret(&program, &args(400)).is_err());
    for program in [&lowered, &simple] {
        assert_eq!(run_lowered(program, &args(144)).unwrap(), expected, "{program}");
    }
    assert!(run_lowered(&lowered, &args(400)).is_err(), "{lowered}");
}

#[test]
fn many_parameters_that_are_dims_of_others_take_linear_time() {
    // With a scan of all parameters for each, this would be 10^9 steps.
    const COUNT: usize = 30_000;
    let m = Var::new("m", DataType::I64, Span::unknown());
    let mut params = vec![m.clone()];
    for i in 0..COUNT {
        let n = Var::new("n", DataType::I64, Span::unknown());
        let (n_expr, m_expr) = (n.expr(), m.expr());
        let binary = |op| Expr::binary(op, n_expr, m_expr, DataType::I64, Span::unknown());
        let dim = match i % 4 {
            0 => n_expr.clone(),
            1 => binary(BinaryOp::Mul),
            2 => binary(BinaryOp::Max),
            _ => binary(BinaryOp::Pow),
        };
        params.push(n);
        params.push(Var::new("x", Type::tensor(DataType::I64, [dim]), Span::unknown()));
    }
    let body = Stmt::return_([m.expr().clone()], Span::unknown());
    let function =
        Function::new("f", params, [Type::scalar(DataType::I64)], &body, Span::unknown());
    let program = sapwood_ir::Program::new([function], "", Span::unknown()).unwrap();
    let lowered = lower(&program).unwrap_or_else(|e| panic!("{e}"));
    assert!(lowered.num_insts() > 4 * COUNT, "{}", lowered.num_insts());
}

/// Writes a random function of `n`, `m` and tensors whose dims they are, and the exact shapes of these for a value of both.
struct Writer {
    random: ChoiceSource,
    text: String,
}

/// Dims, with their extents for `n` and `m`.
type DimRow = (&'static str, fn(i64, i64) -> i64);

const DIMS: [DimRow; 12] = [
    ("n", |n, _| n),
    ("m", |_, m| m),
    ("2 * n", |n, _| 2 * n),
    ("n * 2", |n, _| n * 2),
    ("n + 1", |n, _| n + 1),
    ("n + m", |n, m| n + m),
    ("n * m", |n, m| n * m),
    ("n ** 2", |n, _| n * n),
    ("3", |_, _| 3),
    ("max(n, m)", |n, m| n.max(m)),
    ("max(n, 0)", |n, _| n.max(0)),
    ("min(n, m) + 2", |n, m| n.min(m) + 2),
];

impl Writer {
    fn line(&mut self, depth: usize, line: &str) {
        self.text += &"    ".repeat(depth);
        self.text += line;
        self.text.push('\n');
    }

    fn number(&mut self) -> String {
        let (a, b) =
            (*self.random.pick(&["n", "m", "s"]), *self.random.pick(&["n", "m", "s", "3"]));
        let op = *self.random.pick(&["+", "-", "*", "//", "%"]);
        format!("{a} {op} {b}")
    }

    /// Writes statements that assign `s`, and sometimes `n`.
    fn stmts(&mut self, depth: usize) {
        for _ in 0..=self.random.below(3) {
            let value = self.number();
            match self.random.below(if depth > 2 { 3 } else { 6 }) {
                0 | 1 => self.line(depth, &format!("s = {value}")),
                2 => self.line(depth, &format!("n = {value}")),
                3 => {
                    self.line(depth, "for i in range(n % 4):");
                    self.line(depth + 1, "s = s + i");
                    self.stmts(depth + 1);
                }
                4 => {
                    self.line(depth, &format!("if {value} > 2:"));
                    self.stmts(depth + 1);
                }
                _ => self.line(depth, &format!("s = g(m, y) + {value}")),
            }
        }
    }

    /// Writes the program; returns the dims of its tensors.
    fn program(&mut self) -> Vec<Vec<DimRow>> {
        let mut shapes = Vec::new();
        let mut params = vec!["n: pi.INT64".to_owned(), "m: pi.INT64".to_owned()];
        for name in ["x", "z"] {
            let rank = 1 + self.random.below(2);
            let dims: Vec<DimRow> = (0..rank).map(|_| *self.random.pick(&DIMS)).collect();
            let text: Vec<&str> = dims.iter().map(|dim| dim.0).collect();
            params.push(format!("{name}: pi.TensorType(pi.INT64, [{}])", text.join(", ")));
            shapes.push(dims);
        }
        // The order of parameters does not matter.
        params.push("y: pi.TensorType(pi.INT64, [m])".to_owned());
        shapes.push(vec![DIMS[1]]);
        let axes: Vec<String> = (0..shapes[0].len()).map(|axis| axis.to_string()).collect();
        self.line(0, "def g(k: pi.INT64, t: pi.TensorType(pi.INT64, [k])) -> pi.INT64:");
        self.line(1, "return k + pi.op.reduce_sum(t, axes=[0])");
        self.line(0, &format!("def f({}) -> (pi.INT64, pi.INT64):", params.join(", ")));
        self.line(1, "s = n + m");
        self.stmts(1);
        self.line(1, &format!("total = pi.op.reduce_sum(x * s, axes=[{}])", axes.join(", ")));
        self.line(1, "return s, total");
        shapes
    }
}

#[test]
fn the_lowered_program_knows_which_parameters_are_extents() {
    let count = cases(300, 20_000);
    let (mut agreed, mut refused) = (0, 0);
    for seed in 0..u64::from(count) {
        let mut writer = Writer { random: ChoiceSource::new(seed), text: String::new() };
        let shapes = writer.program();
        let Writer { mut random, text } = writer;
        let (program, lowered, simple) = read(&text);
        for _ in 0..4 {
            let (n, m) = (random.below(4) as i64, random.below(4) as i64);
            let tensors: Vec<RunValue> = shapes
                .iter()
                .map(|dims| tensor(&dims.iter().map(|dim| (dim.1)(n, m)).collect::<Vec<_>>()))
                .collect();
            let args = |n, m| {
                let mut args = vec![RunValue::int(n), RunValue::int(m)];
                args.extend(tensors.iter().cloned());
                args
            };
            let right = interpret(&program, &args(n, m));
            let right = right.unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
            let (other_n, other_m) =
                (n + random.below(3) as i64 - 1, m + random.below(3) as i64 - 1);
            let other = args(other_n, other_m);
            let expected = interpret(&program, &other);
            let found = run_lowered(&lowered, &other);
            let simplified = run_lowered(&simple, &other);
            match expected {
                Ok(expected) => {
                    assert_eq!(found.as_ref(), Ok(&expected), "seed {seed}\n{text}\n{lowered}");
                    assert_eq!(simplified, Ok(expected), "seed {seed}\n{text}\n{simple}");
                    agreed += 1;
                }
                Err(_) => {
                    assert!(
                        found.is_err(),
                        "seed {seed}: {found:?} for {other_n}, {other_m}\n{text}\n{lowered}"
                    );
                    refused += 1;
                    // A check whose value is not used may be removed: the program computes with the extents, or does not read the parameter.
                    if let Ok(simplified) = simplified {
                        let fitting = [(n, m), (n, other_m), (other_n, m)]
                            .map(|(n, m)| interpret(&program, &args(n, m)));
                        assert!(
                            simplified == right || fitting.contains(&Ok(simplified.clone())),
                            "seed {seed}: {simplified:?} for {other_n}, {other_m}\n{text}\n{simple}"
                        );
                    }
                }
            }
            assert_eq!(
                run_lowered(&lowered, &args(n, m)),
                Ok(right.clone()),
                "seed {seed}\n{text}\n{lowered}"
            );
            assert_eq!(
                run_lowered(&simple, &args(n, m)),
                Ok(right),
                "seed {seed}\n{text}\n{simple}"
            );
        }
    }
    assert!(agreed > count / 4 && refused > count, "{agreed} agreed, {refused} were refused");
}

#[test]
fn slices_of_computed_lengths_lower() {
    for (slice, dims) in [
        ("x[:k]", "[k, 3]"),
        ("x[k:]", "[4 - k, 3]"),
        ("x[1:, :k]", "[3, k]"),
        ("x[k:k + 1]", "[1, 3]"),
    ] {
        let text = format!(
            "def f(k: pi.INT64, x: pi.TensorType(pi.INT64, [4, 3])) -> pi.TensorType(pi.INT64, {dims}):\n    return {slice} * 2\n"
        );
        let (program, lowered, simple) = read(&text);
        for k in -1..6 {
            let args = [RunValue::int(k), tensor(&[4, 3])];
            match interpret(&program, &args) {
                Ok(expected) => {
                    for lowered in [&lowered, &simple] {
                        let found = run_lowered(lowered, &args);
                        assert_eq!(found, Ok(expected.clone()), "{slice} of {k}\n{lowered}");
                    }
                }
                Err(_) => {
                    assert!(run_lowered(&lowered, &args).is_err(), "{slice} of {k}\n{lowered}");
                }
            }
        }
    }
}
