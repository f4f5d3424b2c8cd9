//! Comparison of fused groups with the fixed-order kernels, and of their limits.

use std::sync::Arc;

use sapwood_check::NumberTolerance;
use sapwood_ptir::eval::{self, Prepared, RunOptions, Tensor, Value};
use sapwood_ptir::testing::{RandomProgramConfig, Rng, random_literal, random_program};
use sapwood_ptir::{Program, TensorType, ValueType};
use sapwood_runtime::FastKernels;
use sapwood_testing::cases;

pub(crate) fn options(fast: bool, threads: usize) -> RunOptions {
    let kernels = fast.then(|| Arc::new(FastKernels) as _);
    RunOptions { kernels, threads, max_steps: Some(1 << 24), ..RunOptions::default() }
}

fn input(rng: &mut Rng, ty: &ValueType) -> Option<Value> {
    let tensor = ty.as_tensor()?;
    let dims = tensor.dims.iter().map(|d| d.known().unwrap_or(3));
    let literal = random_literal(rng, &TensorType::new(tensor.dtype, dims))?;
    Tensor::from_literal(&literal).ok().map(Value::Tensor)
}

pub(crate) fn inputs(program: &Program, rng: &mut Rng) -> Option<Vec<Value>> {
    let f = program.functions().last()?;
    f.params().iter().map(|&p| input(rng, f.value_type(p))).collect()
}

// Returns the first element of a tensor, repeated.
fn repeated(value: &Value) -> Value {
    let first = |t: &Tensor| t.part(0, [0; 0]).splat_to(t.shape());
    value.as_tensor().filter(|t| t.len() > 0).and_then(first).map_or(value.clone(), Value::Tensor)
}

// Asserts that the fused program gives the numbers of the fixed order, also of inputs that repeat a number.
pub(crate) fn agree(program: &Program, inputs: &[Value], allowed: NumberTolerance) {
    agree_on_inputs(program, inputs, allowed);
    let repeated: Vec<Value> = inputs.iter().map(repeated).collect();
    // Rounding errors of equal terms add up.
    let allowed = NumberTolerance { relative: allowed.relative * 32.0, ..allowed };
    agree_on_inputs(program, &repeated, allowed);
}

// Asserts that the fused program gives the numbers of the fixed order, and the same bytes for any number of threads.
fn agree_on_inputs(program: &Program, inputs: &[Value], allowed: NumberTolerance) {
    let name = program.functions().last().map(|f| f.name()).unwrap();
    let text = || sapwood_ptir::print(program);
    let exact = eval::run(program, name.as_str(), inputs, &options(false, 1));
    let prepared = Prepared::new(program, name.as_str(), Some(&FastKernels)).unwrap();
    let fast = prepared.run(inputs, &options(true, 1));
    let (exact, fast) = match (exact, fast) {
        (Ok(exact), Ok(fast)) => (exact, fast),
        (Err(_), Err(_)) => return,
        (a, b) => panic!("{a:?}\n{b:?}\n{}", text()),
    };
    for (x, y) in exact.iter().zip(&fast) {
        assert_eq!(x.ty(), y.ty());
        if let Some(found) = allowed.first_difference(x, y) {
            panic!("{found:?} in\n{}", text());
        }
    }
    for threads in [1, 2, 5] {
        // The second run uses memory of the first.
        let again = prepared.run(inputs, &options(true, threads)).unwrap();
        for (x, y) in fast.iter().zip(&again) {
            let bytes = |v: &Value| v.to_literal().map(|l| l.stored_bytes().to_vec());
            assert_eq!(bytes(x), bytes(y), "{threads} threads:\n{}", text());
        }
    }
}

pub(crate) fn agree_on(text: &str, seed: u64, allowed: NumberTolerance) {
    let program = sapwood_ptir::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let inputs = inputs(&program, &mut Rng::new(seed)).unwrap();
    agree(&program, &inputs, allowed);
}

