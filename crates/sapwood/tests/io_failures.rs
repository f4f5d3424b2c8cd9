//! Failures of input and output that golden files cannot show: pipes, disks, permissions, concurrent writers.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Output, Stdio};

const PROGRAM: &str = "ptir 1

func @f(%x: f32[4]) -> f32[4] {
  %a = neg %x : f32[4]
  %b = neg %a : f32[4]
  %c = exp %b : f32[4]
  return %c
}
";
const SIMPLER: &str = "ptir 1

func @f(%x: f32[4]) -> f32[4] {
  %c = exp %x : f32[4]
  return %c
}
";

fn sapwood(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sapwood"));
    command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.ptir"), PROGRAM).unwrap();
    folder
}

/// Asserts exit code 2 and one line on standard error, and returns the line.
#[track_caller]
fn expect_error(done: &Output) -> String {
    let message = String::from_utf8(done.stderr.clone()).unwrap();
    assert_eq!(done.status.code(), Some(2), "{message}");
    assert_eq!(message.lines().count(), 1, "{message}");
    message
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn lines_that_end_as_on_windows_are_read() {
    let folder = folder();
    let root = sapwood_testing::repository();
    let with_returns = |from: &Path, to: &str| {
        let text = fs::read_to_string(from).unwrap();
        assert!(!text.contains('\r'));
        fs::write(folder.path().join(to), text.replace('\n', "\r\n")).unwrap();
    };
    let front_end = "def f(x: pi.INT64) -> pi.INT64:\n    y = x + 1\n    return y\n";
    fs::write(folder.path().join("front.py"), front_end).unwrap();
    for (from, to) in [
        (root.join("programs/softmax.ptir"), "crlf.ptir"),
        (root.join("programs/mlp.mlir"), "crlf.mlir"),
        (folder.path().join("front.py"), "crlf.py"),
    ] {
        with_returns(&from, to);
        let done = sapwood(folder.path()).args(["eq", to]).arg(&from).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&done.stdout), "equal\n", "{to}");
        let done = sapwood(folder.path()).args(["fmt", to]).output().unwrap();
        assert!(done.status.success() && !done.stdout.contains(&b'\r'), "{to}");
    }
    with_returns(&root.join("examples/patterns/softmax.rules"), "crlf.rules");
    let arguments = ["match", "--pattern", "crlf.rules", "crlf.ptir", "--exit-code"];
    let done = sapwood(folder.path()).args(arguments).output().unwrap();
    assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn a_closed_standard_output() {
    let folder = folder();
    for arguments in
        [&["ops"][..], &["opt", "a.ptir"], &["patterns", "--format", "json"], &["opt", "--help"]]
    {
        let mut child = sapwood(folder.path()).args(arguments).spawn().unwrap();
        drop(child.stdout.take());
        let done = child.wait_with_output().unwrap();
        let message = String::from_utf8(done.stderr).unwrap();
        // The pipe may be closed before or after everything is written.
        assert!(matches!(done.status.code(), Some(0 | 141)), "{:?}", done.status);
        assert!(message.is_empty(), "{message}");
    }
}

#[test]
fn a_reader_that_reads_one_line() {
    let folder = folder();
    let long: String = (0..20_000).map(|n| format!("  %v{n} = neg %x : f32[4]\n")).collect();
    let text = format!("ptir 1\n\nfunc @f(%x: f32[4]) -> f32[4] {{\n{long}  return %x\n}}\n");
    fs::write(folder.path().join("long.ptir"), text).unwrap();
    let mut child = sapwood(folder.path()).args(["fmt", "long.ptir"]).spawn().unwrap();
    let mut first = [0; 6];
    child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
    assert_eq!(&first, b"ptir 1");
    drop(child.stdout.take());
    let done = child.wait_with_output().unwrap();
    // The output is larger than the buffer of the pipe.
    assert_eq!(done.status.code(), Some(141));
    assert_eq!(String::from_utf8(done.stderr).unwrap(), "");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk() {
    let folder = folder();
    let full = || Stdio::from(fs::File::options().write(true).open("/dev/full").unwrap());
    for arguments in [
        &["opt", "a.ptir"][..],
        &["fmt", "a.ptir"],
        &["hash", "a.ptir"],
        &["run", "a.ptir", "--random", "1"],
        &["passes"],
        &["completions", "bash"],
        &["eq", "a.ptir", "a.ptir"],
        &["--help"],
        &["opt", "--help"],
        &["--version"],
    ] {
        let done = sapwood(folder.path()).args(arguments).stdout(full()).output().unwrap();
        let message = expect_error(&done);
        assert!(message.contains("cannot write to standard output: No space left"), "{message}");
    }
    let done = sapwood(folder.path()).args(["opt", "a.ptir", "-o", "/dev/full"]).output().unwrap();
    assert!(expect_error(&done).contains("/dev/full: cannot be written: No space left"));
}

#[cfg(unix)]
#[test]
fn targets_that_may_not_be_written() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = folder();
    let target = folder.path().join("out.ptir");
    fs::write(&target, "precious").unwrap();
    fs::set_permissions(&target, fs::Permissions::from_mode(0o444)).unwrap();
    let done = sapwood(folder.path()).args(["opt", "a.ptir", "-o", "out.ptir"]).output().unwrap();
    assert!(expect_error(&done).contains("out.ptir: is read-only"));
    assert_eq!(fs::read_to_string(&target).unwrap(), "precious");
    assert_eq!(names(folder.path()), ["a.ptir", "out.ptir"], "nothing is left behind");
}

