//! Trace events of passes: every change is reported.

use std::sync::{Arc, Mutex};

use sapwood_ptir::testing::{RandomProgramConfig, random_program};
use sapwood_ptir::{Function, InstId, Program, parse};
use sapwood_rewrite::{
    CsePass, FixpointPass, Pass, PassContext, PassError, PassManager, RunReport,
};
use sapwood_testing::cases;
use sapwood_trace::{ExecutionTraceSink, PassEvent, PassEventKind, StepLogSink};

/// The number of events of each kind, and the growth of the program in instructions.
#[derive(Default, Debug)]
struct Counts {
    rewrites: usize,
    folds: usize,
    merges: usize,
    erasures: usize,
    grown: i64,
    open: Vec<(usize, usize)>,
    ended: usize,
}

#[derive(Default)]
struct Counting(Mutex<Counts>);

// Terminators are inserted and erased with their regions, without events.
fn counts(f: &Function, inst: InstId) -> bool {
    !f.op_def(inst).is_some_and(|def| def.terminator)
}

fn with_regions(f: &Function, inst: InstId) -> i64 {
    let inside = f.regions(inst).iter().flat_map(|&body| f.walk_body(body));
    inside.chain([inst]).filter(|&inst| counts(f, inst)).count() as i64
}

fn size(program: &Program) -> i64 {
    let functions = program.functions().iter();
    functions.map(|f| f.walk().filter(|&inst| counts(f, inst)).count() as i64).sum()
}

impl ExecutionTraceSink for Counting {
    fn pass(&self, event: &PassEvent<'_>) {
        let mut counts = self.0.lock().unwrap();
        if let PassEventKind::Start { .. } = event.kind {
            assert_eq!(event.depth, counts.open.len());
            counts.open.push((event.index, event.depth));
            return;
        }
        assert_eq!(counts.open.last(), Some(&(event.index, event.depth)), "{event:?}");
        match event.kind {
            PassEventKind::Rewrite { function, inst, .. } => {
                assert!(function.is_live(inst));
                counts.rewrites += 1;
            }
            PassEventKind::Fold { .. } => counts.folds += 1,
            PassEventKind::Merge { .. } => counts.merges += 1,
            PassEventKind::Insert { function, inst } => {
                assert!(function.is_live(inst));
                counts.grown += i64::from(self::counts(function, inst));
            }
            PassEventKind::Erase { function, inst } => {
                counts.erasures += 1;
                counts.grown -= with_regions(function, inst);
            }
            PassEventKind::End { error, .. } => {
                assert!(error.is_none());
                counts.open.pop();
                counts.ended += 1;
            }
            _ => {}
        }
    }
}

fn counter(report: &RunReport, name: &str) -> usize {
    let counters = report.passes.iter().flat_map(|pass| &pass.counters);
    counters.filter(|(known, _)| *known == name).map(|(_, n)| n).sum()
}

fn traced(pipeline: &str, program: &mut Program) -> (Counts, RunReport) {
    let sink = Arc::new(Counting::default());
    let manager = PassManager::parse(pipeline).unwrap().threads(3).trace(sink.clone());
    let report = manager.run(program).unwrap();
    (std::mem::take(&mut *sink.0.lock().unwrap()), report)
}

#[test]
fn every_rewrite_fold_and_erasure_is_an_event() {
    let (mut rewrites, mut folds, mut merges) = (0, 0, 0);
    for seed in 0..u64::from(cases(150, 5_000)) {
        let before = random_program(seed, &RandomProgramConfig::default());
        for pipeline in ["simplify", "canonicalize,cse,dce", "fixpoint(canonicalize,cse)"] {
            let mut program = before.clone();
            let (counts, report) = traced(pipeline, &mut program);
            let told = [counts.rewrites, counts.folds, counts.merges];
            let counted = [counter(&report, "rewrites"), counter(&report, "folds")];
            assert_eq!(told[..2], counted, "seed {seed}, {pipeline}");
            assert!(counts.merges <= counter(&report, "merged"), "seed {seed}, {pipeline}");
            assert!(counts.erasures >= counter(&report, "erased"), "seed {seed}, {pipeline}");
            let grown = size(&program) - size(&before);
            assert_eq!(counts.grown, grown, "seed {seed}, {pipeline}\n{before}\n{program}");
            assert!(counts.open.is_empty() && counts.ended > 0);
            rewrites += told[0];
            folds += told[1];
            merges += told[2];
        }
    }
    assert!(rewrites > 100 && folds > 10 && merges > 50, "{rewrites} {folds} {merges}");
}

