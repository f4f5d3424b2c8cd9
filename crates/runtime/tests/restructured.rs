//! Products that read the operands of transposes, and convolutions that add the zeros of pads.

use sapwood_check::NumberTolerance;
use sapwood_ptir::eval::{Prepared, RunOptions, RunProfile};
use sapwood_ptir::testing::Rng;
use sapwood_runtime::FastKernels;

use crate::attention::{agree_on, inputs};
use crate::fusion::{check_predicted_peak, options};

const CLOSE: NumberTolerance = NumberTolerance { relative: 1e-4, absolute: 1e-4 };

// Returns the names of the ops that run as steps.
fn steps(text: &str) -> Vec<String> {
    let program = sapwood_ptir::parse(text).unwrap();
    let prepared = Prepared::new(&program, "f", Some(&FastKernels)).unwrap();
    let profile = std::sync::Arc::<std::sync::Mutex<RunProfile>>::default();
    let run = RunOptions { profile: Some(profile.clone()), ..options(true, 1) };
    let inputs = inputs(&program, &mut Rng::new(1));
    prepared.run(&inputs, &run).unwrap();
    let profile = profile.lock().unwrap();
    profile.by_time().iter().flat_map(|entry| entry.ops.iter().map(ToString::to_string)).collect()
}

#[test]
fn products_read_the_operands_of_transposes() {
    let product = |types: &str, perms: [&str; 2], shapes: [&str; 2], attrs: &str, result: &str| {
        format!(
            "ptir 1 func @f({types}) -> f32{result} {{
               %s = transpose %x {{perm = {}}} : f32{}
               %t = transpose %y {{perm = {}}} : f32{}
               %p = dot_general %s, %t {{{attrs}}} : f32{result}
               return %p }}",
            perms[0], shapes[0], perms[1], shapes[1]
        )
    };
    let matrices = "%x: f32[70, 50], %y: f32[60, 70]";
    let batches = "%x: f32[3, 40, 50], %y: f32[50, 60, 3]";
    let several = "%x: f32[4, 5, 60], %y: f32[70, 4, 5]";
    let cases = [
        (
            product(
                matrices,
                ["[1, 0]", "[1, 0]"],
                ["[50, 70]", "[70, 60]"],
                "lhs_contract = [1], rhs_contract = [0]",
                "[50, 60]",
            ),
            0,
        ),
        (
            product(
                batches,
                ["[0, 2, 1]", "[2, 1, 0]"],
                ["[3, 50, 40]", "[3, 60, 50]"],
                "lhs_batch = [0], rhs_batch = [0], lhs_contract = [1], rhs_contract = [2]",
                "[3, 40, 60]",
            ),
            0,
        ),
        // Axes that are contracted together stay neighbours on one side only.
        (
            product(
                several,
                ["[2, 0, 1]", "[1, 2, 0]"],
                ["[60, 4, 5]", "[4, 5, 70]"],
                "lhs_contract = [1, 2], rhs_contract = [0, 1]",
                "[60, 70]",
            ),
            0,
        ),
        (
            product(
                several,
                ["[2, 1, 0]", "[2, 1, 0]"],
                ["[60, 5, 4]", "[5, 4, 70]"],
                "lhs_contract = [1, 2], rhs_contract = [0, 1]",
                "[60, 70]",
            ),
            2,
        ),
        // The free axes would change their order in the result.
        (
            product(
                several,
                ["[1, 0, 2]", "[0, 1, 2]"],
                ["[5, 4, 60]", "[70, 4, 5]"],
                "lhs_batch = [], lhs_contract = [0], rhs_contract = [2]",
                "[4, 60, 70, 4]",
            ),
            1,
        ),
    ];
    for (text, transposes) in &cases {
        agree_on(text, 4, CLOSE);
        let left = steps(text).iter().filter(|op| *op == "transpose").count();
        assert!(left <= *transposes, "{left} transposes in\n{text}");
        let program = sapwood_ptir::parse(text).unwrap();
        assert!(check_predicted_peak(&program, &inputs(&program, &mut Rng::new(3))));
    }
}

#[test]
fn convolutions_add_the_zeros_of_pads() {
    let padded = |value: &str,
                  low: &str,
                  high: &str,
                  interior: &str,
                  shape: [usize; 4],
                  pads: &str,
                  result: [usize; 4]| {
        format!(
            "ptir 1 func @f(%x: f32[2, 9, 8, 4], %k: f32[3, 3, 4, 5]) -> f32{result:?} {{
               %zero = constant {value} : f32[]
               %p = pad %x, %zero {{low = {low}, high = {high}, interior = {interior}}} : f32{shape:?}
               %y = convolution %p, %k {{input_dims = [0, 3, 1, 2], kernel_dims = [2, 3, 0, 1], output_dims = [0, 3, 1, 2]{pads}}} : f32{result:?}
               return %y }}"
        )
    };
    let none = "[0, 0, 0, 0]";
    let cases = [
        (padded("0.0", none, "[0, 1, 2, 0]", none, [2, 10, 10, 4], "", [2, 8, 8, 5]), false),
        (
            padded(
                "0.0",
                "[0, 3, 0, 0]",
                "[0, 1, 2, 0]",
                none,
                [2, 13, 10, 4],
                ", pads = [[1, 0], [0, 2]]",
                [2, 12, 10, 5],
            ),
            false,
        ),
        // Another number, a negative zero, zeros inside, images of zeros, and elements that are removed.
        (padded("1.0", none, "[0, 1, 2, 0]", none, [2, 10, 10, 4], "", [2, 8, 8, 5]), true),
        (padded("-0.0", none, "[0, 1, 2, 0]", none, [2, 10, 10, 4], "", [2, 8, 8, 5]), true),
        (padded("0.0", none, none, "[0, 1, 0, 0]", [2, 17, 8, 4], "", [2, 15, 6, 5]), true),
        (padded("0.0", "[0, 0, -1, 0]", none, none, [2, 9, 7, 4], "", [2, 7, 5, 5]), true),
        (
            padded(
                "0.0",
                none,
                "[0, 2, 0, 0]",
                none,
                [2, 11, 8, 4],
                ", pads = [[-1, 0], [0, 0]]",
                [2, 8, 6, 5],
            ),
            true,
        ),
    ];
    for (text, is_kept) in &cases {
        agree_on(text, 4, CLOSE);
        assert_eq!(steps(text).iter().any(|op| op == "pad"), *is_kept, "{text}");
        let program = sapwood_ptir::parse(text).unwrap();
        assert!(check_predicted_peak(&program, &inputs(&program, &mut Rng::new(3))));
    }
}
