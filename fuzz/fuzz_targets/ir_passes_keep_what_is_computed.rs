//! Random well-formed programs of the front-end IR round-trip through text and JSON, and passes keep what
//! they compute.
#![no_main]
use libfuzzer_sys::fuzz_target;
use sapwood_ir::interpret::Interpreter;
use sapwood_ir::passes::PASSES;
use sapwood_ir::testing::{Random, arguments, program};
use sapwood_ir::{from_json, parse_program, print_program, to_json};
use sapwood_structural::equal;
use sapwood_types::Source;

fuzz_target!(|input: (u64, u8)| {
    let (seed, size) = input;
    let before = program(seed, usize::from(size));
    if let Ok(text) = print_program(&before) {
        let back = parse_program(&Source::new("random.ir", text)).expect("printed text is read");
        assert!(equal(&before, &back).unwrap_or(false));
    }
    let json = to_json(&before).expect("programs have a JSON form");
    assert!(equal(&before, &from_json(&json).expect("written JSON is read")).unwrap_or(false));
    let mut random = Random::new(seed);
    for (name, pass) in PASSES {
        let Ok(after) = pass(&before) else { continue };
        for function in before.functions() {
            let args = arguments(&mut random, function);
            let run = |program| Interpreter::new(program, 100_000).run(&function.name, &args);
            if let (Ok(expected), Ok(found)) = (run(&before), run(&after)) {
                assert_eq!(expected, found, "{name}");
            }
        }
    }
});
