//! Right rewrites in front of ops that amplify or hide their changes: the check may not call them wrong.

use sapwood_check::{CheckOptions, Verdict, compare};
use sapwood_ptir::Program;
use sapwood_types::FloatMode;

/// Identities that hold for real numbers: both sides compute `%r`, the left with NaN, infinities and rounding of its own.
const FAST_IDENTITIES: [(&str, &str); 14] = [
    ("%a = log %x : T %r = exp %a : T", "%r = neg %n : T"),
    ("%a = sqrt %x : T %r = mul %a, %a : T", "%r = neg %n : T"),
    ("%a = exp %x : T %r = log %a : T", "%r = neg %n : T"),
    ("%a = mul %x, %x : T %r = sqrt %a : T", "%r = abs %x : T"),
    ("%r = div %x, %x : T", "%r = neg %minus_one : T"),
    ("%a = sub %x, %x : T %r = div %a, %x : T", "%r = neg %zero : T"),
    ("%a = div %x, %zero : T %r = mul %a, %zero : T", "%r = neg %n : T"),
    ("%a = mul %x, %w : T %r = div %a, %w : T", "%r = neg %n : T"),
    ("%a = add %x, %w : T %r = sub %a, %w : T", "%r = neg %n : T"),
    ("%a = sqrt %x : T %r = div %one, %a : T", "%r = rsqrt %x : T"),
    ("%h = constant 0.5 : T %r = pow %x, %h : T", "%r = sqrt %x : T"),
    (
        "%a = mul %x, %w : T %b = mul %x, %y : T %r = add %a, %b : T",
        "%a = add %w, %y : T %r = mul %x, %a : T",
    ),
    ("%a = log %x : T %b = log %w : T %r = add %a, %b : T", "%a = mul %x, %w : T %r = log %a : T"),
    ("%a = exp %x : T %b = exp %n : T %r = mul %a, %b : T", "%r = neg %minus_one : T"),
];

/// Identities that hold but for the sign of zero.
const NSZ_IDENTITIES: [(&str, &str); 4] = [
    ("%r = add %x, %zero : T", "%r = neg %n : T"),
    ("%r = sub %zero, %x : T", "%r = neg %x : T"),
    ("%a = sub %x, %w : T %r = neg %a : T", "%r = sub %w, %x : T"),
    ("%a = add %x, %zero : T %r = mul %a, %w : T", "%r = mul %x, %w : T"),
];

/// Ops that use `%r`, and the type of their result `%o`.
const USES: [(&str, &str); 26] = [
    ("%o = compare %r, %zero {direction = lt} : bool[16]", "bool[16]"),
    ("%o = compare %r, %zero {direction = ge} : bool[16]", "bool[16]"),
    ("%o = compare %r, %zero {direction = ne} : bool[16]", "bool[16]"),
    ("%o = compare %r, %y {direction = lt} : bool[16]", "bool[16]"),
    ("%o = compare %r, %y {direction = gt} : bool[16]", "bool[16]"),
    ("%o = compare %y, %r {direction = le} : bool[16]", "bool[16]"),
    ("%o = compare %r, %x {direction = eq} : bool[16]", "bool[16]"),
    ("%q = abs %r : T %o = compare %q, %zero {direction = lt} : bool[16]", "bool[16]"),
    ("%q = exp %r : T %o = compare %q, %y {direction = lt} : bool[16]", "bool[16]"),
    ("%q = max %r, %zero : T %o = compare %q, %y {direction = lt} : bool[16]", "bool[16]"),
    ("%q = tanh %r : T %o = compare %q, %y {direction = gt} : bool[16]", "bool[16]"),
    ("%q = sqrt %r : T %o = compare %q, %y {direction = gt} : bool[16]", "bool[16]"),
    ("%o = is_finite %r : bool[16]", "bool[16]"),
    ("%o = cast %r : i32[16]", "i32[16]"),
    ("%q = mul %r, %y : T %o = cast %q : i32[16]", "i32[16]"),
    ("%o = sign %r : T", "T"),
    ("%o = floor %r : T", "T"),
    ("%o = max %r, %y : T", "T"),
    ("%o = clamp %zero, %r, %one : T", "T"),
    ("%o = div %y, %r : T", "T"),
    ("%o = pow %r, %zero : T", "T"),
    ("%c = compare %r, %y {direction = gt} : bool[16] %o = select %c, %w, %y : T", "T"),
    ("%o = reduce_max %r {axes = [0]} : f32[]", "f32[]"),
    ("%o = reduce_sum %r {axes = [0]} : f32[]", "f32[]"),
    ("%o = arg_max %r {axis = 0} : i32[]", "i32[]"),
    (
        "%o = sort %r {axis = 0} (%i: f32[], %j: f32[]) {
           %l = compare %i, %j {direction = lt} : bool[] yield %l } : T",
        "T",
    ),
];

fn program(side: &str, (uses, ty): (&str, &str)) -> Program {
    let text = format!(
        "ptir 1 func @f(%x: T, %y: T, %w: T) -> {ty} {{
           %zero = constant 0.0 : T %one = constant 1.0 : T %minus_one = constant -1.0 : T
           %n = neg %x : T {side} {uses} return %o }}"
    );
    let text = text.replace(": T", ": f32[16]").replace("-> T", "-> f32[16]");
    sapwood_ptir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

#[test]
fn right_rewrites_are_not_called_different() {
    let modes: [(FloatMode, &[(&str, &str)]); 2] =
        [(FloatMode::Fast, &FAST_IDENTITIES), (FloatMode::Nsz, &NSZ_IDENTITIES)];
    let mut wrong = Vec::new();
    for (floats, identities) in modes {
        for &(left, right) in identities {
            for uses in USES {
                let (before, after) = (program(left, uses), program(right, uses));
                for seed in 0..3 {
                    let options = CheckOptions { floats, seed, ..CheckOptions::default() };
                    for (a, b) in [(&before, &after), (&after, &before)] {
                        let report = compare(a, b, &options);
                        if report.verdict() == Verdict::Different {
                            wrong.push(format!("{left} => {right} in {}: {report}", uses.0));
                        }
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}
