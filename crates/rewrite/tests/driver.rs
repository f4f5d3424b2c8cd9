//! The greedy driver: order, revisiting, and patterns that violate their contract.

#![allow(clippy::needless_pass_by_value, reason = "a pattern takes its root by value")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use sapwood_ptir::ops::{
    Abs, Add, Ceil, Cos, Exp, Floor, Log, Mul, Neg, Return, Sin, Sqrt, Tan, Tanh,
};
use sapwood_ptir::{Function, InsertPoint, InstId, Op, Program, Value, parse};
use sapwood_rewrite::{
    FoldResult, GreedyConfig, GreedyStats, Listener, OpRewritePattern, OpView, Pattern, PatternFn,
    PatternId, PatternSet, ProblemKind, ProgramRewriter, Rewrite, Roots, StepKind, Unary,
    apply_patterns_and_fold_greedily, apply_with_listener,
};
use smallvec::SmallVec;

fn config() -> GreedyConfig {
    GreedyConfig { expensive_checks: true, ..GreedyConfig::default() }
}

fn run(text: &str, set: PatternSet) -> (String, GreedyStats) {
    run_with(text, set, &config())
}

fn run_with(text: &str, set: PatternSet, config: &GreedyConfig) -> (String, GreedyStats) {
    let mut program = parse(text).unwrap_or_else(|p| panic!("{p}\n{text}"));
    let stats = run_program(&mut program, set, config);
    (program.to_string(), stats)
}

fn run_program(program: &mut Program, set: PatternSet, config: &GreedyConfig) -> GreedyStats {
    let set = set.freeze();
    let mut total = GreedyStats::default();
    for name in program.functions().iter().map(|f| f.name()).collect::<Vec<_>>() {
        let f = program.function_mut(name).unwrap();
        let stats = apply_patterns_and_fold_greedily(f, &set, config).unwrap();
        f.check_indices().unwrap();
        total.add(&stats);
    }
    sapwood_ptir::verify(program).unwrap();
    total
}

// A function of one f32[4] whose body is `lines`; `%r` is returned.
fn body(lines: &str) -> String {
    let mut text = String::from("ptir 1\n\nfunc @f(%x: f32[4]) -> f32[4] {\n");
    for line in lines.lines().map(str::trim).filter(|l| !l.is_empty()) {
        text += &format!("  {line} : f32[4]\n");
    }
    text + "  return %r\n}\n"
}

fn ops(text: &str) -> Vec<String> {
    let lines = text.lines().filter_map(|l| l.trim().split_once(" = "));
    lines.map(|(_, rest)| rest.split_whitespace().next().unwrap().to_owned()).collect()
}

fn exp_to_log(op: Exp, rw: &mut Rewrite<'_>) -> Option<Value> {
    rw.emit(Log { input: op.input })
}
fn exp_to_sin(op: Exp, rw: &mut Rewrite<'_>) -> Option<Value> {
    rw.emit(Sin { input: op.input })
}
fn log_to_exp(op: Log, rw: &mut Rewrite<'_>) -> Option<Value> {
    rw.emit(Exp { input: op.input })
}
fn neg_of_neg(outer: Neg, rw: &mut Rewrite<'_>) -> Option<Value> {
    Some(rw.def::<Neg>(outer.input)?.input)
}

#[test]
fn patterns_of_larger_benefit_come_first() {
    let mut set = PatternSet::new();
    set.add(exp_to_log);
    set.add(exp_to_sin.benefit(2));
    assert_eq!(ops(&run(&body("%r = exp %x"), set).0), ["sin"]);
}

#[test]
fn ties_go_by_insertion() {
    let mut set = PatternSet::new();
    set.add(exp_to_sin);
    set.add(exp_to_log);
    assert_eq!(ops(&run(&body("%r = exp %x"), set).0), ["sin"]);
    let mut set = PatternSet::new();
    set.add(exp_to_log);
    set.add(exp_to_sin);
    assert_eq!(ops(&run(&body("%r = exp %x"), set).0), ["log"]);
}

