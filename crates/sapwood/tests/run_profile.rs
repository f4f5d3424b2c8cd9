//! `run --profile`, whose times golden files cannot show.

use std::fs;
use std::process::Command;

const PROGRAM: &str = "ptir 1 func @f(%x: f32[64, 64]) -> f32[64, 64] {
  %y = exp %x : f32[64, 64]
  %z = neg %y : f32[64, 64]
  %t = transpose %z {perm = [1, 0]} : f32[64, 64]
  return %t }
";

fn run(arguments: &[&str]) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.ptir"), PROGRAM).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_sapwood"));
    command.current_dir(folder.path()).args(["run", "a.ptir", "--random", "1", "--profile"]);
    let done = command.args(arguments).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(done.status.success(), "{}", text(&done.stderr));
    (text(&done.stdout), text(&done.stderr))
}

#[test]
fn a_profile_names_groups_and_their_bytes() {
    let (_, table) = run(&[]);
    assert!(table.contains("@f: exp + neg"), "{table}");
    assert!(table.contains("@f: transpose"), "{table}");
    assert!(table.contains("ms in kernels"), "{table}");
    let (json, _) = run(&["--format", "json"]);
    let output: serde_json::Value = serde_json::from_str(&json).unwrap();
    let steps = output["profile"]["steps"].as_array().unwrap();
    let group = steps.iter().find(|step| step["ops"][0] == "exp").unwrap();
    assert_eq!(group["ops"], serde_json::json!(["exp", "neg"]));
    assert_eq!(group["calls"], 1);
    // 4096 elements are read and written once.
    assert_eq!(group["bytes"], 2 * 4 * 4096);
    assert!(output["profile"]["peak_bytes"].as_u64().unwrap() >= 4 * 4096);
    let (json, _) = run(&["--format", "json", "--exact"]);
    let output: serde_json::Value = serde_json::from_str(&json).unwrap();
    // The fixed order runs instruction by instruction.
    assert_eq!(output["profile"]["steps"].as_array().unwrap().len(), 3);
}