#[test]
fn a_trace_changes_nothing() {
    for seed in 0..u64::from(cases(50, 1_000)) {
        let before = random_program(seed, &RandomProgramConfig::default());
        let (mut with, mut without) = (before.clone(), before);
        traced("simplify", &mut with);
        PassManager::parse("simplify").unwrap().run(&mut without).unwrap();
        assert_eq!(with.to_string(), without.to_string(), "seed {seed}");
    }
}

#[test]
fn the_step_log_reads_from_top_to_bottom() {
    let text = "ptir 1
    func @g(%x: f32[]) -> f32[] {
      %a = constant 1.0 : f32[]
      %b = add %a, %a : f32[]
      %c = mul %x, %b : f32[]
      return %c
    }
    func @f(%x: f32[4]) -> (f32[4], f32[4]) {
      %a = neg %x : f32[4]
      %b = neg %a : f32[4]
      %c = exp %b : f32[4]
      %d = exp %x : f32[4]
      return %c, %d
    }";
    let log = Arc::new(StepLogSink::new());
    let manager = PassManager::parse("fixpoint(canonicalize{top-down=true},cse)").unwrap();
    manager.trace(log.clone()).run(&mut parse(text).unwrap()).unwrap();
    let first = "fixpoint(canonicalize{top-down=true},cse)";
    let expected = "
  canonicalize{top-down=true}
    @g
      fold add %b
        inserted constant %4
        replaced %b by %4
        erased add %b
        erased constant %a
    @f
      neg_of_neg at neg %b
        replaced %b by %x
        erased neg %b
        erased neg %a
  cse
    @f
      merge exp %d
        replaced %d by %c
        erased exp %d
  canonicalize{top-down=true}
    nothing changed
  cse
    nothing changed
";
    let lines = log.text();
    let rest = lines.strip_prefix(first).unwrap();
    assert_eq!(rest, expected, "{lines}");
}

/// The passes that started and ended, with their errors.
#[derive(Default)]
struct Ends(Mutex<Vec<String>>);

impl ExecutionTraceSink for Ends {
    fn pass(&self, event: &PassEvent<'_>) {
        let line = match event.kind {
            PassEventKind::Start { .. } => format!("{} {} starts", event.depth, event.index),
            PassEventKind::End { error, .. } => {
                format!("{} {} ends: {}", event.depth, event.index, error.unwrap_or("done"))
            }
            _ => return,
        };
        self.0.lock().unwrap().push(line);
    }
}

struct Panics;

impl Pass for Panics {
    fn name(&self) -> &'static str {
        "verify"
    }
    fn run_on_program(&self, _: &mut Program, _: &mut PassContext) -> Result<bool, PassError> {
        panic!("on purpose")
    }
}

#[test]
fn passes_that_ran_around_one_that_panicked_end_as_well() {
    let sink = Arc::new(Ends::default());
    let mut manager = PassManager::new().trace(sink.clone());
    let inner = FixpointPass::new(vec![Arc::new(CsePass), Arc::new(Panics)]);
    manager.add(FixpointPass::new(vec![Arc::new(inner)]));
    let mut program = parse("ptir 1 func @f(%x: f32[]) -> f32[] { return %x }").unwrap();
    manager.run(&mut program).unwrap_err();
    let lines = sink.0.lock().unwrap();
    let error = "ends: it panicked: on purpose";
    let ends = [format!("2 3 {error}"), format!("1 1 {error}"), format!("0 0 {error}")];
    let starts = ["0 0 starts", "1 1 starts", "2 2 starts", "2 2 ends: done", "2 3 starts"];
    assert_eq!(lines[..5], starts);
    assert_eq!(lines[5..], ends);
}