#[cfg(unix)]
#[test]
fn a_file_larger_than_it_may_be() {
    let folder = folder();
    let long: String = (0..1000).map(|n| format!("  %a{n} = neg %x : f32[4]\n")).collect();
    let long = format!("ptir 1\n\nfunc @f(%x: f32[4]) -> f32[4] {{\n{long}  return %x\n}}\n");
    fs::write(folder.path().join("long.ptir"), &long).unwrap();
    fs::write(folder.path().join("out.ptir"), "precious").unwrap();
    let limited =
        format!("ulimit -f 1; {} fmt long.ptir -o out.ptir", env!("CARGO_BIN_EXE_sapwood"));
    let done = Command::new("sh").args(["-c", &limited]).current_dir(folder.path()).output();
    let message = expect_error(&done.unwrap());
    assert!(message.contains("out.ptir: cannot be written: File too large"), "{message}");
    assert_eq!(fs::read_to_string(folder.path().join("out.ptir")).unwrap(), "precious");
    assert_eq!(names(folder.path()), ["a.ptir", "long.ptir", "out.ptir"], "nothing is left behind");
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_leaves_nothing_half_written() {
    use std::os::unix::process::ExitStatusExt as _;
    let folder = folder();
    let large = "ptir 1 func @f(%x: i8[]) -> i8[100000000] {
      %y = broadcast_to %x : i8[100000000]
      return %y
    }";
    fs::write(folder.path().join("large.ptir"), large).unwrap();
    let out = folder.path().join("out");
    fs::create_dir(&out).unwrap();
    let mut child = sapwood(folder.path())
        .args(["run", "large.ptir", "--random", "1", "-o", "out"])
        .spawn()
        .unwrap();
    // Waits until it writes.
    while names(&out).is_empty() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let kill = format!("kill -TERM {}", child.id());
    let _ = Command::new("sh").args(["-c", &kill]).stderr(Stdio::null()).status().unwrap();
    match child.wait().unwrap().signal() {
        Some(signal) => {
            assert_eq!(signal, 15);
            assert!(names(&out).is_empty(), "{:?}", names(&out));
        }
        // It had ended before.
        None => assert_eq!(names(&out), ["result0.npy"]),
    }
}

#[test]
fn a_trace_that_cannot_be_written_loses_no_results() {
    let folder = folder();
    fs::create_dir(folder.path().join("dump")).unwrap();
    // Folder and file names that the first run would use.
    fs::create_dir(folder.path().join("dump/00001_f")).unwrap();
    fs::write(folder.path().join("dump/00002_f"), "in the way").unwrap();
    let run = |arguments: &[&str]| {
        let all = ["run", "a.ptir", "--random", "1", "--dump-dir", "dump"];
        sapwood(folder.path()).args(all).args(arguments).output().unwrap()
    };
    assert!(run(&[]).status.success(), "numbers go on after what is there");
    fs::write(folder.path().join("dump/passes"), "in the way").unwrap();
    let opt = ["opt", "a.ptir", "-o", "out.ptir", "--dump-dir", "dump"];
    let done = sapwood(folder.path()).args(opt).output().unwrap();
    assert!(expect_error(&done).contains("--dump-dir: dump/passes"));
    assert_eq!(fs::read_to_string(folder.path().join("out.ptir")).unwrap(), SIMPLER);
    let lines = fs::read_to_string(folder.path().join("dump/passes.jsonl")).unwrap();
    assert!(lines.lines().last().unwrap().contains("\"event\":\"end\""), "{lines}");
}

