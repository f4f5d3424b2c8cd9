//! The patterns of `examples/patterns`: each is found in the program that contains it, each rule holds.

use std::fs;
use std::path::{Path, PathBuf};

use sapwood_ptir::{Program, Registry, parse, verify};
use sapwood_rules::{
    CheckOptions, ExtractOptions, FindOptions, PatternGraph, Rule, Verdict, Vocabulary, check_rule,
    extract, find_matches, legality, patterns_from, rules_from,
};
use sapwood_types::Source;

fn folder() -> PathBuf {
    sapwood_testing::repository().join("examples/patterns")
}

fn read(path: &Path) -> Source {
    Source::new(&path.file_name().unwrap().to_string_lossy(), fs::read_to_string(path).unwrap())
}

fn files(extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder()).unwrap().map(|e| e.unwrap().path());
    let mut files: Vec<PathBuf> =
        entries.filter(|p| p.extension().is_some_and(|e| e == extension)).collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

fn patterns(path: &Path) -> Vec<PatternGraph> {
    patterns_from(&read(path), &Registry::builtin()).unwrap_or_else(|p| panic!("{p}"))
}

fn rules(path: &Path) -> Vec<Rule> {
    rules_from(&read(path), &Registry::builtin(), &Vocabulary::builtin())
        .unwrap_or_else(|p| panic!("{p}"))
}

fn program(of: &Path) -> Program {
    let name = of.with_extension("ptir");
    let text = fs::read_to_string(folder().join("programs").join(name.file_name().unwrap()));
    parse(&text.unwrap()).unwrap_or_else(|p| panic!("{p}"))
}

#[test]
fn every_pattern_is_found_where_it_is() {
    for path in files("ptir") {
        let patterns = patterns(&path);
        let program = program(&path);
        let found = find_matches(&program, &patterns, &FindOptions::default());
        for (n, pattern) in patterns.iter().enumerate() {
            // This one is over calls of another; see below.
            if pattern.name().as_str() == "attention_of_softmax" {
                continue;
            }
            let legal = found
                .matches
                .iter()
                .any(|m| m.pattern == n && legality(&program, &patterns, m).is_ok());
            assert!(legal, "{} is not found in its program", pattern.name());
        }
    }
}

#[test]
fn attention_is_composed_of_softmax() {
    let path = folder().join("attention.ptir");
    let mut composed = patterns(&folder().join("softmax.ptir"));
    composed.extend(
        patterns(&path).into_iter().filter(|p| p.name().as_str() == "attention_of_softmax"),
    );
    let mut program = program(&path);
    let report = extract(&mut program, &composed, &ExtractOptions::default()).unwrap();
    verify(&program).unwrap();
    let names: Vec<&str> = report.calls.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["softmax_0", "attention_of_softmax_0"]);
    let left: Vec<&str> = program.functions().iter().map(|f| f.name().as_str()).collect();
    assert_eq!(left, ["head", "attention_of_softmax_0"]);
}

#[test]
fn every_rule_holds() {
    let options = CheckOptions {
        instances: sapwood_testing::cases(100, 2000) as usize,
        ..CheckOptions::default()
    };
    for path in files("rules") {
        for rule in rules(&path) {
            match check_rule(&rule, &Registry::builtin(), &options) {
                Verdict::Holds(n) if n == options.instances => {}
                Verdict::Wrong(case) => panic!("{}:\n{case}", rule.name()),
                verdict => panic!("{}: {verdict:?}", rule.name()),
            }
        }
    }
}