/// The ops that are fused, with the element types that they are tested on.
const UNARY: [(&str, &str); 23] = [
    ("neg", "i32 u32 i64 f32 f64 f16 bf16"),
    ("abs", "i32 i64 f32 f64 f16 bf16"),
    ("not", "bool i32 u32 i64"),
    ("sqrt", "f32 f64 f16 bf16"),
    ("rsqrt", "f32 f64 f16 bf16"),
    ("floor", "f32 f64 f16 bf16"),
    ("ceil", "f32 f64 f16 bf16"),
    ("exp", "f32 f64 f16 bf16"),
    ("log", "f32 f64 f16 bf16"),
    ("tanh", "f32 f64 f16 bf16"),
    ("logistic", "f32 f64 f16 bf16"),
    ("erf", "f32 f16 bf16"),
    ("erfc", "f32 f16 bf16"),
    ("round_away", "f32 f64 f16 bf16"),
    ("round_even", "f32 f64 f16 bf16"),
    ("expm1", "f32 f64 f16 bf16"),
    ("log1p", "f32 f64 f16 bf16"),
    ("sin", "f32 f64 f16 bf16"),
    ("cos", "f32 f64 f16 bf16"),
    ("tan", "f32 f64 f16 bf16"),
    ("atan", "f32 f64 f16 bf16"),
    ("cbrt", "f32 f64 f16 bf16"),
    ("sign", "f32 f64 f16 bf16"),
];
const BINARY: [(&str, &str); 15] = [
    ("add", "bool i32 u32 i64 index f32 f64 f16 bf16"),
    ("sub", "i32 u32 i64 f32 f64 f16 bf16"),
    ("mul", "bool i32 u32 i64 f32 f64 f16 bf16"),
    ("div", "i32 u32 i64 f32 f64 f16 bf16"),
    ("max", "bool i32 u32 i64 f32 f64 f16 bf16"),
    ("min", "bool i32 u32 i64 f32 f64 f16 bf16"),
    ("and", "bool i32 u32 i64"),
    ("or", "bool i32 u32 i64"),
    ("xor", "bool i32 u32 i64"),
    ("shl", "i32 u32 i64"),
    ("shr_logical", "i32 u32 i64"),
    ("shr_arithmetic", "i32 u32 i64"),
    ("pow", "f32 f64 f16 bf16"),
    ("atan2", "f32 f64 f16 bf16"),
    ("compare", "bool i32 u32 i64 f32 f64 f16 bf16"),
];

// Four units in the last place.
pub(crate) fn tolerance(ty: &str) -> NumberTolerance {
    let unit = match ty {
        "f64" => f64::EPSILON,
        "f32" => f64::from(f32::EPSILON),
        "f16" => 2f64.powi(-10),
        _ => 2f64.powi(-7),
    };
    let smallest = match ty {
        "f16" => 2f64.powi(-24),
        "bf16" => 1e-40,
        _ => 1e-44,
    };
    NumberTolerance { relative: 4.0 * unit, absolute: 4.0 * smallest }
}

/// Special values of every kind, and numbers between them.
fn special(ty: &str, len: usize, rng: &mut Rng) -> Value {
    let tensor = format!("{ty}[{len}]");
    let is_float = ty.contains('f');
    let element = |rng: &mut Rng| match (is_float, rng.below(14)) {
        (true, 0) => "nan".to_owned(),
        (true, 1) => "inf".to_owned(),
        (true, 2) => "-inf".to_owned(),
        (true, 3) => "-0.0".to_owned(),
        (true, 4) => "0.0".to_owned(),
        (true, 5) => if ty == "f16" { "6e-8" } else { "1e-40" }.to_owned(),
        (true, 6) => "88.0".to_owned(),
        (true, 7) => format!("{:.1}", rng.below(200) as f64 - 100.0),
        (true, _) => format!("{:.3}", rng.below(8000) as f64 / 1000.0 - 4.0),
        (false, _) if ty == "bool" => (rng.below(2) == 0).to_string(),
        (false, 0) => "0".to_owned(),
        (false, 1) => if ty == "u32" { "4294967295" } else { "-1" }.to_owned(),
        (false, 2) if ty == "i32" => i32::MIN.to_string(),
        (false, 3) if ty == "i64" => i64::MIN.to_string(),
        (false, _) => rng.below(40).to_string(),
    };
    let all: Vec<String> = (0..len).map(|_| element(rng)).collect();
    let text = format!(
        "ptir 1 func @c() -> {tensor} {{ %c = constant [{}] : {tensor} return %c }}",
        all.join(", ")
    );
    let program = sapwood_ptir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    eval::run(&program, "c", &[], &RunOptions::default()).unwrap().remove(0)
}

