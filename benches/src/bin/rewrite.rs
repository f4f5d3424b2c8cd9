//! Rewriting: canonicalize, cse, simplify, remaining ops and memory. The peer is mlir-opt on the same programs.
#![allow(clippy::print_stdout)] // the child of `memory` answers on standard output

use std::process::Command;
use std::time::Duration;

use sapwood_benches::matchers::count_matches;
use sapwood_benches::programs::{KINDS, chain};
use sapwood_benches::{Area, best_with, sizes};
use sapwood_ptir::ops::{BroadcastInDim, BroadcastTo, Constant, Return, Yield};
use sapwood_ptir::{Op, ParseOptions, Program, parse_with};
use sapwood_rewrite::canonicalize::populate_canonicalization;
use sapwood_rewrite::{GreedyConfig, GreedyPass, PassManager, PatternSet};
use sapwood_testing::exponent;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, memory, path] = &arguments[..]
        && memory == "--memory-of"
    {
        print_peak_memory(path);
        return;
    }
    if let [_, once, pipeline, kind, ops] = &arguments[..]
        && once == "--once"
    {
        run_once(pipeline, kind, ops);
        return;
    }
    let area = Area::new("rewrite");
    for (kind, make) in KINDS {
        let mut points: Vec<(&str, Vec<(f64, f64)>)> =
            vec![("canonicalize", Vec::new()), ("cse", Vec::new()), ("simplify", Vec::new())];
        for &(size, ops) in sizes() {
            let text = make(ops);
            let Some(program) = read(&text) else {
                area.failed(&format!("simplify/{kind}/{size}"), "the program does not parse");
                continue;
            };
            let repeats = if ops > 500_000 { 3 } else { 7 };
            for (verb, points) in &mut points {
                let time = time(verb, &program, &text, repeats);
                area.per_node(&format!("{verb}/{kind}/{size}"), time, ops as u64);
                points.push((ops as f64, time.as_secs_f64()));
            }
            let mut done = program;
            match manager("simplify").run(&mut done) {
                Ok(_) => {
                    let left = ops_left(&done) as f64;
                    area.row(&format!("ops/{kind}/{size}"), left, "ops", ops as u64);
                }
                Err(error) => area.failed(&format!("ops/{kind}/{size}"), &error.to_string()),
            }
            match peak_memory(&text) {
                Some(bytes) => area.row(
                    &format!("memory/{kind}/{size}"),
                    bytes / ops as f64,
                    "bytes/node",
                    ops as u64,
                ),
                None => area.failed(&format!("memory/{kind}/{size}"), "the peak is not known here"),
            }
        }
        for (verb, points) in points {
            area.row(&format!("exponent/{verb}/{kind}"), exponent(&points), "power", 1);
        }
    }
    threads(&area);
}

fn read(text: &str) -> Option<Program> {
    parse_with(text, ParseOptions::new().file("bench.ptir")).ok()
}

// Like the peer, verifies after the passes and not before.
fn manager(pipeline: &str) -> PassManager {
    let mut manager = PassManager::default();
    match pipeline.strip_suffix("-uncached") {
        Some(name) => manager.add(uncached(name)),
        None => manager = PassManager::parse(pipeline).unwrap_or_default(),
    };
    manager.assume_verified(true).verify_each(true).in_place(true)
}

// Returns `simplify` or `canonicalize` without the failure cache, to compare with.
fn uncached(name: &str) -> GreedyPass {
    let config = GreedyConfig { failure_cache: false, ..GreedyConfig::default() };
    let mut set = PatternSet::new();
    populate_canonicalization(&mut set);
    match name {
        "simplify" => GreedyPass::simplify(config, set.freeze()),
        _ => GreedyPass::canonicalize(config, set.freeze()),
    }
}

