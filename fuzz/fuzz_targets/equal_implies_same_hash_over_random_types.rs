//! Over random types, hooks and sharing: equal values have the same hash, equality is reflexive,
//! symmetric and transitive.
#![no_main]
use libfuzzer_sys::fuzz_target;
use sapwood_structural::{StructuralOptions, Value};
use sapwood_testing::universe::{Choices, graph};

fuzz_target!(|input: (Vec<u8>, u8, u8)| {
    let (mut choices, place, byte) = input;
    let mut values = graph(&mut Choices::new(&choices), 10);
    // The second graph differs in one choice, so that many values are equal.
    if !choices.is_empty() {
        let place = usize::from(place) % choices.len();
        choices[place] = byte;
    }
    values.extend(graph(&mut Choices::new(&choices), 10));
    for options in [StructuralOptions::default(), StructuralOptions::mapping_free_vars()] {
        check(&values, options);
    }
});

fn check(values: &[Value], options: StructuralOptions) {
    let hashes: Vec<Option<u64>> =
        values.iter().map(|value| options.hash(value).ok().map(|hash| hash.lo)).collect();
    let mut equals = vec![vec![None; values.len()]; values.len()];
    for (l, left) in values.iter().enumerate() {
        for (r, right) in values.iter().enumerate() {
            equals[l][r] = options.equal(left, right).ok();
        }
    }
    for l in 0..values.len() {
        // A value that can be hashed can be compared with itself, and is equal.
        if hashes[l].is_some() {
            assert_eq!(equals[l][l], Some(true), "{:?}", values[l]);
        }
        for r in 0..values.len() {
            let both = (&values[l], &values[r]);
            if equals[l][r] == Some(true) {
                assert_eq!(hashes[l], hashes[r], "{options:?} {both:?}");
                assert_ne!(equals[r][l], Some(false), "{options:?} {both:?}");
                for other in 0..values.len() {
                    if equals[r][other] == Some(true) {
                        assert_ne!(equals[l][other], Some(false), "{options:?} {both:?} {other}");
                    }
                }
            }
        }
    }
}
