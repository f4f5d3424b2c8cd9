//! Programs on which one change leads to the next: the numbers of rewrites, edits and moved uses grow only with the program.

use std::fmt::Write;

use sapwood_ptir::ops::Concat;
use sapwood_ptir::{Function, InstId, Program, ValueId, parse, verify};
use sapwood_rewrite::{
    FrozenPatternSet, GreedyConfig, GreedyStats, Listener, OpRewritePattern, OpView, PatternSet,
    ProgramRewriter, StepKind, apply_patterns_and_fold_greedily, apply_with_listener, canonicalize,
};

/// Sizes of programs; superlinear growth shows at the second.
const SIZES: [usize; 2] = [400, 4_000];

fn shipped() -> FrozenPatternSet {
    let mut set = PatternSet::new();
    canonicalize::populate_canonicalization(&mut set);
    set.freeze()
}

fn config(merge_equal: bool) -> GreedyConfig {
    GreedyConfig { merge_equal, expensive_checks: false, ..GreedyConfig::default() }
}

/// The cost of edits: operands and results of inserted instructions, uses moved by merging, and uses moved in total.
#[derive(Default)]
struct Costs {
    inserted: usize,
    moved: usize,
    moved_by_all: usize,
}

impl Listener for Costs {
    fn inserted(&mut self, f: &Function, inst: InstId) {
        self.inserted += f.operands(inst).len() + f.inst_results(inst).len();
    }

    fn step(&mut self, f: &Function, kind: StepKind<'_>, root: InstId) {
        let uses = f.inst_results(root).map(|v| f.uses(v).count()).sum::<usize>();
        self.moved_by_all += uses;
        self.moved += if kind == StepKind::Cse { uses } else { 0 };
    }
}

// Runs to the fixpoint, and checks that a second run changes nothing.
fn run(program: &mut Program, merge_equal: bool) -> (GreedyStats, Costs) {
    let (set, config, mut costs) = (shipped(), config(merge_equal), Costs::default());
    let f = program.function_mut("f").unwrap();
    let stats = apply_with_listener(f, &set, &config, Some(&mut costs)).unwrap();
    assert!(stats.converged && stats.problems.is_empty(), "{:?}", stats.stopped_by);
    f.check_indices().unwrap();
    let again = apply_patterns_and_fold_greedily(f, &set, &config).unwrap();
    assert!(!again.changed(), "a second run: {again:?}");
    verify(program).unwrap();
    (stats, costs)
}

fn applied(stats: &GreedyStats, name: &str) -> usize {
    stats.patterns.iter().find(|p| p.name == name).map_or(0, |p| p.applied)
}

fn list(n: usize, of: impl Fn(usize) -> String) -> String {
    (0..n).map(of).collect::<Vec<_>>().join(", ")
}

// An unrolled counter: a chain of one op with one constant, every link of which is used.
fn counter(op: &str, n: usize) -> Program {
    let mut text = format!(
        "ptir 1\nfunc @f(%e0: i32[2]) -> ({}) {{\n%k = constant 3 : i32[2]\n",
        list(n, |_| "i32[2]".into())
    );
    for i in 0..n {
        let _ = writeln!(text, "%e{} = {op} %e{i}, %k : i32[2]", i + 1);
    }
    let _ = writeln!(text, "return {}\n}}", list(n, |i| format!("%e{}", i + 1)));
    parse(&text).unwrap()
}

#[test]
fn each_link_of_a_counter_is_rewritten_once() {
    for n in [2_000, 20_000] {
        for op in ["add", "mul", "xor"] {
            for merge_equal in [false, true] {
                let (stats, costs) = run(&mut counter(op, n), merge_equal);
                let rewrites = applied(&stats, "reassociate_constants");
                assert!(rewrites <= n, "{op} {n}: {rewrites} rewrites");
                assert!(stats.visits <= 6 * n, "{op} {n}: {} visits", stats.visits);
                assert!(costs.moved <= 4 * n, "{op} {n}: {} uses moved", costs.moved);
            }
        }
    }
}

#[test]
fn each_link_of_a_chain_of_slices_is_rewritten_once() {
    for n in SIZES {
        let mut text = format!(
            "ptir 1\nfunc @f(%e0: f32[{}]) -> ({}) {{\n",
            n + 1,
            list(n, |i| format!("f32[{}]", n - i))
        );
        for i in 0..n {
            let (starts, limits) = (1, n + 1 - i);
            let _ = writeln!(
                text,
                "%e{} = slice %e{i} {{starts = [{starts}], limits = [{limits}]}} : f32[{}]",
                i + 1,
                n - i
            );
        }
        let _ = writeln!(text, "return {}\n}}", list(n, |i| format!("%e{}", i + 1)));
        let (stats, _) = run(&mut parse(&text).unwrap(), true);
        assert_eq!(applied(&stats, "slice_of_slice"), n - 1);
    }
}

