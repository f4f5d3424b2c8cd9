//! Facts that functions assume about their symbols: text, JSON, comparison, runs and calls.

use sapwood_ptir::eval::{self, RunOptions, Tensor, Value};
use sapwood_ptir::structural::{Mode, equal, hash};
use sapwood_ptir::{from_json, parse, to_json};
use sapwood_types::DataType;

fn input(n: usize) -> Value {
    Tensor::new(DataType::F32, [n], vec![1f32; n]).into()
}

const HALF: &str = "ptir 1

func @half(%x: f32[?S]) -> f32[floordiv(?S, 2), 2] where ?S >= 4, ?S <= 10, mod(?S, 2) == 0 {
  %y = reshape %x : f32[floordiv(?S, 2), 2]
  return %y
}
";

#[test]
fn text_and_json_have_facts() {
    let program = parse(HALF).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(program.to_string(), HALF);
    let again = from_json(&to_json(&program)).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(again.to_string(), HALF);
    // Relations are read in every form, and written in one.
    let other = HALF.replace("?S >= 4, ?S <= 10", "3 < ?S, ?S < 11");
    assert_eq!(parse(&other).unwrap().to_string(), HALF);
}

#[test]
fn a_run_checks_facts() {
    let program = parse(HALF).unwrap();
    let run = |n| eval::run(&program, "half", &[input(n)], &RunOptions::default());
    assert_eq!(run(6).unwrap()[0].to_string(), "1.0 : f32[3, 2]");
    let message = |n| run(n).unwrap_err().to_string();
    assert_eq!(message(2), "@half: the function assumes ?S >= 4, which is false for ?S = 2");
    assert_eq!(message(12), "@half: the function assumes ?S <= 10, which is false for ?S = 12");
    assert_eq!(
        message(7),
        "@half: the function assumes mod(?S, 2) == 0, which is false for ?S = 7"
    );
}

#[test]
fn calls_check_facts() {
    let call = |ty: &str, facts: &str| {
        format!(
            "{HALF}
func @main(%x: {ty}) -> f32[?, 2]{facts} {{
  %y = call @half %x : f32[?, 2]
  return %y
}}
"
        )
    };
    for (ty, facts) in [("f32[6]", ""), ("f32[?N]", ""), ("f32[2*?N]", " where ?N >= 1")] {
        assert!(parse(&call(ty, facts)).is_ok(), "{ty}{facts}");
    }
    for (ty, facts, fact) in [
        ("f32[2]", "", "?S >= 4"),
        ("f32[7]", "", "mod(?S, 2) == 0"),
        ("f32[?N + 11]", "", "?S <= 10"),
        ("f32[?N]", " where ?N <= 3", "?S >= 4"),
        ("f32[2*?N + 1]", "", "mod(?S, 2) == 0"),
    ] {
        let error = parse(&call(ty, facts)).unwrap_err().to_string();
        let expected = format!("@half assumes {fact}, which is false for these arguments");
        assert!(error.contains(&expected), "{ty}{facts}: {error}");
    }
    // What the verifier does not know, the run checks.
    let program = parse(&call("f32[?N]", "")).unwrap();
    let run = |n| eval::run(&program, "main", &[input(n)], &RunOptions::default());
    assert!(run(6).is_ok());
    let error = run(7).unwrap_err().to_string();
    assert!(error.contains("the function assumes mod(?S, 2) == 0"), "{error}");
}

#[test]
fn facts_are_compared_up_to_renaming() {
    let program = parse(HALF).unwrap();
    let renamed = parse(&HALF.replace("?S", "?length")).unwrap();
    assert!(equal(&program, &renamed, Mode::Ordered));
    assert_eq!(hash(&program, Mode::Ordered), hash(&renamed, Mode::Ordered));
    for other in [HALF.replace("?S >= 4", "?S >= 2"), HALF.replace(", ?S <= 10", "")] {
        let other = parse(&other).unwrap();
        assert!(!equal(&program, &other, Mode::Ordered));
        assert_ne!(hash(&program, Mode::Ordered), hash(&other, Mode::Ordered));
    }
}

#[test]
fn bad_clauses_are_reported() {
    for (from, to, expected) in [
        ("?S >= 4", "?S >= 11", "`?S <= 10` contradicts the facts before it"),
        ("?S >= 4", "?T >= 4", "no parameter binds ?T of `where ?T >= 4`"),
        ("?S >= 4", "?S", "expected `==`, `>=`, `<=`, `>` or `<`"),
        ("?S >= 4", "?S >= ", "expected a number, a symbol"),
        ("mod(?S, 2)", "mod(?S, ?S)", "the divisor of `mod` must be a number of at least 1"),
    ] {
        let error = parse(&HALF.replace(from, to)).unwrap_err().to_string();
        assert!(error.contains(expected), "{to}: {error}");
    }
}