#[test]
fn every_fused_op_agrees_on_special_values() {
    let mut rng = Rng::new(1);
    for len in [1, 65, 91, 5003] {
        for (op, types) in UNARY {
            for ty in types.split(' ') {
                let t = format!("{ty}[{len}]");
                // The second op makes a group of two.
                let text = format!(
                    "ptir 1 func @f(%x: {t}) -> ({t}, {t}) {{
                       %y = {op} %x : {t}
                       %z = max %y, %x : {t}
                       return %y, %z }}"
                );
                let program = sapwood_ptir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
                agree(&program, &[special(ty, len, &mut rng)], tolerance(ty));
            }
        }
        for (op, types) in BINARY {
            for ty in types.split(' ') {
                let t = format!("{ty}[{len}]");
                let (attrs, result) = match op {
                    "compare" => (" {direction = le}", format!("bool[{len}]")),
                    _ => ("", t.clone()),
                };
                let last = match op {
                    "compare" => format!("select %y, %a, %b : {t}"),
                    _ => format!("min %y, %a : {t}"),
                };
                let text = format!(
                    "ptir 1 func @f(%a: {t}, %b: {t}) -> ({result}, {t}) {{
                       %y = {op} %a, %b{attrs} : {result}
                       %z = {last}
                       return %y, %z }}"
                );
                let program = sapwood_ptir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
                let inputs = [special(ty, len, &mut rng), special(ty, len, &mut rng)];
                agree(&program, &inputs, tolerance(ty));
            }
        }
    }
}

#[test]
fn casts_agree_between_all_types() {
    let types = ["bool", "i32", "u32", "i64", "index", "f32", "f64", "f16", "bf16"];
    let mut rng = Rng::new(2);
    for from in types {
        for to in types {
            let (a, b) = (format!("{from}[700]"), format!("{to}[700]"));
            let text = format!(
                "ptir 1 func @f(%x: {a}) -> ({b}, {b}) {{
                   %y = cast %x : {b}
                   %z = max %y, %y : {b}
                   return %y, %z }}"
            );
            let program = sapwood_ptir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
            let x = if from == "index" { "i64" } else { from };
            let mut x = special(x, 700, &mut rng);
            if let (Value::Tensor(t), "index") = (&x, from) {
                x = t.clone().with_dtype(eval::DataType::Index).unwrap().into();
            }
            agree(&program, &[x], NumberTolerance::SAME);
        }
    }
}