// Every rewrite inserts the same instruction again, each before the last.
#[test]
fn a_value_with_many_uses_is_not_moved_to_each_new_instruction() {
    for n in SIZES {
        let types = list(n, |i| format!("f32[{}]", i + 2));
        let mut text = format!("ptir 1\nfunc @f(%x: f32[]) -> ({types}) {{\n");
        for i in 0..n {
            let _ = writeln!(text, "%b{i} = broadcast_to %x : f32[{}]", i + 2);
            let _ = writeln!(text, "%e{i} = exp %b{i} : f32[{}]", i + 2);
        }
        let _ = writeln!(text, "return {}\n}}", list(n, |i| format!("%e{i}")));
        let mut program = parse(&text).unwrap();
        let (_, costs) = run(&mut program, true);
        assert!(costs.moved <= 16 * n, "{n}: {} uses moved", costs.moved);
        assert_eq!(program.to_string().matches("exp").count(), 1);
    }
}

// Two links undo each other, and the readers of the one between come to read the first.
#[test]
fn uses_of_links_that_go_are_not_handed_from_link_to_link() {
    let links = [
        ("neg %v : i32[4]", "neg %v : i32[4]"),
        ("cast %v : i64[4]", "cast %v : i32[4]"),
        ("add %v, %y : i32[4]", "sub %v, %y : i32[4]"),
        ("sub %y, %v : i32[4]", "sub %y, %v : i32[4]"),
    ];
    for (n, merge_equal) in SIZES.into_iter().flat_map(|n| [(n, false), (n, true)]) {
        for (there, back) in links {
            let mut text = String::from("ptir 1\nfunc @f(%v0: i32[4], %y: i32[4]) -> (");
            let wide = if there.contains("i64") { "i64[4]" } else { "i32[4]" };
            let types = [list(n, |_| wide.into()), list(n, |_| "i32[4]".into())];
            let _ = writeln!(text, "{}) {{", types.join(", "));
            for i in 0..n {
                let (a, b, c) = (2 * i, 2 * i + 1, 2 * i + 2);
                let there = there.replace("%v", &format!("%v{a}"));
                let back = back.replace("%v", &format!("%v{b}"));
                let _ = writeln!(text, "%v{b} = {there}\n%p{i} = popcnt %v{b} : {wide}");
                let _ = writeln!(text, "%v{c} = {back}\n%q{i} = popcnt %v{c} : i32[4]");
            }
            let results = [list(n, |i| format!("%p{i}")), list(n, |i| format!("%q{i}"))];
            let _ = writeln!(text, "return {}\n}}", results.join(", "));
            let mut program = parse(&text).unwrap();
            let (stats, costs) = run(&mut program, merge_equal);
            let moved = costs.moved_by_all;
            assert!(moved <= 32 * n, "{there}, {n}, {merge_equal}: {moved} uses moved");
            assert!(stats.attempts <= 32 * n, "{there}, {n}: {} attempts", stats.attempts);
            if merge_equal {
                assert_eq!(program.to_string().matches("popcnt").count(), 2, "{there}");
            }
        }
    }
}

// A value with many uses waits for its operands, one of which has very many operands of its own.
#[test]
fn operands_of_wide_ops_are_not_visited_repeatedly() {
    let ops = ["exp", "neg", "abs", "sign", "floor", "ceil", "log", "sqrt", "sin", "cos"];
    for (n, swapped) in SIZES.into_iter().flat_map(|n| [(n, false), (n, true)]) {
        let mut text = format!("ptir 1\nfunc @f(%p: f32[{n}]) -> (");
        let _ = writeln!(text, "{}) {{", list(ops.len(), |_| format!("f32[{n}]")));
        for i in 0..n {
            let limit = i + 1;
            let _ =
                writeln!(text, "%s{i} = slice %p {{starts = [{i}], limits = [{limit}]}} : f32[1]");
            let _ = writeln!(text, "%e{i} = exp %s{i} : f32[1]");
        }
        let parts = list(n, |i| format!("%e{i}"));
        let _ = writeln!(text, "%x = tanh %p : f32[{n}]");
        let _ = writeln!(text, "%cat = concat {parts} {{axis = 0}} : f32[{n}]");
        let sides = if swapped { "%cat, %x" } else { "%x, %cat" };
        let _ = writeln!(text, "%m = sub {sides} : f32[{n}]");
        for (i, op) in ops.iter().enumerate() {
            let _ = writeln!(text, "%r{i} = {op} %m : f32[{n}]");
        }
        let _ = writeln!(text, "return {}\n}}", list(ops.len(), |i| format!("%r{i}")));
        let (stats, _) = run(&mut parse(&text).unwrap(), true);
        let (looked, visits) = (stats.examined, stats.visits);
        assert!(looked <= 32 * n, "{n}: {looked} operands looked at in {visits} visits");
    }
}