#[test]
fn ten_thousand_symbols_are_bound_and_checked() {
    let count = 10_000;
    // Each extent but the first is the sum of two symbols, of which one is bound before.
    let param = |i: usize| match i {
        0 => "%x0: f32[?n0]".to_owned(),
        _ => format!("%x{i}: f32[?n{i} + ?n{}]", i - 1),
    };
    let params: Vec<String> = (0..count).map(param).collect();
    let facts: Vec<String> = (0..count).map(|i| format!("?n{i} >= 1")).collect();
    let (params, facts) = (params.join(", "), facts.join(", "));
    let text = format!("ptir 1 func @main({params}) where {facts} {{ return }}");
    let program = parse(&text).unwrap_or_else(|e| panic!("{e}"));
    let input = |n: usize| Value::from(Tensor::new(DataType::F32, [n], vec![0f32; n]));
    let mut inputs: Vec<Value> = (0..count).map(|i| input(if i == 0 { 1 } else { 2 })).collect();
    eval::run(&program, "main", &inputs, &RunOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    inputs[count - 1] = input(1);
    let error = eval::run(&program, "main", &inputs, &RunOptions::default()).unwrap_err();
    assert!(error.to_string().contains("?n9999 >= 1"), "{error}");
}

// Each of these took minutes when every extent or fact was compared with all others; now each takes about a second.
const LONGEST: std::time::Duration = std::time::Duration::from_secs(30);

#[test]
fn many_dependent_extents_are_solved_in_any_order() {
    let (count, start) = (30_000, std::time::Instant::now());
    // Each extent needs the symbol of the next parameter.
    let param = |i: usize| format!("%x{i}: f32[?n{i} + ?n{}]", i - 1);
    let params: Vec<String> = (1..count).rev().map(param).chain(["%x0: f32[?n0]".into()]).collect();
    let arguments: Vec<String> = (0..count).rev().map(|i| format!("%x{i}")).collect();
    let numbers: Vec<String> =
        (0..count).rev().map(|i| format!("%x{i}: f32[{}]", 2 - usize::from(i == 0))).collect();
    let text = format!(
        "ptir 1
        func @main({}) -> f32[1] {{ %y = call @f {} : f32[1] return %y }}
        func @f({}) -> f32[?n{}] {{ %y = iota {{axis = 0}} : f32[?n{}] return %y }}",
        numbers.join(", "),
        arguments.join(", "),
        params.join(", "),
        count - 1,
        count - 1,
    );
    let program = parse(&text).unwrap_or_else(|e| panic!("{e}"));
    let inputs: Vec<Value> = (0..count).rev().map(|i| input(2 - usize::from(i == 0))).collect();
    let found = eval::run(&program, "main", &inputs, &RunOptions::default());
    assert_eq!(found.unwrap_or_else(|e| panic!("{e}"))[0].ty().to_string(), "f32[1]");
    assert!(start.elapsed() < LONGEST, "{:?}", start.elapsed());
}

#[test]
fn many_facts_are_compared_by_their_symbols() {
    let (count, start) = (20_000, std::time::Instant::now());
    let params: Vec<String> = (0..count).map(|i| format!("%x{i}: f32[?s{i}]")).collect();
    let of = |fact: &dyn Fn(usize) -> String| (1..count).map(fact).collect::<Vec<_>>().join(", ");
    for facts in [
        of(&|i| format!("?s{} >= ?s{i}", i - 1)),
        of(&|i| format!("?s{} == ?s{i}", i - 1)),
        of(&|i| format!("?s{i} == ?s{}", i - 1)),
        of(&|i| format!("?s0 >= ?s{i} + 1")),
        of(&|i| format!("?s{i} >= ?s0 + 1")),
    ] {
        let text = format!("ptir 1 func @main({}) where {facts} {{ return }}", params.join(", "));
        parse(&text).unwrap_or_else(|e| panic!("{e}"));
    }
    assert!(start.elapsed() < LONGEST, "{:?}", start.elapsed());
}

#[test]
fn a_fact_whose_number_does_not_fit_64_bits_is_still_decided() {
    let text = "ptir 1 func @f(%x: f32[?B]) -> f32[?B] where 9223372036854775807*?B >= 9223372036854775807 { return %x }";
    let program = parse(text).unwrap_or_else(|e| panic!("{e}"));
    let run = |n| eval::run(&program, "f", &[input(n)], &RunOptions::default());
    assert!(run(4).is_ok());
    assert!(run(0).unwrap_err().to_string().ends_with("is false for ?B = 0"));
}
