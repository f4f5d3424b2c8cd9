//! The patterns of `examples/patterns`: each is found in the program that contains it, each rule holds.

use std::fs;
use std::path::{Path, PathBuf};

use sapwood_ptir::{Program, Registry, parse, verify};
use sapwood_rewrite::PatternSet;
use sapwood_rewrite::canonicalize::populate_canonicalization;
use sapwood_rules::{
    ExtractOptions, FindOptions, PatternGraph, Rule, RuleCheckOptions, RuleVerdict, Vocabulary,
    check_rule, extract, find_matches, legality, patterns_from, rules_from,
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

// The patterns without a right side, from both kinds of files.
fn only_found() -> Vec<(PathBuf, Vec<PatternGraph>)> {
    let functions = files("ptir").into_iter().map(|path| {
        let own = patterns(&path);
        (path, own)
    });
    let written = files("rules").into_iter().map(|path| {
        let only = rules(&path).into_iter().filter(|rule| !rule.rewrites());
        let own: Vec<PatternGraph> = only.map(Rule::into_pattern).collect();
        (path, own)
    });
    functions.chain(written).filter(|(_, patterns)| !patterns.is_empty()).collect()
}

#[test]
fn every_pattern_is_found_where_it_is() {
    for (path, patterns) in only_found() {
        let program = program(&path);
        let found = find_matches(&program, &patterns, &FindOptions::default());
        for (n, pattern) in patterns.iter().enumerate() {
            // This pattern contains calls of another; see below.
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

// The rules with a right side.
#[test]
fn every_rule_is_found_where_it_is() {
    let mut seen = 0;
    for path in files("rules") {
        let rewriting: Vec<_> = rules(&path).into_iter().filter(Rule::rewrites).collect();
        if rewriting.is_empty() {
            continue;
        }
        let program = program(&path);
        for rule in rewriting {
            let pattern = [rule.into_pattern()];
            let found = find_matches(&program, &pattern, &FindOptions::default());
            assert!(!found.matches.is_empty(), "{} is not found", pattern[0].name());
            seen += 1;
        }
    }
    assert_eq!(seen, 12, "rules that rewrite");
}

// Returns the number of matches that the patterns of a file have in a program.
fn count_matches(patterns: &str, program: &str) -> usize {
    let patterns: Vec<PatternGraph> =
        rules(&folder().join(patterns)).into_iter().map(Rule::into_pattern).collect();
    let program = parse(program).unwrap_or_else(|p| panic!("{p}"));
    find_matches(&program, &patterns, &FindOptions::default()).matches.len()
}

// The first program is softmax. The others are not: they have other axes, or broadcast along others.
#[test]
fn a_reduction_over_other_axes_is_not_a_softmax() {
    for (first, second, dims, found) in
        [("[1]", "[1]", "[0]", 1), ("[0]", "[1]", "[0]", 0), ("[1]", "[1]", "[1]", 0)]
    {
        let text = format!(
            "ptir 1
            func @f(%x: f32[3, 3]) -> f32[3, 3] {{
              %max = reduce_max %x {{axes = {first}}} : f32[3]
              %m = broadcast_in_dim %max {{dims = {dims}}} : f32[3, 3]
              %s = sub %x, %m : f32[3, 3]
              %e = exp %s : f32[3, 3]
              %sum = reduce_sum %e {{axes = {second}}} : f32[3]
              %d = broadcast_in_dim %sum {{dims = {dims}}} : f32[3, 3]
              %y = div %e, %d : f32[3, 3]
              return %y
            }}"
        );
        assert_eq!(count_matches("softmax.rules", &text), found, "{text}");
    }
}

// The first program has a batch norm. In the others the mean or the scale varies along another axis.
#[test]
fn statistics_along_another_axis_are_no_batch_norm() {
    for (mean, scale, found) in [("[3]", "[3]", 1), ("[1]", "[3]", 0), ("[3]", "[2]", 0)] {
        let text = format!(
            "ptir 1
            func @f(%x: f32[2, 5, 5, 3], %w: f32[3, 3, 3, 3], %m: f32[3], %s: f32[3], %t: f32[3]) -> f32[2, 3, 3, 3] {{
              %root = constant [0.5, 1.5, 2.0] : f32[3]
              %conv = convolution %x, %w {{input_dims = [0, 3, 1, 2], kernel_dims = [2, 3, 0, 1], output_dims = [0, 3, 1, 2]}} : f32[2, 3, 3, 3]
              %mean = broadcast_in_dim %m {{dims = {mean}}} : f32[2, 3, 3, 3]
              %c = sub %conv, %mean : f32[2, 3, 3, 3]
              %r = broadcast_in_dim %root {{dims = [3]}} : f32[2, 3, 3, 3]
              %n = div %c, %r : f32[2, 3, 3, 3]
              %scale = broadcast_in_dim %s {{dims = {scale}}} : f32[2, 3, 3, 3]
              %p = mul %n, %scale : f32[2, 3, 3, 3]
              %shift = broadcast_in_dim %t {{dims = [3]}} : f32[2, 3, 3, 3]
              %y = add %p, %shift : f32[2, 3, 3, 3]
              return %y
            }}"
        );
        assert_eq!(count_matches("conv_bn.rules", &text), found, "{text}");
    }
}

#[test]
fn no_rule_has_the_name_of_a_shipped_pattern() {
    let mut shipped = PatternSet::new();
    populate_canonicalization(&mut shipped);
    for rule in files("rules").iter().flat_map(|path| rules(path)) {
        let clash = shipped.names().any(|name| name == rule.name());
        assert!(!clash, "{} is the name of a shipped pattern", rule.name());
    }
}

#[test]
fn attention_is_composed_of_softmax() {
    let path = folder().join("attention.ptir");
    let softmax = rules(&folder().join("softmax.rules")).into_iter().map(Rule::into_pattern);
    let composed: Vec<PatternGraph> = softmax.chain(patterns(&path)).collect();
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
    let options = RuleCheckOptions {
        instances: sapwood_testing::cases(100, 2000) as usize,
        ..RuleCheckOptions::default()
    };
    for path in files("rules") {
        for rule in rules(&path).into_iter().filter(Rule::rewrites) {
            match check_rule(&rule, &Registry::builtin(), &options) {
                RuleVerdict::Holds(n) if n == options.instances => {}
                RuleVerdict::Wrong(case) => panic!("{}:\n{case}", rule.name()),
                verdict => panic!("{}: {verdict:?}", rule.name()),
            }
        }
    }
}

// The published rules of `examples/patterns/published` that are false.
const FALSE_RULES: [&str; 4] = ["dot_of_dot", "dot_of_dot_back", "div_of_dots", "mul_of_dots"];

#[test]
fn published_rules_are_decided() {
    let mut wrong = Vec::new();
    for file in ["enzyme.rules", "taso.rules"] {
        for rule in
            rules(&sapwood_testing::repository().join("examples/patterns/published").join(file))
        {
            let instances = sapwood_testing::cases(100, 1000) as usize;
            let options = RuleCheckOptions { instances, ..RuleCheckOptions::default() };
            match check_rule(&rule, &Registry::builtin(), &options) {
                RuleVerdict::Holds(n) if n == instances => {}
                RuleVerdict::Wrong(_) if FALSE_RULES.contains(&rule.name()) => {
                    wrong.push(rule.name());
                }
                RuleVerdict::Wrong(case) => panic!("{}:\n{case}", rule.name()),
                verdict => panic!("{}: {verdict:?}", rule.name()),
            }
        }
    }
    wrong.sort_unstable();
    let mut expected = FALSE_RULES.to_vec();
    expected.sort_unstable();
    assert_eq!(wrong, expected);
}