#[test]
fn a_cost_model_overrides_the_benefit() {
    fn model(_: InstId, pattern: PatternId, _: &ProgramRewriter<'_>) -> u16 {
        if pattern == 0 { 9 } else { 0 }
    }
    let set = || {
        let mut set = PatternSet::new();
        set.add(exp_to_log);
        set.add(exp_to_sin.benefit(5));
        set
    };
    assert_eq!(ops(&run(&body("%r = exp %x"), set()).0), ["sin"]);
    let config = GreedyConfig { cost_model: Some(model), ..config() };
    assert_eq!(ops(&run_with(&body("%r = exp %x"), set(), &config).0), ["log"]);
}

struct Counting {
    asked: Arc<AtomicUsize>,
    called: Arc<AtomicUsize>,
    may: bool,
}

impl OpRewritePattern<Exp> for Counting {
    fn may_match(&self, _: &OpView<Exp>, _: &ProgramRewriter<'_>) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.may
    }
    fn match_and_rewrite(&self, op: OpView<Exp>, rw: &mut ProgramRewriter<'_>) -> bool {
        self.called.fetch_add(1, Ordering::Relaxed);
        let made = rw.insert_before(op.root, Log { input: op.input });
        made.is_ok_and(|(_, value)| rw.replace_inst(op.root, &[value]).is_ok())
    }
}

#[test]
fn may_match_false_means_the_body_is_never_called() {
    for may in [false, true] {
        let (asked, called) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let mut set = PatternSet::new();
        set.add(Counting { asked: asked.clone(), called: called.clone(), may });
        let (text, stats) = run(&body("%a = exp %x\n%r = exp %a"), set);
        assert_eq!(asked.load(Ordering::Relaxed), 2);
        assert_eq!(called.load(Ordering::Relaxed), if may { 2 } else { 0 });
        assert_eq!(stats.rewrites, if may { 2 } else { 0 });
        assert_eq!(ops(&text), if may { ["log", "log"] } else { ["exp", "exp"] });
    }
}

// `tan(sin(log x)) = abs x`: reads two definitions away.
fn tan_of_sin_of_log(op: Tan, rw: &mut Rewrite<'_>) -> Option<Value> {
    let sin = rw.def::<Sin>(op.input)?;
    let log = rw.def::<Log>(sin.input)?;
    rw.emit(Abs { input: log.input })
}

#[test]
fn a_failing_pattern_is_retried_after_a_producer_two_levels_up_changes() {
    let mut set = PatternSet::new();
    set.add(tan_of_sin_of_log);
    set.add(exp_to_log);
    let (text, stats) = run(&body("%a = exp %x\n%b = sin %a\n%r = tan %b"), set);
    assert_eq!(ops(&text), ["abs"]);
    assert!(stats.converged && stats.rounds > 1, "{stats:?}");
    assert_eq!(stats.problems, []);
}

// `sqrt(y) = floor(y)` where nothing else uses `y`.
fn sqrt_of_one_use(op: Sqrt, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !rw.one_use(op.input) {
        return None;
    }
    rw.emit(Floor { input: op.input })
}

#[test]
fn a_failing_pattern_is_retried_after_a_use_count_drops_to_one() {
    let mut set = PatternSet::new();
    set.add(sqrt_of_one_use);
    set.add(neg_of_neg);
    // The second use of %a disappears with the negations.
    let text = "ptir 1

func @f(%x: f32[4]) -> (f32[4], f32[4]) {
  %a = exp %x : f32[4]
  %b = neg %x : f32[4]
  %c = mul %a, %b : f32[4]
  %s = sqrt %a : f32[4]
  return %s, %s
}
";
    let (text, stats) = run(text, set);
    assert_eq!(ops(&text), ["exp", "floor"]);
    assert_eq!((stats.rewrites, stats.erased), (1, 2));
}

#[test]
fn use_counts_of_parameters_count_too() {
    let mut set = PatternSet::new();
    set.add(sqrt_of_one_use);
    let text = "ptir 1

func @f(%x: f32[4]) -> f32[4] {
  %dead = neg %x : f32[4]
  %s = sqrt %x : f32[4]
  return %s
}
";
    assert_eq!(ops(&run(text, set).0), ["floor"]);
}

