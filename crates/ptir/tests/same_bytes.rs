//! The results of programs have the same bytes on every machine and for every number of threads.

use sapwood_ptir::Registry;
use sapwood_ptir::eval::{self, RunOptions, Value};
use sapwood_ptir::testing::{RandomProgramConfig, Rng, random_inputs, random_program};

/// The hash of the results of the programs below. It changes if the random programs change or if an op computes another
/// result; find out which before you replace it.
const GOLDEN: u64 = 0xd0b8_4cf6_8573_ad79;
const PROGRAMS: usize = 200;

// FNV-1a.
fn mix(hash: &mut u64, bytes: &[u8]) {
    for &byte in bytes {
        *hash = (*hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
}

fn mix_value(hash: &mut u64, value: &Value) {
    mix(hash, value.ty().to_string().as_bytes());
    match value {
        Value::Tensor(t) => mix(hash, t.to_literal().unwrap().stored_bytes()),
        Value::Tuple(elements) => elements.iter().for_each(|e| mix_value(hash, e)),
        Value::Token => {}
    }
}

#[test]
fn two_hundred_programs_have_a_golden_hash() {
    let registry = Registry::builtin();
    let evaluated = registry.defs().filter(|d| !d.terminator && d.name != "custom_call");
    let config = RandomProgramConfig {
        only: evaluated.map(|d| d.name).collect(),
        ..RandomProgramConfig::default()
    };
    let (mut hash, mut done, mut seed) = (0xcbf2_9ce4_8422_2325, 0, 0);
    while done < PROGRAMS {
        assert!(seed < 20 * PROGRAMS as u64, "only {done} of {seed} programs ran");
        let program = random_program(seed, &config);
        let mut rng = Rng::new(seed ^ 0x5eed);
        seed += 1;
        let Some(function) = program.functions().last() else { continue };
        let Some(inputs) = random_inputs(&mut rng, function) else { continue };
        let inputs: Vec<Value> = inputs.iter().map(|l| Value::try_from(l).unwrap()).collect();
        let run = |threads| {
            let options = RunOptions { threads, max_steps: Some(100_000), ..RunOptions::default() };
            eval::run(&program, function.name().as_str(), &inputs, &options)
        };
        let mut hashes = [1, 2].map(|threads| {
            let Ok(results) = run(threads) else { return None };
            let mut hash = 0;
            results.iter().for_each(|value| mix_value(&mut hash, value));
            (!results.is_empty()).then_some(hash)
        });
        assert_eq!(hashes[0], hashes[1], "seed {}: threads show", seed - 1);
        if let Some(one) = hashes[0].take() {
            mix(&mut hash, &one.to_le_bytes());
            done += 1;
        }
    }
    assert!(
        hash == GOLDEN,
        "found {hash:#018x}, expected {GOLDEN:#018x}, after {seed} programs; a new op changes the programs: replace GOLDEN then"
    );
}
