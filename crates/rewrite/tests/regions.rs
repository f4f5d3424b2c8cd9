//! Patterns that move or splice regions of their root.

#![allow(clippy::needless_pass_by_value, reason = "a pattern takes its root by value")]

use sapwood_ptir::parse;
use sapwood_rewrite::{
    GreedyConfig, GreedyStats, MovedRegion, PatternSet, Rewrite, apply_patterns_and_fold_greedily,
};

fn config() -> GreedyConfig {
    GreedyConfig { expensive_checks: true, ..GreedyConfig::default() }
}

fn run_with(text: &str, set: PatternSet, config: &GreedyConfig) -> (String, GreedyStats) {
    let mut program = parse(text).unwrap_or_else(|p| panic!("{p}\n{text}"));
    let f = program.function_mut("f").unwrap();
    let stats = apply_patterns_and_fold_greedily(f, &set.freeze(), config).unwrap();
    f.check_indices().unwrap();
    sapwood_ptir::verify(&program).unwrap();
    (program.to_string(), stats)
}

fn ops(text: &str) -> Vec<String> {
    let lines = text.lines().filter_map(|l| l.trim().split_once(" = "));
    lines.map(|(_, rest)| rest.split_whitespace().next().unwrap().to_owned()).collect()
}

// Replaces carried values that the body yields unchanged by their initial values.
fn while_of_unchanged(
    op: sapwood_ptir::ops::While,
    rw: &mut Rewrite<'_>,
) -> Option<sapwood_ptir::Values> {
    let n = (0..op.inits.len()).find(|&n| {
        rw.yields(op.body)[n] == rw.params(op.body)[n]
            && rw.ty(op.inits[n]) == rw.ty(rw.params(op.body)[n])
    })?;
    let init = op.inits[n];
    let regions = [
        MovedRegion::new(op.cond).replace_param(n, init),
        MovedRegion::new(op.body).replace_param(n, init).drop_result(n),
    ];
    let mut fewer = op.clone();
    fewer.inits.remove(n);
    let mut values = rw.emit_with_regions(fewer, &regions)?;
    values.insert(n, init);
    Some(values)
}

const LOOP: &str = "ptir 1

func @f(%x: f32[], %y: f32[], %z: f32[]) -> (f32[], f32[], f32[]) {
  %a, %b, %c = while %x, %y, %z (%p: f32[], %q: f32[], %r: f32[]) {
    %k = compare %p, %q {direction = lt} : bool[]
    yield %k
  } (%s: f32[], %t: f32[], %u: f32[]) {
    %v = add %s, %t : f32[]
    yield %v, %t, %u
  } : f32[], f32[], f32[]
  return %a, %b, %c
}
";

#[test]
fn regions_can_move_to_a_smaller_loop() {
    let mut set = PatternSet::new();
    set.add(while_of_unchanged);
    let (text, stats) = run_with(LOOP, set, &config());
    assert_eq!(stats.problems, []);
    assert_eq!(stats.rewrites, 2);
    assert_eq!(
        text,
        "ptir 1

func @f(%x: f32[], %y: f32[], %z: f32[]) -> (f32[], f32[], f32[]) {
  %a = while %x (%p: f32[]) {
    %k = compare %p, %y {direction = lt} : bool[]
    yield %k
  } (%s: f32[]) {
    %v = add %s, %y : f32[]
    yield %v
  } : f32[]
  return %a, %y, %z
}
"
    );
}

#[test]
fn a_region_of_the_root_can_be_spliced_in() {
    fn cond_of_true(
        op: sapwood_ptir::ops::Cond,
        rw: &mut Rewrite<'_>,
    ) -> Option<sapwood_ptir::Values> {
        let body = if rw.is_one(op.pred) { op.then } else { op.otherwise };
        rw.constant_of(op.pred)?;
        rw.inline(body, &[])
    }
    let text = "ptir 1

func @f(%x: f32[]) -> f32[] {
  %t = constant true : bool[]
  %c = cond %t () {
    %n = neg %x : f32[]
    %k = custom_call \"print\" %n : f32[]
    yield %n
  } () {
    yield %x
  } : f32[]
  return %c
}
";
    for top_down in [false, true] {
        let mut set = PatternSet::new();
        set.add(cond_of_true);
        let config = GreedyConfig { top_down, merge_equal: true, ..config() };
        let (out, stats) = run_with(text, set, &config);
        assert_eq!(stats.problems, []);
        assert_eq!(ops(&out), ["neg", "custom_call"]);
    }
}

