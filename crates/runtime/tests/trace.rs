//! Tests of trace sinks: the calls they receive, their order, and the files that the file sink writes.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sapwood_ptir::eval::{DataType, Tensor, Value};
use sapwood_ptir::structural::{Mode, equal};
use sapwood_ptir::{Program, parse};
use sapwood_rewrite::PassManager;
use sapwood_runtime::{Backend, CpuBackend, LazyGraph, RunRequest};
use sapwood_trace::{
    Execution, ExecutionResult, ExecutionTraceSink, FileTraceSink, PassEvent, global_sink,
    install_global_sink,
};
use serde_json::Value as Json;

// There is one global sink, so one test runs at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn program() -> Program {
    parse("ptir 1 func @f(%x: f32[2]) -> f32[2] { %y = exp %x : f32[2] return %y }").unwrap()
}

fn input() -> Value {
    Tensor::new(DataType::F32, [2], vec![1.0f32, 2.0]).into()
}

#[derive(Default)]
struct RecordingSink(Mutex<Vec<String>>);

impl RecordingSink {
    fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

impl ExecutionTraceSink for RecordingSink {
    fn before(&self, e: &Execution<'_>) {
        let line = format!("before @{} on {}, known: {}", e.function, e.backend, e.cache_hit);
        self.0.lock().unwrap().push(line);
    }

    fn after(&self, e: &Execution<'_>, finished: &ExecutionResult) {
        let how = match &finished.outputs {
            Ok(types) => types.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
            Err(why) => format!("failed: {why}"),
        };
        self.0.lock().unwrap().push(format!("after @{}: {how}", e.function));
    }

