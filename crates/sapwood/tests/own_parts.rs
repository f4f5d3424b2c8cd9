//! Parts of a user that are wrong: the errors name them.

#![allow(clippy::needless_pass_by_value, reason = "patterns take their root by value")]

use std::fs;

use sapwood::Toolkit;
use sapwood::ptir::ops::{Call, Neg, Sub};
use sapwood::ptir::prelude::DataType;
use sapwood::ptir::{InferCx, InferResult, ResultTypes, Value};
use sapwood::rewrite::Rewrite;
use sapwood::rules::{ArgumentKind, FindOptions, Vocabulary, find_matches, rules_from};
use sapwood_types::Source;

sapwood::ptir::ops! {
    family "my", table my_ops, values MyValueOps, graph MyGraphOps;

    /// The square of each element.
    op square Square "my.square" (input: Value) {} -> one [] = infer_square;
}

fn infer_square(cx: &InferCx<'_>) -> InferResult {
    cx.same_as(0)
}

fn fine(op: Neg, rw: &mut Rewrite<'_>) -> Option<Value> {
    (rw.dtype(op.input)? == DataType::F32).then(|| rw.emit(Square { input: op.input }))?
}

// Calls a function that does not exist.
fn bad_call(op: Sub, rw: &mut Rewrite<'_>) -> Option<Value> {
    let types = ResultTypes(vec![rw.result_type()?.clone()]);
    let (args, callee) = ([op.lhs, op.rhs].into_iter().collect(), "nowhere".into());
    rw.emit(Call { args, callee, has_side_effect: false, types })
}

mod again {
    pub(super) use super::fine as other;

    use super::{Neg, Rewrite, Value};

    pub(super) fn fine(op: Neg, rw: &mut Rewrite<'_>) -> Option<Value> {
        other(op, rw)
    }
}

#[test]
fn a_pattern_that_leaves_an_invalid_call_is_named() {
    let toolkit = Toolkit::new().ops(my_ops()).patterns(|set| {
        set.add(fine);
        set.add(bad_call);
    });
    let text = "ptir 1
        func @f(%x: f32[4]) -> f32[4] { %a = neg %x : f32[4] %b = exp %a : f32[4] return %b }
        func @g(%x: f32[4], %y: f32[4]) -> f32[4] {
          %a = neg %x : f32[4] %b = exp %y : f32[4] %c = neg %b : f32[4] %d = sub %a, %c : f32[4] return %d
        }";
    let mut program = toolkit.parse(text).unwrap();
    let before = program.to_string();
    let error = toolkit.optimize(&mut program, "dce,canonicalize{only=fine|bad_call}").unwrap_err();
    let error = error.to_string();
    assert!(error.contains("pattern `bad_call` left a program that does not verify"), "{error}");
    assert!(error.contains("unknown function @nowhere"), "{error}");
    assert_eq!(program.to_string(), before);
}

#[test]
fn patterns_of_the_same_name_are_refused() {
    let problems = |toolkit: Toolkit| toolkit.check_parts().unwrap_err().to_string();
    let twice = Toolkit::new().patterns(|set| {
        set.add(fine);
        set.add(again::fine);
    });
    assert!(problems(twice).contains("`fine` is already the name of another pattern"));
    let shipped = Toolkit::new().patterns(|set| {
        use sapwood::rewrite::PatternFn as _;
        set.add(fine.named("neg_of_neg"));
    });
    assert!(problems(shipped).contains("`neg_of_neg` is already the name of another pattern"));
}

#[test]
fn passes_of_the_same_name_are_refused() {
    let shipped = Toolkit::new().pass_infos().find(|info| info.name == "cse").unwrap().clone();
    let error = Toolkit::new().pass(shipped.clone()).check_parts().unwrap_err().to_string();
    assert!(error.contains("`cse` is already the name of another pass"), "{error}");
    let renamed = sapwood::rewrite::PassInfo { name: "my-cse", ..shipped };
    let toolkit = Toolkit::new().pass(renamed.clone());
    toolkit.check_parts().unwrap();
    let error = toolkit.pass(renamed).check_parts().unwrap_err().to_string();
    assert!(error.contains("`my-cse` is already the name of another pass"), "{error}");
}

#[test]
fn a_misspelled_op_is_noted() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("f.ptir");
    let text = "ptir 1 func @f(%x: f32[4]) -> f32[4] {
      %a = my.sqare %x : f32[4] %b = other.thing %a : f32[4] return %b
    }";
    fs::write(&file, text).unwrap();
    let read = Toolkit::new().ops(my_ops()).read(&file).unwrap();
    let end = "f.ptir: op `my.sqare` is not registered; did you mean `my.square`?\n";
    assert!(read.notes.ends_with(end), "{}", read.notes);
    assert_eq!(read.notes.lines().count(), 1, "{}", read.notes);
    assert_eq!(Toolkit::new().read(&file).unwrap().notes, "");
}

fn command(toolkit: Toolkit, words: &[&str]) -> u8 {
    toolkit.run_command(std::iter::once("sapwood").chain(words.iter().copied()).map(Into::into))
}

#[test]
fn a_predicate_that_panics_is_named() {
    let mut words = Vocabulary::builtin();
    words.predicate("odd", &[ArgumentKind::Value], "its rank is odd", |_| panic!("no rank"));
    let toolkit = || Toolkit::new().vocabulary(words.clone());
    let folder = tempfile::tempdir().unwrap();
    let [program, rules] = ["f.ptir", "r.rules"].map(|name| folder.path().join(name));
    let text = "ptir 1 func @f(%x: f32[4]) -> f32[4] { %a = neg %x : f32[4] return %a }";
    fs::write(&program, text).unwrap();
    let rule = "rule my_neg: neg(x) where odd(x) => abs(x)";
    fs::write(&rules, rule).unwrap();
    let [program, rules] = [&program, &rules].map(|path| path.to_str().unwrap());
    let output = folder.path().join("out.ptir");
    let output = output.to_str().unwrap();
    for words in [
        &["match", "--pattern", rules, program][..],
        &["match", "--explain", "--pattern", rules, program],
        &["extract", "--pattern", rules, program, "-o", output],
    ] {
        assert_eq!(command(toolkit(), words), 2, "{words:?}");
    }
    // The rule is not checked.
    assert_eq!(command(toolkit(), &["check-rules", rules]), 1);
    let with_rule = toolkit().rules("r.rules", rule);
    let parsed = with_rule.parse(text).unwrap();
    let source = Source::new("r.rules", rule);
    let patterns =
        [rules_from(&source, with_rule.registry(), &words).unwrap()[0].pattern().clone()];
    let find = || find_matches(&parsed, &patterns, &FindOptions::default());
    let message = sapwood_types::catch_panic(find).unwrap_err();
    assert_eq!(message, "predicate `odd` of `my_neg`: no rank");
}