#[test]
fn duplicates_of_duplicates_are_merged_in_order() {
    for n in SIZES {
        let mut text = String::from("ptir 1\nfunc @f(%x: f32[4]) -> f32[4] {\n");
        for i in 0..n {
            let from = if i > 1 { format!("%a{}", (i / 2).max(1) - 1) } else { "%x".into() };
            let _ = writeln!(text, "%a{i} = exp {from} : f32[4]");
        }
        for i in 0..n {
            let before = if i > 0 { format!("%s{}", i - 1) } else { "%x".into() };
            let _ = writeln!(text, "%s{i} = add {before}, %a{i} : f32[4]");
        }
        let _ = writeln!(text, "return %s{}\n}}", n - 1);
        let (stats, costs) = run(&mut parse(&text).unwrap(), true);
        assert!(stats.merged > n / 2);
        assert!(costs.moved <= 4 * n, "{n}: {} uses moved", costs.moved);
    }
}

// Carried values that are each found to be invariant only after the one before: `c + (b - x) = c` once `b` is `x`.
fn cascade(n: usize, scan: bool) -> Program {
    let (inits, types) = (list(n, |_| "%x".into()), list(n, |_| "i32[]".into()));
    let params = |tag: &str| list(n, |i| format!("%{tag}{i}: i32[]"));
    let results = list(n, |i| format!("%r{i}"));
    let mut text = String::from("ptir 1\nfunc @f(%x: i32[], %n: i32[]) -> i32[] {\n");
    text += "%zero = constant 0 : i32[]\n%one = constant 1 : i32[]\n";
    let _ = match scan {
        true => writeln!(
            text,
            "%t, {results} = scan %zero, {inits} {{carried = {}, length = 9}} (%i: i32[], {}) {{",
            n + 1,
            params("c")
        ),
        false => writeln!(
            text,
            "%t, {results} = while %zero, {inits} (%j: i32[], {}) {{
             %g = compare %j, %n {{direction = lt}} : bool[] yield %g }} (%i: i32[], {}) {{",
            params("a"),
            params("c")
        ),
    };
    text += "%next = add %i, %one : i32[]\n%e0 = add %c0, %zero : i32[]\n";
    for i in 1..n {
        let _ = writeln!(text, "%d{i} = sub %c{}, %x : i32[]", i - 1);
        let _ = writeln!(text, "%e{i} = add %c{i}, %d{i} : i32[]");
    }
    let _ = writeln!(text, "yield %next, {} }} : i32[], {types}", list(n, |i| format!("%e{i}")));
    let _ = writeln!(text, "%s = add %t, %r{} : i32[]\nreturn %s\n}}", n - 1);
    parse(&text).unwrap_or_else(|p| panic!("{p}"))
}

#[test]
fn carries_that_stay_one_after_the_other_do_not_make_the_loop_anew() {
    for (name, scan) in [("while_invariant", false), ("scan_invariant", true)] {
        for n in [200, 2_000, 20_000] {
            let mut program = cascade(n, scan);
            let (stats, costs) = run(&mut program, true);
            assert!(applied(&stats, name) <= n, "{name} {n}: {stats:?}");
            assert!(stats.attempts <= 40 * n, "{name} {n}: {} attempts", stats.attempts);
            assert!(costs.inserted <= 12 * n, "{name} {n}: {} inserted", costs.inserted);
            // Only the changed carried values are examined, and one used result.
            assert!(stats.examined <= 40 * n, "{name} {n}: {} looked at", stats.examined);
            // Only the counter is carried.
            let f = program.function("f").unwrap();
            let widest = f.walk().map(|i| f.inst_results(i).len()).max();
            assert_eq!(widest, Some(1), "{name} {n}");
        }
    }
}