// Returns true and does nothing.
struct Yes;
impl Pattern for Yes {
    fn roots(&self) -> Roots {
        Roots::of::<Exp>()
    }
    fn match_and_rewrite(&self, _: InstId, _: &mut ProgramRewriter<'_>) -> bool {
        true
    }
}

#[test]
fn a_pattern_that_reports_a_match_without_a_change_is_caught() {
    let text = body("%a = exp %x\n%r = exp %a");
    let mut set = PatternSet::new();
    set.add(Yes);
    let (out, stats) = run(&text, set);
    assert_eq!(out, text);
    assert_eq!(stats.problems.len(), 1);
    assert_eq!((&*stats.problems[0].pattern, stats.problems[0].op), ("Yes", "exp"));
    assert_eq!(stats.problems[0].kind, ProblemKind::NothingChanged);

    fn exp_again(op: Exp, rw: &mut Rewrite<'_>) -> Option<Value> {
        rw.emit(op)
    }
    fn exp_itself(_: Exp, rw: &mut Rewrite<'_>) -> Option<Value> {
        rw.result(0)
    }
    let mut set = PatternSet::new();
    set.add(exp_again);
    set.add(exp_itself);
    let (out, stats) = run(&text, set);
    assert_eq!(out, text);
    let names: Vec<_> = stats.problems.iter().map(|p| (&*p.pattern, &p.kind)).collect();
    let nothing = &ProblemKind::NothingChanged;
    assert_eq!(names, [("exp_again", nothing), ("exp_itself", nothing)]);
}

// Changes everything it can and returns false.
struct ChangesAndSaysNo;
impl Pattern for ChangesAndSaysNo {
    fn roots(&self) -> Roots {
        Roots::of::<Exp>()
    }
    fn match_and_rewrite(&self, root: InstId, rw: &mut ProgramRewriter<'_>) -> bool {
        let x = rw.operands(root)[0];
        let (_, n) = rw.insert_before(root, Neg { input: x }).unwrap();
        rw.set_operand(root, 0, n).unwrap();
        let (_, l) = rw.insert_before(root, Log { input: n }).unwrap();
        rw.replace_inst(root, &[l]).unwrap();
        false
    }
}

#[test]
fn a_pattern_that_changes_without_reporting_is_undone_and_caught() {
    let text = body("%a = exp %x\n%r = exp %a");
    let mut set = PatternSet::new();
    set.add(ChangesAndSaysNo);
    set.add(neg_of_neg);
    let (out, stats) = run(&text, set);
    assert_eq!(out, text);
    assert_eq!(stats.problems.len(), 1);
    assert_eq!(stats.problems[0].kind, ProblemKind::ChangedWithoutReporting);
    assert_eq!(stats.problems[0].pattern, "ChangesAndSaysNo");
    assert!(!stats.changed());
}

struct PanicsHalfWay;
impl Pattern for PanicsHalfWay {
    fn roots(&self) -> Roots {
        Roots::of::<Exp>()
    }
    fn match_and_rewrite(&self, root: InstId, rw: &mut ProgramRewriter<'_>) -> bool {
        let x = rw.operands(root)[0];
        rw.insert_before(root, Neg { input: x }).unwrap();
        panic!("half way");
    }
}

#[test]
fn a_pattern_that_panics_is_contained_and_named() {
    fn panics(op: Exp, rw: &mut Rewrite<'_>) -> Option<Value> {
        rw.emit(Neg { input: op.input })?;
        panic!("at {}", rw.root().index());
    }
    let text = body("%a = exp %x\n%b = neg %a\n%c = neg %b\n%r = exp %c");
    let mut set = PatternSet::new();
    set.add(panics);
    set.add(PanicsHalfWay);
    set.add(neg_of_neg);
    let (out, stats) = run(&text, set);
    // The others still work.
    assert_eq!(ops(&out), ["exp", "exp"]);
    let found: Vec<_> = stats.problems.iter().map(|p| (&*p.pattern, p.kind.clone())).collect();
    assert_eq!(
        found,
        [
            ("panics", ProblemKind::Panicked("at 3".into())),
            ("PanicsHalfWay", ProblemKind::Panicked("half way".into())),
        ]
    );
}

