//! Any text is read as StableHLO or refused with diagnostics that can be rendered; a module that is read prints, and reads back equal, with its locations.
#![no_main]
use libfuzzer_sys::fuzz_target;

#[path = "../../crates/stablehlo/tests/round_trip.rs"]
mod round_trip;

fuzz_target!(|text: &str| {
    let _ = round_trip::read_and_round_trip(text);
});
