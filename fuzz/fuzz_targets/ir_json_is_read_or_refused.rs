//! Any text is read as the JSON form of a program or refused; a program that is read can be verified, written, run
//! through the passes and interpreted, or is refused there.
#![no_main]
use libfuzzer_sys::fuzz_target;
use sapwood_ir::interpret::Interpreter;
use sapwood_ir::passes::PASSES;
use sapwood_ir::{VerifyLevel, from_json, print_program, to_json, verify};

fuzz_target!(|text: &str| {
    if let Ok(program) = from_json(text) {
        let _ = verify(&program, VerifyLevel::WellFormed);
        let _ = print_program(&program);
        assert!(to_json(&program).is_ok());
        for (_, pass) in PASSES {
            let _ = pass(&program);
        }
        for function in program.functions() {
            let _ = Interpreter::new(&program, 10_000).run(&function.name, &[]);
        }
    }
});
