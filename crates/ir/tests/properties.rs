//! Properties of random well-formed programs, generated from a tape of choices so that failures shrink.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::process::{Command, Stdio};

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use sapwood_ir::interpret::{Interpreter, RunError, RunValue};
use sapwood_ir::passes::{PASSES, to_ssa};
use sapwood_ir::testing::{ChoiceSource, arguments, emit, program, program_from_choices};
use sapwood_ir::{
    Callee, Expr, Function, Program, ProgramRef, Stmt, Type, Var, VerifyLevel, from_json,
    parse_program, print_program, to_json, verify,
};
use sapwood_structural::{Node as _, NodeWalk, WalkAction, equal, hash};
use sapwood_testing::cases;
use sapwood_types::{DataType, Source, Span};

fn tape() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..700)
}

fn made(tape: &[u8], size: usize) -> ProgramRef {
    program_from_choices(&mut ChoiceSource::from_tape(tape), size)
}

fn read(text: &str) -> Result<ProgramRef, TestCaseError> {
    let source = Source::new("random.ir", text);
    parse_program(&source)
        .map_err(|error| TestCaseError::fail(format!("{text}\n{}", error.render(&source))))
}

proptest! {
    #![proptest_config(sapwood_testing::properties())]

    #[test]
    fn printed_programs_parse_to_equal_ones(tape in tape()) {
        let program = made(&tape, 20);
        let text = print_program(&program).unwrap();
        let back = read(&text)?;
        if let Err(error) = sapwood_structural::StructuralOptions::default().assert_equal(&program, &back) {
            prop_assert!(false, "{error}\n{text}");
        }
        prop_assert_eq!(hash(&program).unwrap(), hash(&back).unwrap());
        prop_assert_eq!(print_program(&back).unwrap(), text, "prints back to itself");
    }

    #[test]
    fn text_grows_with_nodes_not_with_paths(tape in tape()) {
        let program = made(&tape, 60);
        let mut nodes = 0;
        let _ = NodeWalk::of(&program).pre_order(|_| {
            nodes += 1;
            ControlFlow::<(), _>::Continue(WalkAction::Into)
        });
        let text = print_program(&program).unwrap();
        prop_assert!(text.len() < 100 * nodes + 1000, "{} for {nodes}", text.len());
    }

    #[test]
    fn the_verifier_accepts(tape in tape()) {
        let program = made(&tape, 20);
        let problems = verify(&program, VerifyLevel::WellFormed);
        prop_assert!(problems.is_empty(), "{problems:?}\n{program}");
    }

    #[test]
    fn json_keeps_everything(tape in tape()) {
        let program = made(&tape, 20);
        let json = to_json(&program).unwrap();
        let back = from_json(&json).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert!(equal(&program, &back).unwrap());
        prop_assert_eq!(to_json(&back).unwrap(), json);
        prop_assert_eq!(back.to_string(), program.to_string());
    }

    #[test]
    fn every_pass_keeps_the_results(tape in tape(), seed in any::<u64>()) {
        let before = made(&tape, 15);
        for (name, pass) in PASSES {
            let after = pass(&before)
                .map_err(|error| TestCaseError::fail(format!("{name}: {error}\n{before}")))?;
            let level = if name == "to_ssa" { VerifyLevel::Ssa } else { VerifyLevel::WellFormed };
            let problems = verify(&after, level);
            prop_assert!(problems.is_empty(), "{name}: {problems:?}\n{before}\n{after}");
            let twice = pass(&after).unwrap();
            prop_assert!(
                equal(&after, &twice).unwrap(),
                "a second {name} changes\n{before}\n{after}\n{twice}"
            );
            same_results(&before, &after, seed, name)?;
        }
        let ssa = to_ssa(&before).unwrap();
        for (name, pass) in PASSES {
            let after = pass(&ssa).unwrap();
            if name != "inline" {
                let problems = verify(&after, VerifyLevel::Ssa);
                prop_assert!(problems.is_empty(), "{name} of SSA: {problems:?}\n{after}");
            }
            same_results(&before, &after, seed, name)?;
        }
    }
}

