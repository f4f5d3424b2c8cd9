//! Comparison of straight-line parts and loops of few elements, which run as one kernel, with the fixed-order kernels.

use std::sync::Arc;

use sapwood_check::NumberTolerance;
use sapwood_ptir::eval::{self, Prepared, RunOptions, RunProfile, Tensor, Value};
use sapwood_ptir::testing::{RandomProgramConfig, Rng, random_program};
use sapwood_runtime::FastKernels;
use sapwood_testing::cases;

use crate::fusion::{agree_on, check_predicted_peak, inputs, options};

const CLOSE: NumberTolerance = NumberTolerance { relative: 1e-4, absolute: 1e-5 };

/// Straight-line programs of few elements with products, copies at strides, reductions of any axes and slices at positions that are computed.
const PROGRAMS: [&str; 6] = [
    // Products of all orders of axes, with several users of one value.
    "func @f(%x: f32[4, 6], %y: f32[6, 5], %z: f32[3, 4, 6]) -> (f32[5, 4], f32[3, 4, 5], f32[3, 6, 6]) {
       %a = dot_general %x, %y {lhs_contract = [1], rhs_contract = [0]} : f32[4, 5]
       %b = transpose %a {perm = [1, 0]} : f32[5, 4]
       %c = tanh %b : f32[5, 4]
       %d = add %c, %b : f32[5, 4]
       %e = dot_general %z, %y {lhs_contract = [2], rhs_contract = [0]} : f32[3, 4, 5]
       %g = dot_general %z, %z {lhs_batch = [0], rhs_batch = [0], lhs_contract = [1], rhs_contract = [1]} : f32[3, 6, 6]
       %h = neg %g : f32[3, 6, 6]
       %i = slice %e {starts = [0, 0, 0], limits = [3, 4, 5]} : f32[3, 4, 5]
       %j = exp %i : f32[3, 4, 5]
       %k = abs %d : f32[5, 4]
       %l = mul %k, %d : f32[5, 4]
       return %l, %j, %h }",
    // Padding with all kinds of numbers, joined axes, and views that are results or are read later.
    "func @f(%x: f32[3, 4], %y: f32[2, 4], %p: f32[]) -> (f32[4, 9], f32[5, 4], f32[4], f32[600, 4]) {
       %a = pad %x, %p {low = [1, -1], high = [0, 2], interior = [0, 1]} : f32[4, 8]
       %b = pad %x, %p {low = [-5, 0], high = [6, 0]} : f32[4, 4]
       %c = concat %x, %y {axis = 0} : f32[5, 4]
       %d = mul %c, %c : f32[5, 4]
       %e = slice %a {starts = [0, 7], limits = [4, 8]} : f32[4, 1]
       %g = concat %a, %e {axis = 1} : f32[4, 9]
       %h = neg %g : f32[4, 9]
       %i = abs %h : f32[4, 9]
       %q = add %i, %g : f32[4, 9]
       %j = slice %d {starts = [4, 0], limits = [5, 4]} : f32[1, 4]
       %k = reshape %j : f32[4]
       %m = add %b, %b : f32[4, 4]
       %n = slice %m {starts = [0, 0], limits = [1, 4]} : f32[1, 4]
       %o = reshape %n : f32[4]
       %l = broadcast_in_dim %o {dims = [1]} : f32[600, 4]
       %r = exp %l : f32[600, 4]
       return %q, %d, %k, %r }",
    // Reductions of leading and middle axes of several types, and scalars next to tensors.
    "func @f(%x: f32[4, 3, 5], %i: i32[4, 3]) -> (f32[3, 5], i32[3], bool[3], f32[4, 5]) {
       %zero = constant 0.0 : f32[]
       %none = constant 7 : i32[]
       %low = constant -inf : f32[]
       %false = constant false : bool[]
       %a = reduce %x, %zero {axes = [0]} (%u: f32[], %v: f32[]) { %w = add %u, %v : f32[] yield %w } : f32[3, 5]
       %b = reduce %x, %low {axes = [1]} (%u1: f32[], %v1: f32[]) { %w1 = max %u1, %v1 : f32[] yield %w1 } : f32[4, 5]
       %c = reduce %i, %none {axes = [0]} (%u2: i32[], %v2: i32[]) { %w2 = add %u2, %v2 : i32[] yield %w2 } : i32[3]
       %k = broadcast_in_dim %none {dims = []} : i32[4, 3]
       %d = compare %i, %k {direction = gt} : bool[4, 3]
       %e = reduce %d, %false {axes = [0]} (%u3: bool[], %v3: bool[]) { %w3 = or %u3, %v3 : bool[] yield %w3 } : bool[3]
       %s = reduce %a, %zero {axes = [0, 1]} (%u4: f32[], %v4: f32[]) { %w4 = add %u4, %v4 : f32[] yield %w4 } : f32[]
       %t = neg %s : f32[]
       %g = broadcast_in_dim %t {dims = []} : f32[4, 5]
       %h = add %b, %g : f32[4, 5]
       %j = mul %h, %h : f32[4, 5]
       %m = abs %c : i32[3]
       %n = add %m, %c : i32[3]
       return %a, %n, %e, %j }",
    // Slices and updates at positions that may be out of range.
    "func @f(%x: f32[6, 4], %i: i32[], %j: i32[]) -> (f32[6, 4], f32[2, 3], u32[6, 4]) {
       %a = exp %x : f32[6, 4]
       %one = constant 1 : i32[]
       %k = add %i, %one : i32[]
       %s = dynamic_slice %a, %k, %j {sizes = [2, 3]} : f32[2, 3]
       %t = neg %s : f32[2, 3]
       %u = dynamic_update_slice %a, %t, %j, %k : f32[6, 4]
       %v = abs %u : f32[6, 4]
       %b = bitcast %x : u32[6, 4]
       %c = xor %b, %b : u32[6, 4]
       %d = or %c, %b : u32[6, 4]
       %e = add %d, %c : u32[6, 4]
       %g = sub %v, %a : f32[6, 4]
       return %g, %t, %e }",
    // Slices that one index vector selects, and updates of them, wholly and partly outside.
    "func @f(%x: f32[6, 4, 5], %i: i32[2], %j: i32[], %y: f32[2, 3]) -> (f32[2, 5], f32[6, 4, 5], f32[6, 4, 5]) {
       %a = neg %x : f32[6, 4, 5]
       %g = gather %a, %i {offset_dims = [0, 1], collapsed_dims = [1], start_index_map = [1, 0], index_vector_dim = 0, slice_sizes = [2, 1, 5]} : f32[2, 5]
       %h = neg %g : f32[2, 5]
       %b = scatter %a, %i, %h {update_window_dims = [0, 1], inserted_window_dims = [1], scatter_dims = [1, 0],
         index_vector_dim = 0} (%v: f32[], %w: f32[]) { yield %w } : f32[6, 4, 5]
       %one = constant 1 : i32[]
       %k = add %j, %one : i32[]
       %kk = reshape %k : i32[1]
       %t = transpose %y {perm = [1, 0]} : f32[3, 2]
       %r = reshape %t : f32[3, 1, 2]
       %e = add %b, %a : f32[6, 4, 5]
       %c = scatter %e, %kk, %r {update_window_dims = [0, 1, 2], scatter_dims = [2],
         index_vector_dim = 0} (%v1: f32[], %w1: f32[]) { yield %w1 } : f32[6, 4, 5]
       %d = abs %c : f32[6, 4, 5]
       %m = add %d, %b : f32[6, 4, 5]
       return %h, %m, %c }",
    // Values of many lengths, whose memory is used again, and operands that end here.
    "func @f(%x: f32[3], %y: f32[40], %z: f32[8, 8]) -> (f32[8, 8], f32[50]) {
       %a = neg %z : f32[8, 8]
       %b = exp %a : f32[8, 8]
       %zero = constant 0.0 : f32[]
       %one = constant 1.0 : f32[]
       %p = pad %x, %one {low = [2], high = [45]} : f32[50]
       %q = abs %p : f32[50]
       %c = concat %y, %x {axis = 0} : f32[43]
       %d = pad %c, %zero {low = [3], high = [4]} : f32[50]
       %e = mul %d, %q : f32[50]
       %s = reduce %b, %zero {axes = [0]} (%u: f32[], %v: f32[]) { %w = add %u, %v : f32[] yield %w } : f32[8]
       %t = broadcast_in_dim %s {dims = [1]} : f32[8, 8]
       %g = sub %b, %t : f32[8, 8]
       %h = mul %g, %g : f32[8, 8]
       %i = add %h, %g : f32[8, 8]
       %j = neg %e : f32[50]
       return %i, %j }",
];

