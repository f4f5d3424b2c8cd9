//! Garbled programs never cause a panic: they are read or refused, and programs that are read print to text that reads back.

use sapwood_ptir::testing::{RandomProgramConfig, Rng, random_program};
use sapwood_ptir::{from_json, parse, to_json};
use sapwood_testing::cases;

// Deletes, duplicates, swaps and overwrites pieces of a text, half of the time at word boundaries.
fn garble(text: &str, rng: &mut Rng) -> String {
    let mut pieces: Vec<&str> = if rng.one_in(2) {
        text.split_inclusive([' ', '\n', '"', ':']).collect()
    } else {
        text.split_inclusive(|c: char| !c.is_alphanumeric()).collect()
    };
    let odd = [
        "%",
        "@",
        "{{x}}",
        "0x",
        "hex",
        "]",
        "}",
        "(",
        "?",
        "tuple<",
        "-",
        "...",
        "\"",
        "é",
        "1e999",
        "nan",
        "99999999999",
    ];
    for _ in 0..1 + rng.below(4) {
        let (i, j) = (rng.below(pieces.len()), rng.below(pieces.len()));
        match rng.below(5) {
            0 => {
                pieces.remove(i);
            }
            1 => pieces.insert(i, pieces[j]),
            2 => pieces.swap(i, j),
            3 => pieces[i] = odd[rng.below(odd.len())],
            _ => pieces.insert(i, odd[rng.below(odd.len())]),
        }
        if pieces.is_empty() {
            break;
        }
    }
    pieces.concat()
}

#[test]
fn garbled_text_and_json_never_panic() {
    let (mut read, mut refused) = (0u32, 0u32);
    for seed in 0..u64::from(cases(4000, 200_000)) {
        let mut rng = Rng::new(seed);
        let program = random_program(
            seed % 500,
            &RandomProgramConfig { insts: 8, ..RandomProgramConfig::default() },
        );
        let text = garble(&program.to_string(), &mut rng);
        match parse(&text) {
            Ok(program) => {
                read += 1;
                let printed = program.to_string();
                let again =
                    parse(&printed).unwrap_or_else(|p| panic!("seed {seed}: {p}\n{printed}"));
                assert_eq!(again.to_string(), printed, "seed {seed}");
                for f in program.functions() {
                    f.check_indices().unwrap_or_else(|e| panic!("seed {seed}: {e}"));
                }
            }
            Err(problems) => {
                refused += 1;
                assert!(problems.has_errors());
                let _ = problems.render(&sapwood_types::Source::new("garbled.ptir", text));
            }
        }
        if let Ok(program) = from_json(&garble(&to_json(&program), &mut rng)) {
            let json = to_json(&program);
            assert!(to_json(&from_json(&json).unwrap()) == json, "seed {seed}");
        }
    }
    assert!(read > 100 && refused > 100, "{read} read, {refused} refused");
}