/// Returns the results of a function and the ops it calls.
fn run(
    program: &Program,
    name: &str,
    args: &[RunValue],
) -> (Result<Vec<RunValue>, RunError>, Vec<String>) {
    let mut log = Vec::new();
    let mut ops = |name: &str, args: &[RunValue]| emit(&mut log, name, args);
    let result = Interpreter::new(program, 200_000).with_ops(&mut ops).run(name, args);
    (result, log)
}

fn same_results(
    before: &ProgramRef,
    after: &ProgramRef,
    seed: u64,
    pass: &str,
) -> Result<(), TestCaseError> {
    let mut random = ChoiceSource::new(seed);
    for function in before.functions() {
        let args = arguments(&mut random, function);
        let expected = run(before, &function.name, &args);
        // A pass may lower the number of steps and calls; every other outcome must stay the same.
        if !matches!(expected.0, Err(RunError::OutOfSteps | RunError::TooManyCalls)) {
            let found = run(after, &function.name, &args);
            prop_assert_eq!(
                expected,
                found,
                "{}, {} of {:?}\n{}\n{}",
                pass,
                function.name,
                args,
                before,
                after
            );
        }
    }
    Ok(())
}

#[test]
fn random_programs_have_every_node_type() {
    let mut found: BTreeSet<&str> = BTreeSet::new();
    for seed in 0..2_000 {
        let _ = NodeWalk::of(&program(seed, 20)).pre_order(|at| {
            found.insert(at.node().info().key());
            ControlFlow::<(), _>::Continue(WalkAction::Into)
        });
    }
    let all = [Expr::types(), Stmt::types(), Type::types(), Callee::types()].concat();
    let all = all.into_iter().chain(Function::types()).chain(Program::types());
    let missing: Vec<&str> =
        all.map(sapwood_structural::TypeInfo::key).filter(|key| !found.contains(key)).collect();
    assert!(missing.is_empty(), "no random program has {missing:?}");
}

#[test]
fn a_tape_at_its_end_gives_a_program() {
    for length in 0..50 {
        let program = made(&vec![255; length], 20);
        assert!(verify(&program, VerifyLevel::WellFormed).is_empty(), "{program}");
    }
}

#[test]
fn cpython_parses_printed_programs() {
    let mut input = String::new();
    for seed in 0..u64::from(cases(1_500, 2_000)) {
        let text = print_program(&program(seed, 25)).unwrap();
        input.push_str(&text.len().to_string());
        input.push('\n');
        input.push_str(&text);
    }
    let script = "import ast, sys\n\
        data = sys.stdin.buffer.read()\n\
        at = 0\n\
        while at < len(data):\n\
        \x20   end = data.index(b'\\n', at)\n\
        \x20   size = int(data[at:end])\n\
        \x20   ast.parse(data[end + 1:end + 1 + size])\n\
        \x20   at = end + 1 + size\n";
    let mut python = Command::new("python3")
        .args(["-W", "ignore", "-c", script])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("python3");
    // The script reads lengths in bytes.
    python.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = python.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn casts_of_tensors_keep_their_types_in_text() {
    let nowhere = Span::unknown();
    let tensor = |dtype, dims: &[i64]| Type::static_tensor(dtype, dims);
    let x = Var::new("x", tensor(DataType::F32, &[2, 3]), nowhere);
    for (ty, text) in [
        (tensor(DataType::I8, &[2, 3]), "pi.cast(x, pi.INT8)"),
        (tensor(DataType::I8, &[3, 2]), "pi.cast(x, pi.TensorType(pi.INT8, [3, 2]))"),
        (Type::scalar(DataType::I8), "pi.typed(pi.cast(x, pi.INT8), pi.INT8)"),
        (Type::unknown(), "pi.cast(x, pi.UnknownType())"),
    ] {
        let cast = Expr::cast(x.expr(), ty, nowhere);
        let f = Function::new(
            "f",
            [x.clone()],
            [cast.ty().clone()],
            &Stmt::return_([cast], nowhere),
            nowhere,
        );
        let program = Program::new([f], "", nowhere).unwrap();
        let printed = print_program(&program).unwrap();
        assert!(printed.contains(text), "{printed}");
        assert!(equal(&read(&printed).unwrap(), &program).unwrap(), "{printed}");
    }
}
