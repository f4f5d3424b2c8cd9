//! After any pipeline, a random program verifies and computes the same results, and a second run changes nothing. Half of
//! the programs are random, half are combined from the golden files of patterns.
#![no_main]
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use sapwood_ptir::testing::{RandomProgramConfig, Rng, add_random_functions};
use sapwood_ptir::{Program, Registry, parse, verify};
use sapwood_rewrite::{FloatMode, PassManager};

#[path = "../../crates/rewrite/tests/meaning/mod.rs"]
mod meaning;
#[path = "../../crates/rewrite/tests/pattern_files/mod.rs"]
mod pattern_files;
#[path = "../../crates/rewrite/tests/soup/mod.rs"]
mod soup;

/// Pipelines, and whether each is a fixpoint.
const PIPELINES: &[(&str, bool)] = &[
    ("canonicalize{check=true}", true),
    ("canonicalize{top-down=true,check=true}", true),
    ("canonicalize{fold=false,check=true}", true),
    ("simplify{check=true}", true),
    ("simplify{top-down=true,fold=false,check=true}", true),
    ("cse", true),
    ("dce", true),
    ("fold", true),
    ("inline,simplify{check=true}", true),
    ("canonicalize,cse,dce", false),
    ("fixpoint(canonicalize,cse)", true),
];

static LIBRARY: LazyLock<soup::Library> = LazyLock::new(soup::Library::read);

fuzz_target!(|input: (u8, u8, u16, &[u8])| {
    let (which, kind, number, tape) = input;
    let mut rng = Rng::from_tape(tape);
    let before = if kind % 2 == 0 {
        let config = RandomProgramConfig { insts: 16, ..RandomProgramConfig::default() };
        add_random_functions(&mut rng, &config, Program::new(Registry::builtin()))
    } else {
        LIBRARY.soup(&mut rng, usize::from(number))
    };
    let (pipeline, fixpoint) = PIPELINES[usize::from(which) % PIPELINES.len()];
    let run = |program: &mut Program| {
        let manager = PassManager::parse(pipeline).expect("a pipeline").verify_each(true);
        let report = manager.run(program).unwrap_or_else(|e| panic!("{pipeline}: {e}\n{before}"));
        let warnings: Vec<String> = report.warnings().collect();
        assert!(warnings.is_empty(), "{pipeline}: {warnings:?}\n{before}");
        report.changed()
    };
    let mut after = before.clone();
    run(&mut after);
    verify(&after).unwrap_or_else(|p| panic!("{pipeline}: {p}\n{before}\n{after}"));
    for f in before.functions() {
        meaning::agree(&before, &after, f.name(), FloatMode::Exact, 0..2)
            .unwrap_or_else(|e| panic!("{pipeline}: {e}\n{before}\n{after}"));
    }
    if fixpoint {
        let text = after.to_string();
        assert!(!run(&mut after), "{pipeline}: a second run changes something\n{before}");
        assert_eq!(after.to_string(), text, "{pipeline}: a second run\n{before}");
        let mut read = parse(&text).expect("printed text is read");
        run(&mut read);
        assert_eq!(read.to_string(), text, "{pipeline}: its own text is not a fixpoint\n{before}");
    }
});