struct Breaks;
impl Pattern for Breaks {
    fn roots(&self) -> Roots {
        Roots::of::<sapwood_ptir::ops::Cond>()
    }
    fn match_and_rewrite(&self, root: InstId, rw: &mut ProgramRewriter<'_>) -> bool {
        rw.take_regions(root).is_ok()
    }
}

#[test]
fn a_pattern_that_leaves_a_broken_program_is_undone_and_named() {
    let text = "ptir 1

func @f(%p: bool[], %x: f32[4]) -> f32[4] {
  %c = cond %p () {
    %n = neg %x : f32[4]
    yield %n
  } () {
    yield %x
  } : f32[4]
  return %c
}
";
    // One of the two is enough.
    for (expensive_checks, verify_rewrites) in [(true, false), (false, true)] {
        let mut set = PatternSet::new();
        set.add(Breaks);
        let config = GreedyConfig { expensive_checks, verify_rewrites, ..GreedyConfig::default() };
        let (out, stats) = run_with(text, set, &config);
        assert_eq!(out, text);
        assert!(matches!(&stats.problems[..], [p] if matches!(p.kind, ProblemKind::Invalid(_))));
    }
}

#[test]
fn ping_pong_patterns_end_and_are_named() {
    let mut set = PatternSet::new();
    set.add(exp_to_log);
    set.add(log_to_exp);
    set.add(neg_of_neg);
    let (text, stats) = run(&body("%a = neg %x\n%b = neg %a\n%r = exp %b"), set);
    assert!(!stats.converged);
    assert_eq!(stats.cycles, [["exp_to_log", "log_to_exp"]]);
    let warning = "patterns rewrite each other's results in a cycle: `exp_to_log`, `log_to_exp`";
    assert_eq!(stats.warnings(), [warning]);
    assert!(stats.to_string().ends_with(&format!("\n{warning}")), "{stats}");
    assert_eq!(ops(&text).len(), 1, "the rest is still done:\n{text}");
    assert!(stats.rewrites < 200, "{}", stats.rewrites);
}

// Two patterns that insert two instructions each: neither leads back to an earlier instruction.
#[test]
fn patterns_that_take_turns_with_new_values_end_and_are_named() {
    fn sin_of_cos(op: Sin, rw: &mut Rewrite<'_>) -> Option<Value> {
        let inner = rw.def::<Cos>(op.input)?;
        let input = rw.emit(Sin { input: inner.input })?;
        rw.emit(Cos { input })
    }
    fn cos_of_sin(op: Cos, rw: &mut Rewrite<'_>) -> Option<Value> {
        let inner = rw.def::<Sin>(op.input)?;
        let input = rw.emit(Cos { input: inner.input })?;
        rw.emit(Sin { input })
    }
    let mut set = PatternSet::new();
    set.add(sin_of_cos);
    set.add(cos_of_sin);
    let (_, stats) = run(&body("%a = cos %x\n%r = sin %a"), set);
    assert!(!stats.converged);
    assert_eq!(stats.cycles, [["cos_of_sin", "sin_of_cos"]]);
    assert!(stats.rewrites < 200, "{}", stats.rewrites);
}

// Swaps operands in place, repeatedly.
struct Swaps;
impl OpRewritePattern<Add> for Swaps {
    fn match_and_rewrite(&self, op: OpView<Add>, rw: &mut ProgramRewriter<'_>) -> bool {
        rw.set_operands(op.root, &[op.rhs, op.lhs]).is_ok()
    }
}

#[test]
fn a_pattern_that_takes_turns_with_itself_ends_and_is_named() {
    let mut set = PatternSet::new();
    set.add(Swaps);
    let text =
        "ptir 1 func @f(%x: f32[], %y: f32[]) -> f32[] { %r = add %x, %y : f32[] return %r }";
    let (_, stats) = run(text, set);
    assert!(!stats.converged);
    assert_eq!(stats.cycles, [["Swaps"]]);
}

#[test]
fn a_pattern_that_grows_without_bound_ends_by_budget_and_is_named() {
    fn grows(op: Exp, rw: &mut Rewrite<'_>) -> Option<Value> {
        let more = rw.emit(Neg { input: op.input })?;
        rw.emit(Exp { input: more })
    }
    let mut set = PatternSet::new();
    set.add(grows);
    let config = GreedyConfig { max_rewrites: Some(50), ..config() };
    let (_, stats) = run_with(&body("%r = exp %x"), set, &config);
    assert!(!stats.converged);
    assert_eq!(stats.last_fired, ["grows"]);
    assert_eq!(stats.rewrites, 50);
}