    fn pass(&self, event: &PassEvent<'_>) {
        self.0.lock().unwrap().push(format!("{} {}", event.pass, event.kind.name()));
    }
}

#[test]
fn sinks_receive_each_run_before_and_after_with_its_outcome() {
    let _alone = alone();
    let recorded = Arc::new(RecordingSink::default());
    let guard = install_global_sink(recorded.clone());
    let backend = CpuBackend::exact();
    let program = program();
    backend.run_program(&program, &RunRequest::new("f"), &[input()]).unwrap();
    backend.run_program(&program, &RunRequest::new("f"), &[]).unwrap_err();
    backend.run_program(&program, &RunRequest::new("g"), &[]).unwrap_err();
    drop(guard);
    backend.run_program(&program, &RunRequest::new("f"), &[input()]).unwrap();
    assert_eq!(
        recorded.lines(),
        [
            "before @f on cpu-exact, known: false",
            "after @f: f32[2]",
            "before @f on cpu-exact, known: true",
            "after @f: failed: @f: expected 1 input, found 0",
            "before @g on cpu-exact, known: false",
            "after @g: failed: @g: there is no function @g",
        ]
    );
}

#[test]
fn guards_restore_the_sink_before() {
    let _alone = alone();
    let sinks: Vec<Arc<RecordingSink>> = (0..3).map(|_| Arc::default()).collect();
    let run = || {
        let call = RunRequest::new("f");
        CpuBackend::exact().run_program(&program(), &call, &[input()]).unwrap();
    };
    let counts = || sinks.iter().map(|s| s.lines().len() / 2).collect::<Vec<_>>();
    let outer = install_global_sink(sinks[0].clone());
    run();
    {
        let _inner = install_global_sink(sinks[1].clone());
        run();
        assert_eq!(counts(), [1, 1, 0]);
    }
    run();
    assert_eq!(counts(), [2, 1, 0], "the outer one again");
    // If guards are dropped in another order, the last remaining sink is called.
    let second = install_global_sink(sinks[1].clone());
    let third = install_global_sink(sinks[2].clone());
    drop(second);
    run();
    assert_eq!(counts(), [2, 1, 1]);
    drop(outer);
    run();
    assert_eq!(counts(), [2, 1, 2]);
    drop(third);
    assert!(global_sink().is_none());
    run();
    assert_eq!(counts(), [2, 1, 2]);
}

#[test]
fn a_guard_is_dropped_when_a_panic_passes() {
    let _alone = alone();
    let unwound = std::panic::catch_unwind(|| {
        let _guard = install_global_sink(Arc::new(RecordingSink::default()));
        panic!("on purpose");
    });
    assert!(unwound.is_err());
    assert!(global_sink().is_none());
}

fn json(path: &Path) -> Json {
    let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn lines(path: &Path) -> Vec<Json> {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn keys(value: &Json) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn files_have_the_layout_and_fields_of_the_reference() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let sink = Arc::new(FileTraceSink::new(folder.path().join("dump")).unwrap());
    let dump = sink.folder().to_owned();
    let guard = install_global_sink(sink.clone());
    let graph = LazyGraph::new(Arc::new(CpuBackend::exact())).named("soft max/λ");
    let literal = sapwood_ptir::TensorLiteral::filled(DataType::F32, &[2], 1.0).unwrap();
    let mut targets = Vec::new();
    for _ in 0..2 {
        let x = graph.import(&literal).unwrap();
        let y = graph
            .capture(|ctx| {
                let x = ctx.import(&x)?;
                ctx.emit(sapwood_ptir::ops::Exp { input: x })
            })
            .unwrap();
        graph.flush(&[&y]).unwrap();
        targets.push(y.id());
    }
    CpuBackend::fast().run_program(&program(), &RunRequest::new("f"), &[]).unwrap_err();
    drop(guard);
    sink.finish().unwrap();

    let expected = ["00001_soft_max__", "00002_soft_max__", "00003_f", "executions.jsonl"];
    assert_eq!(names(&dump), [&expected[..], &["passes.jsonl"]].concat());
    let files = ["meta.json", "program.json", "program.ptir", "stats.json"];
    for (n, name) in expected[..3].iter().enumerate() {
        assert_eq!(names(&dump.join(name)), files);
        let text = fs::read_to_string(dump.join(name).join("program.ptir")).unwrap();
        let read = parse(&text).unwrap();
        let other = fs::read_to_string(dump.join(name).join("program.json")).unwrap();
        let other = sapwood_ptir::from_json(&other).unwrap();
        assert!(equal(&read, &other, Mode::Ordered));
        let meta = json(&dump.join(name).join("meta.json"));
        let fields = [
            "backend",
            "cache_hit",
            "function",
            "graph",
            "hash",
            "number",
            "ordered_hash",
            "started",
            "targets",
        ];
        assert_eq!(keys(&meta), fields);
        assert_eq!(meta["number"], n + 1);
        assert_eq!(meta["cache_hit"], n == 1);
        let hash = sapwood_ptir::structural::hash(&read, Mode::DataFlow).to_string();
        assert_eq!(meta["hash"], hash);
        assert!(meta["started"].as_str().unwrap().ends_with('Z'));
        if n < 2 {
            assert_eq!(meta["graph"], graph.id());
            assert_eq!(meta["targets"], serde_json::json!([targets[n]]));
            assert_eq!(meta["function"], "soft max/λ");
        } else {
            assert_eq!((&meta["graph"], &meta["backend"]), (&Json::Null, &Json::from("cpu")));
        }
        let stats = json(&dump.join(name).join("stats.json"));
        assert_eq!(keys(&stats), ["error", "finished", "outputs", "seconds", "status"]);
        assert!(stats["seconds"].as_f64().unwrap() >= 0.0);
        assert_eq!(stats["status"], if n < 2 { "ok" } else { "failed" });
        if n < 2 {
            assert_eq!(stats["outputs"], serde_json::json!([{ "type": "f32[2]" }]));
        } else {
            assert_eq!(stats["error"], "@f: expected 1 input, found 0");
        }
    }
    let list = lines(&dump.join("executions.jsonl"));
    let recorded: Vec<_> =
        list.iter().map(|l| (l["folder"].as_str().unwrap(), &l["status"])).collect();
    let (ok, failed) = (Json::from("ok"), Json::from("failed"));
    assert_eq!(recorded, [(expected[0], &ok), (expected[1], &ok), (expected[2], &failed)]);
    let hits: Vec<&Json> = list.iter().map(|l| &l["cache_hit"]).collect();
    assert_eq!(hits, [&Json::from(false), &Json::from(true), &Json::from(false)]);
}

#[test]
fn concurrent_runs_do_not_mix() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let sink = Arc::new(FileTraceSink::new(folder.path()).unwrap());
    let guard = install_global_sink(sink.clone());
    let backend = CpuBackend::exact();
    let program = program();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (backend, program) = (&backend, &program);
            scope.spawn(move || {
                for n in 0..10 {
                    let inputs = if (thread + n) % 3 == 0 { vec![] } else { vec![input()] };
                    let _ = backend.run_program(program, &RunRequest::new("f"), &inputs);
                }
            });
        }
    });
    drop(guard);
    sink.finish().unwrap();
    let list = lines(&folder.path().join("executions.jsonl"));
    let folders: BTreeSet<&str> = list.iter().map(|l| l["folder"].as_str().unwrap()).collect();
    assert_eq!((list.len(), folders.len()), (40, 40));
    for line in &list {
        let stats = json(&folder.path().join(line["folder"].as_str().unwrap()).join("stats.json"));
        assert_eq!(stats["status"], line["status"]);
    }
    let failed = list.iter().filter(|l| l["status"] == "failed").count();
    assert_eq!(
        failed,
        (0..4).flat_map(|t| (0..10).map(move |n| (t + n) % 3)).filter(|&r| r == 0).count()
    );
}

