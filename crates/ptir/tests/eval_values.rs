//! Results of ops in the special cases of their documentation: extremes, NaN, ties, empty tensors.

use sapwood_ptir::eval::{self, DataType, RunOptions, Tensor, Value};
use sapwood_ptir::{TensorLiteral, parse};

// Runs one instruction on literals given as text, and returns the results as text.
#[track_caller]
fn eval(inst: &str) -> String {
    let text = format!("ptir 1 func @main() -> TYPES {{ {inst} }}");
    let result = inst.split(" : ").last().unwrap_or_default();
    let results = result.split(" return ").next().unwrap_or_default();
    let text = text.replace("TYPES", &format!("({results})"));
    let program = parse(&text).unwrap_or_else(|e| panic!("{text}: {e}"));
    let found = eval::run(&program, "main", &[], &RunOptions::default());
    let found = found.unwrap_or_else(|e| panic!("{text}: {e}"));
    let mut out: Vec<String> = Vec::new();
    for value in &found {
        let text = value.to_string();
        out.push(text.split(" : ").next().unwrap_or_default().to_owned());
    }
    out.join("; ")
}

// Runs an op with two operands of a type, as in `%r = add %a, %b`.
#[track_caller]
fn binary(op: &str, ty: &str, a: &str, b: &str) -> String {
    let shape = format!("{ty}[{}]", a.split(", ").count());
    let list = |x: &str| if x.contains(", ") { format!("[{x}]") } else { x.to_owned() };
    eval(&format!(
        "%a = constant {} : {shape} %b = constant {} : {shape} %r = {op} %a, %b : {shape} return %r",
        list(a),
        list(b)
    ))
}

#[track_caller]
fn unary(op: &str, ty: &str, a: &str) -> String {
    let shape = format!("{ty}[{}]", a.split(", ").count());
    let list = if a.contains(", ") { format!("[{a}]") } else { a.to_owned() };
    eval(&format!("%a = constant {list} : {shape} %r = {op} %a : {shape} return %r"))
}

#[test]
fn integers_wrap_and_divide_by_zero() {
    assert_eq!(binary("add", "i8", "127, -128", "1, -1"), "[-128, 127]");
    assert_eq!(binary("add", "i4", "7, -8", "1, -1"), "[-8, 7]");
    assert_eq!(binary("mul", "u4", "15, 3", "15, 7"), "[1, 5]");
    assert_eq!(
        binary("div", "i32", "7, -7, 7, -2147483648", "0, 2, -2, -1"),
        "[-1, -3, -3, -2147483648]"
    );
    assert_eq!(binary("div", "u8", "7, 7", "0, 2"), "[255, 3]");
    assert_eq!(binary("div", "i4", "-8, 5", "-1, 0"), "[-8, -1]");
    assert_eq!(
        binary("rem", "i64", "7, -7, 7, -9223372036854775808", "0, 3, -3, -1"),
        "[7, -1, 1, 0]"
    );
    assert_eq!(
        binary("pow", "i32", "2, 0, -1, -1, 3, 5, 2", "-1, -1, -3, -2, 21, 0, 32"),
        "[0, -1, -1, 1, 1870418611, 1, 0]"
    );
    assert_eq!(unary("neg", "i8", "-128, 1"), "[-128, -1]");
    assert_eq!(unary("abs", "i8", "-128, -1"), "[-128, 1]");
    assert_eq!(unary("neg", "u8", "1, 0"), "[255, 0]");
    assert_eq!(unary("sign", "i32", "-5, 0, 9"), "[-1, 0, 1]");
    assert_eq!(unary("not", "u4", "0, 15, 5"), "[15, 0, 10]");
    assert_eq!(unary("popcnt", "i4", "-1, 0, 5"), "[4, 0, 2]");
    assert_eq!(unary("clz", "i16", "-1, 0, 5"), "[0, 16, 13]");
}

