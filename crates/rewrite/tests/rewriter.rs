//! The rewriter: the effects of edits, and the edits it refuses.

use std::sync::Arc;

use crate::edit_count::EditCount;
use sapwood_ptir::ops::{Add, Cond, Exp, Neg, Reshape, Yield};
use sapwood_ptir::testing::{Rng, random_functions};
use sapwood_ptir::{
    BodyId, EditError, Function, InsertPoint, InstId, Op, OpParts, Program, TensorLiteral,
    TensorType, Value, ValueId, parse,
};
use sapwood_rewrite::{
    GreedyConfig, Pattern, PatternSet, ProgramRewriter, Rewrite, RewriteError, Roots,
    TraceListener, apply_patterns_and_fold_greedily,
};
use sapwood_testing::cases;
use sapwood_trace::{ExecutionTraceSink, StepLogSink};
use sapwood_types::{DataType, Diagnostic};

fn program(text: &str) -> Program {
    parse(text).unwrap_or_else(|p| panic!("{p}\n{text}"))
}

fn function(program: &mut Program) -> &mut Function {
    program.function_mut("f").unwrap()
}

fn find<T: Op>(f: &Function) -> InstId {
    f.walk().find(|&i| f.is::<T>(i)).unwrap()
}

const NESTED: &str = "ptir 1

func @f(%p: bool[], %x: f32[4]) -> (f32[4], f32[4]) {
  %e = exp %x : f32[4]
  %c = cond %p () {
    %n = neg %e : f32[4]
    yield %n
  } () {
    yield %e
  } : f32[4]
  return %c, %e
}
";

#[test]
fn replace_all_uses_reaches_results_and_nested_regions() {
    let mut p = program(NESTED);
    let f = function(&mut p);
    let (x, e) = (f.params()[1], f.value_of(find::<Exp>(f)).unwrap());
    let mut rw = ProgramRewriter::new(f);
    rw.replace_all_uses(e, x).unwrap();
    assert!(rw.unused(e));
    assert_eq!(rw.function().results()[1], x);
    assert_eq!(rw.operands(find::<Neg>(rw.function())), [x]);
    assert_eq!(rw.operands(find::<Yield>(rw.function())).len(), 1);
    rw.verify().unwrap();
    f.check_indices().unwrap();
    assert_eq!(f.users_of(x).len(), 4);
}

#[test]
fn erase_refuses_live_values() {
    let mut p = program(NESTED);
    let f = function(&mut p);
    let (exp, cond) = (find::<Exp>(f), find::<Cond>(f));
    let mut rw = ProgramRewriter::new(f);
    let refused = rw.erase_inst(exp).unwrap_err();
    assert!(matches!(refused, RewriteError::Edit(EditError::StillUsed { uses: 3, .. })));
    // The results of a function are uses.
    assert!(rw.erase_inst(cond).is_err());
    let ret = rw.function().terminator(rw.function().body()).unwrap();
    let refused = rw.erase_inst(ret).unwrap_err();
    assert!(matches!(refused, RewriteError::Edit(EditError::Terminator("return"))));
    assert_eq!(p.to_string(), NESTED);
}

// Random edits, most of them wrong.
fn random_edit(rw: &mut ProgramRewriter<'_>, rng: &mut Rng) -> Result<(), RewriteError> {
    let f = rw.function();
    let insts: Vec<InstId> = f.walk().collect();
    let inst = insts[rng.below(insts.len())];
    let at = insts[rng.below(insts.len())];
    let values: Vec<ValueId> =
        f.walk().flat_map(|i| f.inst_results(i)).chain(f.params().iter().copied()).collect();
    let Some(value) = rng.pick(&values) else { return Ok(()) };
    let other = rng.pick(&values).unwrap_or(value);
    match rng.below(9) {
        0 => rw.erase_inst(inst),
        1 => rw.replace_all_uses(value, other),
        2 => {
            let count = rng.below(3);
            let list: Vec<ValueId> = (0..count).filter_map(|_| rng.pick(&values)).collect();
            rw.replace_inst(inst, &list)
        }
        3 => rw.set_operand(inst, rng.below(3), value),
        4 => rw.set_operands(inst, &[value, other]),
        5 => rw.insert_before(at, Add { lhs: value, rhs: other }).map(|_| ()),
        6 => rw.move_inst(inst, InsertPoint::After(at)),
        7 => {
            let attrs = rw.function().attrs(at).clone();
            rw.set_attrs(inst, &attrs)
        }
        _ => match rw.function().regions(inst).first().copied() {
            Some(body) => {
                let params = rw.function().body_params(body).len();
                let args: Vec<ValueId> = (0..params).filter_map(|_| rng.pick(&values)).collect();
                // Inlining leaves the owner without a terminator; only refusals are examined here.
                if rw.function().body_owner(body).is_some() && params == 0 {
                    return Ok(());
                }
                rw.inline_body(body, &args, InsertPoint::Before(at)).map(|_| ())
            }
            None => Ok(()),
        },
    }
}