const CHANGING: &str = "ptir 1 func @f(%x: f32[4]) -> f32[4] {
  %a = neg %x : f32[4]
  %b = neg %a : f32[4]
  %c = exp %b : f32[4]
  return %c
}";

#[test]
fn passes_are_in_the_dump() {
    let _alone = alone();
    for all in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let sink = Arc::new(FileTraceSink::new(folder.path()).unwrap().all_passes(all));
        let mut program = parse(CHANGING).unwrap();
        let manager = PassManager::parse("cse,canonicalize{float=nsz},fixpoint(dce)").unwrap();
        manager.trace(sink.clone()).run(&mut program).unwrap();
        sink.finish().unwrap();
        let passes = folder.path().join("passes");
        let expected: &[&str] = match all {
            false => &["0001_canonicalize.ptir"],
            true => {
                &["0001_cse.ptir", "0002_canonicalize.ptir", "0003_dce.ptir", "0004_fixpoint.ptir"]
            }
        };
        assert_eq!(names(&passes), expected);
        let after = fs::read_to_string(passes.join(expected[usize::from(all)])).unwrap();
        assert_eq!(after, program.to_string());
        let list = lines(&folder.path().join("passes.jsonl"));
        let events: Vec<String> = list
            .iter()
            .map(|l| format!("{}{} {}", l["depth"], l["pass"], l["event"]).replace('"', ""))
            .collect();
        let in_canonicalize = ["rewrite", "replace", "erase", "erase"];
        let mut recorded = vec!["0cse start".to_owned(), "0cse end".into()];
        recorded.push("0canonicalize{float=nsz} start".into());
        recorded.extend(in_canonicalize.map(|e| format!("0canonicalize{{float=nsz}} {e}")));
        recorded.push("0canonicalize{float=nsz} end".into());
        recorded.extend(
            ["0fixpoint(dce) start", "1dce start", "1dce end", "0fixpoint(dce) end"]
                .map(str::to_owned),
        );
        assert_eq!(events, recorded);
        let rewrite = list.iter().find(|l| l["event"] == "rewrite").unwrap();
        assert_eq!((&rewrite["function"], &rewrite["op"]), (&"f".into(), &"neg".into()));
        assert_eq!(rewrite["result"], "%b");
        assert!(rewrite["pattern"].as_str().unwrap().contains("neg"), "{rewrite}");
        let end = list.iter().find(|l| l["event"] == "end" && l["changed"] == true).unwrap();
        assert_eq!(end["file"], format!("passes/{}", expected[usize::from(all)]));
        assert_eq!(list[0]["insts"], 4);
    }
}