#[test]
fn shifts_by_the_width_or_more() {
    assert_eq!(binary("shl", "u8", "1, 1, 255", "7, 8, 200"), "[128, 0, 0]");
    assert_eq!(binary("shr_logical", "i8", "-1, -1, -128", "1, 8, -1"), "[127, 0, 0]");
    assert_eq!(binary("shr_arithmetic", "i8", "-1, -128, 127", "1, 100, 100"), "[-1, -1, 0]");
    assert_eq!(binary("shr_arithmetic", "u4", "8, 8, 7", "1, 15, 15"), "[12, 15, 0]");
}

#[test]
fn floats_have_one_nan_and_two_zeros() {
    for ty in ["f32", "f64", "f16", "bf16"] {
        assert_eq!(
            binary("min", ty, "0.0, -0.0, nan, 1.0", "-0.0, 0.0, 1.0, nan"),
            "[-0.0, -0.0, nan, nan]"
        );
        assert_eq!(
            binary("max", ty, "0.0, -0.0, nan, 1.0", "-0.0, 0.0, 1.0, nan"),
            "[0.0, 0.0, nan, nan]"
        );
        assert_eq!(binary("div", ty, "1.0, -1.0, 0.0", "0.0, 0.0, 0.0"), "[inf, -inf, nan]");
        assert_eq!(
            binary("rem", ty, "5.5, -5.5, 1.0, inf, 1.0", "2.0, 2.0, 0.0, 1.0, inf"),
            "[1.5, -1.5, nan, nan, 1.0]"
        );
        assert_eq!(binary("pow", ty, "nan, -8.0, 2.0", "0.0, 0.5, 3.0"), "[1.0, nan, 8.0]");
        assert_eq!(unary("sign", ty, "-2.0, -0.0, 0.0, nan"), "[-1.0, -0.0, 0.0, nan]");
        assert_eq!(unary("round_even", ty, "0.5, 1.5, -0.5, 2.5"), "[0.0, 2.0, -0.0, 2.0]");
        assert_eq!(unary("round_away", ty, "0.5, 1.5, -0.5, 2.5"), "[1.0, 2.0, -1.0, 3.0]");
        assert_eq!(unary("sqrt", ty, "4.0, -0.0, -1.0"), "[2.0, -0.0, nan]");
        assert_eq!(unary("rsqrt", ty, "4.0, 0.0, -0.0"), "[0.5, inf, -inf]");
        assert_eq!(unary("log", ty, "1.0, 0.0, -1.0"), "[0.0, -inf, nan]");
    }
    // A NaN with a payload and a sign becomes the one NaN wherever something is computed.
    assert_eq!(unary("neg", "f32", "0xffc00123, 1.0"), "[nan, -1.0]");
    assert_eq!(binary("add", "f16", "0xfe01, 65504.0", "0.0, 65504.0"), "[nan, inf]");
    assert_eq!(binary("add", "f8e4m3fn", "448.0, 1.0", "448.0, 1.0"), "[nan, 2.0]");
    assert_eq!(binary("add", "f8e5m2", "57344.0, 1.0", "57344.0, 1.0"), "[inf, 2.0]");
}

#[test]
fn next_after_steps_by_one() {
    assert_eq!(
        binary("next_after", "f32", "0.0, 1.0, 1.0, 0.0", "-1.0, 2.0, 1.0, -0.0"),
        "[-1e-45, 1.0000001, 1.0, -0.0]"
    );
    assert_eq!(binary("next_after", "f16", "65504.0, nan", "inf, 1.0"), "[inf, nan]");
}

#[track_caller]
fn cast(from: &str, to: &str, elements: &str) -> String {
    let n = elements.split(", ").count();
    eval(&format!("%a = constant [{elements}] : {from}[{n}] %r = cast %a : {to}[{n}] return %r"))
}

