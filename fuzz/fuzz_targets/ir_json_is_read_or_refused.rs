//! Any text is read as the JSON form of a program or refused; what is read can be verified and written.
#![no_main]
use libfuzzer_sys::fuzz_target;
use sapwood_ir::{Level, from_json, print_program, to_json, verify};

fuzz_target!(|text: &str| {
    if let Ok(program) = from_json(text) {
        let _ = verify(&program, Level::WellFormed);
        let _ = print_program(&program);
        assert!(to_json(&program).is_ok());
    }
});