#[cfg(unix)]
#[test]
fn permissions_and_links_stay() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = folder();
    let target = folder.path().join("out.ptir");
    fs::write(&target, "old").unwrap();
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink("out.ptir", folder.path().join("link.ptir")).unwrap();
    let done = sapwood(folder.path()).args(["opt", "a.ptir", "-o", "link.ptir"]).output().unwrap();
    assert!(done.status.success());
    assert_eq!(fs::read_to_string(&target).unwrap(), SIMPLER);
    assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(fs::symlink_metadata(folder.path().join("link.ptir")).unwrap().is_symlink());
}

#[test]
fn several_writers_of_one_file() {
    let folder = folder();
    fs::write(folder.path().join("b.ptir"), PROGRAM.replace("@f", "@g")).unwrap();
    let spawn = |input: &str| {
        sapwood(folder.path()).args(["opt", input, "-o", "out.ptir"]).spawn().unwrap()
    };
    let children: Vec<_> = (0..6).map(|n| spawn(["a.ptir", "b.ptir"][n % 2])).collect();
    for child in children {
        let done = child.wait_with_output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
    let text = fs::read_to_string(folder.path().join("out.ptir")).unwrap();
    assert!(text == SIMPLER || text == SIMPLER.replace("@f", "@g"), "{text}");
    assert_eq!(names(folder.path()), ["a.ptir", "b.ptir", "out.ptir"]);
}

#[test]
fn two_traces_in_one_folder() {
    let folder = folder();
    // An endless loop keeps the folder locked.
    let text = "ptir 1 func @main() -> i32[] {
      %zero = constant 0 : i32[]
      %r = while %zero (%i: i32[]) { %t = constant true : bool[] yield %t } (%j: i32[]) { yield %j } : i32[]
      return %r
    }";
    fs::write(folder.path().join("loop.ptir"), text).unwrap();
    let mut first = sapwood(folder.path())
        .args(["run", "loop.ptir", "--dump-dir", "dump", "--time-limit", "60"])
        .spawn()
        .unwrap();
    let running = folder.path().join("dump/00001_main/meta.json");
    while !running.exists() {
        assert!(first.try_wait().unwrap().is_none(), "it ended");
        std::thread::yield_now();
    }
    let done = sapwood(folder.path())
        .args(["run", "a.ptir", "--random", "1", "--dump-dir", "dump"])
        .output()
        .unwrap();
    assert!(expect_error(&done).contains("choose another folder"));
    // An interrupted run leaves its complete files, and the folder can be used again.
    first.kill().unwrap();
    first.wait().unwrap();
    let done = sapwood(folder.path())
        .args(["run", "a.ptir", "--random", "1", "--dump-dir", "dump"])
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(
        names(&folder.path().join("dump/00001_main")),
        ["meta.json", "program.json", "program.ptir"]
    );
    assert!(folder.path().join("dump/00002_f/stats.json").exists());
}