#[test]
fn sequences_agree() {
    for (number, text) in PROGRAMS.iter().enumerate() {
        let text = format!("ptir 1 {text}");
        for seed in 0..u64::from(cases(20, 200)) {
            agree_on(&text, seed * 8 + number as u64, CLOSE);
        }
        let program = sapwood_ptir::parse(&text).unwrap();
        let inputs = inputs(&program, &mut Rng::new(3)).unwrap();
        assert!(check_predicted_peak(&program, &inputs), "no prediction for\n{text}");
        let prepared = Prepared::new(&program, "f", Some(&FastKernels)).unwrap();
        let profile = Arc::<std::sync::Mutex<RunProfile>>::default();
        let run = RunOptions { profile: Some(profile.clone()), ..options(true, 1) };
        prepared.run(&inputs, &run).unwrap();
        let steps = profile.lock().unwrap().by_time().len();
        assert!(steps <= 4, "{steps} steps in\n{text}");
    }
}

#[test]
fn sequences_use_the_memory_of_operands() {
    // Only the result is new: the sequence overwrites what the large step before it made.
    let mut text = "ptir 1 func @f(%x: f32[200, 4], %w: f32[4, 4]) -> f32[4, 4] {
      %c = dot_general %x, %x {lhs_contract = [0], rhs_contract = [0]} : f32[4, 4]
      %v0 = mul %c, %w : f32[4, 4]\n"
        .to_string();
    for i in 0..20 {
        text += &format!("%v{} = exp %v{i} : f32[4, 4]\n", i + 1);
    }
    let program = sapwood_ptir::parse(&format!("{text}return %v20 }}")).unwrap();
    let inputs = inputs(&program, &mut Rng::new(2)).unwrap();
    let prepared = Prepared::new(&program, "f", Some(&FastKernels)).unwrap();
    prepared.run(&inputs, &options(true, 1)).unwrap();
    assert_eq!(prepared.peak_bytes(), 64);
    assert_eq!(prepared.predicted_peak_bytes(), Some(64));
}

