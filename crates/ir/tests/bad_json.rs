//! JSON that is cut, changed or hostile is refused, and what is read can be verified and printed.

use sapwood_ir::testing::{Random, program};
use sapwood_ir::{FromJsonError, Level, from_json, print_program, to_json, verify};

/// Must not panic, whatever it is.
fn try_all(text: &str) {
    if let Ok(program) = from_json(text) {
        let _ = verify(&program, Level::Ssa);
        let _ = print_program(&program);
        assert!(to_json(&program).is_ok());
    }
}

#[test]
fn cut_anywhere() {
    let json = to_json(&program(8, 10)).unwrap();
    for end in (0..json.trim_end().len()).step_by(7).filter(|end| json.is_char_boundary(*end)) {
        assert!(from_json(&json[..end]).is_err(), "cut at {end}");
    }
}

#[test]
fn changed_anywhere() {
    let mut random = Random::new(3);
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
    // The loop is the row with the most nodes; its initial values are its first list: empty it.
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
