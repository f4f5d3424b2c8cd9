//! Operators, loops and tensors at the edges of their types: what is lowered computes what the interpreter computes.

use crate::common::{from_ptir, inputs};
use sapwood_ir::interpret::scalar::Scalar;
use sapwood_ir::interpret::{Interpreter, RunValue};
use sapwood_ir::{BinaryOp, Expr, Function, Program, ProgramRef, Stmt, Type, UnaryOp, Var};
use sapwood_ir::{VerifyLevel, parse_program, verify};
use sapwood_lower::lower;
use sapwood_ptir::eval::{Prepared, RunOptions, Value};
use sapwood_types::{DataType, Source, Span};

const NOWHERE: Span = Span::unknown();

const INTEGERS: [DataType; 7] = [
    DataType::I4,
    DataType::U4,
    DataType::I8,
    DataType::U8,
    DataType::I64,
    DataType::U64,
    DataType::Index,
];
const FLOATS: [DataType; 3] = [DataType::F32, DataType::F64, DataType::Bf16];

fn edges(dtype: DataType) -> Vec<Scalar> {
    if dtype.is_bool() {
        return vec![Scalar::Bool(false), Scalar::Bool(true)];
    }
    if let Some((min, max)) = dtype.integer_range() {
        let near = [min, min + 1, -3, -2, -1, 0, 1, 2, 3, 7, max / 2, max - 1, max];
        return near.into_iter().map(|value| Scalar::int(dtype, value)).collect();
    }
    let values = [0.0, 0.5, 1.0, 2.5, 3.3, 7.0, 1e-40, 1e30, f64::INFINITY];
    let both = values.into_iter().flat_map(|value| [value, -value]);
    both.chain([f64::NAN]).map(|value| Scalar::float(dtype, value)).collect()
}

/// A program and its lowered form.
struct Pair {
    program: ProgramRef,
    prepared: Prepared,
}

impl Pair {
    fn new(program: ProgramRef) -> Self {
        let lowered = lower(&program).unwrap_or_else(|problems| panic!("{problems}\n{program}"));
        let prepared = Prepared::new(&lowered, "f", None).unwrap();
        Self { program, prepared }
    }

    fn read(text: &str) -> Self {
        let source = Source::new("edges.py", text);
        Self::new(parse_program(&source).unwrap_or_else(|e| panic!("{}", e.render(&source))))
    }

    fn check(&self, args: &[RunValue]) -> Vec<RunValue> {
        let expected = Interpreter::new(&self.program, 100_000).run("f", args).unwrap();
        let inputs: Vec<Value> = inputs(self.prepared.function(), args);
        let found = self.prepared.run(&inputs, &RunOptions::default());
        let found = found.unwrap_or_else(|error| panic!("{error} of {args:?}\n{}", self.program));
        let found: Vec<RunValue> = found.iter().map(from_ptir).collect();
        assert_eq!(expected, found, "{args:?}\n{}", self.program);
        found
    }
}

/// Returns `f(params) = value`, if that is well-formed.
fn function(params: &[&Var], value: &sapwood_ir::ExprRef) -> Option<Pair> {
    let body = Stmt::return_([value.clone()], NOWHERE);
    let params = params.iter().map(|&param| param.clone());
    let function = Function::new("f", params, [value.ty().clone()], &body, NOWHERE);
    let program = Program::new([function], "", NOWHERE).unwrap();
    verify(&program, VerifyLevel::WellFormed).is_empty().then(|| Pair::new(program))
}

#[test]
fn binary_operators() {
    let mut operators = 0;
    for dtype in INTEGERS.into_iter().chain(FLOATS).chain([DataType::Bool]) {
        let [x, y] = ["x", "y"].map(|name| Var::new(name, dtype, NOWHERE));
        for op in BinaryOp::ALL {
            let result = if op.is_predicate() { DataType::Bool } else { dtype };
            let value = Expr::binary(op, &x, &y, result, NOWHERE);
            let Some(pair) = function(&[&x, &y], &value) else { continue };
            operators += 1;
            for left in edges(dtype) {
                for right in edges(dtype) {
                    pair.check(&[RunValue::Scalar(left), RunValue::Scalar(right)]);
                }
            }
        }
    }
    assert!(operators > 180, "{operators}");
}

#[test]
fn division_by_constants() {
    for dtype in [DataType::I8, DataType::U8, DataType::I64] {
        let x = Var::new("x", dtype, NOWHERE);
        for divisor in edges(dtype) {
            let Scalar::Int(_, number) = divisor else { continue };
            let y = Expr::const_int(number, dtype, NOWHERE).unwrap();
            for op in [BinaryOp::FloorDiv, BinaryOp::FloorMod, BinaryOp::FloatDiv] {
                let pair = function(&[&x], &Expr::binary(op, &x, &y, dtype, NOWHERE)).unwrap();
                for left in edges(dtype) {
                    pair.check(&[RunValue::Scalar(left)]);
                }
            }
        }
    }
}

#[test]
fn unary_operators_and_casts() {
    let all: Vec<DataType> = INTEGERS.into_iter().chain(FLOATS).chain([DataType::Bool]).collect();
    for &dtype in &all {
        let x = Var::new("x", dtype, NOWHERE);
        let own = UnaryOp::ALL.into_iter().filter(|&op| op != UnaryOp::Cast);
        let own = own.map(|op| {
            let result = if op == UnaryOp::Not { DataType::Bool } else { dtype };
            Expr::unary(op, &x, result, NOWHERE)
        });
        let casts = all.iter().map(|&to| Expr::cast(&x, to, NOWHERE));
        for value in own.chain(casts) {
            let Some(pair) = function(&[&x], &value) else { continue };
            for operand in edges(dtype) {
                // None of these values is one that the interpreter rounds twice.
                pair.check(&[RunValue::Scalar(operand)]);
            }
        }
    }
}