/// Groups with rows and columns, views at strides, and several outputs.
const PROGRAMS: &[&str] = &[
    // Softmax of rows, also of one row and of rows that are longer than a block.
    "func @f(%x: f32[R, C]) -> f32[R, C] {
       %max = reduce_max %x {axes = [1], keepdims = true} : f32[R, 1]
       %b = broadcast_to %max : f32[R, C]
       %d = sub %x, %b : f32[R, C]
       %e = exp %d : f32[R, C]
       %sum = reduce_sum %e {axes = [1]} : f32[R]
       %s = broadcast_in_dim %sum {dims = [0]} : f32[R, C]
       %y = div %e, %s : f32[R, C]
       return %y }",
    // A bias along columns, one along rows, and a scalar.
    "func @f(%x: f32[R, C], %b: f32[C], %c: f32[R], %d: f32[]) -> (f32[R, C], f32[R]) {
       %bias = broadcast_in_dim %b {dims = [1]} : f32[R, C]
       %rows = broadcast_in_dim %c {dims = [0]} : f32[R, C]
       %scalar = broadcast_to %d : f32[R, C]
       %y = add %x, %bias : f32[R, C]
       %z = mul %y, %rows : f32[R, C]
       %w = add %z, %scalar : f32[R, C]
       %m = reduce_max %w {axes = [1]} : f32[R]
       %n = add %m, %c : f32[R]
       return %w, %n }",
    // Slices, a reshape and a count.
    "func @f(%x: f32[R, C]) -> (f32[R], i32[R, C]) {
       %a = slice %x {starts = [0, 0], limits = [R, 1]} : f32[R, 1]
       %b = slice %x {starts = [0, 1], limits = [R, 2]} : f32[R, 1]
       %p = reshape %a : f32[R]
       %q = reshape %b : f32[R]
       %s = mul %p, %q : f32[R]
       %i = iota {axis = 0} : i32[R, C]
       %j = iota {axis = 1} : i32[R, C]
       %k = add %i, %j : i32[R, C]
       return %s, %k }",
    // A value of a group that another op needs in the middle.
    "func @f(%x: f32[R, C]) -> (f32[C, R], f32[R, C]) {
       %y = exp %x : f32[R, C]
       %z = neg %y : f32[R, C]
       %t = transpose %z {perm = [1, 0]} : f32[C, R]
       %u = add %y, %z : f32[R, C]
       %v = tanh %t : f32[C, R]
       %w = abs %v : f32[C, R]
       return %w, %u }",
    // Narrow floats, accumulated in f32.
    "func @f(%x: bf16[R, C]) -> bf16[R, C] {
       %s = reduce_sum %x {axes = [1], keepdims = true} : bf16[R, 1]
       %b = broadcast_to %s : bf16[R, C]
       %c = constant 0.5 : bf16[R, C]
       %h = mul %b, %c : bf16[R, C]
       %d = sub %x, %h : bf16[R, C]
       return %d }",
    // A loop whose body is a group, and a value that its region captures.
    "func @f(%x: f32[R, C]) -> f32[R, C] {
       %zero = constant 0 : i32[]
       %one = constant 1 : i32[]
       %end = constant 3 : i32[]
       %h = constant 0.5 : f32[R, C]
       %y = mul %x, %h : f32[R, C]
       %k = add %y, %h : f32[R, C]
       %n, %r = while %zero, %y (%i: i32[], %u: f32[R, C]) { %go = compare %i, %end {direction = lt} : bool[] yield %go }
         (%j: i32[], %v: f32[R, C]) { %next = add %j, %one : i32[] %a = mul %v, %k : f32[R, C] %b = add %a, %k : f32[R, C] yield %next, %b }
         : i32[], f32[R, C]
       return %r }",
    // A reduction with a region, as JAX writes `argmin`.
    "func @f(%x: f32[R, C]) -> (i32[R], f32[C]) {
       %i = iota {axis = 1} : i32[R, C]
       %inf = constant inf : f32[]
       %zero = constant 0 : i32[]
       %m, %n = reduce %x, %i, %inf, %zero {axes = [1]} (%a: f32[], %b: i32[], %c: f32[], %d: i32[]) {
         %lt = compare %a, %c {direction = lt} : bool[]
         %nan = compare %a, %a {direction = ne} : bool[]
         %p = or %lt, %nan : bool[]
         %eq = compare %a, %c {direction = eq} : bool[]
         %lo = compare %b, %d {direction = lt} : bool[]
         %q = and %eq, %lo : bool[]
         %r = or %p, %q : bool[]
         %s = select %p, %a, %c : f32[]
         %t = select %r, %b, %d : i32[]
         yield %s, %t } : f32[R], i32[R]
       %half = constant 0.5 : f32[]
       %u = reduce %x, %half {axes = [0]} (%v: f32[], %w: f32[]) {
         %h = constant 0.5 : f32[]
         %y = mul %v, %h : f32[]
         %z = add %y, %w : f32[]
         yield %z } : f32[C]
       return %n, %u }",
    // Bools: any and all of a row, and a scalar that follows from them.
    "func @f(%x: f32[R, C]) -> (bool[R], bool[R]) {
       %c = constant 0.5 : f32[R, C]
       %p = compare %x, %c {direction = gt} : bool[R, C]
       %a = reduce_or %p {axes = [1]} : bool[R]
       %b = reduce_and %p {axes = [1]} : bool[R]
       %d = not %b : bool[R]
       %e = and %a, %d : bool[R]
       return %e, %b }",
    // A scalar predicate from a group.
    "func @f(%x: f32[R, C], %a: f32[], %b: f32[]) -> f32[R, C] {
       %c = add %a, %b : f32[]
       %p = compare %c, %a {direction = lt} : bool[]
       %n = neg %x : f32[R, C]
       %s = select %p, %x, %n : f32[R, C]
       %y = clamp %a, %s, %b : f32[R, C]
       return %y }",
];

