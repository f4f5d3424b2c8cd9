//! Tests that truncated, changed or hostile JSON is rejected, and that accepted JSON can be verified and printed.

use sapwood_ir::testing::{ChoiceSource, program};
use sapwood_ir::{FromJsonError, VerifyLevel, from_json, print_program, to_json, verify};

/// Reads, verifies and prints a text, which must not panic.
fn try_all(text: &str) {
    if let Ok(program) = from_json(text) {
        let _ = verify(&program, VerifyLevel::Ssa);
        let _ = print_program(&program);
        assert!(to_json(&program).is_ok());
    }
}

#[test]
fn json_cut_anywhere_does_not_panic() {
    let json = to_json(&program(8, 10)).unwrap();
    for end in (0..json.trim_end().len()).step_by(7).filter(|end| json.is_char_boundary(*end)) {
        assert!(from_json(&json[..end]).is_err(), "cut at {end}");
    }
}

#[test]
fn json_changed_anywhere_does_not_panic() {
    let mut random = ChoiceSource::new(3);
    for seed in 0..20 {
        let json = to_json(&program(seed, 6)).unwrap();
        for _ in 0..100 {
            let mut bytes = json.clone().into_bytes();
            for _ in 0..=random.below(3) {
                let at = random.below(bytes.len());
                bytes[at] = b"0123456789[]{},:\"ntf-e."[random.below(23)];
            }
            if let Ok(text) = String::from_utf8(bytes) {
                try_all(&text);
            }
        }
    }
}

#[test]
fn a_loop_whose_arguments_disagree_is_refused() {
    use sapwood_ir::parse_program;
    let text = "def f(x: pi.INT64):
    for i, (s,) in pi.range(0, 1, 1, init_values=[x]):
        pi.yield_(s)
    r: pi.INT64 = pi.result(0)
";
    let program = parse_program(&sapwood_types::Source::new("loop.ir", text)).unwrap();
    let json = to_json(&program).unwrap();
    assert!(from_json(&json).is_ok());
    // The loop is the row with the most nodes, and its initial values are its first list, which is emptied here.
    let nodes = |line: &str| line.matches("{\"node\":").count();
    let row = json.lines().enumerate().max_by_key(|(_, line)| nodes(line)).expect("rows").0;
    let changed: Vec<String> = json
        .lines()
        .enumerate()
        .map(|(number, line)| match line.find("[{\"node\":") {
            Some(at) if number == row => {
                let end = at + line[at..].find("}]").expect("its end") + 2;
                format!("{}[]{}", &line[..at], &line[end..])
            }
            _ => line.to_owned(),
        })
        .collect();
    match from_json(&changed.join("\n")) {
        Err(FromJsonError::InitValues { .. }) => {}
        other => panic!("{other:?}"),
    }
}

// Each reference to a node points beyond the last node, or to the last node, which is the program itself or contains it.
#[test]
fn references_that_lead_nowhere_or_around_are_refused() {
    let json = to_json(&program(8, 6)).unwrap();
    let rows = json.lines().count();
    let key = "{\"node\":";
    let places: Vec<usize> = json.match_indices(key).map(|(at, _)| at + key.len()).collect();
    assert!(places.len() > 20, "{json}");
    for &at in places.iter().rev().skip(1) {
        let end = at + json[at..].find('}').expect("its end");
        for other in ["18446744073709551615", "99999999999999999999999", "-1", "1e9", "null"] {
            assert!(from_json(&format!("{}{other}{}", &json[..at], &json[end..])).is_err());
        }
        for other in [rows, rows - 1, rows - 2, rows - 3] {
            try_all(&format!("{}{other}{}", &json[..at], &json[end..]));
        }
    }
}

#[test]
fn huge_counts_are_refused() {
    let deep = 1_000_000;
    for text in [
        "[".repeat(deep),
        "{\"a\":".repeat(deep),
        format!("{}{}", "[".repeat(deep), "]".repeat(deep)),
        "9".repeat(deep),
        format!("\"{}\"", "x".repeat(deep)),
        "1e999999999".to_owned(),
        String::new(),
        "null".to_owned(),
        "{}".to_owned(),
    ] {
        assert!(from_json(&text).is_err(), "{:.20}", text);
    }
}
