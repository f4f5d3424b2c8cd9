//! Properties over random well-formed programs.

use std::io::Write as _;
use std::ops::ControlFlow;
use std::process::{Command, Stdio};

use sapwood_ir::interpret::Interpreter;
use sapwood_ir::passes::{PASSES, to_ssa};
use sapwood_ir::testing::{Random, arguments, program};
use sapwood_ir::{Level, ProgramRef, from_json, parse_program, print_program, to_json, verify};
use sapwood_structural::{Next, Walk, assert_equal, equal, hash};
use sapwood_testing::cases;
use sapwood_types::Source;

fn seeds() -> std::ops::Range<u64> {
    0..u64::from(cases(1_500, 100_000))
}

fn read(text: &str, seed: u64) -> ProgramRef {
    let source = Source::new("random.ir", text);
    parse_program(&source).unwrap_or_else(|e| panic!("seed {seed}\n{text}\n{}", e.render(&source)))
}

#[test]
fn what_is_printed_reads_back_equal() {
    for seed in seeds() {
        let program = program(seed, 20);
        let text = print_program(&program).unwrap();
        let back = read(&text, seed);
        if let Err(error) = assert_equal(&program, &back, sapwood_structural::Options::default()) {
            panic!("seed {seed}: {error}\n{text}");
        }
        assert_eq!(hash(&program).unwrap(), hash(&back).unwrap(), "seed {seed}");
        assert_eq!(print_program(&back).unwrap(), text, "seed {seed}: prints back to itself");
    }
}

#[test]
fn text_grows_with_nodes_not_with_paths() {
    for seed in 0..seeds().end / 5 {
        let program = program(seed, 60);
        let mut nodes = 0;
        let _ = Walk::of(&program).pre_order(|_| {
            nodes += 1;
            ControlFlow::<(), _>::Continue(Next::Into)
        });
        let text = print_program(&program).unwrap();
        assert!(text.len() < 100 * nodes + 1000, "seed {seed}: {} for {nodes}", text.len());
    }
}

#[test]
fn the_verifier_accepts() {
    for seed in seeds() {
        let program = program(seed, 20);
        let problems = verify(&program, Level::WellFormed);
        assert!(problems.is_empty(), "seed {seed}: {problems:?}\n{program}");
    }
}

#[test]
fn json_keeps_everything() {
    for seed in 0..seeds().end / 5 {
        let program = program(seed, 20);
        let json = to_json(&program).unwrap();
        let back = from_json(&json).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        assert!(equal(&program, &back).unwrap(), "seed {seed}");
        assert_eq!(to_json(&back).unwrap(), json, "seed {seed}");
        assert_eq!(back.to_string(), program.to_string(), "seed {seed}");
    }
}

#[test]
fn every_pass_keeps_what_is_computed() {
    for seed in seeds() {
        let before = program(seed, 15);
        let mut random = Random::new(seed ^ 0xabcd);
        for (name, pass) in PASSES {
            let after =
                pass(&before).unwrap_or_else(|error| panic!("seed {seed}, {name}: {error}"));
            let level = if name == "to_ssa" { Level::Ssa } else { Level::WellFormed };
            let problems = verify(&after, level);
            assert!(problems.is_empty(), "seed {seed}, {name}: {problems:?}\n{before}\n{after}");
            let twice = pass(&after).unwrap();
            if name != "to_ssa" && name != "fold" {
                let changes = !equal(&after, &twice).unwrap();
                assert!(!changes, "seed {seed}: a second {name} changes\n{after}\n{twice}");
            }
            same_results(&before, &after, &mut random, seed, name);
        }
        let ssa = to_ssa(&before).unwrap();
        for (name, pass) in PASSES {
            let after = pass(&ssa).unwrap();
            if name != "inline" {
                let problems = verify(&after, Level::Ssa);
                assert!(problems.is_empty(), "seed {seed}, {name} of SSA: {problems:?}\n{after}");
            }
            same_results(&before, &after, &mut random, seed, name);
        }
    }
}

fn same_results(
    before: &ProgramRef,
    after: &ProgramRef,
    random: &mut Random,
    seed: u64,
    pass: &str,
) {
    for function in before.functions() {
        let args = arguments(random, function);
        let run =
            |program: &ProgramRef| Interpreter::new(program, 200_000).run(&function.name, &args);
        let (expected, found) = (run(before), run(after));
        if expected.is_ok() || found.is_ok() {
            assert_eq!(
                expected, found,
                "seed {seed}, {pass}, {} of {args:?}\n{before}\n{after}",
                function.name
            );
        }
    }
}

#[test]
fn cpython_reads_what_is_printed() {
    let mut input = String::new();
    for seed in 0..seeds().end.min(2_000) {
        let text = print_program(&program(seed, 25)).unwrap();
        input.push_str(&text.len().to_string());
        input.push('\n');
        input.push_str(&text);
    }
    let script = "import ast, sys\n\
        data = sys.stdin.buffer.read()\n\
        at = 0\n\
        while at < len(data):\n\
        \x20   end = data.index(b'\\n', at)\n\
        \x20   size = int(data[at:end])\n\
        \x20   ast.parse(data[end + 1:end + 1 + size])\n\
        \x20   at = end + 1 + size\n";
    let mut python = Command::new("python3")
        .args(["-W", "ignore", "-c", script])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("python3");
    // Lengths are in characters of the text as bytes.
    python.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = python.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
