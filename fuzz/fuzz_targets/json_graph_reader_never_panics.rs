//! Whatever the text, reading it as a graph gives a value or an error; a value writes and reads back
//! to the same bytes.
#![no_main]
#[path = "../../crates/structural/tests/graphs/mod.rs"]
mod graphs;

use graphs::{Choices, graph, universe};
use libfuzzer_sys::fuzz_target;
use sapwood_structural::{Seq, Value, read_json, write_json};

/// Bytes that mean something in the form.
const MARKS: &[u8] = b"{}[],:\"0123456789-.eE\\unx ";

fuzz_target!(|input: (&[u8], Vec<(u16, u8)>, &str)| {
    let (choices, changes, text) = input;
    read(text);
    // Text from nowhere is mostly refused at once, so valid text is changed here and there as well.
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
            // A singleton comes back as itself, with what it holds, which the rest then does not share.
            if !written.contains("singleton") {
                assert_eq!(written, write_json(&back).expect("as before"));
            }
        }
        Err(error) => assert!(error.to_string().len() < 4_000),
    }
}
