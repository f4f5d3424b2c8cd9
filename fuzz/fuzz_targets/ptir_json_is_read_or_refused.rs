//! Any JSON is read as a PTIR program or refused, without a panic; a program that is read is written to JSON that reads back to the
//! same bytes.
#![no_main]
use libfuzzer_sys::fuzz_target;
use sapwood_ptir::testing::{RandomProgramConfig, random_program};
use sapwood_ptir::{from_json, to_json};

// Random text, and the JSON of a random program with a few bytes changed.
fuzz_target!(|input: (String, u64, Vec<(u16, u8)>)| {
    let (wild, seed, changes) = input;
    let mut bytes = to_json(&random_program(
        seed,
        &RandomProgramConfig { insts: 6, ..RandomProgramConfig::default() },
    ))
    .into_bytes();
    for (at, byte) in changes {
        let at = usize::from(at) % bytes.len();
        bytes[at] = byte;
    }
    for text in [wild, String::from_utf8_lossy(&bytes).into_owned()] {
        if let Ok(program) = from_json(&text) {
            let written = to_json(&program);
            assert_eq!(to_json(&from_json(&written).unwrap()), written);
        }
    }
});
