//! Properties of random programs: text and JSON round trips, hashes, verification.

use sapwood_ptir::structural::{self, Mode};
use sapwood_ptir::testing::{RandomProgramConfig, random_program};
use sapwood_ptir::{Registry, from_json, parse, to_json, verify};
use sapwood_testing::cases;

fn check(seed: u64, config: &RandomProgramConfig) -> usize {
    let program = random_program(seed, config);
    let text = program.to_string();
    for f in program.functions() {
        f.check_indices().unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
    }
    if let Err(problems) = verify(&program) {
        panic!("seed {seed}: {problems}\n{text}");
    }
    let read = parse(&text).unwrap_or_else(|problems| panic!("seed {seed}: {problems}\n{text}"));
    assert_eq!(read.to_string(), text, "seed {seed}: printed otherwise");
    let same = |other: &sapwood_ptir::Program, how: &str| {
        for mode in [Mode::Ordered, Mode::DataFlow] {
            if let Some(found) = structural::first_mismatch(&program, other, mode) {
                panic!("seed {seed}: {how} differs, {mode:?}: {found}\n{text}");
            }
            assert_eq!(
                structural::hash(&program, mode),
                structural::hash(other, mode),
                "seed {seed}: {how} hash"
            );
        }
    };
    same(&read, "text");
    for f in read.functions() {
        f.check_indices().unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
    }
    let json = to_json(&program);
    let read =
        from_json(&json).unwrap_or_else(|problems| panic!("seed {seed}: {problems}\n{text}"));
    assert!(to_json(&read) == json, "seed {seed}: another JSON");
    assert_eq!(read.to_string(), text, "seed {seed}");
    same(&read, "json");
    program.num_insts()
}

#[test]
fn programs_survive_text_and_json() {
    for seed in 0..u64::from(cases(1500, 60_000)) {
        check(seed, &RandomProgramConfig::default());
    }
}

#[test]
fn every_op_is_generated() {
    for def in Registry::builtin().defs().filter(|d| !d.terminator) {
        let config = RandomProgramConfig {
            only: vec![def.name],
            insts: 6,
            ..RandomProgramConfig::default()
        };
        let mut found = 0;
        for seed in 0..u64::from(cases(12, 400)) {
            check(seed, &config);
            let program = random_program(seed, &config);
            let insts = program.functions().iter().flat_map(|f| f.walk().map(|i| f.op_key(i)));
            found += insts.filter(|k| *k == def.key).count();
        }
        assert!(found > 0, "no `{}` in any program", def.name);
    }
}