// An instruction with many results that become unused one per round: each is multiplied by a zero that is found only after
// the one before it.
fn unused_one_by_one(n: usize, head: &str) -> Program {
    let mut text = String::from(
        "ptir 1\nfunc @f(%p: bool[], %q: i32[], %x: i32[], %y: i32[]) -> (i32[], i32[]) {\n",
    );
    let results = list(n, |i| format!("%r{i}"));
    let _ = writeln!(text, "{results} = {head}");
    text += "%t0 = sub %x, %x : i32[]\n%u0 = add %y, %r0 : i32[]\n";
    for i in 1..n {
        let op = ["and", "mul"][i % 2];
        let _ = writeln!(text, "%t{i} = {op} %t{}, %y : i32[]", i - 1);
        let _ = writeln!(text, "%m{i} = mul %r{i}, %t{i} : i32[]");
        let _ = writeln!(text, "%u{i} = add %u{}, %m{i} : i32[]", i - 1);
    }
    let last = n - 1;
    let _ = writeln!(text, "return %u{last}, %r0\n}}");
    parse(&text).unwrap_or_else(|p| panic!("{p}"))
}

#[test]
fn results_that_become_unused_one_by_one_go_at_once() {
    let types = |n: usize| list(n, |_| "i32[]".into());
    let branch = |n: usize, op: &str| {
        let line = |i: usize| format!("%{op}{i} = {op} %x, {i}:i32[] : i32[]\n");
        let lines: String = (0..n).map(line).collect();
        format!("() {{ {lines} yield {} }}", list(n, |i| format!("%{op}{i}")))
    };
    let heads: [(&str, &dyn Fn(usize) -> String); 4] = [
        ("branch_unused", &|n| {
            format!("cond %p {} {} : {}", branch(n, "xor"), branch(n, "mul"), types(n))
        }),
        ("branch_unused", &|n| {
            let (a, b, c) = (branch(n, "xor"), branch(n, "mul"), branch(n, "max"));
            format!("case %q {a} {b} {c} : {}", types(n))
        }),
        ("while_unused", &|n| {
            let params = |tag: &str| list(n, |i| format!("%{tag}{i}: i32[]"));
            let lines: String =
                (0..n).map(|i| format!("%e{i} = mul %c{i}, %c{i} : i32[]\n")).collect();
            format!(
                "while {} ({}) {{ %g = compare %a0, %y {{direction = lt}} : bool[] yield %g }} ({}) {{
                 {lines} yield {} }} : {}",
                list(n, |_| "%x".into()),
                params("a"),
                params("c"),
                list(n, |i| format!("%e{i}")),
                types(n)
            )
        }),
        ("scan_unused_carry", &|n| {
            let lines: String =
                (0..n).map(|i| format!("%e{i} = mul %c{i}, %c{i} : i32[]\n")).collect();
            format!(
                "scan {} {{carried = {n}, length = 9}} ({}) {{ {lines} yield {} }} : {}",
                list(n, |_| "%x".into()),
                list(n, |i| format!("%c{i}: i32[]")),
                list(n, |i| format!("%e{i}")),
                types(n)
            )
        }),
    ];
    for (name, head) in heads {
        for n in [100, 1_000] {
            let mut program = unused_one_by_one(n, &head(n));
            let (stats, costs) = run(&mut program, true);
            assert!(stats.rounds > n / 4, "they do not go one by one: {} rounds", stats.rounds);
            assert_eq!(applied(&stats, name), 1, "{name} {n}");
            assert!(stats.attempts <= 60 * n, "{name} {n}: {} attempts", stats.attempts);
            assert!(costs.inserted <= 12 * n, "{name} {n}: {} inserted", costs.inserted);
        }
    }
}

// Many slices of one wide concat, of one operand each or of two: examining all operands for each would not finish at the
// last size.
#[test]
fn slices_of_a_wide_concat_find_their_operands() {
    for n in [100, 1_000, 30_000] {
        for extent in [1, 2] {
            let mut text = format!(
                "ptir 1\nfunc @f(%x: f32[]) -> ({}) {{\n",
                list(n - 1, |_| format!("f32[{extent}]"))
            );
            for i in 0..n {
                let _ = writeln!(text, "%e{i} = broadcast_to %x : f32[1]");
                let _ = writeln!(text, "%o{i} = custom_call \"a{i}\" %e{i} : f32[1]");
            }
            let operands = list(n, |i| format!("%o{i}"));
            let _ = writeln!(text, "%c = concat {operands} {{axis = 0}} : f32[{n}]");
            for i in 0..n - 1 {
                let limit = i + extent;
                let _ = writeln!(
                    text,
                    "%s{i} = slice %c {{starts = [{i}], limits = [{limit}]}} : f32[{extent}]"
                );
            }
            let _ = writeln!(text, "return {}\n}}", list(n - 1, |i| format!("%s{i}")));
            let (stats, _) = run(&mut parse(&text).unwrap(), true);
            let found = applied(&stats, "slice_of_concat");
            assert_eq!(found, if extent == 1 { n - 1 } else { 0 });
            assert!(stats.attempts <= 24 * n, "{n}: {} attempts", stats.attempts);
        }
    }
}

