//! `examples/mycompiler`: a compiler of one's own, built outside the workspace, on a model that JAX printed.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use sapwood_testing::repository;

// Builds the example, with the crates that are compiled already where the settings are the same.
fn build() -> PathBuf {
    let manifest = repository().join("examples/mycompiler/Cargo.toml");
    let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let target = temporary.parent().unwrap_or(temporary);
    let built = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["build", "--quiet", "--locked", "--manifest-path"])
        .arg(&manifest)
        .arg("--target-dir")
        .arg(target)
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    target.join("debug").join(format!("mycompiler{}", std::env::consts::EXE_SUFFIX))
}

fn run<A: AsRef<OsStr>>(command: &Path, arguments: impl IntoIterator<Item = A>) -> Output {
    Command::new(command).args(arguments).current_dir(repository()).output().unwrap()
}

fn text(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

#[test]
fn a_compiler_of_ones_own_runs_end_to_end() {
    let lines: usize = fs::read_dir(repository().join("examples/mycompiler/src"))
        .unwrap()
        .map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap().lines().count())
        .sum();
    assert!(lines <= 300, "{lines} lines");

    let command = build();
    let folder = tempfile::tempdir().unwrap();
    let [fused, page] = ["fused.mlir", "page.html"].map(|name| folder.path().join(name));
    let model = "programs/transformer.mlir";

    // Both fusions apply once in each of the four layers, and the results are the same.
    let pipeline = "remove-barriers{most=4},simplify{float=fast}";
    let options = [model, "-p", pipeline, "--check", "--stats", "-o"];
    let mut arguments: Vec<&OsStr> = options.iter().map(OsStr::new).collect();
    arguments.extend([fused.as_os_str(), OsStr::new("--report"), page.as_os_str()]);
    let optimized = run(&command, [OsStr::new("opt")].into_iter().chain(arguments));
    assert_eq!(optimized.status.code(), Some(0), "{}", text(&optimized));
    let written = fs::read_to_string(&fused).unwrap();
    assert_eq!(written.matches("stablehlo.custom_call @my.softmax(").count(), 4, "{written}");
    assert_eq!(written.matches("stablehlo.custom_call @my.gelu(").count(), 4, "{written}");
    assert!(fs::read_to_string(&page).unwrap().contains("my.softmax"));

    // The custom calls come back as the ops, which evaluate and are known to every verb.
    let fused = fused.to_str().unwrap();
    let read_back = run(&command, ["fmt", fused, "--to", "ptir"]);
    let softmax = "= my.softmax %";
    assert_eq!(text(&read_back).matches(softmax).count(), 4, "{}", text(&read_back));
    for arguments in [
        &["verify", fused][..],
        &["run", fused, "--random", "1"],
        &["run", fused, "--random", "1", "--backend", "careful"],
        &["ops", "my.softmax"],
    ] {
        let done = run(&command, arguments);
        assert_eq!(done.status.code(), Some(0), "{arguments:?}: {}", text(&done));
    }
    let passes = run(&command, ["passes"]);
    assert!(text(&passes).contains("remove-barriers"), "{}", text(&passes));
    let unknown = run(&command, ["run", fused, "--random", "1", "--backend", "fast"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(text(&unknown).contains("unknown backend `fast`; expected one of careful"));
    // Messages have the name of the command.
    assert!(text(&unknown).starts_with("mycompiler: "), "{}", text(&unknown));

    // Sapwood's own command keeps them as custom calls.
    let own = run(Path::new(env!("CARGO_BIN_EXE_sapwood")), ["fmt", fused, "--to", "ptir"]);
    assert_eq!(text(&own).matches("custom_call").count(), 8, "{}", text(&own));
}