#[test]
fn rounds_are_limited() {
    let mut set = PatternSet::new();
    set.add(tan_of_sin_of_log);
    set.add(exp_to_log);
    let config = GreedyConfig { max_iterations: 1, ..config() };
    let (text, stats) = run_with(&body("%a = exp %x\n%b = sin %a\n%r = tan %b"), set, &config);
    assert_eq!(ops(&text), ["log", "sin", "tan"]);
    assert_eq!((stats.rounds, stats.converged), (1, false));
}

#[test]
fn a_pattern_that_looks_too_far_is_named() {
    fn looks_three_up(op: Tan, rw: &mut Rewrite<'_>) -> Option<Value> {
        let sin = rw.def::<Sin>(op.input)?;
        let log = rw.def::<Log>(sin.input)?;
        let exp = rw.def::<Exp>(log.input)?;
        rw.emit(Abs { input: exp.input })
    }
    let text = body("%a = exp %x\n%b = log %a\n%c = sin %b\n%r = tan %c");
    let mut set = PatternSet::new();
    set.add(looks_three_up);
    let (out, stats) = run(&text, set);
    assert_eq!(ops(&out), ["abs"]);
    let [problem] = &stats.problems[..] else { panic!("{stats:?}") };
    assert_eq!(problem.kind, ProblemKind::ExceedsHops { hops: 3, declared: 2 });
    assert_eq!(
        problem.to_string(),
        "pattern `looks_three_up` at `tan` read a definition 3 steps from its root, but declares `hops` 2"
    );
    let mut set = PatternSet::new();
    set.add(looks_three_up.hops(3));
    assert_eq!(run(&text, set).1.problems, []);
}

#[test]
fn instructions_queued_and_then_erased_are_passed_over() {
    // %a and %b are in the worklist behind %r, and erased before they are visited.
    let mut set = PatternSet::new();
    set.add(neg_of_neg);
    let (text, stats) = run(&body("%a = neg %x\n%b = exp %x\n%r = neg %a"), set);
    assert_eq!(ops(&text), [] as [&str; 0]);
    assert_eq!((stats.rewrites, stats.erased), (1, 2));
}

#[test]
fn inserted_instructions_are_visited() {
    fn tanh_to_exp(op: Tanh, rw: &mut Rewrite<'_>) -> Option<Value> {
        let exp = rw.emit(Exp { input: op.input })?;
        rw.emit(Cos { input: exp })
    }
    let mut set = PatternSet::new();
    set.add(tanh_to_exp);
    set.add(exp_to_log);
    let (text, stats) = run(&body("%r = tanh %x"), set);
    assert_eq!(ops(&text), ["log", "cos"]);
    assert_eq!(stats.rewrites, 2);
}

struct ErasesRoot;
impl OpRewritePattern<Neg> for ErasesRoot {
    fn match_and_rewrite(&self, op: OpView<Neg>, rw: &mut ProgramRewriter<'_>) -> bool {
        let value = rw.value_of(op.root).unwrap();
        rw.replace_all_uses(value, op.input).is_ok() && rw.erase_inst(op.root).is_ok()
    }
}

#[test]
fn a_root_may_be_erased_by_its_own_pattern() {
    let mut set = PatternSet::new();
    set.add(ErasesRoot);
    let (text, stats) = run(&body("%a = neg %x\n%b = neg %a\n%r = exp %b"), set);
    assert_eq!(ops(&text), ["exp"]);
    assert_eq!(stats.rewrites, 2);
}

const REGIONS: &str = "ptir 1