// Reverses the operands of a concat, so that the narrow one comes first.
struct Turn;

impl OpRewritePattern<Concat> for Turn {
    fn match_and_rewrite(&self, view: OpView<Concat>, rw: &mut ProgramRewriter<'_>) -> bool {
        let f = rw.function();
        let width = |v: ValueId| f.value_type(v).as_tensor().and_then(|t| t.dims[0].known());
        let inputs = &view.op.inputs;
        let turned: Vec<ValueId> = inputs.iter().rev().copied().collect();
        width(turned[0]) < width(inputs[0]) && rw.set_operands(view.root, &turned).is_ok()
    }
}

#[test]
fn memoized_facts_about_a_concat_are_dropped_when_it_changes() {
    // It takes elements of both operands, and of one after the reversal.
    let text = "ptir 1
      func @f(%x: f32[5], %y: f32[2]) -> (f32[2], f32[7]) {
        %c = concat %x, %y {axis = 0} : f32[7]
        %a = slice %c {starts = [4], limits = [6]} : f32[2]
        return %a, %c
      }";
    let mut set = PatternSet::new();
    canonicalize::slice::LIST.populate(&mut set);
    set.add(Turn);
    let mut program = parse(text).unwrap();
    let f = program.function_mut("f").unwrap();
    let stats = apply_patterns_and_fold_greedily(f, &set.freeze(), &config(true)).unwrap();
    assert_eq!((applied(&stats, "Turn"), applied(&stats, "slice_of_concat")), (1, 1));
    let after = program.to_string();
    assert!(after.contains("slice %x {starts = [2], limits = [4]}"), "{after}");
}

// Instructions with very many results, all used: a lookup must not cost their number whenever one changes.
#[test]
fn results_of_wide_instructions_are_not_visited_for_each_result() {
    const N: usize = 40_000;
    let types = list(N, |_| "i32[]".into());
    let lines = |op: &str| -> String {
        (0..N).map(|i| format!("%{op}{i} = {op} %x, {}:i32[] : i32[]\n", i + 2)).collect()
    };
    let branch =
        |op: &str| format!("() {{ {} yield {} }}", lines(op), list(N, |i| format!("%{op}{i}")));
    let step: String =
        (0..N).map(|i| format!("%s{i} = add %c{i}, {}:i32[] : i32[]\n", i + 2)).collect();
    let heads = [
        format!("cond %p {} {}", branch("add"), branch("mul")),
        format!(
            "scan {} {{carried = {N}, length = 9}} ({}) {{ {step} yield {} }}",
            list(N, |_| "%x".into()),
            list(N, |i| format!("%c{i}: i32[]")),
            list(N, |i| format!("%s{i}"))
        ),
        "call @g %x".to_owned(),
        "custom_call \"wide\" %x {has_side_effect = false}".to_owned(),
    ];
    for head in heads {
        let mut text = format!(
            "ptir 1\nfunc @g(%x: i32[]) -> ({types}) {{ return {} }}\n\
             func @f(%p: bool[], %x: i32[]) -> ({types}) {{\n{} = {head} : {types}\n",
            list(N, |_| "%x".into()),
            list(N, |i| format!("%r{i}")),
        );
        for i in 0..N {
            let _ = writeln!(text, "%m{i} = neg %r{i} : i32[]\n%n{i} = neg %m{i} : i32[]");
        }
        let _ = writeln!(text, "return {}\n}}", list(N, |i| format!("%n{i}")));
        let mut program = parse(&text).unwrap_or_else(|p| panic!("{p}"));
        let (stats, _) = run(&mut program, true);
        assert_eq!(applied(&stats, "neg_of_neg"), N);
        assert!(stats.visits <= 12 * N, "{} visits", stats.visits);
        assert!(stats.examined <= 12 * N, "{} looked at", stats.examined);
    }
}
