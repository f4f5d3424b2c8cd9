//! The verdict of a check on programs that are right, wrong, or cannot be compared.

use sapwood_check::{CheckOptions, CheckReport, RunLimits, Verdict, compare};
use sapwood_ptir::eval::{DataType, Tensor, Value};
use sapwood_ptir::{Name, Program};
use sapwood_types::FloatMode;

fn program(params: &str, results: &str, body: &str) -> Program {
    let text = format!("ptir 1 func @f({params}) -> {results} {{ {body} }}");
    sapwood_ptir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn check(params: &str, results: &str, before: &str, after: &str, floats: FloatMode) -> CheckReport {
    let options = CheckOptions { floats, seed: 1, ..CheckOptions::default() };
    compare(&program(params, results, before), &program(params, results, after), &options)
}

fn verdict(params: &str, results: &str, before: &str, after: &str, floats: FloatMode) -> Verdict {
    check(params, results, before, after, floats).verdict()
}

const ALL: [FloatMode; 3] = [FloatMode::Exact, FloatMode::Nsz, FloatMode::Fast];

#[test]
fn inputs_are_drawn_so_that_programs_compute() {
    // Variances that are negative would make everything NaN.
    let norm = |op: &str| {
        format!(
            "%c = constant 0.001 : f32[8] %e = add %v, %c : f32[8] %r = {op} %e : f32[8]
             %m = broadcast_in_dim %r {{dims = [1]}} : f32[4, 8] %y = mul %x, %m : f32[4, 8]
             return %y"
        )
    };
    let (params, ty) = ("%x: f32[4, 8], %v: f32[8]", "f32[4, 8]");
    for floats in ALL {
        let report = check(params, ty, &norm("rsqrt"), &norm("tanh"), floats);
        assert_eq!(report.verdict(), Verdict::Different, "{floats}: {report}");
        let report = check(params, ty, &norm("rsqrt"), &norm("rsqrt"), floats);
        assert_eq!(report.verdict(), Verdict::Same, "{floats}: {report}");
        assert!(report.functions[0].results[0].compared >= 64, "{report:?}");
    }
}

#[test]
fn a_search_finds_ranges_that_use_does_not_show() {
    // The square root is taken of a difference: only small numbers of `y` leave it positive.
    let body = |op: &str| {
        format!(
            "%c = constant 3.5 : f32[16] %a = mul %y, %y : f32[16] %d = sub %c, %a : f32[16]
             %k = constant 100.0 : f32[16] %m = mul %x, %k : f32[16] %p = sub %d, %m : f32[16]
             %s = sqrt %p : f32[16] %z = {op} %s : f32[16] return %z"
        )
    };
    let params = "%x: f32[16], %y: f32[16]";
    for floats in ALL {
        let report = check(params, "f32[16]", &body("neg"), &body("tanh"), floats);
        assert_eq!(report.verdict(), Verdict::Different, "{floats}: {report}");
    }
}

#[test]
fn results_that_are_always_nan_are_not_checked() {
    let nan = "%a = abs %x : f32[4] %o = constant -1.0 : f32[4] %b = sub %o, %a : f32[4] ";
    let before = format!("{nan} %y = sqrt %b : f32[4] return %x, %y");
    let after = format!("{nan} %y = log %b : f32[4] return %x, %y");
    for floats in ALL {
        let report = check("%x: f32[4]", "(f32[4], f32[4])", &before, &after, floats);
        assert_eq!(report.verdict(), Verdict::NotChecked, "{floats}: {report}");
        assert!(!report.passes());
        let verdicts: Vec<Verdict> =
            report.functions[0].results.iter().map(|r| r.verdict).collect();
        assert_eq!(verdicts, [Verdict::Same, Verdict::NotChecked]);
        let messages = report.messages();
        assert_eq!(messages, ["not checked: @f: every element of result 1 was NaN"]);
        assert_eq!(report.summary(), "1 of 1 function not checked");
    }
}

#[test]
fn nan_before_and_a_number_after_differ_unless_fast() {
    let before = "%z = sub %x, %x : f32[64] return %z";
    let after = "%z = constant 0.0 : f32[64] return %z";
    let of = |floats| verdict("%x: f32[64]", "f32[64]", before, after, floats);
    assert_eq!(of(FloatMode::Exact), Verdict::Different);
    assert_eq!(of(FloatMode::Nsz), Verdict::Different);
    assert_eq!(of(FloatMode::Fast), Verdict::Same);
    let reverse = |floats| verdict("%x: f32[64]", "f32[64]", after, before, floats);
    assert_eq!(reverse(FloatMode::Exact), Verdict::Different);
    assert_eq!(reverse(FloatMode::Fast), Verdict::Same);
}

#[test]
fn ops_without_evaluation_are_not_checked() {
    let call = "%y = custom_call \"unknown\" %x : f32[4] return %y";
    for (before, after) in [(call, call), (call, "return %x"), ("return %x", call)] {
        let report = check("%x: f32[4]", "f32[4]", before, after, FloatMode::Exact);
        assert_eq!(report.verdict(), Verdict::NotChecked, "{report}");
        let messages = report.messages();
        assert_eq!(messages.len(), 1, "{messages:?}");
        assert!(messages[0].starts_with("not checked: @f: "), "{messages:?}");
        assert!(messages[0].contains("nothing implements the custom call \"unknown\""));
    }
}

#[test]
fn one_function_that_cannot_be_run_is_enough() {
    let text = |body: &str| {
        format!(
            "ptir 1 func @f(%x: f32[4]) -> f32[4] {{ {body} }}
             func @g(%x: f32[4]) -> f32[4] {{ %y = custom_call \"unknown\" %x : f32[4] return %y }}"
        )
    };
    let [a, b] = ["return %x", "%a = neg %x : f32[4] %b = neg %a : f32[4] return %b"]
        .map(|body| sapwood_ptir::parse(&text(body)).unwrap());
    let report = compare(&a, &b, &CheckOptions::default());
    assert_eq!(report.summary(), "1 of 2 functions not checked");
    assert!(!report.passes());
}

#[test]
fn a_division_by_a_zero_of_either_sign_is_not_comparable_under_nsz() {
    let zero = "%o = constant 1.0 : f32[3] %z = constant 0.0 : f32[3]";
    let before = format!("{zero} %a = add %x, %z : f32[3] %y = div %o, %a : f32[3] return %y");
    let after = format!("{zero} %y = div %o, %x : f32[3] return %y");
    let of = |after: &str, floats| check("%x: f32[3]", "f32[3]", &before, after, floats);
    assert_eq!(of(&after, FloatMode::Exact).verdict(), Verdict::Different);
    let report = of(&after, FloatMode::Nsz);
    assert_eq!(report.verdict(), Verdict::NotComparable, "{report}");
    assert!(report.passes());
    assert!(report.messages()[0].starts_with("not comparable at @f, result 0, element ["));
    // A real difference stays one.
    let wrong = format!("{zero} %y = div %x, %o : f32[3] return %y");
    assert_eq!(of(&wrong, FloatMode::Nsz).verdict(), Verdict::Different);
    let wrong = format!("{zero} %n = neg %x : f32[3] %y = div %o, %n : f32[3] return %y");
    assert_eq!(of(&wrong, FloatMode::Nsz).verdict(), Verdict::Different);
}

#[test]
fn nan_that_reaches_a_comparison_or_a_cast_is_not_comparable_under_fast() {
    // `x / 0 * 0` is NaN, and may be anything under `fast`.
    let nan = "%z = constant 0.0 : f32[3] %q = div %x, %z : f32[3] %n = mul %q, %z : f32[3]";
    for (op, ty) in [
        ("%y = compare %p, %z {direction = eq} : bool[3]", "bool[3]"),
        ("%y = cast %p : i32[3]", "i32[3]"),
    ] {
        let results = format!("({ty}, f32[3])");
        let with = |p: &str| op.replace("%p", p);
        let before = format!("{nan} {} return %y, %x", with("%n"));
        let after = format!("%z = constant 0.0 : f32[3] {} return %y, %x", with("%z"));
        let of = |after: &str, floats| check("%x: f32[3]", &results, &before, after, floats);
        let report = of(&after, FloatMode::Fast);
        // Integers that come from NaN alone are not comparable, on any input.
        assert_ne!(report.verdict(), Verdict::Different, "{op}: {report}");
        // NaN and zero are the same integer.
        let exact = of(&after, FloatMode::Exact).verdict();
        assert_eq!(exact, if ty == "i32[3]" { Verdict::Same } else { Verdict::Different }, "{op}");
        // Another result that is wrong is found.
        let wrong = format!("{after} return %y, %z").replacen("return %y, %x", "", 1);
        assert_eq!(of(&wrong, FloatMode::Fast).verdict(), Verdict::Different, "{op}");
    }
}

#[test]
fn nan_that_an_op_hides_from_a_comparison_is_not_comparable_under_fast() {
    // The exponential and the square of a number are never negative, but those of NaN may be anything.
    let (params, ty) = ("%x: f32[16], %y: f32[16]", "bool[16]");
    let zero = "%z = constant 0.0 : f32[16]";
    let less =
        |p: &str, q: &str| format!("%c = compare {p}, {q} {{direction = lt}} : bool[16] return %c");
    for (left, q) in [
        ("%a = log %x : f32[16] %p = exp %a : f32[16]", "%z"),
        ("%a = sqrt %x : f32[16] %p = mul %a, %a : f32[16]", "%y"),
    ] {
        let before = format!("{zero} {left} {}", less("%p", q));
        let of =
            |p: &str, floats| check(params, ty, &before, &format!("{zero} {}", less(p, q)), floats);
        let report = of("%x", FloatMode::Fast);
        assert_eq!(report.verdict(), Verdict::NotComparable, "{left}: {report}");
        let line = &report.messages()[0];
        assert!(
            line.ends_with("it depends on an infinity or NaN, which the float mode leaves open")
        );
        assert_eq!(of("%x", FloatMode::Exact).verdict(), Verdict::Different, "{left}");
        // A wrong operand is found where nothing is NaN.
        let wrong = format!("{zero} %n = neg %x : f32[16] {}", less("%n", q));
        let report = check(params, ty, &before, &wrong, FloatMode::Fast);
        assert_eq!(report.verdict(), Verdict::Different, "{left}: {report}");
    }
}

#[test]
fn equal_elements_of_one_value_do_not_excuse_those_that_differ() {
    // Rounding decides which element of the softmax is one; the others are zero whatever the program computes.
    let body = |op: &str| {
        format!(
            "%k = constant 1.0e8 : f32[256] %r = {op} %v : f32[256] %a = mul %r, %k : f32[256]
             %s = sin %a : f32[256] %h = mul %s, %k : f32[256]
             %m = reduce_max %h {{axes = [0]}} : f32[]
             %n = broadcast_in_dim %m {{dims = []}} : f32[256] %p = sub %h, %n : f32[256]
             %q = exp %p : f32[256] return %q"
        )
    };
    let of =
        |op: &str| check("%v: f32[256]", "f32[256]", &body("rsqrt"), &body(op), FloatMode::Fast);
    let report = of("tanh");
    assert_eq!(report.verdict(), Verdict::NotChecked, "{report}");
    let line = &report.messages()[0];
    let start = "not checked: @f: too few elements besides those of one value are comparable: ";
    assert!(line.starts_with(start), "{line}");
    assert_eq!(of("rsqrt").verdict(), Verdict::Same);
    // Elements that were computed and are equal still count, however few are not comparable.
    let floor = "%k = constant 3.0 : f32[256] %e = constant 0.1 : f32[256]
         %a = mul %v, %k : f32[256] %b = add %a, %e : f32[256]";
    let before = format!("{floor} %c = sub %b, %e : f32[256] %y = floor %c : f32[256] return %y");
    let after = format!("{floor} %y = floor %a : f32[256] return %y");
    let report = check("%v: f32[256]", "f32[256]", &before, &after, FloatMode::Fast);
    assert!(report.passes(), "{report}");
}

#[test]
fn inputs_are_drawn_so_that_results_are_not_saturated() {
    // Weights from -2 to 2 make the numbers grow from layer to layer, and the softmax of large numbers is one and zeros.
    let layer = |n: usize| {
        format!(
            "%d{n} = dot_general %h{n}, %w {{lhs_contract = [1], rhs_contract = [0]}} : f32[1, 64]
             %g{n} = mul %d{n}, %b : f32[1, 64] %h{} = max %g{n}, %z : f32[1, 64] ",
            n + 1
        )
    };
    let layers: String = (0..24).map(layer).collect();
    let body = |op: &str| {
        format!(
            "%z = constant 0.0 : f32[1, 64] %r = {op} %v : f32[64]
             %b = reshape %r : f32[1, 64] %h0 = add %x, %z : f32[1, 64] {layers}
             %m = reduce_max %h24 {{axes = [1]}} : f32[1]
             %n = broadcast_in_dim %m {{dims = [0]}} : f32[1, 64] %p = sub %h24, %n : f32[1, 64]
             %q = exp %p : f32[1, 64] %t = reduce_sum %q {{axes = [1]}} : f32[1]
             %u = broadcast_in_dim %t {{dims = [0]}} : f32[1, 64] %y = div %q, %u : f32[1, 64]
             return %y"
        )
    };
    let (params, ty) = ("%x: f32[1, 64], %w: f32[64, 64], %v: f32[64]", "f32[1, 64]");
    let report = check(params, ty, &body("rsqrt"), &body("rsqrt"), FloatMode::Fast);
    assert_eq!(report.verdict(), Verdict::Same, "{report}");
    let report = check(params, ty, &body("rsqrt"), &body("tanh"), FloatMode::Fast);
    assert_eq!(report.verdict(), Verdict::Different, "{report}");
}

#[test]
fn a_comparison_that_only_sometimes_sees_nan_is_not_comparable_in_part() {
    // Zero over zero is NaN; `x / x` is one otherwise.
    let before = "%o = constant 1.0 : f32[] %q = div %x, %x : f32[]
        %y = compare %q, %o {direction = eq} : bool[] return %y";
    let after = "%y = constant true : bool[] return %y";
    let of = |after: &str| check("%x: f32[]", "bool[]", before, after, FloatMode::Fast);
    let report = of(after);
    assert_eq!(report.verdict(), Verdict::NotComparable, "{report}");
    let wrong = "%y = constant false : bool[] return %y";
    assert!(!of(wrong).passes());
}

#[test]
fn rounding_that_decides_a_comparison_is_not_comparable_under_fast() {
    let before = "%c = constant 0.1 : f32[64] %a = add %x, %c : f32[64] %b = sub %a, %c : f32[64]
        %y = compare %b, %x {direction = eq} : bool[64] return %y";
    let after = "%y = compare %x, %x {direction = eq} : bool[64] return %y";
    let of = |after: &str, floats| check("%x: f32[64]", "bool[64]", before, after, floats);
    assert_eq!(of(after, FloatMode::Fast).verdict(), Verdict::NotComparable);
    assert_eq!(of(after, FloatMode::Exact).verdict(), Verdict::Different);
    let far = "%c = constant 1.0 : f32[64] %b = add %x, %c : f32[64]
        %y = compare %b, %x {direction = gt} : bool[64] return %y";
    let wrong = "%c = constant 1.0 : f32[64] %b = add %x, %c : f32[64]
        %y = compare %b, %x {direction = lt} : bool[64] return %y";
    let verdict = verdict("%x: f32[64]", "bool[64]", far, wrong, FloatMode::Fast);
    assert_eq!(verdict, Verdict::Different);
}

#[test]
fn bits_of_nan_are_not_comparable() {
    let before = "%o = constant 1.0 : f32[3] %m = mul %x, %o : f32[3]
        %y = bitcast %m : i32[3] return %y";
    let after = "%y = bitcast %x : i32[3] return %y";
    let of = |after: &str| verdict("%x: f32[3]", "i32[3]", before, after, FloatMode::Exact);
    assert!(of(after).passes());
    assert_eq!(of("%n = neg %x : f32[3] %y = bitcast %n : i32[3] return %y"), Verdict::Different);
}

#[test]
fn small_errors_of_constants_are_found_under_fast() {
    let scaled =
        |by: &str| format!("%c = constant {by} : f32[8] %y = mul %x, %c : f32[8] return %y");
    let of =
        |by: &str| verdict("%x: f32[8]", "f32[8]", &scaled("0.1"), &scaled(by), FloatMode::Fast);
    assert_eq!(of("0.10000001"), Verdict::WithinTolerance);
    assert_eq!(of("0.1001"), Verdict::Different);
}

#[test]
fn sums_in_another_order_are_within_tolerance_under_fast() {
    let before = "%s = reduce_sum %x {axes = [0, 1]} : f32[] return %s";
    let after = "%a = reduce_sum %x {axes = [1]} : f32[64] %s = reduce_sum %a {axes = [0]} : f32[]
        return %s";
    let of = |floats| check("%x: f32[64, 64]", "f32[]", before, after, floats);
    let report = of(FloatMode::Fast);
    assert!(report.verdict() <= Verdict::WithinTolerance, "{report}");
    let wrong = "%a = reduce_max %x {axes = [1]} : f32[64] %s = reduce_sum %a {axes = [0]} : f32[]
        return %s";
    let verdict = verdict("%x: f32[64, 64]", "f32[]", before, wrong, FloatMode::Fast);
    assert_eq!(verdict, Verdict::Different);
}

#[test]
fn given_inputs_are_used() {
    let [a, b] = ["return %x", "%z = constant 0.0 : f32[2] %y = max %x, %z : f32[2] return %y"]
        .map(|body| program("%x: f32[2]", "f32[2]", body));
    let of = |numbers: [f32; 2]| {
        let input: Value = Tensor::new(DataType::F32, [2], numbers.to_vec()).into();
        let inputs = vec![(Name::new("f"), vec![input])];
        compare(&a, &b, &CheckOptions { inputs, ..CheckOptions::default() })
    };
    assert_eq!(of([1.0, 2.0]).verdict(), Verdict::Same);
    assert_eq!(of([1.0, 2.0]).runs(), 1);
    assert_eq!(of([-1.0, 2.0]).verdict(), Verdict::Different);
    let wrong = Tensor::scalar(1f32).into();
    let inputs = vec![(Name::new("f"), vec![wrong])];
    let report = compare(&a, &b, &CheckOptions { inputs, ..CheckOptions::default() });
    assert_eq!(report.verdict(), Verdict::NotChecked);
}

#[test]
fn splats_beyond_memory_are_compared() {
    let body = "%y = broadcast_to %x : f32[1099511627776] return %y";
    let report = check("%x: f32[]", "f32[1099511627776]", body, body, FloatMode::Exact);
    assert_eq!(report.verdict(), Verdict::Same);
    let report = check("%x: f32[]", "f32[1099511627776]", body, body, FloatMode::Fast);
    assert_eq!(report.verdict(), Verdict::Same);
}

#[test]
fn signs_of_zeros_in_tuples_count() {
    let ty = "tuple<f32[64], f32[64]>";
    let before = format!(
        "%z = constant 0.0 : f32[64] %y = add %x, %z : f32[64] %r = tuple %y, %x : {ty} return %r"
    );
    let after = format!("%r = tuple %x, %x : {ty} return %r");
    let of = |floats| check("%x: f32[64]", ty, &before, &after, floats);
    let report = of(FloatMode::Exact);
    assert_eq!(report.verdict(), Verdict::Different);
    let line = &report.messages()[0];
    assert!(line.contains("result 0.0, element ["), "{line}");
    assert!(line.contains(": 0.0 before, -0.0 after"), "{line}");
    assert_eq!(of(FloatMode::Nsz).verdict(), Verdict::Same);
}

#[test]
fn fast_allows_the_rounding_of_each_type() {
    for dtype in ["f8e4m3fn", "bf16", "f16", "f32", "f64"] {
        let ty = format!("{dtype}[64]");
        let add = |to: &str, from: &str, number: &str| {
            format!("%c{to} = constant {number} : {ty} %{to} = add %{from}, %c{to} : {ty} ")
        };
        let before = add("y", "x", "0.125") + &add("z", "y", "0.625") + "return %z";
        let params = format!("%x: {ty}");
        let of = |after: &str| check(&params, &ty, &before, after, FloatMode::Fast);
        let report = of(&(add("z", "x", "0.75") + "return %z"));
        assert!(report.verdict() <= Verdict::WithinTolerance, "{dtype}: {report}");
        let wrong = of(&format!("%z = neg %x : {ty} return %z"));
        assert_eq!(wrong.verdict(), Verdict::Different, "{dtype}");
    }
}

#[test]
fn integers_are_exact_whatever_floats_are() {
    let after = "%o = constant 1 : i32[64] %z = add %x, %o : i32[64] return %z";
    let verdict = verdict("%x: i32[64]", "i32[64]", "return %x", after, FloatMode::Fast);
    assert_eq!(verdict, Verdict::Different);
}

#[test]
fn extents_of_their_own_show_a_check_that_was_added() {
    let (params, results) = ("%x: f32[?], %y: f32[?]", "(f32[?], f32[?])");
    let after = "%a = refine %x : f32[?n] %b = refine %y : f32[?n] return %a, %b";
    let report = check(params, results, "return %x, %y", after, FloatMode::Exact);
    assert_eq!(report.verdict(), Verdict::Different);
    assert!(report.messages()[0].contains("fails only afterwards"), "{report}");
}

#[test]
fn functions_with_other_inputs_differ_without_a_run() {
    let before = program("%x: f32[4]", "f32[4]", "return %x");
    for (params, expected) in [
        ("%x: f32[4], %y: f32[4]", "@f takes 1 input before and 2 inputs afterwards"),
        ("%x: f32[5]", "input 0 of @f is f32[4] before and f32[5] afterwards"),
        ("%x: i32[4]", "input 0 of @f is f32[4] before and i32[4] afterwards"),
    ] {
        let result = params.split(": ").nth(1).unwrap().split(", %").next().unwrap();
        let report =
            compare(&before, &program(params, result, "return %x"), &CheckOptions::default());
        assert_eq!(report.verdict(), Verdict::Different);
        assert!(report.messages()[0].starts_with(expected), "{report}");
    }
}

#[test]
fn few_elements_meet_edge_values() {
    for ty in ["f32[]", "f32[3]"] {
        let of = |before: &str, after: &str| {
            verdict(&format!("%x: {ty}"), ty, before, after, FloatMode::Exact)
        };
        let zero = format!("%z = constant 0.0 : {ty} %y = add %x, %z : {ty} return %y");
        assert_eq!(of(&zero, "return %x"), Verdict::Different, "{ty}");
        assert_eq!(of(&zero, &zero), Verdict::Same, "{ty}");
    }
    let before = "%o = constant 1 : i32[] %y = add %x, %o : i32[]
        %c = compare %y, %x {direction = gt} : bool[] return %c";
    let after = "%c = constant true : bool[] return %c";
    let verdict = verdict("%x: i32[]", "bool[]", before, after, FloatMode::Exact);
    assert_eq!(verdict, Verdict::Different);
}

#[test]
fn a_loop_that_became_endless_is_found_soon() {
    let body = |next: &str| {
        format!(
            "%z = constant 0 : i32[] %one = constant 1 : i32[] %ten = constant 10 : i32[]
            %r = while %z (%i: i32[]) {{
              %c = compare %i, %ten {{direction = lt}} : bool[]
              yield %c
            }} (%k: i32[]) {{
              %j = add %k, %one : i32[]
              yield {next}
            }} : i32[]
            return %r"
        )
    };
    let report = check("", "i32[]", &body("%j"), &body("%k"), FloatMode::Exact);
    assert_eq!(report.verdict(), Verdict::Different);
    assert!(report.messages()[0].contains("the time limit of 2s is reached"), "{report}");
}

#[test]
fn inputs_that_cannot_be_run_are_reported() {
    let (params, body) = ("%x: f32[?], %y: f32[?]", "%z = add %x, %y : f32[?] return %z");
    let report = check(params, "f32[?]", body, body, FloatMode::Exact);
    assert_eq!(report.verdict(), Verdict::Same);
    assert!(report.functions[0].not_run > 0);
    let line = &report.messages()[0];
    assert!(line.starts_with("not run on ") && line.contains(" inputs: @f: "), "{line}");
}

#[test]
fn a_function_without_parameters_is_checked_by_one_run() {
    let nan = "%z = constant 0.0 : f32[2] %y = div %z, %z : f32[2] return %y";
    let folded = "%y = constant nan : f32[2] return %y";
    assert_eq!(verdict("", "f32[2]", nan, folded, FloatMode::Exact), Verdict::Same);
    assert_eq!(verdict("", "f32[2]", nan, folded, FloatMode::Fast), Verdict::NotChecked);
    let report = check("", "f32[2]", folded, folded, FloatMode::Fast);
    assert_eq!(report.verdict(), Verdict::Same, "constants that are equal need no run: {report}");
}

#[test]
fn a_public_function_that_is_missing_afterwards_is_a_difference() {
    let f = "func @f(%x: f32[]) -> f32[] { return %x }";
    let with = |g: &str| sapwood_ptir::parse(&format!("ptir 1 {f} {g}")).unwrap();
    let (alone, options) = (with(""), CheckOptions::default());
    let public = with("func @g(%x: f32[]) -> f32[] { return %x }");
    let report = compare(&public, &alone, &options);
    assert_eq!(report.verdict(), Verdict::Different);
    assert_eq!(report.messages(), ["@g is public and missing afterwards"]);
    let allowed = CheckOptions { allow_removed: true, ..CheckOptions::default() };
    let report = compare(&public, &alone, &allowed);
    assert_eq!(report.verdict(), Verdict::Same);
    assert_eq!(report.messages(), ["removed and not compared: @g"]);
    let private = with("func @g(%x: f32[]) -> f32[] {private = true} { return %x }");
    let report = compare(&private, &alone, &options);
    assert_eq!((report.verdict(), report.messages().len()), (Verdict::Same, 0));
    // An added function is not a difference.
    assert_eq!(compare(&alone, &public, &options).verdict(), Verdict::Same);
}

#[test]
fn an_extreme_input_that_reaches_a_limit_does_not_end_the_check() {
    let text = |found: &str| {
        format!(
            "ptir 1 func @f(%n: i32[], %x: f32[]) -> f32[] {{
              %one = constant 1 : i32[]
              %z = constant 0 : i32[]
              %r = while %z (%i: i32[]) {{
                %c = compare %i, %n {{direction = lt}} : bool[]
                yield %c
              }} (%k: i32[]) {{
                %j = add %k, %one : i32[]
                yield %j
              }} : i32[]
              return {found}
            }}"
        )
    };
    let before = sapwood_ptir::parse(&text("%x")).unwrap();
    let limits = RunLimits { max_steps: 10_000, ..RunLimits::default() };
    let report = compare(&before, &before, &CheckOptions { limits, ..CheckOptions::default() });
    assert_eq!(report.verdict(), Verdict::Same, "{report}");
    let f = &report.functions[0];
    // The largest integer comes with the last of the edge values; inputs of any bits follow.
    assert!(f.not_run > 1 && f.runs > 9, "{report:?}");
}

#[test]
fn operands_that_are_shapes_are_drawn_small_and_mostly_fit() {
    // A limit that a few thousand elements reach.
    let limits = RunLimits { max_bytes: 1 << 16, ..RunLimits::default() };
    let options = CheckOptions { seed: 1, limits, ..CheckOptions::default() };
    let conv = "{input_dims = [0, 1, 2], kernel_dims = [0, 1, 2], output_dims = [0, 1, 2]}";
    let conv = format!("%r = dynamic_conv %x, %k, %p {conv} : f32[?B, 5, ?] return %r");
    let cases = [
        ("%x: f32[?B, 2, 4], %s: i32[2]", "f32[?, ?]", "%r = dynamic_reshape %x, %s : f32[?, ?] return %r"),
        ("%x: f32[6], %s: i32[3]", "f32[?, 2, ?]", "%r = dynamic_reshape %x, %s : f32[?, 2, ?] return %r"),
        (
            "%x: f32[?B], %s: i64[2]",
            "f32[?, ?]",
            "%r = dynamic_broadcast_in_dim %x, %s {dims = [1]} : f32[?, ?] return %r",
        ),
        ("%s: i32[2]", "i32[?, 8]", "%r = dynamic_iota %s {axis = 0} : i32[?, 8] return %r"),
        (
            "%x: f32[?B], %v: f32[], %n: i32[1]",
            "f32[?]",
            "%z = constant 0 : i32[1] %r = dynamic_pad %x, %v, %z, %n, %z : f32[?] return %r",
        ),
        (
            "%x: f32[?N, ?B], %i: i32[2], %l: i32[2]",
            "f32[?, ?]",
            "%o = constant 1 : i32[2] %r = real_dynamic_slice %x, %i, %l, %o : f32[?, ?] return %r",
        ),
        (
            "%x: f32[?B, ?S], %i: i32[1], %n: i32[2]",
            "f32[?, ?]",
            "%r = dynamic_gather %x, %i, %n {offset_dims = [0, 1], start_index_map = [1], index_vector_dim = 0} : f32[?, ?] return %r",
        ),
        ("%x: f32[?B, 3, ?N], %k: f32[3, 5, 2], %p: i32[1, 2]", "f32[?B, 5, ?]", &conv),
        // The shape is computed from operands.
        (
            "%a: i32[], %b: i32[1]",
            "f32[?, ?]",
            "%v = constant 1.0 : f32[] %t = constant 2 : i32[] %m = mul %a, %t : i32[] %r = reshape %m : i32[1]
             %s = concat %r, %b {axis = 0} : i32[2] %y = dynamic_broadcast_in_dim %v, %s {dims = []} : f32[?, ?] return %y",
        ),
    ];
    for (params, ty, body) in cases {
        let program = program(params, ty, body);
        let report = compare(&program, &program, &options);
        assert_eq!(report.verdict(), Verdict::Same, "{body}: {report}");
        let f = &report.functions[0];
        assert!(f.runs >= 2 * f.not_run && f.runs >= 6, "{body}: {f:?}");
        let memory = f.reason.as_ref().is_some_and(|why| why.contains("bytes"));
        assert!(!memory, "{body}: {f:?}");
    }
}

#[test]
fn extents_include_zero_one_and_the_smallest_that_facts_allow() {
    // The programs differ at one extent only.
    let differs = |facts: &str, extent: u64| {
        let text = |body: &str| format!("ptir 1 func @f(%x: f32[?S]) -> i32[]{facts} {{ {body} }}");
        let size = "%n = get_dimension_size %x {axis = 0} : i32[]";
        let before = text(&format!("{size} return %n"));
        let after = text(&format!(
            "{size} %k = constant {extent} : i32[] %c = compare %n, %k {{direction = eq}} : bool[]
             %o = constant -1 : i32[] %r = select %c, %o, %n : i32[] return %r"
        ));
        let read = |text: &str| sapwood_ptir::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let options = CheckOptions { seed: 1, ..CheckOptions::default() };
        compare(&read(&before), &read(&after), &options).verdict()
    };
    for (facts, extents) in [
        ("", [0, 1]),
        (" where ?S >= 7", [7, 8]),
        (" where ?S >= 1, mod(?S, 8) == 0", [8, 8]),
        (" where ?S >= 100, ?S <= 101", [100, 101]),
    ] {
        for extent in extents {
            assert_eq!(differs(facts, extent), Verdict::Different, "{facts}, {extent}");
        }
    }
}

#[test]
fn extents_that_suit_a_function_are_found_where_small_ones_do_not() {
    // Small extents stop the first two, except zero, with which nothing is compared. The third needs one frame of 400 samples, the fourth
    // one image.
    for (params, results, fits, elements) in [
        ("%x: f32[?A]", "f32[?]", "f32[32*?T]", 64),
        ("%x: f32[?N, ?A]", "f32[?, ?]", "f32[?N, 32*?T]", 128),
        ("%x: f32[?A]", "f32[?]", "f32[?T + 400]", 512),
        ("%x: f32[?N, 3, ?H, ?W]", "f32[?, ?, ?, ?]", "f32[1, 3, 64*?S, 64*?T]", 3 * 64 * 64),
    ] {
        let body = |op: &str| format!("%y = refine %x : {fits} %z = {op} %y : {fits} return %z");
        let of = |after| check(params, results, &body("exp"), &body(after), FloatMode::Exact);
        assert_eq!(of("neg").verdict(), Verdict::Different, "{fits}");
        let report = of("exp");
        assert_eq!(report.verdict(), Verdict::Same, "{fits}: {report}");
        assert!(report.functions[0].results[0].compared >= elements, "{fits}: {report:?}");
        assert_eq!(format!("{:?}", of("exp")), format!("{report:?}"), "{fits}");
    }
    // The search ends where no extents are found.
    let body = "%y = refine %x : f32[1000000007] %z = exp %y : f32[1000000007] return %z";
    let report = check("%x: f32[?A]", "f32[?]", body, body, FloatMode::Exact);
    assert_eq!(report.verdict(), Verdict::NotChecked, "{report}");
}

#[test]
fn large_results_are_not_compared_beyond_the_memory_limit() {
    let body = "%r = iota {axis = 0} : i32[100000] return %r";
    let program = program("%x: f32[]", "i32[100000]", body);
    let limits = RunLimits { max_bytes: 1 << 20, ..RunLimits::default() };
    let report = compare(&program, &program, &CheckOptions { limits, ..CheckOptions::default() });
    assert_eq!(report.verdict(), Verdict::NotChecked);
    let reason = report.functions[0].reason.clone().unwrap();
    assert_eq!(reason, "comparing results takes 3200000 bytes; the limit is 1048576");
}
