//! Any text is read as a program of the front-end IR or refused with diagnostics that can be rendered; a program
//! that is read prints, and reads back equal.
#![no_main]
use libfuzzer_sys::fuzz_target;
use sapwood_ir::{VerifyLevel, parse_program, print_program, verify};
use sapwood_types::Source;

fuzz_target!(|text: &str| {
    let source = Source::new("fuzz.ir", text);
    match parse_program(&source) {
        Err(problems) => assert!(!problems.render(&source).is_empty()),
        Ok(program) => {
            let _ = verify(&program, VerifyLevel::Ssa);
            let Ok(printed) = print_program(&program) else { return };
            let again = Source::new("again.ir", printed.as_str());
            match parse_program(&again) {
                Ok(back) => assert!(sapwood_structural::equal(&program, &back).unwrap_or(false)),
                Err(problems) => panic!("{printed}\n{}", problems.render(&again)),
            }
        }
    }
});
