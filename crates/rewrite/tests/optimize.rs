//! `optimize`: programs mean the same after it, and take fewer operations.

use sapwood_ptir::cost::{Amount, FunctionCost, of_program};
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
        // A product over an axis of extent one becomes elementwise, for which other orders are cheaper.
        let extents: Vec<u64> = (0..=count).map(|_| 2 + rng.below(8) as u64).collect();
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

// Returns the amount of a cost, by the name of the goal.
fn amount(cost: &FunctionCost, goal: &str) -> Amount {
    match goal {
        "flops" => cost.flops,
        "bytes" => cost.bytes,
        _ => cost.peak_memory,
    }
}

// Optimizes random programs of some ops for each goal, and compares costs and results.
fn check_random_programs(only: &[&'static str], count: u32) {
    let config =
        RandomProgramConfig { functions: 1, insts: 20, only: only.to_vec(), return_unused: false };
    let mut changed = 0;
    let goals = ["flops", "bytes", "memory", "flops|bytes", "flops|bytes|memory"];
    for seed in 0..u64::from(count) {
        let before = random_program(seed, &config);
        let costs = of_program(&before);
        let mode = if seed % 3 == 0 { FloatMode::Exact } else { FloatMode::Fast };
        let goal = goals[seed as usize % goals.len()];
        let after = optimized(&before, &format!("optimize{{cost={goal},float={mode}}}"));
        if before.to_string() == after.to_string() {
            continue;
        }
        changed += 1;
        for (old, new) in costs.iter().zip(of_program(&after)) {
            for goal in goal.split('|') {
                let (old, new) = (amount(old, goal), amount(&new, goal));
                // A program whose cost was not known may have any cost.
                let holds = new == old || new.at_most(old) != Some(false) || old == Amount::Unknown;
                assert!(holds, "seed {seed}: {goal} from {old} to {new}\n{before}\n{after}");
            }
        }
        for function in before.functions() {
            agree(&before, &after, function.name(), mode, 0..2)
                .unwrap_or_else(|why| panic!("seed {seed}: {why}\n{before}\n{after}"));
        }
    }
    assert!(changed * 40 > count, "only {changed} of {count} programs were changed");
}

#[test]
fn random_programs_mean_the_same_and_cost_no_more() {
    let only = [
        "dot_general",
        "dot_general",
        "slice",
        "dynamic_slice",
        "reduce_sum",
        "broadcast_in_dim",
        "broadcast_to",
        "add",
        "sub",
        "scan",
    ];
    check_random_programs(&only, cases(1500, 20_000));
}

#[test]
fn random_programs_of_other_laws_mean_the_same_and_cost_no_more() {
    let only = [
        "dot_general",
        "dot_general",
        "gather",
        "pad",
        "iota",
        "compare",
        "select",
        "cast",
        "mul",
        "div",
        "neg",
        "tanh",
        "concat",
        "slice",
        "reduce_sum",
        "reshape",
        "transpose",
        "while",
        "scan",
    ];
    check_random_programs(&only, cases(1500, 20_000));
}

#[test]
fn the_measured_programs_become_cheaper() {
    let folder = sapwood_testing::repository().join("tests/oracle/optimize");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let before = parse(&std::fs::read_to_string(&path).unwrap())
            .unwrap_or_else(|problems| panic!("{}: {problems}", path.display()));
        let after = optimized(&before, "optimize{float=fast}");
        let (old, new) = (&of_program(&before)[0], &of_program(&after)[0]);
        let falls = |goal| amount(new, goal).known() < amount(old, goal).known();
        // A batch has the operations of its parts, and moves fewer bytes.
        let is_cheaper = falls("flops") || new.flops == old.flops && falls("bytes");
        assert!(is_cheaper, "{}: {old:?} to {new:?}", path.display());
        count += 1;
    }
    assert_eq!(count % 3, 0, "each law has three programs");
    assert!(count >= 51, "only {count} programs");
}

#[test]
fn a_loop_stays_if_all_steps_together_take_too_much_memory() {
    let text = "ptir 1 func @f(%x: i32[100000]) -> (i64[], i32[100000]) {
       %zero = constant 0 : i64[]
       %one = constant 1 : i64[]
       %end = constant 1000000000 : i64[]
       %i, %sum, %y = while %zero, %zero, %x (%a: i64[], %b: i64[], %v: i32[100000]) {
         %go = compare %a, %end {direction = lt} : bool[] yield %go }
         (%c: i64[], %d: i64[], %w: i32[100000]) {
         %next = add %c, %one : i64[]
         %more = add %d, %c : i64[]
         %u = xor %w, %x : i32[100000]
         yield %next, %more, %u } : i64[], i64[], i32[100000]
       return %sum, %y }";
    let after = optimized(&parse(text).unwrap(), "optimize{float=fast}").to_string();
    assert!(after.contains("while"), "{after}");
    assert!(!after.contains("[1000000000"), "{after}");
}

// Returns a chain of products, or layers of a product, a sum and a `tanh`.
fn large_program(layers: usize, is_chain: bool) -> Program {
    let mut text =
        "ptir 1\nfunc @f(%v0: f32[4, 4], %w: f32[4, 4], %b: f32[4, 4]) -> f32[4, 4] {\n".to_owned();
    for n in 0..layers {
        let product = "dot_general %v{n}, %w {lhs_contract = [1], rhs_contract = [0]} : f32[4, 4]";
        let product = product.replace("{n}", &n.to_string());
        text += &match is_chain {
            true => format!("%v{} = {product}\n", n + 1),
            false => format!(
                "%p{n} = {product}\n%s{n} = add %p{n}, %b : f32[4, 4]\n%v{} = tanh %s{n} : f32[4, 4]\n",
                n + 1
            ),
        };
    }
    text += &format!("return %v{layers}\n}}\n");
    parse(&text).unwrap_or_else(|problems| panic!("{problems}"))
}