#[test]
fn a_refused_edit_changes_nothing() {
    let (mut refused, mut done) = (0, 0);
    for (seed, mut f, mut rng) in random_functions(cases(200, 20_000)) {
        for step in 0..30 {
            let before = format!("{f:?}");
            let mut count = EditCount::default();
            let mut rw = ProgramRewriter::new(&mut f);
            rw.listen(&mut count);
            let outcome = random_edit(&mut rw, &mut rng);
            if let Err(why) = outcome {
                refused += 1;
                assert_eq!(format!("{f:?}"), before, "seed {seed} step {step}: {why}");
                assert_eq!(count.0, 0, "seed {seed} step {step}: {why}: listeners were notified");
            } else {
                done += 1;
            }
            f.check_indices()
                .unwrap_or_else(|e| panic!("seed {seed} step {step}: {e}\n{before}\n{f:?}"));
        }
    }
    assert!(refused > 1000 && done > 500, "{refused} refused, {done} done");
}

#[test]
fn edits_that_are_not_refused_keep_the_function_valid() {
    let mut done = 0;
    for (seed, mut f, _) in random_functions(cases(300, 20_000)) {
        let mut rng = Rng::new(seed + 1_000_000);
        for step in 0..30 {
            let before = f.clone();
            let mut rw = ProgramRewriter::new(&mut f);
            if random_edit(&mut rw, &mut rng).is_ok() {
                done += 1;
                if let Err(problems) = rw.verify() {
                    // Inlining leaves an empty region behind until its owner is erased, and nothing else does.
                    let g = rw.function();
                    let is_empty = |&b: &BodyId| g.first_inst(b).is_none();
                    let emptied = g.walk().any(|i| g.regions(i).iter().any(is_empty));
                    let empty = ["terminator", "but ends in nothing"];
                    let about = |p: &Diagnostic| empty.iter().any(|e| p.message.contains(e));
                    if emptied && problems.iter().all(about) {
                        f = before;
                        continue;
                    }
                    panic!("seed {seed} step {step}: {problems}\n{before:?}\n{f:?}");
                }
            }
        }
    }
    assert!(done > 500, "{done}");
}

#[test]
fn users_lists_are_exact_duplicates_included() {
    let mut p = program(
        "ptir 1 func @f(%x: f32[]) -> f32[] { %a = add %x, %x : f32[] %b = mul %a, %x : f32[] return %b }",
    );
    let f = function(&mut p);
    let x = f.params()[0];
    let insts: Vec<InstId> = f.walk().collect();
    let rw = ProgramRewriter::new(f);
    assert_eq!(rw.users_of(x), [insts[0], insts[0], insts[1]]);
    assert!(!rw.one_use(x) && !rw.one_user(x));
    let a = rw.value_of(insts[0]).unwrap();
    assert_eq!(rw.users_of(a), [insts[1]]);
    assert!(rw.one_use(a) && rw.one_user(a));
}

#[test]
fn users_come_in_program_order_whatever_the_history() {
    let mut p = program(NESTED);
    let f = function(&mut p);
    let x = f.params()[1];
    let mut rw = ProgramRewriter::new(f);
    let ret = rw.function().terminator(rw.function().body()).unwrap();
    let exp = find::<Exp>(rw.function());
    rw.insert_before(ret, Neg { input: x }).unwrap();
    rw.insert_before(exp, Neg { input: x }).unwrap();
    let users = rw.users_of(x);
    assert!(users.windows(2).all(|w| rw.function().is_before(w[0], w[1])), "{users:?}");
    assert_eq!(users.len(), 3);
}

#[test]
fn ids_are_never_reused() {
    let mut p = program(NESTED);
    let f = function(&mut p);
    let x = f.params()[1];
    let ret = f.terminator(f.body()).unwrap();
    let mut rw = ProgramRewriter::new(f);
    let mut seen: Vec<(InstId, ValueId)> = Vec::new();
    for _ in 0..100 {
        let made = rw.insert_before(ret, Neg { input: x }).unwrap();
        assert!(!seen.iter().any(|s| s.0 == made.0 || s.1 == made.1));
        seen.push(made);
        rw.erase_inst(made.0).unwrap();
        assert!(rw.type_of(made.1).is_none());
        assert!(rw.erase_inst(made.0).is_err());
    }
}