func @f(%p: bool[], %x: f32[], %xs: f32[3]) -> (f32[], f32[], f32[], f32[]) {
  %c = cond %p () {
    %a = neg %x : f32[]
    %b = neg %a : f32[]
    yield %b
  } () {
    yield %x
  } : f32[]
  %w = while %x (%i: f32[]) {
    %a1 = neg %i : f32[]
    %b1 = neg %a1 : f32[]
    %q = compare %b1, %x {direction = lt} : bool[]
    yield %q
  } (%j: f32[]) {
    %a2 = neg %j : f32[]
    %b2 = neg %a2 : f32[]
    yield %b2
  } : f32[]
  %s = scan %x, %xs {carried = 1} (%carry: f32[], %e: f32[]) {
    %a3 = neg %e : f32[]
    %b3 = neg %a3 : f32[]
    %t = add %carry, %b3 : f32[]
    yield %t
  } : f32[]
  %r = reduce %xs, %x {axes = [0]} (%acc: f32[], %e1: f32[]) {
    %a4 = neg %acc : f32[]
    %b4 = neg %a4 : f32[]
    %t1 = add %b4, %e1 : f32[]
    yield %t1
  } : f32[]
  return %c, %w, %s, %r
}
";

#[test]
fn regions_of_cond_while_scan_and_reduce_are_canonicalised() {
    let mut set = PatternSet::new();
    set.add(neg_of_neg);
    let (text, stats) = run(REGIONS, set);
    assert!(!text.contains("neg"), "{text}");
    assert_eq!(stats.rewrites, 5);
}

#[test]
fn custom_ordered_ops_are_never_dropped_merged_or_crossed() {
    let text = "ptir 1

func @f(%x: f32[4]) -> f32[4] {
  %a = custom_call \"print\" %x : f32[4]
  %b = custom_call \"print\" %x : f32[4]
  %c = demo.effect %x : f32[4]
  %d = demo.effect %x : f32[4]
  %u = custom_call \"pure\" %x {has_side_effect = false} : f32[4]
  return %x
}
";
    let config = GreedyConfig { merge_equal: true, ..config() };
    let (out, stats) = run_with(text, PatternSet::new(), &config);
    assert_eq!(ops(&out), ["custom_call", "custom_call", "demo.effect", "demo.effect"]);
    assert_eq!((stats.erased, stats.merged), (1, 0));
}

#[test]
fn statistics_count_tried_matched_and_applied() {
    fn wrong_type(op: Ceil, _: &mut Rewrite<'_>) -> Option<Value> {
        Some(op.input)
    }
    fn never(_: Ceil, _: &mut Rewrite<'_>) -> Option<Value> {
        None
    }
    let mut set = PatternSet::new();
    set.add(never);
    set.add(wrong_type);
    let (_, stats) = run(&body("%a = ceil %x\n%r = ceil %a"), set);
    let counts: Vec<_> =
        stats.patterns.iter().map(|p| (p.name, p.tried, p.matched, p.applied)).collect();
    assert_eq!(counts, [("never", 2, 0, 0), ("wrong_type", 2, 2, 2)]);
    assert_eq!(stats.attempts, 4);
}

#[test]
fn folds_of_custom_ops_can_be_registered() {
    use sapwood_rewrite::{FoldResult, Folded};
    let mut set = PatternSet::new();
    set.add_fold(Abs::key(), |inst, rw| {
        FoldResult::Results([Folded::Value(rw.operands(inst)[0])].into_iter().collect())
    });
    let (text, stats) = run(&body("%a = abs %x\n%r = exp %a"), set);
    assert_eq!(ops(&text), ["exp"]);
    assert_eq!(stats.folds, 1);
}

#[test]
fn folds_and_cost_models_that_panic_are_contained_and_named() {
    fn model(_: InstId, _: PatternId, _: &ProgramRewriter<'_>) -> u16 {
        panic!("no price")
    }
    let mut set = PatternSet::new();
    set.add_fold(Abs::key(), |_, _| panic!("no fold"));
    set.add(exp_to_log);
    set.add(exp_to_sin.benefit(2));
    let config = GreedyConfig { cost_model: Some(model), ..config() };
    let (text, stats) = run_with(&body("%a = abs %x\n%b = abs %a\n%r = exp %b"), set, &config);
    assert_eq!(ops(&text), ["abs", "abs", "sin"]);
    let mut found: Vec<_> =
        stats.problems.iter().map(|p| (&*p.pattern, p.op, p.kind.clone())).collect();
    found.sort_by_key(|p| p.0);
    let panicked = |text: &str| ProblemKind::Panicked(text.into());
    assert_eq!(
        found,
        [("cost model", "exp", panicked("no price")), ("fold of abs", "abs", panicked("no fold"))]
    );
}