#[test]
fn starts_name_the_input_and_replacements_two_values() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let sink = Arc::new(FileTraceSink::new(folder.path()).unwrap());
    let text = "ptir 1 func @f(%x: i32[2]) -> i32[2] {
      %one = constant 1 : i32[2]
      %two = add %one, %one : i32[2]
      %y = mul %x, %two : i32[2]
      return %y
    }";
    for input in ["a.ptir", "b.ptir"] {
        sink.input(input);
        let manager = PassManager::parse("canonicalize").unwrap().trace(sink.clone());
        manager.run(&mut parse(text).unwrap()).unwrap();
    }
    sink.finish().unwrap();
    let list = lines(&folder.path().join("passes.jsonl"));
    let starts: Vec<&Json> = list.iter().filter(|l| l["event"] == "start").collect();
    assert_eq!(starts.len(), 2);
    assert_eq!((&starts[0]["input"], &starts[1]["input"]), (&"a.ptir".into(), &"b.ptir".into()));
    let replaced: Vec<&Json> = list.iter().filter(|l| l["event"] == "replace").collect();
    assert!(!replaced.is_empty());
    assert!(replaced.iter().all(|l| l["from"] != l["to"]), "{replaced:?}");
}

#[test]
fn a_sink_that_is_installed_twice_is_called_once() {
    let _alone = alone();
    let recorded = Arc::new(RecordingSink::default());
    let guard = install_global_sink(recorded.clone());
    PassManager::parse("dce").unwrap().trace(recorded.clone()).run(&mut program()).unwrap();
    drop(guard);
    assert_eq!(recorded.lines(), ["dce start", "dce end"]);
}

#[test]
fn a_failing_pass_ends_with_its_error() {
    let _alone = alone();
    let recorded = Arc::new(RecordingSink::default());
    let folder = tempfile::tempdir().unwrap();
    let sink = Arc::new(FileTraceSink::new(folder.path()).unwrap());
    let guard = install_global_sink(recorded.clone());
    let manager = PassManager::parse("cse,symbol-dce{keep=missing}").unwrap().trace(sink.clone());
    manager.run(&mut program()).unwrap_err();
    drop(guard);
    sink.finish().unwrap();
    let pass = "symbol-dce{keep=missing}";
    assert_eq!(
        recorded.lines(),
        ["cse start", "cse end", &format!("{pass} start"), &format!("{pass} end")]
    );
    let list = lines(&folder.path().join("passes.jsonl"));
    assert!(list[3]["error"].as_str().unwrap().contains("@missing"), "{}", list[3]);
    assert!(!folder.path().join("passes").exists());
}

#[test]
fn a_trace_is_continued_and_has_one_writer() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let run = |sink: &Arc<FileTraceSink>| {
        let guard = install_global_sink(sink.clone());
        let call = RunRequest::new("f");
        CpuBackend::exact().run_program(&program(), &call, &[input()]).unwrap();
        drop(guard);
        sink.finish().unwrap();
    };
    let first = Arc::new(FileTraceSink::new(folder.path()).unwrap());
    run(&first);
    let Err(refused) = FileTraceSink::new(folder.path()) else { panic!("two writers") };
    assert!(refused.to_string().contains("choose another folder"), "{refused}");
    drop(first);
    let second = Arc::new(FileTraceSink::new(folder.path()).unwrap());
    run(&second);
    let expected = ["00001_f", "00002_f", "executions.jsonl", "passes.jsonl"];
    assert_eq!(names(folder.path()), expected);
    assert_eq!(lines(&folder.path().join("executions.jsonl")).len(), 2);
}

#[test]
fn write_errors_do_not_end_the_run_and_are_reported() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let Err(refused) = FileTraceSink::new(&file) else {
        panic!("a file instead of a folder was accepted")
    };
    assert_eq!(refused.path(), file);
    // The folder is removed, or a file is in the way.
    let sink = Arc::new(FileTraceSink::new(folder.path().join("dump")).unwrap());
    fs::write(folder.path().join("dump/00001_f"), "in the way").unwrap();
    let guard = install_global_sink(sink.clone());
    let backend = CpuBackend::exact();
    let results = backend.run_program(&program(), &RunRequest::new("f"), &[input()]);
    assert_eq!(results.unwrap().len(), 1);
    drop(guard);
    let why = sink.finish().unwrap_err().to_string();
    assert!(why.contains("00001_f"), "{why}");
}