#[test]
fn inputs_that_are_not_programs() {
    let folder = folder();
    let mut inputs: Vec<(&str, Vec<u8>)> = vec![
        ("zeros.ptir", vec![0; 1 << 16]),
        ("empty.ptir", Vec::new()),
        ("latin.ptir", b"ptir 1 // caf\xe9".to_vec()),
        ("elf.ptir", b"\x7fELF\x02\x01\x01\0\xff\xfe".to_vec()),
        ("deep.ptir", b"(".repeat(1 << 20)),
        ("deep.json", b"[".repeat(1 << 20)),
        ("deep.py", b"(".repeat(1 << 16)),
        ("braces.ptir", [b"ptir 1 ".to_vec(), b"{".repeat(1 << 18)].concat()),
    ];
    inputs.push(("line.ptir", [b"ptir 1 func @f".to_vec(), b"a".repeat(1 << 20)].concat()));
    for (name, bytes) in &inputs {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    for (name, bytes) in &inputs {
        let is_text = std::str::from_utf8(bytes).is_ok();
        for verb in ["verify", "opt", "hash", "fmt", "graph", "lower"] {
            let done = sapwood(folder.path()).args([verb, name]).output().unwrap();
            let message = String::from_utf8_lossy(&done.stderr);
            // For `verify`, a text that is not a program is a negative result.
            let code = if verb == "verify" && is_text { 1 } else { 2 };
            assert_eq!(done.status.code(), Some(code), "{verb} {name}: {message:.500}");
            assert!(
                message.starts_with(name) || message.contains(&format!("{name}:")),
                "{message:.500}"
            );
            assert!(!message.contains("panicked"), "{verb} {name}: {message:.500}");
        }
    }
}

#[test]
fn standard_input_that_is_not_a_program_or_empty() {
    let folder = folder();
    let mut child =
        sapwood(folder.path()).args(["opt", "-"]).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"\xff\xfe").unwrap();
    let done = child.wait_with_output().unwrap();
    let message = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(2), "{message}");
    assert!(message.starts_with("<stdin>:1:1: error: the byte 0xff is not UTF-8"), "{message}");
    let done = sapwood(folder.path()).args(["opt", "-"]).output().unwrap();
    assert_eq!(done.status.code(), Some(2));
}

#[test]
fn lists_for_programs_are_json() {
    let folder = folder();
    for (verb, least) in [("ops", 100), ("passes", 5), ("patterns", 50)] {
        let done = sapwood(folder.path()).args([verb, "--format", "json"]).output().unwrap();
        assert!(done.status.success());
        let value: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
        let list = value[verb].as_array().unwrap();
        assert!(list.len() >= least, "{verb}: {}", list.len());
        assert!(list.iter().all(|entry| entry["name"].is_string()), "{verb}");
        let text = sapwood(folder.path()).arg(verb).output().unwrap().stdout;
        let text = String::from_utf8(text).unwrap();
        assert!(list.iter().all(|entry| text.contains(entry["name"].as_str().unwrap())), "{verb}");
    }
}

#[test]
fn completions_know_the_verbs() {
    let folder = folder();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let done = sapwood(folder.path()).args(["completions", shell]).output().unwrap();
        let script = String::from_utf8(done.stdout).unwrap();
        assert!(done.status.success() && script.contains("step-log"), "{shell}");
        let help = sapwood(folder.path()).arg("--help").output().unwrap();
        let help = String::from_utf8(help.stdout).unwrap();
        let (_, verbs) = help.split_once("Commands:\n").unwrap();
        let verbs = verbs.lines().take_while(|line| !line.is_empty());
        for verb in verbs.filter_map(|line| line.split_whitespace().next()) {
            assert!(script.contains(verb), "{shell}: {verb}");
        }
    }
}

#[test]
fn colours_only_on_request() {
    let folder = folder();
    fs::write(folder.path().join("ill.ptir"), "ptir 1 func @f() -> f32[] { return %x }").unwrap();
    let stderr = |arguments: &[&str]| {
        let done = sapwood(folder.path()).args(arguments).output().unwrap();
        String::from_utf8(done.stderr).unwrap()
    };
    assert!(!stderr(&["opt", "ill.ptir"]).contains('\x1b'));
    assert!(stderr(&["opt", "ill.ptir", "--color", "always"]).contains('\x1b'));
    assert!(!stderr(&["opt", "ill.ptir", "--color", "never"]).contains('\x1b'));
}

#[test]
fn spaces_in_options_do_not_matter_to_the_check() {
    let folder = tempfile::tempdir().unwrap();
    let text = "ptir 1\nfunc @helper(%x: f32[]) -> f32[] { return %x }\nfunc @main(%x: f32[]) -> f32[] { return %x }\n";
    fs::write(folder.path().join("a.ptir"), text).unwrap();
    for pipeline in ["symbol-dce{keep=main}", "symbol-dce{ keep = main }"] {
        let done =
            sapwood(folder.path()).args(["opt", "a.ptir", "--check", "-p", pipeline]).output();
        let done = done.unwrap();
        assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
    }
}

#[test]
fn a_failed_batch_leaves_no_nested_folders() {
    let folder = tempfile::tempdir().unwrap();
    let done = sapwood(folder.path())
        .args(["opt", "missing.ptir", "gone.ptir", "-o", "out", "--report", "out/pages"])
        .output()
        .unwrap();
    assert_eq!(done.status.code(), Some(2));
    assert!(!folder.path().join("out").exists());
}