#[test]
fn a_parameter_has_no_defining_instruction() {
    let mut p = program(NESTED);
    let rw = ProgramRewriter::new(function(&mut p));
    assert_eq!(rw.inst_of(rw.function().params()[0]), None);
    assert!(rw.def::<Exp>(rw.function().params()[1]).is_none());
    assert!(rw.inst_of(rw.function().results()[0]).is_some());
}

#[test]
fn a_use_before_its_definition_is_refused() {
    let mut p = program(NESTED);
    let f = function(&mut p);
    let (exp, neg) = (find::<Exp>(f), find::<Neg>(f));
    let (e, n) = (f.value_of(exp).unwrap(), f.value_of(neg).unwrap());
    let x = f.params()[1];
    let ret = f.terminator(f.body()).unwrap();
    let mut rw = ProgramRewriter::new(f);
    assert!(rw.insert_before(exp, Neg { input: e }).is_err());
    // Out of a region.
    assert!(rw.insert_before(ret, Neg { input: n }).is_err());
    assert!(rw.set_operand(exp, 0, e).is_err());
    assert!(rw.replace_all_uses(x, e).is_err());
    assert!(rw.move_inst(exp, InsertPoint::Before(ret)).is_err());
    assert_eq!(p.to_string(), NESTED);
}

#[test]
fn a_type_changing_replacement_is_refused() {
    let mut p = program(NESTED);
    let f = function(&mut p);
    let (pred, x, e) = (f.params()[0], f.params()[1], f.value_of(find::<Exp>(f)).unwrap());
    let (exp, cond) = (find::<Exp>(f), find::<Cond>(f));
    let mut rw = ProgramRewriter::new(f);
    assert!(matches!(
        rw.replace_all_uses(e, pred).unwrap_err(),
        RewriteError::Edit(EditError::Type { .. })
    ));
    assert!(rw.replace_inst(exp, &[pred]).is_err());
    assert!(rw.replace_inst(exp, &[x, x]).is_err());
    assert!(rw.replace_inst(exp, &[e]).is_err());
    // Values that the op does not accept, and values that the owner of its region does not accept.
    assert!(rw.set_operand(exp, 0, pred).is_err());
    assert!(rw.set_operand(cond, 0, x).is_err());
    let yields: Vec<InstId> =
        rw.function().walk().filter(|&i| rw.function().is::<Yield>(i)).collect();
    assert!(rw.set_operand(yields[0], 0, pred).is_err());
    assert!(rw.set_operands(yields[0], &[]).is_err());
    assert_eq!(p.to_string(), NESTED);
}

#[test]
fn attributes_that_change_the_result_are_refused() {
    let text = "ptir 1\n\nfunc @f(%x: f32[2, 3]) -> f32[3, 2] {\n  %t = transpose %x {perm = [1, 0]} : f32[3, 2]\n  return %t\n}\n";
    let mut p = program(text);
    let f = function(&mut p);
    let t = f.walk().next().unwrap();
    let mut rw = ProgramRewriter::new(f);
    let mut parts = OpParts::new(Reshape::key());
    parts.push_attr(&sapwood_ptir::Axes::from([0i64, 1]));
    assert!(rw.set_attrs(t, &parts.attrs.iter().cloned().collect()).is_err());
    assert_eq!(p.to_string(), text);
}

#[test]
fn span_hint_and_comment_move_to_the_replacement() {
    let text = "ptir 1\nfunc @f(%x: f32[4]) -> f32[4] {\n  %y = neg %x : f32[4]\n  return %y\n}\n";
    let mut p = program(text);
    let f = function(&mut p);
    let neg = find::<Neg>(f);
    let span = f.inst_span(neg);
    assert!(!span.is_unknown());
    let x = f.params()[0];
    f.set_comment(neg, Some("// why"));
    let mut rw = ProgramRewriter::new(f);
    let (exp, value) = rw.insert_before(neg, Exp { input: x }).unwrap();
    rw.replace_inst(neg, &[value]).unwrap();
    assert_eq!(f.inst_span(exp), span);
    assert_eq!(f.hint(value), Some("y"));
    assert_eq!(f.comment(exp), Some("// why"));
}

#[test]
fn listeners_see_every_edit() {
    let mut p = program(NESTED);
    let f = function(&mut p);
    let (exp, x) = (find::<Exp>(f), f.params()[1]);
    let log = Arc::new(StepLogSink::new());
    let sinks: [Arc<dyn ExecutionTraceSink>; 1] = [log.clone()];
    let mut listener = TraceListener::new(&sinks, "edits");
    let mut rw = ProgramRewriter::new(f);
    rw.listen(&mut listener);
    let (_, n) = rw.insert_before(exp, Neg { input: x }).unwrap();
    rw.set_operand(exp, 0, n).unwrap();
    let e = rw.value_of(exp).unwrap();
    rw.replace_all_uses(e, x).unwrap();
    rw.erase_inst(exp).unwrap();
    let text = log.text();
    let kinds: Vec<&str> = text.lines().filter_map(|l| l.split_whitespace().next()).collect();
    assert_eq!(kinds, ["@f", "inserted", "changed", "replaced", "erased"]);
}

