//! The two lines of each difference that `diff` prints are different texts.

use std::collections::BTreeSet;

use sapwood_ptir::structural::{Change, Difference, Mode, diff, equal, hash};
use sapwood_ptir::testing::{RandomProgramConfig, random_program};
use sapwood_ptir::{Program, parse};
use sapwood_testing::cases;

// Returns the printed lines of one kind, each with its function, without terminators.
fn printed_lines(
    found: &[Difference],
    change: &Change,
    side: fn(&Difference) -> &String,
) -> BTreeSet<String> {
    let of_kind = found.iter().filter(|d| d.change == *change);
    let is_end = |line: &String| line.starts_with("yield") || line.starts_with("return");
    let lines = of_kind.filter(|d| !is_end(side(d)));
    lines.map(|d| format!("@{}: {}", d.function, side(d))).collect()
}

fn check(seed: u64, a: &Program, b: &Program, mode: Mode) {
    let found = diff(a, b, mode);
    assert_eq!(found.is_empty(), equal(a, b, mode), "seed {seed}, {mode:?}\n{a}{b}");
    for difference in found.iter().filter(|d| d.change != Change::Moved) {
        let Difference { before, after, .. } = difference;
        assert_ne!(before, after, "seed {seed}, {mode:?}: {difference}\n{a}{b}");
    }
    let erased = printed_lines(&found, &Change::Erased, |d| &d.before);
    let inserted = printed_lines(&found, &Change::Inserted, |d| &d.after);
    let both: Vec<&String> = erased.intersection(&inserted).collect();
    assert!(both.is_empty(), "seed {seed}, {mode:?}: {both:?}\n{a}{b}");
}

#[test]
fn no_line_replaces_an_equal_line() {
    let config = RandomProgramConfig { insts: 20, ..RandomProgramConfig::default() };
    for seed in 0..u64::from(cases(300, 20_000)) {
        let a = parse(&random_program(seed, &config).to_string()).unwrap();
        let b = parse(&random_program(seed + 1, &config).to_string()).unwrap();
        check(seed, &a, &b, Mode::DataFlow);
        check(seed, &a, &b, Mode::Ordered);
    }
}

// Value names with another meaning, and constants that occur twice.
#[test]
fn renumbered_values_and_equal_constants() {
    let ops = ["exp %x", "neg %x", "tanh %x", "constant 1.0"];
    let program = |n: usize| {
        let op = |k: usize| ops[n / 4usize.pow(k as u32) % 4];
        let users = ["add %0, %1", "add %1, %2", "add %2, %0"];
        let user = |k: usize| users[(n / 64 + k) % 3];
        let text = format!(
            "ptir 1 func @f(%x: f32[4]) -> (f32[4], f32[4]) {{
               %0 = {} : f32[4] %1 = {} : f32[4] %2 = {} : f32[4]
               %3 = {} : f32[4] %4 = {} : f32[4] return %3, %4 }}",
            op(0),
            op(1),
            op(2),
            user(0),
            user(1),
        );
        parse(&text).unwrap()
    };
    let all: Vec<Program> = (0..192).map(program).collect();
    for (n, a) in all.iter().enumerate() {
        for b in all.iter().skip(n % 3).step_by(3) {
            check(n as u64, a, b, Mode::DataFlow);
            let again = diff(a, b, Mode::DataFlow);
            let operands = again.iter().filter(|d| matches!(d.change, Change::Operand(_)));
            for difference in operands {
                let constant = |text: &str| text.contains("constant 1.0");
                let same = constant(&difference.before) && constant(&difference.after);
                let about = difference.before.matches("where").count() > 0;
                assert!(!(same && about), "{difference}\n{a}{b}");
            }
        }
    }
}

#[test]
fn attributes_that_equal_their_defaults_are_equal_to_omitted_ones() {
    let program = |op: &str, result: &str| {
        let text = format!(
            "ptir 1 func @f(%x: f32[1, 8, 8, 2], %k: f32[3, 3, 2, 4], %z: f32[]) -> {result} {{
               %y = {op} : {result} return %y }}"
        );
        parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"))
    };
    let convolution = "convolution %x, %k {input_dims = [0, 3, 1, 2], kernel_dims = [2, 3, 0, 1], output_dims = [0, 3, 1, 2]";
    let dot = "dot_general %x, %x {lhs_contract = [0, 1, 2, 3], rhs_contract = [0, 1, 2, 3]";
    for (op, given, other, result) in [
        (
            "pad %x, %z {low = [0, 0, 0, 0], high = [1, 0, 0, 0]",
            "interior = [0, 0, 0, 0]",
            None,
            "f32[2, 8, 8, 2]",
        ),
        (
            "slice %x {starts = [0, 0, 0, 0], limits = [1, 8, 8, 1]",
            "strides = [1, 1, 1, 1]",
            // The last axis has only one element, whatever its stride.
            Some("strides = [1, 1, 1, 2]"),
            "f32[1, 8, 8, 1]",
        ),
        (
            convolution,
            "strides = [1, 1], pads = [[0, 0], [0, 0]], reversal = [0, 0]",
            Some("reversal = [0, 1]"),
            "f32[1, 6, 6, 4]",
        ),
        (
            convolution,
            "input_dilation = [1, 1], kernel_dilation = [1, 1]",
            Some("reversal = [1, 0]"),
            "f32[1, 6, 6, 4]",
        ),
        (dot, "out = f32", Some("accumulate = f64"), "f32[]"),
    ] {
        let omitted = program(&format!("{op}}}"), result);
        let explicit = program(&format!("{op}, {given}}}"), result);
        for mode in [Mode::DataFlow, Mode::Ordered] {
            assert!(equal(&omitted, &explicit, mode), "{op} {given}");
            assert_eq!(hash(&omitted, mode), hash(&explicit, mode), "{op} {given}");
        }
        assert!(diff(&omitted, &explicit, Mode::DataFlow).is_empty(), "{op} {given}");
        if let Some(other) = other {
            let different = program(&format!("{op}, {other}}}"), result);
            assert!(!equal(&omitted, &different, Mode::DataFlow), "{op} {other}");
            assert_ne!(hash(&omitted, Mode::DataFlow), hash(&different, Mode::DataFlow));
        }
    }
}
