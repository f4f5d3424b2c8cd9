//! Large patterns and programs: no stack overflow, no exponential search, and searches that are cut short are reported.

use std::fmt::Write;
use std::path::Path;

use sapwood_ptir::{Program, Registry, parse};
use sapwood_rules::{
    ExtractOptions, FindOptions, MAX_OPS, PatternFiles, PatternGraph, Rule, Vocabulary, explain,
    extract, find_matches, patterns_from, rules_from,
};
use sapwood_testing::{cases, on_small_stack};
use sapwood_types::{Diagnostics, Source};

fn read(text: &str) -> Result<Vec<PatternGraph>, Diagnostics> {
    patterns_from(&Source::new("p.ptir", text), &Registry::builtin())
}

fn function(name: &str, params: &str, body: &str, result: &str) -> String {
    format!("ptir 1\nfunc @{name}({params}) -> f32[4] {{\n{body}  return {result}\n}}\n")
}

fn chain(name: &str, ops: usize) -> String {
    let mut body = String::new();
    for n in 0..ops {
        let _ = writeln!(body, "  %v{} = exp %v{n} : f32[4]", n + 1);
    }
    function(name, "%v0: f32[4]", &body, &format!("%v{ops}"))
}

#[test]
fn a_file_of_many_rules_is_read_and_a_second_definition_is_found() {
    let count = cases(20_000, 100_000);
    let mut text = String::new();
    for n in 0..count {
        let _ = writeln!(text, "rule r{n}: neg(neg(x)) => x");
    }
    let files = ["a.rules".into(), "b.rules".into()];
    let read = |second: &str| {
        let text = |path: &Path| if path == Path::new("a.rules") { &*text } else { second };
        let source = |path: &Path| Ok(Source::new(&path.to_string_lossy(), text(path)));
        PatternFiles::new(&Registry::builtin(), &source).rules(&files)
    };
    assert_eq!(read("rule other: neg(neg(x)) => x").unwrap().len(), count as usize + 1);
    let error = read(&format!("rule r{}: neg(neg(x)) => x", count - 1)).unwrap_err().to_string();
    assert!(error.contains("is defined twice") && error.contains("b.rules:1:"), "{error}");
}

// A balanced tree of sums over parameters: every order of operands is the same match.
fn tree(name: &str, leaves: usize) -> String {
    let params: Vec<String> = (0..leaves).map(|n| format!("%p{n}: f32[4]")).collect();
    let mut level: Vec<String> = (0..leaves).map(|n| format!("%p{n}")).collect();
    let (mut body, mut made) = (String::new(), 0);
    while level.len() > 1 {
        let mut next = Vec::new();
        for pair in level.chunks(2) {
            let _ = writeln!(body, "  %s{made} = add {}, {} : f32[4]", pair[0], pair[1]);
            next.push(format!("%s{made}"));
            made += 1;
        }
        level = next;
    }
    function(name, &params.join(", "), &body, &level[0])
}

#[test]
fn a_pattern_of_thousands_of_ops_is_found() {
    on_small_stack(|| {
        let patterns = read(&chain("p", MAX_OPS)).unwrap();
        let program = parse(&chain("main", MAX_OPS + 10)).unwrap();
        let found = find_matches(&program, &patterns, &FindOptions::default());
        assert_eq!((found.matches.len(), found.exhausted.len()), (11, 0));
        let mut after = program.clone();
        let report = extract(&mut after, &patterns, &ExtractOptions::default()).unwrap();
        assert_eq!(report.calls.len(), 1);
    });
}

#[test]
fn a_pattern_beyond_the_limit_is_refused() {
    let problems = read(&chain("p", MAX_OPS + 1)).unwrap_err();
    assert!(problems.to_string().contains("a pattern has at most 4096 ops"), "{problems}");
}

#[test]
fn a_tree_of_commutative_ops_is_found_once_and_quickly() {
    on_small_stack(|| {
        let patterns = read(&tree("p", 1024)).unwrap();
        let program = parse(&tree("main", 1024)).unwrap();
        let found = find_matches(&program, &patterns, &FindOptions::default());
        assert_eq!((found.matches.len(), found.exhausted.len()), (1, 0));
    });
}

fn star(users: usize) -> Program {
    let mut body = String::new();
    for n in 0..users {
        let _ = writeln!(body, "  %a{n} = sub %x, %y : f32[4]\n  %b{n} = exp %a{n} : f32[4]");
    }
    parse(&function("main", "%x: f32[4], %y: f32[4]", &body, "%b0")).unwrap()
}

#[test]
fn wide_uses_do_not_multiply() {
    let text = function(
        "p",
        "%x: f32[4], %y: f32[4]",
        "  %a = sub %x, %y : f32[4]\n  %b = exp %a : f32[4]\n",
        "%b",
    );
    let patterns = read(&text).unwrap();
    let found = find_matches(&star(100_000), &patterns, &FindOptions::default());
    assert_eq!((found.matches.len(), found.exhausted.len()), (100_000, 0));
}

#[test]
fn a_search_without_bound_is_cut_short_and_reported() {
    let text = "ptir 1\nfunc @p(%x: f32[4], %y: f32[4]) -> (f32[4], f32[4]) {\n  \
                %a = sub %x, %y : f32[4]\n  %b = sub %x, %y : f32[4]\n  return %a, %b\n}\n";
    let options = FindOptions { steps: Some(20_000), ..FindOptions::default() };
    let found = find_matches(&star(3_000), &read(text).unwrap(), &options);
    assert!(!found.exhausted.is_empty());
    assert!(found.exhausted[0].to_string().contains("was cut short"), "{:?}", found.exhausted);
}