fn time(pipeline: &str, program: &Program, text: &str, repeats: usize) -> Duration {
    let manager = manager(pipeline);
    // Each run gets a newly parsed program.
    let fresh = || read(text).unwrap_or_else(|| program.clone());
    best_with(repeats, fresh, |mut program| {
        let report = manager.run(&mut program);
        (program, report.is_ok())
    })
}

fn ops_left(program: &Program) -> usize {
    let not_counted =
        [Constant::key(), BroadcastTo::key(), BroadcastInDim::key(), Return::key(), Yield::key()];
    let count = |f: &sapwood_ptir::Function| {
        f.walk().filter(|&i| !not_counted.contains(&f.op_key(i))).count()
    };
    program.functions().iter().map(|f| count(f)).sum()
}

// Runs a pipeline once on one program, or finds the matches of some patterns, for profilers.
fn run_once(pipeline: &str, kind: &str, ops: &str) {
    let make = KINDS.iter().find(|(name, _)| *name == kind).map(|(_, make)| make);
    let (Some(make), Ok(ops)) = (make, ops.parse()) else {
        println!(
            "--once PIPELINE|simplify-uncached|canonicalize-uncached|matchers|by-hand KIND OPS; the kinds: {}",
            KINDS.map(|(name, _)| name).join(", ")
        );
        return;
    };
    if let Some(mut program) = read(&make(ops)) {
        if pipeline == "matchers" || pipeline == "by-hand" {
            let found = count_matches(&mut program, pipeline == "by-hand");
            println!("{pipeline} {kind}: {found} matches");
            return;
        }
        let report = manager(pipeline).run(&mut program);
        let stats = report.as_ref().ok().and_then(|report| report.passes[0].greedy.as_ref());
        let counts = stats.map(|stats| (stats.visits, stats.attempts, stats.attempts_saved));
        let left = ops_left(&program);
        println!(
            "{pipeline} {kind}: {left} of {ops} ops left, visits, attempts, saved: {counts:?}"
        );
    }
}

// Reads and simplifies a program in this process, and prints the peak memory.
fn print_peak_memory(path: &str) {
    if let Ok(text) = std::fs::read_to_string(path)
        && let Some(mut program) = read(&text)
    {
        drop(text);
        let _ = manager("simplify").run(&mut program);
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    let kilobytes =
        line.and_then(|l| l.trim().strip_suffix(" kB")).and_then(|n| n.parse::<u64>().ok());
    println!("{}", kilobytes.unwrap_or(0) * 1024);
}

// Returns the peak memory for a program, without that for an empty one.
fn peak_memory(text: &str) -> Option<f64> {
    let path = std::env::temp_dir().join(format!("sapwood-bench-{}.ptir", std::process::id()));
    let measure = |text: &str| {
        std::fs::write(&path, text).ok()?;
        let this = std::env::current_exe().ok()?;
        let output = Command::new(this).arg("--memory-of").arg(&path).output().ok()?;
        let bytes: u64 = String::from_utf8(output.stdout).ok()?.trim().parse().ok()?;
        (bytes > 0).then_some(bytes as f64)
    };
    let peak = measure(text).and_then(|full| Some(full - measure("ptir 1\n")?));
    let _ = std::fs::remove_file(&path);
    peak
}

fn threads(area: &Area) {
    let one = chain(10_000);
    let body = one.strip_prefix("ptir 1").unwrap_or(&one);
    let mut text = String::from("ptir 1");
    for n in 0..64 {
        text += &body.replacen("@main", &format!("@main{n}"), 1);
    }
    let Some(program) = read(&text) else {
        area.failed("threads", "the program does not parse");
        return;
    };
    let time = |threads| {
        let manager = manager("simplify").verify_each(false).threads(threads);
        let copy = || read(&text).unwrap_or_else(|| program.clone());
        best_with(5, copy, |mut program| {
            let report = manager.run(&mut program);
            (program, report.is_ok())
        })
    };
    let (single, double) = (time(1), time(2));
    area.row("threads", single.as_secs_f64() / double.as_secs_f64(), "times", 640_000);
}