#[test]
fn casts_saturate_wrap_and_round() {
    assert_eq!(cast("f32", "i8", "1000.0, -1000.0, 1.9, -1.9, nan"), "[127, -128, 1, -1, 0]");
    assert_eq!(cast("f64", "u4", "1000.0, -1.0, 7.9"), "[15, 0, 7]");
    assert_eq!(cast("f64", "u64", "1e30, -1.0"), "[18446744073709551615, 0]");
    assert_eq!(cast("i32", "i8", "300, -129"), "[44, 127]");
    assert_eq!(cast("i64", "u4", "-1, 16"), "[15, 0]");
    assert_eq!(cast("u64", "f32", "18446744073709551615, 16777217"), "[1.8446744e19, 16777216.0]");
    // Halfway between two bf16, and slightly more: the difference is visible only in the integer.
    assert_eq!(
        cast("i64", "bf16", "1157425104234217472, 1157425104234217473"),
        "[1.153e18, 1.16e18]"
    );
    assert_eq!(cast("f64", "f16", "65519.0, 65520.0, 1e-8"), "[65504.0, inf, 0.0]");
    assert_eq!(cast("f32", "f8e4m3fn", "1000.0, 448.0, -1000.0"), "[nan, 448.0, nan]");
    assert_eq!(cast("f32", "bool", "0.0, -0.0, nan, 0.1"), "[false, false, true, true]");
    assert_eq!(cast("bool", "c64", "true, false"), "[(1.0, 0.0), (0.0, 0.0)]");
    let parts = "%a = constant [(1.5, 2.0), (-1.0, 0.0)] : c128[2] %r = cast %a : f32[2] return %r";
    assert_eq!(eval(parts), "[1.5, -1.0]");
    assert_eq!(cast("i64", "index", "1, -1"), "[1, -1]");
}

#[test]
fn bits_are_read_low_part_first() {
    let bits = |from: &str, to: &str, value: &str| {
        eval(&format!("%a = constant {value} : {from} %r = bitcast %a : {to} return %r"))
    };
    assert_eq!(bits("f32[2]", "u32[2]", "[1.0, -0.0]"), "[1065353216, 2147483648]");
    assert_eq!(bits("u32[]", "u8[4]", "67305985"), "[1, 2, 3, 4]");
    assert_eq!(bits("u8[2, 2]", "u16[2]", "[[1, 2], [255, 255]]"), "[513, 65535]");
    assert_eq!(bits("u8[]", "i4[2]", "241"), "[1, -1]");
    assert_eq!(bits("i4[2]", "u8[]", "[1, -1]"), "241");
    assert_eq!(bits("c64[]", "u64[]", "(1.0, 0.0)"), "1065353216");
}

#[test]
fn comparisons_of_nan_and_zeros() {
    let compare = |attrs: &str| {
        eval(&format!(
            "%a = constant [nan, -0.0, 1.0, 0xffc00000] : f32[4] %b = constant [nan, 0.0, nan, -inf] : f32[4] \
             %r = compare %a, %b {{{attrs}}} : bool[4] return %r"
        ))
    };
    assert_eq!(compare("direction = eq"), "[false, true, false, false]");
    assert_eq!(compare("direction = ne"), "[true, false, true, true]");
    assert_eq!(compare("direction = le"), "[false, true, false, false]");
    assert_eq!(compare("direction = lt, order = total"), "[false, true, true, true]");
    assert_eq!(compare("direction = eq, order = total"), "[true, false, false, false]");
}

#[test]
fn clamp_and_select() {
    let clamp = "%l = constant 2.0 : f32[] %x = constant [1.0, 5.0, nan] : f32[3] %h = constant 1.5 : f32[] \
                 %r = clamp %l, %x, %h : f32[3] return %r";
    assert_eq!(eval(clamp), "[1.5, 1.5, nan]");
    let select = "%p = constant [true, false] : bool[2] %x = constant 1 : i32[2] %y = constant [2, 3] : i32[2] \
                  %r = select %p, %x, %y : i32[2] return %r";
    assert_eq!(eval(select), "[1, 3]");
}

