//! All shipped patterns over programs of growing size: visits and attempts grow only with instructions and changes, in deep
//! nests too. Quadratic behaviour would not finish here.

use std::fmt::Write;

use sapwood_ptir::{Program, parse, verify};
use sapwood_rewrite::{
    FrozenPatternSet, GreedyConfig, GreedyStats, PatternSet, apply_patterns_and_fold_greedily,
    canonicalize,
};
use sapwood_testing::{is_full, on_small_stack};

fn shipped() -> FrozenPatternSet {
    let mut set = PatternSet::new();
    canonicalize::populate_canonicalization(&mut set);
    set.freeze()
}

// Up to 10^6 in the second tier.
fn sizes() -> Vec<usize> {
    let mut sizes = vec![1_000, 10_000, 100_000];
    sizes.extend(is_full().then_some(1_000_000));
    sizes
}

fn changes(stats: &GreedyStats) -> usize {
    stats.rewrites + stats.folds + stats.erased + stats.merged
}

/// The largest number of patterns of one op.
const BUCKET: usize = 48;

// Visits per instruction and per change; each visit tries the patterns of one op.
fn assert_linear(what: &str, insts: usize, stats: &GreedyStats) {
    assert!(stats.converged, "{what}: {:?} {:?}", stats.stopped_by, stats.last_fired);
    assert_eq!(stats.problems, [], "{what}");
    let bound = 3 * insts + 16 * changes(stats);
    assert!(stats.visits <= bound, "{what} of {insts}: {} visits, {stats:?}", stats.visits);
    let bound = BUCKET * bound;
    assert!(stats.attempts <= bound, "{what} of {insts}: {} attempts, {stats:?}", stats.attempts);
}

fn run(what: &str, program: &Program, set: &FrozenPatternSet) -> GreedyStats {
    let insts = program.num_insts();
    let mut last = GreedyStats::default();
    // Every kind on small programs; one that contains everything on large ones.
    let small = insts < 20_000;
    let ways = [(true, false), (false, false), (true, true)];
    for (merge_equal, top_down) in ways.into_iter().take(if small { 3 } else { 1 }) {
        let config = GreedyConfig {
            merge_equal,
            top_down,
            expensive_checks: false,
            verify_input: false,
            ..GreedyConfig::default()
        };
        let mut program = program.clone();
        let f = program.function_mut("f").unwrap();
        last = apply_patterns_and_fold_greedily(f, set, &config).unwrap();
        assert_linear(what, insts, &last);
        if small {
            f.check_indices().unwrap_or_else(|e| panic!("{what}: {e}"));
            verify(&program).unwrap_or_else(|p| panic!("{what}: {p}"));
            let f = program.function_mut("f").unwrap();
            let again = apply_patterns_and_fold_greedily(f, set, &config).unwrap();
            assert_eq!(changes(&again), 0, "{what}: a second run");
        }
    }
    last
}

#[test]
fn the_cost_of_chains_is_linear_in_their_length() {
    let set = shipped();
    for n in sizes() {
        let chain = |ty: &str, line: &dyn Fn(usize) -> String| {
            let mut text = format!("ptir 1\nfunc @f(%v0: {ty}, %y: {ty}) -> {ty} {{\n");
            for i in 0..n {
                let _ = writeln!(
                    text,
                    "  %v{} = {} : {ty}",
                    i + 1,
                    line(i).replace('@', &format!("%v{i}"))
                );
            }
            let _ = writeln!(text, "  return %v{n}\n}}");
            parse(&text).unwrap()
        };
        run("sums", &chain("i32[4]", &|i| format!("add @, {}:i32[4]", i + 1)), &set);
        let mixed = ["neg @", "sub %y, @", "mul @, -1.0:f32[]", "add @, %y", "abs @", "max @, @"];
        run("mixed", &chain("f32[]", &|i| mixed[i % mixed.len()].into()), &set);
        // Transposes move down, and meet the next one.
        let transposed = ["tanh @", "exp @", "transpose @ {perm = [1, 0]}", "mul @, @"];
        run("transposes", &chain("f32[4, 4]", &|i| transposed[i % 4].into()), &set);
        run("close transposes", &chain("f32[4, 4]", &|i| transposed[i % 2 + 1].into()), &set);
        run("nothing to do", &chain("f32[]", &|i| ["sin @", "mul @, %y"][i % 2].into()), &set);
    }
}

