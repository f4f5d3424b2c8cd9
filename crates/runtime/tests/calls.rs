//! Calls, which fast runs replace by the bodies of their callees.

use std::sync::{Arc, Mutex};

use sapwood_check::NumberTolerance;
use sapwood_ptir::eval::{self, DataType, Prepared, RunOptions, RunProfile, Tensor, Value};
use sapwood_runtime::FastKernels;

use crate::fusion::{agree_on, check_predicted_peak, options};

const NESTED: &str = "ptir 1
  func @step(%i: i32[], %x: f32[6]) -> (i32[], f32[6]) {
    %one = constant 1 : i32[]
    %n = add %i, %one : i32[]
    %y = call @squash %x : f32[6]
    return %n, %y }
  func @squash(%x: f32[6]) -> f32[6] {
    %zero = constant 0.0 : f32[6]
    %p = compare %x, %zero {direction = lt} : bool[6]
    %f = constant false : bool[]
    %any = reduce %p, %f {axes = [0]} (%u: bool[], %v: bool[]) { %o = or %u, %v : bool[] yield %o } : bool[]
    %y = cond %any () { %a = neg %x : f32[6] yield %a } () { %b = tanh %x : f32[6] yield %b } : f32[6]
    return %y }
  func @f(%x: f32[6]) -> (i32[], f32[6], f32[6]) {
    %zero = constant 0 : i32[]
    %n, %y = while %zero, %x (%i: i32[], %a: f32[6]) {
      %end = constant 5 : i32[] %go = compare %i, %end {direction = lt} : bool[] yield %go }
      (%j: i32[], %b: f32[6]) { %k, %c = call @step %j, %b : i32[], f32[6] yield %k, %c } : i32[], f32[6]
    %z = call @squash %y : f32[6]
    return %n, %y, %z }";

#[test]
fn calls_in_loops_and_branches_agree() {
    for seed in 0..4 {
        agree_on(NESTED, seed, NumberTolerance { relative: 1e-5, absolute: 1e-30 });
    }
}

#[test]
fn values_that_loops_do_not_change_agree() {
    // The value is used by the condition, by the body, by a loop inside that does not change it either, and after the loop.
    let text = "ptir 1 func @f(%k: f32[6], %end: i32[], %x: f32[6]) -> (i32[], f32[6], i32[], f32[6]) {
      %zero = constant 0 : i32[]
      %n, %u, %e, %y = while %zero, %k, %end, %x (%i: i32[], %a: f32[6], %last: i32[], %b: f32[6]) {
        %three = constant 3 : i32[] %m = min %last, %three : i32[]
        %go = compare %i, %m {direction = lt} : bool[] yield %go }
        (%j: i32[], %c: f32[6], %l: i32[], %d: f32[6]) {
          %one = constant 1 : i32[]
          %next = add %j, %one : i32[]
          %v, %w, %q = while %j, %d, %c (%i2: i32[], %a2: f32[6], %b2: f32[6]) {
            %five = constant 5 : i32[] %go2 = compare %i2, %five {direction = lt} : bool[] yield %go2 }
            (%j2: i32[], %c2: f32[6], %d2: f32[6]) {
              %one2 = constant 1 : i32[] %next2 = add %j2, %one2 : i32[]
              %s2 = add %c2, %d2 : f32[6] %t2 = tanh %s2 : f32[6] yield %next2, %t2, %d2 } : i32[], f32[6], f32[6]
          %s = sub %w, %q : f32[6]
          yield %next, %c, %l, %s } : i32[], f32[6], i32[], f32[6]
      return %n, %u, %e, %y }";
    for seed in 0..6 {
        agree_on(text, seed, NumberTolerance { relative: 1e-4, absolute: 1e-5 });
    }
    let program = sapwood_ptir::parse(text).unwrap();
    let x = |n: f32| Value::from(Tensor::new(DataType::F32, [6], vec![n; 6]));
    let inputs = [x(0.25), Tensor::scalar(2i32).into(), x(-0.5)];
    assert!(check_predicted_peak(&program, &inputs));
    let results = eval::run(&program, "f", &inputs, &options(true, 1)).unwrap();
    assert_eq!(results[0].as_tensor().and_then(Tensor::as_splat::<i32>), Some(2));
}

#[test]
fn parameters_that_are_checked_at_the_call_stay_calls() {
    let text = "ptir 1 func @g(%x: f32[4]) -> f32[4] { %y = neg %x : f32[4] return %y }
      func @f(%x: f32[?]) -> f32[4] { %y = call @g %x : f32[4] return %y }";
    let program = sapwood_ptir::parse(text).unwrap();
    let run = |n: usize| {
        let x = Tensor::splat(DataType::F32, [n], 1.0f32).into();
        eval::run(&program, "f", &[x], &options(true, 1))
    };
    assert!(run(4).is_ok());
    let exact = |n: usize| {
        let x = Tensor::splat(DataType::F32, [n], 1.0f32).into();
        eval::run(&program, "f", &[x], &options(false, 1)).unwrap_err().to_string()
    };
    assert_eq!(run(3).unwrap_err().to_string(), exact(3));
}

#[test]
fn errors_and_profiles_name_the_function_of_the_program() {
    let text = "ptir 1 func @spin(%x: f32[8]) -> f32[8] {
        %y = while %x (%a: f32[8]) { %t = constant true : bool[] yield %t }
          (%b: f32[8]) { %c = add %b, %b : f32[8] yield %c } : f32[8]
        return %y }
      func @f(%p: f32[8]) -> f32[8] {
        %q = neg %p : f32[8]
        %r = call @spin %q : f32[8]
        return %r }";
    let program = sapwood_ptir::parse(text).unwrap();
    let x: Value = Tensor::new(DataType::F32, [8], vec![1.0f32; 8]).into();
    let limited = RunOptions { max_steps: Some(500), ..options(true, 1) };
    let error = eval::run(&program, "f", &[x], &limited).unwrap_err();
    assert_eq!(error.function.as_str(), "spin");
    let error = error.to_string();
    assert!(error.starts_with("@spin: `%"), "{error}");
    assert!(error.ends_with("the limit of 500 steps is reached"), "{error}");

    let program = sapwood_ptir::parse(NESTED).unwrap();
    let prepared = Prepared::new(&program, "f", Some(&FastKernels)).unwrap();
    let profile = Arc::new(Mutex::new(RunProfile::default()));
    let with_profile = RunOptions { profile: Some(profile.clone()), ..options(true, 1) };
    let x: Value = Tensor::new(DataType::F32, [6], vec![-1.0f32; 6]).into();
    prepared.run(std::slice::from_ref(&x), &with_profile).unwrap();
    assert_eq!(prepared.function().name().as_str(), "f");
    let profile = profile.lock().unwrap();
    let of_callee = |name: &str| profile.by_time().iter().any(|e| e.function.as_str() == name);
    assert!(of_callee("squash"), "{profile:?}");
    check_predicted_peak(&program, &[x]);
}