#[test]
fn reductions_of_nothing_and_in_order() {
    let of_nothing = |op: &str, ty: &str| {
        eval(&format!("%a = constant [] : {ty}[0] %r = {op} %a {{axes = [0]}} : {ty}[] return %r"))
    };
    for (op, ty, expected) in [
        ("reduce_sum", "f32", "0.0"),
        ("reduce_prod", "i32", "1"),
        ("reduce_max", "f32", "-inf"),
        ("reduce_max", "f8e4m3fn", "-448.0"),
        ("reduce_max", "i8", "-128"),
        ("reduce_max", "bool", "false"),
        ("reduce_min", "f16", "inf"),
        ("reduce_min", "f8e4m3fn", "448.0"),
        ("reduce_min", "u4", "15"),
        ("reduce_and", "i16", "-1"),
        ("reduce_and", "bool", "true"),
        ("reduce_or", "u8", "0"),
        ("reduce_xor", "bool", "false"),
    ] {
        assert_eq!(of_nothing(op, ty), expected, "{op} of {ty}");
    }
    let sum = |attrs: &str, ty: &str| {
        eval(&format!(
            "%a = constant [2048.0, 1.0, 1.0, -2048.0] : {ty}[4] %r = reduce_sum %a {{axes = [0]{attrs}}} : {ty}[] return %r"
        ))
    };
    assert_eq!(sum("", "f16"), "2.0");
    assert_eq!(sum(", accumulate = f16", "f16"), "0.0");
    assert_eq!(
        eval("%a = constant -0.0 : f32[1] %r = reduce_sum %a {axes = [0]} : f32[] return %r"),
        "0.0"
    );
    assert_eq!(
        eval("%a = constant 3 : i8[100] %r = reduce_sum %a {axes = [0]} : i8[] return %r"),
        "44"
    );
    assert_eq!(
        eval("%a = constant true : bool[3] %r = reduce_xor %a {axes = [0]} : bool[] return %r"),
        "true"
    );
    let rows = "%a = constant [[1, 2, 3], [4, 5, 6]] : i32[2, 3] ";
    assert_eq!(
        eval(&format!("{rows} %r = reduce_sum %a {{axes = [0]}} : i32[3] return %r")),
        "[5, 7, 9]"
    );
    assert_eq!(
        eval(&format!(
            "{rows} %r = reduce_sum %a {{axes = [1], keepdims = true}} : i32[2, 1] return %r"
        )),
        "[[6], [15]]"
    );
    assert_eq!(
        eval(&format!("{rows} %r = reduce_prod %a {{axes = [0, 1]}} : i32[] return %r")),
        "720"
    );
}

#[test]
fn the_first_of_equals_and_nan_wins() {
    let arg = |op: &str| {
        eval(&format!(
            "%a = constant [[1.0, 3.0, 3.0], [2.0, nan, nan], [-0.0, 0.0, -1.0]] : f32[3, 3] \
             %r = {op} %a {{axis = 1}} : i32[3] return %r"
        ))
    };
    assert_eq!(arg("arg_max"), "[1, 1, 0]");
    assert_eq!(arg("arg_min"), "[0, 1, 2]");
}