#[test]
fn groups_of_rows_and_columns_agree() {
    let allowed = NumberTolerance { relative: 2e-5, absolute: 2e-5 };
    let shapes = [(1, 2), (2, 3), (3, 700), (64, 5), (9, 5000), (1000, 33), (2, 20_000), (4097, 2)];
    for (seed, (rows, columns)) in shapes.into_iter().enumerate() {
        for text in PROGRAMS {
            // Extents only: names are lower case.
            let text = text.replace('R', &rows.to_string()).replace('C', &columns.to_string());
            let narrow = text.contains("bf16");
            let allowed =
                if narrow { NumberTolerance { relative: 0.05, absolute: 0.5 } } else { allowed };
            agree_on(&format!("ptir 1 {text}"), seed as u64, allowed);
        }
    }
}

// Returns a group of ops whose results have one rounding, with some of its values as results, and others that nothing uses.
fn random_group(rng: &mut Rng, ty: &str, len: usize) -> String {
    let mut lines = Vec::new();
    let mut names = vec!["x".to_owned(), "y".to_owned()];
    for n in 0..3 + rng.below(9) {
        let mut operand = || names[rng.below(names.len())].clone();
        let (a, b) = (operand(), operand());
        let line = match rng.below(9) {
            0 => format!("%v{n} = iota {{axis = 0}} : {ty}[{len}]"),
            1 => format!("%v{n} = neg %{a} : {ty}[{len}]"),
            2 => format!("%v{n} = abs %{a} : {ty}[{len}]"),
            3 => format!("%v{n} = max %{a}, %{b} : {ty}[{len}]"),
            4 => format!("%v{n} = mul %{a}, %{b} : {ty}[{len}]"),
            5 => format!("%v{n} = sub %{a}, %{b} : {ty}[{len}]"),
            6 => format!("%w{n} = cast %{a} : f32[{len}] %v{n} = cast %w{n} : {ty}[{len}]"),
            _ => format!("%v{n} = add %{a}, %{b} : {ty}[{len}]"),
        };
        lines.push(line);
        names.push(format!("v{n}"));
    }
    let mut results: Vec<&String> = names.iter().skip(2).filter(|_| rng.below(3) == 0).collect();
    if results.is_empty() {
        results.push(&names[names.len() - 1]);
    }
    let types = vec![format!("{ty}[{len}]"); results.len()].join(", ");
    let results: Vec<String> = results.iter().map(|name| format!("%{name}")).collect();
    format!(
        "ptir 1 func @f(%x: {ty}[{len}], %y: {ty}[{len}]) -> ({types}) {{ {} return {} }}",
        lines.join(" "),
        results.join(", ")
    )
}

#[test]
fn every_output_of_a_group_agrees_to_the_bit() {
    for seed in 0..u64::from(cases(300, 20_000)) {
        let mut rng = Rng::new(seed);
        let ty = ["bf16", "f16", "f32"][rng.below(3)];
        let len = [1, 7, 100, 1000, 2048, 5000][rng.below(6)];
        agree_on(&random_group(&mut rng, ty, len), seed, NumberTolerance::SAME);
    }
}

#[test]
fn products_that_overflow_in_parts_agree() {
    let text = "ptir 1 func @f() -> f32[] {
       %i = iota {axis = 0} : f32[883]
       %p = reduce_prod %i {axes = [0]} : f32[]
       return %p }";
    agree_on(text, 0, NumberTolerance::SAME);
}

#[test]
fn random_programs_agree() {
    let fused = UNARY.iter().chain(&BINARY).map(|(op, _)| *op);
    let others = [
        "select",
        "clamp",
        "cast",
        "reshape",
        "broadcast_to",
        "broadcast_in_dim",
        "slice",
        "transpose",
        "reduce_max",
        "reduce_min",
        "concat",
        "iota",
    ];
    // Without functions that amplify rounding errors, and without rounding, whose results jump.
    let unstable = [
        "exp",
        "log",
        "tan",
        "pow",
        "expm1",
        "rsqrt",
        "div",
        "floor",
        "ceil",
        "round_away",
        "round_even",
        "sign",
        "compare",
        "cast",
        "mul",
        "log1p",
        "sin",
        "cos",
        "sub",
    ];
    let only = fused.chain(others).filter(|op| !unstable.contains(op)).collect();
    let config = RandomProgramConfig { only, ..RandomProgramConfig::default() };
    let mut runs = 0;
    for seed in 0..u64::from(cases(300, 20_000)) {
        let program = random_program(seed, &config);
        let Some(inputs) = inputs(&program, &mut Rng::new(seed)) else { continue };
        agree(&program, &inputs, NumberTolerance { relative: 0.05, absolute: 1e-4 });
        runs += 1;
    }
    assert!(runs > 100, "{runs}");
}