#[test]
fn constants_are_one_per_literal() {
    let mut p = program(NESTED);
    let f = function(&mut p);
    let (neg, ret) = (find::<Neg>(f), f.terminator(f.body()).unwrap());
    let literal = TensorLiteral::filled(DataType::F32, &[4], 2.0).unwrap();
    let mut rw = ProgramRewriter::new(f);
    let a = rw.materialize_constant(neg, &literal);
    let b = rw.materialize_constant(ret, &literal);
    assert_eq!(a, b);
    assert_eq!(rw.constant_of(a), Some(literal));
    let first = rw.function().first_inst(rw.function().body()).unwrap();
    assert_eq!(rw.value_of(first), Some(a));
    assert_eq!(rw.type_of(a).unwrap(), &TensorType::new(DataType::F32, [4u64]).into());
}

// Requests a constant that is in a region, and returns false.
struct AsksAndSaysNo;
impl Pattern for AsksAndSaysNo {
    fn roots(&self) -> Roots {
        Roots::of::<Exp>()
    }
    fn match_and_rewrite(&self, root: InstId, rw: &mut ProgramRewriter<'_>) -> bool {
        let two = TensorLiteral::filled(DataType::F32, &[4], 2.0).unwrap();
        rw.materialize_constant(root, &two);
        false
    }
}

fn neg_as_five(_: Neg, rw: &mut Rewrite<'_>) -> Option<Value> {
    rw.filled_like_result(5.0)
}

#[test]
fn a_failed_attempt_leaves_the_place_of_constants_as_it_was() {
    let p = program(
        "ptir 1 func @f(%p: bool[], %x: f32[4]) -> (f32[4], f32[4], f32[4]) {
          %n = neg %x : f32[4]
          %c = cond %p () {
            %two = constant 2.0 : f32[4]
            %m = mul %two, %x : f32[4]
            yield %m
          } () {
            yield %x
          } : f32[4]
          %e = exp %x : f32[4]
          return %n, %c, %e
        }",
    );
    let mut set = PatternSet::new();
    set.add(AsksAndSaysNo);
    set.add(neg_as_five);
    let set = set.freeze();
    for top_down in [false, true] {
        let config = GreedyConfig { top_down, ..GreedyConfig::default() };
        let mut p = p.clone();
        let f = function(&mut p);
        let stats = apply_patterns_and_fold_greedily(f, &set, &config).unwrap();
        let names: Vec<&str> = stats.problems.iter().map(|p| &*p.pattern).collect();
        assert_eq!(names, ["AsksAndSaysNo"]);
        f.check_indices().unwrap();
        sapwood_ptir::verify(&p).unwrap();
        assert!(!p.to_string().contains("neg"), "{p}");
    }
}

// Moves `neg` out of a region.
struct Hoists;
impl Pattern for Hoists {
    fn roots(&self) -> Roots {
        Roots::of::<Neg>()
    }
    fn match_and_rewrite(&self, root: InstId, rw: &mut ProgramRewriter<'_>) -> bool {
        let f = rw.function();
        match f.body_of(root).and_then(|b| f.body_owner(b)) {
            Some(owner) => rw.move_inst(root, InsertPoint::Before(owner)).is_ok(),
            None => false,
        }
    }
}

#[test]
fn a_move_is_a_change() {
    let mut p = program(NESTED);
    let f = function(&mut p);
    let (neg, cond) = (find::<Neg>(f), find::<Cond>(f));
    let mut count = EditCount::default();
    let mut rw = ProgramRewriter::new(f);
    rw.listen(&mut count);
    rw.move_inst(neg, InsertPoint::Before(cond)).unwrap();
    assert_eq!(count.0, 1);

    // Once it is outside, it replaces the ones that follow.
    let mut p = program(
        "ptir 1 func @f(%p: bool[], %x: f32[4]) -> (f32[4], f32[4]) {
          %c = cond %p () { %n = neg %x : f32[4] %e = exp %n : f32[4] yield %e } () { yield %x } : f32[4]
          %d = cond %p () { %m = neg %x : f32[4] %g = sin %m : f32[4] yield %g } () { yield %x } : f32[4]
          return %c, %d
        }",
    );
    let mut set = PatternSet::new();
    set.add(Hoists);
    let config = GreedyConfig { merge_equal: true, ..GreedyConfig::default() };
    apply_patterns_and_fold_greedily(function(&mut p), &set.freeze(), &config).unwrap();
    assert_eq!(p.to_string().matches("neg").count(), 1, "{p}");
}