#[test]
fn elements_move() {
    let iota = "%i = iota {axis = 0} : i32[6] %a = reshape %i : i32[2, 3] ";
    for case in [
        "transpose %a {perm = [1, 0]} : i32[3, 2] => [[0, 3], [1, 4], [2, 5]]",
        "reverse %a {axes = [0, 1]} : i32[2, 3] => [[5, 4, 3], [2, 1, 0]]",
        "slice %a {starts = [0, 0], limits = [2, 3], strides = [1, 2]} : i32[2, 2] => [[0, 2], [3, 5]]",
        "slice %a {starts = [2, 1], limits = [2, 3]} : i32[0, 2] => []",
        "concat %a, %a {axis = 1} : i32[2, 6] => [[0, 1, 2, 0, 1, 2], [3, 4, 5, 3, 4, 5]]",
        "broadcast_to %a : i32[2, 2, 3] => [[[0, 1, 2], [3, 4, 5]], [[0, 1, 2], [3, 4, 5]]]",
        "broadcast_in_dim %a {dims = [1, 0]} : i32[3, 2] => [[0, 3], [1, 4], [2, 5]]",
        "pad %a, 9:i32[] {low = [0, -1], high = [1, 0], interior = [0, 1]} : i32[3, 4] => [[9, 1, 9, 2], [9, 4, 9, 5], [9, 9, 9, 9]]",
        "pad %a, 9:i32[] {low = [-1, 1], high = [0, -2]} : i32[1, 2] => [[9, 3]]",
        "get_dimension_size %a {axis = 1} : i32[] => 3",
        "dynamic_slice %a, 9:i32[], -5:i32[] {sizes = [1, 2]} : i32[1, 2] => [[3, 4]]",
        "dynamic_update_slice %a, 7:i32[1, 2], 0:i32[], 8:i32[] : i32[2, 3] => [[0, 7, 7], [3, 4, 5]]",
    ] {
        let (inst, expected) = case.split_once(" => ").unwrap();
        assert_eq!(eval(&format!("{iota} %r = {inst} return %r")), expected, "{inst}");
    }
    assert_eq!(eval("%r = iota {axis = 0} : i4[10] return %r"), "[0, 1, 2, 3, 4, 5, 6, 7, -8, -7]");
}

#[test]
fn the_published_bits_of_threefry() {
    let text = "%s = constant [0, 0] : u64[2] %n, %r = rng_bits %s {dtype = u32, shape = [3]} : u64[2], u32[3] return %n, %r";
    let program = parse(&format!("ptir 1 func @main() -> (u64[2], u32[3]) {{ {text} }}")).unwrap();
    let found = eval::run(&program, "main", &[], &RunOptions::default()).unwrap();
    assert_eq!(found[0].to_string(), "[0, 2] : u64[2]");
    let bits = found[1].as_tensor().unwrap().elements::<u32>().unwrap().into_owned();
    assert_eq!(bits[..2], [0x6b20_0159, 0x99ba_4efe]);
}

#[test]
fn random_floats_are_where_they_should_be() {
    for (dtype, limit) in [("f32", 1e-2), ("f64", 1e-2), ("f16", 1e-2), ("bf16", 2e-2)] {
        let text = format!(
            "ptir 1 func @main(%s: u64[2]) -> ({dtype}[100000], {dtype}[100000]) {{
              %t, %u = rng_uniform %s {{dtype = {dtype}, shape = [100000]}} : u64[2], {dtype}[100000]
              %v, %n = rng_normal %t {{dtype = {dtype}, shape = [100000]}} : u64[2], {dtype}[100000]
              return %u, %n
            }}"
        );
        let program = parse(&text).unwrap();
        let state = Tensor::new(DataType::U64, [2], vec![42u64, 0]);
        let found = eval::run(&program, "main", &[state.into()], &RunOptions::default()).unwrap();
        let floats = |v: &Value| -> Vec<f64> {
            let literal = v.to_literal().unwrap();
            (0..100_000).map(|i| number(&literal, i)).collect()
        };
        let (uniform, normal) = (floats(&found[0]), floats(&found[1]));
        assert!(uniform.iter().all(|x| (0.0..1.0).contains(x)), "{dtype}");
        let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len() as f64;
        assert!((mean(&uniform) - 0.5).abs() < limit, "{dtype}: {}", mean(&uniform));
        assert!(mean(&normal).abs() < limit, "{dtype}: {}", mean(&normal));
        let squares: Vec<f64> = normal.iter().map(|x| x * x).collect();
        assert!((mean(&squares) - 1.0).abs() < 3.0 * limit, "{dtype}: {}", mean(&squares));
    }
}

fn number(literal: &TensorLiteral, index: u64) -> f64 {
    let bytes = literal.element(index).unwrap();
    match literal.dtype() {
        DataType::F64 => f64::from_le_bytes(bytes.try_into().unwrap()),
        DataType::F32 => f32::from_le_bytes(bytes.try_into().unwrap()).into(),
        DataType::F16 => half(bytes, 10, 5),
        _ => half(bytes, 7, 8),
    }
}

