//! Any text is read as a graph or refused with an error; a value that is read is written and read back to the
//! same bytes.
#![no_main]
use libfuzzer_sys::fuzz_target;
use sapwood_structural::{Seq, Value, read_json, write_json};
use sapwood_testing::universe::{Choices, graph, universe};

/// Bytes with a meaning in JSON.
const MARKS: &[u8] = b"{}[],:\"0123456789-.eE\\unx ";

fuzz_target!(|input: (&[u8], Vec<(u16, u8)>, &str)| {
    let (choices, changes, text) = input;
    read(text);
    // Random text is mostly refused at once, so valid text with a few changes is read as well.
    let values: Value = Seq::new(graph(&mut Choices::new(choices), 12)).into();
    let mut text = write_json(&values).expect("every singleton came from `get`").into_bytes();
    for (place, change) in changes {
        let at = usize::from(place) % text.len().max(1);
        let mark = MARKS[usize::from(change) % MARKS.len()];
        match (change >> 6, text.get_mut(at)) {
            (0, Some(_)) => text.truncate(at),
            (1, Some(_)) => drop(text.remove(at)),
            (2, Some(byte)) => *byte = mark,
            _ => text.insert(at, mark),
        }
    }
    read(&String::from_utf8_lossy(&text));
});

fn read(text: &str) {
    match read_json::<Value>(text, &universe().registry) {
        Ok(value) => {
            let written = write_json(&value).expect("what was read can be written");
            let back: Value = read_json(&written, &universe().registry).expect("and read again");
            // A singleton is read back as itself, with its own children, which the rest does not share then.
            if !written.contains("singleton") {
                assert_eq!(written, write_json(&back).expect("as before"));
            }
        }
        Err(error) => assert!(error.to_string().len() < 4_000),
    }
}
