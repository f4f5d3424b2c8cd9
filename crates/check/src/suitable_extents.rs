//! A search for extents with which a program runs, where small ones do not suit it.

use std::time::{Duration, Instant};

use sapwood_ptir::eval::{Prepared, RunOptions, Value};
use sapwood_ptir::{Function, Program};

use crate::input_generator::{InputGenerator, OpenExtents};
use crate::input_ranges::InputRange;

/// The extents that are tried, in order: networks halve images a few times, and cut audio into frames.
const SIZES: [u64; 16] =
    [4, 8, 16, 32, 48, 64, 96, 128, 224, 256, 320, 512, 640, 1024, 4096, 16000];
/// The extents of first axes, such as batches, that are tried with each size. Last, they are like the others.
const LEADING: [Option<u64>; 3] = [Some(2), Some(1), None];
/// The number of extents that are enough.
const MAX_FOUND: usize = 2;

/// Finds extents for the parameters of a function with which it runs: up to two, the smallest first.
pub(crate) fn search_extents(
    program: &Program,
    f: &Function,
    ranges: &[InputRange],
    seed: u64,
    options: &RunOptions,
) -> Vec<OpenExtents<'static>> {
    let Ok(prepared) = Prepared::new(program, f.name().as_str(), options.kernels.as_deref()) else {
        return Vec::new();
    };
    let started = Instant::now();
    let most = options.time_limit.unwrap_or(Duration::MAX);
    let mut found: Vec<OpenExtents<'static>> = Vec::new();
    for others in SIZES {
        for leading in LEADING {
            if found.len() == MAX_FOUND || started.elapsed() >= most {
                return found;
            }
            let extents = OpenExtents::Sized { leading: leading.unwrap_or(others), others };
            let generator = InputGenerator { extents, ranges, ..InputGenerator::default() };
            let Ok(inputs) = generator.inputs(f, seed) else { continue };
            if prepared
                .run(&inputs, options)
                .is_ok_and(|results| results.iter().any(|v| count(v) > 0))
            {
                found.push(extents);
                // Another size shows more than another number of first axes.
                break;
            }
        }
    }
    found
}

// Tuples nest at most 64 deep.
fn count(value: &Value) -> usize {
    match value {
        Value::Tensor(tensor) => tensor.len(),
        Value::Tuple(values) => values.iter().map(count).sum(),
        Value::Token => 0,
    }
}