// Reads normal numbers and zero of a 16-bit float; subnormals are treated as zero.
fn half(bytes: &[u8], fraction: u32, exponent: u32) -> f64 {
    let bits = u32::from(u16::from_le_bytes(bytes.try_into().unwrap()));
    let power = (bits >> fraction & ((1 << exponent) - 1)) as i32 - ((1 << (exponent - 1)) - 1);
    let part = f64::from(bits & ((1 << fraction) - 1)) / f64::from(1u32 << fraction);
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    if bits & 0x7fff == 0 { 0.0 } else { sign * (1.0 + part) * 2f64.powi(power) }
}

#[test]
fn rounding_beyond_the_largest_f8_is_nan() {
    let reduced = |x: &str, bits: u32| {
        eval(&format!(
            "%a = constant {x} : f8e4m3fn[] \
             %r = reduce_precision %a {{exponent_bits = 4, mantissa_bits = {bits}}} : f8e4m3fn[] return %r"
        ))
    };
    assert_eq!(reduced("448.0", 3), "448.0");
    assert_eq!(reduced("384.0", 1), "384.0");
    for (x, bits) in [("448.0", 1), ("-448.0", 1), ("384.0", 0), ("448.0", 0)] {
        let found = reduced(x, bits);
        assert!(found.contains("nan"), "{x} in {bits} bits is {found}");
    }
}

#[test]
fn hyperbolic_tangents_keep_nan() {
    let parts = |op: &str, re: f64, im: f64| {
        let text = format!(
            "ptir 1 func @main(%z: c128[]) -> c128[] {{ %r = {op} %z : c128[] return %r }}"
        );
        let z = Tensor::scalar(eval::Complex::new(re, im));
        let found = eval::run(&parse(&text).unwrap(), "main", &[z.into()], &RunOptions::default());
        let found =
            found.unwrap()[0].as_tensor().unwrap().as_splat::<eval::Complex<f64>>().unwrap();
        (found.re, found.im)
    };
    for (re, im) in [(30.0, f64::NAN), (30.0, f64::INFINITY), (-800.0, f64::NAN)] {
        let (x, y) = parts("tanh", re, im);
        assert!(x.is_nan() && y.is_nan(), "tanh({re}, {im}) is ({x}, {y})");
        let (x, y) = parts("tan", im, re);
        assert!(x.is_nan() && y.is_nan(), "tan({im}, {re}) is ({x}, {y})");
    }
    assert_eq!(parts("tanh", f64::INFINITY, f64::NAN).0, 1.0);
    assert_eq!(parts("tanh", 30.0, 1.0).0, 1.0);
}

// Ones on the diagonal and -1 below: the inverse has entries up to 2^38, so its product with a right-hand side is inaccurate.
#[test]
fn triangular_systems_are_solved_where_the_inverse_is_not_good() {
    let n = 40;
    let row = |i: usize| {
        let entry = |j: usize| if j == i { "1.0" } else { "-1.0" };
        format!("[{}]", (0..n).map(entry).collect::<Vec<_>>().join(", "))
    };
    let matrix = (0..n).map(row).collect::<Vec<_>>().join(", ");
    let right = (0..n).map(|i| format!("[{}.0]", 1 - i as i64)).collect::<Vec<_>>().join(", ");
    let solved = eval(&format!(
        "%a = constant [{matrix}] : f32[{n}, {n}] %b = constant [{right}] : f32[{n}, 1] \
         %r = triangular_solve %a, %b : f32[{n}, 1] return %r"
    ));
    assert_eq!(solved, "1.0", "of all");
    let one =
        "%a = constant [[3e38]] : f32[1, 1] %r = triangular_solve %a, %a : f32[1, 1] return %r";
    assert_eq!(eval(one), "1.0");
}
