//! Random well-formed programs of the front-end IR round-trip through text and JSON, and passes preserve their
//! results.
#![no_main]
use libfuzzer_sys::fuzz_target;
use sapwood_ir::interpret::{Interpreter, RunError};
use sapwood_ir::passes::PASSES;
use sapwood_ir::testing::{ChoiceSource, arguments, emit, program_from_choices};
use sapwood_ir::{VerifyLevel, from_json, parse_program, print_program, to_json, verify};
use sapwood_structural::equal;
use sapwood_types::Source;

fuzz_target!(|input: (u64, u8, &[u8])| {
    let (seed, size, tape) = input;
    let before = program_from_choices(&mut ChoiceSource::from_tape(tape), usize::from(size));
    if let Ok(text) = print_program(&before) {
        let back = parse_program(&Source::new("random.ir", text)).expect("printed text is read");
        assert!(equal(&before, &back).unwrap_or(false));
    }
    let json = to_json(&before).expect("programs have a JSON form");
    assert!(equal(&before, &from_json(&json).expect("written JSON is read")).unwrap_or(false));
    let mut random = ChoiceSource::new(seed);
    for (name, pass) in PASSES {
        let Ok(after) = pass(&before) else { continue };
        let level = if name == "to_ssa" { VerifyLevel::Ssa } else { VerifyLevel::WellFormed };
        let problems = verify(&after, level);
        assert!(problems.is_empty(), "{name}: {problems:?}");
        for function in before.functions() {
            let args = arguments(&mut random, function);
            let run = |program| {
                let mut log = Vec::new();
                let mut ops = |name: &str, args: &[_]| emit(&mut log, name, args);
                let mut interpreter = Interpreter::new(program, 100_000).with_ops(&mut ops);
                let result = interpreter.run(&function.name, &args);
                drop(interpreter);
                (result, log)
            };
            let (expected, found) = (run(&before), run(&after));
            // The number of steps and calls may change; everything else is preserved.
            let stopped = |result: &Result<_, _>| {
                matches!(result, Err(RunError::OutOfSteps | RunError::TooManyCalls))
            };
            if !stopped(&expected.0) && !stopped(&found.0) {
                assert_eq!(expected, found, "{name}");
            }
        }
    }
});