fn million() -> Value {
    let all: Vec<f32> = (0..1_000_000).map(|i| (i % 1000) as f32 / 500.0 - 1.0).collect();
    Tensor::new(eval::DataType::F32, [1_000_000], all).into()
}

#[test]
fn groups_fuse() {
    // Without fusion, the two intermediate values would take 8 MB more.
    let text = "ptir 1 func @f(%x: f32[1000000]) -> f32[1000000] {
      %y = exp %x : f32[1000000]
      %z = neg %y : f32[1000000]
      %w = add %z, %x : f32[1000000]
      return %w }";
    let program = sapwood_ptir::parse(text).unwrap();
    let inputs = [million()];
    let prepared = Prepared::new(&program, "f", Some(&FastKernels)).unwrap();
    prepared.run(&inputs, &options(true, 2)).unwrap();
    assert_eq!(prepared.peak_bytes(), 4_000_000);
}

#[test]
fn steps_that_end_large_values_run_early() {
    // In the order of the text, `%a` and `%c` exist together until the last reduction; its start is a constant that comes late.
    let text = "ptir 1 func @f(%x: f32[500, 40], %w: f32[40, 40]) -> (f32[500], f32[500, 40]) {
      %a = dot_general %x, %w {lhs_contract = [1], rhs_contract = [0]} : f32[500, 40]
      %b = reduce_max %x {axes = [1]} : f32[500]
      %c = dot_general %x, %w {lhs_contract = [1], rhs_contract = [1]} : f32[500, 40]
      %d = dot_general %c, %w {lhs_contract = [1], rhs_contract = [0]} : f32[500, 40]
      %zero = constant 0.0 : f32[]
      %e = reduce %a, %zero {axes = [1]} (%u: f32[], %v: f32[]) { %s = add %u, %v : f32[] yield %s } : f32[500]
      %g = add %e, %b : f32[500]
      return %g, %d }";
    let program = sapwood_ptir::parse(text).unwrap();
    let inputs = dense_inputs(&program);
    let prepared = Prepared::new(&program, "f", Some(&FastKernels)).unwrap();
    prepared.run(&inputs, &options(true, 2)).unwrap();
    let (large, small) = (500 * 40 * 4, 500 * 4);
    assert!(prepared.peak_bytes() <= 2 * large + 2 * small, "{}", prepared.peak_bytes());
    assert!(check_predicted_peak(&program, &inputs));
    agree(&program, &inputs, NumberTolerance { relative: 1e-4, absolute: 1e-3 });
}

#[test]
fn limits_hold_inside_groups() {
    let text = "ptir 1 func @f(%x: f32[1000000]) -> f32[1000000] {
      %a = exp %x : f32[1000000]
      %b = tanh %a : f32[1000000]
      %c = add %a, %b : f32[1000000]
      %d = log %c : f32[1000000]
      %y = mul %d, %a : f32[1000000]
      %z = neg %y : f32[1000000]
      return %z }";
    let program = sapwood_ptir::parse(text).unwrap();
    let x = [million()];
    let error = |options: RunOptions| match eval::run(&program, "f", &x, &options) {
        Ok(_) => panic!("no limit"),
        Err(error) => error,
    };
    let few_steps = error(RunOptions { max_steps: Some(100), ..options(true, 2) });
    assert!(few_steps.to_string().contains("steps"), "{few_steps}");
    // The error names an instruction of the program.
    assert!(few_steps.to_string().contains("neg"), "{few_steps}");
    let little_memory = error(RunOptions { max_bytes: 1 << 20, ..options(true, 2) });
    assert!(little_memory.to_string().contains("bytes"), "{little_memory}");
    let stopped = error(RunOptions { stop: Some(Arc::new(|| true)), ..options(true, 1) });
    assert_eq!(stopped.fault, eval::Fault::Stopped);
}