#[test]
fn a_million_ops_are_searched_and_explained() {
    let program = parse(&chain("main", 1_000_000)).unwrap();
    let text = function(
        "p",
        "%x: f32[4]",
        "  %a = exp %x : f32[4]\n  %b = exp %a : f32[4]\n  %c = neg %b : f32[4]\n",
        "%c",
    );
    let patterns = read(&text).unwrap();
    assert!(find_matches(&program, &patterns, &FindOptions::default()).matches.is_empty());
    let misses = explain(&program, &patterns, &FindOptions::default(), 3);
    assert_eq!(misses.len(), 3);
    assert!(misses[0].reason.contains("no `neg` uses"), "{}", misses[0].reason);
}

#[test]
fn matches_that_share_an_input_do_not_multiply_when_extracted() {
    let pattern = "ptir 1 func @sc(%x: f32[4]) -> (f32[4], f32[4]) {
        %s = sin %x : f32[4] %c = cos %x : f32[4] return %s, %c }";
    let count = 1500;
    let mut text = String::from("ptir 1\nfunc @main(%x: f32[4]) -> f32[4] {\n");
    for n in 0..count {
        let _ = writeln!(text, "  %s{n} = sin %x : f32[4]\n  %c{n} = cos %x : f32[4]");
    }
    let program = parse(&(text + "  return %x\n}\n")).unwrap();
    let patterns = read(pattern).unwrap();
    let found = find_matches(&program, &patterns, &FindOptions::default());
    // The limit is four matches per instruction and a hundred thousand.
    assert_eq!(found.matches.len(), 4 * (2 * count + 1) + 100_000);
    assert!(found.exhausted[0].to_string().contains("matches; matches may be missing"));
    let mut after = program.clone();
    let report = extract(&mut after, &patterns, &ExtractOptions::default()).unwrap();
    assert_eq!((report.calls.len(), report.exhausted.len()), (count, 0));
}

#[test]
fn both_orders_of_operands_are_not_tried_for_ever() {
    // A chain of forty sums above a `tanh`, in a program of sums that each use the two before.
    let params: Vec<String> = (0..40).map(|n| format!("%x{n}: f32[4]")).collect();
    let mut body = String::from("  %a = tanh %y : f32[4]\n");
    let mut last = "%a".to_owned();
    for n in 0..40 {
        let _ = writeln!(body, "  %s{n} = add {last}, %x{n} : f32[4]");
        last = format!("%s{n}");
    }
    let pattern = function("p", &format!("{}, %y: f32[4]", params.join(", ")), &body, &last);
    let mut body = String::from("  %v1 = exp %v0 : f32[4]\n  %t = tanh %v0 : f32[4]\n");
    for n in 2..400 {
        let _ = writeln!(body, "  %v{n} = add %v{}, %v{} : f32[4]", n - 1, n - 2);
    }
    let program = parse(&function("main", "%v0: f32[4]", &body, "%v399")).unwrap();
    let patterns = read(&pattern).unwrap();
    let found = find_matches(&program, &patterns, &FindOptions::default());
    assert_eq!((found.matches.len(), found.exhausted.len()), (0, 0));
    let misses = explain(&program, &patterns, &FindOptions::default(), 1);
    assert_eq!(misses.len(), 1);
}

fn read_rules(text: &str) -> Vec<PatternGraph> {
    let rules =
        rules_from(&Source::new("p.rules", text), &Registry::builtin(), &Vocabulary::builtin());
    rules.unwrap_or_else(|p| panic!("{p}")).into_iter().map(Rule::into_pattern).collect()
}

// Alternatives, optional ops and look-through, over values with many uses and over long chains: the number of steps grows with the
// program, and no faster.
#[test]
fn open_patterns_take_a_linear_number_of_steps() {
    let patterns = read_rules(
        "pattern gate through [reshape, cast]: mul((tanh | exp | logistic)(x), add?(x, const c))
         pattern scaled through [reshape]: mul(exp(x), const c) | div(exp(x), const c) | mul(neg(x), y)",
    );
    let wide = |n: usize| {
        let mut body = String::from("  %r = reshape %v0 : f32[4]\n");
        for n in 0..n {
            let op = ["tanh", "exp", "logistic", "neg"][n % 4];
            let _ = writeln!(body, "  %a{n} = {op} %r : f32[4]\n  %m{n} = mul %a{n}, %v0 : f32[4]");
        }
        function("main", "%v0: f32[4]", &body, "%m0")
    };
    let deep = |n: usize| {
        let mut body = String::new();
        for n in 0..n {
            let op = ["reshape", "exp", "cast", "tanh"][n % 4];
            let _ = writeln!(body, "  %a{n} = {op} %v{n} : f32[4]");
            let _ = writeln!(body, "  %v{} = mul %a{n}, %v{n} : f32[4]", n + 1);
        }
        function("main", "%v0: f32[4]", &body, &format!("%v{n}"))
    };
    let steps = |text: String| {
        let program = parse(&text).unwrap_or_else(|p| panic!("{p}"));
        let found = find_matches(&program, &patterns, &FindOptions::default());
        assert!(found.exhausted.is_empty() && !found.matches.is_empty());
        found.steps
    };
    let count = cases(2000, 100_000) as usize;
    for program in [&wide as &dyn Fn(usize) -> String, &deep] {
        let (small, large) = (steps(program(count)), steps(program(4 * count)));
        assert!(
            large <= 4 * small + 100,
            "{small} steps, {large} in a program of four times the size"
        );
    }
}
