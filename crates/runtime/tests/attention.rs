//! Products with a group between them, which run for some batches at a time, compared with the fixed-order kernels.

use std::sync::Arc;

use sapwood_check::NumberTolerance;
use sapwood_ptir::Program;
use sapwood_ptir::eval::{self, DataType, Prepared, RunOptions, RunProfile, Tensor, Value};
use sapwood_ptir::testing::Rng;
use sapwood_runtime::FastKernels;
use sapwood_testing::cases;

use crate::fusion::{agree, check_predicted_peak, options};

const CLOSE: NumberTolerance = NumberTolerance { relative: 1e-4, absolute: 1e-5 };

const SOFTMAX: &str = "%m = reduce_max %t {axes = [3], keepdims = true} : f32[B, H, Q, 1]
  %mb = broadcast_to %m : f32[B, H, Q, K]
  %d = sub %t, %mb : f32[B, H, Q, K]
  %e = exp %d : f32[B, H, Q, K]
  %u = reduce_sum %e {axes = [3], keepdims = true} : f32[B, H, Q, 1]
  %ub = broadcast_to %u : f32[B, H, Q, K]
  %p = div %e, %ub : f32[B, H, Q, K]";

/// Attention of several shapes: the weights as the left and the right operand, a mask, heads that are not neighbours in memory, operands that are used twice.
fn programs() -> Vec<String> {
    let scores = "%s = dot_general %q, %k {lhs_batch = [0, 1], rhs_batch = [0, 1], lhs_contract = [3], rhs_contract = [3]} : f32[B, H, Q, K]";
    let weighted = "%o = dot_general %p, %v {lhs_batch = [0, 1], rhs_batch = [0, 1], lhs_contract = [3], rhs_contract = [2]} : f32[B, H, Q, D]
       return %o }";
    let scaled = "%c = constant 0.125 : f32[B, H, Q, K]
       %t = mul %s, %c : f32[B, H, Q, K]";
    let plain = "%q: f32[B, H, Q, D], %k: f32[B, H, K, D], %v: f32[B, H, K, D]";
    vec![
        format!("func @f({plain}) -> f32[B, H, Q, D] {{ {scores} {scaled} {SOFTMAX} {weighted}"),
        // A mask that is repeated for all heads.
        format!(
            "func @f({plain}, %mask: bool[Q, K]) -> f32[B, H, Q, D] {{ {scores}
               %low = constant -1e30 : f32[B, H, Q, K]
               %keep = broadcast_in_dim %mask {{dims = [2, 3]}} : bool[B, H, Q, K]
               %t = select %keep, %s, %low : f32[B, H, Q, K]
               {SOFTMAX} {weighted}"
        ),
        // The heads are the third axis, and the weights the right operand.
        format!(
            "func @f(%q: f32[B, Q, H, D], %k: f32[B, K, H, D], %v: f32[B, K, H, D]) -> f32[B, H, D, Q] {{
               %s = dot_general %q, %k {{lhs_batch = [0, 2], rhs_batch = [0, 2], lhs_contract = [3], rhs_contract = [3]}} : f32[B, H, Q, K]
               {scaled} {SOFTMAX}
               %o = dot_general %v, %p {{lhs_batch = [0, 2], rhs_batch = [0, 1], lhs_contract = [1], rhs_contract = [3]}} : f32[B, H, D, Q]
               return %o }}"
        ),
        // One tensor in all roles, and scores that are multiplied by another product.
        format!(
            "func @f(%q: f32[B, H, Q, D], %k: f32[B, H, K, D], %w: f32[B, H, Q, K]) -> f32[B, H, Q, D] {{ {scores}
               %t = add %s, %w : f32[B, H, Q, K]
               {SOFTMAX}
               %o = dot_general %p, %k {{lhs_batch = [0, 1], rhs_batch = [0, 1], lhs_contract = [3], rhs_contract = [2]}} : f32[B, H, Q, D]
               return %o }}"
        ),
    ]
}

fn sized(text: &str, sizes: [usize; 5]) -> String {
    let mut text = text.to_string();
    for (name, size) in ["B", "H", "Q", "K", "D"].into_iter().zip(sizes) {
        for (before, after) in [("[", ","), (" ", ","), (" ", "]"), ("[", "]")] {
            text =
                text.replace(&format!("{before}{name}{after}"), &format!("{before}{size}{after}"));
        }
    }
    format!("ptir 1 {text}")
}

// Returns inputs between -1 and 1, and true or false.
pub(crate) fn inputs(program: &Program, rng: &mut Rng) -> Vec<Value> {
    let f = program.functions().last().unwrap();
    let mut input = |&param: &_| -> Value {
        let ty = f.value_type(param).as_tensor().unwrap();
        let shape: Vec<usize> = ty.dims.iter().map(|d| d.known().unwrap() as usize).collect();
        let len = shape.iter().product();
        let draws = std::iter::repeat_with(|| rng.below(2001)).take(len);
        if ty.dtype == DataType::Bool {
            return Tensor::new(ty.dtype, shape, draws.map(|n| n % 3 > 0).collect::<Vec<_>>())
                .into();
        }
        let all: Vec<f32> = draws.map(|n| n as f32 / 1000.0 - 1.0).collect();
        Tensor::new(ty.dtype, shape, all).into()
    };
    f.params().iter().map(&mut input).collect()
}

