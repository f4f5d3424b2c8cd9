//! Timing of work and printing of rows, for the benchmark binaries.
//!
//! `benches/README.md` describes how to add an area or a row.
#![allow(clippy::print_stdout)] // rows are read from standard output

pub mod matchers;
pub mod programs;

use std::hint::black_box;
use std::time::{Duration, Instant};

/// A printer of the rows of one area, one JSON line each.
pub struct Area {
    name: &'static str,
}

impl Area {
    /// Creates the printer of an area, which has the name of its binary.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self { name }
    }

    /// Prints a value. `n` is the size of the work; a ratio to the peer is given only for equal sizes.
    pub fn row(&self, row: &str, value: f64, unit: &str, n: u64) {
        println!(
            "{}",
            serde_json::json!({ "area": self.name, "row": row, "value": value, "unit": unit, "n": n })
        );
    }

    /// Prints a time as nanoseconds for each of `nodes` nodes.
    pub fn per_node(&self, row: &str, time: Duration, nodes: u64) {
        self.row(row, time.as_secs_f64() * 1e9 / nodes as f64, "ns/node", nodes);
    }

    /// Prints a time in milliseconds for work of size `n`.
    pub fn millis(&self, row: &str, time: Duration, n: u64) {
        self.row(row, time.as_secs_f64() * 1e3, "ms", n);
    }

    /// Prints that a row could not be measured.
    pub fn failed(&self, row: &str, error: &str) {
        println!("{}", serde_json::json!({ "area": self.name, "row": row, "error": error }));
    }
}

/// Returns the shortest time of `repeats` runs. Their results are dropped outside the measured time.
pub fn best<T>(repeats: usize, mut work: impl FnMut() -> T) -> Duration {
    let mut least = Duration::MAX;
    for _ in 0..runs(repeats) {
        let began = Instant::now();
        let result = black_box(measured(&mut work));
        least = least.min(began.elapsed());
        drop(result);
    }
    least
}

/// Returns the shortest time of runs that consume an input. Inputs are created outside the measured time.
pub fn best_with<S, T>(
    repeats: usize,
    mut setup: impl FnMut() -> S,
    mut work: impl FnMut(S) -> T,
) -> Duration {
    let mut least = Duration::MAX;
    for _ in 0..runs(repeats) {
        let input = black_box(setup());
        let began = Instant::now();
        let result = black_box(measured(|| work(input)));
        least = least.min(began.elapsed());
        drop(result);
    }
    least
}

/// Returns the measured numbers of ops, with their names. For a count of instructions the largest is left out.
#[must_use]
pub fn sizes() -> &'static [(&'static str, usize)] {
    const SIZES: [(&str, usize); 3] = [("1e4", 10_000), ("1e5", 100_000), ("1e6", 1_000_000)];
    if counts_instructions() { &SIZES[..2] } else { &SIZES }
}

// Returns whether a profiler counts instructions, for which one run of each row is enough.
fn counts_instructions() -> bool {
    std::env::var_os("SAPWOOD_BENCH_ONCE").is_some()
}

fn runs(repeats: usize) -> usize {
    if counts_instructions() { 1 } else { repeats.max(1) }
}

// Runs the measured work. A function of its own, so that a profiler can count nothing else.
#[inline(never)]
fn measured<T>(work: impl FnOnce() -> T) -> T {
    work()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_runs_the_requested_number_of_times_and_at_least_once() {
        let mut runs = 0;
        best(3, || runs += 1);
        best(0, || runs += 1);
        assert_eq!(runs, 4);
        let mut inputs = Vec::new();
        best_with(2, || 7, |n| inputs.push(n));
        assert_eq!(inputs, [7, 7]);
    }
}