// Asserts that a prediction, if there is one, is the peak of a run within two percent.
pub(crate) fn check_predicted_peak(program: &Program, inputs: &[Value]) -> bool {
    let name = program.functions().last().map(|f| f.name()).unwrap();
    let prepared = Prepared::new(program, name.as_str(), Some(&FastKernels)).unwrap();
    let Some(predicted) = prepared.predicted_peak_bytes() else { return false };
    if prepared.run(inputs, &options(true, 2)).is_err() {
        return false;
    }
    let measured = prepared.peak_bytes();
    // Scalars are not counted as they are allocated.
    let allowed = (measured / 50).max(256);
    // Inputs that repeat one number are stored as one, and what follows from them may be, too.
    let repeats = |v: &Value| v.as_tensor().is_some_and(|t| t.is_splat() && t.len() > 1);
    if inputs.iter().any(repeats) {
        return true;
    }
    assert!(
        predicted.abs_diff(measured) <= allowed,
        "predicted {predicted}, measured {measured} in\n{}",
        sapwood_ptir::print(program)
    );
    true
}

// Returns inputs of which none repeats one number.
fn dense_inputs(program: &Program) -> Vec<Value> {
    let f = program.functions().last().unwrap();
    let dense = |ty: &ValueType| {
        let repeats = |v: &Value| v.as_tensor().is_some_and(|t| t.is_splat() && t.len() > 1);
        let mut drawn = (0..100).map(|seed| input(&mut Rng::new(seed), ty).unwrap());
        drawn.find(|v| !repeats(v)).unwrap()
    };
    f.params().iter().map(|&p| dense(f.value_type(p))).collect()
}

#[test]
fn the_peak_is_known_before_the_run() {
    for text in PROGRAMS {
        for (rows, columns) in [(300, 64), (64, 300), (2000, 17)] {
            let text = text.replace('R', &rows.to_string()).replace('C', &columns.to_string());
            let program = sapwood_ptir::parse(&format!("ptir 1 {text}")).unwrap();
            let inputs = dense_inputs(&program);
            assert!(check_predicted_peak(&program, &inputs), "no prediction for\n{text}");
        }
    }
    // Loops, branches, calls, slices that are updated in place, and temporary copies of operands.
    for text in [
        "func @f(%x: f32[500, 40]) -> f32[500, 40] {
           %zero = constant 0 : i32[]
           %end = constant 4 : i32[]
           %one = constant 1 : i32[]
           %n, %r = while %zero, %x (%i: i32[], %y: f32[500, 40]) {
             %go = compare %i, %end {direction = lt} : bool[] yield %go }
             (%j: i32[], %z: f32[500, 40]) {
               %next = add %j, %one : i32[]
               %e = exp %z : f32[500, 40]
               %s = slice %e {starts = [0, 0], limits = [1, 40]} : f32[1, 40]
               %u = dynamic_update_slice %z, %s, %next, %zero : f32[500, 40]
               %t = transpose %u {perm = [1, 0]} : f32[40, 500]
               %v = transpose %t {perm = [1, 0]} : f32[500, 40]
               yield %next, %v } : i32[], f32[500, 40]
           return %r }",
        "func @f(%x: f32[30, 20, 40], %k: f32[40, 30, 50]) -> f32[20, 50] {
           %c = dot_general %x, %k {lhs_contract = [2, 0], rhs_contract = [0, 1]} : f32[20, 50]
           %d = exp %c : f32[20, 50]
           %e = neg %d : f32[20, 50]
           return %e }",
        "func @f(%c: f32[100], %xs: f32[50, 100]) -> (f32[100], f32[50, 100]) {
           %r, %ys = scan %c, %xs {carried = 1} (%a: f32[100], %x: f32[100]) {
             %b = add %a, %x : f32[100]
             %d = exp %b : f32[100]
             %e = neg %d : f32[100]
             %g = add %e, %b : f32[100]
             yield %g, %e } : f32[100], f32[50, 100]
           return %r, %ys }",
    ] {
        let program = sapwood_ptir::parse(&format!("ptir 1 {text}"))
            .unwrap_or_else(|e| panic!("{e}\n{text}"));
        let inputs = dense_inputs(&program);
        assert!(check_predicted_peak(&program, &inputs), "no prediction for\n{text}");
    }
    let only = [
        "add",
        "sub",
        "mul",
        "exp",
        "neg",
        "max",
        "compare",
        "select",
        "cast",
        "reduce_sum",
        "reduce_max",
        "broadcast_to",
        "broadcast_in_dim",
        "reshape",
        "slice",
        "transpose",
        "concat",
        "pad",
        "iota",
    ];
    let config = RandomProgramConfig { only: only.to_vec(), ..RandomProgramConfig::default() };
    let mut predicted = 0;
    for seed in 0..u64::from(cases(1000, 10_000)) {
        let program = random_program(seed, &config);
        let Some(inputs) = inputs(&program, &mut Rng::new(seed)) else { continue };
        predicted += usize::from(check_predicted_peak(&program, &inputs));
    }
    assert!(predicted > 10, "{predicted}");
}