pub(crate) fn agree_on(text: &str, seed: u64, allowed: NumberTolerance) {
    let program = sapwood_ptir::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    agree(&program, &inputs(&program, &mut Rng::new(seed)), allowed);
}

// Returns the number of steps of a run.
fn steps(text: &str) -> usize {
    let program = sapwood_ptir::parse(text).unwrap();
    let prepared = Prepared::new(&program, "f", Some(&FastKernels)).unwrap();
    let profile = Arc::<std::sync::Mutex<RunProfile>>::default();
    let run = RunOptions { profile: Some(profile.clone()), ..options(true, 1) };
    prepared.run(&inputs(&program, &mut Rng::new(1)), &run).unwrap();
    profile.lock().unwrap().by_time().len()
}

#[test]
fn attention_agrees() {
    // Parts of a chunk, several chunks, one batch per step of the group and several, and long rows.
    let sizes = [[2, 3, 5, 7, 4], [2, 2, 33, 40, 8], [3, 8, 32, 32, 8], [5, 1, 120, 130, 3]];
    for text in programs() {
        for sizes in sizes {
            let text = sized(&text, sizes);
            assert_eq!(steps(&text), 1, "{text}");
            for seed in 0..u64::from(cases(2, 20)) {
                agree_on(&text, seed, CLOSE);
            }
            let program = sapwood_ptir::parse(&text).unwrap();
            let inputs = inputs(&program, &mut Rng::new(7));
            assert!(check_predicted_peak(&program, &inputs), "no prediction for\n{text}");
        }
    }
}

#[test]
fn special_values_agree_in_attention() {
    let special =
        [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, 1e30, -1e30, f32::MIN_POSITIVE];
    let text = sized(&programs()[0], [2, 4, 9, 9, 5]);
    let program = sapwood_ptir::parse(&text).unwrap();
    for seed in 0..u64::from(cases(30, 300)) {
        let mut rng = Rng::new(seed);
        let operand = |rng: &mut Rng| -> Value {
            let element = |_| match rng.below(60) {
                n if n < special.len() => special[n],
                n => n as f32 / 30.0 - 1.0,
            };
            let all: Vec<f32> = (0..2 * 4 * 9 * 5).map(element).collect();
            Tensor::new(DataType::F32, [2, 4, 9, 5], all).into()
        };
        let inputs: Vec<Value> = (0..3).map(|_| operand(&mut rng)).collect();
        agree(&program, &inputs, CLOSE);
    }
}

#[test]
fn scores_that_are_used_again_are_kept() {
    let text = sized(&programs()[0], [2, 4, 9, 9, 5]);
    for (result, ty) in [("%s", "f32[2, 4, 9, 9]"), ("%p", "f32[2, 4, 9, 9]")] {
        let text = text
            .replace("-> f32[2, 4, 9, 5]", &format!("-> (f32[2, 4, 9, 5], {ty})"))
            .replace("return %o", &format!("return %o, {result}"));
        assert!(steps(&text) > 1, "{text}");
        agree_on(&text, 3, CLOSE);
    }
}

#[test]
fn scores_take_the_memory_of_a_chunk() {
    let text = sized(&programs()[0], [8, 16, 32, 32, 8]);
    let program = sapwood_ptir::parse(&text).unwrap();
    let inputs = inputs(&program, &mut Rng::new(1));
    let prepared = Prepared::new(&program, "f", Some(&FastKernels)).unwrap();
    prepared.run(&inputs, &options(true, 2)).unwrap();
    let (scores, result) = (8 * 16 * 32 * 32 * 4, 8 * 16 * 32 * 8 * 4);
    assert!(prepared.peak_bytes() <= result + scores / 3, "{}", prepared.peak_bytes());
}

#[test]
fn limits_hold_inside_attention() {
    let text = sized(&programs()[0], [8, 16, 64, 64, 32]);
    let program = sapwood_ptir::parse(&text).unwrap();
    let x = inputs(&program, &mut Rng::new(1));
    let error = |options: RunOptions| eval::run(&program, "f", &x, &options).unwrap_err();
    let steps = error(RunOptions { max_steps: Some(1000), ..options(true, 2) });
    assert_eq!(steps.fault, eval::Fault::Steps { limit: 1000 });
    // The error names an instruction of the program.
    assert!(steps.to_string().contains("dot_general"), "{steps}");
    let memory = error(RunOptions { max_bytes: 1 << 16, ..options(true, 2) });
    assert!(matches!(memory.fault, eval::Fault::Memory { .. }), "{memory}");
    let stopped = error(RunOptions { stop: Some(Arc::new(|| true)), ..options(true, 1) });
    assert_eq!(stopped.fault, eval::Fault::Stopped);
}