#[test]
fn attempts_grow_linearly() {
    for is_chain in [false, true] {
        let attempts = |layers, pass| {
            let mut program = large_program(layers, is_chain);
            let manager = PassManager::parse(&format!("{pass}{{float=fast}}")).unwrap();
            let report = manager.run(&mut program).unwrap();
            report.passes[0].greedy.as_ref().unwrap().attempts
        };
        let layers = cases(10_000, 1_000_000) as usize;
        let (few, many) = (attempts(layers / 10, "optimize"), attempts(layers, "optimize"));
        assert!(many <= 11 * few, "{few} attempts, and {many} with ten times as many layers");
        // `tests/oracle/instructions.py` counts the instructions of both passes.
        let of_simplify = attempts(layers / 10, "simplify");
        assert!(few <= 2 * of_simplify, "{few} attempts, and {of_simplify} of `simplify`");
    }
}

// Returns branches on one condition and its negation, between other uses of it.
fn random_branches(rng: &mut Rng) -> Program {
    let mut text = String::from(
        "ptir 1\nfunc @f(%c0: bool[], %v0: f32[4], %v1: f32[4]) -> (f32[4], f32[4]) {\n%c1 = not %c0 : bool[]\n",
    );
    let count = rng.below(24) + 4;
    for i in 2..count {
        let (a, b, c) = (rng.below(i), rng.below(i), rng.below(2));
        let unary = |rng: &mut Rng| ["exp", "neg", "tanh"][rng.below(3)];
        let (then, otherwise) = (unary(rng), unary(rng));
        text += &match rng.below(4) {
            0 => format!("%v{i} = select %c{c}, %v{a}, %v{b} : f32[4]\n"),
            1 => format!("%v{i} = sub %v{a}, %v{b} : f32[4]\n"),
            _ => format!(
                "%v{i} = cond %c{c} () {{ %t{i} = {then} %v{a} : f32[4] %m{i} = mul %t{i}, %v{b} : f32[4] yield %m{i} }} \
                 () {{ %o{i} = {otherwise} %v{a} : f32[4] yield %o{i} }} : f32[4]\n"
            ),
        };
    }
    text += &format!("return %v{}, %v{} }}", count - 1, count - 2);
    parse(&text).unwrap_or_else(|problems| panic!("{problems}"))
}

#[test]
fn a_pass_depends_on_the_printed_program_alone() {
    for seed in 0..u64::from(cases(60, 2_000)) {
        let before = random_branches(&mut Rng::new(seed));
        let simplified = optimized(&before, "simplify");
        // After edits, the uses of values have another order than after parsing.
        let parsed = parse(&simplified.to_string()).unwrap();
        let (a, b) = (optimized(&simplified, "optimize"), optimized(&parsed, "optimize"));
        assert_eq!(a.to_string(), b.to_string(), "{simplified}");
    }
}

#[test]
fn loops_in_loops_take_linear_time() {
    // A law that looked into the whole nest at each loop would not finish.
    let depth = cases(20_000, 200_000) as usize;
    let mut text =
        String::from("ptir 1\nfunc @f(%x0: f32[4]) -> f32[4] {\n%zero = constant 0 : i32[]\n");
    for i in 0..depth {
        text += &format!(
            "%r{i}, %y{i} = while %zero, %x{i} (%i{i}: i32[], %a{i}: f32[4]) {{\n\
             %m{i} = compare %i{i}, 3:i32[] {{direction = lt}} : bool[]\nyield %m{i} }} \
             (%j{i}: i32[], %x{}: f32[4]) {{\n",
            i + 1
        );
    }
    text += &format!("%y{depth} = exp %x{depth} : f32[4]\n");
    for i in (0..depth).rev() {
        text += &format!(
            "%n{i} = add %j{i}, 1:i32[] : i32[]\nyield %n{i}, %y{} }} : i32[], f32[4]\n",
            i + 1
        );
    }
    text += "return %y0 }";
    let program = parse(&text).unwrap_or_else(|problems| panic!("{problems}"));
    let after = optimized(&program, "optimize");
    assert_eq!(after.to_string().matches(" = while ").count(), depth);
}

#[test]
fn simplify_leaves_work_outside_of_loops() {
    let text = "ptir 1 func @f(%x: f32[10, 10]) -> f32[9, 10] {
       %zero = constant 0 : i32[]
       %one = constant 1 : i32[]
       %end = constant 100 : i32[]
       %start = slice %x {starts = [1, 0], limits = [10, 10]} : f32[9, 10]
       %e = exp %x : f32[10, 10]
       %i, %y = while %zero, %start (%a: i32[], %v: f32[9, 10]) {
         %go = compare %a, %end {direction = lt} : bool[] yield %go }
         (%c: i32[], %w: f32[9, 10]) {
         %next = add %c, %one : i32[]
         %s = slice %e {starts = [0, 0], limits = [9, 10]} : f32[9, 10]
         %u = mul %w, %s : f32[9, 10]
         yield %next, %u } : i32[], f32[9, 10]
       return %y }";
    let after = optimized(&parse(text).unwrap(), "simplify").to_string();
    assert!(after.find("exp").unwrap() < after.find("while").unwrap(), "{after}");
}