#[test]
fn the_cost_of_stars_is_linear_in_their_width() {
    let set = shipped();
    for n in sizes() {
        let half = n / 2;
        let mut text = String::from("ptir 1\nfunc @f(%x: f32[], %y: f32[]) -> f32[] {\n");
        text += "  %h0 = cos %x : f32[]\n";
        for i in 1..half {
            let _ =
                writeln!(text, "  %h{i} = {} %h{} : f32[]", ["neg", "abs", "sin"][i % 3], i - 1);
        }
        let mut leaves = String::new();
        for i in 0..half {
            let op = ["neg %h", "add %y, %h", "sin %h"][i % 3];
            let _ = writeln!(text, "  %l{i} = {op}{} : f32[]", half - 1);
            let _ = write!(leaves, "{}%l{i}", if i == 0 { "" } else { ", " });
        }
        let types = vec!["f32[]"; half].join(", ");
        let names: Vec<String> = (0..half).map(|i| format!("%b{i}")).collect();
        let _ = writeln!(text, "  {} = optimization_barrier {leaves} : {types}", names.join(", "));
        let _ = writeln!(text, "  return %b0\n}}");
        run("star", &parse(&text).unwrap(), &set);
    }
}

#[test]
fn the_cost_of_grids_is_linear() {
    let set = shipped();
    for n in sizes() {
        let width = 50;
        let mut text = String::from("ptir 1\nfunc @f(%x: f32[2, 3]) -> f32[2, 3] {\n");
        for j in 0..width {
            let _ = writeln!(text, "  %v0_{j} = cos %x : f32[2, 3]");
        }
        for at in 0..n / width / 2 {
            for j in 0..width {
                let (a, b) = (j, (j + 1) % width);
                let op = ["add", "sub", "mul"][(at + j) % 3];
                let _ = writeln!(text, "  %u{at}_{j} = {op} %v{at}_{a}, %v{at}_{b} : f32[2, 3]");
                let op = ["neg", "exp", "abs"][(at + j) % 3];
                let _ = writeln!(text, "  %v{}_{j} = {op} %u{at}_{j} : f32[2, 3]", at + 1);
            }
        }
        let _ = writeln!(text, "  return %v{}_0\n}}", n / width / 2);
        run("grid", &parse(&text).unwrap(), &set);
    }
}

// Builds a nest from the text before the body of each level and the text after it. The value of level i is `%r{i}`.
fn nest(depth: usize, open: impl Fn(usize) -> String, close: impl Fn(usize) -> String) -> Program {
    let mut text =
        String::from("ptir 1\nfunc @f(%p: bool[], %x: f32[]) -> f32[] {\n%q = not %p : bool[]\n");
    for i in 0..depth {
        text += &open(i);
        text.push('\n');
    }
    let _ = writeln!(text, "%r{depth} = sin %x : f32[]");
    for i in (0..depth).rev() {
        text += &close(i);
        text.push('\n');
    }
    text += "return %r0\n}";
    parse(&text).unwrap_or_else(|p| panic!("{p}"))
}

fn nests(
    what: &str,
    per_level: usize,
    open: &(dyn Fn(usize) -> String + Sync),
    close: &(dyn Fn(usize, usize) -> String + Sync),
) {
    on_small_stack(|| {
        let set = shipped();
        for n in sizes() {
            let program = nest(n / per_level, open, |i| close(i, i + 1));
            run(what, &program, &set);
        }
    });
}

#[test]
fn the_cost_of_nested_negated_conditions_is_linear() {
    nests("cond(not p)", 6, &|i| format!("%r{i} = cond %q () {{"), &|_, n| {
        format!(
            "%s{n} = cos %r{n} : f32[]\nyield %s{n} }} () {{ %t{n} = exp %x : f32[] yield %t{n} }} : f32[]"
        )
    });
}

#[test]
fn the_cost_of_nests_with_unused_results_is_linear() {
    nests("unused results", 6, &|i| format!("%r{i}, %u{i} = cond %p () {{"), &|_, n| {
        format!(
            "%s{n} = cos %r{n} : f32[]\nyield %s{n}, %r{n} }} () {{ yield %x, %x }} : f32[], f32[]"
        )
    });
}

// Nests scans. The elements that a scan yields need its carry, or only the inner result.
fn nested_scans(what: &str, keeps_carry: bool) {
    nests(
        what,
        4,
        &|i| format!("%c{i}, %y{i} = scan %x {{carried = 1, length = 3}} (%a{i}: f32[]) {{"),
        &|i, n| {
            let element = if keeps_carry { format!("%s{i}") } else { format!("%r{n}") };
            format!(
                "%s{i} = add %a{i}, %r{n} : f32[]\nyield %s{i}, {element} }} : f32[], f32[3]\n\
                 %r{i} = reduce_max %y{i} {{axes = [0]}} : f32[]"
            )
        },
    );
}

#[test]
fn the_cost_of_nested_scans_that_keep_a_carry_is_linear() {
    nested_scans("scan, live carry", true);
}

