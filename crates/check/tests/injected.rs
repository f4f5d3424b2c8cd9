//! Wrong ops put into right programs: the check has to find them in every float mode.

use sapwood_check::{CheckOptions, Verdict, compare};
use sapwood_ptir::Program;
use sapwood_types::FloatMode;

const OPS: [&str; 12] = [
    "neg", "abs", "exp", "log", "log1p", "sqrt", "rsqrt", "sin", "tanh", "logistic", "floor", "erf",
];

/// Programs with a place for an op, and the type of their result.
const CONTEXTS: [(&str, &str, &str); 5] = [
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