#[test]
fn branches_that_may_stop_a_run_are_not_computed_speculatively() {
    fn both_branches(
        op: sapwood_ptir::ops::Cond,
        rw: &mut Rewrite<'_>,
    ) -> Option<sapwood_ptir::Values> {
        let on_true = rw.inline(op.then, &[])?[0];
        let on_false = rw.inline(op.otherwise, &[])?[0];
        let chosen = rw.emit(sapwood_ptir::ops::Select { pred: op.pred, on_true, on_false })?;
        Some([chosen].into_iter().collect())
    }
    // The extents may differ, where only the branch that adds them compares them.
    let text = |param: &str, op: &str| {
        format!(
            "ptir 1 func @f(%p: bool[], %x: f32[4], %y: {param}) -> f32[4] {{
               %c = cond %p () {{ %z = {op} : f32[4] yield %z }} () {{ yield %x }} : f32[4]
               return %c
             }}"
        )
    };
    let run = |text: &str| {
        let mut set = PatternSet::new();
        set.add(both_branches);
        let (out, stats) = run_with(text, set, &config());
        assert_eq!(stats.problems, []);
        ops(&out).join(" ")
    };
    assert_eq!(run(&text("f32[4]", "add %x, %y")), "add select");
    assert_eq!(run(&text("f32[?]", "refine %y")), "cond refine");
    assert_eq!(run(&text("f32[?]", "add %x, %y")), "cond add");
    assert_eq!(run(&text("f32[4, ?N]", "reduce_sum %y {axes = [1]}")), "cond reduce_sum");
}

// Returns the names of the ordered ops, in program order.
fn ordered(text: &str) -> Vec<&str> {
    text.lines().filter_map(|line| line.split("custom_call \"").nth(1)?.split('"').next()).collect()
}

#[test]
fn ordered_ops_keep_their_order_when_regions_are_inlined() {
    let text = "ptir 1

func @f(%p: bool[], %x: f32[4]) -> (f32[4], f32[4]) {
  %t = constant true : bool[]
  %n = not %p : bool[]
  %a = custom_call \"first\" %x : f32[4]
  %c = cond %t () {
    %b = custom_call \"second\" %x : f32[4]
    yield %b
  } () {
    %d = custom_call \"never\" %x : f32[4]
    yield %d
  } : f32[4]
  %e = custom_call \"third\" %x : f32[4]
  %s = scan %x {carried = 1, length = 1} (%g: f32[4]) {
    %h = custom_call \"fourth\" %g : f32[4]
    %i = neg %g : f32[4]
    yield %i
  } : f32[4]
  %j = custom_call \"fifth\" %x : f32[4]
  %k, %u = cond %n () {
    %l = custom_call \"seventh\" %x : f32[4]
    yield %x, %l
  } () {
    %m = custom_call \"sixth\" %x : f32[4]
    yield %s, %m
  } : f32[4], f32[4]
  %o = custom_call \"eighth\" %x : f32[4]
  %q = custom_call \"eighth\" %x : f32[4]
  return %k, %c
}
";
    let mut set = PatternSet::new();
    sapwood_rewrite::canonicalize::populate_canonicalization(&mut set);
    let set = set.freeze();
    for (merge_equal, top_down) in [(false, false), (true, false), (false, true), (true, true)] {
        let mut program = parse(text).unwrap();
        let config = GreedyConfig {
            merge_equal,
            top_down,
            expensive_checks: true,
            ..GreedyConfig::default()
        };
        let f = program.function_mut("f").unwrap();
        let stats = apply_patterns_and_fold_greedily(f, &set, &config).unwrap();
        let applied = |name: &str| stats.patterns.iter().any(|p| p.name == name && p.applied > 0);
        for law in ["branch_known", "scan_once", "cond_of_not", "branch_unused"] {
            assert!(applied(law), "{law}: {stats:?}");
        }
        let out = program.to_string();
        // The branch of a known condition that is not taken is erased; the branches of `not p` are swapped with their ops.
        let names =
            ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "eighth"];
        assert_eq!(ordered(&out), names, "{out}");
    }
}
