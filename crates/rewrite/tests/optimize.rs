//! `optimize`: programs mean the same after it, and take fewer operations.

use sapwood_ptir::cost::of_program;
use sapwood_ptir::testing::{RandomProgramConfig, Rng, random_program};
use sapwood_ptir::{Program, parse, verify};
use sapwood_rewrite::{FloatMode, PassManager};
use sapwood_testing::cases;

use crate::meaning::agree;

fn optimized(program: &Program, pipeline: &str) -> Program {
    let mut after = program.clone();
    PassManager::parse(pipeline).unwrap().run(&mut after).unwrap();
    verify(&after).unwrap_or_else(|problems| panic!("{problems}\n{program}\n{after}"));
    after
}

fn flops(program: &Program) -> u128 {
    of_program(program)[0].flops.known().unwrap()
}

// A random product tree over a chain of matrices, as text. Returns the name of its value; values are transposed at random.
struct ChainText<'a> {
    rng: &'a mut Rng,
    extents: Vec<u64>,
    params: Vec<String>,
    lines: Vec<String>,
}

impl ChainText<'_> {
    // Returns a value for the matrices `first..=last`, and true if its rows are its second axis.
    fn product(&mut self, first: usize, last: usize) -> (String, bool) {
        let (rows, columns) = (self.extents[first], self.extents[last + 1]);
        if first == last {
            let is_transposed = self.rng.below(2) == 0;
            let (a, b) = if is_transposed { (columns, rows) } else { (rows, columns) };
            self.params.push(format!("%m{first}: i32[{a}, {b}]"));
            return (format!("%m{first}"), is_transposed);
        }
        let split = first + self.rng.below(last - first);
        let (left, left_transposed) = self.product(first, split);
        let (right, right_transposed) = self.product(split + 1, last);
        let name = format!("%p{}", self.lines.len());
        // The transposed product is the product of the transposed operands in the other order.
        let is_transposed = self.rng.below(2) == 0;
        let left = (left, i32::from(!left_transposed));
        let right = (right, i32::from(right_transposed));
        let ((lhs, lc), (rhs, rc)) = if is_transposed { (right, left) } else { (left, right) };
        let (a, b) = if is_transposed { (columns, rows) } else { (rows, columns) };
        self.lines.push(format!(
            "{name} = dot_general {lhs}, {rhs} {{lhs_contract = [{lc}], rhs_contract = [{rc}]}} : i32[{a}, {b}]"
        ));
        (name, is_transposed)
    }
}

// The fewest operations over all orders, by trying every one.
fn fewest(extents: &[u64]) -> u128 {
    if extents.len() <= 2 {
        return 0;
    }
    let splits = 1..extents.len() - 1;
    let ends = u128::from(extents[0]) * u128::from(extents[extents.len() - 1]);
    let cost = |k: usize| {
        fewest(&extents[..=k]) + fewest(&extents[k..]) + 2 * ends * u128::from(extents[k])
    };
    splits.map(cost).min().unwrap()
}

#[test]
fn chains_reach_the_fewest_operations() {
    for seed in 0..cases(1000, 20_000) as u64 {
        let mut rng = Rng::new(seed);
        let count = 2 + rng.below(6);
        let extents: Vec<u64> = (0..=count).map(|_| 1 + rng.below(9) as u64).collect();
        let mut text = ChainText {
            rng: &mut rng,
            extents: extents.clone(),
            params: Vec::new(),
            lines: Vec::new(),
        };
        let (result, is_transposed) = text.product(0, count - 1);
        let (rows, columns) = (extents[0], extents[count]);
        let (a, b) = if is_transposed { (columns, rows) } else { (rows, columns) };
        let program = format!(
            "ptir 1\nfunc @f({}) -> i32[{a}, {b}] {{\n{}\nreturn {result}\n}}\n",
            text.params.join(", "),
            text.lines.join("\n")
        );
        let before = parse(&program).unwrap_or_else(|problems| panic!("{problems}\n{program}"));
        let after = optimized(&before, "optimize");
        assert_eq!(flops(&after), fewest(&extents), "seed {seed}\n{before}\n{after}");
        // Integers are exact in every order.
        let name = before.functions()[0].name();
        agree(&before, &after, name, FloatMode::Exact, 0..2)
            .unwrap_or_else(|why| panic!("seed {seed}: {why}\n{before}\n{after}"));
    }
}

#[test]
fn random_programs_mean_the_same_and_take_no_more_operations() {
    let config = RandomProgramConfig {
        functions: 1,
        insts: 20,
        only: vec![
            "dot_general",
            "dot_general",
            "slice",
            "dynamic_slice",
            "reduce_sum",
            "broadcast_in_dim",
            "broadcast_to",
            "add",
            "sub",
        ],
        return_unused: false,
    };
    let mut changed = 0;
    for seed in 0..cases(1500, 20_000) as u64 {
        let before = random_program(seed, &config);
        for mode in [FloatMode::Exact, FloatMode::Fast] {
            let after = optimized(&before, &format!("optimize{{float={mode}}}"));
            for (old, new) in of_program(&before).iter().zip(of_program(&after)) {
                let rises = new.flops.at_most(old.flops) == Some(false);
                assert!(!rises, "seed {seed}: {} to {}\n{before}", old.flops, new.flops);
            }
            changed += usize::from(before.to_string() != after.to_string());
            for function in before.functions() {
                agree(&before, &after, function.name(), mode, 0..2)
                    .unwrap_or_else(|why| panic!("seed {seed}: {why}\n{before}\n{after}"));
            }
        }
    }
    assert!(changed > 50, "only {changed} programs were changed");
}
