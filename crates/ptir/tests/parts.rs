//! Comparing, hashing and diffing bodies and single instructions, in one function and across two.

use sapwood_ptir::structural::{
    Change, Mode, diff_bodies, diff_insts, equal_bodies, equal_insts, first_mismatch_bodies,
    first_mismatch_insts, hash_body, hash_inst,
};
use sapwood_ptir::{BodyId, Function, InstId, Program, parse};

const BOTH: [Mode; 2] = [Mode::Ordered, Mode::DataFlow];

fn program(body: &str) -> Program {
    let text = format!("ptir 1\nfunc @f(%p: bool[], %x: f32[4], %y: f32[4]) {{ {body} return }}");
    parse(&text).unwrap_or_else(|p| panic!("{p}"))
}

fn function(program: &Program) -> &Function {
    &program.functions()[0]
}

// Returns the n-th instruction with regions, and its first region.
fn cond(f: &Function, n: usize) -> (InstId, BodyId) {
    let inst = f.walk().filter(|&i| !f.regions(i).is_empty()).nth(n).unwrap();
    (inst, f.regions(inst)[0])
}

fn op(f: &Function, n: usize) -> InstId {
    f.walk().nth(n).unwrap()
}

#[test]
fn in_one_function_a_capture_is_only_equal_to_itself() {
    let program = program(
        "%a = exp %x : f32[4]
         %b = exp %y : f32[4]
         %c = cond %p () { %n = neg %a : f32[4] yield %n } () { yield %x } : f32[4]
         %d = cond %p () { %m = neg %a : f32[4] yield %m } () { yield %x } : f32[4]
         %e = cond %p () { %o = neg %b : f32[4] yield %o } () { yield %x } : f32[4]",
    );
    let f = function(&program);
    let (first, second, third) = (cond(f, 0), cond(f, 1), cond(f, 2));
    for mode in BOTH {
        assert!(equal_bodies((f, first.1), (f, first.1), mode));
        assert!(equal_bodies((f, first.1), (f, second.1), mode));
        assert!(equal_insts((f, first.0), (f, second.0), mode));
        assert_eq!(hash_body(f, first.1, mode), hash_body(f, second.1, mode));
        assert_eq!(hash_inst(f, first.0, mode), hash_inst(f, second.0, mode));
        assert!(diff_insts((f, first.0), (f, second.0), mode).is_empty());
        let found = first_mismatch_bodies((f, first.1), (f, third.1), mode).unwrap();
        assert_eq!(found.left.to_string(), "@f.body[2].regions[0][0].operands[0]");
        assert!(found.reason.to_string().contains("%a on the left and %b on the right"));
        assert!(!equal_insts((f, first.0), (f, third.0), mode));
        let found = diff_bodies((f, first.1), (f, third.1), mode);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].change, Change::Operand(0));
        assert!(!equal_insts((f, op(f, 0)), (f, op(f, 1)), mode), "other operands");
        assert!(equal_insts((f, op(f, 0)), (f, op(f, 0)), mode));
    }
}

#[test]
fn across_two_functions_captures_are_paired() {
    let left = program(
        "%a = exp %x : f32[4]
         %c = cond %p () { %n = add %a, %y : f32[4] %m = mul %n, %a : f32[4] yield %m } () { yield %x } : f32[4]",
    );
    let same = program(
        "%c = cond %p () { %n = add %y, %x : f32[4] %m = mul %n, %y : f32[4] yield %m } () { yield %y } : f32[4]",
    );
    let other = program(
        "%c = cond %p () { %n = add %y, %x : f32[4] %m = mul %n, %x : f32[4] yield %m } () { yield %y } : f32[4]",
    );
    let (f, g, h) = (function(&left), function(&same), function(&other));
    let (x, y, z) = (cond(f, 0), cond(g, 0), cond(h, 0));
    for mode in BOTH {
        assert!(equal_bodies((f, x.1), (g, y.1), mode));
        assert_eq!(hash_body(f, x.1, mode), hash_body(g, y.1, mode));
        assert!(diff_bodies((f, x.1), (g, y.1), mode).is_empty());
        // `%y` stands for the sum in one region and for `%x` in the other.
        assert!(!equal_insts((f, x.0), (g, y.0), mode));
        assert!(!equal_bodies((f, x.1), (h, z.1), mode));
        assert_ne!(hash_body(f, x.1, mode), hash_body(h, z.1, mode));
        assert!(!diff_bodies((f, x.1), (h, z.1), mode).is_empty());
        assert!(!diff_insts((f, x.0), (h, z.0), mode).is_empty());
    }
}

#[test]
fn single_instructions() {
    let left = program("%a = add %x, %x : f32[4] %b = add %x, %y : f32[4] %c = neg %x : f32[4]");
    let right = program("%a = add %y, %y : f32[4] %b = add %y, %x : f32[4] %c = abs %x : f32[4]");
    let (f, g) = (function(&left), function(&right));
    for mode in BOTH {
        for n in 0..2 {
            assert!(equal_insts((f, op(f, n)), (g, op(g, n)), mode));
            assert_eq!(hash_inst(f, op(f, n), mode), hash_inst(g, op(g, n), mode));
        }
        assert!(!equal_insts((f, op(f, 0)), (g, op(g, 1)), mode), "one value, two values");
        assert_ne!(hash_inst(f, op(f, 0), mode), hash_inst(g, op(g, 1), mode));
        let found = first_mismatch_insts((f, op(f, 2)), (g, op(g, 2)), mode).unwrap();
        assert_eq!(found.reason.to_string(), "op neg on the left, abs on the right");
        let found = diff_insts((f, op(f, 2)), (g, op(g, 2)), mode);
        assert_eq!(found[0].change, Change::Replaced);
    }
}

#[test]
fn bodies_compared_by_data_flow_ignore_order() {
    let left = program(
        "%c = cond %p () { %n = neg %x : f32[4] %m = abs %y : f32[4] %s = sub %n, %m : f32[4] yield %s } () { yield %x } : f32[4]",
    );
    let right = program(
        "%c = cond %p () { %m = abs %x : f32[4] %n = neg %y : f32[4] %d = exp %x : f32[4] %s = sub %n, %m : f32[4] yield %s } () { yield %y } : f32[4]",
    );
    let (f, g) = (function(&left), function(&right));
    let ((i, x), (j, y)) = (cond(f, 0), cond(g, 0));
    let mode = Mode::DataFlow;
    assert!(equal_bodies((f, x), (g, y), mode));
    assert_eq!(hash_body(f, x, mode), hash_body(g, y, mode));
    assert!(equal_insts((f, i), (g, j), mode));
    assert_eq!(hash_inst(f, i, mode), hash_inst(g, j, mode));
    assert!(!equal_bodies((f, x), (g, y), Mode::Ordered));
    assert!(!diff_bodies((f, x), (g, y), Mode::Ordered).is_empty());
}

#[test]
fn named_dims_of_one_function_are_only_equal_to_themselves() {
    let text = "ptir 1\nfunc @f(%a: f32[?A], %b: f32[?B]) { %x = neg %a : f32[?A] %y = neg %b : f32[?B] return }";
    let program = parse(text).unwrap();
    let renamed = parse(&text.replace("?A", "?N")).unwrap();
    let (f, g) = (function(&program), function(&renamed));
    for mode in BOTH {
        assert!(!equal_insts((f, op(f, 0)), (f, op(f, 1)), mode));
        assert!(equal_insts((f, op(f, 0)), (g, op(g, 0)), mode));
        assert_eq!(hash_inst(f, op(f, 0), mode), hash_inst(g, op(g, 0), mode));
    }
}
