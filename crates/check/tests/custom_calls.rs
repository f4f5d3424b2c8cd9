//! Custom calls that only have effects: their operands and their sequence are compared.

use std::sync::Arc;

use sapwood_check::{CheckOptions, CheckReport, Verdict, compare};
use sapwood_ptir::eval::{EvalCx, Evaluate, Fault, Kernels, Results};
use sapwood_ptir::{OpKey, Program};
use sapwood_types::FloatMode;

const ALL: [FloatMode; 3] = [FloatMode::Exact, FloatMode::Nsz, FloatMode::Fast];

/// Custom calls that state the values of their first operand: `equal` to the bit, `near` by less than one. `log` always succeeds.
struct Expectations;

impl Kernels for Expectations {
    fn kernel(&self, _: OpKey) -> Option<Arc<Evaluate>> {
        None
    }

    fn custom_call(&self, target: &str) -> Option<Arc<Evaluate>> {
        let most = match target {
            "equal" => 0.0,
            "near" => 1.0,
            "log" => return Some(Arc::new(|_: &mut EvalCx<'_>| Ok(Results::new()))),
            _ => return None,
        };
        Some(Arc::new(move |cx: &mut EvalCx<'_>| {
            let (found, expected) = (cx.elements::<f32>(0)?, cx.elements::<f32>(1)?);
            match found.iter().zip(expected.iter()).all(|(x, y)| (x - y).abs() <= most) {
                true => Ok(Results::new()),
                false => Err(Fault::op("they differ")),
            }
        }))
    }
}

fn check_calls(before: &str, after: &str, floats: FloatMode) -> CheckReport {
    check_functions("@f() { %x = constant 0.7 : f32[2]", before, after, floats)
}

fn check_calls_of_param(before: &str, after: &str, floats: FloatMode) -> CheckReport {
    check_functions("@f(%x: f32[4]) {", before, after, floats)
}

// Checks functions that begin with the same text.
fn check_functions(start: &str, before: &str, after: &str, floats: FloatMode) -> CheckReport {
    let kernels: Option<Arc<dyn Kernels>> = Some(Arc::new(Expectations));
    let options = CheckOptions { floats, seed: 1, kernels, ..CheckOptions::default() };
    let of = |body: &str| {
        let text = format!("ptir 1 func {start} {body} return }}");
        sapwood_ptir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"))
    };
    compare(&of(before), &of(after), &options)
}

// Two sums: 0.7 + 0.1 + 0.1 is not 0.7 + 0.2.
const IN_TWO_STEPS: &str = "%a = constant 0.1 : f32[2] %b = add %x, %a : f32[2]
    %y = add %b, %a : f32[2] %e = constant 0.90000004 : f32[2] ";
const IN_ONE_STEP: &str = "%a = constant 0.2 : f32[2] %y = add %x, %a : f32[2]
    %e = constant 0.90000004 : f32[2] ";

#[test]
fn operands_of_calls_that_rounding_makes_fail_are_compared() {
    let call = "custom_call \"equal\" %y, %e";
    let of = |after: &str, floats| check_calls(&format!("{IN_TWO_STEPS} {call}"), after, floats);
    let rounded = format!("{IN_ONE_STEP} {call}");
    assert_eq!(of(&rounded, FloatMode::Exact).verdict(), Verdict::Different);
    let report = of(&rounded, FloatMode::Fast);
    assert_eq!(report.verdict(), Verdict::NotComparable, "{report}");
    let wrong = format!("%y = neg %x : f32[2] %e = constant 0.90000004 : f32[2] {call}");
    for floats in ALL {
        let report = of(&wrong, floats);
        assert_eq!(report.verdict(), Verdict::Different, "{floats}: {report}");
        assert!(report.messages()[0].starts_with("fails only afterwards: "), "{report}");
    }
}

#[test]
fn operands_of_calls_after_one_that_fails_are_compared() {
    let calls = "custom_call \"equal\" %y, %e custom_call \"near\" %z, %x";
    let before = format!("{IN_TWO_STEPS} %z = sqrt %x : f32[2] {calls}");
    let of = |z: &str| {
        let after = format!("{IN_ONE_STEP} %z = {z} %x : f32[2] {calls}");
        check_calls(&before, &after, FloatMode::Fast)
    };
    assert_eq!(of("sqrt").verdict(), Verdict::NotComparable);
    let report = of("tanh");
    assert_eq!(report.verdict(), Verdict::Different, "{report}");
}

#[test]
fn results_after_a_call_that_fails_are_compared() {
    let kernels: Option<Arc<dyn Kernels>> = Some(Arc::new(Expectations));
    let options = CheckOptions { floats: FloatMode::Fast, seed: 1, kernels, ..Default::default() };
    let of = |sum: &str, op: &str| {
        let body = format!("{sum} custom_call \"equal\" %y, %e %z = {op} %x : f32[2] return %z");
        let text = format!("ptir 1 func @f() -> f32[2] {{ %x = constant 0.7 : f32[2] {body} }}");
        sapwood_ptir::parse(&text).unwrap()
    };
    let before = of(IN_TWO_STEPS, "sqrt");
    let verdict = |after: &Program| compare(&before, after, &options).verdict();
    assert_eq!(verdict(&of(IN_ONE_STEP, "sqrt")), Verdict::NotComparable);
    assert_eq!(verdict(&of(IN_ONE_STEP, "tanh")), Verdict::Different);
}

#[test]
fn operands_of_calls_that_succeed_are_compared() {
    let of = |after: &str, floats| {
        check_calls("%y = sqrt %x : f32[2] custom_call \"near\" %y, %x", after, floats)
    };
    for floats in ALL {
        let same = of("%y = sqrt %x : f32[2] custom_call \"near\" %y, %x", floats);
        assert_eq!(same.verdict(), Verdict::Same, "{floats}: {same}");
        let report = of("%y = tanh %x : f32[2] custom_call \"near\" %y, %x", floats);
        assert_eq!(report.verdict(), Verdict::Different, "{floats}: {report}");
        let line = &report.messages()[0];
        let place = "@f, operand 0 of custom call 0 (near), element [0]: 0.8";
        assert!(line.starts_with(place), "{line}");
        let report = of("", floats);
        assert_eq!(report.verdict(), Verdict::Different, "{floats}: {report}");
        let line = "@f, custom call 0: near(f32[2], f32[2]) before, none after";
        assert_eq!(report.messages(), [line]);
    }
}

#[test]
fn a_call_without_effects_may_be_removed() {
    let pure = "custom_call \"near\" %x, %x {has_side_effect = false}";
    assert_eq!(check_calls(pure, "", FloatMode::Exact).verdict(), Verdict::Same);
}

#[test]
fn a_perturbed_run_may_make_calls_of_other_types() {
    // Other rounding takes the other branch, which calls the same target with a smaller tensor.
    let body = |op: &str| {
        format!(
            "%s = constant 0.7 : f32[] %t = constant 0.1 : f32[]
             %a = add %s, %t : f32[] %b = sub %a, %t : f32[]
             %p = compare %b, %s {{direction = eq}} : bool[]
             %i = constant [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0] : f32[8]
             %j = constant [0.5, 1.0] : f32[2] %w = {op} %i : f32[8] %u = {op} %j : f32[2]
             cond %p () {{ custom_call \"log\" %w, %w yield }} () {{ custom_call \"log\" %u, %u yield }}"
        )
    };
    let report = check_calls(&body("tanh"), &body("neg"), FloatMode::Fast);
    assert_eq!(report.verdict(), Verdict::Different, "{report}");
    assert_eq!(check_calls(&body("tanh"), &body("tanh"), FloatMode::Fast).verdict(), Verdict::Same);
}

#[test]
fn a_branch_that_rounding_decides_explains_operands_of_other_types() {
    let body = |s: &str| {
        format!(
            "%s = constant 0.7 : f32[] %t = constant 0.4 : f32[]
             %a = add %s, %t : f32[] %b = sub %a, %t : f32[]
             %p = compare {s}, %s {{direction = eq}} : bool[] %u = constant 1.0 : f32[8]
             cond %p () {{ custom_call \"log\" %x yield }} () {{ custom_call \"log\" %u yield }}"
        )
    };
    let of = |floats| check_calls(&body("%b"), &body("%s"), floats);
    assert_eq!(of(FloatMode::Exact).verdict(), Verdict::Different);
    let report = of(FloatMode::Fast);
    assert_eq!(report.verdict(), Verdict::NotComparable, "{report}");
}

#[test]
fn the_signatures_of_calls_are_compared() {
    let of = |after: &str| {
        let report = check_calls("custom_call \"near\" %x, %x", after, FloatMode::Exact);
        assert_eq!(report.verdict(), Verdict::Different, "{report}");
        report.messages()
    };
    let near = "near(f32[2], f32[2])";
    let line = |after: &str| vec![format!("@f, custom call 0: {near} before, {after} after")];
    // Another number of operands.
    let more = of("custom_call \"near\" %x, %x, %x");
    assert_eq!(more, line("near(f32[2], f32[2], f32[2])"));
    let config = of("custom_call \"near\" %x, %x {config = \"c\"}");
    assert_eq!(config, line(&format!("{near} with config \"c\"")));
    // As many calls, of other targets: the values of their operands are not shown.
    assert_eq!(of("custom_call \"equal\" %x, %x"), line("equal(f32[2], f32[2])"));
    let twice = of("custom_call \"near\" %x, %x custom_call \"near\" %x, %x");
    assert_eq!(twice, [format!("@f, custom call 1: none before, {near} after")]);
}

#[test]
fn operands_that_are_always_nan_are_not_checked() {
    let body = |op: &str| {
        format!(
            "%a = abs %x : f32[4] %o = constant -1.0 : f32[4] %b = sub %o, %a : f32[4]
             %y = {op} %b : f32[4] custom_call \"log\" %x, %y"
        )
    };
    for floats in ALL {
        let report = check_calls_of_param(&body("sqrt"), &body("log"), floats);
        assert_eq!(report.verdict(), Verdict::NotChecked, "{floats}: {report}");
        let line = "not checked: @f: every element of operand 1 of custom call 0 (log) was NaN";
        assert_eq!(report.messages(), [line], "{floats}");
    }
    // Operands that are finite on some inputs are checked.
    let log = "custom_call \"log\" %x";
    assert_eq!(check_calls_of_param(log, log, FloatMode::Exact).verdict(), Verdict::Same);
}

#[test]
fn operands_that_are_never_comparable_are_not_checked() {
    // Integers that come from NaN alone.
    let nan = "%z = constant 0.0 : f32[4] %q = div %x, %z : f32[4] %n = mul %q, %z : f32[4]";
    let call = "custom_call \"log\" %y";
    let before = format!("{nan} %y = compare %n, %z {{direction = eq}} : bool[4] {call}");
    let after = format!(
        "%z = constant 0.0 : f32[4] %y = compare %z, %z {{direction = eq}} : bool[4] {call}"
    );
    let report = check_calls_of_param(&before, &after, FloatMode::Fast);
    assert_eq!(report.verdict(), Verdict::NotChecked, "{report}");
    let line = &report.messages()[0];
    let start = "not checked: @f: too many elements are not comparable: operand 0 of custom call 0";
    assert!(line.starts_with(start), "{line}");
}