fn int(dtype: DataType, value: i128) -> RunValue {
    RunValue::Scalar(Scalar::int(dtype, value))
}

#[test]
fn ranges() {
    for dtype in [DataType::I8, DataType::U8, DataType::I4] {
        let name = dtype.document_name();
        let loop_of = |params: &str, range: &str| {
            format!(
                "def f({params}) -> (pi.INT64, pi.{name}):\n    n = 0\n    last = pi.{name}(0)\n    \
                 for i in range({range}):\n        n = n + 1\n        last = i\n    return n, last\n"
            )
        };
        let params = ["a", "b", "c"].map(|param| format!("{param}: pi.{name}")).join(", ");
        let dynamic = Pair::read(&loop_of(&params, "a, b, c"));
        let ends: Vec<i128> = edges(dtype)
            .into_iter()
            .filter_map(|edge| if let Scalar::Int(_, value) = edge { Some(value) } else { None })
            .collect();
        for &step in &ends {
            let written = format!("pi.{name}({step})");
            let stepped = (step != 0).then(|| {
                let params = ["a", "b"].map(|param| format!("{param}: pi.{name}")).join(", ");
                Pair::read(&loop_of(&params, &format!("a, b, {written}")))
            });
            for &start in &ends {
                for &stop in &ends {
                    let [a, b, c] = [start, stop, step].map(|value| int(dtype, value));
                    let expected = dynamic.check(&[a.clone(), b.clone(), c]);
                    if let Some(stepped) = &stepped {
                        assert_eq!(stepped.check(&[a, b]), expected);
                    }
                }
            }
        }
        for range in [[0, 7, 2], [3, 3, 1], [7, 0, 1], [1, 2, 7]] {
            let written = range.map(|value| format!("pi.{name}({value})")).join(", ");
            let [a, b, c] = range.map(|value| int(dtype, value));
            assert_eq!(Pair::read(&loop_of("", &written)).check(&[]), dynamic.check(&[a, b, c]));
            let until = format!("a, pi.{name}({}), pi.{name}({})", range[1], range[2]);
            let half = Pair::read(&loop_of(&format!("a: pi.{name}"), &until));
            half.check(&[int(dtype, range[0])]);
        }
    }
}

fn tensor(dtype: DataType, shape: &[i64], values: &[f64]) -> RunValue {
    let scalar = |&value: &f64| Scalar::Float(DataType::F64, value).cast(dtype).unwrap();
    RunValue::Tensor(shape.into(), values.iter().map(scalar).collect())
}

#[test]
fn tensors_and_scalars() {
    let values = [-7.5, -2.0, 0.0, 1.0, 3.25, 8.0];
    for (dtype, op) in [DataType::F32, DataType::I32, DataType::U8]
        .into_iter()
        .flat_map(|dtype| BinaryOp::ALL.map(|op| (dtype, op)))
    {
        let n = Var::new("n", DataType::I64, NOWHERE);
        let twice = Expr::mul(&n, &Expr::dim(2), DataType::I64, NOWHERE);
        // Known, named and unknown dims, and the `n` for which they are 6.
        for (dim, length) in [(Expr::dim(6), 6), (n.expr().clone(), 6), (twice, 3)] {
            let ty = Type::tensor(dtype, [dim.clone()]);
            let truth = Type::tensor(DataType::Bool, [dim]);
            let result = if op.is_predicate() { &truth } else { &ty };
            let x = Var::new("x", &ty, NOWHERE);
            let s = Var::new("s", dtype, NOWHERE);
            let t = tensor(dtype, &[6], &values);
            for (left, right) in [(&x, &x), (&x, &s), (&s, &x)] {
                let value = Expr::binary(op, left, right, result, NOWHERE);
                let Some(pair) = function(&[&n, &x, &s], &value) else { continue };
                for scalar in edges(dtype) {
                    let length = int(DataType::I64, length);
                    pair.check(&[length, t.clone(), RunValue::Scalar(scalar)]);
                }
            }
        }
    }
}

#[test]
fn loops_carry_tensors_and_branches_yield_them() {
    let pair = Pair::read(
        "def f(n: pi.INT64, x: pi.TensorType(pi.FP32, [n, 2]), c: pi.BOOL) -> pi.TensorType(pi.FP32, [n, 2]):\n    \
         for i, (a,) in pi.range(0, n, 1, init_values=[x]):\n        \
         if c and i < 2:\n            b = pi.typed(a * 2.0, pi.TensorType(pi.FP32, [n, 2]))\n        \
         else:\n            b = a + x\n        \
         b = pi.result(0)\n        \
         pi.yield_(b)\n    \
         r: pi.TensorType(pi.FP32, [n, 2]) = pi.result(0)\n    \
         if c:\n        return r\n    \
         return r - x\n",
    );
    let x = tensor(DataType::F32, &[3, 2], &[1.0, -2.0, 3.5, 0.0, 1e9, -0.25]);
    for c in [false, true] {
        pair.check(&[RunValue::int(3), x.clone(), RunValue::Scalar(Scalar::Bool(c))]);
    }
}
