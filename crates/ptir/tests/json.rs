//! Errors of the JSON reader.

use sapwood_ptir::{from_json, parse, to_json};

const TEXT: &str = "ptir 1\nfunc @f(%p: bool[], %x: f32[4]) -> f32[4] {
  %y = cond %p () { %a = exp %x : f32[4] yield %a } () { yield %x } : f32[4]
  return %y
}";

fn refused(json: &str) -> String {
    match from_json(json) {
        Ok(program) => panic!("accepted: {program}"),
        Err(problems) => problems.to_string(),
    }
}

fn changed(from: &str, to: &str) -> String {
    let json = to_json(&parse(TEXT).unwrap());
    assert!(json.contains(from), "{from} is not in {json}");
    refused(&json.replacen(from, to, 1))
}

#[test]
fn unsupported_versions_are_refused() {
    let message = changed("\"version\":1", "\"version\":7");
    assert!(message.contains("version 7") && message.contains("expected 1 to 1"), "{message}");
    assert!(changed("\"version\":1", "\"version\":0").contains("version 0"));
    assert!(changed("\"format\":\"ptir\"", "\"format\":\"other\"").contains("`other`"));
}

#[test]
fn malformed_json_is_reported_with_its_position() {
    assert!(refused("{\n  \"format\": ptir").contains(":2:"));
    assert!(refused("").contains("not a PTIR program"));
    assert!(refused("[1, 2").contains("not a PTIR program"));
    assert!(changed("\"name\":\"f\"", "\"nome\":\"f\"").contains("nome"));
    let deep = "[".repeat(1_000_000);
    refused(&deep);
    refused(&format!("{{\"format\":\"ptir\",\"version\":1,\"functions\":{deep}"));
}

#[test]
fn inconsistent_tables_are_reported_by_path() {
    for (from, to, words) in [
        ("\"types\":[\"bool[]\"", "\"types\":[\"bowl[]\"", "functions[0].types[0]"),
        ("\"results\":[1]", "\"results\":[9]", "type 9 is out of range, there are 2"),
        ("\"op\":0", "\"op\":99", "functions[0].insts[0]: op 99 is out of range"),
        ("\"body\":1", "\"body\":7", "body 7 does not exist here"),
        ("\"regions\":[1,2]", "\"regions\":[1,1]", "body 1 does not exist or has an owner"),
        ("\"regions\":[1,2]", "\"regions\":[0,2]", "body 0 does not exist or has an owner"),
        ("\"regions\":[1,2]", "\"regions\":[1]", "body 2 does not exist here"),
        ("\"ops\":[\"cond\"", "\"ops\":[\"kond\"", "unknown op `kond`"),
        ("\"operands\":[0]", "\"operands\":[55]", "operand 55 is not defined before it"),
        ("\"operands\":[0]", "\"operands\":[2]", "operand 2 is not defined before it"),
        ("\"results\":[3]", "\"results\":[2]", "value 2 is defined twice"),
        ("\"results\":[3]", "\"results\":[3],\"attrs\":{\"k\":1}", "it has no attribute `k`"),
        ("\"operands\":[0]", "\"operands\":[1]", "`pred` has rank 1, expected a scalar"),
    ] {
        let message = changed(from, to);
        assert!(message.contains(words), "{from} -> {to}: {message}");
    }
}
