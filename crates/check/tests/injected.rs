//! Wrong ops put into right programs: the check has to find them in every float mode.

use sapwood_check::{CheckOptions, Verdict, compare};
use sapwood_ptir::Program;
use sapwood_types::FloatMode;

const OPS: [&str; 12] = [
    "neg", "abs", "exp", "log", "log1p", "sqrt", "rsqrt", "sin", "tanh", "logistic", "floor", "erf",
];

/// Programs with a place for an op, and the type of their result.
const CONTEXTS: [(&str, &str, &str); 8] = [
    ("%x: f32[6]", "f32[6]", "%y = OP %x : f32[6] return %y"),
    // One negative variance makes every result NaN.
    (
        "%x: f32[4, 32], %v: f32[32]",
        "f32[4]",
        "%e = constant 0.001 : f32[32] %s = add %v, %e : f32[32] %r = OP %s : f32[32]
         %b = broadcast_in_dim %r {dims = [1]} : f32[4, 32] %m = mul %x, %b : f32[4, 32]
         %y = reduce_sum %m {axes = [1]} : f32[4] return %y",
    ),
    (
        "%x: f32[8, 8], %w: f32[8, 4]",
        "f32[8, 4]",
        "%d = dot_general %x, %w {lhs_contract = [1], rhs_contract = [0]} : f32[8, 4]
         %r = OP %d : f32[8, 4] %t = tanh %r : f32[8, 4] return %t",
    ),
    // A saturated softmax: random numbers as large as these leave one element one and the others zero.
    (
        "%x: f32[8, 32], %v: f32[32], %w: f32[32, 32]",
        "f32[8, 32]",
        "%e = constant 0.001 : f32[32] %k = constant 4096.0 : f32[8, 32]
         %a = dot_general %x, %w {lhs_contract = [1], rhs_contract = [0]} : f32[8, 32]
         %b = dot_general %a, %w {lhs_contract = [1], rhs_contract = [0]} : f32[8, 32]
         %s = add %v, %e : f32[32] %r = OP %s : f32[32]
         %c = broadcast_in_dim %r {dims = [1]} : f32[8, 32] %d = mul %b, %c : f32[8, 32]
         %g = dot_general %d, %w {lhs_contract = [1], rhs_contract = [0]} : f32[8, 32]
         %h = mul %g, %k : f32[8, 32]
         %m = reduce_max %h {axes = [1]} : f32[8]
         %n = broadcast_in_dim %m {dims = [0]} : f32[8, 32] %p = sub %h, %n : f32[8, 32]
         %q = exp %p : f32[8, 32] %t = reduce_sum %q {axes = [1]} : f32[8]
         %u = broadcast_in_dim %t {dims = [0]} : f32[8, 32] %y = div %q, %u : f32[8, 32] return %y",
    ),
    // Rounding decides which element is one: nothing can be checked, and the check has to say so.
    (
        "%v: f32[256]",
        "f32[256]",
        "%k = constant 1.0e8 : f32[256] %r = OP %v : f32[256] %a = mul %r, %k : f32[256]
         %s = sin %a : f32[256] %h = mul %s, %k : f32[256]
         %m = reduce_max %h {axes = [0]} : f32[] %n = broadcast_in_dim %m {dims = []} : f32[256]
         %p = sub %h, %n : f32[256] %q = exp %p : f32[256]
         %t = reduce_sum %q {axes = [0]} : f32[] %u = broadcast_in_dim %t {dims = []} : f32[256]
         %y = div %q, %u : f32[256] return %y",
    ),
    // A softmax with a mask: its huge numbers do not excuse the other elements. Weights of one layer feed the next.
    (
        "%x: f32[4, 16], %v: f32[16, 64], %w: f32[64, 16]",
        "f32[4, 16]",
        "%k = constant -1.0e30 : f32[4, 16] %i = iota {axis = 0} : f32[4, 16] %j = iota {axis = 1} : f32[4, 16]
         %c = compare %j, %i {direction = le} : bool[4, 16]
         %a = dot_general %x, %v {lhs_contract = [1], rhs_contract = [0]} : f32[4, 64]
         %b = dot_general %a, %w {lhs_contract = [1], rhs_contract = [0]} : f32[4, 16]
         %d = mul %b, %b : f32[4, 16] %o = constant 0.125 : f32[4, 16]
         %g = add %d, %o : f32[4, 16] %r = OP %g : f32[4, 16] %h = select %c, %r, %k : f32[4, 16]
         %m = reduce_max %h {axes = [1]} : f32[4]
         %n = broadcast_in_dim %m {dims = [0]} : f32[4, 16] %p = sub %h, %n : f32[4, 16]
         %q = exp %p : f32[4, 16] %t = reduce_sum %q {axes = [1]} : f32[4]
         %u = broadcast_in_dim %t {dims = [0]} : f32[4, 16] %y = div %q, %u : f32[4, 16] return %y",
    ),
    // Behind an op that amplifies.
    (
        "%x: f32[64], %z: f32[64]",
        "bool[64]",
        "%r = OP %x : f32[64] %c = compare %r, %z {direction = gt} : bool[64] return %c",
    ),
    (
        "%x: f32[64]",
        "i32[64]",
        "%k = constant 8.0 : f32[64] %r = OP %x : f32[64]
         %m = mul %r, %k : f32[64] %c = cast %m : i32[64] return %c",
    ),
];

fn program(context: (&str, &str, &str), op: &str) -> Program {
    let (params, results, body) = context;
    let body = body.replace("OP", op);
    sapwood_ptir::parse(&format!("ptir 1 func @f({params}) -> {results} {{ {body} }}")).unwrap()
}

#[test]
fn wrong_ops_are_found_in_every_float_mode() {
    for &floats in FloatMode::ALL {
        let options = CheckOptions { floats, seed: 1, ..CheckOptions::default() };
        let (mut all, mut missed) = (0, Vec::new());
        for context in CONTEXTS {
            for right in OPS {
                let before = program(context, right);
                let same = compare(&before, &before, &options);
                assert!(same.verdict() <= Verdict::WithinTolerance, "{floats} {right}: {same}");
                for wrong in OPS.into_iter().filter(|&wrong| wrong != right) {
                    all += 1;
                    let report = compare(&before, &program(context, wrong), &options);
                    if report.passes() {
                        missed.push(format!("{right} => {wrong} in {}: {report}", context.2));
                    }
                }
            }
        }
        let caught = all - missed.len();
        assert!(caught * 100 >= all * 95, "{floats}: {caught} of {all}\n{}", missed.join("\n"));
    }
}