#[test]
fn small_loops_agree() {
    let condition = |end: u32| {
        format!(
            "%end = constant {end} : i32[] %lt = compare %i, %end {{direction = lt}} : bool[]
             %inf = constant 1e30 : f32[8] %p = compare %a, %inf {{direction = lt}} : bool[8] %f = constant false : bool[]
             %any = reduce %p, %f {{axes = [0]}} (%u: bool[], %v: bool[]) {{ %o = or %u, %v : bool[] yield %o }} : bool[]
             %go = and %lt, %any : bool[] yield %go"
        )
    };
    // The values after an iteration: new ones, swapped ones, one of them twice, and a value from outside.
    for yields in
        ["%next, %d, %y", "%next, %y, %x", "%next, %d, %d", "%next, %k, %d", "%next, %x, %y"]
    {
        for end in [0, 1, 2, 7, 50] {
            let text = format!(
                "ptir 1 func @f(%q: f32[8], %r: f32[8]) -> (i32[], f32[8], f32[8]) {{
                   %zero = constant 0 : i32[]
                   %one = constant 1 : i32[]
                   %half = constant 0.5 : f32[8]
                   %k = mul %q, %half : f32[8]
                   %n, %s, %t = while %zero, %q, %r (%i: i32[], %a: f32[8], %b: f32[8]) {{ {} }}
                     (%j: i32[], %x: f32[8], %y: f32[8]) {{
                       %next = add %j, %one : i32[]
                       %two = constant 2.0 : f32[]
                       %twos = broadcast_to %two : f32[8]
                       %c = div %x, %twos : f32[8]
                       %m = max %c, %k : f32[8]
                       %d = add %m, %y : f32[8]
                       yield {yields} }} : i32[], f32[8], f32[8]
                   return %n, %s, %t }}",
                condition(end)
            );
            agree_on(&text, u64::from(end), NumberTolerance { relative: 1e-5, absolute: 1e-30 });
            let program = sapwood_ptir::parse(&text).unwrap();
            let inputs = inputs(&program, &mut Rng::new(9)).unwrap();
            assert!(check_predicted_peak(&program, &inputs));
        }
    }
}

#[test]
fn limits_hold_inside_small_loops() {
    let text = "ptir 1 func @f(%x: f32[8]) -> f32[8] {
      %y = while %x (%a: f32[8]) { %t = constant 1 : i32[] %u = constant 0 : i32[] %p = compare %t, %u {direction = ne} : bool[] yield %p }
        (%b: f32[8]) { %c = add %b, %b : f32[8] %d = sub %c, %b : f32[8] yield %d } : f32[8]
      return %y }";
    let program = sapwood_ptir::parse(text).unwrap();
    let x = inputs(&program, &mut Rng::new(1)).unwrap();
    let fault = |options| eval::run(&program, "f", &x, &options).unwrap_err();
    let steps = fault(RunOptions { max_steps: Some(1000), ..options(true, 1) });
    assert_eq!(steps.fault, eval::Fault::Steps { limit: 1000 });
    assert!(steps.to_string().contains("while"), "{steps}");
    let stop = RunOptions { stop: Some(Arc::new(|| true)), max_steps: None, ..options(true, 1) };
    assert_eq!(fault(stop).fault, eval::Fault::Stopped);
    let limit = std::time::Duration::from_millis(20);
    let late = RunOptions { time_limit: Some(limit), max_steps: None, ..options(true, 1) };
    assert_eq!(fault(late).fault, eval::Fault::Time { limit });
}
