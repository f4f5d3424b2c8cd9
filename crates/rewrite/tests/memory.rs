//! The memory a pass needs besides the program. A separate test target, because the counts are for the whole process.

use std::fmt::Write;

use sapwood_ptir::parse;
use sapwood_rewrite::PassManager;
use sapwood_testing::memory::{Counting, peak_during};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// The statistics of one function are larger than this: they are summed when a function is done, not kept.
const MAX_BYTES_PER_FUNCTION: usize = 2_000;

#[test]
fn a_pass_keeps_no_statistics_of_single_functions() {
    const FUNCTIONS: usize = 4_000;
    let mut text = String::from("ptir 1\n");
    for i in 0..FUNCTIONS {
        let _ = writeln!(
            text,
            "func @f{i}(%x: f32[4]) -> f32[4] {{ %a = neg %x : f32[4] %b = neg %a : f32[4] return %b }}"
        );
    }
    for (pipeline, threads) in [("simplify", 1), ("simplify", 2), ("canonicalize", 1), ("cse", 1)] {
        let mut program = parse(&text).unwrap();
        let manager = PassManager::parse(pipeline).unwrap().threads(threads).in_place(true);
        let (report, peak) = peak_during(|| manager.run(&mut program).unwrap());
        assert_eq!(report.changed(), pipeline != "cse");
        let most = FUNCTIONS * MAX_BYTES_PER_FUNCTION;
        assert!(peak > 0 && peak < most, "{pipeline} on {threads}: {peak} bytes, at most {most}");
    }
}