#[test]
fn random_programs_of_few_elements_agree() {
    let only = [
        "add",
        "sub",
        "mul",
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
        "dot_general",
        "dynamic_slice",
        "dynamic_update_slice",
        "constant",
    ];
    let config =
        RandomProgramConfig { only: only.to_vec(), insts: 40, ..RandomProgramConfig::default() };
    let mut compared = 0;
    for seed in 0..u64::from(cases(300, 10_000)) {
        let program = random_program(seed, &config);
        let Some(inputs) = inputs(&program, &mut Rng::new(seed)) else { continue };
        compared += 1;
        crate::fusion::agree(&program, &inputs, NumberTolerance { relative: 1e-3, absolute: 1e-4 });
        check_predicted_peak(&program, &inputs);
    }
    assert!(compared > 10, "{compared}");
}

#[test]
fn loops_with_products_and_slices_agree() {
    // A recurrent cell: the rows are read and written at the position of the iteration.
    let text = "ptir 1 func @f(%xs: f32[7, 4], %h0: f32[3], %w: f32[4, 3], %r: f32[3, 3]) -> (f32[3], f32[7, 3]) {
      %zero = constant 0 : i32[]
      %none = constant 0.0 : f32[7, 3]
      %n, %h, %out = while %zero, %h0, %none (%i: i32[], %a: f32[3], %b: f32[7, 3]) {
        %end = constant 7 : i32[] %go = compare %i, %end {direction = lt} : bool[] yield %go }
        (%j: i32[], %c: f32[3], %d: f32[7, 3]) {
          %o = constant 0 : i32[]
          %x = dynamic_slice %xs, %j, %o {sizes = [1, 4]} : f32[1, 4]
          %p = dot_general %x, %w {lhs_contract = [1], rhs_contract = [0]} : f32[1, 3]
          %q = dot_general %c, %r {lhs_contract = [0], rhs_contract = [1]} : f32[3]
          %s = reshape %p : f32[3]
          %t = add %s, %q : f32[3]
          %u = tanh %t : f32[3]
          %v = reshape %u : f32[1, 3]
          %y = dynamic_update_slice %d, %v, %j, %o : f32[7, 3]
          %one = constant 1 : i32[]
          %k = add %j, %one : i32[]
          yield %k, %u, %y } : i32[], f32[3], f32[7, 3]
      return %h, %out }";
    for seed in 0..u64::from(cases(20, 200)) {
        agree_on(text, seed, CLOSE);
    }
    let program = sapwood_ptir::parse(text).unwrap();
    let inputs = inputs(&program, &mut Rng::new(5)).unwrap();
    assert!(check_predicted_peak(&program, &inputs));
    // The same as slices that index vectors select: an update that the loop carries is made in place.
    let text = "ptir 1 func @f(%xs: f32[7, 4], %h0: f32[4], %n0: i32[]) -> (f32[4], f32[7, 4]) {
      %none = constant 0.0 : f32[7, 4]
      %n, %h, %out = while %n0, %h0, %none (%i: i32[], %a: f32[4], %b: f32[7, 4]) {
        %end = constant 9 : i32[] %go = compare %i, %end {direction = lt} : bool[] yield %go }
        (%j: i32[], %c: f32[4], %d: f32[7, 4]) {
          %at = reshape %j : i32[1]
          %x = gather %xs, %at {offset_dims = [0], collapsed_dims = [0], start_index_map = [0], index_vector_dim = 0, slice_sizes = [1, 4]} : f32[4]
          %t = add %x, %c : f32[4]
          %y = scatter %d, %at, %t {update_window_dims = [0], inserted_window_dims = [0], scatter_dims = [0],
            index_vector_dim = 0} (%v: f32[], %w: f32[]) { yield %w } : f32[7, 4]
          %one = constant 1 : i32[]
          %k = add %j, %one : i32[]
          yield %k, %t, %y } : i32[], f32[4], f32[7, 4]
      return %h, %out }";
    let program = sapwood_ptir::parse(text).unwrap();
    for start in [-3, 0, 5] {
        let mut inputs = crate::fusion::inputs(&program, &mut Rng::new(6)).unwrap();
        inputs[2] = Tensor::scalar(start).into();
        crate::fusion::agree(&program, &inputs, CLOSE);
        assert!(check_predicted_peak(&program, &inputs));
    }
}

#[test]
fn limits_hold_inside_sequences() {
    let mut text = "ptir 1 func @f(%v0: f32[8]) -> f32[8] {\n".to_string();
    for i in 0..40 {
        text += &format!("%v{} = exp %v{i} : f32[8]\n", i + 1);
    }
    let program = sapwood_ptir::parse(&format!("{text}return %v40 }}")).unwrap();
    let x: Vec<Value> = inputs(&program, &mut Rng::new(1)).unwrap();
    let fault = |options| eval::run(&program, "f", &x, &options).unwrap_err();
    let steps = fault(RunOptions { max_steps: Some(20), ..options(true, 1) });
    assert_eq!(steps.fault, eval::Fault::Steps { limit: 20 });
    assert!(steps.to_string().contains("exp"), "{steps}");
    let memory = fault(RunOptions { max_bytes: 16, ..options(true, 1) });
    assert!(matches!(memory.fault, eval::Fault::Memory { .. }), "{memory}");
    assert!(memory.to_string().contains("exp"), "{memory}");
}