#[test]
fn the_cost_of_nested_scans_that_lose_a_carry_is_linear() {
    nested_scans("scan, dead carry", false);
}

#[test]
fn the_cost_of_nested_loops_with_an_invariant_is_linear() {
    nests(
        "while, invariant carry",
        6,
        &|i| {
            format!(
                "%r{i}, %u{i}, %k{i} = while %x, %x, %x (%a{i}: f32[], %b{i}: f32[], %d{i}: f32[]) {{\n\
                 %g{i} = compare %a{i}, %x {{direction = lt}} : bool[] yield %g{i} }} \
                 (%e{i}: f32[], %f{i}: f32[], %h{i}: f32[]) {{"
            )
        },
        &|i, n| {
            format!(
                "%s{i} = add %e{i}, %r{n} : f32[] %t{i} = mul %s{i}, %f{i} : f32[] \
                 %w{i} = exp %h{i} : f32[] yield %t{i}, %f{i}, %w{i} }} : f32[], f32[], f32[]"
            )
        },
    );
}

// The carried value of each level is used only at the bottom.
#[test]
fn the_cost_of_nests_whose_carries_are_used_deep_inside_is_linear() {
    on_small_stack(|| {
        let set = shipped();
        for n in sizes() {
            let depth = n / 5;
            let mut text = String::from("ptir 1\nfunc @f(%p: bool[], %x: f32[]) -> f32[] {\n");
            for i in 0..depth {
                let _ = writeln!(
                    text,
                    "%c{i}, %y{i} = scan %x {{carried = 1, length = 3}} (%a{i}: f32[]) {{"
                );
            }
            let _ = writeln!(text, "%m0 = sin %x : f32[]");
            for i in 0..depth {
                let _ = writeln!(text, "%m{} = add %m{i}, %a{i} : f32[]", i + 1);
            }
            let _ = writeln!(text, "%r{depth} = neg %m{depth} : f32[]");
            for i in (0..depth).rev() {
                let _ = writeln!(text, "yield %r{0}, %r{0} }} : f32[], f32[3]", i + 1);
                let _ = writeln!(text, "%r{i} = reduce_max %y{i} {{axes = [0]}} : f32[]");
            }
            text += "return %r0\n}";
            run("deep uses", &parse(&text).unwrap(), &set);
        }
    });
}

// Each carried value becomes the one before it, and all start equal: none is found invariant before the one it depends on.
#[test]
fn chains_of_invariant_carries_go_at_once() {
    let set = shipped();
    let list = |of: &dyn Fn(usize) -> String, n: usize| (0..n).map(of).collect::<String>();
    for n in sizes().into_iter().filter(|&n| n <= 100_000).map(|n| n / 4) {
        let inits = list(&|_| ", %x".into(), n);
        let types = list(&|_| ", f32[]".into(), n);
        let names = |tag: &str| list(&|i| format!(", %{tag}{i}"), n);
        let params = |tag: &str| list(&|i| format!(", %{tag}{i}: f32[]"), n);
        let last = list(&|i| format!(", %b{}", i.saturating_sub(1)), n);
        let text = format!(
            "ptir 1\nfunc @f(%p: bool[], %x: f32[]) -> f32[] {{
             %r{0} = while %x{inits} (%a{1}) {{
               %g = compare %a, %x {{direction = lt}} : bool[] yield %g
             }} (%b{2}) {{
               %s = add %b, %b{3} : f32[] yield %s{last}
             }} : f32[]{types}
             return %r }}",
            names("r"),
            params("a").replacen(", ", ": f32[], ", 1),
            params("b").replacen(", ", ": f32[], ", 1),
            n - 1,
        );
        let stats = run("while, chain of invariants", &parse(&text).unwrap(), &set);
        let applied =
            |name: &str| stats.patterns.iter().find(|p| p.name == name).map(|p| p.applied);
        assert_eq!(applied("while_invariant"), Some(1));
        let text = format!(
            "ptir 1\nfunc @f(%p: bool[], %x: f32[]) -> f32[] {{
             %r{0} = scan %x{inits} {{carried = {1}, length = 9}} (%b{2}) {{
               %s = add %b, %b{3} : f32[] yield %s{last}
             }} : f32[]{types}
             return %r }}",
            names("r"),
            n + 1,
            params("b").replacen(", ", ": f32[], ", 1),
            n - 1,
        );
        let stats = run("scan, chain of invariants", &parse(&text).unwrap(), &set);
        let applied =
            |name: &str| stats.patterns.iter().find(|p| p.name == name).map(|p| p.applied);
        assert_eq!(applied("scan_invariant"), Some(1));
    }
}