#[derive(Default)]
struct Steps(Vec<String>);
impl Listener for Steps {
    fn step(&mut self, _: &Function, kind: StepKind<'_>, _: InstId) {
        self.0.push(kind.name().to_owned());
    }
}

#[test]
fn the_driver_tells_its_steps() {
    let mut set = PatternSet::new();
    set.add(neg_of_neg);
    let mut program = parse(&body("%a = neg %x\n%b = neg %a\n%r = exp %b")).unwrap();
    let mut steps = Steps::default();
    let f = program.function_mut("f").unwrap();
    let (set, config) = (set.freeze(), config());
    apply_with_listener(f, &set, &config, Some(&mut steps)).unwrap();
    assert_eq!(steps.0, ["neg_of_neg", "dce"]);
}

#[test]
fn refused_edits_are_not_steps() {
    // A fold of an op that cannot be erased.
    let mut set = PatternSet::new();
    set.add_fold(Return::key(), |_, _| FoldResult::Results(SmallVec::new()));
    let mut program = parse(&body("%r = neg %x")).unwrap();
    let before = program.to_string();
    let mut steps = Steps::default();
    let f = program.function_mut("f").unwrap();
    let stats = apply_with_listener(f, &set.freeze(), &config(), Some(&mut steps)).unwrap();
    assert_eq!((program.to_string(), stats.folds), (before, 0));
    assert_eq!(steps.0, [""; 0]);
}

#[test]
fn a_function_that_does_not_verify_is_refused() {
    let mut program = parse(&body("%a = exp %x\n%r = exp %a")).unwrap();
    let f = program.function_mut("f").unwrap();
    let exp = f.walk().next().unwrap();
    let value = f.value_of(exp).unwrap();
    f.set_type(value, &sapwood_ptir::ValueType::Token).unwrap();
    let before = format!("{f:?}");
    let outcome = apply_patterns_and_fold_greedily(f, &PatternSet::new().freeze(), &config());
    assert!(outcome.is_err());
    assert_eq!(format!("{f:?}"), before);
}

// No choice depends on the order in which uses were created.
#[test]
fn the_result_is_a_function_of_the_printed_program() {
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let log = seen.clone();
    let order = move |op: Unary, rw: &mut Rewrite<'_>| -> Option<Value> {
        let _ = rw.def::<Exp>(op.input);
        log.lock().unwrap().push(op.key.name().to_owned());
        None
    };
    let text = body(
        "%a = exp %x\n%b = sin %a\n%c = cos %a\n%d = tan %a\n%e = mul %b, %c\n%r = add %e, %d",
    );
    let mut program = parse(&text).unwrap();
    let f = program.function_mut("f").unwrap();
    // Uses of %a in another order, with other ids.
    let insts: Vec<InstId> = f.walk().collect();
    let sin = insts[1];
    let mut rw = ProgramRewriter::new(f);
    let a = rw.operands(sin)[0];
    let (_, again) = rw.insert_before(sin, Sin { input: a }).unwrap();
    rw.replace_inst(sin, &[again]).unwrap();
    let mul = insts[4];
    let (l, r) = (rw.operands(mul)[0], rw.operands(mul)[1]);
    let mut parts = sapwood_ptir::OpParts::new(Mul::key());
    parts.operands.extend([l, r]);
    let new = rw.insert_parts(InsertPoint::After(mul), &parts).unwrap();
    let value = rw.value_of(new).unwrap();
    let old = rw.value_of(mul).unwrap();
    rw.replace_all_uses(old, value).unwrap();
    rw.erase_inst(mul).unwrap();
    let mut fresh = parse(&program.to_string()).unwrap();
    for program in [&mut program, &mut fresh] {
        let mut set = PatternSet::new();
        set.add(order.clone());
        run_program(program, set, &config());
    }
    let seen = seen.lock().unwrap();
    let (first, second) = seen.split_at(seen.len() / 2);
    assert_eq!(first, second);
    assert!(!first.is_empty());
}
