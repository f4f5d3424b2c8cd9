//! The verifier rejects every mutation and names the right instruction.

use std::collections::BTreeMap;

use sapwood_ptir::testing::{MUTATIONS, RandomProgramConfig, Rng, random_program};
use sapwood_ptir::{InstId, ParseOptions, Program, parse_with, verify};
use sapwood_testing::cases;

// Builds the program from text, so that every instruction has a line of its own.
fn program(seed: u64) -> Program {
    let config = RandomProgramConfig { insts: 40, ..RandomProgramConfig::default() };
    let text = random_program(seed, &config).to_string();
    parse_with(&text, ParseOptions::new().file("random.ptir")).unwrap()
}

#[test]
fn every_mutation_is_reported_at_its_instruction() {
    assert!(MUTATIONS.len() >= 40, "{}", MUTATIONS.len());
    let mut applied: BTreeMap<&str, u32> = BTreeMap::new();
    for seed in 0..u64::from(cases(400, 10_000)) {
        let program = program(seed);
        let mut rng = Rng::new(seed);
        for mutation in MUTATIONS {
            let f = &program.functions()[rng.below(program.functions().len())];
            let insts: Vec<InstId> = f.walk().collect();
            let start = rng.below(insts.len());
            for k in 0..insts.len() {
                let mut changed = program.clone();
                let g = changed.function_mut(f.name()).unwrap();
                let Some(named) = mutation.apply(g, insts[(start + k) % insts.len()]) else {
                    continue;
                };
                let line = g.inst_span(named).begin_line();
                *applied.entry(mutation.name).or_default() += 1;
                let Err(problems) = verify(&changed) else {
                    panic!(
                        "seed {seed}: {} of {:?} is accepted\n{changed}",
                        mutation.name,
                        describe_inst(&changed, f.name(), named)
                    );
                };
                let found = problems.iter().any(|p| p.span.begin_line() == line);
                assert!(
                    found,
                    "seed {seed}: {} in line {line} is reported as\n{problems}\n{program}",
                    mutation.name
                );
                break;
            }
        }
    }
    for mutation in MUTATIONS {
        assert!(applied.contains_key(mutation.name), "{} was never applied", mutation.name);
    }
}

fn describe_inst(program: &Program, f: sapwood_ptir::Name, inst: InstId) -> String {
    program.function(f).map_or(String::new(), |f| sapwood_ptir::InstPrinter::new(f).print(inst))
}
